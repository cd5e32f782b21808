"""`viaduct shell`: a program behind an emulated path."""

from __future__ import annotations

import contextlib
import http.server
import json
import os
import re
import shlex
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from labs import (
    TIMEOUT,
    VIADUCT,
    Done,
    Running,
    as_nobody,
    descendants,
    execute,
    inside,
    interface_parameters,
    marked_processes,
    measured,
    viaduct,
    wait_until,
)
from wires import entered

SHELL = "shell"


@pytest.fixture
def home(lab: str) -> Iterator[str]:
    """A network namespace that plays the machine."""
    execute(["ip", "netns", "add", lab]).expect()
    execute(["ip", "-n", lab, "link", "set", "dev", "lo", "up"]).expect()
    yield lab
    wait_until(lambda: not traces_of(lab), lambda: f"nothing left: {traces_of(lab)}")
    execute(["ip", "netns", "delete", lab])


def traces_of(namespace: str) -> list[str]:
    """The objects that shells have created in the machine."""
    links = execute(["ip", "-n", namespace, "-o", "link"]).output.splitlines()
    found = [line for line in links if "vsh" in line]
    found += inside(namespace, "nft", "list", "tables").output.splitlines()
    inode = Path(f"/run/netns/{namespace}").stat().st_ino
    for record in Path("/run/viaduct").glob(".shells/*/record.json"):
        with contextlib.suppress(FileNotFoundError):
            # What is inside may have had the namespace's inode before it, and be of another test.
            made = json.loads(record.read_text().splitlines()[0])
            found += [str(record)] if made["network"]["inode"] == inode else []
    return found


def shell(namespace: str, *arguments: str | Path) -> Done:
    """`viaduct shell` on that machine."""
    words = [str(VIADUCT), SHELL, *map(str, arguments)]
    return execute(["ip", "netns", "exec", namespace, *words])


def sleeping(seconds: str) -> list[str]:
    """The processes of this session that sleep so long."""
    return [line for line in marked_processes().values() if line.startswith(f"sleep {seconds}")]


@contextlib.contextmanager
def running_shell(namespace: str, *arguments: str) -> Iterator[Running]:
    """The same in the background."""
    with entered(namespace):
        command = Running(SHELL, *arguments)
    try:
        yield command
    finally:
        command.stop()


def best_rtt(text: str) -> list[float]:
    """Of each ping in it, in ms."""
    return [float(best) for best in re.findall(r"= ([\d.]+)/", text)]


