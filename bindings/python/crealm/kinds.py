"""Types of Python that files have no type for: what properties of models store for them.

    class Colour(enum.Enum):
        RED = "red"
        BLUE = "blue"

    class Car(crealm.Model):
        colour: Colour = Colour.RED         # stored as a text
        second: Optional[Colour] = None
        built: datetime.date                # stored as a point in time: the midnight in UTC when the day begins
        repaired: list[datetime.date]

An Enum whose members are all int or all str is stored as the values of its members, also IntEnum, StrEnum and Flag. Reading,
writing, queries, updates, add_many() of rows and column() know these types. Classes that go by name, migrations, texts of
queries, and what other programs read, Arrow included, see what is stored.

What is written may be a member or its value. A stored value that no member has raises DataError when it is read; `_missing_`
of the class is asked first. New objects that are given no value and have no default get the member of the value 0 or "";
where there is none they need a value. A point in time that is no midnight reads as its day in UTC.
"""

from __future__ import annotations

import enum
from datetime import date, datetime, timezone
from typing import Any, Callable, Dict, NamedTuple, Optional

from .errors import DataError, SchemaError, TypeMismatch, suggestion
from .values import Timestamp


class Kind(NamedTuple):
    """How values of a type are stored. None is not among the values."""

    type: Any
    stored_type: Any  # What properties of the file have.
    stored: Callable[[Any], Any]  # DataError or TypeMismatch for what is no such value.
    read: Callable[[Any], Any]  # DataError likewise.
    from_text: Optional[Callable[[str], Any]]  # A field of a CSV file; None where it is read as the stored type.
    zero: Any  # Of the stored zero; None where that is no value of the type.


def kind_of(type_: Any) -> Optional[Kind]:
    """The kind of a type; None when it is one that files have, or none at all. SchemaError for enums that cannot be stored."""
    if type_ is date:
        return _DATE
    if isinstance(type_, type) and issubclass(type_, enum.Enum):
        try:
            return _enums[type_]
        except KeyError:
            return _enums.setdefault(type_, _of_enum(type_))
    return None


def comparable(value: Any) -> Any:
    """What a query compares with, for a value of such a type; others pass."""
    if isinstance(value, enum.Enum):
        return value.value
    return _midnight(value) if isinstance(value, date) and not isinstance(value, datetime) else value


# ------------------------------------------------------------------------------------------------
# Days
# ------------------------------------------------------------------------------------------------


def _midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=timezone.utc)


def _stored_day(value: Any) -> datetime:
    if isinstance(value, datetime) or not isinstance(value, date):
        hint = "Its day is value.date(), in its own time zone." if isinstance(value, datetime) else ""
        raise TypeMismatch(f"Needs date, not {type(value).__name__}", hint=hint)
    return _midnight(value)


def _day(moment: Any) -> date:
    if not isinstance(moment, datetime):
        raise DataError(f"{moment} is in no year that a date has")
    return moment.astimezone(timezone.utc).date()


_DATE = Kind(date, datetime, _stored_day, _day, date.fromisoformat, _day(Timestamp.from_ns(0)))


# ------------------------------------------------------------------------------------------------
# Enums
# ------------------------------------------------------------------------------------------------

_enums: Dict[Any, Kind] = {}


def _of_enum(members: Any) -> Kind:
    types = {type(member.value) for member in members}
    if types not in ({int}, {str}):
        raise SchemaError(f"{members.__name__} cannot be stored: the values of its members are not all int or all str")
    (stored_type,) = types
    by_value = members._value2member_map_

    def stored(value: Any) -> Any:
        if type(value) is members:
            return value.value
        if isinstance(value, enum.Enum) or not isinstance(value, stored_type) or isinstance(value, bool):
            raise TypeMismatch(f"Needs {members.__name__}, not {type(value).__name__}")
        return read(value).value

    def read(value: Any) -> Any:
        try:
            return by_value[value]
        except KeyError:
            pass
        try:
            return members(value)
        except ValueError:
            names = [name for name in by_value if isinstance(name, str)]
            about = suggestion(value, names) if isinstance(value, str) else ""
            raise DataError(f"{value!r} is no value of {members.__name__}{about}") from None

    zero = by_value.get(stored_type())
    if zero is None and issubclass(members, enum.Flag):
        zero = members(0)
    return Kind(members, stored_type, stored, read, None, zero)
