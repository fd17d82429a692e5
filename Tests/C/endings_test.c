/*
 * endings_test.c - the state after an end: a realm that is closed, a commit that fails on a disk that tears writes, a
 * change that is refused, an open that fails. Goal: all resources are released, and nothing else is lost.
 *
 *     endings_test
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>
#include <crealm_testing.h>

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/endings_test.XXXXXX";
static char path[160], lock_path[180];
static realm_class_key_t thing;
static realm_property_key_t words, any;

static realm_config_t* configure(void) {
    const realm_property_info_t properties[] = {
        property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
        property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_LIST, "", RLM_PROPERTY_INDEXED),
        property("value", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NULLABLE),
    };
    const realm_property_info_t* all = properties;
    const realm_class_info_t cls = class_info("Thing", "", 3, 0, 0);
    realm_schema_t* schema = realm_schema_new(&cls, 1, &all);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_release(schema);
    return config;
}
static realm_t* open_with(realm_config_t* config) {
    realm_t* realm = realm_open(config);
    realm_release(config);
    if (!realm) return NULL;
    bool found = false;
    realm_class_info_t cls;
    realm_property_info_t p;
    if (!realm_find_class(realm, "Thing", &found, &cls) || !found) return realm;
    thing = cls.key;
    if (realm_find_property(realm, thing, "words", &found, &p)) words = p.key;
    if (realm_find_property(realm, thing, "value", &found, &p)) any = p.key;
    return realm;
}
static realm_t* open_it(void) { return open_with(configure()); }
static void start(const char* name) {
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
}
static size_t count(realm_t* realm) {
    size_t n = 0;
    return realm_get_num_objects(realm, thing, &n) ? n : (size_t)-1;
}
static bool add(realm_t* realm) {
    realm_object_t* o = realm_begin_write(realm) ? realm_object_create(realm, thing) : NULL;
    realm_release(o);
    return o && realm_commit(realm);
}

/* ---- Closed realms ----------------------------------------------------------------------------------- */

/* The number of maps of the lock file in this process; -1 where the operating system does not report it. */
static int lock_maps(void) {
    FILE* maps = fopen("/proc/self/maps", "r");
    if (!maps) return -1;
    char line[600];
    int n = 0;
    while (fgets(line, sizeof line, maps)) n += strstr(line, lock_path) != NULL;
    fclose(maps);
    return n;
}
static void* cycle(void* rounds) {
    for (int i = 0; i < *(int*)rounds; i++) {
        realm_t* realm = open_it();
        CHECK(realm && add(realm));
        /* Time for the listener to post work to the scheduler, which never runs. */
        usleep(1000);
        realm_close(realm);
        realm_release(realm);
    }
    return NULL;
}
/* The scheduler never runs: work posted to it must not keep a closed realm alive. */
static void check_closed_realms_are_let_go(void) {
    int rounds = 100, one = 1;
    start("closed");
    cycle(&rounds);
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, cycle, &one) == 0 && pthread_join(thread, NULL) == 0);
    }
    CHECK(lock_maps() <= 1);

    /* With another realm open on the thread, whose scheduler lives on. */
    realm_t* kept = open_it();
    cycle(&rounds);
    CHECK(lock_maps() <= 2);
    realm_release(kept);
}

/* ---- A commit that fails where writes are torn ---------------------------------------------------------- */

/* With two flushes the disk needs to write only one byte atomically: the one with the select bit. */
static int selected, is_gone;
static ssize_t torn_pwrite(int fd, const void* bytes, size_t size, off_t at) {
    if (is_gone == 2) return errno = EIO, -1;
    if (is_gone == 1) {
        is_gone = 2;
        if (pwrite(fd, bytes, size < 12 ? size : 12, at) < 0) return -1;
        return errno = EIO, -1;
    }
    if (selected == 1 && at == 23 && size == 1) is_gone = 1;
    return pwrite(fd, bytes, size, at);
}
static int torn_fdatasync(int fd) { return is_gone ? (errno = EIO, -1) : fdatasync(fd); }
static int torn_fsync(int fd) { return is_gone ? (errno = EIO, -1) : fsync(fd); }
static void check_a_torn_take_back_loses_nothing(void) {
    start("torn");
    pid_t child = fork();
    if (child == 0) {
        crealm_system_calls_t calls;
        memset(&calls, 0, sizeof calls);
        calls.pwrite = torn_pwrite;
        calls.fdatasync = torn_fdatasync;
        calls.fsync = torn_fsync;
        realm_set_log_level(RLM_LOG_LEVEL_OFF);
        realm_config_t* config = configure();
        bool did = true;
        crealm_set_system_calls(&calls);
        crealm_config_set_durability(config, CREALM_DURABILITY_TWO_FLUSHES);
        realm_t* realm = open_with(config);
        for (int i = 0; i < 10; i++) did = add(realm) && did;
        /* A compacted file has one header slot that no commit has written. */
        bool compacted = false;
        did = realm_compact(realm, &compacted) && compacted && did;
        selected = 1;
        _exit(did && !add(realm) && is_gone ? 0 : 1);
    }
    int status = 1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    realm_t* realm = open_it();
    size_t n = realm ? count(realm) : 0;
    CHECK(n == 10 || n == 11);
    realm_release(realm);
}
/* A header with the select bit of the next commit but without its slot. */
static void check_a_compacted_file_has_no_empty_slot(void) {
    start("slots");
    realm_t* realm = open_it();
    bool did = false;
    CHECK(add(realm) && realm_compact(realm, &did) && did);
    realm_release(realm);
    FILE* file = fopen(path, "r+b");
    unsigned char flags = 0;
    CHECK(file && fseek(file, 23, SEEK_SET) == 0 && fread(&flags, 1, 1, file) == 1);
    flags ^= 1;
    CHECK(fseek(file, 23, SEEK_SET) == 0 && fwrite(&flags, 1, 1, file) == 1 && fclose(file) == 0);
    realm = open_it();
    CHECK(realm && count(realm) == 1);
    realm_release(realm);
}

