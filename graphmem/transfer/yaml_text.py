"""YAML as plain data: texts, numbers, booleans, nothing, lists and mappings.

Read with the core schema of YAML 1.2: ``no`` is a text, ``2024-05-01`` too. No tag makes an
object, and aliases, by which a few lines can stand for gigabytes, are refused.
"""

from __future__ import annotations

import re

import yaml

LONGEST = 256 * 1024
"""Characters of YAML that are read."""

_SCALARS = (
    ("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)"), "~nN\0"),
    ("tag:yaml.org,2002:bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)"), "tTfF"),
    ("tag:yaml.org,2002:int", re.compile(r"[-+]?[0-9]+"), "-+0123456789"),
    (
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?"),
        "-+0123456789.",
    ),
)

_UNICODE_BREAK = re.compile("[\x85\u2028\u2029]")


def _resolvers() -> dict[str, list[tuple[str, re.Pattern[str]]]]:
    table: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
    for tag, pattern, firsts in _SCALARS:
        for first in firsts:
            whole = re.compile(f"(?:{pattern.pattern})\\Z")
            table.setdefault("" if first == "\0" else first, []).append((tag, whole))
    return table


class _Loader(yaml.SafeLoader):
    yaml_implicit_resolvers = _resolvers()

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("uses an alias (*), which is not read")
        return super().compose_node(parent, index)


class _Dumper(yaml.SafeDumper):
    yaml_implicit_resolvers = _resolvers()

    def ignore_aliases(self, data: object) -> bool:
        return True


def _whole_number(loader: _Loader, node: yaml.ScalarNode) -> int:
    return int(node.value)


def _text(dumper: _Dumper, value: str) -> yaml.ScalarNode:
    # Unquoted, these count as line breaks and come back as spaces.
    style = '"' if _UNICODE_BREAK.search(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
_Dumper.add_representer(str, _text)


def read_yaml(text: str) -> object:
    r"""Return the value of one YAML document.

    Raises
    ------
    ValueError
        Not YAML, too long, nested too deeply, or using an alias.

    Examples
    --------
    >>> read_yaml("tags: [a, no]\ndate: 2024-05-01\nn: 1.5")
    {'tags': ['a', 'no'], 'date': '2024-05-01', 'n': 1.5}
    """
    if len(text) > LONGEST:
        raise ValueError(f"has more than {LONGEST} characters")
    try:
        loader = _Loader(text)  # reads ahead, and refuses characters that YAML does not take
        try:
            return loader.get_single_data()
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        raise ValueError(_in_words(error)) from error
    except RecursionError as error:
        raise ValueError("nests too deeply") from error


def _in_words(error: yaml.YAMLError) -> str:
    """Return what is wrong and in which line, without the parser's drawing of it."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return " ".join(str(error).split())
    return f"{error.problem} in line {error.problem_mark.line + 1}"


def write_yaml(value: object) -> str:
    """Return plain data as YAML that `read_yaml` reads back as the same value."""
    text: str = yaml.dump(
        value, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=1_000_000
    )
    return text
