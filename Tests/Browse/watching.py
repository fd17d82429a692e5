"""How long pages need to show what programs write, and how much processor time that takes: twenty pages of a web client watch a file into which two
programs commit. It prints, over all pages and commits, how long after a commit a page showed its value or a later one, and fails where a page shows
anything else than what was written, goes back to an older value, or does not show the last ones in the end. The web client draws all pages on the
processors that the programs run on; `control` pages that only set one text for each event tell what it needs for that alone.

    python Tests/Browse/watching.py [pages] [commits of each program] [seconds between two of them]
    python Tests/Browse/watching.py control [pages] [events] [seconds between two of them]
"""

import http.server
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
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
CONTROL = b"""<!doctype html><title>control</title><body><p id="text">nothing</p><script>
new EventSource("/events").onmessage = (event) => { document.getElementById("text").textContent = event.data; };
</script>"""
NAMES = {"one": "2", "two": "3"}
PATIENCE = 300_000  # Milliseconds until the last values must be there: a machine may have other things to do, and how long it took is printed.


# ------------------------------------------------------------------------------------------------
# Processor time
# ------------------------------------------------------------------------------------------------


def processor(server):
    """Seconds of processor time so far: of the server, and of the processes of the web client by their kinds."""
    found, tick = Counter(), os.sysconf("SC_CLK_TCK")
    parents, facts = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            fields = (place / "stat").read_text().rpartition(")")[2].split()
            parents[int(place.name)], facts[int(place.name)] = int(fields[1]), (sum(map(int, fields[11:13])) / tick, (place / "cmdline").read_bytes())
        except OSError:
            continue  # It ended meanwhile.
    for process, (seconds, command) in facts.items():
        if process == server:
            found["server"] += seconds
        elif b"chrom" in command.partition(b"\0")[0].lower() and _is_below(process, os.getpid(), parents):
            kind = re.search(rb"--type=([a-z-]+)", command)
            found["web client: " + (kind[1].decode() if kind else "main")] += seconds
    return found


def _is_below(process, ancestor, parents):
    while process in parents and process != ancestor:
        process = parents[process]
    return process == ancestor


class Work:
    """What pages are busy with, by what the web client says of each."""

    KINDS = {"ScriptDuration": "script", "RecalcStyleDuration": "style", "LayoutDuration": "layout", "TaskDuration": "all tasks"}

    def __init__(self, context, pages):
        self._sessions = [context.new_cdp_session(page) for page in pages]
        for session in self._sessions:
            session.send("Performance.enable")

    def sums(self):
        """Seconds so far, of all pages together."""
        found = Counter()
        for session in self._sessions:
            for one in session.send("Performance.getMetrics")["metrics"]:
                if one["name"] in self.KINDS:
                    found["page: " + self.KINDS[one["name"]]] += one["value"]
        return found


def told(used, times):
    """Milliseconds of processor time for each page and change."""
    parts = {kind: 1000 * seconds / times for kind, seconds in used.items()}
    parts["web client"] = sum(value for kind, value in parts.items() if kind.startswith("web client"))
    return ", ".join(f"{kind} {value:.1f}" for kind, value in sorted(parts.items()))


# ------------------------------------------------------------------------------------------------
# Pages of the Browser
# ------------------------------------------------------------------------------------------------


def delays(seen, written):
    """Of one page: for each commit how long it took until its value, or a later one, was shown."""
    for name, moments in written.items():
        shown = [(at, number) for at, who, number in seen if who == name]
        assert [number for _, number in shown] == sorted({number for _, number in shown}), f"a page went back: {shown}"
        assert shown and shown[-1][1] == len(moments) - 1, f"a page does not show the last value of {name}"
        for number, moment in enumerate(moments):
            yield max(0.0, next(at for at, later in shown if later >= number) - moment)


def launched(started):
    return started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if os.geteuid() == 0 else [])


