"""Nothing is left of what was killed, whichever process at whatever instant (tests/kill9.py)."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest
from labs import execute, viaduct

TRIALS = 8  # of each kind


@pytest.mark.parametrize(
    "kind", ["lab", "run", "shell", "path", "hub", "join", "kernel", "kernelshell"]
)
def test_nothing_is_left_of_what_is_killed(kind: str, lab: str) -> None:
    if kind.startswith("kernel") and "release" not in viaduct("kernel", "list").output:
        pytest.skip("no kernel for guests: viaduct kernel build")
    seed = random.SystemRandom().randrange(10**6)
    script = str(Path(__file__).parents[1] / "kill9.py")
    words = ["--kinds", kind, "--count", str(TRIALS), "--seed", str(seed)]
    done = execute([sys.executable, script, *words], timeout=900)
    assert done.status == 0, f"seed {seed}\n{done}"
