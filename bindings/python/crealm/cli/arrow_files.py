"""Parquet and Arrow files (the IPC format, also called Feather): one file for each class, written from Arrow columns of the library.

Links are keys of objects, as in the column "$key"; lists, dictionaries and embedded objects are lists, maps and structs. JSON texts
(see `exact`) represent values of type Any, Decimal inside lists and the like, and times outside the range of nanoseconds since 1970. A
Decimal alone is the text of its digits. The file's metadata have the schema, the name of the class, and the names of the JSON columns.
"""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from datetime import datetime
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Callable, ContextManager, Dict, Iterator, List, Mapping, Optional
from uuid import UUID

from ..errors import DataError, LimitExceeded, NotSupportedError
from ..objects import Table
from ..schema import ClassSchema, Prop
from ..values import Float32, ObjectId, Timestamp
from .carrying import Job, Row, Source
from .csv_files import class_of_file, file_name
from .exact import Reader, Ref, Schema, Wanted, all_properties, escaped, plain_name, schema_of_json
from .output import json_text

if TYPE_CHECKING:
    import pyarrow  # type: ignore[import-untyped, unused-ignore]

_KEY = "$key"
_SCHEMA, _CLASS, _JSON = b"crealm.schema", b"crealm.class", b"crealm.json"


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise NotSupportedError("Parquet and Arrow need pyarrow", hint="pip install 'crealm[data]'") from None
    return pyarrow


# ------------------------------------------------------------------------------------------------
# Writing
# ------------------------------------------------------------------------------------------------

OpenWriter = Callable[[Any, Any], ContextManager[Any]]


def write_parquet(job: Job) -> None:
    pa = _pyarrow()
    from pyarrow import parquet  # type: ignore[import-untyped, unused-ignore]

    _write(job, pa, ".parquet", lambda sink, schema: parquet.ParquetWriter(sink, schema, compression="zstd"))


def write_arrow(job: Job) -> None:
    pa = _pyarrow()
    _write(job, pa, ".arrow", pa.ipc.new_file)


def _write(job: Job, pa: Any, ending: str, writer: OpenWriter) -> None:
    """Writes one file for one class, or a folder with a file for each class that is not embedded."""
    if len(job.tables) == 1 and os.path.splitext(job.out)[1]:
        _write_table(job, pa, job.out, job.tables[0], writer)
        return
    os.mkdir(job.out)
    for table in job.tables:
        if not table.schema.embedded:
            _write_table(job, pa, str(Path(job.out) / f"{file_name(table.name)}{ending}"), table, writer)


def _write_table(job: Job, pa: Any, path: str, table: Table[Any], writer: OpenWriter) -> None:
    properties = table.schema.properties
    texts = [name for name, prop in properties.items() if not _is_native(table, name, prop, job.declared)]
    native = [name for name in properties if name not in texts]
    paths = [f"{name}.@key" if _is_link(properties[name], job.declared) else name for name in native]
    reader = pa.RecordBatchReader.from_stream(table.select("@key", *paths))
    fields = {_KEY: reader.schema.field(0).with_name(_KEY)}
    fields.update({escaped(name): field.with_name(escaped(name)) for name, field in zip(native, list(reader.schema)[1:])})
    fields.update({escaped(name): pa.field(escaped(name), pa.string()) for name in texts})
    order = [_KEY, *map(escaped, properties)]
    metadata = {_SCHEMA: json_text(job.schema()), _CLASS: table.name, _JSON: json_text([n for n in texts if not _is_digits(properties[n])])}
    schema = pa.schema([fields[name] for name in order], metadata=metadata)
    objects = job.objects(table)
    with open(path, "xb") as sink, writer(sink, schema) as out:
        for batch in reader:
            columns = dict(zip([_KEY, *map(escaped, native)], batch.columns))
            rows = list(islice(objects, batch.num_rows))
            for name in texts:
                columns[escaped(name)] = pa.array([_text(job, properties[name], obj[name]) for obj in rows], pa.string())
            out.write_batch(pa.record_batch([columns[name] for name in order], schema=schema))


def _is_digits(prop: Prop) -> bool:
    return prop.type is Decimal and prop.collection is None


def _text(job: Job, prop: Prop, value: Any) -> Optional[str]:
    if value is None:
        return None
    return str(value) if _is_digits(prop) else json_text(job.inside.of(prop, value))


def _is_native(table: Table[Any], name: str, prop: Prop, schema: Schema) -> bool:
    """Whether the library's Arrow column represents the property without loss."""
    if "." in name or name.startswith("@") or not _is_plain(prop, schema):
        return False
    if not _has_times(prop, schema):
        return True
    try:
        for _ in _pyarrow().RecordBatchReader.from_stream(table.select(name)):
            pass
    except (DataError, LimitExceeded, OSError, ValueError):
        return False  # A time outside the range.
    return True


