/*
 * Details of the C API that programs may rely on, because its reference implementation behaves like that: the order of
 * checks, the outputs after a failure, and cases that are no error.
 *
 *     details_test [FIXTURES]
 */

#include <crealm.h>

#include <unistd.h>

#include "checks.h"
#include "values.h"


enum { ONE = RLM_COLLECTION_TYPE_NONE, LIST = RLM_COLLECTION_TYPE_LIST, SET = RLM_COLLECTION_TYPE_SET, DICTIONARY = RLM_COLLECTION_TYPE_DICTIONARY };
enum { INT = RLM_PROPERTY_TYPE_INT, STRING = RLM_PROPERTY_TYPE_STRING, MIXED = RLM_PROPERTY_TYPE_MIXED, LINK = RLM_PROPERTY_TYPE_OBJECT,
       DECIMAL = RLM_PROPERTY_TYPE_DECIMAL128 };

static char folder[] = "/tmp/details-XXXXXX";
static char path[64];
static realm_t* realm;
static realm_class_key_t main_class, keyed_class, embedded_class;

static realm_t* open_file(bool with_schema) {
    enum { NULLABLE = RLM_PROPERTY_NULLABLE };
    const realm_property_info_t of_main[] = {
        property("i", INT, ONE, "", 0),
        property("dec", DECIMAL, ONE, "", NULLABLE),
        property("m", MIXED, ONE, "", NULLABLE),
        property("to", LINK, ONE, "Main", NULLABLE),
        property("ints", INT, LIST, "", 0),
        property("mixeds", MIXED, LIST, "", NULLABLE),
        property("links", LINK, LIST, "Main", 0),
        property("set", INT, SET, "", 0),
        property("map", INT, DICTIONARY, "", 0),
        property("mixed_map", MIXED, DICTIONARY, "", NULLABLE),
        property("embedded_map", LINK, DICTIONARY, "Part", NULLABLE),
    };
    const realm_property_info_t of_keyed[] = {property("id", INT, ONE, "", RLM_PROPERTY_PRIMARY_KEY)};
    const realm_property_info_t of_part[] = {property("x", INT, ONE, "", 0)};
    const realm_property_info_t* properties[] = {of_main, of_keyed, of_part};
    realm_class_info_t classes[3];
    memset(classes, 0, sizeof classes);
    classes[0].name = "Main", classes[0].primary_key = "", classes[0].num_properties = sizeof of_main / sizeof *of_main;
    classes[1].name = "Keyed", classes[1].primary_key = "id", classes[1].num_properties = 1;
    classes[2].name = "Part", classes[2].primary_key = "", classes[2].num_properties = 1, classes[2].flags = RLM_CLASS_EMBEDDED;
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    if (with_schema) {
        realm_schema_t* s = realm_schema_new(classes, 3, properties);
        realm_config_set_schema(c, s);
        realm_config_set_schema_version(c, 1);
        realm_release(s);
    }
    realm_t* r = realm_open(c);
    realm_release(c);
    return r;
}
static realm_class_key_t class_key(const char* name) {
    realm_class_info_t info;
    bool found = false;
    if (!CHECK(realm_find_class(realm, name, &found, &info) && found)) give_up();
    return info.key;
}
static realm_property_key_t key(const char* name) {
    realm_property_info_t info;
    bool found = false;
    if (!CHECK(realm_find_property(realm, main_class, name, &found, &info) && found)) give_up();
    return info.key;
}
static realm_object_t* make(void) {
    realm_object_t* o = realm_object_create(realm, main_class);
    if (!CHECK(o)) give_up();
    return o;
}

/* ---- Order of checks -------------------------------------------------------------------------------- */

