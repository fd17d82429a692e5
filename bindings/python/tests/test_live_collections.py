"""Changing lists, sets and dictionaries: they behave like those of Python, check all values before anything is
written, and end with their owner."""

import copy
import pickle
import threading
from collections.abc import MutableMapping, MutableSequence, MutableSet

import pytest

import crealm
from conftest import plain


@pytest.fixture
def db(things):
    with things.write():
        yield things


@pytest.fixture
def one(db):
    return db["Thing"].get(1)


# ------------------------------------------------------------------------------------------------
# Lists
# ------------------------------------------------------------------------------------------------


def test_lists_behave_as_lists(one):
    items, model = one.numbers, []
    assert isinstance(items, MutableSequence) and not items
    for change in (
        lambda x: x.append(5),
        lambda x: x.extend([1, 2, 3, 4]),
        lambda x: x.insert(0, 10),
        lambda x: x.insert(-1, 11),
        lambda x: x.insert(99, 12),
        lambda x: x.insert(-99, 13),
        lambda x: x.__setitem__(0, 20),
        lambda x: x.__setitem__(-1, 21),
        lambda x: x.__setitem__(slice(1, 3), [30, 31, 32, 33]),
        lambda x: x.__setitem__(slice(0, 4), [40]),
        lambda x: x.__setitem__(slice(2, 2), (50, 51)),
        lambda x: x.__setitem__(slice(5, 1), [60]),
        lambda x: x.__setitem__(slice(None, None, 2), [70] * len(x[::2])),
        lambda x: x.__setitem__(slice(None, None, -1), list(x)),
        lambda x: x.__setitem__(slice(100, 200), {80}),
        lambda x: x.__delitem__(0),
        lambda x: x.__delitem__(-1),
        lambda x: x.__delitem__(slice(1, 3)),
        lambda x: x.__delitem__(slice(None, None, 3)),
        lambda x: x.__iadd__(iter([7, 8, 7])),
        lambda x: x.reverse(),
        lambda x: x.remove(7),
        lambda x: x.extend(x),
        lambda x: x.__setitem__(slice(2, 3), x),
        lambda x: x.__setitem__(slice(None), x),
        lambda x: x.__delitem__(slice(None, None, -2)),
    ):
        assert change(items) == change(model) or True
        assert items == model and list(items) == model and len(items) == len(model)
        assert repr(items) == repr(model) or len(model) > 8
    assert [items.pop(), items.pop(0), items.pop(-2), items.pop(1)] == [
        model.pop(),
        model.pop(0),
        model.pop(-2),
        model.pop(1),
    ]
    assert items.copy() == model and type(items.copy()) is list and list(reversed(items)) == model[::-1]
    assert items.index(70) == model.index(70) and items.index(70, 4, 99) == model.index(70, 4, 99)
    assert items.index(70, -2) == model.index(70, -2) and items.count(70) == model.count(70) > 1
    items.clear()
    assert items == [] and not items


def test_list_errors(one):
    items = one.numbers
    items.extend([1, 2, 3])
    for action, kind in (
        (lambda: items[3], IndexError),
        (lambda: items.__setitem__(3, 1), IndexError),
        (lambda: items.__setitem__(-4, 1), IndexError),
        (lambda: items.__delitem__(3), IndexError),
        (lambda: items.pop(3), IndexError),
        (lambda: items.move(0, 3), IndexError),
        (lambda: items.__setitem__("0", 1), TypeError),
        (lambda: items.__delitem__(1.0), TypeError),
        (lambda: items.insert("0", 1), TypeError),
        (lambda: items.remove(9), ValueError),
        (lambda: items.index(9), ValueError),
        (lambda: items.index(1, 1), ValueError),
        (lambda: items.index(3, 0, 2), ValueError),
        (lambda: items.__setitem__(slice(None, None, 2), [1]), ValueError),
        (lambda: items.extend(5), TypeError),
        (lambda: items.extend("12"), TypeError),
        (lambda: items.__setitem__(slice(1), 5), TypeError),
        (lambda: items.append("1"), crealm.TypeMismatch),
        (lambda: items.append(True), crealm.TypeMismatch),
        (lambda: items.append(1.0), crealm.TypeMismatch),
        (lambda: items.append([1]), crealm.TypeMismatch),
        (lambda: items.append(None), crealm.ConstraintError),
        (lambda: items.append(2**63), crealm.LimitExceeded),
        (lambda: items.sort(), crealm.NotSupportedError),
        (lambda: hash(items), TypeError),
        (lambda: items < [1], TypeError),
    ):
        with pytest.raises(kind):
            action()
        assert items == [1, 2, 3]
    with pytest.raises(IndexError, match="empty"):
        one.texts.pop()
    with pytest.raises(crealm.NotSupportedError, match=r"sorted\(obj.items\)"):
        items.sort(key=abs, reverse=True)
    with pytest.raises(crealm.TypeMismatch, match="Thing.numbers"):
        items[0] = "x"
    with pytest.raises(crealm.ConstraintError, match="Thing.numbers"):
        items.insert(0, None)
    assert "x" not in items and None not in items and [1] not in items


