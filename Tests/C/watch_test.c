/*
 * watch_test.c - Realms are notified of new versions in turns of their scheduler, for commits of any instance in this
 * process or another.
 *
 * The rows of docs/live-objects.md, section 11.5, that need no change sets of collections; then properties that no
 * table has: many commits of writers that are killed at random never leave a listener asleep, pending work is bounded,
 * closing ends everything.
 *
 *     watch_test
 *
 * COMMITS=20000 watch_test: that many commits of killed writers (default 600).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "atomics.h"
#include "checks.h"
#include "crealm.h"

/* A time limit in milliseconds that only a stuck program exceeds. */
enum { PATIENCE = 60000 };
static char folder[] = "/tmp/watch-XXXXXX";

/* ---- Files ------------------------------------------------------------------------------------------ */

static realm_property_info_t int_property(const char* name) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = p.link_target = p.link_origin_property_name = "";
    p.type = RLM_PROPERTY_TYPE_INT;
    return p;
}
/* One class with `count` of the properties n, a, b. */
static realm_config_t* config_for(const char* name, size_t count) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_property_info_t properties[] = {int_property("n"), int_property("a"), int_property("b")};
    const realm_property_info_t* all = properties;
    realm_class_info_t cls;
    memset(&cls, 0, sizeof cls);
    cls.name = "A", cls.primary_key = "", cls.num_properties = count;
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    if (count) {
        realm_schema_t* schema = realm_schema_new(&cls, 1, &all);
        realm_config_set_schema(c, schema);
        realm_config_set_schema_version(c, count);
        realm_release(schema);
    }
    return c;
}
static realm_t* open_config(realm_config_t* c) {
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!CHECK(r != NULL)) give_up();
    return r;
}
static realm_t* open_realm(const char* name) { return open_config(config_for(name, 1)); }
/* A realm without automatic notifications. */
static realm_t* open_quiet(const char* name) {
    realm_config_t* c = config_for(name, 1);
    realm_config_set_automatic_change_notifications(c, false);
    return open_config(c);
}
static void close_realm(realm_t* r) {
    CHECK(realm_close(r));
    realm_release(r);
}
static bool add(realm_t* r) {
    realm_class_info_t cls;
    bool found;
    if (!realm_begin_write(r) || !realm_find_class(r, "A", &found, &cls) || !found) return false;
    realm_object_t* o = realm_object_create(r, cls.key);
    realm_release(o);
    return o && realm_commit(r);
}
static long count(realm_t* r) {
    realm_class_info_t cls;
    bool found;
    size_t n;
    return realm_find_class(r, "A", &found, &cls) && found && realm_get_num_objects(r, cls.key, &n) ? (long)n : -1;
}
static uint64_t version_of(realm_t* r) {
    bool found = false;
    realm_version_id_t v;
    return realm_get_version_id(r, &found, &v) && found ? v.version : 0;
}

/* ---- Turns ------------------------------------------------------------------------------------------ */

static realm_scheduler_t* scheduler;
/* Waits for a turn. */
static bool turn(void) {
    bool did = false;
    return crealm_scheduler_run(scheduler, PATIENCE, &did) && did;
}
/* Whether no turn is pending and none arrives within a short time. */
static bool no_turn(void) {
    bool did = true;
    return crealm_scheduler_run(scheduler, 100, &did) && !did;
}
/* Waits for pending notifications. */
static void settle(void) {
    bool did = true;
    while (did && crealm_scheduler_run(scheduler, 100, &did)) {}
}

typedef struct {
    int calls, frees;
    realm_t* realm;
    void (*then)(realm_t* realm);
    bool writable;
    long count;
} watcher_t;
static void called(realm_userdata_t p) {
    watcher_t* w = (watcher_t*)p;
    w->calls++;
    w->writable = realm_is_writable(w->realm);
    w->count = realm_is_closed(w->realm) ? -1 : count(w->realm);
    if (w->then) w->then(w->realm);
}
static void freed(realm_userdata_t p) { ((watcher_t*)p)->frees++; }
static realm_callback_token_t* watch(realm_t* r, watcher_t* w) {
    memset(w, 0, sizeof *w);
    w->realm = r;
    return realm_add_realm_changed_callback(r, called, w, freed);
}
static int schemas, schema_properties;
static void schema_changed(realm_userdata_t p, const realm_schema_t* schema) {
    (void)p, (void)schema;
    schemas++;
}

