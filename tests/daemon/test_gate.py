"""Heavy work waits on battery, and not for somebody who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mindscape.daemon import pausing
from mindscape.daemon.pausing import Gate, Paused
from mindscape.daemon.power import on_battery
from mindscape.daemon.progress import Progress
from mindscape.errors import Refused
from mindscape.library import Library
from mindscape_storage import choices


@pytest.fixture
async def library(tmp_path: Path) -> AsyncIterator[Library]:
    it = Library(tmp_path / "library.db")
    yield it
    it.close()


async def test_on_battery_heavy_work_is_held_and_says_why_until_somebody_waits_for_it(
    library: Library,
) -> None:
    progress = Progress()
    gate = Gate(library, progress, lambda: True, paused=False)
    trying = asyncio.create_task(gate.heavy("embed"))
    await progress.after(0)
    assert gate.held == "on battery"
    with gate.wanted():
        assert await trying is False
        assert await gate.heavy("embed") is True
        assert gate.held is None


async def test_heavy_work_goes_on_once_the_computer_is_plugged_in(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pausing, "LOOK_SECONDS", 0.0)
    answers = iter([True, False])
    gate = Gate(library, Progress(), lambda: next(answers), paused=False)
    assert await gate.heavy("embed") is False
    assert gate.held == "on battery"
    assert await gate.heavy("embed") is True
    assert gate.held is None


async def test_the_gate_is_shut_from_pause_to_resume_and_the_library_remembers(library: Library) -> None:
    gate = Gate(library, Progress(), lambda: False, paused=False)
    gate.check()
    await gate.pause()
    assert await library.read(choices.is_paused)
    with pytest.raises(Paused):
        gate.check()
    with pytest.raises(Refused):
        gate.refuse_if_paused()
    waiting = asyncio.create_task(gate.opened())
    await gate.resume()
    await waiting
    assert not await library.read(choices.is_paused)
    gate.refuse_if_paused()


def supply(folder: Path, name: str, **fields: str) -> None:
    (folder / name).mkdir()
    for field, text in fields.items():
        (folder / name / field).write_text(text + "\n")


def test_a_desktop_with_a_wireless_mouse_is_not_on_battery(tmp_path: Path) -> None:
    assert not on_battery(tmp_path)
    supply(tmp_path, "hidpp_battery_0", type="Battery", scope="Device", status="Discharging")
    assert not on_battery(tmp_path)


@pytest.mark.parametrize(("online", "battery"), [("0", True), ("1", False)])
def test_a_laptop_is_on_battery_when_no_charger_gives_power(
    tmp_path: Path, online: str, battery: bool
) -> None:
    supply(tmp_path, "AC", type="Mains", online=online)
    supply(tmp_path, "BAT0", type="Battery", status="Discharging")
    assert on_battery(tmp_path) is battery


def test_a_full_battery_is_not_used(tmp_path: Path) -> None:
    supply(tmp_path, "BAT0", type="Battery", status="Full")
    assert not on_battery(tmp_path)


def test_where_the_system_lists_no_supplies_it_is_asked_another_way(tmp_path: Path) -> None:
    assert on_battery(tmp_path / "none") in (True, False)
