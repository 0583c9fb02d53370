"""A bundle is read whole or refused with a sentence."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from mindscape_models.bundle import BundleFile, find_bundles, open_bundle, shipped_folder
from mindscape_models.errors import BundleError

GENERATOR = """\
format = 1
name = "{name}"
kind = "generator"
licence = "Apache-2.0"
capabilities = ["answer"]

[[files]]
path = "model.gguf"
sha256 = "{sha256}"
bytes = {bytes}

[provenance]
model = "made up"

[limits]
context = 2048

[quality]
answers_right = 0.5
"""


def write_bundle(folder: Path, name: str = "tiny", weights: bytes = b"weights") -> Path:
    folder.mkdir(parents=True)
    (folder / "model.gguf").write_bytes(weights)
    digest = hashlib.sha256(weights).hexdigest()
    text = GENERATOR.format(name=name, sha256=digest, bytes=len(weights))
    (folder / "manifest.toml").write_text(text, encoding="utf-8")
    return folder


def edit(folder: Path, old: str, new: str) -> None:
    path = folder / "manifest.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_manifest_is_read_into_a_bundle(tmp_path: Path) -> None:
    bundle = open_bundle(write_bundle(tmp_path / "tiny"))
    assert (bundle.name, bundle.kind, bundle.licence) == ("tiny", "generator", "Apache-2.0")
    assert bundle.files == (BundleFile("model.gguf", hashlib.sha256(b"weights").hexdigest(), 7),)
    assert bundle.capabilities == ("answer",)
    assert dict(bundle.limits) == {"context": 2048}
    assert dict(bundle.quality) == {"answers_right": 0.5}
    assert bundle.encoder is None
    assert bundle.first(".gguf") == tmp_path / "tiny" / "model.gguf"


def test_the_shipped_embedder_is_complete() -> None:
    bundle = open_bundle(shipped_folder() / "all-minilm-l6-v2-int8")
    assert bundle.kind == "embedder"
    assert bundle.licence == "Apache-2.0"
    assert sum(file.bytes for file in bundle.files) < 50_000_000


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('licence = "Apache-2.0"', "", "lacks the key licence"),
        ('licence = "Apache-2.0"', "licence = 3", "licence = 3, which is not text"),
        ("format = 1", "format = 2", "has format 2; this version reads format 1"),
        ("format = 1", 'format = 1\nflavour = "plain"', "has the unknown key flavour"),
        ('kind = "generator"', 'kind = "painter"', "has kind 'painter'"),
        ('kind = "generator"', 'kind = "embedder"', "must have a table [encoder]"),
        ('sha256 = "', 'colour = "', "lacks the key files.sha256"),
        ("bytes = 7", "bytes = true", "bytes = True, which is not a whole number"),
        ('path = "model.gguf"', 'path = "../model.gguf"', "outside its folder"),
        ('path = "model.gguf"', 'path = "/etc/passwd"', "outside its folder"),
        ('capabilities = ["answer"]', "capabilities = [1]", "capabilities as a list of words"),
        ("context = 2048", 'context = "long"', "values in [limits] of the wrong type"),
        ("format = 1", "format = ", "is not valid TOML"),
    ],
)
def test_a_wrong_manifest_is_refused_with_its_path_and_key(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    folder = write_bundle(tmp_path / "tiny")
    edit(folder, old, new)
    with pytest.raises(BundleError, match=re.escape(complaint)) as caught:
        open_bundle(folder)
    assert str(folder / "manifest.toml") in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('pooling = "mean"', 'pooling = "first"', "encoder.pooling = 'first'"),
        ('mindscape = "none"', 'mindscape = "some"', "encoder.mindscape = 'some'"),
        ("max_tokens = 256", "max_tokens = 2", "encoder.max_tokens = 2, which is too small"),
        ('graph = "model.onnx"', 'graph = "other.onnx"', "not among its files"),
        ("dimensions = 384", 'dimensions = "many"', "not a whole number"),
        ('query_prefix = ""', "", "lacks the key encoder.query_prefix"),
        (
            'mindscape = "none"',
            'mindscape = "none"\ndelta = 1.5',
            "encoder.delta = 1.5, which is not between",
        ),
        ('mindscape = "none"', 'mindscape = "none"\ndelta = "half"', "delta = 'half', which is not a number"),
        (
            'mindscape = "none"',
            'mindscape = "none"\nmindscape_tokens = 0',
            "mindscape_tokens = 0, which is too small",
        ),
        ('mindscape = "none"', 'mindscape = "none"\nalpha = 0.5', "unknown key encoder.alpha"),
    ],
)
def test_wrong_encoder_settings_are_refused(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    shipped = shipped_folder() / "all-minilm-l6-v2-int8" / "manifest.toml"
    (tmp_path / "manifest.toml").write_text(shipped.read_text(encoding="utf-8"), encoding="utf-8")
    edit(tmp_path, old, new)
    with pytest.raises(BundleError, match=re.escape(complaint)):
        open_bundle(tmp_path, verify=False)


def test_a_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "tiny")
    (folder / "model.gguf").write_bytes(b"weightz")
    with pytest.raises(BundleError, match="sha256 differs"):
        open_bundle(folder)
    assert open_bundle(folder, verify=False).name == "tiny"


def test_a_truncated_file_is_refused_before_it_is_hashed(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "tiny")
    (folder / "model.gguf").write_bytes(b"weig")
    with pytest.raises(BundleError, match="has 4 bytes where the manifest says 7"):
        open_bundle(folder)


def test_a_missing_file_and_a_missing_folder_are_said_plainly(tmp_path: Path) -> None:
    folder = write_bundle(tmp_path / "tiny")
    (folder / "model.gguf").unlink()
    with pytest.raises(BundleError, match=r"model\.gguf cannot be read"):
        open_bundle(folder)
    with pytest.raises(BundleError, match="no readable model in"):
        open_bundle(tmp_path / "nowhere")


def test_bundles_are_found_by_name_and_the_first_folder_wins(tmp_path: Path) -> None:
    write_bundle(tmp_path / "own" / "b", name="b")
    write_bundle(tmp_path / "own" / "a", name="a")
    write_bundle(tmp_path / "shipped" / "a", name="a")
    (tmp_path / "own" / "notes").mkdir()
    found = find_bundles(tmp_path / "own", tmp_path / "shipped", tmp_path / "absent")
    assert [(bundle.name, bundle.folder.parent.name) for bundle in found] == [("a", "own"), ("b", "own")]


def test_the_encoder_name_follows_what_passage_vectors_depend_on(tmp_path: Path) -> None:
    shipped = shipped_folder() / "all-minilm-l6-v2-int8"
    (tmp_path / "manifest.toml").write_bytes((shipped / "manifest.toml").read_bytes())
    name = open_bundle(shipped, verify=False).encoder_name
    assert open_bundle(tmp_path, verify=False).encoder_name == name
    edit(tmp_path, 'query_prefix = ""', 'query_prefix = "query: "')
    assert open_bundle(tmp_path, verify=False).encoder_name == name
    edit(tmp_path, 'mindscape = "none"', 'mindscape = "residual"\ndelta = 0.7\nmindscape_tokens = 512')
    changed = open_bundle(tmp_path, verify=False)
    assert changed.encoder is not None
    assert (changed.encoder.mindscape, changed.encoder.delta, changed.encoder.mindscape_tokens) == (
        "residual",
        0.7,
        512,
    )
    assert changed.encoder_name == name
    edit(tmp_path, "max_tokens = 256", "max_tokens = 128")
    assert open_bundle(tmp_path, verify=False).encoder_name != name


def test_one_bad_manifest_does_not_hide_the_other_bundles(tmp_path: Path) -> None:
    write_bundle(tmp_path / "good", name="good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "manifest.toml").write_text("name = ")
    broken: list[BundleError] = []
    assert [bundle.name for bundle in find_bundles(tmp_path, broken=broken)] == ["good"]
    assert "is not valid TOML" in str(broken[0])
    with pytest.raises(BundleError):
        find_bundles(tmp_path)
