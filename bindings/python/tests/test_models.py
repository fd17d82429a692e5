"""Classes declared as Python classes: the meaning of annotations, plain instances, adding them, and objects that
come from the database."""

import copy
import pickle
import sys
import types
from datetime import datetime, timezone
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Dict, List, Optional, Set
from uuid import UUID

import pytest

import crealm
from crealm import Backlinks, Embedded, Model, backlinks, field


class Address(Embedded):
    city: str = ""
    lines: List[str]


class Dog(Model):
    name: str
    age: int = 1
    owners: Backlinks["Person"] = backlinks("Person", "dogs")


class Person(Model):
    id: int = field(primary_key=True)
    name: str = field(index=True)
    motto: str = field(fulltext=True, default="none")
    born: Optional[datetime]
    dogs: List[Dog]
    friends: Set["Person"]
    notes: Dict[str, Any]
    address: Optional[Address]
    former: List[Address]
    rooms: Dict[str, Address]
    boss: Optional["Person"]
    any: Any
    key: crealm.ObjectId = field(default_factory=crealm.ObjectId)
    renamed: int = field(name="stored name", default=7)
    kinds: ClassVar[int] = 5
    sorts: "ClassVar[int]" = 6

    @property
    def shout(self) -> str:
        return self.name.upper()

    @shout.setter
    def shout(self, value: str) -> None:
        self.name = value.lower()

    def age_of_dogs(self) -> int:
        return sum(dog.age for dog in self.dogs)


class Every(Model):
    i: int
    b: bool
    d: float
    f: crealm.Float32
    s: str
    y: bytes
    t: datetime
    c: Decimal
    u: UUID
    o: crealm.ObjectId
    a: Any
    ni: Optional[int]
    nb: Optional[bool]
    nd: Optional[float]
    nf: Optional[crealm.Float32]
    ns: Optional[str]
    ny: Optional[bytes]
    nt: Optional[datetime]
    nc: Optional[Decimal]
    nu: Optional[UUID]
    no: Optional[crealm.ObjectId]
    ln: List[Optional[int]]
    sd: Set[Decimal]
    du: Dict[str, Optional[UUID]]
    an: Annotated[Optional[str], "for others"]


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Person, Every]) as db:
        yield db


# ------------------------------------------------------------------------------------------------
# Declarations
# ------------------------------------------------------------------------------------------------


def test_schema_of_models(db):
    assert db.classes == ["Address", "Dog", "Every", "Person"]  # Also the classes that it refers to.
    props = {name: str(prop) for name, prop in db.schema["Person"].properties.items()}
    assert props == {
        "id": "int",
        "name": "str",
        "motto": "str",
        "born": "Optional[datetime]",
        "dogs": "list[Dog]",
        "friends": "set[Person]",
        "notes": "dict[str, Any]",
        "address": "Address",
        "former": "list[Address]",
        "rooms": "dict[str, Address]",
        "boss": "Person",
        "any": "Any",
        "key": "ObjectId",
        "stored name": "int",
    }
    schema = db.schema["Person"]
    assert schema.primary_key == "id" and schema.properties["name"].indexed
    assert schema.properties["motto"].fulltext and db.schema["Address"].embedded
    every = [str(prop) for prop in db.schema["Every"].properties.values()]
    kinds = "int bool float Float32 str bytes datetime Decimal UUID ObjectId".split()
    assert every[:11] == [*kinds, "Any"] and every[11:21] == [f"Optional[{kind}]" for kind in kinds]
    assert every[21:] == ["list[Optional[int]]", "set[Decimal]", "dict[str, Optional[UUID]]", "Optional[str]"]
    assert repr(Person.name) == "Person.name" and Person._fields["renamed"].column == "stored name"
    assert Person.kinds + 1 == Person.sorts == 6
    assert Person in db and Dog in db and Other not in db and "Person" in db


class Other(Model):
    n: int

    class Meta:
        name = "Somebody Else"


def test_names_in_the_file(path):
    class Tag(Model):
        class_: str = field(name="class", primary_key=True)
        delete_it: int = field(name="delete")
        others: List["Tag"] = field(name="next")
        of: Backlinks["Tag"] = backlinks("Tag", "others")

        class Meta:
            name = "Label"

    with crealm.open(path, schema=[Tag, Other]) as db:
        assert db.classes == ["Label", "Somebody Else"]
        with db.write():
            tag = db.add(Tag(class_="a", delete_it=1, others=[Tag(class_="b")]))
            tag["delete"] += 1
            tag["delete_it"] += 1
            db["Label"].create(**{"class": "c", "delete": 5})
            db["Label"].create("d", delete_it=6)
            db.add_many(Tag, [{"class_": "e"}, {"class": "f", "delete_it": 7}])
        assert tag.delete_it == 3 and tag["class"] == tag.class_ == "a" and tag.class_name == "Label"
        assert tag.to_dict() == {
            "class_": "a",
            "delete_it": 3,
            "others": [{"$ref": 0, "$class": "Label"}],
        } or tag.others[0].to_dict() == {"class_": "b", "delete_it": 0, "others": []}
        assert list(tag.others[0].of) == [tag] and list(tag.others[0].backlinks("Label", "next")) == [tag]
        assert list(tag.others[0].backlinks(Tag, "others")) == [tag] and "class_='a'" in repr(tag)
        assert [t.delete_it for t in db[Tag]] == [3, 0, 5, 6, 0, 7] and db[Tag].get("a") == tag
        with pytest.raises(crealm.ConstraintError, match="Label.class_"), db.write():
            tag.class_ = "z"
        with pytest.raises(crealm.TypeMismatch, match="Label.delete_it"), db.write():
            tag.delete_it = "x"
    with crealm.open(path) as db:
        assert list(db.schema["Label"].properties) == ["class", "delete", "next"]
        assert db["Label"].get("a")["delete"] == 3


