/*
 * Files that lose pages while they are open. Goal: whatever part is cut off, at any time, and whatever the program does
 * then, it gets an error that names the file: no signal, no wrong value, no commit; and when the file is intact again
 * it can be opened again.
 * Method: each case in its own process, so that a signal counts as a failure: files of many pages, plain and encrypted,
 * and their lock files are cut to many sizes beside readers, writers, live results and queries. Another case writes
 * random bytes into lock files.
 *
 *     lost_pages_test
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { LOST = RLM_ERR_FILE_OPERATION_FAILED, OBJECTS = 8000, OPERATIONS = 18 };

static char folder[] = "/tmp/lost_pages_test.XXXXXX";
static char path[120], good[160], lock_path[160];
static const char* secret;

/* ---- Processes and files ------------------------------------------------------------------------ */

/* Runs one case in a child process and adds its counts. */
static void in_child(const char* name, void (*run)(int), int argument) {
    fflush(stdout);
    int both[2];
    if (pipe(both) != 0) give_up();
    pid_t child = fork();
    if (child == 0) {
        passed = failed = 0;
        section = name;
        alarm(1800); /* a case that takes longer hangs */
        run(argument);
        int counts[2] = {passed, failed};
        ssize_t n = write(both[1], counts, sizeof counts);
        fflush(stdout);
        _exit(n == sizeof counts ? 0 : 9);
    }
    close(both[1]);
    int counts[2] = {0, 1}, status = 0;
    ssize_t n = read(both[0], counts, sizeof counts);
    close(both[0]);
    waitpid(child, &status, 0);
    int by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (n != sizeof counts) printf("FAIL %s %d: ended by signal %d, status %d\n", name, argument, by, WEXITSTATUS(status));
    passed += counts[0];
    failed += counts[1];
}
static bool copy_file(const char* from, const char* to) {
    char buffer[1 << 16];
    int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n = 0;
    while (in >= 0 && out >= 0 && (n = read(in, buffer, sizeof buffer)) > 0)
        if (write(out, buffer, (size_t)n) != n) n = -1;
    close(in);
    close(out);
    return n == 0;
}
static off_t size_of(const char* name) {
    struct stat s;
    return stat(name, &s) == 0 ? s.st_size : -1;
}
/* Whether the error names the file or its lock file. Encrypted files are read with pread(), so their errors may have
   other numbers. */
static bool is_lost(void) {
    realm_error_t e;
    memset(&e, 0, sizeof e);
    if (!realm_get_last_error(&e)) return false;
    if (secret) return e.error != RLM_ERR_NONE;
    return (int)e.error == LOST && e.path && (!strcmp(e.path, path) || !strcmp(e.path, lock_path)) && strstr(e.message, "lost");
}

/* ---- Data --------------------------------------------------------------------------------------- */

