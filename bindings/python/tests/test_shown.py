"""How things look: repr() and Jupyter's _repr_html_(), short and safe for values of any kind, open or closed; dict(obj)."""

import html.parser
import re
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Dict, List, Optional, Set
from uuid import UUID

import pytest

import crealm
from crealm import Embedded, Model, field

HOSTILE = "<script>alert('x')</script>&\"'\x00\x1b[2J\n\u202e"


class Part(Embedded):
    note: str


class Thing(Model):
    id: int = field(primary_key=True)
    text: str = ""
    data: bytes = b""
    any: Any = None
    at: Optional[datetime] = None
    part: Optional[Part]
    other: Optional["Thing"]
    things: List["Thing"]
    words: Set[str]
    notes: Dict[str, Any]


Wide = type("Wide", (Model,), {"__annotations__": {f"p{i:03}<b>": int for i in range(120)}, "__module__": __name__})


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Thing, Wide]) as db:
        with db.write():
            first = db.add(Thing(id=1, text=HOSTILE, data=b"<" * 100, any=[1, {"<i>": HOSTILE}], part=Part(note=HOSTILE), words={HOSTILE}))
            first.notes = {"<k>": HOSTILE, "list": [1, 2]}
            first.other = first
            first.things = [first] * 30
            db.add_many(Thing, [{"id": i, "text": "x" * 100_000} for i in range(2, 1002)])
            db.add(Wide())
        yield db


def everything(db):
    first = db[Thing].get(1)
    return [
        db, first, db["Thing"], db[Thing].where("id < 5"), db[Thing].sort("-id").limit(3), first.things, first.words, first.notes,
        first.notes.values(), first.part, first.any, first.any[1], db[Wide], db[Wide][0], db[Thing].where(Thing.id == 0), db[Thing].snapshot(),
    ]  # fmt: skip