static void creating_outside_a_write(void) {
    section = "creating outside a write";
    CHECK(realm_begin_write(realm));
    realm_object_t* there = realm_object_create_with_primary_key(realm, keyed_class, integer(7));
    CHECK(there && realm_commit(realm));
    /* The arguments are checked first: whether they fit the class, and whether the object exists. */
    FAILS(RLM_ERR_MISSING_PRIMARY_KEY, realm_object_create(realm, keyed_class));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_create(realm, embedded_class));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create(realm, 12345));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_create_with_primary_key(realm, main_class, integer(7)));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_object_create_with_primary_key(realm, keyed_class, text("7")));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_object_create_with_primary_key(realm, keyed_class, of_type(RLM_TYPE_NULL)));
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS, realm_object_create_with_primary_key(realm, keyed_class, integer(7)));
    bool created = true;
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_get_or_create_with_primary_key(realm, main_class, integer(7), &created));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_object_get_or_create_with_primary_key(realm, keyed_class, text("7"), &created));
    realm_object_t* again = realm_object_get_or_create_with_primary_key(realm, keyed_class, integer(7), &created);
    CHECK(again && !created && realm_equals(again, there));
    /* Only then the missing write transaction is an error. */
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create(realm, main_class));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create_with_primary_key(realm, keyed_class, integer(8)));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_get_or_create_with_primary_key(realm, keyed_class, integer(8), &created));
    realm_release(there);
    realm_release(again);
}
static void collections_as_links(realm_object_t* o) {
    section = "collections as links";
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(o, key("ints")));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(o, key("links")));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(o, key("map")));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(o, key("i")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_linked_object(o, 4711));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(o, main_class, key("m")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(o, main_class, key("mixeds")));
    realm_results_t* linking = realm_get_backlinks(o, main_class, key("to"));
    CHECK(linking);
    realm_release(linking);
}

/* ---- Optional arguments ----------------------------------------------------------------------------- */

static void values_nobody_wants(realm_object_t* o) {
    section = "values nobody wants";
    const realm_property_key_t keys[] = {key("i"), key("m")}, mixed_up[] = {key("i"), key("ints")}, wrong[] = {key("i"), 4711};
    CHECK(realm_get_value(o, keys[0], NULL));
    CHECK(realm_get_values(o, 2, keys, NULL));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(o, 4711, NULL));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_value(o, key("ints"), NULL));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_values(o, 2, wrong, NULL));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_values(o, 2, mixed_up, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_get_values(o, 2, NULL, NULL));
}

/* ---- Outputs of failed calls ------------------------------------------------------------------------- */

static void failed_searches(realm_object_t* o, realm_object_t* gone) {
    section = "failed searches";
    size_t index = 1;
    bool found = true;
#define CLEARED(number, call) (index = 1, found = true, FAILS(number, call), CHECK(index == SIZE_MAX && !found))
    realm_list_t* ints = realm_get_list(o, key("ints"));
    realm_value_t wrong = text("x"), bad = of_type(99);
    CLEARED(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_list_find(ints, &wrong, &index, &found));
    CLEARED(RLM_ERR_INVALID_ARGUMENT, realm_list_find(ints, NULL, &index, &found));
    CLEARED(RLM_ERR_INVALID_ARGUMENT, realm_list_find(NULL, &wrong, &index, &found));
    realm_results_t* all = realm_object_find_all(realm, main_class);
    realm_results_t* keyed = realm_object_find_all(realm, keyed_class);
    CLEARED(RLM_ERR_INVALID_ARGUMENT, realm_results_find(all, NULL, &index, &found));
    CLEARED(RLM_ERR_INVALID_ARGUMENT, realm_results_find(all, &bad, &index, &found));
    CLEARED(RLM_ERR_INVALID_ARGUMENT, realm_results_find_object(all, NULL, &index, &found));
    CLEARED(RLM_ERR_OBJECT_TYPE_MISMATCH, realm_results_find_object(keyed, o, &index, &found));
    CLEARED(RLM_ERR_STALE_ACCESSOR, realm_results_find_object(all, gone, &index, &found));
    realm_release(ints);
    realm_release(all);
    realm_release(keyed);
}

/* ---- Deleted and rolled back objects ------------------------------------------------------------------ */