/* ---- One process ------------------------------------------------------------------------------------ */

static void moves(void) {
    section = "a turn moves the Realm";
    realm_t *r = open_realm("moves"), *other = open_quiet("moves");
    watcher_t w;
    realm_callback_token_t* token = watch(r, &w);
    CHECK(count(r) == 0 && w.calls == 0);
    uint64_t before = version_of(r);
    CHECK(add(other));
    CHECK(w.calls == 0 && version_of(r) == before);
    CHECK(turn() && w.calls == 1 && version_of(r) == before + 1 && count(r) == 1);
    CHECK(no_turn() && w.calls == 1);

    section = "commits before the turn come together";
    CHECK(add(other) && add(other) && add(other));
    CHECK(turn());
    settle();
    CHECK(w.calls >= 1 && w.calls <= 3 && count(r) == 4);

    section = "refresh comes first (T5)";
    w.calls = 0;
    bool did = false;
    CHECK(add(other) && add(other) && realm_refresh(r, &did) && did && w.calls == 1 && count(r) == 6);
    CHECK(realm_refresh(r, &did) && !did && w.calls == 1);
    settle();
    CHECK(w.calls == 1);

    section = "begin-write comes first (T6, T19)";
    CHECK(add(other) && realm_begin_write(r));
    CHECK(w.calls == 2 && w.writable && w.count == 7);
    section = "a turn during a write (T8)";
    settle();
    CHECK(w.calls == 2 && realm_is_writable(r));
    CHECK(realm_rollback(r) && w.calls == 2);
    settle();
    CHECK(w.calls == 2);

    section = "own commits (T18)";
    CHECK(add(r) && w.calls == 3 && !w.writable);
    settle();
    CHECK(w.calls == 3);

    section = "a released token (T16)";
    CHECK(add(other));
    realm_release(token);
    CHECK(w.frees == 1);
    settle();
    CHECK(w.calls == 3 && count(r) == 9);
    close_realm(other);
    close_realm(r);
}

static void idle(void) {
    section = "a Realm that reads nothing";
    realm_t *r = open_realm("idle"), *other = open_quiet("idle");
    watcher_t w;
    realm_callback_token_t* token = watch(r, &w);
    CHECK(version_of(r) == 0 && add(other) && turn() && w.calls == 1 && w.count == 1);
    CHECK(no_turn() && w.calls == 1);
    realm_release(token);
    close_realm(r);

    section = "and whose callbacks read nothing: no version is held";
    r = open_realm("idle");
    uint64_t versions = 0;
    CHECK(add(other) && turn() && version_of(r) == 0);
    for (int i = 0; i < 5; i++) CHECK(add(other) && turn());
    CHECK(realm_get_num_versions(other, &versions) && versions <= 2);
    close_realm(r);

    section = "the first refresh (T36)";
    r = open_realm("idle");
    bool did = false;
    CHECK(realm_refresh(r, &did) && did && realm_refresh(r, &did) && !did);
    close_realm(other);
    close_realm(r);
}

