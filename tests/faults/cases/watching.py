"""What the cases of group A say in prose, and what has to be played for it."""

from __future__ import annotations

import base64
import os
import shutil
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.cases import keys
from tests.faults.cases.claims import Claim, elsewhere, plays, says
from tests.faults.cases.scene import Scene

# --- A01, A02 ---


@says("A01-atomic-save", "exactly one document (bread.md) in the index", "nothing named *.swp")
def only_the_note_is_indexed(scene: Scene, claim: Claim) -> None:
    assert list(scene.rows()) == ["bread.md"]


@says("A01-atomic-save", "swapnoise never found")
def swap_files_are_not_read(scene: Scene, claim: Claim) -> None:
    assert scene.holds("swapnoise") == []


@says("A02-folder-moves", "keepmark stays findable")
def the_kept_note_stays(scene: Scene, claim: Claim) -> None:
    assert scene.files("keepmark") == ["keep/index.md"]


# --- A04 ---


@says("A04-symlink-loop", "finishes in seconds", "dangling.md, loop1, loop2: skipped, no exception")
def only_real_files_are_listed(scene: Scene, claim: Claim) -> None:
    assert list(scene.rows()) == ["a/note.md"]


@says("A04-symlink-loop", "lampmonday found exactly once", "no path contains up/ or self/")
def each_real_file_once(scene: Scene, claim: Claim) -> None:
    assert scene.files("lampmonday") == ["a/note.md"]


@says("A04-symlink-loop", "outsidesecret not found by default")
def links_lead_nowhere_outside(scene: Scene, claim: Claim) -> None:
    assert scene.holds("outsidesecret") == []


# --- A05 ---

NFC = unicodedata.normalize("NFC", "Übung Café.md")
NFD = unicodedata.normalize("NFD", NFC)


@plays("A05-nfc-nfd-names")
def spellings(scene: Scene) -> None:
    """The tree as it lies there; then the renames of a synchronising tool, in a folder of their own."""
    scene.index()
    whole, scene.root = scene.root, scene.root.with_name("synchronised")
    keys.play_phases(scene)
    scene.leave()
    scene.root = whole


@says("A05-nfc-nfd-names", "{'q': 'decomposedonly'")
def the_bytes_open_the_file(scene: Scene, claim: Claim) -> None:
    (hit,) = [hit for hit in scene.search("decomposedonly") if "decomposedonly" in hit["text"]]
    row = scene.rows()[hit["document"]["path"].removeprefix(f"{scene.root}/")]
    assert b"decomposedonly" in Path(os.fsdecode(base64.b64decode(row["path_bytes_b64"]))).read_bytes()


@says("A05-nfc-nfd-names", "{'q': 'composedtwin'", "{'q': 'decomposedtwin'")
def twins_are_two(scene: Scene, claim: Claim) -> None:
    holding = scene.holds(f"Marker: {claim.value['q']}.")
    assert holding == [f"both/{NFC if claim.value['q'] == 'composedtwin' else NFD}"]


@says("A05-nfc-nfd-names", "{'q': 'Müller Tür (typed NFC)'", "{'q': 'Müller Tür (typed NFD")
def words_are_found_in_either_spelling(scene: Scene, claim: Claim) -> None:
    form = "NFC" if "NFC" in claim.value["q"] else "NFD"
    assert scene.files(unicodedata.normalize(form, "Müller Tür"))[0] == "text.md"


@says("A05-nfc-nfd-names", "{'filter': \"path contains 'Übung' in either form\"")
def names_are_found_in_either_spelling(scene: Scene, claim: Claim) -> None:
    for form in ("NFC", "NFD"):
        found = set(scene.files(unicodedata.normalize(form, "Übung")))
        assert {f"only-nfd/{NFD}", f"both/{NFC}", f"both/{NFD}"} <= found


# --- A06 ---

FEW_WATCHES = """
import errno
from mindscape.ingest.inotify import Inotify
add = Inotify._add
def refuse(self, *given):
    if len(self._watches) > 100:
        raise OSError(errno.ENOSPC, "No space left on device")
    add(self, *given)
Inotify._add = refuse
"""


