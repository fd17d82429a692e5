/*
 * Rules and savepoints. Goal: each rule of docs/rules.md holds for a C program that declares it, and for one that only
 * writes the file; a refused call or commit has changed nothing; a file without rules, and a file that is only read,
 * stay as they are, byte for byte. Method: a small realm for each rule.
 *
 *     rules_test
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "batches.h"
#include "checks.h"
#include "values.h"

enum { INT = RLM_PROPERTY_TYPE_INT, BOOL = RLM_PROPERTY_TYPE_BOOL, STRING = RLM_PROPERTY_TYPE_STRING,
       BINARY = RLM_PROPERTY_TYPE_BINARY, MIXED = RLM_PROPERTY_TYPE_MIXED, DATE = RLM_PROPERTY_TYPE_TIMESTAMP,
       FLOAT = RLM_PROPERTY_TYPE_FLOAT, DOUBLE = RLM_PROPERTY_TYPE_DOUBLE, LINK = RLM_PROPERTY_TYPE_OBJECT,
       OID = RLM_PROPERTY_TYPE_OBJECT_ID, UUID = RLM_PROPERTY_TYPE_UUID };
enum { ONE = RLM_COLLECTION_TYPE_NONE, LIST = RLM_COLLECTION_TYPE_LIST, SET = RLM_COLLECTION_TYPE_SET,
       DICTIONARY = RLM_COLLECTION_TYPE_DICTIONARY };
enum { PLAIN = 0, NULLABLE = RLM_PROPERTY_NULLABLE, PRIMARY = RLM_PROPERTY_PRIMARY_KEY,
       INDEXED = RLM_PROPERTY_INDEXED };
enum { AUTOMATIC = RLM_SCHEMA_MODE_AUTOMATIC, ADDITIVE = RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT,
       IMMUTABLE = RLM_SCHEMA_MODE_IMMUTABLE, READ_ONLY = RLM_SCHEMA_MODE_READ_ONLY };

static char folder[] = "/tmp/rules-XXXXXX";
static char path[100];
static realm_t* db;
static const char* const no_rules = "{\"properties\":{},\"unique\":[],\"checks\":[]}";

/* ---- Schemas and files -------------------------------------------------------------------------- */

/* A schema that is built class by class: add_class(), then add() for each of its properties. */
static struct {
    realm_class_info_t classes[4];
    realm_property_info_t properties[4][24];
    const realm_property_info_t* pointers[4];
    size_t count;
} draft;

static void add_class(const char* name, const char* primary_key, int flags) {
    draft.classes[draft.count] = class_info(name, primary_key, 0, 0, flags);
    draft.pointers[draft.count] = draft.properties[draft.count];
    draft.count++;
}
static void add(const char* name, int type, int collection, const char* target, int flags) {
    realm_class_info_t* c = &draft.classes[draft.count - 1];
    draft.properties[draft.count - 1][c->num_properties++] = property(name, type, collection, target, flags);
}
/* Begins a section with a file of its own, which does not exist yet, and an empty schema. */
static void begin(const char* name) {
    static int files;
    section = name;
    draft.count = 0;
    snprintf(path, sizeof path, "%s/%d.realm", folder, files++);
}
/* rules: those of all classes, or NULL. Without a schema the realm has that of the file. */
static realm_config_t* new_config(const char* rules, int mode, uint64_t version) {
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    if (draft.count) {
        realm_schema_t* schema = realm_schema_new(draft.classes, draft.count, draft.pointers);
        realm_config_set_schema(c, schema);
        realm_config_set_schema_version(c, version);
        realm_release(schema);
    }
    realm_config_set_schema_mode(c, (realm_schema_mode_e)mode);
    realm_config_set_cached(c, false);
    realm_config_set_automatic_change_notifications(c, false);
    CHECK(crealm_config_set_rules(c, rules));
    return c;
}
static realm_t* opened(realm_config_t* c) {
    realm_clear_last_error();
    realm_t* r = realm_open(c);
    int error = last_error();
    realm_release(c);
    if (!r && !error) CHECK(r);
    return r;
}
static void open_mode(const char* rules, int mode) {
    db = opened(new_config(rules, mode, 1));
    if (!CHECK(db)) give_up();
}
static void open_db(const char* rules) { open_mode(rules, AUTOMATIC); }
static void close_db(void) {
    CHECK(crealm_verify(db, NULL));
    realm_close(db);
    realm_release(db);
    db = NULL;
}
/* The bytes of the file. The caller frees them. */
static char* bytes_of_file(size_t* size) {
    FILE* f = fopen(path, "rb");
    if (!CHECK(f)) give_up();
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    char* data = (char*)malloc(*size + 1);
    if (!data || fread(data, 1, *size, f) != *size) give_up();
    fclose(f);
    return data;
}
static char* kept;
static size_t kept_size;
static void keep_bytes(void) { kept = bytes_of_file(&kept_size); }
static bool bytes_are_kept(void) {
    size_t size;
    char* now = bytes_of_file(&size);
    bool same = size == kept_size && !memcmp(now, kept, size);
    free(now), free(kept);
    kept = NULL;
    return same;
}
/* How often a text is in the file; replaces it by another one of the same length, if given. */
static int in_file(const char* what, const char* replacement) {
    size_t size, length = strlen(what);
    char* data = bytes_of_file(&size);
    int found = 0;
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(data + i, what, length)) continue;
        found++;
        if (replacement) memcpy(data + i, replacement, length);
    }
    if (replacement) {
        FILE* f = fopen(path, "r+b");
        if (!f || fwrite(data, 1, size, f) != size || fclose(f)) give_up();
    }
    free(data);
    return found;
}
/* Replaces names of tables, so that the library finds no rules in the file, as a library that does not know rules. */
static void hide_rules(void) { CHECK(in_file("crealm_rules", "hidden_rules") > 0); }
static void show_rules(void) { CHECK(in_file("hidden_rules", "crealm_rules") > 0); }

/* ---- Objects ------------------------------------------------------------------------------------- */

static realm_class_key_t class_key(const char* name) {
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    return realm_find_class(db, name, &found, &info) && found ? info.key : RLM_INVALID_CLASS_KEY;
}
static realm_property_key_t key_of(const realm_object_t* o, const char* name) {
    bool found = false;
    realm_property_info_t info;
    memset(&info, 0, sizeof info);
    return realm_find_property(db, realm_object_get_table(o), name, &found, &info) && found ? info.key
                                                                                           : RLM_INVALID_PROPERTY_KEY;
}
static realm_object_t* create(const char* name) {
    realm_object_t* o = realm_object_create(db, class_key(name));
    if (!CHECK(o)) give_up();
    return o;
}
static bool set(realm_object_t* o, const char* name, realm_value_t v) {
    return realm_set_value(o, key_of(o, name), v, false);
}
static realm_value_t get(const realm_object_t* o, const char* name) {
    realm_value_t v = null_value();
    CHECK(realm_get_value(o, key_of(o, name), &v));
    return v;
}
static int64_t number(const realm_object_t* o, const char* name) {
    realm_value_t v = get(o, name);
    return v.type == RLM_TYPE_INT ? v.integer : INT64_MIN;
}
static bool is_text(const realm_object_t* o, const char* name, const char* wanted) {
    realm_value_t v = get(o, name);
    return v.type == RLM_TYPE_STRING && v.string.size == strlen(wanted) &&
           !memcmp(v.string.data, wanted, v.string.size);
}
/* A new object with the number n. */
static realm_object_t* numbered(const char* name, int64_t n) {
    realm_object_t* o = create(name);
    CHECK(set(o, "n", integer(n)));
    return o;
}
static size_t count(const char* name) {
    size_t n = 0;
    CHECK(realm_get_num_objects(db, class_key(name), &n));
    return n;
}
static void drop(realm_object_t* a, realm_object_t* b) { realm_release(a), realm_release(b); }
static bool delete_all(const char* name) {
    realm_results_t* all = realm_object_find_all(db, class_key(name));
    bool good = all && realm_results_delete_all(all);
    int error = last_error();
    realm_release(all);
    return good || error == 0;
}
static bool write_db(void) { return realm_begin_write(db); }
static bool commit(void) { return realm_commit(db); }
static bool rollback(void) { return realm_rollback(db); }
/* The message of the last call that a rule refused, and how many of these errors had the right category. */
static char message[1000];
static int broken_calls, broken_calls_with_category;
static void keep_message(void) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    realm_get_last_error(&error);
    snprintf(message, sizeof message, "%s", error.message ? error.message : "");
    broken_calls++, broken_calls_with_category += (error.categories & RLM_ERR_CAT_LOGIC) != 0;
}
static bool message_has(const char* what) { return strstr(message, what) != NULL; }
/* Checks that a call fails because it would break a rule. */
#define BREAKS(call) (FAILS(CREALM_ERR_RULE_BROKEN, call), keep_message())
static bool set_rules(const char* name, const char* rules) {
    return crealm_class_set_rules(db, class_key(name), rules);
}
/* Compares the text of the rules of a class. */
static bool rules_are(const char* name, const char* wanted) {
    char* rules = crealm_class_get_rules(db, class_key(name));
    bool same = rules && !strcmp(rules, wanted);
    if (!same) printf("rules of %s: %s\n", name, rules ? rules : "none");
    realm_free(rules);
    return same;
}
static realm_object_t* find_two(const char* name, const char* first, realm_value_t a, const char* second,
                                realm_value_t b) {
    const char* names[] = {first, second};
    realm_value_t values[] = {a, b};
    bool found = false;
    realm_clear_last_error();
    realm_object_t* o = crealm_object_find_by_unique(db, class_key(name), names, values, second ? 2 : 1, &found);
    CHECK(found == (o != NULL));
    return o;
}
static realm_object_t* find(const char* name, const char* property, realm_value_t v) {
    return find_two(name, property, v, NULL, null_value());
}
/* Whether the object with this value is this one; NULL: no object has the value, and there is no error. */
static bool finds(const char* name, const char* property, realm_value_t v, const realm_object_t* wanted) {
    realm_object_t* o = find(name, property, v);
    int error = last_error();
    bool good = wanted ? o && realm_equals(o, wanted) : !o && !error;
    realm_release(o);
    return good;
}

/* ---- Deletion ------------------------------------------------------------------------------------ */

/* The places where a Node has a link. Those from ANY_LIST on are in the property "any". */
static const char* const places[] = {"one", "many", "some", "named", "any", "anys", "any_set", "any_map", "any", "any"};
enum { P_ONE, P_MANY, P_SOME, P_NAMED, P_ANY, P_ANYS, P_ANY_SET, P_ANY_MAP, P_ANY_LIST, P_ANY_DEEP, PLACES };

