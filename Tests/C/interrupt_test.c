/*
 * Long calls. Goal: waiting for other users of a file ends at the time limit; a query, check, copy or compaction ends
 * when the program interrupts it; no operation stays half done, and the next call finds the state before the
 * interrupted one.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { OBJECTS = 60000 };
static char folder[] = "/tmp/interrupt-XXXXXX";
static char path[100], copy_path[100];
static realm_class_key_t thing;
static realm_property_key_t number, words;

/* The arguments and results of the progress function. */
typedef struct {
    ATOMIC(int) calls[4];
    ATOMIC(int) ends_at; /* the activity that it interrupts; -1: none */
    ATOMIC(int) freed;
    ATOMIC(bool) is_wrong; /* it was called with done > total */
    bool (*inside)(void);
    bool was_inside;
} progress_t;
static progress_t progress;
static realm_t* watched;

static bool on_progress(const crealm_progress_t* told) {
    progress_t* p = (progress_t*)told->userdata;
    p->calls[told->activity]++;
    if (told->total > 0 && told->done > told->total) p->is_wrong = true;
    if (p->inside && !p->was_inside) p->was_inside = p->inside();
    return p->ends_at != (int)told->activity;
}
static void on_free(realm_userdata_t userdata) { ((progress_t*)userdata)->freed++; }
static void reset(void) {
    for (int i = 0; i < 4; i++) progress.calls[i] = 0;
    progress.ends_at = -1;
    progress.inside = NULL;
    progress.was_inside = false;
}

static realm_config_t* new_config(void) {
    realm_property_info_t p[] = {property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
                                 property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0)};
    return config_of_class(path, class_info("Thing", "", 2, 0, 0), p);
}
static realm_t* opened(realm_config_t* c) {
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!r) return NULL;
    bool found = false;
    realm_class_info_t info;
    realm_property_info_t p;
    memset(&info, 0, sizeof info);
    if (!realm_find_class(r, "Thing", &found, &info) || !found) return NULL;
    thing = info.key;
    if (!realm_find_property(r, thing, "number", &found, &p) || !found) return NULL;
    number = p.key;
    if (!realm_find_property(r, thing, "words", &found, &p) || !found) return NULL;
    words = p.key;
    return r;
}
static realm_t* open_watched(void) {
    realm_config_t* c = new_config();
    crealm_config_set_progress(c, on_progress, &progress, on_free);
    return opened(c);
}
static void fill(void) {
    realm_t* r = opened(new_config());
    if (!CHECK(r) || !CHECK(realm_begin_write(r))) give_up();
    for (int i = 0; i < OBJECTS; i++) {
        char text[60];
        int length = snprintf(text, sizeof text, "the number %d in words that take their room", i);
        realm_object_t* o = realm_object_create(r, thing);
        if (!realm_set_value(o, number, integer(i), false) || !realm_set_value(o, words, text_of(text, (size_t)length), false)) give_up();
        realm_release(o);
    }
    if (!CHECK(realm_commit(r))) give_up();
    realm_close(r);
    realm_release(r);
}
static int files(void) {
    int n = 0;
    DIR* d = opendir(folder);
    for (struct dirent* e; d && (e = readdir(d));) n += strcmp(e->d_name, "world.realm.lock") != 0 && e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}

