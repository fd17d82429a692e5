#!/usr/bin/env python3
"""The pictures of docs/python/browser.md and the README, of a file made for them.

    .build/venv/bin/python Scripts/browser_pictures.py      what it needs, Scripts/test-browse.sh installs
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from urllib.parse import urlencode

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bindings/python"), str(ROOT / "Tests/Browse")]
import samples  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

COLUMNS = ["id", "name", "born", "height", "friends", "address"]
WHERE = "active == true AND address.city IN {'Oslo', 'Lisboa', 'Kyoto'}"
TABLE = "/town.realm/class/Person?" + urlencode({"where": WHERE, "sort": "born desc", "column": COLUMNS}, doseq=True)
PICTURES = {
    "browser-table": ("light", TABLE, "document.querySelectorAll('.grid-head .values')[3].click()"),
    "browser-schema": ("dark", "/town.realm/schema", None),
}


def main():
    folder = ROOT / "docs/python/pictures"
    folder.mkdir(exist_ok=True)
    client = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as started:
        file = pathlib.Path(place) / "town.realm"
        samples.town(file)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}
        server = subprocess.Popen([sys.executable, "-m", "crealm", "browse", "--no-open", file], stdout=subprocess.PIPE, text=True, env=environment)
        address = server.stdout.readline().strip()
        browser = started.chromium.launch(executable_path=client, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        for name, (scheme, path, script) in PICTURES.items():
            page = browser.new_context(viewport={"width": 1180, "height": 640}, color_scheme=scheme).new_page()
            page.goto(address)
            page.goto(address.split("/?")[0] + path)
            page.wait_for_load_state("networkidle")
            if script:
                page.evaluate(script)
                page.wait_for_selector(".facet .value")
                page.evaluate("document.activeElement.blur()")
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"{name}.png")
        browser.close()
        server.terminate()
        server.wait()
    print(*(f"{file.relative_to(ROOT)} {file.stat().st_size:,} bytes" for file in sorted(folder.iterdir())), sep="\n")


if __name__ == "__main__":
    main()
