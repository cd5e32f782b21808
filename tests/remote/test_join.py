"""`viaduct join`: programs and namespaces of this machine as nodes of a hub."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import test_hub
from labs import (
    VIADUCT,
    Done,
    Running,
    descendants,
    execute,
    inside,
    records,
    viaduct,
    wait_until,
)
from test_hub import NODES, Hosts, end, hub
from wires import entered

hosts = test_hub.hosts
HUB = "192.0.2.254"


@pytest.fixture(params=["simulate", "offload"])
def file(scenario: Callable[[str], Path], request: pytest.FixtureRequest) -> Path:
    """Two nodes, each for who has the key, 10 ms apart, of a simulation or a lab."""
    return scenario(NODES.format(a="true", b="true") + f"mode: {request.param}\n")


@pytest.fixture
def key(file: Path) -> Path:
    """The file of the hub's key, which the hub makes."""
    return test_hub.key_of(file)


def join(hosts: Hosts, key: Path, *arguments: str, address: str = HUB) -> Done:
    """`viaduct join` on the clients' host, to its end."""
    words = [str(VIADUCT), "join", address, "--key", str(key), *arguments]
    return inside(hosts.clients, *words)


@contextlib.contextmanager
def joined(
    hosts: Hosts, key: Path, *arguments: str, address: str = HUB, ready: str = "ready"
) -> Iterator[Running]:
    """The same in the background, from when it has printed that it is ready."""
    with entered(hosts.clients):
        process = Running("join", address, "--key", str(key), *arguments)
    try:
        process.wait_for(ready)
        yield process
    finally:
        process.stop()


READY = ["sh", "-c", "echo ready; exec sleep 600"]


def below_named(pid: int, name: str) -> int | None:
    """The process of that name below this one."""
    return next((each for each, found in descendants(pid).items() if found == name), None)


def reaches(namespace: str, address: str) -> bool:
    """Whether an answer comes."""
    return inside(namespace, "ping", "-c", "1", "-W", "1", address).status == 0


@pytest.mark.parametrize("address", [HUB, "[2001:db8::fe]:4789"])
def test_a_program_is_a_node(
    hosts: Hosts, file: Path, key: Path, tmp_path: Path, address: str
) -> None:
    written = tmp_path / "hub.json"
    look = "hostname; cat /sys/class/net/eth0/mtu; ip -4 route; ip -6 route; id -u"
    pings = "ping -4 -n -c 3 -i 0.2 -W 5 b && ping -6 -n -c 3 -i 0.2 -W 5 b"
    with (
        hub(hosts, file, "--json", str(written)) as process,
        joined(hosts, key, "--node", "b", "--", *READY, address=address),
    ):
        words = ["--node", "a", "--", "sh", "-c", f"{look}; {pings}; exit 7"]
        done = join(hosts, key, *words, address=address).expect(7)
        end(process)
    lines = done.output.splitlines()
    assert lines[:2] == ["a", "1500"]
    assert "default via 10.0.0.2 dev eth0" in done.output
    assert "default via fd00::2 dev eth0" in done.output
    assert done.output.count("3 received") == 2, done
    results = json.loads(written.read_text())
    assert results["claims"] == 2
    assert results["refused"] == {}
    for node in ("a", "b"):
        client = test_hub.client_of(results, node)
        assert client["rx_frames"] > 0
        assert set(client["drops"]) <= {"unclaimed"}, client


def test_without_the_key_there_is_no_node(
    hosts: Hosts, file: Path, key: Path, tmp_path: Path
) -> None:
    written, other = tmp_path / "hub.json", tmp_path / "other.key"
    with hub(hosts, file, "--json", str(written)) as process:
        assert "the key file does not exist" in join(hosts, other, "--", "true").error_line(2)
        other.write_text("00" * 32 + "\n")
        other.chmod(0o600)
        assert "has another key" in join(hosts, other, "--", "true").error_line(1)
        other.chmod(0o640)
        assert "chmod 600" in join(hosts, other, "--", "true").error_line(2)
        end(process)
    results = json.loads(written.read_text())
    assert results["claims"] == 0
    assert results["refused"] == {"wrong_key": 1}
    assert key.stat().st_mode & 0o777 == 0o600