static realm_t* open_realm(void) {
    realm_property_info_t properties[] = {
        property("id", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_PRIMARY_KEY),
        property("name", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_INDEXED),
        property("note", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0),
        property("numbers", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", 0),
        property("next", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Item", RLM_PROPERTY_NULLABLE),
    };
    const realm_property_info_t* lists[] = {properties};
    realm_class_info_t item;
    memset(&item, 0, sizeof item);
    item.name = "Item", item.primary_key = "id", item.num_properties = 5;
    realm_schema_t* schema = realm_schema_new(&item, 1, lists);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    if (secret) {
        uint8_t key[64];
        memset(key, 7, sizeof key);
        realm_config_set_encryption_key(config, key, sizeof key);
        crealm_config_set_page_cipher(config, !strcmp(secret, "realm") ? CREALM_PAGE_CIPHER_REALM : CREALM_PAGE_CIPHER_XCHACHA20_POLY1305);
    }
    realm_t* realm = realm_open(config);
    realm_release(config);
    realm_release(schema);
    return realm;
}
static realm_class_key_t items;
static realm_property_key_t id, name, note, numbers, next;
static bool find_keys(realm_t* realm) {
    struct { const char* name; realm_property_key_t* key; } all[] = {
        {"id", &id}, {"name", &name}, {"note", &note}, {"numbers", &numbers}, {"next", &next}};
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(realm, "Item", &found, &info) || !found) return false;
    items = info.key;
    for (size_t i = 0; i < 5; i++) {
        realm_property_info_t p;
        if (!realm_find_property(realm, items, all[i].name, &found, &p) || !found) return false;
        *all[i].key = p.key;
    }
    return true;
}
static bool fill(realm_t* realm) {
    if (!find_keys(realm) || !realm_begin_write(realm)) return false;
    realm_object_t* last = NULL;
    for (int i = 0; i < OBJECTS; i++) {
        char words[120];
        realm_object_t* o = realm_object_create_with_primary_key(realm, items, integer(i));
        snprintf(words, sizeof words, "name %d", i % 2000);
        bool done = o && realm_set_value(o, name, text(words), false);
        snprintf(words, sizeof words, "a longer text of object %d, so that there are many pages of blobs to read: %d", i, i * 7);
        done = done && realm_set_value(o, note, text(words), false);
        if (i % 16 == 0) {
            realm_list_t* list = realm_get_list(o, numbers);
            for (int k = 0; k < 40; k++) done = done && realm_list_insert(list, (size_t)k, integer(i + k));
            realm_release(list);
        }
        if (last) {
            realm_value_t link;
            memset(&link, 0, sizeof link);
            link.type = RLM_TYPE_LINK, link.link = realm_object_as_link(last);
            done = done && realm_set_value(o, next, link, false);
        }
        if (!done) return false;
        realm_release(last);
        last = o;
    }
    realm_release(last);
    return realm_commit(realm);
}
/* A number over all data in the file; 0 after an error. */
static uint64_t digest(realm_t* realm) {
    realm_results_t* all = realm_object_find_all(realm, items);
    size_t n = 0;
    uint64_t sum = 14695981039346656037u;
    if (!all || !realm_results_count(all, &n)) sum = 0;
    for (size_t i = 0; sum && i < n; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        realm_value_t values[3];
        realm_property_key_t keys[3] = {id, name, note};
        if (!o || !realm_get_values(o, 3, keys, values)) {
            sum = 0;
        } else {
            sum = (sum ^ (uint64_t)values[0].integer) * 1099511628211u;
            for (int k = 1; k < 3; k++)
                for (size_t j = 0; j < values[k].string.size; j++) sum = (sum ^ (uint8_t)values[k].string.data[j]) * 1099511628211u;
        }
        realm_release(o);
    }
    realm_release(all);
    return sum;
}

/* ---- Operations of programs ----------------------------------------------------------------------- */

struct uses {
    realm_t* realm;
    realm_results_t *all, *some, *sorted;
    realm_object_t *first, *middle, *last;
    realm_list_t* list;
    uint64_t digest;
};
static realm_results_t* ask(realm_t* realm, const char* words) {
    realm_query_t* q = realm_query_parse(realm, items, words, 0, NULL);
    realm_results_t* r = q ? realm_query_find_all(q) : NULL;
    realm_release(q);
    return r;
}
static bool begin_uses(struct uses* u) {
    memset(u, 0, sizeof *u);
    u->realm = open_realm();
    if (!u->realm || !find_keys(u->realm)) return false;
    u->all = realm_object_find_all(u->realm, items);
    u->some = ask(u->realm, "note CONTAINS '13' AND numbers.@count == 0");
    u->sorted = ask(u->realm, "id > 100 SORT(note DESC)");
    size_t n = 0;
    u->first = realm_object_find_with_primary_key(u->realm, items, integer(0), NULL);
    u->middle = realm_object_find_with_primary_key(u->realm, items, integer(OBJECTS / 2), NULL);
    u->last = realm_object_find_with_primary_key(u->realm, items, integer(OBJECTS - 1), NULL);
    u->list = realm_get_list(u->first, numbers);
    u->digest = digest(u->realm);
    return u->digest && u->first && u->middle && u->last && u->list && realm_results_count(u->some, &n) && realm_results_count(u->sorted, &n);
}
static void end_uses(struct uses* u) {
    if (u->realm) CHECK(realm_close(u->realm));
    void* all[] = {u->all, u->some, u->sorted, u->first, u->middle, u->last, u->list, u->realm};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) realm_release(all[i]);
}
static bool read_list(struct uses* u) {
    size_t n = 0;
    realm_value_t v;
    if (!realm_list_size(u->list, &n) || n != 40) return false;
    for (size_t i = 0; i < n; i++)
        if (!realm_list_get(u->list, i, &v) || v.integer != (int64_t)i) return false;
    return true;
}
/* Runs operation `which`. Returns true when its result was right, false when it failed. A wrong result counts as a
   failure of the test. */
