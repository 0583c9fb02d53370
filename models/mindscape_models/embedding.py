"""Texts to vectors: float32, unit length, the same whatever else is in the batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Protocol, get_args

import numpy as np

from mindscape_models.batches import Window, batch_arrays, pack
from mindscape_models.bundle import Bundle, EncoderSettings
from mindscape_models.errors import BundleError
from mindscape_models.queries import Mindscapes, Task, Vectors, fused, pooled, queries_of, unit, whole
from mindscape_models.session import Device, Session
from mindscape_models.tokeniser import Tokeniser


class Embedder(Protocol):
    """What the application needs of an embedder; `OnnxEmbedder` and `FakeEmbedder` are such."""

    @property
    def name(self) -> str:
        """Identifies the passage encoder: vectors with the same name may be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Width of every vector."""
        ...

    @property
    def device(self) -> str:
        """The device really used: `cpu` or `cuda:0`."""
        ...

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors (n, dimensions) of `texts`, in order. Raises ValueError for a blank text."""
        ...

    def encode_queries(
        self, questions: Sequence[str], mindscapes: Mindscapes | None = None, task: Task = "passage"
    ) -> Vectors:
        """Unit vectors (n, dimensions) of `questions`, to be compared with those of passages.

        `mindscapes` holds the summaries of each question's mindscape; an empty list is none. A
        bundle whose manifest says that it takes none in ignores them. Raises ValueError for a blank
        question, an unknown task or a number of mindscapes that does not fit.
        """
        ...

    def query_states(
        self, questions: Sequence[str], mindscapes: Mindscapes, task: Task = "passage"
    ) -> tuple[Vectors, Vectors]:
        """(h_q, h_t), each (n, dimensions) and of unit length: a question alone, and with its mindscape.

        Of any bundle, whatever its manifest says of mindscapes. Without summaries h_t is h_q. Raises what
        `encode_queries` raises.
        """
        ...

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """The same vectors as `encode_passages`, a small batch at a time: (indices into `texts`, rows).

        Each index comes once, in an order that suits the batches. Between two batches the caller may do
        something more urgent with this embedder, or stop. Blank texts are refused before the first one.
        """
        ...


class OnnxEmbedder:
    """An embedder bundle on ONNX Runtime. Not to be used by two threads at once."""

    def __init__(self, bundle: Bundle, session: Session, tokeniser: Tokeniser) -> None:
        self._settings = _settings(bundle)
        self._session = session
        self._tokeniser = tokeniser
        self._queries = queries_of(tokeniser, self._settings)
        self.name = bundle.encoder_name
        self.dimensions = self._settings.dimensions
        self.device = session.device

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._gather(len(texts), self.batches(texts))

    def encode_queries(
        self, questions: Sequence[str], mindscapes: Mindscapes | None = None, task: Task = "passage"
    ) -> Vectors:
        """See `Embedder`."""
        check_queries(questions, mindscapes, task)
        if mindscapes is None or self._settings.mindscape == "none":
            return self._states(questions, [()] * len(questions), task)[0]
        return fused(*self._states(questions, mindscapes, task), self._settings.delta)

    def query_states(
        self, questions: Sequence[str], mindscapes: Mindscapes, task: Task = "passage"
    ) -> tuple[Vectors, Vectors]:
        """See `Embedder`."""
        check_queries(questions, mindscapes, task)
        return self._states(questions, mindscapes, task)

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """See `Embedder`."""
        check_texts(texts)
        prefixed = [self._settings.passage_prefix + text for text in texts]
        windows = [
            whole(self._settings, ids, row)
            for row, parts in enumerate(self._tokeniser.windows(prefixed, self._settings.max_tokens))
            for ids in parts
        ]
        return self._run(windows, len(texts))

    def _states(
        self, questions: Sequence[str], mindscapes: Mindscapes, task: Task
    ) -> tuple[Vectors, Vectors]:
        asked = self._queries.ask(questions, mindscapes, task)
        return pooled(asked, self._gather(asked.rows, self._run(asked.windows, asked.rows)))

    def _gather(self, rows: int, batches: Iterator[tuple[list[int], Vectors]]) -> Vectors:
        vectors = np.empty((rows, self.dimensions), dtype=np.float32)
        for indices, found in batches:
            vectors[indices] = found
        return vectors

    def _run(self, windows: Sequence[Window], rows: int) -> Iterator[tuple[list[int], Vectors]]:
        """Unit vectors by their numbers below `rows`, each as soon as all that is read into it has run."""
        sums = np.zeros((rows, self.dimensions), dtype=np.float32)
        missing = Counter(read.row for window in windows for read in window.reads)
        for batch in pack(windows, self._session.batch_tokens):
            states = self._session.states(*batch_arrays(batch))
            done: list[int] = []
            for at, window in enumerate(batch):
                for row, start, end in window.reads:
                    # Sliced before it is summed, so that the order of additions does not depend on padding.
                    sums[row] += states[at, start:end].sum(axis=0)
                    missing[row] -= 1
                    if not missing[row]:
                        done.append(row)
            if done:
                yield done, unit(sums[done])


def open_embedder(bundle: Bundle, threads: int | None = None, device: Device = "auto") -> OnnxEmbedder:
    """Load an embedder bundle; `threads` defaults to the cores this process may use.

    Raises BundleError when it is not an embedder or its files cannot be loaded.
    """
    settings = _settings(bundle)
    end = settings.decoder.passage_delimiter if settings.decoder else None
    tokeniser = Tokeniser(bundle.path(settings.tokeniser), end)
    session = Session(bundle.path(settings.graph), threads, device)
    if session.width not in (None, settings.dimensions):
        said = f"The manifest of {bundle.name} says {settings.dimensions} dimensions"
        raise BundleError(f"{said}, its graph has {session.width}. Install the model again.")
    return OnnxEmbedder(bundle, session, tokeniser)


def check_texts(texts: Sequence[str]) -> None:
    """Raise ValueError when one of `texts` is blank: the direction of its vector would mean nothing."""
    for index, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"A blank text has no vector (text {index + 1} of {len(texts)}).")


def check_queries(questions: Sequence[str], mindscapes: Mindscapes | None, task: str) -> None:
    """Raise ValueError for arguments that `encode_queries` must refuse."""
    check_texts(questions)
    if mindscapes is not None and len(mindscapes) != len(questions):
        raise ValueError(f"{len(questions)} questions came with {len(mindscapes)} mindscapes.")
    if any(isinstance(mindscape, str) for mindscape in mindscapes or ()):
        raise ValueError("A mindscape is a list of summaries, not one text.")
    if task not in get_args(Task):
        raise ValueError(f"Unknown task {task!r}; known are {', '.join(get_args(Task))}.")


def _settings(bundle: Bundle) -> EncoderSettings:
    if bundle.encoder is None:
        raise BundleError(f"The model {bundle.name} in {bundle.folder} is not an embedder.")
    return bundle.encoder