static void other_thread_closes(realm_t* r) { CHECK(realm_close(r)); }
static bool inner_did = true;
static void refreshes(realm_t* r) { CHECK(realm_refresh(r, &inner_did)); }
static void runs(realm_t* r) {
    bool did;
    (void)r;
    CHECK(crealm_scheduler_run(scheduler, 50, &did));
}
static realm_callback_token_t* next_token;
static void releases_next(realm_t* r) {
    (void)r;
    realm_release(next_token);
    next_token = NULL;
}
static int writes_left;
static void writes(realm_t* r) {
    if (writes_left-- > 0) CHECK(realm_is_writable(r) || add(r));
}
static realm_t* foreign;
static void commits_elsewhere(realm_t* r) {
    (void)r;
    if (writes_left-- > 0) {
        CHECK(add(foreign));
        runs(r);
    }
}
static void in_callbacks(void) {
    realm_t *r = open_realm("callbacks"), *other = open_quiet("callbacks");
    watcher_t first, second, third;
    CHECK(count(r) == 0);
    section = "refresh in a callback (T12)";
    realm_callback_token_t *one = watch(r, &first), *two = watch(r, &second), *three;
    first.then = refreshes;
    CHECK(add(other) && turn() && !inner_did && first.calls == 1 && second.calls == 1 && count(r) == 1);

    section = "a token that is released by an earlier callback (T9)";
    three = watch(r, &third);
    first.then = releases_next;
    next_token = two;
    CHECK(add(other) && turn() && second.calls == 1 && second.frees == 1 && third.calls == 1);

    section = "a commit from realm-changed (T21)";
    first.then = writes;
    writes_left = 1;
    int before = third.calls;
    CHECK(add(other) && turn() && count(r) == 4 && third.calls >= before + 2);
    settle();

    section = "a turn inside a callback comes afterwards";
    first.then = commits_elsewhere;
    foreign = other;
    writes_left = 1;
    CHECK(add(other) && turn());
    settle();
    CHECK(count(r) == 6);

    section = "close in a callback (T14)";
    first.then = other_thread_closes;
    CHECK(add(other) && turn() && realm_is_closed(r));
    realm_release(one);
    realm_release(three);
    realm_release(r);

    section = "close with a turn that waits (T15)";
    r = open_realm("callbacks");
    one = watch(r, &first);
    CHECK(count(r) > 0 && add(other));
    usleep(50000);
    CHECK(realm_close(r));
    settle();
    CHECK(first.calls == 0);
    realm_release(one);
    CHECK(first.frees == 1);
    realm_release(r);
    close_realm(other);
}

static void refresh_callbacks(void) {
    section = "refresh callbacks (T22)";
    realm_t *r = open_realm("refreshed"), *other = open_quiet("refreshed");
    watcher_t w;
    memset(&w, 0, sizeof w);
    w.realm = r;
    CHECK(count(r) == 0);
    realm_clear_last_error();
    CHECK(realm_add_realm_refresh_callback(r, called, &w, freed) == NULL && last_error() == 0 && w.frees == 1);
    CHECK(add(other) && version_of(r) != version_of(other));
    realm_refresh_callback_token_t* token = realm_add_realm_refresh_callback(r, called, &w, freed);
    CHECK(token != NULL && w.calls == 0);
    CHECK(add(other) && turn() && w.calls == 1 && w.frees == 2);
    CHECK(add(other) && turn() && w.calls == 1);
    realm_release(token);
    CHECK(w.frees == 2);
    close_realm(other);
    close_realm(r);
}

static void automatic_off(void) {
    section = "automatic notifications off (T23)";
    realm_t *r = open_quiet("off"), *other = open_quiet("off");
    watcher_t w;
    realm_callback_token_t* token = watch(r, &w);
    bool did = false;
    CHECK(count(r) == 0 && add(other) && no_turn() && w.calls == 0);
    CHECK(realm_refresh(r, &did) && did && w.calls == 1);
    realm_release(token);
    close_realm(other);
    close_realm(r);
    section = "the choice is kept";
    realm_config_t* c = config_for("off", 1);
    CHECK(realm_config_get_automatic_change_notifications(c));
    realm_config_set_automatic_change_notifications(c, false);
    CHECK(!realm_config_get_automatic_change_notifications(c));
    realm_release(c);
}

