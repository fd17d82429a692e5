"""Access control of the Browser: a request with anything wrong gets nothing of the file, and runs no query."""

import itertools
import json

import pytest

from browsing import BASE, PORT, Asking, TestClient

import crealm
from conftest import PERSON

SECRET = "a value that only who knows the token may see"


@pytest.fixture(scope="module")
def asking(tmp_path_factory):
    path = tmp_path_factory.mktemp("guard") / "people.realm"
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db["Person"].create(1, name=SECRET)
    with Asking(path) as made:
        yield made


PAGE = "/people.realm/class/Person.json"


def ask(asking, path=PAGE, method="GET", token=None, **headers):
    """Sends a request with exactly these headers, and the name of the server."""
    given = {"host": f"127.0.0.1:{PORT}", **{name.replace("_", "-"): value for name, value in headers.items()}}
    client = asking.client
    client.headers.clear()
    client.cookies.clear()
    if token:
        given["authorization"] = f"Bearer {token}"
    return client.request(method, BASE + path, headers=given)


def test_the_token_is_needed(asking):
    assert SECRET in ask(asking, token=asking.guard.token).text
    for token in (None, "x", "", asking.guard.token[:-1], asking.guard.token + "x", asking.guard.token.swapcase(), "é"):
        found = ask(asking, **({} if token is None else {"authorization": f"Bearer {token}".encode()}))
        assert found.status_code == 401 and SECRET not in found.text
    for authorization in (f"Basic {asking.guard.token}", asking.guard.token, "Bearer", ""):
        assert ask(asking, authorization=authorization).status_code == 401
    for path in ("/", "/people.realm", "/-/static/shell.html", "/-/files.json", "/x", "//", "/%00"):
        assert ask(asking, path).status_code == 401


def test_people_are_told_in_a_page(asking):
    found = ask(asking, "/people.realm?<script>", accept="text/html,*/*")
    assert found.status_code == 401 and found.headers["content-type"].startswith("text/html") and "<script" not in found.text
    assert "crealm browse" in found.text and SECRET not in found.text


def test_the_first_address_becomes_a_cookie(asking):
    found = ask(asking, f"/people.realm?where=a&token={asking.guard.token}&where=b")
    assert found.status_code == 303 and found.headers["location"] == "/people.realm?where=a&where=b"
    cookie = found.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and asking.guard.token not in cookie
    value = cookie.split(";")[0]
    assert SECRET in ask(asking, cookie=value).text
    assert SECRET in ask(asking, cookie=f"other=1; {value}").text
    for wrong in (value[:-1], value + "x", value.split("=")[0] + "=", "crealm-1=" + value.split("=")[1], "=;;=", "\t"):
        assert ask(asking, cookie=wrong).status_code == 401
    assert ask(asking, "/?token=x").status_code == 401
    assert ask(asking, "/?token=").status_code == 401


def test_cookies_of_other_programs_come_along(asking):
    """A web client sends the cookies of all ports of this machine, with any content."""
    own = ask(asking, f"/?token={asking.guard.token}").headers["set-cookie"].split(";")[0]
    others = ['a={"b": 1, "c": [2]}', "a=b c", "bare", "a,b=3", "expires=Mon, 3", 'a="x', "a=é", "=", "", "a==", "crealm-1=x", own.split("=")[0] + "=x"]
    for other in others:
        for cookie in (f"{other}; {own}", f"{own}; {other}", f"{own};{other}", f" {other} ;{own} "):
            assert SECRET in ask(asking, cookie=cookie.encode()).text, cookie
        assert ask(asking, cookie=other.encode()).status_code == 401
        assert ask(asking, cookie=f'{other}; x="{own}"'.encode()).status_code == 401


def test_a_token_for_once(asking):
    token = asking.guard.token_for_once()
    assert ask(asking, token=token).status_code == 401  # This token is for the first address only.
    assert ask(asking, f"/?token={token}").status_code == 303
    assert ask(asking, f"/?token={token}").status_code == 401


