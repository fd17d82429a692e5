/*
 * Frozen realms, and references that carry handles to other threads. Goal: a frozen realm never changes, and any number
 * of threads can read it at the same time, through the same handles, while writers commit and while another thread
 * closes it; a reference finds its target on another thread, at the version that the rules say.
 *
 *     frozen_test [FIXTURES [ROUNDS]]
 *
 * ROUNDS: passes of each reading thread over the frozen data (60).
 */

#include <crealm.h>

#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "atomics.h"
#include "checks.h"

enum { ONE = RLM_COLLECTION_TYPE_NONE, LIST = RLM_COLLECTION_TYPE_LIST, SET = RLM_COLLECTION_TYPE_SET, MAP = RLM_COLLECTION_TYPE_DICTIONARY };
enum { INT = RLM_PROPERTY_TYPE_INT, STRING = RLM_PROPERTY_TYPE_STRING, MIXED = RLM_PROPERTY_TYPE_MIXED, LINK = RLM_PROPERTY_TYPE_OBJECT };
enum { OBJECTS = 2000, READERS = 8 };

static char folder[] = "/tmp/frozen-XXXXXX";
static realm_class_key_t thing;
static realm_property_key_t p_id, p_n, p_s, p_link, p_mixed, p_ints, p_links, p_set, p_map, p_mixeds;

/* ---- Values, files ------------------------------------------------------------------------------ */

static realm_value_t of_type(int type) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = (realm_value_type_e)type;
    return v;
}
static realm_value_t integer(int64_t i) {
    realm_value_t v = of_type(RLM_TYPE_INT);
    v.integer = i;
    return v;
}
static realm_value_t text(const char* s) {
    realm_value_t v = of_type(RLM_TYPE_STRING);
    v.string.data = s;
    v.string.size = strlen(s);
    return v;
}
static realm_value_t link_of(const realm_object_t* o) {
    realm_value_t v = of_type(RLM_TYPE_LINK);
    v.link = realm_object_as_link(o);
    return v;
}
static realm_property_info_t property(const char* name, int type, int collection, const char* target, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name;
    p.public_name = p.link_origin_property_name = "";
    p.link_target = target;
    p.type = (realm_property_type_e)type;
    p.collection_type = (realm_collection_type_e)collection;
    p.key = RLM_INVALID_PROPERTY_KEY;
    p.flags = flags;
    return p;
}
/* more: 1 a property of Thing, 2 a class. */
static realm_schema_t* make_schema(int more) {
    enum { NULLABLE = RLM_PROPERTY_NULLABLE };
    const realm_property_info_t of_thing[] = {
        property("id", INT, ONE, "", RLM_PROPERTY_PRIMARY_KEY),
        property("n", INT, ONE, "", 0),
        property("s", STRING, ONE, "", NULLABLE),
        property("link", LINK, ONE, "Thing", NULLABLE),
        property("mixed", MIXED, ONE, "", NULLABLE),
        property("ints", INT, LIST, "", 0),
        property("links", LINK, LIST, "Thing", 0),
        property("set", INT, SET, "", 0),
        property("map", INT, MAP, "", 0),
        property("mixeds", MIXED, LIST, "", NULLABLE),
        property("added", INT, ONE, "", 0),
    };
    const realm_property_info_t of_other[] = {property("x", INT, ONE, "", 0)};
    const realm_property_info_t* properties[] = {of_thing, of_other};
    realm_class_info_t classes[2];
    memset(classes, 0, sizeof classes);
    classes[0].name = "Thing", classes[0].primary_key = "id", classes[0].num_properties = sizeof of_thing / sizeof *of_thing - (more == 1 ? 0 : 1);
    classes[1].name = "Other", classes[1].primary_key = "", classes[1].num_properties = 1;
    return realm_schema_new(classes, more == 2 ? 2 : 1, properties);
}
static realm_config_t* config_of(const char* name, bool cached) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_config_t* c = realm_config_new();
    realm_schema_t* s = make_schema(0);
    realm_config_set_path(c, path);
    realm_config_set_schema(c, s);
    realm_config_set_schema_version(c, 1);
    realm_config_set_cached(c, cached);
    realm_release(s);
    return c;
}
static realm_t* open_as(const char* name, bool cached) {
    realm_config_t* c = config_of(name, cached);
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!CHECK(r)) give_up();
    return r;
}
static realm_t* open_file(const char* name) { return open_as(name, false); }
static realm_property_key_t key_of(realm_t* r, const char* name) {
    bool found = false;
    realm_property_info_t info;
    if (!CHECK(realm_find_property(r, thing, name, &found, &info) && found)) give_up();
    return info.key;
}
static void look_up(realm_t* r) {
    bool found = false;
    realm_class_info_t info;
    if (!CHECK(realm_find_class(r, "Thing", &found, &info) && found)) give_up();
    thing = info.key;
    p_id = key_of(r, "id"), p_n = key_of(r, "n"), p_s = key_of(r, "s"), p_link = key_of(r, "link"), p_mixed = key_of(r, "mixed");
    p_ints = key_of(r, "ints"), p_links = key_of(r, "links"), p_set = key_of(r, "set"), p_map = key_of(r, "map"), p_mixeds = key_of(r, "mixeds");
}
static realm_object_t* object(const realm_t* r, int64_t id) {
    bool found = false;
    realm_object_t* o = realm_object_find_with_primary_key(r, thing, integer(id), &found);
    return o;
}
static int64_t number(const realm_object_t* o) {
    realm_value_t v;
    return realm_get_value(o, p_n, &v) && v.type == RLM_TYPE_INT ? v.integer : INT64_MIN;
}
static void set_number(realm_t* r, int64_t id, int64_t n) {
    CHECK(realm_begin_write(r));
    realm_object_t* o = object(r, id);
    CHECK(o && realm_set_value(o, p_n, integer(n), false));
    realm_release(o);
    CHECK(realm_commit(r));
}
static uint64_t versions(const realm_t* r) {
    uint64_t n = 0;
    CHECK(realm_get_num_versions(r, &n));
    return n;
}
static uint64_t version(const realm_t* r) {
    bool found = false;
    realm_version_id_t v;
    return realm_get_version_id(r, &found, &v) && found ? v.version : 0;
}
static size_t count(const realm_results_t* r) {
    size_t n = SIZE_MAX;
    return realm_results_count((realm_results_t*)r, &n) ? n : SIZE_MAX;
}
static size_t list_size(const realm_list_t* l) {
    size_t n = SIZE_MAX;
    return realm_list_size(l, &n) ? n : SIZE_MAX;
}
static realm_query_t* query(const realm_t* r, const char* s) { return realm_query_parse(r, thing, s, 0, NULL); }
static realm_results_t* find_all(const realm_t* r, const char* s) {
    realm_query_t* q = query(r, s);
    realm_results_t* found = q ? realm_query_find_all(q) : NULL;
    realm_release(q);
    return found;
}