def _is_link(prop: Prop, schema: Schema) -> bool:
    """Whether the property is a single link, not an embedded object."""
    return prop.is_link and prop.collection is None and not schema[prop.type].embedded


def _is_plain(prop: Prop, schema: Schema, is_part: bool = False) -> bool:
    inner = schema[prop.type] if prop.is_link else None
    if inner is not None and inner.embedded:
        return all(_is_plain(part, schema, True) for part in inner.properties.values())
    if inner is not None and inner.primary_key is not None:
        return prop.collection is None and not is_part  # In other places the library writes links as primary keys.
    return prop.type not in (Any, Decimal)


def _has_times(prop: Prop, schema: Schema) -> bool:
    inner = schema[prop.type] if prop.is_link else None
    if inner is not None and inner.embedded:
        return any(_has_times(part, schema) for part in inner.properties.values())
    return prop.type is datetime


# ------------------------------------------------------------------------------------------------
# Reading
# ------------------------------------------------------------------------------------------------


class _ArrowSource(Source):
    """One file, or all files of a folder; each has one class."""

    endings: "tuple[str, ...]"

    def __init__(self, path: str, class_name: Optional[str] = None) -> None:
        self._pa = _pyarrow()
        folder = Path(path)
        self._files: Dict[str, Path] = {}
        self._facts: Dict[str, Any] = {}
        self._declared: Dict[str, ClassSchema] = {}
        for file in sorted(file for file in folder.iterdir() if file.suffix.lower() in self.endings) if folder.is_dir() else [folder]:
            with self._checked(file), self._opened(file) as reader:
                self._add(file, reader.schema, class_name)
        if self._declared and self._declared.keys() >= self._files.keys():
            self.schema = self._declared

    def _add(self, file: Path, columns: Any, class_name: Optional[str]) -> None:
        facts = columns.metadata or {}
        name = facts[_CLASS].decode("utf-8") if _CLASS in facts else class_name or class_of_file(file)
        self._files[name], self._facts[name] = file, columns
        if _SCHEMA in facts:
            found, self.version = schema_of_json(json.loads(facts[_SCHEMA]))
            self._declared.update(found)

    @contextmanager
    def _checked(self, file: Path) -> Iterator[None]:
        """Converts errors of pyarrow about a damaged file to DataError."""
        try:
            yield
        except (self._pa.ArrowException, ValueError, RecursionError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{file}: {error}") from error

    def guess(self) -> Mapping[str, ClassSchema]:
        return {name: ClassSchema(name, _guessed(self._pa, self._facts[name])) for name in self._files}

    def _opened(self, file: Path) -> ContextManager[Any]:
        raise NotImplementedError

    def _batches(self, reader: Any) -> Iterator[Any]:
        raise NotImplementedError

    def rows(self, wanted: Wanted = all_properties) -> Iterator[Row]:
        assert self.schema is not None
        reader = Reader(self.schema, wanted)
        for name, file in self._files.items():
            if name in self.schema and self.schema[name].embedded:
                continue
            with self._checked(file), self._opened(file) as opened:
                texts = json.loads((self._facts[name].metadata or {}).get(_JSON, b"[]"))
                if not isinstance(texts, list):
                    raise DataError(f"{file} does not say which columns are JSON")
                for batch in self._batches(opened):
                    batch.validate(full=True)  # Offsets of a hostile file may point outside of the buffers.
                    yield from self._rows(name, batch, reader, texts)

    def _rows(self, class_name: str, batch: Any, reader: Reader, texts: List[str]) -> Iterator[Row]:
        keys: Any = None
        columns: Dict[str, List[Any]] = {}
        for field, column in zip(batch.schema, batch.columns):
            if field.name == _KEY:
                keys = column.to_pylist()
                continue
            name = plain_name(field.name)
            prop = reader.prop(class_name, name)
            if not reader.is_wanted(class_name, name):
                continue
            cells = _python(self._pa, column)
            if name in texts:
                columns[name] = [None if text is None else reader.text(class_name, name, text) for text in cells]
            else:
                columns[name] = [_located(class_name, name, reader.schema, prop, value) for value in cells]
        names = list(columns)
        for number, values in enumerate(zip(*columns.values())) if names else ((n, ()) for n in range(batch.num_rows)):
            yield Row(class_name, None if keys is None else keys[number], dict(zip(names, values)))


class ParquetSource(_ArrowSource):
    """A Parquet source; it is read one row group at a time."""

    endings = (".parquet",)

    def _opened(self, file: Path) -> ContextManager[Any]:
        from pyarrow import parquet

        return _Parquet(parquet.ParquetFile(file))

    def _batches(self, reader: Any) -> Iterator[Any]:
        return reader.file.iter_batches(batch_size=10_000)  # type: ignore[no-any-return]


class _Parquet:
    def __init__(self, file: Any) -> None:
        self.file, self.schema = file, file.schema_arrow

    def __enter__(self) -> "_Parquet":
        return self

    def __exit__(self, *_: Any) -> None:
        self.file.close()


class IpcSource(_ArrowSource):
    """Arrow's file format."""

    endings = (".arrow", ".feather")

    def _opened(self, file: Path) -> ContextManager[Any]:
        return self._pa.ipc.open_file(self._pa.memory_map(str(file)))  # type: ignore[no-any-return]

    def _batches(self, reader: Any) -> Iterator[Any]:
        return (reader.get_batch(number) for number in range(reader.num_record_batches))


def _python(pa: Any, column: Any) -> List[Any]:
    """The values of a column; times as nanoseconds, with which nothing is lost."""
    try:
        found: List[Any] = column.cast(_simple(pa, column.type)).to_pylist()
    except (pa.ArrowException, ArithmeticError) as error:
        raise DataError(f"The values of {column.type} cannot be read: {error}") from error
    return found


def _simple(pa: Any, kind: Any) -> Any:
    """An Arrow type with integers in place of times, and bytes in place of UUIDs."""
    types = pa.types
    if types.is_timestamp(kind):
        return pa.int64() if kind.unit == "ns" else pa.timestamp("us", "UTC")  # A time without a zone is UTC.
    if isinstance(kind, pa.BaseExtensionType):
        return _simple(pa, kind.storage_type)
    if types.is_dictionary(kind):
        return _simple(pa, kind.value_type)
    if types.is_map(kind):
        return pa.map_(kind.key_type, kind.item_field.with_type(_simple(pa, kind.item_type)))
    if types.is_list(kind) or types.is_large_list(kind):
        return pa.list_(kind.value_field.with_type(_simple(pa, kind.value_type)))
    if types.is_struct(kind):
        return pa.struct([field.with_type(_simple(pa, field.type)) for field in kind])
    return kind


def _located(class_name: str, name: str, schema: Schema, prop: Prop, value: Any) -> Any:
    try:
        return _value(schema, prop, value)
    except (ValueError, TypeError, ArithmeticError, KeyError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"{class_name}.{name}: {error}") from error


def _value(schema: Schema, prop: Prop, value: Any) -> Any:
    if prop.collection is None:
        return _single(schema, prop, value)
    if prop.collection == "dict":
        return {key: _single(schema, prop, element) for key, element in value or ()}
    return [_single(schema, prop, element) for element in value or ()]


def _single(schema: Schema, prop: Prop, value: Any) -> Any:
    if value is None:
        return None
    if not prop.is_link:
        return _READERS[prop.type](value) if prop.type in _READERS else value
    if isinstance(value, dict):
        properties = schema[prop.type].properties
        return {name: _value(schema, properties[name], part) for name, part in value.items()}
    return Ref(prop.type, int(value))


_READERS: Dict[Any, Callable[[Any], Any]] = {
    datetime: lambda value: Timestamp.from_ns(value) if isinstance(value, int) else value,
    UUID: lambda value: UUID(bytes=value) if isinstance(value, bytes) else UUID(value),
    ObjectId: ObjectId,
    Decimal: Decimal,
    float: float,
    Float32: float,
}


def _guessed(pa: Any, schema: "pyarrow.Schema") -> Dict[str, Prop]:
    """The properties for the columns of a file that export did not write."""
    found = {}
    for field in schema:
        if field.name != _KEY:
            is_list = pa.types.is_list(field.type)
            kind = _type_of(pa, field.type.value_type if is_list else field.type)
            if kind is None:
                raise DataError(f"The column {field.name!r} has the type {field.type}, which no property has")
            found[plain_name(field.name)] = Prop(list[kind] if is_list else kind, optional=not is_list)  # type: ignore[valid-type]
    return found


def _type_of(pa: Any, kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    for test, found in (
        (pa.types.is_integer, int), (pa.types.is_floating, float), (pa.types.is_boolean, bool), (pa.types.is_string, str),
        (pa.types.is_large_string, str), (pa.types.is_binary, bytes), (pa.types.is_timestamp, datetime), (pa.types.is_decimal, Decimal),
    ):  # fmt: skip
        if test(kind):
            return found
    return UUID if str(kind) == "extension<arrow.uuid>" else None