def test_inheritance(path):
    class Animal(Model):
        name: str = "?"
        legs: int = 4

        def walk(self):
            return f"{self.name} on {self.legs}"

    class Bird(Animal):
        legs: int = 2
        nest: Optional[Animal]

    with crealm.open(path, schema=[Bird]) as db, db.write():
        bird = db.add(Bird(name="Tweety", nest=Animal()))
        assert (
            db.classes == ["Animal", "Bird"] and bird.walk() == "Tweety on 2" and bird.nest.walk() == "? on 4"
        )
        assert isinstance(db[Bird][0], Animal) and type(bird.nest) is Animal
        with pytest.raises(crealm.TypeMismatch):
            bird.nest = bird


Key = Annotated[int, field(primary_key=True)]


def test_annotated_fields(path):
    class First(Model):
        id: Key
        name: Annotated[str, "any", field(index=True, name="title", default="x")]

    class Second(Model):
        id: Key = 5
        name: Annotated[str, field(default="x")] = "y"

    with crealm.open(path, schema=[First, Second]) as db, db.write():
        assert db.schema["First"].primary_key == db.schema["Second"].primary_key == "id"
        assert db.schema["First"].properties["title"].indexed
        assert db.add(Second()).id == 5 and Second().name == "y" and First(id=1).name == "x"

    class Late(Model):
        id: "Key"
        name: "Annotated[str, field(index=True)]"

    with pytest.raises(crealm.SchemaError, match="Late.id.*too late"):
        crealm.open(path, schema=[Late])


MODULE = types.ModuleType("declared_elsewhere")
SOURCE = """
from __future__ import annotations
import crealm
from typing import Any, Optional
from decimal import Decimal

class Node(crealm.Model):
    up: Optional[Node]
    leaves: list[Leaf]
    price: Decimal = Decimal("1.5")
    parts: dict[str, "Part"]
    cost: "list[Decimal]"
    of: crealm.Backlinks[Leaf] = crealm.backlinks("Leaf", "node")

class Leaf(crealm.Model):
    node: Optional[Node]

class Part(crealm.Embedded):
    any: Any

def in_a_function():
    class Inner(crealm.Model):
        n: int
        me: Optional[Inner]
        others: set[Inner]
        node: Optional[Node]
    return Inner
"""
sys.modules["declared_elsewhere"] = MODULE
exec(SOURCE, vars(MODULE))


def test_deferred_annotations_and_modules(path):
    node = MODULE.Node(up=None)
    assert node.leaves == [] and node.parts == {} and node.up is None and node.cost == []
    inner = MODULE.in_a_function()
    assert inner().others == set() and inner().n == 0
    with crealm.open(path, schema=MODULE) as db, db.write():
        assert db.classes == ["Leaf", "Node", "Part"]
        node.leaves.append(MODULE.Leaf(node=node))
        db.add(node)
        assert list(node.of) == list(node.leaves) and node.price == Decimal("1.5")
    with crealm.open(path, schema=[inner]) as db, db.write():
        mine = inner()
        mine.me = mine
        mine.others = {mine}
        assert db.add(mine).me == mine and mine.others == {mine} and mine.node is None
        assert db.classes == ["Inner", "Leaf", "Node", "Part"]


@pytest.mark.skipif(sys.version_info < (3, 10), reason="syntax of Python 3.10")
def test_unions_with_a_bar(path):
    class One(Model):
        n: int | None
        s: set[str | None]
        other: "One | None"
        more: "list[One]" = field()

    with crealm.open(path, schema=[One]) as db, db.write():
        one = db.add(One(s={None, "a"}))
        one.other = one
        one.more.append(one)
        assert one.n is None and one.s == {None, "a"} and one.other == one and one.more == [one]


