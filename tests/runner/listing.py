"""A pytest plugin: what was collected and what became of each test, a JSON line each, at once.

Unlike pytest's own report, the file is there after a crash, an exit or a timeout. Its place is
VIADUCT_TESTS_LISTING. With xdist only the process that hands the tests out writes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runner.tally import FAILED, PASSED, SKIPPED, Tally

PLACE = "VIADUCT_TESTS_LISTING"


def _write(**entry: object) -> None:
    with Path(os.environ[PLACE]).open("a") as file:
        file.write(json.dumps(entry) + "\n")


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _message(report: Any) -> str:
    """The last line that says what was wrong, and for a skip its reason."""
    text = report.longrepr
    if isinstance(text, tuple):
        return str(text[-1]).removeprefix("Skipped: ")
    crash = getattr(text, "reprcrash", None)
    return str(crash.message if crash else text or "")


class Plugin:
    """The hooks of the process that reports."""

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Files that cannot be imported, or skip themselves."""
        if report.outcome in (FAILED, SKIPPED):
            _write(id=report.nodeid, word=report.outcome, why=_message(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Set-up, call and teardown of each test."""
        if report.outcome != PASSED or report.when == "teardown":
            notes = dict(report.user_properties)
            _write(id=report.nodeid, word=report.outcome, why=_message(report), notes=notes)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """The tests to run, where there are no workers."""
        _write(collected=[item.nodeid for item in session.items])


class Workers:
    """The hook of xdist, where there is one."""

    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """The tests to run."""
        _write(collected=ids)


def pytest_configure(config: pytest.Config) -> None:
    """Registers the hooks."""
    if _is_worker(config) or PLACE not in os.environ:
        return
    config.pluginmanager.register(Plugin(), "viaduct-listing")
    if config.pluginmanager.hasplugin("dsession") or getattr(config.option, "dist", "no") != "no":
        config.pluginmanager.register(Workers(), "viaduct-listing-workers")


def name_of(node: str) -> str:
    """The name of a test that pytest calls FILE::TEST."""
    file, _, test = node.partition("::")
    module = file.removesuffix(".py").replace("/", ".")
    return f"e2e:{module}.{test.replace('::', '.')}" if test else f"e2e:{module}"


def read(text: str) -> tuple[Tally, dict[str, str]]:
    """What the lines say; and of failed tests that depend on real time the words that run them."""
    tally, again = Tally(), {}
    collected: set[str] = set()
    for line in text.splitlines():
        entry = json.loads(line)
        if "collected" in entry:
            collected |= set(entry["collected"])
            continue
        name, word, why = name_of(entry["id"]), entry["word"], entry["why"]
        if word == FAILED:
            tally.fail(name, why)
        elif tally.of(name)[0] not in (FAILED, SKIPPED):
            tally.results[name] = word, why
        notes = entry.get("notes", {})
        if notes.get("real-time"):
            again[name] = notes["real-time"]
        if tally.of(name)[0] == FAILED and notes.get("stalls"):
            tally.results[name] = FAILED, f"{tally.of(name)[1]} ({notes['stalls']})"
    for node in collected:
        if name_of(node) not in tally.results:
            tally.fail(name_of(node), "it was collected and did not run to its end")
    return tally, {name: words for name, words in again.items() if tally.of(name)[0] == FAILED}
