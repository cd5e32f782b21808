"""`viaduct path`: each impairment applies to real packets, and errors are reported."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import socket
import struct
import time
from pathlib import Path
from typing import Any

import pytest
from labs import REPOSITORY, TIMEOUT, VIADUCT, execute, inside, measured, wait_until
from scapy.contrib.mpls import MPLS
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw
from wires import LEFT, RIGHT, Tap, Wires, entered, traces_of

MARK = b"viaduct-test"
BETWEEN = ("--between", "a", "b")


def frame(number: int = 0, size: int = 100, tag: Packet | None = None, port: int = 7) -> bytes:
    """A datagram without a receiver: the hosts' kernels drop it silently."""
    ether = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    data = MARK + struct.pack("!I", number)
    packet = IP(src=LEFT, dst=RIGHT) / UDP(sport=7, dport=port) / Raw(data)
    padding = b"." * max(0, size - len(bytes(ether / packet)))
    packet = IP(src=LEFT, dst=RIGHT) / UDP(sport=7, dport=port) / Raw(data + padding)
    return bytes(ether / tag / packet if tag else ether / packet)


def numbers(frames: list[bytes]) -> list[int]:
    """Which frames these are."""
    return [struct.unpack("!I", f[f.index(MARK) + len(MARK) :][:4])[0] for f in frames]


def finish(command: Any, status: int = 0) -> dict[str, Any]:
    """Ends a path that was started with --json -; returns its results."""
    command.process.send_signal(signal.SIGINT)
    assert command.wait() == status, command.text
    loaded, _ = json.JSONDecoder().raw_decode(command.text, command.text.index("\n{") + 1)
    assert isinstance(loaded, dict)
    return loaded


def up_of(results: dict[str, Any], group: str = "") -> dict[str, Any]:
    """The pipeline from left to right of the only pair."""
    for pipeline in results["pipelines"]:
        if pipeline["direction"] == "up" and pipeline["class"] == group:
            assert isinstance(pipeline, dict)
            fates = sum(pipeline["fates"].values())
            assert pipeline["arrived"] + pipeline["duplicated"] == fates + pipeline["waiting"]
            return pipeline
    raise AssertionError(results)


def test_delay_of_each_direction_adds_up(wires: Wires) -> None:
    with wires.path(*BETWEEN, "--up", "delay=10ms", "--down", "delay=25ms"):

        def best() -> float:
            return float(re.search(r"= ([\d.]+)/", wires.ping().expect().output)[1])  # type: ignore[index]

        measured(best, 35, 45)


