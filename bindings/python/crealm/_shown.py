"""How values look in a REPL and in Jupyter: short, whatever they are, and never an exception of a value's own."""

from __future__ import annotations

import html
from typing import Any, Iterable, List, Sequence

ROWS, COLUMNS = 10, 20  # What a table of HTML shows at most.


def cut(text: str, width: int) -> str:
    """The text, or its beginning and an ellipsis."""
    return text if len(text) <= width else text[: width - 1] + "…"


def brief(value: Any, width: int = 60) -> str:
    """A value in at most so many letters, without work for the rest of it."""
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
    """A table of HTML. Texts may hold anything: they are shown, never obeyed."""
    lines = [f"<table><caption>{_cell(caption)}</caption>", _row("th", columns[:COLUMNS], len(columns) > COLUMNS)]
    lines += [_row("td", [_plain(value) for value in row[:COLUMNS]], len(columns) > COLUMNS) for row in rows]
    if missing:
        lines.append(f'<tr><td colspan="{min(len(columns), COLUMNS + 1)}">… {missing:,} more</td></tr>')
    return "\n".join([*lines, "</table>"])


def text(value: Any) -> str:
    """What stands for a table where there is none."""
    return f"<pre>{_cell(repr(value))}</pre>"


def _row(tag: str, cells: Iterable[str], has_more: bool) -> str:
    shown: List[str] = [f"<{tag}>{_cell(cell)}</{tag}>" for cell in cells]
    return f"<tr>{''.join(shown)}{f'<{tag}>…</{tag}>' if has_more else ''}</tr>"


def _plain(value: Any) -> str:
    """Texts without quotes; None is empty."""
    if value is None:
        return ""
    return cut(value[:61], 60) if isinstance(value, str) else brief(value)


def _cell(content: str) -> str:
    # What cannot be encoded, such as a lone surrogate, would break the page.
    return html.escape(content.encode("utf-8", "replace").decode("utf-8"))
