"""Background work: index, embed, summarise and refine. What is to be done is derived from what is stored."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable

from mindscape.config import Settings
from mindscape.daemon.children import Pool
from mindscape.daemon.embedding import Embedding
from mindscape.daemon.estimate import Estimate
from mindscape.daemon.indexing import Indexing
from mindscape.daemon.models import Models
from mindscape.daemon.pausing import Gate, Paused
from mindscape.daemon.progress import Progress
from mindscape.daemon.refiner import Refiner
from mindscape.daemon.scanner import INDEX, PRIORITY, Scanner
from mindscape.daemon.summariser import Summariser
from mindscape.errors import MindscapeError
from mindscape.ingest.summarise import VERSION
from mindscape.library import Library
from mindscape.protocol import Json
from mindscape_storage import (
    contents,
    documents,
    folders,
    jobs,
    memo,
    nodes,
    refined,
    summaries,
)
from mindscape_storage.compact import compact
from mindscape_storage.database import Connection, checkpoint
from mindscape_storage.errors import StorageError
from mindscape_storage.packed import PackedVectors
from mindscape_storage.records import Job, Root, Status

log = logging.getLogger(__name__)

SHARE = 10
"""One part in so many of the time goes into vectors, and one into summaries, while files are read."""
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
        gate: Gate,
    ) -> None:
        self._library = library
        self._settings = settings
        self._workers = workers
        self._worker_count = worker_count
        self._models = models
        self._progress = progress
        self.gate = gate
        self._estimate = Estimate(library)
        self._jobs = asyncio.Event()
        self._embed = asyncio.Event()
        self._summarise = asyncio.Event()
        self._refine = asyncio.Event()
        self._again = asyncio.Event()
        self._embedded = asyncio.Event()
        self._summarised = asyncio.Event()
        self._reading: set[str] = set()
        self._at_rest = asyncio.Event()
        self._embedding = Embedding(library, models, self._estimate.embedding, gate.heavy, self._gently)
        self._summariser = Summariser(
            library, workers, settings.parse_seconds, self._estimate.summarising, self._gently
        )
        self._refiner = Refiner(
            library,
            models,
            self._estimate,
            gate,
            progress,
            self._all_else,
            lambda: time.monotonic() - self._last_work,
        )
        self._soon: set[asyncio.Task[None]] = set()
        self._last_work = self._reconciled = time.monotonic()
        self.compared = False
        """Whether every folder has been compared with the disk since the start."""
        self._troubles: dict[str, tuple[int, str]] = {}
        self.scanner = Scanner(library, settings, progress, self._jobs.set)
        self._indexing = Indexing(
            library, workers, settings.parse_seconds, self.scanner.scan_root, self._jobs.set
        )

    @property
    def trouble(self) -> str | None:
        """Why work does not go on, for `status`; None when it does, or has failed only once."""
        return next((reason for times, reason in self._troubles.values() if times > 1), None)

    async def run(self) -> None:
        """All loops, until cancelled."""
        try:
            await self._persist("start", self._begin)
            async with asyncio.TaskGroup() as group:
                group.create_task(self._forever("watch", self.scanner.follow))
                group.create_task(self._forever("remove", self.scanner.clear_away))
                group.create_task(self._forever("timer", self._tick))
                group.create_task(self._unless_paused("embed", self._embed_some))
                group.create_task(self._unless_paused("summarise", self._summarise_some))
                group.create_task(self._unless_paused("refine", self._refine_some))
                for number in range(self._worker_count):
                    group.create_task(self._index_loop(f"index {number}"))
                await self._persist("scan", self.scanner.scan_all)
                self.compared = True
        finally:
            self.scanner.stop()

    async def _begin(self) -> None:
        await self._library.write(_clean_up)
        await self._refiner.adopt()

    async def _forever(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._persist(name, work)

    async def _unless_paused(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self.gate.opened()
            with contextlib.suppress(Paused):
                await self._persist(name, work)

    async def _persist(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do `work`; while a full disk, a damaged page or a dead engine prevents it, say so and try again."""
        pause = 1.0
        while True:
            try:
                await work()
            except (MindscapeError, StorageError, OSError) as error:
                self._troubles[name] = (self._troubles.get(name, (0, ""))[0] + 1, str(error))
                log.warning("%s: %s", name, error)
                await self._progress.notify()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._again.wait()
                pause = min(pause * 2, LONGEST_PAUSE)
            else:
                await self._well(name)
                return

    async def _well(self, name: str) -> None:
        """Nothing stands in the way of this work any more."""
        if self._troubles.pop(name, None):
            await self._progress.notify()

    async def can_refine(self) -> bool:
        """Whether there is a model that writes summaries; it is the one that is waited for from now on."""
        return await self._refiner.adopt() is not None

    async def encoder(self) -> int | None:
        """Id of the passage encoder in use; None when there is no embedder. Starts no engine."""
        return await self._embedding.encoder()

    def packed(self, encoder: int | None) -> PackedVectors | None:
        """The copy in memory of an encoder's vectors, shared by all readers."""
        return self._embedding.packed(encoder)

    async def standing(self, tier: str) -> tuple[int, int]:
        """(documents done at the tier, documents): a final status other than ok counts as done.

        For `summarised` and `refined` the folders that are still to be gone through count too.
        """
        encoder = await self.encoder()
        counted = await self._library.read(lambda c: documents.counts(c, encoder))
        done = counted["total"] - counted["by_status"].get(Status.PENDING, 0)
        if tier == "embedded":
            done -= counted["searchable"] - counted["embedded"]
        if tier in ("summarised", "refined"):
            behind, changed = await self._library.read(
                lambda c: (folders.documents_behind(c), folders.folders_behind(c))
            )
            if tier == "refined":
                trees = await self._library.read(refined.left)
                if trees is not None:
                    behind, changed = behind + trees.contents, changed + trees.folders
            return done - behind, counted["total"] + changed
        return done, counted["total"]

    async def outlook(self) -> Json:
        """Of `status`: whether work is paused or held, how much is left, and what stands in its way."""
        left = await self._estimate.left(await self.encoder())
        shown: Json = {"paused": self.gate.paused, "held": self.gate.held, "work_left": left}
        return {**shown, "trouble": self.trouble} if self.trouble else shown

    async def seconds_left(self, tier: str) -> float | None:
        """Until all is at the tier, about, at the pace of this run; None when that is not known."""
        left = await self._estimate.left(await self.encoder(), lately=True)
        return left[tier]["seconds"] if tier in left else None

    def nudge(self) -> None:
        """Something outside changed: look for work again, also for what failed and would be tried later."""
        self._jobs.set()
        self._look_for_more()
        self._again.set()
        self._again.clear()

    async def models_changed(self) -> None:
        """Another model was chosen: what was wrong with the one before is over."""
        for work in ("embed", "refine"):
            self._troubles.pop(work, None)
        await self._refiner.adopt()
        self.nudge()

    def _look_for_more(self) -> None:
        """There may be something to embed, to summarise or to refine."""
        for begin in (self._embed, self._summarise, self._refine):
            begin.set()
        self._embedded.clear()
        self._summarised.clear()
        self.gate.reconsider()

    def scan_soon(self, root: Root) -> None:
        """Scan a root in the background."""
        task = asyncio.create_task(self._persist("scan", lambda: self.scanner.scan_root(root)))
        self._soon.add(task)
        task.add_done_callback(self._soon.discard)

    async def _tick(self) -> None:
        """Poll what gives no events, reconcile everything now and then, and let go of what is not used."""
        await asyncio.sleep(self._settings.poll_seconds or 60)
        now = time.monotonic()
        if now - self._reconciled > self._settings.reconcile_minutes * 60:
            self._reconciled = now
            await self.scanner.reconcile()
        else:
            await self.scanner.poll()
        idle = self._settings.idle_minutes * 60
        await self._models.stop_if_idle(idle)
        if now - self._models.last_used > idle:
            self._embedding.let_go()
        if now - self._last_work > idle:
            await self._workers.stop_idle()
            await self._library.write(_purge)
            await self._library.maintain(checkpoint)
            await self._library.maintain(compact)

    # --- indexing ---

    async def _index_loop(self, name: str) -> None:
        held: dict[int, Job] = {}

        async def next_jobs() -> None:
            self.gate.check()
            if not held:
                self._jobs.clear()
                held.update(await self._indexing.claim())
            if not held:
                self._reading.discard(name)
                if not self._reading:
                    self._at_rest.set()
                    self._look_for_more()
                await self._well(name)
                await self._jobs.wait()
                return
            self._reading.add(name)
            self._at_rest.clear()
            # A StorageError says nothing against the documents: the jobs are held and tried again.
            await self._indexing.run(held)
            self._last_work = time.monotonic()
            self._look_for_more()
            await self._progress.notify()

        await self._unless_paused(name, next_jobs)

    # --- embedding and summarising ---

    async def _embed_some(self) -> None:
        """Embed the next few passages, or wait until there are some."""
        self._embed.clear()
        embedded = await self._embedding.some()
        if embedded is None:
            await self.gate.nothing_left("embed")
            await self._well("embed")
            self._embedded.set()
            await self._embed.wait()
        elif embedded:
            self._last_work = time.monotonic()
            await self._progress.notify()

    async def _gently(self, seconds: float) -> None:
        """Before a batch that takes so long: wait while a question is answered, longer while files are read.

        Reading gets most of the time, for first words find every file. Raises Paused.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds * (SHARE - 1)):
                await self._at_rest.wait()
        await self._models.quiet()
        self.gate.check()

    async def _summarise_some(self) -> None:
        """Make the next few trees of documents or folders, or wait until there are some."""
        self._summarise.clear()
        if not await self._summariser.some(upwards=self._at_rest.is_set()):
            await self._well("summarise")
            self._summarised.set()
            await self._summarise.wait()
            return
        self._last_work = time.monotonic()
        self._refine.set()
        await self._progress.notify()

    async def _refine_some(self) -> None:
        """Let a model go through the next tree, or wait until there is one."""
        self._refine.clear()
        if not await self._refiner.some():
            await self.gate.nothing_left("refine")
            await self._well("refine")
            await self._refine.wait()
            return
        self._summarise.set()  # a tree that turned out to be damaged is made again
        await self._progress.notify()

    async def _all_else(self) -> None:
        """Wait until nothing is left to read, to embed or to summarise."""
        for done in (self._at_rest, self._embedded, self._summarised):
            await done.wait()


def _purge(connection: Connection) -> None:
    """Let go of what has been unused for long."""
    now = int(time.time())
    memo.purge_memo(connection, now)
    summaries.purge_summaries(connection, now)


def _clean_up(connection: Connection) -> None:
    """What a killed daemon left half done is dropped or waits again."""
    contents.discard_staged(connection)
    folders.place_documents(connection)
    nodes.outdate(connection, VERSION)
    nodes.retry_failed(connection)
    jobs.release_claimed(connection)
    for document in documents.list_documents(connection):
        # A kill between two transactions can leave a pending document without its job.
        if document.status is Status.PENDING:
            jobs.enqueue(connection, INDEX, str(document.id), PRIORITY)
