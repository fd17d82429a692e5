/*
 * failing_calls_test.c - for a while the disk cannot be read, or the operating system has no memory for a map: the call
 * that meets the failure reports it, with the system's error text, and the next call works. The test covers every
 * operation, every system call that can fail, and several failures in a row.
 *
 *     FAILING_EVERY=1 failing_calls_test: every single call (the first 9 of each operation and one in 13 of the others without it).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "crealm.h"
#include "crealm_testing.h"
#include "values.h"

enum { OBJECTS = 700 };
static char folder[64], path[128], copy[160];
static const char* form; /* plain, crealm, realm */
static realm_class_key_t cls;
static realm_property_key_t number_key, text_key;

/* ---- Calls that fail ------------------------------------------------------------------------------ */

enum kind { NONE, READ, MAP, PROTECT, ADVISE, FLUSH };
static const char* const kind_names[] = {"none", "pread", "mmap", "mprotect", "madvise", "fdatasync"};
static struct { enum kind kind; long first, count, calls, failed; } plan;
static bool fails(enum kind kind, int error) {
    if (plan.kind != kind) return false;
    long n = ++plan.calls;
    if (n < plan.first || n - plan.first >= plan.count) return false;
    plan.failed++;
    errno = error;
    return true;
}
static ssize_t failing_pread(int fd, void* to, size_t n, off_t at) { return fails(READ, EIO) ? -1 : pread(fd, to, n, at); }
static void* failing_mmap(void* at, size_t n, int protection, int flags, int fd, off_t offset) {
    return fails(MAP, ENOMEM) ? MAP_FAILED : mmap(at, n, protection, flags, fd, offset);
}
static int failing_madvise(void* at, size_t n, int advice) { return fails(ADVISE, EAGAIN) ? -1 : madvise(at, n, advice); }
static int failing_fdatasync(int fd) { return fails(FLUSH, EIO) ? -1 : fdatasync(fd); }
static int failing_mprotect(void* at, size_t n, int protection) { return fails(PROTECT, ENOMEM) ? -1 : mprotect(at, n, protection); }

/* ---- The file ------------------------------------------------------------------------------------- */

static realm_config_t* new_config(bool reading) {
    const realm_property_info_t properties[] = {
        property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
        property("text", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0),
    };
    const realm_class_info_t info = class_info("A", "", 2, 0, 0);
    const realm_property_info_t* all = properties;
    realm_schema_t* schema = realm_schema_new(&info, 1, &all);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 0);
    realm_release(schema);
    if (reading) realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_READ_ONLY);
    uint8_t key[64];
    for (size_t i = 0; i < sizeof key; i++) key[i] = (uint8_t)(i * 5 + 3);
    if (strcmp(form, "plain")) realm_config_set_encryption_key(config, key, sizeof key);
    if (!strcmp(form, "realm")) crealm_config_set_page_cipher(config, CREALM_PAGE_CIPHER_REALM);
    return config;
}
static realm_t* open_mode(bool reading) {
    realm_config_t* config = new_config(reading);
    realm_t* realm = realm_open(config);
    realm_release(config);
    return realm;
}
static void close_realm(realm_t* realm) {
    if (realm) realm_close(realm);
    realm_release(realm);
}
/* All data of the realm as one number, and the value of its first object; false: an error. */
static bool read_all(realm_t* realm, uint64_t* sum, int64_t* first) {
    bool found, good = true;
    realm_class_info_t info;
    realm_property_info_t property;
    size_t n = 0;
    if (!realm_find_class(realm, "A", &found, &info)) return false;
    cls = info.key;
    if (!realm_find_property(realm, cls, "number", &found, &property)) return false;
    number_key = property.key;
    if (!realm_find_property(realm, cls, "text", &found, &property)) return false;
    text_key = property.key;
    realm_results_t* all = realm_object_find_all(realm, cls);
    *sum = 0;
    good = all && realm_results_count(all, &n);
    for (size_t i = 0; good && i < n; i++) {
        realm_value_t values[2];
        realm_property_key_t keys[2] = {number_key, text_key};
        realm_object_t* object = realm_results_get_object(all, i);
        good = object && realm_get_values(object, 2, keys, values);
        if (good && i == 0) *first = values[0].integer;
        if (good && i > 0) *sum = *sum * 31 + (uint64_t)values[0].integer;
        for (size_t k = 0; good && k < values[1].string.size; k++) *sum = *sum * 31 + (uint8_t)values[1].string.data[k];
        realm_release(object);
    }
    realm_release(all);
    return good;
}
static bool set_first(realm_t* realm, int64_t value) {
    uint64_t sum;
    int64_t before;
    if (!realm_begin_write(realm)) return false;
    realm_results_t* all = read_all(realm, &sum, &before) ? realm_object_find_all(realm, cls) : NULL;
    realm_object_t* object = all ? realm_results_get_object(all, 0) : NULL;
    bool good = object && realm_set_value(object, number_key, integer(value), false) && realm_commit(realm);
    realm_release(object);
    realm_release(all);
    if (!good && realm_is_writable(realm)) {
        plan.kind = NONE;
        realm_rollback(realm);
    }
    return good;
}
static void fill(void) {
    realm_t* realm = open_mode(false);
    uint64_t sum;
    int64_t first;
    if (!CHECK(realm && read_all(realm, &sum, &first) && realm_begin_write(realm))) give_up();
    for (int i = 0; i < OBJECTS; i++) {
        char words[400];
        snprintf(words, sizeof words, "object %d %0*d", i, 50 + i % 300, i);
        const realm_value_t v[2] = {integer(i), text(words)};
        realm_property_key_t keys[2] = {number_key, text_key};
        realm_object_t* object = realm_object_create(realm, cls);
        if (!CHECK(object && realm_set_values(object, 2, keys, v, false))) give_up();
        realm_release(object);
    }
    if (!CHECK(realm_commit(realm))) give_up();
    close_realm(realm);
}
/* Another process changes the first object. */
static bool changed_elsewhere(int64_t value) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        realm_t* realm = open_mode(false);
        bool good = realm && set_first(realm, value);
        close_realm(realm);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
}