@contextlib.contextmanager
def web_server(namespace: str) -> Iterator[int]:
    """A server that answers with 250,000 bytes."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:  # noqa: N802
            body = b"x" * 250_000
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with entered(namespace):
        server = http.server.HTTPServer(("0.0.0.0", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_path_is_between(home: str) -> None:
    pings = "ping -n -c 3 -i 0.05 $VIADUCT_HOST"

    def best() -> float:
        done = shell(home, "--up", "delay=10ms", "--down", "delay=20ms", "--", "sh", "-c", pings)
        return best_rtt(done.expect().output)[0]

    measured(best, 30, 40)


def test_a_download_takes_its_time(home: str) -> None:
    with web_server(home) as port:
        fetch = f"curl -s -o /dev/null -w '%{{size_download}} %{{time_total}}' $VIADUCT_HOST:{port}"
        done = shell(home, "--down", "rate=4Mbit queue=200p", "--", "sh", "-c", fetch).expect()
    size, seconds = done.output.split()
    assert size == "250000"
    assert 0.5 <= float(seconds) < TIMEOUT, "two megabits at four a second"


def test_shells_in_shells_add_paths(home: str) -> None:
    inner = [str(VIADUCT), SHELL, "--up", "delay=20ms", "--", "sh", "-c"]
    pings = "ping -n -c 2 -i 0.05 100.64.0.5; ping -n -c 2 -i 0.05 100.64.0.1; exit 3"

    def best(which: int) -> float:
        done = shell(home, "--up", "delay=20ms", "--", *inner, pings).expect(3)
        return best_rtt(done.output)[which]

    measured(lambda: best(0), 20, 30)
    measured(lambda: best(1), 40, 55)


def nested(levels: int, command: str) -> list[str]:
    """A command at each level of shells within shells."""
    inner = [str(VIADUCT), SHELL, "--", *nested(levels - 1, command)] if levels > 1 else []
    return ["sh", "-c", f"{command}; {shlex.join(inner)}"]


def test_every_level_has_a_subnet_of_its_own(home: str) -> None:
    own = "ip -4 -br address show eth0; echo host $VIADUCT_HOST"
    lines = shell(home, "--", *nested(4, own)).expect().output.splitlines()
    assert [line.split()[2] for line in lines[::2]] == [
        f"100.64.0.{number}/30" for number in (2, 6, 10, 14)
    ]
    assert lines[1::2] == ["host 100.64.0.1"] * 4


def test_the_machine_is_reached_from_every_level(home: str) -> None:
    with web_server(home) as port:
        fetch = f"curl -s -o /dev/null -w '%{{size_download}}\\n' $VIADUCT_HOST:{port}"
        done = shell(home, "--", *nested(3, fetch)).expect()
    assert done.output.split() == ["250000"] * 3


def test_subnets_that_are_routed_elsewhere_are_not_used(home: str) -> None:
    inside(home, "ip", "route", "add", "100.64.0.0/29", "dev", "lo").expect()
    inside(home, "ip", "route", "add", "100.64.0.0/10", "dev", "lo").expect()
    done = shell(home, "--", "ip", "-4", "-br", "address", "show", "eth0").expect()
    assert "100.64.0.10/30" in done.output


@contextlib.contextmanager
def neighbour(home: str, number: int) -> Iterator[str]:
    """Another machine, at the home's interface up`number`: 192.0.`number`.2 and 2001:db8:...::2."""
    outside = f"{home}o{number}"
    execute(["ip", "netns", "add", outside]).expect()
    try:
        peer = ["peer", "name", "eth0", "netns", outside]
        execute(["ip", "-n", home, "link", "add", f"up{number}", "type", "veth", *peer]).expect()
        for namespace, name, host in ((home, f"up{number}", "1"), (outside, "eth0", "2")):
            here = ["ip", "-n", namespace]
            execute([*here, "link", "set", "dev", name, "up"]).expect()
            for address in (f"192.0.{number}.{host}/24", f"2001:db8:{number}::{host}/64"):
                nodad = ["nodad"] if ":" in address else []
                execute([*here, "address", "add", address, "dev", name, *nodad]).expect()
        yield outside
    finally:
        execute(["ip", "netns", "delete", outside])


def interface_settings(namespace: str) -> dict[str, str]:
    """The settings of all interfaces, and of the machine."""
    found = {}
    with entered(namespace):
        for path in interface_parameters():
            if "vsh" not in str(path) and path.name != "stable_secret":
                with contextlib.suppress(FileNotFoundError):  # the interface has gone
                    found[str(path)] = path.read_text().strip()
    return found


def forwards(namespace: str, interface: str, parameter: str = "4/conf/{}/forwarding") -> bool:
    """Whether what arrives at the interface is forwarded."""
    name = f"/proc/sys/net/ipv{parameter}".format(interface)
    return interface_settings(namespace)[name] == "1"


FORWARDS6 = "6/conf/{}/force_forwarding"
HAS_IPV6 = Path("/proc/sys/net/ipv6/conf/all/force_forwarding").exists()
needs_ipv6 = pytest.mark.skipif(not HAS_IPV6, reason="single interfaces cannot forward IPv6")


def test_nat_to_the_outside(home: str) -> None:
    with neighbour(home, 2):
        # It has no route back to the shell: only NAT can bring the answer.
        done = shell(home, "--", "ping", "-n", "-c", "2", "-i", "0.1", "192.0.2.2").expect()
        assert " 0% packet loss" in done.output


@needs_ipv6
def test_ipv6_at_every_level(home: str) -> None:
    """The machine, and beyond it one that has no route back; the shells' own link addresses."""
    pings = "ping -n -c 1 -W 5 $VIADUCT_HOST6 && ping -n -c 1 -W 5 2001:db8:2::2 && "
    own = pings + "ip -6 -br address show eth0 && echo host $VIADUCT_HOST6"
    with neighbour(home, 2):
        before = interface_settings(home)
        lines = shell(home, "--", *nested(3, own)).expect().output.splitlines()
        assert interface_settings(home) == before
    assert sum(" 0% packet loss" in line for line in lines) == 6
    assert [line.split()[2:] for line in lines if line.startswith("eth0")] == [
        [f"fd76:6961:6475::6440:{number}/126"] for number in ("2", "6", "a")
    ]
    assert lines.count("host fd76:6961:6475::6440:1") == 3


