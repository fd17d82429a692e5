"""Short ways: conditions as dictionaries, get_or_create(), offset(), copies between databases, new names of classes,
hints for names of other libraries, tables in Jupyter, cells that run again, and models as types of pydantic and
FastAPI."""

import datetime as dt
import enum
import re
import uuid
from decimal import Decimal
from typing import Annotated, Any, Dict, List, Optional, Set

import pytest

import crealm

UTC = dt.timezone.utc


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Part(crealm.Embedded):
    label: str = ""
    to: Optional["Item"] = None
    colour: Optional[Colour] = None


class Item(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str = crealm.field(default="", name="stored name")
    age: Optional[int] = None
    colour: Colour = Colour.RED
    day: Optional[dt.date] = None
    next: Optional["Item"] = None
    part: Optional[Part] = None
    parts: List[Part]
    tags: Set[str]
    links: Dict[str, "Item"]
    any: Any = None
    note: Optional["Note"] = None


class Note(crealm.Model):
    text: str = ""
    about: Optional[Item] = None


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Item, Part, Note]) as db:
        with db.write():
            first = db.add(
                Item(id=1, name="Ann", age=3, tags={"x"}, any=[1, {"k": Decimal("1.50")}], day=dt.date(2020, 1, 2))
            )
            second = db.add(
                Item(
                    id=2, name="Bo", colour=Colour.BLUE, next=first, part=Part(label="p", to=first, colour=Colour.BLUE)
                )
            )
            first.next, first.links, first.parts = second, {"a": second}, [Part(label="q")]
            first.note = db.add(Note(text="n", about=second))
            second.any = first
        yield db


def test_conditions_as_dictionaries(db):
    first, second = db[Item]
    for condition, found in (
        ({"name": "Ann"}, [first]),
        ({"age": None}, [second]),
        ({"next.name": "Ann", "age": None}, [second]),
        ({"id": [1, 2, 3]}, [first, second]),
        ({"id": {2}}, [second]),
        ({"colour": Colour.BLUE}, [second]),
        ({"next": first}, [second]),
        ({}, [first, second]),
        ({"id": ()}, []),
    ):
        assert list(db[Item].where(condition)) == found, condition
    assert list(db[Item].where({"age": 3}).where({"name": "Ann"})) == [first] and list(
        db["Item"].where({"stored name": "Bo"})
    ) == [second]
    for wrong in ({"nobody": 1}, {"name": 5}, {"name.x": 1}):
        with pytest.raises(crealm.Error):
            db[Item].where(wrong)
    with pytest.raises(TypeError):
        db[Item].where({"id": 1}, 5)


def test_get_or_create(db):
    with db.write():
        assert db[Item].get_or_create(1, name="other") == (db[Item].get(1), False) and db[Item].get(1).name == "Ann"
        made, is_new = db[Item].get_or_create(7, name="Gro")
        assert is_new and (made.id, made.name, made.colour) == (7, "Gro", Colour.RED)
        assert db[Note].get_or_create(text="n")[1] is False and db[Note].get_or_create(text="m")[1] is True
        for wrong, error in (
            (lambda: db[Item].get_or_create(), TypeError),
            (lambda: db[Note].get_or_create(1), crealm.DataError),
        ):
            with pytest.raises(error):
                wrong()
    with pytest.raises(crealm.NotInWriteError):
        db[Item].get_or_create(1)


def test_hints_for_names_of_other_libraries(db):
    for name, said in (
        ("filter", "where()"),
        ("order_by", "sort()"),
        ("all", "list("),
        ("skip", "offset()"),
        ("to_df", "to_pandas()"),
    ):
        for rows in (db[Item], db[Item].where("id > 0"), db[Item][0].parts):
            with pytest.raises(AttributeError, match=re.escape(said)):
                getattr(rows, name)
    assert not hasattr(db[Item], "nobody") and getattr(db[Item], "filter", None) is None


