"""`python3 -m viaduct ...`: the subcommands that are written in Python; the command does others."""

import os
import sys
from pathlib import Path

if not __package__:  # executed by its path, as the command does
    sys.path[0] = str(Path(__file__).resolve().parent.parent)

try:
    from viaduct import _command, _compare, _plot, _sweep, _view
except ModuleNotFoundError as error:  # as after pip install --no-deps
    sys.exit(f"viaduct: {sys.executable} has no module {error.name}; pip install PyYAML")

if __name__ == "__main__":
    _name = sys.argv[1] if len(sys.argv) > 1 else ""
    _known = {
        "sweep": _sweep.main,
        "compare": _compare.main,
        "plot": _plot.main,
        "view": _view.main,
    }
    with _command.main_errors(_name):
        if _name not in _known:
            os.execvp(_command.command(), ["viaduct", *sys.argv[1:]])
        sys.exit(_known[_name](sys.argv[2:]))
