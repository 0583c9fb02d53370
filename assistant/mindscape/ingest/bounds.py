"""What may be said of a file besides its text is bounded, so that every part of it fits into a message.

The text itself is bounded by `parse.MAX_TEXT_BYTES` and travels in passages, which `passages.cut` bounds.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from mindscape.ingest.formats.outline import MAX_HEADING
from mindscape.ingest.parsed import Parsed

MAX_METADATA_BYTES = 256 << 10
"""All values together, as JSON."""
MAX_LINK = 2_000
MAX_WARNINGS = 50


def bounded(parsed: Parsed) -> Parsed:
    """The same, without properties and links of unreasonable size; a warning says what was left out."""
    metadata, dropped = _metadata(parsed.metadata)
    links = tuple(link for link in parsed.links if len(link) <= MAX_LINK)
    said = [warning[:MAX_LINK] for warning in parsed.warnings[:MAX_WARNINGS]]
    if dropped:
        said.append(f"Properties that are too large were left out: {', '.join(dropped)[:MAX_HEADING]}.")
    if len(links) < len(parsed.links):
        said.append(f"Links of over {MAX_LINK:,} characters were left out.")
    return replace(
        parsed,
        title=parsed.title[:MAX_HEADING] if parsed.title else parsed.title,
        metadata=metadata,
        links=links,
        marks=tuple(replace(mark, label=mark.label[:MAX_HEADING]) for mark in parsed.marks),
        warnings=tuple(said),
    )


def _metadata(values: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values that fit, smallest first, in their own order, and the names of the others."""
    sizes = {name: len(json.dumps({name: value})) for name, value in values.items()}
    kept: set[str] = set()
    left = MAX_METADATA_BYTES
    for name in sorted(sizes, key=lambda name: sizes[name]):
        if sizes[name] <= left:
            kept.add(name)
            left -= sizes[name]
    return {name: values[name] for name in values if name in kept}, [
        name for name in values if name not in kept
    ]
