"""Token ids in batches of like length, and which states of a batch belong to which vector."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from mindscape_models.session import Ids


class Read(NamedTuple):
    """Adds the states of the tokens `start` to `end` of its window to vector number `row`."""

    row: int
    start: int
    end: int


class Window(NamedTuple):
    """One row of a batch: the ids of its tokens, and the vectors that are read from their states."""

    ids: list[int]
    reads: tuple[Read, ...]


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
    """Token ids and mask (rows, longest window) of a batch; padding is on the right, and 0 in both.

    Token number i of a window so stands in column i, whatever token a decoder pads with: no delimiter has
    to be looked for among padding that looks like it.
    """
    ids = np.zeros((len(batch), max(len(window.ids) for window in batch)), dtype=np.int64)
    mask = np.zeros_like(ids)
    for row, window in enumerate(batch):
        ids[row, : len(window.ids)] = window.ids
        mask[row, : len(window.ids)] = 1
    return ids, mask
