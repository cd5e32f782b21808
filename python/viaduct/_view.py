"""viaduct view: a page on loopback that shows what is alive, or plays a finished run back."""

from __future__ import annotations

import argparse
import hmac
import http.server
import json
import os
import re
import secrets
import signal
import threading
from collections.abc import Callable, Sequence
from typing import Any, NoReturn
from urllib.parse import parse_qs, urlsplit

from ._command import ViaductError, checked, say
from ._sources import Source, find

_MOST = 1 << 16  # bytes of a request
# The page is one document: it loads nothing, talks to its server alone, and is in no frame.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class _Refused(Exception):
    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers who has the token."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: Server

    def version_string(self) -> str:
        """Nobody's business."""
        return "viaduct"

    def log_message(self, *_: Any) -> None:
        """Nothing: the terminal is the user's."""

    def do_GET(self) -> None:
        """The page, and what it shows."""
        self._answer(self._get)

    def do_POST(self) -> None:
        """A change."""
        self._answer(self._post)

    def _answer(self, answer: Callable[[str, dict[str, str]], tuple[str, bytes]]) -> None:
        try:
            kind, body = answer(*self._admitted())
            status = 200
        except _Refused as refused:
            status, kind, body = refused.status, "text/plain", f"{refused}\n".encode()
        except ViaductError as error:
            status, kind = 422, "application/json"
            body = json.dumps({"error": str(error)}).encode()
        except Exception as error:
            status, kind = 500, "application/json"
            body = json.dumps({"error": f"{type(error).__name__}: {error}"}).encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("Cross-Origin-Resource-Policy", "same-origin")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("X-Content-Type-Options", "nosniff")
        if status >= 400:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def _admitted(self) -> tuple[str, dict[str, str]]:
        """What is asked for, of who may ask: another site's page has neither host nor token."""
        port = self.server.server_address[1]
        hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        if self.headers.get("Host") not in hosts:
            raise _Refused(403, "this is no host of viaduct view")
        origin = self.headers.get("Origin")
        if origin is not None and origin not in {f"http://{host}" for host in hosts}:
            raise _Refused(403, "another origin")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise _Refused(403, "another site")
        try:
            parts = urlsplit(self.path)
            words = {key: values[0] for key, values in parse_qs(parts.query).items()}
        except ValueError as error:
            raise _Refused(400, f"no address: {error}") from error
        token, *rest = parts.path.removeprefix("/").split("/")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise _Refused(403, "no token, or a wrong one; viaduct view prints the address")
        if not rest:
            raise _Refused(404, "there is no such page")
        return "/".join(rest), words

    def _get(self, what: str, words: dict[str, str]) -> tuple[str, bytes]:
        if what == "":
            return "text/html", self.server.page
        source = self.server.source
        answers: dict[str, Callable[[], Any]] = {
            "topology": source.topology,
            "state": source.state,
            "node": lambda: source.node(words["name"]),
            "path": lambda: source.path(words["from"], words["to"]),
            "packets": lambda: source.packets(words["link"]),
        }
        if what not in answers:
            raise _Refused(404, "there is no such page")
        try:
            return "application/json", json.dumps(answers[what]()).encode()
        except KeyError as error:
            raise _Refused(400, f"no {error}") from error

    def _post(self, what: str, _: dict[str, str]) -> tuple[str, bytes]:
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"[0-9]{1,6}", length) or int(length) > _MOST:
            raise _Refused(413, f"more than {_MOST} bytes, or no length")
        if self.headers.get_content_type() != "application/json":
            raise _Refused(415, "not application/json")
        try:
            body = json.loads(self.rfile.read(int(length)))
            link = str(body["link"]) if what != "resume" else ""
            if what == "resume":
                self.server.source.resume()
            elif what == "spec":
                self.server.source.set_spec(link, str(body["direction"]), str(body["spec"]))
            elif what == "link" and isinstance(body["up"], bool):
                self.server.source.set_link(link, body["up"])
            else:
                raise _Refused(404, "there is nothing of this kind to change")
        except (ValueError, KeyError, TypeError) as error:
            raise _Refused(400, f"not understood: {error}") from error
        return "application/json", b"{}"


class Server(http.server.ThreadingHTTPServer):
    """Serves loopback alone."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128  # strangers that connect are not to keep the user waiting

    def __init__(self, port: int, source: Source, page: bytes) -> None:
        self.source, self.page = source, page
        self.token = secrets.token_urlsafe(18)
        super().__init__(("127.0.0.1", port), Handler)

    def handle_error(self, *_: Any) -> None:
        """A browser that goes away is no error."""

    @property
    def address(self) -> str:
        """What to open."""
        return f"http://127.0.0.1:{self.server_address[1]}/{self.token}/"


def _at_signals(act: Callable[[int], object]) -> None:
    """Has those that end a program do this instead."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: act(received))


def _note_signals() -> int:
    """Has those that end a program write a byte to a pipe; returns its other end.

    The kernel may give a signal to any thread, which does not wake a main thread that waits for a
    lock, as in `Event.wait`; a byte does.
    """
    read, write = os.pipe()
    os.set_blocking(write, False)
    signal.set_wakeup_fd(write)
    _at_signals(lambda _: None)
    return read


def _leave(number: int) -> NoReturn:
    raise SystemExit(128 + number)


def main(words: Sequence[str]) -> int:
    """The subcommand; returns the exit status."""
    parser = argparse.ArgumentParser("viaduct view")
    parser.add_argument("what", nargs="?")
    parser.add_argument("--port", default="0")
    parser.add_argument("--interval", default="0.5s")
    options = parser.parse_args(words)
    if not re.fullmatch(r"[0-9]{1,5}", options.port) or int(options.port) > 65535:
        raise ViaductError(f"--port {options.port}: not a TCP port", 2)
    page = checked(["docs", "view"]).encode()
    _at_signals(_leave)  # what is to be shown may be a pipe that nobody writes to
    source = find(options.what, options.interval)
    try:
        try:
            server = Server(int(options.port), source, page)
        except OSError as error:
            raise ViaductError(f"--port {options.port}: {error.strerror}", 3) from error
        with server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            signalled = _note_signals()
            say(server.address)
            said = "Ctrl-C ends it; whoever has this address may change what it shows."
            say(said, to_errors=True)
            os.read(signalled, 1)
            server.shutdown()
    finally:
        source.close()
    return 0
