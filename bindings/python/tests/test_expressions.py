"""Conditions as Python expressions: each finds the same objects as the condition in the query language, and as Python."""

import random
from typing import Any, Optional

import crealm
import pytest


class Dog(crealm.Model):
    name: str = crealm.field(name="dog name")
    age: int = 0
    good: bool = True
    owners: crealm.Backlinks["Person"] = crealm.backlinks("Person", "dogs")


class Person(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str = crealm.field(fulltext=True)
    age: int
    nick: Optional[str]
    cool: bool = False
    boss: Optional["Person"]
    dogs: list[Dog]
    tags: dict[str, int]
    scores: list[int]
    any: Any = None


@pytest.fixture
def db():
    chance = random.Random(5)
    with crealm.memory(schema=[Person]) as db:
        with db.write():
            dogs = [db.add(Dog(name=chance.choice(["Rex", "Bo", "rolf"]), age=n % 9, good=n % 3 > 0)) for n in range(12)]
            people = []
            for n in range(40):
                people.append(
                    db.add(
                        Person(
                            id=n,
                            name=chance.choice(["Ann", "Bob", "anna lee", ""]),
                            age=chance.randrange(60),
                            nick=chance.choice([None, "x", "X"]),
                            cool=chance.random() < 0.5,
                            boss=chance.choice([None, *people]),
                            dogs=chance.choices(dogs, k=chance.randrange(4)),
                            tags={key: chance.randrange(3) for key in ("a", "k x[1]'", 'q"') if chance.random() < 0.6},
                            scores=chance.choices(range(5), k=chance.randrange(4)),
                            any=chance.choice([None, 3, "text"]),
                        )
                    )
                )
        yield db


CASES = [
    (Person.age > 30, "age > 30", lambda p: p.age > 30),
    ((Person.age > 30) & (Person.name == "Ann"), "age > 30 AND name == 'Ann'", lambda p: p.age > 30 and p.name == "Ann"),
    ((Person.age > 30) | ~(Person.name == "Ann"), None, lambda p: p.age > 30 or p.name != "Ann"),
    (Person.cool, "cool == true", lambda p: p.cool),
    (~Person.cool, "cool == false", lambda p: not p.cool),
    (Person.cool & (Person.age < 20), None, lambda p: p.cool and p.age < 20),
    ((Person.age < 20) | Person.cool, None, lambda p: p.cool or p.age < 20),
    (Person.cool | (Person.age < 20), None, lambda p: p.cool or p.age < 20),
    (Person.name != "Ann", "name != 'Ann'", lambda p: p.name != "Ann"),
    (Person.nick.is_none(), "nick == NULL", lambda p: p.nick is None),
    (Person.nick == None, "nick == NULL", lambda p: p.nick is None),  # noqa: E711
    (Person.nick.equals("x", fold=True), "nick ==[c] 'x'", lambda p: p.nick is not None),
    (Person.name.startswith("A"), "name BEGINSWITH 'A'", lambda p: p.name.startswith("A")),
    (Person.name.startswith("a", fold=True), None, lambda p: p.name.lower().startswith("a")),
    (Person.name.endswith("n"), None, lambda p: p.name.endswith("n")),
    (Person.name.contains("o"), None, lambda p: "o" in p.name),
    (Person.name.like("?n*"), None, lambda p: p.name[1:2] == "n"),
    (Person.name.matches("lee ann*"), None, lambda p: p.name == "anna lee"),
    (Person.age.in_([1, 2, 3, 30]), "age IN {1, 2, 3, 30}", lambda p: p.age in (1, 2, 3, 30)),
    (Person.age.in_(range(10, 20)), None, lambda p: 10 <= p.age < 20),
    (Person.age.in_([]), None, lambda p: False),
    (Person.scores.in_([3, 4]), None, lambda p: 3 in p.scores or 4 in p.scores),
    (Person.scores.in_([3]), None, lambda p: 3 in p.scores),
    (Person.scores.in_([]), None, lambda p: False),
    (Person.scores[0].in_([1, 2]), None, lambda p: p.scores and p.scores[0] in (1, 2)),
    (Person.scores.count().in_([1, 3]), None, lambda p: len(p.scores) in (1, 3)),
    (Person.tags["a"].in_([1, 2]), None, lambda p: p.tags.get("a") in (1, 2)),
    (Person.dogs.name.in_(["Rex", "nobody"]), None, lambda p: any(d.name == "Rex" for d in p.dogs)),
    (Person.dogs.age.max().in_([5, 7]), None, lambda p: max((d.age for d in p.dogs), default=0) in (5, 7)),
    (Person.boss.age.in_(range(0, 200, 2)), None, lambda p: p.boss is not None and p.boss.age % 2 == 0),
    (Person.boss.age.in_(range(0, 4000, 2)), None, lambda p: p.boss is not None and p.boss.age % 2 == 0),
    (Person.boss.age.between(10, 40), None, lambda p: p.boss is not None and 10 <= p.boss.age <= 40),
    (Person.dogs.any(Dog.age.between(3, 5)), None, lambda p: any(3 <= d.age <= 5 for d in p.dogs)),
    (Person.dogs.any(Dog.name.in_(["Bo", "x"])), None, lambda p: any(d.name == "Bo" for d in p.dogs)),
    (Person.age.between(10, 20), "age BETWEEN {10, 20}", lambda p: 10 <= p.age <= 20),
    (Person.boss.name == "Ann", "boss.name == 'Ann'", lambda p: p.boss is not None and p.boss.name == "Ann"),
    (Person.boss.boss.is_none(), None, lambda p: p.boss is None or p.boss.boss is None),
    (Person.boss.age > Person.age, "boss.age > age", lambda p: p.boss is not None and p.boss.age > p.age),
    (Person.dogs.name.startswith("R"), "ANY dogs.'dog name' BEGINSWITH 'R'", lambda p: any(d.name == "Rex" for d in p.dogs)),
    (Person.dogs.any(Dog.age > 6), None, lambda p: any(d.age > 6 for d in p.dogs)),
    (Person.dogs.any(Dog.good & (Dog.age > 4)), None, lambda p: any(d.good and d.age > 4 for d in p.dogs)),
    (Person.dogs.all(Dog.age < 5), None, lambda p: all(d.age < 5 for d in p.dogs)),
    (Person.dogs.all(Dog.good), None, lambda p: all(d.good for d in p.dogs)),
    (Person.dogs.none(Dog.name == "Bo"), None, lambda p: not any(d.name == "Bo" for d in p.dogs)),
    (Person.dogs.count() > 1, "dogs.@count > 1", lambda p: len(p.dogs) > 1),
    (Person.dogs.age.max() >= 5, "dogs.@max.age >= 5", lambda p: max((d.age for d in p.dogs), default=-1) >= 5),
    (Person.dogs.age.min() <= 1, None, lambda p: min((d.age for d in p.dogs), default=9) <= 1),
    (Person.dogs.age.sum() > 6, None, lambda p: sum(d.age for d in p.dogs) > 6),
    (Person.dogs.age.mean() > 4, None, lambda p: p.dogs and sum(d.age for d in p.dogs) / len(p.dogs) > 4),
    (Person.scores.sum() == 4, "scores.@sum == 4", lambda p: sum(p.scores) == 4),
    (Person.scores.contains(4), "ANY scores == 4", lambda p: 4 in p.scores),
    (Person.scores[0] == 1, "scores[0] == 1", lambda p: p.scores and p.scores[0] == 1),
    (Person.scores[-1] == 1, "scores[LAST] == 1", lambda p: p.scores and p.scores[-1] == 1),
    (Person.tags["k x[1]'"] == 1, None, lambda p: p.tags.get("k x[1]'") == 1),
    (Person.tags['q"'] > 0, None, lambda p: p.tags.get('q"', 0) > 0),
    (Person.any == 3, None, lambda p: p.any == 3),
    (Person.any == "text", None, lambda p: p.any == "text"),
    (
        Person.dogs.any(Dog.owners.any(Person.age > 50)),
        None,
        lambda p: any(o.age > 50 for d in p.dogs for o in d.owners),
    ),
    (Person.dogs.owners.name == "Bob", None, lambda p: any(o.name == "Bob" for d in p.dogs for o in d.owners)),
    (
        Person.dogs.any((Dog.owners.count() == 1) & Dog.owners.any(Person.dogs.any(Dog.age == 2))),
        None,
        lambda p: any(len(d.owners) == 1 and any(e.age == 2 for o in d.owners for e in o.dogs) for d in p.dogs),
    ),
]


@pytest.mark.parametrize("condition, text, python", CASES, ids=[repr(case[0])[:60] for case in CASES])
def test_what_is_found(db, condition, text, python):
    found = [p.id for p in db[Person].where(condition)]
    assert found == [p.id for p in db[Person] if python(p)]
    if text is not None:
        assert found == [p.id for p in db[Person].where(text.replace("'dog name'", "dog\\ name"))]
    everything = [p.id for p in db[Person].where(~_as_condition(condition))]
    assert sorted(found + everything) == list(range(40))


def _as_condition(value):
    return value == True if isinstance(value, crealm.Path) else value  # noqa: E712


def test_several_conditions_are_all_met(db):
    both = db[Person].where(Person.age > 20, Person.cool, Person.dogs.count() > 0)
    assert [p.id for p in both] == [p.id for p in db[Person] if p.age > 20 and p.cool and p.dogs]
    assert both.where(Person.age > 30) == both.where("age > 30")


def test_objects_are_compared(db):
    boss = db[Person].where(Person.boss != None)[0].boss  # noqa: E711
    assert [p.id for p in db[Person].where(Person.boss == boss)] == [p.id for p in db[Person] if p.boss == boss]
    dog = db[Dog][0]
    assert [p.id for p in db[Person].where(Person.dogs.contains(dog))] == [p.id for p in db[Person] if dog in p.dogs]


def test_orders_and_aggregates(db):
    people = db[Person]
    assert people.sort(-Person.age, Person.id) == people.sort("-age", "id")
    assert people.sort(Person.boss.name, (Person.id, "desc")) == people.sort("boss.name", "-id")
    assert db[Dog].sort(Dog.name) == db[Dog].sort("name") and db[Dog].distinct(Dog.name) == db[Dog].distinct("name")
    assert people.max(Person.age) == people.max("age") and people.mean(Person.age) == people.average("age")
    assert people.exists() and not people.where(Person.age > 1000).exists()
    assert people.where(Person.id == 7).one().id == 7


class Words(crealm.Model):
    """A model whose properties have names that are words of the query language."""

    id: int
    any: int = 0
    nil: int = 0
    size: int = 0
    Not: list[int]
    true: Optional["Words"]
    other: int = crealm.field(name="all", default=5)
    count: int = crealm.field(name="@count", default=5)


def test_names_that_are_words_of_the_language():
    with crealm.memory(schema=[Words]) as db:
        with db.write():
            first = db.add(Words(id=1, any=1, nil=2, size=3, Not=[1, 2]))
            db.add(Words(id=2, nil=2, true=first))
        table = db[Words]
        for condition, ids in (
            (Words.any == 1, [1]),
            (Words.nil == 2, [1, 2]),
            ((Words.any == 0) & (Words.size == 0), [2]),
            (Words.true["any"] == 1, [2]),
            (Words.true.is_none(), [1]),
            (Words.Not.contains(2), [1]),
            (Words.Not.count() == 2, [1]),
            (Words.other == 5, [1, 2]),
            (Words.true["other"] == 5, [2]),
            (Words.true["any"].in_([1, 7]) & Words.true.nil.between(2, 3), [2]),
        ):
            assert [w.id for w in table.where(condition)] == ids, condition
        assert [w.id for w in table.where(Words.Not[0] == 1)] == [1]
        assert [w.id for w in table.where("TRUEPREDICATE").sort(-Words.any)] == [1, 2]
        with pytest.raises(crealm.QueryError, match="no name of a property"):
            table.where(Words.true["count"] == 1)


def test_what_is_no_condition(db):
    people = db[Person]
    assert (Person.boss.any == 3) is False  # The method `any`, not the property; where() raises for it.
    for wrong in (True, 3, None, [Person.age > 3], Person.boss.any == 3):
        with pytest.raises(TypeError, match="made of properties of models"):
            people.where(wrong)
    for wrong in (
        lambda: 1 < Person.age < 5,
        lambda: Person.age > 3 and Person.age < 5,
        lambda: not (Person.age > 3),
        lambda: Person.age and Person.name,
        lambda: "a" in Person.tags,
        lambda: list(Person.dogs),
        lambda: Person.age == (Person.age > 3),
        lambda: Person.name.in_("Ann"),
        lambda: Person.dogs.age.between(1, 2),
        lambda: Person.scores.between(1, 2),
        lambda: Person.tags[1.5],
        lambda: Person.age.any(Dog.age > 3),
        lambda: Person.age.max(),
        lambda: people.where(Person.age > 3, limit=3),
        lambda: (Person.age > 3) & True,
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(AttributeError, match="did you mean 'name'"):
        Person.dogs.nme
    with pytest.raises(AttributeError, match="links to no objects"):
        Person.age.name
    with pytest.raises(crealm.QueryError, match="Dog.age is no property of Person"):
        people.where(Dog.age > 3)
    with pytest.raises(crealm.QueryError, match="Dog.age is no property of Person"):
        people.where(Person.boss.dogs.any(Dog.age > 3) & (Dog.age > 3))
    for wrong in (lambda: people.sort(Dog.age), lambda: people.distinct(Person.scores[0]), lambda: people.max(Dog.age)):
        with pytest.raises(crealm.QueryError):
            wrong()
    for wrong in (people, people.where(Person.age > 1000)):
        with pytest.raises(crealm.UsageError):
            wrong.one()


def test_update(db):
    people = db[Person]
    with pytest.raises(crealm.NotInWriteError):
        people.update(age=3)
    boss, before = people[0], {p.id: (p.age, p.name) for p in people}
    with db.write():
        chosen = people.where(Person.age > 30)
        ids = [p.id for p in chosen]
        for wrong, error in (
            ({"age": "old"}, crealm.TypeMismatch),
            ({"nick": "n", "age": None}, crealm.ConstraintError),
            ({"nick": "n", "id": 3}, crealm.ConstraintError),
            ({"nick": "n", "scores": [1]}, crealm.UsageError),
            ({"nick": "n", "agee": 1}, crealm.NoSuchProperty),
            ({"nick": "n", "boss": Person(id=99)}, crealm.DataError),
        ):
            with pytest.raises(error):
                chosen.update(**wrong)
            assert {p.id: (p.age, p.name) for p in people} == before and not people.where(Person.nick == "n")
        # Objects leave the results during the loop that changes them.
        assert chosen.update(age=5, nick=None, boss=boss) == len(ids) and len(chosen) == 0
    for p in people:
        assert (p.age, p.nick, p.boss) == (5, None, boss) if p.id in ids else p.age == before[p.id][0]


def test_a_class_that_is_declared_later():
    class Early(crealm.Model):
        late: Optional["Late"]

    path = Early.late.name  # Its class is not declared yet.
    globals()["Late"] = type("Late", (crealm.Model,), {"__annotations__": {"name": str}, "__module__": __name__})
    try:
        with crealm.memory(schema=[Early, globals()["Late"]]) as db:
            with db.write():
                db.add(Early(late=globals()["Late"](name="x")))
                db.add(Early())
            assert len(db[Early].where(path == "x")) == 1
    finally:
        del globals()["Late"]


def test_messages(db):
    people = db[Person]
    with pytest.raises(AttributeError, match="did you mean 'name'"):
        Person.nam
    assert not hasattr(Person, "__no_such_thing__") and not hasattr(Person, "_no_such_thing")
    with pytest.raises(TypeError, match="needs a condition"):
        people.where(name="x")
    with pytest.raises(TypeError, match="cannot be mixed"):
        people.where("age > 1", Person.age < 3)


def test_columns_are_named_by_paths(db):
    assert db[Person].column(Person.age).to_list() == [p.age for p in db[Person]]
    assert db[Dog].column(Dog.name).to_list() == [d.name for d in db[Dog]]
    bosses = [None if p.boss is None else p.boss.name for p in db[Person]]
    assert db[Person].column(Person.boss.name).to_list() == bosses
    for wrong in (Person.tags["a"], Person.dogs.count()):
        with pytest.raises(crealm.QueryError):
            db[Person].column(wrong)
    with pytest.raises(TypeError):
        db[Person].column(3)
