"""Unmodified programs of this machine on kernel nodes, in virtual time: needs no root, but a kernel
that was built (viaduct kernel build)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from kernels import need, run_programs
from labs import REPOSITORY


def times(ping: str) -> list[float]:
    """The round-trip times that ping printed, in milliseconds."""
    return [float(time) for time in re.findall(r"time=([0-9.]+) ms", ping)]


def test_bird_routes_a_ring_by_ospf_and_around_a_link_that_fails(tmp_path: Path) -> None:
    need("bird", "birdc")
    configuration = REPOSITORY / "examples" / "bird-ospf.conf"
    ended = run_programs(
        tmp_path,
        f"all@0s mkdir /run/bird; bird -c {configuration}",
        "0@20s birdc show ospf neighbors; ip route show 10.0.2.0/24",
        "0@20s ping -n -i 0.5 -c 40 10.0.2.2",
        "1@25s ip link set eth1 down",
        "0@39s ip route show 10.0.2.0/24",
        time="41s",
        topology="ring",
        nodes=10,
        routing="none",
    )
    state = ended["0-1"].expect()
    assert state.count("Full/PtP") == 2
    assert "10.0.2.0/24 via 10.0.0.2 dev eth0 proto bird" in state
    # To node 3 by three links of 1 ms; when the one of nodes 1 and 2 is down, by seven others.
    round_trips = times(ended["0-2"].output)
    assert round_trips[0] == pytest.approx(6, abs=0.2)
    assert round_trips[-1] == pytest.approx(14, abs=0.2)
    # Node 1 announces at once that its link is down.
    assert len(round_trips) >= 36, ended["0-2"].output
    assert "10.0.2.0/24 via 10.0.9.1 dev eth1 proto bird" in ended["0-3"].expect()


def test_curl_gets_a_file_from_nginx_in_the_time_of_the_link(tmp_path: Path) -> None:
    need("nginx", "curl")
    ended = run_programs(
        tmp_path,
        "1@0s head -c 2000000 /dev/urandom >/var/www/file; sha256sum </var/www/file;"
        " printf 'events {}\\nhttp { access_log /run/log; server { root /var/www; } }'"
        " >/etc/nginx/nginx.conf; nginx",
        "0@1s curl -s -o /run/a -w '%{http_code} %{size_download} %{time_total}'"
        " http://10.0.0.2/file; sha256sum </run/a",
        *["0@10s curl -s -o /dev/null -w '%{time_total}' -r 0-499999 http://10.0.0.2/file"] * 4,
        "1@20s nginx -s quit; sleep 1; wc -l </run/log; pgrep nginx",
        time="30s",
        rate="10Mbps",
        delay="20ms",
    )
    code, size, rest = ended["0-0"].expect().split(" ", 2)
    assert (code, size) == ("200", "2000000")
    # 1502 bytes of the link carry 1448 of the file; connection, request and slow start take five
    # round trips at most.
    link = 2e6 * 1502 / 1448 * 8 / 10e6
    assert link < float(rest[:8]) < link + 0.2
    assert rest[8:] == ended["1-0"].expect(), "the same contents"
    assert max(float(ended[f"0-{i}"].expect()) for i in range(1, 5)) > link
    assert ended["1-1"].expect("exit status 1") == "5\n", "five requests, and nginx has ended"


FRR = """
interface eth0
 ip ospf area 0
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
interface eth1
 ip ospf area 0
 ip ospf network point-to-point
 ip ospf hello-interval 1
 ip ospf dead-interval 4
router ospf
"""


def test_frr_routes_by_ospf(tmp_path: Path) -> None:
    need("zebra", "ospfd", "vtysh")
    ended = run_programs(
        tmp_path,
        f"all@0s mkdir -m 777 /run/frr; echo '{FRR}' >/etc/frr/frr.conf;"
        " cd /usr/lib/frr && touch /etc/frr/empty && ./zebra -d -f /etc/frr/empty &&"
        " ./ospfd -d -f /etc/frr/frr.conf",
        "0@12s vtysh -c 'show ip route ospf'; ping -n -c 1 10.0.1.2",
        time="15s",
        nodes=3,
        routing="none",
    )
    output = ended["0-1"].expect()
    assert "O>* 10.0.1.0/24 [110/2] via 10.0.0.2, eth0" in output
    assert times(output)[0] == pytest.approx(4, abs=0.2)


def iperf3(output: str, which: str) -> float:
    """The rate in the report, in Mbit/s."""
    return float(json.loads(output)["end"][which]["bits_per_second"]) / 1e6


def test_iperf3_in_every_direction(tmp_path: Path) -> None:
    need("iperf3")
    ended = run_programs(
        tmp_path,
        "1@0s iperf3 -s -D",
        "0@1s iperf3 -c 10.0.0.2 -n 500K --json",
        "0@3s iperf3 -c 10.0.0.2 -n 500K --json -R",
        "0@5s iperf3 -c 10.0.0.2 -n 300K --json -u -b 5M",
        time="7s",
        rate="10Mbps",
        delay="5ms",
    )
    # Of the link's 1502 bytes TCP's data are 1448, UDP's 1448 of 1478.
    assert iperf3(ended["0-0"].expect(), "sum_received") == pytest.approx(9.6, abs=0.4)
    assert iperf3(ended["0-1"].expect(), "sum_received") == pytest.approx(9.6, abs=0.4)
    sent = json.loads(ended["0-2"].expect())["end"]["sum"]
    assert sent["lost_percent"] == 0
    assert sent["bits_per_second"] == pytest.approx(5e6, rel=0.02)


SCRIPT = """
import os, select, signal, socket, subprocess, threading, time, urllib.request
signal.setitimer(signal.ITIMER_REAL, 0.25)
ticks = []
signal.signal(signal.SIGALRM, lambda *_: ticks.append(time.monotonic()))
begin = time.monotonic()
time.sleep(1)
print("alarm after", round(ticks[0] - begin, 2), "slept", round(time.monotonic() - begin, 2))
thread = threading.Thread(target=time.sleep, args=(2,))
thread.start(); thread.join()
print("thread after", round(time.monotonic() - begin, 2))
ours, theirs = socket.socketpair()
if os.fork() == 0:
    theirs.sendall(b"from a child"); os._exit(3)
