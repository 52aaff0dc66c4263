r"""A server on loopback that speaks bytes, for what no HTTP library would let a server say.

In a test: ``with RawServer(play) as server: ChatApi(ModelSpec(..., base_url=server.url))``, where
``play(wire)`` is called once a request, in the connection's own thread, and writes what it likes::

    def play(wire: Wire) -> None:
        wire.send(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        wire.hang()
"""

from __future__ import annotations

import re
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

import orjson

from tests.models.servers import chat_body, prompt_of

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)\r\n", re.IGNORECASE)


class Gone(Exception):
    """The client has closed, or the test is over."""


@dataclass
class Wire:
    """One request, and the connection that it came on."""

    connection: socket.socket
    head: bytes  # request line and headers
    body: bytes
    number: int  # of the request over all connections, from 0
    stopped: threading.Event
    more: bool = True  # whether the connection takes a further request after this one

    @property
    def prompt(self) -> str:
        """What was asked."""
        return prompt_of(orjson.loads(self.body))

    def send(self, data: bytes) -> None:
        """Write `data`."""
        try:
            self.connection.sendall(data)
        except OSError as error:
            raise Gone from error

    def drip(self, data: bytes, seconds: float) -> None:
        """Write `data` byte by byte, `seconds` apart."""
        for place in range(len(data)):
            self.send(data[place : place + 1])
            self.wait(seconds)

    def forever(self, piece: bytes) -> None:
        """Write the same piece until the client has had enough."""
        while not self.stopped.is_set():
            self.send(piece)
        raise Gone

    def wait(self, seconds: float) -> None:
        """Do nothing for so long, or until the test is over."""
        if self.stopped.wait(seconds):
            raise Gone

    def hang(self) -> None:
        """Say nothing more and keep the connection open."""
        self.stopped.wait(60)
        raise Gone

    def close(self) -> None:
        """Close in an orderly way: all that was sent arrives."""
        self.more = False

    def reset(self) -> None:
        """Close with a reset, as a crashed server's machine does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise Gone


Play = Callable[[Wire], None]


def reply(
    body: bytes | object = None,
    status: str = "200 OK",
    *,
    length: int | None = None,
    version: str = "1.1",
    **headers: str,
) -> bytes:
    """A whole HTTP reply, by default a chat completion that says B.

    Args:
        body: bytes as they are, anything else as JSON.
        status: code and phrase.
        length: what Content-Length says, where that is not the truth.
        version: of HTTP.
        headers: further ones, underscores for dashes.
    """
    raw = body if isinstance(body, bytes) else orjson.dumps(chat_body() if body is None else body)
    named = {
        "Content-Type": "application/json",
        "Content-Length": str(len(raw) if length is None else length),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    return head(status, named, version) + raw


def head(status: str, headers: Mapping[str, str], version: str = "1.1") -> bytes:
    """Status line and headers, as bytes."""
    lines = [f"HTTP/{version} {status}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode("utf-8", "surrogateescape")


def chunked(*pieces: bytes, ended: bool = True) -> bytes:
    """A body in chunks, with the last, empty one unless it was not `ended`."""
    body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces)
    return body + (b"0\r\n\r\n" if ended else b"")


def answers(wire: Wire) -> None:
    """A play: a chat completion that says B."""
    wire.send(reply())


class RawServer:
    """The server, a thread a connection.

    Args:
        play: called for each request.
        tls: to speak TLS first.
        greeting: called for each new connection before anything is read from it.
        family: AF_INET6 to listen on ::1.
    """

    def __init__(
        self,
        play: Play = answers,
        *,
        tls: ssl.SSLContext | None = None,
        greeting: Callable[[socket.socket], None] | None = None,
        family: socket.AddressFamily = socket.AF_INET,
    ) -> None:
        self.requests: list[Wire] = []
        self.connections = 0
        self._play = play
        self._tls = tls
        self._greeting = greeting
        self._stopped = threading.Event()
        self._listener = socket.create_server(
            ("::1" if family is socket.AF_INET6 else "127.0.0.1", 0), family=family, backlog=64
        )
        self.port = int(self._listener.getsockname()[1])
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []

    @property
    def url(self) -> str:
        """The base URL of the API."""
        host = "[::1]" if self._listener.family is socket.AF_INET6 else "127.0.0.1"
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}/v1"

    @property
    def prompts(self) -> list[str]:
        """What was asked, in order."""
        return [wire.prompt for wire in self.requests]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopped.set()
        # Closing alone does not wake a thread that waits in accept().
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._greeting is not None:
                self._greeting(connection)
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            self._open.append(connection)
            for head_bytes, body in self._requests_on(connection):
                with self._lock:
                    wire = Wire(connection, head_bytes, body, len(self.requests), self._stopped)
                    self.requests.append(wire)
                self._play(wire)
                if not wire.more:
                    break
        except (Gone, OSError):
            pass
        finally:
            with suppress(OSError):
                connection.close()

    @staticmethod
    def _requests_on(connection: socket.socket) -> Iterator[tuple[bytes, bytes]]:
        buffer = b""
        while True:
            while b"\r\n\r\n" not in buffer:
                piece = connection.recv(65536)
                if not piece:
                    return
                buffer += piece
            head_bytes, _, buffer = buffer.partition(b"\r\n\r\n")
            found = _LENGTH.search(head_bytes + b"\r\n")
            length = int(found[1]) if found else 0
            while len(buffer) < length:
                piece = connection.recv(65536)
                if not piece:
                    return
                buffer += piece
            yield head_bytes, buffer[:length]
            buffer = buffer[length:]


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait for the server's threads to have come so far."""
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            raise TimeoutError("the server did not come so far")
        time.sleep(0.005)
