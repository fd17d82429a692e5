/*
 * Simple use of the C API, as in a first program. Goal: values of all types come back as they were written, also after
 * the file was opened again and in a second instance; links, deletion, look-ups, results, callbacks and configs behave
 * as the header says. Method: one scenario per section, each with its own file.
 *
 *     basic_test
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

/* ---- Checking --------------------------------------------------------------------------------- */



/* ---- Values ----------------------------------------------------------------------------------- */

static realm_value_t decimal(uint64_t high, uint64_t low) { realm_value_t v = of_type(RLM_TYPE_DECIMAL128); v.decimal128.w[1] = high; v.decimal128.w[0] = low; return v; }
static realm_value_t object_id(uint8_t first) { realm_value_t v = of_type(RLM_TYPE_OBJECT_ID); for (int i = 0; i < 12; i++) v.object_id.bytes[i] = (uint8_t)(first + i * 17); return v; }
static realm_value_t uuid(uint8_t first) { realm_value_t v = of_type(RLM_TYPE_UUID); for (int i = 0; i < 16; i++) v.uuid.bytes[i] = (uint8_t)(first + i * 13); return v; }

static bool same(realm_value_t a, realm_value_t b) {
    if (a.type != b.type) return false;
    switch (a.type) {
        case RLM_TYPE_INT: return a.integer == b.integer;
        case RLM_TYPE_BOOL: return a.boolean == b.boolean;
        case RLM_TYPE_STRING:
        case RLM_TYPE_BINARY:
            return a.string.size == b.string.size && a.string.data && b.string.data && !memcmp(a.string.data, b.string.data, a.string.size);
        case RLM_TYPE_TIMESTAMP: return a.timestamp.seconds == b.timestamp.seconds && a.timestamp.nanoseconds == b.timestamp.nanoseconds;
        case RLM_TYPE_FLOAT: return !memcmp(&a.fnum, &b.fnum, sizeof a.fnum);
        case RLM_TYPE_DOUBLE: return !memcmp(&a.dnum, &b.dnum, sizeof a.dnum);
        case RLM_TYPE_DECIMAL128: return a.decimal128.w[0] == b.decimal128.w[0] && a.decimal128.w[1] == b.decimal128.w[1];
        case RLM_TYPE_OBJECT_ID: return !memcmp(a.object_id.bytes, b.object_id.bytes, 12);
        case RLM_TYPE_UUID: return !memcmp(a.uuid.bytes, b.uuid.bytes, 16);
        case RLM_TYPE_LINK: return a.link.target_table == b.link.target_table && a.link.target == b.link.target;
        default: return true;
    }
}

/* ---- Schema and files --------------------------------------------------------------------------- */

#define NONE RLM_COLLECTION_TYPE_NONE
enum { COUNT = 22 };
/* Pairs: required and nullable property of each type; then Mixed and a link. */
static const struct { const char* name; realm_property_type_e type; } kinds[] = {
    {"i", RLM_PROPERTY_TYPE_INT}, {"b", RLM_PROPERTY_TYPE_BOOL}, {"s", RLM_PROPERTY_TYPE_STRING}, {"d", RLM_PROPERTY_TYPE_BINARY},
    {"t", RLM_PROPERTY_TYPE_TIMESTAMP}, {"f", RLM_PROPERTY_TYPE_FLOAT}, {"g", RLM_PROPERTY_TYPE_DOUBLE},
    {"c", RLM_PROPERTY_TYPE_DECIMAL128}, {"o", RLM_PROPERTY_TYPE_OBJECT_ID}, {"u", RLM_PROPERTY_TYPE_UUID}};

static realm_schema_t* schema(void) {
    static char names[20][8];
    realm_property_info_t all[COUNT], node[6], keyed[1];
    for (int k = 0; k < 10; k++)
        for (int n = 0; n < 2; n++) {
            snprintf(names[2 * k + n], sizeof names[0], "%s%s", kinds[k].name, n ? "_n" : "");
            all[2 * k + n] = property(names[2 * k + n], kinds[k].type, NONE, "", n ? RLM_PROPERTY_NULLABLE : 0);
        }
    all[20] = property("m", RLM_PROPERTY_TYPE_MIXED, NONE, "", RLM_PROPERTY_NULLABLE);
    all[21] = property("to", RLM_PROPERTY_TYPE_OBJECT, NONE, "Node", RLM_PROPERTY_NULLABLE);
    node[0] = property("name", RLM_PROPERTY_TYPE_STRING, NONE, "", RLM_PROPERTY_INDEXED);
    node[1] = property("next", RLM_PROPERTY_TYPE_OBJECT, NONE, "Node", RLM_PROPERTY_NULLABLE);
    node[2] = property("numbers", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", 0);
    node[3] = property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_SET, "", 0);
    node[4] = property("map", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_DICTIONARY, "", RLM_PROPERTY_NULLABLE);
    node[5] = property("sources", RLM_PROPERTY_TYPE_LINKING_OBJECTS, RLM_COLLECTION_TYPE_LIST, "Node", 0);
    node[5].link_origin_property_name = "next";
    realm_property_info_t ints = property("id", RLM_PROPERTY_TYPE_INT, NONE, "", RLM_PROPERTY_PRIMARY_KEY);
    realm_property_info_t texts = property("id", RLM_PROPERTY_TYPE_STRING, NONE, "", RLM_PROPERTY_PRIMARY_KEY | RLM_PROPERTY_NULLABLE);
    realm_property_info_t oids = property("id", RLM_PROPERTY_TYPE_OBJECT_ID, NONE, "", RLM_PROPERTY_PRIMARY_KEY);
    keyed[0] = property("id", RLM_PROPERTY_TYPE_UUID, NONE, "", RLM_PROPERTY_PRIMARY_KEY);
    realm_class_info_t classes[] = {class_info("All", "", COUNT, 0, 0), class_info("Node", "", 5, 1, 0), class_info("KeyInt", "id", 1, 0, 0),
                                    class_info("KeyText", "id", 1, 0, 0), class_info("KeyOid", "id", 1, 0, 0), class_info("KeyUuid", "id", 1, 0, 0)};
    const realm_property_info_t* properties[] = {all, node, &ints, &texts, &oids, keyed};
    return realm_schema_new(classes, 6, properties);
}

