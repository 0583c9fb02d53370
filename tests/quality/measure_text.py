"""Is extracted text right? Three sentences of each file, chosen by other programs, and their places.

`python -m tests.quality.measure_text FOLDER [--files 40]` takes files of every type in turn, lets programs
that share no code with us (see `independent`) choose a sentence at a sixth, a half and five sixths of each,
and looks for it, and for its page, heading or line, in what our parsers give. It prints a row for each type
and every miss, to be judged by hand.
"""

from __future__ import annotations

import argparse
import re
import unicodedata
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

from tests.quality.independent import Piece, encoding_in_name, pieces_of

from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Parsed, ParseFailure, Source

LEAST, MOST = 24, 110
"""Characters of a sentence that is looked for; of CJK texts a third."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one sentence: is it in our text, and at the place the other program names?"""

    file: Path
    piece: Piece
    found: bool
    placed: bool | None
    said: str = ""


class Squeezed:
    """A text reduced to letters and digits, for programs differ in spaces, hyphens and ligatures."""

    def __init__(self, text: str) -> None:
        self.offsets: list[int] = []
        letters: list[str] = []
        for offset, character in enumerate(text):
            for letter in unicodedata.normalize("NFKC", character).casefold():
                if letter.isalnum():
                    letters.append(letter)
                    self.offsets.append(offset)
        self.text = "".join(letters)

    def places(self, sentence: str) -> Iterator[int]:
        """Offsets in the text at which the sentence stands."""
        wanted = Squeezed(sentence).text
        at = self.text.find(wanted)
        while at >= 0:
            yield self.offsets[at]
            at = self.text.find(wanted, at + 1)


def chosen(folder: Path, count: int) -> list[Path]:
    """Files of all types in turn: the first of each, the second of each, and so on."""
    kinds: dict[str, list[Path]] = defaultdict(list)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        kinds[path.suffix.lower()].append(path)
    # From the middle outwards: the first files of a kind are often made by one program.
    rows = zip_longest(*(files[len(files) // 3 :] + files[: len(files) // 3] for files in kinds.values()))
    return [path for path in chain.from_iterable(rows) if path is not None][: count or None]


def sentences_of(path: Path) -> list[Piece]:
    """Three sentences, or as many as there are."""
    good = [piece for whole in pieces_of(path) if (piece := _cut(whole))]
    at = sorted({len(good) // 6, len(good) // 2, len(good) * 5 // 6})
    return [good[index] for index in at if index < len(good)]


def _cut(piece: Piece) -> Piece | None:
    text = re.sub(r"\s+", " ", piece.text).strip()
    wide = any("\u0e00" <= character <= "\u0eff" or character >= "\u2e80" for character in text)
    least = LEAST // 3 if wide else LEAST
    letters = sum(character.isalpha() for character in text)
    # Addresses and markup within a field are links and tags, not sentences.
    if len(text) < least or letters * 2 < len(text) or "://" in text or "<" in text:
        return None
    return Piece(
        text[:MOST] if wide else text[: MOST + 1].rpartition(" ")[0] or text, piece.kind, piece.place
    )


def outcomes(path: Path) -> Iterator[Outcome]:
    """Look for the sentences of one file. A file that is not read gives its reason once."""
    wanted = sentences_of(path)
    if not wanted:
        return
    try:
        parsed = parse(Source(path, path.read_bytes()))
    except ParseFailure as failure:
        yield Outcome(path, wanted[0], False, None, f"{failure.status}: {failure.reason}")
        return
    squeezed = Squeezed(parsed.text)
    for piece in wanted:
        offsets = list(squeezed.places(piece.text))
        said = {_place(parsed, piece, offset) for offset in offsets}
        placed = None if piece.kind == "none" else any(_agrees(piece, one) for one in said)
        yield Outcome(path, piece, bool(offsets), placed if offsets else None, ", ".join(sorted(said)[:3]))


def _place(parsed: Parsed, piece: Piece, offset: int) -> str:
    """Our answer to the same question: the page, the innermost heading, or the line (or its span)."""
    if piece.kind == "heading":
        around = [section for section in parsed.sections if section.start <= offset < section.end]
        return around[-1].heading if around else ""
    if piece.kind == "line" and parsed.text_like:
        return str(len(re.findall(r"\r\n|\r|\n", parsed.text[:offset])) + 1)
    marks = [mark for mark in parsed.marks if mark.kind == piece.kind]
    index = bisect_right(marks, offset, key=lambda mark: mark.start)
    if piece.kind == "line" and index:
        return f"{marks[index - 1].label}-{marks[index].label if index < len(marks) else 10**9}"
    return marks[index - 1].label if index else ""


def _agrees(piece: Piece, said: str) -> bool:
    if "-" in said and piece.kind == "line":
        first, last = said.split("-")
        return int(first) <= int(piece.place) <= int(last)
    ours, theirs = Squeezed(said).text, Squeezed(piece.place).text
    # pandoc numbers nothing and drops a heading's link; titles above the first heading are ours alone.
    return ours == theirs or (piece.kind == "heading" and (theirs in ours or (not theirs and bool(ours))))


def main() -> None:
    """Print the table and the misses."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path)
    options.add_argument("--files", type=int, default=0, help="only so many files, of all types in turn")
    given = options.parse_args()
    rows: dict[str, list[Outcome]] = defaultdict(list)
    encodings = [0, 0]
    for path in chosen(given.folder, given.files):
        rows[path.suffix.lower()] += outcomes(path)
        if encoding_in_name(path):
            right = _decodes_as_named(path)
            encodings[0] += right
            encodings[1] += 1
            if not right:
                print(f"encoding differs: {path.name}")
    print("| type | files | sentences | in our text | at the place |\n|---|---|---|---|---|")
    for kind, found in sorted(rows.items()):
        files, asked = len({one.file for one in found}), [one for one in found if one.placed is not None]
        print(
            f"| {kind} | {files} | {len(found)} | {sum(one.found for one in found)} "
            f"| {sum(bool(one.placed) for one in asked)} of {len(asked)} |"
        )
    print(f"\nencodings as named: {encodings[0]} of {encodings[1]}\n")
    for one in chain.from_iterable(rows.values()):
        if not one.found or one.placed is False:
            print(
                f"{one.file.name}: {one.piece.text!r} at {one.piece.kind} {one.piece.place!r}: "
                f"{'at ' + one.said if one.found else 'not found ' + one.said}"
            )


def _decodes_as_named(path: Path) -> bool:
    """Whether our text holds the letters that the named encoding gives, markup left out."""
    try:
        parsed = parse(Source(path, path.read_bytes()))
        named = path.read_bytes().decode(encoding_in_name(path) or "utf-8", "replace")
    except (ParseFailure, LookupError):
        return False
    theirs = {word for word in re.findall(r"[^\W\d_]{2,}", named) if not word.isascii()}
    ours = {word for word in re.findall(r"[^\W\d_]{2,}", parsed.text) if not word.isascii()}
    return len(ours - theirs) * 20 <= len(ours)  # words that tags cut differ


if __name__ == "__main__":
    main()