static bool operate(struct uses* u, int which) {
    size_t n = 0;
    realm_value_t v, w;
    bool found = false, done = false;
    char target[160];
    snprintf(target, sizeof target, "%s.copy", path);
    switch (which) {
        case 0: {
            uint64_t sum = digest(u->realm);
            if (sum) CHECK(sum == u->digest);
            return sum != 0;
        }
        case 1:
            done = realm_get_value(u->last, note, &v);
            if (done) CHECK(v.string.size > 40 && !memcmp(v.string.data, "a longer text of object 7999", 28));
            return done;
        case 2: done = realm_get_value(u->middle, id, &v); if (done) CHECK(v.integer == OBJECTS / 2); return done;
        case 3: return read_list(u);
        case 4: done = realm_results_count(u->all, &n); if (done) CHECK(n == OBJECTS); return done;
        case 5: { realm_object_t* o = realm_results_get_object(u->sorted, 5); realm_release(o); return o != NULL; }
        case 6: {
            realm_results_t* r = ask(u->realm, "name == 'name 77'");
            done = r && realm_results_count(r, &n);
            if (done) CHECK(n == OBJECTS / 2000);
            realm_release(r);
            return done;
        }
        case 7: {
            realm_results_t* r = ask(u->realm, "note CONTAINS[c] 'OBJECT 1999'");
            done = r && realm_results_count(r, &n);
            if (done) CHECK(n == 1);
            realm_release(r);
            return done;
        }
        case 8: done = realm_results_sum(u->all, id, &v, NULL); if (done) CHECK(v.integer == (int64_t)OBJECTS * (OBJECTS - 1) / 2); return done;
        case 9: {
            realm_object_t* o = realm_object_find_with_primary_key(u->realm, items, integer(777), &found);
            done = o && realm_get_value(o, name, &v);
            if (done) CHECK(v.string.size == 8 && !memcmp(v.string.data, "name 777", 8));
            realm_release(o);
            return done;
        }
        case 10: done = realm_get_value(u->last, next, &w); if (done) CHECK(w.type == RLM_TYPE_LINK); return done;
        case 11: {
            char* json = realm_object_to_string(u->middle);
            realm_free(json);
            return json != NULL;
        }
        case 12: return crealm_verify(u->realm, NULL);
        case 13: { bool did; return realm_refresh(u->realm, &did); }
        case 14: {
            realm_config_t* c = realm_config_new();
            realm_config_set_path(c, target);
            done = realm_convert_with_config(u->realm, c, false);
            realm_release(c);
            if (done) unlink(target);
            else result(access(target, F_OK) != 0, __LINE__, "a copy that failed leaves no file");
            return done;
        }
        case 15:
            return realm_begin_write(u->realm) && realm_set_value(u->middle, name, text("another"), false) && realm_rollback(u->realm);
        case 16: return realm_results_delete_all(u->some);
        default: {
            bool did = false;
            return realm_compact(u->realm, &did) && did;
        }
    }
}

/* ---- Cases ---------------------------------------------------------------------------------------- */

