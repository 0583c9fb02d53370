"""The colours: one accent for what can be acted on, amber for what is quoted."""

from __future__ import annotations

from textual.theme import Theme

MINDSCAPE = Theme(
    name="mindscape",
    dark=True,
    primary="#7aa8f5",
    secondary="#9d8df1",
    accent="#e8b45a",
    foreground="#d6dbe5",
    background="#12151b",
    surface="#171b23",
    panel="#262c38",
    success="#86c58a",
    warning="#e5b567",
    error="#e2777a",
    variables={"input-cursor-background": "#7aa8f5", "footer-key-foreground": "#e8b45a"},
)
