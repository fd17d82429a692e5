/*
 * Limits. Goal: a program that exceeds a limit gets an error that names it, and other programs are not affected:
 * versions that it pins, files that it opens, locks that its file system does not support, arrays that it released,
 * elements that a leaf cannot have.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>
#include <crealm_testing.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/limits-XXXXXX";
static char path[200];
static realm_class_key_t thing;
static realm_property_key_t number, numbers, words;

static realm_config_t* new_config(const char* at) {
    realm_property_info_t p[] = {property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
                                 property("numbers", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", 0),
                                 property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NULLABLE)};
    return config_of_class(at, class_info("Thing", "", 3, 0, 0), p);
}
static realm_property_key_t key_of(realm_t* r, const char* name) {
    bool found = false;
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    CHECK(realm_find_property(r, thing, name, &found, &p) && found);
    return p.key;
}
static realm_t* open_at(const char* at) {
    realm_config_t* c = new_config(at);
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!r) return NULL;
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    CHECK(realm_find_class(r, "Thing", &found, &info) && found);
    thing = info.key, number = key_of(r, "number"), numbers = key_of(r, "numbers"), words = key_of(r, "words");
    return r;
}
static void name_file(const char* name) { snprintf(path, sizeof path, "%s/%s", folder, name); }
static bool add_thing(realm_t* r, int64_t value) {
    if (!realm_begin_write(r)) return false;
    realm_object_t* o = realm_object_create(r, thing);
    bool good = o && realm_set_value(o, number, integer(value), false);
    realm_release(o);
    return realm_commit(r) && good;
}
/* Runs `body` in a child process. Returns whether all its checks passed. */
static bool in_child(void (*body)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        failed = 0;
        body();
        fflush(stdout);
        _exit(failed != 0);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- Pinned versions ---------------------------------------------------------------------------- */

enum { TRIES = 2300 };
static realm_t* kept[TRIES];

static void others_go_on(void) {
    section = "another process beside a pinner";
    realm_t* r = open_at(path);
    if (!CHECK(r)) return;
    for (int i = 0; i < 20; i++) {
        CHECK(add_thing(r, i));
        CHECK(realm_refresh(r, NULL) || last_error() == 0);
    }
    realm_t* frozen = realm_freeze(r);
    CHECK(frozen);
    realm_release(frozen);
    size_t n = 0;
    CHECK(crealm_versions(r, NULL, 0, &n) && n > 100);
    realm_release(r);
}
/* A program that keeps many versions cannot keep more, but its own transactions and those of others continue. */
static void pinner(void) {
    section = "a pinner";
    unlink(path);
    realm_t* r = open_at(path);
    if (!CHECK(r)) give_up();
    int count = 0;
    for (; count < TRIES; count++) {
        if (!CHECK(add_thing(r, count))) break;
        realm_clear_last_error();
        if (!(kept[count] = realm_freeze(r))) break;
    }
    CHECK(count > 500 && count < TRIES);
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_freeze(r));
    /* Freezing a version that is already kept takes no further slot. */
    realm_t* again = realm_freeze(kept[0]);
    CHECK(again);
    realm_release(again);
    size_t n = 0;
    crealm_pinned_version_t first;
    memset(&first, 0, sizeof first);
    CHECK(crealm_versions(r, &first, 1, &n) && n > (size_t)count - 3 && first.process_id == (uint64_t)getpid() && first.held_bytes > 0);
    for (int i = 0; i < 20; i++) {
        CHECK(add_thing(r, i));
        CHECK(realm_refresh(r, NULL) || last_error() == 0);
    }
    CHECK(in_child(others_go_on));
    CHECK(realm_refresh(r, NULL) && add_thing(r, 1));
    for (int i = 0; i < count; i++) realm_release(kept[i]);
    realm_t* frozen = realm_freeze(r);
    CHECK(frozen && crealm_versions(r, NULL, 0, &n) && n <= 2);
    realm_release(frozen);
    realm_release(r);
}
/* Three programs that pin as many versions as they can, one after the other: each gets fewer, and every later program
   still gets the pins that it needs. */
