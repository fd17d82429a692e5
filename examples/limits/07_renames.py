"""Renames that keep objects and links.

Before: migrations of Realm rename properties, and only those of Realm for Java also classes. Elsewhere a program keeps
the old name in the file, or copies the objects into a new class and sets every link to them again. Each rename needs a
new schema version and a migration function.
Now: a class says how it and its properties were called. Opening renames them; objects, keys and links stay.
"""

import tempfile
from typing import Optional

import crealm


class Beast(crealm.Model):
    title: str = crealm.field(primary_key=True)
    mother: Optional["Beast"] = None


class Animal(crealm.Model):
    name: str = crealm.field(primary_key=True, renamed_from="title")
    mother: Optional["Animal"] = None

    class Meta:
        renamed_from = "Beast"


with tempfile.TemporaryDirectory() as folder:
    file = f"{folder}/farm.realm"
    with crealm.open(file, schema=[Beast]) as db, db.write():
        young = db.add(Beast(title="Young", mother=Beast(title="Old")))
        key = young.object_key
    with crealm.open(file, schema=[Animal]) as new:
        animal = new[Animal].get("Young")
        assert animal is not None and animal.mother is not None
        assert animal.object_key == key and new.classes == ["Animal"]
        print(f"{animal.class_name} {animal.name} has the mother {animal.mother.name}")
