"""Link measures on pairs small enough to count by hand, and whole runs on small data sets."""

import io
import json
import tarfile

import numpy as np
import pytest

from graphmem.errors import InvalidInput, TransferError
from graphmem.evaluation.links.cases import LinkCase, LinkQuestion, ends_of, kind_of
from graphmem.evaluation.links.curve import (
    JudgedLinks,
    f1_difference,
    joined,
    mean_quality,
    quality,
    resamples_of,
)
from graphmem.evaluation.links.measuring import evaluate_links, measure_links
from graphmem.evaluation.links.pairs import COSINE, SIMILARITY, STORED, pairs_of
from graphmem.evaluation.links.protocol import LexicalProtocol
from graphmem.evaluation.links.questions import MISSION, RECALL
from graphmem.evaluation.metrics import average_precision
from graphmem.evaluation.retrieval import Setting

NEVER = -np.inf


def judged(seed=0, groups=6, size=40):
    generator = np.random.default_rng(seed)
    gold = generator.random(groups * size) < 0.2
    scores = np.round(generator.normal(gold * 1.0), 1)
    return JudgedLinks(scores, gold, np.repeat(np.arange(groups), size), groups)


def test_counts_at_an_inclusive_threshold():
    links = JudgedLinks([0.5, 0.5, 0.4, NEVER], [True, False, True, True], [0, 0, 0, 1], 2)
    assert links.counts(0.5).tolist() == [[1, 0], [1, 0], [1, 1]]


def test_average_precision_agrees_with_the_plain_definition_ties_included():
    links = judged()
    plain = average_precision(links.scores, links.gold)
    assert links.average_precisions(resamples_of(links.count))[0] == pytest.approx(plain, abs=1e-12)


def test_a_resample_is_the_measure_of_its_groups():
    links = judged()
    drawn = resamples_of(links.count, count=1)[:, 1]
    rows = np.concatenate([np.flatnonzero(links.groups == g) for g in np.repeat(range(6), drawn)])
    again = average_precision(links.scores[rows], links.gold[rows])
    both = np.stack([np.ones(6, dtype=np.int64), drawn], axis=1)
    assert links.average_precisions(both)[1] == pytest.approx(again, abs=1e-12)


def test_what_is_never_linked_costs_recall():
    links = JudgedLinks([0.9, NEVER], [True, True], [0, 0], 1)
    assert links.average_precisions(np.array([[1]])).tolist() == [0.5]
    assert quality(links.counts(0.1), resamples_of(1), 0.1).recall.mean == 0.5


def test_the_best_threshold_has_the_highest_f1_of_all():
    links = judged()
    every = np.ones(links.count, dtype=bool)
    ones = np.ones((links.count, 1), dtype=np.int64)

    def f1(threshold):
        return quality(links.counts(threshold), ones, threshold).f1.mean

    assert f1(links.best_threshold(every)) == max(map(f1, np.unique(links.scores)))


def test_thresholds_of_held_out_groups_do_not_see_them():
    scores = [0.9, 0.1, 0.9, 0.1, 0.3, 0.2]
    gold = [True, False, True, False, True, False]
    links = JudgedLinks(scores, gold, [0, 0, 1, 1, 2, 2], 3)
    held = links.held_out_counts(folds=3)
    assert held[:, 2].tolist() == [0, 0, 1]
    assert quality(held, resamples_of(3), None).f1.mean < 1.0


def test_means_over_questions_are_the_published_figures():
    counts = np.array([[1, 0, 0], [3, 0, 2], [0, 2, 0]])
    mean = mean_quality(counts, 0.35, resamples_of(3))
    assert (mean.precision.mean, mean.recall.mean) == (0.125, 0.5)
    assert mean.f1.mean == pytest.approx(0.2)


def test_a_paired_difference_of_a_way_with_itself_is_nothing():
    counts = judged().counts(0.5)
    assert f1_difference(counts, counts, resamples_of(6)).high == 0.0


def test_cases_keep_their_groups_apart():
    both = joined([judged(1), judged(2)])
    assert both.count == 12
    assert set(both.groups.tolist()) == set(range(12))


@pytest.mark.parametrize(
    "given",
    [([0.1], [True, False], [0], 1), ([np.nan], [True], [0], 1), ([0.1], [True], [1], 1)],
)
def test_pairs_that_cannot_be_judged(given):
    with pytest.raises(InvalidInput):
        JudgedLinks(*given)


def test_the_protocol_counts_a_repeated_word_each_time_and_knows_a_flat_column():
    texts = {"a": "kettle", "b": "lamp lamp", "c": "moon"}
    once, twice = (LexicalProtocol(texts).scores(q) for q in ("kettle lamp", "kettle kettle lamp"))
    assert once["b"] == 1.0 > once["a"]
    assert twice["a"] == 1.0 > twice["b"] > twice["c"] == 0.0
    assert set(LexicalProtocol(texts).scores("nothing").values()) == {0.0}


def case(*questions):
    return LinkCase("case", "note", (), tuple(questions))


def question(number, gold, among=None):
    return LinkQuestion(str(number), "Which?", None, frozenset(gold), among)


def test_each_pair_of_a_namespace_counts_once_for_the_first_question_that_needs_it():
    pairs = pairs_of(case(question(0, "bc"), question(1, "abc")), "abcd")
    owners = {
        ("abcd"[a], "abcd"[b]): int(g)
        for a, b, y, g in zip(pairs.first, pairs.second, pairs.gold, pairs.group, strict=True)
        if y
    }
    assert len(pairs.first) == 6
    assert owners == {("b", "c"): 0, ("a", "b"): 1, ("a", "c"): 1}