@needs_ipv6
def test_the_ipv6_path_carries_the_programs_packets_only(home: str, tmp_path: Path) -> None:
    file = tmp_path / "counters.json"
    ping = "ping -n -c 3 -i 0.05 -W 5 $VIADUCT_HOST6"
    words = ["--up", "delay=10ms", "--down", "delay=20ms", "--json", file, "--", "sh", "-c", ping]
    assert best_rtt(shell(home, *words).expect().output)[0] >= 30
    pipelines = json.loads(file.read_text())["pipelines"]
    assert {p["direction"]: p["arrived"] for p in pipelines} == {"up": 3, "down": 3}


@needs_ipv6
def test_only_a_shells_ipv6_is_forwarded(home: str) -> None:
    """The machine stays a host: it heeds router advertisements, and forwards for nobody else."""
    with neighbour(home, 2) as one, neighbour(home, 3) as other:
        for namespace, number in ((one, 2), (other, 3)):
            route = ["route", "add", "default", "via", f"2001:db8:{number}::1"]
            execute(["ip", "-n", namespace, "-6", *route]).expect()
        ping = "ping -n -c 2 -i 0.1 -W 1 2001:db8:3::2"
        with running_shell(home, "--", "sh", "-c", f"{ping} && echo ready; sleep 60") as command:
            command.wait_for("ready")
            assert forwards(home, "up2", FORWARDS6)
            assert not forwards(home, "all", "6/conf/{}/forwarding")
            assert " 100% packet loss" in inside(one, *ping.split()).output
            command.process.send_signal(signal.SIGINT)
            command.wait()
        assert not forwards(home, "up2", FORWARDS6)


def test_where_single_interfaces_cannot_forward_ipv6_a_shell_says_so(home: str) -> None:
    """As on kernels before 6.17. The machine is not made a router instead."""
    conf = "/proc/sys/net/ipv6/conf"
    older = f"mount -t tmpfs none {conf} && mkdir {conf}/all {conf}/default && "
    older += f"echo 0 >{conf}/all/forwarding && echo 0 >{conf}/default/disable_ipv6"
    program = "ip -6 address show scope global; echo host6=$VIADUCT_HOST6."
    words = ["unshare", "-m", "sh", "-c", f'{older}; exec {VIADUCT} shell -- sh -c "$0"', program]
    done = inside(home, *words, timeout=TIMEOUT).expect()
    assert done.output == "host6=.\n"
    assert done.errors.count("\n") == 1
    assert "IPv4 only: this kernel cannot forward IPv6 on individual interfaces" in done.errors


def test_a_machine_without_ipv6_has_shells_without_it(home: str) -> None:
    inside(home, "sysctl", "-w", "net.ipv6.conf.all.disable_ipv6=1").expect()
    own = "ip -6 -br address show eth0; echo host6=$VIADUCT_HOST6."
    done = shell(home, "--", *nested(2, own)).expect()
    assert (done.output, done.errors) == ("host6=.\n" * 2, "")


def test_an_interface_that_comes_later_leads_outside(home: str) -> None:
    """A VPN, for example."""
    targets = ["192.0.2.2", *(["2001:db8:2::2"] if HAS_IPV6 else [])]
    pings = " && ".join(f"until ping -n -c 1 -W 1 {each}; do sleep 0.1; done" for each in targets)
    before = interface_settings(home)
    with running_shell(
        home, "--", "sh", "-c", f"echo ready; {pings}; echo reached; sleep 60"
    ) as command:
        command.wait_for("ready")
        with neighbour(home, 2) as outside, neighbour(home, 3) as other:
            command.wait_for("reached")
            route = ["route", "add", "default", "via", "192.0.2.1"]
            execute(["ip", "-n", outside, *route]).expect()
            route = ["route", "add", "default", "via", "192.0.3.1"]
            execute(["ip", "-n", other, *route]).expect()
            ping = ["ping", "-n", "-c", "1", "-W", "1", "192.0.3.2"]
            assert " 100% packet loss" in inside(outside, *ping).output, "only for the shell"
            command.process.send_signal(signal.SIGINT)
            command.wait()
            assert not forwards(home, "up2")
    wait_until(lambda: interface_settings(home) == before, "all is as before")


