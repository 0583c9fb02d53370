"""What `mindscape eval` does, from its arguments to its output."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mindscape.ask.pipeline import LATER, MODES
from mindscape.ask.retrieve import POOL
from mindscape.ask.router import GLOBAL
from mindscape.errors import Refused, UsageError
from mindscape.evaluate import details, models
from mindscape.evaluate.conditions import CONDITIONS, COVERAGE, DOCUMENT
from mindscape.evaluate.legs import CONDITIONED, LEGS, check_known, check_legs
from mindscape.evaluate.report import report
from mindscape.evaluate.runs import PASSAGES, Plan, Progress, measure, read_groups
from mindscape.evaluate.settings import settings_of
from mindscape.paths import Paths
from mindscape_models.errors import ModelError
from mindscape_storage.errors import StorageError

MEASURED = tuple(mode for mode in MODES if mode != GLOBAL)
"""The indexes that are measured have no summaries."""


def planned(
    folder: Path,
    legs: Sequence[str] | None,
    modes: Sequence[str] | None,
    ks: Sequence[int],
    limit: int | None,
    seed: int,
    library: bool,
    by: str | None,
    alphas: Sequence[float] | None = None,
    conditions: Sequence[str] | None = None,
) -> Plan:
    """A plan; without legs or modes it is all legs and the mode `passages`, with one of them only that.

    Without `alphas` and `conditions` the leg `conditioned` is measured as questions are asked: half and half,
    on the mindscape of a document, or on the signature where an index holds several. Raises UsageError for
    what there is not, for what would not be used, and for a depth that no leg reaches.
    """
    if max(ks) > POOL:
        raise UsageError(f"Words and vector find {POOL} passages each at most: --k {max(ks)} is too deep.")
    everything = legs is None and modes is None
    found = check_legs([*LEGS, CONDITIONED] if everything else legs or ())
    if CONDITIONED not in found and (alphas or conditions):
        raise UsageError(f"--alpha and --condition are of the leg {CONDITIONED!r}: add it to --legs.")
    return Plan(
        folder,
        found,
        _check_modes([PASSAGES] if everything else modes or ()),
        ks,
        limit,
        seed,
        library,
        by,
        alphas or [0.5],
        _check_conditions(conditions, several=library or by is not None),
    )


def evaluate(plan: Plan, paths: Paths, file: Path | None, resume: bool, progress: Progress) -> dict[str, Any]:
    """Measure a set: the `eval` shape. Raises UsageError and Refused, with a sentence."""
    groups = read_groups(plan)
    try:
        with models.opened(paths, answering=bool(plan.modes)) as used:
            settings = settings_of(plan, used.bundle)
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
            return report(plan, settings, rows.values())
    except (ModelError, StorageError) as error:
        raise Refused(str(error)) from error


def _check_conditions(names: Sequence[str] | None, *, several: bool) -> list[str]:
    for name in names or ():
        check_known("condition", name, CONDITIONS)
        if several and name == DOCUMENT:
            raise UsageError(
                "An index of several documents has no mindscape of its own: use coverage or first."
            )
    return list(dict.fromkeys(names or [COVERAGE if several else DOCUMENT]))


def _check_modes(names: Sequence[str]) -> list[str]:
    for name in names:
        if name in LATER:
            raise UsageError(f"The mode {name!r} is not built yet; use some of: {', '.join(MEASURED)}.")
        check_known("mode", name, MEASURED)
    return list(dict.fromkeys(names))