/* A process that holds a lock of the file until the test writes to its pipe. */
typedef struct {
    pid_t pid;
    int go;
} holder_t;
static int told = -1, goes = -1;
static void tell_and_wait(void) {
    char byte = 1;
    if (write(told, &byte, 1) != 1) _exit(2);
    if (read(goes, &byte, 1) != 1) _exit(3);
}
static bool tells_once(const crealm_progress_t* progress_of_call) {
    static bool has_told;
    if (!has_told && progress_of_call->activity == CREALM_ACTIVITY_COPYING) {
        has_told = true;
        tell_and_wait();
    }
    return true;
}
static holder_t hold(bool compacts) {
    int ready[2], go[2];
    if (pipe(ready) != 0 || pipe(go) != 0) give_up();
    holder_t h;
    h.pid = fork();
    if (h.pid == 0) {
        told = ready[1];
        goes = go[0];
        realm_config_t* c = new_config();
        if (compacts) crealm_config_set_progress(c, tells_once, NULL, NULL);
        realm_t* r = opened(c);
        if (!r) _exit(4);
        if (compacts) {
            bool did = false;
            if (!realm_compact(r, &did)) _exit(5);
        } else {
            if (!realm_begin_write(r)) _exit(6);
            tell_and_wait();
            if (!realm_rollback(r)) _exit(7);
        }
        realm_release(r);
        _exit(0);
    }
    h.go = go[1];
    char byte = 0;
    close(ready[1]);
    close(go[0]);
    if (!CHECK(read(ready[0], &byte, 1) == 1)) give_up();
    close(ready[0]);
    return h;
}
static void let_go(holder_t h) {
    char byte = 1;
    int status = 0;
    CHECK(write(h.go, &byte, 1) == 1);
    close(h.go);
    CHECK(waitpid(h.pid, &status, 0) == h.pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Calls crealm_interrupt until it is told to stop. */
static ATOMIC(bool) interrupts;
static void* interrupting(void* realm) {
    while (interrupts) {
        if (!crealm_interrupt((realm_t*)realm)) break;
        usleep(200);
    }
    return NULL;
}
static pthread_t start_interrupting(realm_t* r) {
    pthread_t t;
    interrupts = true;
    if (pthread_create(&t, NULL, interrupting, r) != 0) give_up();
    return t;
}
static void stop_interrupting(pthread_t t) {
    interrupts = false;
    pthread_join(t, NULL);
}

static int threads(void) {
    int n = 0;
    DIR* d = opendir("/proc/self/task");
    for (struct dirent* e; d && (e = readdir(d));) n += e->d_name[0] != '.';
    if (d) closedir(d);
    return n;
}
static void waiting_for_a_writer(void) {
    section = "waiting for a writer";
    holder_t h = hold(false);
    int64_t times[] = {0, 1, 60};
    for (int i = 0; i < 3; i++) {
        realm_config_t* c = new_config();
        crealm_config_set_lock_timeout(c, times[i]);
        realm_t* r = opened(c);
        if (!CHECK(r)) give_up();
        int before = threads();
        FAILS(CREALM_ERR_TIMED_OUT, realm_begin_write(r));
        CHECK(!realm_is_writable(r));
        /* A call that does not wait starts no thread that waits in the kernel's queue. */
        if (times[i] == 0) CHECK(threads() == before);
        /* The failed call has no effect: reading works, and so does the next attempt. */
        size_t n = 0;
        CHECK(realm_get_num_objects(r, thing, &n) && n == OBJECTS);
        FAILS(CREALM_ERR_TIMED_OUT, realm_begin_write(r));
        CHECK(crealm_set_lock_timeout(r, 2));
        FAILS(CREALM_ERR_TIMED_OUT, realm_begin_write(r));
        realm_release(r);
    }
    reset();
    realm_t* r = open_watched();
    if (!CHECK(r)) give_up();
    progress.ends_at = CREALM_ACTIVITY_WAITING;
    FAILS(CREALM_ERR_INTERRUPTED, realm_begin_write(r));
    CHECK(progress.calls[CREALM_ACTIVITY_WAITING] == 1);
    progress.ends_at = -1;
    pthread_t t = start_interrupting(r);
    FAILS(CREALM_ERR_INTERRUPTED, realm_begin_write(r));
    stop_interrupting(t);
    let_go(h);
    /* A thread of the library may still be in the queue. */
    CHECK(realm_begin_write(r) && realm_commit(r));
    realm_release(r);
    /* The result is the same within one process. */
    realm_t* writer = opened(new_config());
    CHECK(realm_begin_write(writer));
    realm_config_t* c = new_config();
    crealm_config_set_lock_timeout(c, 5);
    r = opened(c);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(r));
    CHECK(realm_rollback(writer));
    CHECK(realm_begin_write(r) && realm_commit(r));
    realm_release(writer);
    realm_release(r);
}
static void* writes_elsewhere(void* times) {
    realm_config_t* c = new_config();
    crealm_config_set_lock_timeout(c, 100000);
    realm_t* r = opened(c);
    for (int i = 0; r && i < *(int*)times; i++) CHECK(realm_begin_write(r) && realm_commit(r));
    realm_release(r);
    return NULL;
}
static void many_writers_with_patience(void) {
    section = "many writers with patience";
    int times = 200;
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, writes_elsewhere, &times) != 0) give_up();
    realm_t* r = opened(new_config());
    for (int i = 0; i < times; i++) CHECK(realm_begin_write(r) && realm_commit(r));
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    realm_release(r);
}
static void waiting_at_the_opening(void) {
    section = "waiting at the opening";
    holder_t h = hold(true);
    realm_config_t* c = new_config();
    crealm_config_set_lock_timeout(c, 10);
    FAILS(CREALM_ERR_TIMED_OUT, opened(c) != NULL);
    reset();
    progress.ends_at = CREALM_ACTIVITY_WAITING;
    FAILS(CREALM_ERR_INTERRUPTED, open_watched() != NULL);
    let_go(h);
    realm_t* r = opened(new_config());
    CHECK(r);
    realm_release(r);
}

