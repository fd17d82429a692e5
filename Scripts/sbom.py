#!/usr/bin/env python3
"""Prints the contents of a release as SPDX 2.3: the library, and the libraries that are linked into it or expected
beside it, with versions and licences.

    sbom.py LIBRARY.so VERSION [--static]

--static: for the library in the wheel, which contains libsodium and libcrypto. Prints JSON. Fails when the library
needs a library that this script does not know."""

import datetime
import hashlib
import json
import os
import re
import subprocess
import sys
import uuid


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def version_of(package):
    return output("pkg-config", "--modversion", package)


# File name without its version number → name, supplier, licence, and how to find the version.
KNOWN = {
    "libsodium.so": ("libsodium", "Frank Denis", "ISC", lambda: version_of("libsodium")),
    "libcrypto.so": ("OpenSSL libcrypto", "OpenSSL Software Foundation", "Apache-2.0", lambda: version_of("libcrypto")),
    "libstdc++.so": (
        "libstdc++",
        "Free Software Foundation",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
        lambda: output("gcc", "-dumpfullversion"),
    ),
    "libgcc_s.so": (
        "libgcc",
        "Free Software Foundation",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
        lambda: output("gcc", "-dumpfullversion"),
    ),
    "libc.so": (
        "glibc",
        "Free Software Foundation",
        "LGPL-2.1-or-later",
        lambda: output("getconf", "GNU_LIBC_VERSION").split()[-1],
    ),
}
# Libraries that are parts of glibc.
PARTS_OF_GLIBC = ("libm.so", "libdl.so", "libpthread.so", "ld-linux-x86-64.so", "ld-linux-aarch64.so")


def needed(library):
    text = output("readelf", "-d", library)
    return {re.sub(r"\.so.*", ".so", name) for name in re.findall(r"NEEDED.*\[(.*)\]", text)}


def entry(name, supplier, licence, version):
    return {
        "SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", name),
        "name": name,
        "versionInfo": version,
        "supplier": f"Organization: {supplier}",
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
    }


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    library, version, static = sys.argv[1], sys.argv[2], "--static" in sys.argv
    files = needed(library) - set(PARTS_OF_GLIBC)
    unknown = files - KNOWN.keys()
    if unknown:
        print(f"not known: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 1
    digest = hashlib.sha256(open(library, "rb").read()).hexdigest()
    main_package = entry("CRealm", "The CRealm developers", "Apache-2.0", version)
    main_package["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    swift = re.search(r"Swift version (\S+)", output("swift", "--version")).group(1)
    inside = [
        entry(
            "Swift runtime and standard library",
            "Apple Inc. and the Swift project authors",
            "Apache-2.0 WITH Swift-exception",
            swift,
        )
    ]
    beside = []
    for file, (name, supplier, licence, find) in KNOWN.items():
        if file in files:
            beside.append(entry(name, supplier, licence, find()))
        elif static and file in ("libsodium.so", "libcrypto.so"):
            inside.append(entry(name, supplier, licence, find()))
    relations = [
        {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-CRealm"}
    ]
    for kind, packages in (("STATIC_LINK", inside), ("DYNAMIC_LINK", beside)):
        relations += [
            {"spdxElementId": "SPDXRef-CRealm", "relationshipType": kind, "relatedSpdxElement": p["SPDXID"]}
            for p in packages
        ]
    # The date of the commit, so that two builds of one commit have the same list.
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    made = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"crealm-{version}{'-static' if static else ''}",
        "documentNamespace": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "creationInfo": {"created": made, "creators": ["Tool: Scripts/sbom.py"]},
        "packages": [main_package, *inside, *beside],
        "relationships": relations,
    }
    print(json.dumps(document, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
