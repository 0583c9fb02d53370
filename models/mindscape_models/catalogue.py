"""Generators we know: where they come from, and the jobs they were measured to be good enough for."""

from __future__ import annotations

import sys
from pathlib import Path

from mindscape_models.bundle import Bundle, file_sha256, find_bundles


def known_generators() -> list[Bundle]:
    """Manifests of known generators, sorted by name. Their folders hold no weights."""
    return find_bundles(Path(__file__).parent / "catalogue")


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
