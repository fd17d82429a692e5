/*
 * realm.h - the C interface of CRealm, an embedded object database.
 *
 * A realm is one file of typed objects. Programs read it through snapshots that never change under
 * their hands and write it in transactions that reach the disk entirely or not at all. This header
 * is the manual of the local part of Realm's C API: every function it declares is exported by the
 * library. What CRealm adds to the API is in crealm.h.
 *
 * C99 or later, C++11 or later. Nothing here depends on any other header of the library.
 *
 *
 * A FIRST PROGRAM
 *
 *     realm_property_info_t name = {"name", "", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE,
 *                                   "", "", RLM_INVALID_PROPERTY_KEY, RLM_PROPERTY_NORMAL};
 *     realm_class_info_t dog = {"Dog", "", 1, 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_NORMAL};
 *     const realm_property_info_t* properties[] = {&name};
 *     realm_schema_t* schema = realm_schema_new(&dog, 1, properties);
 *
 *     realm_config_t* config = realm_config_new();
 *     realm_config_set_path(config, "dogs.realm");
 *     realm_config_set_schema(config, schema);
 *     realm_config_set_schema_version(config, 1);
 *     realm_t* realm = realm_open(config);             // NULL: see realm_get_last_error()
 *
 *     bool found = false;
 *     realm_class_info_t class_info;
 *     realm_property_info_t name_info;
 *     realm_find_class(realm, "Dog", &found, &class_info);
 *     realm_find_property(realm, class_info.key, "name", &found, &name_info);
 *
 *     realm_value_t rex = {.string = {"Rex", 3}, .type = RLM_TYPE_STRING};
 *     realm_begin_write(realm);
 *     realm_object_t* object = realm_object_create(realm, class_info.key);
 *     realm_set_value(object, name_info.key, rex, false);
 *     realm_commit(realm);
 *
 *     realm_release(object);
 *     realm_release(realm);
 *     realm_release(config);
 *     realm_release(schema);
 *
 *
 * RULES THAT HOLD EVERYWHERE
 *
 * 1. Handles. The opaque types below are handles. A function described as returning an "own handle"
 *    gives the caller a new handle, independent of all others, to be given back exactly once with
 *    realm_release(). A "borrowed" handle, as callbacks receive it, must not be released and is
 *    good inside the call only. Using a released handle is undefined.
 *
 * 2. Views. Memory described as a "view" belongs to the library: it is never freed by the caller,
 *    and the text says how long it lives. The strings and bytes of values read from a realm are
 *    views of the current snapshot: copy them before the next write, refresh, rollback or close of
 *    that realm.
 *
 * 3. Failure. A function that returns bool returns false, one that returns a pointer returns NULL,
 *    when it failed, and the reason is then in the calling thread's last-error slot. Success leaves
 *    the slot alone, so test the result first. Cases of NULL without an error are pointed out.
 *    Nothing is written and nothing is half done after a failure unless the text says so; what the
 *    output arguments hold then is unspecified.
 *
 * 4. Arguments. A handle that is NULL or of another kind, a NULL where memory is needed, or a text
 *    that is not UTF-8 is refused with INVALID_ARGUMENT; functions without a way to fail then do
 *    nothing and return zero. An output pointer marked [optional] may be NULL. Texts passed as
 *    const char* end in NUL; those inside structs carry their length instead.
 *
 * 5. Threads. "Thread:" names one of three rules.
 *      any       from any thread, at any time.
 *      single    any thread, but never two at once on the same handle.
 *      confined  on the thread of the scheduler the realm was opened with. Off that thread the call
 *                fails with WRONG_THREAD and touches nothing; realm_release() and realm_clone() may
 *                be called anywhere. A frozen realm (realm_freeze()), and what comes from it, is
 *                confined to no thread: all of them may read it at the same time.
 *
 * 6. Errors. "Errors:" leaves out the prefix RLM_ERR_ and abbreviates four groups.
 *      [realm]   WRONG_THREAD; CLOSED_REALM after realm_close().
 *      [object]  WRONG_THREAD; INVALIDATED_OBJECT when the object, or the object that owns the
 *                collection, was deleted, when the realm was closed, or when the place inside a
 *                Mixed property that a collection handle stands for holds something else now.
 *      [write]   WRONG_TRANSACTION_STATE outside a write transaction, and in a frozen realm.
 *      [value]   the place cannot hold the value: PROPERTY_TYPE_MISMATCH, also for a link to
 *                another class; PROPERTY_NOT_NULLABLE; NO_SUCH_OBJECT for a link to nothing;
 *                ILLEGAL_OPERATION for a link to an embedded object and for a collection in a set;
 *                LIMIT_EXCEEDED for a value that is too large.
 *    Not repeated are the failures of the machine and of damaged files, which any function that
 *    touches the file can report: OUT_OF_MEMORY, OUT_OF_DISK_SPACE, FILE_OPERATION_FAILED,
 *    INVALID_DATABASE, DECRYPTION_FAILED, SYSTEM_ERROR.
 *
 * 7. Callbacks. A function that takes a callback also takes a userdata pointer, passed on
 *    unchanged, and a free function for it, which may be NULL. The free function runs exactly once,
 *    also when the registration failed. No internal lock is held while a callback runs, and it
 *    must return normally: no exception and no longjmp may pass through the library.
 *
 * 8. Forks. In a forked child every function refuses a realm that the parent opened, and whatever came
 *    from it, with WRONG_TRANSACTION_STATE; realm_release() does nothing there. Configurations and
 *    schemas may be used, and files opened anew.
 *
 * 9. Names and keys. Classes, properties and objects are addressed by keys, which are opaque
 *    numbers that stay the same for the life of the thing they name. Class names carry no prefix.
 */

#ifndef REALM_H
#define REALM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ------------------------------------------------------------------------------------------------
 * Macros
 * ---------------------------------------------------------------------------------------------- */

/* The version of Realm's C API that this header describes. */
#define RLM_C_API_VERSION_MAJOR 14
#define RLM_C_API_VERSION_MINOR 14
#define RLM_C_API_VERSION_PATCH 0
#define RLM_C_API_VERSION "14.14.0"

/* RLM_API starts each declaration: C linkage, visible outside the library. The other two are for
 * programs that declare functions of their own in the same style. */
#ifndef RLM_EXPORT
#if defined(__GNUC__)
#define RLM_EXPORT __attribute__((visibility("default")))
#else
#define RLM_EXPORT
#endif
#endif

#ifdef __cplusplus
#define RLM_API extern "C" RLM_EXPORT
#define RLM_API_NOEXCEPT noexcept
#else
#define RLM_API RLM_EXPORT
#define RLM_API_NOEXCEPT
#endif

/* The union inside realm_value_t has no name. Define RLM_NO_ANON_UNIONS before including this
 * header when the compiler or binding generator cannot digest that; the union is then called
 * `values`. */
#ifdef RLM_NO_ANON_UNIONS
#define RLM_ANON_UNION_MEMBER(name) name
#define RLM_ANON_UNION
#else
#define RLM_ANON_UNION_MEMBER(name)
#if defined(__GNUC__)
#define RLM_ANON_UNION __extension__ /* not part of C99: keeps -pedantic quiet */
#else
#define RLM_ANON_UNION
#endif
#endif

/* The type of userdata pointers. A program may define it, before including this header, as another
 * pointer type that suits its tools better; anything but a pointer would break the calls. Because
 * it is a macro, `const realm_userdata_t` means `const void*`. */
#ifndef realm_userdata_t
#define realm_userdata_t void*
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Handles
 * ---------------------------------------------------------------------------------------------- */

typedef struct shared_realm realm_t;                 /* an open realm; several may share one file */
typedef struct realm_schema realm_schema_t;          /* classes and their properties */
typedef struct realm_config realm_config_t;          /* how to open a realm */
typedef struct realm_scheduler realm_scheduler_t;    /* the thread a realm belongs to */
typedef struct realm_work_queue realm_work_queue_t;  /* work waiting for a scheduler's thread */
typedef struct realm_object realm_object_t;          /* one object */
typedef struct realm_list realm_list_t;              /* an ordered collection */
typedef struct realm_set realm_set_t;                /* a collection of distinct values */
typedef struct realm_dictionary realm_dictionary_t;  /* a map from strings to values */
typedef struct realm_query realm_query_t;            /* a parsed condition with its ordering */
typedef struct realm_results realm_results_t;        /* rows found, kept up to date */
typedef struct realm_async_error realm_async_error_t; /* an error that may cross threads */
typedef struct realm_thread_safe_reference realm_thread_safe_reference_t; /* a handle in transit */
typedef struct realm_key_path_array realm_key_path_array_t; /* properties a callback cares about */

/* Tokens: a callback stays registered until its token is released. */
typedef struct realm_notification_token realm_notification_token_t;
typedef struct realm_callback_token realm_callback_token_t;
typedef struct realm_refresh_callback_token realm_refresh_callback_token_t;

/* What changed, as change callbacks receive it. */
typedef struct realm_object_changes realm_object_changes_t;
typedef struct realm_collection_changes realm_collection_changes_t;
typedef struct realm_dictionary_changes realm_dictionary_changes_t;

/* ------------------------------------------------------------------------------------------------
 * Keys
 * ---------------------------------------------------------------------------------------------- */

typedef uint32_t realm_class_key_t;    /* 31 bits */
typedef int64_t realm_property_key_t;
typedef int64_t realm_object_key_t;
typedef uint64_t realm_version_t;      /* number of a snapshot, growing with each commit */

static const realm_class_key_t RLM_INVALID_CLASS_KEY = 0x7fffffff;
static const realm_property_key_t RLM_INVALID_PROPERTY_KEY = -1;
static const realm_object_key_t RLM_INVALID_OBJECT_KEY = -1;

/* ------------------------------------------------------------------------------------------------
 * Values
 * ---------------------------------------------------------------------------------------------- */

/** What a realm_value_t holds. */
typedef enum realm_value_type {
    RLM_TYPE_NULL = 0,
    RLM_TYPE_INT = 1,
    RLM_TYPE_BOOL = 2,
    RLM_TYPE_STRING = 3,
    RLM_TYPE_BINARY = 4,
    RLM_TYPE_TIMESTAMP = 5,
    RLM_TYPE_FLOAT = 6,
    RLM_TYPE_DOUBLE = 7,
    RLM_TYPE_DECIMAL128 = 8,
    RLM_TYPE_OBJECT_ID = 9,
    RLM_TYPE_LINK = 10,
    RLM_TYPE_UUID = 11,
    RLM_TYPE_LIST = 12,       /* no payload: fetch the list with the function for the place */
    RLM_TYPE_DICTIONARY = 13, /* no payload: fetch the dictionary likewise */
} realm_value_type_e;

/** UTF-8 text of `size` bytes, not necessarily ended by NUL. NULL `data` is the null string. */
typedef struct realm_string {
    const char* data;
    size_t size;
} realm_string_t;

/** `size` bytes. NULL `data` is the null value; an empty value has a non-NULL pointer. */
typedef struct realm_binary {
    const uint8_t* data;
    size_t size;
} realm_binary_t;

/** A point in time: seconds since 1970-01-01 00:00 UTC and nanoseconds. Both fields have the same
 *  sign; nanoseconds stay within -999999999 to 999999999. */
typedef struct realm_timestamp {
    int64_t seconds;
    int32_t nanoseconds;
} realm_timestamp_t;

/** An IEEE 754 decimal128 in binary integer encoding; w[0] is the low half. */
typedef struct realm_decimal128 {
    uint64_t w[2];
} realm_decimal128_t;

/** The address of an object: class and object key. */
typedef struct realm_link {
    realm_class_key_t target_table;
    realm_object_key_t target;
} realm_link_t;

typedef struct realm_object_id {
    uint8_t bytes[12];
} realm_object_id_t;

/** The 16 bytes in the order in which the text form shows them. */
typedef struct realm_uuid {
    uint8_t bytes[16];
} realm_uuid_t;

/** Any value: 24 bytes, passed and returned by value. `type` says which member of the union counts;
 *  none does for null, list and dictionary. */
typedef struct realm_value {
    RLM_ANON_UNION union {
        int64_t integer;
        bool boolean;
        realm_string_t string;
        realm_binary_t binary;
        realm_timestamp_t timestamp;
        float fnum;
        double dnum;
        realm_decimal128_t decimal128;
        realm_object_id_t object_id;
        realm_uuid_t uuid;
        realm_link_t link;
        char data[16];
    } RLM_ANON_UNION_MEMBER(values);
    realm_value_type_e type;
} realm_value_t;

/** One `$n` of a query text: a single value (nb_args 1), or a list of nb_args values (is_list). */
typedef struct realm_query_arg {
    size_t nb_args;
    bool is_list;
    realm_value_t* arg;
} realm_query_arg_t;

/** The name of a snapshot. Equal ids of one file mean equal contents. */
typedef struct realm_version_id {
    uint64_t version;
    uint64_t index;
} realm_version_id_t;

/** A row that went from old index `from` to new index `to`. */
typedef struct realm_collection_move {
    size_t from;
    size_t to;
} realm_collection_move_t;

/** The indices from `from` up to, not including, `to`. */
typedef struct realm_index_range {
    size_t from;
    size_t to;
} realm_index_range_t;

/* ------------------------------------------------------------------------------------------------
 * Schema descriptions
 * ---------------------------------------------------------------------------------------------- */

/** The base type of a property. */
typedef enum realm_property_type {
    RLM_PROPERTY_TYPE_INT = 0,
    RLM_PROPERTY_TYPE_BOOL = 1,
    RLM_PROPERTY_TYPE_STRING = 2,
    RLM_PROPERTY_TYPE_BINARY = 4,
    RLM_PROPERTY_TYPE_MIXED = 6, /* any value, nested collections included; always nullable */
    RLM_PROPERTY_TYPE_TIMESTAMP = 8,
    RLM_PROPERTY_TYPE_FLOAT = 9,
    RLM_PROPERTY_TYPE_DOUBLE = 10,
    RLM_PROPERTY_TYPE_DECIMAL128 = 11,
    RLM_PROPERTY_TYPE_OBJECT = 12,          /* a link, or an embedded object */
    RLM_PROPERTY_TYPE_LINKING_OBJECTS = 14, /* computed: the objects that link here */
    RLM_PROPERTY_TYPE_OBJECT_ID = 15,
    RLM_PROPERTY_TYPE_UUID = 17,
} realm_property_type_e;

/** Whether a property holds one value or many. */
typedef enum realm_collection_type {
    RLM_COLLECTION_TYPE_NONE = 0,
    RLM_COLLECTION_TYPE_LIST = 1,
    RLM_COLLECTION_TYPE_SET = 2,
    RLM_COLLECTION_TYPE_DICTIONARY = 4,
} realm_collection_type_e;

/** Bits of realm_property_info_t.flags. */
typedef enum realm_property_flags {
    RLM_PROPERTY_NORMAL = 0,
    RLM_PROPERTY_NULLABLE = 1,
    RLM_PROPERTY_PRIMARY_KEY = 2,
    RLM_PROPERTY_INDEXED = 4,
    RLM_PROPERTY_FULLTEXT_INDEXED = 8,
} realm_property_flags_e;

/** Values of realm_class_info_t.flags, within RLM_CLASS_MASK. */
typedef enum realm_class_flags {
    RLM_CLASS_NORMAL = 0,
    RLM_CLASS_EMBEDDED = 1,   /* objects live inside exactly one parent and go with it */
    RLM_CLASS_ASYMMETRIC = 2, /* write-only with a sync server; refused in a local realm */
    RLM_CLASS_MASK = 3,
} realm_class_flags_e;

/** Attribute bits of a stored column. No function takes them; clients refer to the names. */
typedef enum realm_column_attr {
    RLM_COLUMN_ATTR_NONE = 0,
    RLM_COLUMN_ATTR_INDEXED = 1,
    RLM_COLUMN_ATTR_UNIQUE = 2,
    RLM_COLUMN_ATTR_RESERVED = 4,
    RLM_COLUMN_ATTR_STRONG_LINKS = 8,
    RLM_COLUMN_ATTR_NULLABLE = 16,
    RLM_COLUMN_ATTR_LIST = 32,
    RLM_COLUMN_ATTR_DICTIONARY = 64,
    RLM_COLUMN_ATTR_COLLECTION = 96,
} realm_column_attr_e;

/** One property. As input, all strings must be non-NULL ("" when there is nothing to say) and `key`
 *  is ignored. As output, the strings are views into the realm's schema, gone when the schema
 *  changes or the realm goes. */
typedef struct realm_property_info {
    const char* name;
    const char* public_name; /* the name key paths use; "" when it is the same */
    realm_property_type_e type;
    realm_collection_type_e collection_type;
    const char* link_target;               /* class name, for objects and linking objects */
    const char* link_origin_property_name; /* the forward link, for linking objects */
    realm_property_key_t key;
    int flags; /* realm_property_flags_e */
} realm_property_info_t;

/** One class. The same rules for strings and `key` apply. */
typedef struct realm_class_info {
    const char* name;
    const char* primary_key;        /* property name, "" when there is none */
    size_t num_properties;          /* stored ones */
    size_t num_computed_properties; /* linking objects */
    realm_class_key_t key;
    int flags; /* realm_class_flags_e */
} realm_class_info_t;

/** What may happen to file and data when the schema of a config differs from the file's. */
typedef enum realm_schema_mode {
    RLM_SCHEMA_MODE_AUTOMATIC = 0, /* add classes and indexes; migrate when the version is higher */
    RLM_SCHEMA_MODE_IMMUTABLE = 1, /* the file must exist and never changes */
    RLM_SCHEMA_MODE_READ_ONLY = 2, /* no writes through this realm; it still follows others */
    RLM_SCHEMA_MODE_SOFT_RESET_FILE = 3,     /* delete the file when a migration would be needed */
    RLM_SCHEMA_MODE_HARD_RESET_FILE = 4,     /* delete the file when anything has to change in it */
    RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED = 5, /* only add; skip unreachable embedded classes */
    RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT = 6,   /* only add; refuse unreachable embedded classes */
    RLM_SCHEMA_MODE_MANUAL = 7,              /* the migration function does all the work */
} realm_schema_mode_e;

/** Whether an open realm shows classes and properties of the file that its config does not name. */
typedef enum realm_schema_subset_mode {
    RLM_SCHEMA_SUBSET_MODE_STRICT = 0,
    RLM_SCHEMA_SUBSET_MODE_ALL_CLASSES = 1,
    RLM_SCHEMA_SUBSET_MODE_ALL_PROPERTIES = 2,
    RLM_SCHEMA_SUBSET_MODE_COMPLETE = 3,
} realm_schema_subset_mode_e;

