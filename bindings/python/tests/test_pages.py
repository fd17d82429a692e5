"""Loops over objects, whose rows come in pages: their values, and the number of their calls to the library."""

import functools
import gc
import heapq
import itertools
import queue
import random
import shutil
import threading
import weakref
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any, Optional

import crealm
import pytest
from crealm import _arrow, _marshal, _pages


class Cat(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str = crealm.field(name="called")
    age: Optional[int]
    weight: float
    mother: Optional["Cat"]
    lives: list[int]
    any: Any


ROWS = 2500


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A file with all the cats."""
    path = tmp_path_factory.mktemp("cats") / "cats.realm"
    with crealm.open(path, schema=[Cat]) as db, db.write():
        mother = None
        for n in range(ROWS):
            mother = db["Cat"].create(
                n, called=f"cat {n}", age=None if n % 5 == 0 else n, weight=n / 2, mother=mother, lives=[n], any=n
            )
    return path


@pytest.fixture(params=["model", "no model"])
def cats(request, path, filled):
    shutil.copy(filled, path)
    with crealm.open(path, schema=[Cat] if request.param == "model" else None) as db:
        yield db


def name_of(cat):
    """A model whose property `name` is `called` in the file."""
    return cat.name if isinstance(cat, Cat) else cat.called


@pytest.fixture
def calls(monkeypatch):
    """Records calls of functions of the library, and the names of the columns."""
    counted: Counter[str] = Counter()

    def count(name):
        function = getattr(_arrow.lib, name)

        def counting(*arguments):
            counted[name] += 1
            if name == "crealm_results_fetch_arrow":
                for column in (arguments[3] or ())[: arguments[4]]:
                    counted[column.decode()] += 1
            return function(*arguments)

        counting.moves = getattr(function, "moves", False)
        monkeypatch.setattr(_arrow.lib, name, counting)

    for name in ("crealm_results_fetch_arrow", "realm_get_object", "realm_get_value", "realm_results_get"):
        count(name)
    return counted


LOOPS = {
    "all": lambda table: table,
    "found": lambda table: table.where("id >= 0"),
    "sorted": lambda table: table.sort("-id"),
    "snapshot": lambda table: table.where("id >= 0").snapshot(),
}


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_shows_what_single_reads_show(cats, loop):
    rows = LOOPS[loop](cats["Cat"])
    single = [rows[i] for i in range(len(rows))]
    for forwards, wanted in ((iter(rows), single), (reversed(rows), single[::-1])):
        seen = 0
        for cat, other in zip(forwards, wanted):
            assert cat == other and hash(cat) == hash(other)
            assert (cat.id, name_of(cat), cat.age, cat.object_key) == (other.id, name_of(other), other.age, other.object_key)
            assert cat.mother == other.mother and cat.any == other.any and list(cat.lives) == list(other.lives)
            assert isinstance(cat, type(other)) and cat["id"] == other.id and cat.is_valid and cat.class_name == "Cat"
            seen += 1
        assert seen == ROWS


def test_names_of_properties_and_of_columns(path, filled):
    shutil.copy(filled, path)
    with crealm.open(path, schema=[Cat]) as db:
        assert [(cat.name, cat["called"]) for cat in db[Cat]] == [(f"cat {n}", f"cat {n}") for n in range(ROWS)]
        assert db[Cat].column("name").to_list() == db[Cat].column("called").to_list() == [f"cat {n}" for n in range(ROWS)]


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_asks_for_pages(cats, loop, calls):
    """Three properties of 2500 objects need one call for each page, and a few single reads in the first page."""
    rows = LOOPS[loop](cats["Cat"])
    for cat in rows:
        assert cat.id >= 0 and name_of(cat) and (cat.age is None or cat.age >= 0)
    # Pages of 16, 64, 256, 1024 and 1024 rows and the rest; and one call for each of three columns of the first page.
    assert calls["crealm_results_fetch_arrow"] <= 6 + 3 + 1
    assert calls["realm_get_object"] == 1 and calls["realm_get_value"] == 3
    assert calls["realm_results_get"] <= 6
    assert calls["lives"] == calls["any"] == calls["mother"] == 0


def test_a_loop_that_asks_for_nothing(cats, calls):
    assert sum(1 for _ in cats["Cat"]) == ROWS
    assert set(calls) <= {"crealm_results_fetch_arrow", "@key", "realm_results_get"}
    assert not calls["realm_get_object"] and not calls["realm_get_value"]


def test_a_column_that_is_asked_for_no_longer(cats, calls):
    """A column that is read only in the first pages is not fetched later."""
    for n, cat in enumerate(cats["Cat"]):
        if n < 100:
            assert cat.age is None or cat.age == n
        assert cat.id == n
    assert calls["age"] <= 4 < calls["id"]


def test_objects_have_no_handles(cats):
    live = len(cats._owner.live)
    kept = list(cats["Cat"])
    gc.collect()
    assert len(kept) == ROWS and len(cats._owner.live) <= live + 1
    assert [cat.id for cat in kept] == list(range(ROWS))  # Each object has its key now.
    assert not cats._owner.pages


def test_pages_are_small_where_values_are_large(path, calls):
    with crealm.open(path, schema=[crealm.ClassSchema("Blob", {"data": bytes})]) as db:
        with db.write():
            for n in range(200):
                db["Blob"].create(data=bytes([n]) * 100_000)
        assert [blob.data[0] for blob in db["Blob"]] == list(range(200))
        assert calls["data"] >= 200 * 100_000 // (2 * _pages._MOST_BYTES)


@pytest.mark.parametrize(
    "place, error", [("fetch", MemoryError()), ("fetch", crealm.Error("", code=1003)), ("values", MemoryError())])
def test_values_are_read_one_by_one_where_memory_is_short(path, monkeypatch, place, error):
    with crealm.open(path, schema=[crealm.ClassSchema("Blob", {"data": bytes})]) as db:
        with db.write():
            for number in range(100):
                db["Blob"].create(data=bytes([number]) * 1000)
        whole, tries = getattr(_pages._arrow, place), []

        def short(*arguments):
            if arguments[-1] == ["data"] or getattr(arguments[-1], "format", None) == "z":
                tries.append(arguments)
                raise error
            return whole(*arguments)

        monkeypatch.setattr(_pages._arrow, place, short)
        assert [blob.data[0] for blob in db["Blob"]] == list(range(100))
        assert len(tries) == 1


@pytest.mark.parametrize("loop", LOOPS)
def test_changes_while_a_loop_runs(cats, loop):
    """The rest of the page also shows the current values."""
    rows = LOOPS[loop](cats["Cat"])
    kept = []
    for n, cat in enumerate(rows):
        assert cat.age is None or cat.age == cat.id or cat.age == -1
        kept.append(cat)
        if n in (20, 700):
            with cats.write():
                for other in cats["Cat"]:
                    other.age = -1
        if n >= 20:
            assert cat.age == -1
    assert len(kept) == ROWS and all(cat.age == -1 for cat in kept)


def test_writes_of_others_while_a_loop_runs(cats):
    other = crealm.open(cats.path)
    for n, cat in enumerate(cats["Cat"]):
        assert cat.age == (n if n % 5 else None) if n <= 30 else cat.age == -2
        if n == 30:
            with other.write():
                for row in other["Cat"]:
                    row.age = -2
            assert cat.age is None  # 30
            assert cats.refresh()
            assert cat.age == -2
    other.close()


@pytest.mark.parametrize("loop", LOOPS)
def test_objects_deleted_while_a_loop_runs(cats, loop):
    seen = []
    for cat in LOOPS[loop](cats["Cat"]):
        if cat is None:
            assert loop == "snapshot"
            continue
        seen.append(cat.id)
        if len(seen) == 40:
            with cats.write():
                for other in list(cats["Cat"]):
                    if other.id % 2:
                        other.delete()
    assert len(seen) == len(set(seen)) and set(seen) == set(seen[:40]) | set(range(0, ROWS, 2))


def test_an_object_of_a_loop_whose_row_is_deleted(cats):
    first, second, *_ = cats["Cat"]
    assert second.id == 1
    with cats.write():
        cats["Cat"].get(0).delete()
        cats["Cat"].get(1).delete()
    for cat in (first, second):
        assert not cat.is_valid and not cat
        with pytest.raises(crealm.InvalidatedError):
            cat.id
        assert "deleted" in repr(cat)


def test_writing_through_objects_of_a_loop(cats):
    with cats.write():
        for cat in cats["Cat"]:
            cat.age = cat.id + 1
            assert cat.age == cat.id + 1
    assert [cat.age for cat in cats["Cat"]] == list(range(1, ROWS + 1))
    cat = next(iter(cats["Cat"]))
    assert cat.age == 1
    with pytest.raises(crealm.NotInWriteError):
        cat.age = 5
    with cats.write():
        cat.age = 7
        assert cat.age == 7
    assert cat.age == 7


def test_a_write_that_is_rolled_back(cats):
    for n, cat in enumerate(cats["Cat"]):
        assert cat.id == n
        if n == 17:
            with pytest.raises(ZeroDivisionError):
                with cats.write():
                    cat.age = 1000
                    assert cat.age == 1000
                    raise ZeroDivisionError
        assert cat.age == (n if n % 5 else None)


def test_a_loop_sees_objects_that_it_makes(cats):
    seen = []
    for cat in cats["Cat"]:
        seen.append(cat.id)
        if len(seen) in (1, 1000):
            with cats.write():
                cats["Cat"].create(ROWS + len(seen))
    assert seen == [*range(ROWS), ROWS + 1, ROWS + 1000]


def test_a_database_that_is_closed_in_a_loop(cats):
    loop = iter(cats["Cat"])
    cats_seen = [next(loop) for _ in range(20)]
    assert [cat.id for cat in cats_seen[16:]] == [16, 17, 18, 19]
    cats.close()
    for cat in cats_seen:
        assert not cat.is_valid
        with pytest.raises(crealm.ClosedError):
            cat.id
    with pytest.raises(crealm.ClosedError):
        list(loop)


def test_other_threads(cats):
    """On another thread, reading a value that is not in the page raises."""
    loop = iter(cats["Cat"])
    cat = next(loop)
    errors = []

    def read():
        for what in (lambda: cat.age, lambda: cat.mother, lambda: next(loop) and cat.any):
            try:
                what()
            except crealm.WrongThreadError as error:
                errors.append(error)

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert len(errors) == 3


def test_frozen_loops_on_threads(cats):
    frozen = cats.freeze()
    sums = []

    def add():
        sums.append(sum(cat.id + len(name_of(cat)) for cat in frozen["Cat"]))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    with cats.write():
        for cat in cats["Cat"]:
            cat.delete()
    for thread in threads:
        thread.join()
    assert sums == [sum(n + len(f"cat {n}") for n in range(ROWS))] * 4
    frozen.close()


def test_values_that_no_column_holds(path):
    """A time outside of 64 bits of nanoseconds is read by itself, and so are all values of its column from then on."""
    far = _marshal.RawTimestamp(1 << 60, 0)
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"n": int, "t": crealm.Timestamp})]) as db:
        with db.write():
            for n in range(100):
                db["A"].create(n=n, t=far if n == 40 else crealm.Timestamp.from_ns(n))
        assert [(a.n, a.t) for a in db["A"]] == [(n, far if n == 40 else crealm.Timestamp.from_ns(n)) for n in range(100)]


@pytest.mark.parametrize("moment", ["page", "column"])
def test_a_signal_handler_moves_the_database_while_a_page_is_read(cats, monkeypatch, moment):
    """Values that were read before are not used any more: neither the page nor a column of it."""
    fetch, moved = _arrow.fetch, []

    def moving(handle, first, count, names):
        found = fetch(handle, first, count, names)
        if not moved and count > 16 and (names[0] == "@key") == (moment == "page"):
            moved.append(names)
            with crealm.open(cats.path) as other, other.write():
                for cat in other["Cat"]:
                    cat["called"] = f"new {cat['id']}"
            cats.refresh()
        return found

    monkeypatch.setattr(_pages._arrow, "fetch", moving)
    kept = []
    for n, cat in enumerate(cats["Cat"]):
        assert cat.id == n
        if moment == "column" and n > 20:
            name_of(cat)
        kept.append(cat)
    assert moved and [name_of(cat) for cat in kept] == [f"new {n}" for n in range(ROWS)]


def test_a_property_that_is_called_like_the_column_of_keys(path):
    with crealm.open(path, schema=[crealm.ClassSchema("C", {"@key": int, "n": int})]) as db:
        with db.write():
            for i in range(100):
                db["C"].create(**{"@key": 1000 + i, "n": i})
        assert [(o["@key"], o["n"], o["@key"]) for o in db["C"]] == [(1000 + i, i, 1000 + i) for i in range(100)]


# Reuse of objects that the program does not keep for the rows of the next page


class Remembering(crealm.Model):
    n: int

    @functools.cached_property
    def doubled(self):
        return 2 * self.n


@pytest.fixture
def many(path):
    """A database with 6000 objects of a model with a __dict__; their numbers are in the order of their keys."""
    with crealm.open(path, schema=[Remembering]) as db:
        with db.write():
            db.add_many(Remembering, [{"n": n} for n in range(6000)])
        yield db


@pytest.fixture
def made(monkeypatch):
    """Counts the objects that pages make."""
    counted = []
    make = _pages.Page._made

    def counting(page, kind):
        found = make(page, kind)
        counted.append(len(found))
        return found

    monkeypatch.setattr(_pages.Page, "_made", counting)
    return counted


@pytest.mark.skipif(not _pages._has_counts, reason="objects are not counted")
@pytest.mark.parametrize("loop", [lambda table: table, lambda table: table.where("n >= 0"), lambda table: table.where("n >= 0").snapshot()])
def test_loops_make_few_objects(many, made, loop):
    assert [row.n for row in loop(many[Remembering])] == list(range(6000))
    assert sum(made) <= 16 + 64 + 256 + 2 * 1024
    made.clear()
    assert [row.n for row in reversed(loop(many[Remembering]))] == list(range(6000))[::-1]
    made.clear()
    assert [row.n for row in list(loop(many[Remembering]))] == list(range(6000))
    assert sum(made) == 6000


KEEPERS = {
    "a list": lambda row, kept: kept.append((row.n, row)),
    "a closure": lambda row, kept: kept.append((row.n, (lambda: row))),
    "a bound method": lambda row, kept: kept.append((row.n, row.to_dict)),
    "a weak reference": lambda row, kept: kept.append((row.n, weakref.ref(row))),
    "an iterator": lambda row, kept: kept.append((row.n, iter(row))),
    "nobody, with something in its __dict__": lambda row, kept: kept.append((row.doubled // 2, row.n)),
    "nobody, with a handle": lambda row, kept: kept.append((row.n, row.n if row.is_valid else None)),
}


def number_of(kept):
    """The number of a row, from the reference that keeps it; None for a dead weak reference."""
    if isinstance(kept, weakref.ref):
        kept = kept()
    if isinstance(kept, (int, type(None))):
        return kept
    if isinstance(kept, Remembering):
        return kept.n
    found = dict(kept) if not callable(kept) else kept()
    return found["n"] if isinstance(found, dict) else found.n


@pytest.mark.parametrize("keeper", KEEPERS)
@pytest.mark.parametrize("share", [1, 0.3, 0.001, 0])
def test_objects_that_are_kept_stay_what_they_are(many, keeper, share, monkeypatch):
    random_ = random.Random(f"{keeper} {share}")
    keep, kept, turned = KEEPERS[keeper], [], []
    monkeypatch.setattr(_pages.Page, "turn", lambda page, *rows, turn=_pages.Page.turn: turned.append(turn(page, *rows)) or turned[-1])
    for n, row in enumerate(many[Remembering].where("n >= 0")):
        assert row.n == n
        if random_.random() < share:
            keep(row, kept)
        if n in (3000, 5500):
            for number, what in kept:
                if not isinstance(what, Iterator):
                    assert number_of(what) in (number, None)
    del row
    for number, what in kept:
        found = number_of(what)
        assert found == number or found is None and isinstance(what, weakref.ref)
    assert turned and (all(turned) or kept)


def test_what_takes_objects_from_loops(many):
    """Tools of Python that keep some of the objects that they receive."""
    rows, numbers = many[Remembering].where("n >= 0"), range(6000)
    assert [row.n for row in heapq.nlargest(5, rows, key=lambda row: row.n * 7919 % 6007)] == heapq.nlargest(
        5, numbers, key=lambda n: n * 7919 % 6007
    )
    assert all(one.n == other.n for one, other in zip(rows, many[Remembering]))
    groups = itertools.groupby(rows, key=lambda row: row.n // 700)
    assert [[row.n for row in group] for _, group in groups] == [list(numbers[at : at + 700]) for at in range(0, 6000, 700)]
    one, other = itertools.tee(rows)
    assert [row.n for row in one] == [row.n for row in other] == list(numbers)
    assert [row.n for row in deque(rows, maxlen=5)] == list(numbers[-5:])
    assert [row.n for row in sorted(rows, key=lambda row: -row.n)] == list(numbers[::-1])
    assert functools.reduce(lambda one, other: max(one, other, key=lambda row: row.n), rows).n == 5999
    assert [row.n for row in itertools.islice(rows, 5, None, 333)] == list(numbers[5::333])


def test_threads_that_keep_objects_of_a_frozen_loop(many):
    """Each value is that of its object, although the loop goes on meanwhile."""
    frozen, rows, wrong = many.freeze(), queue.Queue(maxsize=4), []

    def look():
        while (found := rows.get()) is not None:
            number, row = found
            del found
            try:
                wrong.extend(number for _ in range(20) if row.n != number)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for n, row in enumerate(frozen[Remembering]):
        if n % 97 == 0 or n % 1024 in (335, 336, 337):
            rows.put((n, row))
    for _ in threads:
        rows.put(None)
    for thread in threads:
        thread.join()
    assert not wrong
    frozen.close()


def test_a_loop_backwards_over_deleted_rows(cats):
    """Pages that come after a page without deleted rows reuse its objects, and have one for each row that is there."""
    snapshot = cats["Cat"].snapshot()
    gone = {3, 1000}
    with cats.write():
        cats["Cat"].where("id IN $0", list(gone)).delete_all()
    expected = [None if n in gone else n for n in range(ROWS)]
    assert [None if cat is None else cat.id for cat in reversed(snapshot)] == expected[::-1]
    assert [None if cat is None else cat.id for cat in snapshot] == expected
