"""Retrieval measured on public data sets, through the public interface alone.

Each conversation (LoCoMo) or haystack (LongMemEval) is added to a namespace of its own,
asked, and dropped. Recall leaves no trace (``track=False``) and is asked at the question's
own date. Two plain reference rankers answer the same questions in the same run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias
from uuid import uuid4

import platformdirs

from graphmem.errors import InvalidInput
from graphmem.evaluation.datasets import Case, NotedCase, Question, Turn
from graphmem.evaluation.embedding_cache import CachedEmbedder
from graphmem.evaluation.locomo import read_locomo
from graphmem.evaluation.longmemeval import read_longmemeval
from graphmem.evaluation.metrics import gold_ranks
from graphmem.evaluation.references import Document, ReferenceRankers
from graphmem.evaluation.report import CUTS, QuestionResult, RetrievalReport
from graphmem.evaluation.summary import summarise
from graphmem.memory import Memory
from graphmem.opening import MEMORY_URL, open_memory
from graphmem.policy import Policy, resolve_policy
from graphmem.ports import Embedder
from graphmem.providers.embedding import resolve_embedder

Level: TypeAlias = Literal["note", "source"]
Progress: TypeAlias = Callable[[str, int], None]
"""Called after each case with its id and the number of questions answered so far."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and with what an evaluation runs.

    Parameters
    ----------
    url
        A store's address; the embedded store in memory unless one is given. In any store
        the evaluation uses namespaces of its own and removes them again.
    policy
        A policy or its name; ``None`` is the default policy.
    embedder
        As in ``open_memory``.
    cache
        File that keeps embeddings for the next run; ``None`` is one in the user's cache
        folder.
    auth
        User and password of a Neo4j server.
    """

    url: str = MEMORY_URL
    policy: Policy | str | None = None
    embedder: str | Embedder | None = None
    cache: Path | None = None
    auth: tuple[str, str] | None = None

    @contextmanager
    def open(self) -> Iterator[Memory]:
        """Open a memory whose embeddings are kept on disk."""
        place = self.cache or default_cache()
        with (
            CachedEmbedder(resolve_embedder(self.embedder), place) as embedder,
            open_memory(
                self.url,
                namespace=_own_namespace(),
                embedder=embedder,
                language_model="none",  # the figures are without one
                policy=self.policy,
                auth=self.auth,
            ) as memory,
        ):
            yield memory

    @property
    def policy_name(self) -> str:
        """Name of the policy."""
        return resolve_policy(self.policy).name

    @property
    def model_id(self) -> str:
        """Name of the embedding model."""
        return resolve_embedder(self.embedder).model_id


def default_cache() -> Path:
    """Return the file that keeps embeddings when no other is named."""
    return Path(platformdirs.user_cache_dir("graphmem")) / "evaluation" / "embeddings.sqlite"


def evaluate_locomo(
    path: Path | str,
    *,
    corrections: Path | str | None = None,
    setting: Setting = Setting(),
    progress: Progress | None = None,
) -> RetrievalReport:
    """Measure recall of the turns that hold the answer, on LoCoMo.

    Recall is over categories 1 to 4 (questions with an answer); category 5 counts for
    answerability only.

    Parameters
    ----------
    path
        ``locomo10.json`` or a part of it, also as ``.xz``.
    corrections
        File of the public audit with corrected evidence.

    Raises
    ------
    TransferError
        A file cannot be read or is not of this kind.
    """
    cases = read_locomo(Path(path), None if corrections is None else Path(corrections))
    return _evaluate("locomo", "note", cases, setting, progress)


def evaluate_longmemeval(
    path: Path | str,
    *,
    level: Level = "source",
    questions: Iterable[str] | None = None,
    setting: Setting = Setting(),
    progress: Progress | None = None,
) -> RetrievalReport:
    """Measure recall of the sessions (or turns) that hold the answer, on LongMemEval.

    Recall is over the questions with an answer; those whose id ends in ``_abs`` count for
    answerability only.

    Parameters
    ----------
    path
        A LongMemEval file as JSON or JSON Lines, also as ``.xz``.
    level
        ``source`` ranks sessions, ``note`` turns.
    questions
        Ids to ask; ``None`` asks all.

    Raises
    ------
    TransferError
        The file cannot be read, is not of this kind, or lacks one of `questions`.
    """
    if level not in ("note", "source"):
        raise InvalidInput(f"level: {level!r} is neither 'note' nor 'source'")
    chosen = None if questions is None else frozenset(questions)
    cases = read_longmemeval(Path(path), chosen)
    return _evaluate("longmemeval", level, cases, setting, progress)


def _evaluate(
    dataset: str,
    level: Level,
    cases: Iterable[Case],
    setting: Setting,
    progress: Progress | None,
) -> RetrievalReport:
    began = time.perf_counter()
    policy = setting.policy_name
    results: list[QuestionResult] = []
    with setting.open() as memory:
        for case in cases:
            with filled(memory, case) as own:
                results.extend(_ask(own, case, level, policy))
            if progress is not None:
                progress(case.id, len(results))
    return summarise(
        results,
        dataset=dataset,
        level=level,
        policy=policy,
        model=setting.model_id,
        seconds=time.perf_counter() - began,
    )


@contextmanager
def filled(memory: Memory, case: NotedCase) -> Iterator[Memory]:
    """Fill a namespace with the notes of a case and drop it afterwards."""
    own = memory.scoped(_own_namespace())
    try:
        report = own.add_many(case.notes)
        if report.rejected:
            index, reason = report.rejected[0]
            raise InvalidInput(
                f"{case.id}: {len(report.rejected)} notes were rejected, the first is number "
                f"{index}: {reason}"
            )
        yield own
    finally:
        memory.drop_namespace(own.namespace)


def _own_namespace() -> str:
    return f"evaluation-{uuid4().hex}"


def _ask(memory: Memory, case: Case, level: Level, policy: str) -> Iterator[QuestionResult]:
    references = ReferenceRankers(documents(case.turns, level))
    for question in case.questions:
        result = memory.recall(
            question.text, limit=CUTS[-1], by=level, at=question.asked_at, track=False
        )
        ranked = (
            [note.note.id for note in result.notes]
            if level == "note"
            else [source.source_id for source in result.sources]
        )
        rankings = {policy: ranked, **references.rank(question.text, question.asked_at)}
        gold = _gold(question, level)
        yield QuestionResult(
            id=question.id,
            category=question.category,
            gold=len(gold),
            answerable=question.answerable,
            answerable_score=result.decision.answerable,
            ranks={name: gold_ranks(ranking, gold) for name, ranking in rankings.items()},
        )


def _gold(question: Question, level: Level) -> frozenset[str]:
    return question.gold_notes if level == "note" else question.gold_sources


def documents(turns: Sequence[Turn], level: Level) -> list[Document]:
    """Return the notes, or the sources with the text of all their notes, as documents."""
    texts: dict[str, list[str]] = {}
    times: dict[str, datetime] = {}
    for turn in turns:
        key = turn.id if level == "note" else turn.source_id
        texts.setdefault(key, []).append(turn.content)
        times.setdefault(key, turn.created_at)
    return [Document(key, " ".join(parts), times[key]) for key, parts in texts.items()]
