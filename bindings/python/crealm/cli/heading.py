"""What the beginning of a file says of itself, read from its bytes: form, encryption, history. A damaged file says less."""

from __future__ import annotations

import os
import struct
from typing import BinaryIO, Dict, NamedTuple, Optional

_MAGIC, _KEY_BLOCK = b"T-DB", b"CRealmE1"
_FOOTER = struct.Struct("<QQ")
_FOOTER_MARK = 0x3034125237E526C8
_CIPHERS = {0: "XChaCha20-Poly1305", 1: "AES-256-GCM"}
_SECRETS = {0: "key", 1: "passphrase"}
_HISTORIES = {0: "none", 1: "outside the file", 2: "in the file", 3: "sync client", 4: "sync server"}


class Heading(NamedTuple):
    """None for what cannot be told."""

    format: Optional[int] = None  # The number of the file format.
    is_encrypted: bool = False
    cipher: Optional[str] = None
    secret: Optional[str] = None  # "key" or "passphrase".
    history: Optional[str] = None
    is_streaming: bool = False  # Written in one piece, and not opened for writing since.


def read_heading(path: str, has_key: bool) -> Heading:
    """has_key: whether the file was opened with a key or passphrase."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:8] == _KEY_BLOCK and len(head) >= 10:
            return Heading(is_encrypted=True, cipher=_CIPHERS.get(head[8]), secret=_SECRETS.get(head[9]))
        if has_key:
            return Heading(is_encrypted=True, cipher="AES-256-CBC with HMAC, the form of Realm", secret="key")
        if len(head) < 24 or head[16:20] != _MAGIC:
            return Heading()
        slot = head[23] & 1
        (top,) = struct.unpack_from("<Q", head, 8 * slot)
        is_streaming = not slot and top == 0xFFFFFFFFFFFFFFFF
        size = file.seek(0, os.SEEK_END)
        if is_streaming and size >= 40:
            file.seek(size - 16)
            top, mark = _FOOTER.unpack(file.read(16))
            top = top if mark == _FOOTER_MARK else size
        history = "none" if not top else _HISTORIES.get(_slot(file, top, 7)) if top < size else None
        return Heading(head[20 + slot] or None, history=history, is_streaming=is_streaming)


def _slot(file: BinaryIO, ref: int, index: int) -> int:
    """A tagged number of an array; 0 where the array is too short, -1 where there is none."""
    file.seek(ref)
    head = file.read(8)
    if len(head) < 8 or head[4] >> 3 & 3:
        return -1
    width, size = (1 << (head[4] & 7)) >> 1, int.from_bytes(head[5:8], "big")
    if index >= size:
        return 0
    if width < 8:
        return -1  # Refs take more.
    file.seek(ref + 8 + index * width // 8)
    number = file.read(width // 8)
    return int.from_bytes(number, "little") >> 1 if len(number) == width // 8 else -1


def heading_facts(heading: Heading) -> Dict[str, str]:
    """For people."""
    form = "unknown (it is inside the encryption)" if heading.is_encrypted else "unknown" if heading.format is None else str(heading.format)
    how = ", ".join(part for part in (heading.cipher, heading.secret and f"opened by a {heading.secret}") if part)
    return {
        "file format": form + (", written in one piece" if heading.is_streaming else ""),
        "encryption": (how or "unknown cipher") if heading.is_encrypted else "none",
        "history": heading.history or "unknown",
    }
