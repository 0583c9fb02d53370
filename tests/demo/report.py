"""The annual report of the mill: its words and numbers, and the PDF made of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.lib.units import cm
from reportlab.platypus import KeepTogether, Paragraph, SimpleDocTemplate, Spacer, Table, TableStyle

TITLE = "Skarne Mill Cooperative: Annual Report 2023"


@dataclass(frozen=True, slots=True)
class Figures:
    """A table: its caption and its rows, the first of which is the header."""

    caption: str
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A numbered part of the report."""

    heading: str
    paragraphs: tuple[str, ...]
    tables: tuple[Figures, ...] = ()


ENERGY = Figures(
    "Table 1. Electricity and flour by quarter, 2023",
    (
        ("Quarter", "Hours of turbine", "Electricity (MWh)", "Flour ground (kg)"),
        ("January to March", "982", "38.4", "2,150"),
        ("April to June", "1,016", "41.7", "3,480"),
        ("July to September", "874", "33.9", "4,260"),
        ("October to December", "1,005", "40.2", "2,910"),
        ("Whole year", "3,877", "154.2", "12,800"),
    ),
)
VISITORS = Figures(
    "Table 2. Visitors and tours, 2019 to 2023",
    (
        ("Year", "Visitors", "Guided tours", "School groups"),
        ("2019", "5,140", "212", "31"),
        ("2020", "860", "19", "0"),
        ("2021", "3,275", "134", "12"),
        ("2022", "5,690", "241", "34"),
        ("2023", "6,415", "263", "37"),
    ),
)
WORKS = Figures(
    "Table 3. Works decided for 2024 to 2026",
    (
        ("Work", "Year", "Done by", "Cost in euros"),
        ("Dredging of the upper pool", "2024", "Maddern Harbour Works", "31,250"),
        ("New oak sluice gate", "2025", "Wrenfield and Daughters", "48,600"),
        ("Eel ladder, second flight", "2025", "our own hands", "7,900"),
        ("Slates of the north roof", "2026", "Ness Roofing", "22,400"),
        ("All works", "", "", "110,150"),
    ),
)
ACCOUNTS = Figures(
    "Table 4. Income and spending, 2023, in euros",
    (
        ("Line", "Income", "Spending"),
        ("Electricity sold to the island grid", "29,298", ""),
        ("Flour and bread", "38,720", ""),
        ("Tours and gifts", "27,482", ""),
        ("Wages of the keeper and two hands", "", "58,900"),
        ("Repairs and tools", "", "14,260"),
        ("Grain", "", "9,340"),
        ("Total", "95,500", "82,500"),
    ),
)

PARTS = (
    Part(
        "1. The year in brief",
        (
            "The mill ground on 301 days in 2023 and stood still on 64, of which 41 were neap tides "
            "too weak to turn Patience and 23 were repairs. It was the first year since the reopening "
            "in which electricity and flour together paid the keeper's wages without help from gifts.",
            "Membership rose from 214 to 229. Three members died in the year: Olwen Dallin, who kept "
            "the accounts for nineteen years, Piet Sandoe of Under Brae, and Marit Quill, whose share "
            "passes to her daughter Runa. The committee met eleven times, twice by candle, the second "
            "time on purpose.",
            "The wet autumn of 2023 brought the highest tide measured at the wall since the gauge was "
            "set in 1987: 5.62 metres on the morning of 28 October. The water stood a hand below the "
            "top of the wall for forty minutes. Nothing was lost but a bench.",
        ),
    ),
    Part(
        "2. Electricity and flour",
        (
            "The turbine ran well. The long stop in August was planned: the lower bearing was drawn, "
            "measured and put back with new seals by our own people in nine days. Flour was strongest "
            "in the third quarter, as always, because visitors carry it away in their bags.",
            "We bought 14.6 tonnes of grain, all of it from six farms on the island. The share of old "
            "Skarne bere barley rose to a third of what we ground. The bakery at Cold Row took 5.1 "
            "tonnes of flour and the ferry kitchen 0.9 tonnes.",
        ),
        (ENERGY,),
    ),
    Part(
        "3. Visitors",
        (
            "More people came than in any year on record. The tours of the wheel pit are limited to "
            "nine persons because of the ladder, so that July and August were full by the end of May. "
            "The committee decided to keep the limit and to add a late tour on days when the evening "
            "ebb allows it.",
            "Schools come from as far as the mainland towns. The children's favourite, by their own "
            "drawings, is neither the wheel nor the stones but the eel ladder, followed by the cat.",
        ),
        (VISITORS,),
    ),
    Part(
        "4. Works",
        (
            "The survey of March 2023 found the middle gate sound, the seaward gate worn by ship-worm "
            "to two thirds of its thickness, and the wall itself in better order than its age would "
            "suggest. The members voted on 4 November, 97 to 12, to do the works of Table 3 in the "
            "order given.",
            "Oak for the gate has been ordered green from the estate at Larrow and must season for "
            "fourteen months in the boat shed. Until it is hung, the keeper closes the seaward gate "
            "by hand on tides above 5.3 metres and two members stand by with bags of clay.",
        ),
        (WORKS,),
    ),
    Part(
        "5. Accounts",
        (
            "Income was 95,500 euros and spending 82,500, so that 13,000 euros go into the fund for "
            "the works. The price per kilowatt-hour agreed with the island grid stays at 19 cents "
            "until the end of 2025. The auditors, Sine Garrow and Tam Oakes, found the books in order "
            "and one receipt in the oat bin.",
            "By the ninth rule one sack of flour was laid on the wall on the longest night. It was "
            "gone by morning.",
        ),
        (ACCOUNTS,),
    ),
    Part(
        "6. The year ahead",
        (
            "Dredging of the upper pool begins after the last spring tide of April 2024. The mill "
            "will be shut to visitors for twelve days, and the dates will be chalked on the board and "
            "posted at the pier.",
            "In the autumn the committee will propose a second apprentice. The keeper has asked that "
            "the post be open to anyone who can carry a sack up the ladder, read a tide table and "
            "keep a log that other people can read.",
        ),
    ),
)


def write_report(path: Path) -> None:
    """Write the report to `path`; `invariant` keeps the date of printing out of the file."""
    document = SimpleDocTemplate(
        str(path), pagesize=A4, title=TITLE, author="Skarne Mill Cooperative", invariant=1
    )
    styles = getSampleStyleSheet()
    story: list[Any] = [Paragraph(TITLE, styles["Title"]), Spacer(1, 0.4 * cm)]
    for part in PARTS:
        story.append(Paragraph(part.heading, styles["Heading2"]))
        for text in part.paragraphs:
            story += [Paragraph(text, styles["BodyText"]), Spacer(1, 0.2 * cm)]
        for figures in part.tables:
            story += [_drawn(figures, styles), Spacer(1, 0.5 * cm)]
    document.build(story)


def _drawn(figures: Figures, styles: Any) -> KeepTogether:
    table = Table([list(row) for row in figures.rows], hAlign="LEFT")
    table.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.5, colors.grey),
                ("BACKGROUND", (0, 0), (-1, 0), colors.whitesmoke),
                ("FONTNAME", (0, 0), (-1, 0), "Helvetica-Bold"),
                ("ALIGN", (1, 0), (-1, -1), "RIGHT"),
            ]
        )
    )
    return KeepTogether([Paragraph(figures.caption, styles["Heading4"]), table])