/* ---- Operations ----------------------------------------------------------------------------------- */

static uint64_t good_sum;
static int64_t now, next;
static realm_t* mine; /* opened before the operation, if it needs one */

static bool shows(realm_t* realm, int64_t value) {
    uint64_t sum = 0;
    int64_t first = -1;
    return read_all(realm, &sum, &first) && result(sum == good_sum && first == value, __LINE__, "what is read is right");
}
static bool opens(void) {
    realm_t* realm = open_mode(false);
    bool good = realm && shows(realm, now);
    if (!good && realm) realm_close(realm);
    realm_release(realm);
    return good;
}
static bool opens_for_reading(void) {
    realm_t* realm = open_mode(true);
    bool good = realm && shows(realm, now);
    realm_release(realm);
    return good;
}
static bool opens_snapshot(void) {
    realm_config_t* config = new_config(false);
    crealm_config_set_snapshot(config, true);
    realm_t* realm = realm_open(config);
    realm_release(config);
    bool good = realm && shows(realm, now);
    realm_release(realm);
    return good;
}
static bool reads(void) { return shows(mine, now); }
static bool refreshes(void) { return realm_refresh(mine, NULL) && shows(mine, now); }
static bool writes(void) {
    if (!set_first(mine, next)) return false;
    now = next;
    return true;
}
/* Inserts and deletes much data in one transaction, so that its log, its nodes and a copy of a large value need
   memory. */
static bool writes_much(void) {
    static char words[1 << 20];
    memset(words, 'w', sizeof words);
    realm_value_t large, small;
    large.type = RLM_TYPE_STRING, large.string.data = words, large.string.size = sizeof words;
    uint64_t sum;
    int64_t first;
    if (!realm_begin_write(mine)) return false;
    bool good = read_all(mine, &sum, &first);
    realm_object_t* kept = NULL;
    for (int i = 0; good && i < 400; i++) {
        realm_object_t* object = realm_object_create(mine, cls);
        small.type = RLM_TYPE_INT, small.integer = i;
        good = object && realm_set_value(object, number_key, small, false) && (i != 0 || realm_set_value(object, text_key, large, false));
        if (good && i > 0) good = realm_object_delete(object);
        if (i == 0) kept = object;
        else realm_release(object);
    }
    /* A value that points into the file. */
    realm_value_t own;
    if (good) good = realm_get_value(kept, text_key, &own) && realm_set_value(kept, text_key, own, false) && realm_get_value(kept, text_key, &own);
    if (good) result(own.string.size == sizeof words && !memcmp(own.string.data, words, sizeof words), __LINE__, "a large value is right");
    good = good && realm_object_delete(kept);
    realm_release(kept);
    good = good && realm_commit(mine);
    if (!good && realm_is_writable(mine)) {
        plan.kind = NONE;
        realm_rollback(mine);
    }
    return good;
}
static bool copies(void) {
    realm_config_t* config = new_config(false);
    realm_config_set_path(config, copy);
    bool good = realm_convert_with_config(mine, config, false);
    realm_release(config);
    unlink(copy);
    return good;
}
static bool compacts(void) {
    bool did = false;
    return realm_compact(mine, &did);
}
static bool verifies(void) { return crealm_verify(mine, NULL); }
static const struct operation {
    const char* name;
    bool (*run)(void);
    bool wants_realm, wants_others;
} operations[] = {
    {"open", opens, false, false},        {"open for reading", opens_for_reading, false, false},
    {"open beside", opens, true, false},  {"read", reads, true, false},
    {"open a snapshot", opens_snapshot, true, false},
    {"refresh", refreshes, true, true},   {"write", writes, true, false},
    {"write after another", writes, true, true}, {"copy", copies, true, false},
    {"write much", writes_much, true, false},
    {"compact", compacts, true, false},   {"verify", verifies, true, true},
};
static bool is_expected(const struct operation* o, enum kind kind, int code, const char* message) {
    if (kind == ADVISE) return false;
    if (kind != READ) return code == RLM_ERR_OUT_OF_MEMORY || code == RLM_ERR_ADDRESS_SPACE_EXHAUSTED;
    /* When even the file that a failed commit left cannot be read, the outcome is unknown until the next transaction
       decides it. */
    bool has_number = code == RLM_ERR_FILE_OPERATION_FAILED || ((o->run == writes || o->run == writes_much) && (unsigned)code == CREALM_ERR_COMMIT_OUTCOME_UNKNOWN);
    return has_number && strstr(message, strerror(EIO));
}
/* Runs one operation with calls that fail from the `first` on. Returns whether any failed. */
static bool one_case(const struct operation* o, enum kind kind, long first, long count) {
    char what[160];
    snprintf(what, sizeof what, "%s file, %s, %s %ld of %ld in a row", form, o->name, kind_names[kind], first, count);
    section = what;
    mine = NULL;
    if (o->wants_realm) {
        mine = open_mode(false);
        if (!CHECK(mine && (o->run == reads ? realm_begin_read(mine) : shows(mine, now)))) give_up();
    }
    if (o->wants_others) {
        if (!CHECK(changed_elsewhere(now + 1))) give_up();
        now++;
        if (o->run == writes || o->run == verifies) next = now + 1;
        if (o->run == verifies && !CHECK(realm_refresh(mine, NULL))) give_up();
    }
    next = now + 1;
    realm_clear_last_error();
    plan.first = first, plan.count = count, plan.calls = plan.failed = 0;
    plan.kind = kind;
    bool done = o->run();
    plan.kind = NONE;
    bool was_met = plan.failed > 0;
    if (!done) {
        realm_error_t error;
        memset(&error, 0, sizeof error);
        result(realm_get_last_error(&error) && was_met && is_expected(o, kind, (int)error.error, error.message), __LINE__, "the error says what failed");
        CHECK(o->run());
    }
    if (mine) {
        CHECK(realm_refresh(mine, NULL) && shows(mine, now));
        CHECK(crealm_verify(mine, NULL));
    }
    close_realm(mine);
    mine = NULL;
    CHECK(opens());
    return was_met;
}

