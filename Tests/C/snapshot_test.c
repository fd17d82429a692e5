/*
 * Snapshot opens. Goal: beside a writer that commits, grows and compacts without pause each open shows exactly one committed version or fails
 * with CREALM_ERR_FILE_KEEPS_CHANGING, and nothing in the file's folder is written, locked or created.
 *
 *     snapshot_test [FIXTURES [OPENS [LIBRARY]]]
 *
 * OPENS:   opens beside each writer (60); a third of that number beside writers of encrypted files.
 * LIBRARY: a shared library with Realm's C API, for instance realm-core's, which the writer uses instead of this one.
 *          An absolute path.
 *
 * Every commit of the writer changes every object of a class, moves amounts between other objects and adds or removes
 * some, so that the test can check that a snapshot is exactly one version: all numbers equal that of the version, the
 * amounts add up to zero, and the count is the one of the version.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>
#include <crealm_testing.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "atomics.h"
#include "checks.h"
#include "values.h"

enum { ITEMS = 150, MOST = 700, LONGEST = 3000 };

/* In memory if possible, so that the writer does not wait for a disk. */
static char folder[] = "/dev/shm/snapshot-XXXXXX";
static char path[100];

/* ---- Any library ---------------------------------------------------------------------------------- */

static void* library;
/* The function of the loaded library: the writer may use another library than the one this program is linked with. */
#define F(name) ((__typeof__(&name))symbol(#name))
static void* symbol(const char* name) {
    void* found = dlsym(library, name);
    if (!found) {
        printf("missing symbol %s\n", name);
        exit(3);
    }
    return found;
}
static void nothing(realm_userdata_t u) { (void)u; }
static void notify(realm_userdata_t u, realm_work_queue_t* q) { (void)u, (void)q; }
static bool yes(realm_userdata_t u) {
    (void)u;
    return true;
}
static bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }

/* How the file is encrypted. */
enum form { PLAIN, SEALED, REALMS, FORMS };
static const char* const forms[] = {"plain", "CRealm's form", "Realm's form"};
static const uint8_t* key(void) {
    static uint8_t bytes[64];
    for (int i = 0; i < 64; i++) bytes[i] = (uint8_t)(i * 7 + 3);
    return bytes;
}
static realm_t* open_to_write(enum form form) {
    enum { INT = RLM_PROPERTY_TYPE_INT, STRING = RLM_PROPERTY_TYPE_STRING, ONE = RLM_COLLECTION_TYPE_NONE };
    realm_property_info_t of_item[] = {
        property("id", INT, ONE, "", RLM_PROPERTY_PRIMARY_KEY), property("n", INT, ONE, "", 0), property("amount", INT, ONE, "", 0),
        property("text", STRING, ONE, "", RLM_PROPERTY_INDEXED)};
    realm_property_info_t of_filler[] = {property("n", INT, ONE, "", 0), property("text", STRING, ONE, "", 0)};
    realm_property_info_t of_state[] = {property("n", INT, ONE, "", 0), property("fillers", INT, ONE, "", 0)};
    const realm_property_info_t* properties[] = {of_item, of_filler, of_state};
    realm_class_info_t classes[] = {class_info("Item", "id", 4, 0, 0), class_info("Filler", "", 2, 0, 0), class_info("State", "", 2, 0, 0)};
    realm_schema_t* schema = F(realm_schema_new)(classes, 3, properties);
    realm_config_t* c = F(realm_config_new)();
    F(realm_config_set_path)(c, path);
    F(realm_config_set_schema)(c, schema);
    F(realm_config_set_schema_version)(c, 1);
    F(realm_config_set_schema_mode)(c, RLM_SCHEMA_MODE_AUTOMATIC);
    F(realm_config_set_cached)(c, false);
    F(realm_config_set_automatic_change_notifications)(c, false);
    if (form != PLAIN) F(realm_config_set_encryption_key)(c, key(), 64);
    if (form == REALMS && dlsym(library, "crealm_config_set_page_cipher")) F(crealm_config_set_page_cipher)(c, CREALM_PAGE_CIPHER_REALM);
    realm_scheduler_t* scheduler = F(realm_scheduler_new)(NULL, nothing, notify, yes, same, yes);
    F(realm_config_set_scheduler)(c, scheduler);
    realm_t* realm = F(realm_open)(c);
    F(realm_release)(scheduler);
    F(realm_release)(schema);
    F(realm_release)(c);
    return realm;
}

