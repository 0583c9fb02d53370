"""Properties at the top of a note: YAML between `---` lines or TOML between `+++` lines.

Only a block at the very start, closed, that holds a mapping counts; anything else is body text, and
in no case is a character of it lost.
"""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

_OPEN = re.compile(r"(---|\+\+\+)[ \t]*(?:\r\n|\r|\n)")
_CLOSE = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)", re.M),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\r\n|\r|\n|\Z)", re.M),
}
_MAX_LENGTH = 1 << 16
_MAX_OPENINGS = 1_000
_MAX_DEPTH = 40
_MAX_BITS = 63
_KEY_LINE = re.compile(r"([A-Za-z_][\w .-]{0,60}):(?:[ \t]+(.*))?")
_LOOSE_LINE = re.compile(r"\s*(?:#.*|-.*|\s+\S.*)?")


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands at the top of a note; `end` is where the body starts (0: there is none)."""

    end: int = 0
    title: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    """`tags` and `aliases` (lists), `date`, `author`, and everything as `properties`; JSON values."""
    warnings: tuple[str, ...] = ()


class _Loader(yaml.BaseLoader):
    """Every scalar a string, no tags, no aliases, bounded depth: nothing in a note can run or explode."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self.depth += 1
        if self.depth > _MAX_DEPTH or self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases or deep nesting")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


def read_front_matter(text: str) -> FrontMatter:
    """The properties of a note and where its body starts; never raises."""
    opening = _OPEN.match(text)
    if not opening:
        return FrontMatter()
    closing = _CLOSE[opening[1]].search(_lf(text[:_MAX_LENGTH]), opening.end())
    if not closing:
        return FrontMatter()
    inside = text[opening.end() : closing.start()]
    warnings: tuple[str, ...] = ()
    try:
        loaded = _json(tomllib.loads(_lf(inside)) if opening[1] == "+++" else _load_yaml(inside))
    except (yaml.YAMLError, ValueError, RecursionError):
        loaded = _loosely(inside)
        warnings = ("The properties at the top are not valid and were read line by line.",)
    if not isinstance(loaded, dict):
        return FrontMatter()
    properties = cast(dict[str, Any], loaded)
    return FrontMatter(closing.end(), _first(properties, "title"), _metadata(properties), warnings)


def _lf(text: str) -> str:
    # A lone CR is a line end to us and not to `re`; the length must not change.
    return re.sub(r"\r(?!\n)", "\n", text).replace("\r\n", " \n")


def _load_yaml(inside: str) -> object:
    if inside.count("[") + inside.count("{") > _MAX_OPENINGS:
        raise ValueError("too many brackets")
    if not inside.strip():
        return {}
    return yaml.load(inside, Loader=_Loader)


def _loosely(inside: str) -> dict[str, str] | None:
    """The `key: value` lines of broken properties; None when most of it looks like prose."""
    found: dict[str, str] = {}
    for line in re.split(r"\r\n|\r|\n", inside):
        if pair := _KEY_LINE.fullmatch(line):
            found[pair[1].strip()] = (pair[2] or "").strip().strip("\"'")
        elif not _LOOSE_LINE.fullmatch(line):
            return None
    return found or None


def _json(value: object) -> Any:
    if isinstance(value, dict):
        return {str(key): _json(held) for key, held in cast(dict[object, object], value).items()}
    if isinstance(value, list):
        return [_json(held) for held in cast(list[object], value)]
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        return hex(value)
    if isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return None if value is None or value in ("null", "~", "") else str(value)


def _metadata(properties: dict[str, Any]) -> dict[str, Any]:
    lower = {key.lower(): value for key, value in properties.items()}
    metadata: dict[str, Any] = {}
    for name, spellings in (("tags", ("tags", "tag")), ("aliases", ("aliases", "alias"))):
        words = [word for spelling in spellings for word in _words(lower.get(spelling))]
        if words:
            metadata[name] = [word.lstrip("#") for word in words] if name == "tags" else words
    for name in ("date", "author"):
        if value := _first(lower, name):
            metadata[name] = value
    if properties:
        metadata["properties"] = properties
    return metadata


def _words(value: object) -> list[str]:
    if isinstance(value, list):
        return [str(word) for word in cast(list[object], value) if word is not None and str(word).strip()]
    if value is None:
        return []
    return [word.strip() for word in str(value).split(",") if word.strip()]


def _first(properties: dict[str, Any], name: str) -> str | None:
    value = properties.get(name)
    if isinstance(value, list):
        return ", ".join(_words(cast(object, value))) or None
    return str(value).strip() or None if value is not None and not isinstance(value, dict) else None
