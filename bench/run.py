#!/usr/bin/python3
"""What `viaduct bench` runs, for those who want it without the command: run.py NAME [--quick]."""

import os
import signal
import sys

from harness.cli import main

if __name__ == "__main__":
    try:
        try:
            status = main()
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # the reader of the output has exited (| head)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = 128 + signal.SIGPIPE
    sys.exit(status)
