"""What README and docs print: the tutorial's blocks, and every command."""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from labs import REPOSITORY, VIADUCT, execute, namespaces, viaduct

DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]
CALL = re.compile(
    r"\s*(?:- )?(?:run: )?(?:sudo )?(?:\w+=\S+ )*(?:build/|(?:~/)?viaduct/bin/)?viaduct "
)
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)


def commands() -> list[tuple[str, list[str]]]:
    """(document, words) of each command in a block, without sudo and what is around it."""
    found = []
    for document in DOCUMENTS:
        for language, text in BLOCK.findall(document.read_text()):
            if language not in ("", "sh", "yaml"):
                continue
            whole = re.sub(r"\\\n\s*", " ", text)
            for line in whole.splitlines():
                line = re.sub(r"(\s|^)#.*", "", line)
                for part in re.split(r"&&|\|\||;(?=\s|$)", line):
                    match = CALL.match(part)
                    if not match or not part.isascii():  # or a diagram
                        continue
                    try:
                        words = shlex.split(part[match.end() :])
                    except ValueError:
                        words = part[match.end() :].split()
                    ends = (i for i, word in enumerate(words) if word in (">", "|", "<", "&"))
                    words = words[: next(ends, None)]
                    found.append((document.relative_to(REPOSITORY).as_posix(), words))
    return found


COMMANDS = commands()
TREE = {
    "path": ["set", "stats", "ls", "switch-config"],
    "kernel": ["build", "list", "shell", "resume"],
}


@functools.cache
def help_of(*path: str) -> str:
    return viaduct(*path, "--help").expect().output


def test_there_are_commands() -> None:
    assert len(COMMANDS) > 80
    documents = {document for document, _ in COMMANDS}
    assert {"README.md", "docs/path.md", "docs/top.md", "docs/howto/ci.md"} <= documents


@pytest.mark.parametrize("document", sorted({document for document, _ in COMMANDS}))
def test_every_option_exists(document: str) -> None:
    """Of each command the subcommand, and each of its options."""
    for _, words in (each for each in COMMANDS if each[0] == document):
        path = [words[0]]
        if len(words) > 1 and words[1] in TREE.get(words[0], []):
            path.append(words[1])
        own = words[: words.index("--")] if "--" in words else words
        if words[0] in ("help", "bench"):
            continue
        text = help_of(*path)
        for word in own[len(path) :]:
            option = re.match(r"--[a-z][\w-]*", word)
            if option:
                said = f"{' '.join(words)}: {option[0]}"
                assert re.search(rf"{re.escape(option[0])}\b", text), said


def runnable() -> list[list[str]]:
    """Runs of the repository's own examples, each once, in the modes that they name."""
    found = []
    for _, words in COMMANDS:
        if words[0] != "run" or any("stack=kernel" in word or "hosts" in word for word in words):
            continue
        files = [word for word in words[1:] if word.endswith(".yaml")]
        if all((REPOSITORY / file).is_file() for file in files) and words not in found:
            found.append(words)
    return found


@pytest.mark.parametrize("words", runnable(), ids=" ".join)
def test_the_runs_run(words: list[str], lab: str, tmp_path: Path) -> None:
    """As printed, but under a name of the test's own."""
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    done = viaduct(*words, "--set", f"name={lab}", cwd=tmp_path)
    assert done.status == 0, f"{done}"
    assert not [name for name in namespaces() if name.startswith(f"{lab}.")]


@pytest.mark.parametrize(
    "words",
    [
        words
        for words in (each for _, each in COMMANDS)
        if words[0] in ("docs", "version", "doctor")
        or (words[0] == "top" and {"--once", "--json", "--prometheus"} & set(words))
    ],
    ids=" ".join,
)
def test_what_only_prints(words: list[str], lab: str, tmp_path: Path) -> None:
    assert viaduct(*words, cwd=tmp_path).expect().output


def test_the_tutorial(lab: str, tmp_path: Path) -> None:
    """Its blocks, one after the other in one shell, as a reader pastes them."""
    tutorial = (REPOSITORY / "docs/tutorial.md").read_text()
    blocks = [text for language, text in BLOCK.findall(tutorial) if language == "sh"]
    assert len(blocks) >= 9
    # Another test's lab may have the name, on another processor.
    script = "\n".join(f"echo '== block {i}'\n{text}" for i, text in enumerate(blocks))
    script = re.sub(r"\bname: tutorial\b", f"name: {lab}", script)
    script = re.sub(r"\b(set|stats|down) tutorial\b", rf"\1 {lab}", script)
    places = tmp_path / "bin"
    places.mkdir()
    (places / "viaduct").symlink_to(VIADUCT)
    (places / "python3").symlink_to("/usr/bin/python3")
    environment = os.environ | {
        "PATH": f"{places}:{os.environ['PATH']}",
        "PYTHONPATH": str(REPOSITORY / "python"),
        "VIADUCT": str(VIADUCT),
    }
    done = subprocess.run(
        ["bash", "-e"],
        input=script,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    viaduct("down", lab)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert f"== block {len(blocks) - 1}" in done.stdout
    folder = tmp_path / "tutorial"
    for made in ("simulated/index.html", "real/index.html", "rtt.pdf", "sweep/results.json"):
        assert (folder / made).stat().st_size > 1000, made
    assert "works again after" in done.stdout
    assert not [name for name in namespaces() if name.startswith(f"{lab}.")]


def test_the_site_has_no_broken_link() -> None:
    if not shutil.which("mkdocs", path="/usr/bin:/bin"):
        pytest.skip("no mkdocs; setup/packages test")
    execute([str(REPOSITORY / "setup/site")], timeout=300).expect()
    index = REPOSITORY / "build/site/docs/tutorial.html"
    assert "Twenty minutes" in index.read_text()
