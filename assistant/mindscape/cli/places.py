"""Paths and places as the daemon needs them: it works in another folder than the user."""

from __future__ import annotations

import base64
import os
import re

_RANGE = re.compile(r"(?P<path>.+?)(?P<range>:\d+(?:-\d+)?| p\. ?\S+)$", re.DOTALL)
_NAME = re.compile(r"p?\d+")


def encoded_path(path: str) -> str:
    """The absolute path's bytes in base64: a file's name need not be UTF-8, JSON must."""
    return base64.b64encode(os.fsencode(os.path.abspath(path))).decode("ascii")  # noqa: PTH100 - links stay


def absolute_place(place: str) -> str:
    """PLACE with its path made absolute, when it is the path of something that is there.

    Document and passage ids (`12`, `p12`) and names the daemon knows better stay as they are.
    """
    if _NAME.fullmatch(place):
        return place
    found = _RANGE.fullmatch(place)
    for path, rest in ((place, ""), (found["path"], found["range"])) if found else ((place, ""),):
        full = os.path.abspath(os.path.expanduser(path))  # noqa: PTH100, PTH111 - links stay
        if path and os.path.exists(full):  # noqa: PTH110 - the name may not be UTF-8
            return full + rest
    return place
