from __future__ import annotations

from contract.builders import directions

from graphmem.stores.embedded.keptsentences import KeptSentences


def test_what_is_kept_is_found_until_dropped_also_that_there_is_nothing() -> None:
    kept = KeptSentences()
    sentences = directions(1, 2)
    kept.keep({1: sentences, 2: None})
    assert kept.missing([1, 2, 3]) == [3]
    assert kept.of([2, 1]) == [None, sentences]
    kept.drop([1, 9])
    assert kept.missing([1, 2]) == [1]
    kept.clear()
    assert len(kept) == 0


def test_the_older_half_goes_when_the_budget_is_spent() -> None:
    kept = KeptSentences(budget=2_000)
    for key in range(8):
        kept.keep({key: directions(key)})
    assert kept.missing(range(8)) == []
    kept.keep({8: directions(8)})
    assert kept.missing(range(9)) == [0, 1, 2, 3]


def test_dropping_gives_room_back() -> None:
    kept = KeptSentences(budget=1_000)
    for _ in range(50):
        kept.keep({1: directions(1)})
        kept.drop([1])
    kept.keep({1: directions(1), 2: None, 3: None})
    kept.keep({4: None})
    assert kept.missing([1, 2, 3, 4]) == []
