"""Generators we know, and making bundles of GGUF files that a user brings."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from mindscape_models.bundle import MANIFEST, Bundle, BundleFile, file_sha256, find_bundles, open_bundle
from mindscape_models.errors import BundleError, GenerationError
from mindscape_models.exam import ENOUGH_REFUSED, ENOUGH_RIGHT, ExamResult
from mindscape_models.native import check_header
from mindscape_models.summary_exam import (
    ENOUGH_ACCEPTED,
    ENOUGH_NAMES,
    ENOUGH_SUPPORTED,
    SummaryResult,
)

ANSWER = "answer"
"""The capability of writing answers from passages."""
SUMMARISE = "summarise"
"""The capability of writing the summaries of the mindscape."""
REWRITE = "rewrite"
"""The capability of making questions whole that lean on the ones before them."""


NEEDED = {
    "right": ENOUGH_RIGHT,
    "refused": ENOUGH_REFUSED,
    "accepted": ENOUGH_ACCEPTED,
    "names": ENOUGH_NAMES,
    "supported": ENOUGH_SUPPORTED,
}
"""What both exams ask for: shares in 0..1."""

UNFINISHED = (".part", ".partial", ".crdownload", ".download", ".tmp")
"""What programs call a file that they are still loading."""


def known_generators() -> list[Bundle]:
    """Manifests of known generators, sorted by name. Their folders hold no weights."""
    return find_bundles(Path(__file__).parent / "catalogue")


def pick(bundles: Iterable[Bundle], kind: str, name: str | None) -> Bundle | None:
    """The bundle of a kind to be used: that of this name, else one that may answer, or summarise, or any."""
    known = [bundle for bundle in bundles if bundle.kind == kind]
    named = [bundle for bundle in known if bundle.name == name]
    capable = [bundle for job in (ANSWER, SUMMARISE) for bundle in known if job in bundle.capabilities]
    return next(iter(named or capable or known), None)


def installed_folder() -> Path:
    """Where the installation puts bundles that are not in the package, such as the starter generator."""
    return Path(sys.prefix) / "share" / "mindscape" / "bundles"


def recognise(file: Path) -> Bundle | None:
    """The known generator this file is, by size and sha256, or None. Read only if a size matches."""
    size = file.stat().st_size
    for bundle in known_generators():
        for entry in bundle.files:
            if entry.bytes == size and file_sha256(file) == entry.sha256:
                return bundle
    return None


def adopt(file: Path, into: Path) -> Bundle:
    """Make a bundle of a GGUF file in the folder `into`; a bundle of the same name there is replaced.

    The file is linked where the file system allows it, else copied. A known file gets the catalogue's
    manifest; an unknown one gets no capabilities until `grade`. Raises GenerationError when it is not a
    GGUF file, BundleError when it cannot be read or put there.
    """
    if file.suffix.lower() in UNFINISHED:
        raise GenerationError(f"{file} is not downloaded to its end: wait for that, or load it again.")
    check_header(file)
    try:
        bundle = recognise(file) or _unknown(file)
        into.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=into, prefix=".") as scratch:
            staged = Path(scratch) / "bundle"
            staged.mkdir()
            _link(file, staged / bundle.files[0].path)
            (staged / MANIFEST).write_text(_manifest(bundle), encoding="utf-8")
            target = into / bundle.name
            if target.exists():
                target.rename(Path(scratch) / "replaced")
            staged.rename(target)
    except OSError as error:
        raise BundleError(f"{file} could not be put into {into}: {error.strerror}.") from error
    return open_bundle(target, verify=False)


def discard(bundle: Bundle) -> None:
    """Remove a bundle that was adopted; the file it was made of stays."""
    shutil.rmtree(bundle.folder, ignore_errors=True)


def grade(bundle: Bundle, answers: ExamResult, summaries: SummaryResult) -> Bundle:
    """Write into the bundle's manifest what the exams found, and what it may do."""
    earned = {ANSWER: answers.passed, SUMMARISE: summaries.passed}
    capabilities = {*bundle.capabilities} - earned.keys() | {one for one, passed in earned.items() if passed}
    quality = {
        **bundle.quality,
        "exam_right": answers.right,
        "exam_refused": answers.refused,
        "summary_accepted": summaries.accepted,
        "summary_names": summaries.names,
        "summary_supported": summaries.supported,
    }
    graded = replace(bundle, capabilities=tuple(sorted(capabilities)), quality=quality)
    draft = bundle.folder / f"{MANIFEST}.new"
    draft.write_text(_manifest(graded), encoding="utf-8")
    draft.replace(bundle.folder / MANIFEST)
    return graded


def _unknown(file: Path) -> Bundle:
    name = re.sub(r"[^a-z0-9.]+", "-", file.stem.lower()).strip("-.") or "generator"
    weights = BundleFile(f"{name}.gguf", file_sha256(file), file.stat().st_size)
    return Bundle(
        folder=file.parent,
        name=name,
        kind="generator",
        files=(weights,),
        licence="not stated",
        provenance={"file": file.name.encode("utf-8", "replace").decode()},
        limits={},
        capabilities=(),
        quality={},
        encoder=None,
    )


def _link(file: Path, target: Path) -> None:
    try:
        os.link(file, target)
    except OSError:
        # Another file system, or one without hard links.
        shutil.copyfile(file, target)


def _manifest(bundle: Bundle) -> str:
    """The TOML of a generator's manifest."""
    weights = bundle.files[0]
    lines = [
        "format = 1",
        f"name = {_text(bundle.name)}",
        f"kind = {_text(bundle.kind)}",
        f"licence = {_text(bundle.licence)}",
        f"capabilities = [{', '.join(map(_text, bundle.capabilities))}]",
        "",
        "[[files]]",
        f"path = {_text(weights.path)}",
        f"sha256 = {_text(weights.sha256)}",
        f"bytes = {weights.bytes}",
        "",
        "[provenance]",
        *(f"{key} = {_text(value)}" for key, value in bundle.provenance.items()),
        "",
        "[limits]",
        *(f"{key} = {value}" for key, value in bundle.limits.items()),
        "",
        "[quality]",
        *(f"{key} = {value}" for key, value in bundle.quality.items()),
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    # A JSON string is a TOML string, but for DEL, which TOML wants escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
