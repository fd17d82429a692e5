/*
 * The size of a file in use. Goal: after many small commits a file is hardly larger than after the first one, also
 * beside pinned versions of this process and of others, and every pinned version keeps its content. The test measures
 * bytes, not time.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { OBJECTS = 20000, COMMITS = 3000, MOST_PINS = 6 };
static char folder[] = "/tmp/space-XXXXXX";
static char path[100];
static realm_class_key_t thing;
static realm_property_key_t number, name, list;
static uint64_t state;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static realm_t* open_realm(void) {
    realm_property_info_t properties[3] = {
        property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
        property("name", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0),
        property("list", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", 0)};
    realm_config_t* config = config_of_class(path, class_info("Thing", "", 3, 0, 0), properties);
    realm_t* realm = realm_open(config);
    realm_release(config);
    if (!CHECK(realm)) give_up();
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    if (!CHECK(realm_find_class(realm, "Thing", &found, &info) && found)) give_up();
    thing = info.key;
    realm_property_info_t p;
    realm_find_property(realm, thing, "number", &found, &p), number = p.key;
    realm_find_property(realm, thing, "name", &found, &p), name = p.key;
    realm_find_property(realm, thing, "list", &found, &p), list = p.key;
    return realm;
}

static long long file_size(void) {
    struct stat info;
    return stat(path, &info) == 0 ? (long long)info.st_size : -1;
}

/* A hash of all values that a Realm shows. */
static uint64_t digest(realm_t* realm) {
    uint64_t hash = 1469598103934665603ULL;
    realm_results_t* all = realm_object_find_all(realm, thing);
    size_t count = 0;
    realm_results_count(all, &count);
    for (size_t i = 0; i < count; i++) {
        realm_object_t* object = realm_results_get_object(all, i);
        realm_value_t value;
        memset(&value, 0, sizeof value);
        realm_get_value(object, number, &value);
        hash = (hash ^ (uint64_t)value.integer) * 1099511628211ULL;
        realm_get_value(object, name, &value);
        for (size_t j = 0; j < value.string.size; j++) hash = (hash ^ (uint8_t)value.string.data[j]) * 1099511628211ULL;
        realm_list_t* numbers = realm_get_list(object, list);
        size_t size = 0;
        realm_list_size(numbers, &size);
        for (size_t j = 0; j < size; j++) {
            realm_list_get(numbers, j, &value);
            hash = (hash ^ (uint64_t)value.integer) * 1099511628211ULL;
        }
        realm_release(numbers);
        realm_release(object);
    }
    realm_release(all);
    return hash ^ count;
}

static void fill(realm_t* realm, int with_lists) {
    if (!CHECK(realm_begin_write(realm))) give_up();
    for (int i = 0; i < OBJECTS; i++) {
        realm_object_t* object = realm_object_create(realm, thing);
        realm_set_value(object, number, integer((int64_t)(next_random() % 1000000)), false);
        realm_set_value(object, name, text_of("twenty letters or so", 20), false);
        if (with_lists) {
            realm_list_t* numbers = realm_get_list(object, list);
            for (size_t j = 0; j < 4; j++) realm_list_insert(numbers, j, integer((int64_t)(next_random() % 100000)));
            realm_release(numbers);
        }
        realm_release(object);
    }
    if (!CHECK(realm_commit(realm))) give_up();
}

/* One small commit. */
static bool change(realm_t* realm, int what) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
    if (!realm_begin_write(realm)) return false;
    realm_results_t* all = realm_object_find_all(realm, thing);
    size_t count = 0;
    realm_results_count(all, &count);
    realm_object_t* object = realm_results_get_object(all, (size_t)(next_random() % count));
    bool good = object != NULL;
    if (what == 0) good = good && realm_set_value(object, number, integer((int64_t)(next_random() % 1000000)), false);
    if (what == 1) good = good && realm_set_value(object, name, text_of(letters, (size_t)(next_random() % 41)), false);
    if (what == 2) {
        realm_list_t* numbers = realm_get_list(object, list);
        size_t size = 0;
        realm_list_size(numbers, &size);
        if (size == 0 || next_random() % 2) good = good && realm_list_insert(numbers, size, integer((int64_t)(next_random() % 100000)));
        else good = good && realm_list_erase(numbers, (size_t)(next_random() % size));
        realm_release(numbers);
    }
    if (what == 3) {
        good = good && realm_object_delete(object);
        realm_release(object);
        object = realm_object_create(realm, thing);
        good = good && realm_set_value(object, number, integer((int64_t)(next_random() % 1000000)), false);
        good = good && realm_set_value(object, name, text_of(letters, 20), false);
    }
    realm_release(object);
    realm_release(all);
    return realm_commit(realm) && good;
}

