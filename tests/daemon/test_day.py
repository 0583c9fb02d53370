"""A day in the life: editors, a sync tool and git at work at once; at rest the index equals the disk."""

from __future__ import annotations

import errno
import itertools
import os
import random
import shutil
import subprocess
import threading
import time
import unicodedata
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from mindscape.errors import MindscapeError
from mindscape_storage.database import open_reader
from mindscape_storage.dump import canonical_dump
from tests.daemon import editors
from tests.daemon.harness import Daemon

WORDS = (
    *("tide", "mill", "keeper", "lantern", "harbour", "ledger", "winter", "rope", "sluice", "barley"),
    *("herring", "kiln", "orchard", "ferry", "anchor", "almanac", "chapel", "gate", "meadow", "pilot"),
)
NAMES = ("Übung", "café", "naïve plan", "Zürich", "señal", "plain")


class Actor:
    """Does one thing to the library after another until told to stop; a sequence of its own for each seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.random = random.Random(seed)
        self.steps = 0

    def text(self) -> str:
        sentences = (
            " ".join(self.random.choices(WORDS, k=self.random.randint(5, 25))).capitalize() + "."
            for _ in range(self.random.randint(1, 20))
        )
        return f"# {self.random.choice(WORDS)} {self.random.random():.6f}\n\n" + " ".join(sentences) + "\n"

    def note(self) -> Path:
        """Any note there is."""
        shelves = [path for path in sorted(self.folder.iterdir()) if path.is_dir() and path.name[0] != "."]
        notes = sorted(self.random.choice(shelves).glob("*.md"))
        return self.random.choice(notes)

    def step(self) -> None:
        raise NotImplementedError

    def work(self, stop: threading.Event, pause: float) -> None:
        while not stop.wait(self.random.uniform(0, pause)):
            try:
                self.step()
            except IndexError:
                continue  # an empty shelf
            except OSError as error:
                if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY):
                    raise
                continue  # another one was there first, as it happens among people too
            self.steps += 1


class Vim(Actor):
    """Edits one note after another; now and then many times within a second."""

    def step(self) -> None:
        note = self.note()
        for _ in range(self.random.choice((1, 1, 1, 6))):
            editors.vim(note, self.text())


class Desktop(Actor):
    """Emacs and GTK programs: edits, appends, new notes, notes written in pieces, removals."""

    def step(self) -> None:
        note, kind = self.note(), self.random.random()
        if kind < 0.3:
            editors.emacs(note, self.text())
        elif kind < 0.6:
            editors.gtk(note, self.text())
        elif kind < 0.75:
            with note.open("a") as file:
                for _ in range(5):
                    file.write("One more line.\n")
                    file.flush()
        elif kind < 0.9:
            note.with_name(f"new {self.random.randrange(10**6)}.md").write_text(self.text())
        else:
            note.unlink()


class Sync(Actor):
    """Copies with other times, conflict copies, renames of case and spelling, folders that move."""

    def step(self) -> None:
        note = self.note()
        actions = (
            self._copy,
            self._copy,
            self._conflict,
            self._same_size,
            self._rename,
            self._folder,
            self._away,
        )
        self.random.choice(actions)(note)

    def _copy(self, note: Path) -> None:
        editors.rsync(note, self.text(), self.random.randrange(10**18, 2 * 10**18))

    def _conflict(self, note: Path) -> None:
        shutil.copy2(note, note.with_name(f"{note.stem}.sync-conflict-{self.random.randrange(10**6)}.md"))

    def _same_size(self, note: Path) -> None:
        """Other bytes, but the size and the time that were there."""
        status = note.stat()
        editors.rsync(note, note.read_text()[::-1].strip() + "\n", status.st_mtime_ns)

    def _rename(self, note: Path) -> None:
        name = f"{self.random.choice(NAMES)} {self.random.randrange(40)}"
        change = self.random.choice((str.upper, str.lower, str.title, str))
        form = self.random.choice(("NFC", "NFD"))
        note.rename(note.with_name(unicodedata.normalize(form, change(name)) + ".md"))

    def _folder(self, note: Path) -> None:
        note.parent.rename(self.folder / f"shelf {self.random.randrange(60)}")

    def _away(self, note: Path) -> None:
        """A folder leaves the library, is written to outside, and comes back or does not."""
        outside = self.folder.with_name(f"outside {self.random.randrange(10**9)}")
        note.parent.rename(outside)
        (outside / note.name).write_text(self.text())
        if self.random.random() < 0.8:
            outside.rename(self.folder / f"shelf {self.random.randrange(60)}")


class Git(Actor):
    """Switches a work tree between two branches that differ in most of its files."""

    def __init__(self, folder: Path, seed: int, files: int) -> None:
        super().__init__(folder, seed)
        self._tree = folder / "project"
        self._branches = itertools.cycle(("other", "main"))
        self._tree.mkdir()
        self._git("init", "-q", "-b", "main")
        notes = [self._tree / f"part {number % 12}" / f"page {number}.md" for number in range(files)]
        self._write(notes)
        self._commit()
        self._git("checkout", "-q", "-b", "other")
        for note in notes[::4]:
            note.unlink()
        self._write([note for note in notes if note.exists()][::2])
        self._write([self._tree / "added" / f"page {number}.md" for number in range(files // 4)])
        self._commit()
        self._git("checkout", "-q", "main")

    def step(self) -> None:
        self._git("checkout", "-q", "-f", next(self._branches))

    def _write(self, notes: list[Path]) -> None:
        for note in notes:
            note.parent.mkdir(exist_ok=True)
            note.write_text(self.text())

    def _commit(self) -> None:
        self._git("add", "-A")
        self._git("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "Pages")

    def _git(self, *command: str) -> None:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
        subprocess.run(["git", "-C", str(self._tree), *command], check=True, env=clean, capture_output=True)


class Reader(Actor):
    """Searches, and is answered every time but while the daemon is dead."""

    def __init__(self, folder: Path, seed: int, daemon: Daemon) -> None:
        super().__init__(folder, seed)
        self._daemon = daemon
        self.dead = threading.Event()
        self.seconds: list[float] = []

    def step(self) -> None:
        began, dead = time.perf_counter(), self.dead.is_set()
        try:
            found = self._daemon.call("search", query=" ".join(self.random.choices(WORDS, k=2)))
        except (MindscapeError, OSError):
            assert dead or self.dead.is_set()
            return
        assert found["results"]
        self.seconds.append(time.perf_counter() - began)


@contextmanager
def at_work(jobs: list[tuple[Actor, float]]) -> Generator[None]:
    """All of them work; what one of them fails with is raised in the end."""
    stop = threading.Event()
    with ThreadPoolExecutor(len(jobs)) as threads:
        working = [threads.submit(actor.work, stop, pause) for actor, pause in jobs]
        try:
            yield
        finally:
            stop.set()
        for each in working:
            each.result()


def on_disk(folder: Path) -> dict[str, str]:
    """Path -> text of every note that is not hidden."""
    notes = (path for path in folder.rglob("*.md") if not path.is_symlink())
    shown = (note for note in notes if all(part[0] != "." for part in note.relative_to(folder).parts))
    return {str(note): note.read_text() for note in shown}


def dumped(daemon: Daemon) -> dict[str, object]:
    connection = open_reader(daemon.paths.database)
    try:
        return canonical_dump(connection)
    finally:
        connection.close()


def live_a_day(tmp_path: Path, *, files: int, seconds: float, seed: int, say: Callable[[str], None]) -> None:
    folder = tmp_path / "library"
    folder.mkdir()
    writer = Vim(folder, seed)
    for number in range(files * 9 // 10):
        shelf = folder / f"shelf {number % 30}"
        shelf.mkdir(exist_ok=True)
        (shelf / f"note {number}.md").write_text(writer.text())
    daemon, fresh = Daemon(tmp_path / "home", workers="1"), Daemon(tmp_path / "fresh", workers="2")
    git, reader = Git(folder, seed + 1, files // 10), Reader(folder, seed + 2, daemon)
    others = (Desktop(folder, seed + 3), Sync(folder, seed + 4))
    actors: list[tuple[Actor, float]] = [(writer, 0.4), (git, 6.0), (reader, 0.2)]
    actors += [(actor, 0.3) for actor in others]
    half = threading.Event()
    try:
        assert daemon.start() == "ready"
        daemon.call("add", paths=[str(folder)])
        daemon.wait()
        with at_work(actors):
            half.wait(seconds / 2)  # how long they work, not a wait for anything
            reader.dead.set()
            daemon.kill()
            assert daemon.start() == "ready"
            reader.dead.clear()
            half.wait(seconds / 2)
        daemon.wait("searchable")
        assert daemon.indexed() == on_disk(folder)
        daemon.wait("embedded")
        status = daemon.wait("summarised")
        assert [check for check in daemon.call("doctor")["checks"] if check["state"] != "ok"] == []
        assert set(status["documents"]["by_status"]) == {"ok"}
        daemon.stop()
        assert fresh.start() == "ready"
        fresh.call("add", paths=[str(folder)])
        fresh.wait("embedded")
        fresh.wait("summarised")
        fresh.stop()
        assert dumped(daemon) == dumped(fresh)
        answers = sorted(reader.seconds)
        say(f"{ {type(actor).__name__: actor.steps for actor, _ in actors} }, work {status['work']}, ")
        say(f"answers: median {answers[len(answers) // 2]:.3f} s, longest {answers[-1]:.3f} s")
    finally:
        daemon.stop()
        fresh.stop()


needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@needs_git
def test_a_short_day_ends_with_the_index_equal_to_the_disk(tmp_path: Path) -> None:
    live_a_day(tmp_path, files=300, seconds=20, seed=1, say=print)


@needs_git
@pytest.mark.slow
def test_a_day_of_ten_minutes_ends_with_the_index_equal_to_the_disk(tmp_path: Path) -> None:
    seconds = float(os.environ.get("DAY_SECONDS", "600"))
    live_a_day(tmp_path, files=3_000, seconds=seconds, seed=int(os.environ.get("DAY_SEED", "2")), say=print)
