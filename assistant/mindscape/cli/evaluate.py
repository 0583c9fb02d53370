"""`mindscape eval SET`: how much of a set with known answers is found, and how well it is answered.

It needs no daemon and touches no library of yours: everything runs here, against a temporary one.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

from mindscape.cli.commands import positive
from mindscape.cli.output import Printer, bold, dim, emit, err, out
from mindscape.cli.progress import shown_progress
from mindscape.errors import UsageError
from mindscape.paths import Paths

Json = dict[str, Any]
_TENTHS = 10
_NAME, _CELL = 15, 24


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("set", type=Path, metavar="SET", help="a folder with docs.jsonl and questions.jsonl")
    parser.add_argument(
        "--legs",
        type=_names,
        metavar="A,B",
        help="only these ways of finding: words, vector, windows, summary, rrf, sum, default, conditioned",
    )
    parser.add_argument(
        "--modes", type=_names, metavar="A,B", help="only answers, in these modes: passages, auto"
    )
    parser.add_argument(
        "--alpha", type=_shares, metavar="A,B", help="weights of the mindscape in the leg conditioned (0.5)"
    )
    parser.add_argument(
        "--condition",
        type=_names,
        metavar="A,B",
        help="what that leg is conditioned on: document, coverage (the signature), first (First-K)",
    )
    parser.add_argument("--k", type=_numbers, default=[3, 5, 10], metavar="A,B", help="depths (3,5,10)")
    parser.add_argument("--limit", type=positive, metavar="N", help="N of the questions, drawn with the seed")
    parser.add_argument("--seed", type=positive, default=1, metavar="N", help="of what is drawn (1)")
    parser.add_argument("--library", action="store_true", help="one index for the set, not one a document")
    parser.add_argument(
        "--by", metavar="FIELD", help="one index for documents with the same FIELD in docs.jsonl"
    )
    parser.add_argument("--details", type=Path, metavar="FILE", help="what each question gave, as JSON lines")
    parser.add_argument("--resume", action="store_true", help="go on with FILE, which a run began")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Measure and print. What was measured before an interruption is in the file of details."""
    if args.resume and args.details is None:
        raise UsageError("--resume goes on with a file of details: name it with --details FILE.")
    if args.library and args.by:
        raise UsageError("--library and --by say two things about what one index holds: leave one out.")
    # Models and storage take a second to load, which no other command should wait for.
    from mindscape.evaluate.command import evaluate, planned

    plan = planned(
        args.set,
        args.legs,
        args.modes,
        args.k,
        args.limit,
        args.seed,
        args.library,
        args.by,
        args.alpha,
        args.condition,
    )
    try:
        with _progress() as progress:
            result = evaluate(plan, paths, args.details, args.resume, progress)
    except KeyboardInterrupt:
        if args.details is not None:
            err().line(f"What was measured is in {args.details}: the same command with --resume goes on.")
        raise
    if args.json:
        emit(result)
    else:
        _print(out(), result)
    return 0


def _print(printer: Printer, result: Json) -> None:
    about: dict[str, str] = {"document": "one index a document", "library": "one index for the set"}
    index = about.get(result["index"], f"one index for each {result['index']}")
    asked, documents = f"{result['questions']:,} questions", f"{result['documents']:,} documents"
    printer.line(bold(result["set"]), f": {asked} about {documents}, {index}")
    bundle = result["bundle"]
    by = bundle["generator"] or "quoting"
    printer.line(dim(f"{bundle['embedder']}, answers by {by}, {result['commit']}"))
    apart = {_key(one): one for one in result["differences"]}
    for metric, here in groupby(result["runs"], lambda one: None if one["k"] is None else one["metric"]):
        if metric is None:
            _print_answers(printer, list(here))
        else:
            _print_depths(printer, metric, list(here), apart)
    drawn = result["intervals"]["drawn"]
    printer.line()
    printer.line(dim(f"Percent, with 95% intervals from resampling {drawn}; differences are paired."))


def _print_depths(printer: Printer, metric: str, runs: list[Json], apart: dict[Any, Json]) -> None:
    """A line for each leg, a column for each depth; below it how far the leg is from another."""
    depths = sorted({one["k"] for one in runs})
    printer.line()
    heads = "".join(f"{f'@{k}':{_CELL}}" for k in depths)
    printer.line(bold(f"{metric:{_NAME}}"), heads, dim(f"n {runs[0]['n']:,}"))
    for leg, here in groupby(runs, _leg):
        cells = list(here)
        printer.line(_row(f"  {leg}", [_shown(one) for one in cells]))
        if less := [apart[_key(one)] for one in cells if _key(one) in apart]:
            printer.line(dim(_row(f"    to {less[0]['against']}", [_shown(one, "+") for one in less])))


def _leg(one: Json) -> str:
    return one["legs"] if one["alpha"] is None else f"{one['condition']} {one['alpha']:g}"


def _row(name: str, cells: list[str]) -> str:
    return f"{name:{_NAME}}{''.join(f'{cell:{_CELL}}' for cell in cells)}".rstrip()


def _print_answers(printer: Printer, runs: list[Json]) -> None:
    printer.line()
    for one in runs:
        kind = "" if one.get("answerable", True) else ", where there is no answer"
        printer.line(
            bold(f"{one['metric']:{_NAME}}"), f"{_shown(one):{_CELL}}n {one['n']:,}  {one['mode']}{kind}"
        )


def _key(one: Json) -> tuple[Any, ...]:
    return tuple(one.get(name) for name in ("mode", "legs", "alpha", "condition", "k", "metric"))


def _shown(one: Json, sign: str = "") -> str:
    """In percent: 71.6 [69.3, 73.8]."""
    value, low, high = (100 * one[name] for name in ("value", "low", "high"))
    return f"{value:{sign}.1f} [{low:{sign}.1f}, {high:{sign}.1f}]"


@contextmanager
def _progress() -> Generator[Callable[[int, int, str], None]]:
    """A bar on a terminal; elsewhere a line on stderr for every tenth of the questions."""
    printer = err()
    if printer.lively:
        with shown_progress() as show:
            yield lambda done, total, what: show({"progress": {"done": done, "total": total, "what": what}})
        return
    last = -1

    def tell(done: int, total: int, what: str) -> None:
        nonlocal last
        del what
        if (tenth := _TENTHS * done // max(total, 1)) > last:
            last = tenth
            printer.line(f"{done:,} of {total:,} questions")
            sys.stderr.flush()

    yield tell


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of names with commas between them")
    return names


def _shares(text: str) -> list[float]:
    try:
        shares = sorted({float(part) for part in text.split(",")})
    except ValueError:
        shares = [-1.0]
    if not all(0 <= one <= 1 for one in shares):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers from 0 to 1")
    return shares


def _numbers(text: str) -> list[int]:
    return sorted({positive(part.strip()) for part in text.split(",")})
