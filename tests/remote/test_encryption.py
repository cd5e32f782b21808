"""Tunnels between a hub and its clients inside of WireGuard.

The kernel of the machine may have none: both ends run on kernel nodes, in virtual time.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from labs import VIADUCT, Done, execute, results, viaduct

INNER = """
nodes: {a: {remote: A}, b: {remote: true}, r: {}}
links:
  - pair: [a, r]
    spec: delay=1ms
    addresses: [10.5.0.1/24, 10.5.0.2/24, "fd05::1/64", "fd05::2/64"]
  - {pair: [b, r], addresses: [10.6.0.1/24, 10.6.0.2/24, "fd06::1/64", "fd06::2/64"]}
routing: {protocol: static}
"""
OUTER = """
mode: simulate
duration: 5min
stack: kernel
nodes: NODES
links:
  - pair: [n0, n1]
    spec: delay=2ms rate=100Mbit
    mtu: MTU
    addresses: [192.0.2.1/24, 192.0.2.2/24, "fd77::1/64", "fd77::2/64"]
MORE
routing: {protocol: static}
captures: all
"""
HUB = {"ipv4": "192.0.2.1", "ipv6": "fd77::1"}
# The frames that a stranger forges, and where they go.
SPOOF = """
import socket
frame = bytes.fromhex("0800000000000100" + "02" * 12 + "0800") + bytes(50)
for family, to in ((socket.AF_INET, "192.0.2.1"), (socket.AF_INET6, "fd77::1")):
    for _ in range(5):
        socket.socket(family, socket.SOCK_DGRAM).sendto(frame, (to, 4789))
"""


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A hub's key."""
    file = tmp_path / "hub.key"
    file.write_text(secrets.token_hex(32) + "\n")
    file.chmod(0o600)
    return file


class Pair:
    """A hub and its clients on two kernel nodes."""

    def __init__(self, folder: Path, key: Path) -> None:
        if "release" not in viaduct("kernel", "list").output:
            pytest.skip("no kernel for guests: viaduct kernel build")
        self.folder, self._key = folder, key
        self._programs: list[dict[str, Any]] = []
        self.far = False  # whether there is a third node, behind the second
        (folder / "inner.yaml").write_text(INNER.replace("A", "true", 1))

    def hub(self, duration: str, *options: str) -> str:
        """The words of a hub."""
        file = self.folder / "inner.yaml"
        encrypt = "" if "--encrypt" in options else "--encrypt wireguard"
        words = f"{VIADUCT} hub {file} --key {self._key} --duration {duration} {encrypt} --quiet"
        return f"{words} {' '.join(options)}"

    def join(self, node: str, command: str, hub: str = HUB["ipv4"]) -> str:
        """The words of a client."""
        return f"{VIADUCT} join {hub} --node {node} --key {self._key} --wait 10s -- {command}"

    def run(self, node: str, command: str, start: str = "0s", expect: int = 0) -> None:
        """Has it run there."""
        words = ["sh", "-c", command]
        self._programs.append({"node": node, "command": words, "start": start, "expect": expect})

    def simulate(self, mtu: int = 1500) -> list[str]:
        """Returns what the programs have written."""
        outer = self.folder / "outer.yaml"
        programs = json.dumps([each | {"timeout": "2min"} for each in self._programs])
        text = OUTER.replace("MTU", str(mtu)).replace("NODES", "3" if self.far else "2")
        text = text.replace("MORE\n", "  - {pair: [n1, n2]}\n" if self.far else "")
        outer.write_text(f"{text}programs: {programs}\n")
        file = self.folder / "outer.json"
        done = viaduct("run", outer, "--json", file, cwd=self.folder, timeout=120)
        done.expect()
        return [program["output"] for program in results(file)["programs"]]

    def sent(self, which: str) -> int:
        """Datagrams of the wire that tcpdump's expression chooses."""
        (capture,) = self.folder.glob("*-captures/*.pcap")
        counted = execute(["tcpdump", "--count", "-nr", str(capture), which]).expect()
        return int(counted.output.split()[0])


@pytest.fixture
def pair(tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch) -> Pair:
    """Two kernel nodes with the hub and its clients, and with memory for so many programs."""
    monkeypatch.setenv("NS_ATTRIBUTE_DEFAULT", "ns3::KernelGuest::Memory=256")
    return Pair(tmp_path, key)


def report_of(output: str) -> dict[str, Any]:
    """The results of a hub, which are the last that it writes."""
    report: dict[str, Any] = json.loads(output[output.index("{\n") :])
    return report


