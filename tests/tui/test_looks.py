"""The ask screen as a picture, and what its driver writes to a real terminal."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from mindscape.tui.app import MindscapeApp
from mindscape.tui.widgets.source_view import SourceView

from .conftest import FakeDaemon, answer, ask, citation, until

REPOSITORY = Path(__file__).parents[2]

ON_TERMINAL = """
from mindscape.tui.app import MindscapeApp
from tests.tui.conftest import FakeDaemon, answer, citation

HOSTILE = "\\x1b[2Jclear \\x1b]0;title\\x07 \\x1b]52;c;cHduZWQ=\\x07 \\x9b31m \\x00 "
daemon = FakeDaemon()
daemon.pieces = [{"token": character} for character in HOSTILE]
daemon.result = answer(answer=HOSTILE + "THE END", citations=[citation(path=HOSTILE, quote=HOSTILE)])
daemon.place |= {"text": HOSTILE, "heading": HOSTILE}
MindscapeApp(daemon.connect).run()
"""


def test_the_ask_screen_looks_as_it_should(
    app: MindscapeApp, daemon: FakeDaemon, snap_compare: Callable[..., bool]
) -> None:
    second = citation(2, path="/library/handbook.pdf", page="12", line=None, supported=False)
    daemon.result = answer(citations=[citation(), second])

    async def run_before(pilot: Pilot[Any]) -> None:
        await ask(pilot)
        view = app.screen.query_one(SourceView)
        await until(pilot, lambda: view.scroll_y > 0)
        daemon.progress(12, 40, "embedding")
        await until(pilot, lambda: app.library.indexing is not None)
        await pilot.wait_for_scheduled_animations()

    assert snap_compare(app, terminal_size=(100, 30), run_before=run_before)


def read_until(terminal: int, marker: bytes) -> bytes:
    """What is written up to the marker, or to the end."""
    written = b""
    while marker not in written:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, f"nothing more was written after {written[-200:]!r}"
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # Linux: the process has ended
            break
        if not piece:
            break
        written += piece
    return written


def test_no_text_reaches_the_terminal_as_a_command() -> None:
    terminal, slave = os.openpty()
    roots = [REPOSITORY, *(REPOSITORY / name for name in ("assistant", "models", "storage"))]
    environ = {**os.environ, "TERM": "linux", "COLUMNS": "100", "LINES": "30"}
    environ["PYTHONPATH"] = os.pathsep.join(map(str, roots))
    process = subprocess.Popen(
        [sys.executable, "-c", ON_TERMINAL], stdin=slave, stdout=slave, stderr=slave, env=environ
    )
    os.close(slave)
    try:
        written = read_until(terminal, b"sk your documents")  # what is typed before is lost
        os.write(terminal, b"x\r")
        written += read_until(terminal, b"THE END")
        os.write(terminal, b"\x11")
        written += read_until(terminal, b"(no marker: to the end)")
        assert process.wait() == 0
    finally:
        process.kill()
        os.close(terminal)
    assert b"THE END" in written
    for command in (b"\x1b[2Jclear", b"\x1b]0;", b"title\x07", b"\x1b]52;", "\x9b".encode(), b"\x00"):
        assert command not in written