static size_t count_of(realm_query_t* q, bool* good) {
    size_t n = 0;
    *good = realm_query_count(q, &n);
    return n;
}
static void queries(void) {
    section = "queries";
    reset();
    realm_t* r = open_watched();
    if (!CHECK(r)) give_up();
    const char* slow[] = {"words LIKE '*number*7*words*room'", "words LIKE '*number*7*' SORT(words DESC, number ASC)", "words LIKE '*i*' DISTINCT(words)"};
    for (int i = 0; i < 3; i++) {
        realm_query_t* q = realm_query_parse(r, thing, slow[i], 0, NULL);
        if (!CHECK(q)) give_up();
        bool good = false;
        size_t all = count_of(q, &good);
        CHECK(good);
        pthread_t t = start_interrupting(r);
        bool was_ended = false;
        for (int k = 0; k < 2000 && !was_ended; k++) {
            realm_results_t* found = realm_query_find_all(q);
            size_t n = 0;
            if (found && realm_results_count(found, &n)) {
                if (n != all) CHECK(n == all);
            } else {
                was_ended = last_error() == CREALM_ERR_INTERRUPTED;
                if (!was_ended) CHECK(was_ended);
            }
            realm_release(found);
        }
        stop_interrupting(t);
        CHECK(was_ended);
        CHECK(count_of(q, &good) == all && good);
        realm_release(q);
    }
    /* Aggregates of rows. */
    realm_query_t* q = realm_query_parse(r, thing, "number >= 0 SORT(number DESC)", 0, NULL);
    realm_results_t* rows = realm_query_find_all(q);
    size_t n = 0;
    CHECK(realm_results_count(rows, &n) && n == OBJECTS);
    pthread_t t = start_interrupting(r);
    bool was_ended = false, found = false;
    realm_value_t sum;
    for (int k = 0; k < 5000 && !was_ended; k++) was_ended = !realm_results_sum(rows, number, &sum, &found) && last_error() == CREALM_ERR_INTERRUPTED;
    stop_interrupting(t);
    CHECK(was_ended);
    CHECK(realm_results_sum(rows, number, &sum, &found) && sum.integer == (int64_t)OBJECTS * (OBJECTS - 1) / 2);
    realm_release(rows);
    realm_release(q);
    realm_release(r);
}

