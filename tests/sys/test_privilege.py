"""What a rule in sudoers for the command gives: its labs, and nothing else of root's.

With a user of its own, and the machine's sudo. docs/security.md names these tests.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import users
from labs import (
    TIMEOUT,
    VIADUCT,
    as_nobody,
    descendants,
    execute,
    processes_of_machine,
    viaduct,
    wait_until,
)
from users import User

user = users.user


SIMULATION = """
mode: simulate
duration: 2s
nodes: 2
links: [{line: all}]
flows:
  - {type: udp, from: n0, to: n1, rate: 100kbit, duration: 1s}
"""
LAB = "mode: offload\nrouting: {protocol: static}\nduration: 1h\nnodes: 2\nlinks: [{line: all}]\n"
SECRET = "what only root may read"
NEW_PRIVILEGES = Path("/etc/viaduct/new-privileges")
NO_NEW_PRIVILEGES = re.compile(r"^NoNewPrivs:\s+1$", re.MULTILINE)

# They share a user, and the machine's own network namespace.
pytestmark = pytest.mark.xdist_group("privilege")


@pytest.fixture
def allowed(user: User) -> Iterator[None]:
    """Root lets the user's programs gain privileges in namespaces of Viaduct's."""
    NEW_PRIVILEGES.parent.mkdir(exist_ok=True)
    before = NEW_PRIVILEGES.read_text() if NEW_PRIVILEGES.exists() else None
    NEW_PRIVILEGES.write_text(f"{before or ''}{user.name}\n")
    NEW_PRIVILEGES.chmod(0o644)
    yield
    if before is not None:
        NEW_PRIVILEGES.write_text(before)
        return
    NEW_PRIVILEGES.unlink()
    with contextlib.suppress(OSError):
        NEW_PRIVILEGES.parent.rmdir()


@pytest.fixture
def secret() -> Iterator[Path]:
    """A file of root's that only root may read; anybody may look for it."""
    folder = Path("/tmp") / f"viaduct-secret-{os.getpid()}"
    folder.mkdir(mode=0o755, exist_ok=True)
    file = folder / "secret"
    file.write_text(SECRET + "\n")
    file.chmod(0o600)
    yield file
    shutil.rmtree(folder)


@pytest.fixture
def simulation(user: User) -> Path:
    """A scenario that needs no root."""
    return user.write("sim.yaml", "name: vtsim\n" + SIMULATION)


@pytest.fixture
def up(user: User, lab: str) -> Iterator[str]:
    """The name of the user's lab, which is up."""
    user.viaduct("up", user.write(f"{lab}.yaml", f"name: {lab}\n" + LAB)).expect()
    yield lab
    user.viaduct("down", lab).expect()


@pytest.mark.parametrize("mode", [["--mode", "simulate"], ["--compare", "simulate"]])
def test_a_report_writes_through_no_link_of_roots(
    mode: list[str], user: User, simulation: Path, secret: Path
) -> None:
    out = user.home / f"out{mode[0]}"
    out.mkdir()
    os.chown(out, user.uid, user.gid)
    for name in ("index.html", "results.json", "flows.csv"):
        (out / name).symlink_to(secret)
    user.sudo("run", simulation, *mode, "--report", out)
    assert secret.read_text() == SECRET + "\n"


def test_json_is_written_as_the_user(user: User, simulation: Path, secret: Path) -> None:
    place = secret.parent / "run.json"
    done = user.sudo("run", simulation, "--json", place)
    assert "cannot be written" in done.error_line(2)
    assert not place.exists()
    own = user.home / "run.json"
    user.sudo("run", simulation, "--json", own).expect()
    assert (own.stat().st_uid, own.stat().st_gid) == (user.uid, user.gid)
    assert json.loads(own.read_text())["flows"][0]["sent"] > 0


def test_a_scenario_is_read_as_the_user(user: User, secret: Path) -> None:
    for command in (["run", secret], ["run", "--compare", "simulate", secret], ["up", secret]):
        done = user.sudo(*command)
        assert done.status != 0
        assert "ermission denied" in done.errors
        assert "only root" not in done.errors


