"""Rules: what a file demands of its objects. Model tests first, then each rule with an example."""

import random
import threading
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Dict, List, Optional, Set
from uuid import UUID

import pytest

import crealm


# ------------------------------------------------------------------------------------------------
# Deletion
# ------------------------------------------------------------------------------------------------


class Leaf(crealm.Model):
    n: int


class Node(crealm.Model):
    n: int = crealm.field(primary_key=True)
    one: Optional["Node"] = crealm.field(on_delete="cascade")
    many: List["Node"] = crealm.field(on_delete="cascade_last")
    some: Set["Node"] = crealm.field(on_target_delete="cascade")
    named: Dict[str, Optional["Node"]] = crealm.field(on_target_delete="deny")
    anything: Any = crealm.field(on_delete="cascade")
    kept: Optional["Node"] = crealm.field(on_delete="deny")
    free: Optional["Node"]
    leaf: Optional[Leaf] = crealm.field(on_delete="cascade_last")


def links_of(node):
    """The links of a node in the model: (property, target) pairs."""
    return [(name, target) for name, target in node]


class Graph:
    """A plain model of the rules of deletion."""

    def __init__(self):
        self.links = {}  # Number to a list of (property, number).

    def referrers(self, n):
        return [(m, name) for m, all_ in self.links.items() for name, target in all_ if target == n]

    def plan(self, start):
        gone = {n for n in start if n in self.links}
        while True:
            more = set()
            for n in gone:
                for name, target in self.links[n]:
                    if name in ("one", "anything"):
                        more.add(target)
                    elif name == "many" and all(m in gone or m == target for m, _ in self.referrers(target)):
                        more.add(target)
                more.update(m for m, name in self.referrers(n) if name == "some")
            if more <= gone:
                break
            gone |= more
        for n in gone:
            if any(name == "named" and m not in gone for m, name in self.referrers(n)):
                return None
            if any(name == "kept" and target not in gone for name, target in self.links[n]):
                return None
        return gone

    def delete(self, gone):
        for n in gone:
            del self.links[n]
        for n, all_ in self.links.items():
            self.links[n] = [(name, target) for name, target in all_ if target not in gone]


def stored(db):
    found = {}
    for node in db[Node]:
        links = [(name, node[name].n) for name in ("one", "kept", "free") if node[name] is not None]
        links += [("many", other.n) for other in node.many]
        links += [("some", other.n) for other in node.some]
        links += [("named", other.n) for other in node.named.values() if other is not None]
        if isinstance(node.anything, crealm.Object):
            links.append(("anything", node.anything.n))
        elif node.anything is not None:
            links += [("anything", other.n) for other in node.anything]
        found[node.n] = sorted(links)
    return found


@pytest.mark.parametrize("seed", range(10))
def test_deletions_follow_the_model(path, seed):
    chance = random.Random(seed)
    graph = Graph()
    with crealm.open(path, schema=[Node]) as db:
        for _ in range(12):
            with db.write():
                for _ in range(chance.randrange(6)):
                    n = chance.randrange(10**6)
                    if n in graph.links:
                        continue
                    node = db.add(Node(n=n))
                    links = []
                    numbers = list(graph.links)
                    for name in ("one", "kept", "free"):
                        if numbers and chance.random() < 0.25:
                            target = chance.choice(numbers)
                            node[name] = db[Node].get(target)
                            links.append((name, target))
                    for name in ("many", "some"):
                        for target in set(chance.choices(numbers, k=chance.randrange(3))) if numbers else ():
                            (node.many.append if name == "many" else node.some.add)(db[Node].get(target))
                            links.append((name, target))
                    if numbers and chance.random() < 0.15:
                        target = chance.choice(numbers)
                        node.named["x"] = db[Node].get(target)
                        links.append(("named", target))
                    if numbers and chance.random() < 0.2:
                        target = chance.choice(numbers)
                        many = chance.random() < 0.5
                        node.anything = [db[Node].get(target)] if many else db[Node].get(target)
                        links.append(("anything", target))
                    graph.links[n] = links
                if graph.links and chance.random() < 0.8:
                    start = set(chance.choices(list(graph.links), k=chance.randrange(1, 4)))
                    gone = graph.plan(start)
                    objects = [db[Node].get(n) for n in start]
                    if gone is None:
                        with pytest.raises(crealm.RuleBroken):
                            delete(db, objects)
                    else:
                        delete(db, objects)
                        graph.delete(gone)
            assert stored(db) == {n: sorted(links) for n, links in graph.links.items()}
        assert not db.verify()
    # What the verifier says about the file as a whole.
    assert crealm.check(path)


def delete(db, objects):
    if len(objects) == 1:
        objects[0].delete()
    else:
        numbers = [o.n for o in objects]
        db[Node].where("n IN $0", numbers).delete_all()


def test_the_error_names_who_refers(path):
    class Dog(crealm.Model):
        name: str = crealm.field(primary_key=True)
        owner: Optional["Person"] = crealm.field(on_target_delete="deny")

    class Person(crealm.Model):
        name: str = crealm.field(primary_key=True)

    with crealm.open(path, schema=[Dog, Person]) as db:
        with db.write():
            ann = db.add(Person(name="Ann"))
            db.add(Dog(name="Rex", owner=ann))
        with pytest.raises(crealm.RuleBroken, match="'Ann' of class 'Person' cannot be deleted: property 'owner' of object 'Rex'"):
            with db.write():
                ann.delete()
        assert len(db[Person]) == 1
        with db.write():
            db[Dog].delete_all()
            ann.delete()
        assert len(db[Person]) == 0


def test_a_long_chain_needs_no_stack(path):
    with crealm.open(path, schema=[Node]) as db:
        with db.write():
            last = None
            for n in range(100_000):
                last = db.add(Node(n=n, one=last))
        results = db[Node].where("n >= 0")
        with db.write():
            last.delete()
        assert len(results) == 0
        assert not db.verify()


def test_deletions_are_told_in_one_change(path):
    with crealm.open(path, schema=[Node]) as db:
        with db.write():
            a = db.add(Node(n=1))
            b = db.add(Node(n=2, one=a))
        changes = []
        observation = db[Node].observe(changes.append)
        db.refresh()
        del changes[:]
        with db.write():
            b.delete()
        db.refresh()
        assert [sorted(change.deletions) for change in changes] == [[0, 1]]
        observation.cancel()


# ------------------------------------------------------------------------------------------------
# Automatic keys
# ------------------------------------------------------------------------------------------------


class Auto(crealm.Model):
    id: int = crealm.field(primary_key=True, auto=True)
    number: int = crealm.field(auto=True)
    uuid: UUID = crealm.field(auto=True)
    oid: crealm.ObjectId = crealm.field(auto=True)
    name: str


def test_automatic_values(path):
    with crealm.open(path, schema=[Auto]) as db:
        before = datetime.now(timezone.utc)
        with db.write():
            made = [db.add(Auto(name=str(i))) for i in range(300)]
        assert [o.id for o in made] == list(range(1, 301)) == [o.number for o in made]
        uuids = [o.uuid for o in made]
        assert uuids == sorted(uuids) and len(set(uuids)) == 300
        assert all(u.version == 7 and u.variant == "specified in RFC 4122" for u in uuids)
        assert abs((uuids[0].int >> 80) / 1000 - before.timestamp()) < 10
        assert len({o.oid for o in made}) == 300
        with db.write():
            made[-1].delete()
            assert db.add(Auto(name="next")).id == 301  # Never used again, also not the last one.
            assert db.add(Auto(id=1000, name="own")).id == 1000
            assert db.add(Auto(name="after")).id == 1001
        with pytest.raises(ZeroDivisionError):
            with db.write():
                assert db.add(Auto(name="undone")).id == 1002
                1 / 0
        with db.write():
            db[Auto].delete_all()
            assert db.add(Auto(name="gaps are allowed, repetitions are not")).id == 1002
    with crealm.open(path) as db:  # A program without models.
        with db.write():
            assert db["Auto"].create(name="x").id == 1003


