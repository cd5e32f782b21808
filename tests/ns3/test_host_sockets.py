"""ns-3's applications on sockets of a lab, of kernels in virtual time, and of ns-3 itself."""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Iterator

import pytest
from kernels import need
from labs import BUILD, TIMEOUT, environment, execute, namespaces, wait_until

PROGRAM = BUILD / "examples" / "viaduct-host-applications"
BYTES = 500000
# Counts what arrives over TCP up to the connection's end, and as many bytes over UDP.
PEER = """
import json, socket, sys
family = socket.AF_INET6 if sys.argv[1] == "6" else socket.AF_INET
listener = socket.create_server(("", 5201), family=family)
datagrams = socket.socket(family, socket.SOCK_DGRAM)
datagrams.setsockopt(socket.SOL_SOCKET, 33, 1 << 24)  # SO_RCVBUFFORCE
datagrams.bind(("", 5202))
print("listening", flush=True)
connection, _ = listener.accept()
counted = {"tcp": 0, "udp": 0}
while data := connection.recv(65536):
    counted["tcp"] += len(data)
while counted["udp"] < int(sys.argv[2]):
    counted["udp"] += len(datagrams.recv(65536))
print(json.dumps(counted), flush=True)
"""


@contextlib.contextmanager
def scenario(lab: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """Starts the program as sudo would for the user nobody, up to the line "ready"."""
    process = subprocess.Popen(
        [str(PROGRAM), "--sockets=host", f"--lab={lab}", "--time=300s", "--wait=1", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment(), "SUDO_UID": "65534", "SUDO_GID": "65534"},
    )
    try:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait(TIMEOUT)
        wait_until(lambda: not [n for n in namespaces() if n.startswith(f"{lab}.")], "clean-up")


@pytest.mark.parametrize("family", ["4", "6"])
def test_a_plain_program_counts_the_same_bytes(lab: str, family: str) -> None:
    ipv6 = f"--ipv6={int(family == '6')}"
    with scenario(lab, "--sink=0", f"--bytes={BYTES}", ipv6) as process:
        peer = subprocess.Popen(
            ["ip", "netns", "exec", f"{lab}.n2", "python3", "-c", PEER, family, str(BYTES)],
            stdout=subprocess.PIPE,
            text=True,
            env=environment(),
        )
        try:
            assert peer.stdout
            assert peer.stdout.readline() == "listening\n"
            assert process.stdin
            process.stdin.write("\n")
            process.stdin.flush()
            counted, _ = peer.communicate(timeout=TIMEOUT)
        finally:
            peer.kill()
        output, _ = process.communicate("\n", timeout=TIMEOUT)
        assert json.loads(counted) == {"tcp": BYTES, "udp": BYTES}
        assert output.startswith(f"tcp: sent {BYTES}, received 0\nudp: sent {BYTES}, received 0\n")
        assert "events late: p50 " in output


@pytest.mark.parametrize("ipv6", [0, 1])
@pytest.mark.parametrize("sockets", ["ns3", "kernel", "host"])
def test_the_same_applications_on_all_sockets(lab: str, sockets: str, ipv6: int) -> None:
    if sockets == "kernel":
        need()
    options = [f"--sockets={sockets}", f"--ipv6={ipv6}", f"--bytes={BYTES}", f"--lab={lab}"]
    done = execute([str(PROGRAM), *options, "--time=60s"])
    all_of_it = f"sent {BYTES}, received {BYTES}"
    assert done.expect().output.startswith(f"tcp: {all_of_it}\nudp: {all_of_it}\n")


def test_unknown_sockets_are_one_line() -> None:
    done = execute([str(PROGRAM), "--sockets=raw"])
    assert "--sockets=raw: unknown; expected ns3, kernel or host" in done.error_line(2)
