"""Enums and dates: types that files do not have, and how properties of models store them.

    class Colour(enum.Enum):
        RED = "red"
        BLUE = "blue"

    class Car(crealm.Model):
        colour: Colour = Colour.RED         # stored as a text
        second: Optional[Colour] = None
        built: datetime.date                # stored as a point in time: the midnight in UTC when the day begins
        repaired: list[datetime.date]

An Enum whose values are all int or all str is stored as the value of the member; so are IntEnum, StrEnum and Flag.
Reading, writing, queries, updates, add_many() of rows and column() convert these types. Classes that are used by
name, migrations, texts of queries, and other programs, also those that read Arrow, see the stored values.

A program may write a member or its value. Reading a stored value that no member has raises DataError, unless
`_missing_` of the class returns a member for it. A new object without a value or default gets the member whose value
is 0 or ""; if the class has no such member, the object needs a value. A point in time that is not midnight reads as
its day in UTC.
"""

from __future__ import annotations

import enum
from datetime import date, datetime, timezone
from typing import Any, Callable, Dict, NamedTuple, Optional

from .errors import DataError, SchemaError, TypeMismatch, suggestion
from .values import Timestamp


class Kind(NamedTuple):
    """How values of a type are stored. Callers handle None themselves."""

    type: Any
    stored_type: Any  # The type of the property in the file.
    stored: Callable[[Any], Any]  # Converts to the stored value; DataError or TypeMismatch for other values.
    read: Callable[[Any], Any]  # Converts a stored value back; DataError if the type has no such value.
    from_text: Optional[Callable[[str], Any]]  # Converts a field of a CSV file; None: it is read as the stored type.
    zero: Any  # The value that is stored as zero; None if the type has no such value.


def kind_of(type_: Any) -> Optional[Kind]:
    """The kind of a type; None for types that files have, and for anything else. SchemaError for an enum that cannot
    be stored."""
    if type_ is date:
        return _DATE
    if isinstance(type_, type) and issubclass(type_, enum.Enum):
        try:
            return _enums[type_]
        except KeyError:
            return _enums.setdefault(type_, _of_enum(type_))
    return None


def comparable(value: Any) -> Any:
    """The value that a query compares with: the stored value of an enum or date, and other values unchanged."""
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