/* Thing 0 has a value in every property; the others have only numbers. */
static void fill(realm_t* r, int objects) {
    CHECK(realm_begin_write(r));
    char s[40];
    for (int64_t i = 0; i < objects; i++) {
        realm_object_t* o = realm_object_create_with_primary_key(r, thing, integer(i));
        snprintf(s, sizeof s, "text of object %d", (int)i);
        if (!o || !realm_set_value(o, p_n, integer(i), false) || !realm_set_value(o, p_s, text(s), false)) give_up();
        realm_release(o);
    }
    realm_object_t *first = object(r, 0), *second = object(r, 1);
    realm_list_t *ints = realm_get_list(first, p_ints), *links = realm_get_list(first, p_links), *mixeds = realm_get_list(first, p_mixeds);
    realm_set_t* set = realm_get_set(first, p_set);
    realm_dictionary_t* map = realm_get_dictionary(first, p_map);
    for (int i = 0; i < 3000; i++) {
        if (!realm_list_insert(ints, (size_t)i, integer(i))) give_up();
    }
    for (int i = 0; i < 5; i++) {
        char key[20];
        snprintf(key, sizeof key, "key %d", i);
        realm_object_t* o = object(r, i);
        CHECK(realm_list_insert(links, (size_t)i, link_of(o)) && realm_set_insert(set, integer(i), NULL, NULL) &&
              realm_dictionary_insert(map, text(key), integer(i), NULL, NULL) && realm_list_insert(mixeds, (size_t)i, integer(i)));
        realm_release(o);
    }
    realm_list_t* nested = realm_list_insert_list(mixeds, 0);
    CHECK(nested && realm_list_insert(nested, 0, text("inner")));
    CHECK(realm_set_value(first, p_link, link_of(second), false) && realm_set_value(first, p_mixed, text("a mixed value"), false));
    realm_release(nested), realm_release(map), realm_release(set), realm_release(mixeds), realm_release(links), realm_release(ints);
    realm_release(second), realm_release(first);
    CHECK(realm_commit(r));
}
static realm_t* filled(const char* name, int objects) {
    realm_t* r = open_file(name);
    look_up(r);
    fill(r, objects);
    return r;
}

/* ---- One thread --------------------------------------------------------------------------------- */

static void nothing(realm_userdata_t userdata) { (void)userdata; }
static void nothing_of_schema(realm_userdata_t userdata, const realm_schema_t* s) { (void)userdata, (void)s; }