def test_a_class_gets_another_name(path):
    declared = [
        crealm.ClassSchema(
            "Old",
            {"id": int, "name": crealm.Prop(str, indexed=True), "next": "Old", "any": Any},
            primary_key="id",
            rules={"properties": {"name": {"max_length": 5}}, "checks": ["name != 'bad'"]},
        ),
        crealm.ClassSchema(
            "Other", {"to": "Old", "many": List["Old"], "part": "Inner"}, rules={"checks": ["to.id != 7"]}
        ),
        crealm.ClassSchema("Inner", {"to": "Old"}, embedded=True),
    ]
    with crealm.open(path, schema=declared) as db, db.write():
        first = db["Old"].create(1, name="Ann")
        first.next = first.any = first
        db["Other"].create(to=first, many=[first, first], part={"to": first})
    with crealm.open(path, mode="rw") as db:
        first, other, found = db["Old"][0], db["Other"][0], db["Old"].where("id == 1")
        key = first.object_key
        db.rename_class("Old", "New")
        assert db.classes == ["Inner", "New", "Other"] and first.class_name == "New" and first.object_key == key
        assert other.to == first == other.many[1] == other.part.to == first.next == first.any == db["New"].get(1)
        assert list(found) == [first] and len(db["Other"].where("to.name == 'Ann'")) == 1
        assert db.schema["New"].properties["name"].indexed and db.schema["Other"].properties["to"].type == "New"
        with db.write():
            other.to = db["New"].create(2, name="Bo")
        for wrong in ("bad", "too long"):
            with pytest.raises(crealm.RuleBroken), db.write():
                first.name = wrong
        with pytest.raises(crealm.RuleBroken), db.write():
            other.to = db["New"].create(7)
        assert db.verify() == []
        for error, old, new in (
            (crealm.NoSuchClass, "Old", "X"),
            (crealm.SchemaError, "New", "Other"),
            (crealm.SchemaError, "New", "x" * 300),
            (crealm.Error, "New", "a\0b"),
            (crealm.Error, "New", "\ud800"),
        ):
            with pytest.raises(error):
                db.rename_class(old, new)
            assert db.classes == ["Inner", "New", "Other"]
        with db.write(), pytest.raises(crealm.UsageError, match="write is running"):
            db.rename_class("New", "X")
        db.rename_class("Inner", "Core")
        assert other.part.to == first and db.schema["Core"].embedded
    with crealm.open(path, mode="rw") as db:
        assert db.classes == ["Core", "New", "Other"] and db["New"].get(1).next.name == "Ann" and db.verify() == []
    with crealm.open(path, mode="r") as db, pytest.raises(crealm.UsageError):
        db.rename_class("New", "Old")


@pytest.fixture
def with_lost_class(path):
    """A file with an embedded class that belongs to no class: a migration may leave one behind."""
    part = crealm.ClassSchema("Part", {"x": int}, embedded=True)
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"e": "Part"}), part], schema_version=1) as db, db.write():
        db["A"].create(e={"x": 1})
    without = crealm.ClassSchema("A", {"n": int})
    crealm.open(
        path, schema=[without], schema_version=2, migrate=lambda old, new, version: new.remove_property("A", "e")
    ).close()
    with crealm.open(path, mode="rw") as db:
        assert "Part" in db.classes
        yield db


def test_a_class_gets_another_name_beside_a_lost_class(with_lost_class):
    with_lost_class.rename_class("A", "B")
    with pytest.raises(crealm.Error):
        with_lost_class.rename_class("Part", "Piece")
    assert len(with_lost_class["B"]) == 1 and with_lost_class.verify() == []


def test_a_class_for_a_frame_beside_a_lost_class(with_lost_class):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    assert len(with_lost_class.create_from(pandas.DataFrame({"x": [1]}), "New")) == 1
    assert with_lost_class.verify() == []


def test_a_class_with_a_model_or_in_memory_gets_another_name(path):
    with crealm.open(path, schema=[Note, Item, Part]) as db:
        with pytest.raises(crealm.UsageError, match="renamed_from = 'Note'"):
            db.rename_class("Note", "Remark")
        assert "Note" in db.classes
    with crealm.memory(schema=[crealm.ClassSchema("A", {"x": int, "a": "A"})]) as db:
        with db.write():
            row = db["A"].create(x=5)
            row.a = row
        db.rename_class("A", "B")
        assert db["B"][0].a.x == 5 and db.classes == ["B"]


