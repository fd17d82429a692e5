"""group_by() and agg(), and sums over links, compared with sums of Python."""

import enum
import math
import random
import re
import sqlite3
import struct
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, List, Optional

import pytest

import crealm
from crealm import Model, _arrow, field
from crealm._query import Query
from crealm.aggregates import count, count_distinct, first, last, max, mean, median, min, quantile, stddev, sum, variance


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 9


class Owner(Model):
    id: int = field(primary_key=True)
    name: Optional[str] = None
    age: int = 0
    boss: Optional["Owner"]


class Trip(Model):
    id: int = field(primary_key=True)
    owner: Optional[Owner]
    km: float = 0.0
    cost: Decimal = Decimal(0)
    points: Optional[int] = field(name="stored_points", default=None)
    day: date
    at: datetime
    level: Level = Level.LOW
    title: str = ""
    any: Any = None
    tags: List[str]


@pytest.fixture
def trips(path):
    with crealm.open(path, schema=[Trip, Owner]) as db:
        with db.write():
            ann = db.add(Owner(id=1, name="Ann", age=30))
            bo = db.add(Owner(id=2, name="Bo", age=50, boss=ann))
            nan = float("nan")
            rows = [(ann, 1.5, 3, Level.LOW), (bo, 2.0, None, Level.HIGH), (ann, nan, 5, Level.HIGH)]
            rows += [(None, 4.0, 2**62, Level.LOW), (bo, 8.0, 2**62, Level.LOW)]
            for number, (owner, km, points, level) in enumerate(rows):
                at = datetime(2024, 1, number + 1, tzinfo=timezone.utc)
                db.add(Trip(
                    id=number, owner=owner, km=km, cost=Decimal(number) / 4, points=points, level=level, title=f"t{number}", day=at.date(), at=at))
        yield db[Trip]


def test_groups(trips):
    assert trips.group_by("owner.name").agg(n=count(), filled=count("points"), km=sum("km"), usual=mean(Trip.km), last=max("at")) == [
        {"owner.name": "Ann", "n": 2, "filled": 2, "km": 1.5, "usual": 1.5, "last": trips.get(2).at},
        {"owner.name": "Bo", "n": 2, "filled": 1, "km": 10.0, "usual": 5.0, "last": trips.get(4).at},
        {"owner.name": None, "n": 1, "filled": 1, "km": 4.0, "usual": 4.0, "last": trips.get(3).at},
    ]
    assert trips.group_by(Trip.level, boss=Trip.owner.boss.name).agg(n=count(), first=min(Trip.day), worst=max("level"), title=max("title")) == [
        {"level": Level.LOW, "boss": None, "n": 2, "first": date(2024, 1, 1), "worst": Level.LOW, "title": "t3"},
        {"level": Level.HIGH, "boss": "Ann", "n": 1, "first": date(2024, 1, 2), "worst": Level.HIGH, "title": "t1"},
        {"level": Level.HIGH, "boss": None, "n": 1, "first": date(2024, 1, 3), "worst": Level.HIGH, "title": "t2"},
        {"level": Level.LOW, "boss": "Ann", "n": 1, "first": date(2024, 1, 5), "worst": Level.LOW, "title": "t4"},
    ]
    assert trips.group_by("points").agg(n=count(), cost=sum("cost"))[3] == {"points": 2**62, "n": 2, "cost": Decimal("1.75")}
    assert trips.where("km > 3").sort("-km").group_by("id").agg() == [{"id": 4}, {"id": 3}]


def test_one_group_of_everything(trips):
    everything = dict(n=count(), km=sum("km"), mean=mean("cost"), least=min("points"), total=sum("points"), levels=sum("level"))
    assert trips.group_by().agg(**everything) == [
        {"n": 5, "km": 15.5, "mean": Decimal("0.5"), "least": 3, "total": 2**63 + 8, "levels": 21}]  # An int of any size.
    assert trips.where("id < 0").group_by().agg(**everything) == [{"n": 0, "km": 0.0, "mean": None, "least": None, "total": 0, "levels": 0}]
    assert trips.where("id < 0").group_by("owner.name").agg(**everything) == []


