"""Pages follow the file: whatever is lost on the way, the last state is shown in the end. What pages do for that is counted."""

from collections import Counter

import crealm
import pytest
from conftest import Server

CLASSES = [crealm.ClassSchema("Thing", {"id": int, "name": str, "parts": list[str]}, primary_key="id")]


@pytest.fixture
def things(tmp_path):
    path = tmp_path / "things.realm"
    with crealm.open(path, schema=CLASSES) as db, db.write():
        for number in range(30):
            db["Thing"].create(number, name=f"thing {number}", parts=["one"])
    return path


def rename(path, key, name):
    """In a process of its own would be slower; the server is another one anyway."""
    with crealm.open(path) as db, db.write():
        db["Thing"].get(key).name = name


def settled(pages):
    """Waits until pages heard the newest version, also who came late."""
    pages[0].wait_for_timeout(1000)


class Asked:
    """What pages ask the server, by the last part of the path."""

    def __init__(self, *pages):
        self.found = Counter()
        for page in pages:
            page.on("request", lambda request: self.found.update([request.url.partition("?")[0].rsplit("/", 1)[-1]]))


@pytest.fixture
def opened(client, things):
    """opened(count) opens pages of one web client on a table."""
    server, contexts = Server(things), []

    def begin(count, path="/things.realm/class/Thing?sort=id+asc"):
        context = client.new_context()
        contexts.append(context)
        pages = [context.new_page() for _ in range(count)]
        pages[0].goto(server.url)
        for page in pages:
            page.goto(server.base + path)
            page.wait_for_selector("#side .entry .count")
        settled(pages)
        return pages

    begin.server = server
    yield begin
    for context in contexts:
        context.close()
    server.close()



def begin_renaming(page, server, text):
    """Opens the form of the third thing's name in a new page, and fills it in."""
    page.goto(server.url)
    page.goto(server.base + "/things.realm/class/Thing/3")
    page.click(".property:has(dt bdi:text-is('name')) .edit")
    page.fill("form.change textarea", text)


def test_a_commit_is_asked_for_once_by_each_page(opened, things):
    """The classes at the side once, the table once, nothing else; one connection listens for all pages."""
    pages = opened(5)
    asked = Asked(*pages)
    for number in range(4):
        rename(things, 3, f"renamed {number}")
        for page in pages:
            page.get_by_text(f"renamed {number}").first.wait_for()
    assert asked.found["Thing.json"] == asked.found["things.realm.json"] and 20 <= asked.found["Thing.json"] <= 40
    assert set(asked.found) == {"Thing.json", "things.realm.json"}


def test_only_what_changed_is_made_anew(opened, things):
    (page,) = opened(1)
    page.evaluate("""() => {
      window.made = [];
      new MutationObserver((found) => window.made.push(...found.flatMap((one) => [...one.addedNodes]).map((node) => node.className)))
        .observe(document.querySelector('.grid'), { childList: true, subtree: true });
    }""")
    rename(things, 3, "another")
    page.get_by_text("another").first.wait_for()
    assert page.evaluate("window.made") == ["cell changed"]


def test_an_answer_that_does_not_come_is_asked_for_again(opened, things):
    """The server is busy, or the connection breaks, just when a page asks for what it was told: nothing more is written after that."""
    for part in ("**/things.realm.json", "**/class/Thing.json*"):
        (page,) = opened(1)
        left = [3]

        def fails(route):
            left[0] -= 1
            if left[0] < 0:
                route.continue_()
            elif left[0]:
                route.abort()
            else:
                route.fulfill(status=503, content_type="application/json", body='{"error": {"kind": "TimedOut", "message": "busy"}}')

        page.route(part, fails)
        rename(things, 3, "after " + part[-6:-1])
        page.get_by_text("after " + part[-6:-1]).first.wait_for()
        assert left[0] < 0


class Held:
    """The first answer to a question of a page, held back until `give`."""

    def __init__(self, page, pattern, of=lambda url: True):
        self.page, self.found, self.of = page, [], of
        page.route(pattern, self.take)

    def take(self, route):
        if self.found or not self.of(route.request.url):
            route.continue_()
        else:
            self.found.append((route, route.fetch()))

    def wait(self):
        while not self.found:
            self.page.wait_for_timeout(30)

    def give(self):
        route, answer = self.found[0]
        route.fulfill(response=answer)


