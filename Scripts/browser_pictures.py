#!/usr/bin/env python3
"""Makes the pictures of docs/python/browser.md and the README, from a sample file that it creates.

    .build/venv/bin/python Scripts/browser_pictures.py      Scripts/test-browse.sh installs its requirements
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
import crealm  # noqa: E402
import samples  # noqa: E402
from playwright.sync_api import sync_playwright  # noqa: E402

COLUMNS = ["id", "name", "born", "height", "friends", "address"]
WHERE = "active == true AND address.city IN {'Oslo', 'Lisboa', 'Kyoto'}"
TABLE = "/town.realm/class/Person?" + urlencode({"where": WHERE, "sort": "born desc", "column": COLUMNS}, doseq=True)


def with_values(page, file):
    page.evaluate("document.querySelectorAll('.grid-head .values')[3].click()")
    page.wait_for_selector(".facet .value")
    page.evaluate("document.activeElement.blur()")


def with_conflict(page, file):
    """An edit form whose object another program changes first."""
    page.click(".property:has(dt bdi:text-is('name')) .edit")
    page.fill("form.change textarea", "Ann Dahl-Moreau")
    with crealm.open(file) as db, db.write():
        db["Person"].get(12).name = "Ann D. Moreau"
    page.click("form.change button.main")
    page.wait_for_selector(".conflict")


PICTURES = {
    "browser-table": ("light", TABLE, with_values), "browser-schema": ("dark", "/town.realm/schema", None),
    "browser-edit": ("light", "/town.realm/class/Person/12", with_conflict)}  # fmt: skip


def main():
    folder = ROOT / "docs/python/pictures"
    folder.mkdir(exist_ok=True)
    client = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    with tempfile.TemporaryDirectory() as place, sync_playwright() as started:
        file = pathlib.Path(place) / "town.realm"
        samples.town(file)
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "bindings/python")}
        browser = started.chromium.launch(executable_path=client, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        for name, (scheme, path, prepare) in PICTURES.items():
            options = ["--edit"] if prepare is with_conflict else []
            command = [sys.executable, "-m", "crealm", "browse", *options, "--no-open", file]
            server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
            address = server.stdout.readline().strip()
            page = browser.new_context(viewport={"width": 1180, "height": 640}, color_scheme=scheme).new_page()
            page.goto(address)
            page.goto(address.split("/?")[0] + path)
            page.wait_for_load_state("networkidle")
            if prepare:
                prepare(page, file)
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"{name}.png")
            page.close()
            server.terminate()
            server.wait()
        browser.close()
    print(*(f"{file.relative_to(ROOT)} {file.stat().st_size:,} bytes" for file in sorted(folder.iterdir())), sep="\n")


if __name__ == "__main__":
    main()
