"""Sections of source code."""

from __future__ import annotations

import pytest
from tests.ingest.formats.shape import parsed

from mindscape.ingest.formats.definitions import definition

DEFINITIONS = {
    "class Boat(Vessel):": "class Boat",
    "async def sail(boat: Boat) -> None:": "async def sail",
    "pub async fn sail<T>(x: T) {": "pub async fn sail",
    "func (b *Boat) Sail() error {": "func (b *Boat) Sail",
    "impl<T> Sail for Boat {": "impl<T> Sail for Boat",
    "typedef struct node {": "typedef struct node",
    "static void *sail (void)\n{": "static void *sail (void)",
    "int main(int argc, char **argv) {": "int main(int argc, char **argv)",
    "const sail = async (boat) => {": "const sail",
    "export default function App() {": "export default function App",
    "sail <- function(boat) {": "sail",
    "(defun sail (boat)": "defun sail",
    "sail() {": "sail()",
    "sail :: Boat -> Sea": "sail",
    "CREATE TABLE IF NOT EXISTS boats (": "CREATE TABLE IF NOT EXISTS boats",
    "namespace harbour::old {": "namespace harbour::old",
    "sub new {": "sub new",
    "data class P(val x: Int)": "data class P",
}


@pytest.mark.parametrize(("line", "name"), DEFINITIONS.items())
def test_what_a_line_defines_names_its_section(line: str, name: str) -> None:
    assert definition(f"// comment\n{line}\n    x\n") == name


@pytest.mark.parametrize(
    "line",
    [
        "if (x) {",
        "} else if (x) {",
        "for (int i = 0; i < 3; i++) {",
        "return sail(boat)",
        "x = sail(1)",
        "type of thing is good",
        "class of 1990 was here",
        "# def sail():",
        "    def sail():",
        "import os",
        "The harbour (old)",
    ],
)
def test_what_defines_nothing_opens_no_section(line: str) -> None:
    assert definition(f"{line}\n    x\n") is None


def test_a_comment_above_a_definition_belongs_to_its_section() -> None:
    result = parsed(
        "a.py",
        "import os\n\n# Sails.\n@cache\ndef sail():\n    x = 1\n\n    return x\n\n\nclass Boat:\n    x = 2\n",
    )
    assert [(section.heading, result.text[section.start :][:6]) for section in result.sections] == [
        ("def sail", "# Sail"),
        ("class Boat", "class "),
    ]


def test_sections_do_not_depend_on_the_name_of_the_file() -> None:
    source = "def sail():\n    pass\n"
    assert parsed("a.py", source).sections == parsed("a.rs", source).sections
