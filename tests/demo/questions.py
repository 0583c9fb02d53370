"""The six questions of the demo, where their answers stand, and the edit that changes one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

BOOK: Final = "Books/The Keepers of Skarne Mill.epub"
REPORT: Final = "Reports/Skarne Mill annual report 2023.pdf"
LETTER: Final = "Letters/Letter from Mrs Pell.docx"
CHINESE: Final = "Notes/中文/潮汐磨坊见闻.md"
FERRY: Final = "Notes/Ferry.md"
GUEST_HOUSE: Final = "Notes/Guest house.md"

Kind = Literal["book", "table", "note", "two files", "chinese", "no answer"]


@dataclass(frozen=True, slots=True)
class Fact:
    """What the cited quote must hold: any one of `spellings`, quoted from `file`."""

    file: str
    spellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question in a user's words. No facts: the library does not hold the answer."""

    id: str
    text: str
    kind: Kind
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """One change to one note, and what the question about it must say before and after."""

    file: str
    old: str
    new: str
    question: Question


_FERRY_QUESTION: Final = Question(
    "ferry",
    "What time does the Saturday ferry to Skarne leave Maddern?",
    "note",
    (Fact(FERRY, ("07:40",)),),
)

QUESTIONS: Final = (
    Question(
        "chess",
        "What did the evacuee boy Leopold make his chess set out of?",
        "book",
        (Fact(BOOK, ("applewood cogs",)),),
    ),
    Question(
        "gate",
        "How much will the new oak sluice gate cost?",
        "table",
        (Fact(REPORT, ("48,600",)),),
    ),
    _FERRY_QUESTION,
    Question(
        "room",
        "How much deposit do we pay for the room, and how long is the walk from the pier to the guest house?",
        "two files",
        (Fact(LETTER, ("120 euros",)), Fact(GUEST_HOUSE, ("25 minutes",))),
    ),
    Question(
        "flour",
        "磨坊的面粉星期几卖？",
        "chinese",
        (Fact(CHINESE, ("星期五",)),),
    ),
    Question(
        "animal",
        "Is there a veterinary surgery on Skarne that can vaccinate our dog?",
        "no answer",
        (),
    ),
)

NOWHERE: Final = ("veterinary", "vet", "vets", "surgery", "vaccinate", "vaccination", "dog", "dogs")
"""Words of the last question that no file of the library holds."""

EDIT: Final = Edit(FERRY, "07:40", "09:15", _FERRY_QUESTION)