static void node_schema(void) {
    add_class("Node", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("one", LINK, ONE, "Node", NULLABLE);
    add("many", LINK, LIST, "Node", PLAIN);
    add("some", LINK, SET, "Node", PLAIN);
    add("named", LINK, DICTIONARY, "Node", NULLABLE);
    add("any", MIXED, ONE, "", NULLABLE);
    add("anys", MIXED, LIST, "", NULLABLE);
    add("any_set", MIXED, SET, "", NULLABLE);
    add("any_map", MIXED, DICTIONARY, "", NULLABLE);
    add("free", LINK, ONE, "Node", NULLABLE);
    add_class("Box", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("part", LINK, ONE, "Part", NULLABLE);
    add("parts", LINK, LIST, "Part", PLAIN);
    add_class("Part", "", RLM_CLASS_EMBEDDED);
    add("node", LINK, ONE, "Node", NULLABLE);
}
static bool put_in_list(realm_list_t* l, realm_value_t v) {
    bool good = l && realm_list_insert(l, 0, v);
    realm_release(l);
    return good;
}
/* Puts a link to b into a place of a. */
static bool put(realm_object_t* a, int place, const realm_object_t* b) {
    realm_property_key_t key = key_of(a, places[place]);
    realm_value_t v = link_to(b);
    bool good = false;
    switch (place) {
        case P_ONE: case P_ANY: return realm_set_value(a, key, v, false);
        case P_MANY: case P_ANYS: return put_in_list(realm_get_list(a, key), v);
        case P_SOME: case P_ANY_SET: {
            realm_set_t* s = realm_get_set(a, key);
            good = s && realm_set_insert(s, v, NULL, NULL);
            realm_release(s);
            return good;
        }
        case P_NAMED: case P_ANY_MAP: {
            realm_dictionary_t* d = realm_get_dictionary(a, key);
            good = d && realm_dictionary_insert(d, text("k"), v, NULL, NULL);
            realm_release(d);
            return good;
        }
        case P_ANY_LIST: {
            realm_list_t* l = realm_set_list(a, key);
            return put_in_list(l, v);
        }
        default: {
            realm_dictionary_t* d = realm_set_dictionary(a, key);
            realm_list_t* l = d ? realm_dictionary_insert_list(d, text("k")) : NULL;
            realm_release(d);
            return put_in_list(l, v);
        }
    }
}
/* Whether a place of a has a link; its dictionaries and lists may have a null instead. */
static bool has_link(realm_object_t* a, int place) {
    realm_property_key_t key = key_of(a, places[place]);
    realm_value_t v = null_value(), k;
    size_t n = 0;
    realm_list_t* l = NULL;
    realm_dictionary_t* d = NULL;
    switch (place) {
        case P_ONE: case P_ANY: CHECK(realm_get_value(a, key, &v)); break;
        case P_SOME: case P_ANY_SET: {
            realm_set_t* s = realm_get_set(a, key);
            if (CHECK(realm_set_size(s, &n)) && n) CHECK(realm_set_get(s, 0, &v));
            realm_release(s);
            break;
        }
        case P_NAMED: case P_ANY_MAP:
            d = realm_get_dictionary(a, key);
            if (CHECK(realm_dictionary_size(d, &n)) && n) CHECK(realm_dictionary_get(d, 0, &k, &v));
            break;
        case P_ANY_DEEP:
            d = realm_get_dictionary(a, key);
            l = realm_dictionary_get_list(d, text("k"));
            break;
        default: l = realm_get_list(a, key);
    }
    if (l && realm_list_is_valid(l) && CHECK(realm_list_size(l, &n)) && n) CHECK(realm_list_get(l, 0, &v));
    realm_release(l), realm_release(d);
    return v.type == RLM_TYPE_LINK;
}
/* Gives the class one rule of deletion, and makes a and b, of which a links to b. */
static void link_with_rule(int place, const char* direction, const char* rule, realm_object_t** a, realm_object_t** b) {
    char rules[200];
    snprintf(rules, sizeof rules, "{\"properties\": {\"%s\": {\"%s\": \"%s\"}}}", places[place], direction, rule);
    CHECK(write_db() && set_rules("Node", "{}") && delete_all("Node") && set_rules("Node", rules));
    *a = numbered("Node", 1), *b = numbered("Node", 2);
    CHECK(put(*a, place, *b) && commit() && has_link(*a, place));
}
static bool clear_place(realm_object_t* a, int place) {
    realm_property_key_t key = key_of(a, places[place]);
    realm_list_t* l = place == P_MANY || place == P_ANYS ? realm_get_list(a, key) : NULL;
    realm_set_t* s = place == P_SOME || place == P_ANY_SET ? realm_get_set(a, key) : NULL;
    realm_dictionary_t* d = place == P_NAMED || place == P_ANY_MAP ? realm_get_dictionary(a, key) : NULL;
    bool good = l ? realm_list_clear(l) : s ? realm_set_clear(s) : d ? realm_dictionary_clear(d)
                                                                     : realm_set_value(a, key, null_value(), false);
    realm_release(l), realm_release(s), realm_release(d);
    return good;
}
static void test_each_place(void) {
    begin("deletion in each place");
    node_schema();
    open_db(NULL);
    realm_object_t *a, *b, *c;
    for (int place = 0; place < PLACES; place++) {
        /* on_delete: the object with the link is deleted. */
        link_with_rule(place, "on_delete", "nullify", &a, &b);
        CHECK(write_db() && realm_object_delete(a) && commit() && count("Node") == 1 && realm_object_is_valid(b));
        drop(a, b);
        link_with_rule(place, "on_delete", "cascade", &a, &b);
        CHECK(write_db() && realm_object_delete(b) && rollback());
        CHECK(write_db() && realm_object_delete(a) && commit() && count("Node") == 0 && !realm_object_is_valid(b));
        drop(a, b);
        link_with_rule(place, "on_delete", "cascade_last", &a, &b);
        CHECK(write_db());
        c = numbered("Node", 3);
        CHECK(set(c, "free", link_to(b)) && commit());
        CHECK(write_db() && realm_object_delete(a) && count("Node") == 2 && realm_object_is_valid(b) && rollback());
        CHECK(write_db() && set(c, "free", null_value()) && realm_object_delete(a) && commit());
        CHECK(count("Node") == 1 && !realm_object_is_valid(b) && realm_object_is_valid(c));
        drop(a, b), realm_release(c);
        link_with_rule(place, "on_delete", "deny", &a, &b);
        CHECK(write_db());
        BREAKS(realm_object_delete(a));
        CHECK(message_has("Node") && message_has(places[place]) && count("Node") == 2 && has_link(a, place));
        CHECK(clear_place(a, place) && !has_link(a, place) && realm_object_delete(a) && commit() && count("Node") == 1);
        drop(a, b);

        /* on_target_delete: the target is deleted. */
        link_with_rule(place, "on_target_delete", "nullify", &a, &b);
        CHECK(write_db() && realm_object_delete(b) && commit() && count("Node") == 1 && !has_link(a, place));
        drop(a, b);
        link_with_rule(place, "on_target_delete", "cascade", &a, &b);
        CHECK(write_db() && realm_object_delete(a) && count("Node") == 1 && rollback());
        CHECK(write_db() && realm_object_delete(b) && commit() && count("Node") == 0 && !realm_object_is_valid(a));
        drop(a, b);
        link_with_rule(place, "on_target_delete", "deny", &a, &b);
        CHECK(write_db());
        BREAKS(realm_object_delete(b));
        CHECK(message_has("Node") && message_has(places[place]) && count("Node") == 2 && has_link(a, place));
        CHECK(realm_object_delete(a) && realm_object_delete(b) && commit() && count("Node") == 0);
        drop(a, b);
    }
    close_db();
}
static void test_deleted_together(void) {
    begin("objects that are deleted together");
    node_schema();
    open_db("{\"Node\": {\"properties\": {\"one\": {\"on_target_delete\": \"deny\"},"
            " \"many\": {\"on_delete\": \"deny\"}}}}");
    realm_object_t* made[4];
    CHECK(write_db());
    for (int i = 0; i < 4; i++) made[i] = numbered("Node", i);
    for (int i = 0; i < 4; i++)
        CHECK(put(made[i], P_ONE, made[(i + 1) % 4]) && put(made[i], P_MANY, made[(i + 2) % 4]));
    CHECK(commit());
    /* One object, and three of four, are forbidden; nothing was deleted. */
    CHECK(write_db());
    BREAKS(realm_object_delete(made[2]));
    realm_query_t* three = realm_query_parse(db, class_key("Node"), "n > 0", 0, NULL);
    BREAKS(realm_query_delete_all(three));
    realm_results_t* rows = realm_query_find_all(three);
    BREAKS(realm_results_delete_all(rows));
    CHECK(count("Node") == 4);
    realm_release(rows), realm_release(three);
    /* All four in one call: results, a query, and the objects of a list. */
    uint32_t savepoint;
    CHECK(crealm_begin_savepoint(db, &savepoint) && delete_all("Node") && count("Node") == 0);
    CHECK(crealm_rollback_savepoint(db, savepoint) && count("Node") == 4);
    realm_query_t* all = realm_query_parse(db, class_key("Node"), "TRUEPREDICATE", 0, NULL);
    CHECK(crealm_begin_savepoint(db, &savepoint) && realm_query_delete_all(all) && count("Node") == 0);
    CHECK(crealm_rollback_savepoint(db, savepoint) && count("Node") == 4);
    realm_release(all);
    CHECK(set_rules("Node", "{\"properties\": {\"one\": {\"on_target_delete\": \"deny\"}}}"));
    realm_object_t* owner = numbered("Node", 10);
    realm_list_t* list = realm_get_list(owner, key_of(owner, "many"));
    for (int i = 0; i < 3; i++) CHECK(realm_list_insert(list, 0, link_to(made[i])));
    size_t n = 0;
    BREAKS(realm_list_remove_all(list));
    CHECK(count("Node") == 5 && realm_list_size(list, &n) && n == 3);
    CHECK(realm_list_insert(list, 0, link_to(made[3])) && realm_list_remove_all(list) && count("Node") == 1);
    CHECK(realm_list_size(list, &n) && n == 0);
    CHECK(rollback() && count("Node") == 4);
    realm_release(list), realm_release(owner);
    /* Removing a link deletes no object. */
    CHECK(write_db() && set_rules("Node", "{\"properties\": {\"one\": {\"on_delete\": \"cascade\"}}}"));
    CHECK(set(made[0], "one", null_value()) && set(made[1], "one", link_to(made[3])) && commit() && count("Node") == 4);
    /* Sets and dictionaries. */
    CHECK(write_db() && set_rules("Node", "{\"properties\": {\"free\": {\"on_target_delete\": \"deny\"}}}"));
    CHECK(set(made[0], "free", link_to(made[1])));
    CHECK(put(made[3], P_SOME, made[1]));
    realm_set_t* some = realm_get_set(made[3], key_of(made[3], "some"));
    BREAKS(realm_set_remove_all(some));
    CHECK(realm_set_size(some, &n) && n == 1 && count("Node") == 4);
    CHECK(put(made[3], P_SOME, made[0]) && realm_set_remove_all(some) && count("Node") == 2 && commit());
    realm_release(some);
    for (int i = 0; i < 4; i++) realm_release(made[i]);
    close_db();
}
static void test_cascades(void) {
    begin("cascades, cycles, chains");
    node_schema();
    open_db("{\"Node\": {\"properties\": {\"one\": {\"on_delete\": \"cascade\"},"
            " \"many\": {\"on_delete\": \"cascade_last\"}}}}");
    /* A cycle ends; a long chain needs no stack. */
    CHECK(write_db());
    realm_object_t *a = numbered("Node", 1), *b = numbered("Node", 2), *c;
    CHECK(put(a, P_ONE, b) && put(b, P_ONE, a) && realm_object_delete(a) && count("Node") == 0);
    drop(a, b);
    realm_object_t* last = NULL;
    realm_property_key_t one = RLM_INVALID_PROPERTY_KEY;
    for (int i = 0; i < 20000; i++) {
        realm_object_t* next = realm_object_create(db, class_key("Node"));
        if (!next) break;
        if (!last) one = key_of(next, "one");
        else if (!realm_set_value(next, one, link_to(last), false)) break;
        realm_release(last);
        last = next;
    }
    CHECK(commit() && count("Node") == 20000 && write_db() && realm_object_delete(last) && commit());
    CHECK(count("Node") == 0);
    realm_release(last);
    /* cascade_last: two links of the deleted object, a link of the target to itself, two owners deleted together. */
    CHECK(write_db());
    a = numbered("Node", 1), b = numbered("Node", 2);
    CHECK(put(a, P_MANY, b) && put(a, P_MANY, b) && set(a, "free", link_to(b)) && set(b, "free", link_to(b)));
    CHECK(put(b, P_MANY, b) && realm_object_delete(a) && count("Node") == 0);
    drop(a, b);
    a = numbered("Node", 1), b = numbered("Node", 2), c = numbered("Node", 3);
    CHECK(put(a, P_MANY, c) && put(b, P_MANY, c) && realm_object_delete(a) && count("Node") == 2);
    CHECK(realm_object_delete(b) && count("Node") == 0);
    drop(a, b), realm_release(c);
    a = numbered("Node", 1), b = numbered("Node", 2), c = numbered("Node", 3);
    CHECK(put(a, P_MANY, c) && put(b, P_MANY, c));
    realm_query_t* owners = realm_query_parse(db, class_key("Node"), "n < 3", 0, NULL);
    CHECK(realm_query_delete_all(owners) && count("Node") == 0);
    realm_release(owners);
    drop(a, b), realm_release(c);
    /* Two objects that refer to each other keep each other. */
    a = numbered("Node", 1), b = numbered("Node", 2), c = numbered("Node", 3);
    CHECK(put(b, P_MANY, c) && put(c, P_MANY, b) && put(a, P_MANY, b) && realm_object_delete(a) && count("Node") == 2);
    CHECK(realm_object_delete(b) && count("Node") == 0);
    drop(a, b), realm_release(c);
    /* A cascade that reaches an object whose deletion is forbidden deletes nothing. */
    CHECK(set_rules("Node", "{\"properties\": {\"one\": {\"on_delete\": \"cascade\"}, \"free\":"
                            " {\"on_target_delete\": \"deny\"}}}"));
    a = numbered("Node", 1), b = numbered("Node", 2), c = numbered("Node", 3);
    CHECK(put(a, P_ONE, b) && set(c, "free", link_to(b)));
    BREAKS(realm_object_delete(a));
    CHECK(count("Node") == 3 && number(a, "n") == 1 && put(a, P_ONE, c) && put(c, P_ONE, b));
    CHECK(realm_object_delete(a) && count("Node") == 0 && commit());
    drop(a, b), realm_release(c);
    close_db();
}
static void test_embedded_rules(void) {
    begin("links of embedded objects");
    node_schema();
    open_db("{\"Part\": {\"properties\": {\"node\": {\"on_delete\": \"cascade\", \"on_target_delete\": \"deny\"}}}}");
    CHECK(write_db());
    realm_object_t *box = numbered("Box", 1), *a = numbered("Node", 1), *b = numbered("Node", 2);
    realm_object_t* part = realm_set_embedded(box, key_of(box, "part"));
    realm_list_t* parts = realm_get_list(box, key_of(box, "parts"));
    realm_object_t* element = realm_list_insert_embedded(parts, 0);
    CHECK(part && element && set(part, "node", link_to(a)) && set(element, "node", link_to(b)) && commit());
    CHECK(write_db());
    BREAKS(realm_object_delete(a));
    BREAKS(realm_object_delete(b));
    CHECK(count("Node") == 2 && realm_object_delete(box) && count("Node") == 0 && rollback());
    CHECK(write_db() && set_rules("Part", "{\"properties\": {\"node\": {\"on_target_delete\": \"cascade\"}}}"));
    CHECK(realm_object_delete(a) && count("Part") == 1 && get(box, "part").type == RLM_TYPE_NULL && commit());
    CHECK(realm_object_is_valid(box) && !realm_object_is_valid(part));
    drop(a, b), drop(part, element), realm_release(parts), realm_release(box);
    close_db();
}
static size_t told, told_deletions, told_insertions, told_modifications;
static void on_change(realm_userdata_t userdata, const realm_collection_changes_t* changes) {
    size_t deletions, insertions, modifications;
    (void)userdata;
    realm_collection_changes_get_num_changes(changes, &deletions, &insertions, &modifications, NULL, NULL, NULL);
    told++, told_deletions += deletions, told_insertions += insertions, told_modifications += modifications;
}
/* Watches all objects of a class, and has been called for the first time. */
static realm_notification_token_t* watch(const char* name, realm_results_t** rows) {
    *rows = realm_object_find_all(db, class_key(name));
    realm_notification_token_t* t = realm_results_add_notification_callback(*rows, NULL, NULL, NULL, on_change);
    CHECK(t && realm_refresh(db, NULL));
    told = told_deletions = told_insertions = told_modifications = 0;
    return t;
}
static void test_told_deletions(void) {
    begin("one change for all deletions");
    node_schema();
    open_db("{\"Node\": {\"properties\": {\"one\": {\"on_delete\": \"cascade\"}}}}");
    CHECK(write_db());
    realm_object_t *a = numbered("Node", 1), *b = numbered("Node", 2);
    CHECK(put(a, P_ONE, b) && commit());
    realm_results_t* rows;
    realm_notification_token_t* token = watch("Node", &rows);
    CHECK(write_db() && realm_object_delete(a) && commit() && realm_refresh(db, NULL));
    CHECK(told == 1 && told_deletions == 2 && told_insertions == 0 && told_modifications == 0);
    realm_release(token), realm_release(rows), drop(a, b);
    close_db();
}

/* ---- Automatic values ---------------------------------------------------------------------------- */

static void auto_schema(void) {
    add_class("Auto", "id", 0);
    add("id", INT, ONE, "", PRIMARY);
    add("n", INT, ONE, "", PLAIN);
    add("u", UUID, ONE, "", PLAIN);
    add("o", OID, ONE, "", PLAIN);
    add_class("ByUuid", "id", 0);
    add("id", UUID, ONE, "", PRIMARY);
    add_class("ByOid", "id", 0);
    add("id", OID, ONE, "", PRIMARY);
}
static const char* const auto_rules =
    "{\"Auto\": {\"properties\": {\"id\": {\"auto\": true}, \"n\": {\"auto\": true}, \"u\": {\"auto\": true},"
    " \"o\": {\"auto\": true}}}, \"ByUuid\": {\"properties\": {\"id\": {\"auto\": true}}},"
    " \"ByOid\": {\"properties\": {\"id\": {\"auto\": true}}}}";
/* The id of a new object. */
static int64_t next_id(void) {
    realm_object_t* o = realm_object_create(db, class_key("Auto"));
    int64_t id = o ? number(o, "id") : -1;
    realm_release(o);
    return id;
}
static void test_automatic_values(void) {
    begin("automatic values");
    auto_schema();
    open_db(auto_rules);
    enum { MADE = 300 };
    static realm_uuid_t uuids[MADE];
    static realm_object_id_t oids[MADE];
    CHECK(write_db());
    bool numbers = true, ascending = true, version_7 = true, differ = true;
    for (int i = 0; i < MADE; i++) {
        realm_object_t* o = create("Auto");
        numbers = numbers && number(o, "id") == i + 1 && number(o, "n") == i + 1;
        uuids[i] = get(o, "u").uuid, oids[i] = get(o, "o").object_id;
        ascending = ascending && (i == 0 || memcmp(&uuids[i - 1], &uuids[i], sizeof *uuids) < 0);
        version_7 = version_7 && uuids[i].bytes[6] >> 4 == 7 && uuids[i].bytes[8] >> 6 == 2;
        for (int k = 0; k < i; k++) differ = differ && memcmp(&oids[k], &oids[i], sizeof *oids);
        realm_release(o);
    }
    CHECK(numbers && ascending && version_7 && differ && commit());
    uint64_t milliseconds = 0;
    for (int i = 0; i < 6; i++) milliseconds = milliseconds << 8 | uuids[0].bytes[i];
    long long away = (long long)time(NULL) - (long long)(milliseconds / 1000);
    CHECK(away >= -10 && away <= 100);

    /* A number is not used again after its object was deleted: in the same write, the next, and after opening. */
    CHECK(write_db());
    realm_object_t* newest = create("Auto");
    CHECK(number(newest, "id") == 301 && realm_object_delete(newest) && next_id() == 302 && commit());
    realm_release(newest);
    bool found = false;
    newest = realm_object_find_with_primary_key(db, class_key("Auto"), integer(302), &found);
    CHECK(found && write_db() && realm_object_delete(newest) && commit() && write_db() && next_id() == 303);
    CHECK(commit());
    realm_release(newest);
    newest = realm_object_find_with_primary_key(db, class_key("Auto"), integer(303), &found);
    CHECK(found && write_db() && realm_object_delete(newest) && commit());
    realm_release(newest);
    close_db();
    open_db(auto_rules);
    CHECK(write_db() && next_id() == 304 && commit());
    /* A write that is rolled back: the numbers of objects that exist, or existed, do not come again. */
    CHECK(write_db() && next_id() == 305 && delete_all("Auto") && rollback() && count("Auto") == 301);
    CHECK(write_db());
    int64_t after_rollback = next_id();
    CHECK(after_rollback == 305 || after_rollback == 306);
    CHECK(delete_all("Auto") && commit() && write_db() && next_id() == after_rollback + 1 && commit());
    /* The same for a savepoint. */
    uint32_t savepoint;
    CHECK(write_db());
    int64_t before = next_id();
    CHECK(crealm_begin_savepoint(db, &savepoint) && next_id() == before + 1 && delete_all("Auto"));
    CHECK(crealm_rollback_savepoint(db, savepoint));
    int64_t after = next_id();
    CHECK(after == before + 1 || after == before + 2);
    CHECK(commit() && write_db() && next_id() == after + 1 && commit());

    /* Own values raise the counter: a key, a stored value, an addition. A lower one changes nothing. */
    CHECK(write_db());
    realm_object_t* own = realm_object_create_with_primary_key(db, class_key("Auto"), integer(1000));
    CHECK(own && number(own, "id") == 1000 && next_id() == 1001);
    realm_release(own);
    own = realm_object_get_or_create_with_primary_key(db, class_key("Auto"), integer(2000), &found);
    CHECK(own && next_id() == 2001 && set(own, "n", integer(5000)));
    realm_object_t* next = create("Auto");
    CHECK(number(next, "n") == 5001 && number(next, "id") == 2002);
    CHECK(realm_object_add_int(next, key_of(next, "n"), 1000) && number(next, "n") == 6001);
    realm_release(next);
    next = create("Auto");
    CHECK(number(next, "n") == 6002 && set(next, "n", integer(-7)));
    realm_release(next);
    next = create("Auto");
    CHECK(number(next, "n") == 6003 && set(next, "n", integer(7000)) && commit());
    drop(next, own);
    close_db();
    draft.count = 0; /* A program that knows neither classes nor rules. */
    open_db(NULL);
    CHECK(write_db());
    next = create("Auto");
    CHECK(number(next, "n") == 7001 && number(next, "id") == 2005 && commit());
    realm_release(next);

    /* Keys of other types. */
    CHECK(write_db());
    realm_object_t *a = create("ByUuid"), *b = create("ByUuid");
    realm_uuid_t first = get(a, "id").uuid, second = get(b, "id").uuid;
    CHECK(memcmp(&first, &second, sizeof first) < 0 && first.bytes[6] >> 4 == 7);
    drop(a, b);
    a = create("ByOid"), b = create("ByOid");
    realm_object_id_t one = get(a, "id").object_id, two = get(b, "id").object_id;
    CHECK(memcmp(&one, &two, sizeof one));
    drop(a, b);
    CHECK(commit() && count("ByUuid") == 2 && count("ByOid") == 2);
    close_db();
}
static void test_automatic_limits(void) {
    begin("automatic values of objects that exist, and the greatest one");
    add_class("A", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("m", INT, ONE, "", NULLABLE);
    add("s", STRING, ONE, "", PLAIN);
    open_db(NULL);
    CHECK(write_db());
    realm_object_t *a = numbered("A", -50), *b = numbered("A", 70);
    CHECK(set(a, "m", integer(-3)) && commit());
    drop(a, b);
    CHECK(write_db());
    CHECK(set_rules("A", "{\"properties\": {\"n\": {\"auto\": true}, \"m\": {\"auto\": true}}}"));
    a = create("A");
    CHECK(number(a, "n") == 71 && number(a, "m") == 1 && commit());
    realm_release(a);
    /* A batch without a column for the property, and with one. */
    batch_t batch;
    static const int32_t offsets[] = {0, 1, 2, 3};
    static const int64_t numbers[] = {200, 300, 250};
    realm_object_key_t keys[3];
    CHECK(write_db());
    begin_batch(&batch, 3), add_texts(&batch, "s", offsets, "abc");
    CHECK(crealm_create_batch(db, class_key("A"), &batch.schema, &batch.rows, CREALM_UPDATE_ERROR, keys, NULL, NULL));
    for (int i = 0; i < 3; i++) {
        a = realm_get_object(db, class_key("A"), keys[i]);
        CHECK(a && number(a, "n") == 72 + i && number(a, "m") == 2 + i);
        realm_release(a);
    }
    begin_batch(&batch, 3), add_integers(&batch, "n", numbers);
    CHECK(create_batch(db, class_key("A"), &batch));
    a = create("A");
    CHECK(number(a, "n") > 300 && number(a, "m") == 8 && commit()); /* There may be gaps. */
    realm_release(a);
    /* The greatest integer is the last one. A refused object has changed nothing: the transaction goes on. */
    CHECK(write_db());
    a = create("A");
    CHECK(set(a, "n", integer(INT64_MAX - 1)));
    b = realm_object_create(db, class_key("A"));
    CHECK(b && number(b, "n") == INT64_MAX);
    CHECK(rollback() && write_db());
    drop(a, b);
    a = create("A");
    CHECK(set(a, "n", integer(INT64_MAX)));
    size_t before = count("A");
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_object_create(db, class_key("A")));
    CHECK(count("A") == before && number(a, "n") == INT64_MAX);
    CHECK(set(a, "s", text("x")) && commit());
    realm_release(a);
    if (realm_is_writable(db)) rollback();
    close_db();
}

/* ---- Unique values ------------------------------------------------------------------------------- */

static void unique_schema(void) {
    add_class("U", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("mail", STRING, ONE, "", NULLABLE);
    add("country", STRING, ONE, "", PLAIN);
    add("number", INT, ONE, "", NULLABLE);
    add("word", STRING, ONE, "", NULLABLE);
    add("owner", LINK, ONE, "U", NULLABLE);
}
static realm_object_t* new_user(int64_t n, const char* mail, const char* country, int64_t number_) {
    realm_object_t* o = numbered("U", n);
    CHECK(set(o, "mail", mail ? text(mail) : null_value()) && set(o, "country", text(country)));
    CHECK(set(o, "number", number_ < 0 ? null_value() : integer(number_)));
    return o;
}
static void test_unique(void) {
    begin("unique values");
    unique_schema();
    open_db("{\"U\": {\"properties\": {\"mail\": {\"unique\": true}}, \"unique\": [[\"country\", \"number\"]]}}");
    CHECK(write_db());
    realm_object_t *a = new_user(1, "a", "de", 1), *b = new_user(2, "b", "de", 2), *c = new_user(3, "c", "fr", 1);
    CHECK(finds("U", "mail", text("b"), b) && commit());
    CHECK(finds("U", "mail", text("a"), a) && finds("U", "mail", text("b"), b) && finds("U", "mail", text("x"), NULL));
    realm_object_t* found = find_two("U", "country", text("fr"), "number", integer(1));
    CHECK(found && realm_equals(found, c));
    realm_release(found);
    realm_clear_last_error();
    CHECK(!find_two("U", "country", text("fr"), "number", integer(2)) && last_error() == 0);
    CHECK(!find_two("U", "country", text("fr"), "number", null_value()) && last_error() == 0);

    /* A refused commit has changed nothing; the transaction goes on, is corrected, and committed. */
    realm_version_id_t before, now;
    bool has = false;
    CHECK(realm_get_version_id(db, &has, &before) && has);
    CHECK(write_db());
    realm_object_t* d = new_user(4, "a", "it", 1);
    BREAKS(commit());
    CHECK(message_has("U") && message_has("mail"));
    CHECK(realm_is_writable(db) && count("U") == 4 && number(d, "n") == 4 && is_text(d, "mail", "a"));
    BREAKS(commit());
    CHECK(set(d, "mail", text("d")) && set(d, "country", text("de")));
    BREAKS(commit());
    CHECK(message_has("country"));
    CHECK(set(d, "number", integer(4)) && commit() && !realm_is_writable(db));
    CHECK(realm_get_version_id(db, &has, &now) && now.version == before.version + 1);
    CHECK(count("U") == 4 && finds("U", "mail", text("d"), d) && finds("U", "mail", text("a"), a));
    /* Refused, and rolled back. */
    CHECK(write_db() && set(d, "mail", text("b")));
    BREAKS(commit());
    BREAKS(crealm_commit_without_notifying(db, NULL, 0));
    CHECK(rollback() && is_text(d, "mail", "d") && finds("U", "mail", text("d"), d));

    /* Values are swapped in one transaction, and pass through others. */
    CHECK(write_db() && set(a, "mail", text("b")) && set(b, "mail", text("a")) && commit());
    CHECK(finds("U", "mail", text("a"), b) && finds("U", "mail", text("b"), a));
    CHECK(write_db() && set(a, "mail", text("c")) && set(a, "mail", text("e")) && commit());
    CHECK(finds("U", "mail", text("b"), NULL) && finds("U", "mail", text("e"), a) && finds("U", "mail", text("c"), c));
    /* The value of a deleted object is free at once. */
    CHECK(write_db() && realm_object_delete(c));
    realm_release(c);
    c = new_user(5, "c", "fr", 1);
    CHECK(finds("U", "mail", text("c"), c) && commit() && finds("U", "mail", text("c"), c));

    /* Objects with a null differ from each other. */
    CHECK(write_db());
    realm_object_t *e = new_user(6, NULL, "at", -1), *f = new_user(7, NULL, "at", -1);
    CHECK(commit() && finds("U", "mail", null_value(), NULL));
    drop(e, f), drop(a, b), drop(c, d);
    close_db();

    /* Another program, which declares nothing, keeps the rules. */
    draft.count = 0;
    open_db(NULL);
    CHECK(write_db());
    a = new_user(8, "a", "us", 1);
    BREAKS(commit());
    CHECK(rollback() && count("U") == 6);
    realm_release(a);
    close_db();
}
static void test_unique_options(void) {
    begin("unique values: nulls, case, types, links");
    unique_schema();
    open_db("{\"U\": {\"unique\": [{\"properties\": [\"word\"], \"ignore_case\": true, \"nulls_equal\": true,"
            " \"name\": \"words\"}]}}");
    CHECK(write_db());
    realm_object_t *a = create("U"), *b = create("U");
    CHECK(set(a, "word", text("Stra\xc3\x9f" "e")));
    CHECK(commit() && finds("U", "word", text("STRA\xc3\x9f" "E"), a) && finds("U", "word", null_value(), b));
    CHECK(write_db() && set(b, "word", text("sTRA\xc3\x9f" "e")));
    BREAKS(commit());
    CHECK(message_has("words") && set(b, "word", text("\xd0\x98\xd0\xb2\xd0\xb0\xd0\xbd")) && commit());
    CHECK(finds("U", "word", text("\xd0\xb8\xd0\x92\xd0\x90\xd0\x9d"), b));
    CHECK(write_db());
    realm_object_t *c = create("U"), *d = create("U");
    BREAKS(commit());
    CHECK(realm_object_delete(c) && commit() && finds("U", "word", null_value(), d));
    drop(c, d);
    /* Without the options. */
    CHECK(write_db() && set_rules("U", "{\"unique\": [[\"word\"], [\"owner\", \"n\"]]}"));
    CHECK(set(a, "word", text("x")) && set(b, "word", text("X")) && commit());
    CHECK(finds("U", "word", text("x"), a) && finds("U", "word", text("X"), b));
    /* Links. */
    CHECK(write_db() && set(a, "owner", link_to(a)) && set(b, "owner", link_to(a)));
    BREAKS(commit());
    CHECK(set(b, "n", integer(1)) && commit());
    realm_object_t* found = find_two("U", "owner", link_to(a), "n", integer(1));
    CHECK(found && realm_equals(found, b));
    realm_release(found);
    CHECK(write_db() && set(b, "owner", link_to(b)) && set(b, "n", integer(0)) && commit());
    drop(a, b);
    close_db();

    begin("unique values of each type");
    add_class("T", "", 0);
    add("i", INT, ONE, "", PLAIN), add("b", BOOL, ONE, "", PLAIN), add("s", STRING, ONE, "", PLAIN);
    add("d", BINARY, ONE, "", PLAIN), add("t", DATE, ONE, "", PLAIN), add("f", FLOAT, ONE, "", PLAIN);
    add("g", DOUBLE, ONE, "", PLAIN), add("o", OID, ONE, "", PLAIN), add("u", UUID, ONE, "", PLAIN);
    open_db(NULL);
    static const char* const names[] = {"i", "b", "s", "d", "t", "f", "g", "o", "u"};
    realm_value_t oid = of_type(RLM_TYPE_OBJECT_ID), uuid = of_type(RLM_TYPE_UUID);
    oid.object_id.bytes[3] = 7, uuid.uuid.bytes[3] = 7;
    realm_value_t values[] = {integer(INT64_MIN), boolean(true), text("x"), bytes("\0x", 2), moment(5, 6),
                              single(1.5f), real(-2.5), oid, uuid};
    CHECK(write_db());
    a = create("T"), b = create("T");
    for (int i = 0; i < 9; i++) CHECK(set(a, names[i], values[i]));
    CHECK(commit());
    for (int i = 0; i < 9; i++) {
        char rules[60];
        snprintf(rules, sizeof rules, "{\"unique\": [[\"%s\"]]}", names[i]);
        CHECK(write_db() && set_rules("T", rules) && commit() && finds("T", names[i], values[i], a));
        realm_value_t other = get(b, names[i]);
        CHECK(finds("T", names[i], other, b) && write_db() && set(b, names[i], values[i]));
        BREAKS(commit());
        CHECK(rollback());
    }
    CHECK(write_db() && set_rules("T", "{\"unique\": [[\"g\"]]}") && set(a, "g", real(0.0)) && set(b, "g", real(-0.0)));
    BREAKS(commit());
    CHECK(rollback());
    /* All nine together. */
    static const char* const all_nine =
        "{\"unique\": [[\"i\", \"b\", \"s\", \"d\", \"t\", \"f\", \"g\", \"o\", \"u\"]]}";
    CHECK(write_db() && set_rules("T", all_nine));
    for (int i = 0; i < 9; i++) CHECK(set(b, names[i], values[i]));
    BREAKS(commit());
    CHECK(set(b, "u", of_type(RLM_TYPE_UUID)) && commit());
    values[8] = of_type(RLM_TYPE_UUID);
    bool has = false;
    found = crealm_object_find_by_unique(db, class_key("T"), names, values, 9, &has);
    CHECK(found && has && realm_equals(found, b));
    realm_release(found), drop(a, b);
    close_db();
}
static void test_key_of_several(void) {
    begin("a primary key of several properties");
    unique_schema();
    open_db("{\"U\": {\"unique\": [{\"properties\": [\"country\", \"number\"], \"name\": \"primary key\"}]}}");
    CHECK(rules_are("U", "{\"properties\":{},\"unique\":[{\"name\":\"primary key\","
                         "\"properties\":[\"country\",\"number\"]}],\"checks\":[]}"));
    CHECK(write_db());
    realm_object_t *a = new_user(1, "a", "de", 1), *b = new_user(2, "b", "de", 2), *c = new_user(3, "c", "fr", 1);
    CHECK(commit());
    realm_object_t* found = find_two("U", "country", text("de"), "number", integer(2));
    CHECK(found && realm_equals(found, b));
    realm_release(found);
    CHECK(write_db() && set(c, "country", text("de")));
    BREAKS(commit());
    CHECK(message_has("primary key") && rollback() && is_text(c, "country", "fr"));
    drop(a, b), realm_release(c);
    close_db();
    /* Another program, which declares nothing, finds objects by the key, and keeps it. */
    draft.count = 0;
    open_db(NULL);
    found = find_two("U", "country", text("fr"), "number", integer(1));
    CHECK(found && number(found, "n") == 3 && write_db() && set(found, "country", text("de")));
    BREAKS(commit());
    CHECK(message_has("primary key") && rollback());
    realm_release(found);
    close_db();
}
static void test_each_option_alone(void) {
    begin("unique values: one option without the other");
    unique_schema();
    open_db("{\"U\": {\"unique\": [{\"properties\": [\"mail\"], \"ignore_case\": true},"
            " {\"properties\": [\"word\"], \"nulls_equal\": true}]}}");
    CHECK(write_db());
    realm_object_t *a = create("U"), *b = create("U");
    CHECK(set(a, "word", text("x")) && set(b, "word", text("X")) && commit());
    /* Two nulls in mail, and two cases in word, are allowed. */
    CHECK(write_db() && set(a, "mail", text("x")) && set(b, "mail", text("X")));
    BREAKS(commit());
    CHECK(message_has("mail") && set(b, "mail", null_value()) && set(b, "word", null_value()) && commit());
    CHECK(write_db() && set(a, "word", null_value()));
    BREAKS(commit());
    CHECK(message_has("word") && rollback() && finds("U", "word", null_value(), b) && finds("U", "mail", text("X"), a));
    drop(a, b);
    close_db();
}
static void test_unique_of_many(void) {
    begin("unique values of many objects");
    unique_schema();
    open_db("{\"U\": {\"unique\": [[\"n\"]]}}");
    enum { MANY = 3000 };
    static int64_t numbers[MANY];
    for (int i = 0; i < MANY; i++) numbers[i] = (int64_t)i * 7 % MANY;
    batch_t batch;
    CHECK(write_db());
    begin_batch(&batch, MANY), add_integers(&batch, "n", numbers);
    CHECK(create_batch(db, class_key("U"), &batch) && commit());
    bool good = true;
    for (int64_t i = 0; i < MANY; i++) {
        realm_object_t* o = find("U", "n", integer(i));
        good = good && o && number(o, "n") == i;
        realm_release(o);
    }
    CHECK(good && finds("U", "n", integer(MANY), NULL));
    /* All numbers move by one; one object too many has a number twice. */
    realm_results_t* all = realm_object_find_all(db, class_key("U"));
    CHECK(write_db());
    for (size_t i = 0; i < MANY; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        good = good && set(o, "n", integer((numbers[i] + 1) % MANY));
        realm_release(o);
    }
    CHECK(good && commit() && write_db());
    begin_batch(&batch, MANY), add_integers(&batch, "n", numbers);
    CHECK(create_batch(db, class_key("U"), &batch));
    BREAKS(commit());
    CHECK(rollback() && count("U") == MANY && write_db() && realm_results_delete_all(all));
    CHECK(create_batch(db, class_key("U"), &batch) && commit() && count("U") == MANY);
    realm_release(all);
    close_db();
}

/* ---- Checks -------------------------------------------------------------------------------------- */

static void test_checks(void) {
    begin("checks");
    add_class("C", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("age", INT, ONE, "", NULLABLE);
    add("size", DOUBLE, ONE, "", PLAIN);
    add("name", STRING, ONE, "", PLAIN);
    add("tags", STRING, LIST, "", PLAIN);
    add("marks", INT, SET, "", PLAIN);
    add("owner", LINK, ONE, "C", NULLABLE);
    open_db("{\"C\": {\"checks\": [\"age == NULL OR age >= 0\", {\"name\": \"grown up\", \"condition\":"
            " \"n != 1 OR owner.age >= 18\"}]}}");
    CHECK(write_db());
    realm_object_t *a = create("C"), *b = create("C");
    CHECK(set(a, "age", integer(-1)));
    BREAKS(commit());
    CHECK(message_has("'C'") && message_has("age >= 0"));
    CHECK(set(a, "age", integer(40)) && commit());
    /* Only the end of a write counts. */
    CHECK(write_db() && set(a, "age", integer(-5)) && set(a, "age", integer(50)) && commit() && number(a, "age") == 50);
    /* A condition follows links. It is tested when the object changes, not when only the other one does. */
    CHECK(write_db() && set(b, "n", integer(1)));
    BREAKS(commit());
    CHECK(message_has("grown up") && set(b, "owner", link_to(a)) && commit());
    CHECK(write_db() && set(a, "age", integer(3)) && commit() && number(a, "age") == 3);
    CHECK(write_db() && set(b, "name", text("changed")));
    BREAKS(commit());
    CHECK(set(a, "age", integer(18)) && commit());
    /* A link that becomes null because its target was deleted is a change. */
    CHECK(write_db() && realm_object_delete(a));
    BREAKS(commit());
    CHECK(rollback() && realm_object_is_valid(a));
    CHECK(write_db() && realm_object_delete(a) && realm_object_delete(b) && commit() && count("C") == 0);
    drop(a, b);

    /* Short forms. A null is not between limits. */
    section = "checks in short forms";
    CHECK(write_db());
    CHECK(set_rules("C", "{\"properties\": {\"age\": {\"min\": 0, \"max\": 150},"
                         " \"size\": {\"min\": -0.5, \"max\": 2.25}, \"name\": {\"min_length\": 2, \"max_length\": 4},"
                         " \"tags\": {\"min_count\": 1, \"max_count\": 2}, \"marks\": {\"max_count\": 1},"
                         " \"owner\": {\"required\": true}}}"));
    a = create("C");
    realm_list_t* tags = realm_get_list(a, key_of(a, "tags"));
    realm_set_t* marks = realm_get_set(a, key_of(a, "marks"));
    CHECK(set(a, "age", integer(1)) && set(a, "name", text("name")) && set(a, "owner", link_to(a)));
    CHECK(realm_list_insert(tags, 0, text("tag")) && commit());
    struct { const char* name; realm_value_t bad, good; } limits[] = {
        {"age", integer(-1), integer(0)}, {"age", integer(151), integer(150)}, {"age", null_value(), integer(7)},
        {"size", real(-0.6), real(-0.5)}, {"size", real(2.26), real(2.25)}, {"name", text("x"), text("xx")},
        {"name", text("xxxxx"), text("xxxx")}, {"name", text("\xc3\xa4\xc3\xa4x"), text("\xc3\xa4\xc3\xa4")},
        {"owner", null_value(), link_to(a)}};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        CHECK(write_db() && set(a, limits[i].name, limits[i].bad));
        BREAKS(commit());
        CHECK(message_has(limits[i].name) && set(a, limits[i].name, limits[i].good) && commit());
    }
    CHECK(write_db() && realm_list_clear(tags));
    BREAKS(commit());
    for (int i = 0; i < 3; i++) CHECK(realm_list_insert(tags, 0, text("t")));
    BREAKS(commit());
    CHECK(realm_list_erase(tags, 0) && realm_set_insert(marks, integer(1), NULL, NULL));
    CHECK(commit() && write_db() && realm_set_insert(marks, integer(2), NULL, NULL));
    BREAKS(commit());
    CHECK(rollback());
    /* A new rule is checked against all objects; after the error the write can only be rolled back. */
    CHECK(write_db());
    BREAKS(set_rules("C", "{\"checks\": [\"age > 100\"]}"));
    CHECK(message_has("C") && message_has("age > 100") && rollback());
    CHECK(write_db() && set_rules("C", "{\"checks\": [\"age < 100\"]}") && set(a, "age", integer(101)));
    BREAKS(commit());
    CHECK(set_rules("C", "{}") && commit() && number(a, "age") == 101 && rules_are("C", no_rules));
    realm_release(tags), realm_release(marks), realm_release(a);
    close_db();
}

/* ---- Defaults, times, revisions ------------------------------------------------------------------- */

static void kept_schema(void) {
    add_class("K", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("name", STRING, ONE, "", PLAIN);
    add("size", INT, ONE, "", NULLABLE);
    add("ratio", DOUBLE, ONE, "", PLAIN);
    add("flag", BOOL, ONE, "", PLAIN);
    add("data", BINARY, ONE, "", PLAIN);
    add("token", UUID, ONE, "", PLAIN);
    add("oid", OID, ONE, "", PLAIN);
    add("at", DATE, ONE, "", PLAIN);
    add("born", DATE, ONE, "", PLAIN);
    add("changed", DATE, ONE, "", PLAIN);
    add("version", INT, ONE, "", PLAIN);
    add("list", INT, LIST, "", PLAIN);
    add("next", LINK, ONE, "K", NULLABLE);
}
static long long time_of(const realm_object_t* o, const char* name) {
    realm_value_t v = get(o, name);
    return v.type == RLM_TYPE_TIMESTAMP ? v.timestamp.seconds * 1000000000LL + v.timestamp.nanoseconds : -1;
}
static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (long long)t.tv_sec * 1000000000LL + t.tv_nsec;
}
static void test_defaults(void) {
    begin("defaults");
    kept_schema();
    open_db("{\"K\": {\"properties\": {\"name\": {\"default\": \"nobody\"}, \"size\": {\"default\": 7},"
            " \"ratio\": {\"default\": 0.5}, \"flag\": {\"default\": true},"
            " \"data\": {\"default\": {\"$bytes\": \"AAE=\"}},"
            " \"token\": {\"default\": {\"$new\": \"uuid\"}}, \"oid\": {\"default\": {\"$new\": \"objectid\"}},"
            " \"at\": {\"default\": {\"$now\": true}}}}}");
    close_db();
    draft.count = 0;
    open_db(NULL);
    const long long margin = 1000000000;
    long long start = now() - margin;
    CHECK(write_db());
    realm_object_t *a = create("K"), *b = create("K");
    CHECK(is_text(a, "name", "nobody") && number(a, "size") == 7 && get(a, "ratio").dnum == 0.5 &&
          get(a, "flag").boolean);
    realm_value_t data = get(a, "data");
    CHECK(data.type == RLM_TYPE_BINARY && data.binary.size == 2 && !memcmp(data.binary.data, "\0\1", 2));
    CHECK(time_of(a, "at") >= start && time_of(a, "at") <= now() + margin && number(a, "n") == 0);
    realm_uuid_t one = get(a, "token").uuid, two = get(b, "token").uuid;
    realm_object_id_t first = get(a, "oid").object_id, second = get(b, "oid").object_id;
    CHECK(memcmp(&one, &two, sizeof one) && memcmp(&first, &second, sizeof first));
    CHECK(set(a, "name", text("")) && set(a, "size", null_value()) && commit());
    CHECK(is_text(a, "name", "") && get(a, "size").type == RLM_TYPE_NULL && is_text(b, "name", "nobody"));
    drop(a, b);
    /* A batch: values that are given count. */
    batch_t batch;
    static const int64_t sizes[] = {40, 41};
    realm_object_key_t keys[2];
    CHECK(write_db());
    begin_batch(&batch, 2), add_integers(&batch, "size", sizes);
    CHECK(crealm_create_batch(db, class_key("K"), &batch.schema, &batch.rows, CREALM_UPDATE_ERROR, keys, NULL, NULL));
    a = realm_get_object(db, class_key("K"), keys[1]);
    CHECK(number(a, "size") == 41 && is_text(a, "name", "nobody") && time_of(a, "at") >= start && commit());
    realm_release(a);
    close_db();
}
static void test_times_and_revisions(void) {
    begin("times and revisions");
    kept_schema();
    open_db("{\"K\": {\"properties\": {\"born\": {\"created\": true}, \"changed\": {\"modified\": true},"
            " \"version\": {\"revision\": true}}}}");
    const long long margin = 1000000000;
    long long start = now() - margin;
    bool done = true;
    CHECK(write_db());
    realm_object_t *a = create("K"), *b = create("K");
    CHECK(set(b, "born", moment(1000, 0)) && commit());
    long long born = time_of(a, "born"), changed = time_of(a, "changed");
    CHECK(number(a, "version") == 1 && born >= start && born <= now() + margin && changed >= start);
    CHECK(time_of(b, "born") == 1000 * 1000000000LL && number(b, "version") == 1);
    /* Each commit that changes the object raises the revision once; others do not. */
    usleep(2000);
    CHECK(write_db() && set(a, "name", text("x")) && set(a, "n", integer(1)) && set(a, "n", integer(2)) && commit());
    CHECK(number(a, "version") == 2 && time_of(a, "changed") > changed && time_of(a, "born") == born);
    CHECK(number(b, "version") == 1 && time_of(b, "changed") == changed);
    realm_list_t* list = realm_get_list(a, key_of(a, "list"));
    CHECK(write_db() && realm_list_insert(list, 0, integer(1)) && commit() && number(a, "version") == 3);
    CHECK(write_db() && set(a, "next", link_to(b)) && commit() && number(a, "version") == 4 &&
          number(b, "version") == 1);
    CHECK(write_db() && commit() && number(a, "version") == 4);
    CHECK(write_db() && set(a, "n", integer(9)) && rollback() && number(a, "version") == 4);
    changed = time_of(b, "changed");
    uint32_t savepoint;
    CHECK(write_db() && crealm_begin_savepoint(db, &savepoint) && set(b, "n", integer(9)));
    CHECK(crealm_rollback_savepoint(db, savepoint) && commit() && number(b, "version") == 1);
    CHECK(time_of(b, "changed") == changed);
    /* A change only if nobody else changed the object. */
    realm_property_key_t name = key_of(a, "name");
    CHECK(write_db() && crealm_object_set_if_version(a, name, text("late"), 3, &done) && !done);
    CHECK(is_text(a, "name", "x") && commit() && number(a, "version") == 4);
    CHECK(write_db() && crealm_object_set_if_version(a, name, text("in time"), 4, &done) && done);
    CHECK(is_text(a, "name", "in time") && commit() && number(a, "version") == 5 && is_text(a, "name", "in time"));
    CHECK(write_db() && crealm_object_set_if_version(a, name, text("no"), 4, NULL) && commit() &&
          is_text(a, "name", "in time"));
    /* Two properties, each for the revision that was read. */
    CHECK(write_db() && crealm_object_set_if_version(a, name, text("one"), 5, &done) && done);
    CHECK(crealm_object_set_if_version(a, key_of(a, "n"), integer(77), 5, &done) && done && commit());
    CHECK(number(a, "version") == 6 && number(a, "n") == 77);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_object_set_if_version(a, name, text("x"), 6, &done));
    /* Another realm of the same file is the somebody else. */
    draft.count = 0;
    realm_t* other = opened(new_config(NULL, AUTOMATIC, 0));
    realm_object_t* same = other ? realm_get_object(other, realm_object_get_table(a), realm_object_get_key(a)) : NULL;
    CHECK(same && realm_begin_write(other) && realm_set_value(same, name, text("theirs"), false) &&
          realm_commit(other));
    CHECK(write_db() && crealm_object_set_if_version(a, name, text("mine"), 6, &done) && !done);
    CHECK(crealm_object_set_if_version(a, name, text("mine"), 7, &done) && done && commit() &&
          number(a, "version") == 8);
    realm_release(same), realm_release(other);
    realm_release(list), drop(a, b);
    close_db();
}

/* ---- Rules as part of the schema -------------------------------------------------------------------- */

static void person_schema(void) {
    add_class("Person", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("name", STRING, ONE, "", NULLABLE);
    add("boss", LINK, ONE, "Person", NULLABLE);
    add("at", DATE, ONE, "", PLAIN);
    add("uuid", UUID, ONE, "", PLAIN);
    add_class("Thing", "", 0);
    add("n", INT, ONE, "", PLAIN);
}
/* Opening with these rules fails with this error, and changes no byte. */
static void refused_open(int line, int error, const char* rules, int mode) {
    keep_bytes();
    realm_clear_last_error();
    realm_t* r = opened(new_config(rules, mode, 1));
    result(!r && last_error() == error, line, rules);
    if (error == CREALM_ERR_RULE_BROKEN) keep_message();
    result(bytes_are_kept(), line, "the file is unchanged");
    realm_release(r);
}
#define REFUSED_OPEN(error, rules, mode) refused_open(__LINE__, (int)(error), rules, mode)

static void test_declared_rules(void) {
    begin("declared rules");
    person_schema();
    open_db(NULL);
    CHECK(write_db());
    realm_object_t *a = numbered("Person", 5), *b = numbered("Person", 5);
    CHECK(set(a, "name", text("Ann")) && set(b, "name", text("Bob")) && commit());
    CHECK(rules_are("Person", no_rules) && rules_are("Thing", no_rules));
    drop(a, b);
    close_db();
    /* Rules that objects break, and rules that are not valid. */
    static const int modes[] = {AUTOMATIC, ADDITIVE};
    for (int i = 0; i < 2; i++) {
        REFUSED_OPEN(CREALM_ERR_RULE_BROKEN, "{\"Person\": {\"unique\": [[\"n\"]]}}", modes[i]);
        CHECK(message_has("Person"));
        REFUSED_OPEN(CREALM_ERR_RULE_BROKEN, "{\"Person\": {\"properties\": {\"n\": {\"max\": 4}}}}", modes[i]);
        REFUSED_OPEN(CREALM_ERR_RULE_BROKEN, "{\"Thing\": {\"properties\": {\"n\": {\"auto\": true}}},"
                                             " \"Person\": {\"checks\": [\"boss != NULL\"]}}", modes[i]);
        REFUSED_OPEN(RLM_ERR_NO_SUCH_TABLE, "{\"Nobody\": {\"checks\": [\"n > 1\"]}}", modes[i]);
        REFUSED_OPEN(RLM_ERR_INVALID_PROPERTY, "{\"Person\": {\"unique\": [[\"nothing\"]]}}", modes[i]);
        REFUSED_OPEN(RLM_ERR_INVALID_PROPERTY,
                     "{\"Person\": {\"properties\": {\"nothing\": {\"auto\": true}}}}", modes[i]);
        REFUSED_OPEN(RLM_ERR_INVALID_ARGUMENT,
                     "{\"Person\": {\"properties\": {\"name\": {\"auto\": true}}}}", modes[i]);
        REFUSED_OPEN(RLM_ERR_INVALID_ARGUMENT,
                     "{\"Person\": {\"properties\": {\"n\": {\"on_delete\": \"deny\"}}}}", modes[i]);
        REFUSED_OPEN(RLM_ERR_INVALID_QUERY_STRING, "{\"Person\": {\"checks\": [\"n >\"]}}", modes[i]);
        REFUSED_OPEN(RLM_ERR_INVALID_QUERY, "{\"Person\": {\"checks\": [\"nothing > 1\"]}}", modes[i]);
    }
    CHECK(in_file("crealm_rules", NULL) == 0);
    /* With another class in the same schema, nothing of which is added. */
    add_class("New", "", 0);
    add("n", INT, ONE, "", PLAIN);
    REFUSED_OPEN(CREALM_ERR_RULE_BROKEN,
                 "{\"New\": {\"unique\": [[\"n\"]]}, \"Person\": {\"unique\": [[\"n\"]]}}", ADDITIVE);
    draft.count--;

    /* Rules that objects keep. Opening again with the same ones changes no byte. */
    const char* some = "{\"Person\": {\"unique\": [[\"name\"]], \"checks\": [\"n < 10\"]}}";
    const char* both = "{\"properties\":{},\"unique\":[{\"properties\":[\"name\"]}],"
                       "\"checks\":[{\"condition\":\"n < 10\"}]}";
    open_db(some);
    CHECK(rules_are("Person", both) && rules_are("Thing", no_rules));
    close_db();
    keep_bytes();
    open_db(some);
    close_db();
    CHECK(bytes_are_kept());
    /* No rules declared, and rules of another class: the class keeps its rules. */
    open_db(NULL);
    CHECK(rules_are("Person", both));
    close_db();
    open_db("{\"Thing\": {\"checks\": [\"n >= 0\"]}}");
    CHECK(rules_are("Person", both));
    close_db();
    /* Additive modes only add. */
    open_mode("{\"Person\": {\"checks\": [\"n > 0\"]}}", ADDITIVE);
    CHECK(rules_are("Person", "{\"properties\":{},\"unique\":[{\"properties\":[\"name\"]}],"
                              "\"checks\":[{\"condition\":\"n < 10\"},{\"condition\":\"n > 0\"}]}"));
    close_db();
    open_mode("{\"Person\": {}}", ADDITIVE);
    CHECK(rules_are("Person", "{\"properties\":{},\"unique\":[{\"properties\":[\"name\"]}],"
                              "\"checks\":[{\"condition\":\"n < 10\"},{\"condition\":\"n > 0\"}]}"));
    close_db();
    /* Other modes give the class exactly these. */
    open_db("{\"Person\": {\"checks\": [\"n > 0\"]}}");
    CHECK(rules_are("Person", "{\"properties\":{},\"unique\":[],\"checks\":[{\"condition\":\"n > 0\"}]}"));
    CHECK(write_db());
    a = create("Person");
    BREAKS(commit());
    CHECK(rollback());
    realm_release(a);
    close_db();
    open_db("{\"Person\": {}}");
    CHECK(rules_are("Person", no_rules));
    CHECK(rules_are("Thing", "{\"properties\":{},\"unique\":[],\"checks\":[{\"condition\":\"n >= 0\"}]}"));
    close_db();
}
static bool same_when_read_back(const char* rules, const char* wanted) {
    bool good = write_db() && set_rules("Person", rules) && rules_are("Person", wanted) && commit();
    char* text_of_rules = crealm_class_get_rules(db, class_key("Person"));
    good = good && text_of_rules && write_db() && set_rules("Person", "{}") && rules_are("Person", no_rules) &&
           set_rules("Person", text_of_rules) && rules_are("Person", wanted) && commit();
    realm_free(text_of_rules);
    return good;
}
static void test_read_back(void) {
    begin("rules read back");
    person_schema();
    open_db(NULL);
    /* In the canonical form: the same text. */
    static const char* const canonical[] = {
        "{\"properties\":{\"boss\":{\"on_delete\":\"cascade\"}},\"unique\":[],\"checks\":[]}",
        "{\"properties\":{\"boss\":{\"on_delete\":\"cascade_last\",\"on_target_delete\":\"deny\"}},\"unique\":[],"
        "\"checks\":[]}",
        "{\"properties\":{\"at\":{\"created\":true},\"n\":{\"auto\":true},\"uuid\":{\"auto\":true}},\"unique\":[],"
        "\"checks\":[]}",
        "{\"properties\":{\"at\":{\"modified\":true},\"n\":{\"revision\":true},\"name\":{\"default\":\"x \\\"y\\\"\"},"
        "\"uuid\":{\"default\":{\"$new\":\"uuid\"}}},\"unique\":[],\"checks\":[]}",
        "{\"properties\":{\"at\":{\"default\":{\"$now\":true}},\"n\":{\"default\":-7}},\"unique\":[],\"checks\":[]}",
        "{\"properties\":{},\"unique\":[{\"properties\":[\"name\",\"n\"]},{\"name\":\"second\","
        "\"properties\":[\"boss\"],\"ignore_case\":true,\"nulls_equal\":true}],\"checks\":["
        "{\"condition\":\"n < 10 AND name != \\\"\xc3\xa4\\\"\"},"
        "{\"name\":\"grown up\",\"condition\":\"boss.n >= 18\"}]}"};
    for (size_t i = 0; i < sizeof canonical / sizeof *canonical; i++)
        CHECK(same_when_read_back(canonical[i], canonical[i]));
    /* Other forms become this one: without short forms, nullify, false, and former names. */
    CHECK(same_when_read_back(" { \"unique\" : [ [\"n\"], {\"properties\": [\"name\"], \"ignore_case\": false} ] } ",
                              "{\"properties\":{},\"unique\":[{\"properties\":[\"n\"]},{\"properties\":[\"name\"]}],"
                              "\"checks\":[]}"));
    CHECK(same_when_read_back("{\"properties\": {\"boss\": {\"on_delete\": \"nullify\","
                              " \"on_target_delete\": \"nullify\"},"
                              " \"n\": {\"auto\": false}, \"name\": {}}, \"renamed_from\": \"Man\"}", no_rules));
    CHECK(same_when_read_back("{\"properties\": {\"n\": {\"unique\": true}}}",
                              "{\"properties\":{},\"unique\":[{\"properties\":[\"n\"]}],\"checks\":[]}"));
    CHECK(write_db() && set_rules("Person", "{\"properties\": {\"n\": {\"min\": 0}, \"boss\": {\"required\": true}}}"));
    char* rules = crealm_class_get_rules(db, class_key("Person"));
    CHECK(rules && strstr(rules, "\"properties\":{}") && strstr(rules, "\"condition\":\"n >= 0\"") &&
          strstr(rules, "\"condition\":\"boss != NULL\"") && !strstr(rules, "\"min\":") && commit());
    realm_free(rules);
    /* Rules that are rolled back. */
    rules = crealm_class_get_rules(db, class_key("Person"));
    uint32_t savepoint;
    CHECK(write_db() && set_rules("Person", "{}") && rollback() && rules_are("Person", rules));
    CHECK(write_db() && crealm_begin_savepoint(db, &savepoint) && set_rules("Person", "{}"));
    CHECK(crealm_rollback_savepoint(db, savepoint) && rules_are("Person", rules));
    realm_object_t* o = create("Person");
    BREAKS(commit());
    CHECK(rollback());
    realm_free(rules), realm_release(o);
    close_db();
}

/* ---- Renames ------------------------------------------------------------------------------------- */

static void beast_schema(bool renamed) {
    draft.count = 0;
    add_class(renamed ? "Animal" : "Beast", renamed ? "name" : "title", 0);
    add(renamed ? "name" : "title", STRING, ONE, "", PRIMARY);
    add("kind", STRING, ONE, "", INDEXED);
    add(renamed ? "keeper" : "owner", LINK, ONE, "Owner", NULLABLE);
    add("mother", LINK, ONE, renamed ? "Animal" : "Beast", NULLABLE);
    add_class("Owner", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("favourites", LINK, LIST, renamed ? "Animal" : "Beast", PLAIN);
}
static void test_renames(void) {
    static const int modes[] = {ADDITIVE, AUTOMATIC};
    static const char* const renaming =
        "{\"Animal\": {\"renamed_from\": \"Beast\", \"properties\": {\"name\": {\"renamed_from\": \"title\"},"
        " \"keeper\": {\"renamed_from\": \"owner\", \"on_target_delete\": \"deny\"}}, \"unique\": [[\"kind\"]],"
        " \"checks\": [\"name != '' AND kind != 'title'\"]}}";
    for (int i = 0; i < 2; i++) {
        begin(i ? "renames, automatic mode" : "renames, additive mode");
        beast_schema(false);
        open_db("{\"Beast\": {\"properties\": {\"owner\": {\"on_target_delete\": \"deny\"}}, \"unique\": [[\"kind\"]],"
                " \"checks\": [\"title != '' AND kind != 'title'\"]}}");
        CHECK(write_db());
        realm_object_t* old = realm_object_create_with_primary_key(db, class_key("Beast"), text("Old"));
        realm_object_t* young = realm_object_create_with_primary_key(db, class_key("Beast"), text("Young"));
        realm_object_t* ann = numbered("Owner", 1);
        realm_list_t* list = realm_get_list(ann, key_of(ann, "favourites"));
        CHECK(set(old, "kind", text("cat")) && set(young, "kind", text("dog")) && set(old, "owner", link_to(ann)));
        CHECK(set(young, "mother", link_to(old)) && realm_list_insert(list, 0, link_to(young)) && commit());
        realm_object_key_t key = realm_object_get_key(young);
        realm_class_key_t table = class_key("Beast");
        realm_property_key_t owner = key_of(old, "owner");
        drop(old, young), realm_release(list), realm_release(ann);
        close_db();
        beast_schema(true);
        for (int round = 0; round < 2; round++) { /* The second time there is nothing to rename. */
            if (round) keep_bytes();
            db = opened(new_config(renaming, modes[i], 1));
            if (!CHECK(db)) return;
            if (round) CHECK(bytes_are_kept());
            CHECK(class_key("Animal") == table && class_key("Beast") == RLM_INVALID_CLASS_KEY && count("Animal") == 2);
            CHECK(rules_are("Animal", "{\"properties\":{\"keeper\":{\"on_target_delete\":\"deny\"}},\"unique\":"
                                      "[{\"properties\":[\"kind\"]}],\"checks\":[{\"condition\":\"name != '' AND kind"
                                      " != 'title'\"}]}"));
            bool found = false;
            young = realm_object_find_with_primary_key(db, table, text("Young"), &found);
            if (!CHECK(young && found)) give_up();
            old = realm_get_linked_object(young, key_of(young, "mother"));
            ann = old ? realm_get_linked_object(old, key_of(old, "keeper")) : NULL;
            CHECK(realm_object_get_key(young) == key && old && is_text(old, "name", "Old") &&
                  key_of(old, "keeper") == owner);
            CHECK(ann && number(ann, "n") == 1 && finds("Animal", "kind", text("dog"), young));
            crealm_query_plan_t plan;
            realm_query_t* dogs = realm_query_parse(db, table, "kind == 'dog'", 0, NULL);
            CHECK(crealm_query_explain(dogs, &plan) && plan.access == CREALM_ACCESS_INDEX && plan.found == 1);
            CHECK(write_db());
            BREAKS(realm_object_delete(ann));
            CHECK(set(young, "kind", text("title")));
            BREAKS(commit());
            CHECK(set(young, "kind", text("cat")));
            BREAKS(commit());
            CHECK(rollback());
            realm_release(dogs), drop(old, young), realm_release(ann);
            close_db();
        }
        draft.count = 0;
        db = opened(new_config(NULL, AUTOMATIC, 0));
        CHECK(db && realm_get_num_classes(db) == 2);
        close_db();
    }
}

/* ---- Long names ---------------------------------------------------------------------------------- */

/* The first name of a class or property that begins with a text, as the realm shows it. */
static const char* shown_name(bool of_class, const char* beginning) {
    static char name[300];
    realm_class_key_t classes[8];
    realm_property_key_t properties[8];
    size_t num_classes = 0, n = 0;
    *name = 0;
    CHECK(realm_get_class_keys(db, classes, 8, &num_classes));
    for (size_t i = 0; i < num_classes; i++) {
        realm_class_info_t c;
        realm_property_info_t p;
        CHECK(realm_get_class(db, classes[i], &c) && realm_get_property_keys(db, classes[i], properties, 8, &n));
        if (of_class && !strncmp(c.name, beginning, strlen(beginning))) snprintf(name, sizeof name, "%s", c.name);
        for (size_t k = 0; !of_class && k < n; k++)
            if (CHECK(realm_get_property(db, classes[i], properties[k], &p)) &&
                !strncmp(p.name, beginning, strlen(beginning)))
                snprintf(name, sizeof name, "%s", p.name);
    }
    return name;
}
static bool is_shortened(const char* name, size_t length) {
    const char* mark = strrchr(name, '~');
    return strlen(name) == length && mark && strlen(mark) == 11 && strspn(mark + 1, "0123456789abcdef") == 10;
}
static void test_long_names(void) {
    begin("names of 255 bytes");
    static char kind[256], first[256], second[256], rules[1200], query[400];
    memset(kind, 'K', 255), memset(first, 'p', 255), memset(second, 'p', 255);
    second[254] = 'q'; /* The names differ only in the last byte. */
    add_class(kind, "", 0);
    add(first, INT, ONE, "", PLAIN);
    add(second, STRING, ONE, "", PLAIN);
    add_class("Short", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("to", LINK, ONE, kind, NULLABLE);
    snprintf(rules, sizeof rules, "{\"%s\": {\"unique\": [[\"%s\"]], \"checks\": [\"%s != ''\"]}}", kind, first,
             second);
    open_db(rules);
    CHECK(write_db());
    realm_object_t *a = create(kind), *b = numbered("Short", 7);
    CHECK(set(a, first, integer(5)) && set(a, second, text("x")) && set(b, "to", link_to(a)) && commit());
    drop(a, b);
    close_db();
    /* A program that declares nothing sees the whole names, and keeps the rules. */
    draft.count = 0;
    open_db(NULL);
    CHECK(!strcmp(shown_name(true, "K"), kind) && !strcmp(shown_name(false, "pp"), second));
    snprintf(query, sizeof query, "%s == 5", first);
    realm_query_t* q = realm_query_parse(db, class_key(kind), query, 0, NULL);
    size_t n = 0;
    CHECK(q && realm_query_count(q, &n) && n == 1);
    realm_release(q);
    a = find(kind, first, integer(5));
    CHECK(a && is_text(a, second, "x") && write_db() && set(a, second, text("")));
    BREAKS(commit());
    CHECK(rollback());
    realm_release(a);
    close_db();
    /* A library that does not know rules sees the shortened ones. */
    hide_rules();
    open_db(NULL);
    CHECK(is_shortened(shown_name(true, "K"), 57) && is_shortened(shown_name(false, "pp"), 63));
    close_db();
    show_rules();
    open_db(NULL);
    CHECK(!strcmp(shown_name(true, "K"), kind));
    close_db();

    begin("names of 256 bytes");
    static char too_long[257];
    memset(too_long, 'n', 256);
    add_class("Short", "", 0);
    add(too_long, INT, ONE, "", PLAIN);
    realm_config_t* config = new_config(NULL, AUTOMATIC, 1);
    FAILS(RLM_ERR_INVALID_NAME, realm_open(config));
    realm_release(config);
}

/* ---- Savepoints ---------------------------------------------------------------------------------- */

static void stage_schema(void) {
    add_class("S", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("s", STRING, ONE, "", NULLABLE);
    add("one", LINK, ONE, "S", NULLABLE);
    add("list", INT, LIST, "", PLAIN);
    add("texts", STRING, LIST, "", PLAIN);
    add("links", LINK, LIST, "S", PLAIN);
    add("set", INT, SET, "", PLAIN);
    add("map", STRING, DICTIONARY, "", PLAIN);
    add("any", MIXED, ONE, "", NULLABLE);
    add("part", LINK, ONE, "SPart", NULLABLE);
    add_class("SPart", "", RLM_CLASS_EMBEDDED);
    add("n", INT, ONE, "", PLAIN);
}
static char* shown(realm_object_t* o) { return realm_object_to_string(o); }
static bool is_shown(realm_object_t* o, char* before) {
    char* after = shown(o);
    bool same = before && after && !strcmp(before, after);
    realm_free(after), realm_free(before);
    return same;
}
/* Changes every property of an object. */
static void change_all(realm_object_t* o, const realm_object_t* target, int64_t n) {
    char word[400];
    memset(word, 'a' + (int)(n % 20), sizeof word);
    realm_list_t *list = realm_get_list(o, key_of(o, "list")), *texts = realm_get_list(o, key_of(o, "texts"));
    realm_list_t* links = realm_get_list(o, key_of(o, "links"));
    realm_set_t* numbers = realm_get_set(o, key_of(o, "set"));
    realm_dictionary_t* map = realm_get_dictionary(o, key_of(o, "map"));
    CHECK(set(o, "n", integer(n)) && set(o, "s", text_of(word, (size_t)(20 + n % 300))) &&
          set(o, "one", link_to(target)));
    for (int64_t i = 0; i < 40; i++) CHECK(realm_list_insert(list, 0, integer(n * 1000000 + i)));
    CHECK(realm_list_insert(texts, 0, text_of(word, 300)) && realm_list_insert(links, 0, link_to(target)));
    CHECK(realm_set_insert(numbers, integer(n), NULL, NULL));
    CHECK(realm_dictionary_insert(map, text_of(word, 3), text_of(word, 30), NULL, NULL));
    CHECK(realm_set_json(o, key_of(o, "any"), n % 2 ? "[1, {\"a\": [\"b\"]}]" : "{\"x\": [2]}"));
    realm_object_t* part = realm_set_embedded(o, key_of(o, "part"));
    CHECK(part && set(part, "n", integer(n)));
    realm_release(part), realm_release(map), realm_release(numbers);
    realm_release(links), realm_release(texts), realm_release(list);
}
static void test_savepoints(void) {
    begin("savepoints restore values");
    stage_schema();
    open_db(NULL);
    uint32_t outer = 0, inner = 0, third = 0;
    CHECK(write_db());
    realm_object_t *a = numbered("S", 1), *b = numbered("S", 2);
    change_all(a, b, 3);
    char* at_first = shown(a);
    /* In the transaction that created the object, and in a later one. */
    for (int round = 0; round < 3; round++) {
        size_t n = 0;
        realm_list_t* list = realm_get_list(a, key_of(a, "list"));
        CHECK(crealm_begin_savepoint(db, &outer) && number(a, "n") == 3);
        change_all(a, a, 4 + round);
        CHECK(realm_list_size(list, &n) && n == 80 && realm_list_clear(list));
        CHECK(crealm_rollback_savepoint(db, outer) && is_shown(a, at_first));
        realm_value_t v;
        CHECK(realm_list_is_valid(list) && realm_list_size(list, &n) && n == 40);
        CHECK(realm_list_get(list, 39, &v) && v.integer == 3000000);
        realm_release(list);
        at_first = shown(a);
        /* A deleted object is there again, with the links to it. */
        CHECK(crealm_begin_savepoint(db, &outer) && realm_object_delete(b) && count("S") == 1);
        CHECK(get(a, "one").type == RLM_TYPE_NULL && crealm_rollback_savepoint(db, outer));
        CHECK(count("S") == 2 && realm_object_is_valid(b) && number(b, "n") == 2 && is_shown(a, at_first));
        at_first = shown(a);
        CHECK(commit() && is_shown(a, at_first));
        at_first = shown(a);
        CHECK(crealm_verify(db, NULL) && write_db());
    }
    realm_free(at_first);
    CHECK(rollback());

    section = "nested savepoints";
    /* Each of the two inner ones is released or undone, and then the outer one. */
    for (int how = 0; how < 8; how++) {
        CHECK(write_db() && set(a, "n", integer(10)));
        CHECK(crealm_begin_savepoint(db, &outer) && set(a, "n", integer(20)));
        realm_object_t* first = numbered("S", 100);
        CHECK(crealm_begin_savepoint(db, &inner) && set(a, "n", integer(30)) && set(b, "s", text("inner")));
        realm_object_t* second = numbered("S", 200);
        CHECK(how & 1 ? crealm_release_savepoint(db, inner) : crealm_rollback_savepoint(db, inner));
        bool has_inner = (how & 1) != 0, has_third = (how & 2) != 0, has_outer = (how & 4) != 0;
        CHECK(realm_object_is_valid(second) == has_inner && number(a, "n") == (has_inner ? 30 : 20));
        CHECK(crealm_begin_savepoint(db, &third) && set(b, "n", integer(40 + how)));
        realm_object_t* fourth = numbered("S", 300);
        CHECK(has_third ? crealm_release_savepoint(db, third) : crealm_rollback_savepoint(db, third));
        CHECK(realm_object_is_valid(fourth) == has_third && number(b, "n") == (has_third ? 40 + how : 2));
        CHECK(has_outer ? crealm_release_savepoint(db, outer) : crealm_rollback_savepoint(db, outer));
        has_inner = has_inner && has_outer, has_third = has_third && has_outer;
        for (int committed = 0; committed < 2; committed++) {
            CHECK(realm_object_is_valid(first) == has_outer && realm_object_is_valid(second) == has_inner);
            CHECK(realm_object_is_valid(fourth) == has_third &&
                  number(a, "n") == (has_inner ? 30 : has_outer ? 20 : 10));
            CHECK(number(b, "n") == (has_third ? 40 + how : 2) && (get(b, "s").type == RLM_TYPE_NULL) == !has_inner);
            CHECK(count("S") == (size_t)(2 + has_outer + has_inner + has_third));
            if (!committed) CHECK(commit());
        }
        if (!has_outer) FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(first, key_of(a, "n"), NULL));
        CHECK(crealm_verify(db, NULL) && write_db());
        realm_query_t* made = realm_query_parse(db, class_key("S"), "n >= 100", 0, NULL);
        CHECK(realm_query_delete_all(made) && set(b, "n", integer(2)) && set(b, "s", null_value()) && commit());
        realm_release(made), drop(first, second), realm_release(fourth);
    }

    section = "objects of an undone savepoint";
    CHECK(write_db() && crealm_begin_savepoint(db, &outer));
    realm_object_t* made = numbered("S", 50);
    realm_list_t* list = realm_get_list(made, key_of(made, "list"));
    CHECK(realm_list_insert(list, 0, integer(1)) && set(a, "one", link_to(made)) &&
          crealm_rollback_savepoint(db, outer));
    CHECK(!realm_object_is_valid(made) && !realm_list_is_valid(list) && number(a, "n") == 30);
    /* Also when another object gets the same key afterwards. */
    realm_object_t* next = numbered("S", 51);
    size_t n;
    CHECK(!realm_object_is_valid(made) && realm_object_is_valid(next) && number(next, "n") == 51);
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_value(made, key_of(a, "n"), integer(1), false));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(list, &n));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_delete(made));
    CHECK(commit() && !realm_object_is_valid(made) && number(next, "n") == 51);
    drop(made, next), realm_release(list);

    section = "numbers of savepoints";
    CHECK(write_db() && crealm_begin_savepoint(db, &outer) && crealm_begin_savepoint(db, &inner));
    CHECK(crealm_begin_savepoint(db, &third) && outer != inner && inner != third && outer != third);
    CHECK(set(a, "n", integer(60)) && crealm_release_savepoint(db, inner));
    const uint32_t ended[] = {inner, third};
    for (int i = 0; i < 2; i++) {
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_release_savepoint(db, ended[i]));
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(db, ended[i]));
    }
    CHECK(number(a, "n") == 60 && crealm_rollback_savepoint(db, outer) && number(a, "n") == 30);
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_release_savepoint(db, outer));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(db, outer));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(db, 0));
    /* The end of the transaction ends them. */
    CHECK(crealm_begin_savepoint(db, &outer) && set(a, "n", integer(61)) && commit() && number(a, "n") == 61);
    CHECK(write_db());
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(db, outer));
    CHECK(crealm_begin_savepoint(db, &outer) && set(a, "n", integer(62)) && rollback() && number(a, "n") == 61);
    CHECK(write_db());
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_release_savepoint(db, outer));
    /* A thousand of them, each with a change. */
    static uint32_t many[1000];
    bool good = true;
    for (int i = 0; i < 1000; i++)
        good = good && crealm_begin_savepoint(db, &many[i]) && set(a, "n", integer(1000 + i));
    CHECK(good);
    FAILS(RLM_ERR_LIMIT_EXCEEDED, crealm_begin_savepoint(db, &outer));
    CHECK(number(a, "n") == 1999 && crealm_rollback_savepoint(db, many[900]) && number(a, "n") == 1899);
    CHECK(crealm_release_savepoint(db, many[500]) && number(a, "n") == 1899);
    CHECK(crealm_rollback_savepoint(db, many[499]) && number(a, "n") == 1498);
    CHECK(crealm_release_savepoint(db, many[0]) && commit() && number(a, "n") == 1498 && crealm_verify(db, NULL));

    section = "one notification";
    realm_results_t* rows;
    realm_notification_token_t* token = watch("S", &rows);
    CHECK(write_db() && set(a, "n", integer(70)) && crealm_begin_savepoint(db, &outer) && set(b, "n", integer(71)));
    realm_object_t* undone = numbered("S", 72);
    CHECK(crealm_rollback_savepoint(db, outer) && crealm_begin_savepoint(db, &outer));
    next = numbered("S", 73);
    CHECK(crealm_release_savepoint(db, outer) && commit() && realm_refresh(db, NULL));
    CHECK(told == 1 && told_insertions == 1 && told_modifications == 1 && told_deletions == 0);
    told = 0;
    CHECK(write_db() && crealm_begin_savepoint(db, &outer) && set(b, "n", integer(74)));
    CHECK(crealm_rollback_savepoint(db, outer) && commit() && realm_refresh(db, NULL) && told == 0);
    drop(undone, next), realm_release(token), realm_release(rows);

    section = "savepoints and rules";
    CHECK(write_db() && set_rules("S", "{\"unique\": [[\"n\"]], \"properties\": {\"s\": {\"default\": \"x\"}}}"));
    CHECK(commit() && write_db() && crealm_begin_savepoint(db, &outer));
    undone = numbered("S", 70);
    BREAKS(commit());
    CHECK(crealm_rollback_savepoint(db, outer) && finds("S", "n", integer(70), a) && commit());
    realm_release(undone);
    CHECK(write_db() && crealm_begin_savepoint(db, &outer));
    undone = numbered("S", 90);
    CHECK(is_text(undone, "s", "x") && finds("S", "n", integer(90), undone) && crealm_rollback_savepoint(db, outer));
    CHECK(finds("S", "n", integer(90), NULL));
    next = numbered("S", 90);
    CHECK(commit() && finds("S", "n", integer(90), next));
    drop(undone, next);
    /* Rules that an object breaks: the savepoint is undone, and the transaction goes on. */
    CHECK(write_db() && set(b, "n", integer(91)) && crealm_begin_savepoint(db, &outer));
    BREAKS(set_rules("S", "{\"checks\": [\"n > 1000000\"]}"));
    CHECK(crealm_rollback_savepoint(db, outer) && commit() && number(b, "n") == 91);
    CHECK(rules_are("S", "{\"properties\":{\"s\":{\"default\":\"x\"}},"
                         "\"unique\":[{\"properties\":[\"n\"]}],\"checks\":[]}"));
    drop(a, b);
    close_db();
}

