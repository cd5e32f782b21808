"""viaduct kernel: its messages for wrong input, and that it leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

VIADUCT = Path(os.environ.get("VIADUCT_BUILD", "build")) / "viaduct"


def run(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs viaduct kernel with a store of its own."""
    environment = {**os.environ, "VIADUCT_CACHE": str(cache)}
    environment.pop("SUDO_USER", None)
    return subprocess.run(
        [str(VIADUCT), "kernel", *words],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["build", "--source", "debian:"], 2, "not a version"),
        (["build", "--source", "debian:6.x"], 2, "not a version"),
        (["build", "--source", "debian:1.0"], 3, "linux-source-1.0"),
        (["build", "--source", "/no/such/tarball"], 2, "does not exist"),
        (["build", "--source", "/usr"], 2, "not a kernel tree"),
        (["build", "--config-add", "/no/such/config"], 2, "does not exist"),
        (["build", "--jobs", "0"], 2, "--jobs"),
        ([], 2, "subcommand"),
    ],
)
def test_wrong_input_is_one_line(tmp_path: Path, words: list[str], status: int, said: str) -> None:
    ended = run(tmp_path, *words)
    assert ended.returncode == status, ended.stderr
    assert said in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.rglob("*build*"))


def test_malformed_option_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "my.config").write_text("CONFIG_NET=y\nNET=y\n")
    ended = run(tmp_path, "build", "--config-add", str(tmp_path / "my.config"))
    assert ended.returncode == 2
    assert "my.config:2: expected CONFIG_NAME=VALUE, not 'NET=y'" in ended.stderr


def test_failed_build_keeps_its_log_and_nothing_else(tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "arch" / "um").mkdir(parents=True)
    (tree / "arch" / "um" / "Kconfig").write_text("")
    (tree / "Makefile").write_text("mrproper:\nallnoconfig:\n\t@echo it broke; false\n")
    ended = run(tmp_path, "build", "--source", str(tree), "--quiet")
    if "programs that are missing on this machine" in ended.stderr:
        pytest.skip(ended.stderr)
    assert ended.returncode == 1
    assert "make allnoconfig failed" in ended.stderr
    (log,) = (tmp_path / "kernels").iterdir()
    assert str(log) in ended.stderr
    assert "it broke" in log.read_text()


def test_list_of_an_empty_store(tmp_path: Path) -> None:
    assert "viaduct kernel build" in run(tmp_path, "list").stdout
    assert json.loads(run(tmp_path, "list", "--json").stdout) == []
