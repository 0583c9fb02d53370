"""`python -m tests.demo`: the main job on real files, from an empty folder to a changed answer."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType
from typing import Any

from tests.demo import show
from tests.demo.judge import Verdict, judge, judge_text
from tests.demo.library import apply_edit, write_library
from tests.demo.product import NOTHING_FOUND, Product, StepFailed
from tests.demo.questions import EDIT, QUESTIONS, Edit, Fact, Question

Json = dict[str, Any]
Scored = tuple[Question, Verdict, Verdict | None]

WHERE_NEXT = """\
Nothing of yours was touched: the library and the index were in a temporary folder, now removed.
With your own documents:

  mindscape add ~/Documents          watch a folder; nothing in it is ever changed
  mindscape status --wait embedded   until everything is indexed
  mindscape search a few words       the passages, best first
  mindscape ask "..."                an answer with its sources; --in FOLDER narrows it
  mindscape                          the same in the terminal interface
  mindscape models                   what answers here, and how to use another model

(mindscape is .venv/bin/mindscape until you put it on your PATH.) The README tells the rest."""


def main() -> int:
    """Exit code 0 when all six questions are answered as they should be and the edit changes the answer."""
    arguments = _arguments()
    signal.signal(signal.SIGTERM, _terminated)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mindscape-demo-") as name:
        root = Path(name).resolve()
        product = Product(root / "home", root)
        try:
            wrong = _demo(product, root / "library", arguments.generator)
        except StepFailed as error:
            wrong = [str(error)]
        except KeyboardInterrupt:
            print("\nInterrupted; stopping the daemon and removing the temporary folder.", file=sys.stderr)
            return 130
        finally:
            with contextlib.suppress(StepFailed):
                product.stop()
    show.heading("Result")
    for sentence in wrong:
        show.say(f"WRONG: {sentence}")
    if not wrong:
        show.say("Five questions answered with the right citation, the sixth refused, the edit seen.")
    print(f"  The demo took {time.perf_counter() - started:.0f} seconds.")
    show.heading("Where to go next")
    print(WHERE_NEXT)
    return 1 if wrong else 0


def _terminated(_number: int, _frame: FrameType | None) -> None:
    sys.exit(143)  # unwinds, so that the daemon is stopped and the folder removed


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.demo", description=__doc__)
    parser.add_argument(
        "--generator", type=Path, metavar="GGUF", help="also ask with this model and score its words"
    )
    return parser.parse_args()


def _demo(product: Product, folder: Path, generator: Path | None) -> list[str]:
    """All steps, in the order a newcomer would take them. Returns what was wrong, a sentence each."""
    _write(folder)
    before = _index(product, folder)
    show.heading("Search")
    _search(product, folder, "copper bolts for the gate")
    show.heading("Six questions")
    scored = [_ask(product, folder, question) for question in QUESTIONS]
    wrong = [f"'{question.text}': {quotes.reason}." for question, quotes, _ in scored if not quotes.right]
    if generator is not None:
        show.heading(f"The same questions, answered by {generator.name}")
        product.run("models", "use", str(generator.resolve()))
        scored = [_ask(product, folder, question) for question in QUESTIONS]
        if not any(words for _, _, words in scored):
            show.say("This model wrote nothing: it was not measured good enough to answer, so quotes stay.")
    show.heading("Scores")
    show.table(scored)
    wrong += _edit(product, folder, EDIT, before)
    show.heading("Is everything well?")
    doctor = product.run("doctor", accept=(0, 1))
    show.say(doctor.output)
    product.run("daemon", "stop")
    return wrong


def _write(folder: Path) -> None:
    show.heading("A library")
    started = time.perf_counter()
    write_library(folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    kinds = sorted({path.suffix for path in files})
    counts = ", ".join(f"{sum(path.suffix == kind for path in files)} {kind[1:]}" for kind in kinds)
    seconds = time.perf_counter() - started
    print(f"  Wrote {len(files)} files ({counts}) to {folder} in {seconds:.2f} s:")
    show.say(
        "a book of 20 chapters, linked notes, a report with tables, a letter, and a note in Chinese, all "
        "about a tide mill on the island of Skarne and a week's journey there.",
    )


def _index(product: Product, folder: Path) -> Json:
    """Watch the folder and wait. Returns the status."""
    show.heading("Watch it and index it")
    show.say(product.run("add", str(folder)).output)
    product.run("status", "--wait", "embedded")
    result = product.run("status", "--wait", "summarised", "--json").json()
    show.status(result)
    if result["documents"]["by_status"].keys() - {"ok"}:
        rows = product.run("ls", "--json").json()["documents"]
        for row in rows:
            if row["status"] != "ok":
                print(f"  {row['path']}: {row['status']}, {row['reason']}")
    return result


def _search(product: Product, folder: Path, query: str) -> None:
    found = product.run("search", query, "-k", "3", "--json", accept=(0, NOTHING_FOUND)).json()
    for result in found["results"]:
        where = show.place(result | {"path": result["document"]["path"]}, folder)
        print(f"  {result['rank']}. {where}")
        show.say(" ".join(result["text"].split())[:200] + " ...", indent="     ")


def _ask(product: Product, folder: Path, question: Question) -> Scored:
    outcome = product.run("ask", question.text, "--no-stream", "--json", accept=(0, NOTHING_FOUND))
    result = outcome.json()
    show.reply(result, folder)
    quotes, words = judge(question, result), judge_text(question, result)
    print(f"  {'right' if quotes.right else 'WRONG'}: {quotes.reason}")
    if words is not None:
        print(f"  {'right' if words.right else 'WRONG'}: {words.reason}")
    return question, quotes, words


def _edit(product: Product, folder: Path, edit: Edit, before: Json) -> list[str]:
    """Change a note, wait, ask again. Returns what was wrong."""
    show.heading("An edit")
    apply_edit(folder, edit)
    print(f"  In {edit.file} '{edit.old}' is now '{edit.new}'.")
    product.run("status", "--wait", "embedded")
    after = product.run("status", "--wait", "summarised", "--json").json()
    cost = {name: count - before["work"].get(name, 0) for name, count in after["work"].items()}
    print(f"  The edit cost: {show.counts(cost)}.")
    changed = Question(
        edit.question.id, edit.question.text, edit.question.kind, (Fact(edit.file, (edit.new,)),)
    )
    outcome = product.run("ask", changed.text, "--no-stream", "--json", accept=(0, NOTHING_FOUND))
    result = outcome.json()
    show.reply(result, folder)
    verdict = judge(changed, result)
    stale = [citation for citation in result["citations"] if edit.old in citation["quote"]]
    print(f"  {'right' if verdict.right and not stale else 'WRONG'}: {verdict.reason}")
    if stale:
        return [f"After the edit, '{edit.old}' is still quoted from {stale[0]['path']}."]
    return [] if verdict.right else [f"After the edit, '{changed.text}': {verdict.reason}."]


if __name__ == "__main__":
    sys.stdout.reconfigure(line_buffering=True, errors="replace")  # pyright: ignore[reportAttributeAccessIssue]
    sys.exit(main())
