"""`python -m mindscape`: the same as the `mindscape` command."""

from __future__ import annotations

import sys

from mindscape.cli import main

sys.exit(main())
