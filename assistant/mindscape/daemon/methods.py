"""What clients may call: one short function a method, in the order of `protocol`'s table."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from mindscape import __version__, protocol
from mindscape.ask.evidence import coverage, search_results
from mindscape.ask.followup import FillFn
from mindscape.ask.pipeline import Writer, ask
from mindscape.ask.retrieve import resolve_scope, retrieve, shorten, up_to
from mindscape.daemon import folders, listing, parameters, pausing, places, tree
from mindscape.daemon.conversations import Conversations
from mindscape.daemon.disk import place_check
from mindscape.daemon.models import Models
from mindscape.daemon.progress import Progress
from mindscape.daemon.scheduler import Scheduler
from mindscape.daemon.waiting import Waiting
from mindscape.daemon.whole import asked_about
from mindscape.errors import MindscapeError, NotFound, Refused, UsageError
from mindscape.ingest import ocr
from mindscape.ingest.mounts import mounted
from mindscape.ingest.scan import is_ignored
from mindscape.library import Library
from mindscape.paths import Paths
from mindscape.protocol import Json
from mindscape.rpc import Stream
from mindscape.text import display_path
from mindscape_models.catalogue import NEEDED
from mindscape_storage import check, choices, counters, documents, jobs, roots
from mindscape_storage.compact import compact, scrub
from mindscape_storage.database import Connection
from mindscape_storage.errors import StorageError
from mindscape_storage.folders import not_summarised
from mindscape_storage.records import Root, Scope
from mindscape_storage.refined import not_refined

Handled = Callable[[Json, Stream], Awaitable[Any]]

_CATCHING_UP = (
    "The folders are being compared with the disk since the start: what changed meanwhile may still be "
    "missing here, or be told as it was."
)
_PAUSED = "Background work is paused, so what has changed meanwhile is told as it was: mindscape resume"


class Methods:
    """The daemon's side of the protocol."""

    def __init__(
        self,
        library: Library,
        scheduler: Scheduler,
        models: Models,
        progress: Progress,
        paths: Paths,
        stopping: asyncio.Event,
    ) -> None:
        self._library = library
        self._scheduler = scheduler
        self._models = models
        self._progress = progress
        self._paths = paths
        self._stopping = stopping
        waiting = Waiting(scheduler, progress, self._status)
        self._conversations = Conversations(library)
        self._methods: dict[str, Handled] = {
            "hello": self._hello,
            "add": self._add,
            "rm": self._rm,
            "ls": self._ls,
            "status": self._status,
            "wait": waiting.wait,
            "subscribe": waiting.subscribe,
            "search": self._search,
            "get": self._get,
            **{name: self._reading(read) for name, read in tree.METHODS.items()},
            "ask": self._ask,
            **self._conversations.methods,
            "models.list": self._models_list,
            "models.use": self._models_use,
            "doctor": self._doctor,
            "shutdown": self._shutdown,
            **pausing.methods(scheduler.gate),
        }

    async def handle(self, method: str, params: Json, stream: Stream) -> Any:
        """Dispatch one request. Raises MindscapeError; a wrong parameter is a UsageError."""
        found = self._methods.get(method)
        if found is None:
            error = UsageError(f"There is no method {method!r}. There are: {', '.join(self._methods)}.")
            error.rpc_code = protocol.METHOD_NOT_FOUND
            raise error
        try:
            return await found(params, stream)
        except StorageError as error:
            raise Refused(str(error)) from error

    async def _hello(self, params: Json, stream: Stream) -> Json:
        del params, stream
        return {"protocol": protocol.PROTOCOL, "version": __version__, "pid": os.getpid()}

    async def _add(self, params: Json, stream: Stream) -> Json:
        del stream
        by_ocr = None if params.get("ocr") is None else parameters.boolean(params, "ocr")
        if by_ocr and not ocr.installed():
            raise Refused(f"{ocr.how_to_install()}, then try again.")
        added: list[Root] = []
        for path in parameters.paths(params):
            real = await asyncio.to_thread(os.path.realpath, path)
            if not await asyncio.to_thread(os.path.exists, real):
                raise NotFound(
                    f"There is no file or folder {display_path(path)}. Nothing was added after it."
                )
            root = await self._add_root(real, by_ocr)
            added.append(root)
            self._scheduler.scan_soon(root)
        await self._progress.notify()
        return {"folders": [_folder(root) for root in added]}

    async def _add_root(self, path: bytes, by_ocr: bool | None) -> Root:
        """Watch a path; inside a watched folder it is covered already, around one it takes that one over.

        `by_ocr` is whether OCR reads it, None leaves that as it is.
        """
        known = await self._library.read(roots.list_roots)
        for root in known:
            if root.path == path or (_inside(path, root.path) and not self._left_out(root.path, path)):
                folders.check_covering(root, path, by_ocr)
                return await self._set_ocr(root, by_ocr)
        covered = [r for r in known if _inside(r.path, path) and not self._left_out(path, r.path)]
        folders.check_covered(covered, path, by_ocr)

        def add(connection: Connection) -> Root:
            new = roots.add_root(connection, path)
            for root in covered:
                roots.absorb_root(connection, root.id, new.id)
            return new

        return await self._set_ocr(await self._library.write(add), by_ocr)

    async def _set_ocr(self, root: Root, by_ocr: bool | None) -> Root:
        if by_ocr is None:
            return root
        changed = await self._library.write(lambda c: folders.set_ocr(c, root, on=by_ocr))
        self._scheduler.nudge()
        return changed

    def _left_out(self, root: bytes, path: bytes) -> bool:
        return is_ignored(root, self._scheduler.scanner.rules(root), path)

    async def _rm(self, params: Json, stream: Stream) -> Json:
        del stream
        forget = parameters.boolean(params, "forget")
        known = {root.path: root for root in await self._library.read(roots.list_roots)}
        chosen: list[Root] = []
        strange: list[str] = []
        for path in parameters.paths(params):
            root = known.get(path) or known.get(await asyncio.to_thread(os.path.realpath, path))
            if root is None and forget:
                strange.append(display_path(path))
                continue
            if root is None:
                listed = ", ".join(display_path(p) for p in known) or "none"
                raise NotFound(f"{display_path(path)} is not watched. Watched: {listed}.")
            chosen.append(root)
        for root in chosen:
            await self._scheduler.scanner.remove_root(root, forget=forget)
        if strange:
            # It may have been removed before, and what was kept of it goes only now.
            await self._scheduler.scanner.forget_left()
        if forget:
            await self._library.maintain(scrub)
            await self._library.maintain(compact)
        await self._progress.notify()
        return {"removed": sum(root.documents for root in chosen), "not_watched": strange}

    async def _ls(self, params: Json, stream: Stream) -> Json:
        del params, stream
        return {"documents": await self._library.read(listing.every_document)}

    async def _status(self, params: Json, stream: Stream) -> Json:
        del params, stream
        encoder = await self._scheduler.encoder()

        def read(connection: Connection) -> Json:
            return {
                "documents": _counted(connection, encoder),
                "jobs": jobs.job_counts(connection),
                "folders": [_folder(root) for root in roots.list_roots(connection)],
                "work": counters.read_counters(connection),
            }

        answer = await self._library.read(read)
        answer["models"] = {kind: self._models.shown(kind) for kind in ("embedder", "generator")}
        return {**answer, **await self._scheduler.outlook()}

    async def _search(self, params: Json, stream: Stream) -> Json:
        del stream
        began = time.perf_counter()
        query, k = parameters.text(params, "query"), parameters.count(params, "k", 10)
        scope, tag = parameters.optional_text(params, "scope"), parameters.optional_text(params, "tag")
        since, upto = parameters.day(params, "since"), places.reading(params)
        with self._models.interactive():
            encoder = await self._scheduler.encoder()
            vector, missing = None, None
            if query.strip() and encoder is not None:
                try:
                    vector = (await self._models.embed([shorten(query)], query=True))[0]
                except MindscapeError as error:
                    missing = str(error)

            def read(connection: Connection) -> Json:
                limits = resolve_scope(connection, scope)
                limits = limits if upto is None else up_to(limits, *upto(connection))
                inside = replace(limits or Scope(), tag=tag, since=since)
                allowed = None if inside == Scope() else inside
                ranked = retrieve(connection, query, vector, encoder, k, allowed, packed)
                return {
                    "results": search_results(connection, ranked, allowed, shorten(query)),
                    "coverage": coverage(
                        connection, encoder, vector is not None, has_query=bool(query.strip())
                    ),
                }

            packed = self._scheduler.packed(encoder)
            found = await self._library.read(read)
        if missing:
            found["coverage"]["notes"].append(missing)
        found["coverage"]["notes"] += self._catching_up()
        return {"query": query, "took_ms": round((time.perf_counter() - began) * 1000, 1), **found}

    def _catching_up(self) -> list[str]:
        """What to say in answers until the folders have been looked at since the start, or while paused."""
        notes = [] if self._scheduler.compared else [_CATCHING_UP]
        return [*notes, _PAUSED] if self._scheduler.gate.paused else notes

    async def _get(self, params: Json, stream: Stream) -> Json:
        del stream
        place = parameters.text(params, "place")
        return await self._library.read(lambda connection: places.get(connection, place))

    def _reading(self, read: Callable[[Connection, Json], Json]) -> Handled:
        async def handle(params: Json, stream: Stream) -> Json:
            del stream
            return await self._library.read(lambda connection: read(connection, params))

        return handle

    async def _ask(self, params: Json, stream: Stream) -> Json:
        question, mode = (
            parameters.text(params, "question"),
            parameters.optional_text(params, "mode") or "auto",
        )
        scope, upto = parameters.optional_text(params, "scope"), parameters.optional_text(params, "upto")
        pieces: asyncio.Queue[Json | None] = asyncio.Queue()
        catching_up = self._catching_up()
        talk = await self._conversations.resume(params)

        async def forward() -> None:
            while (piece := await pieces.get()) is not None:
                await stream(piece)

        with self._models.interactive():
            encoder = await self._scheduler.encoder()
            forwarding = asyncio.create_task(forward())
            try:
                answer = await ask(
                    question,
                    scope=scope,
                    mode=mode,
                    read=self._library.read,
                    embed_query=None if encoder is None else self._embed_questions,
                    writer=await self._writer(),
                    emit=pieces.put_nowait if params.get("stream", True) else lambda _: None,
                    encoder_id=encoder,
                    packed=self._scheduler.packed(encoder),
                    upto=places.reading(params),
                    conditioning=self._models.conditioning(),
                    before=() if talk is None else talk.before,
                    rewriter=self._rewriter(),
                    whole=lambda c, about: asked_about(c, scope, upto, about),
                )
                answer["coverage"]["notes"] += catching_up
                return {**answer, "conversation": await self._conversations.save(talk, answer)}
            finally:
                pieces.put_nowait(None)
                await forwarding

    async def _embed_questions(self, texts: list[str]) -> Any:
        return await self._models.embed(texts, query=True)

    async def _writer(self) -> Writer | None:
        """The generator, opened, when it was measured good enough; None means quoting mode."""
        bundle = self._models.writer()
        if bundle is None:
            return None
        opened = await self._models.open_writer(bundle)

        async def generate(messages: list[dict[str, str]], max_tokens: int) -> AsyncGenerator[str]:
            async with aclosing(self._models.generate(messages, max_tokens)) as pieces:
                async for piece in pieces:
                    yield piece

        return Writer(opened["name"], generate, opened["context"], opened["prompt_tokens_per_second"])

    def _rewriter(self) -> FillFn | None:
        """How the generator rewrites a question, when it was measured good enough."""
        bundle = self._models.rewriter()
        if bundle is None:
            return None

        async def fill(messages: list[dict[str, str]], max_tokens: int, schema: Json) -> str:
            await self._models.open_writer(bundle)
            async with aclosing(self._models.generate(messages, max_tokens, schema)) as pieces:
                return "".join([piece async for piece in pieces])

        return fill

    async def _models_list(self, params: Json, stream: Stream) -> Json:
        del params, stream
        return {"models": [{**row, "needed": NEEDED} for row in self._models.listed()]}

    async def _models_use(self, params: Json, stream: Stream) -> Json:
        del stream
        if (path := parameters.optional_text(params, "path")) is not None:
            if "\0" in path:
                raise UsageError("A path holds no NUL character.")
            name = (await self._models.install(Path(path))).name
        else:
            name = parameters.text(params, "name")
        bundle = self._models.choose(name)
        await self._library.write(lambda c: choices.choose_model(c, bundle.kind, bundle.name))
        await self._scheduler.models_changed()
        row = next(row for row in self._models.listed() if row["name"] == bundle.name)
        return {**row, "needed": NEEDED}

    async def _doctor(self, params: Json, stream: Stream) -> Json:
        del stream
        repair = parameters.boolean(params, "repair")

        def run(connection: Connection) -> list[Json]:
            found = check.repair(connection) if repair else check.run_checks(connection, self._paths.database)
            return [{"name": c.name, "state": c.state, "message": c.message, "fix": c.fix} for c in found]

        if repair:
            found = await self._library.maintain(run)
            self._scheduler.nudge()
        else:
            found = await self._library.read(run)
        place = place_check(self._paths.database, await asyncio.to_thread(mounted))
        return {"checks": [*found, place, *self._models.checks()]}

    async def _shutdown(self, params: Json, stream: Stream) -> Json:
        del params, stream
        asyncio.get_running_loop().call_later(0.05, self._stopping.set)
        return {}


def _folder(root: Root) -> Json:
    return {
        "path": display_path(root.path),
        "mode": root.mode,
        "reason": root.reason,
        "documents": root.documents,
        "ocr": root.ocr,
    }


def _counted(connection: Connection, encoder: int | None) -> Json:
    """Documents by tier and by status; tiers that are not built have none."""
    counted = documents.counts(connection, encoder)
    behind = not_summarised(connection)
    summarised = counted["searchable"] - len(behind)
    unrefined = not_refined(connection)
    refined = 0 if unrefined is None else counted["searchable"] - len(behind | unrefined)
    not_built = {tier: 0 for tier in protocol.TIERS if tier not in protocol.READY_TIERS}
    return {**counted, "summarised": summarised, **not_built, "refined": refined}


def _inside(path: bytes, folder: bytes) -> bool:
    return path.startswith(folder.rstrip(b"/") + b"/")
