"""What a line of source code defines, in any of the languages that are read: one table of signs.

The language is not asked for: the same bytes must give the same sections whatever the file is called.
"""

from __future__ import annotations

import re

from mindscape.ingest.formats.outline import MAX_HEADING

_NAME = r"[^\W\d][\w.:$!?'-]{0,120}"
_BEFORE = (
    r"(?:(?:export|default|pub(?:\([\w: ]{1,40}\))?|public|private|protected|internal|static|abstract|final|"
    r"sealed|open|override|virtual|partial|async|unsafe|extern(?: \"C\")?|inline|const|constexpr|data|case|"
    r"declare|local|pure|recursive|elemental|typedef|template\s?<[^<>]{0,100}>) +){0,6}"
)
_WORDS = (
    "def|defp|defmodule|defmacro|defprotocol|defimpl|class|interface|struct|enum|union|trait|protocol|"
    "extension|object|record|module|namespace|package|function\\*?|func|fun|fn|proc|sub|subroutine|procedure|"
    "method|macro|macro_rules!|mod|message|service|rpc|entity|architecture|theorem|lemma|instance|newtype|type|"
    "program|actor|annotation|component|resource|mixin|contract|table|view"
)
_NO_NAMES = (
    "if|for|while|until|unless|switch|return|else|elif|elsif|do|catch|case|sizeof|new|delete|throw|with"
)
_PROSE = "if|for|of|is|in|and|or|the|a|to|that|was"
_DEFINITIONS = (
    # `class Boat(Vessel):`, `pub async fn sail<T>(...)`, `func (b *Boat) Sail() error {`
    rf"{_BEFORE}(?:{_WORDS})(?:<[^<>\n]{{0,60}}>)? +(?:\([^()\n]{{1,80}}\) +)?(?!(?:{_PROSE})\s){_NAME}"
    r"(?=\s*(?:[({\[<:=;,]|$|(?:extends|implements|for|where|is|inherits|on|do|with|as|of|begin|returns)\b))",
    # `impl Sail for Boat {`
    r"impl(?:<[^<>\n]{0,60}>)? [^{}\n]{1,160}(?=\s*\{)",
    # `int main(int argc, char **argv) {`, `void Boat::sail (void)` with the brace on the next line
    rf"(?!(?:{_NO_NAMES}|{_WORDS})\b)(?:[\w:<>,*&~\[\]]+[ ]+[*&]*){{0,5}}(?!(?:{_NO_NAMES})\b){_NAME}"
    r" ?\([^;{}]{0,600}\)[^;(){}=\n]{0,60}(?=\s*\{)",
    # `const sail = async (boat) => {`, `sail <- function(boat) {`, `sail = lambda boat: boat`
    rf"{_BEFORE}(?:(?:let|var) )?{_NAME} (?:=|<-) (?:async )?"
    r"(?:function\b|lambda\b|\([^()\n]{0,200}\) ?(?:=>|->))",
    # `(defun sail (boat)`, `(define (sail boat)`
    r"\((?:def\w*|define[\w-]*|ns) \(?[^\s()]{1,120}",
    # `sail() {` of a shell, `sail :: Boat -> Sea`
    r"[\w-]{1,120} ?\(\) ?\{?$|[a-z_][\w']{0,80} :: (?=\S)",
    # `CREATE TABLE boats (`
    r"(?i:create (?:or replace )?(?:temp(?:orary)? |unique |materialized )?"
    r"(?:table|view|index|function|procedure|trigger|type|schema|database)"
    r"(?: if not exists)?) [\w.\"`\[\]]{1,120}",
)
_DEFINITION = re.compile(rf"^(?:{'|'.join(_DEFINITIONS)})", re.M)
_ENDING = re.compile(r"[\s({:=,;]+$|\s*(?:=|<-)\s*(?:async )?(?:function|lambda|\(.*)$")


def definition(block: str) -> str | None:
    """The first thing that an unindented line of the block defines, as it is written."""
    found = _DEFINITION.search(block)
    if not found:
        return None
    return _ENDING.sub("", " ".join(found[0].removeprefix("(").split()))[:MAX_HEADING] or None
