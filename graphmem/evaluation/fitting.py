"""The command that fits the weights of the default policy and says what they are worth.

``python -m graphmem.evaluation.fitting --locomo PATH --corrections PATH --longmemeval PATH``
prints, as Markdown: the weights for notes and for sources; what they find, fitted and
cross-validated, with 95 % bootstrap intervals; the same for weights that saw one data set
only; and what is lost without each signal and each expansion. The same files, model and
version give the same text.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from graphmem.evaluation.cross_validation import (
    NOTES,
    SOURCES,
    Measured,
    Ranker,
    Samples,
    Weights,
    intervals,
)
from graphmem.evaluation.locomo import read_locomo
from graphmem.evaluation.longmemeval import read_longmemeval
from graphmem.evaluation.metrics import Interval
from graphmem.evaluation.retrieval import Setting
from graphmem.evaluation.samples import EXPANSIONS, collect

DataSets = Mapping[str, Samples]
"""The questions of each data set by its name."""


def report(datasets: DataSets) -> Iterator[str]:
    """Yield the lines of the whole report."""
    for ranker in (NOTES, SOURCES):
        yield from _weights(ranker, datasets)
        yield from _found(ranker, datasets)
    yield from _without_signals(NOTES, datasets)
    yield from _without_expansions(datasets)


def _weights(ranker: Ranker, datasets: DataSets) -> Iterator[str]:
    """Show the weights fitted on all data sets and on each alone."""
    fits = {"all, each the same": ranker.fit(list(datasets.values()))}
    fits |= {f"{name} only": ranker.fit([samples]) for name, samples in datasets.items()}
    yield from _table(
        f"Weights for ranking by {ranker.level}",
        ["signal", *fits],
        [[name, *(f"{weights[name]:.3f}" for weights in fits.values())] for name in ranker.signals],
    )


def _found(ranker: Ranker, datasets: DataSets) -> Iterator[str]:
    """Show what the weights find on each data set, by what they were fitted on."""
    everything = list(datasets.values())
    for tested, samples in datasets.items():
        rows = {"all, fitted": ranker.find(samples, ranker.fit(everything))}
        rows["all, cross-validated"] = ranker.cross_validate(everything, samples)
        for name, training in datasets.items():
            rows[f"{name} only, cross-validated"] = ranker.cross_validate([training], samples)
        yield from _table(
            f"Found on {tested} by {ranker.level}, {len(samples)} questions",
            ["weights of", *next(iter(rows.values()))],
            [
                [name, *(_interval(each) for each in intervals(found).values())]
                for name, found in rows.items()
            ],
        )


def _without_signals(ranker: Ranker, datasets: DataSets) -> Iterator[str]:
    """Show what each signal is worth: refitted without it, cross-validated."""
    everything = list(datasets.values())
    rows = []
    for name in (None, *ranker.signals):
        found = [ranker.cross_validate(everything, s, name) for s in datasets.values()]
        rows.append([name or "nothing", *(_means(each) for each in found)])
    yield from _table(
        f"Without one signal, by {ranker.level}, cross-validated", ["without", *datasets], rows
    )


def _without_expansions(datasets: DataSets) -> Iterator[str]:
    """Show what each way into the candidates is worth, with the default policy."""
    rows = [
        [name, *(_means(_shares(samples, name)) for samples in datasets.values())]
        for name in EXPANSIONS
    ]
    yield from _table(
        "Without one way into the candidates, by note, default policy", ["without", *datasets], rows
    )


def _shares(samples: Samples, name: str) -> Measured:
    shares = np.array([sample.without[name] for sample in samples])
    return {"evidence@10": shares, "all@10": np.array(shares == 1.0, dtype=np.float64)}


def _means(found: Measured) -> str:
    return " / ".join(f"{name} {values.mean():.3f}" for name, values in found.items())


def _interval(found: Interval) -> str:
    return f"{found.mean:.3f} [{found.low:.3f}, {found.high:.3f}]"


def _table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"### {title}"
    yield ""
    for cells in (head, ["---"] * len(head), *rows):
        yield f"| {' | '.join(cells)} |"
    yield ""


def fitted_policy(datasets: DataSets) -> tuple[Weights, Weights]:
    """Return the weights for notes and for sources, rounded as the default policy has them."""
    notes, sources = (ranker.fit(list(datasets.values())) for ranker in (NOTES, SOURCES))
    return _rounded(notes), _rounded(sources)


def _rounded(weights: Weights) -> Weights:
    return {name: round(weight, 3) for name, weight in weights.items()}


def _arguments(given: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m graphmem.evaluation.fitting", description="Fit the ranking's weights."
    )
    parser.add_argument("--locomo", type=Path, required=True, metavar="PATH")
    parser.add_argument("--corrections", type=Path, metavar="PATH")
    parser.add_argument("--longmemeval", type=Path, required=True, metavar="PATH")
    parser.add_argument("--cache", type=Path, metavar="FILE", help="keeps embeddings")
    parser.add_argument("--model", metavar="NAME", help="embedding model")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> None:
    """Run the command."""
    arguments = _arguments(given)
    setting = Setting(embedder=arguments.model, cache=arguments.cache)
    datasets = {
        "LoCoMo": list(collect(read_locomo(arguments.locomo, arguments.corrections), setting)),
        "LongMemEval": list(collect(read_longmemeval(arguments.longmemeval), setting)),
    }
    for line in report(datasets):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
