#!/usr/bin/env python3
"""Tests that Scripts/layers finds faults: builds a package with three layers, with and without faults."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOMS = pathlib.Path(__file__).resolve().parent / "layers"
SOUND = {
    # A name in a comment or a string is no use of a layer.
    "Ground": "/// May use: nothing.\nstruct Stone { let weight = 1 }  // Store()\nlet words = \"Store and load()\"\n",
    "Cellar": "/// May use: Ground.\nstruct Store { let stone = Stone() }\n",
    "Roof": "/// May use: Cellar and below.\nfunc load() -> Int { Store().stone.weight }\n",
}


class Site:
    """A package in its own folder."""

    def __init__(self, folder, layers):
        self.folder = pathlib.Path(folder).resolve()
        self.engine = self.folder / "Sources/CoreEngine"
        for layer, text in layers.items():
            (self.engine / layer).mkdir(parents=True)
            (self.engine / layer / f"{layer}.swift").write_text(text)

    def may_use(self, layer, line):
        """Replaces the "May use:" line of a layer, without a build."""
        file = self.engine / layer / f"{layer}.swift"
        file.write_text(re.sub(r"^.*\n", line + "\n", file.read_text(), count=1))
        os.utime(file, (0, 0))

    def build(self):
        sources = sorted(str(p) for p in self.engine.rglob("*.swift"))
        subprocess.run(["swiftc", "-parse-as-library", "-c", "-module-name", "House", "-index-store-path", str(self.folder / "index"), *sources],
                       cwd=self.folder, check=True)
        return self

    def ask(self, *options):
        done = subprocess.run(
            [sys.executable, str(ROOMS), *options, "--sources", str(self.folder / "Sources"), "--index", str(self.folder / "index"),
             "--picture", str(self.folder / "layers.svg")], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def expect(what, answer, code, *patterns):
    found, text = answer
    assert found == code, f"{what}: ended with {found} and not {code}: {text}"
    for pattern in patterns:
        assert re.search(pattern, text), f"{what}: nothing like '{pattern}' in: {text}"


def main():
    with tempfile.TemporaryDirectory() as top:
        sound = Site(f"{top}/sound", SOUND)
        expect("not built yet", sound.ask("--check"), 2, "make debug")
        expect("not built yet, and need not be", sound.ask("--check", "--if-built"), 0, "not measured")
        sound.build()
        expect("sound", sound.ask(), 0, r"Roof +Cellar \d · Ground \d", r"Ground +-")
        expect("no picture", sound.ask("--check"), 1, "does not show the layers")
        expect("drawing", sound.ask("--draw"), 0)
        expect("picture as drawn", sound.ask("--check"), 0, r"^$")
        picture = (sound.folder / "layers.svg").read_text()
        assert picture.count("<circle") == 3 and "Roof uses Ground" in picture, picture
        (sound.folder / "layers.svg").write_text(picture.replace("Roof uses Ground", "Roof uses Cellar"))
        expect("another picture", sound.ask("--check"), 1, "does not show the layers")
        for what, layer, line, pattern in [
            ("a use that names no type", "Roof", "/// May use: Cellar.", r"Roof uses Ground.*Roof.swift:2 .*weight"),
            ("no line", "Cellar", "///", "Cellar.swift: no line 'May use"),
            ("a layer that is none", "Roof", "/// May use: Attic, Cellar and below.", "'Attic', which is no layer"),
            ("a circle", "Ground", "/// May use: Cellar.", "form a circle: Cellar, Ground"),
        ]:
            sound.may_use(layer, line)
            expect(what, sound.ask(), 1, pattern)
            sound.may_use(layer, SOUND[layer].split("\n")[0])
        expect("all lines as they were", sound.ask(), 0)
        later = time.time() + 10
        os.utime(sound.engine / "Roof/Roof.swift", (later, later))
        expect("sources newer than the build", sound.ask("--check"), 2, "Roof.swift is newer")
        wrong = Site(f"{top}/wrong", {**SOUND, "Ground": SOUND["Ground"] + "func build() -> Store? { nil }\n"}).build()
        expect("a call up", wrong.ask(), 1, r"Ground uses Cellar, which its line does not allow: CoreEngine/Ground/Ground.swift:4 Store")
    print("the check of the layers: ok")


if __name__ == "__main__":
    main()
