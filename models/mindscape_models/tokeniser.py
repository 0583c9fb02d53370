"""Text to token ids, cut into windows the encoder can take."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tokenizers import Tokenizer

from mindscape_models.errors import BundleError

_CHARACTERS = 32
"""More characters than a token of text has on average, and few enough that a huge text costs nothing."""


class Tokeniser:
    """A `tokenizer.json` whose own truncation and padding are switched off.

    Sentence encoders are often saved with a truncation of 128 tokens and padding to 128: left on, the
    rest of every passage is silently ignored.
    """

    def __init__(self, path: Path, end: str | None = None) -> None:
        """`end` is the token that every text ends in; some files append it by themselves, others do not."""
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises bare Exception
            raise BundleError(f"{path} is not a tokeniser that can be read: {error}.") from error
        self._path = path
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.before, self.after = self._specials()
        """The special ids in front of and behind a text."""
        if end is not None:
            if self.after not in ([], [self.token(end)]):
                raise BundleError(f"{path} ends a text in other tokens than the manifest's {end}.")
            self.after = [self.token(end)]

    def token(self, name: str) -> int:
        """The id of a delimiter. Raises BundleError when it is not one token of the vocabulary."""
        number = self._tokenizer.token_to_id(name)
        if number is None:
            raise BundleError(f"{self._path} has no token {name}, which the manifest names as a delimiter.")
        return number

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of each text, without special tokens around it."""
        encodings = self._tokenizer.encode_batch_fast(
            [_clean(text) for text in texts], add_special_tokens=False
        )
        return [encoding.ids for encoding in encodings]

    def cut(self, text: str, tokens: int) -> str:
        """The start of `text` that is at most so many tokens long, read in time that depends on them only."""
        text = _clean(text[: tokens * _CHARACTERS])
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return text if len(offsets) <= tokens else text[: offsets[tokens][0]]

    def windows(self, texts: Sequence[str], max_tokens: int) -> list[list[list[int]]]:
        """For each text its windows of at most `max_tokens` ids, special tokens included in each.

        The windows of a text do not overlap and their lengths differ by at most one, so none is a stub.
        """
        room = max_tokens - len(self.before) - len(self.after)
        return [[self.before + part + self.after for part in _split(ids, room)] for ids in self.ids(texts)]

    def _specials(self) -> tuple[list[int], list[int]]:
        bare: list[int] = self._tokenizer.encode("a", add_special_tokens=False).ids
        full: list[int] = self._tokenizer.encode("a").ids
        at = next(i for i in range(len(full)) if full[i : i + len(bare)] == bare)
        return full[:at], full[at + len(bare) :]


def _clean(text: str) -> str:
    """Without lone surrogates (undecodable bytes of a command line), which are not text to the tokeniser."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _split(ids: list[int], room: int) -> list[list[int]]:
    count = max(1, -(-len(ids) // room))
    bounds = [len(ids) * part // count for part in range(count + 1)]
    return [ids[start:end] for start, end in pairwise(bounds)]
