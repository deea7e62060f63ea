"""A namespace as GraphML, for networkx, Gephi, yEd and other tools that draw graphs.

Notes are nodes; links are edges that say in ``kind`` which they are.
GraphML has either directed or undirected edges in what many tools read, so both are
directed: RELATED, which has no direction, from the smaller id to the greater.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Generic, TypeVar
from xml.sax.saxutils import escape, quoteattr

from graphmem.memory import Memory
from graphmem.model import EvolutionEvent, Link, ModelIdentity, Note
from graphmem.transfer.chains import Chains
from graphmem.transfer.encoding import Counts, canonical
from graphmem.transfer.times import format_time

_NAMESPACE = "http://graphml.graphdrawing.org/xmlns"
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What no XML 1.0 document can hold, not even escaped."""
_LABEL_LENGTH = 60

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Attribute(Generic[T]):
    """One attribute: its name, its GraphML type, and its value as text or ``None``."""

    name: str
    kind: str
    value: Callable[[T], str | None]


def _moment(link: Link) -> str | None:
    return None if link.created_at is None else format_time(link.created_at)


def _source(note: Note) -> str | None:
    return None if note.source is None else note.source.id


def _position(note: Note) -> str | None:
    return None if note.source is None else _whole(note.source.position)


_NODE: tuple[_Attribute[Note], ...] = (
    _Attribute("label", "string", lambda note: label(note.content)),
    _Attribute("note_id", "string", lambda note: note.id),
    _Attribute("content", "string", lambda note: note.content),
    _Attribute("role", "string", lambda note: note.role),
    _Attribute("author", "string", lambda note: note.author),
    _Attribute("source", "string", _source),
    _Attribute("position", "long", _position),
    _Attribute("created_at", "string", lambda note: format_time(note.created_at)),
    _Attribute("keywords", "string", lambda note: ", ".join(note.keywords)),
    _Attribute("tags", "string", lambda note: ", ".join(note.tags)),
    _Attribute("context", "string", lambda note: note.context),
    _Attribute("importance", "double", lambda note: repr(float(note.importance))),
    _Attribute("feedback", "long", lambda note: _whole(note.feedback)),
    _Attribute("recall_count", "long", lambda note: _whole(note.recall_count)),
    _Attribute("revision", "long", lambda note: _whole(note.revision)),
    _Attribute("archived", "boolean", lambda note: str(note.archived).lower()),
    _Attribute("metadata", "string", lambda note: canonical(dict(note.metadata))),
)
_EDGE: tuple[_Attribute[Link], ...] = (
    _Attribute("kind", "string", lambda link: link.kind.value),
    _Attribute("weight", "double", lambda link: repr(float(link.weight))),
    _Attribute("cosine", "double", lambda link: repr(float(link.cosine))),
    _Attribute("linked_at", "string", _moment),
    _Attribute("retrievals", "long", lambda link: _whole(link.retrievals)),
    _Attribute("reason", "string", lambda link: None if link.reason is None else str(link.reason)),
)


def export_graphml(memory: Memory, out: BinaryIO) -> Counts:
    """Write notes and links as GraphML; return how many notes and edges.

    Characters that XML cannot hold become U+FFFD. Events and counters of links are left to
    JSON lines, which is the complete form.
    """
    counts, chains = Counts(), Chains()
    for line in _head(memory.namespace):
        _write(out, line)
    for record in memory.dump(vectors=False):
        if isinstance(record, (ModelIdentity, EvolutionEvent)):
            continue
        counts = counts.plus(record)
        if isinstance(record, Link):
            _write(out, _edge(record))
        else:
            chains.add(record.note)
            _write(out, _node(record.note))
    for link in chains.links():
        counts = counts.plus(link)
        _write(out, _edge(link))
    _write(out, "</graph></graphml>")
    return counts


def node_id(note_id: str) -> str:
    r"""Return the id of a note's node: its own, when XML can hold it.

    Examples
    --------
    >>> node_id("n1"), node_id("a\x01b")
    ('n1', 'a�b-82d34c7d')
    """
    shown = _ILLEGAL.sub("\ufffd", note_id)
    if shown == note_id:
        return note_id
    return f"{shown}-{hashlib.sha256(note_id.encode('utf-8')).hexdigest()[:8]}"


def label(content: str) -> str:
    """Return the beginning of a text in one line."""
    line = " ".join(content[: 2 * _LABEL_LENGTH].split())
    return line if len(line) <= _LABEL_LENGTH else f"{line[: _LABEL_LENGTH - 1]}…"


def _head(namespace: str) -> Iterator[str]:
    yield '<?xml version="1.0" encoding="UTF-8"?>'
    yield f'<graphml xmlns="{_NAMESPACE}">'
    for target, attributes in (("node", _NODE), ("edge", _EDGE)):
        for attribute in attributes:
            yield (
                f'<key id="{target}.{attribute.name}" for="{target}" '
                f'attr.name="{attribute.name}" attr.type="{attribute.kind}"/>'
            )
    yield f'<graph id={_attribute(namespace)} edgedefault="directed">'


def _node(note: Note) -> str:
    return f"<node id={_attribute(node_id(note.id))}>{_data('node', _NODE, note)}</node>"


def _edge(link: Link) -> str:
    ends = [_attribute(node_id(end)) for end in link.pair]
    return f"<edge source={ends[0]} target={ends[1]}>{_data('edge', _EDGE, link)}</edge>"


def _data(target: str, attributes: tuple[_Attribute[T], ...], item: T) -> str:
    values = ((attribute.name, attribute.value(item)) for attribute in attributes)
    return "".join(
        f'<data key="{target}.{name}">{_text(value)}</data>'
        for name, value in values
        if value is not None
    )


def _text(value: str) -> str:
    # A bare carriage return would be read back as a line feed.
    return escape(_ILLEGAL.sub("\ufffd", value), {"\r": "&#13;"})


def _attribute(value: str) -> str:
    return quoteattr(_ILLEGAL.sub("\ufffd", value))


def _whole(value: int | None) -> str | None:
    return None if value is None else str(value)


def _write(out: BinaryIO, line: str) -> None:
    out.write(line.encode("utf-8") + b"\n")