static char folder[] = "/tmp/basic-XXXXXX";
static realm_config_t* config_for(const char* name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_config_t* c = realm_config_new();
    realm_schema_t* s = schema();
    realm_config_set_path(c, path);
    realm_config_set_schema(c, s);
    realm_config_set_schema_version(c, 1);
    realm_config_set_automatic_change_notifications(c, false);
    realm_release(s);
    return c;
}
static realm_t* open_file(const char* name) {
    realm_config_t* c = config_for(name);
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!CHECK(r != NULL)) exit(1);
    return r;
}
static void close_file(realm_t* r) {
    CHECK(realm_close(r));
    realm_release(r);
}
static realm_class_key_t class_key(const realm_t* r, const char* name) {
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    CHECK(realm_find_class(r, name, &found, &info) && found && !strcmp(info.name, name));
    return info.key;
}
static realm_property_key_t key(const realm_t* r, const char* class_name, const char* name) {
    bool found = false;
    realm_property_info_t info;
    memset(&info, 0, sizeof info);
    CHECK(realm_find_property(r, class_key(r, class_name), name, &found, &info) && found);
    return info.key;
}
static bool reads(const realm_object_t* o, realm_property_key_t k, realm_value_t wanted) {
    realm_value_t v;
    return realm_get_value(o, k, &v) && same(v, wanted);
}
static size_t count_of(const realm_t* r, const char* name) {
    size_t n = SIZE_MAX;
    CHECK(realm_get_num_objects(r, class_key(r, name), &n));
    return n;
}

/* ---- Values of all types ------------------------------------------------------------------------ */

/* For each type of `kinds`: edge cases of its values. */
static size_t samples(int kind, realm_value_t* out) {
    static char long_text[5000];
    memset(long_text, 'z', sizeof long_text);
    size_t n = 0;
    switch (kind) {
        case 0: {
            static const int64_t values[] = {0, 1, -1, 2, 3, 4, 15, 16, 127, 128, -128, -129, 32767, 32768, -32768, -32769, INT32_MAX, (int64_t)INT32_MAX + 1, INT32_MIN, (int64_t)INT32_MIN - 1, INT64_MAX, INT64_MIN};
            for (size_t i = 0; i < sizeof values / sizeof *values; i++) out[n++] = integer(values[i]);
            break;
        }
        case 1: out[n++] = boolean(false), out[n++] = boolean(true); break;
        case 2:
        case 3: {
            static const size_t sizes[] = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 63, 64, 65, 255, 256, 4000, 5000};
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) out[n++] = kind == 2 ? text_of(long_text, sizes[i]) : bytes(long_text, sizes[i]);
            if (kind == 2) out[n++] = text("Gr\xc3\xbc\xc3\x9f" "e \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80"), out[n++] = text_of("a\0b\0", 4);
            else out[n++] = bytes("\0\1\377\200", 4);
            break;
        }
        case 4:
            out[n++] = moment(0, 0), out[n++] = moment(1, 999999999), out[n++] = moment(-1, -999999999), out[n++] = moment(0, -1);
            out[n++] = moment(INT64_MAX, 0), out[n++] = moment(INT64_MIN, 0), out[n++] = moment(1700000000, 123456789);
            break;
        case 5:
            out[n++] = single(0), out[n++] = single(-0.0f), out[n++] = single(1.5f), out[n++] = single(FLT_MAX), out[n++] = single(-FLT_MIN);
            out[n++] = single(INFINITY), out[n++] = single(-INFINITY), out[n++] = single(NAN);
            break;
        case 6:
            out[n++] = real(0), out[n++] = real(-0.0), out[n++] = real(1.1), out[n++] = real(DBL_MAX), out[n++] = real(-DBL_MIN);
            out[n++] = real(INFINITY), out[n++] = real(-INFINITY), out[n++] = real(NAN), out[n++] = real(5e-324);
            break;
        case 7: /* 0, 1, -1, 1.50, the largest, infinity */
            out[n++] = decimal(0x3040000000000000u, 0), out[n++] = decimal(0x3040000000000000u, 1), out[n++] = decimal(0xb040000000000000u, 1);
            out[n++] = decimal(0x303c000000000000u, 150), out[n++] = decimal(0x5fffed09bead87c0u, 0x378d8e63ffffffffu), out[n++] = decimal(0x7800000000000000u, 0);
            break;
        case 8: out[n++] = of_type(RLM_TYPE_OBJECT_ID), out[n++] = object_id(1), out[n++] = object_id(255); break;
        default: out[n++] = of_type(RLM_TYPE_UUID), out[n++] = uuid(1), out[n++] = uuid(200); break;
    }
    return n;
}
static void values(void) {
    section = "values";
    enum { MOST = 32, ROWS = 40 };
    realm_value_t wanted[10][MOST];
    size_t counts[10];
    for (int k = 0; k < 10; k++) counts[k] = samples(k, wanted[k]);
    realm_t* r = open_file("values");
    realm_class_key_t all = class_key(r, "All");
    realm_property_key_t keys[COUNT];
    size_t n = 0;
    CHECK(realm_get_property_keys(r, all, keys, COUNT, &n) && n == COUNT);

    /* Defaults. */
    CHECK(realm_begin_write(r));
    realm_object_t* fresh = realm_object_create(r, all);
    CHECK(fresh && realm_object_is_valid(fresh));
    realm_value_t zeroes[10] = {integer(0), boolean(false), text(""), bytes("", 0), moment(0, 0), single(0), real(0),
                                decimal(0x3040000000000000u, 0), of_type(RLM_TYPE_OBJECT_ID), of_type(RLM_TYPE_UUID)};
    for (int k = 0; k < 10; k++) {
        CHECK(reads(fresh, keys[2 * k], zeroes[k]));
        CHECK(reads(fresh, keys[2 * k + 1], null_value()));
    }
    CHECK(reads(fresh, keys[20], null_value()) && reads(fresh, keys[21], null_value()));
    realm_clear_last_error();
    CHECK(realm_get_linked_object(fresh, keys[21]) == NULL && !realm_get_last_error(NULL));
    CHECK(realm_object_delete(fresh));
    realm_release(fresh);

    /* One object per sample; the nullable property alternates between null and the value. */
    realm_object_key_t rows[ROWS];
    for (size_t row = 0; row < ROWS; row++) {
        realm_object_t* o = realm_object_create(r, all);
        rows[row] = realm_object_get_key(o);
        for (int k = 0; k < 10; k++) {
            realm_value_t v = wanted[k][row % counts[k]];
            CHECK(realm_set_value(o, keys[2 * k], v, false) && reads(o, keys[2 * k], v));
            CHECK(realm_set_value(o, keys[2 * k + 1], v, false) && reads(o, keys[2 * k + 1], v));
            if (row % 3 == 0) CHECK(realm_set_value(o, keys[2 * k + 1], null_value(), false));
        }
        realm_value_t v = wanted[row % 10][row % counts[row % 10]];
        CHECK(realm_set_value(o, keys[20], v, false) && reads(o, keys[20], v));
        realm_release(o);
    }
    CHECK(realm_commit(r));
    /* The values are the same at once, in a second instance, and after a new open. */
    for (int round = 0; round < 3; round++) {
        if (round == 2) {
            close_file(r);
            r = open_file("values");
        }
        realm_t* reader = round == 1 ? open_file("values") : r;
        for (size_t row = 0; row < ROWS; row++) {
            realm_object_t* o = realm_get_object(reader, all, rows[row]);
            if (!CHECK(o != NULL)) continue;
            for (int k = 0; k < 10; k++) {
                realm_value_t v = wanted[k][row % counts[k]];
                CHECK(reads(o, keys[2 * k], v));
                CHECK(reads(o, keys[2 * k + 1], row % 3 == 0 ? null_value() : v));
            }
            CHECK(reads(o, keys[20], wanted[row % 10][row % counts[row % 10]]));
            realm_value_t several[COUNT], one;
            CHECK(realm_get_values(o, COUNT, keys, several));
            for (size_t p = 0; p < COUNT; p++) {
                CHECK(reads(o, keys[p], several[p]));
                CHECK(realm_get_value_by_property_index(o, p, &one) && same(one, several[p]));
            }
            realm_release(o);
        }
        CHECK(crealm_verify(reader, NULL));
        if (round == 1) close_file(reader);
    }
    /* Several at once; addition. */
    realm_object_t* o = realm_get_object(r, all, rows[0]);
    CHECK(realm_begin_write(r));
    realm_property_key_t three[] = {keys[0], keys[4], keys[20]};
    realm_value_t news[] = {integer(5), text("five"), integer(50)};
    CHECK(realm_set_values(o, 3, three, news, false));
    CHECK(reads(o, keys[0], news[0]) && reads(o, keys[4], news[1]) && reads(o, keys[20], news[2]));
    CHECK(realm_object_add_int(o, keys[0], -7) && reads(o, keys[0], integer(-2)));
    CHECK(realm_object_add_int(o, keys[20], 1) && reads(o, keys[20], integer(51)));
    CHECK(realm_rollback(r));
    CHECK(reads(o, keys[0], wanted[0][0]));
    realm_release(o);
    close_file(r);
}