/** Bits for realm_schema_validate(). */
typedef enum realm_schema_validation_mode {
    RLM_SCHEMA_VALIDATION_BASIC = 0,
    RLM_SCHEMA_VALIDATION_SYNC_PBS = 1,
    RLM_SCHEMA_VALIDATION_REJECT_EMBEDDED_ORPHANS = 2,
    RLM_SCHEMA_VALIDATION_SYNC_FLX = 4,
} realm_schema_validation_mode_e;

/* ------------------------------------------------------------------------------------------------
 * Log levels
 * ---------------------------------------------------------------------------------------------- */

/** A message is passed on when its level is at least the level set for its category. */
typedef enum realm_log_level {
    RLM_LOG_LEVEL_ALL = 0,
    RLM_LOG_LEVEL_TRACE = 1,
    RLM_LOG_LEVEL_DEBUG = 2,
    RLM_LOG_LEVEL_DETAIL = 3,
    RLM_LOG_LEVEL_INFO = 4, /* the default */
    RLM_LOG_LEVEL_WARNING = 5,
    RLM_LOG_LEVEL_ERROR = 6,
    RLM_LOG_LEVEL_FATAL = 7,
    RLM_LOG_LEVEL_OFF = 8,
} realm_log_level_e;

/* ------------------------------------------------------------------------------------------------
 * Error numbers
 * ---------------------------------------------------------------------------------------------- */

/** Bits of realm_error_t.categories. */
typedef enum realm_error_category {
    RLM_ERR_CAT_LOGIC = 0x0002,       /* the program did something that cannot work */
    RLM_ERR_CAT_RUNTIME = 0x0004,     /* a file, the system or another program is to blame */
    RLM_ERR_CAT_INVALID_ARG = 0x0008, /* one argument is to blame */
    RLM_ERR_CAT_FILE_ACCESS = 0x0010, /* a file is to blame: `path` names it */
    RLM_ERR_CAT_SYSTEM_ERROR = 0x0020,
    RLM_ERR_CAT_APP_ERROR = 0x0040,
    RLM_ERR_CAT_CLIENT_ERROR = 0x0080,
    RLM_ERR_CAT_JSON_ERROR = 0x0100,
    RLM_ERR_CAT_SERVICE_ERROR = 0x0200,
    RLM_ERR_CAT_HTTP_ERROR = 0x0400,
    RLM_ERR_CAT_CUSTOM_ERROR = 0x0800,
    RLM_ERR_CAT_WEBSOCKET_ERROR = 0x1000,
    RLM_ERR_CAT_SYNC_ERROR = 0x2000,
} realm_error_category_e;

/** All error numbers. Those without a remark here either explain themselves or belong to parts of
 *  the API (sync, accounts) that this library leaves out: their names are kept for programs that
 *  refer to them, but no function reports them. */
typedef enum realm_errno {
    RLM_ERR_NONE = 0,

    /* Runtime: category RUNTIME, and FILE_ACCESS where a file is to blame. */
    RLM_ERR_RUNTIME = 1000,
    RLM_ERR_RANGE_ERROR = 1001,
    RLM_ERR_BROKEN_INVARIANT = 1002,
    RLM_ERR_OUT_OF_MEMORY = 1003,
    RLM_ERR_OUT_OF_DISK_SPACE = 1004,
    RLM_ERR_ADDRESS_SPACE_EXHAUSTED = 1005,
    RLM_ERR_MAXIMUM_FILE_SIZE_EXCEEDED = 1006,
    RLM_ERR_INCOMPATIBLE_SESSION = 1007,   /* another process uses the file in another way */
    RLM_ERR_INCOMPATIBLE_LOCK_FILE = 1008, /* the .lock file belongs to another kind of library */
    RLM_ERR_INVALID_QUERY = 1009, /* LOGIC and INVALID_ARG: unknown property, bad comparison */
    RLM_ERR_BAD_VERSION = 1010,            /* that snapshot no longer exists */
    RLM_ERR_UNSUPPORTED_FILE_FORMAT_VERSION = 1011,
    RLM_ERR_MULTIPLE_SYNC_AGENTS = 1012,
    RLM_ERR_OBJECT_ALREADY_EXISTS = 1013, /* the primary key is taken */
    RLM_ERR_NOT_CLONABLE = 1014,
    RLM_ERR_BAD_CHANGESET = 1015,
    RLM_ERR_SUBSCRIPTION_FAILED = 1016,
    RLM_ERR_FILE_OPERATION_FAILED = 1017,
    RLM_ERR_FILE_PERMISSION_DENIED = 1018,
    RLM_ERR_FILE_NOT_FOUND = 1019,
    RLM_ERR_FILE_ALREADY_EXISTS = 1020,
    RLM_ERR_INVALID_DATABASE = 1021,  /* not a realm file, a damaged one, or the wrong key */
    RLM_ERR_DECRYPTION_FAILED = 1022, /* a page does not decrypt */
    RLM_ERR_INCOMPATIBLE_HISTORIES = 1023,
    RLM_ERR_FILE_FORMAT_UPGRADE_REQUIRED = 1024, /* an older format, and upgrading was disabled */
    RLM_ERR_SCHEMA_VERSION_MISMATCH = 1025,
    RLM_ERR_NO_SUBSCRIPTION_FOR_WRITE = 1026,
    RLM_ERR_OPERATION_ABORTED = 1027,
    RLM_ERR_AUTO_CLIENT_RESET_FAILED = 1028, RLM_ERR_BAD_SYNC_PARTITION_VALUE = 1029,
    RLM_ERR_CONNECTION_CLOSED = 1030, RLM_ERR_INVALID_SUBSCRIPTION_QUERY = 1031,
    RLM_ERR_SYNC_CLIENT_RESET_REQUIRED = 1032, RLM_ERR_SYNC_COMPENSATING_WRITE = 1033,
    RLM_ERR_SYNC_CONNECT_FAILED = 1034, RLM_ERR_SYNC_CONNECT_TIMEOUT = 1035,
    RLM_ERR_SYNC_INVALID_SCHEMA_CHANGE = 1036, RLM_ERR_SYNC_PERMISSION_DENIED = 1037,
    RLM_ERR_SYNC_PROTOCOL_INVARIANT_FAILED = 1038, RLM_ERR_SYNC_PROTOCOL_NEGOTIATION_FAILED = 1039,
    RLM_ERR_SYNC_SERVER_PERMISSIONS_CHANGED = 1040, RLM_ERR_SYNC_USER_MISMATCH = 1041,
    RLM_ERR_TLS_HANDSHAKE_FAILED = 1042, RLM_ERR_WRONG_SYNC_TYPE = 1043,
    RLM_ERR_SYNC_WRITE_NOT_ALLOWED = 1044, RLM_ERR_SYNC_LOCAL_CLOCK_BEFORE_EPOCH = 1045,
    RLM_ERR_SYNC_SCHEMA_MIGRATION_ERROR = 1046,
    RLM_ERR_SYSTEM_ERROR = 1999, /* categories RUNTIME and SYSTEM_ERROR: the message has errno */

    /* Logic: category LOGIC. */
    RLM_ERR_LOGIC = 2000,
    RLM_ERR_NOT_SUPPORTED = 2001,
    RLM_ERR_BROKEN_PROMISE = 2002,
    RLM_ERR_CROSS_TABLE_LINK_TARGET = 2003, /* another class still links to this one */
    RLM_ERR_KEY_ALREADY_USED = 2004,
    RLM_ERR_WRONG_TRANSACTION_STATE = 2005,
    RLM_ERR_WRONG_THREAD = 2006,
    RLM_ERR_ILLEGAL_OPERATION = 2007, /* the operation does not fit this kind of thing */
    RLM_ERR_SERIALIZATION_ERROR = 2008,
    RLM_ERR_STALE_ACCESSOR = 2009,     /* results of a closed realm or a vanished collection */
    RLM_ERR_INVALIDATED_OBJECT = 2010, /* a deleted object, or one of a closed realm */
    RLM_ERR_READ_ONLY_DB = 2011,
    RLM_ERR_DELETE_OPENED_REALM = 2012, /* categories RUNTIME and FILE_ACCESS */
    RLM_ERR_MISMATCHED_CONFIG = 2013,   /* the file is open in this process in another way */
    RLM_ERR_CLOSED_REALM = 2014,
    RLM_ERR_INVALID_TABLE_REF = 2015,
    RLM_ERR_SCHEMA_VALIDATION_FAILED = 2016, /* the message lists every problem, one per line */
    RLM_ERR_SCHEMA_MISMATCH = 2017,          /* a migration is needed but the version is the same */
    RLM_ERR_INVALID_SCHEMA_VERSION = 2018,   /* lower than the file's */
    RLM_ERR_INVALID_SCHEMA_CHANGE = 2019,    /* the schema mode forbids the change */
    RLM_ERR_MIGRATION_FAILED = 2020,         /* e.g. two objects with one primary key */
    RLM_ERR_TOP_LEVEL_OBJECT = 2021,         /* not an embedded object; also INVALID_ARG */

    /* Invalid arguments: categories LOGIC and INVALID_ARG. */
    RLM_ERR_INVALID_ARGUMENT = 3000,
    RLM_ERR_PROPERTY_TYPE_MISMATCH = 3001,
    RLM_ERR_PROPERTY_NOT_NULLABLE = 3002,
    RLM_ERR_READ_ONLY_PROPERTY = 3003,
    RLM_ERR_MISSING_PROPERTY_VALUE = 3004,
    RLM_ERR_MISSING_PRIMARY_KEY = 3005,    /* the class has one, none was given */
    RLM_ERR_UNEXPECTED_PRIMARY_KEY = 3006, /* the class has none, one was given */
    RLM_ERR_MODIFY_PRIMARY_KEY = 3007,
    RLM_ERR_INVALID_QUERY_STRING = 3008, /* syntax */
    RLM_ERR_INVALID_PROPERTY = 3009,     /* no such property in the class */
    RLM_ERR_INVALID_NAME = 3010,
    RLM_ERR_INVALID_DICTIONARY_KEY = 3011,
    RLM_ERR_INVALID_DICTIONARY_VALUE = 3012,
    RLM_ERR_INVALID_SORT_DESCRIPTOR = 3013,
    RLM_ERR_INVALID_ENCRYPTION_KEY = 3014,
    RLM_ERR_INVALID_QUERY_ARG = 3015,
    RLM_ERR_NO_SUCH_OBJECT = 3016,
    RLM_ERR_INDEX_OUT_OF_BOUNDS = 3017,
    RLM_ERR_LIMIT_EXCEEDED = 3018, /* a value is too large to be stored */
    RLM_ERR_OBJECT_TYPE_MISMATCH = 3019,
    RLM_ERR_NO_SUCH_TABLE = 3020, /* no such class */
    RLM_ERR_TABLE_NAME_IN_USE = 3021,
    RLM_ERR_ILLEGAL_COMBINATION = 3022, /* settings of a config that exclude each other */
    RLM_ERR_BAD_SERVER_URL = 3023,

    /* Services. Only MALFORMED_JSON is of local use. */
    RLM_ERR_CUSTOM_ERROR = 4000, RLM_ERR_CLIENT_USER_NOT_FOUND = 4100,
    RLM_ERR_CLIENT_USER_NOT_LOGGED_IN = 4101, RLM_ERR_CLIENT_REDIRECT_ERROR = 4103,
    RLM_ERR_CLIENT_TOO_MANY_REDIRECTS = 4104, RLM_ERR_CLIENT_USER_ALREADY_NAMED = 4105,
    RLM_ERR_BAD_TOKEN = 4200, RLM_ERR_MALFORMED_JSON = 4201, RLM_ERR_MISSING_JSON_KEY = 4202,
    RLM_ERR_BAD_BSON_PARSE = 4203, RLM_ERR_MISSING_AUTH_REQ = 4300, RLM_ERR_INVALID_SESSION = 4301,
    RLM_ERR_USER_APP_DOMAIN_MISMATCH = 4302, RLM_ERR_DOMAIN_NOT_ALLOWED = 4303,
    RLM_ERR_READ_SIZE_LIMIT_EXCEEDED = 4304, RLM_ERR_INVALID_PARAMETER = 4305,
    RLM_ERR_MISSING_PARAMETER = 4306, RLM_ERR_TWILIO_ERROR = 4307, RLM_ERR_GCM_ERROR = 4308,
    RLM_ERR_HTTP_ERROR = 4309, RLM_ERR_AWS_ERROR = 4310, RLM_ERR_MONGODB_ERROR = 4311,
    RLM_ERR_ARGUMENTS_NOT_ALLOWED = 4312, RLM_ERR_FUNCTION_EXECUTION_ERROR = 4313,
    RLM_ERR_NO_MATCHING_RULE_FOUND = 4314, RLM_ERR_INTERNAL_SERVER_ERROR = 4315,
    RLM_ERR_AUTH_PROVIDER_NOT_FOUND = 4316, RLM_ERR_AUTH_PROVIDER_ALREADY_EXISTS = 4317,
    RLM_ERR_SERVICE_NOT_FOUND = 4318, RLM_ERR_SERVICE_TYPE_NOT_FOUND = 4319,
    RLM_ERR_SERVICE_ALREADY_EXISTS = 4320, RLM_ERR_SERVICE_COMMAND_NOT_FOUND = 4321,
    RLM_ERR_VALUE_NOT_FOUND = 4322, RLM_ERR_VALUE_ALREADY_EXISTS = 4323,
    RLM_ERR_VALUE_DUPLICATE_NAME = 4324, RLM_ERR_FUNCTION_NOT_FOUND = 4325,
    RLM_ERR_FUNCTION_ALREADY_EXISTS = 4326, RLM_ERR_FUNCTION_DUPLICATE_NAME = 4327,
    RLM_ERR_FUNCTION_SYNTAX_ERROR = 4328, RLM_ERR_FUNCTION_INVALID = 4329,
    RLM_ERR_INCOMING_WEBHOOK_NOT_FOUND = 4330, RLM_ERR_INCOMING_WEBHOOK_ALREADY_EXISTS = 4331,
    RLM_ERR_INCOMING_WEBHOOK_DUPLICATE_NAME = 4332, RLM_ERR_RULE_NOT_FOUND = 4333,
    RLM_ERR_API_KEY_NOT_FOUND = 4334, RLM_ERR_RULE_ALREADY_EXISTS = 4335,
    RLM_ERR_RULE_DUPLICATE_NAME = 4336, RLM_ERR_AUTH_PROVIDER_DUPLICATE_NAME = 4337,
    RLM_ERR_RESTRICTED_HOST = 4338, RLM_ERR_API_KEY_ALREADY_EXISTS = 4339,
    RLM_ERR_INCOMING_WEBHOOK_AUTH_FAILED = 4340, RLM_ERR_EXECUTION_TIME_LIMIT_EXCEEDED = 4341,
    RLM_ERR_NOT_CALLABLE = 4342, RLM_ERR_USER_ALREADY_CONFIRMED = 4343,
    RLM_ERR_USER_NOT_FOUND = 4344, RLM_ERR_USER_DISABLED = 4345, RLM_ERR_AUTH_ERROR = 4346,
    RLM_ERR_BAD_REQUEST = 4347, RLM_ERR_ACCOUNT_NAME_IN_USE = 4348, RLM_ERR_INVALID_PASSWORD = 4349,
    RLM_ERR_SCHEMA_VALIDATION_FAILED_WRITE = 4350, RLM_ERR_APP_UNKNOWN = 4351,
    RLM_ERR_MAINTENANCE_IN_PROGRESS = 4352, RLM_ERR_USERPASS_TOKEN_INVALID = 4353,
    RLM_ERR_INVALID_SERVER_RESPONSE = 4354, RLM_ERR_APP_SERVER_ERROR = 4355,

    RLM_ERR_CALLBACK = 1000000, /* RUNTIME: a callback of the program failed */
    RLM_ERR_UNKNOWN = 2000000,  /* no category */
} realm_errno_e;

/* The next four enums number errors of the sync protocol. Names only. */
typedef enum realm_sync_errno_connection {
    RLM_SYNC_ERR_CONNECTION_CONNECTION_CLOSED = 100, RLM_SYNC_ERR_CONNECTION_OTHER_ERROR = 101,
    RLM_SYNC_ERR_CONNECTION_UNKNOWN_MESSAGE = 102, RLM_SYNC_ERR_CONNECTION_BAD_SYNTAX = 103,
    RLM_SYNC_ERR_CONNECTION_LIMITS_EXCEEDED = 104,
    RLM_SYNC_ERR_CONNECTION_WRONG_PROTOCOL_VERSION = 105,
    RLM_SYNC_ERR_CONNECTION_BAD_SESSION_IDENT = 106,
    RLM_SYNC_ERR_CONNECTION_REUSE_OF_SESSION_IDENT = 107,
    RLM_SYNC_ERR_CONNECTION_BOUND_IN_OTHER_SESSION = 108,
    RLM_SYNC_ERR_CONNECTION_BAD_MESSAGE_ORDER = 109,
    RLM_SYNC_ERR_CONNECTION_BAD_DECOMPRESSION = 110,
    RLM_SYNC_ERR_CONNECTION_BAD_CHANGESET_HEADER_SYNTAX = 111,
    RLM_SYNC_ERR_CONNECTION_BAD_CHANGESET_SIZE = 112,
    RLM_SYNC_ERR_CONNECTION_SWITCH_TO_FLX_SYNC = 113, RLM_SYNC_ERR_CONNECTION_SWITCH_TO_PBS = 114,
} realm_sync_errno_connection_e;

