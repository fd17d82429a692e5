"""Random calls of all public functions, in a separate process; see `fuzz`. CREALM_FUZZ_CALLS sets their number."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import crealm

CALLS = int(os.environ.get("CREALM_FUZZ_CALLS", "3000"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="without fork there is no fuzz")
@pytest.mark.parametrize("seed", [1, 2])
def test_random_calls(tmp_path, seed):
    program = Path(__file__).with_name("fuzz.py")
    environment = {**os.environ, "PYTHONPATH": str(Path(crealm.__file__).parents[1])}
    command = [sys.executable, "-X", "faulthandler", str(program), str(tmp_path), "--calls", str(CALLS), "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=max(600, CALLS // 20))
    assert done.returncode == 0, f"{done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    counts = json.loads(done.stdout)
    assert counts["calls"] >= CALLS
    # Forks are the rarest action: a short run may have none.
    usual = ("returned", "commits", "rollbacks", "signals", "threads", "checks") + (("forks",) if CALLS >= 20_000 else ())
    assert min(counts.get(name, 0) for name in usual) > 0
