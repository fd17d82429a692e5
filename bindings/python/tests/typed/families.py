"""Base classes and what type checkers say of them: `E:` names the errors that belong to a line, every other line is right.

This program runs, too: what the checkers promise is what there is."""

from typing import List, Optional

import crealm


class Animal(crealm.Model):
    name: crealm.Field[str]
    type: str = ""
    friend: Optional["Animal"] = None
    owners: crealm.Backlinks["Person"] = crealm.backlinks("Person", "pets")

    class Meta:
        type_property = "type"


class Dog(Animal):
    breed: str = ""

    class Meta(Animal.Meta):
        type_name = "dog"


class Puppy(Dog):
    weeks: crealm.Field[int]


class Cat(Animal):
    lives: crealm.Field[int] = crealm.field(default=9)


class Person(crealm.Model):
    name: str
    pets: crealm.List[Animal] = crealm.field(default_factory=list)
    best: Optional[Dog] = None


def use(db: crealm.Database) -> None:
    dogs: crealm.Table[Dog] = db[Dog]
    with db.write():
        rex: Dog = db.add(Dog(name="Rex", breed="lab"))
        pip = db[Puppy].create(name="Pip", weeks=3)
        ann = db.add(Person(name="Ann", pets=[rex, pip, Cat(name="Tom")], best=pip))
        ann.best = rex
        ann.pets.append(rex)
    found: crealm.Results[Dog] = dogs.where(Puppy.weeks > 2)
    one: Dog = found.one()
    some: Optional[Cat] = db[Cat].where(Cat.name == "Tom").first()
    weeks: List[int] = [animal.weeks for animal in db[Animal] if isinstance(animal, Puppy)]
    pet: Animal = ann.pets[0]
    assert one == pip and some is not None and some.lives == 9 and weeks == [3] and pet.type == "dog"
    assert isinstance(one, Puppy) and one.weeks == 3 and pet == rex and list(pip.owners) == [ann]


def wrong(db: crealm.Database, person: Person, cat: Cat, animal: Animal) -> None:
    person.best = cat  # E: assignment reportAttributeAccessIssue
    animal.breed  # E: attr-defined reportAttributeAccessIssue
    Puppy(name="Pip")  # E: call-arg reportCallIssue
    dog: Dog = db[Animal][0]  # E: assignment reportAssignmentType


if __name__ == "__main__":
    with crealm.memory(schema=[Person]) as memory:
        use(memory)
