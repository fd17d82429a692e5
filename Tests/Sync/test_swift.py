"""Programs in Swift (examples/swift/sync) and in Python share objects through a real PostgreSQL: the Swift programs by an
HTTP gateway, the Python ones by a connection or the gateway.

Skipped, with one line, where PostgreSQL, psycopg or the Swift program is missing. CREALM_SWIFT_SYNC names the program;
without it, that of the debug or release build is used.
"""

from __future__ import annotations

import os
import pathlib
import queue
import random
import signal
import subprocess
import sys
import threading
import time
from typing import Any, List, Optional

import pytest

sys.path.insert(0, os.path.dirname(__file__))
import crealm
import server as servers
from crealm.sync import HTTPTransport, hub

if servers.missing():
    pytest.skip(f"needs {servers.missing()}", allow_module_level=True)

from gateway import Gateway, send, token

BUILD = pathlib.Path(__file__).resolve().parents[2] / ".build"


def program() -> Optional[str]:
    named = os.environ.get("CREALM_SWIFT_SYNC")
    places = [named] if named else [str(BUILD / kind / "realm-swift-sync") for kind in ("debug", "release")]
    return next((place for place in places if os.access(place, os.X_OK)), None)


PROGRAM = program()
if PROGRAM is None:
    pytest.skip("needs realm-swift-sync (swift build --product realm-swift-sync)", allow_module_level=True)

ARTICLE = crealm.ClassSchema("Article", {"name": str, "amount": int, "isDone": bool}, primary_key="name")


