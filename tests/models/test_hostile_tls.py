"""TLS that cannot be trusted, or is none: told apart, with the mend, and asked once."""

from __future__ import annotations

import datetime as dt
import ipaddress
import socket
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest

from askew.models.base import Fatal, ServerFault
from askew.records import Reply
from tests.models.raw_server import RawServer, answers
from tests.models.servers import FaultServer
from tests.models.test_hostile_endpoint import ask, bare_environment

__all__ = ["bare_environment"]  # a fixture that holds here too
pytest.importorskip("cryptography", reason="askew[sign] is not installed")

Certificate = Callable[..., tuple[ssl.SSLContext, Path]]


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """Makes certificates signed by themselves, with the server's context and the file of each."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    folder = tmp_path_factory.mktemp("certificates")

    def make(
        name: x509.GeneralName | None = None, *, days: tuple[int, int] = (-1, 30)
    ) -> tuple[ssl.SSLContext, Path]:
        now = dt.datetime.now(dt.UTC)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "askew test")])
        signed = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + dt.timedelta(days=days[0]))
            .not_valid_after(now + dt.timedelta(days=days[1]))
            .add_extension(
                x509.SubjectAlternativeName(
                    [name or x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
                ),
                critical=False,
            )
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(key, hashes.SHA256())
        )
        path = folder / f"{signed.serial_number}.pem"
        path.write_bytes(signed.public_bytes(serialization.Encoding.PEM) + private)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context, path

    return make


async def test_a_certificate_that_nobody_has_signed_stops_the_run_and_says_the_mend(certificate):
    context, _ = certificate()
    with RawServer(answers, tls=context) as server:
        (error,) = await ask(server.url)
    assert isinstance(error, Fatal)
    assert "certificate is not trusted" in str(error)
    assert "SSL_CERT_FILE" in str(error)
    assert not server.requests
    assert server.connections == 1


async def test_that_mend_works(certificate, monkeypatch):
    context, path = certificate()
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with RawServer(answers, tls=context) as server:
        results = await ask(server.url, times=3)
    assert all(isinstance(result, Reply) for result in results)
    assert server.connections == 1  # kept


async def test_a_certificate_that_has_expired_says_so(certificate, monkeypatch):
    context, path = certificate(days=(-30, -1))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with RawServer(answers, tls=context) as server:
        (error,) = await ask(server.url)
    assert isinstance(error, Fatal)
    assert "expired" in str(error)
    assert "this machine's clock" in str(error)
    assert not server.requests


async def test_a_certificate_for_another_host_says_so(certificate, monkeypatch):
    from cryptography import x509

    context, path = certificate(x509.DNSName("elsewhere.example"))
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with RawServer(answers, tls=context) as server:
        (error,) = await ask(server.url)
    assert isinstance(error, Fatal)
    assert "as the certificate names it" in str(error)
    assert not server.requests


async def test_plain_http_behind_an_https_address_says_so():
    with FaultServer() as server:
        (error,) = await ask(server.url.replace("http:", "https:"))
    assert isinstance(error, Fatal)
    assert "write http://" in str(error)
    assert not server.seen


async def test_tls_behind_an_http_address_says_so(certificate):
    context, _ = certificate()
    with RawServer(answers, tls=context) as server:
        (error,) = await ask(server.url.replace("https:", "http:"))
    assert isinstance(error, Fatal | ServerFault)  # not every server says what is wrong
    assert not server.requests
    assert server.connections == 1


@pytest.mark.parametrize("end", ["hang", "close"])
async def test_a_handshake_that_is_broken_off_was_never_sent(end):
    def greet(connection: socket.socket) -> None:
        if end == "close":
            connection.close()

    with RawServer(lambda wire: wire.hang(), greeting=greet) as server:
        (error,) = await ask(server.url.replace("http:", "https:"))
    assert isinstance(error, ServerFault | Fatal)
    if isinstance(error, ServerFault):
        assert not error.sent
    assert not server.requests
