"""Rules in the Browser: the page of the schema shows them, and edits follow them."""

import shutil
from datetime import datetime, timezone
from typing import Any, Optional

import pytest

from browsing import Asking, addresses

import crealm
from crealm.browse import api
from crealm.cli.rule_lines import rule_lines
from test_browse_edit import Editing, change

MOMENT = datetime(2020, 1, 2, 3, 4, 5, tzinfo=timezone.utc)


def schema():
    return [
        crealm.ClassSchema(
            "Order",
            {
                "id": int,
                "number": int,
                "total": int,
                "owner": "Person",
                "parts": list["Part"],
                "any": Any,
                "made": datetime,
                "changed": datetime,
                "version": int,
            },
            primary_key="id",
            rules={
                "properties": {
                    "id": {"auto": True},
                    "owner": {"on_target_delete": "deny"},
                    "parts": {"on_delete": "cascade"},
                    "made": {"created": True},
                    "changed": {"modified": True},
                    "version": {"revision": True},
                    "number": {"default": 7},
                },
                "unique": [["number", "owner"]],
                "checks": [{"name": "paid", "condition": "total >= 0"}],
            },
        ),
        crealm.ClassSchema(
            "Part", {"n": int, "inner": list["Part"]}, rules={"properties": {"inner": {"on_delete": "cascade"}}}
        ),
        crealm.ClassSchema("Person", {"name": str, "age": Optional[int]}),
    ]


@pytest.fixture
def shop(path):
    with crealm.open(path, schema=schema()) as db, db.write():
        for number in range(3):
            owner = db["Person"].create(name=f"person {number}")
            order = db["Order"].create(number=number, owner=owner, total=5)
            order.parts.append(db["Part"].create(n=number))
        outer = db["Order"].get(1).parts[0]
        outer.inner.append(db["Part"].create(n=10))
    return path


def counts(path):
    with crealm.open(path, mode="snapshot") as db:
        return {name: len(db[name]) for name in db.classes}


def content(path):
    """All values but those that each commit makes."""
    with crealm.open(path, mode="snapshot") as db:
        return {
            name: [
                [repr(obj[key]) for key in db.schema[name].properties if key not in ("changed", "version", "made")]
                for obj in db[name]
            ]
            for name in db.classes
        }


def test_the_schema_has_the_rules(shop):
    with crealm.open(shop, mode="snapshot") as db:
        rules = {name: db.rules(name) for name in db.classes}
    with Asking(shop) as asking:
        found = {one["name"]: one for one in asking.get(shop.name, "schema")["classes"]}
        assert found["Order"]["rules"] == rules["Order"] and found["Order"]["ruleLines"] == rule_lines(rules["Order"])
        assert (
            'check "paid": total >= 0' in found["Order"]["ruleLines"]
            and "owner  on_target_delete deny" in found["Order"]["ruleLines"]
        )
        assert "rules" not in found["Person"] and found["Person"]["ruleLines"] == []
        address = addresses.path([shop.name, "schema"])
        assert "auto=True" in asking.client.get(address, params={"raw": "python"}).text
        assert "// Rules of the file:" in asking.client.get(address, params={"raw": "swift"}).text
        raw = asking.client.get(address, params={"raw": "json"}).json()
        assert {one["name"]: one.get("rules") for one in raw["classes"]}["Order"] == rules["Order"]


def test_the_page_has_a_place_for_them(shop):
    with Asking(shop) as asking:
        script = asking.client.get("/-/static/schema.js")
        assert script.status_code == 200 and "ruleLines" in script.text and '"Rules"' in script.text


def test_other_rules_are_another_shape(shop):
    """Pages ask for the classes again when their rules have changed."""
    with Asking(shop) as asking:
        before = asking.get(shop.name)["shape"]
        with crealm.open(shop) as db, db.write():
            db["Person"].first().age = 5
        assert asking.get(shop.name)["shape"] == before
        with crealm.open(shop) as db, db.write():
            db.set_rules("Person", {"checks": ["age >= 0 OR age == NULL"]})
        assert asking.get(shop.name)["shape"] != before
        found = {one["name"]: one for one in asking.get(shop.name, "schema")["classes"]}
        assert found["Person"]["ruleLines"] == ["check: age >= 0 OR age == NULL"]


def test_status():
    assert api.status_of(crealm.RuleBroken("x")) == 409 and api.status_of(crealm.SchemaError("x")) == 400


REFUSED = [
    ([change("set", 0, "total", value=-1, of="Order")], "paid"),
    (
        [change("set", 0, "number", value=1, of="Order"), change("set", 0, "owner", value={"$ref": 1}, of="Order")],
        "same values",
    ),
    ([{"do": "create", "class": "Order", "json": '{"total": -5}'}], "paid"),
    ([{"do": "delete", "class": "Person", "key": 0}], "cannot be deleted"),
]


@pytest.mark.parametrize("changes,message", REFUSED)
def test_what_breaks_a_rule_is_refused_and_nothing_is_written(shop, changes, message):
    before = content(shop)
    with Editing(shop) as editing:
        error = editing.edit(*changes, status=409)
        assert error["kind"] == "RuleBroken" and message in error["message"]
        assert content(shop) == before and editing.get(shop.name)["edit"]["undo"] is None
        editing.edit(change("set", 0, "total", value=6, of="Order"))


