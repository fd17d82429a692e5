"""Journeys through the pages of the Browser, in a real web client. On none of them anything is complained about in the console, asked of another
host, or executed that is a value of a file (see `Walk.end`)."""

import json
import time
from pathlib import Path

import crealm
import pytest
import samples
from conftest import CROWD, FIXTURES
from crealm.browse import addresses

CELL = ".row[aria-rowindex='2'] .cell"


@pytest.fixture(scope="session")
def crowd(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowd") / "crowd.realm"
    samples.crowd(path, CROWD)
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_overview_and_classes(walk, files, scheme):
    at = walk(files / "town.realm", color_scheme=scheme)
    assert at.text("h1") == "town.realm" and at.page.url.endswith("/town.realm")
    assert "Person\n1,200" in at.text("#side") and "Embedded" in at.page.locator("#side").inner_html()
    at.picture(f"overview-{scheme}")
    at.page.click("#side >> text=Trip")
    at.page.wait_for_selector(".row")
    assert at.page.url.endswith("/town.realm/class/Trip") and at.text(".total") == "3,600 objects"
    at.picture(f"trips-{scheme}")


def test_links_both_ways_and_the_way_back(walk, files):
    at = walk(files / "town.realm")
    at.go("/town.realm/class/Trip")
    who = at.page.locator(f"{CELL} a.link").first
    name = who.locator("bdi").inner_text()
    who.click()
    at.page.wait_for_selector("article.object")
    assert at.text("h1") == name
    at.picture("person")
    at.page.click(".backlinks >> text=Trip.who")
    at.page.wait_for_selector(".grid .row")
    assert "Trip.who" in at.text("h1")
    at.page.locator(".row a.link").first.click()
    at.page.wait_for_selector("article.object")
    assert "Trip" in at.text("header p")
    at.page.go_back()
    at.page.wait_for_selector(".grid .row")
    at.page.go_back()
    at.page.wait_for_selector("article.object")
    assert at.text("h1") == name
    at.page.click("#crumbs >> text=Person")
    at.page.wait_for_selector(".grid .row")
    at.page.reload()
    at.page.wait_for_selector(".grid .row")
    assert at.text(".total") == "1,200 objects"


def test_asking(walk, files):
    at = walk(files / "town.realm")
    at.go("/town.realm/class/Person")
    at.page.fill("#where", "height > 1.9 AND address.city == 'Oslo'")
    at.page.press("#where", "Enter")
    at.until("document.querySelector('.how')?.textContent.includes('tested')")
    with crealm.open(files / "town.realm", mode="immutable") as db:
        count = len(db["Person"].where("height > 1.9 AND address.city == 'Oslo'"))
    assert at.text(".total") == f"{count} objects" and "where=height" in at.page.url
    at.picture("query")
    at.page.reload()
    at.page.wait_for_selector(".row")
    assert at.text(".total") == f"{count} objects"
    at.page.go_back()
    at.until("document.querySelector('.total').textContent === '1,200 objects'")
    at.page.go_forward()
    at.until("(count) => document.querySelector('.total').textContent === `${count} objects`", count)
    at.page.click(".clear")
    at.until("document.querySelector('.total').textContent === '1,200 objects'")


def test_what_is_wrong_is_marked(walk, files):
    at = walk(files / "town.realm")
    at.expected.append("400 \\(Bad Request\\)")  # The web client writes it down.
    at.go("/town.realm/class/Person")
    at.page.fill("#where", "height > 1.9 AND adress.city == 'adress'")
    at.page.press("#where", "Enter")
    at.page.wait_for_selector(".mirror mark")
    assert at.page.locator(".mirror mark").inner_text() == "adress" and "no property 'adress'" in at.text(".said")
    mark, text = at.page.locator(".mirror mark").bounding_box(), at.page.locator("#where").bounding_box()
    assert text["x"] < mark["x"] < text["x"] + text["width"] and text["y"] <= mark["y"] <= text["y"] + text["height"]
    assert at.page.locator(".row").count() > 5  # What was there stays.
    at.picture("mistake")
    at.page.fill("#where", "height > 1.9")
    assert at.page.locator(".mirror mark").count() == 0


def test_completion(walk, files):
    at = walk(files / "town.realm")
    at.go("/town.realm/class/Person")
    at.page.focus("#where")
    at.page.keyboard.type("addr")
    assert at.page.locator("#offers li").all_inner_texts() == ["address"]
    at.page.keyboard.press("Tab")
    at.page.keyboard.type(".c")
    assert at.page.locator("#offers li").all_inner_texts() == ["city"]
    at.picture("completion")
    at.page.keyboard.press("ArrowDown")
    at.page.keyboard.press("Enter")
    at.page.keyboard.type(" BEG")
    assert at.page.locator("#offers li").all_inner_texts()[0].startswith("BEGINSWITH")
    at.page.keyboard.press("Tab")
    at.page.keyboard.type("'O'")
    at.page.keyboard.press("Enter")
    at.until("document.querySelector('.total').textContent !== '1,200 objects'")
    assert at.page.input_value("#where") == "address.city BEGINSWITH 'O'"


def test_sorting_hiding_and_widths(walk, files):
    at = walk(files / "town.realm")
    at.go("/town.realm/class/Person")
    at.page.click("[role=columnheader] >> text=name")
    at.page.wait_for_selector("[role=columnheader][aria-sort=ascending]")
    with crealm.open(files / "town.realm", mode="immutable") as db:
        assert at.page.locator(f"{CELL} .text").first.inner_text() == db["Person"].sort("name")[0].name
        at.page.click("[role=columnheader] >> text=name")
        at.page.wait_for_selector("[role=columnheader][aria-sort=descending]")
        assert at.page.locator(f"{CELL} .text").first.inner_text() == db["Person"].sort("-name")[0].name
    at.page.click("summary >> text=Columns")
    at.page.uncheck(".choices input[value=born]")
    at.until("![...document.querySelectorAll('[role=columnheader]')].some((head) => head.textContent.includes('born'))")
    assert "column=name" in at.page.url
    at.page.click("summary >> text=Columns")
    box = at.page.locator("[role=columnheader]").nth(2).bounding_box()
    at.page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 5)
    at.page.mouse.down()
    at.page.mouse.move(box["x"] + box["width"] + 77, box["y"] + 5)
    at.page.mouse.up()
    assert abs(at.page.locator("[role=columnheader]").nth(2).bounding_box()["width"] - box["width"] - 80) < 3


