"""What tests/run counts, and CI after it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

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


def test_a_test_that_was_run_again_is_counted(tmp_path: Path) -> None:
    """On a machine that always stands still: one fails once, one always, one never."""
    (tmp_path / "conftest.py").write_text(
        f"import sys\nsys.path.insert(0, {str(TESTS)!r})\nimport stalls\n"
        "from importlib.machinery import SourceFileLoader\n"
        f"_real = SourceFileLoader('real', {str(TESTS / 'conftest.py')!r}).load_module()\n"
        "pytest_runtest_protocol = _real.pytest_runtest_protocol\n"
        "stalls.Watch.stalled = property(lambda self: True)\n"
    )
    (tmp_path / "test_it.py").write_text(
        textwrap.dedent(
            """
            import pytest
            times = []
            @pytest.mark.alone
            def test_once():
                times.append(0)
                assert len(times) > 1
            @pytest.mark.alone
            def test_always():
                assert False
            @pytest.mark.alone
            def test_never():
                pass
            """
        )
    )
    run = load()
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    tally = run.run_pytest_once(["-W", "ignore", str(tmp_path / "test_it.py")], scratch)
    assert tally.line() == "2 passed, 1 failed, 0 skipped, 2 re-run"
    assert all(": assert" in why for _, why in tally.rerun), "what was wrong"
    assert [name.rsplit(".", 1)[1] for name, _ in tally.rerun] == [
        "test_once",
        "test_always",
        "test_always",
    ]


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
