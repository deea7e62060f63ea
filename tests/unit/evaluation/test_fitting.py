"""Fitting on samples small enough to know the answer."""

from __future__ import annotations

import json

import numpy as np
import pytest

from graphmem.evaluation.cross_validation import (
    FOLDS,
    NOTES,
    SOURCES,
    folds,
    intervals,
    note_measures,
    source_measures,
)
from graphmem.evaluation.datasets import Case, Question, Turn, parse_date
from graphmem.evaluation.fitting import fitted_policy, main, report
from graphmem.evaluation.listwise import NoteLists, SourceLists, balanced, minimise
from graphmem.evaluation.retrieval import Setting
from graphmem.evaluation.samples import EXPANSIONS, NAMES, Sample, collect

CLOSEST, ROLE = NAMES.index("closest"), NAMES.index("role")


def sample(number: int, candidates: int = 24, case: str | None = None) -> Sample:
    """Gold are two notes with a high cosine, one of them in a source of its own; role is noise."""
    draw = np.random.default_rng(number)
    signals = np.zeros((candidates, len(NAMES)))
    signals[:, CLOSEST] = draw.uniform(0.0, 0.5, candidates)
    signals[:, ROLE] = draw.integers(0, 2, candidates)
    gold = np.zeros(candidates, dtype=bool)
    gold[draw.choice(candidates, 2, replace=False)] = True
    signals[gold, CLOSEST] += 0.4
    source = np.arange(candidates) // 2
    return Sample(
        case=case or f"case-{number:02}",
        id=str(number),
        signals=signals,
        salience=np.zeros(candidates),
        relevance=0.9,
        gold=gold,
        gold_notes=2,
        source=source,
        gold_source=np.bincount(source, gold) > 0,
        gold_sources=int((np.bincount(source, gold) > 0).sum()),
        without=dict.fromkeys(EXPANSIONS, 0.5),
    )


SAMPLES = [sample(number) for number in range(20)]


def lists(kind):
    parts = [(s.signals[:, [CLOSEST, ROLE]], s.source, s.gold, s.gold_source) for s in SAMPLES]
    if kind is NoteLists:
        return NoteLists.of([(signals, gold) for signals, _, gold, _ in parts])
    return SourceLists.of([(signals, source, gold) for signals, source, _, gold in parts])


@pytest.mark.parametrize("kind", [NoteLists, SourceLists])
def test_the_gradient_is_that_of_the_loss(kind):
    objective, at = balanced([lists(kind)]), np.array([1.5, -0.4])
    slope, small = objective(at), 1e-6
    for axis in np.eye(2) * small:
        numeric = (objective(at + axis).loss - objective(at - axis).loss) / (2 * small)
        assert slope.gradient @ axis / small == pytest.approx(numeric, rel=1e-5)
    assert np.all(np.linalg.eigvalsh(slope.curvature) > 0)


def test_the_curvature_of_notes_is_that_of_the_loss():
    objective, at, small = balanced([lists(NoteLists)]), np.array([1.5, -0.4]), 1e-5
    numeric = np.stack(
        [
            (objective(at + axis).gradient - objective(at - axis).gradient) / (2 * small)
            for axis in np.eye(2) * small
        ]
    )
    assert objective(at).curvature == pytest.approx(numeric, rel=1e-4, abs=1e-8)


@pytest.mark.parametrize("kind", [NoteLists, SourceLists])
def test_descent_ends_where_the_loss_is_flat(kind):
    objective = balanced([lists(kind)])
    found = minimise(objective, np.zeros(2))
    assert np.abs(objective(found).gradient).max() < 1e-4
    assert found[0] > 5 * abs(found[1])


def test_questions_without_gold_among_the_candidates_teach_nothing():
    signals, nothing = np.ones((3, 2)), np.zeros(3, dtype=bool)
    first = SAMPLES[0]
    both = NoteLists.of([(signals, nothing), (first.signals[:, :2], first.gold)])
    assert len(both.target) == len(first.gold)
    assert both.question.tolist() == [0] * len(first.gold)


@pytest.mark.parametrize("ranker", [NOTES, SOURCES])
def test_what_matters_gets_the_weight_and_is_found_on_questions_held_out(ranker):
    weights = ranker.fit([SAMPLES])
    assert list(weights) == list(ranker.signals)
    assert sum(map(abs, weights.values())) == pytest.approx(1.0)
    assert max(weights, key=lambda name: weights[name]) == "closest"
    held_out = ranker.cross_validate([SAMPLES], SAMPLES)
    assert held_out["all@10"].shape == (len(SAMPLES),)
    assert held_out["all@10"].mean() > 0.9
    blind = ranker.cross_validate([SAMPLES], SAMPLES, without="closest")
    assert blind["evidence@10"].mean() < held_out["evidence@10"].mean()


def test_a_case_is_never_split_over_folds():
    several = [sample(number, case=f"case-{number % 7}") for number in range(21)]
    by_case = {s.case: fold for s, fold in zip(several, folds(several), strict=True)}
    assert [by_case[s.case] for s in several] == folds(several)
    assert set(folds(several)) == set(range(FOLDS))