def test_a_bad_value_among_many_changes_nothing(one):
    one.numbers = [1, 2]
    one.ints = {1, 2}
    one.ages = {"a": 1}
    for change in (
        lambda: one.numbers.extend([3, 4, "x"]),
        lambda: one.numbers.__setitem__(slice(0, 1), [5, None]),
        lambda: setattr(one, "numbers", [5, 6, 7.5]),
        lambda: one.ints.update([3], ["x"]),
        lambda: one.ints.__ior__({3, None}),
        lambda: one.ints.__ixor__({1, "x"}),
        lambda: setattr(one, "ints", {5, "x"}),
        lambda: one.ages.update({"b": 2}, c="x"),
        lambda: one.ages.update({"b": 2, "c.d": 3}),
        lambda: one.ages.update({"b": 2, "$c": 3}),
        lambda: one.ages.update({"b": 2, 5: 3}),
        lambda: setattr(one, "ages", {"b": 2, "c": None}),
    ):
        with pytest.raises(crealm.Error) as info:
            change()
        assert str(info.value).startswith("Thing.")
        assert one.numbers == [1, 2] and one.ints == {1, 2} and one.ages == {"a": 1}


def test_move(one):
    for source, target in ((0, 4), (4, 0), (1, 3), (3, 1), (2, 2), (-1, 0), (0, -1)):
        one.numbers = model = [10, 11, 12, 13, 14]
        one.numbers.move(source, target)
        model.insert(target % 5, model.pop(source))
        assert one.numbers == model


def test_lists_of_links(db, one):
    two, three = db["Thing"].get(2), db["Thing"].get(3)
    links = one.things
    links.extend([two, three, two, one])
    assert list(links) == [two, three, two, one] and links.count(two) == 2 and links.index(three) == 1
    assert two in links and "x" not in links and None not in links
    links[1:3] = [one]
    assert plain(links) == [("link", 2), ("link", 1), ("link", 1)]
    for bad in (None, 5, "Thing", [two], object()):
        with pytest.raises((crealm.TypeMismatch, crealm.ConstraintError)):
            links.append(bad)
    links[:] = [two, three, two]
    three.delete()
    assert plain(links) == [("link", 2), ("link", 2)]
    with pytest.raises(crealm.InvalidatedError):
        links.append(three)
    assert len(links) == 2


def test_large_lists(one):
    one.numbers = range(5000)
    assert len(one.numbers) == 5000 and one.numbers[4321] == 4321 and sum(one.numbers) == sum(range(5000))
    del one.numbers[::2]
    one.numbers.reverse()
    assert one.numbers == list(range(5000))[1::2][::-1]


# ------------------------------------------------------------------------------------------------
# Sets
# ------------------------------------------------------------------------------------------------


