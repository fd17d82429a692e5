#!/usr/bin/env python3
"""Runs the conformance suite with the Python package.   run.py [-k PART OF A NAME] [-v]

README.md describes the files. Prints a line for each case that fails; the status is 1 if one does."""

import argparse
import base64
import json
import math
import sys
import tempfile
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Dict, List, Optional, Set
from uuid import UUID

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent.parent / "bindings/python"))

import crealm  # noqa: E402
from crealm.values import RawTimestamp, timestamp_ns  # noqa: E402

TYPES = {
    "int": int, "bool": bool, "string": str, "data": bytes, "date": datetime, "float": crealm.Float32, "double": float,
    "decimal128": Decimal, "objectId": crealm.ObjectId, "uuid": UUID, "mixed": Any,
}  # fmt: skip
CHANGES = ("deletions", "insertions", "modifications", "properties", "cleared", "deleted")


class Undo(Exception):
    """Rolls a write back."""


def prop(given):
    """A property of a class, from its text or object."""
    settings = given if isinstance(given, dict) else {"type": given}
    text, ending = settings["type"], ""
    if text[-2:] in ("[]", "<>", "{}"):
        text, ending = text[:-2], text[-2:]
    kind = TYPES.get(text.rstrip("?"), text)
    kind = Optional[kind] if text.endswith("?") else kind
    if ending:
        kind = Dict[str, kind] if ending == "{}" else (List if ending == "[]" else Set)[kind]
    index = settings.get("indexed", False)
    return crealm.Prop(kind, indexed=index is True, fulltext=index == "full-text")


def schema(classes):
    for each in classes:
        properties = {name: prop(given) for name, given in each["properties"].items()}
        primary_key, embedded = each.get("primaryKey"), each.get("embedded", False)
        yield crealm.ClassSchema(each["name"], properties, primary_key=primary_key, embedded=embedded)


def same(given, found, exact):
    """Whether a value that was read is the one that a step gives; `exact`: a number must have the same type."""
    numbers = (int, float, Decimal)
    if isinstance(given, numbers) and not isinstance(given, bool):
        if not isinstance(found, numbers) or isinstance(found, bool):
            return False
        if exact and type(given) is not type(found) and not (isinstance(given, float) and isinstance(found, float)):
            return False
        if isinstance(given, int) or not math.isfinite(given):
            return found == given or (math.isnan(given) and math.isnan(found))
        same_sign = isinstance(given, Decimal) or math.copysign(1, given) == math.copysign(1, found)
        return found == given and (given != 0 or same_sign)
    if isinstance(given, RawTimestamp):
        return isinstance(found, (datetime, RawTimestamp)) and timestamp_ns(given) == timestamp_ns(found)
    return (given is None) == (found is None) and isinstance(given, bool) == isinstance(found, bool) and given == found


