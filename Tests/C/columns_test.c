/*
 * Columns of values: Arrow streams and arrays, and pages of rows. Goal: the values are those that realm_get_value() and
 * the collection functions read, of one version, whatever is released, closed or written meanwhile, and for every valid
 * argument.
 *
 *     columns_test [FIXTURES [ROUNDS [SEED]]]
 *
 * ROUNDS: number of random databases that are compared value by value (8).
 */

#include <crealm.h>

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { ONE = RLM_COLLECTION_TYPE_NONE, LIST = RLM_COLLECTION_TYPE_LIST, SET = RLM_COLLECTION_TYPE_SET, MAP = RLM_COLLECTION_TYPE_DICTIONARY };
enum { NULLABLE = RLM_PROPERTY_NULLABLE, NORMAL = RLM_PROPERTY_NORMAL };

static char folder[] = "/tmp/columns-XXXXXX";
static uint64_t state = 1;
static uint64_t random_word(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state * 0x2545F4914F6CDD1D;
}
static size_t below(size_t n) { return (size_t)(random_word() >> 33) % n; }

/* ---- A database with every type ------------------------------------------------------------------ */

static const int types[] = {RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_TYPE_BOOL, RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_TYPE_BINARY, RLM_PROPERTY_TYPE_TIMESTAMP,
                            RLM_PROPERTY_TYPE_FLOAT, RLM_PROPERTY_TYPE_DOUBLE, RLM_PROPERTY_TYPE_DECIMAL128, RLM_PROPERTY_TYPE_OBJECT_ID,
                            RLM_PROPERTY_TYPE_UUID, RLM_PROPERTY_TYPE_OBJECT, RLM_PROPERTY_TYPE_MIXED};
enum { TYPES = sizeof types / sizeof *types, FORMS = 5, COLUMNS = TYPES * FORMS };
/* Column f * TYPES + t: type t as value, optional value, list, set, dictionary. Links and Mixed are always optional;
   sets of embedded objects do not exist. */
static char names[COLUMNS][8];
static realm_class_key_t thing, part;
static realm_property_key_t keys[COLUMNS], part_key, parts_key, size_key, title_key;
static realm_schema_t* schema;

static realm_schema_t* make_schema(void) {
    static realm_property_info_t p[COLUMNS + 2], q[2];
    for (int f = 0; f < FORMS; f++)
        for (int t = 0; t < TYPES; t++) {
            int i = f * TYPES + t, collection = f == 2 ? LIST : f == 3 ? SET : f == 4 ? MAP : ONE;
            bool is_link = types[t] == RLM_PROPERTY_TYPE_OBJECT, is_mixed = types[t] == RLM_PROPERTY_TYPE_MIXED;
            snprintf(names[i], sizeof names[i], "c%d", i);
            int flags = f == 1 || is_mixed || (is_link && collection != LIST && collection != SET) ? NULLABLE : NORMAL;
            p[i] = property(names[i], types[t], collection, is_link ? "Thing" : "", flags);
        }
    p[COLUMNS] = property("part", RLM_PROPERTY_TYPE_OBJECT, ONE, "Part", NULLABLE);
    p[COLUMNS + 1] = property("parts", RLM_PROPERTY_TYPE_OBJECT, LIST, "Part", NORMAL);
    q[0] = property("size", RLM_PROPERTY_TYPE_INT, ONE, "", NULLABLE);
    q[1] = property("title", RLM_PROPERTY_TYPE_STRING, ONE, "", NORMAL);
    realm_class_info_t classes[] = {class_info("Thing", "", COLUMNS + 2, 0, RLM_CLASS_NORMAL), class_info("Part", "", 2, 0, RLM_CLASS_EMBEDDED)};
    const realm_property_info_t* properties[] = {p, q};
    return realm_schema_new(classes, 2, properties);
}
static realm_t* open_file(const char* name, bool in_memory) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_config_set_in_memory(config, in_memory);
    realm_t* realm = realm_open(config);
    realm_release(config);
    if (!CHECK(realm)) give_up();
    return realm;
}
static realm_property_key_t key_of(realm_t* realm, realm_class_key_t in, const char* name) {
    realm_property_info_t info;
    bool found = false;
    return realm_find_property(realm, in, name, &found, &info) && found ? info.key : RLM_INVALID_PROPERTY_KEY;
}
static void look_up(realm_t* realm) {
    realm_class_info_t info;
    bool found = false;
    if (!CHECK(realm_find_class(realm, "Thing", &found, &info) && found)) give_up();
    thing = info.key;
    if (!CHECK(realm_find_class(realm, "Part", &found, &info) && found)) give_up();
    part = info.key;
    for (int i = 0; i < COLUMNS; i++) keys[i] = key_of(realm, thing, names[i]);
    part_key = key_of(realm, thing, "part"), parts_key = key_of(realm, thing, "parts");
    size_key = key_of(realm, part, "size"), title_key = key_of(realm, part, "title");
}

/* ---- Random values ------------------------------------------------------------------------------- */