def test_a_node_has_one_client(hosts: Hosts, file: Path, key: Path) -> None:
    with hub(hosts, file), joined(hosts, key, "--node", "a", "--", *READY):
        error = join(hosts, key, "--node", "a", "--", "true").error_line(1)
        assert "node a has the client 192.0.2.1" in error
        seen = json.loads(viaduct("top", "--json", "--interval", "100ms").expect().output)
        assert [(each["node"], each["interface"]) for each in seen["joined"]] == [("a", "eth0")]
        clients = {each["node"]: each for each in seen["hubs"][0]["statistics"]["clients"]}
        assert clients["a"]["client"] == "192.0.2.1"
        assert "client" not in clients["b"]
        listed = json.loads(viaduct("ls", "--json").expect().output)
        assert [each["kind"] for each in listed][-2:] == ["hub", "joined node"]
        assert join(hosts, key, "--", "hostname").expect().output == "b\n", "any that is free"
        assert "no node r for clients" in join(hosts, key, "--node", "r").error_line(1)
        # It was left, not lost: another client may have it at once.
        join(hosts, key, "--node", "b", "--", "true").expect()


def test_a_namespace_is_a_node(hosts: Hosts, file: Path, key: Path) -> None:
    own = f"{hosts.name}own"
    execute(["ip", "netns", "add", own]).expect()
    with hub(hosts, file):
        with joined(
            hosts, key, "--node", "a", "--into", own, ready="node a is interface eth0"
        ) as process:
            for address in ("10.0.0.5", "fd00:0:0:1::1"):
                wait_until(lambda there=address: reaches(own, there), f"{address} is reached")
            process.process.send_signal(signal.SIGTERM)
            assert process.wait() == 128 + signal.SIGTERM
        assert "eth0" not in inside(own, "ip", "link").output
        error = join(hosts, key, "--into", hosts.clients).error_line(2)
        assert "this namespace connects to the hub" in error
        Hosts.run(own, "link add eth0 type veth peer name other", "link set eth0 up")
        Hosts.run(own, "link set other up", "addr add 203.0.113.1/24 dev eth0")
        Hosts.run(own, "route add default via 203.0.113.2")
        assert "already has a default route" in join(hosts, key, "--into", own).error_line(2)
        assert "eth1" not in inside(own, "ip", "link").output, "nothing is left of it"


DOCKER = """#!/bin/sh
[ "$*" = "inspect --type container --format {{{{.State.Pid}}}} $6" ] || exit 64
case "$6" in
web) echo {pid};;
stopped) echo 0;;
*) echo "Error: No such container: $6" >&2; exit 1;;
esac
"""
"""What docker prints, and podman."""


@pytest.mark.parametrize("program", ["docker", "podman"])
def test_a_container_is_a_node(
    hosts: Hosts, file: Path, key: Path, tmp_path: Path, program: str
) -> None:
    own, programs = f"{hosts.name}own", tmp_path / "bin"
    execute(["ip", "netns", "add", own]).expect()
    programs.mkdir()
    sleeper = subprocess.Popen(["ip", "netns", "exec", own, "sleep", "600"])
    try:
        (programs / program).write_text(DOCKER.format(pid=sleeper.pid))
        (programs / program).chmod(0o755)
        path = ["env", f"PATH={programs}:/usr/sbin:/usr/bin:/sbin:/bin"]
        words = [*path, str(VIADUCT), "join", HUB, "--key", str(key), "--into"]

        def fails(name: str) -> str:
            return inside(hosts.clients, *words, name).error_line(2)

        with hub(hosts, file):
            assert "of docker is not running".replace("docker", program) in fails("stopped")
            assert "No such container: db" in fails("db")
            with entered(hosts.clients):
                client = subprocess.Popen([*words, "web"])
            try:
                wait_until(lambda: "eth0" in inside(own, "ip", "link").output, "it has a link")
                wait_until(lambda: reaches(own, "10.0.0.2"), "it is the node")
            finally:
                client.terminate()
            assert client.wait() == 128 + signal.SIGTERM
            assert "eth0" not in inside(own, "ip", "link").output
            (programs / program).unlink()
            words[1] = f"PATH={programs}"  # the machine's own docker or podman is not meant
            assert "neither docker nor podman" in fails("web")
    finally:
        sleeper.kill()
        sleeper.wait()


