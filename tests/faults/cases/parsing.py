"""What the cases of group B say in prose."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from tests.faults.cases.claims import Claim, elsewhere, plays, says
from tests.faults.cases.scene import Scene, flat

from mindscape.errors import NotFound

CONTROLS = frozenset(chr(code) for code in (*range(9), 0x0B, *range(0x0E, 0x20), *range(0x7F, 0xA0)))


@says("B01-utf16", "no stored text contains U+0000 or U+FEFF")
def no_nul_and_no_mark(scene: Scene, claim: Claim) -> None:
    assert scene.holds("\0") == scene.holds("\ufeff") == []


@says("B01-utf16", "utf8-bom-frontmatter.md has title 'Heron house' and tags birds, attic")
def properties_behind_a_mark(scene: Scene, claim: Claim) -> None:
    info, _ = scene.stored("utf8-bom-frontmatter.md")
    assert (info.title, info.metadata["tags"]) == ("Heron house", ["birds", "attic"])


@says("B01-utf16", "utf16-markdown.md has heading Überschrift")
def heading_in_utf16(scene: Scene, claim: Claim) -> None:
    assert [section.heading for section in scene.stored("utf16-markdown.md")[1]] == ["Überschrift"]


@says(
    "B02-legacy-encodings",
    "gbk, gb18030, big5, shift_jis, euc_kr, cp1251, koi8_r, cp1252 must be found",
    "short.gbk.txt is ambiguous: any guess is fine, no crash",
    "the others: best effort",
)
def legacy_text_is_read_with_its_encoding(scene: Scene, claim: Claim) -> None:
    for file, row in scene.rows().items():
        assert row["status"] == "ok", file
        info, _ = scene.stored(file)
        assert info.encoding, file
        # Bytes that are nothing in the encoding are said.
        assert info.warnings or file not in scene.holds("\ufffd"), file


@says("B02-legacy-encodings", "declared charset in html/xml wins over guessing")
def declared_encodings_win(scene: Scene, claim: Claim) -> None:
    encodings = [scene.stored(file)[0].encoding for file in ("html-meta.html", "xml-decl.xhtml")]
    assert encodings == ["gb18030", "cp1251"]


@says(
    "B04-nul-bytes",
    "PRAGMA quick_check = ok",
    "INSERT INTO fts(fts,rank) VALUES('integrity-check',1) raises nothing",
)
def the_library_is_sound(scene: Scene, claim: Claim) -> None:
    assert [one for one in scene.daemon.call("doctor")["checks"] if one["state"] == "fail"] == []


@says("B04-nul-bytes", "no NUL/ESC/BEL/C1 in any API reply or terminal output")
def no_control_is_served(scene: Scene, claim: Claim) -> None:
    served = [*scene.texts().values(), *(hit["text"] for hit in scene.search("ctrlmark left right"))]
    assert all(CONTROLS.isdisjoint(text) for text in served)


@says("B04-nul-bytes", "offsets unchanged: each control replaced by exactly one character")
def controls_are_replaced_one_for_one(scene: Scene, claim: Claim) -> None:
    for file, text in scene.texts().items():
        raw = (scene.root / file).read_bytes().decode("utf-8")
        assert len(text) == len(raw), file
        for one, other in zip(text, raw, strict=True):
            assert one == (" " if other in CONTROLS else other), file


@says(
    "B07-epub-drm-vs-fonts",
    "no chunk from drm-chapters.epub or lcp.epub",
    "no decryption is attempted",
    "title/author of the DRM books may be indexed",
)
def protected_books_are_closed(scene: Scene, claim: Claim) -> None:
    rows = scene.rows()
    assert all(rows[file]["passages"] == 0 for file in ("drm-chapters.epub", "lcp.epub"))


@says("B09-pdf-scanned", "page numbers are those of the PDF")
def pages_without_text_count(scene: Scene, claim: Claim) -> None:
    pages = [scene.search(word)[0]["page"] for word in ("northwall", "cellarpump")]
    assert pages == ["1", "3"]


@says("B09-pdf-scanned", "status is visible to the user, not an error")
def a_scan_is_said_to_be_one(scene: Scene, claim: Claim) -> None:
    assert scene.rows()["scan-only.pdf"]["reason"]


@says("B09-pdf-scanned", "scan-only.pdf still findable by file name")
def a_scan_is_found_by_its_name(scene: Scene, claim: Claim) -> None:
    with pytest.raises(NotFound, match=r"scan-only\.pdf has no text: .*page"):
        scene.daemon.call("get", place="scan-only.pdf")


@says(
    "B10-ligatures",
    "the quoted text shown is the original",
    "offset mapping: ﬁ is one source character but two search characters",
)
def ligatures_stay_in_the_text(scene: Scene, claim: Claim) -> None:
    hit = next(hit for hit in scene.search("scientific") if hit["document"]["path"].endswith(".md"))
    row = scene.rows()["ligatures.md"]
    assert "ﬁ" in hit["text"]
    assert hit["text"] == scene.place(row)["text"][hit["start"] : hit["end"]]
    assert scene.place(row)["text"] == (scene.root / "ligatures.md").read_text("utf-8")


@says("B12-pdf-encrypted", "no automatic retry loop on the locked file")
def a_locked_file_is_tried_once(scene: Scene, claim: Claim) -> None:
    before = scene.daemon.call("status")["work"]["parses"]
    assert scene.daemon.wait()["work"]["parses"] == before


@says("B12-pdf-encrypted", "needs the 'cryptography' package")
def strong_encryption_needs_nothing_more(scene: Scene, claim: Claim) -> None:
    assert scene.status("aes256-empty-user.pdf")[0] == "ok"


@says("B17-html-boilerplate", "title: How to salt cod — Café Notes (charset from meta)")
def title_in_the_declared_charset(scene: Scene, claim: Claim) -> None:
    assert scene.stored("saved-page.html")[0].title == "How to salt cod — Café Notes"


@says("B17-html-boilerplate", "'2 kg' and '9 tablecell' separated; 'one' and 'two' separated")
def cells_and_blocks_stand_apart(scene: Scene, claim: Claim) -> None:
    text = flat(scene.texts()["saved-page.html"])
    assert "2 kg9" not in text
    assert "onetwo" not in text
    assert all(words in text for words in ("2 kg", "9 tablecell"))


@says("B17-html-boilerplate", "no base64 in the index")
def inline_data_is_no_text(scene: Scene, claim: Claim) -> None:
    assert all(len(word) < 200 for text in scene.texts().values() for word in text.split())


@says("B17-html-boilerplate", "no RecursionError on deep.html")
def deep_pages_are_read(scene: Scene, claim: Claim) -> None:
    assert {file: row["status"] for file, row in scene.rows().items() if file.startswith("deep")} == {
        "deep.html": "ok",
        "deep-300.html": "ok",
    }


@says("B18-md-frontmatter", "every marker is found: no text is ever lost")
def the_text_is_the_file(scene: Scene, claim: Claim) -> None:
    for file, text in scene.texts().items():
        assert text == (scene.root / file).read_bytes().decode("utf-8-sig"), file


@says("B18-md-frontmatter", "tags of plain.md: clocks, towers")
def tags_are_a_list(scene: Scene, claim: Claim) -> None:
    assert scene.stored("plain.md")[0].metadata["tags"] == ["clocks", "towers"]


@says("B18-md-frontmatter", "python-tag.md does not run anything (/tmp/bugs-pwned must not exist)")
def nothing_in_a_note_is_run(scene: Scene, claim: Claim) -> None:
    assert scene.status("python-tag.md")[0] == "ok"
    assert not Path("/tmp/bugs-pwned").exists()


@says("B18-md-frontmatter", "'* not a heading' in the org source block is not a heading")
def code_in_org_is_no_heading(scene: Scene, claim: Claim) -> None:
    assert all("not a heading" not in section.heading for section in scene.stored("org-style.org")[1])


@says("B18-md-frontmatter", "in wikilinks.md the words 'the tower' and 'Other Note' are searchable")
def words_of_links_are_searchable(scene: Scene, claim: Claim) -> None:
    assert all("wikilinks.md" in scene.files(words) for words in ("the tower", "Other Note"))


elsewhere(
    "B18-md-frontmatter",
    ("tests/ingest/formats/test_limits.py::test_properties_that_would_explode_cost_nothing",),
    "bomb.md: < 1 s, < 50 MB",
)


@says("B20-md-code-fences", "a code block that fits is not split")
def code_that_fits_is_one_passage(scene: Scene, claim: Claim) -> None:
    hit = scene.search("fenceinstall")[0]
    assert "install deps" in hit["text"]


@plays("B21-zip-bomb")
def archives_under_watch(scene: Scene) -> None:
    """Index with one worker, and note the most memory that the daemon and the worker ever had."""
    daemon = scene.start_own(scene.root.with_name("home"))
    assert daemon.process is not None
    scene.index()
    own = psutil.Process(daemon.process.pid)
    scene.seen["peaks"] = [peak_bytes(one.pid) for one in (own, *own.children())]


def peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


@says("B21-zip-bomb", "peak memory of the daemon (and its worker) grows by < 300 MB for every file")
def memory_stays_flat(scene: Scene, claim: Claim) -> None:
    assert len(scene.seen["peaks"]) == 2
    # An idle process of either kind has some 60 MB.
    assert max(scene.seen["peaks"]) < 360 << 20
