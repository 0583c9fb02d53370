"""What the status bar says about the daemon and its library, as one value."""

from __future__ import annotations

from dataclasses import dataclass

from mindscape.tui.wording import counted


@dataclass(frozen=True, slots=True)
class Indexing:
    """Work under way: `done` of `total` documents are `what`."""

    done: int
    total: int
    what: str


@dataclass(frozen=True, slots=True)
class LibraryState:
    """Immutable; handlers replace it and the widgets that watch it redraw."""

    connected: bool = False
    lost: str = ""
    documents: int | None = None
    searchable: int = 0
    indexing: Indexing | None = None

    @property
    def sentence(self) -> str:
        """The library in a few words."""
        if self.lost:
            return "No daemon: ctrl+r reconnects"
        if not self.connected:
            return "Starting the daemon…"
        if self.documents is None:
            return "Connected"
        if self.documents == 0:
            return "The library is empty"
        ready = "" if self.searchable >= self.documents else f", {self.searchable:,} searchable"
        return counted(self.documents, "document") + ready