def test_declarations_that_make_no_sense(tmp_path):
    def declare(**annotations):
        values = annotations.pop("values", {})
        return type("Bad", (Model,), {"__annotations__": annotations, "__module__": __name__, **values})

    for make in (
        lambda: declare(delete=int),
        lambda: declare(is_valid=bool),
        lambda: declare(_db=int),
        lambda: declare(values={"n": field()}),
        lambda: declare(n=List[int], values={"n": [1]}),
        lambda: declare(n=int, values={"n": field(default=1, default_factory=int)}),
        lambda: declare(a=int, b=str, values={"a": field(primary_key=True), "b": field(primary_key=True)}),
    ):
        with pytest.raises(crealm.SchemaError):
            make()
    shared = field()
    declare(n=int, values={"n": shared})
    with pytest.raises(crealm.SchemaError, match="already"):
        declare(n=int, values={"n": shared})
    for model in (
        declare(n=complex),
        declare(n=list),
        declare(n="Unknown"),
        declare(n="no type at all"),
        declare(n=List["Unknown"]),  # noqa: F821
        declare(n=Optional[List[int]]),
        declare(n=Dict[int, str]),
        declare(n=float, values={"n": field(primary_key=True)}),
        declare(n=int, values={"n": field(fulltext=True)}),
        declare(n=Set[Address]),
        declare(n=int, values={"b": backlinks("Unknown", "x")}),
        declare(n=int, values={"b": backlinks("Person", "unknown")}),
        declare(n=int, values={"b": backlinks("Person", "name")}),
        declare(n=int, values={"b": backlinks("Person", "dogs")}),
    ):
        with pytest.raises(crealm.Error) as info:
            crealm.open(tmp_path / "bad.realm", schema=[model])
        assert "Bad" in str(info.value) or info.value.code in (2016, 2007)
    for schema in (Person, [int], [Model], [Embedded], [Person()], [None]):
        with pytest.raises(TypeError):
            crealm.open(tmp_path / "bad.realm", schema=schema)
    for base in (Model, Embedded):
        with pytest.raises(TypeError, match="base"):
            base()


def test_models_and_other_declarations_together(path):
    class Owner(Model):
        things: List["Thing"]

    thing = crealm.ClassSchema("Thing", {"n": int, "owner": "Owner"})
    with crealm.open(path, schema=[thing, Owner]) as db, db.write():
        owner = db.add(Owner(things=[db["Thing"].create(n=1)]))
        owner.things[0].owner = owner
        assert type(owner.things[0]) is crealm.Object and owner.things[0].owner == owner
        assert type(owner.things[0].owner) is Owner
    schema = crealm.ClassSchema("Thing", {"dog": Optional[Dog], "dogs": List[Dog]})
    assert schema.properties["dog"].type == "Dog" and str(schema.properties["dogs"]) == "list[Dog]"


# ------------------------------------------------------------------------------------------------
# Plain instances
# ------------------------------------------------------------------------------------------------


def test_plain_instances():
    ann = Person(id=1, name="Ann")
    assert (ann.id, ann.name, ann.motto, ann.born, ann.renamed) == (1, "Ann", "none", None, 7)
    assert ann.dogs == [] and ann.friends == set() and ann.notes == {} and ann.rooms == {}
    assert isinstance(ann.key, crealm.ObjectId) and ann.key != Person().key and ann.key == ann.key
    ann.dogs.append(Dog(name="Rex"))
    assert ann.dogs[0].age == 1 and ann.age_of_dogs() == 1 and len(ann.dogs) == 1
    ann.shout = "BOB"
    assert ann.name == "bob" and ann.shout == "BOB" and ann["name"] == "bob"
    ann["name"] = "cyd"
    assert ann.name == "cyd" and not ann.is_managed and ann.is_valid and ann and ann.class_name == "Person"
    assert repr(ann).startswith("Person(id=1, name='cyd', motto='none', born=None, dogs=<1 values>, ")
    assert ann == ann and ann != Person(id=1) and hash(ann) == hash(ann) and len({ann, Person()}) == 2
    assert {"dogs", "to_dict", "age_of_dogs"} <= set(dir(ann)) and ann.dogs[0].owners == ()
    given = ["a"]
    address = Address(lines=given)
    given.append("b")
    assert address.lines == ["a"] and Address(lines=("x", "y")).lines == ["x", "y"]
    every = Every()
    assert (every.i, every.b, every.d, every.f, every.s, every.y) == (0, False, 0.0, 0.0, "", b"")
    assert every.t == datetime(1970, 1, 1, tzinfo=timezone.utc) and every.c == 0 and every.a is None
    assert every.u == UUID(int=0) and every.o == crealm.ObjectId("0" * 24) and every.nu is None
    for action, kind in (
        (lambda: Person(nope=1), TypeError),
        (lambda: Person(1), TypeError),
        (lambda: Person(owners=1), TypeError),
        (lambda: Person(dogs=5), crealm.TypeMismatch),
        (lambda: Person(dogs="Rex"), crealm.TypeMismatch),
        (lambda: Person(notes=[1]), crealm.TypeMismatch),
        (lambda: Person(friends=None), crealm.TypeMismatch),
        (lambda: ann.nope, crealm.NoSuchProperty),
        (lambda: ann["nope"], KeyError),
        (lambda: setattr(ann, "nope", 1), crealm.NoSuchProperty),
        (lambda: setattr(ann, "dogs", 5), crealm.TypeMismatch),
        (lambda: setattr(ann, "delete", 1), AttributeError),
        (lambda: setattr(ann, "_db", 1), AttributeError),
        (lambda: setattr(ann.dogs[0], "owners", []), AttributeError),
        (lambda: ann.__delattr__("name"), AttributeError),
        (ann.delete, crealm.UsageError),
        (lambda: ann.object_key, crealm.UsageError),
        (lambda: ann.backlinks("Person", "boss"), crealm.UsageError),
    ):
        with pytest.raises(kind):
            action()


