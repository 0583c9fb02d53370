"""`python -m mindscape.daemon`."""

from mindscape.daemon.main import main

if __name__ == "__main__":
    raise SystemExit(main())
