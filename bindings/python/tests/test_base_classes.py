"""Base classes: models that share a class of the file. Random families first, then examples and the texts of errors."""

import enum
import io
import json
import pickle
import random
import threading
import types
from pathlib import Path
from typing import Annotated, Any, Dict, List, Optional, Set

import pytest

import crealm
from crealm import families, models
from crealm.aggregates import count
from test_cli_import import quiet

# ------------------------------------------------------------------------------------------------
# Random families, compared with a plain model
# ------------------------------------------------------------------------------------------------

TYPES = {
    "int": (int, lambda chance: chance.randrange(-5, 6)),
    "text": (str, lambda chance: chance.choice(["", "a", "bc"])),
    "maybe": (Optional[int], lambda chance: chance.choice([None, 1, 2])),
    "double": (float, lambda chance: chance.choice([0.0, 1.5, -2.0])),
    "texts": (List[str], lambda chance: chance.choices(["x", "y"], k=chance.randrange(3))),
    "numbers": (
        Dict[str, Optional[int]],
        lambda chance: {"k": chance.choice([None, 3])} if chance.random() < 0.5 else {},
    ),
    "anything": (Any, lambda chance: chance.choice([None, 7, "seven"])),
}


class Zoo:
    """A random family, and what a database of its objects should have."""

    def __init__(self, chance):
        self.chance = chance
        self.values = {}  # By primary key: the class and the values of the object.
        self.kinds = {}  # For each class: the kinds of its properties, with those of its bases.
        self.declared = {}  # The arguments of declare() for each subclass.
        self.base = self.new_base()
        self.classes = [self.base]
        for number in range(chance.randrange(2, 7)):
            above = chance.choice(self.classes)
            meta = {"abstract": chance.random() < 0.2}
            if chance.random() < 0.4:
                meta["type_name"] = f"kind '{number}'"
            own = {f"p{number}_{i}": chance.choice(list(TYPES)) for i in range(chance.randrange(4))}
            arguments = (f"Kind{number}", above, meta, {name: TYPES[kind][0] for name, kind in own.items()})
            model = self.declare(*arguments)
            self.declared[model] = arguments
            self.kinds[model] = {**self.kinds.get(above, {}), **own}
            self.classes.append(model)
        self.made = [model for model in self.classes if not model._is_abstract]

    def new_base(self):
        base = self.declare("Base", crealm.Model, {"type_property": "species"}, {"id": int, "common": str})
        base._fields["id"].primary_key = True
        return base

    def other_program(self):
        """The classes of a program that knows only some of them: by the classes that it knows."""
        known = {self.base: self.new_base()}
        for model, (name, above, meta, annotations) in self.declared.items():
            if above in known and self.chance.random() < 0.6:
                known[model] = self.declare(name, known[above], meta, annotations)
        return known

    def declare(self, name, above, meta, annotations):
        return type(
            name, (above,), {"__module__": __name__, "__annotations__": annotations, "Meta": type("Meta", (), meta)}
        )

    def row(self, model, key):
        """Values for some of the properties, and the values that the object has then."""
        given, all_ = {"id": key, "common": self.chance.choice("abc")}, {}
        for name, kind in self.kinds.get(model, {}).items():
            zero = {"int": 0, "text": "", "double": 0.0, "texts": [], "numbers": {}}.get(kind)
            all_[name] = zero
            if self.chance.random() < 0.7:
                given[name] = TYPES[kind][1](self.chance)
        all_.update(given)
        self.values[key] = (model, all_)
        return given

    def keys(self, model):
        return sorted(key for key, (kind, _) in self.values.items() if issubclass(kind, model))


def new_keys(zoo, number):
    first = max(zoo.values, default=0) + 1
    return range(first, first + number)


def add_objects(zoo, db, holder):
    chance = zoo.chance
    for key in new_keys(zoo, chance.randrange(4)):
        model = chance.choice(zoo.made)
        values = zoo.row(model, key)
        way = chance.randrange(4)
        if way == 0:
            made = db.add(model(**values))
        elif way == 1:
            made = db[model].create(**values)
        else:
            above = next(one for one in reversed(model.__mro__[: 1 + way]) if one in zoo.classes)
            made = db[above].create(**values, species=model._type_text)
        assert type(made) is model
        holder.all.append(made)
        holder.mixed["k"] = [made]


def add_rows(zoo, db, holder):
    chance = zoo.chance
    keys = new_keys(zoo, chance.choice([1, 30]))
    above = chance.choice(zoo.classes)
    below = [model for model in zoo.made if issubclass(model, above)]
    rows = []
    for key in keys if below else ():
        model = chance.choice(below)
        row = zoo.row(model, key)
        if model is not above or chance.random() < 0.5:
            row["species"] = model._type_text
        rows.append(row)
    assert db.add_many(above, rows) == len(rows)


def change(zoo, db, holder):
    for key, (model, values) in list(zoo.values.items()):
        if zoo.chance.random() < 0.2:
            obj = db[zoo.base].get(key)
            for name, kind in zoo.kinds.get(model, {}).items():
                if zoo.chance.random() < 0.5:
                    values[name] = TYPES[kind][1](zoo.chance)
                    setattr(obj, name, values[name])


def change_all(zoo, db, holder):
    model = zoo.chance.choice(zoo.classes)
    names = [name for name, kind in zoo.kinds.get(model, {}).items() if kind == "int"]
    changed = {"common": "z", **{name: 77 for name in names}}
    assert db[model].update(**changed) == len(zoo.keys(model))
    for key in zoo.keys(model):
        zoo.values[key][1].update(changed)


def delete(zoo, db, holder):
    model = zoo.chance.choice(zoo.classes)
    gone = [key for key in zoo.keys(model) if key % 3 == 0]
    db[model].where("id IN $0", gone).delete_all()
    for key in gone:
        del zoo.values[key]


def compare(zoo, db, holder):
    for model in zoo.classes:
        expected = zoo.keys(model)
        table = db[model]
        assert sorted(obj.id for obj in table) == expected and len(table) == len(expected)
        assert sorted(obj.id for obj in table.snapshot()) == expected
        assert table.count() == len(expected) and table.sum("id") == sum(expected)
        assert [obj.id for obj in table.sort("id")] == expected and table.max("id") == max(expected, default=None)
        assert len(table.where("common == 'z'")) == sum(zoo.values[key][1]["common"] == "z" for key in expected)
        for obj in table:
            kind, values = zoo.values[obj.id]
            assert type(obj) is kind and obj.species == kind._type_text and isinstance(obj, model)
            assert obj.to_dict() == {**values, "species": kind._type_text}
            assert obj in table and table.get(obj.id) == obj
            other = zoo.chance.choice(zoo.classes)
            assert (obj in db[other]) == isinstance(obj, other)
            assert (db[other].get(obj.id) is not None) == isinstance(obj, other)
        columns = table.to_arrow().to_pydict() if zoo.has_arrow else {}
        for name, kind in zoo.kinds.get(model, {}).items() if columns else ():
            if kind != "anything":
                assert sorted(map(repr, columns[name])) == sorted(
                    map(repr, (column(zoo, key, name) for key in expected))
                )
    assert all(type(obj) is zoo.values[obj.id][0] for obj in [*holder.all, *holder.mixed.get("k", [])])


def compare_known(zoo, db, known):
    """The same for a program that knows only some of the classes."""
    for model, own in known.items():
        assert sorted(obj.id for obj in db[own]) == zoo.keys(model)
        for obj in db[own]:
            kind, values = zoo.values[obj.id]
            nearest = next(one for one in kind.__mro__ if one in known)
            assert type(obj) is known[nearest] and obj.species == kind._type_text
            names = {"id", "common", *zoo.kinds.get(nearest, {})}
            assert obj.to_dict() == {**{name: values[name] for name in names}, "species": kind._type_text}


def column(zoo, key, name):
    value = zoo.values[key][1][name]
    return list(value.items()) if isinstance(value, dict) else value


