/*
 * Results of the C API. Goal: results show the right rows, in the right order, at every moment of a transaction;
 * filter, sort, distinct and limit can be combined; searching, summing and deleting act on the rows that are shown; and
 * results whose source was deleted fail. Method: a table of compositions over one set of objects, a table of sums for
 * each type, and scenarios that compare rows as text.
 *
 *     results_test
 *
 * With RESULTS_TEST_SKIP_CRASHES (or QUERY_TEST_SKIP_CRASHES) set, the test skips the checks in which another library
 * with this interface may crash or differ: those marked `if (thorough)`, and the rows of tables whose answer starts
 * with "!". Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

#pragma weak crealm_verify

/* ---- Checking --------------------------------------------------------------------------------- */

static bool thorough;

enum {
    OUT_OF_BOUNDS = RLM_ERR_INDEX_OUT_OF_BOUNDS, ILLEGAL = RLM_ERR_ILLEGAL_OPERATION, INVALIDATED = RLM_ERR_INVALIDATED_OBJECT, STATE = RLM_ERR_WRONG_TRANSACTION_STATE,
    STALE = RLM_ERR_STALE_ACCESSOR, SYNTAX = RLM_ERR_INVALID_QUERY_STRING, BAD_QUERY = RLM_ERR_INVALID_QUERY, BAD_PROPERTY = RLM_ERR_INVALID_PROPERTY, BAD_SORT = RLM_ERR_INVALID_SORT_DESCRIPTOR
};

/* ---- Handles that are released at the end of a section ------------------------------------------ */

static void* held[4000];
static size_t holding;
static void* hold(void* handle) {
    if (holding == sizeof held / sizeof *held) give_up();
    return held[holding++] = handle;
}
static void give_back(size_t down_to) {
    while (holding > down_to) realm_release(held[--holding]);
}
static realm_object_t* O(realm_object_t* handle) { return (realm_object_t*)hold(handle); }
static realm_list_t* L(realm_list_t* handle) { return (realm_list_t*)hold(handle); }
static realm_set_t* S(realm_set_t* handle) { return (realm_set_t*)hold(handle); }
static realm_dictionary_t* D(realm_dictionary_t* handle) { return (realm_dictionary_t*)hold(handle); }
static realm_results_t* R(realm_results_t* handle) { return (realm_results_t*)hold(handle); }
static realm_query_t* Q(realm_query_t* handle) { return (realm_query_t*)hold(handle); }

/* ---- Values ----------------------------------------------------------------------------------- */

static realm_value_t decimal(int64_t digits, int exponent) {
    realm_value_t v = of_type(RLM_TYPE_DECIMAL128);
    v.decimal128.w[0] = (uint64_t)(digits < 0 ? -digits : digits), v.decimal128.w[1] = (uint64_t)(6176 + exponent) << 49 | (uint64_t)(digits < 0) << 63;
    return v;
}
static realm_value_t object_id(int number) { realm_value_t v = of_type(RLM_TYPE_OBJECT_ID); v.object_id.bytes[11] = (uint8_t)number; return v; }
static realm_value_t uuid(int number) { realm_value_t v = of_type(RLM_TYPE_UUID); v.uuid.bytes[15] = (uint8_t)number; return v; }

/* ---- Schema and files --------------------------------------------------------------------------- */

#define NONE RLM_COLLECTION_TYPE_NONE
#define LIST RLM_COLLECTION_TYPE_LIST
#define SET RLM_COLLECTION_TYPE_SET
#define DICT RLM_COLLECTION_TYPE_DICTIONARY
#define NULLABLE RLM_PROPERTY_NULLABLE
#define INT RLM_PROPERTY_TYPE_INT
#define BOOL RLM_PROPERTY_TYPE_BOOL
#define STRING RLM_PROPERTY_TYPE_STRING
#define BINARY RLM_PROPERTY_TYPE_BINARY
#define MIXED RLM_PROPERTY_TYPE_MIXED
#define TIMESTAMP RLM_PROPERTY_TYPE_TIMESTAMP
#define FLOAT RLM_PROPERTY_TYPE_FLOAT
#define DOUBLE RLM_PROPERTY_TYPE_DOUBLE
#define DECIMAL RLM_PROPERTY_TYPE_DECIMAL128
#define OBJECT RLM_PROPERTY_TYPE_OBJECT

/* Class Item has a property of each type: single values have one letter, lists an l before it, and so on. */
static realm_schema_t* schema(void) {
    realm_property_info_t item[] = {
        property("id", INT, NONE, "", RLM_PROPERTY_PRIMARY_KEY), property("n", INT, NONE, "", 0), property("i", INT, NONE, "", NULLABLE), property("b", BOOL, NONE, "", NULLABLE),
        property("s", STRING, NONE, "", NULLABLE), property("d", BINARY, NONE, "", NULLABLE), property("m", MIXED, NONE, "", NULLABLE), property("t", TIMESTAMP, NONE, "", NULLABLE),
        property("f", FLOAT, NONE, "", NULLABLE), property("g", DOUBLE, NONE, "", NULLABLE), property("c", DECIMAL, NONE, "", NULLABLE),
        property("o", RLM_PROPERTY_TYPE_OBJECT_ID, NONE, "", NULLABLE), property("u", RLM_PROPERTY_TYPE_UUID, NONE, "", NULLABLE), property("link", OBJECT, NONE, "Item", NULLABLE),
        property("la", OBJECT, LIST, "Item", 0), property("sa", OBJECT, SET, "Item", 0), property("da", OBJECT, DICT, "Item", NULLABLE), property("part", OBJECT, NONE, "Part", NULLABLE),
        property("parts", OBJECT, LIST, "Part", 0), property("li", INT, LIST, "", NULLABLE), property("ls", STRING, LIST, "", NULLABLE), property("lb", BOOL, LIST, "", NULLABLE),
        property("lt", TIMESTAMP, LIST, "", NULLABLE), property("lf", FLOAT, LIST, "", NULLABLE), property("lg", DOUBLE, LIST, "", NULLABLE), property("lc", DECIMAL, LIST, "", NULLABLE),
        property("lm", MIXED, LIST, "", NULLABLE), property("si", INT, SET, "", NULLABLE), property("ss", STRING, SET, "", NULLABLE), property("sm", MIXED, SET, "", NULLABLE),
        property("di", INT, DICT, "", NULLABLE), property("ds", STRING, DICT, "", NULLABLE), property("dm", MIXED, DICT, "", NULLABLE),
        property("origins", RLM_PROPERTY_TYPE_LINKING_OBJECTS, LIST, "Item", 0)};
    realm_property_info_t plain = property("n", INT, NONE, "", 0);
    plain.public_name = item[1].public_name = "number";
    item[sizeof item / sizeof *item - 1].link_origin_property_name = "link";
    realm_class_info_t classes[] = {class_info("Item", "id", sizeof item / sizeof *item - 1, 1, 0), class_info("Other", "", 1, 0, 0), class_info("Part", "", 1, 0, RLM_CLASS_EMBEDDED)};
    const realm_property_info_t* properties[] = {item, &plain, &plain};
    return realm_schema_new(classes, 3, properties);
}

static bool always(realm_userdata_t userdata) { (void)userdata; return true; }
static bool alike(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static void post(realm_userdata_t userdata, realm_work_queue_t* queue) { (void)userdata, (void)queue; }

static char folder[] = "/tmp/results-XXXXXX";
static realm_t* r; /* the open realm */
static realm_class_key_t item_class, other_class, part_class;
static realm_t* open_another(void) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s.realm", folder, section);
    realm_config_t* c = realm_config_new();
    realm_schema_t* s = schema();
    realm_scheduler_t* scheduler = realm_scheduler_new(NULL, NULL, post, always, alike, always);
    realm_config_set_path(c, path);
    realm_config_set_schema(c, s);
    realm_config_set_schema_version(c, 1);
    realm_config_set_automatic_change_notifications(c, false);
    realm_config_set_scheduler(c, scheduler);
    realm_t* opened = realm_open(c);
    realm_release(s), realm_release(scheduler), realm_release(c);
    if (!CHECK(opened != NULL)) give_up();
    return opened;
}
static realm_class_key_t class_key(const char* name) {
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(r, name, &found, &info) || !found) give_up();
    return info.key;
}
static realm_property_key_t property_key(const char* name) { /* of Item */
    bool found = false;
    realm_property_info_t info;
    if (!realm_find_property(r, item_class, name, &found, &info) || !found) give_up();
    return info.key;
}
static void begin_section(const char* name) {
    section = name;
    r = open_another();
    item_class = class_key("Item"), other_class = class_key("Other"), part_class = class_key("Part");
}
static void end_section(void) {
    if (crealm_verify) CHECK(crealm_verify(r, NULL));
    CHECK(realm_close(r));
    realm_release(r);
    give_back(0);
}
static bool put(realm_object_t* o, const char* name, realm_value_t v) { return realm_set_value(o, property_key(name), v, false); }
static realm_object_t* create(int64_t id, int64_t n) {
    realm_object_t* o = O(realm_object_create_with_primary_key(r, item_class, integer(id)));
    if (!o || !put(o, "n", integer(n))) give_up();
    return o;
}
static realm_object_t* item(int64_t id) { return O(realm_object_find_with_primary_key(r, item_class, integer(id), NULL)); }
static realm_list_t* list(realm_object_t* o, const char* name) { return L(realm_get_list(o, property_key(name))); }
static realm_set_t* set(realm_object_t* o, const char* name) { return S(realm_get_set(o, property_key(name))); }
static realm_dictionary_t* dict(realm_object_t* o, const char* name) { return D(realm_get_dictionary(o, property_key(name))); }
static bool push(realm_list_t* l, realm_value_t v) {
    size_t n = 0;
    return realm_list_size(l, &n) && realm_list_insert(l, n, v);
}
static bool join(realm_set_t* s, realm_value_t v) { return realm_set_insert(s, v, NULL, NULL); }
static bool pair(realm_dictionary_t* d, const char* k, realm_value_t v) { return realm_dictionary_insert(d, text(k), v, NULL, NULL); }
static realm_results_t* all_items(void) { return R(realm_object_find_all(r, item_class)); }
static realm_query_t* parse(const char* query) {
    realm_query_t* q = Q(realm_query_parse(r, item_class, query, 0, NULL));
    if (!q) printf("  cannot parse %s\n", query);
    return q;
}
static realm_results_t* query(const char* condition) { return R(realm_query_find_all(parse(condition))); }
static size_t count(realm_results_t* rows) { size_t n = SIZE_MAX; return realm_results_count(rows, &n) ? n : SIZE_MAX; }
static bool valid(realm_results_t* rows) { bool is = false; return realm_results_is_valid(rows, &is) && is; }

/* ---- Rows as text ------------------------------------------------------------------------------- */

