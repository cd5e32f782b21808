"""Viaduct from Python: runs, labs, paths and shells, topologies, sweeps and comparisons.

Everything is done by the command `viaduct`, which must be in PATH (or named by $VIADUCT).
"""

from ._command import ViaductError
from ._live import Lab, Path, Shell, lab, path, shell
from ._result import Result, run
from ._topology import Topology

__all__ = [
    "Lab",
    "Path",
    "Result",
    "Shell",
    "Topology",
    "ViaductError",
    "lab",
    "path",
    "run",
    "shell",
]