/* ---- The writer ----------------------------------------------------------------------------------- */

/* Data shared by writer and reader. */
struct shared {
    ATOMIC(int64_t) begun;     /* the newest version whose transaction began */
    ATOMIC(int64_t) committed; /* the newest version whose commit returned */
    ATOMIC(int64_t) compacted;
    ATOMIC(int) stop;
};
static struct shared* shared;

struct classes {
    realm_class_key_t item, filler, state;
    realm_property_key_t id, n, amount, text, filler_n, filler_text, state_n, state_fillers;
};
static realm_class_key_t class_of(const realm_t* r, const char* name) {
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    return F(realm_find_class)(r, name, &found, &info) && found ? info.key : RLM_INVALID_CLASS_KEY;
}
static realm_property_key_t property_of(const realm_t* r, realm_class_key_t c, const char* name) {
    bool found = false;
    realm_property_info_t info;
    memset(&info, 0, sizeof info);
    return F(realm_find_property)(r, c, name, &found, &info) && found ? info.key : RLM_INVALID_PROPERTY_KEY;
}
static struct classes classes_of(const realm_t* r) {
    struct classes k;
    k.item = class_of(r, "Item"), k.filler = class_of(r, "Filler"), k.state = class_of(r, "State");
    k.id = property_of(r, k.item, "id"), k.n = property_of(r, k.item, "n"), k.amount = property_of(r, k.item, "amount");
    k.text = property_of(r, k.item, "text");
    k.filler_n = property_of(r, k.filler, "n"), k.filler_text = property_of(r, k.filler, "text");
    k.state_n = property_of(r, k.state, "n"), k.state_fillers = property_of(r, k.state, "fillers");
    return k;
}
static uint64_t mixed_up(uint64_t z) {
    z = (z + 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
/* A text whose content and length depend on n. */
static size_t text_for(uint64_t n, char* to) {
    size_t length = 20 + mixed_up(n) % (n % 5 == 0 ? LONGEST - 20 : 100);
    int head = snprintf(to, LONGEST, "%llu:", (unsigned long long)n);
    for (size_t i = (size_t)head; i < length; i++) to[i] = (char)('a' + (n + i) % 26);
    return length;
}
static bool is_text_for(uint64_t n, realm_string_t found) {
    static char wanted[LONGEST];
    size_t length = text_for(n, wanted);
    return found.size == length && memcmp(found.data, wanted, length) == 0;
}
static int64_t int_of(const realm_object_t* o, realm_property_key_t p) {
    realm_value_t v;
    return F(realm_get_value)(o, p, &v) && v.type == RLM_TYPE_INT ? v.integer : INT64_MIN;
}
static bool set(realm_object_t* o, realm_property_key_t p, realm_value_t v) { return F(realm_set_value)(o, p, v, false); }

/* The object whose index is `i` in a class; released by the caller. */
static realm_object_t* at(realm_t* r, realm_class_key_t c, size_t i) {
    realm_results_t* all = F(realm_object_find_all)(r, c);
    realm_object_t* o = all ? F(realm_results_get_object)(all, i) : NULL;
    F(realm_release)(all);
    return o;
}
/* Adds or removes filler objects, so that the file grows and gets free space. */
static bool change_fillers(realm_t* r, const struct classes* k, int64_t n, int64_t* count) {
    static char words[LONGEST];
    bool good = true;
    if (*count > MOST) {
        realm_results_t* all = F(realm_object_find_all)(r, k->filler);
        while (good && *count > MOST / 4) {
            realm_object_t* o = F(realm_results_get_object)(all, mixed_up((uint64_t)*count) % (uint64_t)*count);
            good = o && F(realm_object_delete)(o);
            F(realm_release)(o);
            --*count;
        }
        F(realm_release)(all);
    } else {
        for (int i = 0; good && i < 12; i++, ++*count) {
            realm_object_t* o = F(realm_object_create)(r, k->filler);
            uint64_t number = (uint64_t)n * 100 + (uint64_t)i;
            good = o && set(o, k->filler_n, integer((int64_t)number)) && set(o, k->filler_text, text_of(words, text_for(number, words)));
            F(realm_release)(o);
        }
    }
    return good;
}
/* One commit; a small commit changes only the numbers, so that each takes as much space as the one before. */
static bool commit_as(realm_t* r, const struct classes* k, bool is_small) {
    static char words[LONGEST];
    realm_object_t* state = at(r, k->state, 0);
    int64_t n = state ? int_of(state, k->state_n) + 1 : 1, fillers = state ? int_of(state, k->state_fillers) : 0;
    shared->begun = n;
    bool good = F(realm_begin_write)(r);
    if (!state) state = F(realm_object_create)(r, k->state);
    good = good && state;
    int64_t moved = (int64_t)(mixed_up((uint64_t)n) % 1000);
    uint64_t from = (uint64_t)n % ITEMS, to = (uint64_t)(n * 7 + 1) % ITEMS, renamed = (uint64_t)n * 13 % ITEMS;
    for (int64_t id = 0; good && id < ITEMS; id++) {
        bool made = false;
        realm_object_t* o = F(realm_object_get_or_create_with_primary_key)(r, k->item, integer(id), &made);
        good = o && set(o, k->n, integer(n));
        int64_t change = (id == (int64_t)to ? moved : 0) - (id == (int64_t)from ? moved : 0);
        if (good && change && !is_small) good = set(o, k->amount, integer(int_of(o, k->amount) + change));
        if (good && (made || (id == (int64_t)renamed && !is_small)))
            good = set(o, k->text, text_of(words, text_for((uint64_t)(id * 1000000 + n), words)));
        F(realm_release)(o);
    }
    if (good && n % 3 == 0 && !is_small) good = change_fillers(r, k, n, &fillers);
    good = good && set(state, k->state_n, integer(n)) && set(state, k->state_fillers, integer(fillers)) && F(realm_commit)(r);
    F(realm_release)(state);
    shared->committed = n;
    return good;
}
static bool commit(realm_t* r, const struct classes* k) { return commit_as(r, k, false); }
/* Commits, grows, compacts and reopens the file until it is stopped or its parent ends. */
static int write_on(enum form form, pid_t parent) {
    while (!shared->stop && getppid() == parent) {
        realm_t* r = open_to_write(form);
        if (!r) break;
        struct classes k = classes_of(r);
        bool good = true;
        for (int i = 0; good && i < 150 && !shared->stop; i++) {
            good = commit(r, &k);
            bool did = false;
            if (good && i % 10 == 5 && F(realm_compact)(r, &did) && did) shared->compacted = shared->compacted + 1;
        }
        F(realm_release)(r);
        if (!good) break;
    }
    if (shared->stop) return 0;
    realm_error_t e;
    memset(&e, 0, sizeof e);
    F(realm_get_last_error)(&e);
    printf("the writer failed: error %d: %s\n", (int)e.error, e.message ? e.message : "?");
    fflush(stdout);
    return 1;
}
static pid_t start_writer(enum form form, const char* other) {
    fflush(stdout);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        if (other) library = dlopen(other, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
        if (!library) printf("%s\n", dlerror());
        alarm(3600);
        if (library) F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
        _exit(library ? write_on(form, parent) : 1);
    }
    return child;
}

/* ---- The reader ----------------------------------------------------------------------------------- */

static realm_t* open_snapshot(enum form form) {
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    if (form != PLAIN) realm_config_set_encryption_key(c, key(), 64);
    crealm_config_set_snapshot(c, true);
    realm_t* r = realm_open(c);
    realm_release(c);
    return r;
}
/* The version that a snapshot shows: 0 for an empty file, −1 for a mixture, whose contradiction it prints. */
static int64_t shown(realm_t* r) {
    struct classes k = classes_of(r);
    if (k.item == RLM_INVALID_CLASS_KEY) return 0;
    realm_object_t* state = at(r, k.state, 0);
    size_t items = 0, fillers = 0;
    if (!realm_get_num_objects(r, k.item, &items) || !realm_get_num_objects(r, k.filler, &fillers)) {
        printf("  counts cannot be read\n");
        return -1;
    }
    if (!state) return items || fillers ? -1 : 0;
    int64_t n = int_of(state, k.state_n), sum = 0, wrong = 0, expected = int_of(state, k.state_fillers);
    realm_release(state);
    realm_results_t* all = realm_object_find_all(r, k.item);
    for (size_t i = 0; i < items; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        realm_value_t v;
        wrong += !o || int_of(o, k.n) != n;
        sum += o ? int_of(o, k.amount) : 1;
        bool good = o && realm_get_value(o, k.text, &v) && v.type == RLM_TYPE_STRING && v.string.size > 0;
        wrong += !good || !is_text_for(strtoull(v.string.data, NULL, 10), v.string);
        realm_release(o);
    }
    realm_release(all);
    all = realm_object_find_all(r, k.filler);
    for (size_t i = 0; i < fillers; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        realm_value_t v;
        bool good = o && realm_get_value(o, k.filler_text, &v) && v.type == RLM_TYPE_STRING;
        wrong += !good || !is_text_for((uint64_t)int_of(o, k.filler_n), v.string);
        realm_release(o);
    }
    realm_release(all);
    if (items == ITEMS && sum == 0 && wrong == 0 && (int64_t)fillers == expected) return n;
    printf("  version %lld: %zu items, sum %lld, %lld wrong, %zu of %lld fillers\n", (long long)n, items, (long long)sum, (long long)wrong, fillers,
           (long long)expected);
    return -1;
}

/* Opens snapshots beside a writer and counts the versions they show. */
static void beside(enum form form, int opens, const char* other) {
    shared->begun = shared->committed = shared->compacted = 0;
    shared->stop = 0;
    unlink(path);
    pid_t writer = start_writer(form, other);
    int status = 0, good = 0, moved = 0, mixed = 0, other_errors = 0, old = 0, unsound = 0, versions = 0;
    int64_t last = 0;
    for (int waited = 0; shared->committed < 3 && waited < 60000 && waitpid(writer, &status, WNOHANG) == 0; waited++) usleep(1000);
    for (int i = 0; i < opens; i++) {
        int64_t least = shared->committed;
        realm_t* r = open_snapshot(form);
        if (!r) {
            if (last_error() == CREALM_ERR_FILE_KEEPS_CHANGING) {
                moved++;
            } else if (other_errors++ < 5) {
                realm_error_t e;
                realm_get_last_error(&e);
                printf("  error %d: %s\n", (int)e.error, e.message);
            }
            continue;
        }
        int64_t most = shared->begun, n = shown(r);
        mixed += n < 0;
        good += n >= 0;
        /* It must be the newest version at some moment during the call. */
        old += n >= 0 && (n < least || n > most || n < last);
        versions += n > last;
        if (n > last) last = n;
        if (i % 20 == 0) {
            char* report = NULL;
            if (!crealm_verify(r, &report)) {
                if (unsound++ < 3) printf("  version %lld is not sound: %s\n", (long long)n, report ? report : "no report");
            }
            realm_free(report);
        }
        realm_release(r);
    }
    shared->stop = 1;
    if (!CHECK(waitpid(writer, &status, 0) == writer && WIFEXITED(status) && WEXITSTATUS(status) == 0)) kill(writer, SIGKILL);
    printf("%s, written by %s: %d opens beside %lld commits and %lld compactions: %d shown (%d versions), %d moved, %d mixed,"
           " %d other errors, %d not the newest, %d not sound\n",
           forms[form], other ? other : "this library", opens, (long long)shared->committed, (long long)shared->compacted, good, versions, moved,
           mixed, other_errors, old, unsound);
    CHECK(good + moved == opens && mixed == 0 && other_errors == 0 && old == 0 && unsound == 0);
    CHECK(good > 0 && versions > 0);
}

/* ---- Commits in the middle of a copy ------------------------------------------------------------- */

static realm_t* writer_here;
static struct classes keys_here;
static struct {
    int copies, commits;      /* calls that copied from the file; commits that were made inside them */
    int budget;               /* number of copies to disturb */
    bool until_header_is_back;
    bool same_header;         /* the header was the same after the commits */
    bool no_memory, no_range; /* system calls that fail */
    int nameless;             /* unnamed files made, outside of memory */
} copying;

static void read_header(uint8_t to[24]) {
    int fd = open(path, O_RDONLY);
    if (pread(fd, to, 24, 0) != 24) memset(to, 0, 24);
    close(fd);
}
static ssize_t disturbed_copy(int from, int64_t* from_offset, int to, int64_t* to_offset, size_t count, unsigned flags) {
    copying.copies++;
    if (copying.no_range) {
        errno = EXDEV;
        return -1;
    }
    if (copying.budget <= 0 || *from_offset != 0) return (ssize_t)syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags);
    copying.budget--;
    ssize_t done = 0;
    /* The first half before the commits, the rest after them. */
    char* buffer = (char*)malloc(count);
    size_t half = count / 2;
    if (pread(from, buffer, half, *from_offset) == (ssize_t)half) done = pwrite(to, buffer, half, *to_offset);
    uint8_t before[24], after[24];
    read_header(before);
    for (int i = 0; i < (copying.until_header_is_back ? 60 : 1); i++) {
        if (!commit_as(writer_here, &keys_here, copying.until_header_is_back)) break;
        copying.commits++;
        read_header(after);
        if ((copying.same_header = memcmp(before, after, 24) == 0)) break;
    }
    free(buffer);
    return done;
}
static int memory_file(const char* name, unsigned flags) {
    if (!copying.no_memory) return (int)syscall(SYS_memfd_create, name, flags);
    errno = ENOSYS;
    return -1;
}
static int counting_open(const char* name, int flags, int mode) {
    int fd = open(name, flags, mode);
#ifdef O_TMPFILE
    if (fd >= 0 && (flags & O_TMPFILE) == O_TMPFILE) copying.nameless++;
#endif
    return fd;
}
static void hook(void) {
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.copy_file_range = disturbed_copy;
    calls.memfd_create = memory_file;
    calls.open = counting_open;
    crealm_set_system_calls(&calls);
    memset(&copying, 0, sizeof copying);
}
static void test_commits_inside(enum form form) {
    section = "commits in the middle of a copy";
    unlink(path);
    writer_here = open_to_write(form);
    if (!CHECK(writer_here)) give_up();
    keys_here = classes_of(writer_here);
    for (int i = 0; i < 12; i++) CHECK(commit(writer_here, &keys_here));
    hook();

    realm_t* r = open_snapshot(form);
    CHECK(r && shown(r) == shared->committed && copying.copies == 1);
    realm_release(r);

    /* One commit, or several that lead back to the same header: the copy is made again. */
    for (int back = 0; back < 2; back++) {
        hook();
        copying.budget = 3;
        copying.until_header_is_back = back == 1;
        r = open_snapshot(form);
        CHECK(r && shown(r) == shared->committed && copying.copies >= 7 && copying.commits >= 3);
        if (back && form == PLAIN) CHECK(copying.same_header);
        char* report = NULL;
        CHECK(r && crealm_verify(r, &report) && !report);
        realm_free(report);
        realm_release(r);
    }
    /* A commit in each attempt. */
    hook();
    copying.budget = 1000;
    FAILS(CREALM_ERR_FILE_KEEPS_CHANGING, open_snapshot(form));
    CHECK(copying.commits == 100);

    /* A snapshot does not change while the file is written, and is released with its last handle. */
    hook();
    r = open_snapshot(form);
    int64_t then = shared->committed;
    for (int i = 0; i < 5; i++) CHECK(commit(writer_here, &keys_here));
    CHECK(r && shown(r) == then);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_refresh(r, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(r));
    realm_t* frozen = realm_freeze(r);
    realm_t* second = open_snapshot(form);
    CHECK(frozen && shown(frozen) == then && second && shown(second) == then + 5);
    realm_release(frozen);
    realm_release(second);
    realm_release(r);

    /* Each way to make the copy. */
    for (int way = 0; way < 4; way++) {
        hook();
        copying.no_memory = way & 1;
        copying.no_range = way & 2;
        r = open_snapshot(form);
        CHECK(r && shown(r) == then + 5);
#ifdef O_TMPFILE
        CHECK(copying.nameless == (copying.no_memory ? 1 : 0));
#endif
        realm_release(r);
    }
    crealm_set_system_calls(NULL);
    realm_release(writer_here);
}

/* ---- Contents that a snapshot must not show ------------------------------------------------------- */

static int64_t seen_at_flush;
static int flushes;
static int look_at_flush(int fd) {
    /* The record of the commit and all of its nodes are in the file; now it is decided whether the commit succeeds. */
    if (flushes++ == 0) {
        realm_t* r = open_snapshot(PLAIN);
        seen_at_flush = r ? shown(r) : -2;
        realm_release(r);
    }
    return fdatasync(fd);
}
static void test_before_the_flush(void) {
    section = "a commit that is not decided";
    unlink(path);
    realm_t* r = open_to_write(PLAIN);
    if (!CHECK(r)) give_up();
    struct classes k = classes_of(r);
    for (int i = 0; i < 4; i++) CHECK(commit(r, &k));
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.fdatasync = look_at_flush;
    crealm_set_system_calls(&calls);
    flushes = 0;
    CHECK(commit(r, &k) && flushes > 0);
    crealm_set_system_calls(NULL);
    CHECK(seen_at_flush == shared->committed - 1);
    realm_release(r);
}
static ssize_t die_at_header(int fd, const void* buffer, size_t count, off_t offset) {
    if (offset == 0 && count == 24) _exit(7);
    return pwrite(fd, buffer, count, offset);
}
/* A writer that dies after its flush has committed: the record leads to the version. */
static void test_after_the_flush(void) {
    section = "a writer that died behind its flush";
    unlink(path);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        realm_t* r = open_to_write(PLAIN);
        struct classes k = classes_of(r);
        for (int i = 0; i < 5; i++) commit(r, &k);
        crealm_system_calls_t calls;
        memset(&calls, 0, sizeof calls);
        calls.pwrite = die_at_header;
        crealm_set_system_calls(&calls);
        commit(r, &k);
        _exit(1);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 7);
    realm_t* r = open_snapshot(PLAIN);
    CHECK(r && shown(r) == shared->begun);
    realm_release(r);
}

