#!/usr/bin/env python3
"""Runs the tests of Realm's Swift package on `RealmSwift`.   run.py CHECKOUT [--work FOLDER] [--only TEXT] [--keep]

CHECKOUT is a folder with the sources of that package. Its test files are rewritten (`rewrite.py`) into a package in
FOLDER and built against this checkout. The lists of tests that cannot be built or do not pass are in
docs/realmswift-tests.md. The run fails if another test fails, or if a listed test passes.
"""

import argparse
import collections
import concurrent.futures
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rewrite  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs" / "realmswift-tests.md"
SECONDS = 60

TIERS = {
    "A": """QueryTests ModernObjectTests ModernObjectCreationTests ModernObjectAccessorTests CustomColumnNameTests
        CustomObjectCreationTests ProjectionTests ProjectedCollectTests SectionedResultsTests MixedCollectionTest
        PrimitiveListTests PrimitiveMapTests PrimitiveMutableSetTests Decimal128Tests ObjectIdTests SortDescriptorTests
        GeospatialTests RealmConfigurationTests RealmPropertyTests KeyPathTests CodableTests""".split(),
    "B": """RealmTests ObjectTests ListTests MapTests MutableSetTests ObjectCreationTests ObjectAccessorTests
        RealmCollectionTypeTests ThreadSafeReferenceTests AnyRealmValueTests MigrationTests ObjectSchemaTests
        SchemaTests PropertyTests SwiftLinkTests SwiftUnicodeTests CompactionTests""".split(),
}
HELPERS = "ModernTestObjects CustomPersistableTestObjects TestValueFactory TestUtils SwiftTestObjects".split()


def listed(heading):
    """The tests in the table below a heading of the page: pattern and reason. A name without a class has the class of
    the name before it."""
    part = PAGE.read_text().split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    found = []
    for row in re.findall(r"^\| (`.*?) \| (.*?) \|$", part, re.M):
        owner = None
        for name in re.findall(r"`([^`]+)`", row[0]):
            if "." in name:
                owner, name = name.split(".", 1)
            found.append((f"{owner}.{name}".replace("…", "*"), row[1]))
    return found


def fits(patterns, name):
    return next((pattern for pattern, _ in patterns if fnmatch.fnmatchcase(name, pattern)), None)


def prepare(checkout, work, tests_of):
    """Writes the package with the rewritten tests."""
    package = work / "package"
    sources = package / "Sources" / "Tests"
    shutil.copytree(HERE / "package", package, dirs_exist_ok=True)
    (package / "Package.swift").write_text(f"""// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "RealmOwn", platforms: [.macOS(.v15)], dependencies: [.package(name: "CRealm", path: "{ROOT}")],
    targets: [
        .target(name: "Throwing"),
        .executableTarget(
            name: "Tests", dependencies: ["Throwing", .product(name: "RealmSwift", package: "CRealm"),
                .product(name: "CoreEngine", package: "CRealm")],
            swiftSettings: [.swiftLanguageMode(.v5), .unsafeFlags(["-suppress-warnings"])]),
    ])
""")
    texts = {name: (checkout / "RealmSwift" / "Tests" / f"{name}.swift").read_text()
             for name in HELPERS + TIERS["A"] + TIERS["B"]}
    bases, generic = {}, set()
    for text in texts.values():
        for each in rewrite.classes(rewrite.code_of(text)):
            if not each.is_extension:
                bases[each.name] = each.base
                generic |= {each.name} if each.is_generic else set()

    def is_a(name, roots):
        while name in bases and name not in roots:
            name = bases[name]
        return name in roots

    not_built = listed("Not built")
    suites, tiers, left_out = [], {}, []
    for name, text in texts.items():
        tier = next((tier for tier, names in TIERS.items() if name in names), None)
        text, missing = rewrite.without_functions(text, lambda owner, test: (owner, test) in rewrite.HELPERS
                                                  or fits(not_built, f"{owner}.{test}"))
        missing = [one for one in missing if one not in rewrite.HELPERS]
        left_out += [f"{owner}.{test}" for owner, test in missing]
        tiers.update({f"{owner}.{test}": tier for owner, test in missing})
        text = rewrite.changed(text)
        text = rewrite.modern_models(text, lambda one: is_a(one, ("Object", "EmbeddedObject", "AsymmetricObject")))
        text = "import Foundation\nimport RealmSwift\nimport XCTest\n" + rewrite.IMPORTS.sub("", text)
        suites += [one.name for one in rewrite.classes(rewrite.code_of(text))
                   if not one.is_extension and one.name not in generic and is_a(one.name, ("TestCase", "RLMTestCaseBase"))]
        text, found = rewrite.listed(text) if tier else (text, [])
        tiers.update({f"{owner}.{test}": tier for owner, test in found})
        target = sources / f"{name}.swift"
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    main = "runTests([" + ", ".join(f"{one}.defaultTestSuite" for one in suites) + "])\n"
    (sources / "main.swift").write_text(main)
    tests_of.update(tiers)
    return package, left_out