class Tags(html.parser.HTMLParser):
    """The names of all tags; checks that they are closed in the right order."""

    def __init__(self, text):
        super().__init__()
        self.names, self.open = set(), []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.open.append(tag)
        assert {name for name, _ in attributes} <= {"colspan"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_short_and_safe(db):
    for thing in everything(db):
        assert 0 < len(repr(thing)) < 6000 and "\n" not in repr(thing) and "\x1b" not in repr(thing)
        if hasattr(thing, "_repr_html_"):
            page = thing._repr_html_()
            assert Tags(page).names <= {"table", "caption", "tr", "th", "td", "pre"} and len(page) < 40_000, thing
            page.encode("utf-8")


def test_what_they_show(db):
    first = db[Thing].get(1)
    assert repr(db[Thing].get(2)) == (
        f"Thing(id=2, text='{'x' * 57}…, data=b'', any=None, at=None, part=None, other=None, "
        "things=<0 values>, words=<0 values>, notes=<0 values>)")
    assert "part=<Part 0>" in repr(first) and "things=<30 values>" in repr(first) and "any=<2 values>" in repr(first)
    assert repr(db[Wide][0]).endswith("p029<b>=0, …)")
    page = db[Thing].where("id IN {2, 3}")._repr_html_()
    assert "<caption>Thing: 2</caption>" in page and page.count("<tr>") == 3 and "<th>things</th>" in page and "<td>2</td>" in page
    assert "… 991 more" in db[Thing]._repr_html_() and "… 20 more" in first.things._repr_html_()
    assert "&lt;script&gt;" in first._repr_html_() and "<td>&lt;k&gt;</td>" in first.notes._repr_html_()
    assert "<td>Thing</td><td>1001</td><td>10</td>" in db._repr_html_()
    snapshot = db[Thing].where("id == 2").snapshot()
    with db.write():
        snapshot[0].delete()
    assert repr(snapshot) == "[None]" and "<td>deleted</td>" in snapshot._repr_html_()


def test_closed_and_deleted(db):
    things = everything(db)
    with db.write():
        db[Thing].get(1).delete()
    for thing in things:
        assert len(repr(thing)) < 6000
        if hasattr(thing, "_repr_html_"):
            Tags(thing._repr_html_())
    db.close()
    for thing in things:
        assert len(repr(thing)) < 500
        if hasattr(thing, "_repr_html_"):
            assert Tags(thing._repr_html_()).names <= {"pre", "table", "tr", "td", "th", "caption"}


class Rude:
    def __repr__(self):
        raise KeyError("no")


def test_plain_instances():
    thing = Thing(id=10**5000, text=HOSTILE, any=Rude(), things=[Thing()] * 3)
    assert repr(thing).startswith("Thing(id=<int: ValueError>, text='<script>") and "any=<Rude: KeyError>" in repr(thing)
    assert "things=<3 values>" in repr(thing) and Tags(thing._repr_html_()).names == {"table", "caption", "tr", "th", "td"}
    assert "\udc80" not in Thing(text="\udc80")._repr_html_()


def test_an_object_as_pairs(db):
    first = db[Thing].get(2)
    assert list(first)[:2] == [("id", 2), ("text", "x" * 100_000)] and dict(first)["other"] is None
    assert list(dict(first)) == ["id", "text", "data", "any", "at", "part", "other", "things", "words", "notes"]
    assert type(dict(first)["things"]) is crealm.List
    plain = Thing(id=3, at=datetime(2024, 1, 1, tzinfo=timezone.utc))
    assert dict(plain)["id"] == 3 and dict(plain)["at"].year == 2024
    with pytest.raises(TypeError):
        "id" in first
    with db.write():
        for wrong in (lambda: setattr(first, "things", first), lambda: Thing(id=9, things=first), lambda: setattr(Thing(), "words", first)):
            with pytest.raises(crealm.TypeMismatch):
                wrong()
    db.close()
    with pytest.raises(crealm.ClosedError):
        dict(first)


class Mood(Enum):
    FINE = "f"


class Log(Model):
    id: int = field(primary_key=True)
    day: date
    mood: Mood
    price: Optional[Decimal]
    token: Optional[UUID]
    prices: List[Decimal]
    any: Any = None


@pytest.fixture
def logs(path):
    with crealm.open(path, schema=[Log]) as db:
        with db.write():
            db.add(Log(id=1, day=date(2024, 2, 3), mood=Mood.FINE, price=Decimal("1.50"), token=UUID(int=7), any=crealm.Float32(0.1)))
            db.add_many(Log, [{"id": n, "day": date(2024, 1, 1), "mood": Mood.FINE, "prices": [Decimal("2.10")]} for n in range(2, 1203)])
        yield db


def rows(page):
    """The texts of the cells, row by row."""
    return [re.findall("<t[hd](?: colspan=.[0-9]+.)?>(.*?)</t[hd]>", line) for line in page.split("\n") if line.startswith("<tr>")]


def test_values_as_people_read_them(logs):
    whole = rows(logs[Log].where("id == 1")._repr_html_())
    assert whole == [["id", "day", "mood", "price", "token", "prices", "any"], ["1", "2024-02-03", "FINE", "1.50", str(UUID(int=7)), "empty", "0.1"]]
    chosen = logs[Log].select("id", "day", "mood", "price", "token", "prices")._repr_html_()
    assert "<caption>1,202 rows, 6 columns</caption>" in chosen and rows(chosen)[1] == whole[1][:-1] and rows(chosen)[-1] == ["… 1,192 more"]
    assert rows(chosen)[2] == ["2", "2024-01-01", "FINE", "", "", "2.10"]
    one = rows(logs[Log].get(1)._repr_html_())
    assert one == [["property", "value"], *([name, value] for name, value in zip(whole[0], whole[1]))]


def test_a_column_and_groups_are_tables(logs):
    page = logs[Log].column("price")._repr_html_()
    assert "<caption>1,202 values</caption>" in page and rows(page)[:3] == [["value"], ["1.50"], [""]] and rows(page)[-1] == ["… 1,192 more"]
    assert rows(logs[Log].where("id == 1").column("day")._repr_html_()) == [["value"], ["2024-02-03"]]
    assert "<caption>1 value</caption>" in logs[Log].where("id == 1").column("day")._repr_html_()
    groups = logs[Log].group_by("day").agg(n=crealm.aggregates.count(), most=crealm.aggregates.max("price"))._repr_html_()
    assert "<caption>2 groups</caption>" in groups and sorted(rows(groups)[1:]) == [["2024-01-01", "1201", ""], ["2024-02-03", "1", "1.50"]]
    many = logs[Log].group_by("id").agg(n=crealm.aggregates.count())._repr_html_()
    assert len(rows(many)) == 12 and rows(many)[-1] == ["… 1,192 more"]
    assert Tags(logs[Log].where("id < 0").group_by("id").agg(n=crealm.aggregates.count())._repr_html_()).names <= {"table", "caption", "tr"}


def test_a_wide_table_says_how_many_columns_it_leaves_out(db):
    for page in db[Wide]._repr_html_(), db[Wide].select()._repr_html_():
        head, row = rows(page)
        assert len(head) == len(row) == 49 and head[-1] == "… 72 more" and row[-1] == "…" and head[0] == "p000&lt;b&gt;"
    assert len(rows(db[Wide][0]._repr_html_())) == 121


@pytest.mark.parametrize("value, text", [(0.1, "0.1"), (1, "1.0"), (-2.5, "-2.5"), (1e-45, "1e-45"), (3.4028235e38, "3.4028235e+38"), (16777216, "16777216.0"), (0.3, "0.3")])
def test_the_shortest_text_of_a_single(value, text):
    assert crealm.Float32(value).shortest() == text and crealm.Float32(float(text)) == crealm.Float32(value)
