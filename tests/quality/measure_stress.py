"""Every file of a folder through a real daemon: what became of each, what it cost, and what died on the way.

`python -m tests.quality.measure_stress FOLDER [--tier searchable]` prints outcomes by type, each file that is
not `ok` with its reason, doctor's findings, the most memory that the daemon and its workers held, and how
often a worker had to be started again.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import psutil
from tests.daemon.harness import Daemon

SAMPLE_SECONDS = 0.05
WORKERS = 2


class Memory:
    """The most resident memory, in bytes, of a process and of its children, by what each child runs."""

    def __init__(self, process: int) -> None:
        self.most: Counter[str] = Counter()
        self._process = psutil.Process(process)
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Measure no more."""
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_SECONDS):
            together = 0
            for process in (self._process, *self._process.children()):
                try:
                    size, command = process.memory_info().rss, process.cmdline()
                except (psutil.NoSuchProcess, psutil.ZombieProcess):
                    continue
                name = next((part for part in command if part.startswith("mindscape.")), "starting")
                self.most[name] = max(self.most[name], size)
                together += size
            self.most["all"] = max(self.most["all"], together)


def main() -> None:
    """Index the folder and print what became of it."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path)
    options.add_argument("--tier", default="searchable", choices=["searchable", "embedded"])
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        daemon = Daemon(Path(scratch, "home"), workers=str(WORKERS))
        assert daemon.start() == "ready"
        assert daemon.process is not None
        memory = Memory(daemon.process.pid)
        began = time.monotonic()
        try:
            daemon.call("add", paths=[str(given.folder.resolve())])
            daemon.call("wait", tier=given.tier, timeout=3600)
            seconds = time.monotonic() - began
            memory.stop()
            _report(given.folder, daemon, seconds, memory)
        finally:
            daemon.stop()


def _report(folder: Path, daemon: Daemon, seconds: float, memory: Memory) -> None:
    listed: list[dict[str, Any]] = daemon.call("ls")["documents"]
    on_disk = sum(path.is_file() and not path.is_symlink() for path in folder.rglob("*"))
    counts = daemon.call("status")["documents"]
    print(f"{on_disk} files on the disk, {len(listed)} documents, by status {counts['by_status']}")
    print(f"{seconds:.1f} s; most memory: " + ", ".join(f"{k} {v >> 20} MiB" for k, v in memory.most.items()))
    starts = daemon.paths.log.read_text("utf-8").count("worker started as process")
    print(f"workers started {starts} times ({WORKERS} work side by side)")
    print("doctor: " + ", ".join(f"{c['name']} {c['state']}" for c in daemon.call("doctor")["checks"]))
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    for row in listed:
        kinds[Path(row["path"]).suffix.lower()][row["status"]] += 1
    print("\n| type | files | outcome |\n|---|---|---|")
    for kind, found in sorted(kinds.items()):
        outcome = ", ".join(f"{count} {status}" for status, count in found.most_common())
        print(f"| {kind or 'none'} | {found.total()} | {outcome} |")
    print()
    for row in sorted(listed, key=lambda row: (row["status"], row["path"])):
        if row["status"] != "ok":
            print(f"{row['status']}: {Path(row['path']).name}: {row['reason']}")


if __name__ == "__main__":
    main()
