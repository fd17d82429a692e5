"""Texts of thousands of digits: Python's int() refuses them, and no command may end with a traceback because of that."""

from pathlib import Path

import pytest

import crealm
from crealm.cli import main

DIGITS = "9" * 5000


def test_a_csv_column_with_thousands_of_digits_has_texts(tmp_path: Path) -> None:
    (tmp_path / "Number.csv").write_text(f"value\n{DIGITS}\n")
    assert main(["import", str(tmp_path / "numbers.realm"), str(tmp_path / "Number.csv")]) == 0
    with crealm.open(tmp_path / "numbers.realm", mode="r") as db:
        assert [row.value for row in db["Number"]] == [DIGITS]


@pytest.mark.parametrize("limit, found", [(DIGITS, 1), ("0" * 5000, 0), ("0" * 5000 + "7", 1), ("9223372036854775808", 1)])
def test_a_limit_of_thousands_of_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str], limit: str, found: int) -> None:
    (tmp_path / "Number.csv").write_text("value\n5\n")
    assert main(["import", str(tmp_path / "numbers.realm"), str(tmp_path / "Number.csv")]) == 0
    capsys.readouterr()
    assert main(["query", str(tmp_path / "numbers.realm"), f"Number limit {limit}", "--count"]) == 0
    assert capsys.readouterr().out.strip() == str(found)
