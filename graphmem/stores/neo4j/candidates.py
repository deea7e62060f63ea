"""A recall's candidates in one round trip (``cypher/queries/candidates.cypher``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Any, LiteralString

from neo4j import Record

from graphmem.errors import EmbeddingMismatch
from graphmem.model import (
    TERM_CAP,
    Candidate,
    CandidateQuery,
    CandidateSet,
    Link,
    LinkKind,
    Scope,
)
from graphmem.stores.neo4j import cypher
from graphmem.stores.neo4j.rows import listed_note_of, stored_link_of
from graphmem.stores.neo4j.schema import VectorIndex
from graphmem.stores.neo4j.scope import Visibility
from graphmem.stores.neo4j.terms import lookup, tokens_of
from graphmem.stores.neo4j.vector_rows import sentences_of
from graphmem.stores.sentences import best_cosines

OVERFETCH = 5
"""How many times more seeds than wanted the approximate index is asked for."""
_KIND_AND_ENDS = attrgetter("kind", "from_id", "to_id")
SCAN_LIMIT = 1000
"""A set of up to so many notes is scored whole: as quick as the index, and exact."""


def candidate_parameters(
    scope: Scope, query: CandidateQuery, index: VectorIndex | None
) -> dict[str, Any]:
    """Return the statement's parameters; without an index every note is scored."""
    seen = Visibility.of(scope, query.where)
    return seen.parameters | {
        "unfiltered": seen.unfiltered,
        "vector": query.vector.tolist(),
        "index_slot": None if index is None else index.slot,
        "filtered_index": index is not None and index.filtered,
        "fetch": max(OVERFETCH * query.vector_seeds, 1),
        "scan_limit": SCAN_LIMIT,
        "queries": [
            lookup(term, scope.namespace, archived=seen.archived)
            for term in dict.fromkeys(query.terms)
        ],
        # Unfiltered, what the index finds is what counts, and the cap may cut it there.
        "lookup": {"limit": TERM_CAP + 1} if seen.unfiltered else {},
        "term_cap": TERM_CAP,
        "vector_seeds": query.vector_seeds,
        "lexical_seeds": query.lexical_seeds,
        "expand": query.expand,
        "hops": query.hops,
        "fanout": query.fanout,
        "min_weight": query.min_weight,
        "window": query.window,
        "source_notes": query.source_notes,
    }


def candidate_statement(index: VectorIndex | None, *, unfiltered: bool) -> LiteralString:
    """Return the statement for what is asked and what the server's vector index can do."""
    if index is not None and index.filtered:
        return cypher.candidates_by_search(index.slot, unfiltered=unfiltered)
    return cypher.candidates(unfiltered=unfiltered)


def candidate_set(scope: Scope, query: CandidateQuery, row: Record) -> CandidateSet:
    """Return the answer of the statement as values.

    Raises
    ------
    EmbeddingMismatch
        The question's vector does not have the dimension of the store's model.
    """
    dimension = row["dimension"]
    if dimension is not None and query.vector.shape != (dimension,):
        raise EmbeddingMismatch(
            f"a question of shape {query.vector.shape} does not fit the store's model of "
            f"dimension {dimension}; reindex, or use that model"
        )
    vector_ranks, lexical_ranks = _ranks(row["near"]), _ranks(row["matched"])
    candidates = []
    held_sentences = [sentences_of(found[-1], dimension or 0) for found in row["found"]]
    best = best_cosines(held_sentences, query.vector)
    for (*values, terms, odd_terms, cosine, _), sentence in zip(row["found"], best, strict=True):
        note = listed_note_of(scope.namespace, values)
        ranks = vector_ranks.get(note.id), lexical_ranks.get(note.id)
        candidates.append(Candidate(note, tokens_of(terms, odd_terms), cosine, *ranks, sentence))
    note_count = row["note_count"]
    held = {candidate.note.id for candidate in candidates}
    # The statement tells where links lead without asking whether that is a candidate too.
    chained = [
        Link(later, earlier, 1.0, 1.0, LinkKind.FOLLOWS)
        for later, earlier in row["chained"]
        if earlier in held
    ]
    stored = [stored_link_of(ends) for ends in row["links"] if ends[0] in held and ends[1] in held]
    return CandidateSet(
        candidates=tuple(sorted(candidates, key=lambda candidate: candidate.note.id)),
        links=tuple(sorted((*chained, *stored), key=_KIND_AND_ENDS)),
        note_count=note_count,
        average_terms=row["term_total"] / note_count if note_count else 0.0,
        document_frequency=_frequencies(query, row),
    )


def _ranks(ids: Sequence[str]) -> Mapping[str, int]:
    return {id_: rank for rank, id_ in enumerate(ids)}


def _frequencies(query: CandidateQuery, row: Record) -> Mapping[str, int]:
    terms = list(dict.fromkeys(query.terms))
    return {
        terms[hit["term"]]: min(hit["frequency"], TERM_CAP)
        for hit in sorted(row["frequencies"], key=lambda hit: int(hit["term"]))
    }
