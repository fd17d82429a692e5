"""Instances that a write added become plain again when it is rolled back, and can be added again."""

import contextlib
import gc
import os
import random
import sys
import typing
import weakref

import pytest

import crealm
from crealm import database


class Wing(crealm.Embedded):
    span: int
    marks: typing.List[str]


class Bird(crealm.Model):
    name: str
    wing: typing.Optional[Wing]
    wings: typing.List[Wing]
    songs: typing.List[str]
    colours: typing.Set[str]
    nests: typing.Dict[str, int]
    any: typing.Any
    mate: typing.Optional["Bird"]
    chicks: typing.List["Bird"]


class Ring(crealm.Model):
    id: int = crealm.field(primary_key=True)
    text: str = "none"
    bird: typing.Optional[Bird]


SCHEMA = [Bird, Ring]


class Stop(Exception):
    pass


@pytest.fixture
def db(path):
    db = crealm.open(path, schema=SCHEMA)
    yield db
    db.close()


def flock():
    chick = Bird(name="chick", songs=["tweet"])
    bird = Bird(
        name="hen",
        wing=Wing(span=3, marks=["a"]),
        wings=[Wing(span=1), Wing(span=2, marks=["b", "c"])],
        songs=["x", "y"],
        colours={"red"},
        nests={"tree": 1},
        any={"deep": [1, {"bird": chick}]},
        chicks=[chick, Bird(name="other")],
    )
    bird.mate = bird
    return bird, chick


def check_flock(bird, chick):
    assert (bird.name, bird.songs, bird.colours, bird.nests) == ("hen", ["x", "y"], {"red"}, {"tree": 1})
    assert bird.wing.span == 3 and list(bird.wing.marks) == ["a"]
    assert [(w.span, list(w.marks)) for w in bird.wings] == [(1, []), (2, ["b", "c"])]
    assert bird.any["deep"][0] == 1 and bird.any["deep"][1]["bird"] == chick
    assert bird.mate == bird and bird.chicks[0] == chick and chick.songs == ["tweet"]
    assert [c.name for c in bird.chicks] == ["chick", "other"]


def fail_by_exception(db, body):
    with pytest.raises(Stop), db.write():
        body()
        raise Stop


def fail_by_commit(db, body):
    """The commit itself fails, because the write was ended without the package."""
    with pytest.raises(crealm.Error), db.write():
        body()
        db._owner.call(database.lib.realm_rollback)


@pytest.mark.parametrize("fail", [fail_by_exception, fail_by_commit])
def test_a_retry_stores_what_the_first_try_did_not(db, fail):
    bird, chick = flock()
    for _ in range(3):

        def change():
            assert db.add(bird) is bird and bird.is_managed and chick.is_managed
            check_flock(bird, chick)
            bird.name = "changed"
            bird.songs.append("z")
            bird.wing = None
            chick.delete()

        fail(db, change)
        assert not bird.is_managed and not chick.is_managed and len(db[Bird]) == 0
        check_flock(bird, chick)
        assert type(bird.songs) is list and type(bird.wing) is Wing and type(bird.chicks) is list
    with db.write():
        db.add(bird)
    check_flock(bird, chick)
    assert bird.is_managed and len(db[Bird]) == 3 and list(db[Bird].where("name == 'hen'")) == [bird]


def test_closing_inside_a_write(db, path):
    bird, chick = flock()
    with pytest.raises(crealm.ClosedError), db.write():
        db.add(bird)
        db.close()
    check_flock(bird, chick)
    with crealm.open(path, schema=SCHEMA) as again:
        with again.write():
            again.add(bird)
        check_flock(bird, chick)


def test_ways_into_the_database_other_than_add(db):
    rings = [Ring(id=n, bird=Bird(name=str(n))) for n in range(5)]
    with db.write():
        owner = db[Bird].create(name="owner")
        known = db.add(Ring(id=9))

    def change():
        db.add_many(Ring, rings[:2])
        owner.chicks.append(rings[2].bird)
        owner.mate = rings[3].bird
        owner.any = [rings[4]]
        known.bird = Bird(name="new")
        assert all(r.bird.is_managed for r in rings)

    fail_by_exception(db, change)
    assert known.bird is None and owner.any is None and not owner.chicks and owner.mate is None
    assert [(r.is_managed, r.bird.is_managed, r.bird.name) for r in rings] == [
        (False, False, str(n)) for n in range(5)
    ]
    with db.write():
        change()
    assert len(db[Ring]) == 4 and len(db[Bird]) == 7


