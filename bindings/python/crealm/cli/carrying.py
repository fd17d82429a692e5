"""The base of all formats of export and import."""

from __future__ import annotations

from collections import Counter
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence, TextIO

from ..database import Database
from ..errors import Error, SchemaError
from ..objects import Table
from ..schema import ClassSchema
from .exact import Exact, Wanted, all_properties, schema_json
from .output import counted
from .rule_lines import with_rules


class Job:
    """An export: its target, its classes, and counts of the losses, that is, of values that the format cannot represent."""

    def __init__(self, db: Database, out: str, classes: Iterable[str], advance: Callable[[int], None]) -> None:
        self.out = out
        self.tables: List[Table[Any]] = [db[name] for name in classes]
        self.lost: Counter[str] = Counter()
        self.inside = Exact()
        self.apart = Exact(table.name for table in self.tables)
        self.declared: Dict[str, ClassSchema] = with_rules(db, self._lose_rules)
        self.version, self._advance = db.schema_version, advance

    def _lose_rules(self, name: str, error: Error) -> None:
        self.lost["rules that cannot be read"] += 1

    def schema(self) -> Dict[str, Any]:
        """The declarations of `classes`, as JSON."""
        return schema_json({declared.name: declared for declared in self.classes()}, self.version)

    def classes(self) -> List[ClassSchema]:
        """The classes, and those that they link to."""
        names, waiting = set(), [table.name for table in self.tables]
        while waiting:
            name = waiting.pop()
            if name not in names and name in self.declared:
                names.add(name)
                waiting += [prop.type for prop in self.declared[name].properties.values() if prop.is_link]
        return [declared for name, declared in self.declared.items() if name in names]

    def objects(self, table: Table[Any]) -> Iterator[Any]:
        return counted(table, self._advance)


class Row(NamedTuple):
    """An object that was read. Links are `Ref` or `Named`, embedded objects are dictionaries; missing properties are absent."""

    class_name: str
    key: Optional[int]  # The key that links use; None if the source has no keys.
    values: Dict[str, Any]


class Source:
    """A file to be imported. It is read twice, because links may refer to objects that come later."""

    schema: Optional[Mapping[str, ClassSchema]] = None  # The schema in the file; None if it has none.
    version: Optional[int] = None
    class_names: Sequence[str] = ()  # The classes of the file, also without objects, if they are known before it is read.
    delimiter: Optional[str] = None  # The separator of CSV fields; None: a comma, and an error if it seems to be another.

    def read_as(self, schema: Mapping[str, ClassSchema]) -> None:
        """Sets the classes of a source that does not have its own schema."""
        self.schema = schema

    def guess(self) -> Mapping[str, ClassSchema]:
        """Classes guessed from the content, for a source without a schema."""
        raise SchemaError("The source does not say which classes it has", hint="--schema FILE does, with what `crealm schema --json` prints.")

    def rows(self, wanted: Wanted = all_properties) -> Iterator[Row]:
        """All objects that are not embedded, with the wanted properties. Objects of the same class mostly follow each other.
        Each call returns them in the same order."""
        raise NotImplementedError

    def close(self) -> None:
        pass


def new_text(path: Any) -> TextIO:
    return open(path, "x", encoding="utf-8", newline="")