def test_not_a_number_is_one_group(trips):
    with trips._db.write():
        trips.get(4).km = -math.nan
        trips.get(0).cost = trips.get(1).cost = Decimal("nan")
        trips.get(2).cost = Decimal("-snan")
        trips.get(3).km = -0.0
        trips.get(1).km = 0.0
    found = trips.group_by("km").agg(n=count(), cost=sum("cost"))
    assert [(str(row["km"]), row["n"], row["cost"]) for row in found] == [
        ("1.5", 1, Decimal(0)), ("0.0", 2, Decimal("0.75")), ("nan", 2, Decimal(1))]
    assert [(str(row["cost"]), row["n"]) for row in trips.group_by("cost").agg(n=count())] == [("NaN", 3), ("0.75", 1), ("1", 1)]


def test_against_python(trips):
    chance = random.Random(4)
    with trips._db.write():
        trips._db.add_many(Trip, [{"id": i, "km": chance.choice([0.5, 1.25]), "points": chance.choice([None, 1, 2])} for i in range(100, 20_100)])
    rows = [(trip.points, trip.km) for trip in trips if trip.id >= 100]
    found = trips.where("id >= 100").group_by("points").agg(n=count(), km=sum("km"), least=min("km"))
    assert {row["points"]: (row["n"], row["km"], row["least"]) for row in found} == {
        points: (len(part), math.fsum(part), 0.5)
        for points in (None, 1, 2)
        for part in [[km for other, km in rows if other == points]]
    }


def test_sums_over_links(trips):
    assert trips.sum("owner.age") == 160 and trips.mean(Trip.owner.age) == 40.0 and trips.max("owner.boss.age") == 30
    assert trips.min(Trip.owner.name) == "Ann" and trips.where("id < 0").min("owner.age") is None
    with pytest.raises(crealm.QueryError, match="no property of Trip"):
        trips.sum(Owner.boss.age)
    with pytest.raises(crealm.NoSuchProperty, match="Owner has no property 'agee'; did you mean 'age'"):
        trips.sum("owner.agee")


def test_where_it_works(trips):
    db = trips._db
    with db.write():
        db.add(Trip(id=50, km=3.0))
        assert trips.group_by().agg(km=sum("km")) == [{"km": 18.5}]  # Including the change of this write.
    assert trips.freeze().group_by().agg(n=count()) == [{"n": 6}]
    ann = db[Owner].get(1)
    assert ann.backlinks(Trip, "owner").group_by("title").agg(n=count()) == [{"title": "t0", "n": 1}, {"title": "t2", "n": 1}]
    assert db["Trip"].group_by("stored_points").agg()[0] == {"stored_points": 3}
    assert trips.group_by("owner").agg(n=count())[0] == {"owner": 1, "n": 2}  # The primary key.


@pytest.mark.parametrize("make, error, text", [
    (lambda rows: rows.group_by("titel").agg(), crealm.NoSuchProperty, "did you mean 'title'"),
    (lambda rows: rows.group_by("tags.name").agg(), crealm.NotSupportedError, "no column"),
    (lambda rows: rows.group_by("day").having("x > 1").agg(), crealm.QueryError, "no column 'x'"),
    (lambda rows: rows.group_by("day").having("day = $0").agg(), crealm.QueryError, "argument"),
    (lambda rows: rows.group_by("day").having(3).agg(), TypeError, "takes a text"),
    (lambda rows: rows.group_by("day").order_by("x").agg(), crealm.QueryError, "no column 'x'"),
    (lambda rows: rows.group_by("day").order_by().agg(), TypeError, "order_by"),
    (lambda rows: rows.group_by("day").limit(-1), crealm.DataError, "not negative"),
    (lambda rows: rows.group_by("day").limit("1"), TypeError, "integer"),
    (lambda rows: rows.group_by("year(title)").agg(), crealm.QueryError, "Cannot take 'year' of 'string'"),
    (lambda rows: rows.group_by("yeer(at)").agg(), crealm.QueryError, "unknown function 'yeer'"),
    (lambda rows: rows.group_by("owner").agg(x=max("owner")), crealm.QueryError, "links have no order"),
    (lambda rows: quantile("km", 1.5), crealm.DataError, "not between"),
    (lambda rows: rows.group_by().agg(x=sum("title")), crealm.UsageError, "title: sum\\(\\) is of numbers"),
    (lambda rows: rows.group_by().agg(x=mean("at")), crealm.UsageError, "is of numbers"),
    (lambda rows: rows.group_by().agg(x="sum"), TypeError, "agg\\(\\) takes"),
    (lambda rows: rows.group_by("title").agg(title=count()), TypeError, "'title' is what"),
    (lambda rows: rows.group_by(3).agg(), TypeError, "Names of columns are texts"),
    (lambda rows: rows[0].tags.group_by("x"), crealm.DataError, "These are values"),
])  # fmt: skip
def test_mistakes(trips, make, error, text):
    with pytest.raises(error, match=text):
        make(trips)