@pytest.mark.parametrize("part", ["things.realm.json", "schema.json", "class/Thing.json*"])
def test_what_is_written_while_a_page_is_made_is_shown(opened, things, part):
    """Between an answer that a page is made of and the moment when it begins to listen."""
    (page,) = opened(1)
    late = page.context.new_page()
    held = Held(late, "**/" + part)
    late.goto(page.url, wait_until="commit")
    held.wait()
    rename(things, 3, "in between")
    page.get_by_text("in between").first.wait_for()  # The others have heard of it.
    settled([page])
    held.give()
    late.get_by_text("in between").first.wait_for()


def test_another_order_is_asked_for_while_something_is_written(opened, things):
    """The table of the new order is made of an older version than the one that is told meanwhile."""
    (page,) = opened(1)
    held = Held(page, "**/class/Thing.json*", lambda url: "sort=name" in url)
    page.click(".grid-head button:has-text('name')")
    held.wait()
    rename(things, 3, "0 first")
    page.locator("#tools", has_text="v4").wait_for()  # It has heard of it.
    held.give()
    page.locator(".row[aria-rowindex='2']", has_text="0 first").wait_for()


def test_an_answer_that_comes_too_late_is_not_shown(opened, things):
    """Two orders are asked for, and the first answer comes last."""
    (page,) = opened(1)
    held = Held(page, "**/class/Thing.json*", lambda url: "sort=name+asc" in url)
    page.click(".grid-head button:has-text('name')")
    held.wait()
    page.click(".grid-head button:has-text('name')")
    page.locator(".row[aria-rowindex='2']", has_text="thing 9").wait_for()
    held.give()
    settled([page])
    assert "thing 9" in page.inner_text(".row[aria-rowindex='2']") and "sort=name+desc" in page.url


def test_an_overview_that_comes_too_late_takes_nothing_over(client, things, tmp_path):
    """One file is slow, and another one is shown by then: its classes stay at the side, and nothing of the first file is taken back."""
    with crealm.open(tmp_path / "others.realm", schema=[crealm.ClassSchema("Other", {"id": int}, primary_key="id")]):
        pass
    server = Server(things, tmp_path / "others.realm", options=("--edit",))
    context = client.new_context()
    try:
        page = context.new_page()
        begin_renaming(page, server, "edited")
        page.click("form.change >> text=Save")
        page.locator("#tools button[title^='Undo:']").wait_for()
        page.click("#crumbs .brand")
        sent = []
        page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
        held = Held(page, "**/things.realm.json")
        page.click("main a[href='/things.realm']")
        held.wait()
        page.click("main a[href='/others.realm']")
        page.locator("#side .classes", has_text="Other").wait_for()
        held.give()
        settled([page])
        assert page.locator("#side .classes bdi").all_inner_texts() == ["Other"]
        assert page.locator("#tools button:enabled").count() == 0
        page.keyboard.press("Control+z")
        settled([page])
        assert sent == []
        with crealm.open(things) as db:
            assert db["Thing"].get(3).name == "edited"
    finally:
        context.close()
        server.close()


def test_an_empty_table_fills(opened, things):
    with crealm.open(things) as db, db.write():
        for one in list(db["Thing"]):
            one.delete()
    (page,) = opened(1)
    page.get_by_text("There are no objects of this class.").wait_for()
    with crealm.open(things) as db, db.write():
        db["Thing"].create(7, name="the only one")
    page.get_by_text("the only one").first.wait_for()
    assert page.inner_text(".total") == "1 object" and not page.locator(".holder .empty").is_visible()


@pytest.mark.parametrize("place, told", [("", "{version}"), ("/class/Thing/3/parts", "List of 2 elements"), ("/class/Thing/3", "new part")])
def test_every_kind_of_page_follows(opened, things, place, told):
    (page,) = opened(1, "/things.realm" + place)
    with crealm.open(things) as db:
        with db.write():
            db["Thing"].get(3).parts.append("new part")
        version = db.version
    page.locator("main").get_by_text(told.format(version=version), exact=not place).first.wait_for()


