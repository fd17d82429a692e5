#!/usr/bin/env python3
"""Checks that the layers which call the operating system compile for other systems: docs/porting.md says what that
proves and what it does not.

The other system's Swift standard library is built from the interface texts of this toolchain; its C library comes from
its own headers where they are installed (Debian: libc6-dev-arm64-cross with linux-libc-dev-arm64-cross, musl-dev), else
from Tests/Porting. With --all the whole engine is type-checked for 64-bit ARM.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / ".build/porting"
PORTING = ROOT / "Tests/Porting"
SOURCES = ROOT / "Sources"
CLANG_TARGET = {"arm64-apple-macosx15.0": "arm64-apple-macos15"}
C_FILES = sorted((SOURCES / "CGuards").glob("*.c"))
HOST_INCLUDE = pathlib.Path("/usr/include")
HEADERS = """assert ctype dirent errno fcntl inttypes limits math poll pthread signal stdio stdlib string sys/mman sys/resource sys/stat sys/statvfs
    sys/syscall sys/types sys/file sys/time time unistd""".split()


class Target:
    def __init__(self, name, triple, module, headers=None, needs=None):
        self.name, self.triple, self.module, self.headers, self.needs = name, triple, module, headers, needs
        info = subprocess.run(["swiftc", "-print-target-info", "-target", triple], capture_output=True, text=True, check=True).stdout
        self.platform = re.search(r'"platform": "(.*)"', info)[1]
        self.module_triple = re.search(r'"moduleTriple": "(.*)"', info)[1]
        self.folder = OUT / triple

    def missing(self):
        return None if self.headers is None or self.headers.exists() else self.needs


TARGETS = [
    Target("Linux on 64-bit ARM", "aarch64-unknown-linux-gnu", "Glibc", pathlib.Path("/usr/aarch64-linux-gnu/include"),
           "libc6-dev-arm64-cross and linux-libc-dev-arm64-cross are not installed"),
    Target("Musl", "x86_64-swift-linux-musl", "Musl", pathlib.Path("/usr/include/x86_64-linux-musl"), "musl-dev is not installed"),
    Target("Apple", "arm64-apple-macosx15.0", "Darwin"),
    Target("Android", "aarch64-unknown-linux-android28", "Android"),
]


def toolchain():
    info = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True).stdout
    resources = pathlib.Path(re.search(r'"runtimeResourcePath": "(.*)"', info)[1])
    return resources, re.search(r'"moduleTriple": "(.*)"', info)[1]


def interface(text, target):
    """The text of an interface, for another target. Only the declarations are kept."""
    text = re.sub(r"-target \S+", f"-target {target.triple}", text, count=1)
    text = text.replace("swift-module-flags: ", "swift-module-flags: -experimental-skip-all-function-bodies ", 1).replace(" -O ", " -Onone ", 1)
    text = text.replace(" -library-level api", "", 1)
    # Declarations for older systems need bodies, which interfaces lack; two functions for Float80 exist on x86-64 only.
    text = re.sub(r"@backDeployed\([^)]*\)", "", text)
    return re.sub(r"^.*\b_stdlib_(remainder|squareRoot)l\(.*$", "()", text, flags=re.M).replace("Glibc", target.module)


def prepare(target, resources, host):
    """A folder of resources and one of system headers, laid out as in a toolchain and an SDK for the target."""
    shutil.rmtree(target.folder, ignore_errors=True)
    modules = target.folder / "resources" / target.platform
    modules.mkdir(parents=True)
    for name in "shims", "clang", "apinotes":
        (target.folder / "resources" / name).symlink_to(resources / name)
    for name in "Swift", "SwiftOnoneSupport", "_Builtin_float", "_Concurrency", "Synchronization":
        text = (resources / "linux" / f"{name}.swiftmodule" / f"{host}.private.swiftinterface").read_text()
        (modules / f"{name}.swiftmodule").mkdir()
        (modules / f"{name}.swiftmodule" / f"{target.module_triple}.swiftinterface").write_text(interface(text, target))
    overlay = (PORTING / "overlay.swiftinterface").read_text().replace("@TRIPLE@", target.triple).replace("@MODULE@", target.module)
    (modules / f"{target.module}.swiftmodule").mkdir()
    (modules / f"{target.module}.swiftmodule" / f"{target.module_triple}.swiftinterface").write_text(overlay)
    prepare_headers(target, resources)


def prepare_headers(target, resources):
    include = target.folder / "sdk/usr/include"
    module = target.folder / "modules"
    include.parent.mkdir(parents=True)
    module.mkdir()
    include.mkdir()
    header = PORTING / target.module / "sdk.h"
    if target.headers:
        for file in target.headers.iterdir():
            # Some headers of Musl only redirect to the right ones.
            if "redirecting incorrect" not in (file.read_text(errors="replace")[:60] if file.is_file() else ""):
                (include / file.name).symlink_to(file)
        header = next((resources / "linux").glob("*/SwiftGlibc.h"))
    else:
        for name in HEADERS:
            (include / f"{name}.h").parent.mkdir(exist_ok=True)
            (include / f"{name}.h").write_text("#pragma once\n#include <sdk.h>\n")
        (include / "sdk.h").write_text(f'#include "{header}"\n')
    # The kernel's headers are the same for every C library.
    for name in "linux", "asm", "asm-generic":
        place = next((p for p in (HOST_INCLUDE / name, *HOST_INCLUDE.glob(f"*-linux-gnu/{name}")) if p.exists()), None)
        if place and "linux" in target.triple and not (include / name).exists():
            (include / name).symlink_to(place)
    (module / "module.modulemap").write_text(
        f'module Swift{target.module} [system] {{ header "{header}" export * }}\n'
        f'module CGuards {{ umbrella "{SOURCES / "CGuards/include"}" export * }}\n')


def swift_command(target, files):
    return [
        "swiftc", "-frontend", "-typecheck", *map(str, files), "-module-name", "CoreEngine", "-package-name", "crealm", "-swift-version", "6",
        "-parse-as-library", "-disable-objc-interop", "-target", target.triple, "-resource-dir", str(target.folder / "resources"),
        "-sdk", str(target.folder / "sdk"), "-module-cache-path", str(OUT / "cache"), "-disable-implicit-string-processing-module-import",
        "-I", str(SOURCES / "CHints"), "-I", str(SOURCES / "CSodium"), "-I", str(SOURCES / "COpenSSL"), "-I", str(ROOT / "include"),
        "-I", str(target.folder / "modules"), "-Xcc", f"-I{PORTING}", "-Xcc", "-D_GNU_SOURCE"]


def cipher_headers():
    """libsodium's and OpenSSL's headers, which are the same for every processor, apart from the headers of this machine's C library."""
    folders = [OUT / "ciphers", OUT / "ciphers-own"]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    places = {"sodium": HOST_INCLUDE, "sodium.h": HOST_INCLUDE, "openssl": HOST_INCLUDE}
    for name, place in places.items():
        if not (folders[0] / name).exists():
            (folders[0] / name).symlink_to(place / name)
    own = next(HOST_INCLUDE.glob("*-linux-gnu/openssl"), None)
    if own and not (folders[1] / "openssl").exists():
        (folders[1] / "openssl").symlink_to(own)
    return [part for folder in folders for part in ("-Xcc", f"-I{folder}")]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout + done.stderr)
    return done.returncode == 0