def test_plain_instances_are_copied_and_pickled():
    ann = Person(id=1, name="Ann", dogs=[Dog(name="Rex")])
    ann.boss = ann
    for clone in (pickle.loads(pickle.dumps(ann)), copy.deepcopy(ann)):
        assert clone is not ann and clone.boss is clone and clone.dogs[0].name == "Rex"
        assert clone.dogs[0] is not ann.dogs[0] and clone.key == ann.key
    assert copy.copy(ann).dogs is not None


def test_init_of_ones_own(path):
    class Point(Model):
        x: float
        y: float

        def __init__(self, x, y):
            super().__init__(x=x)
            self.y = y
            Point.made += 1

        made: ClassVar[int] = 0

    with crealm.open(path, schema=[Point]) as db, db.write():
        point = db.add(Point(1, 2.5))
        assert (point.x, point.y) == (1.0, 2.5) and db[Point][0] == point and Point.made == 1


# ------------------------------------------------------------------------------------------------
# Adding
# ------------------------------------------------------------------------------------------------


def graph():
    rex, bo = Dog(name="Rex", age=3), Dog(name="Bo")
    ann = Person(id=1, name="Ann", dogs=[rex, bo, rex], address=Address(city="Oslo", lines=["a", "b"]))
    bob = Person(id=2, name="Bob", boss=ann, friends={ann}, notes={"dog": rex, "deep": [[bo], {"a": ann}]})
    ann.boss = bob
    ann.former += [Address(city="Rome"), Address(city="Bern", lines=["x"])]
    ann.rooms["top"] = Address(city="K2")
    ann.any = [1, {"bob": bob}]
    return ann, bob, rex, bo


def test_adding_a_graph(db, path):
    ann, bob, rex, bo = graph()
    key = ann.key
    with db.write():
        assert db.add(ann) is ann
        assert ann.is_managed and bob.is_managed and rex.is_managed and bo.is_managed
        check(db, ann, bob, rex, bo)
        assert db.add(ann) is ann and len(db[Person]) == 2
    check(db, ann, bob, rex, bo)
    assert ann.key == key and ann.renamed == 7 and ann.motto == "none"
    with pytest.raises(crealm.NotInWriteError, match="Person.name"):
        ann.name = "x"
    with pytest.raises(crealm.NotInWriteError, match="Person.dogs"):
        ann.dogs.append(Dog())
    with db.write():
        ann.dogs.append(Dog(name="Zip"))
        ann.shout = "LOUD"
        ann.address.lines.append("c")
        ann.boss = Person(id=3, name="Cyd")
        ann.any = Dog(name="Any")
    assert [d.name for d in ann.dogs] == ["Rex", "Bo", "Rex", "Zip"] and ann.name == "loud"
    assert ann.address.lines == ["a", "b", "c"] and db[Person].get(3).name == "Cyd" == ann.boss.name
    assert type(ann.any) is Dog and len(db[Dog]) == 4


def check(db, ann, bob, rex, bo):
    assert ann.dogs == [rex, bo, rex] and rex.age == 3 and bo.age == 1 and ann.age_of_dogs() == 7
    assert ann.boss == bob and bob.boss == ann and bob.friends == {ann} and ann.friends == set()
    assert bob.notes["dog"] == rex and bob.notes["deep"][0] == [bo] and bob.notes["deep"][1]["a"] == ann
    assert ann.address.city == "Oslo" and ann.address.lines == ["a", "b"] and bob.address is None
    assert [a.city for a in ann.former] == ["Rome", "Bern"] and ann.rooms["top"].city == "K2"
    assert ann.any[1]["bob"] == bob
    assert list(rex.owners) == [ann, ann] and list(bo.owners) == [ann]
    assert type(db[Person].get(1)) is Person and db["Person"].get(2) == bob and type(ann.former[0]) is Address
    assert len(db[Person]) == 2 and len(db[Dog]) == 2 and len(db[Address]) == 4


