#!/usr/bin/env python3
"""Checks that functions which run once per leaf or per row do no reference counting and allocate nothing: their machine
code in a release library must not call the runtime functions that do. One retain and release per leaf takes a fifth of
the time of a counting query, and no test of results would notice.

    Scripts/check_hot_loops.py LIBRARY

If a function of the list is not in the library, it was renamed or inlined: correct the list.
"""

import re
import subprocess
import sys

# Parts of mangled names: the type, the function, and what distinguishes it from other functions of that name.
FUNCTIONS = {
    "the walk from cluster to cluster": "11ClusterScanC7advance",
    "the opening of a cluster": "11ClusterScanC4open",
    "counting the rows that a test accepts": "10ColumnTestO5tally",
    "marking the rows that a test accepts": "10ColumnTestO6narrow",
    "conditions with few numbers": "11InConditionC5tally",
    "adding up a leaf": "10AggregatorV3add",
    "links followed by bits": "9LinkReachC6narrow",
    "a value of an opened leaf": "12OpenedColumnV5value",
    "the search in a node of an index": "11SearchIndexV6search",
    "the way down to a cluster": "13ClusterCursorV7descend__2to8writable",
    "the opening of a column": "12OpenedColumnV4open",
}
COUNTS = re.compile(
    r"(?:call|bl|b)\S*\s.*<(swift_(?:bridgeObject|unknownObject|nonatomic_)?(?:Retain|Release|retain|release)\w*|swift_alloc\w+|swift_slowAlloc|malloc|"
    r"swift_beginAccess|swift_isUniquelyReferenced\w*)"
)


def tool(*names):
    for name in names:
        if subprocess.run(["which", name], capture_output=True).returncode == 0:
            return name
    sys.exit(f"check_hot_loops: none of {', '.join(names)} is there")


def main(library):
    listed = subprocess.run([tool("llvm-nm", "nm"), library], capture_output=True, text=True, check=True).stdout
    symbols = [line.split()[-1] for line in listed.splitlines() if line.split()[-2:-1] in (["t"], ["T"])]
    wrong = []
    for what, part in FUNCTIONS.items():
        found = [s for s in symbols if s.startswith("$s10CoreEngine" + part) and not s.endswith("U_")]
        if not found:
            wrong.append(f"{what}: no function {part} in {library}")
        for symbol in found:
            code = subprocess.run([tool("llvm-objdump"), f"--disassemble-symbols={symbol}", library], capture_output=True, text=True, check=True).stdout
            calls = COUNTS.findall(code)
            if len(code.splitlines()) < 10:
                wrong.append(f"{what}: no code of {symbol}")
            if calls:
                wrong.append(f"{what}: {symbol} calls {', '.join(sorted(set(calls)))}")
    print("\n".join(wrong) or f"{len(FUNCTIONS)} hot functions count no references and allocate nothing")
    return bool(wrong)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
