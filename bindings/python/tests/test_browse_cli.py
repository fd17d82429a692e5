"""`crealm browse` as a command: its requirements and its output; and that no other part of the package needs it."""

import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

import crealm
from conftest import PERSON

STATIC = Path(crealm.__file__).parent / "browse/static"


def run(*arguments, **options):
    return subprocess.run([sys.executable, "-m", "crealm", "browse", *map(str, arguments)], capture_output=True, text=True, **options)


def test_the_package_does_not_need_it():
    program = "import sys, crealm, crealm.cli; print(sorted(name for name in sys.modules if name.split('.')[0] in ('starlette', 'uvicorn') or 'browse.' in name))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


def test_what_only_some_pages_need_is_not_loaded_before_the_first():
    """Importing modules takes most of the time to the first page, so those of other commands, formats and web clients come later."""
    pytest.importorskip("uvicorn", reason="uvicorn is not there")
    pytest.importorskip("starlette", reason="starlette is not there")
    program = (
        "import sys\nfrom crealm.cli import make_parser\nmake_parser('browse')\nbefore = set(sys.modules)\n"
        "from crealm.browse.guard import Guard\nfrom crealm.browse.server import Browser\n"
        "print(*sorted(name for name in sys.modules if name.startswith('crealm.') or name in ('sqlite3', 'webbrowser', 'ctypes.util', 'getpass')))")
    loaded = set(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split())
    late = {"sqlite3", "webbrowser", "ctypes.util", "getpass", "crealm.browse.comparing", "crealm.browse.downloads", "crealm.browse.rows"}
    late |= {f"crealm.cli.{name}" for name in ("formats", "csv_files", "json_files", "sqlite_files", "arrow_files", "imports", "diff", "watch", "export")}
    assert "crealm.browse.server" in loaded and not late & loaded


def test_the_file_is_opened_while_the_server_is_loaded(tmp_path):
    """The file is read before the first request; an error is reported to the first request, not by the command."""
    from crealm.browse.files import File

    path = tmp_path / "people.realm"
    with crealm.open(path, schema=[PERSON]):
        pass
    file = File(str(path))
    file.prepare()
    assert file._current is not None and file._current.database.classes == ["Person"]
    file.close()
    path.write_bytes(b"no realm file at all, and long enough for a header")
    File(str(path)).prepare()


def test_what_is_missing_is_told(path):
    with crealm.open(path, schema=[PERSON]):
        pass
    program = f"import sys; sys.modules['uvicorn'] = None; from crealm.cli import main; sys.exit(main(['browse', {str(path)!r}]))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 1 and 'pip install "crealm[browse]"' in done.stderr and "Traceback" not in done.stderr


def test_the_page_is_there():
    """The page has each module that another one imports, and loads nothing from other servers."""
    modules = {file.name: file.read_text(encoding="utf-8") for file in STATIC.glob("*.js")}
    assert "app.js" in modules and (STATIC / "shell.html").is_file()
    for name, text in modules.items():
        imported = [line.split('"')[1] for line in text.splitlines() if line.startswith("import ") or line.startswith("} from")]
        assert all(one.startswith("./") and one[2:] in modules for one in imported), name
        for sink in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "DOMParser", "createContextualFragment"):
            assert sink not in text, (name, sink)


def test_a_file_that_is_not_there(tmp_path):
    pytest.importorskip("uvicorn", reason="uvicorn is not there")
    done = run("--no-open", tmp_path / "nothing.realm")
    assert done.returncode == 1 and "No such file" in done.stderr and done.stdout == ""


