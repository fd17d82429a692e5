"""update(): random assignments beside a plain model, then examples and errors."""

import enum
import math
import operator
import random
from decimal import Decimal
from typing import Any, List, Optional

import pytest

import crealm
from crealm import Float32, Model, field

LEAST, MOST = -(2**63), 2**63 - 1


class Unit(Model):
    id: int = field(primary_key=True)
    size: int = 0


class Point(Model):
    id: int = field(primary_key=True)
    a: int = 0
    b: int = field(index=True, default=0)
    maybe: Optional[int] = None
    x: float = 0.0
    y: float = 0.0
    text: str = field(index=True, default="")
    anything: Any = None
    unit: Optional[Unit] = None
    peer: Optional["Point"] = None
    numbers: List[int]
    points: List["Point"]


@pytest.fixture()
def db(path):
    with crealm.open(path, schema=[Point, Unit]) as db:
        yield db
        assert not db.verify()


# ------------------------------------------------------------------------------------------------
# Random assignments, compared with a plain model
# ------------------------------------------------------------------------------------------------

PATHS = ["a", "b", "maybe", "x", "y", "unit.size", "peer.a", "peer.x", "peer.peer.b"]


class Refused(Exception):
    """The model refuses the update, with this error number."""


def value_of(rows, row, path):
    *links, name = path.split(".")
    for link in links:
        row = row[link]
        if row is None:
            return None
    return row[name]


def divided(left, right):
    if right == 0:
        raise Refused(1001)
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def calculated(sign, left, right):
    if left is None or right is None:
        return None
    if sign != "/":
        result = {"+": operator.add, "-": operator.sub, "*": operator.mul}[sign](left, right)
        if isinstance(result, int) and not LEAST <= result <= MOST:
            raise Refused(1001)
        return result
    if isinstance(left, int) and isinstance(right, int):
        return divided(left, right)
    left, right = float(left), float(right)
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, left) * math.copysign(1, right)
    return left / right


class Expression:
    """A random expression: its text, its arguments, its form in Python, and what it is of a row of the model."""

    def __init__(self, chance, depth, arguments, kinds=("path", "path", "arithmetic")):
        self.kind = chance.choice(kinds) if depth or "constant" in kinds else "path"
        if self.kind == "path":
            self.path = chance.choice(PATHS)
            self.text = self.path
            self.form = Point
            for name in self.path.split("."):
                self.form = getattr(self.form, name)
        elif self.kind == "constant":
            self.value = chance.choice([0, 1, 2, -3, 10, 0.5, -1.25])
            self.text = f"${len(arguments)}" if chance.random() < 0.5 else repr(self.value)
            if self.text.startswith("$"):
                arguments.append(self.value)
            self.form = self.value
        else:
            self.operator = chance.choice("+-*/")
            constants = chance.choice([(), ("constant",)]), chance.choice([(), ("constant",)])
            kinds = ("path", "arithmetic")
            if constants[0] and constants[1]:
                constants = (constants[0], ())
            self.left = Expression(chance, depth - 1, arguments, constants[0] or kinds)
            self.right = Expression(chance, depth - 1, arguments, constants[1] or kinds)
            self.text = f"({self.left.text} {self.operator} {self.right.text})"
            left, right = self.left.form, self.right.form
            function = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[self.operator]
            self.form = function(left, right)

    def of(self, rows, row):
        if self.kind == "path":
            return value_of(rows, row, self.path)
        if self.kind == "constant":
            return self.value
        return calculated(self.operator, self.left.of(rows, row), self.right.of(rows, row))


def stored(value, name):
    """What a property stores of a value."""
    if value is None:
        if name != "maybe":
            raise Refused(3002)
        return None
    if name in ("x", "y"):
        return float(value)
    if isinstance(value, float):
        if not math.isfinite(value) or value != int(value):
            raise Refused(1001)
        value = int(value)
    if not LEAST <= value <= MOST:
        raise Refused(1001)
    return value


def same(one, other):
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one) and math.isnan(other):
        return True
    return one == other and type(one) is type(other)


