"""Runs the jobs of reading files; one that fails again and again is put aside, and stops no other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial

from mindscape.daemon.children import ChildDied, Pool
from mindscape.daemon.scanner import INDEX
from mindscape.errors import MindscapeError
from mindscape.ingest.pipeline import Indexer
from mindscape.ingest.staging import Unsettled
from mindscape.library import Library
from mindscape_storage import documents, jobs, roots
from mindscape_storage.database import Connection
from mindscape_storage.records import Job, Root, Status

log = logging.getLogger(__name__)

ATTEMPTS = 2
"""A file that ends its worker so often is put aside with the reason."""
WITHOUT_END = 1_000_000
"""Attempts at a file that is changing: that says nothing against it."""
GROUP = 32
"""Small files that one worker reads at a time: a call for each would cost more than reading it."""
GROUP_BYTES = 256 << 10


class Indexing:
    """Brings documents to tier searchable. `scan` looks at some paths of a root; `again` when a job is to be
    tried again."""

    def __init__(
        self,
        library: Library,
        workers: Pool,
        seconds: float,
        scan: Callable[[Root, Sequence[bytes]], Awaitable[None]],
        again: Callable[[], None],
    ) -> None:
        self._library = library
        self._workers = workers
        self._seconds = seconds
        self._scan = scan
        self._again = again
        self._indexer = Indexer(library)

    async def claim(self) -> dict[int, Job]:
        """The next jobs, by their documents: small files together, others, and those that failed, alone."""
        return await self._library.write(_claim)

    async def run(self, held: dict[int, Job]) -> None:
        """Run jobs, by their documents; those that are settled leave `held`.

        Raises StorageError or OSError when that cannot be done now.
        """
        wanted = {number: partial(_finish, job_id=job.id) for number, job in held.items()}
        try:
            async with self._workers.lend() as child:
                changing = await self._indexer.index(wanted, partial(child.call, seconds=self._seconds))
        except MindscapeError as error:
            _keep(held, wanted)
            await self._failed(held, error)
        else:
            _keep(held, wanted)
            for number, unsettled in changing.items():
                await self._look_again(held[number], number, unsettled)
                del held[number]

    async def _failed(self, held: dict[int, Job], error: MindscapeError) -> None:
        """A worker died, or could not parse. Which file it was is seen when each is read by itself."""
        if len(held) > 1:
            for number, job in list(held.items()):
                await self.run({number: job})
                del held[number]
            return
        for number, job in held.items():
            log.warning("document %d: %s", number, error)
            if not await self._retry(job, str(error), 0.0, ATTEMPTS):
                await self._quarantine(number, error)
        held.clear()

    async def _look_again(self, job: Job, document_id: int, unsettled: Unsettled) -> None:
        """The file changes or is not there: let the disk say which, and try again after a moment."""
        document = await self._library.read(lambda c: documents.get_document(c, document_id))
        if document is not None:
            for root in await self._library.read(roots.list_roots):
                if root.id == document.root_id:
                    await self._scan(root, [document.path])
            document = await self._library.read(lambda c: documents.get_document(c, document_id))
        if document is None or document.status is Status.AWAY:
            # There is nothing to read; when it returns, the scan that sees it asks for it again.
            await self._library.write(lambda c: jobs.finish_job(c, job.id))
            return
        await self._retry(job, str(unsettled), unsettled.seconds, WITHOUT_END)

    async def _retry(self, job: Job, reason: str, delay: float, attempts: int) -> bool:
        kept = await self._library.write(lambda c: jobs.retry_job(c, job.id, reason, delay, attempts))
        asyncio.get_running_loop().call_later(delay + 0.01, self._again)
        return kept

    async def _quarantine(self, document_id: int, error: MindscapeError) -> None:
        kind = "ended the process that parsed it" if isinstance(error, ChildDied) else "could not be parsed"
        reason = f"It {kind} {ATTEMPTS} times and was put aside. {error} It is tried again when it changes."

        def settle(connection: Connection) -> None:
            document = documents.get_document(connection, document_id)
            if document is not None:
                documents.finish(connection, document_id, document.stat, Status.QUARANTINED, reason, None)

        await self._library.write(settle)


def _claim(connection: Connection) -> dict[int, Job]:
    group: dict[int, Job] = {}
    size = 0
    while len(group) < GROUP and (job := jobs.claim(connection, (INDEX,))):
        document = documents.get_document(connection, int(job.key))
        size += document.stat.size if document else 0
        alone = size > GROUP_BYTES or job.attempts > 1
        if alone and group:
            jobs.put_back(connection, job.id)
            break
        group[int(job.key)] = job
        if alone:
            break
    return group


def _finish(connection: Connection, job_id: int) -> None:
    jobs.finish_job(connection, job_id)


def _keep(held: dict[int, Job], wanted: Collection[int]) -> None:
    for number in held.keys() - set(wanted):
        del held[number]
