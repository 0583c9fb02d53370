"""20,000 files, and a text of 500 MB: they become searchable in memory that stays flat.

Flat by the processes' own account: every half second what the daemon and its workers hold is noted. The
engine, whose model has its size, is left out.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.daemon.harness import Daemon

MB = 1 << 20
WORDS = [
    a + b + c
    for a in ("ba", "do", "mi", "re", "ta", "lu")
    for b in ("n", "rk", "st")
    for c in ("el", "or", "a")
]


class Memory:
    """The most that each kind of process, and the write-ahead log, held so far, in bytes."""

    def __init__(self, daemon: Daemon) -> None:
        assert daemon.process
        self._daemon = psutil.Process(daemon.process.pid)
        self._log = daemon.paths.database.with_name("library.db-wal")
        self._stopping = threading.Event()
        self.peak = {"daemon": 0, "worker": 0, "log": 0}

    def sample(self) -> None:
        """Note what is held now."""
        held = {"daemon": [self._daemon.memory_info().rss], "worker": [0], "log": [0]}
        for child in self._daemon.children():
            try:
                if "mindscape.worker" in child.cmdline():
                    held["worker"].append(child.memory_info().rss)
            except psutil.NoSuchProcess:
                continue
        if self._log.exists():
            held["log"].append(self._log.stat().st_size)
        for name, sizes in held.items():
            self.peak[name] = max(self.peak[name], *sizes)

    @contextmanager
    def watched(self) -> Generator[None]:
        """Sample until the block ends."""

        def work() -> None:
            while not self._stopping.wait(0.5):
                self.sample()

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            thread.join()
            self.sample()


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[Daemon]:
    it = Daemon(tmp_path / "home", workers="2")
    assert it.start() == "ready"
    yield it
    it.stop()


def sentences(rng: random.Random, count: int) -> list[str]:
    return [" ".join(rng.choices(WORDS, k=rng.randint(6, 18))).capitalize() + "." for _ in range(count)]


def found(daemon: Daemon, word: str) -> list[tuple[str, int]]:
    results = daemon.call("search", query=word)["results"]
    return [(Path(result["document"]["path"]).name, result["line"]) for result in results]


@pytest.mark.slow
def test_twenty_thousand_files_are_indexed_in_flat_memory(daemon: Daemon, tmp_path: Path) -> None:
    rng = random.Random(1)
    pool = sentences(rng, 5_000)
    for number in range(20_000):
        folder = tmp_path / "notes" / f"part {number // 500}"
        folder.mkdir(parents=True, exist_ok=True)
        text = f"# Note {number}\n\n{' '.join(rng.choices(pool, k=20))}\n\nSigned{number}word.\n"
        (folder / f"note {number}.md").write_text(text)
    memory = Memory(daemon)
    with memory.watched():
        daemon.call("add", paths=[str(tmp_path / "notes")])
        status = daemon.call("wait", tier="searchable", timeout=900)
        daemon.call("wait", tier="searchable", timeout=900)  # scans everything again
    assert status["documents"]["by_status"] == {"ok": 20_000}
    for number in (0, 9_999, 19_999):
        assert found(daemon, f"signed{number}word")[0] == (f"note {number}.md", 5)
    assert memory.peak["worker"] < 80 * MB, memory.peak
    assert memory.peak["daemon"] < 160 * MB, memory.peak
    assert memory.peak["log"] < 64 * MB, memory.peak


@pytest.mark.slow
def test_a_text_of_500_megabytes_is_indexed_in_flat_memory(daemon: Daemon, tmp_path: Path) -> None:
    rng = random.Random(2)
    pool = sentences(rng, 5_000)
    path = tmp_path / "long.txt"
    line = 1
    marked = {0: "beginningword", 250: "middleword", 499: "endword"}
    lines: dict[str, int] = {}
    with path.open("w") as file:
        for part in range(500):
            if part in marked:
                lines[marked[part]] = line
                file.write(f"The {marked[part]} stands here.\n\n")
                line += 2
            paragraphs = [" ".join(rng.choices(pool, k=6)) for _ in range(2_600)]
            file.write("".join(f"{paragraph}\n\n" for paragraph in paragraphs))
            line += 2 * len(paragraphs)
    assert path.stat().st_size > 500 * 1_000_000
    memory = Memory(daemon)
    with memory.watched():
        daemon.call("add", paths=[str(path)])
        daemon.call("wait", tier="searchable", timeout=900)
    for word, at in lines.items():
        assert found(daemon, word)[:1] == [("long.txt", at)]
    assert memory.peak["worker"] < 80 * MB, memory.peak
    assert memory.peak["daemon"] < 160 * MB, memory.peak
    assert memory.peak["log"] < 64 * MB, memory.peak