def test_two_writers_never_make_the_same_key(path):
    crealm.open(path, schema=[Auto]).close()

    def work():
        with crealm.open(path, schema=[Auto]) as db:
            for _ in range(50):
                with db.write():
                    db.add(Auto(name="x"))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with crealm.open(path, schema=[Auto]) as db:
        assert sorted(o.id for o in db[Auto]) == list(range(1, 201)) == sorted(o.number for o in db[Auto])


def test_the_greatest_integer_ends_the_counter(path):
    with crealm.open(path, schema=[Auto]) as db:
        with db.write():
            db.add(Auto(id=2**63 - 2, name="x"))
        with pytest.raises(crealm.LimitExceeded, match="greatest integer"):
            with db.write():
                db.add(Auto(name="a"))
                db.add(Auto(name="b"))


# ------------------------------------------------------------------------------------------------
# Unique values, checks
# ------------------------------------------------------------------------------------------------


class Member(crealm.Model):
    country: str
    number: Optional[int]
    mail: str = crealm.field(unique=True)
    age: int = crealm.field(min=0, max=150)
    name: str = crealm.field(min_length=1)

    class Meta:
        unique = [("country", "number")]
        checks = {"grown up": "age >= 18 OR name != 'boss'"}


def member(i, **values):
    return Member(**{"country": "de", "number": i, "mail": f"m{i}", "age": 30, "name": "n", **values})


@pytest.mark.parametrize("seed", range(8))
def test_unique_follows_the_model(path, seed):
    chance = random.Random(seed)
    rows = {}  # Object key to (country, number, mail).

    def broken(rows):
        pairs = [(c, n) for c, n, _ in rows.values() if n is not None]
        mails = [m for _, _, m in rows.values()]
        return len(set(pairs)) < len(pairs) or len(set(mails)) < len(mails)

    with crealm.open(path, schema=[Member]) as db:
        for _ in range(40):
            new = dict(rows)
            try:
                with db.write():
                    for _ in range(chance.randrange(1, 5)):
                        values = (chance.choice("ab"), chance.choice([None, *range(6)]), str(chance.randrange(12)))
                        what = chance.random()
                        if what < 0.45 or not new:
                            obj = db.add(Member(country=values[0], number=values[1], mail=values[2], age=1, name="x"))
                            new[obj.object_key] = values
                        elif what < 0.8:
                            key = chance.choice(list(new))
                            obj = db._object(db._named("Member").key, key)
                            obj.country, obj.number, obj.mail = values
                            new[key] = values
                        else:
                            key = chance.choice(list(new))
                            db._object(db._named("Member").key, key).delete()
                            del new[key]
                    found = chance.choice(list(new.values())) if new else None
                    if found is not None and not broken(new):
                        assert db.find_unique(Member, mail=found[2]).mail == found[2]
            except crealm.RuleBroken:
                assert broken(new)
                continue
            assert not broken(new)
            rows = new
            assert {o.object_key: (o.country, o.number, o.mail) for o in db[Member]} == rows
            for country, number, mail in rows.values():
                if number is not None:
                    assert db.find_unique(Member, country=country, number=number).mail == mail
            assert db.find_unique(Member, mail="nobody") is None
            assert db.broken_rules() == []
        assert not db.verify()
    assert crealm.check(path)


def test_values_can_be_swapped(path):
    with crealm.open(path, schema=[Member]) as db:
        with db.write():
            a, b = db.add(member(1)), db.add(member(2))
        with db.write():
            a.mail, b.mail = b.mail, a.mail
        assert (a.mail, b.mail) == ("m2", "m1")
        assert db.find_unique(Member, mail="m1") == b


def test_checks_name_class_key_and_check(path):
    with crealm.open(path, schema=[Member]) as db:
        with pytest.raises(crealm.RuleBroken, match="Check 'age.max' .age <= 150.: object 0 of class 'Member'"):
            with db.write():
                db.add(member(1, age=151))
        with pytest.raises(crealm.RuleBroken, match="name.min_length"):
            with db.write():
                db.add(member(1, name=""))
        with pytest.raises(crealm.RuleBroken, match="grown up"):
            with db.write():
                db.add(member(1, name="boss", age=17))
        with db.write():
            boss = db.add(member(1, name="boss", age=18))
        with db.write():
            boss.age = -1
            boss.age = 20  # Only the end of the write counts.
        assert len(db[Member]) == 1


LIMITS = [
    ("min", int, 0, -1, 0),
    ("max", float, 2.5, 2.75, 2.5),
    ("min_length", str, 2, "x", "é"),
    ("max_length", str, 2, "éx", "é"),
    ("min_count", List[int], 1, [], [1]),
    ("max_count", Set[int], 1, {1, 2}, {2}),
    ("required", Optional[int], True, None, 0),
]


@pytest.mark.parametrize("limit, kind, value, bad, good", LIMITS, ids=[one[0] for one in LIMITS])
def test_each_limit(path, limit, kind, value, bad, good):
    class Thing(crealm.Model):
        p: kind = crealm.field(**{limit: value})

    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            thing = db[Thing].create(p=good)
        with pytest.raises(crealm.RuleBroken, match=rf"Check 'p\.{limit}' .*: object 0 of class 'Thing'"):
            with db.write():
                thing.p = bad
        with db.write():
            thing.p = bad
            thing.p = good  # Only the end of the write counts.
        with pytest.raises(crealm.RuleBroken, match=rf"p\.{limit}"):
            with db.write():
                db[Thing].create(p=bad)
        assert len(db[Thing]) == 1


def test_a_refused_commit_can_go_on(path):
    from crealm import _marshal as c
    from crealm._library import lib

    with crealm.open(path, schema=[Member]) as db:
        with db.write():
            obj = db.add(member(1))
        with db.write():
            obj.age = 200
            with pytest.raises(crealm.RuleBroken):
                db._owner.call(c.check, lib.realm_commit)
            obj.age = 100
        assert obj.age == 100


def test_adding_a_rule_checks_the_data_and_changes_nothing_if_refused(path):
    class Thing(crealm.Model):
        n: int

    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            db.add_many(Thing, [{"n": i % 50} for i in range(100)])
        version = db.version

    class Thing(crealm.Model):  # noqa: F811
        n: int = crealm.field(unique=True)

    with pytest.raises(crealm.RuleBroken, match=r"Unique rule 'n': object \d+ of class 'Thing' has the same values as object \d+"):
        crealm.open(path, schema=[Thing])
    with crealm.open(path) as db:
        assert db.version == version and db.rules("Thing")["unique"] == []
        with db.write():
            db["Thing"].where("n >= 0 LIMIT(50)").delete_all()
    with crealm.open(path, schema=[Thing]) as db:
        assert db.rules(Thing)["unique"] == [{"properties": ["n"]}]
        with db.write():
            db.set_rules(Thing, {})
            db.add(Thing(n=1))
        assert len(db[Thing].where("n == 1")) == 2


