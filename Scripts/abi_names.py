#!/usr/bin/env python3
"""Lists the functions that the public C headers declare, and compares their signatures with those of the Swift module.

  abi_names.py names    INCLUDE_DIR               functions the library must export, one per line
  abi_names.py compare  INCLUDE_DIR SWIFT_HEADER  compare the signatures with the C header that the
                                                  Swift compiler emits for the module

The headers are read by clang (the one in $CLANG, on the path, or next to swiftc).

The emitted header cannot be compiled together with ours: it spells every OpaquePointer `void *`, a
size_t `NSInteger` and a bool `BOOL`, and shows @_cdecl functions to Objective-C only. So clang reads it separately,
with definitions of those names, and each signature is compared type by type:

  - a pointer agrees with a pointer. If both sides give the type it points to, these types must agree too, except that
    const and nullability are ignored and `void *` agrees with every data pointer;
  - a function pointer agrees with a function pointer of the same signature;
  - size_t agrees with Int and UInt, and with nothing else;
  - every other number agrees with one of equal width, sign and kind; bool agrees with bool only;
  - a struct or enum passed by value agrees with itself.

Exit status: 0 fine, 1 differences (one per line on standard output), 2 the check itself failed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PUBLIC = re.compile(r"^(realm|crealm)_")

# Prefix of the names of our functions while the emitted header is read.
OURS = "abi_ours_"

# The Objective-C declarations that the emitted header uses.
FOUNDATION = """#include <stdbool.h>
#include <stddef.h>
typedef bool BOOL;
typedef ptrdiff_t NSInteger;
typedef size_t NSUInteger;
"""


def give_up(text):
    print("abi_names.py: " + text, file=sys.stderr)
    sys.exit(2)


def find_clang():
    if os.environ.get("CLANG"):
        return os.environ["CLANG"]
    if shutil.which("clang"):
        return "clang"
    swiftc = shutil.which("swiftc")
    if swiftc:
        beside = os.path.join(os.path.dirname(os.path.realpath(swiftc)), "clang")
        if os.path.exists(beside):
            return beside
    give_up("no clang found; set CLANG")


class Unit:
    """The declarations of one C source as clang parses it: all of them, and functions and typedefs by name."""

    def __init__(self, source, *flags):
        command = [find_clang(), "-x", "c", "-std=c11", "-fsyntax-only", *flags]
        command += ["-Xclang", "-ast-dump=json", "-"]
        done = subprocess.run(command, input=source, capture_output=True, text=True)
        if done.returncode != 0:
            give_up("clang rejects the headers:\n" + done.stderr)
        self.functions, self.typedefs = {}, {}
        self.nodes = json.loads(done.stdout).get("inner", [])
        for node in self.nodes:
            name, kind = node.get("name"), node.get("kind")
            if kind == "TypedefDecl":
                self.typedefs[name] = node["type"]["qualType"]
            elif kind == "FunctionDecl" and not node.get("isImplicit"):
                self.functions[name] = node["type"]["qualType"]

    def signature(self, name):
        return Parser(self, self.functions[name]).whole()


class Parser:
    """Reads a type as clang prints it into a tree of tuples:

    ("void",) ("bool",) ("size",) ("int", bits, signed) ("float", bits) ("struct", tag)
    ("enum", tag) ("pointer", to) ("function", result, (parameters...))
    """

    IGNORED = {"const", "volatile", "restrict", "__restrict", "_Nullable", "_Nonnull"}
    IGNORED |= {"_Null_unspecified", "_Nullable_result", "extern", "inline"}
    NUMBER_WORDS = {"signed", "unsigned", "char", "short", "int", "long", "float", "double"}
    # Typedefs that are not resolved, because their types differ between platforms.
    MACHINE_WORDS = {"size_t", "ptrdiff_t", "NSInteger", "NSUInteger"}

    def __init__(self, unit, text):
        self.unit, self.text = unit, text
        self.tokens = re.findall(r"\.\.\.|\w+|[^\s\w]", text)
        self.tokens = [t for t in self.tokens if t not in self.IGNORED]
        self.position = 0

    def whole(self):
        result = self.type()
        if self.position != len(self.tokens):
            give_up("cannot read the type `%s`" % self.text)
        return result

    def peek(self):
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self, expected=None):
        token = self.peek()
        if not token or (expected and token != expected):
            give_up("cannot read the type `%s` at `%s`" % (self.text, token))
        self.position += 1
        return token

    def type(self):
        base = self.base()
        return self.declarator()(base)

    def base(self):
        if self.peek() in ("struct", "union", "enum"):
            kind = self.take()
            tag = self.take()
            # A tag spelled like a function is renamed with it, see compare().
            tag = tag[len(OURS) :] if tag.startswith(OURS) else tag
            return ("enum" if kind == "enum" else "struct", tag)
        if self.peek() in self.NUMBER_WORDS:
            words = []
            while self.peek() in self.NUMBER_WORDS:
                words.append(self.take())
            return self.number(words)
        name = self.take()
        if name == "void":
            return ("void",)
        if name in ("bool", "_Bool"):
            return ("bool",)
        if name in self.MACHINE_WORDS:
            return ("size",)
        if name in self.unit.typedefs:
            return Parser(self.unit, self.unit.typedefs[name]).whole()
        give_up("unknown type name `%s` in `%s`" % (name, self.text))

    @staticmethod
    def number(words):
        if "float" in words or "double" in words:
            return ("float", 32 if "float" in words else 128 if "long" in words else 64)
        bits = 8 if "char" in words else 16 if "short" in words else 64 if "long" in words else 32
        return ("int", bits, "unsigned" not in words)

    def declarator(self):
        """Returns the type that the declarator makes from the base type."""
        if self.peek() == "*":
            self.take()
            inner = self.declarator()
            return lambda base: inner(("pointer", base))
        inner = lambda base: base
        # "(*" opens a nested declarator; any other "(" opens a parameter list.
        if self.peek() == "(" and self.tokens[self.position + 1 : self.position + 2] == ["*"]:
            self.take("(")
            inner = self.declarator()
            self.take(")")
        suffixes = []
        while self.peek() in ("(", "["):
            suffixes.append(self.parameters() if self.peek() == "(" else self.array())

        def apply(base):
            for suffix in reversed(suffixes):
                base = ("pointer", base) if suffix is None else ("function", base, suffix)
            return inner(base)

        return apply

    def parameters(self):
        self.take("(")
        found = []
        while self.peek() != ")":
            found.append(("...",) if self.peek() == "..." and self.take() else self.type())
            if self.peek() == ",":
                self.take()
        self.take(")")
        return () if found == [("void",)] else tuple(found)

    def array(self):
        while self.take() != "]":
            pass
        return None


def show(t):
    kind = t[0]
    if kind == "int":
        return "%sint%d" % ("" if t[2] else "u", t[1])
    if kind == "float":
        return {32: "float", 64: "double"}.get(t[1], "long double")
    if kind == "size":
        return "size_t"
    if kind == "pointer":
        return show(t[1]) if t[1][0] == "function" else "pointer to " + show(t[1])
    if kind == "function":
        return "function(%s) returning %s" % (", ".join(map(show, t[2])), show(t[1]))
    return " ".join(t)


def agree(c, swift):
    """Whether two types are passed in the same way and have the same meaning."""
    if c[0] != swift[0]:
        return False
    if c[0] == "pointer":
        return point_alike(c[1], swift[1])
    if c[0] == "function":
        return (
            agree(c[1], swift[1])
            and len(c[2]) == len(swift[2])
            and all(map(agree, c[2], swift[2]))
        )
    return c == swift


def point_alike(c, swift):
    if (c[0] == "function") != (swift[0] == "function"):
        return False
    if ("void",) in (c, swift):
        return True
    if c[0] == swift[0] == "int" and c[1] == swift[1] == 8:
        return True  # text and bytes: char, int8_t and uint8_t agree
    return agree(c, swift)


def differences(name, c, swift):
    if not agree(c[1], swift[1]):
        yield "%s returns %s in C, %s in Swift" % (name, show(c[1]), show(swift[1]))
    if len(c[2]) != len(swift[2]):
        counts = (name, len(c[2]), len(swift[2]))
        yield "%s has %d parameters in C, %d in Swift" % counts
        return
    for number, (a, b) in enumerate(zip(c[2], swift[2]), 1):
        if not agree(a, b):
            yield "%s parameter %d is %s in C, %s in Swift" % (name, number, show(a), show(b))


def include_lines(include):
    """The public headers, and the header for tests if it exists."""
    names = ["realm.h", "crealm.h", "crealm_testing.h"]
    return ['#include "%s"' % n for n in names if os.path.exists(os.path.join(include, n))]


def headers(include, *flags):
    return Unit("\n".join(include_lines(include)) + "\n", "-I", include, *flags)


def public(unit):
    return {name for name in unit.functions if PUBLIC.match(name)}


def compare(include, swift_header):
    ours = headers(include)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "Foundation"))
        with open(os.path.join(folder, "Foundation", "Foundation.h"), "w") as file:
            file.write(FOUNDATION)
        # Our headers supply the types. Their functions are renamed, so that those of the emitted header are not
        # repeated declarations.
        renamed = sorted(public(ours))
        lines = ["#define %s %s%s" % (name, OURS, name) for name in renamed]
        lines += include_lines(include)
        lines += ["#undef " + name for name in renamed]
        lines += ['#include "%s"' % os.path.abspath(swift_header)]
        emitted = Unit("\n".join(lines) + "\n", "-D__OBJC__=1", "-w", "-I", include, "-I", folder)

    names = set(emitted.functions) & exported_names(swift_header)
    for name in sorted(public(ours) - names):
        yield "%s is declared in C but is no public @_cdecl function in Swift" % name
    for name in sorted(names - public(ours)):
        yield "%s is a public @_cdecl function in Swift but is not declared in C" % name
    for name in sorted(names & public(ours)):
        yield from differences(name, ours.signature(name), emitted.signature(name))


def exported_names(path):
    """Names on the lines that declare functions, among them all functions the module defines."""
    with open(path) as file:
        lines = [line for line in file if line.startswith("SWIFT_EXTERN ")]
    return {name for line in lines for name in re.findall(r"(\w+)\(", line)}


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "names":
        found = sorted(public(headers(arguments[1])))
        print("\n".join(found))
        return 0
    if len(arguments) == 3 and arguments[0] == "compare":
        if not os.path.exists(arguments[2]):
            give_up("no such file: " + arguments[2])
        found = list(compare(arguments[1], arguments[2]))
        for line in found:
            print(line)
        return 1 if found else 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
