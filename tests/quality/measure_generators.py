"""Measures generators on 60 questions over given passages, and the best sentence by words beside them.

    python tests/quality/measure_generators.py DATA MODEL.gguf...

DATA holds the folders `fairytaleqa` and `chunking_eval`. A question is asked with its gold passage and three
others of the same document; for a quarter of the questions the gold passage is left out. Also sits the exam.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mindscape import prompts
from mindscape.ask.answer import ANSWER_TOKENS, Draft, is_refusal
from mindscape.ask.check import best_sentence, is_supported, share
from mindscape.ask.language import terms
from mindscape_models.exam import examine, holds
from mindscape_models.generation import Generator, open_generator

SETS = (("fairytaleqa", 40), ("chunking_eval", 20))
WIDTH = 700
"""Characters of a passage."""
SEED = 20260101


@dataclass(frozen=True)
class Case:
    """One question as it is asked."""

    question: str
    answers: tuple[str, ...]
    passages: tuple[str, ...]
    gold: int | None
    """Index of the passage that holds the answer; None when it was left out."""


@dataclass(frozen=True)
class Reply:
    """What was answered."""

    text: str
    seconds: float


def cases(data: Path) -> list[Case]:
    """The same 60 cases for every model: a quarter of each set without its evidence."""
    rng = random.Random(SEED)
    found: list[Case] = []
    for name, count in SETS:
        rows = [json.loads(line) for line in (data / name / "questions.jsonl").open(encoding="utf-8")]
        texts = {doc["doc_id"]: _read(data / name, doc["file"]) for doc in _lines(data / name / "docs.jsonl")}
        usable = [row for row in rows if _is_usable(row)]
        for index, row in enumerate(rng.sample(usable, count)):
            found.append(_case(row, texts[row["doc_ids"][0]], rng, keep=index % 4 != 3))
    return found


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.open(encoding="utf-8")]


def _read(folder: Path, file: str) -> str:
    return (folder / file).read_bytes().decode("utf-8")


def _is_usable(row: dict[str, Any]) -> bool:
    """One span short enough to be shown whole; where answers are given, one that is stated."""
    spans = row["evidence"]
    return len(spans) == 1 and spans[0]["end"] - spans[0]["start"] <= 2 * WIDTH and _is_stated(row)


def _is_stated(row: dict[str, Any]) -> bool:
    return not row["answers"] or row.get("explicit") == "explicit"


def _case(row: dict[str, Any], text: str, rng: random.Random, keep: bool) -> Case:
    start, end = row["evidence"][0]["start"], row["evidence"][0]["end"]
    spare = max(WIDTH - (end - start), 0)
    gold = text[max(start - spare // 2, 0) : end + spare // 2].strip()
    far = [at for at in range(0, max(len(text) - WIDTH, 1), WIDTH // 2) if at + WIDTH < start or at > end]
    others = [text[at : at + WIDTH].strip() for at in far]
    others = [other for other in others if not (row["answers"] and holds(other, row["answers"]))]
    passages = rng.sample(others, min(3 if keep else 4, len(others)))
    place = rng.randrange(len(passages) + 1) if keep else None
    if place is not None:
        passages.insert(place, gold)
    return Case(row["question"], tuple(row["answers"]), tuple(passages), place)


def ask(generator: Generator, case: Case) -> Reply:
    """Answer a case with the product's prompt."""
    shown = "\n\n".join(f"[{n}] {text}" for n, text in enumerate(case.passages, 1))
    began = time.perf_counter()
    messages = prompts.render("answer", passages=shown, question=case.question)
    return Reply("".join(generator.generate(messages, ANSWER_TOKENS // 4)), time.perf_counter() - began)


def quote(case: Case) -> Reply:
    """The one sentence that shares most words with the question, cited: what a generator has to beat."""
    spans = [(n, text[slice(*best_sentence(case.question, text))]) for n, text in enumerate(case.passages, 1)]
    wanted = set(terms(case.question))
    n, text = max(spans, key=lambda span: share(wanted, set(terms(span[1]))))
    return Reply(f"{text} [{n}]", 0.0)


def summarise(replies: Sequence[Reply], asked: Sequence[Case]) -> dict[str, float]:
    """Means over the cases each metric is about."""
    pairs = list(zip(asked, replies, strict=True))
    held = [(case, reply.text) for case, reply in pairs if case.gold is not None]
    known = [(case, text) for case, text in held if case.answers]
    without = [(case, reply.text) for case, reply in pairs if case.gold is None]
    return {
        "F1": _mean(max(_f1(text, answer) for answer in case.answers) for case, text in known),
        "holds gold": _mean(holds(text, case.answers) and not _refuses(text) for case, text in known),
        "cites gold": _mean(_cited(text)[:1] == [(case.gold or 0) + 1] for case, text in held),
        "supported": _mean(_is_backed(case, text) for case, text in held),
        "wrongly refused": _mean(_refuses(text) for _, text in held),
        "refused": _mean(_refuses(text) for _, text in without),
        "refused or caught": _mean(_refuses(text) or not _is_backed(case, text) for case, text in without),
        "seconds": _mean(reply.seconds for reply in replies),
    }


def _mean(values: Any) -> float:
    known = [float(value) for value in values]
    return sum(known) / len(known) if known else 0.0


def _refuses(text: str) -> bool:
    return is_refusal(Draft(_plain(text), (), 0))


def _is_backed(case: Case, text: str) -> bool:
    """Whether a passage that the answer cites (any, when it cites none) says what the answer says."""
    cited = [n for n in _cited(text) if n <= len(case.passages)] or range(1, len(case.passages) + 1)
    return any(is_supported(_plain(text), case.passages[n - 1], case.question) for n in cited)


def _cited(text: str) -> list[int]:
    return [int(n) for n in re.findall(r"\[(\d+)\]", text) if int(n) > 0]


def _plain(text: str) -> str:
    return re.sub(r"\s*\[\d+\]", "", text).strip()


def _f1(text: str, answer: str) -> float:
    said, wanted = _words(_plain(text)), _words(answer)
    same = sum((Counter(said) & Counter(wanted)).values())
    return 2 * same / (len(said) + len(wanted)) if same else 0.0


def _words(text: str) -> list[str]:
    return [word for word in re.findall(r"\w+", text.lower()) if word not in ("a", "an", "the")]


def _render(passages: str, question: str) -> list[dict[str, str]]:
    return prompts.render("answer", passages=passages, question=question)


def measure(name: str, answer: Callable[[Case], Reply], asked: Sequence[Case], replies: Path | None) -> None:
    """Print one line of the table; with `replies`, write what was said."""
    said = [answer(case) for case in asked]
    print(f"{name:40}", *(f"{value:8.2f}" for value in summarise(said, asked).values()), flush=True)
    if replies is not None:
        rows = [{"case": vars(case), "reply": reply.text} for case, reply in zip(asked, said, strict=True)]
        (replies / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False, indent=1))


def main() -> None:
    """Measure every model given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", type=Path, nargs="*")
    parser.add_argument("--replies", type=Path, help="a folder for what was answered")
    options = parser.parse_args()
    asked = cases(options.data)
    print(" " * 40, *summarise([quote(case) for case in asked], asked))
    measure("best sentence by words", quote, asked, options.replies)
    for path in options.models:
        with open_generator(path) as generator:
            speed = generator.speed()
            measure(generator.name, lambda case, g=generator: ask(g, case), asked, options.replies)
            result = examine(generator, _render, _refuses)
            print(f"  exam: right {result.right:.2f}, refused {result.refused:.2f};", end=" ")
            print(f"{speed.prompt:.0f} prompt and {speed.generation:.0f} generated tokens/s")


if __name__ == "__main__":
    main()