def test_an_administrators_settings_stay(home: str) -> None:
    with neighbour(home, 2), neighbour(home, 3):
        inside(home, "sysctl", "-w", "net.ipv4.conf.up2.forwarding=1").expect()
        inside(home, "sysctl", "-w", "net.ipv4.conf.all.accept_redirects=0").expect()
        before = interface_settings(home)
        with running_shell(home, "--", "sh", "-c", "echo ready; sleep 60") as command:
            command.wait_for("ready")
            assert forwards(home, "up3"), "there is something to restore"
            command.process.send_signal(signal.SIGINT)
            command.wait()
        assert interface_settings(home) == before
        shell(home, "--", "true").expect()
        assert interface_settings(home) == before


def test_only_a_shells_packets_are_forwarded(home: str) -> None:
    pings = ["ping", "-n", "-c", "2", "-i", "0.1", "-W", "1", "192.0.3.2"]
    with neighbour(home, 2) as one, neighbour(home, 3) as other:
        for namespace, number in ((one, 2), (other, 3)):
            route = ["route", "add", "default", "via", f"192.0.{number}.1"]
            execute(["ip", "-n", namespace, *route]).expect()
        program = f"{' '.join(pings)} && echo ready; sleep 60"
        with running_shell(home, "--", "sh", "-c", program) as command:
            command.wait_for("ready")
            assert forwards(home, "up2")
            assert " 100% packet loss" in inside(one, *pings).output
            command.process.send_signal(signal.SIGINT)
            command.wait()


def test_settings_that_cannot_be_written_are_an_error(home: str) -> None:
    """It ends, and leaves nothing: what it undoes needs the turn that it has."""
    with neighbour(home, 2):
        sealed = "mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && "
        words = ["unshare", "-m", "sh", "-c", f"{sealed} exec {VIADUCT} shell -- true"]
        line = inside(home, *words, timeout=TIMEOUT).error_line(1)
        assert "Read-only" in line


def test_clean_removes_what_killed_shells_left(home: str) -> None:
    with neighbour(home, 2):
        before = interface_settings(home)
        with running_shell(
            home, "--", "sh", "-c", "setsid sleep 79 & echo ready; sleep 79"
        ) as shell:
            shell.wait_for("ready")
            for pid in (keeper_of(home), shell.pid):
                os.kill(pid, signal.SIGKILL)
            shell.wait()
        assert traces_of(home), "there is something to remove"
        assert "vsh" in viaduct("clean").expect().output
        assert not traces_of(home)
        assert not sleeping("79")
        assert interface_settings(home) == before


def keeper_of(namespace: str) -> int:
    """The pid of root's half of the only shell."""
    record = next(path for path in traces_of(namespace) if path.startswith("/run"))
    return int(json.loads(Path(record).read_text().splitlines()[0])["pid"])


def test_names_are_found_at_a_server_on_loopback(home: str, tmp_path: Path) -> None:
    resolv = tmp_path / "resolv.conf"
    resolv.write_text("nameserver 127.0.0.53\n")
    with entered(home):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.53", 53))
    server.settimeout(TIMEOUT)

    def answer() -> None:
        query, client = server.recvfrom(512)
        head = query[:2] + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00"
        record = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\xcb\x00\x71\x09"
        question = query[12 : query.index(b"\0", 12) + 5]
        server.sendto(head + question + record, client)

    thread = threading.Thread(target=answer)
    thread.start()
    command = f"mount --bind {resolv} $(readlink -f /etc/resolv.conf) && "
    command += f"{VIADUCT} shell -- getent ahostsv4 server.example"
    done = execute(["ip", "netns", "exec", home, "unshare", "-m", "sh", "-c", command])
    thread.join()
    server.close()
    assert "203.0.113.9" in done.expect().output


@contextlib.contextmanager
def listener(namespace: str) -> Iterator[socket.socket]:
    """A TCP server with a backlog, and no hurry."""
    with entered(namespace):
        server = socket.create_server(("0.0.0.0", 0))
    server.settimeout(TIMEOUT)
    with server:
        yield server


SEND = "import os, socket; socket.create_connection((os.environ['VIADUCT_HOST'], {}))"


def drained(file: Path) -> dict[str, Any]:
    """What the shell's results say of its end."""
    return dict(json.loads(file.read_text())["drain"])


