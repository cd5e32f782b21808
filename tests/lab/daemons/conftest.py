"""What the tests with real routing daemons share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import routers


@pytest.fixture(scope="session", autouse=True)
def daemons_are_here() -> None:
    """Fails instead of skipping: `setup/packages test` installs them."""
    missing = list(routers.missing())
    assert not missing, f"not installed: {', '.join(missing)}; run setup/packages test"


@pytest.fixture
def folder(lab: str) -> Iterator[Path]:
    """For the daemons' files. FRR's user can enter it; others' temporary folders it cannot."""
    made = Path(tempfile.mkdtemp(prefix=f"{lab}-"))
    made.chmod(0o755)
    yield made
    shutil.rmtree(made)