/* ---- Links, backlinks, deletion ------------------------------------------------------------------- */

static realm_object_t* make_node(realm_t* r, const char* name, const realm_object_t* next) {
    realm_object_t* o = realm_object_create(r, class_key(r, "Node"));
    CHECK(o != NULL);
    CHECK(realm_set_value(o, key(r, "Node", "name"), text(name), false));
    if (next) CHECK(realm_set_value(o, key(r, "Node", "next"), link_to(next), false));
    return o;
}
static size_t rows_of(realm_results_t* results) {
    size_t n = SIZE_MAX;
    CHECK(realm_results_count(results, &n));
    return n;
}
static void links(void) {
    section = "links";
    realm_t* r = open_file("links");
    realm_class_key_t node = class_key(r, "Node");
    realm_property_key_t next = key(r, "Node", "next"), name = key(r, "Node", "name"), to = key(r, "All", "to"), m = key(r, "All", "m");
    CHECK(realm_begin_write(r));
    realm_object_t* hub = make_node(r, "hub", NULL);
    realm_object_t* spokes[5];
    for (int i = 0; i < 5; i++) {
        char text_name[16];
        snprintf(text_name, sizeof text_name, "spoke %d", i);
        spokes[i] = make_node(r, text_name, hub);
    }
    realm_object_t* self = make_node(r, "self", NULL);
    CHECK(realm_set_value(self, next, link_to(self), false));
    realm_object_t* other = realm_object_create(r, class_key(r, "All"));
    CHECK(realm_set_value(other, to, link_to(hub), false));
    CHECK(realm_set_value(other, m, link_to(spokes[0]), false));
    CHECK(realm_commit(r));

    realm_results_t* back = realm_get_backlinks(hub, node, next);
    CHECK(back && rows_of(back) == 5);
    for (size_t i = 0; i < 5; i++) {
        realm_value_t v;
        CHECK(realm_results_get(back, i, &v) && same(v, link_to(spokes[i])));
        realm_object_t* o = realm_results_get_object(back, i);
        CHECK(o && realm_equals(o, spokes[i]));
        realm_release(o);
    }
    realm_results_t* from_all = realm_get_backlinks(hub, class_key(r, "All"), to);
    CHECK(rows_of(from_all) == 1);
    CHECK(!realm_get_backlinks(spokes[0], class_key(r, "All"), m) && last_error() == RLM_ERR_INVALID_PROPERTY);
    realm_object_t* linked = realm_get_linked_object(other, to);
    CHECK(linked && realm_equals(linked, hub));
    realm_release(linked);

    /* Links change: backlinks follow. */
    CHECK(realm_begin_write(r));
    CHECK(realm_set_value(spokes[1], next, link_to(self), false));
    CHECK(realm_set_value(spokes[2], next, null_value(), false));
    CHECK(rows_of(back) == 3);
    CHECK(realm_set_value(spokes[1], next, link_to(hub), false)); /* set again at the end */
    CHECK(rows_of(back) == 4);
    CHECK(realm_rollback(r));
    CHECK(rows_of(back) == 5);

    /* The target is deleted: links to it become null. */
    CHECK(realm_begin_write(r));
    CHECK(realm_object_delete(hub));
    CHECK(!realm_object_is_valid(hub));
    for (int i = 0; i < 5; i++) CHECK(reads(spokes[i], next, null_value()));
    CHECK(reads(other, to, null_value()));
    CHECK(rows_of(back) == 0);
    CHECK(realm_object_delete(spokes[0]));
    CHECK(reads(other, m, null_value()));
    CHECK(realm_object_delete(self));
    CHECK(count_of(r, "Node") == 4);
    CHECK(realm_commit(r));
    bool valid = false;
    CHECK(realm_results_is_valid(back, &valid) && valid && rows_of(back) == 0);
    CHECK(reads(spokes[3], name, text("spoke 3")));
    CHECK(crealm_verify(r, NULL));

    /* Collections of a new object are empty, and follow their owner. */
    realm_list_t* numbers = realm_get_list(spokes[3], key(r, "Node", "numbers"));
    realm_set_t* words = realm_get_set(spokes[3], key(r, "Node", "words"));
    realm_dictionary_t* map = realm_get_dictionary(spokes[3], key(r, "Node", "map"));
    size_t a = 9, b = 9, c = 9, at = 0;
    CHECK(realm_list_is_valid(numbers) && realm_set_is_valid(words) && realm_dictionary_is_valid(map));
    CHECK(realm_list_size(numbers, &a) && realm_set_size(words, &b) && realm_dictionary_size(map, &c) && a == 0 && b == 0 && c == 0);
    bool found = true;
    CHECK(realm_dictionary_contains_key(map, text("k"), &found) && !found);
    CHECK(realm_dictionary_contains_value(map, integer(1), &at) && at == SIZE_MAX);
    realm_property_info_t info;
    CHECK(realm_list_get_property(numbers, &info) && !strcmp(info.name, "numbers") && info.collection_type == RLM_COLLECTION_TYPE_LIST);
    CHECK(realm_set_get_property(words, &info) && !strcmp(info.name, "words") && info.collection_type == RLM_COLLECTION_TYPE_SET);
    CHECK(realm_dictionary_get_property(map, &info) && !strcmp(info.name, "map") && info.type == RLM_PROPERTY_TYPE_MIXED);
    realm_list_t* twin = (realm_list_t*)realm_clone(numbers);
    CHECK(twin && realm_equals(twin, numbers) && !realm_equals(twin, words));
    CHECK(realm_begin_write(r));
    CHECK(realm_object_delete(spokes[3]));
    CHECK(!realm_list_is_valid(numbers) && !realm_set_is_valid(words) && !realm_dictionary_is_valid(map) && !realm_list_is_valid(twin));
    CHECK(realm_rollback(r));
    CHECK(realm_list_is_valid(numbers) && realm_set_is_valid(words) && realm_dictionary_is_valid(map) && realm_list_is_valid(twin));
    realm_release(twin), realm_release(numbers), realm_release(words), realm_release(map);

    realm_release(back), realm_release(from_all), realm_release(hub), realm_release(self), realm_release(other);
    for (int i = 0; i < 5; i++) realm_release(spokes[i]);
    close_file(r);
}

