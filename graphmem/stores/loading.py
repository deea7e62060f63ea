"""Bringing a namespace into memory: whole at first use, then what others changed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from graphmem.stores.columns import NONE, NewRows
from graphmem.stores.postings import PostingIndex, Vocabulary
from graphmem.stores.rows import Row, numbers_of, split_texts
from graphmem.stores.shard import Entry, Shard
from graphmem.stores.tables import Tables
from graphmem.stores.vectors import Mask

_ROWS_AT_ONCE = 8192


def load_shard(tables: Tables, namespace: str, dimension: int) -> Shard:
    """Read the columns, terms and vectors of a namespace; bodies and links stay behind."""
    shard = Shard(tables, tables.namespace_number(namespace), dimension)
    if shard.number is not None:
        _load_vocabulary(shard, tables, shard.number)
        _load_columns(shard, tables, shard.number)
        _load_vectors(shard, tables, shard.number)
    return shard


def refresh(shard: Shard, tables: Tables, keys: Sequence[int]) -> None:
    """Read anew the notes with these keys, which another process changed or erased."""
    if shard.number is None:
        return
    _load_vocabulary(shard, tables, shard.number)
    for key in keys:
        shard.erase(key)
    blobs = tables.vectors_of(keys)
    entries = [_entry(row) for row in tables.hot_columns_of(keys)]
    vectors = [
        np.frombuffer(blobs[entry.key], dtype="<f4") if entry.key in blobs else None
        for entry in entries
    ]
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
    for term, word in tables.terms(number, first=len(shard.vocabulary)):
        shard.vocabulary.learn(term, word)


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
    _pack_indexes(shard, blobs)


def _pack_indexes(shard: Shard, blobs: Sequence[bytes]) -> None:
    rows = np.arange(len(blobs), dtype=np.int32)
    joined = b"".join(blobs)
    if len(joined) != 4 * int(shard.columns.terms.sum()):
        joined = b"".join(blob[: len(blob) // 4 * 4] for blob in blobs)  # `check` reports it
    numbers = numbers_of(joined)
    shard.by_term = PostingIndex.pack(numbers, rows.repeat(shard.columns.terms))
    if len(numbers):
        shard.vocabulary.cover(int(numbers.max()))
    shard.sources.pack()


def _load_vectors(shard: Shard, tables: Tables, number: int) -> None:
    block = shard.vectors
    block.reserve(shard.columns.count + shard.columns.count // 8)
    block.extend(shard.columns.count)
    cursor = tables.vectors(number)
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        keys, blobs = zip(*rows, strict=True)
        fit = [index for index, blob in enumerate(blobs) if len(blob) == 4 * block.dimension]
        at, known = _rows_of(shard, keys)
        if len(fit) < len(keys) or not known.all():
            # Such notes are searched by keywords alone; `check` reports and mends them.
            fit = [index for index in fit if known[index]]
            at, blobs = at[fit], tuple(blobs[index] for index in fit)
        values = np.frombuffer(b"".join(blobs), dtype="<f4")
        block.put(at, values.reshape(len(blobs), block.dimension))


def _rows_of(shard: Shard, keys: Sequence[int]) -> tuple[NDArray[np.intp], Mask]:
    """Return the rows of these keys, and which of the keys have one."""
    held = shard.columns.key
    at = np.searchsorted(held, keys)
    at[at == len(held)] = 0
    return at, held[at] == keys if len(held) else np.zeros(len(keys), dtype=bool)


def _name_numbers(names: Vocabulary, column: Sequence[str | None]) -> list[int]:
    numbers = {name: names.number(name) for name in dict.fromkeys(column) if name is not None}
    return [NONE if name is None else numbers[name] for name in column]
