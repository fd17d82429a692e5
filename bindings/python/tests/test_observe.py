"""Observers: which changes they receive, when, and in which order; programs with and without an event loop; what
their functions may do, and how observations end."""

import asyncio
import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, Dict, List, Optional, Set

import pytest

import crealm
from crealm import CollectionChange, DatabaseChange, DictionaryChange, ObjectChange
from crealm._library import lib

PATIENCE = 60  # Seconds; longer than anything takes that does not hang.
COMMITS = int(os.environ.get("CREALM_OBSERVED_COMMITS", 200))


class Dog(crealm.Model):
    name: str
    age: int
    owners: crealm.Backlinks["Person"] = crealm.backlinks("Person", "dogs")


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    label: str = crealm.field(name="column")
    age: int
    friend: Optional["Person"]
    dogs: List[Dog]
    numbers: List[int]
    words: Set[str]
    notes: Dict[str, Any]
    kennel: Dict[str, Optional[Dog]]
    any: Any


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Person]) as db:
        with db.write():
            for number in range(4):
                dogs = [Dog(name=f"{number}.{i}") for i in range(3)]
                db.add(Person(id=number, label=str(number), dogs=dogs, numbers=[1, 2, 3]))
        yield db


@pytest.fixture
def other(path):
    """The same file, opened again."""
    with crealm.open(path, schema=[Person]) as other:
        yield other


@pytest.fixture
def ann(db):
    return db[Person].get(0)


class Log(list):
    """An observer that records the changes that it receives."""

    def __call__(self, change):
        self.append(change)

    def take(self):
        taken = self[:]
        self.clear()
        return taken


def begun(db, observable, keys=None):
    """A log and the observation that fills it, after its first report."""
    log = Log()
    observation = observable.observe(log, keys)
    assert db.wait_for_change(PATIENCE)
    assert len(log) == 1 and not log[0]
    log.clear()
    return log, observation


def child(code, path, *arguments):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (Path(crealm.__file__).parents[1], Path(__file__).parent)))}
    return subprocess.Popen([sys.executable, "-c", code, str(path), *map(str, arguments)], env=environment)


def settle(db):
    """Waits until all pending changes were delivered."""
    while db.wait_for_change(0.1):
        pass


# ------------------------------------------------------------------------------------------------
# Contents of changes
# ------------------------------------------------------------------------------------------------


def test_object(db, ann):
    log, observation = begun(db, ann)
    with db.write():
        ann.label = "new"
        ann.dogs.append(Dog(name="x"))
    db.refresh()
    assert log.take() == [ObjectChange(frozenset({"label", "dogs"}))]
    with db.write():
        ann.dogs[0].age = 7
        db[Person][1].age = 7
    db.refresh()
    assert log.take() == []
    with db.write():
        ann.delete()
    db.refresh()
    assert log.take() == [ObjectChange(deleted=True)]
    with db.write():
        db.add(Person(id=0))
    db.refresh()
    assert log == [] and observation.is_active


def test_list(db, ann):
    log, observation = begun(db, ann.numbers)
    with db.write():
        ann.numbers[1] = 9
        ann.numbers.insert(0, 0)
        del ann.numbers[3]
    db.refresh()
    assert log.take() == [CollectionChange((2,), (0,), (1,), (2,))]
    with db.write():
        ann.numbers.move(0, 2)
    db.refresh()
    assert log.take() == [CollectionChange((0,), (2,), moves=(crealm.Move(0, 2),))]
    with db.write():
        ann.numbers.clear()
    db.refresh()
    assert log.take() == [CollectionChange((0, 1, 2), cleared=True)]
    with db.write():
        ann.numbers = [5]
        db[Person][1].delete()
    db.refresh()
    assert log.take() == [CollectionChange((), (0,))]
    with db.write():
        ann.delete()
    db.refresh()
    assert log.take() == [CollectionChange((0,), deleted=True)]
    observation.cancel()


def test_set(db, ann):
    log, observation = begun(db, ann.words)
    with db.write():
        ann.words |= {"a", "c"}
    with db.write():
        ann.words.add("b")
        ann.words.remove("a")
    db.refresh()
    assert log.take() == [CollectionChange((), (0, 1)), CollectionChange((0,), (0,))]
    observation.cancel()


