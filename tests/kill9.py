#!/usr/bin/python3
"""Kills the command at random instants, cleans up, and prints what is left.

    sudo tests/kill9.py [--seed N] [--count N] [--kinds lab,run,shell,...] [--first N]

Each trial starts the command in a network namespace that plays the machine, kills one of its
processes or all of them with SIGKILL at a random instant, waits until the others have ended, runs
`viaduct clean`, and compares the machine with what it was before: namespaces, interfaces and their
offloads, nftables, eBPF programs and maps, sysctls, processes, /run/viaduct and temporary folders.
In some trials something is scarce: room in /run, on the disk, descriptors, memory. A trial depends
on its seed and number, so `--seed N --first NUMBER --count 1` repeats it, but for the machine's
speed. Exit status 1: something was left, or did not end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import ebpf
from labs import (
    MARK,
    MEMORY,
    RUN,
    TIMEOUT,
    VIADUCT,
    enter_machine,
    environment,
    execute,
    interface_parameters,
    settle,
    wait_until,
)

LAB = """
name: NAME
mode: offload
duration: 1h
nodes: 3
links: [{pair: [n0, n1], spec: "delay=1ms"}, {pair: [n1, n2]}]
routing: {protocol: static}
data_plane: PLANE
"""
PLANES = ["kernel", "ebpf", "joined", "userspace"]
FLOWS = "flows: [{type: ping, from: n0, to: n2}]\nprograms: [{node: n1, command: sleep 1000}]\n"
KERNEL = """
name: NAME
mode: simulate
stack: kernel
duration: 100s
nodes: 2
links: [{line: all}]
routing: {protocol: static}
flows: [{type: ping, from: n0, to: n1}]
"""
HUB = """
name: NAME
mode: MODE
data_plane: PLANE
nodes:
  r: {}
  far: {}
NODES
links:
  - {pair: [r, far]}
LINKS
routing: {protocol: static}
"""
PROGRAM = ["sh", "-c", "setsid sleep 1000 & sleep 1000"]

# The host of the hub that clients join.
AWAY, AWAY_ADDRESS = "away", "192.0.2.2"

# Names of processes (/proc/PID/comm) for each point at which a trial interrupts.
POINTS = {
    "guardian": ("viaduct-steward", "viaduct-guard", "viaduct-keeper", "viaduct-shell"),
    "broker": ("viaduct-broker",),
}


@dataclass
class Kind:
    """What is started, how long it may run, in seconds, before it is interrupted."""

    words: Callable[[str, Path, str], list[str]]  # its name, a folder, a data plane
    longest: float
    # What another terminal tries meanwhile, again and again.
    beside: Callable[[str], list[str]] | None = None


def _scenario(text: str, *words: str) -> Callable[[str, Path, str], list[str]]:
    def write(name: str, folder: Path, plane: str) -> list[str]:
        file = folder / "scenario.yaml"
        file.write_text(text.replace("NAME", name).replace("PLANE", plane))
        return [words[0], str(file), *words[1:]]

    return write


def _hub_of(clients: int, mode: str) -> str:
    """A hub's scenario; its nodes are for those who have the key."""
    names = range(clients)
    text = HUB.replace("MODE", mode)
    text = text.replace("NODES", "\n".join(f"  c{i}: {{remote: true}}" for i in names))
    return text.replace("LINKS", "\n".join(f"  - {{pair: [c{i}, r]}}" for i in names))


def _hub(name: str, folder: Path, plane: str) -> list[str]:
    words = ["hub", "--key", str(folder / "hub.key"), "--duration", "1h"]
    return _scenario(_hub_of(3, "offload"), *words)(name, folder, plane)


def _join(_name: str, folder: Path, _plane: str) -> list[str]:
    return ["join", AWAY_ADDRESS, "--key", str(folder / "away.key"), "--", *PROGRAM]