static void schema_moves(void) {
    section = "a class grows (M100, M103)";
    realm_t* r = open_realm("schema");
    realm_t* dynamic = open_config(config_for("schema", 0));
    CHECK(count(r) == 0 && count(dynamic) == 0);
    watcher_t w;
    schemas = 0;
    realm_callback_token_t *one = realm_add_schema_changed_callback(r, schema_changed, NULL, NULL), *two = watch(dynamic, &w);
    pid_t child = fork();
    if (child == 0) {
        realm_config_t* c = config_for("schema", 2);
        realm_t* grown = realm_open(c);
        _exit(grown ? 0 : 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    CHECK(turn());
    settle();
    CHECK(schemas == 1 && w.calls >= 1);
    realm_class_info_t cls;
    bool found;
    CHECK(realm_find_class(dynamic, "A", &found, &cls) && found && cls.num_properties == 2);
    realm_release(one);
    realm_release(two);
    close_realm(dynamic);

    section = "a property that is used goes (M101): the turn leaves the Realm where it is";
    uint64_t before = version_of(r);
    one = watch(r, &w);
    child = fork();
    if (child == 0) {
        char path[200];
        snprintf(path, sizeof path, "%s/schema.realm", folder);
        realm_property_info_t property = int_property("other");
        const realm_property_info_t* all = &property;
        realm_class_info_t other;
        memset(&other, 0, sizeof other);
        other.name = "A", other.primary_key = "", other.num_properties = 1;
        realm_schema_t* schema = realm_schema_new(&other, 1, &all);
        realm_config_t* c = realm_config_new();
        realm_config_set_path(c, path);
        realm_config_set_schema(c, schema);
        realm_config_set_schema_version(c, 9);
        realm_t* changed = realm_open(c);
        _exit(changed ? 0 : 1);
    }
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    CHECK(turn() && w.calls == 0 && version_of(r) == before && count(r) == 0);
    CHECK(no_turn());
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_refresh(r, NULL));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_begin_write(r));
    CHECK(count(r) == 0 && version_of(r) == before && w.calls == 0);
    realm_set_log_level(RLM_LOG_LEVEL_INFO);
    realm_release(one);
    close_realm(r);
}

/* ---- Schedulers ------------------------------------------------------------------------------------- */

typedef struct {
    pthread_t thread;
    ATOMIC(int) notified;
    ATOMIC(realm_work_queue_t*) queue;
    bool delivers;
    ATOMIC(int) freed;
} own_t;
static void own_notify(realm_userdata_t p, realm_work_queue_t* queue) {
    own_t* own = (own_t*)p;
    own->queue = queue;
    own->notified++;
}
static bool own_is_on_thread(realm_userdata_t p) { return pthread_equal(((own_t*)p)->thread, pthread_self()); }
static bool own_delivers(realm_userdata_t p) { return ((own_t*)p)->delivers; }
static void own_freed(realm_userdata_t p) { ((own_t*)p)->freed++; }
static bool eventually(ATOMIC(int)* number, int least) {
    for (int i = 0; i < PATIENCE && *number < least; i++) usleep(1000);
    return *number >= least;
}
static void schedulers(void) {
    section = "a scheduler of functions (T24)";
    static own_t own;
    own.thread = pthread_self();
    for (int delivers = 0; delivers < 2; delivers++) {
        own.delivers = delivers;
        own.notified = 0;
        realm_config_t* c = config_for("own", 1);
        realm_scheduler_t* s = realm_scheduler_new(&own, own_freed, own_notify, own_is_on_thread, NULL, own_delivers);
        realm_config_set_scheduler(c, s);
        realm_release(s);
        realm_t *r = open_config(c), *other = open_quiet("own");
        watcher_t w;
        realm_callback_token_t* token = watch(r, &w);
        long before = count(r);
        CHECK(add(other) && eventually(&own.notified, 1) && w.calls == 0);
        realm_scheduler_perform_work(own.queue);
        CHECK(w.calls == 1 && count(r) == before + 1);
        section = "one piece of work for many commits";
        for (int i = 0; i < 50; i++) CHECK(add(other));
        CHECK(eventually(&own.notified, 2));
        usleep(50000);
        CHECK(own.notified == 2);
        realm_scheduler_perform_work(own.queue);
        CHECK(count(r) >= before + 2);
        section = "work that is done more often than asked for";
        realm_scheduler_perform_work(own.queue);
        realm_scheduler_perform_work(own.queue);
        realm_release(token);
        close_realm(r);
        close_realm(other);
        CHECK(eventually(&own.freed, delivers + 1));
    }
    section = "a scheduler that posts nothing";
    realm_config_t* c = config_for("own", 1);
    realm_scheduler_t* s = realm_scheduler_new(&own, own_freed, NULL, own_is_on_thread, NULL, NULL);
    realm_config_set_scheduler(c, s);
    realm_release(s);
    realm_t *r = open_config(c), *other = open_quiet("own");
    watcher_t w;
    realm_callback_token_t* token = watch(r, &w);
    bool did = false;
    CHECK(count(r) > 0 && add(other) && realm_refresh(r, &did) && did && w.calls == 1);
    realm_release(token);
    close_realm(r);
    close_realm(other);
}

