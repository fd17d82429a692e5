"""The functions of the library for synchronisation. The first argument of each is the realm."""

from __future__ import annotations

import json
from ctypes import POINTER, Structure, byref, c_char_p, c_size_t, c_void_p, cast, string_at
from typing import Any, Dict, List, Optional, Tuple

from .. import _marshal as c
from .._library import has, lib
from ..errors import ConstraintError, DataError, NotSupportedError, RuleBroken, SyncError


class _Request(Structure):
    """`crealm_sync_request_t`."""

    _fields_ = [("function", c_char_p), ("body", c_void_p), ("size", c_size_t)]


def require() -> None:
    """NotSupportedError if the loaded library cannot synchronise."""
    if not has("crealm_sync_enable"):
        raise NotSupportedError("The loaded CRealm library is too old to synchronise")


def enable(realm: int, options: bytes) -> None:
    c.check(realm, lib.crealm_sync_enable, options)


enable.moves = True  # type: ignore[attr-defined]


def set_subset(realm: int, class_name: bytes, condition: bytes) -> None:
    c.check(realm, lib.crealm_sync_set_subset, class_name, condition)


set_subset.moves = True  # type: ignore[attr-defined]


def status(realm: int) -> Dict[str, Any]:
    text = lib.crealm_sync_status(realm)
    if not text:
        c.fail(None)
    try:
        found: Dict[str, Any] = json.loads(cast(text, c_char_p).value or b"{}")
        return found
    finally:
        lib.realm_free(text)


def next_request(realm: int) -> Optional[Tuple[str, bytes]]:
    """The name of a function of the hub and its argument; None if the exchange is complete."""
    out = c_void_p()
    c.check(realm, lib.crealm_sync_next_request, byref(out))
    if not out:
        return None
    try:
        request = cast(out, POINTER(_Request)).contents
        return request.function.decode(), string_at(request.body, request.size)
    finally:
        lib.realm_free(out)


next_request.moves = True  # type: ignore[attr-defined]


def apply_reply(realm: int, reply: bytes) -> List[Dict[str, Any]]:
    out = c_void_p()
    try:
        c.check(realm, lib.crealm_sync_apply_reply, reply, len(reply), byref(out))
    except RuleBroken:
        raise
    except (DataError, ConstraintError) as error:
        # No fault of the program: it gave no data.
        raise SyncError(f"The reply of the hub is invalid: {error}") from error
    try:
        events: List[Dict[str, Any]] = json.loads(cast(out, c_char_p).value or b"[]")
        return events
    finally:
        lib.realm_free(out)


apply_reply.moves = True  # type: ignore[attr-defined]
