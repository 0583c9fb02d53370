"""Wrong usage is a sentence on stderr and exit code 2; help is on stdout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from mindscape.cli.commands import COMMANDS
from mindscape.errors import DaemonUnreachable, UsageError

from .conftest import HIT, FakeDaemon, Run


@pytest.mark.parametrize(
    "words",
    [
        ["search"],
        ["search", "x", "-k", "0"],
        ["search", "x", "-k", "many"],
        ["search", "x", "--colour"],
        ["ask"],
        ["ask", "x", "--mode", "agent"],
        ["status", "--wait", "soon"],
        ["status", "--timeout", "3"],
        ["status", "--wait", "embedded", "--timeout", "-1"],
        ["get"],
        ["daemon"],
        ["daemon", "jump"],
        ["models", "use"],
        ["models", "list", "x"],
        ["completion", "csh"],
        ["--json"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_two_and_says_why(mindscape: Run, words: list[str]) -> None:
    ran = mindscape(*words)
    assert (ran.code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("mindscape: ")


@pytest.mark.parametrize(("typed", "meant"), [("serach", "search"), ("statsu", "status"), ("lst", "ls")])
def test_an_unknown_command_suggests_the_nearest(mindscape: Run, typed: str, meant: str) -> None:
    ran = mindscape(typed)
    assert ran.code == 2
    assert f"did you mean '{meant}'? 'mindscape --help' lists them." in ran.stderr


def test_an_unknown_command_like_no_other_is_said_in_a_sentence(mindscape: Run) -> None:
    assert mindscape("zzz").stderr == "mindscape: there is no command 'zzz'. 'mindscape --help' lists them.\n"


def test_only_the_tiers_that_are_built_are_offered(mindscape: Run) -> None:
    for offer in (mindscape("status", "--help").stdout, mindscape("completion", "bash").stdout):
        assert "searchable" in offer
        assert "embedded" in offer
        assert "recorded" not in offer


def test_every_command_is_in_the_help_and_has_its_own(mindscape: Run) -> None:
    ran = mindscape("--help")
    assert ran.code == 0
    for name in COMMANDS:
        assert f"\n  {name} " in ran.stdout
        of_command = mindscape(name, "--help")
        assert of_command.code == 0
        assert f"usage: mindscape {name}" in of_command.stdout


def test_the_version_is_printed(mindscape: Run) -> None:
    assert mindscape("--version").stdout.startswith("mindscape 0.")


def test_off_a_terminal_the_command_alone_prints_its_help(mindscape: Run) -> None:
    ran = mindscape()
    assert (ran.code, ran.stdout) == (0, mindscape("--help").stdout)


@pytest.mark.parametrize("error", [UsageError("The date is not a date."), DaemonUnreachable("It is gone.")])
def test_an_error_of_the_daemon_keeps_its_exit_code(
    daemon: FakeDaemon, mindscape: Run, error: UsageError | DaemonUnreachable
) -> None:
    daemon.refuses("search", error)
    ran = mindscape("search", "x", "--json")
    assert (ran.code, ran.stdout, ran.stderr) == (error.exit_code, "", f"mindscape: {error}\n")


def test_a_search_loads_nothing_that_is_slow_to_load(daemon: FakeDaemon, home: Path) -> None:
    daemon.gives("search", {"query": "ferry", "took_ms": 1, "results": [HIT], "coverage": {}})
    program = (
        "import sys; from mindscape.cli import main; code = main(['search', 'ferry'])\n"
        "slow = {'asyncio', 'textual', 'rich', 'numpy', 'apsw', 'shutil', 'dataclasses'}\n"
        "sys.exit(', '.join(sorted(slow & sys.modules.keys())) or code)"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize("command", [["search", "x"], ["ask", "x"], ["tree"]])
@pytest.mark.parametrize("upto", ["", "  "])
def test_an_empty_bookmark_is_refused_instead_of_showing_everything(
    mindscape: Run, command: list[str], upto: str
) -> None:
    ran = mindscape(*command, "--upto", upto)
    assert (ran.code, ran.stdout) == (2, "")
    assert "--upto is empty" in ran.stderr
