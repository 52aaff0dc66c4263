"""Ed25519 keys in files: OpenSSH's form or PEM, as people have them already."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from askew.errors import ConfigError, missing_extra
from askew.report.folders.signature import fingerprint, openssh, public_key_of

_OPENSSH = b"-----BEGIN OPENSSH PRIVATE KEY-----"
_MOST_BYTES = 65_536

Passphrase = Callable[[], bytes]


def read_private_key(path: Path, passphrase: Passphrase) -> Any:
    """An Ed25519 private key of `cryptography`.

    Args:
        path: a file in the form of OpenSSH or PEM (PKCS#8).
        passphrase: asked only where the file is encrypted.

    Raises:
        ConfigError: it cannot be read, is no private key, is of another kind, or the passphrase is
            not its own.
        MissingDependency: `cryptography` is not installed, or bcrypt, which OpenSSH's encryption
            needs.
    """
    text = _read(path)
    if b"PRIVATE KEY-----" not in text:
        raise ConfigError(
            f"{path} is no private key in the form of OpenSSH or PEM. Make one with "
            "`askew sign --make-key FILE`."
        )
    try:
        try:
            key = _load(text, None)
        except TypeError:  # it is encrypted
            key = _load(text, passphrase())
    except TypeError:
        raise ConfigError(f"{path} is encrypted, and no passphrase was given.") from None
    except ValueError as trouble:
        raise ConfigError(
            f"{path} cannot be opened: the passphrase is not its own, or the file is damaged "
            f"({trouble})."
        ) from trouble
    if not hasattr(key, "public_key") or not _is_ed25519(key):
        raise ConfigError(
            f"{path} is not an Ed25519 key ({type(key).__name__}). Make one with "
            "`askew sign --make-key FILE` or `ssh-keygen -t ed25519`."
        )
    return key


def is_shared(path: Path) -> bool:
    """Whether others than its owner may read the file; False where permissions do not tell."""
    return os.name == "posix" and path.is_file() and bool(path.stat().st_mode & 0o077)


def _load(text: bytes, passphrase: bytes | None) -> Any:
    """The key.

    Raises:
        TypeError: it is encrypted and no passphrase was given.
        ValueError: it cannot be read, or not with this passphrase.
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise missing_extra("cryptography", "sign") from None
    openssh_form = _OPENSSH in text
    if openssh_form and passphrase is None and _is_encrypted(text):
        raise TypeError
    try:
        if openssh_form:
            return serialization.load_ssh_private_key(text, passphrase)
        return serialization.load_pem_private_key(text, passphrase)
    except UnsupportedAlgorithm as trouble:
        if "bcrypt" in str(trouble):
            raise missing_extra("bcrypt, which encrypted OpenSSH keys need,", "sign") from None
        raise ValueError(str(trouble)) from trouble


def _is_encrypted(text: bytes) -> bool:
    """Whether a key in OpenSSH's form names a cipher, which stands behind its first 15 bytes."""
    body = text.partition(_OPENSSH)[2].partition(b"-----END")[0]
    try:
        key = base64.b64decode(body)
    except ValueError:
        return False
    return key.startswith(b"openssh-key-v1\0") and key[15:23] != b"\0\0\0\x04none"


def _is_ed25519(key: Any) -> bool:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return isinstance(key, Ed25519PrivateKey)


def read_public_key(path: Path) -> bytes:
    """32 bytes: the key in a file "ssh-ed25519 AAAA… comment", or in PEM.

    Raises:
        ConfigError: it cannot be read, or holds no one Ed25519 public key.
        MissingDependency: it is PEM, and `cryptography` is not installed.
    """
    text = _read(path)
    if b"PRIVATE KEY-----" in text:
        raise ConfigError(
            f"{path} is a private key: it stays with the signer. Name the public one, {path}.pub."
        )
    if b"-----BEGIN PUBLIC KEY-----" in text:
        return _pem_public(path, text)
    lines = [line for line in text.decode("utf-8", "replace").splitlines() if line.strip()]
    found = [public_key_of(line) for line in lines]
    if len(found) != 1 or found[0] is None:
        raise ConfigError(
            f'{path} is not one Ed25519 public key: expected one line "ssh-ed25519 AAAA…", or PEM.'
        )
    return found[0]


def _pem_public(path: Path, text: bytes) -> bytes:
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
        from cryptography.hazmat.primitives.serialization import load_pem_public_key
    except ImportError:
        raise missing_extra("cryptography", "sign") from None
    try:
        key = load_pem_public_key(text)
    except (UnsupportedAlgorithm, ValueError) as trouble:
        raise ConfigError(f"{path} is no public key that can be read: {trouble}.") from trouble
    if not isinstance(key, Ed25519PublicKey):
        raise ConfigError(f"{path} is not an Ed25519 key ({type(key).__name__}).")
    raw: bytes = key.public_bytes_raw()
    return raw


def write_key_pair(path: Path, passphrase: bytes) -> str:
    """Write a fresh private key (PEM, for its owner alone) and its public one beside it.

    Args:
        path: of the private key; the public one has `.pub` behind it.
        passphrase: that the private key is encrypted with; b"" for none.

    Returns:
        The fingerprint.

    Raises:
        ConfigError: one of the files is there already, or cannot be written.
        MissingDependency: `cryptography` is not installed.
    """
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    except ImportError:
        raise missing_extra("cryptography", "sign") from None
    key = Ed25519PrivateKey.generate()
    private: bytes = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(passphrase)
        if passphrase
        else serialization.NoEncryption(),
    )
    public: bytes = key.public_key().public_bytes_raw()
    shown = path.with_name(f"{path.name}.pub")
    for there in (path, shown):
        if os.path.lexists(there):
            raise ConfigError(f"{there} is there already. Name another file.")
    _write_new(path, private, 0o600)
    _write_new(shown, f"{openssh(public)} askew\n".encode(), 0o644)
    return fingerprint(public)


def _write_new(path: Path, text: bytes, mode: int) -> None:
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            file.write(text)
    except OSError as trouble:
        raise ConfigError(
            f"{path} cannot be written: {trouble.strerror}. Name another place."
        ) from trouble


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES + 1)
    except OSError as trouble:
        raise ConfigError(f"{path}: {trouble.strerror}. Name the file of a key.") from trouble
    if len(text) > _MOST_BYTES:
        raise ConfigError(f"{path} is too long for a key. Name the file of a key.")
    return text
