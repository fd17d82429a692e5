"""The recipes in docs/guides run unchanged, in a folder with a file called phone.realm."""

import json
import re
import shutil
import sqlite3
from pathlib import Path

import pytest

import crealm
from conftest import FIXTURES, REPOSITORY

GUIDE = REPOSITORY / "docs/guides/bring-your-data.md"
RECIPES = dict(re.findall(r"<!-- recipe: (\S+) -->\n```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.S))


@pytest.fixture(params=["full-1", "nested-1"])
def phone(request, tmp_path, monkeypatch):
    """The file that the recipes read, which stays open meanwhile."""
    shutil.copyfile(FIXTURES / "ops" / f"{request.param}.realm", tmp_path / "phone.realm")
    monkeypatch.chdir(tmp_path)
    with crealm.open("phone.realm", mode="r") as db:
        yield db


def cook(name):
    names = {}
    exec(compile(RECIPES[name], f"recipe {name}", "exec"), names)
    return names


def test_look(phone, capsys):
    cook("look")
    lines = capsys.readouterr().out.splitlines()
    for name in phone.classes:
        assert f"{name}: {len(phone[name])} objects" in lines
    assert len(lines) == sum(1 + len(phone.schema[name].properties) for name in phone.classes)


def test_json(phone):
    cook("json")
    found = json.loads(Path("phone.json").read_text(encoding="utf-8"))
    assert sorted(found) == sorted(phone.classes)
    for name, objects in found.items():
        assert [o["$key"] for o in objects] == [o.object_key for o in phone[name]]
        assert all(o.keys() - {"$key"} == set(phone.schema[name].properties) for o in objects)
    assert sum(len(objects) for objects in found.values()) > 10


def test_json_lines(phone):
    cook("json-lines")
    for name in phone.classes:
        lines = Path(f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        assert [json.loads(line) for line in lines] == [json.loads(o.to_json()) for o in phone[name]]


def test_sqlite(phone):
    cook("sqlite")
    tables = sqlite3.connect("phone.sqlite")
    for name in phone.classes:
        rows = tables.execute(f'SELECT "$key" FROM "{name}" ORDER BY "$key"').fetchall()
        assert [key for (key,) in rows] == [o.object_key for o in phone[name]]
    texts = tables.execute('SELECT "s", "i", "l_i" FROM "All" ORDER BY "$key"').fetchall()
    assert texts == [(o.s, o.i, json.dumps(list(o.l_i))) for o in phone["All"]]
    joined = tables.execute('SELECT count(*) FROM "All" JOIN "Str" ON "All"."link" = "Str"."$key"').fetchone()
    assert joined == (len(phone["All"].where("link != NULL")),)
    tables.close()


def test_excel(phone, capsys):
    openpyxl = pytest.importorskip("openpyxl", reason="openpyxl is not there")
    pytest.importorskip("xlsxwriter", reason="XlsxWriter is not there")
    cook("excel")
    assert capsys.readouterr().out
    book = openpyxl.load_workbook("phone.xlsx")
    for name in phone.classes:
        if not phone.schema[name].embedded:
            assert book[name].max_row == len(phone[name]) + 1


def test_pandas(phone):
    pytest.importorskip("pandas")
    frames = cook("pandas")["frames"]
    assert {name: len(frame) for name, frame in frames.items()} == {name: len(phone[name]) for name in phone.classes}
    assert list(frames["All"]["i"]) == [o.i for o in phone["All"]]


def test_copy(phone):
    cook("copy")
    with crealm.open("copy.realm", mode="r") as copy:
        assert copy.verify() == []
        for name in phone.classes:
            assert [o.to_dict() for o in copy[name]] == [o.to_dict() for o in phone[name]]


def test_every_recipe_is_tried():
    assert sorted(RECIPES) == sorted(["look", "json", "json-lines", "sqlite", "excel", "pandas", "copy"])
