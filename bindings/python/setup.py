"""Puts the shared library into the package: built from the engine, which lies around this folder in a checkout and in it in an sdist."""

import pathlib
import shutil
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
CHECKOUT, CARRIED = HERE.parents[1], HERE / "engine"
# What building the library needs.
ENGINE = [
    "Package.swift", "Sources", "include", "Tests/CoreEngineTests", "Tests/CoreEngineAsyncTests", "LICENSE",
    "Scripts/build.sh", "Scripts/exports.map", "Scripts/static_library.py", "Scripts/strip.sh",
]


def engine() -> pathlib.Path:
    for place in CARRIED, CHECKOUT:
        if (place / "Package.swift").exists() and (place / "Sources/CoreEngine").is_dir():
            return place
    sys.exit("needed: the sources of the engine (a checkout of CRealm, or its sdist as it is)")


class OfOneSystem(Distribution):
    def has_ext_modules(self):
        return True


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            subprocess.run([str(engine() / "Scripts/build.sh"), "release"], check=True)
            return
        library = pathlib.Path(self.build_lib).resolve() / "crealm/_lib/libCRealm.so"
        done = subprocess.run([sys.executable, str(engine() / "Scripts/static_library.py"), str(library)])
        if done.returncode:
            sys.exit("the CRealm library was not built (see above); a wheel for this system needs no compiler")


class WheelOfSystem(bdist_wheel):
    """For every Python 3 of one kind of system: the library is no extension module."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class SourceWithEngine(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        for name in ENGINE:
            source, target = engine() / name, pathlib.Path(base_dir) / "engine" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(source, target)


setup(distclass=OfOneSystem, cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfSystem, "sdist": SourceWithEngine})
