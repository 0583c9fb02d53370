"""The engine process: holds the models, one owner thread each, and runs them for the daemon.

`python -m mindscape.engine --fd N`. It may die of a bad model or for want of memory; the daemon does not.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mindscape import prompts
from mindscape.ask.answer import Draft, is_refusal
from mindscape.ask.check import is_supported
from mindscape.errors import MindscapeError
from mindscape.ingest.summarise import Kind
from mindscape.ingest.written import write_summary
from mindscape.protocol import Json
from mindscape.rpc import Stream, serve_child
from mindscape.sentences import sentences
from mindscape_models.bundle import Bundle, open_bundle
from mindscape_models.embedding import Embedder, open_embedder
from mindscape_models.errors import ModelError
from mindscape_models.exam import examine
from mindscape_models.native import Control
from mindscape_models.queries import Vectors
from mindscape_models.summary_exam import SummaryResult, examine_summaries

if TYPE_CHECKING:
    from mindscape_models.generation import Generator

T = TypeVar("T")

BACKGROUND_CONTEXT = 4096
"""Tokens of a prompt and its answer in the background, where prompts are short and memory is others'."""
LEAST_PRIORITY = 19


class Engine:
    """The models that are open. Every call of one runs in its own thread.

    What is written in the background has a generator, a context and a thread of its own beside those that
    answer, with the same weights where it is the same model. `hold` makes it stand still until `go_on`.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads or None
        self._embedding = ThreadPoolExecutor(1, "embedder")
        self._generating = ThreadPoolExecutor(1, "generator")
        self._writing = ThreadPoolExecutor(1, "background", initializer=_give_way)
        self._embedder: Embedder | None = None
        self._generator: Generator | None = None
        self._writer: Generator | None = None
        self._loading = threading.Lock()
        self._control = Control()

    async def handle(self, method: str, params: Json, stream: Stream) -> Any:
        """Answer the daemon."""
        try:
            match method:
                case "open_embedder":
                    return await self._open_embedder(params["folder"])
                case "embed":
                    return await self._embed(params["texts"])
                case "embed_queries":
                    return await self._embed_queries(params["texts"], params["mindscapes"])
                case "query_states":
                    return await self._query_states(params["texts"], params["mindscapes"])
                case "open_generator":
                    return await self._open_generator(params["folder"])
                case "examine":
                    return await self._examine()
                case "generate":
                    return await self._generate(params, stream)
                case "count_tokens":
                    return await self._count_tokens(params["texts"])
                case "write":
                    return await self._write(params)
                case "hold":
                    return self._control.hold()
                case "go_on":
                    return self._control.go_on()
                case _:
                    raise MindscapeError(f"The engine knows no method {method}.")
        except ModelError as error:
            raise MindscapeError(str(error)) from error

    async def _open_embedder(self, folder: str) -> Json:
        def work() -> Embedder:
            return open_embedder(open_bundle(Path(folder)), self._threads)

        self._embedder = embedder = await self._run(self._embedding, work)
        return {"name": embedder.name, "dimensions": embedder.dimensions, "device": embedder.device}

    async def _embed(self, texts: list[str]) -> Json:
        """Vectors of passages. Between two batches a question may come in."""
        embedder = self._open_one()
        rows = np.empty((len(texts), embedder.dimensions), dtype=np.float32)
        batches = embedder.batches(texts)
        while batch := await self._run(self._embedding, lambda: next(batches, None)):
            rows[batch[0]] = batch[1]
        return {"vectors": _packed(rows)}

    async def _embed_queries(self, texts: list[str], mindscapes: list[list[str]] | None) -> Json:
        embedder = self._open_one()
        rows = await self._run(self._embedding, lambda: embedder.encode_queries(texts, mindscapes))
        return {"vectors": _packed(rows)}

    async def _query_states(self, texts: list[str], mindscapes: list[list[str]]) -> Json:
        embedder = self._open_one()
        alone, conditioned = await self._run(
            self._embedding, lambda: embedder.query_states(texts, mindscapes)
        )
        return {"alone": _packed(alone), "conditioned": _packed(conditioned)}

    def _open_one(self) -> Embedder:
        if self._embedder is None:
            raise MindscapeError("No embedder is open.")
        return self._embedder

    async def _open_generator(self, folder: str) -> Json:
        def work() -> Generator:
            from mindscape_models.generation import open_generator

            bundle = open_bundle(Path(folder))
            with self._loading:
                if self._generator is not None:
                    self._generator.close()
                    self._generator = None
                self._generator = open_generator(bundle, threads=self._threads, beside=self._writer)
            self._writing.submit(self._close_other_writer, bundle)
            return self._generator

        generator = await self._run(self._generating, work)
        speed = await self._run(self._generating, generator.speed)
        return {
            "name": generator.name,
            "context": generator.context,
            "device": generator.device,
            "prompt_tokens_per_second": speed.prompt,
        }

    async def _examine(self) -> Json:
        """Let the open generator sit the exams: what came of its answers, and of its summaries."""
        generator = self._open()

        def render(passages: str, question: str) -> list[dict[str, str]]:
            return prompts.render("answer", passages=passages, question=question)

        def refuses(reply: str) -> bool:
            return is_refusal(Draft(reply, (), 0))

        answers = await self._run(self._generating, lambda: examine(generator, render, refuses))
        summaries = await self._run(self._generating, lambda: summary_exam(generator))
        return {"answers": asdict(answers), "summaries": asdict(summaries)}

    async def _generate(self, params: Json, stream: Stream) -> Json:
        """Stream `{"token": text}`; cancelling the request stops the model within a token."""
        generator = self._open()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        control = Control()

        def work() -> Json:
            began = time.monotonic()
            try:
                messages, limit, schema = params["messages"], params["max_tokens"], params.get("schema")
                for piece in generator.generate(messages, limit, schema, control):
                    loop.call_soon_threadsafe(pieces.put_nowait, piece)
            finally:
                loop.call_soon_threadsafe(pieces.put_nowait, None)
            usage = generator.usage
            tokens = usage.prompt + usage.generated
            return {"tokens": tokens, "ms": round((time.monotonic() - began) * 1000), "finish": usage.finish}

        done = loop.run_in_executor(self._generating, work)
        try:
            while (piece := await pieces.get()) is not None:
                await stream({"token": piece})
            return await done
        finally:
            control.stop()

    async def _write(self, params: Json) -> Json:
        """The whole text, written in the background; cancelling the request stops it within a step."""
        # A new one for each call: what an earlier call was told cannot hold this one.
        control = self._control = Control()

        def work() -> Json:
            generator = self._open_writer(params["folder"])
            pieces = generator.generate(params["messages"], params["max_tokens"], control=control)
            return {"text": "".join(pieces)}

        try:
            return await self._run(self._writing, work)
        finally:
            control.stop()

    def _open_writer(self, folder: str) -> Generator:
        from mindscape_models.generation import SMALL_STEP, open_generator

        # Every call asks this, and hashing the weights takes a second.
        self._close_other_writer(open_bundle(Path(folder), verify=False))
        if self._writer is None:
            bundle = open_bundle(Path(folder))
            with self._loading:
                self._writer = open_generator(
                    bundle, BACKGROUND_CONTEXT, self._threads, SMALL_STEP, beside=self._generator
                )
        return self._writer

    def _close_other_writer(self, bundle: Bundle) -> None:
        """In its own thread: close the generator of the background unless it is of this bundle."""
        with self._loading:
            if self._writer is not None and not self._writer.is_of(bundle):
                self._writer.close()
                self._writer = None

    async def _count_tokens(self, texts: list[str]) -> list[int]:
        generator = self._open()
        return await self._run(self._generating, lambda: [generator.count_tokens(text) for text in texts])

    def _open(self) -> Generator:
        if self._generator is None:
            raise MindscapeError("No generator is open.")
        return self._generator

    async def _run(self, owner: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(owner, work)


def _packed(rows: Vectors) -> str:
    """Base64 of float32 rows."""
    return base64.b64encode(rows.tobytes()).decode()


def _give_way() -> None:
    """Run this thread, and those of its computations that it starts, only when nobody else wants the core."""
    if sys.platform == "linux":
        # Elsewhere priorities belong to whole processes: there it gives way by being held.
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LEAST_PRIORITY)


def summary_exam(generator: Generator) -> SummaryResult:
    """Let a generator summarise the texts of the exam as it would a document's, in the calling thread."""

    async def generate(messages: list[dict[str, str]], max_tokens: int) -> str:
        return "".join(generator.generate(messages, max_tokens))

    def summarise(passages: Sequence[str]) -> str | None:
        return asyncio.run(write_summary(Kind.PASSAGES, passages, generate)).text

    def support(summary: str, text: str) -> list[bool]:
        return [is_supported(summary[start:end], text) for start, end in sentences(summary)]

    return examine_summaries(summarise, support)


def main() -> None:
    """Serve the daemon at the other end of the socket pair until it closes."""
    options = argparse.ArgumentParser()
    options.add_argument("--fd", type=int, required=True)
    options.add_argument("--threads", type=int, required=True)
    given = options.parse_args()
    serve_child(given.fd, Engine(given.threads).handle)


if __name__ == "__main__":
    main()