def test_dictionary(db, ann):
    log, observation = begun(db, ann.notes)
    with db.write():
        ann.notes.update(a=1, b=2)
    db.refresh()
    assert log.take() == [DictionaryChange(insertions=("a", "b"))]
    with db.write():
        ann.notes["a"] = 5
        ann.notes["é"] = None
        del ann.notes["b"]
    db.refresh()
    assert log.take() == [DictionaryChange(("b",), ("é",), ("a",))]
    with db.write():
        ann.delete()
    db.refresh()
    assert [(sorted(c.deletions), c.deleted) for c in log.take()] == [(["a", "é"], True)]
    observation.cancel()


def test_results(db):
    found = db[Person].where("age >= 1").sort("age")
    log, observation = begun(db, found)
    people = list(db[Person])
    with db.write():
        for age, person in enumerate(people):
            person.age = age
    db.refresh()
    assert log.take() == [CollectionChange((), (0, 1, 2))]
    with db.write():
        people[1].age = 9
        people[2].label = "x"
        people[3].delete()
    db.refresh()
    assert log.take() == [CollectionChange((1, 2), (0,), (0,), (1,))]
    observation.cancel()


def test_tables_values_and_links_here(db, ann):
    dog = ann.dogs[0]
    table, one = begun(db, db[Person])
    values, two = begun(db, ann.notes.values())
    owners, three = begun(db, dog.owners)
    adults, four = begun(db, db[Person].where("age >= 0").sort("-id").limit(2))
    with db.write():
        db.add(Person(id=9, dogs=[dog]))
        ann.notes["k"] = 1
        ann.numbers.insert(0, 8)
    db.refresh()
    assert table.take() == [CollectionChange((), (4,), (0,), (0,))]
    assert values.take() == [CollectionChange((), (0,))]
    assert owners.take()[0].insertions == (1,)
    assert adults.take() == [CollectionChange((1,), (0,))]
    assert all(observation.is_active for observation in (one, two, three, four))


def test_collections_inside_any(db, ann):
    with db.write():
        ann.any = [1, [2, 3], {"k": 4}]
    outer, one = begun(db, ann.any)
    inner, two = begun(db, ann.any[1])
    pairs, three = begun(db, ann.any[2])
    with db.write():
        ann.any[1].append(5)
        ann.any[2]["l"] = 6
    db.refresh()
    assert outer.take() == [CollectionChange((), (), (1, 2), (1, 2))]
    assert inner.take() == [CollectionChange((), (2,))]
    assert pairs.take() == [DictionaryChange(insertions=("l",))]
    with db.write():
        ann.any = None
    db.refresh()
    assert [log.take()[0].deleted for log in (outer, inner, pairs)] == [True] * 3
    assert one.is_active and two.is_active and three.is_active


def test_database(db, other):
    log = Log()
    observation = db.observe(log)
    assert not db.wait_for_change(0) and log == []
    with db.write():
        db[Person][0].age = 1
    assert log.take() == [DatabaseChange(db.version)]
    with other.write():
        other[Person][0].age = 2
    assert log == [] and db.refresh() and log.take() == [DatabaseChange(db.version)]
    with other.write():
        other[Person][0].age = 3
    with db.write():
        assert log.take() == [DatabaseChange(other.version)] and db[Person][0].age == 3
    with pytest.raises(ZeroDivisionError), db.write():
        1 / 0
    log.clear()
    observation.cancel()
    with db.write():
        pass
    assert log == [] and not observation.is_active


def test_a_copy_that_follows(db, ann):
    """The example in the docstring of `changes`."""
    items, copy = ann.numbers, list(ann.numbers)

    def follow(change):
        for position in reversed(change.deletions):
            del copy[position]
        for position in change.insertions:
            copy.insert(position, items[position])
        for position in change.modifications_after:
            copy[position] = items[position]

    observation = items.observe(follow)
    db.refresh()
    for step in range(60):
        with db.write():
            items.insert(step * 7 % (len(items) + 1), step)
            if step % 3:
                del items[step * 5 % len(items)]
            if step % 4 == 0:
                items.move(0, len(items) - 1)
            items[step % len(items)] = -step
        if step % 2:
            db.refresh()
            assert copy == items
    observation.cancel()


