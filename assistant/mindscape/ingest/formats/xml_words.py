"""What the element names of the common XML vocabularies mean: DocBook, JATS, TEI, feeds, patents, OPML.

Names are local and in lower case. What is in no table is told by its shape, in `xml_document`.
"""

from __future__ import annotations

from mindscape.ingest.parsed import BlockKind


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


DROPPED = _names(
    """
    script style binary binarydata object-id generator draft convertlinebreaks ttl docs annotation-xml
    defs clippath metadata symbol skipdays skiphours textinput cloud guid instrtext appinfo
    """
)
"""No text, or none for a reader."""

TITLES = _names("title article-title invention-title head heading chapter-title book-title caption-title")
FRONT = _names(
    """
    front front-stub article-meta info articleinfo bookinfo chapterinfo teiheader filedesc titlestmt
    head docinfo prolog us-bibliographic-data-grant us-bibliographic-data-application
    """
)
"""Around a title of the whole document, which is above all others wherever it stands."""
NO_HEADINGS = _names("figure fig table-wrap formalpara listitem seriesinfo journal-meta image textinput")
"""Around a title that is a caption, or that names another work."""

ONE_LINE = _names(
    """
    ref citation mixed-citation element-citation nlm-citation biblioentry bibliomixed bibl
    biblstruct reference us-citation product related-article contrib name string-name person-group
    personname author address aff affiliation document-id inventor applicant us-applicant agent
    addressbook pub-date classification-ipcr classification-cpc classification-national history-date
    claim-ref attribution byline speaker term varlistentry-term
    """
)
"""Whose parts are read as one line."""

BLOCKS = _names(
    """
    p para simpara formalpara list itemizedlist orderedlist variablelist listitem list-item def-list
    def-item item li ul ol dl dt dd table table-wrap informaltable fig figure disp-quote blockquote
    quote-block boxed-text programlisting screen literallayout preformat pre section sec div
    disp-formula claim claim-text tables maths table-wrap-foot fn note warning tip caution important
    lg l ab sp speech stanza verse-line
    """
)
"""Blocks even inside of text."""

KINDS: dict[str, BlockKind] = {
    **dict.fromkeys(("listitem", "list-item", "li", "varlistentry", "def-item", "item-text", "dd"), "item"),
    **dict.fromkeys(
        ("blockquote", "disp-quote", "epigraph", "quote-block", "stanza", "lg", "verse-group"), "quote"
    ),
    **dict.fromkeys(("programlisting", "screen", "literallayout", "preformat", "pre", "synopsis"), "code"),
}

TABLES = _names("table tgroup informaltable tbl worksheet")
ROWS = _names("tr row tablerow")
CELLS = _names("td th entry cell tc")
HEADS = _names("thead th")

MARKUP_INSIDE = _names(
    "description encoded content summary title subtitle tagline body comment abstract text"
)
"""Whose text may be HTML that was escaped."""

PARAGRAPHS = _names("p para simpara l v verse line seg claim-text term tspan")
"""Whose elements are parts of one text, even where no text of their own is around them."""

PROSE = _names(
    """
    p para simpara text content body abstract description summary encoded line l v verse seg ab li
    td claim-text list-item listitem def term quote tspan desc div subtitle title-text s w lb label
    """
)
"""Whose name is nothing that a reader wants to see in front of the text."""

_ATTRIBUTES = """
title text name displayname label key term alt caption summary description desc comment message tooltip
content value
"""
ATTRIBUTES = _ATTRIBUTES.split()
"""Attributes that people read, in the order in which they are."""