KINDS = {
    "lab": Kind(_scenario(LAB, "up"), 4),
    "run": Kind(_scenario(LAB + FLOWS, "run"), 5),
    "shell": Kind(lambda *_: ["shell", "--up", "delay=5ms", "--", *PROGRAM], 0.8),
    "path": Kind(lambda *_: ["path", "--between", "a1", "b0", "--up", "delay=5ms"], 0.8),
    "hub": Kind(_hub, 5),
    "join": Kind(_join, 1),
    "kernel": Kind(_scenario(KERNEL, "run"), 5),
    "kernelshell": Kind(
        _scenario(KERNEL, "run", "--pause-at", "1s"),
        8,
        lambda name: ["kernel", "shell", f"{name}:n0", "--", *PROGRAM],
    ),
}
WITH_PLANE = {"lab", "run", "hub"}
SETTLING = 5  # seconds for those that end by themselves; others need `clean`
SCARCE = ["run", "disk", "descriptors", "memory"]
OF_ANOTHER_USER = {"shell", "path"}  # these execute nothing else of the build, which may be root's


def _ip(*words: str) -> str:
    return execute(["ip", *words]).expect().output


def furnish_machine() -> None:
    """A network of this process's, with what an administrator may have set up."""
    enter_machine()
    for one, other in (("a0", "a1"), ("b0", "b1"), ("c0", "c1")):
        _ip("link", "add", one, "type", "veth", "peer", "name", other)
        for name in (one, other):
            _ip("link", "set", "dev", name, "up")
    # The kernel says a moment later that a link has its carrier.
    wait_until(lambda: "LOWERLAYERDOWN" not in _ip("-o", "link"), "the links are up")
    _ip("address", "add", "192.0.2.1/24", "dev", "c0")
    Path("/proc/sys/net/ipv4/conf/c0/forwarding").write_text("1")


@contextlib.contextmanager
def hub_away(folder: Path) -> Iterator[None]:
    """A hub on another host; who was killed keeps its node for a minute, so there are many."""
    _ip("netns", "add", AWAY)
    _ip("link", "set", "c1", "netns", AWAY)
    _ip("-n", AWAY, "address", "add", f"{AWAY_ADDRESS}/24", "dev", "c1")
    for name in ("lo", "c1"):
        _ip("-n", AWAY, "link", "set", name, "up")
    file = folder / "away.yaml"
    text = _hub_of(200, "simulate").replace("data_plane: PLANE\n", "")
    file.write_text(text.replace("NAME", "away"))
    words = ["hub", str(file), "--key", str(folder / "away.key")]
    command = ["ip", "netns", "exec", AWAY, str(VIADUCT), *words]
    none = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=none, stdout=none, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stderr
        try:
            while b"a client without" not in (line := process.stderr.readline()):
                assert line, "the hub on another host has ended"
            drain = subprocess.Popen(["cat"], stdin=process.stderr, stdout=none)
            yield
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(TIMEOUT)
        drain.wait(TIMEOUT)
    _ip("netns", "del", AWAY)


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def processes() -> dict[int, str]:
    """Those that descend from this one, pid to name: they have its namespaces, or its mark."""
    own = {kind: Path(f"/proc/self/ns/{kind}").readlink() for kind in ("mnt", "net")}
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            shared = any((folder / "ns" / kind).readlink() == own[kind] for kind in own)
            if shared or MARK.encode() in (folder / "environ").read_bytes().split(b"\0"):
                found[int(folder.name)] = _read(folder / "comm")
    return found


def _files(folder: Path) -> Iterator[str]:
    """Of /run/viaduct; its own folders that stay are nothing."""
    for path in folder.rglob("*"):
        if path != RUN / ".turn" and path.name != "filler":
            yield str(path)


def footprint(temporary: Path) -> dict[str, object]:
    """All that a trial may not change."""
    links = _ip("-o", "-d", "link")  # promiscuity is among the details
    names = sorted(line.split(": ")[1].split("@")[0] for line in links.splitlines())
    sysctls = {str(path): _read(path) for path in interface_parameters() if path.is_file()}
    here = [path for path in temporary.iterdir() if path.name != "filler"]
    return {
        "namespaces": sorted(_ip("netns", "list").split("\n")),
        "links": sorted(links.splitlines()),
        "offloads": {name: execute(["ethtool", "-k", name]).output for name in names},
        "nft": execute(["nft", "list", "ruleset"]).output,
        "sysctls": sysctls,
        "records": sorted(_files(RUN)),
        "temporary": sorted(map(str, [*MEMORY.iterdir(), *here])),
        "processes": sorted(f"{pid} {name}" for pid, name in processes().items()),
    }


