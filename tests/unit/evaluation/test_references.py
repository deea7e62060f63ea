"""The two reference rankers."""

from datetime import UTC, datetime, timedelta

from graphmem.evaluation.references import BM25, RECIPE, Document, ReferenceRankers

START = datetime(2025, 1, 1, tzinfo=UTC)


def test_bm25_ranks_by_words_alone_ties_by_id():
    rankers = ReferenceRankers(
        [
            Document("c", "lunch at noon", START),
            Document("b", "Kettle on the shelf", START),
            Document("a", "lunch at noon", START),
        ]
    )
    assert rankers.rank("the KETTLE", START)[BM25] == ("b", "a", "c")


def test_the_recipe_lets_the_newer_of_equals_come_first():
    rankers = ReferenceRankers(
        [
            Document("a", "blue kettle", START),
            Document("b", "blue kettle", START + timedelta(days=9)),
            Document("c", "lunch", START),
        ]
    )
    ranked = rankers.rank("kettle", START + timedelta(days=10))
    assert ranked[BM25] == ("a", "b", "c")
    assert ranked[RECIPE] == ("b", "a", "c")


def test_the_recipe_lets_the_longer_of_equals_come_first():
    rankers = ReferenceRankers(
        [Document("a", "grey lamp", START), Document("b", "grey lamp on a long shelf", START)]
    )
    assert rankers.rank("unrelated", START)[RECIPE] == ("b", "a")


def test_nothing_to_rank_gives_empty_rankings():
    assert ReferenceRankers([]).rank("kettle", START) == {BM25: (), RECIPE: ()}