def test_sets_behave_as_sets(one):
    items, model = one.ints, set()
    assert isinstance(items, MutableSet) and not items
    for change in (
        lambda x: x.add(5),
        lambda x: x.add(5),
        lambda x: x.update([1, 2, 3], (4,)),
        lambda x: x.discard(4),
        lambda x: x.discard(99),
        lambda x: x.discard("no number"),
        lambda x: x.remove(5),
        lambda x: x.__ior__({7, 8, 9}),
        lambda x: x.__iand__({1, 2, 7, 8}),
        lambda x: x.__isub__({1}),
        lambda x: x.__ixor__({2, 3}),
        lambda x: x.difference_update([8], [9]),
        lambda x: x.symmetric_difference_update([7, 6]),
        lambda x: x.intersection_update([3, 6], {6, 3, 5}),
        lambda x: x.update(x),
        lambda x: x.__isub__(x),
        lambda x: x.update(range(20)),
        lambda x: x.__ixor__(x),
        lambda x: x.update(range(9)),
    ):
        change(items)
        change(model)
        assert items == model and set(items) == model and list(items) == sorted(model)
    assert items | {50} == model | {50} and items & {1, 50} == {1} and items - {1} == model - {1}
    assert items ^ {1, 50} == model ^ {1, 50} and {50} | items == model | {50} and {1, 50} - items == {50}
    assert items.union([60], (61,)) == model.union([60], (61,)) and items.intersection([1], [1, 2]) == {1}
    assert items.difference([1]) == model - {1} and items.symmetric_difference([1]) == model - {1}
    assert items.issubset(range(10)) and items.issuperset([1, 2]) and items.isdisjoint([77])
    assert items.copy() == model and type(items.copy()) is set
    assert {items.pop() for _ in range(9)} == model and not items
    with pytest.raises(KeyError):
        items.pop()
    with pytest.raises(KeyError):
        items.remove(1)
    items.add(3)
    items.clear()
    assert items == set()
    items |= [1]
    assert isinstance(items, crealm.SetView) and items == {1}
    with pytest.raises(TypeError):
        items |= 5
    for bad, kind in ((None, crealm.ConstraintError), ("x", TypeError), ([1], TypeError), (1.5, TypeError)):
        with pytest.raises(kind, match="Thing.ints"):
            items.add(bad)
    assert one.words == set()
    one.words = [None, "b", "a", "b"]
    assert list(one.words) == [None, "a", "b"] and None in one.words
    one.mixed = {1, "a", None, b"x"}
    for bad in ([1], {"a": 1}, {1}, (1, 2)):
        with pytest.raises(crealm.TypeMismatch):
            one.mixed.add(bad)
    assert one.mixed == {1, "a", None, b"x"}


def test_sets_of_links(db, one):
    two, three = db["Thing"].get(2), db["Thing"].get(3)
    one.friends = [two, three, two]
    assert one.friends == {two, three} and two in one.friends and one not in one.friends
    one.friends -= {two}
    one.friends |= {one}
    assert one.friends == {three, one}
    three.delete()
    assert one.friends == {one} and one.friends.pop() == one


def test_values_that_are_equal_only_in_python(one):
    one.mixed = [1, True, "a"]
    assert len(one.mixed) == 3
    one.mixed.discard(True)
    assert list(map(type, one.mixed)) == [int, str]
    one.mixed.add(True)
    one.mixed.intersection_update({"a"})
    assert list(one.mixed) == ["a"]
    one.anys = [1, True]
    assert one.anys.index(True) == 1


# ------------------------------------------------------------------------------------------------
# Dictionaries
# ------------------------------------------------------------------------------------------------


