/*
 * async_test.c - asynchronous writes: blocks that wait for the write lock, and commits that are visible at once and
 * whose callbacks run when they are on disk.
 *
 * The rows T24 to T36 of docs/live-objects.md, section 11.5; groups of commits and the number of their flushes; flushes
 * that fail; writers that are killed between the publication and the flush; several instances, threads and processes. A
 * thread that waits for the write lock must wait in the kernel.
 *
 *     async_test
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "atomics.h"
#include "checks.h"
#include "crealm.h"
#include "crealm_testing.h"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define UNDER_THREAD_SANITIZER true
#endif
#endif
#ifndef UNDER_THREAD_SANITIZER
#define UNDER_THREAD_SANITIZER false
#endif

/* A time limit that only a stuck program exceeds. */
enum { PATIENCE = 60000 };
static char folder[] = "/tmp/async-XXXXXX";
static const uint8_t* key;
static uint8_t key_bytes[64];
static realm_scheduler_t* scheduler;

/* ---- Files ------------------------------------------------------------------------------------------ */

static realm_config_t* config_for(const char* name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_property_info_t property;
    realm_class_info_t cls;
    memset(&property, 0, sizeof property);
    memset(&cls, 0, sizeof cls);
    property.name = "n", property.public_name = property.link_target = property.link_origin_property_name = cls.primary_key = "";
    property.type = RLM_PROPERTY_TYPE_INT;
    cls.name = "A", cls.num_properties = 1;
    const realm_property_info_t* properties = &property;
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    realm_schema_t* schema = realm_schema_new(&cls, 1, &properties);
    realm_config_set_schema(c, schema);
    realm_config_set_schema_version(c, 1);
    realm_release(schema);
    if (key) realm_config_set_encryption_key(c, key, sizeof key_bytes);
    return c;
}
static realm_t* open_config(realm_config_t* c) {
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!CHECK(r != NULL)) give_up();
    return r;
}
static realm_t* open_realm(const char* name) { return open_config(config_for(name)); }
static void close_realm(realm_t* r) {
    CHECK(realm_close(r));
    realm_release(r);
}
/* Inside a write. */
static bool create(realm_t* r) {
    realm_class_info_t cls;
    bool found;
    if (!realm_find_class(r, "A", &found, &cls) || !found) return false;
    realm_object_t* o = realm_object_create(r, cls.key);
    realm_release(o);
    return o != NULL;
}
static bool add(realm_t* r) { return realm_begin_write(r) && create(r) && realm_commit(r); }
static long count(realm_t* r) {
    realm_class_info_t cls;
    bool found;
    size_t n;
    return realm_find_class(r, "A", &found, &cls) && found && realm_get_num_objects(r, cls.key, &n) ? (long)n : -1;
}

/* ---- Events, in order ------------------------------------------------------------------------------- */

static char events[4000];
static void note(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t n = strlen(events);
    vsnprintf(events + n, sizeof events - n, format, arguments);
    va_end(arguments);
}
static bool happened(const char* wanted) {
    bool good = !strcmp(events, wanted);
    if (!good) printf("  happened: '%s'\n  wanted:   '%s'\n", events, wanted);
    events[0] = 0;
    return good;
}
/* Runs the scheduler until no work is left. */
static void finish(realm_t* r) {
    bool did;
    for (int i = 0; i < 10000 && realm_is_writable(r); i++)
        if (!crealm_scheduler_run(scheduler, PATIENCE, &did) || !did) break;
    did = true;
    while (did && crealm_scheduler_run(scheduler, 50, &did)) {}
}

typedef enum { COMMIT_ASYNC, COMMIT_GROUPED, COMMIT, ROLL_BACK, NOTHING, CLOSE, NEST } end_t;
typedef struct {
    realm_t* realm;
    int number;
    end_t end;
    unsigned commit_id;
    int frees;
    bool in_completion;
} block_t;
static void freed(realm_userdata_t p) { ((block_t*)p)->frees++; }
static bool last_failed;
static char last_text[200];
static void completed(realm_userdata_t p, bool error, const char* text) {
    block_t* b = (block_t*)p;
    note("c%d ", b->number);
    last_failed = error;
    snprintf(last_text, sizeof last_text, "%s", text ? text : "");
    if (b->in_completion) {
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_async_begin_write(b->realm, freed, NULL, NULL, false, NULL));
        CHECK(realm_begin_write(b->realm));
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(b->realm));
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_async_commit(b->realm, NULL, NULL, NULL, false, NULL));
        CHECK(create(b->realm) && realm_commit(b->realm));
    }
}
static void run(realm_userdata_t p) {
    block_t* b = (block_t*)p;
    note("b%d ", b->number);
    CHECK(realm_is_writable(b->realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(b->realm));
    CHECK(create(b->realm));
    switch (b->end) {
        case COMMIT_ASYNC:
        case COMMIT_GROUPED:
            CHECK(realm_async_commit(b->realm, completed, b, freed, b->end == COMMIT_GROUPED, &b->commit_id));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(b->realm));
            break;
        case COMMIT: CHECK(realm_commit(b->realm)); break;
        case ROLL_BACK: CHECK(realm_rollback(b->realm)); break;
        case CLOSE: CHECK(realm_close(b->realm)); break;
        default: break;
    }
}
static unsigned begin(realm_t* r, block_t* b, int number, end_t end) {
    unsigned id = 9999;
    memset(b, 0, sizeof *b);
    b->realm = r, b->number = number, b->end = end;
    CHECK(realm_async_begin_write(r, run, b, freed, false, &id));
    return id;
}