def test_case_and_nulls(path):
    class Word(crealm.Model):
        text: Optional[str]

        class Meta:
            unique = [{"properties": ["text"], "ignore_case": True, "nulls_equal": True}]

    with crealm.open(path, schema=[Word]) as db:
        with db.write():
            db.add_many(Word, [{"text": "Straße"}, {"text": "ИВАН"}, {"text": None}])
        for text in ("STRAßE", "STRASSE", "иван", None):
            with pytest.raises(crealm.RuleBroken):
                with db.write():
                    db.add(Word(text=text))
        assert db.find_unique(Word, text="Иван").text == "ИВАН"


class Seat(crealm.Model):
    row: int
    column: str
    guest: str

    class Meta:
        primary_key = ("row", "column")


def test_a_primary_key_of_several_properties(path):
    with crealm.open(path, schema=[Seat]) as db:
        with db.write():
            a = db.add(Seat(row=1, column="a", guest="Ann"))
            assert db[Seat].get((1, "a")) == a  # Also before the commit.
            db.add(Seat(row=1, column="b", guest="Bob"))
        assert db[Seat].get((1, "b")).guest == "Bob" and db[Seat].get((2, "a")) is None
        with pytest.raises(crealm.DataError, match="is a tuple of row, column"):
            db[Seat].get(1)
        with pytest.raises(crealm.RuleBroken, match="primary key"):
            with db.write():
                db[Seat][0].column = "b"
        with db.write():
            with pytest.raises(crealm.DuplicateKeyError, match="row=1, column='a'"):
                db.add(Seat(row=1, column="a", guest="Cyd"))
            db.add(Seat(row=1, column="a", guest="Cyd"), update="modified")
            db.add(Seat(row=9, column="a", guest="Dan"), update="all", by=("row", "column"))
        assert sorted((o.row, o.column, o.guest) for o in db[Seat]) == [(1, "a", "Cyd"), (1, "b", "Bob"), (9, "a", "Dan")]
    with crealm.open(path) as db:
        assert db["Seat"].get((9, "a")).guest == "Dan"


def test_add_many_makes_keys(path):
    with crealm.open(path, schema=[Auto]) as db:
        with db.write():
            assert db.add_many(Auto, [{"name": str(i)} for i in range(100)]) == 100
            db.add_many(Auto, [{"name": "own", "id": 500 + i} for i in range(50)])
            db.add_many(Auto, [{"name": "after"}])
        assert [o.id for o in db[Auto]] == [*range(1, 101), *range(500, 550), 550]
        assert [o.number for o in db[Auto]] == list(range(1, 152))


# ------------------------------------------------------------------------------------------------
# Defaults, times, versions
# ------------------------------------------------------------------------------------------------


class Kept(crealm.Model):
    name: str = crealm.field(file_default="nobody")
    size: Optional[int] = crealm.field(file_default=7)
    born: datetime = crealm.field(created=True)
    changed: datetime = crealm.field(modified=True)
    version: int = crealm.field(revision=True)
    token: UUID = crealm.field(file_default=crealm.NEW_UUID)
    at: datetime = crealm.field(file_default=crealm.NOW)


def test_values_of_new_objects_come_from_the_file(path):
    crealm.open(path, schema=[Kept]).close()
    with crealm.open(path) as db:
        start = datetime.now(timezone.utc) - timedelta(seconds=1)
        with db.write():
            obj = db["Kept"].create()
        assert (obj.name, obj.size, obj.version) == ("nobody", 7, 1)
        assert obj.token.version == 7
        assert start <= obj.at <= obj.born <= obj.changed <= datetime.now(timezone.utc) + timedelta(seconds=1)
        born, changed = obj.born, obj.changed
        with db.write():
            obj.name = "somebody"
        assert obj.version == 2 and obj.born == born and obj.changed > changed
        with db.write():
            assert not db.set_if_version(obj, 1, name="too late")
            assert db.set_if_version(obj, 2, name="in time")
        assert (obj.name, obj.version) == ("in time", 3)


def test_object_ids_of_new_objects(path):
    class Tagged(crealm.Model):
        tag: crealm.ObjectId = crealm.field(file_default=crealm.NEW_OBJECT_ID)

    crealm.open(path, schema=[Tagged]).close()
    own = crealm.ObjectId("5f" * 12)
    with crealm.open(path) as db:
        assert db.rules("Tagged")["properties"] == {"tag": {"default": {"$new": "objectid"}}}
        with db.write():
            tags = {db["Tagged"].create().tag for _ in range(50)}
            assert db["Tagged"].create(tag=own).tag == own
        assert len(tags) == 50 and crealm.ObjectId("00" * 12) not in tags and own not in tags


# ------------------------------------------------------------------------------------------------
# Savepoints
# ------------------------------------------------------------------------------------------------


def content(db):
    return sorted((o.id, o.name) for o in db[Auto])


@pytest.mark.parametrize("seed", range(12))
def test_savepoints_follow_the_model(path, seed):
    chance = random.Random(seed)
    with crealm.open(path, schema=[Auto, Node]) as db:
        with db.write():
            db.add_many(Auto, [{"id": i + 1, "name": "old"} for i in range(chance.randrange(600))])

        def change():
            for _ in range(chance.randrange(1, 30)):
                what = chance.random()
                some = list(db[Auto])
                if what < 0.5 or not some:
                    db.add(Auto(name=str(chance.random())))
                elif what < 0.8:
                    chance.choice(some).name = str(chance.random()) * chance.choice([1, 1, 40])
                else:
                    chance.choice(some).delete()

        def part(depth):
            for _ in range(chance.randrange(1, 4)):
                change()
                if depth < 3 and chance.random() < 0.7:
                    before = content(db)
                    try:
                        with db.savepoint():
                            part(depth + 1)
                            if chance.random() < 0.5:
                                raise ZeroDivisionError
                            after = content(db)
                        assert content(db) == after
                    except ZeroDivisionError:
                        assert content(db) == before

        for _ in range(3):
            before = content(db)
            try:
                with db.write():
                    part(0)
                    after = content(db)
                    if chance.random() < 0.3:
                        raise ZeroDivisionError
                before = after
            except ZeroDivisionError:
                pass
            assert content(db) == before
            assert not db.verify()
    with crealm.open(path, schema=[Auto, Node]) as db:
        assert content(db) == before
    assert crealm.check(path)


def test_objects_of_an_undone_savepoint_are_invalid(path):
    with crealm.open(path, schema=[Auto]) as db:
        with db.write():
            first = db.add(Auto(name="first"))
            plain = Auto(name="plain")
            with pytest.raises(ZeroDivisionError):
                with db.savepoint():
                    made = db[Auto].create(name="made")
                    db.add(plain)
                    first.name = "changed"
                    1 / 0
            other = db.add(Auto(name="other"))
            assert not made.is_valid and first.name == "first"
            assert plain.name == "plain" and plain not in list(db[Auto])
            assert other.is_valid
            with db.savepoint() as savepoint:
                first.name = "again"
                savepoint.rollback()
                assert first.name == "first"
                first.name = "kept"
        assert [o.name for o in db[Auto]] == ["kept", "other"]