def test_commits_are_merged(db, other, ann):
    log, observation = begun(db, ann.numbers)
    for number in range(5):
        with other.write():
            other[Person].get(0).numbers.append(number)
    assert db.refresh() and log.take() == [CollectionChange((), (3, 4, 5, 6, 7))]
    assert not db.refresh() and log == []
    with other.write():
        other[Person].get(0).numbers.append(9)
    with other.write():
        other[Person].get(0).numbers.pop()
    db.refresh()
    assert log == [] and observation.is_active


def test_observers_of_a_file_that_is_rewritten(path):
    with crealm.open(path, schema=[Person]) as db:
        with db.write():
            ann = db.add(Person(id=0, numbers=range(100)))
        log, observation = begun(db, ann.numbers)
        # The last reported version is in use.
        assert not db.compact()
        observation.cancel()
        assert db.compact()
        log, observation = begun(db, ann.numbers)
        with db.write():
            ann.numbers.append(1)
        db.refresh()
        assert log.take() == [CollectionChange((), (100,))]
        observation.cancel()
        db.change_key(passphrase="secret", page_cipher="aes256gcm")
        log, observation = begun(db, ann.numbers)
        with db.write():
            ann.numbers.append(2)
        db.refresh()
        assert log.take() == [CollectionChange((), (101,))] and observation.is_active
        observation.cancel()
        db.change_key(key=None)


def test_the_first_call(db, ann):
    first, second = Log(), Log()
    one = ann.numbers.observe(first)
    assert first == []
    db.refresh()
    assert first.take() == [CollectionChange()] and not CollectionChange() and CollectionChange(cleared=True)
    with db.write():
        two = ann.numbers.observe(second)
        ann.numbers.append(4)
        with pytest.raises(crealm.UsageError, match="before the first change"):
            ann.numbers.observe(second)
    db.refresh()
    assert first.take() == [CollectionChange((), (3,))]
    assert second.take() == [CollectionChange((), (3,))], "the first call comes with what happened before it"
    assert one.is_active and two.is_active


def test_changes_are_values():
    change = CollectionChange((1,))
    assert change == CollectionChange((1,)) and hash(change) == hash(CollectionChange((1,))) and change
    with pytest.raises(AttributeError):
        change.deletions = ()
    assert not ObjectChange() and not DictionaryChange() and DictionaryChange(deleted=True) and ObjectChange(deleted=True)


# ------------------------------------------------------------------------------------------------
# Key paths
# ------------------------------------------------------------------------------------------------


def told(db, log, change):
    """The changes that a log receives after a change."""
    with db.write():
        change()
    db.refresh()
    return log.take()


def test_keys_of_objects(db, ann):
    bob, dog = db[Person].get(1), ann.dogs[0]
    label, one = begun(db, ann, "label")
    deep, two = begun(db, ann, ["friend.label", "dogs.age"])
    owners, three = begun(db, dog, "owners.label")
    nothing, four = begun(db, ann, [])
    assert told(db, label, lambda: setattr(ann, "age", 1)) == []
    assert told(db, label, lambda: setattr(ann, "label", "x")) == [ObjectChange(frozenset({"label"}))]
    assert deep.take() == [] and owners.take() == [ObjectChange(frozenset({"owners"}))]
    assert told(db, deep, lambda: setattr(ann, "friend", bob)) == [ObjectChange(frozenset({"friend"}))]
    assert told(db, deep, lambda: setattr(bob, "label", "y")) == [ObjectChange(frozenset({"friend"}))]
    assert told(db, deep, lambda: setattr(bob, "age", 5)) == []
    assert told(db, deep, lambda: setattr(dog, "age", 5)) == [ObjectChange(frozenset({"dogs"}))]
    assert label == [] and nothing == []
    assert told(db, nothing, ann.delete) == [ObjectChange(deleted=True)]
    assert all(o.is_active for o in (one, two, three, four))