/* Handles of a deleted object resolve to NULL in another realm, which is no error. */
static void nowhere(realm_t* other, realm_object_t* o, realm_list_t* l, realm_set_t* s, realm_dictionary_t* d, realm_list_t* nested) {
    realm_object_t* to_object = o;
    realm_list_t* to_list = l;
    realm_set_t* to_set = s;
    realm_dictionary_t* to_map = d;
    CHECK(realm_object_resolve_in(o, other, &to_object) && !to_object);
    CHECK(realm_list_resolve_in(l, other, &to_list) && !to_list);
    CHECK(realm_set_resolve_in(s, other, &to_set) && !to_set);
    CHECK(realm_dictionary_resolve_in(d, other, &to_map) && !to_map);
    CHECK(realm_list_resolve_in(nested, other, &to_list) && !to_list);
}
static bool is_reading(realm_t* r) {
    bool reading = false;
    realm_version_id_t version;
    CHECK(realm_get_version_id(r, &reading, &version));
    return reading;
}
/* Resolving a handle begins a read transaction in the target realm, also when the result is NULL. */
static void asked(void) {
    section = "asked";
    CHECK(realm_begin_write(realm));
    realm_object_t* o = make();
    realm_list_t* l = realm_get_list(o, key("ints"));
    realm_set_t* s = realm_get_set(o, key("set"));
    realm_dictionary_t* d = realm_get_dictionary(o, key("map"));
    CHECK(realm_object_delete(o) && realm_commit(realm));
    for (int i = 0; i < 4; i++) {
        realm_t* fresh = open_file(true);
        realm_object_t* to_object = NULL;
        realm_list_t* to_list = NULL;
        realm_set_t* to_set = NULL;
        realm_dictionary_t* to_map = NULL;
        CHECK(fresh && !is_reading(fresh));
        CHECK(i == 0   ? realm_object_resolve_in(o, fresh, &to_object)
              : i == 1 ? realm_list_resolve_in(l, fresh, &to_list)
              : i == 2 ? realm_set_resolve_in(s, fresh, &to_set)
                       : realm_dictionary_resolve_in(d, fresh, &to_map));
        CHECK(!to_object && !to_list && !to_set && !to_map && is_reading(fresh));
        realm_release(fresh);
    }
    realm_release(o), realm_release(l), realm_release(s), realm_release(d);
}
/* Setting, summing and deleting after the rows are gone: some calls fail, some do nothing. */
static void nothing_left(void) {
    section = "nothing left";
    CHECK(realm_begin_write(realm));
    realm_object_t *o = make(), *target = make();
    realm_list_t* links = realm_get_list(o, key("links"));
    realm_results_t* targets = realm_list_to_results(links);
    CHECK(realm_list_insert(links, 0, link_by_keys(main_class, realm_object_get_key(target))));
    realm_results_t* kept = realm_results_snapshot(targets);
    realm_value_t sum = of_type(RLM_TYPE_NULL);
    bool found = false;
    CHECK(realm_object_delete(target));
    /* The snapshot has a row, which is null; the list has none. */
    CHECK(realm_results_sum(kept, key("i"), &sum, &found) && found && sum.type == RLM_TYPE_INT && sum.integer == 0);
    CHECK(realm_results_max(kept, key("i"), &sum, &found) && !found && sum.type == RLM_TYPE_NULL);
    CHECK(realm_results_sum(targets, key("i"), &sum, &found) && !found && sum.type == RLM_TYPE_INT && sum.integer == 0);
    CHECK(realm_object_delete(o));
    CHECK(realm_results_delete_all(targets));
    realm_property_key_t k = key("i");
    realm_value_t v = integer(1);
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_values(o, 0, NULL, NULL, false));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_values(o, 0, &k, &v, false));
    CHECK(realm_commit(realm));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_values(o, 0, NULL, NULL, false));
    realm_release(o), realm_release(target), realm_release(links), realm_release(targets), realm_release(kept);
}
/* Results of a nested collection do not become results of another kind of collection that replaces it. */
static void replaced_collections(void) {
    section = "replaced collections";
    CHECK(realm_begin_write(realm));
    realm_object_t* o = make();
    realm_dictionary_t* map = realm_get_dictionary(o, key("mixed_map"));
    realm_dictionary_t* inner = realm_dictionary_insert_dictionary(map, text("k"));
    CHECK(realm_dictionary_insert(inner, text("x"), integer(1), NULL, NULL));
    realm_results_t* values = realm_dictionary_to_results(inner);
    bool valid = false;
    size_t size = 0;
    CHECK(realm_results_is_valid(values, &valid) && valid && realm_results_count(values, &size) && size == 1);
    realm_list_t* list = realm_dictionary_insert_list(map, text("k"));
    CHECK(list && realm_list_insert(list, 0, integer(5)) && realm_list_insert(list, 1, integer(6)));
    realm_results_t* elements = realm_list_to_results(list);
    CHECK(realm_results_is_valid(values, &valid) && !valid);
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(values, &size));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get(values, 0, NULL));
    CHECK(realm_results_is_valid(elements, &valid) && valid && realm_results_count(elements, &size) && size == 2);
    realm_release(realm_dictionary_insert_dictionary(map, text("k")));
    CHECK(realm_results_is_valid(elements, &valid) && !valid);
    CHECK(realm_rollback(realm));
    realm_release(o), realm_release(map), realm_release(inner), realm_release(values), realm_release(list), realm_release(elements);
}
static void gone_objects(realm_t* other) {
    for (int committed = 0; committed < 2; committed++) {
        section = committed ? "deleted" : "rolled back";
        CHECK(realm_begin_write(realm));
        realm_object_t* o = make();
        realm_list_t* l = realm_get_list(o, key("ints"));
        realm_set_t* s = realm_get_set(o, key("set"));
        realm_dictionary_t* d = realm_get_dictionary(o, key("map"));
        realm_list_t* nested = realm_set_list(o, key("m"));
        realm_results_t *values = realm_list_to_results(l), *names = NULL;
        size_t size;
        CHECK(realm_dictionary_get_keys(d, &size, &names));
        realm_list_t* links = realm_get_list(o, key("links"));
        realm_results_t* targets = realm_list_to_results(links);
        CHECK(l && s && d && nested && values && names && targets);
        if (committed) {
            CHECK(realm_commit(realm) && realm_begin_write(realm) && realm_object_delete(o) && realm_commit(realm));
        } else {
            CHECK(realm_rollback(realm));
        }
        CHECK(realm_refresh(other, NULL));
        nowhere(other, o, l, s, d, nested);
        nowhere(realm, o, l, s, d, nested);
        realm_results_t* made[] = {values, names, targets};
        for (int i = 0; i < 3; i++) FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_resolve_in(made[i], other));
        FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get_query(targets));
        void* handles[] = {o, l, s, d, nested, values, names, links, targets};
        for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release(handles[i]);
    }
    section = "not there yet";
    CHECK(realm_begin_write(realm));
    realm_object_t *o = make(), *resolved = o;
    CHECK(realm_object_resolve_in(o, other, &resolved) && !resolved);
    CHECK(realm_rollback(realm));
    realm_release(o);
}

