"""Files that hurt: each gets a status with a sentence, the others are indexed, and nothing is lost."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

from tests.daemon.harness import Daemon


def statuses(daemon: Daemon) -> dict[str, tuple[str, str | None]]:
    rows = daemon.call("ls")["documents"]
    return {Path(row["path"]).name: (row["status"], row["reason"]) for row in rows}


def test_every_bad_file_has_a_status_and_a_sentence_and_the_good_ones_are_found(
    daemon: Daemon, folder: Path
) -> None:
    (folder / "good.md").write_text("# Good\n\nThe goodword stands here.\n")
    (folder / "empty.txt").write_bytes(b"")
    (folder / "blank.md").write_text("\n \n\t\n")
    (folder / "program").write_bytes(b"\x7fELF" + os.urandom(5000))
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + os.urandom(5000))
    (folder / "nul.txt").write_bytes(b"before\0after nulword\n")
    (folder / "bad utf8.txt").write_bytes("Здравствуйте мир utfword ".encode() * 20 + b"\xff\xfe tail\n")
    (folder / "long line.txt").write_text("word " * 400_000 + "lineword")
    (folder / "cut.pdf").write_bytes(b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog")
    (folder / "cut.docx").write_bytes(b"PK\x03\x04" + os.urandom(200))
    with zipfile.ZipFile(folder / "not a book.epub", "w") as archive:
        archive.writestr("readme.txt", "nothing")
    os.mkfifo(folder / "pipe.txt")
    daemon.call("add", paths=[str(folder)])
    status = daemon.wait()
    found = statuses(daemon)
    assert {name: what for name, (what, _) in found.items()} == {
        "good.md": "ok",
        "empty.txt": "empty",
        "blank.md": "empty",
        "program": "unsupported",
        "picture.png": "unsupported",
        "nul.txt": "ok",
        "bad utf8.txt": "ok",
        "long line.txt": "ok",
        "cut.pdf": "damaged",
        "cut.docx": "damaged",
        "not a book.epub": "damaged",
        "pipe.txt": "unsupported",
    }
    assert all(reason for what, reason in found.values() if what != "ok")
    assert sum(status["documents"]["by_status"].values()) == status["documents"]["total"] == len(found)
    for word in ("goodword", "nulword", "utfword", "lineword"):
        assert daemon.call("search", query=word)["results"], word


def test_a_parser_that_dies_twice_puts_the_file_aside_and_the_others_go_on(
    tmp_path: Path, folder: Path
) -> None:
    daemon = Daemon(tmp_path / "home", workers="1", parse_seconds="5")
    # Three million paragraphs take any machine longer than it is given here, and one never does.
    (folder / "slow.html").write_text("<p>word " * 3_000_000)
    (folder / "good.md").write_text("The goodword.\n")
    assert daemon.start() == "ready"
    try:
        daemon.call("add", paths=[str(folder)])
        daemon.wait()
        what, reason = statuses(daemon)["slow.html"]
        assert what in ("quarantined", "too_large")
        assert reason
        assert statuses(daemon)["good.md"] == ("ok", None)
        assert daemon.call("search", query="goodword")["results"]
    finally:
        daemon.stop()


@pytest.mark.skipif(not Path("/proc/version").exists(), reason="there is no /proc here")
def test_files_that_were_put_aside_or_waited_for_ever_are_settled(daemon: Daemon, folder: Path) -> None:
    names = [f"f{n}" for n in range(5_000)]
    wide = [names, *([f"{row}.{n}" for n in range(5_000)] for row in range(2))]
    (folder / "wide.csv").write_text("\n".join(",".join(row) for row in wide))
    (folder / "tail.txt").write_bytes(b"The tailword.\n" + b"\0" * 1_000_000)
    (folder / "nan.md").write_text("+++\nrating = nan\n+++\nThe nanword.\n")
    daemon.call("add", paths=[str(folder), "/proc/version"])
    daemon.wait()
    found = {name: what for name, (what, _) in statuses(daemon).items()}
    assert found == {"wide.csv": "ok", "tail.txt": "ok", "nan.md": "ok", "version": "unreadable"}


def test_a_file_that_grows_while_it_is_read_ends_with_what_is_on_the_disk(
    daemon: Daemon, folder: Path
) -> None:
    path = folder / "growing.txt"
    path.write_text("")
    daemon.call("add", paths=[str(folder)])
    with path.open("a") as file:
        for index in range(2_000):
            file.write(f"Line {index} of the growing file.\n")
            file.flush()
    daemon.wait()
    assert daemon.indexed() == {str(path): path.read_text()}
