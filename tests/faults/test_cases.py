"""Small inputs made for known failures, each against what its `expected.json` says, with a real daemon.

The cases are not part of the project: they are looked for in `../shared`, or where MINDSCAPE_SHARED says.
Those with links, odd bytes, special or hidden files are made by their generator. What each claim means is
in the package `cases`; one that nobody checks fails its case, and one that belongs to a later issue makes it
an expected failure with the number of that issue, once everything else in it was checked.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.cases import chunking, index, keys, models, parsing, processes, watching
from tests.faults.cases.claims import PLAYS, Claim, Later, checker, claims_of, is_a_test, registered
from tests.faults.cases.scene import CaseDaemon, Scene

SHARED = Path(os.environ.get("MINDSCAPE_SHARED") or Path(__file__).parents[2].parent / "shared")
CASES = SHARED / "data" / "cases"
GENERATOR = SHARED / "tools" / "case_generator" / "make_a.py"
CHECKERS = (chunking, index, keys, models, parsing, processes, watching)
"""Importing them registers what they check."""


ABSENT = pytest.mark.skip(f"there are no cases in {SHARED}")


def names() -> list[str]:
    """All cases: those that lie there and those that the generator makes."""
    lying = [folder.name for folder in CASES.iterdir()] if CASES.is_dir() else []
    made = re.findall(r'case\("([\w-]+)"\)', GENERATOR.read_text("utf-8")) if GENERATOR.exists() else []
    return sorted({*lying, *made})


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The cases that only a program can make."""
    folder = tmp_path_factory.mktemp("made")
    command = [sys.executable, "-B", str(GENERATOR)]
    subprocess.run(command, check=True, env={**os.environ, "CASES_DIR": str(folder)})
    yield folder
    for path in (folder / "A14-unreadable" / "tree").iterdir():
        path.chmod(0o700)


@pytest.fixture(scope="session")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CaseDaemon]:
    """One daemon for all cases that need none of their own."""
    daemon = CaseDaemon(tmp_path_factory.mktemp("cases") / "home", workers="2")
    assert daemon.start() == "ready"
    yield daemon
    daemon.stop()


@pytest.mark.parametrize("case", names() or [pytest.param("", marks=ABSENT)])
def test_a_case_is_as_it_should_be(case: str, made: Path, daemon: CaseDaemon, tmp_path: Path) -> None:
    source = CASES / case if (CASES / case).is_dir() else made / case
    expected = json.loads((source / "expected.json").read_text("utf-8"))
    claims = list(claims_of(expected))
    found = {claim.words: checker(case, claim) for claim in claims}
    assert [words for words, check in found.items() if check is None] == [], "nobody checks this"
    assert stale(case, list(found)) == [], "the case does not say this any more"
    scene = Scene(case, source, expected, daemon, tmp_path / case)
    try:
        wrong = list(what_is_wrong(scene, claims))
    finally:
        scene.leave()
    assert wrong == [], "\n".join(wrong)
    waiting = {f"issue {check.issue}: {check.reason}" for check in found.values() if isinstance(check, Later)}
    if waiting:
        pytest.xfail("; ".join(sorted(waiting)))


def what_is_wrong(scene: Scene, claims: list[Claim]) -> Iterator[str]:
    """Play the case and say each claim that does not hold, with why."""
    checks = [checker(scene.name, claim) for claim in claims]
    if scene.name in PLAYS:
        PLAYS[scene.name](scene)
    elif "after_each_phase" in scene.expected:
        keys.play_phases(scene)
    elif any(callable(check) for check in checks):
        scene.index()
    for claim, check in zip(claims, checks, strict=True):
        if callable(check):
            try:
                check(scene, claim)
            except AssertionError as error:
                yield f"{claim.words}\n    {error}"
        elif isinstance(check, tuple):
            yield from (f"{claim.words}\n    there is no {test}" for test in check if not is_a_test(test))


def stale(case: str, words: list[str]) -> list[str]:
    """What is registered for a case and not said by it."""
    said = [one.partition(": ")[2] for one in words]
    return [start for start in registered(case) if not any(one.startswith(start) for one in said)]