/* ---- Flushes ---------------------------------------------------------------------------------------- */

static ATOMIC(int) flushes, flushes_that_fail;
static int counted_flush(int fd) {
    flushes++;
    if (flushes_that_fail > 0) {
        flushes_that_fail--;
        errno = EIO;
        return -1;
    }
    return fdatasync(fd);
}
static ATOMIC(long) sleeps;
static int counted_sleep(unsigned microseconds) {
    sleeps++;
    return usleep(microseconds);
}
/* true: creating a thread fails. */
static ATOMIC(bool) has_no_threads;
typedef struct {
    void (*body)(void*);
    void* context;
} start_t;
static void* run_start(void* p) {
    start_t start = *(start_t*)p;
    free(p);
    start.body(start.context);
    return NULL;
}
static int start_thread(void (*body)(void*), void* context) {
    start_t* start = has_no_threads ? NULL : (start_t*)malloc(sizeof *start);
    if (!start) return EAGAIN;
    start->body = body, start->context = context;
    pthread_t thread;
    int error = pthread_create(&thread, NULL, run_start, start);
    if (error) free(start);
    else pthread_detach(thread);
    return error;
}
/* Called once, before the library starts threads, which read the table. */
static void watch_system_calls(void) {
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.fdatasync = counted_flush;
    calls.usleep = counted_sleep;
    calls.start_thread = start_thread;
    crealm_set_system_calls(&calls);
}

/* ---- One instance ----------------------------------------------------------------------------------- */

