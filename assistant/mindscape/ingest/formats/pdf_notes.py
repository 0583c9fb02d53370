"""What a PDF holds besides its pages' own text: fields, comments, links, page labels, attachments."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from mindscape.ingest.formats.pdf_layout import Piece

_MAX_ANNOTATIONS = 5_000
"""Of one page."""
_MAX_TEXT = 200_000
"""Bytes of one comment or value."""
_HIDDEN = 2
_PASSWORD = 1 << 13
_COMMENTS = (
    pdfium.FPDF_ANNOT_TEXT,
    pdfium.FPDF_ANNOT_FREETEXT,
    pdfium.FPDF_ANNOT_LINE,
    pdfium.FPDF_ANNOT_SQUARE,
    pdfium.FPDF_ANNOT_CIRCLE,
    pdfium.FPDF_ANNOT_POLYGON,
    pdfium.FPDF_ANNOT_POLYLINE,
    pdfium.FPDF_ANNOT_HIGHLIGHT,
    pdfium.FPDF_ANNOT_UNDERLINE,
    pdfium.FPDF_ANNOT_SQUIGGLY,
    pdfium.FPDF_ANNOT_STRIKEOUT,
    pdfium.FPDF_ANNOT_STAMP,
    pdfium.FPDF_ANNOT_CARET,
    pdfium.FPDF_ANNOT_INK,
    pdfium.FPDF_ANNOT_FILEATTACHMENT,
)
_LAST_PART = re.compile(r"([^.\[\]]+)(?:\[\d+\])?$")


@dataclass(frozen=True, slots=True)
class Notes:
    """Of one page."""

    fields: tuple[str, ...] = ()
    """`name: value` of each form field that has one."""
    comments: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    drawn: bool = False
    """Whether there are annotations that show something."""

    @property
    def pieces(self) -> list[Piece]:
        """As they follow the page's own text."""
        fields = [Piece("fields", self.fields, 0.0, 0.0, 0.0)] if self.fields else []
        return fields + [Piece("comment", tuple(said.split("\n")), 0.0, 0.0, 0.0) for said in self.comments]


