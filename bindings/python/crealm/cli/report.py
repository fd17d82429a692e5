"""A report on a file, for use as evidence: report.json for programs, report.html for people, with the same content.

It lists everything that could not be read, with the reason. A class that could not be read has no number of objects, which is not the same as 0.
"""

from __future__ import annotations

import html
import json
import os
import sys
from collections import Counter
from datetime import datetime, timezone
from typing import Any, Dict, List, Optional, Sequence

from ..errors import DataError, Error, FileExists
from ..examining import Check
from ..faults import Fault
from ..objects import Table
from ..opening import open as open_database
from .options import Proof
from .output import printable

NAMES = ("report.json", "report.html")


class Report:
    """The facts for a report. Call check() and export(), then write()."""

    def __init__(self, folder: str, path: str) -> None:
        self.folder = folder
        self.path = os.path.abspath(path)
        for name in NAMES:
            if os.path.lexists(os.path.join(folder, name)):
                raise FileExists(f"{os.path.join(folder, name)} is there already")
        self._began = _now()
        self._before = Proof.of(self.path)
        self._found: Dict[str, Any] = {}

    def check(self, found: Check, mode: str, secret: Dict[str, Any]) -> None:
        """Adds the result of the check, and counts the objects of the newest version."""
        self._found["check"] = json.loads(found.json)
        self._found["info"] = self._found["check"].pop("info")
        self._found["notRead"] = _not_read(found)
        self._found["classes"], why = _classes(found, self.path, mode, secret)
        if why is not None and found.result != "unreadable":
            self._found["notRead"].insert(0, {"what": "the content of the newest version", "why": why})

    def export(self, out: str, classes: Sequence[str], lost: Dict[str, int]) -> None:
        """Adds the files of an export, and its losses."""
        self._found["export"] = {"out": os.path.abspath(out), "classes": list(classes), "notCarried": lost, "files": _written(out)}

    def write(self) -> None:
        """Writes the two files, and creates the folder if it is missing."""
        from .. import __version__, library_version  # Both are defined in the package itself.

        after = Proof.of(self.path)
        content = {
            "file": self.path, "command": sys.argv[1:], "began": self._began, "ended": _now(),
            "program": f"crealm {__version__} ({library_version})", "unchanged": after == self._before,
            "before": self._before._asdict(), "after": after._asdict(), **self._found,
        }  # fmt: skip
        os.makedirs(self.folder, exist_ok=True)
        texts = json.dumps(content, indent=1, ensure_ascii=False) + "\n", _page(content)
        for name, text in zip(NAMES, texts):
            with open(os.path.join(self.folder, name), "x", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)


def _now() -> str:
    return f"{datetime.now(timezone.utc):%Y-%m-%d %H:%M:%SZ}"


# ------------------------------------------------------------------------------------------------
# Facts
# ------------------------------------------------------------------------------------------------


def _not_read(found: Check) -> List[Dict[str, Any]]:
    """The places that the check could not read, with the reasons."""
    if found.result == "unreadable":
        return [{"what": "everything in the file", "why": found.info.problem}]
    left = [{"what": _place(fault), "why": fault.message} for fault in found.faults if fault.kind == "node" and _is_newest(found, fault)]
    if found.faults.total > len(found.faults):
        left.append({"what": f"{found.faults.total - len(found.faults):,} more faults", "why": "not listed: --limit says how many are"})
    return left


def _is_newest(found: Check, fault: Fault) -> bool:
    return fault.slot is None or fault.slot == (found.versions[0].slot if found.versions and found.versions[0].is_newest else found.info.selected_slot)


def _place(fault: Fault) -> str:
    parts = [fault.class_name, fault.property]
    text = ".".join(part for part in parts if part is not None) or "the file"
    return text if fault.object_key is None else f"{text} of object {fault.object_key}"


def _classes(found: Check, path: str, mode: str, secret: Dict[str, Any]) -> Any:
    """A row for each class, or None if they could not be read, and the reason."""
    if found.info.kind == "empty":
        return [], None
    if found.result == "unreadable" or found.info.use == "none":
        return None, found.info.problem or "the file cannot be opened"
    faults = Counter(fault.class_name for fault in found.faults if _is_newest(found, fault))
    try:
        with open_database(path, mode=mode, **secret) as db:
            return [
                {"name": name, **_counted(db[name]), "properties": list(schema.properties), "faults": faults[name]}
                for name, schema in db.schema.items()], None  # fmt: skip
    except (Error, OSError) as error:
        return None, str(error)


def _counted(table: Table[Any]) -> Dict[str, Any]:
    """The number of objects of a class, and how many of them could be read."""
    try:
        count = len(table)
    except Error as error:
        return {"objects": None, "read": None, "why": str(error)}
    read, why = 0, None
    properties = list(table.schema.properties)
    for index in range(count):
        try:
            obj = table[index]
            for name in properties:
                _touch(obj[name])
            read += 1
        except (Error, DataError) as error:
            why = why or str(error)
    return {"objects": count, "read": read, "why": why}


def _touch(value: Any) -> None:
    """Reads the elements of a collection."""
    if hasattr(value, "items"):
        for _ in value.items():
            pass
    elif not isinstance(value, (str, bytes)) and hasattr(value, "__len__"):
        for _ in value:
            pass


def _written(out: str) -> List[Dict[str, Any]]:
    """Digest and size of the files that an export made."""
    if out == "-":
        return []
    files = [os.path.join(folder, name) for folder, _, names in os.walk(out) for name in names] if os.path.isdir(out) else [out]
    return [{"file": os.path.abspath(path), **Proof.of(path)._asdict()} for path in sorted(files)]


