"""Hostile texts in every place that can have a text: in files, addresses, conditions and changes. The server never fails, never answers with a
page that a web client would execute, and returns the texts unchanged."""

import json
import random
import sys

import pytest

from browsing import BASE, Asking, addresses

import crealm
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "Tests/Browse"))
from samples import HOSTILE, hostile  # noqa: E402

SAFE = ("application/json", "text/html; charset=utf-8", "text/plain; charset=utf-8")


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    path = tmp_path_factory.mktemp("attack") / "hostile.realm"
    count = hostile(path)
    assert count >= 150
    with Asking(path, is_editable=True) as made:
        made.names = [one["name"] for one in made.get("hostile.realm")["classes"]]
        made.name = made.names[0]
        made.key = made.get("hostile.realm", "class", made.name)["rows"][0]["key"]
        yield made


def answered(found, *statuses):
    """The JSON of an answer; asserts that the server did not fail."""
    assert found.status_code in statuses, (found.status_code, found.text[:300])
    assert found.headers["content-type"] == "application/json" and found.headers["x-content-type-options"] == "nosniff"
    assert "script-src 'self'" in found.headers["content-security-policy"]
    return found.json()


def test_every_name_and_value_comes_back(asking):
    """More than 200 hostile names: each as a class in an address, as a value, as a property, and as a key of a dictionary."""
    seen = 0
    for name in asking.names:
        row = asking.get("hostile.realm", "class", name)["rows"][0]
        for steps in ([], [name], ["text"], ["map"], ["list"], ["any"], ["any", "k"]):
            answered(asking.client.get(addresses.path(["hostile.realm", "class", name, row["key"], *steps]) + ".json"), 200)
            seen += 1
    assert seen > 200


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_text_in_all_places(asking, number):
    """Each text is tried in a third of the places, and each place with a third of the texts."""
    text, third = HOSTILE[number], slice(number % 3, None, 3)
    base, client = ["hostile.realm", "class", asking.name, str(asking.key)], asking.client
    places = [["hostile.realm", text], ["hostile.realm", "class", text], [*base, text], [*base, "map", text],
              ["hostile.realm", "links", text, "0", text, text], ["hostile.realm", "facets", text, text], ["hostile.realm", "explain", text],
              ["hostile.realm", "compare", "file", text], ["hostile.realm", "compare", "version", text], [text], [text, text]]  # fmt: skip
    for parts in places[third]:
        answered(client.get(addresses.path(parts) + ".json"), 200, 400, 404)
    several = [{"where": text}, {"where": f"text == {json.dumps(text)}"}, {"sort": text}, {"column": text}, {"from": text}, {"count": text}]
    for options in several[third]:
        answered(client.get(addresses.path(base[:3]) + ".json", params=options), 200, 400, 404)
    for options in ({"download": text}, {"raw": text}):
        found = client.get(addresses.path(base[:3]), params=options)
        assert found.status_code in (200, 400, 404) and found.headers["content-type"] in SAFE
    bodies = [{"changes": text}, {"changes": [text]}, {text: text}, {"changes": [{"do": text, "class": text}]}, text]
    for kind in ("edit", "rows", "structure", "queries", "key"):
        for body in bodies[third]:
            answered(client.post(f"/hostile.realm/{kind}", json=body), 400, 403, 404)


@pytest.mark.parametrize("number", range(0, len(HOSTILE)))
def test_a_text_is_written_as_it_is(asking, number):
    text = HOSTILE[number]
    base = {"class": asking.name, "key": asking.key}

    def post(kind, status=200, **body):
        return answered(asking.client.post(f"/hostile.realm/{kind}", json=body), status)

    post("edit", changes=[
        {**base, "do": "set", "path": ["text"], "json": json.dumps(text)}, {**base, "do": "set", "path": ["any"], "json": json.dumps([[text]])}])
    assert json.loads(asking.get("hostile.realm", "class", asking.name, str(asking.key), "text")["edit"]["json"]) == text
    assert json.loads(asking.get("hostile.realm", "class", asking.name, str(asking.key), "any", "0", "0")["edit"]["json"]) == text
    is_key = "." not in text and not text.startswith("$")
    told = asking.client.post("/hostile.realm/edit", json={"changes": [{**base, "do": "set", "path": ["map", text], "json": '"in"'}]})
    answered(told, 200 if is_key else 400)
    if is_key:
        assert asking.get("hostile.realm", "class", asking.name, str(asking.key), "map", text)["cell"]["v"] == "in"
        post("undo")
    property_name = {"name": text, "type": "str"}
    changes = [
        {"do": "add-property", "class": asking.name, "property": property_name}, {"do": "add-class", "class": text, "properties": [property_name]}]
    answered(asking.client.post("/hostile.realm/structure", json={"preview": True, "changes": changes[number % 2 :][:1]}), 200, 400)
    post("undo")


def test_names_and_passwords_are_in_no_answer(asking):
    """Answers do not repeat the texts of a request."""
    mark = "canary-5f3a"
    for path in (f"/{mark}", f"/hostile.realm/{mark}.json", f"/-/static/{mark}"):
        found = asking.client.get(path, headers={"x-mark": mark, "cookie": f"a={mark}", "accept": "application/json"})
        assert mark not in found.text or found.status_code == 200
    found = asking.client.post("/hostile.realm/key", json={"key": mark})
    assert mark not in found.text and found.status_code == 400


