"""Facets, downloads and the picture of the schema."""

import csv
import io
import json
import random
import sqlite3
import tempfile
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any, Optional
from uuid import UUID

import pytest

from browsing import Asking, Secret, addresses, fixtures

import crealm
from crealm._words import KEYWORDS
from crealm.browse.drawing import drawing, links_of

ALL = crealm.ClassSchema("All", {
    "i": Optional[int], "b": bool, "f": crealm.Float32, "g": Optional[float], "s": Optional[str], "d": bytes,
    "t": datetime, "dec": Decimal, "u": UUID, "o": crealm.ObjectId,
    "link": "All", "two words": int, "l": list[int], "m": Any, "a.b": int}, primary_key=None)  # fmt: skip
TEXTS = ["a", "", "it's", 'say "x"', "both ' and \"", "back\\slash", "new\nline", "é", "\u202e", None]


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    path = tmp_path_factory.mktemp("facets") / "mixed.realm"
    numbers = random.Random(7)
    with crealm.open(path, schema=[ALL]) as db, db.write():
        made = []
        for number in range(400):
            moment = datetime(1960, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=numbers.randrange(10**9), microseconds=numbers.randrange(3))
            made.append(db["All"].create(
                i=numbers.choice([None, numbers.randrange(-50, 50)]), b=numbers.random() < 0.3, f=numbers.choice([0.1, 1.5, -2.25, 1e-20]),
                g=numbers.choice([None, float("inf"), numbers.gauss(0, 10), 0.0]), s=numbers.choice(TEXTS), d=numbers.choice([b"", b"\0\xff", b"x"]),
                t=moment,                 dec=Decimal(numbers.randrange(40)) / 8, u=UUID(int=numbers.randrange(3)),
                o=crealm.ObjectId(bytes(11) + bytes([numbers.randrange(4)])),
                link=numbers.choice([None, *made[:5]]) if made else None, l=[1], m=3, **{"two words": numbers.randrange(3), "a.b": 1}))  # fmt: skip
    return path


SINGLE = [name for name, prop in ALL.properties.items() if prop.collection is None and name not in ("m", "a.b")]


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("condition", ["", "b == false OR i > 10"])
def test_each_value_has_a_condition_that_finds_it(mixed, name, condition):
    with Asking(mixed) as asking:
        facets = asking.get("mixed.realm", "facets", "All", name, where=condition)
        total = asking.get("mixed.realm", "class", "All", where=condition, count=0)["total"]
        assert facets["total"] == total and facets["values"]
        assert facets["nulls"] + sum(one["count"] for one in facets["values"]) <= total
        if facets["distinct"] <= 20:
            assert facets["nulls"] + sum(one["count"] for one in facets["values"]) == total
        for one in [*facets["values"], *(facets["histogram"] or []), {"where": facets["whereNull"], "count": facets["nulls"]}]:
            if one["where"] is None:
                assert one["cell"].get("v") == "NaN"
                continue
            if one["where"].endswith("NULL") and not facets["type"].startswith("Optional") and name != "link":
                continue
            assert asking.get("mixed.realm", "class", "All", where=one["where"], count=0)["total"] == one["count"], one
        if facets["histogram"]:
            infinite = sum(one["count"] for one in facets["values"] if one["cell"]["v"] == "Infinity")
            assert sum(one["count"] for one in facets["histogram"]) == total - facets["nulls"] - infinite


def test_histograms_of_large_integers(tmp_path):
    """No bound is converted to a float: each bar counts exactly the objects of its condition. The same for extreme decimals and times."""
    numbers = random.Random(3)
    least, most = -(2**63), 2**63 - 1
    edge = crealm.RawTimestamp(most, 999_999_999), crealm.RawTimestamp(least, -999_999_999)
    rows = [(numbers.randrange(2**61, 2**61 + 300), numbers.randrange(least, most), Decimal(numbers.randrange(10**18)).scaleb(-3)) for _ in range(200)]
    with crealm.open(tmp_path / "large.realm", schema=[crealm.ClassSchema("N", {"near": int, "wide": int, "dec": Decimal, "at": datetime})]) as db:
        with db.write():
            for number, (near, wide, decimal) in enumerate([*rows, (2**61, least, Decimal(1)), (2**61, most, Decimal(1))]):
                at = edge[number % 2] if number > 199 else crealm.RawTimestamp(numbers.randrange(-(10**11), 10**11), 0)
                db["N"].create(near=near, wide=wide, dec=decimal, at=at)
    with Asking(tmp_path / "large.realm") as asking:
        for name in ("near", "wide", "dec", "at"):
            found = asking.get("large.realm", "facets", "N", name)
            assert sum(bar["count"] for bar in found["histogram"]) == 202 and len(found["histogram"]) > 12
            for one in (*found["values"], *found["histogram"]):
                assert asking.get("large.realm", "class", "N", where=one["where"], count=0)["total"] == one["count"], one
        ends = asking.get("large.realm", "facets", "N", "wide")["histogram"]
        assert (ends[0]["from"], ends[-1]["to"]) == (str(least), str(most))


