"""Checkers of the keys that mean the same in every case: queries, status, phrases, titles and phases."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.faults.cases.claims import Check, Claim, checker, key
from tests.faults.cases.scene import Scene, flat

NOT_INDEXED = frozenset(("damaged", "unsupported", "too_large", "protected"))
STATUSES: tuple[tuple[str, frozenset[str]], ...] = (
    ("empty", frozenset(("empty",))),
    ("skipped: binary", frozenset(("unsupported",))),
    ("skipped: permission denied", frozenset(("unreadable",))),
    ("skipped: not a regular file", frozenset(("unsupported",))),
    ("encrypted", frozenset(("protected",))),
    ("password needed", frozenset(("protected",))),
    ("no text layer", frozenset(("no_text",))),
    ("indexed after repair or failed", frozenset(("ok", "damaged"))),
    ("indexed", frozenset(("ok",))),
    ("almost no text", frozenset(("ok", "no_text"))),
    ("refused (or c1 skipped)", frozenset(("ok", "too_large"))),
    ("refused: real size", frozenset(("too_large",))),
    ("refused", frozenset(("too_large", "damaged", "unsupported"))),
    ("failed", NOT_INDEXED),
)
"""How a case words a status -> the statuses that are meant."""
WARNED = ("indexed with warning", "indexed; page", "almost no text", "refused (or c1 skipped)")
QUERY_KEYS = frozenset(("q", "file", "page", "hits", "lang", "note", "documents", "top", "evidence"))
PHASE_KEYS = frozenset(
    (
        *("find", "gone", "documents", "path", "no_path", "paths_start_with", "no_path_starts_with"),
        *("documents_named_notes", "in", "note"),
    )
)
NOTES: dict[tuple[str, str], Check] = {}
"""Case and phase -> the check of what the phase says in a note."""


def without_comment(text: str) -> str:
    """The words of a claim without what it says about them in brackets."""
    return re.sub(r" \([^()]*\)$", "", text)


@key("queries")
def query_finds_its_file(scene: Scene, claim: Claim) -> None:
    query: dict[str, Any] = claim.value
    assert set(query) <= QUERY_KEYS, f"nothing checks {set(query) - QUERY_KEYS}"
    hits = scene.search(query["q"])
    assert hits
    found = scene.files(query["q"])
    if "file" in query:
        assert named(scene, query["file"], query["q"]) <= set(found), found
    if "page" in query:
        assert hits[0]["page"] == str(query["page"])
    if "top" in query:
        assert found[0] == query["top"]
    if "evidence" in query:
        assert query["evidence"] in flat(hits[0]["text"])
    if "documents" in query:
        assert len(set(found)) == query["documents"]
    if "hits" in query:
        assert sum(text.count(query["q"]) for text in scene.texts().values()) == query["hits"]


def named(scene: Scene, words: str, query: str) -> set[str]:
    """The files that a claim names: one, perhaps with a comment, or all of a kind."""
    rows = scene.rows()
    if words == "all the txt files":
        return {file for file in rows if file.endswith(".txt") and says_it(scene.root / file, query)}
    name = without_comment(words)
    assert name in rows, f"there is no {name}"
    return {name}


def says_it(path: Path, word: str) -> bool:
    """Whether the word stands in the bytes of the file, in any form of Unicode."""
    forms = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
    return any(word.encode(form) in path.read_bytes() for form in forms)


@key("status")
def status_is_as_described(scene: Scene, claim: Claim) -> None:
    assert claim.name is not None
    words: str = claim.value
    status, reason = scene.status(claim.name)
    meant = next(statuses for start, statuses in STATUSES if words.startswith(start))
    assert status in meant, reason
    assert status == "ok" or reason
    if words.startswith(WARNED) and status == "ok":
        info, _ = scene.stored(claim.name)
        assert info.warnings
        wanted = re.findall(r"\S+\.xhtml|page \d+", words)
        assert all(any(one in warning.lower() for warning in info.warnings) for one in wanted), info.warnings


@key("phrases")
def phrase_is_in_the_text(scene: Scene, claim: Claim) -> None:
    texts = scene.texts()
    held = [flat(texts[claim.name])] if claim.name else [flat(text) for text in texts.values()]
    for phrase in claim.value if claim.name else [claim.value]:
        assert any(without_comment(phrase) in text for text in held), phrase


@key("never", "better_without")
def words_are_in_no_text(scene: Scene, claim: Claim) -> None:
    word = without_comment(claim.value)
    assert scene.holds(word) == []
    assert all(word not in hit["text"] for hit in scene.search(word))


@key("titles")
def title_is_right(scene: Scene, claim: Claim) -> None:
    assert claim.name is not None
    title = scene.stored(claim.name)[0].title
    if claim.value.startswith("either "):
        assert title is None or title in re.findall(r"'([^']+)'", claim.value)
    else:
        assert title == claim.value


@key("heading_paths")
def heading_path_is_right(scene: Scene, claim: Claim) -> None:
    assert claim.name is not None
    hit = next(hit for hit in scene.search(claim.name) if claim.name in hit["text"])
    at = hit["start"] + hit["text"].index(claim.name)
    got = scene.daemon.call("get", place=f"{hit['document']['id']}:{at}-{at + 1}")
    assert got["heading"] == claim.value


@key("headings_exactly", "optional_headings")
def headings_are_these_and_no_others(scene: Scene, claim: Claim) -> None:
    file = next(iter(scene.rows()))
    headings = [section.heading for section in scene.stored(file)[1]]
    optional = scene.expected["optional_headings"]
    assert claim.value in headings or claim.value in optional
    assert [heading for heading in headings if heading not in optional] == scene.expected["headings_exactly"]


@key("never_headings")
def no_heading_is(scene: Scene, claim: Claim) -> None:
    for file in scene.rows():
        assert all(claim.value not in section.heading for section in scene.stored(file)[1])


@key("line_numbers")
def line_is_what_an_editor_shows(scene: Scene, claim: Claim) -> None:
    assert claim.name is not None
    row = scene.rows()[claim.name]
    text = scene.place(row)["text"]
    for word, line in claim.value.items():
        if word == "note":
            continue
        at = text.index(word)
        assert scene.daemon.call("get", place=f"{row['id']}:{at}-{at + 1}")["line"] == line


@key("order")
def order_of_words(scene: Scene, claim: Claim) -> None:
    first, _, second = claim.value.partition(" before ")
    for file, text in scene.texts().items():
        if second:
            assert not {first, second} <= set(text.split()) or text.index(first) < text.index(second), file
        else:
            assert claim.value == "heading first"
            # Only one of the files has a heading.
            assert [section.start for section in scene.stored(file)[1]] in ([0], []), file


@key("after_each_phase")
def phase_was_played(scene: Scene, claim: Claim) -> None:
    # What a phase says is checked while it is played, by `play_phases`.
    assert claim.name in scene.seen["phases"]


def play_phases(scene: Scene) -> None:
    """Play all phases in turn; after each the daemon notices by itself, and its claims are checked."""
    scene.root.mkdir(exist_ok=True)
    scene.phase("prepare")
    scene.watch()
    said = scene.expected["after_each_phase"]
    scene.seen["phases"] = []
    for name in said:
        if name != "prepare":
            scene.phase(name)
        check_phase(scene, name, said[name])


def check_phase(scene: Scene, name: str, said: dict[str, Any]) -> None:
    """Wait for what a phase says to become true, and see that it stays so after a scan."""
    assert set(said) <= PHASE_KEYS, f"{name}: nothing checks {set(said) - PHASE_KEYS}"
    words = dict.fromkeys(said.get("find", ()), True) | dict.fromkeys(said.get("gone", ()), False)

    def true() -> bool:
        return all(bool(scene.holds(word)) is found for word, found in words.items())

    scene.until(true)
    scene.daemon.wait()
    assert true(), name
    rows = scene.rows()
    for word in said.get("find", ()):
        assert set(scene.files(word)) & set(said.get("in", rows)), f"{name}: {word}"
    assert len(rows) == said.get("documents", len(rows)), name
    assert said.get("path", next(iter(rows), None)) in rows or not rows, name
    assert said.get("no_path") not in rows, name
    for start, wanted in (("paths_start_with", True), ("no_path_starts_with", False)):
        if start in said:
            assert any(path.startswith(said[start]) for path in rows) is wanted, name
    if "documents_named_notes" in said:
        assert sum(path.casefold() == "notes.md" for path in rows) == said["documents_named_notes"]
    if "note" in said:
        NOTES[scene.name, name](scene, Claim("after_each_phase", name, said["note"]))
    for line in scene.expected.get("always", ()):
        check = checker(scene.name, Claim("always", None, line))
        assert callable(check), line
        check(scene, Claim("always", None, line))
    scene.seen["phases"].append(name)
