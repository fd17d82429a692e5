"""Long values as files: a list of bytes, or of texts, whose elements are the parts of one value.

A property of bytes or text holds at most 16 MB. A list property holds up to 4 GiB, and `open()` of the list gives a file
object that reads and writes it in parts:

    class Document(crealm.Model):
        name: str = crealm.field(primary_key=True)
        content: list[bytes]

    with db.write(), document.content.open("wb") as file:
        shutil.copyfileobj(source, file)
    with document.content.open("rb") as file:
        start = file.read(1000)

The list stays an ordinary list, which every program that knows Realm reads: writing makes elements of 64 KB. A write
keeps what it wrote in memory until its end, so a program that writes much ends the write now and then:

    file = document.content.open("ab")
    while part := source.read(16 << 20):
        with db.write():
            file.write(part)
"""

from __future__ import annotations

import ctypes
import errno
import io
import operator
import os
import sys
from typing import Any, Optional

from . import _marshal as c
from ._library import lib
from .errors import NotSupportedError

__all__ = ["BlobFile", "opened"]

_LAST = (1 << 63) - 1
MODES = ("rb", "r+b", "wb", "ab", "r", "w", "a")


class BlobFile(io.RawIOBase):
    """The bytes of a list as a file; `List.open()` makes it. Positions are bytes. It is used on the thread of the
    database. Every write needs `with db.write():`, as all changes do."""

    def __init__(self, parts: Any, mode: str) -> None:
        self._list = parts
        self._position = 0
        self._end = 0  # The size after the last write; 0 after seek().
        self._reads = mode[0] == "r"
        self._writes = mode != "rb" and mode != "r"
        self._appends = mode[0] == "a"
        if mode[0] == "w":
            parts._begin().call(c.check, lib.crealm_blob_resize, 0)

    def __repr__(self) -> str:
        return f"<BlobFile of {'closed ' if self.closed else ''}{self._list._property.name!r}>"

    def readable(self) -> bool:
        return self._reads

    def writable(self) -> bool:
        return self._writes

    def seekable(self) -> bool:
        return True

    def size(self) -> int:
        """The number of bytes."""
        self._check()
        size: int = self._list._handle.call(_size)
        return size

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._check()
        if whence not in (io.SEEK_SET, io.SEEK_CUR, io.SEEK_END):
            raise ValueError(f"invalid whence ({whence}, should be 0, 1 or 2)")
        start = (0, self._position, self.size() if whence == io.SEEK_END else 0)[whence]
        self._position = _position(start + operator.index(offset))
        self._end = 0
        return self._position

    def tell(self) -> int:
        self._check()
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fills a buffer; returns how many bytes were read: 0 at the end."""
        self._check()
        if not self._reads:
            raise io.UnsupportedOperation("not readable")
        with memoryview(buffer).cast("B") as room:
            if not len(room):
                return 0
            target = (ctypes.c_char * len(room)).from_buffer(room)
            read: int = self._list._handle.call(_read, self._position, ctypes.addressof(target), len(room))
            del target
        self._position += read
        return read

    def read(self, size: Optional[int] = -1) -> bytes:
        """Up to `size` bytes; all bytes from the position on, if it is negative or None."""
        left = max(self.size() - self._position, 0)
        content = bytearray(left if size is None or size < 0 else min(size, left))
        del content[self.readinto(content) :]
        return bytes(content)

    def readall(self) -> bytes:
        return self.read()

    def readline(self, size: Optional[int] = -1) -> bytes:
        start, line = self._position, bytearray()
        limit = sys.maxsize if size is None or size < 0 else size
        while len(line) < limit:
            part = self.read(min(8192, limit - len(line)))
            end = part.find(b"\n") + 1
            line += part[:end] if end else part
            if end or not part:
                break
        self._position = start + len(line)
        return bytes(line)

    def write(self, data: Any) -> int:
        """Writes all bytes, at the end if the mode is "ab". A gap before the position is filled with zeros."""
        self._check()
        if not self._writes:
            raise io.UnsupportedOperation("not writable")
        handle = self._list._begin()
        if self._appends:
            self._position = self.size()
        elif self._end > self.size():
            raise ValueError("the value is shorter than after the last write, perhaps by a rollback: call seek() first")
        with memoryview(data) as view:
            content = bytes(view)
        handle.call(_write, self._position, content)
        self._position += len(content)
        self._end = self._position
        return len(content)

    def truncate(self, size: Optional[int] = None) -> int:
        """Cuts the value at `size`, by default at the position, or fills it with zeros up to there."""
        self._check()
        if not self._writes:
            raise io.UnsupportedOperation("not writable")
        end = self._position if size is None else _position(operator.index(size))
        self._list._begin().call(c.check, lib.crealm_blob_resize, end)
        self._end = min(self._end, end)
        return end


def opened(parts: Any, mode: str) -> Any:
    """The file of a list; see `List.open`."""
    property = parts._property
    if property.type not in (c.P_STRING, c.P_BINARY):
        raise NotSupportedError(
            f"{property.name!r} is no list of bytes or texts",
            hint="only list[bytes] and list[str] are opened as files",
        )
    if mode not in MODES:
        raise ValueError(f"invalid mode {mode!r}: one of {', '.join(MODES)} is needed")
    if mode in ("r", "w", "a"):
        if property.type != c.P_STRING:
            raise ValueError(f"{property.name!r} holds bytes: use mode {mode}b")
        file = BlobFile(parts, mode)
        if mode == "r":
            return io.TextIOWrapper(io.BufferedReader(file, 1 << 16), "utf-8", newline="")
        return _TextWriter(file)
    return BlobFile(parts, mode)


def _position(position: int) -> int:
    """A position of a file; OSError as files of the system raise it."""
    if position < 0:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    if position > _LAST:
        raise OverflowError(f"the position {position} is too large")
    return position


class _TextWriter(io.TextIOBase):
    """A text file that writes whole characters."""

    def __init__(self, file: BlobFile) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._file.seek(0, io.SEEK_END)
        self._file.write(text.encode("utf-8"))
        return len(text)

    def close(self) -> None:
        self._file.close()
        super().close()


def _size(pointer: int) -> int:
    size = ctypes.c_uint64()
    if not lib.crealm_blob_get_size(pointer, ctypes.addressof(size)):
        c.fail()
    return size.value


def _read(pointer: int, offset: int, target: int, size: int) -> int:
    return c.get_size(pointer, _reading, offset, target, size)


def _reading(pointer: int, offset: int, target: int, size: int, out: int) -> bool:
    done: bool = lib.crealm_blob_read(pointer, offset, target, size, out)
    return done


def _write(pointer: int, offset: int, content: bytes) -> None:
    c.check(pointer, lib.crealm_blob_write, offset, content, len(content))


_write.moves = True  # type: ignore[attr-defined]
