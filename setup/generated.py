"""Writes the generated sources of a build folder, without compiling anything."""

import re
import subprocess
import sys
from pathlib import Path


def write_generated(folder: Path) -> None:
    """Runs what must be there before the first object of a target is compiled."""
    ninja = ["ninja", "-C", folder]
    targets = subprocess.check_output([*ninja, "-t", "targets", "all"], text=True)
    # CMake's own names, of the rooms: programs come after libraries that others load.
    before = re.findall(r"^cmake_object_order_depends_target_viaduct_\w+", targets, re.MULTILINE)
    if not before:
        sys.exit("this CMake has no targets cmake_object_order_depends_target_viaduct_*")
    subprocess.run([*ninja, *before], check=True, stdout=subprocess.DEVNULL)