# ------------------------------------------------------------------------------------------------
# The page
# ------------------------------------------------------------------------------------------------

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em;color:#1d2430}table{border-collapse:collapse;margin:.5em 0 1.5em}"
    "td,th{border:1px solid #c9d1dc;padding:.25em .6em;text-align:left;vertical-align:top;overflow-wrap:anywhere}th{background:#eef2f7}"
    "code{font-size:13px}.bad{color:#a4161a;font-weight:600}.good{color:#146c2e;font-weight:600}")


def _page(content: Dict[str, Any]) -> str:
    check, info = content["check"], content["info"]
    verdict = {"sound": ("good", "sound"), "faulty": ("bad", "faulty"), "unreadable": ("bad", "not readable: nothing is known of its content")}
    kind, text = verdict[check["result"]]
    same = ("good", "the file was not changed") if content["unchanged"] else ("bad", "the file changed meanwhile")
    parts = [
        f"<h1>{_text(os.path.basename(content['file']))}</h1>",
        f"<p>Result: <span class={kind}>{text}</span>. Before and after: <span class={same[0]}>{same[1]}</span>.</p>",
        _rows([
            ["file", content["file"]], ["SHA-256 before", content["before"]["sha256"]], ["SHA-256 after", content["after"]["sha256"]],
            ["size", f"{content['before']['size']:,} bytes"], ["modified", content["before"]["modified"]],
            ["report made", f"{content['began']} to {content['ended']}, {content['program']}"], ["command", " ".join(content["command"])],
        ]),
        "<h2>What the file says of itself</h2>", _rows([[name, _shown(value)] for name, value in info.items() if name not in ("slots", "newest")]),
        "<h2>Versions</h2>", _versions(info, check), "<h2>Classes</h2>", _class_table(content["classes"], content["notRead"]),
        "<h2>What was not read, and why</h2>",
        _table(["what", "why"], [[left["what"], left["why"]] for left in content["notRead"]]) or "<p>Everything was read.</p>",
        "<h2>Faults</h2>", _fault_table(check),
    ]  # fmt: skip
    if "export" in content:
        export = content["export"]
        parts += ["<h2>Export</h2>", _rows([["to", export["out"]], *([f"not carried: {what}", f"{n:,}"] for what, n in export["notCarried"].items())]),
                  _table(["file", "SHA-256", "bytes"], [[f["file"], f["sha256"], f"{f['size']:,}"] for f in export["files"]])]  # fmt: skip
    return f'<!doctype html><html lang=en><meta charset=utf-8><title>{_text(os.path.basename(content["file"]))}</title><style>{_STYLE}</style>\n' + "\n".join(parts) + "\n</html>\n"


def _text(value: Any) -> str:
    return html.escape(printable(str(value)))


def _shown(value: Any) -> str:
    return "unknown" if value is None else {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def _rows(rows: Sequence[Sequence[Any]]) -> str:
    return "<table>" + "".join(f"<tr><th>{_text(name)}<td>{_text(value)}" for name, value in rows) + "</table>"


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    if not rows:
        return ""
    lines = ["<tr>" + "".join(f"<th>{_text(cell)}" for cell in head)]
    lines += ["<tr>" + "".join(f"<td>{_text(cell)}" for cell in row) for row in rows]
    return "<table>" + "\n".join(lines) + "</table>"


def _versions(info: Dict[str, Any], check: Dict[str, Any]) -> str:
    checked = {version["slot"]: version for version in check["versions"]}
    rows = []
    for i, slot in enumerate(info["slots"]):
        found: Optional[Dict[str, Any]] = checked.get(i)
        state = f"{found['state']}, {found['faultCount']:,} faults" if found else "not checked"
        selected = "selected" if i == info["selectedSlot"] else ""
        rows.append([i, selected, slot["state"], _shown(slot["version"]), slot["format"], _shown(slot["logicalSize"]), state, slot["problem"] or ""])
    return _table(["header slot", "", "leads to", "version", "format", "logical size", "checked", "problem"], rows)


def _class_table(classes: Optional[List[Dict[str, Any]]], not_read: List[Dict[str, Any]]) -> str:
    if classes is None:
        return f"<p class=bad>Not read: {_text(not_read[0]['why'] if not_read else 'unknown')}. How many classes and objects there are is not known.</p>"
    if not classes:
        return "<p>The file has no classes.</p>"
    rows = []
    for one in classes:
        count = "not readable" if one["objects"] is None else f"{one['objects']:,}"
        read = "not readable" if one["read"] is None else f"{one['read']:,}"
        rows.append([one["name"], count, read, len(one["properties"]), f"{one['faults']:,}", one["why"] or ""])
    return _table(["class", "objects", "read whole", "properties", "faults", "why not all"], rows)


def _fault_table(check: Dict[str, Any]) -> str:
    if not check["faults"]:
        return "<p>None.</p>" if check["result"] == "sound" else "<p class=bad>None could be looked for.</p>"
    rows = [
        [f["kind"], f["offset"] or "", _shown(f["slot"]), f["class"] or "", f["property"] or "", "" if f["object"] is None else f["object"], f["message"]]
        for f in check["faults"]]  # fmt: skip
    more = check["faultCount"] - len(rows)
    return _table(["fault", "at byte", "slot", "class", "property", "object", "what"], rows) + (f"<p>and {more:,} more</p>" if more else "")