static int pipes[2];
static void takes_all(void) {
    realm_t* r = open_at(path);
    int count = 0;
    for (; r && count < TRIES; count++) {
        if (!add_thing(r, count) || !(kept[count] = realm_freeze(r))) break;
    }
    CHECK(r && count >= 50 && last_error() == RLM_ERR_LIMIT_EXCEEDED);
    CHECK(write(pipes[1], &count, sizeof count) == sizeof count);
    pause();
}
static void pinners(void) {
    section = "three pinners";
    unlink(path);
    if (!CHECK(pipe(pipes) == 0)) give_up();
    pid_t children[3];
    int before = TRIES;
    for (int i = 0; i < 3; i++) {
        fflush(stdout);
        children[i] = fork();
        if (children[i] == 0) {
            takes_all();
            _exit(1);
        }
        int count = 0;
        CHECK(read(pipes[0], &count, sizeof count) == sizeof count && count > 0 && count < before);
        before = count;
    }
    CHECK(in_child(others_go_on));
    for (int i = 0; i < 3; i++) kill(children[i], SIGKILL), waitpid(children[i], NULL, 0);
    CHECK(in_child(pinner));
    close(pipes[0]), close(pipes[1]);
}
/* Thousands of Realms at a few versions need few slots. */
static void many_realms(void) {
    section = "many realms at one version";
    enum { STEP = 500, STEPS = (TRIES + STEP - 1) / STEP };
    unlink(path);
    realm_t *writer = open_at(path), *first = NULL;
    if (!CHECK(writer)) give_up();
    for (int i = 0; i < TRIES; i++) {
        if (i % STEP == 0) CHECK(add_thing(writer, i));
        realm_config_t* c = new_config(path);
        kept[i] = realm_open(c);
        realm_release(c);
        realm_clear_last_error();
        bool is_reading = kept[i] && (realm_refresh(kept[i], NULL) || realm_begin_read(kept[i]));
        if (!is_reading) {
            CHECK(is_reading);
            break;
        }
        if (!first) first = kept[i];
    }
    size_t n = 0, objects = 0;
    CHECK(crealm_versions(writer, NULL, 0, &n) && n >= STEPS && n < 200);
    CHECK(realm_get_num_objects(first, thing, &objects) && objects == 1);
    for (int i = 0; i < 50; i++) CHECK(add_thing(writer, i));
    CHECK(realm_get_num_objects(first, thing, &objects) && objects == 1);
    CHECK(realm_get_num_objects(kept[TRIES - 1], thing, &objects) && objects == STEPS);
    for (int i = 0; i < TRIES; i++) {
        if (i % 3 == 0) CHECK(realm_refresh(kept[i], NULL) && realm_get_num_objects(kept[i], thing, &objects) && objects == STEPS + 50);
    }
    for (int i = 0; i < TRIES; i++) realm_release(kept[i]);
    CHECK(crealm_versions(writer, NULL, 0, &n) && n == 1);
    realm_release(writer);
}

/* ---- Open files ---------------------------------------------------------------------------------- */