def numbers(chance):
    """Small numbers, so that products stay within the integers that doubles hold exactly."""
    return chance.choice([0, 1, 2, 3, 5, -1, -7, 100])


def fill(db, chance):
    rows = {}
    with db.write():
        units = [db.add(Unit(id=i, size=numbers(chance))) for i in range(3)]
        for i in range(chance.choice([1, 5, 300])):
            row = {"id": i, "a": numbers(chance), "b": numbers(chance), "x": float(numbers(chance)), "y": 0.5}
            row["maybe"] = chance.choice([None, 4])
            db.add(Point(**row))
            rows[i] = row
        for i, row in rows.items():
            obj = db[Point].get(i)
            unit = chance.choice([None, *units])
            peer = chance.choice([None, *rows]) if chance.random() < 0.8 else None
            obj.unit, row["unit"] = unit, None if unit is None else {"size": unit.size}
            obj.peer, row["peer"] = None if peer is None else db[Point].get(peer), None if peer is None else rows[peer]
    return rows


def update_model(rows, chosen, assignments):
    new = []
    for key in chosen:
        for name, expression in assignments:
            new.append((key, name, stored(expression.of(rows, rows[key]), name)))
    for key, name, value in new:
        rows[key][name] = value


@pytest.mark.parametrize("seed", range(40))
def test_random_updates(db, seed):
    chance = random.Random(seed)
    rows = fill(db, chance)
    for _ in range(25):
        names = chance.sample(["a", "b", "maybe", "x", "y"], chance.randrange(1, 4))
        arguments: List[Any] = []
        assignments = [(name, Expression(chance, 3, arguments)) for name in names]
        condition = chance.choice(["TRUEPREDICATE", "a > 1", "maybe == NULL", "TRUEPREDICATE SORT(b DESC) LIMIT(7)"])
        with db.write():
            found = db[Point].where(condition)
            chosen = [obj.id for obj in found]
            wanted = None
            try:
                update_model(rows, sorted(chosen), assignments)
            except Refused as refused:
                wanted = refused.args[0]
            try:
                if chance.random() < 0.5:
                    text = ", ".join(f"{name} = {expression.text}" for name, expression in assignments)
                    count = found.update(text, *arguments)
                else:
                    count = found.update(**{name: expression.form for name, expression in assignments})
                assert (count, wanted) == (len(chosen), None)
            except crealm.Error as error:
                assert error.code == wanted or {error.code, wanted} == {1001, 3002}, error
        for obj in db[Point]:
            for name in ("a", "b", "maybe", "x", "y"):
                assert same(getattr(obj, name), rows[obj.id][name]), (obj.id, name)
        for value in {row["b"] for row in rows.values()}:
            assert len(db[Point].where("b == $0", value)) == sum(row["b"] == value for row in rows.values())
        if any(abs(row[name] or 0) > 1e6 for row in rows.values() for name in ("a", "b", "maybe", "x", "y")):
            with db.write():  # Small numbers again.
                db[Point].update(a=1, b=2, maybe=3, x=1.5, y=-2.0)
            for row in rows.values():
                row.update(a=1, b=2, maybe=3, x=1.5, y=-2.0)


# ------------------------------------------------------------------------------------------------
# Examples
# ------------------------------------------------------------------------------------------------


def add(db, count, **values):
    with db.write():
        return [db.add(Point(id=i, **values)) for i in range(count)]


def test_expressions_see_the_values_from_before(db):
    add(db, 600)
    with db.write():
        points = list(db[Point])
        for index, point in enumerate(points):
            point.a, point.b, point.peer = index, -index, points[(index + 1) % 600]
        assert db[Point].update(a=Point.b, b=Point.a) == 600
    assert [(point.a, point.b) for point in db[Point]] == [(-i, i) for i in range(600)]
    with db.write():
        assert db[Point].update(a=Point.peer.a) == 600
    assert [point.a for point in db[Point]] == [*range(-1, -600, -1), 0]
    with db.write():
        assert db[Point].update(peer=Point.peer.peer) == 600
    assert [point.peer.id for point in db[Point]] == [(i + 2) % 600 for i in range(600)]
    assert len(db[Point].get(2).backlinks(Point, "peer")) == 1