class Case:
    """A case that runs: its file, the open database, and what its steps named."""

    def __init__(self, case, classes, path):
        self.path, self.key = path, bytes.fromhex(case.get("key", "")) or None
        self.classes, self.version, self.mode, self.renamed = case.get("classes", classes), 0, None, None
        self.objects, self.told, self.frozen, self.kept = {}, {}, {}, []
        self.db = self.opened()

    def opened(self):
        version, migrate = None if self.mode else self.version, self.migrate if self.renamed is not None else None
        declared = list(schema(self.classes))
        settings = {"schema_version": version, "key": self.key, "mode": self.mode, "migrate": migrate}
        return crealm.open(self.path, schema=declared, **settings)

    def migrate(self, old, new, version):
        """Renames properties, and lets others go that the new schema does not have."""
        kept = [names[:2] for names in self.renamed]
        for names in self.renamed:
            new.rename_property(*names)
        for name in set(old.classes) & set(new.classes):
            gone = set(old.schema[name].properties) - set(new.schema[name].properties)
            new.remove_property(name, *(each for each in gone if [name, each] not in kept))

    def value(self, given):
        """The value of a step as one of Python."""
        if isinstance(given, list):
            return [self.value(each) for each in given]
        if not isinstance(given, dict):
            return int(given) if isinstance(given, float) and given.is_integer() else given
        if len(given) != 1 or not next(iter(given)).startswith("$"):
            return {key: self.value(each) for key, each in given.items()}
        ((tag, text),) = given.items()
        return {
            "$int": int, "$double": float, "$float": crealm.Float32, "$decimal": Decimal, "$oid": crealm.ObjectId,
            "$uuid": UUID, "$data": base64.b64decode, "$link": self.objects.get, "$repeat": lambda parts: parts[0] * parts[1],
            "$date": lambda parts: RawTimestamp(int(parts[0]), parts[1]),
        }[tag](text)  # fmt: skip

    def equals(self, given, found):
        """Whether what was read is what a step gives."""
        if isinstance(given, list):
            left = list(found)
            if isinstance(found, crealm.SetView):
                has = lambda each: any(self.equals(each, element) for element in left)  # noqa: E731
                return len(given) == len(left) and all(map(has, given))
            return len(given) == len(left) and all(map(self.equals, given, left))
        if isinstance(given, dict) and not next(iter(given), "").startswith("$"):
            if isinstance(found, crealm.Object):
                return all(self.equals(each, found[name]) for name, each in given.items())
            keys = () if found is None else set(found)
            return keys == set(given) and all(self.equals(given[key], found[key]) for key in given)
        return same(self.value(given), found, isinstance(given, dict))

    def check(self, given, found):
        assert self.equals(given, found), f"{found!r}, not {given!r}"

    def read(self, place):
        thing = self.objects[place[0]]
        for part in place[1:]:
            thing = thing[part]
        return thing

    def rows(self, db, target, step):
        rows = db[target] if isinstance(target, str) else self.read(target)
        rows = rows.values() if isinstance(rows, crealm.Dictionary) else rows
        if step.get("where"):
            rows = rows.where(step["where"], *map(self.value, step.get("arguments", [])))
        if "sort" in step:
            keys = [part.split() for part in step["sort"].split(",")]
            rows = rows.sort(*("-" * (words[1] == "DESC") + words[0] for words in keys))
        rows = rows.distinct(*step["distinct"].replace(" ", "").split(",")) if "distinct" in step else rows
        return rows.limit(step["limit"]) if "limit" in step else rows

    def run(self, steps, db=None):
        for step in steps:
            verb = next(iter(step))
            try:
                self.step(verb, step[verb], step, db or self.db)
            except (crealm.Error, TypeError, ValueError, LookupError, OverflowError) as error:
                wanted = step.get("error", [])
                wanted = wanted if isinstance(wanted, list) else [wanted]
                if "error" not in step or getattr(error, "code", None) not in (None, *wanted):
                    error.args = (f"{step}: {error} ({getattr(error, 'code', None)})",)
                    raise
            else:
                assert "error" not in step, f"no error: {step}"

    def step(self, verb, what, step, db):
        match verb:
            case "write":
                try:
                    with db.write():
                        self.run(what, db)
                        if step.get("rollback"):
                            raise Undo
                except Undo:
                    pass
            case "create" if "update" in step:
                values = self.value(step["values"])
                db.add_many(what, [values], update=step["update"])
                self.objects[step.get("as")] = db[what].get(values[db.schema[what].primary_key])
            case "create":
                self.objects[step.get("as")] = db[what].create(**self.value(step["values"]))
            case "set":
                for name, value in step["values"].items():
                    self.objects[what][name] = self.value(value)
            case "get":
                for name, value in step["gives"].items():
                    self.check(value, self.objects[what][name])
            case "delete":
                self.objects[what].delete()
            case "valid":
                self.check(step["gives"], self.objects[what].is_valid)
            case "find":
                found = self.objects[step.get("as")] = db[what].get(self.value(step["primaryKey"]))
                self.check(step.get("gives", {} if found else None), found)
            case "count":
                self.check(step["gives"], len(self.rows(db, what, {})))
            case "query" if isinstance(step.get("gives", 0), int):
                count = len(self.rows(db, what, step))
                self.check(step.get("gives", count), count)
            case "query":
                rows = list(self.rows(db, what, step))
                for name, values in step["gives"].items():
                    self.check(values, [row[name] for row in rows])
            case "sum" | "min" | "max" | "average":
                rows = self.rows(db, step["of"], step)
                self.check(step["gives"], getattr(rows, verb)(*([what] if what else [])))
            case "deleteAll":
                self.rows(db, what, step).delete_all()
            case "read":
                self.check(step["gives"], self.read(what))
            case "insert":
                at = step.get("at", len(self.read(what)))
                if at > len(self.read(what)):
                    raise crealm.OutOfRange("This package inserts at the end then")
                self.read(what).insert(at, self.value(step["value"]))
            case "replace" | "put":
                self.read(what)[step["key"] if verb == "put" else step["at"]] = self.value(step["value"])
            case "move":
                self.read(what).move(step["from"], step["to"])
            case "add" | "discard":
                getattr(self.read(what), verb)(self.value(step["value"]))
            case "remove":
                del self.read(what)[step["key"] if "key" in step else step["at"]]
            case "clear":
                self.read(what).clear()
            case "observe":
                plain = not isinstance(what, str) and not step.get("where")
                if isinstance(what, dict):
                    watched = self.value(what)
                else:
                    watched = self.read(what) if plain else self.rows(db, what, step)
                told = self.told[step["as"]] = []
                self.kept.append(watched.observe(told.append, step.get("paths")))
                db.refresh()
                told.clear()
            case "turn":
                db.refresh()
            case "told":
                gives, told = step["gives"], self.told[what]
                plain = lambda value: value if value is True else sorted(value)  # noqa: E731
                given = lambda change: [name for name in CHANGES if getattr(change, name, None)]  # noqa: E731
                found = [{name: plain(getattr(change, name)) for name in given(change)} for change in told]
                wanted = [{name: plain(value) for name, value in gives.items()}] if gives else []
                assert found == wanted, f"{found}, not {wanted}"
                told.clear()
            case "elsewhere":
                with self.opened() as other:
                    self.run(what, other)
            case "freeze":
                self.frozen[what] = db.freeze()
            case "frozen":
                self.run(step["steps"], self.frozen[what])
            case "open":
                self.close()
                self.classes = what.get("classes", self.classes)
                self.key = bytes.fromhex(what["key"] or "") or None if "key" in what else self.key
                self.mode = "r" if what.get("readOnly") else None
                self.renamed = what.get("rename", []) if what.get("version", 0) > self.version else None
                self.version = what.get("version", self.version)
                self.db, self.renamed = self.opened(), None
            case _:
                raise AssertionError(f"unknown step {verb}")

    def close(self):
        for each in self.kept:
            each.cancel()
        for each in (*self.frozen.values(), self.db):
            each.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-k", default="", metavar="PART")
    parser.add_argument("-v", action="store_true", help="name each case")
    options = parser.parse_args()
    count = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for file in sorted(FOLDER.glob("*.json")):
            suite = json.loads(file.read_text(encoding="utf-8"))
            for case in (each for each in suite["cases"] if options.k in f"{file.stem}: {each['name']}"):
                count += 1
                if options.v:
                    print(f"{file.stem}: {case['name']}", flush=True)
                try:
                    running = Case(case, suite["classes"], Path(folder) / f"{count}.realm")
                    running.run(case["steps"])
                    running.close()
                except Exception as error:
                    failed += 1
                    print(f"failed: {file.stem}: {case['name']}: {type(error).__name__}: {error}")
    print(f"conformance, Python: {count} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