/* ---- Files that libraries without rules write ------------------------------------------------------- */

static int warnings;
static char last_warning[1000];
static void log_line(realm_userdata_t u, const char* category, realm_log_level_e level, const char* message) {
    (void)u, (void)category;
    if (level != RLM_LOG_LEVEL_WARNING) return;
    warnings++;
    snprintf(last_warning, sizeof last_warning, "%s", message);
}
static void test_other_libraries(void) {
    begin("a library without rules writes the file");
    add_class("A", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("id", INT, ONE, "", PLAIN);
    add("age", INT, ONE, "", PLAIN);
    open_db("{\"A\": {\"properties\": {\"id\": {\"auto\": true}, \"age\": {\"min\": 0}}, \"unique\": [[\"n\"]]}}");
    CHECK(write_db());
    realm_object_t *a = numbered("A", 1), *b = numbered("A", 2), *c;
    CHECK(number(b, "id") == 2 && commit());
    crealm_broken_rules_t* broken = NULL;
    CHECK(crealm_get_broken_rules(db, 10, &broken) && broken && broken->count == 0 && !broken->rules);
    realm_free(broken);
    realm_object_key_t first = realm_object_get_key(a), second = realm_object_get_key(b);
    drop(a, b);
    close_db();

    hide_rules();
    draft.count = 0;
    open_db(NULL);
    CHECK(rules_are("A", no_rules) && write_db());
    a = realm_get_object(db, class_key("A"), first), b = realm_get_object(db, class_key("A"), second);
    CHECK(set(a, "age", integer(-1)) && set(b, "n", integer(1)) && set(b, "age", integer(-2)));
    c = numbered("A", 3);
    CHECK(number(c, "id") == 0 && set(c, "id", integer(50)) && commit());
    realm_object_key_t third = realm_object_get_key(c);
    drop(a, b), realm_release(c);
    close_db();
    show_rules();

    /* The objects are listed before the next write, and in it. */
    open_db(NULL);
    CHECK(crealm_get_broken_rules(db, 100, &broken) && broken && broken->count >= 3 && broken->count <= 4);
    size_t ages = 0;
    for (size_t i = 0; i < broken->count; i++) {
        const crealm_broken_rule_t* one = &broken->rules[i];
        CHECK(!strcmp(one->class_name, "A") && (one->object == first || one->object == second));
        CHECK(*one->rule && strstr(one->message, "A"));
        ages += strstr(one->message, "age >= 0") != NULL;
    }
    CHECK(ages == 2);
    realm_free(broken);
    CHECK(crealm_get_broken_rules(db, 1, &broken) && broken->count == 1);
    realm_free(broken);
    CHECK(crealm_get_broken_rules(db, 0, &broken) && broken->count == 0);
    realm_free(broken);
    close_db();

    /* A program that does not want to write such a file. */
    realm_config_t* config = new_config(NULL, AUTOMATIC, 0);
    crealm_config_set_refuse_broken_rules(config, true);
    db = opened(config);
    if (!CHECK(db)) give_up();
    for (int i = 0; i < 2; i++) {
        BREAKS(write_db());
        CHECK(message_has("A") && !realm_is_writable(db));
    }
    close_db();

    /* Without that, the log names them, and the write begins. Counters and indexes are right again. */
    realm_set_log_callback(log_line, NULL, NULL);
    realm_set_log_level(RLM_LOG_LEVEL_WARNING);
    open_db(NULL);
    CHECK(write_db() && warnings > 0 && strstr(last_warning, "age >= 0"));
    a = realm_get_object(db, class_key("A"), first), b = realm_get_object(db, class_key("A"), second);
    c = realm_get_object(db, class_key("A"), third);
    CHECK(number(a, "age") == -1 && number(b, "n") == 1 && finds("A", "n", integer(3), c));
    CHECK(finds("A", "n", integer(2), NULL));
    realm_object_t* next = numbered("A", 4);
    CHECK(number(next, "id") == 51 && commit());
    /* Once. */
    warnings = 0;
    CHECK(write_db() && warnings == 0 && set(next, "n", integer(5)) && commit());
    /* An object that breaks a rule is tested again when a program changes it. */
    CHECK(write_db() && set(a, "id", integer(7)));
    BREAKS(commit());
    CHECK(set(a, "age", integer(1)) && set(b, "id", integer(8)));
    BREAKS(commit());
    CHECK(set(b, "age", integer(0)));
    BREAKS(commit());
    CHECK(set(b, "n", integer(2)) && commit());
    CHECK(crealm_get_broken_rules(db, 10, &broken) && broken->count == 0);
    realm_free(broken);
    realm_set_log_callback(NULL, NULL, NULL);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    drop(a, b), drop(c, next);
    close_db();
    config = new_config(NULL, AUTOMATIC, 0);
    crealm_config_set_refuse_broken_rules(config, true);
    db = opened(config);
    CHECK(db && write_db() && rollback());
    close_db();
}

/* ---- Files that stay as they are -------------------------------------------------------------------- */

static void test_unchanged_files(void) {
    begin("a file that is only read");
    person_schema();
    open_db("{\"Person\": {\"unique\": [[\"n\"]], \"properties\": {\"boss\": {\"on_delete\": \"deny\"},"
            " \"uuid\": {\"auto\": true}}}}");
    CHECK(write_db());
    realm_object_t* a = numbered("Person", 5);
    CHECK(commit());
    realm_release(a);
    close_db();
    /* Also with rules that would be new, broken, or not valid. */
    static const char* const declared[] = {
        NULL, "{\"Person\": {\"unique\": [[\"n\"]]}}", "{\"Person\": {\"checks\": [\"n > 100\"]}}", "{\"Person\": {}}"};
    static const int modes[] = {IMMUTABLE, READ_ONLY, AUTOMATIC};
    for (int mode = 0; mode < 3; mode++) {
        for (size_t i = 0; i < sizeof declared / sizeof *declared; i++) {
            keep_bytes();
            realm_config_t* c = new_config(declared[i], modes[mode], 1);
            if (modes[mode] == AUTOMATIC) crealm_config_set_snapshot(c, true);
            db = opened(c);
            if (CHECK(db)) {
                crealm_broken_rules_t* broken = NULL;
                CHECK(crealm_get_broken_rules(db, 10, &broken) && broken->count == 0);
                realm_free(broken);
                char* rules = crealm_class_get_rules(db, class_key("Person"));
                CHECK(rules && strstr(rules, "\"deny\"") && strstr(rules, "[\"n\"]") && !strstr(rules, "n > 100"));
                realm_free(rules);
                a = find("Person", "n", integer(5));
                CHECK(a && number(a, "n") == 5 && finds("Person", "n", integer(6), NULL));
                FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, write_db());
                realm_release(a);
                close_db();
            }
            CHECK(bytes_are_kept());
        }
    }

    begin("a file without rules");
    person_schema();
    open_db(NULL);
    CHECK(write_db());
    a = numbered("Person", 1);
    CHECK(set(a, "boss", link_to(a)) && rules_are("Person", no_rules) && commit());
    CHECK(write_db() && realm_object_delete(a) && commit());
    realm_release(a);
    close_db();
    CHECK(in_file("crealm_rules", NULL) == 0 && in_file("crealm_unique", NULL) == 0);
    /* Empty rules are none. */
    open_db("{\"Person\": {}, \"Thing\": {\"properties\": {\"n\": {}}}}");
    CHECK(write_db() && set_rules("Person", "{}") && commit());
    close_db();
    CHECK(in_file("crealm_rules", NULL) == 0 && in_file("crealm_unique", NULL) == 0);
    open_db("{\"Person\": {\"unique\": [[\"n\"]]}}");
    CHECK(realm_get_num_classes(db) == 2);
    close_db();
    CHECK(in_file("crealm_rules", NULL) > 0 && in_file("crealm_unique_", NULL) > 0);
}