@pytest.mark.parametrize("seed", range(30))
def test_random_families(path, seed):
    zoo = Zoo(random.Random(seed))
    try:
        import pyarrow  # noqa: F401

        zoo.has_arrow = True
    except ImportError:
        zoo.has_arrow = False
    annotations = {"all": List[zoo.base], "mixed": Dict[str, Any]}
    holder_model = type("Holder", (crealm.Model,), {"__module__": __name__, "__annotations__": annotations})
    with crealm.open(path, schema=[holder_model]) as db:
        with db.write():
            holder = db.add(holder_model())
        for _ in range(8):
            step = zoo.chance.choice([add_objects, add_objects, add_rows, add_rows, change, change_all, delete])
            before = {key: (model, dict(values)) for key, (model, values) in zoo.values.items()}
            if zoo.chance.random() < 0.2:
                with pytest.raises(ZeroDivisionError), db.write():
                    step(zoo, db, holder)
                    raise ZeroDivisionError
                zoo.values = before
            else:
                with db.write():
                    step(zoo, db, holder)
            compare(zoo, db, holder)
    again = [zoo.chance.choice(zoo.classes), holder_model]
    with crealm.open(path, schema=again) as db:
        compare(zoo, db, db[holder_model].one())
    known = zoo.other_program()
    with crealm.open(path, schema=list(known.values())) as db:
        compare_known(zoo, db, known)
        with db.write():
            for obj in db[known[zoo.base]]:
                obj.common = zoo.values[obj.id][1]["common"] = "n"
        compare_known(zoo, db, known)
    with crealm.open(path, schema=again) as db:
        compare(zoo, db, db[holder_model].one())
    with crealm.open(path) as db:
        texts = {model._type_text for model in zoo.classes}
        assert db.classes == ["Base", "Holder"] and {obj.species for obj in db["Base"]} <= texts


# ------------------------------------------------------------------------------------------------
# Examples
# ------------------------------------------------------------------------------------------------


class Size(enum.Enum):
    SMALL = "small"
    LARGE = "large"


class Collar(crealm.Embedded):
    colour: str


class Animal(crealm.Model):
    id: int = crealm.field(primary_key=True, auto=True)
    name: str = crealm.field(min_length=1)
    age: Optional[int] = None
    friend: Optional["Animal"] = None
    owners: crealm.Backlinks["Person"] = crealm.backlinks("Person", "pets")

    class Meta:
        type_property = "type"


class Dog(Animal):
    breed: str = crealm.field(default="none", max_length=20)
    toys: List[str]
    collar: Optional[Collar] = None
    mother: Optional["Dog"] = None

    class Meta:
        checks = {"old enough": "age == NULL OR age >= 0"}


class Puppy(Dog):
    weeks: int = crealm.field(min=1)
    chip: Optional[str] = crealm.field(unique=True, default=None)
    walkers: crealm.Backlinks["Person"] = crealm.backlinks("Person", "best")


class Cat(Animal):
    lives: int = crealm.field(default=9, max=9)
    size: Size = Size.SMALL

    class Meta:
        type_name = "Felis"


class Bird(Animal):
    song: str = ""

    class Meta:
        abstract = True


class Crow(Bird):
    clever: bool = True


class Person(crealm.Model):
    name: str
    pets: List[Animal]
    dogs: List[Dog]
    best: Optional[Dog] = None
    cats: Set[Cat]
    by_name: Dict[str, Optional[Dog]]
    any_pet: Optional[Animal] = None
    anything: Any = None


ALL = [Animal, Dog, Puppy, Cat, Bird, Crow]


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[Person]) as opened:
        yield opened


@pytest.fixture
def zoo(db):
    """A database with one object of each class: plain(1), rex(2), pip(3), tom(4), joe(5)."""
    with db.write():
        db.add(Animal(name="plain", age=1))
        db.add(Dog(name="rex", age=2, breed="lab"))
        db.add(Puppy(name="pip", age=3, weeks=8))
        db.add(Cat(name="tom", age=4))
        db.add(Crow(name="joe", age=5))
    return db


def names(rows):
    return [row.name for row in rows]


@pytest.mark.parametrize("declared", [[Animal], [Dog], [Crow], [Person], [Cat, Dog]], ids=lambda d: d[0].__name__)
def test_one_class_brings_the_family(declared):
    with crealm.memory(schema=declared) as db:
        assert [cls for cls in ALL if cls in db] == ALL
        assert set(db.classes) - {"Person", "Collar"} == {"Animal"}
        props = db.schema["Animal"].properties
        assert props["type"] == crealm.Prop(str)
        assert (
            list(props)[-9:]
            == ["breed", "toys", "collar", "mother", "weeks", "chip", "lives", "size", "song", "clever"][-9:]
        )
        assert all(props[name].optional for name in ("breed", "weeks", "lives", "size", "song", "clever"))
        assert not props["name"].optional and not props["toys"].optional


def test_tables(zoo):
    assert names(zoo[Animal]) == ["plain", "rex", "pip", "tom", "joe"]
    assert [type(obj) for obj in zoo[Animal]] == [Animal, Dog, Puppy, Cat, Crow]
    assert [obj.type for obj in zoo[Animal]] == ["Animal", "Dog", "Puppy", "Felis", "Crow"]
    assert names(zoo[Dog]) == ["rex", "pip"] and names(zoo[Puppy]) == ["pip"] and names(zoo[Bird]) == ["joe"]
    assert zoo[Dog].description == 'type IN {"Dog", "Puppy"}' and zoo[Cat].description == 'type == "Felis"'
    assert zoo[Dog].first().name == "rex" and zoo[Dog].last().name == "pip" and zoo[Dog][1].name == "pip"
    assert (
        zoo[Dog].name == "Dog"
        and zoo[Animal].name == "Animal"
        and list(zoo[Dog].schema.properties)[-4:] == ["breed", "toys", "collar", "mother"]
    )
    assert repr(zoo[Dog]) == "<Subtable 'Dog': 2 objects>"
    assert zoo[Animal].explain().access and zoo[Dog].explain().found == 2
    assert zoo[Dog].exists() and not zoo[Dog].where("age > 3").exists() and zoo[Puppy].one().name == "pip"


def test_queries(zoo):
    assert names(zoo[Dog].where("age > 2")) == ["pip"] and names(zoo[Dog].where(Dog.age > 1).sort("-age")) == [
        "pip",
        "rex",
    ]
    assert names(zoo[Dog].where(Animal.age < 3)) == ["rex"] and names(zoo[Dog].where(Puppy.weeks > 1)) == ["pip"]
    assert names(zoo[Animal].where(Dog.breed == "lab")) == ["rex"] and names(zoo[Animal].where("lives == 9")) == ["tom"]
    assert names(zoo[Animal].where(Cat.size == Size.SMALL)) == ["tom"]
    assert names(zoo[Animal].where(Animal.type.in_(["Dog", "Crow"]))) == ["rex", "joe"]
    assert zoo[Dog].limit(1)[0].name == "rex" and names(zoo[Dog].distinct("breed")) == ["rex", "pip"]
    assert names(zoo[Dog].sort("age", descending=True).limit(1)) == ["pip"]
    assert zoo[Dog].sum("age") == 5 and zoo[Dog].mean(Dog.age) == 2.5 and zoo[Animal].min("weeks") == 8
    with pytest.raises(crealm.NoSuchProperty, match="Dog has no property 'weeks'"):
        zoo[Dog].min("weeks")
    assert zoo[Dog].group_by("type").agg(n=count()) == [{"type": "Dog", "n": 1}, {"type": "Puppy", "n": 1}]
    assert zoo[Animal].where("TRUEPREDICATE SORT(age DESC) LIMIT(2)")[0].name == "joe"
    with pytest.raises(crealm.QueryError, match=r"Cat.lives is no property of Dog"):
        zoo[Dog].where(Cat.lives == 9)
    with pytest.raises(crealm.QueryError, match=r"Person.name is no property of Animal"):
        zoo[Animal].where(Person.name == "Ann")


def test_paths_go_on_with_properties_of_subclasses(zoo):
    with zoo.write():
        ann = zoo.add(Person(name="Ann", pets=list(zoo[Animal]), any_pet=zoo[Cat].one(), best=zoo[Puppy].one()))
    people = zoo[Person]
    assert people.where(Person.any_pet.lives == 9).one() == ann and people.where(Person.best.weeks > 7).one() == ann
    assert people.where(Person.pets.any(Dog.breed == "lab")).one() == ann
    assert (
        people.where("any_pet.type == 'Felis'").one() == ann
        and people.where(Person.any_pet.type == "Felis").one() == ann
    )
    assert names(ann.pets.where("lives > 3")) == ["tom"] and names(
        ann.pets.where(Animal.age > 3).sort(-Animal.age)
    ) == ["joe", "tom"]
    with pytest.raises(AttributeError, match="Animal has no property 'wings'"):
        Person.any_pet.wings