def test_what_is_under_way_arrives(home: str, tmp_path: Path) -> None:
    """The program ends at once: its data are in its kernel and in the path then."""
    file = tmp_path / "counters.json"
    path = ["--up", "delay=200ms rate=8Mbit", "--down", "delay=200ms"]
    program = SEND + ".send(b'x' * 50_000)"  # a receiver's kernel takes it all
    with listener(home) as server:
        python = ["python3", "-c", program.format(server.getsockname()[1])]
        shell(home, *path, "--drain", "1min", "--json", file, "--", *python).expect()
        connection, _ = server.accept()
        with connection:
            connection.settimeout(TIMEOUT)
            received = 0
            while chunk := connection.recv(65536):
                received += len(chunk)
    assert received == 50_000
    assert (drained(file)["packets"], drained(file)["connections"]) == (0, 0)


def test_datagrams_under_way_arrive(home: str) -> None:
    with entered(home):
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    with server:
        server.bind(("0.0.0.0", 0))
        server.settimeout(TIMEOUT)
        send = "import os, socket; s = socket.socket(type=socket.SOCK_DGRAM); "
        send += f"s.sendto(b'late', (os.environ['VIADUCT_HOST'], {server.getsockname()[1]}))"
        shell(home, "--up", "delay=300ms", "--", "python3", "-c", send).expect()
        assert server.recv(100) == b"late"


def test_the_drain_is_bounded(home: str, tmp_path: Path) -> None:
    """A connection whose data nobody acknowledges: nothing passes after the handshake."""
    file = tmp_path / "counters.json"
    with listener(home) as server:
        connect = SEND.format(server.getsockname()[1]).replace("; ", "; s = ")
        cut = (
            f"import subprocess; subprocess.run(['{VIADUCT}', 'path', 'set', '--up', 'loss=100%'])"
        )
        program = f"{connect}; {cut}; s.send(b'x')"
        words = ["--verbose", "--drain", "200ms", "--json", file, "--", "python3", "-c", program]
        done = shell(home, *words).expect()
    assert drained(file)["connections"] == 1
    assert "0 packets and 1 connections were cut off" in done.errors


def test_no_drain(home: str, tmp_path: Path) -> None:
    file = tmp_path / "counters.json"
    ping = ["ping", "-n", "-c", "1", "-W", "1", "100.64.0.1"]
    path = ["--up", "delay=1h", "--drain", "0", "--json", file]
    shell(home, *path, "--", *ping).expect(1)
    assert drained(file)["packets"] == 1
    assert "--drain" in shell(home, "--drain", "x", "--", "true").error_line(2)


def test_the_drain_can_be_interrupted(home: str, tmp_path: Path) -> None:
    file = tmp_path / "counters.json"
    program = "ping -n -c 1 -W 1 100.64.0.1; exit 3"
    path = ["--up", "delay=1h", "--drain", "1h", "--json", str(file)]
    with running_shell(home, *path, "--", "sh", "-c", program) as command:
        command.wait_for("1 packets transmitted")
        # Before the program's end it would get the signal instead.
        keeper = keeper_of(home)
        wait_until(lambda: not descendants(keeper), "the program has ended")

        def has_ended() -> bool:
            command.process.send_signal(signal.SIGINT)
            return command.process.poll() is not None

        wait_until(has_ended, "the drain has ended")
        assert command.wait() == 3
    assert drained(file)["packets"] == 1


def test_status_and_standard_input(home: str) -> None:
    assert shell(home, "--", "sh", "-c", "exit 42").status == 42
    assert shell(home, "--", "sh", "-c", "kill -TERM $$").status == 128 + signal.SIGTERM
    words = ["ip", "netns", "exec", home, "sh", "-c", f"echo text | {VIADUCT} shell -- cat"]
    assert execute(words).expect().output == "text\n"


def test_signals_reach_the_program(home: str) -> None:
    program = "trap 'echo got it; exit 5' TERM; echo ready; while :; do sleep 0.05; done"
    with running_shell(home, "--", "sh", "-c", program) as command:
        command.wait_for("ready")
        command.process.send_signal(signal.SIGTERM)
        assert command.wait() == 5
        assert "got it" in command.text


def test_killed_it_leaves_nothing(home: str) -> None:
    with running_shell(home, "--", "sh", "-c", "sleep 77 & echo ready; sleep 77") as command:
        command.wait_for("ready")
        assert traces_of(home), "there is something to remove"
        command.process.kill()
        command.wait()
    wait_until(lambda: not traces_of(home), "all is removed")
    wait_until(lambda: not sleeping("77"), "the program is ended")


