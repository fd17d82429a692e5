"""Names in the file as parts of addresses. Classes, properties and keys of dictionaries may have any name: with slashes, with dots, or empty.

    /people.realm/class/Person/12/dogs/0          and the same with .json at the end

Each part is percent-encoded as a whole. Names with another meaning for a web client get a "~" in front: the empty name, "." and "..", and
names that begin with "~". The last dot of a name that ends in ".json" is encoded, so that a literal ".json" at the end of an address always means
the JSON form.
"""

from __future__ import annotations

from typing import Iterable, List, NamedTuple, Sequence
from urllib.parse import quote, unquote_to_bytes

_JSON = ".json"


class Address(NamedTuple):
    """The decoded parts of a path, and whether the address is that of the JSON form."""

    parts: Sequence[str]
    is_json: bool


def encode(name: str) -> str:
    """A name as one part of a path."""
    marked = "~" + name if name in ("", ".", "..") or name.startswith("~") else name
    text = quote(marked, safe="")
    return text[: -len(_JSON)] + "%2Ejson" if text.endswith(_JSON) else text


def path(parts: Iterable[object]) -> str:
    """The path with these parts, from the root of the server."""
    return "/" + "/".join(encode(str(part)) for part in parts)


def decode(raw: str) -> Address:
    """The opposite of path(), for a path in the form that the client sent. ValueError if a part is not UTF-8."""
    is_json = raw.endswith(_JSON)
    trimmed = (raw[: -len(_JSON)] if is_json else raw).strip("/")
    parts: List[str] = [_decoded(part) for part in trimmed.split("/")] if trimmed else []
    return Address(parts, is_json)


def _decoded(part: str) -> str:
    text = unquote_to_bytes(part).decode("utf-8")
    return text[1:] if text.startswith("~") else text
