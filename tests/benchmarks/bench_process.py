"""The daemon as a user meets it: a command from the shell, a second start, the cost of being idle."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tests.benchmarks.table import Row, seconds
from tests.daemon.harness import Daemon
from tests.demo.library import write_library

IDLE_SECONDS = 60


def run() -> list[Row]:
    """The rows of this part, measured on the demo's library."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        write_library(notes)
        daemon = Daemon(Path(folder) / "home", idle_minutes="0.02", poll_seconds="1")
        assert daemon.start() == "ready"
        daemon.call("add", paths=[str(notes)])
        daemon.wait("embedded")
        daemon.wait("summarised")
        rows = [_shell(daemon)]
        before = daemon.call("status")["work"]
        daemon.stop()
        quiet = Daemon(Path(folder) / "home", idle_minutes="0.02")
        assert quiet.start() == "ready"
        quiet.wait("embedded")
        work = quiet.wait("summarised")["work"]
        changed = {name: work[name] - before[name] for name in work if work[name] != before[name]}
        rows.append(_nothing_changed(changed))
        rows += _idle(quiet)
        quiet.stop()
        return rows


def _shell(daemon: Daemon) -> Row:
    # A user's modules are compiled once, and not again at each start.
    environment = {k: v for k, v in daemon.environment.items() if k != "PYTHONDONTWRITEBYTECODE"}

    def search() -> None:
        command = [sys.executable, "-m", "mindscape", "search", "tide"]
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)

    def nothing() -> None:
        subprocess.run([sys.executable, "-c", "pass"], env=environment, check=True)

    bare = seconds(nothing, 15)
    ratio = seconds(search, 15) / bare
    what = "`mindscape search` from the shell, daemon running, against `python -c pass`"
    return Row(what, f"{ratio:.1f}x ({ratio * bare * 1000:.0f} ms)", "at most 6x", ratio <= 6)


def _nothing_changed(changed: dict[str, int]) -> Row:
    said = ", ".join(f"{number} {name}" for name, number in changed.items()) or "0 parses, 0 embeddings"
    return Row("second start with nothing changed", said, "0 of each", not changed)


def _idle(daemon: Daemon) -> list[Row]:
    """Memory and context switches once the engine and the workers have gone."""
    assert daemon.process is not None
    process = psutil.Process(daemon.process.pid)
    while process.children():
        time.sleep(1)
    switches = process.num_ctx_switches()
    time.sleep(IDLE_SECONDS)
    after = process.num_ctx_switches()
    woken = after.voluntary + after.involuntary - switches.voluntary - switches.involuntary
    memory = process.memory_info().rss / 2**20
    return [
        Row("idle memory, models unloaded, all processes", f"{memory:.0f} MB", "under 120 MB", memory < 120),
        Row(f"context switches of an idle daemon over {IDLE_SECONDS} s", str(woken), "reported", None),
    ]
