"""The files of cypher/: titled, one statement each, and the only Cypher of the store."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from graphmem.stores.neo4j import cypher

ROOT = Path(__file__).parents[3]
STATEMENTS = sorted((ROOT / "cypher").rglob("*.cypher"))
SINGLE = [
    path for path in STATEMENTS if path.name != "schema.cypher" and path.parent.name != "migrations"
]
CLAUSE = re.compile(
    r"\b(MATCH|MERGE|UNWIND|DETACH DELETE|CREATE (VECTOR|FULLTEXT|CONSTRAINT)|RETURN) "
)
STYLE = (ROOT / "cypher" / "graphmem.grass").read_text(encoding="utf-8")


def named(path: Path) -> str:
    return str(path.relative_to(ROOT / "cypher"))


@pytest.mark.parametrize("path", STATEMENTS, ids=named)
def test_the_first_line_is_the_title(path: Path) -> None:
    first, _, rest = path.read_text(encoding="utf-8").partition("\n")
    assert re.fullmatch(r"// \S.*", first)
    assert rest.strip()


@pytest.mark.parametrize("path", SINGLE, ids=named)
def test_a_file_holds_one_statement(path: Path) -> None:
    code = re.sub(r"//.*", "", path.read_text(encoding="utf-8")).strip()
    assert ";" not in code.removesuffix(";")


def test_every_query_is_used_and_every_used_query_exists() -> None:
    sources = [path.read_text(encoding="utf-8") for path in _store_modules()]
    for path in (ROOT / "cypher" / "queries").glob("*.cypher"):
        name = path.stem
        stem = re.sub(r"_embedding(_alt)?$", "", name)
        spellings = f'"{name}"', f'"{stem}"', f'"{stem}_{{slot}}"'
        assert any(spelling in text for spelling in spellings for text in sources), name


SCRIPT_WRITER = ROOT / "graphmem" / "transfer" / "cypher_script.py"  # Cypher is what it writes


@pytest.mark.parametrize(
    "path",
    sorted({*(ROOT / "graphmem").rglob("*.py")} - {SCRIPT_WRITER}),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_python_file_holds_cypher(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            assert id(node) in documented or not CLAUSE.search(node.value), node.value


@pytest.mark.parametrize("slot", ["embedding", "embedding_alt"])
def test_the_search_clause_takes_the_place_of_the_lookup(slot: str) -> None:
    plain, searching = cypher.query("candidates"), cypher.candidates_by_search(slot)
    assert "CYPHER 25\n" in searching
    assert f"VECTOR INDEX vectors_{slot} FOR" in searching
    assert "vector.queryNodes" not in searching
    assert plain.splitlines()[-40:] == searching.splitlines()[-40:]


def test_without_a_filter_no_condition_of_one_is_checked() -> None:
    plain, filtered = cypher.candidates(unfiltered=True), cypher.candidates(unfiltered=False)
    assert filtered == cypher.query("candidates")
    for name in ("sources", "authors", "tags", "since", "until", "archived"):
        assert f"${name}" in filtered
        assert f"${name}" not in plain
    assert plain.count("NOT n.archived") == filtered.count("NOT n.archived")


def test_the_loader_finds_the_checkout() -> None:
    assert Path(str(cypher.folder())) == ROOT / "cypher"


def test_the_schema_is_split_into_its_statements() -> None:
    assert len(cypher.schema()) == len(cypher.schema_names()) == 12
    assert all(re.search(r"^CREATE ", statement, re.MULTILINE) for statement in cypher.schema())


def test_migrations_are_numbered_without_gaps_and_take_away_only_what_they_moved() -> None:
    versions = [migration.version for migration in cypher.migrations()]
    assert versions == list(range(2, 2 + len(versions)))
    for migration in cypher.migrations():
        for statement in migration.statements:
            assert not re.search(r"\bDELETE\b", statement)
            if re.search(r"\bDROP\b", statement):
                assert re.fullmatch(r"(//.*\n)?DROP INDEX note_embedding\w* IF EXISTS", statement)
            removed = re.search(r"\bREMOVE (.*)", statement)
            moved = set() if removed is None else {*re.findall(r"m\.(\w+)", removed[1])}
            assert {*re.findall(r"v\.(\w+) = coalesce\(m\.\1, v\.\1\)", statement)} >= moved


def test_there_are_favourites_for_the_browser() -> None:
    assert len(list((ROOT / "cypher" / "browser").glob("*.cypher"))) >= 5


def test_the_style_covers_every_label_and_edge_of_the_store() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in STATEMENTS)
    labels = set(re.findall(r"\(\w*:([A-Z][A-Za-z]+)", text))
    edges = {name for names in re.findall(r"\[\w*:([A-Z_|]+)", text) for name in names.split("|")}
    assert labels == {"GraphMem", "Namespace", "Note", "NoteVectors", "Source", "EvolutionEvent"}
    assert labels == set(re.findall(r"^node\.(\w+) {", STYLE, re.MULTILINE))
    assert edges == set(re.findall(r"^relationship\.(\w+) {", STYLE, re.MULTILINE))


def _store_modules() -> list[Path]:
    return sorted((ROOT / "graphmem" / "stores").rglob("*.py"))
