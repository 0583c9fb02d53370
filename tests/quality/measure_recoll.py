"""Beside Recoll, in the same run: how long until words are found, and which files are found by their words.

`python -m tests.quality.measure_recoll FOLDER...` indexes the folders with `recollindex` and with Mindscape
to tier searchable, each from nothing and in a folder of its own, and prints wall and CPU time and the size
of the index. Then it asks both for phrases. Programs that share no code with either parser choose them (see
`independent`): for each file a phrase that stands in few others. A file is right when the phrase finds it.

Recoll uses the helper programs that are installed; those it says it misses are printed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from urllib.parse import unquote

import psutil
from tests.daemon.harness import Daemon
from tests.quality.independent import pieces_of

WORDS = 4
"""In a phrase, where a file has so many; of scripts without spaces so many characters."""
MAX_FILES = 3
"""In which a phrase stands by what the independent programs say."""
RESULTS = 100
_WORD = re.compile(r"[^\W_]+")
_RUN = re.compile(r"(?<![\w'\u2019-])[^\W\d_]{1,20}(?: [^\W\d_]{1,20})*(?![\w'\u2019-])")
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]{4,}")


@dataclass(frozen=True, slots=True)
class Probe:
    """A phrase and a file in which it stands."""

    file: str
    phrase: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What it took to index everything, in seconds and bytes."""

    wall: float
    cpu: float
    size: int


def phrases(text: str, words: int) -> list[str]:
    """What can be asked for: so many words with nothing but spaces between, or characters without any."""
    text = unicodedata.normalize("NFC", text)
    found = [run[:WORDS] for run in _UNSPACED.findall(text)]
    for run in _RUN.findall(text):
        parts = run.split(" ")
        found += [" ".join(parts[at : at + words]) for at in range(len(parts) - words + 1)]
    return [phrase for phrase in found if max(map(len, phrase.split(" "))) >= WORDS]


def probes_of(files: Sequence[Path], seed: int) -> list[Probe]:
    """A phrase for every file that has one which stands in few others, as long as there is one."""
    said = {file: "\n".join(piece.text for piece in pieces_of(file)) for file in files}
    rng = random.Random(seed)
    probes: dict[Path, Probe] = {}
    for words in range(WORDS, 0, -1):
        found = {file: {phrase.casefold() for phrase in phrases(text, words)} for file, text in said.items()}
        seen = Counter(phrase for held in found.values() for phrase in held)
        for file, held in found.items():
            rare = sorted(phrase for phrase in held if seen[phrase] <= MAX_FILES)
            if rare and file not in probes:
                probes[file] = Probe(str(file), rng.choice(rare))
    return [probes[file] for file in files if file in probes]


class Recoll:
    """An index of its own, with the settings Recoll comes with."""

    def __init__(self, home: Path, folders: Sequence[Path]) -> None:
        home.mkdir()
        self._home = home
        topdirs = " ".join(f'"{folder}"' for folder in folders)
        (home / "recoll.conf").write_text(f"topdirs = {topdirs}\nloglevel = 2\n")
        # Its filters are scripts for the system's Python, which has their modules.
        path = f"/usr/bin:/bin:{os.environ.get('PATH', '')}"
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        self._environment = {**clean, "PATH": path, "RECOLL_CONFDIR": str(home)}

    def index(self) -> Cost:
        """Index everything from nothing."""
        began, before = time.monotonic(), os.times()
        subprocess.run(["recollindex", "-z"], env=self._environment, capture_output=True, check=False)
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        return Cost(time.monotonic() - began, cpu, _size(self._home / "xapiandb"))

    def missing(self) -> str:
        """The helper programs it would have used."""
        file = self._home / "missing"
        return " ".join(file.read_text().split()) if file.exists() else ""

    def finds(self, probe: Probe) -> bool:
        """Whether the file is among the results for the phrase."""
        command = ["recollq", "-b", "-n", f"0-{RESULTS}", f'"{probe.phrase}"']
        done = subprocess.run(command, env=self._environment, capture_output=True, check=False)
        return any(
            unquote(line.partition("file://")[2]) == probe.file or line.endswith(probe.file)
            for line in done.stdout.decode("utf-8", "replace").splitlines()
        )


