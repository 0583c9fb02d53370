"""Tests, benchmarks and the demo (a package, so that `python -m tests.demo` finds this one)."""