def test_observers_see_one_commit_without_what_was_undone(path):
    with crealm.open(path, schema=[Auto]) as db:
        with db.write():
            objects = [db.add(Auto(name=str(i))) for i in range(5)]
        changes = []
        observation = db[Auto].observe(changes.append)
        db.refresh()
        del changes[:]
        with db.write():
            objects[0].name = "x"
            with pytest.raises(ZeroDivisionError):
                with db.savepoint():
                    objects[1].name = "undone"
                    db.add(Auto(name="undone"))
                    1 / 0
            with db.savepoint():
                objects[2].name = "y"
        db.refresh()
        assert len(changes) == 1
        assert list(changes[0].modifications) == [0, 2] and not changes[0].insertions and not changes[0].deletions
        observation.cancel()


def test_renames_keep_everything(path):
    class Owner(crealm.Model):
        name: str

    class Beast(crealm.Model):
        title: str = crealm.field(primary_key=True)
        kind: str = crealm.field(index=True, unique=True)
        owner: Optional[Owner] = crealm.field(on_target_delete="deny")
        mother: Optional["Beast"]

        class Meta:
            checks = {"titled": "title != '' AND kind != 'title'"}

    with crealm.open(path, schema=[Beast]) as db:
        with db.write():
            ann = db.add(Owner(name="Ann"))
            old = db.add(Beast(title="Old", kind="cat", owner=ann))
            db.add(Beast(title="Young", kind="dog", mother=old))
        keys = [o.object_key for o in db[Beast]]

    class Animal(crealm.Model):
        name: str = crealm.field(primary_key=True, renamed_from="title")
        kind: str = crealm.field(index=True, unique=True)
        keeper: Optional[Owner] = crealm.field(on_target_delete="deny", renamed_from="owner")
        mother: Optional["Animal"]

        class Meta:
            renamed_from = "Beast"

    for _ in range(2):  # The second time there is nothing to rename.
        with crealm.open(path, schema=[Animal]) as db:
            assert [o.object_key for o in db[Animal]] == keys and "Beast" not in db
            young = db[Animal].get("Young")
            assert young.mother.name == "Old" and young.mother.keeper.name == "Ann"
            assert db[Animal].where("kind == 'dog'").explain().index if hasattr(crealm.Explanation, "index") else True
            assert db.rules(Animal) == {
                "properties": {"keeper": {"on_target_delete": "deny"}},
                "unique": [{"properties": ["kind"]}],
                "checks": [{"name": "titled", "condition": "name != '' AND kind != 'title'"}],
            }
            with pytest.raises(crealm.RuleBroken):
                with db.write():
                    young.mother.keeper.delete()
            with pytest.raises(crealm.RuleBroken, match="titled"):
                with db.write():
                    db.add(Animal(name="", kind="x"))


def test_names_of_255_bytes(path):
    long, longer = "é" * 120 + "x" * 15, "é" * 120 + "y" * 15
    assert len(long.encode()) == 255
    one = crealm.ClassSchema("One" + long[3:], {long: int, longer: str, "short": "Two" + long[3:]}, primary_key=long)
    two = crealm.ClassSchema("Two" + long[3:], {"n": crealm.Prop(int, indexed=True)}, rules={"unique": [["n"]]})
    with crealm.open(path, schema=[one, two]) as db:
        with db.write():
            target = db[two.name].create(n=7)
            db[one.name].create(1, **{longer: "text", "short": target})
    for mode in ("r", "rw", "immutable", "snapshot"):
        with crealm.open(path, mode=mode) as db:
            assert db.classes == [one.name, two.name] and set(db.schema[one.name].properties) == {long, longer, "short"}
            obj = db[one.name].get(1)
            assert obj[longer] == "text" and obj.short.n == 7 and obj[long] == 1
            assert len(db[one.name].where(f"{longer} == 'text'")) == 1
            assert db.rules(two.name)["unique"] == [{"properties": ["n"]}]
    renamed = crealm.ClassSchema("One", {long: int, "s": str, "short": two.name}, primary_key=long,
                                 rules={"renamed_from": one.name, "properties": {"s": {"renamed_from": longer}}})
    with crealm.open(path, schema=[renamed, two]) as db:
        assert db["One"].get(1).s == "text"
        with db.write():
            with pytest.raises(ZeroDivisionError):
                with db.savepoint():
                    db["One"].create(2, s="undone")
                    1 / 0
            db["One"].create(3, s="kept")
        assert [o[long] for o in db["One"]] == [1, 3]
    with pytest.raises(crealm.SchemaError, match="255"):
        crealm.open(path.with_name("other.realm"), schema=[crealm.ClassSchema("C", {"n" * 256: int})])


def test_renames_in_a_chain(path):
    class A(crealm.Model):
        a: int
        b: int

    class Other(crealm.Model):
        to: Optional[A]

        class Meta:
            checks = ["to.a > 0 AND SUBQUERY(to.@links.Other.to, $x, $x.to.b > 0).@count >= 0"]

    with crealm.open(path, schema=[A, Other]) as db:
        with db.write():
            db.add(Other(to=A(a=1, b=2)))

    class B(crealm.Model):
        b: int = crealm.field(renamed_from="a")
        c: int = crealm.field(renamed_from="b")

        class Meta:
            renamed_from = "A"

    class Other(crealm.Model):  # noqa: F811
        to: Optional[B]

    with crealm.open(path, schema=[B, Other]) as db:
        assert [(o.b, o.c) for o in db[B]] == [(1, 2)]
        with pytest.raises(crealm.RuleBroken):
            with db.write():
                db[B][0].b = 0
                db.add(Other(to=db[B][0]))
        assert "to.b > 0" in db.rules(Other)["checks"][0]["condition"]
        assert db.broken_rules() == []


class Part(crealm.Embedded):
    amount: int
    of: Optional["Whole"] = crealm.field(on_delete="cascade")


class Whole(crealm.Model):
    part: Optional[Part]
    version: int = crealm.field(revision=True, max=3)
    changed: Optional[datetime] = crealm.field(modified=True, required=True)

    class Meta:
        checks = ["part == NULL OR part.amount >= 0"]


def test_an_embedded_object_is_a_part_of_its_owner(path):
    with crealm.open(path, schema=[Whole]) as db:
        with db.write():
            other = db.add(Whole())
            whole = db.add(Whole(part=Part(amount=1, of=other)))
        assert whole.version == 1
        with pytest.raises(crealm.RuleBroken, match="part.amount >= 0"):
            with db.write():
                whole.part.amount = -1
        with db.write():
            whole.part.amount = 2
        assert whole.version == 2
        with db.write():
            whole.part = Part(amount=3, of=other)  # Replacing deletes nothing else.
        assert other.is_valid and whole.part.of == other and whole.version == 3
        with pytest.raises(crealm.RuleBroken, match="version.max"):
            with db.write():
                whole.part = None
        assert whole.version == 3
        with db.write():
            whole.delete()
        assert not other.is_valid


def test_made_values_survive_an_upsert(path):
    class Thing(crealm.Model):
        id: int = crealm.field(primary_key=True)
        number: int = crealm.field(auto=True)
        version: int = crealm.field(revision=True)
        name: str = crealm.field(file_default="x")
        text: str

    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            db.add(Thing(id=1, text="a"))
        with db.write():
            db.add(Thing(id=1, text="b"), update="all")
            db.add_many(Thing, [Thing(id=1, text="c")], update="all")
        thing = db[Thing].get(1)
        assert (thing.number, thing.version, thing.name, thing.text) == (1, 2, "x", "c")


