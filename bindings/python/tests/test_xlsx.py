"""Workbooks of Excel: to_xlsx(), `crealm export` and `crealm import`."""

import json
import math
import random
import sys
import uuid
import zipfile
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Optional

import pytest

import crealm
from crealm import _xlsx
from test_cli_import import HOSTILE, compare, dump, quiet

openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not there")
pytest.importorskip("xlsxwriter", reason="XlsxWriter is not there")

UTC = timezone.utc
FORMULAS = [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    '=HYPERLINK("http://x")',
    "\t=1",
    "http://example.org",
    "mailto:a@b",
    "{=1}",
    "00501",
    "1e5",
    "TRUE",
    "<r><t>x</t></r>",
]


class Color(Enum):
    RED = "red"
    BLUE = "blue"


class Town(crealm.Model):
    name: str = crealm.field(primary_key=True)
    people: Optional[int]
    area: float = 0.0
    is_capital: bool = False
    founded: Optional[datetime]
    price: Optional[Decimal]
    twin: Optional["Town"]
    tags: list[str]
    roads: list["Road"]
    notes: dict[str, Any]
    place: Optional["Place"]


class Road(crealm.Model):
    length: crealm.Float32
    towns: list[Town]
    town: Optional[Town]
    next: Optional["Road"]


class Place(crealm.Embedded):
    lat: float
    town: Optional[Town]


class Cat(crealm.Model):
    color: Color
    born: date
    id: uuid.UUID = crealm.field(primary_key=True)


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Town, Road, Place]) as db:
        yield db


def cells(path, sheet=None):
    """The values of a sheet, row by row."""
    book = openpyxl.load_workbook(path)
    page = book[sheet] if sheet else book.worksheets[0]
    return [[cell.value for cell in row] for row in page.iter_rows()]


def column(path, name, sheet=None):
    book = openpyxl.load_workbook(path)
    page = book[sheet] if sheet else book.worksheets[0]
    (place,) = [cell.column for cell in page[1] if cell.value == name]
    return [page.cell(row, place) for row in range(2, page.max_row + 1)]


def test_what_excel_sees(db, tmp_path):
    with db.write():
        oslo = db.add(
            Town(
                name="Oslo",
                people=700_000,
                area=0.1 + 0.2,
                is_capital=True,
                founded=datetime(1048, 1, 1, tzinfo=UTC),
            )
        )
        bergen = db.add(
            Town(
                name="Bergen",
                founded=datetime(1970, 5, 6, 7, 8, 9, 250_000, tzinfo=UTC),
                price=Decimal("1.50"),
                twin=oslo,
            )
        )
        road = db.add(Road(length=crealm.Float32(0.1), towns=[oslo, bergen], town=bergen))
        db.add(Road(length=5, next=road))
        oslo.roads = [road]
        oslo.tags = ["a", "b"]
        oslo.notes = {"n": [1, oslo, 2**60]}
        oslo.place = {"lat": 59.9, "town": bergen}
    assert db.to_xlsx(tmp_path / "all.xlsx") == {}
    book = openpyxl.load_workbook(tmp_path / "all.xlsx")
    assert (
        book.sheetnames == ["Road", "Town", "$notes", "$schema"] and book["$schema"].sheet_state == "hidden"
    )
    for sheet in book.worksheets[:2]:
        assert sheet.freeze_panes == "A2" and all(cell.font.bold for cell in sheet[1])
    head, *rows = cells(tmp_path / "all.xlsx", "Town")
    oslo, bergen = (dict(zip(head, row)) for row in rows)
    assert head[:4] == ["name", "people", "area", "is_capital"]
    assert oslo["people"] == 700_000 and oslo["area"] == 0.1 + 0.2 and oslo["is_capital"] is True
    assert oslo["founded"] == "1048-01-01T00:00:00Z"  # Excel has no such day.
    assert json.loads(oslo["notes"]) == {"n": [1, {"$primaryKey": "Oslo", "$class": "Town"}, 2**60]}
    assert (oslo["tags"], json.loads(oslo["place"])) == ('["a", "b"]', {"lat": 59.9, "town": "Bergen"})
    assert json.loads(oslo["roads"]) == [{"$ref": 0, "$class": "Road"}]
    assert (
        bergen["twin"] == "Oslo"
        and bergen["founded"] == datetime(1970, 5, 6, 7, 8, 9, 250_000)
        and bergen["people"] is None
    )
    assert bergen["tags"] is None and bergen["place"] is None
    (price,) = [cell for cell in column(tmp_path / "all.xlsx", "price", "Town") if cell.value is not None]
    assert (price.value, price.number_format, price.data_type) == (1.5, "0.00", "n")
    assert cells(tmp_path / "all.xlsx", "Road") == [
        ["$key", "length", "towns", "town", "next"],
        [0, 0.1, '["Oslo", "Bergen"]', "Bergen", None],
        [1, 5, None, None, 0],
    ]


