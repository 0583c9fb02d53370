"""From what each question gave to means with intervals, and how far each leg is from what ships."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mindscape
from mindscape import __version__, prompts
from mindscape.evaluate.bootstrap import RESAMPLES, Estimate, clustered, estimate
from mindscape.evaluate.legs import DEFAULT
from mindscape.evaluate.runs import Plan, Row, Run

_CHECKOUT = Path(mindscape.__file__).parents[2]
METRICS = ("recall", "hit", "norm", "f1", "em", "rouge_l", "accuracy", "pair_accuracy", "refusal")
Values = dict[Run, dict[str, float]]
"""By question."""


def report(plan: Plan, bundle: dict[str, str | None], rows: Iterable[Row]) -> dict[str, Any]:
    """The `eval` shape. `differences` are paired: of each question a leg's value less that of `default`."""
    values: Values = {}
    documents: dict[str, str] = {}
    for row in rows:
        documents[row.id] = row.document
        for run, value in row.scores.items():
            values.setdefault(run, {})[row.id] = value
    runs = sorted(values, key=lambda run: _order(plan, run))
    return {
        "set": plan.folder.resolve().name,
        "commit": commit(),
        "bundle": bundle,
        "prompts": prompt_hashes(),
        "index": plan.index,
        "questions": len(documents),
        "documents": len(set(documents.values())),
        "seed": plan.seed,
        "intervals": {
            "drawn": "documents" if clustered(list(documents.values())) else "questions",
            "resamples": RESAMPLES,
        },
        "runs": [{**run.shape(), **_estimated(values[run], documents, plan.seed)} for run in runs],
        "differences": [
            {**run.shape(), "against": DEFAULT, **_estimated(apart, documents, plan.seed)}
            for run in runs
            if (apart := _apart(values, run))
        ],
    }


def prompt_hashes() -> dict[str, str]:
    """Name -> hash of the prompts that a run may use."""
    return {name: prompts.prompt_hash(name) for name in ("answer",)}


def commit() -> str:
    """What `git describe` says of the checkout this runs from; the version where it is none."""
    if not (_CHECKOUT / ".git").exists():
        return __version__
    command = ["git", "-C", str(_CHECKOUT), "describe", "--always", "--dirty", "--tags"]
    try:
        ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return __version__
    return ran.stdout.strip() or __version__


def _estimated(values: dict[str, float], documents: dict[str, str], seed: int) -> dict[str, Any]:
    found: Estimate = estimate(list(values.values()), [documents[id_] for id_ in values], seed)
    return {**{name: round(getattr(found, name), 6) for name in ("value", "low", "high")}, "n": found.n}


def _apart(values: Values, run: Run) -> dict[str, float]:
    against = values.get(run._replace(legs=DEFAULT), {})
    if run.legs == DEFAULT:
        return {}
    return {id_: value - against[id_] for id_, value in values[run].items() if id_ in against}


def _order(plan: Plan, run: Run) -> tuple[int, ...]:
    """Evidence before answers; legs and modes as they were asked for."""
    modes, legs = list(plan.modes), list(plan.legs)
    at = legs.index(run.legs) if run.k is not None else len(legs)
    mode = modes.index(run.mode) if run.mode in modes else -1
    return int(run.k is None), METRICS.index(run.metric), at, mode, run.k or 0, int(run.answerable)
