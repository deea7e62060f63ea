"""Texts of notes and their sentences to vectors, each distinct text of a call once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from graphmem.algorithms.sentence_vectors import as_directions
from graphmem.memory.encoding import Encoded
from graphmem.memory.workspace import sentences_of, text_to_embed
from graphmem.model import Note, NoteVectors, SentenceVectors, Vector

Encode = Callable[[Sequence[str]], Encoded]
"""Returns the vectors of texts, faulty rows named."""


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedTexts:
    """Vectors by text: row `rows[text]` of `encoded`."""

    rows: Mapping[str, int]
    encoded: Encoded

    @classmethod
    def by(cls, encode: Encode, texts: Iterable[str]) -> EmbeddedTexts:
        """Embed texts in one call."""
        rows = {text: row for row, text in enumerate(dict.fromkeys(texts))}
        return cls(rows, encode(list(rows)))

    def vector(self, text: str) -> Vector | None:
        """Return the vector of a text; ``None`` when it was not embedded or has no usable one."""
        row = self.rows.get(text)
        return None if row is None or row in self.encoded.faults else self.encoded.vectors[row]

    def fault(self, text: str) -> str | None:
        """Return why a text that was embedded has no usable vector."""
        return self.encoded.faults.get(self.rows[text])

    def sentences(self, note: Note) -> SentenceVectors | None:
        """Return the vectors of a note's sentences; ``None`` where one was not embedded.

        A sentence without a usable vector is left out: it costs no note.
        """
        texts = sentences_of(note)
        if not all(text in self.rows for text in texts):
            return None
        usable = [self.rows[text] for text in texts if self.fault(text) is None]
        return as_directions(self.encoded.vectors[usable])


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedNotes:
    """Vectors of several notes, and what is wrong with which note's own."""

    vectors: NoteVectors
    faults: Mapping[int, str]


def embedded_notes(encode: Encode, notes: Sequence[Note]) -> EmbeddedNotes:
    """Embed notes and their sentences in one call."""
    texts = [text_to_embed(note) for note in notes]
    made = EmbeddedTexts.by(
        encode, (*texts, *(sentence for note in notes for sentence in sentences_of(note)))
    )
    faults = {n: fault for n, text in enumerate(texts) if (fault := made.fault(text)) is not None}
    sentences = (made.sentences(note) for note in notes)
    vectors = NoteVectors(
        made.encoded.vectors[[made.rows[text] for text in texts]],
        tuple(each if each is not None and len(each) else None for each in sentences),
    )
    return EmbeddedNotes(vectors, faults)