def test_texts_are_never_formulas(db, tmp_path):
    with db.write():
        for number, text in enumerate(FORMULAS):
            db.add(Town(name=f"{number:02}{text}", tags=[text], notes={"x": text}, twin=None, people=number))
        for text in FORMULAS:
            db.add(Town(name=text, people=-1))
    db.to_xlsx(tmp_path / "a.xlsx")
    names = column(tmp_path / "a.xlsx", "name", "Town")
    assert [cell.value for cell in names[len(FORMULAS) :]] == FORMULAS
    assert {cell.data_type for cell in names} == {"s"} and not any(cell.hyperlink for cell in names)
    with zipfile.ZipFile(tmp_path / "a.xlsx") as parts:
        assert all(b"<f>" not in parts.read(name) for name in parts.namelist())
    assert_same(db, tmp_path / "a.xlsx", tmp_path)


def assert_same(db, workbook, folder, allowed=()):
    """Imports a workbook, and compares it with the database that it was made from."""
    new = folder / "again.realm"
    new.unlink(missing_ok=True)
    code, said, _ = quiet(["import", new, workbook])
    assert code == 0, said
    with crealm.open(db.path, mode="snapshot") as was, crealm.open(new) as made:
        compare(dump(was), dump(made), [f"cannot carry {what}" for what in allowed])
        assert made.verify() == []


def test_values_that_excel_cannot_hold(db, tmp_path):
    long = "ab😀=" * 20_000
    with db.write():
        for number, (people, area, founded, price) in enumerate([
            (2**53, -0.0, datetime(1900, 3, 1, tzinfo=UTC), Decimal("123456789012345")),
            (2**53 + 1, math.nan, datetime(1900, 2, 28, 23, tzinfo=UTC), Decimal("1234567890123456")),
            (-(2**63), math.inf, crealm.RawTimestamp(10**15, 5), Decimal("1E+5")),
            (2**63 - 1, 5e-324, datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC), Decimal("NaN")),
            (0, 1.7976931348623157e308, datetime(2024, 1, 1, tzinfo=UTC), Decimal("-0.00")),
            (None, 0.1, None, Decimal("0.000000000000000000000000000001")),
        ]):  # fmt: skip
            db.add(Town(name=str(number), people=people, area=area, founded=founded, price=price))
        db.add(Town(name=long, tags=[long], notes={"x": long}))
        db.add(Town(name="x" * 32_767))
        db.add(Town(name="y" * 32_768))
        db.add(Town(name="… [$texts 1]"))
    assert db.to_xlsx(tmp_path / "a.xlsx", [Town, "Road"]) == {}
    assert [cell.value for cell in column(tmp_path / "a.xlsx", "people", "Town")][:6] == [
        2**53,
        "9007199254740993",
        "-9223372036854775808",
        "9223372036854775807",
        0,
        None,
    ]
    assert [cell.value for cell in column(tmp_path / "a.xlsx", "area", "Town")][1:3] == ["NaN", "Infinity"]
    names = column(tmp_path / "a.xlsx", "name", "Town")
    (cut,) = [cell.value for cell in names if cell.value.startswith("ab")]
    assert cut == long[:16_000] + "… [$texts 1]" and len(cut) < 32_767
    assert max(len(cell.value) for cell in names) == 32_767
    page = openpyxl.load_workbook(tmp_path / "a.xlsx")["Town"]
    assert cells(tmp_path / "a.xlsx", "$notes")[:2] == [
        ["sheet", "column", "cells", "what they have"],
        ["Town", "people", 3, "texts: integers beyond 2^53"],
    ]
    assert ["Town", "name", 2, "beginnings of long texts, whose whole is in the sheet $texts"] in cells(
        tmp_path / "a.xlsx", "$notes"
    )
    assert {row[1] for row in cells(tmp_path / "a.xlsx", "$notes")[1:]} == {
        "name",
        "people",
        "area",
        "founded",
        "price",
        "tags",
        "notes",
    }
    assert page["A8"].comment.text == "The whole text, 100,000 characters, is in the sheet $texts."
    assert (
        "would change the digits"
        in next(
            cell for cell in column(tmp_path / "a.xlsx", "people", "Town") if cell.value == "9007199254740993"
        ).comment.text
    )
    assert_same(db, tmp_path / "a.xlsx", tmp_path)


def test_parts_of_a_millisecond_are_counted(db, tmp_path):
    with db.write():
        db.add(
            Town(
                name="a",
                founded=crealm.Timestamp.from_ns(1_700_000_000_123_456_789),
                notes={"at": crealm.Timestamp.from_ns(1)},
            )
        )
        db.add(Town(name="b", founded=datetime(2024, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)))
    lost = db.to_xlsx(tmp_path / "a.xlsx")
    assert lost == {"parts of a millisecond in times (they are cut)": 2}
    assert [cell.value for cell in column(tmp_path / "a.xlsx", "founded", "Town")][1] == datetime(
        2024, 12, 31, 23, 59, 59, 999_000
    )
    code, said, _ = quiet(["export", db.path, tmp_path / "b.xlsx"])
    assert code == 0 and "xlsx cannot carry parts of a millisecond in times (they are cut): 2" in said
    assert_same(db, tmp_path / "a.xlsx", tmp_path, lost)


