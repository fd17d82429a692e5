/*
 * mutate.c - opens damaged files through the C API.
 *
 * Goal: whatever a file contains, each call ends with a result or an error: no crash, no endless loop, no excessive
 * memory. Method: each round copies a fixture, damages the copy in one to a few places chosen from a seed, and gives it
 * to a child process. The child opens one copy in immutable mode and reads all there is; then it opens a second copy
 * for writing (which upgrades older formats), changes values, collections, nested collections and embedded objects in
 * several transactions, migrates to schemas derived from the one of the file, and opens the result again. When the
 * immutable copy verified as sound despite the damage (for example damage in free space), the file must also be sound
 * after the writes. An undamaged file must always verify as sound.
 *
 *     mutate LIBRARY FIXTURES COUNT SEED [KEEP]
 *
 * FIXTURES is a directory, searched with its subdirectories for *.realm; NAME.key beside NAME.realm
 * holds the encryption key. Before the first round each fixture is read and written undamaged. Round i
 * uses seed SEED + i, so `mutate LIBRARY FIXTURES 1 N` in the same environment repeats it alone. Failing rounds are
 * reported with seed, fixture, signal and place, and their damaged file goes to the directory KEEP.
 *
 * Environment: MUTATE_SECONDS, processor time of a round (10); MUTATE_VALUES, most values visited in one
 * traversal (300000); MUTATE_INLINE, do not fork, for debuggers; MUTATE_ERRORS, tell every error that
 * calls end with; MUTATE_INTACT, rounds without damage; MUTATE_LARGE, percentage of rounds
 * with fixtures above 1 MB (1; with 0 they are left out altogether); MUTATE_ONLY, use only fixtures whose name contains this text;
 * MUTATE_NO_VERIFY, leave crealm_verify() out.
 *
 * Build: cc -O1 -g -Wall -Wextra -Werror -Iinclude mutate.c -ldl -o mutate
 */
#define _GNU_SOURCE
#include <crealm.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- The library ------------------------------------------------------------------------------ */

#define FUNCTIONS(X)                                                                              \
    X(realm_get_last_error) X(realm_clear_last_error) X(realm_release) X(realm_free)              \
    X(realm_set_log_level) X(realm_config_new) X(realm_config_set_path)                           \
    X(realm_config_set_encryption_key) X(realm_config_set_schema_mode)                            \
    X(realm_config_set_automatic_change_notifications) X(realm_config_needs_file_format_upgrade)  \
    X(realm_open) X(realm_close) X(realm_begin_write) X(realm_commit) X(realm_rollback)           \
    X(realm_refresh) X(realm_get_version_id) X(realm_get_num_versions)                            \
    X(realm_get_schema_version) X(realm_get_num_classes) X(realm_get_class_keys)                  \
    X(realm_get_class) X(realm_find_class) X(realm_get_class_properties)                          \
    X(realm_get_property_keys) X(realm_find_property) X(realm_get_value_by_property_index)        \
    X(realm_get_num_objects) X(realm_get_object) X(realm_object_get_parent)                       \
    X(realm_object_find_with_primary_key) X(realm_object_find_all) X(realm_object_create)         \
    X(realm_object_create_with_primary_key) X(realm_object_get_or_create_with_primary_key)        \
    X(realm_object_delete) X(realm_object_add_int) X(realm_object_is_valid)                       \
    X(realm_object_get_key) X(realm_object_get_table) X(realm_object_as_link) X(realm_get_value)  \
    X(realm_get_values) X(realm_set_value) X(realm_get_linked_object) X(realm_get_list)           \
    X(realm_get_set) X(realm_get_dictionary) X(realm_list_is_valid) X(realm_list_size)            \
    X(realm_list_get) X(realm_list_find) X(realm_list_get_list) X(realm_list_get_dictionary)      \
    X(realm_list_get_linked_object) X(realm_list_get_property) X(realm_set_size) X(realm_set_get) \
    X(realm_set_find) X(realm_dictionary_size) X(realm_dictionary_get) X(realm_dictionary_find)   \
    X(realm_dictionary_is_valid) X(realm_dictionary_get_list)                                     \
    X(realm_dictionary_get_dictionary) X(realm_dictionary_get_linked_object)                      \
    X(realm_dictionary_contains_key) X(realm_dictionary_contains_value) X(realm_get_backlinks)    \
    X(realm_results_is_valid) X(realm_results_count) X(realm_results_get)                         \
    X(realm_results_get_object) X(realm_list_insert) X(realm_list_set) X(realm_list_move)         \
    X(realm_list_erase) X(realm_list_clear) X(realm_list_remove_all) X(realm_list_insert_list)    \
    X(realm_list_insert_dictionary) X(realm_list_set_list) X(realm_list_set_dictionary)           \
    X(realm_list_insert_embedded) X(realm_list_set_embedded) X(realm_list_resolve_in)             \
    X(realm_list_to_results) X(realm_set_insert) X(realm_set_erase) X(realm_set_clear)            \
    X(realm_set_remove_all) X(realm_set_resolve_in) X(realm_set_to_results)                       \
    X(realm_dictionary_insert) X(realm_dictionary_insert_embedded) X(realm_dictionary_insert_list)\
    X(realm_dictionary_insert_dictionary) X(realm_dictionary_erase) X(realm_dictionary_clear)     \
    X(realm_dictionary_get_keys) X(realm_dictionary_resolve_in) X(realm_dictionary_to_results)    \
    X(realm_set_embedded) X(realm_set_list) X(realm_set_dictionary) X(realm_set_json)             \
    X(realm_object_to_string) X(realm_object_resolve_in) X(realm_find_primary_key_property)       \
    X(realm_schema_new) X(realm_schema_validate) X(realm_schema_rename_property)                  \
    X(realm_remove_table) X(realm_update_schema_advanced) X(realm_add_schema_changed_callback)    \
    X(realm_config_set_schema) X(realm_config_set_schema_version)                                 \
    X(realm_config_set_migration_function) X(realm_config_set_data_initialization_function)       \
    X(realm_config_set_automatic_backlink_handling) X(crealm_verify)
#define MEMBER(name) __typeof__(&name) name;
static struct { FUNCTIONS(MEMBER) } L;
static char* library_base;
static bool has_sanitizer;