static void order(bool threads) {
    block_t b[30];
    has_no_threads = !threads;
    realm_t* r = open_realm(threads ? "order" : "order-alone");
    CHECK(count(r) == 0 && !realm_is_writable(r));

    section = "blocks and completions in turn (T25)";
    CHECK(begin(r, &b[0], 0, COMMIT_ASYNC) == 0 && begin(r, &b[1], 1, COMMIT_ASYNC) == 1 && begin(r, &b[2], 2, COMMIT_ASYNC) == 2);
    CHECK(realm_is_writable(r));
    CHECK(happened(""));
    finish(r);
    CHECK(happened("b0 c0 b1 c1 b2 c2 ") && count(r) == 3 && !realm_is_writable(r));
    CHECK(b[0].commit_id == 3 && b[1].commit_id == 4 && b[2].commit_id == 5);
    CHECK(b[0].frees == 2 && b[1].frees == 2 && b[2].frees == 2 && !last_failed);

    section = "a group (T26)";
    for (int i = 0; i < 3; i++) begin(r, &b[i], i, COMMIT_GROUPED);
    flushes = 0;
    finish(r);
    CHECK(happened("b0 b1 b2 c0 c1 c2 ") && count(r) == 6);
    if (!key) CHECK(flushes == 1);

    section = "a group ends at a commit without grouping";
    for (int i = 0; i < 4; i++) begin(r, &b[i], i, i == 1 ? COMMIT_ASYNC : COMMIT_GROUPED);
    finish(r);
    CHECK(happened("b0 b1 c0 c1 b2 b3 c2 c3 ") && count(r) == 10);

    section = "a group ends at 20 commits";
    for (int i = 0; i < 25; i++) begin(r, &b[i], i, COMMIT_GROUPED);
    flushes = 0;
    finish(r);
    CHECK(happened("b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 b10 b11 b12 b13 b14 b15 b16 b17 b18 b19 "
                   "c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15 c16 c17 c18 c19 b20 b21 b22 b23 b24 c20 c21 c22 c23 c24 "));
    CHECK(count(r) == 35);
    if (!key) CHECK(flushes <= 4);

    section = "cancel (T27)";
    bool cancelled = false;
    unsigned ids[3];
    for (int i = 0; i < 3; i++) ids[i] = begin(r, &b[i], i, COMMIT_ASYNC);
    CHECK(realm_async_cancel(r, ids[1], &cancelled) && cancelled && b[1].frees == 1);
    CHECK(realm_async_cancel(r, ids[1], &cancelled) && !cancelled);
    CHECK(realm_async_cancel(r, 777777, &cancelled) && !cancelled && realm_async_cancel(r, 777778, NULL));
    finish(r);
    CHECK(happened("b0 c0 b2 c2 ") && count(r) == 37);
    section = "cancel the only block";
    ids[0] = begin(r, &b[0], 0, COMMIT_ASYNC);
    CHECK(realm_async_cancel(r, ids[0], &cancelled) && cancelled && !realm_is_writable(r));
    finish(r);
    CHECK(add(r) && happened("") && count(r) == 38);
    section = "cancel a completion";
    CHECK(realm_begin_write(r) && create(r));
    memset(&b[0], 0, sizeof b[0]);
    b[0].realm = r;
    CHECK(realm_async_commit(r, completed, &b[0], freed, false, &ids[0]));
    CHECK(realm_async_cancel(r, ids[0], &cancelled) && cancelled && b[0].frees == 1);
    CHECK(realm_async_cancel(r, ids[0], &cancelled) && !cancelled);
    finish(r);
    CHECK(happened("") && count(r) == 39);

    section = "blocks that do not commit (T28)";
    begin(r, &b[0], 0, NOTHING), begin(r, &b[1], 1, ROLL_BACK), begin(r, &b[2], 2, COMMIT_ASYNC);
    finish(r);
    CHECK(happened("b0 b1 b2 c2 ") && count(r) == 40 && !realm_is_writable(r));
    begin(r, &b[0], 0, COMMIT_GROUPED), begin(r, &b[1], 1, ROLL_BACK), begin(r, &b[2], 2, COMMIT_GROUPED), begin(r, &b[3], 3, NOTHING);
    finish(r);
    CHECK(happened("b0 b1 b2 b3 c0 c2 ") && count(r) == 42 && b[0].frees == 2 && b[1].frees == 1);

    section = "inside a completion (T29)";
    begin(r, &b[0], 0, COMMIT_ASYNC);
    b[0].in_completion = true;
    finish(r);
    CHECK(happened("b0 c0 ") && count(r) == 44);

    section = "a block that commits at once (T30)";
    begin(r, &b[0], 0, COMMIT_GROUPED), begin(r, &b[1], 1, COMMIT), begin(r, &b[2], 2, COMMIT_ASYNC);
    finish(r);
    CHECK(happened("b0 b1 c0 b2 c2 ") && count(r) == 47);

    section = "synchronous writes come first (T33)";
    begin(r, &b[0], 0, COMMIT_ASYNC);
    if (threads) usleep(20000);
    CHECK(realm_begin_write(r) && create(r) && happened(""));
    CHECK(realm_commit(r) && count(r) == 48);
    finish(r);
    CHECK(happened("b0 c0 ") && count(r) == 49);
    begin(r, &b[0], 0, COMMIT_ASYNC);
    CHECK(realm_begin_write(r) && realm_rollback(r));
    finish(r);
    CHECK(happened("b0 c0 ") && count(r) == 50);

    section = "a commit of an ordinary write, then another write at once";
    for (int i = 0; i < 3; i++) {
        memset(&b[i], 0, sizeof b[i]);
        b[i].realm = r, b[i].number = i;
        CHECK(realm_begin_write(r) && create(r) && realm_async_commit(r, completed, &b[i], freed, true, NULL) && realm_is_writable(r));
    }
    CHECK(add(r) && count(r) == 54);
    CHECK(happened("c0 c1 c2 "));
    finish(r);
    CHECK(happened("") && !realm_is_writable(r));

    section = "without a callback";
    CHECK(realm_begin_write(r) && create(r) && realm_async_commit(r, NULL, &b[0], freed, false, NULL));
    finish(r);
    CHECK(b[0].frees == 2 && count(r) == 55);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_async_begin_write(r, NULL, &b[0], freed, false, NULL));
    CHECK(b[0].frees == 3 && !realm_is_writable(r));

    section = "outside a write (T35)";
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_async_commit(r, completed, &b[0], freed, false, NULL));
    CHECK(b[0].frees == 4);
    close_realm(r);

    section = "all of it is there";
    r = open_realm(threads ? "order" : "order-alone");
    CHECK(count(r) == 55 && crealm_verify(r, NULL));
    close_realm(r);
    has_no_threads = false;
}

