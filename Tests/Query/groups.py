"""Compares random group queries with a second calculation in plain Python, and with DuckDB where its rules agree.

    python groups.py --seeds 0-99 [--queries 60] [--rows 120] [--known]

Each seed makes one database in memory: a class Row with nullable properties of every type, links, Mixed and
collections, and a class Other behind the links. Then each query groups the rows, and the columns of its result are
compared with those of `Model`, which knows docs/query-language.md §22 and nothing of the engine. Queries over plain
properties are compared with DuckDB, too, when the package is installed. A difference is printed with its seed, the
number of the query, its text, and the first row that differs; the exit code is then 1.
"""

from __future__ import annotations

import argparse
import ctypes
import math
import random
import sys
import time
import uuid
from collections import Counter
from datetime import datetime, timedelta, timezone
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

import crealm
from crealm import _arrow, aggregates
from crealm import _marshal as c
from crealm._library import _blocking
from crealm._query import Query

try:
    import duckdb
except ImportError:
    duckdb = None

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
SMALLEST, LARGEST = -(2**63), 2**63 - 1
DECIMALS = Context(prec=34, Emax=6144, Emin=-6143, clamp=1, traps=[])
NAN = "not-a-number"


class Other(crealm.Model):
    code: str = crealm.field(primary_key=True)
    n: Optional[int]
    s: Optional[str]
    g: Optional[float]
    at: Optional[datetime]
    d: Optional[Decimal]
    next: Optional["Other"]


class Row(crealm.Model):
    id: int = crealm.field(primary_key=True)
    n: int
    ni: Optional[int] = crealm.field(index=True)
    f: Optional[crealm.Float32]
    g: Optional[float]
    g2: float
    b: Optional[bool]
    s: Optional[str] = crealm.field(index=True)
    s2: str
    x: Optional[bytes]
    at: Optional[datetime]
    d: Optional[Decimal]
    o: Optional[crealm.ObjectId]
    u: Optional[uuid.UUID]
    m: Any
    e: Optional[Other]
    li: list[Optional[int]]
    lg: list[float]
    ls: list[str]
    ld: list[Optional[Decimal]]
    st: set[int]
    dc: dict[str, Optional[int]]
    lm: list[Any]
    es: list[Other]


class Moment(NamedTuple):
    """A point in time. Nanoseconds are 0 to 999,999,999, also before 1970."""

    seconds: int
    nanoseconds: int


class Identifier(NamedTuple):
    """An object id or a UUID."""

    kind: str
    data: bytes


# ------------------------------------------------------------------------------------------------
# Random values
# ------------------------------------------------------------------------------------------------