static void restore(struct uses* u) {
    end_uses(u);
    CHECK(copy_file(good, path));
    struct uses again;
    if (CHECK(begin_uses(&again))) CHECK(again.digest == u->digest);
    end_uses(&again);
}
/* Cuts the file, then runs all operations, beginning with `first`. */
static void cut_and_operate(int argument) {
    int first = argument % OPERATIONS, where = argument / OPERATIONS;
    struct uses u;
    CHECK(copy_file(good, path));
    if (!CHECK(begin_uses(&u))) return;
    off_t size = size_of(path);
    off_t sizes[] = {0, 4096, size / 4 / 4096 * 4096, size / 2 + 100, size - 65536};
    CHECK(truncate(path, sizes[where]) == 0);
    bool failed_before = false;
    for (int i = 0; i < OPERATIONS; i++) {
        int which = (first + i) % OPERATIONS;
        realm_clear_last_error();
        bool done = operate(&u, which);
        /* Outside a write transaction nothing can be deleted: that is another error. */
        if (which == 16 && !failed_before && !is_lost()) continue;
        if (!done) result(is_lost(), __LINE__, "the call fails as it must");
        /* Once pages are known to be lost, all calls fail. Encrypted files are read page by page: the remaining pages
           may still be read. */
        if (failed_before && !secret) result(!done, __LINE__, "a later call fails");
        if (!done) failed_before = true;
    }
    if (where == 0) CHECK(failed_before);
    restore(&u);
}
/* The file is cut in the middle of a write transaction: the commit fails, and nothing of it reaches the header. */
static void cut_and_commit(int where) {
    struct uses u;
    CHECK(copy_file(good, path));
    if (!CHECK(begin_uses(&u))) return;
    off_t size = size_of(path);
    off_t sizes[] = {4096, size / 4 / 4096 * 4096, size / 2 + 100, size - 65536};
    CHECK(realm_begin_write(u.realm));
    CHECK(realm_set_value(u.first, note, text("changed"), false));
    char before[24], after[24];
    int fd = open(path, O_RDWR);
    CHECK(pread(fd, before, 24, 0) == 24);
    CHECK(ftruncate(fd, sizes[where]) == 0);
    bool done = true;
    for (int i = 0; done && i < 40; i++) {
        realm_object_t* o = realm_object_find_with_primary_key(u.realm, items, integer(i * 199), NULL);
        done = o && realm_set_value(o, note, text("changed as well"), false);
        realm_release(o);
    }
    if (done || realm_is_writable(u.realm)) CHECK(!realm_commit(u.realm) && is_lost());
    CHECK(pread(fd, after, 24, 0) == 24);
    CHECK(!memcmp(before, after, 24));
    close(fd);
    restore(&u);
}
/* Cuts the lock file: open readers may still read; nothing is committed. */
static void cut_lock(int argument) {
    struct uses u;
    CHECK(copy_file(good, path));
    if (!CHECK(begin_uses(&u))) return;
    bool writing = argument % 2;
    if (writing) CHECK(realm_begin_write(u.realm) && realm_set_value(u.first, note, text("changed"), false));
    CHECK(truncate(lock_path, argument / 2 ? 4096 : 0) == 0);
    char before[24], after[24];
    int fd = open(path, O_RDONLY);
    CHECK(pread(fd, before, 24, 0) == 24);
    if (writing) {
        CHECK(!realm_commit(u.realm) && last_error() == LOST);
    } else {
        /* Readers need only the first page. */
        bool did;
        bool moved = realm_refresh(u.realm, &did);
        if (argument / 2 == 0) result(!moved && last_error() == LOST, __LINE__, "a refresh fails");
        bool begun = realm_begin_write(u.realm);
        bool committed = begun && realm_set_value(u.first, note, text("changed"), false) && realm_commit(u.realm);
        result(!committed && last_error() == LOST, __LINE__, "a write fails");
    }
    CHECK(pread(fd, after, 24, 0) == 24);
    CHECK(!memcmp(before, after, 24));
    close(fd);
    realm_clear_last_error();
    CHECK(digest(u.realm) == 0);
    restore(&u);
}
/* Threads read and write while the file is cut. */
static void* read_on(void* stop) {
    struct uses u;
    if (begin_uses(&u)) {
        while (!__atomic_load_n((int*)stop, __ATOMIC_ACQUIRE)) {
            uint64_t sum = digest(u.realm);
            if (sum) result(sum == u.digest, __LINE__, "what is read is right");
            realm_results_t* r = ask(u.realm, "note CONTAINS 'object 7999'");
            size_t n = 1;
            if (r && realm_results_count(r, &n)) result(n == 1, __LINE__, "what is found is right");
            realm_release(r);
        }
    }
    realm_close(u.realm);
    return NULL;
}
static void cut_beside_threads(int where) {
    struct uses u;
    CHECK(copy_file(good, path));
    if (!CHECK(begin_uses(&u))) return;
    int stop = 0;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, read_on, &stop);
    usleep(60000);
    CHECK(truncate(path, where ? size_of(path) / 2 : 4096) == 0);
    usleep(60000);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    if (!secret) CHECK(digest(u.realm) == 0 && is_lost());
    restore(&u);
}

/* ---- Scribbled lock files -------------------------------------------------------------------------- */