/* The id of an Item, <3> for a Part or Other with n = 3, "x", 1.5d, 1.5f, 12E-1, T5, null, [] for a list. */
static char shown[4000];
static size_t length;
static void add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(shown + length, sizeof shown - length, format, arguments);
    va_end(arguments);
    if (length >= sizeof shown) length = sizeof shown - 1;
}
static void show_value(realm_value_t v) {
    if (v.type == RLM_TYPE_LINK) {
        realm_object_t* o = realm_get_object(r, v.link.target_table, v.link.target);
        realm_value_t n = null_value();
        realm_property_info_t info;
        bool found = false, is_item = v.link.target_table == item_class;
        if (!o) add("nowhere");
        else if (realm_find_property(r, v.link.target_table, is_item ? "id" : "n", &found, &info) && found && realm_get_value(o, info.key, &n)) add(is_item ? "%lld" : "<%lld>", (long long)n.integer);
        else add("gone");
        realm_release(o);
    } else if (v.type == RLM_TYPE_NULL) add("null");
    else if (v.type == RLM_TYPE_INT) add("%lld", (long long)v.integer);
    else if (v.type == RLM_TYPE_BOOL) add(v.boolean ? "true" : "false");
    else if (v.type == RLM_TYPE_STRING) add("\"%.*s\"", (int)v.string.size, v.string.data);
    else if (v.type == RLM_TYPE_FLOAT) add("%gf", (double)v.fnum);
    else if (v.type == RLM_TYPE_DOUBLE) add("%gd", v.dnum);
    else if (v.type == RLM_TYPE_TIMESTAMP) add("T%lld", (long long)v.timestamp.seconds);
    else if (v.type == RLM_TYPE_LIST) add("[]");
    else if (v.type == RLM_TYPE_DICTIONARY) add("{}");
    else if (v.type == RLM_TYPE_DECIMAL128) { /* without trailing zeros; small ones only */
        uint64_t digits = v.decimal128.w[0];
        int exponent = (int)(v.decimal128.w[1] >> 49 & 0x3fff) - 6176;
        while (digits && digits % 10 == 0) digits /= 10, exponent++;
        if ((v.decimal128.w[1] >> 58 & 31) == 31) add("NaN");
        else if (!digits) add("0E");
        else add("%s%lluE%d", v.decimal128.w[1] >> 63 ? "-" : "", (unsigned long long)digits, exponent);
    } else add("type%d", (int)v.type);
}
static void show(realm_results_t* rows) {
    size_t n = 0;
    length = 0;
    *shown = 0;
    realm_clear_last_error();
    if (!rows || !realm_results_count(rows, &n)) {
        add("E%d", last_error());
        return;
    }
    for (size_t i = 0; i < n; i++) {
        realm_value_t v = null_value();
        if (i) add(" ");
        if (realm_results_get(rows, i, &v)) show_value(v);
        else {
            add("E%d", last_error());
            return;
        }
    }
}
static bool matches(const char* wanted) {
    if (!strcmp(shown, wanted)) return true;
    printf("  wanted %s\n  got    %s\n", wanted, shown);
    return false;
}
static bool rows_are(realm_results_t* rows, const char* wanted) { return show(rows), matches(wanted); }
static bool value_is(realm_value_t v, const char* wanted) { return length = 0, show_value(v), matches(wanted); }
/* Position of a value, SIZE_MAX for none, SIZE_MAX - 1 for an error. */
static size_t position(realm_results_t* rows, realm_value_t v) {
    size_t at = 77;
    bool found = false;
    if (!realm_results_find(rows, &v, &at, &found)) return SIZE_MAX - 1;
    return found == (at != SIZE_MAX) ? at : SIZE_MAX - 1;
}
static size_t position_of(realm_results_t* rows, realm_object_t* o) {
    size_t at = 77;
    bool found = false;
    if (!realm_results_find_object(rows, o, &at, &found)) return SIZE_MAX - 1;
    return found == (at != SIZE_MAX) ? at : SIZE_MAX - 1;
}
static const size_t ABSENT = SIZE_MAX;

/* ---- Live rows ---------------------------------------------------------------------------------- */

/* Items 0, 1, 2... with these n. */
static void numbers(int n, ...) {
    va_list arguments;
    va_start(arguments, n);
    for (int id = 0; id < n; id++) create(id, va_arg(arguments, int));
    va_end(arguments);
}
static void live(void) {
    begin_section("live");
    realm_value_t v;
    CHECK(realm_begin_write(r));
    numbers(5, 5, 3, 8, 3, 1);
    realm_results_t *rows = query("n >= 3"), *all = all_items(), *sorted = query("n >= 3 SORT(n ASC)");
    CHECK(rows_are(rows, "0 1 2 3") && rows_are(all, "0 1 2 3 4") && rows_are(sorted, "1 3 0 2"));
    /* Inside the transaction every read sees the changes so far. */
    put(item(0), "n", integer(0));
    CHECK(rows_are(rows, "1 2 3") && rows_are(sorted, "1 3 2"));
    create(5, 4);
    CHECK(rows_are(rows, "1 2 3 5") && rows_are(sorted, "1 3 5 2") && rows_are(all, "0 1 2 3 4 5"));
    CHECK(realm_object_delete(item(1)) && rows_are(rows, "2 3 5") && rows_are(sorted, "3 5 2") && rows_are(all, "0 2 3 4 5"));
    CHECK(realm_commit(r) && rows_are(rows, "2 3 5") && rows_are(sorted, "3 5 2"));
    /* Results made before the objects exist. */
    realm_results_t* later = query("n == 100 OR s == 'x'");
    CHECK(rows_are(later, "") && realm_begin_write(r) && rows_are(later, "") && put(item(4), "n", integer(100)) && rows_are(later, "4") && put(item(3), "s", text("x")) && rows_are(later, "3 4") && realm_commit(r) &&
          rows_are(later, "3 4"));
    /* Rolled back. */
    realm_results_t *looked = query("n == 77"), *not_looked = query("n == 77");
    CHECK(count(looked) == 0 && realm_begin_write(r));
    for (int id = 10; id < 13; id++) create(id, 77);
    if (thorough) CHECK(rows_are(looked, "10 11 12"));
    CHECK(realm_rollback(r) && rows_are(not_looked, "") && rows_are(all, "0 2 3 4 5") && rows_are(looked, ""));
    /* A loop by index over rows that disappear skips rows, a loop over a snapshot does not. */
    CHECK(realm_begin_write(r) && realm_results_delete_all(all));
    for (int id = 0; id < 20; id++) create(id, id < 4 ? 9 : 0);
    rows = query("n >= 3");
    size_t visits = 0;
    for (size_t i = 0; i < count(rows); i++, visits++) {
        realm_object_t* o = O(realm_results_get_object(rows, i));
        CHECK(realm_get_value(o, property_key("id"), &v) && v.integer == (int64_t)(2 * i) && put(o, "n", integer(0)));
    }
    CHECK(visits == 2 && rows_are(rows, "1 3"));
    realm_results_t* fixed = R(realm_results_snapshot(rows));
    for (size_t i = 0; i < count(fixed); i++) put(O(realm_results_get_object(fixed, i)), "n", integer(0));
    CHECK(rows_are(rows, "") && rows_are(fixed, "1 3") && realm_commit(r));
    /* Paths through links: the linked objects count, too. */
    CHECK(realm_begin_write(r) && put(item(0), "link", link_to(item(7))) && put(item(1), "link", link_to(item(8))));
    rows = query("link.n > 5");
    sorted = R(realm_results_sort(query("link != NULL"), "link.n DESC"));
    CHECK(rows_are(rows, "") && put(item(7), "n", integer(7)) && rows_are(rows, "0") && put(item(8), "n", integer(9)) && rows_are(rows, "0 1") && rows_are(sorted, "1 0"));
    CHECK(put(item(8), "n", integer(3)) && rows_are(rows, "0") && rows_are(sorted, "0 1") && realm_object_delete(item(7)) && rows_are(rows, "") && rows_are(sorted, "1") && realm_commit(r));
    /* Commits of others are visible after a refresh. */
    rows = query("n == 55");
    realm_t *mine = r, *other = open_another();
    CHECK(rows_are(rows, ""));
    if (realm_is_writable(r)) realm_rollback(r); /* after a failure: the other would wait for ever */
    r = other;
    CHECK(realm_begin_write(r) && put(item(2), "n", integer(55)) && realm_commit(r));
    r = mine;
    CHECK(rows_are(rows, "") && realm_refresh(r, NULL) && rows_are(rows, "2") && realm_close(other));
    realm_release(other);
    end_section();
}

/* ---- Composition -------------------------------------------------------------------------------- */

/* Ten items: */
static const struct { int n; const char *s; int i; /* 99: null */ int link; } composed[] = {
    {5, "b", 1, 9}, {3, "a", 99, -1}, {8, NULL, 2, 8}, {3, "B", 1, -1}, {1, "", 99, 8}, {9, "é", 3, 1}, {7, "a", 2, -1}, {7, "ab", 1, 0}, {2, NULL, 99, 1}, {6, "z", 3, 9}};

/* Steps, each on the results of the step before: "q text" starts with a query, "f text" filters, "s text"
 * sorts, "d text" makes distinct, "l 3" limits. The answer is the ids, or E and the number of the error of the last
 * step or of the first read. */
