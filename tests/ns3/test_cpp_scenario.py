"""A user's own C++ scenario on the real network: privileges, and the control filter."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from labs import (
    BUILD,
    TIMEOUT,
    environment,
    execute,
    inside,
    ip,
    namespaces,
    own_routes,
    viaduct,
    wait_until,
)

PROGRAM = BUILD / "examples" / "viaduct-control-filter"


@contextlib.contextmanager
def scenario(lab: str, filter_: str) -> Iterator[subprocess.Popen[str]]:
    """Starts the program as sudo would for the user nobody."""
    process = subprocess.Popen(
        [str(PROGRAM), f"--lab={lab}", f"--filter={filter_}", "--duration=300s"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**environment(), "SUDO_UID": "65534", "SUDO_GID": "65534"},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(TIMEOUT)
        wait_until(lambda: not [n for n in namespaces() if n.startswith(f"{lab}.")], "clean-up")


def test_filter_keeps_out_what_it_does_not_name(lab: str) -> None:
    with scenario(lab, "udp port 1") as process:
        assert process.stdout
        process.stdout.readline()
        time.sleep(6)  # OLSR finds its neighbour in 4 s when it is heard
        assert own_routes(f"{lab}.n0") == {}


def errors_sent(namespace: str) -> int:
    """ICMP destination unreachable messages that the namespace's kernel sent."""
    lines = [
        line.split()
        for line in inside(namespace, "cat", "/proc/net/snmp").expect().output.splitlines()
        if line.startswith("Icmp:")
    ]
    return int(dict(zip(lines[0], lines[1], strict=True))["OutDestUnreachs"])


def test_filtered_control_traffic_and_no_privileges(lab: str) -> None:
    with scenario(lab, "udp port 698") as process:
        assert process.stdout
        assert process.stdout.readline() == f"lab {lab} runs as user 65534\n"
        status = inside(f"{lab}.n0", "cat", f"/proc/{process.pid}/status").expect().output
        assert "Uid:\t65534\t65534\t65534\t65534" in status
        assert "CapEff:\t0000000000000000" in status
        wait_until(lambda: len(own_routes(f"{lab}.n0")) >= 1, "routes by OLSR")
        wait_until(lambda: inside(f"{lab}.n0", "ping", "-c1", "10.0.1.2").status == 0, "n2")
        assert [errors_sent(f"{lab}.n{i}") for i in range(3)] == [0, 0, 0]


def test_the_end_of_the_broker_is_one_line(lab: str) -> None:
    with scenario(lab, "udp port 698") as process:
        assert process.stdout
        process.stdout.readline()
        labs = json.loads(viaduct("ls", "--json").expect().output)
        broker = next(found["broker_pid"] for found in labs if found["lab"] == lab)
        os.kill(broker, signal.SIGKILL)
        _, errors = process.communicate(timeout=TIMEOUT)
        assert process.returncode == 1
        assert errors.count("\n") == 1, errors
        assert "its broker exited" in errors
        viaduct("clean").expect()


def start_interface_changes(lab: str, *options: str) -> subprocess.Popen[str]:
    """Two nodes; it prints what becomes of their devices."""
    return subprocess.Popen(
        [str(BUILD / "examples" / "viaduct-interface-changes"), f"--lab={lab}", *options],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )


def test_interfaces_follow_ns3_and_devices_follow_links(lab: str) -> None:
    process = start_interface_changes(lab)
    try:
        assert process.stdout
        assert sorted(process.stdout.readline() for _ in range(2)) == ["n0 up\n", "n1 up\n"]
        # ns-3 takes n0's interface down, and the kernel takes the carrier from n1's.
        assert sorted(process.stdout.readline() for _ in range(2)) == ["n0 down\n", "n1 down\n"]
        assert sorted(process.stdout.readline() for _ in range(2)) == ["n0 up\n", "n1 up\n"]

        def addresses() -> str:
            return inside(f"{lab}.n0", "ip", "-o", "addr", "show", "dev", "eth0").expect().output

        wait_until(lambda: "10.0.0.77/24" in addresses(), "the new address")
        wait_until(lambda: "fd00:1::77/64" in addresses(), "the new address of IPv6")
        assert "10.0.0.1/24" not in addresses()
        # Somebody else takes it down: ns-3's device sees it.
        inside(f"{lab}.n0", "ip", "link", "set", "eth0", "down").expect()
        assert sorted(process.stdout.readline() for _ in range(2)) == ["n0 down\n", "n1 down\n"]
        assert "10.0.0.77/24" in addresses()
    finally:
        process.terminate()
        process.wait(TIMEOUT)
        wait_until(lambda: not [n for n in namespaces() if n.startswith(f"{lab}.")], "clean-up")