def test_find_unique_inside_a_write_is_not_quadratic(path):
    class Word(crealm.Model):
        text: str = crealm.field(unique=True)
        count: int

    with crealm.open(path, schema=[Word]) as db:
        with db.write():
            for i in range(6000):
                text = f"w{i % 3000}"
                word = db.find_unique(Word, text=text)
                if word is None:
                    word = db.add(Word(text=text))
                word.count += 1
        assert len(db[Word]) == 3000 and {o.count for o in db[Word]} == {2}
        with db.write():
            word = db[Word].create(text="new")
            assert db.find_unique(Word, text="new") == word
            word.text = "newer"  # The history does not name this change.
            assert db.find_unique(Word, text="new") is None and db.find_unique(Word, text="newer") == word
            for number in range(5):  # The same object is changed and looked up again and again.
                word.text = f"step {number}"
                assert db.find_unique(Word, text=word.text) == word
            word.text = "newer"
            with db.savepoint() as savepoint:
                word.text = "undone"
                assert db.find_unique(Word, text="undone") == word
                savepoint.rollback()
            assert db.find_unique(Word, text="undone") is None and db.find_unique(Word, text="newer") == word
            with pytest.raises(crealm.UsageError, match="over"):
                savepoint.rollback()


def test_a_migration_keeps_counters_and_indexes(path):
    class Thing(crealm.Model):
        id: int = crealm.field(primary_key=True, auto=True)
        u: int = crealm.field(unique=True)

    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            db.add_many(Thing, [{"u": i} for i in range(3)])

    class Thing(crealm.Model):  # noqa: F811
        id: Optional[int] = crealm.field(primary_key=True, auto=True)
        u: Optional[int] = crealm.field(unique=True)
        new: int = crealm.field(unique=True)

    def migrate(old, new, version):
        for number, thing in enumerate(new["Thing"]):
            thing.new = number
            thing.u += 50
        new["Thing"].create(10, u=60, new=60)

    with crealm.open(path, schema=[Thing], version=1, migrate=migrate) as db:
        with db.write():
            assert db.add(Thing(u=1, new=1000)).id == 11
        assert [o.u for o in db[Thing]] == [50, 51, 52, 60, 1]
        assert db.find_unique(Thing, u=51).id == 2 and db.find_unique(Thing, new=60).id == 10
        with pytest.raises(crealm.RuleBroken):
            with db.write():
                db.add(Thing(u=51, new=2000))


def test_a_property_that_becomes_required_keeps_its_rules(path):
    class Thing(crealm.Model):
        n: Optional[int] = crealm.field(auto=True)
        u: Optional[int] = crealm.field(unique=True)

    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            things = [db.add(Thing(u=i)) for i in range(5)]
            things[4].delete()

    class Thing(crealm.Model):  # noqa: F811
        n: int
        u: int

    def copy(old, new, version):
        for before, after in new.pairs("Thing"):
            after.n, after.u = before.n, before.u

    with pytest.raises(crealm.RuleBroken):  # All values are 0 without the function's work.
        crealm.open(path, schema=[Thing], version=1, migrate=lambda old, new, version: None)
    with crealm.open(path, schema=[Thing], version=1, migrate=copy) as db:
        with db.write():
            assert db.add(Thing(u=9)).n == 6  # 5 was given before.
        with pytest.raises(crealm.RuleBroken):
            with db.write():
                db.add(Thing(u=3))


def test_names_in_conditions_keep_their_meaning(path):
    class A(crealm.Model):
        a: bool
        b: bool

        class Meta:
            checks = ["a == b"]

    with crealm.open(path, schema=[A]) as db:
        with db.write():
            db.add(A())

    renamed = crealm.ClassSchema("A", {"true": bool, "b": bool}, rules={"properties": {"true": {"renamed_from": "a"}}})
    with crealm.open(path, schema=[renamed]) as db:
        assert [one["condition"] for one in db.rules("A")["checks"]] == ["tr\\ue == b"]
        with pytest.raises(crealm.RuleBroken):
            with db.write():
                db["A"].create(**{"true": True})


def test_limits_fit_their_property(path):
    for annotation, limits in ((List[int], {"min": 0}), (List[str], {"max_length": 3}), (int, {"min_count": 1})):
        kind = type("Kind", (crealm.Model,), {"__annotations__": {"p": annotation}, "p": crealm.field(**limits)})
        with pytest.raises(crealm.DataError, match="collection"):
            crealm.open(path.with_name(f"{len(limits)}{annotation}.realm".replace("/", "")), schema=[kind])


def test_misuse_of_savepoints(path):
    with crealm.open(path, schema=[Auto]) as db:
        with pytest.raises(crealm.NotInWriteError):
            with db.savepoint():
                pass
        with db.write():
            with db.savepoint() as outer:
                with db.savepoint():
                    outer.rollback()  # Ends the inner one, too.
                    db.add(Auto(name="kept"))
        assert [o.name for o in db[Auto]] == ["kept"]


# ------------------------------------------------------------------------------------------------
# Where rules are
# ------------------------------------------------------------------------------------------------


def test_a_file_without_rules_has_no_table_of_rules(path):
    class Plain(crealm.Model):
        n: int

    with crealm.open(path, schema=[Plain]) as db:
        assert db.rules(Plain) == {"properties": {}, "unique": [], "checks": []}
    with open(path, "rb") as file:
        assert b"crealm_rules" not in file.read()


@pytest.mark.parametrize(
    "rules, error",
    [
        ("{", crealm.DataError),
        ('{"nonsense": 1}', crealm.DataError),
        ('{"checks": ["n >"]}', crealm.QueryError),
        ('{"checks": ["nobody > 1"]}', crealm.QueryError),
        ('{"checks": ["n > 1 SORT(n ASC)"]}', crealm.QueryError),
        ('{"unique": [[]]}', crealm.DataError),
        ('{"unique": [["n", "n"]]}', crealm.DataError),
        ('{"unique": [["nobody"]]}', crealm.NoSuchProperty),
        ('{"properties": {"n": {"on_delete": "cascade"}}}', crealm.DataError),
        ('{"properties": {"n": {"on_delete": "eat"}}}', crealm.DataError),
        ('{"properties": {"n": {"default": "text"}}}', crealm.TypeMismatch),
        ('{"properties": {"n": {"created": true}}}', crealm.DataError),
        ('{"properties": {"nobody": {"auto": true}}}', crealm.NoSuchProperty),
    ],
)
def test_invalid_rules_are_refused(path, rules, error):
    from crealm import _marshal as c
    from crealm._library import lib

    class Plain(crealm.Model):
        n: int

    with crealm.open(path, schema=[Plain]) as db:
        key = db._named("Plain").key
        with pytest.raises(error):
            with db.write():
                db._owner.call(c.check, lib.crealm_class_set_rules, key, rules.encode())
        assert db.rules(Plain) == {"properties": {}, "unique": [], "checks": []}


def test_writes_of_a_library_without_rules(path):
    """Such a library ignores the table of rules: here it has another name for a while."""

    class Thing(crealm.Model):
        n: int = crealm.field(min=0)

    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            db.add(Thing(n=1))

    def rename(old, new):
        data = path.read_bytes()
        assert data.count(old) >= 1
        path.write_bytes(data.replace(old, new))

    rename(b"crealm_rules", b"hidden_rules")
    with crealm.open(path) as db:
        with db.write():
            db["Thing"][0].n = -1
    rename(b"hidden_rules", b"crealm_rules")
    with crealm.open(path, schema=[Thing], refuse_broken_rules=True) as db:
        assert [one.rule for one in db.broken_rules()] == ["n.min"]
        with pytest.raises(crealm.RuleBroken, match="Another library wrote 1 object"):
            with db.write():
                pass
    with crealm.open(path, schema=[Thing]) as db:
        with db.write():
            db[Thing][0].n = 2
        assert db.broken_rules() == []