static bool readable(int fd, int milliseconds) {
    struct pollfd p = {fd, POLLIN, 0};
    return poll(&p, 1, milliseconds) == 1 && (p.revents & POLLIN);
}
static void descriptors(void) {
    section = "the descriptor, with epoll";
    realm_t *r = open_realm("descriptor"), *other = open_quiet("descriptor");
    settle();
    int fd = -1, epoll = epoll_create1(EPOLL_CLOEXEC);
    CHECK(crealm_scheduler_get_fd(scheduler, &fd) && fd >= 0);
    struct epoll_event event;
    memset(&event, 0, sizeof event);
    event.events = EPOLLIN;
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0);
    CHECK(!readable(fd, 50) && count(r) == 0);
    for (int i = 1; i <= 20; i++) {
        CHECK(add(other) && epoll_wait(epoll, &event, 1, PATIENCE) == 1);
        bool did = false;
        CHECK(crealm_scheduler_run(scheduler, 0, &did) && did && count(r) == i);
    }
    CHECK(!readable(fd, 50));
    section = "the descriptor, edge-triggered";
    event.events = EPOLLIN | EPOLLET;
    CHECK(epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &event) == 0);
    for (int i = 21; i <= 40; i++) {
        CHECK(add(other) && epoll_wait(epoll, &event, 1, PATIENCE) == 1);
        CHECK(crealm_scheduler_run(scheduler, 0, NULL) && count(r) == i);
    }
    section = "the descriptor stays readable until the turn, however many commits come";
    for (int i = 0; i < 100; i++) CHECK(add(other));
    CHECK(readable(fd, PATIENCE) && readable(fd, 0));
    settle();
    CHECK(!readable(fd, 50) && count(r) == 140);
    close(epoll);
    close_realm(other);
    close_realm(r);
}

/* ---- Threads ---------------------------------------------------------------------------------------- */

