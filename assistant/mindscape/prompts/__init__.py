"""Prompts: one Markdown file a stage, with a turn under each role's heading and `$name` where a value goes.

The stable text stands first, so that what a model has read of it is reused from one call to the next.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

NOT_STATED: Final = "The documents do not say."
"""What `answer` tells a model to write, word for word, when the passages do not hold the answer."""

_FOLDER = Path(__file__).parent
_HEADING = re.compile(r"^# (system|user|assistant)\n", re.MULTILINE)


class PromptError(ValueError):
    """A prompt is missing, malformed, or was given the wrong variables: a mistake in the program."""


def render(name: str, **values: str) -> list[dict[str, str]]:
    """The messages of a prompt, each {"role", "content"}, with `values` put in.

    Raises PromptError when there is no such prompt, or a variable is missing or unknown. Values are not
    looked at again, so a `$` or a heading inside one means nothing.
    """
    turns = _turns(name)
    wanted = {variable for _, turn in turns for variable in turn.get_identifiers()}
    if missing := sorted(wanted - values.keys()):
        raise PromptError(f"The prompt {name!r} was not given {', '.join(missing)}.")
    if unknown := sorted(values.keys() - wanted):
        raise PromptError(f"The prompt {name!r} has no {', '.join(unknown)}.")
    return [{"role": role, "content": turn.substitute(values)} for role, turn in turns]


def prompt_hash(name: str) -> str:
    """`sha256:` and the hex digest of the prompt's file: it changes whenever the wording does."""
    return f"sha256:{hashlib.sha256(_text(name).encode()).hexdigest()}"


@cache
def _turns(name: str) -> tuple[tuple[str, Template], ...]:
    before, *rest = _HEADING.split(_text(name))
    if before.strip() or not rest:
        raise PromptError(f"The prompt {name!r} must begin with '# system', '# user' or '# assistant'.")
    turns = [(role, Template(body.strip())) for role, body in zip(rest[::2], rest[1::2], strict=True)]
    if broken := [role for role, turn in turns if not turn.is_valid()]:
        raise PromptError(f"The prompt {name!r} has a stray '$' in its {broken[0]} turn.")
    return tuple(turns)


@cache
def _text(name: str) -> str:
    if not re.fullmatch(r"[a-z_]+", name):
        raise PromptError(f"{name!r} is not the name of a prompt.")
    try:
        return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise PromptError(f"There is no prompt {name!r}.") from error