static void told(realm_userdata_t p) { note("t%d ", ((block_t*)p)->number); }
static void notices(void) {
    section = "a notice (T31)";
    realm_t *r = open_realm("notice"), *other = open_realm("notice");
    block_t b[3];
    memset(b, 0, sizeof b);
    b[0].realm = b[1].realm = r;
    b[1].number = 1;
    CHECK(realm_async_begin_write(r, told, &b[0], freed, true, NULL));
    begin(r, &b[2], 2, COMMIT_ASYNC);
    bool did = true;
    while (!strlen(events) && crealm_scheduler_run(scheduler, PATIENCE, &did) && did) {}
    CHECK(happened("t0 ") && realm_is_writable(r) && b[0].frees == 1);
    while (did && crealm_scheduler_run(scheduler, 50, &did)) {}
    CHECK(happened("") && create(r) && realm_async_commit(r, completed, &b[1], freed, false, NULL));
    section = "seen at once (T32)";
    CHECK(realm_refresh(other, &did) && count(other) == 1);
    finish(r);
    CHECK(happened("c1 b2 c2 ") && count(r) == 2 && !realm_is_writable(r));
    section = "a notice, and a rollback";
    CHECK(realm_async_begin_write(r, told, &b[0], freed, true, NULL));
    while (!strlen(events) && crealm_scheduler_run(scheduler, PATIENCE, &did) && did) {}
    begin(r, &b[2], 2, COMMIT_ASYNC);
    CHECK(happened("t0 ") && create(r) && realm_rollback(r));
    finish(r);
    CHECK(happened("b2 c2 ") && count(r) == 3);
    close_realm(other);
    close_realm(r);
}

static bool on_thread(realm_userdata_t p) {
    (void)p;
    return true;
}
static void refusals(void) {
    section = "a scheduler that delivers nothing (T24)";
    block_t b;
    memset(&b, 0, sizeof b);
    realm_config_t* c = config_for("refusals");
    realm_scheduler_t* s = realm_scheduler_new(NULL, NULL, NULL, on_thread, NULL, NULL);
    realm_config_set_scheduler(c, s);
    realm_release(s);
    realm_t* r = open_config(c);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_async_begin_write(r, told, &b, freed, false, NULL));
    CHECK(b.frees == 1 && !realm_is_writable(r) && add(r) && realm_close(r));
    FAILS(RLM_ERR_CLOSED_REALM, realm_async_begin_write(r, told, &b, freed, false, NULL));
    realm_release(r);
    section = "a Realm that is read only";
    c = config_for("refusals");
    realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_READ_ONLY);
    r = open_config(c);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_async_begin_write(r, told, &b, freed, false, NULL));
    close_realm(r);
}

static pthread_t completed_on;
static void completed_where(realm_userdata_t p, bool error, const char* text) {
    completed_on = pthread_self();
    completed(p, error, text);
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_write(((block_t*)p)->realm));
}
static void* closes(void* r) {
    CHECK(realm_close((realm_t*)r));
    return NULL;
}
static void closing(void) {
    section = "close with a block that waits (T34)";
    realm_t *r = open_realm("closing"), *other = open_realm("closing");
    block_t b[3];
    begin(r, &b[0], 0, COMMIT_ASYNC), begin(r, &b[1], 1, COMMIT_ASYNC);
    CHECK(realm_close(r) && b[0].frees == 1 && b[1].frees == 1 && !realm_is_writable(r));
    finish(r);
    CHECK(happened("") && add(other));
    realm_release(r);
    section = "close with a commit on its way";
    r = open_realm("closing");
    memset(b, 0, sizeof b);
    b[0].realm = r;
    CHECK(realm_begin_write(r) && create(r) && realm_async_commit(r, completed, &b[0], freed, false, NULL));
    CHECK(realm_close(r) && happened("c0 ") && b[0].frees == 1);
    realm_release(r);
    finish(other);
    CHECK(happened("") && add(other));
    section = "close by another thread, with a commit on its way and a block that waits";
    r = open_realm("closing");
    memset(b, 0, sizeof b);
    b[0].realm = r;
    CHECK(realm_begin_write(r) && create(r) && realm_async_commit(r, completed_where, &b[0], freed, false, NULL));
    begin(r, &b[1], 1, COMMIT_ASYNC);
    pthread_t closer;
    CHECK(!pthread_create(&closer, NULL, closes, r) && !pthread_join(closer, NULL));
    CHECK(happened("c0 ") && b[0].frees == 1 && b[1].frees == 1 && pthread_equal(completed_on, closer));
    realm_release(r);
    finish(other);
    CHECK(happened("") && realm_refresh(other, NULL) && count(other) == 4 && add(other));
    section = "close in a block, after commits of its group";
    r = open_realm("closing");
    begin(r, &b[0], 0, COMMIT_GROUPED), begin(r, &b[1], 1, CLOSE), begin(r, &b[2], 2, COMMIT_GROUPED);
    bool did = true;
    while (!realm_is_closed(r) && crealm_scheduler_run(scheduler, PATIENCE, &did) && did) {}
    CHECK(happened("b0 b1 c0 ") && b[0].frees == 2 && b[1].frees == 1 && b[2].frees == 1);
    realm_release(r);
    finish(other);
    CHECK(realm_refresh(other, NULL) && count(other) == 6 && add(other));
    section = "the last reference goes with a block that waits";
    r = open_realm("closing");
    begin(r, &b[0], 0, COMMIT_ASYNC);
    realm_release(r);
    finish(other);
    CHECK(b[0].frees == 1 && happened("") && add(other));
    close_realm(other);
}

