"""The file of details: what each question gave, as JSON lines, each written when it is known.

The first line holds the settings. A run that was ended goes on from what is there; a file of other settings
is refused, for its lines would not be comparable.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from mindscape.errors import Refused
from mindscape.evaluate.runs import Detailed, Row, Run
from mindscape.evaluate.settings import Settings


class Details:
    """An open file of details; without a file nothing is kept."""

    def __init__(self, file: BinaryIO | None, done: dict[str, Row]) -> None:
        self._file = file
        self.done = done
        """What was there already, by question."""

    def add(self, one: Detailed) -> None:
        """Write down what a question gave."""
        if self._file is not None:
            _write(
                self._file,
                {
                    "id": one.row.id,
                    "document": one.row.document,
                    "scores": [{**run._asdict(), "value": value} for run, value in one.row.scores.items()],
                    "found": one.found,
                    "said": one.said,
                },
            )


@contextmanager
def opened(path: Path | None, settings: Settings, *, resume: bool) -> Generator[Details]:
    """Open a file of details. Raises Refused: of other settings, damaged, or there without `resume`."""
    if path is None:
        yield Details(None, {})
        return
    if path.exists() and not resume:
        raise Refused(f"{path} is there already: add --resume to go on with it, or name another file.")
    try:
        file = path.open("a+b")
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.") from error
    with file:
        yield Details(file, _read(path, file, settings))


def _read(path: Path, file: BinaryIO, settings: Settings) -> dict[str, Row]:
    """What is there; half a line at the end, of a run that was killed, is cut off."""
    file.seek(0)
    done: dict[str, Row] = {}
    whole = 0
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        try:
            row = json.loads(line)
            if number == 1:
                _check(path, row["settings"], settings)
            else:
                done[row["id"]] = _row(row)
        except (ValueError, KeyError, TypeError) as error:
            raise Refused(f"{path}, line {number} is no line of details: name another file.") from error
        whole += len(line)
    file.truncate(whole)
    if not whole:
        _write(file, {"settings": settings})
    return done


def _check(path: Path, there: Settings, settings: Settings) -> None:
    for key in (*settings, *there):
        if there.get(key) != settings.get(key):
            raise Refused(
                f"{path} is of other settings: its {key} is {json.dumps(there.get(key))}, "
                f"not {json.dumps(settings.get(key))}. Name another file, or repeat what it was begun with."
            )


def _row(row: dict[str, Any]) -> Row:
    scores: dict[Run, float] = {}
    for score in row["scores"]:
        value = float(score.pop("value"))
        scores[Run(**score)] = value
    return Row(row["id"], row["document"], scores)


def _write(file: BinaryIO, value: dict[str, Any]) -> None:
    """One line, in one piece, so that a kill leaves at most the last line unfinished."""
    file.write(json.dumps(value).encode() + b"\n")
    file.flush()
