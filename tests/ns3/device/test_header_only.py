"""Real hosts whose packets pass a router of ns-3 which has their headers only."""

from __future__ import annotations

import contextlib
import re

import pytest
from labs import inside
from routed import PROGRAM, Hosts, Program, wait_for_the_router

# Datagrams of many sizes, whose bytes depend on their number; the receiver counts the right ones.
_SEND = """
import random, socket, sys
to = socket.getaddrinfo(sys.argv[1], 7000, type=socket.SOCK_DGRAM)[0]
s = socket.socket(to[0], socket.SOCK_DGRAM)
for n in range(300):
    s.sendto(n.to_bytes(2, "big") + random.Random(n).randbytes(n * 13 % 3000), to[4])
    if n % 20 == 0: import time; time.sleep(0.01)
"""
_RECEIVE = """
import random, socket, sys
s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
s.bind(("::", 7000)); s.settimeout(10)
print("ready", flush=True)
right = wrong = 0
while right + wrong < 300:
    try: data = s.recv(65535)
    except TimeoutError: break
    n = int.from_bytes(data[:2], "big")
    good = data[2:] == random.Random(n).randbytes(n * 13 % 3000)
    right += good; wrong += not good
print(right, wrong)
"""


@pytest.mark.parametrize("header_bytes", [20, 64, 201])
def test_what_passes_is_unchanged(hosts: Hosts, header_bytes: int) -> None:
    with contextlib.ExitStack() as stack:
        default = f"--ns3::RingNetDevice::HeaderBytes={header_bytes}"
        command = [str(PROGRAM), "--left=r0", "--right=r1", "--duration=3000s", "--warm-up=1s"]
        Program(stack, hosts.router, *command, default)
        for to in ("10.1.2.2", "fd00:2::2"):
            wait_for_the_router(hosts, to)
            receiver = Program(stack, hosts.right, "python3", "-c", _RECEIVE)
            assert receiver.process.stdout
            assert receiver.process.stdout.readline() == "ready\n"
            inside(hosts.left, "python3", "-c", _SEND, to).expect()
            assert receiver.output().split() == ["300", "0"]
            # ping compares what comes back, whole packets and fragments.
            for size in ("1400", "4000"):
                seen = inside(hosts.left, "ping", "-c", "5", "-i", "0.05", "-s", size, to).expect()
                assert " 0% packet loss" in seen.output
                assert "wrong data" not in seen.output


def test_the_program_says_what_was_held(hosts: Hosts) -> None:
    with contextlib.ExitStack() as stack:
        command = [str(PROGRAM), "--left=r0", "--right=r1", "--duration=6s", "--warm-up=1s"]
        router = Program(stack, hosts.router, *command, "--ns3::RingNetDevice::HeaderBytes=64")
        wait_for_the_router(hosts, "10.1.2.2")
        inside(hosts.left, "ping", "-c", "10", "-i", "0.05", "-s", "1400", "10.1.2.2").expect()
        text = router.output()
    held = [int(number) for number in re.findall(r"headers only: (\d+) packets", text)]
    assert len(held) == 2
    assert min(held) >= 10
    assert "payloads still stored: 0" in text
    assert re.findall(r"sent: \d+ frames, p50", text)
