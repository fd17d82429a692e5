"""How values look in a REPL and in Jupyter: always short. An exception of a value's repr() is shown, not raised."""

from __future__ import annotations

import html
from typing import Any, Iterable, List, Sequence

ROWS, COLUMNS = 10, 20  # The limits of an HTML table.


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


def table(caption: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], missing: int = 0) -> str:
    """An HTML table. Markup in texts is escaped."""
    lines = [f"<table><caption>{_cell(caption)}</caption>", _row("th", columns[:COLUMNS], len(columns) > COLUMNS)]
    lines += [_row("td", [_plain(value) for value in row[:COLUMNS]], len(columns) > COLUMNS) for row in rows]
    if missing:
        lines.append(f'<tr><td colspan="{min(len(columns), COLUMNS + 1)}">… {missing:,} more</td></tr>')
    return "\n".join([*lines, "</table>"])


def text(value: Any) -> str:
    """A value that is not shown as a table, as HTML."""
    return f"<pre>{_cell(repr(value))}</pre>"


def _row(tag: str, cells: Iterable[str], has_more: bool) -> str:
    shown: List[str] = [f"<{tag}>{_cell(cell)}</{tag}>" for cell in cells]
    return f"<tr>{''.join(shown)}{f'<{tag}>…</{tag}>' if has_more else ''}</tr>"


def _plain(value: Any) -> str:
    """The content of a cell: texts without quotes; empty for None."""
    if value is None:
        return ""
    return cut(value[:61], 60) if isinstance(value, str) else brief(value)


def _cell(content: str) -> str:
    # Characters that cannot be encoded, such as a lone surrogate, would break the page.
    return html.escape(content.encode("utf-8", "replace").decode("utf-8"))