def watched(folder, pages, commits, pause):
    """The delays of all pages and commits, in seconds, and the processor time that was used."""
    path = Path(folder) / "watched.realm"
    samples.town(path, 200)
    server = Server(path)
    with sync_playwright() as started:
        browser = launched(started)
        context = browser.new_context()
        opened = [context.new_page() for _ in range(pages)]
        opened[0].goto(server.url)
        for page in opened:
            page.goto(server.base + "/watched.realm/class/Person?sort=id+asc")
            page.wait_for_selector(".row", timeout=PATIENCE)
            page.evaluate(OBSERVER)
        opened[0].wait_for_timeout(2000)
        work = Work(context, opened)
        before, writers = processor(server.process.pid) + work.sums(), {}
        for name, key in NAMES.items():
            command = [sys.executable, "-c", WRITER, str(path), name, key, str(commits), str(pause)]
            writers[name] = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        written = {name: [float(line) for line in writer.communicate(timeout=600)[0].split()] for name, writer in writers.items()}
        for page in opened:
            page.get_by_text(f"one {commits - 1};").or_(page.get_by_text(f"two {commits - 1};")).nth(1).wait_for(timeout=PATIENCE)
        used = processor(server.process.pid) + work.sums()
        used.subtract(before)
        found = [delay for page in opened for delay in delays(page.evaluate("window.seen"), written)]
        browser.close()
    server.close()
    with crealm.open(path, mode="snapshot") as db:
        assert [db["Person"].get(int(key)).name for key in NAMES.values()] == [f"{name} {commits - 1};" for name in NAMES] and not db.verify()
    return sorted(found), used


def main(pages=20, commits=30, pause=1):
    before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        found, used = watched(folder, int(pages), int(commits), float(pause))
    late = sum(delay > 1 for delay in found)
    print(f"{pages} pages, 2 programs with {commits} commits each, {pause} s apart: {len(found):,} pairs of a page and a commit, all right")
    shares = ", ".join(f"{share:.0%} {found[int(share * (len(found) - 1))]:.2f}" for share in (0.5, 0.9, 0.99, 1))
    print(f"seconds until a page showed it: {shares}; {late:,} later than a second")
    print(f"milliseconds of processor time for each: {told(used, len(found))}")
    print(f"load of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after, {os.cpu_count()} processors")


# ------------------------------------------------------------------------------------------------
# Pages that do next to nothing
# ------------------------------------------------------------------------------------------------


class Events(http.server.BaseHTTPRequestHandler):
    """A page, and events for it: as many as there are, at the moments when they are due."""

    count, pause, begin = 0, 1.0, threading.Event()

    def do_GET(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream" if self.path == "/events" else "text/html")
        self.end_headers()
        if self.path != "/events":
            self.wfile.write(CONTROL)
            return
        self.begin.wait()
        for number in range(self.count):
            self.wfile.write(f"data: event {number};\n\n".encode())
            time.sleep(self.pause)

    def log_message(self, *_):
        pass


def control(pages=20, events=30, pause=0.5):
    """Each page asks another address of this machine: a web client has six connections for one."""
    Events.count, Events.pause = int(events), float(pause)
    server = http.server.ThreadingHTTPServer(("0.0.0.0", 0), Events)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with sync_playwright() as started:
        browser = launched(started)
        context = browser.new_context()
        opened = [context.new_page() for _ in range(int(pages))]
        for number, page in enumerate(opened, 1):
            page.goto(f"http://127.0.0.{number}:{server.server_port}/")
        opened[0].wait_for_timeout(2000)
        work = Work(context, opened)
        before = processor(None) + work.sums()
        Events.begin.set()
        for page in opened:
            page.get_by_text(f"event {Events.count - 1};").wait_for(timeout=PATIENCE)
        used = processor(None) + work.sums()
        used.subtract(before)
        browser.close()
    server.shutdown()
    print(f"control: {pages} pages that set a text, {events} events for each, {pause} s apart")
    print(f"milliseconds of processor time for each: {told(used, int(pages) * Events.count)}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["control"]:
        control(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
