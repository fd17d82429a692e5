"""How long pages need to show what programs write: twenty pages of a web client watch a file into which two programs commit. It prints, over all
pages and commits, how long after a commit a page showed its value or a later one, and fails where a page shows anything else than what was written, goes
back to an older value, or never shows the last ones. The web client draws all pages on the processors that the programs run on.

    python Tests/Browse/watching.py [pages] [commits of each program] [seconds between two of them]
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import samples
from conftest import CHROMIUM, Server
from playwright.sync_api import sync_playwright

import crealm

WRITER = """
import crealm, sys, time
path, name, key, count, pause = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
with crealm.open(path) as db:
    for number in range(count):
        with db.write():
            db["Person"].get(key).name = f"{name} {number};"
        print(time.time(), flush=True)
        time.sleep(pause)
"""
OBSERVER = """() => {
  window.seen = [];
  const last = {};
  const look = () => {
    for (const [, name, number] of document.querySelector(".grid, main").textContent.matchAll(/(one|two) (\\d+);/g)) {
      if (last[name] !== number) window.seen.push([Date.now() / 1000, name, Number(last[name] = number)]);
    }
  };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });
}"""
NAMES = {"one": "2", "two": "3"}


def delays(seen, written):
    """Of one page: for each commit how long it took until its value, or a later one, was shown."""
    for name, moments in written.items():
        shown = [(at, number) for at, who, number in seen if who == name]
        assert [number for _, number in shown] == sorted({number for _, number in shown}), f"a page went back: {shown}"
        assert shown and shown[-1][1] == len(moments) - 1, f"a page does not show the last value of {name}"
        for number, moment in enumerate(moments):
            yield max(0.0, next(at for at, later in shown if later >= number) - moment)


def watched(folder, pages, commits, pause):
    """The delays of all pages and commits, in seconds."""
    path = Path(folder) / "watched.realm"
    samples.town(path, 200)
    server = Server(path)
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])
        context = browser.new_context()
        opened = [context.new_page() for _ in range(pages)]
        opened[0].goto(server.url)
        for page in opened:
            page.goto(server.base + "/watched.realm/class/Person?sort=id+asc")
            page.wait_for_selector(".row")
            page.evaluate(OBSERVER)
        opened[0].wait_for_timeout(2000)
        writers = {}
        for name, key in NAMES.items():
            command = [sys.executable, "-c", WRITER, str(path), name, key, str(commits), str(pause)]
            writers[name] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        written = {name: [float(line) for line in writer.communicate(timeout=600)[0].split()] for name, writer in writers.items()}
        for page in opened:
            page.get_by_text(f"one {commits - 1};").or_(page.get_by_text(f"two {commits - 1};")).nth(1).wait_for()
        found = [delay for page in opened for delay in delays(page.evaluate("window.seen"), written)]
        browser.close()
    server.close()
    with crealm.open(path, mode="snapshot") as db:
        assert [db["Person"].get(int(key)).name for key in NAMES.values()] == [f"{name} {commits - 1};" for name in NAMES] and not db.verify()
    return sorted(found)


def main(pages=20, commits=30, pause=1):
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found = watched(folder, int(pages), int(commits), float(pause))
    late = sum(delay > 1 for delay in found)
    print(f"{pages} pages, 2 programs with {commits} commits each, {pause} s apart: {len(found):,} pairs of a page and a commit, all right")
    shares = ", ".join(f"{share:.0%} {found[int(share * (len(found) - 1))]:.2f}" for share in (0.5, 0.9, 0.99, 1))
    print(f"seconds until a page showed it: {shares}; {late:,} later than a second")
    print(f"load of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after, {os.cpu_count()} processors")


if __name__ == "__main__":
    main(*sys.argv[1:])
