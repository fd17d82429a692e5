#!/usr/bin/env python3
"""Tests the examples of the articles in CoreEngine.docc: all blocks of an article together are one program, which must
compile without a warning and run.

    check_swift_articles.py [BUILD]        with the modules and objects of a build (.build/debug)
"""
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check_refusals import ROOT, flags

MODULES = ["CoreEngine", "CGuards", "CoreEngineAsync", "CoreEngineFoundation"]
IMPORTS = "import CoreEngineAsync\nimport CoreEngineFoundation\nimport Foundation\n"


def run(article: Path, build: Path) -> str | None:
    """What is wrong with the program of an article; None: it ran."""
    blocks = re.findall(r"^```swift\n(.*?)^```", article.read_text(), re.MULTILINE | re.DOTALL)
    if not blocks:
        return "no examples"
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder) / "main.swift", Path(folder) / "program"
        source.write_text(IMPORTS + "".join(blocks).replace("import CoreEngine\n", ""))
        # A build folder keeps the objects of deleted source files.
        objects = [str(o) for m in MODULES for o in sorted((build / f"{m}.build").glob("*.o")) if any((ROOT / "Sources" / m).rglob(o.stem))]
        command = ["swiftc", "-o", str(program), "-warnings-as-errors", *flags(build), str(source), *objects, "-lsodium", "-lcrypto"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            return made.stderr[:3000]
        ran = subprocess.run([str(program)], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
        return ran.stderr[:3000] or f"it ends with {ran.returncode}" if ran.returncode else None


def main() -> int:
    build = (Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / ".build" / "debug").resolve()
    articles = sorted((ROOT / "Sources" / "CoreEngine" / "CoreEngine.docc").glob("*.md"))
    failed = 0
    for article in articles:
        wrong = run(article, build)
        failed += wrong is not None
        print(f"  ok    {article.name}" if wrong is None else f"  FAIL  {article.name}: {wrong}")
    print(f"{len(articles) - failed} passed, {failed} failed")
    return 1 if failed or not articles else 0


if __name__ == "__main__":
    sys.exit(main())
