"""Which language a question is in, from its script and its small words: good enough to answer in it.

A question has few words, so what decides is what every one has: articles, question words, forms of "to be".
"""

from __future__ import annotations

import re

ENGLISH = "en"
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
    ("el", re.compile("[\u0370-\u03ff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
)
"""Of a language or of its neighbours: Ukrainian is answered in Russian, Persian in Arabic."""
_WORDS = {
    "en": """
        a an and are at did do does for from had has have he how in is it of on or she that the their
        they this to was were what when where which who whom whose why with
    """,
    "de": """
        als am an auf aus bei das dem den der des die ein eine einem einen einer er es für gibt hat
        hatte hoch ich ihr im in ist kann mit nicht sie sind und viel viele von wann war waren warum was
        welche welcher welches wem wen wer wessen wie wird wo wohin worum zu zum zur über
    """,
    "fr": """
        a au aux avec ce cette combien comment dans de des du elle elles en est et il ils la le les leur
        lui ou où par pas pour pourquoi quand que quel quelle quelles quels qui quoi sa se ses son sont
        sur un une à
    """,
    "es": """
        a al con cual cuál cuáles cuándo cuánto cuántos cómo de del dónde el ella en era eran es está
        fue ha hay la las lo los para por porqué quién quiénes qué se son su sus un una y
    """,
    "it": """
        a al alla che chi come con da dal dei del della delle di dove e egli era erano gli ha i il in la
        le lo nel nella per perché quale quali quando quanti quanto sono su sul un una è
    """,
    "pt": """
        a ao as com como da das de do dos e ela ele em era está foi há na no o onde os para por porque
        quais qual quando quanto quantos que quem se sua são um uma à é
    """,
    "nl": """
        aan bij dat de die dit een en er haar heeft het hij hoe hoeveel in is met naar niet of om op te
        van voor waar waarom wanneer was wat welke werd wie zijn
    """,
    "tr": """
        bir bu da de hangi ile için kaç kim mi mu mü mı nasıl ne neden nerede nereden niye o var ve
        zaman
    """,
}
_KNOWN = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_LETTERS = {
    "tr": "ışğİ",
    "de": "äß",
    "es": "¿¡ñ",
    "pt": "ãõ",
    "fr": "œêç",
}
"""Letters that hardly any of the others has: each counts as a word."""
_WORD = re.compile(r"[^\W\d_]+")


def is_small(word: str, language: str) -> bool:
    """Whether a word holds sentences of the language together and says nothing by itself."""
    return word.lower() in _KNOWN.get(language, ())


def language_of(text: str) -> str:
    """A code of two letters; English where nothing says otherwise."""
    # The script that most letters are in; Japanese has Chinese letters too, so its own decide.
    counts = [(len(pattern.findall(text)), language) for language, pattern in _SCRIPTS]
    letters = sum(char.isalpha() for char in text)
    if (kana := counts[0][0]) and 5 * kana >= letters:
        return "ja"
    most, language = max(counts, key=lambda one: one[0])
    if most and 3 * most >= letters:
        return language
    words = [found.group() for found in _WORD.finditer(text.replace("\u0130", "i").lower())]
    points = {
        language: sum(word in known for word in words)
        + sum(letter in text for letter in _LETTERS.get(language, ""))
        for language, known in _KNOWN.items()
    }
    return max(points, key=lambda one: points[one])
