"""Journeys on which a person changes a file: every change is looked up in the file afterwards, by another program."""

import shutil
import subprocess
import sys
import time

import crealm
import pytest
import samples
from crealm.browse import addresses

GRID_ROW = ".row[aria-rowindex='2']"


@pytest.fixture
def town(tmp_path):
    path = tmp_path / "town.realm"
    samples.town(path, 40)
    return path


@pytest.fixture
def edited(walk, town):
    """A page on a file that may be changed, and a function that reads the file."""

    def read(function):
        with crealm.open(town, mode="snapshot") as db:
            return function(db)

    at = walk(town, options=("--edit",))
    at.page.set_default_timeout(12_000)
    # A refusal is an answer with a status of its own, which the console notes.
    at.expected.append("status of 4(00|09)")
    return at, read


def other(path, text):
    """Another program changes the file."""
    program = f"import crealm, sys\nwith crealm.open(sys.argv[1]) as db, db.write():\n    ann = db['Person'].get(3)\n    {text}\n"
    subprocess.run([sys.executable, "-c", program, str(path)], check=True)


def eventually(function, wanted):
    end = time.monotonic() + 15
    while function() != wanted:
        assert time.monotonic() < end, (function(), wanted)
        time.sleep(0.05)


def property_row(name):
    return f".property:has(dt bdi:text-is('{name}'))"


def change(at, name, value, selector="input[type=text], textarea"):
    """Changes a property on the page of an object."""
    at.page.click(f"{property_row(name)} .edit")
    at.page.wait_for_selector(f"{property_row(name)} form")
    if value is not None:
        at.page.locator(f"{property_row(name)} form").locator(selector).first.fill(value)
    at.page.click(f"{property_row(name)} form button.main")


def test_values_are_changed_and_taken_back(edited):
    at, read = edited
    at.go("/town.realm/class/Person/3")
    before = read(lambda db: db["Person"].get(3).name)
    change(at, "name", "Ann <b>Berg</b>")
    eventually(lambda: read(lambda db: db["Person"].get(3).name), "Ann <b>Berg</b>")
    at.until("document.querySelector('h1').textContent === 'Ann <b>Berg</b>'")
    at.picture("editing-saved")
    change(at, "height", "1.875")
    eventually(lambda: read(lambda db: db["Person"].get(3).height), 1.875)
    change(at, "born", "1990-01-02T03:04:05.000000006Z")
    eventually(lambda: read(lambda db: crealm.values.timestamp_ns(db["Person"].get(3).born)), 631249445000000006)
    at.page.click(f"{property_row('email')} .edit")
    at.page.wait_for_selector(f"{property_row('email')} form")
    if not at.page.locator(f"{property_row('email')} form input[type=checkbox]").is_checked():
        at.page.check(f"{property_row('email')} form input[type=checkbox]")
    at.page.click(f"{property_row('email')} form button.main")
    eventually(lambda: read(lambda db: db["Person"].get(3).email), None)
    for _ in range(4):
        at.until("!document.querySelector('#tools button').disabled")
        at.page.click("#tools >> text=Undo")
        at.page.wait_for_load_state("networkidle")
    eventually(lambda: read(lambda db: db["Person"].get(3).name), before)
    at.until("document.querySelector('#tools button').disabled")
    at.page.keyboard.press("Control+Shift+Z")
    eventually(lambda: read(lambda db: db["Person"].get(3).name), "Ann <b>Berg</b>")


def test_what_cannot_be_is_told_in_its_place(edited):
    at, read = edited
    at.go("/town.realm/class/Person/3")
    change(at, "height", "tall")
    at.until("document.querySelector('form.change .fault')?.textContent.includes('no number')")
    at.page.locator(f"{property_row('height')} form input[type=text]").fill("1.5")
    at.page.keyboard.press("Enter")
    eventually(lambda: read(lambda db: db["Person"].get(3).height), 1.5)
    at.until("!document.querySelector('form.change')")
    change(at, "born", "yesterday")
    at.until("document.querySelector('form.change .fault')?.textContent.includes('no point in time')")
    at.picture("editing-wrong")
    at.page.keyboard.press("Escape")
    at.until("!document.querySelector('form.change')")