def check(target, resources, host):
    prepare(target, resources, host)
    engine = SOURCES / "CoreEngine"
    clang = ["clang", "-c", "-O1", "-Wall", "-Werror", "-Wno-nullability-completeness",
             f"--target={CLANG_TARGET.get(target.triple, target.triple)}",
             f"--sysroot={target.folder / 'sdk'}", "-isystem", str(target.folder / "sdk/usr/include"),
             f"-I{SOURCES / 'CGuards/include'}", f"-I{PORTING}"]
    probe = target.folder / "hints.c"
    probe.write_text(f'#define _GNU_SOURCE\n#include "{SOURCES / "CHints/hints.h"}"\nvoid use(void) {{ hint_zero_vector_registers(); }}\n')
    good = True
    for file in [*C_FILES, probe]:
        good = run([*clang, "-Wno-unused-function", str(file), "-o", str(target.folder / (file.stem + ".o"))]) and good
    files = [*sorted((engine / "Platform").glob("*.swift")), *sorted((engine / "Basics").rglob("*.swift"))]
    return run([*swift_command(target, files), "-disable-implicit-concurrency-module-import"]) and good


def main():
    resources, host = toolchain()
    if not (resources / "linux/Swift.swiftmodule" / f"{host}.private.swiftinterface").exists():
        print("skipped: other systems (this toolchain has no text of the standard library's interface)")
        return 0
    OUT.mkdir(parents=True, exist_ok=True)
    failed = 0
    for target in TARGETS:
        if missing := target.missing():
            print(f"skipped: {target.name} ({missing})")
            continue
        good = check(target, resources, host)
        if good and "--all" in sys.argv and target.module == "Glibc":
            good = run([*swift_command(target, sorted((SOURCES / "CoreEngine").rglob("*.swift"))), *cipher_headers()])
        print(f"{target.name} ({target.triple}): {'good' if good else 'FAILED'}", flush=True)
        failed += not good
    return 1 if failed else 0


if __name__ == "__main__":
    os.chdir(ROOT)
    sys.exit(main())
