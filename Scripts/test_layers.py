#!/usr/bin/env python3
"""Tests that Scripts/layers finds faults: builds a package with layers and another target, with a fault for each rule."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LAYERS = pathlib.Path(__file__).resolve().parent / "layers"
SOUND = {
    # A name in a comment or a string is no use of a layer.
    "CoreEngine/Ground/Ground.swift": "/// May use: nothing.\n/// `Stone.swift` is for: Cellar,\n/// Roof.\nlet words = \"Store and load()\"  // Store()\n",
    "CoreEngine/Ground/Stone.swift": "public struct Stone { let weight = 1 }\n",
    "CoreEngine/Cellar/Cellar.swift":
        "/// May use: Ground.\n/// - `Cellar` may use: Shelf.\n/// - `Shelf` may use: nothing.\npublic struct Store { let stone = Stone(), jar = Jar() }\n",
    "CoreEngine/Cellar/Shelf/Jar.swift": "struct Jar {}\n",
    "CoreEngine/Roof/Roof.swift": "/// May use: Cellar,\n/// Ground.\nfunc load() -> Int { Store().stone.weight }\n",
    "Annex/Annex.swift": "/// May use: Cellar.\nimport CoreEngine\nfunc look() -> Store? { nil }\n",
}


class Site:
    """A package in its own folder, built."""

    def __init__(self, folder, changes=()):
        self.folder = pathlib.Path(folder).resolve()
        for name, text in {**SOUND, **dict(changes)}.items():
            file = self.folder / "Sources" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def build(self):
        for module in "CoreEngine", "Annex":
            sources = sorted(str(p) for p in (self.folder / "Sources" / module).rglob("*.swift"))
            subprocess.run(
                ["swiftc", "-parse-as-library", "-c", "-module-name", module, "-I", str(self.folder), "-emit-module",
                 "-index-store-path", str(self.folder / "index"), *sources], cwd=self.folder, check=True)
        return self

    def ask(self, *options):
        done = subprocess.run(
            [sys.executable, str(LAYERS), *options, "--sources", str(self.folder / "Sources"), "--index", str(self.folder / "index"),
             "--picture", str(self.folder / "layers.svg")], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def with_line(self, file, old, new, *options):
        """The answer with another comment in a file, without a build."""
        file = self.folder / "Sources" / file
        text = file.read_text()
        assert old in text, f"{file} has no '{old}'"
        file.write_text(text.replace(old, new, 1))
        os.utime(file, (0, 0))
        answer = self.ask(*options)
        file.write_text(text)
        os.utime(file, (0, 0))
        return answer


def expect(what, answer, code, *patterns):
    found, text = answer
    assert found == code, f"{what}: ended with {found} and not {code}: {text}"
    for pattern in patterns:
        assert re.search(pattern, text), f"{what}: nothing like '{pattern}' in: {text}"


# A wrong line in the sound package: what is wrong, the file, the line, the wrong one, the fault.
LINES = [
    ("a use that names no type", "CoreEngine/Roof/Roof.swift", "Cellar,\n/// Ground", "Cellar", r"Roof uses Ground, .*not allow: .*Roof.swift:\d .*weight"),
    ("a layer that is not used", "CoreEngine/Cellar/Cellar.swift", "use: Ground", "use: Ground, Roof", "Cellar uses Roof no more"),
    ("layers below a layer, in a word", "CoreEngine/Roof/Roof.swift", "Cellar,\n/// Ground", "Cellar and below", "'Cellar and below', which is no layer"),
    ("no line", "CoreEngine/Cellar/Cellar.swift", "May use: Ground.", "", "Cellar.swift: no line 'May use"),
    ("a layer that is none", "CoreEngine/Roof/Roof.swift", "use: Cellar", "use: Attic, Cellar", "'Attic', which is no layer"),
    ("a circle", "CoreEngine/Ground/Ground.swift", "use: nothing", "use: Cellar", "form a circle: Cellar, Ground"),
    ("a target that uses what its line does not say", "Annex/Annex.swift", "Cellar", "Ground", "Annex uses Cellar, which its line does not allow"),
    ("a target without a line", "Annex/Annex.swift", "May use: Cellar.", "", "Annex.swift: no line 'May use"),
    ("a file that is used elsewhere", "CoreEngine/Ground/Ground.swift", "Cellar,\n/// Roof", "Cellar", "Stone.swift of Ground is used by Roof"),
    ("a file that is not used there", "CoreEngine/Ground/Ground.swift", "for: Cellar", "for: Annex, Cellar", "Stone.swift of Ground is used by Annex no more"),
    ("a file that is not there", "CoreEngine/Ground/Ground.swift", "`Stone.swift`", "`Rock.swift`", "'Rock.swift' is no file"),
    ("a folder that no line allows", "CoreEngine/Cellar/Cellar.swift", "use: Shelf", "use: nothing", "Cellar itself uses Shelf, which its line"),
    ("a folder that is not used", "CoreEngine/Cellar/Cellar.swift", "`Shelf` may use: nothing", "`Shelf` may use: Cellar", "Cellar/Shelf uses Cellar no more"),
    ("a folder that is none", "CoreEngine/Cellar/Cellar.swift", "`Shelf`", "`Board`", "'Board' is no folder"),
]
# A wrong use: what is wrong, the changed files, the fault.
USES = [
    ("a call up", {"CoreEngine/Ground/Stone.swift": SOUND["CoreEngine/Ground/Stone.swift"] + "func build() -> Store? { nil }\n"},
     r"Ground uses Cellar, which its line does not allow: CoreEngine/Ground/Stone.swift:2 Store"),
    ("a wrong use in another target", {"Annex/Annex.swift": SOUND["Annex/Annex.swift"] + "func lift() -> Stone? { nil }\n"},
     r"Annex uses Ground, which its line does not allow: Annex/Annex.swift:4 Stone"),
    ("a wrong use between folders", {"CoreEngine/Cellar/Shelf/Jar.swift": "struct Jar { func owner() -> Store? { nil } }\n"},
     r"Cellar/Shelf uses Cellar, which its line does not allow: CoreEngine/Cellar/Shelf/Jar.swift:1 Store"),
]


def main():
    with tempfile.TemporaryDirectory() as top:
        sound = Site(f"{top}/sound")
        expect("not built yet", sound.ask("--check"), 2, "swift build")
        expect("not built yet, and need not be", sound.ask("--check", "--if-built"), 0, "not measured")
        sound.build()
        expect("sound", sound.ask(), 0, r"Roof +\d+  Cellar \d · Ground \d", r"Ground +\d+  -", "3 layers of CoreEngine, 3 pairs")
        expect("no picture", sound.ask("--check"), 1, "does not show the layers")
        expect("drawing", sound.ask("--draw"), 0)
        expect("picture as drawn", sound.ask("--check"), 0, r"^$")
        picture = (sound.folder / "layers.svg").read_text()
        assert picture.count("<circle") == 4 and "Roof uses Ground" in picture, picture
        (sound.folder / "layers.svg").write_text(picture.replace("Roof uses Ground", "Roof uses Cellar"))
        expect("another picture", sound.ask("--check"), 1, "does not show the layers")
        expect("a layer of too many lines", sound.ask("--most", "3"), 1, "Cellar has 5 lines, more than 3")
        for what, file, old, new, pattern in LINES:
            expect(what, sound.with_line(file, old, new), 1, pattern)
        expect("all lines as they were", sound.ask(), 0)
        later = time.time() + 10
        os.utime(sound.folder / "Sources/CoreEngine/Roof/Roof.swift", (later, later))
        expect("sources newer than the build", sound.ask("--check"), 2, "Roof.swift is newer")
        for number, (what, changes, pattern) in enumerate(USES):
            expect(what, Site(f"{top}/{number}", changes).build().ask(), 1, pattern)
    print("the check of the layers: ok")


if __name__ == "__main__":
    main()
