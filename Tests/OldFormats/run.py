#!/usr/bin/env python3
"""Files of formats 2 to 9, read in place and upgraded, against an independent reader.

    run.py LIBRARY [--seeds 1-40] [--files FOLDER] [--reference LIBRARY] [--keep DIR] [--jobs N]

Each seed is a random file of make_old.py. Tests/Tools/realm_old_dump.py says what it holds; the library must show the same in place, without a
change of any byte beside or in the file, find it sound, and show the same after the upgrade, whose result both checkers take. --files: the same
for the files of a folder, with NAME.key where there is one. --reference: another library that reads the upgraded file. Prints 'N passed, M failed'."""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = HERE.parent / "Tools"
sys.path.insert(0, str(HERE))
import make_old  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("library", type=pathlib.Path)
parser.add_argument("--seeds", default="1-40")
parser.add_argument("--files", type=pathlib.Path)
parser.add_argument("--reference", type=pathlib.Path)
parser.add_argument("--keep", type=pathlib.Path, help="files that failed are put there")
parser.add_argument("--jobs", type=int, default=2)
options = parser.parse_args()


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", timeout=600)
    return done.stdout if done.returncode == 0 else f"status {done.returncode}: {done.stderr[-300:]}{done.stdout[-300:]}"


def tool(name):
    program = work / name
    subprocess.run(["cc", "-O1", "-w", f"-I{HERE.parents[1] / 'include'}", TOOLS / f"{name}.c", "-ldl", "-o", program], check=True)
    return program


def without_list_indexes(text):
    """Elements of lists could have an index in formats 8 and 9. No property of today has one."""
    return re.sub(r'(\["[^"]*",\d+,[1-9]\d*,"[^"]*",)(\d+)\]', lambda m: f"{m[1]}{int(m[2]) & ~4}]", text)


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return f"at {at}: {a[max(0, at - 60):at + 60]!r} is not {b[max(0, at - 60):at + 60]!r}"


def examine(name, source, key):
    """None, or what is wrong."""
    folder = work / f"f-{name}"
    folder.mkdir()
    try:
        path = folder / "old.realm"
        shutil.copyfile(source, path)
        before = path.read_bytes()
        more = ["--key", key] if key else []
        expected = without_list_indexes(run(sys.executable, TOOLS / "realm_old_dump.py", *more, path))
        shown = run(dump, options.library, path, *more, "--readonly")
        if shown != expected:
            return "in place, " + first_difference(shown, expected)
        if path.read_bytes() != before or [p.name for p in folder.iterdir()] != ["old.realm"]:
            return f"something was written: {[p.name for p in folder.iterdir()]}"
        shown = run(dump, options.library, path, *more)
        if shown != expected:
            return "upgraded, " + first_difference(shown, expected)
        backup = [p for p in folder.iterdir() if p.name.startswith("old.v")]
        if len(backup) != 1 or backup[0].read_bytes() != before:
            return f"no backup, or another one: {backup}"
        for checker in ["realm_storage_check.py"] + ([] if key else ["realm_data_check.py"]):
            told = run(sys.executable, TOOLS / checker, *([] if key else ["--check"] if "data" in checker else []), *more, path)
            if told.startswith("status"):
                return f"{checker}: {told}"
        if options.reference:
            (folder / "old.realm.lock").unlink(missing_ok=True)
            shown = run(dump, options.reference, path, *more)
            if shown != expected:
                return "the reference, " + first_difference(shown, expected)
        return None
    finally:
        shutil.rmtree(folder)


def seed_of(number):
    source = work / f"s{number}.realm"
    source.write_bytes(make_old.make(number))
    try:
        wrong = examine(f"s{number}", source, None)
        if wrong and options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, options.keep / source.name)
        return f"seed {number}", wrong
    finally:
        source.unlink()


def file_of(source):
    key = source.with_suffix(".key")
    return source.name, examine(source.stem, source, key if key.exists() else None)


with tempfile.TemporaryDirectory(prefix="old-", dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None) as folder:
    work = pathlib.Path(folder)
    dump = tool("dump")
    first, _, last = options.seeds.partition("-")
    work_list = [(seed_of, n) for n in range(int(first), int(last or first) + 1)]
    if options.files:
        work_list = [(file_of, f) for f in sorted(options.files.glob("*.realm"))]
    passed = failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name, wrong in pool.map(lambda w: w[0](w[1]), work_list):
            if wrong:
                failed += 1
                print(f"FAIL  {name}: {wrong}")
            else:
                passed += 1
print(f"{passed} passed, {failed} failed")
sys.exit(failed != 0 or passed == 0)
