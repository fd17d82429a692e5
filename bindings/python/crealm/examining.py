"""Reads facts about a file, and checks it, without opening it: writes, locks and creates nothing, also beside the file.

    info = crealm.file_info("found.realm")
    print(info.format, info.newest.version, info.problem)
    for fault in crealm.check("found.realm").faults:
        print(fault)
"""

from __future__ import annotations

import ctypes
import json
import os
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple, TypeVar, Union

from . import _marshal as c
from ._library import has, lib
from ._progress import Attendant, Progress
from ._prototypes import SCHEMA_MODE_IMMUTABLE, CheckInfo as _CheckInfo, FileFaultInfo as _FileFaultInfo, FileInfo as _FileInfo, SlotInfo as _SlotInfo
from .errors import NotSupportedError
from ._shown import table
from .faults import Fault, Faults

Result = TypeVar("Result")
Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]

_KINDS = ("empty", "realm", "encrypted", "other")
_FORMS = ("none", "CRealm", "Realm")
_CIPHERS = {0: "XChaCha20-Poly1305", 1: "AES-256-GCM", 2: "AES-256-CBC with HMAC"}
_USES = ("none", "read", "upgrade", "write")
_STATES = ("empty", "version", "damaged", "streaming mark", "unknown")
_RESULTS = ("sound", "faulty", "unreadable")
_VERSION_STATES = ("", "sound", "faulty", "reused")
HISTORIES = {0: "none", 1: "outside the file", 2: "in the file", 3: "sync client", 4: "sync server"}


class Slot(NamedTuple):
    """One of the two slots of the header; each can refer to a version."""

    state: str  # "empty", "version", "damaged", "streaming mark", or "unknown" if no header could be read.
    format: int  # 0: no format was chosen yet.
    top_ref: int  # The offset of the version's top array in the decrypted file.
    version: Optional[int]  # None unless the state is "version"; so are the next three fields.
    logical_size: Optional[int]  # The bytes of the decrypted file that the version may use.
    history: Optional[str]
    history_schema_version: Optional[int]
    problem: Optional[str]


class FileInfo(NamedTuple):
    """The facts that file_info() reads from a file."""

    path: str
    kind: str  # "empty", "realm", "encrypted" (without its key nothing else is known) or "other".
    encryption: str  # "none", "CRealm" or "Realm": the product that defined the encrypted form.
    cipher: Optional[str]
    secret: Optional[str]  # The kind of secret that opens the file: "key" or "passphrase".
    is_streaming: bool  # Whether it was written in one piece, and not opened for writing since.
    use: str  # What an open can do: "none", "read", "upgrade" (opening for writing converts the file) or "write".
    file_size: int
    data_size: Optional[int]  # The bytes of the decrypted contents; None without the key.
    selected_slot: Optional[int]
    slots: Tuple[Slot, Slot]
    newest: Slot  # The version that an open shows: the selected slot, unless a crash prevented the header's update.
    writer: Optional[str]  # The library that writes files like this.
    problem: Optional[str]  # Why the file cannot be used, or not for writing, and what to do about it.

    @property
    def format(self) -> Optional[int]:
        """The number of the file format; None if it is not known, or was not chosen yet."""
        return self.newest.format or None

    @property
    def is_encrypted(self) -> bool:
        """Whether the file is known to be encrypted."""
        return self.encryption != "none"

    def to_dict(self) -> Dict[str, Any]:
        """The facts as a dictionary for JSON."""
        facts = self._asdict()
        facts.update(format=self.format, slots=[slot._asdict() for slot in self.slots], newest=self.newest._asdict())
        return facts


def file_info(path: Path, *, key: Optional[bytes] = None, passphrase: Union[str, bytes, None] = None) -> FileInfo:
    """Reads facts from the first bytes of a file, and (for an encrypted file only with its key) from its header and the
    top arrays of both versions.

    A file that is no realm file, or damaged, or encrypted with another key, is not an error: see `kind`, `use` and
    `problem` of the result. Writes, locks and creates nothing. FileNotFound, PermissionDenied and other FileErrors if
    the file cannot be read.

    key, passphrase: as in open(); ignored if not needed.
    """
    return _asked("crealm_file_info", path, key, passphrase, _file_info)


class CheckedVersion(NamedTuple):
    """A version of a file that was checked."""

    version: int
    slot: Optional[int]  # The slot of the header that refers to it; None: no slot does yet, see FileInfo.newest.
    is_newest: bool  # Whether an open shows this version.
    state: str  # "sound", "faulty" or "reused": later commits or a later upgrade have overwritten parts of it.
    fault_count: int


class Check(NamedTuple):
    """The result of check()."""

    # For the newest version: "sound", "faulty", or "unreadable": encrypted with another key, or no key was given.
    result: str
    info: FileInfo
    # The newest first, then those of the slots of the header. None is the newest if that one cannot be read.
    versions: Tuple[CheckedVersion, ...]
    faults: Faults  # Each with the slot whose version has it.
    report: str  # A text for people.
    json: str  # JSON for programs.

    @property
    def newest_faults(self) -> int:
        """The number of faults of the newest version, including those of the file as a whole."""
        return self.faults.total - sum(version.fault_count for version in self.versions if not version.is_newest)

    @property
    def is_sound(self) -> bool:
        """Whether the newest version has no fault."""
        return self.result == "sound"

    def _repr_html_(self) -> str:
        """The versions and the faults, for Jupyter."""
        rows = [
            [version.version, "newest" if version.is_newest else None, version.state, version.fault_count]
            for version in self.versions
        ]
        made = table(f"{self.info.path}: {self.result}", ["version", "", "state", "faults"], rows)
        return f"{made}\n{self.faults._repr_html_()}" if self.faults.total else made


