"""What tests/run-tests counts, and CI after it."""

from __future__ import annotations

import json
import re
import subprocess
import textwrap
import time
from functools import partial
from pathlib import Path

import pytest

from runner import reruns
from runner.programs import execute, run_gtest
from runner.pytests import run_pytest_once
from runner.reruns import (
    MAX_RERUNS,
    RUNS_IN_A_ROW,
    both,
    judge_history,
    run_again,
    wait_for_quiet,
)
from runner.tally import FAILED, PASSED, SKIPPED, Tally

TESTS = Path(__file__).resolve().parent.parent


def quiet() -> float:
    """The machine is idle at once."""
    return 1.0


def own_tests(folder: Path, text: str) -> str:
    """A file of tests with the hooks of these; a word in `failing` fails the test of that name."""
    (folder / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS)!r})\n"
        "from importlib.machinery import SourceFileLoader\n"
        f"_real = SourceFileLoader('real', {str(TESTS / 'conftest.py')!r}).load_module()\n"
        "pytest_runtest_setup = _real.pytest_runtest_setup\n"
        "pytest_fixture_setup = _real.pytest_fixture_setup\n"
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

        def test_with_a_record(monkeypatch):
            (labs.RUN / ".paths").mkdir(exist_ok=True)
            (labs.RUN / ".paths" / str(len(list((labs.RUN / ".paths").iterdir())))).touch()
            assert runs("record") > 1
        """,
    )
    tally = run_pytest_once(["-W", "ignore", file], tmp_path)
    assert tally.line() == "1 passed, 4 failed, 0 skipped, 0 re-run"
    again = {name.rsplit(".", 1)[1] for name in tally.again}
    assert again == {"test_once", "test_always[of\\nlines]", "test_with_a_record"}
    assert len(run_again(tally, quiet)) == 3
    assert tally.line() == "3 passed, 2 failed, 0 skipped, 2 re-run"
    failed = {name.rsplit(".", 1)[1]: tally.of(name)[1] for name in tally.names(FAILED)}
    assert set(failed) == {"test_always[of\\nlines]", "test_without_real_time"}
    twice = "twice; first: .*1 < 1.* -- alone: .*2 < 1.*"
    assert re.fullmatch(twice, failed["test_always[of\\nlines]"])
    assert all("stood still" in why and "alone: passed" in why for why in tally.rerun.values())
    words = ("once", "always", "never", "virtual")
    runs = {name: len((tmp_path / name).read_text()) for name in words}
    assert runs == {"once": 2, "always": 2, "never": 1, "virtual": 1}


@pytest.mark.parametrize("way", ["os._exit(0)", "os._exit(1)", "pytest.exit('x', returncode=0)"])
@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_tests_that_did_not_run_have_failed(way: str, workers: list[str], tmp_path: Path) -> None:
    text = f"import os\ndef test_a(): pass\ndef test_ends(): {way}\ndef test_z(): pass\n"
    tally = run_pytest_once([*workers, own_tests(tmp_path, text)], tmp_path)
    names = {name.rpartition(".")[2] for name in tally.names(FAILED)}
    assert "test_ends" in names
    assert workers or "test_z" in names
    assert "test_a" not in names


def test_what_is_left_behind_is_not_run_again(tmp_path: Path) -> None:
    text = """
        @pytest.fixture(scope="session", autouse=True)
        def looks():
            yield
            pytest.fail("left behind: a namespace")

        @pytest.mark.alone
        def test_last():
            pass
        """
    tally = run_pytest_once([own_tests(tmp_path, text)], tmp_path)
    assert (tally.counts(), tally.again) == ((0, 1, 0, 0), {})


def test_a_fixture_of_several_tests_makes_them_depend_on_real_time(tmp_path: Path) -> None:
    text = """
        @pytest.fixture(scope="module")
        def line():
            (labs.NAMES / "x").mkdir()
        def test_one(line): assert False
        def test_two(line): assert False
        def test_other(): assert False
        """
    file = own_tests(tmp_path, text)
    Path(file).write_text(Path(file).read_text() + "labs.NAMES = HERE\n")
    tally = run_pytest_once([file], tmp_path)
    assert {name.rsplit(".", 1)[1] for name in tally.again} == {"test_one", "test_two"}


def test_one_test_counts_once_whatever_fails_in_it(tmp_path: Path) -> None:
    text = """
        @pytest.fixture
        def ends():
            yield
            assert False, "teardown"
        def test_both(ends): assert False, "call"
        """
    tally = run_pytest_once([own_tests(tmp_path, text)], tmp_path)
    assert tally.counts() == (0, 1, 0, 0)
    (name,) = tally.names(FAILED)
    assert "call" in tally.of(name)[1] and "teardown" in tally.of(name)[1]


def failing(names: list[str], passes: bool) -> Tally:
    """Failed tests that pass alone, or do not."""
    tally = of((FAILED, names))

    def again(name: str) -> Tally:
        return of((PASSED if passes else FAILED, [name]))

    tally.again = {name: partial(again, name) for name in names}
    return tally


def of(*words: tuple[str, list[str]]) -> Tally:
    """A tally of tests that ended so."""
    tally = Tally()
    for word, names in words:
        for name in names:
            tally.note(name, word, f"why {word}")
    return tally


def test_too_many_to_run_again_fail() -> None:
    names = [f"e2e:{number}" for number in range(MAX_RERUNS + 1)]
    most = failing(names[1:], passes=True)
    run_again(most, quiet)
    assert most.counts() == (MAX_RERUNS, 0, 0, MAX_RERUNS)
    more = failing(names, passes=True)
    assert run_again(more, quiet) == names
    assert more.counts() == (0, MAX_RERUNS + 2, 0, 0)
    assert "more than 5" in more.of("all")[1]


SUITE = [f"ns3:s:{letter}" for letter in "abc"]


@pytest.mark.parametrize(
    ("second", "counts", "failed"),
    [
        (of((PASSED, SUITE)), (3, 0, 0, 2), []),
        (of((PASSED, SUITE[::2]), (FAILED, SUITE[1:2])), (2, 1, 0, 1), SUITE[1:2]),
        (of((PASSED, SUITE[:2]), (FAILED, SUITE[2:])), (2, 1, 0, 2), SUITE[2:]),
        (of((PASSED, SUITE[1:]), (SKIPPED, SUITE[:1])), (2, 1, 0, 1), SUITE[:1]),
        (of((PASSED, SUITE[1:])), (2, 1, 0, 1), SUITE[:1]),
        (Tally(), (1, 2, 0, 0), SUITE[:2]),
    ],
)
def test_tests_of_one_call_are_run_once(
    second: Tally, counts: tuple[int, ...], failed: list[str]
) -> None:
    """As the cases of a suite, of which two failed: none is lost, or counted twice."""
    calls = []

    def again() -> Tally:
        calls.append(1)
        return second

    tally = of((FAILED, SUITE[:2]), (PASSED, SUITE[2:]))
    tally.again = {name: again for name in SUITE[:2]}
    run_again(tally, quiet)
    assert (calls, tally.counts(), tally.names(FAILED)) == ([1], counts, failed)


def gtest_program(folder: Path, *runs: tuple[dict[str, str], str]) -> Path:
    """A program x_root_test: each run reports tests and how they ended, and then ends itself so."""
    folder.mkdir(exist_ok=True)
    for number, (tests, _) in enumerate(runs, 1):
        suite = []
        for name, word in tests.items():
            failures = {"failures": [{"failure": "wrong"}]} if word == FAILED else {}
            result = "SKIPPED" if word == SKIPPED else "COMPLETED"
            suite.append({"name": name, "result": result, "status": "RUN", **failures})
        report = {"testsuites": [{"name": "S", "testsuite": suite}]}
        (folder / f"{number}.json").write_text(json.dumps(report) if tests else "{")
    cases = "".join(f"{number}) {end} ;;\n" for number, (_, end) in enumerate(runs, 1))
    program = folder / "x_root_test"
    program.write_text(
        f"#!/bin/sh\necho x >>{folder}/count; n=$(wc -l <{folder}/count)\n"
        f"cp {folder}/$n.json ${{1#--gtest_output=json:}}\ncase $n in\n{cases}esac\n"
    )
    program.chmod(0o755)
    return program


ALL_PASS = {"A": PASSED, "B": PASSED, "D": SKIPPED}
CRASH = "kill -SEGV $$"


@pytest.mark.parametrize(
    ("runs", "counts"),
    [
        ([({"A": FAILED, "B": PASSED}, "exit 1"), ({"A": PASSED}, "exit 0")], (2, 0, 0, 1)),
        ([({"A": FAILED, "B": PASSED}, "exit 1"), ({"A": PASSED}, CRASH)], (1, 1, 0, 0)),
        ([({"A": FAILED, "B": PASSED}, "exit 1"), ({"B": PASSED}, "exit 0")], (1, 1, 0, 0)),
        # The crash has a call of its own, of the whole program.
        (
            [({"A": FAILED}, CRASH), ({"A": PASSED}, "exit 0"), ({"A": PASSED}, CRASH)],
            (1, 1, 0, 1),
        ),
        ([({}, CRASH), (ALL_PASS, "exit 0")], (2, 0, 1, 1)),
        ([({}, CRASH), ({**ALL_PASS, "A": FAILED}, "exit 1")], (1, 2, 1, 0)),
        ([(ALL_PASS, "exit 3"), (ALL_PASS, "exit 3")], (2, 1, 1, 0)),
        ([(ALL_PASS, "exit 1"), (ALL_PASS, "exit 1")], (2, 1, 1, 0)),
    ],
)
def test_programs_that_crash(
    runs: list[tuple[dict[str, str], str]], counts: tuple[int, ...], tmp_path: Path
) -> None:
    program = gtest_program(tmp_path / "build", *runs)
    tally = run_gtest(program, "root", tmp_path)
    run_again(tally, quiet)
    assert tally.counts() == counts, tally.results


def test_what_vanishes_when_run_again_stays_failed() -> None:
    tally = of((FAILED, ["e2e:a"]))
    tally.again = {"e2e:a": Tally}
    run_again(tally, quiet)
    assert tally.of("e2e:a") == (FAILED, "twice; first: why failed -- alone: it did not run")


def test_no_outcome_hides_the_other() -> None:
    text = both("x" * 5000, "y" * 5000)
    assert "xxx -- alone: yyy" in text and len(text) < 600


OLD = '{"failed_first": ["e2e:always"]}'


@pytest.mark.parametrize(
    ("before", "known"), [("", 0), ("{", 0), ("[1]", 0), ("[" * 100000, 0), (f"[3, {OLD}]", 1)]
)
def test_a_test_that_fails_at_first_in_each_run_fails(
    before: str, known: int, tmp_path: Path
) -> None:
    file = tmp_path / "cache" / "test-runs.json"
    if before:
        file.parent.mkdir()
        file.write_text(before)
    for number in range(RUNS_IN_A_ROW + 3):
        names = ["e2e:always", *(["e2e:sometimes"] if number % 2 else [])]
        tally = of((PASSED, names))
        judge_history(tally, names, file)
        bad = number + known >= RUNS_IN_A_ROW - 1
        assert tally.names(FAILED) == (["e2e:always"] if bad else [])
        assert len(tally.results) == len(names)
    assert list(file.parent.iterdir()) == [file]


def test_a_run_that_cannot_be_recorded_says_so(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    tally = of((PASSED, ["e2e:a"]))
    judge_history(tally, [], tmp_path / "cache" / "test-runs.json")
    assert "could not be recorded" in tally.of("all")[1]
    assert tally.counts() == (1, 1, 0, 0)


def test_a_kind_without_tests_fails(tmp_path: Path) -> None:
    gtest_program(tmp_path, ({"A": PASSED}, "exit 0"))
    command = [TESTS / "run-tests", "--build", tmp_path, "--only"]
    for kinds, line in (("root", "1 passed, 0 failed"), ("root,ns3", "1 passed, 1 failed")):
        (tmp_path / "count").unlink(missing_ok=True)
        done = subprocess.run([*command, kinds], capture_output=True, text=True, check=False)
        assert done.stdout.splitlines()[-1].startswith(line), done.stdout


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
    talks = execute(["sh", "-c", "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 1; done"], 6)
    assert (talks.status, talks.output) == (0, "1\n2\n3\n4\n5\n6\n7\n8\n")
    assert execute(["sh", "-c", "exit 3"], 6).status == 3
    hangs = execute(["sh", "-c", "echo a; exec sleep 1000"], 2)
    assert hangs.status is None
    assert hangs.output == "a\n"