def test_somebody_else_was_faster(edited, town):
    at, read = edited
    at.go("/town.realm/class/Person/3")
    at.page.click(f"{property_row('name')} .edit")
    at.page.wait_for_selector("form.change")
    at.page.fill("form.change textarea", "Mine")
    other(town, "ann.name = 'Theirs'")
    time.sleep(1.5)  # The page hears of it, and leaves what is being typed alone.
    assert at.page.input_value("form.change textarea") == "Mine"
    at.page.click("form.change button.main")
    at.until("document.querySelector('.conflict')?.textContent.includes('Theirs')")
    at.picture("editing-conflict")
    assert read(lambda db: db["Person"].get(3).name) == "Theirs"
    at.page.click("text=Write mine over it")
    eventually(lambda: read(lambda db: db["Person"].get(3).name), "Mine")
    at.page.click("#tools >> text=Undo")
    eventually(lambda: read(lambda db: db["Person"].get(3).name), "Theirs")


def test_an_object_is_made_and_deleted(edited):
    at, read = edited
    at.go("/town.realm/class/Person")
    at.page.click("text=New")
    at.page.wait_for_selector("dialog form")
    at.page.fill("dialog .form-row:has(bdi:text-is('name')) textarea", "Zoé")
    at.page.click("dialog button.main")
    at.until("document.querySelector('dialog .form-row .fault')?.textContent.length > 3")  # Without a primary key.
    at.page.fill("dialog .form-row:has(bdi:text-is('id')) input[type=text]", "9007199254740993")
    link = at.page.locator("dialog .form-row:has(bdi:text-is('address')) input[type=checkbox]")
    link.check()
    at.page.fill("dialog .form-row .form-row:has(bdi:text-is('city')) textarea", "Faro")
    at.picture("editing-create")
    at.page.click("dialog > form > .buttons button.main")
    at.page.wait_for_selector("article.object")
    assert at.text("h1") == "Zoé"
    assert read(lambda db: (db["Person"].get(9007199254740993).name, db["Person"].get(9007199254740993).address.city)) == ("Zoé", "Faro")
    at.page.click("header >> text=Delete")
    at.page.wait_for_selector("dialog .deleted")
    at.picture("editing-delete")
    at.page.click("dialog button.main")
    at.page.wait_for_selector(".grid .row")
    assert read(lambda db: db["Person"].get(9007199254740993)) is None
    at.page.check(f"{GRID_ROW} input[type=checkbox]")
    at.page.check(".row[aria-rowindex='4'] input[type=checkbox]")
    at.page.click("text=Delete 2")
    at.page.click("dialog button.main")
    eventually(lambda: read(lambda db: len(db["Person"])), 38)
    at.until("document.querySelector('.total').textContent === '38 objects'")
    at.page.click("#tools >> text=Undo")
    eventually(lambda: read(lambda db: len(db["Person"])), 40)


def test_cells_of_a_table_are_changed(edited):
    at, read = edited
    at.go("/town.realm/class/Pet?sort=name asc")
    at.page.dblclick(f"{GRID_ROW} .cell[aria-colindex='4']")
    at.page.wait_for_selector("dialog form")
    at.page.fill("dialog textarea", "otter")
    at.page.click("dialog button.main")
    eventually(lambda: read(lambda db: len(db["Pet"].where("kind == 'otter'"))), 1)
    at.until("document.body.innerText.includes('otter')")


def test_links_are_found_by_what_people_call_them(edited):
    at, read = edited
    key = read(lambda db: db["Pet"][0].object_key)
    label = read(lambda db: db["Person"].get(7).name)
    at.go(f"/town.realm/class/Pet/{key}")
    at.page.click(f"{property_row('owner')} .edit")
    at.page.fill("form.change input[type=search]", label)
    at.page.click(".found button >> nth=0")
    at.page.click("form.change button.main")
    eventually(lambda: read(lambda db: db["Pet"][0].owner.name), label)
    at.until("!document.querySelector('form.change')")
    at.page.click(f"{property_row('owner')} .edit")
    at.page.click("form.change >> text=null")
    at.page.click("form.change button.main")
    eventually(lambda: read(lambda db: db["Pet"][0].owner), None)


