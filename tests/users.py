"""A user of the machine who may run the command by sudo."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from labs import BUILD, VIADUCT, Done, execute


@dataclass
class User:
    """Somebody who is not root, but may run the command by sudo."""

    name: str
    uid: int
    gid: int
    home: Path

    def run(self, *command: str | Path, umask: str = "022", timeout: float = 60) -> Done:
        """Runs a program as the user logs in: with the home folder's bin in PATH."""
        path = f"{self.home}/bin:/usr/local/bin:/usr/bin:/bin"
        return execute([*self.words(path, umask), *map(str, command)], timeout, self.home)

    def words(self, path: str, umask: str = "022") -> list[str]:
        """What to put before a command."""
        identity = ["setpriv", f"--reuid={self.uid}", f"--regid={self.gid}", "--init-groups"]
        environment = ["env", "-i", f"HOME={self.home}", f"PATH={path}", "LC_ALL=C"]
        return [*identity, *environment, "sh", "-c", f'umask {umask}; exec "$@"', "sh"]

    def viaduct(self, *words: str | Path, **options: object) -> Done:
        """Runs the command, which asks sudo itself."""
        return self.run(VIADUCT, *words, **options)  # type: ignore[arg-type]

    def sudo(self, *words: str | Path, **options: object) -> Done:
        """Runs the command by sudo."""
        return self.run("sudo", "-n", VIADUCT, *words, **options)  # type: ignore[arg-type]

    def write(self, name: str, text: str) -> Path:
        """A file of the user's."""
        file = self.home / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        for path in (file.parent, file):
            os.chown(path, self.uid, self.gid)
        return file


def _kits() -> set[Path]:
    """The folders of the libraries of ns-3, which may lie in root's home."""
    found = re.findall(r"=> (\S*/libns3\S*)", execute(["ldd", str(BUILD / "viaduct-sim")]).output)
    return {Path(file).parent for file in found}


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    """Makes the user, and lets others to the build and the kit meanwhile."""
    if os.getuid() != 0:
        pytest.skip("needs root")
    name = f"vt{os.getpid()}"
    home = Path(f"/tmp/{name}")
    execute(["useradd", "--create-home", "--home-dir", str(home), name]).expect()
    rule = Path(f"/etc/sudoers.d/{name}")
    rule.write_text(f"{name} ALL = (root) NOPASSWD: {VIADUCT}\n")
    rule.chmod(0o440)
    places = {BUILD, *_kits()}
    folders = {folder for place in places for folder in (place, *place.parents)}
    modes = {folder: stat.S_IMODE(folder.stat().st_mode) for folder in folders}
    for folder, mode in modes.items():
        folder.chmod(mode | 0o001)
    entry = pwd.getpwnam(name)
    home.chmod(0o755)
    yield User(name, entry.pw_uid, entry.pw_gid, home)
    for folder, mode in modes.items():
        folder.chmod(mode)
    rule.unlink()
    execute(["userdel", name])
    shutil.rmtree(home, ignore_errors=True)
