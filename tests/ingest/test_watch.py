"""The watcher gives hints: what changed, what permissions changed, and that events were lost."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mindscape.ingest import watch
from mindscape.ingest.observed import Observed
from mindscape.ingest.watch import Watcher

linux = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux's")


def enter_all(watcher: Watcher, root: Path) -> None:
    """What a scan does as it goes."""
    for folder, _, _ in os.walk(root):
        watcher.enter(os.fsencode(root), os.fsencode(folder))


@pytest.fixture(params=["own", "watchdog"])
async def watcher(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Watcher]:
    """This system's way of watching, and the one of systems without inotify."""
    if request.param == "watchdog":
        monkeypatch.setattr(watch.sys, "platform", "other")
    it = Watcher()
    it.watch(os.fsencode(tmp_path))
    enter_all(it, tmp_path)
    yield it
    it.stop()


async def hinted(watcher: Watcher, path: Path) -> None:
    """Wait until the path is among the hints."""
    async with asyncio.timeout(20):
        while os.fsencode(path) not in await watcher.next_paths():
            pass


async def test_writing_renaming_and_changing_permissions_are_hints(watcher: Watcher, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("one")
    await hinted(watcher, note)
    note.chmod(0o600)
    await hinted(watcher, note)
    note.rename(tmp_path / "other.md")
    await hinted(watcher, tmp_path / "other.md")


async def test_reading_is_no_hint(watcher: Watcher, tmp_path: Path) -> None:
    note = tmp_path / "note.md"
    note.write_text("one")
    await hinted(watcher, note)
    note.read_text()
    last = tmp_path / "last.md"
    last.write_text("two")
    async with asyncio.timeout(20):
        seen: set[bytes] = set()
        while os.fsencode(last) not in seen:
            seen |= await watcher.next_paths()
    assert os.fsencode(note) not in seen


async def test_lost_events_make_every_root_a_hint(watcher: Watcher, tmp_path: Path) -> None:
    watcher.lost_events()
    await hinted(watcher, tmp_path)


async def test_a_replaced_folder_is_not_the_one_that_is_watched(watcher: Watcher, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    watcher.watch(os.fsencode(root))
    assert watcher.sees(os.fsencode(root))
    root.rename(tmp_path / "old")
    root.mkdir()
    assert not watcher.sees(os.fsencode(root))
    watcher.watch(os.fsencode(root))
    assert watcher.sees(os.fsencode(root))


async def test_a_root_whose_reporting_thread_died_is_not_seen(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    observed = Observed(lambda _: None)
    try:
        observed.start(root)
        assert observed.is_alive(root)
        for emitter in observed._observer.emitters:  # pyright: ignore[reportPrivateUsage]
            emitter.stop()
            emitter.join()
        assert not observed.is_alive(root)
    finally:
        observed.close()


@linux
async def test_a_root_that_goes_and_comes_back_is_a_hint_both_times(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    it = Watcher()
    try:
        it.watch(os.fsencode(root))
        root.rename(tmp_path / "elsewhere")
        await hinted(it, root)
        assert not it.sees(os.fsencode(root))
        (tmp_path / "elsewhere").rename(root)
        await hinted(it, root)
    finally:
        it.stop()


@linux
async def test_a_moved_folder_reports_no_more_under_its_old_name(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "trip" / "day").mkdir(parents=True)
    it = Watcher()
    try:
        it.watch(os.fsencode(root))
        enter_all(it, root)
        (root / "trip").rename(outside)
        await hinted(it, root / "trip")
        (outside / "day" / "ghost.md").write_text("not in the root any more")
        (root / "last.md").write_text("in it")
        async with asyncio.timeout(20):
            seen: set[bytes] = set()
            while os.fsencode(root / "last.md") not in seen:
                seen |= await it.next_paths()
        assert [path for path in seen if b"trip" in path] == []
    finally:
        it.stop()