BIRD = """
protocol device {}
protocol static { ipv4; route 10.88.0.0/24 blackhole; }
protocol static { ipv6; route fd00:88::/64 blackhole; }
protocol rip { ipv4 { import all; export all; }; interface "v1" { update time 2; }; }
protocol rip ng { ipv6 { import all; export all; }; interface "v1" { update time 2; }; }
"""


def test_rip_and_ripng_with_bird_on_an_interface(lab: str, tmp_path: Path) -> None:
    """ns-3's protocols in a plain namespace, without a lab, learn routes and teach them."""
    if shutil.which("bird", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("no bird: setup/packages test")
    peer = f"{lab}-bird"
    configuration, control = tmp_path / "bird.conf", tmp_path / "bird.ctl"
    configuration.write_text(BIRD)
    node = [str(BUILD / "examples" / "viaduct-interface"), "--interface=v0", "--rip=1"]
    within = ["ip", "netns", "exec", peer]
    with contextlib.ExitStack() as stack:
        execute(["ip", "netns", "add", peer]).expect()
        stack.callback(execute, ["ip", "netns", "del", peer])
        for words in (
            "link add v0 type veth peer name v1",
            "address add 10.1.1.1/24 dev v1",
            "link set v0 up",
            "link set v1 up",
        ):
            inside(peer, "ip", *words.split()).expect()
        daemon = subprocess.Popen(
            [*within, "bird", "-f", "-c", str(configuration), "-s", str(control)]
        )
        stack.callback(daemon.wait, TIMEOUT)
        stack.callback(daemon.terminate)
        with (tmp_path / "node.txt").open("w") as output:
            simulator = subprocess.Popen([*within, *node, "--duration=10min"], stdout=output)
        stack.callback(simulator.wait, TIMEOUT)
        stack.callback(simulator.terminate)

        def taught() -> bool:
            routes = inside(peer, "birdc", "-s", str(control), "show", "route").output
            return "10.77.0.0/24" in routes and "fd00:77::/64" in routes

        def learned() -> bool:
            tables = (tmp_path / "node.txt").read_text()
            return "10.88.0.0" in tables and "fd00:88::/64" in tables

        wait_until(taught, "the routes of ns-3's protocols in BIRD")
        wait_until(learned, "the routes of BIRD in ns-3's protocols")


def send_and_count(lab: str, address: str) -> int:
    """How many of the first 20 datagrams from n0 to n1 arrive, all sent at once."""
    socket = f"import socket; s = socket.socket({'10' if ':' in address else '2'}, 2); "
    receive = f"s.settimeout({TIMEOUT}); s.bind(('{address}', 9)); print('bound', flush=True); "
    receive += "print(sum(len(s.recv(9)) for _ in range(20)))"
    send = f"[s.sendto(b'1', ('{address}', 9)) for _ in range(20)]"
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", f"{lab}.n1", "python3", "-c", socket + receive],
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert receiver.stdout
    assert receiver.stdout.readline() == "bound\n"
    inside(f"{lab}.n0", "python3", "-c", socket + send).expect()
    output, _ = receiver.communicate(timeout=2 * TIMEOUT)
    return int(output or 0)


def test_first_datagrams_wait_for_the_address(lab: str) -> None:
    """In mode emulate ns-3 resolves addresses; as in a kernel, more than three packets wait."""
    process = start_interface_changes(lab, "--mode=emulate", "--step=1h")
    try:
        assert process.stdout
        assert sorted(process.stdout.readline() for _ in range(2)) == ["n0 up\n", "n1 up\n"]
        found = [
            info["local"]
            for link in ip(f"{lab}.n1", "address", "show", "dev", "tun0")
            for info in link["addr_info"]
            if info["scope"] == "global"
        ]
        assert len(found) == 2, found  # IPv4 and IPv6
        assert [send_and_count(lab, address) for address in found] == [20, 20]
    finally:
        process.terminate()
        process.wait(TIMEOUT)
        wait_until(lambda: not [n for n in namespaces() if n.startswith(f"{lab}.")], "clean-up")


def test_wrong_filter_is_named(lab: str) -> None:
    filter_ = "udp port 698 and and"
    process = subprocess.run(
        [str(PROGRAM), f"--lab={lab}", f"--filter={filter_}"],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        env=environment(),
        check=False,
    )
    assert process.returncode != 0
    assert filter_ in process.stderr
