"""What the cases of group C say in prose."""

from __future__ import annotations

import re
import shutil
import unicodedata
from contextlib import closing
from pathlib import Path

from tests.faults.cases import keys
from tests.faults.cases.claims import Claim, elsewhere, plays, says
from tests.faults.cases.scene import NOT_DOCUMENTS, Scene

from mindscape.ingest.parse import parse
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape.ingest.passages import MAX_TOKENS, MIN_TOKENS, count_tokens, cut
from mindscape_storage import contents, documents
from mindscape_storage.database import open_reader
from mindscape_storage.records import NewPassage, Passage

ALL_THREE = {"a/report.md", "b/report copy.md", "d/hardlink.md"}
CASE = "C01-cjk-long"

elsewhere(
    CASE,
    ("tests/models/test_embedding.py::test_windows_hold_every_token_once_and_are_of_like_length",),
    "every chunk's token count under the embedding model's own tokenizer",
)
elsewhere(
    "C09-empty-docs",
    ("tests/models/test_embedding.py::test_blank_texts_are_refused",),
    "no vector for blank text; no NaN",
)


def passages_of(scene: Scene, file: str) -> list[Passage]:
    """The passages of a document, as the library has them."""
    with closing(open_reader(scene.daemon.paths.database)) as connection:
        document = documents.get_document(connection, scene.rows()[file]["id"])
        assert document is not None
        assert document.content_id is not None
        return list(contents.passages_of(connection, document.content_id))


@says(CASE, "source[start:end]==chunk.text")
def passages_are_slices_of_the_file(scene: Scene, claim: Claim) -> None:
    for file in scene.rows():
        text = (scene.root / file).read_text("utf-8")
        found = passages_of(scene, file)
        assert all(text[one.start : one.end] == one.text for one in found), file
        assert all(count_tokens(one.text) <= MAX_TOKENS for one in found), file


@says(CASE, "no chunk starts with a combining mark or half of a surrogate pair")
def passages_start_with_whole_characters(scene: Scene, claim: Claim) -> None:
    for file in scene.rows():
        for one in passages_of(scene, file):
            assert not unicodedata.category(one.text[0]).startswith(("M", "Cs")), (file, one.start)


@says(CASE, "zh-punct.md: boundaries fall after 。！？ where possible")
def chinese_is_cut_between_sentences(scene: Scene, claim: Claim) -> None:
    *whole, _ = passages_of(scene, "zh-punct.md")
    assert len(whole) > 2
    assert all(one.text.rstrip()[-1] in "。！？" for one in whole)


@plays("C03-offset-invariant")
def laws_of_passages(scene: Scene) -> None:
    """The laws in the case's README, over every file of every case of the groups B, C and E."""
    for path in sorted(scene.source.parent.glob("[BCE]*/**/*")):
        if path.is_file() and path.name not in NOT_DOCUMENTS:
            try:
                parsed = parse(Source(path, path.read_bytes()))
            except ParseFailure:
                continue
            assert_passages_are_lawful(path, parsed)


def assert_passages_are_lawful(path: Path, parsed: Parsed) -> None:
    found = list(cut(parsed))
    at = 0
    for one in found:
        assert one.start == at < one.end, path
        assert parsed.text[one.start : one.end] == one.text, path
        at = one.end
    assert at == len(parsed.text), path
    assert len(found) <= len(parsed.text) / MIN_TOKENS + len(parsed.sections) + 1, path
    if parsed.text_like:
        assert_lines_are_counted(path, parsed.text, found)


def assert_lines_are_counted(path: Path, text: str, found: list[NewPassage]) -> None:
    lines = 1
    before = 0
    for one in found:
        lines += len(re.findall(r"\r\n|\r|\n", text[before : one.start]))
        # A passage may begin between the two characters that end one line.
        lines -= text[one.start - 1 : one.start + 1] == "\r\n"
        before = one.start
        assert one.line == lines, (path, one.start)


