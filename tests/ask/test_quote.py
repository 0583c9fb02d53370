"""Quoting mode: which sentences, and that they are quoted exactly."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.ask.made import source

from mindscape.ask.quote import MAX_CHARACTERS, MAX_QUOTES, MAX_SENTENCES, candidates, choose, quotable

FERRY = source(
    "# The ferry\n\nThe ferry is blue. Captain Lindqvist bought the ferry in 1987. It leaves at 7:40.",
    heading=("The ferry",),
)
LINDQVIST = source(
    "Lindqvist was born in Umeå. He keeps bees. His sister runs the bakery.", "/notes/people.md", 2, 0.5
)


def quoted(question: str, *sources: object) -> list[str]:
    given_ = [one for one in sources if isinstance(one, type(FERRY))]
    return [s.text for s in choose(question, candidates(question, given_), None, [1.0] * len(given_), {})]


def test_the_sentence_that_holds_the_answer_comes_first() -> None:
    best = quoted("Who bought the ferry?", LINDQVIST, FERRY)[0]
    assert "Captain Lindqvist bought the ferry in 1987." in best


def test_a_question_in_two_parts_is_quoted_from_two_files() -> None:
    found = quoted("Who bought the ferry, and where was Lindqvist born?", FERRY, LINDQVIST)
    assert {"Captain Lindqvist bought the ferry in 1987.", "Lindqvist was born in Umeå."} <= set(found)


def test_a_sentence_may_answer_for_the_heading_it_stands_under() -> None:
    bare = source("It leaves at 7:40.", "/notes/bare.md", 4)
    assert quoted("When does the ferry leave?", bare, FERRY)[0].endswith("It leaves at 7:40.")
    titled = source("It is at 7:40.", "/notes/ferry times.md", 5)
    assert quoted("When is the ferry?", titled, LINDQVIST) == ["It is at 7:40."]


def test_the_nearest_sentence_wins_among_equals() -> None:
    sources = [source("He keeps bees."), source("He keeps hens.", number=2)]
    found = candidates("What does he keep?", sources)
    best = choose("What does he keep?", found, [0.1, 0.9], [1.0, 1.0], {})
    assert best[0].text == "He keeps hens."


def test_sentences_that_follow_each_other_are_one_quote() -> None:
    found = quoted("Lindqvist, his bees and his sister", LINDQVIST)
    assert len(found) == 1
    assert found[0] in LINDQVIST.passage.text


def test_the_same_sentence_is_not_quoted_twice() -> None:
    twin = source(FERRY.passage.text, "/notes/copy.md", 3)
    found = quoted("Who bought the ferry?", FERRY, twin)
    assert len(set(found)) == len(found)


def test_lines_of_lists_and_tables_are_quoted_one_by_one() -> None:
    text = "Shopping:\n\n- two lemons\n- flour\n\n| day | time |\n|---|---|\n| Monday | 7:40 |\n"
    spans = [text[a:b] for a, b in quotable(text)]
    assert "- two lemons" in spans
    assert "| Monday | 7:40 |" in spans
    assert "|---|---|" not in spans
    report = "Work | Cost\nSluice gate | 48,600\nEel ladder | 7,900"
    assert "Sluice gate | 48,600" in [report[a:b] for a, b in quotable(report)]


def test_chinese_is_quoted_by_sentence() -> None:
    note = source("渡轮是蓝色的。林船长在1987年买了它。", "/notes/渡轮.md")
    assert quoted("林船长哪年买的？", note)[0] == "林船长在1987年买了它。"


def test_no_sources_no_quotes() -> None:
    assert choose("Who?", candidates("Who?", []), None, [], {}) == []


@given(st.text(max_size=400))
def test_quotes_are_exact_slices(text: str) -> None:
    for start, end in quotable(text):
        assert 0 <= start < end <= len(text)
        assert end - start <= MAX_CHARACTERS
        assert text[start:end] == text[start:end].strip()


@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=200), max_size=4))
def test_any_question_gives_at_most_three_exact_quotes(question: str, texts: list[str]) -> None:
    sources = [source(text, number=number) for number, text in enumerate(texts, 1)]
    found = candidates(question, sources)
    assert len(found) <= MAX_SENTENCES
    chosen = choose(question, found, None, [1.0] * len(sources), {})
    assert len(chosen) <= MAX_QUOTES
    assert bool(chosen) == bool(found)
    for one in chosen:
        assert sources[one.source].passage.text[one.start : one.end] == one.text


def test_a_wrapped_list_item_is_one_line() -> None:
    text = "- The ferry leaves\n  at dawn from the quay\n- It is blue\n"
    assert [text[a:b] for a, b in quotable(text)] == [
        "- The ferry leaves\n  at dawn from the quay",
        "- It is blue",
    ]


def test_a_line_that_only_links_elsewhere_gives_way_to_one_that_says_something() -> None:
    links = source("- [When the ferry leaves Skarne](ferry.md#leaves)\n- [[Ferry leaves Skarne]]", "/a.md", 2)
    says = source("From Skarne the ferry leaves at 7:40.", "/b.md", 3)
    assert (
        quoted("When does the ferry leave Skarne?", links, says)[0] == "From Skarne the ferry leaves at 7:40."
    )


def test_a_bare_title_or_heading_is_no_quote() -> None:
    text = "Beehive log\n\nRye bread\n\nThe hive weighs 31 kilos."
    log = source(text, "/notes/hive.docx", title="Beehive log", heading=("Bread", "Rye bread"))
    assert [one.text for one in candidates("Beehive log and rye bread", [log])] == [
        "The hive weighs 31 kilos."
    ]
    assert quoted("Beehive log: what does the hive weigh?", log) == ["The hive weighs 31 kilos."]


def test_of_a_csv_file_the_row_that_answers_is_quoted_alone() -> None:
    text = "tool,price\nplane,48\nchisel,12\nsaw,31\n"
    for name in ("/shop/tools.csv", "/shop/TOOLS.TSV"):
        tools = source(text.replace(",", "\t") if "TSV" in name else text, name, start=0)
        assert [one.replace("\t", ",") for one in quoted("What price is the chisel?", tools)] == ["chisel,12"]


def test_rows_of_a_csv_file_are_never_joined() -> None:
    rows = source("chisel,small,12\nchisel,large,19\n", "/shop/tools.csv")
    assert quoted("chisel", rows) in (["chisel,small,12"], ["chisel,small,12", "chisel,large,19"])


def test_a_quote_begins_on_the_page_of_its_fact() -> None:
    book = source("Rent book\n\nThe rent of the lighthouse is 4,120 guilders.", "/a.pdf")
    assert quoted("What is the rent of the lighthouse?", book) == [
        "The rent of the lighthouse is 4,120 guilders."
    ]


def test_a_quote_never_spans_a_page_that_begins_in_a_sentence() -> None:
    text = "The rent of the lighthouse, which\nstands on the point, is 4,120 guilders."
    book = replace(source(text, "/a.pdf"), breaks=(text.index("stands"),))
    for one in quoted("What is the rent of the lighthouse on the point?", book):
        assert "\n" not in one


def test_of_a_log_the_line_that_answers_is_quoted_alone() -> None:
    lines = [f"2024-03-01 07:{minute} pump {minute} runs" for minute in range(10, 22)]
    lines[8] = "2024-03-01 07:18 sluice alarm cleared by Ines"
    for path, text in (
        ("/weir.log", "\n".join(lines)),
        ("/weir.txt", "\n".join(lines)),
        ("/bare.log", "\n".join(line[17:] for line in lines)),
    ):
        best = quoted("Who cleared the sluice alarm?", source(text, path))
        assert best[0].endswith("sluice alarm cleared by Ines"), path
        assert not any("\n" in one for one in best), path


def test_items_of_a_list_are_never_joined() -> None:
    found = quoted("lemons and flour", source("- two lemons\n- white flour\n- salt"))
    assert set(found) == {"- two lemons", "- white flour"}
