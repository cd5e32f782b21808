"""Interfaces of the machine in a scenario: ns-3's protocols speak with what is on their network."""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from labs import TIMEOUT, environment, execute, inside, links, running, viaduct, wait_until

Write = Callable[[str], Path]
REAL_MODES = ["traditional", "emulate", "offload"]
PROTOCOLS = {
    "ipv4": ("ns3::Rip", "{ipv4: 10.0.0.0/16}", "10.1.1.2/24", "10.88.0.1"),
    "ipv6": ("ns3::RipNg", "{ipv4: none, ipv6: fd00::/48}", "fd00:1::2/64", "fd00:88::1"),
}
BIRD = """
router id 10.88.0.1;
protocol device {}
protocol direct { ipv4; ipv6; interface "stub0"; }
protocol kernel { ipv4 { export all; }; }
protocol kernel { ipv6 { export all; }; }
protocol rip { ipv4 { import all; export all; }; interface "v1" { update time 2; }; }
protocol rip ng { ipv6 { import all; export all; }; interface "v1" { update time 2; }; }
"""


@contextlib.contextmanager
def neighbour(lab: str, folder: Path) -> Iterator[str]:
    """The machine's interface, and BIRD at the other end of its cable; the interface's name."""
    if shutil.which("bird", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("no bird: setup/packages test")
    peer, nic = f"{lab}-bird", f"{lab}n"
    (folder / "bird.conf").write_text(BIRD)
    with contextlib.ExitStack() as stack:
        execute(["ip", "netns", "add", peer]).expect()
        stack.callback(execute, ["ip", "netns", "del", peer])  # and the interface with it
        execute(["ip", "link", "add", nic, "type", "veth", "peer", "v1", "netns", peer]).expect()
        for words in (
            "link add stub0 type veth peer stub1",
            "address add 10.88.0.1/24 dev stub0",
            "address add fd00:88::1/64 dev stub0 nodad",
            "address add 10.1.1.1/24 dev v1",
            "address add fd00:1::1/64 dev v1 nodad",
            "link set stub0 up",
            "link set stub1 up",
            "link set v1 up",
        ):
            inside(peer, "ip", *words.split()).expect()
        # A cable carries whole checksums, which ns-3's FdNetDevice (mode traditional) needs.
        inside(peer, "ethtool", "-K", "v1", "tx", "off").expect()
        configuration, control = folder / "bird.conf", folder / "bird.ctl"
        daemon = subprocess.Popen(
            ["ip", "netns", "exec", peer, "bird", "-f", "-c", configuration, "-s", control],
            env=environment(),
        )
        stack.callback(daemon.wait, TIMEOUT)
        stack.callback(daemon.terminate)
        yield nic


def with_interface(nic: str, family: str, more: str = "") -> str:
    """Two routers, the second on the interface."""
    protocol, addressing, address, _ = PROTOCOLS[family]
    return f"""
nodes: 2
duration: 2min
routing:
  protocol: {protocol}
  attributes: {{UnsolicitedRoutingUpdate: 2s, StartupDelay: 100ms}}
addressing: {addressing}
links:
  - {{pair: [n0, n1], spec: delay=1ms}}
  - {{interface: {nic}, node: n1, addresses: [{address}]}}
{more}"""


@pytest.mark.parametrize("mode", REAL_MODES)
@pytest.mark.parametrize("family", ["ipv4", "ipv6"])
def test_routes_are_learned_and_taught(
    mode: str, family: str, lab: str, scenario: Write, tmp_path: Path
) -> None:
    """The far router reaches what BIRD announces, and BIRD knows the way back."""
    until = f"until ping -c1 -W1 {PROTOCOLS[family][3]}; do sleep 0.2; done"
    with neighbour(lab, tmp_path) as nic:
        before = execute(["ethtool", "-k", nic]).expect().output
        more = f'programs: [{{node: n0, command: [sh, -c, "{until}"]}}]\ncaptures: [{nic}]\n'
        file = scenario(with_interface(nic, family, more))
        report = tmp_path / "run.json"
        viaduct("run", file, "--mode", mode, "--json", report, cwd=tmp_path).expect()
        capture = json.loads(report.read_text())["captures"][0]
        fields = ["-T", "fields", "-e", "eth.src"]
        told = execute(["tshark", "-r", str(tmp_path / capture["file"]), *fields]).expect().output
        assert len(set(told.split())) >= 2, "what leaves, and what arrives"
        assert nic in links(), "given back"
        assert execute(["ethtool", "-k", nic]).expect().output == before


def test_clean_gives_the_interface_back(lab: str, scenario: Write, tmp_path: Path) -> None:
    with neighbour(lab, tmp_path) as nic:
        file = scenario(with_interface(nic, "ipv4"))
        with running("run", file, "--mode", "emulate") as run:
            run.wait_for("converged")
            assert nic not in links()
            found = json.loads(viaduct("ls", "--json").expect().output)
            broker = next(entry["broker_pid"] for entry in found if entry["lab"] == lab)
            execute(["kill", "-9", str(broker)]).expect()
            run.wait()
        viaduct("clean").expect()
        wait_until(lambda: nic in links(), "the interface")


def test_ls_counts_links_as_up_does(lab: str, scenario: Write, tmp_path: Path) -> None:
    """An interface of the machine is one of them, which `link` takes down, too."""
    with neighbour(lab, tmp_path) as nic:
        done = viaduct("up", scenario(with_interface(nic, "ipv4"))).expect()
        try:
            assert "2 nodes, 2 links" in done.output + done.errors
            assert "2 nodes, 2 links" in viaduct("ls", lab).expect().output
            looked = json.loads(viaduct("ls", lab, "--json").expect().output)
            assert [(each["name"], each["kind"]) for each in looked["links"]] == [
                ("n0-n1", "pair"),
                (nic, "interface"),
            ]
            viaduct("link", nic, "down").expect()
            assert "UP" not in inside(f"{lab}.n1", "ip", "-br", "link", "show", nic).output.split()
        finally:
            viaduct("down", lab).expect()


def test_mode_simulate_has_none(scenario: Write) -> None:
    file = scenario(with_interface("nic0", "ipv4"))
    line = viaduct("run", file, "--mode", "simulate").error_line(2)
    assert "interface nic0: not supported in mode simulate" in line


def test_one_that_is_missing_is_named(scenario: Write) -> None:
    line = viaduct("run", scenario(with_interface("nosuch0", "ipv4"))).error_line(2)
    assert "physical interface nosuch0 does not exist" in line


OSPF = """
log "{folder}/{node}.log" all;
router id 192.0.2.{number};
protocol device {{}}
protocol static {{ ipv4; route 10.9{number}.0.0/24 blackhole; }}
protocol static {{ ipv6; route fd00:9{number}::/64 blackhole; }}
protocol ospf v2 {{
  ipv4 {{ import all; export all; }};
  area 0 {{ interface "eth0" {{ hello 1; dead 10; }}; }};
}}
protocol ospf v3 {{
  ipv6 {{ import all; export all; }};
  area 0 {{ interface "eth0" {{ hello 1; dead 10; }}; }};
}}
"""


@pytest.mark.parametrize("mode", REAL_MODES)
def test_ospf_on_hosts_of_a_lab(mode: str, scenario: Write, tmp_path: Path) -> None:
    """By multicast of IP protocol 89, over a link on which there is a router of ns-3's too."""
    if shutil.which("bird", path="/usr/sbin:/usr/bin") is None:
        pytest.skip("no bird: setup/packages test")
    programs = ""
    for number, node in ((1, "h1"), (2, "h2")):
        text = OSPF.format(folder=tmp_path, node=node, number=number)
        (tmp_path / f"{node}.conf").write_text(text)
        socket = tmp_path / f"{node}.ctl"
        daemon = f"[bird, -f, -c, {tmp_path}/{node}.conf, -s, {socket}]"
        programs += f"  - {{node: {node}, background: true, command: {daemon}}}\n"
        for route in (f"10.9{3 - number}.0.0/24", f"fd00:9{3 - number}::/64"):
            look = f"birdc -s {socket} show route for {route} | grep E2"
            until = f"until {look}; do sleep 0.2; done"
            programs += f'  - {{node: {node}, command: [sh, -c, "{until}"]}}\n'
    file = scenario(
        """
nodes: {r: {}, h1: {host: true, gateway: r}, h2: {host: true, gateway: r}}
routing: {protocol: static}
duration: 2min
addressing: {ipv6: fd00::/48}
links: [{shared: [r, h1, h2], spec: "delay=2ms rate=10Mbit"}]
programs:
"""
        + programs
    )
    done = viaduct("run", file, "--mode", mode)
    logs = "".join(log.read_text() for log in tmp_path.glob("*.log"))
    assert done.status == 0, f"{done}\n{logs}"
