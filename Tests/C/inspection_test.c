/*
 * Tests crealm_get_space and crealm_query_explain. Goal: the parts of a file add up to its size, all bytes count for
 * the right class and property, and a plan has the index that the query uses and the number of objects that it tests.
 */

#include <crealm.h>

#include <stdint.h>

#include "checks.h"
#include "values.h"

enum { OBJECTS = 3000 };
static char folder[] = "/tmp/inspection-XXXXXX";
static char path[100];
static realm_class_key_t thing;
static realm_property_key_t number, indexed, words_, friend_;

static realm_property_key_t key_of(realm_t* r, const char* name) {
    bool found = false;
    realm_property_info_t p;
    if (!CHECK(realm_find_property(r, thing, name, &found, &p) && found)) give_up();
    return p.key;
}
static realm_t* open_realm(void) {
    realm_property_info_t p[] = {
        property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
        property("indexed", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_INDEXED),
        property("text", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_FULLTEXT_INDEXED),
        property("friend", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Thing", RLM_PROPERTY_NULLABLE),
        property("friends", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_LIST, "Thing", 0)};
    realm_config_t* c = config_of_class(path, class_info("Thing", "", 5, 0, 0), p);
    realm_t* r = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t found_info;
    memset(&found_info, 0, sizeof found_info);
    if (!CHECK(r) || !CHECK(realm_find_class(r, "Thing", &found, &found_info) && found)) give_up();
    thing = found_info.key;
    number = key_of(r, "number");
    indexed = key_of(r, "indexed");
    words_ = key_of(r, "text");
    friend_ = key_of(r, "friend");
    return r;
}
/* Bytes of a part; -1: no such part. Checks that all parts add up. */
static int64_t bytes_of(realm_t* r, crealm_space_kind_e kind, const char* class_name, const char* property_name) {
    crealm_space_t* parts = NULL;
    size_t count = 0;
    uint64_t total = 0, sum = 0;
    if (!CHECK(crealm_get_space(r, &parts, &count, &total) && parts)) give_up();
    int64_t found = -1;
    for (size_t i = 0; i < count; i++) {
        sum += parts[i].bytes;
        CHECK(parts[i].bytes > 0 && (i == 0 || parts[i].bytes <= parts[i - 1].bytes));
        bool is_class = class_name ? parts[i].class_name && strcmp(parts[i].class_name, class_name) == 0 : !parts[i].class_name;
        bool is_property = property_name ? parts[i].property && strcmp(parts[i].property, property_name) == 0 : !parts[i].property;
        if (parts[i].kind == kind && is_class && is_property) {
            CHECK(found < 0);
            found = (int64_t)parts[i].bytes;
        }
    }
    CHECK(sum == total);
    realm_free(parts);
    return found;
}
static void space(realm_t* r) {
    section = "space";
    /* Values take one or two bytes; each leaf of 256 has a header of 8. */
    int64_t numbers = bytes_of(r, CREALM_SPACE_VALUES, "Thing", "number");
    CHECK(numbers >= OBJECTS && numbers < OBJECTS * 3);
    /* Texts of 40 bytes. */
    CHECK(bytes_of(r, CREALM_SPACE_VALUES, "Thing", "text") >= OBJECTS * 40);
    CHECK(bytes_of(r, CREALM_SPACE_INDEX, "Thing", "indexed") > OBJECTS);
    CHECK(bytes_of(r, CREALM_SPACE_INDEX, "Thing", "text") > OBJECTS);
    CHECK(bytes_of(r, CREALM_SPACE_INDEX, "Thing", "number") == -1);
    CHECK(bytes_of(r, CREALM_SPACE_BACKLINKS, "Thing", NULL) > OBJECTS);
    CHECK(bytes_of(r, CREALM_SPACE_OBJECTS, "Thing", NULL) > 0);
    CHECK(bytes_of(r, CREALM_SPACE_SCHEMA, "Thing", NULL) > 0);
    CHECK(bytes_of(r, CREALM_SPACE_SCHEMA, NULL, NULL) > 0);
    CHECK(bytes_of(r, CREALM_SPACE_HISTORY, NULL, NULL) > 0);
    CHECK(bytes_of(r, CREALM_SPACE_MANAGEMENT, NULL, NULL) > 0);
    /* Deleted data becomes free space, and compaction removes it. */
    int64_t before = bytes_of(r, CREALM_SPACE_FREE, NULL, NULL);
    CHECK(realm_begin_write(r));
    realm_results_t* all = realm_object_find_all(r, thing);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_get_space(r, NULL, NULL, NULL));
    CHECK(realm_results_delete_all(all));
    realm_release(all);
    CHECK(realm_commit(r));
    for (int i = 0; i < 3; i++) CHECK(realm_begin_write(r) && realm_commit(r));
    CHECK(bytes_of(r, CREALM_SPACE_FREE, NULL, NULL) > before + OBJECTS * 40);
    CHECK(bytes_of(r, CREALM_SPACE_VALUES, "Thing", "text") < 100);
    bool did = false;
    CHECK(realm_compact(r, &did) && did);
    CHECK(bytes_of(r, CREALM_SPACE_FREE, NULL, NULL) < 4096);
}
static void plan_is(realm_query_t* q, crealm_access_e access, realm_property_key_t property_key, size_t objects, size_t tested, size_t found) {
    crealm_query_plan_t p;
    memset(&p, 0xAA, sizeof p);
    CHECK(q && crealm_query_explain(q, &p));
    CHECK(p.access == access);
    CHECK(p.property == property_key);
    CHECK(p.objects == objects && p.tested == tested && p.found == found);
    realm_release(q);
}
static realm_query_t* query(realm_t* r, const char* words) { return realm_query_parse(r, thing, words, 0, NULL); }
static void plans(realm_t* r) {
    section = "plans";
    const realm_property_key_t none = RLM_INVALID_PROPERTY_KEY;
    plan_is(query(r, "number = 7"), CREALM_ACCESS_SCAN, none, OBJECTS, OBJECTS, 30);
    plan_is(query(r, "indexed = 7"), CREALM_ACCESS_INDEX, indexed, OBJECTS, 0, 300);
    plan_is(query(r, "number = 7 AND indexed = 7"), CREALM_ACCESS_INDEX, indexed, OBJECTS, 300, 30);
    plan_is(query(r, "number = 7 OR indexed = 7"), CREALM_ACCESS_SCAN, none, OBJECTS, OBJECTS, 300);
    plan_is(query(r, "indexed = 7 OR indexed = 8"), CREALM_ACCESS_INDEX, indexed, OBJECTS, 0, 600);
    plan_is(query(r, "indexed IN {1, 2, 3}"), CREALM_ACCESS_INDEX, indexed, OBJECTS, 0, 900);
    plan_is(query(r, "indexed > 7"), CREALM_ACCESS_SCAN, none, OBJECTS, OBJECTS, 600);
    plan_is(query(r, "text TEXT 'seven'"), CREALM_ACCESS_WORDS, words_, OBJECTS, 0, 300);
    plan_is(query(r, "text TEXT 'seven' AND number = 17"), CREALM_ACCESS_WORDS, words_, OBJECTS, 300, 30);
    plan_is(query(r, "friend.indexed = 7"), CREALM_ACCESS_SCAN, none, OBJECTS, OBJECTS, 300);
    plan_is(query(r, "TRUEPREDICATE"), CREALM_ACCESS_NOTHING, none, OBJECTS, 0, OBJECTS);
    plan_is(query(r, "FALSEPREDICATE"), CREALM_ACCESS_NOTHING, none, OBJECTS, 0, 0);
    plan_is(query(r, "TRUEPREDICATE AND indexed = 7"), CREALM_ACCESS_INDEX, indexed, OBJECTS, 300, 300);
    plan_is(query(r, "indexed = 7 SORT(number DESC) LIMIT(5)"), CREALM_ACCESS_INDEX, indexed, OBJECTS, 0, 5);
    realm_query_t* q = query(r, "indexed = 7");
    realm_results_t* rows = realm_query_find_all(q);
    plan_is(realm_query_parse_for_results(rows, "number = 7", 0, NULL), CREALM_ACCESS_INDEX, indexed, OBJECTS, 300, 30);
    realm_release(rows);
    realm_release(q);
    realm_object_t* o = realm_get_object(r, thing, 0);
    realm_list_t* list = realm_get_list(o, key_of(r, "friends"));
    plan_is(realm_query_parse_for_list(list, "indexed = 1", 0, NULL), CREALM_ACCESS_ROWS, none, 10, 10, 1);
    realm_release(list);
    realm_release(o);
    realm_t* frozen = realm_freeze(r);
    plan_is(query(frozen, "indexed = 7"), CREALM_ACCESS_INDEX, indexed, OBJECTS, 0, 300);
    realm_release(frozen);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/world.realm", folder);
    realm_t* r = open_realm();
    static const char* names[] = {"zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
    realm_object_t* first = NULL;
    CHECK(realm_begin_write(r));
    for (int i = 0; i < OBJECTS; i++) {
        char words[80];
        int length = snprintf(words, sizeof words, "the number %s stands here among its like", names[i % 10]);
        realm_object_t* o = realm_object_create(r, thing);
        bool good = o && realm_set_value(o, number, integer(i % 100), false) && realm_set_value(o, indexed, integer(i % 10), false) &&
                    realm_set_value(o, words_, text_of(words, (size_t)length), false);
        realm_value_t link;
        memset(&link, 0, sizeof link);
        link.type = RLM_TYPE_LINK;
        link.link = realm_object_as_link(o);
        good = good && realm_set_value(o, friend_, link, false);
        if (i == 0) first = o;
        if (i < 10) {
            realm_list_t* list = realm_get_list(first, key_of(r, "friends"));
            good = good && realm_list_insert(list, (size_t)i, link);
            realm_release(list);
        }
        if (!good) CHECK(good);
        if (o != first) realm_release(o);
    }
    realm_release(first);
    CHECK(realm_commit(r));
    plans(r);
    space(r);
    CHECK(crealm_verify(r, NULL));
    realm_release(r);
    return finished(folder);
}
