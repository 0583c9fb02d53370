"""The watcher gives hints: what changed, what permissions changed, and that events were lost."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mindscape.ingest.watch import Watcher


@pytest.fixture
async def watcher(tmp_path: Path) -> AsyncIterator[Watcher]:
    it = Watcher()
    assert it.watch(os.fsencode(tmp_path)) is None
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
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; events were lost")
    await hinted(watcher, tmp_path)


async def test_a_replaced_folder_is_not_the_one_that_is_watched(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    watcher = Watcher()
    try:
        assert watcher.watch(os.fsencode(root)) is None
        assert watcher.sees(os.fsencode(root))
        root.rename(tmp_path / "old")
        root.mkdir()
        assert not watcher.sees(os.fsencode(root))
        assert watcher.watch(os.fsencode(root)) is None
        assert watcher.sees(os.fsencode(root))
    finally:
        watcher.stop()
