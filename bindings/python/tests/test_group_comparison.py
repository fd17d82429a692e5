"""Random groups, compared with a second calculation in plain Python. Tests/Query/groups.py takes any number of seeds,
and compares with DuckDB, too, where it is installed."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[3]


def test_random_groups():
    command = [sys.executable, str(REPOSITORY / "Tests" / "Query" / "groups.py"), "--seeds", "0-12"]
    paths = os.pathsep.join([str(REPOSITORY / "bindings" / "python"), os.environ.get("PYTHONPATH", "")])
    found = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}, timeout=300)
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-3000:]
    compared = int(found.stdout.split(" compared with the model")[0].split()[-1])
    assert compared > 700