def test_loops_make_instances_of_the_right_classes(db):
    kinds = [Animal, Dog, Puppy, Cat, Crow]
    chance = random.Random(5)
    made = [chance.choice(kinds) for _ in range(3000)]
    with db.write():
        db.add_many(
            Animal,
            [
                {"name": f"n{i}", "type": kind._type_text, **({"weeks": 1} if kind is Puppy else {})}
                for i, kind in enumerate(made)
            ],
        )
    assert [type(obj) for obj in db[Animal]] == made and [type(obj) for obj in reversed(db[Animal])] == made[::-1]
    assert [(type(obj), obj.name) for obj in db[Animal].snapshot()] == [(kind, f"n{i}") for i, kind in enumerate(made)]
    kept = []
    for i, obj in enumerate(db[Animal]):
        assert type(obj) is made[i] and obj.name == f"n{i}" and obj.type == made[i]._type_text
        assert not hasattr(obj, "breed") or isinstance(obj, Dog)
        if i % 500 == 0:
            kept.append((i, obj))
    assert all(type(obj) is made[i] and obj.name == f"n{i}" for i, obj in kept)
    assert [type(obj) for obj in db[Dog]] == [kind for kind in made if issubclass(kind, Dog)]
    with db.write():
        assert [type(obj) for obj in db[Animal]] == made
        for obj in db[Dog]:
            if obj.object_key % 2:
                obj.delete()
    assert [type(obj) for obj in db[Dog]] == [
        kind for i, kind in enumerate(made) if issubclass(kind, Dog) and not i % 2
    ]


def test_a_loop_sees_objects_that_are_made_meanwhile(db):
    with db.write():
        for i in range(5):
            db.add(Dog(name=f"d{i}"))
        seen = []
        for dog in db[Dog]:
            seen.append(dog.name)
            if len(seen) == 3:
                db.add(Cat(name="no"))
                db.add(Puppy(name="yes", weeks=1))
    assert seen == ["d0", "d1", "d2", "d3", "d4", "yes"]


def test_instances(zoo):
    rex, tom = zoo[Dog].first(), zoo[Cat].one()
    assert (
        repr(rex) == "Dog(id=2, name='rex', age=2, friend=None, type='Dog', "
        "breed='lab', toys=<0 values>, collar=None, mother=None)"
    )
    assert (
        isinstance(rex, Animal)
        and not isinstance(rex, Puppy)
        and rex == zoo[Animal].get(2)
        and rex.class_name == "Animal"
    )
    assert "lives" not in dict(rex) and "breed" not in dir(tom) and "lives" in dir(tom) and tom.size is Size.SMALL
    for read in (lambda: tom.breed, lambda: tom["breed"], lambda: next(o for o in zoo[Animal] if o.id == 4)["breed"]):
        with pytest.raises(crealm.NoSuchProperty, match="Cat has no property 'breed'"):
            read()
    with pytest.raises(crealm.NoSuchProperty, match="Cat has no property 'breed'"), zoo.write():
        tom["breed"] = "x"
    with pytest.raises(crealm.NoSuchProperty, match="Cat has no property 'breed'"), zoo.write():
        tom.breed = "x"
    assert zoo.freeze()[Dog].first().breed == "lab" and type(rex.freeze()) is Dog and len(zoo[Dog].freeze()) == 2
    assert zoo.resolve(rex.freeze()) == rex and type(zoo.resolve(zoo[Dog].freeze())[1]) is Puppy


def test_plain_instances(db):
    pip = Puppy(name="pip", weeks=3)
    assert pip.type == "Puppy" and pip.breed == "none" and pip.toys == [] and pip.weeks == 3
    assert repr(pip).startswith("Puppy(name='pip', ") and "type='Puppy'" in repr(pip)
    again = pickle.loads(pickle.dumps(pip))
    assert type(again) is Puppy and again.to_dict() == pip.to_dict() and Puppy(type="Puppy", weeks=1).type == "Puppy"
    with pytest.raises(ZeroDivisionError), db.write():
        db.add(pip)
        assert pip.is_managed and pip.type == "Puppy"
        1 / 0
    assert not pip.is_managed and pip.weeks == 3 and pip.type == "Puppy"
    with db.write():
        assert db.add(pip) is pip
    assert db[Animal].one() == pip


def test_values_that_are_not_given(db):
    with db.write():
        dog = db[Dog].create(name="a", mother={"name": "b"})
        puppy = db.add(Puppy(name="c"))
        puppy.weeks = 1
    assert (dog.breed, dog.collar, list(dog.toys), type(dog.mother)) == (
        "none",
        None,
        [],
        Dog,
    ) and puppy.breed == "none"
    with crealm.open(db.path) as raw:
        rows = {row.name: row for row in raw["Animal"]}
        assert (
            rows["a"].weeks is None
            and rows["a"].lives is None
            and rows["c"].breed == "none"
            and rows["b"].type == "Dog"
        )


def test_collections_and_links(zoo):
    plain, rex, pip, tom, joe = zoo[Animal]
    with zoo.write():
        ann = zoo.add(
            Person(name="Ann", pets=[plain, tom, pip], dogs=[rex], best=pip, cats={tom}, by_name={"r": rex, "n": None})
        )
        ann.dogs.append(pip)
        ann.by_name["p"] = pip
        ann.any_pet, ann.anything = joe, {"list": [tom, rex]}
        ann.pets += [Dog(name="new")]
        rex.mother = pip
        rex.friend = tom
    assert [type(pet) for pet in ann.pets] == [Animal, Cat, Puppy, Dog] and [type(dog) for dog in ann.dogs] == [
        Dog,
        Puppy,
    ]
    assert (
        type(ann.best) is Puppy
        and type(next(iter(ann.cats))) is Cat
        and type(ann.by_name["p"]) is Puppy
        and ann.by_name["n"] is None
    )
    assert type(ann.any_pet) is Crow and [type(one) for one in ann.anything["list"]] == [Cat, Dog]
    assert type(rex.mother) is Puppy and type(rex.friend) is Cat and tom in ann.pets and tom not in ann.dogs
    assert (
        list(plain.owners) == [ann] == list(pip.owners) and list(pip.walkers) == [ann] and not hasattr(rex, "walkers")
    )
    assert names(pip.backlinks(Dog, "mother")) == ["rex"] and names(tom.backlinks(Animal, "friend")) == ["rex"]
    assert names(tom.backlinks(Cat, "friend")) == [] and names(tom.backlinks(Dog, "friend").where("age > 0")) == ["rex"]
    assert type(ann.dogs.where("age > 2")[0]) is Puppy and ann.dogs.sum("age") == 5
    with zoo.write():
        pip.delete()
    assert ann.best is None and names(ann.pets) == ["plain", "tom", "new"] and rex.mother is None


@pytest.mark.parametrize(
    "change",
    [
        lambda ann, tom: setattr(ann, "best", tom),
        lambda ann, tom: ann.dogs.append(tom),
        lambda ann, tom: ann.dogs.extend([tom]),
        lambda ann, tom: ann.dogs.insert(0, tom),
        lambda ann, tom: ann.dogs.__setitem__(0, tom),
        lambda ann, tom: ann.dogs.__setitem__(slice(None), [tom]),
        lambda ann, tom: setattr(ann, "dogs", [tom]),
        lambda ann, tom: ann.by_name.__setitem__("x", tom),
        lambda ann, tom: ann.by_name.update(x=tom),
        lambda ann, tom: setattr(ann, "by_name", {"x": tom}),
        lambda ann, tom: tom._db[Person].update(best=tom),
        lambda ann, tom: tom._db[Person].create(name="Bob", best=tom),
        lambda ann, tom: tom._db.add(Person(name="Bob", dogs=[Cat(name="tim")])),
        lambda ann, tom: tom._db.add_many(Person, [{"name": "Bob", "best": tom}] * 20),
    ],
)
def test_a_link_to_a_subclass_refuses_others(zoo, change):
    with zoo.write():
        ann = zoo.add(Person(name="Ann", dogs=[zoo[Dog].first()]))
    with pytest.raises(crealm.TypeMismatch, match="Needs an object of class Dog, not of Cat"), zoo.write():
        change(ann, zoo[Cat].one())
    assert len(zoo[Person]) == 1 and names(ann.dogs) == ["rex"] and ann.best is None and len(zoo[Animal]) == 5


def test_sets_of_a_subclass(zoo):
    with zoo.write():
        ann = zoo.add(Person(name="Ann"))
        ann.cats.add(zoo[Cat].one())
    with pytest.raises(crealm.TypeMismatch, match="Needs an object of class Cat, not of Dog"), zoo.write():
        ann.cats.add(zoo[Dog].first())
    with pytest.raises(crealm.TypeMismatch, match="Needs an object of class Cat, not of Puppy"), zoo.write():
        ann.cats.update([zoo[Puppy].one()])
    assert names(ann.cats) == ["tom"]