static const struct { const char *steps[6], *wanted; } compositions[] = {
    {{NULL}, "0 1 2 3 4 5 6 7 8 9"}, {{"q n > 5"}, "2 5 6 7 9"}, {{"f n > 5"}, "2 5 6 7 9"}, {{"f n > 5", "f n < 8"}, "6 7 9"}, {{"q n > 5", "f s != null"}, "5 6 7 9"},
    /* sort: stable; the last sort comes first, equal rows keep their order */
    {{"s n ASC"}, "4 8 1 3 0 9 6 7 2 5"}, {{"s n DESC"}, "5 2 6 7 9 0 1 3 8 4"}, {{"s id DESC"}, "9 8 7 6 5 4 3 2 1 0"}, {{"s id DESC", "s n ASC"}, "4 8 3 1 0 9 7 6 2 5"},
    {{"s n ASC", "s id DESC"}, "9 8 7 6 5 4 3 2 1 0"}, {{"s n ASC, id DESC"}, "4 8 3 1 0 9 7 6 2 5"}, {{"s n ascending, id DESCENDING"}, "4 8 3 1 0 9 7 6 2 5"}, {{"s n DESC, id DESC"}, "5 2 7 6 9 0 3 1 8 4"},
    {{"s number ASC"}, "E1009"}, {{"d number"}, "E1009"}, {{"q TRUEPREDICATE SORT(number ASC)"}, "4 8 1 3 0 9 6 7 2 5"}, {{"q n > 5", "s n ASC"}, "9 6 7 2 5"}, {{"s n ASC", "f n > 5"}, "9 6 7 2 5"}, {{"q n > 5 SORT(n DESC)"}, "5 2 6 7 9"}, {{"q n > 5 SORT(n DESC)", "s n ASC"}, "9 6 7 2 5"},
    {{"q n > 5 SORT(id DESC)", "s n ASC"}, "9 7 6 2 5"},
    /* null first, then bytes */
    {{"s s ASC"}, "2 8 4 3 1 6 7 0 9 5"}, {{"s s DESC"}, "5 9 0 7 1 6 3 4 2 8"}, {{"s i ASC"}, "1 4 8 0 3 7 2 6 5 9"}, {{"s i DESC"}, "5 9 2 6 0 3 7 1 4 8"}, {{"s i ASC, n DESC"}, "1 8 4 7 0 3 2 6 5 9"},
    /* through links: rows with a null link come last, and first in descending order */
    {{"s link.n ASC"}, "2 4 5 8 7 0 9 1 3 6"}, {{"s link.n DESC"}, "1 3 6 0 9 7 5 8 2 4"}, {{"s link.link.n ASC"}, "2 4 0 7 9 1 3 5 6 8"}, {{"s link ASC"}, "1 3 6 7 5 8 2 4 0 9"},
    {{"q link.n != null", "s link.s ASC, n ASC"}, "4 2 8 5 7 0 9"},
    /* distinct: the first of equals */
    {{"d n"}, "0 1 2 4 5 6 8 9"}, {{"d s"}, "0 1 2 3 4 5 7 9"}, {{"d i"}, "0 1 2 5"}, {{"d n, s"}, "0 1 2 3 4 5 6 7 8 9"}, {{"d link"}, "0 1 2 5 7"}, {{"d link.n"}, "0 2 5 7"}, {{"d id"}, "0 1 2 3 4 5 6 7 8 9"},
    {{"s id DESC", "d n"}, "9 8 7 5 4 3 2 0"}, {{"d n", "s id DESC"}, "9 8 6 5 4 2 1 0"}, {{"s n ASC", "d i"}, "4 3 9 6"}, {{"d i", "s n ASC"}, "1 0 2 5"}, {{"d i", "d b"}, "0"}, {{"s n DESC", "d i", "s id ASC"}, "1 2 5 7"},
    {{"f n < 6", "d i"}, "0 1"}, {{"d i", "f n < 6"}, "0 1"},
    /* limit */
    {{"l 3"}, "0 1 2"}, {{"l 0"}, ""}, {{"l 100"}, "0 1 2 3 4 5 6 7 8 9"}, {{"l 4", "l 2"}, "0 1"}, {{"l 2", "l 4"}, "0 1"}, {{"l 0", "l 4"}, ""}, {{"s n DESC", "l 3"}, "5 2 6"}, {{"l 3", "s n DESC"}, "2 0 1"},
    {{"s n DESC", "l 3", "s id ASC"}, "2 5 6"}, {{"l 5", "d i"}, "0 1 2"}, {{"d i", "l 2"}, "0 1"}, {{"d i", "l 3", "s n DESC", "l 1"}, "2"}, {{"s n ASC", "l 4", "s id DESC", "l 2"}, "8 4"}, {{"q n > 5 LIMIT(2)", "s n DESC"}, "5 2"},
    {{"q n > 5 LIMIT(3)", "s n DESC", "l 1"}, "5"}, {{"q n > 5 SORT(n DESC) LIMIT(2)", "d i", "s id ASC"}, "2 5"}, {{"s n DESC", "l 5", "d i", "s id DESC", "l 2"}, "7 5"}, {{"q n > 100", "l 2", "s n ASC"}, ""},
    /* refusals */
    {{"l 3", "f n > 5"}, "E2007"}, {{"q n > 5 LIMIT(2)", "f n > 5"}, "E2007"}, {{"s n"}, "E3008"}, {{"s"}, "E3008"}, {{"s n UP"}, "E3008"}, {{"s n ASC,"}, "E3008"}, {{"s n ASC id ASC"}, "E3008"}, {{"s ASC"}, "E3008"},
    {{"s n ASC, s"}, "E3008"}, {{"s SORT(n ASC)"}, "E3008"}, {{"s nope ASC"}, "E1009"}, {{"s link.nope ASC"}, "E1009"}, {{"s n.x ASC"}, "E1009"}, {{"s nope.n ASC"}, "E1009"}, {{"s origins.n ASC"}, "E1009"},
    {{"s @links.Item.link.n ASC"}, "E1009"}, {{"d n ASC"}, "E3008"}, {{"d"}, "E3008"}, {{"d n,"}, "E3008"}, {{"d nope"}, "E1009"}, {{"d link.nope"}, "E1009"}, {{"s li ASC"}, "E3013"}, {{"s la ASC"}, "E3013"}, {{"s la.n ASC"}, "E3013"},
    {{"s si ASC"}, "E3013"}, {{"s di ASC"}, "E3013"}, {{"d li"}, "E3013"}, {{"d la.n"}, "E3013"}};

static realm_results_t* step(realm_results_t* rows, const char* what) {
    const char* rest = what[1] ? what + 2 : "";
    switch (*what) {
        case 'f': return R(realm_results_filter(rows, parse(rest)));
        case 's': return R(realm_results_sort(rows, rest));
        case 'd': return R(realm_results_distinct(rows, rest));
        case 'l': return R(realm_results_limit(rows, (size_t)atoi(rest)));
        default: return query(rest);
    }
}
static void composition(void) {
    begin_section("composition");
    CHECK(realm_begin_write(r));
    for (int id = 0; id < 10; id++) {
        realm_object_t* o = create(id, composed[id].n);
        put(o, "s", composed[id].s ? text(composed[id].s) : null_value()), put(o, "i", composed[id].i == 99 ? null_value() : integer(composed[id].i));
    }
    for (int id = 0; id < 10; id++)
        if (composed[id].link >= 0) put(item(id), "link", link_to(item(composed[id].link)));
    CHECK(realm_commit(r));
    for (size_t t = 0; t < sizeof compositions / sizeof *compositions; t++)
        for (int writing = 0; writing < 2; writing++) { /* the same inside a write transaction */
            const char* wanted = compositions[t].wanted;
            if (*wanted == '!' && !thorough) continue;
            if (*wanted == '!') wanted++;
            if (writing && !realm_begin_write(r)) give_up();
            char what[200] = "";
            size_t mark = holding;
            realm_results_t* rows = all_items();
            realm_clear_last_error();
            for (int i = 0; i < 6 && rows && compositions[t].steps[i]; i++) {
                snprintf(what + strlen(what), sizeof what - strlen(what), "%s%s", i ? " | " : "", compositions[t].steps[i]);
                rows = step(rows, compositions[t].steps[i]);
            }
            if (!rows) {
                length = 0;
                add("E%d", last_error());
            } else if (!strcmp(wanted, "E3013")) { /* some libraries count without a check of the ordering */
                realm_value_t v;
                length = 0;
                if (!realm_results_get(rows, 0, &v)) add("E%d", last_error());
            } else
                show(rows);
            if (result(!strcmp(shown, wanted), __LINE__, what) && rows && *wanted != 'E') {
                /* The same rows again, through their query. */
                if (thorough) {
                    realm_query_t* q = Q(realm_results_get_query(rows));
                    CHECK(q != NULL && rows_are(R(realm_query_find_all(q)), wanted) && count(rows) == count(R(realm_query_find_all(q))));
                }
                realm_results_t* fixed = R(realm_results_snapshot(rows));
                CHECK(rows_are(fixed, wanted) && rows_are(R(realm_results_limit(rows, 1000)), wanted));
                FAILS(OUT_OF_BOUNDS, realm_results_get(rows, count(rows), NULL));
                FAILS(OUT_OF_BOUNDS, realm_results_get_object(rows, count(rows)));
            } else if (strcmp(shown, wanted))
                printf("  wanted %s\n  got    %s\n", wanted, shown);
            give_back(mark);
            if (writing) realm_rollback(r);
        }
    /* The old results are unchanged, the results of each step are live. */
    realm_results_t *base = query("n > 5"), *top = R(realm_results_limit(R(realm_results_sort(base, "n DESC")), 2)), *different = R(realm_results_distinct(all_items(), "n"));
    CHECK(rows_are(top, "5 2") && rows_are(base, "2 5 6 7 9") && rows_are(different, "0 1 2 4 5 6 8 9") && realm_begin_write(r));
    CHECK(put(item(6), "n", integer(20)) && rows_are(top, "6 5") && rows_are(base, "2 5 6 7 9") && rows_are(different, "0 1 2 4 5 6 7 8 9"));
    CHECK(put(item(4), "n", integer(30)) && rows_are(top, "4 6") && rows_are(base, "2 4 5 6 7 9") && realm_object_delete(item(6)) && rows_are(top, "4 5"));
    CHECK(realm_rollback(r));
    /* A filter leaves its query usable and uses its condition only. */
    realm_query_t* q = parse("n > 5 SORT(n DESC) LIMIT(1)");
    realm_results_t* filtered = R(realm_results_filter(R(realm_results_sort(all_items(), "id DESC")), q));
    CHECK(rows_are(filtered, "9 7 6 5 2"));
    if (thorough) CHECK(rows_are(R(realm_query_find_all(q)), "5") && rows_are(R(realm_results_filter(query("s == null"), q)), "2"));
    end_section();
}

/* ---- Order of each type ------------------------------------------------------------------------- */

static void types(void) {
    begin_section("types");
    CHECK(realm_begin_write(r));
    /* Of each property the values of items 0 to 4: third, null, first, second, first again. */
    struct { const char* name; realm_value_t first, second, third; } kinds[] = {
        {"i", integer(INT64_MIN), integer(-1), integer(INT64_MAX)}, {"b", boolean(false), boolean(true), boolean(true)}, {"s", text(""), text("B"), text("a")},
        {"d", bytes("", 0), bytes("\1", 1), bytes("\377", 1)}, {"t", moment(-5, 0), moment(0, 0), moment(5, 0)}, {"f", single(-INFINITY), single(-0.5f), single(INFINITY)},
        {"g", real(NAN), real(-INFINITY), real(0)}, {"c", decimal(-15, -1), decimal(0, 0), decimal(1, 100)}, {"o", object_id(1), object_id(2), object_id(200)},
        {"u", uuid(1), uuid(2), uuid(200)}, {"m", boolean(true), integer(5), text("a")}};
    for (int id = 0; id < 5; id++) {
        realm_object_t* o = create(id, 0);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) put(o, kinds[k].name, id == 0 ? kinds[k].third : id == 1 ? null_value() : id == 3 ? kinds[k].second : kinds[k].first);
    }
    CHECK(realm_commit(r));
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char up[20], down[20];
        bool two = !strcmp(kinds[k].name, "b"); /* the second and the third are equal */
        snprintf(up, sizeof up, "%s ASC", kinds[k].name), snprintf(down, sizeof down, "%s DESC", kinds[k].name);
        if (!CHECK(rows_are(R(realm_results_sort(all_items(), up)), two ? "1 2 4 0 3" : "1 2 4 3 0") && rows_are(R(realm_results_sort(all_items(), down)), two ? "0 3 2 4 1" : "0 3 2 4 1"))) printf("  by %s\n", kinds[k].name);
        if (!CHECK(rows_are(R(realm_results_distinct(all_items(), kinds[k].name)), two ? "0 1 2" : "0 1 2 3"))) printf("  distinct %s\n", kinds[k].name);
        snprintf(up, sizeof up, "%s ASC, id DESC", kinds[k].name);
        CHECK(rows_are(R(realm_results_sort(all_items(), up)), two ? "1 4 2 3 0" : "1 4 2 3 0"));
        CHECK(rows_are(R(realm_results_limit(R(realm_results_sort(all_items(), down)), 1)), "0"));
    }
    /* Mixed: null, bool, numbers of all types together, string, binary, timestamp, object id, uuid, link. */
    realm_value_t mixed[] = {null_value(), boolean(false), boolean(true), real(-2.5), integer(0), single(0.5f), decimal(1, 0), integer(2), real(1e10), text(""), text("a"), bytes("", 0), bytes("a", 1),
                             moment(-5, 0), moment(5, 0), object_id(1), uuid(1)};
    enum { KINDS = sizeof mixed / sizeof *mixed };
    CHECK(realm_begin_write(r));
    char wanted[200] = "";
    for (int id = 0; id < KINDS; id++) { /* stored in another order */
        int at = id * 7 % KINDS;
        put(create(100 + at, 0), "m", mixed[at]);
    }
    for (int id = 0; id < KINDS; id++) snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%d ", 100 + id);
    put(create(100 + KINDS, 0), "m", link_to(item(2))), put(create(101 + KINDS, 0), "m", link_to(item(3)));
    snprintf(wanted + strlen(wanted), sizeof wanted - strlen(wanted), "%d %d", 100 + KINDS, 101 + KINDS);
    CHECK(rows_are(R(realm_results_sort(query("id >= 100"), "m ASC")), wanted));
    /* Equal numbers of different types are the same value. */
    put(create(200, 0), "m", integer(5)), put(create(201, 0), "m", real(5)), put(create(202, 0), "m", decimal(50, -1)), put(create(203, 0), "m", text("5")), put(create(204, 0), "m", single(5));
    CHECK(rows_are(R(realm_results_distinct(query("id >= 200"), "m")), "200 203") && rows_are(R(realm_results_sort(query("id >= 200"), "m DESC")), "203 200 201 202 204") && realm_commit(r));
    end_section();
}