/* Texts and bytes of all lengths that leaves store in different ways. */
static char letters[300];
static realm_value_t random_value(int type, realm_class_key_t target_class, size_t objects, const realm_object_key_t* objects_keys) {
    realm_value_t v;
    size_t n = below(10) == 0 ? below(sizeof letters) : below(20);
    switch (type) {
    case RLM_PROPERTY_TYPE_INT: {
        static const int widths[] = {0, 1, 3, 7, 12, 25, 50, 63};
        int64_t i = (int64_t)(random_word() & (((uint64_t)1 << widths[below(8)]) - 1));
        return integer(below(2) ? i : -i);
    }
    case RLM_PROPERTY_TYPE_BOOL: return boolean(below(2));
    case RLM_PROPERTY_TYPE_STRING: return text_of(letters + below(sizeof letters - n), n);
    case RLM_PROPERTY_TYPE_BINARY: return bytes(letters + below(sizeof letters - n), n);
    case RLM_PROPERTY_TYPE_TIMESTAMP: {
        int64_t seconds = (int64_t)(random_word() % 9000000000u);
        int32_t rest = (int32_t)below(1000000000);
        return below(2) ? moment(seconds, rest) : moment(-seconds, -rest);
    }
    case RLM_PROPERTY_TYPE_FLOAT: return single((float)(int64_t)below(1 << 20) / 8);
    case RLM_PROPERTY_TYPE_DOUBLE: return real((double)(int64_t)random_word() / 3);
    case RLM_PROPERTY_TYPE_DECIMAL128:
        v = of_type(RLM_TYPE_DECIMAL128);
        v.decimal128.w[0] = below(3) ? below(1000) : random_word();
        v.decimal128.w[1] = 0x3040000000000000 + (below(2) ? below(100) : 0);
        return v;
    case RLM_PROPERTY_TYPE_OBJECT_ID:
        v = of_type(RLM_TYPE_OBJECT_ID);
        for (int i = 0; i < 12; i++) v.object_id.bytes[i] = (uint8_t)random_word();
        return v;
    case RLM_PROPERTY_TYPE_UUID:
        v = of_type(RLM_TYPE_UUID);
        for (int i = 0; i < 16; i++) v.uuid.bytes[i] = (uint8_t)random_word();
        return v;
    case RLM_PROPERTY_TYPE_OBJECT: return link_by_keys(target_class, objects_keys[below(objects)]);
    /* Of Mixed values only those whose JSON this test can compare easily. */
    default: return below(2) ? integer((int64_t)below(1000)) : below(2) ? null_value() : boolean(below(2));
    }
}
static void fill(realm_t* realm, size_t count) {
    realm_object_key_t* made = (realm_object_key_t*)calloc(count, sizeof *made);
    CHECK(realm_begin_write(realm));
    bool good = true;
    for (size_t i = 0; i < count; i++) {
        realm_object_t* o = realm_object_create(realm, thing);
        made[i] = realm_object_get_key(o);
        realm_release(o);
    }
    for (size_t i = 0; i < count; i++) {
        realm_object_t* o = realm_get_object(realm, thing, made[i]);
        for (int t = 0; t < TYPES; t++) {
            good = good && realm_set_value(o, keys[t], random_value(types[t], thing, count, made), false);
            if (below(3)) good = good && realm_set_value(o, keys[TYPES + t], random_value(types[t], thing, count, made), false);
            realm_list_t* l = realm_get_list(o, keys[2 * TYPES + t]);
            realm_set_t* s = realm_get_set(o, keys[3 * TYPES + t]);
            realm_dictionary_t* d = realm_get_dictionary(o, keys[4 * TYPES + t]);
            for (size_t n = below(3) ? 0 : below(5); n > 0; n--) {
                char name[4] = {(char)('a' + below(20)), 0};
                good = good && realm_list_insert(l, 0, random_value(types[t], thing, count, made)) &&
                       realm_set_insert(s, random_value(types[t], thing, count, made), NULL, NULL) &&
                       realm_dictionary_insert(d, text(name), random_value(types[t], thing, count, made), NULL, NULL);
            }
            realm_release(l), realm_release(s), realm_release(d);
        }
        if (below(2)) {
            realm_object_t* p = realm_set_embedded(o, part_key);
            good = good && realm_set_value(p, title_key, text("title"), false) && (below(2) || realm_set_value(p, size_key, integer((int64_t)i), false));
            realm_release(p);
        }
        realm_list_t* l = realm_get_list(o, parts_key);
        for (size_t n = below(3); n > 0; n--) {
            realm_object_t* p = realm_list_insert_embedded(l, 0);
            good = good && realm_set_value(p, size_key, integer((int64_t)n), false);
            realm_release(p);
        }
        realm_release(l), realm_release(o);
    }
    CHECK(good);
    /* Deletes some objects, so that keys and positions differ. */
    for (size_t i = 0; i < count; i++) {
        if (below(7) != 0) continue;
        realm_object_t* o = realm_get_object(realm, thing, made[i]);
        good = good && realm_object_delete(o);
        realm_release(o);
    }
    CHECK(good && realm_commit(realm));
    free(made);
}

/* ---- Reading arrays ------------------------------------------------------------------------------ */

static bool bit(const void* bits, int64_t i) { return ((const uint8_t*)bits)[i >> 3] >> (i & 7) & 1; }
static bool is_null(const struct ArrowArray* a, int64_t i) { return a->null_count != 0 && a->buffers[0] && !bit(a->buffers[0], i); }
static int32_t offset(const struct ArrowArray* a, int64_t i) { return ((const int32_t*)a->buffers[1])[i]; }