def build(package):
    subprocess.run(["swift", "build", "--package-path", str(package), "--product", "Tests", "--quiet",
                    "-Xswiftc", "-enforce-exclusivity=unchecked"], check=True)
    return package / ".build" / "debug" / "Tests"


def run(program, numbers, folder):
    """Runs tests in a process of their own; in another one again behind a test that ends it. Returns what each said."""
    said, left = {}, list(numbers)
    while left:
        environment = dict(os.environ, TMPDIR=str(folder), SWIFT_BACKTRACE="enable=no")
        child = subprocess.Popen([str(program), "run"] + [str(one) for one in left], env=environment,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace")
        why = "ended the process"
        try:
            out, errors = child.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            out, errors = child.communicate()
            why = f"took more than {SECONDS} s"
        begun = None
        for line in out.splitlines():
            parts = line.split("\t")
            if parts[0] == "begin":
                begun = int(parts[1])
            elif parts[0] in ("pass", "fail") and len(parts) > 1:
                said[int(parts[1])] = None if parts[0] == "pass" else parts[2]
                begun = None
        if begun is not None:
            tail = [line for line in errors.splitlines() if "rror" in line or "RealmSwift" in line] or [""]
            said[begun] = f"{why}: {tail[-1][:300]}"
        elif child.returncode != 0:
            for one in left:
                said.setdefault(one, why)
        left = [one for one in left if one not in said]
    # What a misuse left behind may disturb the tests behind it.
    for one in [one for one in said if said[one] is not None and len(numbers) > 1]:
        said.update(run(program, [one], folder))
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / ".build" / "realm-own")
    parser.add_argument("--only", default="", help="run tests whose name contains this text")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    tier_of = {}
    package, left_out = prepare(given.checkout.resolve(), work, tier_of)
    program = build(package)
    folder = work / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    tests = collections.defaultdict(list)
    lines = subprocess.run([str(program), "list"], check=True, capture_output=True, text=True).stdout.splitlines()
    names = {}
    for line in lines:
        number, name, kind = line.split("\t")
        tests[name].append(int(number))
        names[int(number)] = kind
    wanted = [name for name in tests if given.only in name]
    failed = {}
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for name, said in zip(wanted, pool.map(lambda one: run(program, tests[one], folder), wanted)):
            wrong = {names[number]: text for number, text in said.items() if text is not None}
            if wrong:
                failed[name] = wrong
    with open(work / "failures.txt", "w") as report:
        for name, wrong in failed.items():
            for kind, text in wrong.items():
                report.write(f"{tier_of[name]}\t{name}\t{kind}\t{text}\n")
    not_passed = listed("Not passed")
    unknown = [name for name in failed if not fits(not_passed, name)]
    shrunk = [pattern for pattern, _ in not_passed
              if not given.only and not any(fnmatch.fnmatchcase(name, pattern) for name in failed)]
    for tier in TIERS:
        every = [name for name in tier_of if tier_of[name] == tier]
        built = [name for name in wanted if tier_of[name] == tier]
        passed = [name for name in built if name not in failed]
        print(f"Tier {tier}: {len(every)} functions, {len(built)} built, {len(passed)} pass")
    for name in unknown:
        kind, text = next(iter(failed[name].items()))
        print(f"failed: {name} ({kind}): {text[:300]}")
    for pattern in shrunk:
        print(f"passes, but is listed: {pattern}")
    never = [name for name in tier_of if name not in tests and name not in left_out]
    for name in never:
        print(f"is in no suite: {name}")
    return 1 if unknown or shrunk else 0


if __name__ == "__main__":
    sys.exit(main())
