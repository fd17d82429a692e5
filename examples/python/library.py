"""A lending library: classes declared in Python, lists, embedded objects, and a migration.

    python library.py [library.realm]

The file is first written as version 1 of the program did, then opened with the classes of today."""

import os
import sys
import tempfile
from datetime import datetime, timezone
from typing import Any, Optional

import crealm


class Author(crealm.Model):
    name: str = crealm.field(primary_key=True)
    books: crealm.Backlinks["Book"] = crealm.backlinks("Book", "authors")


class Loan(crealm.Embedded):  # Part of a book: it is deleted with its book.
    reader: str
    since: datetime


class Book(crealm.Model):
    isbn: str = crealm.field(primary_key=True)
    title: str = crealm.field(index=True)
    authors: crealm.List[Author]
    tags: crealm.SetView[str] = crealm.field(default_factory=set)
    facts: crealm.Dictionary[Any] = crealm.field(default_factory=dict)
    loan: Optional[Loan] = None
    history: crealm.List[Loan] = crealm.field(default_factory=list)


VERSION_1 = [crealm.ClassSchema("Book", {"isbn": str, "name": str, "author": str}, primary_key="isbn")]


def migrate(old: crealm.Database, new: crealm.Migration, from_version: int) -> None:
    print(f"migrating from version {from_version}")
    new.rename_property("Book", "name", "title")
    for before, after in new.pairs("Book"):
        author = new["Author"].get(before.author) or new["Author"].create(before.author)
        after.authors.append(author)
    new.remove_property("Book", "author")


def main(path: str) -> None:
    with crealm.open(path, schema=VERSION_1, schema_version=1) as db, db.write():
        db["Book"].create("1", name="Solaris", author="Lem")
        db["Book"].create("2", name="Eden", author="Lem")

    with crealm.open(path, schema=[Author, Book], schema_version=2, migrate=migrate) as db:
        with db.write():
            db.add(Book(isbn="3", title="Roadside", authors=[Author(name="Arkady"), Author(name="Boris")]))
            solaris = db[Book].where(Book.title == "Solaris").one()
            solaris.facts = {"pages": 204, "films": [1968, 1972, {"year": 2002, "by": "Soderbergh"}]}
            solaris.loan = Loan(reader="Ann", since=datetime(2024, 5, 1, tzinfo=timezone.utc))
        with db.write():  # Readers bring their books back.
            solaris.tags |= {"classic", "ocean"}
            for book in db[Book]:
                if book.loan is not None:
                    book.history.append(book.loan)
                    book.loan = None
        for book in db[Book]:
            print(f"{book.isbn}  {book.title:8} by {' and '.join(author.name for author in book.authors)}")
        print("Lem wrote", ", ".join(book.title for book in db[Author].where(Author.name == "Lem").one().books), solaris.to_json())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(folder, "library.realm"))
