"""WMRP: nodes that carry the Ethernet frames of hosts which know nothing of it."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest
from labs import Done, execute, forwarder, marked_processes, results, viaduct, wait_until

# Two hosts, three RBridges in a line. Given addresses, so that tests can name them.
LINE = """
routing: {protocol: WMRP}
nodes: {a: {host: true}, b: {host: true}, count: 3}
links:
  - line: all
  - {pair: [a, n0], addresses: [10.0.0.1/24, none, fd00::1/64, none]}
  - {pair: [n2, b], addresses: [none, 10.0.0.2/24, none, fd00::2/64]}
"""
FLOWS = """
duration: 5s
flows:
  - {type: ping, from: a, to: b, interval: 100ms, duration: 3s}
  - {type: ping, from: b, to: a, address: ipv6, interval: 100ms, duration: 3s}
  - {type: udp, from: a, to: b, size: 1400, rate: 500kbit, duration: 4s}
  - {type: tcp, from: b, to: a, rate: 2Mbit, start: 1s, duration: 2s}
"""


OFFLOADED = "data_plane: {}\nmode: offload\n"
PLANES = ["userspace", "ebpf"]


@pytest.mark.parametrize("how", ["simulate", "emulate", "traditional", *PLANES])
def test_flows_on_a_line(how: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    file = tmp_path / "run.json"
    settings = OFFLOADED.format(how) if how in PLANES else f"mode: {how}\n"
    viaduct("run", scenario(LINE + FLOWS + settings), "--json", file).expect()
    run = results(file)
    assert run["convergence"]["reachable"] == run["convergence"]["pairs"] == 20
    for flow in run["flows"]:
        assert not flow.get("error"), flow
    ping, ping6, udp, tcp = run["flows"]
    assert ping["received"] > 0.8 * ping["sent"]
    assert ping6["received"] > 0.8 * ping6["sent"]
    assert udp["received"] > 0.8 * udp["sent"]
    assert tcp["rate_bit_per_s"] > 1e5


@pytest.mark.parametrize("plane", ["kernel", "joined"])
def test_planes_that_forward_packets_are_refused(
    plane: str, scenario: Callable[[str], Path]
) -> None:
    message = viaduct("run", scenario(LINE + OFFLOADED.format(plane))).error_line(2)
    assert "is an RBridge, which forwards frames; use userspace, ebpf or auto" in message


def test_auto_takes_ebpf_and_says_why(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    report = tmp_path / "run.json"
    viaduct("run", scenario(LINE + FLOWS + OFFLOADED.format("auto")), "--json", report).expect()
    run = results(report)
    assert run["flows"][0]["loss"] == run["flows"][1]["loss"] == 0
    planes = run["data_planes"]
    assert {planes[node]["name"] for node in ("n0", "n1", "n2")} == {"ebpf-rbridge"}
    assert planes["n1"]["reason"] == "the fastest data plane for an RBridge"


def test_auto_without_ebpf_forwards_in_userspace(
    scenario: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIADUCT_EBPF_LACKS", "bpf_redirect_peer()")
    report = tmp_path / "run.json"
    viaduct("run", scenario(LINE + FLOWS + OFFLOADED.format("auto")), "--json", report).expect()
    run = results(report)
    assert run["flows"][0]["loss"] == 0
    assert run["data_planes"]["n0"]["name"] == "userspace-rbridge"
    assert "bpf_redirect_peer()" in run["data_planes"]["n0"]["reason"]


def test_hosts_without_an_rbridge_are_an_error_at_load(scenario: Callable[[str], Path]) -> None:
    file = scenario(
        "routing: {protocol: WMRP}\nnodes:\n  a: {host: true}\n  b: {host: true}\n"
        "links: [{pair: [a, b]}]\n"
    )
    message = viaduct("run", file).error_line(2)
    assert "nodes.a: this host shares no link with an RBridge" in message
    assert re.search(r"\.yaml:\d+", message)


def test_attributes(scenario: Callable[[str], Path]) -> None:
    text = LINE.replace("WMRP", "wmrp, attributes: {HelloIntervall: 1s}")
    message = viaduct("run", scenario(text), "--mode", "simulate").error_line(2)
    assert "HelloInterval" in message


def test_tshark_reads_the_frames(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    report = tmp_path / "run.json"
    slow = LINE.replace("- line: all", '- {line: all, spec: "rate=5Mbit"}')  # less to read
    text = slow + FLOWS + "captures: [n0-n1]\n"
    viaduct("run", scenario(text), "--mode", "simulate", "--json", report, cwd=tmp_path).expect()
    capture = str(tmp_path / results(report)["captures"][0]["file"])

    def seen(display_filter: str) -> int:
        command = ["tshark", "-n", "-r", capture, "-Y", display_filter]
        return len(execute(command).expect().output.splitlines())

    assert seen("isis.hello") > 0
    assert seen("isis.lsp") > 0
    assert seen("isis.csnp") > 0
    assert seen("trill && icmp") > 0
    assert seen("trill && icmpv6") > 0
    assert seen("trill && arp") > 0
    assert seen("trill && tcp") > 0
    assert seen("_ws.malformed") == 0
    assert seen("isis.lsp.checksum.status == 1") == seen("isis.lsp"), "all are good"
    assert seen("!trill && ip") == 0, "between RBridges all frames are encapsulated"


@pytest.mark.parametrize("how", ["simulate", "emulate", *PLANES])
def test_a_cut_ring(how: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Frames take the other way, once the RBridges have noticed; else half of them were lost."""
    text = """
        routing: {protocol: WMRP, attributes: {HelloInterval: 500ms}}
        nodes: {a: {host: true}, b: {host: true}, count: 4}
        links: [{ring: all}, {pair: [a, n0]}, {pair: [b, n1]}]
        duration: 12s
        events: [{at: 2s, link: n0-n1, state: down}, {at: 8s, link: n0-n1, state: up}]
        flows: [{type: ping, from: a, to: b, interval: 50ms, duration: 12s}]
    """
    file = tmp_path / "run.json"
    settings = OFFLOADED.format(how) if how in PLANES else f"mode: {how}\n"
    viaduct("run", scenario(dedent(text) + settings), "--json", file).expect()
    ping = results(file)["flows"][0]
    assert ping["received"] > 0.7 * ping["sent"]