def test_data_tools(trips):
    groups = trips.group_by("owner.name").agg(n=count())
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not there")
    assert groups.to_arrow() == pyarrow.table({"owner.name": ["Ann", "Bo", None], "n": [2, 2, 1]})
    pytest.importorskip("pandas", reason="pandas is not there")
    assert list(groups.to_pandas()["n"]) == [2, 2, 1]
    pytest.importorskip("polars", reason="polars is not there")
    assert groups.to_polars().rows() == [("Ann", 2), ("Bo", 2), (None, 1)]


def test_an_embedded_object_is_no_value(path):
    class Address(crealm.Embedded):
        city: str

    class House(Model):
        address: Optional[Address]

    with crealm.open(path, schema=[House]) as db:
        with db.write():
            db.add(House(address=Address(city="Rome")))
            db.add(House())
        for asked in (lambda: db[House].group_by("address").agg(n=count()), lambda: db[House].group_by().agg(n=count("address"))):
            with pytest.raises(crealm.NotSupportedError, match="address"):
                asked()
        assert db[House].group_by("address.city").agg(n=count()) == [{"address.city": "Rome", "n": 1}, {"address.city": None, "n": 1}]


def test_other_functions(trips):
    found = trips.group_by().agg(
        middle=median("km"), upper=quantile("km", 0.75), spread=stddev("km"), square=variance("km"), levels=count_distinct("level"),
        start=first("day"), end=last("title"), owners=count_distinct("owner.name"), boss=first("owner.boss.name"), most=sum("points * 2"))
    assert found == [{
        "middle": 3.0, "upper": 5.0, "spread": pytest.approx(2.954516), "square": pytest.approx(8.729167), "levels": 2,
        "start": date(2024, 1, 1), "end": "t4", "owners": 2, "boss": None, "most": Decimal(2**64 + 16)}]
    one = trips.where("id = 0").group_by().agg(middle=median("km"), spread=stddev("km"), upper=quantile("km", 0))
    assert one == [{"middle": 1.5, "spread": None, "upper": 1.5}]
    none = trips.where("id < 0").group_by().agg(middle=median("km"), spread=variance("km"), start=first("day"), n=count_distinct("id"))
    assert none == [{"middle": None, "spread": None, "start": None, "n": 0}]


def test_having_order_and_limit(trips):
    by_owner = trips.group_by("owner.name")
    assert by_owner.having("n > $0", 1).having("km < $0 AND owner.name != NULL", 5).agg(n=count(), km=sum("km")) == [
        {"owner.name": "Ann", "n": 2, "km": 1.5}]
    assert [row["owner.name"] for row in by_owner.order_by("-owner.name").agg()] == ["Bo", "Ann", None]
    assert by_owner.order_by("n", "-km").limit(2).agg(n=count(), km=sum("km")) == [
        {"owner.name": None, "n": 1, "km": 4.0}, {"owner.name": "Bo", "n": 2, "km": 10.0}]
    assert by_owner.limit(0).agg(n=count()) == []
    assert len(by_owner.agg()) == 3  # The methods change no grouping.
    assert trips.group_by(**{"an odd-name.": "title"}).order_by("-an odd-name.").limit(1).agg() == [{"an odd-name.": "t4"}]


