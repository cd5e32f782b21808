"""Builds the binary wheel and the source distribution (PEP 517), for pip and for `make wheel`.

The wheel is the Python package with an installation of the compiled product in its folder
`_prefix`; the script `viaduct` executes the command there. What is not built yet is built by
`make build`.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from setuptools import build_meta
from wheel.wheelfile import WheelFile

ROOT = Path(__file__).resolve().parent.parent.parent
COMPONENTS = ["viaduct", "ns3"]
# What nothing finds in a wheel (documents, completion, a manual), and what needs MPI.
LEFT_OUT = ["share/doc", "share/man", "share/bash-completion", "share/zsh", "share/fish"]
LEFT_OUT += ["share/lintian", "libexec/viaduct/viaduct-mpi"]
TAG = "py3-none-linux_x86_64"


def build_wheel(
    wheel_directory: str, config_settings: Any = None, metadata_directory: str | None = None
) -> str:
    """The wheel, for this machine; packaging/wheel/make has auditwheel make it one for others."""
    os.environ.setdefault("SOURCE_DATE_EPOCH", str(commit_time()))
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        unpack(pure_wheel(Path(scratch)), tree)
        install(build_folder(), tree / "viaduct/_prefix")
        add_run_paths(tree / "viaduct/_prefix/lib/viaduct/ns3/lib64")
        (info,) = tree.glob("*.dist-info")
        (info / "WHEEL").write_text(
            f"Wheel-Version: 1.0\nGenerator: viaduct\nRoot-Is-Purelib: false\nTag: {TAG}\n"
        )
        (info / "entry_points.txt").write_text(
            "[console_scripts]\nviaduct = viaduct._program:main\n"
        )
        (info / "RECORD").unlink()
        name = f"{info.name.removesuffix('.dist-info')}-{TAG}.whl"
        made = Path(wheel_directory) / name
        made.unlink(missing_ok=True)
        with WheelFile(made, "w") as wheel:
            wheel.write_files(tree)
    return name


def unpack(made: Path, tree: Path) -> None:
    """Unpacks a wheel, with the files' modes, which zipfile leaves out."""
    with WheelFile(made) as wheel:
        for entry in wheel.infolist():
            file = Path(wheel.extract(entry, tree))
            if not entry.is_dir():
                file.chmod(entry.external_attr >> 16 & 0o777 or 0o644)


def pure_wheel(scratch: Path) -> Path:
    """The Python package alone, by setuptools, from a copy: it writes beside its sources."""
    copy = scratch / "source"
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "python", copy / "python", ignore=leave)
    for name in ["pyproject.toml", "README.md", "LICENSE"]:
        shutil.copy(ROOT / name, copy)
    with contextlib.chdir(copy), contextlib.redirect_stdout(sys.stderr):
        return scratch / build_meta.build_wheel(str(scratch))


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    """The source distribution: every file of the repository."""
    version = project_version()
    name = f"viaduct-{version}.tar.gz"
    info = f"Metadata-Version: 2.1\nName: viaduct\nVersion: {version}\n".encode()
    archive(Path(sdist_directory) / name, f"viaduct-{version}", {"PKG-INFO": info})
    return name


def archive(file: Path, folder: str, more: dict[str, bytes]) -> None:
    """Writes the repository's files, and these, as a tar archive: the same bytes each time."""
    when = int(os.environ.get("SOURCE_DATE_EPOCH", commit_time()))
    contents = io.BytesIO()
    with tarfile.open(fileobj=contents, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sources():
            entry = tar.gettarinfo(ROOT / name, f"{folder}/{name}")
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = when, 0, 0, "", ""
            entry.mode = 0o755 if entry.mode & 0o100 else 0o644
            if entry.isreg():
                with (ROOT / name).open("rb") as source:
                    tar.addfile(entry, source)
            else:
                tar.addfile(entry)
        for name, text in more.items():
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.mtime, entry.size, entry.mode = when, len(text), 0o644
            tar.addfile(entry, io.BytesIO(text))
    with file.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, mtime=when) as out:
        out.write(contents.getbuffer())