static void test_computed(void) {
    begin("computed properties");
    add_class("C", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("name", STRING, ONE, "", PLAIN);
    add("owner", LINK, ONE, "C", NULLABLE);
    open_db("{\"C\": {\"computed\": {\"twice\": \"n * 2\", \"above\": \"owner.twice\", \"title\": \"owner.name\"}}}");
    CHECK(write_db());
    realm_object_t *a = create("C"), *b = create("C");
    CHECK(set(a, "n", integer(21)) && set(a, "name", text("a")) && set(b, "n", integer(4)) && set(b, "owner", link_to(a)));
    realm_value_t value;
    CHECK(crealm_object_get_computed(a, "twice", &value) && value.type == RLM_TYPE_INT && value.integer == 42);
    CHECK(crealm_object_get_computed(b, "above", &value) && value.type == RLM_TYPE_INT && value.integer == 42);
    CHECK(crealm_object_get_computed(b, "title", &value) && value.type == RLM_TYPE_STRING && value.string.size == 1);
    CHECK(crealm_object_get_computed(a, "above", &value) && value.type == RLM_TYPE_NULL);
    CHECK(set(a, "n", integer(1)) && crealm_object_get_computed(b, "above", &value) && value.integer == 2 && commit());
    realm_query_t* query = realm_query_parse(db, class_key("C"), "above == 2 OR twice > 100 SORT(twice ASC)", 0, NULL);
    size_t found = 0;
    CHECK(query && realm_query_count(query, &found) && found == 1);
    realm_release(query);
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_object_get_computed(a, "n", &value));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_object_get_computed(a, "nothing", &value));
    CHECK(write_db() && realm_object_delete(a));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_object_get_computed(a, "twice", &value));
    CHECK(rollback());
    drop(a, b);
    close_db();
}

