/*
 * Handles on the wrong thread. Goal: every function of the C API that is confined to a thread refuses to work on another one, with
 * RLM_ERR_WRONG_THREAD, while the right thread works with the same handles; functions that any thread may call work on
 * all threads at the same time; and when another thread closes or releases a realm at any moment, its owner's work ends
 * with an error.
 *
 *     threads_test [FIXTURES [CALLS [ROUNDS]]]
 *
 * CALLS: wrong calls of all threads together (200000). ROUNDS: realms closed by another thread (300).
 */

#include <crealm.h>

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { THREADS = 16 };


/* ---- Data of each thread ------------------------------------------------------------------------ */

struct things {
    realm_t* realm;
    realm_object_t* object;
    realm_list_t *list, *mixed_list;
    realm_set_t* set;
    realm_dictionary_t *map, *mixed_map;
    realm_query_t* query;
    realm_results_t *results, *values;
};
static struct things all[THREADS];
static char folder[] = "/tmp/threads-XXXXXX";
static realm_class_key_t class_key;
static realm_property_key_t number, link_key, mixed_key, list_key, mixed_list_key, set_key, map_key, mixed_map_key, part_key;
static realm_config_t* config;
static realm_schema_t* schema;

static realm_schema_t* make_schema(void) {
    const int one = RLM_COLLECTION_TYPE_NONE, null = RLM_PROPERTY_NULLABLE;
    const realm_property_info_t of_thing[] = {
        property("number", RLM_PROPERTY_TYPE_INT, one, "", 0),
        property("link", RLM_PROPERTY_TYPE_OBJECT, one, "Thing", null),
        property("mixed", RLM_PROPERTY_TYPE_MIXED, one, "", null),
        property("list", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", 0),
        property("mixed_list", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_LIST, "", null),
        property("set", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_SET, "", 0),
        property("map", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_DICTIONARY, "", 0),
        property("mixed_map", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_DICTIONARY, "", null),
        property("part", RLM_PROPERTY_TYPE_OBJECT, one, "Part", null),
    };
    const realm_property_info_t of_part[] = {property("x", RLM_PROPERTY_TYPE_INT, one, "", 0)};
    const realm_property_info_t* properties[] = {of_thing, of_part};
    realm_class_info_t classes[2];
    memset(classes, 0, sizeof classes);
    classes[0].name = "Thing", classes[0].primary_key = "", classes[0].num_properties = sizeof of_thing / sizeof *of_thing;
    classes[1].name = "Part", classes[1].primary_key = "", classes[1].num_properties = 1, classes[1].flags = RLM_CLASS_EMBEDDED;
    return realm_schema_new(classes, 2, properties);
}
static realm_config_t* config_named(const char* name) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    realm_config_set_schema(c, schema);
    realm_config_set_schema_version(c, 1);
    /* In memory: these tests need no disk. */
    realm_config_set_in_memory(c, true);
    return c;
}
static realm_t* open_named(const char* name) {
    realm_config_t* c = config_named(name);
    realm_t* r = realm_open(c);
    realm_release(c);
    return r;
}
static realm_property_key_t key_of(realm_t* r, const char* name) {
    bool found = false;
    realm_property_info_t info;
    return realm_find_property(r, class_key, name, &found, &info) && found ? info.key : RLM_INVALID_PROPERTY_KEY;
}
static void look_up_keys(realm_t* r) {
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(r, "Thing", &found, &info) || !found) give_up();
    class_key = info.key;
    number = key_of(r, "number"), link_key = key_of(r, "link"), mixed_key = key_of(r, "mixed"), list_key = key_of(r, "list");
    mixed_list_key = key_of(r, "mixed_list"), set_key = key_of(r, "set"), map_key = key_of(r, "map");
    mixed_map_key = key_of(r, "mixed_map"), part_key = key_of(r, "part");
}
/* A realm of the calling thread, with an object and handles that come from it. */
static bool make_things(struct things* t, const char* name) {
    memset(t, 0, sizeof *t);
    if (!(t->realm = open_named(name)) || !realm_begin_write(t->realm)) return false;
    t->object = realm_object_create(t->realm, class_key);
    t->list = realm_get_list(t->object, list_key), t->mixed_list = realm_get_list(t->object, mixed_list_key);
    t->set = realm_get_set(t->object, set_key);
    t->map = realm_get_dictionary(t->object, map_key), t->mixed_map = realm_get_dictionary(t->object, mixed_map_key);
    bool good = realm_set_value(t->object, number, integer(7), false) && realm_list_insert(t->list, 0, integer(1)) &&
                realm_list_insert(t->mixed_list, 0, text("one")) && realm_set_insert(t->set, integer(1), NULL, NULL) &&
                realm_dictionary_insert(t->map, text("a"), integer(1), NULL, NULL) && realm_commit(t->realm);
    t->query = realm_query_parse(t->realm, class_key, "number == 7", 0, NULL);
    t->results = realm_object_find_all(t->realm, class_key);
    t->values = realm_list_to_results(t->list);
    return good && t->query && t->results && t->values;
}
static void release_things(struct things* t) {
    void* handles[] = {t->values, t->results, t->query, t->mixed_map, t->map, t->set, t->mixed_list, t->list, t->object, t->realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release(handles[i]);
}

/* ---- Calls on the wrong thread ---------------------------------------------------------------------- */

static void nothing(realm_userdata_t userdata) { (void)userdata; }
static void no_schema(realm_userdata_t userdata, const realm_schema_t* s) { (void)userdata, (void)s; }

static void on_object_change(realm_userdata_t userdata, const realm_object_changes_t* c) { (void)userdata, (void)c; }
static void on_collection_change(realm_userdata_t userdata, const realm_collection_changes_t* c) { (void)userdata, (void)c; }
static void on_dictionary_change(realm_userdata_t userdata, const realm_dictionary_changes_t* c) { (void)userdata, (void)c; }
enum { FIRST = __COUNTER__ };
#define CALL(call) \
    case __COUNTER__ - FIRST - 1: *what = #call; return (call) ? true : false;

/* Makes one of the confined calls; true when it succeeded. */
static bool call_confined(unsigned which, const struct things* t, const char** what) {
    realm_value_t v = integer(1), a = text("a"), out, two[1] = {integer(1)};
    realm_property_info_t info;
    realm_property_key_t keys[1] = {number};
    realm_version_id_t version;
    realm_object_t* o = NULL;
    realm_list_t* l = NULL;
    realm_set_t* s = NULL;
    realm_dictionary_t* d = NULL;
    realm_results_t* r = NULL;
    realm_class_key_t c;
    size_t n = 0;
    uint64_t versions = 0;
    realm_link_t link = {class_key, 0};
    crealm_commit_work_t work;
    bool flag = false;
    char* problem = NULL;
    crealm_query_plan_t plan;
    realm_binary_t no_key = {NULL, 0};
    struct ArrowArrayStream columns;
    struct ArrowArray rows;
    const char* names[1] = {"number"};
    crealm_sync_request_t* request = NULL;
    crealm_broken_rules_t* broken = NULL;
    uint32_t savepoint = 0;
    switch (which) {
        CALL(realm_get_version_id(t->realm, &flag, &version))
        CALL(realm_get_num_versions(t->realm, &versions))
        CALL(realm_compact(t->realm, &flag))
        CALL(realm_convert_with_config(t->realm, config, false))
        CALL(realm_convert_with_path(t->realm, "/tmp/none.realm", no_key, false))
        CALL(realm_begin_read(t->realm))
        CALL(realm_begin_write(t->realm))
        CALL(realm_commit(t->realm))
        CALL(realm_rollback(t->realm))
        CALL(realm_refresh(t->realm, &flag))
        CALL(realm_async_begin_write(t->realm, nothing, NULL, NULL, false, NULL))
        CALL(realm_async_commit(t->realm, NULL, NULL, NULL, false, NULL))
        CALL(realm_async_cancel(t->realm, 0, &flag))
        CALL(realm_freeze(t->realm))
        CALL(realm_create_thread_safe_reference(t->list))
        CALL(realm_object_from_thread_safe_reference(t->realm, NULL))
        CALL(realm_list_from_thread_safe_reference(t->realm, NULL))
        CALL(realm_set_from_thread_safe_reference(t->realm, NULL))
        CALL(realm_dictionary_from_thread_safe_reference(t->realm, NULL))
        CALL(realm_results_from_thread_safe_reference(t->realm, NULL))
        CALL(realm_remove_table(t->realm, "None", &flag))
        CALL(realm_add_realm_changed_callback(t->realm, nothing, NULL, NULL))
        CALL(realm_add_realm_refresh_callback(t->realm, nothing, NULL, NULL))
        CALL(realm_update_schema(t->realm, schema))
        CALL(realm_update_schema_advanced(t->realm, schema, 1, NULL, NULL, NULL, NULL, false))
        CALL(realm_schema_rename_property(t->realm, schema, "Thing", "number", "n"))
        CALL(realm_add_schema_changed_callback(t->realm, no_schema, NULL, NULL))
        CALL(realm_get_value_by_property_index(t->object, 0, &out))
        CALL(realm_get_num_objects(t->realm, class_key, &n))
        CALL(realm_get_object(t->realm, class_key, 0))
        CALL(realm_object_get_parent(t->object, &o, &c))
        CALL(realm_object_find_with_primary_key(t->realm, class_key, v, &flag))
        CALL(realm_object_find_all(t->realm, class_key))
        CALL(realm_object_create(t->realm, class_key))
        CALL(realm_object_create_with_primary_key(t->realm, class_key, v))
        CALL(realm_object_get_or_create_with_primary_key(t->realm, class_key, v, &flag))
        CALL(realm_object_delete(t->object))
        CALL(realm_object_resolve_in(t->object, t->realm, &o))
        CALL(realm_object_add_int(t->object, number, 1))
        CALL(realm_get_value(t->object, number, &out))
        CALL(realm_get_values(t->object, 1, keys, &out))
        CALL(realm_set_value(t->object, number, v, false))
        CALL(realm_set_values(t->object, 1, keys, two, false))
        CALL(realm_set_json(t->object, mixed_key, "[1]"))
        CALL(realm_set_embedded(t->object, part_key))
        CALL(realm_set_list(t->object, mixed_key))
        CALL(realm_set_dictionary(t->object, mixed_key))
        CALL(realm_get_linked_object(t->object, link_key))
        CALL(realm_object_to_string(t->object))
        CALL(realm_get_list(t->object, list_key))
        CALL(realm_get_set(t->object, set_key))
        CALL(realm_get_dictionary(t->object, map_key))
        CALL(realm_list_is_valid(t->list))
        CALL(realm_list_size(t->list, &n))
        CALL(realm_list_get_property(t->list, &info))
        CALL(realm_list_get(t->list, 0, &out))
        CALL(realm_list_find(t->list, &v, &n, &flag))
        CALL(realm_list_get_list(t->mixed_list, 0))
        CALL(realm_list_get_dictionary(t->mixed_list, 0))
        CALL(realm_list_get_linked_object(t->mixed_list, 0))
        CALL(realm_list_set(t->list, 0, v))
        CALL(realm_list_insert(t->list, 0, v))
        CALL(realm_list_insert_list(t->mixed_list, 0))
        CALL(realm_list_insert_dictionary(t->mixed_list, 0))
        CALL(realm_list_set_list(t->mixed_list, 0))
        CALL(realm_list_set_dictionary(t->mixed_list, 0))
        CALL(realm_list_move(t->list, 0, 0))
        CALL(realm_list_insert_embedded(t->list, 0))
        CALL(realm_list_set_embedded(t->list, 0))
        CALL(realm_list_erase(t->list, 0))
        CALL(realm_list_clear(t->list))
        CALL(realm_list_remove_all(t->list))
        CALL(realm_list_resolve_in(t->list, t->realm, &l))
        CALL(realm_list_to_results(t->list))
        CALL(realm_set_is_valid(t->set))
        CALL(realm_set_size(t->set, &n))
        CALL(realm_set_get_property(t->set, &info))
        CALL(realm_set_get(t->set, 0, &out))
        CALL(realm_set_find(t->set, v, &n, &flag))
        CALL(realm_set_insert(t->set, v, &n, &flag))
        CALL(realm_set_erase(t->set, v, &flag))
        CALL(realm_set_clear(t->set))
        CALL(realm_set_remove_all(t->set))
        CALL(realm_set_resolve_in(t->set, t->realm, &s))
        CALL(realm_set_to_results(t->set))
        CALL(realm_dictionary_is_valid(t->map))
        CALL(realm_dictionary_size(t->map, &n))
        CALL(realm_dictionary_get_property(t->map, &info))
        CALL(realm_dictionary_find(t->map, a, &out, &flag))
        CALL(realm_dictionary_get(t->map, 0, &out, &out))
        CALL(realm_dictionary_get_list(t->mixed_map, a))
        CALL(realm_dictionary_get_dictionary(t->mixed_map, a))
        CALL(realm_dictionary_get_linked_object(t->map, a))
        CALL(realm_dictionary_contains_key(t->map, a, &flag))
        CALL(realm_dictionary_contains_value(t->map, v, &n))
        CALL(realm_dictionary_insert(t->map, a, v, &n, &flag))
        CALL(realm_dictionary_insert_embedded(t->map, a))
        CALL(realm_dictionary_insert_list(t->mixed_map, a))
        CALL(realm_dictionary_insert_dictionary(t->mixed_map, a))
        CALL(realm_dictionary_erase(t->map, a, &flag))
        CALL(realm_dictionary_get_keys(t->map, &n, &r))
        CALL(realm_dictionary_clear(t->map))
        CALL(realm_dictionary_resolve_in(t->map, t->realm, &d))
        CALL(realm_dictionary_to_results(t->map))
        CALL(realm_query_parse(t->realm, class_key, "number > 1", 0, NULL))
        CALL(realm_query_append_query(t->query, "number > 1", 0, NULL))
        CALL(realm_query_parse_for_list(t->list, "number > 1", 0, NULL))
        CALL(realm_query_parse_for_set(t->set, "number > 1", 0, NULL))
        CALL(realm_query_parse_for_results(t->results, "number > 1", 0, NULL))
        CALL(realm_query_count(t->query, &n))
        CALL(crealm_query_explain(t->query, &plan))
        CALL(realm_query_find_first(t->query, &out, &flag))
        CALL(realm_query_find_all(t->query))
        CALL(realm_query_delete_all(t->query))
        CALL(realm_query_get_description(t->query))
        CALL(realm_get_backlinks(t->object, class_key, link_key))
        CALL(realm_results_is_valid(t->results, &flag))
        CALL(realm_results_count(t->results, &n))
        CALL(realm_results_filter(t->results, t->query))
        CALL(realm_results_sort(t->results, "number ASC"))
        CALL(realm_results_distinct(t->results, "number"))
        CALL(realm_results_limit(t->results, 1))
        CALL(realm_results_get(t->values, 0, &out))
        CALL(realm_results_get_list(t->values, 0))
        CALL(realm_results_get_dictionary(t->values, 0))
        CALL(realm_results_find(t->values, &v, &n, &flag))
        CALL(realm_results_get_object(t->results, 0))
        CALL(realm_results_get_query(t->results))
        CALL(realm_results_find_object(t->results, t->object, &n, &flag))
        CALL(realm_results_delete_all(t->results))
        CALL(realm_results_snapshot(t->results))
        CALL(realm_create_key_path_array(t->realm, class_key, 0, NULL))
        CALL(realm_object_add_notification_callback(t->object, NULL, NULL, NULL, on_object_change))
        CALL(realm_list_add_notification_callback(t->list, NULL, NULL, NULL, on_collection_change))
        CALL(realm_set_add_notification_callback(t->set, NULL, NULL, NULL, on_collection_change))
        CALL(realm_dictionary_add_notification_callback(t->map, NULL, NULL, NULL, on_dictionary_change))
        CALL(realm_results_add_notification_callback(t->results, NULL, NULL, NULL, on_collection_change))
        CALL(realm_results_resolve_in(t->results, t->realm))
        CALL(realm_results_min(t->results, number, &out, &flag))
        CALL(realm_results_max(t->results, number, &out, &flag))
        CALL(realm_results_sum(t->results, number, &out, &flag))
        CALL(realm_results_average(t->results, number, &out, &flag))
        CALL(crealm_commit_without_notifying(t->realm, NULL, 0))
        CALL(crealm_change_key(t->realm, config))
        CALL(crealm_compact_online(t->realm, NULL, NULL))
        CALL(crealm_backup_since(t->realm, NULL, "/tmp/none.step", NULL))
        CALL(crealm_verify(t->realm, &problem))
        CALL(crealm_set_lock_timeout(t->realm, 1))
        CALL(crealm_value_location(t->object, number, SIZE_MAX, NULL))
        CALL(crealm_get_space(t->realm, NULL, NULL, NULL))
        CALL(crealm_find_faults(t->realm, 10, NULL, NULL, &n))
        CALL(crealm_versions(t->realm, NULL, 0, &n))
        CALL(crealm_class_export_arrow(t->realm, class_key, NULL, 0, 0, &columns) && (columns.release(&columns), true))
        CALL(crealm_results_export_arrow(t->results, NULL, 0, 0, &columns) && (columns.release(&columns), true))
        CALL(crealm_results_aggregate_arrow(t->results, "AGGREGATE count()", 0, NULL, &columns)
             && (columns.release(&columns), true))
        CALL(crealm_query_aggregate_arrow(t->query, "AGGREGATE count()", 0, NULL, &columns)
             && (columns.release(&columns), true))
        CALL(crealm_results_update(t->results, "i = i", 0, NULL, NULL))
        CALL(crealm_get_commit_work(t->realm, &work))
        CALL(crealm_blob_get_size(t->list, NULL))
        CALL(crealm_blob_read(t->list, 0, NULL, 0, NULL))
        CALL(crealm_blob_write(t->list, 0, "x", 1))
        CALL(crealm_blob_resize(t->list, 0))
        CALL(crealm_find(t->realm, class_key, &v, &link, &flag))
        CALL(crealm_create(t->realm, class_key, NULL, CREALM_UPDATE_ERROR, 0, NULL, NULL, &link, &flag))
        CALL(crealm_get_values(t->realm, &link, 1, keys, two))
        CALL(crealm_set_values(t->realm, &link, 1, keys, two))
        CALL(crealm_delete(t->realm, &link))
        CALL(crealm_results_fetch_arrow(t->results, 0, 1, NULL, 0, NULL, &rows) && (rows.release(&rows), true))
        CALL(crealm_results_fetch(t->results, 0, 1, keys, 1, two, NULL, &n))
        CALL(crealm_create_batch(t->realm, 0, NULL, NULL, CREALM_UPDATE_ERROR, NULL, NULL, NULL))
        CALL(crealm_class_set_rules(t->realm, class_key, "{}"))
        CALL(crealm_class_get_rules(t->realm, class_key))
        CALL(crealm_get_broken_rules(t->realm, 10, &broken))
        CALL(crealm_object_find_by_unique(t->realm, class_key, names, &v, 1, &flag))
        CALL(crealm_object_set_if_version(t->object, number, v, 0, &flag))
        CALL(crealm_object_get_computed(t->object, "x", &v))
        CALL(crealm_sync_enable(t->realm, NULL))
        CALL(crealm_sync_disable(t->realm))
        CALL(crealm_sync_set_subset(t->realm, "A", NULL))
        CALL(crealm_sync_status(t->realm))
        CALL(crealm_sync_next_request(t->realm, &request))
        CALL(crealm_sync_apply_reply(t->realm, "{}", 2, NULL))
        CALL(crealm_sync_reset(t->realm))
        CALL(crealm_sync_compare(t->realm))
        CALL(crealm_sync_forget_refused(t->realm))
        CALL(crealm_begin_savepoint(t->realm, &savepoint))
        CALL(crealm_release_savepoint(t->realm, 1))
        CALL(crealm_rollback_savepoint(t->realm, 1))
    }
    return true;
}
enum { CALLS = __COUNTER__ - FIRST - 1 };

/* Calls that return false without an error. */
static bool is_quiet(const char* what) {
    return strstr(what, "list_is_valid") || strstr(what, "set_is_valid") || strstr(what, "dictionary_is_valid");
}

/* Calls that any thread may make with the handles of another one. */
static bool call_anywhere(unsigned which, const struct things* t) {
    static const char* const names[] = {"Thing", "Part"};
    realm_class_info_t class_info;
    realm_property_info_t info;
    realm_class_key_t keys[4];
    bool found = false;
    size_t n = 0;
    void* copy;
    switch (which % 10) {
        case 0: return !realm_is_closed(t->realm) && realm_get_num_classes(t->realm) == 2;
        case 1: {
            const char* name = names[which / 10 % 2];
            return realm_find_class(t->realm, name, &found, &class_info) && found && !strcmp(class_info.name, name);
        }
        case 2: return realm_find_property(t->realm, class_key, "mixed", &found, &info) && found && !strcmp(info.name, "mixed");
        case 3: return realm_get_class_keys(t->realm, keys, 4, &n) && n == 2 && realm_get_schema_version(t->realm) == 1;
        case 4:
            return realm_object_is_valid(t->object) && realm_object_get_table(t->object) == class_key &&
                   realm_object_as_link(t->object).target >= 0;
        case 5: {
            void* const handles[] = {t->realm, t->object, t->list, t->set, t->map, t->results, t->values, t->query};
            void* of = handles[which / 10 % 8];
            copy = realm_clone(of);
            /* Queries and results are equal to themselves only. */
            bool good = copy && realm_equals(copy, of) == (which / 10 % 8 < 5);
            realm_release(copy);
            return good;
        }
        case 6: copy = realm_get_schema(t->realm); found = realm_equals(copy, copy); realm_release(copy); return found;
        case 7: realm_config_set_path(config, names[which / 10 % 2]); return realm_config_get_path(config) != NULL;
        case 8: realm_is_writable(t->realm); return !realm_is_frozen(t->list) && realm_object_get_key(t->object) >= 0;
        default: return realm_get_property(t->realm, class_key, number, &info) && info.key == number;
    }
}

static pthread_barrier_t barrier;
static unsigned calls_each = 200000 / THREADS;
static unsigned rounds = 300;
static unsigned long wrong_calls;

static uint64_t next_random(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}
/* The right thread uses its handles meanwhile. */
static bool works(const struct things* t) {
    realm_value_t v;
    size_t n;
    return realm_get_value(t->object, number, &v) && v.integer == 7 && realm_list_size(t->list, &n) && n == 1 && realm_list_get(t->list, 0, &v) &&
           realm_dictionary_size(t->map, &n) && n == 1 && realm_results_count(t->results, &n) && n == 1 && realm_query_count(t->query, &n) && n == 1;
}
static void* misuser(void* argument) {
    unsigned me = (unsigned)(uintptr_t)argument;
    char name[20];
    snprintf(name, sizeof name, "of-%u", me);
    const char* complaint = NULL;
    if (!make_things(&all[me], name)) complaint = "things cannot be made";
    pthread_barrier_wait(&barrier);
    uint64_t state = me + 1;
    unsigned done = 0;
    for (unsigned i = 0; i < calls_each && !complaint; i++) {
        const struct things* other = &all[(me + 1 + next_random(&state) % (THREADS - 1)) % THREADS];
        const char* what = "";
        realm_clear_last_error();
        bool succeeded = call_confined((unsigned)(next_random(&state) % CALLS), other, &what);
        done++;
        if (succeeded || (last_error() != RLM_ERR_WRONG_THREAD && !is_quiet(what))) complaint = what;
        unsigned which = (unsigned)next_random(&state);
        if (i % 4 == 0 && !call_anywhere(which, other)) {
            static const char* const numbers[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
            complaint = numbers[which % 10];
        }
        if (i % 16 == 0 && !works(&all[me])) complaint = "the owner's own calls";
        realm_t* mine = all[me].realm;
        if (i % 256 == 0 && !(realm_begin_write(mine) && realm_set_value(all[me].object, number, integer(7), false) && realm_commit(mine)))
            complaint = "the owner's own write";
    }
    if (complaint) fprintf(stderr, "thread %u: %s (error %d)\n", me, complaint, last_error());
    __atomic_add_fetch(&wrong_calls, done, __ATOMIC_RELAXED);
    pthread_barrier_wait(&barrier);
    /* The last references are released on another thread than the realm's. */
    release_things(&all[(me + 1) % THREADS]);
    pthread_barrier_wait(&barrier);
    return (void*)complaint;
}

/* ---- Realms that another thread closes ---------------------------------------------------------------- */

static struct { pthread_barrier_t barrier; struct things things; int how; } closing;

static void* closer(void* argument) {
    (void)argument;
    for (unsigned round = 0; round < rounds; round++) {
        pthread_barrier_wait(&closing.barrier);
        for (volatile unsigned wait = round * 97 % 20000; wait > 0; wait--) {}
        if (round % 3 == 2) realm_results_count(closing.things.results, NULL);
        if (!realm_close(closing.things.realm) || !realm_is_closed(closing.things.realm)) return (void*)"close failed";
        realm_close(closing.things.realm);
        pthread_barrier_wait(&closing.barrier);
        pthread_barrier_wait(&closing.barrier);
    }
    return NULL;
}
/* Works until the realm is closed. Returns the error that ended the work. */
static int work_until_closed(const struct things* t, unsigned round) {
    for (unsigned i = 0;; i++) {
        realm_value_t v;
        size_t n;
        realm_clear_last_error();
        bool good = true;
        switch ((i + round) % 6) {
            case 0: good = realm_get_value(t->object, number, &v); break;
            case 1: good = realm_list_get(t->list, 0, &v); break;
            case 2: good = realm_results_count(t->results, &n); break;
            case 3: good = realm_query_count(t->query, &n); break;
            case 4: good = realm_dictionary_find(t->map, text("a"), &v, NULL); break;
            default:
                if (round % 2) break;
                good = realm_begin_write(t->realm);
                if (good) good = realm_list_set(t->list, 0, integer(i));
                if (good) good = realm_commit(t->realm);
        }
        if (!good) return last_error();
    }
}
static void closed_by_others(void) {
    section = "closed by another thread";
    pthread_t thread;
    void* complaint = NULL;
    pthread_barrier_init(&closing.barrier, NULL, 2);
    if (pthread_create(&thread, NULL, closer, NULL)) give_up();
    for (unsigned round = 0; round < rounds; round++) {
        char name[20];
        snprintf(name, sizeof name, "closed-%u", round % 4);
        CHECK(make_things(&closing.things, name));
        pthread_barrier_wait(&closing.barrier);
        int number_of_error = work_until_closed(&closing.things, round);
        CHECK(number_of_error == RLM_ERR_CLOSED_REALM || number_of_error == RLM_ERR_INVALIDATED_OBJECT || number_of_error == RLM_ERR_STALE_ACCESSOR);
        pthread_barrier_wait(&closing.barrier);
        CHECK(realm_is_closed(closing.things.realm) && !realm_object_is_valid(closing.things.object) && !realm_is_writable(closing.things.realm));
        /* No lock remains: another realm can write at once. */
        realm_t* next = open_named(name);
        CHECK(next && realm_begin_write(next) && realm_rollback(next));
        realm_release(next);
        release_things(&closing.things);
        pthread_barrier_wait(&closing.barrier);
    }
    pthread_join(thread, &complaint);
    CHECK(!complaint);
    pthread_barrier_destroy(&closing.barrier);
}

int main(int argc, char** argv) {
    if (argc > 2) calls_each = (unsigned)(strtoul(argv[2], NULL, 10) / THREADS);
    if (argc > 3) rounds = (unsigned)strtoul(argv[3], NULL, 10);
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    schema = make_schema();
    config = realm_config_new();
    realm_t* first = open_named("first");
    if (!CHECK(first)) give_up();
    look_up_keys(first);

    section = "sixteen threads";
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, misuser, (void*)i)) give_up();
    for (int i = 0; i < THREADS; i++) {
        void* complaint = NULL;
        pthread_join(threads[i], &complaint);
        CHECK(!complaint);
    }
    CHECK(wrong_calls == (unsigned long)calls_each * THREADS);
    closed_by_others();

    realm_release(first);
    realm_release(config);
    realm_release(schema);
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    CHECK(system(command) == 0);
    printf("%lu wrong calls of %d kinds; %d passed, %d failed\n", wrong_calls, (int)CALLS, (int)passed, (int)failed);
    return failed ? 1 : 0;
}