def test_updates_of_an_object_that_is_there(db):
    with db.write():
        there = db.add(Ring(id=1, text="there"))
    for update in ("all", "modified"):
        ring = Ring(id=1, text="new")
        fail_by_exception(db, lambda: db.add(ring, update=update))
        assert not ring.is_managed and (ring.id, ring.text, there.text) == (1, "new", "there")
    with db.write():
        db.add(ring, update="modified")
    assert ring == there and there.text == "new"


def test_deletions_come_back_and_deleted_instances_are_refused(db):
    with db.write():
        ring = db.add(Ring(id=1, text="kept"))
    fail_by_exception(db, ring.delete)
    assert ring.is_valid and ring.text == "kept" and ring.is_managed
    with db.write():
        ring.delete()
        with pytest.raises(crealm.InvalidatedError, match="deleted"):
            db.add(ring)
    with pytest.raises(crealm.InvalidatedError), db.write():
        db.add(ring)
    assert len(db[Ring]) == 0


def test_objects_of_the_rolled_back_write_that_were_never_plain(db):
    made = []
    bird = Bird(name="x")

    def change():
        made.extend([db[Bird].create(name="made"), db.add(bird).chicks, db[Bird].first()])
        bird.mate = made[0]

    fail_by_exception(db, change)
    assert not made[0].is_valid and not made[1].is_valid and bird.mate is None
    later = Bird(name="y", mate=made[0])
    with pytest.raises(crealm.InvalidatedError), db.write():
        db.add(later)
    assert not later.is_managed


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("name", ["realm_begin_write", "realm_commit", "realm_rollback"])
def test_an_interrupt_around_each_step_of_a_write(db, path, monkeypatch, name, when):
    bird, chick = flock()
    real = getattr(database.lib, name)

    def interrupted(realm):
        monkeypatch.setattr(database.lib, name, real)
        if when == "after":
            assert real(realm)
        raise KeyboardInterrupt

    monkeypatch.setattr(database.lib, name, interrupted)
    with pytest.raises(KeyboardInterrupt), db.write():
        db.add(bird)
        if name == "realm_rollback":
            raise Stop
    is_stored = (name, when) == ("realm_commit", "after")
    assert bird.is_managed == is_stored and not db.is_writing
    check_flock(bird, chick)
    with crealm.open(path) as other, other.write():  # The write lock is free.
        assert len(other["Bird"]) == 3 * is_stored
    with db.write():
        db.add(bird)
    assert len(db[Bird]) == 3 and bird.is_managed
    check_flock(bird, chick)


class InterruptAt:
    """Raises KeyboardInterrupt at the n-th point of this package where signal handlers can run: at the entry of a
    function, and at the return of one that is not written in Python."""

    def __init__(self, number):
        self.number = number
        self.count = 0

    def __enter__(self):
        sys.setprofile(self.step)
        return self

    def __exit__(self, *_):
        sys.setprofile(None)

    def step(self, frame, event, argument):
        if event in ("call", "c_return") and frame.f_globals.get("__name__", "").startswith("crealm"):
            self.count += 1
            if self.count == self.number:
                sys.setprofile(None)
                raise KeyboardInterrupt


def with_statement(db, bird):
    with db.write():
        db.add(bird)
        bird.songs.append("new")


def exit_stack(db, bird):
    with contextlib.ExitStack() as stack:
        stack.enter_context(db.write())
        db.add(bird)
        bird.songs.append("new")


def rolled_back(db, bird):
    with contextlib.suppress(Stop), db.write():
        db.add(bird)
        raise Stop


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # Interrupts inside finalizers.
@pytest.mark.parametrize("write", [with_statement, exit_stack, rolled_back])
def test_an_interrupt_at_any_point_ends_the_write(db, path, write):
    other = crealm.open(path, schema=SCHEMA)
    number, stored, interrupts, is_over = 0, 0, 0, False
    while not is_over:
        number += 1
        bird = Bird(name=str(number), songs=["a"])
        try:
            with InterruptAt(number) as interrupt:
                write(db, bird)
        except KeyboardInterrupt:
            interrupts += 1
            assert not db.is_writing or write is exit_stack
        if db._block is not None:
            gc.collect()  # The traceback refers to the stack, and the stack to the block.
        is_over = interrupt.count < number
        assert not db.is_writing
        assert db._owner.depth == 0 and not db._added._instances
        is_stored = len(db[Bird]) > stored
        assert len(db[Bird]) - stored == is_stored == bird.is_managed
        assert list(bird.songs) == (["a", "new"] if is_stored else ["a"])
        stored += is_stored
        with other.write():  # Does not wait.
            assert len(other[Bird]) == stored
        with db.write():
            pass
        assert len(db[Bird]) == stored
    other.close()
    assert interrupts > 100 and (write is rolled_back) == (stored == 0) and is_stored == (write is not rolled_back)


