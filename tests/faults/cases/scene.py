"""One case on its stage: a copy of its folder, watched by a real daemon, and what can be asked about it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import unicodedata
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.daemon.harness import Daemon

from mindscape.errors import NotFound
from mindscape_storage import contents, documents
from mindscape_storage.database import open_reader
from mindscape_storage.records import ContentInfo, Section

NOT_DOCUMENTS = ("expected.json", "steps.py", "demo.py", "scenarios.py", "check.sh", "README.md")
WITHOUT_MODELS = (
    "from pathlib import Path; import mindscape.daemon.models as models;"
    "models.shipped_folder = models.installed_folder = lambda: Path('/nonexistent')"
)
"""Run before the daemon: words alone must do, and nothing is embedded meanwhile."""


class CaseDaemon(Daemon):
    """A daemon without models, prepared by a line of Python where a case wants something to fail."""

    def __init__(self, home: Path, prepare: str = "", prefix: tuple[str, ...] = (), **settings: str) -> None:
        super().__init__(home, **settings)
        self._code = (
            f"{WITHOUT_MODELS}\n{prepare}\nfrom mindscape.daemon.main import main\nraise SystemExit(main())"
        )
        self._prefix = prefix

    def command(self) -> list[str]:
        return [*self._prefix, sys.executable, "-P", "-c", self._code]


@dataclass
class Scene:
    """A case while it is checked."""

    name: str
    source: Path
    expected: dict[str, Any]
    daemon: CaseDaemon
    root: Path
    """The watched copy."""
    own: CaseDaemon | None = None
    """A daemon that only this case has, in place of the one that all share."""
    seen: dict[str, Any] = field(default_factory=dict[str, Any])
    """What a play noted for the claims."""

    def index(self) -> None:
        """Copy the case's documents, watch them and wait until they are searchable."""
        own = self.source / "tree"
        tree = own if own.is_dir() else self.source
        if not self.root.exists():
            left_out = shutil.ignore_patterns(*self.left_out(tree))
            shutil.copytree(tree, self.root, symlinks=True, ignore=left_out)
        self.watch()

    def left_out(self, tree: Path) -> tuple[str, ...]:
        """What stands beside the documents of a case; nothing where they have a folder of their own."""
        return NOT_DOCUMENTS if tree == self.source else ()

    def watch(self) -> None:
        """Watch the root and wait until it is searchable."""
        self.daemon.call("add", paths=[str(self.root)])
        self.daemon.wait()

    def phase(self, name: str, **variables: str) -> None:
        """Let the case change the disk."""
        command = [sys.executable, str(self.source / "steps.py"), str(self.root), name]
        subprocess.run(command, check=True, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until what the daemon noticed by itself makes `condition` true."""
        with self.daemon.connect() as link, link.makefile("rb") as lines:
            link.sendall(b'{"jsonrpc":"2.0","id":1,"method":"subscribe","params":{}}\n')
            while not condition():
                assert lines.readline(), "the daemon has gone"

    def start_own(
        self, home: Path, prepare: str = "", prefix: tuple[str, ...] = (), **settings: str
    ) -> CaseDaemon:
        """Start a daemon for this case alone."""
        self.daemon = self.own = CaseDaemon(home, prepare, prefix, workers="1", **settings)
        assert self.own.start() == "ready"
        return self.own

    def leave(self) -> None:
        """Watch the case no longer, so that the next has the daemon for itself."""
        if self.own is not None:
            self.own.stop()
            return
        watched = [folder["path"] for folder in self.daemon.call("status")["folders"]]
        mine = [path for path in watched if Path(path).is_relative_to(self.root)]
        if mine:
            self.daemon.call("rm", paths=mine)

    def rows(self) -> dict[str, dict[str, Any]]:
        """Path below the root -> the document's row of `ls`."""
        below = f"{self.root}/"
        listed = self.daemon.call("ls")["documents"]
        return {row["path"].removeprefix(below): row for row in listed if row["path"].startswith(below)}

    def status(self, file: str) -> tuple[str, str]:
        """Status and sentence of a document."""
        row = self.rows()[file]
        return row["status"], row["reason"] or ""

    def search(self, query: str, k: int = 10) -> list[dict[str, Any]]:
        """Results inside the root; none when it holds no document."""
        if not self.rows():
            return []
        return self.daemon.call("search", query=query, k=k, scope=str(self.root))["results"]

    def files(self, query: str, k: int = 10) -> list[str]:
        """The documents of the results, below the root, best first."""
        below = f"{self.root}/"
        found = [one["path"] for hit in self.search(query, k) for one in (hit["document"], *hit["also"])]
        return [path.removeprefix(below) for path in found if path.startswith(below)]

    def place(self, row: dict[str, Any]) -> dict[str, Any]:
        """The `get` of a document."""
        return self.daemon.call("get", place=str(row["id"]))

    def texts(self) -> dict[str, str]:
        """Path below the root -> text, of every document that has one."""
        texts: dict[str, str] = {}
        for file, row in self.rows().items():
            # One may go between its row and its text: files change while this is asked.
            with suppress(NotFound):
                if row["status"] == "ok":
                    texts[file] = self.place(row)["text"]
        return texts

    def holds(self, word: str) -> list[str]:
        """The documents in whose text the word stands."""
        return [file for file, text in self.texts().items() if word in text]

    def stored(self, file: str) -> tuple[ContentInfo, list[Section]]:
        """Title, metadata, warnings and so on of a document, and its sections, as the library has them."""
        with closing(open_reader(self.daemon.paths.database)) as connection:
            document = documents.get_document(connection, self.rows()[file]["id"])
            assert document is not None
            assert document.content_id is not None, f"{file}: {document.status} {document.reason}"
            content = document.content_id
            return contents.content_info(connection, content), contents.sections_of(connection, content)


def flat(text: str) -> str:
    """Text with every run of white space as one space, composed, for phrases."""
    return " ".join(unicodedata.normalize("NFC", text).split())
