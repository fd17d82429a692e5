"""Misuse on purpose: closing early, twice and late, collecting garbage in the wrong order, the wrong
thread, a fork. Nothing may crash, each C handle is released exactly once, and the errors describe the
misuse."""

import builtins
import collections
import copy
import ctypes
import gc
import os
import pickle
import subprocess
import sys
import threading
import typing
import warnings
from pathlib import Path

import pytest

import crealm
from conftest import PERSON
from crealm import _handle, _prototypes, _store, objects, opening
from crealm._library import lib

EVERYTHING = crealm.ClassSchema(
    "All",
    {
        "n": int,
        "items": list[int],
        "unique": set[str],
        "pairs": dict[str, int],
        "any": crealm.Prop(object),
        "next": "All",
    },
)


@pytest.fixture
def released(monkeypatch):
    """Counts the open handles of the package and the releases; fails if a new handle has the address of an open one."""
    count = {"open": set(), "released": 0}
    real = lib.realm_release
    real_init = _handle.Handle.__init__

    def init(self, owner, pointer):
        assert pointer not in count["open"]
        count["open"].add(pointer)
        real_init(self, owner, pointer)

    def release(pointer):
        count["open"].discard(pointer)
        count["released"] += 1
        real(pointer)

    monkeypatch.setattr(_handle.Handle, "__init__", init)
    monkeypatch.setattr(lib, "realm_release", release)
    return count


def uses(db, obj):
    """All operations on a database, an object and the values of the object."""
    return {
        "classes": lambda: db.classes,
        "schema": lambda: db.schema,
        "version": lambda: db.version,
        "schema_version": lambda: db.schema_version,
        "table": lambda: db["All"],
        "iter": lambda: list(db),
        "refresh": db.refresh,
        "verify": db.verify,
        "enter": db.__enter__,
        "write": lambda: db.write().__enter__(),
        "read": lambda: obj.n,
        "item": lambda: obj["n"],
        "link": lambda: obj.next,
        "list": lambda: obj.items,
        "assign": lambda: setattr(obj, "n", 1),
        "delete": obj.delete,
        "to_dict": obj.to_dict,
        "backlinks": lambda: obj.backlinks("All", "next"),
        "objects": lambda: db.objects("All"),
        "where on a list": lambda: obj.items.where("n == 1"),
        "max of a list": lambda: obj.items.max(),
        "limit of a set": lambda: obj.unique.limit(1),
        "sum of a dictionary": lambda: obj.pairs.values().sum(),
    }


def opened(path):
    db = crealm.open(path, schema=[EVERYTHING])
    with db.write():
        obj = db["All"].create(n=1)
        obj.next = obj
    return db, obj


def test_close_twice_and_use_after_close(path):
    db, obj = opened(path)
    table, backlinks = db["All"], obj.backlinks("All", "next")
    views = [obj.items, obj.unique, obj.pairs]
    actions = uses(db, obj)
    db.close()
    db.close()
    assert db.is_closed and not db.is_writing and db.path == str(path) and "closed" in repr(db)
    for name, action in actions.items():
        with pytest.raises(crealm.ClosedError, match="closed") as info:
            action()
            pytest.fail(name)
        assert info.value.path == str(path)
    for action in (
        lambda: len(table),
        lambda: table[0],
        lambda: list(table),
        table.first,
        lambda: obj in table,
        lambda: len(backlinks),
        lambda: list(backlinks),
        *(lambda v=v: len(v) for v in views),
        *(lambda v=v: list(v) for v in views),
        *(lambda v=v: 1 in v for v in views),
        lambda: views[0][0],
        lambda: views[2]["k"],
    ):
        with pytest.raises(crealm.ClosedError):
            action()
    assert not obj.is_valid and not obj and obj == obj and hash(obj)
    assert not any(v.is_valid for v in [*views, table, backlinks])
    for thing in (obj, table, backlinks, *views):
        assert "ClosedError" in repr(thing)


