"""The command that proposes link thresholds for an embedding model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.console import show, show_json
from graphmem.interfaces.options import DEFAULT_NAMESPACE, AsJson, Namespace, Url, opened

if TYPE_CHECKING:
    from graphmem.evaluation.links.calibration import LinkProposal

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")


@app.command(epilog="Example: graphmem calibrate --url notes.graphmem --json")
def calibrate(
    pairs: Annotated[
        Path | None,
        typer.Option(
            "--pairs",
            metavar="FILE",
            help='Labelled notes as JSON lines: {"a": ID, "b": ID, "related": true}.',
        ),
    ] = None,
    unrelated_share: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE", help="Share of random pairs that shall not be linked, such as 0.998."
        ),
    ] = None,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Propose link thresholds for the embedding model; changes nothing.

    From random pairs of the namespace's notes, or with --pairs from pairs somebody labelled.
    """
    from graphmem.evaluation.links.calibration import (
        propose_from_notes,
        propose_from_pairs,
        read_labelled_pairs,
    )

    with opened(url, namespace) as memory:
        if pairs is None:
            proposal = propose_from_notes(memory, unrelated_share=unrelated_share)
        else:
            proposal = propose_from_pairs(memory, read_labelled_pairs(pairs))
    if as_json:
        show_json(_fields(proposal))
    else:
        show(*_lines(proposal))


def _fields(proposal: LinkProposal) -> dict[str, object]:
    made = proposal.calibration
    return {
        "model": proposal.model,
        "policy": made.policy.model_dump(),
        "method": made.method,
        "pairs": made.pairs,
        "related": made.related,
        "linked": made.linked,
        "f1": made.f1,
        "reason": made.reason,
    }


def _lines(proposal: LinkProposal) -> tuple[str, ...]:
    made, policy = proposal.calibration, proposal.calibration.policy
    return (
        f"{proposal.model}: link at {policy.link_threshold:.4f}, evolve at "
        f"{policy.evolution_threshold:.4f}",
        f"{made.reason}.",
        f"{made.linked:.2%} of the {made.pairs:,} pairs reach the link threshold."
        + ("" if made.f1 is None else f" F1 {made.f1:.3f}."),
        "Nothing was changed. To use it, open the memory with",
        f"  LinkPolicy(link_threshold={policy.link_threshold}, "
        f"evolution_threshold={policy.evolution_threshold})",
    )
