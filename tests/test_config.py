"""Settings come from the file and the environment; anything wrong is said with what would be right."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from mindscape.config import BOUNDS, Settings, load_settings
from mindscape.errors import UsageError


def test_defaults_then_file_then_environment(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    assert load_settings(file, {}) == Settings()
    file.write_text('ignore = ["*.log"]\nthreads = 3\nidle_minutes = 0.5\n')
    assert load_settings(file, {"MINDSCAPE_THREADS": "1", "MINDSCAPE_HOME": "/x"}) == Settings(
        ignore=("*.log",), threads=1, idle_minutes=0.5
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("thread = 2", 'Did you mean "threads"?'),
        ("max_file = 2", 'Did you mean "max_file_mb"?'),
        ("zzz = 2", "Valid keys: ignore, threads"),
        ('threads = "many"', '"threads" in'),
        ("threads = -1", "must be a whole number from 0 to 1,024, not -1"),
        ("threads = true", "must be a whole number"),
        ("threads = inf", "must be a whole number"),
        ("workers = 2.9", "must be a whole number from 0 to 256, not 2.9"),
        ("idle_minutes = inf", "must be a number from 0 to 1,000,000, not inf"),
        ("idle_minutes = nan", "must be a number from 0"),
        (f"idle_minutes = 1{'0' * 400}", "must be a number from 0"),
        ("parse_memory_mb = 255", "must be a whole number from 256 to 1,000,000, not 255"),
        ("parse_memory_mb = 1000001", "from 256 to 1,000,000"),
        ("parse_seconds = 0", "must be a whole number from 1 to"),
        ("max_file_mb = 0", "must be a whole number from 1 to"),
        ("ignore = [1]", "must be a list of texts"),
        ("threads = ", "is not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as error:
        load_settings(file, {})
    assert said in str(error.value)
    assert str(file) in str(error.value)


def test_a_wrong_name_in_the_environment_is_said_too(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match='"tread" in the environment'):
        load_settings(tmp_path / "none", {"MINDSCAPE_TREAD": "1"})


def test_every_number_has_bounds_its_default_is_within() -> None:
    assert {field.name for field in fields(Settings)} == {"ignore", *BOUNDS}
    for name, (least, most) in BOUNDS.items():
        default = getattr(Settings(), name)
        assert isinstance(default, type(least))
        assert least <= default <= most


@pytest.mark.parametrize("text", ["nan", "2.9", "1e400", "many", ""])
def test_text_in_the_environment_is_held_to_the_same_bounds(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="must be a whole number from 0 to 1,024"):
        load_settings(tmp_path / "none", {"MINDSCAPE_THREADS": text})
    assert load_settings(tmp_path / "none", {"MINDSCAPE_IDLE_MINUTES": "2.5"}).idle_minutes == 2.5