def test_an_interrupt_before_the_first_step_of_the_exit(db):
    """The write ends before the interrupt is handled, and a write that begins meanwhile continues."""
    bird = Bird(name="a")

    def at_the_exit(frame, event, argument):
        if event == "call" and frame.f_code is database._exit.__code__:
            sys.setprofile(None)
            raise KeyboardInterrupt

    try:
        with db.write():
            db.add(bird)
            sys.setprofile(at_the_exit)
    except KeyboardInterrupt as interrupt:
        kept = interrupt
        assert not db.is_writing and not bird.is_managed
    with db.write():
        with pytest.raises(crealm.UsageError), db.write():
            pass
        del kept
        assert db.is_writing and db.add(bird) is bird
    assert bird.is_managed and len(db[Bird]) == 1


def test_a_write_that_nobody_can_end_is_rolled_back(db):
    bird = Bird(name="a")
    block = db.write()
    block.__enter__()
    db.add(bird)
    del block
    assert not db.is_writing and not bird.is_managed and len(db[Bird]) == 0


class Strike:
    """A number that runs an action when it is read."""

    def __init__(self, action):
        self.action = action

    def __index__(self):
        self.action()
        return 1


@pytest.mark.parametrize("name", ["id", "many"])
def test_a_value_that_ends_its_write(path, name):
    """It does so while it is encoded, for an instance that this write added."""
    declared = type("Counted", (crealm.Model,), {"__annotations__": {"id": int, "many": typing.List[int]}})
    for end, expected in (("roll back", crealm.InvalidatedError), ("close", crealm.ClosedError)):
        with crealm.open(path, schema=[declared]) as db:
            block = db.write()
            block.__enter__()
            counted = db.add(declared(id=7))
            action = db.close if end == "close" else lambda: block.__exit__(Stop, Stop(), None)
            value = Strike(action)
            with pytest.raises(expected):
                setattr(counted, name, [value] if name == "many" else value)
            assert not counted.is_managed and counted.id == 7 and counted.many == []


def test_nobody_is_kept_alive(db):
    with db.write():
        watched = [weakref.ref(db.add(Bird(name=str(n)))) for n in range(5000)]
        gc.collect()
        assert not any(ref() for ref in watched[:-1]) and len(db._added._instances) <= 1001
    assert len(db[Bird]) == 5000
    kept = Bird(name="kept", songs=["a"])
    with db.write():
        db.add(kept)
    assert not kept._values and not db._added._instances


# ------------------------------------------------------------------------------------------------
# Random histories, compared with a model
# ------------------------------------------------------------------------------------------------