/* What the last commit wrote: the new version, more bytes of objects than the changed value, short lists. */
static void told(realm_t* realm) {
    crealm_commit_work_t work;
    bool found = false;
    realm_version_id_t version;
    if (!CHECK(crealm_get_commit_work(realm, &work)) || !CHECK(realm_get_version_id(realm, &found, &version))) return;
    CHECK(work.version == version.version && work.file_size <= (uint64_t)file_size());
    CHECK(work.objects >= 8 && work.objects < 200000 && work.history > 0 && work.history < 10000);
    CHECK(work.free_lists > 0 && work.free_pieces > 0 && work.free_bytes < work.file_size);
    // A list of free space has at most 8 + 4 + 8 bytes a piece, beside its headers, the top array and the record.
    CHECK(work.free_lists <= 24 * work.free_pieces + 400);
}

/* Small commits of each kind do not make the file grow. */
static void steady(void) {
    const char* kinds[] = {"numbers", "texts", "lists", "deletions and insertions"};
    for (int what = 0; what < 4; what++) {
        section = kinds[what];
        state = 88172645463325252ULL + (uint64_t)what;
        snprintf(path, sizeof path, "%s/steady%d.realm", folder, what);
        realm_t* realm = open_realm();
        crealm_commit_work_t none;
        CHECK(crealm_get_commit_work(realm, &none));
        fill(realm, what == 2);
        bool good = true;
        for (int i = 0; good && i < COMMITS / 4; i++) good = change(realm, what);
        long long early = file_size();
        for (int i = 0; good && i < COMMITS; i++) good = change(realm, what);
        CHECK(good);
        long long late = file_size();
        if (!CHECK(late <= early + early / 4)) printf("  %lld bytes after %d commits, %lld after %d more\n", early, COMMITS / 4, late, COMMITS);
        told(realm);
        CHECK(crealm_verify(realm, NULL));
        realm_close(realm);
        realm_release(realm);
    }
}

/* A process that reads one version, reports that, and compares the version with itself until the writer ends. */
static void follow(int says, int hears) {
    realm_t* realm = open_realm();
    uint64_t first = digest(realm);
    char byte = realm ? 1 : 0;
    if (write(says, &byte, 1) != 1) _exit(3);
    bool same = read(hears, &byte, 1) == 1 && digest(realm) == first;
    realm_close(realm);
    realm_release(realm);
    _exit(same ? 0 : 1);
}

/* Pinned versions, in this process and in another, take the space of the data that later commits replaced, and do not
   change. */
static void pinned(void) {
    section = "pinned";
    state = 4711;
    snprintf(path, sizeof path, "%s/pinned.realm", folder);
    realm_t* realm = open_realm();
    fill(realm, 1);
    realm_close(realm);
    realm_release(realm);
    int to_parent[2], to_child[2];
    if (!CHECK(pipe(to_parent) == 0 && pipe(to_child) == 0)) give_up();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) follow(to_parent[1], to_child[0]);
    char byte = 0;
    CHECK(read(to_parent[0], &byte, 1) == 1 && byte == 1);
    realm = open_realm();
    long long start = file_size();
    realm_t* frozen[MOST_PINS];
    uint64_t digests[MOST_PINS];
    bool good = true;
    for (int i = 0; good && i < COMMITS; i++) {
        if (i % (COMMITS / MOST_PINS) == 0) {
            int pin = i / (COMMITS / MOST_PINS);
            // Two pins exist at a time.
            if (pin >= 2) {
                CHECK(digest(frozen[pin - 2]) == digests[pin - 2]);
                realm_release(frozen[pin - 2]);
            }
            frozen[pin] = realm_freeze(realm);
            if (!CHECK(frozen[pin])) give_up();
            digests[pin] = digest(frozen[pin]);
        }
        good = change(realm, i % 4);
    }
    CHECK(good);
    for (int pin = MOST_PINS - 2; pin < MOST_PINS; pin++) {
        CHECK(digest(frozen[pin]) == digests[pin]);
        realm_release(frozen[pin]);
    }
    // Each pin costs no more than the data once; without reuse the commits would take some 20 MB.
    long long end = file_size();
    if (!CHECK(end <= 4 * start + (1 << 20))) printf("  %lld bytes before, %lld after %d commits\n", start, end, COMMITS);
    CHECK(crealm_verify(realm, NULL));
    CHECK(write(to_child[1], &byte, 1) == 1);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    realm_close(realm);
    realm_release(realm);
}

int main(void) {
    if (!mkdtemp(folder)) return 2;
    steady();
    pinned();
    return finished(folder);
}