@says("C06-crlf-offsets", "the heading is 'Heading' without CR")
def headings_end_before_the_line_does(scene: Scene, claim: Claim) -> None:
    for file in ("lf.md", "crlf.md", "crlf-bom.md", "cr.md", "mixed.md"):
        assert "Heading" in [section.heading for section in scene.stored(file)[1]], file


@says("C06-crlf-offsets", "quote 'The cistern holds 900 litres.' is verbatim")
def the_sentence_is_verbatim(scene: Scene, claim: Claim) -> None:
    for file in ("lf.md", "crlf.md", "crlf-bom.md", "cr.md", "mixed.md"):
        assert "The cistern holds 900 litres." in scene.texts()[file], file


@says("C06-crlf-offsets", "opening the file at the given line in an editor shows the marker")
def an_editor_finds_the_line(scene: Scene, claim: Claim) -> None:
    for file, places in scene.expected["line_numbers"].items():
        lines = re.split(rb"\r\n|\r|\n", (scene.root / file).read_bytes())
        for word, line in places.items():
            assert word == "note" or word.encode() in lines[line - 1], (file, word)


@plays("C08-duplicates")
def copies(scene: Scene) -> None:
    """Ask while all copies are there, then play the phases."""
    scene.root.mkdir()
    scene.phase("prepare")
    scene.watch()
    scene.seen["ferry"] = scene.search("How many passengers did the ferry carry?")
    scene.seen["valve"] = scene.files("Where is valve 5?", k=10)
    scene.seen["phases"] = []
    for name, said in scene.expected["after_each_phase"].items():
        scene.phase(name)
        keys.check_phase(scene, name, said)


@says("C08-duplicates", "{'q': 'How many passengers did the ferry carry?'")
def a_text_is_one_result_with_all_its_paths(scene: Scene, claim: Claim) -> None:
    first = scene.seen["ferry"][0]
    paths = [one["path"].removeprefix(f"{scene.root}/") for one in (first["document"], *first["also"])]
    assert sorted(paths) == sorted(ALL_THREE)
    others = [hit["document"]["path"] for hit in scene.seen["ferry"][1:]]
    assert f"{scene.root}/c/report-v2.md" in others
    assert not {f"{scene.root}/{path}" for path in ALL_THREE} & set(others)


@says("C08-duplicates", "{'q': 'Where is valve 5?'")
def boilerplate_does_not_fill_the_page(scene: Scene, claim: Claim) -> None:
    assert scene.seen["valve"][0] == claim.value["top"]
    texts = [hit["text"] for hit in scene.search("Where is valve 4?")]
    assert len(set(texts)) == len(texts)


def the_other_copy_stays(scene: Scene, claim: Claim) -> None:
    assert scene.holds("ferrycount.") == ["d/hardlink.md"]


keys.NOTES["C08-duplicates", "edit_copy"] = the_other_copy_stays


@says("C09-empty-docs", "empty files do not count as errors and are not retried")
def empty_files_are_final(scene: Scene, claim: Claim) -> None:
    before = scene.daemon.call("status")
    after = scene.daemon.wait()
    assert before["work"]["parses"] == after["work"]["parses"]
    assert "quarantined" not in after["documents"]["by_status"]
    assert after["jobs"] == before["jobs"]


@says("C09-empty-docs", "asking with an index of only empty files answers 'nothing indexed'")
def asking_nothing_is_answered(scene: Scene, claim: Claim) -> None:
    scene.leave()
    empty = scene.root / "only empty"
    empty.mkdir()
    for file in ("zero.md", "bom.txt", "newlines.md"):
        shutil.copy(scene.root / file, empty)
    scene.daemon.call("add", paths=[str(empty)])
    scene.daemon.wait()
    answer = scene.daemon.call("ask", question="Where is the key?", stream=False)
    assert (answer["answered"], answer["citations"]) == (False, [])
    assert "nothing" in answer["answer"].lower() or "no document" in answer["answer"].lower()