def test_an_object_that_another_program_put_behind_a_link(zoo):
    with zoo.write():
        zoo.add(Person(name="Ann"))
    with crealm.open(zoo.path) as raw, raw.write():
        ann = raw["Person"].one()
        ann.best = raw["Animal"].where("type == 'Felis'").one()
        ann.dogs.append(ann.best)
    zoo.refresh()
    ann = zoo[Person].one()
    assert (
        type(ann.best) is Cat
        and type(ann.dogs[0]) is Cat
        and [type(one) for one in ann.dogs.where("TRUEPREDICATE")] == [Cat]
    )


def test_the_type_never_changes(zoo):
    rex = zoo[Dog].first()
    for change_it in (
        lambda: setattr(rex, "type", "Felis"),
        lambda: rex.__setitem__("type", "Puppy"),
        lambda: setattr(Dog(name="x"), "type", "Puppy"),
        lambda: Dog(name="x", type="Felis"),
        lambda: zoo.set_if_version(rex, 0, type="Puppy") if False else setattr(rex, "type", ""),
    ):
        with pytest.raises(crealm.UsageError, match="Dog.type: an object of class Dog stays one") as error, zoo.write():
            change_it()
        assert "Make an object of the other class" in error.value.hint
    with pytest.raises(crealm.UsageError, match="Animal.type: the class of an object never changes"), zoo.write():
        zoo[Animal].update(type="Dog")
    with zoo.write():
        rex.type = "Dog"  # As it is.
    assert type(zoo[Animal].get(2)) is Dog


def test_rows_name_their_class(zoo):
    with zoo.write():
        assert type(zoo[Animal].create(name="a", type="Puppy", weeks=1)) is Puppy
        assert type(zoo[Dog].create(name="b", type="Puppy", weeks=1)) is Puppy
        assert type(zoo[Animal].create(name="c")) is Animal
        ann = zoo.add(Person(name="Ann"))
        ann.pets = [{"name": "d", "type": "Felis"}, {"name": "e"}]
        ann.best = {"name": "f", "type": "Puppy", "weeks": 2}
        ann.dogs = [{"name": "g"}]
    assert [type(pet) for pet in ann.pets] == [Cat, Animal] and type(ann.best) is Puppy and type(ann.dogs[0]) is Dog
    for model, values, message in (
        (Animal, {"type": "Pupy"}, "'Pupy' is no type of Animal; did you mean 'Puppy'"),
        (Animal, {"type": "Cat"}, "'Cat' is no type of Animal"),
        (Dog, {"type": "Felis"}, "'Felis' is no type of Dog"),
        (Dog, {"type": 3}, "3 is no type of Dog"),
        (Animal, {"breed": "x"}, "Animal has no property 'breed'"),
        (Cat, {"breed": "x"}, "Cat has no property 'breed'"),
        (Dog, {"breed": None}, "Dog.breed: Cannot be None"),
        (Bird, {}, "Bird is abstract: its objects are of subclasses, such as Crow"),
        (Animal, {"type": "Bird"}, "Bird is abstract"),
    ):
        for write in (
            lambda: zoo[model].create(name="x", **values),
            lambda: zoo.add_many(model, [{"name": "x", **values}]),
            lambda: zoo.add_many(model, [{"name": "x", **values}] * 20),
        ):
            with pytest.raises(crealm.Error, match=message), zoo.write():
                write()
    assert len(zoo[Animal]) == 12 and len(zoo[Person]) == 1


def test_many_rows(db):
    rows = [{"name": f"n{i}", "type": ["Dog", "Felis", "Animal"][i % 3]} for i in range(300)]
    for i in range(0, 300, 3):
        rows[i]["toys"] = ["ball"]
    for i in range(1, 300, 3):
        rows[i]["size"] = Size.LARGE
    with db.write():
        assert db.add_many(Animal, rows) == 300
        assert db.add_many(Dog, [{"name": "x"} for _ in range(50)]) == 50
        assert db.add_many(Animal, [kind(name="y") for kind in (Dog, Crow) * 10]) == 20
        assert (
            db.add_many(
                Animal, [("p", "Puppy", 3, None), ("q", "Felis", None, 7)], columns=["name", "type", "weeks", "lives"]
            )
            == 2
        )
        assert db.add_many(Animal, io.StringIO("name,type,lives,breed\nr,Felis,3,\ns,Dog,,lab\n")) == 2
        assert db.add_many(Dog, io.StringIO("name,breed\nt,pug\n")) == 1
    assert [type(obj) for obj in db[Animal]][:3] == [Dog, Cat, Animal] and len(db[Dog]) == 100 + 50 + 10 + 1 + 1 + 1
    assert all(list(dog.toys) == ["ball"] and dog.breed == "none" for dog in db[Dog].limit(100))
    assert all(cat.size is Size.LARGE and cat.lives == 9 for cat in db[Cat].limit(100))
    assert [dog.breed for dog in db[Dog].where("name IN {'s', 't'}")] == ["lab", "pug"] and db[Animal].where(
        "name == 'r'"
    ).one().lives == 3


def test_updates_by_primary_key(zoo):
    with zoo.write():
        zoo.add(Dog(id=3, name="pup", breed="mix"), update="all")
    pip = zoo[Animal].get(3)
    assert (type(pip), pip.name, pip.breed, pip.weeks) == (Puppy, "pup", "mix", 8)
    with zoo.write():
        zoo.add(Dog(id=3, breed="x"), update="modified")
        assert zoo.add_many(Animal, [{"id": 4, "type": "Felis", "lives": 2}] * 10, update="modified") == 10
        assert zoo.add_many(Animal, [{"id": 90 + i, "name": "n", "type": "Dog"} for i in range(10)], update="all") == 10
    assert pip.name == "pup" and pip.breed == "x" and zoo[Cat].one().lives == 2 and len(zoo[Dog]) == 12
    for update in ("modified", "all"):
        for write in (
            lambda: zoo.add(Dog(id=4, name="no"), update=update),
            lambda: zoo.add_many(Dog, [{"id": 4, "name": "no"}] * 10, update=update),
        ):
            with pytest.raises(crealm.DuplicateKeyError, match="The Animal that exists already is no Dog"), zoo.write():
                write()
    with pytest.raises(crealm.DuplicateKeyError), zoo.write():
        zoo.add(Dog(id=200, name="a"), update="all")
        zoo.add(Cat(id=200, name="b"), update="all")
    assert zoo[Cat].one().name == "tom"


def test_dictionaries_and_json(zoo):
    for obj in zoo[Animal]:
        plain = obj.to_dict()
        assert plain["type"] == type(obj)._type_text and json.loads(obj.to_json())["type"] == plain["type"]
        again = Animal.from_dict(plain)
        assert type(again) is type(obj) and again.to_dict() == plain
    assert type(Dog.from_dict({"name": "x"})) is Dog and type(Dog.from_dict({"name": "x", "type": "Puppy"})) is Puppy
    with pytest.raises(crealm.DataError, match="'Felis' is no type of Dog"):
        Dog.from_dict({"name": "x", "type": "Felis"})
    ann = Person.from_dict({"name": "Ann", "pets": [{"name": "x", "type": "Felis"}], "best": {"name": "y"}})
    assert type(ann.pets[0]) is Cat and type(ann.best) is Dog
    assert [row["name"] for row in zoo[Dog].to_dicts()] == ["rex", "pip"] and "lives" not in zoo[Dog].to_dicts()[0]
    assert (
        "<th>breed" in zoo[Dog]._repr_html_()
        and "lives" not in zoo[Dog]._repr_html_()
        and "tom" in zoo[Animal]._repr_html_()
    )


def test_columns(zoo):
    pytest.importorskip("pyarrow")
    own = ["id", "name", "age", "friend", "type", "breed", "toys", "collar", "mother"]
    assert sorted(zoo[Dog].to_arrow().column_names) == sorted(own)
    assert zoo[Dog].to_arrow().schema == zoo[Dog].where("age > 0").to_arrow().schema
    assert sorted(zoo[Animal].to_arrow().column_names) == sorted(
        [*own, "weeks", "chip", "lives", "size", "song", "clever"]
    )
    assert zoo[Dog].select("name", "breed").__arrow_c_schema__() and zoo[Dog].to_arrow("name").column_names == ["name"]
    assert sorted(zoo[Dog].select().__arrow_c_stream__.__self__._columns) == sorted(own)
    assert zoo[Dog].column("breed").to_list() == ["lab", "none"] and zoo[Animal].column("lives").to_list() == [
        None,
        None,
        None,
        9,
        None,
    ]
    assert zoo[Cat].column("size").to_list() == [Size.SMALL] and zoo[Animal].column("size").to_list()[3] is Size.SMALL


