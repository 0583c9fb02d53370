"""Tests of the daemon over a real socket, with real processes."""