def test_context_manager_closes_and_cannot_be_entered_again(path):
    with crealm.open(path, schema=[PERSON]) as db:
        pass
    assert db.is_closed
    with pytest.raises(crealm.ClosedError):
        with db:
            pass


def test_each_handle_is_released_once(path, released):
    db, obj = opened(path)
    for _ in range(3):
        things = [
            db["All"],
            obj.items,
            obj.unique,
            obj.pairs,
            obj.next,
            obj.backlinks("All", "next"),
            *db["All"],
        ]
    assert len(released["open"]) > 6
    things.clear()
    assert len(released["open"]) == 1  # obj
    before = released["released"]
    kept = [db["All"], obj.items, obj.next]
    assert len(released["open"]) == 4
    db.close()
    assert not released["open"] and released["released"] == before + 5  # Including the realm itself.
    del kept, obj, db
    gc.collect()
    assert released["released"] == before + 5


def test_every_handle_that_the_library_gave_is_given_back(path, monkeypatch):
    """Also handles without a Python object: of plans, schemas and migrations."""
    given, back = [], []

    def counted(function):
        def call(*arguments):
            pointer = function(*arguments)
            given.extend([getattr(pointer, "value", pointer)] if pointer else [])
            return pointer

        return call

    for name, result, _, _ in _prototypes.TABLE:
        if result is ctypes.c_void_p and hasattr(lib, name):
            monkeypatch.setattr(lib, name, counted(getattr(lib, name)))
    for shape, (view, get) in list(objects._VIEWS.items()):
        monkeypatch.setitem(objects._VIEWS, shape, (view, counted(get)))
    for shape, (get, clear) in list(_store._COLLECTIONS.items()):
        monkeypatch.setitem(_store._COLLECTIONS, shape, (counted(get), clear))
    for view, _ in objects._VIEWS.values():
        monkeypatch.setattr(view, "_to_results", staticmethod(counted(view._to_results)))
    real = lib.realm_release
    monkeypatch.setattr(lib, "realm_release", lambda pointer: back.append(pointer) or real(pointer))

    class Part(crealm.Embedded):
        names: typing.List[str]

    class Owner(crealm.Model):
        id: int = crealm.field(primary_key=True)
        parts: typing.List[Part]
        part: typing.Optional[Part]
        rooms: typing.Dict[str, Part]
        any: typing.Any
        next: typing.Optional["Owner"]
        tags: typing.Set[int]

    def make(number):
        part = Part(names=["x"])
        owner = Owner(id=number, parts=[part, part], part=part, rooms={"a": part}, any=[{"a": [1]}], tags={1})
        owner.next = owner
        return owner

    with crealm.open(path, schema=[Owner], schema_version=1) as db, db.write():
        owner = db.add(make(1))
        for update in ("all", "modified", "error"):
            try:
                db.add(make(1), update=update)
            except crealm.DuplicateKeyError:
                pass
        db.add_many(Owner, [{"id": 5, "next": {"id": 6, "parts": [{}]}}], update="modified")
        owner.parts[0] = owner.parts[1]
        owner.parts[::2] = [Part()]
        owner.any = {"x": [[]], "y": {}}
        owner.any["x"][0] = {"z": [owner]}
        owner.rooms.update(b=Part(), c=None)
        for bad in ([1, object()], [2, {"a.b": 1}]):
            with pytest.raises(crealm.Error):
                owner.any = bad
        with pytest.raises(crealm.Error):
            db.add(Owner(id=9, any=[object()], next=Owner(id=10)))
        owner.parts.pop(), owner.rooms.popitem(), owner.to_json(3)
        repr(owner), owner == db[Owner][0], list(db[Owner])
        found = db[Owner].where("id > $0 SORT(id ASC)", 0).sort("-id").distinct("id").limit(2)
        list(found), list(reversed(found)), found.snapshot()[0], found.description
        owner in found, found.max("id")
        owner.parts.where("TRUEPREDICATE").delete_all(), owner.tags.max(), owner.any["x"].limit(1)[0]
        owner.rooms.values().where("names == 'x'")[:]
        for bad in ("id ==", "id == $0"):
            with pytest.raises(crealm.QueryError):
                db[Owner].where(bad)
        with pytest.raises(crealm.UsageError):
            found.where("id > 0 LIMIT(1)")
        with pytest.raises(crealm.QueryError):
            found.sort("nothing")

    def migrate(old, new, version):
        for before, after in new.pairs("Owner"):
            after.parts = before.parts
        if version == 2:
            raise InterruptedError

    for version in (2, 3):
        try:
            crealm.open(path, schema=[Owner], schema_version=version, migrate=migrate).close()
        except InterruptedError:
            pass
    del owner, found
    gc.collect()
    assert sorted(given) != [] and collections.Counter(given) == collections.Counter(back)


