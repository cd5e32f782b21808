"""The traffic of ns-3's own TCP examples over its own stack and over real kernels, and captures
that tshark reads. Needs no root, but a kernel that was built (viaduct kernel build)."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from labs import BUILD, Done, execute, viaduct

PROGRAM = BUILD / "examples" / "viaduct-kernel-scenarios"


@pytest.fixture(autouse=True)
def needs_kernel() -> None:
    if viaduct("kernel", "list").status != 0 or not viaduct("kernel", "list").output.strip():
        pytest.skip("no kernel for guests: viaduct kernel build")


def run(*arguments: str) -> Done:
    return execute([str(PROGRAM), *arguments], timeout=120)


def sinks(scenario: str, stack: str, *arguments: str) -> list[tuple[int, float]]:
    """For each sink, the bytes it received and when the last arrived, in seconds."""
    output = run(f"--scenario={scenario}", f"--stack={stack}", *arguments).expect().output
    pairs = re.findall(
        r"^sink \d+: (\d+) bytes, last received at ([\d.]+) s$", output, re.MULTILINE
    )
    return [(int(size), float(at)) for size, at in pairs]


def test_bulk_send_fills_the_link_over_both_stacks() -> None:
    for stack in ("ns3", "kernel"):
        ((received, _),) = sinks("bulk", stack)
        # 500 kbit/s for ten seconds are 625000 bytes with headers.
        assert 0.9 * 625000 < received < 0.98 * 625000, stack


def test_the_tutorials_application_and_a_star() -> None:
    for stack in ("ns3", "kernel"):
        ((received, last),) = sinks("fifth", stack)
        assert received == 1000 * 1040, stack
        assert last == pytest.approx(1 + 1040 * 8 * 999 / 1e6, abs=1.0), stack
        ((star, _),) = sinks("star", stack)
        # Eight senders of 14 kbit/s for nine seconds, from the end of their handshake on.
        assert star == pytest.approx(14000 * 9, rel=0.02), stack


def test_two_flows_share_a_dumbbell() -> None:
    for stack in ("ns3", "kernel"):
        rates = [received * 8 / 20 / 1e6 for received, _ in sinks("dumbbell", stack)]
        assert 0.85 < sum(rates) < 1.0, stack
        assert min(rates) > 0.2, stack


def test_factories_are_chosen_by_name() -> None:
    for name in ("Tcp", "Mptcp", "Sctp"):
        factory = f"--factory=ns3::Kernel{name}SocketFactory"
        ((received, _),) = sinks("bulk", "kernel", factory)
        assert 0.85 * 625000 < received < 0.98 * 625000, name


@pytest.mark.parametrize("protocol", ["Tcp", "Mptcp", "Sctp", "Dccp"])
def test_the_transfer_example_carries_every_protocol(protocol: str) -> None:
    program = str(BUILD / "examples" / "viaduct-kernel-transfer")
    words = ["--rate=10Mbps", "--delay=1ms", "--time=2s"]
    words.append(f"--factory=ns3::Kernel{protocol}SocketFactory")
    output = execute([program, *words], timeout=120).expect().output
    rate = re.search(r"([\d.]+) Mbit/s", output)
    assert rate
    assert 7 < float(rate[1]) < 10, output
    # A message that no socket takes: nothing is sent, and that is no success.
    if protocol == "Sctp":
        too_long = execute([program, *words, "--size=65536"], timeout=120)
        assert "nothing arrived" in too_long.error_line(1)


def test_bad_choices_are_one_line() -> None:
    assert "bulk, fifth" in run("--scenario=no-such").error_line(2)
    assert "ns3 or kernel" in run("--stack=no-such").error_line(2)


@pytest.mark.parametrize(
    ("factory", "said"),
    [
        ("ns3::KernelUdpSocketFactory", "requires connection-oriented sockets"),
        ("ns3::KernelRawSocketFactory", "requires connection-oriented sockets"),
        ("ns3::NoSuchSocketFactory", "have no such socket factory"),
        ("ns3::Node", "have no such socket factory"),
    ],
)
def test_factories_without_connections_are_refused(factory: str, said: str) -> None:
    """By the applications that need connections; ns-3 would end the program in silence."""
    program = str(BUILD / "examples" / "viaduct-kernel-transfer")
    assert said in execute([program, f"--factory={factory}"], timeout=120).error_line(2)
    for scenario in ("bulk", "dumbbell"):
        words = [f"--scenario={scenario}", "--stack=kernel", f"--factory={factory}"]
        assert said in run(*words).error_line(2)
    ns3 = run("--scenario=star", "--stack=ns3", "--factory=ns3::KernelTcpSocketFactory")
    assert "have no such socket factory" in ns3.error_line(2)


CHECKS = {
    "ip": "ip.check_checksum:TRUE",
    "tcp": "tcp.check_checksum:TRUE",
    "udp": "udp.check_checksum:TRUE",
    "dccp": "dccp.check_checksum:TRUE",
    "sctp": "sctp.checksum:CRC 32c",
}


def frames(capture: Path, *words: str) -> list[str]:
    """The output of tshark, one line per frame, with every checksum verified."""
    options = [word for preference in CHECKS.values() for word in ("-o", preference)]
    command = ["tshark", "-n", "-r", str(capture), *options, *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_captures_are_whole_and_their_checksums_right(tmp_path: Path) -> None:
    assert [size for size, _ in sinks("transports", "kernel", f"--pcap={tmp_path}/wire")] == (
        [100000] * 10
    )
    captures = sorted(tmp_path.glob("wire-*.pcap"))
    assert len(captures) == 2
    for capture in captures:
        # 0xffff is another zero (RFC 1624, section 3), and what Linux writes (CSUM_MANGLED_0).
        sums = [f"({each}.checksum.status == 0 && {each}.checksum != 0xffff)" for each in CHECKS]
        bad = " || ".join(sums)
        bad = f"_ws.malformed || icmpv6.checksum.status == 0 || {bad}"
        assert frames(capture, "-Y", bad) == []
        transports = ["tcp", "udp", "dccp", "sctp"]
        fields = ["ip.version", "ipv6.version", *(f"{each}.checksum.status" for each in transports)]
        words = [word for name in fields for word in ("-e", name)]
        good: Counter[tuple[str, str]] = Counter()
        for line in frames(capture, "-T", "fields", *words):
            ip, ipv6, *statuses = line.split("\t")
            for transport, status in zip(transports, statuses, strict=True):
                if "1" in status.split(","):
                    good[transport, ip or ipv6] += 1
        assert set(good) == {(each, version) for each in transports for version in "46"}
        assert all(count >= 100 for count in good.values()), good
        # MPTCP is TCP with options: MP_CAPABLE in the handshakes of both families.
        handshakes = "tcp.options.mptcp.subtype == 0 && tcp.flags.syn == 1"
        assert len(frames(capture, "-Y", handshakes)) == 4


def test_the_seed_decides_every_byte_of_a_capture(tmp_path: Path) -> None:
    def capture(name: str, seed: int) -> bytes:
        sinks("fifth", "kernel", f"--pcap={tmp_path}/{name}", f"--RngRun={seed}")
        return (tmp_path / f"{name}-0-1.pcap").read_bytes()

    first = capture("a", 1)
    assert len(first) > 1000000
    assert first == capture("b", 1)
    assert first != capture("c", 2)
