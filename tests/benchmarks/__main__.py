"""Run every benchmark and write the table into the README."""

from __future__ import annotations

from tests.benchmarks import bench_embedding, bench_process, bench_search
from tests.benchmarks.table import markdown, write_readme


def main() -> None:
    """Measure, print, write."""
    rows = [*bench_embedding.run(), *bench_search.run(), *bench_process.run()]
    table = markdown(rows)
    print(table)
    write_readme(table)


if __name__ == "__main__":
    main()
