"""Converts pasted rows to changes that create an object for each: CSV, the cells of a spreadsheet (TSV), or JSON.

CSV and TSV have the names of properties in their first line and are read as `crealm import` reads CSV. JSON is an array of objects as
`crealm export` writes them, without their keys.
"""

from __future__ import annotations

import csv
import io
import json
import os
import tempfile
from typing import Any, List, Mapping

from .._json import jsonable
from ..cli.csv_files import CsvSource, long_fields
from ..cli.exact import Exact, Named, Ref, escaped
from ..errors import DataError
from ..schema import ClassSchema
from .changes import Change, parsed
from .editing import MOST

Schema = Mapping[str, ClassSchema]


def changes_of_rows(schema: Schema, class_name: str, form: str, text: str) -> List[Change]:
    """A change for each row. DataError if the text cannot be read."""
    if form not in ("csv", "tsv", "json"):
        raise DataError("Rows are csv, tsv or json")
    found = _of_json(text) if form == "json" else _of_lines(schema, class_name, text if form == "csv" else _with_commas(text))
    if not found:
        raise DataError("There are no rows")
    if len(found) > MOST:
        raise DataError(f"At most {MOST:,} rows can be made at a time", hint="`crealm import` takes any number.")
    return [Change("create", class_name, json=values) for values in found]


def _of_json(text: str) -> List[str]:
    found = parsed(text)
    rows = [found] if isinstance(found, dict) else found
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError("Rows of JSON are an array of objects")
    return [json.dumps({name: value for name, value in row.items() if name not in ("$key", "$class")}) for row in rows]


def _with_commas(text: str) -> str:
    made = io.StringIO(newline="")
    try:
        with long_fields():
            csv.writer(made).writerows(csv.reader(io.StringIO(text, newline=""), delimiter="\t"))
    except csv.Error as error:
        raise DataError(f"The rows cannot be read: {error}") from None
    return made.getvalue()


def _of_lines(schema: Schema, class_name: str, text: str) -> List[str]:
    with tempfile.TemporaryDirectory(prefix="crealm-browse-") as folder:
        path = os.path.join(folder, "rows.csv")
        try:
            with open(path, "w", encoding="utf-8", newline="") as file:
                file.write(text)
            source = CsvSource(path, class_name)
            source.read_as(schema)
            return [_values(schema[class_name], row.values) for row in source.rows()]
        except DataError as error:
            raise DataError(error.message.replace(f"{path}: ", ""), hint=error.hint) from None
        except (ValueError, TypeError, LookupError, RecursionError, csv.Error) as error:  # What no text of a value can be.
            raise DataError(f"The rows cannot be read: {error}"[:300]) from None


def _values(declared: ClassSchema, values: Mapping[str, Any]) -> str:
    return json.dumps({escaped(name): _plain(value, declared.properties[name].type is Any) for name, value in values.items()})


def _plain(value: Any, is_any: bool) -> Any:
    """JSON of a value that was read; see `exact`."""
    if isinstance(value, Ref):
        return {"$ref": value.key, "$class": value.class_name}
    if isinstance(value, Named):
        return jsonable(value.primary_key)
    if isinstance(value, list):
        return [_plain(element, is_any) for element in value]
    if isinstance(value, dict):
        return {name: _plain(element, is_any) for name, element in value.items()}
    return Exact().any(value) if is_any else jsonable(value)
