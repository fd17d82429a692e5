/*
 * ledger.h - the data that the crash test writes, and the invariants that hold in every snapshot of it.
 *
 *   Account(id, balance, note)    ACCOUNTS of them; the balances always sum to ACCOUNTS * START
 *   Row(n, payload, owner)        as many as State.rows says; the payload follows from n; State.weight
 *                                 is the sum of all n
 *   Mark(k)                       one for each of the last MARKS commits: k from counter - MARKS + 1 (at least 1) to counter
 *   State(id)                     one object; counter is the number of commits so far
 */

#ifndef LEDGER_H
#define LEDGER_H

#include <crealm.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ACCOUNTS = 64, START = 1000, MARKS = 40 };

#define FUNCTIONS(X)                                                                              \
    X(realm_get_last_error) X(realm_clear_last_error) X(realm_release) X(realm_set_log_level)     \
    X(realm_config_new) X(realm_config_set_path) X(realm_config_set_schema)                       \
    X(realm_config_set_schema_version) X(realm_config_set_automatic_change_notifications)         \
    X(realm_schema_new) X(realm_open) X(realm_close) X(realm_begin_write) X(realm_commit)         \
    X(realm_rollback) X(realm_refresh) X(realm_get_version_id) X(realm_get_num_versions)          \
    X(realm_find_class) X(realm_find_property) X(realm_get_num_objects) X(realm_object_create)    \
    X(realm_object_create_with_primary_key) X(realm_object_find_with_primary_key)                 \
    X(realm_object_find_all) X(realm_object_delete) X(realm_object_as_link) X(realm_get_value)    \
    X(realm_set_value) X(realm_get_linked_object) X(realm_get_backlinks) X(realm_results_count)   \
    X(realm_results_get_object) X(crealm_verify) X(realm_free) X(realm_config_set_encryption_key)  \
    X(crealm_config_set_page_cipher)
#define MEMBER(name) __typeof__(&name) name;
static struct { FUNCTIONS(MEMBER) } L;

