"""A picture as one HTML page that needs nothing else: no server, no network, no other file.

Text of notes enters the page as data and is shown as text only. The page's own policy
allows exactly its own script and style and no request at all.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import TypeAlias

import numpy as np

from graphmem.errors import TransferError
from graphmem.interfaces.layout import Points, force_layout
from graphmem.interfaces.picture import EdgeKind, Picture, PictureEdge, PictureNode

JsonObject: TypeAlias = dict[str, object]

EDGE_LENGTH = 90.0
"""Natural length of an edge in the page's own units."""

_ATTRACTION = {
    EdgeKind.RELATED: 1.0,
    EdgeKind.FOLLOWS: 0.5,
    EdgeKind.SUPERSEDES: 1.0,
    EdgeKind.SOURCE: 0.3,
    EdgeKind.SEED: 0.6,
}


def render_page(picture: Picture) -> str:
    """Return the picture as one self-contained HTML page.

    It pans and zooms, shows a point's or edge's facts on hover or focus, keeps them on a
    click, searches the texts, and hides weaker links.
    """
    script, style = _template("view.js"), _template("view.css")
    return Template(_template("view.html")).substitute(
        policy=f"default-src 'none'; script-src '{_digest(script)}'; "
        f"style-src '{_digest(style)}'; base-uri 'none'; form-action 'none'",
        title=html.escape(picture.title),
        data=_json(_content(picture)),
        script=script,
        style=style,
    )


def write_page(picture: Picture, path: Path) -> None:
    """Write the page to a file, replacing what is there.

    Raises
    ------
    TransferError
        The file cannot be written.
    """
    try:
        path.write_text(render_page(picture), encoding="utf-8", errors="replace")
    except OSError as error:
        raise TransferError(
            f"cannot write {path}: {error.strerror}; choose another file with --out"
        ) from error


def inline_frame(picture: Picture, height: int = 600) -> str:
    """Return HTML that shows the page inside another one, such as a notebook.

    The frame is sandboxed: the page cannot reach what is around it.
    """
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{html.escape(render_page(picture))}" '
        f'width="100%" height="{height}" style="border:1px solid #ccc"></iframe>'
    )


@cache
def _template(name: str) -> str:
    return (files("graphmem.interfaces") / "templates" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _json(value: JsonObject) -> str:
    """Return JSON that holds no character by which HTML could end or begin anything."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _content(picture: Picture) -> JsonObject:
    index = {node.id: number for number, node in enumerate(picture.nodes)}
    places = _places(picture, index)
    return {
        "title": picture.title,
        "leftOut": picture.left_out,
        "nodes": [
            _node_content(node, float(x), float(y))
            for node, (x, y) in zip(picture.nodes, places, strict=True)
        ],
        "edges": [_edge_content(edge, index) for edge in picture.edges],
    }


def _places(picture: Picture, index: dict[str, int]) -> Points:
    pairs = [(index[edge.from_id], index[edge.to_id]) for edge in picture.edges]
    strength = [_ATTRACTION[edge.kind] * edge.weight for edge in picture.edges]
    places = force_layout(
        len(picture.nodes),
        np.array(pairs, dtype=np.int64).reshape(-1, 2),
        np.array(strength, dtype=np.float64),
    )
    return EDGE_LENGTH * places


def _node_content(node: PictureNode, x: float, y: float) -> JsonObject:
    return {
        "x": round(x, 1),
        "y": round(y, 1),
        "role": node.role.value,
        "caption": node.caption,
        "text": node.text,
        "group": node.group,
        "weight": round(node.weight, 4),
        "facts": [[fact.name, fact.value] for fact in node.facts],
    }


def _edge_content(edge: PictureEdge, index: dict[str, int]) -> JsonObject:
    return {
        "from": index[edge.from_id],
        "to": index[edge.to_id],
        "kind": edge.kind.value,
        "weight": round(edge.weight, 4),
        "walked": edge.walked,
        "facts": [[fact.name, fact.value] for fact in edge.facts],
    }
