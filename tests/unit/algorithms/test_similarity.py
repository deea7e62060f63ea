"""Each signal of a link against its plain definition, and what the blend promises."""

import numpy as np
import pytest

from graphmem.algorithms.similarity import (
    LINK_THRESHOLD,
    Wholes,
    best_of_parts,
    cosine_matrix,
    hubness,
    link_similarity,
    mentions,
    term_similarity,
)
from graphmem.algorithms.source_links import ANSWER_THRESHOLD, answer_likelihoods
from graphmem.errors import InvalidInput


def vectors(count, seed=0):
    made = np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def test_the_best_pair_of_parts_is_the_maximum_of_each_block():
    cosines, owners = cosine_matrix(vectors(7)), np.array([2, 0, 1, 0, 2, 1, 1])
    plain = [[cosines[np.ix_(owners == a, owners == b)].max() for b in range(3)] for a in range(3)]
    assert np.allclose(best_of_parts(cosines, owners), plain, atol=0)


def test_a_hub_is_near_to_all():
    similar = np.array([[1, 0.9, 0.9], [0.9, 1, 0.1], [0.9, 0.1, 1]])
    mean = hubness(similar, 2)
    assert mean[0, 1] == pytest.approx((0.9 + 0.5) / 2)
    assert hubness(similar, 50)[1, 2] == pytest.approx(0.5)
    assert hubness(np.ones((1, 1))).tolist() == [[0.0]]


def test_terms_weigh_by_rarity_and_count_by_logarithm():
    terms = [["a", "a", "b"], ["a", "c"], ["b", "c"], ["c"]]
    idf = {"a": np.log1p(2.5 / 2.5), "b": np.log1p(2.5 / 2.5), "c": np.log1p(1.5 / 3.5)}
    first = np.array([(1 + np.log(2)) * idf["a"], idf["b"], 0])
    second = np.array([idf["a"], 0, idf["c"]])
    plain = first @ second / np.linalg.norm(first) / np.linalg.norm(second)
    assert term_similarity(terms)[0, 1] == pytest.approx(plain, abs=1e-6)


def test_a_background_changes_what_is_rare():
    terms = [["a", "b"], ["a", "c"], ["x"]]
    common = [["a", "b"], ["a", "c"], ["x", "a"]]
    assert term_similarity(terms, common)[0, 1] < term_similarity(terms)[0, 1]


def test_nothing_to_compare_is_no_similarity():
    assert term_similarity([[], ["a"], ["a"]]).tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 1]]


def test_a_heading_counts_word_for_word_and_the_rarer_the_more():
    terms = [["red", "plot"], ["red", "plot", "x"], ["plot", "red"], ["y"]]
    rare, common = (
        mentions([["red", "plot"], [], [], []], words)[0, 1]
        for words in (terms, [*terms[:2], ["red", "plot"], ["red", "plot"]])
    )
    assert 0 < common < rare <= 1
    assert mentions([["red", "plot"], [], [], []], terms)[0, 2] == 0


def test_documents_are_tied_by_a_mention_and_notes_by_words():
    cosines = cosine_matrix(vectors(3))
    terms = [["maro", "bay"], ["boat", "near", "maro", "bay"], ["moon", "rock"]]
    headings = [["maro", "bay"], ["boat"], ["moon"]]
    documents = link_similarity(cosines, Wholes(np.arange(3), terms, terms, headings))
    assert documents[0, 1] == documents[1, 0] > documents[0, 2]
    notes = link_similarity(cosines, Wholes(np.arange(3), terms, terms, [[], [], []]))
    assert not np.allclose(notes, documents)
    assert ((documents >= 0) & (documents <= 1)).all()


def test_the_same_note_twice_is_linked_and_strangers_are_not():
    block = vectors(3)
    block[1] = block[0]
    terms = [["a", "b"], ["a", "b"], ["c"]]
    similar = link_similarity(cosine_matrix(block), Wholes(np.arange(3), terms, terms, [[]] * 3))
    assert similar[0, 1] > LINK_THRESHOLD > similar[0, 2]


def test_lengths_that_differ_are_refused():
    with pytest.raises(InvalidInput):
        Wholes(np.arange(2), [["a"]], [["a"], ["b"]], [[], []])
    with pytest.raises(InvalidInput):
        link_similarity(np.eye(3), Wholes(np.arange(2), [[], []], [[], []], [[], []]))


def test_the_cut_of_a_ranking_falls_with_the_scores_and_knows_a_flat_one():
    likely = answer_likelihoods([0.9, 0.85, 0.6, 0.4, 0.4, 0.39, 0.38])
    assert (np.diff(likely) <= 0).all()
    assert likely[1] >= ANSWER_THRESHOLD > likely[3]
    assert (answer_likelihoods([0.5] * 8) < ANSWER_THRESHOLD).all()
    assert answer_likelihoods([]).tolist() == []
    with pytest.raises(InvalidInput):
        answer_likelihoods([0.1, 0.2])
