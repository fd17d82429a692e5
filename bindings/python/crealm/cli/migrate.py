"""migrate: tells what models of a program would change in a file, and writes a migration to be completed."""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module, util
from types import ModuleType
from typing import Any, Dict, Union

from ..database import Database
from ..errors import DataError, Error, FileExists, UsageError
from ..planning import plan_of
from ..schema import ClassSchema
from .carrying import new_text
from .exact import schema_of_json
from .options import DONE, FAULTS, Commands, add_json
from .output import print_error, print_json, printable

_Models = Union[ModuleType, Dict[str, ClassSchema]]


def add(commands: Commands) -> None:
    what = "tell what the models of a program would change in a file, and write a migration; the file stays as it is"
    command = commands.reader("migrate", run, what)
    command.add_argument(
        "models",
        metavar="MODELS",
        help="a Python file with models, which is run; a module; or JSON as `crealm schema --json` prints it",
    )
    command.add_argument(
        "--plan",
        action="store_true",
        help="print the changes, the values that would be lost, and suspected renames (the default)",
    )
    command.add_argument(
        "--write", metavar="OUTFILE", help="write a program with the function for migrate=, to be completed"
    )
    add_json(command)


def run(db: Database, options: argparse.Namespace) -> int:
    if options.write is not None and os.path.lexists(options.write):
        raise FileExists(f"{options.write} is there already")
    models, name = _models(options.models)
    try:
        found = plan_of(db, models)
    except (TypeError, ValueError) as error:
        if isinstance(error, Error):
            raise
        raise DataError(f"{options.models}: {error}") from error
    found.path = os.path.abspath(options.file)
    if options.write is not None:
        with new_text(options.write) as file:
            file.write(found.script(name))
    if options.json:
        print_json(found.to_dict())
    else:
        for line in found.lines():
            print(printable(line))
    if options.write is not None:
        sys.stdout.flush()
        print_error(f"{options.write} is written: complete it, and try it on a copy")
    return FAULTS if found else DONE


def _models(given: str) -> "tuple[_Models, str]":
    """The schema that an argument names, and the name of its module."""
    stem = os.path.splitext(os.path.basename(given))[0]
    if given.endswith(".json"):
        with open(given, encoding="utf-8") as file:
            try:
                return schema_of_json(json.load(file))[0], "models"
            except ValueError as error:
                raise error if isinstance(error, Error) else DataError(f"{given}: {error}") from error
    if not given.endswith(".py") and not os.path.exists(given):
        return _with_models(_run(given, lambda: import_module(given)), given), given
    if not stem.isidentifier():
        raise UsageError(f"{given}: the name of a module is a name of Python, such as models.py")
    open(given, "rb").close()  # Raises a better error if there is no such file.
    spec = util.spec_from_file_location(stem, given)
    if spec is None or spec.loader is None:
        raise UsageError(f"{given} is no Python file")
    module = util.module_from_spec(spec)
    hidden = sys.modules.get(stem)
    sys.modules[stem] = module  # Annotations that are texts are resolved there.
    sys.path.insert(0, os.path.dirname(os.path.abspath(given)))
    loader = spec.loader
    try:
        _run(given, lambda: loader.exec_module(module))
    except BaseException:
        if hidden is None:
            del sys.modules[stem]
        else:
            sys.modules[stem] = hidden
        raise
    finally:
        sys.path.pop(0)
    return _with_models(module, given), stem


def _run(given: str, call: Any) -> Any:
    """Runs a program of the user, whose errors may be of all kinds."""
    try:
        return call()
    except ImportError as error:
        raise DataError(f"{given} cannot be imported: {error}") from error
    except Error as error:
        raise DataError(f"{given}: {error}") from error
    except Exception as error:
        raise DataError(f"{given} fails with {type(error).__name__}: {error}") from error


def _with_models(module: ModuleType, given: str) -> ModuleType:
    """The module; DataError if it has no models."""
    found = [value for value in vars(module).values() if getattr(value, "_realm_class", None)]
    if not any(getattr(value, "__module__", "") == module.__name__ for value in found):
        raise DataError(f"{given} declares no models", hint="Models are classes that inherit from crealm.Model.")
    return module