# ------------------------------------------------------------------------------------------------
# Checks at the call, computed properties, queries through unique rules
# ------------------------------------------------------------------------------------------------


class Span(crealm.Model):
    low: int
    high: int
    note: str = ""
    parts: List["Span"]
    length: int = crealm.computed("high - low")
    double: int = crealm.computed("length * 2")

    class Meta:
        checks = {
            "order": {"condition": "low <= high", "at": "call"},
            "few": {"condition": "parts.@count < 3", "at": "call"},
            "short": "high - low < 100",
        }


def test_checks_at_the_call(path):
    with crealm.open(path, schema=[Span]) as db:
        assert {one["name"]: one.get("at") for one in db.rules(Span)["checks"]} == {"order": "call", "few": "call", "short": None}
        with db.write():
            new = db.add(Span(low=5, high=2))  # A new object is tested at the end.
            new.high = 7
            others = [db.add(Span()) for _ in range(3)]
        with db.write():
            for _ in range(3):
                with pytest.raises(crealm.RuleBroken, match="order"):
                    new.low = 8
                assert (new.low, new.high, new.length) == (5, 7, 2)
                new.note += "x"
            new.parts.append(others[0])
            new.parts.append(others[1])
            with pytest.raises(crealm.RuleBroken, match="few"):
                new.parts.append(others[2])
            with pytest.raises(crealm.RuleBroken, match="few"):
                new.parts = others
            assert list(new.parts) == others[:2]
            new.high = 1000  # Only the commit tests this check.
            with db.savepoint() as inner:
                with pytest.raises(crealm.RuleBroken):
                    new.low = 2000
                new.note = "inside"
                inner.rollback()
            assert new.note == "xxx"
            new.high = 50
        assert (new.low, new.high, new.note, len(new.parts)) == (5, 50, "xxx", 2)
        assert not db.verify()


def test_a_call_that_is_undone_is_not_told(path):
    with crealm.open(path, schema=[Span]) as db:
        with db.write():
            one, two = db.add(Span(low=1, high=2)), db.add(Span(low=1, high=2))
        seen = []
        observation = db[Span].where("TRUEPREDICATE").observe(seen.append)
        with db.write():
            with pytest.raises(crealm.RuleBroken):
                one.low = 3
            two.high = 4
        db.refresh()
        observation.cancel()
        assert seen[-1].modifications == (1,)


def test_computed_properties(path):
    with crealm.open(path, schema=[Span]) as db:
        with db.write():
            spans = [db.add(Span(low=low, high=low * low + 1)) for low in range(1, 9)]
            assert spans[2].double == 2 * (10 - 3)
            spans[0].parts = spans[1:3]
        assert [o.low for o in db[Span].where(Span.double > 40)] == [5, 6, 7, 8]
        assert [o.low for o in db[Span].where("length == $0 OR double == 2", 13)] == [1, 4]
        assert [o.low for o in db[Span].where("TRUEPREDICATE").sort("-length")] == [8, 7, 6, 5, 4, 3, 2, 1]
        assert db.rules(Span)["computed"] == {"length": "high - low", "double": "length * 2"}
        with pytest.raises(AttributeError, match="computed"):
            spans[0].length = 3
        with pytest.raises(AttributeError, match="computed"):
            Span().length
        assert not hasattr(Span(), "length")
        with pytest.raises(crealm.QueryError, match="collection"):
            db[Span].where("parts.length > 3").count()
        with pytest.raises(AttributeError):
            spans[0].nothing
    with crealm.open(path) as db:
        first = db["Span"][0]
        assert (first.length, first["double"]) == (1, 2)
        with pytest.raises(crealm.NoSuchProperty, match="nothing"):
            first["nothing"]
        assert db["Span"].where("double >= 2").count() == 8


def test_computed_properties_follow_renames_and_end(path):
    with crealm.open(path, schema=[Span]) as db:
        with db.write():
            db.add(Span(low=1, high=4))
    renamed = crealm.ClassSchema("Span", {"top": int}, rules={"properties": {"top": {"renamed_from": "high"}}})
    with crealm.open(path, schema=[renamed]) as db:
        assert db.rules("Span")["computed"]["length"] == "top - low"
    with crealm.open(path) as db:
        assert db["Span"][0].double == 6
        for expression in ("a + b", "low +", "low == 1", "3", "parts.low", "self + 1", "low SORT(low ASC)"):
            with pytest.raises(crealm.QueryError):
                with db.write():
                    db.set_rules("Span", {"computed": {"self": expression}})
        with pytest.raises(crealm.DataError, match="exists"):
            with db.write():
                db.set_rules("Span", {"computed": {"low": "low + 1"}})
        with db.write():
            db.set_rules("Span", {})
        with pytest.raises(crealm.NoSuchProperty):
            db["Span"][0]["double"]


@pytest.mark.parametrize("seed", range(6))
def test_queries_through_unique_rules(path, seed):
    """Each condition finds what reading all objects finds, whichever index answers it."""
    chance = random.Random(seed)

    class Row(crealm.Model):
        a: int
        b: str
        c: Optional[int]
        d: float
        e: Optional["Row"]

        class Meta:
            unique = [("a", "b", "d"), ("b", "c"), {"properties": ["d", "a"], "nulls_equal": True}, ("e", "a")]

    def fill(count):
        for _ in range(count):
            kept = len(db[Row])
            values = {"a": chance.randrange(20), "b": chance.choice("xyzXÄ"), "c": chance.choice([None, 1, 2, 3]), "d": chance.randrange(40) / 4}
            if chance.random() < 0.2 and kept:
                values["e"] = db[Row][chance.randrange(kept)]
            try:
                with db.write():
                    db.add(Row(**values))
            except crealm.RuleBroken:
                pass

    def check():
        link = db[Row][0]
        literals = [("a", 3), ("b", "x"), ("c", 2), ("c", None), ("d", 2.5), ("e", link), ("e", None), ("a", 99)]
        for _ in range(40):
            some = chance.sample(literals, chance.randrange(1, 4))
            joined = chance.choice([" AND ", " AND ", " OR "])
            text = joined.join(f"{name} == ${i}" for i, (name, _) in enumerate(some))
            test = all if joined == " AND " else any
            wanted = [o.object_key for o in db[Row] if test(getattr(o, name) == value for name, value in some)]
            found = db[Row].where(text, *(value for _, value in some))
            assert [o.object_key for o in found] == wanted, (text, some)
            assert found.count() == len(wanted)

    with crealm.open(path, schema=[Row]) as db:
        fill(120)
        check()
        assert db[Row].where("a == 3 AND b == 'x' AND d == 2.5").explain().access == "index"
        assert db[Row].where("a == 3 AND b == 'x' AND d == 2.5").explain().tested <= 1
        assert db[Row].where("a == 3 AND c == 2").explain().access == "index"
        with db.write():
            db[Row][0].a = 50
            check()
            assert db[Row].where("a == 3 AND b == 'x' AND d == 2.5").explain().access == "scan"
        check()
        found = db[Row][0]
        assert db.find_unique(Row, d=found.d, a=found.a) == db.find_unique(Row, a=found.a, d=found.d) == found


