"""What the `expected.json` of a case claims, one claim at a time, and who checks each of them.

A claim is checked by a function here, by a test that is named, or belongs to a later issue that is named.
A claim with none of the three is an error, so that nothing a case says is passed over in silence.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.faults.cases.scene import Scene

Check = Callable[[Scene, "Claim"], None]
REPOSITORY = Path(__file__).parents[3]

DESCRIPTIONS = frozenset(
    (
        *("case", "reports", "note", "font", "use", "kind", "procedure", "run_with", "run_as", "root"),
        *("queries_file", "models", "facts", "names", "demo", "also_known_as"),
    )
)
"""Keys that describe the case and claim nothing."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim: the key it stands under, its own name there (a file, a phase) if it has one, its words."""

    key: str
    name: str | None
    value: Any

    @property
    def words(self) -> str:
        """The claim as it is written, to find its checker and to name it when it fails."""
        return f"{self.key}: {self.value}" if self.name is None else f"{self.key}: {self.name}: {self.value}"


@dataclass(frozen=True, slots=True)
class Later:
    """A claim that a later issue will make true."""

    issue: int
    reason: str


_BY_KEY: dict[str, Check] = {}
_BY_WORDS: dict[tuple[str, str], Check | tuple[str, ...] | Later] = {}
PLAYS: dict[str, Callable[[Scene], None]] = {}
"""Case -> what is done before its claims are looked at, where that is more than indexing its folder."""


def claims_of(expected: Mapping[str, Any]) -> Iterator[Claim]:
    """All claims, in the order they are written."""
    for key, value in expected.items():
        if key in DESCRIPTIONS:
            continue
        if isinstance(value, dict):
            yield from (Claim(key, name, held) for name, held in value.items())
        elif isinstance(value, list):
            yield from (Claim(key, None, held) for held in value)
        else:
            yield Claim(key, None, value)


def key(*names: str) -> Callable[[Check], Check]:
    """The function checks every claim under these keys that has no checker of its own."""

    def register(check: Check) -> Check:
        _BY_KEY.update(dict.fromkeys(names, check))
        return check

    return register


def says(case: str, *words: str) -> Callable[[Check], Check]:
    """The function checks these claims of one case, named by how their words begin."""

    def register(check: Check) -> Check:
        for one in words:
            _put(case, one, check)
        return check

    return register


def elsewhere(case: str, tests: tuple[str, ...], *words: str) -> None:
    """These claims are checked by other tests, as `tests/file.py::test_name`."""
    for one in words:
        _put(case, one, tests)


def later(issue: int, reason: str, case: str, *words: str) -> None:
    """These claims belong to a later issue."""
    for one in words:
        _put(case, one, Later(issue, reason))


def plays(case: str) -> Callable[[Callable[[Scene], None]], Callable[[Scene], None]]:
    """The function is run instead of indexing the case's folder."""

    def register(play: Callable[[Scene], None]) -> Callable[[Scene], None]:
        PLAYS[case] = play
        return play

    return register


def checker(case: str, claim: Claim) -> Check | tuple[str, ...] | Later | None:
    """Who checks a claim; None when nobody does."""
    said = claim.words.partition(": ")[2]
    found = [words for of, words in _BY_WORDS if of == case and said.startswith(words)]
    return _BY_WORDS[case, max(found, key=len)] if found else _BY_KEY.get(claim.key)


def registered(case: str) -> list[str]:
    """The words that something is registered for, to see that the case still says them."""
    return [words for of, words in _BY_WORDS if of == case]


@cache
def _tests_of(file: str) -> frozenset[str]:
    path = REPOSITORY / file
    if not path.exists():
        return frozenset()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return frozenset(
        node.name for node in tree.body if isinstance(node, functions) and node.name.startswith("test_")
    )


def is_a_test(name: str) -> bool:
    """Whether `tests/file.py::test_name` is there."""
    file, _, function = name.partition("::")
    return function in _tests_of(file)


def _put(case: str, words: str, found: Check | tuple[str, ...] | Later) -> None:
    if (case, words) in _BY_WORDS:
        raise ValueError(f"{case}: {words!r} is registered twice")
    _BY_WORDS[case, words] = found
