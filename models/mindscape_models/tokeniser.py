"""Text to token ids, cut into windows the encoder can take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tokenizers import Tokenizer

from mindscape_models.errors import BundleError


class Tokeniser:
    """A `tokenizer.json` whose own truncation and padding are switched off.

    Sentence encoders are often saved with a truncation of 128 tokens and padding to 128: left on, the
    rest of every passage is silently ignored.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise BundleError(f"{path} is not a tokeniser that can be read: {error}.") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._before, self._after = self._specials()

    def windows(self, texts: Sequence[str], max_tokens: int) -> list[list[list[int]]]:
        """For each text its windows of at most `max_tokens` ids, special tokens included in each.

        The windows of a text do not overlap and their lengths differ by at most one, so none is a stub.
        """
        room = max_tokens - len(self._before) - len(self._after)
        # Lone surrogates (undecodable bytes of a command line) are not text to the tokeniser.
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        encodings = self._tokenizer.encode_batch_fast(clean, add_special_tokens=False)
        return [[self._before + part + self._after for part in _split(e.ids, room)] for e in encodings]

    def _specials(self) -> tuple[list[int], list[int]]:
        """The special ids in front of and behind a text."""
        bare: list[int] = self._tokenizer.encode("a", add_special_tokens=False).ids
        full: list[int] = self._tokenizer.encode("a").ids
        at = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
        return full[:at], full[at + len(bare) :]


def _split(ids: list[int], room: int) -> list[list[int]]:
    count = max(1, -(-len(ids) // room))
    bounds = [len(ids) * part // count for part in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(bounds)]