def test_collections_are_changed(edited):
    at, read = edited
    at.go("/town.realm/class/Person/3/tags")
    for word in ("zebra", "<script>hit()</script>"):
        at.page.click("main >> text=Add")
        at.page.fill("dialog textarea", word)
        at.page.click("dialog button.main")
        eventually(lambda: read(lambda db: word in db["Person"].get(3).tags), True)
        at.until("!document.querySelector('dialog')")
    at.page.locator(".row:has-text('zebra') [title=Remove]").click()
    eventually(lambda: read(lambda db: "zebra" in db["Person"].get(3).tags), False)
    at.go("/town.realm/class/Person/3/notes")
    at.page.click("main >> text=Add")
    at.page.fill("#new-key", "new")
    at.page.select_option("dialog select", "Decimal")
    at.page.fill("dialog .any input", "1.50")
    at.page.click("dialog button.main")
    eventually(lambda: str(read(lambda db: db["Person"].get(3).notes.get("new"))), "1.50")
    at.until("!document.querySelector('dialog')")
    at.go("/town.realm/class/Person/3/extra")
    at.page.click("main >> text=Change")
    at.page.select_option("dialog select", "list")
    at.page.fill("dialog textarea", '[1, [9007199254740993, {"a": null}]]')
    at.page.click("dialog button.main")
    eventually(lambda: read(lambda db: db["Person"].get(3).to_dict()["extra"]), [1, [9007199254740993, {"a": None}]])
    at.go("/town.realm/class/Person/3/extra/1")
    at.page.locator(".row [title=Down]").first.click()
    eventually(lambda: read(lambda db: db["Person"].get(3).to_dict()["extra"]), [1, [{"a": None}, 9007199254740993]])
    at.picture("editing-collection")
    at.go("/town.realm/class/Person/3/friends")
    count = read(lambda db: len(db["Person"].get(3).friends))
    at.page.click("main >> text=Add")
    at.page.fill("dialog input[type=search]", "#5")
    at.page.fill("#new-place", "0")
    at.page.click("dialog button.main")
    eventually(lambda: read(lambda db: len(db["Person"].get(3).friends)), count + 1)
    assert read(lambda db: db["Person"].get(3).friends[0].object_key) == 5


def test_rows_are_pasted(edited):
    at, read = edited
    at.go("/town.realm/class/Person")
    at.page.click("text=Paste rows")
    at.page.fill("#rows", "id\tname\tborn\n900\tOne\t2000-01-01T00:00:00Z\n901\tTwo\t\n")
    at.page.click("dialog button.main")
    at.until("document.querySelector('dialog').textContent.includes('born')")
    at.page.fill("#rows", "id\tname\n900\tOne\n901\tTwo\n")
    at.page.click("dialog button.main")
    at.until("document.querySelector('dialog').textContent.includes('2 objects will be made')")
    assert read(lambda db: len(db["Person"])) == 40
    at.page.click("dialog button.main")
    eventually(lambda: read(lambda db: len(db["Person"])), 42)


def test_nothing_of_it_is_there_without_the_switch(walk, town):
    at = walk(town)
    for address in ("/town.realm/class/Person/3", "/town.realm/class/Person", "/town.realm/class/Person/3/tags", "/town.realm/space", "/town.realm/schema"):
        at.go(address)
        texts = at.page.locator("button, .edit").all_inner_texts()
        assert not {"New", "Undo", "Delete", "Add", "✎", "✕", "Compact the file", "Paste rows"} & set(texts), address


def test_a_file_of_an_older_format_says_what_changing_it_means(walk, tmp_path):
    from conftest import FIXTURES

    old = sorted((FIXTURES / "old").glob("f09*.realm")) + sorted((FIXTURES.parent / "old").glob("f09*.realm"))
    if not old:
        pytest.skip("no files of older formats")
    shutil.copy(old[0], tmp_path / "old.realm")
    at = walk(tmp_path / "old.realm", options=("--edit",))
    assert "must become format 24 first" in at.text(".notice")
    at.picture("editing-upgrade")
    at.page.click("text=Upgrade the file")
    at.until("document.querySelector('.notice').textContent.includes('can be changed here')")
    assert list(tmp_path.glob("*backup*"))


