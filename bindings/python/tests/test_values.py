"""Single values of every type are written and read back, at their limits; values that do not fit are refused, and
do not change the object. Each value is read in the same write, after the commit, and after reopening.
"""

import copy
import decimal
import math
import pickle
import struct
import typing
import uuid
from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest

import crealm
from crealm._marshal import decimal_from_bits, decimal_to_bits

UTC = timezone.utc
NS = crealm.Timestamp.from_ns

KINDS = {
    "int": int,
    "bool": bool,
    "double": float,
    "float": crealm.Float32,
    "text": str,
    "data": bytes,
    "time": datetime,
    "decimal": Decimal,
    "uuid": uuid.UUID,
    "oid": crealm.ObjectId,
}
ALL = crealm.ClassSchema(
    "All",
    {
        **KINDS,
        **{name + "_n": crealm.Prop(kind, optional=True) for name, kind in KINDS.items()},
        "int_x": crealm.Prop(int, indexed=True),
        "text_x": crealm.Prop(typing.Optional[str], indexed=True),
        "text_f": crealm.Prop(str, fulltext=True),
        "time_x": crealm.Prop(datetime, indexed=True),
        "any": typing.Any,
        "other": "All",
    },
)
DECIMALS = [
    Decimal(text)
    for text in (
        "0 -0 0E+6111 0E-6176 -0E-6176 1 -1 1.0 1.00 0.1 -0.000001 1E+6111 9.999999999999999999999999999999999E+6144 "
        "1E-6176 9999999999999999999999999999999999 -9999999999999999999999999999999999 1234567890.0987654321 "
        "1E+33 1E+34 1E+6144 123456789012345678901234567890123400 NaN -NaN sNaN NaN123 sNaN9 Infinity -Infinity "
        "8388607 8388608 1E-91 1E+91 9007199254740991 9007199254740992 1E+369 1E-370"
    ).split()
]
VALUES = {
    "int": [0, 1, -1, 2**63 - 1, -(2**63), 127, 128, -128, -129, 2**31, 2**32, 255, 65535],
    "bool": [True, False],
    "double": [0.0, -0.0, 1.5, -1.5, 5e-324, 1.7976931348623157e308, math.inf, -math.inf, math.nan, 0.1, 3],
    "float": [0.0, -0.0, 1.5, 1e-45, 3.4028234663852886e38, math.inf, -math.inf, math.nan, 7],
    "text": [
        "",
        "a",
        "x" * 14,
        "x" * 15,
        "x" * 16,
        "y" * 63,
        "y" * 64,
        "z" * 100_000,
        "ß€😀",
        "a\0b",
        "\uffff",
        "\x7f",
    ],
    "data": [b"", b"\0", bytes(range(256)), b"x" * 64, b"q" * 300_000, bytearray(b"ab"), memoryview(b"cd")],
    "time": [
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
        datetime(2024, 2, 29, 12, tzinfo=timezone(timedelta(hours=-7))),
        NS(1),
        NS(-1),
        NS(-1_000_000_001),
        NS(1_700_000_000_123_456_789),
        crealm.RawTimestamp(2**63 - 1, 999_999_999),
        crealm.RawTimestamp(-(2**63), -999_999_999),
        crealm.RawTimestamp(10**12, 0),
    ],
    "decimal": DECIMALS + [5, -(10**33)],
    "uuid": [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), uuid.UUID("01234567-89ab-cdef-0123-456789abcdef")],
    "oid": [crealm.ObjectId("0" * 24), crealm.ObjectId("f" * 24), crealm.ObjectId(bytes(range(12)))],
}


def same(found, given):
    """Whether the value read equals the value written, bit by bit."""
    if isinstance(given, Decimal):
        digits, exponent = given.as_tuple()[1:]
        if exponent == 0 and given == 0:
            return str(found) in ("0", "-0")  # The format may lose this sign, as other implementations do.
        if isinstance(exponent, int) and not (len(digits) <= 34 and exponent <= 6111):
            return found == given  # It was written with another exponent.
        return repr(found) == repr(given)
    if isinstance(given, datetime):
        return isinstance(found, crealm.Timestamp) and found == given and found.tzinfo is UTC
    if isinstance(given, float):
        return type(found) is type(given) and struct.pack("d", found) == struct.pack("d", given)
    return type(found) is type(given) and found == given


