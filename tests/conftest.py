"""Fixtures of the end-to-end tests: a lab's name, a scenario file, nothing left behind."""

from __future__ import annotations

import os
import textwrap
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import labs
import pytest
import stalls
from wires import Tap, Wires

labs.settle()
if os.getuid() == 0:
    labs.enter_machine()
# Under sudo the command would be the caller's in every test.
for _name in ("SUDO_UID", "SUDO_GID", "SUDO_USER", "SUDO_COMMAND"):
    os.environ.pop(_name, None)

# Each test gets a new name that is unique on this machine.
_PREFIX = f"e{os.getpid() % 100000}x"
_count = 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Real namespaces need root; without it the tests that need it are skipped."""
    if os.getuid() == 0:
        return
    for item in items:
        if "lab" in getattr(item, "fixturenames", []):
            item.add_marker(pytest.mark.skip(reason="needs root"))


_TAINTED: set[str] = set()  # fixtures of several tests that have made something in real time
_REAL_TIME = pytest.StashKey[tuple[stalls.Watch, dict[str, int]]]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Begins to watch whether the test makes something that lives in real time."""
    item.stash[_REAL_TIME] = stalls.Watch(), labs.made()
    item.stash[_REAL_TIME][0].begin()


@pytest.hookimpl(hookwrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Generator[None, Any, None]:
    """Notes fixtures of several tests that make something in real time."""
    before = labs.made()
    yield
    if fixturedef.scope != "function" and labs.made() != before:
        _TAINTED.add(fixturedef.argname)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, Any, None]:
    """Notes in the report that the test depends on real time, and stalls of the machine.

    It does if it made a namespace or a record of something that runs, or is marked `alone`.
    tests/run-tests runs such a test again.
    """
    outcome = yield
    if call.when == "teardown" and _REAL_TIME in item.stash:
        watch, before = item.stash[_REAL_TIME]
        watch.end()
        report = outcome.get_result()
        # What is left behind was waited for already, and may be another test's.
        left = report.failed and "left behind" in report.longreprtext
        tainted = _TAINTED.intersection(getattr(item, "fixturenames", ()))
        real = labs.made() != before or tainted or item.get_closest_marker("alone")
        if real and not left:
            place = f"{item.path}::{item.nodeid.partition('::')[2]}"
            report.user_properties += [("real-time", place), ("stalls", str(watch))]


@pytest.fixture
def lab() -> str:
    """The name for a lab, short, never used before. A test that uses it needs root.

    What a test makes outside of labs bears the name too: others' objects are known by it.
    """
    global _count
    _count += 1
    return f"{_PREFIX}{_count}"


@pytest.fixture
def scenario(lab: str, tmp_path: Path) -> Callable[[str], Path]:
    """Writes a scenario file; its name is the lab's."""

    def write(text: str) -> Path:
        file = tmp_path / f"{lab}.yaml"
        file.write_text(f"name: {lab}\n" + textwrap.dedent(text))
        return file

    return write


@pytest.fixture(scope="session", autouse=True)
def leaves_nothing_at_last() -> Iterator[None]:
    """Fails the last test if one that has no lab left a namespace or a record."""
    yield
    left = sorted(labs.namespaces() | labs.records()) if os.getuid() == 0 else []
    if left:
        pytest.fail("left behind: " + "; ".join(left))


@pytest.fixture(autouse=True)
def leaves_nothing(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fails a test that leaves a namespace, link, process, or record."""
    if "lab" not in request.fixturenames:
        yield
        return
    before = labs.Footprint.now()
    yield
    left = labs.Footprint.now().since(before)
    end = time.monotonic() + labs.TIMEOUT  # a broker whose client was killed cleans up by itself
    while left and time.monotonic() < end:
        time.sleep(0.1)
        left = labs.Footprint.now().since(before)
    if left:
        labs.remove(left)
        pytest.fail("left behind: " + "; ".join(left))


@pytest.fixture
def wires(lab: str) -> Iterator[Wires]:
    """Two hosts and an emulator."""
    made = Wires.make(lab)
    yield made
    made.remove()


@pytest.fixture
def taps(wires: Wires) -> Iterator[tuple[Tap, Tap]]:
    """The hosts' ends of the cables."""
    pair = Tap(wires.left, "eth0"), Tap(wires.right, "eth0")
    yield pair
    for tap in pair:
        tap.close()
