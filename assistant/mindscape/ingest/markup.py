"""Text without the marks of Markdown, wikis and HTML, as a summary shows it: one line of words."""

from __future__ import annotations

import re

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts that put no space between words."""

_TITLE = r"(?:[ \t]+\"[^\"\n]{0,300}\")?"
_TAG = re.compile(
    r"<!--.{0,2000}?-->|</?[a-zA-Z][^<>\n]{0,300}>|\{\{[^{}\n]{0,200}\}\}|\{%[^{}\n]{0,200}%\}", re.DOTALL
)
_IMAGE = re.compile(
    rf"!\[[^\[\]\n]{{0,300}}\](?:\([^()\s]{{0,1000}}{_TITLE}\)|\[[^\[\]\n]{{0,100}}\])"
    r"|!\[\[[^\[\]\n]{0,300}\]\]"
)
_LINK = re.compile(
    r"(?<!\\)\[([^\[\]\n]{1,500})\]"
    rf"(?:\((?:[^()\s]|\([^()\s]{{0,200}}\)){{0,1000}}{_TITLE}\)|\[[^\[\]\n]{{0,100}}\])"
)
_WIKILINK = re.compile(r"\[\[(?:[^\[\]|\n]{1,300}\|)?([^\[\]|\n]{1,300})\]\]")
_NOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?|\[\d{1,3}\](?!\()")
_EMPHASIS = re.compile(
    r"(?<![\w*_\\])(\*{1,3}|_{1,3}|~~|==)(?=\S)((?:(?!\1)[^\n]){1,300}?)(?<=\S)\1(?![\w*])"
)
_TICKS = re.compile(r"`{1,2}([^`\n]{1,300})`{1,2}")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_WIDE = f"{UNSPACED}\u3000-\u303f\uff00-\uffef"
_WRAPPED = re.compile(rf"(?<=[{_WIDE}])\n(?=[{_WIDE}])")


def plain(text: str) -> str:
    """The text as one line, white space normalised; what links and emphasis enclose stays, images go."""
    text = _WRAPPED.sub("", text)
    if "<" in text or "{" in text:
        text = _TAG.sub(" ", text)
    if "[" in text:
        text = _IMAGE.sub("", text)
        text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", text))
        text = _NOTE.sub("", text)
    text = " ".join(text.split())
    if not text.isalnum():
        text = _EMPHASIS.sub(r"\2", text)
        text = _ESCAPED.sub(r"\1", _TICKS.sub(r"\1", text))
    return text.strip()
