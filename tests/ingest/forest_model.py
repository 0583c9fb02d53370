"""The model's track as a function of the files and of what the model writes: see `forest`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tests.ingest.forest import ROOT, Memo, grow_document, grow_folder, root_of

from mindscape.ingest.passages import count_tokens
from mindscape.ingest.refine import Refined, Said, refine, written
from mindscape.ingest.summarise import (
    Derived,
    Kind,
    child_leaves,
    child_text,
    in_order,
    kind_of,
    label,
    passage_leaves,
)
from mindscape_storage.records import Child, Verdict
from mindscape_storage.summaries import digest_of

Write = Callable[[Sequence[str], Kind], "str | None"]


@dataclass
class Model:
    """What a model wrote, by key; None is what was rejected."""

    write: Write
    how: str
    memo: Memo
    texts: dict[bytes, str | None] = field(default_factory=dict[bytes, "str | None"])

    def stored(self, keys: Iterable[bytes]) -> dict[bytes, Verdict]:
        found: dict[bytes, Verdict] = {}
        for key in keys:
            if key in self.memo.texts:
                found[key] = Verdict(digest_of(self.memo.texts[key]), True)
            elif key in self.texts:
                text = self.texts[key]
                found[key] = Verdict(digest_of(text or ""), text is not None)
        return found

    def text(self, key: bytes) -> str:
        text = self.texts.get(key)
        return self.memo.texts[key] if text is None else text

    def retell(
        self, base: Derived, leaves: Sequence[Said], tokens: Sequence[int], lowest: Kind, texts: Sequence[str]
    ) -> Refined:
        """The whole track over a tree whose leaves are told as `texts`."""
        while (found := refine(base, leaves, tokens, lowest, self.how, self.stored)).served.missing:
            for one in found.served.missing:
                group = base.levels[one.level - 1][one.ordinal]
                if one.level == 1:
                    children = list(texts[group.first : group.end])
                else:
                    below = found.served.keys[one.level - 2][group.first : group.end]
                    children = [self.text(key) for key in below if key]
                self.texts[one.key] = self.write(children, kind_of(one.level, lowest))
        return found

    def document(self, paragraphs: Sequence[tuple[str, tuple[str, ...]]]) -> tuple[Derived, Refined]:
        base = grow_document(self.memo, paragraphs)
        leaves = passage_leaves((text, heading, 0, 0) for text, heading in paragraphs)
        said = [Said(leaf.digest, None, None) for leaf in leaves]
        texts = [text for text, _ in paragraphs]
        return base, self.retell(base, said, [count_tokens(text) for text in texts], Kind.PASSAGES, texts)

    def folder(self, children: Sequence[tuple[Child, Child]]) -> tuple[Derived, Refined]:
        """Of the children with their extractive summaries, and with those that are served."""
        base = grow_folder(self.memo, [extractive for extractive, _ in children])
        served = in_order([one for _, one in children])
        said = [
            Said(leaf.digest, one.key, one.key if one.by_model else None)
            for leaf, one in zip(child_leaves(served), served, strict=True)
        ]
        texts = [child_text(one, self.text(one.key)) for one in served]
        tokens = [count_tokens(self.text(one.key)) + count_tokens(label(one)) for one in served]
        return base, self.retell(base, said, tokens, Kind.CHILDREN, texts)

    def child(self, name: bytes, base: Derived, told: Refined, *, is_folder: bool) -> tuple[Child, Child]:
        key = root_of(base)
        extractive = Child(name, None, key, digest_of(self.memo.texts[key]), is_folder)
        served = root_of(told.served)
        text = self.text(served)
        by_model = self.texts.get(served) is not None
        return extractive, replace(extractive, key=served, digest=digest_of(text), by_model=by_model)


def build(disk: Mapping[bytes, Sequence[tuple[str, tuple[str, ...]]]], model: Model) -> set[bytes]:
    """The keys of all that the model wrote of these files."""
    keys: set[bytes] = set()
    inside: dict[bytes, list[tuple[Child, Child]]] = {}

    def add(path: bytes, base: Derived, told: Refined, *, is_folder: bool) -> None:
        keys.update(key for _, _, key in written(told))
        name = path if path == ROOT else os.path.basename(path)  # noqa: PTH119 - paths are bytes
        above = b"" if path == ROOT else os.path.dirname(path)  # noqa: PTH120
        inside.setdefault(above, []).append(model.child(name, base, told, is_folder=is_folder))

    for path, paragraphs in disk.items():
        if paragraphs:
            add(path, *model.document(paragraphs), is_folder=False)
    while waiting := [path for path in inside if path]:
        deepest = max(waiting, key=lambda path: path.count(b"/"))
        add(deepest, *model.folder(inside.pop(deepest)), is_folder=True)
    if inside:
        keys.update(key for _, _, key in written(model.folder(inside[b""])[1]))
    return keys
