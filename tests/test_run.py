"""What tests/run counts, and CI after it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import textwrap
import time
from functools import partial
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest
from runner import reruns
from runner.reruns import MOST_RERUNS, RUNS_IN_A_ROW, judge_history, run_again, wait_for_quiet
from runner.tally import Tally

TESTS = Path(__file__).resolve().parent


def load() -> ModuleType:
    """tests/run as a module."""
    loader = SourceFileLoader("tests_run", str(TESTS / "run"))
    spec = importlib.util.spec_from_loader("tests_run", loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


def own_tests(folder: Path, text: str) -> str:
    """A file of tests with the hooks of these; a word in `failing` fails the test of that name."""
    (folder / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS)!r})\n"
        "from importlib.machinery import SourceFileLoader\n"
        f"_real = SourceFileLoader('real', {str(TESTS / 'conftest.py')!r}).load_module()\n"
        "pytest_runtest_setup = _real.pytest_runtest_setup\n"
        "pytest_runtest_makereport = _real.pytest_runtest_makereport\n"
    )
    file = folder / "test_it.py"
    head = "from pathlib import Path\nimport pytest\nimport labs\n"
    head += f"HERE = Path({str(folder)!r})\n"
    file.write_text(head + textwrap.dedent(text))
    return str(file)


def test_what_fails_in_real_time_is_run_again_once(tmp_path: Path) -> None:
    """What passes alone is passed and re-run; tests in virtual time are not run again."""
    file = own_tests(
        tmp_path,
        """
        def runs(name):
            with (HERE / name).open("a") as file:
                file.write("x")
            return len((HERE / name).read_text())

        @pytest.mark.alone
        def test_once():
            assert runs("once") > 1

        @pytest.mark.alone
        @pytest.mark.parametrize("words", ["of\\nlines"])
        def test_always(words):
            assert runs("always") < 1

        @pytest.mark.alone
        def test_never():
            assert runs("never") == 1

        def test_without_real_time():
            assert runs("virtual") > 1

        def test_with_a_record(tmp_path):
            labs.RUN = HERE
            assert runs("record") > 1
        """,
    )
    run = load()
    tally = run.run_pytest_once(["-W", "ignore", file], tmp_path)
    assert tally.line() == "1 passed, 4 failed, 0 skipped, 0 re-run"
    tests_again = {name.rsplit(".", 1)[1] for name in tally.again}
    assert tests_again == {"test_once", "test_always[of\\nlines]", "test_with_a_record"}
    run.run_again(tally, lambda: 1.0)
    assert tally.line() == "3 passed, 2 failed, 0 skipped, 2 re-run"
    failed = {name.rsplit(".", 1)[1]: why for name, why in tally.failed}
    assert set(failed) == {"test_always[of\\nlines]", "test_without_real_time"}
    assert re.fullmatch(
        "twice; first: .*1 < 1.* -- alone: .*2 < 1.*", failed["test_always[of\\nlines]"], re.S
    )
    assert all("passed alone; first: " in why and "stood still" in why for _, why in tally.rerun)
    runs = {
        name: len((tmp_path / name).read_text()) for name in ("once", "always", "never", "virtual")
    }
    assert runs == {"once": 2, "always": 2, "never": 1, "virtual": 1}


def failing(names: list[str], passes: bool) -> Tally:
    """Failed tests that pass alone, or do not."""
    tally = Tally(failed=[(name, "first") for name in names])

    def again(name: str) -> Tally:
        return Tally(passed=1) if passes else Tally(failed=[(name, "second")])

    tally.again = {name: partial(again, name) for name in names}
    return tally


def test_too_many_to_run_again_fail() -> None:
    names = [f"e2e:{number}" for number in range(MOST_RERUNS + 1)]
    most = failing(names[1:], passes=True)
    run_again(most, lambda: 1.0)
    assert most.counts() == (MOST_RERUNS, 0, 0, MOST_RERUNS)
    more = failing(names, passes=True)
    run_again(more, lambda: 1.0)
    assert more.counts() == (0, MOST_RERUNS + 2, 0, 0)
    assert "more than 5" in more.failed[-1][1]


def test_tests_of_one_call_are_run_once() -> None:
    """As the cases of a suite: what fails there for the first time is a failure, too."""
    calls = []

    def again() -> Tally:
        calls.append(1)
        return Tally(passed=7, failed=[("ns3:s:b", "second"), ("ns3:s:c", "new")])

    tally = Tally(passed=5, failed=[("ns3:s:a", "first"), ("ns3:s:b", "first")])
    tally.again = {"ns3:s:a": again, "ns3:s:b": again}
    run_again(tally, lambda: 1.0)
    assert calls == [1]
    assert tally.passed == 6
    assert [name for name, _ in tally.failed] == ["ns3:s:b", "ns3:s:c"]
    assert [name for name, _ in tally.rerun] == ["ns3:s:a"]


def test_what_vanishes_when_run_again_stays_failed() -> None:
    tally = Tally(failed=[("e2e:a", "first")], again={"e2e:a": Tally})
    run_again(tally, lambda: 1.0)
    assert tally.failed == [("e2e:a", "first -- alone: it did not run")]


@pytest.mark.parametrize("before", ["", "{", "[1]", '[{"rerun": 3}]'])
def test_a_test_that_is_run_again_in_each_run_fails(before: str, tmp_path: Path) -> None:
    file = tmp_path / "cache" / "test-runs.json"
    if before:
        file.parent.mkdir()
        file.write_text(before)
    for number in range(RUNS_IN_A_ROW + 3):
        names = ["e2e:always", *(["e2e:sometimes"] if number % 2 else [])]
        tally = Tally(passed=10, rerun=[(name, "why") for name in names])
        judge_history(tally, file)
        bad = number >= RUNS_IN_A_ROW - 1
        assert [name for name, _ in tally.failed] == (["e2e:always"] if bad else [])
        assert tally.passed == 10 - len(tally.failed)
    assert list(file.parent.iterdir()) == [file]


def test_busy_processors_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nine tenths idle are quiet, one is not; and no longer than the limit."""
    ticks = iter([(0, 0), (10, 100), (10, 100), (20, 200), (20, 200), (110, 300)])
    monkeypatch.setattr(reruns, "_idle_and_all", lambda: next(ticks))
    monkeypatch.setattr(time, "sleep", lambda _: None)
    assert wait_for_quiet() == 0.9
    ticks = iter([(0, 0), (10, 100)])
    assert wait_for_quiet(0.0) == 0.1


