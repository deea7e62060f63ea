from __future__ import annotations

from contract.builders import make_note

from graphmem.stores.embedded.bodies import Bodies, Body


def body(length: int) -> Body:
    return make_note("n", "ns", content="x" * length), ()


def test_what_is_kept_is_found_until_dropped() -> None:
    bodies = Bodies()
    bodies.keep({1: body(5), 2: body(6)})
    assert bodies.missing([1, 2, 3]) == [3]
    assert bodies.of([2, 1]) == [body(6), body(5)]
    bodies.drop([1, 9])
    assert bodies.missing([1, 2]) == [1]
    bodies.clear()
    assert len(bodies) == 0


def test_the_older_half_goes_when_the_budget_is_spent() -> None:
    bodies = Bodies(budget=10_000)
    for key in range(8):
        bodies.keep({key: body(100)})
    assert bodies.missing(range(8)) == []
    bodies.keep({8: body(2_000)})
    assert bodies.missing(range(9)) == [0, 1, 2, 3]
    bodies.keep({9: body(50_000)})
    assert bodies.missing(range(10)) == list(range(9))


def test_replacing_and_dropping_give_their_room_back() -> None:
    bodies = Bodies(budget=10_000)
    for _ in range(50):
        bodies.keep({1: body(100)})
        bodies.drop([1])
    bodies.keep({1: body(100), 2: body(100)})
    bodies.keep({3: body(100)})
    assert bodies.missing([1, 2, 3]) == []


def test_use_counted_elsewhere_is_read_anew_and_nothing_else() -> None:
    bodies = Bodies()
    bodies.keep({1: body(5), 2: body(6)})
    bodies.outdate([1, 9])
    assert (bodies.missing([1, 2]), bodies.outdated([1, 2, 9])) == ([], [1])
    bodies.renew([(1, 3, 86_400_000_000)])
    ((note, _),) = bodies.of([1])
    assert (note.recall_count, note.last_accessed_at.isoformat()) == (
        3,
        "1970-01-02T00:00:00+00:00",
    )
    assert note.content == "x" * 5
    assert bodies.outdated([1, 2]) == []


def test_a_note_that_is_dropped_or_read_whole_is_outdated_no_more() -> None:
    bodies = Bodies()
    bodies.keep({1: body(5)})
    bodies.outdate([1])
    bodies.drop([1])
    bodies.keep({1: body(5)})
    assert bodies.outdated([1]) == []