static void instances(void) {
    section = "two instances of one thread";
    realm_t *r = open_realm("instances"), *other = open_realm("instances");
    block_t b[4];
    for (int i = 0; i < 50; i++) {
        begin(r, &b[0], 0, COMMIT_GROUPED), begin(other, &b[1], 1, COMMIT_ASYNC);
        if (i % 3 == 0) usleep(1000);
        CHECK(add(i % 2 ? r : other));
        begin(r, &b[2], 2, COMMIT_GROUPED);
        finish(r), finish(other);
        CHECK(realm_refresh(r, NULL) && count(r) == 4 * (i + 1));
        events[0] = 0;
    }
    CHECK(crealm_verify(r, NULL));
    close_realm(other);
    close_realm(r);
}

/* ---- Flushes that fail ------------------------------------------------------------------------------ */

static void failing(void) {
    realm_t *r = open_realm("failing"), *other = open_realm("failing");
    block_t b[3];
    CHECK(add(r));
    section = "a group whose flush fails: completions are told, everybody sees it, the next write sees to it";
    for (int i = 0; i < 3; i++) begin(r, &b[i], i, COMMIT_GROUPED);
    if (!key) flushes_that_fail = 1;
    finish(r);
    CHECK(happened("b0 b1 b2 c0 c1 c2 ") && last_failed == !key && !realm_is_writable(r));
    if (!key) CHECK(strstr(last_text, "unknown") != NULL);
    CHECK(count(r) == 4 && realm_refresh(other, NULL) && count(other) == 4);
    if (!key) {
        flushes_that_fail = 1;
        FAILS(CREALM_ERR_COMMIT_OUTCOME_UNKNOWN, realm_begin_write(other));
        CHECK(!realm_is_writable(other) && count(other) == 4);
    }
    CHECK(add(other) && count(other) == 5 && add(r) && count(r) == 6);
    section = "a failing flush before a commit that waits";
    begin(r, &b[0], 0, COMMIT_GROUPED), begin(r, &b[1], 1, ROLL_BACK), begin(r, &b[2], 2, COMMIT_ASYNC);
    finish(r);
    CHECK(!last_failed && count(r) == 8);
    close_realm(other);
    close_realm(r);
    r = open_realm("failing");
    CHECK(count(r) == 8 && crealm_verify(r, NULL));
    close_realm(r);
    events[0] = 0;
}

/* ---- Several processes ------------------------------------------------------------------------------ */

