"""A web client without a window, and the Browser on files, for journeys through its pages. What it needs: playwright (from PyPI) and a Chromium
(CHROMIUM names it; else the one of the system). Pictures are kept in .build/browse."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings/python"))
sys.path.insert(0, str(Path(__file__).parent))

import samples  # noqa: E402

PICTURES = ROOT / ".build/browse"
FIXTURES = Path(subprocess.run([ROOT / "Scripts/fixtures.sh"], capture_output=True, text=True, check=True).stdout.strip())
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CROWD = int(os.environ.get("BROWSE_CROWD", "1000000"))


def pytest_configure(config):
    PICTURES.mkdir(parents=True, exist_ok=True)


class Server:
    """`crealm browse` on some files."""

    def __init__(self, *files, options=()):
        command = [sys.executable, "-m", "crealm", "browse", "--no-open", *options, *map(str, files)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")})
        self.url = self.process.stdout.readline().strip()
        assert self.url.startswith("http://127.0.0.1:"), self.url
        self.base = self.url.split("/?")[0]

    def close(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


class Walk:
    """One page of the web client that knows the server, and what must not happen on it."""

    def __init__(self, context, server, name):
        self.server, self.name, self.complaints, self.foreign = server, name, [], []
        self.expected = []  # Patterns of complaints that belong to the journey.
        self.page = context.new_page()
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type in ("error", "warning") else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: None if request.url.startswith(server.base + "/") else self.foreign.append(request.url))
        self.page.add_init_script("window.hit = () => { document.title = 'hit'; throw new Error('executed'); }")
        self.go("/", server.url)

    def go(self, path, url=None):
        self.page.goto(url or self.server.base + path)
        self.page.wait_for_load_state("networkidle")

    def picture(self, name):
        self.page.screenshot(path=PICTURES / f"{name}.png")

    def until(self, expression, argument=None, seconds=15):
        """Waits until an expression is true. The client's own way of waiting is refused by the policy of the page."""
        end = time.monotonic() + seconds
        while not self.page.evaluate(expression, argument):
            assert time.monotonic() < end, f"still not: {expression}"
            self.page.wait_for_timeout(30)

    def text(self, selector):
        return self.page.locator(selector).first.inner_text()

    def end(self):
        left = [one for one in self.complaints if not any(re.search(pattern, one) for pattern in self.expected)]
        assert left == [] and self.foreign == []
        assert self.page.title() != "hit"
        self.page.close()


@pytest.fixture(scope="session")
def client():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not there")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    samples.town(folder / "town.realm")
    samples.hostile(folder / "hostile.realm")
    for path in (*FIXTURES.glob("ops/*.realm"), *FIXTURES.glob("ops/*.key"), *FIXTURES.glob("sdk/*.realm"), *FIXTURES.glob("sdk/*.key")):
        shutil.copy(path, folder / path.name)
    return folder


@pytest.fixture(scope="session")
def servers():
    """Servers by their files, each started once."""
    started = {}

    def server(*paths, options=()):
        key = (paths, tuple(options))
        if key not in started:
            started[key] = Server(*paths, options=options)
        return started[key]

    yield server
    for one in started.values():
        one.close()


@pytest.fixture
def walk(client, servers, request):
    """walk(file, …) opens a page on files; at the end nothing may have gone wrong on it."""
    contexts, walks = [], []

    def begin(*paths, options=(), **settings):
        context = client.new_context(**{"viewport": {"width": 1280, "height": 800}, **settings})
        contexts.append(context)
        walks.append(Walk(context, servers(*paths, options=options), request.node.name))
        return walks[-1]

    yield begin
    try:
        for one in walks:
            one.end()
    finally:
        for context in contexts:
            context.close()