def test_what_the_program_leaves_behind_is_ended(home: str) -> None:
    shell(home, "--", "sh", "-c", "setsid sleep 78 >/dev/null 2>&1 &").expect()
    wait_until(lambda: not sleeping("78"), "it is ended")


def test_two_shells_beside_each_other(home: str) -> None:
    with neighbour(home, 2), running_shell(home, "--", "sh", "-c", "echo ready; sleep 60") as first:
        first.wait_for("ready")
        done = shell(home, "--", "sh", "-c", "ip -4 -br address show eth0").expect()
        assert "100.64.0.6/30" in done.output
        assert forwards(home, "up2"), "the first still needs it"
        first.process.send_signal(signal.SIGINT)
        assert first.wait() == 128 + signal.SIGINT


def test_counters(home: str, tmp_path: Path) -> None:
    file = tmp_path / "counters.json"
    words = ["ping", "-n", "-c", "3", "-i", "0.05", "-W", "2", "100.64.0.1"]
    done = shell(home, "--verbose", "--up", "loss=100%", "--json", file, "--", *words).expect(1)
    assert "this machine has the address 100.64.0.1" in done.errors
    assert "timing: p50/p99/max" in done.errors
    up = next(p for p in json.loads(file.read_text())["pipelines"] if p["direction"] == "up")
    assert (up["arrived"], up["fates"]["lost"]) == (3, 3)


def shell_in(namespace: str) -> dict[str, Any]:
    """The only shell there, as `viaduct path ls` has it."""
    paths = json.loads(viaduct("path", "ls", "--json").expect().output)
    traces = " ".join(traces_of(namespace))
    return next(path for path in paths if f"/{path['name']}/" in traces)


def spec_of(statistics: str, direction: str, group: str = "") -> str:
    """What the pipeline does to packets."""
    pipelines = json.loads(statistics)["pipelines"]
    return next(
        str(p["spec"]) for p in pipelines if (p["direction"], p["class"]) == (direction, group)
    )


def test_its_path_is_changed_by_its_name(home: str) -> None:
    with running_shell(
        home, "--up", "delay=1ms", "--", "sh", "-c", "echo ready; sleep 60"
    ) as command:
        command.wait_for("ready")
        listed = shell_in(home)
        assert (listed["state"], listed["pairs"]) == ("running", ["shell"])
        name = listed["name"]
        viaduct("path", "set", name, "--up", "loss=1%").expect()
        statistics = viaduct("path", "stats", name, "--json").expect().output
        assert json.loads(statistics)["name"] == name
        assert spec_of(statistics, "up") == "delay=1ms loss=1%"
        assert "no pair" in viaduct("path", "set", name, "--pair", "x", "--up", "loss=1%").errors
        command.process.send_signal(signal.SIGTERM)
        assert command.wait() == 128 + signal.SIGTERM
    assert "no path" in viaduct("path", "stats", name).error_line(2)


def test_its_path_is_the_default_within_it(home: str) -> None:
    script = f"""
        {VIADUCT} path set --down "delay=3ms" && {VIADUCT} path stats --json
    """
    inner = [str(VIADUCT), SHELL, "--down", "delay=1ms", "--", "sh", "-c", script]
    for words in (["sh", "-c", script], inner):
        done = shell(home, "--down", "delay=2ms", "--", *words).expect()
        assert spec_of(done.output, "down") == "delay=3ms"


def test_its_pair_is_found_without_its_name(home: str) -> None:
    script = f"""
        {VIADUCT} path set --pair shell --down "delay=3ms" && {VIADUCT} path stats --json &&
        ! {VIADUCT} path set --pair other --down "delay=3ms"
    """
    done = shell(home, "--", "sh", "-c", script).expect()
    assert spec_of(done.output, "down") == "delay=3ms"
    assert "no path of pair other" in done.errors


def test_classes(home: str, tmp_path: Path) -> None:
    file = tmp_path / "counters.json"
    specs = ["--up", "delay=1ms", "--class", "echo=icmp", "--up", "loss=100%"]
    ping = ["ping", "-n", "-c", "3", "-i", "0.05", "-W", "1", "100.64.0.1"]
    shell(home, *specs, "--json", file, "--", *ping).expect(1)
    lost = {
        (p["class"], p["direction"]): p["fates"].get("lost", 0)
        for p in json.loads(file.read_text())["pipelines"]
    }
    assert lost == {("", "up"): 0, ("", "down"): 0, ("echo", "up"): 3, ("echo", "down"): 0}