static ATOMIC(bool) stop;
static ATOMIC(int) rounds;
static void* opens_and_closes(void* p) {
    realm_scheduler_t* mine = realm_scheduler_make_default();
    while (!stop) {
        // In every second round the scheduler runs, so that the file has a listener.
        if (rounds % 2 && !crealm_scheduler_run(mine, 0, NULL)) return (void*)3;
        realm_t* r = realm_open((realm_config_t*)p);
        if (!r) return (void*)1;
        if (count(r) < 0) return (void*)2;
        realm_close(r);
        realm_release(r);
        rounds++;
    }
    realm_release(mine);
    return NULL;
}
/* Threads of this process. */
static int thread_count(void) {
    int n = 0;
    DIR* tasks = opendir("/proc/self/task");
    for (struct dirent* d; tasks && (d = readdir(tasks));) n += d->d_name[0] != '.';
    if (tasks) closedir(tasks);
    return n;
}
static void* gives_descriptor(void* mine) {
    int fd = -1;
    return crealm_scheduler_get_fd((realm_scheduler_t*)mine, &fd) && fd >= 0 ? mine : NULL;
}
/* On a thread whose scheduler has never run. */
static void* unattended(void* p) {
    (void)p;
    realm_scheduler_t* mine = realm_scheduler_make_default();
    section = "nobody runs the scheduler: no thread is started";
    int before = thread_count();
    realm_t *r = open_realm("unattended"), *other = open_quiet("unattended");
    CHECK(count(r) == 0 && add(other) && thread_count() == before && count(r) == 0);

    section = "a scheduler that posts nothing: no thread either";
    static own_t own;
    own.thread = pthread_self();
    realm_config_t* c = config_for("unattended", 1);
    realm_scheduler_t* s = realm_scheduler_new(&own, own_freed, NULL, own_is_on_thread, NULL, own_delivers);
    realm_config_set_scheduler(c, s);
    realm_release(s);
    realm_t* silent = open_config(c);
    CHECK(silent && thread_count() == before);
    close_realm(silent);

    section = "who first runs it takes what came before";
    bool did = false;
    watcher_t w;
    realm_callback_token_t* token = watch(r, &w);
    CHECK(crealm_scheduler_run(mine, 0, &did) && did && count(r) == 1 && w.calls == 1);
    CHECK(thread_count() == before + 1);
    CHECK(add(other) && crealm_scheduler_run(mine, PATIENCE, &did) && did && count(r) == 2 && w.calls == 2);

    section = "a Realm that comes to a scheduler that is run";
    realm_t* second = open_realm("attended");
    realm_t* third = open_quiet("attended");
    CHECK(count(second) == 0 && add(third) && crealm_scheduler_run(mine, PATIENCE, &did) && did && count(second) == 1);
    close_realm(third);
    close_realm(second);
    realm_release(token);
    close_realm(other);
    close_realm(r);
    realm_release(mine);
    return NULL;
}
static void* asked_elsewhere(void* p) {
    (void)p;
    section = "another thread asks for the descriptor";
    realm_scheduler_t* mine = realm_scheduler_make_default();
    realm_t *r = open_realm("unattended"), *other = open_quiet("unattended");
    long had = count(r);
    CHECK(had >= 0 && add(other));
    pthread_t asking;
    void* answer = NULL;
    pthread_create(&asking, NULL, gives_descriptor, mine);
    pthread_join(asking, &answer);
    bool did = false;
    CHECK(answer == mine);
    // The request, then what came before.
    while (count(r) == had && CHECK(crealm_scheduler_run(mine, PATIENCE, &did) && did)) {}
    CHECK(count(r) == had + 1);
    close_realm(other);
    close_realm(r);
    realm_release(mine);
    return NULL;
}
static void unattended_schedulers(void) {
    void* (*parts[])(void*) = {unattended, asked_elsewhere};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, parts[i], NULL);
        pthread_join(thread, NULL);
    }
}
static void threads(void) {
    section = "Realms come and go while others commit";
    realm_t* writer = open_realm("threads");
    realm_config_t* c = config_for("threads", 1);
    pthread_t all[3];
    stop = false;
    for (int i = 0; i < 3; i++) pthread_create(&all[i], NULL, opens_and_closes, c);
    for (int i = 0; i < 200 || (rounds < 100 && i < 100000); i++) CHECK(add(writer));
    stop = true;
    for (int i = 0; i < 3; i++) {
        void* answer;
        pthread_join(all[i], &answer);
        CHECK(answer == NULL);
    }
    CHECK(rounds >= 100);
    realm_release(c);
    settle();
    close_realm(writer);

    section = "the last Realm goes: the file can be deleted at once";
    for (int i = 0; i < 50; i++) {
        realm_t* r = open_realm("gone");
        bool did = false;
        CHECK(add(r));
        close_realm(r);
        char path[200];
        snprintf(path, sizeof path, "%s/gone.realm", folder);
        CHECK(realm_delete_files(path, &did) && did);
    }
}

/* ---- Several processes ------------------------------------------------------------------------------ */

typedef struct {
    ATOMIC(long) committed, begun;
    ATOMIC(int) ready;
} shared_t;
static shared_t* shared;

