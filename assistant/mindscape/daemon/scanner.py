"""Keeps the documents equal to the disk: compares, queues what differs, and follows the watcher's hints."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import TypeVar

from mindscape.config import Settings
from mindscape.daemon.progress import Progress
from mindscape.ingest import ignore
from mindscape.ingest.absence import Absence, Memory, absences
from mindscape.ingest.mounts import MountChanges, Mounts, kind_of, mount_point, mounted, tells_nothing
from mindscape.ingest.scan import Changes, Disk, Found, Known, compare
from mindscape.ingest.watch import MANY, Watcher
from mindscape.library import Library
from mindscape.text import display_path
from mindscape_storage import documents, jobs, roots
from mindscape_storage.database import Connection
from mindscape_storage.records import Root, Status

T = TypeVar("T")

INDEX = "index"
PRIORITY = 10
VERIFY_PRIORITY = 20
"""Reading again what seems unchanged waits until everything else is done."""
APPLY_BATCH = 500
"""Documents changed in one transaction: a huge folder does not keep other writes waiting."""
VERIFY_FILES = 2_000
VERIFY_BYTES = 256 << 20
"""Files hashed again each time everything is compared, though nothing says that they changed."""


class _Removed(Exception):
    """The root that is being scanned is not watched any more."""


@dataclass(slots=True)
class Look:
    """What one scan found out."""

    changes: Changes
    same: list[int]
    """Documents at the paths it was asked for that seem unchanged."""
    away: list[Absence]
    mounts: Mounts
    """The file systems the root lies on and holds, but `/`."""
    entered: dict[bytes, tuple[int, int]] = field(default_factory=dict[bytes, tuple[int, int]])
    """The folders it listed, with device and inode."""


class Scanner:
    """Scans one root at a time. `queued` is called when there is something new to index, or less of it."""

    def __init__(
        self, library: Library, settings: Settings, progress: Progress, queued: Callable[[], None]
    ) -> None:
        self._library = library
        self._patterns = settings.ignore
        self._every = settings.poll_seconds or 60
        self._progress = progress
        self._queued = queued
        self._watcher = Watcher()
        self._mount_changes = MountChanges(self._mounts_changed)
        self._around: dict[bytes, Mounts] = {}
        """Root -> what it lay on and held when it was last scanned as a whole."""
        self._identities: dict[bytes, tuple[int, int]] = {}
        self._silent: dict[int, list[bytes]] = {}
        """Root id -> mount points on or in it that tell of no changes."""
        self._one = asyncio.Lock()
        self._removed: set[int] = set()
        """Ids of roots that were removed since the start: a scan of one ends where it is."""
        self._left: list[bytes] = []
        """Paths that may still have watches of a removed root."""
        self._clear = asyncio.Event()

    def rules(self, root: bytes) -> ignore.Rules:
        """What is left out below a root."""
        return ignore.rules_for(root, self._patterns)

    def stop(self) -> None:
        """Stop watching."""
        self._mount_changes.stop()
        self._watcher.stop()

    async def remove_root(self, root: Root, *, forget: bool) -> None:
        """Stop watching a root; what was made of it is not told of any more, and goes in the background.

        With `forget` all of it is gone when this returns. What is being parsed is dropped when done.
        """
        self._removed.add(root.id)
        try:
            if forget:
                await self._library.write(lambda c: roots.remove_root(c, root.id, forget=True))
            else:
                await self._library.write(lambda c: roots.leave_root(c, root.id))
        except BaseException:
            self._removed.discard(root.id)  # it stays, and has to be scanned
            self._watcher.look_at(root.path)
            raise
        self._left.append(root.path)
        self._clear.set()
        self._queued()

    async def forget_left(self) -> None:
        """Nothing is kept any more of what no document has, also of roots that were removed before."""
        while await self._library.write(lambda c: roots.remove_left(c, APPLY_BATCH)):
            pass
        await self._library.write(lambda c: documents.remove_documents(c, [], forget=True))

    async def clear_away(self) -> None:
        """Let go of what removed roots left, a part at a time, then wait for the next one."""
        self._clear.clear()
        if self._left:
            async with self._one:  # until the scan of it has ended, that may add to the watches
                while self._left:
                    path = self._left.pop()
                    self._watcher.unwatch(path)
                    self._around.pop(path, None)
            await self.poll()  # a root inside it lost its watches too, and so did one added again
        while await self._library.write(lambda c: roots.remove_left(c, APPLY_BATCH)):
            pass
        self._queued()
        await self._progress.notify()
        await self._clear.wait()

    async def scan_all(self) -> None:
        """Compare every root with the disk."""
        for root in await self._library.read(roots.list_roots):
            await self.scan_root(root)

    async def reconcile(self) -> None:
        """Compare every root with the disk, try again to watch what could not be, and verify some files.

        A file system may keep size and times of a file whose bytes change; so those read longest ago are
        hashed again, a bounded number each time.
        """
        self._watcher.try_again()
        await self.scan_all()
        oldest = partial(documents.longest_unread, most=VERIFY_FILES, most_bytes=VERIFY_BYTES)
        await self._verify(await self._library.read(oldest))

    async def scan_root(self, root: Root, starts: Collection[bytes] = (), *, verify: bool = False) -> None:
        """Compare a root, or only what lies at and below `starts` in it, with the disk; queue what differs.

        All starts are compared together, so that a file which left one and came up in another has moved.
        With `verify` the files among them that seem unchanged are hashed all the same.
        """
        async with self._one:
            # What was known of it when this was asked for may be past, and it may have been removed.
            there = {each.id: each for each in await self._library.read(roots.list_roots)}
            if root.id not in there:
                return
            root = there[root.id]
            if not await asyncio.to_thread(os.path.lexists, root.path):
                await asyncio.to_thread(self._watcher.watch, root.path)
                why = f"{display_path(root.path)} is not there now; it is looked at again when it returns."
                await self._set_mode(root, "away", why)
                return
            if not self._watcher.blind(root.path) and not await asyncio.to_thread(
                self._watcher.sees, root.path
            ):
                starts = ()  # it is watched from now on: every folder has to be entered

            def read(connection: Connection) -> tuple[Known, Memory]:
                return _known(connection, root, starts), Memory(
                    roots.mounts_of(connection, root.id),
                    roots.absences_of(connection, root.id),
                    self._identities,
                )

            known, memory = await self._library.read(read)
            try:
                look = await asyncio.to_thread(self._look_at, root, starts, known, memory)
            except _Removed:
                return
            if not starts:
                others = self._identities.items()
                self._identities = {at: what for at, what in others if not _covers(root.path, at)}
            self._identities.update(look.entered)
            if not await self._settle_mode(root, look, memory, whole=not starts):
                return
            await self._apply(root, look.changes)
            for absence in look.away:
                if await self._library.write(
                    lambda c, absence=absence: documents.set_away(c, absence.documents, absence.reason)
                ):
                    await self._progress.notify()
            if verify:
                await self._verify(look.same)

    async def poll(self) -> None:
        """Scan what gives no events; a root whose folder was replaced by another is watched anew."""
        for root in await self._library.read(roots.list_roots):
            silent = self._silent.get(root.id, [])
            if not self._watcher.sees(root.path) or any(_covers(at, root.path) for at in silent):
                await self.scan_root(root)
            elif silent:
                await self.scan_root(root, silent)

    async def follow(self) -> None:
        """Wait for the next hints of the watcher and look there. What fails is looked at again."""
        paths = await self._watcher.next_paths()
        try:
            await self._look(paths)
        except BaseException:
            self._watcher.lost_events()
            raise

    async def _look(self, paths: set[bytes]) -> None:
        for root in await self._library.read(roots.list_roots):
            below = root.path.rstrip(b"/") + b"/"
            mine = {path for path in paths if path == root.path or path.startswith(below)}
            # Other rules for a folder: everything in it may have to come or go.
            mine |= {os.path.dirname(path) for path in mine if os.path.basename(path) in ignore.FILES}
            if root.path in mine or len(mine) > MANY:
                await self.scan_root(root)
            elif mine:
                await self.scan_root(root, outermost(mine), verify=True)

    def _mounts_changed(self) -> None:
        """Something was mounted or unmounted somewhere: look at the roots that concerns."""
        everything = mounted()
        for root, before in list(self._around.items()):  # a scan may be adding to it
            if _mounts_of(root, everything) != before:
                self._watcher.look_at(root)

    def _look_at(self, root: Root, starts: Collection[bytes], known: Known, memory: Memory) -> Look:
        """Look at the disk; in a thread of its own."""
        self._watcher.watch(root.path)
        entered: dict[bytes, tuple[int, int]] = {}

        def enter(folder: bytes) -> None:
            if root.id in self._removed:
                raise _Removed
            self._watcher.enter(root.path, folder)
            entered[folder] = _identity(folder)

        disk = Disk(root.path, self.rules(root.path), enter)
        walks = (disk.walk(start) for start in starts or (root.path,))
        changes = compare(chain.from_iterable(walks), known)
        # After the walk: entering a folder may have mounted what belongs there.
        around = _mounts_of(root.path, mounted())
        if not starts:
            self._around[root.path] = around
        mounts = {
            at: what for at, what in around.items() if _covers(at, root.path) or not disk.leaves_out(at)
        }
        gone = absences(root.path, known, changes.gone, disk, memory, mounts, time.time())
        away = {number for absence in gone for number in absence.documents}
        changes.gone = [number for number in changes.gone if number not in away]
        differing = {number for number, _ in (*changes.changed, *changes.moved)} | {*changes.gone, *away}
        here = [known[start] for start in starts if start in known]
        same = [number for number, _, status in here if number not in differing and status is Status.OK]
        return Look(changes, same, gone, mounts, entered)

    async def _settle_mode(self, root: Root, look: Look, memory: Memory, *, whole: bool) -> bool:
        """Record what was found out of the root itself; whether it is there, so that its files count."""
        absent = next((each for each in look.away if _covers(each.folder, root.path)), None)
        kept = {each.folder: memory.mounts[each.folder] for each in look.away if each.folder in memory.mounts}
        since = {
            each.folder: memory.since.get(each.folder, int(time.time()))
            for each in look.away
            if each.for_a_day
        }
        if whole:
            self._silent[root.id] = [at for at, what in look.mounts.items() if tells_nothing(what)]
        else:
            kept, since = memory.mounts, {**memory.since, **since}
        mounts = {**look.mounts, **kept} if whole else kept
        if (mounts, since) != (memory.mounts, memory.since):
            await self._if_watched(root, lambda c: roots.remember(c, root.id, mounts, since))
        if absent is not None:
            await self._set_mode(root, "away", absent.reason)
            return False
        await self._set_mode(root, *self._mode(root, look.mounts))
        return True

    def _mode(self, root: Root, mounts: Mounts) -> tuple[str, str | None]:
        instead = f"scanned every {self._every} seconds instead."
        if why := self._watcher.blind(root.path):
            return "polling", f"{why}; it is {instead}"
        for at in self._silent.get(root.id, []):
            kind = kind_of(mounts.get(at, "file system"))
            return (
                "polling",
                f"{display_path(at)} ({kind}) tells of no changes made elsewhere; it is {instead}",
            )
        return "events", None

    async def _set_mode(self, root: Root, mode: str, reason: str | None) -> None:
        if (mode, reason) == (root.mode, root.reason):
            return

        def write(connection: Connection) -> None:
            roots.set_root_mode(connection, root.id, mode, reason)
            if root.mode == "away":
                # Their jobs ended when their files could not be found.
                for number, _, status in documents.known_files(connection, root.id).values():
                    if status is Status.PENDING:
                        jobs.enqueue(connection, INDEX, str(number), PRIORITY)

        await self._if_watched(root, write)
        self._queued()
        await self._progress.notify()

    async def _if_watched(self, root: Root, work: Callable[[Connection], None]) -> bool:
        """Write, unless the root was removed since the scan began; whether it is still there."""

        def write(connection: Connection) -> bool:
            there = roots.is_watched(connection, root.id)
            if there:
                work(connection)
            return there

        return await self._library.write(write)

    async def _apply(self, root: Root, changes: Changes) -> None:
        if not changes:
            return
        if not await self._if_watched(root, lambda c: _move(c, root, changes)):
            return
        # What moved is read again too: the same inode, size and time can be another file by chance, and
        # another name can mean another type. Unchanged bytes cost a hash and no parse.
        looked_at = [*changes.new, *(item for _, item in (*changes.changed, *changes.moved))]
        for batch in _batches(looked_at, APPLY_BATCH):
            if not await self._if_watched(root, lambda c, batch=batch: _queue(c, root, batch)):
                return
            self._queued()
        for gone in _batches(changes.gone, APPLY_BATCH):
            await self._library.write(lambda c, gone=gone: documents.remove_documents(c, gone))
            self._queued()
        await self._progress.notify()

    async def _verify(self, ids: Sequence[int]) -> None:
        """Have documents hashed again, without saying that they changed."""

        def queue(connection: Connection) -> None:
            for document_id in ids:
                jobs.enqueue(connection, INDEX, str(document_id), VERIFY_PRIORITY)

        if ids:
            await self._library.write(queue)
            self._queued()


def outermost(paths: Iterable[bytes]) -> list[bytes]:
    """The paths that lie under no other one of them."""
    kept: list[bytes] = []
    # By parts, not bytes: "a b" sorts between "a" and "a/c" as bytes.
    for path in sorted(set(paths), key=lambda path: path.split(b"/")):
        if not kept or not path.startswith(kept[-1] + b"/"):
            kept.append(path)
    return kept


def _move(connection: Connection, root: Root, changes: Changes) -> None:
    moves = [(number, item.path, display_path(item.path), item.stat) for number, item in changes.moved]
    documents.move_documents(connection, root.id, moves)


def _known(connection: Connection, root: Root, starts: Collection[bytes]) -> Known:
    if not starts:
        return documents.known_files(connection, root.id)
    parts = (documents.known_files(connection, root.id, start) for start in starts)
    return {path: what for part in parts for path, what in part.items()}


def _mounts_of(root: bytes, everything: Mounts) -> Mounts:
    """What a root lies on, unless that is mounted at `/`, and what is mounted in its folders."""
    own = mount_point(root, everything)
    inside = root.rstrip(b"/") + b"/"
    return {
        at: what for at, what in everything.items() if (at == own and at != b"/") or at.startswith(inside)
    }


def _covers(folder: bytes, root: bytes) -> bool:
    return root == folder or root.startswith(folder.rstrip(b"/") + b"/")


def _identity(folder: bytes) -> tuple[int, int]:
    try:
        status = os.lstat(folder)
    except OSError:
        return 0, 0
    return status.st_dev, status.st_ino


def _queue(connection: Connection, root: Root, batch: Iterable[Found]) -> None:
    """Make documents pending and queue them; those that will not be opened get their status at once."""
    for item in batch:
        document_id = documents.upsert_pending(
            connection, root.id, item.path, display_path(item.path), item.stat
        )
        if item.problem is not None:
            documents.finish(connection, document_id, item.stat, *item.problem, None)
        else:
            jobs.enqueue(connection, INDEX, str(document_id), PRIORITY)


def _batches(items: list[T], size: int) -> Iterable[list[T]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch
