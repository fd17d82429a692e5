#!/usr/bin/env python3
"""Runs all tests, as many parts at the same time as the machine has processors (or TEST_JOBS).

    run-tests.py [--only BEGINNING | --parts BEGINNING]

--only runs the parts whose names begin with BEGINNING; --parts prints their names. The output of a part is printed when it has ended; the run fails
if a part fails."""

import os
import pathlib
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = ".build/release/libCRealm.so"
PYTHON = str(ROOT / ".build/venv/bin/python") if (ROOT / ".build/venv/bin/python").exists() else "python3"


def option(name, default):
    return os.environ.get(name, default)


def found(*command):
    return subprocess.run(command, capture_output=True).returncode == 0


def python_tests(first, last):
    """The test files of the Python package whose names begin with a letter of this range."""
    files = sorted(str(file.relative_to(ROOT)) for file in ROOT.glob("bindings/python/tests/test_*.py"))
    return [file for file in files if first <= pathlib.Path(file).name[len("test_")] <= last]


def all_parts(fixtures):
    """Name and command of each part: the long ones first, so that at the end no processor waits for a long one."""
    emitted = next((str(p) for p in sorted(ROOT.glob(".build/**/CRealm-Swift.h")) if "release" in str(p)), "")
    version = next(line.split(":=")[1].strip() for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("VERSION :="))
    parts = {
        # The layers are measured from the index that the debug build of the engine's tests writes.
        "engine, its layers, and structure": [
            "sh", "-c",
            "swift test --quiet && Scripts/layers --check && Scripts/tidy.sh && Scripts/check_refusals.py && Scripts/check_swift_articles.py"
            " && Scripts/check_macros.py"],
        "Python (files a to d)": [PYTHON, "-m", "pytest", "-q", *python_tests("a", "d")],
        "Python (files e to z)": [PYTHON, "-m", "pytest", "-q", *python_tests("e", "z")],
        "C programs": ["Scripts/run-c-tests.sh"],
        "simulated machines (short)": ["Tests/Simulation/run.sh", LIBRARY],
        "synchronisation (short)": ["Tests/Sync/run.sh", LIBRARY],
        "mutated files (short)": ["env", f"KEEP_LIBRARY={LIBRARY}", "Tests/Fuzz/run.sh", fixtures, option("FUZZ_COUNT", "600"), "7000000"],
        "shared nodes (short)": [PYTHON, "Tests/Fuzz/shared.py", LIBRARY, option("SHARED_COUNT", "150"), "1",
                                 "--also", "5880,8766,9094,9478,10589"],
        "checks beside the independent checkers (short)": [PYTHON, "Tests/Fuzz/checkers.py", LIBRARY, fixtures, option("CHECKERS_COUNT", "120"), "1"],
        "encrypted files (short)": ["Scripts/run-encryption-tests.sh"],
        "files of other engines": ["Scripts/run-fixture-tests.sh"],
        "monkey (short)": [PYTHON, "Tests/Monkey/run.py", LIBRARY, "--seeds", option("MONKEY_SEEDS", "1-300"), "--check-every", "3"],
        "histories against a model": [PYTHON, "Tests/Model/run.py", LIBRARY, "--nested", "--seeds", option("MODEL_SEEDS", "1-30")],
        "rules and savepoints against a model (short)": [PYTHON, "Tests/Rules/run.py", LIBRARY, "--seeds", option("RULE_SEEDS", "1-80")],
        "files of formats 2 to 9 (short)": [PYTHON, "Tests/OldFormats/run.py", LIBRARY, "--seeds", option("OLD_SEEDS", "1-60")],
        "schemas and migrations (short)": [
            PYTHON, "Tests/Schema/run.py", LIBRARY, "--seeds", option("SCHEMA_SEEDS", "1-300"), "--seconds", "12"],
        "queries against a slow evaluator (short)": [
            PYTHON, "Tests/Query/slow_run.py", LIBRARY, "--count", "1500", "--own", "1", "--objects", "150", "--refreshes", "5"],
        "change callbacks (short)": [PYTHON, "Tests/Notifications/run.py", "--library", LIBRARY, "--seeds", "6"],
        "living processes (short)": [PYTHON, "Tests/Live/run.py", ".build/release", "--seconds", option("LIVE_SECONDS", "6")],
        "killed writers (short)": [
            PYTHON, "Tests/Crash/run.py", LIBRARY, "--seconds", option("CRASH_SECONDS", "6"), "--kills", "6"],
        "killed writers under several names (short)": ["Tests/Crash/storm.sh", LIBRARY, "15"],
        "salvage of damaged files (short)": [PYTHON, "Tests/Rescue/salvage.py", LIBRARY, "--count", option("SALVAGE_COUNT", "100")],
        "deleted objects (short)": [PYTHON, "Tests/Rescue/deleted.py", LIBRARY, "--count", "10"],
        "installed": ["Scripts/test-install.sh", LIBRARY, version],
        "programs of the README, of make demo, and of examples/limits": [PYTHON, "Scripts/test_readme.py", ".build/release"],
        "documents of the C API": ["Scripts/docs.sh"],
        "the check of the layers itself": [PYTHON, "Scripts/test_layers.py"],
        "other systems, type-checked": [PYTHON, "Scripts/check_ports.py"],
        "the ABI check itself": ["Scripts/test_abi_check.sh"],
        "format of Swift files": ["Scripts/lint.sh"],
        "header against exports": ["Scripts/check-abi.sh", LIBRARY, emitted],
        "machine code of the hot loops": ["Scripts/check_hot_loops.py", LIBRARY],
        "instructions of hot workloads": [PYTHON, "Tests/Work/run.py", LIBRARY],
        "description of the C API, and the code made of it": [
            "sh", "-c", f"{PYTHON} Scripts/api_description.py --check && {PYTHON} Scripts/bindings.py --check"
            f" && {PYTHON} Scripts/bindings_rust.py --check && {PYTHON} Scripts/bindings_jvm.py --check"
            f" && {PYTHON} Scripts/test_api_description.py"],
        "promises of the last release": ["Scripts/abi_releases.py", "check", LIBRARY],
    }
    skipped = []
    if found(PYTHON, "-c", "import cryptography"):
        for cipher in "xchacha", "realm":
            parts[f"killed writers, {cipher} (short)"] = [
                PYTHON, "Tests/Crash/run.py", LIBRARY, "--seconds", option("CRASH_SECONDS", "2"), "--kills", "5", "--cipher", cipher]
        for cipher in "xchacha20", "realm":
            parts[f"salvage of encrypted files, {cipher} (short)"] = [
                PYTHON, "Tests/Rescue/salvage.py", LIBRARY, "--count", "20", "--cipher", cipher]
    else:
        skipped.append("skipped: killed writers of encrypted files (Python's cryptography is not there)")
    if found("Scripts/wheel.sh", "--tools"):
        parts["wheel"] = ["Scripts/test-wheel.sh"]
    else:
        skipped.append("skipped: wheel (build and auditwheel cannot be installed from PyPI)")
    if found("Scripts/node.sh", "--tools"):
        parts["Node"] = ["Scripts/node.sh", "test"]
    else:
        skipped.append("skipped: Node (node 20, or the headers of Node-API, are not there)")
    if found("Scripts/rust.sh", "--tools"):
        parts["Rust"] = ["Scripts/rust.sh", "test"]
    else:
        skipped.append("skipped: Rust (cargo and rustc are not there)")
    if found("Scripts/go.sh", "--tools"):
        parts["Go"] = ["Scripts/go.sh", "test"]
    else:
        skipped.append("skipped: Go (go 1.23 or later is not there)")
    parts["conformance"] = [PYTHON, "Tests/Conformance/run.py"]
    if found("Scripts/jvm.sh", "--tools"):
        parts["JVM"] = ["sh", "-c", "Scripts/jvm.sh test && Scripts/jvm.sh jar"]
    else:
        skipped.append("skipped: JVM (JDK 17 or later is not there)")
    parts["all languages on one file (short)"] = [PYTHON, "Tests/Cross/run.py", "--seconds", option("CROSS_SECONDS", "8")]
    if found("Scripts/need.sh", "sqlite"):
        tests = ["bindings/python/tests/sql", "bindings/python/tests/test_sql.py", "-k", "not (duckdb or copies)"]
        parts["SQLite extension"] = [PYTHON, "-m", "pytest", "-q", *tests]
    else:
        skipped.append("skipped: SQLite extension (sqlite3.h is not there)")
    if found("Scripts/python-docs.sh", "--tools"):
        parts["pages of the Python package"] = ["Scripts/python-docs.sh"]
    else:
        skipped.append("skipped: pages of the Python package (MkDocs Material and mkdocstrings cannot be installed from PyPI)")
    # Builds into .build/debug, as the engine's tests do: SwiftPM makes one of them wait.
    if found("Scripts/swift-docs.sh", "--tools"):
        parts["pages of the Swift API"] = ["Scripts/swift-docs.sh"]
    else:
        skipped.append("skipped: pages of the Swift API (the toolchain has no docc)")
    if not found("sh", "-c", "command -v doxygen"):
        del parts["documents of the C API"]
        skipped.append("skipped: documents of the C API (doxygen is not there)")
    return parts, skipped


