"""where: prints the location of a value in the file: nodes, bytes and bits."""

from __future__ import annotations

import argparse
from typing import List

from ..database import Database
from ..errors import InvalidatedError
from ..inspection import Location, LocationPart
from ..objects import Object, Table
from .options import DONE, Commands, add_json
from .output import print_json, print_table


def add(commands: Commands) -> None:
    command = commands.reader("where", where, "print where in the file a value lies: the nodes on the way to it, its bytes and bits")
    command.add_argument("class_name", metavar="CLASS")
    command.add_argument("object", metavar="KEY", type=int, help="the key of the object, as `crealm query --json` prints it: $key")
    command.add_argument("property", metavar="PROPERTY")
    command.add_argument("--index", type=int, metavar="N", help="which element of a collection, from 0")
    add_json(command)


def where(db: Database, options: argparse.Namespace) -> int:
    found = db.locate(_object(db, options.class_name, options.object), options.property, options.index)
    if options.json:
        print_json({
            "file": db.path, "snapshot": db.version, "pageSize": found.page_size,
            "nodes": [{"role": n.role, "offset": n.offset, "size": n.size, "element": n.element} for n in found.nodes],
            "parts": [
                {"kind": p.kind, "node": p.node, "offset": p.offset, "firstBit": p.first_bit, "bits": p.bits, "page": p.page, "fileOffset": p.file_offset}
                for p in found.parts],
        })  # fmt: skip
        return DONE
    _print(found)
    return DONE


def _object(db: Database, class_name: str, key: int) -> Object:
    table: Table[Object] = db[class_name]
    for obj in table:
        if obj.object_key == key:
            return obj
    raise InvalidatedError(f"{class_name} has no object with key {key}")


def _print(found: Location) -> None:
    nodes = [[n.role, str(n.offset), str(n.size), "" if n.element is None else str(n.element)] for n in found.nodes]
    print_table([["node", "at byte", "bytes", "element"], *nodes])
    print()
    head = ["part", "at byte", "bits", "in node"]
    if found.page_size is not None:
        head += ["page", "ciphertext at byte"]
    print_table([head, *(_part(p) for p in found.parts)])


def _part(part: LocationPart) -> List[str]:
    bits = str(part.bits) + (f" from bit {part.first_bit}" if part.first_bit or part.bits % 8 else "")
    cells = [part.kind, str(part.offset), bits, str(part.node)]
    return cells if part.page is None else [*cells, str(part.page), str(part.file_offset)]
