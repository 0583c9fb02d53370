"""A GGUF file becomes a bundle: known ones with what was measured, unknown ones after their exam."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mindscape_models import exam
from mindscape_models.bundle import open_bundle
from mindscape_models.catalogue import (
    ANSWER,
    SUMMARISE,
    adopt,
    grade,
    installed_folder,
    known_generators,
    recognise,
)
from mindscape_models.errors import GenerationError
from mindscape_models.exam import ExamResult
from mindscape_models.summary_exam import ENOUGH_ACCEPTED, ENOUGH_NAMES, ENOUGH_SUPPORTED, SummaryResult

GGUF = b"GGUF" + (3).to_bytes(4, "little") + (1).to_bytes(8, "little") + (1).to_bytes(8, "little")


@pytest.fixture
def unknown(tmp_path: Path) -> Path:
    file = tmp_path / 'My "Model"\x7f ü.Q4.gguf'
    file.write_bytes(GGUF + b"weights")
    return file


def test_the_catalogue_says_what_was_measured_and_grants_only_that() -> None:
    for bundle in known_generators():
        assert bundle.kind == "generator"
        assert bundle.licence
        assert re.fullmatch(r"[0-9a-f]{64}", bundle.files[0].sha256)
        passed = ExamResult(bundle.quality["exam_right"], bundle.quality["exam_refused"], ()).passed
        assert (ANSWER in bundle.capabilities) is passed
        accepted, names = bundle.quality["summary_accepted"], bundle.quality["summary_names"]
        summaries = SummaryResult(accepted, names, bundle.quality["summary_supported"], ())
        assert (SUMMARISE in bundle.capabilities) is summaries.passed


def test_a_file_is_recognised_by_its_content_not_its_name(tmp_path: Path) -> None:
    impostor = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    impostor.write_bytes(GGUF)
    assert recognise(impostor) is None


def test_an_unknown_file_becomes_a_bundle_without_capabilities(unknown: Path, tmp_path: Path) -> None:
    bundle = adopt(unknown, tmp_path / "models")
    assert open_bundle(bundle.folder) == bundle
    assert bundle.folder == tmp_path / "models" / "my-model-.q4"
    assert bundle.capabilities == ()
    assert bundle.first(".gguf").read_bytes() == unknown.read_bytes()
    assert [path.name for path in (tmp_path / "models").iterdir()] == [bundle.name]


def test_adopting_again_replaces_the_bundle(unknown: Path, tmp_path: Path) -> None:
    adopt(unknown, tmp_path / "models")
    unknown.unlink()
    unknown.write_bytes(GGUF + b"other weights")
    bundle = adopt(unknown, tmp_path / "models")
    assert open_bundle(bundle.folder).first(".gguf").read_bytes().endswith(b"other weights")


def test_what_is_not_a_model_is_not_adopted(tmp_path: Path) -> None:
    file = tmp_path / "notes.gguf"
    file.write_text("Dear diary")
    with pytest.raises(GenerationError, match="not a GGUF model"):
        adopt(file, tmp_path / "models")
    assert not (tmp_path / "models").exists()


ANSWERS = ExamResult(exam.ENOUGH_RIGHT, exam.ENOUGH_REFUSED, ())
SUMMARIES = SummaryResult(ENOUGH_ACCEPTED, ENOUGH_NAMES, ENOUGH_SUPPORTED, ())
NO_ANSWERS, NO_SUMMARIES = ExamResult(0.0, 0.0, ()), SummaryResult(0.0, 0.0, 0.0, ())


@pytest.mark.parametrize(
    ("answers", "summaries", "allowed"),
    [
        (ANSWERS, SUMMARIES, (ANSWER, SUMMARISE)),
        (ANSWERS, NO_SUMMARIES, (ANSWER,)),
        (NO_ANSWERS, SUMMARIES, (SUMMARISE,)),
        (ExamResult(1.0, exam.ENOUGH_REFUSED - 0.01, ()), NO_SUMMARIES, ()),
        (ExamResult(exam.ENOUGH_RIGHT - 0.01, 1.0, ()), NO_SUMMARIES, ()),
    ],
)
def test_the_exams_decide_what_a_model_may_do(
    unknown: Path, tmp_path: Path, answers: ExamResult, summaries: SummaryResult, allowed: tuple[str, ...]
) -> None:
    bundle = grade(adopt(unknown, tmp_path / "models"), answers, summaries)
    assert open_bundle(bundle.folder) == bundle
    assert bundle.capabilities == allowed
    assert bundle.quality["exam_right"] == answers.right
    assert bundle.quality["summary_names"] == summaries.names
    assert grade(bundle, NO_ANSWERS, NO_SUMMARIES).capabilities == ()


@pytest.mark.model
@pytest.mark.skipif(not installed_folder().exists(), reason="no generator is installed: run `make`")
def test_the_starter_is_recognised_and_adopted_with_its_manifest(tmp_path: Path) -> None:
    file = next(installed_folder().glob("smollm2-135m-instruct/*.gguf"))
    bundle = adopt(file, tmp_path)
    assert bundle.name == "smollm2-135m-instruct"
    known = recognise(file)
    assert known is not None
    assert open_bundle(bundle.folder).quality == known.quality
