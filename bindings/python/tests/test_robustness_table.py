"""The table of docs/robustness-tests.md names tests that exist, and pages say what cannot be tested."""

import re

import pytest
from conftest import REPOSITORY

PAGE = REPOSITORY / "docs/robustness-tests.md"
FOLDERS = {
    ".c": ("Tests/C",),
    ".py": ("bindings/python/tests",),
    ".swift": ("Tests/RealmSwiftTests", "Tests/CoreEngineTests"),
}
NAMED = re.compile(r"`([\w/]+\.(?:c|py|swift))`: `(\w+)`")
FAULTS = 18  # The numbers of the table begin with 1 to 18.


def table():
    """The rows of the page: number, fault, tests."""
    text = PAGE.read_text(encoding="utf-8").split("\n## The table\n")[1]
    rows = [re.split(r" +\| +", line.strip("| ")) for line in text.splitlines() if line.startswith("| ")]
    assert rows[0] == ["Number", "Fault", "Tests"] and all(len(row) == 3 for row in rows)
    return rows[2:]


def files_of(name):
    """The files that a cell can mean; a name in two folders means both."""
    places = (
        [name] if "/" in name else [f"{folder}/{name}" for folder in FOLDERS["." + name.rsplit(".", 1)[1]]]
    )
    return [file for place in places if (file := REPOSITORY / place).is_file()]


def has_test(file, name):
    """Whether a file defines a test and, where the language does not do it, calls it."""
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".swift":
        return bool(re.search(rf"@Test(?:\([^\n]*\))? func {name}\(", text))
    if file.suffix == ".py":
        return bool(re.search(rf"^def {name}\(", text, re.M))
    defined = re.search(rf"^(?:static )?(?:void|int|bool) {name}\(", text, re.M)
    return bool(defined) and (name == "main" or len(re.findall(rf"\b{name}\b", text)) > 1)


def faults_of(cell):
    """What is wrong with the tests that a cell names."""
    rest = NAMED.sub("", cell).replace(",", "").strip()
    faults = [f"'{rest}' names no test"] if rest or not cell else []
    for name, test in NAMED.findall(cell):
        files = files_of(name)
        if not files:
            faults.append(f"there is no {name}")
        elif not any(has_test(file, test) for file in files):
            faults.append(f"{name} has no test {test}")
    return faults


def test_the_table_names_tests_that_exist():
    assert [f"{number}: {fault}" for number, _, cell in table() for fault in faults_of(cell)] == []


def test_each_number_has_a_row_and_they_ascend():
    numbers = [tuple(map(int, number.split("."))) for number, _, _ in table()]
    assert numbers == sorted(set(numbers)) and {first for first, _ in numbers} == set(range(1, FAULTS + 1))
    for (first, second), (next_first, next_second) in zip(numbers, numbers[1:]):
        assert next_second == (second + 1 if first == next_first else 1)


@pytest.mark.parametrize(
    "cell, fault",
    [
        ("`limits_test.c`: `nothing`", "has no test nothing"),
        ("`no_file_test.c`: `pinner`", "there is no no_file_test.c"),
        ("`test_cli.py`: `test_nothing`", "has no test test_nothing"),
        ("`PortingTests.swift`: `filled`", "has no test filled"),
        ("`limits_test.c`", "names no test"),
        ("", "names no test"),
    ],
)
def test_a_wrong_cell_is_a_fault(cell, fault):
    (found,) = faults_of(cell)
    assert fault in found


def test_a_test_of_c_must_be_called(tmp_path):
    file = tmp_path / "a_test.c"
    file.write_text("static void one(void) {\n}\nint main(void) {\n}\n")
    assert not has_test(file, "one")
    file.write_text("static void one(void) {\n}\nint main(void) {\n    one();\n}\n")
    assert has_test(file, "one")


@pytest.mark.parametrize(
    "page, text",
    [
        (
            "docs/guides/embed-it.md",
            "Swift itself makes the small allocations: when the operating system refuses one of these, the process",
        ),
        (
            "include/realm.h",
            "nothing is opened with the configuration, and no file is made, until a key that is taken is set.",
        ),
        ("docs/c-api.md", "A refused key never leads to a file."),
        ("docs/realmswift.md", "`Realm.open()` in the initialiser of an actor crashes the compiler"),
    ],
)
def test_pages_say_what_is_inherent(page, text):
    words = re.sub(r"[\s*]+", " ", (REPOSITORY / page).read_text(encoding="utf-8"))
    assert text in words
