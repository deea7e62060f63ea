"""Bringing a namespace into memory: whole at first use, then what others changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphmem.model import Vector
from graphmem.stores.embedded.columns import NONE, NewRows
from graphmem.stores.embedded.damage import decodes
from graphmem.stores.embedded.postings import PostingIndex, TermLists, Vocabulary
from graphmem.stores.embedded.rows import Row, numbers_of, split_texts
from graphmem.stores.embedded.shard import Entry, Shard
from graphmem.stores.embedded.tables import Tables
from graphmem.stores.embedded.vectorfile import BLOCK

_ROWS_AT_ONCE = 8192
SQUARE_TOLERANCE = 2e-2
"""How far from 1 the squared length of a stored vector may be."""


@decodes("a namespace")
def load_shard(tables: Tables, namespace: str, dimension: int) -> Shard:
    """Read the columns, terms and vectors of a namespace; bodies and links stay behind."""
    shard = Shard(tables, tables.namespace_number(namespace), dimension)
    if shard.number is not None:
        _load_vocabulary(shard, tables, shard.number)
        _load_columns(shard, tables, shard.number)
        _load_vectors(shard, tables, shard.number)
    return shard


@decodes("a changed note")
def refresh(shard: Shard, tables: Tables, keys: Sequence[int]) -> None:
    """Read anew the notes with these keys, which another process changed or erased."""
    if shard.number is None:
        return
    _load_vocabulary(shard, tables, shard.number)
    blobs = tables.vectors.of(keys, 4 * shard.vectors.dimension)
    entries = [_entry(row) for row in tables.hot_columns_of(keys)]
    vectors = [
        np.frombuffer(blobs[entry.key], dtype="<f4") if entry.key in blobs else None
        for entry in entries
    ]
    stored = [entry.key for entry in entries]
    shard.erase(set(keys).difference(stored))
    shard.empty(stored)
    shard.append(entries, vectors)


def _entry(row: Row) -> Entry:
    key, note_id, created_at, archived, source, position, author, terms, importance, tags = row
    return Entry(
        key=key,
        id=note_id,
        created_at=created_at,
        archived=bool(archived),
        source=source,
        position=position,
        author=author,
        importance=importance,
        terms=numbers_of(terms).tolist(),
        tags=split_texts(tags),
    )


def _load_vocabulary(shard: Shard, tables: Tables, number: int) -> None:
    shard.vocabulary.learn_all(tables.terms(number, first=len(shard.vocabulary)))


def _load_columns(shard: Shard, tables: Tables, number: int) -> None:
    cursor = tables.hot_columns(number)
    blobs: list[bytes] = []
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        keys, ids, created, archived, sources, positions, authors, terms, importance = zip(
            *rows, strict=True
        )
        shard.columns.extend(
            NewRows(
                key=keys,
                created_at=created,
                archived=archived,
                position=positions,
                importance=importance,
                terms=[len(each) // 4 for each in terms],
                source=_name_numbers(shard.sources.names, sources),
                author=_name_numbers(shard.authors, authors),
            )
        )
        shard.ids += ids
        blobs += terms
    count = len(shard.ids)
    shard.row_of = dict(zip(shard.ids, range(count), strict=True))
    shard.row_of_key = dict(zip(shard.columns.key.tolist(), range(count), strict=True))
    _pack_indexes(shard, blobs, tables.term_count(number))


def _pack_indexes(shard: Shard, blobs: Sequence[bytes], words: int) -> None:
    rows = np.arange(len(blobs), dtype=np.int32)
    joined = b"".join(blobs)
    if len(joined) != 4 * int(shard.columns.terms.sum()):
        joined = b"".join(blob[: len(blob) // 4 * 4] for blob in blobs)  # `check` reports it
    numbers, holders = numbers_of(joined), rows.repeat(shard.columns.terms)
    shard.term_lists = TermLists(numbers, shard.columns.terms)
    given = (numbers >= 0) & (numbers < words)  # the others were never given: `check` reports it
    if not given.all():
        numbers, holders = numbers[given], holders[given]
    shard.by_term = PostingIndex(numbers, holders)
    shard.vocabulary.cover(words - 1)
    shard.sources.pack()


def _load_vectors(shard: Shard, tables: Tables, number: int) -> None:
    """Copy the blocks into memory; rows are in order of keys, as places are.

    Blocks of another length and vectors that are not of length 1 are left out: such notes
    are searched by keywords alone, and `check` reports and mends them.
    """
    block = shard.vectors
    block.reserve(shard.columns.count + shard.columns.count // 8)
    block.extend(shard.columns.count)
    keys = shard.columns.key
    for first, value in tables.vectors.blocks(number):
        if len(value) != BLOCK * block.dimension * 4 or not block.dimension:
            continue
        vectors = _sound(np.frombuffer(value, dtype="<f4").reshape(BLOCK, block.dimension))
        start, stop = np.searchsorted(keys, (first, first + BLOCK)).tolist()
        whole = stop - start == BLOCK
        block.copy_in(start, vectors if whole else vectors[keys[start:stop] - first])


def _sound(vectors: Vector) -> Vector:
    """Return the vectors of a block with zeros in place of those that are not of length 1."""
    with np.errstate(over="ignore", invalid="ignore"):  # damaged numbers may be of any size
        squares = np.einsum("ij,ij->i", vectors, vectors)
        sound = (np.abs(squares - 1.0) <= SQUARE_TOLERANCE) | (squares == 0.0)
    return vectors if sound.all() else np.where(sound[:, None], vectors, np.float32(0.0))


def _name_numbers(names: Vocabulary, column: Sequence[str | None]) -> list[int]:
    numbers = {name: names.number(name) for name in dict.fromkeys(column) if name is not None}
    return [NONE if name is None else numbers[name] for name in column]