static void open_many(int files) {
    realm_t** all = (realm_t**)calloc((size_t)files, sizeof *all);
    for (int i = 0; i < files; i++) {
        snprintf(path, sizeof path, "%s/many/%d.realm", folder, i);
        if (!CHECK(all[i] = open_at(path))) break;
        if (i % 100 == 0) CHECK(add_thing(all[i], i));
    }
    /* All of them can be written and read, and grow. */
    for (int i = 0; i < files; i += files / 50 + 1) {
        size_t n = 0;
        if (!all[i]) break;
        CHECK(add_thing(all[i], i) && add_thing(all[i], i) && realm_get_num_objects(all[i], thing, &n) && n == (i % 100 == 0 ? 3u : 2u));
    }
    /* The operating system's limit for a process: 65530 maps by default. */
    int maps = 0;
    FILE* f = fopen("/proc/self/maps", "r");
    for (int c; f && (c = getc(f)) != EOF;) maps += c == '\n';
    if (f) fclose(f);
    CHECK(maps < files * 6 + 500);
    printf("%d files, %d maps\n", files, maps);
    char* bulk = (char*)calloc(1, 1 << 20);
    realm_t* last = all[files - 1];
    if (CHECK(last && realm_begin_write(last))) {
        for (int i = 0; i < 80; i++) {
            realm_object_t* o = realm_object_create(last, thing);
            CHECK(realm_set_value(o, words, text_of(bulk, 1 << 20), false));
            realm_release(o);
        }
        CHECK(realm_commit(last));
    }
    free(bulk);
    for (int i = 0; i < files; i++) realm_release(all[i]);
    free(all);
}
static int wanted_files;
static void many_files(void) {
    section = "many files";
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    struct rlimit most = {(rlim_t)wanted_files * 3 + 200, (rlim_t)wanted_files * 3 + 200};
    if (limit.rlim_max < most.rlim_max && setrlimit(RLIMIT_NOFILE, &most) == 0) limit = most;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    int possible = (int)((limit.rlim_cur - 100) / 3);
    if (limit.rlim_cur == RLIM_INFINITY || possible > wanted_files) possible = wanted_files;
    if (possible < wanted_files) printf("skipped: more than %d files at once (RLIMIT_NOFILE)\n", possible);
    snprintf(path, sizeof path, "%s/many", folder);
    mkdir(path, 0700);
    open_many(possible);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s/many'", folder);
    CHECK(system(command) == 0);
}
/* Too few descriptors: the error says so, and open realms continue to work. */
static void few_descriptors(void) {
    section = "few descriptors";
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 64;
    setrlimit(RLIMIT_NOFILE, &limit);
    realm_t* open[64];
    int count = 0;
    for (; count < 64; count++) {
        char name[30];
        snprintf(name, sizeof name, "few%d.realm", count);
        name_file(name);
        realm_clear_last_error();
        if (!(open[count] = open_at(path))) break;
    }
    realm_error_t error;
    memset(&error, 0, sizeof error);
    bool is_told = realm_get_last_error(&error) && error.error == RLM_ERR_LIMIT_EXCEEDED && strstr(error.message, "RLIMIT_NOFILE");
    result(is_told && count > 10 && count < 25, __LINE__, "too few descriptors are told as such");
    CHECK(add_thing(open[0], 1) && add_thing(open[count - 1], 1));
    realm_release(open[--count]);
    CHECK(open[count] = open_at(path));
    for (int i = 0; i <= count; i++) realm_release(open[i]);
}

/* ---- Locks that a file system does not have -------------------------------------------------------- */

static int flock_error, record_error;
static int no_flock(int fd, int operation) {
    if (!flock_error) return flock(fd, operation);
    errno = flock_error;
    return -1;
}
static int no_record_lock(int fd, int command, struct flock* lock) {
    if (!record_error) return fcntl(fd, command, lock);
    errno = record_error;
    return -1;
}
static void no_locks(void) {
    section = "a file system without locks";
    name_file("locks.realm");
    realm_t* r = open_at(path);
    CHECK(r);
    realm_release(r);
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.flock = no_flock;
    calls.fcntl_lock = no_record_lock;
    crealm_set_system_calls(&calls);
    const int codes[] = {ENOLCK, EOPNOTSUPP, ENOSYS};
    for (int kind = 0; kind < 2; kind++) {
        for (int i = 0; i < 3; i++) {
            flock_error = kind == 0 ? codes[i] : 0, record_error = kind == 1 ? codes[i] : 0;
            realm_clear_last_error();
            realm_config_t* c = new_config(path);
            realm_t* none = realm_open(c);
            realm_error_t error;
            memset(&error, 0, sizeof error);
            bool is_told = !none && realm_get_last_error(&error) && strstr(error.message, strerror(codes[i])) && strstr(error.message, "lock") &&
                           !strstr(error.message, "holds the lock");
            result(is_told, __LINE__, "what the file system refuses is told as such");
            realm_release(c);
        }
    }
    flock_error = EOPNOTSUPP, record_error = 0;
    bool did = true;
    CHECK(!realm_delete_files(path, &did) && last_error() != RLM_ERR_DELETE_OPENED_REALM);
    flock_error = 0;
    r = open_at(path);
    CHECK(r && add_thing(r, 1));
    realm_release(r);
    crealm_set_system_calls(NULL);
}

