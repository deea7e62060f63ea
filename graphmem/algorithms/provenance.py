"""Receipts of derived data, and the plan that says what to rebuild.

Derived data (an embedding, a context, a summary) is current while its receipt equals what
its declaration asks for now: the same ordered inputs at the same revisions, the same
producer and configuration. The planner is pure and public; whoever keeps a cache passes
declarations and receipts in and follows the decisions.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

from graphmem.errors import InvalidInput
from graphmem.model import Json

Revision: TypeAlias = int | str
"""Revision of a source, or the digest of derived data used as an input."""


@dataclass(frozen=True, slots=True)
class InputRevision:
    """One input and the revision it was, or is, read at."""

    id: str
    revision: Revision


@dataclass(frozen=True, slots=True)
class Receipt:
    """What derived data was made from.

    Attributes
    ----------
    output_id
        Name of the derived data.
    inputs
        Ordered inputs, each id once.
    producer
        Name and version of the code that made it.
    configuration
        Model, prompt and settings, as JSON values.
    output_digest
        Digest of the output itself; what depends on the output cites it as its revision,
        so that an output that comes out unchanged stops a wave of rebuilding.
    """

    output_id: str
    inputs: tuple[InputRevision, ...]
    producer: str
    configuration: Mapping[str, Json] = field(default_factory=dict)
    output_digest: str = ""

    def __post_init__(self) -> None:
        _check_unique([item.id for item in self.inputs], f"inputs of {self.output_id!r}")

    @property
    def fingerprint(self) -> str:
        """Sha256 of the canonical JSON of inputs, producer and configuration."""
        return fingerprint(self.inputs, self.producer, self.configuration)

    def to_json(self) -> dict[str, Json]:
        """Return the receipt as JSON values; the name of the output is not part of it."""
        return {
            "inputs": [[item.id, item.revision] for item in self.inputs],
            "producer": self.producer,
            "configuration": dict(self.configuration),
            "output_digest": self.output_digest,
            "sha256": self.fingerprint,
        }


def read_receipt(output_id: str, value: object) -> Receipt:
    """Return the receipt :meth:`Receipt.to_json` wrote.

    Raises
    ------
    InvalidInput
        It has not that form, or its sha256 is not that of what it lists.

    Examples
    --------
    >>> made = Receipt("summary", (InputRevision("n1", 1),), "summarise-1", {}, digest("text"))
    >>> read_receipt("summary", made.to_json()) == made
    True
    """
    try:
        receipt = Receipt(
            output_id,
            tuple(InputRevision(str(name), revision) for name, revision in value["inputs"]),  # type: ignore[index]  # any other value raises TypeError
            str(value["producer"]),  # type: ignore[index]  # as above
            dict(value["configuration"]),  # type: ignore[index]  # as above
            str(value["output_digest"]),  # type: ignore[index]  # as above
        )
        stated = value["sha256"]  # type: ignore[index]  # as above
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidInput(f"{output_id!r} carries no readable receipt: {error!r}") from error
    if stated != receipt.fingerprint:
        raise InvalidInput(f"the receipt of {output_id!r} was altered: its sha256 does not match")
    return receipt


def digest(text: str) -> str:
    """Return the sha256 of a text, as 64 hex digits.

    >>> digest("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Declaration:
    """How one piece of derived data is to be made: ordered input ids, producer, settings.

    An input is a source or the output of another declaration.
    """

    output_id: str
    inputs: tuple[str, ...]
    producer: str
    configuration: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_unique(self.inputs, f"inputs of {self.output_id!r}")


class Action(StrEnum):
    """What to do with derived data."""

    REUSE = "reuse"
    REBUILD = "rebuild"
    WAIT = "wait"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Decision:
    """The action for one output and why, in words."""

    output_id: str
    action: Action
    reason: str


def canonical_json(value: Json) -> bytes:
    """Return the one UTF-8 form of a JSON value: sorted keys, no spaces, no NaN.

    Raises
    ------
    InvalidInput
        The value is not JSON.

    Examples
    --------
    >>> canonical_json({"b": 1, "a": ["é", None]}).decode()
    '{"a":["é",null],"b":1}'
    """
    try:
        text = json.dumps(
            value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
        return text.encode()
    except (TypeError, ValueError) as error:
        raise InvalidInput(f"a configuration must be JSON: {error}") from error


def fingerprint(
    inputs: Sequence[InputRevision], producer: str, configuration: Mapping[str, Json]
) -> str:
    """Return the sha256, as 64 hex digits, that stands for how derived data was made.

    Examples
    --------
    >>> a, b = InputRevision("a", 1), InputRevision("b", 1)
    >>> fingerprint([a, b], "p1", {}) == fingerprint([a, b], "p1", {})
    True
    >>> fingerprint([a, b], "p1", {}) == fingerprint([b, a], "p1", {})
    False
    """
    listed: Json = [[item.id, item.revision] for item in inputs]
    document: Json = {
        "configuration": dict(configuration),
        "inputs": listed,
        "producer": producer,
    }
    return hashlib.sha256(canonical_json(document)).hexdigest()


def plan_rebuild(
    declarations: Sequence[Declaration],
    receipts: Sequence[Receipt],
    sources: Mapping[str, Revision],
) -> tuple[Decision, ...]:
    """Decide for each declared output whether to reuse or rebuild it, in dependency order.

    In this order of precedence: an input that is neither a source nor declared makes the
    output BLOCKED; an input whose own decision is not REUSE makes it WAIT; no receipt,
    another producer or configuration, other inputs, another order or another revision make
    it REBUILD; otherwise REUSE. After the rebuilding, plan again with the new receipts:
    what waited is decided then, and only what really changed moves on.

    Parameters
    ----------
    declarations
        One for each output.
    receipts
        What exists, at most one for each output; receipts nobody declares are ignored.
    sources
        Current revision of each source.

    Raises
    ------
    InvalidInput
        Two producers or two receipts of one output, a declared output that is a source
        too, or a cycle; the ids are named.

    Examples
    --------
    >>> summary = Declaration("summary", ("n1", "n2"), "summarise-1")
    >>> made = Receipt("summary", (InputRevision("n1", 1), InputRevision("n2", 1)), "summarise-1")
    >>> plan_rebuild([summary], [made], {"n1": 1, "n2": 1})[0].action.value
    'reuse'
    >>> plan_rebuild([summary], [made], {"n1": 1, "n2": 2})[0]
    Decision(output_id='summary', action=<Action.REBUILD: 'rebuild'>, reason='changed input: n2')
    """
    _check_unique([item.output_id for item in declarations], "producers")
    _check_unique([receipt.output_id for receipt in receipts], "receipts")
    by_output = {item.output_id: item for item in declarations}
    _check_unique([*by_output, *sources], "producers and sources")
    made = {receipt.output_id: receipt for receipt in receipts}
    decisions: dict[str, Decision] = {}
    revisions: dict[str, Revision] = dict(sources)
    for declaration in _ordered(by_output):
        decision = _decide(declaration, made.get(declaration.output_id), revisions, decisions)
        decisions[declaration.output_id] = decision
        if decision.action is Action.REUSE:
            revisions[declaration.output_id] = made[declaration.output_id].output_digest
    return tuple(decisions.values())


def _ordered(by_output: Mapping[str, Declaration]) -> list[Declaration]:
    graph = {
        output: [name for name in item.inputs if name in by_output]
        for output, item in by_output.items()
    }
    try:
        return [by_output[name] for name in TopologicalSorter(graph).static_order()]
    except CycleError as error:
        cycle = " -> ".join(error.args[1])
        raise InvalidInput(f"derived data depends on itself: {cycle}; nothing planned") from error


def _decide(
    declaration: Declaration,
    receipt: Receipt | None,
    revisions: Mapping[str, Revision],
    decisions: Mapping[str, Decision],
) -> Decision:
    missing = [i for i in declaration.inputs if i not in revisions and i not in decisions]
    waiting = [i for i in declaration.inputs if i not in revisions and i in decisions]
    if missing:
        action, reason = Action.BLOCKED, f"missing input: {', '.join(missing)}"
    elif waiting:
        upstream = ", ".join(f"{i} ({decisions[i].action})" for i in waiting)
        action, reason = Action.WAIT, f"upstream not ready: {upstream}"
    else:
        current = tuple(InputRevision(i, revisions[i]) for i in declaration.inputs)
        reason = _staleness(declaration, receipt, current)
        action = Action.REBUILD if reason else Action.REUSE
    return Decision(declaration.output_id, action, reason or "receipt matches")


def _staleness(
    declaration: Declaration, receipt: Receipt | None, current: tuple[InputRevision, ...]
) -> str:
    """Return why the output is stale, or an empty text."""
    if receipt is None:
        return "no receipt"
    if fingerprint(current, declaration.producer, declaration.configuration) == receipt.fingerprint:
        return ""
    if fingerprint((), declaration.producer, declaration.configuration) != fingerprint(
        (), receipt.producer, receipt.configuration
    ):
        return "changed specification"
    changed = sorted({item.id for item in {*current} ^ {*receipt.inputs}})
    return f"changed input: {', '.join(changed)}" if changed else "changed order of inputs"


def _check_unique(names: Sequence[str], what: str) -> None:
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise InvalidInput(f"{what} must be unique; repeated: {', '.join(repeated)}")