typedef enum realm_sync_errno_session {
    RLM_SYNC_ERR_SESSION_SESSION_CLOSED = 200, RLM_SYNC_ERR_SESSION_OTHER_SESSION_ERROR = 201,
    RLM_SYNC_ERR_SESSION_TOKEN_EXPIRED = 202, RLM_SYNC_ERR_SESSION_BAD_AUTHENTICATION = 203,
    RLM_SYNC_ERR_SESSION_ILLEGAL_REALM_PATH = 204, RLM_SYNC_ERR_SESSION_NO_SUCH_REALM = 205,
    RLM_SYNC_ERR_SESSION_PERMISSION_DENIED = 206, RLM_SYNC_ERR_SESSION_BAD_SERVER_FILE_IDENT = 207,
    RLM_SYNC_ERR_SESSION_BAD_CLIENT_FILE_IDENT = 208, RLM_SYNC_ERR_SESSION_BAD_SERVER_VERSION = 209,
    RLM_SYNC_ERR_SESSION_BAD_CLIENT_VERSION = 210, RLM_SYNC_ERR_SESSION_DIVERGING_HISTORIES = 211,
    RLM_SYNC_ERR_SESSION_BAD_CHANGESET = 212, RLM_SYNC_ERR_SESSION_PARTIAL_SYNC_DISABLED = 214,
    RLM_SYNC_ERR_SESSION_UNSUPPORTED_SESSION_FEATURE = 215,
    RLM_SYNC_ERR_SESSION_BAD_ORIGIN_FILE_IDENT = 216, RLM_SYNC_ERR_SESSION_BAD_CLIENT_FILE = 217,
    RLM_SYNC_ERR_SESSION_SERVER_FILE_DELETED = 218,
    RLM_SYNC_ERR_SESSION_CLIENT_FILE_BLACKLISTED = 219, RLM_SYNC_ERR_SESSION_USER_BLACKLISTED = 220,
    RLM_SYNC_ERR_SESSION_TRANSACT_BEFORE_UPLOAD = 221,
    RLM_SYNC_ERR_SESSION_CLIENT_FILE_EXPIRED = 222, RLM_SYNC_ERR_SESSION_USER_MISMATCH = 223,
    RLM_SYNC_ERR_SESSION_TOO_MANY_SESSIONS = 224, RLM_SYNC_ERR_SESSION_INVALID_SCHEMA_CHANGE = 225,
    RLM_SYNC_ERR_SESSION_BAD_QUERY = 226, RLM_SYNC_ERR_SESSION_OBJECT_ALREADY_EXISTS = 227,
    RLM_SYNC_ERR_SESSION_SERVER_PERMISSIONS_CHANGED = 228,
    RLM_SYNC_ERR_SESSION_INITIAL_SYNC_NOT_COMPLETED = 229,
    RLM_SYNC_ERR_SESSION_WRITE_NOT_ALLOWED = 230, RLM_SYNC_ERR_SESSION_COMPENSATING_WRITE = 231,
    RLM_SYNC_ERR_SESSION_MIGRATE_TO_FLX = 232, RLM_SYNC_ERR_SESSION_BAD_PROGRESS = 233,
    RLM_SYNC_ERR_SESSION_REVERT_TO_PBS = 234, RLM_SYNC_ERR_SESSION_BAD_SCHEMA_VERSION = 235,
    RLM_SYNC_ERR_SESSION_SCHEMA_VERSION_CHANGED = 236,
} realm_sync_errno_session_e;

typedef enum realm_web_socket_errno {
    RLM_ERR_WEBSOCKET_OK = 1000, RLM_ERR_WEBSOCKET_GOINGAWAY = 1001,
    RLM_ERR_WEBSOCKET_PROTOCOLERROR = 1002, RLM_ERR_WEBSOCKET_UNSUPPORTEDDATA = 1003,
    RLM_ERR_WEBSOCKET_RESERVED = 1004, RLM_ERR_WEBSOCKET_NOSTATUSRECEIVED = 1005,
    RLM_ERR_WEBSOCKET_ABNORMALCLOSURE = 1006, RLM_ERR_WEBSOCKET_INVALIDPAYLOADDATA = 1007,
    RLM_ERR_WEBSOCKET_POLICYVIOLATION = 1008, RLM_ERR_WEBSOCKET_MESSAGETOOBIG = 1009,
    RLM_ERR_WEBSOCKET_INAVALIDEXTENSION = 1010, RLM_ERR_WEBSOCKET_INTERNALSERVERERROR = 1011,
    RLM_ERR_WEBSOCKET_TLSHANDSHAKEFAILED = 1015, RLM_ERR_WEBSOCKET_UNAUTHORIZED = 4001,
    RLM_ERR_WEBSOCKET_FORBIDDEN = 4002, RLM_ERR_WEBSOCKET_MOVEDPERMANENTLY = 4003,
    RLM_ERR_WEBSOCKET_RESOLVE_FAILED = 4400, RLM_ERR_WEBSOCKET_CONNECTION_FAILED = 4401,
    RLM_ERR_WEBSOCKET_READ_ERROR = 4402, RLM_ERR_WEBSOCKET_WRITE_ERROR = 4403,
    RLM_ERR_WEBSOCKET_RETRY_ERROR = 4404, RLM_ERR_WEBSOCKET_FATAL_ERROR = 4405,
} realm_web_socket_errno_e;

typedef enum realm_sync_socket_callback_result {
    RLM_ERR_SYNC_SOCKET_SUCCESS = 0, RLM_ERR_SYNC_SOCKET_RUNTIME = 1000,
    RLM_ERR_SYNC_SOCKET_OUT_OF_MEMORY = 1003, RLM_ERR_SYNC_SOCKET_ADDRESS_SPACE_EXHAUSTED = 1005,
    RLM_ERR_SYNC_SOCKET_OPERATION_ABORTED = 1027, RLM_ERR_SYNC_SOCKET_CONNECTION_CLOSED = 1030,
    RLM_ERR_SYNC_SOCKET_NOT_SUPPORTED = 2001, RLM_ERR_SYNC_SOCKET_INVALID_ARGUMENT = 3000,
} realm_sync_socket_callback_result_e;

typedef unsigned realm_error_categories; /* realm_error_category_e bits */

/** One error. The strings are views, see the function that filled the struct. */
typedef struct realm_error {
    realm_errno_e error;
    realm_error_categories categories;
    const char* message;   /* for people; never NULL when there is an error */
    void* user_code_error; /* for RLM_ERR_CALLBACK: what the callback registered, else NULL */
    const char* path;      /* the file, for category FILE_ACCESS, else NULL */
} realm_error_t;

/* ------------------------------------------------------------------------------------------------
 * Callback types
 * ---------------------------------------------------------------------------------------------- */

typedef void (*realm_free_userdata_func_t)(realm_userdata_t userdata);
typedef realm_userdata_t (*realm_clone_userdata_func_t)(const realm_userdata_t userdata);

/* While opening. The handles are borrowed. false makes the open fail with RLM_ERR_CALLBACK. */
typedef bool (*realm_migration_func_t)(realm_userdata_t userdata, realm_t* old_realm,
                                       realm_t* new_realm, const realm_schema_t* schema);
typedef bool (*realm_data_initialization_func_t)(realm_userdata_t userdata, realm_t* realm);
/* The result is no verdict on the open: true asks for compaction. */
typedef bool (*realm_should_compact_on_launch_func_t)(realm_userdata_t userdata,
                                                      uint64_t total_bytes, uint64_t used_bytes);

/* Changes. The change handle is borrowed; clone it to keep it. */
typedef void (*realm_on_object_change_func_t)(realm_userdata_t userdata,
                                              const realm_object_changes_t* changes);
typedef void (*realm_on_collection_change_func_t)(realm_userdata_t userdata,
                                                  const realm_collection_changes_t* changes);
typedef void (*realm_on_dictionary_change_func_t)(realm_userdata_t userdata,
                                                  const realm_dictionary_changes_t* changes);
typedef void (*realm_on_realm_change_func_t)(realm_userdata_t userdata);
typedef void (*realm_on_realm_refresh_func_t)(realm_userdata_t userdata);
typedef void (*realm_on_schema_change_func_t)(realm_userdata_t userdata,
                                              const realm_schema_t* new_schema);

/* Asynchronous writes. `desc` is a borrowed text, NULL when `error` is false. */
typedef void (*realm_async_begin_write_func_t)(realm_userdata_t userdata);
typedef void (*realm_async_commit_func_t)(realm_userdata_t userdata, bool error, const char* desc);

/* A scheduler of the program's own: see realm_scheduler_new(). */
typedef void (*realm_scheduler_notify_func_t)(realm_userdata_t userdata,
                                              realm_work_queue_t* work_queue);
typedef bool (*realm_scheduler_is_on_thread_func_t)(realm_userdata_t userdata);
typedef bool (*realm_scheduler_is_same_as_func_t)(const realm_userdata_t scheduler_userdata_1,
                                                  const realm_userdata_t scheduler_userdata_2);
typedef bool (*realm_scheduler_can_deliver_notifications_func_t)(realm_userdata_t userdata);
typedef realm_scheduler_t* (*realm_scheduler_default_factory_func_t)(realm_userdata_t userdata);

/* `category` and `message` are borrowed texts. */
typedef void (*realm_log_func_t)(realm_userdata_t userdata, const char* category,
                                 realm_log_level_e level, const char* message);

/* ------------------------------------------------------------------------------------------------
 * Version
 * ---------------------------------------------------------------------------------------------- */

/** The version of the C API that the loaded library implements, as text: RLM_C_API_VERSION of the
 *  header it was built with.
 *
 *  Returns: a static text, never NULL.
 *  Thread:  any. Errors: none. */
RLM_API const char* realm_get_library_version(void);

/** The same version as numbers.
 *
 *  out_extra: receives a static text, empty for a release.
 *  Thread:    any. Errors: none. */
RLM_API void realm_get_library_version_numbers(int* out_major, int* out_minor, int* out_patch,
                                               const char** out_extra);

/** Tells which snapshot the realm is looking at.
 *
 *  Outside any transaction there is none: the call succeeds, *out_found is false and the id is {0,
 *  0}. Reading anything, or realm_begin_read(), begins a read transaction.
 *
 *  out_found, out_version: [optional].
 *  Thread: confined.
 *  Errors: WRONG_THREAD. A closed realm has no snapshot; that is no error. */
RLM_API bool realm_get_version_id(const realm_t* realm, bool* out_found,
                                  realm_version_id_t* out_version);

/** Counts the snapshots that the file holds at this moment, those of all threads and processes
 *  taken together. A file of which no old version is pinned has two: the newest and the one
 *  before it. A growing number points to a reader that never refreshes.
 *
 *  out_versions_count: [optional].
 *  Thread: confined. Errors: [realm]. */
RLM_API bool realm_get_num_versions(const realm_t* realm, uint64_t* out_versions_count);

/* ------------------------------------------------------------------------------------------------
 * Errors
 *
 * Each thread has one slot for its last error. A failing call overwrites it, a succeeding one
 * leaves it alone. The error belongs to the thread, not to a realm.
 * ---------------------------------------------------------------------------------------------- */

/** Reads the calling thread's last error without clearing it.
 *
 *  out_error: [optional]; message and path are views of the slot, good until the next failure or
 *             clear on this thread. Untouched when there is no error.
 *  Returns:   true when the slot holds an error.
 *  Thread:    any; each has its own slot. Errors: none. */
RLM_API bool realm_get_last_error(realm_error_t* out_error);

/** Empties the calling thread's slot and ends the life of the texts in it.
 *
 *  Returns: true when there was something to clear.
 *  Thread:  any. Errors: none. */
RLM_API bool realm_clear_last_error(void);

/** Copies the calling thread's last error into a handle that may go to another thread. The slot
 *  keeps its contents. Such handles can be cloned, and are equal when number and message are.
 *
 *  Returns: an own handle, or NULL without an error when the slot is empty.
 *  Thread:  any. */
RLM_API realm_async_error_t* realm_get_last_error_as_async_error(void);

/** Reads an error handle.
 *
 *  async_error: may be NULL.
 *  out_error:   [optional]; the strings are views that live as long as the handle.
 *  Returns:     true when there is an error; false, without setting one, for NULL.
 *  Thread:      any. */
RLM_API bool realm_get_async_error(const realm_async_error_t* async_error,
                                   realm_error_t* out_error);

/** Lets a callback say why it failed. Call it inside a migration, initialization or compaction
 *  callback, just before the callback returns. The function that ran the callback then fails with
 *  CALLBACK, and the pointer comes back as user_code_error. For a compaction callback registering
 *  is the only way to fail.
 *
 *  usercode_error: any pointer. The library never looks at it and never frees it. It is kept for
 *          this thread until the next callback failure takes it.
 *  Thread: any. Errors: none. */
RLM_API void realm_register_user_code_callback_error(realm_userdata_t usercode_error);

/* ------------------------------------------------------------------------------------------------
 * Memory and identity
 * ---------------------------------------------------------------------------------------------- */

/** Frees a buffer that a function of this library handed over with the remark "free with
 *  realm_free()". Handles go to realm_release() instead.
 *
 *  buffer: may be NULL.
 *  Thread: any. */
RLM_API void realm_free(void* buffer);

/** Gives back an own handle of any type.
 *
 *  Releasing a token ends its callbacks. Releasing a realm handle closes the realm only when
 *  nothing else refers to it: objects, collections, results and tokens do. Use realm_close() to
 *  close it at once. Releasing an object or collection handle ends the change callbacks registered
 *  on it.
 *
 *  ptr:    may be NULL.
 *  Thread: any. Functions that free userdata run on the thread that releases. */
RLM_API void realm_release(void* ptr);

/** Makes a second handle to the same thing: realm, schema, scheduler, object, list, set,
 *  dictionary, query, results, change set or error. Change callbacks stay with the original handle.
 *
 *  Returns: an own handle of the same type.
 *  Thread:  any.
 *  Errors:  NOT_CLONABLE for configs, tokens, key path arrays and thread-safe references. */
RLM_API void* realm_clone(const void* ptr);

/** Compares two handles. Handles of different types are never equal.
 *
 *    realm                   the same open instance; two opens of one file are equal only if cached
 *    schema                  the same classes and properties
 *    object                  the same object seen through the same realm instance
 *    list, set, dictionary   the same instance, owner object and property; nesting is not compared
 *    scheduler               the same scheduler, or its is_same_as says so
 *    error                   equal number and message
 *    everything else         the same pointer
 *
 *  a, b:    may be NULL, which equals only NULL.
 *  Thread:  any.
 *  Errors:  none. */
RLM_API bool realm_equals(const void* a, const void* b);

/** Tells whether a handle is a frozen realm (realm_freeze()), or an object, list, set, dictionary
 *  or results in one.
 *
 *  ptr:    may be NULL, which is not frozen.
 *  Thread: any. Errors: none. */
RLM_API bool realm_is_frozen(const void* ptr);

/* ------------------------------------------------------------------------------------------------
 * Logging
 *
 * Messages carry a level and a category. Categories form a tree; a level set on one also holds for
 * those below it:
 *
 *     Realm
 *       Realm.App
 *       Realm.SDK
 *       Realm.Storage  .Notification  .Object  .Query  .Transaction
 *       Realm.Sync     .Client ( .Changeset  .Network  .Reset  .Session )  .Server
 *
 * Levels and the receiver of messages are settings of the whole process. Out of the box messages of
 * level INFO and above go to standard error.
 * ---------------------------------------------------------------------------------------------- */

/** Sends all further messages to a function, or back to standard error.
 *
 *  callback: NULL restores the default. May be called on any thread, also on several at once and on
 *            threads of the library; it must not call back into the library.
 *  userdata_free: runs when the callback is replaced.
 *  Thread:   any. Errors: none. */
RLM_API void realm_set_log_callback(realm_log_func_t callback, realm_userdata_t userdata,
                                    realm_free_userdata_func_t userdata_free);

/** Sets the level of all categories.
 *
 *  Thread: any. Errors: INVALID_ARGUMENT for an unknown level; nothing changes then. */
RLM_API void realm_set_log_level(realm_log_level_e level);

/** Sets the level of one category and of those below it.
 *
 *  category: full name, such as "Realm.Storage.Query".
 *  Returns:  the level the category had before.
 *  Thread:   any.
 *  Errors:   INVALID_ARGUMENT for an unknown name or level: nothing changes, RLM_LOG_LEVEL_ALL is
 *            returned. */
RLM_API realm_log_level_e realm_set_log_level_category(const char* category,
                                                       realm_log_level_e level);

/** The level of one category.
 *
 *  Thread: any.
 *  Errors: INVALID_ARGUMENT for an unknown name; RLM_LOG_LEVEL_ALL is returned. */
RLM_API realm_log_level_e realm_get_log_level_category(const char* category);

/** Lists the categories in alphabetical order.
 *
 *  num_values: how many names out_values has room for; 0 asks for the total.
 *  out_values: receives static texts; may be NULL when num_values is 0.
 *  Returns:    the number written, or the total when num_values is 0.
 *  Thread:     any. */
RLM_API size_t realm_get_category_names(size_t num_values, const char** out_values);

/* ------------------------------------------------------------------------------------------------
 * Config
 *
 * A config says which file to open and how. It holds plain values and is read when it is used:
 * changing it later has no effect on realms already open. Setters copy what they are given, except
 * for userdata. Texts returned by getters are views, good until the next set or the release of the
 * config. All functions here follow the thread rule "single" and cannot fail unless noted.
 *
 * Userdata of the three callbacks is freed when the config is released, not when a function is
 * replaced. When several callbacks share one userdata pointer it is freed once, with the free
 * function that came first. So keep the config for as long as one of its callbacks may still run.
 * ---------------------------------------------------------------------------------------------- */

/** Makes a config with these defaults: empty path, no schema, no schema version, automatic schema
 *  mode, strict subset mode, no encryption, on disk, not cached, automatic change notifications on,
 *  format upgrades allowed, any number of versions, the default scheduler of the opening thread.
 *
 *  Returns: an own handle. It cannot be cloned. */
RLM_API realm_config_t* realm_config_new(void);

/** The path, a view; never NULL, "" when none was set. */
RLM_API const char* realm_config_get_path(const realm_config_t* config);

/** Sets the path of the file. Two opens mean the same file only when they spell its path alike.
 *
 *  Errors: INVALID_ARGUMENT for NULL; nothing changes. The same for a path that is not UTF-8: then
 *          nothing is opened with the configuration until another path is set. */
RLM_API void realm_config_set_path(realm_config_t* config, const char* path);

/** Reads the encryption key.
 *
 *  out_key: [optional]; room for 64 bytes.
 *  Returns: 64, or 0 when there is no key and nothing was written. */
RLM_API size_t realm_config_get_encryption_key(const realm_config_t* config, uint8_t* out_key);

/** Sets the key that encrypts a new file and opens an existing one.
 *
 *  key:      key_size bytes; may be NULL when key_size is 0.
 *  key_size: 64, or 0 for no encryption.
 *  Errors:   INVALID_ENCRYPTION_KEY for any other size; the old key stays, but nothing is opened with the
 *            configuration, and no file is made, until a key that is taken is set. */
RLM_API bool realm_config_set_encryption_key(realm_config_t* config, const uint8_t* key,
                                             size_t key_size);

/** The schema as an own handle; NULL without an error when none is set. */
RLM_API realm_schema_t* realm_config_get_schema(const realm_config_t* config);

/** Sets the schema the opened realm shall have. Without one the realm is dynamic: it shows all
 *  classes of the file and follows later changes of them.
 *
 *  schema: copied, not validated yet; NULL takes an earlier one back. A schema needs a version too.
 */
RLM_API void realm_config_set_schema(realm_config_t* config, const realm_schema_t* schema);

/** The schema version; UINT64_MAX when none was set. */
RLM_API uint64_t realm_config_get_schema_version(const realm_config_t* config);

/** Sets the schema version. It is ignored without a schema. */
RLM_API void realm_config_set_schema_version(realm_config_t* config, uint64_t version);

/** The schema mode. */
RLM_API realm_schema_mode_e realm_config_get_schema_mode(const realm_config_t* config);