typedef struct {
    ATOMIC(long) published, flushed, stage;
} shared_t;
static shared_t* shared;
static void flushed(realm_userdata_t p, bool error, const char* text) {
    (void)text;
    if (!error) shared->flushed = (long)(intptr_t)p;
}
static void grows(realm_userdata_t p) {
    realm_t* r = (realm_t*)p;
    if (!create(r)) _exit(1);
    long n = count(r);
    if (!realm_async_commit(r, flushed, (void*)(intptr_t)n, NULL, rand() % 4 != 0, NULL)) _exit(2);
    shared->published = n;
}
static void killed_writers(int kills) {
    section = "writers are killed while their commits are on their way";
    realm_t* r = open_realm("killed");
    srand(2);
    CHECK(count(r) == 0);
    long commits = 0;
    shared->published = shared->flushed = 0;
    for (int i = 0; i < kills; i++) {
        pid_t child = fork();
        if (child == 0) {
            srand((unsigned)i);
            realm_t* w = open_realm("killed");
            scheduler = realm_scheduler_make_default();
            for (;;) {
                for (int k = 0; k < 8; k++)
                    if (!realm_async_begin_write(w, grows, w, NULL, false, NULL)) _exit(3);
                bool did = true;
                while (realm_is_writable(w) && crealm_scheduler_run(scheduler, PATIENCE, &did) && did) {}
                if (!did) _exit(4);
            }
        }
        usleep((useconds_t)(20000 + rand() % 20000));
        long target = shared->published + rand() % 12;
        for (int k = 0; k < 200 && shared->published < target; k++) usleep(200);
        kill(child, SIGKILL);
        int status;
        if (!CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status))) give_up();
        /* A commit that other processes could see stays, and later commits follow it. */
        CHECK(realm_refresh(r, NULL));
        long seen = count(r);
        if (!CHECK(seen >= shared->published && seen <= shared->published + 1)) printf("  %ld, %ld\n", seen, (long)shared->published);
        CHECK(seen >= shared->flushed);
        /* A commit that is flushed before its publication may be on the disk although it was not published. */
        if (!CHECK(add(r) && (count(r) == seen + 1 || (key && count(r) == seen + 2)))) give_up();
        commits = shared->published = count(r);
    }
    printf("%ld commits of %d killed writers\n", commits, kills);
    CHECK(crealm_verify(r, NULL));
    close_realm(r);
    r = open_realm("killed");
    CHECK(count(r) == commits && crealm_verify(r, NULL));
    close_realm(r);
}

/* A blocked writer uses no processor time and does not read clocks. */
static ATOMIC(bool) stop;
static void* holds_lock(void* p) {
    realm_t* r = open_realm("blocked");
    CHECK(realm_begin_write(r));
    *(ATOMIC(int)*)p = 1;
    while (!stop) usleep(1000);
    CHECK(realm_rollback(r));
    close_realm(r);
    return NULL;
}
static void* wants_lock(void* p) {
    realm_t* r = open_realm("blocked");
    *(ATOMIC(int)*)p = 1;
    CHECK(add(r));
    close_realm(r);
    return NULL;
}
static void blocked(void) {
    section = "who waits for the lock sleeps";
    close_realm(open_realm("blocked"));
    pthread_t holder, waiter[4];
    ATOMIC(int) holds = 0, waits[4] = {0, 0, 0, 0};
    pthread_create(&holder, NULL, holds_lock, (void*)&holds);
    while (!holds) usleep(1000);
    for (int i = 0; i < 4; i++) pthread_create(&waiter[i], NULL, wants_lock, (void*)&waits[i]);
    for (int i = 0; i < 4; i++)
        while (!waits[i]) usleep(1000);
    sleeps = 0;
    usleep(300000);
    CHECK(sleeps == 0);
    stop = true;
    pthread_join(holder, NULL);
    for (int i = 0; i < 4; i++) pthread_join(waiter[i], NULL);
    realm_t* r = open_realm("blocked");
    CHECK(count(r) == 4);
    close_realm(r);
}

/* A thread ends and leaves its realm open in the middle of an operation. */
typedef enum { LOCK_ARRIVED, LOCK_AWAITED, BLOCK_RUNS, BLOCK_TOLD, WRITE_OPEN, COMMIT_ON_ITS_WAY, WAYS_TO_LEAVE } leave_t;
static const char* const left_with[] = {"a thread ends while its block waits for a turn", "... while its block waits for the lock",
                                        "... inside its block", "... while a write that a block was told of is open",
                                        "... in its write", "... while its commit is on its way"};
