"""The ASGI application that answers requests, and the server that runs it on a socket."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Dict, Mapping, Optional, Sequence
from urllib.parse import parse_qs, quote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ..errors import DataError, Error
from . import addresses, api, posts
from .connections import Connection, may_have_many_files
from .editing import Editor
from .files import Files
from .guard import Guard
from .live import Watch
from .places import NoSuchPage
from .work import Job, Workers, nobody_leaves

if TYPE_CHECKING:
    from .downloads import Download

STATIC = Path(__file__).parent / "static"
_SECONDS = 20.0  # The limit for an answer; the requests in `_LONG` have more time.
_LONG = {"check": 3600.0, "space": 600.0, "download": 3600.0, "compare": 600.0, **dict.fromkeys(posts.LONG, 600.0)}
_PARAMETERS = 500  # Parameters of an address; a class with many columns needs as many.


class Browser:
    """The files and the threads that read them, behind an application of Starlette."""

    def __init__(self, files: Files, *, seconds: float = _SECONDS) -> None:
        self.files = files
        self._seconds = seconds
        self._editors = {name: Editor(file) for name, file in files if file.is_editable}
        self._workers, self._patient = Workers(), Workers(3)  # `_patient` is for long work, which must not delay pages.
        self._watches = {name: Watch(file, self._run_plain) for name, file in files}
        self._is_over = False
        routes = [
            Mount("/-/static", StaticFiles(directory=STATIC)),
            Route("/{path:path}", self._get, methods=["GET"]),
            Route("/{path:path}", self._post, methods=["POST"]),
        ]
        self._routes = Starlette(routes=routes, lifespan=self._lifespan)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        """The ASGI application. It routes by the raw path, because a decoded name might contain line ends and slashes."""
        if "raw_path" in scope:
            scope = {**scope, "path": scope["raw_path"].decode("latin-1").partition("?")[0]}
        await self._routes(scope, receive, send)

    @contextlib.asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        idle = asyncio.create_task(self._let_go())
        try:
            yield
        finally:
            self._is_over = True
            idle.cancel()
            self._workers.close()
            self._patient.close()
            await asyncio.to_thread(self.files.close)

    async def _let_go(self) -> None:
        while True:
            await asyncio.sleep(5)
            await asyncio.to_thread(self.files.let_go)

    # Requests

    async def _get(self, request: Request) -> Response:
        try:
            address = addresses.decode(_raw_path(request))
            options = _options(request)
        except (ValueError, DataError) as error:
            return _json(api.failure(DataError(f"The address cannot be read: {error}")), 400)
        if list(address.parts[1:]) in (["events"], ["log"]) and address.parts[0] in self._watches:
            return self._watched(request, address)
        if "raw" in options:
            return await self._content(request, address.parts, options)
        if "download" in options:
            return await self._download(request, address.parts, options)
        if address.is_json:
            parts = [] if list(address.parts) == ["-", "files"] else address.parts
            return await self._answer(request, lambda job: api.answer(self._ask(parts, options, job)), address.parts)
        return _shell()

    def _watched(self, request: Request, address: addresses.Address) -> Response:
        watch = self._watches[address.parts[0]]
        if address.parts[1] == "events":
            if request.method == "HEAD":
                return Response(media_type="text/event-stream")
            return StreamingResponse(watch.events(), media_type="text/event-stream")
        return _json({"log": list(watch.log), "sizes": list(watch.sizes)}, 200) if address.is_json else _shell()

    async def _content(self, request: Request, parts: Sequence[str], options: Mapping[str, Sequence[str]]) -> Response:
        try:
            found = await self._run(request, lambda job: api.content(self._ask(parts, options, job)))
        except Error as error:
            return _json(api.failure(error), api.status_of(error))
        is_shown = "inline" in options and found.media.startswith("image/")
        place = "inline" if is_shown else _attached(found.name)
        return Response(found.content, media_type=found.media, headers={"content-disposition": place})

    async def _download(self, request: Request, parts: Sequence[str], options: Mapping[str, Sequence[str]]) -> Response:
        try:
            found = await self._run(request, lambda job: api.download(self._ask(parts, options, job)), _LONG["download"])
        except Error as error:
            return _json(api.failure(error), api.status_of(error))
        return _Sent(found)

    async def _post(self, request: Request) -> Response:
        try:
            parts = list(addresses.decode(_raw_path(request)).parts)
        except ValueError as error:
            return _json(api.failure(DataError(f"The address cannot be read: {error}")), 400)
        if not posts.is_known(parts):
            return _json(api.failure(NoSuchPage("Nothing can be sent to this address")), 404)
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            return _json(api.failure(DataError("What is sent is JSON")), 415)
        body = await _body(request, posts.most(parts[1]))
        if body is None:
            return _json(api.failure(DataError("This is too long")), 413)
        return await self._answer(request, lambda job: posts.answer(self._ask(parts, {}, job), _parsed(body)), parts)

    def _ask(self, parts: Sequence[str], options: Mapping[str, Sequence[str]], job: Job) -> api.Ask:
        return api.Ask(self.files, parts, options, job, self._editors)

    async def _answer(self, request: Request, make: Callable[[Job], Any], parts: Sequence[str]) -> Response:
        seconds = _LONG.get(parts[1], self._seconds) if len(parts) > 1 else self._seconds
        try:
            return _json(await self._run(request, make, seconds), 200)
        except Error as error:
            return _json(api.failure(error), api.status_of(error))
        except Exception as error:  # A bug, or an unexpected kind of damage: the page shows the error and still works.
            return _json({"error": {"kind": type(error).__name__, "message": f"The server failed here: {error}"[:300]}}, 500)

    async def _run(self, request: Request, make: Callable[[Job], Any], seconds: Optional[float] = None) -> Any:
        async def is_gone() -> bool:
            return self._is_over or await request.is_disconnected()

        workers = self._workers if seconds is None or seconds == self._seconds else self._patient
        return await workers.run(make, seconds=seconds or self._seconds, is_gone=is_gone)

    async def _run_plain(self, function: Callable[[], Any]) -> Any:
        return await self._workers.run(lambda job: function(), seconds=60, is_gone=nobody_leaves)


class _Sent(FileResponse):  # type: ignore[misc, unused-ignore]  # Its types are not always read: see test_types.
    """A response with a download. Removes the file afterwards, also if it was not sent completely: the client was gone, or requested a range that does
    not exist."""

    def __init__(self, found: "Download") -> None:
        super().__init__(found.path, media_type=found.media, headers={"content-disposition": _attached(found.name), "cache-control": "no-store"})
        self._found = found

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._found.remove()


def _shell() -> Response:
    """The HTML page, which is the same at every address."""
    return FileResponse(STATIC / "shell.html", media_type="text/html", headers={"cache-control": "no-store"})


def _attached(name: str) -> str:
    return f"attachment; filename*=UTF-8''{quote(name.encode('utf-8', 'replace'), safe='')}"


def _raw_path(request: Request) -> str:
    raw: bytes = request.scope.get("raw_path") or request.scope["path"].encode("utf-8")
    return raw.decode("latin-1").partition("?")[0]


def _options(request: Request) -> Dict[str, Sequence[str]]:
    text = request.scope.get("query_string", b"").decode("latin-1")
    return dict(parse_qs(text, keep_blank_values=True, errors="strict", max_num_fields=_PARAMETERS))


async def _body(request: Request, most: int) -> Optional[bytes]:
    """The body of a request; None if it is longer than `most` bytes, or the client is gone."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                return None
            parts.append(part)
    except ClientDisconnect:
        return None  # The client does not wait for an answer.
    return b"".join(parts)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise DataError("What was sent is no JSON") from None


def _json(value: Any, status: int) -> Response:
    """A response with JSON. value: the value, or its encoded JSON as bytes."""
    return Response(value if isinstance(value, bytes) else api.encoded(value), status, media_type="application/json")


# ------------------------------------------------------------------------------------------------
# Running it
# ------------------------------------------------------------------------------------------------


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens for connections; OSError if that is not possible. port: 0 for any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is named; without that the kernel delays small answers by 40 ms each.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
        made.listen(64)
    except OSError:
        made.close()
        raise
    return made


def serve(guard: Guard, channel: socket.socket, *, context: Optional[ssl.SSLContext] = None) -> None:
    """Runs the server until Ctrl-C. Logs nothing: addresses may contain texts of queries, and messages about pages that still watched at the end would
    not help. With a context it uses TLS. Headers of proxies (X-Forwarded-For) are ignored."""
    may_have_many_files()
    config = uvicorn.Config(
        guard, log_config=None, log_level="critical", access_log=False, server_header=False, date_header=False, timeout_graceful_shutdown=1, ws="none",
        http=Connection, proxy_headers=False)  # fmt: skip
    config.load()
    config.ssl = context
    server = uvicorn.Server(config)
    server.run(sockets=[channel])
