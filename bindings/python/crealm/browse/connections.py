"""Limits for connections. Any client that reaches the port can open connections, even without the secret: so their number is limited, and a client
must complete the head of a request in time.

A connection *waits* while none of its requests is being answered. A connection that waits for longer than `PATIENCE` is closed. If there are more
than `MOST` connections, the one that has waited longest is closed. A connection whose request is being answered, also with events, is not closed:
its client knew the secret.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any, Iterable, Optional

from uvicorn.protocols.http.h11_impl import H11Protocol

from ..errors import DataError

PATIENCE = 10.0  # Seconds.
MOST = 256
_FILES = 4096  # Open files that the process asks for; connections during their TLS handshake count, too.


class Connection(H11Protocol):  # type: ignore[misc]  # Its types are not read: see test_types.
    """One connection. It parses HTTP with h11, which refuses requests that two servers might read in different ways."""

    _since = 0.0  # The time of the event loop at which it began to wait.
    _ending: Optional[asyncio.TimerHandle] = None

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > MOST:
            waiting: Iterable[Connection] = (one for one in self.connections if isinstance(one, Connection) and one._ending is not None)
            min(waiting, key=lambda one: one._since)._give_up()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_no_more()
        elif self._ending is None:
            self._wait()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.cycle.response_complete and self._ending is None:
            self._wait()

    def connection_lost(self, exc: Optional[Exception]) -> None:
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._since = self.loop.time()
        self._ending = self.loop.call_later(PATIENCE, self._give_up)

    def _wait_no_more(self) -> None:
        if self._ending is not None:
            self._ending.cancel()
            self._ending = None

    def _give_up(self) -> None:
        self._wait_no_more()
        self.connections.discard(self)
        self.transport.abort()  # Not close(), which waits for a client that does not read.


def certified(certificate: Optional[str], key: Optional[str]) -> Optional[ssl.SSLContext]:
    """The TLS context for connections; None without a certificate. DataError if the files are not a certificate and its key."""
    if certificate is None:
        if key is not None:
            raise DataError("--tls-key is the key of a certificate: it needs --tls-cert")
        return None
    for path in (certificate, key):
        try:
            open(path or certificate, "rb").close()
        except OSError as error:
            raise DataError(f"{path or certificate}: {error.strerror}") from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key, _no_password)
    except DataError:
        raise
    except (ssl.SSLError, OSError, ValueError) as error:
        reason = getattr(error, "reason", None)
        said = "they do not belong together" if reason == "KEY_VALUES_MISMATCH" else "the one has no certificate, or the other no key, in PEM"
        raise DataError(f"TLS with {certificate} and {key or certificate}: {said}") from None
    return context


def _no_password() -> str:
    raise DataError("The key of the certificate has a passphrase; one without is needed", hint="`openssl pkey -in KEY -out PLAIN` writes one.")


def may_have_many_files() -> None:
    """Raises the limit of open files to `_FILES`, or to the limit that the operating system allows."""
    try:
        import resource
    except ModuleNotFoundError:
        return  # This operating system has no such limit.
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES if hard == resource.RLIM_INFINITY else min(_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
