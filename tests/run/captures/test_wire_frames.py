"""Captures of links have the frames that would be on a wire, whatever kernels leave to devices."""

from __future__ import annotations

import hashlib
import socket
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from labs import execute, results, viaduct
from scapy.layers.inet import IP, TCP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet

Write = Callable[[str], Path]
PLANES = ["kernel", "ebpf", "joined", "userspace"]
SEGMENT, SEGMENTS = 1000, 12  # of a datagram that is cut by the interface
CHUNK, CHUNKS = 60_000, 25
ENDS = {"4": ("10.9.0.1", "10.9.1.2"), "6": ("fd00:9::1", "fd00:9:1::2")}
MTU, HEADER, TAG = 1500, 14, 4

# Sends what one super-frame after the other has, as long as each is answered, and datagrams that
# are cut (UDP_SEGMENT of linux/udp.h). The server answers each chunk, and writes what it got.
PROGRAM = f"""
import socket, sys, time
what, address, port, file = sys.argv[1:]
kind = socket.AF_INET6 if ":" in address else socket.AF_INET
if what == "serve":
    server = socket.create_server((address, int(port)), family=kind)
    peer, _ = server.accept()
    with open(file, "wb") as out:
        for _ in range({CHUNKS}):
            left = {CHUNK}
            while left:
                got = peer.recv(left)
                out.write(got)
                left -= len(got)
            peer.sendall(b"x")
    peer.recv(1)
else:
    while True:
        try:
            peer = socket.create_connection((address, int(port)), timeout=60)
            break
        except OSError:
            time.sleep(0.1)
    with open(file, "rb") as content:
        while chunk := content.read({CHUNK}):
            peer.sendall(chunk)
            peer.recv(1)
    datagrams = socket.socket(kind, socket.SOCK_DGRAM)
    datagrams.setsockopt(17, 103, {SEGMENT})
    datagrams.sendto(bytes({SEGMENT * SEGMENTS}), (address, int(port)))
    time.sleep(0.5)
"""


