/* Measures what rules and savepoints cost (crealm.h, "Rules"). bench_rules_sqlite.c does the same with SQLite.
 *
 *     bench_rules LIB.so WORKDIR N
 *
 * Prints one line for each workload: name <tab> seconds of processor time, of all threads <tab> operations.
 * Each workload has a new file. The time is that of one write transaction with its commit.
 * Build: cc -O2 -I<dir with crealm.h> bench_rules.c -ldl -o bench_rules
 */
#define _GNU_SOURCE
#include <crealm.h>
#include <dlfcn.h>
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

static void fail(const char* what) {
    realm_error_t e;
    memset(&e, 0, sizeof e);
    F(realm_get_last_error)(&e);
    fprintf(stderr, "%s: %s\n", what, e.message ? e.message : "failed");
    exit(2);
}
static void check(bool good, const char* what) {
    if (!good) fail(what);
}

/* ---- Time --------------------------------------------------------------------------------------------- */

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static double started;
static void start(void) { started = processor_time(); }
static void report(const char* name, long operations) {
    printf("%s\t%.9f\t%ld\n", name, processor_time() - started, operations);
    fflush(stdout);
}

/* ---- Values ------------------------------------------------------------------------------------------- */

static realm_value_t integer(int64_t n) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_INT, v.integer = n;
    return v;
}
static realm_value_t link_to(const realm_object_t* o) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_LINK, v.link = F(realm_object_as_link)(o);
    return v;
}
/* Different for each i below 2^32, in no order. */
static int64_t scattered(long i) { return (int64_t)((uint64_t)i * 2654435761u % 4294967296u); }
static uint64_t state;
static uint64_t random_number(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* ---- Files -------------------------------------------------------------------------------------------- */

static const char* path;
static realm_t* realm;
static void nothing(realm_userdata_t p) { (void)p; }
static void drop(realm_userdata_t p, realm_work_queue_t* work) { (void)p, (void)work; }
static bool yes(realm_userdata_t p) { return (void)p, true; }
static bool is_same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }

static realm_property_info_t property(const char* name, realm_property_type_e type, const char* target, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = p.link_origin_property_name = "", p.link_target = target;
    p.type = type, p.flags = flags, p.key = RLM_INVALID_PROPERTY_KEY;
    return p;
}
static realm_property_info_t integers(const char* name) {
    return property(name, RLM_PROPERTY_TYPE_INT, "", RLM_PROPERTY_NORMAL);
}
static realm_property_info_t key(const char* name) {
    return property(name, RLM_PROPERTY_TYPE_INT, "", RLM_PROPERTY_PRIMARY_KEY);
}
static void open_file(const realm_class_info_t* classes, size_t n, const realm_property_info_t** properties,
                      const char* rules) {
    bool did;
    F(realm_delete_files)(path, &did);
    realm_schema_t* schema = F(realm_schema_new)(classes, n, properties);
    check(schema, "schema");
    realm_config_t* c = F(realm_config_new)();
    realm_scheduler_t* s = F(realm_scheduler_new)(NULL, nothing, drop, yes, is_same, yes);
    F(realm_config_set_path)(c, path);
    F(realm_config_set_schema)(c, schema);
    F(realm_config_set_schema_mode)(c, RLM_SCHEMA_MODE_AUTOMATIC);
    F(realm_config_set_schema_version)(c, 0);
    F(realm_config_set_automatic_change_notifications)(c, false);
    F(realm_config_set_scheduler)(c, s);
    if (rules) check(F(crealm_config_set_rules)(c, rules), "rules");
    realm = F(realm_open)(c);
    check(realm, "open");
    F(realm_release)(c), F(realm_release)(schema), F(realm_release)(s);
}
/* A file with one class, "Item", which has two properties. */
static void open_items(realm_property_info_t first, realm_property_info_t second, const char* rules) {
    const realm_property_info_t properties[] = {first, second}, *all[] = {properties};
    bool has_key = first.flags & RLM_PROPERTY_PRIMARY_KEY;
    realm_class_info_t item = {"Item", has_key ? first.name : "", 2, 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_NORMAL};
    open_file(&item, 1, all, rules);
}
static void close_file(void) {
    bool did;
    F(realm_close)(realm), F(realm_release)(realm);
    F(realm_delete_files)(path, &did);
}
static realm_class_key_t class_key(const char* name) {
    realm_class_info_t c;
    bool found;
    check(F(realm_find_class)(realm, name, &found, &c) && found, name);
    return c.key;
}
static realm_property_key_t property_key(realm_class_key_t in, const char* name) {
    realm_property_info_t p;
    bool found;
    check(F(realm_find_property)(realm, in, name, &found, &p) && found, name);
    return p.key;
}
static void expect(const char* class_name, long count) {
    size_t n;
    check(F(realm_get_num_objects)(realm, class_key(class_name), &n), "count");
    if ((long)n != count) fprintf(stderr, "%ld objects of %s, not %ld\n", (long)n, class_name, count), exit(2);
}
static void begin(void) { check(F(realm_begin_write)(realm), "begin"); }
static void commit(void) { check(F(realm_commit)(realm), "commit"); }

