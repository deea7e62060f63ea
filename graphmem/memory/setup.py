"""What every step of a memory works with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from graphmem.algorithms.evolution import MetadataProposer
from graphmem.errors import ConfigurationError, InvalidInput, NotFound
from graphmem.memory.encoding import Encoding
from graphmem.memory.entry import checked_id, checked_time
from graphmem.memory.workspace import Workspace
from graphmem.model import Note, Scope
from graphmem.policy import Policy
from graphmem.ports import Clock, LanguageModel, NoteStore, ScopeReader


@dataclass(frozen=True, slots=True)
class Setup:
    """Store, embedder, scope, policy, proposer, clock and language model of one memory.

    `proposer` is the deterministic rule; a language model, where there is one, is asked
    before it.
    """

    store: NoteStore
    encoding: Encoding
    scope: Scope
    policy: Policy
    proposer: MetadataProposer
    clock: Clock
    language_model: LanguageModel | None = None

    def now(self) -> datetime:
        """Return the current moment in UTC.

        Raises
        ------
        ConfigurationError
            The clock gave no aware datetime.
        """
        try:
            return checked_time(self.clock())
        except InvalidInput as error:
            raise ConfigurationError(f"the clock: {error}") from error

    def note(self, note_id: object) -> Note:
        """Return a visible note.

        Raises
        ------
        NotFound
            There is none of that id in this scope.
        """
        checked = checked_id(note_id)
        found = self.store.get(self.scope, [checked]).get(checked)
        if found is None:
            raise not_found([checked], self.scope)
        return found

    def workspace(self, reader: ScopeReader) -> Workspace:
        """Return a workspace over a reader."""
        return Workspace(reader, self.encoding.encode_one, self.encoding.encode_sentences)


def not_found(ids: Iterable[str], scope: Scope) -> NotFound:
    """Return the error for ids that name no visible note."""
    names = ", ".join(repr(i) for i in ids)
    return NotFound(f"no note {names} in namespace {scope.namespace!r}; nothing was changed")
