"""What makes Neo4j Browser show a note graph well: favourites, a style, a guide, an address.

Nothing here talks to a server.
"""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from urllib.parse import quote, urlencode, urlsplit

from graphmem.errors import ConfigurationError, TransferError
from graphmem.memory.entry import checked_id
from graphmem.settings import NEO4J_SCHEMES
from graphmem.stores.neo4j import cypher

HTTP_PORT, HTTPS_PORT, BOLT_PORT = 7474, 7473, 7687
"""Where a Neo4j server answers unless it was told otherwise."""

HOSTED_BROWSER = "https://browser.neo4j.io/"
"""The Browser for databases of Neo4j Aura, whose servers have none of their own."""

STYLE_FILE = "graphmem.grass"
_NAMESPACE = "WITH 'default' AS namespace"
_TITLE = re.compile(r"// (.+)\n")
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)  # so that the same favourites make the same bytes


@dataclass(frozen=True, slots=True)
class Favourite:
    """A query that Neo4j Browser keeps under its title; `text` holds the title line too."""

    file: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class BrowserKit:
    """Where the Browser is and what was written for it."""

    address: str
    namespace: str
    files: tuple[Path, ...]


def browser_address(
    url: str, *, username: str = "neo4j", database: str | None = None, http: str | None = None
) -> str:
    """Return the address of a server's Neo4j Browser, with the log-in form filled in.

    A user and password that stand in `url` are left out.

    Parameters
    ----------
    url
        The server's Bolt address, such as ``neo4j://localhost:7687``.
    username, database
        What the log-in form shows.
    http
        Where the server's web address is, when it is not ``http://host:7474`` (or
        ``https://host:7473`` for an encrypted `url`).

    Raises
    ------
    ConfigurationError
        The address is not one of a Neo4j server.

    Examples
    --------
    >>> browser_address("neo4j://localhost", database="notes")
    'http://localhost:7474/browser/?dbms=neo4j://neo4j@localhost:7687&db=notes'
    """
    scheme, host, port = _parts(url)
    secure = scheme.endswith(("+s", "+ssc"))
    shown_host = f"[{host}]" if ":" in host else host
    if http is not None:
        web = http.rstrip("/").removesuffix("/browser") + "/browser/"
    elif host.endswith(".databases.neo4j.io"):
        web = HOSTED_BROWSER
    elif secure:
        web = f"https://{shown_host}:{HTTPS_PORT}/browser/"
    else:
        web = f"http://{shown_host}:{HTTP_PORT}/browser/"
    form = {"dbms": f"{scheme}://{quote(username, safe='')}@{shown_host}:{port}"}
    if database is not None:
        form["db"] = database
    return f"{web}?{urlencode(form, safe=':/@[]')}"


def _parts(url: str) -> tuple[str, str, int]:
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
    except ValueError as error:
        raise ConfigurationError(f"the address of the server cannot be read: {error}") from error
    if scheme not in NEO4J_SCHEMES or not host:
        raise ConfigurationError(
            "Neo4j Browser shows what is on a Neo4j server; name one with --url neo4j://host:7687 "
            "(for any other store there is: graphmem view)"
        )
    return scheme, host, port or BOLT_PORT


def favourites(namespace: str) -> tuple[Favourite, ...]:
    """Return the favourites for a namespace, in order of title."""
    folder = cypher.folder() / "browser"
    found = [
        _favourite(file.name, file.read_text(encoding="utf-8"), namespace)
        for file in folder.iterdir()
        if file.name.endswith(".cypher")
    ]
    return tuple(sorted(found, key=lambda favourite: favourite.title))


def style() -> str:
    """Return the style sheet of the note graph, in Neo4j Browser's own notation."""
    return (cypher.folder() / STYLE_FILE).read_text(encoding="utf-8")


def _favourite(file: str, text: str, namespace: str) -> Favourite:
    title = _TITLE.match(text)
    if title is None or text.count(_NAMESPACE) != 1:
        raise ConfigurationError(f"the favourite {file} of this installation is damaged")
    literal = namespace.replace("\\", "\\\\").replace("'", "\\'")
    return Favourite(
        file=file,
        title=title[1],
        text=text.replace(_NAMESPACE, f"WITH '{literal}' AS namespace"),
    )


def write_kit(folder: Path, address: str, namespace: str) -> BrowserKit:
    """Write favourites (one by one and as a zip), style and guide; replaces an earlier kit.

    Raises
    ------
    InvalidInput
        No namespace can have this name.
    TransferError
        The folder cannot be written.
    """
    chosen = favourites(checked_id(namespace, "namespace"))
    contents = {
        Path("GUIDE.md"): _guide(address, namespace, chosen).encode(),
        Path(STYLE_FILE): style().encode(),
        Path("favourites.zip"): _zipped(chosen),
    }
    contents |= {Path("favourites", each.file): each.text.encode() for each in chosen}
    try:
        (folder / "favourites").mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise TransferError(
            f"cannot write the kit to {folder}: {error.strerror}; choose another with --out"
        ) from error
    return BrowserKit(address, namespace, tuple(folder / name for name in contents))


def _zipped(chosen: tuple[Favourite, ...]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for each in chosen:
            archive.writestr(zipfile.ZipInfo(each.file, _ZIP_EPOCH), each.text)
    return target.getvalue()


def _guide(address: str, namespace: str, chosen: tuple[Favourite, ...]) -> str:
    template = (files("graphmem.interfaces") / "templates" / "browser_guide.md").read_text("utf-8")
    rows = "\n".join(f"| {each.title} | {_explanation(each)} |" for each in chosen)
    shown = " ".join(namespace.replace("`", "'").split())
    return Template(template).substitute(address=address, namespace=shown, table=rows)


def _explanation(favourite: Favourite) -> str:
    lines = favourite.text.splitlines()[1:]
    comment = [line.removeprefix("// ") for line in lines if line.startswith("// ")]
    return " ".join(comment)
