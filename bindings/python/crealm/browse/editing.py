"""Editing a file: transactions of changes, previews of them, undo and redo.

Each edit is one transaction: all of its changes or none. The file is opened for the edit and closed after it, so that between edits no other program
waits for the Browser. A preview makes the changes, collects their results, and rolls back.

Edits can be undone in the order of a stack: `undo` makes the changes that undo the last edit, in its own transaction, and `redo` undoes that. If
another writer changed a value that an undo would overwrite, it fails with Conflict, like any change, and the edit stays on the stack. The stacks
exist as long as the server.
"""

from __future__ import annotations

import threading
from typing import Any, Dict, List, NamedTuple, Sequence, Tuple

from .._shown import cut
from ..errors import DataError, Error
from .cells import exact
from .changes import ASKED, Change, Changing, Done, Past
from .files import File
from .places import key_of

Json = Dict[str, Any]

MOST = 10_000  # Changes of one edit.
_KEPT = 200  # Edits that can be undone.
_MOST_TEXT = 64 << 20  # Characters of all values in these edits.
_SHOWN = 200  # Changes that an answer lists; all are counted.
_WIDTH = 300


class Edit(NamedTuple):
    """An edit on a stack: its title, and the changes that undo it."""

    title: str
    back: Sequence[Change]

    @property
    def size(self) -> int:
        return sum(len(change.json) for change in self.back)


class _Looked(Exception):
    """Ends a preview: rolls the write back."""


class Editor:
    """Edits one file. Any thread; one edit at a time."""

    def __init__(self, file: File) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._past = Past()
        self._undo: List[Edit] = []
        self._redo: List[Edit] = []

    def state(self) -> Json:
        """For pages: whether a change would upgrade the file, and which edits undo() and redo() would apply to."""
        try:
            is_older = self.file.needs_upgrade()
        except Error:
            is_older = False  # A change will report the error; the page still shows as much of the file as it can.
        return {"upgrade": is_older, **self._stacks()}

    def _stacks(self) -> Json:
        undo, redo = self._undo, self._redo
        return {"undo": undo[-1].title if undo else None, "redo": redo[-1].title if redo else None}

    def edit(self, changes: Sequence[Change], *, is_preview: bool = False) -> Json:
        """Makes changes, as one transaction. After an error, such as Conflict, nothing was written; its attribute `change` is the index of the failed
        change."""
        with self._lock:
            version, done = self._made(changes, is_back=False, is_preview=is_preview)
            if not is_preview:
                self._push(self._undo, _edit(changes, done))
                self._redo.clear()
            return self._told(version, changes, done)

    def undo(self, *, is_preview: bool = False) -> Json:
        """Undoes the last edit."""
        return self._taken_back(self._undo, self._redo, is_preview)

    def redo(self, *, is_preview: bool = False) -> Json:
        """Makes the edit again that undo() undid last."""
        return self._taken_back(self._redo, self._undo, is_preview)

    def forget(self) -> None:
        """Clears the stacks, because the classes of the file have changed."""
        with self._lock:
            self._undo.clear()
            self._redo.clear()

    def _taken_back(self, source: List[Edit], target: List[Edit], is_preview: bool) -> Json:
        with self._lock:
            if not source:
                raise DataError("There is nothing to be taken back")
            edit = source[-1]
            version, done = self._made(edit.back, is_back=True, is_preview=is_preview)
            if not is_preview:
                source.pop()
                self._push(target, Edit(edit.title, _back(done)))
            return self._told(version, edit.back, done)

    def _made(self, changes: Sequence[Change], *, is_back: bool, is_preview: bool) -> Tuple[int, List[Done]]:
        done: List[Done] = []
        past = self._past.copy()  # A copy, so that a failed edit does not change it.
        with self.file.open_for_writing() as db:
            try:
                with db.write():
                    changing = Changing(db, past, is_back)
                    changing.expect(changes)
                    for number, change in enumerate(changes):
                        try:
                            done.append(changing.make(change))
                        except Error as error:
                            error.change = number  # type: ignore[attr-defined]
                            raise
                    if is_preview:
                        raise _Looked
            except _Looked:
                return db.version, done
            self._past = past
            return db.version, done

    def _push(self, stack: List[Edit], edit: Edit) -> None:
        stack.append(edit)
        while len(stack) > _KEPT or len(stack) > 1 and sum(one.size for one in stack) > _MOST_TEXT:
            stack.pop(0)

    def _told(self, version: int, changes: Sequence[Change], done: Sequence[Done]) -> Json:
        listed = [_shown(change, one) for change, one in zip(changes[:_SHOWN], done)]
        return {
            "version": version, "total": len(done), "changes": listed, "marks": [one.mark for one in done], "lost": sum(one.lost for one in done),
            "also": sum(one.also for one in done), **self._stacks()}  # fmt: skip