static void load_library(const char* path) {
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) { fprintf(stderr, "%s\n", dlerror()); exit(2); }
#define RESOLVE(name)                                                                             \
    L.name = (__typeof__(&name))dlsym(handle, #name);                                             \
    if (!L.name) { fprintf(stderr, "missing symbol %s\n", #name); exit(3); }
    FUNCTIONS(RESOLVE)
    Dl_info info;
    if (dladdr((void*)L.realm_open, &info)) library_base = info.dli_fbase;
    has_sanitizer = dlsym(RTLD_DEFAULT, "__asan_init") != NULL;
}

/* ---- Progress, shared with the child ---------------------------------------------------------- */

static struct progress {
    const char* stage;
    const char* call;
    uint64_t calls, visited;
    bool intact, sound; /* the file was not damaged; the immutable copy verified as sound */
    int frames;
    uintptr_t frame[24];
    uintptr_t fault;
    char problem[400];
} *progress;

static void problem(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(progress->problem, sizeof progress->problem, format, arguments);
    va_end(arguments);
    if (getenv("MUTATE_INLINE")) { fprintf(stderr, "problem: %s in %s, %s\n", progress->problem, progress->stage, progress->call); abort(); }
    _exit(9);
}

/* Stores the stack of a fault, as offsets into the library, for the report. */
static void on_fault(int signal, siginfo_t* info, void* context) {
    uintptr_t pc = 0;
#if defined(__x86_64__)
    pc = (uintptr_t)((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    pc = (uintptr_t)((ucontext_t*)context)->uc_mcontext.pc;
#else
    (void)context;
#endif
    void* trace[40];
    int n = backtrace(trace, 40), from = 0;
    for (int i = 0; i < n; i++) if ((uintptr_t)trace[i] == pc) from = i;
    progress->fault = (uintptr_t)info->si_addr;
    for (int i = from; i < n && progress->frames < 24; i++)
        progress->frame[progress->frames++] = (uintptr_t)trace[i] - (uintptr_t)library_base;
    struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(signal, &standard, NULL);
    raise(signal);
}

/* After a failed call: an error must be set; clears it. */
static void expect_error(void) {
    realm_error_t error = {RLM_ERR_NONE, 0, NULL, NULL, NULL};
    if (!L.realm_get_last_error(&error)) problem("failure without an error");
    if (error.error == RLM_ERR_NONE || !error.message) problem("failure with an empty error");
    if (error.error == RLM_ERR_INVALID_DATABASE && progress->intact && progress->sound) problem("an intact file was called damaged: %.200s", error.message);
    if (getenv("MUTATE_ERRORS")) fprintf(stderr, "%s, %s: error %d (%s)\n", progress->stage, progress->call, (int)error.error, error.message);
    if (error.error != RLM_ERR_UNKNOWN && error.categories == 0) problem("error %d without a category", (int)error.error);
    L.realm_clear_last_error();
}
static bool no_error(void) { return !L.realm_get_last_error(NULL); }

#define DO(name, ...) (progress->call = #name, progress->calls++, L.name(__VA_ARGS__))
/* A bool function: whether it succeeded. */
#define OK(name, ...) checked(DO(name, __VA_ARGS__))
static bool checked(bool result) {
    if (!result) expect_error();
    return result;
}
/* A pointer function that never returns NULL without an error. */
#define GET(name, ...) got(DO(name, __VA_ARGS__))
static void* got(void* result) {
    if (!result) expect_error();
    return result;
}
/* A pointer function that may return NULL without an error. */
#define MAYBE(name, ...) maybe(DO(name, __VA_ARGS__))
static void* maybe(void* result) {
    if (!result && !no_error()) expect_error();
    return result;
}

/* ---- Reading everything ----------------------------------------------------------------------- */

#define MAX_DEPTH 110
static uint64_t value_limit = 300000;
static volatile uint64_t sink;

static bool spent(void) { return progress->visited >= value_limit; }

static void touch(const void* data, size_t size) {
    const uint8_t* bytes = data;
    uint64_t sum = 0;
    size_t head = size < 65536 ? size : 65536;
    for (size_t i = 0; i < head; i++) sum += bytes[i];
    for (size_t i = head; i < size; i += 4096) sum += bytes[i];
    if (size) sum += bytes[size - 1];
    sink += sum;
}
static void look(realm_value_t v) {
    progress->visited++;
    switch (v.type) {
        case RLM_TYPE_STRING: if (v.string.data) touch(v.string.data, v.string.size); break;
        case RLM_TYPE_BINARY: if (v.binary.data) touch(v.binary.data, v.binary.size); break;
        default: if ((unsigned)v.type > RLM_TYPE_DICTIONARY) problem("value of unknown type %d", (int)v.type);
    }
}
/* Whether a property of this type may give this value. */
static bool fits(realm_property_type_e type, realm_value_type_e value) {
    if (value == RLM_TYPE_NULL || type == RLM_PROPERTY_TYPE_MIXED) return true;
    switch (type) {
        case RLM_PROPERTY_TYPE_INT: return value == RLM_TYPE_INT;
        case RLM_PROPERTY_TYPE_BOOL: return value == RLM_TYPE_BOOL;
        case RLM_PROPERTY_TYPE_STRING: return value == RLM_TYPE_STRING;
        case RLM_PROPERTY_TYPE_BINARY: return value == RLM_TYPE_BINARY;
        case RLM_PROPERTY_TYPE_TIMESTAMP: return value == RLM_TYPE_TIMESTAMP;
        case RLM_PROPERTY_TYPE_FLOAT: return value == RLM_TYPE_FLOAT;
        case RLM_PROPERTY_TYPE_DOUBLE: return value == RLM_TYPE_DOUBLE;
        case RLM_PROPERTY_TYPE_DECIMAL128: return value == RLM_TYPE_DECIMAL128;
        case RLM_PROPERTY_TYPE_OBJECT: return value == RLM_TYPE_LINK;
        case RLM_PROPERTY_TYPE_OBJECT_ID: return value == RLM_TYPE_OBJECT_ID;
        case RLM_PROPERTY_TYPE_UUID: return value == RLM_TYPE_UUID;
        default: return false;
    }
}
/* In a manual migration the schema is the target schema, not the one of the file. */
static bool is_manual, schema_is_ahead;
static void expect_fit(realm_property_type_e type, realm_value_t v) {
    if (!schema_is_ahead && !fits(type, v.type)) problem("a property of type %d gave a value of type %d", (int)type, (int)v.type);
}
/* A copy whose text or bytes do not depend on the snapshot; free() the result of `owned`. */
static void* own(realm_value_t* v) {
    if (v->type != RLM_TYPE_STRING && v->type != RLM_TYPE_BINARY) return NULL;
    if (!v->string.data) return NULL;
    void* copy = malloc(v->string.size + 1);
    if (!copy) problem("no memory for a value of %zu bytes", v->string.size);
    memcpy(copy, v->string.data, v->string.size);
    v->string.data = copy;
    return copy;
}

/* A loop over a collection of a damaged size ends after this many failures in a row. */
#define MAX_FAILURES 64

static realm_t* realm;

static void follow(realm_object_t* object) {
    if (!object) return;
    realm_class_info_t info;
    DO(realm_object_get_key, object);
    OK(realm_get_class, realm, DO(realm_object_get_table, object), &info);
    realm_value_t v;
    if (OK(realm_get_value_by_property_index, object, 0, &v)) look(v);
    L.realm_release(object);
}

static void read_list(realm_list_t* list, realm_property_type_e type, int depth);
static void read_dictionary(realm_dictionary_t* dictionary, realm_property_type_e type, int depth);

static void read_list(realm_list_t* list, realm_property_type_e type, int depth) {
    size_t count = 0;
    realm_property_info_t info;
    DO(realm_list_is_valid, list);
    OK(realm_list_get_property, list, &info);
    if (!OK(realm_list_size, list, &count)) return;
    int failures = 0;
    for (size_t i = 0; i < count && failures < MAX_FAILURES && !spent(); i++) {
        realm_value_t v;
        progress->visited++;
        if (!OK(realm_list_get, list, i, &v)) { failures++; continue; }
        failures = 0;
        look(v);
        expect_fit(type, v);
        if (v.type == RLM_TYPE_LIST) {
            realm_list_t* inner = GET(realm_list_get_list, list, i);
            if (inner && depth < MAX_DEPTH) read_list(inner, RLM_PROPERTY_TYPE_MIXED, depth + 1);
            L.realm_release(inner);
        } else if (v.type == RLM_TYPE_DICTIONARY) {
            realm_dictionary_t* inner = GET(realm_list_get_dictionary, list, i);
            if (inner && depth < MAX_DEPTH) read_dictionary(inner, RLM_PROPERTY_TYPE_MIXED, depth + 1);
            L.realm_release(inner);
        } else if (i % 16 == 0) {
            size_t found_at;
            bool found;
            void* copy = own(&v);
            OK(realm_list_find, list, &v, &found_at, &found);
            free(copy);
            if (v.type == RLM_TYPE_LINK) follow(MAYBE(realm_list_get_linked_object, list, i));
        }
    }
    realm_value_t v;
    OK(realm_list_get, list, count, &v);
    OK(realm_list_get, list, SIZE_MAX, &v);
}
static void read_dictionary(realm_dictionary_t* dictionary, realm_property_type_e type, int depth) {
    size_t count = 0;
    DO(realm_dictionary_is_valid, dictionary);
    if (!OK(realm_dictionary_size, dictionary, &count)) return;
    int failures = 0;
    for (size_t i = 0; i < count && failures < MAX_FAILURES && !spent(); i++) {
        realm_value_t key, v, again;
        progress->visited++;
        if (!OK(realm_dictionary_get, dictionary, i, &key, &v)) { failures++; continue; }
        failures = 0;
        look(key);
        look(v);
        expect_fit(type, v);
        if (key.type != RLM_TYPE_STRING) problem("a dictionary key of type %d", (int)key.type);
        if (v.type == RLM_TYPE_LIST) {
            realm_list_t* inner = GET(realm_dictionary_get_list, dictionary, key);
            if (inner && depth < MAX_DEPTH) read_list(inner, RLM_PROPERTY_TYPE_MIXED, depth + 1);
            L.realm_release(inner);
        } else if (v.type == RLM_TYPE_DICTIONARY) {
            realm_dictionary_t* inner = GET(realm_dictionary_get_dictionary, dictionary, key);
            if (inner && depth < MAX_DEPTH) read_dictionary(inner, RLM_PROPERTY_TYPE_MIXED, depth + 1);
            L.realm_release(inner);
        } else if (i % 8 == 0) {
            bool found;
            size_t at;
            OK(realm_dictionary_find, dictionary, key, &again, &found);
            OK(realm_dictionary_contains_key, dictionary, key, &found);
            OK(realm_dictionary_contains_value, dictionary, v, &at);
            if (v.type == RLM_TYPE_LINK) follow(MAYBE(realm_dictionary_get_linked_object, dictionary, key));
        }
    }
    OK(realm_dictionary_get, dictionary, SIZE_MAX, NULL, NULL);
}
static void read_set(realm_set_t* set, realm_property_type_e type) {
    size_t count = 0, at;
    bool found;
    if (!OK(realm_set_size, set, &count)) return;
    int failures = 0;
    for (size_t i = 0; i < count && failures < MAX_FAILURES && !spent(); i++) {
        realm_value_t v;
        progress->visited++;
        if (!OK(realm_set_get, set, i, &v)) { failures++; continue; }
        failures = 0;
        look(v);
        expect_fit(type, v);
        if (i % 4 == 0) OK(realm_set_find, set, v, &at, &found);
    }
}

/* A class of the open file, with the data that a traversal needs. */
struct class_data {
    realm_class_info_t info;
    realm_property_info_t* properties;
    size_t property_count;
    realm_property_info_t* primary;
    struct { realm_class_key_t from; realm_property_key_t property; } links_here[64];
    size_t link_count;
};
static struct class_data* classes;
static size_t class_count;

static void read_schema(void) {
    classes = NULL;
    class_count = 0;
    size_t count = DO(realm_get_num_classes, realm), n = 0;
    if (count > 100000) problem("%zu classes", count);
    realm_class_key_t* keys = calloc(count + 1, sizeof *keys);
    if (!OK(realm_get_class_keys, realm, keys, count, &n) || n != count) problem("class keys differ from the class count");
    classes = calloc(count + 1, sizeof *classes);
    for (size_t i = 0; i < count; i++) {
        struct class_data* c = &classes[class_count];
        if (!OK(realm_get_class, realm, keys[i], &c->info)) continue;
        touch(c->info.name, strlen(c->info.name));
        bool found = false;
        OK(realm_find_class, realm, c->info.name, &found, NULL);
        size_t room = c->info.num_properties + c->info.num_computed_properties;
        if (room > 100000) problem("%zu properties", room);
        c->properties = calloc(room + 1, sizeof *c->properties);
        if (!OK(realm_get_class_properties, realm, keys[i], c->properties, room, &c->property_count)) continue;
        if (c->property_count > room) problem("%zu properties, %zu announced", c->property_count, room);
        realm_property_key_t* property_keys = calloc(room + 1, sizeof *property_keys);
        OK(realm_get_property_keys, realm, keys[i], property_keys, room, &n);
        free(property_keys);
        for (size_t j = 0; j < c->property_count; j++) {
            realm_property_info_t* p = &c->properties[j];
            OK(realm_find_property, realm, keys[i], p->name, &found, NULL);
            if (p->flags & RLM_PROPERTY_PRIMARY_KEY) c->primary = p;
        }
        realm_property_info_t primary;
        if (OK(realm_find_primary_key_property, realm, keys[i], &found, &primary) && found && (!c->primary || c->primary->key != primary.key)) problem("two primary keys");
        class_count++;
    }
    free(keys);
    for (size_t i = 0; i < class_count; i++)
        for (size_t j = 0; j < classes[i].property_count; j++) {
            realm_property_info_t* p = &classes[i].properties[j];
            if (p->type != RLM_PROPERTY_TYPE_OBJECT) continue;
            for (size_t k = 0; k < class_count; k++) {
                struct class_data* target = &classes[k];
                if (strcmp(target->info.name, p->link_target) || target->link_count == 64) continue;
                target->links_here[target->link_count].from = classes[i].info.key;
                target->links_here[target->link_count++].property = p->key;
            }
        }
}
static void free_schema(void) {
    for (size_t i = 0; i < class_count; i++) free(classes[i].properties);
    free(classes);
    classes = NULL;
    class_count = 0;
}

static void read_object(struct class_data* c, realm_object_t* object) {
    realm_object_key_t key = DO(realm_object_get_key, object);
    DO(realm_object_is_valid, object);
    for (size_t j = 0; j < c->property_count && !spent(); j++) {
        realm_property_info_t* p = &c->properties[j];
        realm_value_t v;
        if (p->type == RLM_PROPERTY_TYPE_LINKING_OBJECTS) continue;
        if (p->collection_type == RLM_COLLECTION_TYPE_LIST) {
            realm_list_t* list = GET(realm_get_list, object, p->key);
            if (list) read_list(list, p->type, 0);
            L.realm_release(list);
        } else if (p->collection_type == RLM_COLLECTION_TYPE_SET) {
            realm_set_t* set = GET(realm_get_set, object, p->key);
            if (set) read_set(set, p->type);
            L.realm_release(set);
        } else if (p->collection_type == RLM_COLLECTION_TYPE_DICTIONARY) {
            realm_dictionary_t* dictionary = GET(realm_get_dictionary, object, p->key);
            if (dictionary) read_dictionary(dictionary, p->type, 0);
            L.realm_release(dictionary);
        } else {
            progress->visited++;
            if (!OK(realm_get_value, object, p->key, &v)) continue;
            look(v);
            expect_fit(p->type, v);
            if (v.type == RLM_TYPE_LIST) {
                realm_list_t* list = GET(realm_get_list, object, p->key);
                if (list) read_list(list, RLM_PROPERTY_TYPE_MIXED, 0);
                L.realm_release(list);
            } else if (v.type == RLM_TYPE_DICTIONARY) {
                realm_dictionary_t* dictionary = GET(realm_get_dictionary, object, p->key);
                if (dictionary) read_dictionary(dictionary, RLM_PROPERTY_TYPE_MIXED, 0);
                L.realm_release(dictionary);
            } else if (v.type == RLM_TYPE_LINK) {
                follow(MAYBE(realm_get_linked_object, object, p->key));
            }
            if (p == c->primary) {
                void* copy = own(&v);
                bool found;
                realm_object_t* same = MAYBE(realm_object_find_with_primary_key, realm, c->info.key, v, &found);
                if (same && !found) problem("an object that was not found");
                L.realm_release(same);
                free(copy);
            }
        }
    }
    for (size_t j = 0; j < c->link_count && !spent(); j++) {
        realm_results_t* results = GET(realm_get_backlinks, object, c->links_here[j].from, c->links_here[j].property);
        size_t count = 0;
        if (!results) continue;
        if (OK(realm_results_count, results, &count)) {
            int failures = 0;
            for (size_t i = 0; i < count && failures < MAX_FAILURES && !spent(); i++) {
                realm_value_t v;
                progress->visited++;
                if (!OK(realm_results_get, results, i, &v)) { failures++; continue; }
                look(v);
                if (i % 16 == 0) follow(GET(realm_results_get_object, results, i));
            }
        }
        L.realm_release(results);
    }
    if (c->info.flags == RLM_CLASS_EMBEDDED) {
        realm_object_t* parent = NULL;
        realm_class_key_t parent_class;
        if (OK(realm_object_get_parent, object, &parent, &parent_class)) L.realm_release(parent);
    }
    L.realm_release(MAYBE(realm_get_object, realm, c->info.key, key));
    if (key % 8 == 0 && !spent()) {
        char* text = GET(realm_object_to_string, object);
        if (text) {
            size_t size = strlen(text);
            touch(text, size);
            progress->visited += size / 16;
        }
        L.realm_free(text);
    }
}

static void read_everything(void) {
    uint64_t versions;
    realm_version_id_t id;
    bool found;
    progress->visited = 0;
    OK(realm_get_num_versions, realm, &versions);
    DO(realm_get_schema_version, realm);
    for (size_t i = 0; i < class_count && !spent(); i++) {
        struct class_data* c = &classes[i];
        size_t count = 0, rows = 0;
        OK(realm_get_num_objects, realm, c->info.key, &count);
        realm_results_t* results = GET(realm_object_find_all, realm, c->info.key);
        if (!results) continue;
        bool valid;
        OK(realm_results_is_valid, results, &valid);
        if (OK(realm_results_count, results, &rows)) {
            int failures = 0;
            for (size_t row = 0; row < rows && failures < MAX_FAILURES && !spent(); row++) {
                realm_value_t v;
                progress->visited++;
                realm_object_t* object = GET(realm_results_get_object, results, row);
                if (!object) { failures++; continue; }
                failures = 0;
                if (OK(realm_results_get, results, row, &v)) look(v);
                read_object(c, object);
                L.realm_release(object);
            }
            OK(realm_results_get, results, SIZE_MAX, NULL);
        }
        L.realm_release(results);
    }
    OK(realm_get_version_id, realm, &found, &id);
}

static bool verify(void) {
    char* report = NULL;
    if (getenv("MUTATE_NO_VERIFY")) return false;
    bool sound = DO(crealm_verify, realm, &report);
    if (sound != (report == NULL) && sound) problem("a sound file with a report");
    if (!sound) {
        expect_error();
        if (report) touch(report, strlen(report));
        if (getenv("MUTATE_INLINE") && report) fprintf(stderr, "verify: %s\n", report);
    }
    L.realm_free(report);
    return sound;
}

/* ---- Random choices --------------------------------------------------------------------------- */

static uint64_t random_state;
static uint64_t next_random(void) {
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static uint64_t below(uint64_t n) { return n ? next_random() % n : 0; }

/* ---- Writing a bit of everything -------------------------------------------------------------- */

static char text_buffer[4096];
static realm_value_t random_value(realm_property_type_e type, bool nullable) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_NULL;
    if (nullable && below(4) == 0) return v;
    static const int64_t integers[] = {0, 1, -1, 15, 16, 127, 128, -129, 32768, INT32_MAX, INT64_MAX, INT64_MIN};
    switch (type) {
        case RLM_PROPERTY_TYPE_INT: v.type = RLM_TYPE_INT; v.integer = below(2) ? integers[below(12)] : (int64_t)below(1000); break;
        case RLM_PROPERTY_TYPE_BOOL: v.type = RLM_TYPE_BOOL; v.boolean = below(2); break;
        case RLM_PROPERTY_TYPE_STRING:
        case RLM_PROPERTY_TYPE_BINARY: {
            static const size_t sizes[] = {0, 1, 7, 8, 15, 16, 31, 63, 64, 65, 1000, 4096};
            v.type = type == RLM_PROPERTY_TYPE_STRING ? RLM_TYPE_STRING : RLM_TYPE_BINARY;
            v.string.size = sizes[below(12)];
            for (size_t i = 0; i < v.string.size; i++) text_buffer[i] = (char)('a' + below(26));
            v.string.data = text_buffer;
            break;
        }
        case RLM_PROPERTY_TYPE_TIMESTAMP: v.type = RLM_TYPE_TIMESTAMP; v.timestamp.seconds = (int64_t)below(2000000000); v.timestamp.nanoseconds = (int32_t)below(1000000000); break;
        case RLM_PROPERTY_TYPE_FLOAT: v.type = RLM_TYPE_FLOAT; v.fnum = (float)below(1000) / 8; break;
        case RLM_PROPERTY_TYPE_DOUBLE: v.type = RLM_TYPE_DOUBLE; v.dnum = (double)below(1000) / 8; break;
        case RLM_PROPERTY_TYPE_DECIMAL128: v.type = RLM_TYPE_DECIMAL128; v.decimal128.w[0] = below(100000); v.decimal128.w[1] = 0x3040000000000000u; break;
        case RLM_PROPERTY_TYPE_OBJECT_ID: v.type = RLM_TYPE_OBJECT_ID; for (int i = 0; i < 12; i++) v.object_id.bytes[i] = (uint8_t)below(4); break;
        case RLM_PROPERTY_TYPE_UUID: v.type = RLM_TYPE_UUID; for (int i = 0; i < 16; i++) v.uuid.bytes[i] = (uint8_t)below(4); break;
        case RLM_PROPERTY_TYPE_MIXED: {
            static const realm_property_type_e types[] = {RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_TYPE_BOOL, RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_TYPE_BINARY, RLM_PROPERTY_TYPE_TIMESTAMP, RLM_PROPERTY_TYPE_FLOAT, RLM_PROPERTY_TYPE_DOUBLE, RLM_PROPERTY_TYPE_DECIMAL128, RLM_PROPERTY_TYPE_OBJECT_ID, RLM_PROPERTY_TYPE_UUID};
            return random_value(types[below(10)], false);
        }
        default: break;
    }
    return v;
}
static realm_object_t* pick(struct class_data* c) {
    realm_results_t* results = GET(realm_object_find_all, realm, c->info.key);
    if (!results) return NULL;
    size_t count = 0;
    realm_object_t* object = NULL;
    if (OK(realm_results_count, results, &count) && count) object = GET(realm_results_get_object, results, below(count));
    L.realm_release(results);
    return object;
}
static struct class_data* class_named(const char* name) {
    for (size_t i = 0; i < class_count; i++) if (!strcmp(classes[i].info.name, name)) return &classes[i];
    return NULL;
}
/* The values that a property or its elements may have. */
struct elements {
    realm_property_type_e type;
    bool nullable;
    struct class_data* target; /* of links */
};
static struct elements elements_of(const realm_property_info_t* p) {
    struct elements e = {p->type, p->flags & RLM_PROPERTY_NULLABLE, NULL};
    if (p->type == RLM_PROPERTY_TYPE_OBJECT) e.target = class_named(p->link_target);
    return e;
}
/* A random value, mostly one that the property accepts. */
static realm_value_t value_for(struct elements e) {
    const char* call = progress->call; /* what the value is for */
    realm_value_t v = random_value(below(24) ? e.type : RLM_PROPERTY_TYPE_MIXED, e.nullable || below(24) == 0);
    if (e.type == RLM_PROPERTY_TYPE_MIXED) {
        if (class_count && below(4) == 0) e.target = &classes[below(class_count)];
        else if (below(5) == 0) v.type = below(2) ? RLM_TYPE_LIST : RLM_TYPE_DICTIONARY;
    }
    if (e.target && below(5)) {
        realm_object_t* other = pick(e.target);
        if (other) {
            v.type = RLM_TYPE_LINK;
            v.link = DO(realm_object_as_link, other);
            if (below(32) == 0) v.link.target += (int64_t)below(3) - 1;
            L.realm_release(other);
        }
    }
    progress->call = call;
    return v;
}
static realm_value_t key_value(void) {
    static const char* const odd[] = {"", "$a", "a.b", "\xc3\xa4", "\xe6\x97\xa5\xe6\x9c\xac"};
    static char buffer[200];
    realm_value_t key;
    memset(&key, 0, sizeof key);
    if (below(40) == 0) return key;
    key.type = RLM_TYPE_STRING;
    key.string.data = buffer;
    uint64_t form = below(12);
    if (form == 0) { key.string.data = odd[below(5)]; key.string.size = strlen(key.string.data); }
    else if (form == 1) { memset(buffer, 'k', sizeof buffer); key.string.size = below(sizeof buffer); }
    else key.string.size = (size_t)snprintf(buffer, sizeof buffer, "k%" PRIu64, below(20));
    return key;
}
/* A random index, mostly below `count`. */
static size_t index_below(size_t count) {
    static const size_t odd[] = {SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 2 + 1, 1u << 31};
    uint64_t form = below(40);
    if (form == 0) return odd[below(4)];
    if (form < 4) return count + below(3);
    return below(count);
}
static void read_results(realm_results_t* results) {
    size_t count = 0;
    realm_value_t v;
    bool valid;
    if (!results) return;
    OK(realm_results_is_valid, results, &valid);
    if (OK(realm_results_count, results, &count)) {
        for (int i = 0; i < 3 && count; i++) {
            size_t at = index_below(count);
            if (OK(realm_results_get, results, at, &v)) look(v);
            L.realm_release(GET(realm_results_get_object, results, at));
        }
    }
    L.realm_release(results);
}

#define MAX_NESTED 6
static void set_something(struct class_data* c, realm_object_t* object);
static void change_dictionary(realm_dictionary_t* d, struct elements e, int depth);
/* A new object of the class that a collection's links lead to. */
static void fill_new(realm_object_t* object, struct elements e, int depth) {
    if (object && e.target && depth < MAX_NESTED) for (int i = 0; i < 2; i++) set_something(e.target, object);
    L.realm_release(object);
}
static void change_list(realm_list_t* l, struct elements e, int depth);
static void enter_list(realm_list_t* l, int depth) {
    struct elements e = {RLM_PROPERTY_TYPE_MIXED, true, NULL};
    if (l && depth < MAX_NESTED) change_list(l, e, depth + 1);
    L.realm_release(l);
}
static void enter_dictionary(realm_dictionary_t* d, int depth) {
    struct elements e = {RLM_PROPERTY_TYPE_MIXED, true, NULL};
    if (d && depth < MAX_NESTED) change_dictionary(d, e, depth + 1);
    L.realm_release(d);
}
static void change_list(realm_list_t* l, struct elements e, int depth) {
    for (uint64_t n = 1 + below(depth ? 4 : 8); n; n--) {
        size_t size = 0, at;
        realm_value_t v;
        if (!OK(realm_list_size, l, &size)) return;
        if (size > 100000) { OK(realm_list_erase, l, below(size)); continue; }
        switch (below(24)) {
            case 0: case 1: case 2: OK(realm_list_insert, l, size, value_for(e)); break;
            case 3: case 4: OK(realm_list_insert, l, index_below(size + 1), value_for(e)); break;
            case 5: for (int i = 0; i < 30; i++) OK(realm_list_insert, l, size + (size_t)i, value_for(e)); break;
            case 6: case 7: OK(realm_list_set, l, index_below(size), value_for(e)); break;
            case 8: case 9: OK(realm_list_move, l, index_below(size), index_below(size)); break;
            case 10: case 11: OK(realm_list_erase, l, index_below(size)); break;
            case 12: if (below(4) == 0) OK(realm_list_clear, l); break;
            case 13: if (below(6) == 0) OK(realm_list_remove_all, l); break;
            case 14: enter_list(GET(realm_list_insert_list, l, index_below(size + 1)), depth); break;
            case 15: enter_dictionary(GET(realm_list_insert_dictionary, l, index_below(size + 1)), depth); break;
            case 16: enter_list(GET(realm_list_set_list, l, index_below(size)), depth); break;
            case 17: enter_dictionary(GET(realm_list_set_dictionary, l, index_below(size)), depth); break;
            case 18: fill_new(GET(realm_list_insert_embedded, l, index_below(size + 1)), e, depth); break;
            case 19: fill_new(GET(realm_list_set_embedded, l, index_below(size)), e, depth); break;
            case 20: /* a view of the list itself */
                if (!OK(realm_list_get, l, index_below(size), &v)) break;
                if (below(2)) OK(realm_list_insert, l, index_below(size + 1), v);
                else OK(realm_list_set, l, index_below(size), v);
                break;
            case 21:
                at = index_below(size);
                if (!OK(realm_list_get, l, at, &v)) break;
                if (v.type == RLM_TYPE_LIST) enter_list(GET(realm_list_get_list, l, at), depth);
                else if (v.type == RLM_TYPE_DICTIONARY) enter_dictionary(GET(realm_list_get_dictionary, l, at), depth);
                else if (v.type == RLM_TYPE_LINK) {
                    realm_object_t* target = MAYBE(realm_list_get_linked_object, l, at);
                    if (target && below(2)) OK(realm_object_delete, target);
                    L.realm_release(target);
                }
                break;
            case 22: read_results(GET(realm_list_to_results, l)); break;
            default: {
                realm_list_t* same = NULL;
                if (OK(realm_list_resolve_in, l, realm, &same) && same) OK(realm_list_size, same, &at);
                L.realm_release(same);
            }
        }
    }
}
static void change_set(realm_set_t* set, struct elements e) {
    for (uint64_t n = 1 + below(8); n; n--) {
        size_t size = 0, at;
        bool flag;
        realm_value_t v;
        if (!OK(realm_set_size, set, &size)) return;
        switch (below(14)) {
            case 0: case 1: case 2: case 3: case 4: OK(realm_set_insert, set, value_for(e), &at, &flag); break;
            case 5: for (int i = 0; i < 30; i++) OK(realm_set_insert, set, value_for(e), NULL, NULL); break;
            case 6: OK(realm_set_erase, set, value_for(e), &flag); break;
            case 7: case 8: if (OK(realm_set_get, set, index_below(size), &v)) OK(realm_set_erase, set, v, &flag); break;
            case 9: if (OK(realm_set_get, set, index_below(size), &v)) OK(realm_set_insert, set, v, &at, &flag); break;
            case 10: if (below(4) == 0) OK(realm_set_clear, set); break;
            case 11: if (below(6) == 0) OK(realm_set_remove_all, set); break;
            case 12: read_results(GET(realm_set_to_results, set)); break;
            default: {
                realm_set_t* same = NULL;
                if (OK(realm_set_resolve_in, set, realm, &same) && same) OK(realm_set_size, same, &at);
                L.realm_release(same);
            }
        }
    }
}
static void change_dictionary(realm_dictionary_t* d, struct elements e, int depth) {
    for (uint64_t n = 1 + below(depth ? 4 : 8); n; n--) {
        size_t size = 0, at;
        bool flag;
        realm_value_t key, v;
        if (!OK(realm_dictionary_size, d, &size)) return;
        switch (below(18)) {
            case 0: case 1: case 2: case 3: OK(realm_dictionary_insert, d, key_value(), value_for(e), &at, &flag); break;
            case 4: for (int i = 0; i < 30; i++) OK(realm_dictionary_insert, d, key_value(), value_for(e), NULL, NULL); break;
            case 5: case 6: OK(realm_dictionary_erase, d, key_value(), &flag); break;
            case 7: if (OK(realm_dictionary_get, d, index_below(size), &key, NULL)) OK(realm_dictionary_erase, d, key, &flag); break;
            case 8: if (below(4) == 0) OK(realm_dictionary_clear, d); break;
            case 9: enter_list(GET(realm_dictionary_insert_list, d, key_value()), depth); break;
            case 10: enter_dictionary(GET(realm_dictionary_insert_dictionary, d, key_value()), depth); break;
            case 11: fill_new(GET(realm_dictionary_insert_embedded, d, key_value()), e, depth); break;
            case 12: /* views of the dictionary itself */
                if (!OK(realm_dictionary_get, d, index_below(size), &key, &v)) break;
                if (below(2)) OK(realm_dictionary_insert, d, key, v, &at, &flag);
                else if (v.type == RLM_TYPE_STRING) OK(realm_dictionary_insert, d, v, key, &at, &flag);
                else OK(realm_dictionary_insert, d, key_value(), v, &at, &flag);
                break;
            case 13: case 14:
                if (!OK(realm_dictionary_get, d, index_below(size), &key, &v)) break;
                if (v.type == RLM_TYPE_LIST) enter_list(GET(realm_dictionary_get_list, d, key), depth);
                else if (v.type == RLM_TYPE_DICTIONARY) enter_dictionary(GET(realm_dictionary_get_dictionary, d, key), depth);
                else if (v.type == RLM_TYPE_LINK) {
                    realm_object_t* target = MAYBE(realm_dictionary_get_linked_object, d, key);
                    if (target && below(2)) OK(realm_object_delete, target);
                    L.realm_release(target);
                }
                break;
            case 15: read_results(GET(realm_dictionary_to_results, d)); break;
            case 16: {
                realm_results_t* keys = NULL;
                if (OK(realm_dictionary_get_keys, d, &at, &keys)) read_results(keys);
                break;
            }
            default: {
                realm_dictionary_t* same = NULL;
                if (OK(realm_dictionary_resolve_in, d, realm, &same) && same) OK(realm_dictionary_size, same, &at);
                L.realm_release(same);
            }
        }
    }
}
static const char* random_json(void) {
    static char text[3000];
    size_t used = 0;
    int open[40], depth = 0;
    bool comma = false;
    for (uint64_t n = below(60); n && used < sizeof text - 400; n--) {
        if (comma) text[used++] = ',';
        comma = true;
        if (depth && open[depth - 1]) used += (size_t)sprintf(text + used, "\"k%d\":", (int)below(9));
        switch (below(9)) {
            case 0: case 1: if (depth < 40) { open[depth] = 0; depth++; text[used++] = '['; comma = false; } else text[used++] = '1'; break;
            case 2: case 3: if (depth < 40) { open[depth] = 1; depth++; text[used++] = '{'; comma = false; } else text[used++] = '2'; break;
            case 4: used += (size_t)sprintf(text + used, "%d", (int)below(100000)); break;
            case 5: used += (size_t)sprintf(text + used, "\"text\\u00e4%d\"", (int)below(100)); break;
            case 6: used += (size_t)sprintf(text + used, "-1.5e%d", (int)below(320)); break;
            case 7: used += (size_t)sprintf(text + used, "null"); break;
            default: used += (size_t)sprintf(text + used, "true"); break;
        }
        if (depth == 0) break;
        while (depth > 1 && !comma && below(2)) { text[used++] = open[--depth] ? '}' : ']'; comma = true; }
    }
    while (depth) text[used++] = open[--depth] ? '}' : ']';
    if (below(10) == 0) text[below(used + 1)] = (char)(1 + below(255));
    text[used] = 0;
    return text;
}
static void set_something(struct class_data* c, realm_object_t* object) {
    if (!c->property_count) return;
    realm_property_info_t* p = &c->properties[below(c->property_count)];
    static int nesting;
    if (p->flags & RLM_PROPERTY_PRIMARY_KEY && below(8)) return;
    if (nesting > MAX_NESTED) return;
    nesting++;
    struct elements e = elements_of(p);
    bool mixed = p->type == RLM_PROPERTY_TYPE_MIXED && p->collection_type == RLM_COLLECTION_TYPE_NONE;
    uint64_t what = below(16);
    if (p->collection_type == RLM_COLLECTION_TYPE_LIST || (mixed && what == 10)) {
        realm_list_t* l = GET(realm_get_list, object, p->key);
        if (l) change_list(l, e, 0);
        L.realm_release(l);
    } else if (p->collection_type == RLM_COLLECTION_TYPE_SET) {
        realm_set_t* set = GET(realm_get_set, object, p->key);
        if (set) change_set(set, e);
        L.realm_release(set);
    } else if (p->collection_type == RLM_COLLECTION_TYPE_DICTIONARY || (mixed && what == 11)) {
        realm_dictionary_t* d = GET(realm_get_dictionary, object, p->key);
        if (d) change_dictionary(d, e, 0);
        L.realm_release(d);
    } else if (mixed && (what == 0 || what == 1)) {
        enter_list(GET(realm_set_list, object, p->key), 0);
    } else if (mixed && (what == 2 || what == 3)) {
        enter_dictionary(GET(realm_set_dictionary, object, p->key), 0);
    } else if (what == 4 && (mixed || below(8) == 0)) {
        OK(realm_set_json, object, p->key, random_json());
    } else if (what < 8 && p->type == RLM_PROPERTY_TYPE_OBJECT) {
        fill_new(GET(realm_set_embedded, object, p->key), e, 0);
    } else if (what == 8 && p->type == RLM_PROPERTY_TYPE_OBJECT) {
        realm_object_t* target = MAYBE(realm_get_linked_object, object, p->key);
        if (target) OK(realm_object_delete, target);
        L.realm_release(target);
    } else if (what == 9) {
        OK(realm_object_add_int, object, p->key, (int64_t)below(100));
    } else {
        OK(realm_set_value, object, p->key, value_for(e), false);
    }
    nesting--;
}
static void change_something(void) {
    if (!class_count) return;
    struct class_data* c = &classes[below(class_count)];
    unsigned what = (unsigned)below(16);
    if (what < 5) {
        realm_object_t* object;
        if (c->primary) {
            bool created;
            realm_value_t key = random_value(c->primary->type, c->primary->flags & RLM_PROPERTY_NULLABLE);
            if (below(2)) object = GET(realm_object_create_with_primary_key, realm, c->info.key, key);
            else object = GET(realm_object_get_or_create_with_primary_key, realm, c->info.key, key, &created);
        } else {
            object = GET(realm_object_create, realm, c->info.key);
        }
        if (object) for (int i = 0; i < 4; i++) set_something(c, object);
        L.realm_release(object);
    } else {
        realm_object_t* object = pick(c);
        if (!object) return;
        if (what < 7) {
            OK(realm_object_delete, object);
        } else if (what == 7) {
            char* text = GET(realm_object_to_string, object);
            if (text) touch(text, strlen(text));
            L.realm_free(text);
            realm_object_t* same = NULL;
            if (OK(realm_object_resolve_in, object, realm, &same)) L.realm_release(same);
        } else {
            for (int i = 0; i < 5; i++) set_something(c, object);
        }
        L.realm_release(object);
    }
}
static void write_things(void) {
    for (int round = 0; round < 3; round++) {
        if (!OK(realm_begin_write, realm)) return;
        for (int i = 0; i < 24; i++) change_something();
        if (round == 1) OK(realm_rollback, realm);
        else if (!OK(realm_commit, realm)) OK(realm_rollback, realm);
        bool moved;
        OK(realm_refresh, realm, &moved);
    }
}

/* ---- Other schemas ------------------------------------------------------------------------------ */

/* A property that the new schema has under another name. */
static struct { char type[100], old_name[100], new_name[100]; } renamed;
static char dropped[100];

/* The current schema with a few changes. */
static realm_schema_t* derive_schema(void) {
    static const realm_property_type_e types[] = {RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_TYPE_BOOL, RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_TYPE_BINARY, RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_TYPE_TIMESTAMP, RLM_PROPERTY_TYPE_FLOAT, RLM_PROPERTY_TYPE_DOUBLE, RLM_PROPERTY_TYPE_DECIMAL128, RLM_PROPERTY_TYPE_OBJECT, RLM_PROPERTY_TYPE_OBJECT_ID, RLM_PROPERTY_TYPE_UUID};
    static const realm_collection_type_e shapes[] = {RLM_COLLECTION_TYPE_NONE, RLM_COLLECTION_TYPE_LIST, RLM_COLLECTION_TYPE_SET, RLM_COLLECTION_TYPE_DICTIONARY};
    static const char* const names[] = {"fuzz0", "fuzz1", "fuzz2", "fuzz3"};
    if (!class_count) return NULL;
    renamed.type[0] = dropped[0] = 0;
    realm_class_info_t* infos = calloc(class_count + 2, sizeof *infos);
    realm_property_info_t** lists = calloc(class_count + 2, sizeof *lists);
    size_t count = 0;
    for (size_t i = 0; i < class_count; i++) {
        struct class_data* c = &classes[i];
        if (c->property_count != c->info.num_properties + c->info.num_computed_properties) continue;
        infos[count] = c->info;
        lists[count] = calloc(c->property_count + 8, sizeof **lists);
        if (c->property_count) memcpy(lists[count], c->properties, c->property_count * sizeof **lists);
        count++;
    }
    if (!count) { free(infos); free(lists); return NULL; }
    for (uint64_t n = 1 + below(4); n; n--) {
        size_t i = below(count);
        realm_class_info_t* c = &infos[i];
        realm_property_info_t* properties = lists[i];
        size_t j = below(c->num_properties);
        realm_property_info_t* p = c->num_properties ? &properties[j] : NULL;
        switch (below(14)) {
            case 0: case 1: case 2: /* one more */
                if (c->num_properties + c->num_computed_properties > classes[i].property_count + 6) break;
                memmove(properties + c->num_properties + 1, properties + c->num_properties, c->num_computed_properties * sizeof *properties);
                p = &properties[c->num_properties++];
                memset(p, 0, sizeof *p);
                p->name = names[below(4)];
                p->public_name = p->link_origin_property_name = p->link_target = "";
                p->type = types[below(12)];
                p->collection_type = shapes[below(4)];
                p->flags = below(2) ? RLM_PROPERTY_NULLABLE : 0;
                if (p->type == RLM_PROPERTY_TYPE_OBJECT) {
                    p->link_target = infos[below(count)].name;
                    p->flags = p->collection_type & (RLM_COLLECTION_TYPE_LIST | RLM_COLLECTION_TYPE_SET) ? 0 : RLM_PROPERTY_NULLABLE;
                } else if (p->type == RLM_PROPERTY_TYPE_MIXED) {
                    p->flags = RLM_PROPERTY_NULLABLE;
                }
                break;
            case 3: case 4: /* one less */
                if (!p || (p->flags & RLM_PROPERTY_PRIMARY_KEY && below(4))) break;
                if (p->flags & RLM_PROPERTY_PRIMARY_KEY) c->primary_key = "";
                memmove(p, p + 1, (c->num_properties + c->num_computed_properties - j - 1) * sizeof *p);
                c->num_properties--;
                break;
            case 5: case 6: if (p) p->flags ^= RLM_PROPERTY_INDEXED; break;
            case 7: if (p && p->type == RLM_PROPERTY_TYPE_STRING) p->flags ^= RLM_PROPERTY_FULLTEXT_INDEXED; break;
            case 8: if (p) p->flags ^= RLM_PROPERTY_NULLABLE; break;
            case 9: /* another name */
                if (!p || p->flags & RLM_PROPERTY_PRIMARY_KEY) break;
                snprintf(renamed.type, sizeof renamed.type, "%s", c->name);
                snprintf(renamed.old_name, sizeof renamed.old_name, "%s", p->name);
                p->name = names[below(4)];
                snprintf(renamed.new_name, sizeof renamed.new_name, "%s", p->name);
                break;
            case 10: /* another type */
                if (!p || p->type == RLM_PROPERTY_TYPE_OBJECT) break;
                if (below(2)) p->type = types[below(9)];
                else p->collection_type = shapes[below(4)];
                break;
            case 11: c->flags = c->flags == RLM_CLASS_EMBEDDED ? RLM_CLASS_NORMAL : RLM_CLASS_EMBEDDED; break;
            case 12: /* another primary key */
                for (size_t k = 0; k < c->num_properties; k++) properties[k].flags &= ~RLM_PROPERTY_PRIMARY_KEY;
                c->primary_key = "";
                if (p && below(3)) { p->flags |= RLM_PROPERTY_PRIMARY_KEY; c->primary_key = p->name; }
                break;
            default: /* one class less */
                if (count < 2) break;
                snprintf(dropped, sizeof dropped, "%s", c->name);
                free(lists[i]);
                memmove(infos + i, infos + i + 1, (count - i - 1) * sizeof *infos);
                memmove(lists + i, lists + i + 1, (count - i - 1) * sizeof *lists);
                count--;
        }
        if (i >= class_count) break;
    }
    realm_schema_t* schema = GET(realm_schema_new, infos, count, (const realm_property_info_t**)lists);
    for (size_t i = 0; i < count; i++) free(lists[i]);
    free(lists);
    free(infos);
    return schema;
}
/* Reads the realm that a callback received, and changes it. */
static void within(realm_t* given, bool writing) {
    realm_t* outer = realm;
    struct class_data* outer_classes = classes;
    size_t outer_count = class_count;
    uint64_t limit = value_limit, visited = progress->visited;
    realm = given;
    read_schema();
    value_limit = 2000;
    read_everything();
    if (writing) for (int i = 0; i < 10; i++) change_something();
    value_limit = limit;
    progress->visited = visited;
    free_schema();
    realm = outer;
    classes = outer_classes;
    class_count = outer_count;
}
static bool migrate(realm_userdata_t userdata, realm_t* old_realm, realm_t* new_realm, const realm_schema_t* schema) {
    (void)userdata;
    const char* call = progress->call;
    bool did;
    schema_is_ahead = is_manual;
    if (renamed.type[0] && below(4)) OK(realm_schema_rename_property, new_realm, (realm_schema_t*)schema, renamed.type, renamed.old_name, renamed.new_name);
    if (dropped[0] && below(2)) OK(realm_remove_table, new_realm, dropped, &did);
    within(new_realm, true);
    schema_is_ahead = false;
    within(old_realm, below(8) == 0);
    progress->call = call;
    return below(12);
}
static bool initialize(realm_userdata_t userdata, realm_t* given) {
    (void)userdata;
    const char* call = progress->call;
    within(given, true);
    progress->call = call;
    return true;
}
static void schema_changed(realm_userdata_t userdata, const realm_schema_t* schema) {
    (void)userdata;
    OK(realm_schema_validate, schema, 0);
}
/* Brings the open realm to another schema. */
static void update_schema(void) {
    realm_schema_t* schema = derive_schema();
    if (!schema) return;
    realm_callback_token_t* token = GET(realm_add_schema_changed_callback, realm, schema_changed, NULL, NULL);
    uint64_t version = DO(realm_get_schema_version, realm);
    OK(realm_update_schema_advanced, realm, schema, version + below(3), below(4) ? migrate : NULL, NULL, below(2) ? initialize : NULL, NULL, false);
    free_schema();
    read_schema();
    L.realm_release(token);
    L.realm_release(schema);
}

/* ---- One round in the child ------------------------------------------------------------------- */

static uint8_t* file_key;

static bool open_with(const char* path, realm_schema_mode_e mode, realm_schema_t* schema, uint64_t version) {
    realm_config_t* config = L.realm_config_new();
    L.realm_config_set_path(config, path);
    if (file_key) L.realm_config_set_encryption_key(config, file_key, 64);
    L.realm_config_set_schema_mode(config, mode);
    is_manual = mode == RLM_SCHEMA_MODE_MANUAL;
    L.realm_config_set_automatic_change_notifications(config, false);
    if (schema) {
        L.realm_config_set_schema(config, schema);
        L.realm_config_set_schema_version(config, version);
        bool migrates = mode == RLM_SCHEMA_MODE_AUTOMATIC || mode == RLM_SCHEMA_MODE_MANUAL;
        if (migrates && below(8)) L.realm_config_set_migration_function(config, migrate, NULL, NULL);
        if (below(2)) L.realm_config_set_data_initialization_function(config, initialize, NULL, NULL);
        L.realm_config_set_automatic_backlink_handling(config, below(2));
    }
    DO(realm_config_needs_file_format_upgrade, config);
    L.realm_clear_last_error();
    realm = GET(realm_open, config);
    L.realm_release(config);
    if (realm) read_schema();
    return realm != NULL;
}
static bool open_file(const char* path, realm_schema_mode_e mode) { return open_with(path, mode, NULL, 0); }
static void close_file(void) {
    free_schema();
    OK(realm_close, realm);
    L.realm_release(realm);
    realm = NULL;
}
static void write_file(const char* path, const uint8_t* bytes, size_t size) {
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    for (size_t done = 0; fd >= 0 && done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        if (n <= 0) { perror(path); _exit(8); }
        done += (size_t)n;
    }
    if (fd < 0) { perror(path); _exit(8); }
    close(fd);
}
static void run_round(const char* folder, const uint8_t* bytes, size_t size) {
    char path[600];
    snprintf(path, sizeof path, "%s/a.realm", folder);
    write_file(path, bytes, size);
    progress->stage = "immutable";
    if (open_file(path, RLM_SCHEMA_MODE_IMMUTABLE)) {
        read_everything();
        progress->sound = verify();
        OK(realm_begin_write, realm);
        close_file();
    }
    snprintf(path, sizeof path, "%s/b.realm", folder);
    write_file(path, bytes, size);
    uint64_t limit = value_limit;
    value_limit /= 8;
    progress->stage = "writing";
    bool committed = false;
    if (open_file(path, RLM_SCHEMA_MODE_AUTOMATIC)) {
        committed = true;
        write_things();
        progress->stage = "reading after writing";
        read_everything();
        if (progress->sound && !verify()) problem("sound before the writes, not after them");
        static const realm_schema_mode_e modes[] = {RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED, RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT, RLM_SCHEMA_MODE_MANUAL};
        for (int i = 0; i < 2; i++) {
            progress->stage = "migration";
            realm_schema_t* schema = derive_schema();
            uint64_t version = DO(realm_get_schema_version, realm);
            close_file();
            bool opened = schema && open_with(path, below(5) ? RLM_SCHEMA_MODE_AUTOMATIC : modes[below(3)], schema, version + 1 - (below(4) == 0));
            L.realm_release(schema);
            if (opened) {
                progress->stage = "after a migration";
                if (OK(realm_begin_write, realm)) {
                    for (int k = 0; k < 8; k++) change_something();
                    if (!OK(realm_commit, realm)) OK(realm_rollback, realm);
                }
                if (below(2)) update_schema();
                if (progress->sound && !verify()) problem("sound before a migration, not after it");
                break;
            }
            if (!open_file(path, RLM_SCHEMA_MODE_AUTOMATIC)) break;
            progress->stage = "schema update";
            if (below(2)) update_schema();
        }
        if (realm) close_file();
    }
    progress->stage = "reopened";
    if (open_file(path, RLM_SCHEMA_MODE_AUTOMATIC)) {
        read_everything();
        if (!verify() && progress->sound) problem("sound before the writes, not after them");
        close_file();
    } else if (committed && progress->sound) {
        problem("a sound file does not open again");
    }
    value_limit = limit;
    progress->stage = "done";
}

/* ---- Fixtures --------------------------------------------------------------------------------- */

struct fixture {
    char name[128];
    uint8_t *bytes, *key;
    size_t size;
    uint32_t *nodes, *live; /* offsets that look like a node, and those of nodes reachable from the top */
    uint32_t* parents;      /* index in `live` of the parent of each reachable node */
    size_t node_count, live_count;
};
static unsigned large_percent = 1;
static struct fixture* fixtures;
static size_t fixture_count;

static uint64_t word_at(const uint8_t* p) { uint64_t v; memcpy(&v, p, 8); return v; }

static unsigned width_of(const uint8_t* node) { return (1u << (node[4] & 7)) >> 1; }
static size_t count_of(const uint8_t* node) { return (size_t)node[5] << 16 | (size_t)node[6] << 8 | node[7]; }
static int64_t element(const uint8_t* node, size_t i) {
    const uint8_t* p = node + 8;
    switch (width_of(node)) {
        case 1: return p[i / 8] >> (i % 8) & 1;
        case 2: return p[i / 4] >> (i % 4 * 2) & 3;
        case 4: return p[i / 2] >> (i % 2 * 4) & 15;
        case 8: return (int8_t)p[i];
        case 16: { int16_t v; memcpy(&v, p + i * 2, 2); return v; }
        case 32: { int32_t v; memcpy(&v, p + i * 4, 4); return v; }
        case 64: { int64_t v; memcpy(&v, p + i * 8, 8); return v; }
        default: return 0;
    }
}
static void set_element(uint8_t* node, size_t i, int64_t v) {
    uint8_t* p = node + 8;
    switch (width_of(node)) {
        case 8: p[i] = (uint8_t)v; break;
        case 16: { int16_t x = (int16_t)v; memcpy(p + i * 2, &x, 2); break; }
        case 32: { int32_t x = (int32_t)v; memcpy(p + i * 4, &x, 4); break; }
        case 64: memcpy(p + i * 8, &v, 8); break;
        default: break;
    }
}
/* Whether a complete node of integer elements is at an offset. */
static bool node_fits(const uint8_t* bytes, size_t size, size_t at) {
    if (at % 8 || size < 8 || at > size - 8) return false;
    const uint8_t* node = bytes + at;
    return at + 8 + (count_of(node) * width_of(node) + 7) / 8 <= size;
}
static size_t top_of(const uint8_t* bytes, size_t size) {
    if (size < 24) return 0;
    unsigned slot = bytes[23] & 1;
    uint64_t top = word_at(bytes + slot * 8);
    if (slot == 0 && top == UINT64_MAX && size >= 40) top = word_at(bytes + size - 16);
    return top < size ? (size_t)top : 0;
}
static void walk(struct fixture* f, size_t at, uint32_t parent, uint8_t* seen) {
    if (!node_fits(f->bytes, f->size, at) || seen[at / 8]) return;
    seen[at / 8] = 1;
    uint32_t number = (uint32_t)f->live_count;
    f->parents[number] = parent;
    f->live[f->live_count++] = (uint32_t)at;
    const uint8_t* node = f->bytes + at;
    if (!(node[4] & 0x40) || node[4] & 0x18) return;
    for (size_t i = 0; i < count_of(node); i++) {
        int64_t v = element(node, i);
        if (v > 0 && v % 8 == 0 && (uint64_t)v < f->size) walk(f, (size_t)v, number, seen);
    }
}
static uint8_t* slurp(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long n = ftell(file);
    rewind(file);
    uint8_t* bytes = malloc((size_t)n + 1);
    if (!bytes || fread(bytes, 1, (size_t)n, file) != (size_t)n) { perror(path); exit(2); }
    fclose(file);
    *size = (size_t)n;
    return bytes;
}
static void add_fixture(const char* path, const char* name) {
    const char* only = getenv("MUTATE_ONLY");
    struct stat info;
    if (only && !strstr(name, only)) return;
    if (large_percent == 0 && !stat(path, &info) && info.st_size > 1 << 20) return;
    fixtures = realloc(fixtures, (fixture_count + 1) * sizeof *fixtures);
    struct fixture* f = &fixtures[fixture_count++];
    memset(f, 0, sizeof *f);
    snprintf(f->name, sizeof f->name, "%.120s", name);
    f->bytes = slurp(path, &f->size);
    if (!f->bytes) { perror(path); exit(2); }
    char key_path[1024];
    size_t key_size;
    snprintf(key_path, sizeof key_path, "%.*s.key", (int)(strlen(path) - 6), path);
    f->key = slurp(key_path, &key_size);
    if (f->key && key_size != 64) { free(f->key); f->key = NULL; }
    f->nodes = malloc((f->size / 8 + 1) * sizeof *f->nodes);
    f->live = malloc((f->size / 8 + 1) * sizeof *f->live);
    f->parents = malloc((f->size / 8 + 1) * sizeof *f->parents);
    for (size_t at = 24; at + 8 <= f->size; at += 8) if (!memcmp(f->bytes + at, "AAAA", 4)) f->nodes[f->node_count++] = (uint32_t)at;
    uint8_t* seen = calloc(f->size / 8 + 1, 1);
    if (!f->key) walk(f, top_of(f->bytes, f->size), 0, seen);
    free(seen);
}
static int by_name(const void* a, const void* b) { return strcmp(((const struct fixture*)a)->name, ((const struct fixture*)b)->name); }
static void find_fixtures(const char* folder) {
    DIR* directory = opendir(folder);
    if (!directory) { perror(folder); exit(2); }
    for (struct dirent* entry; (entry = readdir(directory));) {
        char path[1024];
        snprintf(path, sizeof path, "%.600s/%.255s", folder, entry->d_name);
        struct stat info;
        if (entry->d_name[0] == '.' || stat(path, &info)) continue;
        size_t length = strlen(entry->d_name);
        if (S_ISDIR(info.st_mode)) find_fixtures(path);
        else if (length > 6 && !strcmp(entry->d_name + length - 6, ".realm")) add_fixture(path, entry->d_name);
    }
    closedir(directory);
}

/* ---- Damage ----------------------------------------------------------------------------------- */

struct copy {
    uint8_t* bytes;
    size_t size, room;
    const struct fixture* fixture;
    char story[600];
};
static void tell(struct copy* c, const char* format, ...) {
    size_t used = strlen(c->story);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->story + used, sizeof c->story - used, format, arguments);
    va_end(arguments);
}
static const uint8_t byte_values[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe, 0x40, 0x41, 0x08};
static uint64_t word_value(const struct copy* c) {
    switch (below(12)) {
        case 0: return 0;
        case 1: return 1;
        case 2: return UINT64_MAX;
        case 3: return INT64_MAX;
        case 4: return (uint64_t)INT64_MIN;
        case 5: return c->size;
        case 6: return c->size - 8;
        case 7: return (uint64_t)c->size * 2 + 1;
        case 8: return UINT32_MAX;
        case 9: return 1ull << below(64);
        case 10: return c->fixture->node_count ? c->fixture->nodes[below(c->fixture->node_count)] : 24;
        default: return next_random();
    }
}
static size_t some_node(const struct copy* c) {
    const struct fixture* f = c->fixture;
    size_t at = 24;
    if (f->live_count && below(4)) at = f->live[below(f->live_count)];
    else if (f->node_count) at = f->nodes[below(f->node_count)];
    return c->size >= 8 && at <= c->size - 8 ? at : 0;
}
static size_t some_ref_node(const struct copy* c) {
    for (int tries = 0; tries < 200; tries++) {
        size_t at = some_node(c);
        if (at && node_fits(c->bytes, c->size, at) && c->bytes[at + 4] & 0x40 && count_of(c->bytes + at)) return at;
    }
    return 0;
}
static void damage(struct copy* c) {
    size_t size = c->size, at, from, length;
    uint8_t* b = c->bytes;
    if (size < 40) { if (size) b[below(size)] = (uint8_t)next_random(); tell(c, " small"); return; }
    switch (below(16)) {
        case 0:
            tell(c, " bits");
            for (uint64_t n = 1 + below(8); n; n--) { uint8_t bit = (uint8_t)(1u << below(8)); at = below(size); b[at] ^= bit; tell(c, " %zx^%x", at, bit); }
            break;
        case 1:
            tell(c, " bytes");
            for (uint64_t n = 1 + below(16); n; n--) { uint8_t v = byte_values[below(sizeof byte_values)]; at = below(size); b[at] = v; tell(c, " %zx=%x", at, v); }
            break;
        case 2: {
            uint64_t v = word_value(c);
            at = below(size / 8) * 8;
            memcpy(b + at, &v, 8);
            tell(c, " word@%zx=%" PRIx64, at, v);
            break;
        }
        case 3: {
            if (below(3)) return;
            static const size_t units[] = {1, 8, 4096};
            size_t unit = units[below(3)];
            c->size = below(size / unit + 1) * unit;
            tell(c, " truncated to %zu", c->size);
            break;
        }
        case 4:
            length = below(3) ? 8 * (1 + below(1024)) : 1 + below(4096);
            if (size + length > c->room) return;
            for (size_t i = 0, fill = below(3); i < length; i++) b[size + i] = fill == 0 ? 0 : fill == 1 ? 0xff : (uint8_t)next_random();
            c->size = size + length;
            tell(c, " extended by %zu", length);
            break;
        case 5:
            length = 8 * (1 + below(below(2) ? 2 : 64));
            if (length > size) return;
            at = below((size - length) / 8 + 1) * 8;
            from = below((size - length) / 8 + 1) * 8;
            memmove(b + at, b + from, length);
            tell(c, " %zx+%zx copied to %zx", from, length, at);
            break;
        case 6: {
            uint8_t block[512];
            length = 8 * (1 + below(64));
            if (length * 2 > size) return;
            at = below((size - length) / 8 + 1) * 8;
            from = below((size - length) / 8 + 1) * 8;
            memcpy(block, b + at, length);
            memmove(b + at, b + from, length);
            memcpy(b + from, block, length);
            tell(c, " %zx+%zx swapped with %zx", from, length, at);
            break;
        }
        case 7:
        case 8: { /* a ref of one node copied into another, or into the same: wrong kinds, shared nodes, cycles */
            size_t to = some_ref_node(c), source = below(4) ? some_ref_node(c) : to;
            if (!to || !source) return;
            size_t i = below(count_of(b + to)), j = below(count_of(b + source));
            int64_t v = below(5) == 0 ? (int64_t)(below(2) ? to : source) : element(b + source, j);
            set_element(b + to, i, v);
            tell(c, " node %zx[%zu]=%" PRIx64, to, i, (uint64_t)v);
            break;
        }
        case 9:
            if (below(4) == 0) { uint8_t slot[8]; memcpy(slot, b, 8); memmove(b, b + 8, 8); memcpy(b + 8, slot, 8); tell(c, " slots swapped"); }
            else if (below(4) == 0) { b[23] ^= 1; tell(c, " other slot"); }
            else if (below(3) == 0) { uint64_t v = word_value(c); memcpy(b + 8 * below(2), &v, 8); tell(c, " top ref"); }
            else { at = below(24); b[at] = byte_values[below(sizeof byte_values)]; tell(c, " header[%zu]", at); }
            break;
        case 10:
            if (below(4)) at = size - 1 - below(16), b[at] = byte_values[below(sizeof byte_values)];
            else { uint64_t v = word_value(c); memcpy(b + (size & ~(size_t)7) - 8 * (1 + below(2)), &v, 8); }
            tell(c, " footer");
            break;
        case 11: {
            size_t top = top_of(b, size);
            if (!top || !node_fits(b, size, top) || !count_of(b + top)) return;
            size_t i = below(count_of(b + top));
            int64_t v = below(2) ? (int64_t)word_value(c) : element(b + top, i) + (int64_t)(below(2) ? 8 : -8);
            set_element(b + top, i, v);
            tell(c, " top[%zu]=%" PRIx64, i, (uint64_t)v);
            break;
        }
        case 12: /* the count or the flags of a node */
            at = some_node(c);
            if (!at) return;
            if (below(2)) { size_t i = 4 + below(4); b[at + i] = below(2) ? byte_values[below(sizeof byte_values)] : (uint8_t)(b[at + i] ^ (1u << below(8))); }
            else { size_t n = count_of(b + at) + (below(2) ? 1 : (size_t)-1); b[at + 5] = (uint8_t)(n >> 16); b[at + 6] = (uint8_t)(n >> 8); b[at + 7] = (uint8_t)n; }
            tell(c, " header of node %zx", at);
            break;
        case 13: { /* refs that lead back to a parent, once or more often */
            if (!c->fixture->live_count) return;
            uint64_t number = below(c->fixture->live_count), up = number;
            at = c->fixture->live[number];
            for (uint64_t n = below(6); n; n--) up = c->fixture->parents[up];
            if (!node_fits(b, size, at) || !(b[at + 4] & 0x40) || b[at + 4] & 0x18) return;
            bool all = below(2);
            for (size_t i = 0; i < count_of(b + at); i++) {
                int64_t v = element(b + at, i);
                if (v <= 0 || v % 8 || !(all || below(3) == 0)) continue;
                set_element(b + at, i, c->fixture->live[up]);
                tell(c, " node %zx[%zu] up to %x", at, i, c->fixture->live[up]);
            }
            break;
        }
        default: { /* one element of a node */
            at = some_node(c);
            if (!at || !node_fits(b, size, at) || !count_of(b + at)) return;
            size_t i = below(count_of(b + at));
            int64_t v = below(3) ? element(b + at, i) + (int64_t)below(5) - 2 : (int64_t)word_value(c);
            if (width_of(b + at) >= 8 && !(b[at + 4] & 0x18)) set_element(b + at, i, v);
            else { size_t payload = (count_of(b + at) * width_of(b + at) + 7) / 8; if (!payload) return; b[at + 8 + below(payload)] = byte_values[below(sizeof byte_values)]; }
            tell(c, " node %zx[%zu]~%" PRIx64, at, i, (uint64_t)v);
        }
    }
}

/* ---- The driver ------------------------------------------------------------------------------- */

static size_t passed, failed;
static char folder[256], log_path[300];
static const char* keep_folder;
static unsigned seconds = 10;

static void clean_folder(void) {
    DIR* directory = opendir(folder);
    if (!directory) return;
    for (struct dirent* entry; (entry = readdir(directory));) {
        char path[600];
        snprintf(path, sizeof path, "%s/%.255s", folder, entry->d_name);
        if (entry->d_name[0] != '.') unlink(path);
    }
    closedir(directory);
}
static void print_log(void) {
    FILE* file = fopen(log_path, "r");
    char line[400];
    for (int i = 0; file && i < (has_sanitizer ? 40 : 4) && fgets(line, sizeof line, file); i++) printf("    | %s", line);
    if (file) fclose(file);
}
static void run_in_child(const char* label, const struct fixture* f, const uint8_t* bytes, size_t size, const char* story) {
    memset(progress, 0, sizeof *progress);
    progress->stage = progress->call = "start";
    progress->intact = !*story;
    file_key = f->key;
    if (getenv("MUTATE_INLINE")) {
        printf("%s %s%s\n", label, f->name, story);
        run_round(folder, bytes, size);
        printf("    %" PRIu64 " calls, sound: %d\n", progress->calls, progress->sound);
        passed++;
        return;
    }
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) { perror("fork"); exit(2); }
    if (pid == 0) {
        int fd = open(log_path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        if (fd >= 0) { dup2(fd, 2); dup2(fd, 1); }
        struct rlimit none = {0, 0}, file_limit = {1u << 30, 1u << 30}, data_limit = {4ull << 30, 4ull << 30};
        setrlimit(RLIMIT_CORE, &none);
        setrlimit(RLIMIT_FSIZE, &file_limit);
        signal(SIGXFSZ, SIG_IGN);
        if (!has_sanitizer) {
            setrlimit(RLIMIT_DATA, &data_limit);
            static char alternate[65536];
            stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
            sigaltstack(&stack, NULL);
            struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
            static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGALRM, SIGPROF};
            for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) sigaction(signals[i], &action, NULL);
        }
        /* The limit is processor time, as a busy machine may be slow. A process that waits for an hour counts as
           stuck. */
        struct itimerval work = {.it_value = {.tv_sec = seconds}};
        setitimer(ITIMER_PROF, &work, NULL);
        alarm(3600);
        run_round(folder, bytes, size);
        _exit(0);
    }
    int status;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        passed++;
    } else {
        failed++;
        if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF)) printf("FAIL %s %s: hangs", label, f->name);
        else if (WIFSIGNALED(status)) printf("FAIL %s %s: signal %d (%s), address %zx", label, f->name, WTERMSIG(status), strsignal(WTERMSIG(status)), (size_t)progress->fault);
        else printf("FAIL %s %s: exit %d %s", label, f->name, WEXITSTATUS(status), progress->problem);
        printf("; stage %s, call %s;%s\n", progress->stage, progress->call, story);
        if (progress->frames) {
            printf("    at");
            for (int i = 0; i < progress->frames && progress->frame[i] < 1u << 30; i++) printf(" %zx", (size_t)progress->frame[i]);
            printf("\n");
        }
        print_log();
        if (keep_folder) {
            char path[700], clean[40];
            snprintf(clean, sizeof clean, "%s", label);
            for (char* p = clean; *p; p++) if (*p == ' ') *p = '-';
            snprintf(path, sizeof path, "%.400s/%s-%s", keep_folder, clean, f->name);
            write_file(path, bytes, size);
        }
    }
    clean_folder();
}

