"""Notes with their sentences to vectors, by one call of the embedder."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from graphmem.algorithms.sentence_vectors import as_directions
from graphmem.memory.encoding import Encoded
from graphmem.memory.workspace import sentences_of, text_to_embed
from graphmem.model import Note, NoteVectors, SentenceVectors


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedNotes:
    """Vectors of several notes, and what was wrong with which note's own."""

    vectors: NoteVectors
    faults: Mapping[int, str]


def embedded_notes(
    encode: Callable[[Sequence[str]], Encoded], notes: Sequence[Note]
) -> EmbeddedNotes:
    """Embed notes and their sentences, each distinct text once.

    A sentence without a usable vector is left out.
    """
    texts = [text_to_embed(note) for note in notes]
    own = [sentences_of(note) for note in notes]
    rows = {text: row for row, text in enumerate(dict.fromkeys((*texts, *_flat(own))))}
    encoded = encode(list(rows))

    def directions(sentences: Sequence[str]) -> SentenceVectors | None:
        usable = [rows[each] for each in sentences if rows[each] not in encoded.faults]
        return as_directions(encoded.vectors[usable]) if usable else None

    places = [rows[text] for text in texts]
    faults = {n: encoded.faults[row] for n, row in enumerate(places) if row in encoded.faults}
    vectors = NoteVectors(encoded.vectors[places], tuple(map(directions, own)))
    return EmbeddedNotes(vectors, faults)


def _flat(sentences: Sequence[Sequence[str]]) -> list[str]:
    return [each for of_note in sentences for each in of_note]
