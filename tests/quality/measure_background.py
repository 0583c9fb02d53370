"""Measures what searches and answers cost while a model writes the mindscape of a novel.

    python tests/quality/measure_background.py DATA MODEL.gguf [--novel ID] [--searches N] [--answers N]

DATA is a set such as clipper_dev, of which one novel is indexed: the smallest, or the one named. MODEL may
answer and summarise here, whatever it was measured to be worth. Searches and answers are timed with nothing
else going on and then while the model writes, each --gap seconds after the one before ended; the rest of
the novel is written undisturbed.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.benchmarks.bench_background import Times, begin_to_write, index, measure
from tests.benchmarks.table import machine
from tests.daemon.harness import Daemon
from tests.quality.sets import read_documents, read_questions

from mindscape_models.catalogue import adopt

HOURS = 24


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("--novel")
    parser.add_argument("--searches", type=int, default=50)
    parser.add_argument("--answers", type=int, default=8)
    parser.add_argument("--gap", type=float, default=1.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        daemon = Daemon(Path(folder) / "home")
        notes = Path(folder) / "novel"
        notes.mkdir()
        novel = given.novel or smallest(given.data)
        shutil.copy(given.data / "docs" / f"{novel}.md", notes)
        questions = [question.text for question in read_questions(given.data, [novel])]
        bundle = adopt(given.model, daemon.paths.models)
        if daemon.start() != "ready":
            raise SystemExit("The daemon does not start.")
        try:
            index(daemon, notes, bundle)
            print(machine(), f"{novel}, {bundle.name}, a pause of {given.gap} s", sep="\n", flush=True)
            size = (given.searches, given.answers, given.gap)
            without = measure(daemon, questions, *size)
            show("nothing else going on", without)
            began = time.monotonic()
            begin_to_write(daemon, bundle)
            opened, first = time.monotonic(), summaries_written(daemon)
            with ThreadPoolExecutor(1) as pool:
                done = pool.submit(daemon.call, "wait", tier="refined", timeout=HOURS * 3600)
                during = measure(daemon, questions, *size)
                show("while the model writes", during)
                served, then = time.monotonic(), summaries_written(daemon)
                done.result()
            ended, last = time.monotonic(), summaries_written(daemon)
        finally:
            daemon.stop()
    p95, first_word = during.p95 / without.p95, during.first_word / without.first_word
    print(f"search p95 {p95:.2f}x, first word {first_word:.2f}x")
    print(f"{then - first} summaries written in these {served - opened:.0f} s")
    if last > then:
        each = (ended - served) / (last - then)
        print(f"undisturbed: {last - then} summaries, {each:.1f} s each")
    print(f"{last} summaries written, all done after {ended - began:.0f} s")


def summaries_written(daemon: Daemon) -> int:
    """By the model, since the library was made."""
    return daemon.call("status")["work"]["model_summaries"]


def smallest(data: Path) -> str:
    """The id of the shortest novel."""
    texts = read_documents(data)
    return min(texts, key=lambda novel: len(texts[novel].text))


def show(when: str, times: Times) -> None:
    """Print a line."""
    print(
        f"{when}: search p50 {times.median:.0f} ms, p95 {times.p95:.0f} ms;"
        f" first word of an answer {times.first_word:.0f} ms",
        flush=True,
    )


if __name__ == "__main__":
    main()