/* ---- Leaving no trace ----------------------------------------------------------------------------- */

static int traces;
static char own_folder[200];
static bool is_inside(const char* name) { return strncmp(name, own_folder, strlen(own_folder)) == 0; }
static int no_open(const char* name, int flags, int mode) {
    if (is_inside(name) && (strcmp(name, path) != 0 || (flags & (O_ACCMODE | O_CREAT | O_TRUNC)) != O_RDONLY)) traces++;
    return open(name, flags, mode);
}
static int no_flock(int fd, int operation) {
    traces++;
    return flock(fd, operation);
}
static int no_record_lock(int fd, int command, struct flock* lock) {
    if (command != 36 && command != 92) traces++; /* except the query for the owner of a lock */
    return fcntl(fd, command, lock);
}
static bool is_named(int fd) {
    struct stat s;
    return fstat(fd, &s) == 0 && s.st_nlink > 0;
}
static ssize_t no_pwrite(int fd, const void* buffer, size_t count, off_t offset) {
    traces += is_named(fd);
    return pwrite(fd, buffer, count, offset);
}
static ssize_t no_range(int from, int64_t* from_offset, int to, int64_t* to_offset, size_t count, unsigned flags) {
    traces += is_named(to);
    return (ssize_t)syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags);
}
static int no_ftruncate(int fd, off_t size) {
    traces += is_named(fd);
    return ftruncate(fd, size);
}
static int no_fchmod(int fd, mode_t mode) {
    traces += is_named(fd);
    return fchmod(fd, mode);
}
static int no_unlink(const char* name) {
    traces += is_inside(name);
    return unlink(name);
}
static int no_rename(const char* from, const char* to) {
    traces++;
    return rename(from, to);
}
static struct stat status_of(const char* name) {
    struct stat s;
    if (stat(name, &s) != 0) memset(&s, 0, sizeof s);
    return s;
}
static bool is_untouched(struct stat a, struct stat b) {
    return a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
           a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}
