"""The query-induced signature: the few summaries that stand for what a question brings to mind.

MiA-Signature, Appendix A (equations 7 to 10, Algorithm 2) and section 3.2.1 (First-K). The passages that the
question finds alone, c_1 to c_M by rank, are each mapped by pi to one node above them; these nodes are the
pool, s_1 to s_N, and at most K of them are chosen. Pure functions: nothing is read and nothing is encoded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

PASSAGES = 50
"""K0: how many passages the question finds alone (section 4.2)."""
MOST = 5
"""K: summaries in a signature, at most (section 4.2)."""


class Weights(NamedTuple):
    """Lambda of Eq. 10, as published."""

    query: float = 0.3
    coverage: float = 0.4
    diversity: float = 0.3


PUBLISHED = Weights()


class Pool(NamedTuple):
    """What is known of N nodes and M passages; every cosine is clamped at 0."""

    near: NDArray[np.float64]
    """(N,) q_s: the cosine of the question with each summary."""
    match: NDArray[np.float64]
    """(N, M) m(s, c) = max(0, e_s e_c) where the node s covers the passage c, else 0."""
    like: NDArray[np.float64]
    """(N, N) the cosine of each summary with each other."""


def pool_of(
    question: NDArray[np.float32],
    passages: NDArray[np.float32],
    nodes: NDArray[np.float32],
    over: Sequence[int],
) -> Pool:
    """The pool of unit vectors: question (d,), passages (M, d) by rank, nodes (N, d).

    `over` is pi: for each passage the row of the node over it. A passage or a node without a vector has a row
    of zeros: it matches nothing.
    """
    covers = np.asarray(over, np.int64)[None, :] == np.arange(len(nodes))[:, None]
    return Pool(
        _cosines(nodes, question),
        np.where(covers, _cosines(nodes, passages.T), 0.0),
        _cosines(nodes, nodes.T),
    )


def coverage_aware(pool: Pool, most: int = MOST, weights: Weights = PUBLISHED) -> list[int]:
    """Rows of at most `most` nodes, in the order in which they are chosen (Algorithm 2).

    Ties go to the earlier row: with the nodes by the rank of their best passage, to the one found first.
    """
    chosen: list[int] = []
    while len(chosen) < min(most, len(pool.near)):
        gain = gains(pool, chosen, weights)
        gain[chosen] = -np.inf
        chosen.append(int(np.argmax(gain)))
    return chosen


def first_k(over: Sequence[int], most: int = MOST) -> list[int]:
    """The first `most` distinct nodes over the passages by rank (section 3.2.1)."""
    return list(dict.fromkeys(over))[:most]


def gains(pool: Pool, chosen: Sequence[int], weights: Weights = PUBLISHED) -> NDArray[np.float64]:
    """(N,) what each node would add to those chosen: Delta(s | A) of Eq. 10.

    Coverage and query relevance are divided by the largest that a single node has; where that is 0 they add
    nothing. Without the diversity term this is the gain of a monotone submodular function (A.3).
    """
    rows = list(chosen)
    return (
        weights.query * _of_largest(pool.near, pool.near)
        + weights.coverage * _covered(pool, rows)
        + weights.diversity * (1.0 - pool.like[:, rows].max(axis=1, initial=0.0))
    )


def _covered(pool: Pool, chosen: list[int]) -> NDArray[np.float64]:
    """The gain in f_C (Eq. 8), w_i = 1 / (r_i + 1) with r_1 = 1, over Z_C = max cov_s (A.4).

    Where pi gives each passage one node this is line 11 of Algorithm 2: a passage is covered, or it is not.
    """
    falling = 1.0 / (np.arange(pool.match.shape[1]) + 2.0)
    before = pool.match[chosen].max(axis=0, initial=0.0)
    more = np.maximum(pool.match - before, 0.0) @ falling
    return _of_largest(more, pool.match @ falling)


def _of_largest(values: NDArray[np.float64], whole: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = whole.max(initial=0.0)
    return values / largest if largest > 0.0 else np.zeros_like(values)


def _cosines(one: NDArray[np.float32], other: NDArray[np.float32]) -> NDArray[np.float64]:
    """Of unit vectors, clamped; in double precision, so that a tie is one on every machine."""
    return np.maximum(one.astype(np.float64) @ other.astype(np.float64), 0.0)