def test_ci_adds_up_every_word(tmp_path: Path) -> None:
    """Of two reports: what `make test` printed in its last line is in CI's."""
    report = tmp_path / "report.json"
    report.write_text('{"passed": 20, "failed": 3, "skipped": 4, "re-run": 5}\n')
    ci = (TESTS.parent / ".ci" / "run").read_text()
    begin = ci.index("count() {")
    counted = ci[begin : ci.index("\n}\n", begin) + 3]
    last = ci[ci.rindex('echo "$passed') :].splitlines()[0]
    script = f"passed=1 failed=0 skipped=0 rerun=1\n{counted}count {report}; count {report}; {last}"
    done = subprocess.run(["bash", "-uc", script], capture_output=True, text=True, check=True)
    assert done.stdout == "41 passed, 6 failed, 8 skipped, 11 re-run\n"


def test_a_program_hangs_when_it_says_nothing() -> None:
    """However long it takes while it says something."""
    run = load()
    talks = run.execute(["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 1; done"], 6)
    assert (talks.status, talks.output) == (0, "1\n2\n3\n4\n5\n6\n7\n8\n")
    assert run.execute(["sh", "-c", "exit 3"], 6).status == 3
    hangs = run.execute(["sh", "-c", "echo a; exec sleep 1000"], 2)
    assert hangs.status is None
    assert hangs.output == "a\n"
