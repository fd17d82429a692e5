"""browse: shows files in a web page."""

from __future__ import annotations

import argparse
import os
import socket
import stat
import threading
from typing import List, Optional

from ..errors import DataError, Error, FileNotFound, NotSupportedError, UsageError
from .options import DONE, Commands, add_secret, read_passphrase, secret
from .output import print_error, printable

_WAYS = ("snapshot", "shared", "immutable")
_SHORTEST = 8  # Characters of a password.


def add(commands: Commands) -> None:
    command = commands.alone("browse", run, "show files in a web page, on this machine")
    command.add_argument("files", metavar="FILE", nargs="+", help="the realm files")
    add_secret(command)
    command.add_argument(
        "--way", choices=_WAYS,
        help="how files are read: a copy of each version (default up to 256 MB), as other readers do (default beyond), or where they lie")
    command.add_argument("--immutable", dest="way", action="store_const", const="immutable", help="the last of these: for files that nobody changes")
    command.add_argument("--edit", action="store_true", help="the pages may change the files, too; without it they only read")
    command.add_argument("--port", type=_port, default=0, metavar="N", help="the port of the page (default: any that is free)")
    command.add_argument("--host", metavar="ADDRESS", help="listen to other machines, too: an address of this one, or 0.0.0.0 for all; needs a password")
    password = command.add_mutually_exclusive_group()
    password.add_argument("--password", action="store_true", help="ask for a password here, and on the page")
    password.add_argument("--password-file", metavar="FILE", help="the password is the first line of a file")
    command.add_argument("--tls-cert", metavar="FILE", help="a certificate: what is shown is encrypted on its way")
    command.add_argument("--tls-key", metavar="FILE", help="its key, where it is not in the same file")
    command.add_argument("--no-open", dest="opens", action="store_false", help="only print the address of the page")


def run(options: argparse.Namespace) -> int:
    from ..browse.files import File, Files, Secret

    missing: List[str] = [file for file in options.files if not os.path.isfile(file)]
    if missing:
        raise FileNotFound(f"No such file: {missing[0]}")
    if options.edit and options.way == "immutable":
        raise UsageError("--immutable is for files that nobody changes: it does not go with --edit")
    given = Secret(**secret(options))
    files = [File(path, way=options.way, secret=given, is_editable=options.edit) for path in options.files]
    threading.Thread(target=files[0].prepare, daemon=True).start()  # Opens the file while the server is imported.
    try:
        from ..browse.connections import certified
        from ..browse.guard import Guard
        from ..browse.server import Browser, listening, serve
    except ModuleNotFoundError as error:
        raise NotSupportedError(f"The page needs {error.name}", hint='pip install "crealm[browse]"') from None
    context, host, password = certified(options.tls_cert, options.tls_key), options.host or "127.0.0.1", _password(options)
    scheme = "http" if context is None else "https"
    if not _is_loopback(host):
        _check_open(password, scheme)
    browser = Browser(Files(files))
    with listening(host, options.port) as channel:
        port = channel.getsockname()[1]
        guard = Guard(
            browser.app, port, _names(host), password=password, any_number=not _is_loopback(host), is_secure=scheme == "https")
        shown = f"[{host}]" if ":" in host else host
        print(f"{scheme}://{shown}:{port}/?token={guard.token}", flush=True)
        if options.opens:
            _open_page(f"{scheme}://{shown}:{port}/?token={guard.token_for_once()}")
        try:
            serve(guard, channel, context=context)
        except KeyboardInterrupt:
            pass  # The usual end.
    return DONE


def _port(text: str) -> int:
    """The number of a port; ValueError for other texts."""
    number = int(text)
    if not 0 <= number < 1 << 16:
        raise ValueError(text)
    return number


_port.__name__ = "port"  # argparse uses this name in its error message.


def _password(options: argparse.Namespace) -> Optional[str]:
    """The password that was given, or None; DataError if it is too short."""
    if options.password_file is not None:
        given = read_passphrase(options.password_file).decode("utf-8", "replace")
        if os.name == "posix" and os.stat(options.password_file).st_mode & stat.S_IROTH:
            print_error(printable(f"everybody on this machine can read {options.password_file}"))
    elif options.password:
        from getpass import getpass

        given = getpass("Password of the page: ")
    else:
        return None
    if len(given) < _SHORTEST:
        raise DataError(f"A password has at least {_SHORTEST} characters")
    return given


def _check_open(password: Optional[str], scheme: str) -> None:
    """UsageError if the server listens to other machines without a password; warns if the connection is not encrypted."""
    if password is None:
        raise UsageError("--host lets other machines ask: it needs --password or --password-file")
    if scheme == "http":
        print_error("the password, and everything that is shown, can be read on the network on its way: --tls-cert encrypts it")


def _is_loopback(host: str) -> bool:
    if host == "127.0.0.1":
        return True
    import ipaddress

    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _names(host: str) -> List[str]:
    """The host names that requests to this machine may use."""
    if _is_loopback(host):
        return [f"[{host}]" if ":" in host else host]
    names = {host.lower(), socket.gethostname().lower(), socket.getfqdn().lower()}
    return [f"[{name}]" if ":" in name else name for name in names if name]


def _open_page(address: str) -> Optional[Error]:
    """Opens the page in a web client. Only warns if that fails, because the address was printed."""
    import webbrowser

    try:
        webbrowser.open(address)
    except (webbrowser.Error, OSError) as error:
        print_error(printable(f"no web client was opened: {error}"))
    return None
