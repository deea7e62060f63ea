"""Values of the model as JSON, for ``--json`` and other protocols."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path


def as_json(value: object) -> object:
    """Return the JSON form of a value: fields by name, enums by value, times in UTC.

    Raises
    ------
    TypeError
        The value holds something that has no JSON form.

    Examples
    --------
    >>> from datetime import timedelta, timezone
    >>> as_json((datetime(2025, 7, 1, 9, tzinfo=timezone(timedelta(hours=2))), {"a": 0.5}))
    ['2025-07-01T07:00:00Z', {'a': 0.5}]
    """
    if value is None or isinstance(value, (bool, int, float)):
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (str, Path)):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return [as_json(item) for item in items]
    raise TypeError(f"a {type(value).__name__} has no JSON form")


def json_text(value: object) -> str:
    """Return indented JSON; a number that is not finite is an error, not ``NaN``."""
    return json.dumps(as_json(value), ensure_ascii=False, indent=2, allow_nan=False)
