"""A class and its subclasses.

Before: a model that inherits from another one is a class of its own. No query, list or link holds objects of both.
Now: the classes of a family are one class of the file. `db[Animal]` has all objects, each of its own Python class.
"""

import tempfile
from typing import List

import crealm


class Animal(crealm.Model):
    name: str

    class Meta:
        type_property = "type"


class Dog(Animal):
    breed: str


class Cat(Animal):
    lives: int = 9


class Person(crealm.Model):
    pets: List[Animal]


with tempfile.TemporaryDirectory() as folder, crealm.open(f"{folder}/pets.realm", schema=[Animal, Person]) as db:
    with db.write():
        ann = db.add(Person(pets=[Dog(name="Rex", breed="boxer"), Cat(name="Tom"), Animal(name="Nemo")]))
    print([type(pet).__name__ for pet in ann.pets])
    print("dogs:", [dog.breed for dog in db[Dog]], "of", len(db[Animal]), "animals")
    print("with lives:", [cat.name for cat in db[Animal].where("lives > 3")])
    assert isinstance(ann.pets[1], Cat) and db[Animal].where("type == 'Dog'").count() == 1