def test_offset(path):
    declared = crealm.ClassSchema("N", {"n": int, "x": Optional[int], "many": List[int]})
    with crealm.open(path, schema=[declared]) as db:
        with db.write():
            db.add_many("N", [{"n": number, "many": [number, 5]} for number in range(1000)])
        rows = db["N"].where("n >= 100").sort("n", descending=True)
        expected = list(range(999, 99, -1))
        for first, most in ((0, None), (0, 3), (20, 10), (895, 10), (256, 600), (900, 5), (2000, None), (2**70, 2**70)):
            page = rows.offset(first) if most is None else rows.offset(first).limit(most)
            wanted = expected[first:] if most is None else expected[first : first + most]
            assert [row.n for row in page] == [row.n for row in page[:]] == wanted and len(page) == len(wanted)
            assert page.exists() == bool(wanted) == bool(page)
            assert (page.first() and page.first().n) == (wanted[0] if wanted else None)
            assert (page.last() and page.last().n) == (wanted[-1] if wanted else None)
            assert [row["n"] for row in page.to_dicts()] == wanted
        page = rows.offset(20).limit(10)
        assert [row.n for row in page.offset(2).limit(3)] == [977, 976, 975] and page[-1].n == 970
        assert len(page.limit(50)) == 10 and len(page.offset(50)) == 0 and len(rows.limit(25).offset(20)) == 5
        assert list(db["N"][3].many.offset(1)) == [5] and [row.n for row in db["N"].offset(998)] == [998, 999]
        assert "N(n=979" in repr(page) and "2 more" in repr(page) and ">N: 10<" in page._repr_html_()
        with pytest.raises(IndexError):
            page[10]
        for wrong in (lambda: rows.offset(-1), lambda: page.limit(-1), lambda: page.offset(-1)):
            with pytest.raises(crealm.DataError, match="negative"):
                wrong()
        with pytest.raises(TypeError):
            rows.offset("1")
        with pytest.raises(crealm.DataError):
            db["N"][3].many.offset(0).to_dicts()
        snapshot = rows.snapshot()
        with db.write():
            db["N"].where("n IN {979, 978}").delete_all()
        assert page[0].n == 977 and [row and row.n for row in snapshot.offset(20).limit(3)] == [None, None, 977]
    with pytest.raises(crealm.ClosedError):
        len(page)
    assert "ClosedError" in repr(page)


def test_frames_of_a_window(path):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    with crealm.open(path, schema=[crealm.ClassSchema("N", {"n": int, "x": Optional[int]})]) as db:
        with db.write():
            db.add_many("N", [{"n": number, "x": number or None} for number in range(20)])
        for page, wanted in (
            (db["N"].offset(5).limit(3), [5, 6, 7]),
            (db["N"].offset(18), [18, 19]),
            (db["N"].offset(2**70), []),
        ):
            assert page.to_arrow("n")["n"].to_pylist() == wanted
            for name in ("pandas", "polars"):
                pytest.importorskip(name, reason=f"{name} is not installed")
                assert getattr(page, f"to_{name}")("n", "x")["x"].to_list() == wanted
            assert list(page.to_pandas("n").index) == list(range(len(wanted)))


def plain(db):
    return [
        (
            item.id,
            item.name,
            item.age,
            item.colour,
            item.day,
            item.next and item.next.id,
            item.part and (item.part.label, item.part.colour, item.part.to.id),
            [part.label for part in item.parts],
            set(item.tags),
            {key: one.id for key, one in item.links.items()},
            item.note and item.note.text,
        )
        for item in db[Item].sort("id")
    ]


def test_objects_are_copied_with_those_they_link_to(db):
    with crealm.memory(schema=[Item, Part, Note]) as other:
        told = []
        with other.write():
            assert other.copy_from(db[Item].get(2), progress=lambda *now: told.append(now)) == 1
        assert plain(other) == plain(db) and told == [("adding", 1, 1)] and len(other[Note]) == 1
        first, second = other[Item].sort("id")
        assert (
            second.any == first and first.note.about == second and first.to_dict()["any"] == [1, {"k": Decimal("1.50")}]
        )
        with other.write():
            first.name = "changed"
            assert other.copy_from(db[Item]) == 2
        assert plain(other) == plain(db) and len(other[Note]) == 2  # A note has no primary key: each copy is new.
        with pytest.raises(crealm.DuplicateKeyError), other.write():
            other.copy_from(db[Item], update="error")
        for wrong, error in (
            (other[Item][0], crealm.UsageError),
            (db[Item].get(2).part, crealm.UsageError),
            ([5], TypeError),
            (Item(id=9), TypeError),
        ):
            with pytest.raises(error), other.write():
                other.copy_from(wrong)
        with pytest.raises(crealm.NotInWriteError):
            other.copy_from(db[Item])
        assert other.verify() == []
    with crealm.memory(schema=[crealm.ClassSchema("Item", {"id": int}, primary_key="id")]) as small:
        with pytest.raises(crealm.SchemaError), small.write():
            small.copy_from(db[Item])
        assert len(small["Item"]) == 0