static void stays(void) {
    section = "what is frozen stays";
    realm_t* r = filled("stays", 10);
    realm_t* f = realm_freeze(r);
    if (!CHECK(f)) give_up();
    CHECK(realm_is_frozen(f) && !realm_is_frozen(r) && !realm_is_frozen(NULL) && !realm_equals(f, r));
    CHECK(version(f) == version(r) && version(f) != 0);
    realm_object_t* o = object(f, 0);
    realm_list_t *ints = realm_get_list(o, p_ints), *mixeds = realm_get_list(o, p_mixeds), *nested = realm_list_get_list(mixeds, 0);
    realm_set_t* set = realm_get_set(o, p_set);
    realm_dictionary_t* map = realm_get_dictionary(o, p_map);
    realm_results_t *all = realm_object_find_all(f, thing), *some = find_all(f, "n >= 4 SORT(n DESC)"), *values = realm_list_to_results(ints);
    realm_query_t* q = query(f, "n < 3");
    CHECK(realm_is_frozen(o) && realm_is_frozen(ints) && realm_is_frozen(nested) && realm_is_frozen(set) && realm_is_frozen(map));
    CHECK(realm_is_frozen(all) && realm_is_frozen(some) && realm_is_frozen(values) && !realm_is_frozen(q));
    /* The live realm changes everything. */
    CHECK(realm_begin_write(r));
    for (int64_t i = 1; i < 10; i++) {
        realm_object_t* gone = object(r, i);
        CHECK(realm_object_delete(gone));
        realm_release(gone);
    }
    realm_object_t* live = object(r, 0);
    realm_list_t* live_ints = realm_get_list(live, p_ints);
    CHECK(realm_set_value(live, p_n, integer(77), false) && realm_list_clear(live_ints) && realm_commit(r));
    for (int i = 0; i < 20; i++) set_number(r, 0, i + 100);
    CHECK(number(live) == 119 && version(r) == version(f) + 21);
    size_t n = 0;
    bool flag = true;
    realm_value_t v;
    CHECK(number(o) == 0 && realm_object_is_valid(o) && realm_list_is_valid(ints) && list_size(ints) == 3000);
    CHECK(realm_list_get(ints, 2999, &v) && v.integer == 2999 && realm_list_get(nested, 0, &v) && v.string.size == 5);
    CHECK(realm_set_size(set, &n) && n == 5 && realm_dictionary_size(map, &n) && n == 5);
    CHECK(realm_dictionary_find(map, text("key 3"), &v, &flag) && flag && v.integer == 3);
    CHECK(count(all) == 10 && count(some) == 6 && count(values) == 3000 && realm_query_count(q, &n) && n == 3);
    CHECK(realm_results_get(some, 0, &v) && v.type == RLM_TYPE_LINK && realm_results_get(values, 17, &v) && v.integer == 17);
    CHECK(realm_results_sum(all, p_n, &v, &flag) && flag && v.integer == 45);
    CHECK(realm_get_num_objects(f, thing, &n) && n == 10);
    realm_object_t* linked = realm_get_linked_object(o, p_link);
    CHECK(linked && number(linked) == 1 && realm_is_frozen(linked));
    flag = true;
    CHECK(realm_refresh(f, &flag) && !flag && realm_begin_read(f) && !realm_is_writable(f));

    section = "nothing can be changed in what is frozen";
    const int refused = RLM_ERR_WRONG_TRANSACTION_STATE;
    FAILS(refused, realm_begin_write(f));
    FAILS(refused, realm_commit(f));
    FAILS(refused, realm_rollback(f));
    FAILS(refused, realm_set_value(o, p_n, integer(1), false));
    FAILS(refused, realm_object_add_int(o, p_n, 1));
    FAILS(refused, realm_object_delete(o));
    FAILS(refused, realm_object_create_with_primary_key(f, thing, integer(1000)));
    FAILS(refused, realm_list_insert(ints, 0, integer(1)));
    FAILS(refused, realm_list_insert(ints, 3000, integer(1)));
    FAILS(refused, realm_list_set(ints, 0, integer(1)));
    FAILS(refused, realm_list_erase(ints, 0));
    FAILS(refused, realm_list_clear(ints));
    FAILS(refused, realm_set_insert(set, integer(9), NULL, NULL));
    FAILS(refused, realm_dictionary_insert(map, text("k"), integer(1), NULL, NULL));
    FAILS(refused, realm_results_delete_all(some));
    FAILS(refused, realm_query_delete_all(q));
    FAILS(refused, realm_set_list(o, p_mixed));
    FAILS(refused, realm_compact(f, &flag));
    FAILS(refused, realm_add_realm_changed_callback(f, nothing, NULL, NULL));
    FAILS(refused, realm_add_schema_changed_callback(f, nothing_of_schema, NULL, NULL));
    realm_clear_last_error();
    CHECK(realm_add_realm_refresh_callback(f, nothing, NULL, NULL) == NULL && last_error() == 0);

    section = "freezing again";
    realm_t* g = realm_freeze(f);
    CHECK(g && realm_is_frozen(g) && version(g) == version(f) && !realm_equals(f, g));
    realm_t* h = realm_freeze(r);
    CHECK(h && version(h) == version(r));
    realm_object_t* newer = object(h, 0);
    CHECK(number(newer) == 119 && number(o) == 0);
    bool did = true;
    /* An older version is in use: the file cannot be rewritten. */
    CHECK(realm_compact(r, &did) && !did);
    CHECK(realm_close(r) && realm_is_closed(r) && !realm_is_closed(f));
    CHECK(number(o) == 0 && count(some) == 6 && number(newer) == 119);
    CHECK(realm_close(f) && realm_is_closed(f) && !realm_is_closed(g) && realm_close(f));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(o, p_n, &v));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(ints, &n));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(some, &n));
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_read(f));
    FAILS(RLM_ERR_CLOSED_REALM, realm_freeze(f));
    CHECK(!realm_object_is_valid(o) && version(f) == 0);
    realm_object_t* again = object(g, 0);
    CHECK(again && number(again) == 0);
    const void* handles[] = {again, newer, linked, live_ints, live, q, values, some, all, map, set, nested, mixeds, ints, o, h, g, f, r};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release((void*)handles[i]);
}

static void instances(void) {
    section = "one instance for a cached config and a version";
    realm_t* r = open_as("cached", true);
    look_up(r);
    fill(r, 10);
    realm_t *a = realm_freeze(r), *b = realm_freeze(r), *c = realm_freeze(a);
    CHECK(a && b && realm_equals(a, b) && realm_equals(a, c));
    set_number(r, 1, 5);
    realm_t* d = realm_freeze(r);
    CHECK(d && !realm_equals(a, d));
    CHECK(realm_close(a) && realm_is_closed(b));
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_read(c));
    realm_t* e = realm_freeze(d);
    CHECK(e && realm_equals(d, e) && !realm_is_closed(e));
    /* The cache returns the live realm, not the frozen one. */
    realm_t* live = open_as("cached", true);
    CHECK(live && realm_equals(live, r) && !realm_is_frozen(live));
    const void* handles[] = {live, e, d, c, b, a, r};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release((void*)handles[i]);
}

