"""Keeps the documents equal to the disk: compares, queues what differs, and follows the watcher's hints."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Iterable
from itertools import chain, islice
from typing import TypeVar

from mindscape.daemon.progress import Progress
from mindscape.ingest import ignore
from mindscape.ingest.scan import Changes, Found, Known, compare, walk
from mindscape.ingest.watch import MANY, Watcher
from mindscape.library import Library
from mindscape.text import display_path
from mindscape_storage import documents, jobs, roots
from mindscape_storage.database import Connection
from mindscape_storage.records import Root

T = TypeVar("T")

INDEX = "index"
PRIORITY = 10
APPLY_BATCH = 500
"""Documents changed in one transaction: a huge folder does not keep other writes waiting."""


class Scanner:
    """Scans one root at a time. `queued` is called when there is something new to index."""

    def __init__(
        self, library: Library, patterns: tuple[str, ...], progress: Progress, queued: Callable[[], None]
    ) -> None:
        self._library = library
        self._patterns = patterns
        self._progress = progress
        self._queued = queued
        self._watcher = Watcher()
        self._one = asyncio.Lock()

    def rules(self, root: bytes) -> ignore.Rules:
        """What is left out below a root."""
        return ignore.rules_for(root, self._patterns)

    def stop(self) -> None:
        """Stop watching."""
        self._watcher.stop()

    async def remove_root(self, root: Root, *, forget: bool) -> None:
        """Stop watching a root and remove what was made of it; what is being parsed is dropped when done."""
        async with self._one:
            self._watcher.unwatch(root.path)
            await self._library.write(lambda c: roots.remove_root(c, root.id, forget=forget))

    async def scan_all(self) -> None:
        """Compare every root with the disk."""
        for root in await self._library.read(roots.list_roots):
            await self.scan_root(root)

    async def scan_root(self, root: Root, starts: Collection[bytes] = ()) -> None:
        """Compare a root, or only what lies at and below `starts` in it, with the disk; queue what differs.

        All starts are compared together, so that a file which left one and came up in another has moved.
        """
        async with self._one:
            if not await self._is_there(root):
                return
            rules = self.rules(root.path)

            def known(connection: Connection) -> Known:
                if not starts:
                    return documents.known_files(connection, root.id)
                parts = (documents.known_files(connection, root.id, start) for start in starts)
                return {path: what for part in parts for path, what in part.items()}

            def differences(before: Known) -> Changes:
                walks = (walk(root.path, rules, start) for start in starts or (root.path,))
                return compare(chain.from_iterable(walks), before)

            before = await self._library.read(known)
            await self._apply(root, await asyncio.to_thread(differences, before))

    async def poll(self) -> None:
        """Scan what gives no events; a root whose folder was replaced by another is watched anew."""
        for root in await self._library.read(roots.list_roots):
            if root.mode != "events" or not self._watcher.sees(root.path):
                await self.scan_root(root)

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
                await self.scan_root(root, outermost(mine))

    async def _is_there(self, root: Root) -> bool:
        """Whether the root can be seen; keeps its mode and its watch true."""
        if not await asyncio.to_thread(os.path.lexists, root.path):
            if root.mode != "away":
                self._watcher.unwatch(root.path)
                await self._library.write(lambda c: roots.set_root_mode(c, root.id, "away"))
                await self._progress.notify()
            return False
        mode = "polling" if self._watcher.watch(root.path) else "events"
        if mode != root.mode:
            await self._library.write(lambda c: roots.set_root_mode(c, root.id, mode))
        return True

    async def _apply(self, root: Root, changes: Changes) -> None:
        if not changes:
            return
        await self._library.write(lambda c: _move(c, root, changes))
        # What moved is read again too: the same inode, size and time can be another file by chance, and
        # another name can mean another type. Unchanged bytes cost a hash and no parse.
        looked_at = [*changes.new, *(item for _, item in (*changes.changed, *changes.moved))]
        for batch in _batches(looked_at, APPLY_BATCH):
            await self._library.write(lambda c, batch=batch: _queue(c, root, batch))
            self._queued()
        for gone in _batches(changes.gone, APPLY_BATCH):
            await self._library.write(lambda c, gone=gone: documents.remove_documents(c, gone))
        await self._progress.notify()


def outermost(paths: Iterable[bytes]) -> list[bytes]:
    """The paths that lie under no other one of them."""
    kept: list[bytes] = []
    # By parts, not bytes: "a b" sorts between "a" and "a/c" as bytes.
    for path in sorted(set(paths), key=lambda path: path.split(b"/")):
        if not kept or not path.startswith(kept[-1] + b"/"):
            kept.append(path)
    return kept


def _move(connection: Connection, root: Root, changes: Changes) -> None:
    for document_id, item in changes.moved:
        shown = display_path(item.path)
        documents.move_document(connection, document_id, item.path, shown, item.stat, root.id)


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