static bool inside_call(void) {
    bool refused = true;
    size_t n = 0;
    refused = refused && !realm_begin_write(watched) && last_error() == RLM_ERR_ILLEGAL_OPERATION;
    refused = refused && !realm_get_num_objects(watched, thing, &n) && last_error() == RLM_ERR_ILLEGAL_OPERATION;
    refused = refused && !realm_refresh(watched, NULL) && last_error() == RLM_ERR_ILLEGAL_OPERATION;
    refused = refused && !crealm_verify(watched, NULL) && last_error() == RLM_ERR_ILLEGAL_OPERATION;
    /* No file can be opened here either: the call may hold the lock for opening. */
    refused = refused && opened(new_config()) == NULL && last_error() == RLM_ERR_ILLEGAL_OPERATION;
    CHECK(refused);
    return true;
}
static bool closes(void) {
    CHECK(realm_close(watched));
    return true;
}
/* The progress function closes the realm of the call: the call ends, the realm is closed, and no resource remains. */
static void closed_inside(void) {
    section = "closed inside";
    for (int call = 0; call < 5; call++) {
        reset();
        holder_t h;
        if (call == 0) h = hold(false);
        realm_t* r = watched = open_watched();
        if (!CHECK(r)) give_up();
        progress.inside = closes;
        bool did = false;
        switch (call) {
            case 0: FAILS(CREALM_ERR_INTERRUPTED, realm_begin_write(r)); break;
            case 1: FAILS(CREALM_ERR_INTERRUPTED, crealm_verify(r, NULL)); break;
            case 2: FAILS(CREALM_ERR_INTERRUPTED, crealm_get_space(r, NULL, NULL, NULL)); break;
            case 3: FAILS(CREALM_ERR_INTERRUPTED, realm_compact(r, &did)); break;
            default: FAILS(CREALM_ERR_INTERRUPTED, crealm_find_faults(r, 0, NULL, NULL, NULL)); break;
        }
        CHECK(progress.was_inside && realm_is_closed(r) && !realm_is_writable(r));
        if (call == 0) let_go(h);
        /* The lock is free and the file unchanged while the test still has a handle of the closed realm. */
        realm_t* other = opened(new_config());
        CHECK(other && realm_begin_write(other) && realm_commit(other) && crealm_verify(other, NULL));
        realm_release(other);
        realm_release(r);
    }
}
static void checks(void) {
    section = "checks";
    reset();
    realm_t* r = open_watched();
    if (!CHECK(r)) give_up();
    watched = r;
    progress.inside = inside_call;
    CHECK(crealm_verify(r, NULL));
    CHECK(progress.calls[CREALM_ACTIVITY_CHECKING] > 0 && progress.was_inside && !progress.is_wrong);
    progress.ends_at = CREALM_ACTIVITY_CHECKING;
    FAILS(CREALM_ERR_INTERRUPTED, crealm_verify(r, NULL));
    progress.ends_at = -1;
    CHECK(crealm_verify(r, NULL));
    realm_release(r);
    CHECK(progress.freed > 0);
}
static void copies(void) {
    section = "copies";
    reset();
    realm_t* r = open_watched();
    if (!CHECK(r)) give_up();
    int before = files();
    pthread_t t = start_interrupting(r);
    bool was_ended = false;
    for (int i = 0; i < 1000 && !was_ended; i++) {
        realm_config_t* c = realm_config_new();
        realm_config_set_path(c, copy_path);
        was_ended = !realm_convert_with_config(r, c, false) && last_error() == CREALM_ERR_INTERRUPTED;
        realm_release(c);
        if (!was_ended) unlink(copy_path);
    }
    CHECK(was_ended);
    CHECK(files() == before);
    was_ended = false;
    for (int i = 0; i < 1000 && !was_ended; i++) {
        bool did_compact = false;
        was_ended = !realm_compact(r, &did_compact) && last_error() == CREALM_ERR_INTERRUPTED;
    }
    stop_interrupting(t);
    CHECK(was_ended);
    CHECK(files() == before);
    progress.ends_at = CREALM_ACTIVITY_COPYING;
    bool did = true;
    FAILS(CREALM_ERR_INTERRUPTED, realm_compact(r, &did));
    CHECK(progress.calls[CREALM_ACTIVITY_COPYING] > 0 && !progress.is_wrong);
    CHECK(files() == before);
    progress.ends_at = -1;
    CHECK(crealm_verify(r, NULL));
    size_t n = 0;
    CHECK(realm_get_num_objects(r, thing, &n) && n == OBJECTS);
    CHECK(realm_begin_write(r) && realm_commit(r));
    realm_release(r);
}
/* Interrupting does not affect calls that only write, and any thread may interrupt while another closes the realm. */
static void writes_go_on(void) {
    section = "writes go on";
    realm_t* r = opened(new_config());
    if (!CHECK(r)) give_up();
    pthread_t t = start_interrupting(r);
    for (int i = 0; i < 300; i++) {
        CHECK(realm_begin_write(r));
        realm_object_t* o = realm_object_create(r, thing);
        CHECK(o && realm_set_value(o, number, integer(-1 - i), false));
        CHECK(realm_object_delete(o));
        realm_release(o);
        CHECK(realm_commit(r));
    }
    CHECK(realm_close(r));
    stop_interrupting(t);
    CHECK(crealm_interrupt(r));
    realm_release(r);
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_interrupt(NULL));
}

