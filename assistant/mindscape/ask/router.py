"""Which way a question is answered, for `--mode auto`: from how it is asked, by rules that can be read.

- `global`: it asks what a whole is about (the library, a folder, a document, a chapter);
- `records`: it counts, lists or compares, so every instance matters;
- `agent`: it asks for something by way of something else;
- `passages`: anything else; a passage or a few hold the answer.

A way that is not there (not built, or no model that is good enough) is never chosen.
"""

from __future__ import annotations

import re
from collections.abc import Container
from typing import NamedTuple

from mindscape.ask.language import terms

PASSAGES, AGENT, RECORDS, GLOBAL = "passages", "agent", "records", "global"


class Route(NamedTuple):
    """How a question is answered, and why, in a few words."""

    mode: str
    why: str
    about: str = ""
    """Of `global`: what it names, a document or a chapter; empty for all that is asked about."""


_WHOLE = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # English
        r"^(?:please |can you |could you |give me |i need |i want )*(?:a |an |the )?(?:short |brief |quick )?"
        r"(?:summari[sz]e|sum up|outline|summary of|overview of|gist of|outline of"
        r"|synopsis of)(?:\s+(?P<about>.+))?$",
        r"^(?:give me |i need )?(?:a |an )?(?:short |brief |quick )?(?:summary|overview|synopsis|tl;?dr)$",
        r"^what(?:'s|\u2019s| is| are| was| were) (?P<about>.+?)(?: all| mostly| mainly)? about$",
        r"^what(?:'s|\u2019s| is) (?:the )?(?:gist|summary|essence|overall message|main idea|plot"
        r"|story) of (?P<about>.+)$",
        r"^what does (?P<about>.+?) (?:deal with|talk about|cover)$",
        r"^what(?:'s|\u2019s| is) in (?P<about>(?:this|my|the) (?:library|folder|collection|notes"
        r"|documents?|files?|book))$",
        r"^what (?:do|can) i (?:have|find) (?:here|in (?P<about>(?:this|my|the) \w+))$",
        r"^(?:what|which) (?:are )?(?:the )?(?:main|key|central|overall|most important) "
        r"(?:points|themes|topics|ideas|messages|subjects|arguments)(?: (?:of|in) (?P<about>.+))?$",
        r"^(?:what|which) (?:topics|themes|subjects) (?:are (?:covered|treated) in|does"
        r"|do) (?P<about>.+?)(?: cover| treat)?$",
        # German
        r"^(?:bitte )?(?:worum|um was) (?:geht|ging|handelt) (?:es|sich)(?: (?:sich )?(?:in|bei"
        r"|hier)?)?(?P<about>.*)$",
        r"^wovon (?:handelt|handeln|erzählt) (?P<about>.+)$",
        r"^(?:bitte )?fass(?:e|en sie)? (?:bitte |mir |kurz )*(?P<about>.+) (?:kurz )?zusammen$",
        r"^(?:eine |gib mir eine |kurze )*(?:zusammenfassung|inhaltsangabe)(?: (?:von|zu))?(?P<about>.*)$",
        r"^(?:gib mir )?(?:einen )?(?:kurzen )?überblick(?: (?:über|zu))?(?P<about>.*)$",
        r"^(?:was|welche) sind die (?:hauptthemen|wichtigsten (?:themen|punkte|aussagen)|zentralen themen)"
        r"(?: (?:in|von))?(?P<about>.*)$",
        # French
        r"^de quoi (?:parle(?:nt)?|traite(?:nt)?|s'agit-il|est-il question)(?: (?:dans|ici))?(?P<about>.*)$",
        r"^(?:peux-tu |pouvez-vous )?résum(?:e|er|ez|é)(?:-moi)?(?: (?:de|du|des))?(?P<about>.*)$",
        r"^(?:fais|donne|faites|donnez)(?:-moi)? (?:un |une )(?:bref )?(?:résumé|aperçu|vue d'ensemble)"
        r"(?: (?:de|du|des))?(?P<about>.*)$",
        r"^quels sont les (?:principaux )?(?:thèmes|sujets|points)(?: principaux)?(?: (?:de|du|des"
        r"|dans))?(?P<about>.*)$",
        # Spanish
        r"^de qué (?:tratan?|va|hablan?)(?P<about>.*)$",
        r"^(?:puedes )?(?:resume|resuma|resumir|resumen(?: de)?|haz un resumen de"
        r"|dame un resumen de)(?P<about>.*)$",
        r"^cuáles son los (?:principales )?(?:temas|puntos)(?: principales)?(?: de(?:l)?)?(?P<about>.*)$",
        # Italian, Portuguese, Dutch, Russian
        r"^di (?:che )?cosa (?:parla|tratta|parlano|trattano)(?P<about>.*)$",
        r"^(?:riassumi|riassunto (?:di|del|della))(?P<about>.*)$",
        r"^(?:de|do) que (?:trata|fala|se trata)(?P<about>.*)$",
        r"^(?:resuma|resumo d[eoa])(?P<about>.*)$",
        r"^waar gaat (?P<about>.+) over$",
        r"^vat (?P<about>.+) samen$",
        r"^о ч[ёе]м(?P<about>.*)$",
        r"^(?:кратко )?(?:перескажи|резюме|обобщи)(?P<about>.*)$",
        # Chinese, Japanese
        r"^(?:请)?(?:帮我)?(?:总结|概括|概述|简述)(?:一下)?(?P<about>.*)$",
        r"^(?P<about>.*?)(?:主要|大概)?(?:讲|说|写|谈)(?:的是|了|些)*(?:什么|哪些)(?:内容|故事)?$",
        r"^(?P<about>.*?)的?(?:主要内容|主题|大意|概要|摘要)(?:是什么|有哪些)?$",
        r"^(?P<about>.*?)是?关于什么的?$",
        r"^(?P<about>.*?)(?:は|って)?(?:何について|どんな(?:内容|話|本)).*$",
        r"^(?P<about>.*?)を?(?:要約|まとめ).*$",
    )
]
_PLAIN = re.compile(
    r"\b(?:this|these|that|the|my|our|all|of|whole|entire|everything|here|it|in|library|collections?|folders?"
    r"|documents?|files?|notes?|books?|novel|story|text|paper|archive"
    r"|die|der|das|den|dem|des|dies(?:e[rsmn]?)?|meine[rnms]?|mein|unsere[rn]?|ganze[rnsm]?|alle[ns]?|in"
    r"|es|hier|bibliothek"
    r"|ordner[ns]?|dokumente?[ns]?|dateien?|notizen|bücher[n]?|buch(?:e?s)?|romans?|geschichten?|texte?s?"
    r"|ce|cet|cette|ces|le|la|les|l|mes|mon|ma|tous|tout|toute|bibliothèque|dossiers?|documents?"
    r"|fichiers?|livres?"
    r"|romans?|histoire|texte|notes"
    r"|el|los|las|este|esta|estos|estas|mi|mis|todo|toda|todos|biblioteca|carpeta|archivos?|libros?"
    r"|novela|historia"
    r"|texto|notas|documentos?"
    r"|il|lo|gli|i|questo|questa|questi|libro|cartella|romanzo|documenti|testo"
    r"|o|a|os|as|esta|deste|desta|pasta|livro|deze|dit|het|de|map|boek|bibliotheek|mijn"
    r"|эта|этот|это|эту|этой|книга|книгу|библиотека|документ|текст|мои|заметки)\b"
    "|[这那该本个份篇部些我的]|资料库|文件夹|文档|文件|整本|所有|书|小说|故事|笔记"
    "|この|ライブラリ|文書|本|物語|を|は",
    re.IGNORECASE,
)
"""What says no more than "all that is asked about"."""
_EVERY = re.compile(
    r"^(?:please )?(?:how many|how often|count|list|name (?:all|every|each)|enumerate|compare|which (?:of"
    r"|\w+s (?:are|have|were)\b)"
    r"|what are all|show (?:me )?(?:all|every)|in how many|wie viele|wie oft|zähle|liste|nenne alle"
    r"|vergleiche?|in wie vielen"
    r"|welche\b.*\b(?:gibt es|haben|sind)\b|combien de(?! temps)|énumère|liste[rz]?|compare[rz]?"
    r"|quels? sont (?:tous|toutes)"
    r"|cuánt[oa]s|enumera|lista|compara|quant[ieoa]s?\b(?= \w+ (?:sono|c'|ha|há|são))|elenca|сколько"
    r"|перечисли|сравни)"
    "|多少(?:个|人|次|种|位|条|艘)|几(?:个|次|位|种)|列出|有哪些|比较|いくつ|何人|全て挙げ",
    re.IGNORECASE,
)
_VIA = re.compile(
    r"\b(?!(?:is|was|are|were)\b)\w+ (?:the|a|an) (?:\w+ ){1,3}(?:who|whom|whose|that|which)\b"
    r"|\bthe \w+ of the \w+ of\b|\w['\u2019]s \w+['\u2019]s\b"
    r"|\b(?:der|die|das|dem|den|des) \w+, (?:der|die|das|dem|den|dessen|deren)\b"
    r"|\b(?:du|de la|de l['\u2019]|des|le|la) \w+ (?:qui|que|dont)\b"
    r"|\b(?:del|de la|el|la) \w+ que\b"
    "|那位.*的.*的",
    re.IGNORECASE,
)


def route(question: str, there: Container[str]) -> Route:
    """How to answer a question with the ways that are `there`; `passages` always is."""
    asked = question.strip().strip("\u00bf\u00a1?!.？！。 \u00a0")
    about = _whole(asked)
    if about is not None and GLOBAL in there:
        return Route(GLOBAL, "asks what something is about as a whole", about)
    if _EVERY.search(asked):
        if RECORDS in there:
            return Route(RECORDS, "counts, lists or compares, so every instance matters")
        return Route(PASSAGES, "counts, lists or compares; without records the best passages have to do")
    if _VIA.search(asked) and AGENT in there:
        return Route(AGENT, "asks for something by way of something else")
    return Route(PASSAGES, "asks for what one passage or a few can say")


def _whole(asked: str) -> str | None:
    """What is named of a question about a whole, empty when it is all; None for other questions."""
    for pattern in _WHOLE:
        if found := pattern.match(asked):
            named = (found.groupdict().get("about") or "").strip()
            plain = _PLAIN.sub(" ", named)
            return named if terms(plain) or any(char.isdigit() for char in plain) else ""
    return None
