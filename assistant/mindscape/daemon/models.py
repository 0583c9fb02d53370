"""The models in use: which bundles there are, which are chosen, and calling them in the engine process."""

from __future__ import annotations

import asyncio
import base64
import logging
import time
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mindscape.ask.conditioning import Conditioning
from mindscape.daemon.children import Child, ChildDied
from mindscape.errors import MindscapeError, NotFound, Refused
from mindscape.protocol import Json
from mindscape_models.bundle import Bundle, find_bundles, open_bundle, shipped_folder
from mindscape_models.catalogue import (
    ANSWER,
    REWRITE,
    SUMMARISE,
    adopt,
    discard,
    grade,
    installed_folder,
    pick,
    recognise,
)
from mindscape_models.errors import BundleError, ModelError
from mindscape_models.exam import ExamResult
from mindscape_models.summary_exam import SummaryResult

log = logging.getLogger(__name__)

EMBED_SECONDS = 300.0
"""For one small batch: an engine that takes longer hangs, and is started again."""


class Models:
    """Calls to the engine, which is started when first needed and opens models as they are asked for."""

    def __init__(self, engine: Child, own_folder: Path, chosen: dict[str, str]) -> None:
        self._engine = engine
        self._folders = (own_folder, shipped_folder(), installed_folder())
        self._chosen = chosen
        self._broken: list[BundleError] = []
        self._bundles: list[Bundle] = []
        self.look()
        self._opened: dict[str, tuple[int, str, Json]] = {}
        self._opening: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._conditioning: tuple[str, Conditioning] | None = None
        self._calls = 0
        self._writing = asyncio.Lock()
        self._telling: set[asyncio.Task[None]] = set()
        self._busy = 0
        self._quiet = asyncio.Event()
        self._quiet.set()
        self.last_used = time.monotonic()

    def look(self) -> None:
        """Read the manifests again: a user may have put a bundle into the folder."""
        self._broken = []
        self._bundles = find_bundles(*self._folders, broken=self._broken)

    def chosen(self, kind: str) -> Bundle | None:
        """The bundle in use for a kind: the user's choice, else the first that is measured good, else any."""
        return pick(self._bundles, kind, self._chosen.get(kind))

    def choose(self, name: str) -> Bundle:
        """Use a bundle from now on. Raises NotFound with the names there are."""
        self.look()
        for bundle in self._bundles:
            if bundle.name == name:
                self._chosen[bundle.kind] = name
                return bundle
        names = ", ".join(bundle.name for bundle in self._bundles)
        raise NotFound(f"There is no model {name!r}. There are: {names}.")

    async def install(self, file: Path) -> Bundle:
        """Make a bundle of a GGUF file. One that the catalogue does not know sits the exams first."""
        if await asyncio.to_thread(lambda: file.exists() and not file.is_file()):
            raise Refused(f"{file} is not a regular file.")
        try:
            known = await asyncio.to_thread(recognise, file)
            bundle = await asyncio.to_thread(adopt, file, self._folders[0])
            return bundle if known is not None else await self._examined(bundle)
        except OSError as error:
            raise NotFound(f"{file} cannot be read: {error.strerror}.") from error
        except ModelError as error:
            raise Refused(str(error)) from error

    async def _examined(self, bundle: Bundle) -> Bundle:
        """The bundle with what the exams found; one that was not tried to the end does not stay."""
        try:
            await self._open("open_generator", bundle)
            found = await self._call("examine", {})
            return grade(bundle, ExamResult(**found["answers"]), SummaryResult(**found["summaries"]))
        except BaseException as error:
            # Also where nobody waited for the end: nothing would say what the model may do.
            discard(bundle)
            if isinstance(error, ChildDied):
                raise Refused(
                    f"{bundle.name} was tried, and the process that runs models ended. It may be damaged, or "
                    "of a kind that cannot be used here; it was not kept."
                ) from error
            raise

    @contextmanager
    def interactive(self) -> Generator[None]:
        """While a question is being answered, background work waits."""
        self._busy += 1
        if self._busy == 1:
            self._quiet.clear()
            self._tell_writer("hold")
        try:
            yield
        finally:
            self._busy -= 1
            if not self._busy:
                self._quiet.set()
                self._tell_writer("go_on")

    async def quiet(self) -> None:
        """Wait until no question is being answered."""
        while self._busy:
            await self._quiet.wait()

    async def embedder(self) -> Json | None:
        """{"name", "dimensions", "device"} of the open embedder; None when there is none."""
        bundle = self.chosen("embedder")
        return None if bundle is None else await self._open("open_embedder", bundle)

    async def embed(
        self, texts: list[str], *, query: bool, mindscapes: Sequence[Sequence[str]] | None = None
    ) -> NDArray[np.float32]:
        """Vectors (n, dimensions) of passages or, each with its mindscape if there are any, of questions.

        A mindscape is a list of summaries, best first. Raises MindscapeError when there is no embedder or it
        failed.
        """
        if not query:
            return (await self._vectors("embed", {"texts": texts}, "vectors"))[0]
        params = {"texts": texts, "mindscapes": mindscapes}
        return (await self._vectors("embed_queries", params, "vectors"))[0]

    def conditioning(self) -> Conditioning | None:
        """How the embedder in use takes in what a question is about; None for one that does not."""
        bundle = self.chosen("embedder")
        if bundle is None or bundle.encoder is None or bundle.encoder.mindscape == "none":
            return None
        if self._conditioning is None or self._conditioning[0] != bundle.encoder_name:
            found = Conditioning(
                lambda texts: self.embed(texts, query=False),
                lambda texts, mindscapes: self.embed(texts, query=True, mindscapes=mindscapes),
            )
            self._conditioning = bundle.encoder_name, found
        return self._conditioning[1]

    async def query_states(
        self, texts: list[str], mindscapes: Sequence[Sequence[str]]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """(h_q, h_t), each (n, dimensions): see `Embedder.query_states`. Raises what `embed` raises."""
        params = {"texts": texts, "mindscapes": mindscapes}
        alone, conditioned = await self._vectors("query_states", params, "alone", "conditioned")
        return alone, conditioned

    async def _vectors(self, method: str, params: Json, *names: str) -> list[NDArray[np.float32]]:
        opened = await self.embedder()
        if opened is None:
            raise Refused("No embedder is installed.")
        answer = await self._call(method, params, seconds=EMBED_SECONDS)
        return [
            np.frombuffer(base64.b64decode(answer[name]), dtype=np.float32).reshape(-1, opened["dimensions"])
            for name in names
        ]

    def writer(self) -> Bundle | None:
        """The generator, if it was measured good enough to answer."""
        bundle = self.chosen("generator")
        return bundle if bundle is not None and ANSWER in bundle.capabilities else None

    async def open_writer(self, bundle: Bundle) -> Json:
        """{"name", "context", "device", "prompt_tokens_per_second"} of the open generator."""
        return await self._open("open_generator", bundle)

    def rewriter(self) -> Bundle | None:
        """The generator, if it was measured good enough to rewrite questions."""
        bundle = self.chosen("generator")
        return bundle if bundle is not None and REWRITE in bundle.capabilities else None

    async def generate(
        self, messages: list[dict[str, str]], max_tokens: int, schema: Json | None = None
    ) -> AsyncGenerator[str]:
        """Pieces of the answer, of JSON with a schema; closing the iterator stops the model."""
        pieces: asyncio.Queue[str | None] = asyncio.Queue()

        def take(piece: Json) -> None:
            pieces.put_nowait(piece.get("token", ""))

        call = asyncio.create_task(
            self._call("generate", {"messages": messages, "max_tokens": max_tokens, "schema": schema}, take)
        )
        call.add_done_callback(lambda _: pieces.put_nowait(None))
        try:
            while (piece := await pieces.get()) is not None:
                yield piece
            await call
        finally:
            if not call.done():
                call.cancel()
                await asyncio.wait([call])

    def summariser(self) -> Bundle | None:
        """The generator, if it was measured good enough to write summaries."""
        bundle = self.chosen("generator")
        return bundle if bundle is not None and SUMMARISE in bundle.capabilities else None

    async def write_in_background(
        self, bundle: Bundle, messages: list[dict[str, str]], max_tokens: int
    ) -> str:
        """The whole text the bundle writes, one call at a time; it stands still while a question is answered.

        Cancelling stops the model within a step. Raises MindscapeError when the model cannot be opened or
        failed, ChildDied when its process ended.
        """
        async with self._writing:
            while self._busy or not self._engine.running:
                await self._engine.start()
                await self.quiet()
            # Nothing is awaited before this is sent: whoever asks from now on sends `hold` after it.
            params = {"folder": str(bundle.folder), "messages": messages, "max_tokens": max_tokens}
            return (await self._call("write", params))["text"]

    def _tell_writer(self, word: str) -> None:
        """Send `hold` or `go_on`, in this order, without waiting; each call of `write` begins as going on."""
        if self._writing.locked():
            task = asyncio.create_task(self._send(word))
            self._telling.add(task)
            task.add_done_callback(self._telling.discard)

    async def _send(self, word: str) -> None:
        try:
            await self._engine.call(word, {})
        except MindscapeError as error:
            # With the engine its call of `write` has ended, and says so itself.
            log.debug("%s: %s", word, error)

    def shown(self, kind: str) -> Json:
        """For `status`; the device is None until the model was opened."""
        bundle = self.chosen(kind)
        if bundle is None:
            return {"name": None, "device": None, "capabilities": []}
        opened = self._opened.get(f"open_{kind}")
        live = opened is not None and opened[1] == bundle.name
        device = opened[2]["device"] if opened and live else None
        return {"name": bundle.name, "device": device, "capabilities": list(bundle.capabilities)}

    def listed(self) -> list[Json]:
        """Every bundle as `models list` shows it."""
        self.look()
        rows: list[Json] = []
        for bundle in self._bundles:
            active = self.chosen(bundle.kind)
            in_use = active is not None and active.name == bundle.name
            rows.append(
                {
                    "name": bundle.name,
                    "kind": bundle.kind,
                    "active": in_use,
                    "device": self.shown(bundle.kind)["device"] if in_use else None,
                    "capabilities": list(bundle.capabilities),
                    "licence": bundle.licence,
                    "path": str(bundle.folder),
                    "bytes": sum(file.bytes for file in bundle.files),
                    "quality": dict(bundle.quality),
                }
            )
        return rows

    def checks(self) -> list[Json]:
        """What `doctor` says of the models: the files of those in use are checked by hash."""
        self.look()
        again = "Install it again, or choose another: mindscape models use NAME"
        found: list[Json] = [
            {"name": "model", "state": "warn", "message": str(error), "fix": "Install it again or remove it."}
            for error in self._broken
        ]
        for kind in ("embedder", "generator"):
            try:
                bundle = self.chosen(kind)
                if bundle is not None:
                    open_bundle(bundle.folder)
                message = f"{bundle.name} is complete." if bundle else f"No {kind} is installed."
                found.append({"name": f"model:{kind}", "state": "ok", "message": message, "fix": None})
            except ModelError as error:
                found.append({"name": f"model:{kind}", "state": "fail", "message": str(error), "fix": again})
        return found

    async def stop_if_idle(self, seconds: float) -> None:
        """End the engine when nothing has used it for so long."""
        if (
            self._engine.running
            and not self._calls
            and not self._busy
            and time.monotonic() - self.last_used > seconds
        ):
            await self._engine.stop()

    async def stop(self) -> None:
        """End the engine at once."""
        await self._engine.stop(kill=True)

    async def _open(self, method: str, bundle: Bundle) -> Json:
        async with self._opening[method]:
            await self._engine.start()
            generation, name, answer = self._opened.get(method, (0, "", {}))
            if generation != self._engine.generation or name != bundle.name:
                answer = await self._engine.call(method, {"folder": str(bundle.folder)})
                self._opened[method] = (self._engine.generation, bundle.name, answer)
                log.info("%s: %s on %s", method, bundle.name, answer["device"])
            return answer

    async def _call(
        self,
        method: str,
        params: Json,
        on_stream: Callable[[Json], None] | None = None,
        seconds: float | None = None,
    ) -> Any:
        self.last_used = time.monotonic()
        self._calls += 1
        try:
            return await self._engine.call(method, params, on_stream, seconds)
        except ChildDied as died:
            log.warning("%s", died)
            raise
        finally:
            self._calls -= 1
            self.last_used = time.monotonic()
