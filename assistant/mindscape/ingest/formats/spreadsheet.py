"""Spreadsheets: each sheet a section, each table on it by rows, with its header and its row numbers."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass
from typing import Any

from lxml import etree

from mindscape.ingest.decode import clean
from mindscape.ingest.formats import html, table
from mindscape.ingest.formats.build import MAX_CHARACTERS, TextBuilder
from mindscape.ingest.formats.ooxml import OLE, core_properties, is_encrypted, relations
from mindscape.ingest.formats.opendocument_package import (
    open_package,
    package_properties,
    parts_of,
    properties,
)
from mindscape.ingest.formats.package import Package
from mindscape.ingest.formats.spreadsheet_asides import Aside, office_asides, open_asides
from mindscape.ingest.formats.spreadsheet_macros import with_macros_as_sheets
from mindscape.ingest.formats.spreadsheet_process import messages
from mindscape.ingest.formats.spreadsheet_regions import Merged, SheetWriter
from mindscape.ingest.formats.xml import Element
from mindscape.ingest.media_types import CSV, HTML, ODS, TSV
from mindscape.ingest.parsed import Parsed, ParseFailure, Source
from mindscape_storage.records import Status

_MAX_LINKS = 10_000
_FILEPASS = re.compile(rb"\x09\x08\x10\x00\x00[\x05\x06]\x05\x00.{12}(?:\x86\x00\x00\x00)?\x2f\x00", re.S)
"""How a binary workbook begins that needs a password: the library only says that it cannot read it."""
_BEFORE_EXCEL_5 = re.compile(rb"\x09[\x00\x02\x04][\x04-\x08]\x00")
_LAID_OUT = re.compile(rb"<table:table-row[^>]*>\s+<table:")
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_MANIFEST = '<manifest xmlns="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
MAX_MERGED = 1_000
"""Columns under one cell: a title over more than that is no header."""


def parse(source: Source, media_type: str) -> Parsed:
    """Cells as people see them, as far as the file tells; hidden sheets are read too, and named."""
    data, builder = source.data, TextBuilder()
    metadata: dict[str, Any] = {}
    asides: dict[str, list[Aside]] = {}
    if data.startswith(OLE):
        if is_encrypted(data) or _FILEPASS.search(data):
            raise ParseFailure(Status.PROTECTED, "The workbook needs a password. Save a copy without one.")
    elif data.startswith(b"PK"):
        metadata = _look_into(data, media_type, builder)
        if media_type == ODS:
            data, asides = _opened(data)
        else:
            asides = office_asides(Package(data, "a workbook"))
            data = with_macros_as_sheets(data)
    elif media_type == ODS:
        root, _, _ = parts_of(data)
        metadata = properties(root)
        asides, data = open_asides(root), _packed(root)
    else:
        return _text_under_another_name(source)
    _add_sheets(data, builder, asides)
    return builder.build(media_type, metadata.pop("title", None), metadata)


def _look_into(data: bytes, media_type: str, builder: TextBuilder) -> dict[str, Any]:
    """The properties, and the addresses that sheets link to. Raises ParseFailure for an unsafe package."""
    if media_type == ODS:
        document = open_package(data)
        document.check()
        return package_properties(document)
    package = Package(data, "a workbook")
    package.check()
    for name in package.names:
        if name.startswith("xl/worksheets/") and not name.endswith(".rels"):
            for relation in relations(package, name).values():
                if relation.is_external and relation.kind == "hyperlink" and len(builder.links) < _MAX_LINKS:
                    builder.links[relation.target] = None
    return core_properties(package)


def _opened(data: bytes) -> tuple[bytes, dict[str, list[Aside]]]:
    """The package, packed anew when its cells are laid out with spaces: the library takes them for damage."""
    content = open_package(data).read("content.xml") or b""
    is_laid_out = _LAID_OUT.search(content) is not None
    if not is_laid_out and b":annotation" not in content:
        return data, {}
    root, _, _ = parts_of(data)
    asides = open_asides(root)
    return _packed(root) if is_laid_out else data, asides


def _packed(root: Element) -> bytes:
    """A flat or laid out OpenDocument file as the package that the library reads: without the spaces."""
    for element in root.iter("{*}spreadsheet", f"{_TABLE}*"):
        element.text = None
        for held in element:
            held.tail = None
    package = io.BytesIO()
    with zipfile.ZipFile(package, "w") as archive:
        archive.writestr("mimetype", ODS)
        archive.writestr("META-INF/manifest.xml", _MANIFEST)
        archive.writestr("content.xml", etree.tostring(root))
    return package.getvalue()


def _text_under_another_name(source: Source) -> Parsed:
    """Programs that "export to Excel" often write a web page or plain columns, and call it .xls."""
    head = source.data[:4096]
    if b"urn:schemas-microsoft-com:office:spreadsheet" in head:
        raise ParseFailure(
            Status.UNSUPPORTED, "The file is an Excel 2003 XML workbook. Save it as XLSX to have it indexed."
        )
    if _BEFORE_EXCEL_5.match(head):
        raise ParseFailure(
            Status.UNSUPPORTED,
            "The file is a workbook of Excel 2, 3 or 4. Save it as XLSX in LibreOffice to have it indexed.",
        )
    if b"<html" in head.lower() or b"<table" in head.lower():
        return html.parse(source, HTML)
    try:
        return table.parse(source, TSV if b"\t" in head else CSV)
    except ParseFailure:
        raise ParseFailure(
            Status.DAMAGED,
            "The file is not a workbook, or its beginning is lost. Open it in the program that made it and "
            "save it again.",
        ) from None


def _add_sheets(data: bytes, builder: TextBuilder, asides: dict[str, list[Aside]]) -> None:
    hidden: list[str] = []
    sheet: _Sheet | None = None
    beside: list[Aside] = []
    for message in messages(data):
        if message[0] == "failed":
            builder.warnings.append(f"The sheet “{_cell(message[1])}” is damaged and was left out.")
        elif message[0] == "sheet":
            _, name, is_hidden, first_column, merged = message
            beside = asides.get(name, [])
            sheet = _Sheet(builder, _cell(name), SheetWriter(builder, _merged(merged, first_column)))
            hidden += [_cell(name)] if is_hidden else []
        elif message[0] == "end" and sheet:
            sheet.end(beside)
        elif sheet:
            sheet.add([[_cell(cell) for cell in row] for row in message[1]])
    for aside in asides.get("", ()):
        builder.add("paragraph", aside.text)
    if hidden:
        builder.warnings.append(f"Hidden sheets are indexed too: {', '.join(hidden)}.")


@dataclass(slots=True)
class _Sheet:
    """A sheet that is being read; its name stands above its first row that is not blank."""

    builder: TextBuilder
    heading: str
    writer: SheetWriter
    number: int = 0
    length: int = 0

    def add(self, rows: list[list[str]]) -> None:
        """The next rows."""
        for number, cells in enumerate(rows, self.number + 1):
            if any(cells):
                self._head(number)
            self.writer.add(number, cells)
            self.length += sum(map(len, cells))
        self.number += len(rows)
        if self.length > MAX_CHARACTERS:
            raise ParseFailure(
                Status.TOO_LARGE,
                f"A sheet holds over {MAX_CHARACTERS:,} characters. Split it into smaller files.",
            )

    def end(self, beside: list[Aside]) -> None:
        """Nothing more of the cells: what stands beside them, by its row."""
        self.writer.end()
        for aside in beside:
            self._head(aside.row or 1)
            self.builder.mark("line", str(aside.row) if aside.row else "")
            self.builder.add("paragraph", aside.text)

    def _head(self, number: int) -> None:
        """The name, above row `number`, unless it stands already."""
        if self.heading:
            self.builder.mark("line", str(number))
            self.builder.add("heading", self.heading, level=1)
            self.heading = ""


def _cell(text: str) -> str:
    return " ".join(clean(text).split())


def _merged(ranges: list[list[int]], first_column: int) -> dict[int, Merged]:
    """What is merged, by the number of its first row; columns count from the first one with a cell."""
    found: dict[int, Merged] = {}
    for top, left, bottom, right in ranges:
        depth, covered = found.get(top + 1, (1, frozenset[int]()))
        columns = range(left + 1 - first_column, min(right, left + MAX_MERGED) + 1 - first_column)
        found[top + 1] = (max(depth, bottom - top + 1), covered.union(columns))
    return found
