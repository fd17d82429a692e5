"""sync: makes a hub for a file, exchanges changes with it, and tells how far it is."""

from __future__ import annotations

import argparse
import sys
import threading
import uuid
from typing import Any, Dict, List

from ..database import Database
from ..errors import UsageError
from ..opening import open as open_database
from ..schema import ClassSchema, Prop
from .options import DONE, FAILED, Commands, add_json, add_secret, duration, secret
from .output import print_error, print_json, printable

_ACTIONS = {
    "init": "make the tables of a hub, or add what they lack, and begin to mark the changes of the file",
    "run": "exchange changes until Ctrl-C, or once",
    "status": "what is unsent, and what the hub refused",
    "compare": "compare all objects with the hub",
    "prepare": "give classes without a primary key one",
    "drop": "remove the hub; the tables of the classes stay, unless --tables",
}
_WITH_HUB = ("init", "run", "compare", "drop")


def add(commands: Commands) -> None:
    command = commands.alone("sync", run, "exchange changes with other copies of the file through PostgreSQL")
    command.add_argument(
        "action", choices=list(_ACTIONS), help="; ".join(f"{k}: {v}" for k, v in _ACTIONS.items())
    )
    # One argument for both: argparse would take options behind the action as the end of an optional HUB.
    command.add_argument(
        "places",
        nargs="+",
        metavar="FILE",
        help="the realm file; for init, run, compare and drop behind the hub: a postgresql:// or https:// address",
    )
    add_secret(command)
    command.add_argument(
        "--class",
        dest="classes",
        action="append",
        metavar="NAME",
        help="init: only this class; may be given several times",
    )
    command.add_argument(
        "--owner",
        action="append",
        default=[],
        metavar="CLASS=PROPERTY",
        help="init: rows belong to the person that this property names",
    )
    command.add_argument(
        "--schema", default="public", metavar="NAME", help="init, drop: where the tables of the classes are"
    )
    command.add_argument("--role", metavar="NAME", help="init: a role that may use the hub, beside the owner")
    command.add_argument("--dry-run", action="store_true", help="init, drop: print the SQL, and do nothing")
    command.add_argument("--once", action="store_true", help="run: one exchange")
    command.add_argument(
        "--interval",
        type=duration,
        default=30.0,
        metavar="SECONDS",
        help="run: between exchanges, if nobody tells of changes",
    )
    command.add_argument(
        "--tables", action="store_true", help="drop: the tables of the classes, too, with all rows"
    )
    command.add_argument("--forget", action="store_true", help="status: empty the list of refused changes")
    add_json(command, "status: print JSON")


def run(options: argparse.Namespace) -> int:
    wanted = 2 if options.action in _WITH_HUB else 1
    if len(options.places) != wanted:
        raise UsageError(f"sync {options.action} takes " + ("HUB and FILE" if wanted == 2 else "FILE"))
    options.hub, options.file = ([None] + options.places)[-2:]
    if options.action == "prepare":
        return _prepare(options)
    with open_database(options.file, mode="rw", **secret(options)) as db:
        action: int = globals()[f"_{options.action}"](db, options)
        return action


def _owners(options: argparse.Namespace) -> Dict[str, str]:
    owners = {}
    for one in options.owner:
        name, sign, column = one.partition("=")
        if not sign:
            raise UsageError(f"--owner {one}: it is CLASS=PROPERTY")
        owners[name] = column
    return owners


def _init(db: Database, options: argparse.Namespace) -> int:
    from ..sync import hub

    with hub.connect(options.hub) as connection:
        sql = hub.plan(
            connection,
            db,
            classes=options.classes,
            owners=_owners(options),
            schema_name=options.schema,
            role=options.role,
        )
        print(sql)
        if options.dry_run:
            return DONE
        connection.execute(sql)
    status = db.sync.status
    if not status.enabled:
        db.sync.enable(options.classes)
    else:
        wanted = options.classes or [name for name, one in db.schema.items() if not one.embedded]
        added = [name for name in wanted if name not in status.classes]
        if added:
            db.sync.enable(added)
    print(f"-- The hub is made. `crealm sync run {options.hub} {options.file}` exchanges changes.")
    return DONE


