"""Sheets of Excel 4 macros: for the library, which knows none and gives up, they are sheets like others."""

from __future__ import annotations

import io
import zipfile
import zlib

_FOLDER, _PUT_AT = "xl/macrosheets/", "xl/worksheets/macro-"
_RELATIONS = "xl/_rels/workbook."
_KIND = b"http://schemas.microsoft.com/office/2006/relationships/xlMacrosheet"
_SHEET = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet"


def with_macros_as_sheets(data: bytes) -> bytes:
    """The package, packed anew when it holds such sheets; as it is when a part cannot be unpacked."""
    if _FOLDER.encode() not in data:
        return data
    packed = io.BytesIO()
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
            for name in old.namelist():
                held = old.read(name)
                if name.startswith(_RELATIONS):
                    held = held.replace(b"macrosheets/", b"worksheets/macro-").replace(_KIND, _SHEET)
                new.writestr(name.replace(_FOLDER, _PUT_AT), held)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError):
        return data
    return packed.getvalue()