def test_rows_that_break_a_rule_are_refused(shop):
    with Editing(shop) as editing:
        before = content(shop)
        error = editing.post("rows", 409, **{"class": "Order", "format": "csv", "text": "number,total\n50,1\n51,-1\n"})
        assert error["kind"] == "RuleBroken" and content(shop) == before
        told = editing.post("rows", **{"class": "Order", "format": "csv", "text": "number,total\n50,1\n51,2\n"})
        assert told["total"] == 2 and counts(shop)["Order"] == 5


def test_new_objects_have_what_the_rules_make(shop):
    before = content(shop)
    with Editing(shop) as editing:
        told = editing.edit({"do": "create", "class": "Order", "json": "{}"})
        key = int(told["changes"][0]["key"])
        with crealm.open(shop, mode="snapshot") as db:
            order = db["Order"].get(4)
            assert order.object_key == key and (order.number, order.version) == (7, 1) and order.made == order.changed
        assert editing.edit({"do": "create", "class": "Order", "json": '{"id": 40, "number": 3}'})["total"] == 1
        # Times and revisions that the commits made are no changes of somebody else.
        editing.post("undo")
        editing.post("undo")
        assert content(shop) == before
        editing.post("redo")
        editing.post("redo")
        assert counts(shop)["Order"] == 5


def test_marks_do_not_depend_on_revisions(shop):
    with Editing(shop) as editing:
        told = editing.edit({"do": "delete", "class": "Order", "key": 2}, preview=True)
        with crealm.open(shop) as db, db.write():
            db["Order"].get(3).total = 5
            db["Order"].get(3).version = 100
        assert editing.edit({"do": "delete", "class": "Order", "key": 2, "mark": told["marks"][0]})["total"] == 1
        editing.post("undo")
        told = editing.edit({"do": "delete", "class": "Order", "key": 1}, preview=True)
        with crealm.open(shop) as db, db.write():
            db["Order"].get(2).total = 50
        assert (
            editing.edit({"do": "delete", "class": "Order", "key": 1, "mark": told["marks"][0]}, status=409)["kind"]
            == "Conflict"
        )


def test_a_deletion_tells_what_rules_delete_as_well(shop):
    assert counts(shop) == {"Order": 3, "Part": 4, "Person": 3}
    with Editing(shop) as editing:
        told = editing.edit({"do": "delete", "class": "Order", "key": 0}, preview=True)
        assert (told["total"], told["also"]) == (1, 2) and counts(shop)["Part"] == 4
        assert editing.edit({"do": "delete", "class": "Order", "key": 0, "mark": told["marks"][0]})["also"] == 2
        assert counts(shop) == {"Order": 2, "Part": 2, "Person": 3}
        assert editing.edit({"do": "delete", "class": "Person", "key": 0})["also"] == 0
        editing.post("undo")
        editing.post("undo")
        assert counts(shop) == {"Order": 3, "Part": 2, "Person": 3}
        with crealm.open(shop, mode="snapshot") as db:
            order = db["Order"].get(1)
            assert order.owner.name == "person 0" and len(order.parts) == 0 and order.any is None


@pytest.mark.parametrize("is_outer_first", [True, False])
def test_objects_that_a_rule_deletes_may_be_deleted_by_the_same_edit(shop, is_outer_first):
    with crealm.open(shop, mode="snapshot") as db:
        outer = next(part.object_key for part in db["Part"] if len(part.inner))
        keys = [outer, next(iter(db["Part"][outer].inner)).object_key]
    changes = [{"do": "delete", "class": "Part", "key": key} for key in (keys if is_outer_first else reversed(keys))]
    with Editing(shop) as editing:
        told = editing.edit(*changes, preview=True)
        assert told["total"] == 2 and counts(shop)["Part"] == 4
        told = editing.edit(*({**one, "mark": mark} for one, mark in zip(changes, told["marks"])))
        assert told["total"] == 2 and told["also"] == (1 if is_outer_first else 0) and counts(shop)["Part"] == 2
        error = editing.edit(*changes, status=409)
        assert error["kind"] == "Conflict"


def test_changes_of_classes_keep_the_rules(shop):
    with Editing(shop) as editing:
        editing.post("structure", changes=[{"do": "rename-property", "class": "Order", "name": "total", "to": "sum"}])
        text = {"name": "note", "type": "str", "collection": None, "optional": False, "indexed": False}
        editing.post("structure", changes=[{"do": "add-property", "class": "Order", "property": text}])
        found = {one["name"]: one for one in editing.get(shop.name, "schema")["classes"]}
        assert 'check "paid": sum >= 0' in found["Order"]["ruleLines"] and len(found["Order"]["ruleLines"]) == 9
        assert editing.edit(change("set", 0, "sum", value=-1, of="Order"), status=409)["kind"] == "RuleBroken"


def test_a_comparison_tells_of_rules(shop, tmp_path):
    other = tmp_path / "other.realm"
    shutil.copyfile(shop, other)
    with crealm.open(other) as db, db.write():
        db.set_rules("Part", {})
    with Asking(shop, other) as asking:
        found = asking.get(shop.name, "compare", "file", other.name)
        assert (
            found["schema"] == [{"what": "rule", "class": "Part", "a": None, "b": "inner  on_delete cascade"}]
            and found["total"] == 0
        )


def test_a_download_has_the_rules(shop):
    with Asking(shop) as asking:
        found = asking.client.get(addresses.path([shop.name, "class", "Order"]), params={"download": "json"}).json()
        assert (
            next(one for one in found["$schema"]["classes"] if one["name"] == "Order")["rules"]["checks"][0]["name"]
            == "paid"
        )
