"""What a listener on the way heard of a claim is of no use to it."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import test_hub
from claimers import Claimer, Tls, serve_until
from labs import TIMEOUT
from test_hub import Hosts, end, hub
from test_many_clients import many
from wires import entered

hosts = test_hub.hosts
HUB = ("192.0.2.254", 4789)


class Listener(threading.Thread):
    """A relay to the hub for one connection, which keeps what it hears in the order it came."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._server.getsockname()
        self._hub = socket.create_connection(HUB, TIMEOUT)
        self.heard: list[tuple[str, bytes]] = []  # "client" or "hub"

    def run(self) -> None:
        """Until one of them closes."""
        client, _ = self._server.accept()
        to = {client: self._hub, self._hub: client}
        while True:
            for ready in select.select(list(to), [], [], TIMEOUT)[0]:
                piece = ready.recv(65536)
                if piece:
                    self.heard.append(("client" if ready is client else "hub", piece))
                    to[ready].sendall(piece)
                else:
                    client.close()
                    self._hub.close()
                    return


def replay(heard: list[tuple[str, bytes]]) -> bytes:
    """Says what the client said, each part after as much has come as came then; what came."""
    got = b""
    expected = 0
    with socket.create_connection(HUB, TIMEOUT) as connection:
        connection.settimeout(TIMEOUT)
        try:
            for who, piece in heard:
                if who == "hub":
                    expected += len(piece)
                    continue
                while len(got) < expected:
                    part = connection.recv(65536)
                    if not part:
                        return got
                    got += part
                connection.sendall(piece)
            while part := connection.recv(65536):
                got += part
        except ConnectionError:
            pass  # refused in the middle of what it says
    return got


def test_a_claim_heard_on_the_way_cannot_be_repeated(
    hosts: Hosts, scenario: Callable[[str], Path]
) -> None:
    """Neither while its client has the node nor afterwards; the node is the next client's."""
    file = scenario(many("simulate", 2, "true"))
    with hub(hosts, file) as process, entered(hosts.clients):
        tls = Tls(test_hub.key_of(file))
        listener = Listener()
        listener.start()
        client = Claimer(tls, listener.address)
        client.claim("c1")
        serve_until([client], client.is_answered)
        offer = client.offer()
        assert offer, client.refusal()
        heard = [each for each in listener.heard if each[1]]
        assert [who for who, _ in heard].count("client") >= 2, "a handshake and a claim"
        during = replay(heard)
        client.say({"leave": True})
        client.close()
        listener.join(TIMEOUT)
        after = replay(heard)
        hello = next(piece for who, piece in heard if who == "hub")
        for got in (during, after):
            assert len(got) >= len(hello), "it was not even answered"
            assert got != b"".join(piece for who, piece in heard if who == "hub")
        # Had the repetition been a claim, the node would be kept for it now.
        again = Claimer(tls, HUB)
        again.claim("c1")
        serve_until([again], again.is_answered)
        given = again.offer()
        assert given, again.refusal()
        assert given["session"] != offer["session"]
        again.say({"leave": True})
        serve_until([again], lambda: bool(again.ended))
        again.close()
        end(process)
