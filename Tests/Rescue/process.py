"""Calls of the library in a separate process."""

import json
import os
import pathlib
import resource
import select
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
TIME_LIMIT = 120  # Seconds after which a call counts as stuck.


class Worker:
    """Salvages files in a separate process, so that a crash or an endless loop is a result like any other."""

    def __init__(self, library):
        self.environment = {**os.environ, "CREALM_LIBRARY": library, "PYTHONPATH": str(HERE.parent.parent / "bindings/python")}
        self.process = None

    def call(self, *words):
        """(report, error), both texts; one is None."""
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                [sys.executable, str(HERE / "worker.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=self.environment)
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], TIME_LIMIT)[0]:
            self.process.kill()
            self.process.wait()
            return None, "no end"
        line = self.process.stdout.readline()
        if not line:
            return None, f"the process died: {self.process.wait()}"
        answer = json.loads(line)
        return answer.get("report"), answer.get("error")

    def close(self):
        """The peak memory of the process, in bytes."""
        if self.process is None:
            return 0
        self.process.stdin.close()
        self.process.wait()
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