@pytest.mark.parametrize("where", ["//evil.example/x", "/\\evil.example", "///"])
def test_the_first_address_leads_nowhere_else(asking, where):
    found = ask(asking, f"{where}?token={asking.guard.token}")
    location = found.headers["location"]
    assert location.startswith("/") and not location.startswith("//") and "evil.example" not in location.split("/")[1:2]


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"127.0.0.1:{PORT}.evil.example",
        "", f"localhost:{PORT}@evil", f"0.0.0.0:{PORT}",
    ],
)
def test_names_that_are_not_this_servers(asking, host):
    found = ask(asking, token=asking.guard.token, host=host)
    assert found.status_code == 421 and SECRET not in found.text


@pytest.mark.parametrize("host", [f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_names_that_are(asking, host):
    assert ask(asking, token=asking.guard.token, host=host).status_code == 200


ORIGINS = [
    "http://evil.example", "null", "https://127.0.0.1:8123", f"http://localhost:{PORT}", "http://127.0.0.1",
    "file://", f"{BASE}.evil.example", "\x00",
]


@pytest.mark.parametrize("origin, method", list(itertools.product(ORIGINS, ["GET", "POST"])))
def test_other_pages_may_not_ask(asking, origin, method):
    found = ask(asking, method=method, token=asking.guard.token, origin=origin)
    assert found.status_code == 403 and SECRET not in found.text


@pytest.mark.parametrize("site", ["cross-site", "same-site", "other"])
def test_what_the_web_client_says_of_the_page_that_asks(asking, site):
    token = asking.guard.token
    assert ask(asking, token=token, sec_fetch_site=site, sec_fetch_mode="cors", sec_fetch_dest="empty").status_code == 403
    assert ask(asking, token=token, sec_fetch_site=site, sec_fetch_mode="no-cors", sec_fetch_dest="image").status_code == 403
    assert ask(asking, token=token, sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="iframe").status_code == 403
    assert ask(asking, token=token, sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document").status_code == 200
    assert ask(asking, method="POST", token=token, sec_fetch_site=site, sec_fetch_mode="navigate", sec_fetch_dest="document").status_code == 403


def test_changes_say_where_they_come_from(asking):
    cookie = ask(asking, f"/?token={asking.guard.token}").headers["set-cookie"].split(";")[0]
    path = "/people.realm/key"
    assert ask(asking, path, "POST", cookie=cookie).status_code == 403
    assert ask(asking, path, "POST", cookie=cookie, origin=BASE).status_code == 415
    assert ask(asking, path, "POST", token=asking.guard.token).status_code == 415
    assert ask(asking, path, "POST", token=asking.guard.token, content_type="text/plain").status_code == 415
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"):
        assert ask(asking, path, method, token=asking.guard.token, origin=BASE).status_code == 405


def test_what_is_sent_may_not_be_long(asking):
    headers = {"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {asking.guard.token}", "content-type": "application/json"}
    assert asking.client.post("/people.realm/key", content=b"1" * (1 << 20) + b"1", headers=headers).status_code == 413
    for body in (b"", b"{", b"\xff", b"[" * 100_000):
        assert asking.client.post("/people.realm/key", content=body, headers=headers).status_code == 400
    assert asking.client.post("/people.realm", content=b"{}", headers=headers).status_code == 404


@pytest.mark.parametrize("path", ["/", "/people.realm", PAGE, "/-/files.json", "/-/static/shell.html", "/nothing.json", "/?token=x"])
def test_every_answer_says_how_it_may_be_used(asking, path):
    found = ask(asking, path, token=asking.guard.token)
    policy = found.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "script-src 'self'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
    assert found.headers["x-content-type-options"] == "nosniff" and found.headers["referrer-policy"] == "no-referrer"
    if "static" not in path:
        assert found.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", [
    "/-/static/%2e%2e/server.py", "/-/static/..%2fserver.py", "/-/static/%2e%2e%2f%2e%2e%2fopening.py", "/-/static//etc/passwd",
    "/-/static/%00", "/..%2f..%2fetc%2fpasswd.json", "/%2e%2e/%2e%2e/etc/passwd.json", "/people.realm/../../x.json", "/%ff.json", "/%.json", "/people.realm/%ff",
])  # fmt: skip
def test_tricks_with_paths(asking, path):
    found = ask(asking, path, token=asking.guard.token)
    assert found.status_code in (400, 404) and "import" not in found.text and "root:" not in found.text


def test_what_a_query_says_is_data(asking):
    for where in ("name == '<script>'", "</script>", "\u2028", "\x1b[2J"):
        found = asking.client.get(
            PAGE, params={"where": where},
            headers={"host": f"127.0.0.1:{PORT}", "authorization": f"Bearer {asking.guard.token}"},
        )
        assert found.headers["content-type"] == "application/json" and isinstance(json.loads(found.text), dict)


# ------------------------------------------------------------------------------------------------
# Other machines
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def opened(path, monkeypatch):
    """A Browser that listens to other machines."""
    from crealm.browse import guard

    monkeypatch.setattr(guard, "_ATTEMPT", 0.01)
    with crealm.open(path, schema=[PERSON]) as db, db.write():
        db["Person"].create(1, name=SECRET)
    with Asking(path) as made:
        made.guard = guard.Guard(made.browser.app, PORT, ["my-machine"], password="open sesame", any_number=True, is_secure=True)
        made.client.close()
        made.client = TestClient(made.guard, base_url=f"https://my-machine:{PORT}", follow_redirects=False)
        with made.client:
            yield made


def log_in(opened, password, **headers):
    given = {"origin": f"https://my-machine:{PORT}", **headers}
    return opened.client.post("/-/login", data={"password": password}, headers=given)


def test_a_password_becomes_the_cookie(opened):
    page = f"/{opened.browser.files._files.__iter__().__next__()}/class/Person.json"
    first = opened.client.get(page, headers={"accept": "text/html"})
    assert first.status_code == 401 and "<form" in first.text and "<script" not in first.text and SECRET not in first.text
    assert opened.client.get(page).json()["error"]["kind"] == "Refused"
    for wrong in ("", "open", "open sesam", "open sesame ", "OPEN SESAME", "x" * 10_000, "<script>", "é" * 100):
        found = log_in(opened, wrong)
        assert found.status_code == 401 and "set-cookie" not in found.headers and "<script>" not in found.text
    assert log_in(opened, "open sesame", origin="http://evil.example").status_code == 403
    assert opened.client.get(page).status_code == 401
    right = log_in(opened, "open sesame")
    assert right.status_code == 303 and right.headers["location"] == "/"
    assert all(flag in right.headers["set-cookie"] for flag in ("Secure", "HttpOnly", "SameSite=Strict"))
    assert SECRET in opened.client.get(page).text


def test_names_and_numbers_of_the_machine(opened):
    for host, status in (
        (f"my-machine:{PORT}", 401), (f"192.0.2.7:{PORT}", 401), (f"[2001:db8::1]:{PORT}", 401), (f"evil.example:{PORT}", 421), ("192.0.2.7", 421),
        (f"192.0.2.7.evil.example:{PORT}", 421), (f"192.0.2.7:{PORT + 1}", 421), (f"0x7f000001:{PORT}", 421), ("", 421), (f"[::1:{PORT}", 421),
    ):  # fmt: skip
        assert opened.client.get("/-/files.json", headers={"host": host}).status_code == status, host


def test_attempts_of_one_sender_wait_for_each_other(opened):
    from crealm.browse.guard import _Attempts

    made = opened.guard._attempts["testclient"] = _Attempts()
    made.count = 20
    assert log_in(opened, "open sesame").status_code == 429
    opened.guard._attempts = {"203.0.113.7": made}
    assert log_in(opened, "open sesame").status_code == 303 and set(opened.guard._attempts) == {"203.0.113.7"}
    opened.guard._attempts = {str(number): made for number in range(50)}
    assert log_in(opened, "open sesame").status_code == 429


def test_senders_are_told_apart_by_what_they_cannot_choose():
    from crealm.browse.guard import _network

    same = [("2001:db8:1:2::1", "2001:db8:1:2:ffff::9"), ("::ffff:192.0.2.1", "192.0.2.1"), ("fe80::1%eth0", "fe80::2%eth1")]
    other = [("2001:db8:1:2::1", "2001:db8:1:3::1"), ("::ffff:192.0.2.1", "::ffff:192.0.2.2"), ("192.0.2.1", "192.0.2.2")]
    assert all(_network((one, 1)) == _network((two, 2)) for one, two in same) and _network(None) == ""
    assert all(_network((one, 1)) != _network((two, 1)) for one, two in other)


def test_without_a_password_there_is_no_form(asking):
    assert ask(asking, "/-/login").status_code == 401