def test_without_a_mouse(walk, files):
    at = walk(files / "town.realm")
    at.go("/town.realm/class/Person")
    for _ in range(3):
        at.page.keyboard.press("ArrowDown")
    at.page.keyboard.press("PageDown")
    row = int(at.page.locator(".cell.active").get_attribute("data-row"))
    assert row > 20 and at.page.locator(".grid").get_attribute("aria-activedescendant") == f"cell-{row}-0"
    at.page.keyboard.press("Control+End")
    at.until("document.querySelector('.cell.active a, .cell.active span, .cell.active bdi')")
    assert at.page.locator(".cell.active").get_attribute("data-row") == "1199"
    at.page.keyboard.press("Home")
    at.page.keyboard.press("Enter")
    at.page.wait_for_selector("article.object")
    assert at.page.url.endswith("/class/Person/1199")
    at.page.keyboard.press("Tab")
    at.go("/town.realm/class/Person")
    at.page.keyboard.press("/")
    assert at.page.evaluate("document.activeElement.id") == "where"


def test_trees_and_pages_of_values(walk, files):
    at = walk(files / "town.realm")
    with crealm.open(files / "town.realm", mode="immutable") as db:
        key = next(p.id for p in db["Person"] if isinstance(p.extra, crealm.Dictionary) and p.photo)
    at.go(f"/town.realm/class/Person/{key}")
    at.page.locator(".property", has_text="extra").locator("summary").first.click()
    at.page.wait_for_selector(".leaf summary")
    at.page.locator(".leaf summary").first.click()
    at.page.wait_for_selector(".leaf .leaf")
    assert "true" in at.text(".leaf .leaf")
    at.until("document.querySelector('img.picture').naturalWidth === 24")
    at.picture("trees")
    at.page.click("a >> text=photo")
    at.page.wait_for_selector(".dump")
    assert at.text(".dump").startswith("00000000  89 50 4e 47")