def test_parts_of_dates(trips):
    db = trips._db
    with db.write():
        trips.get(0).at = datetime(1969, 12, 31, 23, 59, 59, 500_000, tzinfo=timezone.utc)
        trips.get(1).at = datetime(1900, 2, 28, 0, 0, 1, tzinfo=timezone.utc)
        trips.get(2).at = datetime(2400, 2, 29, tzinfo=timezone.utc) - timedelta(microseconds=1)
    assert [row["y"] for row in trips.group_by(y="year(at)").agg()] == [1969, 1900, 2400, 2024]
    parts = {name: f"{name}(at)" for name in ("year", "month", "day", "hour", "minute", "second", "weekday", "date")}
    for trip in trips:
        at = trip.at
        assert trips.where("id = $0", trip.id).group_by(**parts).agg() == [{
            "year": at.year, "month": at.month, "day": at.day, "hour": at.hour, "minute": at.minute, "second": at.second,
            "weekday": at.isoweekday(), "date": datetime(at.year, at.month, at.day, tzinfo=timezone.utc)}]
        assert trip in trips.where("year(at) = $0 AND weekday(at) = $1 AND date(at) <= at", at.year, at.isoweekday())


def test_elements_and_any(trips):
    with trips._db.write():
        for trip, tags in zip(trips, (["a", "b"], [], ["b"], ["b", "b"], ["c", "a"])):
            trip.tags = tags
        values = [1, 1.0, Decimal(1), "1", b"1"]
        for trip, value in zip(trips, values):
            trip.any = value
    assert trips.group_by("tags").agg(n=count(), km=sum("km"), points=max("points")) == [
        {"tags": "a", "n": 2, "km": 9.5, "points": 2**62}, {"tags": "b", "n": 4, "km": 9.5, "points": 2**62},
        {"tags": "c", "n": 1, "km": 8.0, "points": 2**62}]
    assert trips.group_by().agg(n=count("tags"), different=count_distinct("tags"), least=min("tags")) == [{"n": 7, "different": 3, "least": "a"}]
    found = trips.group_by("any").agg(n=count(), total=sum("any"))
    assert [(row["any"], row["n"], row["total"]) for row in found] == [(1, 3, Decimal(3)), ("1", 1, Decimal(0)), (b"1", 1, Decimal(0))]
    moments = [datetime(2024, 1, 1, tzinfo=timezone.utc), crealm.ObjectId("0123456789abcdef01234567"), None, True, trips.get(2)]
    with trips._db.write():
        for trip, value in zip(trips, moments):
            trip.any = value
    assert [row["any"] for row in trips.group_by("any").agg()] == [*moments[:4], 2]


class Row(Model):
    id: int = field(primary_key=True)
    word: Optional[str]
    small: Optional[int]
    large: int = 0
    real: Optional[float]
    other: Optional["Row"]


KEYS = {"word": "t.word", "small": "t.small", "real": "t.real", "other": "t.other", "other.word": "o.word", "other.small": "o.small"}
CALLS = {
    "count": lambda name: f"count({name})", "count_distinct": lambda name: f"count(DISTINCT {name})", "min": lambda name: f"min({name})",
    "max": lambda name: f"max({name})", "sum": lambda name: f"total({name})", "mean": lambda name: f"avg({name})",
}


