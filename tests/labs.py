"""Helpers of the end-to-end tests: running the command, the state of the kernel, leftovers."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pwd
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("VIADUCT_BUILD", REPOSITORY / "build"))
VIADUCT = BUILD / "viaduct"
MARK = f"VIADUCT_TEST_SESSION={os.getpid()}"  # in the environment of every process a test starts

# Seconds. What a test waits for has happened long before, however slow the machine; only what never
# happens takes so long.
TIMEOUT = 60.0

RUN, NAMES = Path("/run/viaduct"), Path("/run/netns")
MEMORY = Path("/dev/shm")  # of guest kernels
NEW_MOUNTS, NEW_NETWORK = 0x20000, 0x40000000  # CLONE_NEWNS, CLONE_NEWNET of sched.h
_FOLLOWING = 1 << 19 | 1 << 14  # MS_SLAVE, MS_REC of sys/mount.h

_OUTSIDE = "VIADUCT_TESTS_OUTSIDE"  # a process in the network from which tests were started
_OF_VIRTUAL_TIME = (".booting", ".paused")  # registries of simulations
_SYSTEM_PLACES = ("/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin")

# Timers short enough that a line of five converges in about three seconds.
FAST_OLSR = """
routing:
  protocol: ns3::olsr::RoutingProtocol
  attributes: {HelloInterval: 250ms, TcInterval: 500ms}