def test_from_the_command_to_the_end(path):
    """The command prints an address, answers requests with its token, and ends with Ctrl-C; it leaves nothing in the folder."""
    pytest.importorskip("uvicorn", reason="uvicorn is not there")
    pytest.importorskip("starlette", reason="starlette is not there")
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db["Person"].create(1, name="Ann")
    Path(f"{path}.lock").unlink(missing_ok=True)
    before = sorted(os.listdir(path.parent))
    process = subprocess.Popen([sys.executable, "-m", "crealm", "browse", "--no-open", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address, token = process.stdout.readline().strip().split("/?token=")
    with urlopen(Request(f"{address}/{path.name}.json", headers={"Authorization": f"Bearer {token}"})) as answer:
        assert json.load(answer)["classes"][0]["name"] == "Person"
    with pytest.raises(HTTPError) as refused:
        urlopen(f"{address}/{path.name}.json")
    assert refused.value.code == 401
    refused.value.close()
    assert sorted(os.listdir(path.parent)) == before
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=20)
    assert out == "" and error == "" and process.returncode == 0
    assert sorted(os.listdir(path.parent)) == before


def test_answers_are_not_held_back():
    pytest.importorskip("uvicorn", reason="uvicorn is not there")
    pytest.importorskip("starlette", reason="starlette is not there")
    from crealm.browse.server import listening

    with listening("127.0.0.1", 0) as channel:
        assert channel.proto == socket.IPPROTO_TCP  # asyncio sets TCP_NODELAY only for this protocol number.


def test_other_machines_need_a_password(path):
    pytest.importorskip("uvicorn", reason="uvicorn is not there")
    pytest.importorskip("starlette", reason="starlette is not there")
    with crealm.open(path, schema=[PERSON]):
        pass
    refused = run("--no-open", "--host", "0.0.0.0", path)
    assert refused.returncode == 1 and "--password" in refused.stderr and refused.stdout == ""
    short = path.parent / "short"
    short.write_text("1234567\n")
    refused = run("--no-open", "--host", "0.0.0.0", "--password-file", short, path)
    assert refused.returncode == 1 and "at least 8" in refused.stderr
    refused = run("--no-open", "--edit", "--immutable", path)
    assert refused.returncode == 1 and "--immutable" in refused.stderr


@pytest.mark.parametrize("is_secure", [False, True])
def test_other_machines_are_answered(path, is_secure):
    """Requests to another address of this machine are answered; with a certificate there is no warning about readable traffic."""
    pytest.importorskip("uvicorn", reason="uvicorn is not there")
    pytest.importorskip("starlette", reason="starlette is not there")
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db["Person"].create(1, name="Ann")
    secret, certificate = path.parent / "secret", path.parent / "both.pem"
    secret.write_text("open sesame\n")
    options = ["--no-open", "--host", "0.0.0.0", "--password-file", str(secret)]
    if is_secure:
        made = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-keyout", str(path.parent / "key.pem"),
             "-out", str(certificate), "-days", "2"], capture_output=True)  # fmt: skip
        if made.returncode:
            pytest.skip("no openssl")
        options += ["--tls-cert", str(certificate), "--tls-key", str(path.parent / "key.pem")]
    process = subprocess.Popen(
        [sys.executable, "-m", "crealm", "browse", *options, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    address, token = process.stdout.readline().strip().split("/?token=")
    scheme = "https" if is_secure else "http"
    assert address.startswith(f"{scheme}://0.0.0.0:")
    context = ssl.create_default_context(cafile=str(certificate)) if is_secure else None
    if context is not None:
        context.check_hostname = False
    near = address.replace("0.0.0.0", "127.0.0.1")
    try:
        with urlopen(Request(f"{near}/{path.name}.json", headers={"Authorization": f"Bearer {token}"}), context=context) as answer:
            assert json.load(answer)["classes"][0]["name"] == "Person"
        with pytest.raises(HTTPError) as refused:
            urlopen(Request(f"{near}/{path.name}", headers={"Accept": "text/html"}), context=context)
        assert refused.value.code == 401 and b"<form" in refused.value.read()
        refused.value.close()
    finally:
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=20)
    assert ("--tls-cert encrypts it" in error) is not is_secure and process.returncode == 0


def test_clients_that_leave_are_nothing_to_speak_of(path):
    """Clients leave in the middle of a request or an answer: nothing is printed, and no download stays on the disk."""
    pytest.importorskip("uvicorn", reason="uvicorn is not there")
    pytest.importorskip("starlette", reason="starlette is not there")
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db.add_many("Person", ({"id": number, "name": "Ann" * 40} for number in range(20_000)))
    folder = path.parent / "temporary"
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "crealm", "browse", "--no-open", "--edit", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(folder)})  # fmt: skip
    address, token = process.stdout.readline().strip().split("/?token=")
    port = int(address.rpartition(":")[2])
    head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"
    for number in range(60):
        with socket.create_connection(("127.0.0.1", port)) as client:
            if number % 2:
                client.sendall(f"POST /{path.name}/edit HTTP/1.1\r\n{head}Content-Length: 1000\r\n\r\n{{".encode())
            else:
                client.sendall(f"GET /{path.name}/class/Person?download=csv HTTP/1.1\r\n{head}\r\n".encode())
                client.recv(100 if number % 4 else 1)
    watching = socket.create_connection(("127.0.0.1", port))  # This connection stays open until the end.
    watching.sendall(f"GET /{path.name}/events HTTP/1.1\r\n{head}\r\n".encode())
    assert b"200 OK" in watching.recv(100)
    end = time.monotonic() + 20
    while list(folder.iterdir()) and time.monotonic() < end:
        time.sleep(0.05)
    assert list(folder.iterdir()) == []
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=20)
    watching.close()
    assert out == "" and error == "" and process.returncode == 0
