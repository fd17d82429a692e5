"""Finds the examples of a document, and runs them unchanged.

The examples of a page run in their order, in one folder and with shared names, as in the session of a reader:

    ```python      runs; a page's blocks see what the ones before them made
    ```sh          commands; the output of both channels counts
    ```text        directly after one of these: its output. "…" matches anything.

A comment in the line above has conditions: `<!-- needs: pandas, crealm.Results.to_pandas -->` names modules and
attributes without which an example is skipped, and `<!-- not run -->` marks an example that cannot run.
"""

import ast
import contextlib
import importlib
import io
import os
import re
import stat
import subprocess
import sys
import types
from pathlib import Path

import crealm

_BLOCK = re.compile(
    r"^(?:<!-- (?P<note>[^\n]*) -->\n)?```(?P<language>python|sh)\n(?P<source>.*?)^```\n(?:```text\n(?P<printed>.*?)^```\n)?", re.S | re.M)


class Example:
    """One block of a page."""

    def __init__(self, page, match):
        self.source, self.language, self.printed = match["source"], match["language"], match["printed"]
        self.line = page.read_text(encoding="utf-8").count("\n", 0, match.start("source")) + 1
        note = match["note"] or ""
        assert note in ("", "not run") or note.startswith("needs:"), f"{page.name}:{self.line - 2}: {note!r}"
        self.is_run = note != "not run"
        self.needs = [name.strip() for name in note.removeprefix("needs:").split(",")] if note.startswith("needs:") else []

    def lacking(self):
        """The first missing requirement of the example; None if all are present."""
        return next((name for name in self.needs if not _is_there(name)), None)

    def says_what_it_does(self):
        """Whether the example shows anything: it asserts, prints compared output, or only defines names for later examples."""
        if self.printed is not None or not self.is_run:
            return True
        if self.language == "sh":
            return False
        tree = ast.parse(self.source)
        definitions = (ast.Import, ast.ImportFrom, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        return any(isinstance(node, ast.Assert) for node in ast.walk(tree)) or all(isinstance(node, definitions) for node in tree.body)


def _is_there(name):
    module, *attributes = name.split(".")
    try:
        found = importlib.import_module(module)
        for attribute in attributes:
            found = getattr(found, attribute)
    except (ImportError, AttributeError):
        return False
    return True


def examples(page):
    """All examples of a page."""
    return [Example(page, match) for match in _BLOCK.finditer(page.read_text(encoding="utf-8"))]


class Session:
    """The state that the examples of one page share: a folder, names, and the example that runs next."""

    def __init__(self, page, folder):
        self.page, self.folder, self.next = page, folder, 0
        self.examples = examples(page)
        self.module = types.ModuleType(f"page_{page.stem.replace('-', '_')}")
        sys.modules[self.module.__name__] = self.module
        bin = folder.parent / f"{folder.name}-bin"
        bin.mkdir()
        for name, started in (("crealm", "-m crealm"), ("python3", "")):
            command = bin / name
            command.write_text(f'#!/bin/sh\nexec "{sys.executable}" {started} "$@"\n')
            command.chmod(command.stat().st_mode | stat.S_IXUSR)
        package = str(Path(crealm.__file__).parents[1])
        self.environment = {**os.environ, "PATH": f"{bin}:{os.environ['PATH']}", "PYTHONPATH": package, "PYTHONUTF8": "1", "LC_ALL": "C.UTF-8"}
        # Output is buffered, as if a reader sends it into a pipe.
        self.environment.pop("PYTHONUNBUFFERED", None)

    def run(self, number):
        """Runs an example, after the earlier ones that did not run yet, and compares its output."""
        while self.next < number:
            example = self.examples[self.next]
            self.next += 1
            if example.is_run and example.lacking() is None:
                self._run(example)
        self.next = number + 1
        example = self.examples[number]
        printed = self._run(example)
        if example.printed is not None:
            assert _is_like(printed, example.printed), f"{self.page.name}:{example.line} printed\n{printed}"
        elif example.language == "python":
            assert printed == "", f"{self.page.name}:{example.line} prints what the page does not show\n{printed}"

    def _run(self, example):
        if example.language == "sh":
            command = ["sh", "-c", example.source]
            return subprocess.run(
                command, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", timeout=600).stdout
        # So that tracebacks have the line numbers of the page.
        code = compile("\n" * (example.line - 1) + example.source, str(self.page), "exec")
        out = io.StringIO()
        with _in(self.folder), contextlib.redirect_stdout(out):
            exec(code, vars(self.module))
        return out.getvalue()

    def close(self):
        for value in list(vars(self.module).values()):
            if isinstance(value, crealm.Database):
                value.close()
        sys.modules.pop(self.module.__name__, None)
        for name, module in list(sys.modules.items()):
            if Path(getattr(module, "__file__", None) or "/").parent == self.folder:
                del sys.modules[name]


@contextlib.contextmanager
def _in(folder):
    """A program that runs in a folder can also import modules from it."""
    before = os.getcwd()
    os.chdir(folder)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        os.chdir(before)


def _is_like(printed, expected):
    """Whether an output matches the text of a page, in which "…" matches anything."""
    pattern = ".*?".join(map(re.escape, expected.rstrip("\n").split("…")))
    return re.fullmatch(pattern, "\n".join(line.rstrip() for line in printed.rstrip("\n").split("\n")), re.S) is not None