def plain(kind, value):
    """The value that a property of a type returns after a value was written."""
    if kind == "double":
        return float(value)
    if kind == "float":
        return float(crealm.Float32(value))
    if kind == "decimal":
        return Decimal(value)
    return bytes(value) if kind == "data" else value


def in_any(kind, value):
    """The value to write to a property of type Any so that it is stored with this type."""
    return crealm.Float32(value) if kind == "float" else plain(kind, value)


CASES = [(kind, value) for kind, values in VALUES.items() for value in values]


@pytest.fixture
def db(path):
    with crealm.open(path, schema=[ALL]) as db:
        yield db


@pytest.mark.parametrize("kind", list(VALUES))
def test_round_trip(path, kind):
    given = VALUES[kind]
    names = [name for name in (kind, kind + "_n", kind + "_x", kind + "_f") if name in ALL.properties]

    def check(obj, value):
        for name in names:
            assert same(obj[name], plain(kind, value)), (name, obj[name], value)
        assert same(obj.any, in_any(kind, value)), (obj.any, value)

    with crealm.open(path, schema=[ALL]) as db:
        with db.write():
            for value in given:
                check(db["All"].create(any=in_any(kind, value), **{name: value for name in names}), value)
        assert len(db["All"]) == len(given)
        for obj, value in zip(db["All"], given):
            check(obj, value)
    with crealm.open(path, mode="r") as db:
        assert len(db["All"]) == len(given)
        for obj, value in zip(db["All"], given):
            check(obj, value)


@pytest.mark.parametrize("kind", list(VALUES))
def test_none_is_kept_apart_from_empty(db, kind):
    with db.write():
        obj = db["All"].create()
        assert obj[kind + "_n"] is None and obj["any"] is None
        assert obj[kind] is not None
        obj[kind + "_n"] = VALUES[kind][0]
        assert obj[kind + "_n"] is not None
        obj[kind + "_n"] = None
        assert obj[kind + "_n"] is None
        with pytest.raises(crealm.ConstraintError) as info:
            obj[kind] = None
        assert info.value.code == 3002
        assert obj[kind] is not None


WRONG = {
    "int": ["1", 1.0, True, b"", Decimal(1), None.__class__],
    "bool": [0, 1, "true", 0.0],
    "double": ["1", True, Decimal(1), b"1"],
    "float": ["1", False, Decimal(1)],
    "text": [b"a", 1, uuid.UUID(int=1)],
    "data": ["a", 1, [1]],
    "time": [0, "2024-01-01", 1.5, datetime(2024, 1, 1).date()],
    "decimal": [1.5, "1", True],
    "uuid": ["00000000-0000-0000-0000-000000000000", b"0" * 16, 1],
    "oid": ["0" * 24, b"0" * 12, 1],
}


@pytest.mark.parametrize("kind", list(WRONG))
def test_wrong_types(db, kind):
    with db.write():
        obj = db["All"].create()
        before = obj[kind]
        for value in WRONG[kind]:
            with pytest.raises(crealm.TypeMismatch, match=f"All.{kind}: ") as info:
                obj[kind] = value
            assert isinstance(info.value, TypeError)
        assert same(obj[kind], before)