/** Chooses what may happen when schema and file differ.
 *
 *  Errors: INVALID_ARGUMENT for an unknown mode; nothing changes. */
RLM_API void realm_config_set_schema_mode(realm_config_t* config, realm_schema_mode_e mode);

/** The subset mode. */
RLM_API realm_schema_subset_mode_e
realm_config_get_schema_subset_mode(const realm_config_t* config);

/** Chooses whether the realm also shows what the file has beyond the schema. Other properties of
 *  the schema's own classes can be shown in additive, immutable and read-only modes only.
 *
 *  Errors: INVALID_ARGUMENT for an unknown mode; nothing changes. */
RLM_API void realm_config_set_schema_subset_mode(realm_config_t* config,
                                                 realm_schema_subset_mode_e mode);

/** Sets the function that carries data over when the schema version of the file is lower.
 *
 *  It runs inside realm_open(), in the write transaction of the migration, with two borrowed
 *  realms: the old one is a read-only view of the file before the migration with all its classes;
 *  the new one is writable and has the target schema. New classes and columns exist already,
 *  columns that will go still do, primary keys may be set freely and are checked afterwards. It
 *  must neither commit nor roll back. The handles are good inside the call only. false leaves the
 *  file unchanged and makes the open fail with CALLBACK.
 *
 *  function: NULL takes an earlier one back. Refused at open in additive, immutable and read-only
 *            modes. */
RLM_API void realm_config_set_migration_function(realm_config_t* config,
                                                 realm_migration_func_t function,
                                                 realm_userdata_t userdata,
                                                 realm_free_userdata_func_t userdata_free);

/** Sets the function that fills a new file. It runs once in the life of a file, right after its
 *  schema was created, in the same write transaction, with a borrowed realm. false leaves the file
 *  without a schema and makes the open fail with CALLBACK.
 *
 *  function: NULL takes an earlier one back. Refused at open in immutable and read-only modes. */
RLM_API void realm_config_set_data_initialization_function(
    realm_config_t* config, realm_data_initialization_func_t function, realm_userdata_t userdata,
    realm_free_userdata_func_t userdata_free);

/** Sets the function that decides whether to compact the file. It is asked when the process opens
 *  the file for the first time and there is free space in it, with the size of the file and the
 *  part of it in use, in bytes. true compacts, unless another process has the file open; a failure
 *  to compact does not stop the open. An error registered with
 *  realm_register_user_code_callback_error() makes the open fail with CALLBACK whatever was
 *  returned.
 *
 *  function: NULL takes an earlier one back. */
RLM_API void realm_config_set_should_compact_on_launch_function(
    realm_config_t* config, realm_should_compact_on_launch_func_t function,
    realm_userdata_t userdata, realm_free_userdata_func_t userdata_free);

/** Whether format upgrades are disabled. */
RLM_API bool realm_config_get_disable_format_upgrade(const realm_config_t* config);

/** Asks the file whether it is in an older format that opening it would upgrade.
 *
 *  Returns: false also when there is no file, and on failure.
 *  Errors:  those of realm_open() about the file. */
RLM_API bool realm_config_needs_file_format_upgrade(const realm_config_t* config);

/** Forbids upgrading older files: opening one then fails with FILE_FORMAT_UPGRADE_REQUIRED. */
RLM_API void realm_config_set_disable_format_upgrade(realm_config_t* config, bool disable);

/** What realm_config_set_automatic_change_notifications() set; true at first. */
RLM_API bool realm_config_get_automatic_change_notifications(const realm_config_t* config);

/** Says whether the realm hears of the commits of others, in this process or another one: then its
 *  scheduler gets a turn, in which the realm moves to the newest snapshot and callbacks run. Without,
 *  that happens only inside realm_refresh(), realm_begin_write() and realm_commit(). A file that is
 *  watched costs one thread, which sleeps until the next commit. */
RLM_API void realm_config_set_automatic_change_notifications(realm_config_t* config,
                                                             bool automatic);

/** Sets the scheduler, and with it the thread, that the realm will belong to.
 *
 *  scheduler: the config keeps its own reference; the handle may be released at once. NULL goes
 *             back to the default scheduler of the thread that opens. */
RLM_API void realm_config_set_scheduler(realm_config_t* config, const realm_scheduler_t* scheduler);

/** The flag set below. */
RLM_API bool realm_config_get_force_sync_history(const realm_config_t* config);

/** Marks a new file as one that keeps the history form used with sync servers. Local programs leave
 *  this off. */
RLM_API void realm_config_set_force_sync_history(realm_config_t* config, bool force);

/** The limit on live snapshots; UINT64_MAX for none. */
RLM_API uint64_t realm_config_get_max_number_of_active_versions(const realm_config_t* config);

/** Limits the number of live snapshots: while the file holds more than this, beginning a write
 *  fails with WRONG_TRANSACTION_STATE. A guard against files that grow because a reader keeps an
 *  old one. */
RLM_API void realm_config_set_max_number_of_active_versions(realm_config_t* config,
                                                            uint64_t max_versions);

/** Keeps the data in memory only: it lives while an instance of the path is open in any process. A
 *  file marks the place meanwhile. Cannot be combined with encryption. Opening fails with
 *  FILE_ALREADY_EXISTS when a database is there that is not in memory: realm-core empties and
 *  removes it. */
RLM_API void realm_config_set_in_memory(realm_config_t* config, bool in_memory);

/** Whether the realm lives in memory only. */
RLM_API bool realm_config_get_in_memory(realm_config_t* config);

/** Sets a folder for the helper files that processes use to wake each other, for file systems that
 *  do not support them beside the realm itself.
 *
 *  path:   copied.
 *  Errors: INVALID_ARGUMENT for NULL; nothing changes. */
RLM_API void realm_config_set_fifo_path(realm_config_t* config, const char* path);

/** The folder set above, a view; "" when none was set. */
RLM_API const char* realm_config_get_fifo_path(realm_config_t* config);

/** Makes opens on equal schedulers share one instance, so that realm_equals() is true for them and
 *  closing one closes all. */
RLM_API void realm_config_set_cached(realm_config_t* config, bool cached);

/** Whether instances are shared. */
RLM_API bool realm_config_get_cached(realm_config_t* config);

/** Decides what a migration of a class from top-level to embedded does with objects that do not
 *  have exactly one parent. On: parentless ones are deleted, shared ones are copied for each
 *  parent. Off (the default): the migration fails with ILLEGAL_OPERATION. */
RLM_API void realm_config_set_automatic_backlink_handling(realm_config_t* config, bool automatic);

/* ------------------------------------------------------------------------------------------------
 * Scheduler
 *
 * A scheduler stands for the thread a realm belongs to and for the way to get work done on it. A
 * realm opened without one uses the default scheduler of the thread that opens it; programs with an
 * event loop of their own make a scheduler that posts to that loop.
 * ---------------------------------------------------------------------------------------------- */

/** Makes a scheduler from functions of the program. Each may be NULL.
 *
 *  notify:     called from any thread, mostly one of the library, when work waits in the queue it is
 *              given. It must bring about one later call of realm_scheduler_perform_work() with that
 *              queue on the scheduler's thread, and must not call into the realm itself. At most one
 *              turn of each realm waits, however many commits there are. NULL: the work is dropped.
 *  is_on_thread: is this the scheduler's thread? NULL: never, so that every confined call fails.
 *  is_same_as: asked only for two schedulers with the same functions and different userdata. NULL:
 *              they differ.
 *  can_deliver_notifications: will notify ever be answered? NULL: false. Asynchronous
 *              writes are refused then; notify is called for other work all the same.
 *  userdata_free: runs when the last reference to the scheduler is gone, on whatever thread that
 *              is.
 *  Returns:    an own handle.
 *  Thread:     any. */
RLM_API realm_scheduler_t* realm_scheduler_new(
    realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_scheduler_notify_func_t notify, realm_scheduler_is_on_thread_func_t is_on_thread,
    realm_scheduler_is_same_as_func_t is_same_as,
    realm_scheduler_can_deliver_notifications_func_t can_deliver_notifications);

/** Runs everything that waits in the queue at this moment. Work added meanwhile waits for the next
 *  notify. Callbacks of the program run inside this call.
 *
 *  work_queue: as notify received it; it must not be released. It may be passed as long as the
 *              process lives, and has nothing to run once the scheduler is gone: some 160 bytes stay
 *              for each scheduler whose notify was called.
 *  Thread:     the scheduler's.
 *  Errors:     none; trouble met on the way is reported by the next call that runs into it. */
RLM_API void realm_scheduler_perform_work(realm_work_queue_t* work_queue);

/** Makes a scheduler for the calling thread, of the kind that realm_open() uses by default. It has
 *  a file descriptor that an event loop can watch: see crealm_scheduler_get_fd() and
 *  crealm_scheduler_run() in crealm.h. All default schedulers of one thread count as the same.
 *
 *  It ends with its thread. Work of realms that are still open ends then, as in realm_close(): a
 *  write is rolled back, which frees the write lock; callbacks of realm_async_begin_write() are
 *  dropped; commits are waited for and their callbacks run, on the ending thread, after its
 *  thread-local objects of C++ are gone. Such a realm can be closed on any thread, or taken over if
 *  realm_create_thread_safe_reference() was called for it; all other confined calls fail with
 *  WRONG_THREAD, also on a new thread that gets the same number from the system. The end of the
 *  process does not count as the end of its threads.
 *
 *  Returns: an own handle.
 *  Thread:  any; the scheduler is bound to it.
 *  Errors:  SYSTEM_ERROR when no descriptor is to be had. */
RLM_API realm_scheduler_t* realm_scheduler_make_default(void);

/** Reserved.
 *
 *  Returns: always NULL, without an error.
 *  Thread:  any. */
RLM_API const realm_scheduler_t* realm_scheduler_get_frozen(void);

/* ------------------------------------------------------------------------------------------------
 * Open, close, transactions
 *
 * An open realm always reads one snapshot of the file: nothing it reads changes until it moves
 * on, by realm_refresh(), realm_begin_write(), its own commits, or a turn of its scheduler. Only
 * one write transaction exists per file at a time, over all threads and processes. Where two
 * instances have one scheduler, the second cannot wait for the first: its realm_begin_write() fails
 * with WRONG_TRANSACTION_STATE while the first one writes.
 * ---------------------------------------------------------------------------------------------- */

/** Opens or creates the file of a config, brings its schema in line, and runs the config's
 *  callbacks as needed.
 *
 *  The realm belongs to the config's scheduler. No transaction is open afterwards. Opening a path
 *  again in the same process requires the same encryption key, kind of storage, schema mode and,
 *  where both name one, schema version.
 *
 *  config:  read during the call; see "Config" for how long its callbacks need it.
 *  Returns: an own handle.
 *  Thread:  any; without a scheduler in the config the realm belongs to this thread.
 *  Errors:  ILLEGAL_COMBINATION      settings that exclude each other, a schema without a version
 *           INVALID_ENCRYPTION_KEY   wrong size
 *           FILE_NOT_FOUND           no such folder; no such file in immutable mode
 *           FILE_PERMISSION_DENIED, FILE_OPERATION_FAILED
 *           INVALID_DATABASE         not a realm file, damaged, wrong or missing key
 *           UNSUPPORTED_FILE_FORMAT_VERSION, FILE_FORMAT_UPGRADE_REQUIRED
 *           INCOMPATIBLE_LOCK_FILE, INCOMPATIBLE_SESSION, INCOMPATIBLE_HISTORIES
 *           MISMATCHED_CONFIG        the path is open in this process in another way
 *           SCHEMA_VALIDATION_FAILED the schema contradicts itself
 *           SCHEMA_MISMATCH          it differs from the file's at the same version
 *           INVALID_SCHEMA_VERSION   it is lower than the file's
 *           INVALID_SCHEMA_CHANGE    the schema mode forbids the difference
 *           MIGRATION_FAILED, CALLBACK */
RLM_API realm_t* realm_open(const realm_config_t* config);

/** Deletes a realm file and its companions (.note, .log, .management). The .lock file stays:
 *  removing it could break a process that is about to open the file.
 *
 *  did_delete_realm: [optional]; true when the file was there and is gone. When there was nothing
 *          to delete it may keep its old value, so clear it beforehand.
 *  Thread: any.
 *  Errors: DELETE_OPENED_REALM when this or another process has it open; FILE_PERMISSION_DENIED,
 *          FILE_OPERATION_FAILED. */
RLM_API bool realm_delete_files(const char* realm_file_path, bool* did_delete_realm);

/** Rewrites the file of a realm without its free space. Objects, collections and results of the
 *  realm stay good; views do not, and an open read transaction ends even when nothing was done.
 *
 *  A file of almost the same size stands beside the old one until the end; a crash leaves the old
 *  file or the new one. The memory needed does not grow with the file.
 *
 *  did_compact: [optional]; false, and nothing was done, when the file is in use in one of these ways:
 *               another instance or process that has it open; a frozen realm; a reference to
 *               results that was not released; a token for changes of objects, collections or
 *               results of this very realm. (Callbacks of the realm itself, such as those of
 *               realm_add_realm_changed_callback(), do not prevent it.)
 *  Thread:      confined.
 *  Errors:      [realm]; WRONG_TRANSACTION_STATE inside a write transaction, and for a realm opened
 *               for reading only; OUT_OF_DISK_SPACE, FILE_PERMISSION_DENIED, FILE_OPERATION_FAILED;
 *               INVALID_DATABASE when the file is damaged. The file is as it was after an error. */
RLM_API bool realm_compact(realm_t* realm, bool* did_compact);

/** Copies what a realm shows to the file of a config: a new file without free space, or the objects
 *  one by one into a file that is there.
 *
 *  A new file gets its name when it is complete. Inside a write transaction its changes are copied
 *  too. When merging, objects with a primary key that the other file has overwrite what it
 *  has; links, embedded objects and collections come along; classes and properties that it lacks
 *  are made; objects that only it has stay. All of it happens in one write transaction of the other
 *  file.
 *
 *  config: path, and key or passphrase and page cipher for encryption. A schema counts only when
 *          merging.
 *  merge_with_existing: allows the file to exist.
 *  Thread: confined.
 *  Errors: [realm]; FILE_ALREADY_EXISTS without merge_with_existing; BROKEN_INVARIANT when merging
 *          and a class has no primary key, or the two files declare a class or property
 *          differently; ILLEGAL_COMBINATION; those of realm_open() for the other file;
 *          OUT_OF_DISK_SPACE and other file errors. */
RLM_API bool realm_convert_with_config(const realm_t* realm, const realm_config_t* config,
                                       bool merge_with_existing);

/** Copies what a realm shows to another file, as realm_convert_with_config() does.
 *
 *  encryption_key: data NULL for a plain file; else 64 bytes. A new file is then in CRealm's form:
 *          realm_convert_with_config() has the choice.
 *  Thread: confined.
 *  Errors: as there; INVALID_ENCRYPTION_KEY for a key of another size. */
RLM_API bool realm_convert_with_path(const realm_t* realm, const char* path,
                                     realm_binary_t encryption_key, bool merge_with_existing);

/** Closes a realm, even when other parts of the program hold handles to it. An open write
 *  transaction is rolled back. Objects and collections of the realm are invalid from now on,
 *  results are stale; all handles still have to be released. Closing again does nothing.
 *
 *  The call waits for asynchronous commits that are not on disk yet. It runs the callbacks of
 *  realm_async_commit() that have not run yet, and the userdata_free functions of all callbacks
 *  that it drops. It calls no other function of the program: waiting callbacks of
 *  realm_async_begin_write() are dropped, and no change callbacks run.
 *
 *  Thread: any; the callbacks above run on the calling thread. But if another call is running on the
 *          realm's own thread, that call finishes first and then closes the realm: all of this
 *          happens on that thread, after this call has returned. Change callbacks that are due may
 *          run there until then, so leave their userdata to userdata_free. The same holds when
 *          another thread releases the last reference to a realm that was not closed.
 *  Errors: none of its own: committed changes have been safe since realm_commit() returned. */
RLM_API bool realm_close(realm_t* realm);

/** Whether the realm was closed. Thread: any. Errors: none. */
RLM_API bool realm_is_closed(realm_t* realm);

/** Begins a read transaction at the newest snapshot; does nothing when one is open. Rarely needed:
 *  reading anything does the same.
 *
 *  Thread: confined. Errors: [realm]. */
RLM_API bool realm_begin_read(realm_t* realm);

/** Begins a write transaction: waits for the file's write lock, then moves to the newest snapshot.
 *  The callbacks that are due because of that move run inside this call. A callback that commits,
 *  rolls back or closes the realm leaves no transaction open, but this call still returns true: if
 *  your callbacks do that, check realm_is_writable().
 *
 *  Thread: confined.
 *  Errors: [realm]; WRONG_TRANSACTION_STATE when already writing, when the realm is
 *          immutable or read-only, or when the file holds too many versions; INVALID_SCHEMA_CHANGE
 *          when another program removed a class or property that this realm uses. */
RLM_API bool realm_begin_write(realm_t* realm);

/** Whether a write transaction is open or has been asked for, or a commit may not be on disk yet.
 *  Thread: any. Errors: none. */
RLM_API bool realm_is_writable(const realm_t* realm);

/** Ends the write transaction and keeps its changes: they are on disk when the call returns, and
 *  the realm reads the new snapshot. Realm-changed callbacks run inside the call; collection
 *  callbacks run later, on the scheduler.
 *
 *  Thread: confined.
 *  Errors: [realm]; WRONG_TRANSACTION_STATE when not writing; the storage errors of rule 6. After
 *          these the file has either the state before the transaction or the complete state after
 *          it.
 */
RLM_API bool realm_commit(realm_t* realm);

/** Asks for a write transaction without waiting for it. The callback runs on the realm's scheduler,
 *  inside the transaction, which it ends with realm_async_commit(), realm_commit() or
 *  realm_rollback(); a transaction that it leaves open is rolled back. Callbacks run in the order
 *  of these calls. realm_begin_write() goes ahead of callbacks that have not run; closing the realm
 *  drops them. The file's write lock is acquired for the callback and is then held until the
 *  scheduler runs the callback: a program that calls this function and never runs its scheduler
 *  keeps all other programs from writing.
 *
 *  callback:       before it runs, the change callbacks run that realm_begin_write() would run.
 *                  When the transaction cannot begin (INVALID_SCHEMA_CHANGE, a full disk) the
 *                  callback does not run, and the error is logged.
 *  userdata_free:  runs after the callback, when the callback is dropped, and when the call fails.
 *  notify_only:    true: the callback leaves the transaction open on purpose, and the program ends
 *                  it later; other callbacks wait until then.
 *  transaction_id: [optional]; receives a number for realm_async_cancel(): 0 at first, one more for
 *                  each call of this function and of realm_async_commit() on the realm.
 *  Thread: confined; the callback runs on the same thread.
 *  Errors: [realm]; WRONG_TRANSACTION_STATE when the realm is immutable or read-only, when its
 *          scheduler cannot deliver, and inside the callback of realm_async_commit();
 *          INVALID_ARGUMENT without a callback. */