static void test_checks_at_the_call(void) {
    begin("checks at the call");
    add_class("C", "", 0);
    add("low", INT, ONE, "", PLAIN);
    add("high", INT, ONE, "", PLAIN);
    open_db("{\"C\": {\"checks\": [{\"condition\": \"low <= high\", \"at\": \"call\"}]}}");
    CHECK(write_db());
    realm_object_t *a = create("C"), *b = create("C");
    CHECK(set(a, "low", integer(5)) && set(a, "high", integer(9)) && commit() && write_db());
    FAILS(CREALM_ERR_RULE_BROKEN, set(a, "low", integer(10)));
    CHECK(number(a, "low") == 5 && set(a, "low", integer(6)));
    /* All values of one call count together. */
    realm_property_key_t both[] = {key_of(a, "low"), key_of(a, "high")};
    realm_value_t values[] = {integer(20), integer(30)}, wrong[] = {integer(40), integer(30)};
    CHECK(realm_set_values(a, 2, both, values, false) && number(a, "low") == 20);
    FAILS(CREALM_ERR_RULE_BROKEN, realm_set_values(a, 2, both, wrong, false));
    CHECK(number(a, "low") == 20 && number(a, "high") == 30 && commit());
    CHECK(number(a, "low") == 20 && number(b, "low") == 0);
    drop(a, b);
    close_db();
}