def test_garbage_in_the_wrong_order(path, released):
    db, obj = opened(path)
    items, following = obj.items, obj.next
    owner = db._owner
    del db, obj
    gc.collect()
    assert following.n == 1 and len(items) == 0  # Objects and collections keep the database open.
    del following
    assert items == [] and not owner.is_closed
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        del items
        gc.collect()
    assert owner.is_closed and not released["open"]
    assert [w.category for w in caught] == [ResourceWarning]


def test_garbage_in_cycles(path):
    db, obj = opened(path)
    ring = {"db": db, "obj": obj, "items": obj.items, "iterator": iter(db["All"])}
    ring["ring"] = ring
    owner = db._owner
    del db, obj, ring
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    assert owner.is_closed and not owner.live


def test_close_while_looping(path):
    db, _ = opened(path)
    with db.write():
        for n in range(600):
            db["All"].create(n=n)
    loop = iter(db["All"])
    next(loop)
    db.close()
    with pytest.raises(crealm.ClosedError):
        next(loop)
    with pytest.raises(StopIteration):
        next(loop)


def test_close_inside_a_write(path):
    db, obj = opened(path)
    with pytest.raises(crealm.ClosedError, match="inside its write"):
        with db.write():
            obj.n = 5
            db.close()
    db, _ = opened(path)
    with pytest.raises(ZeroDivisionError):
        with db.write():
            db["All"][0].n = 5
            db.close()
            1 / 0
    with crealm.open(path) as db:
        assert [o.n for o in db["All"]] == [1, 1]


def test_a_dropped_write_holds_nothing_up(path):
    db, obj = opened(path)
    db.write()  # The block is never entered.
    with crealm.open(path) as other, other.write():
        other["All"][0].n = 2
    loop = abandoned(db)
    next(loop)
    assert db.is_writing
    del loop  # Closing the generator ends its block with an exception.
    assert not db.is_writing
    db.refresh()
    assert obj.n == 2
    db.close()


def abandoned(db):
    with db.write():
        db["All"][0].n = 99
        yield


def test_objects_cannot_be_copied_or_pickled(path):
    db, obj = opened(path)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError):
            attempt(obj)
    assert pickle.loads(pickle.dumps(obj.to_dict())) == obj.to_dict()
    db.close()


# ------------------------------------------------------------------------------------------------
# Threads
# ------------------------------------------------------------------------------------------------


def in_thread(action):
    result = []

    def run():
        try:
            result.append(action())
        except BaseException as error:
            result.append(error)

    thread = threading.Thread(target=run, name="helper")
    thread.start()
    thread.join()
    return result[0]


def test_wrong_thread(path):
    db, obj = opened(path)
    actions = {**uses(db, obj), "close": db.close, "valid": lambda: obj.is_valid}
    for name, action in actions.items():
        error = in_thread(action)
        assert isinstance(error, crealm.WrongThreadError), (name, error)
        assert "helper" in str(error) and "db.clone()" in str(error)
    loop, items = iter(db["All"]), obj.items
    assert isinstance(in_thread(lambda: next(loop)), crealm.WrongThreadError)
    assert isinstance(in_thread(lambda: len(items)), crealm.WrongThreadError)
    assert in_thread(lambda: repr(obj)).endswith("WrongThreadError>")
    assert obj.n == 1 and not db.is_closed
    block = db.write()
    with block:
        obj.n = 2
        assert isinstance(in_thread(lambda: block.__exit__(None, None, None)), crealm.WrongThreadError)
        assert db.is_writing
    assert obj.n == 2
    db.close()