/* Whether element i of an array is the value, compared by Realm's types. */
static bool is_value(const struct ArrowSchema* type, const struct ArrowArray* a, int64_t i, realm_value_t v) {
    if (is_null(a, i)) return v.type == RLM_TYPE_NULL;
    const char* f = type->format;
    const void* values = a->buffers[1];
    switch (v.type) {
    case RLM_TYPE_INT: return !strcmp(f, "l") && ((const int64_t*)values)[i] == v.integer;
    case RLM_TYPE_LINK: return !strcmp(f, "l") && ((const int64_t*)values)[i] == v.link.target;
    case RLM_TYPE_BOOL: return !strcmp(f, "b") && bit(values, i) == v.boolean;
    case RLM_TYPE_FLOAT: return !strcmp(f, "f") && ((const float*)values)[i] == v.fnum;
    case RLM_TYPE_DOUBLE: return !strcmp(f, "g") && ((const double*)values)[i] == v.dnum;
    case RLM_TYPE_TIMESTAMP:
        return !strcmp(f, "tsn:UTC") && ((const int64_t*)values)[i] == v.timestamp.seconds * 1000000000 + v.timestamp.nanoseconds;
    case RLM_TYPE_DECIMAL128: return !strcmp(f, "w:16") && !memcmp((const char*)values + 16 * i, v.decimal128.w, 16);
    case RLM_TYPE_OBJECT_ID: return !strcmp(f, "w:12") && !memcmp((const char*)values + 12 * i, v.object_id.bytes, 12);
    case RLM_TYPE_UUID: return !strcmp(f, "w:16") && !memcmp((const char*)values + 16 * i, v.uuid.bytes, 16);
    case RLM_TYPE_STRING:
    case RLM_TYPE_BINARY: {
        size_t n = v.type == RLM_TYPE_STRING ? v.string.size : v.binary.size, start = (size_t)offset(a, i), end = (size_t)offset(a, i + 1);
        const void* p = v.type == RLM_TYPE_STRING ? (const void*)v.string.data : v.binary.data;
        return !strcmp(f, v.type == RLM_TYPE_STRING ? "u" : "z") && end - start == n && !memcmp((const char*)a->buffers[2] + start, p, n);
    }
    default: return false;
    }
}
/* A structure with the text, which distinguishes JSON from a string value. */
static bool is_json(const struct ArrowSchema* s, const struct ArrowArray* a, int64_t i, realm_value_t v) {
    if (is_null(a, i)) return v.type == RLM_TYPE_NULL;
    if (strcmp(s->format, "+s") || s->n_children != 1 || strcmp(s->children[0]->name, "json") || strcmp(s->children[0]->format, "u")) return false;
    a = a->children[0];
    char wanted[40];
    if (v.type == RLM_TYPE_INT) snprintf(wanted, sizeof wanted, "%lld", (long long)v.integer);
    else if (v.type == RLM_TYPE_BOOL) snprintf(wanted, sizeof wanted, "%s", v.boolean ? "true" : "false");
    else return false;
    size_t n = (size_t)(offset(a, i + 1) - offset(a, i));
    return n == strlen(wanted) && !memcmp((const char*)a->buffers[2] + offset(a, i), wanted, n);
}
static bool is_element(int type, const struct ArrowSchema* s, const struct ArrowArray* a, int64_t i, realm_value_t v) {
    return type == RLM_PROPERTY_TYPE_MIXED ? is_json(s, a, i, v) : is_value(s, a, i, v);
}
/* Whether a row of all columns is equal to the values that the object's functions read. */
static bool is_row(realm_t* realm, const struct ArrowSchema* s, const struct ArrowArray* a, int64_t row, realm_object_key_t key) {
    realm_object_t* o = realm_get_object(realm, thing, key);
    bool good = o && a->n_children == COLUMNS + 2 && s->n_children == COLUMNS + 2;
    for (int c = 0; good && c < COLUMNS; c++) {
        const struct ArrowArray* column = a->children[c];
        const struct ArrowSchema* field = s->children[c];
        int f = c / TYPES, type = types[c % TYPES];
        realm_value_t v, name;
        size_t n = 0;
        good = !strcmp(field->name, names[c]);
        if (f < 2) {
            bool optional = f == 1 || type == RLM_PROPERTY_TYPE_OBJECT || type == RLM_PROPERTY_TYPE_MIXED;
            good = good && realm_get_value(o, keys[c], &v) && is_element(type, field, column, row, v) && !!(field->flags & ARROW_FLAG_NULLABLE) == optional;
            continue;
        }
        realm_list_t* l = f == 2 ? realm_get_list(o, keys[c]) : NULL;
        realm_set_t* set = f == 3 ? realm_get_set(o, keys[c]) : NULL;
        realm_dictionary_t* d = f == 4 ? realm_get_dictionary(o, keys[c]) : NULL;
        good = good && !strcmp(field->format, f == 4 ? "+m" : "+l") && !(field->flags & ARROW_FLAG_NULLABLE) &&
               (l ? realm_list_size(l, &n) : set ? realm_set_size(set, &n) : realm_dictionary_size(d, &n)) &&
               (size_t)(offset(column, row + 1) - offset(column, row)) == n;
        for (size_t i = 0; good && i < n; i++) {
            int64_t at = offset(column, row) + (int64_t)i;
            const struct ArrowArray* elements = column->children[0];
            const struct ArrowSchema* element = field->children[0];
            if (d) {
                good = realm_dictionary_get(d, i, &name, &v) && is_value(element->children[0], elements->children[0], at, name);
                elements = elements->children[1], element = element->children[1];
            } else good = l ? realm_list_get(l, i, &v) : realm_set_get(set, i, &v);
            good = good && is_element(type, element, elements, at, v);
        }
        realm_release(l), realm_release(set), realm_release(d);
    }
    if (good) {
        const struct ArrowArray *one = a->children[COLUMNS], *many = a->children[COLUMNS + 1];
        realm_object_t* p = realm_get_linked_object(o, part_key);
        realm_value_t v;
        good = is_null(one, row) == !p;
        if (good && p)
            good = realm_get_value(p, size_key, &v) && is_value(s->children[COLUMNS]->children[0], one->children[0], row, v) &&
                   realm_get_value(p, title_key, &v) && is_value(s->children[COLUMNS]->children[1], one->children[1], row, v);
        realm_release(p);
        realm_list_t* l = realm_get_list(o, parts_key);
        size_t n = 0;
        good = good && realm_list_size(l, &n) && (size_t)(offset(many, row + 1) - offset(many, row)) == n;
        for (size_t i = 0; good && i < n; i++) {
            p = realm_list_get_linked_object(l, i);
            good = p && realm_get_value(p, size_key, &v) &&
                   is_value(s->children[COLUMNS + 1]->children[0]->children[0], many->children[0]->children[0], offset(many, row) + (int64_t)i, v);
            realm_release(p);
        }
        realm_release(l);
    }
    realm_release(o);
    return good;
}
/* Compares everything that a stream returns with the rows of results. Returns the number of arrays. */
static size_t compare(realm_t* realm, realm_results_t* rows, struct ArrowArrayStream* stream, size_t most) {
    struct ArrowSchema s;
    struct ArrowArray a;
    size_t total = 0, at = 0, arrays = 0;
    bool good = CHECK(stream->get_schema(stream, &s) == 0) && CHECK(realm_results_count(rows, &total)) && CHECK(!strcmp(s.format, "+s"));
    while (good) {
        if (!CHECK(stream->get_next(stream, &a) == 0) || !a.release) break;
        arrays++;
        good = CHECK(a.length > 0 && (size_t)a.length <= most && a.offset == 0 && a.null_count == 0 && at + (size_t)a.length <= total);
        for (int64_t i = 0; good && i < a.length; i++, at++) {
            realm_value_t v;
            good = realm_results_get(rows, at, &v) && is_row(realm, &s, &a, i, v.link.target);
            if (!good) printf("row %zu\n", at), CHECK(good);
        }
        a.release(&a);
        CHECK(!a.release);
    }
    CHECK(at == total);
    CHECK(stream->get_next(stream, &a) == 0 && !a.release);
    s.release(&s);
    CHECK(!s.release);
    return arrays;
}
static void random_databases(int rounds) {
    section = "random databases";
    for (int round = 0; round < rounds; round++) {
        realm_t* realm = open_file("random", true);
        look_up(realm);
        fill(realm, round == 0 ? 1 : 50 + below(700));
        static const char* const queries[] = {"TRUEPREDICATE", "c0 > 0", "c1 == true SORT(c0 ASC)", "TRUEPREDICATE SORT(c2 DESC) LIMIT(70)", "FALSEPREDICATE"};
        for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
            realm_query_t* query = realm_query_parse(realm, thing, queries[q], 0, NULL);
            realm_results_t* rows = q == 0 ? realm_object_find_all(realm, thing) : realm_query_find_all(query);
            struct ArrowArrayStream stream;
            struct ArrowSchema s;
            struct ArrowArray a;
            size_t most = below(2) ? 65536 : 1 + below(300), n = 0, first = below(100), count = below(400);
            CHECK(crealm_results_export_arrow(rows, NULL, 0, most == 65536 ? 0 : most, &stream));
            compare(realm, rows, &stream, most);
            stream.release(&stream);
            CHECK(!stream.release);
            CHECK(realm_results_count(rows, &n));
            if (CHECK(crealm_results_fetch_arrow(rows, first, count, NULL, 0, &s, &a))) {
                bool good = CHECK((size_t)a.length == (first >= n ? 0 : n - first < count ? n - first : count));
                for (int64_t i = 0; good && i < a.length; i++) {
                    realm_value_t v;
                    good = CHECK(realm_results_get(rows, first + (size_t)i, &v) && is_row(realm, &s, &a, i, v.link.target));
                }
                s.release(&s), a.release(&a);
            }
            realm_release(rows), realm_release(query);
        }
        CHECK(realm_close(realm));
        realm_release(realm);
    }
}

