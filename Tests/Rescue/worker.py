"""Runs calls of the library, one line of JSON for each: ["make", path, seed], ["encrypt", path, out, key,
cipher], ["salvage", path, out, key] and ["deleted", path]; answers with a line of JSON."""

import json
import random
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


def main():
    for line in sys.stdin:
        what, *words = json.loads(line)
        try:
            if what == "make":
                answer = {"report": make(*words)}
            elif what == "salvage":
                path, out, key = words
                answer = {"report": str(crealm.salvage(path, out, key=key and bytes.fromhex(key), plain=True))}
            elif what == "encrypt":
                path, out, key, cipher = words
                with crealm.open(path, mode="immutable") as db:
                    db.backup(out, key=bytes.fromhex(key), page_cipher=cipher)
                answer = {"report": ""}
            else:
                answer = {"report": [one._asdict() for one in crealm.recover_deleted(*words)]}
        except crealm.Error as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer, default=repr), flush=True)


if __name__ == "__main__":
    main()