def test_keys_of_results_and_collections(db, ann):
    people = db[Person]
    by_label, one = begun(db, people, "label")
    by_dogs, two = begun(db, people, iter(["dogs.*"]))
    everything, three = begun(db, people)
    dogs, four = begun(db, ann.dogs, "name")
    kennel, five = begun(db, ann.kennel, "name")
    with db.write():
        people[1].label = "x"
        people[2].age = 3
        ann.dogs[1].age = 1
    db.refresh()
    assert [c.modifications for c in by_label.take()] == [(1,)], "observers of one table are on their own"
    assert [c.modifications for c in by_dogs.take()] == [(0,)]
    assert [c.modifications for c in everything.take()] == [(0, 1, 2)]
    assert dogs.take() == []
    assert [c.modifications for c in told(db, dogs, lambda: setattr(ann.dogs[2], "name", "y"))] == [(2,)]
    assert by_label.take() == []
    assert told(db, by_label, people[3].delete)[0].deletions == (3,)
    assert told(db, kennel, lambda: ann.kennel.update(a=ann.dogs[0]))[0].insertions == ("a",)
    assert told(db, kennel, lambda: setattr(ann.dogs[0], "age", 2)) == []
    assert told(db, kennel, lambda: setattr(ann.dogs[0], "name", "z")) == [DictionaryChange(modifications=("a",))]
    assert all(o.is_active for o in (one, two, three, four, five))


def test_wrong_keys(db, ann):
    for wrong in ("nope", "label.x", "friend.nope", "column", ["label", "nope"], "*.nope"):
        with pytest.raises(crealm.NoSuchProperty):
            ann.observe(print, wrong)
        with pytest.raises(crealm.NoSuchProperty):
            db[Person].changes(wrong)
    for values in (ann.numbers, ann.words, ann.notes, ann.numbers.limit(1)):
        with pytest.raises(crealm.UsageError, match="values"):
            values.observe(print, "x")
    with pytest.raises(crealm.DataError, match="NUL"):
        ann.observe(print, "la\0bel")
    with pytest.raises(TypeError):
        ann.observe(None)


def test_names_of_the_file(path, db):
    """A database without a schema uses the names of the file."""
    with crealm.open(path) as plain:
        person = plain["Person"][0]
        log, observation = begun(plain, person, "column")
        with plain.write():
            person.column = "x"
            person.age = 3
        plain.refresh()
        assert log == [ObjectChange(frozenset({"column"}))] and observation.is_active


# ------------------------------------------------------------------------------------------------
# Waiting, without an event loop
# ------------------------------------------------------------------------------------------------

WRITES = """
import sys, crealm, test_observe
with crealm.open(sys.argv[1], schema=[test_observe.Person]) as db:
    for number in range(int(sys.argv[2])):
        with db.write():
            db[test_observe.Person].get(0).numbers.append(100 + number)
"""


def test_another_process_writes(db, path, ann):
    log, observation = begun(db, ann.numbers)
    writer = child(WRITES, path, 20)
    while len(ann.numbers) < 23:
        assert db.wait_for_change(PATIENCE)
    assert writer.wait() == 0
    settle(db)
    assert [i for change in log for i in change.insertions] == list(range(3, 23)) and len(log) <= 20
    assert not any(c.deletions or c.modifications for c in log)
    observation.cancel()


def test_waiting_without_observers(db, path, ann):
    assert not db.wait_for_change(0) and not db.wait_for_change(0.01)
    writer = child(WRITES, path, 1)
    assert db.wait_for_change(PATIENCE) and list(ann.numbers) == [1, 2, 3, 100]
    assert writer.wait() == 0
    assert not db.wait_for_change(0)


def test_other_threads_run_while_one_waits(db, path, ann):
    """Each wait releases the interpreter lock: otherwise no other thread could commit."""

    def write():
        with crealm.open(path, schema=[Person]) as mine, mine.write():
            mine[Person].get(0).age = 77

    thread = threading.Thread(target=write)
    thread.start()
    assert db.wait_for_change(PATIENCE) and ann.age == 77
    thread.join()
    python_api = 4  # FUNCFLAG_PYTHONAPI: the call keeps the interpreter lock.
    for name in ("crealm_scheduler_run", "realm_begin_write", "realm_commit", "realm_refresh", "realm_close"):
        assert not type(getattr(lib, name))._flags_ & python_api, name
    assert type(lib.realm_get_value)._flags_ & python_api
    assert isinstance(lib.crealm_scheduler_run, ctypes._CFuncPtr)