def test_a_page_that_nobody_sees_asks_for_nothing_until_it_is_seen(opened, things):
    (page,) = opened(1)
    other = page.context.new_page()
    other.add_init_script("""
      window.unseen = false;
      Object.defineProperty(document, 'hidden', { get: () => window.unseen });
      window.turn = (is) => { window.unseen = is; document.dispatchEvent(new Event('visibilitychange')); };
    """)
    other.goto(page.url)
    other.wait_for_selector(".row")
    settled([other])
    other.evaluate("window.turn(true)")
    asked = Asked(other)
    for number in range(5):
        rename(things, 3, f"renamed {number}")
        page.get_by_text(f"renamed {number}").first.wait_for()
    assert not asked.found
    other.evaluate("window.turn(false)")
    other.get_by_text("renamed 4").first.wait_for()
    assert asked.found == {"Thing.json": 1, "things.realm.json": 1}


def test_the_page_that_listens_is_closed(opened, things):
    """Another one takes its place, and misses nothing."""
    pages = opened(4)
    while len(pages) > 1:
        pages.pop(0).close()
        rename(things, 3, f"with {len(pages)} left")
        for page in pages:
            page.get_by_text(f"with {len(pages)} left").first.wait_for()


def test_the_server_refuses_events_for_a_while(opened, things):
    """A web client does not connect again by itself where it was refused."""
    context = opened(1)[0].context
    page = context.new_page()
    context.pages[0].close()
    refused = []
    page.route("**/events", lambda route: (refused.append(1), route.fulfill(status=503)) if len(refused) < 2 else route.continue_())
    page.goto(opened.server.base + "/things.realm/class/Thing?sort=id+asc")
    page.wait_for_selector(".row")
    page.wait_for_timeout(500)
    rename(things, 3, "heard of at last")
    page.get_by_text("heard of at last").first.wait_for()
    assert len(refused) == 2


def test_a_form_is_left_alone_and_what_was_told_meanwhile_is_shown_then(client, things):
    server = Server(things, options=("--edit",))
    context = client.new_context()
    try:
        page = context.new_page()
        begin_renaming(page, server, "mine")
        settled([page])
        rename(things, 3, "theirs")
        page.locator("#tools", has_text="v4").wait_for()
        assert page.input_value("form.change textarea") == "mine"
        page.click("form.change >> text=Cancel")
        page.get_by_text("theirs").first.wait_for()
    finally:
        context.close()
        server.close()


def test_a_page_that_one_comes_back_to(opened, things):
    """The web client may have kept it as it was; it heard nothing meanwhile."""
    (page,) = opened(1)
    page.goto("about:blank")
    rename(things, 3, "while it was away")
    page.go_back()
    page.get_by_text("while it was away").first.wait_for()


def test_an_answer_that_takes_too_long_is_not_asked_for_without_end(opened, things):
    (page,) = opened(1)
    asked = []

    def busy(route):
        asked.append(1)
        route.fulfill(status=503, content_type="application/json", body='{"error": {"kind": "TimedOut", "message": "too long"}}')

    page.clock.install()
    page.route("**/class/Thing.json*", busy)
    page.reload()
    for _ in range(12):
        page.get_by_text("too long").first.wait_for()
        page.clock.run_for(10_000)
        page.wait_for_timeout(200)
    assert len(asked) == 5
    page.unroute("**/class/Thing.json*")
    rename(things, 3, "another version")
    page.clock.resume()
    page.get_by_text("another version").first.wait_for()


def test_where_web_clients_have_no_locks_pages_listen_themselves(opened, things):
    """A page of another machine that is not encrypted is such a place."""
    context = opened(1)[0].context
    context.add_init_script("Object.defineProperty(Navigator.prototype, 'locks', { get: () => undefined });")
    page = context.new_page()
    context.pages[0].close()
    page.goto(opened.server.base + "/things.realm/class/Thing?sort=id+asc")
    page.wait_for_selector(".row")
    settled([page])
    rename(things, 3, "without locks")
    page.get_by_text("without locks").first.wait_for()
