#!/usr/bin/env python3
"""Checks that the compiler refuses, in the Swift files of Tests/Swift/Refused, the lines that end with "// refused",
and no other line.

    check_refusals.py [BUILD]        with the modules of a build (.build/debug)
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAPS = ["include", "Sources/CHints", "Sources/CSodium", "Sources/COpenSSL"]


def flags(build: Path) -> list[str]:
    maps = [ROOT / folder / "module.modulemap" for folder in MAPS] + [build / "CGuards.build" / "module.modulemap"]
    return ["-swift-version", "6", "-I", str(build / "Modules")] + [f for m in maps for f in ("-Xcc", f"-fmodule-map-file={m}")]


def refused(file: Path, build: Path) -> set[int]:
    """The lines in which the compiler finds an error. Isolation is checked after the types, so the file is compiled,
    with the output to /dev/null."""
    result = subprocess.run(["swiftc", "-c", "-o", "/dev/null", *flags(build), str(file)], capture_output=True, text=True, check=False)
    return {int(line) for line in re.findall(rf"^{re.escape(str(file))}:(\d+):\d+: error:", result.stderr, re.MULTILINE)}


def main() -> int:
    build = (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".build" / "debug").resolve()
    if not (build / "Modules" / "CoreEngine.swiftmodule").exists():
        sys.exit(f"no build of the engine in {build}: make debug")
    files = sorted((ROOT / "Tests" / "Swift" / "Refused").glob("*.swift"))
    failed = 0
    for file in files:
        wanted = {i for i, line in enumerate(file.read_text().splitlines(), 1) if line.endswith("// refused")}
        found = refused(file, build)
        if found == wanted and wanted:
            print(f"  ok    {file.name}: {len(wanted)} lines are refused")
            continue
        failed += 1
        print(f"  FAIL  {file.name}: allowed but must not be: {sorted(wanted - found)}; refused but must not be: {sorted(found - wanted)}")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
