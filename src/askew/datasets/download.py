"""Fetch published data sets into the cache, from upstream, a mirror or a folder, and check them.

A file is kept only when its length and sha256 are the pinned ones; it is written beside its place
and renamed into it, so that the cache never holds half a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, BinaryIO

from askew.cache import cache_folder
from askew.datasets.files import read_file
from askew.datasets.pins import PUBLISHED, Pin, Published
from askew.errors import ConfigError, DataError, unknown_name
from askew.privacy.locality import NotLocal, is_loopback, refuse, wanted_by_environment

UPSTREAM = "https://raw.githubusercontent.com"
_TIMEOUT_SECONDS = 30.0  # without a byte; a slow download may take as long as it needs
_CHUNK = 1 << 16
_MAX_REDIRECTS = 5

Progress = Callable[[str, int, int], None]  # file, bytes so far, bytes in all


@dataclass(frozen=True, slots=True)
class Fetched:
    """What `get` did, file by file."""

    new: tuple[str, ...]  # fetched now
    kept: tuple[str, ...]  # were in the cache already
    missing: tuple[str, ...]  # not to be had where it was looked


def get(
    name: str,
    *,
    from_folder: str | Path | None = None,
    mirror: str | None = None,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Fetched:
    """Put a published data set into the cache.

    Args:
        name: a key of `pins.PUBLISHED`.
        from_folder: copy from this folder (the set's own, one with several sets, or a clone;
            files packed or not) instead of asking the network.
        mirror: a base address to use instead of upstream, e.g. a proxy that serves the same
            paths; default: `$ASKEW_MIRROR`, else upstream itself.
        cache: default: `cache_folder()`.
        progress: told after each piece of a download.

    Raises:
        ConfigError: the set is not one that can be fetched; the mirror is no http address.
        DataError: a file could not be fetched, or is not what the pin says. Files that were
            fetched before it stay in the cache.
    """
    published = PUBLISHED.get(name)
    if published is None:
        raise unknown_name("published data set", name, list(PUBLISHED))
    cache = cache_folder() if cache is None else cache
    base = _base(mirror)
    new, kept, missing = [], [], []
    for pin in published.pins:
        target = cache / pin.file
        if _is_pinned(target, pin):
            kept.append(pin.file)
        elif from_folder is not None:
            source = _find(Path(from_folder), pin)
            if source is None:
                missing.append(pin.file)
                continue
            _copy(source, pin, target)
            new.append(pin.file)
        elif pin.commit is None:
            missing.append(pin.file)
        else:
            url = f"{base}/{pin.commit}/{urllib.parse.quote(pin.upstream)}"
            _download(url, pin, target, progress)
            new.append(pin.file)
    if from_folder is not None and not new and not kept:
        raise DataError(
            f"{from_folder}: holds no file of data set {name!r} (looked for {missing[0]} and so "
            "on). Name the set's own folder, a folder of sets, or a clone of "
            f"{published.repository}."
        )
    return Fetched(tuple(new), tuple(kept), tuple(missing))


def is_complete(published: Published, cache: Path | None = None) -> bool:
    """Whether every file of a set that upstream serves is in the cache, by length alone."""
    cache = cache_folder() if cache is None else cache
    return all(
        _has_length(cache / pin.file, pin) for pin in published.pins if pin.commit is not None
    )


def _base(mirror: str | None) -> str:
    base = (mirror or os.environ.get("ASKEW_MIRROR") or UPSTREAM).rstrip("/")
    parts = urllib.parse.urlsplit(base)
    if parts.scheme not in ("http", "https"):
        raise ConfigError(f"mirror {_shown(base)!r} is no http or https address.")
    if not is_loopback(parts.hostname):
        refuse(
            f"data would be fetched from {parts.hostname}",
            "Name a folder that holds the files, with --from FOLDER.",
        )
    return base


def _shown(url: str) -> str:
    """A URL for a message: without what may be a user, a password or a key."""
    return re.sub(r"//[^/@]*@", "//…@", url.partition("?")[0])


def _has_length(path: Path, pin: Pin) -> bool:
    return path.is_file() and path.stat().st_size == pin.length


def _is_pinned(path: Path, pin: Pin) -> bool:
    return _has_length(path, pin) and read_file(path).sha256 == pin.sha256


def _find(folder: Path, pin: Pin) -> Path | None:
    """The pinned file in a folder of sets, the set's own folder, or a clone."""
    own = pin.file.partition("/")[2]
    for place in (pin.file, own, pin.upstream):
        for candidate in (folder / place, folder / f"{place}.gz"):
            if candidate.is_file():
                return candidate
    return None


