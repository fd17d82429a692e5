/*
 * probe.c - reads and writes files through the library, for the Python tests beside it, in their own process.
 *
 *     cc -shared -fPIC -Iinclude probe.c -ldl -o probe.so;  ctypes.CDLL('probe.so')
 *
 * probe_read computes a digest of all data in a file: two files with the same digest have the same data. probe_write
 * makes random commits over a small schema; the same seed gives the same data, whatever the form of the file. Any
 * thread may call these functions; a realm stays on its thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "crealm.h"

static void* library;
#define F(name) ((__typeof__(&name))dlsym(library, #name))

/* The kind of a secret. */
enum { PLAIN, KEY, PASSPHRASE };

/* The error message of the last call. */
static __thread char message[1000];
static __thread int failure;
static int fail(const char* where) {
    realm_error_t e;
    memset(&e, 0, sizeof e);
    if (F(realm_get_last_error)(&e)) {
        failure = (int)e.error;
        snprintf(message, sizeof message, "%s", e.message ? e.message : "?");
    } else {
        failure = -1;
        snprintf(message, sizeof message, "%s failed without an error", where);
    }
    F(realm_clear_last_error)();
    return failure ? failure : -1;
}
const char* probe_message(void) { return message; }

int probe_load(const char* path) {
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) snprintf(message, sizeof message, "%s", dlerror());
    else F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
    return library != NULL;
}

static bool yes(realm_userdata_t u) { (void)u; return true; }
static void notify(realm_userdata_t u, realm_work_queue_t* q) { (void)u, (void)q; }
static bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static void release(realm_userdata_t u) { (void)u; }

static realm_config_t* config_of(const char* path, int how, const void* secret, size_t size) {
    realm_config_t* config = F(realm_config_new)();
    F(realm_config_set_path)(config, path);
    F(realm_config_set_cached)(config, false);
    F(realm_config_set_automatic_change_notifications)(config, false);
    if (how == KEY) F(realm_config_set_encryption_key)(config, secret, size);
    F(crealm_config_set_page_memory)(config, 64 << 20);
    if (how == PASSPHRASE) F(crealm_config_set_passphrase)(config, secret, size, 1, 8192);
    realm_scheduler_t* scheduler = F(realm_scheduler_new)(NULL, release, notify, yes, same, yes);
    F(realm_config_set_scheduler)(config, scheduler);
    F(realm_release)(scheduler);
    return config;
}

/* ---- Reading ---- */

