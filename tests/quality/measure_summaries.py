"""What models write of stories and a novel, beside the extractive summaries of the same trees.

python tests/quality/measure_summaries.py DATA [--model NAME=GGUF]... [--out FILE] [--items N] [--show]

DATA holds `squality_dev`, the first 8 stories of which are read, and `clipper_dev`, of which the shortest
novel. Trees, prompt and checks are those of the product: where a model's summary is rejected the extractive
one counts, also for the node above. Every node is appended to FILE as it is made; a second run takes what is
there. The tables are of the items that all tracks have to the root.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from tests.quality.measure_extract import Item, commonest_names, read_items, rouge_l
from tests.quality.sets import interval

from mindscape.ask.check import is_supported
from mindscape.ingest.passages import count_tokens
from mindscape.ingest.summarise import BUDGETS, Kind, kind_of, passage_leaves, summary
from mindscape.ingest.tree import levels
from mindscape.ingest.written import how, write_summary
from mindscape.sentences import sentences
from mindscape_models.generation import Generator, open_generator

STORIES = 8
CONTEXT = 4096
EXTRACTIVE = "extractive"
Row = dict[str, Any]


class Place(NamedTuple):
    """A node as it is to be made."""

    level: int
    ordinal: int
    kind: Kind
    children: Sequence[str]
    """As they are served."""
    extracted: str


Make = Callable[[Place], str | None]
"""What counts of a node instead of what is extracted; None leaves that."""


def main() -> None:
    """Measure every model given on every item, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--model", action="append", default=[], metavar="NAME=GGUF")
    parser.add_argument("--out", type=Path, default=Path("summaries.jsonl"), help="nodes, appended as made")
    parser.add_argument("--items", type=int, help="only the first N")
    parser.add_argument("--show", action="store_true", help="print the summaries of the roots")
    given = parser.parse_args()
    items = read(given.data)[: given.items]
    with ExitStack() as open_models:
        writers = {
            name: open_models.enter_context(open_generator(Path(path), context=CONTEXT))
            for name, _, path in (one.partition("=") for one in given.model)
        }
        for item in items:
            for name, generator in writers.items():
                write(item, name, generator, given.out)
    tracks = [EXTRACTIVE, *dict.fromkeys(row["track"] for row in rows(given.out))]
    report(items, tracks, given.out)
    if given.show:
        show(items, tracks, given.out)


def read(data: Path) -> list[Item]:
    """The stories in the order of their set, then the shortest of the novels."""
    novels = [one for one in read_items(data / "clipper_dev", None) if one.kind == "book"]
    return [*read_items(data / "squality_dev", STORIES), min(novels, key=lambda one: len(one.text))]


def grow(item: Item, make: Make) -> Iterator[tuple[Place, str]]:
    """Every node of an item's tree with what counts of it, lowest first, the root last."""
    leaves = passage_leaves((one.text, one.heading, one.start, one.end) for one in item.passages)
    served = extracted = [one.text for one in item.passages]
    for level, groups in enumerate(levels([leaf.rank for leaf in leaves]), start=1):
        kind = kind_of(level, Kind.PASSAGES)
        extracted = [summary(kind, extracted[first:end]) for first, end in groups]
        told: list[str] = []
        for ordinal, (first, end) in enumerate(groups):
            place = Place(level, ordinal, kind, served[first:end], extracted[ordinal])
            told.append(_counts(place, make))
            yield place, told[-1]
        served = told


def _counts(place: Place, make: Make) -> str:
    """As the product has it: a single child passes through, and what is short enough is not shortened."""
    if place.level > 1 and len(place.children) == 1:
        return place.children[0]
    if place.level == 1 and sum(map(count_tokens, place.children)) <= BUDGETS[place.kind]:
        return place.extracted
    return make(place) or place.extracted


def write(item: Item, track: str, generator: Generator, out: Path) -> None:
    """Let a model write what is not in `out` yet of an item's tree."""
    known = {(row["level"], row["ordinal"]): row for row in _made(item, track, out)}

    def make(place: Place) -> str | None:
        row = known.get((place.level, place.ordinal))
        if row is None:
            row = {"item": item.id, "track": track, "how": how(), **_row(place, generator)}
            with out.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
        return row["text"]

    for _ in grow(item, make):
        pass


def _row(place: Place, generator: Generator) -> Row:
    spent = dict.fromkeys(("prompt", "generated", "prompt_seconds", "generation_seconds"), 0.0)

    async def generate(messages: list[dict[str, str]], max_tokens: int) -> str:
        said = "".join(generator.generate(messages, max_tokens))
        used = generator.usage
        spent["prompt"] += used.evaluated
        spent["generated"] += used.generated
        spent["prompt_seconds"] += used.prompt_seconds
        spent["generation_seconds"] += used.generation_seconds
        return said

    began = time.perf_counter()
    written = asyncio.run(write_summary(place.kind, place.children, generate))
    seconds = time.perf_counter() - began
    row: Row = {
        "level": place.level,
        "ordinal": place.ordinal,
        **written._asdict(),
        "seconds": round(seconds, 2),
    }
    return row | {name: round(value, 2) for name, value in spent.items()}


