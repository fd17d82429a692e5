#!/usr/bin/env python3
"""Checks that every exported function uses the entry point that its header promises, and that a test misuses it.

  check_entry_points.py        from the root of the sources; one line for each fault

1. A function whose header says "Thread: confined" takes an entry point of Boundary/EntryPoints.swift that checks the thread (inside, from, handle, insideRealm,
   readProperty, writeProperty, readObject);
   every other function with a handle takes `anywhere`, which gives no access to a realm.
2. Pointers become handles in Boundary only, and in the functions that take handles of any kind (release, clone, equals).
3. Every exported function is called in Tests/C/misuse_test.c, and every confined one is called on a wrong thread in
   Tests/C/threads_test.c.
"""

import pathlib
import re
import subprocess
import sys

CONFINED = re.compile(r"(?<![.\w])(?:inside|from|handle|insideRealm|readProperty|writeProperty|readObject)\(|\.insideRealm\b")
ANYWHERE = re.compile(r"(?<![.\w])anywhere\(")
ANY_KIND = {"realm_release", "realm_clone", "realm_equals", "realm_is_frozen"}


def thread_rules(include):
    """The word after "Thread:" in the comment of each function. It is empty if the rule is above a whole section: no
    such rule is "confined"."""
    rules = {}
    for header in include.glob("*.h"):
        for m in re.finditer(r"(/\*\*.*?\*/)\s*RLM_API[^;]*?\b(c?realm_\w+)\(", header.read_text(), re.S):
            word = re.search(r"Thread:\s*(\w+)", m.group(1))
            rules[m.group(2)] = word.group(1) if word else ""
    return rules


def functions(text):
    """(exported name or None, name, parameters, body) of the functions at the top level of a file."""
    attributes = r'^(?:@_cdecl\("(\w+)"\)\n)?(?:@\w+(?:\([^)]*\))? )?(?:public |private )?'
    pattern = re.compile(attributes + r"func (\w+)(.*?)\{(.*?)(?:^\}|\}$(?!\n    |\n\}))", re.S | re.M)
    return [(m.group(1), m.group(2), m.group(3), m.group(4)) for m in pattern.finditer(text)]


def main():
    faults = []
    rules = thread_rules(pathlib.Path("include"))
    names = subprocess.run([sys.executable, "Scripts/abi_names.py", "names", "include"], capture_output=True, text=True, check=True).stdout.split()
    seen = set()
    for path in sorted(pathlib.Path("Sources/CRealm").rglob("*.swift")):
        text = path.read_text()
        all_functions = functions(text)
        helpers = {name: body for exported, name, _, body in all_functions if exported is None}

        def takes(entry_point, body, depth=0):
            if entry_point.search(body):
                return True
            called = set(re.findall(r"(?<![.\w])(\w+)\(", body)) & helpers.keys()
            return depth < 3 and any(takes(entry_point, helpers[h], depth + 1) for h in called)

        for exported, _, parameters, body in all_functions:
            if exported is None:
                continue
            seen.add(exported)
            if rules.get(exported) == "confined":
                if not takes(CONFINED, body):
                    faults.append(f"{path}: {exported} is confined to a thread, but takes no entry point that checks it")
            elif "OpaquePointer?" in parameters.split("->")[0] and not takes(ANYWHERE, body):
                faults.append(f"{path}: {exported} takes a handle, but not through an entry point")
        if "Boundary" not in path.parts:
            for exported, name, _, body in all_functions:
                if "fromOpaque" in body and exported not in ANY_KIND:
                    faults.append(f"{path}: {exported or name} makes a handle of a pointer by itself")
    tests = {name: (pathlib.Path("Tests/C") / f"{name}_test.c").read_text() for name in ("misuse", "threads")}
    for name in names:
        if name not in seen:
            faults.append(f"{name} was not found in Sources/CRealm")
        if not re.search(rf"\b{name}\(", tests["misuse"]):
            faults.append(f"{name} does not stand in Tests/C/misuse_test.c")
        if rules.get(name) == "confined" and not re.search(rf"CALL\({name}\(", tests["threads"]):
            faults.append(f"{name} is confined to a thread, but not called on a wrong one in Tests/C/threads_test.c")
    for fault in faults:
        print(fault)
    confined = sum(rules.get(name) == "confined" for name in names)
    print(f"check_entry_points: {len(names)} functions, {confined} of them confined to a thread, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
