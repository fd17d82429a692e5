/* Ten hot workloads, each counted by callgrind apart from its preparation. See run.py.   work FOLDER OBJECTS
 * Prints 'name <tab> operations' for each; the instructions are in callgrind's files, whose triggers have the names. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include <realm.h>

static long objects;
static realm_t *realm;
static realm_class_key_t person;
static realm_property_key_t keys[6];
enum { ID, NAME, CITY, AGE, SCORE, NUMBERS };

static void fail(const char *what) {
    realm_error_t error = {0};
    realm_get_last_error(&error);
    fprintf(stderr, "%s: %s\n", what, error.message ? error.message : "failed");
    exit(1);
}

static void must(bool is_fine, const char *what) {
    if (!is_fine) fail(what);
}

static realm_value_t integer(int64_t number) { return (realm_value_t){.type = RLM_TYPE_INT, .integer = number}; }

static realm_value_t number(double value) { return (realm_value_t){.type = RLM_TYPE_DOUBLE, .dnum = value}; }

static realm_value_t text(const char *characters) {
    return (realm_value_t){.type = RLM_TYPE_STRING, .string = {characters, strlen(characters)}};
}

static uint64_t state = 88172645463325252ULL;
static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int64_t id_of(long row) { return (int64_t)((uint64_t)row * 2654435761ULL % 4294967296ULL); }

static void open_realm(const char *path) {
    realm_property_info_t properties[] = {
        {"id", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_PRIMARY_KEY},
        {"name", "", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_NORMAL},
        {"city", "", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_INDEXED},
        {"age", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_NORMAL},
        {"score", "", RLM_PROPERTY_TYPE_DOUBLE, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_NORMAL},
        {"numbers", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", "", 0, RLM_PROPERTY_NORMAL},
    };
    realm_class_info_t info = {"Person", "id", 6, 0, 0, RLM_CLASS_NORMAL};
    const realm_property_info_t *all[] = {properties};
    realm_schema_t *schema = realm_schema_new(&info, 1, all);
    if (!schema) fail("schema");
    realm_config_t *config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm = realm_open(config);
    if (!realm) fail("open");
    realm_release(config);
    realm_release(schema);
    bool found;
    must(realm_find_class(realm, "Person", &found, &info), "class");
    person = info.key;
    const char *names[] = {"id", "name", "city", "age", "score", "numbers"};
    for (int i = 0; i < 6; i++) {
        realm_property_info_t property;
        must(realm_find_property(realm, person, names[i], &found, &property), "property");
        keys[i] = property.key;
    }
}

static long create_objects(void) {
    char buffer[64];
    must(realm_begin_write(realm), "begin");
    for (long i = 0; i < objects; i++) {
        realm_object_t *object = realm_object_create_with_primary_key(realm, person, integer(id_of(i)));
        if (!object) fail("create");
        snprintf(buffer, sizeof buffer, "Person number %ld %lx", i, (unsigned long)(next_random() % 100000));
        must(realm_set_value(object, keys[NAME], text(buffer), false), "set");
        snprintf(buffer, sizeof buffer, "City%03d", (int)(next_random() % 1000));
        must(realm_set_value(object, keys[CITY], text(buffer), false), "set");
        must(realm_set_value(object, keys[AGE], integer((int64_t)(next_random() % 100)), false), "set");
        must(realm_set_value(object, keys[SCORE], number((double)(next_random() % 1000000) / 7), false), "set");
        realm_release(object);
    }
    must(realm_commit(realm), "commit");
    return objects;
}

static long small_commits(void) {
    for (int i = 0; i < 200; i++) {
        bool found;
        must(realm_begin_write(realm), "begin");
        realm_value_t id = integer(id_of((long)(next_random() % (uint64_t)objects)));
        realm_object_t *object = realm_object_find_with_primary_key(realm, person, id, &found);
        must(realm_set_value(object, keys[AGE], integer(i), false), "set");
        realm_release(object);
        must(realm_commit(realm), "commit");
    }
    return 200;
}

static long lookups(void) {
    for (long i = 0; i < objects; i++) {
        bool found;
        realm_value_t id = integer(id_of((long)(next_random() % (uint64_t)objects)));
        realm_object_t *object = realm_object_find_with_primary_key(realm, person, id, &found);
        realm_value_t value;
        must(object && realm_get_value(object, keys[AGE], &value), "lookup");
        realm_release(object);
    }
    return objects;
}

static long reading(void) {
    realm_results_t *all = realm_object_find_all(realm, person);
    size_t count;
    must(realm_results_count(all, &count), "count");
    for (size_t i = 0; i < count; i++) {
        realm_object_t *object = realm_results_get_object(all, i);
        realm_value_t value;
        must(realm_get_value(object, keys[AGE], &value) && realm_get_value(object, keys[NAME], &value), "get");
        realm_release(object);
    }
    realm_release(all);
    return (long)count;
}

static long counted(const char *condition) {
    realm_query_t *query = realm_query_parse(realm, person, condition, 0, NULL);
    size_t count;
    if (!query) fail(condition);
    must(realm_query_count(query, &count), condition);
    realm_release(query);
    return objects;
}

static long count_integers(void) { return counted("age > 50"); }

static long count_texts(void) { return counted("name CONTAINS 'r 77'"); }

static long sorting(void) {
    realm_query_t *query = realm_query_parse(realm, person, "TRUEPREDICATE SORT(score ASC)", 0, NULL);
    realm_results_t *results = realm_query_find_all(query);
    realm_object_t *first = realm_results_get_object(results, 0);
    if (!first) fail("sort");
    realm_release(first);
    realm_release(results);
    realm_release(query);
    return objects;
}

static long summing(void) {
    realm_results_t *all = realm_object_find_all(realm, person);
    realm_value_t value;
    bool found;
    must(realm_results_sum(all, keys[AGE], &value, &found), "sum");
    realm_release(all);
    return objects;
}

static long appending(void) {
    bool found;
    must(realm_begin_write(realm), "begin");
    realm_object_t *object = realm_object_find_with_primary_key(realm, person, integer(id_of(0)), &found);
    realm_list_t *list = realm_get_list(object, keys[NUMBERS]);
    for (long i = 0; i < objects; i++) must(realm_list_insert(list, (size_t)i, integer(i)), "insert");
    must(realm_commit(realm), "commit");
    realm_release(list);
    realm_release(object);
    return objects;
}

static long deleting(void) {
    must(realm_begin_write(realm), "begin");
    realm_query_t *query = realm_query_parse(realm, person, "age > 50", 0, NULL);
    realm_results_t *results = realm_query_find_all(query);
    size_t count;
    must(realm_results_count(results, &count) && realm_results_delete_all(results), "delete");
    must(realm_commit(realm), "commit");
    realm_release(results);
    realm_release(query);
    return (long)count;
}

static const struct {
    const char *name;
    long (*run)(void);
    bool is_prepared; /* run once before, uncounted: caches are filled, pages mapped */
} workloads[] = {
    {"create objects", create_objects, false},
    {"small commits", small_commits, true},
    {"lookups by key", lookups, true},
    {"reading two properties", reading, true},
    {"count integers", count_integers, true},
    {"count texts", count_texts, true},
    {"sort by a double", sorting, true},
    {"sum of integers", summing, true},
    {"append to a list", appending, false},
    {"delete by query", deleting, false},
};

int main(int count, char **arguments) {
    if (count != 3) return 2;
    char path[4096];
    snprintf(path, sizeof path, "%s/work.realm", arguments[1]);
    objects = atol(arguments[2]);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    open_realm(path);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (workloads[i].is_prepared) workloads[i].run();
        CALLGRIND_START_INSTRUMENTATION;
        CALLGRIND_ZERO_STATS;
        long operations = workloads[i].run();
        CALLGRIND_DUMP_STATS_AT(workloads[i].name);
        CALLGRIND_STOP_INSTRUMENTATION;
        printf("%s\t%ld\n", workloads[i].name, operations);
    }
    realm_close(realm);
    realm_release(realm);
    return 0;
}