def served(item: Item, track: str, out: Path) -> list[tuple[Place, str]] | None:
    """The nodes of an item on a track; None where the model has not written all of them yet."""
    known: dict[tuple[int, int], str | None] = {
        (row["level"], row["ordinal"]): row["text"] for row in _made(item, track, out)
    }

    def make(place: Place) -> str | None:
        return None if track == EXTRACTIVE else known[place.level, place.ordinal]

    try:
        return list(grow(item, make))
    except KeyError:
        return None


def report(items: Sequence[Item], tracks: Sequence[str], out: Path) -> None:
    """The tables: of the roots and of all nodes, for the stories and for the novel."""
    for kind in dict.fromkeys(item.kind for item in items):
        grown = [
            (item, {track: served(item, track, out) for track in tracks})
            for item in items
            if item.kind == kind
        ]
        whole = [(item, trees) for item, trees in grown if all(trees.values())]
        print(f"\n{kind}: {len(whole)} of {len(grown)} items complete on every track")
        for track in tracks if whole else ():
            _report_track(
                track,
                [(item, {name: tree or [] for name, tree in trees.items()}) for item, trees in whole],
                out,
            )


def _report_track(
    track: str, grown: Sequence[tuple[Item, dict[str, list[tuple[Place, str]]]]], out: Path
) -> None:
    roots = [(item, trees[track][-1][1], _shortest(trees)) for item, trees in grown]
    rouge = [best_rouge(root, item) for item, root, _ in roots]
    equal = [best_rouge(_first_words(root, words), item) for item, root, words in roots]
    names = [held(root, item.text) for item, root, _ in roots]
    nodes = list(chain.from_iterable(trees[track] for _, trees in grown))
    lowest = [held(text, "\n".join(place.children)) for place, text in nodes if place.level == 1]
    wrong = [unsupported(text, "\n".join(place.children)) for place, text in nodes]
    print(f"\n{track}")
    print(
        f"  root: ROUGE-L {_spread(rouge)}, at equal length {_spread(equal)}, names {_spread(names)},", end=""
    )
    print(f" {fmean(count_tokens(root) for _, root, _ in roots):.0f} tokens")
    print(f"  level 1: names {_spread([one for one in lowest if one is not None])}")
    bad, said = sum(one for one, _ in wrong), sum(all_ for _, all_ in wrong)
    print(f"  all nodes: {len(nodes)}, unsupported sentences {bad} of {said} ({bad / max(1, said):.1%})")
    _report_calls([row for item, _ in grown for row in _made(item, track, out)])


def _report_calls(made: Sequence[Row]) -> None:
    if not made:
        return
    total = {
        name: sum(row.get(name, 0) for row in made)
        for name in ("calls", "seconds", "prompt", "prompt_seconds", "generated", "generation_seconds")
    }
    rejected = Counter(row["reason"] for row in made if row["text"] is None)
    print(
        f"  asked for {len(made)}, rejected {rejected.total()} ({rejected.total() / len(made):.0%}):", end=" "
    )
    print(", ".join(f"{reason} {count}" for reason, count in rejected.most_common()) or "none")
    print(f"  {total['calls']} calls, {total['seconds']:.0f} s;", end=" ")
    print(f"{total['prompt'] / total['prompt_seconds']:.0f} prompt", end=" and ")
    print(f"{total['generated'] / total['generation_seconds']:.0f} generated tokens/s")


def show(items: Sequence[Item], tracks: Sequence[str], out: Path) -> None:
    """Print the roots, to be read."""
    for item in items:
        for track in tracks:
            if tree := served(item, track, out):
                print(f"\n== {item.id}, {track}: {tree[-1][1]}")


def best_rouge(text: str, item: Item) -> float:
    """ROUGE-L against the reference that is nearest."""
    return max(rouge_l(text, one) for one in item.references)


def held(text: str, source: str) -> float | None:
    """Share of the commonest names of the source that are in the text; None for a source without any."""
    known = commonest_names(source)
    return fmean(name in text for name in known) if known else None


def unsupported(text: str, source: str) -> tuple[int, int]:
    """Sentences that the source does not say, by their words; and sentences."""
    said = [text[start:end].strip() for start, end in sentences(text)]
    said = [one for one in said if re.search(r"\w", one)]
    return sum(not is_supported(one, source) for one in said), len(said)


def _shortest(trees: dict[str, list[tuple[Place, str]]]) -> int:
    """Words of the shortest root of an item: all are cut to them where lengths are to be equal."""
    return min(len(tree[-1][1].split()) for tree in trees.values())


def _first_words(text: str, words: int) -> str:
    return " ".join(text.split()[:words])


def _spread(values: Sequence[float | None]) -> str:
    known = [one for one in values if one is not None]
    low, high = interval(known)
    return f"{fmean(known):.3f} [{low:.3f}, {high:.3f}]"


def _made(item: Item, track: str, out: Path) -> list[Row]:
    now = how()
    return [row for row in rows(out) if (row["item"], row["track"], row["how"]) == (item.id, track, now)]


def rows(out: Path) -> list[Row]:
    """The lines of a file of results; the last is left out where a kill cut it off."""
    if not out.exists():
        return []
    whole = out.read_text(encoding="utf-8").split("\n")[:-1]
    return [json.loads(line) for line in whole]


if __name__ == "__main__":
    main()
