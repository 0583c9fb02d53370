"""Lets generators answer the demo's questions, whether or not they were measured good enough to.

    python tests/quality/measure_demo.py MODEL.gguf...

For each model: how many of the six questions are right by the quotes it cites, and by the words it writes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.daemon.harness import Daemon
from tests.demo.judge import judge, judge_text
from tests.demo.library import write_library
from tests.demo.questions import QUESTIONS

from mindscape_models.catalogue import adopt, grade
from mindscape_models.exam import ENOUGH_REFUSED, ENOUGH_RIGHT, ExamResult
from mindscape_models.summary_exam import SummaryResult


def main() -> None:
    """Print one line a model and one for each of its answers."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("models", nargs="+", type=Path, metavar="MODEL.gguf")
    for model in options.parse_args().models:
        with tempfile.TemporaryDirectory() as folder:
            measure(model.resolve(), Path(folder))


def measure(model: Path, folder: Path) -> None:
    """Ask the six questions of a library of their own."""
    write_library(folder / "library")
    daemon = Daemon(folder / "home")
    bundle = adopt(model, daemon.paths.models)
    # Marked as if it had passed, under a name of its own: this is to see what it would do.
    allowed = grade(bundle, ExamResult(ENOUGH_RIGHT, ENOUGH_REFUSED, ()), SummaryResult(0.0, 0.0, 0.0, ()))
    assert daemon.start() == "ready"
    try:
        daemon.call("models.use", name=allowed.name)
        daemon.call("add", paths=[str(folder / "library")])
        daemon.wait("embedded")
        quoted = worded = 0
        for question in QUESTIONS:
            reply = daemon.call("ask", question=question.text)
            words = judge_text(question, reply)
            quoted += judge(question, reply).right
            worded += words.right if words is not None else not question.facts and not reply["answered"]
            seconds = sum(entry["ms"] for entry in reply["ledger"]) / 1000
            print(f"  {question.id:<10} {seconds:5.1f} s  {' '.join(reply['answer'].split())[:150]}")
        print(f"{model.name}: {quoted} of 6 right by its citations, {worded} by its words", flush=True)
    finally:
        daemon.stop()


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))
    main()
