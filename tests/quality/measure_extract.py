"""What extractive summaries hold: the root of a tree against references, beside simpler ways to choose.

python tests/quality/measure_extract.py SET... [--documents N] [--out FILE] [--show]

A set is a folder with docs.jsonl, and with mindscape.jsonl (a summary of each book and chapter) or with
questions.jsonl (where those about the plot have summaries for answers). Every way may use as many tokens as
the references have. Results are appended to FILE item by item; a second run leaves out what is there.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from tests.quality.sets import interval, read_documents

from mindscape.evaluate.metrics import common
from mindscape.ingest.extract import extract
from mindscape.ingest.parsed import Parsed
from mindscape.ingest.passages import count_tokens, cut
from mindscape.ingest.summarise import passage_leaves
from mindscape.ingest.tree import levels
from mindscape.sentences import sentences
from mindscape_storage.records import NewPassage

BUDGET = 160
"""Tokens of every node but the root."""
MOST_SENTENCES = 1500
"""That the plain TextRank compares with each other; of a longer text, as many at even distances."""


class Item(NamedTuple):
    """A text, or a part of one, with summaries that people or a model wrote."""

    id: str
    kind: str
    text: str
    passages: Sequence[NewPassage]
    references: Sequence[str]


def main() -> None:
    """Measure every set given, and print a table of each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sets", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, help="only the first N documents of each set")
    parser.add_argument("--out", type=Path, default=Path("extract.jsonl"), help="results, appended per item")
    parser.add_argument("--show", action="store_true", help="print the summaries themselves, to be read")
    given = parser.parse_args()
    for folder in given.sets:
        items = list(read_items(folder, given.documents))
        measure(folder.name, items, given.out)
        report(folder.name, {item.id for item in items}, given.out)
        if given.show:
            for item in items:
                show(item)


def measure(name: str, items: Iterable[Item], out: Path) -> None:
    """Append a line for every item and way that is not in `out` yet."""
    done = {(row["set"], row["item"], row["way"]) for row in _rows(out)}
    for item in items:
        budget = round(fmean(map(count_tokens, item.references)))
        known = commonest_names(item.text)
        for way, choose in WAYS.items():
            if (name, item.id, way) in done:
                continue
            began = time.process_time()
            summary = choose(item, budget)
            seconds = time.process_time() - began
            row = {
                "set": name,
                "item": item.id,
                "kind": item.kind,
                "way": way,
                "rouge_l": max(rouge_l(summary, one) for one in item.references),
                "names": fmean(one in summary for one in known) if known else None,
                "tokens": count_tokens(summary),
                "budget": budget,
                "passages": len(item.passages),
                "seconds": round(seconds, 4),
            }
            with out.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row) + "\n")


def report(name: str, items: set[str], out: Path) -> None:
    """The table of one set: means over its items, with 95% bootstrap intervals."""
    rows = [row for row in _rows(out) if row["set"] == name and row["item"] in items]
    rows.sort(key=lambda row: (row["kind"], list(WAYS).index(row["way"])))
    print(f"{name:16} {'way':10} {'n':>4} {'ROUGE-L':>22} {'names':>22} {'tokens':>7} {'s/item':>7}")
    for (kind, way), group in groupby(rows, key=lambda row: (row["kind"], row["way"])):
        found = list(group)
        rouge = _with_interval([row["rouge_l"] for row in found])
        names = _with_interval([row["names"] for row in found if row["names"] is not None])
        tokens = fmean(row["tokens"] for row in found)
        seconds = fmean(row["seconds"] for row in found)
        print(f"{kind:16} {way:10} {len(found):4} {rouge:>22} {names:>22} {tokens:7.0f} {seconds:7.3f}")


