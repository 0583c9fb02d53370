"""LaTeX."""

from __future__ import annotations

import pytest
from tests.ingest.formats.shape import parsed, slices

from mindscape.ingest.formats.latex_words import plain

PAPER = r"""\documentclass{article}
\newcommand{\see}[1]{\section{#1}}
\title{The \emph{Harbour} of Schr\"odinger\thanks{Funded.}}
\author{A. Mole\\Institute \and B. V\'ole}
\date{5 March 2024}
\begin{document}
\maketitle
\begin{abstract}
It rained.
\end{abstract}
% \section{Not this}
\section[Short]{Salting {\bf the {cod}}}\label{s}
Lay the fish, 50\% of it, on \href{https://e.org/b}{boards}.

Second paragraph, with \verb|\section{code}| in it.
\begin{itemize}
\item one
\item two
\end{itemize}
\begin{verbatim}
\section{Nor this}
\end{verbatim}
\subsection*{Times}
\begin{table}[h]
\caption{By weight}
\begin{tabular}{|l|r|}
\hline
Weight & Days \\
\hline
2 kg & 9 \\
\end{tabular}
\end{table}
\begin{quote}
They said.
\end{quote}
\input{chapter2}
\end{document}
\section{After the end}
"""


def test_a_paper_is_read_by_its_commands() -> None:
    result = parsed("a.tex", PAPER)
    assert result.title == "The Harbour of Schrödinger"
    assert result.metadata == {"author": "A. Mole, B. Vóle", "date": "5 March 2024"}
    assert [section.path for section in result.sections] == [
        ("Abstract",),
        ("Salting the cod",),
        ("Salting the cod", "Times"),
    ]
    assert slices(result, "item") == [r"\item one", "\\item two\n\\end{itemize}"]
    assert slices(result, "code")[1:] == ["\\begin{verbatim}\n\\section{Nor this}\n\\end{verbatim}"]
    assert [block.header for block in result.blocks if block.kind == "table"] == ["By weight\nWeight | Days"]
    assert "Second paragraph, with \\verb|\\section{code}| in it." in slices(result, "paragraph")
    assert result.links == ("https://e.org/b", "chapter2")


def test_slides_are_sections() -> None:
    result = parsed(
        "a.tex", "\\begin{document}\\begin{frame}{Tides}High.\\end{frame}\\frame{\\frametitle{Ebb}Low.}"
    )
    assert [section.heading for section in result.sections] == ["Tides", "Ebb"]


@pytest.mark.parametrize(
    "text", ["\\section{never closed", "\\section", "\\begin{verbatim}\\section{a}", "{" * 9_000]
)
def test_unbalanced_source_is_still_text(text: str) -> None:
    assert parsed("a.tex", text).text == text


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (r"A~\textbf{b} --- {\it c}%comment", "A b — c"),
        (r"\L{}\'odz, \v{C}apek, Gau\ss, \c{c}a, \^\i le", "Łódz, Čapek, Gauß, ça, île"),
        (r"``Salt'' \& sea\footnote{a {nested} note} air~\cite[p.~4]{x}", "“Salt” & sea air"),
        (r"$E=mc^2$ in \LaTeX\ today", "$E=mc^2$ in LaTeX today"),
    ],
)
def test_source_is_shown_as_words(source: str, words: str) -> None:
    assert plain(source) == words