def _copy(source: Path, pin: Pin, target: Path) -> None:
    data = read_file(source).data
    found = hashlib.sha256(data).hexdigest()
    if found != pin.sha256:
        raise DataError(
            f"{source}: sha256 of the text is {found}, expected {pin.sha256}. It is another "
            "version, or its line ends were changed (a clone on Windows: git config "
            "core.autocrlf false). Fetch the pinned version again."
        )
    with _replacing(target) as out:
        out.write(data)


def _download(url: str, pin: Pin, target: Path, progress: Progress | None) -> None:
    digest = hashlib.sha256()
    received, shown = 0, _shown(url)
    try:
        with (
            _opener(url).open(url, timeout=_TIMEOUT_SECONDS) as response,
            _replacing(target) as out,
        ):
            while chunk := response.read(_CHUNK):
                received += len(chunk)
                if received > pin.length:
                    raise DataError(
                        f"{shown}: sends more than the {pin.length} bytes expected. {_MEND}"
                    )
                digest.update(chunk)
                out.write(chunk)
                if progress is not None:
                    progress(pin.file, received, pin.length)
            if received < pin.length:
                raise DataError(
                    f"{shown}: ended after {received} of {pin.length} bytes. Try again; files that "
                    "are complete are kept."
                )
            if digest.hexdigest() != pin.sha256:
                raise DataError(
                    f"{shown}: sha256 is {digest.hexdigest()}, expected {pin.sha256}. {_MEND}"
                )
    except NotLocal:
        raise
    except urllib.error.HTTPError as error:
        with error:
            raise DataError(f"{shown}: HTTP {error.code} {error.reason}. {_MEND}") from error
    except urllib.error.URLError as error:
        raise DataError(f"{shown}: no answer: {error.reason}. {_MEND_NETWORK}") from error
    except (OSError, HTTPException) as error:
        raise DataError(f"{shown}: broke off: {error!r}. {_MEND_NETWORK}") from error


_MEND = (
    "Check the mirror if one is set, or get the files another way and name their folder with "
    "--from FOLDER."
)
_MEND_NETWORK = (
    "Check the network, set a mirror with --mirror or $ASKEW_MIRROR, or name a folder that holds "
    "the files with --from FOLDER."
)


@contextlib.contextmanager
def _replacing(target: Path) -> Iterator[BinaryIO]:
    """A new file that takes the place of `target` when all went well, and is gone otherwise."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        raise DataError(
            f"{target.parent}: cannot be written: {error.strerror}. Set ASKEW_CACHE to a folder "
            "that can."
        ) from error
    try:
        with os.fdopen(descriptor, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(name, target)
    except BaseException:  # an interrupt too must leave nothing behind
        Path(name).unlink(missing_ok=True)
        raise


class _LimitedRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirects, to http and https alone."""

    max_redirections = _MAX_REDIRECTS
    max_repeats = 2

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> urllib.request.Request | None:
        parts = urllib.parse.urlsplit(newurl)
        if wanted_by_environment() and not is_loopback(parts.hostname):
            refuse(f"data would be fetched from {parts.hostname}", "Name a folder with --from.")
        if parts.scheme not in ("http", "https"):
            raise urllib.error.HTTPError(
                req.full_url,
                code,
                f"redirects to {_shown(newurl)!r}, which is no http address",
                headers,
                fp,
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _opener(url: str) -> urllib.request.OpenerDirector:
    """What fetches a URL; a server on this machine is asked without a proxy."""
    if is_loopback(urllib.parse.urlsplit(url).hostname):
        return urllib.request.build_opener(_LimitedRedirects(), urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(_LimitedRedirects())