def test_dictionaries_behave_as_dictionaries(one):
    items, model = one.ages, {}
    assert isinstance(items, MutableMapping) and not items
    for change in (
        lambda x: x.__setitem__("b", 1),
        lambda x: x.__setitem__("a", 2),
        lambda x: x.__setitem__("b", 3),
        lambda x: x.__setitem__("", 3),
        lambda x: x.update({"c": 4, "ß😀": 5}),
        lambda x: x.update([("d", 6)], e=7),
        lambda x: x.__ior__({"f": 8}),
        lambda x: x.update(x),
        lambda x: x.__delitem__("a"),
        lambda x: x.setdefault("a", 9),
        lambda x: x.setdefault("b", 9),
        lambda x: x.pop("c"),
        lambda x: x.pop("zzz", 5),
        lambda x: x.pop(5, 5),
    ):
        assert change(items) == change(model) or change is not None
        assert items == model and dict(items) == model and list(items) == sorted(model, key=str.encode)
    assert list(reversed(items)) == sorted(model, key=str.encode)[::-1]
    assert items | {"z": 1} == {**model, "z": 1} and {"z": 1} | items == {"z": 1, **model}
    assert items.copy() == model and type(items.copy()) is dict
    keys, values, pairs = items.keys(), items.values(), items.items()
    assert keys == model.keys() and sorted(values) == sorted(model.values()) and pairs == model.items()
    items["new"] = 77
    assert "new" in keys and 77 in values and ("new", 77) in pairs
    assert keys & {"new", "x"} == {"new"} and len(pairs) == len(model) + 1
    assert items.popitem() == max(items.copy().items() | {("ß😀", 5)}, key=lambda p: p[0].encode())
    assert "ß😀" not in items
    items.clear()
    assert items == {} and len(pairs) == 0
    for action, kind in (
        (lambda: items["x"], KeyError),
        (lambda: items.pop("x"), KeyError),
        (lambda: items.popitem(), KeyError),
        (lambda: items.__delitem__("x"), KeyError),
        (lambda: items.__delitem__(5), KeyError),
        (lambda: items.__setitem__(5, 1), crealm.TypeMismatch),
        (lambda: items.__setitem__(None, 1), crealm.TypeMismatch),
        (lambda: items.__setitem__("a.b", 1), crealm.DataError),
        (lambda: items.__setitem__("$a", 1), crealm.DataError),
        (lambda: items.__setitem__("\ud800", 1), crealm.DataError),
        (lambda: items.__setitem__("a", "1"), crealm.TypeMismatch),
        (lambda: items.__setitem__("a", None), crealm.ConstraintError),
        (lambda: items.setdefault("a"), crealm.ConstraintError),
        (lambda: items.update(5), TypeError),
        (lambda: items.update({}, {}), TypeError),
        (lambda: hash(items), TypeError),
    ):
        with pytest.raises(kind):
            action()
        assert items == {}
    with pytest.raises(crealm.DataError, match="Thing.ages") as info:
        items["a.b"] = 1
    assert info.value.code == 3011


def test_dictionaries_of_links(db, one):
    two = db["Thing"].get(2)
    one.links = {"a": two, "b": None, "c": one}
    assert one.links == {"a": two, "b": None, "c": one}
    two.delete()
    assert one.links == {"a": None, "b": None, "c": one} and one.links.pop("c") == one


# ------------------------------------------------------------------------------------------------
# Collections inside Any
# ------------------------------------------------------------------------------------------------

NESTED = [
    [],
    {},
    [1, "a", None, 2.5, b"x", [2, [3, [4, {}]]]],
    {"a": 1, "b": [1, {"c": {}}], "d": {"e": [[]]}},
    [[[[[[[[1]]]]]]]],
]


@pytest.mark.parametrize("value", NESTED)
def test_nested_collections(things, path, value):
    with things.write():
        one = things["Thing"].get(1)
        one.any = value
        one.anys = [value, 1, value]
        one.notes = {"x": value, "y": 1}
        assert plain(one.any) == value
    things.close()
    with crealm.open(path) as db:
        one = db["Thing"].get(1)
        assert plain(one.any) == value and plain(one.anys) == [value, 1, value]
        assert plain(one.notes) == {"x": value, "y": 1}
        assert one.to_dict()["any"] == value