/* ---- Primary keys ------------------------------------------------------------------------------- */

static void primary_keys(void) {
    section = "primary keys";
    static const char* const names[] = {"KeyInt", "KeyText", "KeyOid", "KeyUuid"};
    enum { EACH = 300 };
    realm_t* r = open_file("keys");
    static char texts[EACH][24];
    CHECK(realm_begin_write(r));
    for (int round = 0; round < 3; round++) {
        for (int c = 0; c < 4; c++)
            for (int i = 0; i < EACH; i++) {
                realm_value_t k = integer((int64_t)i * 7919 - 1000);
                snprintf(texts[i], sizeof texts[i], "%.*skey %d", i % 9, "prefix-prefix", i);
                if (c == 1) k = i == 0 ? null_value() : i == 1 ? text("") : text(texts[i]);
                if (c == 2) k = object_id((uint8_t)i), k.object_id.bytes[11] = (uint8_t)(i / 256);
                if (c == 3) k = uuid((uint8_t)i), k.uuid.bytes[15] = (uint8_t)(i / 256);
                realm_class_key_t table = class_key(r, names[c]);
                bool flag = round == 0 ? false : true;
                realm_object_t* o;
                if (round == 0) {
                    o = i % 2 ? realm_object_create_with_primary_key(r, table, k) : realm_object_get_or_create_with_primary_key(r, table, k, &flag);
                    CHECK(o && flag == (i % 2 == 0));
                } else {
                    o = realm_object_find_with_primary_key(r, table, k, &flag);
                    bool gone = round == 2 && i % 3 == 0;
                    CHECK((o == NULL) == gone && flag == !gone);
                    if (o && round == 1 && i % 3 == 0) CHECK(realm_object_delete(o));
                }
                if (o && round != 1) CHECK(reads(o, key(r, names[c], "id"), k));
                realm_release(o);
            }
        if (round == 0) {
            CHECK(realm_commit(r));
            close_file(r);
            r = open_file("keys");
            CHECK(realm_begin_write(r));
        }
    }
    for (int c = 0; c < 4; c++) CHECK(count_of(r, names[c]) == EACH - EACH / 3);
    CHECK(realm_commit(r));
    CHECK(crealm_verify(r, NULL));
    close_file(r);
}

/* ---- Results and many objects --------------------------------------------------------------------- */