def test_where_nobody_can_wait(path, db, ann):
    with db.write(), pytest.raises(crealm.UsageError, match="write"):
        db.wait_for_change(0)
    snapshot = db[Person].snapshot()
    with pytest.raises(crealm.UsageError):
        snapshot.observe(print)
    with pytest.raises(crealm.UsageError, match="no database"):
        Person(id=3).observe(print)
    errors = []

    def elsewhere():
        for use in (lambda: db.wait_for_change(0), lambda: ann.observe(print), lambda: db.observe(print), db.changes):
            try:
                use()
            except crealm.WrongThreadError as error:
                errors.append(error)

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(errors) == 4
    numbers = ann.numbers
    db.close()
    for use in (lambda: db.wait_for_change(0), lambda: numbers.observe(print), lambda: db.observe(print), db.changes):
        with pytest.raises(crealm.ClosedError):
            use()
    with crealm.open(path, mode="immutable") as fixed:
        for use in (lambda: fixed.wait_for_change(0), lambda: fixed["Person"].observe(print), lambda: fixed["Person"][0].observe(print)):
            with pytest.raises(crealm.UsageError):
                use()


def test_reading_databases_follow(path, db):
    db.close()
    with crealm.open(path, mode="r") as reading:
        log, observation = begun(reading, reading["Person"])
        writer = child(WRITES, path, 3)
        while len(reading["Person"][0].numbers) < 6:
            assert reading.wait_for_change(PATIENCE)
        assert writer.wait() == 0 and log and all(c.modifications == (0,) for c in log)
        observation.cancel()


# ------------------------------------------------------------------------------------------------
# Inside functions of observers
# ------------------------------------------------------------------------------------------------


def test_functions_that_raise(db, ann, monkeypatch):
    hooked = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: hooked.append(args.exc_value))
    log = Log()

    def raises(change):
        raise ValueError("on purpose")

    observations = [ann.observe(raises), ann.observe(log), db.observe(raises), db[Person].observe(raises), ann.numbers.observe(log)]
    assert db.wait_for_change(PATIENCE)
    assert log.take() == [ObjectChange(), CollectionChange()] and len(hooked) == 2
    with db.write():
        ann.numbers.append(4)
    db.refresh()
    assert len(log) == 2 and len(hooked) == 5
    assert {(type(error), str(error)) for error in hooked} == {(ValueError, "on purpose")}
    assert all(o.is_active for o in observations)


def test_an_interrupt_goes_through(db, ann):
    log = Log()

    def interrupted(change):
        raise KeyboardInterrupt

    one, two = ann.observe(interrupted), ann.observe(log)
    with pytest.raises(KeyboardInterrupt):
        db.refresh()
    assert log == []
    db.refresh()
    assert log.take() == [ObjectChange()], "what was not told comes later"
    with db.write():
        ann.age = 1
    with pytest.raises(KeyboardInterrupt), db.write():
        raise AssertionError("the block does not begin")
    assert not db.is_writing
    one.cancel()
    db.refresh()
    assert log == [ObjectChange(frozenset({"age"}))] and two.is_active


def test_closing_in_a_function(db, ann):
    log = Log()
    one = ann.observe(lambda change: db.close())
    two = ann.observe(log)
    assert db.wait_for_change(PATIENCE) and db.is_closed and log == []
    assert not one.is_active and not two.is_active
    one.cancel()
    two.cancel()


def test_closing_at_the_beginning_of_a_write(db, other, ann):
    log, watching = begun(db, ann)
    closing = ann.observe(lambda change: change and db.close())
    db.refresh()
    with other.write():
        other[Person].get(0).age = 5
    with pytest.raises(crealm.ClosedError):
        with db.write():
            assert db.is_closed
    assert log == [ObjectChange(frozenset({"age"}))]
    assert not closing.is_active and not watching.is_active


def test_writing_in_a_function(db, other, ann):
    """Each function sees the snapshot of its change; before a function's write, the other functions are called."""
    seen = []

    def write(change):
        if change and len(ann.numbers) < 8:
            with db.write():
                ann.numbers.append(0)
            seen.append("written")

    one = ann.numbers.observe(write)
    two = ann.numbers.observe(lambda change: seen.append((change.insertions, len(ann.numbers), db.is_writing)))
    db.refresh()
    seen.clear()
    with other.write():
        other[Person].get(0).numbers.append(0)
    while len(ann.numbers) < 8:
        assert db.wait_for_change(PATIENCE)
    settle(db)
    lengths = [entry for entry in seen if entry != "written"]
    assert seen.count("written") == 4
    assert lengths == [((n - 1,), n, False) for n in range(4, 9)]
    assert one.is_active and two.is_active


