"""JSON, YAML, TOML and INI files."""

from __future__ import annotations

import pytest
from tests.ingest.formats.shape import parsed

from mindscape.ingest.passages import cut


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.toml", "top = 1\n[boats]\nGull = 4\n[[boats.crew]]\nname = 'Ann'\n"),
        ("a.ini", "; note\n[boats]\nGull = 4\n[boats.crew] ; more\nname = Ann\n"),
        ("a.yaml", "top: 1\nboats:\n  Gull: 4\nboats.crew: # all\n  - Ann\n"),
    ],
)
def test_the_parts_of_a_settings_file_are_sections(name: str, text: str) -> None:
    assert [section.heading for section in parsed(name, text).sections] == ["boats", "boats.crew"]


def test_records_of_json_lines_are_not_cut_in_two() -> None:
    line = '{"boat": "Gull", "crew": ["Ann", "Ben"], "note": "the tide came in and nobody saw it"}\n'
    result = parsed("a.jsonl", line * 60)
    passages = list(cut(result))
    assert len(passages) > 5
    assert all(passage.text.startswith('{"boat"') and passage.text.endswith("}\n") for passage in passages)


def test_a_list_of_many_small_parts_is_data_and_not_sections() -> None:
    result = parsed("a.yaml", "".join(f"boat{number}:\n  crew: 4\n" for number in range(200)))
    assert result.sections == ()
    assert len(list(cut(result))) < 40
