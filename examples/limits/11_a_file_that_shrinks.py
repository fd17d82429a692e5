"""A file that becomes shorter while programs use it.

Before: a Realm file keeps its length when objects are deleted. Compaction writes a new file: as a copy, or when a
program opens the file and nobody else has it open.
Now: db.shrink() makes the file shorter beside readers and writers, and commits do so by themselves: when more than half
of a file over 1 MB is free, or as `shrinking` says.
"""

import os
import tempfile

import crealm


class Photo(crealm.Model):
    data: bytes


with tempfile.TemporaryDirectory() as folder:
    file = f"{folder}/photos.realm"
    for name, shrinking in {"never by itself": (0, 100), "at 30 percent": (100_000, 30)}.items():
        with crealm.open(file, schema=[Photo], shrinking=shrinking) as db, crealm.open(file, schema=[Photo]) as reader:
            with db.write():
                db.add_many(Photo, [Photo(data=bytes(1000)) for _ in range(4000)])
            full = os.path.getsize(file)
            with db.write():
                db[Photo].where("TRUEPREDICATE LIMIT(3900)").delete_all()
            for number in range(60):  # Commits that have something else to do.
                reader.refresh()
                with db.write():
                    db[Photo][0].data = bytes([number])
            print(f"{name}: commits made the file shorter:", os.path.getsize(file) < full / 4)
            for _ in range(3):  # The version that the reader shows keeps its place in the file for now.
                db.shrink()
                reader.refresh()
            print(f"{name}: now it is shorter:", os.path.getsize(file) < full / 4)
            assert os.path.getsize(file) < full / 4 and len(reader[Photo]) == len(db[Photo])