/* ---- Paths --------------------------------------------------------------------------------------- */

static void paths(void) {
    section = "paths";
    realm_t* realm = open_file("paths", true);
    look_up(realm);
    fill(realm, 300);
    char over_link[40], twice[60];
    const char* link = names[TYPES + 10];
    snprintf(over_link, sizeof over_link, "%s.%s", link, names[2]);
    snprintf(twice, sizeof twice, "%s.%s.@key", link, link);
    const char* wanted[] = {"@key", names[0], over_link, "part.title", twice, "part"};
    struct ArrowArrayStream stream;
    struct ArrowSchema s;
    struct ArrowArray a;
    bool good = CHECK(crealm_class_export_arrow(realm, thing, wanted, 6, 0, &stream)) && CHECK(stream.get_schema(&stream, &s) == 0) &&
                CHECK(stream.get_next(&stream, &a) == 0 && a.release && a.n_children == 6);
    for (int i = 0; i < 6; i++) CHECK(!strcmp(s.children[i]->name, wanted[i]));
    CHECK(!(s.children[0]->flags & ARROW_FLAG_NULLABLE) && (s.children[2]->flags & ARROW_FLAG_NULLABLE) && s.children[5]->n_children == 2);
    for (int64_t i = 0; good && i < a.length; i++) {
        realm_object_key_t key = ((const int64_t*)a.children[0]->buffers[1])[i];
        realm_object_t *o = realm_get_object(realm, thing, key), *to = o ? realm_get_linked_object(o, keys[TYPES + 10]) : NULL;
        realm_object_t *next = to ? realm_get_linked_object(to, keys[TYPES + 10]) : NULL, *p = o ? realm_get_linked_object(o, part_key) : NULL;
        realm_value_t v = null_value();
        good = CHECK(o && (!to || realm_get_value(to, keys[2], &v)) && is_value(s.children[2], a.children[2], i, v));
        v = null_value();
        good = good && CHECK((!p || realm_get_value(p, title_key, &v)) && is_value(s.children[3], a.children[3], i, v));
        v = next ? integer(realm_object_get_key(next)) : null_value();
        good = good && CHECK(is_value(s.children[4], a.children[4], i, v));
        realm_release(p), realm_release(next), realm_release(to), realm_release(o);
    }
    a.release(&a), s.release(&s), stream.release(&stream);

    const char *unknown[] = {"nothing"}, *behind[] = {"c0.c1"}, *list[] = {"parts.size"}, *empty[] = {""}, *none[] = {NULL}, *bad[] = {"\xff"};
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_class_export_arrow(realm, thing, unknown, 1, 0, &stream));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_class_export_arrow(realm, thing, behind, 1, 0, &stream));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_class_export_arrow(realm, thing, list, 1, 0, &stream));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_class_export_arrow(realm, thing, empty, 1, 0, &stream));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_class_export_arrow(realm, thing, none, 1, 0, &stream));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_class_export_arrow(realm, thing, bad, 1, 0, &stream));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_class_export_arrow(realm, thing, unknown, SIZE_MAX, 0, &stream));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_class_export_arrow(realm, thing, NULL, 0, 0, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_class_export_arrow(realm, 0x7FFFFFFE, NULL, 0, 0, &stream));
    /* No columns: rows without values. */
    if (CHECK(crealm_class_export_arrow(realm, thing, none, 0, 0, &stream))) {
        size_t n = 0;
        CHECK(realm_get_num_objects(realm, thing, &n));
        CHECK(stream.get_next(&stream, &a) == 0 && a.n_children == 0 && (size_t)a.length == n);
        a.release(&a), stream.release(&stream);
    }
    /* A path over thirty links. */
    char deep[300] = "";
    for (int i = 0; i < 30; i++) strcat(deep, link), strcat(deep, ".");
    strcat(deep, "c0");
    const char* too_deep[] = {deep};
    FAILS(RLM_ERR_LIMIT_EXCEEDED, crealm_class_export_arrow(realm, thing, too_deep, 1, 0, &stream));
    CHECK(realm_close(realm));
    realm_release(realm);
}

