"""Finding the Java runtimes of this machine."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_VERSION = re.compile(r'^JAVA_VERSION="(?:1\.)?(\d+)', re.MULTILINE)
_PLACES = (
    "/usr/lib/jvm/*",
    "/usr/java/*",
    "/opt/java/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "~/.sdkman/candidates/java/*",
    "~/.jdks/*",
)


@dataclass(frozen=True, order=True)
class Jdk:
    """One Java runtime: its major version and its home folder."""

    version: int
    home: Path

    @property
    def java(self) -> Path:
        return self.home / "bin" / "java"


def _homes() -> Iterator[Path]:
    for name, value in os.environ.items():
        if name == "JAVA_HOME" or name.startswith("JAVA_HOME_"):
            yield Path(value)
    if (java := shutil.which("java")) is not None:
        yield Path(java).resolve().parent.parent
    for place in _PLACES:
        pattern = Path(place).expanduser()
        anchor = Path(pattern.anchor)
        yield from sorted(anchor.glob(str(pattern.relative_to(anchor))))


def installed() -> tuple[Jdk, ...]:
    """Return every runtime found, oldest first, each once."""
    found = set()
    for home in _homes():
        release = home / "release"
        if not (home / "bin" / "java").is_file() or not release.is_file():
            continue
        if match := _VERSION.search(release.read_text(encoding="utf-8", errors="replace")):
            found.add(Jdk(int(match[1]), home.resolve()))
    return tuple(sorted(found))


def runtime_for(oldest: int, newest: int) -> Jdk | None:
    """Return the oldest runtime whose version lies between both, or ``None``."""
    return next((jdk for jdk in installed() if oldest <= jdk.version <= newest), None)