/* ---- Rows and where they are --------------------------------------------------------------------- */

static void rows_and_positions(void) {
    begin_section("positions");
    CHECK(realm_begin_write(r));
    numbers(5, 5, 3, 8, 3, 1);
    realm_object_t* other = O(realm_object_create(r, other_class));
    CHECK(realm_commit(r));
    realm_results_t *all = all_items(), *rows = query("n >= 3 SORT(n DESC)"), *none = query("n > 100"), *three = R(realm_results_limit(rows, 3));
    realm_value_t v = link_to(item(1));
    size_t at = 77;
    bool found = false, is = false;
    CHECK(rows_are(rows, "2 0 1 3"));
    CHECK(position(rows, link_to(item(2))) == 0 && position(rows, link_to(item(3))) == 3 && position(rows, link_to(item(4))) == ABSENT && position(three, link_to(item(3))) == ABSENT);
    CHECK(position_of(rows, item(2)) == 0 && position_of(rows, item(3)) == 3 && position_of(rows, item(4)) == ABSENT && position_of(three, item(3)) == ABSENT && position_of(all, item(4)) == 4);
    CHECK(position(none, link_to(item(2))) == ABSENT && position_of(none, item(2)) == ABSENT && position(all, link_to(item(3))) == 3);
    CHECK(realm_results_find(rows, &v, &at, NULL) && at == 2 && realm_results_find(rows, &v, NULL, NULL) && realm_results_find_object(rows, item(1), &at, NULL) && at == 2 && realm_results_find_object(rows, item(1), NULL, NULL));
    if (thorough) { /* *out_found counts by itself, and values that no row can have are not found */
        CHECK(realm_results_find(rows, &v, NULL, &found) && found);
        found = false;
        CHECK(realm_results_find_object(rows, item(1), NULL, &found) && found);
        CHECK(position(rows, integer(2)) == ABSENT && position(rows, null_value()) == ABSENT && position(rows, text("2")) == ABSENT && position(all, link_to(other)) == ABSENT);
    }
    FAILS(RLM_ERR_OBJECT_TYPE_MISMATCH, realm_results_find_object(all, other, &at, &found));
    /* Reading. */
    CHECK(realm_results_get(rows, 3, NULL) && realm_results_get(rows, 3, &v) && v.type == RLM_TYPE_LINK && v.link.target_table == item_class && v.link.target == realm_object_get_key(item(3)));
    CHECK(realm_equals(O(realm_results_get_object(rows, 1)), item(0)) && realm_equals(O(realm_results_get_object(all, 4)), item(4)));
    FAILS(OUT_OF_BOUNDS, realm_results_get(rows, 4, &v)), FAILS(OUT_OF_BOUNDS, realm_results_get(none, 0, &v)), FAILS(OUT_OF_BOUNDS, realm_results_get(rows, SIZE_MAX, &v));
    FAILS(OUT_OF_BOUNDS, realm_results_get(all, 5, &v)), FAILS(OUT_OF_BOUNDS, realm_results_get(three, 3, &v)), FAILS(OUT_OF_BOUNDS, realm_results_get(rows, 4, NULL));
    FAILS(OUT_OF_BOUNDS, realm_results_get_object(rows, 4)), FAILS(OUT_OF_BOUNDS, realm_results_get_object(all, 5)), FAILS(OUT_OF_BOUNDS, realm_results_get_object(none, 0));
    if (thorough) { /* objects are no collections */
        FAILS(ILLEGAL, realm_results_get_list(rows, 0)), FAILS(ILLEGAL, realm_results_get_dictionary(rows, 0));
    }
    CHECK(realm_results_count(rows, NULL) && realm_results_is_valid(rows, NULL) && realm_results_is_valid(rows, &is) && is);
    /* Clones and identity. */
    realm_results_t* twin = R((realm_results_t*)realm_clone(rows));
    CHECK(rows_are(twin, "2 0 1 3") && realm_equals(rows, rows) && !realm_equals(rows, twin) && !realm_is_frozen(rows));
    /* A deleted object is an error. */
    realm_object_t* gone = item(2);
    CHECK(realm_begin_write(r) && realm_object_delete(gone));
    FAILS(STALE, realm_results_find_object(rows, gone, &at, &found));
    CHECK(rows_are(rows, "0 1 3") && rows_are(twin, "0 1 3") && realm_rollback(r));
    end_section();
}

/* ---- Queries behind results ---------------------------------------------------------------------- */

static bool described(realm_results_t* rows, const char* wanted) {
    realm_query_t* q = Q(realm_results_get_query(rows));
    const char* got = q ? realm_query_get_description(q) : "nothing";
    if (!strcmp(got, wanted)) return true;
    printf("  wanted %s\n  got    %s\n", wanted, got);
    return false;
}
static void queries(void) {
    begin_section("queries");
    CHECK(realm_begin_write(r));
    numbers(5, 5, 3, 8, 3, 1);
    CHECK(push(list(item(0), "la"), link_to(item(3))) && push(list(item(0), "la"), link_to(item(1))) && realm_commit(r));
    realm_results_t *all = all_items(), *rows = query("n > 2 SORT(n DESC)");
    CHECK(described(all, "TRUEPREDICATE") && described(query("n > 2"), "n > 2") && described(R(realm_results_filter(query("n > 2"), parse("id > 0"))), "n > 2 and id > 0"));
    if (thorough) {
        CHECK(described(rows, "n > 2 SORT(n DESC)"));
        CHECK(described(R(realm_results_sort(all, "n ASC, id DESC")), "TRUEPREDICATE SORT(n ASC, id DESC)") && described(R(realm_results_limit(rows, 3)), "n > 2 SORT(n DESC) LIMIT(3)"));
        CHECK(described(R(realm_results_distinct(R(realm_results_limit(rows, 3)), "n")), "n > 2 SORT(n DESC) LIMIT(3) DISTINCT(n)") && described(R(realm_results_filter(rows, parse("id > 0"))), "n > 2 and id > 0 SORT(n DESC)"));
        CHECK(rows_are(R(realm_query_find_all(Q(realm_results_get_query(R(realm_results_sort(rows, "id ASC")))))), "0 1 2 3"));
        realm_query_t* q = Q(realm_results_get_query(rows));
        CHECK(rows_are(R(realm_query_find_all(q)), "2 0 1 3") && rows_are(R(realm_query_find_all(Q(realm_query_append_query(q, "id < 3", 0, NULL)))), "2 0 1"));
    }
    /* Live as well: of a list, of backlinks. */
    realm_results_t *of_list = R(realm_list_to_results(list(item(0), "la"))), *of_origins = R(realm_get_backlinks(item(1), item_class, property_key("la")));
    realm_query_t *in_list = Q(realm_results_get_query(of_list)), *in_origins = Q(realm_results_get_query(of_origins));
    CHECK(rows_are(R(realm_query_find_all(in_list)), "3 1") && rows_are(R(realm_query_find_all(in_origins)), "0"));
    CHECK(realm_begin_write(r) && push(list(item(0), "la"), link_to(item(4))) && push(list(item(2), "la"), link_to(item(1))) && rows_are(R(realm_query_find_all(in_list)), "3 1 4") && rows_are(of_list, "3 1 4"));
    CHECK(rows_are(of_origins, "0 2") && rows_are(R(realm_query_find_all(in_origins)), "0 2") && realm_rollback(r));
    if (thorough) {
        FAILS(ILLEGAL, realm_results_get_query(R(realm_list_to_results(list(item(0), "li")))));
    }
    end_section();
}

/* ---- Results of collections of objects ----------------------------------------------------------- */

