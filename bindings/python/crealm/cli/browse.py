"""browse: files in a web page."""

from __future__ import annotations

import argparse
import os
import webbrowser
from typing import List, Optional

from ..errors import Error, FileNotFound, NotSupportedError, UsageError
from .options import DONE, Commands, add_secret, secret
from .output import print_error, printable

_WAYS = ("snapshot", "shared", "immutable")


def add(commands: Commands) -> None:
    command = commands.alone("browse", run, "show files in a web page, on this machine")
    command.add_argument("files", metavar="FILE", nargs="+", help="the realm files")
    add_secret(command)
    command.add_argument(
        "--way", choices=_WAYS,
        help="how files are read: a copy of each version (default up to 256 MB), as other readers do (default beyond), or where they lie")
    command.add_argument("--immutable", dest="way", action="store_const", const="immutable", help="the last of these: for files that nobody changes")
    command.add_argument("--edit", action="store_true", help="the pages may change the files, too; without it they only read")
    command.add_argument("--port", type=int, default=0, metavar="N", help="the port of the page (default: any that is free)")
    command.add_argument("--no-open", dest="opens", action="store_false", help="only print the address of the page")


def run(options: argparse.Namespace) -> int:
    try:
        from ..browse.files import File, Files, Secret
        from ..browse.guard import Guard
        from ..browse.server import Browser, listening, serve
    except ModuleNotFoundError as error:
        raise NotSupportedError(f"The page needs {error.name}", hint='pip install "crealm[browse]"') from None
    missing: List[str] = [file for file in options.files if not os.path.isfile(file)]
    if missing:
        raise FileNotFound(f"No such file: {missing[0]}")
    given = Secret(**secret(options))
    if options.edit and options.way == "immutable":
        raise UsageError("--immutable is for files that nobody changes: it does not go with --edit")
    browser = Browser(Files([File(path, way=options.way, secret=given, is_editable=options.edit) for path in options.files]))
    with listening("127.0.0.1", options.port) as channel:
        port = channel.getsockname()[1]
        guard = Guard(browser.app, port)
        print(f"http://127.0.0.1:{port}/?token={guard.token}", flush=True)
        if options.opens:
            _open_page(f"http://127.0.0.1:{port}/?token={guard.token_for_once()}")
        try:
            serve(guard, channel)
        except KeyboardInterrupt:
            pass  # How it usually ends.
    return DONE


def _open_page(address: str) -> Optional[Error]:
    """Where there is no web client, the address that was printed is enough."""
    try:
        webbrowser.open(address)
    except (webbrowser.Error, OSError) as error:
        print_error(printable(f"no web client was opened: {error}"))
    return None