def test_changing_nested_collections(one):
    one.any = {"list": [1], "dict": {"k": 1}}
    inner = one.any["list"]
    inner.append([2, 3])
    inner[1].insert(0, {"deep": None})
    inner[1][0]["deep"] = [5]
    inner[1][0]["deep"] += [6]
    one.any["dict"].update(k=[7], l={})
    del one.any["dict"]["k"][0]
    assert plain(one.any) == {"list": [1, [{"deep": [5, 6]}, 2, 3]], "dict": {"k": [], "l": {}}}
    assert one.any["list"] == [1, [{"deep": [5, 6]}, 2, 3]] and [{"deep": [5, 6]}, 2, 3] in one.any["list"]
    assert one.any["list"].index([{"deep": [5, 6]}, 2, 3]) == 1
    taken = inner.pop()
    assert taken == [{"deep": [5, 6]}, 2, 3] and type(taken) is list and type(taken[0]) is dict
    assert one.any.pop("dict") == {"k": [], "l": {}} and plain(one.any) == {"list": [1]}
    one.anys = [[1], {"a": 2}]
    one.anys.reverse()
    one.anys.move(0, 1)
    assert plain(one.anys) == [[1], {"a": 2}]
    one.anys.reverse()
    assert plain(one.anys) == [{"a": 2}, [1]]
    one.anys[0], one.anys[1] = one.anys[1].copy(), one.anys[0].copy()
    assert plain(one.anys) == [[1], {"a": 2}]


def test_replacing_nested_collections(one):
    one.any = [1, [2]]
    outer, inner = one.any, one.any[1]
    outer[1] = [3]
    assert not inner.is_valid and plain(outer) == [1, [3]]
    with pytest.raises(crealm.InvalidatedError):
        inner.append(1)
    inner = outer[1]
    one.any = one.any  # The same collection.
    assert outer.is_valid and inner.is_valid and plain(one.any) == [1, [3]]
    one.any = [4]  # The property still has a list, with other contents.
    assert not inner.is_valid and outer == [4] and plain(one.any) == [4]
    one.any += [5]
    assert outer == [4, 5]
    one.any = {"a": 1}
    assert not outer.is_valid
    one.any = one.notes
    assert plain(one.any) == {}
    one.anys = [one.any, [1]]
    one.anys[1] = one.anys
    assert plain(one.anys) == [{}, [{}, [1]]]
    one.notes["self"] = one.notes
    assert plain(one.notes) == {"self": {}}


def test_nesting_has_an_end(one):
    value = 1
    for _ in range(99):
        value = [value]
    one.any, one.anys, one.notes = [value], [value], {"a": value}
    deepest = one.anys
    for _ in range(99):
        deepest = deepest[0]
    assert deepest == [1] and plain(one.any) == [value]
    deepest += [2]
    for bad in ([1], {}):
        with pytest.raises(crealm.LimitExceeded):
            deepest.append(bad)
        with pytest.raises(crealm.LimitExceeded):
            deepest[0] = bad
    assert deepest == [1, 2]
    one.anys, value = [], [value]
    loop = []
    loop.append(loop)
    one.any = "before"
    for bad in ([value], {"a": value}, loop, {"a": {1}}, [{1}]):
        for place in (lambda: setattr(one, "any", bad), lambda: one.anys.append(bad)):
            with pytest.raises(crealm.DataError):
                place()
        assert one.any == "before" and one.anys == []


def test_links_inside_any(db, one):
    two = db["Thing"].get(2)
    one.any = [two, {"to": two}]
    assert one.any[0] == two and one.any[1]["to"] == two
    with pytest.raises(crealm.NoSuchProperty):
        two.backlinks("Thing", "any")
    two.delete()
    assert plain(one.any) == [{"to": None}]


# ------------------------------------------------------------------------------------------------
# Embedded objects
# ------------------------------------------------------------------------------------------------


def test_embedded_objects(db, one):
    one.part = {"name": "a", "sizes": [1, 2], "bits": [{"n": 1}, {"n": 2}], "of": one}
    part = one.part
    assert plain(part) == {"name": "a", "sizes": [1, 2], "of": ("link", 1), "bits": [{"n": 1}, {"n": 2}]}
    part.sizes.append(3)
    part.bits[0].n = 9
    one.part = one.part  # The same object: nothing happens.
    assert part.is_valid and part == one.part
    one.part.name = "b"
    assert part.name == "b"
    one.part = {"name": "c"}
    assert not part.is_valid and plain(one.part) == {"name": "c", "sizes": [], "of": None, "bits": []}
    two = db["Thing"].get(2)
    two.part = one.part  # A copy.
    two.part.sizes.append(5)
    assert one.part.sizes == [] and one.part != two.part and two.part.name == "c"
    one.part = None
    assert one.part is None
    two.delete()
    for bad in (5, [1], "x", one, {"nope": 1}, {"name": 5}, {"sizes": [None]}, {"bits": [{"n": "x"}]}):
        with pytest.raises(crealm.Error):
            one.part = bad
        assert one.part is None


