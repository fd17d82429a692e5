"""Read and write Realm database files.

    import crealm

    with crealm.open("people.realm") as db:
        for person in db["Person"]:
            print(person.name, person.age)
        with db.write():
            db["Person"].create(name="Ann", age=31)

The modules: `database` opens files and runs writes, `objects` has tables and objects,
`collections` the live views of lists, sets and dictionaries, `schema` the declarations, `values`
the value types that Python lacks, `errors` the exceptions.
"""

from ._library import lib as _lib
from .collections import Dictionary, List, Results, SetView
from .database import Database, open
from .errors import (
    ClosedError,
    ConstraintError,
    CorruptFileError,
    DataError,
    DiskFullError,
    DuplicateKeyError,
    Error,
    FileError,
    FileExists,
    FileNotFound,
    ForkedError,
    InvalidatedError,
    LimitExceeded,
    LockedError,
    MigrationRequired,
    NoSuchClass,
    NoSuchProperty,
    NotInWriteError,
    NotSupportedError,
    OutOfRange,
    PermissionDenied,
    QueryError,
    ReadOnlyError,
    SchemaError,
    TypeMismatch,
    UnsupportedFormat,
    UsageError,
    WrongKeyError,
    WrongThreadError,
)
from .objects import Object, Table
from .schema import ClassSchema, Prop
from .values import Float32, ObjectId, RawTimestamp, Timestamp, timestamp_ns

__version__ = "0.1.0"
library_version: str = _lib.realm_get_library_version().decode("ascii")

__all__ = [
    "ClassSchema",
    "ClosedError",
    "ConstraintError",
    "CorruptFileError",
    "DataError",
    "Database",
    "Dictionary",
    "DiskFullError",
    "DuplicateKeyError",
    "Error",
    "FileError",
    "FileExists",
    "FileNotFound",
    "Float32",
    "ForkedError",
    "InvalidatedError",
    "LimitExceeded",
    "List",
    "LockedError",
    "MigrationRequired",
    "NoSuchClass",
    "NoSuchProperty",
    "NotInWriteError",
    "NotSupportedError",
    "Object",
    "ObjectId",
    "OutOfRange",
    "PermissionDenied",
    "Prop",
    "QueryError",
    "RawTimestamp",
    "ReadOnlyError",
    "Results",
    "SchemaError",
    "SetView",
    "Table",
    "Timestamp",
    "TypeMismatch",
    "UnsupportedFormat",
    "UsageError",
    "WrongKeyError",
    "WrongThreadError",
    "library_version",
    "open",
    "timestamp_ns",
]
