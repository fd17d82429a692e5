"""The POST requests that pages send, with a body of JSON:

    /FILE/key          {"key": text} or {"passphrase": text}: opens an encrypted file
    /FILE/remember     {}: keeps the newest version for comparisons with later ones
    /FILE/queries      {"class", "name", "where", "sort", "column"}: stores a named query; with "remove": true removes it

and only for files that may be edited:

    /FILE/edit         {"changes": [change, …], "preview": true}: see `changes`; with "preview" nothing is written
    /FILE/undo, redo   {"preview": …}: undoes the last edit, and makes it again
    /FILE/rows         {"class": name, "format": "csv", "tsv" or "json", "text": text, "preview": …}: creates an object for each row
    /FILE/structure    {"changes": [change, …], "preview": …}: changes classes and properties; see `structure`
    /FILE/compact      {}: rewrites the file without its free space; while other programs use it, shortens it in place ("done" is false then)
    /FILE/upgrade      {}: converts a file of an older format to the newest one

The answer to an edit is {"version", "total", "changes", "marks", "lost", "also", "undo", "redo"}: the values before and
after each change, the marks of the places before the changes (a page sends them after a preview), the number of links
that an undo cannot restore, the number of objects that rules of the file deleted as well, which an undo does not
restore, and the titles of the edits that can be
undone and redone.
"""

from __future__ import annotations

import os
from typing import Any, Callable, Dict, Mapping

from ..errors import DataError, PermissionDenied
from .api import Ask, Json
from .editing import Editor, changes_of
from .files import secret_of
from .places import NoSuchPage
from .saved import save
from .structure import Structure

LONG = {"edit", "undo", "redo", "rows", "structure", "compact", "upgrade"}  # Requests that may take longer than reads.
_MOST = 1 << 20
_MOST_VALUES = 64 << 20


def most(kind: str) -> int:
    """The largest body of a request, in bytes."""
    return _MOST_VALUES if kind in ("edit", "rows") else _MOST


def is_known(parts: Any) -> bool:
    """Whether there is a POST request with this address."""
    return len(parts) == 2 and (parts[1] in _ANSWERS or parts[1] in _EDITS)


def answer(ask: Ask, given: Any) -> Json:
    """Carries out a POST request, and returns its answer."""
    if not is_known(ask.parts):
        raise NoSuchPage("Nothing can be sent to this address")
    kind = ask.parts[1]
    file = ask.file  # NoSuchPage if there is no such file.
    if kind in _ANSWERS:
        return _ANSWERS[kind](ask, given)
    if ask.editor is None:
        raise PermissionDenied("This Browser only reads", path=file.path, hint="`crealm browse --edit` also writes.")
    if not isinstance(given, dict):
        raise DataError("What is sent is an object of JSON")
    return _EDITS[kind](ask.editor, given)


def unlock(ask: Ask, given: Any) -> Json:
    """Opens an encrypted file with the key or passphrase that a person typed."""
    if not isinstance(given, dict) or len(given) != 1 or not isinstance(next(iter(given.values())), str) or not {"key", "passphrase"} >= given.keys():
        raise DataError('A key comes as {"key": text} or {"passphrase": text}')
    ((kind, text),) = given.items()
    ask.file.unlock(secret_of(text, kind == "passphrase"))
    return {"open": True}


def remember(ask: Ask, given: Any) -> Json:
    return {"remembered": ask.file.remember()}


def keep(ask: Ask, given: Any) -> Json:
    return {"queries": save(ask.file.path, given)}


def edit(editor: Editor, given: Mapping[str, Any]) -> Json:
    return editor.edit(changes_of(given.get("changes")), is_preview=bool(given.get("preview")))


def undo(editor: Editor, given: Mapping[str, Any]) -> Json:
    return editor.undo(is_preview=bool(given.get("preview")))


def redo(editor: Editor, given: Mapping[str, Any]) -> Json:
    return editor.redo(is_preview=bool(given.get("preview")))


def rows(editor: Editor, given: Mapping[str, Any]) -> Json:
    from .rows import changes_of_rows  # Imported here, because most sessions do not need it.

    with editor.file.snapshot() as snapshot:
        changes = changes_of_rows(snapshot.database.schema, *(_text(given, name) for name in ("class", "format", "text")))
    return editor.edit(changes, is_preview=bool(given.get("preview")))


def structure(editor: Editor, given: Mapping[str, Any]) -> Json:
    found = Structure(editor.file, given.get("changes"))
    if given.get("preview"):
        return found.told()
    told = found.make()
    editor.forget()
    return told


def compact(editor: Editor, given: Mapping[str, Any]) -> Json:
    file = editor.file
    before = os.path.getsize(file.path)
    file.leave()
    with file.open_for_writing() as db:
        is_done = db.compact()
        if not is_done:  # Other programs use the file.
            db.shrink()
    return {"done": is_done, "before": before, "after": os.path.getsize(file.path)}


def upgrade(editor: Editor, given: Mapping[str, Any]) -> Json:
    editor.file.upgrade()
    return editor.state()


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise DataError(f"{name} is a text")
    return value


_ANSWERS: Dict[str, Callable[[Ask, Any], Json]] = {"key": unlock, "remember": remember, "queries": keep}
_EDITS: Dict[str, Callable[[Editor, Mapping[str, Any]], Json]] = {
    "edit": edit, "undo": undo, "redo": redo, "rows": rows, "structure": structure, "compact": compact, "upgrade": upgrade}  # fmt: skip
