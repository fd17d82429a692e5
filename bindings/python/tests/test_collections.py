"""Reading lists, sets, dictionaries and nested collections that other implementations wrote."""

import shutil
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Any

import pytest

import crealm
from conftest import FIXTURES

VIEWS = (crealm.List, crealm.Dictionary)


@pytest.fixture
def full(tmp_path):
    """An object with filled collections of every kind, in a file open for writing."""
    file = tmp_path / "full.realm"
    shutil.copyfile(FIXTURES / "ops" / "full-1.realm", file)
    with crealm.open(file) as db:
        yield db
        assert db.verify() == []


def longest(db, name):
    return max(db["All"], key=lambda obj: len(obj[name]))


def test_lists(full):
    obj = longest(full, "l_in")
    items = obj.l_in
    plain = list(items)
    assert isinstance(items, Sequence) and isinstance(items, crealm.List) and items.is_valid
    assert (
        len(items) == len(plain) > 2
        and items == plain
        and plain == items
        and items == tuple(plain)
        and items != plain[1:]
    )
    assert (
        items[0] == plain[0]
        and items[-1] == plain[-1]
        and items[1:3] == plain[1:3]
        and items[::-1] == plain[::-1]
    )
    assert list(reversed(items)) == plain[::-1]
    for value in plain:
        assert (
            value in items
            and items.count(value) == plain.count(value)
            and items.index(value) == plain.index(value)
        )
    for absent in (123456789123, "text", 1.5, 2**70, object(), [1], b"x", True):
        assert absent not in items
    with pytest.raises(IndexError):
        items[len(plain)]
    with pytest.raises(IndexError):
        items[-len(plain) - 1]
    with pytest.raises(TypeError):
        items["0"]
    with pytest.raises(TypeError):
        hash(items)
    assert None not in longest(full, "l_i").l_i and items != "text"
    links = longest(full, "l_link").l_link
    assert all(isinstance(o, crealm.Object) and o.class_name == "Str" and o in links for o in links)
    assert full["NoPk"].first() not in links
    assert all(o.class_name == "Emb" and o.x == o["x"] for o in longest(full, "l_emb").l_emb)


def test_sets(full):
    for name in ("e_i", "e_s", "e_u"):
        values = longest(full, name)[name]
        plain = set(values)
        assert isinstance(values, Set) and isinstance(values, crealm.SetView) and values.is_valid
        assert (
            len(values) == len(plain) > 1
            and values == plain
            and plain == values
            and all(v in values for v in plain)
        )
        one = next(iter(plain))
        assert values - {one} == plain - {one} and type(values & {one}) is set and values | {one} == plain
        assert values >= {one} and not values.isdisjoint({one}) and {one} <= values and values > {one}
        for absent in (object(), 2**70, "\ud800", [1], 1.25):
            assert absent not in values
        assert repr(values).startswith("{")
        with pytest.raises(TypeError):
            hash(values)
    assert list(longest(full, "e_i").e_i) == sorted(longest(full, "e_i").e_i)


def test_dictionaries(full):
    pairs = longest(full, "h_i").h_i
    plain = dict(pairs)
    assert isinstance(pairs, Mapping) and isinstance(pairs, crealm.Dictionary) and pairs.is_valid
    assert len(pairs) == len(plain) > 1 and pairs == plain and plain == pairs
    assert list(pairs) == sorted(plain, key=str.encode) == list(pairs.keys())
    assert list(pairs.values()) == list(plain.values()) and list(pairs.items()) == list(plain.items())
    assert len(pairs.items()) == len(plain) and next(iter(plain.items())) in pairs.items()
    for key, value in plain.items():
        assert pairs[key] == value == pairs.get(key) and key in pairs and value in pairs.values()
    for absent in ("nothing", 5, None, "\ud800", b"k0"):
        assert absent not in pairs and pairs.get(absent, "default") == "default"
        with pytest.raises(KeyError):
            pairs[absent]
    assert all(link is None or link.class_name == "Str" for link in longest(full, "h_link").h_link.values())
    with pytest.raises(TypeError):
        hash(pairs)


