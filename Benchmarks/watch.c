/* Measures the cost of watching, with any shared library that exports Realm's C API: change callbacks, frozen Realms, a
   reader beside a writer.
 *
 *     watch LIB.so WORKDIR N
 *
 * Prints one line for each measurement: name <tab> seconds <tab> operations.
 * Build: cc -O2 -I<dir with realm.h> watch.c -ldl -lpthread -o watch
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <realm.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void* library;
static void* symbol(const char* name) {
    void* p = dlsym(library, name);
    if (!p) fprintf(stderr, "no symbol %s\n", name), exit(3);
    return p;
}
#define F(name) ((__typeof__(&name))symbol(#name))

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static void report(const char* name, double seconds, long operations) {
    printf("%s\t%.9f\t%ld\n", name, seconds, operations);
    fflush(stdout);
}
static void check(bool good, const char* what) {
    if (good) return;
    realm_error_t e;
    memset(&e, 0, sizeof e);
    F(realm_get_last_error)(&e);
    fprintf(stderr, "%s: %s\n", what, e.message ? e.message : "failed");
    exit(2);
}
static realm_value_t integer(int64_t n) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_INT, v.integer = n;
    return v;
}
static uint64_t state = 88172645463325252u;
static uint64_t random_number(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* Every Realm is used by one thread, and moves only when it is refreshed. */
static void nothing(realm_userdata_t p) { (void)p; }
static void drop(realm_userdata_t p, realm_work_queue_t* work) { (void)p, (void)work; }
static bool yes(realm_userdata_t p) { return (void)p, true; }
static bool is_same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static const char* path;
static realm_t* open_realm(void) {
    realm_property_info_t properties[2];
    memset(properties, 0, sizeof properties);
    for (int i = 0; i < 2; i++) {
        realm_property_info_t* p = &properties[i];
        p->name = i ? "n" : "id", p->public_name = p->link_target = p->link_origin_property_name = "";
        p->type = RLM_PROPERTY_TYPE_INT, p->flags = i ? RLM_PROPERTY_NORMAL : RLM_PROPERTY_PRIMARY_KEY;
    }
    realm_class_info_t class_info = {"Item", "id", 2, 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_NORMAL};
    const realm_property_info_t* all[] = {properties};
    realm_schema_t* schema = F(realm_schema_new)(&class_info, 1, all);
    realm_config_t* c = F(realm_config_new)();
    realm_scheduler_t* s = F(realm_scheduler_new)(NULL, nothing, drop, yes, is_same, yes);
    F(realm_config_set_path)(c, path);
    F(realm_config_set_schema)(c, schema);
    F(realm_config_set_schema_version)(c, 0);
    F(realm_config_set_automatic_change_notifications)(c, false);
    F(realm_config_set_scheduler)(c, s);
    realm_t* r = F(realm_open)(c);
    check(r, "open");
    F(realm_release)(c), F(realm_release)(schema), F(realm_release)(s);
    return r;
}
static realm_class_key_t item;
static realm_property_key_t n_key;
static long count;
static void change(realm_t* r, int objects) {
    check(F(realm_begin_write)(r), "begin");
    for (int i = 0; i < objects; i++) {
        bool found;
        realm_object_t* o = F(realm_object_find_with_primary_key)(r, item, integer((int64_t)(random_number() % (uint64_t)count)), &found);
        check(o && F(realm_set_value)(o, n_key, integer((int64_t)(random_number() % 100)), false), "set");
        F(realm_release)(o);
    }
    check(F(realm_commit)(r), "commit");
}

/* ---- Callbacks ---------------------------------------------------------------------------------------- */

static long calls;
static void on_change(realm_userdata_t p, const realm_collection_changes_t* c) { (void)p, (void)c, calls++; }
/* 20 transactions of 10 changes by another Realm: the time from each commit until the callbacks have run. */
static void watch(realm_t* writer, const char* name, const char* const* queries, int observers) {
    realm_t* r = open_realm();
    realm_results_t* rows[2];
    realm_notification_token_t* tokens[2];
    bool did;
    for (int i = 0; i < observers; i++) {
        realm_query_t* q = F(realm_query_parse)(r, item, queries[i], 0, NULL);
        rows[i] = F(realm_query_find_all)(q);
        tokens[i] = F(realm_results_add_notification_callback)(rows[i], NULL, NULL, NULL, on_change);
        check(tokens[i], "observe");
        F(realm_release)(q);
    }
    F(realm_refresh)(r, &did);
    change(writer, 10);
    F(realm_refresh)(r, &did);
    calls = 0;
    double spent = 0;
    for (int i = 0; i < 20; i++) {
        change(writer, 10);
        double start = now();
        F(realm_refresh)(r, &did);
        spent += now() - start;
    }
    if (calls < 10) fprintf(stderr, "%s: only %ld calls\n", name, calls), exit(2);
    report(name, spent, 20);
    for (int i = 0; i < observers; i++) F(realm_release)(tokens[i]), F(realm_release)(rows[i]);
    F(realm_close)(r), F(realm_release)(r);
}