static void results(void) {
    section = "results";
    enum { MANY = 3000 };
    realm_t* r = open_file("results");
    realm_class_key_t all = class_key(r, "All");
    realm_property_key_t i_key = key(r, "All", "i");
    realm_results_t* rows = realm_object_find_all(r, all);
    CHECK(rows && rows_of(rows) == 0);
    CHECK(realm_begin_write(r));
    for (int i = 0; i < MANY; i++) {
        realm_object_t* o = realm_object_create(r, all);
        realm_set_value(o, i_key, integer(i), false);
        realm_release(o);
    }
    CHECK(rows_of(rows) == MANY); /* live, also while writing */
    CHECK(realm_commit(r));
    CHECK(rows_of(rows) == MANY && count_of(r, "All") == MANY);
    bool ascending = true, right = true;
    realm_object_key_t before = -1;
    for (size_t i = 0; i < MANY; i++) {
        realm_value_t v;
        realm_object_t* o = realm_results_get_object(rows, i);
        ascending = ascending && o && realm_object_get_key(o) > before;
        before = o ? realm_object_get_key(o) : before;
        right = right && o && realm_get_value(o, i_key, &v) && v.integer == (int64_t)i && realm_results_get(rows, i, &v) && same(v, link_to(o));
        realm_release(o);
    }
    CHECK(ascending);
    CHECK(right);
    CHECK(realm_begin_write(r));
    for (size_t i = MANY; i-- > 0;)
        if (i % 3) {
            realm_object_t* o = realm_results_get_object(rows, i);
            right = right && realm_object_delete(o);
            realm_release(o);
        }
    CHECK(right && rows_of(rows) == MANY / 3);
    for (size_t i = 0; i < MANY / 3; i++) {
        realm_value_t v;
        realm_object_t* o = realm_results_get_object(rows, i);
        right = right && o && realm_get_value(o, i_key, &v) && v.integer == (int64_t)(3 * i);
        realm_release(o);
    }
    CHECK(right);
    CHECK(realm_commit(r));
    CHECK(crealm_verify(r, NULL));
    CHECK(realm_begin_write(r));
    while (rows_of(rows) > 0) {
        realm_object_t* o = realm_results_get_object(rows, rows_of(rows) / 2);
        if (!CHECK(realm_object_delete(o))) break;
        realm_release(o);
    }
    CHECK(realm_commit(r));
    CHECK(count_of(r, "All") == 0 && crealm_verify(r, NULL));
    realm_release(rows);
    close_file(r);
}

/* ---- Two instances, versions, callbacks ------------------------------------------------------------- */

static int changes, refreshes, freed;
static void on_change(realm_userdata_t userdata) { ++*(int*)userdata; }
static void on_free(realm_userdata_t userdata) { (void)userdata; freed++; }

static void instances(void) {
    section = "instances";
    realm_t *a = open_file("instances"), *b = open_file("instances");
    CHECK(!realm_equals(a, b));
    bool found = true, moved = false;
    realm_version_id_t before, after;
    CHECK(realm_get_version_id(a, &found, &before) && !found && before.version == 0 && before.index == 0);
    CHECK(realm_begin_read(a) && realm_get_version_id(a, &found, &before) && found && before.version > 0);
    CHECK(realm_refresh(b, &moved) && moved); /* the realm was in no transaction */
    CHECK(realm_refresh(b, &moved) && !moved);
    changes = refreshes = freed = 0;
    realm_callback_token_t* mine = realm_add_realm_changed_callback(a, on_change, &changes, on_free);
    int others = 0;
    realm_callback_token_t* theirs = realm_add_realm_changed_callback(b, on_change, &others, on_free);
    CHECK(mine && theirs);
    realm_clear_last_error();
    CHECK(realm_add_realm_refresh_callback(b, on_change, &refreshes, on_free) == NULL && !realm_get_last_error(NULL) && freed == 1);

    CHECK(realm_begin_write(a) && realm_is_writable(a) && !realm_is_writable(b));
    realm_object_t* o = realm_object_create(a, class_key(a, "All"));
    CHECK(realm_set_value(o, key(a, "All", "s"), text("first"), false));
    CHECK(count_of(b, "All") == 0);
    CHECK(realm_commit(a) && !realm_is_writable(a));
    CHECK(changes == 1 && others == 0);
    CHECK(realm_get_version_id(a, &found, &after) && found && after.version > before.version);
    realm_version_id_t old;
    CHECK(realm_get_version_id(b, &found, &old) && old.version == before.version && count_of(b, "All") == 0);
    uint64_t versions = 0;
    CHECK(realm_get_num_versions(a, &versions) && versions >= 2);
    realm_object_t* resolved = o;
    CHECK(realm_object_resolve_in(o, b, &resolved) && resolved == NULL);
    realm_refresh_callback_token_t* once = realm_add_realm_refresh_callback(b, on_change, &refreshes, on_free);
    CHECK(once != NULL);
    CHECK(realm_refresh(b, &moved) && moved && others == 1 && refreshes == 1);
    CHECK(count_of(b, "All") == 1);
    CHECK(realm_object_resolve_in(o, b, &resolved) && resolved && !realm_equals(o, resolved));
    CHECK(resolved && reads(resolved, key(b, "All", "s"), text("first")));
    CHECK(realm_get_version_id(b, &found, &old) && old.version == after.version);
    realm_release(once);

    /* Beginning a write moves the realm, too; a rollback calls no callback. */
    CHECK(realm_begin_write(a) && realm_set_value(o, key(a, "All", "s"), text("second"), false) && realm_commit(a));
    CHECK(reads(resolved, key(b, "All", "s"), text("first")));
    CHECK(realm_begin_write(b) && others == 2);
    CHECK(reads(resolved, key(b, "All", "s"), text("second")));
    CHECK(realm_set_value(resolved, key(b, "All", "s"), text("third"), false) && realm_rollback(b));
    CHECK(others == 2 && reads(resolved, key(b, "All", "s"), text("second")));
    /* Deleted elsewhere: valid until the next refresh. */
    CHECK(realm_begin_write(a) && realm_object_delete(o) && realm_commit(a));
    CHECK(realm_object_is_valid(resolved) && realm_refresh(b, &moved) && moved && !realm_object_is_valid(resolved));
    int count = changes;
    realm_release(mine);
    CHECK(freed == 3);
    CHECK(realm_begin_write(a) && realm_commit(a) && changes == count);
    realm_release(theirs);
    CHECK(freed == 4 && refreshes == 1);
    realm_release(o), realm_release(resolved);
    close_file(a), close_file(b);

    /* Cached opens share an instance. */
    realm_config_t* c = config_for("cached");
    realm_config_set_cached(c, true);
    a = realm_open(c), b = realm_open(c);
    CHECK(a && b && realm_equals(a, b));
    CHECK(realm_close(a) && realm_is_closed(b));
    realm_release(a), realm_release(b);
    /* In memory: the data is gone after the last close. */
    realm_config_set_cached(c, false);
    char path[200];
    snprintf(path, sizeof path, "%s/memory.realm", folder);
    realm_config_set_path(c, path);
    realm_config_set_in_memory(c, true);
    a = realm_open(c), b = realm_open(c);
    CHECK(a && b);
    CHECK(realm_begin_write(a));
    realm_release(realm_object_create(a, class_key(a, "All")));
    CHECK(realm_commit(a) && realm_refresh(b, NULL) && count_of(b, "All") == 1);
    close_file(a);
    CHECK(count_of(b, "All") == 1);
    close_file(b);
    CHECK(access(path, F_OK) != 0);
    a = realm_open(c);
    CHECK(a && count_of(a, "All") == 0);
    close_file(a);
    realm_release(c);
}

