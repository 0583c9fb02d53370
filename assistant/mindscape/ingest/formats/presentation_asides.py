"""What a PowerPoint slide refers to: notes, comments, charts and diagrams."""

from __future__ import annotations

from dataclasses import dataclass, field

from mindscape.ingest.formats.build import TextBuilder, collapsed
from mindscape.ingest.formats.ooxml import part_tree, relations
from mindscape.ingest.formats.package import Package
from mindscape.ingest.formats.rows import table_block
from mindscape.ingest.formats.xml import Element, attribute, inner_text, local_name
from mindscape.ingest.parsed import ParseFailure
from mindscape_storage.records import Status

_MAX_POINTS = 2_000


def part_or_none(package: Package, name: str) -> Element | None:
    """The root of a part that the slide can be read without: None where it is missing or damaged."""
    try:
        return part_tree(package, name)
    except ParseFailure as failure:
        if failure.status is not Status.DAMAGED:
            raise
        return None


def notes_text(package: Package, name: str) -> str:
    """What the speaker has written under the slide."""
    root = part_or_none(package, name)
    texts: list[str] = []
    for shape in root.iter("{*}sp") if root is not None else ():
        if any(attribute(held, "type") == "body" for held in shape.iter("{*}ph")):
            texts += [_text(paragraph) for paragraph in shape.iter("{*}p")]
    return collapsed("\n".join(texts))


def diagram_texts(package: Package, name: str) -> list[str]:
    """The boxes of a diagram (SmartArt), without those that only carry its layout."""
    root = part_or_none(package, name)
    texts: list[str] = []
    for point in root.iter("{*}pt") if root is not None else ():
        if point.get("type") in (None, "node", "asst"):
            texts.append(collapsed(" ".join(_text(paragraph) for paragraph in point.iter("{*}p"))))
    return [text for text in texts if text]


def add_chart(package: Package, name: str, builder: TextBuilder) -> None:
    """A chart as the table it was drawn from: a row for each category, a column for each series."""
    root = part_or_none(package, name)
    if root is None:
        builder.warnings.append("A chart is not in the file, or is damaged.")
        return
    title = next((held for held in root.iter("{*}title")), None)
    caption = " ".join(_text(held) for held in title.iter("{*}p")) if title is not None else ""
    series = list(root.iter("{*}ser"))
    labels: dict[int, str] = {}
    for held in series:
        labels = labels or _points(held, "cat") or _points(held, "xVal")
    columns = [_points(held, "val") or _points(held, "yVal") for held in series]
    names = [_first(_points(held, "tx")) for held in series]
    places = sorted(set(labels).union(*columns))[:_MAX_POINTS]
    rows = [[labels.get(at, ""), *(column.get(at, "") for column in columns)] for at in places]
    if rows:
        table_block(builder, [["", *names], *rows] if any(names) else rows, caption, bool(any(names)))
    else:
        builder.add("paragraph", caption)


@dataclass(slots=True)
class Comments:
    """Comments of the slides, with the names of their authors."""

    package: Package
    main: str
    _authors: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """Read who has written comments at all."""
        for relation in relations(self.package, self.main).values():
            if relation.kind in ("commentAuthors", "authors"):
                root = part_or_none(self.package, relation.target)
                for author in root if root is not None else ():
                    self._authors[attribute(author, "id") or ""] = attribute(author, "name") or ""

    def add(self, slide: str, builder: TextBuilder) -> None:
        """Append the comments on a slide, and the answers to them."""
        for relation in relations(self.package, slide).values():
            root = part_or_none(self.package, relation.target) if relation.kind == "comments" else None
            for comment in root.iter("{*}cm", "{*}reply") if root is not None else ():
                author = self._authors.get(comment.get("authorId") or "", "")[:100]
                text = " ".join(
                    collapsed(inner_text(held)) for held in comment if local_name(held) in ("text", "txBody")
                )
                label = f"Comment by {author}" if author else "Comment"
                builder.add("paragraph", f"[{label}] {text}" if text else "")


def _points(series: Element, name: str) -> dict[int, str]:
    """The values that the chart keeps of a range, by their place."""
    values: dict[int, str] = {}
    for held in series.iterchildren(f"{{*}}{name}"):
        for point in held.iter("{*}pt"):
            place = point.get("idx") or "0"
            text = next((collapsed(inner_text(value)) for value in point.iterchildren("{*}v")), "")
            if place.isdecimal() and text:
                values[int(place[:9])] = _shown(text)
        if not values and name == "tx":
            values = {0: collapsed(inner_text(held))}
    return values


def _first(values: dict[int, str]) -> str:
    return next(iter(values.values()), "")


def _shown(text: str) -> str:
    """A number as people see it: charts keep 0.1 + 0.2 with all its digits."""
    try:
        return f"{float(text):.12g}" if len(text) > 12 and "." in text else text
    except ValueError:
        return text


def _text(paragraph: Element) -> str:
    return "".join(held.text or "" for held in paragraph.iter("{*}t"))
