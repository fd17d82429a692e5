"""All C functions that the package uses, in one alphabetical table, and the structs that they take.

A line has the name, the result, the arguments and the kind of call. QUICK calls only read memory and
keep the interpreter lock, which is cheaper. BLOCKING calls may wait, access the disk or run long; they
release the interpreter lock, so that other threads continue. MOVES calls change the data or the
snapshot: after one, pointers into the data that the library returned before, such as texts, are invalid.
"""

from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    PYFUNCTYPE,
    Structure,
    c_bool,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint,
    c_uint32,
    c_uint64,
    c_void_p,
    sizeof,
)

BLOCKING, QUICK, MOVES = 0, 1, 2  # MOVES is added to BLOCKING or QUICK.

INVALID_CLASS_KEY = 0x7FFFFFFF
INVALID_PROPERTY_KEY = -1
NO_SCHEMA_VERSION = 2**64 - 1
LOG_LEVEL_WARNING = 5

SCHEMA_MODE_AUTOMATIC = 0
SCHEMA_MODE_IMMUTABLE = 1
SCHEMA_MODE_READ_ONLY = 2
SCHEMA_MODE_ADDITIVE_EXPLICIT = 6


class Value(Structure):
    """`realm_value_t`. Its union of 16 bytes is declared as two words, because ctypes can pass a struct of
    integers by value on all platforms; `_marshal` packs and unpacks it."""

    _fields_ = [("first", c_int64), ("second", c_int64), ("type", c_int32)]


class PropertyInfo(Structure):
    """`realm_property_info_t`."""

    _fields_ = [
        ("name", c_char_p),
        ("public_name", c_char_p),
        ("type", c_int),
        ("collection_type", c_int),
        ("link_target", c_char_p),
        ("link_origin_property_name", c_char_p),
        ("key", c_int64),
        ("flags", c_int),
    ]


class ClassInfo(Structure):
    """`realm_class_info_t`."""

    _fields_ = [
        ("name", c_char_p),
        ("primary_key", c_char_p),
        ("num_properties", c_size_t),
        ("num_computed_properties", c_size_t),
        ("key", c_uint32),
        ("flags", c_int),
    ]


class ErrorInfo(Structure):
    """`realm_error_t`."""

    _fields_ = [
        ("error", c_int),
        ("categories", c_uint),
        ("message", c_char_p),
        ("user_code_error", c_void_p),
        ("path", c_char_p),
    ]


class QueryArgument(Structure):
    """`realm_query_arg_t`: one value, or a list of them. `values` points to an array of `Value`."""

    _fields_ = [("count", c_size_t), ("is_list", c_bool), ("values", c_void_p)]


class VersionId(Structure):
    """`realm_version_id_t`."""

    _fields_ = [("version", c_uint64), ("index", c_uint64)]


class FaultInfo(Structure):
    """`crealm_fault_t`."""

    _fields_ = [
        ("kind", c_int),
        ("offset", c_uint64),
        ("class_name", c_char_p),
        ("property", c_char_p),
        ("object", c_int64),
        ("message", c_char_p),
    ]


class SpaceInfo(Structure):
    """`crealm_space_t`."""

    _fields_ = [("kind", c_int), ("class_name", c_char_p), ("property", c_char_p), ("bytes", c_uint64)]


class QueryPlan(Structure):
    """`crealm_query_plan_t`."""

    _fields_ = [("access", c_int), ("property", c_int64), ("objects", c_size_t), ("tested", c_size_t), ("found", c_size_t)]


class PinnedInfo(Structure):
    """`crealm_pinned_version_t`."""

    _fields_ = [
        ("version", c_uint64),
        ("since_seconds", c_int64),
        ("since_nanoseconds", c_int32),
        ("process_id", c_uint64),
        ("thread_id", c_uint64),
        ("held_bytes", c_uint64),
    ]


