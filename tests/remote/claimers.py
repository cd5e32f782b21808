"""Clients of a hub's control connection that are not the product's: TLS-PSK of OpenSSL, by ctypes.

Many in one process, and what they say is up to the test.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import hashlib
import hmac
import json
import select
import socket
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from labs import TIMEOUT

_SSL = ctypes.CDLL(ctypes.util.find_library("ssl") or "libssl.so.3")
_USE_SESSION = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.POINTER(ctypes.c_size_t),
    ctypes.POINTER(ctypes.c_void_p),
)
_WANT_READ, _WANT_WRITE = 2, 3  # SSL_ERROR_*
_TLS1_3 = 0x304
_MIN, _MAX = 123, 124  # SSL_CTRL_SET_MIN_PROTO_VERSION, SSL_CTRL_SET_MAX_PROTO_VERSION

for _name in ("TLS_client_method", "SSL_CTX_new", "SSL_new", "SSL_SESSION_new", "SSL_CIPHER_find"):
    getattr(_SSL, _name).restype = ctypes.c_void_p


def _pointer(value: int | None) -> ctypes.c_void_p:
    return ctypes.c_void_p(value)


class Tls:
    """What all connections with one key share."""

    def __init__(self, key: Path) -> None:
        self._secret = bytes.fromhex(key.read_text().strip())
        code = hmac.new(self._secret, b"viaduct key id", hashlib.sha256).hexdigest()
        self._identity = ctypes.create_string_buffer(f"viaduct-1-{code[:16]}".encode())
        self.context = _SSL.SSL_CTX_new(_pointer(_SSL.TLS_client_method()))
        for option in (_MIN, _MAX):
            _SSL.SSL_CTX_ctrl(_pointer(self.context), option, ctypes.c_long(_TLS1_3), None)
        _SSL.SSL_CTX_set_ciphersuites(_pointer(self.context), b"TLS_AES_128_GCM_SHA256")
        self._use = _USE_SESSION(self._use_session)  # as long as the context uses it
        _SSL.SSL_CTX_set_psk_use_session_callback(_pointer(self.context), self._use)

    def _use_session(
        self, connection: int, digest: int, identity: Any, length: Any, session: Any
    ) -> int:
        made = _SSL.SSL_SESSION_new()
        cipher = _SSL.SSL_CIPHER_find(_pointer(connection), b"\x13\x01")
        _SSL.SSL_SESSION_set1_master_key(
            _pointer(made), self._secret, ctypes.c_size_t(len(self._secret))
        )
        _SSL.SSL_SESSION_set_cipher(_pointer(made), _pointer(cipher))
        _SSL.SSL_SESSION_set_protocol_version(_pointer(made), _TLS1_3)
        session[0] = made
        identity[0] = ctypes.addressof(self._identity)
        length[0] = len(self._identity.value)
        return 1


class Claimer:
    """One connection, which never blocks: Serve() after it is readable."""

    def __init__(self, tls: Tls, hub: tuple[str, int], source: str = "") -> None:
        family = socket.AF_INET6 if ":" in hub[0] else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        self.socket.setblocking(False)
        if source:
            self.socket.bind((source, 0))
        if (error := self.socket.connect_ex(hub)) not in (0, errno.EINPROGRESS):
            raise OSError(error, "connect")
        self._ssl = _SSL.SSL_new(_pointer(tls.context))
        _SSL.SSL_set_fd(_pointer(self._ssl), self.socket.fileno())
        _SSL.SSL_set_connect_state(_pointer(self._ssl))
        self.is_open = False
        self.ended = ""
        self.messages: list[dict[str, Any]] = []
        self._text = b""
        self._waiting: list[bytes] = []

    def fileno(self) -> int:
        """Of the connection."""
        return self.socket.fileno()

    def say(self, *messages: dict[str, Any] | bytes) -> None:
        """Once the key is shown."""
        if self.ended:
            return
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
            self._waiting.append(line)
        if self.is_open:
            self._send()

    def claim(self, node: str | None = None, session: str = "") -> None:
        """Asks for a node."""
        request: dict[str, Any] = {"claim": node, "version": 1}
        self.say(request | ({"session": session} if session else {}))

    def serve(self) -> None:
        """Does what can be done now; `messages` and `ended` tell what came."""
        if self.ended:
            return
        if not self.is_open:
            result = _SSL.SSL_do_handshake(_pointer(self._ssl))
            if result != 1:
                self._judge(result)
                return
            self.is_open = True
            self._send()
        piece = ctypes.create_string_buffer(65536)
        while (got := _SSL.SSL_read(_pointer(self._ssl), piece, len(piece))) > 0:
            self._text += piece.raw[:got]
        self._judge(got)
        *lines, self._text = self._text.split(b"\n")
        self.messages += map(json.loads, lines)

    def offer(self) -> dict[str, Any] | None:
        """What the hub gave, if it has."""
        return next((each for each in self.messages if "vni" in each), None)

    def refusal(self) -> str | None:
        """Why the hub gave nothing, if it has said so."""
        return next((each["error"] for each in self.messages if "error" in each), None)

    def is_answered(self) -> bool:
        """Whether nothing more will come of its claim."""
        return bool(self.ended or self.offer() or self.refusal())

    def close(self) -> None:
        """Without a word."""
        if self._ssl:
            _SSL.SSL_free(_pointer(self._ssl))
            self._ssl = None
            self.socket.close()
        self.ended = self.ended or "closed"

    def _send(self) -> None:
        while self._waiting:
            line = self._waiting.pop(0)
            _SSL.SSL_write(_pointer(self._ssl), line, len(line))

    def _judge(self, result: int) -> None:
        error = _SSL.SSL_get_error(_pointer(self._ssl), result)
        _SSL.ERR_clear_error()
        if error == _WANT_WRITE or (error == _WANT_READ and not self._is_refused()):
            return
        self.ended = f"error {error}"

    def _is_refused(self) -> bool:
        return self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) != 0


def serve_until(
    claimers: Iterable[Claimer], done: Callable[[], bool], timeout: float = TIMEOUT
) -> None:
    """Serves all of them until the condition holds."""
    limit = time.monotonic() + timeout
    poll = select.epoll()
    by_number = {each.fileno(): each for each in claimers if not each.ended}
    for number in by_number:
        poll.register(number, select.EPOLLIN | select.EPOLLOUT | select.EPOLLET)
    beat = time.monotonic() + 1
    try:
        while not done():
            assert time.monotonic() < limit, "the claims are not done"
            if time.monotonic() > beat:
                beat += 1
                for claimer in by_number.values():
                    if claimer.offer():
                        claimer.say({"alive": True})
            for number, _ in poll.poll(0.1):
                by_number[number].serve()
                if by_number[number].ended:
                    poll.unregister(number)
    finally:
        poll.close()


def serve_for(claimers: Iterable[Claimer], seconds: float) -> None:
    """Serves all of them for so long."""
    end = time.monotonic() + seconds
    serve_until(claimers, lambda: time.monotonic() >= end, seconds + TIMEOUT)
