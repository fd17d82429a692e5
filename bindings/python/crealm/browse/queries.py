"""Queries: conditions and orders on the objects of a class. Counts the objects, makes pages of them, explains queries and describes errors in them.

The results of a query are kept with its snapshot, so that scrolling runs the query only once. They have their own frozen database, so that ending one
query does not end another. Other long work on the results (`alone`) uses yet another frozen database.
"""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple

from ..database import Database
from ..errors import Error, QueryError
from ..schema import ClassSchema, Prop
from .cells import TABLE, Cell, exact, fault, readable
from .files import Snapshot, without_path
from .places import property_of
from .work import Job

_KEPT = 12  # Queries whose results are kept with a snapshot.
_MOST = 1000  # Rows of one page.
_WORD = re.compile(r"[^\W\d][\w$-]*|\S")
_LITERAL = re.compile(r"""("(?:\\.|[^"\\])*"?|'(?:\\.|[^'\\])*'?)""", re.S)
_RESERVED = frozenset(  # Words of the query language that can never be names; others, like "text" and "size", can in some places.
    "all and any false falsepredicate geobox geocircle geopolygon geowithin inf infinity nan nil none not null obj or some subquery true "
    "truepredicate".split())
_QUOTED = re.compile(r"'([^']+)'")


class Question(NamedTuple):
    """A query: class, condition and order."""

    class_name: str
    condition: str = ""
    order: Tuple[str, ...] = ()  # "name", "age desc": the last word is the direction if it is "asc" or "desc".


class Found:
    """The objects that a query finds."""

    def __init__(self, database: Database, question: Question) -> None:
        self.database = database
        table: Any = database[question.class_name]
        self.schema: ClassSchema = table.schema
        rows = table.where(question.condition) if question.condition.strip() else table
        self.rows: Any = rows.sort(*map(_direction, question.order)) if question.order else rows
        self._count: Optional[int] = None
        self._lock = threading.Lock()

    def count(self, job: Job) -> int:
        """The number of objects; the first call runs the query."""
        with self._lock:
            if self._count is None:
                with job.during(self.database):
                    count = len(self.rows)
                    if count:
                        self.rows[0]  # Some errors of an order occur only when the first row is read.
                self._count = count
            return self._count

    def close(self) -> None:
        self.database.close()


def found(snapshot: Snapshot, question: Question, job: Job) -> Found:
    """The results of a query in a snapshot, counted. QueryError for a text that is not valid."""
    with snapshot.lock:
        known = snapshot.kept.pop(question, None) or _asked(snapshot, question)
        snapshot.kept[question] = known  # The last one is the one used most recently.
        questions = [one for one in snapshot.kept if isinstance(one, Question)]
        for one in questions[:-_KEPT]:
            del snapshot.kept[one]  # Its frozen database closes itself after the last use.
    assert isinstance(known, Found)
    try:
        known.count(job)
    except Error:
        with snapshot.lock:
            if snapshot.kept.get(question) is known:
                del snapshot.kept[question]
        raise
    return known


@contextmanager
def alone(snapshot: Snapshot, question: Question, job: Job) -> Iterator[Found]:
    """The results of a query for the time of the block, on a database that no other request uses: ending long work there does not end the work of
    other requests with the same query."""
    answer = _asked(snapshot, question)
    try:
        answer.count(job)
        yield answer
    finally:
        answer.close()


def _asked(snapshot: Snapshot, question: Question) -> Found:
    database = snapshot.frozen_again()
    try:
        return Found(database, question)
    except BaseException:
        database.close()
        raise


def _direction(text: str) -> Tuple[str, str]:
    path, blank, last = text.rpartition(" ")
    return (path, last) if blank and last in ("asc", "desc") else (text, "asc")


# ------------------------------------------------------------------------------------------------
# Pages
# ------------------------------------------------------------------------------------------------


def rows(answer: Found, job: Job, first: int, count: int, columns: Sequence[str]) -> List[Dict[str, Any]]:
    """A page of the objects: key and a cell for each column. It is shorter at the end."""
    total = answer.count(job)
    end = min(first + min(count, _MOST), total)
    properties = [(name, property_of(answer.schema, name)) for name in columns]
    return [_row(answer, index, properties) for index in range(max(first, 0), end)]


def is_speakable(name: str) -> bool:
    """Whether the query language can name a property."""
    return bool(name) and not name.startswith("@") and not any(letter in name for letter in '.[]"\\') and name.lower() not in _RESERVED


def _row(answer: Found, index: int, properties: Sequence[Tuple[str, Prop]]) -> Dict[str, Any]:
    try:
        obj = answer.rows[index]
        return {"key": exact(obj.object_key), "cells": [_cell(obj, name, prop) for name, prop in properties]}
    except Error as error:
        return {"key": None, "cells": [fault(error) for _ in properties]}


def _cell(obj: Any, name: str, prop: Prop) -> Cell:
    return readable(lambda: obj[name], prop, TABLE)


def explained(answer: Found, job: Job) -> Dict[str, Any]:
    """How the query finds the objects. No other job may use `answer`: see `alone`."""
    with job.during(answer.database):
        explanation = answer.rows.explain()
    return {**explanation._asdict(), "text": str(explanation)}


# ------------------------------------------------------------------------------------------------
# Errors
# ------------------------------------------------------------------------------------------------


def described(error: Error) -> Dict[str, Any]:
    """An error as JSON, for people. For a query also "position" and "end" of the wrong word, in characters of the text, if they are known."""
    message = error.message if error.path is None else without_path(error.message, error.path)
    said: Dict[str, Any] = {"kind": type(error).__name__, "message": message}
    if error.hint:
        said["hint"] = error.hint
    if isinstance(error, QueryError) and error.text is not None:
        said["message"] = _short(message, error.text)
        place = _place(error)
        if place is not None:
            said["position"], said["end"] = place
    said.update({name: getattr(error, name) for name in ("change", "property") if getattr(error, name, None) is not None})
    now = getattr(error, "now", None)
    return said if now is None else {**said, "now": now[0], "mark": now[1]}


def _short(message: str, text: str) -> str:
    """The message without the query, which the page shows anyway."""
    plain = message.replace(f"Invalid predicate: '{text}': ", "", 1)
    plain = re.sub(r" \(at byte [0-9]+\)$", "", plain)
    return plain[:1].upper() + plain[1:]


def _place(error: QueryError) -> Optional[Tuple[int, int]]:
    text = error.text or ""
    if error.position is not None:
        word = _WORD.match(text, error.position)
        return error.position, word.end() if word else min(error.position + 1, max(len(text), error.position))
    words = _words(text)
    for name in reversed(_QUOTED.findall(error.message)):
        match = next((word for word in words if word[0] == name), None)
        if match is not None:
            return match.start(), match.end()
    return None


def _words(text: str) -> List["re.Match[str]"]:
    """The words of a query outside of its literals."""
    plain = _LITERAL.sub(lambda literal: " " * len(literal[0]), text)
    return list(_WORD.finditer(plain))