def main():
    os.chdir(ROOT)
    place = subprocess.run(["Scripts/fixtures.sh"], capture_output=True, text=True)
    fixtures = os.environ["CREALM_FIXTURES"] = place.stdout.strip()
    parts, skipped = all_parts(fixtures)
    if len(sys.argv) > 2:
        parts = {name: command for name, command in parts.items() if name.lower().startswith(sys.argv[2].lower())}
        skipped = []
        if sys.argv[1] == "--parts":
            print("\n".join(parts))
            return 0
    skipped = [*place.stderr.split("\n"), *skipped]
    waiting, failed, lock = list(parts.items()), [], threading.Lock()

    def work():
        while True:
            with lock:
                if not waiting:
                    return
                name, command = waiting.pop(0)
            start = time.monotonic()
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            with lock:
                print(f"== {name}", flush=True)
                sys.stdout.buffer.write(done.stdout)
                if done.stdout and not done.stdout.endswith(b"\n"):
                    sys.stdout.buffer.write(b"\n")
                if done.returncode != 0:
                    failed.append(name)
                    print(f"== {name} FAILED")
                print(f"== {name}: {time.monotonic() - start:.0f} s", flush=True)

    workers = [threading.Thread(target=work) for _ in range(int(option("TEST_JOBS", os.cpu_count() or 1)))]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    for line in filter(None, skipped):
        print(line)
    print(f"{len(parts) - len(failed)} passed, {len(failed)} failed" + "".join(f"\n  {name}" for name in failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
