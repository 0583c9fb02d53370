"""`pause` holds through a kill, nothing waits in vain, and questions are answered all the same."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from mindscape.errors import Refused
from tests.daemon.harness import Daemon


def test_paused_work_stays_paused_after_a_kill_and_is_all_done_after_resume(
    daemon: Daemon, folder: Path
) -> None:
    (folder / "first.md").write_text("The ferry leaves at nine.\n")
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    before = daemon.wait("summarised")
    assert (before["paused"], before["held"]) == (False, None)
    assert before["work_left"]["embedded"] == {"items": 0, "seconds": 0.0}
    assert daemon.call("pause") == {"paused": True}
    inner = folder / "later"
    inner.mkdir()
    (inner / "second.md").write_text("The bakery sells rye bread on Tuesdays.\n")
    daemon.call("add", paths=[str(inner)])
    daemon.kill()
    assert daemon.start() == "ready"
    with pytest.raises(Refused, match="mindscape resume"):
        daemon.wait("embedded")
    found = daemon.call("search", query="ferry")
    assert "Background work is paused" in found["coverage"]["notes"][-1]
    assert "ferry" in found["results"][0]["text"]
    status = daemon.call("status")
    assert status["paused"] is True
    assert status["work"] == before["work"]
    assert daemon.call("resume") == {"paused": False}
    after = daemon.wait("embedded")
    assert after["paused"] is False
    assert after["documents"]["embedded"] == after["documents"]["total"] == 2
    assert after["work"]["passage_embeddings"] == before["work"]["passage_embeddings"] + 1
    daemon.wait("summarised")
    assert daemon.call("status")["work_left"]["summarised"] == {"items": 0, "seconds": 0.0}


def test_a_wait_that_is_under_way_ends_when_work_is_paused(daemon: Daemon, folder: Path) -> None:
    for number in range(200):
        (folder / f"{number}.md").write_text(f"Note {number} tells of the ferry.\n")
    daemon.call("pause")
    daemon.call("add", paths=[str(folder)])
    daemon.call("resume")
    with daemon.connect() as link:
        link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"wait","params":{"tier":"summarised"}}\n')
        lines = link.makefile("rb")
        while b'"progress"' not in lines.readline():
            pass
        daemon.call("pause")
        said = lines.readline()
        while b'"progress"' in said:
            said = lines.readline()
    # It may have been done by then; what it must not do is wait.
    assert b"mindscape resume" in said or b'"summarised":200' in said


def test_what_is_deleted_while_work_is_paused_is_gone(daemon: Daemon, folder: Path) -> None:
    note = folder / "note.md"
    note.write_text("The ferry leaves at nine.\n")
    daemon.call("add", paths=[str(folder)])
    daemon.wait("embedded")
    daemon.call("pause")
    with daemon.connect() as link:
        link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
        lines = link.makefile("rb")
        assert b'"what":"paused"' in lines.readline()
        note.unlink()
        while b'"total":0' not in lines.readline():
            pass
    assert daemon.call("search", query="ferry")["results"] == []


class OnBattery(Daemon):
    """A daemon that is told that the computer runs on its battery."""

    def command(self) -> list[str]:
        told = (
            "from mindscape.daemon import main; main.on_battery = lambda: True; raise SystemExit(main.main())"
        )
        return [sys.executable, "-P", "-c", told]


def test_on_battery_files_are_read_and_summarised_and_embedded_only_for_who_waits_for_it(
    tmp_path: Path, folder: Path
) -> None:
    daemon = OnBattery(tmp_path / "home", workers="1")
    assert daemon.start() == "ready"
    try:
        (folder / "note.md").write_text("The ferry leaves at nine.\n")
        daemon.call("add", paths=[str(folder)])
        daemon.wait("searchable")
        with daemon.connect() as link:
            link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
            lines = link.makefile("rb")
            while (status := daemon.call("status"))["held"] is None:
                lines.readline()
        assert status["held"] == "on battery"
        status = daemon.wait("summarised")
        assert status["documents"]["embedded"] == status["work"]["passage_embeddings"] == 0
        assert status["work_left"]["embedded"] == {"items": 1, "seconds": None}
        status = daemon.wait("embedded")
        assert status["documents"]["embedded"] == 1
        assert status["held"] is None
    finally:
        daemon.stop()