static void in_a_write(void) {
    section = "frozen inside a write transaction";
    realm_t* r = filled("write", 10);
    CHECK(realm_begin_write(r));
    realm_object_t *o = object(r, 1), *added = realm_object_create_with_primary_key(r, thing, integer(100));
    CHECK(o && added && realm_set_value(o, p_n, integer(50), false));
    realm_t* f = realm_freeze(r);
    CHECK(f && realm_is_writable(r) && !realm_is_writable(f));
    realm_object_t *was = NULL, *none = NULL;
    CHECK(realm_object_resolve_in(o, f, &was) && was && number(was) == 1);
    realm_clear_last_error();
    CHECK(realm_object_resolve_in(added, f, &none) && none == NULL && last_error() == 0);
    CHECK(realm_commit(r));
    for (int i = 0; i < 10; i++) set_number(r, 1, i);
    /* First used after the commit: the version was kept nevertheless. */
    realm_t* late = NULL;
    CHECK(realm_begin_write(r) && realm_set_value(o, p_n, integer(60), false) && (late = realm_freeze(r)) && realm_commit(r));
    for (int i = 0; i < 10; i++) set_number(r, 1, i);
    realm_object_t* old = object(late, 1);
    CHECK(old && number(old) == 9 && number(was) == 1 && number(o) == 9);
    const void* handles[] = {old, late, was, f, added, o, r};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release((void*)handles[i]);
}

static void resolving(void) {
    section = "from live to frozen and back";
    realm_t* r = filled("resolve", 10);
    realm_t* f = realm_freeze(r);
    realm_object_t *o = object(r, 0), *doomed = object(r, 7);
    realm_list_t* ints = realm_get_list(o, p_ints);
    realm_set_t* set = realm_get_set(o, p_set);
    realm_dictionary_t* map = realm_get_dictionary(o, p_map);
    realm_results_t *some = find_all(r, "n > 6"), *values = realm_list_to_results(ints);
    realm_object_t* fo = NULL;
    realm_list_t* fl = NULL;
    realm_set_t* fs = NULL;
    realm_dictionary_t* fm = NULL;
    CHECK(realm_object_resolve_in(o, f, &fo) && fo && realm_is_frozen(fo) && realm_list_resolve_in(ints, f, &fl) && fl && realm_is_frozen(fl));
    CHECK(realm_set_resolve_in(set, f, &fs) && fs && realm_is_frozen(fs) && realm_dictionary_resolve_in(map, f, &fm) && fm && realm_is_frozen(fm));
    realm_results_t *fr = realm_results_resolve_in(some, f), *fv = realm_results_resolve_in(values, f);
    CHECK(fr && realm_is_frozen(fr) && fv && realm_is_frozen(fv));
    CHECK(count(fr) == 3 && count(some) == 3);
    CHECK(realm_begin_write(r) && realm_list_clear(ints) && realm_object_delete(doomed));
    realm_object_t* fresh = realm_object_create_with_primary_key(r, thing, integer(99));
    CHECK(realm_set_value(fresh, p_n, integer(99), false) && realm_commit(r));
    set_number(r, 0, 4);
    CHECK(number(fo) == 0 && list_size(fl) == 3000 && count(fr) == 3 && count(fv) == 3000 && count(some) == 3 && count(values) == 0);
    /* Objects of later versions do not exist; that is no error. */
    realm_object_t* none = o;
    realm_clear_last_error();
    CHECK(realm_object_resolve_in(fresh, f, &none) && none == NULL && last_error() == 0);
    realm_list_t *fresh_list = realm_get_list(fresh, p_ints), *no_list = ints;
    CHECK(realm_list_resolve_in(fresh_list, f, &no_list) && no_list == NULL && last_error() == 0);
    /* Back into the live realm: by key, at the version that the live realm reads. */
    realm_object_t *back = NULL, *frozen_doomed = object(f, 7);
    CHECK(realm_object_resolve_in(fo, r, &back) && back && !realm_is_frozen(back) && number(back) == 4 && realm_equals(back, o));
    CHECK(frozen_doomed && number(frozen_doomed) == 7 && realm_object_resolve_in(frozen_doomed, r, &none) && none == NULL && last_error() == 0);
    realm_list_t* live_list = NULL;
    CHECK(realm_list_resolve_in(fl, r, &live_list) && live_list && list_size(live_list) == 0 && !realm_is_frozen(live_list));
    realm_results_t* live_some = realm_results_resolve_in(fr, r);
    CHECK(live_some && count(live_some) == 3 && !realm_is_frozen(live_some));
    set_number(r, 0, 40);
    CHECK(count(live_some) == 4 && count(fr) == 3);
    const void* handles[] = {live_some, live_list, frozen_doomed, back, fresh_list, fresh, fv, fr, fm, fs, fl, fo, values, some, map, set, ints, doomed, o, f, r};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release((void*)handles[i]);
}

static void limits(void) {
    section = "frozen versions count";
    realm_config_t* c = config_of("limits", false);
    realm_config_set_max_number_of_active_versions(c, 3);
    realm_t* r = realm_open(c);
    realm_release(c);
    look_up(r);
    realm_t* frozen[5] = {0};
    size_t n;
    int begun = 0;
    for (; begun < 4 && CHECK(realm_begin_write(r)); begun++) {
        CHECK(realm_commit(r));
        frozen[begun] = realm_freeze(r);
        CHECK(frozen[begun] && realm_get_num_objects(frozen[begun], thing, &n) && n == 0);
    }
    CHECK(versions(r) == 4);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(r));
    for (int i = 0; i < begun; i++) CHECK(realm_close(frozen[i]));
    CHECK(realm_begin_write(r) && realm_commit(r) && versions(r) == 2);
    for (int i = 0; i < begun; i++) realm_release(frozen[i]);
    realm_release(r);

    section = "the schema of a frozen realm";
    r = filled("schema", 6);
    realm_t* f = realm_freeze(r);
    realm_schema_t *same = make_schema(0), *property = make_schema(1), *other = make_schema(2);
    CHECK(realm_update_schema(f, same));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_update_schema(f, property));
    CHECK(realm_update_schema(f, other));
    bool found = false;
    realm_class_info_t info;
    CHECK(realm_find_class(f, "Other", &found, &info) && found && info.key == RLM_INVALID_CLASS_KEY);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_num_objects(f, info.key, &n));
    CHECK(realm_get_num_objects(f, thing, &n) && n == 6);
    realm_release(other), realm_release(property), realm_release(same), realm_release(f), realm_release(r);

    section = "no version is lost between two slots";
    /* A frozen realm keeps the slot of the live realm, which takes another one. */
    r = filled("slots", 6);
    f = realm_freeze(r);
    set_number(r, 1, 1);
    realm_t* g = realm_freeze(r);
    realm_object_t *of_f = object(f, 1), *of_g = object(g, 1);
    for (int i = 0; i < 200; i++) set_number(r, 1, 1000 + i);
    CHECK(number(of_f) == 1 && number(of_g) == 1 && versions(r) == 4);
    realm_release(of_f), realm_release(f);
    set_number(r, 1, 5);
    CHECK(versions(r) == 3);
    realm_release(of_g), realm_release(g);
    set_number(r, 1, 6);
    CHECK(versions(r) == 2);
    realm_release(r);
}