/* ---- Releasing ------------------------------------------------------------------------------------ */

/* Every order in which a stream, its schema, an array and a child that was moved out of the array may be released, each
   of them twice. */
static void releases(void) {
    section = "releases";
    realm_t* realm = open_file("releases", true);
    look_up(realm);
    fill(realm, 40);
    static const int orders[24][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 3, 2, 1}, {1, 0, 2, 3}, {1, 0, 3, 2},
                                      {1, 2, 0, 3}, {1, 2, 3, 0}, {1, 3, 0, 2}, {1, 3, 2, 0}, {2, 0, 1, 3}, {2, 0, 3, 1}, {2, 1, 0, 3}, {2, 1, 3, 0},
                                      {2, 3, 0, 1}, {2, 3, 1, 0}, {3, 0, 1, 2}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 1, 2, 0}, {3, 2, 0, 1}, {3, 2, 1, 0}};
    for (size_t i = 0; i < 24; i++) {
        struct ArrowArrayStream stream;
        struct ArrowSchema s, part_of_schema;
        struct ArrowArray a, child;
        if (!CHECK(crealm_class_export_arrow(realm, thing, NULL, 0, 7, &stream) && stream.get_schema(&stream, &s) == 0 && stream.get_next(&stream, &a) == 0)) continue;
        size_t c = below((size_t)a.n_children);
        child = *a.children[c], a.children[c]->release = NULL;
        part_of_schema = *s.children[c], s.children[c]->release = NULL;
        for (int j = 0; j < 4; j++) switch (orders[i][j]) {
            case 0: stream.release(&stream); CHECK(!stream.release); break;
            case 1: s.release(&s); CHECK(!s.release); break;
            case 2: a.release(&a); CHECK(!a.release); break;
            default:
                CHECK(child.length == 7 && child.release && part_of_schema.format[0]);
                child.release(&child), part_of_schema.release(&part_of_schema);
                CHECK(!child.release && !part_of_schema.release);
            }
    }
    /* A saved release function: releasing a second time does nothing. */
    struct ArrowArrayStream stream;
    struct ArrowArray a;
    struct ArrowSchema s;
    if (CHECK(crealm_class_export_arrow(realm, thing, NULL, 0, 7, &stream) && stream.get_schema(&stream, &s) == 0 && stream.get_next(&stream, &a) == 0)) {
        struct ArrowArrayStream kept = stream;
        void (*release_array)(struct ArrowArray*) = a.release;
        void (*release_schema)(struct ArrowSchema*) = s.release;
        CHECK(stream.get_next(&stream, NULL) == EINVAL && stream.get_last_error(&stream));
        CHECK(stream.get_schema(&stream, NULL) == EINVAL && stream.get_last_error(&stream));
        CHECK(stream.get_schema(&stream, &s) == 0 && !stream.get_last_error(&stream));
        release_schema(&s);
        stream.release(&stream), kept.release(&stream), kept.release(NULL);
        release_array(&a), release_array(&a), release_array(NULL);
        release_schema(&s), release_schema(NULL);
        CHECK(kept.get_next(&stream, &a) == EINVAL && kept.get_schema(&stream, &s) == EINVAL && !kept.get_last_error(&stream));
        CHECK(kept.get_next(NULL, &a) == EINVAL && !kept.get_last_error(NULL));
    }
    CHECK(realm_close(realm));
    realm_release(realm);
}