static void collections(void) {
    begin_section("collections");
    CHECK(realm_begin_write(r));
    numbers(8, 5, 3, 8, 3, 1, 7, 6, 2);
    realm_object_t* o = item(0);
    realm_list_t* l = list(o, "la");
    for (int i = 0; i < 5; i++) push(l, link_to(item((int[]){7, 6, 3, 6, 1}[i])));
    for (int i = 0; i < 3; i++) join(set(o, "sa"), link_to(item((int[]){6, 2, 4}[i])));
    CHECK(pair(dict(o, "da"), "b", link_to(item(5))) && pair(dict(o, "da"), "a", link_to(item(6))) && pair(dict(o, "da"), "c", link_to(item(5))));
    for (int i = 0; i < 3; i++) {
        realm_object_t* part = O(realm_list_insert_embedded(list(o, "parts"), (size_t)i));
        realm_property_info_t info;
        bool found;
        CHECK(realm_find_property(r, part_class, "n", &found, &info) && realm_set_value(part, info.key, integer(30 - 10 * i), false));
    }
    CHECK(realm_commit(r));
    /* A list: its order, repeats included. */
    realm_results_t *rows = R(realm_list_to_results(l)), *sorted = R(realm_results_sort(rows, "n DESC")), *filtered = R(realm_results_filter(rows, parse("n >= 3")));
    CHECK(rows_are(rows, "7 6 3 6 1") && rows_are(sorted, "6 6 3 1 7") && rows_are(filtered, "6 3 6 1") && rows_are(R(realm_results_distinct(rows, "n")), "7 6 3"));
    CHECK(rows_are(R(realm_results_distinct(rows, "id")), "7 6 3 1"));
    if (thorough) CHECK(rows_are(R(realm_results_limit(rows, 3)), "7 6 3") && rows_are(R(realm_results_limit(filtered, 2)), "6 3"));
    CHECK(position_of(rows, item(6)) == 1 && position_of(sorted, item(6)) == 0 && position_of(rows, item(5)) == ABSENT && position(rows, link_to(item(1))) == 4);
    CHECK(realm_begin_write(r) && realm_list_move(l, 0, 4) && rows_are(rows, "6 3 6 1 7") && rows_are(filtered, "6 3 6 1") && rows_are(sorted, "6 6 3 1 7"));
    CHECK(put(item(7), "n", integer(9)) && rows_are(filtered, "6 3 6 1 7") && rows_are(sorted, "7 6 6 3 1") && realm_object_delete(item(6)) && rows_are(rows, "3 1 7") && rows_are(filtered, "3 1 7") && rows_are(sorted, "7 3 1"));
    CHECK(realm_list_clear(l) && rows_are(rows, "") && rows_are(filtered, "") && rows_are(sorted, "") && valid(rows) && realm_rollback(r));
    CHECK(rows_are(rows, "7 6 3 6 1"));
    if (thorough) CHECK(rows_are(filtered, "6 3 6 1") && rows_are(sorted, "6 6 3 1 7"));
    /* A set, a dictionary, embedded objects. */
    rows = R(realm_set_to_results(set(o, "sa")));
    CHECK(rows_are(rows, "2 4 6") && rows_are(R(realm_results_sort(rows, "n ASC")), "4 6 2") && rows_are(R(realm_results_filter(rows, parse("n > 5"))), "2 6") && position_of(rows, item(4)) == 1);
    rows = R(realm_dictionary_to_results(dict(o, "da")));
    CHECK(rows_are(rows, "6 5 5") && rows_are(R(realm_results_sort(rows, "n DESC")), "5 5 6") && rows_are(R(realm_results_filter(rows, parse("n > 6"))), "5 5") && position(rows, link_to(item(5))) == 1);
    if (thorough) CHECK(position_of(rows, item(5)) == 1);
    size_t keys = 0;
    realm_results_t* names = NULL;
    CHECK(realm_dictionary_get_keys(dict(o, "da"), &keys, &names) && keys == 3);
    hold(names);
    CHECK(rows_are(names, "\"a\" \"b\" \"c\""));
    rows = R(realm_list_to_results(list(o, "parts")));
    CHECK(rows_are(rows, "<30> <20> <10>") && rows_are(R(realm_results_sort(rows, "n ASC")), "<10> <20> <30>") && rows_are(R(realm_results_limit(rows, 1)), "<30>"));
    CHECK(rows_are(R(realm_results_filter(rows, Q(realm_query_parse(r, part_class, "n < 25", 0, NULL)))), "<20> <10>"));
    /* A deleted object becomes null in a dictionary. */
    rows = R(realm_dictionary_to_results(dict(o, "da")));
    CHECK(realm_begin_write(r) && realm_object_delete(item(6)));
    CHECK(rows_are(rows, "null 5 5") && rows_are(R(realm_results_filter(rows, parse("n > 0"))), "5 5"));
    CHECK(realm_rollback(r) && rows_are(rows, "6 5 5"));
    /* Backlinks: in the order in which they were added; the last one takes the place of a removed one. */
    CHECK(realm_begin_write(r));
    for (int i = 1; i <= 5; i++) put(item(i), "link", link_to(o));
    rows = R(realm_get_backlinks(o, item_class, property_key("link")));
    sorted = R(realm_results_sort(rows, "n ASC"));
    CHECK(rows_are(rows, "1 2 3 4 5") && rows_are(sorted, "4 1 3 5 2") && rows_are(R(realm_results_filter(rows, parse("n > 3"))), "2 5") && position_of(rows, item(3)) == 2);
    CHECK(put(item(2), "link", null_value()) && rows_are(rows, "1 5 3 4") && rows_are(sorted, "4 1 3 5") && put(item(6), "link", link_to(o)) && rows_are(rows, "1 5 3 4 6") && realm_object_delete(item(1)) && rows_are(rows, "6 5 3 4"));
    CHECK(push(list(item(2), "la"), link_to(o)) && push(list(item(2), "la"), link_to(o)) && rows_are(R(realm_get_backlinks(o, item_class, property_key("la"))), "2 2") && realm_rollback(r));
    end_section();
}

/* ---- Results of values ---------------------------------------------------------------------------- */

static void values(void) {
    begin_section("values");
    CHECK(realm_begin_write(r));
    realm_object_t* o = create(1, 0);
    realm_list_t *l = list(o, "li"), *m = list(o, "lm");
    for (int i = 0; i < 5; i++) push(l, i == 3 ? null_value() : integer((int[]){4, 2, 4, 0, 9}[i]));
    CHECK(push(m, integer(1)) && push(m, text("x")) && push(m, null_value()) && push(m, link_to(o)) && L(realm_list_insert_list(m, 4)) && D(realm_list_insert_dictionary(m, 5)));
    CHECK(join(set(o, "si"), integer(5)) && join(set(o, "si"), null_value()) && join(set(o, "si"), integer(-5)) && pair(dict(o, "di"), "b", integer(1)) && pair(dict(o, "di"), "a", integer(2)) && pair(dict(o, "di"), "c", null_value()));
    CHECK(pair(dict(o, "dm"), "k", text("v")) && L(realm_dictionary_insert_list(dict(o, "dm"), text("l"))) && push(L(realm_dictionary_get_list(dict(o, "dm"), text("l"))), integer(7)) && realm_commit(r));
    realm_results_t *rows = R(realm_list_to_results(l)), *mixed = R(realm_list_to_results(m)), *members = R(realm_set_to_results(set(o, "si"))), *entries = R(realm_dictionary_to_results(dict(o, "di")));
    realm_results_t *named = R(realm_dictionary_to_results(dict(o, "dm"))), *keys = NULL;
    size_t n = 0;
    realm_value_t v;
    CHECK(realm_dictionary_get_keys(dict(o, "di"), &n, &keys) && n == 3);
    hold(keys);
    CHECK(rows_are(rows, "4 2 4 null 9") && rows_are(mixed, "1 \"x\" null 1 [] {}") && rows_are(members, "null -5 5") && rows_are(entries, "2 1 null") && rows_are(named, "\"v\" []") && rows_are(keys, "\"a\" \"b\" \"c\""));
    CHECK(position(rows, integer(4)) == 0 && position(rows, integer(9)) == 4 && position(rows, integer(5)) == ABSENT && position(rows, null_value()) == 3 && position(members, integer(5)) == 2 && position(entries, integer(1)) == 1);
    CHECK(position(keys, text("b")) == 1 && position(keys, text("z")) == ABSENT && position(mixed, text("x")) == 1 && position(mixed, integer(1)) == 0 && position(mixed, link_to(o)) == 3 && position(named, text("v")) == 0);
    if (thorough) CHECK(position(rows, text("4")) == ABSENT && position(keys, integer(1)) == ABSENT && position(mixed, real(1)) == 0 && position_of(rows, o) == ABSENT);
    FAILS(OUT_OF_BOUNDS, realm_results_get(rows, 5, &v)), FAILS(OUT_OF_BOUNDS, realm_results_get(keys, 3, &v)), FAILS(OUT_OF_BOUNDS, realm_results_get(members, 3, &v)), FAILS(OUT_OF_BOUNDS, realm_results_get(entries, 3, &v));
    FAILS(OUT_OF_BOUNDS, realm_results_get_object(rows, 0));
    /* Collections among values. */
    realm_list_t *inner = L(realm_results_get_list(mixed, 4)), *seven = L(realm_results_get_list(named, 1));
    realm_dictionary_t* pairs = D(realm_results_get_dictionary(mixed, 5));
    CHECK(realm_list_is_valid(inner) && realm_dictionary_is_valid(pairs) && realm_list_get(seven, 0, &v) && v.integer == 7);
    realm_clear_last_error();
    CHECK(!realm_results_get_list(mixed, 1) && last_error() == 0 && !realm_results_get_dictionary(mixed, 1) && last_error() == 0 && !realm_results_get_list(mixed, 5) && last_error() == 0 && !realm_results_get_dictionary(mixed, 4) &&
          last_error() == 0 && !realm_results_get_list(named, 0) && last_error() == 0);
    FAILS(ILLEGAL, realm_results_get_list(rows, 0)), FAILS(ILLEGAL, realm_results_get_dictionary(rows, 0)), FAILS(ILLEGAL, realm_results_get_list(keys, 0));
    FAILS(OUT_OF_BOUNDS, realm_results_get_list(mixed, 6)), FAILS(OUT_OF_BOUNDS, realm_results_get_dictionary(mixed, 6));
    /* Live. */
    CHECK(realm_begin_write(r) && push(inner, text("deep")) && realm_list_erase(l, 0) && rows_are(rows, "2 4 null 9") && realm_set_erase(set(o, "si"), null_value(), NULL) && rows_are(members, "-5 5"));
    CHECK(pair(dict(o, "di"), "aa", integer(3)) && rows_are(entries, "2 3 1 null") && rows_are(keys, "\"a\" \"aa\" \"b\" \"c\"") && realm_list_insert(m, 0, boolean(true)) && rows_are(mixed, "true 1 \"x\" null 1 [] {}"));
    CHECK(realm_rollback(r) && rows_are(rows, "4 2 4 null 9") && rows_are(members, "null -5 5") && rows_are(entries, "2 1 null") && rows_are(keys, "\"a\" \"b\" \"c\""));
    /* Values keep their order and cannot be filtered. */
    if (thorough) {
        FAILS(ILLEGAL, realm_results_sort(rows, "self ASC")), FAILS(ILLEGAL, realm_results_sort(rows, "n ASC")), FAILS(ILLEGAL, realm_results_distinct(rows, "n")), FAILS(ILLEGAL, realm_results_filter(rows, parse("n > 1")));
        FAILS(ILLEGAL, realm_results_sort(keys, "n ASC")), FAILS(ILLEGAL, realm_results_filter(mixed, parse("n > 1"))), FAILS(ILLEGAL, realm_results_distinct(entries, "n"));
        CHECK(rows_are(R(realm_results_limit(rows, 2)), "4 2") && rows_are(R(realm_results_limit(rows, 0)), "") && rows_are(R(realm_results_limit(rows, 9)), "4 2 4 null 9") && rows_are(R(realm_results_limit(keys, 1)), "\"a\""));
        /* Collections in a snapshot keep their positions, even if they move. */
        realm_results_t *fixed = R(realm_results_snapshot(mixed)), *of_names = R(realm_results_snapshot(named));
        CHECK(rows_are(fixed, "1 \"x\" null 1 [] {}") && realm_list_is_valid(L(realm_results_get_list(fixed, 4))) && realm_dictionary_is_valid(D(realm_results_get_dictionary(fixed, 5))));
        CHECK(realm_list_get(L(realm_results_get_list(of_names, 1)), 0, &v) && v.integer == 7);
        realm_clear_last_error();
        CHECK(!realm_results_get_list(fixed, 0) && last_error() == 0 && !realm_results_get_list(fixed, 5) && last_error() == 0 && !realm_results_get_dictionary(of_names, 1) && last_error() == 0);
        FAILS(OUT_OF_BOUNDS, realm_results_get_list(fixed, 6)), FAILS(ILLEGAL, realm_results_get_list(R(realm_results_snapshot(rows)), 0));
        CHECK(realm_begin_write(r) && realm_list_insert(m, 0, boolean(true)) && push(L(realm_results_get_list(fixed, 4)), integer(70)) && realm_list_get(L(realm_list_get_list(m, 5)), 0, &v) && v.integer == 70);
        CHECK(realm_list_erase(m, 5) && rows_are(fixed, "1 \"x\" null 1 [] {}") && !realm_list_is_valid(L(realm_results_get_list(fixed, 4))) && realm_dictionary_is_valid(D(realm_results_get_dictionary(fixed, 5))) && realm_rollback(r));
        fixed = R(realm_results_snapshot(rows));
        CHECK(rows_are(fixed, "4 2 4 null 9") && realm_begin_write(r) && realm_list_clear(l) && rows_are(fixed, "4 2 4 null 9") && rows_are(rows, "") && realm_rollback(r));
    }
    CHECK(rows_are(rows, "4 2 4 null 9"));
    end_section();
}