@pytest.fixture(params=["emulate", *PLANES])
def up(request: pytest.FixtureRequest, lab: str, scenario: Callable[[str], Path]) -> Iterator[str]:
    """The line with a third host, which has links to n0 and n2; the lab's name."""
    # Both of its interfaces are on the one network: only the one with the address answers for it.
    settings = "{host: true, sysctls: {net.ipv4.conf.all.arp_ignore: 1}}"
    third = (
        LINE.replace("count: 3", f"count: 3, c: {settings}")
        + """
  - {pair: [c, n0], addresses: [10.0.0.3/24, none]}
  - {pair: [c, n2], addresses: [10.0.1.3/24, none]}
"""
    )
    plane = request.param
    settings = OFFLOADED.format(plane) if plane in PLANES else f"mode: {plane}\n"
    viaduct("up", scenario(third + settings)).expect()
    yield lab
    viaduct("down", lab).expect()


def inside(lab: str, node: str, *command: str) -> Done:
    """Runs a program in a node."""
    return viaduct("exec", f"{lab}:{node}", "--", *command)


def test_unmodified_hosts(up: str) -> None:
    """Address resolution, the longest packets, IPv6 with its own neighbour discovery, broadcast."""
    inside(up, "a", "ping", "-c3", "-i0.2", "-W5", "10.0.0.2").expect()
    neighbours = inside(up, "a", "ip", "neigh", "show", "10.0.0.2").expect().output
    mac = inside(up, "b", "ip", "-br", "link", "show", "eth0").expect().output.split()[2]
    assert mac in neighbours, "the other host's own address: one Ethernet"
    inside(up, "a", "ping", "-c2", "-i0.2", "-W5", "-M", "do", "-s", "1472", "10.0.0.2").expect()
    inside(up, "b", "ping", "-6", "-c3", "-i0.2", "-W5", "fd00::1").expect()
    link_local = inside(up, "b", "ip", "-6", "-br", "addr", "show", "eth0").expect().output
    found = re.search(r"fe80::[0-9a-f:]+", link_local)
    assert found, link_local
    inside(up, "a", "ping", "-6", "-c2", "-i0.2", "-W5", f"{found[0]}%eth0").expect()
    inside(up, "b", "sysctl", "-qw", "net.ipv4.icmp_echo_ignore_broadcasts=0").expect()
    inside(up, "a", "ping", "-b", "-c2", "-i0.2", "-W5", "10.0.0.255").expect()


def test_a_moving_host(up: str) -> None:
    """It leaves n0's link for n2's with its addresses, and is found with its first frame."""
    inside(up, "b", "ping", "-c1", "-W5", "10.0.0.3").expect()
    move = """
        mac=$(ip -br link show eth0 | awk '{print $3}')
        ip link set eth0 down
        ip addr flush dev eth0
        ip addr flush dev eth1
        ip link set eth1 address $mac
        ip addr add 10.0.0.3/24 dev eth1
        ping -c1 -W5 10.0.0.1
    """
    wait_until(lambda: inside(up, "c", "sh", "-c", move).status == 0, "it reaches another host")
    inside(up, "b", "ping", "-c2", "-i0.2", "-W5", "10.0.0.3").expect()
    inside(up, "a", "ping", "-c2", "-i0.2", "-W5", "10.0.0.3").expect()


