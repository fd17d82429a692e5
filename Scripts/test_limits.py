#!/usr/bin/env python3
"""Runs the programs of examples/limits, and compares what they print with the text beside each of them. Fails also if a
program has no text, a text has no program, a program leaves a file behind, or README.md there does not list it.

  test_limits.py LIBRARY [PROGRAM]     a program of that folder, or all; CC is the compiler of those in C
"""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PLACE = ROOT / "examples/limits"
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def command(program, library, folder):
    """The command that runs a program; one in C is built first."""
    if program.suffix == ".py":
        return [sys.executable, "-W", "error", program]
    built = folder / program.stem
    compiler = [os.environ.get("CC", "cc"), "-std=gnu11", *WARNINGS, "-I", ROOT / "include"]
    subprocess.run([*compiler, program, "-o", built, library, f"-Wl,-rpath,{library.parent}"], check=True)
    return [built]


def fault_of(program, library, folder):
    """What is wrong with a program; None: nothing."""
    expected = program.with_suffix(".txt")
    if not expected.is_file():
        return f"there is no {expected.name} with the text that it prints"
    temporary = folder / "temporary"
    temporary.mkdir()
    here = {"CREALM_LIBRARY": str(library), "PYTHONPATH": str(ROOT / "bindings/python"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        run = command(program, library, folder)
    except subprocess.CalledProcessError as error:  # The compiler has said why.
        return f"{error.cmd[0]} ended with status {error.returncode}"
    environment = {**os.environ, **here, "TMPDIR": str(temporary)}
    done = subprocess.run(run, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode != 0 or done.stderr or done.stdout != expected.read_text(encoding="utf-8"):
        return f"status {done.returncode}, printed\n{done.stdout}{done.stderr}"
    left = [path.name for path in temporary.iterdir()]
    return f"it left {', '.join(left)}" if left else None


def run(library, place=PLACE, only=None):
    """The numbers of programs without and with a fault; prints the faults."""
    programs = sorted(path for path in place.iterdir() if path.suffix in (".py", ".c"))
    readme = (place / "README.md").read_text(encoding="utf-8")
    names = {program.stem for program in programs}
    faults = {text.name: "no program prints it" for text in place.glob("*.txt") if text.stem not in names}
    passed = 0
    for program in programs:
        if only not in (None, program.name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            fault = fault_of(program, library, pathlib.Path(folder))
        if fault is None and f"]({program.name})" not in readme:
            fault = "README.md does not list it"
        if fault is None:
            passed += 1
        else:
            faults[program.name] = fault
    for name, fault in faults.items():
        print(f"  FAIL  examples/limits/{name}: {fault}")
    return passed, len(faults)


def main():
    passed, failed = run(pathlib.Path(sys.argv[1]).resolve(), only=(sys.argv[2:] or [None])[0])
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