def test_the_library_itself_refuses_the_wrong_thread(path):
    db, obj = opened(path)
    pointer, realm, key = obj._handle.pointer, db._owner.pointer, obj._facts("n").key

    def read():
        from crealm import _marshal

        try:
            _marshal.get_value(pointer, lib.realm_get_value, key)
        except crealm.Error as error:
            codes = [error.code]
        for function in (lib.realm_begin_write, lib.realm_commit):
            assert not function(realm)
            codes.append(_marshal.last_error().code)
        return codes

    assert in_thread(read) == [2006, 2006, 2006]
    db.close()


def test_a_handle_dropped_on_another_thread_is_released_on_its_own(path, released):
    db, obj = opened(path)
    hold = [obj.items, obj.next]
    assert len(released["open"]) == 3
    in_thread(hold.clear)
    assert len(released["open"]) == 3 and len(db._owner.later) == 2
    obj.n
    assert len(released["open"]) == 1 and not db._owner.later
    hold = [obj.items]
    in_thread(hold.clear)
    db.close()
    assert not released["open"]


def test_a_database_dropped_on_another_thread(path):
    hold = list(opened(path))
    owner = hold[0]._owner
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        in_thread(hold.clear)
    assert owner.is_closed
    with crealm.open(path) as db, db.write():
        db["All"][0].n = 3


def test_one_database_for_each_thread(path):
    db, obj = opened(path)
    errors = []

    def work(number):
        try:
            with crealm.open(path) as mine:
                for _ in range(20):
                    with mine.write():
                        mine["All"][0].n += 1
                    assert mine["All"][0].to_dict()["items"] == []
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert obj.n == 1
    db.refresh()
    assert obj.n == 81 and db.verify() == []
    db.close()


# ------------------------------------------------------------------------------------------------
# Processes
# ------------------------------------------------------------------------------------------------


def python(code, *arguments):
    package = Path(crealm.__file__).parents[1]
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        timeout=1800,
    )


def test_a_second_process(path):
    db, obj = opened(path)
    code = (
        "import sys, crealm\n"
        "with crealm.open(sys.argv[1]) as db:\n"
        "    print(db['All'][0].n)\n"
        "    with db.write():\n"
        "        db['All'][0].n = 77\n"
        "        db['All'].create(n=78)\n"
    )
    done = python(code, path)
    assert (done.stdout, done.stderr, done.returncode) == ("1\n", "", 0)
    assert obj.n == 1 and len(db["All"]) == 1
    assert db.refresh() and obj.n == 77 and [o.n for o in db["All"]] == [77, 78]
    with db.write():
        obj.n = 5
    assert python("import sys, crealm; print(crealm.open(sys.argv[1])['All'][0].n)", path).stdout == "5\n"
    db.close()


def test_two_processes_count_together(path):
    db, obj = opened(path)
    code = (
        "import sys, crealm\n"
        "with crealm.open(sys.argv[1]) as db:\n"
        "    for _ in range(50):\n"
        "        with db.write():\n"
        "            db['All'][0].n += 1\n"
    )
    package = Path(crealm.__file__).parents[1]
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)], env={**os.environ, "PYTHONPATH": str(package)}
        )
        for _ in range(2)
    ]
    for _ in range(50):
        with db.write():
            obj.n += 1
    assert [child.wait(120) for child in children] == [0, 0]
    db.refresh()
    assert obj.n == 151
    db.close()


