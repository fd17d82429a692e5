"""Attacks on the Browser: connections, passwords, requests that two servers would read in two ways, files that are replaced, names that are HTML,
queries that do not end, many requests at a time. The server keeps running, reports what is wrong, and afterwards shows the data of the file."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

import crealm
import pytest
import samples
from conftest import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}


class Target:
    """`crealm browse`, asked without a web client."""

    def __init__(self, *files, options=()):
        command = [sys.executable, "-m", "crealm", "browse", "--no-open", *map(str, options), *map(str, files)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.port, self.token = re.fullmatch(r"https?://[^/]*:(\d+)/\?token=(\S+)\s*", self.process.stdout.readline()).groups()
        self.port = int(self.port)
        self.host = f"Host: 127.0.0.1:{self.port}\r\n"
        self.known = f"{self.host}Authorization: Bearer {self.token}\r\n"

    def ask(self, *parts, body=None, **options):
        """The status and the JSON of an answer."""
        path = "/" + "/".join(quote(str(part), safe="") for part in parts) + ("" if body is not None else ".json")
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        try:
            with urlopen(Request(f"http://127.0.0.1:{self.port}{path}?{urlencode(options, doseq=True)}", data, head), timeout=60) as answer:
                return answer.status, json.load(answer)
        except HTTPError as error:
            with error:
                return error.code, json.load(error)

    def connected(self, source="127.0.0.1"):
        found = socket.create_connection(("127.0.0.1", self.port), source_address=(source, 0))
        found.settimeout(60)
        return found

    def raw(self, *data, source="127.0.0.1"):
        """All that is answered to bytes, until the server closes the connection."""
        parts = []
        with self.connected(source) as channel:
            try:
                for part in data:
                    channel.sendall(part)
                while part := channel.recv(1 << 16):
                    parts.append(part)
            except ConnectionError:
                pass  # It was closed before all of it was sent.
        return b"".join(parts)

    def of_system(self, name):
        return f"/proc/{self.process.pid}/{name}"

    @property
    def memory(self):
        """Bytes."""
        with open(self.of_system("status")) as file:
            return 1024 * int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])

    @property
    def descriptors(self):
        return len(os.listdir(self.of_system("fd")))

    def end(self):
        """What it said besides the address. It must still be there."""
        assert self.process.poll() is None, self.process.stderr.read()
        self.process.terminate()
        return self.process.communicate(timeout=20)[1]


@contextmanager
def target(*files, options=()):
    made = Target(*files, options=options)
    try:
        yield made
    except BaseException:
        made.process.kill()
        made.process.communicate()
        raise
    assert made.end() == ("" if "--host" not in options else made.said)


@pytest.fixture
def town(tmp_path):
    samples.town(tmp_path / "town.realm", 300)
    return tmp_path / "town.realm"


@pytest.fixture
def open_target(town):
    """One that listens to other machines."""
    (town.parent / "secret").write_text("open sesame\n")
    (town.parent / "secret").chmod(0o600)
    with target(town, options=("--edit", "--host", "0.0.0.0", "--password-file", town.parent / "secret")) as made:
        made.said = "crealm: the password, and everything that is shown, can be read on the network on its way: --tls-cert encrypts it\n"
        yield made


# ------------------------------------------------------------------------------------------------
# The network
# ------------------------------------------------------------------------------------------------


def statuses(answered):
    return [int(one) for one in re.findall(rb"^HTTP/1\.1 (\d+)", answered, re.M)]


def test_requests_that_two_servers_would_read_in_two_ways(open_target):
    post = f"POST /town.realm/undo HTTP/1.1\r\n{open_target.known}Content-Type: application/json\r\n"
    for head, body, status in (
        ("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n", 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n", "0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n", 400),
        ("Content-Length: 2\r\nContent-Length: 4\r\n", "{}ab", 400),
        ("Content-Length: +2\r\n", "{}", 400),
        ("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n", 400),
        ("Transfer-Encoding : chunked\r\n", "0\r\n\r\n", 400),
        (" folded: x\r\nContent-Length: 2\r\n", "{}", None),
        ("Host: evil.example\r\nContent-Length: 2\r\n", "{}", 400),
        ("Authorization: Bearer x\r\nContent-Length: 2\r\nConnection: close\r\n", "{}", 403),
        ("X-Forwarded-Proto: https\r\nOrigin: https://127.0.0.1:%d\r\nContent-Length: 2\r\nConnection: close\r\n" % open_target.port, "{}", 403),
        ("X: " + "x" * 200_000 + "\r\n", "", 400),
        ("".join(f"X{number}: x\r\n" for number in range(20_000)), "", 400),
    ):  # fmt: skip
        found = statuses(open_target.raw((post + head + "\r\n" + body).encode()))
        assert len(found) == 1 and (found == [status] or status is None and found[0] >= 400), (head[:60], found)
    long = b"GET /" + b"a" * 1_000_000 + b" HTTP/1.1\r\n\r\n"
    for garbage in (os.urandom(5000) + b"\r\n\r\n", b"\x16\x03\x01" + os.urandom(200), long, b"\n" * 99):
        assert statuses(open_target.raw(garbage)) in ([], [400])
    assert open_target.ask("town.realm")[0] == 200


def test_connections_that_ask_for_nothing_are_closed(open_target, town):
    """Also those that send a byte now and then. Who asks for something is answered meanwhile, and what listens is left alone."""
    events = open_target.connected()
    events.sendall(f"GET /town.realm/events HTTP/1.1\r\n{open_target.known}\r\n".encode())
    assert b"200 OK" in events.recv(100)
    before = open_target.descriptors
    idle = [open_target.connected() for _ in range(700)]
    for number, one in enumerate(idle):
        try:
            one.sendall([b"", b"GET / HT", f"GET /-/files.json HTTP/1.1\r\n{open_target.known}\r\nGET".encode()][number % 3])
        except ConnectionError:
            pass
    for _ in range(3):
        assert open_target.ask("town.realm")[0] == 200
    assert open_target.descriptors < before + 300
    end = time.monotonic() + 60
    while open_target.descriptors > before and time.monotonic() < end:
        for one in idle[1::3]:
            try:
                one.sendall(b"P")
            except ConnectionError:
                pass
        time.sleep(0.5)
    assert open_target.descriptors <= before
    with crealm.open(town) as db, db.write():
        db["Pet"].create(crealm.ObjectId())
    found = b""
    while b'"inserted": 1' not in found:
        found += events.recv(1 << 16)
    for one in (events, *idle):
        one.close()


def attempt(made, password):
    body = urlencode({"password": password})
    return (
        f"POST /-/login HTTP/1.1\r\n{made.host}Origin: http://127.0.0.1:{made.port}\r\nConnection: close\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}").encode()  # fmt: skip


def test_who_tries_many_passwords_keeps_nobody_out(open_target):
    """They wait for each other, a second each, and no more than a few of them; somebody elsewhere enters the right one meanwhile."""
    tries = []
    for number in range(60):
        tries.append(open_target.connected("127.0.0.5"))
        tries[-1].sendall(attempt(open_target, f"wrong {number}"))
    refused = [statuses(one.recv(1 << 16)) for one in tries[20:]]
    assert refused == [[429]] * 40
    assert statuses(open_target.raw(attempt(open_target, "open sesame"), source="127.0.0.9")) == [303]
    assert statuses(open_target.raw(attempt(open_target, "open sesame"), source="127.0.0.5")) == [429]
    for one in tries:
        one.close()


def test_the_password_is_nowhere(open_target):
    with open(open_target.of_system("cmdline")) as words, open(open_target.of_system("environ")) as variables:
        assert not any(secret in text for text in (words.read(), variables.read()) for secret in ("sesame", open_target.token))
    cookie = re.search(rb"set-cookie: ([^;]+)", open_target.raw(attempt(open_target, "open sesame")))[1].decode()
    assert "sesame" not in cookie and open_target.token not in cookie
    ask = "GET /town.realm.json HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    right = {"host": f"127.0.0.1:{open_target.port}", "cookie": cookie}
    assert statuses(open_target.raw(ask.format(**right).encode())) == [200]
    for wrong, status in (
        ({"host": "evil.example"}, 421), ({"host": f"127.0.0.1:{open_target.port + 1}"}, 421), ({"cookie": cookie[:-1]}, 401),
        ({"cookie": cookie.replace(str(open_target.port), str(open_target.port + 1))}, 401), ({"cookie": "x=" + cookie.partition("=")[2]}, 401),
    ):  # fmt: skip
        assert statuses(open_target.raw(ask.format(**{**right, **wrong}).encode())) == [status]


def certificate(folder, name, *more):
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-subj", "/CN=localhost", "-days", "2", "-keyout", folder / f"{name}.key",
         "-out", folder / f"{name}.pem", *(more or ["-nodes"])], capture_output=True)  # fmt: skip
    if made.returncode:
        pytest.skip("no openssl")


def test_certificates_that_are_none(town):
    """They are told before anything is printed that somebody might open."""
    folder = town.parent
    certificate(folder, "one")
    certificate(folder, "other")
    certificate(folder, "locked", "-passout", "pass:secret")
    (folder / "bad.pem").write_text("garbage")
    (folder / "folder").mkdir()
    for chosen, key, said in (
        ("nothing.pem", None, "No such file"), ("bad.pem", None, "in PEM"), ("one.pem", "other.key", "belong together"), ("one.pem", None, "in PEM"),
        ("one.pem", "nothing", "No such file"), ("locked.pem", "locked.key", "passphrase"), ("folder", None, "directory"),
        (None, "one.key", "--tls-cert"),
    ):  # fmt: skip
        options = [*(("--tls-cert", folder / chosen) if chosen else ()), *(("--tls-key", folder / key) if key else ())]
        command = [sys.executable, "-m", "crealm", "browse", "--no-open", *options, town]
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, stdin=subprocess.DEVNULL, timeout=60)
        assert done.returncode == 1 and done.stdout == "" and said in done.stderr and "Traceback" not in done.stderr, (chosen, key, done.stderr)
    for port in ("65536", "x"):
        command = [sys.executable, "-m", "crealm", "browse", "--no-open", "--port", port, town]
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
        assert done.returncode == 2 and "invalid port" in done.stderr and done.stdout == ""


# ------------------------------------------------------------------------------------------------
# Files
# ------------------------------------------------------------------------------------------------

PAGES = [["town.realm"], ["town.realm", "class", "Person"], ["town.realm", "class", "Trip", 5], ["town.realm", "check"], ["town.realm", "space"]]


def gone(path):
    path.unlink()


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder(path):
    path.unlink()
    path.mkdir()


def nowhere(path):
    path.unlink()
    path.symlink_to("nowhere")


def itself(path):
    path.unlink()
    path.symlink_to(path.name)


def empty(path):
    os.truncate(path, 0)


def half(path):
    os.truncate(path, path.stat().st_size // 2)


def garbage(path):
    with open(path, "r+b") as file:
        file.write(os.urandom(5000))


@pytest.mark.parametrize("way", ["snapshot", "shared", "immutable"])
def test_files_that_become_something_else(town, way):
    """While pages ask: each is answered, with what was there or with what is wrong. Another file in that place is shown."""
    samples.town(town.parent / "other.realm", 20)
    good = (town.parent / "other.realm").read_bytes()
    content = town.read_bytes()
    for become in (gone, pipe, folder, nowhere, itself, empty, half, garbage):
        with target(town, options=("--way", way)) as made:
            assert all(made.ask(*page)[0] == 200 for page in PAGES[:3])
            become(town)
            for page in PAGES:
                status, found = made.ask(*page)
                assert status == 200 and page[0] == "town.realm" or found["error"]["message"], (become.__name__, page, status)
            if become is folder:
                town.rmdir()
            (town.parent / "new").write_bytes(good)
            os.replace(town.parent / "new", town)
            status, found = made.ask("town.realm", "class", "Person")
            assert status == 200 and found["total"] == 20 and "problem" not in found, (become.__name__, found)
        for lock in town.parent.glob("town.realm.*"):
            shutil.rmtree(lock) if lock.is_dir() else lock.unlink()
        town.write_bytes(content)


def test_names_of_files(town):
    """Quotes, line ends, markup, two of one name, a symbolic link, names that mean something in addresses."""
    names = ['a"b\n<img src=x onerror=alert(1)>\'.realm', "-.realm", "%2e.realm", "x.json", "~", "a b?c#d&e;f.realm", "\u202egpj.realm", "--.realm"]
    paths = []
    for name in ("one/same.realm", "two/same.realm", *names):
        (town.parent / name).parent.mkdir(exist_ok=True)
        shutil.copy(town, town.parent / name)
        paths.append(town.parent / name)
    (town.parent / "link.realm").symlink_to("one/same.realm")
    with target(*paths, town.parent / "link.realm") as made:
        found = [one["name"] for one in made.ask("-", "files")[1]["files"]]
        assert len(set(found)) == len(paths) + 1 and not any("\n" in name for name in found)
        from crealm.browse import addresses

        for name in found:
            path = addresses.path([name, "class", "Person"]) + ".json?count=1"
            assert b'"total":300' in made.raw(f"GET {path} HTTP/1.1\r\n{made.known}Connection: close\r\n\r\n".encode()), name
    for name in ("pipe", "folder", "nowhere"):
        place = town.parent / name
        os.mkfifo(place) if name == "pipe" else place.mkdir() if name == "folder" else None
        command = [sys.executable, "-m", "crealm", "browse", "--no-open", place]
        done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=60)
        assert done.returncode == 1 and "No such file" in done.stderr and done.stdout == ""


def test_two_browsers_edit_one_file(town):
    """Together they count as far as one would: a change that saw the value before is refused with 409, and made again. Both are read meanwhile."""
    with target(town, options=("--edit",)) as one, target(town, options=("--edit", "--way", "shared")) as other:
        refused, wrong = [], []

        def count(made):
            for _ in range(15):
                while True:
                    status, found = made.ask("town.realm", "class", "Person", 1, "height")
                    value = float(json.loads(found["edit"]["json"]) or 0) if status == 200 else 0
                    mark, written = found["edit"]["mark"], json.dumps(value + 1)
                    change = {"do": "set", "class": "Person", "key": 1, "path": ["height"], "json": written, "mark": mark}
                    status, found = made.ask("town.realm", "edit", body={"changes": [change]})
                    if status == 200:
                        break
                    refused.append(status)
            for _ in range(20):
                status, found = made.ask("town.realm", "class", "Person")
                if status != 200 or found["total"] != 300:
                    wrong.append(found)

        with crealm.open(town) as db, db.write():
            db["Person"].get(1).height = 0.0
        threads = [threading.Thread(target=count, args=(made,)) for made in (one, other, one, other)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(120)
            assert not thread.is_alive()
        for made in (one, other):
            assert json.loads(made.ask("town.realm", "class", "Person", 1, "height")[1]["edit"]["json"]) == 60
        assert set(refused) <= {409} and not wrong
    with crealm.open(town) as db:
        assert db["Person"].get(1).height == 60 and not db.verify()


# ------------------------------------------------------------------------------------------------
# Much of it
# ------------------------------------------------------------------------------------------------


def together(functions):
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive()


def test_who_leaves_ends_nobody_elses_work(town):
    """Facets, explanations and rows of one question, many at a time, while others that ask the same go away."""
    found, leaving = [], threading.Event()
    with target(town) as made:
        def leave():
            while not leaving.is_set():
                for page in ("facets/Trip/km", "explain/Trip", "class/Trip"):
                    with made.connected() as channel:
                        options = urlencode({"where": "km >= 0 AND who.name LIKE '*a*'", "from": time.time_ns() % 50})
                        channel.sendall(f"GET /town.realm/{page}.json?{options} HTTP/1.1\r\n{made.known}\r\n".encode())
                        time.sleep(0.3)

        def stay():
            for number in range(10):
                for page in (("facets", "Trip", "km"), ("explain", "Trip"), ("class", "Trip")):
                    options = {"where": "km >= 0 AND who.name LIKE '*a*'", "from": time.time_ns() % 50}
                    found.append(made.ask("town.realm", *page, **options)[0])

        away = [threading.Thread(target=leave) for _ in range(3)]
        for one in away:
            one.start()
        try:
            together([stay] * 6)
        finally:
            leaving.set()
            for one in away:
                one.join(30)
    assert found == [200] * 180


def test_queries_that_take_minutes(town):
    """As many as there are threads: they are ended when nobody waits for them any more, and the next one is answered."""
    where = f"ANY {18 * 'friends.'}name == 'nobody'"  # Each way from one to another, a quarter of a million of them for each person.
    with target(town) as made:
        channels = [made.connected() for _ in range(8)]
        for number, channel in enumerate(channels):
            options = urlencode({"where": f"{where} AND id != {number}"})
            channel.sendall(f"GET /town.realm/class/Person.json?{options} HTTP/1.1\r\n{made.known}\r\n".encode())
        time.sleep(0.5)
        for channel in channels:
            channel.close()
        status, found = made.ask("town.realm", "class", "Person", where="id < 10")  # Within the twenty seconds that it has.
        assert status == 200 and found["total"] == 10


def test_many_at_a_time_need_little_memory(town):
    with target(town) as made:
        made.ask("town.realm", "class", "Person", count=50)
        before, found = made.memory, []

        def ask(number):
            status, page = made.ask("town.realm", "class", "Person", count=50, where=f"id >= {number}")
            found.append(status == 200 and len(page["rows"]) == 50 and page["total"] == 300 - number)

        together([lambda number=number: ask(number) for number in range(200)])
        assert found == [True] * 200 and made.memory < before + (150 << 20)


def test_cells_of_any_length_are_pasted(tmp_path):
    """Several at a time: the module csv has one limit for all threads."""
    path = tmp_path / "notes.realm"
    with crealm.open(path, schema=[crealm.ClassSchema("Note", {"id": int, "text": str}, primary_key="id")]):
        pass
    with target(path, options=("--edit",)) as made:
        found = []

        def paste(number):
            separator, form = ("\t", "tsv") if number % 2 else (",", "csv")
            text = f"id{separator}text\n" + "".join(f"{100 * number + row}{separator}{'x' * (200_000 + row)}\n" for row in range(4))
            found.append(made.ask("notes.realm", "rows", body={"class": "Note", "format": form, "text": text}))

        together([lambda number=number: paste(number) for number in range(8)])
        assert [status for status, _ in found] == [200] * 8, found
    with crealm.open(path) as db:
        assert sorted(len(one.text) for one in db["Note"]) == sorted(200_000 + row for row in range(4) for _ in range(8))


def test_ten_thousand_properties_whose_names_are_markup(client, tmp_path):
    path = tmp_path / "wide.realm"
    marks = ["<script>hit()</script>", "<img src=x onerror=hit()>", "'\"><svg onload=hit()>", "{{hit()}}", "javascript:hit()", "\u202e</td>"]
    names = [f"{marks[number % len(marks)]}{number}" for number in range(10_000)]
    with crealm.open(path, schema=[crealm.ClassSchema("<b>Wide", {name: int for name in names})]) as db, db.write():
        db["<b>Wide"].create(**{names[0]: 7, names[-1]: 8})
    made = Target(path)
    context = client.new_context()
    try:
        page, errors = context.new_page(), []
        page.add_init_script("window.hit = () => { window.wasHit = true; }")
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"http://127.0.0.1:{made.port}/?token={made.token}")
        for place, selector in (("class/%3Cb%3EWide", ".row"), ("class/%3Cb%3EWide/0", ".property"), ("schema", ".declared")):
            page.goto(f"http://127.0.0.1:{made.port}/wide.realm/{place}")
            page.wait_for_selector(selector, state="attached", timeout=120_000)
            assert page.evaluate("window.wasHit === undefined && !document.querySelector('#main img:not(.picture), #main script, #main b')")
        assert page.locator("text=" + marks[0] + "0").count() >= 1 and not errors
    finally:
        context.close()
        assert made.end() == ""