/* ---- Subclasses ---------------------------------------------------------------------------------- */

static const char dogs[] = "{\"Animal\": {\"subclasses\": {\"by\": \"type\", \"classes\": "
                           "{\"Dog\": {\"extends\": \"Animal\", \"properties\": [\"breed\"]}}}}}";
static const char cats[] = "{\"Animal\": {\"subclasses\": {\"by\": \"type\", \"classes\": "
                           "{\"Cat\": {\"extends\": \"Animal\", \"properties\": [\"lives\"]}}},"
                           " \"checks\": [{\"name\": \"lives\","
                           " \"condition\": \"(NOT type == 'Cat') OR (lives >= 1)\"}]}}";

/* The schema of a program that knows one subclass, with this property. */
static void animal_schema(const char* own, int type) {
    draft.count = 0;
    memset(draft.properties, 0, sizeof draft.properties);
    add_class("Animal", "", 0);
    add("n", INT, ONE, "", PLAIN);
    add("type", STRING, ONE, "", INDEXED);
    add(own, type, ONE, "", NULLABLE);
}
static void dog_schema(void) { animal_schema("breed", STRING); }
static void cat_schema(void) { animal_schema("lives", INT); }
static realm_object_t* typed(const char* type, int64_t n) {
    realm_object_t* o = numbered("Animal", n);
    CHECK(set(o, "type", text(type)));
    return o;
}
static realm_object_t* animal(int64_t n) {
    bool found = false;
    realm_object_t* o = NULL;
    realm_value_t wanted = integer(n);
    realm_query_arg_t argument = {1, false, &wanted};
    realm_query_t* q = realm_query_parse(db, class_key("Animal"), "n == $0", 1, &argument);
    realm_value_t v = null_value();
    if (q && realm_query_find_first(q, &v, &found) && found)
        o = realm_get_object(db, v.link.target_table, v.link.target);
    realm_release(q);
    if (!CHECK(o)) give_up();
    return o;
}