@pytest.mark.parametrize(
    "end",
    [
        "",
        "import os; os._exit(0)",
        "raise SystemExit(0)",
        "block = db.write(); block.__enter__(); obj.n = 9",
        "import gc; ring = [db, obj]; ring.append(ring); del db, obj, ring",
    ],
)
def test_a_program_that_never_closes(path, end):
    opened(path)[0].close()
    code = (
        f"import sys, crealm\ndb = crealm.open(sys.argv[1])\nobj = db['All'][0]\nitems = obj.items\n{end}\n"
    )
    done = python(code, path)
    assert done.returncode == 0 and done.stderr == ""
    with crealm.open(path) as db, db.write():
        assert db["All"][0].n == 1


def test_a_thread_that_ends_with_its_database_open(path):
    code = (
        "import sys, threading, crealm\n"
        "keep = []\n"
        "def work():\n"
        "    db = crealm.open(sys.argv[1])\n"
        "    keep.extend([db, *db['All']])\n"
        "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
        "try:\n"
        "    keep[1].n\n"
        "except crealm.WrongThreadError:\n"
        "    print('refused')\n"
    )
    opened(path)[0].close()
    done = python(code, path)
    assert (done.stdout, done.stderr, done.returncode) == ("refused\n", "", 0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_fork(path):
    code = (
        "import gc, os, sys, crealm\n"
        "db = crealm.open(sys.argv[1])\n"
        "obj = db['All'][0]\n"
        "items = obj.items\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    refused = 0\n"
        "    for action in (lambda: obj.n, lambda: db.classes, lambda: len(items), lambda: db.write().__enter__(), db.refresh):\n"
        "        try:\n"
        "            action()\n"
        "        except crealm.ForkedError:\n"
        "            refused += 1\n"
        "    assert not obj.is_valid and 'ForkedError' in repr(obj)\n"
        "    db.close()\n"
        "    from crealm import _handle\n"
        "    release, released = _handle.lib.realm_release, []\n"
        "    _handle.lib.realm_release = released.append\n"
        "    del obj, items, db\n"
        "    gc.collect()\n"
        "    assert released == []\n"  # Only the parent releases its handles.
        "    _handle.lib.realm_release = release\n"
        "    with crealm.open(sys.argv[1] + '2', mode='rwc') as other:\n"
        "        assert other.verify() == []\n"
        "    with crealm.open(sys.argv[1]) as again:\n"
        "        with again.write():\n"
        "            again['All'][0].n = 7\n"
        "        assert again.verify() == []\n"
        "    os._exit(refused)\n"
        "code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])\n"
        "db.refresh()\n"
        "seen = obj.n\n"
        "with db.write():\n"
        "    obj.n = 6\n"
        "print(code, seen, obj.n, len(items))\n"
        "assert db.verify() == []\n"
        "db.close()\n"
    )
    opened(path)[0].close()
    done = python(code, path)
    assert (done.stdout, done.stderr, done.returncode) == ("5 7 6 0\n", "", 0)


def test_interrupting_programs_end_with_the_write_rolled_back(path):
    opened(path)[0].close()
    code = (
        "import sys, os, signal, crealm\n"
        "db = crealm.open(sys.argv[1])\n"
        "with db.write():\n"
        "    db['All'][0].n = 100\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert python(code, path).returncode == -9
    with crealm.open(path) as db:
        assert db["All"][0].n == 1
        with db.write():
            db["All"][0].n = 2


def test_an_interrupted_open_closes_the_file(path, monkeypatch):
    """An interrupt between the library's open and the Database: the file is closed, and can be opened in another mode."""
    opened(path)[0].close()

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    places = [
        (opening, "Owner"),
        (opening, "Database"),
        (opening.Owner, "__init__"),
        (opening.Database, "__init__"),
        (opening.Database, "_read_schema"),
    ]
    for owner, name in places:
        with monkeypatch.context() as patch:
            patch.setattr(owner, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                crealm.open(path)
        gc.collect()
        with crealm.open(path, mode="r") as db:
            assert db.classes


def test_all_names_leave_the_builtins_alone():
    names = {}
    exec("from crealm import *", names)
    assert not {name for name in crealm.__all__ if hasattr(builtins, name)} and "Model" in names and callable(crealm.open)
