"""A change only if nobody else made one.

Before: Realm has no revision of an object. A program that shows an object for some minutes, and then writes it, cannot
see that somebody changed it meanwhile: the last write wins.
Now: the file counts the commits that change an object, and a program writes it only in the state that it has read.
"""

import tempfile

import crealm


class Article(crealm.Model):
    text: str
    revision: int = crealm.field(revision=True)


def save(db: crealm.Database, article: Article, seen: int, text: str) -> bool:
    with db.write():
        return db.set_if_version(article, seen, text=text)


with tempfile.TemporaryDirectory() as folder:
    with crealm.open(f"{folder}/notes.realm", schema=[Article]) as db, crealm.open(db.path, schema=[Article]) as other:
        with db.write():
            article = db[Article].create(text="draft")
        seen = article.revision
        with other.write():
            other[Article][0].text = "draft, corrected by somebody else"
        print(f"read at revision {seen}, saved:", save(db, article, seen, "mine"))
        print(f"now revision {article.revision}: {article.text}")
        print(f"read at revision {article.revision}, saved:", save(db, article, article.revision, "both"))
        assert (article.text, article.revision) == ("both", 3)