/* ---- Many threads ------------------------------------------------------------------------------- */

static struct {
    realm_t* realm;
    realm_object_t* object;
    realm_list_t *ints, *mixeds;
    realm_set_t* set;
    realm_dictionary_t* map;
    realm_query_t *query, *text_query, *linked;
    realm_results_t *all, *some, *sorted, *values;
} shared;
static ATOMIC(long) wrong, done, refused;
static ATOMIC(bool) stop;
static int rounds = 60;

static void expect(bool good) {
    if (!good) atomic_fetch_add(&wrong, 1);
}
/* One pass over everything, through the handles that all threads share. */
static void read_all(unsigned seed) {
    realm_value_t v;
    size_t n = 0;
    bool found = false;
    expect(number(shared.object) == 0);
    expect(realm_get_value(shared.object, p_s, &v) && v.string.size == 16 && memcmp(v.string.data, "text of object 0", 16) == 0);
    for (int i = 0; i < 100; i++) {
        size_t at = (size_t)(seed = seed * 1664525 + 1013904223) % 3000;
        expect(realm_list_get(shared.ints, at, &v) && v.integer == (int64_t)at);
        expect(realm_results_get(shared.values, at, &v) && v.integer == (int64_t)at);
        at %= OBJECTS;
        realm_object_t* o = realm_results_get_object(shared.all, at);
        expect(o && number(o) == (int64_t)at);
        realm_release(o);
        at %= OBJECTS / 2;
        o = realm_results_get_object(shared.sorted, at);
        expect(o && number(o) == OBJECTS - 1 - (int64_t)at);
        realm_release(o);
    }
    expect(realm_set_size(shared.set, &n) && n == 5 && realm_set_get(shared.set, 3, &v) && v.integer == 3);
    expect(realm_dictionary_find(shared.map, text("key 4"), &v, &found) && found && v.integer == 4);
    realm_list_t* nested = realm_list_get_list(shared.mixeds, 0);
    expect(nested && realm_list_get(nested, 0, &v) && v.type == RLM_TYPE_STRING);
    realm_release(nested);
    expect(count(shared.some) == OBJECTS / 2 && realm_query_count(shared.query, &n) && n == OBJECTS / 2);
    expect(realm_query_count(shared.text_query, &n) && n == 1 && realm_query_count(shared.linked, &n) && n == 1);
    expect(realm_query_find_first(shared.query, &v, &found) && found && v.link.target >= 0);
    const char* description = realm_query_get_description(shared.query);
    expect(description && strlen(description) > 3);
    realm_results_t* own = find_all(shared.realm, "ANY links.n == 4 OR s ENDSWITH ' 1999'");
    expect(count(own) == 2);
    realm_results_t* fewer = realm_results_filter(shared.all, shared.query);
    expect(count(fewer) == OBJECTS / 2);
    realm_release(fewer), realm_release(own);
    expect(realm_results_sum(shared.all, p_n, &v, &found) && v.integer == (int64_t)OBJECTS * (OBJECTS - 1) / 2);
    expect(realm_results_average(shared.some, p_n, &v, &found) && found);
    realm_object_t* o = object(shared.realm, 1234);
    expect(o && number(o) == 1234);
    realm_release(o);
}
static void* reader(void* arg) {
    for (int i = 0; i < rounds; i++) {
        read_all((unsigned)(uintptr_t)arg * 977 + (unsigned)i);
        atomic_fetch_add(&done, 1);
    }
    return NULL;
}
static void* writer(void* arg) {
    realm_t* r = open_file((const char*)arg);
    unsigned seed = 1;
    long commits = 0;
    while (!atomic_load(&stop)) {
        bool good = realm_begin_write(r);
        for (int i = 0; i < 20 && good; i++) {
            seed = seed * 1664525 + 1013904223;
            realm_object_t* o = object(r, (seed >> 8) % OBJECTS);
            good = o && realm_set_value(o, p_n, integer(-1), false) && realm_set_value(o, p_s, text("overwritten, and longer than it was before"), false);
            realm_release(o);
        }
        realm_object_t* first = object(r, 0);
        realm_list_t* l = realm_get_list(first, p_ints);
        good = good && realm_list_set(l, seed % 3000, integer(-1));
        realm_release(l), realm_release(first);
        expect(good && realm_commit(r));
        commits++;
    }
    realm_close(r);
    realm_release(r);
    return (void*)commits;
}
static void share(realm_t* f) {
    shared.realm = f;
    shared.object = object(f, 0);
    shared.ints = realm_get_list(shared.object, p_ints), shared.mixeds = realm_get_list(shared.object, p_mixeds);
    shared.set = realm_get_set(shared.object, p_set), shared.map = realm_get_dictionary(shared.object, p_map);
    shared.query = query(f, "n >= 1000"), shared.text_query = query(f, "s CONTAINS[c] 'OBJECT 1717'"), shared.linked = query(f, "link.n == 1");
    shared.all = realm_object_find_all(f, thing), shared.some = realm_query_find_all(shared.query);
    shared.sorted = find_all(f, "n >= 1000 SORT(n DESC)"), shared.values = realm_list_to_results(shared.ints);
}
static void unshare(void) {
    const void* handles[] = {shared.values, shared.sorted, shared.some, shared.all, shared.linked, shared.text_query, shared.query,
                             shared.map,    shared.set,    shared.mixeds, shared.ints, shared.object, shared.realm};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release((void*)handles[i]);
}
static void many_threads(void) {
    section = "many threads read, others write";
    realm_t* r = filled("many", OBJECTS);
    share(realm_freeze(r));
    pthread_t threads[READERS], writers[2];
    atomic_store(&stop, false);
    for (int i = 0; i < 2; i++) pthread_create(&writers[i], NULL, writer, (void*)"many");
    for (int i = 0; i < READERS; i++) pthread_create(&threads[i], NULL, reader, (void*)(uintptr_t)(i + 1));
    for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
    atomic_store(&stop, true);
    long commits = 0;
    for (int i = 0; i < 2; i++) {
        void* n;
        pthread_join(writers[i], &n);
        commits += (long)n;
    }
    CHECK(atomic_load(&wrong) == 0 && atomic_load(&done) == READERS * (long)rounds);
    CHECK(commits > 0);
    /* Threads that read once, one after the other and many together: more than the initial capacity. */
    rounds = 1;
    for (int round = 0; round < 3; round++) {
        pthread_t brief[40];
        for (int i = 0; i < 40; i++) pthread_create(&brief[i], NULL, reader, (void*)(uintptr_t)(i + 1));
        for (int i = 0; i < 40; i++) pthread_join(brief[i], NULL);
    }
    CHECK(atomic_load(&wrong) == 0);
    CHECK(realm_refresh(r, NULL) && number(shared.object) == 0);
    unshare();
    set_number(r, 1, 1);
    CHECK(versions(r) == 2);
    realm_release(r);
}