def test_names_of_any_kind_have_limits(path):
    names = ["a b", "any", "none", "true", "NULL", "1x", "a.b", "@count", "it's", 'say "x"', "O7", "uuid", "tab\there", "ü", "\\", "$0", "-", "size"]
    schema = crealm.ClassSchema("C", {name: int for name in names}, rules={"properties": {name: {"min": 1, "max": 9} for name in names}})
    with crealm.open(path, schema=[schema]) as db:
        good = {name: 1 for name in names}
        with db.write():
            db["C"].create(**good)
        for name in names:
            with pytest.raises(crealm.RuleBroken) as error:
                with db.write():
                    db["C"].create(**{**good, name: 10})
            assert f"'{name}.max'" in str(error.value)


@pytest.mark.parametrize("limits, error", [({"min_length": 1.5}, "whole number"), ({"min_length": -1}, "whole number"), ({"max_count": -1}, "whole number"), ({"min": "x"}, "finite number")])
def test_limits_that_are_none(path, limits, error):
    schema = crealm.ClassSchema("C", {"n": int}, rules={"properties": {"n": limits}})
    with pytest.raises(crealm.DataError, match=error):
        crealm.open(path, schema=[schema])


def test_limits_of_decimals_and_dates(path):
    class Sale(crealm.Model):
        price: Decimal = crealm.field(min=Decimal("0.01"))
        day: datetime = crealm.field(min=datetime(2020, 1, 1, tzinfo=timezone.utc))

    good = {"price": Decimal("0.01"), "day": datetime(2020, 1, 1, tzinfo=timezone.utc)}
    with crealm.open(path, schema=[Sale]) as db:
        with db.write():
            db.add(Sale(**good))
        for name, value in (("price", Decimal("0.009")), ("day", datetime(2019, 12, 31, tzinfo=timezone.utc))):
            with pytest.raises(crealm.RuleBroken, match=name):
                with db.write():
                    db.add(Sale(**{**good, name: value}))


def test_a_default_in_the_file_is_a_member_of_an_enum(path):
    import enum

    class Tone(enum.Enum):
        RED = "r"
        BLUE = "b"

    class Paint(crealm.Model):
        tone: Tone = crealm.field(file_default=Tone.BLUE)

    with crealm.open(path, schema=[Paint]) as db:
        with db.write():
            assert db.add(Paint()).tone is Tone.BLUE
            assert db[Paint].create().tone is Tone.BLUE


def test_computed_properties_of_classes_in_any_order(path):
    class Owner(crealm.Model):
        n: int
        total: int = crealm.computed("n * 2")

    class Item(crealm.Model):
        owner: Optional[Owner]
        t: int = crealm.computed("owner.total + 1")

        class Meta:
            checks = {"small": "t < 100 OR owner == NULL"}

    with crealm.open(path, schema=[Item]) as db:
        with db.write():
            item = db.add(Item(owner=Owner(n=3)))
        assert item.t == 7
        with pytest.raises(crealm.RuleBroken, match="small"):  # Objects are tested when an expression changes.
            with db.write():
                db.set_rules(Owner, {"computed": {"total": "n * 1000"}})
        assert item.t == 7 and not db.broken_rules()
        for name in ("", "x" * 256, "a\0b"):
            with pytest.raises(crealm.DataError):
                with db.write():
                    db.set_rules(Owner, {"computed": {name: "n"}})


def test_names_that_need_a_backslash_in_conditions(path):
    names = ["!", "!k", "k", "k+k", "(k)", "12", "007", "0x1F", "1e5", "x.y", "-x", "O1", "$0", "it's", "b\\s", "any", "null", "a b", "size", "\n"]
    made = {f"p{i}": int for i in range(len(names))}
    values = {f"p{i}": crealm.field(name=name) for i, name in enumerate(names)}
    Odd = type("Odd", (crealm.Model,), {"__annotations__": made, "__module__": __name__, **values})
    with crealm.open(path, schema=[Odd]) as db:
        with db.write():
            for _ in range(20):
                db.add(Odd(**{f"p{i}": random.randrange(4) for i in range(len(names))}))
        for i in range(len(names)):
            attribute, other = f"p{i}", f"p{(i + 1) % len(names)}"
            wanted = [o for o in db[Odd] if getattr(o, attribute) == 1]
            assert list(db[Odd].where(getattr(Odd, attribute) == 1)) == wanted
            same = [o for o in db[Odd] if getattr(o, attribute) == getattr(o, other)]
            assert list(db[Odd].where(getattr(Odd, attribute) == getattr(Odd, other))) == same
            found = [getattr(o, attribute) for o in db[Odd].where("TRUEPREDICATE").sort(getattr(Odd, attribute))]
            assert found == sorted(found)
            assert db[Odd].sum(attribute) == sum(found)


def test_frozen_databases_on_many_threads(path):
    class Owner(crealm.Model):
        n: int = crealm.field(unique=True)
        total: int = crealm.computed("n * 2")

    errors = []
    with crealm.open(path, schema=[Owner]) as db:
        with db.write():
            for i in range(200):
                db.add(Owner(n=i))
        frozen = db.freeze()
        with db.write():
            db[Owner][7].n = 5000
        assert frozen.find_unique(Owner, n=5000) is None and db.find_unique(Owner, n=5000).total == 10000

        def read():
            try:
                for i in range(200):
                    assert frozen.find_unique(Owner, n=i).total == 2 * i
                    assert frozen[Owner].where("n == $0 AND total == $1", i, 2 * i).count() == 1
                assert frozen.broken_rules() == []
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert errors == []
        frozen.close()


# ------------------------------------------------------------------------------------------------
# Rules against each other, and against changes of the schema
# ------------------------------------------------------------------------------------------------

WORDS = ["size", "text", "TEXT", "first", "last", "limit", "like", "in", "sort", "between", "desc", "distinct", "asc"]


@pytest.mark.parametrize("word", [*WORDS, "beginswith", "contains", "ascending", "age"])
def test_renames_from_and_to_words_of_the_query_language(path, word):
    class Box(crealm.Model):
        value: int = crealm.field(name="plain", min=0)

    with crealm.open(path, schema=[Box]) as db, db.write():
        db["Box"].create(plain=3)
        db.set_rules("Box", {**db.rules("Box"), "computed": {"twice": "plain * 2"}})

    for old, new in (("plain", word), (word, "other")):
        renamed = type(
            "Box",
            (crealm.Model,),
            {
                "__module__": __name__,
                "__annotations__": {"value": int},
                "value": crealm.field(name=new, renamed_from=old),
            },
        )
        with crealm.open(path, schema=[renamed]) as db:
            assert db["Box"][0][new] == 3 and db["Box"][0]["twice"] == 6 and not db.broken_rules()
            with pytest.raises(crealm.RuleBroken), db.write():
                db["Box"][0][new] = -1


def test_the_limit_of_a_renamed_property_is_replaced(path):
    def opened(name, old, least):
        model = type(
            "Person",
            (crealm.Model,),
            {
                "__module__": __name__,
                "__annotations__": {name: int},
                name: crealm.field(min=least, renamed_from=old) if old else crealm.field(min=least),
            },
        )
        return crealm.open(path, schema=[model])

    with opened("age", None, 0) as db, db.write():
        db["Person"].create(age=1)
    with opened("years", "age", -5) as db:
        assert db.rules("Person")["checks"] == [{"name": "years.min", "condition": "years >= -5"}]
        with db.write():
            db["Person"][0]["years"] = -3
    with opened("winters", "years", -7) as db:
        assert db.rules("Person")["checks"] == [{"name": "winters.min", "condition": "winters >= -7"}]


