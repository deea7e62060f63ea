"""Bringing notes in: ``graphmem import``."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphmem.interfaces.console import Report, progress_bar, safe, show, show_json, stderr
from graphmem.interfaces.options import DEFAULT_NAMESPACE, AsJson, Namespace, Url, opened

if TYPE_CHECKING:
    from graphmem.memory import Memory
    from graphmem.transfer.report import ImportReport

app = typer.Typer(add_completion=False, rich_markup_mode="markdown")

STREAM = Path("-")
_FORMATS = "auto, jsonl, csv, chatgpt, claude, log, markdown"


def parse_zone(text: str) -> tzinfo:
    """Read the value of an option that takes a time zone: a name or an offset."""
    from zoneinfo import ZoneInfo

    from graphmem.errors import InvalidInput
    from graphmem.transfer.times import parse_time

    try:
        zone = parse_time(f"2000-01-01T00:00{text}").tzinfo
    except InvalidInput:
        zone = None
    if zone is not None:
        return zone
    try:
        return ZoneInfo(text)
    except (KeyError, ValueError, OSError) as error:
        raise typer.BadParameter(
            f"{text!r} is no time zone; give a name such as Europe/Berlin, or an offset such as "
            "+02:00"
        ) from error


_EPILOG = """Examples:

graphmem import notes.jsonl

graphmem import ~/vault --dry-run

graphmem import chatgpt-export.zip

graphmem import meeting.txt --timezone Europe/Berlin

zcat notes.jsonl.gz | graphmem import -
"""


@app.command("import", epilog=_EPILOG)
def import_notes(
    path: Annotated[
        Path, typer.Argument(metavar="PATH", help="A file or Markdown folder; - reads stdin.")
    ],
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help=f"One of: {_FORMATS}."),
    ] = "auto",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Report what would be done; write nothing.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="An export replaces notes of the same id.")
    ] = False,
    zone: Annotated[
        tzinfo | None,
        typer.Option(
            "--timezone",
            metavar="ZONE",
            parser=parse_zone,
            help="The zone of times written without one, such as Europe/Berlin or +02:00.",
        ),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How a text file is encoded, such as windows-1252; default: UTF-8.",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Call the folder's or log's sources so."),
    ] = None,
    url: Url = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    as_json: AsJson = False,
) -> None:
    """Import notes, chat exports or a Markdown folder; say what was left out and why.

    What cannot be used is reported with its place, the rest is imported, and the exit code
    is 1. Importing the same thing again changes nothing; an import that was interrupted is
    finished by repeating it.

    **jsonl**: one JSON object a line with "content" or "text" and, when known, "id",
    "created_at" (with its offset), "author", "role", "source", "position", "tags",
    "keywords", "context", "importance" and "metadata"; other fields are kept as metadata.
    Or a whole export of graphmem, with links and history.

    **csv**: a header row with the same names; comma, semicolon, tab or bar between cells.
    Files that a spreadsheet saved as UTF-16 are read as they are; for another encoding than
    UTF-8 there is --encoding.

    **chatgpt**, **claude**: conversations.json, or the .zip it came in. Each message is a
    note, each conversation a source; of ChatGPT's branches the one that was shown.

    **log**: lines "speaker: text", with or without a time before them; WhatsApp exports too.

    **markdown**: a folder or file. Each heading is a note; front matter gives tags, author,
    date; [[wikilinks]] become links. Importing the folder again updates what changed and
    removes what is gone.
    """
    if dry_run:
        url = _untouched(url)
    done = 0

    with opened(url, namespace, new=True) as memory, progress_bar("importing") as bar:

        def progress(count: int, total: int | None) -> None:
            nonlocal done
            done = count
            bar(count, total)

        try:
            report = _imported(
                memory, path, form, dry_run, overwrite, zone, encoding, name, progress
            )
        except KeyboardInterrupt:
            _say_interrupted(done, dry_run)
            raise typer.Exit(130) from None
    if as_json:
        show_json(report)
    else:
        _show(report)
    _explain(report)
    if report.rejected_count:
        raise typer.Exit(1)


def _imported(
    memory: Memory,
    path: Path,
    form: str,
    dry_run: bool,
    overwrite: bool,
    zone: tzinfo | None,
    encoding: str | None,
    name: str | None,
    progress: Report,
) -> ImportReport:
    from graphmem.transfer.importing import import_path, import_stream

    if path == STREAM:
        return import_stream(
            memory,
            sys.stdin.buffer,
            format=form,
            name=name or "stdin",
            dry_run=dry_run,
            overwrite=overwrite,
            zone=zone,
            encoding=encoding,
            progress=progress,
        )
    return import_path(
        memory,
        path,
        format=form,
        dry_run=dry_run,
        overwrite=overwrite,
        zone=zone,
        encoding=encoding,
        name=name,
        progress=progress,
    )


def _untouched(url: str | None) -> str | None:
    """Return where a dry run opens: a file that is not there yet is not made."""
    from graphmem.opening import MEMORY_URL
    from graphmem.settings import read_settings

    address = str(read_settings().address if url is None else url)
    return url if "://" in address or Path(address).exists() else MEMORY_URL


def _show(report: ImportReport) -> None:
    would = "would be: " if report.dry_run else ""
    removed = f", {report.removed} removed" if report.removed else ""
    show(
        f"{would}{report.added} added, {report.revised} revised, {report.unchanged} unchanged"
        f"{removed}; {report.links} links, {report.events} events"
    )
    if report.kept_as_metadata:
        show(f"kept as metadata: {safe(', '.join(report.kept_as_metadata))}")


def _explain(report: ImportReport) -> None:
    """Tell on stderr what was left out."""
    for skipped in report.skipped:
        _say(f"skipped, {skipped}")
    for dangling in report.dangling:
        _say(f"not linked, {dangling}")
    for refusal in report.rejected:
        _say(f"not imported, {refusal}")
    if report.rejected_count > len(report.rejected):
        _say(f"and {report.rejected_count - len(report.rejected)} more were not imported")
    for hint in _hints(report):
        _say(hint)
    if report.read_as_utc:
        _say(f"times without a zone, read as UTC: {report.read_as_utc}; --timezone says another")


def _say_interrupted(done: int, dry_run: bool) -> None:
    if dry_run:
        _say("interrupted; a dry run writes nothing")
    else:
        _say(
            f"interrupted: {done} notes were handled in whole batches and are kept; "
            "import the same again to finish"
        )


def _hints(report: ImportReport) -> Iterator[str]:
    """Yield the options that would have helped, each once."""
    reasons = [refusal.reason for refusal in report.rejected]
    if any("has no time zone" in reason for reason in reasons):
        yield "--timezone says the zone of times that are written without one"
    if any("is not UTF-8" in reason for reason in reasons):
        yield "--encoding says how a file that is not UTF-8 is encoded, such as windows-1252"


def _say(line: str) -> None:
    stderr().print(safe(line), markup=False, soft_wrap=True)
