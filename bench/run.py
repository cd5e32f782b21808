#!/usr/bin/python3
"""What `viaduct bench` runs, for those who want it without the command: run.py NAME [--quick]."""

import sys

from harness.cli import main

if __name__ == "__main__":
    sys.exit(main())
