"""The programs of examples/limits: Scripts/test_limits.py runs them, and finds the faults that are planted here."""

import importlib.util
import os
from pathlib import Path

import pytest

from conftest import REPOSITORY

LIBRARY = Path(os.environ.get("CREALM_LIBRARY") or REPOSITORY / ".build/release/libCRealm.so")
PROGRAM = "import os, tempfile\n\n{}\nprint('one')\n"

pytestmark = pytest.mark.skipif(
    not (REPOSITORY / "examples/limits").is_dir() or not LIBRARY.is_file(),
    reason="the sources or the library are not there",
)


def runner():
    specification = importlib.util.spec_from_file_location("limits", REPOSITORY / "Scripts/test_limits.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def faults(folder, capsys):
    counts = runner().run(LIBRARY, folder)
    out = capsys.readouterr().out
    assert counts[1] == out.count("FAIL")
    return counts, out


@pytest.fixture
def place(tmp_path):
    """A folder with one program, its text, and the list of programs."""
    folder = tmp_path / "limits"
    folder.mkdir()
    (folder / "one.py").write_text(PROGRAM.format(""))
    (folder / "one.txt").write_text("one\n")
    (folder / "README.md").write_text("[`one.py`](one.py)\n")
    return folder


def test_a_right_program(place, capsys):
    assert faults(place, capsys) == ((1, 0), "")


@pytest.mark.parametrize(
    "name, text, fault",
    [
        ("one.txt", None, "there is no one.txt"),
        ("one.txt", "two\n", "status 0, printed\none"),
        ("two.txt", "two\n", "no program prints it"),
        ("README.md", "", "README.md does not list it"),
        ("one.py", PROGRAM.format("assert False"), "AssertionError"),
        ("one.py", PROGRAM.format("tempfile.mkdtemp(prefix='left')"), "it left left"),
    ],
)
def test_faults_are_found(place, capsys, name, text, fault):
    (place / name).write_text(text) if text is not None else (place / name).unlink()
    (_, failed), out = faults(place, capsys)
    assert failed == 1 and fault in out


def test_a_program_of_c_that_does_not_compile(place, capfd):
    (place / "two.c").write_text("int main(void) { return nothing; }\n")
    (place / "two.txt").write_text("")
    counts, out = faults(place, capfd)
    assert counts == (1, 1) and "ended with status" in out


def test_the_list_has_a_program_for_each_number():
    """Number 12, base classes, is to come."""
    place = REPOSITORY / "examples/limits"
    numbers = [int(path.name[:2]) for path in sorted(place.iterdir()) if path.suffix in (".py", ".c")]
    assert set(range(1, 12)) <= set(numbers) <= set(range(1, 13)) and len(set(numbers)) == len(numbers)
    assert sum(path.suffix == ".c" for path in place.iterdir()) >= 3
