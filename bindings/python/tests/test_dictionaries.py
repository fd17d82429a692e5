"""to_dicts() reads columns where it can: it gives what to_dict() of each object gives."""

import datetime
import decimal
import enum
import random
import uuid
from typing import List, Optional

import crealm
import pytest
from crealm import _dicts


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Owner(crealm.Model):
    name: str


class Thing(crealm.Model):
    id: int = crealm.field(primary_key=True)
    maybe: Optional[int]
    flag: bool
    double: Optional[float]
    text: Optional[str]
    data: Optional[bytes]
    when: Optional[datetime.datetime]
    money: Optional[decimal.Decimal]
    oid: Optional[crealm.ObjectId]
    uid: Optional[uuid.UUID]
    colour: Optional[Colour]
    owner: Optional[Owner]
    other: Optional["Thing"]


def filled(rng, owners):
    def or_none(value):
        return None if rng.random() < 0.2 else value

    return dict(
        maybe=or_none(rng.randrange(-(1 << 63), 1 << 63)),
        flag=rng.random() < 0.5,
        double=or_none(rng.choice([0.0, -0.0, 1.5, float("inf"), rng.random()])),
        text=or_none(rng.choice(["", "é\0ü", "x" * 100])),
        data=or_none(rng.randbytes(rng.randrange(5))),
        when=or_none(datetime.datetime.fromtimestamp(rng.randrange(-(10**9), 10**9), datetime.timezone.utc)),
        money=or_none(decimal.Decimal(rng.randrange(10**20)) / 1000),
        oid=or_none(crealm.ObjectId()),
        uid=or_none(uuid.UUID(int=rng.getrandbits(128))),
        colour=or_none(rng.choice(list(Colour))),
        owner=or_none(rng.choice(owners)),
    )


@pytest.fixture
def db(tmp_path):
    rng = random.Random(1)
    with crealm.open(tmp_path / "things.realm", schema=[Thing, Owner]) as db:
        with db.write():
            owners = [db.add(Owner(name=f"owner {i}")) for i in range(5)]
            made = []
            for i in range(300):
                thing = db.add(Thing(id=i, **filled(rng, owners)))
                if made and rng.random() < 0.5:
                    thing.other = rng.choice([*made, thing])
                made.append(thing)
        yield db


def by_column(results, depth=1):
    """Whether the results are read by columns."""
    bound = results._row_class()
    return _dicts.rows(results._handle, bound, depth, results._target_of) is not None


def test_all_types_equal_those_of_the_objects(db):
    for results in [
        db[Thing].where("TRUEPREDICATE"),
        db[Thing].where("id > 100").sort("-maybe", "id").limit(50),
        db["Thing"].where("flag == true"),
        db[Thing].where("id < 0"),
        db[Owner].where("TRUEPREDICATE"),
    ]:
        assert by_column(results)
        found = results.to_dicts()
        assert found == [row.to_dict() for row in results]
        assert [list(row) for row in found] == [list(row.to_dict()) for row in results]
        for one, row in zip(found, results):
            assert [type(value) for value in one.values()] == [
                type(value) for value in row.to_dict().values()
            ]
    assert db[Thing].to_dicts() == [row.to_dict() for row in db[Thing]]
    assert db[Thing].to_dicts(2) == [row.to_dict(2) for row in db[Thing]]
    assert not by_column(db[Thing].where("TRUEPREDICATE"), 2)


def test_objects_that_are_gone_are_none(db):
    snapshot = db[Thing].where("id < 10").snapshot()
    with db.write():
        db[Thing].get(3).delete()
        assert db[Thing].where("id < 5").to_dicts() == [row.to_dict() for row in db[Thing].where("id < 5")]
    found = snapshot.to_dicts()
    assert found[3] is None and [row["id"] for row in found if row] == [0, 1, 2, 4, 5, 6, 7, 8, 9]


def test_times_of_all_years_and_a_write_in_progress(db):
    with db.write():
        thing = db[Thing].get(5)
        thing.when = datetime.datetime(9999, 12, 31, tzinfo=datetime.timezone.utc)
        assert db[Thing].to_dicts()[5]["when"] == thing.when
    assert db[Thing].to_dicts() == [row.to_dict() for row in db[Thing]]


def test_classes_with_collections_are_read_object_by_object(tmp_path):
    class Bag(crealm.Model):
        names: List[str]

    with crealm.open(tmp_path / "bags.realm", schema=[Bag]) as db:
        with db.write():
            db.add(Bag(names=["a", "b"]))
        assert not by_column(db[Bag].where("TRUEPREDICATE"))
        assert db[Bag].to_dicts() == [{"names": ["a", "b"]}]


def test_selected_columns(db):
    things = db[Thing].where("owner != nil").sort("-id")
    found = things.select("id", Thing.owner.name, "colour").to_dicts()
    assert found == [{"id": row.id, "owner.name": row.owner.name, "colour": row.colour} for row in things]
    assert db[Thing].select("other").to_dicts()[:50] == [
        {"other": row.other and row.other.id} for row in list(db[Thing])[:50]
    ]
    assert len(db[Thing].select().to_dicts()[0]) == 13
    assert things.where("id < 0").select("id").to_dicts() == []
    with pytest.raises(crealm.Error):
        things.select("nothing").to_dicts()