def test_values_that_are_not_counted(mixed):
    with Asking(mixed) as asking:
        for name in ("l", "m", "a.b"):
            assert asking.error("mixed.realm", "facets", "All", name)["kind"] == "NotSupportedError"
        assert asking.error("mixed.realm", "facets", "All", "nope", status=404)
        ordered = asking.get("mixed.realm", "facets", "All", "b", where="i > 3 SORT(i ASC) LIMIT(5)")
        assert ordered["total"] == 5 and all(one["where"] is None for one in ordered["values"])


def test_embedded_objects_are_not_counted(tmp_path):
    part = crealm.ClassSchema("Part", {"n": int}, embedded=True)
    with crealm.open(tmp_path / "parts.realm", schema=[crealm.ClassSchema("Whole", {"part": "Part"}), part]) as db, db.write():
        db["Whole"].create(part={"n": 1})
    with Asking(tmp_path / "parts.realm") as asking:
        assert asking.error("parts.realm", "facets", "Whole", "part")["kind"] == "NotSupportedError"
        assert asking.get("parts.realm", "facets", "Part", "n")["values"][0]["count"] == 1


@pytest.mark.parametrize("form, part", [("python", "class All(crealm.Model):"), ("swift", "class All: Object {"), ("json", '"name": "All"')])
def test_classes_as_declarations(mixed, form, part):
    with Asking(mixed) as asking:
        found = asking.client.get(addresses.path(["mixed.realm", "schema"]), params={"raw": form})
        assert part in found.text and "attachment" in found.headers["content-disposition"]
        assert asking.client.get(addresses.path(["mixed.realm", "schema"]), params={"raw": "cobol"}).status_code == 400


def test_downloads_are_what_is_shown(mixed, tmp_path):
    address = addresses.path(["mixed.realm", "class", "All"])
    question = {"where": "i > 20", "sort": ["i desc", "s asc"]}
    with Asking(mixed) as asking, crealm.open(mixed, mode="immutable") as db:
        wanted = [(obj.object_key, obj.i) for obj in db["All"].where("i > 20").sort("-i", "s")]
        found = asking.client.get(address, params={**question, "download": "csv"})
        lines = list(csv.DictReader(io.StringIO(found.text)))
        assert [(int(line["$key"]), int(line["i"])) for line in lines] == wanted and "All.csv" in found.headers["content-disposition"]
        found = asking.client.get(address, params={**question, "download": "ndjson"})
        assert [(line["$key"], line["i"]) for line in map(json.loads, found.text.splitlines()[1:])] == wanted
        found = asking.client.get(address, params={**question, "download": "json"})
        assert [(one["$key"], one["i"]) for one in found.json()["All"]] == wanted
        for kind in ("sqlite", "parquet", "exe", ""):
            assert asking.client.get(address, params={**question, "download": kind}).status_code == 400
        assert asking.client.get(addresses.path(["mixed.realm"]), params={"download": "csv"}).status_code == 404
        (tmp_path / "out.sqlite").write_bytes(asking.client.get(address, params={"download": "sqlite"}).content)
    with sqlite3.connect(tmp_path / "out.sqlite") as file:
        assert file.execute('select count(*) from "All"').fetchone() == (400,)


def test_properties_that_are_called_like_words_of_the_language(tmp_path):
    """If the page offers an order for such a column, or a condition for a value, it works."""
    words = [form for word in sorted({*KEYWORDS, "type", "count", "keys", "self", "uuid", "max"}) for form in (word, word.upper(), word + "s")]
    with crealm.open(tmp_path / "words.realm", schema=[crealm.ClassSchema("K", {word: int for word in words})]) as db, db.write():
        for number in (2, 1):
            made = db["K"].create()
            for word in words:
                made[word] = number
    with Asking(tmp_path / "words.realm") as asking:
        columns = asking.get("words.realm", "class", "K")["columns"]
        assert sum(one["sortable"] for one in columns) > len(words) // 2
        for one in columns:
            if one["sortable"]:
                rows = asking.get("words.realm", "class", "K", sort=f"{one['name']} asc", column=one["name"])["rows"]
                assert [row["cells"][0]["v"] for row in rows] == [1, 2]
            for value in asking.get("words.realm", "facets", "K", one["name"])["values"]:
                assert (value["where"] is not None) == one["sortable"]
                if value["where"]:
                    found = asking.get("words.realm", "class", "K", where=value["where"], column=one["name"])
                    assert [row["cells"][0] for row in found["rows"]] == [value["cell"]]


