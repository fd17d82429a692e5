#!/usr/bin/env python3
"""Runs the steps of a job of .github/workflows/ci.yml on this machine, or prints them.

    ci_steps.py JOB [--print] [--from STEP]

Only steps with `run:` are run; the step "Tools", which installs packages in a container, is only printed. Stops at the
first step that fails. The workflow is read without a YAML package: each step is a line `- name: …` and a line `run:
…`."""

import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def steps(job):
    """Name and command of each step."""
    text = (ROOT / ".github/workflows/ci.yml").read_text()
    found = re.search(rf"^  {re.escape(job)}:\n((?:    .*\n|\n)+)", text, re.M)
    if not found:
        sys.exit(f"no job {job}")
    return re.findall(r"- name: (.+)\n\s+run: (.+)", found.group(1))


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    all_steps = steps(sys.argv[1])
    first = sys.argv[sys.argv.index("--from") + 1] if "--from" in sys.argv else all_steps[0][0]
    for name, command in all_steps[[name for name, _ in all_steps].index(first) :]:
        print(f"{name}: {command}", flush=True)
        if "--print" in sys.argv or name == "Tools":
            continue
        start = time.monotonic()
        if subprocess.run(["bash", "-euo", "pipefail", "-c", command], cwd=ROOT).returncode:
            print(f"  FAIL  {name}")
            return 1
        print(f"  ok    {name}: {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