class Life:
    """Instances, their values while they were plain, and the contents of the database."""

    def __init__(self, db, rng):
        self.db, self.rng = db, rng
        self.number = 0
        self.plain = {}  # Instance: its values.
        self.stored = {}  # Instance: its values.

    def new_values(self):
        rng = self.rng
        return {
            "name": f"bird {rng.randrange(100)}",
            "songs": [str(rng.randrange(9)) for _ in range(rng.randrange(3))],
            "colours": set(rng.sample(["red", "blue", "green"], rng.randrange(3))),
            "nests": {key: rng.randrange(9) for key in rng.sample("abc", rng.randrange(3))},
            "span": rng.choice([None, 1, 2]),
            "any": rng.choice([None, 5, ["x", [1]], {"k": [2.5]}]),
            "mate": None,
            "chicks": [],
        }

    def make(self):
        values = self.new_values()
        bird = Bird(**{k: v for k, v in values.items() if k != "span"})
        if values["span"] is not None:
            bird.wing = Wing(span=values["span"])
        known = [*self.plain, *self.stored]
        for other in self.rng.sample(known, min(len(known), self.rng.randrange(3))):
            if self.rng.random() < 0.5:
                bird.mate, values["mate"] = other, other
            else:
                bird.chicks.append(other)
                values["chicks"] = [*values["chicks"], other]
        self.plain[bird] = values
        return bird

    def reach(self, bird, found=None):
        """The plain instances that are added together with one."""
        found = {} if found is None else found
        values = self.plain.get(bird)
        if values is not None and bird not in found:
            found[bird] = values
            for other in [values["mate"], *values["chicks"]]:
                if other is not None:
                    self.reach(other, found)
        return found

    def shape(self, bird):
        return {
            "name": bird.name,
            "songs": list(bird.songs),
            "colours": set(bird.colours),
            "nests": dict(bird.nests),
            "span": None if bird.wing is None else bird.wing.span,
            "any": bird.any.copy() if isinstance(bird.any, (crealm.List, crealm.Dictionary)) else bird.any,
            "mate": bird.mate,
            "chicks": list(bird.chicks),
        }

    def check(self):
        for bird, values in self.plain.items():
            assert not bird.is_managed and self.shape(bird) == values
        for bird, values in self.stored.items():
            assert bird.is_managed and bird.is_valid and self.shape(bird) == values
        assert len(self.db[Bird]) == len(self.stored)


class ById(dict):
    """A dictionary with instances as keys, by identity, because their hash changes when they are added."""

    def __init__(self, pairs=()):
        super().__init__()
        for key, value in pairs:
            self[key] = value

    def __setitem__(self, key, value):
        super().__setitem__(id(key), (key, value))

    def __getitem__(self, key):
        return super().__getitem__(id(key))[1]

    def get(self, key, default=None):
        return super().get(id(key), (None, default))[1]

    def pop(self, key):
        return super().pop(id(key))[1]

    def __contains__(self, key):
        return super().__contains__(id(key))

    def __iter__(self):
        return iter([key for key, _ in super().values()])

    def items(self):
        return list(super().values())


@pytest.mark.parametrize("seed", range(int(os.environ.get("CREALM_ROLLBACK_SEEDS", 12))))
def test_random_histories(path, seed):
    rng = random.Random(seed)
    with crealm.open(path, schema=SCHEMA) as db:
        life = Life(db, rng)
        life.plain, life.stored = ById(), ById()
        for _ in range(25):
            while len(life.plain) < 4:
                life.make()
            before = ById(life.plain.items()), ById((b, dict(v)) for b, v in life.stored.items())
            fails = rng.random() < 0.5
            try:
                with db.write():
                    for _ in range(rng.randrange(1, 6)):
                        step(life, rng)
                    life.check()
                    if fails:
                        raise Stop
            except Stop:
                life.plain, life.stored = before
            life.check()


def step(life, rng):
    kind = rng.choice(["add", "add", "delete", "change", "replace"])
    if kind == "add" and life.plain:
        bird = rng.choice(list(life.plain))
        if rng.random() < 0.3:
            life.db.add_many(Bird, [bird])
        else:
            life.db.add(bird)
        for other in life.reach(bird, ById()):
            life.stored[other] = dict(life.plain.pop(other))
    elif kind == "delete" and life.stored:
        bird = rng.choice(list(life.stored))
        if any(v["mate"] is bird or bird in ById((c, 0) for c in v["chicks"]) for _, v in life.plain.items()):
            return  # A plain instance that links to it could not be added any more.
        life.stored.pop(bird)
        bird.delete()
        for _, values in life.stored.items():
            if values["mate"] is bird:
                values["mate"] = None
            values["chicks"] = [c for c in values["chicks"] if c is not bird]
    elif kind == "change" and life.stored:
        bird = rng.choice(list(life.stored))
        bird.name = life.stored[bird]["name"] = f"changed {rng.randrange(100)}"
        bird.songs.append("new")
        life.stored[bird]["songs"] = [*life.stored[bird]["songs"], "new"]
    elif kind == "replace" and life.stored and life.plain:
        owner, bird = rng.choice(list(life.stored)), rng.choice(list(life.plain))
        owner.mate = bird  # Is added, too.
        for other in life.reach(bird, ById()):
            life.stored[other] = dict(life.plain.pop(other))
        life.stored[owner]["mate"] = bird
