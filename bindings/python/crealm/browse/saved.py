"""Named queries, kept between runs: in a file in the user's settings folder, which only the user can read. Nothing of them is in the realm file, or
beside it.

    $XDG_CONFIG_HOME/crealm/queries.json (else ~/.config):  {"/path/of/people.realm": [{"class", "name", "where", "sort", "column"}, …]}
"""

from __future__ import annotations

import json
import os
import tempfile
import threading
from pathlib import Path
from typing import Any, Dict, List

from ..errors import DataError, PermissionDenied

Json = Dict[str, Any]

_MOST = 500  # Queries for one realm file.
_LONGEST = 100_000  # Characters of one query as JSON.
_lock = threading.Lock()


def saved(path: str) -> List[Json]:
    """The queries for a realm file."""
    found = _all().get(path, [])
    return [one for one in found if isinstance(one, dict) and _is_query(one)] if isinstance(found, list) else []


def save(path: str, given: Any) -> List[Json]:
    """Stores a query under its name, or removes it: {"class", "name", "remove": true}. Returns all queries for the file. DataError if `given` is not a
    query."""
    is_removal = isinstance(given, dict) and given.get("remove") is True
    query = {"where": "", "sort": [], "column": [], **given} if isinstance(given, dict) else {}
    query.pop("remove", None)
    if not _is_query(query) or len(json.dumps(query)) > _LONGEST:
        raise DataError('A query is {"class", "name", "where", "sort", "column"}')
    with _lock:
        others = [one for one in saved(path) if (one["class"], one["name"]) != (query["class"], query["name"])]
        queries = others if is_removal else [*others, query]
        if len(queries) > _MOST:
            raise DataError(f"At most {_MOST} queries of a file are kept")
        _write({**_all(), path: queries})
        return queries


def _is_query(given: Json) -> bool:
    if given.keys() != {"class", "name", "where", "sort", "column"} or not given["name"]:
        return False
    texts = [given[name] for name in ("class", "name", "where")]
    lists = [given[name] for name in ("sort", "column")]
    return all(isinstance(one, str) for one in texts) and all(isinstance(one, list) and all(isinstance(part, str) for part in one) for one in lists)


def _place() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "crealm" / "queries.json"


def _all() -> Dict[str, Any]:
    """The stored queries of all files; empty if they cannot be read."""
    try:
        found = json.loads(_place().read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _write(queries: Dict[str, Any]) -> None:
    """Replaces the file of the stored queries atomically."""
    place = _place()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=place.parent, prefix="queries-")  # Only the user can read it.
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                json.dump(queries, file)
            os.replace(name, place)
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        raise PermissionDenied(f"The query cannot be kept: {error.strerror}", path=str(place)) from None