def check(
    path: Path,
    *,
    key: Optional[bytes] = None,
    passphrase: Union[str, bytes, None] = None,
    snapshot: bool = False,
    limit: int = 1000,
    progress: Optional[Progress] = None,
) -> Check:
    """Checks a file without opening it: its header, and each version that the header refers to.

    A file that cannot be opened is not an error: the result has the fault and its place. Database.verify() checks an
    open database.

    snapshot: checks a private copy, for files that others may be writing. Without it FileKeepsChanging if another
          program writes to the file.
    limit: the number of faults in the list; `faults.total` is the number of all.
    progress: as in open(). Ctrl-C ends the check, too.
    """
    attendant = Attendant(progress)

    def checked(config: int, where: str) -> Check:
        c.attend(config, attendant, None)
        lib.crealm_config_set_snapshot(config, snapshot)
        block = ctypes.c_void_p()
        if not lib.crealm_check(config, c.most(limit), ctypes.byref(block)):
            c.fail(where)
        try:
            return _made_check(_CheckInfo.from_address(block.value or 0))
        finally:
            lib.realm_free(block)

    return _asked("crealm_check", path, key, passphrase, checked)


def _made_check(found: _CheckInfo) -> Check:
    versions = [found.versions[i] for i in range(found.num_versions)]
    info = made_info(found.info.contents)
    # Where the newest version cannot be read, the library marks the first one that can be.
    newest = info.newest.version
    return Check(
        result=_RESULTS[found.result],
        info=info,
        versions=tuple(
            CheckedVersion(
                v.version, None if v.slot < 0 else v.slot, v.is_newest and v.version == newest, _VERSION_STATES[v.state], v.num_faults)
            for v in versions),
        faults=Faults((_made_fault(found.faults[i]) for i in range(found.num_faults)), found.total_faults),
        report=_text(found.report) or "",
        json=_json(_text(found.json) or "", newest),
    )


def _json(text: str, newest: Optional[int]) -> str:
    """The JSON of a check, in which an older version is not marked as the newest one."""
    told = json.loads(text) if newest is None and text else {}
    marked = [version for version in told.get("versions", ()) if version.get("newest")]
    for version in marked:
        version["newest"] = False
    return json.dumps(told, ensure_ascii=False) if marked else text


def _made_fault(found: _FileFaultInfo) -> Fault:
    f = found.fault
    return Fault(
        c.FAULT_KINDS.get(f.kind, str(f.kind)), _text(f.class_name), _text(f.property), None if f.object < 0 else f.object, f.offset,
        _text(f.message) or "", None if found.slot < 0 else found.slot)


def _asked(name: str, path: Path, key: Optional[bytes], passphrase: Union[str, bytes, None], read: Callable[[int, str], Result]) -> Result:
    """Calls read(config, path) with a config for the file, and returns the result."""
    if not has(name):
        raise NotSupportedError("The loaded library examines no files")
    where = os.path.abspath(os.fsdecode(path))
    config = c.make_config(c.c_name(where), SCHEMA_MODE_IMMUTABLE, c.make_secret(key, passphrase, None, where))
    try:
        return read(config, where)
    finally:
        lib.realm_release(config)


def _file_info(config: int, where: str) -> FileInfo:
    block = ctypes.c_void_p()
    if not lib.crealm_file_info(config, ctypes.byref(block)):
        c.fail(where)
    try:
        return made_info(_FileInfo.from_address(block.value or 0))
    finally:
        lib.realm_free(block)


def made_info(info: _FileInfo) -> FileInfo:
    """The FileInfo of a struct of the library."""
    is_encrypted = info.encryption != 0
    return FileInfo(
        path=os.fsdecode(info.path),
        kind=_KINDS[info.kind],
        encryption=_FORMS[info.encryption],
        cipher=_CIPHERS.get(info.cipher),
        secret=("passphrase" if info.wants_passphrase else "key") if is_encrypted else None,
        is_streaming=info.is_streaming,
        use=_USES[info.use],
        file_size=info.file_size,
        data_size=info.data_size if info.kind == 1 else None,
        selected_slot=None if info.selected_slot < 0 else info.selected_slot,
        slots=(_made_slot(info.slots[0]), _made_slot(info.slots[1])),
        newest=_made_slot(info.newest),
        writer=_text(info.writer),
        problem=_text(info.problem),
    )


def _made_slot(slot: _SlotInfo) -> Slot:
    has_version = slot.state == 1
    return Slot(
        state=_STATES[slot.state],
        format=slot.format,
        top_ref=slot.top_ref,
        version=slot.version if has_version else None,
        logical_size=slot.logical_size if has_version else None,
        history=HISTORIES.get(slot.history_type, str(slot.history_type)) if has_version else None,
        history_schema_version=slot.history_schema_version if has_version else None,
        problem=_text(slot.problem),
    )


def _text(text: Optional[bytes]) -> Optional[str]:
    return None if text is None else text.decode("utf-8", "replace")
