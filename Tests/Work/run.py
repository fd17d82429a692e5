#!/usr/bin/env python3
"""Counts the instructions of ten hot workloads and compares them with what they may take.

    run.py LIBRARY.so [--write] [--objects 20000]

The instructions of a workload depend on the code and the data alone, not on the machine's load: callgrind counts them
(work.c has the workloads). limits.txt has, for each workload, the instructions that an operation took when the list was
written. More than a tenth above fails; more than a tenth below is printed, so that the limit follows. --write makes the
list anew. Without valgrind, or on another processor, nothing is counted, and the program prints so.
Prints a line for each workload, then 'N passed, M failed'."""

import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIMITS = HERE / "limits.txt"
ALLOWED = 1.10
HEAD = (
    "# Instructions for an operation, as callgrind counts them on x86-64."
    " Tests/Work/run.py LIBRARY.so --write makes this list.\n"
)


def measure(library, objects):
    """Instructions for an operation, by workload."""
    with tempfile.TemporaryDirectory(prefix="work-") as name:
        folder = pathlib.Path(name)
        # valgrind cannot read the debug information of the Swift compiler.
        build = folder / "library"
        build.mkdir()
        subprocess.run(["strip", "-o", build / "libCRealm.so", library], check=True)
        soname = re.search(
            r"SONAME.*\[(.*)\]", subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
        )
        (build / soname.group(1)).symlink_to("libCRealm.so")
        command = [
            "cc",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            f"-I{ROOT / 'include'}",
            HERE / "work.c",
            "-o",
            folder / "work",
        ]
        subprocess.run([*command, f"-L{build}", "-lCRealm", f"-Wl,-rpath,{build}"], check=True)
        out = folder / "counts"
        counted = [
            "valgrind",
            "--tool=callgrind",
            "--instr-atstart=no",
            f"--callgrind-out-file={out}",
            folder / "work",
            folder,
            str(objects),
        ]
        done = subprocess.run(counted, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"the program ended with {done.returncode}\n{done.stdout}{done.stderr[-2000:]}")
        instructions = {}
        for file in folder.glob("counts.*"):
            text = file.read_text()
            trigger = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
            totals = re.search(r"^totals: (\d+)", text, re.M)
            if trigger and totals:
                instructions[trigger.group(1)] = int(totals.group(1))
        result = {}
        for line in done.stdout.splitlines():
            workload, operations = line.split("\t")
            result[workload] = instructions[workload] / int(operations)
        return result


def judge(found, limits, silent=False):
    """Prints a line for each workload; how many failed."""
    failed = 0
    for name in sorted(limits.keys() | found.keys()):
        count, limit = found.get(name), limits.get(name)
        if count is None or limit is None:
            text = f"{name}: {'not counted' if count is None else 'not in limits.txt'}"
            is_fine = False
        else:
            text = f"{name}: {count:.1f} instructions, {count / limit - 1:+.1%}"
            is_fine = count <= limit * ALLOWED
            if count * ALLOWED < limit:
                text += "  (lower the limit: --write)"
        failed += not is_fine
        if not silent:
            print(f"  {'ok   ' if is_fine else 'FAIL '} {text}")
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--objects", type=int, default=20000)
    options = parser.parse_args()
    if (
        not shutil.which("valgrind")
        or not pathlib.Path("/usr/include/valgrind/callgrind.h").exists()
        or platform.machine() != "x86_64"
    ):
        print("skipped: valgrind is not there, or this is another processor")
        print("0 passed, 0 failed")
        return 0
    found = measure(options.library, options.objects)
    if options.write:
        LIMITS.write_text(HEAD + "".join(f"{name}: {count:.2f}\n" for name, count in found.items()))
    limits = {}
    for line in LIMITS.read_text().splitlines():
        if not line.startswith("#"):
            name, count = line.rsplit(": ", 1)
            limits[name] = float(count)
    # A workload that takes a fifth more, one that is not counted, and one without a limit must fail.
    planted = {name: count * 1.2 for name, count in limits.items()}
    if (
        judge(planted, limits, silent=True) != len(limits)
        or judge({}, limits, silent=True) != len(limits)
        or judge({"new": 1.0}, {}, silent=True) != 1
    ):
        print("  FAIL  the check does not find planted faults")
        return 1
    failed = judge(found, limits)
    print(f"{len(limits) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
