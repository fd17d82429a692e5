#!/usr/bin/env python3
"""Links the release library once more, with libsodium and libcrypto inside, so that it needs only libraries that every
Linux has, and strips it.

    static_library.py OUT

Runs `swift build -c release` and uses its objects and link command. Prints in one line what is missing.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MANIFEST = ROOT / ".build/release.yaml"
ARCHIVES = {"libsodium.a": "libsodium-dev", "libcrypto.a": "libssl-dev"}
# The libraries needed beside libc and the loader; manylinux allows all of them.
EXPECTED = {"libm.so.6", "libc.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def needed(text: str) -> None:
    sys.exit(f"needed: {text}")


def archives(folder: pathlib.Path) -> None:
    """Puts links to the archives into a folder that has no shared libraries of the same names."""
    for name, package in ARCHIVES.items():
        found = subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
        if not os.path.isabs(found):
            needed(f"{name} (Debian: {package})")
        (folder / name).symlink_to(os.path.realpath(found))


def link_command(out: pathlib.Path, folder: pathlib.Path) -> list[str]:
    """The build's link command, with another output path and other library folders."""
    for line in MANIFEST.read_text().splitlines():
        _, found, args = line.partition("    args: ")
        if found and "-emit-library" in args and "libCRealm.so" in args:
            args = json.loads(args)
            args[args.index("-o") + 1] = str(out)
            return [args[0], f"-L{folder}", *args[1:]]
    return needed("the link command of the library in .build/release.yaml, which this version of Swift does not leave")


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for tool, what in {"swift": "a Swift toolchain, 6.2 or later, on the PATH", "cc": "a C compiler", "strip": "strip (binutils)"}.items():
        if not shutil.which(tool):
            needed(what)
    os.chdir(ROOT)
    subprocess.run(["Scripts/build.sh", "release"], check=True)
    out = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        archives(folder)
        linked = folder / "libCRealm.so"
        subprocess.run(link_command(linked, folder), check=True)
        out.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([str(ROOT / "Scripts/strip.sh"), str(linked), str(out)], check=True)
    dynamic = subprocess.run(["readelf", "-d", str(out)], capture_output=True, text=True, check=True).stdout
    wanted = {line.split("[")[1].rstrip("]") for line in dynamic.splitlines() if "(NEEDED)" in line}
    if wanted - EXPECTED:
        sys.exit(f"{out} needs libraries that not every system has: {', '.join(sorted(wanted - EXPECTED))}")
    print(f"{out}: {out.stat().st_size} bytes, needs {', '.join(sorted(wanted))}")


if __name__ == "__main__":
    main()
