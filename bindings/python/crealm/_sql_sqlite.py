"""Runs SQL statements with SQLite: on the virtual tables of the extension, or on copies of what a statement reads."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import Any, Callable, Dict, List, Optional, Sequence, Set

from . import _extension
from ._session import Session
from ._sql_running import Answer, Running, Statement
from ._sql_tables import ROWID, Column, Kind, Table, fold, pages, with_far_dates
from .errors import DataError, Interrupted, NotSupportedError, QueryError

_DECLARED = {
    Kind.INT: "INTEGER",
    Kind.BOOL: "INTEGER",
    Kind.REAL: "REAL",
    Kind.BLOB: "BLOB",
    Kind.ANY: "",
}
_LIVE = ("r", "rw", "rwc")
_ROWIDS = (ROWID, "_rowid_", "oid")


def run(
    db: Session, frozen: Session, tables: Sequence[Table], statement: Statement, running: Running,
    newest: Callable[[], Optional[int]],
) -> Answer:
    """The rows of a statement.

    db:     the database of the program.
    frozen: the same snapshot, for the thread that runs the statement.
    newest: reads the number of the newest version of the file; None if there is no other way to open it.
    """
    if _has_virtual(db):
        # The extension reads the newest version, whatever the snapshot of this database is.
        if newest() == frozen.version:
            found = running.on_thread(lambda: _on_virtual(db, tables, statement, running))
            if found is not None and newest() == frozen.version:
                return found
    return running.on_thread(lambda: _on_copies(frozen, tables, statement, running))


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ------------------------------------------------------------------------------------------------
# Virtual tables
# ------------------------------------------------------------------------------------------------


def _has_virtual(db: Session) -> bool:
    """Whether the extension can show the file. It would have to derive a key from a passphrase, which takes long."""
    secret = db._secret  # type: ignore[attr-defined]
    return db.mode in _LIVE and os.path.isfile(db.path) and secret.passphrase is None and _extension.problem() is None


def _on_virtual(db: Session, tables: Sequence[Table], statement: Statement, running: Running) -> Optional[Answer]:
    """The rows; None if the extension cannot show what the database shows."""
    try:
        connection = _extension.connect(check_same_thread=False)
    except (sqlite3.Error, NotSupportedError):
        return None
    with closing(connection):
        try:
            secret = db._secret  # type: ignore[attr-defined]
            if secret.key is not None:
                connection.execute("SELECT crealm_key(?, ?)", (db.path, secret.key))
            connection.execute("SELECT crealm_attach(?)", (db.path,))
            if not all(_is_shown(connection, table) for table in tables) or _count(connection) != len(tables):
                return None
        except sqlite3.Error:
            return None
        return _answer(connection, statement, running)


def _is_shown(connection: sqlite3.Connection, table: Table) -> bool:
    """Whether a virtual table has the columns that the database has: it may declare a part of the file only."""
    found = connection.execute("SELECT name FROM pragma_table_info(?)", (table.name,)).fetchall()
    return [name for name, in found] == ([column.name for column in table.columns] or ["@key"])


def _count(connection: sqlite3.Connection) -> int:
    count: int = connection.execute("SELECT count(*) FROM sqlite_temp_master WHERE type = 'table'").fetchone()[0]
    return count


# ------------------------------------------------------------------------------------------------
# Copies
# ------------------------------------------------------------------------------------------------


def _on_copies(frozen: Session, tables: Sequence[Table], statement: Statement, running: Running) -> Answer:
    with closing(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)) as connection:
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA journal_mode = OFF")
        for table in tables:
            _declare(connection, table, table.columns)
        used = _used(connection, statement, running)
        for table in tables:
            names = used.get(fold(table.name))
            if names is not None:
                _fill(connection, frozen, table, names, running)
        return _answer(connection, statement, running)


def _declare(connection: sqlite3.Connection, table: Table, columns: Sequence[Column]) -> None:
    declared = [
        f"{quoted(column.name)} {_type(column, shown)}".rstrip() for column, shown in zip(table.columns, columns)
    ]
    connection.execute(f"CREATE TABLE {quoted(table.name)} ({', '.join(declared or [_KEY_COLUMN])})")


_KEY_COLUMN = '"@key" INTEGER'  # SQLite has no table without columns.


def _type(column: Column, shown: Column) -> str:
    # Far dates are integers and bytes, which SQLite would convert in a column of texts.
    is_far = column.kind is Kind.DATE and column.path != shown.path
    return "" if is_far else _DECLARED.get(column.kind, "TEXT")


def _used(connection: sqlite3.Connection, statement: Statement, running: Running) -> Dict[str, Set[str]]:
    """The names of the columns that a statement reads, by the names of their tables; all as fold() makes them."""
    used: Dict[str, Set[str]] = {}

    def read(table: str, column: str) -> None:
        used.setdefault(fold(table), set()).add(fold(column))

    words = statement.text.split(None, 1)
    is_explained = bool(words) and words[0].lower() == "explain"
    asked = statement if is_explained else statement._replace(text=f"EXPLAIN {statement.text}")
    try:
        _answer(connection, asked, running, read)
    except QueryError:
        _answer(connection, statement, running, read)  # For the message without "EXPLAIN".
    return used


def _fill(connection: sqlite3.Connection, frozen: Session, table: Table, names: Set[str], running: Running) -> None:
    """Copies the rows of a class, with the columns that are read."""
    rows = frozen[table.class_name]  # type: ignore[index]
    wanted = [column for column in table.columns if fold(column.name) in names]
    shown = with_far_dates(rows, wanted)
    if shown != wanted:
        by_name = {column.name: column for column in shown}
        connection.execute(f"DROP TABLE {quoted(table.name)}")
        _declare(connection, table, [by_name.get(column.name, column) for column in table.columns])
    taken = {fold(column.name) for column in table.columns}
    keys = [name for name in _ROWIDS if name not in taken][:1]
    if not table.columns:
        keys.append('"@key"')
    into = [*keys, *(quoted(column.name) for column in shown)]
    text = f"INSERT INTO {quoted(table.name)} ({', '.join(into)}) VALUES ({', '.join('?' * len(into))})"
    connection.execute("BEGIN")
    for page in pages(rows, shown):
        running.check()
        numbers, *columns = page
        connection.executemany(text, zip(*[numbers] * len(keys), *columns))
    connection.execute("COMMIT")


# ------------------------------------------------------------------------------------------------
# Running
# ------------------------------------------------------------------------------------------------


def _allow(*_: Any) -> int:
    return sqlite3.SQLITE_OK


def _answer(
    connection: sqlite3.Connection, statement: Statement, running: Running,
    read: Optional[Callable[[str, str], None]] = None,
) -> Answer:
    """The rows of a statement that only reads. read(table, column): called for each column that it reads."""
    refused: List[str] = []

    def authorize(action: int, first: Optional[str], second: Optional[str], *_: Any) -> int:
        if action == sqlite3.SQLITE_READ:
            if read is not None:
                read(first or "", second or "")
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            is_allowed = not (second or "").lower().startswith(("crealm_", "load_extension"))
        else:
            is_allowed = action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE)
        if not is_allowed:
            refused.append(second or first or "")
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY

    connection.set_authorizer(authorize)
    try:
        running.begin(connection.interrupt)
        cursor = connection.execute(statement.text, statement.parameters)
        if cursor.description is None:
            raise QueryError("There is no statement that reads", text=statement.text)
        return Answer([column[0] for column in cursor.description], cursor.fetchall())
    except OverflowError as error:
        raise DataError(f"SQLite takes no such value: {error}") from error
    except (sqlite3.Error, sqlite3.Warning) as error:
        if running.is_ended:
            raise Interrupted("The statement was interrupted") from error
        if refused:
            raise QueryError(f"SQL only reads here: {error}", text=statement.text) from error
        raise QueryError(str(error), text=statement.text) from error
    finally:
        running.finish()
        connection.set_authorizer(_allow)  # Python 3.10 takes no None.
