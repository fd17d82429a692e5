#!/usr/bin/env python3
"""Builds and runs the three programs of the README, one after the other in one folder, and compares their output with
the README. Then runs those of `make demo`, each of which must find the data that the earlier ones wrote, and those of
examples/limits.

  test_readme.py BUILD        the folder of a build that has the library: .build/release or .build/debug
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import test_limits

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = re.compile(r"<!-- program: (\w+) -->\n```\w+\n(.*?)```\n```text\n(.*?)```", re.S)


def c(source, folder, build):
    """Builds the program and returns the command that runs it."""
    (folder / "first.c").write_text(source)
    subprocess.run([os.environ.get("CC", "cc"), "-Wall", "-Wextra", "-Werror", "-I", ROOT / "include", "first.c", "-o", "first_c",
                    f"-L{build}", "-lCRealm", f"-Wl,-rpath,{build}"], cwd=folder, check=True)
    return ["./first_c"]


def python(source, folder, build):
    (folder / "first.py").write_text(source)
    return [sys.executable, "first.py"]


def compile_swift(source, program, build):
    """Compiles with the modules and object files of the build: a separate package would compile the whole engine
    again."""
    maps = [ROOT / "include", build / "CGuards.build", *(ROOT / "Sources" / name for name in ("CHints", "CSodium", "COpenSSL"))]
    clang = [f"-fmodule-map-file={folder}/module.modulemap" for folder in maps] + [f"-I{ROOT}/Sources/CGuards/include"]
    files = json.loads((build / "CoreEngine.build/output-file-map.json").read_text())
    objects = [entry["object"] for entry in files.values() if os.path.exists(entry.get("object", ""))]
    subprocess.run(["swiftc", source, "-I", build / "Modules", *(word for flag in clang for word in ("-Xcc", flag)),
                    *objects, *(build / "CGuards.build").glob("*.o"), "-lsodium", "-lcrypto", "-o", program], check=True)


def swift(source, folder, build):
    (folder / "main.swift").write_text(source)
    compile_swift(folder / "main.swift", folder / "first_swift", build)
    return ["./first_swift"]


def demo(folder, build):
    """Whether each program of examples/ succeeds and prints the expected text."""
    file, examples, passed = folder / "demo.realm", ROOT / "examples", 0
    steps = {
        "c": (lambda: c((examples / "c/people.c").read_text(), folder, build), "Bert"),
        "python": (lambda: [sys.executable, examples / "python/people.py"], "5 people"),
        "swift": (lambda: swift((examples / "swift/Sources/people/main.swift").read_text(), folder, build), "5 objects of class Person"),
    }
    for language, (make, sign) in steps.items():
        try:
            done = subprocess.run([*make(), file], cwd=folder, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:  # The compiler has said why.
            print(f"  FAIL  demo, {language}: {error.cmd[0]} ended with status {error.returncode}")
            continue
        if done.returncode == 0 and sign in done.stdout:
            passed += 1
        else:
            print(f"  FAIL  demo, {language}: status {done.returncode}, printed\n{done.stdout}{done.stderr}")
    return passed, len(steps) - passed


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = ROOT / ".build/out/readme"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.environ |= {"CREALM_LIBRARY": str(build / "libCRealm.so"), "PYTHONPATH": str(ROOT / "bindings/python"), "PYTHONDONTWRITEBYTECODE": "1"}
    programs = PROGRAM.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    passed = failed = 0
    for (language, source, expected), make in zip(programs, (c, python, swift), strict=True):
        assert language == make.__name__, f"the README has {language} where {make.__name__} is expected"
        try:
            done = subprocess.run(make(source, folder, build), cwd=folder, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:  # The compiler has said why.
            failed += 1
            print(f"  FAIL  {language}: {error.cmd[0]} ended with status {error.returncode}")
            continue
        if done.returncode == 0 and done.stdout == expected:
            passed += 1
        else:
            failed += 1
            print(f"  FAIL  {language}: status {done.returncode}, printed\n{done.stdout}{done.stderr}")
    for counts in (demo(folder, build), test_limits.run(build / "libCRealm.so")):
        passed, failed = passed + counts[0], failed + counts[1]
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