# ------------------------------------------------------------------------------------------------
# Jupyter
# ------------------------------------------------------------------------------------------------


def cells(page):
    return re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", page)


def test_values_as_people_read_them(path):
    kinds = {
        "t": Optional[dt.datetime],
        "d": Optional[Decimal],
        "u": Optional[uuid.UUID],
        "o": Optional[crealm.ObjectId],
        "b": bytes,
        "l": List[int],
        "m": Dict[str, Any],
    }
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"id": int, **kinds, "to": "A"}, primary_key="id")]) as db:
        key = crealm.ObjectId("507f1f77bcf86cd799439011")
        with db.write():
            first = db["A"].create(
                1,
                t=crealm.Timestamp.from_ns(1577836800000000005),
                d=Decimal("1.50"),
                u=uuid.UUID(int=5),
                o=key,
                b=b"abc",
                l=range(9),
                m={"a": [1]},
            )
            db["A"].create(2, to=first, t=dt.datetime(2020, 1, 1, 10, 30, tzinfo=UTC))
        found = cells(db["A"]._repr_html_())
        assert found[:9] == ["id", *kinds, "to"]
        assert found[9:18] == [
            "1",
            "2020-01-01 00:00:00.000000005 UTC",
            "1.50",
            str(uuid.UUID(int=5)),
            str(key),
            "3 bytes: 616263",
            "0, 1, 2, 3, 4, … 9 in all",
            "a: 1",
            "",
        ]
        assert found[18:] == ["2", "2020-01-01 10:30:00 UTC", "", "", "", "0 bytes", "empty", "empty", "A 1"]
        chosen = db["A"].select("id", "t", "to")
        assert cells(chosen._repr_html_())[:6] == [
            "id",
            "t",
            "to",
            "1",
            "2020-01-01 00:00:00.000000005 UTC",
            "",
        ] and "3 columns" in repr(chosen)
        assert (
            cells(db.schema._repr_html_())[:7] == ["class", "property", "type", "", "A", "id", "int"]
            and "<td>list[int]</td>" in db.schema["A"]._repr_html_()
        )
        assert db.schema == dict(db.schema) and "A" in db.schema and list(db.schema) == ["A"]
        assert "<th>share</th>" in db.space()._repr_html_() and sum(part.bytes for part in db.space()) > 0
        assert "no faults" in db.verify()._repr_html_()
    page = crealm.check(path)._repr_html_()
    assert "sound" in page and "<td>newest</td>" in page


def test_a_table_has_48_columns(path):
    with crealm.open(path, schema=[crealm.ClassSchema("Wide", {f"p{number:02}": int for number in range(60)})]) as db:
        with db.write():
            db["Wide"].create()
        assert len(cells(db["Wide"]._repr_html_())) == 2 * 49 and "<th>p47</th><th>… 12 more</th>" in db["Wide"]._repr_html_()


CELL = """
class Dog(crealm.Model):
    name: str = ""

class Owner(crealm.Model):
    id: int = crealm.field(primary_key=True)
    dogs: List[Dog]
"""


def test_a_cell_that_defines_models_runs_again(path):
    names = {"crealm": crealm, "List": List, "__name__": "__main__"}
    exec(CELL, names)
    before = names["Owner"]
    with crealm.open(path, schema=[before]) as db:
        with db.write():
            db.add(before(id=1, dogs=[names["Dog"](name="a")]))
        exec(CELL, names)
        owner, dog = names["Owner"], names["Dog"]
        assert owner is not before and type(db[owner][0]) is owner and type(db[owner][0].dogs[0]) is dog and owner in db
        with db.write():
            db.add(owner(id=2, dogs=[dog(name="b")]))
        assert [one.id for one in db[owner].where(owner.dogs.any(dog.name == "b"))] == [2]
        exec(CELL.replace('name: str = ""', "name: int = 0"), names)
        with pytest.raises(crealm.NoSuchClass):
            db[names["Owner"]]  # It has other properties: the file must be opened with it.
        exec(
            "class Owner(crealm.Model):\n    id: int = crealm.field(primary_key=True)",
            {**names, "__name__": "elsewhere"},
            names,
        )
        with pytest.raises(crealm.NoSuchClass):
            db[names["Owner"]]