typedef struct {
    leave_t how;
    realm_t* realm;
    block_t blocks[2];
    pthread_t thread;
} leaver_t;
static void leaves(realm_userdata_t p) {
    CHECK(create(((block_t*)p)->realm));
    pthread_exit(NULL);
}
static void stays(realm_userdata_t p) { CHECK(create(((block_t*)p)->realm)); }
static void* leave(void* p) {
    leaver_t* l = (leaver_t*)p;
    realm_scheduler_t* mine = realm_scheduler_make_default();
    realm_t* r = l->realm = open_realm("leaving");
    int fd = -1;
    CHECK(crealm_scheduler_get_fd(mine, &fd) && count(r) >= 0);
    realm_release(mine);
    for (int i = 0; i < 2; i++) l->blocks[i].realm = r, l->blocks[i].number = i;
    if (l->how == WRITE_OPEN || l->how == COMMIT_ON_ITS_WAY) {
        CHECK(realm_begin_write(r) && create(r));
        if (l->how == COMMIT_ON_ITS_WAY) CHECK(realm_async_commit(r, completed, &l->blocks[0], freed, false, NULL));
        else l->blocks[0].frees = 1;
        l->blocks[1].frees = 1;
        return NULL;
    }
    CHECK(realm_async_begin_write(r, l->how == BLOCK_RUNS ? leaves : stays, &l->blocks[0], freed, l->how == BLOCK_TOLD, NULL));
    CHECK(realm_async_begin_write(r, run, &l->blocks[1], freed, false, NULL));
    if (l->how == LOCK_AWAITED) return NULL;
    struct pollfd ready = {fd, POLLIN, 0};
    CHECK(poll(&ready, 1, PATIENCE) == 1);
    if (l->how == LOCK_ARRIVED) return NULL;
    realm_scheduler_t* again = realm_scheduler_make_default();
    CHECK(crealm_scheduler_run(again, 0, NULL));
    realm_release(again);
    return NULL;
}
/* The next thread. It often gets the number of the thread that ended. */
static void* comes_next(void* p) {
    leaver_t* l = (leaver_t*)p;
    realm_scheduler_t* mine = realm_scheduler_make_default();
    bool did = true;
    CHECK(crealm_scheduler_run(mine, 0, &did) && !did);
    realm_release(mine);
    realm_class_info_t cls;
    bool found;
    size_t n;
    if (realm_find_class(l->realm, "A", &found, &cls)) FAILS(RLM_ERR_WRONG_THREAD, realm_get_num_objects(l->realm, cls.key, &n));
    FAILS(RLM_ERR_WRONG_THREAD, realm_begin_write(l->realm));
    FAILS(RLM_ERR_WRONG_THREAD, realm_async_begin_write(l->realm, NULL, NULL, NULL, false, NULL));
    return pthread_equal(pthread_self(), l->thread) ? p : NULL;
}
static void ended_threads(void) {
    int alike = 0;
    for (int how = 0; how < WAYS_TO_LEAVE; how++) {
        section = left_with[how];
        realm_t* other = open_realm("leaving");
        long before = count(other);
        if (how == LOCK_AWAITED) CHECK(realm_begin_write(other));
        leaver_t l;
        memset(&l, 0, sizeof l);
        l.how = (leave_t)how;
        CHECK(!pthread_create(&l.thread, NULL, leave, &l) && !pthread_join(l.thread, NULL));
        if (how == LOCK_AWAITED) CHECK(realm_rollback(other));
        CHECK(happened(how == COMMIT_ON_ITS_WAY ? "c0 " : ""));
        /* The userdata of a block that never returned is not freed. */
        int frees = how != BLOCK_RUNS;
        CHECK(l.blocks[0].frees == frees && l.blocks[1].frees == 1 && !realm_is_writable(l.realm));
        /* Another process gets the lock. */
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            realm_t* w = open_realm("leaving");
            _exit(realm_begin_write(w) && create(w) && realm_commit(w) ? 0 : 1);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CHECK(realm_refresh(other, NULL) && count(other) == before + 1 + (how == COMMIT_ON_ITS_WAY) && add(other));
        pthread_t next;
        void* same = NULL;
        CHECK(!pthread_create(&next, NULL, comes_next, &l) && !pthread_join(next, &same));
        alike += same != NULL;
        CHECK(l.blocks[0].frees == frees && l.blocks[1].frees == 1 && happened(""));
        if (how != BLOCK_RUNS) {
            /* The thread that takes the realm over continues with it. */
            realm_thread_safe_reference_t* reference = realm_create_thread_safe_reference(l.realm);
            realm_t* taken = realm_from_thread_safe_reference(reference, NULL);
            realm_release(reference);
            block_t b;
            if (CHECK(taken && add(taken))) {
                begin(taken, &b, 9, COMMIT_ASYNC);
                finish(taken);
                CHECK(happened("b9 c9 ") && b.frees == 2 && count(taken) == before + 4 + (how == COMMIT_ON_ITS_WAY));
            }
            realm_release(taken);
        }
        close_realm(l.realm);
        close_realm(other);
    }
    printf("%d of %d threads had the number of one that had ended\n", alike, (int)WAYS_TO_LEAVE);
    section = "the only thread of a forked child ends";
    /* ThreadSanitizer itself crashes in this case. */
    for (int own = 0; own < 2 && !UNDER_THREAD_SANITIZER; own++) {
        realm_t* r = open_realm("leaving");
        block_t b;
        begin(r, &b, 0, COMMIT);
        if (own) finish(r);
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            alarm(20);
            static leaver_t l;
            if (own) leave(&l);
            pthread_exit(NULL);
        }
        int status;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        finish(r);
        CHECK(happened("b0 ") && b.frees == 1 && add(r));
        close_realm(r);
    }
}

/* A realm is moved to another thread while its block, or the callback of its commit, is waiting for a turn of the
   scheduler. */
