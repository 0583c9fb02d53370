"""The library brings its own SQLite: what Python was built with does not matter."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys, types
bare = sys.modules["sqlite3"] = types.ModuleType("sqlite3")
bare.Connection = object  # all that is used of it: a name in an annotation
from pathlib import Path
from mindscape_storage.database import open_writer
conn = open_writer(Path(sys.argv[1]))
print(conn.execute("SELECT vec_version(), sqlite_compileoption_used('ENABLE_FTS5')").fetchall())
"""


def test_a_python_that_loads_no_extensions_will_do(tmp_path: Path) -> None:
    command = [sys.executable, "-c", CODE, str(tmp_path / "library.db")]
    path = {"PYTHONPATH": str(Path(__file__).parents[2] / "storage")}
    done = subprocess.run(command, capture_output=True, text=True, env=path)
    assert done.stdout.strip() == "[('v0.1.9', 1)]", done.stderr
