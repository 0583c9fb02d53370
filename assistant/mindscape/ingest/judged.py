"""What is made of a summary that a model wrote: its sentences without marks and small talk, or a fault.

Everything here looks at words only: deterministic, in any script, and quick beside the writing.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from itertools import pairwise

from mindscape.ingest.candidates import ASIDE, HEADING, Candidate, candidates, is_whole
from mindscape.ingest.extract import joined
from mindscape.ingest.passages import count_tokens
from mindscape.text import printable

LEAST_TOKENS = 10
"""Of a summary; fewer say nothing that its heading does not."""
UNFINISHED = 0.75
"""Share of the budget from which on a text without an end is one that would have gone on."""
LOOP = 6
"""Words in a row that do not occur three times in a short text, unless it goes round in circles."""
FRESH = 0.6
"""Share of the runs of three words that are new, at least."""
ECHO = 6
"""Words in a row that nobody who summarises a text shares with the instructions."""
COPIED = 0.5
"""Share of a summary that may be one run of words of a text that is much longer."""
MUCH_LONGER = 2
SAME_SCRIPT = 0.4
"""What the mixtures of scripts in text and summary have in common, at least; 1 for equal ones."""
SHORT_WORD = 4
"""Letters of the words that every sentence of a language is held together by."""
LEAST_SHORT = 8
SAME_WORDS = 0.45
"""Share of the short words of a summary that are in the text, where both are in one language."""
STEM = 5
"""Letters by which two forms of a name are the same."""
LONG_WORD = 5
"""Letters of the words that say something, in most languages."""
LEAST_LONG = 3
SAID = 0.35
"""Share of the long words of a sentence, or of its pairs of characters, that must be in the text: in the
synopses of chapters we measured one sentence in twenty has fewer."""
CAPITALS = 0.2
"""Share of the words inside sentences from which on a capital says nothing: German nouns, lists of titles."""
KEPT = 0.5
"""Share of the sentences that must say nothing new, for the others to be left out."""


class Fault(Enum):
    """Why a summary is rejected, and what the model is told before it tries again."""

    EMPTY = ("empty", "Write at least two full sentences.")
    SHORT = ("too short", "Write at least two full sentences.")
    ENDLESS = ("a sentence without an end", "Write several short sentences.")
    REPEATS = ("repeats itself", "Say each thing only once.")
    ECHOES = ("repeats the instructions", "Do not repeat this request.")
    META = ("speaks about the task", "Begin at once with what the text says.")
    COPIES = ("copies one place of the text", "Use your own words, and tell of the whole text.")
    LANGUAGE = ("another language than the text", "Use no other language than that of the text.")
    INVENTS = ("says what the text does not", "Say nothing that the text does not say.")

    @property
    def reason(self) -> str:
        """A few words."""
        return self.value[0]

    @property
    def hint(self) -> str:
        """A sentence for the model."""
        return self.value[1]


_WORD = re.compile(r"[^\W\d_]+")
_FIGURE = re.compile(r"\d+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_INNER = re.compile(r"(?<=[^\W\d_][ ,;] )[^\W\d_]{2,}|(?<=[^\W\d_] )[^\W\d_]{2,}")
_ESCAPE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|$)|^.*</think(?:ing)?>", re.DOTALL)
_PREAMBLE = re.compile(
    r"\s*(?:(?:sure|certainly|of course|okay|ok)\b[^\n.:!]{0,60}[.:!,]\s*)?"
    r"(?:(?:here(?:'s|’s| is| are)|below is|this is|the following is)\b[^\n.:]{0,80}:\s*)?"
    r"(?:[*#_ ]*(?:(?:short |brief )?summary(?: of [^\n.:]{1,60})?|zusammenfassung|résumé|resumen|resumo"
    r"|riassunto|samenvatting|резюме|краткое содержание|摘要|总结|總結|概要|要約)[*_ ]*[:：\n][*_ ]*\s*)?",
    re.IGNORECASE,
)
_META = re.compile(
    r"\bas an? (?:ai|language model|assistant)\b|\blanguage model\b"
    r"|\bi(?:'m| am|’m) (?:sorry|unable|an ai|here to (?:help|assist))\b|\blet me know\b|\bfeel free\b"
    r"|\bi (?:cannot|can['’]t|can not|apologi[sz]e)\b|\b(?:please|could you) provide\b|\bi hope this helps\b"
    r"|\bis an? (?:short |brief )?(?:summary|part) of (?:an?|the) (?:document|text)\b"
    r"|\bthe (?:text|passage)s? (?:above|provided)\b|\bals ki\b|\bes tut mir leid\b|\bsprachmodell\b"
    r"|\bje suis désolé|\ben tant qu['’](?:ia|assistant)\b|\blo siento\b|\bmodelo de lenguaje\b"
    r"|语言模型|人工智能助|抱歉|我无法|языковая модель|извините",
    re.IGNORECASE,
)


def judged(written: str, source: str, instructions: str, budget: int) -> str | Fault:
    """The summary as it counts: one paragraph of whole sentences within the budget; or what is wrong with it.

    `source` is the text that was summarised, `instructions` what the model was told beside it.
    """
    found = _sentences(written)
    if not found:
        return Fault.EMPTY
    kept = _within(found, budget)
    if not kept:
        return Fault.ENDLESS
    if _META.search(kept[0].text) and not _META.search(source):
        return Fault.META
    kept = [one for one in kept if not _META.search(one.text) or _META.search(source)]
    text = joined(kept)
    if count_tokens(text) < LEAST_TOKENS:
        return Fault.SHORT
    if _repeats(text):
        return Fault.REPEATS
    if _runs(text, ECHO) & _runs(instructions, ECHO) - _runs(source, ECHO):
        return Fault.ECHOES
    if count_tokens(source) > MUCH_LONGER * budget and _copied(text, source) > COPIED:
        return Fault.COPIES
    if not _same_language(text, source):
        return Fault.LANGUAGE
    true = [one for one in kept if not invents(one.text, source)]
    told = joined(true)
    if len(true) < KEPT * len(kept) or count_tokens(told) < LEAST_TOKENS:
        return Fault.INVENTS
    return told


def _sentences(written: str) -> list[Candidate]:
    """Without controls, marks, headings, and what introduces the summary."""
    text = _THOUGHT.sub("", _ESCAPE.sub("", written))
    text = printable(text).replace("\ufffd", "").replace("\u2039", "<")
    preamble = _PREAMBLE.match(text)
    text = text[preamble.end() :] if preamble else text
    return [one for one in candidates(text, 0) if one.kind not in (HEADING, ASIDE)]


def _within(found: Sequence[Candidate], budget: int) -> list[Candidate]:
    """The first sentences, as many as fit; the last of them not, if it has no end."""
    kept: list[Candidate] = []
    for one in found:
        if count_tokens(joined([*kept, one])) > budget:
            break
        kept.append(one)
    if kept and not is_whole(kept[-1].text):
        cut_off = count_tokens(joined(kept)) >= UNFINISHED * budget
        return kept[:-1] if cut_off or len(kept) > 1 else kept
    return kept


def _repeats(text: str) -> bool:
    words = _words(text)
    runs = Counter(zip(*(words[at:] for at in range(LOOP)), strict=False))
    threes = list(zip(words, words[1:], words[2:], strict=False))
    fresh = len(set(threes)) < FRESH * len(threes)
    return fresh or any(count > 2 for count in runs.values())


def _copied(text: str, source: str) -> float:
    """Share of the words that are the longest run of them in the source."""
    words, inside = _words(text), f" {' '.join(_words(source))} "
    longest = first = 0
    for end in range(1, len(words) + 1):
        while first < end and f" {' '.join(words[first:end])} " not in inside:
            first += 1
        longest = max(longest, end - first)
    return longest / max(1, len(words))


def _runs(text: str, length: int) -> set[tuple[str, ...]]:
    words = _words(text)
    return set(zip(*(words[at:] for at in range(length)), strict=False))


def _words(text: str) -> list[str]:
    """Folded; a character each where a script has no spaces."""
    spaced = _UNSPACED.sub(lambda match: f" {match.group()} ", text.casefold())
    return _WORD.findall(spaced)


def _same_language(text: str, source: str) -> bool:
    ours, theirs = _scripts(text), _scripts(source)
    if sum(min(share, theirs[script]) for script, share in ours.items()) < SAME_SCRIPT:
        return False
    words = [one for one in _WORD.findall(text) if len(one) <= SHORT_WORD and one.islower()]
    words = [one for one in words if not _UNSPACED.search(one)]
    if len(words) < LEAST_SHORT:
        return True
    known = set(_words(source))
    return sum(one in known for one in words) >= SAME_WORDS * len(words)


def _scripts(text: str) -> Counter[str]:
    """Shares of the scripts; a character without spaces around it counts as much as a word of others."""
    found: Counter[str] = Counter()
    for word in _words(text):
        script = unicodedata.name(word[0], "").partition(" ")[0]
        found["KANA" if script in ("HIRAGANA", "KATAKANA") else script] += 1
    total = found.total()
    return Counter({script: count / total for script, count in found.items()})  # pyright: ignore[reportArgumentType]


def invents(sentence: str, source: str) -> bool:
    """True when the text lacks most words of the sentence, a number, or a name where capitals tell names.

    It cannot see a wrong relation between words that are all there.
    """
    figures = {one.lstrip("0") for one in _FIGURE.findall(source)}
    if any(one.lstrip("0") not in figures for one in _FIGURE.findall(sentence)):
        return True
    said, known = _terms(sentence), _terms(source)
    if len(said) >= LEAST_LONG and len(said & known) < SAID * len(said):
        return True
    inner = _INNER.findall(source)
    if sum(word[0].isupper() for word in inner) >= CAPITALS * max(1, len(inner)):
        return False
    stems = {word[:STEM] for word in _words(source)}
    names = [word for word in _INNER.findall(sentence) if word[0].isupper()]
    return any(name.casefold()[:STEM] not in stems for name in names)


def _terms(text: str) -> set[str]:
    """The beginnings of the long words, and pairs of characters where a script has no spaces."""
    words = _words(text)
    pairs = {one + two for one, two in pairwise(words) if _UNSPACED.match(one) and _UNSPACED.match(two)}
    return pairs | {word[:STEM] for word in words if len(word) >= LONG_WORD}