static __thread uint64_t digest;
static void mix(const void* data, size_t n) {
    const uint8_t* p = data;
    uint64_t h = digest;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        h = (h ^ v) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    }
    uint64_t v = n + 1;
    for (; n; n--) v = v << 8 | *p++;
    h = (h ^ v) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    digest = h;
}
static void number(int64_t n) { mix(&n, 8); }
static void text(const char* s) { if (s) mix(s, strlen(s)); else number(-1); }
static void value(realm_value_t v) {
    number(v.type);
    switch (v.type) {
        case RLM_TYPE_NULL: case RLM_TYPE_LIST: case RLM_TYPE_DICTIONARY: break;
        case RLM_TYPE_INT: number(v.integer); break;
        case RLM_TYPE_BOOL: number(v.boolean); break;
        case RLM_TYPE_STRING: mix(v.string.data, v.string.size); break;
        case RLM_TYPE_BINARY: mix(v.binary.data, v.binary.size); break;
        case RLM_TYPE_TIMESTAMP: number(v.timestamp.seconds), number(v.timestamp.nanoseconds); break;
        case RLM_TYPE_FLOAT: mix(&v.fnum, 4); break;
        case RLM_TYPE_DOUBLE: mix(&v.dnum, 8); break;
        case RLM_TYPE_DECIMAL128: mix(&v.decimal128, 16); break;
        case RLM_TYPE_OBJECT_ID: mix(&v.object_id, 12); break;
        case RLM_TYPE_UUID: mix(&v.uuid, 16); break;
        case RLM_TYPE_LINK: number(v.link.target_table), number(v.link.target); break;
        default: number(-2);
    }
}
#define TRY(call) do { if (!(call)) return fail(#call); } while (0)
static int read_property(realm_object_t* object, const realm_property_info_t* p) {
    size_t n;
    realm_value_t k, v;
    if (p->type == RLM_PROPERTY_TYPE_LINKING_OBJECTS) return 0;
    if (p->collection_type == RLM_COLLECTION_TYPE_LIST) {
        realm_list_t* list = F(realm_get_list)(object, p->key);
        TRY(list && F(realm_list_size)(list, &n));
        number((int64_t)n);
        for (size_t i = 0; i < n; i++) { TRY(F(realm_list_get)(list, i, &v)); value(v); }
        F(realm_release)(list);
    } else if (p->collection_type == RLM_COLLECTION_TYPE_SET) {
        realm_set_t* set = F(realm_get_set)(object, p->key);
        TRY(set && F(realm_set_size)(set, &n));
        number((int64_t)n);
        for (size_t i = 0; i < n; i++) { TRY(F(realm_set_get)(set, i, &v)); value(v); }
        F(realm_release)(set);
    } else if (p->collection_type == RLM_COLLECTION_TYPE_DICTIONARY) {
        realm_dictionary_t* dictionary = F(realm_get_dictionary)(object, p->key);
        TRY(dictionary && F(realm_dictionary_size)(dictionary, &n));
        number((int64_t)n);
        for (size_t i = 0; i < n; i++) { TRY(F(realm_dictionary_get)(dictionary, i, &k, &v)); value(k), value(v); }
        F(realm_release)(dictionary);
    } else {
        TRY(F(realm_get_value)(object, p->key, &v));
        value(v);
    }
    return 0;
}
static int read_all(realm_t* realm) {
    digest = 1;
    number((int64_t)F(realm_get_schema_version)(realm));
    realm_class_key_t keys[64];
    size_t classes, count, n;
    TRY(F(realm_get_class_keys)(realm, keys, 64, &classes));
    for (size_t c = 0; c < classes; c++) {
        realm_class_info_t info;
        realm_property_info_t properties[128];
        TRY(F(realm_get_class)(realm, keys[c], &info));
        text(info.name), text(info.primary_key), number(info.flags);
        TRY(F(realm_get_class_properties)(realm, info.key, properties, 128, &count));
        for (size_t i = 0; i < count; i++) text(properties[i].name), number(properties[i].type);
        realm_results_t* all = F(realm_object_find_all)(realm, info.key);
        TRY(all && F(realm_results_count)(all, &n));
        number((int64_t)n);
        for (size_t k = 0; k < n; k++) {
            realm_object_t* object = F(realm_results_get_object)(all, k);
            TRY(object);
            number(F(realm_object_get_key)(object));
            for (size_t i = 0; i < count; i++) { int status = read_property(object, &properties[i]); if (status) return status; }
            F(realm_release)(object);
        }
        F(realm_release)(all);
    }
    return 0;
}

/* Returns 0 or the number of the error, and the digest of all data, 0 if the data could not be read. `verify`: then
 * also checks every invariant of the snapshot. Objects of a failed read are not released: the process soon ends. */
int probe_read(const char* path, int how, const void* secret, size_t size, int read_write, int verify, uint64_t* out) {
    message[0] = 0;
    realm_config_t* config = config_of(path, how, secret, size);
    F(realm_config_set_schema_mode)(config, read_write ? RLM_SCHEMA_MODE_AUTOMATIC : RLM_SCHEMA_MODE_IMMUTABLE);
    realm_t* realm = F(realm_open)(config);
    F(realm_release)(config);
    if (!realm) return fail("open");
    int status = read_all(realm);
    *out = status ? 0 : digest;
    if (!status && verify) {
        char* report = NULL;
        if (!F(crealm_verify)(realm, &report)) {
            status = fail("verify");
            if (report) { snprintf(message, sizeof message, "verify: %s", report); F(realm_free)(report); }
        }
    }
    F(realm_close)(realm);
    F(realm_release)(realm);
    return status;
}

/* ---- Writing ---- */

static __thread uint64_t state;
static uint64_t below(uint64_t n) { return state ^= state << 13, state ^= state >> 7, state ^= state << 17, n ? state % n : 0; }

