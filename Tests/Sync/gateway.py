"""A gateway between HTTP and the functions of a hub, in the form of PostgREST: `POST /rpc/<function>` with the JSON object
`{"body": …}` and the header `Content-Profile: crealm`.

With a secret, requests need a JWT (HS256): they run as the role `people`, with the claims of the token.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import http.server
import json
import socket
import threading
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

import psycopg

FUNCTIONS = ("hello", "push", "pull", "listing")


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def token(secret: str, claims: Dict[str, Any]) -> str:
    """A JWT with these claims."""
    head = _encoded(b'{"alg":"HS256","typ":"JWT"}') + "." + _encoded(json.dumps(claims).encode())
    return head + "." + _encoded(hmac.new(secret.encode(), head.encode(), hashlib.sha256).digest())


def _claims(secret: str, header: str) -> Optional[Dict[str, Any]]:
    """The claims of a valid token; None for another one."""
    parts = header.split(" ")
    if len(parts) != 2 or parts[0] != "Bearer" or parts[1].count(".") != 2:
        return None
    body = parts[1].split(".")[1]
    try:
        claims: Dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except ValueError:
        return None
    return claims if hmac.compare_digest(token(secret, claims), parts[1]) else None


class Gateway:
    """Serves the hub at a PostgreSQL address, on a port of this machine, until stop(). `seen` has the function and the
    status of each request.

    before: called with the name of each function and the handler of the request; when it returns True, it has answered.
    """

    def __init__(
        self,
        hub: str,
        *,
        secret: Optional[str] = None,
        port: int = 0,
        before: Optional[Callable[[str, Any], bool]] = None,
    ) -> None:
        self.hub, self.secret, self.before = hub, secret, before
        self.seen: List[Tuple[str, int]] = []
        self._connections: Set[socket.socket] = set()
        gateway = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                gateway._connections.add(self.connection)

            def finish(self) -> None:
                gateway._connections.discard(self.connection)
                try:
                    super().finish()
                except OSError:
                    pass  # stop() has closed it.

            def do_POST(self) -> None:
                gateway._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            allow_reuse_address = True

        self._server = Server(("127.0.0.1", port), Handler)
        self.port: int = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        for connection in list(self._connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # It is closed already.
        self._thread.join()

    def _answer(self, request: Any) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        function = request.path.rsplit("/", 1)[-1]
        if self.before is not None and self.before(function, request):
            self.seen.append((function, 0))
            return
        status, reply = self._result(request, function, body)
        self.seen.append((function, status))
        send(request, status, reply)

    def _result(self, request: Any, function: str, body: bytes) -> Tuple[int, bytes]:
        is_json = request.headers.get("Content-Type") == "application/json"
        if function not in FUNCTIONS or request.path != f"/rpc/{function}":
            return 404, b'{"message": "no such function"}'
        if not is_json or request.headers.get("Content-Profile") != "crealm":
            return 406, b'{"message": "the schema must be one of: crealm"}'
        claims: Optional[Dict[str, Any]] = None
        if self.secret is not None:
            claims = _claims(self.secret, request.headers.get("Authorization", ""))
            if claims is None:
                return 401, b'{"message": "JWT invalid"}'
        try:
            argument = json.dumps(json.loads(body)["body"], ensure_ascii=False)
            with psycopg.connect(self.hub) as connection:
                if claims is not None:
                    connection.execute("SET LOCAL ROLE people")
                    connection.execute(
                        "SELECT set_config('request.jwt.claims', %s, true)", (json.dumps(claims),)
                    )
                row = connection.execute(f"SELECT crealm.{function}(%s::json)::text", (argument,)).fetchone()
                assert row is not None
                return 200, row[0].encode()
        except (ValueError, KeyError):
            return 400, b'{"message": "no JSON object with the member body"}'
        except psycopg.errors.InsufficientPrivilege as error:
            return 403, json.dumps({"code": error.sqlstate, "message": str(error)}).encode()
        except psycopg.Error as error:
            return 500, json.dumps({"code": error.sqlstate, "message": str(error)}).encode()


def send(request: Any, status: int, reply: bytes, **headers: str) -> None:
    """Answers a request."""
    request.send_response(status)
    request.send_header("Content-Type", "application/json")
    request.send_header("Content-Length", str(len(reply)))
    for name, value in headers.items():
        request.send_header(name, value)
    request.end_headers()
    request.wfile.write(reply)
