"""Linux's file events: each folder has one watch, and what cannot be watched or heard is told."""

from __future__ import annotations

import asyncio
import ctypes
import errno
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.ingest.test_watch import enter_all, hinted

from mindscape.ingest import watch
from mindscape.ingest.watch import Watcher

if sys.platform != "linux":
    pytest.skip("inotify is Linux's", allow_module_level=True)

from watchdog.observers import inotify_c
from watchdog.observers.inotify_c import InotifyFD

from mindscape.ingest.inotify import Inotify


class Told:
    """What an Inotify tells."""

    def __init__(self) -> None:
        self._paths: asyncio.Queue[bytes] = asyncio.Queue()
        self.lost = asyncio.Event()

    def hint(self, path: bytes) -> None:
        self._paths.put_nowait(path)

    async def until(self, path: Path) -> set[bytes]:
        """Wait for a path; gives all that was told up to it."""
        seen: set[bytes] = set()
        async with asyncio.timeout(20):
            while os.fsencode(path) not in seen:
                seen.add(await self._paths.get())
        return seen


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
async def inotify(told: Told) -> AsyncIterator[Inotify]:
    it = Inotify(told.hint, told.lost.set)
    yield it
    it.close()


def reading_thread(inotify: Inotify) -> InotifyFD:
    return inotify._reader  # pyright: ignore[reportPrivateUsage]


async def test_an_overflow_of_the_kernels_queue_is_told(inotify: Inotify, told: Told, tmp_path: Path) -> None:
    inotify.add(os.fsencode(tmp_path))
    overflow = inotify_c.InotifyEvent(
        inotify_c.WatchDescriptor(-1), inotify_c.InotifyConstants.IN_Q_OVERFLOW, 0, b""
    )
    reading_thread(inotify).handle_event(overflow)
    async with asyncio.timeout(20):
        await told.lost.wait()


async def test_a_reading_thread_that_died_is_noticed_and_replaced(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path)
    it = Watcher()
    try:
        it.watch(root)
        backend = it._backend  # pyright: ignore[reportPrivateUsage]
        assert isinstance(backend, watch._Folders)  # pyright: ignore[reportPrivateUsage]
        thread = reading_thread(backend._inotify)  # pyright: ignore[reportPrivateUsage]
        thread.stopped_event.set()
        (tmp_path / "last.md").touch()
        thread.join()
        assert not it.sees(root)
        it.watch(root)
        assert it.sees(root)
        await hinted(it, tmp_path)  # as what happened in between was not heard
        (tmp_path / "note.md").write_text("heard again")
        await hinted(it, tmp_path / "note.md")
    finally:
        it.stop()


async def test_a_folder_that_is_added_again_also_under_another_name_has_one_watch(
    inotify: Inotify, told: Told, tmp_path: Path
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    before.mkdir()
    for _ in range(2):
        inotify.add(os.fsencode(before))
    before.rename(after)
    inotify.add(os.fsencode(after))
    assert os.fsencode(after) in inotify
    assert os.fsencode(before) not in inotify
    (after / "note.md").write_text("in it")
    await told.until(after / "note.md")
    before.mkdir()
    inotify.add(os.fsencode(before))
    inotify.remove(os.fsencode(after))
    (after / "unheard.md").write_text("in the one that is watched no more")
    (before / "note.md").write_text("in the new one")
    assert os.fsencode(after / "unheard.md") not in await told.until(before / "note.md")


async def test_a_folder_made_anew_under_the_name_of_a_removed_one_is_watched(
    inotify: Inotify, told: Told, tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    for number in range(5):
        folder.mkdir()
        inotify.add(os.fsencode(folder))
        (folder / f"{number}.md").write_text("one")
        await told.until(folder / f"{number}.md")
        (folder / f"{number}.md").unlink()
        folder.rmdir()


async def test_watching_names_alone_takes_nothing_from_the_watch_a_folder_has(
    inotify: Inotify, told: Told, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text("one")
    inotify.add_names(os.fsencode(tmp_path))
    note.write_text("two")
    (tmp_path / "name.md").touch()
    assert await told.until(tmp_path / "name.md") == {os.fsencode(tmp_path / "name.md")}
    inotify.add(os.fsencode(tmp_path))
    inotify.add_names(os.fsencode(tmp_path))
    note.write_text("three")
    await told.until(note)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_watchers_hear_for_themselves_and_leave_nothing_open(tmp_path: Path) -> None:
    before = descriptors()
    told = [Told(), Told()]
    pair = [Inotify(each.hint, each.lost.set) for each in told]
    for each in pair:
        each.add(os.fsencode(tmp_path))
    (tmp_path / "a.md").touch()
    for each in told:
        await each.until(tmp_path / "a.md")
    pair[0].close()
    (tmp_path / "b.md").touch()
    await told[1].until(tmp_path / "b.md")
    pair[1].close()
    assert descriptors() == before
    with pytest.raises(OSError, match="stopped"):
        pair[0].add(os.fsencode(tmp_path))


def refuse(monkeypatch: pytest.MonkeyPatch, number: int, room: int = 0) -> None:
    """Let the system refuse every watch, after `room` more of them."""
    left = iter(range(room))
    real = inotify_c.inotify_add_watch

    def add_watch(fd: int, path: bytes, mask: int) -> int:
        if next(left, None) is not None:
            return real(fd, path, mask)
        ctypes.set_errno(number)
        return -1

    monkeypatch.setattr(inotify_c, "inotify_add_watch", add_watch)


async def test_a_folder_that_may_not_be_read_is_not_taken_for_watched(
    inotify: Inotify, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refuse(monkeypatch, errno.EACCES)
    for folder in (tmp_path / "a", tmp_path / "b"):
        with pytest.raises(PermissionError):
            inotify.add(os.fsencode(folder))
        assert os.fsencode(folder) not in inotify


async def test_at_the_systems_limit_a_root_is_not_watched_at_all_and_it_is_said_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    for number in range(5):
        (large / f"d{number}").mkdir(parents=True)
    it = Watcher()
    try:
        it.watch(os.fsencode(small))
        with monkeypatch.context() as at_the_limit:
            refuse(at_the_limit, errno.ENOSPC, room=4)
            it.watch(os.fsencode(large))
            enter_all(it, large)
        why = it.blind(os.fsencode(large))
        assert why is not None
        assert "sudo sysctl fs.inotify.max_user_watches=" in why
        assert it.blind(os.fsencode(small)) is None
        assert it.sees(os.fsencode(small))
        (large / "d0" / "unseen.md").write_text("no half of the watches is left")
        (small / "seen.md").write_text("but the other root's are")
        async with asyncio.timeout(20):
            assert os.fsencode(small / "seen.md") in await it.next_paths()
        it.try_again()
        it.watch(os.fsencode(large))
        enter_all(it, large)
        assert it.blind(os.fsencode(large)) is None
        (large / "d4" / "seen.md").write_text("now it is")
        await hinted(it, large / "d4" / "seen.md")
    finally:
        it.stop()


async def test_without_another_instance_nothing_is_watched_and_it_is_said_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_instance() -> int:
        ctypes.set_errno(errno.EMFILE)
        return -1

    monkeypatch.setattr(inotify_c, "inotify_init", no_instance)
    it = Watcher()
    it.watch(os.fsencode(tmp_path))
    assert "max_user_instances" in (it.blind(os.fsencode(tmp_path)) or "")
    it.stop()
