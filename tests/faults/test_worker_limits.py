"""Parsers that hang, crash or take too much: that file gets a true sentence, and everything else goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.faults.cases.scene import CaseDaemon

MISBEHAVE = """
import os, signal, time
import mindscape.ingest.formats.html as html

parse = html.parse

def misbehave(source, media_type):
    name = source.path.name
    if name.startswith("crash"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if name.startswith("killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    if name.startswith("exits"):
        os._exit(3)
    if name.startswith("hang"):
        time.sleep(1_000)
    if name.startswith("hungry"):
        [bytearray(64 << 20) for _ in range(1_000)]
    if name.startswith("raises"):
        raise RecursionError(source.data.decode())
    return parse(source, media_type)

html.parse = misbehave
"""
GOOD = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Some good pages, which are read together with the bad ones."""
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(GOOD):
        (folder / f"good {number:02}.html").write_text(f"<p>Page {number} has the word goodword{number}.")
    return folder


@pytest.fixture
def daemon(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[CaseDaemon]:
    """A daemon whose workers have a parser that misbehaves for some names."""
    # Little time only where it has to run out: a busy machine must not make another case of the others.
    seconds = "2" if "hang" in request.node.name else "60"
    (tmp_path / "patch").mkdir()
    (tmp_path / "patch" / "sitecustomize.py").write_text(MISBEHAVE)
    daemon = CaseDaemon(tmp_path / "home", workers="1", parse_seconds=seconds, parse_memory_mb="512")
    daemon.environment["PYTHONPATH"] = str(tmp_path / "patch")
    assert daemon.start() == "ready"
    yield daemon
    daemon.stop()


def rows(daemon: CaseDaemon) -> dict[str, dict[str, Any]]:
    return {Path(row["path"]).name: row for row in daemon.call("ls")["documents"]}


def index(daemon: CaseDaemon, folder: Path) -> dict[str, dict[str, Any]]:
    """The bad documents' rows by name, once everything is final; the good ones must all be there."""
    daemon.call("add", paths=[str(folder)])
    daemon.wait()
    found = rows(daemon)
    good = {name for name, row in found.items() if row["status"] == "ok"}
    assert len([name for name in good if name.startswith("good")]) == GOOD
    assert daemon.call("search", query=f"goodword{GOOD - 1}")["results"]
    return {name: row for name, row in found.items() if not name.startswith("good")}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("crash", "ended by SIGSEGV"),
        ("killed", "ended by SIGKILL (often: out of memory)"),
        ("exits", "stopped unexpectedly (exit code 3)"),
        ("hang", "took longer than 2 seconds"),
    ],
)
def test_a_file_that_ends_its_worker_twice_is_put_aside_with_why_until_it_changes(
    daemon: CaseDaemon, folder: Path, name: str, says: str
) -> None:
    bad = folder / f"{name}.html"
    bad.write_text("<p>The badword.")
    (row,) = index(daemon, folder).values()
    assert row["status"] == "quarantined"
    assert says in row["reason"]
    assert "2 times" in row["reason"]
    parses = daemon.wait()["work"]["parses"]
    assert daemon.wait()["work"]["parses"] == parses
    bad.rename(folder / "mended.html")
    daemon.wait()
    assert rows(daemon)["mended.html"]["status"] == "ok"
    assert daemon.call("search", query="badword")["results"]


def test_a_parser_that_needs_too_much_memory_is_refused_it_and_its_worker_lives_on(
    daemon: CaseDaemon, folder: Path
) -> None:
    assert daemon.process is not None
    (folder / "hungry.html").write_text("<p>The hungryword.")
    (row,) = index(daemon, folder).values()
    assert row["status"] == "too_large"
    assert "parse_memory_mb" in row["reason"]
    daemon_itself = psutil.Process(daemon.process.pid)
    (worker,) = daemon_itself.children()
    (folder / "hungry too.html").write_text("<p>The hungryword again.")
    daemon.wait()
    assert rows(daemon)["hungry too.html"]["status"] == "too_large"
    assert [child.pid for child in daemon_itself.children()] == [worker.pid]
    assert daemon_itself.memory_info().rss < 200 << 20


def test_what_an_error_quotes_from_a_file_is_not_told(daemon: CaseDaemon, folder: Path) -> None:
    (folder / "raises.html").write_text("<p>The secretword.")
    (row,) = index(daemon, folder).values()
    assert row["status"] == "damaged"
    assert "secretword" not in row["reason"]
    assert "secretword" not in daemon.paths.log.read_text()
