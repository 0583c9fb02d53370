"""Opening a place: the right program, the right way to say a line or page, never a shell."""

from __future__ import annotations

import base64
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from mindscape.errors import NotFound, Refused
from mindscape.tui.opening import Opening, launch, opening_for


def place(path: Path | str, line: int | None = 7, page: str | None = None) -> dict[str, Any]:
    Path(path).touch()
    return {"document": {"path": str(path)}, "line": line, "page": page}


def programs(folder: Path, *names: str) -> str:
    """A PATH on which there are only these programs."""
    folder.mkdir()
    for name in names:
        (folder / name).touch(0o755)
    return str(folder)


@pytest.mark.parametrize(
    ("editor", "command"),
    [
        ("vim", ["vim", "+7", "{}"]),
        ("/usr/bin/nano -w", ["/usr/bin/nano", "-w", "+7", "{}"]),
        ("emacsclient -t", ["emacsclient", "-t", "+7", "{}"]),
        ("code -w", ["code", "-w", "-g", "{}:7"]),
        ("hx", ["hx", "{}:7"]),
        ("ed", ["ed", "{}"]),
        ("'/opt/my editor/vim'", ["/opt/my editor/vim", "+7", "{}"]),
    ],
)
def test_each_editor_is_told_the_line_in_its_way(tmp_path: Path, editor: str, command: list[str]) -> None:
    note = tmp_path / "a note; rm -rf $HOME `x`.md"
    opening = opening_for(place(note), {"EDITOR": editor})
    assert opening == Opening([word.replace("{}", str(note)) for word in command], in_terminal=True)


def test_visual_comes_before_editor(tmp_path: Path) -> None:
    opening = opening_for(place(tmp_path / "a.md"), {"VISUAL": "nano", "EDITOR": "vim"})
    assert opening.command[0] == "nano"


@pytest.mark.parametrize("editor", ["'unclosed", " "])
def test_an_editor_setting_that_makes_no_sense_is_refused(tmp_path: Path, editor: str) -> None:
    with pytest.raises(Refused):
        opening_for(place(tmp_path / "a.md"), {"EDITOR": editor})


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS opens everything with `open`")
def test_without_an_editor_there_is_the_desktop_then_what_is_installed(tmp_path: Path) -> None:
    path = programs(tmp_path / "bin", "xdg-open", "vi")
    note = place(tmp_path / "a.md")
    assert opening_for(note, {"PATH": path, "DISPLAY": ":0"}).command[0] == "xdg-open"
    assert opening_for(note, {"PATH": path}).command[:2] == ["vi", "+7"]
    with pytest.raises(Refused, match="VISUAL or EDITOR"):
        opening_for(note, {"PATH": str(tmp_path)})


@pytest.mark.skipif(sys.platform == "darwin", reason="macOS opens everything with `open`")
def test_a_pdf_is_shown_at_its_page_where_the_viewer_can(tmp_path: Path) -> None:
    report = place(tmp_path / "r.pdf", line=None, page="12")
    path = programs(tmp_path / "bin", "xdg-open", "zathura")
    environ = {"PATH": path, "DISPLAY": ":0", "EDITOR": "vim"}
    assert opening_for(report, environ).command == ["zathura", "-P", "12", str(tmp_path / "r.pdf")]
    assert opening_for({**report, "page": "xii"}, environ).command[0] == "xdg-open"
    with pytest.raises(Refused):
        opening_for(report, {"PATH": str(tmp_path), "EDITOR": "vim"})


@pytest.mark.skipif(sys.platform == "darwin", reason="APFS takes no names that are not UTF-8")
def test_a_name_that_is_not_utf8_is_opened_by_its_bytes(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    Path(os.fsdecode(name)).touch()
    document = {"path": "caf\ufffd.txt", "path_bytes_b64": base64.b64encode(name).decode()}
    opening = opening_for({"document": document, "line": 1, "page": None}, {"EDITOR": "vim"})
    assert os.fsencode(opening.command[-1]) == name


def test_a_file_that_is_gone_is_said(tmp_path: Path) -> None:
    gone = place(tmp_path / "a.md")
    (tmp_path / "a.md").unlink()
    with pytest.raises(NotFound, match="no longer there"):
        opening_for(gone, {"EDITOR": "vim"})


def test_a_program_that_fails_or_is_not_there_is_said() -> None:
    launch(Opening([sys.executable, "-c", "pass"], in_terminal=True))
    with pytest.raises(Refused, match="ended with code 3"):
        launch(Opening([sys.executable, "-c", "raise SystemExit(3)"], in_terminal=True))
    with pytest.raises(Refused, match="could not be started"):
        launch(Opening(["/no/such/viewer"], in_terminal=False))