/* ---- Insertions --------------------------------------------------------------------------------------- */

typedef enum { AUTOMATIC, GIVEN, NONE } key_e;
/* Objects of two properties. An object with a given key has the first value as its key. */
static void insert(const char* name, long n, key_e with_key, int64_t (*first)(long), int64_t (*second)(long)) {
    realm_class_key_t item = class_key("Item");
    const char* names[] = {with_key == NONE ? "a" : "id", with_key == NONE ? "b" : "n"};
    realm_property_key_t a = property_key(item, names[0]), b = property_key(item, names[1]);
    __typeof__(&realm_object_create) create = F(realm_object_create);
    __typeof__(&realm_object_create_with_primary_key) create_with_key = F(realm_object_create_with_primary_key);
    __typeof__(&realm_set_value) set = F(realm_set_value);
    __typeof__(&realm_release) release = F(realm_release);
    start();
    begin();
    for (long i = 0; i < n; i++) {
        realm_object_t* o = with_key == GIVEN ? create_with_key(realm, item, integer(first(i))) : create(realm, item);
        if (!o || !set(o, b, integer(second(i)), false)) fail(name);
        if (with_key == NONE && !set(o, a, integer(first(i)), false)) fail(name);
        release(o);
    }
    commit();
    report(name, n);
    expect("Item", n);
}
/* Whether the rules hold: an object with these values must be refused. */
static void expect_refusal(int64_t first, int64_t second) {
    realm_class_key_t item = class_key("Item");
    begin();
    realm_object_t* o = F(realm_object_create)(realm, item);
    check(o && F(realm_set_value)(o, property_key(item, "a"), integer(first), false), "set");
    check(F(realm_set_value)(o, property_key(item, "b"), integer(second), false), "set");
    F(realm_release)(o);
    if (F(realm_commit)(realm)) fprintf(stderr, "an object that breaks a rule was committed\n"), exit(2);
    check(F(realm_rollback)(realm), "roll back");
}
static int64_t ascending(long i) { return i; }
static int64_t high(long i) { return scattered(i) >> 16; }
static int64_t low(long i) { return scattered(i) & 0xffff; }
static int64_t thousands(long i) { return i / 1000; }
static int64_t rest(long i) { return i % 1000; }
static int64_t age(long i) { return i % 100; }