@pytest.mark.parametrize(
    ("family", "mtu", "room"),
    [
        ("ipv4", 1500, 1390),
        ("ipv6", 1500, 1370),
        ("ipv4", 1400, 1290),
        ("ipv6", 1420, 1290),
        ("ipv4", 9000, 1500),
        ("ipv6", 9000, 1500),
    ],
)
def test_vxlan_passes_inside_only(pair: Pair, family: str, mtu: int, room: int) -> None:
    """The longest packets too; what comes past WireGuard is nobody's."""
    (pair.folder / "spoof.py").write_text(SPOOF)
    pings = (
        f"ping -c 3 -i 0.2 -M do -s {room - 28} 10.5.0.2"
        f" && ping -c 3 -i 0.2 -M do -s {room - 48} fd05::2"
        f" && ! ping -c 1 -M do -s {room - 27} 10.5.0.2"
        # Divided by the client; from the hub it comes whole.
        " && ping -c 3 -i 0.2 -s 1472 10.5.0.2 && ip link show eth0"
    )
    pair.run("n0", pair.hub("9s", "--json", "-"))
    pair.run("n1", pair.join("a", f"sh -c '{pings}; sleep 2'", HUB[family]), "1s")
    pair.run("n1", f"{sys.executable} {pair.folder}/spoof.py", "4s")
    hub, client, _ = pair.simulate(mtu)
    assert client.count("3 received") == 3, client
    assert f" mtu {room} " in client
    report = report_of(hub)
    assert report["encryption"] == "wireguard"
    node = next(each for each in report["clients"] if each["node"] == "a")
    assert node["drops"]["spoofed"] == 10
    outside = "ip" if family == "ipv4" else "ip6"
    assert pair.sent(f"{outside} and udp port 51820") > 18
    assert pair.sent("udp port 4789") == 10, "the forged ones"
    assert pair.sent("ip[6:2] & 0x3fff != 0 or (ip6 and ip6[6] == 44)") == 0, "fragments"


def test_unless_asked_for_nothing_is_encrypted(pair: Pair) -> None:
    """And the client's machine may have an eth0 of its own."""
    pair.run("n0", pair.hub("7s", "--json", "-").replace("--encrypt wireguard", ""))
    pair.run("n1", pair.join("a", "ping -c 3 -i 0.2 10.5.0.2"), "1s")
    hub, client = pair.simulate()
    assert "3 received" in client, client
    assert "encryption" not in report_of(hub)
    assert pair.sent("udp port 4789") >= 6
    assert pair.sent("udp port 51820") == 0


def test_a_hub_that_is_started_again(pair: Pair) -> None:
    """It has another key; its clients resume."""
    pings = "ping -c 2 -i 0.2 10.5.0.2 && sleep 6 && ping -c 2 -i 0.2 -W 5 10.5.0.2"
    again = pair.hub("10s", "--encrypt", "wireguard:7777", "--json", "-")
    pair.run("n0", f"{pair.hub('4s')} > /dev/null; sleep 1; {again}")
    pair.run("n1", pair.join("a", f"sh -c '{pings}'"), "1s")
    hub, client = pair.simulate()
    assert client.count("2 received") == 2, client
    assert "node a is connected to the hub again" in client
    report = report_of(hub)
    assert report["claims"] == 1
    assert pair.sent("udp port 51820") > 4
    assert pair.sent("udp port 7777") > 4


def test_clients_come_and_go(pair: Pair) -> None:
    """Two of one machine; one is killed, and another is in its place."""
    ping = "ping -c 2 -i 0.2 -W 5 10.6.0.2"
    killed = pair.join("b", "sleep 60")
    pair.run("n0", pair.hub("90s", "--json", "-"))
    pair.run("n1", f"{killed} & sleep 2; pkill -9 viaduct-join; kill -9 $!; true", "1s")
    pair.run("n1", pair.join("a", "ping -c 2 -i 0.2 10.5.0.2"), "5s")
    late = pair.join("b", ping).replace("--wait 10s", "--wait 80s")
    pair.run("n1", f"{late} 2>/dev/null && {VIADUCT} clean && ip link && ip netns", "6s")
    hub, _, client, late_client = pair.simulate()
    assert "2 received" in client, client
    assert "2 received" in late_client, late_client
    assert "vxlan" not in late_client
    assert "viaduct-wg" not in late_client
    assert report_of(hub)["claims"] == 3


@pytest.mark.parametrize("mode", ["simulate", "offload"])
def test_a_way_into_a_container(pair: Pair, mode: str) -> None:
    """Into a namespace that is there already, and out of it again; of a simulation and of a lab."""
    into = pair.join("a", "ping -c 2 -i 0.2 10.5.0.2").replace("--wait", "--into box --wait")
    pair.run("n0", f"{pair.hub('9s', '--mode', mode, '--json', '-')}")
    pair.run("n1", f"ip netns add box && {into} && ip -n box link", "1s")
    hub, client = pair.simulate()
    assert "2 received" in client, client
    assert "eth0" not in client.partition("ping statistics")[2]
    report = report_of(hub)
    assert report["encryption"] == "wireguard"
    assert report["refused"] == {}


