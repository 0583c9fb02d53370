"""Settings: defaults, then `config.toml`, then MINDSCAPE_* variables. Only composition roots read them."""

from __future__ import annotations

import difflib
import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, cast

from mindscape.errors import UsageError


@dataclass(frozen=True, slots=True)
class Settings:
    """Every key of `config.toml`. The environment's name of `threads` is MINDSCAPE_THREADS, and so on."""

    ignore: tuple[str, ...] = ()
    """Patterns in .gitignore syntax for all folders, added to the built-in ones; `!name` re-includes."""
    threads: int = 0
    """Threads a model may use; 0 means one for each core."""
    workers: int = 0
    """Files parsed at the same time; 0 means one for each core, at most 4."""
    idle_minutes: float = 5.0
    """Engine and workers exit after so long without work."""
    poll_seconds: int = 60
    """How often folders that give no events are scanned."""
    reconcile_minutes: int = 60
    """How often every folder is compared with the index, whatever its events said."""
    max_file_mb: int = 1024
    """Larger files are not read."""
    parse_seconds: int = 300
    """Longer than this on one file, and its worker is stopped."""
    parse_memory_mb: int = 2048
    """Address space of one worker."""


BOUNDS: Final[dict[str, tuple[int, int] | tuple[float, float]]] = {
    "threads": (0, 1_024),
    "workers": (0, 256),
    "idle_minutes": (0.0, 1_000_000.0),
    "poll_seconds": (0, 86_400),
    "reconcile_minutes": (0, 1_000_000),
    "max_file_mb": (1, 1_000_000),
    "parse_seconds": (1, 86_400),
    "parse_memory_mb": (256, 1_000_000),
}
"""Least and most of each number; a whole number where the bounds are."""


def load_settings(file: Path, environ: dict[str, str] | None = None) -> Settings:
    """Read the file, if there is one, and the environment.

    Raises UsageError with the file, the key and the nearest valid key.
    """
    values: dict[str, Any] = {}
    for key, value in _read(file).items():
        _check_key(key, f"{file}")
        values[key] = _convert(key, value, f"{file}")
    for name, value in (dict(os.environ) if environ is None else environ).items():
        key = name.removeprefix("MINDSCAPE_").lower()
        if not name.startswith("MINDSCAPE_") or key == "home":
            continue
        _check_key(key, "the environment")
        values[key] = _convert(key, value, "the environment")
    return Settings(**values)


def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise UsageError(
            f"The settings in {file} cannot be read: {error.strerror}. Mend its permissions."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not valid TOML: {error}. Correct it or remove it.") from error


def _check_key(key: str, where: str) -> None:
    known = [field.name for field in fields(Settings)]
    if key not in known:
        near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
        hint = f'Did you mean "{near[0]}"?' if near else f"Valid keys: {', '.join(known)}."
        raise UsageError(f'"{key}" in {where} is not a setting. {hint}')


def _convert(key: str, value: Any, where: str) -> Any:
    """The value as the setting's type; text from the environment is parsed."""
    if key not in BOUNDS:
        parts = value.split(os.pathsep) if isinstance(value, str) else value
        if not isinstance(parts, list) or not all(isinstance(part, str) for part in cast(list[Any], parts)):
            raise UsageError(f'"{key}" in {where} must be a list of texts, not {value!r}.')
        return tuple(part for part in cast(list[str], parts) if part)
    least, most = BOUNDS[key]
    kind = type(least)
    number = _number(value, kind)
    # Written so that NaN, which compares with nothing, is refused too.
    if number is not None and least <= number <= most:
        return number
    wanted = "a whole number" if kind is int else "a number"
    raise UsageError(f'"{key}" in {where} must be {wanted} from {least:,.0f} to {most:,.0f}, not {value!r}.')


def _number(value: Any, kind: type[int] | type[float]) -> int | float | None:
    """The value as a number of that kind; None when it is none, or would have to be rounded."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if kind is int and isinstance(value, float):
        return None
    try:
        return kind(value)
    except (ValueError, OverflowError):
        return None
