#!/usr/bin/env python3
"""Tests the macros of bindings/swift-macros: the errors they report and their places, and that the code they generate
runs.

    check_macros.py [BUILD]        with the modules and objects of a build of RealmSwift (.build/debug)
"""
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from check_refusals import ROOT, flags

PACKAGE = ROOT / "bindings/swift-macros"
MODULES = ["CoreEngine", "CGuards", "CoreEngineAsync", "CoreEngineFoundation", "RealmSwift"]
LIBRARIES = "SwiftSyntax SwiftSyntaxMacros SwiftSyntaxMacroExpansion SwiftDiagnostics SwiftParser SwiftCompilerPluginMessageHandling".split()


def compile(*arguments: str) -> str:
    result = subprocess.run(["swiftc", *arguments], capture_output=True, text=True, check=False)
    return "" if result.returncode == 0 else result.stdout + result.stderr or "swiftc failed"


def sources(target: str) -> list[str]:
    return [str(f) for f in sorted((PACKAGE / "Sources" / target).glob("*.swift"))]


def plugin(host: Path, folder: Path) -> str:
    libraries = ["-L", str(host), *(f"-l{name}" for name in LIBRARIES), "-Xlinker", "-rpath", "-Xlinker", str(host)]
    return compile("-swift-version", "6", "-parse-as-library", "-module-name", "RealmMacroPlugin", "-I", str(host), *libraries,
                   "-o", str(folder / "plugin"), *sources("RealmMacroPlugin"))


def refused(file: Path, arguments: list[str]) -> str:
    """The differences between the errors that the file's comments announce and those that the macros report."""
    found = compile("-typecheck", *arguments, str(file))
    # The compiler repeats a macro's error at the place of its expansion.
    errors = {(int(line), text) for line, text in re.findall(rf"^{re.escape(str(file))}:(\d+):\d+: error: (.*)$", found, re.MULTILINE)}
    # A comment on a separate line announces the errors of the line below it.
    wanted = {
        i + line.strip().startswith("// refused: "): line.split("// refused: ")[1]
        for i, line in enumerate(file.read_text().splitlines(), 1)
        if "// refused: " in line
    }
    missing = [f"line {i}: no '{text}'" for i, text in wanted.items() if not any(line == i and text in error for line, error in errors)]
    other = [f"line {line}: {error}" for line, error in sorted(errors) if line not in wanted]
    return "\n".join(missing + other) or ("" if wanted else "nothing is announced")


def run(source: Path, arguments: list[str], objects: list[str], folder: Path) -> str:
    """Compiles a program and runs it. Returns its output, or the errors."""
    main = folder / "main.swift"
    shutil.copy(source, main)
    if wrong := compile("-o", str(folder / "program"), *arguments, str(main), *objects, "-lsodium", "-lcrypto"):
        return wrong
    done = subprocess.run([str(folder / "program")], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    return done.stdout + done.stderr


def main() -> int:
    build = (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".build" / "debug").resolve()
    host = Path(shutil.which("swiftc") or "/").resolve().parent.parent / "lib/swift/host"
    if not (host / "SwiftCompilerPluginMessageHandling.swiftmodule").exists():
        print("skipped: macros (this toolchain has no swift-syntax)")
        return 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = [*flags(build), "-I", name, "-load-plugin-executable", f"{folder / 'plugin'}#RealmMacroPlugin"]
        objects = [str(o) for m in MODULES for o in sorted((build / f"{m}.build").glob("*.o")) if any((ROOT / "Sources" / m).rglob(o.stem))]
        wrong = plugin(host, folder) or compile(
            "-emit-module", "-emit-object", "-whole-module-optimization", "-parse-as-library", "-module-name", "RealmMacros", *arguments,
            "-o", str(folder / "RealmMacros.o"), "-emit-module-path", str(folder / "RealmMacros.swiftmodule"), *sources("RealmMacros"))
        if wrong:
            print(wrong)
            return 1
        objects.append(str(folder / "RealmMacros.o"))
        example = PACKAGE / "Sources/snapshots-example/main.swift"
        answers = {
            "what is refused": (refused(PACKAGE / "Tests/refused.swift", arguments), ""),
            "what is expanded": (run(PACKAGE / "Tests/expanded.swift", arguments, objects, folder), "passed\n"),
            "a circle": (
                run(PACKAGE / "Tests/circle.swift", arguments, objects, folder),
                "1\nMore than 100 snapshots inside of each other: do their objects link in a circle?\n"),
            "the example": (run(example, arguments, objects, folder), "Ana: Rex, 3\nBo: \n"),
        }
    for part, (answer, wanted) in answers.items():
        print(f"  ok    {part}" if answer == wanted else f"  FAIL  {part}:\n{answer}")
    failed = sum(answer != wanted for answer, wanted in answers.values())
    print(f"{len(answers) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