def test_names_of_sheets(tmp_path):
    names = [
        "a" * 31,
        "A" * 31,
        "a" * 40,
        "a/b",
        "a:b",
        "A_b",
        "History",
        "'x'",
        "$schema",
        "$texts",
        "😀" * 14 + "xyz",
        "[]*?/\\:",
        "Sheet1",
    ]
    given = _xlsx.SheetNames(*_xlsx.OWN)
    found = [given.name(name) for name in names]
    assert (
        len({name.casefold() for name in found} | {"$schema", "$texts", "$notes", "history"})
        == len(found) + 4
    )
    assert all(
        0 < len(name.encode("utf-16-le")) // 2 <= 31 and not set(name) & set("[]:*?/\\") for name in found
    )
    assert not any(name.startswith("'") or name.endswith("'") for name in found)
    assert (
        found[0] == "a" * 31
        and found[1] == "A" * 27 + " (2)"
        and found[2] == "a" * 27 + " (3)"
        and found[-1] == "Sheet1"
    )
    many = {_xlsx.SheetNames().name("x")} | {
        name for own in [_xlsx.SheetNames()] for name in [own.name("x" * 31) for _ in range(1200)]
    }
    assert len(many) == 1201
    with crealm.open(
        tmp_path / "a.realm", schema=[crealm.ClassSchema(name, {"n": int}) for name in names[:-3]]
    ) as db:
        with db.write():
            for number, name in enumerate(names[:-3]):
                db[name].create(n=number)
        db.to_xlsx(tmp_path / "a.xlsx")
        assert_same(db, tmp_path / "a.xlsx", tmp_path)


def test_a_class_of_more_rows_than_a_sheet_has(db, tmp_path, monkeypatch):
    monkeypatch.setattr(_xlsx, "MOST_ROWS", 8)
    with db.write():
        for number in range(21):
            db.add(Road(length=number))
    db.to_xlsx(tmp_path / "a.xlsx", ["Road"])
    assert openpyxl.load_workbook(tmp_path / "a.xlsx").sheetnames == [
        "Road",
        "Road (2)",
        "Road (3)",
        "$schema",
    ]
    new = tmp_path / "new.realm"
    assert quiet(["import", new, tmp_path / "a.xlsx"])[2].endswith("21 objects of 1 class\n")
    with crealm.open(new) as made:
        assert [road.length for road in made["Road"]] == list(range(21))
    monkeypatch.setattr(_xlsx, "MOST_COLUMNS", 3)
    with pytest.raises(crealm.LimitExceeded, match="more properties than a sheet has columns"):
        db.to_xlsx(tmp_path / "b.xlsx")
    assert not (tmp_path / "b.xlsx").exists()


def test_results_windows_and_lists(db, tmp_path):
    with db.write():
        towns = [db.add(Town(name=name, people=len(name))) for name in ("Oslo", "Bergen", "Bodø", "Ås")]
        road = db.add(Road(length=1, towns=towns[:2]))
    db[Town].where("people < 5").sort("-name").to_xlsx(tmp_path / "a.xlsx")
    assert [row[0] for row in cells(tmp_path / "a.xlsx")] == ["name", "Ås", "Oslo", "Bodø"]
    db[Town].sort("name").offset(1).limit(2).to_xlsx(tmp_path / "b.xlsx")
    assert [row[0] for row in cells(tmp_path / "b.xlsx")] == ["name", "Bodø", "Oslo"]
    road.towns.to_xlsx(tmp_path / "c.xlsx")
    assert [row[0] for row in cells(tmp_path / "c.xlsx")] == ["name", "Oslo", "Bergen"]
    snapshot = db[Town].where("people < 5").snapshot()
    with db.write():
        towns[0].delete()
        snapshot.to_xlsx(tmp_path / "d.xlsx")
    assert [row[0] for row in cells(tmp_path / "d.xlsx")] == ["name", "Bodø", "Ås"]
    with pytest.raises(crealm.DataError, match="no objects"):
        towns[1].tags.snapshot().to_xlsx(tmp_path / "e.xlsx")
    with pytest.raises(crealm.DataError, match="rows of their owners"):
        db.to_xlsx(tmp_path / "e.xlsx", ["Place"])
    with pytest.raises(crealm.NoSuchClass):
        db.to_xlsx(tmp_path / "e.xlsx", ["Nowhere"])
    with pytest.raises(crealm.FileExists):
        db.to_xlsx(tmp_path / "a.xlsx")
    with pytest.raises(FileNotFoundError):
        db.to_xlsx(tmp_path / "none" / "e.xlsx")
    assert sorted(file.name for file in tmp_path.glob("*.xlsx")) == ["a.xlsx", "b.xlsx", "c.xlsx", "d.xlsx"]


def test_the_command(db, tmp_path):
    with db.write():
        db.add(Town(name="Oslo"))
        db.add(Road(length=1))
    code, said, out = quiet(["export", db.path, "--xlsx", tmp_path / "a.xlsx", "--class", "Town", "--json"])
    assert (code, said) == (0, "") and json.loads(out) == {
        "format": "xlsx",
        "out": str(tmp_path / "a.xlsx"),
        "classes": 1,
        "objects": 1,
        "lost": {},
    }
    assert openpyxl.load_workbook(tmp_path / "a.xlsx").sheetnames == ["Town", "$schema"]
    assert "cannot be written to the standard output" in quiet(["export", db.path, "--xlsx", "-"])[1]
    assert quiet(["export", db.path, "--xlsx", tmp_path / "a.xlsx"])[0] == 1
    assert (
        quiet(["export", db.path, tmp_path / "b.xlsx", "--class", "Place"])[0] == 0
    )  # Its objects are in the rows of towns.
    assert openpyxl.load_workbook(tmp_path / "b.xlsx").sheetnames == ["$schema"]