RLM_API bool realm_async_begin_write(realm_t* realm, realm_async_begin_write_func_t callback,
                                     realm_userdata_t userdata,
                                     realm_free_userdata_func_t userdata_free, bool notify_only,
                                     unsigned int* transaction_id);

/** Ends the write transaction and keeps its changes, without waiting for the disk. Every realm,
 *  also in other processes, sees the changes at once; realm-changed callbacks run inside the call.
 *  The write lock is held until the changes are on disk. Then the callback runs on the scheduler;
 *  callbacks run in the order of the commits. The transaction may also be one that
 *  realm_begin_write() began. A later realm_commit(), and closing the realm, wait for earlier
 *  asynchronous commits and run their callbacks.
 *
 *  Commits that reach the disk together are atomic together: after a crash either all of them or
 *  none of them are in the file. (In encrypted files each commit is flushed separately: after a
 *  crash the file has all commits up to one of them.)
 *
 *  callback:       [optional]; error and desc say why the commit may not be on disk. Such a commit
 *                  is visible, and the next write transaction tries to flush it again before it
 *                  writes anything; see CREALM_ERR_COMMIT_OUTCOME_UNKNOWN in crealm.h. Inside the
 *                  callback asynchronous calls and realm_rollback() fail; when the realm has been
 *                  closed, or its thread is ending, all confined calls fail.
 *  userdata_free:  runs after the callback, when the callback is dropped, and when the call fails.
 *  allow_grouping: inside a callback of realm_async_begin_write(): the next callback may run before
 *                  this commit is on disk, and one flush serves both, or up to 20.
 *  transaction_id: [optional]; as for realm_async_begin_write().
 *  Thread: confined; the callback runs on the same thread, or on the one that closes the realm: see
 *          realm_close().
 *  Errors: as realm_commit(): nothing was committed then, and the callback does not run;
 *          WRONG_TRANSACTION_STATE also inside a callback of this function. */
RLM_API bool realm_async_commit(realm_t* realm, realm_async_commit_func_t callback,
                                realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
                                bool allow_grouping, unsigned int* transaction_id);

/** Drops a callback that has not run. For realm_async_begin_write() the write then does not happen;
 *  for realm_async_commit() the commit itself stays.
 *
 *  cancelled: [optional]; false when no callback has this number, or it has run; that is no error.
 *  Thread:    confined.
 *  Errors:    [realm]. */
RLM_API bool realm_async_cancel(realm_t* realm, unsigned int token, bool* cancelled);

/** Ends the write transaction and discards its changes. Objects created in it become invalid;
 *  objects deleted in it exist again.
 *
 *  Thread: confined. Errors: [realm]; WRONG_TRANSACTION_STATE when not writing. */
RLM_API bool realm_rollback(realm_t* realm);

/** Moves to the newest snapshot and runs the callbacks that are due. Handles follow the realm to
 *  that snapshot and need not be fetched again.
 *
 *  did_refresh: [optional]; whether the realm moved. A realm that is in no transaction always
 *               moves, except at the first refresh of a realm opened without a schema, which reads
 *               a snapshot from the start. false while writing and inside a callback.
 *  Thread:      confined.
 *  Errors:      [realm]; WRONG_TRANSACTION_STATE in immutable mode; INVALID_SCHEMA_CHANGE as in
 *               realm_begin_write(): the realm stays where it is and can still be read. */
RLM_API bool realm_refresh(realm_t* realm, bool* did_refresh);

/** Inside a migration: deletes a class that the new schema no longer has, with all its objects. No
 *  schema mode does that automatically: the table of a class that is no longer in the schema stays
 *  in the file.
 *
 *  table_name:    class name.
 *  table_deleted: false when the class does not exist; that is no error.
 *  Thread:        confined.
 *  Errors:        [realm], [write]; INVALID_SCHEMA_CHANGE when the class is part of the realm's
 *                 schema; CROSS_TABLE_LINK_TARGET when another class still links to it. */
RLM_API bool realm_remove_table(realm_t* realm, const char* table_name, bool* table_deleted);

/** Registers a function that is called whenever the realm moves to another snapshot: inside each
 *  commit of this realm, and on each move to a commit made by another instance or process. It is
 *  not called for rollbacks.
 *
 *  Returns: an own token; release it, before the realm handle, to stop.
 *  Thread:  confined; the callback runs on the same thread.
 *  Errors:  [realm]; WRONG_TRANSACTION_STATE for a frozen realm. */
RLM_API realm_callback_token_t* realm_add_realm_changed_callback(
    realm_t* realm, realm_on_realm_change_func_t callback, realm_userdata_t userdata,
    realm_free_userdata_func_t userdata_free);

/** Registers a function that is called once, when the realm reaches the snapshot that is the newest
 *  now.
 *
 *  Returns: an own token; releasing it early cancels. NULL without an error when the realm need not
 *           wait: it is at the newest snapshot, frozen, or in no transaction. The userdata is then
 *           freed at once.
 *  Thread:  confined; the callback runs on the same thread. Errors: [realm]. */
RLM_API realm_refresh_callback_token_t* realm_add_realm_refresh_callback(
    realm_t* realm, realm_on_realm_refresh_func_t callback, realm_userdata_t userdata,
    realm_free_userdata_func_t userdata_free);

/* ------------------------------------------------------------------------------------------------
 * Other threads: frozen realms and thread-safe references
 *
 * A frozen realm shows one snapshot for ever. It belongs to no thread: any number of threads may
 * read it and its objects at the same time, also through the same handle, without waiting for each
 * other. The functions named realm_..._resolve_in() find the counterpart of an object, collection
 * or results in a frozen realm, or in a live one.
 *
 * A thread-safe reference names something in a live realm, so that another thread can find it in
 * another realm of the same file.
 * ---------------------------------------------------------------------------------------------- */

/** Opens a second, frozen realm at the snapshot that the realm reads. Any thread may read it.
 *
 *  Nothing is copied, whatever the size of the file. The file keeps the snapshot, beside newer
 *  data, until the frozen realm is closed, or released together with all handles that came from it.
 *  Closing the live realm does not affect the frozen one. Freezing a realm with a cached config
 *  twice at the same snapshot gives the same instance. A frozen realm can be frozen, too.
 *
 *  Writing, compacting and registering callbacks fail with WRONG_TRANSACTION_STATE in a frozen
 *  realm. realm_refresh() never moves it. realm_update_schema() only checks that the snapshot can
 *  be read with the new schema, which may name classes that the snapshot lacks.
 *
 *  realm:   when it is writing, the snapshot before the write transaction is frozen. When it is in
 *           no transaction, a read transaction is begun first.
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [realm]; LIMIT_EXCEEDED when this process keeps so many versions of the file that too
 *           few would be left for its transactions and for other processes: about 680 when no other
 *           process keeps any, never fewer than 16. */
RLM_API realm_t* realm_freeze(const realm_t* realm);

/** Makes a reference to a realm, an object, a list, a set, a dictionary or results, for another
 *  thread.
 *
 *    realm         the instance itself; it then belongs to the thread that resolves the reference
 *    results       the query and its snapshot, which the file keeps until the reference is
 *                  released
 *    others        the object or collection, as it is in the snapshot where the reference is
 *                  resolved
 *
 *  handle:  one of the kinds above.
 *  Returns: an own handle, valid on any thread.
 *  Thread:  confined, but any for a realm.
 *  Errors:  ILLEGAL_OPERATION for handles of other kinds; [object] for objects and collections;
 *           for results WRONG_THREAD, STALE_ACCESSOR when they are not valid, and
 *           WRONG_TRANSACTION_STATE for the objects of a collection whose owner was created in the
 *           open write transaction. */
RLM_API realm_thread_safe_reference_t* realm_create_thread_safe_reference(const void* handle);

/** Resolves a reference to a realm: binds that instance to a scheduler. From then on, all handles
 *  of the instance and of its objects may be used on the scheduler's thread only. When the config
 *  is cached, and the scheduler already has a realm of that config open, the call returns that
 *  realm instead. A frozen realm stays frozen and bound to no thread.
 *
 *  tsr:       can be resolved once; the caller still has to release it.
 *  scheduler: NULL: the default scheduler of the calling thread.
 *  Returns:   an own handle.
 *  Thread:    any.
 *  Errors:    ILLEGAL_OPERATION for a reference to something else, which stays usable, or one that
 *             was resolved before; WRONG_TRANSACTION_STATE while a function that was called on the
 *             realm's thread is running; MISMATCHED_CONFIG as in realm_open(). */
RLM_API realm_t* realm_from_thread_safe_reference(realm_thread_safe_reference_t* tsr,
                                                  realm_scheduler_t* scheduler);

/** Resolves a reference to an object.
 *
 *  The realm moves to a snapshot that has the object. A realm in no transaction begins one at the
 *  snapshot where the reference was made, if that is still kept, else at the newest. A realm at an
 *  older snapshot moves to the newest, as with realm_refresh(). A reference made in a write
 *  transaction can be resolved only after the commit of that transaction. The same holds for
 *  references to collections and results.
 *
 *  realm:     of the same file.
 *  reference: may be resolved again, also in other realms; the caller has to release it.
 *  Returns:   an own handle; it is invalid when the object was deleted.
 *  Thread:    confined.
 *  Errors:    [realm]; ILLEGAL_OPERATION for a reference of another kind, or into another file. */
RLM_API realm_object_t* realm_object_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

/** Resolves a reference to a list, as realm_object_from_thread_safe_reference() does.
 *
 *  Returns: an own handle; it is invalid when the list no longer exists.
 *  Thread:  confined.
 *  Errors:  as realm_object_from_thread_safe_reference(). */
RLM_API realm_list_t* realm_list_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

/** Resolves a reference to a set, as realm_object_from_thread_safe_reference() does.
 *
 *  Returns: an own handle; it is invalid when the set no longer exists.
 *  Thread:  confined.
 *  Errors:  as realm_object_from_thread_safe_reference(). */
RLM_API realm_set_t* realm_set_from_thread_safe_reference(const realm_t* realm,
                                                          realm_thread_safe_reference_t* reference);

/** Resolves a reference to a dictionary, as realm_object_from_thread_safe_reference() does.
 *
 *  Returns: an own handle; it is invalid when the dictionary no longer exists.
 *  Thread:  confined.
 *  Errors:  as realm_object_from_thread_safe_reference(). */
RLM_API realm_dictionary_t* realm_dictionary_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

/** Resolves a reference to results, as realm_object_from_thread_safe_reference() does. They are
 *  live results of that realm; while it stays at the snapshot of the reference they have the rows
 *  that the referenced results had.
 *
 *  Returns: an own handle. Results of values are invalid when their collection no longer exists.
 *  Thread:  confined.
 *  Errors:  as realm_object_from_thread_safe_reference(). */
RLM_API realm_results_t* realm_results_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

/* ------------------------------------------------------------------------------------------------
 * Schema
 *
 * Class and property infos that these functions fill hold views into the realm's schema, which are
 * valid until the schema changes or the realm is released. Looking up classes and properties works
 * on any thread and also after realm_close().
 *
 * All functions that fill an array store the number of available elements in out_n [optional]. When
 * the array is NULL or too small nothing is copied, and the call still succeeds.
 * ---------------------------------------------------------------------------------------------- */

/** Makes a schema.
 *
 *  classes: num_classes descriptions; keys in them are ignored.
 *  class_properties: for each class a pointer to its num_properties stored properties, followed by
 *           its num_computed_properties linking objects.
 *  Returns: an own handle holding copies of everything. NULL, 0, NULL makes an empty schema.
 *           Nothing is checked here but the pointers: see realm_schema_validate().
 *  Thread:  any. */
RLM_API realm_schema_t* realm_schema_new(const realm_class_info_t* classes, size_t num_classes,
                                         const realm_property_info_t** class_properties);

/** The schema of an open realm.
 *
 *  Returns: an own handle. It follows the realm's schema and must not outlive the realm; clone it
 *           to keep it as it is.
 *  Thread:  any. */
RLM_API realm_schema_t* realm_get_schema(const realm_t* realm);

/** The schema version of an open realm; UINT64_MAX when the file has none. Thread: any. */
RLM_API uint64_t realm_get_schema_version(const realm_t* realm);

/** Reads the schema version stored in a config's file without opening a realm. A missing file is
 *  created.
 *
 *  Returns: UINT64_MAX when the file has no version yet, and on failure. Clear the last error first
 *           to tell the two apart.
 *  Thread:  any. Errors: those of realm_open() about the file. */
RLM_API uint64_t realm_get_persisted_schema_version(const realm_config_t* config);

/** Changes the schema of an open realm, as opening the file with that schema and version 0 would.
 *  So it works only for files of schema version 0, unless the realm has the schema already. The
 *  call makes its own write transaction. Schema-changed callbacks run inside the call.
 *
 *  schema: copied.
 *  Thread: confined.
 *  Errors: [realm]; SCHEMA_VALIDATION_FAILED; SCHEMA_MISMATCH, INVALID_SCHEMA_CHANGE,
 *          INVALID_SCHEMA_VERSION, MIGRATION_FAILED as in realm_open(); WRONG_TRANSACTION_STATE
 *          inside a write transaction when the file's schema has to change. */
RLM_API bool realm_update_schema(realm_t* realm, const realm_schema_t* schema);

/** Changes the schema and the schema version of an open realm. The functions given here are used
 *  for this call only; those of its config are not called.
 *
 *  schema:  copied.
 *  version: the version to reach.
 *  migration_func: may be NULL; see realm_config_set_migration_function().
 *  initialization_func: may be NULL; see realm_config_set_data_initialization_function().
 *  is_in_transaction: true when a write transaction is open: the changes become part of it and are
 *           committed, or rolled back, by the caller. After a failure roll it back. false: the call
 *           makes its own write transaction.
 *  Thread:  confined; the functions run on the same thread.
 *  Errors:  as realm_update_schema(); CALLBACK; WRONG_TRANSACTION_STATE when is_in_transaction and
 *           the state of the realm disagree. */
RLM_API bool realm_update_schema_advanced(realm_t* realm, const realm_schema_t* schema,
                                          uint64_t version,
                                          realm_migration_func_t migration_func,
                                          realm_userdata_t migration_func_userdata,
                                          realm_data_initialization_func_t initialization_func,
                                          realm_userdata_t initialization_func_userdata,
                                          bool is_in_transaction);

/** Inside a migration: keeps the values of a property under its new name. Without this call the old
 *  property is dropped and the new one starts with default values.
 *
 *  realm, schema: the new realm and the schema that the migration function received; cast the
 *          const away.
 *  object_type: class name.
 *  old_name: a property of the file that the schema does not have.
 *  new_name: the property of the schema that takes its place, of the same type and target. It may
 *          be nullable where the old one was not.
 *  Thread: confined.
 *  Errors: [realm], [write]; NO_SUCH_TABLE; INVALID_PROPERTY when the file has no old_name;
 *          ILLEGAL_OPERATION when the schema still has old_name, when the types differ, or when a
 *          nullable property would become required. */
RLM_API bool realm_schema_rename_property(realm_t* realm, realm_schema_t* schema,
                                          const char* object_type, const char* old_name,
                                          const char* new_name);

/** Registers a function that is called whenever the schema of the realm changes: because this realm
 *  changed it, or because it moved to a snapshot in which another realm added classes or
 *  properties. It runs before the realm-changed callbacks.
 *
 *  callback: receives the new schema as a borrowed handle; clone it to keep it.
 *  Returns:  an own token; release it, before the realm handle, to stop.
 *  Thread:   confined; the callback runs on the same thread.
 *  Errors:   [realm]. */
RLM_API realm_callback_token_t* realm_add_schema_changed_callback(
    realm_t* realm, realm_on_schema_change_func_t callback, realm_userdata_t userdata,
    realm_free_userdata_func_t userdata_free);

/** Checks a schema against itself: unknown link targets, types that cannot be keys or indexed,
 *  duplicate names, embedded classes that contain themselves, and the like.
 *
 *  validation_mode: realm_schema_validation_mode_e bits.
 *  Thread: single. Errors: SCHEMA_VALIDATION_FAILED with one line of text per problem. */
RLM_API bool realm_schema_validate(const realm_schema_t* schema, uint64_t validation_mode);

/** The number of classes in the realm's schema. Thread: any. Errors: none. */
RLM_API size_t realm_get_num_classes(const realm_t* realm);

/** The keys of all classes, in the order of their names.
 *
 *  out_keys: room for max keys.
 *  Thread:   any. */
RLM_API bool realm_get_class_keys(const realm_t* realm, realm_class_key_t* out_keys, size_t max,
                                  size_t* out_n);

/** Looks a class up by name. An unknown name is no error: *out_found is false.
 *
 *  out_found, out_class_info: [optional].
 *  Thread: any. */
RLM_API bool realm_find_class(const realm_t* realm, const char* name, bool* out_found,
                              realm_class_info_t* out_class_info);

/** Describes a class.
 *
 *  out_class_info: [optional].
 *  Thread: any. Errors: NO_SUCH_TABLE. */
RLM_API bool realm_get_class(const realm_t* realm, realm_class_key_t key,
                             realm_class_info_t* out_class_info);

/** Describes all properties of a class: the stored ones in their order, then the computed ones.
 *
 *  out_properties: room for max infos.
 *  Thread: any. Errors: NO_SUCH_TABLE. */
RLM_API bool realm_get_class_properties(const realm_t* realm, realm_class_key_t key,
                                        realm_property_info_t* out_properties, size_t max,
                                        size_t* out_n);

/** The keys of all properties of a class, in the same order.
 *
 *  out_col_keys: room for max keys.
 *  Thread: any. Errors: NO_SUCH_TABLE. */
RLM_API bool realm_get_property_keys(const realm_t* realm, realm_class_key_t key,
                                     realm_property_key_t* out_col_keys, size_t max,
                                     size_t* out_n);

/** Describes a property.
 *
 *  out_property_info: [optional].
 *  Thread: any. Errors: NO_SUCH_TABLE; INVALID_PROPERTY. */
RLM_API bool realm_get_property(const realm_t* realm, realm_class_key_t class_key,
                                realm_property_key_t key,
                                realm_property_info_t* out_property_info);

/** Looks a property up by its stored name. An unknown name is no error: *out_found is false.
 *
 *  out_found, out_property_info: [optional].
 *  Thread: any. Errors: NO_SUCH_TABLE. */
RLM_API bool realm_find_property(const realm_t* realm, realm_class_key_t class_key,
                                 const char* name, bool* out_found,
                                 realm_property_info_t* out_property_info);