/* ---- Queries ------------------------------------------------------------------------------------------ */

static size_t matches(const char* query, size_t count, const realm_query_arg_t* arguments) {
    realm_query_t* q = realm_query_parse(realm, main_class, query, count, arguments);
    size_t n = SIZE_MAX;
    if (CHECK(q)) CHECK(realm_query_count(q, &n));
    realm_release(q);
    return n;
}
static void queries(void) {
    section = "queries";
    CHECK(realm_begin_write(realm));
    realm_object_t *a = make(), *b = make();
    realm_link_t to_b = realm_object_as_link(b);
    CHECK(realm_set_value(a, key("to"), link_by_keys(main_class, to_b.target), false));
    realm_list_t* links = realm_get_list(a, key("links"));
    CHECK(links && realm_list_insert(links, 0, link_by_keys(main_class, to_b.target)) && realm_commit(realm));
    /* The class of a link argument is ignored: the property determines the class. */
    realm_value_t values[] = {link_by_keys(main_class, to_b.target), link_by_keys(keyed_class, to_b.target), link_by_keys(RLM_INVALID_CLASS_KEY, to_b.target)};
    for (int i = 0; i < 3; i++) {
        realm_query_arg_t one = {1, false, &values[i]}, list = {1, true, &values[i]};
        CHECK(matches("to == $0", 1, &one) == 1);
        /* In a list argument the class is checked. */
        if (i == 1) FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse(realm, main_class, "to IN $0", 1, &list));
        else CHECK(matches("to IN $0", 1, &list) == 1);
        CHECK(matches("ANY links == $0", 1, &one) == 1);
        CHECK(matches("$0 IN links", 1, &one) == 1);
        CHECK(matches("@links.Main.to == $0", 1, &one) == 0);
    }
    /* An empty dictionary has no minimum, so no ordered comparison is true. */
    CHECK(matches("map.@min > NULL", 0, NULL) == 0);
    CHECK(matches("map.@max <= NULL", 0, NULL) != SIZE_MAX);
    CHECK(matches("mixed_map.@min > NULL", 0, NULL) == 0);
    CHECK(matches("NULL < map.@min", 0, NULL) == 0);
    realm_release(a);
    realm_release(b);
    realm_release(links);
}