static void load_library(const char* path) {
    setenv("SWIFT_BACKTRACE", "enable=no", 0);
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) { fprintf(stderr, "%s\n", dlerror()); exit(2); }
#define RESOLVE(name)                                                                             \
    L.name = (__typeof__(&name))dlsym(handle, #name);                                             \
    if (!L.name) { fprintf(stderr, "missing symbol %s\n", #name); exit(2); }
    FUNCTIONS(RESOLVE)
    L.realm_set_log_level(RLM_LOG_LEVEL_OFF);
}

/* Prints a line for run.py and ends the program with status 3: a promise of the library is broken. */
static void broken(const char* format, ...) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    L.realm_get_last_error(&error);
    va_list arguments;
    va_start(arguments, format);
    printf("BROKEN ");
    vprintf(format, arguments);
    printf(" (last error %d: %s)\n", (int)error.error, error.message ? error.message : "none");
    va_end(arguments);
    fflush(stdout);
    _Exit(3);
}
#define MUST(condition) do { if (!(condition)) broken("line %d: %s", __LINE__, #condition); } while (0)

static uint64_t random_state;
static uint64_t next_random(void) {
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
static inline uint64_t below(uint64_t n) { return next_random() % n; }
static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline realm_value_t integer(int64_t i) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_INT;
    v.integer = i;
    return v;
}

/* With LEDGER_KEY, a file of 64 bytes, the ledger is encrypted; LEDGER_CIPHER says how. */
static void set_encryption(realm_config_t* config) {
    const char *name = getenv("LEDGER_KEY"), *cipher = getenv("LEDGER_CIPHER");
    if (!name) return;
    uint8_t key[64];
    FILE* file = fopen(name, "rb");
    MUST(file && fread(key, 1, sizeof key, file) == sizeof key);
    fclose(file);
    MUST(L.realm_config_set_encryption_key(config, key, sizeof key));
    if (cipher) L.crealm_config_set_page_cipher(config, (crealm_page_cipher_e)atoi(cipher));
}

/* ---- Schema ------------------------------------------------------------------------------------- */

static realm_t* realm;
/* true: the open may be refused because another program has the file open under another name; then this program ends
   with status 4. */
static bool may_be_refused;
static realm_class_key_t account_class, row_class, mark_class, state_class;
static realm_property_key_t id_key, balance_key, note_key, n_key, payload_key, owner_key, counter_key, rows_key, weight_key;

static realm_property_info_t property(const char* name, realm_property_type_e type, const char* target, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = "", p.link_target = target, p.link_origin_property_name = "";
    p.type = type, p.key = RLM_INVALID_PROPERTY_KEY, p.flags = flags;
    return p;
}
static realm_property_key_t key_of(realm_class_key_t table, const char* name) {
    bool found = false;
    realm_property_info_t info;
    MUST(L.realm_find_property(realm, table, name, &found, &info) && found);
    return info.key;
}
static realm_class_key_t class_of(const char* name) {
    bool found = false;
    realm_class_info_t info;
    MUST(L.realm_find_class(realm, name, &found, &info) && found);
    return info.key;
}
static void open_ledger(const char* path) {
    realm_property_info_t account[] = {property("id", RLM_PROPERTY_TYPE_INT, "", RLM_PROPERTY_PRIMARY_KEY),
                                       property("balance", RLM_PROPERTY_TYPE_INT, "", 0),
                                       property("note", RLM_PROPERTY_TYPE_STRING, "", RLM_PROPERTY_NULLABLE)};
    realm_property_info_t row[] = {property("n", RLM_PROPERTY_TYPE_INT, "", RLM_PROPERTY_INDEXED),
                                   property("payload", RLM_PROPERTY_TYPE_BINARY, "", 0),
                                   property("owner", RLM_PROPERTY_TYPE_OBJECT, "Account", RLM_PROPERTY_NULLABLE)};
    realm_property_info_t mark[] = {property("k", RLM_PROPERTY_TYPE_INT, "", RLM_PROPERTY_PRIMARY_KEY)};
    realm_property_info_t state[] = {property("id", RLM_PROPERTY_TYPE_INT, "", RLM_PROPERTY_PRIMARY_KEY),
                                     property("counter", RLM_PROPERTY_TYPE_INT, "", 0),
                                     property("rows", RLM_PROPERTY_TYPE_INT, "", 0),
                                     property("weight", RLM_PROPERTY_TYPE_INT, "", 0)};
    const char* names[] = {"Account", "Row", "Mark", "State"};
    const char* primary[] = {"id", "", "k", "id"};
    size_t counts[] = {3, 3, 1, 4};
    const realm_property_info_t* properties[] = {account, row, mark, state};
    realm_class_info_t classes[4];
    memset(classes, 0, sizeof classes);
    for (int i = 0; i < 4; i++) {
        classes[i].name = names[i];
        classes[i].primary_key = primary[i];
        classes[i].num_properties = counts[i];
        classes[i].key = RLM_INVALID_CLASS_KEY;
    }
    realm_schema_t* schema = L.realm_schema_new(classes, 4, properties);
    realm_config_t* config = L.realm_config_new();
    MUST(schema && config);
    L.realm_config_set_path(config, path);
    set_encryption(config);
    L.realm_config_set_schema(config, schema);
    L.realm_config_set_schema_version(config, 1);
    L.realm_config_set_automatic_change_notifications(config, false);
    realm = L.realm_open(config);
    realm_error_t error;
    if (!realm && may_be_refused && L.realm_get_last_error(&error) && error.error == RLM_ERR_INCOMPATIBLE_SESSION) exit(4);
    MUST(realm);
    L.realm_release(config);
    L.realm_release(schema);
    account_class = class_of("Account"), row_class = class_of("Row"), mark_class = class_of("Mark"), state_class = class_of("State");
    id_key = key_of(account_class, "id"), balance_key = key_of(account_class, "balance"), note_key = key_of(account_class, "note");
    n_key = key_of(row_class, "n"), payload_key = key_of(row_class, "payload"), owner_key = key_of(row_class, "owner");
    counter_key = key_of(state_class, "counter"), rows_key = key_of(state_class, "rows"), weight_key = key_of(state_class, "weight");
}
static inline void close_ledger(void) {
    MUST(L.realm_close(realm));
    L.realm_release(realm);
    realm = NULL;
}

/* ---- Invariants ----------------------------------------------------------------------------------- */

/* Size and contents of a row's payload. Some are large: a commit then writes many pages. */
static inline size_t payload_size(int64_t n) { return n % 97 == 0 ? 60000 : n % 7 == 0 ? (size_t)(n % 4000) : (size_t)(n % 50); }
static inline uint8_t payload_byte(int64_t n) { return (uint8_t)(n * 31 + 7); }

static inline int64_t int_of(const realm_object_t* object, realm_property_key_t key) {
    realm_value_t v;
    MUST(L.realm_get_value(object, key, &v));
    MUST(v.type == RLM_TYPE_INT);
    return v.integer;
}
static size_t count_of(realm_class_key_t table) {
    size_t n = 0;
    MUST(L.realm_get_num_objects(realm, table, &n));
    return n;
}
/* The counter of the snapshot; -1 before the first commit. `complete`: check every row, too. */
static int64_t check_ledger(bool complete) {
    if (count_of(state_class) == 0) {
        MUST(count_of(account_class) == 0 && count_of(row_class) == 0 && count_of(mark_class) == 0);
        return -1;
    }
    realm_object_t* state = L.realm_object_find_with_primary_key(realm, state_class, integer(0), NULL);
    MUST(state);
    int64_t counter = int_of(state, counter_key), rows = int_of(state, rows_key), weight = int_of(state, weight_key);
    L.realm_release(state);

    realm_results_t* all = L.realm_object_find_all(realm, account_class);
    size_t count = 0;
    int64_t sum = 0;
    MUST(all && L.realm_results_count(all, &count));
    if (count != ACCOUNTS) broken("%zu accounts at commit %" PRId64, count, counter);
    for (size_t i = 0; i < count; i++) {
        realm_object_t* account = L.realm_results_get_object(all, i);
        MUST(account);
        realm_value_t note;
        sum += int_of(account, balance_key);
        MUST(L.realm_get_value(account, note_key, &note));
        if (note.type == RLM_TYPE_STRING)
            for (size_t k = 0; k < note.string.size; k++)
                if (note.string.data[k] != note.string.data[0]) broken("a note is torn at commit %" PRId64, counter);
        L.realm_release(account);
    }
    L.realm_release(all);
    if (sum != (int64_t)ACCOUNTS * START) broken("balances sum to %" PRId64 " at commit %" PRId64, sum, counter);

    size_t row_count = count_of(row_class), mark_count = count_of(mark_class);
    if ((int64_t)row_count != rows) broken("%zu rows instead of %" PRId64 " at commit %" PRId64, row_count, rows, counter);
    int64_t first_mark = counter > MARKS ? counter - MARKS + 1 : 1;
    if ((int64_t)mark_count != counter - first_mark + 1) broken("%zu marks at commit %" PRId64, mark_count, counter);
    for (int64_t k = first_mark; k <= counter; k++) {
        if (!complete && k > first_mark + 2 && k < counter - 2) continue;
        realm_object_t* mark = L.realm_object_find_with_primary_key(realm, mark_class, integer(k), NULL);
        if (!mark) broken("no mark of commit %" PRId64 " at commit %" PRId64, k, counter);
        L.realm_release(mark);
    }
    if (!complete) return counter;

    int64_t total = 0;
    size_t linked = 0, back = 0;
    all = L.realm_object_find_all(realm, row_class);
    MUST(all);
    for (size_t i = 0; i < row_count; i++) {
        realm_object_t* row = L.realm_results_get_object(all, i);
        MUST(row);
        realm_value_t payload, owner;
        int64_t n = int_of(row, n_key);
        total += n;
        MUST(L.realm_get_value(row, payload_key, &payload) && payload.type == RLM_TYPE_BINARY);
        if (payload.binary.size != payload_size(n)) broken("row %" PRId64 " has %zu bytes at commit %" PRId64, n, payload.binary.size, counter);
        for (size_t k = 0; k < payload.binary.size; k++)
            if (payload.binary.data[k] != payload_byte(n)) broken("row %" PRId64 " is torn at commit %" PRId64, n, counter);
        MUST(L.realm_get_value(row, owner_key, &owner));
        if (owner.type == RLM_TYPE_LINK) linked++;
        L.realm_release(row);
    }
    L.realm_release(all);
    if (total != weight) broken("rows weigh %" PRId64 " instead of %" PRId64 " at commit %" PRId64, total, weight, counter);
    all = L.realm_object_find_all(realm, account_class);
    for (size_t i = 0; i < ACCOUNTS; i++) {
        realm_object_t* account = L.realm_results_get_object(all, i);
        realm_results_t* rows_of_account = L.realm_get_backlinks(account, row_class, owner_key);
        MUST(rows_of_account && L.realm_results_count(rows_of_account, &count));
        back += count;
        L.realm_release(rows_of_account);
        L.realm_release(account);
    }
    L.realm_release(all);
    if (linked != back) broken("%zu links, %zu backlinks at commit %" PRId64, linked, back, counter);
    return counter;
}
static inline void verify_file(void) {
    char* report = NULL;
    if (!L.crealm_verify(realm, &report)) broken("crealm_verify: %s", report ? report : "no report");
}

#endif
