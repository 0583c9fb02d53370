"""What `mindscape eval` does, from its arguments to its output."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from mindscape.ask.pipeline import LATER, MODES
from mindscape.errors import Refused, UsageError
from mindscape.evaluate import details, models
from mindscape.evaluate.legs import LEGS, check_known, check_legs
from mindscape.evaluate.report import commit, prompt_hashes, report
from mindscape.evaluate.runs import PASSAGES, Plan, Progress, measure, read_groups
from mindscape.evaluate.sets import DOCUMENTS, QUESTIONS
from mindscape.paths import Paths
from mindscape_models.errors import ModelError
from mindscape_storage.errors import StorageError


def planned(
    folder: Path,
    legs: Sequence[str] | None,
    modes: Sequence[str] | None,
    ks: Sequence[int],
    limit: int | None,
    seed: int,
    library: bool,
    by: str | None,
) -> Plan:
    """A plan; without legs or modes it is all legs and the mode `passages`, with one of them only that.

    Raises UsageError for a leg or a mode that there is not.
    """
    everything = legs is None and modes is None
    return Plan(
        folder,
        check_legs(list(LEGS) if everything else legs or ()),
        _check_modes([PASSAGES] if everything else modes or ()),
        ks,
        limit,
        seed,
        library,
        by,
    )


def evaluate(plan: Plan, paths: Paths, file: Path | None, resume: bool, progress: Progress) -> dict[str, Any]:
    """Measure a set: the `eval` shape. Raises UsageError and Refused, with a sentence."""
    groups = read_groups(plan)
    try:
        with models.opened(paths, answering=bool(plan.modes)) as used:
            settings = _settings(plan, used.bundle)
            with details.opened(file, settings, resume=resume) as kept:
                rows = {
                    one.id: kept.done[one.id]
                    for group in groups
                    for one in group.questions
                    if one.id in kept.done
                }
                for one in measure(plan, groups, used, rows, progress):
                    kept.add(one)
                    rows[one.row.id] = one.row
            return report(plan, used.bundle, rows.values())
    except (ModelError, StorageError) as error:
        raise Refused(str(error)) from error


def _settings(plan: Plan, bundle: dict[str, str | None]) -> details.Settings:
    """All that the value of a question depends on; which questions are drawn is not among it."""
    data = sha256()
    for name in (DOCUMENTS, QUESTIONS):
        data.update((plan.folder / name).read_bytes())
    return {
        "set": plan.folder.resolve().name,
        "data": f"sha256:{data.hexdigest()}",
        "commit": commit(),
        "bundle": bundle,
        "prompts": prompt_hashes(),
        "index": plan.index,
        "legs": list(plan.legs),
        "modes": list(plan.modes),
        "k": list(plan.ks),
    }


def _check_modes(names: Sequence[str]) -> list[str]:
    for name in names:
        if name in LATER:
            raise UsageError(f"The mode {name!r} is not built yet; use some of: {', '.join(MODES)}.")
        check_known("mode", name, MODES)
    return list(dict.fromkeys(names))
