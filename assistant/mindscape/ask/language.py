"""Words as a reader compares them: folded, lightly stemmed, and bigrams where a script has no spaces.

Used to compare a question, a sentence and a passage with each other; search has its own folding in storage.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from mindscape.sentences import sentences

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+"
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_CAPITALISED = re.compile(r"[A-Z\u00c0-\u00de][^\W\d_]+")
_SUFFIXES = ("ingly", "edly", "ings", "ing", "ied", "ies", "ed", "es", "ly", "s")

# Words that say how a question is asked, not what it is about: English, then German, French and Spanish ones
# that are no English word of another meaning (so not "die" or "son"). Elsewhere the library's own frequencies
# have to do.
_STOP_WORDS = """
    a about above after again all also am an and any are as at be because been before being both but
    by can could did do does doing done down during each ever every few for from get gets give given
    go goes going got had has have having he her here hers him his how i if in into is it its itself
    just let like made make many may me might mine more most much must my no nor not now of off
    often on once one only or other our ours out over own please same say says shall she should show
    so some such tell than that the their theirs them then there these they thing things this those
    to too under until up upon us very was we were what whatever when where which while who whom
    whose why will with would you your yours d don doesn didn isn wasn aren weren won wouldn couldn
    shouldn hasn haven ll m re s t ve describe explain find list mean mention mentioned write
    written according document documents file files note notes passage text summarize summarise
    summary discuss discussed discussing discussion discussions talk talked talking think thought
    regarding related concerning stated described detail details
    der das dem ein eine einer eines einem einen und oder ist sind wie wann warum welche welcher
    welches von zu zum zur im auf fur nicht ich er es wir ihr sich haben le la les une et ou est
    sont qui que quoi dont quand pourquoi quel quelle dans sur avec ce cette ces il elle nous vous
    ne pas el los las una unos cual cuando como donde por para del en su se lo
"""
STOP = frozenset(_STOP_WORDS.split())
_SUBJECT_WORDS = """
    document documents file files find like list may mean mine might note notes passage summary text us will
    write written