/* ---- A change that is refused ----------------------------------------------------------------------------- */

static void check_a_refused_word_ends_no_transaction(void) {
    start("words");
    realm_t* realm = open_it();
    CHECK(realm_begin_write(realm));
    realm_object_t* o = realm_object_create(realm, thing);
    realm_list_t* list = realm_get_list(o, words);
    char bytes[250];
    memset(bytes, 'x', sizeof bytes);
    CHECK(realm_list_insert(list, 0, text_of(bytes, 199)));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert(list, 0, text_of(bytes, 200)));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_set(list, 0, text_of(bytes, 250)));
    size_t n = 0;
    CHECK(realm_list_size(list, &n) && n == 1);
    CHECK(realm_list_insert(list, 1, text("short")) && realm_commit(realm));
    CHECK(realm_list_size(list, &n) && n == 2 && count(realm) == 1);
    realm_release(list);
    realm_release(o);
    realm_release(realm);
}

/* ---- An open that fails -------------------------------------------------------------------------------------- */

static ssize_t full_pwrite(int fd, const void* bytes, size_t size, off_t at) {
    (void)fd, (void)bytes, (void)size, (void)at;
    return errno = ENOSPC, -1;
}
static void check_a_failed_open_leaves_no_lock_file(void) {
    start("full");
    realm_t* realm = open_it();
    CHECK(add(realm));
    realm_release(realm);
    unlink(lock_path);
    pid_t child = fork();
    if (child == 0) {
        crealm_system_calls_t calls;
        memset(&calls, 0, sizeof calls);
        calls.pwrite = full_pwrite;
        realm_set_log_level(RLM_LOG_LEVEL_OFF);
        realm_config_t* config = configure();
        realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_READ_ONLY);
        crealm_set_system_calls(&calls);
        _exit(open_with(config) ? 1 : 0);
    }
    int status = 1;
    struct stat s;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(stat(lock_path, &s) != 0 && errno == ENOENT);
}

/* ---- Numbers of different types ----------------------------------------------------------------------------- */

/* f, d, D: the float, the double and the decimal 0.1. DISTINCT leaves no value twice; SORT orders numbers by their
   exact values. */
static void check_numbers_are_ordered(const char* kinds) {
    start(kinds);
    realm_t* realm = open_it();
    CHECK(realm_begin_write(realm));
    for (const char* k = kinds; *k; k++) {
        realm_object_t* o = realm_object_create(realm, thing);
        realm_value_t v = *k == 'f' ? single(0.1f) : *k == 'd' ? real(0.1) : of_type(RLM_TYPE_DECIMAL128);
        /* 1 × 10⁻¹ */
        if (*k == 'D') v.decimal128.w[0] = 1, v.decimal128.w[1] = (uint64_t)(6176 - 1) << 49;
        CHECK(realm_set_value(o, any, v, false));
        realm_release(o);
    }
    CHECK(realm_commit(realm));
    const char* clauses[] = {"TRUEPREDICATE SORT(value ASC)", "TRUEPREDICATE DISTINCT(value)"};
    for (int c = 0; c < 2; c++) {
        realm_query_t* query = realm_query_parse(realm, thing, clauses[c], 0, NULL);
        realm_results_t* results = realm_query_find_all(query);
        size_t n = 0;
        CHECK(realm_results_count(results, &n) && n > 0);
        int last = -1, seen[3] = {0, 0, 0};
        for (size_t i = 0; i < n; i++) {
            realm_value_t v;
            realm_object_t* o = realm_results_get_object(results, i);
            CHECK(realm_get_value(o, any, &v));
            int rank = v.type == RLM_TYPE_DECIMAL128 ? 0 : v.type == RLM_TYPE_DOUBLE ? 1 : 2;
            if (c == 0) CHECK(rank >= last);
            if (c == 1) CHECK(++seen[rank] == 1);
            last = rank;
            realm_release(o);
        }
        if (c == 0) CHECK(n == strlen(kinds));
        realm_release(results);
        realm_release(query);
    }
    realm_release(realm);
}

int main(void) {
    if (!mkdtemp(folder)) return 2;
    check_closed_realms_are_let_go();
    check_a_torn_take_back_loses_nothing();
    check_a_compacted_file_has_no_empty_slot();
    check_a_refused_word_ends_no_transaction();
    check_a_failed_open_leaves_no_lock_file();
    const char* kinds[] = {"fDdf", "fdDfd", "fDd", "DdfDdf", "dDfffD"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) check_numbers_are_ordered(kinds[i]);
    return finished(folder);
}