def test_an_object_that_is_several_rows_is_set_once(db):
    first, second, third = add(db, 3)
    with db.write():
        first.points = [second, second, third, second]
        assert first.points.where("TRUEPREDICATE").update(a=Point.a + 1) == 2
    assert [first.a, second.a, third.a] == [0, 1, 1]


def test_texts_links_and_mixed_values(db):
    one, two = add(db, 2, text="old")
    with db.write():
        unit = db.add(Unit(id=1, size=7))
        one.anything, two.anything = 5, "five"
        db[Point].update(text="new", unit=unit)
        db[Point].update("anything = text, a = unit.size * 2")
    assert [(p.text, p.anything, p.a) for p in db[Point]] == [("new", "new", 14)] * 2
    assert len(db[Point].where("text == 'new'")) == 2 and len(db[Point].where("text == 'old'")) == 0
    assert len(unit.backlinks(Point, "unit")) == 2
    with db.write():
        db[Point].update(unit=None, anything=Point.x)
    assert [(p.unit, p.anything) for p in db[Point]] == [(None, 0.0)] * 2


def test_results_that_stop_matching(db):
    add(db, 1000, a=1)
    with db.write():
        assert db[Point].where("a == 1").update(a=Point.a + 1) == 1000
        assert db[Point].where("a == 1").update(a=Point.a + 1) == 0
        assert db[Point].where("a == 2").limit(10).update("a = 0") == 10
    assert db[Point].sum("a") == 1980


def test_observers_are_told(db):
    add(db, 3)
    told = []
    with db[Point].where("a < 10").observe(lambda change: told.append(change)):
        db.refresh()
        del told[:]
        with db.write():
            db[Point].where("id > 0").update(a=Point.a + 5)
        db.refresh()
    assert [change.modifications for change in told] == [(1, 2)]


REFUSED = [
    (
        lambda: {"a": Point.a * MOST},
        crealm.DataError,
        "object 5 of class 'Point', 'a': the result of '.' does not fit into 64 bits",
    ),
    (lambda: {"a": Point.a / 0}, crealm.DataError, "object 0 of class 'Point', 'a': division by zero"),
    (lambda: {"a": Point.a + 0.5}, crealm.DataError, "would be 0.5, which is not an integer"),
    (lambda: {"a": Point.maybe}, crealm.ConstraintError, "object 0 of class 'Point', 'a': .*cannot be null"),
    (lambda: {"id": Point.a}, crealm.ConstraintError, "Point.id is the primary key"),
    (lambda: {"a": Point.text}, crealm.TypeMismatch, "'Point.a' is of type 'int' and does not take 'string'"),
    (lambda: {"a": Point.numbers.sum() + Point.maybe}, crealm.ConstraintError, "cannot be null"),
    (lambda: {"a": Point.anything}, crealm.ConstraintError, "cannot be null"),
    (lambda: {"numbers": Point.a}, crealm.TypeMismatch, "is a collection"),
    (lambda: {"a": Point.numbers}, crealm.QueryError, "not a single value"),
    (lambda: {"x": Point.a * 1e308 * 1e308, "a": Point.maybe}, crealm.ConstraintError, "cannot be null"),
]


@pytest.mark.parametrize("values, kind, message", REFUSED, ids=range(len(REFUSED)))
def test_a_refused_update_changes_nothing(db, values, kind, message):
    add(db, 5)
    with db.write():
        db.add(Point(id=5, a=2, maybe=3))
        db[Point].update(b=7)
        before = db[Point].to_dicts()
        with pytest.raises(kind, match=message):
            db[Point].update(**values())
        assert db[Point].to_dicts() == before
    assert db[Point].to_dicts() == before and db[Point].sum("b") == 42