class ArrowSchema(Structure):
    """`struct ArrowSchema` of the Arrow C data interface. Pointers are declared as addresses."""

    _fields_ = [
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_void_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArray(Structure):
    """`struct ArrowArray`, likewise."""

    _fields_ = [
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", c_void_p),
        ("children", c_void_p),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class ArrowArrayStream(Structure):
    """`struct ArrowArrayStream`, likewise."""

    _fields_ = [
        ("get_schema", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("get_next", CFUNCTYPE(c_int, c_void_p, c_void_p)),
        ("get_last_error", CFUNCTYPE(c_char_p, c_void_p)),
        ("release", c_void_p),
        ("private_data", c_void_p),
    ]


class SlotInfo(Structure):
    """`crealm_slot_info_t`."""

    _fields_ = [
        ("state", c_int),
        ("format", c_uint32),
        ("top_ref", c_uint64),
        ("version", c_uint64),
        ("logical_size", c_uint64),
        ("history_type", c_uint32),
        ("history_schema_version", c_uint32),
        ("problem", c_char_p),
    ]


class FileInfo(Structure):
    """`crealm_file_info_t`."""

    _fields_ = [
        ("path", c_char_p),
        ("kind", c_int),
        ("encryption", c_int),
        ("cipher", c_int),
        ("wants_passphrase", c_bool),
        ("is_streaming", c_bool),
        ("use", c_int),
        ("file_size", c_uint64),
        ("data_size", c_uint64),
        ("selected_slot", c_int),
        ("slots", SlotInfo * 2),
        ("newest", SlotInfo),
        ("writer", c_char_p),
        ("problem", c_char_p),
    ]


class CheckedVersion(Structure):
    """`crealm_checked_version_t`."""

    _fields_ = [
        ("state", c_int),
        ("slot", c_int),
        ("is_newest", c_bool),
        ("version", c_uint64),
        ("num_faults", c_size_t),
    ]


class FileFaultInfo(Structure):
    """`crealm_file_fault_t`."""

    _fields_ = [("fault", FaultInfo), ("slot", c_int)]


class CheckInfo(Structure):
    """`crealm_check_t`."""

    _fields_ = [
        ("result", c_int),
        ("info", POINTER(FileInfo)),
        ("num_versions", c_size_t),
        ("versions", POINTER(CheckedVersion)),
        ("num_faults", c_size_t),
        ("faults", POINTER(FileFaultInfo)),
        ("total_faults", c_size_t),
        ("report", c_char_p),
        ("json", c_char_p),
    ]


class LocationNode(Structure):
    """`crealm_location_node_t`."""

    _fields_ = [("role", c_int), ("element", c_int64), ("offset", c_uint64), ("size", c_uint64)]


class LocationPart(Structure):
    """`crealm_location_part_t`."""

    _fields_ = [
        ("kind", c_int),
        ("first_bit", c_uint32),
        ("node", c_uint64),
        ("offset", c_uint64),
        ("bits", c_uint64),
        ("page", c_int64),
        ("file_offset", c_uint64),
    ]


class LocationInfo(Structure):
    """`crealm_value_location_t`."""

    _fields_ = [
        ("num_nodes", c_size_t),
        ("nodes", POINTER(LocationNode)),
        ("num_parts", c_size_t),
        ("parts", POINTER(LocationPart)),
        ("page_size", c_uint64),
    ]


# The type of `release` in these three structs; its argument is the struct.
ArrowRelease = PYFUNCTYPE(None, c_void_p)

_STRUCTS = (
    Value,
    PropertyInfo,
    ClassInfo,
    ErrorInfo,
    QueryArgument,
    VersionId,
    FaultInfo,
    PinnedInfo,
    ArrowSchema,
    ArrowArray,
    ArrowArrayStream,
    SlotInfo,
    FileInfo,
    CheckedVersion,
    FileFaultInfo,
    CheckInfo,
    LocationNode,
    LocationPart,
    LocationInfo,
)

# The structs must have the same layout as in the library.
if sizeof(c_void_p) != 8:
    raise ImportError("crealm needs a 64-bit Python")
assert [sizeof(s) for s in _STRUCTS] == [24, 56, 40, 32, 24, 16, 48, 48, 72, 80, 40, 48, 216, 32, 56, 72, 32, 48, 40]

# `realm_migration_func_t`: userdata, old realm, new realm, schema.
Migrate = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_void_p, c_void_p)

# `realm_should_compact_on_launch_func_t`: userdata, bytes of the file, bytes in use.
ShouldCompact = CFUNCTYPE(c_bool, c_void_p, c_uint64, c_uint64)


class ProgressInfo(Structure):
    """`crealm_progress_t`."""

    _fields_ = [("userdata", c_void_p), ("activity", c_int), ("done", c_uint64), ("total", c_uint64)]


# `crealm_progress_func_t`
GoOn = CFUNCTYPE(c_bool, POINTER(ProgressInfo))

# `realm_on_realm_change_func_t`: userdata. The package passes a number as userdata, not an address.
DatabaseMoved = CFUNCTYPE(None, c_void_p)

# `realm_on_object_change_func_t`, and the same for collections and dictionaries: userdata, changes.
Told = CFUNCTYPE(None, c_void_p, c_void_p)

# `realm_async_begin_write_func_t`: userdata, a number.
BlockDue = CFUNCTYPE(None, c_void_p)

# `realm_async_commit_func_t`: userdata, a number; whether the commit failed; the reason.
Flushed = CFUNCTYPE(None, c_void_p, c_bool, c_char_p)

# `realm_free_userdata_func_t`
UserdataFreed = CFUNCTYPE(None, c_void_p)

PAGE_CIPHERS = {"xchacha20": 0, "aes256gcm": 1, "realm": 2}

# `crealm_durability_e`
DURABILITIES = {"full": 0, "two_flushes": 1, "unsafe": 2}

# Functions that an older or smaller library may lack.
OPTIONAL = frozenset(
    {
        "crealm_abi_version", "crealm_check", "crealm_config_set_version_slot", "crealm_create_batch", "crealm_file_info", "crealm_find_faults",
        "crealm_recover_deleted", "crealm_salvage", "crealm_sync_apply_reply", "crealm_sync_compare",
        "crealm_sync_disable", "crealm_sync_enable", "crealm_sync_forget_refused", "crealm_sync_next_request",
        "crealm_sync_reset", "crealm_sync_status", "crealm_value_location",
    }
)

TABLE = [
    ("crealm_abi_version", c_uint32, [], QUICK),
    ("crealm_backup_since", c_bool, [c_void_p, c_char_p, c_char_p, POINTER(c_uint64)], BLOCKING),
    ("crealm_begin_savepoint", c_bool, [c_void_p, POINTER(c_uint32)], BLOCKING + MOVES),
    ("crealm_blob_get_size", c_bool, [c_void_p, c_void_p], QUICK),
    ("crealm_blob_read", c_bool, [c_void_p, c_uint64, c_void_p, c_size_t, c_void_p], BLOCKING),
    ("crealm_blob_resize", c_bool, [c_void_p, c_uint64], BLOCKING + MOVES),
    ("crealm_blob_write", c_bool, [c_void_p, c_uint64, c_char_p, c_size_t], BLOCKING + MOVES),
    ("crealm_change_key", c_bool, [c_void_p, c_void_p], BLOCKING + MOVES),
    ("crealm_check", c_bool, [c_void_p, c_size_t, POINTER(c_void_p)], BLOCKING),
    ("crealm_class_get_rules", c_void_p, [c_void_p, c_uint32], QUICK),
    ("crealm_class_set_rules", c_bool, [c_void_p, c_uint32, c_char_p], BLOCKING + MOVES),
    ("crealm_compact_online", c_bool, [c_void_p, POINTER(c_size_t), POINTER(c_size_t)], BLOCKING + MOVES),
    ("crealm_config_set_durability", None, [c_void_p, c_int], QUICK),
    ("crealm_config_set_lock_timeout", None, [c_void_p, c_int64], QUICK),
    ("crealm_config_set_page_cipher", None, [c_void_p, c_int], QUICK),
    ("crealm_config_set_passphrase", c_bool, [c_void_p, c_char_p, c_size_t, c_uint32, c_uint64], QUICK),
    ("crealm_config_set_progress", None, [c_void_p, GoOn, c_void_p, c_void_p], QUICK),
    ("crealm_config_set_refuse_broken_rules", None, [c_void_p, c_bool], QUICK),
    ("crealm_config_set_rules", c_bool, [c_void_p, c_char_p], QUICK),
    ("crealm_config_set_shrinking", None, [c_void_p, c_size_t, c_int], QUICK),
    ("crealm_config_set_snapshot", None, [c_void_p, c_bool], QUICK),
    ("crealm_config_set_version_slot", None, [c_void_p, c_int], QUICK),
    (
        "crealm_create_batch",
        c_bool,
        [c_void_p, c_uint32, c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_void_p],
        BLOCKING + MOVES,
    ),
    ("crealm_file_info", c_bool, [c_void_p, POINTER(c_void_p)], BLOCKING),
    (
        "crealm_find_faults",
        c_bool,
        [c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t), POINTER(c_size_t)],
        BLOCKING,
    ),
    ("crealm_get_broken_rules", c_bool, [c_void_p, c_size_t, POINTER(c_void_p)], BLOCKING),
    ("crealm_get_space", c_bool, [c_void_p, POINTER(c_void_p), POINTER(c_size_t), POINTER(c_uint64)], BLOCKING),
    ("crealm_interrupt", c_bool, [c_void_p], QUICK),
    ("crealm_object_find_by_unique", c_void_p, [c_void_p, c_uint32, POINTER(c_char_p), POINTER(Value), c_size_t, POINTER(c_bool)], QUICK),
    ("crealm_object_get_computed", c_bool, [c_void_p, c_char_p, c_void_p], QUICK),
    ("crealm_query_explain", c_bool, [c_void_p, c_void_p], BLOCKING),
    ("crealm_recover_deleted", c_bool, [c_void_p, POINTER(c_void_p)], BLOCKING),
    ("crealm_release_savepoint", c_bool, [c_void_p, c_uint32], QUICK + MOVES),
    ("crealm_restore", c_bool, [c_void_p, POINTER(c_char_p), c_size_t], BLOCKING),
    (
        "crealm_results_aggregate_arrow",
        c_bool,
        [c_void_p, c_char_p, c_size_t, POINTER(QueryArgument), c_void_p],
        BLOCKING,
    ),
    (
        "crealm_results_export_arrow",
        c_bool,
        [c_void_p, POINTER(c_char_p), c_size_t, c_size_t, c_void_p],
        BLOCKING,
    ),
    (
        "crealm_results_fetch_arrow",
        c_bool,
        [c_void_p, c_size_t, c_size_t, POINTER(c_char_p), c_size_t, c_void_p, c_void_p],
        BLOCKING,
    ),
    (
        "crealm_results_update",
        c_bool,
        [c_void_p, c_char_p, c_size_t, POINTER(QueryArgument), POINTER(c_size_t)],
        BLOCKING,
    ),
    ("crealm_rollback_savepoint", c_bool, [c_void_p, c_uint32], BLOCKING + MOVES),
    ("crealm_salvage", c_bool, [c_void_p, c_void_p, POINTER(c_void_p)], BLOCKING),
    ("crealm_scheduler_get_fd", c_bool, [c_void_p, POINTER(c_int)], QUICK),
    ("crealm_scheduler_run", c_bool, [c_void_p, c_int, c_void_p], BLOCKING),
    ("crealm_set_lock_timeout", c_bool, [c_void_p, c_int64], QUICK),
    ("crealm_set_pin_warning", None, [c_uint64], QUICK),
    ("crealm_sync_apply_reply", c_bool, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p)], BLOCKING + MOVES),
    ("crealm_sync_compare", c_bool, [c_void_p], BLOCKING + MOVES),
    ("crealm_sync_disable", c_bool, [c_void_p], BLOCKING + MOVES),
    ("crealm_sync_enable", c_bool, [c_void_p, c_char_p], BLOCKING + MOVES),
    ("crealm_sync_forget_refused", c_bool, [c_void_p], BLOCKING + MOVES),
    ("crealm_sync_next_request", c_bool, [c_void_p, POINTER(c_void_p)], BLOCKING + MOVES),
    ("crealm_sync_reset", c_bool, [c_void_p], QUICK),
    ("crealm_sync_set_subset", c_bool, [c_void_p, c_char_p, c_char_p], BLOCKING + MOVES),
    ("crealm_sync_status", c_void_p, [c_void_p], BLOCKING),
    ("crealm_value_location", c_bool, [c_void_p, c_int64, c_size_t, POINTER(c_void_p)], QUICK),
    ("crealm_versions", c_bool, [c_void_p, c_void_p, c_size_t, POINTER(c_size_t)], BLOCKING),
    ("realm_add_realm_changed_callback", c_void_p, [c_void_p, DatabaseMoved, c_void_p, c_void_p], QUICK),
    (
        "realm_async_begin_write",
        c_bool,
        [c_void_p, BlockDue, c_void_p, UserdataFreed, c_bool, POINTER(c_uint)],
        BLOCKING + MOVES,
    ),
    ("realm_async_cancel", c_bool, [c_void_p, c_uint, c_void_p], BLOCKING),
    (
        "realm_async_commit",
        c_bool,
        [c_void_p, Flushed, c_void_p, c_void_p, c_bool, c_void_p],
        BLOCKING + MOVES,
    ),
    ("realm_begin_read", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_begin_write", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_clear_last_error", c_bool, [], QUICK),
    ("realm_clone", c_void_p, [c_void_p], QUICK),
    ("realm_close", c_bool, [c_void_p], BLOCKING),
    ("realm_collection_changes_get_changes", None, [c_void_p] + [POINTER(c_size_t), c_size_t] * 5, QUICK),
    (
        "realm_collection_changes_get_num_changes",
        None,
        [c_void_p] + [POINTER(c_size_t)] * 4 + [POINTER(c_bool)] * 2,
        QUICK,
    ),
    ("realm_commit", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_compact", c_bool, [c_void_p, c_void_p], BLOCKING + MOVES),
    ("realm_config_needs_file_format_upgrade", c_bool, [c_void_p], BLOCKING),
    ("realm_config_new", c_void_p, [], QUICK),
    ("realm_config_set_encryption_key", c_bool, [c_void_p, c_char_p, c_size_t], QUICK),
    ("realm_config_set_in_memory", None, [c_void_p, c_bool], QUICK),
    ("realm_config_set_migration_function", None, [c_void_p, Migrate, c_void_p, c_void_p], QUICK),
    ("realm_config_set_path", None, [c_void_p, c_char_p], QUICK),
    ("realm_config_set_schema", None, [c_void_p, c_void_p], QUICK),
    ("realm_config_set_schema_mode", None, [c_void_p, c_int], QUICK),
    ("realm_config_set_schema_version", None, [c_void_p, c_uint64], QUICK),
    (
        "realm_config_set_should_compact_on_launch_function",
        None,
        [c_void_p, ShouldCompact, c_void_p, c_void_p],
        QUICK,
    ),
    ("realm_convert_with_config", c_bool, [c_void_p, c_void_p, c_bool], BLOCKING),
    ("realm_create_key_path_array", c_void_p, [c_void_p, c_uint32, c_size_t, POINTER(c_char_p)], QUICK),
    (
        "realm_dictionary_add_notification_callback",
        c_void_p,
        [c_void_p, c_void_p, c_void_p, c_void_p, Told],
        BLOCKING,
    ),
    ("realm_dictionary_clear", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_dictionary_erase", c_bool, [c_void_p, Value, c_void_p], QUICK + MOVES),
    ("realm_dictionary_find", c_bool, [c_void_p, Value, c_void_p, c_void_p], QUICK),
    ("realm_dictionary_get", c_bool, [c_void_p, c_size_t, c_void_p, c_void_p], QUICK),
    (
        "realm_dictionary_get_changed_keys",
        None,
        [c_void_p] + [POINTER(Value), POINTER(c_size_t)] * 3 + [POINTER(c_bool)],
        QUICK,
    ),
    ("realm_dictionary_get_changes", None, [c_void_p] + [POINTER(c_size_t)] * 3 + [POINTER(c_bool)], QUICK),
    ("realm_dictionary_get_dictionary", c_void_p, [c_void_p, Value], QUICK),
    ("realm_dictionary_get_list", c_void_p, [c_void_p, Value], QUICK),
    ("realm_dictionary_insert", c_bool, [c_void_p, Value, Value, c_void_p, c_void_p], QUICK + MOVES),
    ("realm_dictionary_insert_dictionary", c_void_p, [c_void_p, Value], QUICK + MOVES),
    ("realm_dictionary_insert_embedded", c_void_p, [c_void_p, Value], QUICK + MOVES),
    ("realm_dictionary_insert_list", c_void_p, [c_void_p, Value], QUICK + MOVES),
    ("realm_dictionary_is_valid", c_bool, [c_void_p], QUICK),
    ("realm_dictionary_resolve_in", c_bool, [c_void_p, c_void_p, POINTER(c_void_p)], BLOCKING),
    ("realm_dictionary_size", c_bool, [c_void_p, c_void_p], QUICK),
    ("realm_dictionary_to_results", c_void_p, [c_void_p], QUICK),
    ("realm_free", None, [c_void_p], QUICK),
    ("realm_freeze", c_void_p, [c_void_p], BLOCKING),
    ("realm_get_async_error", c_bool, [c_void_p, POINTER(ErrorInfo)], QUICK),
    ("realm_get_backlinks", c_void_p, [c_void_p, c_uint32, c_int64], QUICK),
    ("realm_get_class", c_bool, [c_void_p, c_uint32, POINTER(ClassInfo)], QUICK),
    ("realm_get_class_keys", c_bool, [c_void_p, POINTER(c_uint32), c_size_t, POINTER(c_size_t)], QUICK),
    (
        "realm_get_class_properties",
        c_bool,
        [c_void_p, c_uint32, POINTER(PropertyInfo), c_size_t, POINTER(c_size_t)],
        QUICK,
    ),
    ("realm_get_dictionary", c_void_p, [c_void_p, c_int64], QUICK),
    ("realm_get_last_error_as_async_error", c_void_p, [], QUICK),
    ("realm_get_library_version", c_char_p, [], QUICK),
    ("realm_get_list", c_void_p, [c_void_p, c_int64], QUICK),
    ("realm_get_num_classes", c_size_t, [c_void_p], QUICK),
    ("realm_get_num_objects", c_bool, [c_void_p, c_uint32, c_void_p], QUICK),
    ("realm_get_object", c_void_p, [c_void_p, c_uint32, c_int64], QUICK),
    ("realm_get_schema_version", c_uint64, [c_void_p], QUICK),
    ("realm_get_set", c_void_p, [c_void_p, c_int64], QUICK),
    ("realm_get_value", c_bool, [c_void_p, c_int64, c_void_p], QUICK),
    ("realm_get_version_id", c_bool, [c_void_p, c_void_p, POINTER(VersionId)], QUICK),
    ("realm_is_writable", c_bool, [c_void_p], QUICK),
    (
        "realm_list_add_notification_callback",
        c_void_p,
        [c_void_p, c_void_p, c_void_p, c_void_p, Told],
        BLOCKING,
    ),
    ("realm_list_clear", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_list_erase", c_bool, [c_void_p, c_size_t], QUICK + MOVES),
    ("realm_list_find", c_bool, [c_void_p, POINTER(Value), c_void_p, c_void_p], BLOCKING),
    ("realm_list_get", c_bool, [c_void_p, c_size_t, c_void_p], QUICK),
    ("realm_list_get_dictionary", c_void_p, [c_void_p, c_size_t], QUICK),
    ("realm_list_get_list", c_void_p, [c_void_p, c_size_t], QUICK),
    ("realm_list_insert", c_bool, [c_void_p, c_size_t, Value], QUICK + MOVES),
    ("realm_list_insert_dictionary", c_void_p, [c_void_p, c_size_t], QUICK + MOVES),
    ("realm_list_insert_embedded", c_void_p, [c_void_p, c_size_t], QUICK + MOVES),
    ("realm_list_insert_list", c_void_p, [c_void_p, c_size_t], QUICK + MOVES),
    ("realm_list_is_valid", c_bool, [c_void_p], QUICK),
    ("realm_list_move", c_bool, [c_void_p, c_size_t, c_size_t], QUICK + MOVES),
    ("realm_list_resolve_in", c_bool, [c_void_p, c_void_p, POINTER(c_void_p)], BLOCKING),
    ("realm_list_set", c_bool, [c_void_p, c_size_t, Value], QUICK + MOVES),
    ("realm_list_set_dictionary", c_void_p, [c_void_p, c_size_t], QUICK + MOVES),
    ("realm_list_set_embedded", c_void_p, [c_void_p, c_size_t], QUICK + MOVES),
    ("realm_list_set_list", c_void_p, [c_void_p, c_size_t], QUICK + MOVES),
    ("realm_list_size", c_bool, [c_void_p, c_void_p], QUICK),
    ("realm_list_to_results", c_void_p, [c_void_p], QUICK),
    ("realm_object_add_int", c_bool, [c_void_p, c_int64, c_int64], QUICK),
    (
        "realm_object_add_notification_callback",
        c_void_p,
        [c_void_p, c_void_p, c_void_p, c_void_p, Told],
        BLOCKING,
    ),
    ("realm_object_changes_get_modified_properties", c_size_t, [c_void_p, POINTER(c_int64), c_size_t], QUICK),
    ("realm_object_changes_get_num_modified_properties", c_size_t, [c_void_p], QUICK),
    ("realm_object_changes_is_deleted", c_bool, [c_void_p], QUICK),
    ("realm_object_create", c_void_p, [c_void_p, c_uint32], QUICK + MOVES),
    ("realm_object_create_with_primary_key", c_void_p, [c_void_p, c_uint32, Value], QUICK + MOVES),
    ("realm_object_delete", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_object_find_all", c_void_p, [c_void_p, c_uint32], QUICK),
    ("realm_object_find_with_primary_key", c_void_p, [c_void_p, c_uint32, Value, c_void_p], QUICK),
    ("realm_object_get_key", c_int64, [c_void_p], QUICK),
    ("realm_object_is_valid", c_bool, [c_void_p], QUICK),
    ("realm_object_resolve_in", c_bool, [c_void_p, c_void_p, POINTER(c_void_p)], BLOCKING),
    ("realm_open", c_void_p, [c_void_p], BLOCKING),
    (
        "realm_query_append_query",
        c_void_p,
        [c_void_p, c_char_p, c_size_t, POINTER(QueryArgument)],
        BLOCKING,
    ),
    ("realm_query_find_all", c_void_p, [c_void_p], QUICK),
    ("realm_query_get_description", c_char_p, [c_void_p], BLOCKING),
    (
        "realm_query_parse",
        c_void_p,
        [c_void_p, c_uint32, c_char_p, c_size_t, POINTER(QueryArgument)],
        BLOCKING,
    ),
    ("realm_refresh", c_bool, [c_void_p, c_void_p], BLOCKING + MOVES),
    ("realm_register_user_code_callback_error", None, [c_void_p], QUICK),
    ("realm_release", None, [c_void_p], QUICK),
    ("realm_remove_table", c_bool, [c_void_p, c_char_p, c_void_p], BLOCKING + MOVES),
    (
        "realm_results_add_notification_callback",
        c_void_p,
        [c_void_p, c_void_p, c_void_p, c_void_p, Told],
        BLOCKING,
    ),
    ("realm_results_average", c_bool, [c_void_p, c_int64, c_void_p, c_void_p], BLOCKING),
    ("realm_results_count", c_bool, [c_void_p, c_void_p], BLOCKING),
    ("realm_results_delete_all", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_results_distinct", c_void_p, [c_void_p, c_char_p], QUICK),
    ("realm_results_filter", c_void_p, [c_void_p, c_void_p], QUICK),
    ("realm_results_find", c_bool, [c_void_p, POINTER(Value), c_void_p, c_void_p], BLOCKING),
    ("realm_results_get", c_bool, [c_void_p, c_size_t, c_void_p], QUICK),
    ("realm_results_get_dictionary", c_void_p, [c_void_p, c_size_t], QUICK),
    ("realm_results_get_list", c_void_p, [c_void_p, c_size_t], QUICK),
    ("realm_results_get_query", c_void_p, [c_void_p], QUICK),
    ("realm_results_is_valid", c_bool, [c_void_p, c_void_p], QUICK),
    ("realm_results_limit", c_void_p, [c_void_p, c_size_t], QUICK),
    ("realm_results_max", c_bool, [c_void_p, c_int64, c_void_p, c_void_p], BLOCKING),
    ("realm_results_min", c_bool, [c_void_p, c_int64, c_void_p, c_void_p], BLOCKING),
    ("realm_results_resolve_in", c_void_p, [c_void_p, c_void_p], BLOCKING),
    ("realm_results_snapshot", c_void_p, [c_void_p], BLOCKING),
    ("realm_results_sort", c_void_p, [c_void_p, c_char_p], QUICK),
    ("realm_results_sum", c_bool, [c_void_p, c_int64, c_void_p, c_void_p], BLOCKING),
    ("realm_rollback", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_scheduler_make_default", c_void_p, [], QUICK),
    (
        "realm_schema_new",
        c_void_p,
        [POINTER(ClassInfo), c_size_t, POINTER(POINTER(PropertyInfo))],
        QUICK,
    ),
    (
        "realm_schema_rename_property",
        c_bool,
        [c_void_p, c_void_p, c_char_p, c_char_p, c_char_p],
        BLOCKING + MOVES,
    ),
    (
        "realm_set_add_notification_callback",
        c_void_p,
        [c_void_p, c_void_p, c_void_p, c_void_p, Told],
        BLOCKING,
    ),
    ("realm_set_clear", c_bool, [c_void_p], BLOCKING + MOVES),
    ("realm_set_dictionary", c_void_p, [c_void_p, c_int64], QUICK + MOVES),
    ("realm_set_embedded", c_void_p, [c_void_p, c_int64], QUICK + MOVES),
    ("realm_set_erase", c_bool, [c_void_p, Value, c_void_p], QUICK + MOVES),
    ("realm_set_find", c_bool, [c_void_p, Value, c_void_p, c_void_p], QUICK),
    ("realm_set_get", c_bool, [c_void_p, c_size_t, c_void_p], QUICK),
    ("realm_set_insert", c_bool, [c_void_p, Value, c_void_p, c_void_p], QUICK + MOVES),
    ("realm_set_is_valid", c_bool, [c_void_p], QUICK),
    ("realm_set_list", c_void_p, [c_void_p, c_int64], QUICK + MOVES),
    ("realm_set_log_level", None, [c_int], QUICK),
    ("realm_set_resolve_in", c_bool, [c_void_p, c_void_p, POINTER(c_void_p)], BLOCKING),
    ("realm_set_size", c_bool, [c_void_p, c_void_p], QUICK),
    ("realm_set_to_results", c_void_p, [c_void_p], QUICK),
    ("realm_set_value", c_bool, [c_void_p, c_int64, Value, c_bool], QUICK + MOVES),
    (
        "realm_set_values",
        c_bool,
        [c_void_p, c_size_t, POINTER(c_int64), POINTER(Value), c_bool],
        QUICK + MOVES,
    ),
    (
        "realm_update_schema_advanced",
        c_bool,
        [c_void_p, c_void_p, c_uint64, c_void_p, c_void_p, c_void_p, c_void_p, c_bool],
        BLOCKING + MOVES,
    ),
]
