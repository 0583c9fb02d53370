"""Settings: defaults, then `config.toml`, then MINDSCAPE_* variables. Only composition roots read them."""

from __future__ import annotations

import difflib
import os
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

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


def load_settings(file: Path, environ: dict[str, str] | None = None) -> Settings:
    """Read the file, if there is one, and the environment.

    Raises UsageError with the file, the key and the nearest valid key.
    """
    hints = get_type_hints(Settings)
    values: dict[str, Any] = {}
    for key, value in _read(file).items():
        _check_key(key, f"{file}")
        values[key] = _convert(key, value, hints[key], f"{file}")
    for name, value in (dict(os.environ) if environ is None else environ).items():
        key = name.removeprefix("MINDSCAPE_").lower()
        if not name.startswith("MINDSCAPE_") or key == "home":
            continue
        _check_key(key, "the environment")
        values[key] = _convert(key, value, hints[key], "the environment")
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


def _convert(key: str, value: Any, kind: Any, where: str) -> Any:
    """The value as the setting's type; text from the environment is parsed."""
    try:
        if kind == tuple[str, ...]:
            if isinstance(value, str):
                value = [part for part in value.split(os.pathsep) if part]
            if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
                raise ValueError
            return tuple(value)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise ValueError
        number = kind(value)
        if number < 0:
            raise ValueError
        return number
    except ValueError:
        wanted = "a list of texts" if kind == tuple[str, ...] else "a number of 0 or more"
        raise UsageError(f'"{key}" in {where} must be {wanted}, not {value!r}.') from None