@pytest.mark.parametrize(
    "kind, value",
    [
        ("int", 2**63),
        ("int", -(2**63) - 1),
        ("int", 10**30),
        ("double", 10**400),
        ("double", 2**53 + 1),
        ("double", -(2**53) - 1),
        ("float", 2**24 + 1),
        ("float", 1e300),
        ("float", 3.5e38),
        ("time", crealm.RawTimestamp(2**63, 0)),
        ("time", crealm.RawTimestamp(0, 10**9)),
        ("decimal", Decimal("1" + "0" * 33 + "1")),
        ("decimal", Decimal("1E+6145")),
        ("decimal", Decimal("1E-6177")),
        ("decimal", Decimal("12E-6177")),
        ("decimal", Decimal("1E+999999")),
        ("decimal", Decimal("1E-999999")),
        ("decimal", 10**34 + 1),
        ("decimal", Decimal("7" * 5000)),
        ("decimal", Decimal("NaN" + "1" * 34)),
        ("decimal", Decimal("NaN170")),
    ],
)
def test_values_out_of_range(db, kind, value):
    with db.write():
        obj = db["All"].create()
        before = obj[kind]
        with pytest.raises(crealm.LimitExceeded) as info:
            obj[kind] = value
        assert isinstance(info.value, ValueError)
        assert same(obj[kind], before)


def test_timestamp_whose_parts_disagree_is_refused(db):
    with db.write():
        obj = db["All"].create()
        with pytest.raises(crealm.DataError):
            obj.time = crealm.RawTimestamp(5, -1)


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\udc80"])
def test_lone_surrogates(db, text):
    with db.write():
        obj = db["All"].create(text="before")
        for name in ("text", "any"):
            with pytest.raises(crealm.DataError):
                obj[name] = text
        assert obj.text == "before"
    with pytest.raises(crealm.DataError):
        crealm.open(text, mode="rwc")


def test_integers_for_floats_that_lose_nothing(db):
    with db.write():
        obj = db["All"].create(double=2**53 + 2, float=2**24 + 2)
    assert obj.double == 2**53 + 2 and obj.float == 2**24 + 2


def test_values_of_numpy_and_pandas(db):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")
    with db.write():
        obj = db["All"].create(bool=numpy.bool_(True), int=numpy.int16(-3), double=numpy.float32(0.5), text=numpy.str_("text"))
        with pytest.raises(crealm.LimitExceeded):
            obj.double = numpy.int64(2**53 + 1)
        assert obj.bool is True and obj.int == -3 and obj.double == 0.5 and obj.text == "text"
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        for value in pandas.NaT, pandas.NA, numpy.datetime64("2020-01-01"):
            with pytest.raises(crealm.TypeMismatch, match="All.time_n: Needs datetime, not "):
                obj.time_n = value
        obj.time_n = pandas.Timestamp("2020-01-01T00:00:00.123456789Z")
        assert crealm.timestamp_ns(obj.time_n) % 1000 == 789


def test_naive_datetime_is_refused_with_advice(db):
    with db.write():
        obj = db["All"].create()
        with pytest.raises(crealm.DataError, match="time zone") as info:
            obj.time = datetime(2024, 1, 1)
        assert "aware" in info.value.hint


def test_any_takes_every_type_in_turn(db):
    with db.write():
        obj = db["All"].create()
        other = db["All"].create(int=7)
        for kind, value in CASES:
            value = in_any(kind, value)
            obj.any = value
            assert same(obj.any, value), (kind, value)
            obj.any = other
            assert obj.any == other and obj.any.int == 7
        obj.any = obj
        assert obj.any == obj
        obj.any = None
        assert obj.any is None
        for value in (object(), 1j, {1}, frozenset(), datetime(2024, 1, 1).date()):
            with pytest.raises(TypeError):
                obj.any = value
    # Realm has backlinks only for properties that declare the class of their target.
    with pytest.raises(crealm.NoSuchProperty):
        obj.backlinks("All", "any")
    assert db.verify() == []


