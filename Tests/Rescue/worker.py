"""Runs calls of the library, one line of JSON for each: ["make", path, seed], ["history", path, seed], ["encrypt", path, out, key,
cipher], ["salvage", path, out, key] and ["deleted", path, key]; answers with a line of JSON."""

import json
import random
import shutil
import sys
from typing import List, Optional

import crealm


class Kind(crealm.Model):
    id: int = crealm.field(primary_key=True)
    name: str
    size: float = 0.0


class Thing(crealm.Model):
    name: str
    count: int = 0
    data: bytes = b""
    kind: Optional[Kind]
    numbers: List[int]
    others: "List[Thing]"


def make(path, seed):
    """A file with two classes of more than a thousand objects, some of them deleted."""
    rng = random.Random(seed)
    with crealm.open(path, schema=[Kind, Thing]) as db:
        for _ in range(4):
            with db.write():
                start = len(db[Kind])
                kinds = [db.add(Kind(id=start + i, name=f"kind {start + i}", size=i / 7)) for i in range(rng.randint(150, 400))]
                for i in range(rng.randint(200, 400)):
                    text = "".join(rng.choices("abcdefgh é", k=rng.randint(0, 40)))
                    numbers = [rng.randrange(-1000, 1000) for _ in range(rng.randint(0, 5))]
                    db.add(Thing(name=text, count=i, data=rng.randbytes(rng.randint(0, 80)), kind=rng.choice([None, *kinds]), numbers=numbers))
        with db.write():
            things = list(db[Thing])
            for thing in rng.sample(things, 100):
                thing.others.extend(rng.sample(things, 3))
            for thing in rng.sample(things, 60):
                thing.delete()


def history(path, seed):
    """A file after each of a few transactions that create, change and delete objects: the paths of its versions; the
    last one is the file itself."""
    rng = random.Random(seed)
    versions, serial = [], 0
    with crealm.open(path, schema=[Kind, Thing]) as db:
        for step in range(rng.choice([3, 5, 9, 16])):
            with db.write():
                for _ in range(rng.choice([2, 10, 60, 300 if seed % 5 == 0 else 30])):
                    serial += 1
                    text = "".join(rng.choices("abcdefgh é", k=rng.choice([3, 12, 40, 90])))
                    if rng.random() < 0.4:
                        db.add(Kind(id=serial, name=text, size=serial / 7))
                    else:
                        numbers = [rng.randrange(-1000, 1000) for _ in range(rng.randint(0, 5))]
                        kinds = list(db[Kind])
                        kind = rng.choice(kinds) if kinds and rng.random() < 0.5 else None
                        db.add(Thing(name=text, count=serial, data=rng.randbytes(rng.randint(0, 80)), kind=kind, numbers=numbers))
                for table in (Kind, Thing):
                    some = list(db[table])
                    for one in rng.sample(some, min(len(some), rng.choice([0, 0, 1, 3]))):
                        one.name = f"changed {step}"
                    some = list(db[table])
                    for one in rng.sample(some, min(len(some), rng.choice([0, 1, 2, 5]))):
                        one.delete()
            versions.append(f"{path}.{step}")
            shutil.copyfile(path, versions[-1])
    shutil.copyfile(path, versions[-1])
    return versions


def main():
    for line in sys.stdin:
        what, *words = json.loads(line)
        try:
            if what == "make":
                answer = {"report": make(*words)}
            elif what == "history":
                answer = {"report": history(*words)}
            elif what == "salvage":
                path, out, key = words
                answer = {"report": str(crealm.salvage(path, out, key=key and bytes.fromhex(key), plain=True))}
            elif what == "encrypt":
                path, out, key, cipher = words
                with crealm.open(path, mode="immutable") as db:
                    db.backup(out, key=bytes.fromhex(key), page_cipher=cipher)
                answer = {"report": ""}
            else:
                path, key = words
                answer = {"report": [one._asdict() for one in crealm.recover_deleted(path, key=key and bytes.fromhex(key))]}
        except crealm.Error as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer, default=repr), flush=True)


if __name__ == "__main__":
    main()
