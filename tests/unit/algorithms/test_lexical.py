from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from graphmem.algorithms.lexical import (
    TermStatistics,
    lexical_relevance,
    match_terms,
    phrase_coverage,
    term_coverage,
)
from graphmem.errors import InvalidInput, InvalidPolicy
from graphmem.model import CandidateSet

terms = st.sampled_from(["blue", "kettle", "shelf", "lamp", "two", "租户"])
documents_of_terms = st.lists(st.lists(terms, max_size=6), max_size=8)
queries = st.lists(terms, max_size=6)

KETTLES = [text.split() for text in (
    "blue kettle on shelf", "blue kettle on shelf two", "blue kettle", "grey lamp",
)]  # fmt: skip


def counted(documents) -> TermStatistics:
    """Statistics of exactly these documents."""
    vocabulary = {term for document in documents for term in document}
    average = sum(map(len, documents)) / len(documents) if documents else 0.0
    frequency = {term: sum(term in document for document in documents) for term in vocabulary}
    return TermStatistics(len(documents), average, frequency)


class TestLexicalRelevance:
    def test_common_terms_still_lift_a_match_above_the_rest(self):
        scores = lexical_relevance(["blue", "kettle"], KETTLES, counted(KETTLES))
        assert scores.min() == scores[3] == 0.0
        assert (scores[:3] > 0).all()
        assert scores[2] > scores[0] > scores[1]

    def test_one_note_finds_itself_and_two_identical_notes_tie(self):
        assert lexical_relevance(["lamp"], [["lamp"]], counted([["lamp"]]))[0] > 0
        twins = lexical_relevance(["lamp"], [["lamp"], ["lamp"]], counted([["lamp"], ["lamp"]]))
        assert twins[0] == twins[1] > 0

    @pytest.mark.parametrize("query", [[], ["blue"]])
    @pytest.mark.parametrize("documents", [[], [[]], [[], []]])
    def test_nothing_to_match_scores_zero(self, query, documents):
        statistics = TermStatistics(0, 0.0, {})
        assert lexical_relevance(query, documents, statistics).tolist() == [0.0] * len(documents)
        assert term_coverage(query, documents, statistics).tolist() == [0.0] * len(documents)
        assert phrase_coverage(query, documents, statistics).tolist() == [0.0] * len(documents)

    def test_statistics_of_the_scope_decide_not_those_of_the_candidates(self):
        documents = [["blue"], ["lamp"]]
        statistics = TermStatistics(1000, 1.0, {"blue": 900, "lamp": 2})
        blue, lamp = lexical_relevance(["blue", "lamp"], documents, statistics)
        assert lamp > 10 * blue > 0

    def test_a_repeated_question_term_counts_once(self):
        statistics = counted(KETTLES)
        once = lexical_relevance(["blue", "shelf"], KETTLES, statistics)
        twice = lexical_relevance(["blue", "shelf", "blue"], KETTLES, statistics)
        assert twice.tolist() == once.tolist()

    @given(documents_of_terms.filter(any), queries)
    def test_agrees_with_the_textbook(self, documents, query):
        statistics = counted(documents)
        expected = []
        for document in documents:
            norm = 1.2 * (0.25 + 0.75 * len(document) / statistics.average_terms)
            parts = [
                statistics.inverse_document_frequency(term) * f * 2.2 / (f + norm)
                for term in dict.fromkeys(query)
                if (f := document.count(term))
            ]
            expected.append(sum(parts))
        assert lexical_relevance(query, documents, statistics) == pytest.approx(expected)

    @given(documents_of_terms, queries, st.floats(0.01, 10), st.floats(0, 1))
    def test_zero_exactly_without_a_match_and_never_negative(self, documents, query, k1, b):
        scores = lexical_relevance(query, documents, counted(documents), k1=k1, b=b)
        assert np.isfinite(scores).all()
        for score, document in zip(scores, documents, strict=True):
            assert (score > 0) == bool(set(query) & set(document))
            assert score >= 0

    def test_equals_rank_bm25_where_its_idf_is_not_floored(self):
        # ln((N-df+.5)/(df+.5)) and ln(1+(N-df+.5)/(df+.5)) order rare terms alike.
        documents = [["blue", "kettle"], *([[f"w{i}"] for i in range(40)])]
        ours = lexical_relevance(["blue"], documents, counted(documents))
        theirs = BM25Okapi(documents, k1=1.2, b=0.75).get_scores(["blue"])
        ratio = math.log(1 + 40.5 / 1.5) / math.log(40.5 / 1.5)
        assert ours == pytest.approx(theirs * ratio)

    @pytest.mark.parametrize(("k1", "b"), [(0, 0.5), (-1, 0.5), (math.nan, 0.5), (1.2, 1.1)])
    def test_parameters_outside_their_range_are_refused(self, k1, b):
        with pytest.raises(InvalidPolicy):
            lexical_relevance(["blue"], KETTLES, counted(KETTLES), k1=k1, b=b)


