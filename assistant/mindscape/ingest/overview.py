"""The summary of a folder: what is in it, by name, and what those of its children say that say most.

It is a list, a line for each child, "• Name — gist" or "• Name". The gist of a document is what reads best
alone in its summary; that of a folder is the names of what is in it, "One · Other". So a summary can be taken
apart again, and a group of a large folder, or the folder, is made from its groups without losing a name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mindscape.ingest.candidates import ITEM, PARAGRAPH, PROSE, SECTION, Candidate, candidates
from mindscape.ingest.extract import choose, joined
from mindscape.ingest.markup import plain, safe
from mindscape.ingest.passages import count_tokens
from mindscape.ingest.standing import FULL, standing

MARK, DASH, DOT = "\u2022 ", " \u2014 ", " \u00b7 "
LEAST_SHARE = 24
"""Tokens for the gist of one child, where a sentence has room."""
LENIENCY = 2
"""By how much a sentence may be longer than its share, rather than be left out."""
MAX_NAME = 300
"""Characters of the name of a child."""
ENOUGH = 12
"""Tokens of a gist that can say what a document is about."""
WORTH = 0.4
"""Of a further sentence of a gist, against the first."""
NAMED = 0.5
"""Share of a summary that is kept for names."""
_AFTER_NAME = " .,:;!?\u2013\u2014-\u3001\u3002\uff0c\uff1a"
_SLUG = re.compile(r"[^\W\d_]\w*?(?:[-_][^\W_]+)+")


class Entry(NamedTuple):
    """A child of a folder: what it is called, and its gist, if there is one."""

    name: str
    said: str
    child: int
    """Ordinal of the node it is from."""


def listing(children: Sequence[str], budget: int) -> str:
    """At most `budget` tokens about the children of a folder: each a heading line with its name, and its
    summary."""
    entries: list[Entry] = []
    for ordinal, child in enumerate(children):
        heading, _, summary = child.partition("\n")
        name = _title(plain(safe(heading[:MAX_NAME]).lstrip("# ")))
        entries.append(Entry(name, summary.strip(), ordinal))
    return _written(entries, budget)


def merged(listings: Sequence[str], budget: int) -> str:
    """At most `budget` tokens about what consecutive listings of a folder name."""
    return _written([one for at, text in enumerate(listings) for one in _entries(text, at)], budget)


def _entries(text: str, child: int) -> list[Entry]:
    """What a listing names. A text that is none is an entry without a name."""
    if not text.startswith(MARK):
        return [Entry("", text, child)] if text else []
    parts = [part.strip().partition(DASH) for part in text.removeprefix(MARK).split(f"\n{MARK}")]
    return [Entry(name, said, child) for name, _, said in parts]


def _title(name: str) -> str:
    """The name as words: with a capital, without hyphens for spaces and without the marks of a list."""
    if name.islower() and _SLUG.fullmatch(name):
        name = re.sub("[-_]+", " ", name)
    name = name.replace(DASH, " \u2013 ").replace(DOT, ", ").replace("\u2022", " ")
    name = " ".join(name.split())
    return name[0].upper() + name[1:] if name.split(" ")[0].islower() else name


def _written(entries: Sequence[Entry], budget: int) -> str:
    """All names, where they fit, and the gists that say most; else some of both."""
    names = [count_tokens(one.name) + 1 for one in entries]
    kept = min(sum(names), round(budget * NAMED))
    share = max(LEAST_SHARE, (budget - kept) // max(1, len(entries)) - 1)
    told = _once(_told(entries, share, budget - kept))
    gists = {
        at: _candidate(one, 0 if kept == sum(names) else names[at]) for at, one in enumerate(told) if one.said
    }
    if kept == sum(names) and sum(gist.tokens for gist in gists.values()) <= budget - kept:
        return _joined(told)
    order = list(gists)
    chosen = {order[at] for at in choose(list(gists.values()), budget - kept)}
    room = budget - sum(names[at] + count_tokens(told[at].said) + 1 for at in chosen)
    others = [at for at, one in enumerate(told) if one.name and at not in chosen]
    named = _fitting(others, told, names, room)
    return _joined(
        [
            one if at in chosen else one._replace(said="")
            for at, one in enumerate(told)
            if at in chosen | named
        ]
    )


def _told(entries: Sequence[Entry], share: int, room: int) -> list[Entry]:
    """The entries with gists of about `share` tokens; what documents leave of `room` is for folders."""
    lists = [DOT in one.said or one.said.startswith(MARK) for one in entries]
    gists = [
        "" if many else _unnamed(one.name, _gist(one.said, share))
        for one, many in zip(entries, lists, strict=True)
    ]
    left = room - sum(count_tokens(gist) + 1 for gist in gists if gist)
    wide = max(share, left // max(1, sum(lists)) - 1)
    return [
        one._replace(said=_names(one.said, wide) if many else gist)
        for one, many, gist in zip(entries, lists, gists, strict=True)
    ]


def _candidate(one: Entry, name: int) -> Candidate:
    """A gist to be chosen, at the price of it and of its name. What speaks of a folder speaks of more."""
    place = SECTION if DOT in one.said else PARAGRAPH
    tokens = name + count_tokens(one.said) + 1
    return Candidate(f"{one.name}: {one.said}", tokens, PROSE, one.child, place, spoken=False)


def _once(entries: Sequence[Entry]) -> list[Entry]:
    """The entries, but nothing said twice: copies, and files made from one template."""
    seen: set[str] = set()
    told: list[Entry] = []
    for one in entries:
        told.append(one._replace(said="") if one.said in seen and one.name else one)
        seen.add(one.said)
    return told


def _fitting(others: Sequence[int], told: Sequence[Entry], names: Sequence[int], room: int) -> set[int]:
    """As many of these entries as have room for their names: of every child the first, then the second..."""
    turns: dict[int, int] = {}
    order: list[tuple[int, int]] = []
    for at in others:
        turn = turns[told[at].child] = turns.get(told[at].child, -1) + 1
        order.append((turn, at))
    named: set[int] = set()
    for _, at in sorted(order):
        if names[at] <= room:
            room -= names[at]
            named.add(at)
    return named


def _gist(summary: str, share: int) -> str:
    """What reads best alone, in its order, of about `share` tokens."""
    short = [one for one in candidates(summary, 0) if one.tokens <= LENIENCY * share]
    found = [one for one in short if one.kind in (PROSE, ITEM)]
    # Where marks do not end sentences: not a list of words, nor properties.
    found = found or [one for one in short if one.tokens >= ENOUGH and not one.text[0].islower()]
    if not found:
        return ""
    worth = [_alone(one) for one in found]
    order = sorted(range(len(found)), key=lambda at: (-worth[at], at))
    best = found[order[0]]
    chosen, room = {order[0]}, share - best.tokens
    for at in order[1:]:
        if found[at].tokens <= room and worth[at] >= WORTH * worth[order[0]]:
            room -= found[at].tokens
            chosen.add(at)
    return joined([found[at] for at in sorted(chosen)])


def _unnamed(name: str, gist: str) -> str:
    """The gist without the name that stands before it as a heading, not as what it speaks of."""
    if not name or not gist.casefold().startswith(name.casefold()):
        return gist
    rest = gist[len(name) :]
    begins = rest.lstrip(_AFTER_NAME)
    return gist if rest[:1].isalnum() or begins[:1].islower() else begins


def _alone(one: Candidate) -> float:
    """How well it reads as all that is said of a document; a dozen tokens are enough for that."""
    return standing(one) / min(1, one.tokens / FULL) * min(1, one.tokens / ENOUGH)


def _names(said: str, share: int) -> str:
    """As many of the names in a listing, or in a list of names, as fit, with a mark for the others."""
    if said.startswith(MARK):
        said = DOT.join(one.name for one in _entries(said, 0) if one.name)
    names = said.split(DOT)
    room = share - 2
    for at, name in enumerate(names):
        room -= count_tokens(name) + 1
        if room < 0:
            return DOT.join([*names[:at], "\u2026"]) if at else ""
    return DOT.join(names)


def _joined(told: Sequence[Entry]) -> str:
    return "\n".join(f"{MARK}{DASH.join(part for part in one[:2] if part)}" for one in told if any(one[:2]))
