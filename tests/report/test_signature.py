"""Manifests and signatures: what is changed is seen, what is signed says by whom, and no more."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError, MissingDependency, RunError
from askew.manifest import MANIFEST, SIGNATURE, FaultKind, check_manifest
from askew.report.folders.signature import (
    SignatureState,
    check_signature,
    fingerprint,
    message,
    openssh,
    public_key_of,
    sign_run,
)
from askew.report.folders.signing_keys import read_private_key, read_public_key, write_key_pair
from askew.report.folders.verifying import VerifyState, verified_record, verify_run
from askew.runfolder import RunFolder


def nobody() -> bytes:
    raise AssertionError("no passphrase is needed")


@pytest.fixture
def run(tmp_path) -> Path:
    folder = RunFolder.create(tmp_path / "run")
    folder.write_estimates({"model": "toy/one", "flex": {}})
    folder.report.write_text("page", encoding="utf-8")
    folder.settings.write_text("seed = 1\n", encoding="utf-8")
    (folder.path / "graph").mkdir()
    (folder.path / "graph" / "meta.json").write_text("{}", encoding="utf-8")
    folder.write_manifest()
    return folder.path


@pytest.fixture
def key(tmp_path) -> Path:
    write_key_pair(tmp_path / "key", b"")
    return tmp_path / "key"


def public(key: Path) -> bytes:
    return read_public_key(key.with_name(f"{key.name}.pub"))


def signed(run: Path, key: Path) -> None:
    sign_run(run, read_private_key(key, nobody))


def change_signature(run: Path, **fields: object) -> None:
    record = json.loads((run / SIGNATURE).read_text(encoding="utf-8"))
    (run / SIGNATURE).write_text(json.dumps(record | fields), encoding="utf-8")


# The manifest


def kinds(run: Path) -> dict[str, FaultKind]:
    return {fault.name: fault.kind for fault in check_manifest(run)}


def test_each_kind_of_change_is_seen(run):
    assert check_manifest(run) == []
    (run / "estimates.json").write_text("{}", encoding="utf-8")
    (run / "report.html").unlink()
    (run / "graph" / "more.json").write_text("{}", encoding="utf-8")
    (run / "notes.txt").write_text("mine", encoding="utf-8")
    assert kinds(run) == {
        "estimates.json": FaultKind.CHANGED,
        "report.html": FaultKind.MISSING,
        "graph/more.json": FaultKind.EXTRA,
        "notes.txt": FaultKind.EXTRA,
    }


def test_what_sqlite_leaves_beside_an_open_database_is_no_extra_file(run):
    (run / "run.sqlite-shm").write_bytes(b"\0" * 32)
    (run / "run.sqlite-wal").touch()
    (run / "run.sqlite.lock").write_bytes(b"1")
    assert check_manifest(run) == []


def test_a_log_with_changes_of_the_database_is_seen(run):
    (run / "run.sqlite-wal").write_bytes(b"rows that a reader would see")
    assert kinds(run) == {"run.sqlite-wal": FaultKind.EXTRA}
    assert verify_run(run, allow_extra=True).state is VerifyState.CHANGED


@pytest.mark.parametrize(
    "name",
    [
        "../secret",
        "graph/../../secret",
        "/etc/passwd",
        "./run.toml",
        "graph//meta.json",
        "..\\secret",
        "C:secret",
        "run.toml\u2028x",
        "a\0b",
        "MANIFEST",
        "MANIFEST.sig",
        "\u202egpj",
        ".",
        "..",
    ],
)
def test_a_manifest_cannot_name_what_is_not_a_file_of_the_run(run, name):
    (run.parent / "secret").write_text("s", encoding="utf-8")
    with (run / MANIFEST).open("a", encoding="utf-8") as file:
        file.write(f"{'0' * 64}  {name}\n")
    assert kinds(run) == {"MANIFEST:6": FaultKind.MALFORMED}


@pytest.mark.parametrize(
    "line",
    [
        "",
        "hello",
        f"{'0' * 64} run.toml",
        f"{'0' * 63}  run.toml",
        f"{'A' * 64}  run.toml",
        "0" * 66,
    ],
)
def test_a_malformed_line_is_named_by_its_number(run, line):
    text = (run / MANIFEST).read_text(encoding="utf-8")
    (run / MANIFEST).write_text(f"{line}\n{text}", encoding="utf-8")
    assert kinds(run) == {"MANIFEST:1": FaultKind.MALFORMED}


def test_a_file_that_is_named_twice_is_a_fault(run):
    text = (run / MANIFEST).read_text(encoding="utf-8")
    (run / MANIFEST).write_text(text + text.splitlines()[0] + "\n", encoding="utf-8")
    assert list(kinds(run).values()) == [FaultKind.MALFORMED]


def test_bytes_that_are_no_text_are_malformed_and_no_traceback(run):
    (run / MANIFEST).write_bytes(b"\xff\xfe\n" + (run / MANIFEST).read_bytes())
    assert kinds(run) == {"MANIFEST:1": FaultKind.MALFORMED}


def test_a_link_in_the_place_of_a_file_is_a_change_even_to_the_same_bytes(run):
    shutil.copy(run / "run.toml", run.parent / "elsewhere.toml")
    (run / "run.toml").unlink()
    (run / "run.toml").symlink_to(run.parent / "elsewhere.toml")
    (run.parent / "graph").mkdir()
    shutil.copy(run / "graph" / "meta.json", run.parent / "graph")
    shutil.rmtree(run / "graph")
    (run / "graph").symlink_to(run.parent / "graph")
    found = kinds(run)
    assert found["run.toml"] is FaultKind.CHANGED
    assert found["graph/meta.json"] is FaultKind.CHANGED
    assert found["graph"] is FaultKind.EXTRA


def test_an_empty_manifest_vouches_for_nothing(run):
    (run / MANIFEST).write_text("", encoding="utf-8")
    assert kinds(run)["run.sqlite"] is FaultKind.EXTRA


@given(st.binary(max_size=400))
def test_no_manifest_makes_the_check_fall_over(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("run")
    (folder / MANIFEST).write_bytes(text)
    assert check_manifest(folder) != []


# Keys


def test_a_new_key_is_for_its_owner_alone_and_overwrites_nothing(tmp_path):
    said = write_key_pair(tmp_path / "key", b"")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    assert said == fingerprint(public(tmp_path / "key"))
    before = (tmp_path / "key").read_bytes()
    with pytest.raises(ConfigError, match="is there already"):
        write_key_pair(tmp_path / "key", b"")
    (tmp_path / "other.pub").write_text("mine", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"other\.pub is there already"):
        write_key_pair(tmp_path / "other", b"")
    assert (tmp_path / "key").read_bytes() == before
    assert not (tmp_path / "other").exists()


def test_a_passphrase_opens_its_own_key_alone(tmp_path, run):
    write_key_pair(tmp_path / "key", b"right")
    assert b"ENCRYPTED" in (tmp_path / "key").read_bytes()
    sign_run(run, read_private_key(tmp_path / "key", lambda: b"right"))
    with pytest.raises(ConfigError, match="the passphrase is not its own"):
        read_private_key(tmp_path / "key", lambda: b"wrong")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_a_key_of_openssh_signs_and_its_fingerprint_is_the_one_that_openssh_prints(tmp_path, run):
    made = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", made], check=True)
    printed = subprocess.run(
        ["ssh-keygen", "-l", "-f", f"{made}.pub"], check=True, capture_output=True, text=True
    ).stdout
    signed(run, made)
    found = check_signature(run, public(made))
    assert found is not None
    assert (found.state, found.vouched) == (SignatureState.GOOD, True)
    assert found.fingerprint in printed


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_an_encrypted_key_of_openssh_opens_or_says_what_it_lacks(tmp_path, run):
    made = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "right", "-f", made], check=True)
    try:
        import bcrypt  # noqa: F401
    except ImportError:
        with pytest.raises(MissingDependency, match="bcrypt"):
            read_private_key(made, lambda: b"right")
    else:
        sign_run(run, read_private_key(made, lambda: b"right"))
        with pytest.raises(ConfigError, match="the passphrase is not its own"):
            read_private_key(made, lambda: b"wrong")


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="OpenSSH is not installed")
def test_a_key_of_another_kind_is_refused(tmp_path):
    made = tmp_path / "id"
    subprocess.run(["ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", made], check=True)
    with pytest.raises(ConfigError, match="is not an Ed25519 key"):
        read_private_key(made, nobody)
    with pytest.raises(ConfigError, match="is not one Ed25519 public key"):
        read_public_key(Path(f"{made}.pub"))


def test_a_private_key_is_never_taken_for_a_public_one_nor_the_other_way(key):
    with pytest.raises(ConfigError, match="stays with the signer"):
        read_public_key(key)
    with pytest.raises(ConfigError, match="is no private key"):
        read_private_key(key.with_name("key.pub"), nobody)
    with pytest.raises(ConfigError, match="No such file"):
        read_private_key(key.with_name("none"), nobody)


@pytest.mark.parametrize("text", [b"", b"\xff" * 40, b"ssh-ed25519", b"ssh-ed25519 AAAA x"])
def test_what_is_no_public_key_is_said_to_be_none(tmp_path, text):
    (tmp_path / "key.pub").write_bytes(text)
    with pytest.raises(ConfigError, match="is not one Ed25519 public key"):
        read_public_key(tmp_path / "key.pub")


def test_a_damaged_private_key_is_no_traceback(tmp_path, key):
    for kind in ("", "OPENSSH "):
        text = f"-----BEGIN {kind}PRIVATE KEY-----\nAAAA\n-----END {kind}PRIVATE KEY-----\n"
        (tmp_path / "bad").write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match="cannot be opened"):
            read_private_key(tmp_path / "bad", nobody)


@given(st.binary(min_size=32, max_size=32))
def test_a_public_key_is_read_back_as_it_was_written(raw):
    assert public_key_of(openssh(raw)) == public_key_of(f"{openssh(raw)} a comment") == raw


@given(st.text(max_size=80))
def test_a_message_has_no_two_readings(text):
    """Each of its lines has a form without a line's end: four lines, whatever the key."""
    assert message(text.encode()[:32].ljust(32), "2026-11-30T00:00:00Z", "0" * 64).count(b"\n") == 4


