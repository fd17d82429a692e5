"""What the formats of export and import have in common."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, TextIO

from ..database import Database
from ..errors import SchemaError
from ..objects import Table
from ..schema import ClassSchema
from .exact import Exact, Wanted, all_properties, schema_json
from .output import counted


class Job:
    """An export: where to, of which classes, and the count of what the format cannot carry."""

    def __init__(self, db: Database, out: str, classes: Iterable[str], advance: Callable[[int], None]) -> None:
        self.out = out
        self.tables: List[Table[Any]] = [db[name] for name in classes]
        self.lost: Counter[str] = Counter()
        self.inside = Exact()
        self.apart = Exact(table.name for table in self.tables)
        self.declared, self._version, self._advance = dict(db.schema), db.schema_version, advance

    def schema(self) -> Dict[str, Any]:
        """The declarations of the classes, and of those that they lead to."""
        names, waiting = set(), [table.name for table in self.tables]
        while waiting:
            name = waiting.pop()
            if name not in names and name in self.declared:
                names.add(name)
                waiting += [prop.type for prop in self.declared[name].properties.values() if prop.is_link]
        return schema_json({name: declared for name, declared in self.declared.items() if name in names}, self._version)

    def objects(self, table: Table[Any]) -> Iterator[Any]:
        return counted(table, self._advance)


class Row(NamedTuple):
    """An object that was read. Links are `Ref` and `Named`, embedded objects dictionaries; what is missing is not there."""

    class_name: str
    key: Optional[int]  # The one that links have; None where the source has none.
    values: Dict[str, Any]


class Source:
    """A file to be imported. It is read twice: links lead to objects that come later."""

    schema: Optional[Mapping[str, ClassSchema]] = None  # What the file says; None where it does not.
    version: Optional[int] = None
    class_names: Sequence[str] = ()  # Those that it has, with objects or without, where that is known before it is read.
    delimiter: Optional[str] = None  # Of fields of CSV; None: a comma, unless something else seems to be one.

    def read_as(self, schema: Mapping[str, ClassSchema]) -> None:
        """Which classes it has, where it does not say so itself."""
        self.schema = schema

    def guess(self) -> Mapping[str, ClassSchema]:
        """What the classes seem to be where nobody says it."""
        raise SchemaError("The source does not say which classes it has", hint="--schema FILE does, with what `crealm schema --json` prints.")

    def rows(self, wanted: Wanted = all_properties) -> Iterator[Row]:
        """All objects that are not embedded, those of a class mostly behind each other, with the wanted properties. All have the
        same order each time."""
        raise NotImplementedError

    def close(self) -> None:
        pass


def new_text(path: Any) -> TextIO:
    return open(path, "x", encoding="utf-8", newline="")
