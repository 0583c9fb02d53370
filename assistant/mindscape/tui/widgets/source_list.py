"""The sources of an answer: number, place, and the first words of the quote."""

from __future__ import annotations

from textual import on
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from mindscape.text import printable
from mindscape.tui.messages import Json, SourceChosen
from mindscape.tui.wording import cut, one_line, where

_QUOTE = 90


class SourceList(OptionList):
    """Posts SourceChosen when another source is highlighted, and for the first one."""

    DEFAULT_CSS = """
    SourceList > .option-list--option-highlighted { background: $panel; color: $foreground; }
    SourceList:focus > .option-list--option-highlighted { background: $primary 25%; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__(markup=False, classes="pane", compact=True)
        self.border_title = "Sources"
        self._citations: list[Json] = []

    def show_citations(self, citations: list[Json], title: str) -> None:
        """Replace the list and choose its first source."""
        self._citations = citations
        self.clear_options()
        self.add_options([Option(_prompt(citation)) for citation in citations])
        self.border_title = f"{title} ({len(citations)})" if citations else "Sources"
        if citations:
            self.highlighted = 0

    @on(OptionList.OptionHighlighted)
    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionHighlighted | OptionList.OptionSelected) -> None:
        event.stop()
        # A message of a list that has been replaced since may still be under way.
        if event.option_index < len(self._citations):
            self.post_message(SourceChosen(self._citations[event.option_index]))


def _prompt(citation: Json) -> Content:
    """Two or three lines: [n] file:line, then the quote."""
    path = str(citation["path"])
    quote = one_line(printable(str(citation["quote"])))
    doubt = " unconfirmed" if citation.get("supported") is False else ""
    return Content.assemble(
        (f"[{citation['n']}] ", "bold $accent"),
        (printable(where(path.rpartition("/")[2], citation)), "bold"),
        (doubt, "$warning"),
        "\n",
        (cut(quote, _QUOTE), "$foreground 65%"),
    )