def test_a_cell_that_defines_models_and_opens_the_file_runs_again(path):
    names = {"crealm": crealm, "List": List, "__name__": "__main__", "path": path}
    cell = CELL + """
db = crealm.open(path, schema=[Owner])
with db.write():
    owner = db.add(Owner(id=1, dogs=[Dog(name="a")]), update="modified")
"""
    opened = []
    for text in (cell, cell, cell.replace('name: str = ""', 'name: str = ""\n    age: int = 0')):
        exec(text, names)
        opened.append(names["db"])
        assert type(names["db"][names["Owner"]][0]) is names["Owner"] and names["owner"].dogs[0].name == "a"
    assert names["owner"].dogs[0].age == 0
    with pytest.raises(crealm.MigrationRequired):
        exec(cell.replace('name: str = ""', "name: int = 0"), names)
    owner = names["owner"]
    exec(CELL.replace('name: str = ""', 'name: str = ""\n    age: int = 0'), names)
    with names["db"].write():
        names["db"].add(names["Owner"](id=2))
        owner.dogs.append(names["Dog"](name="b"))  # The object is an instance of the class before.
    assert [dog.name for dog in names["db"][names["Owner"]].get(1).dogs] == ["a", "b"]
    for db in opened:
        db.close()


# ------------------------------------------------------------------------------------------------
# pydantic and FastAPI
# ------------------------------------------------------------------------------------------------


class Book(crealm.Model):
    isbn: str = crealm.field(primary_key=True)
    number: crealm.ObjectId = crealm.field(default_factory=lambda: crealm.ObjectId(bytes(12)))
    pages: Optional[int] = None
    price: Decimal = Decimal("1.50")
    colour: Colour = Colour.RED
    tags: Set[str]
    sequel: Optional["Book"] = None


def test_models_are_types_of_pydantic(path):
    pydantic = pytest.importorskip("pydantic", reason="pydantic is not installed")
    adapter = pydantic.TypeAdapter(Book)
    with crealm.open(path, schema=[Book]) as db:
        with db.write():
            book = db.add(
                adapter.validate_python(
                    {"isbn": "1", "tags": ["a"], "number": "507f1f77bcf86cd799439011", "sequel": {"isbn": "2"}}
                )
            )
        assert (book.number.hex, book.sequel.isbn, set(book.tags), book.price) == (
            "507f1f77bcf86cd799439011",
            "2",
            {"a"},
            Decimal("1.50"),
        )
        assert adapter.validate_python(book) is book and adapter.dump_python(book)["pages"] is None
        assert b'"number":"507f1f77bcf86cd799439011"' in adapter.dump_json(book)

        class Out(pydantic.BaseModel):
            model_config = pydantic.ConfigDict(from_attributes=True)
            isbn: str
            tags: Set[str]
            sequel: Optional["Out"]

        assert pydantic.TypeAdapter(List[Out]).validate_python(db[Book].sort("isbn"))[0].model_dump() == {
            "isbn": "1",
            "tags": {"a"},
            "sequel": {"isbn": "2", "tags": set(), "sequel": None},
        }
    schema = adapter.json_schema()
    assert (
        schema["title"] == "Book"
        and schema["required"] == ["isbn"]
        and schema["properties"]["number"]["type"] == "string"
    )
    assert adapter.validate_json('{"isbn": "5", "pages": 3, "colour": "blue"}').colour is Colour.BLUE
    for wrong in (
        {"pages": 1},
        {"isbn": "1", "pages": "many"},
        {"isbn": "1", "nobody": 1},
        {"isbn": "1", "number": "xyz"},
        {"isbn": "1", "sequel": {"x": 1}},
    ):
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_python(wrong)


def test_models_in_fastapi():
    fastapi = pytest.importorskip("fastapi", reason="fastapi is not installed")
    testing = pytest.importorskip("fastapi.testclient", reason="httpx is not installed")
    app = fastapi.FastAPI()
    kept = []

    def post(book):
        kept.append(book)
        return book

    # FastAPI takes types that are no BaseModel for parameters of the query, unless they are marked.
    post.__annotations__ = {"book": Annotated[Book, fastapi.Body()], "return": Book}
    app.post("/books")(post)
    client = testing.TestClient(app)
    found = client.post("/books", json={"isbn": "1", "pages": 5})
    assert found.status_code == 200 and found.json()["pages"] == 5 and type(kept[0]) is Book
    assert client.post("/books", json={"pages": 5}).status_code == 422
    assert "Book" in client.get("/openapi.json").text
