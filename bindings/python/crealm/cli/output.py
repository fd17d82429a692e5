"""Output to a terminal or a pipe: harmless texts, tables and progress bars."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import sys
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, TextIO

from .._progress import Progress
from .._shown import cut

WIDTH = 28  # Characters of a column.


def printable(text: str) -> str:
    """The text with all characters escaped that control a terminal: control characters, line ends, and marks that reverse or hide text."""
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else ch.encode("unicode_escape").decode("ascii") for ch in text)


def json_text(value: Any, indent: Optional[int] = None) -> str:
    """A value as JSON. Characters that control a terminal are escaped, which does not change the meaning of the JSON."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() or ch == "\n" else json.dumps(ch)[1:-1] for ch in text)


class SafeTerminal:
    """A stream to a terminal that escapes all control characters except line ends and tabs."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        lines = text.replace("\r\n", "\n").split("\n")
        self.stream.write("\n".join("\t".join(map(printable, line.split("\t"))) for line in lines))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def safe_streams() -> Iterator[None]:
    """A block in which no content of a file can control the terminal. Output to a closed stream is discarded."""
    with contextlib.ExitStack() as stack:
        for stream, redirect in ((sys.stdout, contextlib.redirect_stdout), (sys.stderr, contextlib.redirect_stderr)):
            if stream is None:
                stack.enter_context(redirect(stack.enter_context(open(os.devnull, "w", encoding="utf-8"))))
            elif stream.isatty():
                stack.enter_context(redirect(SafeTerminal(stream)))
        yield


def print_error(text: object) -> None:
    for line in str(text).split("\n"):
        print(f"crealm: {printable(line)}", file=sys.stderr)


def print_json(value: Any) -> None:
    print(json_text(value, indent=1))


def print_table(rows: Sequence[Sequence[str]], indent: str = "", width: Optional[int] = None, has_header: bool = True) -> None:
    """Prints columns as wide as their widest cell, at most `width`. On a terminal, the package `rich` draws the table if it is installed."""
    cells = [[cell if width is None else cut(cell, width) for cell in map(printable, row)] for row in rows]
    if isinstance(sys.stdout, SafeTerminal) and _has_rich():
        _print_drawn(cells, has_header)
        return
    widths = [max(map(len, column)) for column in zip(*cells)]
    for row in cells:
        print((indent + "  ".join(cell.ljust(w) for cell, w in zip(row, widths))).rstrip())


def _has_rich() -> bool:
    return not os.environ.get("CREALM_PLAIN") and importlib.util.find_spec("rich") is not None


def _real(stream: Any) -> Any:
    return stream.stream if isinstance(stream, SafeTerminal) else stream


def _print_drawn(cells: List[List[str]], has_header: bool) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=has_header, box=None, padding=(0, 2, 0, 0))
    for title in cells[0] if cells else ():
        table.add_column(Text(title), no_wrap=True)
    for row in cells[1:] if has_header else cells:
        table.add_row(*map(Text, row))
    Console(file=_real(sys.stdout)).print(table)


@contextlib.contextmanager
def progress(what: str, total: Optional[int]) -> Iterator[Callable[[int], None]]:
    """A progress bar on the standard error output, if that is a terminal and the package `rich` is installed. The block calls the function with the
    amount done since the last call."""
    if not (sys.stderr.isatty() and _has_rich()):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(file=_real(sys.stderr)), transient=True) as bar:
        task = bar.add_task(printable(what), total=total)
        yield lambda count: bar.advance(task, count)


@contextlib.contextmanager
def watched(what: str) -> Iterator[Optional[Progress]]:
    """As progress(), but gives a progress function for a long call of the database; None if no bar is drawn."""
    if not (sys.stderr.isatty() and _has_rich()):
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress as Bars

    with Bars(console=Console(file=_real(sys.stderr)), transient=True) as bars:
        task = bars.add_task(printable(what), total=None)

        def advance(activity: str, done: int, total: int) -> None:
            bars.update(task, completed=done, total=total or None)

        yield advance


def counted(rows: Iterable[Any], advance: Callable[[int], None], step: int = 1000) -> Iterator[Any]:
    """The rows; calls `advance` after each `step` rows and at the end."""
    done = 0
    for row in rows:
        yield row
        done += 1
        if done == step:
            advance(done)
            done = 0
    advance(done)
