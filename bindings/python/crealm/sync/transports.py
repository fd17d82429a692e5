"""How requests reach the hub: a connection to PostgreSQL, or HTTPS to a gateway.

A transport is an object with these methods; a program may pass its own:

    call(function: str, body: bytes) -> bytes    calls crealm.<function> with the body, in one transaction
    close() -> None

A transport that hears of other devices has two more:

    fileno() -> int      the file descriptor that is readable when something was heard; -1 if there is none now
    told() -> bool       takes what was heard, without waiting; whether another device wrote

A transport whose calls another thread can end has:

    abort() -> None      lets a call in progress fail soon
"""

from __future__ import annotations

import json
import os
import socket
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, Callable, Dict, Optional, Protocol

from ..errors import SyncError, UsageError

_FUNCTIONS = ("hello", "push", "pull", "listing")


class Transport(Protocol):
    def call(self, function: str, body: bytes) -> bytes: ...

    def close(self) -> None: ...


class PostgresTransport:
    """A connection to the hub by psycopg 3. It is opened at the first call, and again after an error.

    After a push it tells other devices (NOTIFY), as a statement of its own: inside the transaction, notifications of
    many devices would wait for each other.
    """

    _CHANNEL = "crealm"
    _FREE_BYTES = 1_000_000  # A larger request gets more time: a second for _BYTES_A_SECOND bytes.
    _BYTES_A_SECOND = 100_000

    def __init__(self, url: str, *, timeout: float = 30.0, claims: Optional[Dict[str, Any]] = None) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise UsageError(
                "Synchronisation with postgresql:// needs psycopg 3",
                hint='Install it: pip install "crealm[sync]"',
            ) from error
        self._psycopg = psycopg
        self._url = url
        self._timeout = timeout
        self._claims = None if claims is None else json.dumps(claims)
        self._connection: Any = None
        self._pid = 0

    def _open(self) -> Any:
        if self._connection is None or self._connection.closed:
            self._connection = self._psycopg.connect(
                self._url, autocommit=True, connect_timeout=max(2, int(self._timeout)), prepare_threshold=1
            )
            self._set_timeout(self._connection, self._timeout)
            self._connection.execute(f"LISTEN {self._CHANNEL}")
            self._pid = self._connection.info.backend_pid
        return self._connection

    @staticmethod
    def _set_timeout(connection: Any, seconds: float) -> None:
        connection.execute("SELECT set_config('statement_timeout', %s, false)", (f"{int(seconds * 1000)}",))

    def call(self, function: str, body: bytes) -> bytes:
        if function not in _FUNCTIONS:
            raise SyncError(f"The hub has no function {function!r}")
        try:
            connection = self._open()
            statement = f"SELECT crealm.{function}(%b::json)::text"
            is_long = len(body) > self._FREE_BYTES
            if is_long:
                self._set_timeout(connection, self._timeout + len(body) / self._BYTES_A_SECOND)
            if self._claims is None:
                row = connection.execute(
                    statement, (self._psycopg.types.json.Json(body, dumps=_as_is),)
                ).fetchone()
            else:
                with connection.transaction():
                    connection.execute("SELECT set_config('request.jwt.claims', %s, true)", (self._claims,))
                    row = connection.execute(
                        statement, (self._psycopg.types.json.Json(body, dumps=_as_is),)
                    ).fetchone()
            if is_long:
                self._set_timeout(connection, self._timeout)
            if function == "push":
                connection.execute(f"NOTIFY {self._CHANNEL}")
            reply: bytes = row[0].encode()
            return reply
        except self._psycopg.Error as error:
            self._drop()
            raise SyncError(f"The hub reports: {str(error).strip() or type(error).__name__}") from error

    def fileno(self) -> int:
        return -1 if self._connection is None or self._connection.closed else int(self._connection.fileno())

    def told(self) -> bool:
        """Takes notices, without waiting. Returns whether another device has pushed, or the connection was lost."""
        try:
            return any([notice.pid != self._pid for notice in self._open().notifies(timeout=0)])
        except self._psycopg.Error:
            self._drop()
            return True  # The next exchange reports it.

    def abort(self) -> None:
        """Breaks the connection: a call that waits for the hub fails. The next call opens another one. Any thread."""
        number = self.fileno()
        if number < 0:
            return
        try:
            with socket.socket(fileno=os.dup(number)) as line:
                line.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # It was closed meanwhile.

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            try:
                connection.close()
            except self._psycopg.Error:
                pass  # It is gone anyway.

    def close(self) -> None:
        self._drop()


def _as_is(body: bytes) -> bytes:
    return body


class HTTPTransport:
    """HTTPS to a gateway such as PostgREST, which calls the functions of the schema crealm.

    url: the address of the gateway, as https://example.com/rest. token: the JWT, or a function that returns a fresh
    one. An address without TLS is refused, but for this machine.
    """

    _MOST_BYTES = 1 << 30

    def __init__(
        self, url: str, *, token: "Optional[str | Callable[[], str]]" = None, timeout: float = 30.0
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme != "https" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
            raise UsageError("A hub on another machine is reached by https:// only: tokens would be readable")
        self._url = url.rstrip("/")
        self._token = token
        self._timeout = timeout
        self._context = ssl.create_default_context() if parts.scheme == "https" else None

    def call(self, function: str, body: bytes) -> bytes:
        if function not in _FUNCTIONS:
            raise SyncError(f"The hub has no function {function!r}")
        headers = {
            "Content-Type": "application/json",
            "Content-Profile": "crealm",
            "Accept": "application/json",
        }
        token = self._token() if callable(self._token) else self._token
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = urllib.request.Request(
            f"{self._url}/rpc/{function}", data=b'{"body":' + body + b"}", headers=headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=self._timeout, context=self._context) as reply:
                read: bytes = reply.read(self._MOST_BYTES + 1)
        except urllib.error.HTTPError as error:
            text = error.read(10_000).decode("utf-8", "replace")
            raise SyncError(f"The hub answers with status {error.code}: {text}") from error
        except (OSError, ValueError) as error:
            raise SyncError(f"The hub cannot be reached: {error}") from error
        if len(read) > self._MOST_BYTES:
            raise SyncError("The reply of the hub is too long")
        return read

    def close(self) -> None:
        pass


def transport_for(hub: Any, **options: Any) -> Transport:
    """The transport for postgresql:// and https:// addresses; another object is a transport itself."""
    if not isinstance(hub, str):
        if not callable(getattr(hub, "call", None)):
            raise UsageError(f"{hub!r} is no hub: it is an address, or an object with call()")
        made: Transport = hub
        return made
    scheme = hub.split(":", 1)[0]
    if scheme in ("postgresql", "postgres"):
        return PostgresTransport(hub, **options)
    if scheme in ("https", "http"):
        return HTTPTransport(hub, **options)
    raise UsageError(f"{scheme!r} is no kind of hub: it is a postgresql:// or https:// address")