/* ---- Log ---------------------------------------------------------------------------------------- */

static int messages;
static char last_category[64];
static void on_log(realm_userdata_t userdata, const char* category, realm_log_level_e level, const char* message) {
    ++*(int*)userdata;
    snprintf(last_category, sizeof last_category, "%s", category);
    if (!message || !*message || level < RLM_LOG_LEVEL_ALL || level >= RLM_LOG_LEVEL_OFF) messages = -1000000;
}
static void logging(void) {
    section = "logging";
    static const char* const wanted[] = {"Realm", "Realm.App", "Realm.SDK", "Realm.Storage", "Realm.Storage.Notification", "Realm.Storage.Object", "Realm.Storage.Query", "Realm.Storage.Transaction", "Realm.Sync", "Realm.Sync.Client", "Realm.Sync.Client.Changeset", "Realm.Sync.Client.Network", "Realm.Sync.Client.Reset", "Realm.Sync.Client.Session", "Realm.Sync.Server"};
    const char* names[20];
    CHECK(realm_get_category_names(0, NULL) == 15 && realm_get_category_names(20, names) == 15 && realm_get_category_names(4, names) == 4);
    realm_get_category_names(20, names);
    for (int i = 0; i < 15; i++) CHECK(!strcmp(names[i], wanted[i]));
    realm_set_log_level(RLM_LOG_LEVEL_WARNING);
    for (int i = 0; i < 15; i++) CHECK(realm_get_log_level_category(wanted[i]) == RLM_LOG_LEVEL_WARNING);
    CHECK(realm_set_log_level_category("Realm.Storage", RLM_LOG_LEVEL_TRACE) == RLM_LOG_LEVEL_WARNING);
    CHECK(realm_get_log_level_category("Realm.Storage.Query") == RLM_LOG_LEVEL_TRACE && realm_get_log_level_category("Realm") == RLM_LOG_LEVEL_WARNING);
    realm_set_log_level(RLM_LOG_LEVEL_DEBUG);
    realm_set_log_level_category("Realm.Storage.Object", RLM_LOG_LEVEL_OFF);
    freed = messages = 0;
    realm_set_log_callback(on_log, &messages, on_free);
    realm_t* r = open_file("logging");
    CHECK(realm_begin_write(r) && realm_commit(r));
    CHECK(messages == 11);
    CHECK(!strncmp(last_category, "Realm.Storage", 13));
    realm_set_log_level(RLM_LOG_LEVEL_INFO);
    messages = 0;
    CHECK(realm_begin_write(r) && realm_commit(r) && messages == 0);
    close_file(r);
    realm_set_log_level(RLM_LOG_LEVEL_ERROR);
    messages = 0;
    close_file(open_file("logging"));
    CHECK(messages == 0 && freed == 0);
    realm_set_log_callback(NULL, NULL, NULL);
    CHECK(freed == 1);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
}

/* ---- Config, schema, version ---------------------------------------------------------------------- */