def test_lists_of_embedded_objects(one):
    parts = one.parts
    parts.append({"name": "a"})
    parts.extend([{"name": "b"}, {"name": "c", "bits": [{"n": 1}]}])
    parts.insert(1, {"name": "d"})
    a, d, b, c = parts
    assert [p.name for p in parts] == ["a", "d", "b", "c"] and d in parts and parts.index(c) == 3
    parts.reverse()
    parts.move(0, 3)
    assert [p.name for p in parts] == ["b", "d", "a", "c"] and all(p.is_valid for p in (a, b, c, d))
    parts[0] = {"name": "e"}
    assert not b.is_valid and parts[0].name == "e"
    parts[2] = parts[2]
    parts[:] = parts
    parts += [c]
    one.parts = one.parts
    assert a.is_valid and c.is_valid and [p.name for p in parts] == ["e", "d", "a", "c", "c"]
    assert parts[3] == c != parts[4] and plain(parts[3]) == plain(parts[4])
    taken = parts.pop(3)
    assert taken == {"name": "c", "sizes": [], "of": None, "bits": [{"n": 1}]} and not c.is_valid
    parts[1:3] = [taken, parts[0]]
    assert [p.name for p in parts] == ["e", "c", "e", "c"]
    parts[:] = sorted(parts, key=lambda p: p.name)
    assert [p.name for p in parts] == ["c", "c", "e", "e"]
    parts[0].delete()
    del parts[-1]
    assert [p.name for p in parts] == ["c", "e"]
    with pytest.raises(crealm.Error):
        parts.append(None)
    with pytest.raises(crealm.Error):
        parts.append(5)
    parts.clear()
    assert len(parts) == 0 and not a.is_valid


def test_dictionaries_of_embedded_objects(one):
    rooms = one.rooms
    rooms["a"] = {"name": "x", "sizes": [1]}
    rooms.update(b={"name": "y"}, c=None)
    a = rooms["a"]
    rooms["a"] = rooms["a"]
    assert a.is_valid and rooms["c"] is None and rooms["b"].name == "y"
    rooms["c"] = a
    rooms["a"].name = "z"
    assert rooms["c"].name == "x" and rooms["c"].sizes == [1]
    assert rooms.pop("a") == {"name": "z", "sizes": [1], "of": None, "bits": []} and not a.is_valid
    assert rooms.popitem()[0] == "c" and list(rooms) == ["b"]
    rooms["b"] = None
    assert plain(one.rooms) == {"b": None}


def test_embedded_objects_are_not_linked_to(db, one):
    one.part = {"name": "a"}
    for action in (
        lambda: setattr(one, "any", one.part),
        lambda: one.anys.append(one.part),
        lambda: setattr(one, "other", one.part),
        lambda: one.things.append(one.part),
        lambda: one.mixed.add(one.part),
        lambda: db["Part"].create(name="x"),
        lambda: setattr(one, "part", db["Thing"].get(2)),
    ):
        with pytest.raises((crealm.TypeMismatch, crealm.UsageError)):
            action()
    assert one.any is None and one.part.name == "a"


# ------------------------------------------------------------------------------------------------
# Whole properties
# ------------------------------------------------------------------------------------------------


