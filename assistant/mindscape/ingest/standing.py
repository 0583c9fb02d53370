"""How well a sentence reads where nothing stands before it: by its first word, its marks and its length."""

from __future__ import annotations

import re

from mindscape.ingest.candidates import LABEL, Candidate
from mindscape.ingest.passages import count_tokens

# Words that lean on the sentence before: pronouns and connectives.
_LEANING_WORDS = """
    he she it they him her his hers its their theirs them this that these those such here there then
    thus hence so but and or yet nor however therefore moreover furthermore besides also too still
    instead otherwise meanwhile nevertheless nonetheless consequently accordingly again similarly
    likewise finally next afterwards i we you my our your me us myself himself herself yes no oh well ah
    um uh mm hmm yeah okay ok
    er sie es ihm ihr ihn ihnen sein seine ihre dies dieser diese dieses das da dann danach darauf doch
    aber und oder denn deshalb daher deswegen trotzdem dennoch jedoch auch ich wir du mein unser nun ja
    nein il elle ils elles ce cela ceci cette ces lui leur son sa ses alors puis donc mais et ou
    cependant pourtant toutefois ensuite ainsi enfin je nous vous oui non ella ello ellos ellas esto eso
    aquello este esta estos estas ese esa su sus entonces luego pero y o sin además así también yo
    nosotros sí lei essi esse loro questo questa quello quella suo sua allora poi ma e però quindi
    dunque inoltre hij zij ze het dit dat deze die hun zijn haar toen daarna maar en of dus echter ook
    он она оно они его её их это этот эта эти тот там тогда потом затем но и а или однако поэтому также
    я мы
"""
_LEANING = frozenset(_LEANING_WORDS.split())
_LEANING_UNSPACED = re.compile(
    "[他她它这這那但而我你彼]|所以|因此|然后|然後|于是|於是|不过|不過|可是|また|しかし|そして|それ|これ|その|この|だから|でも"
)
FULL = 25
"""Tokens of a sentence that can say who does what, and where."""
PLACES = (1.0, 1.2, 2.0)
"""What it is worth to stand INSIDE a paragraph, or to be the first of a PARAGRAPH or of a SECTION."""
LEANING, SPOKEN, RAISED, LISTED = 0.6, 0.25, 0.6, 0.5
"""What is left of one that leans on another, is said by somebody, asks or cries out, or is a mere list."""
_WORD = re.compile(r"[^\W\d_]+")
_SPEECH = re.compile("[\u2018\u201a\u2014\u2013'`-]")
_PAUSE = re.compile("[,;:\u2014\u2013\u3001\uff0c\uff1b\uff1a\u060c\u061b]")


def standing(one: Candidate) -> float:
    """How well the candidate reads where nothing stands before it: more is better, 1 is usual."""
    text = one.text
    value = 1.0
    label = LABEL.match(text)
    tokens = one.tokens - count_tokens(label.group()) if label else one.tokens
    first = _WORD.search(text, label.end() if label else 0)
    word = first.group() if first else ""
    if word.casefold() in _LEANING or _LEANING_UNSPACED.match(word):
        value *= LEANING
    if one.spoken or _SPEECH.match(text):
        value *= SPOKEN
    if text.rstrip("\"'\u201d\u2019)*_ ").endswith(("?", "!", "\uff1f", "\uff01", "\u061f")):
        value *= RAISED
    if _capitals(text) or len(_PAUSE.findall(text)) * 5 > one.tokens:
        value *= LISTED
    value *= min(1, max(0, tokens) / FULL)
    return value * PLACES[one.place]


def _capitals(text: str) -> bool:
    """True when most of its letters are capitals: a title, a cry, or small print."""
    return 2 * sum(map(str.isupper, text)) > sum(map(str.isalpha, text))