/* One row whose links reach millions of objects: the call ends among them, not after them. */
static void a_row_that_leads_far(void) {
    section = "a row that leads far";
    enum { NODES = 20 };
    char own_path[80];
    snprintf(own_path, sizeof own_path, "%s/paths.realm", folder);
    realm_property_info_t p[] = {property("tag", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
                                 property("next", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_LIST, "Node", 0)};
    realm_config_t* c = config_of_class(own_path, class_info("Node", "", 2, 0, 0), p);
    crealm_config_set_progress(c, on_progress, &progress, on_free);
    reset();
    realm_t* r = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t node;
    realm_property_info_t tag, next;
    if (!CHECK(r && realm_find_class(r, "Node", &found, &node) && realm_find_property(r, node.key, "tag", &found, &tag))) give_up();
    if (!CHECK(realm_find_property(r, node.key, "next", &found, &next) && realm_begin_write(r))) give_up();
    realm_object_t* nodes[NODES];
    for (int i = 0; i < NODES; i++) nodes[i] = realm_object_create(r, node.key);
    for (int i = 0; i < NODES; i++) {
        CHECK(realm_set_value(nodes[i], tag.key, integer(i), false));
        realm_list_t* list = realm_get_list(nodes[i], next.key);
        for (int j = 0; j < NODES; j++) {
            realm_value_t link;
            memset(&link, 0, sizeof link);
            link.type = RLM_TYPE_LINK;
            link.link = realm_object_as_link(nodes[j]);
            CHECK(realm_list_insert(list, (size_t)j, link));
        }
        realm_release(list);
    }
    CHECK(realm_commit(r));
    for (int i = 0; i < NODES; i++) realm_release(nodes[i]);
    /* Only the last row's links are followed. */
    realm_query_t* q = realm_query_parse(r, node.key, "tag == 19 AND ANY next.next.next.next.next.tag == -1", 0, NULL);
    if (!CHECK(q)) give_up();
    progress.ends_at = CREALM_ACTIVITY_QUERYING;
    size_t n = 0;
    FAILS(CREALM_ERR_INTERRUPTED, realm_query_count(q, &n));
    CHECK(progress.calls[CREALM_ACTIVITY_QUERYING] == 1);
    progress.ends_at = -1;
    CHECK(realm_query_count(q, &n) && n == 0);
    realm_release(q);
    realm_release(r);
}

/* One row may have so many values to compare that the call must be able to end among them. */
static void a_row_of_many_values(void) {
    section = "a row of many values";
    enum { VALUES = 20000, CONSTANTS = 4000 };
    char own_path[80];
    snprintf(own_path, sizeof own_path, "%s/values.realm", folder);
    realm_property_info_t p[] = {property("values", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", 0)};
    realm_config_t* c = config_of_class(own_path, class_info("Row", "", 1, 0, 0), p);
    crealm_config_set_progress(c, on_progress, &progress, on_free);
    reset();
    realm_t* r = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t row;
    realm_property_info_t values;
    if (!CHECK(r && realm_find_class(r, "Row", &found, &row) && realm_find_property(r, row.key, "values", &found, &values))) give_up();
    if (!CHECK(realm_begin_write(r))) give_up();
    realm_object_t* o = realm_object_create(r, row.key);
    realm_list_t* list = realm_get_list(o, values.key);
    for (size_t i = 0; i < VALUES; i++) CHECK(realm_list_insert(list, i, integer(1)));
    CHECK(realm_commit(r));
    realm_release(list);
    realm_release(o);
    static realm_value_t constants[CONSTANTS];
    for (int i = 0; i < CONSTANTS; i++) constants[i] = integer(2);
    realm_query_arg_t argument = {CONSTANTS, true, constants};
    realm_query_t* q = realm_query_parse(r, row.key, "ANY values IN $0", 1, &argument);
    if (!CHECK(q)) give_up();
    progress.ends_at = CREALM_ACTIVITY_QUERYING;
    size_t n = 0;
    FAILS(CREALM_ERR_INTERRUPTED, realm_query_count(q, &n));
    CHECK(progress.calls[CREALM_ACTIVITY_QUERYING] == 1);
    realm_release(q);
    realm_release(r);
}

/* Texts that could make a search visit each place many times: the search is linear nevertheless, and a search that is
   not can be interrupted. */
static void hostile_texts(void) {
    section = "hostile texts";
    enum { SIZE = 500000, PATTERN = 20000 };
    char own_path[80];
    snprintf(own_path, sizeof own_path, "%s/texts.realm", folder);
    realm_property_info_t p[] = {property("text", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0),
                                 property("data", RLM_PROPERTY_TYPE_BINARY, RLM_COLLECTION_TYPE_NONE, "", 0)};
    realm_config_t* c = config_of_class(own_path, class_info("Text", "", 2, 0, 0), p);
    crealm_config_set_progress(c, on_progress, &progress, on_free);
    reset();
    realm_t* r = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t text_class;
    realm_property_info_t text, data;
    if (!CHECK(r && realm_find_class(r, "Text", &found, &text_class) && realm_find_property(r, text_class.key, "text", &found, &text))) give_up();
    if (!CHECK(realm_find_property(r, text_class.key, "data", &found, &data) && realm_begin_write(r))) give_up();
    char* long_text = (char*)malloc(SIZE);
    char* pattern = (char*)malloc(2 * PATTERN);
    if (!CHECK(long_text && pattern)) give_up();
    memset(long_text, 'a', SIZE);
    realm_object_t* o = realm_object_create(r, text_class.key);
    CHECK(realm_set_value(o, text.key, text_of(long_text, SIZE), false));
    CHECK(realm_set_value(o, data.key, bytes(long_text, SIZE), false));
    CHECK(realm_commit(r));
    realm_release(o);
    memset(pattern, 'a', PATTERN);
    pattern[PATTERN - 1] = 'b';
    realm_value_t values[2] = {text_of(pattern, PATTERN), bytes(pattern, PATTERN)};
    realm_query_arg_t arguments[2] = {{1, false, &values[0]}, {1, false, &values[1]}};
    char like[PATTERN + 8];
    snprintf(like, sizeof like, "*%.*s*", PATTERN - 1, pattern);
    const char* linear[] = {"text CONTAINS $0", "text CONTAINS[c] $0", "data CONTAINS $1", "data CONTAINS[c] $1", "text ENDSWITH[c] $0",
                            "text BEGINSWITH[c] $0", "text LIKE $0", "text LIKE[c] $0"};
    for (size_t i = 0; i < sizeof linear / sizeof *linear; i++) {
        realm_query_t* q = realm_query_parse(r, text_class.key, linear[i], 2, arguments);
        size_t n = 1;
        CHECK(q && realm_query_count(q, &n) && n == 0);
        realm_release(q);
    }
    /* A star before a run of 20,000 places that match any character: about a thousand million comparisons. */
    for (int i = 1; i < PATTERN; i++) like[i] = i % 2 ? 'a' : '?';
    like[PATTERN - 1] = 'b';
    values[0] = text_of(like, PATTERN);
    for (int way = 0; way < 2; way++) {
        reset();
        realm_query_t* q = realm_query_parse(r, text_class.key, way ? "text LIKE[c] $0" : "text LIKE $0", 1, arguments);
        size_t n = 0;
        progress.ends_at = CREALM_ACTIVITY_QUERYING;
        FAILS(CREALM_ERR_INTERRUPTED, realm_query_count(q, &n));
        CHECK(progress.calls[CREALM_ACTIVITY_QUERYING] == 1);
        progress.ends_at = -1;
        realm_release(q);
    }
    free(long_text);
    free(pattern);
    realm_release(r);
}

/* Long texts with a long common beginning: a sort, DISTINCT, IN and a comparison without case read all of it, also
   for a few rows, and can be interrupted. */
static void long_texts(void) {
    section = "long texts";
    enum { ROWS = 60, SIZE = 1 << 20 };
    char own_path[80];
    snprintf(own_path, sizeof own_path, "%s/long.realm", folder);
    realm_property_info_t p[] = {property("text", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0),
                                 property("texts", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_LIST, "", 0)};
    realm_config_t* c = config_of_class(own_path, class_info("Text", "", 2, 0, 0), p);
    crealm_config_set_progress(c, on_progress, &progress, on_free);
    reset();
    realm_t* r = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t text_class;
    realm_property_info_t text, texts;
    if (!CHECK(r && realm_find_class(r, "Text", &found, &text_class))) give_up();
    if (!CHECK(realm_find_property(r, text_class.key, "text", &found, &text))) give_up();
    if (!CHECK(realm_find_property(r, text_class.key, "texts", &found, &texts))) give_up();
    char* long_text = (char*)malloc(SIZE);
    if (!CHECK(long_text && realm_begin_write(r))) give_up();
    memset(long_text, 'a', SIZE);
    realm_list_t* list = NULL;
    for (int i = 0; i < ROWS; i++) {
        long_text[SIZE - 1] = (char)('a' + i % 20);
        realm_object_t* o = realm_object_create(r, text_class.key);
        CHECK(realm_set_value(o, text.key, text_of(long_text, SIZE), false));
        if (i == 0) list = realm_get_list(o, texts.key);
        CHECK(realm_list_insert(list, (size_t)i, text_of(long_text, SIZE)));
        realm_release(o);
    }
    CHECK(realm_commit(r));
    long_text[SIZE - 1] = 'z';
    realm_value_t value = text_of(long_text, SIZE);
    realm_value_t values[] = {value, text_of("b", 1)};
    realm_query_arg_t arguments[] = {{1, false, &value}, {2, true, values}};
    static const struct {
        const char* query;
        size_t rows;
    } calls[] = {
        {"TRUEPREDICATE SORT(text ASC)", ROWS},
        {"TRUEPREDICATE SORT(text DESC) LIMIT(3)", 3},
        {"TRUEPREDICATE DISTINCT(text)", 20},
        {"text ==[c] $0", 0}, {"text IN $1", 0}, {"ANY texts ==[c] $0", 0},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        bool was_ended = false, good = true;
        for (int with = 1; with >= 0; with--) {
            pthread_t t;
            if (with) t = start_interrupting(r);
            for (int k = 0; k < (with ? 1000 : 1) && !(with && was_ended); k++) {
                realm_query_t* q = realm_query_parse(r, text_class.key, calls[i].query, 2, arguments);
                realm_results_t* rows = realm_query_find_all(q);
                realm_value_t first;
                size_t n = 0;
                realm_clear_last_error();
                bool done = rows && realm_results_count(rows, &n) && (n == 0 || realm_results_get(rows, 0, &first));
                if (done) good = good && n == calls[i].rows;
                else if (with) was_ended = last_error() == CREALM_ERR_INTERRUPTED;
                good = good && (done || was_ended);
                realm_release(rows), realm_release(q);
            }
            if (with) stop_interrupting(t);
        }
        result(was_ended && good, __LINE__, calls[i].query);
    }
    realm_release(list);
    free(long_text);
    realm_release(r);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/world.realm", folder);
    snprintf(copy_path, sizeof copy_path, "%s/copy.realm", folder);
    fill();
    waiting_for_a_writer();
    many_writers_with_patience();
    waiting_at_the_opening();
    queries();
    a_row_that_leads_far();
    a_row_of_many_values();
    hostile_texts();
    long_texts();
    checks();
    closed_inside();
    copies();
    writes_go_on();
    return finished(folder);
}