@pytest.mark.parametrize(
    "name, class_name",
    [("full-1", "All"), ("nested-1", "All"), ("deep-full", "All"), ("f23-dotnet-97-classes-nohistory", None), ("f10-swift-all-types", "IOSAllTypes")],
)
def test_files_of_other_engines(walk, files, name, class_name):
    path = files / f"{name}.realm"
    if not path.exists():
        pytest.skip("the fixture is not there")
    at = walk(path)
    assert at.text("h1") == path.name
    at.picture(name)
    with crealm.open(path, mode="immutable") as db:
        class_name = class_name or next(one for one in db.classes if len(db[one]))
        keys = [obj.object_key for obj in db[class_name][:3]]
        count = len(db[class_name])
    at.go(f"/{path.name}/class/{class_name}")
    assert at.text(".total").split()[0] == f"{count:,}"
    at.picture(f"{name}-table")
    for key in keys:
        at.go(f"/{path.name}/class/{class_name}/{key}")
        at.page.wait_for_selector("article.object")
        assert at.page.locator(".fault").count() == 0
        for summary in at.page.locator(".property > dd > .tree > summary").all()[:6]:
            summary.click()
        at.page.wait_for_load_state("networkidle")
        assert at.page.locator(".leaf").count() or not at.page.locator(".tree").count()
    at.picture(f"{name}-object")


def test_all_old_formats(walk, files):
    paths = sorted(path for path in files.glob("f*.realm") if not path.with_suffix(".key").exists())
    at = walk(*paths)
    at.expected.append("the server responded with a status of 4")
    at.go("/")
    assert at.page.locator(".card").count() == len(paths)
    at.picture("files")
    for path in paths:
        at.go(f"/{path.name}")
        assert at.page.locator("h1").count() == 1


def test_hostile_names_and_values(walk, files):
    at = walk(files / "hostile.realm")
    at.picture("hostile")
    for href in at.page.locator("#side .classes a").evaluate_all("links => links.map((link) => link.getAttribute('href'))"):
        at.go(href)
        at.page.wait_for_selector(".row .cell")
        assert at.page.locator(".row").count() >= 1
        at.page.locator(".row a.key").first.click()
        at.page.wait_for_selector("article.object")
        for summary in at.page.locator(".tree > summary").all():
            summary.click()
    at.picture("hostile-object")
    at.go(addresses.path(["hostile.realm", "class", samples.HOSTILE[0]]))
    at.page.wait_for_selector(".row .cell")
    at.picture("hostile-table")
    shown = at.page.evaluate("""async () => (await (await fetch(location.pathname + '.json?count=1000')).json()).rows.map((row) => row.cells[0].v)""")
    assert [text[:160] for text in samples.HOSTILE] == shown


def test_a_million_objects(walk, crowd):
    at = walk(crowd)
    at.go("/crowd.realm/class/Reading")
    assert at.text(".total") == f"{CROWD:,} objects"
    for share in (0.25, 0.5, 0.999, 1, 0):
        at.page.evaluate(
            "(share) => { const grid = document.querySelector('.grid'); grid.scrollTop = share * (grid.scrollHeight - grid.clientHeight); }",
            share,
        )
        at.until("""(wanted) => { const rows = [...document.querySelectorAll('.row')].map((row) => Number(row.getAttribute('aria-rowindex')) - 2).sort((a, b) => a - b);
            return !document.querySelector('.row.waits') && Math.abs(rows[rows.length >> 1] - wanted) < 2500; }""", share * CROWD)
        rows = at.page.locator(".row").evaluate_all(
            "rows => rows.map((row) => [Number(row.getAttribute('aria-rowindex')) - 2, row.children[1].textContent])",
        )
        assert all(int(text) == index for index, text in rows) and len(rows) < 60
    at.picture("million")
    at.page.evaluate("document.querySelector('.grid').focus()")
    at.page.keyboard.press("Control+End")
    at.until("!document.querySelector('.row.waits')")
    assert at.page.locator(".cell.active").get_attribute("data-row") == str(CROWD - 1)
    box = at.page.locator(".grid").bounding_box()
    at.page.mouse.move(box["x"] + 200, box["y"] + 200)
    at.page.evaluate("document.querySelector('.grid').scrollTop = 0")
    at.until("document.querySelector('.row[aria-rowindex=\"2\"]')")
    at.page.mouse.wheel(0, 270)
    at.page.wait_for_timeout(200)
    first = min(at.page.locator(".row").evaluate_all("rows => rows.map((row) => Number(row.getAttribute('aria-rowindex')) - 2)"))
    assert 4 <= first <= 8  # Ten rows on, four of which are kept above.


