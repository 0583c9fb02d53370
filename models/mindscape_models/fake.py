"""Stand-ins with the interfaces of the real models, for tests: deterministic, instant, no weights."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from mindscape_models.embedding import check_queries, check_texts
from mindscape_models.native import Control
from mindscape_models.queries import Mindscapes, Task, Vectors, fused

_WORD = re.compile(r"\w+")


class FakeEmbedder:
    """A bag of hashed words: texts that share words are near. Implements `Embedder`."""

    device = "cpu"

    def __init__(self, dimensions: int = 128, name: str = "fake-words", delta: float | None = None) -> None:
        self.dimensions = dimensions
        self.name = name
        self.texts_seen: list[str] = []
        """Every passage encoded so far, so that a test can count them."""
        self._delta = delta
        """Weight of the question beside its mindscape; None ignores mindscapes."""

    def encode_passages(self, texts: Sequence[str]) -> Vectors:
        """See `Embedder`."""
        check_texts(texts)
        self.texts_seen.extend(texts)
        return self._encode(texts)

    def encode_queries(
        self, questions: Sequence[str], mindscapes: Mindscapes | None = None, task: Task = "passage"
    ) -> Vectors:
        """See `Embedder`."""
        check_queries(questions, mindscapes, task)
        if mindscapes is None or self._delta is None:
            return self._encode(questions)
        return fused(*self.query_states(questions, mindscapes, task), self._delta)

    def query_states(
        self, questions: Sequence[str], mindscapes: Mindscapes, task: Task = "passage"
    ) -> tuple[Vectors, Vectors]:
        """See `Embedder`; h_t is the bag of the words of both."""
        check_queries(questions, mindscapes, task)
        both = [" ".join((question, *parts)) for question, parts in zip(questions, mindscapes, strict=True)]
        return self._encode(questions), self._encode(both)

    def batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], Vectors]]:
        """See `Embedder`; four texts a batch."""
        check_texts(texts)
        for start in range(0, len(texts), 4):
            group = list(range(start, min(start + 4, len(texts))))
            yield group, self.encode_passages([texts[index] for index in group])

    def _encode(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            # A text without words (punctuation only) still has a vector: its own hash.
            for word in _WORD.findall(text.casefold()) or [text]:
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                vectors[row, int.from_bytes(digest, "big") % self.dimensions] += 1.0
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class FakeGenerator:
    """Says what its script tells it, word by word. Same interface as the real `Generator`."""

    device = "cpu"

    def __init__(
        self, replies: Sequence[str] = ("ok",), name: str = "fake-script", context: int = 4096
    ) -> None:
        self.name = name
        self.context = context
        self.prompts: list[list[Mapping[str, str]]] = []
        """The messages of every call, in order."""
        self.schemas: list[Mapping[str, object] | None] = []
        """The JSON schema each call asked for."""
        self._replies = list(replies)

    def count_tokens(self, text: str) -> int:
        """Words of `text`."""
        return len(text.split())

    def generate(
        self,
        messages: Sequence[Mapping[str, str]],
        max_tokens: int,
        schema: Mapping[str, object] | None = None,
        control: Control | None = None,
    ) -> Iterator[str]:
        """Stream the next reply of the script (the last one repeats), at most `max_tokens` words of it."""
        self.prompts.append(list(messages))
        self.schemas.append(schema)
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        for piece in re.findall(r"\s*\S+\s*$|\s*\S+", reply)[:max_tokens]:
            if control is not None and not control.may_go_on():
                return
            yield piece

    def close(self) -> None:
        """Nothing to free."""