/* ---- Leaves with false counts ----------------------------------------------------------------------- */

/* In a list of zeros the elements take no bits: its leaf has only their number. */
static void empty_leaf(void) {
    section = "a leaf that claims 16.7 million elements";
    name_file("leaf.realm");
    realm_t* r = open_at(path);
    if (!CHECK(r && realm_begin_write(r))) give_up();
    realm_object_t* o = realm_object_create(r, thing);
    realm_list_t* list = realm_get_list(o, numbers);
    for (size_t i = 0; i < 777; i++) CHECK(realm_list_insert(list, i, integer(0)));
    realm_release(list), realm_release(o);
    CHECK(realm_commit(r));
    realm_release(r);
    FILE* f = fopen(path, "r+b");
    if (!CHECK(f)) give_up();
    static uint8_t bytes[1 << 16];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    int found = 0;
    for (size_t i = 0; i + 8 <= n; i += 8) {
        if (bytes[i + 4] != 0 || bytes[i + 5] != 0 || bytes[i + 6] != 3 || bytes[i + 7] != 9) continue;
        const uint8_t claim[] = {0, 0xFF, 0xFF, 0xFF};
        found++;
        CHECK(fseek(f, (long)i + 4, SEEK_SET) == 0 && fwrite(claim, 1, 4, f) == 4);
    }
    fclose(f);
    CHECK(found >= 1);
    struct rlimit limit = {256 << 20, 256 << 20};
    setrlimit(RLIMIT_DATA, &limit);
    r = open_at(path);
    if (!CHECK(r)) return;
    const char* texts[] = {"ANY numbers == 1", "numbers.@sum == 1", "numbers.@count == 1", "ALL numbers == 0", "numbers == {1, 2}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        realm_clear_last_error();
        realm_query_t* q = realm_query_parse(r, thing, texts[i], 0, NULL);
        size_t count = 0;
        CHECK(q && !realm_query_count(q, &count) && last_error() != 0);
        realm_release(q);
    }
    realm_release(r);
}

/* ---- Chains ----------------------------------------------------------------------------------------- */

