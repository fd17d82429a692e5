"""A hub as a state machine, for simulations: the functions of hub.sql without PostgreSQL, one transaction at a time.

Transactions get their numbers when they begin and become visible when they end, so that numbers and order differ, as
in PostgreSQL. `faults` names mistakes that a hub or a protocol could make; the simulation must find each:

    sequence     the cursor is the largest number that was seen
    max_xid      the cursor is the number of the newest transaction, whether or not older ones are still open
    no_batch     a batch that comes twice is applied twice
    no_chain     two copies of a file send batches under one name
    feed         changes are replayed in the order of their numbers, with the values that they had
    no_clamp     clocks far ahead are taken as they are
    no_tombstone deleted objects are forgotten
    blind_lists  lists are replaced without a look at what they were
"""

from __future__ import annotations

import json
import time
from typing import Any, Dict, FrozenSet, List, Optional, Set

FAULTS = ("sequence", "max_xid", "no_batch", "no_chain", "feed", "no_clamp", "no_tombstone", "blind_lists")


class Open:
    """A transaction of a SQL program that has begun."""

    def __init__(self, xid: int) -> None:
        self.xid = xid
        self.writes: List[Any] = []


class HubModel:
    def __init__(self, faults: FrozenSet[str] = frozenset()) -> None:
        self.faults = faults
        self.xid = 700
        self.open: Set[int] = set()
        self.rows: Dict[str, Dict[str, Any]] = {}  # The class is always Item.
        self.shadow: Dict[str, Dict[str, Any]] = {}
        self.devices: Dict[str, Dict[str, Any]] = {}
        self.log: List[Any] = []  # For the fault "feed".
        self.clock = 0
        self.identity = "model/1"

    # Time and snapshots

    def now(self) -> int:
        self.clock = max(self.clock + 1, int(time.time() * 1000) << 16)
        return self.clock

    def _begin(self) -> int:
        self.xid += 1
        return self.xid

    def _snapshot(self) -> str:
        if "sequence" in self.faults:
            return str(max((s["xid"] for s in self.shadow.values()), default=0))
        if "max_xid" in self.faults:
            return str(self.xid)
        xmin = min(self.open, default=self.xid + 1)
        return f"{xmin}:{self.xid + 1}:{','.join(str(x) for x in sorted(self.open))}"

    @staticmethod
    def _is_new(xid: int, cursor: str) -> bool:
        if not cursor:
            return True
        if ":" not in cursor:
            return xid > int(cursor)
        xmin, xmax, open_ = cursor.split(":")
        return xid >= int(xmax) or (xid >= int(xmin) and str(xid) in open_.split(","))

    # SQL programs

    def begin(self) -> Open:
        made = Open(self._begin())
        self.open.add(made.xid)
        return made

    def commit(self, transaction: Open) -> None:
        """The writes of other programs become visible: (key, None) deletes, (key, values) sets."""
        for key, values in transaction.writes:
            if values is None:
                if key in self.rows:
                    self._gone(key, transaction.xid, self.now())
            else:
                row = self.rows.get(key)
                if row is None:
                    row = self.rows[key] = {"id": json.loads(key), **fresh()}
                row.update(values)
                at = max(self.now(), self.shadow.get(key, {}).get("at", 0) + 1)
                self._mark(key, transaction.xid, at, {name: at for name in values}, at)
        self.open.discard(transaction.xid)

    # Marks

    def _mark(self, key: str, xid: int, at: int, clocks: Dict[str, int], born: int) -> None:
        is_new = self.shadow.get(key, {"gone": True})["gone"]
        shadow = self.shadow.setdefault(key, {"clock": {}, "at": 0, "gone": False, "xid": 0})
        if is_new:
            # Later than the deletion before it.
            if at < shadow["at"]:
                at = born = shadow["at"] + 1
                clocks = {name: at for name in clocks}
            shadow.update(clock={}, born=born)
        shadow.update(xid=xid, gone=False, at=max(shadow["at"], at))
        shadow["clock"].update(clocks)
        self.log.append((xid, key, dict(self.rows[key])))

    def _gone(self, key: str, xid: int, at: int) -> None:
        self.rows.pop(key, None)
        if "no_tombstone" in self.faults:
            self.shadow.pop(key, None)
            return
        old = self.shadow.get(key, {"at": 0})
        self.shadow[key] = {"clock": {}, "at": max(old["at"], at), "gone": True, "xid": xid}

    # The functions

    def call(self, function: str, body: bytes) -> bytes:
        reply = getattr(self, function)(json.loads(body))
        return json.dumps(reply).encode()

    def hello(self, body: Any) -> Any:
        device = self.devices.setdefault(body["device"], {"batch": 0, "chain": "", "reply": None})
        return {
            "protocol": 1,
            "hub": self.identity,
            "batch": device["batch"],
            "chain": device["chain"],
            "schema": self.identity,
            "classes": {"Item": list(body["classes"]["Item"])},
        }

    def push(self, body: Any) -> Any:
        if body["schema"] != self.identity:
            return {"stale": True}
        batch = body["batch"]
        device = self.devices[batch["device"]]
        if "no_batch" not in self.faults and "no_chain" not in self.faults:
            if (device["batch"], device["chain"]) == (batch["number"], batch["chain"]):
                return device["reply"]
            if (device["batch"], device["chain"]) != (batch["number"] - 1, batch["before"]):
                return {"fork": True}
        elif "no_chain" in self.faults and device["batch"] >= batch["number"]:
            return {"batch": batch["number"], "merge": [], "refused": [], "rows": {}}
        device.update(batch=batch["number"], chain=batch["chain"])
        xid, merges = self._begin(), []
        for row in batch["rows"]:
            merges += self._apply(row, xid)
        device["reply"] = {"batch": batch["number"], "merge": merges, "refused": [], "rows": {}}
        return device["reply"]

    def _apply(self, item: Any, xid: int) -> List[Any]:
        key, kind = json.dumps(item["k"]), item["t"]
        top = self.now() + (60_000 << 16)
        if "no_clamp" in self.faults:
            top = 1 << 62
        at, row, shadow = min(item["clk"], top), self.rows.get(key), self.shadow.get(key)
        born, was_renewed = min(item.get("b", item["clk"]), top), False
        if kind == "new" and "d" in item and row is not None and shadow["born"] <= min(item["d"], top):
            # It was deleted and made again.
            self._gone(key, xid, max(min(item["d"], top), shadow["at"]))
            row, shadow, was_renewed = None, self.shadow.get(key), True
        if kind == "del":
            if row is not None and shadow["born"] > at:
                shadow["xid"] = xid
                return []
            if row is not None or shadow is None:
                self._gone(key, xid, max(at, shadow["at"] if shadow else 0))
            return []
        if row is None and not was_renewed and (kind != "new" or (shadow and born <= shadow["at"])):
            if shadow:
                shadow["xid"] = xid
                return []
            if "no_tombstone" not in self.faults:
                raise AssertionError("a change of an object that never was")
        is_new = row is None
        if row is None:
            row = self.rows[key] = {"id": item["k"], **fresh()}
        clocks, merges, lost = {}, [], False
        for name, (clock, value) in item.get("v", {}).items():
            clock = min(clock, top)
            if not is_new and clock < shadow["clock"].get(name, 0):
                lost = True
            else:
                row[name] = value
                clocks[name] = clock
        for name, (_, delta) in item.get("a", {}).items():
            row[name] += delta
        for name, (clock, before, value) in item.get("m", {}).items():
            if not is_new and row[name] not in (before, value) and "blind_lists" not in self.faults:
                merges.append({"c": "Item", "k": item["k"], "p": name, "hub": row[name]})
            else:
                row[name] = value
                clocks[name] = min(clock, top)
        if clocks or item.get("a") or lost:
            self._mark(key, xid, at if clocks or is_new else 0, clocks, born)
        return merges

    def pull(self, body: Any) -> Any:
        if body["schema"] != self.identity:
            return {"stale": True}
        cursor, props = body["cursor"], ["id", *sorted(ZEROS)]
        is_compared = "Item" in body["compare"]
        found = []
        for key, shadow in self.shadow.items():
            is_new = self._is_new(shadow["xid"], cursor)
            if not is_new and not is_compared:
                continue
            row = self.rows.get(key)
            if "feed" in self.faults and row is not None:
                # In the order of the numbers: the last value that the replay writes.
                row = max((e for e in self.log if e[1] == key), key=lambda e: e[0])[2]
            values = [json.loads(key)] + [None if row is None else row[n] for n in props[1:]]
            found.append([row is None, shadow["at"], is_new, *values])
        rows = {"Item": {"props": props, "rows": found}} if found else {}
        return {"next": self._snapshot(), "rows": rows, "after": None}


ZEROS: Dict[str, Any] = {"name": "", "n": 0, "tags": []}


def fresh() -> Dict[str, Any]:
    """The values of a new object."""
    return {name: list(zero) if isinstance(zero, list) else zero for name, zero in ZEROS.items()}
