"""The engine process: holds the models, one owner thread each, and runs them for the daemon.

`python -m mindscape.engine --fd N`. It may die of a bad model or for want of memory; the daemon does not.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from mindscape import prompts
from mindscape.ask.answer import Draft, is_refusal
from mindscape.errors import MindscapeError
from mindscape.protocol import Json
from mindscape.rpc import Stream, serve_child
from mindscape_models.bundle import open_bundle
from mindscape_models.embedding import Embedder, open_embedder
from mindscape_models.errors import ModelError
from mindscape_models.exam import examine

if TYPE_CHECKING:
    from mindscape_models.generation import Generator

T = TypeVar("T")


class Engine:
    """The models that are open. Every call of a model runs in that model's own thread."""

    def __init__(self, threads: int) -> None:
        self._threads = threads or None
        self._embedding = ThreadPoolExecutor(1, "embedder")
        self._generating = ThreadPoolExecutor(1, "generator")
        self._embedder: Embedder | None = None
        self._generator: Generator | None = None

    async def handle(self, method: str, params: Json, stream: Stream) -> Any:
        """Answer the daemon."""
        try:
            match method:
                case "open_embedder":
                    return await self._open_embedder(params["folder"])
                case "embed":
                    return await self._embed(params["texts"], query=params["query"])
                case "open_generator":
                    return await self._open_generator(params["folder"])
                case "examine":
                    return await self._examine()
                case "generate":
                    return await self._generate(params, stream)
                case "count_tokens":
                    return await self._count_tokens(params["texts"])
                case _:
                    raise MindscapeError(f"The engine knows no method {method}.")
        except ModelError as error:
            raise MindscapeError(str(error)) from error

    async def _open_embedder(self, folder: str) -> Json:
        def work() -> Embedder:
            return open_embedder(open_bundle(Path(folder)), self._threads)

        self._embedder = embedder = await self._run(self._embedding, work)
        return {"name": embedder.name, "dimensions": embedder.dimensions, "device": embedder.device}

    async def _embed(self, texts: list[str], *, query: bool) -> Json:
        """Vectors as base64 of float32 rows. Between batches a question may come in."""
        embedder = self._embedder
        if embedder is None:
            raise MindscapeError("No embedder is open.")
        if query:
            rows = await self._run(self._embedding, lambda: embedder.encode_queries(texts))
        else:
            rows = np.empty((len(texts), embedder.dimensions), dtype=np.float32)
            batches = embedder.batches(texts)
            while batch := await self._run(self._embedding, lambda: next(batches, None)):
                rows[batch[0]] = batch[1]
        return {"vectors": base64.b64encode(rows.tobytes()).decode()}

    async def _open_generator(self, folder: str) -> Json:
        def work() -> Generator:
            from mindscape_models.generation import open_generator

            if self._generator is not None:
                self._generator.close()
                self._generator = None
            return open_generator(open_bundle(Path(folder)), threads=self._threads)

        self._generator = generator = await self._run(self._generating, work)
        speed = await self._run(self._generating, generator.speed)
        return {
            "name": generator.name,
            "context": generator.context,
            "device": generator.device,
            "prompt_tokens_per_second": speed.prompt,
        }

    async def _examine(self) -> Json:
        """Let the open generator sit the exam: the shares it got right and refused."""
        generator = self._open()

        def render(passages: str, question: str) -> list[dict[str, str]]:
            return prompts.render("answer", passages=passages, question=question)

        def refuses(reply: str) -> bool:
            return is_refusal(Draft(reply, (), 0))

        result = await self._run(self._generating, lambda: examine(generator, render, refuses))
        return {"right": result.right, "refused": result.refused, "replies": result.replies}

    async def _generate(self, params: Json, stream: Stream) -> Json:
        """Stream `{"token": text}`; cancelling the request stops the model within a token."""
        generator = self._open()
        pieces: asyncio.Queue[str | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        stopped = threading.Event()

        def work() -> Json:
            began = time.monotonic()
            try:
                messages, limit, schema = params["messages"], params["max_tokens"], params.get("schema")
                for piece in generator.generate(messages, limit, schema, stopped):
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
            stopped.set()

    async def _count_tokens(self, texts: list[str]) -> list[int]:
        generator = self._open()
        return await self._run(self._generating, lambda: [generator.count_tokens(text) for text in texts])

    def _open(self) -> Generator:
        if self._generator is None:
            raise MindscapeError("No generator is open.")
        return self._generator

    async def _run(self, owner: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(owner, work)


def main() -> None:
    """Serve the daemon at the other end of the socket pair until it closes."""
    options = argparse.ArgumentParser()
    options.add_argument("--fd", type=int, required=True)
    options.add_argument("--threads", type=int, required=True)
    given = options.parse_args()
    serve_child(given.fd, Engine(given.threads).handle)


if __name__ == "__main__":
    main()
