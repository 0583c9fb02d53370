"""Does a question lean on the ones before it ("Where was he born?", "And in 1912?")? Decided by small words.

What is seen: pronouns that the question itself does not explain, beginnings that go on from something, and
questions with nothing to look for. Not seen: "the captain", when the last question was about one of two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from mindscape.ask.language import names, numbers, terms
from mindscape.ask.router import GLOBAL, PASSAGES, route
from mindscape.ask.tongue import language_of


class Before(NamedTuple):
    """A question that was asked before, as it was understood, and what answered it, if that still holds."""

    question: str
    said: str = ""


class Signs(NamedTuple):
    """How questions lean on others in one language; words are lower case, with their accents."""

    pronouns: frozenset[str]
    possessives: frozenset[str]
    begins: tuple[str, ...]
    """The question goes on from the last one: "and ...", "what about ..."."""
    asks: frozenset[str]
    """Question words."""
    prepositions: frozenset[str]
    idle: re.Pattern[str]
    """Where a pronoun stands for nothing ("is it true that"), or what it means is said."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SIGNS = {
    "en": Signs(
        _words("he him she her hers it they them theirs this these those one ones there else former latter"),
        _words("his her its their"),
        ("what about", "how about", "and", "but", "or", "also", "then"),
        _words("what when where which who whom whose why how is are was were do does did can has have had"),
        _words("in on at with for by from to of after before until since during only without"),
        re.compile(
            r"\bit\b(?=.*\b(?:to|that|if|whether|who)\b)"
            r"|\b(?:time|day|date|cold|warm|dark|late) (?:is|was) it\b"
            r"|\b(?:is|are|was|were|be|been|has|have) there\b|\bthere (?:is|are|was|were)\b"
            r"|\bthose (?:who|that|which)\b|\b(?:no|any|every|some)one\b|\bone(?= (?:of|or|and)\b)"
            r"|\bthis (?:library|folder|document|file|book|novel|story|chapter|section|page|note|text|paper"
            r"|collection|year|month|week|morning|evening|summer|winter|spring|autumn)\b"
            r"|\bthese (?:documents|files|notes|books|days)\b"
        ),
    ),
    "de": Signs(
        _words(
            """er ihn ihm sie ihnen es dies diese dieser diesem diesen dieses jene jener jenes dort
            davon dafür
            damit darin darüber daraus dabei danach dazu daran darauf dagegen deren dessen"""
        ),
        _words("sein seine seiner seinem seinen seines ihr ihre ihrer ihrem ihren ihres"),
        ("was ist mit", "wie ist es mit", "wie steht es mit", "und", "aber", "oder", "auch"),
        _words(
            """was wann wo wer wen wem wessen warum wie welche welcher welches wohin woher wieviel ist sind
            war waren hat haben hatte gibt"""
        ),
        _words("in im am an auf mit für von zu zum nach vor seit bei ohne nur bis um"),
        re.compile(
            r"\bgibt es\b|\bes gibt\b|\bgeht es\b|\bhandelt es sich\b|\bes\b(?=.*\b(?:dass|ob|zu)\b)"
            r"|\b(?:spät|kalt|warm|dunkel) (?:ist|war) es\b"
            r"|\b(?:dieser?|diese[mns]) (?:bibliothek|ordner|dokument|datei|buch|roman|geschichte"
            r"|kapitel|seite"
            r"|notiz|text|jahr|monat|woche|sommer|winter)s?\b"
        ),
    ),
    "fr": Signs(
        _words(
            "il elle ils elles lui eux leur cela ça celui celle ceux celles cet cette ces y celui-ci celle-ci"
        ),
        _words("son sa ses leur leurs"),
        ("qu'en est-il", "et", "mais", "ou", "aussi"),
        _words(
            """que quoi quand qui où pourquoi comment combien quel quelle quels quelles est-ce est sont était
            fut a ont"""
        ),
        _words("en à au aux avec pour par de dans sur après avant depuis sans chez jusqu'en seulement"),
        re.compile(
            r"\by a(?:-t-il)?\b|\ba-t-il\b(?= (?:un|une|des|du)\b)"
            r"|\best-il\b(?= (?:vrai|possible|nécessaire|permis|utile))"
            r"|\bil (?:faut|y a|fait|pleut|s'agit)\b|\bfaut-il\b|\bs'agit-il\b|\bfait-il\b"
            r"|\bil est\b(?=.*\b(?:que|de)\b)"
            r"|\b(?:ce|cet|cette|ces) (?:bibliothèque|dossiers?|documents?|fichiers?|livres?|romans?|histoire"
            r"|chapitre|page|notes?|texte|année|mois|semaine|été|hiver)\b"
        ),
    ),
    "es": Signs(
        _words(
            """él ella ellos ellas eso esto ese esa esos esas este esta estos estas aquel aquella aquello
            allí ahí lo le les"""
        ),
        _words("su sus suyo suya"),
        ("qué hay de", "qué pasa con", "y", "pero", "o", "también"),
        _words(
            """qué cuándo dónde quién quiénes cómo cuál cuáles cuánto cuánta cuántos cuántas es son era eran
            fue fueron está están"""
        ),
        _words("en a al con para por de desde hasta sin tras antes después sólo solo"),
        re.compile(
            r"\blo que\b|\bes (?:cierto|verdad|posible|necesario)\b"
            r"|\best[aeo]s? (?:biblioteca|carpeta|documentos?|archivos?|libros?|novela|historia"
            r"|capítulo|página"
            r"|notas?|texto|año|mes|semana|verano|invierno)\b"
        ),
    ),
    "it": Signs(
        _words(
            "lui lei egli ella loro esso essa essi esse questo questa questi queste quello quella lì ci ne"
        ),
        _words("suo sua suoi sue loro"),
        ("che ne è di", "e", "ma", "o", "anche"),
        _words(
            """che cosa quando dove chi perché come quale quali quanto quanta quanti quante è sono era erano
            fu furono"""
        ),
        _words("in a al con per da di dopo prima fino senza su solo"),
        re.compile(
            r"\bc'è\b|\bci sono\b"
            r"|\b(?:quest[aoie]) (?:biblioteca|cartella|documento|libro|romanzo|capitolo|pagina|testo)\b"
        ),
    ),
    "ru": Signs(
        _words("он она оно они его её ее их ему ей им ним ней него это этот эта эти там тогда"),
        frozenset(),
        ("а", "и", "но", "или"),
        _words("что когда где кто почему как какой какая сколько зачем"),
        _words("в на с для из до после без"),
        re.compile(r"\bэт(?:а|от|о) (?:библиотека|книга|документ|текст)\b"),
    ),
}
_CHINESE = re.compile("[他她它其这那]|呢[？?]?$|^(?:为什么|怎么|什么时候|多少钱?|在哪里?|谁)[？?]?$")
_CHINESE_IDLE = re.compile(
    "其[他它实中余次]|吉他|他人|那么"
    "|这(?:个|份|本|篇|部|一)?(?:资料库|文件夹|文档|文件|书|小说|故事|章|笔记|年|月|周)"
)
_JAPANESE = re.compile("彼女?|[そこ](?:れ|の|こ)|それで|^(?:なぜ|いつ|どこで|誰が)(?:ですか)?[？?]?$")
_JAPANESE_IDLE = re.compile("その他|この(?:ライブラリ|本|文書|物語|章)")
_THAT = re.compile(
    r"\b(?:is|was|were|did|does|do|about|of|like|said|for|with|from|to|after|before|by|than|at|in|on|why|how)"
    r" that\b|\bthat\W*$|^that\b"
)
_DAS = re.compile(
    r"\b(?:war|ist|wurde|hat|kostete?|geschah|passierte|heißt|bedeutet) das\b(?=\W*$| )|\bdas\W*$"
)
_POINTING = {
    "en": _THAT,
    "de": _DAS,
    "fr": re.compile(r"\bc'(?:est|était) (?:quand|où|qui|combien|comment|pourquoi)\b"),
}
_SUBJECT = re.compile(
    r"(?:\b(?:le|la|les|un|une|des|ce|cet|cette|ces|son|sa|ses|leur|du)|\b[Ll]['\u2019])\s*\w{3}"
    r"|\s[^\W\d_a-zà-ÿ]\w+"
)
"""An article with its noun, or a name."""
_CLAUSE = re.compile(
    r"[,;:\u2014，；、]|\b(?:and|but|or|when|while|if|because|as|so|that|und|aber|oder|wenn|als|weil|dass|et|mais"
    r"|ou|quand|si|y|pero|cuando|porque|e|ma)\b"
)
TOKEN = re.compile(r"[^\W_]+(?:['\u2019-][^\W_]+)*")