def test_enums_and_dates_of_models(path, tmp_path):
    with crealm.open(path, schema=[Cat]) as db:
        with db.write():
            db.add(Cat(color=Color.BLUE, born=date(2020, 2, 29), id=uuid.UUID(int=7)))
        db[Cat].to_xlsx(tmp_path / "a.xlsx")
        head, row = cells(tmp_path / "a.xlsx")
        assert dict(zip(head, row)) == {
            "color": "blue",
            "born": datetime(2020, 2, 29),
            "id": str(uuid.UUID(int=7)),
        }
        assert_same(db, tmp_path / "a.xlsx", tmp_path)
    assert quiet(["import", tmp_path / "x.realm", tmp_path / "a.xlsx"])[0] == 0
    with crealm.open(tmp_path / "x.realm", schema=[Cat]) as again:
        assert again[Cat].first().color is Color.BLUE and again[Cat].first().born == date(2020, 2, 29)


class Animal(crealm.Model):
    kind: str
    name: str

    class Meta:
        type_property = "kind"


class Dog(Animal):
    breed: Optional[str]


class Hen(Animal):
    eggs: Optional[int]


class Other(crealm.Model):
    number: int = crealm.field(primary_key=True, name="id")
    head: str = crealm.field(name="title")
    to: Optional["Other"] = crealm.field(name="link")


def test_subclasses_and_names_of_the_file(path, tmp_path):
    with crealm.open(path, schema=[Animal, Dog, Hen, Other]) as db:
        with db.write():
            db.add(Dog(name="Rex", breed="mix"))
            db.add(Hen(name="Berta", eggs=9))
            other = db.add(Other(number=5, head="x"))
            other.to = other
        db.to_xlsx(tmp_path / "a.xlsx")
        assert cells(tmp_path / "a.xlsx", "Animal") == [
            ["$key", "kind", "name", "breed", "eggs"],
            [0, "Dog", "Rex", "mix", None],
            [1, "Hen", "Berta", None, 9],
        ]
        assert cells(tmp_path / "a.xlsx", "Other") == [["id", "title", "link"], [5, "x", 5]]
        assert_same(db, tmp_path / "a.xlsx", tmp_path)
        db[Hen].to_xlsx(tmp_path / "b.xlsx")
    assert quiet(["import", tmp_path / "b.realm", tmp_path / "b.xlsx"])[0] == 0
    with crealm.open(tmp_path / "b.realm", schema=[Animal, Dog, Hen]) as made:
        assert [(type(one), one.name, one.eggs) for one in made[Animal]] == [(Hen, "Berta", 9)]


def test_keys_beyond_the_integers_of_excel(db, tmp_path, monkeypatch):
    with db.write():
        roads = [db.add(Road(length=number)) for number in range(5)]
        for one, following in zip(roads, roads[1:]):
            one.next = following
        roads[1].delete()
    monkeypatch.setattr(_xlsx, "LARGEST", 1)
    db.to_xlsx(tmp_path / "a.xlsx")
    assert [(row[0], row[4]) for row in cells(tmp_path / "a.xlsx", "Road")[1:]] == [
        (0, None),
        ("2", "3"),
        ("3", "4"),
        ("4", None),
    ]
    assert_same(db, tmp_path / "a.xlsx", tmp_path)
    workbook(tmp_path / "b.xlsx", Road=[["$key", "next", "length"], ["x", None, 1]]).save(tmp_path / "b.xlsx")
    assert "cell A2: 'x' is no integer" in quiet(["import", db.path, tmp_path / "b.xlsx"])[1]


def test_links_to_odd_primary_keys(path, tmp_path):
    schema = [
        crealm.ClassSchema(
            "A", {"id": Optional[str], "to": "A", "all": list["A"], "any": Any}, primary_key="id"
        )
    ]
    keys = [None, "", "{", '{"$ref": 0}', "[", "5", HOSTILE, "_x000D_", "\ufffe", " x ", "x\r\ny"]
    with crealm.open(path, schema=schema) as db:
        with db.write():
            made = [db["A"].create(key) for key in keys]
            for one in made:
                one.to, one.all, one.any = one, made, one
            for key in keys[1:]:
                db["A"].create(f"any {key}", any=key)
        db.to_xlsx(tmp_path / "a.xlsx")
        assert_same(db, tmp_path / "a.xlsx", tmp_path)


SEED = random.randrange(2**32)


def random_text(chance):
    alphabet = "ab =+-@'\"<>&_x005F\n\r\t\0\x1b😀é\u202e\ufffe[]{}0"
    return "".join(chance.choice(alphabet) for _ in range(chance.choice([0, 1, 3, 8, 30])))


