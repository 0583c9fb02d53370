"""Sentences of documents that speak to whoever answers from them: no answer, whatever they say.

Only the commonest shapes, in a few languages. Nothing rests on seeing them: a document has no tool to call,
and its markers never become citations. One about prompts has such sentences by right; they are not left out.
"""

from __future__ import annotations

import re

_ORDERS = re.compile(
    r"(?:^|\n)\W*(?:system|assistant|user|human)\s*:"
    r"|<\|[^|\n]{0,40}\|>|\[/?INST\]|</?(?:context|system|documents?|instructions?|sources?)>"
    r"|\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:instructions?|prompts?|rules|above"
    r"|previous|earlier)\b"
    r"|\b(?:reply|respond|answer)\b[^.\n]{0,40}\b(?:json|single word|only with|with only|the word|exactly)\b"
    r"|\b(?:only|always|must) (?:reply|respond|answer)\b"
    r"|\btell (?:the|your) (?:user|reader|human)\b|\b(?:to|in|into) (?:every|all|your) (?:answers?"
    r"|repl(?:y|ies)|responses?)\b"
    r"|\breveal (?:the|your|all|every)\b[^.\n]{0,30}\b(?:documents?|prompts?|instructions?|passwords?)\b"
    r"|\byou are (?:now |no longer )?(?:an? )?(?:ai|assistant|chatbot|language model|in developer mode)\b"
    r"|\bignorier\w* (?:alle |die )?(?:vorherigen|bisherigen|obigen)\b|\bantworte (?:nur|immer|stattdessen)\b"
    r"|\bignore[zr]? (?:toutes )?les instructions\b|\br\u00e9ponds (?:seulement|toujours|uniquement)\b"
    r"|\bignora (?:todas )?las instrucciones\b|\bresponde (?:solo|siempre|\u00fanicamente)\b"
    "|\u5ffd\u7565(?:\u4e4b\u524d|\u4ee5\u4e0a|\u6240\u6709|\u4e0a\u8ff0)|(?:\u53ea"
    "|\u5fc5\u987b)\u56de\u7b54",
    re.IGNORECASE,
)


def gives_orders(text: str) -> bool:
    """Whether a sentence tells whoever answers what to do."""
    return _ORDERS.search(text) is not None