@pytest.mark.parametrize("sudo", [["sudo", "-n"], []])
def test_the_simulator_is_the_users(sudo: list[str], user: User, lab: str) -> None:
    text = f"name: {lab}\n" + SIMULATION.replace("2s", "100h").replace("1s", "100h")
    file = user.write("long.yaml", text)
    path = "/usr/bin:/bin"
    command = [*user.words(path), *sudo, str(VIADUCT), "run", str(file)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            simulators = wait_until(
                lambda: [
                    pid for pid, name in descendants(process.pid).items() if name == "viaduct-sim"
                ],
                "the simulator starts",
            )
            status = Path(f"/proc/{simulators[0]}/status").read_text()
            assert re.search(rf"^Uid:(\s+{user.uid}){{4}}$", status, re.MULTILINE), status
            assert re.search(r"^CapPrm:\s+0+$", status, re.MULTILINE)
            for pid in [simulators[0], *([] if sudo else [process.pid])]:
                assert NO_NEW_PRIVILEGES.search(Path(f"/proc/{pid}/status").read_text()), pid
        finally:
            execute(["kill", "-KILL", *map(str, descendants(process.pid)), str(process.pid)])
            process.wait(TIMEOUT)


def test_bench_is_the_users(user: User) -> None:
    line = user.sudo("bench", "olsr", "--quick").error_line(3)
    assert "needs root itself" in line
    assert "needs root itself" in user.viaduct("bench", "olsr", "--quick").error_line(3)


def test_sudo_uid_alone_gives_the_users_group(user: User, simulation: Path) -> None:
    own = user.home / "alone.json"
    words = [str(VIADUCT), "run", str(simulation), "--json", str(own)]
    execute(["env", f"SUDO_UID={user.uid}", *words]).expect()
    assert (own.stat().st_uid, own.stat().st_gid) == (user.uid, user.gid)
    line = execute(["env", "SUDO_UID=3999999999", *words]).error_line(3)
    assert "not a user of this machine" in line


@pytest.mark.parametrize("umask", ["077", "000"])
def test_the_callers_mask_is_not_roots(umask: str, user: User, lab: str) -> None:
    file = user.write(f"{lab}.yaml", f"name: {lab}\n" + LAB)
    user.sudo("up", file, umask=umask).expect()
    try:
        for folder in (Path("/run/viaduct"), Path(f"/run/viaduct/{lab}")):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o755, folder
        assert lab in user.viaduct("ls").expect().output
    finally:
        user.viaduct("down", lab).expect()


def test_a_program_on_a_node_is_the_users(user: User, up: str) -> None:
    status = user.viaduct("exec", f"{up}:n0", "--", "cat", "/proc/self/status").expect().output
    assert re.search(rf"^Uid:(\s+{user.uid}){{4}}$", status, re.MULTILINE), status
    for kind in ("Inh", "Prm", "Eff", "Amb"):
        assert re.search(rf"^Cap{kind}:\s+0+$", status, re.MULTILINE), status
    assert NO_NEW_PRIVILEGES.search(status), status
    user.viaduct(
        "exec", f"{up}:n0", "--", "sh", "-c", "test -w $HOME && test ! -r /etc/shadow"
    ).expect()


def test_exec_itself_gains_no_privilege(user: User, up: str) -> None:
    words = [*user.words("/usr/bin:/bin"), str(VIADUCT), "exec", f"{up}:n0", "--", "sleep", "1000"]
    with subprocess.Popen(words, stdin=subprocess.DEVNULL) as process:
        status = Path(f"/proc/{process.pid}/status")
        try:
            wait_until(lambda: NO_NEW_PRIVILEGES.search(status.read_text()), "it gives them up")
        finally:
            process.terminate()
            process.wait(TIMEOUT)


def test_why_sudo_does_not_help(user: User, up: str) -> None:
    file = user.write(f"{up}.yaml", f"name: {up}\n" + LAB)
    no_sudo = user.run("env", "PATH=/nowhere", VIADUCT, "up", file)
    assert "sudo cannot be executed (No such file" in no_sudo.error_line(3)
    assert f"run sudo {VIADUCT} ...;" in no_sudo.error_line(3)
    flag = user.run("setpriv", "--no-new-privs", VIADUCT, "up", file)
    assert "no new privileges" in flag.error_line(3)
    few = user.run("prlimit", "--nofile=8", VIADUCT, "up", file)
    assert few.status != 0
    assert "password" not in few.errors


def test_a_name_that_another_user_has_taken(user: User, up: str) -> None:
    words = ["up", user.write(f"{up}.yaml", f"name: {up}\n" + LAB)]
    assert f"viaduct down {up}" in user.viaduct(*words).error_line(2)
    rule = Path(f"/etc/sudoers.d/{user.name}-other")
    rule.write_text(f"nobody ALL = (root) NOPASSWD: {VIADUCT}\n")
    rule.chmod(0o440)
    try:
        line = as_nobody("/usr/bin/env", "PATH=/usr/bin:/bin", VIADUCT, *words).error_line(2)
    finally:
        rule.unlink()
    assert "the name is taken" in line
    assert "viaduct down" not in line


def test_doctor_looks_where_roots_half_does(user: User) -> None:
    assert Path("/usr/sbin/nft").exists()
    line = next(
        line for line in user.viaduct("doctor").output.splitlines() if line.startswith("nft ")
    )
    assert line.split()[1] == "yes"


def test_doctor_says_what_it_cannot_know_in_one_line(user: User) -> None:
    output = as_nobody("/usr/bin/env", "PATH=/usr/bin:/bin", VIADUCT, "doctor").expect().output
    (line,) = (line for line in output.splitlines() if "without root" in line)
    assert "namespaces, veth" in line
    assert not [line for line in output.splitlines() if "Operation not permitted" in line]
    assert "root: use sudo" in output
    (lab,) = (line.split() for line in output.splitlines() if line.startswith("lab "))
    assert lab[1] == "no"


def test_ping_works_on_a_node(user: User, up: str) -> None:
    user.viaduct("exec", f"{up}:n0", "--", "ping", "-c", "1", "-W", "5", "10.0.0.2").expect()


@pytest.fixture
def trusted(user: User) -> Iterator[str]:
    """The name of a host that the machine's sudoers trust, as they do 10.0.0.1 and shells'."""
    rule = Path(f"/etc/sudoers.d/{user.name}-host")
    hosts = ("trustedhost", "10.0.0.1", "100.64.0.0/10")
    rule.write_text("".join(f"{user.name} {host} = (root) NOPASSWD: ALL\n" for host in hosts))
    rule.chmod(0o440)
    yield hosts[0]
    rule.unlink()


def test_a_nodes_name_and_addresses_give_no_rights(user: User, lab: str, trusted: str) -> None:
    nodes = f"name: {lab}\n" + LAB.replace("nodes: 2", f"nodes: [{trusted}, other]")
    ask = ("sudo", "-n", "id", "-u")
    user.viaduct("up", user.write(f"{lab}.yaml", nodes)).expect()
    try:
        done = user.viaduct("exec", f"{lab}:{trusted}", "--", *ask)
        assert "no new privileges" in done.errors
        assert done.status != 0
    finally:
        user.viaduct("down", lab).expect()
    program = f"{{node: {trusted}, command: {' '.join(ask)}, expect: 1}}"
    file = user.write(f"{lab}.yaml", nodes.replace("1h", "5s") + f"programs: [{program}]\n")
    user.viaduct("run", file).expect()
    assert "no new privileges" in user.viaduct("shell", "--", *ask).errors


def test_new_privileges_are_roots_to_give(user: User, up: str) -> None:
    for command, place in (("exec", [f"{up}:n0"]), ("shell", [])):
        line = user.viaduct(command, "--new-privileges", *place, "--", "true").error_line(3)
        assert f'the line "{user.name}" to {NEW_PRIVILEGES}' in line


def test_a_program_with_new_privileges_keeps_the_machines_name(
    user: User, lab: str, allowed: None
) -> None:
    """By which sudoers know where it is."""
    text = f"name: {lab}\nprograms:\n" + LAB.replace("1h", "5s")
    for node, words, new in (
        ("n0", f"sudo -n {VIADUCT} version", "true"),
        ("n0", f"test `hostname` = {socket.gethostname()}", "true"),
        ("n1", "test `hostname` = n1", "false"),
    ):
        program = f"{{node: {node}, command: [sh, -c, '{words}'], new_privileges: {new}}}"
        text = text.replace("programs:\n", f"programs:\n  - {program}\n")
    user.viaduct("run", user.write(f"{lab}.yaml", text)).expect()


def test_a_file_that_others_may_write_to_allows_nothing(user: User, up: str, allowed: None) -> None:
    words = ["exec", "--new-privileges", f"{up}:n0", "--", "true"]
    user.viaduct(*words).expect()
    NEW_PRIVILEGES.chmod(0o666)
    assert str(NEW_PRIVILEGES) in user.viaduct(*words).error_line(3)


def test_a_program_has_the_callers_environment(user: User, up: str) -> None:
    user.write("bin/greet", "#!/bin/sh\necho hello from $HOME\n").chmod(0o755)
    done = user.viaduct("exec", f"{up}:n0", "--", "greet").expect()
    assert done.output == f"hello from {user.home}\n"


def test_roots_half_can_do_only_what_it_needs(user: User, up: str) -> None:
    record = json.loads(Path(f"/run/viaduct/{up}/record.jsonl").read_text().splitlines()[0])
    broker = Path(f"/proc/{record['pid']}")
    status = (broker / "status").read_text()
    for kind in ("Bnd", "Prm"):
        found = re.search(rf"^Cap{kind}:\s+(\w+)$", status, re.MULTILINE)
        assert found
        for barred in (16, 17, 18, 21 + 1, 25, 27):  # SYS_MODULE, RAWIO, CHROOT, BOOT, TIME, MKNOD
            assert not int(found[1], 16) & 1 << barred, status
    assert (broker / "cwd").resolve() == Path("/")
    assert len(list((broker / "fd").iterdir())) < 20

    def has_ended() -> bool:
        return "viaduct-steward" not in processes_of_machine().values()

    wait_until(has_ended, "a steward ends with its command")


@pytest.fixture
def wire(lab: str) -> Iterator[tuple[str, str]]:
    """Two interfaces that a path can be between."""
    ends = (f"{lab}a", f"{lab}b")
    execute(["ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1]]).expect()
    for end in ends:
        execute(["ip", "link", "set", "dev", end, "up"]).expect()
    yield ends
    execute(["ip", "link", "delete", "dev", ends[0]])


def test_a_schedule_is_read_as_the_user(user: User, wire: tuple[str, str], secret: Path) -> None:
    done = user.sudo("path", "--between", *wire, "--schedule", secret, "--duration", "1s")
    assert done.status != 0
    assert "ermission denied" in done.errors
    assert "only root" not in done.errors


@pytest.mark.parametrize("umask", ["077", "000"])
def test_a_path_is_the_users(umask: str, user: User, wire: tuple[str, str]) -> None:
    results = user.home / f"path{umask}.json"
    path = ["path", "--between", *wire, "--json", str(results)]
    command = [*user.words("/usr/bin:/bin", umask), "sudo", "-n", str(VIADUCT), *path]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(lambda: user.viaduct("path", "stats").status == 0, "its statistics")
        record = next(Path("/run/viaduct/.paths").glob("*/record.json"))
        assert stat.S_IMODE(record.stat().st_mode) == 0o644
        assert stat.S_IMODE(record.parent.stat().st_mode) == 0o755
        process.terminate()
        assert process.wait(TIMEOUT) == 0
    assert results.stat().st_uid == user.uid
    assert json.loads(results.read_text())["pipelines"]


def test_a_path_obeys_its_user_alone(user: User, wire: tuple[str, str]) -> None:
    command = [*user.words("/usr/bin:/bin"), str(VIADUCT), "path", "--between", *wire]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: user.viaduct("path", "stats").status == 0, "its statistics")
            for words in (["stats"], ["set", "--up", "loss=100%"]):
                assert as_nobody(VIADUCT, "path", *words, cwd=Path("/")).status != 0
            user.viaduct("path", "set", "--up", "delay=1ms").expect()
        finally:
            process.terminate()
            process.wait(TIMEOUT)


def test_a_path_needs_no_capability(user: User, wire: tuple[str, str]) -> None:
    """Without sudo in front: the process that forwards has never been root."""
    user.viaduct("path", "--between", *wire, "--duration", "1s").expect()


def test_root_runs_no_program_of_the_users_path(user: User, lab: str) -> None:
    proof = user.home / "proof"
    for name in ("nft", "ip", "sysctl", "sudo-not"):
        file = user.write(f"bin/{name}", f"#!/bin/sh\nid -u >>{proof}\n")
        file.chmod(0o755)
    user.viaduct("shell", "--", "true").expect()
    assert not proof.exists(), proof.read_text()


def test_a_shell_and_its_terminal_are_the_users(user: User, lab: str) -> None:
    words = f"sudo -n {VIADUCT} shell -- stat -c %u:%a /proc/self/fd/0 -L"
    done = user.run("script", "-qec", words, "/dev/null")
    assert f"{user.uid}:" in done.output, done
    status = user.sudo("shell", "--", "cat", "/proc/self/status").expect().output
    assert re.search(rf"^Uid:(\s+{user.uid}){{4}}$", status, re.MULTILINE), status
    for kind in ("Inh", "Prm", "Eff", "Amb"):
        assert re.search(rf"^Cap{kind}:\s+0+$", status, re.MULTILINE), status
    assert user.sudo("shell", "--", "sh", "-c", "umask", umask="077").output.strip() == "0077"


def test_shells_are_nested(user: User, lab: str, allowed: None) -> None:
    inner = f"{VIADUCT} shell -- ping -c 1 -W 5 $VIADUCT_HOST"
    both = ["--", "sh", "-c", f"ping -c 1 -W 5 $VIADUCT_HOST && {inner}"]
    done = user.viaduct("shell", "--up", "delay=20ms", "--new-privileges", *both)
    assert done.expect().output.count(" 0% packet loss") == 2
    assert "unless you start them with --new-privileges" in user.viaduct("shell", *both).errors


def test_nobody_holds_up_a_shell(user: User, lab: str) -> None:
    """A user who locks all that there is to lock under /run/viaduct."""
    user.sudo("shell", "--", "true").expect()
    hold = (
        "import fcntl, os, pathlib, sys, time\n"
        "held = []\n"
        "root = pathlib.Path('/run/viaduct')\n"
        "for path in [root, *root.rglob('*')]:\n"
        "    try:\n"
        "        held.append(os.open(path, os.O_RDONLY | os.O_NONBLOCK))\n"
        "        fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
        "    except OSError:\n"
        "        pass\n"
        "print(len(held), flush=True)\n"
        "time.sleep(100)\n"
    )
    command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "python3", "-c", hold]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        try:
            assert holder.stdout
            assert int(holder.stdout.readline()) > 0
            user.sudo("shell", "--", "true", timeout=TIMEOUT).expect()
        finally:
            holder.kill()


def test_the_halves_are_not_for_others(user: User) -> None:
    assert user.sudo("privileged-half").status == 2
    assert user.viaduct("privileged-half").status == 2


def test_the_rule_of_the_docs_is_enough(user: User, wire: tuple[str, str], lab: str) -> None:
    nodes, links = "nodes: {a: {remote: true}, b: {}}", "{pair: [a, b]}"
    remote = LAB.replace("nodes: 2", nodes).replace("{line: all}", links)
    hub = user.write(f"{lab}.yaml", remote)
    rule = Path(f"/etc/sudoers.d/{user.name}")
    before = rule.read_text()
    try:
        rule.write_text(f"{user.name} ALL = (root) NOPASSWD: {VIADUCT} privileged-half\n")
        user.viaduct("shell", "--", "true").expect()
        user.viaduct("path", "--between", *wire, "--duration", "1s").expect()
        user.viaduct("hub", hub, "--duration", "1s").expect()
        assert user.sudo("version").status == 1, "sudo asks for a password"
    finally:
        rule.write_text(before)


def test_real_root_stays_root(lab: str, scenario: Callable[[str], Path]) -> None:
    viaduct("up", scenario(LAB)).expect()
    try:
        assert viaduct("exec", f"{lab}:n0", "--", "id", "-u").expect().output == "0\n"
    finally:
        viaduct("down", lab).expect()
