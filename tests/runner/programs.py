"""Runs test programs, GoogleTest's and ns-3's, and reads their reports."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from runner.tally import FAILED, PASSED, SKIPPED, Tally

REPOSITORY = Path(__file__).resolve().parent.parent.parent
TIMEOUT = 300  # seconds without a word; a hang is a failure, not a stuck CI
LONGEST = 3600  # seconds, whatever the program says
# Suites of the module that depend on real time.
REAL_TIME_SUITES = re.compile(
    r"viaduct-(reactor|burst-port|header-only|lab-fd-net-device|interface-(departures|stamps|port)"
    r"|(host|ring|tap)-.*)"
)


@dataclass
class Ended:
    """How a test program ended."""

    status: int | None  # None: killed after its time
    output: str

    def trouble(self) -> str:
        """Why the status alone says the program went wrong."""
        if self.status is None:
            return "printed nothing for too long, killed"
        how = f"signal {-self.status}" if self.status < 0 else f"exit status {self.status}"
        last = self.output.strip().splitlines()[-1:] or ["no output"]
        return f"{how}: {last[0]}"

    def is_crash(self) -> bool:
        """Whether it ended otherwise than a program does that has run and reported its tests."""
        return self.status not in (0, 1)


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kills a process that leads a session, and what it has started there."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def execute(command: list[str], timeout: float, as_user: bool = False) -> Ended:
    """Runs a test program; as the user behind sudo where asked and there is one.

    It hangs if it prints nothing for `timeout` seconds: test programs name each test as it begins,
    and how long all of them take together depends on the machine and what else it does. What the
    program started and left behind is not waited for.
    """
    identity: dict[str, int] = {}
    if as_user and os.getuid() == 0 and "SUDO_UID" in os.environ:
        identity = {"user": int(os.environ["SUDO_UID"]), "group": int(os.environ["SUDO_GID"])}
    output = b""
    began = spoke = time.monotonic()
    try:
        process = subprocess.Popen(
            command,
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **identity,
        )
    except OSError as error:
        return Ended(127, str(error))
    with process:
        assert process.stdout
        try:
            while time.monotonic() < min(spoke + timeout, began + LONGEST):
                over = process.poll() is not None
                if select.select([process.stdout], [], [], 0 if over else 0.2)[0]:
                    printed = os.read(process.stdout.fileno(), 1 << 16)
                    output += printed
                    spoke = time.monotonic()
                    over = not printed
                if over:
                    return Ended(process.wait(), output.decode(errors="replace"))
            return Ended(None, output.decode(errors="replace"))
        finally:
            kill_group(process)


def instrumented(build: Path) -> list[str]:
    """What to put before a program of this build folder.

    ThreadSanitizer of GCC 12 and clang 14 needs its shadow memory where kernels with 32 bits of
    address randomness may put something else: without randomness it always finds it free.
    """
    return ["setarch", "-R"] if build.name.endswith("tsan") else []


def with_trouble(tally: Tally, name: str, ended: Ended) -> Tally:
    """Adds what only the end of the program tells."""
    if ended.is_crash() or (ended.status != 0 and not tally.names(FAILED)):
        tally.fail(name, ended.trouble())
        tally.whole.add(name)
    elif not tally.results:
        tally.fail(name, "reports no test at all")
        tally.whole.add(name)
    if tally.names(FAILED):
        print(ended.output)
    return tally


def read_gtest(report: Path, name: str) -> Tally:
    """Counts a GoogleTest JSON report; nothing if it is not whole."""
    tally = Tally()
    try:
        suites = json.loads(report.read_text(errors="replace"))["testsuites"]
    except (OSError, ValueError, KeyError):
        return tally
    for suite in suites:
        for test in suite["testsuite"]:
            test_name = f"{name}:{suite['name']}.{test['name']}"
            if test.get("failures"):
                tally.note(test_name, FAILED, test["failures"][0]["failure"])
            elif test["result"] == "SKIPPED":
                messages = [part.get("message", "") for part in test.get("skipped", [])]
                tally.note(test_name, SKIPPED, "; ".join(messages).strip())
            elif test["status"] == "NOTRUN":
                tally.note(test_name, SKIPPED, "disabled")
            else:
                tally.note(test_name, PASSED)
    return tally


def run_gtest(program: Path, kind: str, scratch: Path, only: str = "*") -> Tally:
    """Runs a GoogleTest program, or one test of it."""
    name = f"{kind}:{program.name}"
    report = scratch / f"{program.name}.json"
    report.unlink(missing_ok=True)
    command = [*instrumented(program.parent), str(program), f"--gtest_output=json:{report}"]
    command += [f"--gtest_filter={only}"]
    ended = execute(command, TIMEOUT, as_user=kind == "unit")
    tally = with_trouble(read_gtest(report, name), name, ended)
    if kind == "root":
        for failed in tally.names(FAILED):
            test = only if failed in tally.whole else failed.removeprefix(f"{name}:")
            tally.again[failed] = partial(run_gtest, program, kind, scratch, test)
    return tally


def skip_gtest(program: Path, kind: str, reason: str) -> Tally:
    """Counts every test of a program as skipped."""
    tally = Tally()
    suite = ""
    listing = execute([str(program), "--gtest_list_tests"], TIMEOUT)
    for line in listing.output.splitlines():
        if line.startswith("  "):
            tally.note(f"{kind}:{program.name}:{suite}{line.split()[0]}", SKIPPED, reason)
        elif line.endswith("."):
            suite = line
    return with_trouble(tally, f"{kind}:{program.name}", listing)


def read_ns3(case: ElementTree.Element, name: str, output: str, tally: Tally) -> None:
    """Counts the leaves of a test case of ns-3's own XML report.

    A case cannot skip itself in ns-3: ours say "SKIPPED NAME: REASON" and pass.
    """
    own_name = (case.findtext("Name") or "?").strip()
    title = f"{name}:{own_name}"
    children = case.findall("Test")
    for child in children:
        read_ns3(child, title, output, tally)
    if children:
        return
    result = (case.findtext("Result") or "").strip()
    reason = re.search(rf"^SKIPPED {re.escape(own_name)}: (.*)$", output, re.MULTILINE)
    if result == "PASS" and reason:
        tally.note(title, SKIPPED, reason[1])
    elif result == "PASS":
        tally.note(title, PASSED)
    elif result == "SKIP":
        tally.note(title, SKIPPED, "ns-3 skipped it")
    else:
        details = [detail.findtext("Message") or "" for detail in case.findall("FailureDetails")]
        tally.note(title, FAILED, "; ".join(details).strip() or result)


def run_suite(program: Path, suite: str, scratch: Path) -> Tally:
    """Runs a test suite of the module in a process of its own."""
    report = scratch / f"{suite}.xml"
    report.unlink(missing_ok=True)
    command = [str(program), f"--suite={suite}", "--xml", f"--out={report}"]
    ended = execute(command, TIMEOUT)
    tally = Tally()
    with suppress(OSError, ElementTree.ParseError):
        root = ElementTree.fromstring(f"<all>{report.read_text(errors='replace')}</all>")
        case = root.find("Test")
        if case is not None:
            read_ns3(case, "ns3", ended.output, tally)
    with_trouble(tally, f"ns3:{suite}", ended)
    if REAL_TIME_SUITES.fullmatch(suite):
        whole = partial(run_suite, program, suite, scratch)
        tally.again = {failed: whole for failed in tally.names(FAILED)}
    return tally


def run_ns3(program: Path, scratch: Path) -> Tally:
    """Runs every test suite of the module."""
    tally = Tally()
    listing = execute([str(program), "--list"], TIMEOUT)
    suites = [line.strip() for line in listing.output.splitlines() if line.strip()]
    if listing.status != 0 or not suites:
        tally.fail(f"ns3:{program.name}", f"lists no suite ({listing.trouble()})")
        return tally
    for suite in suites:
        tally.add(run_suite(program, suite, scratch))
    return tally


def run_fuzz(program: Path, seconds: int, runs: int | None, scratch: Path) -> Tally:
    """Runs a libFuzzer target from its stored inputs: for a while, or a number of inputs."""
    tally = Tally()
    name = f"fuzz:{program.name}"
    corpus = scratch / program.name
    corpus.mkdir()
    stored = REPOSITORY / "tests" / "corpus" / program.name
    command = [str(program), "-timeout=10", "-print_final_stats=1"]
    command += [f"-runs={runs}", "-seed=1"] if runs else [f"-max_total_time={seconds}"]
    command += [f"-artifact_prefix={program.parent}/{program.name}-", str(corpus)]
    command += [str(stored)] if stored.is_dir() else []
    ended = execute(command, seconds + TIMEOUT)
    if ended.status == 0:
        tally.note(name, PASSED)
    else:
        tally.fail(name, ended.trouble())
        print(ended.output[-6000:])
    return tally