def test_every_type_of_value(db):
    values = dict(
        i=1, b=True, d=1.5, f=2.5, s="x", y=b"y", t=datetime(2024, 1, 1, tzinfo=timezone.utc),
        c=Decimal("1.10"), u=UUID(int=5), o=crealm.ObjectId("1" * 24), a=[1, {"b": 2}],
    )  # fmt: skip
    values.update({f"n{k}": v for k, v in values.items() if k != "a"})
    values.update(ln=[1, None], sd={Decimal(1)}, du={"a": None, "b": UUID(int=1)}, an="x")
    with db.write():
        full, empty, partial = db.add(Every(**values)), db.add(Every()), db.add(Every(i=5, nt=None))
    assert full.to_dict() == {**values, "a": [1, {"b": 2}]}
    assert empty.to_dict() == Every().to_dict() and partial.i == 5
    assert type(full.f) is float and repr(full.c) == "Decimal('1.10')"


def test_long_chains(db):
    first = last = Person(id=0)
    for number in range(1, 3000):
        last.boss = last = Person(id=number)
    with db.write():
        db.add(first)
    assert len(db[Person]) == 3000 and db[Person].get(2998).boss.id == 2999
    assert len(repr(first)) < 1000 and len(first.to_json(depth=10**6)) < 100_000


def test_circles_are_updated_by_primary_key(path):
    """Each object comes once, however many ways lead to it."""

    class Node(crealm.Model):
        id: int = crealm.field(primary_key=True)
        value: int
        next: Optional["Node"]
        many: List["Node"]
        by: Dict[str, "Node"]
        any: Any

    def circle(count, value):
        nodes = [Node(id=id, value=value) for id in range(count)]
        for id, node in enumerate(nodes):
            node.next, node.many = nodes[(id + 1) % count], [node, nodes[(id + 2) % count], node]
            node.by, node.any = {"a": nodes[id * 7 % count]}, [nodes[0], {"last": nodes[-1]}]
        return nodes[0]

    with crealm.open(path, schema=[Node]) as db:
        for value, count, update in ((1, 50, None), (2, 50, "all"), (3, 50, "modified"), (4, 3000, "modified")):
            with db.write():
                db.add(circle(count, value), **({"update": update} if update else {}))
            assert len(db[Node]) == count and db[Node].sum("value") == count * value
            assert all(node.next.id == (node.id + 1) % count and len(node.many) == 3 for node in db[Node])
            assert all(node.any[1]["last"].id == count - 1 for node in db[Node])
        row = {"id": 1, "value": 5}
        row["next"] = row
        with db.write():
            db.add_many(Node, [row], update="modified")
        assert db[Node].get(1).next == db[Node].get(1) and len(db[Node]) == 3000
        with pytest.raises(crealm.DuplicateKeyError), db.write():
            db.add(circle(3, 9))
        assert db[Node].sum("value") == 4 * 3000 + 1


def test_what_cannot_be_added(db, tmp_path):
    with db.write():
        db.add(Person(id=1, name="Ann"))
    loop = []
    loop.append(loop)
    bad = [
        (lambda: Person(name="no key"), crealm.DataError, "Person.id"),
        (lambda: Person(id=None), crealm.ConstraintError, "Person.id"),
        (lambda: Person(id="5"), crealm.TypeMismatch, "Person.id"),
        (lambda: Person(id=1), crealm.DuplicateKeyError, "primary key 1"),
        (lambda: Person(id=5, boss=Person(id=1)), crealm.DuplicateKeyError, "primary key 1"),
        (lambda: Person(id=5, boss=Person(id=5)), crealm.DuplicateKeyError, "primary key 5"),
        (lambda: Person(id=5, name=7), crealm.TypeMismatch, "Person.name"),
        (lambda: Person(id=5, name=None), crealm.ConstraintError, "Person.name"),
        (lambda: Person(id=5, dogs=[Dog(name=5)]), crealm.TypeMismatch, "Dog.name"),
        (lambda: Person(id=5, dogs=[None]), crealm.ConstraintError, "Person.dogs"),
        (lambda: Person(id=5, dogs=[Person(id=6)]), crealm.TypeMismatch, "Person.dogs"),
        (lambda: Person(id=5, boss=Dog()), crealm.TypeMismatch, "Person.boss"),
        (lambda: Person(id=5, boss="Ann"), crealm.TypeMismatch, "Person.boss"),
        (lambda: Person(id=5, address=Address(city=1)), crealm.TypeMismatch, "Person.address: Address.city"),
        (lambda: Person(id=5, address=Dog()), crealm.TypeMismatch, "Person.address"),
        (lambda: Person(id=5, former=[None]), crealm.ConstraintError, "Person.former"),
        (lambda: Person(id=5, any=loop), crealm.LimitExceeded, "Person.any"),
        (lambda: Person(id=5, any=Address()), crealm.TypeMismatch, "Person.any"),
        (lambda: Person(id=5, notes={"a.b": 1}), crealm.DataError, "Person.notes"),
        (lambda: Person(id=5, born=datetime(2024, 1, 1)), crealm.DataError, "Person.born"),
        (lambda: Address(), crealm.UsageError, "Address"),
        (lambda: Other(), crealm.NoSuchClass, "Other"),
        (lambda: Person(id=5, any=Other()), crealm.NoSuchClass, "Other"),
        (lambda: "Person", TypeError, "str"),
        (lambda: {"id": 5}, TypeError, "dict"),
    ]
    for make, kind, text in bad:
        with db.write():
            made = make()
            with pytest.raises(kind, match=text):
                db.add(made)
            assert len(db[Person]) == 1 and len(db[Dog]) == 0 and len(db[Address]) == 0
            assert not getattr(made, "is_managed", False)
    with pytest.raises(crealm.NotInWriteError, match="Person"):
        db.add(Person(id=5))
    with crealm.open(tmp_path / "other.realm", schema=[Person]) as other:
        with other.write():
            stranger = other.add(Person(id=9))
        with db.write():
            for action in (
                lambda: db.add(stranger),
                lambda: db.add(Person(id=5, boss=stranger)),
                lambda: setattr(db[Person].get(1), "boss", stranger),
            ):
                with pytest.raises(crealm.DataError, match="another"):
                    action()
    with crealm.open(db.path) as dynamic, dynamic.write():
        with pytest.raises(crealm.NoSuchClass, match="schema"):
            dynamic.add(Person(id=5))
        with pytest.raises(crealm.NoSuchClass):
            dynamic[Person]
        assert type(dynamic["Person"][0]) is crealm.Object


