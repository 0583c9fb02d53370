"""Run every benchmark and write the tables into the README."""

from __future__ import annotations

from tests.benchmarks import (
    bench_background,
    bench_embedding,
    bench_parsing,
    bench_process,
    bench_search,
    bench_tree,
)
from tests.benchmarks.table import markdown, write_readme


def main() -> None:
    """Measure, print, write."""
    rows = [
        *bench_embedding.run(),
        *bench_tree.run(),
        *bench_search.run(),
        *bench_process.run(),
        *bench_background.run(),
    ]
    table = markdown(rows)
    parsing = bench_parsing.markdown(bench_parsing.run())
    print(table, parsing, sep="\n")
    write_readme(table, "benchmarks")
    write_readme(parsing, "parsing")


if __name__ == "__main__":
    main()
