"""Link precision over a data set: filled, judged, tallied, summed up."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from pathlib import Path

from graphmem.algorithms.similarity import LINK_THRESHOLD
from graphmem.algorithms.source_links import ANSWER_THRESHOLD
from graphmem.errors import InvalidInput
from graphmem.evaluation.links.cases import DataKind, LinkCase, kind_of, read_link_cases
from graphmem.evaluation.links.pairs import COSINE, SIMILARITY, STORED, judge_pairs
from graphmem.evaluation.links.protocol import LINK_THRESHOLD as PROTOCOL_THRESHOLD
from graphmem.evaluation.links.questions import MISSION, RANKED_COSINE, RECALL, judge_questions
from graphmem.evaluation.links.report import LinkReport
from graphmem.evaluation.links.summary import Tally, summarise_task
from graphmem.evaluation.retrieval import Progress, Setting, filled
from graphmem.policy import resolve_policy

QUESTIONS = "questions"
PAIRS = "pairs"

IN_MEMORY = Setting()
"""The embedded store in memory, default policy and model."""

REFERENCE_COSINE_QUESTION = 0.5
"""A cosine of question and note has no threshold anybody agreed on; read its curve."""

_QUESTION_THRESHOLDS: Mapping[str, float] = {
    RECALL: ANSWER_THRESHOLD,
    MISSION: PROTOCOL_THRESHOLD,
    RANKED_COSINE: REFERENCE_COSINE_QUESTION,
}


def evaluate_links(
    path: Path | str,
    *,
    kind: DataKind | None = None,
    corrections: Path | str | None = None,
    setting: Setting = IN_MEMORY,
    progress: Progress | None = None,
) -> LinkReport:
    """Measure links on a data set.

    Parameters
    ----------
    path
        LongMemEval, LoCoMo, MuSiQue or HotpotQA as JSON or JSON Lines, also as ``.xz``; or a
        tar archive with files of the latter two.
    kind
        What it is; told by its shape when not given.
    corrections
        Corrected evidence for LoCoMo.

    Raises
    ------
    TransferError
        The file cannot be read or is of no known kind.
    InvalidInput
        No question in it needs two ends together or has an answer.
    """
    place = Path(path)
    chosen = kind_of(place) if kind is None else kind
    cases = read_link_cases(place, chosen, None if corrections is None else Path(corrections))
    return measure_links(chosen, cases, setting=setting, progress=progress)


def measure_links(
    dataset: str,
    cases: Iterable[LinkCase],
    *,
    setting: Setting = IN_MEMORY,
    progress: Progress | None = None,
) -> LinkReport:
    """Measure links on cases at hand; see :func:`evaluate_links`."""
    began = time.perf_counter()
    questions, pairs = Tally(QUESTIONS), Tally(PAIRS)
    done = 0
    with setting.open() as memory:
        for case in cases:
            with filled(memory, case) as own:
                questions.add(case.level, judge_questions(case, own))
                pairs.add(case.level, judge_pairs(case, own))
            done += len(case.questions)
            if progress is not None:
                progress(case.id, done)
    tasks = (
        summarise_task(questions, _QUESTION_THRESHOLDS),
        summarise_task(pairs, _pair_thresholds(setting)),
    )
    measured = tuple(task for task in tasks if task is not None)
    if not measured:
        raise InvalidInput("no question of this data has an answer: there is no link to measure")
    return LinkReport(
        dataset=dataset,
        policy=setting.policy_name,
        model=setting.model_id,
        version=version("graphmem"),
        tasks=measured,
        seconds=time.perf_counter() - began,
    )


def _pair_thresholds(setting: Setting) -> Mapping[str, float]:
    """Return where each way to score pairs cuts; a cosine where the policy links."""
    link_threshold = resolve_policy(setting.policy).links.link_threshold
    return {
        SIMILARITY: LINK_THRESHOLD,
        STORED: link_threshold,
        COSINE: link_threshold,
    }