def random_value(chance, kind):
    return {
        int: lambda: chance.choice([0, 1, -1, chance.getrandbits(62), 2**53, -(2**53) - 1, 2**63 - 1]),
        float: lambda: chance.choice([0.0, -0.0, chance.random(), chance.uniform(-1e300, 1e300), 3.0, 1e22, 5e-324, math.inf, math.nan]),
        crealm.Float32: lambda: crealm.Float32(chance.choice([0, chance.random(), chance.uniform(-1e38, 1e38), 1e-45])),
        bool: lambda: chance.random() < 0.5,
        str: lambda: random_text(chance),
        bytes: lambda: chance.randbytes(chance.choice([0, 1, 5])),
        datetime: lambda: datetime(1890, 1, 1, tzinfo=UTC) + timedelta(milliseconds=chance.randrange(10**13)),
        Decimal: lambda: Decimal(chance.choice(["0", "-0", "1.50", "0.1", "1E+3", "NaN", "-Infinity", str(chance.getrandbits(chance.choice([5, 40, 100]))),
                                                f"{chance.random():.{chance.randrange(1, 16)}f}"])),
        uuid.UUID: lambda: uuid.UUID(int=chance.getrandbits(128)),
        crealm.ObjectId: lambda: crealm.ObjectId(chance.randbytes(12)),
    }[kind]()  # fmt: skip


def test_random_contents_come_back(tmp_path):
    chance = random.Random(SEED)
    kinds = [int, float, crealm.Float32, bool, str, bytes, datetime, Decimal, uuid.UUID, crealm.ObjectId]
    for number in range(12):
        properties = {"id": chance.choice([int, str, uuid.UUID])}
        for place, kind in enumerate(chance.choices(kinds, k=8)):
            kind = Optional[kind] if chance.random() < 0.5 else kind
            properties[f"p{place}"] = chance.choice(
                [kind, kind, kind, list[kind], set[kind], dict[str, kind]]
            )
        properties.update(any=Any, anys=list[Any], to="A", all=list["B"], by=dict[str, "A"])
        key = chance.choice([None, "id"])
        schema = [
            crealm.ClassSchema("A", properties, primary_key=key),
            crealm.ClassSchema("B", {"n": Optional[int], "to": "A"}),
        ]
        with crealm.open(tmp_path / f"{number}.realm", schema=schema, schema_version=number) as db:
            with db.write():
                fill_randomly(chance, db, key)
            assert db.to_xlsx(tmp_path / f"{number}.xlsx") == {}, SEED
            try:
                assert_same(db, tmp_path / f"{number}.xlsx", tmp_path)
            except AssertionError:
                print(f"seed {SEED}, file {number}")
                raise


def fill_randomly(chance, db, key):
    made = []
    table = db["A"]
    for place in range(chance.randrange(12)):
        own = table.schema.properties["id"].type
        given = place if own is int else random_value(chance, own)
        if key is not None and table.get(given) is not None:
            continue
        made.append(table.create(given) if key else table.create(id=given))
    others = [db["B"].create(n=chance.choice([None, 1])) for _ in range(5)]
    for one in others[::2]:
        one.delete()
    others = list(db["B"])
    for obj in made:
        for name, prop in table.schema.properties.items():
            if name == "id" or prop.is_link:
                continue
            if prop.type is Any:
                some = [
                    random_value(
                        chance,
                        chance.choice(
                            [
                                int,
                                float,
                                str,
                                bytes,
                                datetime,
                                Decimal,
                                uuid.UUID,
                                crealm.ObjectId,
                                bool,
                                crealm.Float32,
                            ]
                        ),
                    )
                    for _ in range(3)
                ]
                obj[name] = (
                    [*some, obj, None]
                    if prop.collection
                    else chance.choice([*some, obj, None, some, {"a": some, "b": obj}])
                )
                continue
            values = [
                None if prop.optional and chance.random() < 0.3 else random_value(chance, prop.type)
                for _ in range(4)
            ]
            obj[name] = {
                None: values[0],
                "list": values,
                "set": values,
                "dict": {
                    random_text(chance).replace("\0", "").replace(".", "").lstrip("$"): one for one in values
                },
            }[prop.collection]
        obj.to, obj.all, obj.by = chance.choice(made), others, {"x": chance.choice(made), "none": None}


# ------------------------------------------------------------------------------------------------
# Workbooks of others
# ------------------------------------------------------------------------------------------------