/** Looks a property up by its public name, or by its stored name if it has no public one.
 *
 *  out_found, out_property_info: [optional].
 *  Thread: any. Errors: NO_SUCH_TABLE. */
RLM_API bool realm_find_property_by_public_name(const realm_t* realm, realm_class_key_t class_key,
                                                const char* public_name, bool* out_found,
                                                realm_property_info_t* out_property_info);

/** Describes the primary key of a class. A class without one is no error: *out_found is false.
 *
 *  out_found, out_property_info: [optional].
 *  Thread: any. Errors: NO_SUCH_TABLE. */
RLM_API bool realm_find_primary_key_property(const realm_t* realm, realm_class_key_t class_key,
                                             bool* out_found,
                                             realm_property_info_t* out_property_info);

/** Reads a property of an object by position, as realm_get_value() does by key.
 *
 *  prop_index: position among the stored properties of the class.
 *  Thread:     confined. Errors: as realm_get_value(); INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_get_value_by_property_index(const realm_object_t* object, size_t prop_index,
                                               realm_value_t* out_value);

/* ------------------------------------------------------------------------------------------------
 * Objects
 *
 * An object handle stays bound to its object while the realm moves between snapshots. When the
 * object is deleted the handle becomes invalid: using it fails with INVALIDATED_OBJECT, and it
 * still has to be released.
 * ---------------------------------------------------------------------------------------------- */

/** Counts the objects of a class.
 *
 *  out_count: [optional].
 *  Thread:    confined. Errors: [realm]; NO_SUCH_TABLE. */
RLM_API bool realm_get_num_objects(const realm_t* realm, realm_class_key_t class_key,
                                   size_t* out_count);

/** Finds an object by its key.
 *
 *  Returns: an own handle.
 *  Thread:  confined. Errors: [realm]; NO_SUCH_TABLE; NO_SUCH_OBJECT. */
RLM_API realm_object_t* realm_get_object(const realm_t* realm, realm_class_key_t class_key,
                                         realm_object_key_t obj_key);

/** The object that contains an embedded object.
 *
 *  parent:    [optional]; receives an own handle.
 *  class_key: [optional]; receives the parent's class.
 *  Thread:    confined. Errors: [object]; TOP_LEVEL_OBJECT when the object is not embedded. */
RLM_API bool realm_object_get_parent(const realm_object_t* object, realm_object_t** parent,
                                     realm_class_key_t* class_key);

/** Finds an object by its primary key.
 *
 *  out_found: [optional].
 *  Returns:   an own handle. NULL without an error when no such object exists, when the value has
 *             another type than the key, or when the class has no primary key.
 *  Thread:    confined. Errors: [realm]; NO_SUCH_TABLE. */
RLM_API realm_object_t* realm_object_find_with_primary_key(const realm_t* realm,
                                                           realm_class_key_t class_key,
                                                           realm_value_t pk, bool* out_found);

/** All objects of a class, in the order of their keys.
 *
 *  Returns: an own handle to live results.
 *  Thread:  confined. Errors: [realm]; NO_SUCH_TABLE. */
RLM_API realm_results_t* realm_object_find_all(const realm_t* realm, realm_class_key_t class_key);

/** Creates an object with default values: zero, false, empty or, where allowed, null.
 *
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [realm], [write]; NO_SUCH_TABLE; MISSING_PRIMARY_KEY when the class has one;
 *           ILLEGAL_OPERATION when it is embedded. */
RLM_API realm_object_t* realm_object_create(realm_t* realm, realm_class_key_t class_key);

/** Creates an object with a primary key.
 *
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [realm], [write]; NO_SUCH_TABLE; OBJECT_ALREADY_EXISTS; UNEXPECTED_PRIMARY_KEY when the
 *           class has none; PROPERTY_TYPE_MISMATCH; PROPERTY_NOT_NULLABLE for a null key. */
RLM_API realm_object_t* realm_object_create_with_primary_key(realm_t* realm,
                                                             realm_class_key_t class_key,
                                                             realm_value_t pk);

/** Finds the object with a primary key or creates it.
 *
 *  did_create: [optional].
 *  Returns:    an own handle. An existing object is found outside a write transaction, too.
 *  Thread:     confined.
 *  Errors:     as realm_object_create_with_primary_key(), without OBJECT_ALREADY_EXISTS. */
RLM_API realm_object_t* realm_object_get_or_create_with_primary_key(realm_t* realm,
                                                                    realm_class_key_t class_key,
                                                                    realm_value_t pk,
                                                                    bool* did_create);

/** Deletes an object and the embedded objects in it. Links to it become null or leave their
 *  collections.
 *
 *  Thread: confined. Errors: [object], [write]. */
RLM_API bool realm_object_delete(realm_object_t* object);

/** Finds the same object in another realm of the same file.
 *
 *  resolved: receives an own handle, or NULL, which is no error, when the object does not exist in
 *            one of the two realms.
 *  Thread:   confined, for both realms. Errors: WRONG_THREAD; INVALIDATED_OBJECT when this realm was
 *            closed; [realm] of the target. */
RLM_API bool realm_object_resolve_in(const realm_object_t* live_object,
                                     const realm_t* target_realm, realm_object_t** resolved);

/** Adds a number to an integer property, or to a Mixed property that holds an integer. Overflow
 *  wraps.
 *
 *  Thread: confined.
 *  Errors: [object], [write]; INVALID_PROPERTY; ILLEGAL_OPERATION when the property holds no
 *          integer or is null. */
RLM_API bool realm_object_add_int(realm_object_t* object, realm_property_key_t property_key,
                                  int64_t value);

/** Whether the object still exists and its realm is open. Thread: any. Errors: none. */
RLM_API bool realm_object_is_valid(const realm_object_t* object);

/** The object's key; works on invalid objects too. Thread: any. Errors: none. */
RLM_API realm_object_key_t realm_object_get_key(const realm_object_t* object);

/** The key of the object's class; works on invalid objects too. Thread: any. Errors: none. */
RLM_API realm_class_key_t realm_object_get_table(const realm_object_t* object);

/** The object's address, ready to be the link of a realm_value_t. Thread: any. Errors: none. */
RLM_API realm_link_t realm_object_as_link(const realm_object_t* object);

/** Reads a single-valued property.
 *
 *  A link comes as RLM_TYPE_LINK with the target's class. A Mixed property that holds a collection
 *  gives RLM_TYPE_LIST or RLM_TYPE_DICTIONARY: fetch it with realm_get_list() or
 *  realm_get_dictionary().
 *
 *  out_value: [optional]; strings and bytes in it are views, see rule 2.
 *  Thread:    confined.
 *  Errors:    [object]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH for a collection property. */
RLM_API bool realm_get_value(const realm_object_t* object, realm_property_key_t property,
                             realm_value_t* out_value);

/** Reads several properties in one call, each as realm_get_value() does.
 *
 *  properties: num_values keys.
 *  out_values: [optional]; room for num_values values. After a failure the first few may have been filled.
 *  Thread:     confined. Errors: as realm_get_value(). */
RLM_API bool realm_get_values(const realm_object_t* object, size_t num_values,
                              const realm_property_key_t* properties, realm_value_t* out_values);

/** Writes a single-valued property.
 *
 *  A primary key should only be written in a migration, which checks at its end that keys are
 *  unique. RLM_TYPE_LIST and RLM_TYPE_DICTIONARY make a Mixed property hold an empty collection; if
 *  it already holds one of that kind, that is kept with its elements, as in realm_set_list().
 *  Writing null to a property that holds an embedded object deletes that object.
 *
 *  new_value:  copied.
 *  is_default: true marks a value that only repeats a default; it is stored but not reported to
 *              change callbacks. Pass false.
 *  Thread:     confined.
 *  Errors:     [object], [write], [value]; INVALID_PROPERTY. */
RLM_API bool realm_set_value(realm_object_t* object, realm_property_key_t property,
                             realm_value_t new_value, bool is_default);

/** Writes several properties. All values are checked before the first is written, so that after a
 *  failed check nothing has changed.
 *
 *  properties, values: num_values of each.
 *  Thread: confined. Errors: as realm_set_value(). */
RLM_API bool realm_set_values(realm_object_t* object, size_t num_values,
                              const realm_property_key_t* properties, const realm_value_t* values,
                              bool is_default);

/** Writes a JSON text into a Mixed property and replaces what it held.
 *
 *  Arrays become lists and objects become dictionaries, nested to any depth that collections allow.
 *  A number without fraction and exponent becomes an integer if it fits into 64 bits, any other a
 *  double. Of two members with the same name the last one is used.
 *
 *  json_string: one JSON value; white space around it is allowed, anything else after it is not.
 *  Thread: confined.
 *  Errors: [object], [write]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH when the property is not
 *          Mixed; MALFORMED_JSON, also for a number that no double can hold; INVALID_DICTIONARY_KEY
 *          for a member name that a dictionary refuses; LIMIT_EXCEEDED for more than 100 levels. */
RLM_API bool realm_set_json(realm_object_t* object, realm_property_key_t property,
                            const char* json_string);

/** Creates an embedded object in a link property and deletes the one that the property held. For a
 *  property that links to an ordinary class the new object is an ordinary one, and an old target
 *  stays.
 *
 *  Returns: an own handle to the new object, which has default values.
 *  Thread:  confined.
 *  Errors:  [object], [write]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH when the property is not a
 *           single link; ILLEGAL_OPERATION when the class it links to has a primary key. */
RLM_API realm_object_t* realm_set_embedded(realm_object_t* object, realm_property_key_t property);

/** Makes a Mixed property hold a list. If it already holds a list, that is kept with its elements;
 *  any other value is replaced by an empty list.
 *
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [object], [write]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH when the property is not
 *           Mixed. */
RLM_API realm_list_t* realm_set_list(realm_object_t* object, realm_property_key_t property);

/** Makes a Mixed property hold a dictionary, as realm_set_list() does with a list.
 *
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_set_list(). */
RLM_API realm_dictionary_t* realm_set_dictionary(realm_object_t* object,
                                                 realm_property_key_t property);

/** Follows a link property.
 *
 *  Returns: an own handle, or NULL without an error when the link is null.
 *  Thread:  confined.
 *  Errors:  [object]; INVALID_PROPERTY; INVALID_TABLE_REF when the property is not a link. */
RLM_API realm_object_t* realm_get_linked_object(realm_object_t* object,
                                                realm_property_key_t property);

/** The object as text for people, similar to JSON. Embedded objects and collections are written
 *  out; links show the primary key of their target, or its object key; linking objects are left
 *  out. The object key comes first, as "_key", unless the class is embedded or has a primary key.
 *  The text cannot be parsed back: binaries, timestamps and the like are strings, and NaN is not
 *  valid JSON.
 *
 *  Returns: a text ended by NUL; free with realm_free().
 *  Thread:  confined.
 *  Errors:  [object]; LIMIT_EXCEEDED for objects and collections nested more than 101 deep. */
RLM_API char* realm_object_to_string(realm_object_t* object);

/** The list in a list property, or in a Mixed property that holds one.
 *
 *  Returns: an own handle. For a Mixed property that holds something else the handle is not valid.
 *  Thread:  confined.
 *  Errors:  [object]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH for other properties. */
RLM_API realm_list_t* realm_get_list(realm_object_t* object, realm_property_key_t property);

/** The set in a set property. A Mixed property is accepted, but no Mixed value is a set.
 *
 *  Returns: an own handle; not valid for a Mixed property.
 *  Thread:  confined.
 *  Errors:  [object]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH for other properties. */
RLM_API realm_set_t* realm_get_set(realm_object_t* object, realm_property_key_t property);

/** The dictionary in a dictionary property, or in a Mixed property that holds one.
 *
 *  Returns: an own handle. For a Mixed property that holds something else the handle is not valid.
 *  Thread:  confined.
 *  Errors:  [object]; INVALID_PROPERTY; PROPERTY_TYPE_MISMATCH for other properties. */
RLM_API realm_dictionary_t* realm_get_dictionary(realm_object_t* object,
                                                 realm_property_key_t property);

/* ------------------------------------------------------------------------------------------------
 * Lists
 *
 * A list keeps its elements in the order given. Elements of a list of Mixed may be collections
 * again, up to 100 levels deep counting the outermost one. A handle to a collection nested in a
 * list stays with that collection when elements before it are inserted or removed, and becomes
 * invalid when the collection is replaced or removed. A collection under a dictionary's key or in a
 * Mixed property is found by its place: its handle becomes invalid in the same way, but becomes
 * valid again when a new collection of the same kind is put in the same place.
 *
 * Lists of objects hold no nulls, and deleting an object takes it out of all of them. Lists of
 * embedded objects own their elements: an object that leaves the list is deleted.
 * ---------------------------------------------------------------------------------------------- */

/** Whether the list can be used: its owner exists, its realm is open, and the place it stands for
 *  still holds a list.
 *
 *  list:   may be NULL: false.
 *  Thread: confined; false on a foreign thread. Errors: none. */
RLM_API bool realm_list_is_valid(const realm_list_t* list);

/** Counts the elements.
 *
 *  out_size: [optional].
 *  Thread:   confined. Errors: [object]. */
RLM_API bool realm_list_size(const realm_list_t* list, size_t* out_size);

/** Describes the property the list lives in. For a list nested in a Mixed property that is the
 *  Mixed property.
 *
 *  out_property_info: views, as in "Schema".
 *  Thread: confined. Errors: [object]. */
RLM_API bool realm_list_get_property(const realm_list_t* list,
                                     realm_property_info_t* out_property_info);

/** Reads an element. A nested collection comes without payload, as in realm_get_value().
 *
 *  out_value: [optional]; views, see rule 2.
 *  Thread:    confined. Errors: [object]; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_list_get(const realm_list_t* list, size_t index, realm_value_t* out_value);

/** Finds the first element equal to a value.
 *
 *  out_index: [optional]; SIZE_MAX when nothing was found.
 *  out_found: [optional].
 *  Thread:    confined.
 *  Errors:    [object]; PROPERTY_TYPE_MISMATCH or PROPERTY_NOT_NULLABLE for a value that the list
 *             cannot hold. */
RLM_API bool realm_list_find(const realm_list_t* list, const realm_value_t* value,
                             size_t* out_index, bool* out_found);

/** The list at a position of a list of Mixed.
 *
 *  Returns: an own handle; not valid when the element is no list.
 *  Thread:  confined.
 *  Errors:  [object]; INDEX_OUT_OF_BOUNDS; ILLEGAL_OPERATION when this is not a list of Mixed. */
RLM_API realm_list_t* realm_list_get_list(realm_list_t* list, size_t index);

/** The dictionary at a position of a list of Mixed.
 *
 *  Returns: an own handle; not valid when the element is no dictionary.
 *  Thread:  confined.
 *  Errors:  [object]; INDEX_OUT_OF_BOUNDS; ILLEGAL_OPERATION when this is not a list of Mixed. */
RLM_API realm_dictionary_t* realm_list_get_dictionary(realm_list_t* list, size_t index);

/** The object an element links to, or that is embedded there.
 *
 *  Returns: an own handle, or NULL without an error when the element is no link.
 *  Thread:  confined. Errors: [object]; INDEX_OUT_OF_BOUNDS. */
RLM_API realm_object_t* realm_list_get_linked_object(realm_list_t* list, size_t index);

/** Replaces an element. RLM_TYPE_LIST and RLM_TYPE_DICTIONARY act like realm_list_set_list() and
 *  realm_list_set_dictionary().
 *
 *  index:  below the size.
 *  value:  copied.
 *  Thread: confined. Errors: [object], [write], [value]; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_list_set(realm_list_t* list, size_t index, realm_value_t value);

/** Inserts an element; those from index on move up by one.
 *
 *  index:  up to the size, which appends.
 *  value:  copied.
 *  Thread: confined. Errors: [object], [write], [value]; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_list_insert(realm_list_t* list, size_t index, realm_value_t value);

/** Inserts an empty list into a list of Mixed.
 *
 *  index:   up to the size.
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [object], [write]; INDEX_OUT_OF_BOUNDS; ILLEGAL_OPERATION when this is not a list of
 *           Mixed; LIMIT_EXCEEDED when it is nested as deep as can be. */
RLM_API realm_list_t* realm_list_insert_list(realm_list_t* list, size_t index);

/** Inserts an empty dictionary into a list of Mixed.
 *
 *  index:   up to the size.
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_list_insert_list(). */
RLM_API realm_dictionary_t* realm_list_insert_dictionary(realm_list_t* list, size_t index);

/** Makes an element of a list of Mixed a list. If the element is a list already, that is kept with
 *  its elements; any other value is replaced by an empty list.
 *
 *  index:   below the size.
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_list_insert_list(). */
RLM_API realm_list_t* realm_list_set_list(realm_list_t* list, size_t index);

/** Makes an element of a list of Mixed a dictionary, as realm_list_set_list() does with a list.
 *
 *  index:   below the size.
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_list_insert_list(). */
RLM_API realm_dictionary_t* realm_list_set_dictionary(realm_list_t* list, size_t index);

/** Moves an element: it is removed, then inserted so that it is at to_index afterwards.
 *
 *  from_index, to_index: below the size.
 *  Thread: confined. Errors: [object], [write]; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_list_move(realm_list_t* list, size_t from_index, size_t to_index);

/** Inserts a new embedded object.
 *
 *  index:   up to the size.
 *  Returns: an own handle to the new object, which has default values.
 *  Thread:  confined.
 *  Errors:  [object], [write]; INDEX_OUT_OF_BOUNDS; ILLEGAL_OPERATION when this is not a list of
 *           embedded objects. */
RLM_API realm_object_t* realm_list_insert_embedded(realm_list_t* list, size_t index);

/** Deletes an embedded object and puts a new one in its place.
 *
 *  index:   below the size.
 *  Returns: an own handle to the new object, which has default values.
 *  Thread:  confined. Errors: as realm_list_insert_embedded(). */
RLM_API realm_object_t* realm_list_set_embedded(realm_list_t* list, size_t index);

/** Removes an element.
 *
 *  index:  below the size.
 *  Thread: confined. Errors: [object], [write]; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_list_erase(realm_list_t* list, size_t index);

/** Removes all elements. Objects they link to stay, embedded ones are deleted.
 *
 *  Thread: confined. Errors: [object], [write]. */
RLM_API bool realm_list_clear(realm_list_t* list);

/** Removes all elements and deletes the objects they link to. On a list of plain values or of Mixed
 *  it does what realm_list_clear() does.
 *
 *  Thread: confined. Errors: [object], [write]. */
RLM_API bool realm_list_remove_all(realm_list_t* list);

/** Finds the same list in another realm of the same file.
 *
 *  resolved: receives an own handle, or NULL, which is no error, when the list does not exist in
 *            one of the two realms.
 *  Thread:   confined, for both realms. Errors: WRONG_THREAD; INVALIDATED_OBJECT when this realm was
 *            closed; [realm] of the target. */