static void* reader_until_closed(void* arg) {
    (void)arg;
    realm_value_t v;
    long n = 0;
    for (;;) {
        if (!realm_list_get(shared.ints, (size_t)(n % 3000), &v)) break;
        expect(v.integer == n % 3000);
        n++;
    }
    expect(last_error() == RLM_ERR_INVALIDATED_OBJECT);
    size_t c;
    expect(!realm_results_count(shared.some, &c) && last_error() == RLM_ERR_STALE_ACCESSOR);
    expect(!realm_begin_read(shared.realm) && last_error() == RLM_ERR_CLOSED_REALM);
    atomic_fetch_add(&refused, 1);
    return NULL;
}
static void closing(void) {
    section = "closed by another thread while many read";
    realm_t* r = filled("closing", OBJECTS);
    for (int round = 0; round < 20; round++) {
        share(realm_freeze(r));
        pthread_t threads[READERS];
        atomic_store(&refused, 0);
        for (int i = 0; i < READERS; i++) pthread_create(&threads[i], NULL, reader_until_closed, NULL);
        usleep((useconds_t)(round % 5) * 300);
        expect(realm_close(shared.realm) && realm_is_closed(shared.realm));
        for (int i = 0; i < READERS; i++) pthread_join(threads[i], NULL);
        CHECK(atomic_load(&refused) == READERS && atomic_load(&wrong) == 0);
        set_number(r, 1, round);
        set_number(r, 1, round);
        /* The last thread released the version. */
        CHECK(versions(r) == 2);
        unshare();
    }
    bool did = false;
    CHECK(realm_compact(r, &did) && did);
    realm_release(r);
}

/* ---- References --------------------------------------------------------------------------------- */