def test_loss_is_counted_and_nothing_else_is_lost(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--up", "loss=25%", "--seed", "1", "--json", "-") as path:
        for datagram in [frame(number) for number in range(1000)]:
            taps[0].send(datagram)
        wires.arrived(1000)
        delivered = up_of({"pipelines": wires.pipelines()})["fates"]["delivered"]
        came = numbers(taps[1].receive_all(delivered, MARK))
        up = up_of(finish(path))
    assert up["arrived"] == 1000
    assert up["fates"]["lost"] + len(came) == 1000
    assert came == sorted(set(came)), "in order, each once"
    # 25% of 1000, and six standard deviations.
    assert abs(up["fates"]["lost"] - 250) < 6 * (1000 * 0.25 * 0.75) ** 0.5


def test_duplicates(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--up", "dup=100%"):
        taps[0].send(frame(5))
        assert numbers(taps[1].receive_all(2, MARK)) == [5, 5]


def test_flipped_bits_never_pass_for_good(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with entered(wires.right):
        receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
    receiver.bind((RIGHT, 9))
    receiver.settimeout(1)  # all has come by then
    with entered(wires.left):  # its kernel leaves the checksum to the hardware
        sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    data = MARK + bytes(range(256)) * 4
    with wires.path(*BETWEEN, "--up", "ber=1e-5", "--seed", "3", "--json", "-") as path:
        for _ in range(500):
            sender.sendto(data, (RIGHT, 9))
        came = taps[1].receive_all(500)
        damaged = [f for f in came if data not in f]
        good = 0
        with contextlib.suppress(TimeoutError):
            while True:
                assert receiver.recv(2000) == data
                good += 1
        up = up_of(finish(path))
    # 8,600 bits a frame, so one in twelve is hit; once, mostly: the checksum sees that.
    assert len(damaged) > 15
    assert up["corrupted"] >= len(damaged)
    assert up["flipped_bits"] >= up["corrupted"]
    assert 400 < good <= 500 - len(damaged)


def test_rate_and_queue(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--up", "rate=1Mbit queue=20p", "--json", "-") as path:
        burst = [frame(number, 1250) for number in range(50)]
        start = time.time()
        for datagram in burst:
            taps[0].send(datagram)
        sending = time.time() - start
        wires.arrived(50)
        accepted = 50 - up_of({"pipelines": wires.pipelines()})["fates"]["queue_full"]
        times = []
        for _ in range(accepted):
            assert taps[1].receive(marker=MARK)
            times.append(taps[1].stamp - start)
        up = up_of(finish(path))
    # What the queue holds, what is on the line, and what has left while the rest was sent.
    assert 20 <= len(times) <= 22 + sending / 0.01
    assert up["fates"]["queue_full"] == 50 - len(times)
    # 10 ms a frame, never faster.
    assert all(0.01 * (number + 1) <= when for number, when in enumerate(times)), times


def test_reordering_takes_packets_out_of_turn(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--up", "delay=50ms reorder=20%", "--seed", "4"):
        for datagram in [frame(number) for number in range(100)]:
            taps[0].send(datagram)
        came = numbers(taps[1].receive_all(100, MARK))
    assert sorted(came) == list(range(100))
    assert came != sorted(came)


def test_vlans_of_one_interface(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    pairs = ["--pair", "a:vlan=10,a:vlan=20", "--pair", "a:vlan=11,b", "--json", "-"]
    with wires.path(*pairs) as path:
        taps[0].send(frame(1, tag=Dot1Q(vlan=10, prio=5)))
        back = Ether(taps[0].receive(marker=MARK))
        assert (back[Dot1Q].vlan, back[Dot1Q].prio) == (20, 5)
        assert bytes(back[IP]) == bytes(Ether(frame(1))[IP])
        taps[0].send(frame(2, tag=Dot1Q(vlan=11)))
        assert taps[1].receive(marker=MARK) == frame(2), "the tag is off"
        taps[1].send(frame(3))
        assert taps[0].receive(marker=MARK) == frame(3, tag=Dot1Q(vlan=11)), "and on"
        taps[0].send(frame(4, tag=Dot1Q(vlan=12)))
        taps[0].send(frame(5, tag=Dot1Q(vlan=11)))
        assert taps[1].receive(marker=MARK) == frame(5), "the one behind it"
        assert taps[0].receive(0.2, MARK) is None
        results = finish(path)
    assert next(p for p in results["ports"] if p["name"] == "a")["unmatched"] == 1


def set_mtu(wires: Wires, mtu: int) -> None:
    """The largest payload of both cables, at both ends."""
    for namespace, interface in (
        (wires.left, "eth0"),
        (wires.middle, "a"),
        (wires.middle, "b"),
        (wires.right, "eth0"),
    ):
        inside(namespace, "ip", "link", "set", "dev", interface, "mtu", str(mtu))


def test_jumbo_frames(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    set_mtu(wires, 9000)
    with wires.path(*BETWEEN, "--json", "-") as path:
        taps[0].send(frame(1, size=9014))
        assert taps[1].receive(marker=MARK) == frame(1, size=9014)
        results = finish(path)
    assert up_of(results)["fates"]["delivered"] == 1
    assert {port["unmatched"] + port["too_long"] for port in results["ports"]} == {0}


def test_two_tags_of_the_users_own(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    set_mtu(wires, 1504)  # as any bridge of 802.1ad needs it
    twice = frame(1, size=1514, tag=Dot1Q(vlan=10) / Dot1Q(vlan=20))
    assert len(twice) == 1522
    with wires.path(*BETWEEN):
        taps[0].send(twice)
        assert taps[1].receive(marker=MARK) == twice


def test_frames_that_are_too_long_are_counted_as_such(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--json", "-") as path:
        set_mtu(wires, 9000)  # larger than when the path was made
        taps[0].send(frame(1, size=9014))
        taps[0].send(frame(2))
        assert taps[1].receive(marker=MARK) == frame(2)
        results = finish(path)
    port = next(port for port in results["ports"] if port["name"] == "a")
    assert (port["too_long"], port["unmatched"]) == (1, 0)


def test_labels(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    def labelled(number: int, label: int, ttl: int) -> bytes:
        ether, packet = Ether(frame(number)), Ether(frame(number))[IP]
        ether.remove_payload()
        ether.type = 0x8847
        return bytes(ether / MPLS(label=label, s=1, ttl=ttl) / packet)

    with wires.path("--pair", "a:mpls=100,b:mpls=200", "--pair", "a,b:vlan=5"):
        taps[0].send(labelled(1, 100, 9))
        assert taps[1].receive(marker=MARK) == labelled(1, 200, 9)
        taps[1].send(labelled(2, 200, 7))
        assert taps[0].receive(marker=MARK) == labelled(2, 100, 7)
        taps[0].send(frame(3))
        assert taps[1].receive(marker=MARK) == frame(3, tag=Dot1Q(vlan=5))


def test_classes_have_their_own_specs(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    classes = ["--class", "dns=udp dst port 53", "--up", "loss=100%", "--json", "-"]
    with wires.path("--pair", "p=a:vlan=10,b", "--up", "dup=100%", *classes) as path:
        taps[0].send(frame(1, tag=Dot1Q(vlan=10), port=53))
        taps[0].send(frame(2, tag=Dot1Q(vlan=10)))
        assert numbers(taps[1].receive_all(2, MARK)) == [2, 2]
        results = finish(path)
    assert up_of(results, "dns")["fates"]["lost"] == 1
    assert up_of(results)["duplicated"] == 1


def test_live_changes(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--up", "delay=8s"):  # longer than it takes to change it
        start = time.monotonic()
        taps[0].send(frame(1))
        wires.viaduct("path", "set", *BETWEEN, "--up", "delay=1ms order=free").expect()
        taps[0].send(frame(2))
        assert numbers([taps[1].receive(marker=MARK) or b""]) == [2]
        assert numbers([taps[1].receive(marker=MARK) or b""]) == [1], "nothing under way is lost"
        assert time.monotonic() - start >= 8

        refused = wires.viaduct("path", "set", "--up", "loss=120%").error_line(2)
        assert "loss" in refused
        assert "no class" in wires.viaduct("path", "set", "--class", "x", "--up", "").error_line(2)
        assert "no path" in wires.viaduct("path", "set", "nosuch", "--up", "").error_line(2)
        taps[0].send(frame(3))
        assert taps[1].receive(marker=MARK) == frame(3), "the path goes on"

        wires.viaduct("path", "set", "--up", "loss=100%").expect()
        taps[0].send(frame(4))

        def changed() -> dict[str, Any]:
            return up_of({"pipelines": wires.pipelines()})

        wait_until(lambda: changed()["fates"]["lost"] == 1, "it is lost")
        assert taps[1].receive(0.2, MARK) is None
        assert "loss=100%" in changed()["spec"]


def test_statistics_for_prometheus(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--name", f"{wires.middle}-p"):
        taps[0].send(frame(1))
        assert taps[1].receive(marker=MARK)
        late = f'viaduct_path_lateness_seconds_count{{path="{wires.middle}-p"}} 1'

        def shown() -> str:
            return wires.viaduct("path", "stats", "--prometheus").expect().output

        wait_until(lambda: late in shown(), "it is counted that it was sent")
        text = shown()
        assert f"{wires.middle}-p" in wires.viaduct("path", "ls").expect().output
    sample = re.compile(r'^[a-z_]+\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\} [0-9.e+-]+$')
    for line in text.splitlines():
        assert line.startswith(("# HELP viaduct_path_", "# TYPE viaduct_path_")) or sample.match(
            line
        ), line
    labels = f'path="{wires.middle}-p",pair="a-b",class="",direction="up",fate="delivered"'
    assert f"viaduct_path_packets_total{{{labels}}} 1" in text


def test_schedule(wires: Wires, taps: tuple[Tap, Tap], tmp_path: Path) -> None:
    file = tmp_path / "flaps"
    file.write_text("0s a-b both down\n2s * up up  # and only there\n")
    start = time.time()
    with wires.path(*BETWEEN, "--schedule", file):
        sent: list[float] = []

        def passes() -> bool:
            for tap in taps:
                tap.send(frame(len(sent)))
            sent.append(time.time())
            return taps[1].receive(0.05, MARK) is not None

        wait_until(passes, "up again")
        assert taps[1].stamp - start >= 2
        assert taps[0].receive(0.3, MARK) is None
        wires.arrived(len(sent), "down")
        down = next(p for p in wires.pipelines() if p["direction"] == "down")
        assert down["fates"]["delivered"] == 0
        # Each frame that is sent from now on passes.
        passed = up_of({"pipelines": wires.pipelines()})["fates"]["delivered"]
        assert passed <= sum(when - start >= 2 for when in sent)
        for number in range(3):
            taps[0].send(frame(1000 + number))
        wait_until(lambda: numbers([taps[1].receive(marker=MARK) or b""]) == [1002], "all pass")


def block_after(words: str, document: str) -> str:
    """The first code block that follows these words in a document, as printed."""
    text = (REPOSITORY / "docs" / document).read_text()
    block = text[text.index(words) :].split("```\n")[1]
    assert isinstance(block, str)
    return block


def test_the_manuals_schedule_and_change_work_as_printed(wires: Wires, tmp_path: Path) -> None:
    file = tmp_path / "schedule"
    file.write_text(block_after("A schedule (`--schedule FILE`)", "path.md"))
    for name in ("eth1", "eth2"):
        pair = ("type", "veth", "peer", "name", f"{name}-far")
        inside(wires.middle, "ip", "link", "add", name, *pair).expect()
        inside(wires.middle, "ip", "link", "set", name, "up").expect()
    paths = ("--pair", "eth1-eth2=eth1,eth2", "--up", "rate=5Mbit queue=9p aqm=codel")
    paths += ("--pair", "far=eth1:vlan=11,eth2:vlan=12", "--class", "dns=udp port 53")
    with wires.path(*paths, "--schedule", file):
        first = next(p for p in wires.pipelines() if p["direction"] == "up" and p["class"] == "")
        wait_until(lambda: "delay=20ms" in str(wires.pipelines()), "the first change")
        assert first["pair"] == "eth1-eth2"
    printed = re.search(
        r'set --between eth1 eth2 (--up) "(.*)"', block_after("## Changing", "path.md")
    )
    assert printed
    with wires.path(*BETWEEN, "--up", "rate=5Mbit queue=9p aqm=codel"):
        wires.viaduct("path", "set", "--between", "a", "b", *printed.groups()).expect()
        assert next(p for p in wires.pipelines() if p["direction"] == "up")["spec"] == "delay=50ms"


def test_directions_share_a_link(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    """Half duplex: frames of both directions wait for one link, 10 ms each."""
    up, down = "rate=1Mbit queue=100p link=air", "link=air"
    with wires.path(*BETWEEN, "--up", up, "--down", down):
        start = time.time()
        for number in range(20):
            taps[number % 2].send(frame(number, 1250))
        times = []
        for tap in (taps[1], taps[0]):
            for _ in range(10):
                assert tap.receive(marker=MARK)
                times.append(tap.stamp - start)
    assert all(0.01 * (number + 1) <= when for number, when in enumerate(sorted(times))), times


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--between", "a"], "--between"),
        (["--between", "a", "nosuch"], "nosuch"),
        (["--between", "a", "a"], "a is both ends of pair a-a"),
        (["--pair", "a:vlan=4095,b"], "4095"),
        (["--pair", "a:mpls=3,b"], "mpls=3"),
        (["--pair", "a,b", "--pair", "a,b:vlan=5"], "of both pair a-b and"),
        ([*BETWEEN, "--up", "loss=120%"], "loss"),
        ([*BETWEEN, "--up", "rate=0"], "rate"),
        ([*BETWEEN, "--up", "speed=5"], "speed"),
        ([*BETWEEN, "--up", "delay=1ms jitter=5ms"], "jitter"),
        ([*BETWEEN, "--up", "loss=trace:/nowhere"], "/nowhere"),
        ([*BETWEEN, "--class", "x=udp prot 5"], "packet filter"),
        ([*BETWEEN, "--memory", "1000"], "memory"),
        ([*BETWEEN, "--spill", "/nowhere"], "/nowhere"),
        ([*BETWEEN, "--schedule", "/nowhere"], "/nowhere"),
        ([*BETWEEN, "--trace", "/nowhere/x.jsonl"], "/nowhere"),
        ([*BETWEEN, "--log", "/nowhere/x.log"], "/nowhere"),
        ([*BETWEEN, "--log", "x.log", "--graph", "/nowhere/x.svg"], "--graph /nowhere/x.svg"),
        ([*BETWEEN, "--graph", "x.svg"], "--graph draws the log; specify --log FILE, too"),
        ([*BETWEEN, "--up", "link=air"], "link=air: the link has no rate"),
        ([*BETWEEN, "--up", "loss=+1%"], "loss: a loss model is missing"),
        ([*BETWEEN, "--busy", "--cpu-saving"], "--busy"),
        ([*BETWEEN, "--duration", "soon"], "--duration"),
        ([*BETWEEN, "--name", "a/b"], "is not a valid path name"),
    ],
)
def test_wrong_input_is_named(wires: Wires, arguments: list[str], what: str) -> None:
    assert what in wires.viaduct("path", *arguments).error_line(2)
    assert not traces_of(wires)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("2s a-b up delay=1ms\n1s a-b up delay=2ms\n", ":2: 1s follows 2s"),
        ("0s a-c up delay=1ms\n", ":1: there is no pair a-c"),
        ("0s a-b/x up delay=1ms\n", ":1: pair a-b has no class x"),
        ("nonsense\n", ":1: "),
        ("0s a-b up loss=120%\n", ":1: SPEC: loss"),
        ("0s a-b up link=air rate=1Mbit\n", ":1: SPEC: link: cannot be changed"),
        ("0s a-b up rate=1Mbit\n5s * up delay=trace:/nowhere\n", ":2: /nowhere"),
        ("0s a-b both delay=9ms\n1s a-b up jitter=2ms\n2s a-b up delay=1ms\n", ":3: "),
    ],
)
def test_wrong_schedules_are_named(wires: Wires, tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "schedule"
    file.write_text(text)
    assert what in wires.viaduct("path", *BETWEEN, "--schedule", file).error_line(2)


def test_one_emulator_an_interface(wires: Wires) -> None:
    with wires.path(*BETWEEN, "--name", wires.middle):
        line = wires.viaduct("path", "--between", "b", "a").error_line(2)
        assert "interface b" in line
        assert wires.middle in line, "says who has it"
    execute(["ip", "-n", wires.middle, "link", "set", "dev", "a", "down"]).expect()
    assert "is down" in wires.viaduct("path", *BETWEEN).error_line(2)


def test_an_interface_vanishes_under_load(
    wires: Wires, taps: tuple[Tap, Tap], monkeypatch: pytest.MonkeyPatch
) -> None:
    # As sudo calls it: the process that forwards has no privilege.
    monkeypatch.setenv("SUDO_UID", "65534")
    monkeypatch.setenv("SUDO_GID", "65534")
    with wires.path(*BETWEEN, "--up", "delay=20ms") as path:
        for number in range(200):
            taps[0].send(frame(number))
        execute(["ip", "-n", wires.middle, "link", "delete", "dev", "b"]).expect()
        path.wait_for("interface b has disappeared")
        for number in range(200):
            taps[0].send(frame(number))
        status = Path(f"/proc/{path.pid}/status").read_text()
        assert re.search(r"^Uid:\s+65534\s+65534", status, re.MULTILINE)
        assert re.search(r"^CapPrm:\s+0+$", status, re.MULTILINE), "nothing is left of root's"
        wires.viaduct("path", "stats").expect()
        wires.join(wires.right, "b")
        path.wait_for("interface b is back")
        tap = Tap(wires.right, "eth0")

        def passes() -> bool:
            taps[0].send(frame(777))
            return tap.receive(0.2, MARK) is not None

        wait_until(passes, "frames pass again")
        tap.close()


def serve_one_that_was_elsewhere(wires: Wires, taps: tuple[Tap, Tap], *port: str) -> None:
    """An interface that comes back from another namespace is used again. It has the index that it
    had, but the kernel has unbound its sockets."""
    with wires.path(*BETWEEN, *port, "--json", "-") as path:
        for number in range(100):
            taps[0].send(frame(number))
        assert len(taps[1].receive_all(100, MARK)) == 100
        for here, there in ((wires.middle, wires.left), (wires.left, wires.middle)):
            execute(["ip", "-n", here, "link", "set", "dev", "b", "netns", there]).expect()
        path.wait_for("interface b has disappeared")
        execute(["ip", "-n", wires.middle, "link", "set", "dev", "b", "up"]).expect()
        path.wait_for("interface b is back\n")

        def passes() -> bool:
            taps[0].send(frame(777))
            return taps[1].receive(0.2, MARK) is not None

        wait_until(passes, "frames pass again")
        results = finish(path)
    up = up_of(results)
    assert up["fates"]["delivered"] > 100
    assert results["ports"][1]["tx_frames"] == up["fates"]["delivered"], "also those before"


def test_an_interface_that_was_elsewhere_is_served_again(
    wires: Wires, taps: tuple[Tap, Tap]
) -> None:
    serve_one_that_was_elsewhere(wires, taps)


def test_the_control_socket_survives_nonsense(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--name", wires.middle):
        listed = json.loads(wires.viaduct("path", "ls", "--json").expect().output)
        address = next(p["control"] for p in listed if p["name"] == wires.middle)

        def ask(data: bytes) -> bytes:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(TIMEOUT)
                client.connect(address)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    client.sendall(data)
                    return client.recv(1 << 20)
            return b""

        folder = wires.viaduct("path", "set", "--up", "delay=trace:/tmp")
        assert "/tmp" in folder.error_line(2)
        assert json.loads(ask(b"nonsense\n"))["status"] == 2
        assert not json.loads(ask(b'{"request": "set", "up": 5}\n'))["ok"]
        assert ask(b"x" * 200_000) == b"", "a line without an end is no request"
        assert json.loads(ask(b'{"request": "set", "up": "delay=1ms"}\n'))["ok"]
        assert json.loads(ask(b'{"request": "stats"}\n'))["stats"]["name"] == wires.middle
        taps[0].send(frame(1))
        assert taps[1].receive(marker=MARK)


def test_late_is_void(wires: Wires, taps: tuple[Tap, Tap]) -> None:
    with wires.path(*BETWEEN, "--up", "delay=5ms", "--lateness-limit", "1ns") as path:
        taps[0].send(frame(1))
        assert taps[1].receive(marker=MARK)
        path.process.send_signal(signal.SIGINT)
        assert path.wait() == 4
    assert "VOID" in path.text


def test_a_full_disk_is_a_cause_of_loss(
    wires: Wires, taps: tuple[Tap, Tap], tmp_path: Path
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    small = ["-t", "tmpfs", "-o", "size=1M", "viaduct-test", str(spill)]
    execute(["mount", *small]).expect()
    try:
        spec = "rate=100kbit queue=100000p"
        datagram = frame(0, 1400)
        where = ["--memory", "2M", "--spill", spill, "--json", "-"]
        with wires.path(*BETWEEN, "--up", spec, *where) as path:

            def full() -> bool:
                for _ in range(1000):
                    taps[0].send(datagram)
                return any(entry["fates"]["disk_behind"] > 0 for entry in wires.pipelines())

            wait_until(full, "loss")
            up = up_of(finish(path))
        assert up["fates"]["disk_behind"] > 0
        assert up["waiting"] > 0
    finally:
        execute(["umount", str(spill)])


def test_help_has_examples() -> None:
    for words in (["path"], ["path", "set"], ["path", "stats"], ["path", "ls"]):
        done = execute([str(VIADUCT), *words, "--help"]).expect()
        assert "Example" in done.output


@pytest.mark.parametrize("command", [["path", "--between", "a", "b"], ["shell"]])
def test_results_that_cannot_be_written_are_refused_before(command: list[str]) -> None:
    done = execute([str(VIADUCT), *command, "--json", "/nonexistent/x.json"])
    problem = "cannot be written: No such file or directory"
    assert done.error_line(2) == f"viaduct: --json /nonexistent/x.json: {problem}"