def workbook(path, **sheets):
    """Makes a workbook with openpyxl; sheets: rows by names of sheets."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        page = book.create_sheet(name)
        for row in rows:
            page.append(row)
    return book


SALES = [
    ["id", "price", "paid", "when", "day", "zip", "note", "mixed", "empty", "n"],
    [1, 2.5, True, datetime(2024, 1, 2, 3, 4, 5), date(2024, 1, 2), "00501", "a, b", 1, None, 1],
    [
        2,
        -1e3,
        False,
        datetime(2024, 1, 2, 3, 4, 5, 500_000),
        date(2024, 1, 3),
        "10001",
        None,
        "x",
        None,
        None,
    ],
    [3, 4, True, datetime(2024, 1, 2), date(2024, 1, 4), "00502", "=1+1", 2.5, None, 3],
]


def test_a_workbook_of_another_program(tmp_path):
    book = workbook(tmp_path / "a.xlsx", Sale=SALES, Nothing=[], Names=[["name"]])
    book["Sale"]["G4"].data_type = "s"
    book.save(tmp_path / "a.xlsx")
    code, said, out = quiet(["import", tmp_path / "a.realm", tmp_path / "a.xlsx"])
    assert (code, said) == (0, "crealm: Names: the source has no object of it\n") and out.endswith(
        ": 3 objects of 2 classes\n"
    )
    with crealm.open(tmp_path / "a.realm") as db:
        assert {name: str(prop) for name, prop in db.schema["Sale"].properties.items()} == {
            "id": "int", "price": "float", "paid": "bool", "when": "datetime", "day": "datetime", "zip": "str", "note": "Optional[str]",
            "mixed": "str", "empty": "Optional[str]", "n": "Optional[int]"}  # fmt: skip
        assert db["Sale"][0].to_dict() == {
            "id": 1, "price": 2.5, "paid": True, "when": datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC), "day": datetime(2024, 1, 2, tzinfo=UTC), "zip": "00501",
            "note": "a, b", "mixed": "1", "empty": None, "n": 1}  # fmt: skip
        assert [o.price for o in db["Sale"]] == [2.5, -1000.0, 4.0] and [o.note for o in db["Sale"]] == [
            "a, b",
            None,
            "=1+1",
        ]
        assert db["Sale"][1].when == datetime(2024, 1, 2, 3, 4, 5, 500_000, tzinfo=UTC) and [
            o.mixed for o in db["Sale"]
        ] == ["1", "x", "2.5"]


def test_types_and_a_preview(tmp_path):
    workbook(tmp_path / "a.xlsx", Sale=SALES).save(tmp_path / "a.xlsx")
    start = ["import", tmp_path / "a.realm", tmp_path / "a.xlsx"]
    code, said, out = quiet(
        [*start, "--types", "price=Decimal, Sale.zip=int", "--types", "id=str?", "--preview"]
    )
    assert (code, said) == (0, "") and not (tmp_path / "a.realm").exists()
    lines = out.splitlines()
    assert (
        lines[0] == "Sale: 3 objects"
        and "  price     Decimal" in lines
        and "  zip       int" in lines
        and "  id        Optional[str]" in lines
    )
    assert any("501" in line and "2024-01-02 03:04:05 UTC" in line for line in lines)
    told = json.loads(quiet([*start, "--preview", "--json"])[2])
    assert told["counts"] == {"Sale": 3} and told["classes"][0]["properties"][5] == {
        "name": "zip",
        "type": "str",
        "collection": None,
        "optional": False,
        "indexed": False,
        "fulltext": False,
    }
    assert quiet([*start, "--types", "price=Decimal,zip=int"])[0] == 0
    with crealm.open(tmp_path / "a.realm") as db:
        assert [(o.price, o.zip) for o in db["Sale"]] == [
            (Decimal("2.5"), 501),
            (Decimal("-1000"), 10001),
            (Decimal("4"), 502),
        ]
    code, said, out = quiet([*start, "--preview"])
    assert code == 0 and "  price     Decimal" in out.splitlines()  # The types of the file that is there.
    new = ["import", tmp_path / "b.realm", tmp_path / "a.xlsx"]
    for given, said in {
        "price": "'price' is none", "price=money": "'price=money' is none", "prize=int": "no column 'prize'; did you mean 'price'?",
        "paid=int": "cell C2: Sale.paid: true is no int", "note=datetime": "cell G2: Sale.note",
    }.items():  # fmt: skip
        code, text, _ = quiet([*new, "--types", given])
        assert code == 1 and said in text and not (tmp_path / "b.realm").exists(), text
    assert "the types are known" in quiet([*start, "--types", "price=int"])[1]


def test_types_of_columns_of_several_classes(tmp_path):
    workbook(tmp_path / "a.xlsx", A=[["n"], [1]], B=[["n"], [2]]).save(tmp_path / "a.xlsx")
    start = ["import", tmp_path / "a.realm", tmp_path / "a.xlsx", "--types"]
    assert "'n' is a column of A, B: write CLASS.n=str" in quiet([*start, "n=str"])[1]
    assert quiet([*start, "B.n=str"])[0] == 0
    with crealm.open(tmp_path / "a.realm") as db:
        assert (db["A"][0].n, db["B"][0].n) == (1, "2")


def test_types_and_a_preview_of_csv(tmp_path):
    (tmp_path / "Visit.csv").write_text("city,zip,n\nOslo,00501,1\nBergen,,2\n", encoding="utf-8")
    start = ["import", tmp_path / "a.realm", tmp_path / "Visit.csv"]
    assert quiet([*start, "--preview"])[2] == (
        "Visit: 2 objects\n  property  type\n  city      str\n  zip       Optional[str]\n  n         int\n\n"
        "  city    zip    n\n  Oslo    00501  1\n  Bergen         2\n"
    )
    assert quiet([*start, "--types", "n=float,zip=int"])[0] == 0
    with crealm.open(tmp_path / "a.realm") as db:
        assert [(o.zip, o.n) for o in db["Visit"]] == [(501, 1.0), (None, 2.0)] and type(
            db["Visit"][0].n
        ) is float


def test_numbers_that_are_codes_and_what_excel_computed(tmp_path):
    book = workbook(tmp_path / "a.xlsx", A=[["zip", "n", "clock"], [501, 5, time(7, 30)], [10001, 6.0, None]])
    for row in 2, 3:
        book["A"].cell(row, 1).number_format = "00000"
    book.save(tmp_path / "a.xlsx")
    assert quiet(["import", tmp_path / "a.realm", tmp_path / "a.xlsx"])[0] == 0
    with crealm.open(tmp_path / "a.realm") as db:
        assert [o.to_dict() for o in db["A"]] == [
            {"zip": "00501", "n": 5, "clock": "07:30:00"},
            {"zip": "10001", "n": 6, "clock": None},
        ]


def test_cells_that_are_refused(tmp_path):
    def refused(rows, change=lambda page: None, *more):
        book = workbook(tmp_path / "a.xlsx", A=rows)
        change(book["A"])
        book.save(tmp_path / "a.xlsx")
        code, said, _ = quiet(["import", tmp_path / "a.realm", tmp_path / "a.xlsx", *more])
        assert code == 1 and not (tmp_path / "a.realm").exists(), said
        return said

    assert "a name stands twice" in refused([["a", "a"], [1, 2]])
    assert "cell B3: the column has no name" in refused([["a"], [1], [1, 2]])
    assert "has no names" in refused([[], ["a"], [1]])

    def error(page):
        page["A2"].value, page["A2"].data_type = "#DIV/0!", "e"

    assert "cell A2: #DIV/0! is an error of Excel" in refused([["a"], [1]], error)
    assert (
        "--class names the class of a single one"
        in quiet(["import", tmp_path / "a.realm", two_sheets(tmp_path), "--class", "X"])[1]
    )
    assert "cell A2: A.a: 2.5 is no integer" in refused([["a"], [2.5]], lambda page: None, "--types", "a=int")


def two_sheets(folder):
    workbook(folder / "two.xlsx", A=[["a"], [1]], B=[["b"], [2]]).save(folder / "two.xlsx")
    return folder / "two.xlsx"


def test_one_sheet_with_a_class(tmp_path):
    workbook(tmp_path / "a.xlsx", Sheet1=[["name", "people"], ["Oslo", 5]]).save(tmp_path / "a.xlsx")
    with crealm.open(tmp_path / "a.realm", schema=[Town, Road, Place]) as db:
        assert quiet(["import", tmp_path / "a.realm", tmp_path / "a.xlsx", "--class", "Town"])[0] == 0
        db.refresh()
        assert [(town.name, town.people) for town in db[Town]] == [("Oslo", 5)]


def test_links_of_another_program_are_primary_keys(db, tmp_path):
    with db.write():
        db.add(Town(name="Oslo"))
    rows = [["length", "towns", "town", "next"], [1.5, '["Oslo"]', "Oslo", None], [2, None, None, 0]]
    workbook(tmp_path / "a.xlsx", Road=rows).save(tmp_path / "a.xlsx")
    assert quiet(["import", db.path, tmp_path / "a.xlsx"])[0] == 0
    db.refresh()
    first, second = db[Road]
    assert (first.town.name, [town.name for town in first.towns], second.next == first, second.town) == (
        "Oslo",
        ["Oslo"],
        True,
        None,
    )
    workbook(tmp_path / "b.xlsx", Road=[rows[0], [1, None, "Nowhere", None]]).save(tmp_path / "b.xlsx")
    assert "no Town with primary key 'Nowhere'" in quiet(["import", db.path, tmp_path / "b.xlsx"])[1]


def test_frozen_results_and_no_place_for_the_file(db, tmp_path, monkeypatch):
    with db.write():
        db.add(Town(name="Oslo"))
    frozen = db[Town].freeze()
    with db.write():
        db.add(Town(name="Rome"))
    frozen.to_xlsx(tmp_path / "a.xlsx")
    assert [row[0] for row in cells(tmp_path / "a.xlsx")] == ["name", "Oslo"]
    import xlsxwriter

    def fail(book):
        raise xlsxwriter.exceptions.FileCreateError("no space is left")

    monkeypatch.setattr(xlsxwriter.Workbook, "close", fail)
    with pytest.raises(crealm.FileError, match="cannot be written: no space is left"):
        db.to_xlsx(tmp_path / "b.xlsx")
    assert not (tmp_path / "b.xlsx").exists()


def test_rows_that_somebody_added_or_sorted(db, tmp_path):
    with db.write():
        db.add(Town(name="x" * 50_000, people=1))
        db.add(Town(name="Oslo", people=2))
    db.to_xlsx(tmp_path / "a.xlsx")
    book = openpyxl.load_workbook(tmp_path / "a.xlsx")
    page = book["Town"]
    rows = [[cell.value for cell in row] for row in page.iter_rows(min_row=2)]
    page.delete_rows(2, 2)
    for row in [["Bodø", 3, 0, False], *reversed(rows)]:
        page.append(row)
    book["Road"].append([None, 1.5])
    book.save(tmp_path / "b.xlsx")
    code, said, _ = quiet(["import", tmp_path / "b.realm", tmp_path / "b.xlsx"])
    assert code == 0, said
    with crealm.open(tmp_path / "b.realm") as made:
        assert [(len(town.name), town.people) for town in made["Town"]] == [(4, 3), (4, 2), (50_000, 1)]
        assert [road.length for road in made["Road"]] == [1.5]
        assert str(made.schema["Town"].properties["founded"]) == "Optional[datetime]"


def test_an_empty_cell_of_a_value_that_must_be_there(db, tmp_path):
    workbook(
        tmp_path / "a.xlsx", Town=[["name", "people", "area", "is_capital"], ["Oslo", None, 5, None]]
    ).save(tmp_path / "a.xlsx")
    code, said, _ = quiet(["import", db.path, tmp_path / "a.xlsx"])
    assert (
        code == 1 and "cell D2: Town.is_capital: the cell is empty, and the value cannot be missing" in said
    )


def test_damaged_workbooks_are_refused(db, tmp_path):
    with db.write():
        db.add(Town(name="Oslo", people=2**60, tags=["x"]))
    db.to_xlsx(tmp_path / "a.xlsx")
    whole = (tmp_path / "a.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.xlsx") as parts:
        content = {name: parts.read(name) for name in parts.namelist()}
    chance = random.Random(SEED)
    tried = [b"", b"PK", whole[:-30], whole[: len(whole) // 2], b"name,people\nOslo,1\n"]
    for _ in range(60):
        changed = bytearray(whole)
        for _ in range(5):
            changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
        tried.append(bytes(changed))
    for number, data in enumerate(tried):
        (tmp_path / "d.xlsx").write_bytes(data)
        code, said, _ = quiet(["import", tmp_path / f"{number}.realm", tmp_path / "d.xlsx"])
        assert code in (0, 1) and (code == 0) == (tmp_path / f"{number}.realm").exists(), (SEED, said)
        assert code == 0 or said.startswith("crealm: "), said
    for number in range(80):
        name = chance.choice(
            [name for name in content if "sheet" in name or "workbook" in name or "styles" in name]
        )
        text = content[name]
        place, count = chance.randrange(len(text)), chance.choice([0, 1, 7])
        changed = {
            **content,
            name: text[:place]
            + chance.choice([b"", b"<", b"9999999", b'"', text[:50]])
            + text[place + count :],
        }
        with zipfile.ZipFile(tmp_path / "d.xlsx", "w") as parts:
            for part, data in changed.items():
                parts.writestr(part, data)
        code, said, _ = quiet(["import", tmp_path / f"z{number}.realm", tmp_path / "d.xlsx"])
        assert code in (0, 1) and (code == 0 or said.startswith("crealm: ")), (SEED, said)


@pytest.mark.parametrize(
    "schema",
    ["[]", "{}", '{"classes": 5}', '{"classes": [], "sheets": 5}', "x", '{"version": 1, "classes": []}'],
)
def test_a_damaged_schema_in_a_workbook(tmp_path, schema):
    workbook(tmp_path / "a.xlsx", **{"A": [["a"], [1]], "$schema": [[schema]]}).save(tmp_path / "a.xlsx")
    code, said, _ = quiet(["import", tmp_path / "a.realm", tmp_path / "a.xlsx"])
    assert code == 1 and said.startswith("crealm: ") and not (tmp_path / "a.realm").exists()


def test_a_row_far_away_does_not_hang(db, tmp_path):
    db.to_xlsx(tmp_path / "a.xlsx")
    with zipfile.ZipFile(tmp_path / "a.xlsx") as parts:
        content = {name: parts.read(name) for name in parts.namelist()}
    name = next(name for name in content if name.endswith("sheet1.xml"))
    content[name] = content[name].replace(b'<row r="1"', b'<row r="999999999"')
    with zipfile.ZipFile(tmp_path / "d.xlsx", "w") as parts:
        for part, data in content.items():
            parts.writestr(part, data)
    code, said, _ = quiet(["import", tmp_path / "a.realm", tmp_path / "d.xlsx"])
    assert code == 1 and "more than 1,048,576 rows" in said


@pytest.mark.parametrize(
    "package, says",
    [("xlsxwriter", "Writing .xlsx needs XlsxWriter"), ("openpyxl", "Reading .xlsx needs openpyxl")],
)
def test_without_the_packages(db, tmp_path, monkeypatch, package, says):
    db.to_xlsx(tmp_path / "a.xlsx")
    monkeypatch.setitem(sys.modules, package, None)
    if package == "xlsxwriter":
        with pytest.raises(crealm.NotSupportedError, match=f"{says}. pip install 'crealm\\[xlsx\\]'"):
            db.to_xlsx(tmp_path / "b.xlsx")
        code, said, _ = quiet(["export", db.path, tmp_path / "b.xlsx"])
        assert not (tmp_path / "b.xlsx").exists()
    else:
        code, said, _ = quiet(["import", tmp_path / "b.realm", tmp_path / "a.xlsx"])
    assert code == 1 and said == f"crealm: {says}. pip install 'crealm[xlsx]'\n"


def test_an_old_package_is_refused(db, tmp_path, monkeypatch):
    import xlsxwriter

    for version in "1.4.5", "3.1.0", "3.2.0":
        monkeypatch.setattr(xlsxwriter, "__version__", version)
        with pytest.raises(crealm.NotSupportedError, match=f"XlsxWriter {version} is too old"):
            db.to_xlsx(tmp_path / "a.xlsx")
    for number, version in enumerate(["3.2.1", "3.10", "4.0.0rc1"]):
        monkeypatch.setattr(xlsxwriter, "__version__", version)
        assert db.to_xlsx(tmp_path / f"{number}.xlsx") == {}