def test_classes_are_changed(edited):
    at, read = edited
    at.go("/town.realm/schema")
    at.page.click("text=Add a class")
    at.page.fill("#class-name", "Boat")
    at.page.select_option("dialog select", "int")
    at.page.fill("#property-name", "id")
    at.page.click("dialog button.main")
    at.until("document.querySelector('dialog .notice')?.textContent.includes('Boat is added')")
    assert "Boat" not in read(lambda db: db.classes)
    at.picture("editing-structure")
    at.page.click("dialog button.main")
    eventually(lambda: "Boat" in read(lambda db: db.classes), True)
    at.until("document.querySelector('#side').textContent.includes('Boat')")
    at.page.click("[aria-label='Add a property to Boat']")
    at.page.fill("#property-name", "owner")
    at.page.select_option("dialog select[aria-label=Type]", "link Person")
    at.page.click("dialog button.main")
    at.page.wait_for_selector("dialog .notice")
    at.page.click("dialog button.main")
    eventually(lambda: str(read(lambda db: db.schema["Boat"].properties.get("owner"))), "Person")
    at.until("!document.querySelector('dialog')")
    at.page.click("[aria-label='Rename kind']")
    at.page.fill("#new-name", "sort")
    at.page.click("dialog button.main")
    at.until("document.querySelector('dialog .notice')?.textContent.includes('This is a migration')")
    at.page.click("dialog button.main")
    eventually(lambda: "sort" in read(lambda db: db.schema["Pet"].properties), True)
    assert read(lambda db: db["Pet"][0].sort) in ("dog", "cat", "parrot")


def test_a_query_is_kept_under_a_name(walk, town, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    at = walk(town)
    at.go("/town.realm/class/Person?where=height > 1.7&sort=name desc")
    at.page.click("summary:has-text('Queries')")
    at.page.fill("[aria-label='Name of the query']", "tall <i>")
    at.page.click(".pop >> text=Save")
    at.page.wait_for_selector(".pop a:has-text('tall <i>')")
    at.go("/town.realm/class/Person")
    at.page.click("summary:has-text('Queries')")
    at.page.click(".pop a:has-text('tall <i>')")
    at.until("document.querySelector('#where')?.value === 'height > 1.7'")
    assert "sort=name+desc" in at.page.url


def test_hostile_names_and_values_are_changed(walk, tmp_path):
    """Forms, dialogs, conflicts and titles show names and values as texts, whatever they are; and each class, property and key can be changed."""
    path = tmp_path / "hostile.realm"
    samples.hostile(path)
    at = walk(path, options=("--edit",))
    at.expected.append("status of 4(00|09)")
    with crealm.open(path, mode="snapshot") as db:
        names = list(db.classes)
    for name in names[:: max(1, len(names) // 12)]:
        with crealm.open(path, mode="snapshot") as db:
            key = db[name][0].object_key
        at.go(addresses.path(["hostile.realm", "class", name, str(key)]))
        at.page.wait_for_selector("article.object")
        at.page.locator(".property .edit").first.click()
        at.page.wait_for_selector("form.change textarea")
        at.page.fill("form.change textarea", "<img src=x onerror=hit()>")
        at.page.click("form.change button.main")
        at.until("!document.querySelector('form.change')")
        with crealm.open(path, mode="snapshot") as db:
            assert db[name]._db._object(db._named(name).key, key)[name] == "<img src=x onerror=hit()>"
        at.page.click("header >> text=Delete")
        at.page.wait_for_selector("dialog .deleted")
        at.page.click("dialog button.main")
        at.page.wait_for_selector(".grid")
        at.until("!document.querySelector('#tools button').disabled")
        at.page.click("#tools >> text=Undo")
        at.page.wait_for_load_state("networkidle")
    at.go(addresses.path(["hostile.realm", "class", names[0]]))
    at.page.click("text=New")
    at.page.wait_for_selector("dialog form")
    at.picture("editing-hostile")
    at.page.keyboard.press("Escape")
    at.go(addresses.path(["hostile.realm", "schema"]))
    at.page.wait_for_selector(".declared")


def test_forms_are_named_and_can_be_read(edited):
    from pathlib import Path

    at, _ = edited
    checks = (Path(__file__).parent / "checks.js").read_text(encoding="utf-8")
    at.go("/town.realm/class/Person/3")
    at.page.click(f"{property_row('name')} .edit")
    at.page.wait_for_selector("form.change")
    assert at.page.evaluate(checks) == "[]"
    for address in ("/town.realm/class/Person", "/town.realm/class/Person/3/tags", "/town.realm/schema", "/town.realm/space", "/town.realm"):
        at.go(address)
        assert at.page.evaluate(checks) == "[]", address