int main(int argc, char** argv) {
    if (argc < 5) { fprintf(stderr, "usage: mutate LIBRARY FIXTURES COUNT SEED [KEEP]\n"); return 2; }
    setenv("SWIFT_BACKTRACE", "enable=no", 1);
    setvbuf(stdout, NULL, _IOLBF, 0);
    uint64_t count = strtoull(argv[3], NULL, 0), first = strtoull(argv[4], NULL, 0);
    keep_folder = argc > 5 ? argv[5] : NULL;
    if (keep_folder) mkdir(keep_folder, 0700);
    if (getenv("MUTATE_SECONDS")) seconds = (unsigned)atoi(getenv("MUTATE_SECONDS"));
    if (getenv("MUTATE_VALUES")) value_limit = strtoull(getenv("MUTATE_VALUES"), NULL, 0);
    if (getenv("MUTATE_LARGE")) large_percent = (unsigned)atoi(getenv("MUTATE_LARGE"));
    const char* base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/mutate-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    snprintf(log_path, sizeof log_path, "%s/log", folder);
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    load_library(argv[1]);
    void* warm[4];
    backtrace(warm, 4); /* loads what the signal handler needs */
    L.realm_set_log_level(RLM_LOG_LEVEL_OFF);
    find_fixtures(argv[2]);
    if (!fixture_count) { fprintf(stderr, "no fixtures in %s\n", argv[2]); return 2; }
    qsort(fixtures, fixture_count, sizeof *fixtures, by_name);
    size_t largest = 0, small_count = 0;
    for (size_t i = 0; i < fixture_count; i++) {
        if (fixtures[i].size > largest) largest = fixtures[i].size;
        if (fixtures[i].size <= 1 << 20) small_count++;
    }
    printf("seed %" PRIu64 ", %" PRIu64 " rounds, %zu fixtures\n", first, count, fixture_count);
    if (count != 1)
        for (size_t i = 0; i < fixture_count; i++) {
            random_state = i;
            run_in_child("undamaged", &fixtures[i], fixtures[i].bytes, fixtures[i].size, "");
        }
    struct copy copy = {.room = largest + 16384};
    copy.bytes = malloc(copy.room);
    for (uint64_t i = 0; i < count; i++) {
        random_state = (first + i) * 0xD1342543DE82EF95u + 1;
        next_random();
        struct fixture* f;
        bool small = small_count && (small_count == fixture_count || below(100) >= large_percent);
        do f = &fixtures[below(fixture_count)]; while (small && f->size > 1 << 20);
        copy.fixture = f;
        copy.size = f->size;
        memcpy(copy.bytes, f->bytes, f->size);
        copy.story[0] = 0;
        uint64_t hits = 1;
        while (hits < 12 && below(2)) hits++;
        if (getenv("MUTATE_INTACT")) hits = 0;
        while (hits) { damage(&copy); hits--; }
        char label[40];
        snprintf(label, sizeof label, "seed %" PRIu64, first + i);
        run_in_child(label, f, copy.bytes, copy.size, copy.story);
    }
    clean_folder();
    rmdir(folder);
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed != 0;
}
