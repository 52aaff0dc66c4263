"""The body of an HTTP reply, decoded as it comes and never beyond a bound. Pure.

A few kilobytes of gzip can stand for gigabytes, and a body may have no end at all, so nothing is
decoded or kept that the bound has no room for. Brotli and zstd are not asked for and not read.
"""

from __future__ import annotations

import zlib
from typing import Any

from askew.privacy.known_secrets import mask

ACCEPTED = "gzip, deflate"

_GZIP_MARK = b"\x1f\x8b"


class BodyTrouble(ValueError):
    """A body that cannot be had whole: too long, cut, or in a coding that was not asked for."""


class Body:
    """What has come of one body.

    Args:
        coding: the reply's Content-Encoding, "" where it has none.
        most: how many bytes may come, and how many may be made of them.

    >>> body = Body("gzip", most=100)
    >>> body.add(zlib.compress(b"ten times " * 10, wbits=31))
    >>> body.end()
    >>> len(body.content)
    100
    """

    def __init__(self, coding: str, most: int) -> None:
        self.content = bytearray()
        self._said = coding.strip()
        self._coding = coding.strip().lower().removeprefix("x-")
        self._most = most
        self._taken = 0
        self._waiting = bytearray()  # the first two bytes tell what the coding is in truth
        self._inflater: Any = None

    def add(self, piece: bytes) -> None:
        """Take the next bytes from the wire.

        Raises:
            BodyTrouble: too long, or not in the coding that it is said to be in.
        """
        room = self._most - self._taken
        self._taken += len(piece)
        if len(piece) > room:
            if room > 0:
                self._take(piece[:room])
            raise self._too_long()
        self._take(piece)

    def _take(self, piece: bytes) -> None:
        if self._coding in ("", "identity"):
            self.content += piece
        elif self._coding not in ("gzip", "deflate"):
            raise BodyTrouble(
                f"its body is in the coding {mask(self._said)[:40]!r}, asked for was {ACCEPTED}"
            )
        elif self._inflater is not None:
            self._inflate(piece)
        else:
            self._waiting += piece
            if len(self._waiting) >= 2:
                self._begin(bytes(self._waiting))

    def end(self) -> None:
        """Say that nothing more will come.

        Raises:
            BodyTrouble: it ends in the middle.
        """
        if self._inflater is None:
            self.content += self._waiting  # less than two bytes
        elif not self._inflater.eof:
            raise BodyTrouble(f"its body ends in the middle of the {self._coding}")

    def _begin(self, start: bytes) -> None:
        self._waiting.clear()
        wbits = _window_bits(self._coding, start)
        if wbits is None:  # said to be coded, and is not: some proxies decode and keep the header
            self._coding = ""
            self.content += start
            return
        self._inflater = zlib.decompressobj(wbits)
        self._inflate(start)

    def _inflate(self, data: bytes) -> None:
        try:
            while data:
                self.content += self._inflater.decompress(data, self._most - len(self.content) + 1)
                if len(self.content) > self._most:
                    del self.content[self._most :]
                    raise self._too_long()
                if not self._inflater.eof:
                    data = self._inflater.unconsumed_tail
                    continue
                data = self._inflater.unused_data
                if not data.startswith(_GZIP_MARK):  # what follows the end is no part of it
                    return
                self._inflater = zlib.decompressobj(31)  # a gzip file may have several members
        except zlib.error as error:
            raise BodyTrouble(f"its body is no whole {self._coding} ({error})") from error

    def _too_long(self) -> BodyTrouble:
        return BodyTrouble(f"its body has more than {self._most:,} bytes and was not read on")


def _window_bits(coding: str, start: bytes) -> int | None:
    """What zlib is to be told, by the first two bytes; None where they are not coded at all."""
    if coding == "gzip":
        return 31 if start.startswith(_GZIP_MARK) else None
    if start[0] & 0x0F == 8 and (start[0] << 8 | start[1]) % 31 == 0:
        return 15  # "deflate" with the header that RFC 9110 wants
    return None if start.lstrip()[:1] in (b"{", b"[", b"<") else -15  # and without it, as many send
