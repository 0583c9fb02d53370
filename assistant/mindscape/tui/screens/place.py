"""What screens share that show places of documents: their sizes, opening a place, saying what went wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from textual.app import SuspendNotSupported
from textual.screen import Screen

from mindscape.errors import MindscapeError
from mindscape.text import printable
from mindscape.tui.messages import Json
from mindscape.tui.opening import Opening, launch, opening_for

Call = Callable[..., Awaitable[Any]]
CONTEXT = 1_500
"""Code points read on either side of a passage."""


class PlaceScreen(Screen[None]):
    """Asks the daemon by `call`."""

    # Textual declares both as instance variables.
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (72, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-short"), (14, "-tall")]  # noqa: RUF012

    def __init__(self, call: Call, classes: str = "") -> None:
        super().__init__(classes=classes)
        self.daemon = call
        """Send a request: method and parameters. Raises MindscapeError."""

    def open_place(self, place: Json) -> None:
        """Open the `get` result `place` in the user's editor or viewer, at its line or page."""
        try:
            self._launch(opening_for(place))
        except (MindscapeError, SuspendNotSupported) as error:
            self.complain(str(error))

    def complain(self, sentence: str) -> None:
        """A notification, shown literally."""
        self.notify(printable(sentence), severity="error", markup=False)

    def _launch(self, opening: Opening) -> None:
        """An editor in the terminal gets the whole terminal until it ends."""
        if opening.in_terminal:
            with self.app.suspend():
                launch(opening)
        else:
            launch(opening)