def leans(question: str, before: Sequence[Before]) -> bool:
    """Whether a question can be understood only with what was asked before it."""
    if not before:
        return False
    text = question.strip()
    if not any(char.isalpha() for char in text) and not numbers(text):
        return False
    # A question of two words has too few to tell its language by.
    language = language_of(text if len(text.split()) > 3 else f"{text} {before[-1].question}")
    if language in ("zh", "ja"):
        asks, idle = (_CHINESE, _CHINESE_IDLE) if language == "zh" else (_JAPANESE, _JAPANESE_IDLE)
        found = asks.search(idle.sub("", text))
        return found is not None and len(set(terms(text[: text.find(found.group())]))) < 2
    signs = SIGNS.get(language)
    return signs is not None and _leans(text, language, signs)


def _leans(text: str, language: str, signs: Signs) -> bool:
    low = text.lower().lstrip("\u00bf\u00a1 ")
    words = [found.group() for found in TOKEN.finditer(low)]
    content = _content(low, signs)
    rest = _going_on(low, signs)
    if rest is not None:
        # "And when was the mill built?" can stand alone.
        alone = bool(signs.asks.intersection(words[1:4])) and len(set(terms(rest))) > 1
        return not alone or _has_pronoun(text, language, signs)
    if route(text, {PASSAGES, GLOBAL}).mode == GLOBAL:
        # "Summarise my notes" has nothing to look for either, and asks about all there is.
        return _has_pronoun(text, language, signs)
    if not content and not any(char.isdigit() for char in low):
        return bool(words)
    if words[0] in signs.prepositions and len(words) < 6 and not signs.asks.intersection(words):
        return True
    if language in ("es", "it") and words[0] in signs.asks and _is_bare(text, content):
        return True
    return _has_pronoun(text, language, signs)