def test_a_fold_is_measured_with_weights_of_the_other_folds():
    strange = [s if fold else _reversed(s) for s, fold in zip(SAMPLES, folds(SAMPLES), strict=True)]
    held_out = NOTES.cross_validate([strange], strange)["evidence@10"]
    own = np.array([fold == 0 for fold in folds(strange)])
    assert held_out[own].mean() < 0.3 < 0.9 < held_out[~own].mean()


def _reversed(made: Sample) -> Sample:
    flipped = made.signals.copy()
    flipped[:, CLOSEST] = 1.0 - flipped[:, CLOSEST]
    return Sample(**{name: getattr(made, name) for name in Sample.__slots__} | {"signals": flipped})


def test_recall_counts_gold_that_is_no_candidate():
    made = sample(1)
    missing = Sample(
        **{name: getattr(made, name) for name in Sample.__slots__}
        | {"gold_notes": 4, "gold_sources": 4}
    )
    assert note_measures(missing, {"closest": 1.0}) == {"evidence@10": 0.5, "all@10": 0.0}
    found = source_measures(missing, {"closest": 1.0})
    assert found["evidence@10"] == made.gold_sources / 4
    assert found["all@5"] == 0.0


def test_the_report_is_the_same_every_time_and_names_every_signal():
    datasets = {"one": SAMPLES, "two": SAMPLES[:10]}
    lines = list(report(datasets))
    assert lines == list(report(datasets))
    text = "\n".join(lines)
    for part in (*NOTES.signals, *EXPANSIONS, "cross-validated", "two only"):
        assert part in text
    notes, sources = fitted_policy(datasets)
    assert (set(notes), set(sources)) == (set(NOTES.signals), set(SOURCES.signals))


def test_intervals_hold_their_mean():
    for found in intervals(NOTES.find(SAMPLES, {"closest": 1.0})).values():
        assert found.low <= found.mean <= found.high


TEXTS = ["I glazed the teapot in cobalt.", "Lovely!", "The marathon is on Sunday.", "Tea?"]


def test_samples_come_from_what_recall_tells(tmp_path):
    at = parse_date("2023", "%Y")
    turns = tuple(
        Turn(f"t{n}", f"s{n // 2}", n % 2, "user", "Ada", at, text) for n, text in enumerate(TEXTS)
    )
    asked = Question("q", "Who glazed the teapot?", "kind", at, frozenset({"t0"}),
                     frozenset({"s0"}), True)  # fmt: skip
    nothing = Question("n", "Who?", "kind", at, frozenset(), frozenset(), False)
    setting = Setting(embedder="hashing-64", cache=tmp_path / "c.sqlite")
    (made,) = collect([Case("case", turns, (asked, nothing))], setting)
    assert made.signals.shape == (4, len(NAMES))
    assert made.signals[:, NAMES.index("lexical")].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert made.signals[:, NAMES.index("statement")].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert made.gold.tolist() == [True, False, False, False]
    assert made.source.tolist() == [0, 0, 1, 1]
    assert made.gold_source.tolist() == [True, False]
    assert made.relevance == 0.9
    assert set(made.without) == set(EXPANSIONS)
    assert set(made.without.values()) == {1.0}


def test_the_command_reads_files_and_prints_markdown(tmp_path, capsys):
    (tmp_path / "locomo.json").write_text(json.dumps([_conversation(n) for n in range(6)]))
    lines = "\n".join(json.dumps(_haystack(n)) for n in range(6))
    (tmp_path / "longmemeval.jsonl").write_text(lines)
    main(
        ["--locomo", str(tmp_path / "locomo.json"), "--cache", str(tmp_path / "c.sqlite"),
         "--longmemeval", str(tmp_path / "longmemeval.jsonl"), "--model", "hashing-64"]
    )  # fmt: skip
    out = capsys.readouterr().out
    assert "### Weights for ranking by note" in out
    assert "### Found on LongMemEval by source, 6 questions" in out


def _conversation(number):
    spoken = [{"speaker": "Ada", "dia_id": f"D1:{n}", "text": t} for n, t in enumerate(TEXTS, 1)]
    return {
        "sample_id": f"conv-{number}",
        "conversation": {"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": spoken},
        "qa": [{"question": "Who glazed the teapot?", "evidence": ["D1:1"], "category": 4}],
    }


def _haystack(number):
    return {
        "question_id": f"q{number}",
        "question_type": "kind",
        "question": "When is the marathon?",
        "question_date": "2023/06/01 (Thu) 10:00",
        "answer_session_ids": ["s2"],
        "haystack_session_ids": ["s0", "s1", "s2"],
        "haystack_dates": ["2023/05/01 (Mon) 09:30"] * 3,
        "haystack_sessions": [
            [{"role": "user", "content": text, "has_answer": index == 2}]
            for index, text in enumerate(TEXTS[:3])
        ],
    }