def test_a_key_is_asked_for(walk, files):
    if not (files / "encrypted.realm").exists():
        pytest.skip("the fixture is not there")
    at = walk(files / "encrypted.realm")
    at.expected += ["423", "403"]
    assert at.text("h1") == "A key is needed"
    at.page.fill("#secret", "00" * 64)
    at.page.click("button >> text=Open")
    at.page.wait_for_selector(".fault:not(:empty)")
    at.picture("key")
    at.page.fill("#secret", (files / "encrypted.key").read_bytes().hex())
    at.page.keyboard.press("Enter")
    at.page.wait_for_selector(".facts")
    assert "secret" not in at.page.url and at.text("h1") == "encrypted.realm"


def test_narrow_and_right_to_left(walk, files):
    at = walk(files / "town.realm", viewport={"width": 390, "height": 780})
    at.go("/town.realm/class/Person")
    at.page.wait_for_selector(".row")
    assert at.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    at.picture("narrow")
    at.page.click("#menu")
    at.page.click("#side >> text=Pet")
    at.until("location.pathname.endsWith('/Pet')")
    at.go("/town.realm/class/Person/3")
    assert at.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    at.picture("narrow-object")


def test_the_file_as_a_whole(walk, files):
    at = walk(files / "town.realm")
    for page, text in (("schema", "Schema"), ("space", "Space"), ("check", "sound"), ("versions", "Versions in use")):
        at.page.click(f"#side a[href$='/{page}']")
        at.until("(text) => document.querySelector('#main').textContent.includes(text)", text)
        at.picture(page)


def test_an_address_that_leads_nowhere(walk, files):
    at = walk(files / "town.realm")
    at.expected.append("404")
    for path in ("/town.realm/class/Nobody", "/town.realm/class/Person/999999", "/town.realm/class/Person/1/nothing", "/nothing", "/town.realm/what"):
        at.go(path)
        assert at.page.locator("[role=alert]").count() == 1
    at.picture("nowhere")


def test_accessible_names(walk, files):
    """What can be checked without a person: every control and picture has a name, headings are in order, no id comes twice, colours have contrast."""
    at = walk(files / "town.realm")
    for path in ("/town.realm", "/town.realm/class/Person", "/town.realm/class/Person/5", "/town.realm/schema", "/town.realm/space"):
        at.go(path)
        found = json.loads(at.page.evaluate(CHECKS))
        assert found == [], path


CHECKS = (Path(__file__).parent / "checks.js").read_text(encoding="utf-8")


def test_fixtures_are_there():
    assert FIXTURES.is_dir()


