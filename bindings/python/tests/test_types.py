"""The faults that type checkers find in the package and in programs that use it. Runs the checkers that are installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import crealm
from conftest import PACKAGE_ROOT, REPOSITORY

PACKAGE = Path(crealm.__file__).parent
TYPED = Path(__file__).parent / "typed"
PROGRAMS = sorted(TYPED.glob("*.py"))
# The types of data tools are not read: this would take as long as the rest, and the package uses few of them.
STRANGERS = ("pandas", "polars", "pyarrow", "numpy", "rich", "starlette", "uvicorn", "psycopg", "xlsxwriter", "openpyxl")


def mypy(paths, folder):
    """The faults that mypy finds: (path, line, kind)."""
    pytest.importorskip("mypy", reason="mypy is not there")
    settings = folder / "mypy.ini"
    lines = ["[mypy]", "strict = True"]
    for name in STRANGERS:
        lines += [f"[mypy-{name}.*]", "follow_imports = skip", "ignore_missing_imports = True"]
    settings.write_text("\n".join(lines) + "\n")
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    command = [sys.executable, "-m", "mypy", "--config-file", str(settings), "--cache-dir", str(folder), "--no-error-summary", "--no-color-output"]
    command += ["--hide-error-context", "--no-pretty", "--show-absolute-path", *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert done.returncode in (0, 1), done.stderr
    found = re.findall(r"^(.+?):(\d+): error: .*?  \[([\w-]+)\]$", done.stdout, re.M)
    assert done.stdout.count(": error: ") == len(found), done.stdout
    return [(Path(path), int(line), kind) for path, line, kind in found]


def pyright(paths, folder):
    """The faults that pyright finds."""
    command = shutil.which("pyright") or shutil.which("pyright", path=str(Path(sys.executable).parent))
    if command is None:
        pytest.skip("pyright is not there")
    settings = folder / "pyrightconfig.json"
    include = [os.path.relpath(path, folder) for path in paths]  # It accepts no other paths.
    settings.write_text(json.dumps({"include": include, "extraPaths": [str(PACKAGE.parent)], "reportMissingImports": False}))
    done = subprocess.run([command, "--outputjson", "--pythonpath", sys.executable, "-p", str(settings)], capture_output=True, text=True, cwd=folder)
    if done.returncode not in (0, 1):
        pytest.skip(f"pyright does not run here: {done.stderr[-200:]}")
    faults = [fault for fault in json.loads(done.stdout)["generalDiagnostics"] if fault["severity"] == "error"]
    return [(Path(fault["file"]), fault["range"]["start"]["line"] + 1, fault.get("rule", "")) for fault in faults]


def expected(path, part):
    """The lines of a program with expected errors, and their kinds; the first one after E: is that of mypy."""
    lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
    return [(path, number, line.split("# E: ")[1].split()[part]) for number, line in lines if "# E: " in line]


CHECKERS = pytest.mark.parametrize("check, part", [(mypy, 0), (pyright, 1)], ids=["mypy", "pyright"])


@CHECKERS
def test_the_package_and_programs(tmp_path, check, part):
    found = check([PACKAGE, *PROGRAMS], tmp_path)
    assert sorted(found) == sorted(fault for program in PROGRAMS for fault in expected(program, part))
    assert any(fault[0].parent == TYPED for fault in found)  # The checker does find faults.


@CHECKERS
def test_the_examples(tmp_path, check, part):
    pages = {"readme": REPOSITORY / "README.md", "package": PACKAGE_ROOT / "README.md", "types": REPOSITORY / "docs/python/types.md"}
    programs = [path for name in ("python", "limits") for path in sorted((REPOSITORY / "examples" / name).glob("*.py"))]
    programs.append(REPOSITORY / "docs/python/phone.py")
    for name, page in pages.items():
        program = tmp_path / f"example_{name}.py"
        blocks = re.findall(r"^```python\n(.*?)^```\n", page.read_text(encoding="utf-8"), re.S | re.M)
        program.write_text("\n".join(blocks))
        programs.append(program)
    assert all(program.read_text() for program in programs)
    assert check(programs, tmp_path) == []


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_programs_run(program):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent)}
    subprocess.run([sys.executable, "-W", "error", str(program)], check=True, env=environment)


def test_the_package_says_that_it_has_types():
    assert (PACKAGE / "py.typed").is_file()