def test_an_observer_that_writes(db, ann):
    """Each of its changes is reported once to all observers, itself included: by the loop, refresh(), and at writes."""
    told, others, moves = [], [], []

    def write(change):
        told.extend(change.insertions)
        if change and len(ann.numbers) < end and not db.is_writing:
            with db.write():
                ann.numbers.append(0)

    def move(change):
        if len(moves) < 10:
            moves.append(db.version)
            with db.write():
                ann.age += 1

    end = 0
    observers = [ann.numbers.observe(write), ann.numbers.observe(lambda change: others.extend(change.insertions))]
    settle(db)
    first = len(ann.numbers)
    for turns in (True, False):
        end = len(ann.numbers) + 11
        with db.write():
            ann.numbers.append(0)
        for _ in range(20):
            settle(db) if turns else db.refresh()
        assert len(ann.numbers) == end
        assert told == others == list(range(first, end))
    end = len(ann.numbers) + 11
    with db.write():
        ann.numbers.append(0)
    with db.write():  # Functions that are called here see a running write.
        assert len(told) == len(ann.numbers) - first
        ann.numbers.append(0)
    settle(db)
    assert told == others == list(range(first, end))
    age = ann.age
    observers.append(db.observe(move))
    with db.write():
        ann.age += 1
    settle(db)
    assert len(moves) == 10 and ann.age == age + 11


def test_functions_at_the_beginning_of_a_write(db, other, ann):
    """Their changes are part of the write."""

    def change_too(change):
        if db.is_writing:
            ann.age += 1

    log, watching = begun(db, ann.numbers)
    one = ann.numbers.observe(change_too)
    db.refresh()
    with other.write():
        other[Person].get(0).numbers.append(0)
    with pytest.raises(ZeroDivisionError), db.write():
        assert ann.age == 1 and log.take() == [CollectionChange((), (3,))]
        1 / 0
    assert ann.age == 0 and one.is_active and watching.is_active


def test_refreshing_waiting_and_beginning_in_a_function(db, other, ann):
    log, later, started = Log(), Log(), []

    def everything(change):
        if change and not started:
            started.append(ann.numbers.observe(later))
            with other.write():
                other[Person].get(0).numbers.append(1)
            assert db.refresh() and len(log) == 3
            assert not db.wait_for_change(0) and log[1:] == [CollectionChange((), (3,)), CollectionChange((), (4,))]

    one = ann.numbers.observe(everything)
    two = ann.numbers.observe(log)
    db.refresh()
    with other.write():
        other[Person].get(0).numbers.append(0)
    db.refresh()
    assert [c.insertions for c in log] == [(), (3,), (4,)] and later == [CollectionChange((), (4,))]
    assert one.is_active and two.is_active


def test_ending_in_a_function(db, ann):
    log, calls = Log(), []
    tokens = {}

    def end(change):
        calls.append(change)
        tokens["other"].cancel()
        tokens["own"].cancel()

    tokens["own"] = ann.observe(end)
    tokens["other"] = ann.observe(log)
    third = ann.observe(lambda change: calls.append("third"))
    db.refresh()
    assert calls == [ObjectChange(), "third"] and log == []
    with db.write():
        ann.age = 1
    db.refresh()
    assert calls[2:] == ["third"] and third.is_active


# ------------------------------------------------------------------------------------------------
# How observations end
# ------------------------------------------------------------------------------------------------


def test_an_observation_ends_with_what_observe_returned(db, ann):
    log = Log()
    observation = ann.observe(log)
    db.refresh()
    assert log.take() == [ObjectChange()]
    del observation
    with db.write():
        ann.age = 1
    db.refresh()
    ann.observe(log)  # The result is not kept.
    db.refresh()
    with ann.observe(log) as observation:
        db.refresh()
        assert log.take() == [ObjectChange()] and observation.is_active
    assert not observation.is_active
    observation.cancel()
    with db.write():
        ann.age = 2
    db.refresh()
    assert log == []


