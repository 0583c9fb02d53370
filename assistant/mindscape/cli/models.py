"""`mindscape models`: what can embed and answer here, and which of them does."""

from __future__ import annotations

import argparse
import os
from typing import Any

from mindscape import client
from mindscape.cli.output import Printer, bold, coloured, dim, emit, err, out
from mindscape.errors import UsageError
from mindscape.paths import Paths

Json = dict[str, Any]


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("action", choices=("list", "use"), nargs="?", default="list", help="list (default)")
    parser.add_argument("name", nargs="?", metavar="NAME", help="for use: a model's name, or a GGUF file")


def run(args: argparse.Namespace, paths: Paths) -> int:
    """List, or switch to another model."""
    if args.action == "use":
        return _use(args, paths)
    if args.name:
        raise UsageError("'models list' takes no name.")
    result = client.request(paths, "models.list", {})
    if args.json:
        emit(result)
    elif not result["models"]:
        err().line("No model is installed.")
    else:
        printer = out()
        for model in result["models"]:
            _print_model(printer, model)
        printer.line(dim("A GGUF model of your own: mindscape models use PATH.gguf"))
    return 0 if result["models"] else 1


def _use(args: argparse.Namespace, paths: Paths) -> int:
    if not args.name:
        raise UsageError("'models use' needs a model's name or a GGUF file; 'mindscape models' lists them.")
    is_file = os.sep in args.name or args.name.lower().endswith(".gguf")
    params = {"path": os.path.abspath(args.name)} if is_file else {"name": args.name}  # noqa: PTH100
    if is_file:
        err().line("A model that is not known yet sits an exam first, which takes a minute or two.")
    result = client.request(paths, "models.use", params)
    if args.json:
        emit(result)
    else:
        out().line("using ", bold(str(result.get("name", args.name))))
    if result.get("kind") == "generator" and "answer" not in result.get("capabilities", ()):
        err().line("It was measured not to be good enough to answer, so answers stay quotes.")
        for found in _exams(result):
            err().line(found)
    return 0


def _exams(model: Json) -> list[str]:
    """What the exams found, a sentence each; nothing for a model that sat none."""
    quality: Json = model.get("quality") or {}
    needed: Json = model.get("needed") or {}
    exams = (
        (
            "It answered {} of the answerable questions and refused {} of the others",
            "exam",
            ("right", "refused"),
        ),
        (
            "Of its summaries {} passed the checks, with {} of the names and {} of the sentences supported",
            "summary",
            ("accepted", "names", "supported"),
        ),
    )
    said: list[str] = []
    for sentence, exam, shares in exams:
        found = [quality.get(f"{exam}_{share}") for share in shares]
        if None not in found:
            asked = ", ".join(f"{needed[share]:.0%}" for share in shares if share in needed)
            so = sentence.format(*(f"{share:.0%}" for share in found))
            said.append(f"{so}; needed: {asked}." if asked else f"{so}.")
    return said


def _print_model(printer: Printer, model: Json) -> None:
    """The active one marked; size, device, licence and what it was measured to do."""
    mark = coloured("* ", "green") if model.get("active") else "  "
    facts = [str(model[key]) for key in ("kind", "device", "licence") if model.get(key)]
    if size := model.get("bytes"):
        facts.insert(1, f"{size / 1e6:,.0f} MB")
    printer.line(mark, bold(str(model["name"])), dim("  " + " · ".join(facts)))
    capabilities = [str(capability) for capability in model.get("capabilities") or ()]
    if capabilities:
        printer.line("    can: ", ", ".join(capabilities))
    elif model.get("kind") == "generator":
        printer.line("    can: neither answer nor summarise; answers stay quotes")
    for found in _exams(model):
        printer.line("    ", found)
    quality: Json = model.get("quality") or {}
    others = {key: value for key, value in quality.items() if not key.startswith(("exam_", "summary_"))}
    if others:
        printer.line("    measured: ", ", ".join(f"{key} {value}" for key, value in others.items()))