def sources() -> list[str]:
    """The repository's files: those that git knows; in an unpacked archive, all but built ones."""
    if (ROOT / ".git").exists():
        words = ["git", "-C", str(ROOT), "ls-files", "-z"]
        listed = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        return sorted(name for name in listed.split("\0") if name)
    return sorted(
        str(file.relative_to(ROOT))
        for file in ROOT.rglob("*")
        if file.is_file()
        and not file.relative_to(ROOT).parts[0].startswith("build")
        and "__pycache__" not in file.parts
        and file.name != "PKG-INFO"
    )


def commit_time() -> int:
    """Seconds since 1970 of the last commit; where there is no repository, of this file."""
    words = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    known = done.returncode == 0 and (ROOT / ".git").exists()
    return int(done.stdout) if known else int(Path(__file__).stat().st_mtime)


def project_version() -> str:
    """The one in pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]


def build_folder() -> Path:
    """The build folder of the product, built: $VIADUCT_BUILD, else build/."""
    folder = Path(os.environ.get("VIADUCT_BUILD", ROOT / "build"))
    words = ["cmake", "--build", str(folder), "--target", "product"]
    if not (folder / "build.ninja").exists():
        words = ["make", "-C", str(ROOT), "build"]
    subprocess.run(words, check=True, stdout=sys.stderr)
    return folder


def install(build: Path, prefix: Path) -> None:
    """Installs what is built into this folder."""
    for component in COMPONENTS:
        words = ["cmake", "--install", str(build), "--prefix", str(prefix)]
        subprocess.run([*words, "--component", component], check=True, stdout=subprocess.DEVNULL)
    if not (prefix / "libexec/viaduct/viaduct-sim").exists():
        sys.exit("wheel: the build has no viaduct-sim (VIADUCT_WITH_NS3=OFF); nothing was made")
    for name in LEFT_OUT:
        left_out = prefix / name
        shutil.rmtree(left_out) if left_out.is_dir() else left_out.unlink(missing_ok=True)


def add_licences(folder: str) -> None:
    """Puts the licence of each library that auditwheel has put into the wheel of this folder there.

    As Debian has them: the copyright file of the library's package, and the licences to which these
    refer.
    """
    (made,) = Path(folder).glob("*.whl")
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch)
        unpack(made, tree)
        (info,) = tree.glob("*.dist-info")
        licences = info / "licenses"
        common: set[str] = set()
        files = {ROOT / "packaging/copyright": licences / "viaduct.copyright"}
        for library in sorted((tree / "viaduct.libs").iterdir()):
            package = package_of(library.name)
            files[Path("/usr/share/doc") / package / "copyright"] = (
                licences / f"{package}.copyright"
            )
        for source, place in files.items():
            text = source.read_text(encoding="utf-8")
            place.write_text(text, encoding="utf-8")
            common |= set(re.findall(r"/usr/share/common-licenses/([\w.-]*\w)", text))
        for name in common:
            shutil.copyfile(Path("/usr/share/common-licenses") / name, licences / f"{name}.txt")
        (info / "RECORD").unlink()
        made.unlink()
        with WheelFile(made, "w") as wheel:
            wheel.write_files(tree)


def package_of(library: str) -> str:
    """The Debian package of a library with the name that auditwheel gave it."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.)", "", library, count=1)
    listed = subprocess.run(["ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    for place in re.findall(r"=> (\S+)", listed):
        file = Path(place).resolve()
        if file.name == name:
            words = ["dpkg", "-S", f"*/{file.name}"]
            found = subprocess.run(words, check=True, capture_output=True, text=True).stdout
            return found.partition(":")[0]
    sys.exit(f"wheel: no Debian package has {name}, whose licence the wheel must have")


def add_run_paths(folder: Path) -> None:
    """Lets libraries of the ns-3 kit that have no run path find their neighbours by themselves.

    Otherwise they are found by what loads them, but auditwheel reads each alone. Needs patchelf;
    without it they stay as they are.
    """
    patchelf = shutil.which("patchelf")
    for library in folder.glob("lib*.so*") if patchelf else []:
        words = [patchelf, "--print-rpath", str(library)]
        if not subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip():
            subprocess.run([patchelf, "--set-rpath", "$ORIGIN", str(library)], check=True)