def changes_of(given: Any) -> List[Change]:
    """The changes that a page sent; DataError if `given` is not a list of changes."""
    if not isinstance(given, list) or not given:
        raise DataError('An edit is {"changes": [change, …]}')
    if len(given) > MOST:
        raise DataError(f"An edit has at most {MOST:,} changes")
    return [_change(one) for one in given]


def _change(given: Any) -> Change:
    fields = {"do": str, "class": str, "key": int, "path": list, "json": str, "to": int, "mark": str}
    if isinstance(given, dict) and isinstance(given.get("key"), str):
        given = {**given, "key": key_of(given["key"])}  # A key may be a text, as in an address.
    if not isinstance(given, dict) or not given.keys() <= fields.keys() or not {"do", "class"} <= given.keys():
        raise DataError(f"A change has {', '.join(fields)}")
    wrong = next((name for name, value in given.items() if not _is(value, fields[name])), None)
    if wrong is not None or not all(isinstance(step, (str, int)) for step in given.get("path", ())):
        raise DataError(f"A change has another kind of {wrong or 'path'}")
    if given["do"] not in ASKED:
        raise DataError(f"There is no change {given['do'][:20]!r}")
    if not (0 <= given.get("key", 0) < 1 << 63 and 0 <= given.get("to", 0) < 1 << 53):
        raise DataError("A key and a place are numbers that are not negative")
    plain = {name: value for name, value in given.items() if name not in ("class", "path")}
    return Change(class_name=given["class"], path=tuple(str(step) for step in given.get("path", ())), **plain)


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def _back(done: Sequence[Done]) -> List[Change]:
    """The changes that undo all of them, those for the last change first."""
    return [change for one in reversed(done) for change in one.back]


_VERBS = {"create": "created", "delete": "deleted", "insert": "inserted", "remove": "removed", "move": "moved", "add": "added", "discard": "removed"}


def _edit(changes: Sequence[Change], done: Sequence[Done]) -> Edit:
    return Edit(_title(changes, done), _back(done))


def _title(changes: Sequence[Change], done: Sequence[Done]) -> str:
    first, kinds, classes = changes[0], {change.do for change in changes}, {change.class_name for change in changes}
    if len(changes) > 1:
        what, verb = first.class_name if len(classes) == 1 else "objects", _VERBS.get(first.do, "set") if len(kinds) == 1 else "changed"
        return f"{len(changes):,} {what} {verb}"
    path = "".join(f".{step}" for step in first.path)
    return f"{first.class_name} {done[0].label or done[0].key}{path} {_VERBS.get(first.do, 'set')}"[:200]


def _shown(change: Change, done: Done) -> Json:
    found: Json = {"do": change.do, "class": change.class_name, "key": exact(done.key), "label": done.label, "path": list(change.path)}
    for side, text in (("before", done.before), ("after", done.after)):
        if text is not None:
            found[side] = cut(text, _WIDTH)
    return found