def _run(db: Database, options: argparse.Namespace) -> int:
    if not db.sync.status.enabled:
        raise UsageError(
            "The file is not synchronised", hint="`crealm sync init` makes a hub; db.sync.enable() joins one."
        )
    if options.once:
        _tell(db.sync.now(options.hub).events)
        return _status(db, options)
    worker = db.sync.start(options.hub, interval=options.interval, on_event=lambda event: _tell([event]))
    told = None
    try:
        while worker.is_running:
            threading.Event().wait(0.5)
            if worker.last_error is not None and str(worker.last_error) != told:
                told = str(worker.last_error)
                print_error(worker.last_error)
    except KeyboardInterrupt:
        pass  # The usual end.
    worker.stop()
    if worker.error is not None:
        print_error(worker.error)
        return FAILED
    return DONE


def _tell(events: Any) -> None:
    for event in events:
        words = [
            event.kind,
            event.class_name,
            event.key,
            event.detail,
            str(event.number) if event.number else "",
        ]
        print(" ".join(printable(word) for word in words if word), flush=True)


def _status(db: Database, options: argparse.Namespace) -> int:
    if options.forget:
        db.sync.forget_refused()
    status = db.sync.status
    if options.json:
        found = status._asdict()
        found["classes"] = {name: one._asdict() for name, one in status.classes.items()}
        found["refused"] = [one._asdict() for one in status.refused]
        print_json(found)
        return DONE
    if not status.enabled:
        print("The file is not synchronised.")
        return DONE
    print(f"device      {status.device}")
    print(f"hub         {printable(status.hub) or 'none so far'}")
    print(f"checkpoint  {printable(status.checkpoint) or 'none so far'}")
    print(
        f"batches     {status.batch} taken by the hub"
        + (f", {status.inflight} bytes on their way" if status.inflight else "")
    )
    for name, one in status.classes.items():
        print(f"{printable(name):<12}{one.pending} unsent" + (", to be compared" if one.must_compare else ""))
    for refused in status.refused:
        print(
            f"refused     {printable(refused.class_name)} {printable(refused.key)}: {printable(refused.reason)}"
        )
    return DONE


def _compare(db: Database, options: argparse.Namespace) -> int:
    db.sync.compare()
    _tell(db.sync.now(options.hub).events)
    return DONE


def _prepare(options: argparse.Namespace) -> int:
    """Gives each class without a primary key the property _id, a UUID."""
    with open_database(options.file, mode="r", **secret(options)) as db:
        version = db.schema_version or 0
        old = dict(db.schema)
    lacking = [name for name, one in old.items() if one.primary_key is None and not one.embedded]
    if not lacking:
        print("All classes have a primary key.")
        return DONE
    taken = [name for name in lacking if "_id" in old[name].properties]
    if taken:
        raise UsageError(f"{taken[0]} has a property _id, which is no primary key")
    schema: List[ClassSchema] = []
    for name, one in old.items():
        if name in lacking:
            one = ClassSchema(name, {"_id": Prop(uuid.UUID), **one.properties}, primary_key="_id")
        schema.append(one)

    def migrate(before: Database, after: Database, _: int) -> None:
        for name in lacking:
            for each in after[name]:
                each["_id"] = uuid.uuid4()

    with open_database(
        options.file, mode="rw", schema=schema, schema_version=version + 1, migrate=migrate, **secret(options)
    ):
        print(
            f"{', '.join(printable(name) for name in lacking)}: each object has a primary key _id; the schema has version {version + 1}"
        )
    return DONE


def _drop(db: Database, options: argparse.Namespace) -> int:
    from ..sync import hub

    with hub.connect(options.hub) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM crealm.class").fetchall()]
        sql = hub.drop_sql(names, schema_name=options.schema, with_tables=options.tables)
        print(sql)
        if options.dry_run:
            return DONE
        connection.execute(sql)
    if db.sync.status.enabled:
        db.sync.disable()
    print("-- The hub is removed, and the file is not synchronised.", file=sys.stderr)
    return DONE