def test_observations_in_cycles(db, ann):
    class Holder:
        def __init__(self):
            self.calls = 0
            self.observation = ann.observe(self.called)
            self.iteration = db[Person].changes()

        def called(self, change):
            self.calls += 1

    holder = Holder()
    db.refresh()
    assert holder.calls == 1
    gone = weakref.ref(holder)
    live = len(db._owner.live)
    del holder
    gc.collect()
    assert gone() is None and len(db._owner.live) < live
    db.refresh()


def test_everything_is_given_back(db, ann):
    gc.collect()
    live = len(db._owner.live)
    for _ in range(3):
        kept = [ann.observe(print, "label"), db[Person].where("age > 0").observe(print), db.observe(print), ann.notes.changes()]
        del kept
    gc.collect()
    assert len(db._owner.live) == live
    with pytest.raises(crealm.NoSuchProperty):
        ann.observe(print, "nope")
    gc.collect()
    assert len(db._owner.live) == live


def test_what_is_observed_need_not_be_kept(path, db):
    """An observation keeps its database open."""
    log = Log()
    other = crealm.open(path, schema=[Person])
    observation = other[Person].where("age > 5").observe(log)
    other.refresh()
    same = weakref.ref(other)
    del other
    gc.collect()
    with db.write():
        db[Person][2].age = 9
    assert same() is not None and same().wait_for_change(PATIENCE)
    assert log == [CollectionChange(), CollectionChange((), (0,))]
    same().close()
    assert not observation.is_active


def test_an_observation_dropped_on_another_thread(db, ann):
    log = Log()
    kept = [ann.observe(log)]
    db.refresh()
    log.clear()
    thread = threading.Thread(target=kept.clear)
    thread.start()
    thread.join()
    with db.write():
        ann.age = 1
    db.refresh()
    assert log == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child(db, path, ann):
    code = """
import os, sys, crealm, test_observe
db = crealm.open(sys.argv[1], schema=[test_observe.Person])
ann = db[test_observe.Person].get(0)
log = []
observation = ann.observe(log.append)
assert db.wait_for_change(60)
process = os.fork()
if not process:
    assert not observation.is_active
    observation.cancel()
    mine = crealm.open(sys.argv[1], schema=[test_observe.Person])
    own = []
    watching = mine[test_observe.Person].observe(own.append)
    assert mine.wait_for_change(60) and len(own) == 1
    with mine.write():
        mine[test_observe.Person].get(0).age = 1
    assert mine.wait_for_change(60) and len(own) == 2
    mine.close()
    os._exit(9)
while len(log) < 2:
    assert db.wait_for_change(60)
assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 9 and ann.age == 1
db.close()
"""
    assert child(code, path).wait(2 * PATIENCE) == 0


# ------------------------------------------------------------------------------------------------
# asyncio
# ------------------------------------------------------------------------------------------------


def run(main):
    asyncio.run(asyncio.wait_for(main, 4 * PATIENCE))


def test_iterating_while_another_process_commits(db, path, ann):
    """The loop sees all changes in order, also if several commits are reported together."""
    copy, told = list(ann.numbers), []

    async def main():
        writer = None
        async for change in ann.numbers.changes():
            if writer is None:
                writer = child(WRITES, path, COMMITS)
            told.append(change.insertions)
            copy.extend(ann.numbers[i] for i in change.insertions)
            assert not change.deletions and not change.modifications
            if len(copy) == 3 + COMMITS:
                break
        assert writer.wait() == 0

    run(main())
    assert told[0] == () and [i for indices in told for i in indices] == list(range(3, 3 + COMMITS))
    assert copy == [1, 2, 3, *range(100, 100 + COMMITS)] and 2 <= len(told) <= 1 + COMMITS


class Counted:
    """Counts the descriptors that a loop watches for the package."""

    def __init__(self, monkeypatch):
        self.watched = []
        real_add, real_remove = asyncio.SelectorEventLoop.add_reader, asyncio.SelectorEventLoop.remove_reader

        def add(loop, fd, function, *arguments):
            self.watched.append(fd)
            return real_add(loop, fd, function, *arguments)

        def remove(loop, fd):
            self.watched.remove(fd)
            return real_remove(loop, fd)

        monkeypatch.setattr(asyncio.SelectorEventLoop, "add_reader", add)
        monkeypatch.setattr(asyncio.SelectorEventLoop, "remove_reader", remove)


