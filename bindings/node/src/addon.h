/*
 * addon.h - what the C sources of the Node addon share.
 *
 * The addon belongs to one thread: the main thread or a worker. Each has a `struct addon` of its own. JavaScript
 * never sees a pointer. It sees numbers, which index a table of handles: a number that is wrong, or belongs to a
 * released handle, is refused with an error.
 *
 * A function here that can fail returns false, or NULL for a napi_value, and leaves a JavaScript exception pending.
 */

#ifndef CREALM_ADDON_H
#define CREALM_ADDON_H

#define NAPI_VERSION 8

#include <node_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "../../../include/crealm.h"
#include "../generated/library.h"

/* The kinds of handles in the table. */
enum kind {
    KIND_FREE = 0,
    KIND_REALM,
    KIND_CONFIG,
    KIND_SCHEMA,
    KIND_OBJECT,
    KIND_LIST,
    KIND_SET,
    KIND_DICTIONARY,
    KIND_QUERY,
    KIND_RESULTS,
    KIND_TOKEN,
    KIND_SCHEDULER,
    KIND_ASYNC_ERROR,
    KIND_REFERENCE,
    KIND_KEY_PATHS,
    KIND_ANY /* for arguments only */
};

struct handle {
    void* pointer;
    struct realm_state* state; /* of a realm */
    uint32_t generation;
    uint32_t next; /* the next free entry */
    uint8_t kind;
    bool borrowed; /* by a callback: not released */
};

/* A property of a class in an open realm. JavaScript passes its index instead of class and key. */
struct slot {
    realm_class_key_t class_key;
    realm_property_key_t property;
    realm_property_type_e type;
};

/* A class and the properties that create() writes, in the order of its arguments. */
struct plan {
    realm_class_key_t class_key;
    int primary; /* index of the primary key among the properties; -1: none */
    uint32_t count;
    uint32_t* slots;
};

#define CACHED_OBJECTS 512

/* What the addon keeps for an open realm. Object handles are cached by class and object key: objects in JavaScript
 * have no handle of their own, so that the garbage collector has none to release. */
struct realm_state {
    struct slot* slots;
    uint32_t slot_count;
    struct plan* plans;
    uint32_t plan_count;
    struct {
        realm_object_t* object;
        realm_object_key_t key;
        realm_class_key_t class_key;
    } cache[CACHED_OBJECTS];
};

struct addon {
    napi_env env;
    struct handle* handles;
    uint32_t capacity, first_free;
    uint32_t live;
    int depth; /* calls of the library that are running: handles released meanwhile wait in `waiting` */
    void** waiting;
    uint32_t waiting_count, waiting_capacity;
    napi_ref make_error, dispatch;
    napi_async_context context;
    uv_poll_t* poll;
    realm_scheduler_t* scheduler;
    napi_async_cleanup_hook_handle cleanup;
    bool closing;
    bool finalized;
    bool waits; /* the end of the thread waits until the hook is removed: so in Node, not in Deno */
    bool logging; /* a receiver of messages runs */
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* handles.c */

/** A number for a new entry of the table; NULL with an exception without memory, when `pointer` is released. */
napi_value handle_new(struct addon* addon, enum kind kind, void* pointer, bool borrowed);

/** The entry of a number, which must be of the kind. */
struct handle* handle_find(struct addon* addon, napi_value value, enum kind kind);

/** The pointer of a number; null and undefined give NULL if `optional`. */
bool handle_argument(struct addon* addon, napi_value value, enum kind kind, bool optional, void** out);

/** Takes an entry out of the table, and releases its handle now, or when no call of the library is running. */
void handle_release(struct addon* addon, struct handle* entry);

void handles_end(struct addon* addon);
void release_later(struct addon* addon, void* pointer);
void enter(struct addon* addon);
void leave(struct addon* addon);
void cache_clear(struct addon* addon, struct realm_state* state);

/* values.c */

/* Memory for the texts of one call: a stack buffer first. */
struct scratch {
    void* blocks;
    size_t used;
    _Alignas(16) char space[1536];
};

void scratch_begin(struct scratch* scratch);
void* scratch_take(struct addon* addon, struct scratch* scratch, size_t size);
void scratch_end(struct scratch* scratch);

/** Any JavaScript value as the property type wants it; RLM_PROPERTY_TYPE_MIXED takes all of them. Texts and bytes are
 *  in the scratch memory. */
bool value_from_js(struct addon* addon, struct scratch* scratch, napi_value js, realm_property_type_e type,
                   realm_value_t* out);

/** A value for JavaScript: primitives, Date and ArrayBuffer as such, all others as an array that begins with the
 *  type. */
napi_value value_to_js(struct addon* addon, const realm_value_t* value);

napi_value text_to_js(struct addon* addon, const char* text, size_t size);
napi_value cstring_to_js(struct addon* addon, const char* text);
napi_value integer_to_js(struct addon* addon, int64_t number);
napi_value number_to_js(struct addon* addon, double number);
napi_value boolean_to_js(struct addon* addon, bool value);
napi_value null_to_js(struct addon* addon);
napi_value class_info_to_js(struct addon* addon, const realm_class_info_t* info);
napi_value property_info_to_js(struct addon* addon, const realm_property_info_t* info);
napi_value version_id_to_js(struct addon* addon, const realm_version_id_t* id);

bool integer_argument(struct addon* addon, napi_value value, int64_t* out);
bool unsigned_argument(struct addon* addon, napi_value value, uint64_t most, uint64_t* out);
bool boolean_argument(struct addon* addon, napi_value value, bool* out);
bool text_argument(struct addon* addon, struct scratch* scratch, napi_value value, bool optional, const char** out);

/** The memory of an ArrayBuffer, a typed array, a Buffer or a DataView. */
bool bytes_argument(struct addon* addon, napi_value value, void** out, size_t* size);

/* addon.c */

/** Throws the last error of the library, or does nothing when the thread has none. Always returns NULL. */
napi_value throw_last_error(struct addon* addon);

/** Throws an error with a number of the library. Always returns NULL. */
napi_value throw_error(struct addon* addon, int code, const char* text);

/** Throws unless the status is good. */
bool good(struct addon* addon, napi_status status);

/** Reads the arguments of a call; missing ones are undefined. */
struct addon* arguments(napi_env env, napi_callback_info info, size_t count, napi_value* out, size_t* given);

struct function {
    const char* name;
    napi_callback call;
};

extern const struct function generated_functions[];
extern const size_t generated_function_count;
extern const struct function object_functions[];
extern const size_t object_function_count;
extern const struct function batch_functions[];
extern const size_t batch_function_count;
extern const struct function schema_functions[];
extern const size_t schema_function_count;
extern const struct function callback_functions[];
extern const size_t callback_function_count;

/* callbacks.c */

bool scheduler_watch(struct addon* addon);
void scheduler_unwatch(struct addon* addon);

/** Takes the receiver of messages away, if it is one of this thread. */
void log_end(struct addon* addon);

#endif