class TestStatistics:
    @given(st.integers(0, 10**9), st.integers(0, 10**9))
    def test_idf_is_positive_whatever_the_counts(self, count, frequency):
        statistics = TermStatistics(count, 1.0, {"blue": frequency})
        assert statistics.inverse_document_frequency("blue") > 0

    def test_taken_from_a_candidate_set(self):
        candidates = CandidateSet((), (), 7, 3.5, {"blue": 2})
        assert TermStatistics.of(candidates) == TermStatistics(7, 3.5, {"blue": 2})

    @pytest.mark.parametrize(
        "arguments", [(-1, 1.0, {}), (1, -1.0, {}), (1, math.nan, {}), (1, 1.0, {"blue": -2})]
    )
    def test_impossible_counts_are_refused(self, arguments):
        with pytest.raises(InvalidInput):
            TermStatistics(*arguments)


class TestCoverage:
    @given(documents_of_terms, queries)
    def test_one_exactly_when_every_term_is_held(self, documents, query):
        coverage = term_coverage(query, documents, counted(documents))
        for share, document in zip(coverage, documents, strict=True):
            assert 0.0 <= share <= 1.0
            assert (share == 1.0) == (bool(query) and set(query) <= set(document))
            assert (share == 0.0) == (not set(query) & set(document))

    def test_a_rare_term_covers_more(self):
        statistics = TermStatistics(100, 5.0, {"ada": 80, "marathon": 1})
        rare, common = term_coverage(["ada", "marathon"], [["marathon"], ["ada"]], statistics)
        assert rare > 0.9
        assert rare + common == pytest.approx(1.0)

    def test_a_phrase_needs_order_and_contact(self):
        statistics = TermStatistics(4, 3.0, {})
        documents = [["aisle", "seat"], ["seat", "aisle"], ["aisle", "old", "seat"], ["aisle"]]
        assert phrase_coverage(["aisle", "seat"], documents, statistics).tolist() == [1, 0, 0, 0]

    @given(documents_of_terms, queries)
    def test_a_whole_phrase_implies_whole_coverage(self, documents, query):
        statistics = counted(documents)
        phrases = phrase_coverage(query, documents, statistics)
        coverage = term_coverage(query, documents, statistics)
        assert ((phrases >= 0) & (phrases <= 1)).all()
        assert (coverage[phrases == 1.0] == 1.0).all()


class TestTermMatch:
    def test_bm25_is_the_weighted_sum_of_the_saturated_frequencies(self):
        statistics = TermStatistics(9, 2.5, {"red": 4, "kayak": 1, "absent": 0})
        terms = ["red", "kayak", "red", "absent"]
        documents = [["red", "red", "kayak"], [], ["vase"], ["kayak"] * 7 + ["red"]]
        match = match_terms(terms, documents, statistics)
        assert match.saturated.shape == (4, 3)
        assert match.idf.tolist() == [
            statistics.inverse_document_frequency(term) for term in ("red", "kayak", "absent")
        ]
        assert match.bm25.tolist() == pytest.approx(match.saturated @ match.idf * 2.2, abs=1e-12)
        assert match.bm25.tolist() == lexical_relevance(terms, documents, statistics).tolist()

    def test_nothing_asked_or_nothing_there(self):
        nothing = TermStatistics(0, 0.0, {})
        assert match_terms([], [["red"]], nothing).saturated.shape == (1, 0)
        assert match_terms(["red"], [], nothing).saturated.shape == (0, 1)
        assert match_terms(["red"], [[]], nothing).saturated.tolist() == [[0.0]]