def test_assigning_replaces_the_contents(db, one):
    items = one.numbers
    one.numbers = (n for n in (1, 2))
    assert items == [1, 2]
    one.numbers = one.numbers
    one.numbers += [3]
    assert items == [1, 2, 3]
    db["Thing"].get(2).numbers = one.numbers
    one.numbers = one.numbers[1:]
    assert items == [2, 3] and db["Thing"].get(2).numbers == [1, 2, 3]
    one.ints = items
    one.ints |= {5}
    one.ints -= {2}
    assert one.ints == {3, 5}
    one.ages = {"a": 1}
    one.ages |= {"b": 2}
    assert one.ages == {"a": 1, "b": 2}
    one.ages = db["Thing"].get(2).ages
    assert one.ages == {}
    for name, bad in (
        ("numbers", None),
        ("numbers", 5),
        ("numbers", "12"),
        ("numbers", {"a": 1}),
        ("ints", None),
        ("ints", b"12"),
        ("ages", None),
        ("ages", [("a", 1)]),
        ("ages", {1: 1}),
    ):
        with pytest.raises(crealm.DataError, match=f"Thing.{name}"):
            setattr(one, name, bad)
    assert items == [2, 3] and one.ints == {3, 5}


def test_create_with_everything(db):
    values = {
        "numbers": [1, 2],
        "anys": [[1], {"a": 2}],
        "parts": [{"name": "p", "bits": [{"n": 4}]}],
        "ints": {3},
        "notes": {"a": [1]},
        "rooms": {"r": {"sizes": [1]}},
        "part": {"name": "q"},
        "any": [1],
        "things": [db["Thing"].get(1), {"id": 20, "numbers": [7]}],
        "other": {"id": 21, "other": {"id": 22}},
    }
    made = db["Thing"].create(10, **values)
    assert made.numbers == [1, 2] and plain(made.anys) == [[1], {"a": 2}] and made.parts[0].bits[0].n == 4
    assert plain(made.things) == [("link", 1), ("link", 20)] and made.things[1].numbers == [7]
    assert made.other.other.id == 22 and plain(made.notes) == {"a": [1]} and made.rooms["r"].sizes == [1]
    same = {"id": 23}
    assert db["Thing"].create(11, things=[same, same], other=same).things == [db["Thing"].get(23)] * 2
    db["Thing"].get(11).delete(), db["Thing"].get(23).delete()
    with pytest.raises(crealm.TypeMismatch):
        db["Thing"].create(30, things=[{"id": 31}, {"id": 32, "numbers": ["x"]}])
    with pytest.raises(crealm.DuplicateKeyError):
        db["Thing"].create(30, things=[{"id": 31}, {"id": 1}])
    with pytest.raises(crealm.DuplicateKeyError):
        db["Thing"].create(30, things=[{"id": 31}, {"id": 31}])
    assert sorted(t.id for t in db["Thing"]) == [1, 2, 3, 10, 20, 21, 22]


# ------------------------------------------------------------------------------------------------
# Writes, owners, threads
# ------------------------------------------------------------------------------------------------


def changes(obj):
    """All ways to change a collection, by the name of the property that the error must contain."""
    n, s, d, a = obj.numbers, obj.ints, obj.ages, obj.any
    return [
        ("numbers", lambda: n.append(1)),
        ("numbers", lambda: n.extend([1])),
        ("numbers", lambda: n.insert(0, 1)),
        ("numbers", lambda: n.__setitem__(0, 1)),
        ("numbers", lambda: n.__setitem__(slice(0, 1), [1])),
        ("numbers", lambda: n.__delitem__(0)),
        ("numbers", lambda: n.__delitem__(slice(0, 1))),
        ("numbers", lambda: n.pop()),
        ("numbers", lambda: n.remove(1)),
        ("numbers", lambda: n.clear()),
        ("numbers", lambda: n.reverse()),
        ("numbers", lambda: n.move(0, 1)),
        ("numbers", lambda: n.__iadd__([1])),
        ("numbers", lambda: setattr(obj, "numbers", [1])),
        ("ints", lambda: s.add(1)),
        ("ints", lambda: s.discard(1)),
        ("ints", lambda: s.remove(1)),
        ("ints", lambda: s.pop()),
        ("ints", lambda: s.clear()),
        ("ints", lambda: s.update([1])),
        ("ints", lambda: s.difference_update([1])),
        ("ints", lambda: s.intersection_update([1])),
        ("ints", lambda: s.symmetric_difference_update([1])),
        ("ints", lambda: s.__ior__({1})),
        ("ints", lambda: s.__iand__({5})),
        ("ints", lambda: s.__isub__({1})),
        ("ints", lambda: s.__ixor__({1})),
        ("ints", lambda: setattr(obj, "ints", {1})),
        ("ages", lambda: d.__setitem__("a", 1)),
        ("ages", lambda: d.__delitem__("a")),
        ("ages", lambda: d.pop("a")),
        ("ages", lambda: d.popitem()),
        ("ages", lambda: d.clear()),
        ("ages", lambda: d.update(a=1)),
        ("ages", lambda: d.setdefault("b", 1)),
        ("ages", lambda: d.__ior__({"a": 1})),
        ("ages", lambda: setattr(obj, "ages", {})),
        ("any", lambda: a.append(1)),
        ("any", lambda: a[0].__setitem__("x", 1)),
        ("any", lambda: setattr(obj, "any", [1])),
        ("part", lambda: setattr(obj, "part", {"name": "x"})),
    ]


