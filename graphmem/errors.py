"""Every error graphmem raises on purpose.

::

    GraphmemError
    ├── InvalidInput            a value from the caller is wrong; nothing was changed
    │   ├── InvalidNote         a note that cannot be stored; names the field
    │   ├── InvalidQuery        a question, limit or filter that cannot be asked
    │   └── InvalidPolicy       thresholds or weights outside their range
    ├── NotFound                no note, event or source of that id in this namespace
    ├── NotAuthorised           the caller's allow-list does not cover the write
    ├── Conflict                the stored state moved on (revision, later event, taken id)
    ├── EmbeddingError          the embedder gave no usable vectors
    │   ├── EmbeddingMismatch   the store was built with another model or dimension
    │   └── ModelUnavailable    the model's files are not on this machine
    ├── LanguageModelError      the language model gave no usable reply
    ├── MissingExtra            an optional package is not installed; names the extra
    ├── ConfigurationError      a setting or address that cannot be used
    ├── TransferError           a file to import or export that cannot be read or written
    └── StoreError              the store could not do its work
        ├── StoreUnavailable    unreachable, locked for too long, refused the password
        ├── StoreCorrupt        the file or graph is damaged; says what is still readable
        ├── UnsupportedSchema   written by a newer graphmem, or not graphmem's at all
        ├── ReadOnlyStore       the place cannot be written
        └── ClosedMemory        used after `close`

A message says what was wrong, what was kept and what to do next. Errors of lower
libraries are translated at the border of the store or provider that uses them and stay
reachable as ``__cause__``.
"""

from __future__ import annotations


class GraphmemError(Exception):
    """Base of every error graphmem raises on purpose."""


class InvalidInput(GraphmemError, ValueError):
    """A value from the caller is wrong; nothing was changed."""


class InvalidNote(InvalidInput):
    """A note cannot be stored as given.

    Attributes
    ----------
    field
        The field that was refused, such as ``content`` or ``metadata.day``.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem

    def __reduce__(self) -> tuple[type[InvalidNote], tuple[str, str]]:
        return type(self), (self.field, self.problem)


class InvalidQuery(InvalidInput):
    """A question, limit or filter cannot be asked."""


class InvalidPolicy(InvalidInput):
    """Thresholds or weights lie outside their range."""


class NotFound(GraphmemError, LookupError):
    """No note, event or source of that id in this namespace."""


class NotAuthorised(GraphmemError):
    """The caller's allow-list does not cover this write."""


class Conflict(GraphmemError):
    """The stored state moved on since it was read; nothing was changed."""


class EmbeddingError(GraphmemError):
    """The embedder gave no usable vectors; nothing was stored."""


class EmbeddingMismatch(EmbeddingError):
    """The store was built with another embedding model or dimension."""


class ModelUnavailable(EmbeddingError):
    """The model's files are not on this machine and could not be fetched."""


class LanguageModelError(GraphmemError):
    """The language model gave no usable reply."""


class MissingExtra(GraphmemError, ImportError):
    """An optional package is not installed; the message names the extra."""


class ConfigurationError(GraphmemError):
    """A setting or address cannot be used."""


class TransferError(GraphmemError):
    """A file to import or export cannot be read or written."""


class StoreError(GraphmemError):
    """The store could not do its work."""


class StoreUnavailable(StoreError):
    """The store is unreachable, locked for too long, or refused the password."""


class StoreCorrupt(StoreError):
    """The file or graph is damaged."""


class UnsupportedSchema(StoreError):
    """Written by a newer graphmem, or not by graphmem at all."""


class ReadOnlyStore(StoreError):
    """The place cannot be written."""


class ClosedMemory(StoreError):
    """The memory was used after it was closed."""