def _going_on(low: str, signs: Signs) -> str | None:
    """What follows "and" or "what about" at the beginning; None where the question begins otherwise."""
    for begin in signs.begins:
        if low.startswith(begin) and not low[len(begin) : len(begin) + 1].isalnum():
            return low[len(begin) :]
    return None


def _is_bare(text: str, content: set[str]) -> bool:
    """A verb alone, in a language that leaves out its subject: "¿Cuándo murió?"."""
    words = [found.group() for found in TOKEN.finditer(text)]
    return len(content) == 1 and len(words) < 5 and not any(word[0].isupper() for word in words[1:])


def _has_pronoun(text: str, language: str, signs: Signs) -> bool:
    """Whether there is one that stands for nothing the question itself says before it."""
    low = signs.idle.sub(lambda found: " " * len(found.group()), text.lower())
    low = low.replace("\u2019", "'")
    for found in TOKEN.finditer(low):
        # "a-t-il": the pronoun hangs on its verb, and repeats what stands before that.
        _, hyphen, word = found.group().rpartition("-") if language == "fr" else ("", "", found.group())
        if hyphen and _SUBJECT.search(text[: found.start()]):
            continue
        polite = language == "de" and found.start() > 0 and text[found.start() : found.start() + 1].isupper()
        if polite or not (word in signs.pronouns or word in signs.possessives):
            continue
        if not _is_bound(text[: found.start()], signs, word in signs.possessives):
            return True
    pointing = _POINTING.get(language)
    return pointing is not None and pointing.search(low) is not None


def _is_bound(head: str, signs: Signs, possessive: bool) -> bool:
    """Whether what stands before a pronoun, in the same question, may be what it means."""
    clauses = _CLAUSE.split(head)
    if any(len(_content(clause, signs)) > 1 for clause in clauses[:-1]):
        return True
    return possessive and (bool(names(head)) or len(_content(clauses[-1], signs)) > 1)


def _content(text: str, signs: Signs) -> set[str]:
    """The terms of what is neither a question word, nor a pronoun, nor "to be"."""
    words = [found.group() for found in TOKEN.finditer(text.lower())]
    small = signs.asks | signs.pronouns | signs.possessives | signs.prepositions
    return set(terms(" ".join(word for word in words if word not in small)))
