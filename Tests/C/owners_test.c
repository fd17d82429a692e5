/*
 * The owner of the write lock. Goal: a scheduler owns it, never a thread. A second write transaction on the same
 * scheduler is refused at once, because it would wait for itself; all others wait, whatever the threads, also after a
 * Realm was moved to another thread while it writes.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/owners-XXXXXX";
static char path[100];

/* A place of execution that does one thing at a time, on changing threads. */
typedef struct {
    int group; /* places of one group are the same place, with different schedulers */
} place_t;
static __thread int here;
static bool on_thread(realm_userdata_t p) { return ((place_t*)p)->group == here; }
static bool is_same(const realm_userdata_t a, const realm_userdata_t b) { return ((const place_t*)a)->group == ((const place_t*)b)->group; }
static bool can_deliver(realm_userdata_t p) { return (void)p, true; }
static void notify(realm_userdata_t p, realm_work_queue_t* work) { (void)p, (void)work; }
static void nothing(realm_userdata_t p) { (void)p; }

static realm_t* opened(place_t* place, int64_t limit) {
    realm_property_info_t p[] = {property("n", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0)};
    realm_config_t* c = config_of_class(path, class_info("Thing", "", 1, 0, 0), p);
    if (place) {
        realm_scheduler_t* s = realm_scheduler_new(place, nothing, notify, on_thread, is_same, can_deliver);
        realm_config_set_scheduler(c, s);
        realm_release(s);
    }
    crealm_config_set_lock_timeout(c, limit);
    realm_t* r = realm_open(c);
    realm_release(c);
    return r;
}

/* A call at a place, on this thread or another one. */
typedef struct {
    realm_t* realm;
    int group;
    bool (*call)(realm_t*);
    int error; /* 0: success */
} visit_t;
static void* run(void* p) {
    visit_t* v = (visit_t*)p;
    here = v->group;
    realm_clear_last_error();
    bool good = v->call(v->realm);
    v->error = good ? 0 : last_error();
    here = 0;
    return NULL;
}
static int at(int group, realm_t* r, bool (*call)(realm_t*)) {
    visit_t v = {r, group, call, -1};
    run(&v);
    return v.error;
}
static int elsewhere(int group, realm_t* r, bool (*call)(realm_t*)) {
    visit_t v = {r, group, call, -1};
    pthread_t t;
    if (pthread_create(&t, NULL, run, &v) != 0) return -1;
    pthread_join(t, NULL);
    return v.error;
}

static void places_that_move(void) {
    section = "places that move from thread to thread";
    place_t a = {1}, again = {1}, b = {2};
    here = 1;
    realm_t *first = opened(&a, 100), *second = opened(&a, 100), *third = opened(&again, 100);
    here = 2;
    realm_t* other = opened(&b, 0);
    here = 0;
    if (!CHECK(first && second && third && other)) return;
    /* On each of two threads, and on one that has ended: the other place waits, the same place is refused. */
    for (int round = 0; round < 2; round++) {
        CHECK((round ? elsewhere : at)(1, first, realm_begin_write) == 0);
        CHECK(at(2, other, realm_begin_write) == CREALM_ERR_TIMED_OUT);
        CHECK(elsewhere(2, other, realm_begin_write) == CREALM_ERR_TIMED_OUT);
        CHECK(at(1, second, realm_begin_write) == RLM_ERR_WRONG_TRANSACTION_STATE);
        CHECK(elsewhere(1, second, realm_begin_write) == RLM_ERR_WRONG_TRANSACTION_STATE);
        CHECK(at(1, third, realm_begin_write) == RLM_ERR_WRONG_TRANSACTION_STATE);
        CHECK(elsewhere(1, third, realm_begin_write) == RLM_ERR_WRONG_TRANSACTION_STATE);
        CHECK((round ? at : elsewhere)(1, first, realm_commit) == 0);
        CHECK(elsewhere(2, other, realm_begin_write) == 0);
        CHECK(at(1, third, realm_begin_write) == CREALM_ERR_TIMED_OUT);
        CHECK(at(2, other, realm_rollback) == 0);
    }
    realm_release(first), realm_release(second), realm_release(third), realm_release(other);
}

/* A Realm is moved to another place in the middle of its write transaction, and keeps the lock. */
static realm_thread_safe_reference_t* reference;
static ATOMIC(int) step;
static void* take_over(void* p) {
    realm_t* taken = realm_from_thread_safe_reference(reference, NULL);
    CHECK(taken);
    step = 1;
    while (step < 2) usleep(100);
    if (!taken) return p;
    realm_t* mine = opened(NULL, 100);
    CHECK(mine);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(mine));
    CHECK(realm_commit(taken));
    CHECK(realm_begin_write(mine) && realm_rollback(mine));
    realm_close(mine), realm_release(mine);
    realm_close(taken), realm_release(taken);
    return p;
}
static void handed_over(void) {
    section = "a Realm that is handed over while it writes";
    realm_t *writer = opened(NULL, 0), *left_behind = opened(NULL, 50);
    if (!CHECK(writer && left_behind) || !CHECK(realm_begin_write(writer))) return;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(left_behind));
    reference = realm_create_thread_safe_reference(writer);
    /* Between two places made of C functions, on one thread. */
    place_t a = {1}, b = {2};
    here = 1;
    realm_t* at_a = opened(&a, 0);
    here = 2;
    realm_t* at_b = opened(&b, 0);
    here = 0;
    pthread_t t;
    if (!CHECK(reference && at_a && at_b) || !CHECK(pthread_create(&t, NULL, take_over, NULL) == 0)) return;
    while (step < 1) usleep(100);
    FAILS(CREALM_ERR_TIMED_OUT, realm_begin_write(left_behind));
    step = 2;
    pthread_join(t, NULL);
    CHECK(realm_begin_write(left_behind) && realm_rollback(left_behind));

    CHECK(at(1, at_a, realm_begin_write) == 0);
    here = 1;
    realm_thread_safe_reference_t* moving = realm_create_thread_safe_reference(at_a);
    here = 2;
    realm_scheduler_t* s = realm_scheduler_new(&b, nothing, notify, on_thread, is_same, can_deliver);
    realm_t* moved = realm_from_thread_safe_reference(moving, s);
    here = 0;
    CHECK(moved && at(2, at_b, realm_begin_write) == RLM_ERR_WRONG_TRANSACTION_STATE);
    FAILS(CREALM_ERR_TIMED_OUT, realm_begin_write(left_behind));
    CHECK(elsewhere(2, moved, realm_commit) == 0);
    CHECK(elsewhere(2, at_b, realm_begin_write) == 0 && at(2, at_b, realm_rollback) == 0);
    realm_release(moved), realm_release(s), realm_release(moving), realm_release(reference);
    realm_release(at_a), realm_release(at_b), realm_release(left_behind), realm_release(writer);
}

int main(void) {
    if (!mkdtemp(folder)) return 2;
    snprintf(path, sizeof path, "%s/world.realm", folder);
    places_that_move();
    handed_over();
    return finished(folder);
}