def test_update(db):
    with db.write():
        rex = Dog(name="Rex")
        ann = db.add(
            Person(id=1, name="Ann", motto="x", dogs=[rex], notes={"a": 1}, address=Address(city="A"))
        )
        part = ann.address
        with pytest.raises(crealm.DuplicateKeyError) as info:
            db.add(Person(id=1))
        assert info.value.code == 1013 and "update=" in info.value.hint
        with pytest.raises(crealm.DataError):
            db.add(Person(id=2), update="maybe")
        key = ann.key
        same = db.add(Person(id=1, name="Anna", born=None), update="modified")
        assert same == ann and ann.name == "Anna" and ann.motto == "x" and ann.dogs == [rex]
        assert ann.key == key and part.is_valid and ann.notes == {"a": 1}
        more = Person(id=1)
        more.dogs.append(Dog(name="Bo"))
        more.friends.update([ann, Person(id=2, name="Bob", boss=more)])
        db.add(more, update="modified")
        assert [d.name for d in ann.dogs] == ["Bo"] and {p.id for p in ann.friends} == {1, 2}
        assert db[Person].get(2).boss == ann and len(db[Person]) == 2
        db.add(Person(id=1, name="Ann"), update="all")
        assert ann.motto == "none" and ann.dogs == [] and ann.notes == {} and ann.address is None
        assert ann.key != key and not part.is_valid and ann.name == "Ann"
        with pytest.raises(crealm.DataError):
            db.add(Person(name="no key"), update="all")
        twice = Person(id=7, name="one", boss=Person(id=7, motto="two"))
        db.add(twice, update="modified")
        assert twice.boss == twice and len(db[Person]) == 3


def test_modified_writes_only_what_differs(db, monkeypatch):
    from crealm import _store

    written = []
    real = _store.fill_object
    monkeypatch.setattr(
        _store, "fill_object", lambda p, v: written.append([facts.name for facts, _ in v]) or real(p, v)
    )
    person = dict(name="Ann", born=datetime(2024, 1, 1, tzinfo=timezone.utc), notes={"a": 1, "b": None})
    with db.write():
        ann = db.add(Person(id=1, **person))
        dog = Dog(name="Rex")
        ann.dogs, ann.friends, ann.any = [dog], {ann}, -0.0
        written.clear()
        db.add(Person(id=1, dogs=[dog], friends={ann}, any=-0.0, **person), update="modified")
        assert written == [[]]
        written.clear()
        db.add(Person(id=1, dogs=[dog, dog], any=0.0, notes={"a": True, "b": None}), update="modified")
        assert written == [["dogs", "notes", "any"]]
        written.clear()
        db.add_many(Person, [{"id": 1, "any": 0.0, "friends": [], "name": "Ann"}], update="modified")
        assert written == [["friends"]] and ann.friends == set()