WRONG = [
    ("a = ", crealm.QueryError, "unexpected end of text"),
    ("", crealm.QueryError, "unexpected end"),
    ("a == 3", crealm.QueryError, "'=' expected"),
    ("a = 3,", crealm.QueryError, "unexpected end"),
    ("a = 3 b = 4", crealm.QueryError, "unexpected"),
    ("a = 3 SORT(b ASC)", crealm.QueryError, "unexpected"),
    ("unit.size = 3", crealm.QueryError, "name of a property is expected"),
    ("a = TRUEPREDICATE", crealm.QueryError, "unexpected|syntax"),
    ("a = $0", crealm.QueryError, "argument"),
    ("a = 1, a = 2", crealm.QueryError, "set twice"),
    ("nothing = 1", crealm.NoSuchProperty, "no stored property 'nothing'"),
    ("a = nothing", crealm.QueryError, "nothing"),
    ("a = 'x'", crealm.TypeMismatch, "does not take a text"),
    ("a = 9223372036854775808", crealm.DataError, "9223372036854775808 is not an integer of 64 bits"),
    ("a = -9223372036854775809 + b", crealm.DataError, "is not an integer of 64 bits"),
    ("a = 5 / 0", crealm.DataError, "division by zero"),
    ("a = peer", crealm.TypeMismatch, "type"),
    ("unit = peer", crealm.TypeMismatch, "type"),
    ("points = NULL", crealm.TypeMismatch, "collection"),
    ("a = " + "(" * 3000 + "b" + ")" * 3000, None, ""),
    ("a = " + " + ".join(["b"] * 5000), crealm.QueryError, "nested too deeply"),
]


@pytest.mark.parametrize("text, kind, message", WRONG, ids=range(len(WRONG)))
def test_wrong_texts(db, text, kind, message):
    add(db, 2, b=1)
    with db.write():
        if kind is None:
            assert db[Point].update(text) == 2
            return
        with pytest.raises(kind, match=message):
            db[Point].update(text)
    assert db[Point].sum("a") == 0


def test_uses_of_update(db):
    add(db, 2)
    with pytest.raises(crealm.UsageError):
        db[Point].update(a=1)
    with db.write():
        with pytest.raises(TypeError):
            db[Point].update("a = 1", b=2)
        with pytest.raises(crealm.UsageError, match="values"):
            db[Point].get(0).numbers.where("TRUEPREDICATE").update(a=1)
        assert db[Point].update() == 2
        assert db["Point"].where("id == 1").update("a = $0 + id", 4) == 1
    assert db[Point].get(1).a == 5


def test_calculations_in_conditions(db):
    add(db, 10)
    with db.write():
        db[Point].update(a=Point.id * 2, b=7)
    assert [p.id for p in db[Point].where(Point.a + 1 > Point.b)] == [4, 5, 6, 7, 8, 9]
    assert [p.id for p in db[Point].where(Point.b - Point.a == 1)] == [3]
    assert [p.id for p in db[Point].where(2 * Point.id < 10 - Point.id)] == [0, 1, 2, 3]
    assert [p.id for p in db[Point].where(Point.b < Point.id + 1)] == [7, 8, 9]
    assert [p.id for p in db[Point].where(Point.a.in_([Point.b + 1, 2]))] == [1, 4]
    assert [p.id for p in db[Point].where(Point.a.between(Point.b - 1, 10))] == [3, 4, 5]
    with pytest.raises(TypeError):
        bool(Point.a + 1)
    assert "Point.a + 1" in repr(Point.a + 1)


class Kind(enum.Enum):
    ROUND = "round"


class Part(crealm.Embedded):
    n: int = 0


class Exact(Model):
    id: int = field(primary_key=True)
    n: int = 0
    d: float = 0.0
    f: Float32 = Float32(0)
    c: Decimal = Decimal(0)
    kind: Kind = Kind.ROUND
    s: str = ""
    part: Optional[Part] = None
    other: Optional[Part] = None
    boss: Optional["Exact"] = None
    unit: Optional[Unit] = None
    subs: crealm.Backlinks["Exact"] = crealm.backlinks("Exact", "boss")


@pytest.fixture()
def exact(path):
    with crealm.open(path, schema=[Exact, Unit]) as db:
        yield db


@pytest.mark.parametrize("number", [2.0**53, 1234567890123456.0, 9223372036854774784.0, -(2.0**63)])
def test_doubles_become_integers_exactly(exact, number):
    with exact.write():
        exact.add(Exact(id=1, d=number))
        exact[Exact].update(n=Exact.d, c=Exact.d)
    one = exact[Exact].one()
    assert one.n == int(number) and one.c == Decimal(repr(number))


