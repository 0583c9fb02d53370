"""Text from documents is data: made safe to show, never interpreted."""

from __future__ import annotations

import os
import re

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_TAG = re.compile(r"<(?=[|/!A-Za-z_])|[\[\uff3b\u3010](?=/?INST)")


def printable(text: str) -> str:
    """The text with terminal controls and bidirectional overrides shown as U+FFFD.

    Tabs and line ends stay. Length in code points does not change.
    """
    return _CONTROL.sub("\ufffd", text.replace("\r\n", " \n").replace("\r", "\n"))


def inert(text: str) -> str:
    """Text of a document as a model may read it: nothing in it can end a turn or open another."""
    return _TAG.sub("\u2039", printable(text))


def display_path(path: bytes) -> str:
    """A path as text for people: bytes that are not UTF-8 and controls become U+FFFD."""
    text = os.fsdecode(path).encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return (
        _CONTROL.sub("\ufffd", text).replace("\n", "\ufffd").replace("\r", "\ufffd").replace("\t", "\ufffd")
    )