def show(item: Item) -> None:
    """Print the root, and some nodes of every level below it."""
    print(f"\n== {item.id} ({len(item.passages)} passages)")
    for level, summaries in reversed(list(enumerate(tree_of(item.passages, BUDGET), start=1))):
        for at in sorted({0, len(summaries) // 3, 2 * len(summaries) // 3}):
            print(f"{level}.{at}: {summaries[at]}")


def read_items(folder: Path, limit: int | None) -> Iterator[Item]:
    """What a set has summaries of."""
    documents = read_documents(folder, limit)
    passages = {name: list(cut(parsed)) for name, parsed in documents.items()}
    if (folder / "mindscape.jsonl").exists():
        for row in _rows(folder / "mindscape.jsonl"):
            if row["doc_id"] in documents:
                yield _part(row, documents[row["doc_id"]], passages[row["doc_id"]])
        return
    for row in _rows(folder / "questions.jsonl"):
        (name, *others) = row["doc_ids"]
        if name in documents and not others and "plot" in row["question"] and not row["evidence"]:
            yield Item(row["id"], "story", documents[name].text, passages[name], row["answers"])


def _part(row: dict[str, Any], parsed: Parsed, passages: Sequence[NewPassage]) -> Item:
    """A book, or a chapter, whose reference is its synopsis with its events."""
    start, end = row["evidence"][0]["start"], row["evidence"][0]["end"]
    inside = [one for one in passages if start <= one.start < end]
    reference = " ".join([row["text"], *(event["text"] for event in row.get("events", ()))])
    return Item(row["id"], row["level"], parsed.text[start:end], inside, [reference])


def tree_of(passages: Sequence[NewPassage], budget: int, root: int | None = None) -> list[list[str]]:
    """The summaries of every level, lowest first; `root` is the budget of the last where it is another."""
    leaves = passage_leaves((one.text, one.heading, one.start, one.end) for one in passages)
    built: list[list[str]] = []
    below = [one.text for one in passages]
    shape = levels([leaf.rank for leaf in leaves])
    for groups in shape:
        tokens = (root or budget) if groups is shape[-1] else budget
        below = [extract(below[group.first : group.end], tokens) for group in groups]
        built.append(below)
    return built


def _tree(item: Item, budget: int) -> str:
    return tree_of(item.passages, max(BUDGET, budget), budget)[-1][0]


def _lead(item: Item, budget: int) -> str:
    return _within(_sentences(item.text), budget)


def _random(item: Item, budget: int) -> str:
    found = _sentences(item.text)
    return _within(found, budget, random.Random(item.id).sample(range(len(found)), len(found)))


def _textrank(item: Item, budget: int) -> str:
    """Mihalcea and Tarau's: all sentences at once, words in common over the logarithms of their numbers."""
    found = _sentences(item.text)
    found = found[:: -(-len(found) // MOST_SENTENCES)]
    words = [set(re.findall(r"\w+", one.lower())) for one in found]
    columns = {word: at for at, word in enumerate(sorted(set[str]().union(*words)))}
    matrix = np.zeros((len(found), len(columns)), np.float32)
    for row, held in enumerate(words):
        matrix[row, [columns[word] for word in held]] = 1
    sizes = np.log(np.maximum(2, matrix.sum(axis=1)))
    shared = matrix @ matrix.T / (sizes[:, None] + sizes[None, :])
    np.fill_diagonal(shared, 0)
    steps = shared / np.maximum(shared.sum(axis=1), 1e-9)[:, None]
    scores = np.full(len(found), 1.0)
    for _ in range(30):
        scores = 0.15 + 0.85 * scores @ steps
    return _within(found, budget, np.argsort(-scores, kind="stable").tolist())


WAYS: dict[str, Callable[[Item, int], str]] = {
    "tree": _tree,
    "textrank": _textrank,
    "lead": _lead,
    "random": _random,
}


def _sentences(text: str) -> list[str]:
    return [" ".join(text[start:end].split()) for start, end in sentences(text)]


def _within(found: Sequence[str], budget: int, order: Sequence[int] | None = None) -> str:
    """The sentences that fit, taken in this order (as they stand, if none is given), shown as they stand."""
    kept: list[int] = []
    for at in order or range(len(found)):
        budget -= count_tokens(found[at])
        if budget < 0:
            break
        kept.append(at)
    return " ".join(found[at] for at in sorted(kept))


def rouge_l(summary: str, reference: str) -> float:
    """F1 of the longest common subsequence of words."""
    ours, theirs = (re.findall(r"\w+", text.lower()) for text in (summary, reference))
    shared = common(ours, theirs)
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


def commonest_names(text: str) -> list[str]:
    """The ten commonest words that have a capital inside sentences, and none of them mostly without."""
    capital = Counter(re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", text))
    small = Counter(re.findall(r"\b[a-z]+\b", text))
    names = [name for name, count in capital.most_common() if 4 * small[name.lower()] < count]
    return [name for name in names if name not in _TITLES][:10]


_TITLES = ("Mrs", "Miss", "Sir", "God", "English", "Monsieur", "Captain", "Doctor")


def _with_interval(values: Sequence[float]) -> str:
    low, high = interval(values)
    return f"{fmean(values):.3f} [{low:.3f}, {high:.3f}]"


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    main()