def notes_of(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> Notes:
    """The fields, comments and links of a page."""
    fields: list[str] = []
    comments: list[str] = []
    links: list[str] = []
    drawn = False
    for annotation in _annotations(page):
        kind = int(pdfium.FPDFAnnot_GetSubtype(annotation))
        if int(pdfium.FPDFAnnot_GetFlags(annotation)) & _HIDDEN:
            continue
        if kind == pdfium.FPDF_ANNOT_WIDGET and document.formenv:
            if value := _field(document.formenv.raw, annotation):
                fields.append(value)
        elif kind == pdfium.FPDF_ANNOT_LINK:
            if address := _address(document.raw, annotation):
                links.append(address)
        elif kind in _COMMENTS:
            drawn = True
            if said := _string(annotation, "Contents"):
                author = _string(annotation, "T").replace("\n", " ")
                comments.append(f"Comment by {author}: {said}" if author else f"Comment: {said}")
    # The same value on several pages, or the same comment twice, is said once for each page.
    unique = [tuple(dict.fromkeys(values)) for values in (fields, comments, links)]
    return Notes(*unique, drawn=drawn)


def _annotations(page: pypdfium2.PdfPage) -> Iterator[Any]:
    for index in range(min(int(pdfium.FPDFPage_GetAnnotCount(page.raw)), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, index)
        if annotation:
            yield annotation
            pdfium.FPDFPage_CloseAnnot(annotation)


def _field(form: Any, annotation: Any) -> str:
    """`name: value`; empty for buttons, signatures, passwords, and fields without a value."""
    kind = int(pdfium.FPDFAnnot_GetFormFieldType(form, annotation))
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        checked = pdfium.FPDFAnnot_IsChecked(form, annotation)
        value = _wide(pdfium.FPDFAnnot_GetFormFieldExportValue, form, annotation) if checked else ""
    elif kind in (
        pdfium.FPDF_FORMFIELD_TEXTFIELD,
        pdfium.FPDF_FORMFIELD_COMBOBOX,
        pdfium.FPDF_FORMFIELD_LISTBOX,
    ):
        if int(pdfium.FPDFAnnot_GetFormFieldFlags(form, annotation)) & _PASSWORD:
            return ""
        value = _wide(pdfium.FPDFAnnot_GetFormFieldValue, form, annotation)
    else:
        return ""
    if not value:
        return ""
    name = _wide(pdfium.FPDFAnnot_GetFormFieldAlternateName, form, annotation)
    if not name:
        full = _wide(pdfium.FPDFAnnot_GetFormFieldName, form, annotation)
        last = _LAST_PART.search(full)
        name = last[1] if last else full
    return " ".join(f"{name}: {value}".split()) if name else " ".join(value.split())


def _address(document: Any, annotation: Any) -> str:
    link = pdfium.FPDFAnnot_GetLink(annotation)
    action = pdfium.FPDFLink_GetAction(link) if link else None
    if not action or pdfium.FPDFAction_GetType(action) != pdfium.PDFACTION_URI:
        return ""
    size = int(pdfium.FPDFAction_GetURIPath(document, action, None, 0))
    held = ctypes.create_string_buffer(min(size, _MAX_TEXT))
    pdfium.FPDFAction_GetURIPath(document, action, held, len(held))
    return held.value.decode("utf-8", "replace").strip()


def _string(annotation: Any, key: str) -> str:
    return _wide(pdfium.FPDFAnnot_GetStringValue, annotation, key.encode())


def _wide(call: Callable[..., int], *arguments: Any) -> str:
    """What one of PDFium's functions writes as UTF-16, with the length asked for first."""
    size = min(int(call(*arguments, None, 0)), _MAX_TEXT)
    held = (ctypes.c_ushort * (size // 2 + 1))()
    call(*arguments, held, size)
    text = bytes(held).decode("utf-16-le", "replace").partition("\0")[0]
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def labels_of(document: pypdfium2.PdfDocument) -> list[str]:
    """What the pages are called, such as i, ii, 1; their numbers where two would be called the same."""
    count = len(document)
    labels = [_label(document, index) for index in range(count)]
    if all(labels) and len(set(labels)) == count:
        return labels
    return [str(index + 1) for index in range(count)]


def _label(document: pypdfium2.PdfDocument, index: int) -> str:
    size = min(int(pdfium.FPDF_GetPageLabel(document.raw, index, None, 0)), 200)
    held = ctypes.create_string_buffer(size + 2)
    pdfium.FPDF_GetPageLabel(document.raw, index, held, size)
    return " ".join(held.raw.decode("utf-16-le", "replace").partition("\0")[0].split())


def attachments_of(document: pypdfium2.PdfDocument) -> list[str]:
    """The names of the files inside the document."""
    names: list[str] = []
    for index in range(min(int(pdfium.FPDFDoc_GetAttachmentCount(document.raw)), _MAX_ANNOTATIONS)):
        attachment = pdfium.FPDFDoc_GetAttachment(document.raw, index)
        if attachment:
            names.append(" ".join(_wide(pdfium.FPDFAttachment_GetName, attachment).split()) or "unnamed")
    return names


def language_of(document: pypdfium2.PdfDocument) -> str:
    """As the document says it, such as `en-GB`; empty when it does not."""
    return _wide(pdfium.FPDFCatalog_GetLanguage, document.raw)


def is_dynamic_form(document: pypdfium2.PdfDocument) -> bool:
    """Whether its pages are made by Adobe Reader when it is opened there (XFA)."""
    return int(pdfium.FPDF_GetFormType(document.raw)) in (
        pdfium.FORMTYPE_XFA_FULL,
        pdfium.FORMTYPE_XFA_FOREGROUND,
    )