static uint64_t dice_state;
static uint64_t dice(uint64_t n) {
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return (dice_state >> 33) % n;
}
static void scribble(int fd) {
    for (uint64_t n = 1 + dice(4); n > 0; n--) {
        uint64_t words[] = {0, 1, 2, 24, 4096, UINT64_MAX, INT64_MAX, 1ull << 47, (1ull << 48) - 1, 1ull << 63, dice(1000),
                            dice(1u << 31) << 32 | dice(1u << 31), (1 + dice(5)) << 48 | dice(10)};
        uint64_t word = words[dice(sizeof words / sizeof *words)];
        off_t places[] = {(off_t)(16 + dice(6) * 8), (off_t)(64 + dice(256) * 8), (off_t)(4096 + dice(64) * 8), (off_t)dice(4096 + 2048 * 24 - 8)};
        if (pwrite(fd, &word, sizeof word, places[dice(4)]) != sizeof word) give_up();
    }
}
/* One of the operations that read the lock file; when it returns false, an error must be set. */
static void use_lock(struct uses* u) {
    bool did, done = true;
    uint64_t versions;
    realm_clear_last_error();
    switch (dice(7)) {
        case 0: done = realm_refresh(u->realm, &did); break;
        case 1: done = realm_begin_write(u->realm) && realm_set_value(u->first, note, text("scribbled"), false) && realm_commit(u->realm); break;
        case 2: done = realm_begin_write(u->realm) && realm_rollback(u->realm); break;
        case 3: done = realm_get_num_versions(u->realm, &versions); break;
        case 4: done = read_list(u); break;
        case 5: done = crealm_versions(u->realm, NULL, 0, NULL); break;
        default: {
            realm_t* other = open_realm();
            done = other != NULL;
            realm_release(other);
        }
    }
    int number = done ? 0 : last_error();
    if (!done) result(number != 0, __LINE__, "what fails says why");
    if (realm_is_writable(u->realm)) realm_rollback(u->realm);
}
static void scribbled(int seed) {
    CHECK(copy_file(good, path));
    pid_t beside = fork();
    dice_state = (uint64_t)seed * 2 + (beside == 0);
    int fd = open(lock_path, O_RDWR);
    for (int starts = 0; starts < 8; starts++) {
        struct uses u;
        realm_clear_last_error();
        if (begin_uses(&u)) {
            for (int i = 0; i < 40; i++) {
                scribble(fd);
                use_lock(&u);
            }
        } else {
            result(last_error() != 0, __LINE__, "what does not open says why");
        }
        end_uses(&u);
    }
    close(fd);
    if (beside == 0) _exit(failed != 0);
    int status = 0;
    waitpid(beside, &status, 0);
    CHECK(status == 0);
    /* A process that opens the file alone begins a new lock file; the database file was never at risk. */
    realm_t* realm = open_realm();
    if (CHECK(realm)) CHECK(crealm_verify(realm, NULL));
    realm_release(realm);
}

/* ---- Handlers of the host program ------------------------------------------------------------------- */

