"""Read and write Realm database files.

    import crealm

    with crealm.open("people.realm") as db:
        for person in db["Person"]:
            print(person.name, person.age)
        with db.write():
            db["Person"].create(name="Ann", age=31)

Queries:

    db["Person"].where("age > $0 AND name BEGINSWITH[c] $1", 30, "a").sort("-age", "name").limit(10)
    db[Person].where(Person.age > 30, Person.name.startswith("a", fold=True)).sort(-Person.age)

Classes declared in Python, called models:

    class Dog(crealm.Model):
        name: str
        age: int = 0

    class Person(crealm.Model):
        id: int = crealm.field(primary_key=True)
        name: str
        dogs: list[Dog]

    with crealm.open("people.realm", schema=[Person]) as db:
        with db.write():
            ann = db.add(Person(id=1, name="Ann", dogs=[Dog(name="Rex")]))
            ann.dogs.append(Dog(name="Bo", age=3))

A database in memory, whose data is lost when it is closed: crealm.memory(schema=[Person]).

The modules:

    opening      opens files
    database     open databases, and writes
    objects      tables and objects
    collections  live views of lists, sets and dictionaries
    results      the results of queries
    models       classes declared as Python classes
    families     models that inherit from each other
    kinds        enums and dates as types of properties
    expressions  conditions written with properties of models
    aggregates   counts, sums, means and more of groups
    sql          statements of SQL
    schema       declares classes without models
    migration    changes files to a new schema
    planning     tells what a new schema would change
    observing    calls functions after changes
    changes      the change objects that these functions get
    examining    reads facts about a file without opening it
    frozen       frozen objects, for reading on many threads
    writing      writes of programs with an event loop
    values       value types that Python lacks
    errors       exceptions
"""

from . import rules as _rules
from ._computed import Computed, computed
from ._library import lib as _lib
from .blobs import BlobFile
from .changes import CollectionChange, DatabaseChange, DictionaryChange, Move, ObjectChange
from .collections import Dictionary, List, SetView
from .database import Database
from .errors import (
    BusyError,
    ClosedError,
    CommitOutcomeUnknown,
    ConstraintError,
    CorruptFileError,
    DataError,
    DiskFullError,
    DuplicateKeyError,
    Error,
    FileError,
    FileExists,
    FileKeepsChanging,
    FileNotFound,
    ForkedError,
    Interrupted,
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
    RuleBroken,
    SchemaError,
    SyncError,
    TimedOut,
    TypeMismatch,
    UnsupportedFormat,
    UsageError,
    VersionGone,
    WrongKeyError,
    WrongThreadError,
)
from .examining import Check, CheckedVersion, FileInfo, Slot, check, file_info
from .expressions import Condition, Path
from .faults import Fault, Faults
from .inspection import Explanation, Location, LocationNode, LocationPart, Space
from .migration import Migration
from .models import Backlinks, Embedded, Field, Model, backlinks, field
from .objects import Object, Table
from .observing import Changes, Observation
from .opening import memory as memory, open as open
from .planning import MigrationPlan, PlannedChange, SuspectedRename, plan
from .rescue import LostClass, Remain, Salvage, SalvagedClass, SalvagedProperty, recover_deleted, restore, salvage
from .results import Results
from .rules import BrokenRule, Savepoint
from .schema import ClassSchema, Prop
from .values import Float32, ObjectId, RawTimestamp, Timestamp, timestamp_ns
from .versions import PinnedVersion, set_pin_warning
from .windows import Window

__version__ = "0.1.0"
library_version: str = _lib.realm_get_library_version().decode("ascii")
"""The version of the library that was loaded."""

NOW = _rules.NOW
"""A default in the file: the time at which an object is made. See `file_default` of field()."""

NEW_UUID = _rules.NEW_UUID
"""A default in the file: a new UUID for each object."""

NEW_OBJECT_ID = _rules.NEW_OBJECT_ID
"""A default in the file: a new ObjectId for each object."""

__all__ = [
    "Backlinks",
    "BlobFile",
    "BrokenRule",
    "BusyError",
    "Changes",
    "Check",
    "CheckedVersion",
    "ClassSchema",
    "ClosedError",
    "CollectionChange",
    "CommitOutcomeUnknown",
    "Computed",
    "Condition",
    "ConstraintError",
    "CorruptFileError",
    "DataError",
    "Database",
    "DatabaseChange",
    "Dictionary",
    "DictionaryChange",
    "DiskFullError",
    "DuplicateKeyError",
    "Embedded",
    "Error",
    "Explanation",
    "Fault",
    "Faults",
    "Field",
    "FileError",
    "FileExists",
    "FileInfo",
    "FileKeepsChanging",
    "FileNotFound",
    "Float32",
    "ForkedError",
    "Interrupted",
    "InvalidatedError",
    "LimitExceeded",
    "List",
    "Location",
    "LocationNode",
    "LocationPart",
    "LockedError",
    "LostClass",
    "Migration",
    "MigrationPlan",
    "MigrationRequired",
    "Model",
    "Move",
    "NEW_OBJECT_ID",
    "NEW_UUID",
    "NOW",
    "NoSuchClass",
    "NoSuchProperty",
    "NotInWriteError",
    "NotSupportedError",
    "Object",
    "ObjectChange",
    "ObjectId",
    "Observation",
    "OutOfRange",
    "Path",
    "PermissionDenied",
    "PinnedVersion",
    "PlannedChange",
    "Prop",
    "QueryError",
    "RawTimestamp",
    "ReadOnlyError",
    "Remain",
    "Results",
    "RuleBroken",
    "Salvage",
    "SalvagedClass",
    "SalvagedProperty",
    "Savepoint",
    "SchemaError",
    "SetView",
    "Slot",
    "Space",
    "SuspectedRename",
    "SyncError",
    "Table",
    "TimedOut",
    "Timestamp",
    "TypeMismatch",
    "UnsupportedFormat",
    "UsageError",
    "VersionGone",
    "Window",
    "WrongKeyError",
    "WrongThreadError",
    "backlinks",
    "check",
    "computed",
    "field",
    "file_info",
    "library_version",
    "memory",
    "plan",
    "recover_deleted",
    "restore",
    "salvage",
    "set_pin_warning",
    "timestamp_ns",
]
