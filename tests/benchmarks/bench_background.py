"""Searches and answers while a model writes summaries in the background, against the same with none."""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

from mindscape import client
from mindscape.engine import LEAST_PRIORITY
from mindscape.protocol import Json
from mindscape_models.bundle import MANIFEST, Bundle
from mindscape_models.catalogue import ANSWER, SUMMARISE, adopt, installed_folder
from tests.benchmarks.table import Row
from tests.daemon.harness import Daemon
from tests.demo.library import write_library
from tests.demo.questions import QUESTIONS

STARTER = installed_folder() / "smollm2-135m-instruct"
SEARCHES = 50
ANSWERS = 5
GAP_SECONDS = 0.5
"""Between the end of a search and the beginning of the next: something is written meanwhile."""


class Times(NamedTuple):
    """Milliseconds: p50 and p95 of the searches, median of the answers until their first word."""

    median: float
    p95: float
    first_word: float


def run() -> list[Row]:
    """The rows of this part: the demo's library, and the starter, which may write whatever it is worth."""
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        write_library(notes)
        daemon = Daemon(Path(folder) / "home")
        bundle = adopt(next(STARTER.glob("*.gguf")), daemon.paths.models)
        assert daemon.start() == "ready"
        try:
            index(daemon, notes, bundle)
            questions = [question.text for question in QUESTIONS]
            without = measure(daemon, questions, SEARCHES, ANSWERS, GAP_SECONDS)
            begin_to_write(daemon, bundle)
            before = seconds_written(daemon)
            during = measure(daemon, questions, SEARCHES, ANSWERS, GAP_SECONDS)
            written = seconds_written(daemon) - before
        finally:
            daemon.stop()
    return [
        _row(
            "search p95",
            without.p95,
            during.p95,
            f", {written:.0f} s of processor time for the model meanwhile",
        ),
        _row("first word of an answer", without.first_word, during.first_word, ""),
    ]


def _row(what: str, without: float, during: float, note: str) -> Row:
    ratio = during / without
    measured = f"{ratio:.2f}x ({during:.0f} ms{note})"
    return Row(f"{what} while a model writes summaries, against none", measured, "at most 1.5x", ratio <= 1.5)


def allow(bundle: Bundle, *capabilities: str) -> None:
    """Let a model do this, whatever it was measured to be worth."""
    manifest = bundle.folder / MANIFEST
    granted = f"capabilities = {list(capabilities)}".replace("'", '"')
    text = re.sub(r"^capabilities = .*$", granted, manifest.read_text(encoding="utf-8"), flags=re.MULTILINE)
    manifest.write_text(text, encoding="utf-8")


def index(daemon: Daemon, folder: Path, bundle: Bundle) -> None:
    """Add the folder and wait until all but the model has been through it; the model may only answer."""
    allow(bundle, ANSWER)
    daemon.call("models.use", name=bundle.name)
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    daemon.wait("summarised")


def begin_to_write(daemon: Daemon, bundle: Bundle) -> None:
    """Let the model write summaries, and wait until it computes one."""
    allow(bundle, ANSWER, SUMMARISE)
    daemon.call("models.use", name=bundle.name)
    while not seconds_written(daemon):
        time.sleep(0.1)


def seconds_written(daemon: Daemon) -> float:
    """Processor time that the engine has spent in the background, on Linux."""
    assert daemon.process is not None
    children = psutil.Process(daemon.process.pid).children()
    threads = [t for c in children if "mindscape.engine" in c.cmdline() for t in c.threads()]
    background = [t for t in threads if os.getpriority(os.PRIO_PROCESS, t.id) == LEAST_PRIORITY]
    return sum(thread.user_time + thread.system_time for thread in background)


def measure(daemon: Daemon, questions: Sequence[str], searches: int, answers: int, gap: float) -> Times:
    """Search, and ask, as a user does who reads what was found; the first of each is not counted."""
    found = [_search(daemon, questions[number % len(questions)], gap) for number in range(searches + 1)]
    asked = [_first_word(daemon, questions[number % len(questions)], gap) for number in range(answers + 1)]
    p50, p95 = np.percentile(found[1:], [50, 95])
    return Times(float(p50) * 1000, float(p95) * 1000, float(np.median(asked[1:])) * 1000)


def _search(daemon: Daemon, question: str, gap: float) -> float:
    time.sleep(gap)
    began = time.perf_counter()
    daemon.call("search", query=question, k=10)
    return time.perf_counter() - began


def _first_word(daemon: Daemon, question: str, gap: float) -> float:
    """Seconds until the first piece of the answer; an answer without one took as long as it took."""
    time.sleep(gap)
    came: list[float] = []

    def note(piece: Json) -> None:
        if "token" in piece and not came:
            came.append(time.perf_counter())

    began = time.perf_counter()
    client.request(daemon.paths, "ask", {"question": question}, note, start=False)
    return (came or [time.perf_counter()])[0] - began
