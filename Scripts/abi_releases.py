#!/usr/bin/env python3
"""Checks that everything programs built with an earlier release rely on still exists.

  abi_releases.py check LIBRARY.so [INCLUDE_DIR [FOLDER]] [--release]
  abi_releases.py write VERSION    [INCLUDE_DIR [FOLDER]]      at a release: writes FOLDER/VERSION.txt

A list has a line for each function with its signature, each struct with its members, each typedef with its type, and
each named constant, as the installed headers declare them. `check` compares with the list of the newest release in the
folder (docs/abi). An entry that is missing or changed is a difference, and so is a listed function that the library
does not export; new entries are printed. With `--release` new entries are differences, too: a release must list all its
exports, or a later break of one would go unnoticed.

Exit status: 0 fine, 1 differences, 2 the check itself failed.
"""

import pathlib
import subprocess
import sys

from abi_names import PUBLIC, Unit, give_up

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = ("realm.h", "crealm.h")


def spelled(node):
    """The type of a declaration, spelled the same for every version of clang."""
    return node["type"]["qualType"].replace("_Bool", "bool")


def members(record):
    """The members of a struct or union; a nested one without a name is replaced by its members."""
    found, unnamed = [], [node for node in record.get("inner", []) if node["kind"] == "RecordDecl"]
    for field in (node for node in record.get("inner", []) if node["kind"] == "FieldDecl"):
        of_type = spelled(field)
        if "(unnamed" in of_type or "(anonymous" in of_type:
            inner = unnamed.pop(0)
            of_type = f"{inner['tagUsed']} {{ {members(inner)} }}"
        found.append(f"{of_type} {field.get('name', '')}".strip())
    return "; ".join(found)


def constants(enum):
    value = -1
    for node in enum.get("inner", []):
        if node["kind"] == "EnumConstantDecl":
            given = next((part for part in node.get("inner", []) if part["kind"] == "ConstantExpr"), None)
            value = int(given["value"]) if given else value + 1
            yield node["name"], value


def declared(include):
    """Kind and name of every declaration in the headers → its definition."""
    unit = Unit("".join(f'#include "{name}"\n' for name in HEADERS), "-I", str(include))
    found = {}
    for node in unit.nodes:
        kind, name = node["kind"], node.get("name", "")
        ours = PUBLIC.match(name)
        if kind == "FunctionDecl" and ours:
            found["function " + name] = spelled(node)
        elif kind == "TypedefDecl" and ours:
            found["type " + name] = spelled(node)
        elif kind == "RecordDecl" and ours and node.get("completeDefinition"):
            found[f"{node['tagUsed']} {name}"] = members(node)
        elif kind == "EnumDecl":
            found |= {"number " + constant: str(value) for constant, value in constants(node) if constant.startswith(("RLM_", "CREALM_"))}
    return found


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", "--extern-only", library], capture_output=True, text=True)
    if done.returncode:
        give_up(done.stderr.strip())
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if line.split()[-2] == "T"}


def read(path):
    return dict(line.split(": ", 1) for line in path.read_text().splitlines() if not line.startswith("#"))


def newest(folder):
    lists = {tuple(map(int, path.stem.split("."))): path for path in folder.glob("*.txt")}
    return lists[max(lists)] if lists else give_up(f"no list of a release in {folder}")


def check(library, include, folder, is_release=False):
    path = newest(folder)
    before, now, symbols = read(path), declared(include), exported(library)
    if not any(key.startswith("function ") for key in before):
        give_up(f"{path} names no function")
    differences = 0
    for key, was in before.items():
        kind, _, name = key.partition(" ")
        text = None
        if key not in now:
            text = f"{key} is gone; it was {was}"
        elif now[key] != was:
            text = f"{key} is {now[key]}; it was {was}"
        elif kind == "function" and name not in symbols:
            text = f"{key} is not exported"
        if text:
            differences += 1
            print(text)
    for key in sorted(now.keys() - before.keys()):
        print(f"new since {path.stem}: {key}: {now[key]}")
        differences += is_release
    if differences:
        print(f"programs built with {path.stem} would break, or nothing would notice when they do. Before it is released: make abi RELEASE={path.stem}")
    print(f"abi: {sum(key.startswith('function ') for key in before)} functions and {len(before)} lines of {path.stem}, {differences} differences")
    return 1 if differences else 0


def write(version, include, folder):
    lines = [f"# What the headers of {version} declare; Scripts/abi_releases.py makes and compares it."]
    lines += [f"{key}: {what}" for key, what in sorted(declared(include).items())]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{version}.txt").write_text("\n".join(lines) + "\n")
    return 0


def main(arguments):
    is_release = "--release" in arguments
    arguments = [argument for argument in arguments if argument != "--release"]
    if len(arguments) not in (2, 3, 4) or arguments[0] not in ("check", "write"):
        print(__doc__, file=sys.stderr)
        return 2
    what, subject, *folders = arguments
    include = pathlib.Path(folders[0]) if folders else ROOT / "include"
    folder = pathlib.Path(folders[1]) if len(folders) > 1 else ROOT / "docs/abi"
    return check(subject, include, folder, is_release) if what == "check" else write(subject, include, folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
