"""What holds for whatever a parser gives."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Parsed, Source


def parsed(name: str, data: bytes | str) -> Parsed:
    """The file parsed, its shape checked."""
    raw = data.encode() if isinstance(data, str) else data
    result = parse(Source(Path(name), raw))
    assert_well_formed(result)
    return result


def assert_well_formed(result: Parsed) -> None:
    """Blocks sorted, apart and not blank; sections and marks sorted; everything inside the text."""
    length = len(result.text)
    end = 0
    for block in result.blocks:
        assert end <= block.start < block.end <= length
        assert result.text[block.start : block.end].strip() == result.text[block.start : block.end]
        end = block.end
    for before, after in zip(result.sections, result.sections[1:], strict=False):
        assert before.start < after.start
        assert before.end <= after.start or before.end >= after.end
    for ordinal, section in enumerate(result.sections):
        assert section.ordinal == ordinal
        assert 0 <= section.start < section.end <= length
        assert section.path[-1] == section.heading
    starts = [mark.start for mark in result.marks]
    assert starts == sorted(starts)
    assert all(0 <= start <= length for start in starts)
    assert "\0" not in result.text
    json.dumps([result.metadata, result.links, result.warnings])
    result.text.encode()


def slices(result: Parsed, kind: str) -> list[str]:
    """The text of the blocks of one kind."""
    return [result.text[block.start : block.end] for block in result.blocks if block.kind == kind]


def calls(name: str, text: str) -> int:
    """How many functions a parse calls, which does not depend on the machine."""
    source = Source(Path(name), text.encode())
    parse(source)
    count = 0

    def counted(frame: object, event: str, held: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        parse(source)
    finally:
        sys.setprofile(before)
    return count
