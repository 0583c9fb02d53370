"""Changes, kills and comparisons for some minutes: exit code 0 when no comparison showed a difference.

    python -m tests.soak [--minutes 30] [--seed N]

The seed decides all changes, and when after each the daemon is killed; how far the daemon has come by then is
its own affair.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from mindscape.errors import MindscapeError
from tests.daemon.harness import Daemon
from tests.soak.compare import differences, fresh_state, settle, state_of
from tests.soak.disk import Disk

KILLS = 0.25
"""Share of the changes after which the daemon is killed."""
LONGEST_LIFE = 3.0
"""Seconds from a change to the kill."""
LINES = 30


class Soak:
    """One daemon over one folder, with what has happened to it."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.rng = random.Random(seed + 1)
        self.disk = Disk(root / "library", seed)
        self.daemon = Daemon(root / "home", workers="1")
        self.changes = self.kills = self.comparisons = 0

    def begin(self) -> None:
        self._start()
        self.daemon.call("add", paths=[str(self.disk.folder)])

    def round(self) -> list[str]:
        """Some changes and kills, then a comparison. Returns what is wrong, a line each."""
        for _ in range(self.rng.randint(3, 20)):
            print(f"  {self.disk.change()}", flush=True)
            self.changes += 1
            time.sleep(self.rng.choice((0, 0, 0.05, self.rng.uniform(0, 1.5))))
            if self.rng.random() < KILLS:
                self._kill()
        return self._compare()

    def summary(self, differing: int) -> str:
        done = f"{self.changes} changes, {self.kills} kills, {self.comparisons} comparisons"
        return f"{done}, {differing} differences"

    def _start(self) -> None:
        said = self.daemon.start()
        assert said == "ready", said

    def _kill(self) -> None:
        """After a moment; some changes happen while it is dead, and now and then it dies as it starts."""
        time.sleep(self.rng.uniform(0, LONGEST_LIFE))
        self._check_alive()
        self.daemon.kill()
        self.kills += 1
        for _ in range(self.rng.choice((0, 0, 1, 4))):
            print(f"  while it is dead: {self.disk.change()}", flush=True)
            self.changes += 1
        self._start()
        if self.rng.random() < 0.3:
            self._kill()

    def _check_alive(self) -> None:
        assert self.daemon.process is not None
        if (code := self.daemon.process.poll()) is not None:
            raise MindscapeError(f"The daemon ended by itself, with exit code {code}.")

    def _compare(self) -> list[str]:
        self._check_alive()
        settle(self.daemon)
        checks = self.daemon.call("doctor")["checks"]
        found = [f"doctor: {check['message']}" for check in checks if check["state"] != "ok"]
        fresh = self.root / "fresh"
        lived = state_of(self.daemon)
        found += differences(lived, fresh_state(fresh, self.disk.folder))
        self.comparisons += 1
        documents, passages = len(lived.dump["documents"]), len(lived.vectors)
        print(f"{self.summary(len(found))} ({documents} documents, {passages} vectors)", flush=True)
        if not found:
            shutil.rmtree(fresh)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, _terminated)
    root = Path(tempfile.mkdtemp(prefix="mindscape-soak-")).resolve()
    print(f"seed {given.seed}, in {root}", flush=True)
    soak = Soak(root, given.seed)
    end = time.monotonic() + given.minutes * 60
    try:
        soak.begin()
        found = soak.round()
        while not found and time.monotonic() < end:
            found = soak.round()
    except MindscapeError as error:
        found = [str(error)]
    finally:
        soak.daemon.stop()
    for line in found[:LINES]:
        print(f"DIFFERENT: {line}")
    print(f"seed {given.seed}: {soak.summary(len(found))}")
    if found:
        print(f"The folder and both homes are kept in {root}.")
        return 1
    shutil.rmtree(root)
    return 0


def _terminated(_number: int, _frame: FrameType | None) -> None:
    sys.exit(143)  # unwinds, so that the daemon is stopped


if __name__ == "__main__":
    sys.exit(main())
