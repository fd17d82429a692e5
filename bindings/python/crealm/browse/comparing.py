"""The differences of two versions of one file, or of two files. Uses the code of `crealm diff`."""

from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from typing import Any, Dict, List

from .._shown import cut
from ..cli.diff import Change, Comparison, schema_differences
from ..database import Database
from .cells import exact
from .work import Job

_MOST = 500  # Changes that are listed; all are counted.
_WIDTH = 300  # Characters of a value.

Json = Dict[str, Any]


def compared(a: Database, b: Database, job: Job) -> Json:
    """The differences of the classes, the numbers of objects of each class that were added, removed and changed from A to B, and the first of these
    changes."""
    names = sorted({*a.classes, *b.classes})
    comparison = Comparison(a, b, lambda done: job.check())
    counts: Dict[str, Counter[str]] = {}
    listed: List[Json] = []
    for name in names:
        for change in comparison.of_class(name):
            counts.setdefault(name, Counter())[change.kind] += 1
            if len(listed) < _MOST:
                listed.append(_shown(change))
    total = sum(sum(kinds.values()) for kinds in counts.values())
    differences = list(schema_differences(a, b, names))
    return {"schema": differences, "counts": {name: dict(kinds) for name, kinds in counts.items()}, "total": total, "changes": listed}


def _shown(change: Change) -> Json:
    ((_, identity),) = change.identity.items()
    values = change.values if change.kind == "changed" else dict(islice(change.values.items(), 6))
    found = {"class": change.class_name, "kind": change.kind, "key": exact(change.key), "identity": _text(identity)}
    if change.kind == "changed":
        return {**found, "values": [{"property": name, "before": _text(both["a"]), "after": _text(both["b"])} for name, both in values.items()]}
    side = "before" if change.kind == "removed" else "after"
    return {**found, "values": [{"property": name, side: _text(value)} for name, value in values.items()]}


def _text(value: Any) -> str:
    return cut(json.dumps(_plain(value), ensure_ascii=False), _WIDTH)


def _plain(value: Any) -> Any:
    """JSON in a form for people: a link is class and key, and values have no type marks."""
    if isinstance(value, list):
        return [_plain(element) for element in value]
    if not isinstance(value, dict):
        return value
    marks = list(value)
    if marks in (["$primaryKey", "$class"], ["$ref", "$class"]):
        return f"{value['$class']} {_plain(value[marks[0]])}"
    if len(marks) == 1 and marks[0].startswith("$") and marks[0] != "$dict":
        return value[marks[0]]
    return {name: _plain(element) for name, element in value.items()}
