"""What clients send with a call, checked as it comes in. Each raises UsageError with a sentence."""

from __future__ import annotations

import base64
import os
from datetime import date

from mindscape.errors import UsageError
from mindscape.protocol import Json
from mindscape.text import display_path

MAX_RESULTS = 200
LONGEST_WAIT = 10_000_000
"""Seconds."""


def paths(params: Json) -> list[bytes]:
    """`paths` as text or `paths_b64` as base64 of bytes; absolute: the daemon has no folder of its own."""
    try:
        given = [os.fsencode(path) for path in params.get("paths", ())]
        given += [base64.b64decode(path, validate=True) for path in params.get("paths_b64", ())]
    except (TypeError, ValueError, UnicodeError) as error:
        raise UsageError(f"paths is a list of texts, paths_b64 a list of base64 texts: {error}.") from error
    if not given:
        raise UsageError("Name at least one file or folder.")
    for path in given:
        if not path.startswith(b"/") or b"\0" in path:
            raise UsageError(f"{display_path(path)} is not an absolute path.")
    return [os.path.normpath(path) for path in given]


def text(params: Json, name: str) -> str:
    """A text that must be given."""
    value = params.get(name)
    if not isinstance(value, str):
        raise UsageError(f"{name} must be given, as text.")
    # Half of a surrogate pair can arrive in JSON but can neither be stored nor sent.
    return value.encode("utf-8", "replace").decode("utf-8")


def optional_text(params: Json, name: str) -> str | None:
    """The same, or None where it is not given."""
    return None if params.get(name) is None else text(params, name)


def day(params: Json, name: str) -> str | None:
    """A date as YYYY-MM-DD, or None where it is not given."""
    given = optional_text(params, name)
    try:
        return None if given is None else date.fromisoformat(given).isoformat()
    except ValueError:
        raise UsageError(f'"{given}" is not a date. Write it as 2026-03-31.') from None


def boolean(params: Json, name: str) -> bool:
    """True or false; false where it is not given."""
    value = params.get(name, False)
    if not isinstance(value, bool):
        raise UsageError(f"{name} is true or false.")
    return value


def seconds(params: Json) -> float | None:
    """`timeout`, or None where it is not given."""
    value = params.get("timeout")
    if value is None:
        return None
    # Not-a-number compares as neither.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LONGEST_WAIT:
        raise UsageError(f"timeout is a number of seconds from 0 to {LONGEST_WAIT}.")
    return float(value)


def count(params: Json, name: str, default: int) -> int:
    """A number of results."""
    value = params.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= MAX_RESULTS:
        raise UsageError(f"{name} is a whole number from 1 to {MAX_RESULTS}.")
    return value


def whole(params: Json, name: str, default: int, most: int) -> int:
    """A whole number from 0 to `most`."""
    value = params.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise UsageError(f"{name} is a whole number from 0 to {most:,}.")
    return value
