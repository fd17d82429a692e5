"""What damaged files still hold, and what deleted objects left."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Union

from . import _library, _marshal as c
from ._library import lib
from ._progress import Attendant, Progress
from ._prototypes import SCHEMA_MODE_AUTOMATIC
from .errors import NotSupportedError
from .opening import Path, _resolve


class SalvagedProperty(NamedTuple):
    """What became of the values of a property."""

    name: str
    lost: int  # Values that are lost: the property has its default, or None.
    older: int  # Values of an older version of the file than the object is of.
    lost_links: int  # Links whose objects are lost: None, or left out of their collection.
    lost_elements: int  # Elements of collections that are lost; at least so many.
    not_utf8: int  # Texts that are not UTF-8, kept as they are.


class SalvagedClass(NamedTuple):
    """What became of the objects of a class."""

    name: str
    objects: int  # In the new file.
    apart: int  # Of these, in the class `…_salvaged` beside it: they cannot stand in their own.
    older: int  # Of these, from an older version of the file.
    found: int  # Of these, found by a scan without the way to them: with new keys.
    lost: Optional[int]  # Known to be lost; None: some are, nobody knows how many.
    names_known: bool  # False: its name, or names of properties, are damaged or made up.
    properties: List[SalvagedProperty]


class LostClass(NamedTuple):
    """A class of which hardly more than the name is left."""

    name: Optional[str]
    reason: str


class Salvage(NamedTuple):
    """What `salvage` found and lost. As text: a line for each loss."""

    whole: bool  # All that the newest version had is in the new file, and `check` finds no fault in it.
    format: int  # Of the damaged file.
    version: int  # Of the newest data found.
    classes: List[SalvagedClass]
    lost_classes: List[LostClass]
    faults: Optional[int]  # What `check` finds in the newest version found; None: it could not be checked.
    contradictions: Optional[int]  # Those of them that are values that contradict each other, as a link and its backlink.
    damaged_pages: List[int]  # Of an encrypted file: the first pages that do not authenticate.
    damaged_page_count: int
    roots: List[Dict[str, Any]]  # Where data was looked for: origin, top (offset), version, reason (None: it was used).

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """What was found and lost, for people."""
        total = sum(one.objects for one in self.classes)
        yield f"{total:,} objects of {len(self.classes)} classes" + (", nothing lost" if self.whole else "")
        if self.faults:
            yield f"{self.faults:,} faults, {self.contradictions:,} of them values that contradict each other: `crealm check` names them"
        for root in self.roots:
            if root["reason"]:
                yield f"damaged: the {root['origin']} version, at byte {root['top']}: {root['reason']}"
        if self.damaged_page_count:
            yield f"{self.damaged_page_count:,} pages do not authenticate: {_numbers(self.damaged_pages)}"
        for lost in self.lost_classes:
            yield f"lost: the class {lost.name or 'without a name'}: {lost.reason}"
        for one in self.classes:
            yield from _lines_of(one)


def _numbers(pages: List[int]) -> str:
    shown = ", ".join(map(str, pages[:20]))
    return shown + (", …" if len(pages) > 20 else "")


def _lines_of(one: SalvagedClass) -> Iterator[str]:
    notes = []
    if one.lost is None:
        notes.append("others are lost, nobody knows how many")
    elif one.lost:
        notes.append(f"{one.lost:,} lost")
    notes += [
        text.format(count)
        for count, text in (
            (one.older, "{:,} of an older version"),
            (one.found, "{:,} found by a scan, with new keys"),
            (one.apart, f"{{:,}} in the class {one.name}_salvaged"),
        )
        if count
    ]
    if not one.names_known:
        notes.append("some of its names are lost")
    if notes:
        yield f"{one.name}: {one.objects:,} objects; " + "; ".join(notes)
    for p in one.properties:
        parts = [
            text.format(count)
            for count, text in (
                (p.lost, "{:,} values lost"),
                (p.older, "{:,} values of an older version"),
                (p.lost_links, "{:,} links to lost objects"),
                (p.lost_elements, "{:,} elements lost"),
                (p.not_utf8, "{:,} texts that are not UTF-8"),
            )
            if count
        ]
        if parts:
            yield f"{one.name}.{p.name}: " + "; ".join(parts)


def salvage(
    path: Path,
    out: Path,
    *,
    key: Optional[bytes] = None,
    passphrase: Union[str, bytes, None] = None,
    out_key: Optional[bytes] = None,
    out_passphrase: Union[str, bytes, None] = None,
    page_cipher: Optional[str] = None,
    plain: bool = False,
    progress: Optional[Progress] = None,
) -> Salvage:
    """Makes a new file of everything that a damaged file still holds, and tells what was lost.

    path: the damaged file. It is only read. Nobody may have it open.
    out:  the new file, of the newest format. FileExists where something is there; after an error there is none.
    key, passphrase: of the damaged file, if it is encrypted.
    out_key, out_passphrase, page_cipher: of the new file. Without any it has the secret of the damaged one, and with
          `plain` none.
    progress: as of open().

    Objects keep their keys. What is lost reads as the default of its property, links to lost objects as None. Objects that
    cannot stand in their class, because the primary key or the owner is lost, are in a class `…_salvaged` beside it.
    CorruptFileError when nothing at all was found. Any thread.
    """
    if not _library.has("crealm_salvage"):
        raise NotSupportedError("The loaded library cannot salvage files")
    where, source_path = _resolve(path)
    there, target_path = _resolve(out)
    source = c.make_secret(key, passphrase, None, where)
    if out_key is None and out_passphrase is None and not plain:
        target = c.make_secret(key, passphrase, page_cipher, there)
    else:
        target = c.make_secret(out_key, out_passphrase, page_cipher, there)
    with _config(source_path, source, progress) as from_config:
        to_config = c.make_config(target_path, SCHEMA_MODE_AUTOMATIC, target)
        try:
            text = c.take_text(lib.crealm_salvage, from_config, to_config)
        finally:
            lib.realm_release(to_config)
    return _report(json.loads(text))


@contextmanager
def _config(path: bytes, secret: c.Secret, progress: Optional[Progress]) -> Iterator[int]:
    """A config for one call of the library."""
    attendant = Attendant(progress)
    config = c.make_config(path, SCHEMA_MODE_AUTOMATIC, secret)
    try:
        c.attend(config, attendant, None)
        yield config
    finally:
        lib.realm_release(config)


def _report(told: Dict[str, Any]) -> Salvage:
    told["classes"] = [
        SalvagedClass(**{**one, "properties": [SalvagedProperty(**p) for p in one["properties"]]}) for one in told["classes"]
    ]
    told["lost_classes"] = [LostClass(**one) for one in told["lost_classes"]]
    return Salvage(**told)


class Remain(NamedTuple):
    """What is left in free space of an object."""

    kind: str  # "deleted": it is no more, as it was last. "former": earlier values. "unplaced": nobody knows whose.
    class_name: Optional[str]
    key: Optional[int]  # The object's key; None: lost.
    version: Optional[int]  # The newest version of the file that is known to have had it.
    proven: bool  # The version before the newest has it, whose bytes nothing wrote over.
    offset: int  # The byte of the file, decrypted, where its cluster begins.
    size: int  # Bytes of that node.
    values: Dict[str, Any]  # By property, as JSON has them: see docs/salvage.md.
    lost: List[str]  # Properties whose values were written over.
    resembles: Optional[str] = None  # Where class_name is None: the class by whose columns the values were read. It may be another.


def recover_deleted(
    path: Path,
    *,
    key: Optional[bytes] = None,
    passphrase: Union[str, bytes, None] = None,
    progress: Optional[Progress] = None,
) -> List[Remain]:
    """Finds what still lies in the free space of a file: objects that were deleted, and former values of objects.

    The file is only read. Nobody may have it open. An object that lives is never among the deleted ones. None of it is
    proven but what the version before the newest still has: free space is written again and again.

    CorruptFileError when the newest version cannot be read: then `salvage` may help. Any thread.
    """
    if not _library.has("crealm_recover_deleted"):
        raise NotSupportedError("The loaded library cannot find deleted objects")
    where, for_library = _resolve(path)
    with _config(for_library, c.make_secret(key, passphrase, None, where), progress) as config:
        told = json.loads(c.take_text(lib.crealm_recover_deleted, config))
    return [_remain(one) for one in told]


def _remain(told: Dict[str, Any]) -> Remain:
    told["class_name"], told["size"] = told.pop("class"), told.pop("bytes")
    return Remain(**told)
