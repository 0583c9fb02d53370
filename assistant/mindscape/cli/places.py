"""Paths and places as the daemon needs them: it works in another folder than the user."""

from __future__ import annotations

import argparse
import base64
import os
import re
from typing import Any

from mindscape import client
from mindscape.errors import UsageError
from mindscape.paths import Paths
from mindscape.text import display_path

_RANGE = re.compile(r"(?P<path>.+?)(?P<range>:\d+(?:-\d+)?| p\. ?\S+)$", re.DOTALL)
_CALLED = {"scope": "scope", "upto": "place after --upto"}
_NAME = re.compile(r"p?\d+")


def encoded_path(path: str) -> str:
    """The absolute path's bytes in base64: a file's name need not be UTF-8, JSON must."""
    return base64.b64encode(os.fsencode(os.path.abspath(path))).decode("ascii")  # noqa: PTH100 - links stay


def absolute_place(place: str, paths: Paths) -> str:
    """PLACE with its path made absolute, when it is the path of something that is there.

    Document and passage ids (`12`, `p12`) and names the daemon knows better stay as they are. A path that
    is not UTF-8, which JSON cannot carry, becomes the document's id.
    """
    if _NAME.fullmatch(place):
        return place
    found = _RANGE.fullmatch(place)
    for path, rest in ((place, ""), (found["path"], found["range"])) if found else ((place, ""),):
        full = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - links stay
        if path and os.path.exists(full):  # noqa: PTH110 - the name may not be UTF-8
            return _as_text(full, paths) + rest
    return place


def limits(args: argparse.Namespace, paths: Paths) -> dict[str, str | None]:
    """`scope` and `upto` of a request. Raises UsageError for one that is empty, as an unset variable is.

    Without this everything would be shown, also what stands behind the bookmark.
    """
    given: dict[str, str | None] = {"scope": args.scope, "upto": args.upto}
    for name, place in given.items():
        if place is not None and not place.strip():
            raise UsageError(f"The {_CALLED[name]} is empty.")
    return {name: None if place is None else absolute_place(place, paths) for name, place in given.items()}


def document_called(place: str, paths: Paths) -> dict[str, Any] | None:
    """The row of `ls` that PLACE names as a whole: by id, by path, or by the end of one path only."""
    rows: list[dict[str, Any]] = client.request(paths, "ls", {})["documents"]
    exact = encoded_path(os.path.expanduser(place))  # noqa: PTH111 - as above
    for row in rows:
        if str(row["id"]) == place or row.get("path_bytes_b64") == exact:
            return row
    ending = [row for row in rows if f"/{row['path']}".endswith(f"/{place}")]
    return ending[0] if len(ending) == 1 else None


def _as_text(path: str, paths: Paths) -> str:
    raw = os.fsencode(path)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        document = document_called(path, paths)
        # A folder has no id; the daemon knows it by the name it shows.
        return display_path(raw) if document is None else str(document["id"])