def test_random_groups_beside_sqlite(path):
    """The groups are those of SQLite, in the order of their first objects, for random data, keys and conditions."""
    chance = random.Random(7)
    for turn in range(30):
        size = chance.choice([0, 1, 5, 300, 2000])
        rows = [
            {"id": number, "word": chance.choice([None, "", "a", "ä", "a much longer text " * 3]), "small": chance.choice([None, -1, 0, 7]),
             "large": chance.randrange(-2**40, 2**40), "real": chance.choice([None, 0.5, -0.25, 1e10])}
            for number in range(size)
        ]
        others = {number: chance.choice([None, chance.randrange(size)]) for number in range(size)}
        plain = sqlite3.connect(":memory:")
        plain.execute("create table t (id integer primary key, word, small, large, real, other)")
        plain.executemany("insert into t values (?, ?, ?, ?, ?, ?)", [(*row.values(), others[row["id"]]) for row in rows])
        with crealm.open(path.with_name(f"{turn}.realm"), schema=[Row]) as db:
            with db.write():
                db.add_many(Row, rows)
                for number, other in others.items():
                    if other is not None:
                        db[Row].get(number).other = db[Row].get(other)
            for _ in range(20):
                keys = chance.sample(list(KEYS), chance.randrange(4))
                condition = chance.choice(["id >= 0", "small = 7 OR real = 0.5", "large > 0 AND id != 3"])
                asked, columns = {"n": count(), "first": min("id")}, ["count(*)", "min(t.id)"]
                for number in range(chance.randrange(4)):
                    function = chance.choice(list(CALLS))
                    name = chance.choice(["small", "large", "real"] + (["word"] if function not in ("sum", "mean") else []))
                    asked[f"a{number}"] = crealm.aggregates.Aggregate("avg" if function == "mean" else function, name)
                    columns.append(CALLS[function](f"t.{name}"))
                by = [KEYS[key] for key in keys]
                found = db[Row].where(condition).group_by(*keys).agg(**asked)
                where = re.sub("id|small|real|large", r"t.\g<0>", condition)
                wanted = plain.execute(
                    f"select {', '.join([*by, *columns])} from t left join t o on t.other = o.id where {where}"
                    f" {'group by ' + ', '.join(by) if by else ''} order by min(t.id)").fetchall()
                assert [tuple(row.values()) for row in found] == wanted


def test_wrong_texts_of_groups(trips):
    """Any text gives groups or a typed error."""
    chance = random.Random(3)
    words = (
        "GROUP BY AGGREGATE HAVING AS SORT LIMIT DISTINCT ( ) , count() sum(km) avg(points) min(any) quantile(km,0.5) year(at) date(at) "
        "title owner owner.name tags any @count $0 3 0.5 'x' NULL > == + / n DESC AND NOT TRUEPREDICATE year ( median ) first(owner) "
        "owner.boss.owner tags[0] SUBQUERY(owner,$x,TRUEPREDICATE).@count ALL tags"
    ).split()
    base = "id >= 0 GROUP BY title , year(at) AS y AGGREGATE count() AS n , avg(km) HAVING n > 0 SORT ( n DESC ) LIMIT ( 3 )".split()
    good = 0
    for _ in range(3000):
        text = list(base)
        for _ in range(chance.randrange(1, 5)):
            at = chance.randrange(len(text))
            text[at : at + chance.randrange(2)] = chance.sample(words, chance.randrange(3))
        query = Query(trips._db, " ".join(text), (), {})
        try:
            _arrow.groups(trips._handle, query.encoded, query.arguments)
            good += 1
        except crealm.Error as error:
            assert error.message
    assert 100 < good < 2900


def test_deep_texts_of_groups(trips):
    for text in (
        "GROUP BY " + "year(" * 500 + "at" + ")" * 500, "GROUP BY " + "(" * 9000 + "id" + ")" * 9000,
        "AGGREGATE sum(" + "id+" * 9000 + "id)", "GROUP BY " + ",".join(f"id AS c{number}" for number in range(3000)),
    ):
        query = Query(trips._db, text, (), {})
        try:
            _arrow.groups(trips._handle, query.encoded, query.arguments)
        except crealm.Error as error:
            assert error.message


class Number(Model):
    n: int = 0
    g: float = 0.0
    d: Optional[Decimal] = None
    at: Optional[datetime] = None
    m: Any = None
    numbers: List[int]


@pytest.fixture()
def numbers():
    with crealm.memory(schema=[Number]) as db:
        yield db