# Signatures


def test_a_signed_run_is_fine_and_says_by_which_key(run, key):
    assert check_signature(run) is None
    signed(run, key)
    assert check_manifest(run) == []
    found = check_signature(run)
    assert found is not None
    assert found.state is SignatureState.GOOD
    assert not found.vouched
    assert "nobody vouches for that key" in found.what
    assert found.fingerprint == fingerprint(public(key))
    asked = check_signature(run, public(key))
    assert asked is not None
    assert asked.vouched


def test_a_run_that_was_changed_is_not_signed(run, key):
    (run / "estimates.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RunError, match=r"not as it was left, so it is not signed"):
        signed(run, key)
    assert not (run / SIGNATURE).exists()


def test_scoring_again_makes_the_signature_stale_until_it_is_signed_again(run, key):
    signed(run, key)
    folder = RunFolder(run)
    folder.write_estimates({"model": "toy/one", "flex": {"other": 1}})
    folder.write_manifest()
    found = verify_run(run, public(key))
    assert found.faults == ()
    assert found.signature is not None
    assert (found.state, found.signature.state) == (VerifyState.CHANGED, SignatureState.STALE)
    signed(run, key)
    assert verify_run(run, public(key)).state is VerifyState.FINE


def test_another_key_is_told_from_the_one_that_was_asked_for(run, key, tmp_path):
    signed(run, key)
    write_key_pair(tmp_path / "other", b"")
    found = verify_run(run, public(tmp_path / "other"))
    assert found.signature is not None
    assert (found.state, found.signature.state) == (VerifyState.CHANGED, SignatureState.WRONG_KEY)
    assert not found.signature.vouched


def test_a_signature_that_was_asked_for_must_be_there(run, key):
    found = verify_run(run, public(key))
    assert found.signature is not None
    assert (found.state, found.signature.state) == (VerifyState.CHANGED, SignatureState.ABSENT)
    assert verify_run(run).state is VerifyState.FINE


def test_no_field_of_a_signature_can_be_changed_unseen(run, key, tmp_path):
    signed(run, key)
    before = json.loads((run / SIGNATURE).read_text(encoding="utf-8"))
    write_key_pair(tmp_path / "other", b"")
    changes = {
        "signed_at": "2020-01-01T00:00:00Z",
        "public_key": openssh(public(tmp_path / "other")),
        "manifest_sha256": "0" * 64,
        "signature": ("B" if before["signature"][0] == "A" else "A") + before["signature"][1:],
    }
    for name, value in changes.items():
        change_signature(run, **before | {name: value})
        found = check_signature(run, public(key))
        assert found is not None
        assert found.state is SignatureState.FORGED, name


def test_a_manifest_that_was_changed_cannot_be_covered_by_changing_the_hash(run, key):
    signed(run, key)
    folder = RunFolder(run)
    folder.write_estimates({"model": "toy/kinder"})
    folder.write_manifest()
    from askew.manifest import sha256_of

    change_signature(run, manifest_sha256=sha256_of(run / MANIFEST))
    found = check_signature(run)
    assert found is not None
    assert found.state is SignatureState.FORGED


@pytest.mark.parametrize(
    "fields",
    [
        {"askew_signature": 2},
        {"askew_signature": True},
        {"algorithm": "rsa"},
        {"signed_at": "yesterday"},
        {"signed_at": "2026-11-30T00:00:00Z\n"},
        {"signed_at": 5},
        {"public_key": "ssh-rsa AAAA"},
        {"public_key": None},
        {"manifest_sha256": "xyz"},
        {"signature": "not base64!"},
        {"signature": "AAAA"},
        {"signature": []},
        {"more": 1},
    ],
)
def test_a_field_of_another_form_makes_the_signature_malformed(run, key, fields):
    signed(run, key)
    change_signature(run, **fields)
    found = verify_run(run)
    assert found.signature is not None
    assert (found.state, found.signature.state) == (VerifyState.CHANGED, SignatureState.MALFORMED)


@given(
    st.binary(max_size=300) | st.sampled_from([b"[" * 9000, b"[]", b"null", b"{" + b" " * 20_000])
)
def test_whatever_lies_in_the_place_of_a_signature_is_malformed(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("run")
    (folder / MANIFEST).touch()
    (folder / SIGNATURE).write_bytes(text)
    found = check_signature(folder)
    assert found is not None
    assert found.state is SignatureState.MALFORMED


def test_without_cryptography_a_signature_cannot_be_checked_and_a_plain_run_can(run, key):
    signed(run, key)
    code = (
        "import sys; sys.modules['cryptography'] = None\n"
        "from pathlib import Path\n"
        "from askew.report.folders.verifying import verify_run\n"
        f"found = verify_run(Path({str(run)!r})); print(found.state.value, '|', found.why)\n"
        f"Path({str(run / SIGNATURE)!r}).unlink()\n"
        f"print(verify_run(Path({str(run)!r})).state.value)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    ).stdout.splitlines()
    assert said[0].startswith("cannot be checked | cryptography is not installed")
    assert "askew[sign]" in said[0]
    assert said[1] == "fine"


def test_a_folder_without_a_manifest_cannot_be_checked(tmp_path):
    for path in (tmp_path, tmp_path / "none"):
        assert verify_run(path).state is VerifyState.CANNOT_BE_CHECKED


def test_json_names_every_kind_of_fault(run):
    (run / "notes.txt").touch()
    record = verified_record(verify_run(run))
    assert record["extra"] == ["notes.txt"]
    assert record["changed"] == record["missing"] == record["malformed"] == []
    assert verified_record(verify_run(run, allow_extra=True))["state"] == "fine"
