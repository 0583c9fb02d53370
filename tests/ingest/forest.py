"""The mindscape as a function of the files alone: what the one that a library keeps has to be equal to."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mindscape.ingest.summarise import (
    Derived,
    Kind,
    Leaf,
    child_leaves,
    child_text,
    derive,
    in_order,
    kind_of,
    passage_leaves,
    summary,
)
from mindscape_storage.records import Child
from mindscape_storage.summaries import digest_of

ROOT = b"/notes"


def summary_of(children: Sequence[str], kind: Kind) -> str:
    return summary(kind, children)


@dataclass
class Memo:
    """Summaries by key; counts those that were not there."""

    summarise: Callable[[Sequence[str], Kind], str] = summary_of
    texts: dict[bytes, str] = field(default_factory=dict[bytes, str])
    calls: int = 0

    def known(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        return {key: digest_of(self.texts[key]) for key in keys if key in self.texts}


def grow(memo: Memo, leaves: Sequence[Leaf], lowest: Kind, texts: Sequence[str]) -> Derived:
    """The whole tree over these leaves, whose texts are `texts`."""
    while (derived := derive(leaves, lowest, memo.known)).missing:
        for one in derived.missing:
            group = derived.levels[one.level - 1][one.ordinal]
            if one.level == 1:
                children = list(texts[group.first : group.end])
            else:
                below = derived.keys[one.level - 2][group.first : group.end]
                children = [memo.texts[key] for key in below if key is not None]
            memo.texts[one.key] = memo.summarise(children, kind_of(one.level, lowest))
            memo.calls += 1
    return derived


def keys_of(derived: Derived) -> set[bytes]:
    return {key for level in derived.keys for key in level if key is not None}


def root_of(derived: Derived) -> bytes:
    (key,) = derived.keys[-1]
    assert key is not None
    return key


def grow_document(memo: Memo, paragraphs: Sequence[tuple[str, tuple[str, ...]]]) -> Derived:
    leaves = passage_leaves((text, heading, 0, 0) for text, heading in paragraphs)
    return grow(memo, leaves, Kind.PASSAGES, [text for text, _ in paragraphs])


def grow_folder(memo: Memo, children: Iterable[Child]) -> Derived:
    ordered = in_order(children)
    texts = [child_text(child, memo.texts[child.key]) for child in ordered]
    return grow(memo, child_leaves(ordered), Kind.CHILDREN, texts)


def build(disk: Mapping[bytes, Sequence[tuple[str, tuple[str, ...]]]], memo: Memo) -> set[bytes]:
    """The keys of all nodes over these files, each a list of paragraphs under headings, below one root."""
    keys: set[bytes] = set()
    inside: dict[bytes, list[Child]] = {}

    def add(path: bytes, derived: Derived, *, is_folder: bool) -> None:
        keys.update(keys_of(derived))
        key = root_of(derived)
        name = path if path == ROOT else os.path.basename(path)  # noqa: PTH119 - paths are bytes
        child = Child(name, None, key, digest_of(memo.texts[key]), is_folder)
        above = b"" if path == ROOT else os.path.dirname(path)  # noqa: PTH120
        inside.setdefault(above, []).append(child)

    for path, paragraphs in disk.items():
        if paragraphs:
            add(path, grow_document(memo, paragraphs), is_folder=False)
    while waiting := [path for path in inside if path]:
        deepest = max(waiting, key=lambda path: path.count(b"/"))
        add(deepest, grow_folder(memo, inside.pop(deepest)), is_folder=True)
    if inside:
        keys.update(keys_of(grow_folder(memo, inside[b""])))
    return keys