class Program:
    """The Swift program: a process that obeys commands."""

    def __init__(self, file: Any, address: str, **environment: str) -> None:
        assert PROGRAM is not None
        self.process = subprocess.Popen(
            [PROGRAM, str(file), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        self.events: List[str] = []
        self._lines: "queue.Queue[Optional[str]]" = queue.Queue()
        for target in (self._read, self._listen):
            threading.Thread(target=target, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.events.append(line.rstrip("\n"))

    def ask(self, command: str) -> List[str]:
        """The lines of the answer; the last is `ok` or begins with `error`."""
        assert self.process.stdin is not None
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer: List[str] = []
        while not answer or not (answer[-1] == "ok" or answer[-1].startswith("error")):
            line = self._lines.get(timeout=60)
            if line is None:
                raise EOFError(f"the program ended: {answer} {self.events}")
            answer.append(line)
        return answer

    def do(self, *commands: str) -> None:
        for command in commands:
            assert self.ask(command)[-1] == "ok", command

    def list(self) -> List[str]:
        answer = self.ask("list")
        assert answer[-1] == "ok"
        return answer[:-1]

    def end(self) -> None:
        """Lets the program end by itself."""
        if self.process.poll() is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            assert self.process.wait(60) == 0

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


@pytest.fixture(scope="session")
def server():
    made = servers.Server()
    yield made
    made.remove()


class Bench:
    def __init__(self, server: servers.Server, folder: Any, name: str, **options: Any) -> None:
        self.server, self.folder, self.name = server, folder, name
        self.url = server.database(name)
        self.db = crealm.open(str(folder / "python.realm"), schema=[ARTICLE])
        hub.init(self.url, self.db, **options)
        self.gateways: List[Gateway] = []
        self.programs: List[Program] = []

    def gateway(self, **options: Any) -> Gateway:
        made = Gateway(options.pop("hub", self.url), **options)
        self.gateways.append(made)
        return made

    def start(self, name: str, address: str, **environment: str) -> Program:
        made = Program(self.folder / f"{name}.realm", address, **environment)
        self.programs.append(made)
        return made

    def sql(self, text: str) -> Any:
        import psycopg

        with psycopg.connect(self.url, autocommit=True) as connection:
            cursor = connection.execute(text)
            return cursor.fetchall() if cursor.description else []

    def rows(self) -> List[str]:
        found = self.sql('SELECT name, amount, "isDone" FROM "Article" ORDER BY name COLLATE "C"')
        return [f"{name} {amount} {'done' if done else 'open'}" for name, amount, done in found]

    def python(self) -> List[str]:
        return sorted(f"{a.name} {a.amount} {'done' if a.isDone else 'open'}" for a in self.db["Article"])

    def close(self) -> None:
        for one in self.programs:
            if one.process.poll() is None:
                one.kill()
        for gateway in self.gateways:
            gateway.stop()
        if not self.db.is_closed:
            self.db.close()


@pytest.fixture
def bench(server, tmp_path, request):
    made = Bench(server, tmp_path, request.node.name[:60])
    yield made
    made.close()


def verify(path: Any) -> None:
    with crealm.open(str(path), schema=[ARTICLE]) as db:
        faults = list(db.verify())
        assert not faults, faults


def test_swift_and_python_share_objects(bench):
    address = bench.gateway().address
    phone, tablet = bench.start("phone", address), bench.start("tablet", address)
    bench.db.sync.enable()
    worker = bench.db.sync.start(bench.url, interval=1)
    phone.do("add milk 2", "add bread 1", "sync")
    tablet.do("sync", "add tea 3", "done milk", "sync")
    with bench.db.write():
        bench.db["Article"].create(name="jam", amount=4)
    assert worker.wait(30)
    phone.do("sync", "drop bread", "sync")
    tablet.do("sync")
    assert worker.wait(30)
    bench.db.refresh()
    wanted = ["jam 4 open", "milk 2 done", "tea 3 open"]
    assert phone.list() == tablet.list() == bench.python() == bench.rows() == wanted
    worker.stop()
    phone.end(), tablet.end()
    for name in ("phone", "tablet"):
        verify(bench.folder / f"{name}.realm")


def test_many_changes_at_a_time(bench):
    """Two Swift programs and a Python one write the same objects without a pause."""
    address = bench.gateway().address
    programs = [bench.start(f"p{i}", address) for i in range(2)]
    bench.db.sync.enable()
    worker = bench.db.sync.start(HTTPTransport(address), interval=1)

    def write(program: Program, seed: int) -> None:
        chance = random.Random(seed)
        for i in range(60):
            name = f"a{chance.randrange(12)}"
            program.ask(chance.choice([f"add {name} 1", f"add {name} 2", f"done {name}", f"drop {name}"]))

    threads = [threading.Thread(target=write, args=(p, i)) for i, p in enumerate(programs)]
    for thread in threads:
        thread.start()
    chance = random.Random(99)
    for i in range(60):
        with bench.db.write():
            found = bench.db["Article"].get(f"a{chance.randrange(12)}")
            if found is not None:
                found.amount = i
        time.sleep(0.01)
    for thread in threads:
        thread.join()
    for _ in range(3):
        for program in programs:
            program.do("sync")
        assert worker.wait(30)
    bench.db.refresh()
    worker.stop()
    assert programs[0].list() == programs[1].list() == bench.python() == bench.rows()
    for program in programs:
        program.end()


def test_a_swift_file_has_a_subset(bench):
    bench.sql("""INSERT INTO "Article" VALUES ('milk', 1, false), ('tea', 2, true), ('jam', 3, false)""")
    program = bench.start("phone", bench.gateway().address)
    program.do("sync")
    assert program.list() == ["jam 3 open", "milk 1 open", "tea 2 done"]
    program.do("open", "sync")
    assert program.list() == ["jam 3 open", "milk 1 open"]
    program.do("done jam", "sync")
    assert program.list() == ["milk 1 open"] and len(bench.rows()) == 3
    program.end()


def test_more_rows_than_a_page_has(bench):
    bench.sql("""INSERT INTO "Article" SELECT 'a' || n, n, false FROM generate_series(1, 12000) n""")
    program = bench.start("phone", bench.gateway().address)
    program.do("sync")
    assert len(program.list()) == 12000
    program.end()


def test_a_gateway_that_goes_and_comes_back(bench):
    gateway = bench.gateway()
    program = bench.start("phone", gateway.address)
    program.do("sync")
    gateway.stop()
    bench.gateways.remove(gateway)
    program.do("add milk 2")
    assert program.ask("sync")[-1].startswith("error: The hub cannot be reached")
    bench.gateway(port=gateway.port)
    for _ in range(200):  # By itself.
        if bench.rows():
            break
        time.sleep(0.1)
    assert bench.rows() == ["milk 2 open"]
    program.end()


def test_answers_that_are_none(bench):
    """The file keeps its changes, and sends each of them once. A redirection is not followed."""
    unreachable, status = "error: The hub cannot be reached", "error: The hub answers with status"
    answers = [
        (lambda request: send(request, 500, b"<html>sorry</html>"), f"{status} 500: <html>sorry</html>"),
        (lambda request: send(request, 307, b"", Location="http://127.0.0.1:1/rpc/hello"), f"{status} 307"),
        (lambda request: send(request, 200, b"<html>"), "error: "),
        (lambda request: None, unreachable),
        (
            lambda request: request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{}"),
            unreachable,
        ),
        (lambda request: send(request, 200, b'{"error": "not now"}'), "error: The hub reports: not now"),
    ]
    current: List[Any] = []

    def before(function: str, request: Any) -> bool:
        for one in current:
            one(request)
            request.close_connection = True
        return bool(current)

    gateway = bench.gateway(before=before)
    program = bench.start("phone", gateway.address)
    program.do("sync", "add milk 1", "sync")
    for i, (answer, text) in enumerate(answers):
        current[:] = [answer]
        program.do(f"add milk {10 ** (i + 1)}")
        found = program.ask("sync")
        assert found[-1].startswith(text), (i, found)
        current.clear()
        program.do("sync")
        assert bench.rows() == program.list() == [f"milk {'1' * (i + 2)} open"]
    program.end()


def test_a_lost_reply_to_a_push(bench):
    """The hub has the batch, and the program does not know it."""
    lost: List[str] = []

    gateway = bench.gateway()
    answer = gateway._answer

    def losing(request: Any) -> None:
        if request.path.endswith("push") and not lost:
            lost.append(request.path)
            body = request.rfile.read(int(request.headers["Content-Length"]))
            assert gateway._result(request, "push", body)[0] == 200
            request.close_connection = True
            return
        answer(request)

    gateway._answer = losing  # type: ignore[method-assign]
    program = bench.start("phone", gateway.address)
    program.do("sync", "add milk 1", "add tea 2")
    while program.ask("sync")[-1] != "ok" or not lost:
        pass
    assert bench.rows() == ["milk 1 open", "tea 2 open"]
    assert bench.sql("SELECT max(batch) FROM crealm.device") in ([(1,)], [(2,)])
    program.end()


def test_killed_programs_lose_nothing(bench):
    """What the program has acknowledged is in the file, and reaches the hub once."""
    address = bench.gateway().address
    chance = random.Random(5)
    acknowledged: List[str] = []
    for round_ in range(8):
        program = bench.start("phone", address)
        for i in range(chance.randint(1, 25)):
            name = f"r{round_}n{i}"
            program.do(f"add {name} {round_}")
            acknowledged.append(f"{name} {round_} open")
        time.sleep(chance.random() * 0.05)
        program.kill()
    last = bench.start("phone", address)
    last.do("sync")
    assert last.list() == bench.rows() == sorted(acknowledged)
    last.end()
    verify(bench.folder / "phone.realm")


def test_persons_see_their_rows(server, tmp_path):
    with server.boss() as connection:
        for role in ("people",):
            connection.execute(
                f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
            )
        connection.execute(f"GRANT people TO {servers.OWNER}")
    made = Bench(server, tmp_path, "persons", owners={"Article": "name"}, role="people")
    try:
        gateway = made.gateway(secret="key")
        ann = made.start("ann", gateway.address, HUB_TOKEN=token("key", {"sub": "ann"}))
        ann.do("add ann 1", "add bob 1")
        for _ in range(3):
            ann.do("sync")
        assert ann.list() == ["ann 1 open"] and any(e.startswith("refused Article") for e in ann.events)
        bob = made.start("bob", gateway.address, HUB_TOKEN=token("key", {"sub": "bob"}))
        bob.do("add bob 7", "sync")
        assert bob.list() == ["bob 7 open"] and made.rows() == ["ann 1 open", "bob 7 open"]
        for environment in ({}, {"HUB_TOKEN": token("other", {"sub": "ann"})}, {"HUB_TOKEN": "x"}):
            nobody = made.start(f"nobody{len(made.programs)}", gateway.address, **environment)
            assert nobody.ask("sync")[-1].startswith("error: The hub answers with status 401")
            nobody.end()
        ann.end(), bob.end()
    finally:
        made.close()