static void test_no_trace(enum form form) {
    section = "no trace";
    CHECK(realpath(folder, own_folder));
    for (int live = 0; live < 2; live++) {
        unlink(path);
        realm_t* r = open_to_write(form);
        if (!CHECK(r)) give_up();
        struct classes k = classes_of(r);
        for (int i = 0; i < 8; i++) CHECK(commit(r, &k));
        char lock[120];
        snprintf(lock, sizeof lock, "%s.lock", path);
        if (!live) {
            realm_release(r);
            unlink(lock);
        }
        struct stat before[] = {status_of(folder), status_of(path), status_of(lock)};
        crealm_system_calls_t calls;
        memset(&calls, 0, sizeof calls);
        calls.open = no_open, calls.flock = no_flock, calls.fcntl_lock = no_record_lock, calls.pwrite = no_pwrite, calls.copy_file_range = no_range;
        calls.ftruncate = no_ftruncate, calls.fchmod = no_fchmod, calls.unlink = no_unlink, calls.rename = no_rename;
        traces = 0;
        crealm_set_system_calls(&calls);
        realm_t* s = open_snapshot(form);
        CHECK(s && shown(s) == shared->committed);
        realm_release(s);
        crealm_set_system_calls(NULL);
        CHECK(traces == 0);
        CHECK(is_untouched(before[0], status_of(folder)) && is_untouched(before[1], status_of(path)) && is_untouched(before[2], status_of(lock)));
        if (live) realm_release(r);
    }
    /* Also in a folder in which no file can be created. */
    if (geteuid() != 0) {
        CHECK(chmod(folder, 0500) == 0);
        realm_t* s = open_snapshot(form);
        CHECK(s && shown(s) == shared->committed);
        realm_release(s);
        CHECK(chmod(folder, 0700) == 0);
    }
}

