"""Failed assertions in the checkers of the cases say what they compared."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.faults.cases")