def test_random_bytes_as_requests(asking):
    """Paths and bodies of random bytes, and changes that are combined from random parts of other changes."""
    numbers = random.Random(7)
    pieces = ["/hostile.realm", "/class", "/%00", "/..", "//", "/.json", "%2e", "%ff", "~", "?", "&", "=", "raw", "where", ".json", "/-", "/edit", "%"]
    for _ in range(150):
        path = "/" + "".join(numbers.choice(pieces) for _ in range(numbers.randrange(1, 8)))
        found = asking.client.get(BASE + path)
        media = found.headers["content-type"].split(";")[0]
        assert found.status_code < 500 and media in ("application/json", "text/html", "text/plain", "application/octet-stream"), path
    values = [None, True, 0, -1, 2**63, 1e308, "", "0", [], {}, [[]], {"do": "set"}, "set", "delete", "Thing", asking.name, asking.key, ["text"],
              ["map", "a"], '"a"', "{"]  # fmt: skip
    for _ in range(150):
        change = {name: numbers.choice(values) for name in ("do", "class", "key", "path", "json", "to", "mark") if numbers.random() < 0.8}
        found = asking.client.post("/hostile.realm/edit", json={"changes": [change], "preview": True})
        assert found.status_code < 500, (change, found.text)
        body = bytes(numbers.randrange(256) for _ in range(numbers.randrange(60)))
        found = asking.client.post("/hostile.realm/edit", content=body, headers={"content-type": "application/json"})
        assert found.status_code == 400, body


DEPTHS = (50, 101, 260, 500, 980, 100_000)


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("one, other", [("[", "]"), ('{"a":', "}"), ('{"a":[', "]}")])
def test_values_that_are_nested_very_deeply(asking, depth, one, other):
    """Values that no file could hold are refused with an error message, in each form of input."""
    text = one * depth + "1" + other * depth
    base = {"class": asking.name, "key": asking.key, "json": text}
    changes = [{**base, "do": "set", "path": [name]} for name in ("any", "text", "map", "list", asking.name)]
    changes += [{"do": "create", "class": asking.name, "json": f'{{"any": {text}}}'}, {**base, "do": "insert", "path": ["list", "0"]}]
    for change in changes:
        told = asking.client.post("/hostile.realm/edit", json={"preview": True, "changes": [change]})
        assert answered(told, 200, 400) and (told.status_code == 400 or depth < 100), change["do"]
    cell = '"' + text.replace('"', '""') + '"'
    for form, rows in (("json", f'[{{"any": {text}}}]'), ("csv", f"any,text\r\n{cell},a\r\n"), ("tsv", f"any\ttext\n{cell}\ta\n")):
        told = asking.client.post("/hostile.realm/rows", json={"preview": True, "class": asking.name, "format": form, "text": rows})
        answered(told, 200, 400)


@pytest.mark.parametrize("text", [
    "\ud800", "any\n\ud800\n", "\ud800\nx\n", 'any\n"{""$ref"":1,""$class"":""Nope""}"\n', 'any\n"{""$ref"":1,""$class"":[]}"\n',
    'any\n"{""$ref"":{},""$class"":{}}"\n', 'any\n"{""$primaryKey"":[],""$class"":""Nope""}"\n', "\0", '"', "any\n\"x"])  # fmt: skip
def test_rows_that_mean_nothing(asking, text):
    for form, given in (("csv", text), ("tsv", text), ("json", json.dumps([{"any": text}]))):
        body = json.dumps({"preview": True, "class": asking.name, "format": form, "text": given})
        told = asking.client.post("/hostile.realm/rows", content=body.encode(), headers={"content-type": "application/json"})
        answered(told, 200, 400)


def test_a_class_that_is_changed_while_it_is_edited(tmp_path):
    """Another program migrates the file before a page sends its change: the change is refused or made, and never applies to another property."""
    path = tmp_path / "moving.realm"
    with crealm.open(path, schema=[crealm.ClassSchema("A", {"a": int, "b": str}), crealm.ClassSchema("B", {"x": int})]) as db, db.write():
        db["A"].create(a=1, b="b")
        db["B"].create(x=1)
    with Asking(path, is_editable=True) as asking:
        mark = asking.get(path.name, "class", "A", "0", "a")["edit"]["mark"]

        def migrate(old, new, version):
            new.rename_property("A", "a", "c")
            new.remove_property("A", "b")
            new.remove_class("B")

        with crealm.open(path, schema=[crealm.ClassSchema("A", {"c": int})], schema_version=1, migrate=migrate):
            pass
        for change, status in (
            ({"do": "set", "class": "A", "key": 0, "path": ["a"], "json": "2", "mark": mark}, 404), ({"do": "delete", "class": "B", "key": 0}, 404),
            ({"do": "set", "class": "A", "key": 0, "path": ["b"], "json": '"x"'}, 404), ({"do": "create", "class": "A", "json": '{"a": 1}'}, 404),
            ({"do": "set", "class": "A", "key": 0, "path": ["c"], "json": "2", "mark": mark}, 200),
        ):  # fmt: skip
            answered(asking.client.post(f"/{path.name}/edit", json={"changes": [change]}), status)
        asking.client.post(f"/{path.name}/undo", json={})
    with crealm.open(path, mode="snapshot") as db:
        assert db["A"][0].c == 1