/* ---- Refusals ------------------------------------------------------------------------------------- */

static void test_refusals(void) {
    section = "refusals";
    realm_config_t* c = realm_config_new();
    CHECK(!crealm_config_get_snapshot(c));
    crealm_config_set_snapshot(c, true);
    CHECK(crealm_config_get_snapshot(c));
    char missing[120];
    snprintf(missing, sizeof missing, "%s/missing.realm", folder);
    realm_config_set_path(c, missing);
    FAILS(RLM_ERR_FILE_NOT_FOUND, realm_open(c));
    FILE* empty = fopen(missing, "w");
    fclose(empty);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_open(c));
    empty = fopen(missing, "w");
    for (int i = 0; i < 5000; i++) fputc('x', empty);
    fclose(empty);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_open(c));
    unlink(missing);
    realm_config_set_path(c, path);
    static const realm_schema_mode_e other[] = {RLM_SCHEMA_MODE_READ_ONLY, RLM_SCHEMA_MODE_SOFT_RESET_FILE, RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT,
                                                RLM_SCHEMA_MODE_MANUAL};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        realm_config_set_schema_mode(c, other[i]);
        FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(c));
    }
    realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_IMMUTABLE);
    realm_config_set_encryption_key(c, key(), 64);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_open(c)); /* the file is plain */
    realm_config_set_encryption_key(c, NULL, 0);
    realm_config_set_in_memory(c, true);
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(c));
    realm_release(c);
}

int main(int argc, char** argv) {
    int opens = argc > 2 ? atoi(argv[2]) : 60;
    const char* other = argc > 3 ? argv[3] : NULL;
    library = dlopen(NULL, RTLD_NOW);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    if (!mkdtemp(folder) && (strcpy(folder, "/tmp/snapshot-XXXXXX"), !mkdtemp(folder))) give_up();
    snprintf(path, sizeof path, "%s/a.realm", folder);
    void* memory = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) give_up();
    shared = (struct shared*)memory;
    /* The writers are started before this process has used the library. */
    section = "beside a writer";
    for (int form = PLAIN; form < FORMS; form++)
        if (!other || form != SEALED) beside((enum form)form, form == PLAIN ? opens : (opens + 2) / 3, other);
    for (int form = PLAIN; form < FORMS; form++) test_commits_inside((enum form)form);
    test_after_the_flush();
    test_before_the_flush();
    for (int form = FORMS - 1; form >= PLAIN; form--) test_no_trace((enum form)form);
    test_refusals();
    return finished(folder);
}