/* ---- Snapshots ------------------------------------------------------------------------------------ */

static void snapshots(void) {
    begin_section("snapshots");
    CHECK(realm_begin_write(r));
    numbers(5, 5, 3, 8, 3, 1);
    CHECK(push(list(item(0), "la"), link_to(item(3))) && push(list(item(0), "la"), link_to(item(1))) && realm_commit(r));
    realm_results_t *rows = query("n >= 3 SORT(n DESC)"), *fixed = R(realm_results_snapshot(rows)), *all = R(realm_results_snapshot(all_items()));
    realm_results_t *of_list = R(realm_results_snapshot(R(realm_list_to_results(list(item(0), "la"))))), *again = R(realm_results_snapshot(fixed));
    CHECK(rows_are(fixed, "2 0 1 3") && rows_are(all, "0 1 2 3 4") && rows_are(of_list, "3 1") && rows_are(again, "2 0 1 3"));
    CHECK(realm_begin_write(r) && put(item(2), "n", integer(0)) && put(item(4), "n", integer(9)));
    create(5, 7);
    CHECK(rows_are(rows, "4 5 0 1 3") && rows_are(fixed, "2 0 1 3") && rows_are(all, "0 1 2 3 4") && realm_list_clear(list(item(0), "la")) && rows_are(of_list, "3 1"));
    realm_value_t v = null_value();
    CHECK(realm_get_value(O(realm_results_get_object(fixed, 0)), property_key("n"), &v) && v.integer == 0); /* the objects are live */
    CHECK(realm_object_delete(item(0)) && realm_object_delete(item(3)) && rows_are(fixed, "2 null 1 null") && rows_are(all, "null 1 2 null 4") && rows_are(of_list, "null 1") && rows_are(again, "2 null 1 null") && count(fixed) == 4);
    realm_object_t* gone = O(realm_results_get_object(fixed, 1));
    CHECK(gone != NULL && !realm_object_is_valid(gone) && realm_results_get(fixed, 3, NULL));
    FAILS(OUT_OF_BOUNDS, realm_results_get(fixed, 4, &v));
    CHECK(position_of(fixed, item(1)) == 2 && position_of(fixed, item(4)) == ABSENT && valid(fixed));
    /* Results made from a snapshot are live. */
    realm_results_t *sorted = R(realm_results_sort(fixed, "id ASC")), *filtered = R(realm_results_filter(fixed, parse("id > 1"))), *few = R(realm_results_limit(fixed, 2));
    CHECK(rows_are(sorted, "1 4 5") && rows_are(filtered, "4 5") && rows_are(few, "4 5") && put(item(1), "n", integer(0)) && rows_are(sorted, "4 5") && rows_are(filtered, "4 5"));
    /* Deleting the rows of a snapshot deletes the objects that still exist. */
    CHECK(realm_commit(r) && rows_are(fixed, "2 null 1 null") && realm_begin_write(r) && realm_results_delete_all(fixed) && rows_are(all_items(), "4 5") && count(fixed) == 4 && rows_are(fixed, "null null null null") && realm_commit(r));
    CHECK(rows_are(R(realm_results_snapshot(query("n > 1000"))), ""));
    end_section();
}

/* ---- Sums ------------------------------------------------------------------------------------------ */

