/*
 * serial_test.c - serial schedulers: a realm that every thread may use, one at a time.
 *
 * A call fails with WRONG_THREAD exactly while another thread is inside; no call waits, no change is lost, transactions
 * move between threads, callbacks run in crealm_scheduler_run() on any thread.
 *
 *     serial_test
 *
 * WRITES=50000 serial_test: that many transactions of moving threads (default 3000). Compiles as C11 and as C++17.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/serial-XXXXXX";
static ATOMIC(int) notified, freed;

static void count_notice(realm_userdata_t userdata) { (void)userdata, notified++; }
static void count_free(realm_userdata_t userdata) { (void)userdata, freed++; }

static const char ITEMS[] = "[{\"name\":\"Item\",\"primaryKey\":\"id\",\"properties\":{\"id\":\"int\",\"n\":\"int\"}}]";

static realm_t* open_serial(const char* name, realm_scheduler_t* scheduler) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_schema_t* schema = crealm_schema_from_json(ITEMS, strlen(ITEMS));
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_config_set_scheduler(config, scheduler);
    realm_t* realm = realm_open(config);
    CHECK(realm != NULL);
    realm_release(schema);
    realm_release(config);
    return realm;
}
static realm_class_key_t item;
static realm_property_key_t number;
static void find_keys(realm_t* realm) {
    realm_class_info_t info;
    realm_property_info_t property;
    bool found = false;
    CHECK(realm_find_class(realm, "Item", &found, &info) && found);
    item = info.key;
    CHECK(realm_find_property(realm, item, "n", &found, &property) && found);
    number = property.key;
}
static void on_thread(void* (*body)(void*), void* argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, body, argument);
    pthread_join(thread, NULL);
}

/* ---- One thread after the other --------------------------------------------------------------------- */

static realm_t* shared;
static realm_object_t* object;

static void* begins(void* unused) {
    realm_value_t key = integer(1);
    CHECK(realm_begin_write(shared));
    object = realm_object_create_with_primary_key(shared, item, key);
    CHECK(object != NULL);
    return unused;
}
static void* writes(void* unused) {
    CHECK(realm_object_is_valid(object));
    CHECK(realm_set_value(object, number, integer(7), false));
    return unused;
}
static void* commits(void* unused) {
    CHECK(realm_is_writable(shared));
    CHECK(realm_commit(shared));
    return unused;
}
static void* closes(void* unused) {
    CHECK(realm_close(shared));
    return unused;
}
static void test_moves(void) {
    section = "moves";
    realm_scheduler_t* scheduler = crealm_scheduler_new_serial(NULL, count_free, count_notice);
    shared = open_serial("moves", scheduler);
    find_keys(shared);
    on_thread(begins, NULL);
    on_thread(writes, NULL);
    on_thread(commits, NULL);
    realm_value_t value;
    CHECK(realm_get_value(object, number, &value) && value.integer == 7);
    FAILS(RLM_ERR_NOT_SUPPORTED, realm_create_thread_safe_reference(shared));
    realm_thread_safe_reference_t* reference = realm_create_thread_safe_reference(object);
    CHECK(reference != NULL);
    realm_object_t* resolved = realm_object_from_thread_safe_reference(shared, reference);
    CHECK(resolved && realm_get_value(resolved, number, &value) && value.integer == 7);
    realm_release(resolved);
    realm_release(reference);
    on_thread(closes, NULL);
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(object, number, &value));
    CHECK(!realm_object_is_valid(object));
    realm_release(object);
    realm_release(shared);
    CHECK(freed == 0);
    realm_release(scheduler);
    CHECK(freed == 1);
}

/* ---- Two threads at once ---------------------------------------------------------------------------- */

static ATOMIC(int) armed, inside, step;

