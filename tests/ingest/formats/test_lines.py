"""What holds for every markup language that is laid over the lines of a file."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.ingest.formats.shape import calls, parsed

from mindscape.ingest.decode import clean
from mindscape.ingest.parsed import ParseFailure

SUFFIXES = (
    "org",
    "rst",
    "adoc",
    "tex",
    "vtt",
    "ass",
    "wiki",
    "textile",
    "typ",
    "json",
    "yaml",
    "toml",
    "py",
    "log",
)
SIGNS = r"""
* A
** TODO B :t:
#+begin_src
#+end_src
#+begin_quote
:PROPERTIES:
:END:
#+caption: c
#+title: t
: f
| a | b |
|---+---|
|===
====
----
....
////
~~~~
++++
= T
== U
A. Name <m@e>
:key: v
.Cap
[opts]
* i
- i
1. i
::
a::
  indented
.. code::
.. x: y
.. table:: T
.. list-table::
+---+---+
+===+===+
===  ===
>>> 1
__ u
\section{a}
\begin{quote}
\end{quote}
\begin{verbatim}
\end{verbatim}
\begin{tabular}{l}
a & b \\
\end{tabular}
\begin{itemize}
\item x
\caption{c}
\title{a}
\begin{document}
\end{document}
%
{
}
\verb
WEBVTT
NOTE
00:01.000 --> 00:02.000
7
Dialogue: x
{{{
}}}
{|
|}
! h !! i
<pre>
</pre>
h1. x
bc.. y
```
[a]
k:
  v
def f():
class A {
""".strip().split("\n")
LINES = st.lists(
    st.one_of(st.sampled_from([*SIGNS, ""]), st.text(st.characters(exclude_categories=["Cs"]), max_size=12)),
    max_size=16,
)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(deadline=None)
@given(lines=LINES, end=st.sampled_from(["\n", "\r\n", "\r"]))
def test_the_text_is_the_file_code_point_for_code_point(suffix: str, lines: list[str], end: str) -> None:
    text = end.join(lines)
    try:
        result = parsed(f"a.{suffix}", b"\xef\xbb\xbf" + text.encode())
    except ParseFailure:
        return
    assert result.text_like
    assert result.text == clean(text)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(deadline=None)
@given(data=st.binary(max_size=200))
def test_any_bytes_are_text_or_a_stated_failure(suffix: str, data: bytes) -> None:
    with contextlib.suppress(ParseFailure):
        parsed(f"a.{suffix}", data)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("line", SIGNS)
def test_four_times_the_lines_take_four_times_the_calls(suffix: str, line: str) -> None:
    few, many = (calls(f"a.{suffix}", f"{line}\n" * count) for count in (50, 200))
    assert many < 6 * few
