"""Requests to the Browser without a network, and the expected contents of fixtures in the form of its cells."""

import gzip
import json
import struct
from pathlib import Path

import pytest

from conftest import FIXTURES

pytest.importorskip("starlette", reason="starlette is not there")
pytest.importorskip("uvicorn", reason="uvicorn is not there")
pytest.importorskip("httpx", reason="httpx is not there")

from starlette.testclient import TestClient  # noqa: E402

from crealm import _marshal as c  # noqa: E402
from crealm.browse import addresses, cells  # noqa: E402
from crealm.browse.files import File, Files, Secret  # noqa: E402
from crealm.browse.guard import Guard  # noqa: E402
from crealm.browse.server import Browser  # noqa: E402

PORT = 8123
BASE = f"http://127.0.0.1:{PORT}"


class Asking:
    """A Browser with some files, and a client that knows its token."""

    def __init__(self, *paths, seconds=20.0, **options):
        self.browser = Browser(Files([File(str(path), **options) for path in paths]), seconds=seconds)
        self.guard = Guard(self.browser.app, PORT)
        self.client = TestClient(self.guard, base_url=BASE, headers={"authorization": f"Bearer {self.guard.token}"}, follow_redirects=False)

    def __enter__(self):
        self.client.__enter__()
        return self

    def __exit__(self, *_):
        self.client.__exit__(None, None, None)

    def get(self, *parts, status=200, **options):
        """The answer to an address, as JSON."""
        address = addresses.path(parts) + ".json" if parts else "/-/files.json"
        found = self.client.get(address, params=options)
        assert found.status_code == status, found.text[:500]
        return found.json()

    def error(self, *parts, status=400, **options):
        return self.get(*parts, status=status, **options)["error"]


def stored(path):
    """The contents of a fixture, from the tests of other engines: classes by name, with "properties" and "objects"."""
    place = path.with_suffix(".json")
    text = place.read_text(encoding="utf-8") if place.exists() else gzip.decompress(path.with_suffix(".json.gz").read_bytes()).decode("utf-8")
    return json.loads(text)["classes"]


def fixtures(*names):
    """The paths of the fixtures that exist."""
    found = [FIXTURES / name for name in names]
    return [path for path in found if path.exists()]


def secret_of(path):
    key = Path(path).with_suffix(".key")
    return Secret(key=key.read_bytes()) if key.exists() else Secret()


def as_stored(cell):
    """A cell with a single value or a link, in the form of the fixtures; texts and bytes that were cut stay cut."""
    kind = cell["t"]
    if kind == "null":
        return None
    if kind == "int":
        return int(cell["v"])
    if kind in ("float", "float32"):
        return ("$dbl" if kind == "float" else "$flt", float(cell["v"]))
    if kind == "date":
        seconds, rest = divmod(abs(int(cell["ns"])), 10**9)
        sign = -1 if int(cell["ns"]) < 0 else 1
        return ("$ts", sign * seconds, sign * rest)
    if kind == "binary":
        return ("$bin", cell["size"], cell["hex"])
    if kind in ("link", "object"):
        return ("$link", cell["class"], cell["key"])
    if kind in ("decimal", "uuid", "objectId"):
        return (kind, cell["v"].replace("-", "") if kind == "uuid" else cell["v"])
    return cell["v"]


def expected(value, limits=cells.TABLE):
    """The same form of a value of a fixture."""
    if isinstance(value, str):
        return value[: limits.text]
    if not isinstance(value, dict):
        return value
    ((mark, content),) = value.items()
    if mark in ("$dbl", "$flt"):
        number = float(content)
        return (mark, struct.unpack("f", struct.pack("f", number))[0] if mark == "$flt" else number)
    if mark == "$ts":
        return ("$ts", *content)
    if mark == "$bin":
        return ("$bin", len(content) // 2, content[: 2 * limits.bytes])
    if mark == "$link":
        return ("$link", *content)
    if mark == "$dec":
        return ("decimal", str(c.decimal_from_bits(int(content[:16], 16), int(content[16:], 16))))
    return ({"$oid": "objectId", "$uuid": "uuid"}[mark], content)