class Mindscape:
    """A library of its own."""

    def __init__(self, home: Path, folders: Sequence[Path]) -> None:
        self._daemon = Daemon(home)
        self._folders = folders

    def index(self) -> Cost:
        """Start, add the folders and wait for tier searchable; embedding goes on later."""
        began = time.monotonic()
        assert self._daemon.start() == "ready"
        self._daemon.call("add", paths=[str(folder) for folder in self._folders])
        self._daemon.call("wait", tier="searchable", timeout=None)
        wall = time.monotonic() - began
        assert self._daemon.process
        parent = psutil.Process(self._daemon.process.pid)
        spent = [process.cpu_times() for process in (parent, *parent.children())]
        cpu = sum(one.user + one.system for one in spent) + spent[0].children_user + spent[0].children_system
        return Cost(wall, cpu, _size(self._daemon.paths.database.parent, "library.db*"))

    def statuses(self) -> dict[str, str]:
        """Path -> status."""
        return {row["path"]: row["status"] for row in self._daemon.call("ls")["documents"]}

    def finds(self, probe: Probe) -> bool:
        """Whether a passage of the file that holds the phrase is among the results."""
        wanted = _squeezed(probe.phrase)
        answer = self._daemon.call("search", query=f'"{probe.phrase}"', k=RESULTS)
        for result in answer["results"]:
            paths = {result["document"]["path"], *(also["path"] for also in result.get("also", ()))}
            if probe.file in paths and wanted in _squeezed(result["text"]):
                return True
        return False

    def stop(self) -> None:
        """End the daemon."""
        self._daemon.stop()


def _squeezed(text: str) -> str:
    return "".join(_WORD.findall(unicodedata.normalize("NFKC", text).casefold()))


def _size(folder: Path, pattern: str = "**/*") -> int:
    return sum(file.stat().st_size for file in folder.glob(pattern) if file.is_file())


def _files(folders: Iterable[Path]) -> list[Path]:
    found = (path for folder in folders for path in sorted(folder.rglob("*")))
    return [path for path in found if path.is_file() and not any(p.startswith(".") for p in path.parts)]


def _kept(file: Path | None, files: Sequence[Path], seed: int) -> list[Probe]:
    """The probes in the file; made, and kept there, when it is not there yet."""
    if file is not None and file.exists():
        return [Probe(*row) for row in json.loads(file.read_text())]
    probes = probes_of(files, seed)
    if file is not None:
        file.write_text(json.dumps([astuple(probe) for probe in probes], ensure_ascii=False, indent=0))
    return probes


def report(rows: Sequence[tuple[Probe, bool, bool]], statuses: dict[str, str]) -> None:
    """A row for each type, then every file that only one of them finds, or none."""
    by_type: dict[str, list[tuple[bool, bool]]] = defaultdict(list)
    for probe, recoll, mindscape in rows:
        by_type[Path(probe.file).suffix.lower() or "(none)"].append((recoll, mindscape))
    by_type["all"] = [(recoll, mindscape) for _, recoll, mindscape in rows]
    print(f"\n{'type':<12}{'files':>7}{'recoll':>8}{'mindscape':>11}{'only r.':>9}{'only m.':>9}")
    for kind, found in by_type.items():
        only = sum(r and not m for r, m in found), sum(m and not r for r, m in found)
        right = sum(r for r, _ in found), sum(m for _, m in found)
        print(f"{kind:<12}{len(found):>7}{right[0]:>8}{right[1]:>11}{only[0]:>9}{only[1]:>9}")
    for title, wanted in (
        ("only Recoll", (True, False)),
        ("only Mindscape", (False, True)),
        ("none", (False, False)),
    ):
        print(f"\n{title}:")
        for probe, recoll, mindscape in rows:
            if (recoll, mindscape) == wanted:
                status = statuses.get(probe.file, "not listed")
                print(f"  {Path(probe.file).name}  [{status}]  {probe.phrase!r}")


def measure(scratch: Path, folders: Sequence[Path], probes: Sequence[Probe], times: int) -> None:
    """Index so many times, in turn; then ask the last two for everything."""
    for number in range(times):
        recoll = Recoll(scratch / f"recoll {number}", folders)
        mindscape = Mindscape(scratch / f"mindscape {number}", folders)
        costs = {"recoll": recoll.index(), "mindscape": mindscape.index()}
        for name, one in costs.items():
            size = f"{one.size / 1e6:.1f} MB"
            print(f"{name:<12}{one.wall:8.1f} s of time{one.cpu:8.1f} s of CPU   index {size}")
        print(f"time, mindscape / recoll: {costs['mindscape'].wall / costs['recoll'].wall:.2f}")
        if number + 1 == times:
            print(f"helpers that Recoll misses: {recoll.missing() or 'none'}")
            rows = [(probe, recoll.finds(probe), mindscape.finds(probe)) for probe in probes]
            report(rows, mindscape.statuses())
        mindscape.stop()


def main() -> None:
    """See the module."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folders", nargs="+", type=Path)
    options.add_argument("--probes", type=Path, help="keep the phrases in this file, or use those in it")
    options.add_argument("--repeat", type=int, default=1, help="index so many times, in turn")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    folders = [folder.resolve() for folder in given.folders]
    files = _files(folders)
    probes = _kept(given.probes, files, given.seed)
    for file in files:
        file.read_bytes()  # so that the first of the two does not pay for the disk
    with tempfile.TemporaryDirectory() as scratch:
        measure(Path(scratch), folders, probes, given.repeat)


if __name__ == "__main__":
    if not shutil.which("recollindex"):
        raise SystemExit("Recoll is not installed: apt-get install recollcmd (and the helpers it suggests).")
    main()