/* The flush at the close fails, and power is lost: the header (the root records of an encrypted file) never reaches the
   disk. The file still has the commit. */
static void close_without_flush(void) {
    section = "close without a flush";
    bool is_plain = !strcmp(form, "plain");
    off_t places[2] = {is_plain ? 0 : 2 * 4096, is_plain ? 0 : 3 * 4096};
    size_t size = is_plain ? 24 : 512;
    char before[2][512];
    mine = open_mode(false);
    if (!CHECK(mine && set_first(mine, ++now))) give_up();
    int fd = open(path, O_RDWR);
    for (int i = 0; i < 2; i++) CHECK(pread(fd, before[i], size, places[i]) == (ssize_t)size);
    CHECK(set_first(mine, ++now));
    plan.first = 1, plan.count = 1000000, plan.calls = plan.failed = 0;
    plan.kind = FLUSH;
    CHECK(realm_close(mine));
    realm_release(mine);
    plan.kind = NONE;
    CHECK(plan.failed > 0);
    for (int i = 0; i < 2; i++) CHECK(pwrite(fd, before[i], size, places[i]) == (ssize_t)size);
    close(fd);
    CHECK(opens());
    mine = open_mode(false);
    CHECK(mine && set_first(mine, ++now) && crealm_verify(mine, NULL));
    close_realm(mine);
    CHECK(opens());
}

int main(void) {
    strcpy(folder, "/tmp/crealm-failing-XXXXXX");
    if (!mkdtemp(folder)) give_up();
    snprintf(copy, sizeof copy, "%s/copy.realm", folder);
    bool every = getenv("FAILING_EVERY") != NULL;
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.pread = failing_pread;
    calls.mmap = failing_mmap;
    calls.mprotect = failing_mprotect;
    calls.madvise = failing_madvise;
    calls.fdatasync = failing_fdatasync;
    crealm_set_system_calls(&calls);
    static const char* const forms[] = {"plain", "crealm", "realm"};
    long cases = 0;
    for (int f = 0; f < 3; f++) {
        form = forms[f];
        section = form;
        snprintf(path, sizeof path, "%s/%s.realm", folder, form);
        fill();
        realm_t* realm = open_mode(false);
        if (!CHECK(realm && read_all(realm, &good_sum, &now))) give_up();
        close_realm(realm);
        /* Realm's form flushes twice at every commit, so the close has nothing to flush. */
        if (strcmp(form, "realm")) close_without_flush();
        for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
            for (int kind = READ; kind <= ADVISE; kind++) {
                static const long counts[] = {1, 5, 1000000};
                for (int c = 0; c < 3; c++) {
                    for (long n = 1; one_case(&operations[i], (enum kind)kind, n, counts[c]); n += every || n < 9 ? 1 : 13) {
                        cases++;
                        if (failed > 60) goto end;
                    }
                }
            }
        }
        if (getenv("FAILING_VERBOSE")) printf("%s: %ld cases\n", form, cases);
    }
end:
    crealm_set_system_calls(NULL);
    printf("%ld cases with failing calls\n", cases);
    return finished(folder);
}