"""
_SUBJECTS = frozenset(_SUBJECT_WORDS.split())
"""Stop words that may well be what is looked for: a file descriptor, a list of lists, the last will."""
_STOP_UNSPACED = re.compile(
    "\u4ec0\u4e48|\u751a\u9ebc|\u600e\u4e48|\u600e\u6837|\u54ea\u91cc|\u54ea\u513f|\u54ea\u4e2a|\u54ea\u4e9b|\u591a\u5c11|\u4e3a\u4ec0\u4e48"
    "|\u662f\u5426|\u8bf7\u95ee|\u544a\u8bc9|\u8c01|\u51e0|[\u7684\u4e86\u5417\u5462\u5427\u662f\u5728\u6709\u548c\u4e0e\u4e5f\u90fd\u5c31\u8fd9\u90a3\u6211\u4f60\u4ed6\u5979\u5b83\u4eec\u4e4b\u54ea\u4f55\u5e74\u6708\u65e5]"
    "|[\u3041-\u309f]"
)


_PART = re.compile(
    r"[?\uff1f;\uff1b]+\s*"
    r"|,?\s+(?:and|or|und|et|y)\s+(?=(?:how|what|when|where|which|who|whom|whose|why|is|are|was|were|do|does|did"
    r"|wie|was|wann|wo|welche|wer|warum|comment|quand|quel|quelle|qui|pourquoi|c\u00f3mo|cu\u00e1ndo|qui\u00e9n|qu\u00e9)\b)"
    r"|\uff0c(?=\u4ee5\u53ca|\u8fd8\u6709|\u800c\u4e14|\u5e76\u4e14)",
    re.IGNORECASE,
)
MAX_PARTS = 3
_RUN = re.compile(r'"[^"]+"|[^\s"]+')


def parts(question: str) -> list[str]:
    """The questions inside a question, at most MAX_PARTS; itself when it asks one thing.

    A part that would not stand alone ("and who built it?") keeps the question whole.
    """
    found = [part.strip(" ,") for part in _PART.split(question)]
    found = [part for part in found if part]
    alone = 2 <= len(found) <= MAX_PARTS and all(len(set(terms(part))) >= 2 for part in found)
    return found if alone else [question]


def keywords(question: str) -> str:
    """The question without the words that only ask; itself where nothing else is in it.

    What stands in double quotes stays whole, and so does a word in capitals ("IT").
    """
    return " ".join(run for run in _RUN.findall(question) if not _only_asks(run, question)) or question


def _only_asks(run: str, question: str) -> bool:
    short_form = len(run) > 1 and run.isupper() and not question.isupper()
    return not (run.startswith('"') or short_form) and all(
        word in STOP and word not in _SUBJECTS for word in _words(run)
    )


def folded(text: str) -> str:
    """Case and accents removed; characters without spaces stay as they are."""
    wide = unicodedata.normalize("NFKD", text).casefold()
    return "".join(char for char in wide if not unicodedata.combining(char))


def terms(text: str) -> list[str]:
    """Content terms in order, repeats kept: stems of all but stop words, bigrams of unspaced runs."""
    return [term for word in _words(text) if word not in STOP for term in _stems(word)]


def all_terms(text: str) -> list[str]:
    """As `terms`, with the stop words: what a question of stop words only is compared by."""
    return [term for word in _words(text) for term in _stems(word)]


def surface_forms(text: str) -> dict[str, str]:
    """The content words as written (folded) and the term each becomes; unspaced runs are left out."""
    forms: dict[str, str] = {}
    for word in _words(text):
        if word not in STOP and not _UNSPACED.search(word):
            forms[word] = stem(word)
    return forms


def numbers(text: str) -> set[str]:
    """The numbers in a text, written one way: no thousands separators, no leading zeros."""
    found: set[str] = set()
    for match in _NUMBER.finditer(unicodedata.normalize("NFKC", text)):
        plain = re.sub(r",(?=\d{3}\b)", "", match.group())
        found.add(plain.lstrip("0") or "0")
    return found


def names(text: str) -> set[str]:
    """Stems of capitalised words that do not start a sentence: mostly names of people, places, things.

    Two capitals ("HR", "TV") are as a rule a short form, which a document may spell out.
    """
    found: set[str] = set()
    for start, end in sentences(text):
        words = list(_WORD.finditer(text, start, end))
        for word in words[1:]:
            plain, short = folded(word.group()), len(word.group()) == 2 and word.group().isupper()
            if _CAPITALISED.fullmatch(word.group()) and plain not in STOP and not short:
                found.update(_stems(plain))
    return found


def is_unspaced(text: str) -> bool:
    """True when most letters of the text belong to a script that writes no spaces."""
    unspaced = sum(len(run) for run in _UNSPACED.findall(text))
    return unspaced * 2 > sum(char.isalnum() for char in text)


def stem(word: str) -> str:
    """A folded word without its commonest English endings; deterministic, cruder than Porter on purpose.

    It only has to give the forms of one word the same stem on both sides of a comparison.
    """
    if not word.isascii() or len(word) < 4 or word[0].isdigit():
        return word
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith("ss"):
            word = word[: -len(suffix)]
            if suffix in ("ied", "ies"):
                word += "y"
            elif len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "i" if len(word) > 2 and word.endswith("y") else word


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(folded(text)):
        yield match.group()


def _stems(word: str) -> Iterator[str]:
    end = 0
    for run in _UNSPACED.finditer(word):
        if word[end : run.start()]:
            yield stem(word[end : run.start()])
        yield from _bigrams(run.group())
        end = run.end()
    if word[end:]:
        yield stem(word[end:])


def _bigrams(run: str) -> Iterator[str]:
    """Pairs of neighbours within what remains when the question words and particles are cut out."""
    for piece in _STOP_UNSPACED.sub(" ", run).split():
        if len(piece) == 1:
            yield piece
        else:
            yield from (piece[i : i + 2] for i in range(len(piece) - 1))
