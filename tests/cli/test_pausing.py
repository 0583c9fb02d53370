"""`pause` and `resume` say what they did, and `status` what waits and how much is left."""

from __future__ import annotations

import json

import pytest

from mindscape.cli.progress import about

from .conftest import STATUS, FakeDaemon, Run


@pytest.mark.parametrize(("name", "paused"), [("pause", True), ("resume", False)])
def test_pause_and_resume_ask_the_daemon_and_print_what_holds_now(
    daemon: FakeDaemon, mindscape: Run, name: str, paused: bool
) -> None:
    daemon.gives(name, {"paused": paused})
    assert json.loads(mindscape(name, "--json").stdout) == {"paused": paused}
    ran = mindscape(name)
    assert (ran.code, ran.stderr, daemon.asked[-1]) == (0, "", (name, {}))
    assert ("mindscape resume" in ran.stdout) is paused


def test_status_shows_what_is_left_and_why_nothing_moves(daemon: FakeDaemon, mindscape: Run) -> None:
    left = {"embedded": {"items": 3200, "seconds": 250.0}, "summarised": {"items": 1, "seconds": None}}
    daemon.gives("status", {**STATUS, "paused": True, "held": "on battery", "work_left": left})
    human = mindscape("status").stdout
    assert "3,200 passages to embed, about 4 min · 1 tree to make" in human
    assert "mindscape resume" in human
    assert "on battery" not in human
    daemon.gives("status", {**STATUS, "paused": False, "held": "on battery"})
    assert "on battery" in mindscape("status").stdout


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(3, "under a minute"), (60, "about 1 min"), (3000, "about 50 min"), (36_000, "about 10 h")],
)
def test_an_estimate_is_rounded(seconds: float, said: str) -> None:
    assert about(seconds) == said
