"""Background work: scan, index, embed. What is to be done is derived from the disk and what is stored."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Iterable
from functools import partial
from itertools import islice
from typing import TypeVar

from mindscape.config import Settings
from mindscape.daemon.children import ChildDied, Pool
from mindscape.daemon.models import Models
from mindscape.daemon.progress import Progress
from mindscape.errors import MindscapeError
from mindscape.ingest import ignore
from mindscape.ingest.pipeline import Indexer, Unsettled
from mindscape.ingest.scan import Changes, Found, compare, walk
from mindscape.ingest.watch import MANY, Watcher
from mindscape.library import Library
from mindscape.text import display_path
from mindscape_storage import contents, counters, documents, jobs, roots, vectors
from mindscape_storage.database import Connection, checkpoint
from mindscape_storage.errors import BadVector, StorageError
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import Job, Root, Status

log = logging.getLogger(__name__)

T = TypeVar("T")

INDEX = "index"
PRIORITY = 10
ATTEMPTS = 2
"""A file that ends its worker so often is put aside with the reason."""
APPLY_BATCH = 500
EMBED_BATCH = 64
UNSETTLED_SECONDS = 0.5
LONGEST_PAUSE = 60.0


class Scheduler:
    """Keeps the index equal to the disk. `run` goes on until it is cancelled."""

    def __init__(
        self,
        library: Library,
        settings: Settings,
        workers: Pool,
        worker_count: int,
        models: Models,
        progress: Progress,
    ) -> None:
        self._library = library
        self._settings = settings
        self._workers = workers
        self._worker_count = worker_count
        self._models = models
        self._progress = progress
        self._indexer = Indexer(library)
        self._watcher = Watcher()
        self._scanning = asyncio.Lock()
        self._jobs = asyncio.Event()
        self._soon: set[asyncio.Task[None]] = set()
        self._encoder: tuple[str, int] | None = None
        self._dimensions = 0
        self._packed: PackedVectors | None = None
        self._embed = asyncio.Event()
        self._last_work = time.monotonic()
        self.trouble: str | None = None
        """Why embedding does not go on, for `status`."""

    async def run(self) -> None:
        """All loops, until cancelled."""
        await self._library.write(_clean_up)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._watch_loop())
                group.create_task(self._timer_loop())
                group.create_task(self._embed_loop())
                for _ in range(self._worker_count):
                    group.create_task(self._index_loop())
                await self.scan_all()
        finally:
            self._watcher.stop()

    def rules(self, root: bytes) -> ignore.Rules:
        """What is left out below a root."""
        return ignore.rules_for(root, self._settings.ignore)

    async def encoder(self) -> int | None:
        """Id of the passage encoder in use; None when there is no embedder. Starts no engine."""
        bundle = self._models.chosen("embedder")
        if bundle is None or bundle.encoder is None:
            return None
        name, width = bundle.encoder_name, bundle.encoder.dimensions
        self._dimensions = width
        if self._encoder is None or self._encoder[0] != name:
            number = await self._library.write(lambda c: vectors.encoder_id(c, name, width))
            self._encoder = (name, number)
        return self._encoder[1]

    def packed(self, encoder: int | None) -> PackedVectors | None:
        """The copy in memory of an encoder's vectors, shared by all readers; let go when nobody asks."""
        if encoder is None:
            return None
        if self._packed is None or self._packed.encoder != encoder:
            self._packed = PackedVectors(encoder, self._dimensions)
        return self._packed

    async def standing(self, tier: str) -> tuple[int, int]:
        """(documents done at the tier, documents): a final status other than ok counts as done."""
        encoder = await self.encoder()
        counted = await self._library.read(lambda c: documents.counts(c, encoder))
        done = counted["total"] - counted["by_status"].get(Status.PENDING, 0)
        if tier == "embedded":
            done -= counted["searchable"] - counted["embedded"]
        return done, counted["total"]

    def nudge(self) -> None:
        """Something outside changed: look for work again."""
        self._jobs.set()
        self._embed.set()

    # --- scanning ---

    def scan_soon(self, root: Root) -> None:
        """Scan a root in the background."""
        task = asyncio.create_task(self.scan_root(root))
        self._soon.add(task)
        task.add_done_callback(self._soon.discard)

    async def remove_root(self, root: Root, *, forget: bool) -> None:
        """Stop watching a root and remove what was made of it; what is being parsed is dropped when done."""
        async with self._scanning:
            self._watcher.unwatch(root.path)
            await self._library.write(lambda c: roots.remove_root(c, root.id, forget=forget))

    async def scan_all(self) -> None:
        """Compare every root with the disk."""
        for root in await self._library.read(roots.list_roots):
            await self.scan_root(root)

    async def scan_root(self, root: Root, start: bytes | None = None) -> None:
        """Compare a root, or what lies under `start` in it, with the disk, and queue what differs."""
        async with self._scanning:
            if not await self._is_there(root):
                return
            rules = self.rules(root.path)
            before = await self._library.read(lambda c: documents.known_files(c, root.id, start))
            changes = await asyncio.to_thread(lambda: compare(walk(root.path, rules, start), before))
            await self._apply(root, changes)

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
        pending = [*changes.new, *(item for _, item in changes.changed)]
        for batch in _batches(pending, APPLY_BATCH):
            await self._library.write(lambda c, batch=batch: _queue(c, root, batch))
            self._jobs.set()
        for gone in _batches(changes.gone, APPLY_BATCH):
            await self._library.write(lambda c, gone=gone: documents.remove_documents(c, gone))
        await self._progress.notify()

    async def _watch_loop(self) -> None:
        while True:
            paths = await self._watcher.next_paths()
            for root in await self._library.read(roots.list_roots):
                below = root.path.rstrip(b"/") + b"/"
                mine = {path for path in paths if path == root.path or path.startswith(below)}
                # Other rules for a folder: everything in it may have to come or go.
                mine |= {os.path.dirname(path) for path in mine if os.path.basename(path) in ignore.FILES}
                if root.path in mine or len(mine) > MANY:
                    await self.scan_root(root)
                    continue
                for path in _outermost(mine):
                    await self.scan_root(root, path)

    async def _timer_loop(self) -> None:
        """Poll what gives no events, reconcile everything now and then, and let go of what is not used."""
        reconciled = time.monotonic()
        while True:
            await asyncio.sleep(self._settings.poll_seconds or 60)
            now = time.monotonic()
            if now - reconciled > self._settings.reconcile_minutes * 60:
                reconciled = now
                await self.scan_all()
            else:
                for root in await self._library.read(roots.list_roots):
                    if root.mode != "events":
                        await self.scan_root(root)
            idle = self._settings.idle_minutes * 60
            await self._models.stop_if_idle(idle)
            if now - self._models.last_used > idle:
                self._packed = None
            if now - self._last_work > idle:
                await self._workers.stop_idle()
                await self._library.maintain(checkpoint)

    # --- indexing ---

    async def _index_loop(self) -> None:
        while True:
            self._jobs.clear()
            job = await self._library.write(lambda c: jobs.claim(c, (INDEX,)))
            if job is None:
                await self._jobs.wait()
                continue
            await self._index(job)
            self._last_work = time.monotonic()
            self._embed.set()
            await self._progress.notify()

    async def _index(self, job: Job) -> None:
        """Run one job and settle it, whatever happens."""
        document_id = int(job.key)
        try:
            async with self._workers.lend() as child:
                limit = self._settings.parse_seconds
                await self._indexer.index(document_id, partial(child.call, seconds=limit))
        except Unsettled as unsettled:
            await self._look_again(job, document_id, str(unsettled))
        except StorageError as error:
            # A full disk or a locked file: nothing is wrong with the document, so its turn comes again.
            log.warning("document %d: %s", document_id, error)
            await self._retry(job, str(error), min(2.0**job.attempts, LONGEST_PAUSE), attempts=1_000_000)
        except MindscapeError as error:
            log.warning("document %d: %s", document_id, error)
            if not await self._retry(job, str(error), 0.0, ATTEMPTS):
                await self._quarantine(document_id, error)
        else:
            await self._library.write(lambda c: jobs.finish_job(c, job.id))

    async def _look_again(self, job: Job, document_id: int, reason: str) -> None:
        """The file changes or has gone: let the disk say which, and try again after a moment."""
        document = await self._library.read(lambda c: documents.get_document(c, document_id))
        if document is not None:
            watched = await self._library.read(roots.list_roots)
            for root in watched:
                if root.id == document.root_id:
                    await self.scan_root(root, document.path)
        await self._retry(job, reason, UNSETTLED_SECONDS, attempts=1_000_000)

    async def _retry(self, job: Job, reason: str, delay: float, attempts: int) -> bool:
        kept = await self._library.write(lambda c: jobs.retry_job(c, job.id, reason, delay, attempts))
        asyncio.get_running_loop().call_later(delay + 0.01, self._jobs.set)
        return kept

    async def _quarantine(self, document_id: int, error: MindscapeError) -> None:
        kind = "ended the process that parsed it" if isinstance(error, ChildDied) else "could not be parsed"
        reason = f"It {kind} {ATTEMPTS} times and was put aside. {error} It is tried again when it changes."

        def settle(connection: Connection) -> None:
            document = documents.get_document(connection, document_id)
            if document is not None:
                documents.finish(connection, document_id, document.stat, Status.QUARANTINED, reason, None)

        await self._library.write(settle)

    # --- embedding ---

    async def _embed_loop(self) -> None:
        pause = 1.0
        while True:
            self._embed.clear()
            try:
                busy = await self._embed_some()
            except (MindscapeError, StorageError) as error:
                self.trouble = str(error)
                log.warning("embedding: %s", error)
                await self._progress.notify()
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            self.trouble, pause = None, 1.0
            if not busy:
                await self._embed.wait()

    async def _embed_some(self) -> bool:
        """Embed the next few passages; False when there is nothing to embed."""
        encoder = await self.encoder()
        if encoder is None:
            return False
        missing = await self._library.read(lambda c: vectors.missing_inputs(c, encoder, EMBED_BATCH))
        if not missing:
            return False
        await self._models.quiet()
        try:
            await self._embed_batch(encoder, missing)
        except BadVector:
            # One of them has no usable vector: find out which, so that the others get theirs.
            for item in missing:
                await self._embed_alone(encoder, item)
        self._last_work = time.monotonic()
        await self._progress.notify()
        return True

    async def _embed_batch(self, encoder: int, missing: list[tuple[bytes, str]]) -> None:
        rows = await self._models.embed([text for _, text in missing], query=False)

        def store(connection: Connection) -> None:
            vectors.add_vectors(connection, encoder, [key for key, _ in missing], rows)
            counters.bump(connection, "passage_embeddings", len(missing))

        await self._library.write(store)

    async def _embed_alone(self, encoder: int, item: tuple[bytes, str]) -> None:
        try:
            await self._embed_batch(encoder, [item])
        except BadVector as error:
            reason = str(error)
            await self._library.write(lambda c: vectors.skip_inputs(c, encoder, [item[0]], reason))


def _clean_up(connection: Connection) -> None:
    """What a killed daemon left half done is dropped or waits again."""
    contents.discard_staged(connection)
    jobs.release_claimed(connection)
    for document in documents.list_documents(connection):
        # A kill between two transactions can leave a pending document without its job.
        if document.status is Status.PENDING:
            jobs.enqueue(connection, INDEX, str(document.id), PRIORITY)


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


def _outermost(paths: set[bytes]) -> list[bytes]:
    """The paths that lie under no other one of them."""
    kept: list[bytes] = []
    for path in sorted(paths):
        if not kept or not path.startswith(kept[-1] + b"/"):
            kept.append(path)
    return kept
