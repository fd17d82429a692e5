#!/usr/bin/env python3
"""Checks that every public declaration of the Swift API has a documentation comment, and that no internal type is
public.

    check_swift_docs.py              prints the declarations without one; exit status 1 if there are any

Requirements of protocols of the standard library (`==`, `hash(into:)`, `description`, indices of collections,
literals) need no comment.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = ["CoreEngine", "CoreEngineAsync", "CoreEngineFoundation"]
MODIFIERS = r"(?:(?:public|static|final|mutating|nonmutating|convenience|required|override|nonisolated|indirect|lazy|weak|unowned|class)(?:\([a-z]+\))?\s+)*"
DECLARATION = re.compile(rf"^\s*(?:@\w+(?:\([^)]*\))?\s+)*{MODIFIERS}(func|var|let|init|subscript|struct|class|enum|protocol|typealias|case|extension)\b\s*(.*)")
# Requirements of protocols of the standard library.
WITNESSES = re.compile(
    r"^(== |< |hash\(into|description\b|debugDescription\b|rawValue\b|\(rawValue|\(\w+Literal|index\(|formIndex\(|distance\("
    r"|(Element|Iterator) = |_copyToContiguousArray|next\(\)|errorDescription\b|\?\(realmValue|realmValue\b)")
# Internal types that must not become public again.
INTERNAL = {"ColKey", "ColumnAttributes", "ColumnType", "Bytes", "Database", "Durability", "FaultGuard", "EngineScheduler"}


def undocumented(file: Path) -> list[str]:
    """The declarations of a file that are public and have no comment: with the word, in a public protocol or enum, or in a public extension."""
    found: list[str] = []
    scopes: list[str] = []  # what each open brace belongs to
    commented = False
    in_text = False
    for number, line in enumerate(file.read_text().splitlines(), 1):
        bare = line.strip()
        if bare.count('"""') % 2:
            in_text = not in_text
            continue
        if in_text or not bare:
            continue
        if bare.startswith("///"):
            commented = True
            continue
        if bare.startswith("//"):
            continue
        if bare.startswith("@") and not re.search(r"\b(func|var|let|init|class|struct|enum|protocol)\b", bare):
            continue
        match = DECLARATION.match(line)
        is_public = bool(re.match(r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:\w+(?:\([a-z]+\))?\s+)*?public\b(?!\()", line))
        kind, rest = (match.group(1), match.group(2)) if match else ("", "")
        inherits = bool(scopes) and scopes[-1] in ("public protocol", "public enum")
        counts = match and kind != "extension" and (is_public or (inherits and (kind == "case" or scopes[-1] == "public protocol")))
        if counts and not commented and not WITNESSES.match(rest):
            found.append(f"{file.relative_to(ROOT)}:{number}: {bare[:110]}")
        if match and is_public and kind in ("struct", "class", "enum", "protocol", "typealias"):
            name = re.match(r"\w+", rest)
            if name and name.group() in INTERNAL:
                found.append(f"{file.relative_to(ROOT)}:{number}: {name.group()} is an internal of the engine")
        for character in re.sub(r'"(?:\\.|[^"\\])*"', "", line.split("//")[0]):
            if character == "{":
                scopes.append(("public " if is_public else "") + kind)
                kind = "nested"
            elif character == "}" and scopes:
                scopes.pop()
        commented = False
    return found


def main() -> int:
    found = [line for module in MODULES for file in sorted((ROOT / "Sources" / module).rglob("*.swift")) for line in undocumented(file)]
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
