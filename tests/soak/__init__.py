"""A real daemon over a folder that changes at random, killed at random: `python -m tests.soak`."""