class Values:
    """Random values; few different ones, so that groups have several rows."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.is_extreme = chance.random() < 0.3
        self.is_far = chance.random() < 0.25
        self.is_infinite = self.is_extreme or chance.random() < 0.3
        pool_size = chance.choice([2, 4, 10])
        self.pools = {
            kind: [maker() for _ in range(pool_size)]
            for kind, maker in {
                "int": self.new_int, "float": self.new_float, "double": self.new_double, "string": self.new_string,
                "binary": self.new_binary, "moment": self.new_moment, "decimal": self.new_decimal,
                "objectid": lambda: Identifier("objectid", chance.randbytes(12)),
                "uuid": lambda: Identifier("uuid", chance.randbytes(16)), "bool": lambda: chance.random() < 0.5,
            }.items()
        }

    def get(self, kind: str, none: float = 0.0) -> Any:
        if self.chance.random() < none:
            return None
        if kind == "mixed":
            return self.mixed()
        if kind in ("int", "double") and self.chance.random() < 0.2:
            return self.new_int() if kind == "int" else self.new_double()
        return self.chance.choice(self.pools[kind])

    def mixed(self) -> Any:
        kind = self.chance.choice(
            ["int", "int", "double", "decimal", "string", "bool", "moment", "binary", "uuid", "none"]
        )
        if kind == "none":
            return None
        if kind == "double":  # Numbers that every type expresses exactly: §14 leaves open which others are equal.
            return self.chance.choice([0.0, -0.0, 1.0, 1.5, 2.0, -7.25, math.nan, self.infinite()[0]])
        if kind == "decimal":
            return self.chance.choice([Decimal("1"), Decimal("1.50"), Decimal("2.0"), Decimal("NaN"), Decimal("-3")])
        if kind == "int":
            return self.chance.choice([0, 1, 1, 2, 3, -5, 2**53 + 1 if self.is_extreme else 4])
        return self.get(kind)

    def new_int(self) -> int:
        if self.is_extreme:
            return self.chance.choice(
                [SMALLEST, LARGEST, SMALLEST + 1, LARGEST - 1, 2**62, -(2**62), 2**53, 2**53 + 1, 0, 1, -1, 2**32]
            )
        some = self.chance.randint(-1000, 1000)
        return self.chance.choice([0, 1, 2, 3, -1, -2, 5, 7, 10, 100, -100, 255, 65536, some])

    def new_float(self) -> float:
        return self.chance.choice([0.0, -0.0, 1.5, -2.25, 0.5, 100.0, crealm.Float32(0.1), math.nan, *self.infinite()])

    def infinite(self) -> List[float]:
        return [math.inf, -math.inf] if self.is_infinite else [7.0]

    def new_double(self) -> float:
        if self.is_extreme:
            return self.chance.choice([1e308, -1e308, 5e-324, math.inf, -math.inf, math.nan, 1e16, 1.0, -0.0, 2.0**63])
        return self.chance.choice([0.0, -0.0, 0.1, 0.2, 1.5, -2.25, math.nan, 3.0, self.chance.uniform(-10, 10)])

    def new_string(self) -> str:
        return self.chance.choice(
            ["", "a", "A", "b", "é", "E\u0301", "日本", "🦊", "a b", "NULL", "ß", "z" * 70, "it's", '"', "\\"]
        )

    def new_binary(self) -> bytes:
        return self.chance.choice([b"", b"\0", b"\xff\xfe", b"abc", b"a", bytes(range(40))])

    def new_moment(self) -> Moment:
        if self.is_far:
            return self.chance.choice([
                Moment(SMALLEST + 100_000, 0), Moment(LARGEST - 100_000, 0), Moment(-62135596801, 0),
                Moment(253402300800, 0),
                Moment(-9_223_372_036, 0), Moment(9_223_372_037, 0), Moment(0, 0), Moment(-377705116800, 0),
            ])
        seconds = self.chance.choice([0, -1, 1, 86399, 86400, -86400, -86401, 951782400, 1582934400, 4107542400,
                                      -2203891200, self.chance.randint(-2**33, 2**33), 1704067199])
        return Moment(seconds, self.chance.choice([0, 0, 0, 1, 999_999_999, 500_000_000, 123_456_000, 7_000_000]))

    def new_decimal(self) -> Decimal:
        return Decimal(self.chance.choice([
            "0", "-0", "1", "1.0", "1.10", "1.1", "0.1", "-3.5", "NaN", "1E+3", "1000",
            "9999999999999999999999999999999999",
            "1234567890.123456789012345678901234", "1E-30", "Infinity" if self.is_extreme else "2", "9.9E+6100" if
            self.is_extreme else "7",
        ]))


def stored(value: Any) -> Any:
    """A value in the form that the package accepts."""
    if isinstance(value, Moment):
        seconds, nanoseconds = value
        if seconds < 0 and nanoseconds:
            seconds, nanoseconds = seconds + 1, nanoseconds - 1_000_000_000
        if -62135596800 <= value.seconds < 253402300800:
            moment = EPOCH + timedelta(seconds=value.seconds, microseconds=value.nanoseconds // 1000)
            parts = (*moment.timetuple()[:6], moment.microsecond, timezone.utc)
            return crealm.Timestamp(*parts, nanosecond=value.nanoseconds % 1000)
        return crealm.RawTimestamp(seconds, nanoseconds)
    if isinstance(value, Identifier):
        return crealm.ObjectId(value.data) if value.kind == "objectid" else uuid.UUID(bytes=value.data)
    if isinstance(value, list):
        return [stored(element) for element in value]
    return value


PROPERTIES = {
    "n": ("int", 0.0), "ni": ("int", 0.25), "f": ("float", 0.2), "g": ("double", 0.2), "g2": ("double", 0.0),
    "b": ("bool", 0.3), "s": ("string", 0.2), "s2": ("string", 0.0), "x": ("binary", 0.2), "at": ("moment", 0.15),
    "d": ("decimal", 0.2), "o": ("objectid", 0.2), "u": ("uuid", 0.2), "m": ("mixed", 0.1),
}
COLLECTIONS = {
    "li": ("int", 0.2), "lg": ("double", 0.0), "ls": ("string", 0.0), "ld": ("decimal", 0.2), "lm": ("mixed", 0.1),
}
OF_OTHER = {"n": ("int", 0.3), "s": ("string", 0.3), "g": ("double", 0.2), "at": ("moment", 0.3), "d": ("decimal", 0.3)}


class Data:
    """A database and its content as dictionaries."""

    def __init__(self, chance: random.Random, most_rows: int = 120) -> None:
        self.values = Values(chance)
        get = self.values.get
        self.others: List[Dict[str, Any]] = []
        for number in range(chance.choice([0, 1, 4])):
            other = {name: get(kind, none) for name, (kind, none) in OF_OTHER.items()}
            other["code"] = f"o{number}"
            other["next"] = chance.choice([None, *self.others])
            self.others.append(other)
        self.rows: List[Dict[str, Any]] = []
        for number in range(min(chance.choice([0, 1, 2, 10, 40, 40, 120, 1500, 5000]), most_rows)):
            row = {name: get(kind, none) for name, (kind, none) in PROPERTIES.items()}
            row["id"] = number * 3
            row["e"] = chance.choice([None, *self.others])
            for name, (kind, none) in COLLECTIONS.items():
                row[name] = [get(kind, none) for _ in range(chance.choice([0, 0, 1, 2, 5]))]
            row["st"] = sorted({get("int") for _ in range(chance.choice([0, 1, 3]))})
            row["dc"] = {key: get("int", 0.2) for key in chance.sample("abcdé", chance.choice([0, 1, 3]))}
            row["es"] = [chance.choice(self.others) for _ in range(chance.choice([0, 1, 3]))] if self.others else []
            self.rows.append(row)
        self.db = crealm.memory(schema=[Row, Other])
        with self.db.write():
            made = {}
            for other in self.others:
                plain = {name: stored(other[name]) for name in OF_OTHER}
                following = other["next"] and made[other["next"]["code"]]
                made[other["code"]] = self.db.add(Other(code=other["code"], next=following, **plain))
            for row in self.rows:
                plain = {name: stored(row[name]) for name in [*PROPERTIES, *COLLECTIONS, "id"]}
                plain["e"] = row["e"] and made[row["e"]["code"]]
                plain["st"], plain["dc"] = set(row["st"]), row["dc"]
                plain["es"] = [made[other["code"]] for other in row["es"]]
                self.db.add(Row(**plain))


# ------------------------------------------------------------------------------------------------
# The second calculation
# ------------------------------------------------------------------------------------------------


def is_nan(value: Any) -> bool:
    return isinstance(value, (float, Decimal)) and value != value


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)


def group_key(value: Any) -> Any:
    """Equal for values of one group."""
    if is_nan(value):
        return NAN
    if isinstance(value, (bool, Moment, Identifier)):
        return type(value).__name__, value
    if isinstance(value, float):
        return float(value) + 0.0
    return value


RANKS = {bool: 1, int: 2, float: 2, Decimal: 2, crealm.Float32: 2, str: 3, bytes: 4, Moment: 5}


def order_key(value: Any) -> Any:
    """The order of SORT ASC, §14."""
    if value is None:
        return (0,)
    if isinstance(value, Identifier):
        return (6 if value.kind == "objectid" else 7), value.data
    if is_nan(value):
        return 2, 0
    if is_number(value):
        return 2, 1, value
    if isinstance(value, str):
        return 3, value.encode("utf-8")
    return RANKS[type(value)], value


def as_decimal(value: Any) -> Decimal:
    """A number as a decimal: doubles have 15 digits, floats 7."""
    if isinstance(value, crealm.Float32):
        return Decimal(f"{float(value):.6e}") if math.isfinite(value) else Decimal(value)
    if isinstance(value, float):
        return Decimal(f"{value:.14e}") if math.isfinite(value) else Decimal(value)
    return DECIMALS.create_decimal(value)


def civil(days: int) -> Tuple[int, int, int]:
    """Year, month and day of a day since 1970-01-01, for any year."""
    cycles, rest = divmod(days + 719468, 146097)
    years = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
    day_of_year = rest - (365 * years + years // 4 - years // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return years + 400 * cycles + (month <= 2), month, day


def date_part(part: str, value: Any) -> Any:
    if not isinstance(value, Moment):
        return None
    days, seconds = divmod(value.seconds, 86400)
    if part in ("year", "month", "day"):
        return civil(days)[("year", "month", "day").index(part)]
    if part == "weekday":
        return (days + 3) % 7 + 1
    if part == "date":
        return Moment(days * 86400, 0)
    return {"hour": seconds // 3600, "minute": seconds // 60 % 60, "second": seconds % 60}[part]


def whole(value: int) -> Any:
    """An integer that the engine stores, or the decimal that replaces it."""
    return value if SMALLEST <= value <= LARGEST else DECIMALS.create_decimal(value)


def calculated(operator: str, left: Any, right: Any) -> Any:
    """§9 for ints and doubles."""
    if left is None or right is None:
        return None
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        left, right = as_decimal(left), as_decimal(right)
        return {"+": DECIMALS.add, "-": DECIMALS.subtract, "*": DECIMALS.multiply}[operator](left, right)
    if operator == "/":
        if isinstance(left, float) or isinstance(right, float):
            return float(left) / float(right)
        return whole(abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1))
    try:
        made = {"+": lambda: left + right, "-": lambda: left - right, "*": lambda: left * right}[operator]()
    except OverflowError:
        made = math.nan
    return whole(made) if isinstance(made, int) else made


# With --known, values whose columns have a wrong type are used, too, and the differences by overflow are printed.
DOUBTFUL = ("n + g", "n - d", "f + g2")
IS_KNOWN = "--known" in sys.argv


class Operand(NamedTuple):
    """A value of the query language: its text, its type, and its values for a row, a list if there may be several."""

    text: str
    kind: str
    read: Callable[[Dict[str, Any]], Any]
    is_many: bool = False
    duckdb: Optional[str] = None


def hop(row: Dict[str, Any], *names: str) -> Any:
    value: Any = row
    for name in names:
        if value is None:
            return None
        value = value[name]
    return value


def operands() -> List[Operand]:
    found: List[Operand] = []
    for name, (kind, _) in PROPERTIES.items():
        plain = f'"{name}"' if kind in ("int", "double", "bool", "string", "moment", "float") else None
        found.append(Operand(name, kind, lambda row, name=name: row[name], False, plain))
        found.append(found[-1])
    for name, (kind, _) in OF_OTHER.items():
        found.append(Operand(f"e.{name}", kind, lambda row, name=name: hop(row, "e", name)))
        found.append(Operand(f"es.{name}", kind, lambda row, name=name: [other[name] for other in row["es"]], True))
    found.append(Operand("e.next.n", "int", lambda row: hop(row, "e", "next", "n")))
    found.append(Operand("e", "link", lambda row: hop(row, "e", "code")))
    found.append(Operand("e.next", "link", lambda row: hop(row, "e", "next", "code")))
    found.append(Operand("es", "link", lambda row: [other["code"] for other in row["es"]], True))
    for part in ("year", "month", "day", "hour", "minute", "second", "weekday", "date"):
        kind = "moment" if part == "date" else "int"
        for path, read in (("at", lambda row: row["at"]), ("e.at", lambda row: hop(row, "e", "at")),
                           ("m", lambda row: row["m"])):
            special = {"weekday": "isodow(at_us)", "date": "date_trunc('day', at_us)",
                       "second": "CAST(floor(second(at_us)) AS BIGINT)"}
            sql = special.get(part, f"{part}(at_us)") if path == "at" else None
            found.append(Operand(
                f"{part}({path})", kind, lambda row, part=part, read=read: date_part(part, read(row)), False, sql
            ))
    for text, operator, left, right, kind in (
        ("ni + 1", "+", "ni", 1, "int"), ("n * 2", "*", "n", 2, "int"), ("ni - n", "-", "ni", "n", "int"),
        ("n / 3", "/", "n", 3, "int"), ("(n * ni)", "*", "n", "ni", "int"), ("g * 2.0", "*", "g", 2.0, "double"),
        ("g2 + g", "+", "g2", "g", "double"), ("n + g", "+", "n", "g", "double"),
        ("f + g2", "+", "f", "g2", "double"), ("n - d", "-", "n", "d", "decimal"), ("d + 1", "+", "d", 1, "decimal"),
        ("d * n", "*", "d", "n", "decimal"), ("ni - -1", "-", "ni", -1, "int"), ("n / -1", "/", "n", -1, "int"),
    ):
        if text in DOUBTFUL and not IS_KNOWN:
            continue

        def arithmetic(row: Dict[str, Any], operator: str = operator, left: str = left, right: Any = right) -> Any:
            return calculated(operator, row[left], row[right] if isinstance(right, str) else right)

        found.append(Operand(text, kind, arithmetic))
    for name in ("li", "lg", "ls", "ld", "st", "lm"):
        kind = COLLECTIONS[name][0] if name in COLLECTIONS else "int"
        found.append(Operand(name, kind, lambda row, name=name: row[name], True))
        found.append(Operand(f"{name}.@count", "int", lambda row, name=name: len(row[name])))
    found.append(Operand("dc", "int", lambda row: [row["dc"][key] for key in sorted(row["dc"], key=str.encode)], True))
    found.append(Operand("s.@count", "int", lambda row: None if row["s"] is None else len(row["s"].encode())))
    found.append(Operand("li.@max", "int", lambda row: max((n for n in row["li"] if n is not None), default=None)))
    found.append(Operand("li.@sum", "int", lambda row: whole(sum(n for n in row["li"] if n is not None))))
    return found


OPERANDS = operands()
NUMERIC = ("int", "float", "double", "decimal", "mixed")


def numbers_of(values: List[Any]) -> List[Any]:
    return [value for value in values if is_number(value) and not is_nan(value)]


def exact(value: Any) -> Any:
    return Fraction(value) if not isinstance(value, float) or math.isfinite(value) else value


def as_double(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def interpolated(numbers: List[Any], fraction: Fraction) -> Optional[float]:
    if not numbers:
        return None
    doubles = sorted(as_double(number) for number in numbers)
    place = Fraction(float(fraction) * (len(doubles) - 1))
    below = int(place)
    low, rest = doubles[below], place - below
    if not rest or low == doubles[below + 1]:
        return low
    high = doubles[below + 1]
    if math.isinf(low) or math.isinf(high):
        return low + high
    return as_double(Fraction(low) + (Fraction(high) - Fraction(low)) * rest)


def deviation(numbers: List[Any], is_root: bool) -> Optional[float]:
    if len(numbers) < 2:
        return None
    doubles = [as_double(number) for number in numbers]
    if not all(map(math.isfinite, doubles)):
        return math.nan
    parts = [Fraction(number) for number in doubles]
    mean = sum(parts) / len(parts)
    variance = sum((part - mean) ** 2 for part in parts) / (len(parts) - 1)
    if not is_root:
        return as_double(variance)
    digits = max(len(str(variance.numerator)) - len(str(variance.denominator)), -600)
    shift = digits // 2  # The root of a number near 1 loses nothing.
    root = Decimal(math.sqrt(variance / Fraction(10) ** (2 * shift)))
    return as_double(root.scaleb(shift, DECIMALS))


def sum_of(kind: str, values: List[Any]) -> Any:
    numbers = numbers_of(values)
    if kind in ("float", "double") and not any(isinstance(number, Decimal) for number in numbers):
        total = 0.0
        for number in numbers:
            total += float(number)
        return total
    if kind == "int" and all(isinstance(number, int) for number in numbers):
        return sum(numbers)
    if kind == "int":  # Products that do not fit into 64 bits are decimals without a fraction.
        return DECIMALS.create_decimal(sum(map(int, numbers)))
    total = Decimal(0)
    for number in numbers:
        total = DECIMALS.add(total, as_decimal(number))
    return total


def aggregated(function: str, operand: Optional[Operand], rows: List[Dict[str, Any]], fraction: Fraction) -> Any:
    if operand is None:
        return len(rows)
    read = [operand.read(row) for row in rows]
    if function in ("first", "last"):
        return (read[0] if function == "first" else read[-1]) if read else None
    values = [value for part in read for value in part] if operand.is_many else read
    values = [value for value in values if value is not None]
    if function == "count":
        return len(values)
    if function == "distinct":
        return len(set(map(group_key, values)))
    if function in ("min", "max"):
        values = [value for value in values if not is_nan(value)]
        return (min if function == "min" else max)(values, key=order_key, default=None)
    numbers = numbers_of(values)
    if function == "sum":
        return sum_of(operand.kind, values)
    if function == "avg":
        if not numbers:
            return None
        total = sum_of(operand.kind, values)
        if operand.text == "dc":  # A column over a dictionary has the type Mixed.
            return DECIMALS.divide(DECIMALS.create_decimal(total), Decimal(len(numbers)))
        if isinstance(total, Decimal) and operand.kind != "int":
            return DECIMALS.divide(total, Decimal(len(numbers)))
        if operand.kind == "int":
            return as_double(sum(map(Fraction, numbers)) / len(numbers))
        return total / len(numbers)
    if function == "median":
        return interpolated(numbers, Fraction(1, 2))
    if function == "quantile":
        return interpolated(numbers, fraction)
    return deviation(numbers, function == "stddev")


class Call(NamedTuple):
    function: str
    operand: Optional[Operand]
    text: str
    fraction: Fraction
    kind: str


class Condition(NamedTuple):
    text: str
    holds: Callable[[Any], bool]


class Asked(NamedTuple):
    """A query in parts."""

    where: Optional[Condition]
    before: List[Tuple[str, str, Any]]  # SORT or LIMIT clauses in front of the groups.
    keys: List[Tuple[str, Operand]]  # Names and values.
    calls: List[Tuple[str, Call]]
    having: Optional[Condition]
    after: List[Tuple[str, str, Any]]
    text: str
    prefix: str  # The condition and the clauses in front of the groups.
    clauses: str  # The rest.
    tail: List[str]


def ordered(rows: List[Any], clauses: List[Tuple[str, str, Any]], read: Callable[[Any, Any], Any]) -> List[Any]:
    """Rows after the clauses. Adjacent SORT clauses: the later one counts first, as a stable sort does anyway."""
    for clause, direction, what in clauses:
        if clause == "LIMIT":
            rows = rows[:what]
        elif clause == "DISTINCT":
            seen = set()
            kept = []
            for row in rows:
                key = group_key(read(row, what))
                if key not in seen:
                    seen.add(key)
                    kept.append(row)
            rows = kept
        else:
            # `reverse` keeps equal rows in their order.
            rows = sorted(rows, key=lambda row: order_key(read(row, what)), reverse=direction == "DESC")
    return rows


def model(data: Data, asked: Asked) -> List[List[Any]]:
    """The rows of the result."""
    rows = [row for row in data.rows if asked.where is None or asked.where.holds(row)]
    rows = ordered(rows, asked.before, lambda row, operand: operand.read(row))
    groups: Dict[Any, List[Dict[str, Any]]] = {} if asked.keys else {(): rows}
    shown: Dict[Any, List[Any]] = {(): []}
    if asked.keys:
        many = next((place for place, (_, operand) in enumerate(asked.keys) if operand.is_many), None)
        for row in rows:
            read = [operand.read(row) for _, operand in asked.keys]
            for element in [None] if many is None else read[many]:
                values = [element if place == many else value for place, value in enumerate(read)]
                key = tuple(map(group_key, values))
                groups.setdefault(key, []).append(row)
                shown.setdefault(key, values)
    found = []
    for key, members in groups.items():
        values = list(shown[key])
        values += [aggregated(call.function, call.operand, members, call.fraction) for _, call in asked.calls]
        found.append(values)
    if asked.having is not None:
        found = [row for row in found if asked.having.holds(row)]
    return ordered(found, asked.after, lambda row, place: row[place])


# ------------------------------------------------------------------------------------------------
# Random queries
# ------------------------------------------------------------------------------------------------


def compares(operator: str, left: Any, right: Any) -> bool:
    """§6 for a property of numbers and a number, texts or points in time; not-a-number never compares."""
    if left is None or right is None:
        if operator == "==":
            return left is right
        return operator == "!=" and left is not right
    if is_nan(left):
        return operator in ("!=", "<", "<=")  # Rule E.
    if isinstance(left, str):
        left, right = left.encode(), right.encode()
    return {
        "==": left == right, "!=": left != right, "<": left < right, "<=": left <= right, ">": left > right,
        ">=": left >= right,
    }[operator]


class Writer:
    """Writes random queries."""

    def __init__(self, data: Data, chance: random.Random, is_plain: bool) -> None:
        self.data, self.chance, self.is_plain = data, chance, is_plain
        self.operands = [operand for operand in OPERANDS if operand.duckdb] if is_plain else OPERANDS

    def where(self) -> Condition:
        chance = self.chance
        if chance.random() < 0.2:
            one, two = self.where(), self.where()
            if chance.random() < 0.5:
                return Condition(f"({one.text} AND {two.text})", lambda row: one.holds(row) and two.holds(row))
            return Condition(f"({one.text} OR NOT {two.text})", lambda row: one.holds(row) or not two.holds(row))
        operand = chance.choice([o for o in self.operands if not o.is_many and o.kind in ("int", "moment", "string")])
        return self.condition(operand.text, operand.kind, operand.read)

    def condition(self, text: str, kind: str, read: Callable[[Any], Any]) -> Condition:
        chance = self.chance
        operator = chance.choice(["==", "!=", "<", "<=", ">", ">="])
        if kind == "string":
            operator = chance.choice(["==", "!="])  # §6: the order of NULL and texts depends on the form of the path.
            value: Any = chance.choice(["", "a", "é", "日本", None])
            written = "NULL" if value is None else f"'{value}'"
        elif kind == "moment":
            value = chance.choice([Moment(0, 0), Moment(-86400, 0), Moment(1704067200, 0), None])
            written = "NULL" if value is None else f"T{value.seconds}:0"
        elif kind == "bool":
            operator, value = chance.choice(["==", "!="]), chance.choice([True, False, None])
            written = "NULL" if value is None else str(value).lower()
        elif kind in ("double", "float"):
            value = chance.choice([0.0, 1.5, -2.25, 100.5])
            written = repr(value)
        else:
            value = chance.choice([0, 1, 2, 3, 1970, 2020, -5, None])
            written = "NULL" if value is None else str(value)
        if value is None:
            operator = chance.choice(["==", "!="])
        return Condition(f"{text} {operator} {written}", lambda row: compares(operator, read(row), value))

    def call(self) -> Call:
        chance = self.chance
        function = chance.choice(
            ["count", "count", "distinct", "sum", "sum", "avg", "min", "max", "median", "quantile", "stddev",
             "variance", "first", "last"]
        )
        if function == "count" and chance.random() < 0.5:
            return Call("count", None, "count()", Fraction(0), "int")
        able = self.operands
        if function in ("sum", "avg", "median", "quantile", "stddev", "variance"):
            able = [operand for operand in able if operand.kind in NUMERIC]
            if function == "sum":  # Products beyond 64 bits are rounded; the sum depends on the order of the additions.
                able = [operand for operand in able if operand.text != "(n * ni)"]
        elif function in ("min", "max"):
            able = [operand for operand in able if operand.kind != "link"]
        elif function in ("first", "last"):
            able = [operand for operand in able if not operand.is_many]
        operand = chance.choice(able)
        if function == "quantile":
            written = chance.choice(["0", "1", "0.5", "0.25", "0.9", ".1", "1.0", "0.333", "1e-1"])
            return Call(function, operand, f"quantile({operand.text}, {written})", Fraction(float(written)), "double")
        inside = f"DISTINCT {operand.text}" if function == "distinct" else operand.text
        name = "count" if function == "distinct" else self.cased(function)
        kind = "int" if function in ("count", "distinct") else operand.kind
        if function in ("median", "stddev", "variance"):
            kind = "double"
        if function == "avg":
            kind = {"decimal": "decimal", "mixed": "decimal"}.get(operand.kind, "double")
        if function == "sum":
            kind = {"mixed": "decimal", "float": "double"}.get(operand.kind, operand.kind)
        return Call(function, operand, f"{name}({inside})", Fraction(0), kind)

    @staticmethod
    def can_be_name(text: str) -> bool:
        """Whether HAVING and SORT accept the text of a value as the name of its column."""
        return all(character.isalnum() or character == "." for character in text)

    def cased(self, word: str) -> str:
        return self.chance.choice([word, word, word.upper(), word.title()])

    def query(self) -> Asked:
        chance = self.chance
        is_bare = self.is_plain and chance.random() < 0.8
        where = self.where() if chance.random() < 0.4 and not is_bare else None
        before: List[Tuple[str, str, Any]] = []
        before_texts: List[str] = []
        sortable = [o for o in self.operands if not o.is_many and o.text in PROPERTIES]
        for _ in range(0 if is_bare else chance.choice([0, 0, 0, 1, 2])):
            if chance.random() < 0.6:
                operand, direction = chance.choice(sortable), chance.choice(["ASC", "DESC"])
                before.append(("SORT", direction, operand))
                before_texts.append(f"SORT({operand.text} {direction})")
            elif chance.random() < 0.7:
                before.append(("LIMIT", "", chance.choice([0, 1, 5, 30])))
                before_texts.append(f"LIMIT({before[-1][2]})")
            else:
                operand = chance.choice(sortable)
                before.append(("DISTINCT", "", operand))
                before_texts.append(f"DISTINCT({operand.text})")
        keys: List[Tuple[str, Operand]] = []
        texts: List[str] = []
        used = set()
        for number in range(chance.choice([0, 1, 1, 1, 2, 3])):
            operand = chance.choice(self.operands)
            if operand.text in used or operand.is_many and any(other.is_many for _, other in keys):
                continue
            used.add(operand.text)
            is_named = chance.random() < 0.5 or not self.can_be_name(operand.text)
            name = f"k{number}" if is_named else operand.text
            keys.append((name, operand))
            texts.append(operand.text + (f" AS {name}" if name == f"k{number}" else ""))
        calls: List[Tuple[str, Call]] = []
        call_texts: List[str] = []
        for number in range(chance.choice([0, 1, 1, 2, 3]) if keys else chance.choice([1, 2, 3])):
            call = self.call()
            name = f"c{number}"
            if chance.random() < 0.2 and call.text.lower() not in used and (call.operand is None or
                                                                    self.can_be_name(call.operand.text)):
                name = call.text if call.function == "distinct" else call.text.replace(" ", "")
                used.add(call.text.lower())
            calls.append((name, call))
            call_texts.append(call.text + (f" AS {name}" if name == f"c{number}" else ""))
        columns = [(name, operand.kind, True) for name, operand in keys]
        columns += [(name, call.kind, call.function not in ("stddev", "variance")) for name, call in calls]
        having = self.having(columns) if chance.random() < 0.4 and not is_bare else None
        after, after_texts = ([], []) if is_bare else self.orderings(columns)
        parts = [where.text] if where else ["TRUEPREDICATE"] if before_texts else []
        parts += before_texts
        if keys:
            parts.append(self.cased("group") + " by " + ", ".join(texts))
        if calls:
            parts.append(self.cased("aggregate") + " " + ", ".join(call_texts))
        if having:
            parts.append(self.cased("having") + " " + having.text)
        parts += after_texts
        prefix = " ".join(([where.text] if where else ["TRUEPREDICATE"]) + before_texts)
        clauses = " ".join(parts[(1 if where or before_texts else 0) + len(before_texts):])
        return Asked(where, before, keys, calls, having, after, " ".join(parts), prefix, clauses, after_texts)

    def having(self, columns: List[Tuple[str, str, bool]]) -> Optional[Condition]:
        able = [
            (place, name, kind) for place, (name, kind, is_exact) in enumerate(columns)
            if is_exact and kind in ("int", "string", "moment", "bool", "double", "float")
        ]
        if not able:
            return None
        place, name, kind = self.chance.choice(able)
        one = self.condition(name, kind, lambda row: row[place])
        if self.chance.random() < 0.3:
            two = self.having(columns)
            assert two is not None
            return Condition(f"({one.text} OR {two.text})", lambda row: one.holds(row) or two.holds(row))
        return Condition(f"NOT {one.text}", lambda row: not one.holds(row)) if self.chance.random() < 0.2 else one

    def orderings(self, columns: List[Tuple[str, str, bool]]) -> Tuple[List[Tuple[str, str, Any]], List[str]]:
        clauses: List[Tuple[str, str, Any]] = []
        texts: List[str] = []
        exact_columns = [place for place, (_, _, is_exact) in enumerate(columns) if is_exact]
        for _ in range(self.chance.choice([0, 0, 1, 1, 2])):
            choice = self.chance.random()
            if choice < 0.6 and exact_columns:
                place, direction = self.chance.choice(exact_columns), self.chance.choice(["ASC", "DESC"])
                clauses.append(("SORT", direction, place))
                texts.append(f"SORT({columns[place][0]} {direction})")
            elif choice < 0.7 and exact_columns:
                place = self.chance.choice(exact_columns)
                clauses.append(("DISTINCT", "", place))
                texts.append(f"DISTINCT({columns[place][0]})")
            else:
                clauses.append(("LIMIT", "", self.chance.choice([0, 1, 2, 5, 100])))
                texts.append(f"LIMIT({clauses[-1][2]})")
        return clauses, texts


# ------------------------------------------------------------------------------------------------
# Running and comparing
# ------------------------------------------------------------------------------------------------


def moments(unit: int) -> Callable[[Any], List[Moment]]:
    def read(array: Any) -> List[Moment]:
        counts = array.buffer(1, array.length * 8).cast("q").tolist()
        return [Moment(*divmod(count * unit, 1_000_000_000)) for count in counts]

    return read


for _format, _unit in (("tsn", 1), ("tsu", 1000), ("tsm", 1_000_000), ("tss", 1_000_000_000)):
    _arrow._READERS[_arrow.Type(f"{_format}:UTC", "")] = moments(_unit)


def plain(value: Any) -> Any:
    """A value of the result in the form of the model."""
    if isinstance(value, crealm.ObjectId):
        return Identifier("objectid", value.bytes)
    if isinstance(value, uuid.UUID):
        return Identifier("uuid", value.bytes)
    if isinstance(value, crealm.RawTimestamp):
        return Moment(*divmod(value.seconds * 1_000_000_000 + value.nanoseconds, 1_000_000_000))
    if isinstance(value, datetime):
        return Moment(*divmod(crealm.timestamp_ns(value), 1_000_000_000))
    return value


def same(expected: Any, seen: Any, is_exact: bool) -> bool:
    if expected is None or seen is None:
        return expected is seen
    if is_nan(expected) or is_nan(seen):
        return is_nan(expected) and is_nan(seen)
    if is_number(expected) != is_number(seen) or isinstance(expected, bool) != isinstance(seen, bool):
        return False
    if expected == seen:
        return True
    if not is_exact and isinstance(expected, float) and isinstance(seen, float):
        return math.isclose(expected, seen, rel_tol=1e-9, abs_tol=1e-13)
    return False


def moments_fit(columns: List[List[Any]]) -> bool:
    """Whether each column of points in time fits into a unit of Arrow without a loss."""
    for column in columns:
        found = [value for value in column if isinstance(value, Moment)]
        if found and not any(
            all(m.nanoseconds % unit == 0 for m in found)
            and all(SMALLEST <= (m.seconds * 10**9 + m.nanoseconds) // unit <= LARGEST for m in found)
            for unit in (1, 1000, 10**6, 10**9)
        ):
            return False
    return True


def by_text(data: Data, asked: Asked) -> List[List[Any]]:
    """The result of crealm_results_aggregate_arrow()."""
    results = data.db[Row]._results()
    query = Query(data.db, asked.text, (), {})
    return _arrow.groups(results._handle, query.encoded, query.arguments)


QUERY_FUNCTION = _blocking.crealm_query_aggregate_arrow
QUERY_FUNCTION.restype = ctypes.c_bool
QUERY_FUNCTION.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p]


def by_query(data: Data, asked: Asked) -> List[List[Any]]:
    """The result of crealm_query_aggregate_arrow()."""

    def call(handle: int, text: bytes, arguments: Any, out: Any) -> None:
        c.check(handle, QUERY_FUNCTION, text, arguments.count, arguments.array, ctypes.byref(out))

    table = data.db[Row]._results()
    parsed = Query(data.db, asked.prefix, (), {}).parse(table._handle.owner, table._row_class().key)
    clauses = Query(data.db, asked.clauses, (), {})
    before, _arrow._aggregate = _arrow._aggregate, call
    try:
        return _arrow.groups(parsed, clauses.encoded, clauses.arguments)
    finally:
        _arrow._aggregate = before


def by_methods(data: Data, asked: Asked) -> List[List[Any]]:
    """The result of group_by() and agg() of the package."""
    rows = data.db[Row].where(asked.prefix)
    grouping = rows.group_by(**{name: operand.text for name, operand in asked.keys})
    if asked.having:
        grouping = grouping.having(asked.having.text)
    for clause, direction, what in asked.after:
        names = [*(name for name, _ in asked.keys), *(name for name, _ in asked.calls)]
        if clause == "SORT":
            grouping = grouping.order_by(("-" if direction == "DESC" else "") + names[what])
        else:
            grouping = grouping.limit(what)
    calls = {}
    for name, call in asked.calls:
        function = {"avg": "mean", "distinct": "count_distinct"}.get(call.function, call.function)
        inside = [] if call.operand is None else [call.operand.text]
        if function == "quantile":
            inside.append(float(call.fraction))
        calls[name] = getattr(aggregates, function)(*inside)
    found = grouping.agg(**calls)
    return [[row[name] for row in found] for name in [*(name for name, _ in asked.keys), *calls]]


def can_be_methods(asked: Asked) -> bool:
    """Whether the methods can express the query: paths over collections have none, nor do names of calls."""
    names = [name for name, _ in [*asked.keys, *asked.calls]]
    values = [operand for _, operand in asked.keys] + [call.operand for _, call in asked.calls if call.operand]
    return (
        all(name.isidentifier() for name in names)
        and not any(clause == "DISTINCT" for clause, _, _ in asked.after)
        and not any("es" == operand.text[:2] for operand in values)
        and not any(operand.text.endswith(("@count", "@max", "@sum")) for operand in values)
    )


def difference(data: Data, asked: Asked, engine: Callable[[Data, Asked], List[List[Any]]]) -> Optional[str]:
    expected = model(data, asked)
    width = len(asked.keys) + len(asked.calls)
    columns = [[row[place] for row in expected] for place in range(width)]
    try:
        found = engine(data, asked)
    except crealm.Error as error:
        if error.code == 3018 and not moments_fit(columns):
            return None
        return f"error {error.code}: {error}"
    if len(found) != width:
        return f"{len(found)} columns, not {width}"
    exactness = [True] * len(asked.keys) + [
        call.function in ("count", "distinct", "min", "max", "first", "last", "sum") for _, call in asked.calls
    ]
    for place, (one, two) in enumerate(zip(columns, found)):
        if len(one) != len(two):
            return f"column {place} has {len(two)} rows, not {len(one)}: expected {one[:8]}, seen {two[:8]}"
        for number, (left, right) in enumerate(zip(one, map(plain, two))):
            if not same(left, right, exactness[place]):
                return f"column {place}, row {number}: expected {left!r}, seen {right!r}"
    return None


# ------------------------------------------------------------------------------------------------
# DuckDB
# ------------------------------------------------------------------------------------------------

SQL_TYPES = {"int": "BIGINT", "double": "DOUBLE", "float": "REAL", "bool": "BOOLEAN", "string": "VARCHAR",
             "moment": "TIMESTAMP_NS"}


class Sql:
    """The plain properties of the rows in DuckDB."""

    def __init__(self, data: Data) -> None:
        self.names = [name for name, (kind, _) in PROPERTIES.items() if kind in SQL_TYPES]
        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        declared = ", ".join(f'"{name}" {SQL_TYPES[PROPERTIES[name][0]]}' for name in self.names)
        self.connection.execute(f"CREATE TABLE Rows (id BIGINT, at_us TIMESTAMP, {declared})")
        rows = []
        for row in data.rows:
            micros = row["at"] and row["at"].seconds * 10**6 + row["at"].nanoseconds // 1000
            rows.append([row["id"], micros, *(self.value(row[name]) for name in self.names)])
        if rows:
            marks = ", ".join(
                "make_timestamp_ns(?)" if PROPERTIES[name][0] == "moment" else "?" for name in self.names
            )
            self.connection.executemany(f"INSERT INTO Rows VALUES (?, make_timestamp(?), {marks})", rows)

    def value(self, value: Any) -> Any:
        if isinstance(value, Moment):
            return value.seconds * 10**9 + value.nanoseconds
        return value

    @staticmethod
    def can(data: Data) -> bool:
        return not data.values.is_far and not data.values.is_extreme

    def text(self, asked: Asked) -> Optional[str]:
        """The query in SQL, or None where the rules differ: not-a-number, which DuckDB does not ignore, is left out."""
        if asked.where or asked.having or asked.before:
            return None
        columns = [operand.duckdb for _, operand in asked.keys]
        shown = [f"epoch_ns({c})" if o.kind == "moment" else c for c, (_, o) in zip(columns, asked.keys)]
        for _, call in asked.calls:
            if call.operand is None:
                shown.append("count(*)")
                continue
            value, kind = call.operand.duckdb, call.operand.kind
            if kind in ("float", "double"):
                value = f"CASE WHEN isnan({value}) THEN NULL ELSE {value} END"
            if call.function in ("count", "distinct", "first", "last"):
                value = call.operand.duckdb
            names = {"distinct": "count(DISTINCT {})", "quantile": "quantile_cont({}, %s)" % float(call.fraction),
                     "stddev": "stddev_samp({})", "variance": "var_samp({})", "first": "first({} ORDER BY id)",
                     "last": "last({} ORDER BY id)", "sum": "coalesce(sum({}" + (" ORDER BY id" if kind in
                     ("float", "double") else "") + "), 0)"}
            if call.function in ("median", "quantile", "sum", "avg") and kind in ("int", "float"):
                value = f"CAST({value} AS {'HUGEINT' if call.function == 'sum' and kind == 'int' else 'DOUBLE'})"
            made = names.get(call.function, call.function + "({})").format(value)
            if call.function == "quantile" and kind == "int":
                made = names["quantile"].format(value)
            if call.function in ("min", "max", "first", "last") and kind == "moment":
                made = f"epoch_ns({made})"
            shown.append(made)
        sql = f"SELECT {', '.join(shown)} FROM Rows"
        if columns:
            sql += f" GROUP BY {', '.join(columns)} ORDER BY min(id)"
        return sql

    def difference(self, data: Data, asked: Asked) -> Optional[str]:
        sql = self.text(asked._replace(after=[]))
        if sql is None or asked.after:
            return None
        try:
            found = self.connection.execute(sql).fetchall()
        except duckdb.OutOfRangeException:
            return None  # DuckDB refuses deviations of infinite numbers.
        seen = by_text(data, asked)
        height = len(seen[0]) if seen else 0
        if height != len(found):
            return f"DuckDB has {len(found)} groups, the engine {height}: {sql}"
        width = len(asked.keys)
        for number, row in enumerate(found):
            for place, left in enumerate(row):
                kind = asked.keys[place][1].kind if place < width else asked.calls[place - width][1].kind
                if kind == "moment" and left is not None:
                    left = Moment(*divmod(left, 10**9))
                if not same(left, plain(seen[place][number]), False):
                    return f"column {place}, row {number}: DuckDB {left!r}, seen {seen[place][number]!r}: {sql}"
        return None


def overflows(asked: Asked) -> bool:
    """Whether a query has a function that infinite and very large numbers make wrong."""
    return any(
        call.function in ("median", "quantile", "stddev", "variance") and call.operand.kind in NUMERIC
        for _, call in asked.calls
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0-9", metavar="A-B")
    parser.add_argument("--queries", type=int, default=60, help="queries for each seed")
    parser.add_argument("--known", action="store_true", help="print the known differences, too")
    parser.add_argument("--rows", type=int, default=120, help="the most rows of a database")
    parser.add_argument("--most", type=int, default=20, help="differences that are printed")
    given = parser.parse_args()
    first, _, last = given.seeds.partition("-")
    counts: Counter = Counter()
    began = time.monotonic()
    for seed in range(int(first), int(last or first) + 1):
        chance = random.Random(seed)
        data = Data(chance, given.rows)
        sql = Sql(data) if duckdb is not None and Sql.can(data) else None
        for number in range(given.queries):
            is_plain = sql is not None and number % 4 == 0
            asked = Writer(data, chance, is_plain).query()
            way = (by_text, by_query, by_methods)[number % 3]
            if way is by_methods and not can_be_methods(asked):
                way = by_text
            counts[way.__name__] += 1
            wrong = difference(data, asked, way)
            counts["compared with the model"] += 1
            if wrong is None and is_plain and sql is not None and sql.text(asked) and not asked.after:
                counts["compared with DuckDB"] += 1
                wrong = sql.difference(data, asked)
            if wrong is not None and data.values.is_infinite and not IS_KNOWN and overflows(asked):
                counts["known: overflow in a median or deviation"] += 1
            elif wrong is not None:
                counts["different"] += 1
                if counts["different"] <= given.most:
                    print(f"seed {seed}, query {number}: {asked.text}\n    {wrong}", flush=True)
        data.db.close()
    print(f"{time.monotonic() - began:.1f} s: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