def test_numbers_are_the_nearest_ones(exact):
    with exact.write():
        exact.add(Exact(id=1, d=0.1, f=Float32(16777216.0), n=9007199791611905))
        exact[Exact].update("c = d, f = n, n = f")
    one = exact[Exact].one()
    assert one.c == Decimal("0.1") and float(one.f) == 9007200328482816.0 and one.n == 16777216
    beyond = "n = n * 9223372036854775807 - n"
    for text in ("n = 1.0000000000000002", "n = d", "f = 1e39", "n = 5 / 0", "c = c / 0", beyond):
        with exact.write(), pytest.raises(crealm.DataError):
            exact[Exact].update(text)
    with exact.write(), pytest.raises(crealm.DataError, match="'Exact.n': division by zero"):
        exact[Exact].update("n = 5 / 0")
    for text in ("n = '1.5'", "d = '2'"):
        with exact.write(), pytest.raises(crealm.TypeMismatch):
            exact[Exact].update(text)


def test_counts_of_backlinks_are_those_from_before(exact):
    with exact.write():
        for i in range(600):
            exact.add(Exact(id=i))
        rows = list(exact[Exact].sort("id"))
        rows[0].boss = rows[599]
        exact[Exact].update("n = subs.@count, boss = NULL")
    assert rows[599].n == 1 and exact[Exact].sum("n") == 1


def test_what_a_property_does_not_take(exact):
    with exact.write():
        exact.add(Unit(id=1))
        exact.add(Exact(id=1, part=Part(n=1)))
        exact.add(Exact(id=2))
    unit = exact[Unit].one()
    for change in (
        lambda rows: rows.update(boss=unit),
        lambda rows: rows.update("boss = $0", unit),
        lambda rows: rows.update(boss=rows[0].part),
        lambda rows: rows.update("part = other"),
        lambda rows: rows.update(kind=Exact.s),
    ):
        with exact.write(), pytest.raises(crealm.Error):
            change(exact[Exact].where("TRUEPREDICATE"))
    assert exact[Exact].get(1).part.n == 1 and len(exact[Exact].where("boss != NULL")) == 0
    with exact.write():
        exact[Exact].update("part = NULL")
    assert exact[Exact].get(1).part is None


def test_classes_of_a_base_class_stay(path):
    class Animal(Model):
        name: str
        friend: Optional["Animal"] = None

        class Meta:
            type_property = "type"

    class Dog(Animal):
        age: int = 0
        mate: Optional["Dog"] = None

    with crealm.open(path, schema=[Animal]) as db:
        with db.write():
            db.add(Dog(name="a"))
            db.add(Animal(name="b"))
        for change in (
            lambda: db[Animal].update("type = 'Dog'"),
            lambda: db[Dog].update(mate=Dog.friend),
            lambda: db[Dog].update("mate = friend"),
        ):
            with db.write(), pytest.raises(crealm.UsageError):
                change()
        with db.write():
            assert db[Dog].update(age=Dog.age + 2) == 1
        assert [type(one) for one in db[Animal].sort("name")] == [Dog, Animal]


def test_rules_hold_for_an_update_as_a_whole(path):
    class Seat(Model):
        id: int = field(primary_key=True)
        number: int = field(unique=True, min=0)
        revision: int = field(revision=True, default=0)

    with crealm.open(path, schema=[Seat]) as db:
        with db.write():
            for i in range(500):
                db.add(Seat(id=i, number=i))
        with db.write():
            assert db[Seat].update(number=Seat.number + 1) == 500
        assert sorted(seat.number for seat in db[Seat]) == list(range(1, 501))
        with pytest.raises(crealm.Error), db.write():
            db[Seat].update(number=5)
        with pytest.raises(crealm.Error), db.write():
            db[Seat].update(number=Seat.number - 2)
        assert sorted(seat.number for seat in db[Seat]) == list(range(1, 501))
        assert db[Seat].where("number == 7").one().id == 6
