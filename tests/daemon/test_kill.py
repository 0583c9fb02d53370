"""kill -9 at random moments while files change: after a restart the index equals the disk, every time."""

from __future__ import annotations

import random
import threading
import time
from pathlib import Path

import pytest

from mindscape_storage.database import open_reader
from mindscape_storage.dump import canonical_dump
from tests.daemon.harness import Daemon

WORDS = ["tide", "mill", "keeper", "lantern", "harbour", "ledger", "winter", "rope", "sluice", "barley"]


class Churn:
    """Adds, edits, renames and removes files until stopped; the same sequence for the same seed."""

    def __init__(self, folder: Path, files: int, seed: int) -> None:
        self._folder = folder
        self._files = files
        self._random = random.Random(seed)
        self._made = 0
        self._running = threading.Event()

    def text(self) -> str:
        lines = [
            " ".join(self._random.choice(WORDS) for _ in range(self._random.randint(4, 40))).capitalize()
            + "."
            for _ in range(self._random.randint(1, 30))
        ]
        return f"# {self._random.choice(WORDS)} {self._random.randint(1, 9)}\n\n" + " ".join(lines) + "\n"

    def step(self) -> None:
        files = sorted(path for path in self._folder.rglob("*.md"))
        kind = self._random.random()
        if len(files) < self._files // 2 or (kind < 0.4 and len(files) < self._files):
            folder = self._folder / f"part {self._random.randint(1, 5)}"
            folder.mkdir(exist_ok=True)
            self._made += 1
            (folder / f"note {self._made}.md").write_text(self.text())
        elif kind < 0.6:
            self._random.choice(files).write_text(self.text())
        elif kind < 0.7:
            path = self._random.choice(files)
            path.write_text(path.read_text() + "Appended words.\n")
        elif kind < 0.85:
            path = self._random.choice(files)
            path.rename(path.with_name(f"renamed {self._random.randint(1, 10**6)}.md"))
        else:
            self._random.choice(files).unlink()

    def run_for(self, seconds: float) -> threading.Thread:
        """Change files in a thread until `stop`, at most for so long."""
        self._running.set()
        deadline = time.monotonic() + seconds

        def work() -> None:
            while self._running.is_set() and time.monotonic() < deadline:
                self.step()

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def stop(self) -> None:
        self._running.clear()


def die_at_random_moments(tmp_path: Path, kills: int, files: int, seed: int) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    churn = Churn(folder, files, seed)
    for _ in range(files):
        churn.step()
    daemon, fresh = Daemon(tmp_path / "home"), Daemon(tmp_path / "fresh")
    try:
        assert daemon.start() == "ready"
        daemon.call("add", paths=[str(folder)])
        moments = random.Random(seed)
        for _ in range(kills):
            changing = churn.run_for(5.0)
            changing.join(moments.uniform(0.0, 1.0))  # the moment of death, not a wait for anything
            daemon.kill()
            churn.stop()
            changing.join()
            assert daemon.start() == "ready"
            daemon.wait()
            assert daemon.indexed() == {str(p): p.read_text() for p in folder.rglob("*.md")}
            assert [c for c in daemon.call("doctor")["checks"] if c["state"] == "fail"] == []
        daemon.wait("embedded")
        daemon.wait("summarised")
        daemon.stop()
        assert fresh.start() == "ready"
        fresh.call("add", paths=[str(folder)])
        fresh.wait("embedded")
        fresh.wait("summarised")
        fresh.stop()
        assert dumped(daemon) == dumped(fresh)
    finally:
        daemon.stop()
        fresh.stop()


def dumped(daemon: Daemon) -> object:
    connection = open_reader(daemon.paths.database)
    try:
        return canonical_dump(connection)
    finally:
        connection.close()


def test_six_kills_lose_nothing(tmp_path: Path) -> None:
    die_at_random_moments(tmp_path, kills=6, files=80, seed=1)


@pytest.mark.slow
def test_thirty_kills_lose_nothing(tmp_path: Path) -> None:
    die_at_random_moments(tmp_path, kills=30, files=300, seed=2)