def test_a_base_class_is_renamed_with_its_objects(path):
    def family(base, **meta):
        animal = type(
            base,
            (crealm.Model,),
            {
                "__module__": __name__,
                "__annotations__": {"name": str},
                "Meta": type("Meta", (), {"type_property": "type", **meta}),
            },
        )
        body = {"__module__": __name__, "__annotations__": {"breed": str}, "breed": crealm.field(min_length=2)}
        return animal, type("Dog", (animal,), body)

    animal, dog = family("Animal")
    with crealm.open(path, schema=[animal]) as db, db.write():
        db.add(animal(name="a"))
        db.add(dog(name="d", breed="xx"))
    beast, dog = family("Beast", renamed_from="Animal")
    for _ in range(2):
        with crealm.open(path, schema=[beast]) as db:
            assert [(type(one), one.type) for one in db[beast].sort("name")] == [(beast, "Beast"), (dog, "Dog")]
            with pytest.raises(crealm.RuleBroken), db.write():
                db[dog].one().breed = ""
            assert not db.broken_rules()


def test_many_objects_that_share_the_last_link():
    nodes = crealm.ClassSchema("A", {"next": "A", "shared": "T"})
    with crealm.memory(schema=[nodes, crealm.ClassSchema("T", {"x": int})]) as db:
        rules = {"properties": {"next": {"on_delete": "cascade"}, "shared": {"on_delete": "cascade_last"}}}
        with db.write():
            db.set_rules("A", rules)
            shared = db["T"].create(x=1)
            rows = [db["A"].create(shared=shared) for _ in range(20_000)]
            for row, following in zip(rows, rows[1:]):
                row.next = following
            other = db["A"].create(shared=shared)
        with db.write():
            rows[0].delete()
        assert (len(db["A"]), len(db["T"])) == (1, 1)
        with db.write():
            other.delete()
        assert (len(db["A"]), len(db["T"])) == (0, 0)


def test_a_long_chain_of_objects_that_wait_for_each_other():
    nodes = crealm.ClassSchema("A", {"n": int, "all": List["A"], "last": "A"})
    with crealm.memory(schema=[nodes]) as db:
        rules = {"properties": {"all": {"on_delete": "cascade_last"}, "last": {"on_delete": "cascade_last"}}}
        with db.write():
            db.set_rules("A", rules)
            rows = [db["A"].create(n=n) for n in range(50_000)]
            for row, following in zip(rows, rows[1:]):
                row.last = following
            hub = db["A"].create(n=-1)
            hub.all = list(reversed(rows))  # Each waits for the one before it.
        with db.write():
            hub.delete()
        assert len(db["A"]) == 0


def test_the_primary_key_does_not_change_by_a_rule():
    with crealm.memory(schema=[crealm.ClassSchema("A", {"id": int, "v": int}, primary_key="id")]) as db:
        with pytest.raises(crealm.Error, match="primary key"), db.write():
            db.set_rules("A", {"properties": {"id": {"revision": True}}})


def test_a_check_that_is_not_valid_any_more_has_no_effect(path):
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"v": int, "w": int})]) as db, db.write():
        db["A"].create(v=1)
        db.set_rules("A", {"checks": ["v + 1 >= 0"]})
    after = [crealm.ClassSchema("A", {"v": str, "w": int})]
    with crealm.open(path, schema=after, schema_version=2, migrate=lambda old, new, version: None) as db:
        with db.write():
            db["A"][0].w = 5
        assert "no effect" in db.broken_rules()[0].message
        with db.write():
            db["A"][0].delete()


def test_a_removed_property_takes_its_checks_along(path):
    """A later property of the same name begins without them."""
    whole = crealm.ClassSchema("A", {"id": int, "v": int, "w": int}, primary_key="id")
    linked = crealm.ClassSchema("B", {"to": "A", "x": int})
    with crealm.open(path, schema=[whole, linked]) as db, db.write():
        db["A"].create(id=1, v=5, w=5)
        db.set_rules("A", {"checks": [{"name": "v.min", "condition": "v >= 3"}, "v < 10 OR w < 10", "w >= 0"]})
        db.set_rules("B", {"checks": ["x >= 0", "to == NULL OR to.v > 0"]})

    def checks(db, name):
        return [check if isinstance(check, str) else check["condition"] for check in db.rules(name).get("checks", [])]

    without = crealm.ClassSchema("A", {"id": int, "w": int}, primary_key="id")

    def remove(old, new, version):
        new.remove_property("A", "v")

    with crealm.open(path, schema=[without, linked], schema_version=2, migrate=remove) as db:
        assert checks(db, "A") == ["w >= 0"] and checks(db, "B") == ["x >= 0"] and db.broken_rules() == []
    with crealm.open(path, schema=[whole, linked], schema_version=3, migrate=lambda old, new, version: None) as db:
        assert checks(db, "A") == ["w >= 0"] and checks(db, "B") == ["x >= 0"] and db.broken_rules() == []
        with db.write():
            db["B"].create(to=db["A"].create(id=2, v=-1, w=50), x=1)
        with pytest.raises(crealm.RuleBroken), db.write():
            db["A"].get(2).w = -1


def test_a_null_that_a_batch_gives_counts_instead_of_the_rule(path):
    class Row(crealm.Model):
        k: int = crealm.field(primary_key=True)
        a: Optional[int] = crealm.field(file_default=5)
        n: Optional[int] = crealm.field(auto=True)

    pa = pytest.importorskip("pyarrow")
    with crealm.open(path, schema=[Row]) as db:
        with db.write():
            nothing = pa.array([None], pa.int64())
            db.add_many(Row, pa.table({"k": [1], "a": nothing, "n": nothing}))
            db.add_many(Row, [{"k": 2, "a": None}, {"k": 3}, {"k": 4, "a": 7, "n": None}])
        found = [(row.k, row.a, row.n) for row in db[Row].sort("k")]
        assert found == [(1, None, None), (2, None, 2), (3, 5, 3), (4, 7, None)]


def test_two_rules_never_make_one_value(path):
    nodes = crealm.ClassSchema("A", {"n": int})
    with crealm.open(path, schema=[nodes]) as db, db.write():
        db.set_rules("A", {"properties": {"n": {"auto": True}}})

    class A(crealm.Model):
        n: int = crealm.field(revision=True)

    with crealm.open(path, schema=[A]) as db:
        assert db.rules("A")["properties"] == {"n": {"revision": True}}


def test_a_key_of_several_properties_with_a_new_object(path):
    class Person(crealm.Model):
        name: str = crealm.field(primary_key=True)

    class Ticket(crealm.Model):
        number: int
        who: Optional[Person]
        seat: int = 0

        class Meta:
            primary_key = ("number", "who")

    with crealm.open(path, schema=[Ticket, Person]) as db:
        for seat, mode in enumerate(["error", "all", "modified"]):
            with db.write():
                db.add(Ticket(number=1, who=Person(name=mode), seat=seat), update=mode)
        with db.write():
            db.add(Ticket(number=1, who=Person(name="all"), seat=7), update="all")
        assert sorted((one.who.name, one.seat) for one in db[Ticket]) == [("all", 7), ("error", 0), ("modified", 2)]
        with pytest.raises(crealm.DuplicateKeyError), db.write():
            db.add(Ticket(number=1, who=db[Person].get("all")))