static void insertions(long n) {
    /* The first calls of a process take longer. A line that begins with # is no result. */
    open_items(integers("a"), integers("b"), NULL);
    insert("# warm up", n / 10, NONE, high, low), close_file();

    open_items(key("id"), integers("n"), NULL);
    insert("insert_given_key", n, GIVEN, ascending, age), close_file();
    open_items(key("id"), integers("n"), "{\"Item\": {\"properties\": {\"id\": {\"auto\": true}}}}");
    insert("insert_auto_key", n, AUTOMATIC, NULL, age), close_file();

    const char* unique = "{\"Item\": {\"unique\": [[\"a\", \"b\"]]}}";
    open_items(integers("a"), integers("b"), NULL);
    insert("insert_pair", n, NONE, high, low), close_file();
    open_items(key("id"), integers("n"), NULL);
    insert("insert_scattered_key", n, GIVEN, scattered, low), close_file();
    open_items(integers("a"), integers("b"), unique);
    insert("insert_unique_pair", n, NONE, high, low);
    expect_refusal(high(n / 2), low(n / 2)), close_file();
    open_items(integers("a"), integers("b"), unique);
    insert("insert_unique_ascending", n, NONE, thousands, rest), close_file();

    open_items(integers("a"), integers("b"), NULL);
    insert("insert_unchecked", n, NONE, age, ascending), close_file();
    open_items(integers("a"), integers("b"), "{\"Item\": {\"checks\": [\"a >= 0\"]}}");
    insert("insert_checked", n, NONE, age, ascending);
    expect_refusal(-1, 0), close_file();
}

/* ---- Deletions ---------------------------------------------------------------------------------------- */

/* How children are created: those of one parent after the other, or one of each parent in turn. */
typedef enum { TOGETHER, IN_TURN } order_e;
/* Parents with children. Either each child has a link to its parent, or each parent has a list of its children. */
static void open_family(long parents, long each, order_e order, bool in_list, const char* rules) {
    realm_property_info_t of_parent[2] = {integers("n")}, of_child[2] = {integers("n")};
    of_parent[1] = property("children", RLM_PROPERTY_TYPE_OBJECT, "Child", RLM_PROPERTY_NORMAL);
    of_parent[1].collection_type = RLM_COLLECTION_TYPE_LIST;
    of_child[1] = property("parent", RLM_PROPERTY_TYPE_OBJECT, "Parent", RLM_PROPERTY_NULLABLE);
    realm_class_info_t classes[] = {
        {"Parent", "", in_list ? 2 : 1, 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_NORMAL},
        {"Child", "", in_list ? 1 : 2, 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_NORMAL},
    };
    const realm_property_info_t* all[] = {of_parent, of_child};
    open_file(classes, 2, all, rules);

    realm_class_key_t parent = class_key("Parent"), child = class_key("Child");
    realm_property_key_t n = property_key(child, "n");
    realm_property_key_t place = in_list ? property_key(parent, "children") : property_key(child, "parent");
    realm_object_t** all_parents = malloc((size_t)parents * sizeof *all_parents);
    realm_list_t** lists = malloc((size_t)parents * sizeof *lists);
    begin();
    for (long i = 0; i < parents; i++) {
        all_parents[i] = F(realm_object_create)(realm, parent);
        lists[i] = in_list ? F(realm_get_list)(all_parents[i], place) : NULL;
    }
    for (long i = 0; i < parents * each; i++) {
        long of = order == TOGETHER ? i / each : i % parents, at = order == TOGETHER ? i % each : i / parents;
        realm_object_t* c = F(realm_object_create)(realm, child);
        check(c && F(realm_set_value)(c, n, integer(at), false), "child");
        check(in_list ? F(realm_list_insert)(lists[of], (size_t)at, link_to(c))
                      : F(realm_set_value)(c, place, link_to(all_parents[of]), false), "link");
        F(realm_release)(c);
    }
    for (long i = 0; i < parents; i++) F(realm_release)(lists[i]), F(realm_release)(all_parents[i]);
    free(lists), free(all_parents);
    commit();
    expect("Parent", parents), expect("Child", parents * each);
}
static void delete_all(const char* class_name) {
    realm_query_t* q = F(realm_query_parse)(realm, class_key(class_name), "n >= 0", 0, NULL);
    check(q, "query");
    realm_results_t* found = F(realm_query_find_all)(q);
    check(found && F(realm_results_delete_all)(found), "delete");
    F(realm_release)(found), F(realm_release)(q);
}
/* Deletes all parents; then all children, unless a rule did. (Children first is slower.) */
static void delete_family(const char* name, long n, order_e order, bool in_list, const char* rules) {
    long parents = 1000, each = n / parents;
    open_family(parents, each, order, in_list, rules);
    start();
    begin();
    delete_all("Parent");
    if (!rules) delete_all("Child");
    commit();
    report(name, parents * (each + 1));
    expect("Parent", 0), expect("Child", 0);
    close_file();
}
static void deletions(long n) {
    const char* of_link = "{\"Child\": {\"properties\": {\"parent\": {\"on_target_delete\": \"cascade\"}}}}";
    const char* of_list = "{\"Parent\": {\"properties\": {\"children\": {\"on_delete\": \"cascade\"}}}}";
    delete_family("delete_link", n, TOGETHER, false, NULL);
    delete_family("cascade_link", n, TOGETHER, false, of_link);
    delete_family("delete_list", n, TOGETHER, true, NULL);
    delete_family("cascade_list", n, TOGETHER, true, of_list);
    delete_family("delete_link_in_turn", n, IN_TURN, false, NULL);
    delete_family("cascade_link_in_turn", n, IN_TURN, false, of_link);
    delete_family("delete_list_in_turn", n, IN_TURN, true, NULL);
    delete_family("cascade_list_in_turn", n, IN_TURN, true, of_list);
}