@pytest.mark.parametrize("ranges", [None, "bytes=0-3", "bytes=0-1,5-6", "bytes=9-", "bytes=x", "bytes=99999999-", "lines=1-2", ""])
def test_downloads_leave_nothing(mixed, tmp_path, monkeypatch, ranges):
    """No file stays in the temporary folder, for any range that a client requests."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Asking(mixed) as asking:
        for kind in ("csv", "json", "sqlite"):
            headers = {} if ranges is None else {"range": ranges}
            found = asking.client.get(addresses.path(["mixed.realm", "class", "All"]), params={"download": kind}, headers=headers)
            assert found.status_code in (200, 206, 400, 416) and list(tmp_path.iterdir()) == []


def _drawn(schemas):
    found = drawing(schemas)
    boxes = {box["class"]: box for box in found["boxes"]}
    assert set(boxes) == set(schemas)
    for one in found["boxes"]:
        assert 0 <= one["x"] and one["x"] + one["w"] <= found["width"] and 0 <= one["y"] and one["y"] + one["h"] <= found["height"]
        for other in found["boxes"]:
            beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
            assert one is other or beside or one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    return found


def test_boxes_never_overlap():
    numbers = random.Random(1)
    for _ in range(40):
        names = [f"C{number}" for number in range(numbers.randrange(1, 40))]
        schemas = {}
        for name in names:
            targets = numbers.sample(names, numbers.randrange(min(4, len(names))))
            links = {f"l{number}": numbers.choice([other, list[other]]) for number, other in enumerate(targets)}
            schemas[name] = crealm.ClassSchema(name, {"id": int, **links}, primary_key=numbers.choice([None, "id"]))
        found = _drawn(schemas)
        links = [link for name, declared in schemas.items() for link in links_of(name, declared, schemas)]
        assert len(found["lines"]) == len(links)


def test_links_go_to_the_right_where_they_can():
    chain = {f"C{n}": crealm.ClassSchema(f"C{n}", {"next": f"C{n + 1}"} if n < 5 else {"n": int}) for n in range(6)}
    boxes = {box["class"]: box["x"] for box in _drawn(chain)["boxes"]}
    assert [boxes[f"C{n}"] for n in range(6)] == sorted(boxes.values()) and len(set(boxes.values())) == 6
    circle = {f"C{n}": crealm.ClassSchema(f"C{n}", {"next": f"C{(n + 1) % 3}", "self": f"C{n}"}) for n in range(3)}
    assert len(_drawn(circle)["lines"]) == 6


def test_the_picture_of_a_large_schema():
    (path,) = fixtures("sdk/f23-dotnet-97-classes-nohistory.realm") or [None]
    if path is None:
        pytest.skip("the fixture is not there")
    with Asking(path) as asking:
        found = asking.get(path.name, "drawing")
        assert len(found["boxes"]) == 97 and all(box["count"]["t"] == "int" for box in found["boxes"])


def test_comparing(tmp_path):
    """Compares with a remembered version, and with another file; the result must agree with the changes."""
    paths = tmp_path / "one.realm", tmp_path / "two.realm"
    for path in paths:
        with crealm.open(path, schema=[ALL, crealm.ClassSchema("Keyed", {"id": int, "n": int}, primary_key="id")]) as db, db.write():
            for number in range(6):
                db["Keyed"].create(number, n=number)
    with Asking(*paths) as asking:
        assert asking.get("one.realm", "compare")["files"] == ["two.realm"]
        version = asking.client.post("/one.realm/remember", json={}).json()["remembered"]
        assert asking.get("one.realm", "compare")["remembered"] == [version]
        assert asking.get("one.realm", "compare", "version", version)["total"] == 0
        with crealm.open(paths[0]) as db, db.write():
            db["Keyed"].get(1).n = 100
            db["Keyed"].get(2).delete()
            db["Keyed"].create(7, n=7)
        wanted = {"Keyed": {"changed": 1, "removed": 1, "added": 1}}
        for place in (["version", version], ["file", "two.realm"]):
            found = asking.get("one.realm", "compare", *place)
            assert found["counts"] == wanted and found["total"] == 3 and found["schema"] == []
            changed = next(one for one in found["changes"] if one["kind"] == "changed")
            assert changed["values"] == [{"property": "n", "before": "1", "after": "100"}] and changed["identity"] == "1"
            assert asking.get("one.realm", "class", "Keyed", changed["key"])["properties"][0]["cell"]["v"] == 1
        for place in (["version", "999"], ["version", "x"], ["file", "nope"], ["what", "1"]):
            assert asking.error("one.realm", "compare", *place, status=404)
        for _ in range(6):
            with crealm.open(paths[0]) as db, db.write():
                db["Keyed"].get(1).n += 1
            asking.client.post("/one.realm/remember", json={})
        assert len(asking.get("one.realm", "compare")["remembered"]) == 4


@pytest.mark.parametrize("way", ["snapshot", "shared", "immutable"])
def test_comparing_with_the_version_before(tmp_path, way):
    """The changes since the version in the other slot of the header agree with the last commit; without such a version there is an error text."""
    path = tmp_path / "one.realm"
    keyed = crealm.ClassSchema("Keyed", {"id": int, "n": int}, primary_key="id")
    with crealm.open(path, schema=[keyed]) as db:
        with db.write():
            db.add_many("Keyed", ({"id": number, "n": number} for number in range(5)))
        with db.write():
            db["Keyed"].get(1).n = 100
            db["Keyed"].get(2).delete()
            db["Keyed"].create(7, n=7)
        version = db.version
    before, content = sorted(tmp_path.iterdir()), path.read_bytes()
    with Asking(path, way=way) as asking:
        assert asking.get("one.realm")["previous"] == asking.get("one.realm", "compare")["previous"] == version - 1
        found = asking.get("one.realm", "compare", "slot", "previous")
        assert found["with"] == f"version {version - 1}" and found["version"] == version and found["schema"] == []
        assert found["counts"] == {"Keyed": {"changed": 1, "removed": 1, "added": 1}}
        changed = next(one for one in found["changes"] if one["kind"] == "changed")
        assert changed["values"] == [{"property": "n", "before": "1", "after": "100"}]
        for wrong in ("newest", "0", ""):
            assert asking.error("one.realm", "compare", "slot", wrong, status=404)
        assert sorted(tmp_path.iterdir()) == before and path.read_bytes() == content
        if way == "snapshot":  # In the other ways the process has the file open in another mode.
            with crealm.open(path) as db, db.write():
                db["Keyed"].get(1).n = 101
            assert asking.get("one.realm", "compare", "slot", "previous")["counts"] == {"Keyed": {"changed": 1}}
    with crealm.open(path) as db:
        db.compact()
    with Asking(path, way=way) as asking:
        assert asking.get("one.realm")["previous"] is None and asking.get("one.realm", "compare")["previous"] is None
        said = asking.error("one.realm", "compare", "slot", "previous", status=404)
        assert said["kind"] == "VersionGone" and "no version before the newest one" in said["message"] and str(tmp_path) not in said["message"]


def test_the_version_before_is_never_that_of_another_one(tmp_path, monkeypatch):
    """Another program commits between the snapshot and the read of the other slot."""
    path = tmp_path / "one.realm"

    def commit(number):
        with crealm.open(path, schema=[crealm.ClassSchema("A", {"n": int})]) as db, db.write():
            db["A"].create(n=number)

    commit(1)
    commit(2)
    with Asking(path) as asking:
        file = asking.browser.files["one.realm"]
        before = file.previous
        monkeypatch.setattr(file, "previous", lambda snapshot: (commit(3), before(snapshot))[1])
        said = asking.error("one.realm", "compare", "slot", "previous", status=404)
        assert said["kind"] == "VersionGone" and "meanwhile" in said["message"]
        monkeypatch.undo()
        assert asking.get("one.realm", "compare", "slot", "previous")["counts"] == {"A": {"added": 1}}


def test_the_version_before_of_an_encrypted_file(tmp_path):
    path, key = tmp_path / "one.realm", bytes(range(64))
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"n": int})], key=key) as db:
        for number in range(3):
            with db.write():
                db["A"].create(n=number)
    with Asking(path, secret=Secret(key=key)) as asking:
        assert asking.get("one.realm")["previous"] is not None
        assert asking.get("one.realm", "compare", "slot", "previous")["counts"] == {"A": {"added": 1}}
    with Asking(path) as asking:
        assert asking.error("one.realm", "compare", "slot", "previous", status=423)