def test_views_are_live_and_end_with_their_object(full):
    obj = longest(full, "l_link")
    links, numbers, values, pairs = obj.l_link, obj.l_i, obj.e_i, obj.h_i
    target = links[0]
    before = len(links)
    with full.write():
        gone = links.count(target)
        target.delete()
        assert len(links) == before - gone
        kept = obj.emb if obj.emb else next((o.emb for o in full["All"] if o.emb), None)
        obj.delete()
        for view in (links, numbers, values, pairs):
            assert not view.is_valid and "InvalidatedError" in repr(view)
            for action in (lambda v=view: len(v), lambda v=view: list(v), lambda v=view: 1 in v):
                with pytest.raises(crealm.InvalidatedError):
                    action()
    assert kept is not None


def test_backlinks(full):
    wanted = {}
    for obj in full["All"]:
        for name in ("link", "l_link"):
            for target in [obj.link] if name == "link" else obj.l_link:
                if target is not None:
                    wanted.setdefault((target, name), []).append(obj)
    assert wanted
    for target in full["Str"]:
        for name in ("link", "l_link"):
            found = target.backlinks("All", name)
            assert sorted(o.object_key for o in found) == sorted(
                o.object_key for o in wanted.get((target, name), [])
            )
            assert found == list(found) and len(found) == len(list(found)) and found.is_valid
            assert all(o in found for o in found)
    (target, name), sources = max(wanted.items(), key=lambda item: len(item[1]))
    found = target.backlinks("All", name)
    with full.write():
        for source in found:  # The loop visits the objects that were in the results when it began.
            source.delete()
        assert len(found) == 0 and list(found) == []
        target.delete()
    assert list(found) == []


@pytest.mark.parametrize("number", [1, 2, 3])
def test_nested_collections(tmp_path, number):
    file = tmp_path / "nested.realm"
    shutil.copyfile(FIXTURES / "ops" / f"nested-{number}.realm", file)
    with crealm.open(file) as db:
        depths = []

        def visit(value, depth):
            depths.append(depth)
            if isinstance(value, crealm.List):
                for position, element in enumerate(value):
                    visit(element, depth + 1)
                    assert isinstance(element, VIEWS) or element is None or element in value
                    assert plain(value[position]) == plain(element)
            elif isinstance(value, crealm.Dictionary):
                for key, element in value.items():
                    visit(element, depth + 1)
                    assert plain(value[key]) == plain(element)

        owner, nested = None, None
        for obj in db["All"]:
            for value in [obj.m, obj.l_m, obj.h_m]:
                visit(value, 0)
            if isinstance(obj.m, VIEWS):
                owner, nested = obj, obj.m
            assert plain(obj.m) == obj.to_dict()["m"]
        assert max(depths) >= 2
        if nested is not None:
            with db.write():
                owner.m = 5
                assert not nested.is_valid
                with pytest.raises(crealm.InvalidatedError):
                    len(nested)
        assert db.verify() == []


def plain(value):
    if isinstance(value, crealm.Dictionary):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, crealm.List):
        return [plain(v) for v in value]
    if isinstance(value, crealm.Object):
        return {"$ref": value.object_key, "$class": value.class_name}
    return value


def test_empty_collections_of_every_type(path):
    kinds = [int, str, bytes, datetime, crealm.Float32, Any, "Thing"]
    properties = {f"l{i}": list[k] for i, k in enumerate(kinds)}
    properties.update({f"s{i}": set[k] for i, k in enumerate(kinds)})
    properties.update({f"d{i}": dict[str, k] for i, k in enumerate(kinds)})
    with crealm.open(path, schema=[crealm.ClassSchema("Thing", properties)]) as db:
        with db.write():
            thing = db["Thing"].create()
        for name in properties:
            view = thing[name]
            assert len(view) == 0 and list(view) == [] and view.is_valid and 5 not in view and not view
            assert view == {"l": [], "s": set(), "d": {}}[name[0]]
            assert repr(view) == {"l": "[]", "s": "{}", "d": "{}"}[name[0]]
        assert thing.to_dict() == {name: {"l": [], "s": set(), "d": {}}[name[0]] for name in properties}
