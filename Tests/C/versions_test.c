/*
 * Versions in use. Goal: crealm_versions lists each pin of every thread and process, with its owner, its time and its
 * cost, and no pins of dead processes; a commit that makes the file grow because of a pin logs one warning about it.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { OBJECTS = 400, MOST = 20 };
static char folder[] = "/tmp/versions-XXXXXX";
static char path[100];
static realm_class_key_t thing;
static realm_property_key_t words;

static realm_config_t* new_config(void) {
    realm_property_info_t p = property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0);
    return config_of_class(path, class_info("Thing", "", 1, 0, 0), &p);
}
static realm_t* opened(realm_config_t* c) {
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!CHECK(r)) give_up();
    bool found = false;
    realm_class_info_t info;
    realm_property_info_t p;
    memset(&info, 0, sizeof info);
    if (!CHECK(realm_find_class(r, "Thing", &found, &info) && found)) give_up();
    thing = info.key;
    if (!CHECK(realm_find_property(r, thing, "words", &found, &p) && found)) give_up();
    words = p.key;
    return r;
}
static realm_t* open_realm(void) { return opened(new_config()); }
static realm_t* open_snapshot(void) {
    realm_config_t* c = new_config();
    crealm_config_set_snapshot(c, true);
    return opened(c);
}
/* Gives every object another text, so that much space is freed. */
static void change_all(realm_t* r) {
    static int round;
    round++;
    if (!CHECK(realm_begin_write(r))) give_up();
    size_t n = 0;
    realm_get_num_objects(r, thing, &n);
    for (size_t i = n; i < OBJECTS; i++) realm_release(realm_object_create(r, thing));
    realm_results_t* all = realm_object_find_all(r, thing);
    bool good = true;
    for (size_t i = 0; good && i < OBJECTS; i++) {
        char text_of_round[200];
        int length = snprintf(text_of_round, sizeof text_of_round, "%0*d", 100 + (int)(i % 60), round);
        realm_object_t* o = realm_results_get_object(all, i);
        good = o && realm_set_value(o, words, text_of(text_of_round, (size_t)length), false);
        realm_release(o);
    }
    realm_release(all);
    if (!CHECK(good && realm_commit(r))) give_up();
}
static uint64_t version_of(const realm_t* r) {
    bool found = false;
    realm_version_id_t id;
    memset(&id, 0, sizeof id);
    return realm_get_version_id(r, &found, &id) && found ? id.version : 0;
}
static size_t list(const realm_t* r, crealm_pinned_version_t* to) {
    size_t n = 0;
    memset(to, 0, MOST * sizeof *to);
    if (!CHECK(crealm_versions(r, to, MOST, &n) && n <= MOST)) give_up();
    for (size_t i = 1; i < n; i++) CHECK(to[i].version >= to[i - 1].version && to[i].held_bytes <= to[i - 1].held_bytes);
    return n;
}
static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (long long)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}
static long long since(const crealm_pinned_version_t* v) { return (long long)v->since.seconds * 1000000 + v->since.nanoseconds / 1000; }
static uint64_t this_thread(void) { return (uint64_t)syscall(SYS_gettid); }
static uint64_t file_size(void) {
    struct stat s;
    return stat(path, &s) == 0 ? (uint64_t)s.st_size : 0;
}

/* ---- Listed pins -------------------------------------------------------------------------------- */

static void test_list(void) {
    section = "a list";
    crealm_pinned_version_t v[MOST];
    realm_t *writer = open_realm(), *reader = open_realm();
    change_all(writer);
    change_all(writer);
    long long before = now();
    CHECK(realm_refresh(reader, NULL) || realm_begin_read(reader));
    uint64_t old = version_of(reader);
    long long after = now();
    CHECK(list(writer, v) == 2 && v[0].version == old && v[1].version == old && v[0].held_bytes == 0 && v[1].held_bytes == 0);

    /* A reader costs the data of its version that later commits replaced, once, however many commits follow. */
    change_all(writer);
    change_all(writer);
    uint64_t size = file_size();
    for (int i = 0; i < 40; i++) {
        change_all(writer);
        size_t n = list(writer, v);
        CHECK(n == 2 && v[0].version == old && v[1].version == version_of(writer) && v[1].held_bytes == 0);
        CHECK(v[0].process_id == (uint64_t)getpid() && v[0].thread_id == this_thread() && since(&v[0]) >= before && since(&v[0]) <= after);
        CHECK(since(&v[1]) >= after && v[0].held_bytes >= OBJECTS * 100 && v[0].held_bytes <= 2 * OBJECTS * 200);
    }
    CHECK(file_size() <= 2 * size);
    realm_t* frozen = realm_freeze(writer);
    change_all(writer);
    change_all(writer);
    size_t n = list(writer, v);
    CHECK(n == 3 && v[0].version == old && v[1].version == version_of(frozen) && v[0].held_bytes > v[1].held_bytes && v[1].held_bytes > 0);

    /* An array that is too small, no array, and no pointer for the count. */
    crealm_pinned_version_t two[2];
    memset(two, 0x55, sizeof two);
    CHECK(crealm_versions(writer, two, 1, &n) && n == 3 && two[0].version == old && two[1].version == 0x5555555555555555u);
    CHECK(crealm_versions(writer, NULL, 0, &n) && n == 3 && crealm_versions(writer, two, 2, NULL) && two[1].version == version_of(frozen));

    /* The same list from a snapshot open; an empty list for an immutable realm. */
    realm_t* snapshot = open_snapshot();
    CHECK(list(snapshot, v) == 3 && v[0].version == old && v[0].process_id == (uint64_t)getpid() && v[0].held_bytes > v[1].held_bytes);
    realm_release(frozen);
    realm_release(reader);
    CHECK(list(writer, v) == 1 && v[0].version == version_of(writer) && v[0].held_bytes == 0 && list(snapshot, v) == 1);
    size = file_size();
    for (int i = 0; i < 5; i++) change_all(writer);
    CHECK(file_size() == size);
    realm_release(writer);
    CHECK(list(snapshot, v) == 0);
    realm_release(snapshot);
    realm_config_t* c = new_config();
    realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_IMMUTABLE);
    realm_t* fixed = opened(c);
    CHECK(list(fixed, v) == 0);
    realm_release(fixed);
}

