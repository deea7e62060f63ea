"""Moving notes in and out: files of many forms, and copies from store to store.

Names are imported when first used: reading a time does not load every format.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graphmem.transfer.copying import copy_namespace
    from graphmem.transfer.exporting import export_path, export_stream
    from graphmem.transfer.importing import import_path, import_stream
    from graphmem.transfer.report import ImportReport, Refusal

_HOME = {
    "ImportReport": "report",
    "Refusal": "report",
    "copy_namespace": "copying",
    "export_path": "exporting",
    "export_stream": "exporting",
    "import_path": "importing",
    "import_stream": "importing",
}

__all__ = [
    "ImportReport",
    "Refusal",
    "copy_namespace",
    "export_path",
    "export_stream",
    "import_path",
    "import_stream",
]


def __getattr__(name: str) -> object:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)
