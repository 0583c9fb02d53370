"""The letter about the room, as a Word document with the same bytes every time."""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from pathlib import Path

import docx

_MOMENT = datetime(2024, 4, 2, 9, 30)

HEAD = ("Gwen Pell", "The Net Loft, 3 Cold Row", "Hythe Ness, Isle of Skarne")
DATE = "2 April 2024"
BODY = (
    "Dear Ms Aldane,",
    "Thank you for your letter of 21 March. I am glad to keep the upstairs room for the two of you "
    "from Saturday 18 May to Saturday 25 May 2024, which makes seven nights.",
    "To hold the room I ask for a deposit of 120 euros, to be paid by bank transfer before 26 April. "
    "The rest of the bill can wait until you leave; I take cards now, though the machine sulks in an "
    "east wind.",
    "You asked about the heating. There is a wood stove in the room and a basket of split larch "
    "beside it, and I bring up a second basket each evening. The bath is on the landing and the water "
    "is hot after six.",
    "My brother-in-law Idris has put you down for a morning at the mill. He asks you to bring boots, "
    "for the wheel pit floods to the ankle at springs, and he says that the share register may be "
    "read but not photographed with a flash.",
)
SUPPER_INTRO = "Supper is at seven. These are the evenings already fixed:"
SUPPERS = (
    ("Evening", "Supper"),
    ("Saturday 18 May", "Fish pie with samphire"),
    ("Monday 20 May", "Barley broth and oat bread"),
    ("Thursday 23 May", "Roast hogget, new potatoes"),
)
CLOSE = (
    "If the crossing is put off for weather, do not fret about the room. I shall see the boat turn "
    "back from my kitchen window and keep your supper for the next day.",
    "With good wishes,",
    "Gwen Pell",
)


def write_letter(path: Path) -> None:
    """Write the letter to `path`."""
    document = docx.Document()
    properties = document.core_properties
    properties.title = "Letter about the room at the Net Loft"
    properties.author = "Gwen Pell"
    properties.created = properties.modified = _MOMENT
    document.add_heading("The Net Loft, Skarne", level=1)
    for line in (*HEAD, DATE, *BODY, SUPPER_INTRO):
        document.add_paragraph(line)
    table = document.add_table(rows=0, cols=2)
    for row in SUPPERS:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    for line in CLOSE:
        document.add_paragraph(line)
    buffer = io.BytesIO()
    document.save(buffer)
    path.write_bytes(_dated(buffer.getvalue()))


def _dated(package: bytes) -> bytes:
    """The same package with every entry dated alike; python-docx writes the time of saving."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(package)) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            entry = zipfile.ZipInfo(name, _MOMENT.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, old.read(name))
    return result.getvalue()