/* ---- Owners of pins ------------------------------------------------------------------------------ */

static int to_other[2], from_other[2];
static void* reads_elsewhere(void* tells) {
    realm_t* r = open_realm();
    CHECK(realm_begin_read(r));
    uint64_t facts[] = {(uint64_t)getpid(), this_thread(), version_of(r)};
    char go;
    CHECK(write(from_other[1], facts, sizeof facts) == sizeof facts && read(to_other[0], &go, 1) == 1);
    realm_release(r);
    if (tells) CHECK(write(from_other[1], facts, sizeof facts) == sizeof facts);
    return NULL;
}
static void test_others(void) {
    section = "other threads and processes";
    crealm_pinned_version_t v[MOST];
    uint64_t facts[3];
    for (int process = 0; process < 2; process++) {
        if (!CHECK(pipe(to_other) == 0 && pipe(from_other) == 0)) give_up();
        pthread_t thread;
        pid_t child = 0;
        fflush(stdout);
        if (process) {
            child = fork();
            if (child == 0) {
                reads_elsewhere(NULL);
                _exit(0);
            }
        } else if (!CHECK(pthread_create(&thread, NULL, reads_elsewhere, facts) == 0)) {
            give_up();
        }
        CHECK(read(from_other[0], facts, sizeof facts) == sizeof facts);
        realm_t* writer = open_realm();
        for (int i = 0; i < 4; i++) change_all(writer);
        CHECK(list(writer, v) == 2 && v[0].version == facts[2] && v[0].process_id == facts[0] && v[0].thread_id == facts[1] && v[0].held_bytes > 0);
        CHECK(v[0].thread_id != this_thread() && (v[0].process_id == (uint64_t)getpid()) == !process && v[1].process_id == (uint64_t)getpid());
        if (process) {
            /* A process that died has no pins. */
            CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        } else {
            CHECK(write(to_other[1], "g", 1) == 1 && read(from_other[0], facts, sizeof facts) == sizeof facts);
            pthread_join(thread, NULL);
        }
        CHECK(list(writer, v) == 1 && v[0].held_bytes == 0);
        realm_release(writer);
        for (int i = 0; i < 2; i++) close(to_other[i]), close(from_other[i]);
    }
}

/* ---- The warning -------------------------------------------------------------------------------- */

static int warnings;
static char last_warning[500];
static void log_line(realm_userdata_t u, const char* category, realm_log_level_e level, const char* message) {
    (void)u;
    if (level != RLM_LOG_LEVEL_WARNING || strcmp(category, "Realm.Storage.Transaction") != 0) return;
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", message);
}
static realm_t* kept[400];
static int kept_count;

/* Commits beside a reader and more and more frozen versions, until the file has grown several times. */
static void grow(realm_t* writer) {
    uint64_t size = file_size();
    int grown = 0;
    for (int i = 0; i < 90 && grown < 3; i++) {
        kept[kept_count++] = realm_freeze(writer);
        change_all(writer);
        grown += file_size() > size;
        size = file_size();
    }
    CHECK(grown == 3);
}
static void test_warning(void) {
    section = "the warning";
    realm_set_log_callback(log_line, NULL, NULL);
    realm_set_log_level(RLM_LOG_LEVEL_WARNING);
    unlink(path);
    realm_t *writer = open_realm(), *reader = open_realm();
    crealm_set_pin_warning(1);
    for (int i = 0; i < 20; i++) change_all(writer); /* The reader has no version pinned. */
    CHECK(warnings == 0);

    for (int round = 0; round < 2; round++) {
        section = round ? "the warning of a second pin" : "the warning of a pin";
        warnings = 0;
        CHECK(realm_refresh(reader, NULL) || realm_begin_read(reader));
        char name[100];
        snprintf(name, sizeof name, "version %llu is still in use: it was pinned by thread %llu of process %d", (unsigned long long)version_of(reader),
                 (unsigned long long)this_thread(), (int)getpid());
        crealm_set_pin_warning(64 << 20);
        grow(writer);
        CHECK(warnings == 0); /* The file is not that long. */
        crealm_set_pin_warning(0);
        grow(writer);
        CHECK(warnings == 0);
        crealm_set_pin_warning(100 << 10);
        grow(writer);
        CHECK(warnings == 1 && strstr(last_warning, name) && strstr(last_warning, path));
        grow(writer);
        CHECK(warnings == 1); /* One warning for each pin. */
        while (kept_count > 0) realm_release(kept[--kept_count]);
    }
    realm_release(reader);
    realm_release(writer);
    realm_set_log_callback(NULL, NULL, NULL);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
}

int main(void) {
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    if (!mkdtemp(folder)) give_up();
    snprintf(path, sizeof path, "%s/a.realm", folder);
    test_list();
    test_others();
    test_warning();
    return finished(folder);
}