@pytest.fixture
def transfer(tmp_path: Path) -> Callable[[str, str, int], str]:
    """Programs of a scenario that send a file from the first of these nodes to the second."""
    program, content = tmp_path / "transfer.py", tmp_path / "content"
    program.write_text(PROGRAM)
    parts = [
        hashlib.sha512(bytes([i % 256, i // 256])).digest() for i in range(CHUNK * CHUNKS // 64 + 1)
    ]
    content.write_bytes(b"".join(parts)[: CHUNK * CHUNKS])

    def programs(nodes: str, address: str, port: int) -> str:
        sender, receiver = nodes.split()
        words = f"{address} {port}"
        serve = f"python3 {program} serve {words} {tmp_path}/got{port}"
        send = f"python3 {program} send {words} {content}"
        return f"""
  - {{node: {receiver}, background: true, command: [sh, -c, "{serve}"]}}
  - {{node: {sender}, command: [sh, -c, "{send}"]}}"""

    return programs


def read(capture: Path, *fields: str, only: str = "") -> list[list[str]]:
    """Fields of frames, with every checksum verified."""
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields"]
    for each in ("ip.check_checksum", "tcp.check_checksum", "udp.check_checksum"):
        command += ["-o", f"{each}:TRUE"]
    command += ["-o", "tcp.desegment_tcp_streams:FALSE"]
    for field in fields:
        command += ["-e", field]
    if only:
        command += ["-Y", only]
    return [line.split("\t") for line in execute(command).expect().output.splitlines()]


def stream(capture: Path, port: int, size: int = CHUNK * CHUNKS) -> bytes:
    """What was sent to the port by TCP, put together by the sequence numbers."""
    only = f"tcp.dstport == {port} && tcp.len > 0"
    rows = read(capture, "tcp.seq", "tcp.payload", only=only)
    content = bytearray(size)
    known = bytearray(len(content))
    for sequence, payload in rows:
        part, at = bytes.fromhex(payload.replace(":", "")), int(sequence) - 1
        content[at : at + len(part)] = part
        known[at : at + len(part)] = b"x" * len(part)
    assert known.count(b"x") == len(content), "bytes are missing"
    return bytes(content)


def check(capture: Path, ports: list[int], folder: Path) -> None:
    """Nothing but frames as on a wire, with all bytes of the transfers."""
    wrong = [
        f"({each}.checksum.status == 0 && {each}.checksum != 0xffff)" for each in ("tcp", "udp")
    ]
    bad = " || ".join([*wrong, "ip.checksum.status == 0", "_ws.malformed"])
    assert read(capture, "frame.number", only=bad) == []
    lengths = [int(row[0]) for row in read(capture, "frame.len")]
    assert max(lengths) <= MTU + HEADER
    verified = read(capture, "tcp.dstport", only="tcp.checksum.status == 1 && tcp.len > 0")
    sent = "udp.checksum.status == 1 && !icmp && !icmpv6"  # nobody receives them: they are quoted
    datagrams = read(capture, "udp.dstport", "udp.length", only=sent)
    for port in ports:
        # As few as fit: the kernel's segments were as long as the MTU allows.
        assert CHUNKS < verified.count([str(port)]) < 1.5 * CHUNK * CHUNKS / (MTU - 100)
        assert stream(capture, port) == (folder / "content").read_bytes()
        assert (folder / f"got{port}").read_bytes() == (folder / "content").read_bytes()
        assert datagrams.count([str(port), str(8 + SEGMENT)]) == SEGMENTS


@pytest.mark.usefixtures("lab")
@pytest.mark.parametrize("plane", PLANES)
def test_a_plain_links_capture_has_frames_of_a_wire(
    plane: str, transfer: Callable[..., str], scenario: Write, tmp_path: Path
) -> None:
    """Of both families: no super-frame, no checksum that is not finished, no byte missing."""
    ports = {"4": 7004, "6": 7006}
    programs = "".join(transfer("n0 n2", ENDS[f][1], port) for f, port in ports.items())
    file = scenario(
        f"""
mode: offload
nodes: 3
data_plane: {plane}
routing: {{protocol: static}}
duration: 1min
addressing: {{ipv6: "fd00::/48"}}
links:
  - {{pair: [n0, n1], addresses: [10.9.0.1/24, 10.9.0.2/24, "fd00:9::1/64", "fd00:9::2/64"]}}
  - {{pair: [n1, n2], addresses: [10.9.1.1/24, 10.9.1.2/24, "fd00:9:1::1/64", "fd00:9:1::2/64"]}}
captures: all
programs:{programs}
"""
    )
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    for capture in results(tmp_path / "run.json")["captures"]:
        assert (capture["dropped"], "unfinished" in capture) == (0, False)
        check(tmp_path / capture["file"], list(ports.values()), tmp_path)


# Sends what a kernel hands to an interface that cuts segments: a header (PACKET_VNET_HDR of
# packet(7), struct virtio_net_hdr of linux/virtio_net.h), and then the super-frame.
SENDER = """
import pathlib, socket, sys, time
sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
sender.setsockopt(263, 15, 1)
sender.bind(("eth0", 0))
for file in sys.argv[1:]:
    sender.send(pathlib.Path(file).read_bytes())
time.sleep(0.5)
"""


def super_frame(ip: Packet, kind: int, port: int, content: bytes) -> bytes:
    """A tagged TCP segment of any length, whose checksum is that of the pseudo-header only."""
    frame = Ether(src="02:00:00:00:00:77", dst="ff:ff:ff:ff:ff:ff") / Dot1Q(vlan=7, prio=3)
    frame = frame / ip / TCP(sport=1, dport=port, flags="A", chksum=0) / content
    start = len(frame) - len(content) - 20
    length = len(content) + 20
    if kind == 1:
        addresses = b"".join(socket.inet_pton(socket.AF_INET, a) for a in (ip.src, ip.dst))
    else:
        addresses = b"".join(socket.inet_pton(socket.AF_INET6, a) for a in (ip.src, ip.dst))
    words = struct.unpack(f"!{len(addresses) // 2}H", addresses)
    total = sum(words) + socket.IPPROTO_TCP + length
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    frame[TCP].chksum = total
    return struct.pack("=BBHHHH", 1, kind, start + 20, 1400, start, 16) + bytes(frame)


@pytest.mark.usefixtures("lab")
def test_tagged_frames_are_cut_behind_their_tags(scenario: Write, tmp_path: Path) -> None:
    """The tag of a super-frame, which the kernel keeps elsewhere, is in each frame."""
    content = bytes(i * 7 % 256 for i in range(20_000))
    frames = {
        7004: super_frame(IP(src="10.77.0.1", dst="10.77.0.2"), 1, 7004, content),
        7006: super_frame(IPv6(src="fd00:77::1", dst="fd00:77::2"), 4, 7006, content),
    }
    for port, frame in frames.items():
        (tmp_path / f"frame{port}").write_bytes(frame)
    program = tmp_path / "sender.py"
    program.write_text(SENDER)
    files = " ".join(str(tmp_path / f"frame{port}") for port in frames)
    file = scenario(
        f"""
mode: offload
nodes: 2
routing: {{protocol: static}}
duration: 1min
links: [{{pair: [n0, n1]}}]
captures: all
programs: [{{node: n0, command: python3 {program} {files}}}]
"""
    )
    viaduct("run", file, "--json", tmp_path / "run.json", cwd=tmp_path).expect()
    (capture,) = results(tmp_path / "run.json")["captures"]
    assert (capture["dropped"], "unfinished" in capture) == (0, False)
    path = tmp_path / capture["file"]
    assert max(int(row[0]) for row in read(path, "frame.len", only="tcp")) <= MTU + HEADER + TAG
    fields = ["vlan.id", "vlan.priority", "tcp.checksum.status", "tcp.len"]
    for port in frames:
        rows = read(path, *fields, only=f"tcp.dstport == {port}")
        assert {tuple(row[:3]) for row in rows} == {("7", "3", "1")}
        assert [int(row[3]) for row in rows] == [1400] * 14 + [400]
        assert stream(path, port, len(content)) == content


@pytest.mark.parametrize("spec", ["", "delay=1ms"])
def test_simulated_packets_have_their_checksums(
    scenario: Write, tmp_path: Path, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ns-3 computes none unless it is told to."""
    monkeypatch.chdir(tmp_path)
    text = (
        f"mode: simulate\nnodes: 2\nlinks: [{{pair: [n0, n1], spec: '{spec}'}}]\n"
        "routing: {protocol: static}\ncaptures: all\nflows:\n"
        "  - {type: udp, from: n0, to: n1, size: 100, rate: 80kbit, duration: 1s}\n"
        "  - {type: tcp, from: n0, to: n1, rate: 80kbit, duration: 1s}\n"
    )
    viaduct("run", scenario(text)).expect()
    [capture] = tmp_path.glob("*-captures/n0-n1.pcap")
    fields = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    fields += ["-o", "tcp.check_checksum:TRUE", "-T", "fields"]
    for layer, packets in (("ip", 120), ("udp", 100), ("tcp", 20)):
        command = ["tshark", "-r", str(capture), "-Y", layer, *fields]
        states = execute([*command, "-e", f"{layer}.checksum.status"]).expect().output.split()
        assert len(states) >= packets
        assert set(states) == {"1"}, layer  # good