def test_another_program_writes(walk, files, tmp_path):
    path = tmp_path / "living.realm"
    samples.town(path, 50)
    pages = [walk(path) for _ in range(3)]
    for at in pages[:2]:
        at.go("/living.realm/class/Person?sort=id+asc")
    pages[2].go("/living.realm/class/Person/3")
    pages[0].page.wait_for_timeout(1000)  # The first look is made before anything is written.
    with crealm.open(path) as db:
        with db.write():
            db["Person"].get(3).name = "Changed Name"
            db["Person"].create(50, name="New Name")
        began = time.monotonic()
        for at in pages[:2]:
            at.until(
                "document.querySelector('#main').textContent.includes('Changed Name') && document.querySelector('.total').textContent === '51 objects'",
            )
        pages[2].until("document.querySelector('h1').textContent === 'Changed Name'")
        print(f"two tables and an object show a change after {time.monotonic() - began:.2f} s")  # How soon depends on what else the machine does.
        assert pages[0].page.locator(".cell.changed").count() >= 1 and "51" in pages[0].text("#side")
        pages[0].picture("live")
        for number in range(10):
            with db.write():
                db["Person"].get(0).name = f"Round {number}"
        pages[0].until("document.querySelector('#main').textContent.includes('Round 9')")
    pages[1].page.click("#side >> text=Log")
    pages[1].page.wait_for_selector("table.plain")
    assert "+1" in pages[1].text("#main")
    pages[1].picture("log")


def test_twenty_pages_watch(walk, files, tmp_path, client, servers):
    """More pages than the web client has connections: each shows what was written."""
    path = tmp_path / "watched.realm"
    samples.town(path, 30)
    at = walk(path)
    pages = [at.page, *(at.page.context.new_page() for _ in range(19))]
    for page in pages:
        page.goto(at.server.base + "/watched.realm/class/Person")
        page.wait_for_selector(".row")
    at.page.wait_for_timeout(1000)
    with crealm.open(path) as db, db.write():
        db["Person"].get(2).name = "Seen By All"
    at.until("document.querySelector('#main').textContent.includes('Seen By All')")
    for page in pages:
        page.get_by_text("Seen By All").first.wait_for()
    pages[0].close()  # Whoever listened: another page does from now on.
    pages[1].wait_for_timeout(500)
    with crealm.open(path) as db, db.write():
        db["Person"].get(3).name = "Still Seen"
    for page in pages[1:]:
        page.get_by_text("Still Seen").first.wait_for()
    at.page = pages[1]


def test_facets_narrow(walk, files):
    at = walk(files / "town.realm")
    at.go("/town.realm/class/Person")
    for _ in range(6):
        at.page.keyboard.press("ArrowRight")
    at.page.keyboard.press("f")
    at.page.wait_for_selector(".facet .value")
    name = at.text(".facet h2")
    label, count = at.page.locator(".facet .value").first.inner_text().split()
    at.picture("facet")
    at.page.locator(".facet .value").first.click()
    at.until("(count) => document.querySelector('.total').textContent === `${count} objects`", count)
    assert at.page.input_value("#where") == f"{name} == {label}"
    at.page.keyboard.press("Escape")


def test_taking_away(walk, files):
    at = walk(files / "town.realm")
    at.go("/town.realm/class/Pet?where=kind%20%3D%3D%20'dog'")
    at.page.click("summary >> text=Download")
    with at.page.expect_download() as found:
        at.page.click(".menu .pop a >> text=CSV")
    with crealm.open(files / "town.realm", mode="immutable") as db:
        count = len(db["Pet"].where("kind == 'dog'"))
    assert len(found.value.path().read_text().splitlines()) == count + 1 and found.value.suggested_filename == "Pet.csv"


def test_a_damaged_file(walk, files, tmp_path):
    """What can be shown is shown, and the fault has a name."""
    path = tmp_path / "damaged.realm"
    samples.town(path, 300)
    damaged = bytearray(path.read_bytes())
    for place in range(8192, len(damaged) - 4096, 4096):
        damaged[place : place + 40] = bytes(40)
    path.write_bytes(damaged)
    at = walk(path)
    at.expected.append("the server responded with a status of 4")
    at.page.wait_for_selector("h1")
    for page in ("class/Person", "class/Trip", "class/Person/3", "schema", "check", "space"):
        at.go(f"/damaged.realm/{page}")
        assert at.page.locator(".row, [role=alert], h1").count()
    at.go("/damaged.realm/check")
    assert at.page.locator(".fault, [role=alert]").count()
    at.picture("damaged")