/* ---- Dictionary keys, decimals -------------------------------------------------------------------------- */

static void null_keys(void) {
    section = "null as a dictionary key";
    CHECK(realm_begin_write(realm));
    realm_object_t* o = make();
    realm_dictionary_t *map = realm_get_dictionary(o, key("map")), *mixed = realm_get_dictionary(o, key("mixed_map"));
    realm_dictionary_t* parts = realm_get_dictionary(o, key("embedded_map"));
    CHECK(map && mixed && parts);
    realm_value_t null_text = text(NULL);
    bool flag = true;
    size_t n = 1;
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert(map, null_text, integer(1), NULL, NULL));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_list(mixed, null_text));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_dictionary(mixed, null_text));
    FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_embedded(parts, null_text));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_insert(map, of_type(RLM_TYPE_NULL), integer(1), NULL, NULL));
    /* A search for it is no error: it is not found. */
    CHECK(realm_dictionary_find(map, null_text, NULL, &flag) && !flag);
    CHECK(realm_dictionary_contains_key(map, null_text, &flag) && !flag);
    CHECK(realm_dictionary_size(map, &n) && n == 0 && realm_dictionary_size(mixed, &n) && n == 0);
    CHECK(realm_dictionary_insert(map, text(""), integer(1), NULL, &flag) && flag);
    CHECK(realm_rollback(realm));
    realm_release(o);
    realm_release(map);
    realm_release(mixed);
    realm_release(parts);
}
static void negative_zero(void) {
    section = "negative zero";
    realm_value_t minus_zero = of_type(RLM_TYPE_DECIMAL128), v;
    minus_zero.decimal128.w[1] = 0xB040000000000000;
    CHECK(realm_begin_write(realm));
    realm_object_t* o = make();
    CHECK(realm_set_value(o, key("dec"), minus_zero, false) && realm_set_value(o, key("m"), minus_zero, false));
    CHECK(realm_get_value(o, key("dec"), &v) && v.decimal128.w[1] == minus_zero.decimal128.w[1]);
    char* shown = realm_object_to_string(o);
    CHECK(shown && strstr(shown, "\"dec\":\"-0\"") && strstr(shown, "\"m\":\"-0\""));
    realm_free(shown);
    realm_query_arg_t argument = {1, false, &minus_zero};
    realm_query_t* q = realm_query_parse(realm, main_class, "dec == $0", 1, &argument);
    CHECK(q && !strcmp(realm_query_get_description(q), "dec == -0"));
    realm_release(q);
    CHECK(realm_rollback(realm));
    realm_release(o);
}

/* ---- Links to nothing ---------------------------------------------------------------------------------- */

static void links_to_nothing(realm_object_t* o) {
    section = "links to nothing";
    realm_value_t v = of_type(RLM_TYPE_BOOL);
    CHECK(realm_begin_write(realm));
    const char* const names[] = {"to", "m"};
    for (int i = 0; i < 2; i++) {
        CHECK(realm_set_value(o, key(names[i]), link_by_keys(main_class, realm_object_get_key(o)), false));
        CHECK(realm_set_value(o, key(names[i]), link_by_keys(main_class, -1), false));
        CHECK(realm_get_value(o, key(names[i]), &v) && v.type == RLM_TYPE_NULL);
    }
    CHECK(realm_commit(realm));
}

/* ---- Other formats --------------------------------------------------------------------------------------- */

