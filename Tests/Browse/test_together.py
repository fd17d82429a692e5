"""Pages that others disturb: programs that write while many watch, other machines, pages of other sites that try."""

import http.server
import os
import subprocess
import sys
import threading
import time

import crealm
import pytest
import samples
from conftest import ROOT, Server

WRITER = """
import crealm, sys, time
with crealm.open(sys.argv[1]) as db:
    for number in range(20):
        with db.write():
            db["Pet"].create(crealm.ObjectId(), name=f"{sys.argv[2]} {number}", kind="cat")
        time.sleep(0.02)
    with db.write():
        db["Person"].get(int(sys.argv[3])).name = f"Done {sys.argv[2]}"
"""


def test_two_programs_write_while_twenty_pages_watch(walk, tmp_path):
    """Each page shows in the end what both wrote, of which nothing is lost, and both come to their end while it does. How long the last page took after
    the last commit is printed."""
    path = tmp_path / "watched.realm"
    samples.town(path, 30)
    with crealm.open(path, mode="snapshot") as db:
        before = len(db["Pet"])
    at = walk(path)
    pages = [at.page, *(at.page.context.new_page() for _ in range(19))]
    for page in pages:
        page.goto(at.server.base + "/watched.realm/class/Person?sort=id+asc")
        page.wait_for_selector(".row")
    at.page.wait_for_timeout(1000)  # The first look is made before anything is written.
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name, key]) for name, key in (("one", "2"), ("two", "3"))]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    began = time.monotonic()
    for page in pages:
        page.get_by_text("Done one").first.wait_for()
        page.get_by_text("Done two").first.wait_for()
        page.locator("#side .entry", has_text="Pet").filter(has_text=str(before + 40)).first.wait_for()
    print(f"twenty pages showed both after {time.monotonic() - began:.2f} s")
    with crealm.open(path, mode="snapshot") as db:
        assert len(db["Pet"]) == before + 40 and not db.verify()


def test_a_password_is_asked_for(client, tmp_path):
    path = tmp_path / "town.realm"
    samples.town(path, 10)
    secret = tmp_path / "secret"
    secret.write_text("open sesame\n")
    process = subprocess.Popen(
        [sys.executable, "-m", "crealm", "browse", "--no-open", "--host", "0.0.0.0", "--password-file", str(secret), str(path)],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")})  # fmt: skip
    context = client.new_context()
    try:
        address = process.stdout.readline().split("/?")[0].replace("0.0.0.0", "127.0.0.1")
        page = context.new_page()
        page.goto(address + "/town.realm")
        page.fill("#password", "open says me")
        page.click("button")
        page.wait_for_selector("text=This is not the password.")
        page.fill("#password", "open sesame")
        page.click("button")
        page.wait_for_selector("#side .entry")
        assert "Person" in page.inner_text("#side")
    finally:
        context.close()
        process.terminate()
        process.wait(10)
        process.stdout.close()


class Evil(http.server.BaseHTTPRequestHandler):
    """A page of another site, on this machine: the worst case, as its cookies are those of the same host."""

    def do_GET(self):
        body = b"<!doctype html><title>evil</title><body>"
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ATTACK = """async ([base, token]) => {
  const tries = [], body = JSON.stringify({ changes: [{ do: "delete", class: "Person", key: 0 }] });
  const attempt = async (name, make) => tries.push([name, await make().then((answer) => answer.type === "opaque" ? "opaque" : answer.text(), () => "refused")]);
  for (const mode of ["cors", "no-cors"]) for (const credentials of ["include", "omit"]) {
    await attempt(`get ${mode}`, () => fetch(base + "/town.realm/class/Person.json", { mode, credentials }));
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      await attempt(`post ${mode} ${type}`, () => fetch(base + "/town.realm/edit", { method: "POST", mode, credentials, headers: { "content-type": type }, body }));
    }
  }
  await attempt("beacon", async () => new Response(String(navigator.sendBeacon(base + "/town.realm/undo", new Blob([body], { type: "text/plain" })))));
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: base + "/town.realm/compact", target: "hidden", enctype: "text/plain" });
  const frame = Object.assign(document.createElement("iframe"), { name: "hidden", src: base + "/town.realm" });
  document.body.append(frame, form);
  form.submit();
  const script = Object.assign(document.createElement("script"), { src: base + "/town.realm/class/Person.json" });
  const image = Object.assign(new Image(), { src: base + "/town.realm/class/Person/0/photo?raw=1&inline=1" });
  document.body.append(script, image);
  const events = await new Promise((done) => {
    const source = new EventSource(base + "/town.realm/events", { withCredentials: true });
    source.onopen = () => done("open"); source.onerror = () => { source.close(); done("refused"); };
  });
  const socket = await new Promise((done) => {
    const made = new WebSocket(base.replace("http", "ws") + "/town.realm/events");
    made.onopen = () => done("open"); made.onerror = () => done("refused");
  });
  await new Promise((done) => setTimeout(done, 1000));
  return { tries, events, socket, image: image.naturalWidth };
}"""


def test_a_page_of_another_site_gets_and_changes_nothing(client, tmp_path):
    """Another port of the same host, so that even the cookie goes along; the page has the person's Browser open beside it."""
    path = tmp_path / "town.realm"
    samples.town(path, 10)
    evil = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=evil.serve_forever, daemon=True).start()
    server = Server(path, options=("--edit",))
    context = client.new_context()
    try:
        own = context.new_page()
        own.goto(server.url)
        own.wait_for_selector("#side .entry")
        before = path.read_bytes()
        for host in ("127.0.0.1", "localhost"):
            page = context.new_page()
            page.goto(f"http://{host}:{evil.server_port}/")
            found = page.evaluate(ATTACK, [server.base, ""])
            assert all(text in ("refused", "opaque") for name, text in found["tries"] if name != "beacon"), found
            assert (found["events"], found["socket"], found["image"]) == ("refused", "refused", 0)
        assert path.read_bytes() == before
        own.goto(server.base + "/town.realm/class/Person")
        own.wait_for_selector(".row")
        assert own.inner_text(".total") == "10 objects"
    finally:
        context.close()
        server.close()
        evil.shutdown()
        evil.server_close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("way", ["snapshot", "shared"])
def test_what_is_shown_goes_away(walk, tmp_path, way):
    """An object, its class and the file go while a page shows them, and while a form is open."""
    path = tmp_path / "town.realm"
    samples.town(path, 10)
    at = walk(path, options=("--edit", "--way", way))
    at.expected.append("status of (404|409|400)|no Person 3|deleted meanwhile|no class")
    at.go("/town.realm/class/Person/3")
    at.page.click(".property:has(dt bdi:text-is('name')) .edit")
    at.page.fill("form.change textarea", "mine")
    with crealm.open(path) as db, db.write():
        db["Person"].get(3).delete()
    at.page.click("form.change button.main")
    at.until("document.querySelector('form.change .fault')?.textContent.includes('deleted meanwhile')")
    assert at.page.input_value("form.change textarea") == "mine"  # What was typed is not lost.
    at.page.click("form.change >> text=Cancel")
    at.go("/town.realm/class/Person/3")
    assert "no Person 3" in at.text(".problem")
