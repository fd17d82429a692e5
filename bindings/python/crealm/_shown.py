"""How values look in a REPL and in Jupyter: always short. An exception of a value's repr() is shown, not raised."""

from __future__ import annotations

import enum
import html
import sys
from collections.abc import Mapping, Sequence, Set
from datetime import date, datetime
from decimal import Decimal
from itertools import islice
from typing import Any, Iterable, List
from uuid import UUID

from .errors import UsageError
from .values import Float32, ObjectId

ROWS, COLUMNS = 10, 48  # The limits of an HTML table.
_ELEMENTS = 5  # The elements of a collection that a cell shows.


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def brief(value: Any, width: int = 60) -> str:
    """A value in at most `width` letters. Does no work for the part that is not shown."""
    try:
        if hasattr(type(value), "_brief"):
            return str(value._brief())
        if isinstance(value, (list, set, dict)):
            return f"<{len(value)} values>"
        if isinstance(value, (str, bytes, bytearray)) and len(value) > width:
            return cut(repr(value[:width]), width - 1).rstrip("…") + "…"
        return cut(repr(value), width)
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__}>"


def told(value: Any, width: int = 60) -> str:
    """A value in the message of an error: as brief(), but with the first elements of a collection."""
    if type(value) in (list, tuple, set, dict) and value:
        first = dict(islice(value.items(), 20)) if isinstance(value, dict) else list(islice(value, 20))
        try:
            return cut(repr(first), width)
        except Exception:
            pass
    return brief(value, width)


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], missing: int = 0) -> str:
    """An HTML table. Markup in texts is escaped. Its last column says how many columns it leaves out."""
    hidden = len(columns) - COLUMNS
    lines = [f"<table><caption>{_cell(caption)}</caption>", _row("th", columns[:COLUMNS], f"… {hidden:,} more" if hidden > 0 else "")]
    lines += [_row("td", [plain(value) for value in row[:COLUMNS]], "…" if hidden > 0 else "") for row in rows]
    if missing:
        lines.append(f'<tr><td colspan="{min(len(columns), COLUMNS + 1)}">… {missing:,} more</td></tr>')
    return "\n".join([*lines, "</table>"])


def text(value: Any) -> str:
    """A value that is not shown as a table, as HTML."""
    return f"<pre>{_cell(repr(value))}</pre>"


def counted(count: int, what: str) -> str:
    """A number of things: `1 value`, `1,203 values`."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def values(found: Sequence[Any], missing: int) -> str:
    """An HTML table of values in one column. missing: how many more there are."""
    return table(counted(len(found) + missing, "value"), ["value"], [[value] for value in found], missing)


def _row(tag: str, cells: Iterable[str], more: str) -> str:
    shown: List[str] = [f"<{tag}>{_cell(cell)}</{tag}>" for cell in (*cells, *([more] if more else []))]
    return f"<tr>{''.join(shown)}</tr>"


def plain(value: Any) -> str:
    """The content of a cell: texts without quotes; empty for None."""
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return cut(value[:61], 60)
    try:
        return cut(_read(value), 60)
    except Exception:
        return brief(value)  # Shows the exception, too.


def _read(value: Any) -> str:
    """A value as people read it."""
    if isinstance(value, enum.Enum):
        return str(value.name)
    if isinstance(value, (Decimal, UUID, ObjectId)):
        return str(value)
    if isinstance(value, Float32):
        return value.shortest()
    if isinstance(value, datetime):
        text = value.isoformat(" ")
        rest = getattr(value, "nanosecond", 0)
        if rest:
            place = len("2000-01-01 00:00:00")
            text = f"{text[:place]}.{value.microsecond:06}{rest:03}{text[place + (7 if value.microsecond else 0):]}"
        return text.replace("+00:00", " UTC")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (bytes, bytearray)):
        return f"{len(value):,} bytes" + (f": {value[:16].hex()}" if value else "")
    if hasattr(type(value), "_read_brief"):
        return str(value._read_brief())
    if isinstance(value, (Mapping, Sequence, Set)):
        return _elements(value)
    return brief(value)


def _elements(values: Any) -> str:
    """The first elements of a collection, and the number of the others."""
    count = len(values)
    if isinstance(values, Mapping):
        pairs = islice(values.items(), _ELEMENTS)
        shown = [f"{cut(str(key), 20)}: {cut(plain(element), 30)}" for key, element in pairs]
    else:
        shown = [cut(plain(element), 30) or "–" for element in islice(iter(values), _ELEMENTS)]
    more = [f"… {count:,} in all"] if count > len(shown) else []
    return cut(", ".join(shown), 60 - len(more) * 20) + (f", {more[0]}" if more else "") if count else "empty"


def _cell(content: str) -> str:
    # Characters that cannot be encoded, such as a lone surrogate, would break the page.
    return html.escape(content.encode("utf-8", "replace").decode("utf-8"))


def refuse_frame(package: str, depth: int = 2) -> None:
    """UsageError if a package that makes frames calls the caller: it would read objects as rows without names, because
    results are sequences."""
    caller = sys._getframe(depth).f_globals.get("__name__") or ""
    if caller.startswith(f"{package}."):
        raise UsageError(
            f"{package}.DataFrame(…) cannot read objects",
            hint=f"Use to_{package}(), or {package}.DataFrame(….select()) where the columns need no conversion."
            if package == "polars" else f"Use to_{package}().")
