#!/usr/bin/env python3
"""Tests Scripts/api_description.py with planted faults: each change of a header must be named."""

import shutil
import sys
import tempfile
from pathlib import Path

import api_description

CHANGES = [
    ("realm.h", "RLM_API void realm_free(void* buffer);", "", "functions: realm_free is in api.json"),
    (
        "realm.h",
        "RLM_API void realm_free(void* buffer);",
        "RLM_API bool realm_free(void* buffer);",
        "realm_free differs in result",
    ),
    ("realm.h", "RLM_TYPE_LIST = 12", "RLM_TYPE_LIST = 22", "enums: realm_value_type_e differs in values"),
    (
        "realm.h",
        "    size_t size;\n} realm_string_t;",
        "    int64_t size;\n} realm_string_t;",
        "structs: realm_string_t differs",
    ),
    (
        "crealm.h",
        "#define CREALM_ABI_VERSION 1",
        "#define CREALM_ABI_VERSION 2",
        "constants: CREALM_ABI_VERSION differs in value",
    ),
    (
        "crealm.h",
        "RLM_API uint32_t crealm_abi_version(void);",
        "RLM_API uint32_t crealm_abi_version(void);\nRLM_API bool crealm_new(const realm_t* realm);",
        "crealm_new is declared",
    ),
    (
        "realm.h",
        "RLM_API void realm_release(void* ptr);",
        "RLM_API strange* realm_release(void* ptr, ...);",
        "refused: ",
    ),
]


def main():
    root = api_description.ROOT
    before, failed = api_description.describe(), 0
    for header, old, new, wanted in CHANGES:
        with tempfile.TemporaryDirectory() as folder:
            for name in api_description.HEADERS:
                shutil.copy(root / "include" / name, folder)
            file = Path(folder) / header
            text = file.read_text()
            if old not in text:
                found = [f"the text of the test is not in {header}"]
            else:
                file.write_text(text.replace(old, new))
                try:
                    found = list(api_description.compared(before, api_description.describe(Path(folder))))
                except api_description.Trouble as trouble:
                    found = [f"refused: {trouble}"]
            if not any(wanted in line for line in found):
                failed += 1
                print(f"  FAIL  {new or old!r}: {found}")
    print(f"{len(CHANGES) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
