/*
 * shim.h - the calls of the Go package.
 *
 * The error slot of the library belongs to a thread, and a goroutine may be on another thread in its next call. So each
 * function here takes the error in the same call: it returns NULL, or a block with the number of the error (4 bytes)
 * and its message, which ends in NUL; free it with free(). No handle of an object goes to Go: functions name objects
 * by links.
 *
 * Values with their content are bytes ("encoded values"): one byte for the type (realm_value_type_e, or one of the
 * numbers below), then the payload, in the byte order of the machine and without padding:
 *
 *     int, double 8   bool 1   float 4   timestamp 8 + 4   decimal 16   object id 12   uuid 16   link 4 + 8
 *     string, binary  4 bytes of length, the bytes
 *     list, set       4 bytes of count, the elements
 *     dictionary      4 bytes of count, for each pair the key as a string without type, and the value
 *     object          4 bytes of count, for each property its key (8 bytes) and the value: an embedded object
 */

#ifndef CREALM_GO_SHIM_H
#define CREALM_GO_SHIM_H

#include "crealm.h"

enum { GO_SET = 64, GO_OBJECT = 65, GO_NOTHING = 255 };

typedef char* go_error;

typedef struct go_bytes {
    uint8_t* data; /* free with free() */
    size_t size;
} go_bytes;

/* How results are made: a query, then sorted, distinct, limited. Texts of size 0 are left out. */
typedef struct go_query {
    uint32_t class_key;
    int64_t owner; /* -1: the objects of the class. Else the key of an object of owner_class */
    uint32_t owner_class;
    int64_t owner_property;
    int32_t owner_kind;     /* realm_collection_type_e; -1: backlinks from class_key through owner_property */
    int64_t limit;          /* -1: none */
    int32_t snapshot;       /* whether the rows stay as they are now */
} go_query;

go_error go_open(realm_config_t* config, uintptr_t database, realm_t** realm, realm_scheduler_t** scheduler);
go_error go_config(const char* path, const char* schema, size_t schema_size, uint64_t version, int mode, bool in_memory,
                   const uint8_t* key, size_t key_size, int64_t timeout, uintptr_t migration, realm_config_t** config);
go_error go_rename(realm_t* realm, realm_schema_t* schema, const char* name, const char* old, const char* new_name);
go_error go_delete_files(const char* path, bool* deleted);
go_error go_schema(const realm_t* realm, go_bytes* json);
go_error go_keys(const realm_t* realm, const char* name, uint32_t* class_key);
go_error go_property(const realm_t* realm, uint32_t class_key, const char* name, int64_t* key);
go_error go_version(const realm_t* realm, uint64_t* version);
uint64_t go_schema_version(const realm_t* realm);
go_error go_freeze(const realm_t* realm, realm_t** frozen);
go_error go_clone(const realm_t* realm, realm_t** clone);
go_error go_begin(realm_t* realm);
go_error go_commit(realm_t* realm);
go_error go_rollback(realm_t* realm);
go_error go_refresh(realm_t* realm);
go_error go_run(realm_scheduler_t* scheduler, bool* did_work);
go_error go_verify(const realm_t* realm);
go_error go_copy(const realm_t* realm, const realm_config_t* config);
go_error go_compact(realm_t* realm, bool* done);
void go_interrupt(const realm_t* realm);
void go_close(realm_t* realm);
void go_release(void* handle);

/* Objects. `values` of create is, for each of count objects, an encoded primary key or GO_NOTHING, 4 bytes of count,
 * and for each property its key and its encoded value. */
go_error go_create(realm_t* realm, uint32_t class_key, int mode, size_t count, const uint8_t* values, size_t size,
                   realm_link_t* links);
go_error go_set(realm_t* realm, realm_link_t link, int64_t key, const uint8_t* value, size_t size);
go_error go_add(realm_t* realm, realm_link_t link, int64_t key, int64_t number);
go_error go_delete(realm_t* realm, realm_link_t link);
go_error go_find(const realm_t* realm, uint32_t class_key, const uint8_t* key, size_t size, realm_link_t* link,
                 bool* found, size_t count, const int64_t* keys, realm_value_t* values);
go_error go_get(const realm_t* realm, realm_link_t link, size_t count, const int64_t* keys, realm_value_t* values);

/* One value, and the error of its call: nothing of Go is needed for the result. */
typedef struct go_one {
    realm_value_t value;
    go_error error;
} go_one;

go_one go_get_one(const realm_t* realm, realm_link_t link, int64_t key);
go_error go_read(const realm_t* realm, realm_link_t link, int64_t key, int kind, go_bytes* value);

/* Changes one element of a collection: place is an encoded list of positions and keys inside of a mixed property. */
enum { GO_INSERT, GO_REPLACE, GO_REMOVE, GO_MOVE, GO_CLEAR, GO_PUT, GO_REMOVE_KEY, GO_ADD, GO_DISCARD };

go_error go_change(realm_t* realm, realm_link_t link, int64_t key, int kind, const uint8_t* place, size_t place_size,
                   int what, size_t at, size_t to, const char* name, size_t name_size, const uint8_t* value,
                   size_t size);

/* Results. */
go_error go_results(const realm_t* realm, go_query query, const char* text, const char* sort, const char* distinct,
                    size_t num_args, const uint8_t* args, size_t args_size, realm_results_t** results);
go_error go_count(const realm_t* realm, go_query query, const char* text, const char* sort, const char* distinct,
                  size_t num_args, const uint8_t* args, size_t args_size, size_t* count);
go_error go_fetch(realm_results_t* results, size_t first, size_t count, size_t num_keys, const int64_t* keys,
                  realm_value_t* values, realm_link_t* links, size_t* read);
go_error go_aggregate(realm_results_t* results, int function, int64_t key, go_bytes* value);
go_error go_delete_all(realm_results_t* results);
go_error go_update(realm_results_t* results, const char* text, size_t num_args, const uint8_t* args, size_t args_size,
                   size_t* count);

/* Listeners: *token is released by go_release(). The listener gets its changes by goChange() of the package. */
go_error go_observe(realm_t* realm, realm_results_t* results, const char* const* paths, size_t num_paths,
                    uint32_t class_key, uintptr_t listener, void** token);
go_error go_observe_object(realm_t* realm, realm_link_t link, const char* const* paths, size_t num_paths,
                           uintptr_t listener, void** token, void** watched);
go_error go_observe_collection(realm_t* realm, realm_link_t link, int64_t key, int kind, uintptr_t listener,
                               void** token, void** watched);

/* The number and the text of an error block. */
static inline int32_t go_error_code(const char* error) {
    int32_t code;
    __builtin_memcpy(&code, error, sizeof code);
    return code;
}

#endif