static realm_schema_t* schema_of(void) {
    static const realm_property_info_t properties[] = {
        {"id", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", "", RLM_INVALID_PROPERTY_KEY, RLM_PROPERTY_PRIMARY_KEY},
        {"name", "", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", "", RLM_INVALID_PROPERTY_KEY, RLM_PROPERTY_INDEXED},
        {"data", "", RLM_PROPERTY_TYPE_BINARY, RLM_COLLECTION_TYPE_NONE, "", "", RLM_INVALID_PROPERTY_KEY, 0},
        {"next", "", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Thing", "", RLM_INVALID_PROPERTY_KEY, RLM_PROPERTY_NULLABLE},
        {"list", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", "", RLM_INVALID_PROPERTY_KEY, 0},
    };
    realm_class_info_t info = {"Thing", "id", 5, 0, RLM_INVALID_CLASS_KEY, 0};
    const realm_property_info_t* all = properties;
    return F(realm_schema_new)(&info, 1, &all);
}

/* Opens, or makes, a file with the schema of probe_write. */
realm_t* probe_open(const char* path, int how, const void* secret, size_t size, int cipher) {
    message[0] = 0;
    realm_config_t* config = config_of(path, how, secret, size);
    if (cipher >= 0 && how != PLAIN) F(crealm_config_set_page_cipher)(config, (crealm_page_cipher_e)cipher);
    realm_schema_t* schema = schema_of();
    F(realm_config_set_schema)(config, schema);
    F(realm_config_set_schema_version)(config, 1);
    realm_t* realm = F(realm_open)(config);
    F(realm_release)(schema);
    F(realm_release)(config);
    if (!realm) fail("open");
    return realm;
}
/* Opens, or makes, a file without a schema. */
realm_t* probe_create(const char* path, int how, const void* secret, size_t size, int cipher, int read_only) {
    realm_config_t* config = config_of(path, how, secret, size);
    if (cipher >= 0 && how != PLAIN) F(crealm_config_set_page_cipher)(config, (crealm_page_cipher_e)cipher);
    F(realm_config_set_schema_mode)(config, read_only ? RLM_SCHEMA_MODE_READ_ONLY : RLM_SCHEMA_MODE_AUTOMATIC);
    realm_t* realm = F(realm_open)(config);
    F(realm_release)(config);
    if (!realm) fail("open");
    return realm;
}
void probe_close(realm_t* realm) { F(realm_close)(realm); F(realm_release)(realm); }
void probe_seed(uint64_t seed) { state = seed * 2654435761u + 88172645463325252u; }
int probe_refresh(realm_t* realm) { bool changed; TRY(F(realm_refresh)(realm, &changed)); return 0; }
int probe_digest(realm_t* realm, uint64_t* out) { int status = read_all(realm); *out = digest; return status; }

/* One commit of `operations` random changes among `things` objects with values of up to `largest` bytes. */
int probe_commit(realm_t* realm, int operations, int things, int largest) {
    static __thread uint8_t bytes[1 << 20];
    bool found;
    realm_class_info_t info;
    realm_property_info_t p[5];
    size_t n;
    TRY(F(realm_find_class)(realm, "Thing", &found, &info) && found);
    TRY(F(realm_get_class_properties)(realm, info.key, p, 5, &n));
    if (largest > (int)sizeof bytes) largest = sizeof bytes;
    TRY(F(realm_begin_write)(realm));
    for (int i = 0; i < operations; i++) {
        realm_value_t v;
        memset(&v, 0, sizeof v);
        v.type = RLM_TYPE_INT, v.integer = (int64_t)below((uint64_t)things);
        realm_object_t* object = F(realm_object_get_or_create_with_primary_key)(realm, info.key, v, &found);
        TRY(object);
        switch (below(8)) {
            case 0: TRY(F(realm_object_delete)(object)); break;
            case 1: {
                realm_value_t next;
                memset(&next, 0, sizeof next);
                next.type = RLM_TYPE_LINK, next.link = F(realm_object_as_link)(object);
                TRY(F(realm_set_value)(object, p[3].key, next, false));
                break;
            }
            case 2: case 3: {
                realm_list_t* list = F(realm_get_list)(object, p[4].key);
                size_t size;
                TRY(list && F(realm_list_size)(list, &size));
                v.integer = (int64_t)below(1u << below(31));
                if (size > 50) TRY(F(realm_list_clear)(list)); else TRY(F(realm_list_insert)(list, below(size + 1), v));
                F(realm_release)(list);
                break;
            }
            default: {
                size_t length = below((uint64_t)(below(4) ? 20 : largest));
                memset(bytes, (int)('a' + below(26)), length);
                for (size_t k = 0; k + 8 <= length; k += 64) { uint64_t r = below(0); memcpy(bytes + k, &r, 8); }
                if (below(2)) v.type = RLM_TYPE_BINARY, v.binary.data = bytes, v.binary.size = length;
                else {
                    for (size_t k = 0; k < length; k++) bytes[k] = (uint8_t)('a' + bytes[k] % 26);
                    v.type = RLM_TYPE_STRING, v.string.data = (char*)bytes, v.string.size = length;
                }
                TRY(F(realm_set_value)(object, p[v.type == RLM_TYPE_BINARY ? 2 : 1].key, v, false));
            }
        }
        F(realm_release)(object);
    }
    TRY(F(realm_commit)(realm));
    return 0;
}

/* Makes or continues a file by `commits` commits. */
int probe_write(const char* path, int how, const void* secret, size_t size, int cipher, uint64_t seed, int commits, int operations,
                int things, int largest) {
    realm_t* realm = probe_open(path, how, secret, size, cipher);
    if (!realm) return failure ? failure : -1;
    probe_seed(seed);
    int status = 0;
    for (int i = 0; i < commits && !status; i++) status = probe_commit(realm, operations, things, largest);
    probe_close(realm);
    return status;
}

/* ---- Following others ---- */

int probe_version(realm_t* realm, uint64_t* out) {
    bool found;
    realm_version_id_t version;
    realm_class_info_t info;
    size_t n;
    /* A realm has a version only after it has read something. */
    TRY(F(realm_find_class)(realm, "Thing", &found, &info) && found && F(realm_get_num_objects)(realm, info.key, &n));
    TRY(F(realm_get_version_id)(realm, &found, &version));
    *out = found ? version.version : 0;
    return 0;
}
/* Reads `count` objects from the `first` on; for walks over big files. */
int probe_read_some(realm_t* realm, size_t first, size_t count) {
    bool found;
    realm_class_info_t info;
    realm_property_info_t properties[8];
    size_t n, columns;
    TRY(F(realm_find_class)(realm, "Thing", &found, &info) && found);
    TRY(F(realm_get_class_properties)(realm, info.key, properties, 8, &columns));
    realm_results_t* all = F(realm_object_find_all)(realm, info.key);
    TRY(all && F(realm_results_count)(all, &n));
    for (size_t k = first; k < n && k < first + count; k++) {
        realm_object_t* object = F(realm_results_get_object)(all, k);
        TRY(object);
        for (size_t i = 0; i < columns; i++) { int status = read_property(object, &properties[i]); if (status) return status; }
        F(realm_release)(object);
    }
    F(realm_release)(all);
    return 0;
}
/* `count` objects with `size` bytes each, from id `first` on, in one commit. */
int probe_fill(realm_t* realm, int first, int count, size_t size) {
    bool found;
    realm_class_info_t info;
    realm_property_info_t p[5];
    size_t n;
    uint8_t* bytes = malloc(size);
    TRY(F(realm_find_class)(realm, "Thing", &found, &info) && found);
    TRY(F(realm_get_class_properties)(realm, info.key, p, 5, &n));
    TRY(F(realm_begin_write)(realm));
    for (int i = first; i < first + count; i++) {
        realm_value_t v;
        memset(&v, 0, sizeof v);
        v.type = RLM_TYPE_INT, v.integer = i;
        realm_object_t* object = F(realm_object_get_or_create_with_primary_key)(realm, info.key, v, &found);
        TRY(object);
        memset(bytes, i, size);
        v.type = RLM_TYPE_BINARY, v.binary.data = bytes, v.binary.size = size;
        TRY(F(realm_set_value)(object, p[2].key, v, false));
        F(realm_release)(object);
    }
    TRY(F(realm_commit)(realm));
    free(bytes);
    return 0;
}
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
/* Follows a file that other processes write, up to version `last`, with a realm that always moves on and one that stays
 * behind for a while. Notes each version with its digest; returns how many, or minus the number of an error, or -1 when
 * a snapshot changed. */
int probe_follow(const char* path, int how, const void* secret, size_t size, uint64_t seed, uint64_t last, double seconds,
                 uint64_t* versions, uint64_t* digests, int room) {
    probe_seed(seed);
    double end = now() + seconds;
    int n = 0, status = 0;
    uint64_t version = 0;
    while (version < last && now() < end) {
        realm_t *ahead = probe_open(path, how, secret, size, -1), *behind = probe_open(path, how, secret, size, -1);
        if (!ahead || !behind) return -failure;
        uint64_t old = 0, seen = 0;
        for (uint64_t turns = 5 + below(40); turns && version < last && now() < end; turns--) {
            if ((status = probe_refresh(ahead)) || (status = probe_version(ahead, &version)) || (status = read_all(ahead))) return -status;
            if (n < room) versions[n] = version, digests[n++] = digest;
            seen = digest;
            if (below(4) == 0) {
                usleep((useconds_t)below(3000));
                if ((status = read_all(ahead))) return -status;
                if (digest != seen) { snprintf(message, sizeof message, "the snapshot of version %llu changed", (unsigned long long)version); return -1; }
            }
            if (below(12) == 0) {
                if ((status = read_all(behind))) return -status;
                if (old && digest != old) { snprintf(message, sizeof message, "an old snapshot changed"); return -1; }
                if ((status = probe_refresh(behind)) || (status = read_all(behind))) return -status;
                old = digest;
                uint64_t at;
                if ((status = probe_version(behind, &at))) return -status;
                if (n < room) versions[n] = at, digests[n++] = old;
            }
        }
        probe_close(ahead), probe_close(behind);
    }
    return n;
}