def test_arithmetic_has_the_wider_type(numbers):
    with numbers.write():
        numbers.add(Number(n=2, g=1.5, d=Decimal("0.25"), numbers=[1, 2]))
        numbers.add(Number(n=3, g=0.5, d=None, numbers=[]))
    rows = numbers[Number]
    assert rows.group_by(k="n * g").agg(x=max("n * g"), s=sum("n * g")) == [
        {"k": 3.0, "x": 3.0, "s": 3.0}, {"k": 1.5, "x": 1.5, "s": 1.5}
    ]
    assert rows.group_by().agg(low=min("n - d"), first=first("n * g"), all=sum("n + g")) == [
        {"low": Decimal("1.75"), "first": 3.0, "all": 7.0}
    ]


def test_medians_and_deviations_of_extreme_numbers(numbers):
    def made(*values):
        with numbers.write():
            numbers[Number].delete_all()
            for value in values:
                numbers.add(Number(g=value))
        return numbers[Number].group_by().agg(m=median("g"), q=quantile("g", 0.25), d=stddev("g"), v=variance("g"))[0]

    found = made(1e308, -1e308)
    assert (found["m"], found["q"]) == (0.0, -5e307) and found["v"] == math.inf
    assert found["d"] == pytest.approx(1e308 * math.sqrt(2))
    assert made(-math.inf, 100.0)["m"] == -math.inf and made(1.0, math.inf)["m"] == math.inf
    found = made(1.0, 2.0, 1e200, 3.0)
    assert found["d"] == pytest.approx(5e199) and made(1.0, 2.0, 4.0)["v"] == pytest.approx(7 / 3)


def test_values_that_are_alike_are_counted_fast(numbers):
    """Decimals with one nearest double, and points in time of one sum: with equal hashes this would take minutes."""
    with numbers.write():
        for i in range(20_000):
            moment = crealm.RawTimestamp(5 ^ (i << 32), i)
            numbers.add(Number(d=Decimal(f"0.1{i:030}"), at=moment))
    assert numbers[Number].group_by().agg(d=count_distinct("d"), t=count_distinct("at")) == [{"d": 20_000, "t": 20_000}]
    with numbers.write():
        numbers[Number].delete_all()
        for text in ["0.10", "0.1", "1E+2", "0.5", "1E+400"]:
            numbers.add(Number(m=Decimal(text)))
        for value in [100, 100.0, 0.5]:
            numbers.add(Number(m=value))
    assert numbers[Number].group_by().agg(n=count_distinct("m")) == [{"n": 4}]


def test_far_dates_and_odd_numbers(numbers):
    far = crealm.RawTimestamp(253402300800, 0)
    (odd,) = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))
    with numbers.write():
        numbers.add(Number(at=far, m=odd))
        numbers.add(Number(at=datetime(2020, 1, 2, tzinfo=timezone.utc)))
    late = numbers[Number].where("at > $0", datetime(9999, 1, 1, tzinfo=timezone.utc))
    assert late.group_by().agg(x=max("at")) == [{"x": far}]
    assert [row["at"] for row in numbers[Number].group_by("at").agg(n=count())][0] == far
    assert math.isnan(numbers[Number].group_by("m").agg(n=count())[0]["m"])


@pytest.mark.parametrize(
    "make",
    [
        lambda rows: rows.group_by(y="(n + 1) AS q, g").agg(n=count()),
        lambda rows: rows.group_by(y="n + 1, g").agg(n=count()),
        lambda rows: rows.group_by("n").agg(a=sum("n) AS q, sum(g")),
        lambda rows: rows.group_by("n").having("a > 0) SORT(a DESC) LIMIT(1").agg(a=count()),
    ],
    ids=range(4),
)
def test_a_text_is_one_value(numbers, make):
    with pytest.raises(crealm.QueryError, match="is not one (value|condition)"):
        make(numbers[Number])
    rows = numbers[Number].group_by(y="(n + 1) * 2").having("a > 0 AND (a > 1 OR y == 2)").agg(a=count())
    assert rows == []
