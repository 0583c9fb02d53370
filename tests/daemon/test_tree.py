"""The mindscape through the real daemon: a change costs the summaries above it; at rest none is missing."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from mindscape.protocol import Json
from mindscape_storage.database import open_reader
from mindscape_storage.dump import canonical_dump
from tests.daemon.harness import Daemon
from tests.daemon.prose import novel, paragraph, write


def dumped(daemon: Daemon) -> Json:
    connection = open_reader(daemon.paths.database)
    try:
        return canonical_dump(connection)
    finally:
        connection.close()


def mindscape_of(daemon: Daemon) -> Json:
    """Of the dump what does not wait for vectors."""
    dump = dumped(daemon)
    nodes = [[*row[:3], row[-1]["tree"], row[-1]["nodes"]] for row in dump["contents"]]
    return {"nodes": nodes, **{key: dump[key] for key in ("documents", "folders", "summaries", "strays")}}


def made(daemon: Daemon) -> int:
    """Summaries computed so far, once there is nothing left to do."""
    return daemon.wait("summarised")["work"]["extractive"]


@pytest.fixture
def library(folder: Path) -> Path:
    """A novel, and notes in folders."""
    rng = random.Random(1)
    write(folder / "novel.md", novel(rng, 150))
    for number in range(40):
        write(folder / f"shelf {number % 4}" / f"note {number}.md", novel(rng, 1 + number % 4))
    return folder


def test_an_edit_costs_the_summaries_above_it_and_a_revert_or_a_restart_none(
    daemon: Daemon, library: Path
) -> None:
    daemon.call("add", paths=[str(library)])
    before = made(daemon)
    assert before > 60
    status = daemon.call("status")
    assert status["documents"]["summarised"] == status["documents"]["total"] == 41
    rng, note = random.Random(2), library / "novel.md"
    old = note.read_text().split("\n\n")
    write(note, [*old[:70], paragraph(rng), *old[71:]])
    after = made(daemon)
    assert 0 < after - before <= 2 * 6 + 6
    note.write_text("\n\n".join(old))
    assert made(daemon) == after
    (library / "shelf 1").rename(library / "moved shelf")
    moved = made(daemon)
    assert 0 < moved - after <= 3
    shutil.copytree(library / "shelf 2", library / "copied shelf")
    copied = made(daemon)
    assert 0 < copied - moved <= 3
    daemon.stop()
    assert daemon.start() == "ready"
    assert made(daemon) == copied
    assert [c for c in daemon.call("doctor")["checks"] if c["state"] != "ok"] == []


def test_a_document_is_summarised_when_all_above_it_is(daemon: Daemon, folder: Path) -> None:
    write(folder / "in" / "note.md", novel(random.Random(1), 2))
    write(folder / "note.md", ["The ferry leaves at noon."])
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    daemon.wait("summarised")
    assert {row["tier"] for row in daemon.call("ls")["documents"]} == {"summarised"}


def test_what_is_removed_leaves_the_summaries_above_it(daemon: Daemon, library: Path, tmp_path: Path) -> None:
    write(
        library / "shelf 0" / "secret.md", ["The quartermaster buried Xanthippe's ledger under the chapel."]
    )
    other = tmp_path / "other"
    write(other / "plain.md", ["The ferry leaves at noon."])
    daemon.call("add", paths=[str(library), str(other)])
    made(daemon)
    assert "Xanthippe" in str(dumped(daemon)["summaries"])
    (library / "shelf 0" / "secret.md").unlink()
    made(daemon)
    assert "Xanthippe" not in str(dumped(daemon)["summaries"])
    daemon.call("rm", paths=[str(library)], forget=True)
    made(daemon)
    summaries = dumped(daemon)["summaries"].values()
    assert {row[3] for row in summaries} == {"The ferry leaves at noon."}
    daemon.stop()
    left = b"".join(path.read_bytes() for path in daemon.home.rglob("library.db*"))
    assert b"Xanthippe" not in left


def test_a_library_of_nothing_is_summarised(daemon: Daemon, folder: Path) -> None:
    daemon.call("add", paths=[str(folder)])
    assert made(daemon) == 0
    (folder / "blank.md").write_text("   \n")
    (folder / "in").mkdir()
    (folder / "in" / "empty.md").touch()
    assert made(daemon) == 0
    assert daemon.call("status")["documents"]["summarised"] == 0


def workers_of(daemon: Daemon) -> list[psutil.Process]:
    assert daemon.process is not None
    found: list[psutil.Process] = []
    for child in psutil.Process(daemon.process.pid).children():
        # One that has just ended, and waits for its parent to notice, has no command line any more.
        with contextlib.suppress(psutil.NoSuchProcess):
            if "mindscape.worker" in child.cmdline():
                found.append(child)
    return found


def test_workers_that_are_killed_are_replaced_and_nothing_is_missing(
    daemon: Daemon, library: Path, tmp_path: Path
) -> None:
    daemon.call("add", paths=[str(library)])
    for _ in range(3):
        for worker in workers_of(daemon):
            os.kill(worker.pid, signal.SIGKILL)
        daemon.wait()
    made(daemon)
    assert {row[2] for row in dumped(daemon)["summaries"].values()} == {"extractive"}


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: write(folder / "novel.md", novel(random.Random(5), 80)),
    lambda folder: (folder / "shelf 1").rename(folder / "shelf 1 moved"),
    lambda folder: write(folder / "in" / "deep" / "down" / "new.md", novel(random.Random(6), 9)),
    lambda folder: shutil.copytree(folder / "shelf 2", folder / "copy of shelf 2"),
    lambda folder: shutil.rmtree(folder / "shelf 3"),
    lambda folder: (folder / "novel.md").rename(folder / "shelf 2" / "novel.md"),
    lambda folder: (folder / "shelf 2" / "novel.md").write_text("One line.\n"),
    lambda folder: shutil.rmtree(folder / "in"),
]


def test_a_daemon_killed_after_every_change_ends_as_a_fresh_build_does(library: Path, tmp_path: Path) -> None:
    daemon, fresh = Daemon(tmp_path / "home", workers="1"), Daemon(tmp_path / "fresh", workers="1")
    try:
        assert daemon.start() == "ready"
        daemon.call("add", paths=[str(library)])
        for number, change in enumerate(CHANGES):
            daemon.wait("searchable" if number % 2 else "summarised")
            change(library)
            if number % 3:
                daemon.wait()
            daemon.kill()
            assert daemon.start() == "ready"
        for one in (daemon, fresh):
            if one is fresh:
                assert fresh.start() == "ready"
                fresh.call("add", paths=[str(library)])
            one.wait("summarised")
            assert [c for c in one.call("doctor")["checks"] if c["state"] != "ok"] == []
            one.stop()
        assert mindscape_of(daemon) == mindscape_of(fresh)
    finally:
        daemon.stop()
        fresh.stop()