def difference(before: object, after: object) -> str:
    """What is in one and not in the other."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = before.keys() | after.keys()
        parts = {key: difference(before.get(key, ""), after.get(key, "")) for key in keys}
        return "; ".join(f"{key}: {text}" for key, text in sorted(parts.items()) if text)
    if isinstance(before, list) and isinstance(after, list):
        gone = [f"-{item}" for item in before if item not in after]
        return " ".join(gone + [f"+{item}" for item in after if item not in before])
    return "" if before == after else difference(str(before).split("\n"), str(after).split("\n"))


class Trial:
    """One interruption."""

    def __init__(self, seed: int, number: int, kinds: list[str], temporary: Path) -> None:
        draw = random.Random(f"{seed}/{number}")
        self.name = f"k{os.getpid() % 10000}x{number}"
        self.kind = draw.choice(kinds)
        self.point = draw.choice(["main", "guardian", "broker", "all", "one"])
        self.scarce = draw.choice([*SCARCE, *[""] * len(SCARCE)])
        # Much happens at the start of the short ones.
        self.after = draw.random() ** 2 * KINDS[self.kind].longest
        self.user = draw.choice([0, 65534]) if self.kind in OF_ANOTHER_USER else 0
        self.room = draw.randrange(0, 5)
        self.pick = draw.random()
        self.plane = draw.choice(PLANES)
        self.temporary = temporary
        self.known = set(processes())

    def __str__(self) -> str:
        """For people."""
        scarce = f", little {self.scarce} ({self.room})" if self.scarce else ""
        kind = f"{self.kind} ({self.plane})" if self.kind in WITH_PLANE else self.kind
        return f"{kind} of {self.user}, {self.point} killed after {self.after:.3f} s{scarce}"

    def own(self) -> dict[int, str]:
        """Its processes."""
        return {pid: name for pid, name in processes().items() if pid not in self.known}

    def _limit(self) -> None:
        if self.scarce == "descriptors":
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        if self.scarce == "memory":
            size = (64 << self.room) << 20
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

    @contextlib.contextmanager
    def _scarcity(self) -> Iterator[None]:
        """A file system with room for little more than nothing."""
        place = {"run": RUN, "disk": self.temporary}.get(self.scarce)
        if not place:
            yield
            return
        place.mkdir(exist_ok=True)
        options = "size=64k,nr_inodes=64,mode=" + ("755" if place == RUN else "1777")
        execute(["mount", "-t", "tmpfs", "-o", options, "none", str(place)]).expect()
        (place / "filler").write_bytes(bytes((16 - self.room) * 4096))
        try:
            yield
        finally:
            execute(["umount", "--lazy", str(place)]).expect()

    def _victims(self, main: int) -> list[int]:
        own = self.own()
        if self.point == "all":
            return list(own)
        if self.point == "main" and main in own:
            return [main]
        names = POINTS.get(self.point, ())
        fitting = [pid for pid, name in own.items() if name in names]
        candidates = fitting or sorted(own)
        return candidates[int(self.pick * len(candidates)) :][:1]

    @contextlib.contextmanager
    def _beside(self, variables: dict[str, str], main: int, out: int) -> Iterator[None]:
        """The other terminal, as long as the command lives."""
        beside = KINDS[self.kind].beside
        if not beside:
            yield
            return
        command = shlex.join([str(VIADUCT), *beside(self.name)])
        loop = f"while kill -0 {main}; do {command}; sleep 0.1; done 2>/dev/null"
        words = ["sh", "-c", loop]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, env=variables) as other:
            yield
            try:
                other.wait(60)
            except subprocess.TimeoutExpired:
                other.kill()
                raise AssertionError("what was tried beside it does not end") from None

    def _interrupt(self, words: list[str], out: int) -> int:
        variables = environment() | {"TMPDIR": str(self.temporary)}
        if self.user:
            variables |= {"SUDO_UID": str(self.user), "SUDO_GID": str(self.user)}
        with (
            subprocess.Popen(
                [str(VIADUCT), *words],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                env=variables,
                preexec_fn=self._limit,
                start_new_session=True,
            ) as process,
            self._beside(variables, process.pid, out),
        ):
            time.sleep(self.after)
            for pid in self._victims(process.pid):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            return self._end_of(process)

    @staticmethod
    def _end_of(process: subprocess.Popen[bytes]) -> int:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(2)
        process.send_signal(signal.SIGTERM)  # what was killed is not what it needs
        try:
            return process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError("it does not end") from None

    def _settle(self) -> None:
        """Waits for those that end by themselves. A lab that is up need not."""
        if self.kind == "lab":
            execute([str(VIADUCT), "down", self.name])
        end = time.monotonic() + SETTLING
        while self.own() and time.monotonic() < end:
            time.sleep(0.05)

    def run(self) -> str:
        """Returns what is wrong afterwards."""
        with self._scarcity(), tempfile.TemporaryFile() as out:
            before = footprint(self.temporary)
            words = KINDS[self.kind].words(self.name, self.temporary.parent, self.plane)
            self._interrupt(words, out.fileno())
            text, left = self._clean(before)
            if left:
                out.seek(0)
                text += f"left: {left}\n  it said: {out.read().decode(errors='replace')[-500:]}"
            return text

    def _clean(self, before: dict[str, object]) -> tuple[str, str]:
        """How it failed, and what is left; once more if something may have been dying meanwhile."""
        end = time.monotonic() + TIMEOUT
        while True:
            self._settle()
            dying = bool(self.own())
            cleaned = execute([str(VIADUCT), "clean"])
            text = "" if cleaned.status == 0 else f"clean failed: {cleaned.errors}"
            left = self._left(before, SETTLING if dying else TIMEOUT)
            if not (text or left) or not dying or time.monotonic() > end:
                return text, left

    def _left(self, before: dict[str, object], timeout: float) -> str:
        """The kernel removes in the background."""
        end = time.monotonic() + timeout
        while True:
            left = difference(before, footprint(self.temporary))
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)

    def clear(self) -> None:
        """So that the next trial does not find it."""
        for pid in self.own():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        execute([str(VIADUCT), "clean"])


class EbpfObjects:
    """Those that have come during trials and stay.

    Their numbers are the machine's: others' come, too, but do not outlive their labs.
    """

    def __init__(self) -> None:
        self.known = set(ebpf.everything())
        self.after: dict[str, Trial] = {}  # what was there first at the end of which trial

    def look(self, trial: Trial) -> None:
        """At the end of a trial."""
        for name in ebpf.everything():
            if name not in self.known:
                self.after.setdefault(name, trial)

    def left(self) -> dict[str, Trial]:
        """What does not go."""
        end = time.monotonic() + 2 * TIMEOUT
        while True:
            now = set(ebpf.everything())
            left = {name: trial for name, trial in self.after.items() if name in now}
            if not left or time.monotonic() > end:
                return left
            time.sleep(0.1)


def available_kinds() -> list[str]:
    """Without a kernel for guests there is no kind `kernel`."""
    has_kernel = "release" in execute([str(VIADUCT), "kernel", "list"]).output
    return [kind for kind in KINDS if not kind.startswith("kernel") or has_kernel]


def main() -> int:
    """Run; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--kinds", default=",".join(available_kinds()))
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("kill9: needs root, for network namespaces")
    settle()
    furnish_machine()
    print(f"seed {options.seed}", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="kill9-"))
    temporary = folder / "tmp"
    temporary.mkdir(mode=0o1777)
    folder.chmod(0o755)
    failed = 0
    objects = EbpfObjects()
    away = hub_away(folder) if "join" in options.kinds.split(",") else contextlib.nullcontext()
    with away:
        for number in range(options.first, options.first + options.count):
            trial = Trial(options.seed, number, options.kinds.split(","), temporary)
            try:
                wrong = trial.run()
            except AssertionError as error:
                wrong = str(error)
            if wrong:
                failed += 1
                print(f"{number}: {trial}\n  {wrong}", flush=True)
                trial.clear()
            objects.look(trial)
    for name, trial in objects.left().items():
        failed += 1
        print(f"{trial}\n  left: {name}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    print(f"{options.count} trials, {failed} with something left")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