static void many_commits(long wanted) {
    section = "commits of other processes, killed at random";
    shared = (shared_t*)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    realm_t* r = open_config(({
        realm_config_t* c = config_for("killed", 1);
        crealm_config_set_durability(c, CREALM_DURABILITY_UNSAFE);
        c;
    }));
    long seen = count(r), kills = 0, turns = 0;
    CHECK(seen == 0);
    srand(1);
    while (shared->committed < wanted) {
        pid_t child = fork();
        if (child == 0) {
            realm_config_t* c = config_for("killed", 1);
            crealm_config_set_durability(c, CREALM_DURABILITY_UNSAFE);
            realm_config_set_automatic_change_notifications(c, rand() & 1);
            realm_t* writer = realm_open(c);
            if (!writer) _exit(1);
            while (add(writer)) shared->committed++;
            _exit(1);
        }
        /* Turns while it writes, then after its death: the commits made by then must be seen without any further
           commit. */
        long target = shared->committed + 1 + rand() % 40;
        for (int i = 0; i < 100000 && shared->committed < target; i++) {
            bool did = false;
            if (!CHECK(crealm_scheduler_run(scheduler, 1, &did))) give_up();
            if (did) turns++;
        }
        if (rand() % 2) usleep((useconds_t)(rand() % 3000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        kills++;
        while (count(r) < shared->committed) {
            bool did = false;
            if (!CHECK(crealm_scheduler_run(scheduler, PATIENCE, &did) && did)) {
                printf("  %ld of %ld objects after %ld kills\n", count(r), (long)shared->committed, kills);
                give_up();
            }
            turns++;
        }
        /* The file may have one commit that its writer did not count before it died, and one more that the writer
           before it did not publish. */
        long now = count(r);
        if (!CHECK(now >= shared->committed && now <= shared->committed + 2)) give_up();
        shared->committed = now;
    }
    printf("%ld commits of %ld killed writers, %ld turns\n", (long)shared->committed, kills, turns);
    section = "and nothing of them stays";
    uint64_t versions = 0;
    CHECK(add(r) && add(r) && realm_get_num_versions(r, &versions) && versions <= 2);
    close_realm(r);
}

static void killed_listeners(void) {
    section = "listeners that are killed hold nobody up";
    realm_t* r = open_quiet("listeners");
    for (int i = 0; i < 20; i++) {
        shared->ready = 0;
        pid_t children[3];
        for (int k = 0; k < 3; k++) {
            children[k] = fork();
            if (children[k]) continue;
            realm_t* watching = open_realm("listeners");
            shared->ready++;
            for (;;) crealm_scheduler_run(NULL, -1, NULL), count(watching);
        }
        while (shared->ready < 3) usleep(500);
        for (int k = 0; k < 10; k++) CHECK(add(r));
        for (int k = 0; k < 3; k++) {
            kill(children[k], SIGKILL);
            CHECK(waitpid(children[k], NULL, 0) == children[k]);
        }
        CHECK(add(r));
    }
    uint64_t versions = 0;
    CHECK(add(r) && add(r) && realm_get_num_versions(r, &versions) && versions <= 2);
    close_realm(r);
}

static void forks(void) {
    section = "a forked child";
    realm_t *r = open_realm("forks"), *other = open_quiet("forks");
    CHECK(count(r) == 0);
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            realm_scheduler_t* own = realm_scheduler_make_default();
            realm_t* mine = open_realm("forks");
            long before = count(mine);
            bool did = false;
            if (!add(mine) || count(mine) != before + 1) _exit(2);
            shared->ready = 1;
            while (count(mine) < before + 2)
                if (!crealm_scheduler_run(own, PATIENCE, &did) || !did) _exit(3);
            realm_close(r);
            realm_release(r);
            _exit(0);
        }
        long before = count(r);
        while (count(r) < before + 1)
            if (!CHECK(turn())) give_up();
        while (!shared->ready) usleep(500);
        shared->ready = 0;
        int status = 0;
        CHECK(add(other) && waitpid(child, &status, 0) == child && status == 0);
        settle();
    }
    close_realm(other);
    close_realm(r);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    alarm(1500);
    scheduler = realm_scheduler_make_default();
    (void)schema_properties;
    unattended_schedulers();  // The first, as it counts threads.
    moves();
    idle();
    in_callbacks();
    refresh_callbacks();
    automatic_off();
    schema_moves();
    schedulers();
    descriptors();
    threads();
    const char* commits = getenv("COMMITS");
    many_commits(commits ? atol(commits) : 600);
    killed_listeners();
    forks();
    realm_release(scheduler);
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) perror(folder);
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed != 0;
}
