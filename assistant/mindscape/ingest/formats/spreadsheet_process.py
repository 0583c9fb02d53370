"""The messages of the process that reads a workbook, and what it means when it ends without the last one."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import IO, Any

from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

_MODULE = "mindscape.ingest.formats.spreadsheet_cells"


def messages(data: bytes) -> Iterator[list[Any]]:
    """`sheet`, `rows`, `end` and `failed` messages as `spreadsheet_cells` says them.

    Raises ParseFailure: PROTECTED, DAMAGED, or TOO_LARGE when the process ended before its time.
    """
    with subprocess.Popen(
        [sys.executable, "-P", "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        feeding = threading.Thread(target=_feed, args=(process.stdin, data), daemon=True)
        feeding.start()
        try:
            yield from _until_done(process.stdout)
        finally:
            process.kill()
            feeding.join()


def _feed(pipe: IO[bytes], data: bytes) -> None:
    # The process may end before it has read all; what it said until then tells why.
    with contextlib.suppress(BrokenPipeError), pipe:
        pipe.write(data)


def _until_done(lines: IO[bytes]) -> Iterator[list[Any]]:
    for line in lines:
        if not line.endswith(b"\n"):
            break
        message: list[Any] = json.loads(line)
        if message[0] == "done":
            return
        if message[0] == "protected":
            raise ParseFailure(Status.PROTECTED, "The workbook needs a password. Save a copy without one.")
        if message[0] == "damaged":
            raise ParseFailure(
                Status.DAMAGED,
                "The file is not a workbook, or is damaged. Open it in the program that made it and save it.",
            )
        yield message
    raise ParseFailure(
        Status.TOO_LARGE,
        "Reading the workbook takes more memory or time than one file may. Save its sheets as CSV files.",
    )