def test_add_many(db):
    with db.write():
        assert db.add_many(Dog, ({"name": f"d{n}", "age": n} for n in range(500))) == 500
        assert db.add_many("Dog", [{"name": "last"}, Dog(name="model")]) == 2
        assert db.add_many(Dog, []) == 0
        assert len(db[Dog]) == 502 and db[Dog][499].age == 499 and db[Dog][500].age == 1
        rex = Dog(name="Rex")
        rows = [
            {
                "id": 1,
                "name": "Ann",
                "dogs": [{"name": "a"}, rex],
                "address": {"city": "Oslo", "lines": ["x"]},
            },
            {
                "id": 2,
                "boss": {"id": 3, "name": "Cyd"},
                "former": [{}, Address(city="B")],
                "notes": {"a": [1]},
            },
        ]
        assert db.add_many(Person, rows) == 2
        ann, bob, cyd = (db[Person].get(n) for n in (1, 2, 3))
        assert [d.name for d in ann.dogs] == ["a", "Rex"] and ann.dogs[1] == rex and ann.renamed == 7
        assert bob.boss == cyd and [a.city for a in bob.former] == ["", "B"] and bob.notes["a"] == [1]
        with pytest.raises(crealm.DuplicateKeyError, match="Row 1"):
            db.add_many(Person, [{"id": 9}, {"id": 1}])
        assert db[Person].get(9) is not None
        key = ann.key
        db.add_many(Person, [{"id": 1, "name": "Anna"}, {"id": 10, "name": "Eve"}], update="modified")
        assert (
            ann.name == "Anna" and len(ann.dogs) == 2 and ann.key == key and db[Person].get(10).renamed == 7
        )
        db.add_many(Person, [{"id": 1, "dogs": []}], update="all")
        assert ann.dogs == [] and ann.name == "Anna"
        loop = {"id": 20, "name": "loop"}
        loop["boss"] = loop
        db.add_many(Person, [loop])
        assert db[Person].get(20).boss.id == 20
        for rows, kind in (
            ([{"name": 5}], crealm.TypeMismatch),
            ([{"nope": 5}], crealm.NoSuchProperty),
            ([5], TypeError),
            (5, TypeError),
            ([db[Dog][0]], TypeError),
        ):
            with pytest.raises(kind):
                db.add_many(Dog, rows)
        with pytest.raises(crealm.UsageError):
            db.add_many(Address, [{"city": "x"}])
        with pytest.raises(crealm.NoSuchClass):
            db.add_many(Other, [])
    with pytest.raises(crealm.NotInWriteError, match="Dog"):
        db.add_many(Dog, [])


def test_embedded_models(db):
    with db.write():
        ann = db.add(Person(id=1))
        oslo = Address(city="Oslo", lines=["a"])
        ann.address = oslo
        assert not oslo.is_managed and ann.address.city == "Oslo" and ann.address != oslo
        oslo.city = "Rome"
        ann.former = [oslo, oslo, {"city": "Bern"}]
        assert [a.city for a in ann.former] == ["Rome", "Rome", "Bern"] and ann.address.city == "Oslo"
        ann.rooms["a"] = ann.former[0]
        ann.rooms["a"].lines.append("b")
        assert ann.former[0].lines == ["a"] and ann.rooms["a"].lines == ["a", "b"]
        taken = ann.former.pop()
        assert type(taken) is Address and not taken.is_managed and taken.city == "Bern"
        ann.former.insert(0, taken)
        assert [a.city for a in ann.former] == ["Bern", "Rome", "Rome"]
        taken = ann.rooms.pop("a")
        assert taken.lines == ["a", "b"] and type(taken.lines) is list
        with pytest.raises(crealm.UsageError):
            db[Address].create(city="x")
        first = ann.former[0]
        ann.former = []
        assert not first.is_valid and len(db[Address]) == 1
        ann.address = None
        assert len(db[Address]) == 0


def test_create_uses_the_defaults_of_the_model(db):
    with db.write():
        ann = db[Person].create(1, name="Ann", dogs=[Dog(name="a"), {"name": "b"}])
        assert type(ann) is Person and ann.renamed == 7 and ann.motto == "none" and ann.key.hex != "0" * 24
        assert [d.age for d in ann.dogs] == [1, 1]
        assert db[Person].create(id=2).renamed == 7


def test_objects_of_a_closed_database(path):
    db = crealm.open(path, schema=[Person])
    with db.write():
        ann = db.add(Person(id=1, name="Ann", dogs=[Dog(name="Rex")]))
    rex = ann.dogs[0]
    db.close()
    for action in (lambda: ann.name, lambda: setattr(ann, "name", "x"), lambda: rex.owners, ann.to_dict):
        with pytest.raises(crealm.ClosedError):
            action()
    assert not ann.is_valid and "ClosedError" in repr(ann)
    with pytest.raises(crealm.ClosedError):
        db.add(Dog())
    with crealm.open(path, schema=[Person], mode="r") as db:
        assert type(db[Person].get(1)) is Person
        with pytest.raises(crealm.ReadOnlyError):
            db.add(Dog())
    with pytest.raises(TypeError):
        pickle.dumps(ann)


def test_reading_a_file_that_lacks_classes(path):
    crealm.open(path, schema=[Dog, Person]).close()
    before = path.read_bytes()
    with crealm.open(path, schema=[Dog, Person, Other], mode="r") as db:
        assert "Person" in db.classes and len(db[Dog]) == 0
        with pytest.raises(crealm.NoSuchClass):
            db[Other]
    assert path.read_bytes() == before


