"""Log files."""

from __future__ import annotations

from tests.ingest.formats.shape import parsed

from mindscape.ingest.passages import cut

LINE = (
    "2024-03-05T04:00:{0:02} WARN harbour.tide Gull. Came in? No: host=e.org. See pier 4, e.g. the old one.\n"
)


def test_a_log_is_cut_at_its_lines_and_nowhere_else() -> None:
    result = parsed("harbour.log", "".join(LINE.format(number % 60) for number in range(400)))
    passages = list(cut(result))
    assert len(passages) > 40
    assert all(passage.text.startswith("2024-") and passage.text.endswith("\n") for passage in passages)