static bool init(realm_userdata_t userdata, realm_t* r) {
    ++*(int*)userdata;
    realm_object_t* o = realm_object_create(r, class_key(r, "All"));
    bool good = o && realm_is_writable(r);
    realm_release(o);
    return good;
}
static void configs(void) {
    section = "config";
    realm_config_t* c = realm_config_new();
    uint8_t bytes64[64], got[64];
    for (int i = 0; i < 64; i++) bytes64[i] = (uint8_t)(i * 3);
    CHECK(!strcmp(realm_config_get_path(c), "") && !strcmp(realm_config_get_fifo_path(c), ""));
    CHECK(realm_config_get_schema(c) == NULL && realm_config_get_schema_version(c) == UINT64_MAX);
    CHECK(realm_config_get_schema_mode(c) == RLM_SCHEMA_MODE_AUTOMATIC && realm_config_get_schema_subset_mode(c) == RLM_SCHEMA_SUBSET_MODE_STRICT);
    CHECK(realm_config_get_encryption_key(c, got) == 0 && !realm_config_get_in_memory(c) && !realm_config_get_cached(c));
    CHECK(realm_config_get_automatic_change_notifications(c) && !realm_config_get_disable_format_upgrade(c));
    CHECK(!realm_config_get_force_sync_history(c) && realm_config_get_max_number_of_active_versions(c) == UINT64_MAX);

    realm_config_set_path(c, "/some/where \xc3\xa9.realm");
    CHECK(!strcmp(realm_config_get_path(c), "/some/where \xc3\xa9.realm"));
    realm_config_set_path(c, "");
    CHECK(!strcmp(realm_config_get_path(c), ""));
    realm_config_set_fifo_path(c, "/some/folder/");
    CHECK(!strcmp(realm_config_get_fifo_path(c), "/some/folder/"));
    realm_config_set_schema_version(c, 77);
    CHECK(realm_config_get_schema_version(c) == 77);
    for (int mode = 0; mode < 8; mode++) {
        realm_config_set_schema_mode(c, (realm_schema_mode_e)mode);
        CHECK((int)realm_config_get_schema_mode(c) == mode);
    }
    for (int mode = 0; mode < 4; mode++) {
        realm_config_set_schema_subset_mode(c, (realm_schema_subset_mode_e)mode);
        CHECK((int)realm_config_get_schema_subset_mode(c) == mode);
    }
    CHECK(realm_config_set_encryption_key(c, bytes64, 64) && realm_config_get_encryption_key(c, got) == 64 && !memcmp(got, bytes64, 64));
    CHECK(realm_config_get_encryption_key(c, NULL) == 64);
    CHECK(realm_config_set_encryption_key(c, NULL, 0) && realm_config_get_encryption_key(c, got) == 0);
    for (int on = 1; on >= 0; on--) {
        realm_config_set_in_memory(c, on), realm_config_set_cached(c, on), realm_config_set_automatic_change_notifications(c, on);
        realm_config_set_disable_format_upgrade(c, on), realm_config_set_force_sync_history(c, on), realm_config_set_automatic_backlink_handling(c, on);
        CHECK(realm_config_get_in_memory(c) == (bool)on && realm_config_get_cached(c) == (bool)on);
        CHECK(realm_config_get_automatic_change_notifications(c) == (bool)on && realm_config_get_disable_format_upgrade(c) == (bool)on);
        CHECK(realm_config_get_force_sync_history(c) == (bool)on);
    }
    realm_config_set_max_number_of_active_versions(c, 5);
    CHECK(realm_config_get_max_number_of_active_versions(c) == 5);
    realm_schema_t* s = schema();
    realm_config_set_schema(c, s);
    realm_schema_t* back = realm_config_get_schema(c);
    CHECK(back && realm_equals(back, s));
    realm_release(back);
    realm_config_set_schema(c, NULL);
    CHECK(realm_config_get_schema(c) == NULL);
    /* Userdata is freed with the config, once for each pointer. */
    freed = 0;
    int calls = 0, another = 0;
    realm_config_set_data_initialization_function(c, init, &calls, on_free);
    realm_config_set_data_initialization_function(c, init, &calls, on_free);
    realm_config_set_should_compact_on_launch_function(c, NULL, &another, on_free);
    CHECK(freed == 0);
    realm_release(c);
    CHECK(freed == 2);

    /* The initialization function runs once in the life of a file. */
    c = config_for("init");
    CHECK(realm_get_persisted_schema_version(c) == UINT64_MAX);
    realm_config_set_data_initialization_function(c, init, &calls, NULL);
    for (int i = 0; i < 2; i++) {
        realm_t* r = realm_open(c);
        CHECK(r && calls == 1 && count_of(r, "All") == 1);
        if (i == 1) {
            CHECK(realm_get_schema_version(r) == 1);
            realm_schema_t* live = realm_get_schema(r);
            CHECK(live && realm_equals(live, s));
            realm_schema_t* clone = (realm_schema_t*)realm_clone(live);
            CHECK(clone && realm_equals(clone, live) && realm_schema_validate(clone, RLM_SCHEMA_VALIDATION_BASIC));
            realm_release(clone), realm_release(live);
        }
        close_file(r);
    }
    CHECK(realm_get_persisted_schema_version(c) == 1);

    /* A realm opened without a schema has the schema of the file. */
    realm_config_set_schema(c, NULL);
    realm_config_set_data_initialization_function(c, NULL, NULL, NULL);
    realm_t* r = realm_open(c);
    CHECK(r && realm_get_num_classes(r) == 6 && realm_get_schema_version(r) == 1);
    realm_class_key_t keys[6];
    size_t n = 0;
    CHECK(realm_get_class_keys(r, keys, 6, &n) && n == 6);
    static const char* const sorted[] = {"All", "KeyInt", "KeyOid", "KeyText", "KeyUuid", "Node"};
    for (int i = 0; i < 6; i++) {
        realm_class_info_t info;
        CHECK(realm_get_class(r, keys[i], &info) && !strcmp(info.name, sorted[i]) && info.key == keys[i] && info.flags == 0);
        CHECK(!strcmp(info.primary_key, i > 0 && i < 5 ? "id" : ""));
        realm_property_info_t properties[32], one;
        CHECK(realm_get_class_properties(r, keys[i], properties, 32, &n) && n == info.num_properties + info.num_computed_properties);
        for (size_t p = 0; p < n; p++) CHECK(realm_get_property(r, keys[i], properties[p].key, &one) && !strcmp(one.name, properties[p].name) && one.type == properties[p].type);
        if (i > 0 && i < 5) CHECK(n == 1 && (properties[0].flags & RLM_PROPERTY_PRIMARY_KEY));
    }
    close_file(r);
    bool did = false;
    CHECK(realm_delete_files(realm_config_get_path(c), &did) && did && access(realm_config_get_path(c), F_OK) != 0);
    realm_release(c), realm_release(s);

    CHECK(!strcmp(realm_get_library_version(), RLM_C_API_VERSION) && crealm_abi_version() == CREALM_ABI_VERSION);
    int major = 0, minor = 0, patch = 1;
    const char* extra = NULL;
    realm_get_library_version_numbers(&major, &minor, &patch, &extra);
    CHECK(major == RLM_C_API_VERSION_MAJOR && minor == RLM_C_API_VERSION_MINOR && patch == RLM_C_API_VERSION_PATCH && extra && !*extra);
}

