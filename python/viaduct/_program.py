"""The script `viaduct` of the binary wheel: executes the command that the wheel has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

OWN = Path(__file__).resolve().parent / "_prefix/bin/viaduct"


def main() -> None:
    """Becomes the command, which executes sweeps and views with this Python."""
    os.environ.setdefault("VIADUCT_PYTHON", sys.executable)
    try:
        os.execv(OWN, ["viaduct", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"viaduct: {OWN}: {error.strerror}; install the wheel again")