def test_a_client_behind_nat(pair: Pair) -> None:
    """It speaks first, and WireGuard answers where that came from."""
    pair.far = True
    chain = "add chain ip nat out { type nat hook postrouting priority 100 ; }"
    rules = ["add table ip nat", chain, "add rule ip nat out oifname eth0 masquerade"]
    pair.run("n1", " && ".join(f"nft '{rule}'" for rule in rules))
    pair.run("n0", pair.hub("9s", "--json", "-"))
    pair.run("n2", pair.join("a", "sh -c 'ping -c 3 10.5.0.2; sleep 6'"), "1s")
    _, hub, client = pair.simulate()
    assert "3 received" in client, client
    (node,) = (each for each in report_of(hub)["clients"] if each["node"] == "a")
    assert node["client"] == "192.0.2.2", "the translator"


def test_a_client_with_another_key(pair: Pair, tmp_path: Path) -> None:
    """It hears of no tunnel, and is counted."""
    other = tmp_path / "other.key"
    other.write_text(secrets.token_hex(32) + "\n")
    other.chmod(0o600)
    wrong = f"{VIADUCT} join {HUB['ipv4']} --key {other} -- true"
    pair.run("n0", pair.hub("5s", "--json", "-"))
    pair.run("n1", wrong, "2s", expect=1)
    hub, client = pair.simulate()
    assert "key" in client
    report = report_of(hub)
    assert report["refused"] == {"wrong_key": 1}
    assert pair.sent("udp port 51820") == 0


@pytest.mark.parametrize("who", ["any", "192.0.2.7"])
def test_who_has_no_key_cannot_be_encrypted(tmp_path: Path, who: str) -> None:
    file = tmp_path / "inner.yaml"
    file.write_text(INNER.replace("A", who, 1))
    line = viaduct("hub", file, "--encrypt", "wireguard").error_line(2)
    assert "node a accepts " in line
    assert "viaduct join" in line


@pytest.mark.parametrize("how", ["ipsec", "wireguard:", "wireguard:65536", "wireguard:x"])
def test_what_is_no_encryption(tmp_path: Path, how: str) -> None:
    file = tmp_path / "inner.yaml"
    file.write_text(INNER.replace("A", "true", 1))
    assert "--encrypt" in viaduct("hub", file, "--encrypt", how).error_line(2)


def has_wireguard() -> bool:
    """Whether this machine's kernel does."""
    made = execute(["unshare", "-n", "ip", "link", "add", "wg0", "type", "wireguard"])
    return made.status == 0


def test_a_hub_without_wireguard_says_so(tmp_path: Path, key: Path) -> None:
    if has_wireguard():
        pytest.skip("this kernel has it")
    file = tmp_path / "inner.yaml"
    file.write_text(INNER.replace("A", "true", 1))
    done = viaduct("hub", file, "--encrypt", "wireguard", "--key", key)
    assert "CONFIG_WIREGUARD" in done.error_line(3)


OFFER = {
    "node": "a",
    "vni": 1,
    "port": 4789,
    "mtu": 1500,
    "mac": "02:76:64:00:00:01",
    "addresses": ["10.5.0.1/24"],
    "gateways": [],
    "routes": [],
    "names": {},
    "session": "s",
    "wireguard": {
        "key": "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=",
        "port": 51820,
        "hub": "100.64.0.1",
        "client": "10.0.0.1",
    },
}


def test_a_client_without_wireguard_says_so(key: Path) -> None:
    """And its hub is told, here by openssl."""
    if has_wireguard():
        pytest.skip("this kernel has it")
    secret = key.read_text().strip()
    code = hmac.new(bytes.fromhex(secret), b"viaduct key id", hashlib.sha256).hexdigest()
    words = ["openssl", "s_server", "-tls1_3", "-accept", "[::1]:4799", "-nocert", "-quiet"]
    words += ["-psk", secret, "-psk_identity", f"viaduct-1-{code[:16]}", "-naccept", "1"]
    words += ["-ciphersuites", "TLS_AES_128_GCM_SHA256"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as hub:
        assert hub.stdin
        assert hub.stdout
        try:
            client = subprocess.Popen(
                [VIADUCT, "join", "[::1]:4799", "--key", key, "--wait", "10s", "--", "true"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            claim = json.loads(hub.stdout.readline())
            assert len(claim["wireguard"]) == 44
            hub.stdin.write(json.dumps(OFFER) + "\n")
            hub.stdin.flush()
            output, errors = client.communicate(timeout=20)
            done = Done(client.returncode, output, errors)
            said = [json.loads(line) for line in hub.stdout if line.startswith("{")]
        finally:
            hub.kill()
    assert "CONFIG_WIREGUARD" in done.error_line(3)
    assert {"leave": True, "failed": True} in said