@plays("A06-many-dirs")
def more_folders_than_watches(scene: Scene) -> None:
    """Watch a tree for which the system gives no watches, and edit a file in it without saying so."""
    scene.root.mkdir()
    scene.phase("prepare", N="300")
    scene.start_own(scene.root.with_name("home"), FEW_WATCHES, poll_seconds="1")
    scene.watch()
    scene.seen["found"] = scene.files("lastdirectory")
    scene.seen["folder"] = scene.daemon.call("status")["folders"][0]
    scene.phase("edit_last", N="300")
    scene.until(lambda: bool(scene.holds("lasteditpolled")))


@says("A06-many-dirs", "daemon stays up", "edit_last is noticed by the periodic scan")
def edits_are_noticed_all_the_same(scene: Scene, claim: Claim) -> None:
    assert scene.holds("lasteditpolled") == ["d002/s00299/last.md"]


@says("A06-many-dirs", "lastdirectory indexed")
def the_last_folder_is_read(scene: Scene, claim: Claim) -> None:
    assert scene.seen["found"] == ["d002/s00299/last.md"]


@says("A06-many-dirs", "status says live watching is off/partial for this root, with the sysctl hint")
def the_missing_watches_are_said(scene: Scene, claim: Claim) -> None:
    folder = scene.seen["folder"]
    assert folder["mode"] == "polling"
    assert "max_user_watches" in str(folder), folder


@says("A06-many-dirs", "no traceback for the user")
def no_traceback_is_logged(scene: Scene, claim: Claim) -> None:
    assert "Traceback" not in scene.daemon.paths.log.read_text("utf-8")


# --- A07 ---

MANY = "1000"


@plays("A07-mass-checkout")
def checkouts(scene: Scene) -> None:
    """Write, rewrite and remove thousands of files at once."""
    scene.root.mkdir()
    scene.phase("prepare", N=MANY)
    scene.watch()
    scene.seen["equal"] = []
    for name in ("branch_a", "branch_b", "back_to_nothing"):
        scene.phase(name, N=MANY)
        scene.seen.setdefault("during", []).append(scene.files("stablenote"))
        scene.daemon.wait()
        files = {str(path.relative_to(scene.root)) for path in scene.root.rglob("*.md")}
        scene.seen["equal"].append(set(scene.rows()) == files)
        if name == "branch_b":
            scene.seen["old"] = [hit for hit in scene.search("brancha00001") if "brancha" in hit["text"]]
            scene.seen["new"] = scene.files("branchb00001")


@says("A07-mass-checkout", "after settling, set of indexed paths == set of files on disk")
def the_index_is_the_disk(scene: Scene, claim: Claim) -> None:
    assert scene.seen["equal"] == [True, True, True]


@says("A07-mass-checkout", "after branch_b no 'brancha' marker is found")
def the_old_branch_is_gone(scene: Scene, claim: Claim) -> None:
    assert scene.seen["old"] == []
    assert scene.seen["new"] == ["m000/f00001.md"]


@says("A07-mass-checkout", "queries answered during the burst")
def queries_are_answered_meanwhile(scene: Scene, claim: Claim) -> None:
    assert scene.seen["during"] == [["stable.md"]] * 3


elsewhere(
    "A07-mass-checkout",
    ("tests/ingest/test_watch.py::test_reading_is_no_hint",),
    "CPU idle after settling (no self-triggered rescans)",
)
elsewhere(
    "A07-mass-checkout",
    ("tests/ingest/test_watch.py::test_lost_events_make_every_root_a_hint",),
    "default kernel queue is 16384 events",
)

# --- A09 ---


def both_spellings_are_found(scene: Scene, claim: Claim) -> None:
    assert scene.holds("caseone") == ["NOTES.md"]
    assert scene.holds("lowercasefile") == ["notes.md"]


keys.NOTES["A09-case-rename", "two_files"] = both_spellings_are_found

# --- A10 ---


@plays("A10-vanished-mount")
def mounts_that_go_and_come(scene: Scene) -> None:
    """Two roots, so that the one that goes is a mount and the other is not."""
    scene.seen["phases"] = list(scene.expected["after_each_phase"])
    scene.root.mkdir()
    scene.phase("prepare")
    scene.watch()
    for name in scene.seen["phases"]:
        scene.phase(name)
        scene.daemon.wait()
        by_status = scene.daemon.call("status")["documents"]["by_status"]
        scene.seen[name] = (
            len(scene.rows()),
            by_status,
            scene.files("localnote") if by_status.get("ok") else [],
            scene.daemon.call("status")["work"]["parses"],
            scene.files("nasbook49") if by_status.get("ok") else [],
        )


