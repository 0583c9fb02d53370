"""Reads a workbook in a process of its own: the library in native code ends it when memory runs out.

`python -m mindscape.ingest.formats.spreadsheet_cells`: the file on standard input, on standard output a JSON
array a line: `["sheet", name, is_hidden, first column, merged]`, `["rows", [row, ...]]` from the first row of
the sheet on, and `["end"]`, or `["failed", sheet]`; in the end `["done"]`, or `["protected"]`, `["damaged"]`.
"""

from __future__ import annotations

import io
import json
import re
import resource
import sys
from datetime import date, datetime, time, timedelta
from typing import Any

from python_calamine import (
    CalamineSheet,
    CalamineWorkbook,
    PasswordError,
    SheetTypeEnum,
    SheetVisibleEnum,
    load_workbook,
)

MEMORY_BYTES = 2 << 30
CPU_SECONDS = 240
_BATCH_ROWS = 500
_DURATION = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:\.\d+)?S")


def shown(value: Any) -> str:
    """A cell as people see it, as far as the file tells: dates in ISO form, numbers with up to 15 digits."""
    if isinstance(value, str):
        duration = _DURATION.fullmatch(value)
        return f"{int(duration[1])}:{duration[2]}:{duration[3]}" if duration else value
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, datetime):
        moment = (value + timedelta(microseconds=500_000)).replace(microsecond=0)
        return moment.isoformat(" ").removesuffix(" 00:00:00").removesuffix(":00")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, time):
        return value.replace(microsecond=0).isoformat().removesuffix(":00")
    return _duration(value) if isinstance(value, timedelta) else str(value)


def _number(value: float) -> str:
    if value == value and abs(value) < 1e21 and value == int(value):
        return str(int(value))
    return f"{value:.15g}"


def _duration(value: timedelta) -> str:
    seconds = round(value.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("", seconds)
    return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


def main() -> None:
    """Write everything that is in the workbook, sheet by sheet."""
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    _limit(resource.RLIMIT_CPU, CPU_SECONDS)
    data = io.BytesIO(sys.stdin.buffer.read())
    try:
        workbook = load_workbook(data)
    except PasswordError:
        _say("protected")
    except BaseException:  # noqa: BLE001 - a panic of the library is no Exception
        _say("damaged")
    else:
        for place, sheet in enumerate(workbook.sheets_metadata):
            if sheet.typ is SheetTypeEnum.WorkSheet:
                _say_sheet(workbook, place, sheet.name, sheet.visible is not SheetVisibleEnum.Visible)
        _say("done")


def _say_sheet(workbook: CalamineWorkbook, place: int, name: str, is_hidden: bool) -> None:
    try:
        sheet = workbook.get_sheet_by_index(place)
        _say("sheet", name, is_hidden, sheet.start[1] if sheet.start else 0, _merged(sheet))
        rows: list[list[str]] = []
        for row in sheet.iter_rows():
            rows.append([shown(value) for value in row] if any(value != "" for value in row) else [])
            if len(rows) == _BATCH_ROWS:
                _say("rows", rows)
                rows = []
        _say("rows", rows)
        _say("end")
    except OSError:
        raise
    except BaseException:  # noqa: BLE001 - a panic of the library is no Exception
        _say("failed", name)


def _merged(sheet: CalamineSheet) -> list[list[int]]:
    """First row, first column, last row and last column of what is merged, all from 0."""
    return [[*first, *last] for first, last in sheet.merged_cell_ranges or ()]


def _say(*message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")


def _limit(kind: int, value: int) -> None:
    soft, hard = resource.getrlimit(kind)
    allowed = min(held for held in (value, soft, hard) if held != resource.RLIM_INFINITY)
    resource.setrlimit(kind, (allowed, hard))


if __name__ == "__main__":
    main()
