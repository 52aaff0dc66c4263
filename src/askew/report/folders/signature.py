"""`MANIFEST.sig`: who signed a run's manifest, when by their own word, and whether it still fits.

Ed25519 (RFC 8032) over a text of its own kind, so that no signature made for another purpose can be
passed off as one. The manifest holds the hash of every file, so that the signature covers the run.
Whether a key belongs to anybody is not for this file to say: the reader has to know the key.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from askew.errors import RunError, missing_extra
from askew.manifest import MANIFEST, SIGNATURE, check_manifest, sha256_of
from askew.runfolder import write_whole

VERSION = 1
_MOST_BYTES = 16_384  # of MANIFEST.sig
_FIELDS = {
    "askew_signature",
    "algorithm",
    "signed_at",
    "public_key",
    "manifest_sha256",
    "signature",
}
_TIME = re.compile(r"[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z")
_HASH = re.compile(r"[0-9a-f]{64}")
_KIND = b"ssh-ed25519"


class SignatureState(StrEnum):
    """What can be said of a signature."""

    GOOD = "good"
    STALE = "stale"  # another manifest was signed
    WRONG_KEY = "wrong key"  # good, and not by the key that was asked for
    FORGED = "does not fit"  # its own key does not verify it
    MALFORMED = "malformed"
    ABSENT = "absent"  # and one was asked for


@dataclass(frozen=True, slots=True)
class Signature:
    """What `MANIFEST.sig` says, and what came of checking it.

    Attributes:
        state: what can be said.
        what: the same in words, with the mend.
        fingerprint: of the key that it names, as `ssh-keygen -l` prints it; "" where it has none.
        signed_at: when, by the signer's own word.
        vouched: whether the key is the one that the reader named.
    """

    state: SignatureState
    what: str
    fingerprint: str = ""
    signed_at: str = ""
    vouched: bool = False


def sign_run(folder: Path, key: Any) -> Signature:
    """Sign the manifest of a run that is as it was left.

    Args:
        folder: the run folder; a signature that is there is replaced.
        key: an Ed25519 private key of `cryptography`; see `askew.report.folders.signing_keys`.

    Raises:
        RunError: the run is not as its manifest says, or has none: nothing is signed.
    """
    if faults := check_manifest(folder):
        listed = "\n  ".join(map(str, faults))
        raise RunError(
            f"{folder} is not as it was left, so it is not signed:\n  {listed}\nTake the files "
            "from a copy of the run, or write its figures and manifest anew with "
            f"`askew score {folder}`."
        )
    public = key.public_key().public_bytes_raw()
    signed_at = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    digest = sha256_of(folder / MANIFEST)
    record = {
        "askew_signature": VERSION,
        "algorithm": "ed25519",
        "signed_at": signed_at,
        "public_key": openssh(public),
        "manifest_sha256": digest,
        "signature": base64.b64encode(key.sign(message(public, signed_at, digest))).decode(),
    }
    write_whole(folder / SIGNATURE, json.dumps(record, indent=2) + "\n")
    return Signature(SignatureState.GOOD, "", fingerprint(public), signed_at)


def message(public: bytes, signed_at: str, digest: str) -> bytes:
    """What is signed: one line each, none of which can hold a line's end.

    Args:
        public: 32 bytes, the signer's public key.
        signed_at: "2026-11-30T22:00:00Z".
        digest: the manifest's SHA-256 in hex.
    """
    lines = ("askew run manifest, signature 1", signed_at, openssh(public), digest)
    return "".join(f"{line}\n" for line in lines).encode()


def check_signature(folder: Path, signer: bytes | None = None) -> Signature | None:
    """What can be said of the signature of a run; None where it has none and none was asked for.

    Args:
        folder: the run folder. Whether its files are as the manifest says is another check.
        signer: 32 bytes, the public key that must have signed; None: any.

    Raises:
        MissingDependency: there is a signature, and no `cryptography` to check it with.
    """
    file = folder / SIGNATURE
    if not os.path.lexists(file):
        if signer is None:
            return None
        what = f"there is no {SIGNATURE}, so nobody has signed it. Ask for a signed copy."
        return Signature(SignatureState.ABSENT, what)
    record = _record(file)
    if isinstance(record, str):
        return Signature(SignatureState.MALFORMED, f"{SIGNATURE} is malformed: {record}.")
    public, signature = record["public_key"], record["signature"]
    signed_at, digest = record["signed_at"], record["manifest_sha256"]
    said = fingerprint(public), signed_at
    if not _fits(public, signature, message(public, signed_at, digest)):
        what = "the signature does not fit: it, its time, its key or the hash was changed."
        return Signature(SignatureState.FORGED, what, *said)
    if signer is not None and public != signer:
        what = f"signed by another key than {fingerprint(signer)}: by {fingerprint(public)}."
        return Signature(SignatureState.WRONG_KEY, what, *said)
    if sha256_of(folder / MANIFEST) != digest:
        what = (
            f"{MANIFEST} is not the one that was signed. Scoring a run again writes it anew: have "
            "it signed again."
        )
        return Signature(SignatureState.STALE, what, *said)
    by = f"signed by {fingerprint(public)} at {signed_at} by the signer's clock"
    if signer is None:
        return Signature(
            SignatureState.GOOD,
            f"{by}; nobody vouches for that key. If you know whose it is, name it with --signer",
            *said,
        )
    return Signature(SignatureState.GOOD, f"{by}, the key that was asked for", *said, vouched=True)


def _record(file: Path) -> dict[str, Any] | str:
    """The fields, the key and the signature as bytes; or what is wrong with the file."""
    try:
        if file.is_symlink() or not file.is_file():
            return "it is not a plain file"
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            return f"it is longer than {_MOST_BYTES:,} bytes"
        record = json.loads(text.decode("utf-8"))
    except OSError as trouble:
        return f"it cannot be read ({trouble.strerror or trouble})"
    except (ValueError, RecursionError):
        return "it is not JSON"
    if not isinstance(record, dict) or set(record) != _FIELDS:
        return f"it is not an object of {', '.join(sorted(_FIELDS))}"
    if type(record["askew_signature"]) is not int or record["askew_signature"] != VERSION:
        return f"this askew reads signatures of version {VERSION}"
    if record["algorithm"] != "ed25519":
        return "its algorithm is not ed25519"
    for name, form in (("signed_at", _TIME), ("manifest_sha256", _HASH)):
        if not isinstance(record[name], str) or not form.fullmatch(record[name]):
            return f"its {name} has not the right form"
    public = public_key_of(record["public_key"])
    if public is None or record["public_key"] != openssh(public):
        return "its public_key is not one of ssh-ed25519"
    signature = _decoded(record["signature"])
    if signature is None or len(signature) != 64:
        return "its signature is not 64 bytes in base64"
    return record | {"public_key": public, "signature": signature}


def _fits(public: bytes, signature: bytes, signed: bytes) -> bool:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        raise missing_extra("cryptography", "sign") from None
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, signed)
    except (InvalidSignature, ValueError):
        return False
    return True


def openssh(public: bytes) -> str:
    """A public key of 32 bytes as OpenSSH writes it (RFC 8709), without a comment."""
    return f"ssh-ed25519 {base64.b64encode(_wire(public)).decode()}"


def public_key_of(text: object) -> bytes | None:
    """The 32 bytes in "ssh-ed25519 AAAA…", whatever comes behind; None where it is no such key."""
    parts = text.split(maxsplit=2) if isinstance(text, str) else []
    if len(parts) < 2 or parts[0] != _KIND.decode():
        return None
    wire = _decoded(parts[1])
    public = b"" if wire is None else wire[-32:]
    return public if wire == _wire(public) and len(public) == 32 else None


def fingerprint(public: bytes) -> str:
    """What people compare: "SHA256:…", as `ssh-keygen -l` prints it."""
    digest = hashlib.sha256(_wire(public)).digest()
    return f"SHA256:{base64.b64encode(digest).decode().rstrip('=')}"


def _wire(public: bytes) -> bytes:
    return b"".join(len(part).to_bytes(4, "big") + part for part in (_KIND, public))


def _decoded(text: object) -> bytes | None:
    """The bytes of base64; None of what is none, or says in another way what has one way alone."""
    try:
        found = base64.b64decode(text, validate=True) if isinstance(text, str) else b""
    except ValueError:
        return None
    return found if base64.b64encode(found).decode() == text else None
