"""Salvages the contents of damaged files, and recovers deleted objects from free space."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Union

from . import _library, _marshal as c
from ._library import lib
from ._progress import Attendant, Progress
from ._prototypes import SCHEMA_MODE_AUTOMATIC
from .errors import NotSupportedError
from .opening import Path, _resolve


class SalvagedProperty(NamedTuple):
    """The salvaged and lost values of a property."""

    name: str
    lost: int  # Lost values: the new file has the default of the property, or None.
    older: int  # Values from an older version of the file than the rest of their object.
    lost_links: int  # Links to lost objects: they are None, or omitted from their collection.
    lost_elements: int  # Lost elements of collections; the real number may be higher.
    not_utf8: int  # Texts that are not UTF-8; they are copied unchanged.


class SalvagedClass(NamedTuple):
    """The salvaged and lost objects of a class."""

    name: str
    objects: int  # The number of objects in the new file.
    apart: int  # How many of them are in the class `…_salvaged`, because they cannot be in their own class.
    older: int  # How many of them are from an older version of the file.
    found: int  # How many of them only a scan of the file found; they have new keys.
    lost: Optional[int]  # The number of objects known to be lost; None: some are lost, but their number is not known.
    names_known: bool  # False: the name of the class, or names of properties, are damaged or were invented.
    properties: List[SalvagedProperty]


class LostClass(NamedTuple):
    """A class of which hardly more than the name could be read."""

    name: Optional[str]
    reason: str


class Salvage(NamedTuple):
    """The report of `salvage`. str() has a line for each loss."""

    whole: bool  # Whether the new file has everything of the newest version, in which `check` finds no fault.
    format: int  # The format of the damaged file.
    version: int  # The version of the newest data that was found.
    classes: List[SalvagedClass]
    lost_classes: List[LostClass]
    faults: Optional[int]  # The number of faults of the newest version found; None: it could not be checked.
    contradictions: Optional[int]  # How many faults are values that contradict each other, such as link and backlink.
    damaged_pages: List[int]  # The first pages of an encrypted file that do not authenticate.
    damaged_page_count: int
    roots: List[Dict[str, Any]]  # Places that were searched: origin, top (offset), version, reason (None: it was used).

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """A text report of the salvaged and lost data, line by line."""
        total = sum(one.objects for one in self.classes)
        classes = "1 class" if len(self.classes) == 1 else f"{len(self.classes)} classes"
        yield f"{total:,} objects of {classes}" + (", nothing lost" if self.whole else "")
        if self.faults:
            yield f"{self.faults:,} faults, {self.contradictions:,} of them values that contradict each other: `crealm check` names them"
        elif self.faults is None and not self.whole:
            yield "the newest version could not be checked, and may have more faults: `crealm check` tells why"
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


def restore(
    steps: Union[Path, Sequence[Path]],
    out: Path,
    *,
    key: Optional[bytes] = None,
    passphrase: Union[str, bytes, None] = None,
    progress: Optional[Progress] = None,
) -> None:
    """Makes a realm file from the steps of a backup (Database.backup_since): the version of the last step.

    steps: in their order, the first one first; a single path is a chain of one step.
    out: the new file. FileExists if the path exists; after an error there is no new file.
    key, passphrase: the secret of the steps, which the new file has, too. It also has the cipher of the last step's file.
    progress: as in open().

    UsageError if the steps do not form a chain; CorruptFileError if a step is damaged. Any thread.
    """
    where, target_path = _resolve(out)
    if isinstance(steps, (str, bytes, os.PathLike)):
        steps = [steps]
    paths = [_resolve(step)[1] for step in steps]
    with _config(target_path, c.make_secret(key, passphrase, None, where), progress) as config:
        c.restore(config, paths)


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
    """Makes a new file with everything that can still be read from a damaged file, and reports the losses.

    path: the damaged file. It is only read. No other program may have it open.
    out:  the new file, in the newest format. FileExists if the path exists; after an error there is no new file.
    key, passphrase: the secret of the damaged file, if it is encrypted.
    out_key, out_passphrase, page_cipher: the encryption of the new file. Without out_key and out_passphrase it has the
          secret of the damaged file; with `plain` it is not encrypted.
    progress: as in open().

    Objects keep their keys. A lost value becomes the default of its property, a link to a lost object becomes None.
    Objects that cannot be in their class, because their primary key or owner is lost, are in an additional class
    `…_salvaged`. CorruptFileError if nothing was found. Any thread.
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
    """The remains of an object in free space."""

    kind: str  # "deleted": a deleted object. "former": earlier values of an object. "unplaced": of an unknown object.
    class_name: Optional[str]
    key: Optional[int]  # The object's key; None: lost.
    version: Optional[int]  # The newest version of the file that is known to have had it.
    proven: bool  # Whether the version before the newest one has it, and no byte of that version was overwritten.
    offset: int  # The offset of its cluster in the decrypted file.
    size: int  # Bytes of that node.
    values: Dict[str, Any]  # The values by property, in the JSON form of docs/salvage.md.
    lost: List[str]  # Properties whose values were overwritten.
    # If class_name is None: the class whose columns were used to read the values. The object may be of another class.
    resembles: Optional[str] = None


def recover_deleted(
    path: Path,
    *,
    key: Optional[bytes] = None,
    passphrase: Union[str, bytes, None] = None,
    progress: Optional[Progress] = None,
) -> List[Remain]:
    """Finds data in the free space of a file: deleted objects, and earlier values of objects.

    The file is only read. No other program may have it open. A deleted object in the list is never one that still
    exists. Only data that the version before the newest one still has is proven, because free space is overwritten
    again and again.

    CorruptFileError if the newest version cannot be read: then `salvage` may help. Any thread.
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