RLM_API bool realm_list_resolve_in(const realm_list_t* list, const realm_t* target_realm,
                                   realm_list_t** resolved);

/** The elements as live results, in the order of the list. After the list was deleted they are
 *  stale or, if they are objects, empty.
 *
 *  Returns: an own handle.
 *  Thread:  confined. Errors: [object]. */
RLM_API realm_results_t* realm_list_to_results(realm_list_t* list);

/* ------------------------------------------------------------------------------------------------
 * Sets
 *
 * A set holds each value once, in the order of values. A set of Mixed has null first, then numbers
 * of all types by value, then the other types. Indices shift when the set changes.
 *
 * Numbers of different types that are equal are the same element of a set of Mixed. Sets hold no
 * collections and no embedded objects; sets of objects hold no nulls, and deleting an object takes
 * it out of all of them.
 * ---------------------------------------------------------------------------------------------- */

/** Whether the set can be used: its owner exists and its realm is open.
 *
 *  set:    may be NULL: false.
 *  Thread: confined; false on a foreign thread. Errors: none. */
RLM_API bool realm_set_is_valid(const realm_set_t* set);

/** Counts the elements.
 *
 *  out_size: [optional].
 *  Thread:   confined. Errors: [object]. */
RLM_API bool realm_set_size(const realm_set_t* set, size_t* out_size);

/** Describes the property the set lives in.
 *
 *  out_property_info: views, as in "Schema".
 *  Thread: confined. Errors: [object]. */
RLM_API bool realm_set_get_property(const realm_set_t* set,
                                    realm_property_info_t* out_property_info);

/** Reads an element.
 *
 *  out_value: [optional]; views, see rule 2.
 *  Thread:    confined. Errors: [object]; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_set_get(const realm_set_t* set, size_t index, realm_value_t* out_value);

/** Finds a value. One that the set cannot hold is not found, which is no error.
 *
 *  out_index: [optional]; SIZE_MAX when it is absent.
 *  out_found: [optional].
 *  Thread:    confined. Errors: [object]. */
RLM_API bool realm_set_find(const realm_set_t* set, realm_value_t value, size_t* out_index,
                            bool* out_found);

/** Adds a value. A value that is equal to an element changes nothing.
 *
 *  value:        copied.
 *  out_index:    [optional]; where the value is now, new or not.
 *  out_inserted: [optional]; whether it is new.
 *  Thread:       confined. Errors: [object], [write], [value]. */
RLM_API bool realm_set_insert(realm_set_t* set, realm_value_t value, size_t* out_index,
                              bool* out_inserted);

/** Removes a value. To remove one that the set cannot hold is no error.
 *
 *  out_erased: [optional]; whether it was there.
 *  Thread:     confined. Errors: [object], [write]. */
RLM_API bool realm_set_erase(realm_set_t* set, realm_value_t value, bool* out_erased);

/** Removes all elements. Objects they link to stay.
 *
 *  Thread: confined. Errors: [object], [write]. */
RLM_API bool realm_set_clear(realm_set_t* set);

/** Removes all elements and deletes the objects they link to. On a set of plain values or of Mixed
 *  it does what realm_set_clear() does.
 *
 *  Thread: confined. Errors: [object], [write]. */
RLM_API bool realm_set_remove_all(realm_set_t* set);

/** Finds the same set in another realm of the same file.
 *
 *  resolved: receives an own handle, or NULL, which is no error, when the set does not exist in one
 *            of the two realms.
 *  Thread:   confined, for both realms. Errors: WRONG_THREAD; INVALIDATED_OBJECT when this realm was
 *            closed; [realm] of the target. */
RLM_API bool realm_set_resolve_in(const realm_set_t* set, const realm_t* target_realm,
                                  realm_set_t** resolved);

/** The elements as live results, in the order of the set. After the set was deleted they are stale
 *  or, if they are objects, empty.
 *
 *  Returns: an own handle.
 *  Thread:  confined. Errors: [object]. */
RLM_API realm_results_t* realm_set_to_results(realm_set_t* set);

/* ------------------------------------------------------------------------------------------------
 * Dictionaries
 *
 * A dictionary maps strings to values. Its pairs are in the order of their keys, compared byte by
 * byte. The empty key is allowed; a key that has a '.' in it or starts with '$' is refused.
 *
 * Values of a dictionary of Mixed may be collections again, as in "Lists". Deleting an object turns
 * the values that link to it into nulls; the keys stay. Dictionaries of embedded objects own their
 * values: an object that is replaced or removed is deleted.
 * ---------------------------------------------------------------------------------------------- */

/** Whether the dictionary can be used: its owner exists, its realm is open, and the place it stands
 *  for still holds a dictionary.
 *
 *  dictionary: may be NULL: false.
 *  Thread:     confined; false on a foreign thread. Errors: none. */
RLM_API bool realm_dictionary_is_valid(const realm_dictionary_t* dictionary);

/** Counts the pairs.
 *
 *  out_size: [optional].
 *  Thread:   confined. Errors: [object]. */
RLM_API bool realm_dictionary_size(const realm_dictionary_t* dictionary, size_t* out_size);

/** Describes the property the dictionary lives in. For one nested in a Mixed property that is the
 *  Mixed property.
 *
 *  out_info: views, as in "Schema".
 *  Thread:   confined. Errors: [object]. */
RLM_API bool realm_dictionary_get_property(const realm_dictionary_t* dictionary,
                                           realm_property_info_t* out_info);

/** Reads the value of a key. A nested collection comes without payload, as in realm_get_value().
 *
 *  out_value: [optional]; views, see rule 2. Untouched when the key is absent.
 *  out_found: [optional]; false for an absent key and for one that is not a string.
 *  Thread:    confined. Errors: [object]. */
RLM_API bool realm_dictionary_find(const realm_dictionary_t* dictionary, realm_value_t key,
                                   realm_value_t* out_value, bool* out_found);

/** Reads the pair at a position.
 *
 *  out_key, out_value: [optional]; views, see rule 2.
 *  Thread: confined. Errors: [object]; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_dictionary_get(const realm_dictionary_t* dictionary, size_t index,
                                  realm_value_t* out_key, realm_value_t* out_value);

/** The list under a key of a dictionary of Mixed.
 *
 *  Returns: an own handle; not valid when the key is absent or holds something else.
 *  Thread:  confined.
 *  Errors:  [object]; INVALID_ARGUMENT when the key is not a string; INVALID_PROPERTY when this is
 *           not a dictionary of Mixed. */
RLM_API realm_list_t* realm_dictionary_get_list(realm_dictionary_t* dictionary,
                                                realm_value_t key);

/** The dictionary under a key of a dictionary of Mixed.
 *
 *  Returns: an own handle; not valid when the key is absent or holds something else.
 *  Thread:  confined. Errors: as realm_dictionary_get_list(). */
RLM_API realm_dictionary_t* realm_dictionary_get_dictionary(realm_dictionary_t* dictionary,
                                                            realm_value_t key);

/** The object that a key links to, or that is embedded there.
 *
 *  Returns: an own handle, or NULL without an error when the key is absent or holds no link.
 *  Thread:  confined. Errors: [object]; INVALID_ARGUMENT when the key is not a string. */
RLM_API realm_object_t* realm_dictionary_get_linked_object(realm_dictionary_t* dictionary,
                                                           realm_value_t key);

/** Whether the dictionary has a pair with this key.
 *
 *  key:    a string.
 *  Thread: confined. Errors: [object]; INVALID_ARGUMENT when the key is not a string. */
RLM_API bool realm_dictionary_contains_key(const realm_dictionary_t* dictionary,
                                           realm_value_t key, bool* found);

/** Finds the first pair with this value.
 *
 *  index:  receives the position, SIZE_MAX when nothing was found.
 *  Thread: confined. Errors: [object]. */
RLM_API bool realm_dictionary_contains_value(const realm_dictionary_t* dictionary,
                                             realm_value_t value, size_t* index);

/** Adds a pair, or replaces the value of an existing key. RLM_TYPE_LIST and RLM_TYPE_DICTIONARY act
 *  like realm_dictionary_insert_list() and realm_dictionary_insert_dictionary().
 *
 *  key, value:   copied.
 *  out_index:    [optional]; the position of the pair.
 *  out_inserted: [optional]; whether the key is new.
 *  Thread:       confined.
 *  Errors:       [object], [write], [value]; INVALID_ARGUMENT when the key is not a string;
 *                INVALID_DICTIONARY_KEY for a key that is refused. */
RLM_API bool realm_dictionary_insert(realm_dictionary_t* dictionary, realm_value_t key,
                                     realm_value_t value, size_t* out_index, bool* out_inserted);

/** Puts a new embedded object under a key and deletes the one that the key had. In a dictionary of
 *  ordinary objects the new object is ordinary, too, and an old target stays.
 *
 *  key:     copied.
 *  Returns: an own handle to the new object, which has default values.
 *  Thread:  confined.
 *  Errors:  [object], [write]; INVALID_ARGUMENT when the key is not a string;
 *           INVALID_DICTIONARY_KEY; INVALID_TABLE_REF when the values are not objects;
 *           ILLEGAL_OPERATION when their class has a primary key. */
RLM_API realm_object_t* realm_dictionary_insert_embedded(realm_dictionary_t* dictionary,
                                                         realm_value_t key);

/** Puts a list under a key of a dictionary of Mixed. If the key already has a list, that is kept
 *  with its elements; any other value is replaced by an empty list.
 *
 *  key:     copied.
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [object], [write]; INVALID_ARGUMENT when the key is not a string;
 *           INVALID_DICTIONARY_KEY; INVALID_DICTIONARY_VALUE when this is not a dictionary of
 *           Mixed; LIMIT_EXCEEDED when it is nested as deep as can be. */
RLM_API realm_list_t* realm_dictionary_insert_list(realm_dictionary_t* dictionary,
                                                   realm_value_t key);

/** Puts a dictionary under a key of a dictionary of Mixed, as realm_dictionary_insert_list() does
 *  with a list.
 *
 *  key:     copied.
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_dictionary_insert_list(). */
RLM_API realm_dictionary_t* realm_dictionary_insert_dictionary(
    realm_dictionary_t* dictionary, realm_value_t key);

/** Removes a pair. An absent key, or one that is not a string, is no error.
 *
 *  out_erased: [optional]; whether it was there.
 *  Thread:     confined.
 *  Errors:     [object], [write]; INVALID_DICTIONARY_KEY for a key that a dictionary refuses. */
RLM_API bool realm_dictionary_erase(realm_dictionary_t* dictionary, realm_value_t key,
                                    bool* out_erased);

/** The keys as live results, in their order. They become stale when the dictionary no longer
 *  exists.
 *
 *  out_size: receives the number of keys.
 *  out_keys: receives an own handle to results of strings.
 *  Thread:   confined. Errors: [object]. */
RLM_API bool realm_dictionary_get_keys(realm_dictionary_t* dictionary, size_t* out_size,
                                       realm_results_t** out_keys);

/** Removes all pairs. Objects they link to stay, embedded ones are deleted.
 *
 *  Thread: confined. Errors: [object], [write]. */
RLM_API bool realm_dictionary_clear(realm_dictionary_t* dictionary);

/** Finds the same dictionary in another realm of the same file.
 *
 *  resolved: receives an own handle, or NULL, which is no error, when the dictionary does not exist
 *            in one of the two realms.
 *  Thread:   confined, for both realms. Errors: WRONG_THREAD; INVALIDATED_OBJECT when this realm was
 *            closed; [realm] of the target. */
RLM_API bool realm_dictionary_resolve_in(const realm_dictionary_t* dictionary,
                                         const realm_t* target_realm,
                                         realm_dictionary_t** resolved);

/** The values as live results, in the order of their keys. After the dictionary was deleted they
 *  are stale or, if they are objects, empty.
 *
 *  Returns: an own handle.
 *  Thread:  confined. Errors: [object]. */
RLM_API realm_results_t* realm_dictionary_to_results(realm_dictionary_t* dictionary);

/* ------------------------------------------------------------------------------------------------
 * Queries
 *
 * A query is a condition on the objects of one class, with an ordering. It is written as text, in
 * the Realm Query Language:
 *
 *     age >= 18 AND (name BEGINSWITH[c] "a" OR best.name == $0) SORT(age DESC, name ASC) LIMIT(10)
 *
 *   comparing     == (or =)  != (or <>)  <  <=  >  >=  IN {1, 2}  BETWEEN {1, 5}
 *   texts         BEGINSWITH  ENDSWITH  CONTAINS  LIKE (with * and ?), also for binaries; [c] after
 *                 these and after == and != ignores case; TEXT searches for words and needs a
 *                 full-text index
 *   logic         AND (or &&)  OR (or ||)  NOT (or !)  brackets  TRUEPREDICATE  FALSEPREDICATE
 *   paths         best.name  list[0]  list[FIRST]  list[LAST]  dictionary['key']  dictionary.@keys
 *                 mixed[*]  mixed.@type  @links.Class.property
 *   many values   ANY (or SOME), ALL or NONE in front of the path; ANY is the default
 *   over many     list.@count  .@sum  .@avg  .@min  .@max  links.@max.age
 *                 SUBQUERY(links, $x, $x.age > 5).@count
 *   arithmetic    + - * /, on numbers
 *   constants     1  1.5  "text" 'text'  true  null  T1:0  2020-01-01T00:00:00  uuid(...)  oid(...)
 *                 binary("...")  obj("Class", primary key)  and B64"..." for a text in base 64
 *   ordering      SORT(path ASC, path DESC)  DISTINCT(path, path)  LIMIT(count), at the end, any
 *                 number of them; each works on the rows that the one before it leaves
 *
 * $0, $1 and so on stand for arguments, $K0 for an argument that holds a path as text. A link
 * argument compared with a Mixed property matches only links to its own class. Text constants have
 * no escape sequences: pass a text with quotes in it as an argument.
 *
 * The text is checked against the schema when it is parsed. The query runs when its results are
 * read, each time on the current snapshot. A query does not keep its realm open.
 * ---------------------------------------------------------------------------------------------- */

/** Parses a query on the objects of a class.
 *
 *  query_string: ends in NUL.
 *  args:    num_args arguments, copied; may be NULL when num_args is 0.
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [realm]; NO_SUCH_TABLE; INVALID_QUERY_STRING when the text is not of the language;
 *           INVALID_QUERY for a name or a comparison that does not fit the schema;
 *           INVALID_QUERY_ARG for an argument that is missing or has the wrong type;
 *           ILLEGAL_OPERATION for TEXT without a full-text index; NOT_SUPPORTED for GEOWITHIN. A
 *           single link argument that is compared with a link property is compared by object key
 *           only, whatever its class. */
RLM_API realm_query_t* realm_query_parse(const realm_t* realm, realm_class_key_t target_table,
                                         const char* query_string, size_t num_args,
                                         const realm_query_arg_t* args);

/** The query as text in one normal form: arguments written out, stored names for public ones, the
 *  ordering at the end. Parsed again it finds the same rows, as long as the query was not made for
 *  a list or set.
 *
 *  Returns: a view, valid until the next call with this handle or its release.
 *  Thread:  confined. Errors: [realm]. */
RLM_API const char* realm_query_get_description(realm_query_t* query);

/** A query for the rows that meet the query's condition and a second one. The ordering of the
 *  second text is applied after that of the first; both are applied after the conditions.
 *
 *  query:   not changed.
 *  query_string, args: as in realm_query_parse(); $0 is the first of these arguments.
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_query_parse(). */
RLM_API realm_query_t* realm_query_append_query(const realm_query_t* query,
                                                const char* query_string, size_t num_args,
                                                const realm_query_arg_t* args);

/** Parses a query on the objects in a list. Unless the text sorts them, the rows are in the order
 *  of the list, and an object appears as often as it is in the list.
 *
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  [object]; those of realm_query_parse(); ILLEGAL_OPERATION when the elements are not
 *           objects. */
RLM_API realm_query_t* realm_query_parse_for_list(const realm_list_t* target_list,
                                                  const char* query_string, size_t num_args,
                                                  const realm_query_arg_t* args);

/** Parses a query on the objects in a set.
 *
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_query_parse_for_list(). */
RLM_API realm_query_t* realm_query_parse_for_set(const realm_set_t* target_set,
                                                 const char* query_string, size_t num_args,
                                                 const realm_query_arg_t* args);

/** Parses a query on the rows of results. The condition of the results is part of it, their
 *  ordering is not: write sort, distinct and limit into the text.
 *
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  WRONG_THREAD; STALE_ACCESSOR; those of realm_query_parse(); ILLEGAL_OPERATION when the
 *           rows are not objects. */
RLM_API realm_query_t* realm_query_parse_for_results(const realm_results_t* target_results,
                                                     const char* query_string, size_t num_args,
                                                     const realm_query_arg_t* args);

/** Runs the query, including distinct and limit, and counts the rows.
 *
 *  Thread: confined.
 *  Errors: [realm]; INVALID_ARGUMENT for TEXT without a word to search for;
 *          INVALID_SORT_DESCRIPTOR when a path of the ordering ends in a collection or leads
 *          through one; LIMIT_EXCEEDED when a path reaches more than 16777216 objects from one row.
 */
RLM_API bool realm_query_count(const realm_query_t* query, size_t* out_count);

/** Runs the query, including its ordering, for the first row.
 *
 *  out_value: [optional]; receives a link. Untouched when no row was found.
 *  out_found: [optional].
 *  Thread:    confined. Errors: as realm_query_count(). */
RLM_API bool realm_query_find_first(realm_query_t* query, realm_value_t* out_value,
                                    bool* out_found);

/** The rows as live results. The query runs when they are read, not now.
 *
 *  query:   not changed; may be used again or released.
 *  Returns: an own handle.
 *  Thread:  confined. Errors: [realm]. */
RLM_API realm_results_t* realm_query_find_all(realm_query_t* query);

/** Runs the query, including its ordering, and deletes the objects it finds. With a limit, only the
 *  rows within it are deleted.
 *
 *  Thread: confined. Errors: [write]; as realm_query_count(). */
RLM_API bool realm_query_delete_all(const realm_query_t* query);

/* ------------------------------------------------------------------------------------------------
 * Results
 *
 * Results are the objects of a class, those a query finds, those that link to an object, or the
 * elements of a list, set or dictionary. They are lazy: the query runs at the first read. And they
 * are live: each read sees the rows of the current snapshot, or, inside a write transaction, of its
 * current state. Looping by index while changing what the results depend on therefore skips rows;
 * loop over realm_results_snapshot() instead.
 *
 * Unsorted rows are in the order of object keys, which is the order of creation, or in the order of
 * their collection. Filter, sort, distinct and limit make new results and leave the old ones
 * unchanged. They can be combined in any number, and each works on the rows that the one before it
 * leaves: a limit before a sort picks the rows first.
 *
 * The rows of a collection of plain values, of Mixed, or of the keys of a dictionary are values.
 * Such results cannot be filtered, sorted or made distinct: ILLEGAL_OPERATION.
 * ---------------------------------------------------------------------------------------------- */