/* ---- Savepoints --------------------------------------------------------------------------------------- */

typedef enum { NO_SAVEPOINT, RELEASE, ROLL_BACK } savepoint_e;
/* Sets an integer of a random object, many times in one transaction, each time in a savepoint of its own. */
static void savepoints(const char* name, long n, long times, savepoint_e end) {
    open_items(integers("a"), integers("b"), NULL);
    realm_class_key_t item = class_key("Item");
    realm_property_key_t a = property_key(item, "a");
    realm_object_key_t* keys = malloc((size_t)n * sizeof *keys);
    begin();
    for (long i = 0; i < n; i++) {
        realm_object_t* o = F(realm_object_create)(realm, item);
        check(o && F(realm_set_value)(o, a, integer(age(i)), false), "create");
        keys[i] = F(realm_object_get_key)(o);
        F(realm_release)(o);
    }
    commit();
    __typeof__(&crealm_begin_savepoint) begin_part = F(crealm_begin_savepoint);
    __typeof__(&crealm_release_savepoint) release_part = F(crealm_release_savepoint);
    __typeof__(&crealm_rollback_savepoint) roll_back = F(crealm_rollback_savepoint);
    __typeof__(&realm_get_object) get = F(realm_get_object);
    __typeof__(&realm_set_value) set = F(realm_set_value);
    __typeof__(&realm_release) release = F(realm_release);
    state = 88172645463325252u;
    start();
    begin();
    for (long i = 0; i < times; i++) {
        uint32_t savepoint = 0;
        if (end != NO_SAVEPOINT && !begin_part(realm, &savepoint)) fail(name);
        realm_object_t* o = get(realm, item, keys[random_number() % (uint64_t)n]);
        if (!o || !set(o, a, integer(-1), false)) fail(name);
        release(o);
        if (end == RELEASE && !release_part(realm, savepoint)) fail(name);
        if (end == ROLL_BACK && !roll_back(realm, savepoint)) fail(name);
    }
    commit();
    report(name, times);
    realm_query_t* q = F(realm_query_parse)(realm, item, "a == -1", 0, NULL);
    size_t changed;
    check(q && F(realm_query_count)(q, &changed), "count");
    bool is_undone = changed == 0;
    if (is_undone != (end == ROLL_BACK)) fprintf(stderr, "%s: %ld changed\n", name, (long)changed), exit(2);
    F(realm_release)(q);
    free(keys);
    close_file();
}

int main(int argc, char** argv) {
    if (argc < 4) return fprintf(stderr, "bench_rules LIB.so WORKDIR N\n"), 1;
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    char text[4096];
    snprintf(text, sizeof text, "%s/rules.realm", argv[2]);
    path = text;
    long n = atol(argv[3]), times = n / 3;
    F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
    insertions(n);
    deletions(n);
    savepoints("savepoint_none", n, times, NO_SAVEPOINT);
    savepoints("savepoint_release", n, times, RELEASE);
    savepoints("savepoint_rollback", n, times, ROLL_BACK);
    return 0;
}
