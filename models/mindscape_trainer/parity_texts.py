"""Texts on which an exported embedder is compared with the original: ordinary, long and odd."""

from __future__ import annotations

PARITY_TEXTS: tuple[str, ...] = (
    "The ferry leaves at half past six.",
    "Who repaired the lighthouse lamp after the storm of 1911?",
    "The committee met on the first Tuesday of March. It agreed to repair the harbour wall before winter, to "
    "ask the county for half of the cost, and to let the old boathouse to the rowing club for another five "
    "years. Two members voted against, because the estimate of the builder was older than a year.",
    "# Sourdough\n\n- 500 g flour\n- 350 g water\n- 10 g salt\n\nFold every half hour, four times; then into "
    "the fridge overnight. [[Bread log]] #baking",
    "def area(radius: float) -> float:\n    return 3.14159 * radius ** 2\n\nprint(area(2))",
    "| year | revenue | cost |\n|---|---|---|\n| 2019 | 1,204 | 988 |\n| 2020 | 1,377 | 1,015 |",
    "今天我们讨论了图书馆的搬迁计划,预算是三万元,负责人是李老师。",
    "東京の図書館は月曜日に休みます。",
    "Съезд назначен на пятое октября; билеты уже куплены.",
    "Übung macht den Meister, sagte die naïve Café-Besitzerin: déjà vu!",
    "Great party 🎉🎉 see you on Friday 🙂",
    "a",
    "!",
    "1 2 3 4 5 6 7 8 9 10",
    "x" * 150,
    " ".join(
        f"On day {day} the keeper noted wind from the north and {day * 3} ships." for day in range(1, 61)
    ),
    " ".join(["The tide came in, and the tide went out again."] * 120) + " The key is under the blue stone.",
)