class Typed(Model):
    id: crealm.Field[int] = field(primary_key=True)
    boss: crealm.Field[Optional["Typed"]] = field(default=None)
    name: Annotated[crealm.Field[str], field(index=True)]
    dogs: crealm.List[Dog] = field(default_factory=list)
    tags: "crealm.SetView[str]" = set()
    marks: crealm.Dictionary[Optional[int]] = {}


def test_annotations_for_type_checkers_declare_the_same(path):
    with crealm.open(path, schema=[Typed]) as db:
        properties = {name: str(prop) for name, prop in db.schema["Typed"].properties.items()}
        assert properties == {
            "id": "int", "boss": "Typed", "name": "str", "dogs": "list[Dog]", "tags": "set[str]", "marks": "dict[str, Optional[int]]"}
        assert db.schema["Typed"].properties["name"].indexed


def test_collections_that_may_be_left_out_are_given_when_they_are_filled(path):
    one, other = Typed(id=1), Typed(id=1)
    one.dogs.append(Dog(name="Rex"))
    one.tags.add("a")
    one.marks["x"] = 1
    assert (other.dogs, other.tags, other.marks) == ([], set(), {})
    with crealm.open(path, schema=[Typed]) as db:
        with db.write():
            db.add(one)
            db.add(other, update="modified")
        found = db[Typed].get(1)
        assert (len(found.dogs), found.tags, found.marks) == (1, {"a"}, {"x": 1})
        filled = Typed(id=1)
        filled.dogs.append(Dog(name="Bo"))
        filled.marks["y"] = 2
        with db.write():
            db.add(filled, update="modified")
        assert [dog.name for dog in found.dogs] == ["Bo"] and found.marks == {"y": 2} and found.tags == {"a"}


@pytest.mark.parametrize("bare", [crealm.List, crealm.SetView, crealm.Dictionary])
def test_a_collection_of_what(bare, path):
    kind = type("Bare", (Model,), {"__annotations__": {"items": bare}, "__module__": __name__})
    with pytest.raises(crealm.SchemaError, match=f"Bare.items: {bare.__name__} of what"):
        crealm.open(path, schema=[kind])


def test_from_dict(path):
    values = {
        "id": 1, "name": "Ann", "address": {"city": "Oslo", "lines": ["a"]}, "dogs": [{"name": "Rex", "age": 3}, {"name": "Bo", "age": 1}]}
    ann = Person.from_dict(values)
    assert (ann.id, ann.name, ann.address.city, [dog.name for dog in ann.dogs]) == (1, "Ann", "Oslo", ["Rex", "Bo"]) and not ann.is_managed
    with crealm.open(path, schema=[Person]) as db:
        with db.write():
            db.add(ann)
        found = db[Person].get(1).to_dict(2)
        assert {name: found[name] for name in values} == values
        with db.write():
            db.add(Person.from_dict({"id": 1, "name": "Anna"}), update="modified")
        assert db[Person].get(1).name == "Anna" and len(db[Person].get(1).dogs) == 2
    with pytest.raises(crealm.NoSuchProperty, match="did you mean 'name'"):
        Person.from_dict({"nam": 1})
    with pytest.raises(crealm.DataError, match="Person.dogs: .* names an object"):
        Person.from_dict({"dogs": [{"$ref": 1, "$class": "Dog"}]})
    with pytest.raises(crealm.TypeMismatch, match="Person.dogs"):
        Person.from_dict({"dogs": 3})


def test_the_same_declarations_again(tmp_path):
    class Part(Model):
        n: int

    class Whole(Model):
        part: Optional[Part]

    path = tmp_path / "again.realm"
    for round in range(3):
        with crealm.open(path, schema=[Whole]) as db:
            with db.write():
                db.add(Whole(part=Part(n=round)))
            assert [w.part.n for w in db[Whole]] == list(range(round + 1))
            assert type(db[Whole][0].part) is Part

    # Another class with the same name, and one with an additional property, are different declarations.
    class Whole(Model):  # noqa: F811
        part: Optional[Part]
        more: int

    with crealm.open(path, schema=[Whole]) as db:
        assert [w.more for w in db[Whole]] == [0, 0, 0] and isinstance(db[Whole][0], Whole)


def test_a_text_means_what_its_name_means_when_the_file_is_opened(tmp_path):
    class Owner(Model):
        thing: "Optional[Thing]"

    def opened(name, thing):
        globals()["Thing"] = thing
        try:
            with crealm.open(tmp_path / name, schema=[Owner]) as db:
                return sorted(db.schema["Thing"].properties)
        finally:
            del globals()["Thing"]

    first = type("Thing", (Model,), {"__annotations__": {"a": int}, "__module__": __name__})
    second = type("Thing", (Model,), {"__annotations__": {"b": int}, "__module__": __name__})
    assert opened("first.realm", first) == ["a"]
    assert opened("second.realm", second) == ["b"]