static void references(void) {
    section = "references to objects, collections and results";
    realm_t* r = filled("references", 10);
    realm_object_t* o = object(r, 0);
    realm_list_t* ints = realm_get_list(o, p_ints);
    realm_set_t* set = realm_get_set(o, p_set);
    realm_dictionary_t* map = realm_get_dictionary(o, p_map);
    realm_results_t *some = find_all(r, "n >= 5"), *values = realm_list_to_results(ints);
    realm_thread_safe_reference_t *to_o = realm_create_thread_safe_reference(o), *to_list = realm_create_thread_safe_reference(ints),
                                  *to_set = realm_create_thread_safe_reference(set), *to_map = realm_create_thread_safe_reference(map),
                                  *to_some = realm_create_thread_safe_reference(some), *to_values = realm_create_thread_safe_reference(values);
    CHECK(to_o && to_list && to_set && to_map && to_some && to_values);
    const uint64_t made = version(r);
    /* Objects and collections are found at the newest version; results keep theirs. */
    CHECK(realm_begin_write(r));
    realm_list_t* rest = realm_get_list(o, p_ints);
    CHECK(realm_list_clear(rest) && realm_set_value(o, p_n, integer(21), false) && realm_commit(r));
    realm_release(rest);
    for (int i = 1; i < 5; i++) set_number(r, 0, 20 + i + 1);
    CHECK(version(r) == made + 5 && versions(r) == 3);
    realm_t* fresh = open_file("references");
    realm_results_t* old = realm_results_from_thread_safe_reference(fresh, to_some);
    CHECK(old && version(fresh) == made && count(old) == 5 && count(some) == 6);
    realm_results_t* old_values = realm_results_from_thread_safe_reference(fresh, to_values);
    CHECK(old_values && count(old_values) == 3000 && count(values) == 0);
    realm_release(old_values), realm_release(old), realm_release(fresh);
    realm_release(to_some), realm_release(to_values);
    set_number(r, 0, 25);
    CHECK(versions(r) == 2);
    fresh = open_file("references");
    realm_object_t* there = realm_object_from_thread_safe_reference(fresh, to_o);
    CHECK(there && version(fresh) == version(r) && number(there) == 25 && !realm_equals(there, o));
    realm_list_t* list = realm_list_from_thread_safe_reference(fresh, to_list);
    realm_set_t* their_set = realm_set_from_thread_safe_reference(fresh, to_set);
    realm_dictionary_t* their_map = realm_dictionary_from_thread_safe_reference(fresh, to_map);
    size_t n = 0;
    CHECK(list && list_size(list) == 0 && their_set && realm_set_size(their_set, &n) && n == 5 && their_map && realm_dictionary_size(their_map, &n) && n == 5);
    /* A reference to an object can be resolved several times. */
    realm_object_t* twice = realm_object_from_thread_safe_reference(fresh, to_o);
    CHECK(twice && realm_equals(there, twice));
    realm_release(twice), realm_release(their_map), realm_release(their_set), realm_release(list), realm_release(there);

    section = "the version that counts";
    /* A realm at an older version moves. */
    set_number(r, 0, 30);
    realm_thread_safe_reference_t* newer = realm_create_thread_safe_reference(o);
    CHECK(version(fresh) < version(r));
    there = realm_object_from_thread_safe_reference(fresh, newer);
    CHECK(there && version(fresh) == version(r) && number(there) == 30);
    /* A realm at a newer version stays. */
    set_number(fresh, 0, 31);
    realm_object_t* ahead = realm_object_from_thread_safe_reference(fresh, newer);
    CHECK(ahead && number(ahead) == 31 && number(o) == 30);
    /* A realm in no transaction begins at the version of the reference, which the reference's realm still reads. */
    realm_t* idle = open_file("references");
    realm_object_t* there_too = realm_object_from_thread_safe_reference(idle, newer);
    CHECK(there_too && version(idle) == version(r) && number(there_too) == 30);
    realm_release(there_too), realm_release(idle), realm_release(ahead), realm_release(there), realm_release(newer);

    section = "references made in a write transaction";
    CHECK(realm_begin_write(r));
    realm_object_t* added = realm_object_create_with_primary_key(r, thing, integer(500));
    realm_list_t* its_links = realm_get_list(added, p_links);
    realm_results_t* its_results = realm_list_to_results(its_links);
    realm_thread_safe_reference_t* early = realm_create_thread_safe_reference(added);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_create_thread_safe_reference(its_results));
    realm_object_t* not_yet = realm_object_from_thread_safe_reference(fresh, early);
    CHECK(early && not_yet && !realm_object_is_valid(not_yet));
    CHECK(realm_commit(r));
    realm_object_t* now = realm_object_from_thread_safe_reference(fresh, early);
    CHECK(now && realm_object_is_valid(now) && realm_object_is_valid(not_yet));
    idle = open_file("references");
    realm_object_t* also = realm_object_from_thread_safe_reference(idle, early);
    CHECK(also && realm_object_is_valid(also));
    CHECK(realm_begin_write(r));
    realm_object_t* undone = realm_object_create_with_primary_key(r, thing, integer(501));
    realm_thread_safe_reference_t* to_undone = realm_create_thread_safe_reference(undone);
    CHECK(realm_rollback(r) && realm_begin_write(r));
    realm_object_t* another = realm_object_create_with_primary_key(r, thing, integer(502));
    CHECK(another && realm_commit(r));
    realm_object_t* nobody = realm_object_from_thread_safe_reference(fresh, to_undone);
    CHECK(nobody && !realm_object_is_valid(nobody));

    section = "references of the wrong kind";
    const int wrong_kind = RLM_ERR_ILLEGAL_OPERATION;
    FAILS(wrong_kind, realm_object_from_thread_safe_reference(r, to_list));
    FAILS(wrong_kind, realm_list_from_thread_safe_reference(r, to_set));
    FAILS(wrong_kind, realm_set_from_thread_safe_reference(r, to_map));
    FAILS(wrong_kind, realm_dictionary_from_thread_safe_reference(r, to_o));
    FAILS(wrong_kind, realm_results_from_thread_safe_reference(r, to_list));
    FAILS(wrong_kind, realm_from_thread_safe_reference(to_list, NULL));
    list = realm_list_from_thread_safe_reference(r, to_list);
    CHECK(list && list_size(list) == 0);
    realm_config_t* config = config_of("references", false);
    FAILS(wrong_kind, realm_create_thread_safe_reference(config));
    FAILS(wrong_kind, realm_create_thread_safe_reference(to_list));
    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(to_list));
    realm_t* elsewhere = open_file("elsewhere");
    FAILS(wrong_kind, realm_object_from_thread_safe_reference(elsewhere, to_o));

    section = "references to what is gone";
    CHECK(realm_begin_write(r));
    realm_object_t* gone = object(r, 9);
    realm_list_t* gone_list = realm_get_list(gone, p_ints);
    realm_results_t* gone_values = realm_list_to_results(gone_list);
    realm_thread_safe_reference_t *to_gone = realm_create_thread_safe_reference(gone), *to_gone_list = realm_create_thread_safe_reference(gone_list),
                                  *to_gone_values = realm_create_thread_safe_reference(gone_values);
    CHECK(to_gone && to_gone_list && to_gone_values && realm_object_delete(gone) && realm_commit(r));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_create_thread_safe_reference(gone));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_create_thread_safe_reference(gone_list));
    realm_object_t* no_object = realm_object_from_thread_safe_reference(fresh, to_gone);
    realm_list_t* no_list = realm_list_from_thread_safe_reference(fresh, to_gone_list);
    realm_results_t* no_values = realm_results_from_thread_safe_reference(fresh, to_gone_values);
    bool valid = true;
    CHECK(no_object && !realm_object_is_valid(no_object) && no_list && !realm_list_is_valid(no_list));
    CHECK(no_values && realm_results_is_valid(no_values, &valid) && !valid);

    section = "references and frozen realms";
    realm_t* f = realm_freeze(r);
    realm_object_t *frozen = object(f, 0), *in_frozen = realm_object_from_thread_safe_reference(f, to_o);
    realm_thread_safe_reference_t *of_frozen = realm_create_thread_safe_reference(frozen), *to_f = realm_create_thread_safe_reference(f);
    CHECK(in_frozen && realm_is_frozen(in_frozen) && number(in_frozen) == number(frozen));
    set_number(r, 0, 60);
    realm_object_t* live = realm_object_from_thread_safe_reference(r, of_frozen);
    CHECK(live && number(live) == 60 && !realm_is_frozen(live));
    realm_t* same = realm_from_thread_safe_reference(to_f, NULL);
    CHECK(same && realm_equals(same, f) && number(frozen) == 31);

    const void* handles[] = {same, live, to_f, of_frozen, in_frozen, frozen, f, no_values, no_list, no_object, to_gone_values, to_gone_list, to_gone,
                             gone_values, gone_list, gone, elsewhere, config, list, nobody, another, to_undone, undone, also, idle, now, not_yet, early,
                             its_results, its_links, added, fresh, to_map, to_set, to_list, to_o, values, some, map, set, ints, o, r};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release((void*)handles[i]);
}

