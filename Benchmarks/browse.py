#!/usr/bin/env python3
"""Measures the Browser on a large file: the time from the command to the first rows, for scrolling to any place, and
for sorting, and the server's memory.

    browse.py [N]        objects of the file (1,000,000). Use the release library, on an otherwise idle machine.
"""

import http.client
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "bindings/python"), str(ROOT / "Tests/Browse")]
import samples  # noqa: E402

CACHE = tempfile.TemporaryDirectory()
GOALS = {"first rows": 300, "scrolling": 100, "memory": 150}  # Milliseconds, and MB.


class Server:
    """A server that was just started, and a connection that stays open."""

    def __init__(self, file, *options):
        self.began = time.perf_counter()
        # As when installed: with compiled modules.
        environment = {
            **os.environ, "PYTHONPATH": str(ROOT / "bindings/python"), "PYTHONPYCACHEPREFIX": str(CACHE.name), "PYTHONDONTWRITEBYTECODE": "",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "crealm", "browse", "--no-open", *options, str(file)], stdout=subprocess.PIPE, text=True, env=environment)
        address, self.token = self.process.stdout.readline().strip().split("/?token=")
        self.connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=600)

    def ask(self, path):
        self.connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        answer = self.connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content[:300]
        return json.loads(content)

    def timed(self, path):
        start = time.perf_counter()
        found = self.ask(path)
        return 1000 * (time.perf_counter() - start), found

    def memory(self):
        """MB of the server's private memory: without pages of the file, which the operating system can reclaim."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon"))) / 1000

    def close(self):
        self.process.terminate()
        self.process.wait()


def first_rows(file, way):
    """Milliseconds from the command to the first rows."""
    server = Server(file, "--way", way)
    try:
        server.ask("/crowd.realm.json")
        server.ask("/crowd.realm/class/Reading.json?count=100")
        return 1000 * (time.perf_counter() - server.began)
    finally:
        server.close()


def scrolling(server, count, options=""):
    """Milliseconds for pages at random places."""
    numbers = random.Random(3)
    path = "/crowd.realm/class/Reading.json?count=100&from={}" + options
    server.ask(path.format(0))
    return [server.timed(path.format(numbers.randrange(count)))[0] for _ in range(200)]


def line(name, value, unit, goal=None):
    print(f"{name:<46}{value:>9.1f} {unit}" + ("" if goal is None else f"   goal {goal} {unit}"))


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "crowd.realm"
        samples.crowd(file, count)
        print(f"{count:,} objects, {file.stat().st_size / 1e6:,.0f} MB, Python {sys.version.split()[0]}")
        for way in ("snapshot", "shared", "immutable"):
            line(f"command to first rows, {way}", statistics.median(first_rows(file, way) for _ in range(5)), "ms", GOALS["first rows"])
        server = Server(file, "--way", "shared")
        try:
            times = scrolling(server, count)
            line("scrolling to any place, median", statistics.median(times), "ms", GOALS["scrolling"])
            line("scrolling to any place, longest", max(times), "ms", GOALS["scrolling"])
            line("sort by a number, first page", server.timed("/crowd.realm/class/Reading.json?sort=value+asc&count=100")[0], "ms")
            times = scrolling(server, count, "&sort=value+asc")
            line("scrolling in it, longest", max(times), "ms", GOALS["scrolling"])
            line("values of a text, with counts", server.timed("/crowd.realm/facets/Reading/sensor.json")[0], "ms")
            line("memory of the server", server.memory(), "MB", GOALS["memory"])
        finally:
            server.close()


if __name__ == "__main__":
    main()