# RFC 2131: a client without an address asks everybody, and is answered by broadcast.
DHCP = """
import socket, struct, sys
def message(kind, address):
    head = struct.pack("!4BIHH", 1 if kind == 1 else 2, 1, 6, 0, 0x1234, 0, 0x8000)
    fixed = head + bytes(4) + socket.inet_aton(address) + bytes(8) + bytes(16 + 64 + 128)
    return fixed + bytes([99, 130, 83, 99, 53, 1, kind, 255])
def opened(port):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"eth0")
    made.bind(("", port))
    return made
if sys.argv[1] == "server":
    server = opened(67)
    while True:
        assert server.recv(2000)[242] == 1, "DISCOVER"
        server.sendto(message(2, "10.0.0.77"), ("255.255.255.255", 68))
client = opened(68)
client.settimeout(1)
for attempt in range(60):
    client.sendto(message(1, "0.0.0.0"), ("255.255.255.255", 67))
    try:
        print(socket.inet_ntoa(client.recv(2000)[16:20]))
        break
    except TimeoutError:
        pass
"""


@pytest.mark.parametrize("settings", ["mode: emulate\n", *map(OFFLOADED.format, PLANES)])
def test_dhcp(settings: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    script = tmp_path / "dhcp.py"
    script.write_text(DHCP)
    programs = f"""
programs:
  - {{node: b, command: python3 {script} server, background: true}}
  - {{node: a, command: sh -c 'ip -4 addr flush dev eth0; exec python3 {script} client'}}
"""
    report = tmp_path / "run.json"
    text = LINE + "duration: 60s\n" + programs + settings
    folder = tmp_path / "report"
    viaduct("run", scenario(text), "--json", report, "--report", folder).expect()
    outputs = " ".join(file.read_text() for file in folder.rglob("*.txt"))
    assert "10.0.0.77" in outputs, "offered by the server on the other side"


def test_a_forwarder_that_is_killed_is_replaced(lab: str, scenario: Callable[[str], Path]) -> None:
    """The next one finds the tables, and tells what it sees; it outlives the protocol."""
    viaduct("up", scenario(LINE + OFFLOADED.format("userspace"))).expect()
    try:
        inside(lab, "a", "ping", "-c1", "-W5", "10.0.0.2").expect()
        killed = forwarder(lab, 3)
        os.kill(killed, signal.SIGKILL)
        ping = ["ping", "-c1", "-W1", "10.0.0.2"]
        wait_until(lambda: inside(lab, "a", *ping).status == 0, "it forwards again")
        assert forwarder(lab, 3) != killed
        inside(lab, "b", "ip", "link", "set", "eth0", "address", "02:00:00:00:99:99").expect()
        inside(lab, "b", "ping", "-c3", "-i0.2", "-W5", "10.0.0.1").expect()
        (simulator,) = (pid for pid, line in marked_processes().items() if "viaduct-sim" in line)
        watcher = int(Path(f"/proc/{simulator}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(watcher, signal.SIGKILL)
        os.kill(simulator, signal.SIGKILL)
        inside(lab, "a", "ping", "-c3", "-i0.2", "-W5", "10.0.0.2").expect()
    finally:
        viaduct("down", lab).expect()


@pytest.mark.parametrize("plane", PLANES)
def test_ten_rbridges_and_a_host_that_moves(
    plane: str, lab: str, scenario: Callable[[str], Path]
) -> None:
    """IPv6 over ten RBridges; a host's address turns up elsewhere while nobody forwards."""
    text = """
        routing: {protocol: WMRP}
        nodes: {a: {host: true}, b: {host: true}, c: {host: true}, count: 10}
        links:
          - line: all
          - {pair: [a, n0], addresses: [10.0.0.1/24, none, fd00::1/64, none]}
          - {pair: [n9, b], addresses: [none, 10.0.0.2/24, none, fd00::2/64]}
          - {pair: [n4, c], addresses: [none, 10.0.0.3/24, none, fd00::3/64]}
    """
    viaduct("up", scenario(dedent(text) + OFFLOADED.format(plane))).expect()
    try:
        inside(lab, "a", "ping", "-6", "-c3", "-i0.2", "-W5", "fd00::2").expect()
        # Packets shorter than their encapsulation is longer, and the longest.
        for size in ("0", "4", "17", "1452"):
            inside(lab, "b", "ping", "-6", "-c1", "-W5", "-s", size, "fd00::1").expect()
            inside(lab, "b", "ping", "-c1", "-W5", "-s", size, "10.0.0.1").expect()
        if plane == "userspace":
            os.kill(forwarder(lab, 10), signal.SIGKILL)
        mac = inside(lab, "b", "ip", "-br", "link", "show", "eth0").expect().output.split()[2]
        inside(lab, "b", "ip", "link", "set", "eth0", "down").expect()
        move = f"""
            ip link set eth0 down
            ip link set eth0 address {mac}
            ip link set eth0 up
            ip addr add fd00::2/64 dev eth0 nodad
        """
        inside(lab, "c", "sh", "-c", move).expect()
        # The port has been down, so it waits for other RBridges before it serves again.
        ping = ["ping", "-6", "-c1", "-W2", "-I", "fd00::2", "fd00::1"]
        wait_until(lambda: inside(lab, "c", *ping).status == 0, "it is there")
        inside(lab, "a", "ping", "-6", "-c3", "-i0.2", "-W5", "fd00::2").expect()
    finally:
        viaduct("down", lab).expect()


@pytest.mark.parametrize("how", ["simulate", "emulate", "traditional", *PLANES])
@pytest.mark.parametrize(("between", "last", "place"), [(1300, 1500, "n0"), (1500, 1300, "n2")])
def test_frames_too_long_for_a_link_have_a_place(
    how: str, between: int, last: int, place: str, scenario: Callable[[str], Path], tmp_path: Path
) -> None:
    """None passes, and each is counted once, where it could not go on; the longest ones pass."""
    text = LINE.replace("- line: all", f"- {{line: all, mtu: {between}}}")
    text = text.replace("{pair: [n2, b],", f"{{pair: [n2, b], mtu: {last},")
    text += "duration: 3s\nflows:\n"
    for payload in (1273, 1272):  # with the headers of UDP and IPv4 1301 bytes, and 1300
        text += f"  - {{type: udp, from: a, to: b, size: {payload}, rate: 100kbit, duration: 2s}}\n"
    settings = OFFLOADED.format(how) if how in PLANES else f"mode: {how}\n"
    report = tmp_path / "run.json"
    done = viaduct("run", scenario(text + settings), "--json", report).expect()
    too_long, longest = results(report)["flows"]
    assert too_long["received"] == 0
    assert longest["loss"] == 0
    lost = re.findall(r"lost at (.*): (\d+) packets", done.output)
    assert all(re.match(rf"{place}\b", where) for where, _ in lost), done
    run = results(report)
    places = [run["counters"].get("n0/rbridge", {}), run["counters"].get("n2/rbridge", {})]
    places += list(run.get("data_planes", {}).values())
    causes = {cause for each in places for cause, count in each.get("drops", {}).items() if count}
    assert causes == {"not_sent"}, "one word in all modes"
    marks = 6  # of the flow's end
    packets = sum(int(count) for _, count in lost)
    assert too_long["sent"] <= packets <= too_long["sent"] + marks, done


@pytest.mark.parametrize("plane", PLANES)
def test_many_hosts_and_none(plane: str, scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Twelve hosts of three RBridges in a ring, each to another; and a ring that serves nobody."""
    hosts = [f"h{i}" for i in range(12)]
    wires = ", ".join(f"{{pair: [{host}, n{i % 3}]}}" for i, host in enumerate(hosts))
    flows = ", ".join(
        f"{{type: ping, from: {host}, to: h{(i + 5) % 12}, interval: 100ms, duration: 2s}}"
        for i, host in enumerate(hosts)
    )
    report = tmp_path / "run.json"
    ring = f"routing: {{protocol: WMRP}}\nduration: 3s\n{OFFLOADED.format(plane)}"
    many = f"nodes: {{{', '.join(f'{host}: {{host: true}}' for host in hosts)}, count: 3}}\n"
    links = f"links: [{{ring: all}}, {wires}]\nflows: [{flows}]\n"
    viaduct("run", scenario(ring + many + links), "--json", report).expect()
    assert [flow["loss"] for flow in results(report)["flows"]] == [0] * 12
    viaduct("run", scenario(ring + "nodes: 3\nlinks: [{ring: all}]\n"), "--json", report).expect()
    assert results(report)["convergence"]["reachable"] == 6


def test_planes_in_one_line(scenario: Callable[[str], Path], tmp_path: Path) -> None:
    """Each RBridge may have another, and each names it with what it did."""
    text = LINE.replace(
        "count: 3",
        "n0: {data_plane: userspace}, n1: {data_plane: ebpf}, n2: {data_plane: simulator}",
    )
    report = tmp_path / "run.json"
    settings = "mode: offload\n"
    viaduct("run", scenario(text + FLOWS + settings), "--json", report).expect()
    run = results(report)
    for flow in run["flows"]:
        assert not flow.get("error"), flow
    assert run["flows"][0]["loss"] == run["flows"][1]["loss"] == 0
    planes = {node: plane["name"] for node, plane in run["data_planes"].items()}
    assert planes["n0"] == "userspace-rbridge"
    assert planes["n1"] == "ebpf-rbridge"
    assert run["data_planes"]["n1"]["packets"]["eth0"]["forwarded"] > 60