def test_frames(zoo, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame, dogs = zoo[Animal].to_pandas(), zoo[Dog].to_pandas("name", "breed", "age")
    assert list(frame["type"]) == ["Animal", "Dog", "Puppy", "Felis", "Crow"] and list(dogs["breed"]) == ["lab", "none"]
    with crealm.memory(schema=[Animal]) as other:
        with other.write():
            assert other.add_many(Animal, frame.drop(columns=["friend", "mother"])) == 5
        assert [(type(o), o.name, o.age) for o in other[Animal]] == [(type(o), o.name, o.age) for o in zoo[Animal]]
        with other.write():
            assert (
                other.add_many(Dog, dogs) == 2
                and other.add_many(Puppy, pandas.DataFrame({"name": ["u", "v"], "weeks": [1, 2]})) == 2
            )
        assert [(type(o), o.name, o.breed) for o in other[Dog]][2:] == [
            (Dog, "rex", "lab"), (Dog, "pip", "none"), (Puppy, "u", ""), (Puppy, "v", "")
        ]  # fmt: skip
        for rows in (dogs.assign(breed=[None, "x"]), pandas.DataFrame({"name": ["a"], "breed": [None]})):
            with pytest.raises(crealm.ConstraintError, match="Dog.breed: Cannot be None"), other.write():
                other.add_many(Dog, rows)
        with pytest.raises(crealm.UsageError, match="Bird is abstract"), other.write():
            other.add_many(Bird, dogs[["name"]])
        with pytest.raises(crealm.NotSupportedError, match="columns cannot change its objects"), other.write():
            other.add_many(Dog, dogs, update="all")
    polars = pytest.importorskip("polars")
    with crealm.memory(schema=[Animal]) as other, other.write():
        assert other.add_many(Cat, polars.DataFrame({"name": ["a", "b"], "lives": [1, 2]})) == 2
        assert other.add_many(Dog, polars.DataFrame({"name": ["a", "b", "c"]})[1:]) == 2 and names(other[Dog]) == [
            "b",
            "c",
        ]


def test_observers(zoo):
    seen = []
    with zoo[Dog].observe(lambda change: seen.append((tuple(change.insertions), tuple(change.deletions)))):
        with zoo.write():
            pass
        with zoo.write():
            zoo.add(Cat(name="no"))
            zoo.add(Puppy(name="yes", weeks=1))
        with zoo.write():
            zoo[Dog].first().delete()
        zoo.refresh()
    assert [one for one in seen if one != ((), ())] == [((2,), ()), ((), (0,))]


def test_writes_on_subtables(zoo):
    with zoo.write():
        assert zoo[Dog].update(age=50) == 2 and zoo[Dog].where("name == 'pip'").update(breed="pug") == 1
        zoo[Puppy].delete_all()
    assert [animal.age for animal in zoo[Animal]] == [1, 50, 4, 5] and names(zoo[Dog]) == ["rex"]
    with zoo.write():
        zoo[Bird].delete_all()
        zoo[Dog].delete_all()
    assert names(zoo[Animal]) == ["plain", "tom"]


def test_savepoints_and_threads(zoo):
    with zoo.write():
        with zoo.savepoint() as point:
            new = zoo.add(Dog(name="new"))
            point.rollback()
        assert not new.is_managed and new.type == "Dog"
    found = []

    def read():
        found.extend(type(obj) for obj in zoo.local[Animal])

    thread = threading.Thread(target=read)
    thread.start()
    thread.join()
    assert found == [Animal, Dog, Puppy, Cat, Crow]


@pytest.mark.parametrize("mode", ["r", "immutable", "snapshot"])
def test_reading_modes(zoo, mode):
    path = zoo.path
    zoo.close()
    with crealm.open(path, schema=[Person], mode=mode) as db:
        assert [type(obj) for obj in db[Animal]] == [Animal, Dog, Puppy, Cat, Crow] and names(db[Dog]) == ["rex", "pip"]
        with pytest.raises(crealm.ReadOnlyError):
            db[Dog].create(name="x")


def test_a_type_that_nobody_declared(zoo):
    for text in ("Hound", "", "Bird", "animal"):
        with crealm.open(zoo.path) as raw, broken(raw, f"is '{text}', which is no class"), raw.write():
            raw["Animal"].create(name="a", type=text)
    with crealm.open(zoo.path) as raw, broken(raw, "is 'Cat', which is no class"), raw.write():
        raw["Animal"].where("name == 'rex'").one().type = "Cat"


def other_program(*more):
    """The classes of a program that declares Animal, Dog and others: dog breeds by the classes above them."""
    base = make("Animal", (crealm.Model,), of={"name": str}, Meta={"type_property": "type"})
    breed = crealm.field(min_length=1, default="b")
    known = {"Animal": base, "Dog": make("Dog", (base,), of={"breed": str}, breed=breed)}
    for name, above in more:
        known[name] = make(
            name, (known[above],), of={f"n_{name}": int}, **{f"n_{name}": crealm.field(min=1, default=1)}
        )
    return known


def test_programs_that_know_different_classes(path):
    one = other_program(("Hound", "Dog"), ("Beagle", "Hound"), ("Cat", "Animal"))
    two = other_program(("Pug", "Dog"))
    with crealm.open(path, schema=[one["Dog"]]) as db, db.write():
        for model in one.values():
            db.add(model(name=model.__name__))
    with crealm.open(path, schema=[two["Dog"]]) as db:
        found = {obj.name: type(obj) for obj in db[two["Animal"]]}
        dog = two["Dog"]
        assert found == {"Animal": two["Animal"], "Dog": dog, "Hound": dog, "Beagle": dog, "Cat": two["Animal"]}
        assert sorted(names(db[dog])) == ["Beagle", "Dog", "Hound"] and names(db[two["Pug"]]) == []
        beagle = db[dog].where("name == 'Beagle'").one()
        assert beagle in db[dog] and beagle.type == "Beagle" and not hasattr(beagle, "n_Beagle")
        with db.write():
            beagle.breed = "changed"
            db.add(two["Pug"](name="pug"))
        with broken(db, "Beagle: breed.min_length"), db.write():  # A check that this program did not declare.
            beagle.breed = ""
        with crealm.open(path, schema=[one["Animal"]]) as other:
            assert type(other[one["Animal"]].last()) is one["Dog"] and names(other[one["Dog"]])[-1] == "pug"
            with broken(other, "Pug: n_Pug.min"), crealm.open(path) as raw, raw.write():
                raw["Animal"].where("type == 'Pug'").one().n_Pug = 0
            rules = other.rules("Animal")
    with crealm.open(path, schema=[two["Dog"]]) as db:
        assert db.rules("Animal") == rules and len(rules["subclasses"]["classes"]) == 5
        checks = {check["name"] for check in rules["checks"]}
        assert checks == {
            *(f"{name}: breed.min_length" for name in ("Dog", "Hound", "Beagle", "Pug")),
            *("Hound: n_Hound.min", "Beagle: n_Hound.min", "Beagle: n_Beagle.min", "Cat: n_Cat.min", "Pug: n_Pug.min"),
        }


def test_an_open_database_learns_of_new_types(path):
    one, two = other_program(), other_program(("Pug", "Dog"))
    with crealm.open(path, schema=[one["Dog"]]) as db:
        assert len(db[one["Dog"]]) == 0
        with crealm.open(path, schema=[two["Dog"]]) as other, other.write():
            other.add(two["Pug"](name="pug"))
        db.refresh()
        assert type(db[one["Animal"]].one()) is one["Dog"] and names(db[one["Dog"]]) == ["pug"]


def test_a_program_without_models_sees_one_class(zoo):
    with crealm.open(zoo.path) as raw:
        assert [row.type for row in raw["Animal"]] == ["Animal", "Dog", "Puppy", "Felis", "Crow"]
        assert raw["Animal"].where("type == 'Puppy'").one().weeks == 8


# ------------------------------------------------------------------------------------------------
# Rules
# ------------------------------------------------------------------------------------------------


def broken(db, message):
    """A write that fails because an object breaks a rule."""
    return pytest.raises(crealm.RuleBroken, match=message)


def test_checks_of_a_subclass(zoo):
    conditions = {check["name"]: check["condition"] for check in zoo.rules(Animal)["checks"]}
    assert conditions == {
        "name.min_length": "name.@size >= 1",
        "Dog: breed.max_length": "(NOT type == 'Dog') OR (breed.@size <= 20)",
        "Dog: old enough": "(NOT type == 'Dog') OR (age == NULL OR age >= 0)",
        "Puppy: breed.max_length": "(NOT type == 'Puppy') OR (breed.@size <= 20)",
        "Puppy: old enough": "(NOT type == 'Puppy') OR (age == NULL OR age >= 0)",
        "Puppy: weeks.min": "(NOT type == 'Puppy') OR (weeks >= 1)",
        "Felis: lives.max": "(NOT type == 'Felis') OR (lives <= 9)",
    }
    assert zoo.rules(Dog) == zoo.rules(Animal)
    with broken(zoo, "weeks.min"), zoo.write():
        zoo[Puppy].one().weeks = 0
    with broken(zoo, "lives.max"), zoo.write():
        zoo.add(Cat(name="x", lives=10))
    with broken(zoo, "breed.max_length"), zoo.write():
        zoo[Puppy].one().breed = "b" * 21
    with broken(zoo, "old enough"), zoo.write():
        zoo[Dog].first().age = -1
    with zoo.write():
        zoo[Cat].one().age = -1
    with broken(zoo, "name.min_length"), zoo.write():
        zoo.add(Crow(name=""))


def test_unique_values_of_a_subclass(db):
    with db.write():
        db.add_many(Animal, [{"name": "n", "type": kind, **extra} for kind, extra in [("Dog", {}), ("Felis", {})] * 2])
        db.add(Puppy(name="a", weeks=1, chip="1"))
        db.add(Puppy(name="b", weeks=1))
        db.add(Puppy(name="c", weeks=1))
    assert db.find_unique(Puppy, chip="1").name == "a" and db.find_unique(Animal, chip="1").name == "a"
    with broken(db, "chip"), db.write():
        db.add(Puppy(name="d", weeks=1, chip="1"))
    with db.write():
        db.add(Puppy(name="d", weeks=2, chip="1"), update="modified", by=("chip",))
    assert db[Puppy].where("chip == '1'").one().name == "d"


class Shape(crealm.Model):
    name: str
    size: int = crealm.field(min=0)

    class Meta:
        type_property = "kind"
        unique = ["name"]
        abstract = True


class Round(Shape):
    size: int = crealm.field(min=5)
    label: str = crealm.field(min_length=1, default="r")
    radius: float = 1.0

    class Meta(Shape.Meta):
        checks = ["size <= 90"]
        unique = [("radius", "size")]


class Square(Shape):
    size: int = crealm.field(max=50)
    label: str = crealm.field(min_length=2, default="sq")

    class Meta(Shape.Meta):
        checks = ["size <= 90"]


def test_rules_of_several_classes_with_one_property():
    with crealm.memory(schema=[Shape]) as db:
        rules = db.rules(Shape)
        assert [check.get("name") for check in rules["checks"]] == [
            "size.min",
            "Round: size.min",
            "Round: label.min_length",
            "Round: size <= 90",
            "Square: size.max",
            "Square: label.min_length",
            "Square: size <= 90",
        ]
        assert [unique["properties"] for unique in rules["unique"]] == [["name"], ["radius", "size"]]
        with db.write():
            db.add(Round(name="a", size=60))
            db.add(Square(name="b", size=4))
        for shape, rule in (
            (Round(name="c", size=4), "Round: size.min"),
            (Square(name="c", size=60), "Square: size.max"),
            (Square(name="c", size=-1), "size.min"),
            (Square(name="c", size=1, label="s"), "Square: label.min_length"),
            (Round(name="c", size=91), "Round: size <= 90"),
        ):
            with broken(db, f"Check '{rule}'"), db.write():
                db.add(shape)
        with pytest.raises(TypeError, match="Shape is abstract: its objects are of subclasses, such as Round"):
            Shape(name="d")


def test_rules_of_links_in_subclasses():
    class Part(crealm.Model):
        name: str

    class Thing(crealm.Model):
        class Meta:
            type_property = "type"

    class Machine(Thing):
        parts: List[Part] = crealm.field(on_delete="cascade")
        maker: Optional[Part] = crealm.field(on_target_delete="deny", required=True, default=None)

    class Tool(Thing):
        pass

    with crealm.memory(schema=[Machine]) as db:
        with db.write():
            maker = db.add(Part(name="maker"))
            machine = db.add(Machine(parts=[Part(name="a")], maker=maker))
            db.add(Tool())
        with pytest.raises(crealm.RuleBroken), db.write():
            maker.delete()
        with pytest.raises(crealm.RuleBroken, match="maker.required"), db.write():
            db.add(Machine())
        with db.write():
            machine.delete()
        assert names(db[Part]) == ["maker"]


def test_a_primary_key_of_several_properties():
    class Item(crealm.Model):
        shop: str
        number: int

        class Meta:
            type_property = "type"
            primary_key = ("shop", "number")

    class Book(Item):
        title: str

        class Meta:
            type_name = "book"

    class Toy(Item):
        pass

    with crealm.memory(schema=[Item]) as db:
        with db.write():
            db.add(Book(shop="s", number=1, title="a"))
            db.add(Book(shop="s", number=1, title="b"), update="all")
        assert db[Item].get(("s", 1)).title == "b" and db[Toy].get(("s", 1)) is None
        with pytest.raises(crealm.DuplicateKeyError), db.write():
            db.add(Toy(shop="s", number=1), update="all")


# ------------------------------------------------------------------------------------------------
# Declarations
# ------------------------------------------------------------------------------------------------


def declared(*schema):
    return models.declare(schema)


def test_without_type_property_each_class_has_its_own():
    class Plain(crealm.Model):
        name: str

    class More(Plain):
        size: int

    with crealm.memory(schema=[Plain, More]) as db:
        assert db.classes == ["More", "Plain"] and type(db[More]) is crealm.Table
        with db.write():
            db.add(More(name="a", size=1))
        assert len(db[Plain]) == 0


def test_a_declared_type_property():
    class Base(crealm.Model):
        kind: str = crealm.field(name="k", default="")
        text: str

        class Meta:
            type_property = "kind"
            name = "Stored"

    class Sub(Base):
        class Meta:
            type_name = "it's"

    with crealm.memory(schema=[Sub]) as db:
        assert (
            not db.schema["Stored"].properties["k"].indexed
        )  # A declared property says itself whether it has an index.
        with db.write():
            db.add_many(Base, [{"text": "a"}, {"text": "b", "kind": "it's"}, {"text": "c", "k": "it's"}] * 5)
            db.add(Sub(text="d"))
        assert [(type(o), o.kind) for o in db[Base]][:3] == [(Base, "Stored"), (Sub, "it's"), (Sub, "it's")]
        assert len(db[Sub]) == 11 and db[Base].where(Base.kind == "it's").count() == 11


def test_an_inherited_type_property():
    class Named(crealm.Model):
        sort: Annotated[str, crealm.field(name="s")]

    class Base(Named):
        class Meta:
            type_property = "sort"

    class Sub(Base):
        pass

    with crealm.memory(schema=[Base, Named]) as db:
        assert list(db.schema["Base"].properties) == ["s"] and not db.schema["Named"].properties["s"].indexed
        with db.write():
            db.add(Named(sort="free"))
            assert type(db.add(Sub())) is Sub
        assert db[Sub].one().sort == "Sub" and db[Named].one().sort == "free"


def test_subclasses_that_share_a_property():
    class Base(crealm.Model):
        class Meta:
            type_property = "type"

    class One(Base):
        tag: str
        many: List[int]

    class Two(Base):
        tag: Optional[str] = crealm.field(index=True)
        many: List[int]

    with crealm.memory(schema=[Base]) as db:
        assert db.schema["Base"].properties["tag"].indexed
        with db.write():
            one, two = db.add(One(many=[1])), db.add(Two(many=[2]))
        assert (one.tag, two.tag) == ("", None) and db[Base].where("tag == NULL").one() == two
        with pytest.raises(crealm.ConstraintError, match="One.tag: Cannot be None"), db.write():
            one.tag = None


def test_classes_that_are_declared_again():
    class Base(crealm.Model):
        class Meta:
            type_property = "type"

    def declare(**annotations):
        return type("Sub", (Base,), {"__module__": "notebook", "__qualname__": "Sub", "__annotations__": annotations})

    old = declare(a=int)
    with crealm.memory(schema=[Base]) as db:
        assert "a" in db.schema["Base"].properties and old in db
    new = declare(b=int)
    with crealm.memory(schema=[Base]) as db:
        assert new in db and old not in db and "a" not in db.schema["Base"].properties
        with pytest.raises(crealm.NoSuchClass, match="Sub is not in the schema"):
            db[old]
    with crealm.memory(schema=[old]) as db:
        assert old in db
    below = type("Below", (old,), {"__module__": "notebook"})
    type("Below2", (below,), {"__module__": "notebook"})
    with crealm.memory(schema=[Base]) as db:
        assert below not in db and list(db.rules(Base)["subclasses"]["classes"]) == ["Sub"]
    late = type("Late", (Base,), {"__module__": "notebook"})
    with crealm.memory(schema=[Base]) as db:
        assert late in db and new in db
    del old


def test_a_class_that_is_declared_after_the_opening(path):
    base = base_class()
    with crealm.open(path, schema=[base]) as early:
        fish = make("Fish", (base,), of={"water": str})
        assert fish not in early
        for use in (lambda: early[fish], lambda: early.add(fish()), lambda: early[base].create(type="Fish")):
            with pytest.raises(crealm.Error, match="Fish"), early.write():
                use()
        with crealm.open(path, schema=[base]) as late, late.write():
            late.add(fish(water="salt"))
        early.refresh()
        assert type(early[base].one()) is base and early[base].one().type == "Fish" and late.is_closed


def make(name, bases, **members):
    meta = members.pop("Meta", {})
    annotations = members.pop("of", {})
    return type(
        name, bases, {"__module__": __name__, "__annotations__": annotations, "Meta": type("Meta", (), meta), **members}
    )


def base_class(**members):
    meta = members.pop("Meta", {})
    return make(
        "Base", (crealm.Model,), Meta={"type_property": "type", **meta}, of=members.pop("of", {"n": int}), **members
    )


def sub(name="Sub", **members):
    return lambda base: make(name, (base,), **members)


ERRORS = [
    (lambda: base_class(Meta={"type_property": 3}), "Base.Meta.type_property is the name of a property, not 3"),
    (lambda: base_class(Meta={"type_property": "in"}), "the query language cannot have a property 'in'"),
    (lambda: base_class(Meta={"type_property": "a b"}), "the query language cannot have a property 'a b'"),
    (lambda: base_class(Meta={"type_property": "delete"}), "Base.delete: the name has a meaning of its own in models"),
    (lambda: base_class(Meta={"type_name": "x"}), "Base.Meta.type_name: the type of a base is its name in the file"),
    (lambda: declared(base_class(of={"type": int})), "Base.type: the type property is a str, not int"),
    (
        lambda: declared(base_class(of={"type": Optional[str]})),
        r"Base.type: the type property is a str, not Optional\[str\]",
    ),
    (lambda: base_class(of={"type": str}, type=crealm.field(unique=True)), "Base.type: the type property has no rules"),
    (lambda: make("E", (crealm.Embedded,), Meta={"type_property": "type"}), "embedded objects have no subclasses"),
    (lambda: make("M", (crealm.Model,), Meta={"abstract": True}), "type_name and abstract are for classes that share"),
    (lambda: make("M", (crealm.Model,), Meta={"type_name": "x"}), "type_name and abstract are for classes that share"),
    (
        lambda: sub(Meta={"type_property": "other"})(base_class()),
        "Sub.Meta.type_property: Base has one for all its subclasses",
    ),
    (lambda: sub(Meta={"name": "X"})(base_class()), "Sub.Meta.name: the objects are in the class Base of the file"),
    (lambda: sub(Meta={"renamed_from": "X"})(base_class()), "Sub.Meta.renamed_from: a type keeps its text"),
    (lambda: sub(Meta={"primary_key": "n"})(base_class()), "Sub.Meta.primary_key: primary keys are declared in Base"),
    (
        lambda: sub(of={"k": int}, k=crealm.field(primary_key=True))(base_class()),
        "Sub.k: primary keys are declared in Base",
    ),
    (lambda: sub(of={"type": str})(base_class()), "Sub.type: the type property is declared in Base"),
    (lambda: sub(Meta={"type_name": ""})(base_class()), "Sub.Meta.type_name is a text"),
    (lambda: sub(Meta={"type_name": 'a"b'})(base_class()), "Sub.Meta.type_name is a text"),
    (
        lambda: sub(of={"k": int}, k=crealm.field(auto=True))(base_class()),
        "Sub.k: auto concerns objects of all classes in Base",
    ),
    (
        lambda: sub(of={"k": int}, k=crealm.field(file_default=3))(base_class()),
        "Sub.k: file_default concerns objects of all classes in Base",
    ),
    (
        lambda: declared(sub(of={"k": int}, k=crealm.field(min="3"))(base_class())),
        "Sub.k: min is a finite number, not '3'",
    ),
    (
        lambda: declared(sub(Meta={"unique": ["n"]})(base_class())),
        r"Sub.Meta.unique: \(n\) would concern objects of other classes",
    ),
    (
        lambda: declared(
            sub(of={"k": int}, Meta={"unique": [{"properties": ["k"], "nulls_equal": True}]})(base_class())
        ),
        r"Sub.Meta.unique: \(k\) would concern objects of other classes",
    ),
    (
        lambda: declared(sub(of={"k": int}, Meta={"unique": ["x"]})(base_class())),
        "Sub.Meta.unique: there is no property 'x'",
    ),
    (lambda: declared(sub(Meta={"checks": [3]})(base_class())), "Sub.Meta.checks: '': 3 is no check"),
    (
        lambda: declared(sub(of={"n": str})(base_class())),
        "Base.n and Sub.n are one property of the file, and have different types: int and str",
    ),
    (
        lambda: declared(sub(of={"n": Optional[int]})(base_class())),
        r"Base.n and Sub.n are one property .*: int and Optional\[int\]",
    ),
]


@pytest.mark.parametrize("make_them, message", ERRORS, ids=range(len(ERRORS)))
def test_wrong_declarations(make_them, message):
    with pytest.raises(crealm.SchemaError, match=message):
        make_them()


@pytest.mark.parametrize(
    "one, other, message",
    [
        (
            {"of": {"k": int}},
            {"of": {"k": str}},
            "A.k and B.k are one property of the file, and have different types: int and str",
        ),
        (
            {"of": {"k": List[int]}},
            {"of": {"k": int}},
            r"A.k and B.k .* different types: list\[int\] and Optional\[int\]|list\[int\] and int",
        ),
        ({"of": {"k": List[int]}}, {"of": {"k": List[Optional[int]]}}, "A.k and B.k .* different types"),
        ({"of": {"k": str}}, {"of": {"k": Size}}, "A.k and B.k .* different types: .*str.* and Size"),
        (
            {"of": {"k": int}, "k": crealm.field(unique=True)},
            {"of": {"k": int}},
            "A.k and B.k are one property of the file, and have different rules",
        ),
        (
            {"of": {"k": int}, "k": crealm.field(name="x")},
            {"of": {"k": int}},
            "A.k and B.k have different names in the file: 'x' and 'k'",
        ),
        (
            {"of": {"k": int}, "k": crealm.field(name="x")},
            {"of": {"x": int}},
            "A.k and B.x have the same name in the file, 'x'",
        ),
        ({"Meta": {"type_name": "t"}}, {"Meta": {"type_name": "t"}}, ".*A and .*B have the same type, 't'"),
        ({}, {"Meta": {"type_name": "Base"}}, ".*Base and .*B have the same type, 'Base'"),
        (
            {"of": {"k": int}, "Meta": {"unique": ["k"]}},
            {"of": {"k": int}},
            r"A.Meta.unique: \(k\) would concern objects of other classes",
        ),
        (
            {"back": crealm.backlinks("Base", "a")},
            {"back": crealm.backlinks("Base", "b")},
            "A.back and B.back list different links",
        ),
    ],
)
def test_subclasses_that_do_not_fit(one, other, message):
    base = base_class(of={"a": Optional["Base"], "b": Optional["Base"]})
    made = [make("A", (base,), **one), make("B", (base,), **other)]
    with pytest.raises(crealm.SchemaError, match=message):
        declared(base)
    del made


def test_two_bases():
    base = base_class()
    a, b = sub("A")(base), sub("B")(base)
    with pytest.raises(crealm.SchemaError, match="Both has two base classes, A and B: an object has one type"):
        make("Both", (a, b))
    with pytest.raises(crealm.SchemaError, match="Both has two base classes"):
        make("Both", (a, base_class()))


def test_a_plain_model_beside_the_base():
    class Tagged(crealm.Model):
        tags: List[str]

    base = base_class()
    mixed = make("Mixed", (base, Tagged), of={"k": int})
    with crealm.memory(schema=[base]) as db, db.write():
        made = db.add(mixed(n=1, tags=["a"], k=2))
        assert list(made.tags) == ["a"] and type(db[base].one()) is mixed and list(db.schema) == ["Base"]


def test_the_text_of_the_rules(zoo):
    rules = zoo.rules(Animal)
    expected = {
        "by": "type",
        "classes": {
            "Dog": {"extends": "Animal", "properties": ["breed", "toys", "collar", "mother"]},
            "Puppy": {"extends": "Dog", "properties": ["weeks", "chip"]},
            "Felis": {"extends": "Animal", "properties": ["lives", "size"]},
            "Bird": {"extends": "Animal", "properties": ["song"], "abstract": True},
            "Crow": {"extends": "Bird", "properties": ["clever"]},
        },
    }
    assert rules["subclasses"] == expected
    with crealm.memory(schema=[Shape]) as db:
        assert db.rules(Shape)["subclasses"]["abstract"] is True


# ------------------------------------------------------------------------------------------------
# Declarations that the command line prints
# ------------------------------------------------------------------------------------------------


def contents(path):
    """The schema and the rules of a file, in a form that does not depend on their order."""
    with crealm.open(path) as db:
        rules = {name: json.loads(json.dumps(db.rules(name))) for name in db.classes}
        for own in rules.values():
            for kind in ("unique", "checks"):
                own[kind].sort(key=repr)
            for one in own.get("subclasses", {}).get("classes", {}).values():
                one["properties"].sort()
        return {name: declared for name, declared in db.schema.items()}, rules


def printed(path):
    """A module with the declarations that `crealm schema` prints."""
    text = quiet(["schema", path])[2]
    module = types.ModuleType("printed")
    exec(text, module.__dict__)
    return module, text


def check_printed(path):
    module, text = printed(path)
    copy = path.parent / "printed.realm"
    crealm.open(copy, schema=module).close()
    assert contents(copy) == contents(path), text
    copy.unlink()
    return text


def test_the_printed_declarations(zoo):
    path = zoo.path
    zoo.close()
    text = check_printed(Path(path))
    for line in (
        "class Dog(Animal):",
        "class Felis(Animal):",
        "class Crow(Bird):",
        "    class Meta(Dog.Meta):",
        "        type_property = 'type'",
    ):
        assert line in text.splitlines(), text
    assert "cannot declare" not in text and text.count("breed.max_length") == 1
    out = quiet(["rules", path])[2]
    assert "  abstract subclass Bird of Animal (song), named in type" in out.splitlines(), out


@pytest.mark.parametrize("seed", range(15))
def test_the_printed_declarations_of_random_families(path, seed):
    zoo = Zoo(random.Random(seed))
    for model in zoo.classes[1:]:  # Rules, some of which replace those of a class above.
        fields = families.own_fields(model)
        meta = {key: value for key, value in vars(model.Meta).items() if key[0] != "_"}
        number = [made.name for made in fields if zoo.kinds[model][made.name] == "int"]
        name = zoo.chance.choice(["a", "b"])
        meta["checks"] = {name: zoo.chance.choice(["id > 0", "(id > 1) AND (id < 9)", "common != 'x'"])}
        if number:
            meta["unique"] = [(number[0], "common")]
            fields[0].rules.update({"min": 3} if fields[0].name == number[0] else {})
        model.Meta = type("Meta", (), meta)
    crealm.open(path, schema=zoo.classes).close()
    assert "cannot declare" not in check_printed(Path(path))


def test_printed_declarations_with_names_that_are_taken(path):
    base = make(
        "Animal",
        (crealm.Model,),
        of={"class_name_": str, "kind": str},
        Meta={"type_property": "kind", "abstract": True},
    )
    dog = make("Dog", (base,), of={"n": int}, Meta={"type_name": "my dog's"})
    make("Person", (base,), of={"m": int})
    other = make("Person", (crealm.Model,), of={"best": Optional[dog]})
    crealm.open(path, schema=[base, other]).close()
    text = check_printed(Path(path))
    assert 'type_name = "my dog\'s"' in text and "class Person_(Animal):" in text and "abstract = True" in text


# ------------------------------------------------------------------------------------------------
# Migrations
# ------------------------------------------------------------------------------------------------


def test_classes_of_their_own_become_a_family(path):
    """The recipe of docs/python/base-classes.md, with more objects."""
    before = [
        crealm.ClassSchema("Animal", {"name": str}),
        crealm.ClassSchema("Dog", {"name": str, "breed": str}),
        crealm.ClassSchema("Owner", {"name": str, "dog": "Dog", "dogs": List["Dog"]}),
    ]
    with crealm.open(path, schema=before, schema_version=1) as db, db.write():
        db["Animal"].create(name="plain")
        dogs = [db["Dog"].create(name=f"d{i}", breed=f"b{i}") for i in range(20)]
        db["Owner"].create(name="Ann", dog=dogs[3], dogs=dogs[5:8])
        db["Owner"].create(name="Bob")

    base = make("Animal", (crealm.Model,), of={"name": str}, Meta={"type_property": "type"})
    dog = make("Dog", (base,), of={"breed": str})
    owner = make("Owner", (crealm.Model,), of={"name": str, "dog": Optional[dog], "dogs": List[dog]})

    def migrate(old, new, from_version):
        moved = {}
        for dog in old["Dog"]:
            moved[dog.object_key] = new["Animal"].create(type="Dog", name=dog.name, breed=dog.breed)
        for before, after in new.pairs("Owner"):
            after.dog = before.dog and moved[before.dog.object_key]
            after.dogs = [moved[dog.object_key] for dog in before.dogs]
        new.remove_class("Dog")

    with crealm.open(path, schema=[owner], schema_version=2, migrate=migrate) as db:
        assert "Dog" not in db.classes and [type(o) for o in db[base]] == [base] + [dog] * 20
        ann, bob = db[owner]
        assert (
            ann.dog.breed == "b3" and type(ann.dog) is dog and names(ann.dogs) == ["d5", "d6", "d7"] and bob.dog is None
        )
        assert [o.breed for o in db[dog]] == [f"b{i}" for i in range(20)]


def test_objects_from_before_are_of_the_base(path):
    with crealm.open(path, schema=[crealm.ClassSchema("Animal", {"name": str})]) as db, db.write():
        db["Animal"].create(name="old")
    abstract = make("Animal", (crealm.Model,), of={"name": str}, Meta={"type_property": "type", "abstract": True})
    with pytest.raises(crealm.RuleBroken, match="is '', which is no class that an object can be of"):
        crealm.open(path, schema=[abstract])
    base = make("Animal", (crealm.Model,), of={"name": str}, Meta={"type_property": "type"})
    with crealm.open(path, schema=[base]) as db:
        assert [(type(obj), obj.type) for obj in db[base]] == [(base, "Animal")]
    with crealm.open(path) as raw:
        assert raw["Animal"].one().type == "Animal"


def test_a_file_is_not_converted_by_itself(path):
    with crealm.open(path, schema=[crealm.ClassSchema("Dog", {"name": str, "breed": str})]) as db, db.write():
        db["Dog"].create(name="old", breed="b")
    base = make("Animal", (crealm.Model,), of={"name": str}, Meta={"type_property": "type"})
    dog = make("Dog", (base,), of={"breed": str})
    with crealm.open(path, schema=[base]) as db:
        assert len(db[dog]) == 0 and db.classes == ["Animal"]
    with crealm.open(path) as db:
        assert len(db["Dog"]) == 1


def test_a_family_has_one_expression_of_a_name():
    base = base_class()
    sub(of={"p": int}, c=crealm.computed("p + 1"))(base)
    type("Other", (base,), {"__annotations__": {"q": int}, "__module__": __name__, "c": crealm.computed("q * 100")})
    with pytest.raises(crealm.SchemaError, match="one expression"):
        crealm.memory(schema=[base]).close()


def test_rows_and_updates_of_sisters():
    base = base_class()
    one = sub(of={"p": int})(base)
    other = type("Other", (base,), {"__annotations__": {"q": int}, "__module__": __name__})
    with crealm.memory(schema=[base]) as db:
        with db.write():
            made = db.add(one(p=1))
            with pytest.raises(TypeError, match="Other"):
                db.add_many(one, [other(q=1)])
            for values in ({"q": 3}, {"p": None}):
                with pytest.raises(crealm.NoSuchProperty):
                    db[base].update(**values)
            assert db[one].update(p=5) == 1 and made.p == 5