@says("A10-vanished-mount", "unmount: ")
def an_empty_subtree_is_kept(scene: Scene, claim: Claim) -> None:
    rows, by_status, local, _, _ = scene.seen["unmount"]
    assert local == ["local.md"]
    assert (rows, by_status.get("away")) == (51, 50)


@says("A10-vanished-mount", "remount: ")
def a_subtree_that_comes_back_costs_nothing(scene: Scene, claim: Claim) -> None:
    _, by_status, _, parses, found = scene.seen["remount"]
    assert by_status == {"ok": 51}
    assert found[:1] == ["nas/book49.md"]
    assert parses == scene.seen["unmount"][3]


@says("A10-vanished-mount", "root_gone: ")
def a_root_that_is_gone_is_away(scene: Scene, claim: Claim) -> None:
    assert scene.seen["root_gone"][:2] == (51, {"away": 51})


@says("A10-vanished-mount", "root_back: ")
def a_root_that_comes_back_is_found(scene: Scene, claim: Claim) -> None:
    assert scene.seen["root_back"][:3] == (51, {"ok": 51}, ["local.md"])
    assert scene.seen["root_back"][3] == scene.seen["remount"][3]


elsewhere(
    "A10-vanished-mount",
    (
        "tests/ingest/test_mounts.py::test_a_path_lies_on_the_longest_mount_point_above_it_the_latest_mount_counting",
    ),
    "/home/ana/",
)

# --- A11 ---


@plays("A11-read-events")
def reading_and_touching(scene: Scene) -> None:
    """Read, touch and open the files, and note what was computed."""
    scene.root.mkdir()
    before = scene.daemon.call("status")["work"]["parses"]
    scene.phase("prepare")
    scene.watch()

    def parses() -> int:
        return scene.daemon.wait()["work"]["parses"] - before

    scene.seen["prepare"] = parses()
    for name in ("read_all", "touch_only", "chmod_only", "open_rw_no_write"):
        scene.phase(name)
        scene.seen[name] = parses()


@says("A11-read-events", "after prepare settles the 'jobs done' counter is 50", "read_all: 0 new jobs")
def reading_costs_nothing(scene: Scene, claim: Claim) -> None:
    assert scene.seen["prepare"] == scene.seen["read_all"] == 50


@says("A11-read-events", "touch/chmod/open without write: at most a hash check")
def touching_costs_no_parse(scene: Scene, claim: Claim) -> None:
    assert [scene.seen[name] for name in ("touch_only", "chmod_only", "open_rw_no_write")] == [50] * 3


elsewhere(
    "A11-read-events",
    ("tests/ingest/test_watch.py::test_reading_is_no_hint",),
    "CPU time of the daemon over 60 idle seconds < 1 s",
)

# --- A13 ---


@plays("A13-offline-changes")
def changes_while_off(scene: Scene) -> None:
    """Prepare, start, wait, stop, change, start."""
    scene.root.mkdir()
    scene.phase("prepare")
    daemon = scene.start_own(scene.root.with_name("home"))
    scene.watch()
    scene.seen["parses"] = daemon.call("status")["work"]["parses"]
    daemon.stop()
    scene.phase("offline")
    assert daemon.start() == "ready"
    scene.seen["answer"] = daemon.call("ask", question="What does deleteme mark?", stream=False)
    scene.seen["after"] = daemon.wait()["work"]["parses"]


@says("A13-offline-changes", "find: ")
def what_was_changed_is_found(scene: Scene, claim: Claim) -> None:
    for words in claim.value:
        assert scene.holds(words.split(" (")[0]), words
    assert scene.holds("kilnmove") == ["moved/renamed.md"]
    # Edited, added, and the note in the folder that took a file's name.
    assert scene.seen["after"] - scene.seen["parses"] == 3


@says("A13-offline-changes", "gone: ")
def what_went_is_not_found(scene: Scene, claim: Claim) -> None:
    assert [word for word in claim.value if scene.holds(word)] == []