/* Two programs of one schema version that know different subclasses. */
static void test_subclasses_of_other_programs(void) {
    begin("subclasses of other programs");
    dog_schema();
    open_db(dogs);
    CHECK(write_db());
    realm_object_t *dog = typed("Dog", 1), *base = typed("Animal", 2);
    CHECK(set(dog, "breed", text("Collie")) && commit());
    CHECK(write_db());
    CHECK(set(dog, "type", text("Cat")));
    BREAKS(commit());
    CHECK(rollback());
    drop(dog, base);
    close_db();

    /* The other program adds its subclass without a new schema version; the first one keeps its own. */
    cat_schema();
    open_db(cats);
    CHECK(write_db());
    realm_object_t* cat = typed("Cat", 3);
    CHECK(set(cat, "lives", integer(9)) && commit());
    dog = animal(1);
    CHECK(is_text(dog, "type", "Dog"));
    CHECK(write_db());
    CHECK(set(cat, "lives", integer(0)));
    BREAKS(commit());
    CHECK(rollback());
    drop(dog, cat);
    close_db();
    keep_bytes();
    dog_schema();
    open_db(dogs);
    dog = animal(1), cat = animal(3);
    CHECK(is_text(dog, "breed", "Collie") && is_text(cat, "type", "Cat"));
    drop(dog, cat);
    close_db();
    cat_schema();
    open_db(cats);
    cat = animal(3);
    CHECK(number(cat, "lives") == 9);
    realm_release(cat);
    close_db();
    CHECK(bytes_are_kept());

    /* Other modes: they open, too, and additive ones add. */
    static const int modes[] = {ADDITIVE, IMMUTABLE, READ_ONLY};
    for (int i = 0; i < 3; i++) {
        dog_schema();
        open_mode(dogs, modes[i]);
        dog = animal(1), cat = animal(3);
        CHECK(is_text(dog, "breed", "Collie") && is_text(cat, "type", "Cat"));
        drop(dog, cat);
        close_db();
    }

    /* A property of the base, or of a subclass that the file has already, needs a new schema version. */
    dog_schema();
    add("age", INT, ONE, "", PLAIN);
    FAILS(RLM_ERR_SCHEMA_MISMATCH, opened(new_config(dogs, AUTOMATIC, 1)));
    const char* more = "{\"Animal\": {\"subclasses\": {\"by\": \"type\", \"classes\": "
                       "{\"Dog\": {\"extends\": \"Animal\", \"properties\": [\"breed\", \"age\"]}}}}}";
    FAILS(RLM_ERR_SCHEMA_MISMATCH, opened(new_config(more, AUTOMATIC, 1)));

    /* A migration gives the file exactly the declared subclasses: objects of others are named. */
    FAILS(CREALM_ERR_RULE_BROKEN, opened(new_config(more, AUTOMATIC, 2)));
    keep_message();
    CHECK(message_has("Cat"));
    cat_schema();
    open_db(cats);
    CHECK(write_db());
    cat = animal(3);
    CHECK(realm_object_delete(cat) && commit());
    realm_release(cat);
    close_db();
    dog_schema();
    add("age", INT, ONE, "", NULLABLE);
    realm_t* migrated = db = opened(new_config(more, AUTOMATIC, 2));
    if (!CHECK(migrated)) give_up();
    dog = animal(1);
    CHECK(is_text(dog, "breed", "Collie") && key_of(dog, "lives") == RLM_INVALID_PROPERTY_KEY);
    realm_release(dog);
    CHECK(rules_are("Animal", "{\"properties\":{},\"unique\":[],\"checks\":[],"
                              "\"subclasses\":{\"by\":\"type\",\"classes\":"
                              "{\"Dog\":{\"extends\":\"Animal\",\"properties\":[\"breed\",\"age\"]}}}}"));
    close_db();
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    if (!mkdtemp(folder)) give_up();
    test_each_place();
    test_deleted_together();
    test_cascades();
    test_embedded_rules();
    test_told_deletions();
    test_automatic_values();
    test_automatic_limits();
    test_unique();
    test_unique_options();
    test_key_of_several();
    test_each_option_alone();
    test_unique_of_many();
    test_checks();
    test_checks_at_the_call();
    test_computed();
    test_defaults();
    test_times_and_revisions();
    test_declared_rules();
    test_read_back();
    test_renames();
    test_long_names();
    test_savepoints();
    test_subclasses_of_other_programs();
    test_other_libraries();
    test_unchanged_files();
    section = "the category of broken rules";
    CHECK(broken_calls > 0 && broken_calls_with_category == broken_calls);
    return finished(folder);
}