def test_into_is_for_ones_own_namespaces(
    hosts: Hosts, file: Path, key: Path, tmp_path: Path
) -> None:
    """Whoever may use sudo for the command may not change others' networks by it."""
    own = f"{hosts.name}own"
    execute(["ip", "netns", "add", own]).expect()
    with hub(hosts, file):
        readable = Path(f"/tmp/{hosts.name}.key")
        try:
            readable.write_bytes(key.read_bytes())
            readable.chmod(0o600)
            os.chown(readable, 65534, 65534)
            caller = ["env", "SUDO_UID=65534", "SUDO_GID=65534"]
            words = [*caller, str(VIADUCT), "join", HUB, "--key", str(readable)]
            for into in (own, str(os.getpid())):
                refused = inside(hosts.clients, *words, "--into", into)
                assert "belongs to another user" in refused.error_line(3)
            assert inside(hosts.clients, *words, "--", "id", "-u").expect().output == "65534\n"
        finally:
            readable.unlink(missing_ok=True)


def test_the_hubs_own_namespace_has_its_port(hosts: Hosts, file: Path, key: Path) -> None:
    with hub(hosts, file):
        words = [str(VIADUCT), "join", "127.0.0.1", "--key", str(key), "--", "true"]
        error = inside(hosts.hub, *words).error_line(3)
        assert "UDP port 4789 is in use" in error
    words[2] = "127.0.0.1:9"
    assert "Connection refused" in inside(hosts.hub, *words).error_line(1)


def test_a_killed_client_leaves_nothing(hosts: Hosts, file: Path, key: Path) -> None:
    def joins() -> set[str]:
        return {record for record in records() if record.startswith(".joins/")}

    before = joins()
    with hub(hosts, file):
        # Of the two halves only the user's: root's removes everything.
        with joined(hosts, key, "--node", "a", "--", *READY) as process:
            os.kill(process.pid, signal.SIGKILL)
            wait_until(lambda: joins() == before, f"no record is left: {joins()}")
        # Both: the record tells what there is.
        with joined(hosts, key, "--node", "b", "--", *READY) as process:
            # The shell says that it is ready before it becomes the program.
            program = wait_until(lambda: below_named(process.pid, "sleep"), "the program runs")
            below = descendants(process.pid)
            halves = [pid for pid in (process.pid, *below) if pid != program]
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in halves:
                    os.kill(pid, number)
            wait_until(lambda: process.process.poll() is not None, "the command has ended")
            name = next(iter(joins() - before)).removeprefix(".joins/")
            assert Path(f"/proc/{program}").exists()
            assert f"removed {name}" in execute([str(VIADUCT), "clean"]).expect().output
            assert joins() == before
            wait_until(lambda: not Path(f"/proc/{program}").exists(), "its program has ended")
        error = join(hosts, key, "--node", "b", "--", "true").error_line(1)
        assert "is reserved for its client" in error


def test_a_client_that_vanishes_returns(
    hosts: Hosts, file: Path, key: Path, tmp_path: Path
) -> None:
    own = f"{hosts.name}own"
    execute(["ip", "netns", "add", own]).expect()
    written = tmp_path / "hub.json"
    options = ["--node", "a", "--into", own]
    with (
        hub(hosts, file, "--json", str(written)) as process,
        joined(hosts, key, *options, ready="node a is interface eth0") as client,
    ):
        wait_until(lambda: reaches(own, "10.0.0.2"), "it is the node")
        Hosts.run(hosts.clients, "link set eth0 down")
        client.wait_for("retrying")
        time.sleep(2)  # the hub, too, has noticed by now
        Hosts.run(hosts.clients, "addr replace 2001:db8::1/64 dev eth0 nodad", "link set eth0 up")
        client.wait_for("node a is connected to the hub again", timeout=30)
        wait_until(lambda: reaches(own, "10.0.0.2"), "it is the node again")
        end(process)
    results = json.loads(written.read_text())
    assert results["claims"] == 2
    assert results["returns"] == 1


def test_a_client_outlives_the_hub(hosts: Hosts, file: Path, key: Path) -> None:
    own = f"{hosts.name}own"
    execute(["ip", "netns", "add", own]).expect()
    options = ["--into", own]
    with (
        hub(hosts, file) as first,
        joined(hosts, key, *options, ready="node a is interface eth0") as client,
    ):
        end(first)
        client.wait_for("retrying")
        assert client.process.poll() is None
        with hub(hosts, file):
            client.wait_for("node a is connected to the hub again")
            wait_until(lambda: reaches(own, "10.0.0.2"), "it is the node again")