# ------------------------------------------------------------------------------------------------
# Decimal128, compared with bits worked out by hand from IEEE 754
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text, high, low",
    [
        ("0", 0x3040_0000_0000_0000, 0),
        ("-0", 0xB040_0000_0000_0000, 0),
        ("1", 0x3040_0000_0000_0000, 1),
        ("-1", 0xB040_0000_0000_0000, 1),
        ("0.1", 0x303E_0000_0000_0000, 1),
        ("1E-6176", 0, 1),
        ("9.999999999999999999999999999999999E+6144", 0x5FFF_ED09_BEAD_87C0, 0x378D_8E63_FFFF_FFFF),
        ("1E+6144", 0x5FFE_314D_C644_8D93, 0x38C1_5B0A_0000_0000),
        ("Infinity", 0x7800_0000_0000_0000, 0),
        ("-Infinity", 0xF800_0000_0000_0000, 0),
        ("NaN", 0x7C00_0000_0000_0000, 0),
        ("sNaN", 0x7E00_0000_0000_0000, 0),
        ("-NaN", 0xFC00_0000_0000_0000, 0),
        ("NaN170", 0x7C00_0000_0000_0000, 170),
        ("18446744073709551616", 0x3040_0000_0000_0001, 0),
    ],
)
def test_decimal_bits(text, high, low):
    assert decimal_to_bits(Decimal(text)) == (high, low)
    found = decimal_from_bits(high, low)
    assert found.compare_total(Decimal(text)) == 0 or found == Decimal(text) == Decimal("1E+6144")


@pytest.mark.parametrize(
    "high, low, text",
    [
        # A coefficient above 10^34 - 1 means zero, in both forms; signs and exponents stay.
        (0x3040_0000_0000_0000 | 0x1_ED09_BEAD_87C0, 0x378D_8E64_0000_0000, "0"),
        (0x3041_FFFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, "0"),
        (0x6C10_0000_0000_0000, 5, "0"),
        (0xEC10_0000_0000_0000, 0, "-0"),
        (0x6C0F_8000_0000_0000, 0, "0.0"),
        # A payload that is too long for a NaN is dropped, and so are the lower bits of an infinity.
        (0x7C00_3FFF_FFFF_FFFF, 0xFFFF_FFFF_FFFF_FFFF, "NaN"),
        (0x7800_0000_0000_0001, 77, "Infinity"),
    ],
)
def test_decimal_bits_that_no_number_has(high, low, text):
    assert str(decimal_from_bits(high, low)) == text


def test_decimal_ignores_the_context():
    with decimal.localcontext() as context:
        context.prec = 3
        context.traps[decimal.Inexact] = True
        value = Decimal("1234567890123456789012345678901234")
        assert decimal_from_bits(*decimal_to_bits(value)).as_tuple() == value.as_tuple()


# ------------------------------------------------------------------------------------------------
# The types of this package
# ------------------------------------------------------------------------------------------------


def test_object_id():
    one = crealm.ObjectId("507f1f77bcf86cd799439011")
    assert repr(one) == "ObjectId('507f1f77bcf86cd799439011')" and str(one) == one.hex
    assert one.bytes.hex() == one.hex and crealm.ObjectId(one.bytes) == one == crealm.ObjectId(one)
    assert one != one.hex and hash(one) == hash(crealm.ObjectId(one.hex))
    assert crealm.ObjectId("0" * 24) < one <= one < crealm.ObjectId("f" * 24)
    assert sorted([one, crealm.ObjectId("0" * 24)])[1] is one
    assert pickle.loads(pickle.dumps(one)) == one == copy.deepcopy(one)
    assert len({crealm.ObjectId() for _ in range(1000)}) == 1000
    for bad in ("", "0" * 23, "g" * 24, b"1", 5):
        with pytest.raises((ValueError, TypeError)):
            crealm.ObjectId(bad)
    with pytest.raises(AttributeError):
        one._bytes = b""


