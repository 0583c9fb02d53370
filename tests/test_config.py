"""Settings come from the file and the environment; anything wrong is said with what would be right."""

from __future__ import annotations

from pathlib import Path

import pytest

from mindscape.config import Settings, load_settings
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
        ('threads = "many"', "must be a number"),
        ("threads = -1", "must be a number"),
        ("threads = true", "must be a number"),
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