/** The objects of one class that link to an object through one property.
 *
 *  object:  the target of the links.
 *  source_table_key: the class that has the links.
 *  property_key: the link property in that class.
 *  Returns: an own handle; an object appears once for each link it has. Empty after the target was
 *           deleted.
 *  Thread:  confined.
 *  Errors:  [object]; NO_SUCH_TABLE; INVALID_PROPERTY when the property is unknown or does not link
 *           to this class. */
RLM_API realm_results_t* realm_get_backlinks(realm_object_t* object,
                                             realm_class_key_t source_table_key,
                                             realm_property_key_t property_key);

/** Whether the results can still be read: false when the realm was closed, the class was removed,
 *  or their collection of values was deleted. Results of objects become empty instead when their
 *  list, set, dictionary or link target was deleted.
 *
 *  out_valid: [optional].
 *  Thread:    confined. Errors: WRONG_THREAD. */
RLM_API bool realm_results_is_valid(const realm_results_t* results, bool* out_valid);

/** Counts the rows.
 *
 *  out_count: [optional].
 *  Thread:    confined.
 *  Errors:    WRONG_THREAD; STALE_ACCESSOR when the results are not valid. This function, like
 *             every other that reads rows, can also fail with the errors of realm_query_count(). */
RLM_API bool realm_results_count(realm_results_t* results, size_t* out_count);

/** The rows that also meet a query. The ordering of the results stays; that of the query is
 *  ignored. All conditions are applied before the orderings. So after a distinct, when the query
 *  removes the first of several equal rows, another of them appears in its place.
 *
 *  query:   on the same class; not changed.
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  WRONG_THREAD; STALE_ACCESSOR; ILLEGAL_OPERATION after a limit, since it would change
 *           which rows are within it, and when the rows are not objects; INVALID_ARGUMENT when the
 *           query is on another class or of another realm. */
RLM_API realm_results_t* realm_results_filter(realm_results_t* results, realm_query_t* query);

/** The rows in another order. Rows that are equal in all of the given paths keep their order: sort
 *  by one property and then by another, and rows that are equal in the second are in the order of
 *  the first.
 *
 *  Null comes before everything, false before true; texts are compared byte by byte, values of a
 *  Mixed property by type first. A path may lead through links to one object; rows where such a
 *  link is null come last. Descending order is the exact reverse.
 *
 *  sort_string: paths with a direction each, ASC or DESC: "age DESC, best.name ASC". Unlike query
 *           texts it knows properties by their stored names only.
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  WRONG_THREAD; STALE_ACCESSOR; INVALID_QUERY_STRING, also for a missing direction;
 *           INVALID_QUERY for a path that does not exist; ILLEGAL_OPERATION when the rows are not
 *           objects. A path that ends in a collection, or leads through one, fails at the first
 *           read with INVALID_SORT_DESCRIPTOR. */
RLM_API realm_results_t* realm_results_sort(realm_results_t* results, const char* sort_string);

/** Of rows that are equal in all of the given paths, only the first. Two nulls are equal. Rows
 *  where a link on the way to a value is null are left out.
 *
 *  distinct_string: paths, as in sort_string but without directions: "age, best.name".
 *  Returns: an own handle.
 *  Thread:  confined. Errors: as realm_results_sort(). */
RLM_API realm_results_t* realm_results_distinct(realm_results_t* results,
                                                const char* distinct_string);

/** The first rows.
 *
 *  max_count: how many at most; 0 for none.
 *  Returns:   an own handle.
 *  Thread:    confined. Errors: WRONG_THREAD; STALE_ACCESSOR. */
RLM_API realm_results_t* realm_results_limit(realm_results_t* results, size_t max_count);

/** Reads a row. An object comes as RLM_TYPE_LINK. A collection in a Mixed comes without payload, as
 *  in realm_get_value().
 *
 *  out_value: [optional]; views, see rule 2. Null for an object of a snapshot that was deleted.
 *  Thread:    confined. Errors: WRONG_THREAD; STALE_ACCESSOR; INDEX_OUT_OF_BOUNDS. */
RLM_API bool realm_results_get(realm_results_t* results, size_t index, realm_value_t* out_value);

/** The list in a row of results of Mixed.
 *
 *  Returns: an own handle, or NULL without an error when the row holds something else.
 *  Thread:  confined.
 *  Errors:  WRONG_THREAD; STALE_ACCESSOR; INDEX_OUT_OF_BOUNDS; ILLEGAL_OPERATION when the rows are
 *           not values of Mixed. */
RLM_API realm_list_t* realm_results_get_list(realm_results_t* results, size_t index);

/** The dictionary in a row of results of Mixed.
 *
 *  Returns: an own handle, or NULL without an error when the row holds something else.
 *  Thread:  confined. Errors: as realm_results_get_list(). */
RLM_API realm_dictionary_t* realm_results_get_dictionary(realm_results_t* results, size_t index);

/** Finds the first row that is equal to a value; for rows that are objects the value is a link. A
 *  value that cannot be among the rows is not found, which is no error.
 *
 *  out_index: [optional]; SIZE_MAX when nothing was found.
 *  out_found: [optional].
 *  Thread:    confined. Errors: WRONG_THREAD; STALE_ACCESSOR. */
RLM_API bool realm_results_find(realm_results_t* results, realm_value_t* value, size_t* out_index,
                                bool* out_found);

/** The object in a row.
 *
 *  Returns: an own handle. For an object of a snapshot that was deleted it is not valid.
 *  Thread:  confined.
 *  Errors:  WRONG_THREAD; STALE_ACCESSOR; INDEX_OUT_OF_BOUNDS, also when the rows are not objects.
 */
RLM_API realm_object_t* realm_results_get_object(realm_results_t* results, size_t index);

/** The query behind the results, with their ordering. For all objects of a class it is
 *  TRUEPREDICATE.
 *
 *  Returns: an own handle.
 *  Thread:  confined.
 *  Errors:  WRONG_THREAD; STALE_ACCESSOR, also when the owner of their collection was deleted;
 *           ILLEGAL_OPERATION when the rows are not objects. */
RLM_API realm_query_t* realm_results_get_query(realm_results_t* results);

/** Finds the first row with an object.
 *
 *  out_index: [optional]; SIZE_MAX when nothing was found.
 *  out_found: [optional].
 *  Thread:    confined.
 *  Errors:    WRONG_THREAD; STALE_ACCESSOR, also when the object was deleted; OBJECT_TYPE_MISMATCH
 *             when the rows are objects of another class. */
RLM_API bool realm_results_find_object(realm_results_t* results, realm_object_t* value,
                                       size_t* out_index, bool* out_found);

/** Deletes the objects in the rows, and no others: those beyond a limit stay. For results of
 *  values, or of the elements of a dictionary, it empties the collection they came from; objects
 *  they link to stay.
 *
 *  Thread: confined. Errors: WRONG_THREAD; STALE_ACCESSOR; [write]. */
RLM_API bool realm_results_delete_all(realm_results_t* results);

/** The rows as they are now. Their number and order never change; an object that is deleted later
 *  reads as null. The values of the objects are still read from the current snapshot. Sorting,
 *  filtering or limiting a snapshot gives live results again.
 *
 *  Returns: an own handle.
 *  Thread:  confined. Errors: WRONG_THREAD; STALE_ACCESSOR. */
RLM_API realm_results_t* realm_results_snapshot(const realm_results_t* results);

/** The same results in another realm of the same file.
 *
 *  Returns: an own handle.
 *  Thread:  confined, for both realms.
 *  Errors:  WRONG_THREAD; STALE_ACCESSOR, also when the owner of their collection was deleted;
 *           [realm] of the target. */
RLM_API realm_results_t* realm_results_resolve_in(realm_results_t* from_results,
                                                  const realm_t* target_realm);

/** The smallest value of a property among the rows. Nulls and NaN are skipped; in a Mixed property
 *  values of all types count, booleans before numbers before texts and so on.
 *
 *  property:  of the rows' class: a number, a timestamp or Mixed. Ignored for results of values.
 *  out_min:   [optional]; null when no row has a value.
 *  out_found: [optional]; whether a row had a value.
 *  Thread:    confined.
 *  Errors:    WRONG_THREAD; STALE_ACCESSOR; INVALID_PROPERTY; ILLEGAL_OPERATION for other types. */
RLM_API bool realm_results_min(realm_results_t* results, realm_property_key_t property,
                               realm_value_t* out_min, bool* out_found);

/** The largest value of a property among the rows, as realm_results_min() finds the smallest.
 *
 *  Thread: confined. Errors: as realm_results_min(). */
RLM_API bool realm_results_max(realm_results_t* results, realm_property_key_t property,
                               realm_value_t* out_max, bool* out_found);

/** The sum of a property over the rows: an integer for integers (an exact decimal if the sum does
 *  not fit into 64 bits), a double for floats and doubles, a decimal for decimals and Mixed. Nulls,
 *  NaN and values of a Mixed property that are no numbers are skipped.
 *
 *  property:  of the rows' class: a number or Mixed. Ignored for results of values.
 *  out_sum:   [optional]; zero of that type when no row has a number.
 *  out_found: [optional]; false only when the results have no rows.
 *  Thread:    confined. Errors: as realm_results_min(), also for timestamps. */
RLM_API bool realm_results_sum(realm_results_t* results, realm_property_key_t property,
                               realm_value_t* out_sum, bool* out_found);

/** The mean of a property over the rows: a double, for decimals and Mixed a decimal. Nulls, NaN and
 *  values of a Mixed property that are no numbers are skipped and not counted.
 *
 *  property:    as in realm_results_sum().
 *  out_average: [optional]; null when no row has a number.
 *  out_found:   [optional]; whether a row had a number.
 *  Thread:      confined. Errors: as realm_results_sum(). */
RLM_API bool realm_results_average(realm_results_t* results, realm_property_key_t property,
                                   realm_value_t* out_average, bool* out_found);

/* ------------------------------------------------------------------------------------------------
 * Change callbacks
 *
 * They report what changed in an object, a list, set, dictionary or the rows of results. Each
 * callback is called once with an empty change set when it begins to watch, and after that only
 * when something changed. Callbacks run on the realm's thread: in realm_refresh(), in
 * realm_begin_write() (the realm is already writing then) and in turns of the scheduler. Several
 * commits before a call are reported as one change set. Commits of this realm are reported like all
 * others: not inside realm_commit(), but at the next of these occasions.
 *
 * A callback may release its token or another's, add callbacks, write and close the realm. What it
 * writes is reported to all callbacks, itself included, at the next of these occasions; it is not
 * called again while it runs. When it runs inside realm_begin_write() the realm is already writing:
 * the callback may change something, but cannot begin another transaction
 * (WRONG_TRANSACTION_STATE). All callbacks of one handle, with or without key paths, get the
 * changes that any of them asked for.
 *
 * A callback ends when its token or its handle is released. A change set is valid until the
 * callback returns; a clone of it (realm_clone()) until the clone is released.
 *
 * The rules of the change sets: docs/live-objects.md §6.
 * ---------------------------------------------------------------------------------------------- */

/** Names the properties that a callback watches: public names joined by dots, beginning at the
 *  watched class ("name", "dogs.age"), with '*' for every property of a level. Changes of other
 *  properties are then not reported. Insertions and deletions always are.
 *
 *  object_class_key: class of the object, or of the objects in the collection.
 *  user_key_paths:   num_key_paths texts; [optional]: without any, no change of a property is
 *                    reported.
 *  Returns: an own handle, for any number of callbacks.
 *  Thread:  confined.
 *  Errors:  [realm]; NO_SUCH_TABLE; INVALID_ARGUMENT when a path names a property that does not
 *           exist, or continues after one that is no link. */
RLM_API realm_key_path_array_t* realm_create_key_path_array(
    const realm_t* realm, const realm_class_key_t object_class_key, size_t num_key_paths,
    const char** user_key_paths);

/** Registers a function that is called when the object's own properties change, a last time when it
 *  is deleted, and never after that.
 *
 *  userdata_free:  [optional]; called once, when the callback is released.
 *  key_path_array: [optional]; NULL: all properties of the object itself.
 *  on_change:      [optional]; NULL, here and in the four functions below: no function is called,
 *                  but the userdata is still freed with the token.
 *  Returns: an own token; release it to stop.
 *  Thread:  confined; the callback runs on the same thread.
 *  Errors:  [object]; WRONG_TRANSACTION_STATE in a write transaction after its first change, and in
 *           an immutable or frozen realm. */
RLM_API realm_notification_token_t* realm_object_add_notification_callback(
    realm_object_t* object, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_object_change_func_t on_change);

/** The same for a list. An element that is an object counts as modified when the object changed, or
 *  one that it reaches over at most three links.
 *
 *  key_path_array: [optional]; of the class of the objects in the list.
 *  Returns: an own token; release it to stop.
 *  Thread:  confined; the callback runs on the same thread.
 *  Errors:  [object]; WRONG_TRANSACTION_STATE as for objects. */
RLM_API realm_notification_token_t* realm_list_add_notification_callback(
    realm_list_t* list, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_collection_change_func_t on_change);

/** The same for a set; indices are positions in its order.
 *
 *  Returns: an own token; release it to stop.
 *  Thread:  confined; the callback runs on the same thread.
 *  Errors:  [object]; WRONG_TRANSACTION_STATE as for objects. */
RLM_API realm_notification_token_t* realm_set_add_notification_callback(
    realm_set_t* set, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_collection_change_func_t on_change);

/** The same for a dictionary; changes are reported by key.
 *
 *  Returns: an own token; release it to stop.
 *  Thread:  confined; the callback runs on the same thread.
 *  Errors:  [object]; WRONG_TRANSACTION_STATE as for objects. */
RLM_API realm_notification_token_t* realm_dictionary_add_notification_callback(
    realm_dictionary_t* dictionary, realm_userdata_t userdata,
    realm_free_userdata_func_t userdata_free, realm_key_path_array_t* key_path_array,
    realm_on_dictionary_change_func_t on_change);

/** The same for the rows of results. A row that moved is reported as deleted and inserted.
 *
 *  Returns: an own token; release it to stop.
 *  Thread:  confined; the callback runs on the same thread.
 *  Errors:  [realm]; STALE_ACCESSOR when the rows' owner was deleted; ILLEGAL_OPERATION for a snapshot;
 *           WRONG_TRANSACTION_STATE as for objects, except for results that are watched already. */
RLM_API realm_notification_token_t* realm_results_add_notification_callback(
    realm_results_t* results, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_collection_change_func_t callback);

/** Whether the object was deleted. Thread: single. */
RLM_API bool realm_object_changes_is_deleted(const realm_object_changes_t* changes);

/** How many properties changed. Thread: single. */
RLM_API size_t realm_object_changes_get_num_modified_properties(
    const realm_object_changes_t* changes);

/** Copies up to max keys of changed properties. For a key path it is the key of the path's first
 *  property.
 *
 *  out_modified: [optional].
 *  Returns: how many were copied; without an array, how many keys exist.
 *  Thread:  single. */
RLM_API size_t realm_object_changes_get_modified_properties(const realm_object_changes_t* changes,
                                                            realm_property_key_t* out_modified,
                                                            size_t max);

/** The sizes that the arrays of realm_collection_changes_get_changes() need. Each pointer is
 *  [optional].
 *
 *  out_collection_was_cleared: cleared, and nothing was inserted since.
 *  out_collection_was_deleted: deleted with its owner, or replaced by another value.
 *  Thread: single. */
RLM_API void realm_collection_changes_get_num_changes(const realm_collection_changes_t* changes,
                                                      size_t* out_num_deletions,
                                                      size_t* out_num_insertions,
                                                      size_t* out_num_modifications,
                                                      size_t* out_num_moves,
                                                      bool* out_collection_was_cleared,
                                                      bool* out_collection_was_deleted);

/** The same for realm_collection_changes_get_ranges(). Thread: single. */
RLM_API void realm_collection_changes_get_num_ranges(const realm_collection_changes_t* changes,
                                                     size_t* out_num_deletion_ranges,
                                                     size_t* out_num_insertion_ranges,
                                                     size_t* out_num_modification_ranges,
                                                     size_t* out_num_moves);

/** Copies the changed indices, ascending, up to each array's maximum; each array is [optional].
 *  Deletions and modifications index the collection before the changes, insertions and
 *  modifications_after the one after them. To update a list on the screen, remove the deletions
 *  from the back, insert the insertions from the front, and redraw modifications_after. Of a move,
 *  `from` is one of the deletions, `to` one of the insertions.
 *
 *  Thread: single. */
RLM_API void realm_collection_changes_get_changes(const realm_collection_changes_t* changes,
                                                  size_t* out_deletion_indices,
                                                  size_t max_deletion_indices,
                                                  size_t* out_insertion_indices,
                                                  size_t max_insertion_indices,
                                                  size_t* out_modification_indices,
                                                  size_t max_modification_indices,
                                                  size_t* out_modification_indices_after,
                                                  size_t max_modification_indices_after,
                                                  realm_collection_move_t* out_moves,
                                                  size_t max_moves);

/** The same as half-open ranges. Thread: single. */
RLM_API void realm_collection_changes_get_ranges(
    const realm_collection_changes_t* changes, realm_index_range_t* out_deletion_ranges,
    size_t max_deletion_ranges, realm_index_range_t* out_insertion_ranges,
    size_t max_insertion_ranges, realm_index_range_t* out_modification_ranges,
    size_t max_modification_ranges, realm_index_range_t* out_modification_ranges_after,
    size_t max_modification_ranges_after, realm_collection_move_t* out_moves, size_t max_moves);

/** How many keys were deleted, inserted and modified. Each pointer is [optional].
 *  Thread: single. */
RLM_API void realm_dictionary_get_changes(const realm_dictionary_changes_t* changes,
                                          size_t* out_deletions_size, size_t* out_insertion_size,
                                          size_t* out_modification_size, bool* out_was_deleted);

/** Copies the changed keys, as string values that live as long as the change set.
 *
 *  deletions_size, insertions_size, modification_size: in: capacity of the array; out: how many
 *                  were copied, which is all of a kind or, if they do not fit, 0. [optional], like
 *                  the arrays.
 *  Thread: single. */
RLM_API void realm_dictionary_get_changed_keys(const realm_dictionary_changes_t* changes,
                                               realm_value_t* deletions, size_t* deletions_size,
                                               realm_value_t* insertions, size_t* insertions_size,
                                               realm_value_t* modifications,
                                               size_t* modification_size,
                                               bool* collection_was_cleared);

#ifdef __cplusplus
}
#endif

#endif /* REALM_H */
