"""Text without the marks of Markdown, wikis and HTML, as a summary shows it: one line of words."""

from __future__ import annotations

import re
from html import unescape

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Letters of scripts that put no space between words."""

_UNSAFE = re.compile(
    r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_TITLE = r"(?:[ \t]+\"[^\"]{0,300}\")?"
_TEMPLATE = r"\{\{[^{}]{0,200}\}\}|\{%[^{}]{0,200}%\}"
_ARGUMENT = re.compile(r"(?:\{%|\{\{)[^{}\"'%]{0,80}[\"']([\w .#@&-]{1,80})[\"']\s*(?:%\}|\}\})")
"""A template that inserts one name: of a channel, a person, a term."""
# Behind a word the names of tags in a text are few: what else is there is a type, "Vec<u8>".
_TAG = re.compile(
    r"<!--.{0,2000}?-->|(?<!\w)<[a-zA-Z][^<>]{0,300}>|</[a-zA-Z][^<>]{0,300}>"
    r"|<(?:br|p|div|hr|img|[dout]l|li|t[dhr]|h[1-6])\b[^<>]{0,300}>"
    rf"|{_TEMPLATE}",
)
_SHORTCODE = re.compile(r" ?(?<![\w:]):[a-z][a-z0-9_+-]{1,40}:(?![\w:])")
_ENTITY = re.compile(r"&(?:amp|nbsp|quot|apos|[lr]squo|[lr]dquo|[mn]dash|hellip);")
_INLINE = re.compile(
    r"</?(?:a|abbr|b|cite|code|em|i|kbd|mark|q|s|small|span|strong|sub|sup|u)(?:\s[^<>]{0,300})?>",
    re.IGNORECASE,
)
_IMAGE = re.compile(
    rf"!\[[^\[\]]{{0,300}}\](?:\([^()\s]{{0,1000}}{_TITLE}\)|\[[^\[\]]{{0,100}}\])"
    r"|!\[\[[^\[\]]{0,300}\]\]"
)
_LINK = re.compile(
    r"(?<!\\)\[([^\[\]]{1,500})\]"
    rf"(?:\((?:[^()\s{{]|\([^()\s]{{0,200}}\)|{_TEMPLATE}|{{){{0,1000}}{_TITLE}\)|\[[^\[\]]{{0,100}}\])"
)
_WIKILINK = re.compile(r"\[\[(?:[^\[\]|]{1,300}\|)?([^\[\]|]{1,300})\]\]")
_NOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\]:?|\[\d{1,3}\](?!\()")
_EMPHASIS = re.compile(r"(?<![\w*_\\])(\*{1,3}|_{1,3}|~~|==)(?=\S)((?:(?!\1).){1,300}?)(?<=\S)\1(?![\w*])")
_TICKS = re.compile(r"`{1,2}([^`]{1,300})`{1,2}")
_ESCAPED = re.compile(r"\\([\\`*_{}\[\]()#+.!|<>~-])")
_WIDE = f"{UNSPACED}\u3000-\u303f\uff00-\uffef"
_WRAPPED = re.compile(rf"(?<=[{_WIDE}])\n(?=[{_WIDE}])")
_LEFT = ",;:)]} \u3001\uff0c\uff1b\uff1a"
"""What is left in front of a text whose first words were an image or a template."""


def safe(text: str) -> str:
    """The text without controls, invisible characters and marks of direction."""
    return _UNSAFE.sub("", text)


def plain(text: str) -> str:
    """The text as one line, white space normalised; what links and emphasis enclose stays, images go."""
    text = " ".join(_WRAPPED.sub("", text).split())
    if "[" in text:
        text = _IMAGE.sub("", text)
        text = _WIKILINK.sub(r"\1", _LINK.sub(r"\1", text))
        text = _NOTE.sub("", text)
    if "<" in text or "{" in text:
        text = _ARGUMENT.sub(r"\1", text)
        text = _TAG.sub(" ", _INLINE.sub("", text))
    if "&" in text:
        text = _ENTITY.sub(lambda match: unescape(match.group()), text)
    if not text.isalnum():
        text = _SHORTCODE.sub("", text)
        text = _EMPHASIS.sub(r"\2", text)
        text = _ESCAPED.sub(r"\1", _TICKS.sub(r"\1", text))
    return " ".join(text.split()).lstrip(_LEFT)


def leads_away(text: str) -> bool:
    """True when most of a text is links: a list of what is elsewhere says little about where it stands."""
    if "](" not in text and "[[" not in text:
        return False
    links = sum(len(match[1]) for pattern in (_WIKILINK, _LINK) for match in pattern.finditer(text))
    return 2 * links > len(plain(text))
