"""From what each question gave to means with intervals, and how far each leg is from what ships."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindscape.evaluate.bootstrap import RESAMPLES, Estimate, clustered, estimate
from mindscape.evaluate.legs import CONDITIONED, DEFAULT, Way
from mindscape.evaluate.runs import Plan, Row, Run
from mindscape.evaluate.settings import Settings

METRICS = ("recall", "hit", "norm", "f1", "em", "rouge_l", "accuracy", "pair_accuracy", "refusal")
Values = dict[Run, dict[str, float]]
"""By question."""


def report(plan: Plan, settings: Settings, rows: Iterable[Row]) -> dict[str, Any]:
    """The `eval` shape. `differences` are paired: of each question a leg's value less that of another.

    The other is `default`, and `vector` where the same is done with the question alone.
    """
    values: Values = {}
    documents: dict[str, str] = {}
    for row in rows:
        documents[row.id] = row.document
        for run, value in row.scores.items():
            values.setdefault(run, {})[row.id] = value
    runs = sorted(values, key=lambda run: _order(plan, run))
    return {
        **{name: settings[name] for name in ("set", "commit", "bundle", "prompts")},
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
            {**run.shape(), "against": _other(run), **_estimated(apart, documents, plan.seed)}
            for run in runs
            if (apart := _apart(values, run))
        ],
    }


def _estimated(values: dict[str, float], documents: dict[str, str], seed: int) -> dict[str, Any]:
    found: Estimate = estimate(list(values.values()), [documents[id_] for id_ in values], seed)
    return {**{name: round(getattr(found, name), 6) for name in ("value", "low", "high")}, "n": found.n}


def _apart(values: Values, run: Run) -> dict[str, float]:
    if run.legs == DEFAULT:
        return {}
    against = values.get(run._replace(legs=_other(run), alpha=None, condition=None), {})
    return {id_: value - against[id_] for id_, value in values[run].items() if id_ in against}


def _other(run: Run) -> str:
    return "vector" if run.legs == CONDITIONED else DEFAULT


def _order(plan: Plan, run: Run) -> tuple[int, ...]:
    """Evidence before answers; legs and modes as they were asked for."""
    modes, ways = list(plan.modes), plan.ways
    at = len(ways) if run.k is None else ways.index(Way(run.legs, run.alpha, run.condition))
    mode = modes.index(run.mode) if run.mode in modes else -1
    return int(run.k is None), METRICS.index(run.metric), at, mode, run.k or 0, int(run.answerable)
