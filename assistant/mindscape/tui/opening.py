"""The command that shows a file at a place: the user's editor for text, a viewer for the rest.

Argument lists only: nothing from a document's name ever goes through a shell.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mindscape.errors import NotFound, Refused

_PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "gvim", "view", "nano", "pico", "emacs", "emacsclient", "micro", "kak", "joe"}
)
_GOTO = frozenset({"code", "code-insiders", "codium", "cursor", "windsurf"})
_COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})
_VIEWED = frozenset({".pdf", ".epub", ".docx", ".odt", ".rtf", ".png", ".jpg", ".jpeg"})
_PDF_VIEWERS = (("evince", "-p"), ("okular", "-p"), ("zathura", "-P"))


@dataclass(frozen=True, slots=True)
class Opening:
    """An argument list, and whether it takes over the terminal until it ends."""

    command: list[str]
    in_terminal: bool


def opening_for(place: Mapping[str, Any], environ: Mapping[str, str] | None = None) -> Opening:
    """How to open the `get` result `place`. Raises NotFound (no such file) and Refused (no program)."""
    env = os.environ if environ is None else environ
    path, line, page = _file_of(place), place.get("line"), place.get("page")
    suffix = os.path.splitext(path)[1].lower()  # noqa: PTH122 - the name may not be UTF-8; stay with os.path
    if line and suffix not in _VIEWED:
        if editor := env.get("VISUAL") or env.get("EDITOR"):
            return Opening(_editor_command(editor, path, int(line)), in_terminal=True)
        return _without_editor(path, int(line), env)
    if suffix == ".pdf" and page and str(page).isdigit():
        for name, option in _PDF_VIEWERS:
            if _found(name, env):
                return Opening([name, option, str(page), path], in_terminal=False)
    if viewer := _viewer(env):
        return Opening([viewer, path], in_terminal=False)
    raise Refused(f"There is no program here that shows {path!r}; copy it to a machine that has one.")


def launch(opening: Opening) -> None:
    """Start it: in the terminal until it ends, else on its own. Raises Refused."""
    import subprocess

    program = opening.command[0]
    quiet = subprocess.DEVNULL
    try:
        if opening.in_terminal:
            if code := subprocess.call(opening.command):
                raise Refused(f"{program} ended with code {code}.")
        else:
            subprocess.Popen(opening.command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    except OSError as error:
        raise Refused(f"{program} could not be started: {error.strerror}.") from error


def _file_of(place: Mapping[str, Any]) -> str:
    """The file's path; its exact bytes where the name is not UTF-8."""
    document: Mapping[str, Any] = place["document"]
    path = str(document["path"])
    if encoded := document.get("path_bytes_b64"):
        import base64

        path = os.fsdecode(base64.b64decode(encoded))
    if not os.path.exists(path):  # noqa: PTH110 - surrogate escapes stay in str
        raise NotFound(f"{document['path']} is no longer there; 'mindscape status' will catch up with it.")
    return path


def _editor_command(editor: str, path: str, line: int) -> list[str]:
    """`$EDITOR` may carry options ("code -w"); the place is written as that editor expects it."""
    import shlex

    try:
        words = shlex.split(editor)
    except ValueError as error:
        raise Refused(f"The editor setting {editor!r} cannot be read: {error}.") from error
    if not words:
        raise Refused("The editor setting is blank; set VISUAL or EDITOR to a program's name.")
    name = os.path.basename(words[0])  # noqa: PTH119
    if name in _PLUS_LINE:
        return [*words, f"+{line}", path]
    if name in _GOTO:
        return [*words, "-g", f"{path}:{line}"]
    return [*words, f"{path}:{line}"] if name in _COLON_LINE else [*words, path]


def _without_editor(path: str, line: int, env: Mapping[str, str]) -> Opening:
    """No editor was chosen: the desktop's program, else an editor that is there."""
    if viewer := _viewer(env):
        return Opening([viewer, path], in_terminal=False)
    for name in ("nano", "vim", "vi"):
        if _found(name, env):
            return Opening(_editor_command(name, path, line), in_terminal=True)
    raise Refused("No editor was found; set VISUAL or EDITOR to a program's name.")


def _viewer(env: Mapping[str, str]) -> str | None:
    if sys.platform == "darwin":
        return "open"
    desktop = env.get("DISPLAY") or env.get("WAYLAND_DISPLAY")
    return "xdg-open" if desktop and _found("xdg-open", env) else None


def _found(name: str, env: Mapping[str, str]) -> bool:
    import shutil

    return shutil.which(name, path=env.get("PATH")) is not None