@says("A13-offline-changes", "a question asked right after start must not cite delete-me.md")
def a_deleted_file_is_not_cited(scene: Scene, claim: Claim) -> None:
    answer = scene.seen["answer"]
    cited = [one for one in answer["citations"] if one["path"].endswith("delete-me.md")]
    assert not cited or any("since the start" in note for note in answer["coverage"]["notes"]), answer


# --- A14 ---


@plays("A14-unreadable")
def files_that_cannot_be_read(scene: Scene) -> None:
    """Index as a user whom permissions hold for, then mend them."""
    home = scene.root.with_name("home")
    scene.root = scene.source / scene.expected["root"]
    prefix: tuple[str, ...] = ()
    if os.geteuid() == 0:
        dropped = "-dac_override,-dac_read_search"
        prefix = ("setpriv", "--bounding-set", dropped, "--inh-caps", dropped)
        if shutil.which("setpriv") is None:
            pytest.skip("permissions do not hold for root, and there is no setpriv")
    scene.start_own(home, prefix=prefix)
    scene.watch()
    scene.seen["rows"] = scene.rows()
    scene.seen["texts"] = "".join(scene.texts().values())
    for name in ("noread.md", "nodir"):
        (scene.root / name).chmod(0o700)
    scene.daemon.wait()


@says("A14-unreadable", "find: ")
def readable_files_are_read(scene: Scene, claim: Claim) -> None:
    assert [word for word in claim.value if word not in scene.seen["texts"]] == []


@says("A14-unreadable", "status: ")
def unreadable_files_are_said(scene: Scene, claim: Claim) -> None:
    rows = scene.seen["rows"]
    for file, words in claim.value.items():
        if file in ("zero.txt", "kmsg.log"):
            # A link is no document: a file counts where it really is.
            assert file not in rows
            continue
        wanted = "unreadable" if "permission" in words else "unsupported"
        assert (rows[file]["status"], bool(rows[file]["reason"])) == (wanted, True), file


@says("A14-unreadable", "never: ")
def nothing_blocks(scene: Scene, claim: Claim) -> None:
    # Had the pipe been opened, the daemon would still be waiting for somebody to write into it.
    assert scene.seen["rows"]["pipe.md"]["status"] == "unsupported"


@says("A14-unreadable", "chmod 644 noread.md -> found after the next scan")
def mended_permissions_are_noticed(scene: Scene, claim: Claim) -> None:
    assert scene.holds("noreadmark") == ["noread.md"]
    assert scene.holds("noinner") == ["nodir/inner.md"]


# --- A16 ---


@says("A16-hidden-dirs", "find: ")
def notes_are_found(scene: Scene, claim: Claim) -> None:
    assert [word for word in claim.value if not scene.holds(word)] == []


@says("A16-hidden-dirs", "never: ")
def machine_folders_are_left_out(scene: Scene, claim: Claim) -> None:
    assert [file for file, text in scene.texts().items() if "noise" in text] == []


@says("A16-hidden-dirs", "decide_and_document: ")
def ignore_files_are_honoured(scene: Scene, claim: Claim) -> None:
    conflict = "Garden.sync-conflict-20240101-101010-ABCDEFG.md"
    assert sorted(scene.rows()) == ["Bees.md", "Garden.md", conflict, "keep.private.md", "x.md"]
    documented = (Path(__file__).parents[3] / "docs" / "limits.md").read_text("utf-8")
    assert "Hidden files and folders" in documented
    assert "Conflict copies" in documented


@says("A16-hidden-dirs", "watches: no inotify watch inside pruned folders")
def pruned_folders_are_not_watched(scene: Scene, claim: Claim) -> None:
    assert scene.daemon.process is not None
    watches = 0
    for info in Path(f"/proc/{scene.daemon.process.pid}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            watches += info.read_text().count("inotify wd:")
    pruned = (".obsidian", ".git", ".trash", "node_modules", ".venv", "__pycache__", ".stversions", "drafts")
    kept = [
        path
        for path in (scene.root, *scene.root.rglob("*"))
        if path.is_dir() and not set(path.relative_to(scene.root).parts) & set(pruned)
    ]
    # One more is on the folder above, to see the root itself come and go.
    assert watches <= len(kept) + 1
