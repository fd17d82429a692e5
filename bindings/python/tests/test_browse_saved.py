"""Named queries of the Browser."""

import json
import os
import stat

import pytest

from browsing import Asking

import crealm
from conftest import PERSON


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    return tmp_path / "settings/crealm/queries.json"


@pytest.fixture
def asking(path, place):
    with crealm.open(path, schema=[PERSON]):
        pass
    with Asking(path) as made:
        made.name = path.name
        yield made


def post(asking, status=200, **given):
    found = asking.client.post(f"/{asking.name}/queries", json=given)
    assert found.status_code == status, found.text
    return found.json()


ADULTS = {"class": "Person", "name": "adults <b>", "where": "age > 17", "sort": ["age desc"], "column": ["age"]}


def test_a_query_is_there_the_next_time(asking, path, place):
    before = sorted(os.listdir(path.parent))
    assert asking.get(asking.name, "queries")["queries"] == [] and not place.exists()
    assert post(asking, **ADULTS)["queries"] == [ADULTS]
    assert stat.S_IMODE(place.stat().st_mode) == 0o600 and stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    post(asking, **{**ADULTS, "where": "age > 20"})
    other = post(asking, **{"class": "Person", "name": "all"})["queries"]
    assert [one["where"] for one in other] == ["age > 20", ""]
    with Asking(path) as again:
        assert again.get(path.name, "queries")["queries"] == other
    assert [one["name"] for one in post(asking, **{"class": "Person", "name": "all", "remove": True})["queries"]] == ["adults <b>"]
    assert sorted(set(os.listdir(path.parent)) - {"settings"}) == sorted(set(before) - {"settings"})


@pytest.mark.parametrize("given", [
    {}, {"class": "Person"}, {"class": "Person", "name": ""}, {"class": 1, "name": "a"}, {**ADULTS, "where": 5}, {**ADULTS, "sort": "age"},
    {**ADULTS, "column": [1]}, {**ADULTS, "more": 1}, {**ADULTS, "where": "x" * 200_000}])  # fmt: skip
def test_what_is_no_query_is_refused(asking, place, given):
    assert post(asking, 400, **given)["error"]["kind"] == "DataError" and not place.exists()


@pytest.mark.parametrize("text", ["", "[", "[]", "5", '{"%s": 5}', '{"%s": [5, {"class": 1}]}', "[" * 100_000, "\0"])
def test_settings_that_make_no_sense_are_none(asking, path, place, text):
    place.parent.mkdir(parents=True)
    place.write_text(text.replace("%s", str(path)))
    assert asking.get(asking.name, "queries")["queries"] == []
    assert post(asking, **ADULTS)["queries"] == [ADULTS]
    assert json.loads(place.read_text())[str(path)] == [ADULTS]


def test_where_nothing_can_be_kept(asking, tmp_path):
    (tmp_path / "settings").write_text("a file where a folder should be")
    assert asking.get(asking.name, "queries")["queries"] == []
    assert post(asking, 403, **ADULTS)["error"]["kind"] == "PermissionDenied"