static void sum_up(realm_results_t* rows, realm_property_key_t key, const char* wanted) { /* min max sum average, with "-" after each that was not found */
    realm_value_t v[4];
    bool found[4];
    realm_clear_last_error();
    bool good[4] = {realm_results_min(rows, key, &v[0], &found[0]), false, false, false};
    int error[4] = {last_error(), 0, 0, 0};
    realm_clear_last_error(), good[1] = realm_results_max(rows, key, &v[1], &found[1]), error[1] = last_error();
    realm_clear_last_error(), good[2] = realm_results_sum(rows, key, &v[2], &found[2]), error[2] = last_error();
    realm_clear_last_error(), good[3] = realm_results_average(rows, key, &v[3], &found[3]), error[3] = last_error();
    length = 0;
    for (int i = 0; i < 4; i++) {
        if (i) add(" ");
        if (!good[i]) add("E%d", error[i]);
        else show_value(v[i]), add(found[i] ? "" : "-");
    }
    if (!result(!strcmp(shown, wanted), __LINE__, wanted)) printf("  got    %s\n", shown);
}
static void sums(void) {
    begin_section("sums");
    CHECK(realm_begin_write(r));
    /* Item 0 has nulls only, 1 to 3 have these: */
    static const struct { const char* name; int values[3]; } given[] = {{"i", {4, -7, 10}}, {"t", {5, -5, 0}}, {"f", {1, -3, 4}}, {"g", {1, -3, 4}}, {"c", {1, -3, 4}}};
    for (int id = 0; id < 6; id++) create(id, (int[]){5, 3, 8, 3, 1, 7}[id]);
    for (int id = 1; id < 4; id++) {
        realm_object_t* o = item(id);
        put(o, "i", integer(given[0].values[id - 1])), put(o, "t", moment(given[1].values[id - 1], 0)), put(o, "f", single((float)given[2].values[id - 1] / 2)), put(o, "g", real(given[3].values[id - 1] / 2.0));
        put(o, "c", decimal(given[4].values[id - 1] * 5, -1)), put(o, "s", text("x")), put(o, "b", boolean(true)), put(o, "d", bytes("x", 1)), put(o, "o", object_id(id)), put(o, "u", uuid(id)), put(o, "link", link_to(item(0)));
    }
    put(item(1), "m", integer(4)), put(item(2), "m", text("x")), put(item(3), "m", real(1.5)), put(item(4), "m", boolean(true));
    CHECK(realm_commit(r));
    realm_results_t *all = all_items(), *some = query("id >= 1 AND id <= 3"), *nulls = query("id == 0"), *none = query("id > 100"), *top = query("TRUEPREDICATE SORT(n DESC) LIMIT(2)");
    /* Each type: all rows, rows of nulls only, no rows. */
    static const struct { const char *name, *all, *nulls, *none; } wanted[] = {
        {"n", "1 8 27 4.5d", "5 5 5 5d", "null- null- 0- null-"}, {"i", "-7 10 7 2.33333d", "null- null- 0 null-", "null- null- 0- null-"}, {"f", "-1.5f 2f 1d 0.333333d", "null- null- 0d null-", "null- null- 0d- null-"},
        {"g", "-1.5d 2d 1d 0.333333d", "null- null- 0d null-", "null- null- 0d- null-"}, {"t", "T-5 T5 E2007 E2007", "null- null- E2007 E2007", "null- null- E2007 E2007"},
        {"b", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"}, {"s", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"},
        {"d", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"}, {"o", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"},
        {"u", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"}, {"link", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"},
        {"la", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"}, {"li", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"},
        {"si", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"}, {"di", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"},
        {"part", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007", "E2007 E2007 E2007 E2007"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        realm_property_key_t key = property_key(wanted[i].name);
        sum_up(all, key, wanted[i].all), sum_up(nulls, key, wanted[i].nulls), sum_up(none, key, wanted[i].none);
    }
    realm_property_key_t c = property_key("c"), m = property_key("m"), n = property_key("n"), i = property_key("i");
    realm_value_t v = null_value();
    bool found = false;
    /* Decimals and Mixed give decimals. */
    CHECK(realm_results_min(all, c, &v, &found) && found && value_is(v, "-15E-1") && realm_results_max(all, c, &v, &found) && found && value_is(v, "2E0") && realm_results_sum(all, c, &v, &found) && found && value_is(v, "1E0"));
    CHECK(realm_results_average(some, c, &v, &found) && found && v.type == RLM_TYPE_DECIMAL128);
    sum_up(nulls, c, "null- null- 0E null-"), sum_up(none, c, "null- null- 0E- null-");
    CHECK(realm_results_min(all, m, &v, &found) && found && value_is(v, "true") && realm_results_max(all, m, &v, &found) && found && value_is(v, "\"x\"") && realm_results_sum(all, m, &v, &found) && found && value_is(v, "55E-1"));
    CHECK(realm_results_average(all, m, &v, &found) && found && value_is(v, "275E-2"));
    sum_up(nulls, m, "null- null- 0E null-"), sum_up(none, m, "null- null- 0E- null-"), sum_up(query("id == 2"), m, "\"x\" \"x\" 0E null-");
    /* Over the rows of the results. */
    sum_up(top, n, "7 8 15 7.5d"), sum_up(R(realm_results_limit(all, 2)), n, "3 5 8 4d"), sum_up(R(realm_results_distinct(all, "n")), n, "1 8 24 4.8d"), sum_up(query("n > 4"), n, "5 8 20 6.66667d");
    sum_up(R(realm_results_limit(all, 0)), n, "null- null- 0- null-"), sum_up(R(realm_results_sort(some, "n ASC")), i, "-7 10 7 2.33333d"), sum_up(R(realm_results_snapshot(top)), n, "7 8 15 7.5d");
    CHECK(realm_begin_write(r) && put(item(0), "n", integer(100)));
    sum_up(top, n, "8 100 108 54d"), sum_up(all, n, "1 100 122 20.3333d");
    CHECK(realm_rollback(r));
    /* A sum of integers that does not fit is an exact decimal: 2^63, whose lower word is INT64_MIN. */
    CHECK(realm_begin_write(r) && put(item(0), "i", integer(INT64_MAX)) && put(item(4), "i", integer(1)) && realm_results_sum(query("id == 0 OR id == 4"), i, &v, &found) && v.type == RLM_TYPE_DECIMAL128 && v.integer == INT64_MIN && realm_rollback(r));
    /* NaN is skipped, infinities count. */
    CHECK(realm_begin_write(r) && put(item(4), "g", real(NAN)));
    sum_up(all, property_key("g"), "-1.5d 2d 1d 0.333333d");
    CHECK(put(item(0), "g", real(INFINITY)));
    sum_up(all, property_key("g"), "-1.5d infd infd infd"), sum_up(query("id == 4"), property_key("g"), "null- null- 0d null-");
    CHECK(realm_rollback(r));
    /* Arguments. */
    CHECK(realm_results_min(all, n, NULL, NULL) && realm_results_max(all, n, NULL, &found) && realm_results_sum(all, n, &v, NULL) && realm_results_average(all, n, NULL, NULL));
    FAILS(BAD_PROPERTY, realm_results_min(all, 123456789, &v, &found)), FAILS(BAD_PROPERTY, realm_results_sum(all, RLM_INVALID_PROPERTY_KEY, &v, &found));
    FAILS(BAD_PROPERTY, realm_results_max(none, 123456789, &v, &found)), FAILS(BAD_PROPERTY, realm_results_average(all, 123456789, &v, &found));
    /* Values: the property does not matter. */
    CHECK(realm_begin_write(r));
    realm_object_t* o = item(5);
    realm_list_t* l = list(o, "li");
    sum_up(R(realm_list_to_results(l)), n, "null- null- 0- null-");
    for (int k = 0; k < 5; k++) push(l, k == 4 ? null_value() : integer((int[]){4, 2, 4, 9}[k])), push(list(o, "lf"), k == 4 ? null_value() : single((float)k)), push(list(o, "lg"), k == 4 ? null_value() : real(k)), push(list(o, "lt"), k == 4 ? null_value() : moment(k, 0));
    for (int k = 0; k < 3; k++) push(list(o, "lc"), decimal(k, 0)), push(list(o, "lb"), boolean(true)), push(list(o, "ls"), text("x")), join(set(o, "si"), integer(k)), join(set(o, "ss"), text("x"));
    CHECK(pair(dict(o, "di"), "a", integer(3)) && pair(dict(o, "di"), "b", null_value()) && pair(dict(o, "di"), "c", integer(4)) && pair(dict(o, "ds"), "a", text("x")));
    CHECK(push(list(o, "lm"), integer(4)) && push(list(o, "lm"), text("x")) && push(list(o, "lm"), real(1.5)) && push(list(o, "lm"), null_value()) && pair(dict(o, "dm"), "a", integer(3)) && join(set(o, "sm"), integer(3)) && realm_commit(r));
    sum_up(R(realm_list_to_results(l)), n, "2 9 19 4.75d"), sum_up(R(realm_list_to_results(l)), -1, "2 9 19 4.75d"), sum_up(R(realm_list_to_results(l)), 123456789, "2 9 19 4.75d");
    sum_up(R(realm_list_to_results(list(o, "lf"))), n, "0f 3f 6d 1.5d"), sum_up(R(realm_list_to_results(list(o, "lg"))), n, "0d 3d 6d 1.5d"), sum_up(R(realm_list_to_results(list(o, "lc"))), n, "0E 2E0 3E0 1E0");
    sum_up(R(realm_list_to_results(list(o, "lm"))), n, "1.5d \"x\" 55E-1 275E-2");
    sum_up(R(realm_set_to_results(set(o, "si"))), n, "0 2 3 1d"), sum_up(R(realm_dictionary_to_results(dict(o, "di"))), n, "3 4 7 3.5d"), sum_up(R(realm_list_to_results(list(o, "lt"))), n, "T0 T3 E2007 E2007");
    sum_up(R(realm_list_to_results(list(o, "ls"))), n, "E2007 E2007 E2007 E2007"), sum_up(R(realm_list_to_results(list(o, "lb"))), n, "E2007 E2007 E2007 E2007"), sum_up(R(realm_set_to_results(set(o, "ss"))), n, "E2007 E2007 E2007 E2007");
    sum_up(R(realm_dictionary_to_results(dict(o, "ds"))), n, "E2007 E2007 E2007 E2007"), sum_up(R(realm_dictionary_to_results(dict(o, "dm"))), n, "3 3 3E0 3E0"), sum_up(R(realm_set_to_results(set(o, "sm"))), n, "3 3 3E0 3E0");
    /* Objects of a list: by property, repeats count. */
    CHECK(realm_begin_write(r) && push(list(o, "la"), link_to(item(1))) && push(list(o, "la"), link_to(item(2))) && push(list(o, "la"), link_to(item(2))) && realm_commit(r));
    sum_up(R(realm_list_to_results(list(o, "la"))), n, "3 8 19 6.33333d"), sum_up(R(realm_get_backlinks(item(0), item_class, property_key("link"))), n, "3 8 14 4.66667d");
    sum_up(R(realm_list_to_results(list(item(0), "la"))), n, "null- null- 0- null-"), sum_up(R(realm_list_to_results(list(o, "la"))), property_key("s"), "E2007 E2007 E2007 E2007");
    end_section();
}

/* ---- Deleting --------------------------------------------------------------------------------------- */

static void deleting(void) {
    begin_section("deleting");
    CHECK(realm_begin_write(r));
    numbers(6, 5, 3, 8, 3, 1, 7);
    realm_object_t* o = create(10, 0);
    CHECK(push(list(o, "la"), link_to(item(3))) && push(list(o, "la"), link_to(item(1))) && push(list(o, "la"), link_to(item(3))) && join(set(o, "sa"), link_to(item(2))) && pair(dict(o, "da"), "x", link_to(item(4))));
    CHECK(push(list(o, "li"), integer(1)) && push(list(o, "li"), integer(2)) && join(set(o, "si"), integer(1)) && pair(dict(o, "di"), "a", integer(1)) && push(list(o, "lm"), link_to(item(5))) && pair(dict(o, "dm"), "a", link_to(item(5))));
    O(realm_list_insert_embedded(list(o, "parts"), 0)), O(realm_list_insert_embedded(list(o, "parts"), 0));
    CHECK(realm_commit(r));
    realm_results_t *rows = query("n >= 3 SORT(n DESC)"), *two = R(realm_results_limit(rows, 2)), *of_list = R(realm_list_to_results(list(o, "la"))), *of_values = R(realm_list_to_results(list(o, "li")));
    size_t n = 0;
    FAILS(STATE, realm_results_delete_all(rows)), FAILS(STATE, realm_results_delete_all(two)), FAILS(STATE, realm_results_delete_all(of_list)), FAILS(STATE, realm_results_delete_all(of_values)), FAILS(STATE, realm_results_delete_all(all_items()));
    CHECK(rows_are(rows, "2 5 0 1 3"));
    /* Limited results: only their rows. */
    realm_begin_write(r);
    CHECK(realm_results_delete_all(two) && rows_are(all_items(), "0 1 3 4 10") && (!thorough || rows_are(two, "0 1")) && rows_are(rows, "0 1 3"));
    CHECK(realm_rollback(r));
    realm_begin_write(r);
    CHECK(realm_results_delete_all(query("n == 3 DISTINCT(n)")) && rows_are(all_items(), "0 2 3 4 5 10"));
    CHECK(realm_rollback(r));
    realm_begin_write(r);
    CHECK(realm_results_delete_all(query("n >= 3")) && rows_are(all_items(), "4 10") && rows_are(of_list, ""));
    CHECK(realm_rollback(r));
    CHECK(realm_begin_write(r) && realm_results_delete_all(query("n > 100")) && count(all_items()) == 7 && realm_results_delete_all(all_items()) && count(all_items()) == 0 && realm_rollback(r) && count(all_items()) == 7);
    /* Results of a list, a set, backlinks: the objects are deleted. */
    for (int twice = 0; twice < 1 + thorough; twice++) { /* an object once, then two times in the list */
        realm_begin_write(r);
        if (!twice) realm_list_erase(list(o, "la"), 2);
        CHECK(realm_results_delete_all(of_list) && rows_are(all_items(), "0 2 4 5 10") && realm_list_size(list(o, "la"), &n) && n == 0 && rows_are(of_list, ""));
        CHECK(realm_rollback(r));
    }
    realm_begin_write(r);
    CHECK(realm_results_delete_all(R(realm_results_filter(of_list, parse("id == 1")))) && rows_are(all_items(), "0 2 3 4 5 10") && rows_are(of_list, "3 3"));
    if (thorough) CHECK(realm_results_delete_all(R(realm_results_filter(of_list, parse("id == 3")))) && rows_are(all_items(), "0 2 4 5 10") && rows_are(of_list, ""));
    CHECK(realm_rollback(r));
    realm_begin_write(r);
    CHECK(realm_results_delete_all(R(realm_results_limit(of_list, 1))) && rows_are(all_items(), "0 1 2 4 5 10") && rows_are(of_list, "1"));
    CHECK(realm_rollback(r));
    CHECK(realm_begin_write(r) && realm_results_delete_all(R(realm_set_to_results(set(o, "sa")))) && rows_are(all_items(), "0 1 3 4 5 10") && realm_set_size(set(o, "sa"), &n) && n == 0 && realm_rollback(r));
    realm_begin_write(r);
    CHECK(realm_results_delete_all(R(realm_get_backlinks(item(thorough ? 3 : 1), item_class, property_key("la")))) && rows_are(all_items(), "0 1 2 3 4 5"));
    CHECK(realm_rollback(r));
    CHECK(realm_begin_write(r) && realm_results_delete_all(R(realm_list_to_results(list(o, "parts")))) && realm_list_size(list(o, "parts"), &n) && n == 0 && realm_get_num_objects(r, part_class, &n) && n == 0 && realm_rollback(r));
    /* Results of a dictionary and of values: the collection becomes empty, the objects it links to stay. */
    CHECK(realm_begin_write(r) && realm_results_delete_all(R(realm_dictionary_to_results(dict(o, "da")))) && count(all_items()) == 7 && realm_dictionary_size(dict(o, "da"), &n) && n == 0 && realm_rollback(r));
    realm_begin_write(r);
    CHECK(realm_results_delete_all(of_values) && realm_list_size(list(o, "li"), &n) && n == 0 && rows_are(of_values, ""));
    CHECK(realm_rollback(r) && rows_are(of_values, "1 2"));
    CHECK(realm_begin_write(r) && realm_results_delete_all(R(realm_set_to_results(set(o, "si")))) && realm_set_size(set(o, "si"), &n) && n == 0 && realm_rollback(r));
    CHECK(realm_begin_write(r) && realm_results_delete_all(R(realm_dictionary_to_results(dict(o, "di")))) && realm_dictionary_size(dict(o, "di"), &n) && n == 0 && realm_rollback(r));
    realm_begin_write(r);
    CHECK(realm_results_delete_all(R(realm_list_to_results(list(o, "lm")))) && realm_list_size(list(o, "lm"), &n) && n == 0 && item(5));
    CHECK(realm_rollback(r));
    CHECK(count(all_items()) == 7 && rows_are(of_list, "3 1 3"));
    end_section();
}

/* ---- Deleted objects and collections ----------------------------------------------------------------- */

static void gone(void) {
    begin_section("gone");
    CHECK(realm_begin_write(r));
    realm_object_t *o = create(0, 5), *p = create(1, 3);
    CHECK(push(list(o, "la"), link_to(p)) && join(set(o, "sa"), link_to(p)) && pair(dict(o, "da"), "x", link_to(p)) && push(list(o, "li"), integer(1)) && join(set(o, "si"), integer(1)) && pair(dict(o, "di"), "a", integer(1)) && put(p, "link", link_to(o)));
    CHECK(push(list(o, "lm"), integer(1)) && realm_commit(r));
    size_t n = 0;
    realm_results_t *objects[] = {R(realm_list_to_results(list(o, "la"))), R(realm_set_to_results(set(o, "sa"))), R(realm_get_backlinks(o, item_class, property_key("link"))),
                                  R(realm_results_sort(R(realm_list_to_results(list(o, "la"))), "n ASC")), R(realm_query_find_all(Q(realm_query_parse_for_list(list(o, "la"), "n > 0", 0, NULL)))), NULL};
    realm_results_t *values[] = {R(realm_list_to_results(list(o, "li"))), R(realm_set_to_results(set(o, "si"))), R(realm_dictionary_to_results(dict(o, "di"))), R(realm_list_to_results(list(o, "lm"))), NULL, NULL};
    realm_dictionary_get_keys(dict(o, "di"), &n, &values[4]);
    hold(values[4]);
    realm_results_t *rows = query("n > 0"), *fixed = R(realm_results_snapshot(rows));
    realm_value_t v;
    bool is = true;
    for (int i = 0; objects[i]; i++) CHECK(rows_are(objects[i], "1"));
    for (int i = 0; values[i]; i++) CHECK(count(values[i]) == 1 && valid(values[i]));
    for (int round = 0; round < 2; round++) { /* rolled back, then committed */
        CHECK(realm_begin_write(r) && realm_object_delete(item(0)));
        for (int again = 0; again < 2; again++) {
            for (int i = 0; objects[i]; i++) {
                CHECK(valid(objects[i]) && count(objects[i]) == 0 && rows_are(objects[i], ""));
                FAILS(OUT_OF_BOUNDS, realm_results_get(objects[i], 0, &v));
                FAILS(OUT_OF_BOUNDS, realm_results_get_object(objects[i], 0));
            }
            for (int i = 0; values[i]; i++) {
                CHECK(realm_results_is_valid(values[i], &is) && !is && realm_results_is_valid(values[i], NULL));
                FAILS(STALE, realm_results_count(values[i], &n)), FAILS(STALE, realm_results_get(values[i], 0, &v));
            }
            CHECK(rows_are(rows, "1") && rows_are(fixed, "null 1"));
            if (again) break;
            if (round == 0) {
                CHECK(realm_rollback(r));
                break;
            }
            CHECK(realm_commit(r));
        }
        if (round) break;
        for (int i = 0; objects[i]; i++)
            if (thorough) CHECK(rows_are(objects[i], "1"));
        for (int i = 0; values[i]; i++)
            if ((i < 4 || thorough) && !CHECK(valid(values[i]) && count(values[i]) == 1)) printf("  values %d\n", i);
        CHECK(rows_are(query("n > 0"), "0 1") && rows_are(fixed, "0 1"));
        if (thorough) CHECK(rows_are(rows, "0 1"));
    }
    /* A nested list whose place has another value now. */
    CHECK(realm_begin_write(r));
    realm_object_t* q = create(7, 1);
    CHECK(realm_set_json(q, property_key("m"), "[1, 2]"));
    realm_results_t* nested = R(realm_list_to_results(list(q, "m")));
    CHECK(rows_are(nested, "1 2") && put(q, "m", integer(1)));
    CHECK(realm_results_is_valid(nested, &is) && !is);
    FAILS(STALE, realm_results_count(nested, &n));
    CHECK(realm_commit(r));
    /* The realm is closed. */
    realm_results_t* every[] = {all_items(), rows, fixed, objects[0], objects[2], values[0], query("n > 0 SORT(n ASC)"), R(realm_results_limit(rows, 1)), NULL};
    realm_query_t* condition = parse("n > 1");
    realm_property_key_t key = property_key("n");
    CHECK(realm_close(r));
    for (int i = 0; every[i]; i++) {
        size_t at;
        bool found;
        v = integer(1);
        CHECK(realm_results_is_valid(every[i], &is) && !is);
        FAILS(STALE, realm_results_count(every[i], &n)), FAILS(STALE, realm_results_get(every[i], 0, &v)), FAILS(STALE, realm_results_get_object(every[i], 0));
        FAILS(STALE, realm_results_sum(every[i], key, &v, &found)), FAILS(STALE, realm_results_delete_all(every[i])), FAILS(STALE, realm_results_find(every[i], &v, &at, &found));
        FAILS(STALE, realm_results_snapshot(every[i])), FAILS(STALE, realm_results_sort(every[i], "n ASC")), FAILS(STALE, realm_results_distinct(every[i], "n"));
        FAILS(STALE, realm_results_get_query(every[i]));
        if (thorough || every[i + 1]) FAILS(STALE, realm_results_filter(every[i], condition));
        if (thorough) FAILS(STALE, realm_results_limit(every[i], 1)), FAILS(STALE, realm_results_get_list(every[i], 0)), FAILS(STALE, realm_results_get_dictionary(every[i], 0));
        FAILS(STALE, realm_results_min(every[i], key, &v, &found)), FAILS(STALE, realm_results_max(every[i], key, &v, &found)), FAILS(STALE, realm_results_average(every[i], key, &v, &found));
    }
    give_back(0);
    realm_release(r);
}

/* ---- In another realm --------------------------------------------------------------------------------- */

static void elsewhere(void) {
    begin_section("elsewhere");
    CHECK(realm_begin_write(r));
    numbers(5, 5, 3, 8, 3, 1);
    realm_object_t* o = item(0);
    CHECK(push(list(o, "la"), link_to(item(3))) && push(list(o, "la"), link_to(item(1))) && push(list(o, "li"), integer(7)) && push(list(o, "li"), integer(6)) && put(item(1), "link", link_to(o)) && pair(dict(o, "di"), "k", integer(1)));
    CHECK(realm_commit(r));
    realm_t *mine = r, *other = open_another();
    realm_results_t* sources[] = {all_items(), query("n >= 3 SORT(n DESC) LIMIT(3)"), R(realm_list_to_results(list(o, "la"))), R(realm_list_to_results(list(o, "li"))), R(realm_get_backlinks(o, item_class, property_key("link"))),
                                  R(realm_results_sort(R(realm_list_to_results(list(o, "la"))), "id ASC")), R(realm_dictionary_to_results(dict(o, "di")))};
    static const char* const wanted[] = {"0 1 2 3 4", "2 0 1", "3 1", "7 6", "1", "1 3", "1"};
    static const char* const changed[] = {"0 1 2 3 4 5", "5 2 0", "3 1 5", "7 6 9", "1 5", "1 3 5", "1 2"};
    enum { SOURCES = 7 };
    realm_results_t* resolved[SOURCES];
    for (int i = 0; i < SOURCES; i++) {
        r = mine, CHECK(rows_are(sources[i], wanted[i]));
        resolved[i] = R(realm_results_resolve_in(sources[i], other));
        r = other, CHECK(resolved[i] && valid(resolved[i]) && rows_are(resolved[i], wanted[i]));
    }
    /* Each follows its own realm. */
    r = mine;
    CHECK(realm_begin_write(r));
    realm_object_t* created = create(5, 9);
    CHECK(push(list(o, "la"), link_to(created)) && push(list(o, "li"), integer(9)) && put(created, "link", link_to(o)) && pair(dict(o, "di"), "l", integer(2)) && realm_commit(r));
    for (int i = 0; i < SOURCES; i++) {
        r = mine, CHECK(rows_are(sources[i], changed[i]));
        r = other, CHECK(rows_are(resolved[i], wanted[i]));
    }
    CHECK(realm_refresh(other, NULL));
    for (int i = 0; i < SOURCES; i++) CHECK(rows_are(resolved[i], changed[i]));
    CHECK(realm_close(other));
    r = mine;
    CHECK(rows_are(sources[1], changed[1]));
    FAILS(RLM_ERR_CLOSED_REALM, realm_results_resolve_in(sources[1], other));
    realm_release(other);
    end_section();
}

/* ---- Many rows ---------------------------------------------------------------------------------------- */

static uint64_t state = 20240613;
static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}
enum { MANY = 3000, SORTS = 300 };
static int n_of[MANY], s_of[MANY]; /* s_of: -1 for null */
static int by_n_then_s(const void* a, const void* b) {
    int x = *(const int*)a, y = *(const int*)b;
    return n_of[x] != n_of[y] ? n_of[x] - n_of[y] : s_of[x] != s_of[y] ? s_of[y] - s_of[x] : x - y;
}
static void many(void) {
    begin_section("many");
    static char name[SORTS][8];
    static int order[MANY];
    for (int i = 0; i < SORTS; i++) snprintf(name[i], sizeof name[i], "%04d", i);
    CHECK(realm_begin_write(r));
    for (int id = 0; id < MANY; id++) {
        n_of[id] = below(20), s_of[id] = below(SORTS + 50) - 50;
        if (s_of[id] < -1) s_of[id] = -1;
        realm_object_t* o = create(id, n_of[id]);
        put(o, "s", s_of[id] < 0 ? null_value() : text(name[s_of[id]]));
        give_back(0);
        order[id] = id;
    }
    CHECK(realm_commit(r));
    realm_results_t *rows = R(realm_results_sort(all_items(), "n ASC, s DESC")), *different = R(realm_results_distinct(rows, "n, s")), *few = R(realm_results_limit(different, 100));
    qsort(order, MANY, sizeof *order, by_n_then_s);
    size_t kept = 0, wrong = 0;
    realm_value_t v;
    CHECK(count(rows) == MANY);
    for (size_t i = 0; i < MANY; i++) {
        if (!realm_results_get(rows, i, &v) || v.link.target != order[i]) wrong++;
        if (i && n_of[order[i]] == n_of[order[i - 1]] && s_of[order[i]] == s_of[order[i - 1]]) continue;
        if (!realm_results_get(different, kept, &v) || v.link.target != order[i]) wrong++;
        if (kept < 100 && (!realm_results_get(few, kept, &v) || v.link.target != order[i])) wrong++;
        kept++;
    }
    CHECK(wrong == 0 && count(different) == kept && count(few) == 100);
    /* A filter and its sum. */
    int64_t sum = 0;
    size_t matching = 0;
    for (int id = 0; id < MANY; id++)
        if (n_of[id] > 10 && s_of[id] < 100) sum += n_of[id], matching++;
    realm_results_t* some = R(realm_results_filter(rows, parse("n > 10 AND (s == null OR s < '0100')")));
    bool found = false;
    CHECK(count(some) == matching && realm_results_sum(some, property_key("n"), &v, &found) && found && v.integer == sum);
    CHECK(realm_begin_write(r) && realm_results_delete_all(some) && count(some) == 0 && count(all_items()) == MANY - matching && realm_rollback(r));
    end_section();
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    thorough = !getenv("RESULTS_TEST_SKIP_CRASHES") && !getenv("QUERY_TEST_SKIP_CRASHES");
    live();
    composition();
    types();
    rows_and_positions();
    queries();
    collections();
    values();
    snapshots();
    sums();
    deleting();
    gone();
    elsewhere();
    many();
    return finished(folder);
}