/* ---- Versions and threads -------------------------------------------------------------------------- */

static int64_t sum_of(struct ArrowArrayStream* stream, int64_t* rows) {
    struct ArrowArray a;
    int64_t sum = 0;
    *rows = 0;
    while (stream->get_next(stream, &a) == 0 && a.release) {
        for (int64_t i = 0; i < a.length; i++) sum += ((const int64_t*)a.children[0]->buffers[1])[i];
        *rows += a.length;
        a.release(&a);
    }
    return sum;
}
struct task {
    struct ArrowArrayStream stream;
    int64_t sum, rows;
};
static void* consume(void* p) {
    struct task* t = (struct task*)p;
    t->sum = sum_of(&t->stream, &t->rows);
    t->stream.release(&t->stream);
    return NULL;
}
static void versions(void) {
    section = "versions and threads";
    realm_t* realm = open_file("versions", false);
    look_up(realm);
    enum { ROWS = 3000 };
    int64_t sum = 0;
    CHECK(realm_begin_write(realm));
    for (int i = 0; i < ROWS; i++) {
        realm_object_t* o = realm_object_create(realm, thing);
        CHECK(realm_set_value(o, keys[0], integer(i), false));
        realm_release(o);
        sum += i;
    }
    struct ArrowArrayStream stream;
    struct ArrowArray a;
    const char* column[] = {names[0]};
    realm_results_t* all = realm_object_find_all(realm, thing);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_class_export_arrow(realm, thing, column, 1, 0, &stream));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_results_export_arrow(all, column, 1, 0, &stream));
    if (CHECK(crealm_results_fetch_arrow(all, 0, SIZE_MAX, column, 1, NULL, &a))) {
        CHECK(a.length == ROWS && ((const int64_t*)a.children[0]->buffers[1])[ROWS - 1] == ROWS - 1);
        a.release(&a);
    }
    CHECK(realm_commit(realm));

    /* Streams of different kinds of results, consumed on other threads while this thread writes and closes. */
    enum { STREAMS = 6 };
    static struct task tasks[STREAMS];
    pthread_t threads[STREAMS];
    realm_query_t* query = realm_query_parse(realm, thing, "c0 >= 0 SORT(c0 DESC)", 0, NULL);
    realm_results_t* sorted = realm_query_find_all(query);
    realm_results_t* fixed = realm_results_snapshot(sorted);
    for (int i = 0; i < STREAMS; i++) {
        realm_results_t* rows = i % 3 == 0 ? all : i % 3 == 1 ? sorted : fixed;
        CHECK(crealm_results_export_arrow(rows, column, 1, 100 + 77 * (size_t)i, &tasks[i].stream));
    }
    for (int i = 0; i < STREAMS; i++) CHECK(pthread_create(&threads[i], NULL, consume, &tasks[i]) == 0);
    for (int round = 0; round < 20; round++) {
        CHECK(realm_begin_write(realm));
        for (int i = 0; i < 100; i++) {
            realm_value_t v;
            CHECK(realm_results_get(all, (size_t)i, &v));
            realm_object_t* o = realm_get_object(realm, thing, v.link.target);
            CHECK(i % 3 ? realm_set_value(o, keys[0], integer(-1), false) : realm_object_delete(o));
            realm_release(o);
        }
        CHECK(realm_commit(realm));
    }
    /* A snapshot of rows that were deleted later: nulls. Therefore its columns are nullable. */
    int64_t rows = 0;
    struct ArrowSchema s;
    if (CHECK(crealm_results_export_arrow(fixed, column, 1, 0, &stream)) && CHECK(stream.get_schema(&stream, &s) == 0)) {
        CHECK(s.children[0]->flags & ARROW_FLAG_NULLABLE);
        CHECK(stream.get_next(&stream, &a) == 0 && a.length == ROWS && a.children[0]->null_count > 0);
        realm_value_t values[2];
        realm_link_t objects[1];
        size_t n = 0;
        bool seen = false;
        for (size_t i = 0; i < ROWS; i++) {
            bool gone = is_null(a.children[0], (int64_t)i);
            seen = seen || gone;
            values[0] = values[1] = integer(5);
            CHECK(crealm_results_fetch(fixed, i, 1, keys, 2, values, objects, &n) && n == 1);
            CHECK(gone == (values[0].type == RLM_TYPE_NULL) && gone == (objects[0].target == -1) && objects[0].target_table == thing);
            CHECK(gone || is_value(s.children[0], a.children[0], (int64_t)i, values[0]));
        }
        CHECK(seen);
        a.release(&a), s.release(&s), stream.release(&stream);
    }
    /* Results of a frozen realm. */
    realm_t* frozen = realm_freeze(realm);
    realm_results_t* still = realm_object_find_all(frozen, thing);
    static struct task last;
    CHECK(crealm_results_export_arrow(still, column, 1, 50, &last.stream));
    size_t left = 0;
    CHECK(realm_results_count(still, &left));
    CHECK(realm_close(frozen));
    FAILS(RLM_ERR_STALE_ACCESSOR, crealm_results_export_arrow(still, column, 1, 50, &stream));
    CHECK(realm_close(realm));
    FAILS(RLM_ERR_STALE_ACCESSOR, crealm_results_export_arrow(all, column, 1, 50, &stream));
    FAILS(RLM_ERR_STALE_ACCESSOR, crealm_results_fetch_arrow(all, 0, 1, column, 1, NULL, &a));
    realm_release(still), realm_release(frozen), realm_release(fixed), realm_release(sorted), realm_release(all), realm_release(query), realm_release(realm);
    for (int i = 0; i < STREAMS; i++) {
        CHECK(pthread_join(threads[i], NULL) == 0);
        CHECK(tasks[i].rows == ROWS && tasks[i].sum == sum);
    }
    sum_of(&last.stream, &rows);
    CHECK((size_t)rows == left);
    last.stream.release(&last.stream);
}

