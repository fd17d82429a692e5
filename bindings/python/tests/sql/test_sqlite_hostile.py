"""The SQLite extension with files and programs that do not behave: clear errors, no crash, no change of the file."""

import hashlib
import os
import sqlite3
import threading

import crealm
import pytest
from crealm import _extension

ITEM = crealm.ClassSchema("Item", {"id": int, "name": str}, primary_key="id")
KEY = bytes(range(64))


def fill(path, count=3000, **secret):
    with crealm.open(path, schema=[ITEM], **secret) as db, db.write():
        db.add_many("Item", [{"id": number, "name": f"n{number}"} for number in range(count)])


def attach(connection, path):
    return connection.execute("SELECT crealm_attach(?)", (str(path),)).fetchone()[0]


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_file_is_not_changed_and_no_lock_file_stays(connection, path):
    fill(path)
    before, beside = digest(path), sorted(os.listdir(path.parent))
    attach(connection, path)
    assert connection.execute("SELECT count(*), max(name) FROM Item").fetchone() == (3000, "n999")
    with pytest.raises(sqlite3.OperationalError, match="may not be modified"):
        connection.execute("DELETE FROM Item")
    assert digest(path) == before and sorted(os.listdir(path.parent)) == beside


def test_each_statement_sees_the_newest_version_and_only_that(connection, path):
    fill(path, 10)
    attach(connection, path)
    db = crealm.open(path, mode="rw")

    def add():
        with db.write():
            db["Item"].create(1000 + len(db["Item"]), name="new")
        return 0

    connection.create_function("add_one", 0, add)
    text = "SELECT (SELECT count(*) FROM Item), add_one(), (SELECT count(*) FROM Item a JOIN Item b ON a.id = b.id)"
    assert connection.execute(text).fetchone() == (10, 0, 10)
    assert connection.execute(text).fetchone() == (11, 0, 11)
    db.close()


def test_a_missing_file_and_what_is_no_file(connection, tmp_path):
    for place, message in (("none.realm", "No such file"), ("", "no regular file")):
        with pytest.raises(sqlite3.OperationalError, match=message):
            attach(connection, tmp_path / place)
    assert os.listdir(tmp_path) == []


def test_a_file_that_is_deleted_meanwhile(connection, path):
    fill(path)
    attach(connection, path)
    rows = connection.execute("SELECT name FROM Item")
    assert rows.fetchone() == ("n0",)
    os.remove(path)
    assert len(rows.fetchall()) == 2999
    with pytest.raises(sqlite3.OperationalError, match="No such file"):
        connection.execute("SELECT name FROM Item").fetchall()
    assert not path.exists()


@pytest.mark.parametrize("part", range(8))
def test_a_damaged_file(connection, tmp_path, part):
    path = tmp_path / "damaged.realm"
    fill(path)
    data = bytearray(path.read_bytes())
    size = len(data)
    for at in range(24 + part * size // 8, min(size, 24 + (part + 1) * size // 8), 5):
        data[at] ^= 0xA5
    path.write_bytes(bytes(data))
    # A class and its texts may still be readable.
    try:
        if attach(connection, path):
            connection.execute(
                "SELECT sum(id), max(name) FROM Item WHERE name > 'a' ORDER BY name LIMIT 5"
            ).fetchall()
    except sqlite3.DatabaseError as error:
        assert str(error)


def test_keys(connection, path):
    file = path.parent / "secret.realm"
    fill(file, key=KEY)
    with pytest.raises(sqlite3.DatabaseError):
        attach(connection, file)
    connection.execute("SELECT crealm_key(?, ?)", (str(file), bytes(64)))
    with pytest.raises(sqlite3.DatabaseError):
        attach(connection, file)
    assert connection.execute("SELECT crealm_key(?, ?)", (str(file), KEY.hex())).fetchone() == (1,)
    assert attach(connection, file) == 1
    for _ in range(3):
        assert connection.execute("SELECT count(*) FROM Item").fetchone() == (3000,)
    with pytest.raises(sqlite3.OperationalError, match="a key is"):
        connection.execute("SELECT crealm_key('x', 'y')")


def test_a_passphrase(connection, tmp_path):
    path = tmp_path / "phrase.realm"
    fill(path, 10, passphrase="open sesame")
    connection.execute("SELECT crealm_passphrase(?, 'open sesame')", (str(path),))
    assert attach(connection, path) == 1
    assert connection.execute("SELECT name FROM Item WHERE id = 7").fetchone() == ("n7",)


def test_a_class_that_is_removed(connection, path):
    fill(path, 10)
    attach(connection, path)
    text = "SELECT count(*) FROM Item"
    assert connection.execute(text).fetchone() == (10,)
    other = crealm.ClassSchema("Other", {"id": int}, primary_key="id")
    crealm.open(
        path, schema=[other], schema_version=1, migrate=lambda old, new, version: new.remove_class("Item")
    ).close()
    with pytest.raises(sqlite3.OperationalError, match="class Item is no longer"):
        connection.execute(text).fetchone()


def test_an_interrupt_ends_a_scan(connection, path):
    fill(path, 200)
    attach(connection, path)
    connection.set_progress_handler(lambda: 1, 100000)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        connection.execute("SELECT count(*) FROM Item a, Item b, Item c, Item d").fetchone()
    connection.set_progress_handler(None, 0)
    assert connection.execute("SELECT count(*) FROM Item").fetchone() == (200,)


def test_each_thread_gets_the_extension(path):
    fill(path)
    failures = []

    def work():
        try:
            for _ in range(200):
                own = _extension.connect()
                own.execute("SELECT crealm_attach(?)", (str(path),))
                own.close()
        except BaseException as error:  # noqa: B036
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_connections_on_threads_and_open_statements_at_the_end(connection, path):
    fill(path)
    failures = []

    def work():
        try:
            own = _extension.connect()
            attach(own, path)
            for _ in range(50):
                assert own.execute("SELECT count(*), sum(id) FROM Item").fetchone() == (3000, 2999 * 1500)
            own.execute("SELECT name FROM Item").fetchone()  # not read to its end
            own.close()
        except BaseException as error:  # noqa: B036
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_wrong_arguments(connection, path):
    fill(path, 1)
    for arguments, message in (
        ("", "path and a class"), (f"'{path}'", "path and a class"), (f"'{path}', 'Nope'", "no class Nope"),
        (f"'{path}', 'Item', key=12", "128 hexadecimal"), (f"'{path}', 'Item', mode=odd", "mode is live"),
        (f"'{path}', 'Item', odd=1", "unknown option"),
    ):  # fmt: skip
        with pytest.raises(sqlite3.OperationalError, match=message):
            connection.execute(f"CREATE VIRTUAL TABLE wrong USING crealm({arguments})")


def test_the_shell(shell, path):
    fill(path, 5)
    done = shell(f"SELECT crealm_attach('{path}');", "SELECT name FROM Item ORDER BY id DESC LIMIT 2;")
    assert (done.stdout.split(), done.returncode) == (["1", "n4", "n3"], 0), done.stderr