def test_schedule(home: str, tmp_path: Path) -> None:
    schedule = tmp_path / "schedule"
    schedule.write_text("0s shell both delay=2ms\n500ms shell up loss=1%\n")
    wait = f"until {VIADUCT} path stats --json | grep -q loss=1%; do sleep 0.1; done"
    report = f"{wait}; {VIADUCT} path stats --json"
    done = shell(home, "--schedule", schedule, "--", "sh", "-c", report).expect()
    assert spec_of(done.output, "up") == "delay=2ms loss=1%"
    assert spec_of(done.output, "down") == "delay=2ms"
    schedule.write_text("0s other both delay=2ms\n")
    assert "no pair other" in shell(home, "--schedule", schedule, "--", "true").error_line(2)
    schedule.write_text("0s * both loss=none\nloop 1us\n")
    line = shell(home, "--schedule", schedule, "--", "true").error_line(2)
    assert f"{schedule}:2: a loop of 1us is too short" in line
    # However late its changes are, the program's end is seen.
    changes = "".join(f"0s shell up loss={number % 9}%\n" for number in range(3000))
    schedule.write_text(changes + "loop 1ms\n")
    shell(home, "--schedule", schedule, "--", "sh", "-c", "exit 7").expect(7)


def test_its_duration_ends_the_program(home: str) -> None:
    done = shell(home, "--duration", "300ms", "--", "sleep", "1000")
    assert done.status == 128 + signal.SIGTERM
    deaf = "trap '' TERM; while :; do sleep 0.1; done"
    done = shell(home, "--duration", "300ms", "--", "sh", "-c", deaf)
    assert done.status == 128 + signal.SIGKILL


def test_late_is_void(home: str, tmp_path: Path) -> None:
    file = tmp_path / "counters.json"
    ping = ["ping", "-n", "-c", "3", "-i", "0.05", "$VIADUCT_HOST"]
    words = ["--up", "delay=1ms", "--json", file, "--", "sh", "-c", f"{' '.join(ping)}; exit 7"]
    line = shell(home, "--lateness-limit", "1ns", *words).error_line(4)
    assert "VOID: p99 of the lateness is " in line
    assert "above --lateness-limit 1ns; the exit status of the program was 7" in line
    assert json.loads(file.read_text())["verdict"] == "VOID"
    shell(home, "--lateness-limit", "1h", *words).expect(7)
    assert json.loads(file.read_text())["verdict"] == "VALID"


def test_wrong_input_is_named(home: str) -> None:
    assert "--class" in shell(home, "--class", "x", "--", "true").error_line(2)
    assert "--duration" in shell(home, "--duration", "x", "--", "true").error_line(2)
    twice = shell(home, "--up", "loss=1%", "--up", "loss=2%", "--", "true").error_line(2)
    assert "--up was already specified" in twice
    assert "loss" in shell(home, "--up", "loss=200%", "--", "true").error_line(2)
    assert "no-such-program" in shell(home, "--", "no-such-program").error_line(127)
    assert "--memory" in shell(home, "--memory", "x", "--", "true").error_line(2)


def test_what_cannot_be_executed(home: str, tmp_path: Path) -> None:
    """The exit statuses of a shell."""
    text = tmp_path / "text"
    text.write_text("no program\n")
    for program in (text, tmp_path):
        assert str(program) in shell(home, "--", program).error_line(126)
    text.chmod(0o755)
    assert "format" in shell(home, "--", text).error_line(126)
    assert "program not found" in shell(home, "--", tmp_path / "none").error_line(127)


def test_without_privilege() -> None:
    if os.getuid() == 0:
        assert "root" in as_nobody(VIADUCT, SHELL, "--", "true", cwd=Path("/")).error_line(3)


def test_it_runs_as_the_invoking_user(home: str) -> None:
    sudo = {"SUDO_UID": "65534", "SUDO_GID": "65534"}
    words = [f"{name}={value}" for name, value in sudo.items()]
    command = [str(VIADUCT), SHELL, "--", "id", "-u"]
    done = execute(["ip", "netns", "exec", home, "env", *words, *command])
    assert done.expect().output.strip() == "65534"
