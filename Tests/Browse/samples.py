"""Files for the Browser to show: a town with all types, one whose names and values are hostile, and one with very many objects."""

import random
import struct
import zlib
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional
from uuid import UUID

import crealm

FIRST = "Ann Bob Cyd Dov Eva Finn Grete Hugo Ida Jon Kaia Lev Mira Noor Ole Pia Quinn Rosa Siv Tor Una Vera Wim Xia Yara Zoé דוד سارة Łukasz".split()
LAST = "Berg Costa Dahl Evans Fuchs Grant Holm Ito Jansen Khan Lund Moreau Novak Olsen Perez Quist Rossi Silva Tanaka Weber".split()
CITIES = "Oslo Bergen Lisboa Berlin Kraków Kyoto Haifa Lyon Porto Tromsø".split()
LOGS = ["calm sea and good wind", "rain over the fjord", "flat tyre near the bridge", "night train to the north"]
EXTRAS = [None, 3, "a text", 2.5, [1, ["two", {"three": 3}]], {"a": 1, "b": [True, None]}]
START = datetime(2024, 1, 1, tzinfo=timezone.utc)

TOWN = [
    crealm.ClassSchema("Person", {
        "id": int, "name": crealm.Prop(str, indexed=True), "born": datetime, "email": Optional[str], "height": Optional[float], "active": bool,
        "address": "Address", "friends": list["Person"], "pets": list["Pet"], "tags": set[str], "notes": dict[str, Any], "extra": Any,
        "photo": Optional[bytes]}, primary_key="id"),
    crealm.ClassSchema("Pet", {"_id": crealm.ObjectId, "name": str, "kind": str, "weight": Decimal, "owner": "Person"}, primary_key="_id"),
    crealm.ClassSchema("Address", {"street": str, "city": str, "zip": Optional[str], "geo": list[float]}, embedded=True),
    crealm.ClassSchema("Trip", {
        "key": UUID, "who": "Person", "with": list["Person"], "km": float, "at": datetime, "log": crealm.Prop(str, fulltext=True)},
        primary_key="key"),
]  # fmt: skip


def picture(size: int, seed: int) -> bytes:
    """A small PNG."""
    rows = b"".join(b"\0" + bytes((x * 9 + seed) % 256 for x in range(3 * size)) for _ in range(size))

    def part(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


def town(path: Any, people: int = 1200) -> None:
    """People with pets and trips: links both ways, embedded objects, collections of all kinds, pictures, texts of several directions."""
    numbers = random.Random(4)
    with crealm.open(path, schema=TOWN) as db, db.write():
        everybody = [db["Person"].create(number, **_person(numbers, number)) for number in range(people)]
        for person in everybody:
            person.friends.extend(numbers.sample(everybody, numbers.randrange(5)))
        for number in range(2 * people // 3):
            owner = numbers.choice(everybody)
            owner.pets.append(db["Pet"].create(
                crealm.ObjectId(struct.pack(">IQ", 1700000000 + 3600 * number, number)),
                name=numbers.choice("Rex Bo Luna Misty Kit Pip Otto".split()),
                kind=numbers.choice(["dog", "cat", "parrot"]), weight=Decimal(numbers.randrange(100, 4000)) / 100, owner=owner))  # fmt: skip
        for _ in range(3 * people):
            db["Trip"].create(
                UUID(int=numbers.getrandbits(128)), who=numbers.choice(everybody), km=round(numbers.expovariate(1 / 40), 1),
                at=START + timedelta(minutes=numbers.randrange(10**6)), log=numbers.choice(LOGS))  # fmt: skip


def _person(numbers: random.Random, number: int) -> Any:
    return {
        "name": f"{numbers.choice(FIRST)} {numbers.choice(LAST)}",
        "born": datetime(1940, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=numbers.randrange(2 * 10**9)),
        "email": None if numbers.random() < 0.2 else f"p{number}@example.org",
        "height": None if numbers.random() < 0.1 else round(numbers.gauss(1.72, 0.1), 2),
        "active": numbers.random() < 0.7, "tags": set(numbers.sample(["chess", "sea", "jazz", "maps", "tea", "ski"], numbers.randrange(4))),
        "address": {"street": f"{numbers.choice(LAST)} street {numbers.randrange(99)}", "city": numbers.choice(CITIES),
                    "zip": str(numbers.randrange(1000, 9999)),
                    "geo": [round(numbers.uniform(40, 65), 4), round(numbers.uniform(-9, 30), 4)]},
        "notes": {"lang": numbers.choice(["no", "pt", "de"]), "visits": numbers.randrange(40)}, "extra": numbers.choice(EXTRAS),
        "photo": picture(24, number) if number % 5 == 0 else None}  # fmt: skip


# Each would do something where it is taken for more than a text.
HOSTILE = [
    "<script>hit()</script>", "<img src=x onerror=hit()>", "\"><svg onload=hit()>", "'-hit()-'", "javascript:hit()",
    "</script><script>hit()</script>", "<!--", "]]>",
    "<a href=//evil.example>x</a>", "<style>*{display:none}</style>", "<base href=//evil.example>", "<iframe srcdoc='<script>parent.hit()</script>'>",
    "{{7*7}}", "${hit()}", "`${hit()}`", "__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "then",
    "length", "0", "-1", "NaN", "null", "undefined",
    "\u202eright to left", "\u2066isolated", "a\u200bb", "\ufeffmark", "\0nul", "\x1b[31mred", "line\nline\r\nline", "tab\there", "\u2028separator",
    "\u0301combining", "ﷺ" * 20,
    "..", ".", "../../etc/passwd", "a/b", "a\\b", "%2e%2e", "?a=b", "#fragment", "a&b", "a;b", "a b", " ", "~", "~~",
    "//evil.example", "http://evil.example/",
    "data:text/html,<script>hit()</script>", "on\u0000error", "😀", "👩‍👩‍👧", "נא", "مرحبا", "x" * 5000,
    "=HYPERLINK(\"//evil.example\")", "@import '//evil.example'", "url(//evil.example)",
]  # fmt: skip


def hostile(path: Any) -> int:
    """Classes, properties and values of hostile texts. How many there are."""
    names = [name for name in HOSTILE if "\0" not in name and len(name.encode()) <= 57]
    text = {"text": str, "any": Any, "map": dict[str, str], "list": list[str]}
    classes = [crealm.ClassSchema(name, {name: str, **text}) for name in names]
    with crealm.open(path, schema=classes) as db, db.write():
        for name in names:
            for value in HOSTILE if name == names[0] else [name]:
                key = value.replace(".", ",").replace("$", "S")
                db[name].create(**{name: value, "text": value, "any": {"k": [value]}, "map": {key: value}, "list": [value, value]})
    return 2 * len(names) + len(HOSTILE)


def crowd(path: Any, count: int) -> None:
    """Very many objects."""
    schema = crealm.ClassSchema("Reading", {"id": int, "sensor": str, "value": float, "at": datetime, "note": Optional[str]}, primary_key="id")
    numbers = random.Random(9)
    with crealm.open(path, schema=[schema]) as db:
        for first in range(0, count, 100_000):
            rows = ({"id": number, "sensor": f"s{number * 7919 % 1000:03}", "value": numbers.gauss(20, 5),
                     "at": START + timedelta(seconds=number), "note": None}
                    for number in range(first, min(first + 100_000, count)))  # fmt: skip
            with db.write():
                db.add_many("Reading", rows)
