"""A set is read as it says; one that is wrong is refused with the file, the line and what is wrong there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mindscape.errors import MindscapeError, Refused, UsageError
from mindscape.evaluate.sets import (
    Question,
    check_evidence,
    read_document,
    read_listed,
    read_questions,
    sample,
)
from tests.evaluate.made import make_set, questions, write_lines


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_set(tmp_path / "set")


def by_id(folder: Path) -> dict[str, Question]:
    return {one.id: one for one in read_questions(folder, [one.id for one in read_listed(folder)])}


def test_everything_a_row_says_is_read(folder: Path) -> None:
    found = by_id(folder)
    assert list(found) == [row["id"] for row in questions()]
    assert len(found["pins"].evidence) == 2
    assert found["choice"].options == {"A": "eleven lamps", "B": "forty lamps", "C": "ninety houses"}
    assert (found["claim"].claim, found["pins"].claim) == (True, None)
    assert found["claim"].false_claim == "Lennart bought the copper kettle from a pirate."
    assert not found["nowhere"].answerable
    assert found["both"].documents == ("wall", "storm")
    assert read_listed(folder)[0].fields["years"] == "before 1900"


def test_fine_evidence_is_taken_where_it_may_be_trusted(folder: Path) -> None:
    row = questions()[0]
    fine = [{"doc_id": "wall", "start": 1, "end": 2}]
    write_lines(folder / "questions.jsonl", [row, {**row, "id": "f", "evidence_fine": fine, "fine_ok": True}])
    found = by_id(folder)
    assert found["f"].evidence == (("wall", 1, 2),)
    assert found["shares"].evidence != found["f"].evidence


def test_gold_spans_are_where_the_set_says(folder: Path) -> None:
    texts = {one.id: read_document(one).text for one in read_listed(folder)}
    check_evidence(by_id(folder).values(), texts)
    with pytest.raises(Refused, match="'shares' is not at"):
        check_evidence(by_id(folder).values(), {"wall": "x" + texts["wall"]})
    with pytest.raises(Refused, match="'shares' is not at"):
        check_evidence(by_id(folder).values(), {"wall": texts["wall"][:500]})


def test_a_larger_sample_adds_to_a_smaller_one() -> None:
    every = [Question(str(number), ("d",), id=str(number)) for number in range(40)]
    few, more = sample(every, 5, 7), sample(every, 12, 7)
    assert len(few) == 5
    assert {one.id for one in few} < {one.id for one in more}
    assert few != sample(every, 5, 8)
    assert [int(one.id) for one in more] == sorted(int(one.id) for one in more)
    assert sample(every, None, 7) == sample(every, 400, 7) == every


def test_a_folder_that_is_no_set_is_wrong_usage(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is no set: it needs docs\.jsonl and questions\.jsonl"):
        read_listed(tmp_path)
    with pytest.raises(UsageError):
        read_listed(tmp_path / "nowhere")


GOOD = {"id": "q", "doc_ids": ["wall"], "question": "Why?", "answers": ["so"]}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{broken", r"questions\.jsonl, line 2 is no JSON"),
        ("[1]", "line 2 is no JSON object"),
        ("\udcff", "line 2 is no JSON in UTF-8"),
        ("[" * 100_000, "line 2 is no JSON"),
        (json.dumps({**GOOD, "id": "first"}), "line 2: there is a question 'first' already"),
        (json.dumps({**GOOD, "doc_ids": ["moon"]}), "line 2: 'moon' is no document of docs.jsonl"),
        (json.dumps({**GOOD, "doc_ids": []}), "line 2: doc_ids is empty"),
        (json.dumps({**GOOD, "doc_ids": "wall"}), "line 2: doc_ids must be a list"),
        (json.dumps({**GOOD, "question": " "}), "line 2: the question is empty"),
        (json.dumps({**GOOD, "question": 7}), "line 2: question must be a text"),
        (json.dumps({"id": "q", "doc_ids": ["wall"]}), "line 2: question is missing"),
        (json.dumps({**GOOD, "answers": [{}]}), "line 2: answers must be a list of texts"),
        (json.dumps({**GOOD, "options": 3}), "line 2: options must be"),
        (
            json.dumps({**GOOD, "evidence": [{"doc_id": "wall", "start": 9, "end": 3}]}),
            "line 2: evidence must",
        ),
        (json.dumps({**GOOD, "evidence": [7]}), "line 2: evidence must"),
        (json.dumps({**GOOD, "evidence": [{"doc_id": "sea", "start": 1, "end": 3}]}), "'sea' is no document"),
    ],
)
def test_a_row_that_is_wrong_is_named_by_file_and_line(folder: Path, line: str, says: str) -> None:
    rows = json.dumps({**GOOD, "id": "first"}) + "\n" + line + "\n"
    (folder / "questions.jsonl").write_bytes(rows.encode("utf-8", "surrogateescape"))
    with pytest.raises(Refused, match=says):
        by_id(folder)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "names no document"),
        ([{"doc_id": "a", "file": "docs/none.md"}], r"line 1: there is no file .*none\.md"),
        ([{"file": "docs/none.md"}], "line 1: doc_id is missing"),
        ([{"doc_id": "a", "file": "docs.jsonl"}] * 2, "line 2: there is a document 'a' already"),
    ],
)
def test_documents_that_are_not_there_are_named(folder: Path, rows: list[dict[str, str]], says: str) -> None:
    write_lines(folder / "docs.jsonl", rows)
    with pytest.raises(MindscapeError, match=says):
        read_listed(folder)


@pytest.mark.parametrize("data", [b"one\0two", b"\xff\xfeo\0n\0e\0", b"<p>one</p>", b" \n"])
def test_a_document_that_is_not_read_as_it_stands_is_refused(folder: Path, data: bytes) -> None:
    suffix = ".html" if data.startswith(b"<") else ".txt"
    (folder / f"docs/odd{suffix}").write_bytes(data)
    write_lines(folder / "docs.jsonl", [{"doc_id": "odd", "file": f"docs/odd{suffix}"}])
    with pytest.raises(Refused, match=r"is not read as it stands|cannot be read"):
        read_document(read_listed(folder)[0])
