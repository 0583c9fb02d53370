"""`mindscape eval` from end to end: a small set of our own, the shipped embedder, a real library."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from mindscape.cli import main
from mindscape.evaluate.command import evaluate, planned
from mindscape.evaluate.legs import Asked, Searched
from mindscape.paths import find_paths
from mindscape_models.bundle import Bundle
from mindscape_models.fake import FakeEmbedder
from tests.evaluate.made import make_set, questions, write_lines

Json = dict[str, Any]


class Ran(NamedTuple):
    code: int
    stdout: str
    stderr: str


Eval = Callable[..., Ran]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_set(tmp_path_factory.mktemp("eval") / "skarne")


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Eval:
    """Run the command with the shipped embedder."""
    monkeypatch.setenv("MINDSCAPE_HOME", str(tmp_path / "home"))

    def call(*words: str | Path) -> Ran:
        code = main(["eval", *map(str, words)])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return call


@pytest.fixture
def run(real: Eval, monkeypatch: pytest.MonkeyPatch) -> Eval:
    """Run it with an embedder that takes no time, and at a commit that stays."""

    def opened(bundle: Bundle) -> FakeEmbedder:
        return FakeEmbedder(name=bundle.encoder_name)

    monkeypatch.setattr("mindscape.evaluate.models.open_embedder", opened)
    monkeypatch.setattr("mindscape.evaluate.settings.commit", lambda: "fixed")
    return real


def value(result: Json, metric: str, legs: str = "default", k: int | None = None, **more: Any) -> Json:
    wanted = {"metric": metric, "legs": legs, "k": k, **more}
    (found,) = [one for one in result["runs"] if wanted.items() <= one.items()]
    return found


def test_a_set_is_measured_in_the_shape_that_scripts_read(folder: Path, real: Eval) -> None:
    ran = real(folder, "--json")
    assert ran.code == 0, ran.stderr
    result = json.loads(ran.stdout)
    assert result["set"] == "skarne"
    assert set(result["bundle"]) == {"embedder", "generator"}
    assert result["prompts"]["answer"].startswith("sha256:")
    assert result["commit"]
    assert (result["index"], result["questions"], result["documents"]) == ("document", len(questions()), 3)
    # Every leg at every depth; every question with evidence.
    legs = ("words", "vector", "windows", "summary", "rrf", "sum", "default")
    for leg in legs:
        for k in (3, 5, 10):
            for metric in ("recall", "hit", "norm"):
                one = value(result, metric, leg, k)
                assert 0.0 <= one["low"] <= one["value"] <= one["high"] <= 1.0
                assert (one["n"], one["mode"], one["alpha"]) == (9, "passages", None)
    # A chapter is one window and part of a second, and ten passages are most of it.
    assert value(result, "hit", "windows", 3)["value"] == 1.0
    assert value(result, "hit", "default", 10)["value"] >= 0.75
    answered = {
        one["metric"]: one for one in result["runs"] if one["k"] is None and one.get("answerable", True)
    }
    assert set(answered) == {"f1", "em", "rouge_l", "accuracy", "pair_accuracy", "refusal"}
    assert [answered[name]["n"] for name in ("f1", "accuracy", "pair_accuracy", "refusal")] == [8, 2, 1, 10]
    assert answered["f1"]["value"] > 0.05
    # The option is among what is quoted; the true claim is quoted as it stands, of the false one is no word.
    assert answered["accuracy"]["value"] == 1.0
    assert value(result, "refusal", answerable=False)["value"] == 1.0
    apart = {(one["legs"], one["metric"], one["k"]): one for one in result["differences"]}
    assert len(apart) == len(legs) * 9
    expected = value(result, "norm", "words", 3)["value"] - value(result, "norm", "default", 3)["value"]
    assert apart["words", "norm", 3]["value"] == pytest.approx(expected, abs=1e-5)
    assert apart["words", "norm", 3]["against"] == "default"
    # As a document is asked about: half and half with its mindscape, beside the question alone.
    conditioned = value(result, "recall", "conditioned", 10)
    assert (conditioned["alpha"], conditioned["condition"], conditioned["n"]) == (0.5, "document", 9)
    assert apart["conditioned", "recall", 10]["against"] == "vector"


def test_what_is_printed_for_people_names_every_leg_and_metric(folder: Path, run: Eval) -> None:
    ran = run(folder, "--limit", "4", "--k", "3", "--legs", "words,default", "--modes", "passages")
    assert ran.code == 0
    for word in ("skarne", "words", "default", "recall         @3", "norm ", "f1 ", "resampling questions"):
        assert word in ran.stdout
    assert "4 of 4 questions" in ran.stderr


def test_only_what_is_asked_for_is_measured(folder: Path, run: Eval) -> None:
    legs = json.loads(run(folder, "--json", "--legs", "words", "--k", "2").stdout)
    assert {(one["legs"], one["k"]) for one in legs["runs"]} == {("words", 2)}
    assert legs["differences"] == []
    modes = json.loads(run(folder, "--json", "--modes", "passages", "--limit", "3").stdout)
    assert {one["k"] for one in modes["runs"]} == {None}


@pytest.mark.parametrize(
    ("more", "index", "together"),
    [
        ([], "document", {"wall"}),
        (["--by", "years"], "years", {"wall", "storm"}),
        (["--library"], "library", {"wall", "storm", "lamps"}),
    ],
)
def test_one_index_may_hold_several_documents(
    folder: Path, run: Eval, tmp_path: Path, more: list[str], index: str, together: set[str]
) -> None:
    details = tmp_path / "details.jsonl"
    ran = run(folder, "--json", "--legs", "vector", "--k", "30", "--details", details, *more)
    assert json.loads(ran.stdout)["index"] == index
    (stone,) = [row for row in lines_of(details) if row.get("id") == "stone"]
    assert {one[0] for one in stone["found"]["vector"]} == together


@pytest.mark.parametrize(
    ("more", "conditions"),
    [([], ("document", "coverage", "first")), (["--library"], ("coverage", "first"))],
)
def test_questions_are_conditioned_on_each_thing_by_each_weight(
    folder: Path, run: Eval, tmp_path: Path, more: list[str], conditions: tuple[str, ...]
) -> None:
    words = ("--legs", "vector,conditioned", "--alpha", "1,0,0.5", "--condition", ",".join(conditions), *more)
    ran = run(folder, "--json", *words, "--k", "3", "--details", tmp_path / "details.jsonl")
    result = json.loads(ran.stdout)
    runs = [one for one in result["runs"] if one["legs"] == "conditioned" and one["metric"] == "recall"]
    assert [(one["condition"], one["alpha"]) for one in runs] == [
        (condition, alpha) for condition in conditions for alpha in (0.0, 0.5, 1.0)
    ]
    head, *rows = lines_of(tmp_path / "details.jsonl")
    assert head["settings"]["condition"] == [*conditions]
    found = [row["found"] for row in rows if row["found"]]
    # Without weight the question is as it is alone; with all the weight some of what is found is other.
    for condition in conditions:
        assert all(one[f"conditioned {condition} 0"] == one["vector"] for one in found)
        assert any(one[f"conditioned {condition} 1"] != one["vector"] for one in found)
    apart = {(one["condition"], one["alpha"]): one for one in result["differences"] if one["alpha"] == 0.0}
    assert {one["value"] for one in apart.values()} == {0.0}
    assert len(apart) == len(conditions)
    printed = run(folder, *words, "--k", "3", "--details", tmp_path / "details.jsonl", "--resume").stdout
    assert "coverage 0.5" in printed
    assert "to vector" in printed


def test_two_runs_give_the_same(folder: Path, run: Eval) -> None:
    words = (folder, "--json", "--limit", "5", "--legs", "default,summary")
    assert run(*words).stdout == run(*words).stdout


class Interrupted(BaseException):
    """As Ctrl+C is."""


def lines_of(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def test_what_was_interrupted_goes_on_where_it_was(folder: Path, run: Eval, tmp_path: Path) -> None:
    words = ("--json", "--legs", "words,default", "--modes", "passages")
    whole = tmp_path / "whole.jsonl"
    expected = run(folder, *words, "--details", whole)
    part = tmp_path / "part.jsonl"
    plan = planned(folder, ["words", "default"], ["passages"], [3, 5, 10], None, 1, False, None)

    def stop(done: int, total: int, what: str) -> None:
        if done == 4:
            raise Interrupted

    with pytest.raises(Interrupted):
        evaluate(plan, find_paths(), part, False, stop)
    written = part.read_bytes()
    assert 1 < len(lines_of(part)) < len(lines_of(whole))
    # A kill may end in the middle of a line.
    part.write_bytes(written[:-20])
    resumed = run(folder, *words, "--details", part, "--resume")
    assert (resumed.code, resumed.stdout) == (0, expected.stdout)
    assert lines_of(part) == lines_of(whole)
    again = run(folder, *words, "--details", part, "--resume")
    assert (again.stdout, lines_of(part)) == (expected.stdout, lines_of(whole))


def test_ctrl_c_says_how_to_go_on(
    folder: Path, run: Eval, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    details = tmp_path / "details.jsonl"
    asked: list[str] = []

    def stop(self: Searched, question: str) -> Asked:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(question)
        return ask(self, question)

    ask = Searched.ask
    with monkeypatch.context() as patch:
        patch.setattr(Searched, "ask", stop)
        ran = run(folder, "--json", "--legs", "words", "--details", details)
    assert (ran.code, ran.stdout) == (130, "")
    assert f"What was measured is in {details}: the same command with --resume goes on." in ran.stderr
    assert len(lines_of(details)) == 3
    assert run(folder, "--json", "--legs", "words", "--details", details, "--resume").code == 0


def test_a_limit_may_be_raised_on_the_way(folder: Path, run: Eval, tmp_path: Path) -> None:
    words = (folder, "--json", "--legs", "words", "--details", tmp_path / "details.jsonl", "--resume")
    assert run(*words, "--limit", "3").code == 0
    more = json.loads(run(*words, "--limit", "6").stdout)
    assert more["questions"] == 6
    assert len(lines_of(tmp_path / "details.jsonl")) == 7
    assert json.loads(run(*words, "--limit", "2").stdout)["questions"] == 2


def test_details_say_what_was_found_and_said(folder: Path, run: Eval, tmp_path: Path) -> None:
    run(folder, "--legs", "default", "--modes", "passages", "--details", tmp_path / "d.jsonl")
    _, *rows = lines_of(tmp_path / "d.jsonl")
    (stone,) = [row for row in rows if row["id"] == "stone"]
    assert all(one[0] == "wall" for one in stone["found"]["default"])
    (said,) = stone["said"]["passages"]
    assert "ninth of March 1869" in said["text"]
    assert said["made_by"] == "quotes"
    (claim,) = [row for row in rows if row["id"] == "claim"]
    assert [one["answered"] for one in claim["said"]["passages"]] == [True, False]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--legs", "wrds"], 2, "There is no leg 'wrds'. Did you mean 'words'?"),
        (["--legs", "zzz"], 2, "There are: words, vector, windows, summary, rrf, sum, default, conditioned."),
        (["--legs", "words", "--alpha", "0,0.5"], 2, "of the leg 'conditioned': add it to --legs"),
        (["--modes", "passages", "--condition", "first"], 2, "of the leg 'conditioned': add it to --legs"),
        (["--alpha", "0,1.5"], 2, "'0,1.5' is not a list of numbers from 0 to 1"),
        (["--alpha", "nan"], 2, "'nan' is not a list of numbers from 0 to 1"),
        (["--alpha", "half"], 2, "'half' is not a list of numbers from 0 to 1"),
        (["--condition", "frist"], 2, "There is no condition 'frist'. Did you mean 'first'?"),
        (["--library", "--condition", "document"], 2, "use coverage or first"),
        (["--modes", "agent"], 2, "The mode 'agent' is not built yet"),
        (["--modes", "passage"], 2, "Did you mean 'passages'?"),
        (["--k", "0"], 2, "'0' is not a whole number above zero"),
        (["--k", "3,101"], 2, "--k 101 is too deep"),
        (["--k", "3,,5"], 2, "'' is not a whole number above zero"),
        (["--legs", ","], 2, "is not a list of names"),
        (["--limit", "0"], 2, "'0' is not a whole number above zero"),
        (["--resume"], 2, "name it with --details FILE"),
        (["--library", "--by", "years"], 2, "leave one out"),
        (["--by", "colour"], 2, "has a field 'colour'"),
    ],
)
def test_wrong_usage_is_said(folder: Path, run: Eval, words: Sequence[str], code: int, says: str) -> None:
    ran = run(folder, *words)
    assert (ran.code, ran.stdout) == (code, "")
    assert says in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_set_without_questions_is_refused(tmp_path: Path, run: Eval) -> None:
    empty = make_set(tmp_path / "empty")
    write_lines(empty / "questions.jsonl", [{"id": "q", "doc_ids": ["wall"], "question": "Why?"}])
    ran = run(empty)
    assert ran.code == 4
    assert "has no questions with evidence or answers" in ran.stderr
    assert run(tmp_path).code == 2


def test_odd_documents_and_questions_are_measured_like_others(tmp_path: Path, run: Eval) -> None:
    odd = make_set(tmp_path / "odd")
    for name, text in (
        ("dots", "... ... !"),
        ("word", "mill"),
        ("cjk", "\u6f6e\u6c50\u78e8\u574a\u5728\u6d77\u8fb9\u3002"),
    ):
        (odd / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    names = ("dots", "word", "cjk")
    write_lines(odd / "docs.jsonl", [{"doc_id": f"a/{one}", "file": f"docs/{one}.md"} for one in names])
    texts = (
        "?!",
        "mill " * 5_000,
        "\ud83d half a pair",
        "\u78e8\u574a\u5728\u54ea\u91cc\uff1f",
        "\x1b[31mred\x00",
    )
    rows = [
        {
            "id": f"{name} {number}",
            "doc_ids": [f"a/{name}"],
            "question": text,
            "answers": ["mill", " "],
            "evidence": [{"doc_id": f"a/{name}", "start": 0, "end": 1}],
        }
        for name in names
        for number, text in enumerate(texts)
    ]
    write_lines(odd / "questions.jsonl", rows)
    for more in ((), ("--library",)):
        ran = run(odd, "--json", *more)
        assert ran.code == 0, ran.stderr
        result = json.loads(ran.stdout)
        assert (result["questions"], result["documents"]) == (15, 3)
        # Of a document in one passage that passage is found, if anything is.
        assert value(result, "hit", "default", 3)["value"] >= 0.5
        assert all(0.0 <= one["value"] <= 1.0 for one in result["runs"])


def test_a_gold_span_that_is_elsewhere_ends_the_run(tmp_path: Path, run: Eval) -> None:
    moved = make_set(tmp_path / "moved")
    chapter = moved / "docs" / "06-the-third-of-february.md"
    chapter.write_bytes(b"A line more.\n\n" + chapter.read_bytes())
    ran = run(moved, "--legs", "words")
    assert ran.code == 4
    assert "'pins' is not at" in ran.stderr


@pytest.mark.parametrize(
    ("begun", "goes_on", "says"),
    [
        (["--legs", "words"], ["--legs", "words"], "is there already: add --resume"),
        (["--legs", "words"], ["--legs", "sum", "--resume"], 'its legs is ["words"], not ["sum"]'),
        (["--legs", "words"], ["--legs", "words", "--k", "4", "--resume"], "its k is [3, 5, 10], not [4]"),
        (["--legs", "words"], ["--legs", "words", "--library", "--resume"], 'its index is "document"'),
    ],
)
def test_details_of_other_settings_are_not_gone_on_with(
    folder: Path, run: Eval, tmp_path: Path, begun: list[str], goes_on: list[str], says: str
) -> None:
    details = tmp_path / "details.jsonl"
    run(folder, *begun, "--limit", "2", "--details", details)
    before = details.read_bytes()
    ran = run(folder, *goes_on, "--limit", "2", "--details", details)
    assert ran.code == 4
    assert says in ran.stderr
    assert details.read_bytes() == before


@pytest.mark.parametrize("line", ["{}", "not JSON", '{"settings": 7}', '{"id": 1}'])
def test_a_file_that_holds_no_details_is_not_written_to(
    folder: Path, run: Eval, tmp_path: Path, line: str
) -> None:
    notes = tmp_path / "notes.txt"
    notes.write_text(f"{line}\n")
    ran = run(folder, "--legs", "words", "--limit", "1", "--details", notes, "--resume")
    assert ran.code == 4
    assert "line 1 is no line of details" in ran.stderr
    assert notes.read_text() == f"{line}\n"


def test_details_that_cannot_be_written_are_refused_at_once(folder: Path, run: Eval, tmp_path: Path) -> None:
    ran = run(folder, "--legs", "words", "--details", tmp_path / "none" / "details.jsonl")
    assert ran.code == 4
    assert "cannot be written: No such file or directory" in ran.stderr