/* ---- Schedulers ----------------------------------------------------------------------------------- */

static bool always(realm_userdata_t userdata) { (void)userdata; return true; }
static bool alike(const realm_userdata_t a, const realm_userdata_t b) { return *(const int*)a == *(const int*)b; }
static void post(realm_userdata_t userdata, realm_work_queue_t* queue) { (void)userdata; realm_scheduler_perform_work(queue); }

static void schedulers(void) {
    section = "schedulers";
    realm_scheduler_t *a = realm_scheduler_make_default(), *b = realm_scheduler_make_default();
    int fd_a = -1, fd_b = -2;
    bool did = true;
    CHECK(a && b && realm_equals(a, b));
    CHECK(crealm_scheduler_get_fd(a, &fd_a) && crealm_scheduler_get_fd(b, &fd_b));
    CHECK(fd_a >= 0 && fd_a == fd_b); /* one descriptor per thread */
    CHECK(crealm_scheduler_run(a, 0, &did) && !did);
    did = true;
    CHECK(crealm_scheduler_run(a, 20, &did) && !did);
    realm_config_t* c = config_for("scheduled");
    realm_config_set_scheduler(c, a);
    realm_release(b);
    realm_t* r = realm_open(c);
    realm_release(a);
    CHECK(r && realm_begin_write(r) && realm_commit(r));
    close_file(r);
    freed = 0;
    int one = 5, two = 5, three = 6;
    realm_scheduler_t* s1 = realm_scheduler_new(&one, on_free, post, always, alike, always);
    realm_scheduler_t* s2 = realm_scheduler_new(&two, on_free, post, always, alike, always);
    realm_scheduler_t* s3 = realm_scheduler_new(&three, on_free, post, always, alike, always);
    realm_scheduler_t* twin = (realm_scheduler_t*)realm_clone(s1);
    CHECK(realm_equals(s1, s2) && !realm_equals(s1, s3) && realm_equals(twin, s1));
    realm_config_set_scheduler(c, s1);
    r = realm_open(c);
    CHECK(r && realm_begin_write(r) && realm_commit(r));
    realm_release(s1), realm_release(twin), realm_release(c);
    CHECK(freed == 0); /* the realm still uses it */
    close_file(r);
    CHECK(freed == 1);
    realm_release(s2), realm_release(s3);
    CHECK(freed == 3);
}

/* ---- Handles -------------------------------------------------------------------------------------- */

static void handles(void) {
    section = "handles";
    realm_t* r = open_file("handles");
    realm_t* twin = (realm_t*)realm_clone(r);
    CHECK(twin && twin != r && realm_equals(twin, r));
    CHECK(realm_begin_write(r) && realm_is_writable(twin));
    realm_object_t* o = realm_object_create(r, class_key(r, "All"));
    realm_object_t* p = realm_object_create(r, class_key(r, "All"));
    CHECK(realm_set_value(o, key(r, "All", "i"), integer(1), false));
    CHECK(realm_commit(twin));
    realm_object_t* again = realm_get_object(r, realm_object_get_table(o), realm_object_get_key(o));
    realm_object_t* clone = (realm_object_t*)realm_clone(o);
    CHECK(again && again != o && realm_equals(again, o) && !realm_equals(o, p) && clone && realm_equals(clone, o));
    realm_release(o);
    CHECK(reads(clone, key(r, "All", "i"), integer(1)) && reads(again, key(r, "All", "i"), integer(1)));
    CHECK(!realm_is_frozen(r) && !realm_is_frozen(clone));
    /* An object keeps its realm open when the realm handles are gone. */
    realm_property_key_t i = key(r, "All", "i");
    realm_release(twin), realm_release(r);
    CHECK(reads(clone, i, integer(1)) && reads(again, i, integer(1)));
    char path[200];
    snprintf(path, sizeof path, "%s/handles.realm", folder);
    CHECK(!realm_delete_files(path, NULL));
    realm_release(again), realm_release(clone), realm_release(p);
    bool did = false;
    CHECK(realm_delete_files(path, &did) && did);
    /* Error handles may be cloned and compared. */
    realm_clear_last_error();
    CHECK(!realm_delete_files(NULL, NULL));
    realm_delete_files(NULL, NULL);
    realm_async_error_t *e = realm_get_last_error_as_async_error(), *f = (realm_async_error_t*)realm_clone(e);
    realm_error_t read;
    memset(&read, 0, sizeof read);
    result(e && f && realm_equals(e, f) && realm_get_async_error(f, &read) && read.error == RLM_ERR_INVALID_ARGUMENT && read.message, __LINE__, "async error");
    result(read.categories == (RLM_ERR_CAT_LOGIC | RLM_ERR_CAT_INVALID_ARG) && !read.path && !read.user_code_error, __LINE__, "its fields");
    realm_release(e);
    result(strlen(read.message) > 0, __LINE__, "its text outlives the first handle");
    realm_release(f);
    CHECK(!realm_clear_last_error());
    /* Very many handles at the same time, released in another order. */
    r = open_file("handles");
    CHECK(realm_begin_write(r));
    enum { MANY = 1000 };
    static realm_object_t* many[MANY];
    for (int n = 0; n < MANY; n++) many[n] = realm_object_create(r, class_key(r, "All"));
    for (int n = 0; n < MANY; n += 2) realm_release(many[n]);
    bool right = true;
    for (int n = 1; n < MANY; n += 2) right = right && realm_set_value(many[n], i, integer(n), false) && reads(many[n], i, integer(n));
    for (int n = 0; n < MANY; n += 2) many[n] = (realm_object_t*)realm_clone(many[n + 1]);
    for (int n = 0; n < MANY; n++) right = right && reads(many[n], i, integer(n | 1));
    for (int n = MANY; n-- > 0;) realm_release(many[n]);
    CHECK(right);
    CHECK(realm_rollback(r));
    close_file(r);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    values();
    links();
    primary_keys();
    results();
    instances();
    configs();
    schedulers();
    handles();
    logging();
    return finished(folder);
}