enum { LINKS = 200 };
static void chain(void) {
    section = "a chain of embedded objects";
    name_file("chain.realm");
    static char names[LINKS + 1][12];
    static realm_class_info_t classes[LINKS];
    static realm_property_info_t properties[LINKS];
    static const realm_property_info_t* stored[LINKS];
    for (int i = 0; i <= LINKS; i++) snprintf(names[i], sizeof names[i], "Link%d", i);
    for (int i = 0; i < LINKS; i++) {
        bool is_last = i == LINKS - 1;
        classes[i] = class_info(names[i], "", 1, 0, i == 0 ? 0 : RLM_CLASS_EMBEDDED);
        properties[i] = property("next", is_last ? RLM_PROPERTY_TYPE_INT : RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, is_last ? "" : names[i + 1],
                                 RLM_PROPERTY_NULLABLE);
        stored[i] = &properties[i];
    }
    realm_schema_t* schema = realm_schema_new(classes, LINKS, stored);
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    realm_config_set_schema(c, schema);
    realm_config_set_schema_version(c, 1);
    realm_t* r = realm_open(c);
    if (!result(r != NULL, __LINE__, "a file with a chain")) give_up();
    CHECK(realm_begin_write(r));
    realm_object_t *top = NULL, *middle = NULL, *at = NULL;
    for (int i = 0; i < LINKS; i++) {
        bool found = false;
        realm_class_info_t info;
        memset(&info, 0, sizeof info);
        if (i == 0) {
            if (!CHECK(realm_find_class(r, names[i], &found, &info) && found)) give_up();
            at = top = realm_object_create(r, info.key);
            continue;
        }
        realm_property_info_t p;
        memset(&p, 0, sizeof p);
        if (!CHECK(realm_find_class(r, names[i - 1], &found, &info) && found && realm_find_property(r, info.key, "next", &found, &p) && found)) give_up();
        realm_object_t* next = realm_set_embedded(at, p.key);
        if (!CHECK(next)) give_up();
        if (at != top && at != middle) realm_release(at);
        if (i == LINKS - 60) middle = next;
        at = next;
    }
    CHECK(realm_commit(r));
    realm_clear_last_error();
    char* json = realm_object_to_string(top);
    realm_error_t error;
    memset(&error, 0, sizeof error);
    bool is_told = !json && realm_get_last_error(&error) && error.error == RLM_ERR_LIMIT_EXCEEDED && !strstr(error.message, "orrupt");
    result(is_told, __LINE__, "what is too deep for a text is no damage");
    json = realm_object_to_string(middle);
    CHECK(json && strncmp(json, "{\"next\":{\"next\":", 16) == 0);
    realm_free(json);
    CHECK(crealm_verify(r, NULL));
    realm_release(at), realm_release(middle), realm_release(top), realm_release(r), realm_release(c), realm_release(schema);
}

/* ---- Address space -------------------------------------------------------------------------------- */

/* With a limit of address space, the maps of files leave some to the program, also if the limit is a power of two. */
static void little_address_space(void) {
    section = "little address space";
    unlink(path);
    realm_t* r = open_at(path);
    if (!CHECK(r) || !CHECK(add_thing(r, 1))) return;
    realm_close(r), realm_release(r);
    for (int bits = 31; bits >= 28; bits--) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            failed = 0;
            long pages = 0;
            FILE* sizes = fopen("/proc/self/statm", "r");
            if (!sizes || fscanf(sizes, "%ld", &pages) != 1) _exit(2);
            fclose(sizes);
            struct rlimit limit;
            limit.rlim_cur = limit.rlim_max = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)1 << bits);
            CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
            realm_config_t* c = new_config(path);
            crealm_check_t* check = NULL;
            CHECK(crealm_check(c, 10, &check) && check);
            realm_free(check), realm_release(c);
            realm_t* opened = open_at(path);
            if (CHECK(opened)) {
                void* memory = malloc((size_t)32 << 20);
                CHECK(memory);
                free(memory);
                for (int i = 0; i < 20; i++) CHECK(add_thing(opened, i));
                realm_close(opened), realm_release(opened);
            }
            _exit(failed != 0);
        }
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

int main(int argc, char** argv) {
    const char* only = argc > 3 ? argv[3] : "";
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    setenv("SWIFT_BACKTRACE", "enable=no", 0);
    wanted_files = argc > 2 ? atoi(argv[2]) : 1500;
    if (!mkdtemp(folder)) give_up();
    name_file("a.realm");
    const struct {
        const char* name;
        void (*body)(void);
    } parts[] = {{"pinner", pinner}, {"many_realms", many_realms}, {"many_files", many_files}, {"few_descriptors", few_descriptors},
                 {"no_locks", no_locks}, {"empty_leaf", empty_leaf}, {"chain", chain},
                 {"little_address_space", little_address_space}};
    if (!*only || strcmp(only, "pinners") == 0) pinners();
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        section = parts[i].name;
        if (!*only || strcmp(only, section) == 0) CHECK(in_child(parts[i].body));
    }
    return finished(folder);
}
