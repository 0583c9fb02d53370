"""All that the value of a question depends on: data, code, models, prompts, and what was asked for."""

from __future__ import annotations

import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

import mindscape
from mindscape import __version__, prompts
from mindscape.evaluate.legs import CONDITIONED
from mindscape.evaluate.runs import Plan
from mindscape.evaluate.sets import DOCUMENTS, QUESTIONS

Settings = dict[str, Any]
_CHECKOUT = Path(mindscape.__file__).parents[2]
_PROMPTS = ("answer",)


def settings_of(plan: Plan, bundle: dict[str, str | None]) -> Settings:
    """By name, as JSON. Which questions are drawn is not among them, for it changes no question's value."""
    data = sha256()
    for name in (DOCUMENTS, QUESTIONS):
        data.update((plan.folder / name).read_bytes())
    return {
        "set": plan.folder.resolve().name,
        "data": f"sha256:{data.hexdigest()}",
        "commit": commit(),
        "bundle": bundle,
        "prompts": {name: prompts.prompt_hash(name) for name in _PROMPTS},
        "index": plan.index,
        "legs": list(plan.legs),
        "modes": list(plan.modes),
        "k": list(plan.ks),
        **_conditioned(plan),
    }


def _conditioned(plan: Plan) -> Settings:
    """Only where it is measured: what was begun without it goes on."""
    if CONDITIONED not in plan.legs:
        return {}
    return {"alpha": list(plan.alphas), "condition": list(plan.conditions)}


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