def test_comparing_with_a_remembered_version(walk, files, tmp_path):
    path = tmp_path / "compared.realm"
    samples.town(path, 20)
    at = walk(path)
    at.page.click("#side >> text=Compare")
    at.page.click("button >> text=Remember this version")
    at.page.wait_for_selector(".card")
    with crealm.open(path) as db, db.write():
        db["Person"].get(4).name = "Another Name"
        db["Person"].get(5).delete()
    at.page.wait_for_timeout(1200)
    at.page.locator(".card[href*='compare/version/']").click()
    at.page.wait_for_selector(".changes .after")
    assert "Another Name" in at.text(".changes") and "removed" in at.text(".counts")
    at.picture("compare")


def test_growth_while_the_page_watches(walk, tmp_path):
    path = tmp_path / "growing.realm"
    samples.town(path, 20)
    at = walk(path)
    at.go("/growing.realm/space")
    assert "does not tell which sizes it had" in at.text("main")
    for number in range(3):
        with crealm.open(path) as db, db.write():
            db.add_many("Pet", ({"_id": crealm.ObjectId(), "name": "x" * 50} for _ in range(5000)))
        at.page.wait_for_timeout(1500)
    at.page.wait_for_selector("svg.growth path")
    assert "versions were seen since" in at.text("main") and "there is a newer one" in at.text("main")
    at.picture("growth")
    at.page.click("text=Look again")
    at.until("!document.querySelector('main').textContent.includes('there is a newer one')")
    assert "MB" in at.text("main p")


def test_comparing_with_the_version_before(walk, tmp_path):
    """From the file's page, without anything being remembered; and what a file says that holds no such version."""
    path = tmp_path / "before.realm"
    samples.town(path, 20)
    with crealm.open(path) as db, db.write():
        db["Person"].get(4).name = "Another Name"
        db["Person"].get(5).delete()
    at = walk(path)
    at.go("/before.realm")
    at.page.click(".facts a")
    at.page.wait_for_selector(".changes .after")
    assert "Another Name" in at.text(".changes") and "1 removed" in at.text(".counts") and "Since version" in at.text("h1")
    at.picture("compare-before")
    at.page.click("#side >> text=Compare")
    at.page.wait_for_selector(".card[href$='/compare/slot/previous']")
    with crealm.open(path) as db:
        db.compact()
    at.go("/before.realm")
    assert "none in this file" in at.text(".facts")
    at.go("/before.realm/compare")
    assert "no version before the newest one" in at.text("main")
    at.expected.append("status of 404")
    at.go("/before.realm/compare/slot/previous")
    assert "no version before the newest one" in at.text(".problem")


def test_what_is_large(walk, files, tmp_path):
    """200 classes, one with 300 properties, a text of 16 MB, a list of a million elements."""
    path = tmp_path / "large.realm"
    classes = [crealm.ClassSchema(f"C{number:03}", {"n": int, "next": f"C{(number + 7) % 198:03}"}) for number in range(198)]
    wide = crealm.ClassSchema("Wide", {f"p{number:03}": int for number in range(300)})
    deep = crealm.ClassSchema("Deep", {"text": str, "numbers": list[int]})
    with crealm.open(path, schema=[*classes, wide, deep]) as db, db.write():
        for number in range(120):
            db["Wide"].create(p000=number, p299=number)
        db["Deep"].create(text="\u00e9" * 8_000_000, numbers=range(1_000_000))
    at = walk(path)
    assert at.page.locator("#side .classes li").count() == 200
    at.page.fill("#side input", "wide")
    assert at.page.locator("#side .classes li:visible").count() == 1
    at.page.click("#side >> text=Wide")
    at.page.wait_for_selector(".row")
    assert at.page.locator("[role=columnheader]").count() == 41
    at.go("/large.realm/class/Deep")
    assert at.text(".total") == "1 object"
    at.go("/large.realm/class/Deep/0/numbers")
    at.page.evaluate("document.querySelector('.grid').focus()")
    at.page.keyboard.press("Control+End")
    at.until("document.querySelector('.cell.active')?.textContent === '999999'")
    at.go("/large.realm/class/Deep/0/text")
    assert "8,000,000 characters" in at.text("#main header")
    at.go("/large.realm/schema")
    assert at.page.locator(".box").count() == 200
    at.picture("large-schema")
