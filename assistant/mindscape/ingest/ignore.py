"""Which files are not documents: built-in patterns, the user's own, `.gitignore` and `.mindscapeignore`."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

FILES = (b".gitignore", b".mindscapeignore")
"""Read in every folder; the second has the last word."""

_BUILT_IN = (
    ".*",  # hidden, and the temporaries of most editors
    "node_modules/",
    "__pycache__/",
    "venv/",
    "build/",
    "dist/",
    "target/",
    "*~",
    "*.tmp",
    "*.part",
    "*.partial",
    "*.crdownload",
    "*.download",
    "*.swp",
    "\\#*#",
    "~$*",
    "4913",  # vim tries whether a folder is writable with this name
    "sed[A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9][A-Za-z0-9]",
    "Thumbs.db",
    "desktop.ini",
)


@dataclass(frozen=True, slots=True)
class Rules:
    """Patterns in force in one folder: the nearest that says anything about a path decides."""

    levels: tuple[tuple[bytes, GitIgnoreSpec], ...]
    """(folder the patterns are relative to, patterns), outermost first."""

    def below(self, folder: bytes, names: Collection[bytes]) -> Rules:
        """The rules inside `folder`, given the names of its entries: its own ignore files added."""
        lines: list[str] = []
        for name in FILES:
            if name in names:
                lines += _read_lines(os.path.join(folder, name))
        if not lines:
            return self
        return Rules((*self.levels, (folder, _spec(lines))))

    def ignores(self, path: bytes, *, is_folder: bool) -> bool:
        """Whether the path, which lies below the folders of all levels, is left out."""
        for base, spec in reversed(self.levels):
            relative = os.fsdecode(path[len(base.rstrip(b"/")) + 1 :]) + ("/" if is_folder else "")
            said = spec.check_file(relative).include
            if said is not None:
                return said
        return False


def rules_for(root: bytes, patterns: Sequence[str]) -> Rules:
    """The rules at a watched root: built-in ones, then the user's settings."""
    return Rules(((root, _spec([*_BUILT_IN, *patterns])),))


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """Patterns; one that is not valid is left out, as git does."""
    good: list[str] = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        good.append(line)
    return GitIgnoreSpec.from_lines(good)


def _read_lines(path: bytes) -> list[str]:
    """Lines of an ignore file; none when it cannot be read, since then it cannot say anything."""
    try:
        with open(path, "rb") as file:
            return file.read(1 << 20).decode("utf-8", "replace").splitlines()
    except OSError:
        return []