static void* takes_over(void* reference) {
    realm_scheduler_t* mine = realm_scheduler_make_default();
    realm_t* r = realm_from_thread_safe_reference((realm_thread_safe_reference_t*)reference, mine);
    bool did = true;
    while (CHECK(r != NULL) && realm_is_writable(r) && crealm_scheduler_run(mine, PATIENCE, &did) && did) {}
    CHECK(did && add(r) && realm_close(r));
    realm_release(r);
    realm_release(mine);
    return NULL;
}
static void handed_over(void) {
    for (int committed_before = 0; committed_before < 2; committed_before++) {
        section = committed_before ? "handed over with a commit on its way" : "handed over with a block that waits";
        realm_t* r = open_realm("handed");
        block_t b;
        if (committed_before) {
            memset(&b, 0, sizeof b);
            b.realm = r;
            CHECK(realm_begin_write(r) && create(r) && realm_async_commit(r, completed, &b, freed, false, NULL));
        } else {
            begin(r, &b, 0, COMMIT_ASYNC);
        }
        int fd = -1;
        CHECK(crealm_scheduler_get_fd(scheduler, &fd));
        struct pollfd ready = {fd, POLLIN, 0};
        CHECK(poll(&ready, 1, PATIENCE) == 1);
        realm_thread_safe_reference_t* reference = realm_create_thread_safe_reference(r);
        pthread_t taker;
        CHECK(!pthread_create(&taker, NULL, takes_over, reference) && !pthread_join(taker, NULL));
        realm_release(reference);
        CHECK(crealm_scheduler_run(scheduler, 0, NULL));
        CHECK(happened(committed_before ? "c0 " : "b0 c0 ") && b.frees == 2 - committed_before);
        realm_release(r);
    }
}

/* A change callback ends the transaction in which a block is about to run: the block still gets a transaction. */
typedef struct {
    realm_t* realm;
    bool commits;
    int calls;
} ender_t;
static void end_transaction(realm_userdata_t p, const realm_collection_changes_t* changes) {
    ender_t* e = (ender_t*)p;
    (void)changes;
    if (e->calls++ == 1) CHECK(e->commits ? realm_commit(e->realm) : realm_rollback(e->realm));
}
static void ended_by_observers(void) {
    for (int commits = 0; commits < 2; commits++) {
        section = commits ? "an observer commits before the block" : "an observer rolls back before the block";
        const char* name = commits ? "observer commits" : "observer rolls back";
        realm_config_t* c = config_for(name);
        realm_config_set_automatic_change_notifications(c, false);
        realm_t* r = open_config(c);
        realm_t* other = open_realm(name);
        realm_class_info_t cls;
        bool found, did;
        CHECK(realm_find_class(r, "A", &found, &cls) && found);
        realm_results_t* all = realm_object_find_all(r, cls.key);
        ender_t ender = {r, commits != 0, 0};
        realm_notification_token_t* token = realm_results_add_notification_callback(all, &ender, NULL, NULL, end_transaction);
        CHECK(realm_refresh(r, &did) && ender.calls == 1);
        CHECK(add(other));
        block_t b;
        begin(r, &b, 0, COMMIT_ASYNC);
        finish(r);
        CHECK(happened("b0 c0 ") && ender.calls > 1 && count(r) == 2);
        realm_release(token);
        realm_release(all);
        close_realm(other);
        close_realm(r);
    }
}
/* A scheduler that never ran releases its resources when it is released. */
static void forgotten_schedulers(void) {
    section = "schedulers come and go";
    size_t before = 0;
    for (int i = 0; i < 4000; i++) {
        if (i == 2000) before = mallinfo2().uordblks;
        realm_release(realm_scheduler_new(NULL, NULL, NULL, NULL, NULL, NULL));
    }
    CHECK(mallinfo2().uordblks < before + 2000 * 16);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    alarm(1500);
    watch_system_calls();
    scheduler = realm_scheduler_make_default();
    shared = (shared_t*)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 64; i++) key_bytes[i] = (uint8_t)(i * 7 + 1);
    for (int form = 0; form < 2; form++) {
        key = form ? key_bytes : NULL;
        order(true);
        order(false);
        notices();
        refusals();
        closing();
        ended_threads();
        handed_over();
        ended_by_observers();
        forgotten_schedulers();
        instances();
        failing();
        killed_writers(form ? 10 : 25);
        blocked();
        stop = false;
        char command[300];
        snprintf(command, sizeof command, "rm -rf '%s'/*", folder);
        if (system(command) != 0) perror(folder);
    }
    realm_release(scheduler);
    rmdir(folder);
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed != 0;
}