print(ours.recv(99).decode(), os.waitstatus_to_exitcode(os.wait()[1]))
local = socket.socket(socket.AF_UNIX); local.bind("/run/test.sock"); local.listen()
print(subprocess.check_output(["sh", "-c", "ss -xl | grep -c test.sock"], text=True).strip())
print(len(urllib.request.urlopen("http://10.0.0.2:8000/etc/hostname").read()) > 0)
datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
datagrams.connect(("10.0.0.2", 9))  # a UDP socket hears of ICMP errors when it is connected
datagrams.send(b"x")
print(select.select([datagrams], [], [], 0.5)[0] == [datagrams])
try:
    datagrams.recv(9)
except ConnectionRefusedError as error:
    print("refused")
"""


def test_python_waits_forks_and_talks(tmp_path: Path) -> None:
    need("python3")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ended = run_programs(
        tmp_path,
        "1@0s exec /usr/bin/python3 -m http.server -d /",
        f"0@1s /usr/bin/python3 {script}",
        time="6s",
        delay="5ms",
    )
    assert ended["0-0"].expect().splitlines() == [
        "alarm after 0.25 slept 1.0",
        "thread after 3.0",
        "from a child 3",
        "1",
        "True",
        "True",
        "refused",
    ]
    assert ended["1-0"].status == "running at the end of the simulation"


def test_tools_see_and_change_the_nodes_kernel(tmp_path: Path) -> None:
    need("tcpdump", "nft", "ss", "ip", "tc")
    ended = run_programs(
        tmp_path,
        "1@0s tcpdump -n -i eth0 -c 2 -w /run/capture icmp; tcpdump -n -r /run/capture",
        "0@1s ping -n -c 1 10.0.0.2",
        "1@2s nft add table ip t; nft add chain ip t c '{ type filter hook input priority 0; }';"
        " nft add rule ip t c icmp type echo-request counter drop",
        "0@3s ping -n -c 1 -W 1 10.0.0.2",
        "1@5s nft list ruleset",
        "1@6s nft flush ruleset; tc qdisc replace dev eth0 root netem delay 30ms; tc qdisc show",
        "0@7s ping -n -c 1 10.0.0.2",
        "1@8s ip link add extra type dummy; ip addr add 192.0.2.1/24 dev extra;"
        " ip link set extra up; ip -br addr show extra",
        "0@8s ip route add 192.0.2.0/24 via 10.0.0.2",
        "0@9s ping -n -c 1 192.0.2.1",
        "1@9s ss -tln; cat /proc/sys/net/ipv4/ip_forward; hostname; id -un; test -w /dev/net/tun",
        time="12s",
        delay="5ms",
    )
    assert "ICMP echo request" in ended["1-0"].expect()
    assert times(ended["0-0"].expect())[0] == pytest.approx(10, abs=0.3)
    assert "100% packet loss" in ended["0-1"].expect("exit status 1")
    assert "counter packets 1 bytes 84 drop" in ended["1-2"].expect()
    assert "netem" in ended["1-3"].expect()
    assert times(ended["0-2"].expect())[0] == pytest.approx(40, abs=0.3)
    assert "192.0.2.1/24" in ended["1-4"].expect()
    assert times(ended["0-4"].expect())[0] == pytest.approx(40, abs=0.3)
    assert ended["1-5"].expect().splitlines()[1:] == ["1", "n1", "root"]


def test_wireguard_carries_a_ping(tmp_path: Path) -> None:
    need("wg", "ip")
    tunnel = (
        "ip link add wg0 type wireguard; ip addr add 192.168.9.{here}/24 dev wg0;"
        " wg set wg0 private-key {folder}/{here} listen-port 5555"
        " peer $(wg pubkey <{folder}/{there}) allowed-ips 192.168.9.0/24"
        " endpoint 10.0.0.{there}:5555; ip link set wg0 up"
    )
    for name, byte in (("1", "QA"), ("2", "gA")):  # any 32 bytes are a private key
        (tmp_path / name).write_text(byte + "A" * 41 + "=\n")
    ended = run_programs(
        tmp_path,
        "0@0s " + tunnel.format(here=1, there=2, folder=tmp_path),
        "1@0s " + tunnel.format(here=2, there=1, folder=tmp_path),
        "0@1s ping -n -c 2 192.168.9.2; wg show wg0 latest-handshakes",
        time="5s",
        delay="5ms",
    )
    ended["0-0"].expect()
    ended["1-0"].expect()
    output = ended["0-1"].expect()
    assert times(output)[1] == pytest.approx(10, abs=0.3)
    assert re.search(r"^\S{44}\t[1-9]", output, re.MULTILINE)