/* In a child process the parent's stream fails with an error and may be released; the parent's own stream still
   works. */
static void forked(void) {
    section = "forked";
    realm_t* realm = open_file("forked", true);
    look_up(realm);
    fill(realm, 30);
    struct ArrowArrayStream stream;
    const char* column[] = {names[0]};
    if (CHECK(crealm_class_export_arrow(realm, thing, column, 1, 10, &stream))) {
        pid_t child = fork();
        if (child == 0) {
            struct ArrowArray a;
            bool good = stream.get_next(&stream, &a) == EIO && stream.get_last_error(&stream);
            stream.release(&stream);
            _exit(good && !stream.release ? 0 : 1);
        }
        int status = 1;
        int64_t rows = 0;
        size_t n = 0;
        CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
        sum_of(&stream, &rows);
        CHECK(realm_get_num_objects(realm, thing, &n) && (size_t)rows == n && n > 0);
        stream.release(&stream);
    }
    CHECK(realm_close(realm));
    realm_release(realm);
}

/* ---- Pages ------------------------------------------------------------------------------------------ */

static void pages(void) {
    section = "pages";
    realm_t* realm = open_file("pages", true);
    look_up(realm);
    fill(realm, 600);
    realm_property_key_t asked[2 * TYPES];
    for (int i = 0; i < 2 * TYPES; i++) asked[i] = keys[i];
    enum { PAGE = 64 };
    realm_value_t* values = (realm_value_t*)calloc(PAGE * 2 * TYPES, sizeof *values);
    realm_link_t objects[PAGE];
    realm_query_t* query = realm_query_parse(realm, thing, "TRUEPREDICATE SORT(c0 ASC)", 0, NULL);
    for (int which = 0; which < 2; which++) {
        realm_results_t* rows = which ? realm_query_find_all(query) : realm_object_find_all(realm, thing);
        size_t total = 0, at = 0, n = 0;
        CHECK(realm_results_count(rows, &total));
        while (CHECK(crealm_results_fetch(rows, at, PAGE, asked, 2 * TYPES, values, objects, &n)) && n > 0) {
            CHECK(n == (total - at < PAGE ? total - at : (size_t)PAGE));
            for (size_t i = 0; i < n; i++) {
                realm_value_t row, v;
                bool good = realm_results_get(rows, at + i, &row) && row.link.target == objects[i].target && row.link.target_table == objects[i].target_table;
                realm_object_t* o = realm_get_object(realm, thing, objects[i].target);
                for (int c = 0; good && c < 2 * TYPES; c++) {
                    const realm_value_t* w = &values[i * 2 * TYPES + (size_t)c];
                    good = realm_get_value(o, asked[c], &v) && v.type == w->type;
                    if (v.type == RLM_TYPE_STRING) good = good && v.string.size == w->string.size && !memcmp(v.string.data, w->string.data, v.string.size);
                    if (v.type == RLM_TYPE_INT) good = good && v.integer == w->integer;
                    if (v.type == RLM_TYPE_LINK) good = good && v.link.target == w->link.target && v.link.target_table == w->link.target_table;
                }
                CHECK(good);
                realm_release(o);
            }
            at += n;
        }
        CHECK(at == total);
        CHECK(crealm_results_fetch(rows, SIZE_MAX, 5, NULL, 0, NULL, NULL, &n) && n == 0);
        CHECK(crealm_results_fetch(rows, 0, SIZE_MAX, NULL, 0, NULL, NULL, &n) && n == total);
        CHECK(crealm_results_fetch(rows, 1, 3, asked, 2, NULL, NULL, NULL));
        FAILS(RLM_ERR_INVALID_PROPERTY, crealm_results_fetch(rows, 0, 1, &size_key, 1, values, NULL, &n));
        FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, crealm_results_fetch(rows, 0, 1, &parts_key, 1, values, NULL, &n));
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_fetch(rows, 0, 1, NULL, 1, values, NULL, &n));
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_fetch(rows, 0, 1, asked, SIZE_MAX, values, NULL, &n));
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_fetch_arrow(rows, 0, 1, NULL, 0, NULL, NULL));
        realm_release(rows);
    }
    realm_value_t first;
    realm_results_t* all = realm_object_find_all(realm, thing);
    CHECK(realm_results_get(all, 0, &first));
    realm_object_t* o = realm_get_object(realm, thing, first.link.target);
    realm_list_t* l = realm_get_list(o, keys[2 * TYPES]);
    realm_results_t* numbers = realm_list_to_results(l);
    struct ArrowArrayStream stream;
    struct ArrowArray a;
    size_t n;
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_results_export_arrow(numbers, NULL, 0, 0, &stream));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_results_fetch_arrow(numbers, 0, 1, NULL, 0, NULL, &a));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_results_fetch(numbers, 0, 1, NULL, 0, NULL, NULL, &n));
    realm_release(numbers), realm_release(l), realm_release(o), realm_release(all), realm_release(query);
    free(values);
    CHECK(realm_close(realm));
    realm_release(realm);
}

