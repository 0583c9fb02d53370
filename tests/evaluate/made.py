"""A small set of our own, about three chapters of the demo's book, with a question of every kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Json = dict[str, Any]
BOOK = Path(__file__).parents[1] / "demo" / "book"
CHAPTERS = {
    "wall": "01-the-wall-across-the-gut.md",
    "storm": "06-the-third-of-february.md",
    "lamps": "09-forty-lamps.md",
}


def make_set(folder: Path) -> Path:
    """Write the set into a new folder."""
    (folder / "docs").mkdir(parents=True)
    for file in CHAPTERS.values():
        (folder / "docs" / file).write_bytes((BOOK / file).read_bytes())
    years = {"wall": "before 1900", "storm": "before 1900", "lamps": "after 1900"}
    write_lines(
        folder / "docs.jsonl",
        [{"doc_id": id_, "file": f"docs/{file}", "years": years[id_]} for id_, file in CHAPTERS.items()],
    )
    write_lines(folder / "questions.jsonl", questions())
    return folder


def questions() -> list[Json]:
    """Of every kind: with text answers and evidence, without evidence, options, claims, not answerable."""
    return [
        asked(
            "shares",
            "wall",
            "How many shares of forty crowns were made?",
            ["thirty-two"],
            "Thirty-two shares",
        ),
        asked("stone", "wall", "When was the first stone laid?", ["9 March 1869"], "We laid the first stone"),
        asked(
            "pins",
            "storm",
            "What did Ness drive back in with a maul?",
            ["the oak pins", "the pins of the gate"],
            "And I saw Ness, out on the gate beam",
            "He had driven five of the six",
        ),
        asked(
            "warm",
            "storm",
            "What was the weather like in the forenoon?",
            ["warm as a day in May"],
            "it was as warm",
        ),
        asked("dynamo", "lamps", "Which make was the dynamo?", ["Belgian"], "It was of Belgian make"),
        asked(
            "eel",
            "lamps",
            "What put the lamps out for eleven minutes?",
            ["an eel"],
            "It went out one evening",
        ),
        asked(
            "told", "lamps", "Tell the story of the lamps in a sentence.", ["Forty lamps were lit in 1911."]
        ),
        {
            **asked(
                "choice", "lamps", "How many lamps could the plant supply?", ["B"], "We could supply forty"
            ),
            "options": ["eleven lamps", "forty lamps", "ninety houses"],
        },
        {
            **asked(
                "claim",
                "wall",
                "Tobias set the last stone of the wall.",
                ["True"],
                "Tobias set the last stone",
            ),
            "false_claim": "Lennart bought the copper kettle from a pirate.",
        },
        {
            **asked("nowhere", "wall", "Which vaccine did the veterinary surgeon prescribe?", []),
            "answerable": False,
        },
        {
            **asked("both", "wall", "Who gave names to the gate?", ["Tobias"], "Tobias was a mason"),
            "doc_ids": ["wall", "storm"],
        },
    ]


def asked(id_: str, document: str, question: str, answers: Sequence[str], *evidence: str) -> Json:
    """A row of `questions.jsonl`; each evidence is how a sentence of the document begins."""
    text = (BOOK / CHAPTERS[document]).read_text(encoding="utf-8")
    spans: list[Json] = []
    for head in evidence:
        start = text.index(head)
        end = text.index(".", start) + 1
        spans.append({"doc_id": document, "start": start, "end": end, "head": head})
    return {"id": id_, "doc_ids": [document], "question": question, "answers": [*answers], "evidence": spans}


def write_lines(path: Path, rows: Sequence[Json]) -> None:
    """JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
