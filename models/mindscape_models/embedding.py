"""Texts to vectors: float32, unit length, the same whatever else is in the batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from mindscape_models.bundle import Bundle, EncoderSettings
from mindscape_models.errors import BundleError
from mindscape_models.session import Device, Ids, Session
from mindscape_models.tokeniser import Tokeniser

Vectors = NDArray[np.float32]
Task = Literal["passage", "entity"]


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
        self, questions: Sequence[str], mindscapes: Sequence[str] | None = None, task: Task = "passage"
    ) -> Vectors:
        """Unit vectors (n, dimensions) of `questions`, to be compared with those of passages.

        `mindscapes` holds one for each question; a bundle without a mindscape ignores them. Raises
        ValueError for a blank question, an unknown task or a number of mindscapes that does not fit.
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
        self.name = bundle.encoder_name
        self.dimensions = self._settings.dimensions
        self.device = session.device

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        return self._gather(texts, self.batches(texts))

    def encode_queries(
        self, questions: Sequence[str], mindscapes: Sequence[str] | None = None, task: Task = "passage"
    ) -> Vectors:
        """See `Embedder`."""
        check_queries(questions, mindscapes, task)
        return self._gather(questions, self._batches(questions, self._settings.query_prefix))

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """See `Embedder`."""
        check_texts(texts)
        return self._batches(texts, self._settings.passage_prefix)

    def _gather(self, texts: Sequence[str], batches: Iterator[tuple[list[int], Vectors]]) -> Vectors:
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        for indices, rows in batches:
            vectors[indices] = rows
        return vectors

    def _batches(self, texts: Sequence[str], prefix: str) -> Iterator[tuple[list[int], Vectors]]:
        parts = self._tokeniser.windows([prefix + text for text in texts], self._settings.max_tokens)
        windows = [
            Window(text, part, ids) for text, each in enumerate(parts) for part, ids in enumerate(each)
        ]
        sums = [np.zeros((len(each), self.dimensions), dtype=np.float32) for each in parts]
        missing = [len(each) for each in parts]
        for batch in pack(windows, self._session.batch_tokens):
            for window, total in zip(batch, self._sums(batch), strict=True):
                sums[window.text][window.part] = total
                missing[window.text] -= 1
            done = sorted({window.text for window in batch if missing[window.text] == 0})
            if done:
                yield done, _unit(np.stack([sums[text].sum(axis=0) for text in done]))

    def _sums(self, batch: Sequence[Window]) -> list[Vectors]:
        """For each window the sum of its token states: the mean, before the division that `_unit` undoes."""
        states = self._session.states(*batch_arrays(batch))
        # Sliced to the window before summing, so that the order of additions does not depend on padding.
        return [states[row, : len(window.ids)].sum(axis=0) for row, window in enumerate(batch)]


class Window(NamedTuple):
    """A run of token ids: part `part` of text number `text`."""

    text: int
    part: int
    ids: list[int]


def pack(windows: Sequence[Window], budget: int) -> Iterator[list[Window]]:
    """Windows of like length together: at most `budget` tokens a batch with padding, or a single window."""
    batch: list[Window] = []
    for window in sorted(windows, key=lambda window: len(window.ids)):
        # Sorted, so the newest window is the longest, and the length the others are padded to.
        if batch and (len(batch) + 1) * len(window.ids) > budget:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch


def batch_arrays(batch: Sequence[Window]) -> tuple[Ids, Ids]:
    """Token ids and mask (rows, longest window) of a batch; both are 0 on padding."""
    ids = np.zeros((len(batch), max(len(window.ids) for window in batch)), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, window in enumerate(batch):
        ids[row, : len(window.ids)] = window.ids
        mask[row, : len(window.ids)] = 1
    return ids, mask


def open_embedder(bundle: Bundle, threads: int | None = None, device: Device = "auto") -> OnnxEmbedder:
    """Load an embedder bundle; `threads` defaults to the cores this process may use.

    Raises BundleError when it is not an embedder or its files cannot be loaded.
    """
    settings = _settings(bundle)
    tokeniser = Tokeniser(bundle.path(settings.tokeniser))
    return OnnxEmbedder(bundle, Session(bundle.path(settings.graph), threads, device), tokeniser)


def check_texts(texts: Sequence[str]) -> None:
    """Raise ValueError when one of `texts` is blank: the direction of its vector would mean nothing."""
    for index, text in enumerate(texts):
        if not text.strip():
            raise ValueError(f"A blank text has no vector (text {index + 1} of {len(texts)}).")


def check_queries(questions: Sequence[str], mindscapes: Sequence[str] | None, task: str) -> None:
    """Raise ValueError for arguments that `encode_queries` must refuse."""
    check_texts(questions)
    if mindscapes is not None and len(mindscapes) != len(questions):
        raise ValueError(f"{len(questions)} questions came with {len(mindscapes)} mindscapes.")
    if task not in get_args(Task):
        raise ValueError(f"Unknown task {task!r}; known are {', '.join(get_args(Task))}.")


def _settings(bundle: Bundle) -> EncoderSettings:
    if bundle.encoder is None:
        raise BundleError(f"The model {bundle.name} in {bundle.folder} is not an embedder.")
    return bundle.encoder


def _unit(vectors: Vectors) -> Vectors:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