/* ---- A reader and a writer ---------------------------------------------------------------------------- */

static atomic_bool is_over;
static atomic_long reads, commits;
static void* read_on(void* p) {
    (void)p;
    realm_t* r = open_realm();
    uint64_t at = 1;
    while (!is_over) {
        bool did, found;
        F(realm_refresh)(r, &did);
        for (int i = 0; i < 200; i++) {
            realm_value_t v;
            at = at * 6364136223846793005u + 1442695040888963407u;
            realm_object_t* o = F(realm_object_find_with_primary_key)(r, item, integer((int64_t)((at >> 33) % (uint64_t)count)), &found);
            check(o && F(realm_get_value)(o, n_key, &v), "read");
            F(realm_release)(o);
        }
        reads += 200;
    }
    F(realm_close)(r), F(realm_release)(r);
    return NULL;
}
static void* write_on(void* p) {
    (void)p;
    realm_t* r = open_realm();
    while (!is_over) change(r, 10), commits++;
    F(realm_close)(r), F(realm_release)(r);
    return NULL;
}
/* Objects that a thread reads in a fifth of a second, alone or beside a thread that commits without pause. */
static long read_a_while(bool beside_writer, double* seconds, long* committed) {
    pthread_t reader, writer;
    is_over = false;
    reads = commits = 0;
    pthread_create(&reader, NULL, read_on, NULL);
    if (beside_writer) pthread_create(&writer, NULL, write_on, NULL);
    struct timespec warm = {0, 100000000}, while_ = {0, 200000000};
    nanosleep(&warm, NULL);
    double start = now();
    long before = reads, committed_before = commits;
    nanosleep(&while_, NULL);
    *seconds += now() - start;
    long found = reads - before;
    *committed += commits - committed_before;
    is_over = true;
    pthread_join(reader, NULL);
    if (beside_writer) pthread_join(writer, NULL);
    return found;
}
/* Measures both in turns, so that other load on the machine slows both. */
static void read_in_turns(void) {
    long alone = 0, beside = 0, committed = 0, none = 0;
    double time_alone = 0, time_beside = 0;
    for (int turn = 0; turn < 7; turn++) {
        alone += read_a_while(false, &time_alone, &none);
        beside += read_a_while(true, &time_beside, &committed);
    }
    report("read_alone", time_alone, alone);
    report("read_beside_writer", time_beside, beside);
    report("commits_beside_reader", time_beside, committed);
}

int main(int argc, char** argv) {
    if (argc < 4) return fprintf(stderr, "watch LIB.so WORKDIR N\n"), 1;
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    char text[4096];
    snprintf(text, sizeof text, "%s/watch.realm", argv[2]);
    path = text, count = atol(argv[3]);
    F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
    realm_t* r = open_realm();
    realm_class_info_t c;
    realm_property_info_t n;
    bool found;
    check(F(realm_find_class)(r, "Item", &found, &c) && found, "class");
    item = c.key;
    check(F(realm_find_property)(r, item, "n", &found, &n) && found, "property");
    n_key = n.key;
    check(F(realm_begin_write)(r), "begin");
    for (long i = 0; i < count; i++) {
        realm_object_t* o = F(realm_object_create_with_primary_key)(r, item, integer(i));
        check(o && F(realm_set_value)(o, n_key, integer((int64_t)(random_number() % 100)), false), "create");
        F(realm_release)(o);
    }
    check(F(realm_commit)(r), "commit");

    const char* both[] = {"TRUEPREDICATE", "n > 90"};
    const char* sorted[] = {"n > 90 SORT(n DESC)"};
    watch(r, "callbacks_20x10", both, 2);
    watch(r, "callbacks_sorted_20x10", sorted, 1);
    double spent = 0;
    for (int i = 0; i < 200; i++) {
        if (i % 20 == 0) change(r, 1);
        double start = now();
        realm_t* frozen = F(realm_freeze)(r);
        spent += now() - start;
        check(frozen, "freeze");
        F(realm_close)(frozen), F(realm_release)(frozen);
    }
    report("freeze", spent, 200);
    read_in_turns();
    F(realm_close)(r), F(realm_release)(r);
    return 0;
}