static realm_t* open_in_place(const char* file) {
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, file);
    realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_IMMUTABLE);
    realm_t* r = realm_open(c);
    realm_release(c);
    return r;
}
/* A file of an old format that is read without an upgrade shows primary keys as after the upgrade: with an index. */
static void keys_of_older_formats(const char* fixtures) {
    section = "keys of older formats";
    static const char* const files[] = {"f10-swift-all-types", "f11-swift-converter-dogs", "f20-swift-embedded", "f22-kotlin-entities", "f22-js-self-links",
                                        "f22-dotnet-mixed-collections"};
    int keys = 0;
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char file[1000];
        snprintf(file, sizeof file, "%s/sdk/%s.realm", fixtures, files[f]);
        if (access(file, R_OK) != 0) continue;
        realm_t* r = open_in_place(file);
        if (!CHECK(r)) continue;
        realm_class_key_t classes[200];
        size_t count = 0;
        CHECK(realm_get_class_keys(r, classes, 200, &count));
        for (size_t i = 0; i < count; i++) {
            realm_class_info_t info;
            realm_property_info_t p;
            bool found = false;
            if (!CHECK(realm_get_class(r, classes[i], &info)) || !*info.primary_key) continue;
            CHECK(realm_find_property(r, classes[i], info.primary_key, &found, &p) && found);
            CHECK((p.flags & RLM_PROPERTY_PRIMARY_KEY) && (p.flags & RLM_PROPERTY_INDEXED));
            keys++;
        }
        realm_release(r);
    }
    if (keys == 0) printf("skipped: files of older formats (no folder sdk in %s)\n", fixtures);
}
/* A file of a format that cannot be read: the message says which file, and what to do. */
static void formats_that_are_not_read(void) {
    section = "formats that are not read";
    char copy[80];
    snprintf(copy, sizeof copy, "%s/format.realm", folder);
    static const struct { unsigned char format; const char* advice; } table[] = {
        {1, "upgrades it"}, {9, "interrupted"}, {25, "newer library"}};
    for (int i = 0; i < 3; i++) {
        CHECK(realm_convert_with_path(realm, copy, (realm_binary_t){NULL, 0}, false));
        FILE* file = fopen(copy, "r+b");
        if (!CHECK(file)) return;
        fseek(file, 20, SEEK_SET);
        fputc(table[i].format, file), fputc(table[i].format, file);
        fclose(file);
        FAILS(RLM_ERR_UNSUPPORTED_FILE_FORMAT_VERSION, open_in_place(copy));
        realm_error_t error;
        CHECK(!open_in_place(copy));
        realm_release(open_in_place(copy));
        if (result(realm_get_last_error(&error), __LINE__, "an error"))
            result(strstr(error.message, copy) && strstr(error.message, table[i].advice), __LINE__, "a message with path and advice");
        unlink(copy);
    }
}

/* ---- Refreshing --------------------------------------------------------------------------------------- */

static void first_refresh(void) {
    section = "first refresh";
    bool moved = true;
    realm_t* without = open_file(false);
    CHECK(without && realm_refresh(without, &moved) && !moved);
    CHECK(realm_begin_write(realm));
    realm_release(make());
    CHECK(realm_commit(realm));
    CHECK(realm_refresh(without, &moved) && moved);
    realm_release(without);
    /* Another instance committed between opening and refreshing. */
    without = open_file(false);
    CHECK(realm_begin_write(realm));
    realm_release(make());
    CHECK(realm_commit(realm));
    CHECK(without && realm_refresh(without, &moved) && moved);
    realm_release(without);
    /* With a schema the first refresh begins to read. */
    realm_t* with = open_file(true);
    CHECK(with && realm_refresh(with, &moved) && moved && realm_refresh(with, &moved) && !moved);
    realm_release(with);
}

int main(int count, char** arguments) {
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    snprintf(path, sizeof path, "%s/details.realm", folder);
    realm = open_file(true);
    realm_t* other = open_file(true);
    if (!CHECK(realm && other)) give_up();
    main_class = class_key("Main"), keyed_class = class_key("Keyed"), embedded_class = class_key("Part");
    CHECK(realm_begin_write(realm));
    realm_object_t *o = make(), *gone = make();
    CHECK(realm_object_delete(gone) && realm_commit(realm));
    creating_outside_a_write();
    collections_as_links(o);
    values_nobody_wants(o);
    failed_searches(o, gone);
    gone_objects(other);
    asked();
    nothing_left();
    replaced_collections();
    queries();
    null_keys();
    negative_zero();
    links_to_nothing(o);
    keys_of_older_formats(count > 1 ? arguments[1] : "Tests/Fixtures");
    formats_that_are_not_read();
    first_refresh();
    CHECK(crealm_verify(realm, NULL));
    realm_release(o);
    realm_release(gone);
    realm_release(other);
    realm_release(realm);
    bool deleted = false;
    CHECK(realm_delete_files(path, &deleted) && deleted);
    char lock[80];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(lock);
    CHECK(rmdir(folder) == 0);
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed ? 1 : 0;
}