def fill(obj):
    obj.numbers = [1, 2]
    obj.ints = {1, 2}
    obj.ages = {"a": 1}
    obj.any = [{"a": 1}]


def test_changes_outside_a_write(things):
    one = things["Thing"].get(1)
    with things.write():
        fill(one)
    before = one.to_dict()
    for name, change in changes(one):
        with pytest.raises(crealm.NotInWriteError, match=f"Thing.{name} .*db.write"):
            change()
    assert one.to_dict() == before


def test_changes_to_a_database_open_for_reading(things, path):
    with things.write():
        fill(things["Thing"].get(1))
    things.close()
    before = path.read_bytes()
    with crealm.open(path, mode="r") as db:
        for name, change in changes(db["Thing"].get(1)):
            with pytest.raises(crealm.ReadOnlyError, match=f"Thing.{name}"):
                change()
    assert path.read_bytes() == before


def test_changes_after_the_end(things):
    one = things["Thing"].get(1)
    with things.write():
        fill(one)
        deleted = changes(one)
        one.delete()
        for _, change in deleted:
            with pytest.raises(crealm.InvalidatedError):
                change()
        two = things["Thing"].get(2)
        fill(two)
    closed = changes(two)
    things.close()
    for _, change in closed:
        with pytest.raises(crealm.ClosedError):
            change()


def test_changes_on_another_thread(things):
    one = things["Thing"].get(1)
    errors = []
    with things.write():
        fill(one)
        before = one.to_dict()

        def work():
            for _, change in actions:
                try:
                    change()
                except crealm.Error as error:
                    errors.append(type(error))

        actions = changes(one)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert errors == [crealm.WrongThreadError] * len(actions)
        assert one.to_dict() == before


def test_rollback_brings_everything_back(things):
    one = things["Thing"].get(1)
    with things.write():
        fill(one)
        one.parts = [{"name": "a"}, {"name": "b"}]
    before, part, inner = one.to_dict(), one.parts[0], one.any[0]
    views = one.numbers, one.ints, one.ages
    with pytest.raises(InterruptedError), things.write():
        one.parts.clear()
        one.any = 5
        one.numbers, one.ints, one.ages = [], [], {}
        created = things["Thing"].create(50, numbers=[1])
        raise InterruptedError
    assert one.to_dict() == before and not created.is_valid
    assert views == ([1, 2], {1, 2}, {"a": 1}) and part.name == "a" and inner == {"a": 1}


def test_looping_while_changing(one):
    one.numbers = range(10)
    for value in one.numbers:
        if value % 2:
            one.numbers.remove(value)
    assert one.numbers == [0, 2, 4, 6, 8]
    one.ages = {c: 1 for c in "abcdef"}
    for key in list(one.ages):
        del one.ages[key]
    assert one.ages == {}


def test_collections_cannot_be_copied_or_pickled(one):
    for view in (one.numbers, one.ints, one.ages):
        for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                attempt(view)