def test_the_loop_watches_while_somebody_does(db, ann, monkeypatch):
    counted = Counted(monkeypatch)

    async def main():
        log, arrived = Log(), asyncio.Event()

        def note(change):
            log(change)
            arrived.set()

        assert counted.watched == []
        one, two = ann.observe(note), ann.numbers.changes()
        assert len(counted.watched) == 1
        await arrived.wait()
        assert log.take() == [ObjectChange()]
        with db.write():
            ann.age = 1
        arrived.clear()
        await arrived.wait()
        assert log == [ObjectChange(frozenset({"age"}))]
        one.cancel()
        assert len(counted.watched) == 1
        del two
        assert counted.watched == []
        three = ann.observe(note)
        assert len(counted.watched) == 1
        db.close()
        assert counted.watched == [] and not three.is_active

    run(main())


def test_one_loop_after_another(db, ann):
    seen = []
    changes = ann.changes()  # Begins while no loop runs.

    async def main(expected):
        with db.write():
            ann.age += 1
        async for change in changes:
            seen.append(change)
            if len(seen) == expected:
                break

    run(main(2))
    run(main(3))
    assert seen == [ObjectChange(), *[ObjectChange(frozenset({"age"}))] * 2]


def test_several_iterations(db, other, ann):
    async def main():
        counts = {}

        async def follow(name, observable, enough):
            async for change in observable.changes():
                counts[name] = counts.get(name, 0) + 1
                if enough():
                    return

        people = other[Person]
        tasks = [
            asyncio.create_task(follow("list", ann.numbers, lambda: len(ann.numbers) == 13)),
            asyncio.create_task(follow("object", ann, lambda: ann.age == 10)),
            asyncio.create_task(follow("table", people, lambda: people[0].age == 10)),
            asyncio.create_task(follow("database", db, lambda: ann.age == 10)),
        ]
        for age in range(1, 11):
            await asyncio.sleep(0)
            with db.write():
                ann.age = age
                ann.numbers.append(age)
        await asyncio.gather(*tasks)
        assert set(counts) == {"list", "object", "table", "database"}

    run(main())


def test_closing_ends_the_iteration(db, ann):
    async def main():
        ended = []

        async def follow(observable):
            async for _ in observable.changes():
                pass
            ended.append(observable)

        tasks = [asyncio.create_task(follow(o)) for o in (ann, ann.dogs, ann.notes, db[Person], db)]
        await asyncio.sleep(0.01)
        db.close()
        await asyncio.gather(*tasks)
        assert len(ended) == 5

    run(main())


def test_closing_in_the_block_of_an_iteration(db, ann):
    seen = []

    async def main():
        async for change in ann.changes():
            seen.append(change)
            db.close()

    run(main())
    assert seen == [ObjectChange()]


def test_deleting_ends_the_iteration(db, ann):
    async def main(observable):
        seen = []
        async for change in observable.changes():
            seen.append(change)
            if len(seen) == 1:
                with db.write():
                    ann.delete()
        assert len(seen) == 2 and seen[-1].deleted

    run(main(ann))
    ann = db[Person][0]
    run(main(ann.numbers))


def test_cancelling_an_iteration(db, ann):
    async def main():
        with ann.changes() as changes:
            assert await changes.__anext__() == ObjectChange()
            waiting = asyncio.create_task(changes.__anext__())
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="its own"):
                await changes.__anext__()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            with db.write():
                ann.age = 1
            assert await changes.__anext__() == ObjectChange(frozenset({"age"}))
        with pytest.raises(StopAsyncIteration):
            await changes.__anext__()

    run(main())


def test_an_exception_in_the_loop_stops_nobody(db, ann, monkeypatch):
    hooked = []
    monkeypatch.setattr(sys, "unraisablehook", lambda args: hooked.append(args.exc_value))

    def raises(change):
        raise ValueError("on purpose")

    async def main():
        observation = ann.observe(raises)
        async for _ in ann.numbers.changes():
            break
        assert observation.is_active

    run(main())
    assert [str(error) for error in hooked] == ["on purpose"]