/* Holds the realm from a callback until another thread has been refused. */
static void on_change(realm_userdata_t userdata, const realm_object_changes_t* changes) {
    (void)userdata, (void)changes;
    realm_value_t value;
    if (!armed) return;
    inside = 1;
    CHECK(realm_get_value(object, number, &value)); /* calls of the thread that is inside nest */
    while (step == 0) usleep(100);
    inside = 0;
}
static void* refused(void* unused) {
    realm_value_t value;
    size_t count = 0;
    while (!inside) usleep(100);
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_value(object, number, &value));
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_num_objects(shared, item, &count));
    FAILS(RLM_ERR_WRONG_THREAD, realm_begin_write(shared));
    FAILS(RLM_ERR_WRONG_THREAD, crealm_scheduler_run((realm_scheduler_t*)unused, 0, NULL));
    notified = 0; /* the thread that is inside tells it again when it leaves */
    CHECK(realm_object_is_valid(object)); /* the realm is open: no more is known here */
    step = 1;
    return NULL;
}
static void* runs(void* scheduler) {
    bool did = false;
    CHECK(crealm_scheduler_run((realm_scheduler_t*)scheduler, 20000, &did) && did);
    return NULL;
}
static void test_refusal(void) {
    section = "refusal";
    realm_scheduler_t* scheduler = crealm_scheduler_new_serial(NULL, NULL, count_notice);
    shared = open_serial("moves", scheduler);
    realm_value_t key = integer(1);
    bool found = false;
    object = realm_object_find_with_primary_key(shared, item, key, &found);
    CHECK(found);
    notified = 0;
    realm_notification_token_t* token = realm_object_add_notification_callback(object, NULL, NULL, NULL, on_change);
    CHECK(token != NULL);
    CHECK(crealm_scheduler_run(scheduler, 200, NULL));
    CHECK(realm_begin_write(shared) && realm_set_value(object, number, integer(8), false) && realm_commit(shared));
    int fd = -1;
    CHECK(crealm_scheduler_get_fd(scheduler, &fd) && fd >= 0);
    struct pollfd poller = {fd, POLLIN, 0};
    CHECK(poll(&poller, 1, 20000) == 1 && notified > 0);
    armed = 1;
    pthread_t runner, other;
    pthread_create(&runner, NULL, runs, scheduler);
    pthread_create(&other, NULL, refused, scheduler);
    pthread_join(other, NULL);
    pthread_join(runner, NULL);
    CHECK(inside == 0 && step == 1 && notified > 0);
    realm_release(token);
    realm_release(object);

    /* A forked child does not use the realm of its parent. */
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        size_t count = 0;
        bool good = !realm_get_num_objects(shared, item, &count) && last_error() == RLM_ERR_WRONG_TRANSACTION_STATE;
        _exit(good ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    realm_release(shared);
    realm_release(scheduler);
}

/* ---- Many threads with a lock ----------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ATOMIC(int) left, refusals;

/* Transactions of which each call may be made by another thread, in the order of a lock. */
static void* transactions(void* unused) {
    while (left-- > 0) {
        pthread_mutex_lock(&lock);
        realm_value_t key = integer(5), value;
        realm_link_t link;
        bool created = false;
        CHECK(realm_begin_write(shared));
        CHECK(crealm_create(shared, item, &key, CREALM_UPDATE_ALL, 0, NULL, NULL, &link, &created));
        CHECK(crealm_get_values(shared, &link, 1, &number, &value));
        value.integer++;
        CHECK(crealm_set_values(shared, &link, 1, &number, &value));
        CHECK(realm_commit(shared));
        pthread_mutex_unlock(&lock);
    }
    return unused;
}
/* Reads without the lock: each call gives a value, or is refused. */
static void* reads(void* unused) {
    int64_t last = 0;
    while (left > 0) {
        realm_value_t key = integer(5), value;
        realm_link_t link;
        bool found = false;
        realm_clear_last_error();
        if (!crealm_find(shared, item, &key, &link, &found)) {
            refusals++;
            if (last_error() != RLM_ERR_WRONG_THREAD) result(false, __LINE__, "another error than WRONG_THREAD");
            continue;
        }
        if (!found || !crealm_get_values(shared, &link, 1, &number, &value)) continue;
        if (value.integer < last) result(false, __LINE__, "a value went back");
        last = value.integer;
    }
    return unused;
}
static void test_many(void) {
    section = "many threads";
    const char* wanted = getenv("WRITES");
    int count = wanted ? atoi(wanted) : 3000;
    left = count;
    realm_scheduler_t* scheduler = crealm_scheduler_new_serial(NULL, NULL, NULL);
    shared = open_serial("many", scheduler);
    find_keys(shared);
    /* First only threads that keep a lock; then a writer that tries again beside readers without a lock. */
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, transactions, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    realm_value_t key = integer(5), value;
    realm_link_t link;
    bool found = false;
    CHECK(crealm_find(shared, item, &key, &link, &found) && found);
    CHECK(crealm_get_values(shared, &link, 1, &number, &value) && value.integer == count);
    left = count;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, reads, NULL);
    for (; left > 0; left--) {
        realm_value_t next = integer(value.integer + 1);
        /* A call that is refused is made again. */
        while (!realm_begin_write(shared)) sched_yield();
        while (!crealm_set_values(shared, &link, 1, &number, &next)) sched_yield();
        while (!realm_commit(shared)) sched_yield();
        value = next;
    }
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK(crealm_get_values(shared, &link, 1, &number, &value) && value.integer == 2 * count);
    CHECK(crealm_verify(shared, NULL));
    realm_release(shared);
    realm_release(scheduler);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    test_moves();
    test_refusal();
    test_many();
    return finished(folder);
}