"""


def settle() -> None:
    """Gives this process the state that tests expect, however it was started.

    A daemon leaves signals ignored, descriptors closed and few variables; a user has a language, a
    width of the terminal, a umask and a folder for temporary files that others cannot enter.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number, which is this one
    for ignored in signal.valid_signals() - {signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(ignored) == signal.SIG_IGN:
            signal.signal(ignored, signal.SIG_DFL)
    if signal.getsignal(signal.SIGINT) == signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    os.umask(0o022)
    unwanted = {"LANG", "LANGUAGE", "COLUMNS", "LINES", "NO_COLOR", "CLICOLOR_FORCE"}
    unwanted |= {name for name in os.environ if name.startswith(("GTEST_", "PYTEST_ADD"))}
    for name in unwanted:
        os.environ.pop(name, None)
    os.environ.setdefault("HOME", pwd.getpwuid(os.getuid()).pw_dir)
    places = os.environ.get("PATH", os.defpath).split(":")
    places += [place for place in _SYSTEM_PLACES if place not in places]
    temporary = tempfile.gettempdir()
    shared = Path(temporary).stat().st_mode & 0o777 == 0o777
    os.environ |= {"LC_ALL": "C", "TERM": "dumb", "PATH": ":".join(places)}
    os.environ["TMPDIR"] = temporary if shared else "/tmp"
    tempfile.tempdir = None


def enter_machine(spaces: int = 0) -> None:
    """Gives this thread and what it starts records, names of namespaces, memory and a network.

    `viaduct clean` and `viaduct ls` are for all of a machine: what the tests of another process
    have up, or left dead on purpose, is none of theirs then. Nor is what the user has up, nor
    are the links that anybody makes meanwhile.
    """
    os.environ.setdefault(_OUTSIDE, str(os.getppid()))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(NEW_MOUNTS | NEW_NETWORK | spaces) or libc.mount(
        b"none", b"/", None, _FOLLOWING, None
    ):
        raise OSError(ctypes.get_errno(), "unshare")
    memory = os.statvfs(MEMORY)
    options = {RUN: "mode=755", NAMES: "mode=755"}
    options[MEMORY] = f"mode=1777,size={memory.f_blocks * memory.f_frsize}"
    for place, words in options.items():
        place.mkdir(exist_ok=True)
        execute(["mount", "-t", "tmpfs", "-o", words, "none", str(place)]).expect()
    execute(["ip", "link", "set", "lo", "up"]).expect()


@contextlib.contextmanager
def network_outside() -> Iterator[None]:
    """The programs of the block are in the network of the process that started the tests.

    Some of the kernel's counters exist in the initial network namespace alone.
    """
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(network: int) -> None:
        if libc.setns(network, NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")

    own = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    outside = os.open(f"/proc/{os.environ[_OUTSIDE]}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
    try:
        enter(outside)
        yield
    finally:
        enter(own)
        os.close(own)
        os.close(outside)


def environment() -> dict[str, str]:
    """The environment of everything a test starts; carries the session's mark."""
    name, value = MARK.split("=")
    return {**os.environ, name: value}


@dataclass
class Done:
    """The result of a command."""

    status: int
    output: str
    errors: str

    def expect(self, status: int = 0) -> Done:
        """Fails the test, with the whole output, unless the exit status is this."""
        assert self.status == status, f"exit status {self.status}, not {status}\n{self}"
        return self

    def error_line(self, status: int) -> str:
        """The one line of standard error that a failure ends with."""
        self.expect(status)
        lines = self.errors.strip().splitlines()
        assert lines, "nothing on standard error"
        assert "terminate called" not in self.errors, self.errors
        return lines[-1]

    def __str__(self) -> str:
        """For the messages of assertions."""
        return f"--- output\n{self.output}\n--- errors\n{self.errors}"


def viaduct(*arguments: str | Path, timeout: float = 150, cwd: Path | None = None) -> Done:
    """Runs the command to its end."""
    return execute([str(VIADUCT), *map(str, arguments)], timeout=timeout, cwd=cwd)


def execute(command: list[str], timeout: float = 150, cwd: Path | None = None) -> Done:
    """Runs any program to its end."""
    process = subprocess.run(
        command,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        timeout=timeout,
        env=environment(),
        cwd=cwd,
        check=False,
    )
    return Done(process.returncode, process.stdout, process.stderr)


def results(file: Path) -> dict[str, Any]:
    """The --json file of a run."""
    loaded = json.loads(file.read_text())
    assert isinstance(loaded, dict)
    return loaded


def as_nobody(*command: str | Path, timeout: float = 150, cwd: Path | None = None) -> Done:
    """Runs a program as an unprivileged user without sudo.

    One capability is left, to read files: the build and the ns-3 kit may lie in root's home.
    """
    read = "+dac_read_search"
    drop = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    drop += [f"--inh-caps={read}", f"--ambient-caps={read}", "env", "PATH=/nowhere"]
    return execute([*drop, *map(str, command)], timeout=timeout, cwd=cwd)


class Running:
    """The command while it runs, its standard error followed line by line."""

    def __init__(
        self, *arguments: str | Path, cwd: Path | None = None, before: Sequence[str] = ()
    ) -> None:
        """With `before`, what enters another place and runs the command there."""
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [*before, str(VIADUCT), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment(),
            start_new_session=True,
            cwd=cwd,
        )
        assert self.process.stdout
        os.set_blocking(self.process.stdout.fileno(), False)
        self.text = ""

    @property
    def pid(self) -> int:
        """The pid of the command itself."""
        return self.process.pid

    def read(self) -> str:
        """All that was printed so far."""
        assert self.process.stdout
        with contextlib.suppress(TypeError, ValueError):
            self.text += self.process.stdout.read() or ""
        return self.text

    def processes(self) -> list[str]:
        """What each thread of its session does: command, state, the kernel's function."""
        found = []
        for stat in Path("/proc").glob("[0-9]*/task/[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = stat.read_text().rpartition(")")[2].split()
                if int(fields[3]) == self.pid:
                    name, place = (
                        (stat.parent / file).read_text().strip() for file in ("comm", "wchan")
                    )
                    found.append(f"{name} {stat.parent.name} {fields[0]} {place}")
        return found

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """All its threads stand still while the block lasts."""

        def state(task: Path) -> str:
            return (task / "stat").read_text().rpartition(")")[2].split()[0]

        self.process.send_signal(signal.SIGSTOP)
        tasks = Path(f"/proc/{self.pid}/task")
        wait_until(lambda: all(state(task) == "T" for task in tasks.iterdir()), "it has stopped")
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def wait_for(self, what: str, timeout: float = TIMEOUT) -> None:
        """Waits until the text was printed; fails if the command ends before."""
        end = time.monotonic() + timeout
        while what not in self.read():
            assert self.process.poll() is None, f"ended before it printed '{what}':\n{self.text}"
            assert time.monotonic() < end, f"never printed '{what}':\n{self.text}"
            time.sleep(0.02)

    def wait(self, timeout: float = TIMEOUT) -> int:
        """Its exit status."""
        end = time.monotonic() + timeout
        while self.process.poll() is None:
            self.read()
            assert (
                time.monotonic() < end
            ), f"still running after {timeout} s: {self.processes()}:\n{self.text}"
            time.sleep(0.02)
        self.read()
        return self.process.returncode

    def stop(self) -> None:
        """Kills it; for the clean-up of a failed test."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(TIMEOUT)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


@contextlib.contextmanager
def running(*arguments: str | Path, cwd: Path | None = None) -> Iterator[Running]:
    """The command in the background, ended with the block at the latest."""
    command = Running(*arguments, cwd=cwd)
    try:
        yield command
    finally:
        command.stop()


def is_alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def interface_parameters() -> list[Path]:
    """The sysctls of all interfaces of this namespace. Interfaces may go while they are listed."""
    walks = (os.walk(f"/proc/sys/net/ipv{version}/conf") for version in (4, 6))
    found = [Path(folder) / name for walk in walks for folder, _, names in walk for name in names]
    return [Path("/proc/sys/net/ipv4/ip_forward"), *found]


def wait_until(condition: Callable[[], Any], what: str | Callable[[], str]) -> Any:
    """Polls until the condition holds and returns its value; `what` is told if it never does."""
    end = time.monotonic() + TIMEOUT
    while True:
        value = condition()
        if value:
            return value
        late = time.monotonic() >= end
        assert not late, f"not within {TIMEOUT} s: {what if isinstance(what, str) else what()}"
        time.sleep(0.05)


def measured(measure: Callable[[], float], least: float, below: float) -> None:
    """Fails if a real time is ever measured as less than `least`, or never as less than `below`.

    A busy machine makes a measurement longer, some of them, and none shorter.
    """

    def good() -> bool:
        values.append(measure())
        assert values[-1] >= least, values
        return values[-1] < below

    values: list[float] = []
    wait_until(good, f"measured as less than {below}")


def ip(namespace: str, *arguments: str) -> Any:
    """`ip -j` inside a namespace."""
    done = execute(["ip", "-n", namespace, "-j", *arguments]).expect()
    return json.loads(done.output or "[]")


def inside(namespace: str, *command: str, timeout: float = 150) -> Done:
    """Runs a program inside a namespace, without the product's help."""
    return execute(["ip", "netns", "exec", namespace, *command], timeout=timeout)


def counted(namespace: str, *names: str) -> int:
    """The sum of counters of the node's kernel (`nstat`)."""
    text = inside(namespace, "nstat", "-asz", *names).expect().output
    return sum(int(line.split()[1]) for line in text.splitlines() if line.split()[0] in names)


def ping_all(namespace: str, target: str, count: int, *options: str) -> str:
    """What ping prints, all of whose requests must be answered."""
    command = ["ping", f"-c{count}", "-W5", *options, target]
    return all_answered(namespace, count, lambda: inside(namespace, *command)).output


def all_answered(namespace: str, count: int, ping: Callable[[], Done]) -> Done:
    """Runs a ping of so many requests in a namespace, all of which must be answered.

    The kernel counts: ping itself waits for its last answers no longer than for an interval.
    """

    def answers() -> int:
        return counted(namespace, "IcmpInEchoReps", "Icmp6InEchoReplies")

    before = answers()
    done = ping().expect()
    wait_until(lambda: answers() - before >= count, f"all {count} are answered")
    assert answers() - before == count
    return done


def own_routes(namespace: str, family: str = "-4") -> dict[str, str | None]:
    """Destination to next hop, of the routes the product made (protocol 155)."""
    done = execute(["ip", "-n", namespace, family, "-j", "route", "show", "proto", "155"]).expect()
    return {route["dst"]: route.get("gateway") for route in json.loads(done.output or "[]")}


def addresses(namespace: str) -> dict[str, str]:
    """Interface to its IPv4 address."""
    return {
        link["ifname"]: info["local"]
        for link in ip(namespace, "address")
        for info in link["addr_info"]
        if info["family"] == "inet" and link["ifname"] != "lo"
    }


def namespaces() -> set[str]:
    """The named namespaces of this machine."""
    done = execute(["ip", "netns", "list"]).expect()
    return {line.split()[0] for line in done.output.splitlines() if line}


def links() -> set[str]:
    """The interfaces outside every lab."""
    return {link["ifname"] for link in json.loads(execute(["ip", "-j", "link"]).expect().output)}


def records() -> set[str]:
    """Of labs by their names; of other registries by their folder, too: ".paths/a-b"."""
    found = set()
    for folder, names, _ in os.walk(RUN):  # what goes meanwhile is skipped
        place = Path(folder).relative_to(RUN)
        if place == Path():
            found |= {name for name in names if name[0] != "."}
        elif place.parent == Path() and place.name[0] == ".":
            found |= {str(place / name) for name in names}
    return found


def made() -> dict[str, int]:
    """The folders of namespaces and of records of real time, with their times of modification.

    They differ from those before if something was made meanwhile, also where it is gone again.
    """
    found = {}
    for folder in (NAMES, *RUN.glob(".*")):
        if folder.name not in _OF_VIRTUAL_TIME:
            with contextlib.suppress(FileNotFoundError):
                found[str(folder)] = folder.stat().st_mtime_ns
    return found


def forwarders(namespace: str) -> set[int]:
    """The processes of this name in the lab's namespaces."""
    pids = execute(["ip", "netns", "pids", namespace]).expect().output.split()
    return {
        int(pid)
        for pid in pids
        if Path(f"/proc/{pid}/comm").read_text().strip() == "viaduct-forward"
    }


def forwarder(lab: str, nodes: int) -> int:
    """The lab's one forwarder."""
    found: set[int] = set()
    for i in range(nodes):
        found |= forwarders(f"{lab}.n{i}")
    assert len(found) == 1, found
    return found.pop()


def marked_processes() -> dict[int, str]:
    """The processes started in this session, but not this one and its own children."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            if MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if command:
                    found[int(folder.name)] = command
        except (OSError, ValueError):
            continue
    return found


def processes_of_machine() -> dict[int, str]:
    """The processes on this machine of ours, pid to command name: see enter_machine()."""
    found, own = {}, Path("/proc/self/ns/mnt").readlink()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # those of zombies cannot be read
            if (folder / "ns/mnt").readlink() == own:
                found[int(folder.name)] = (folder / "comm").read_text().strip()
    return found


def descendants(pid: int) -> dict[int, str]:
    """The processes below this one, pid to command name."""
    found: dict[int, str] = {}
    pending = [pid]
    while pending:
        with contextlib.suppress(OSError):
            parent = pending.pop()
            for task in Path(f"/proc/{parent}/task").iterdir():
                for child in map(int, (task / "children").read_text().split()):
                    found[child] = Path(f"/proc/{child}/comm").read_text().strip()
                    pending.append(child)
    return found


def simulator_of(pid: int) -> int:
    """The pid of viaduct-sim below the command."""
    for child, name in descendants(pid).items():
        if name.startswith("viaduct-sim"):
            return child
    raise AssertionError(f"no viaduct-sim below {pid}: {descendants(pid)}")


@dataclass
class Footprint:
    """The objects on the machine that are ours, or new: see enter_machine()."""

    namespaces: set[str]
    links: set[str]
    records: set[str]
    processes: dict[int, str]

    @staticmethod
    def now() -> Footprint:
        """Namespaces, links and records are of this process alone: see enter_machine()."""
        return Footprint(
            namespaces(),
            links(),
            records() | {path.name for path in MEMORY.glob("viaduct-*")},
            marked_processes(),
        )

    def since(self, before: Footprint) -> list[str]:
        """The objects that exist now and did not before."""
        left = [f"namespace {name}" for name in sorted(self.namespaces - before.namespaces)]
        left += [f"link {name}" for name in sorted(self.links - before.links)]
        left += [f"record /run/viaduct/{name}" for name in sorted(self.records - before.records)]
        left += [f"process {pid} {self.processes[pid]}" for pid in self.processes]
        return left


def remove(left: list[str]) -> None:
    """Removes what a failed test left, so that the next one starts clean."""
    for entry in left:
        kind, _, name = entry.partition(" ")
        if kind == "process":
            with contextlib.suppress(OSError):
                os.kill(int(name.split()[0]), signal.SIGKILL)
    execute([str(VIADUCT), "clean"])
    for entry in left:
        kind, _, name = entry.partition(" ")
        if kind == "namespace":
            execute(["ip", "netns", "delete", name])
        elif kind == "link":
            execute(["ip", "link", "delete", name])


def without_wall_clock(run: dict[str, Any]) -> str:
    """The results without the keys on when, where and how fast they were computed."""
    run = json.loads(json.dumps(run))
    for key in ("environment", "setup_seconds", "teardown_seconds", "timing", "loop"):
        run.pop(key, None)
    return json.dumps(run, indent=1, sort_keys=True)
