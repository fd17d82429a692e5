"""rules: lists the rules of classes and the objects that break them, and replaces the rules of a class."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any, Dict, List

from ..database import Database
from ..errors import DataError, UsageError
from .json_files import without_doubles
from .options import DONE, FAILED, Commands, add_json, natural, read, write
from .output import print_error, print_json, printable
from .rule_lines import rule_lines

_LIMIT = 1000  # Objects that --check lists.


def add(commands: Commands) -> None:
    command = commands.reader("rules", show, "print the rules of the classes, find what breaks them, or replace them")
    form = command.add_mutually_exclusive_group()
    form.add_argument(
        "--check", action="store_true", help="list the objects that break a rule; exit code 1 if there are any"
    )
    form.add_argument(
        "--set",
        nargs=2,
        metavar=("CLASS", "RULESFILE"),
        help="replace the rules of a class by those of a JSON file, as --class NAME --json prints them; - is stdin",
    )
    command.add_argument("--class", dest="only", metavar="NAME", help="only this class")
    command.add_argument("--limit", type=natural, metavar="N", help=f"objects that --check lists (default {_LIMIT})")
    add_json(command)
    command.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if options.limit is not None and not options.check:
        raise UsageError("--limit belongs to --check")
    if options.set is None:
        return read(check if options.check else show, options)
    for is_given, name in (
        (options.only, "--class"),
        (options.mode == "immutable", "--immutable"),
        (options.evidence, "--evidence"),
        (options.previous, "--previous"),
    ):
        if is_given:
            raise UsageError(f"--set and {name} exclude each other")
    return write(replace, options)


def show(db: Database, options: argparse.Namespace) -> int:
    names = db.classes if options.only is None else [db[options.only].name]
    found = {name: db.rules(name) for name in names}
    if options.json and options.only is not None:
        (rules,) = found.values()
        print_json(rules)
        return DONE
    found = {name: rules for name, rules in found.items() if any(rules.values())}
    if options.json:
        print_json({"file": db.path, "classes": found})
    elif not found:
        print("no rules")
    else:
        _print(found)
    return DONE


def _print(found: Dict[str, Any]) -> None:
    for number, (name, rules) in enumerate(found.items()):
        if number:
            print()
        print(printable(name))
        for line in rule_lines(rules):
            print(f"  {line}")


def check(db: Database, options: argparse.Namespace) -> int:
    """FAILED if an object breaks a rule."""
    limit = _LIMIT if options.limit is None else options.limit
    only = None if options.only is None else db[options.only].name
    # A class is chosen from all of them. One more than is listed tells whether there are more.
    broken = db.broken_rules(limit + 1 if only is None else sys.maxsize)
    if only is not None:
        broken = [one for one in broken if one.class_name == only][: limit + 1]
    listed: List[Any] = broken[:limit]
    has_more = len(broken) > len(listed)
    if options.json:
        entries = [
            {"class": one.class_name, "key": one.object_key, "rule": one.rule, "message": one.message} for one in listed
        ]
        print_json({"file": db.path, "keepsRules": not broken, "broken": entries, "more": has_more})
    elif not broken:
        print("every object keeps the rules")
    else:
        for one in listed:
            print(printable(f"{one.class_name} #{one.object_key}  {one.message}"))
        if has_more:
            print("  … more")
    return FAILED if broken else DONE


def replace(db: Database, options: argparse.Namespace) -> int:
    name, source = options.set
    name = db[name].name  # An error that names the class, before the file of rules is read.
    rules = _read_rules(source)
    with db.write():
        db.set_rules(name, rules)
    found = db.rules(name)
    count = len(rule_lines(found))
    if options.json:
        print_json({"file": db.path, "class": name, "rules": found, "upgradedFrom": options.upgraded_from})
    else:
        print(printable(f"{db.path}: {name} has {count:,} rule{'' if count == 1 else 's'}"))
    if "renamed_from" in rules:
        print_error("renamed_from renames nothing here: it is for the schema of a program")
    return DONE


def _read_rules(path: str) -> Dict[str, Any]:
    try:
        if path == "-":
            found = json.load(sys.stdin, object_pairs_hook=without_doubles)
        else:
            with open(path, encoding="utf-8-sig") as file:
                found = json.load(file, object_pairs_hook=without_doubles)
    except DataError:
        raise
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise DataError(f"{path}: the rules of a class are an object of JSON")
    return found
