"""A folder of documents that changes at random, as people change theirs: the same way for the same seed."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

from tests.daemon.prose import novel, paragraph, write

SHELVES = ("", "letters", "letters/old", "books", "books/sea", "öl")
MOST_DOCUMENTS = 60
MOST_PARAGRAPHS = 200
"""Of a document: a fresh build embeds them all at every comparison."""
REMEMBERED = 200


class Disk:
    """Documents below a folder, and what they said before."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.rng = random.Random(seed)
        self._past: list[tuple[Path, list[str]]] = []
        self._made = 0
        # The folder is never empty: one that is may be a disk that is not mounted.
        write(folder / "always here.md", novel(self.rng, 3))
        self._put(folder / "books" / "novel.md", novel(self.rng, MOST_PARAGRAPHS // 2))
        for _ in range(20):
            self._add()

    def change(self) -> str:
        """Change something; returns what was done."""
        documents = self._documents()
        if len(documents) < 8:
            return self._add()
        if len(documents) > MOST_DOCUMENTS:
            return self._delete(self.rng.choice(documents))
        way: Callable[[Path], str] = self.rng.choice(
            (
                *(self._edit, self._edit, self._append, self._insert, self._start, self._split, self._cut),
                *(self._divide, self._delete, self._rename, self._move, self._duplicate, self._revert),
                *(self._rename_folder, self._copy_folder, self._add_beside),
            )
        )
        return way(self.rng.choice(documents))

    def _documents(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*.md") if path.name != "always here.md")

    def _read(self, path: Path) -> list[str]:
        return path.read_text().removesuffix("\n").split("\n\n")

    def _put(self, path: Path, paragraphs: list[str]) -> None:
        """Write in place, or beside it and rename, as editors do."""
        kept = paragraphs[:MOST_PARAGRAPHS]
        self._past = [*self._past[-REMEMBERED:], (path, kept)]
        if self.rng.random() < 0.5:
            write(path, kept)
        else:
            beside = path.with_name(f".{path.name}.tmp")
            write(beside, kept)
            beside.replace(path)

    def _new(self, shelf: Path) -> Path:
        self._made += 1
        return shelf / f"note {self._made}.md"

    def _shelf(self) -> Path:
        return self.folder / self.rng.choice(SHELVES)

    def _add(self) -> str:
        path = self._new(self._shelf())
        size = self.rng.choice((0, 1, 1, 2, 3, 8, 40))
        headings = [f"# Part {self.rng.randrange(100)}"] if self.rng.random() < 0.3 else []
        self._put(path, headings + novel(self.rng, size))
        return f"add {path.name} of {size} paragraphs"

    def _add_beside(self, _: Path) -> str:
        return self._add()

    def _edit(self, path: Path) -> str:
        now = self._read(path)
        now[self.rng.randrange(len(now))] = paragraph(self.rng)
        self._put(path, now)
        return f"edit {path.name}"

    def _append(self, path: Path) -> str:
        self._put(path, [*self._read(path), paragraph(self.rng)])
        return f"append to {path.name}"

    def _insert(self, path: Path) -> str:
        now = self._read(path)
        now.insert(self.rng.randrange(len(now)), paragraph(self.rng))
        self._put(path, now)
        return f"insert in {path.name}"

    def _start(self, path: Path) -> str:
        self._put(path, [paragraph(self.rng), *self._read(path)])
        return f"insert at the start of {path.name}"

    def _split(self, path: Path) -> str:
        now = self._read(path)
        place = self.rng.randrange(len(now))
        head, dot, tail = now[place].partition(". ")
        now[place : place + 1] = [head + dot.strip(), tail] if tail else [head]
        self._put(path, now)
        return f"split a paragraph of {path.name}"

    def _cut(self, path: Path) -> str:
        now = self._read(path)
        del now[self.rng.randrange(len(now))]
        self._put(path, now)
        return f"cut a paragraph from {path.name}"

    def _divide(self, path: Path) -> str:
        now, other = self._read(path), self._new(path.parent)
        self._put(other, now[len(now) // 2 :])
        self._put(path, now[: len(now) // 2])
        return f"divide {path.name} into itself and {other.name}"

    def _delete(self, path: Path) -> str:
        path.unlink()
        self._remove_empty(path.parent)
        return f"delete {path.name}"

    def _rename(self, path: Path) -> str:
        new = self._new(path.parent)
        path.rename(new)
        return f"rename {path.name} to {new.name}"

    def _move(self, path: Path) -> str:
        shelf = self._shelf()
        shelf.mkdir(parents=True, exist_ok=True)
        path.replace(shelf / path.name)
        self._remove_empty(path.parent)
        return f"move {path.name} to {shelf.name}"

    def _duplicate(self, path: Path) -> str:
        new = self._new(self._shelf())
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, new)
        return f"duplicate {path.name} as {new.name}"

    def _revert(self, _: Path) -> str:
        path, paragraphs = self.rng.choice(self._past)
        self._put(path, paragraphs)
        return f"revert {path.name}"

    def _rename_folder(self, path: Path) -> str:
        if path.parent == self.folder:
            return self._rename(path)
        self._made += 1
        new = path.parent.with_name(f"shelf {self._made}")
        path.parent.rename(new)
        return f"rename the folder {path.parent.name} to {new.name}"

    def _copy_folder(self, path: Path) -> str:
        if path.parent == self.folder:
            return self._duplicate(path)
        self._made += 1
        new = path.parent.with_name(f"shelf {self._made}")
        shutil.copytree(path.parent, new)
        return f"copy the folder {path.parent.name} to {new.name}"

    def _remove_empty(self, shelf: Path) -> None:
        """Not the empty ones that a delete leaves: sometimes they stay."""
        if shelf != self.folder and not os.listdir(shelf) and self.rng.random() < 0.5:  # noqa: PTH208
            shelf.rmdir()