/* ---- Properties and values that cannot be columns --------------------------------------------------- */

static void too_far(int column, realm_value_t v, int number, const char* told, int error) {
    realm_t* realm = open_file("too_far", true);
    look_up(realm);
    CHECK(realm_begin_write(realm));
    realm_object_key_t key = 0;
    for (int i = 0; i < 400; i++) {
        realm_object_t* o = realm_object_create(realm, thing);
        if (i == 300) CHECK(realm_set_value(o, keys[column], v, false)), key = realm_object_get_key(o);
        realm_release(o);
    }
    CHECK(realm_commit(realm));
    struct ArrowArrayStream stream;
    struct ArrowArray a;
    const char* wanted[] = {names[0], names[column]};
    if (CHECK(crealm_class_export_arrow(realm, thing, wanted, 2, 290, &stream))) {
        CHECK(stream.get_next(&stream, &a) == 0 && a.length == 290);
        a.release(&a);
        char text[60];
        snprintf(text, sizeof text, "'%s' of the object with key %lld", names[column], (long long)key);
        for (int again = 0; again < 2; again++) {
            CHECK(stream.get_next(&stream, &a) == number);
            const char* message = stream.get_last_error(&stream);
            CHECK(message && strstr(message, text) && strstr(message, told));
        }
        stream.release(&stream);
    }
    realm_results_t* all = realm_object_find_all(realm, thing);
    FAILS(error, crealm_results_fetch_arrow(all, 0, SIZE_MAX, wanted, 2, NULL, &a));
    if (CHECK(crealm_results_fetch_arrow(all, 0, 300, wanted, 2, NULL, &a))) CHECK(a.length == 300), a.release(&a);
    realm_release(all);
    CHECK(realm_close(realm));
    realm_release(realm);
}
static void what_does_not_fit(void) {
    section = "what does not fit";
    enum { TIME = TYPES + 4 };
    too_far(TIME, moment(9223372037, 0), EOVERFLOW, "9223372037 seconds", RLM_ERR_LIMIT_EXCEEDED);
    too_far(TIME, moment(INT64_MIN, -999999999), EOVERFLOW, "too far", RLM_ERR_LIMIT_EXCEEDED);
    too_far(4, moment(-9223372037, -1), EOVERFLOW, "too far", RLM_ERR_LIMIT_EXCEEDED);
}

int main(int argc, char** argv) {
    if (!mkdtemp(folder)) return 2;
    int rounds = argc > 2 ? atoi(argv[2]) : 8;
    state = argc > 3 ? strtoull(argv[3], NULL, 0) | 1 : 20;
    for (size_t i = 0; i < sizeof letters; i++) letters[i] = (char)(' ' + i % 90);
    schema = make_schema();
    if (!CHECK(schema)) give_up();
    random_databases(rounds);
    paths();
    releases();
    versions();
    forked();
    pages();
    what_does_not_fit();
    realm_release(schema);
    return finished(folder);
}