def test_timestamp_is_a_datetime_with_nanoseconds():
    plain = datetime(2024, 5, 6, 7, 8, 9, 123456, tzinfo=UTC)
    moment = crealm.Timestamp.from_ns(crealm.timestamp_ns(plain) + 789)
    assert moment.nanosecond == 789 and moment.timestamp_ns() == crealm.timestamp_ns(plain) + 789
    assert isinstance(moment, datetime) and moment != plain and plain < moment and moment > plain
    assert plain <= moment and not moment <= plain and moment >= plain
    whole = NS(crealm.timestamp_ns(plain))
    assert whole == plain and plain == whole and hash(whole) == hash(plain) and not whole != plain
    assert {plain: 1}[whole] == 1 and moment not in {plain: 1}
    assert moment - plain == timedelta(0) and (moment + timedelta(1)).nanosecond == 0
    assert pickle.loads(pickle.dumps(moment)) == moment == copy.deepcopy(moment) == copy.copy(moment)
    assert pickle.loads(pickle.dumps(moment)).nanosecond == 789
    there = moment.astimezone(timezone(timedelta(hours=5)))
    assert there == moment and there.nanosecond == 789 and there.hour == 12
    assert moment.replace(year=2025).nanosecond == 789 and moment.replace(nanosecond=1).nanosecond == 1
    assert NS(-1).year == 1969 and NS(-1).nanosecond == 999 and NS(-1).timestamp_ns() == -1
    assert sorted([moment, whole]) == [whole, moment]
    with pytest.raises(TypeError):
        moment < datetime(2024, 1, 1)
    assert moment != datetime(2024, 1, 1) and moment != 5
    with pytest.raises(ValueError):
        crealm.timestamp_ns(datetime(2024, 1, 1))
    with pytest.raises(ValueError):
        crealm.Timestamp(2024, 1, 1, nanosecond=1000)


def test_float32():
    assert crealm.Float32(1.5) == 1.5 and repr(crealm.Float32(1.5)) == "Float32(1.5)"
    assert str(crealm.Float32(1.5)) == "1.5" and pickle.loads(pickle.dumps(crealm.Float32(2))) == 2


def test_the_sign_of_a_decimal_zero_is_kept(tmp_path):
    """Also where all values of a leaf are zeros, which take no bytes."""

    class Zeros(crealm.Model):
        id: int = crealm.field(primary_key=True)
        one: Decimal
        many: list[Decimal]
        set: set[Decimal]

    values = [Decimal(text) for text in ("0", "-0", "0", "-0", "-0")]
    with crealm.open(tmp_path / "test.realm", schema=[Zeros]) as db:
        with db.write():
            for id, value in enumerate(values):
                db.add(Zeros(id=id, one=value, many=values[: id + 1], set={value}))
            db[Zeros].get(0).one = Decimal("-0")
        seen = [(str(z.one), [str(v) for v in z.many], [str(v) for v in z.set]) for z in db[Zeros].sort("id")]
        assert db.verify() == []
    texts = [str(value) for value in values]
    assert seen == [("-0" if id == 0 else text, texts[: id + 1], [text]) for id, text in enumerate(texts)]


def test_sets_of_any_keep_every_nan_where_realm_has_it(path):
    """Before all numbers, those without a sign first, in any order of insertion; none makes the file faulty."""

    class Bag(crealm.Model):
        id: int = crealm.field(primary_key=True)
        set: typing.Set[typing.Any]

    negative = struct.unpack("<d", struct.pack("<Q", 0xFFF8_0000_0000_0000))[0]
    decimals = [Decimal(text) for text in ("NaN", "-NaN", "sNaN", "-Infinity", "5")]
    values = [float("nan"), negative, *decimals, float("-inf"), -1, 0.0]
    with crealm.open(path, schema=[Bag]) as db:
        with db.write():
            for id, order in enumerate((values, values[::-1])):
                bag = db.add(Bag(id=id))
                for value in order:
                    bag.set.add(value)
        sets = [[repr(value) for value in bag.set] for bag in db[Bag].sort("id")]
        assert len(sets[0]) == len(sets[1]) and db.verify() == []
        numbers = [value for value in db[Bag].get(0).set if isinstance(value, (float, Decimal))]
        nans = [value for value in numbers if (value.is_nan() if isinstance(value, Decimal) else math.isnan(value))]
        signs = [value.is_signed() if isinstance(value, Decimal) else math.copysign(1, value) < 0 for value in nans]
        assert signs == sorted(signs) and True in signs and False in signs
        assert [repr(value) for value in nans] == sets[0][: len(nans)]
    assert crealm.check(path).result == "sound"
