"""Access control. Every request passes this module first; a refused request has opened no file and run no query.

1. The host name of the request (Host) must be one of this server's names: a page of another name that resolves to this machine gets nothing.
2. A request from a page of another site (Origin, Sec-Fetch-Site) is refused, unless a person follows a link to a page. A request that changes
   something must have this site as its origin, or carry the token in its head, which a page of another site cannot add.
3. The client must know the secret: the token of the first address, which is exchanged for a cookie at once, so that it is in no history; or the
   same token as `Authorization: Bearer …`, for programs. The token that goes to the web client on its command line, where other users of the machine
   could read it, works once. If the server listens beyond this machine, a password is exchanged for the same cookie: one attempt a second from each
   address.
4. The headers of an answer limit its use: scripts only from this server's modules, nothing from other sites, in no frame, in no cache.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import secrets
from typing import Any, Awaitable, Callable, Dict, Iterable, List, MutableMapping, Optional, Set, Tuple
from urllib.parse import parse_qs, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_READING = ("GET", "HEAD")
_LOGIN = "/-/login"
_MOST_FORM = 4096  # Bytes.
_ATTEMPT = 1.0  # Seconds that the check of a wrong password takes; the checks of one sender run one after the other.
_WAITING = 20  # Attempts of one sender that may wait.
_SENDERS = 50  # Senders that may make attempts at the same time.
_PATIENCE = 10.0  # Seconds in which a form must arrive.
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


class Guard:
    """An ASGI application that checks requests and passes the allowed ones to another ASGI application."""

    def __init__(
        self, app: App, port: int, hosts: Iterable[str] = (), *, password: Optional[str] = None, any_number: bool = False, is_secure: bool = False
    ) -> None:
        """hosts: names of this machine, besides those of the loopback interface, that a request may use. any_number: a request may also use any IP
        address; this is safe, because a page of another site cannot turn its own name into an IP address. password: people may enter it instead of the
        token. is_secure: the server uses TLS."""
        self._app = app
        self._port, self._any_number = port, any_number
        self._password = None if password is None else _digest(password)
        self._flags = "; Path=/; HttpOnly; SameSite=Strict" + ("; Secure" if is_secure else "")
        self._attempts: Dict[str, _Attempts] = {}  # The current attempts, by sender.
        self._hosts: Set[str] = {f"{host}:{port}" for host in (*_LOOPBACK, *hosts)} | ({*_LOOPBACK, *hosts} if port == 80 else set())
        self.token = secrets.token_urlsafe(32)
        self._once: Set[str] = set()
        self._session = secrets.token_urlsafe(32)
        self._cookie = f"crealm-{port}"

    def token_for_once(self) -> str:
        """A token that opens the first page, and works only once."""
        made = secrets.token_urlsafe(32)
        self._once.add(made)
        return made

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # Only HTTP is served.
        head = _Head(scope)
        refused = self._refusal(head)
        if refused is not None:
            await _refuse(send, head, *refused)
        elif head.method in _READING and "token" in head.query:
            await self._exchange(head, send)
        elif head.path == _LOGIN and self._password is not None:
            await self._log_in(head, receive, send)
        elif not self._is_known(head) and self._password is not None and "text/html" in head.one("accept"):
            await _show_form(send, 401, "")
        elif not self._is_known(head):
            await _refuse(send, head, 401, "Open the address that `crealm browse` printed: it has the token that this page needs.")
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal(self, head: "_Head") -> Optional[Tuple[int, str]]:
        """The status and reason to refuse a request even if it has the secret; None if it is acceptable."""
        host = head.one("host").lower()
        if host not in self._hosts and not (self._any_number and _is_number(host, self._port)):
            return 421, "This is not a name of this server."
        if head.one("transfer-encoding") and head.one("content-length"):
            return 400, "The length is told in two ways."  # A proxy might use the other length than this server.
        if head.method not in (*_READING, "POST"):
            return 405, "Only GET, HEAD and POST are known here."
        origin, site = head.one("origin"), head.one("sec-fetch-site")
        is_foreign = bool(origin) and origin.lower() != f"{head.scheme}://{head.one('host').lower()}"
        is_visit = head.method == "GET" and head.one("sec-fetch-mode") == "navigate" and head.one("sec-fetch-dest") == "document"
        if is_foreign or (site not in ("", "same-origin", "none") and not is_visit):
            return 403, "A page of another site asked."
        if head.method == "POST" and not origin and not self._has_token(head):
            return 403, "A change needs to say where it comes from."
        return None

    async def _exchange(self, head: "_Head", send: Send) -> None:
        """Handles the first address: sets a cookie in exchange for the token, and redirects to the address without it."""
        given = head.query.pop("token")[0]
        is_good = _same(given, self.token) or given in self._once
        self._once.discard(given)
        if not is_good:
            await _refuse(send, head, 401, "This token is not the right one, or was used before.")
            return
        query = urlencode(head.query, doseq=True)
        cookie = f"{self._cookie}={self._session}{self._flags}"
        where = head.path + ("?" + query if query else "")
        await _respond(send, 303, {"location": where if not where.startswith("//") else "/", "set-cookie": cookie}, b"")

    async def _log_in(self, head: "_Head", receive: Receive, send: Send) -> None:
        """Sends the form for the password, or checks the password that was entered."""
        if head.method != "POST":
            await _show_form(send, 200, "")
            return
        try:
            form = await asyncio.wait_for(_form(receive), _PATIENCE)
        except asyncio.TimeoutError:
            await _refuse(send, head, 408, "The form did not come.")
            return
        given = parse_qs(form.decode("utf-8", "replace")).get("password", [""])[0]
        is_right = await self._tried(given, head.sender)
        if is_right is None:
            await _refuse(send, head, 429, "Too many attempts at a time.")
        elif is_right:
            await _respond(send, 303, {"location": "/", "set-cookie": f"{self._cookie}={self._session}{self._flags}"}, b"")
        else:
            await _show_form(send, 401, "This is not the password.")

    async def _tried(self, given: str, sender: str) -> Optional[bool]:
        """Whether the password is right; None if there are too many attempts. Attempts of one sender wait for each other, but not for those of other
        senders: a sender with many attempts does not delay the others."""
        known = self._attempts.get(sender)
        if (known is not None and known.count >= _WAITING) or (known is None and len(self._attempts) >= _SENDERS):
            return None
        attempts = self._attempts.setdefault(sender, _Attempts())
        attempts.count += 1
        try:
            async with attempts.lock:
                is_right = hmac.compare_digest(_digest(given), self._password or b"")
                if not is_right:
                    await asyncio.sleep(_ATTEMPT)
                return is_right
        finally:
            attempts.count -= 1
            if not attempts.count:
                del self._attempts[sender]

    def _is_known(self, head: "_Head") -> bool:
        return self._has_token(head) or any(_same(value, self._session) for value in head.cookies(self._cookie))

    def _has_token(self, head: "_Head") -> bool:
        kind, _, given = head.one("authorization").partition(" ")
        return kind.lower() == "bearer" and _same(given.strip(), self.token)


class _Attempts:
    """The attempts of one sender to enter the password; they run one after the other."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.count = 0