/* A realm is moved to another thread, and back. */
static struct {
    realm_thread_safe_reference_t *there, *back;
    realm_object_t* object;
} transit;

static void* take_over(void* arg) {
    (void)arg;
    realm_value_t v;
    expect(!realm_get_value(transit.object, p_n, &v) && last_error() == RLM_ERR_WRONG_THREAD);
    realm_t* r = realm_from_thread_safe_reference(transit.there, NULL);
    expect(r != NULL);
    expect(!realm_from_thread_safe_reference(transit.there, NULL) && last_error() == RLM_ERR_ILLEGAL_OPERATION);
    realm_object_t* o = object(r, 1);
    expect(o && number(o) == 1 && number(transit.object) == 1);
    for (int i = 0; i < 50; i++) expect(realm_begin_write(r) && realm_set_value(o, p_n, integer(i), false) && realm_commit(r));
    transit.back = realm_create_thread_safe_reference(r);
    /* Until another thread resolves the reference, the realm still belongs to this thread. */
    expect(number(transit.object) == 49);
    realm_release(o), realm_release(r);
    return NULL;
}
static void* take_and_keep(void* arg) {
    realm_t* r = realm_from_thread_safe_reference((realm_thread_safe_reference_t*)arg, NULL);
    expect(r && number(transit.object) == 49);
    realm_release(r);
    return NULL;
}
static realm_thread_safe_reference_t* made_elsewhere;
static void* refer_from_elsewhere(void* arg) {
    made_elsewhere = realm_create_thread_safe_reference(arg);
    return NULL;
}
static void realms_in_transit(void) {
    section = "a realm goes to another thread";
    realm_t* r = filled("transit", 10);
    transit.object = object(r, 1);
    transit.there = realm_create_thread_safe_reference(r);
    CHECK(transit.there && number(transit.object) == 1);
    pthread_t thread;
    pthread_create(&thread, NULL, take_over, NULL);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&wrong) == 0);
    realm_value_t v;
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_value(transit.object, p_n, &v));
    FAILS(RLM_ERR_WRONG_THREAD, realm_begin_read(r));
    realm_t* back = realm_from_thread_safe_reference(transit.back, NULL);
    CHECK(back && realm_equals(back, r) && number(transit.object) == 49);
    set_number(r, 1, 49);

    section = "a reference that another thread made";
    pthread_create(&thread, NULL, refer_from_elsewhere, r);
    pthread_join(thread, NULL);
    CHECK(made_elsewhere && number(transit.object) == 49);
    pthread_create(&thread, NULL, take_and_keep, made_elsewhere);
    pthread_join(thread, NULL);
    CHECK(atomic_load(&wrong) == 0);
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_value(transit.object, p_n, &v));
    CHECK(realm_close(r) && realm_is_closed(r));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(transit.object, p_n, &v));

    section = "the cached realm of the thread comes first";
    realm_t* cached = open_as("cached transit", true);
    realm_thread_safe_reference_t* reference = realm_create_thread_safe_reference(cached);
    realm_t* same = realm_from_thread_safe_reference(reference, NULL);
    CHECK(same && realm_equals(same, cached) && realm_begin_read(cached));

    const void* handles[] = {same, reference, cached, made_elsewhere, back, transit.back, transit.there, transit.object, r};
    for (size_t i = 0; i < sizeof handles / sizeof *handles; i++) realm_release((void*)handles[i]);
}

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 2) rounds = atoi(argv[2]);
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    stays();
    instances();
    in_a_write();
    resolving();
    limits();
    many_threads();
    closing();
    references();
    realms_in_transit();
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) printf("cannot remove %s\n", folder);
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed != 0;
}