static volatile sig_atomic_t host_calls;
static void* host_address;
static stack_t host_stack;
static bool on_host_stack;
static char* repair_at;
static void host_handler(int signal, siginfo_t* info, void* context) {
    (void)signal, (void)context;
    char here;
    host_calls++;
    host_address = info->si_addr;
    on_host_stack = &here >= (char*)host_stack.ss_sp && &here < (char*)host_stack.ss_sp + host_stack.ss_size;
    mmap(repair_at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
static void host_simple(int signal) {
    (void)signal;
    host_calls++;
    mmap(repair_at, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}
/* A map of the host program whose file is cut, or memory without access rights. */
static char* host_fault(bool bus) {
    if (!bus) return (char*)mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char other[160];
    snprintf(other, sizeof other, "%s.other", path);
    int fd = open(other, O_RDWR | O_CREAT | O_TRUNC, 0600);
    char* p = (char*)mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    unlink(other);
    return p;
}
/* Bits of `how`: 1 SIGBUS or SIGSEGV, 2 with or without information, 4 once only. */
static void chained(int how) {
    int signal = how & 1 ? SIGBUS : SIGSEGV;
    host_stack.ss_size = 1 << 16;
    host_stack.ss_sp = malloc(host_stack.ss_size);
    CHECK(sigaltstack(&host_stack, NULL) == 0);
    struct sigaction mine;
    memset(&mine, 0, sizeof mine);
    if (how & 2) mine.sa_sigaction = host_handler; else mine.sa_handler = host_simple;
    mine.sa_flags = (how & 2 ? SA_SIGINFO | SA_ONSTACK : 0) | (how & 4 ? (int)SA_RESETHAND : 0);
    CHECK(sigaction(signal, &mine, NULL) == 0);
    struct uses u;
    CHECK(copy_file(good, path));
    if (!CHECK(begin_uses(&u))) return;
    repair_at = host_fault(how & 1);
    volatile char* touched = repair_at;
    CHECK(*touched == 0);
    CHECK(host_calls == 1);
    if (how & 2) CHECK(host_address == (void*)repair_at && on_host_stack);
    CHECK(truncate(path, 4096) == 0);
    CHECK(digest(u.realm) == 0 && is_lost());
    CHECK(host_calls == 1);
    restore(&u);
}
static int status_of(void (*run)(int), int argument) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run(argument);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}
/* Without a handler of the host program the signal ends it as if the library were absent. 0 fault, 1 sent, 2 sent and
   ignored. */
static void ends_by(int how) {
    struct uses u;
    if (how == 2) signal(SIGBUS, SIG_IGN);
    if (!begin_uses(&u)) _exit(7);
    if (how == 0) {
        volatile char* touched = host_fault(true);
        _exit(*touched + 7);
    }
    kill(getpid(), SIGBUS);
}
static void left_alone(int again) {
    struct sigaction now;
    struct uses u;
    if (!crealm_set_fault_guard(false) || !begin_uses(&u)) _exit(7);
    if (sigaction(SIGBUS, NULL, &now) != 0 || now.sa_handler != SIG_DFL) _exit(8);
    if (again) _exit(crealm_set_fault_guard(true) || last_error() != RLM_ERR_ILLEGAL_OPERATION ? 9 : 0);
    if (truncate(path, 4096) != 0) _exit(7);
    digest(u.realm);
}
static void signals(int unused) {
    (void)unused;
    CHECK(copy_file(good, path));
    CHECK(status_of(ends_by, 0) == SIGBUS);
    CHECK(status_of(ends_by, 1) == SIGBUS);
    CHECK(status_of(ends_by, 2) == 0);
    CHECK(status_of(left_alone, 1) == 0);
    CHECK(status_of(left_alone, 0) == SIGBUS);
    CHECK(copy_file(good, path));
}

/* ---- All ------------------------------------------------------------------------------------------ */

static void create(int unused) {
    (void)unused;
    realm_t* realm = open_realm();
    CHECK(realm && fill(realm));
    realm_close(realm);
    realm_release(realm);
    CHECK(copy_file(path, good));
}
int main(void) {
    if (!mkdtemp(folder)) return 2;
    /* LOST_PAGES_ONLY=plain, crealm or realm: one form of file. */
    const char* only = getenv("LOST_PAGES_ONLY");
    const char* forms[] = {NULL, "crealm", "realm"};
    for (int f = 0; f < 3; f++) {
        secret = forms[f];
        if (only && strcmp(only, secret ? secret : "plain")) continue;
        snprintf(path, sizeof path, "%s/%s.realm", folder, secret ? secret : "plain");
        snprintf(good, sizeof good, "%s.good", path);
        snprintf(lock_path, sizeof lock_path, "%s.lock", path);
        in_child("a new file", create, 0);
        /* Each operation is the first after the cut, for each size. */
        for (int first = 0; first < OPERATIONS; first += secret ? 5 : 1) in_child("cut, then use", cut_and_operate, first % 5 * OPERATIONS + first);
        for (int where = 0; where < 5; where++) in_child("cut, then read all", cut_and_operate, where * OPERATIONS);
        for (int where = 0; where < 4; where++) in_child("cut, then commit", cut_and_commit, where);
        for (int how = 0; how < 4; how++) in_child("cut the lock file", cut_lock, how);
        for (int seed = 0; seed < 6; seed++) in_child("scribbled lock file", scribbled, seed);
        for (int where = 0; where < 2; where++) in_child("cut beside threads", cut_beside_threads, where);
        if (secret) continue;
        for (int how = 0; how < 8; how++) in_child("the host's handler", chained, how);
        in_child("signals", signals, 0);
    }
    char command[220];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) return 2;
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed != 0;
}