class _Head:
    """The head of a request. A header that occurs twice has a value that nothing matches."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.scheme: str = scope.get("scheme", "http")
        self.sender = _network(scope.get("client"))
        self.path: str = scope.get("raw_path", b"/").decode("latin-1").partition("?")[0]
        self.query: Dict[str, List[str]] = parse_qs(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        self._values: Dict[str, List[str]] = {}
        for name, value in scope["headers"]:
            self._values.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))

    def one(self, name: str) -> str:
        found = self._values.get(name, [])
        return found[0] if len(found) == 1 else "" if not found else "\0"

    def cookies(self, name: str) -> List[str]:
        """The values of all cookies with a name. The header also has the cookies of other programs on this machine, with any content."""
        given = [part.partition("=") for text in self._values.get("cookie", []) for part in text.split(";")]
        return [value.strip() for key, _, value in given if key.strip() == name]


def _digest(password: str) -> bytes:
    return hashlib.sha256(password.encode("utf-8", "replace")).digest()


def _network(client: Optional[Tuple[str, int]]) -> str:
    """The sender of a request: its IP address; of an IPv6 address the first half, because a client can choose the rest itself."""
    address = client[0] if client else ""
    if ":" not in address:
        return address
    import ipaddress

    try:
        found = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    return found.packed[:8].hex() if found.ipv4_mapped is None else str(found.ipv4_mapped)


def _is_number(host: str, port: int) -> bool:
    """Whether a host is an IP address, not a name, with the right port."""
    address, separator, given = host.rpartition(":")
    if not separator or given != str(port):
        return False
    import ipaddress  # Imported here because requests from this machine do not need it.

    try:
        ipaddress.ip_address(address[1:-1] if address.startswith("[") and address.endswith("]") else address)
    except ValueError:
        return False
    return True


async def _form(receive: Receive) -> bytes:
    """The body of a form; empty if it is longer than a form with a password can be."""
    parts, size = [], 0
    while size <= _MOST_FORM:
        message = await receive()
        part = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if message["type"] != "http.request" or not message.get("more_body"):
            return b"".join(parts) if size <= _MOST_FORM else b""
    return b""


async def _show_form(send: Send, status: int, said: str) -> None:
    # With the policy "no-referrer", the POST of the form would have no Origin, and _refusal() would refuse it.
    headers = {"content-type": "text/html; charset=utf-8", "referrer-policy": "same-origin"}
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>CRealm</title>'
        f'<form method="post" action="{_LOGIN}"><h1>CRealm</h1><p role="alert">{said}</p><label for="password">Password</label> '
        '<input id="password" name="password" type="password" autocomplete="current-password" autofocus required> <button>Open</button></form></html>')
    await _respond(send, status, headers, page.encode())


def _same(given: str, right: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), right.encode("utf-8"))


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = {name for name, _ in message["headers"]}
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given]
            if b"cache-control" not in given:
                added.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*message["headers"], *added]}
        await send(message)

    return sent


async def _refuse(send: Send, head: _Head, status: int, text: str) -> None:
    """Sends the reason of a refusal, as a page or as JSON. It contains nothing of the request."""
    if "text/html" in head.one("accept"):
        page = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>CRealm</title><p>{text.replace("`", "")}</p></html>'
        await _respond(send, status, {"content-type": "text/html; charset=utf-8"}, page.encode())
        return
    body = json.dumps({"error": {"kind": "Refused", "message": text}}).encode()
    await _respond(send, status, {"content-type": "application/json"}, body)


async def _respond(send: Send, status: int, headers: Dict[str, str], body: bytes) -> None:
    if status == 400:
        headers = {**headers, "connection": "close"}  # It is not known where the next request begins.
    fields = {**HEADERS, "cache-control": "no-store", "content-length": str(len(body)), **headers}
    encoded = [(name.encode(), value.encode("latin-1")) for name, value in fields.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