def test_passages_are_paired_within_the_question_they_were_given_with():
    pairs = pairs_of(
        case(question(0, "ab", ("a", "b")), question(1, "bc", ("b", "c", "d"))), "abcd"
    )
    assert len(pairs.first) == 1 + 3
    assert pairs.gold.sum() == 2
    assert pairs.group.tolist() == [0, 1, 1, 1]


# --- whole runs

TEXTS = {
    "Pocahontas Mounds": "An archaeological site in Hinds County, Mississippi.",
    "History of Mississippi": "In 1817 Mississippi joined the Union.",
    "Joe Creason Park": "A municipal park in Louisville, Kentucky.",
    "Redmond, Utah": "A town in Sevier County, first settled in 1876.",
}
MUSIQUE = [
    {
        "id": "m1",
        "question": "When did the state of Pocahontas Mounds join the Union?",
        "paragraphs": [
            {"title": title, "paragraph_text": text, "is_supporting": number < 2}
            for number, (title, text) in enumerate(TEXTS.items())
        ],
    }
]
HAYSTACK = {
    "question_id": "q1",
    "question_type": "multi-session",
    "question": "What did I glaze, and when is the marathon?",
    "question_date": "2023/06/01 (Thu) 10:00",
    "answer_session_ids": ["s0", "s1"],
    "haystack_session_ids": ["s0", "s1", "s2"],
    "haystack_dates": [f"2023/05/0{day} (Mon) 09:30" for day in (1, 2, 3)],
    "haystack_sessions": [
        [{"role": "user", "content": text}]
        for text in ("I glazed the teapot.", "The marathon is on Sunday.", "The dentist moved.")
    ],
}


@pytest.fixture
def setting(tmp_path):
    return Setting(embedder="hashing-64", cache=tmp_path / "cache.sqlite")


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "multihop.tar.xz"
    with tarfile.open(path, "w:xz") as made:
        for name, value in (("musique.json", MUSIQUE), ("corpus.json", {"Ada": ["One."]})):
            raw = json.dumps(value, indent=1).encode()
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            made.addfile(member, io.BytesIO(raw))
    return path


@pytest.fixture
def haystack(tmp_path):
    path = tmp_path / "longmemeval.jsonl"
    lines = [HAYSTACK, HAYSTACK | {"question_id": "q2_abs"}]
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return path


def test_an_archive_of_passages_is_recognised_and_measured(archive, setting):
    assert kind_of(archive) == "multihop"
    report = evaluate_links(archive, setting=setting)
    pairs = report.task("pairs")
    assert (pairs.level, pairs.groups, pairs.pairs, pairs.gold) == ("note", 1, 6, 1)
    assert [measure.name for measure in pairs.measures] == [SIMILARITY, STORED, COSINE]
    assert [comparison.reference for comparison in pairs.comparisons] == [STORED, COSINE]
    questions = report.task("questions")
    assert (questions.pairs, questions.gold) == (4, 2)
    assert questions.measure(MISSION).default.threshold == 0.35
    assert questions.measure(RECALL).default.recall.mean > 0


def test_sessions_are_the_ends_in_conversations(haystack, setting):
    assert kind_of(haystack) == "longmemeval"
    report = evaluate_links(haystack, setting=setting)
    assert report.task("pairs").level == "source"
    assert (report.task("pairs").pairs, report.task("pairs").gold) == (3, 1)
    assert (report.task("questions").pairs, report.task("questions").gold) == (3, 2)


def test_two_runs_differ_in_seconds_only(haystack, setting):
    first, second = (evaluate_links(haystack, setting=setting).to_json() for _ in range(2))
    assert first.pop("seconds") > 0
    assert second.pop("seconds") > 0
    assert first == second


def test_what_is_no_data_set_is_refused(tmp_path, setting):
    path = tmp_path / "x.json"
    path.write_text('[{"a": 1}]', "utf-8")
    with pytest.raises(TransferError, match=r"x\.json"):
        evaluate_links(path, setting=setting)
    empty = tmp_path / "empty.tar"
    with tarfile.open(empty, "w"):
        pass
    with pytest.raises(TransferError, match="MuSiQue"):
        evaluate_links(empty, setting=setting)


def test_a_data_set_without_answers_has_no_links(setting):
    with pytest.raises(InvalidInput, match="no link to measure"):
        measure_links("none", [], setting=setting)


def test_stored_links_are_measured_as_they_stand(setting):
    from graphmem.model import NoteInput, Source

    notes = [("a", "the green kettle boils"), ("b", "the green kettle boils!"), ("c", "moon")]
    made = LinkCase(
        "own",
        "source",
        tuple(NoteInput(text, id=key, source=Source(key)) for key, text in notes),
        (question_at("ab"),),
    )
    assert list(ends_of(made)) == ["a", "b", "c"]
    stored = measure_links("own", [made], setting=setting).task("pairs").measure(STORED)
    assert (stored.default.precision.mean, stored.default.recall.mean) == (1.0, 1.0)


def question_at(gold):
    from datetime import UTC, datetime

    return LinkQuestion("q", "What boils?", datetime(2025, 1, 1, tzinfo=UTC), frozenset(gold))
