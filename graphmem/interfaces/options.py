"""Options that several commands share, and how their values are read.

Nothing here imports the library: ``graphmem --help`` must not wait for numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from typer.models import OptionInfo

if TYPE_CHECKING:
    from graphmem.memory import Memory

_PLACE = "Place"

Url: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--url",
        envvar="GRAPHMEM_URL",
        metavar="URL",
        help="A file, :memory:, or neo4j://... Default: NEO4J_URI, else a file of yours.",
        rich_help_panel=_PLACE,
    ),
]
ExplicitUrl: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="A file, :memory:, or neo4j://... Never taken from the environment here.",
        rich_help_panel=_PLACE,
    ),
]
Namespace: TypeAlias = Annotated[
    str,
    typer.Option(
        "--namespace",
        "-n",
        envvar="GRAPHMEM_NAMESPACE",
        metavar="NAME",
        help="The only namespace that is read or written.",
        rich_help_panel=_PLACE,
    ),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON value instead of text.")
]
Sources: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--source", metavar="ID", help="Only notes of this source; repeat for more."),
]
Authors: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--author", metavar="NAME", help="Only notes of this author; repeat for more."),
]
Tags: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--tag", metavar="TAG", help="Only notes with this tag; repeat for more."),
]

DEFAULT_NAMESPACE = "default"


def parse_moment(text: str) -> datetime:
    """Read the value of an option that takes a time with its offset."""
    from graphmem.errors import InvalidInput
    from graphmem.transfer.times import parse_time

    try:
        moment = parse_time(text)
    except InvalidInput as error:
        raise typer.BadParameter(str(error)) from error
    if moment.tzinfo is None:
        raise typer.BadParameter(f"{text!r} has no time zone; add one, such as Z or +02:00")
    return moment


def moment_option(flag: str, text: str) -> OptionInfo:
    """Declare an option that takes a time with its offset."""
    option: OptionInfo = typer.Option(flag, parser=parse_moment, metavar="TIME", help=text)
    return option


At: TypeAlias = Annotated[
    datetime | None,
    moment_option("--at", "Moment of asking, such as 2025-07-01T09:00Z; default: now."),
]
Since: TypeAlias = Annotated[
    datetime | None, moment_option("--since", "Only notes written at or after this time.")
]
Until: TypeAlias = Annotated[
    datetime | None, moment_option("--until", "Only notes written before this time.")
]
AsOf: TypeAlias = Annotated[
    datetime | None, moment_option("--as-of", "Only what was written up to this time.")
]


@contextmanager
def opened(url: str | None, namespace: str, *, new: bool = False) -> Iterator[Memory]:
    """Open the memory a command works on; a file that is not there is made only for `new`.

    Raises
    ------
    NotFound
        There is no such file, as when its name is mistyped.
    """
    from graphmem.opening import open_memory

    if not new:
        _expect_file(url)
    with open_memory(url, namespace=namespace) as memory:
        yield memory


def _expect_file(url: str | None) -> None:
    from graphmem.errors import NotFound
    from graphmem.opening import MEMORY_URL
    from graphmem.settings import read_settings

    address = str(read_settings().address if url is None else url)
    usable = address.strip() and "\0" not in address  # opening any other says what is wrong
    if usable and address != MEMORY_URL and "://" not in address and not _exists(address):
        raise NotFound(
            f"there is no memory at {address}; nothing was made. graphmem add and graphmem import "
            "make one, --url names another"
        )


def _exists(address: str) -> bool:
    try:
        return Path(address).exists()
    except OSError:  # a name too long for any file
        return False
