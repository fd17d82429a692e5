/*
 * Collections of the C API. Goal: lists, sets and dictionaries of every element type, embedded
 * objects, and collections inside Mixed values support every change that the header describes, refuse everything that
 * it says they refuse, and have the same content after the file was opened again. Method: random changes compared with
 * plain arrays for each type, and tables of small scenarios whose outcome is compared as text; one file per section,
 * read again at its end after a new open.
 *
 *     collections_test
 *
 * With COLLECTIONS_TEST_SKIP_CRASHES set, the test skips the checks, marked `if (thorough)`, in which another library
 * with this interface may crash or differ. Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>

#include <float.h>
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
    OUT_OF_BOUNDS = RLM_ERR_INDEX_OUT_OF_BOUNDS, ILLEGAL = RLM_ERR_ILLEGAL_OPERATION, INVALIDATED = RLM_ERR_INVALIDATED_OBJECT, MISMATCH = RLM_ERR_PROPERTY_TYPE_MISMATCH,
    NOT_NULLABLE = RLM_ERR_PROPERTY_NOT_NULLABLE, BAD_KEY = RLM_ERR_INVALID_DICTIONARY_KEY, BAD_ARGUMENT = RLM_ERR_INVALID_ARGUMENT, STATE = RLM_ERR_WRONG_TRANSACTION_STATE, LIMIT = RLM_ERR_LIMIT_EXCEEDED
};

/* ---- Handles that are released at the end of a section ---------------------------------------- */

static void* held[4000];
static size_t holding;
static void hold(void* handle) {
    if (holding == sizeof held / sizeof *held) give_up();
    held[holding++] = handle;
}
static void give_back(void) {
    while (holding) realm_release(held[--holding]);
}
static realm_object_t* O(realm_object_t* handle) { hold(handle); return handle; }
static realm_list_t* L(realm_list_t* handle) { hold(handle); return handle; }
static realm_set_t* S(realm_set_t* handle) { hold(handle); return handle; }
static realm_dictionary_t* D(realm_dictionary_t* handle) { hold(handle); return handle; }
static realm_results_t* R(realm_results_t* handle) { hold(handle); return handle; }

/* ---- Values ----------------------------------------------------------------------------------- */

static realm_value_t decimal(uint64_t high, uint64_t low) { realm_value_t v = of_type(RLM_TYPE_DECIMAL128); v.decimal128.w[1] = high; v.decimal128.w[0] = low; return v; }
static realm_value_t object_id(uint8_t first, uint8_t last) { realm_value_t v = of_type(RLM_TYPE_OBJECT_ID); v.object_id.bytes[0] = first, v.object_id.bytes[11] = last; return v; }
static realm_value_t uuid(uint8_t first, uint8_t last) { realm_value_t v = of_type(RLM_TYPE_UUID); v.uuid.bytes[0] = first, v.uuid.bytes[15] = last; return v; }

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
#define LIST RLM_COLLECTION_TYPE_LIST
#define SET RLM_COLLECTION_TYPE_SET
#define DICT RLM_COLLECTION_TYPE_DICTIONARY
#define NULLABLE RLM_PROPERTY_NULLABLE
#define OBJECT RLM_PROPERTY_TYPE_OBJECT
#define MIXED RLM_PROPERTY_TYPE_MIXED
/* Class All: of each kind a list, a set and a dictionary, required and nullable: i_l i_s i_d i_ln i_sn i_dn. */
enum { KINDS = 11, WAYS = 6 };
static const struct { const char* name; realm_property_type_e type; } kinds[KINDS] = {
    {"i", RLM_PROPERTY_TYPE_INT}, {"b", RLM_PROPERTY_TYPE_BOOL}, {"s", RLM_PROPERTY_TYPE_STRING}, {"d", RLM_PROPERTY_TYPE_BINARY},
    {"t", RLM_PROPERTY_TYPE_TIMESTAMP}, {"f", RLM_PROPERTY_TYPE_FLOAT}, {"g", RLM_PROPERTY_TYPE_DOUBLE}, {"c", RLM_PROPERTY_TYPE_DECIMAL128},
    {"o", RLM_PROPERTY_TYPE_OBJECT_ID}, {"u", RLM_PROPERTY_TYPE_UUID}, {"m", RLM_PROPERTY_TYPE_MIXED}};
static const char* const ways[WAYS] = {"l", "s", "d", "ln", "sn", "dn"};

static realm_schema_t* schema(void) {
    static char names[KINDS * WAYS][8];
    realm_property_info_t all[KINDS * WAYS], every[12];
    size_t n = 0;
    for (int k = 0; k < KINDS; k++)
        for (int w = 0; w < WAYS; w++) {
            if (kinds[k].type == MIXED && w < 3) continue;
            snprintf(names[n], sizeof names[n], "%s_%s", kinds[k].name, ways[w]);
            all[n] = property(names[n], kinds[k].type, w % 3 == 0 ? LIST : w % 3 == 1 ? SET : DICT, "", w > 2 ? NULLABLE : 0);
            n++;
        }
    realm_property_info_t node[] = {
        property("n", RLM_PROPERTY_TYPE_INT, NONE, "", 0), property("mx", MIXED, NONE, "", NULLABLE), property("link", OBJECT, NONE, "Node", NULLABLE),
        property("la", OBJECT, LIST, "Node", 0), property("sa", OBJECT, SET, "Node", 0), property("da", OBJECT, DICT, "Node", NULLABLE),
        property("lm", MIXED, LIST, "", NULLABLE), property("sm", MIXED, SET, "", NULLABLE), property("dm", MIXED, DICT, "", NULLABLE),
        property("emb", OBJECT, NONE, "Child", NULLABLE), property("embs", OBJECT, LIST, "Child", 0), property("embd", OBJECT, DICT, "Child", NULLABLE),
        property("li", RLM_PROPERTY_TYPE_INT, LIST, "", 0), property("si", RLM_PROPERTY_TYPE_INT, SET, "", 0), property("di", RLM_PROPERTY_TYPE_INT, DICT, "", NULLABLE)};
    realm_property_info_t child[] = {property("n", RLM_PROPERTY_TYPE_INT, NONE, "", 0), property("grand", OBJECT, NONE, "Grand", NULLABLE),
                                     property("grands", OBJECT, LIST, "Grand", 0), property("grandd", OBJECT, DICT, "Grand", NULLABLE), property("to", OBJECT, NONE, "Node", NULLABLE)};
    realm_property_info_t grand = property("n", RLM_PROPERTY_TYPE_INT, NONE, "", 0);
    realm_property_info_t keyed = property("id", RLM_PROPERTY_TYPE_STRING, NONE, "", RLM_PROPERTY_PRIMARY_KEY);
    for (int k = 0; k < 10; k++) every[k] = property(kinds[k].name, kinds[k].type, NONE, "", 0);
    every[10] = property("key", OBJECT, NONE, "Keyed", NULLABLE), every[11] = property("node", OBJECT, NONE, "Node", NULLABLE);
    realm_class_info_t classes[] = {class_info("All", "", n, 0, 0), class_info("Child", "", 5, 0, RLM_CLASS_EMBEDDED), class_info("Every", "", 12, 0, 0),
                                    class_info("Grand", "", 1, 0, RLM_CLASS_EMBEDDED), class_info("Keyed", "id", 1, 0, 0), class_info("Node", "", sizeof node / sizeof *node, 0, 0)};
    const realm_property_info_t* properties[] = {all, child, every, &grand, &keyed, node};
    return realm_schema_new(classes, 6, properties);
}

static bool always(realm_userdata_t userdata) { (void)userdata; return true; }
static bool alike(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static void post(realm_userdata_t userdata, realm_work_queue_t* queue) { (void)userdata, (void)queue; }

static char folder[] = "/tmp/collections-XXXXXX";
static realm_t* r; /* the open realm */
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
static void begin_section(const char* name) {
    section = name;
    r = open_another();
}
static void close_file(void) {
    if (crealm_verify) CHECK(crealm_verify(r, NULL));
    CHECK(realm_close(r));
    realm_release(r);
    give_back();
}
static void reopen(void) {
    close_file();
    r = open_another();
}
static realm_class_key_t class_key(const char* name) {
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(r, name, &found, &info) || !found) give_up();
    return info.key;
}
static realm_property_key_t property_key(realm_class_key_t table, const char* name) {
    bool found = false;
    realm_property_info_t info;
    if (!realm_find_property(r, table, name, &found, &info) || !found) give_up();
    return info.key;
}
static realm_property_key_t key(const realm_object_t* o, const char* name) { return property_key(realm_object_get_table(o), name); }
static realm_object_t* create(const char* class_name) { return O(realm_object_create(r, class_key(class_name))); }
static realm_object_t* numbered(int64_t n) {
    realm_object_t* o = create("Node");
    CHECK(realm_set_value(o, key(o, "n"), integer(n), false));
    return o;
}
static realm_object_t* node(int64_t n) { /* the Node with this number, NULL when there is none */
    realm_results_t* all = R(realm_object_find_all(r, class_key("Node")));
    size_t count = 0;
    realm_results_count(all, &count);
    for (size_t i = 0; i < count; i++) {
        realm_object_t* o = O(realm_results_get_object(all, i));
        realm_value_t v;
        if (realm_get_value(o, key(o, "n"), &v) && v.integer == n) return o;
    }
    return NULL;
}
static size_t count_of(const char* name) {
    size_t n = SIZE_MAX;
    realm_get_num_objects(r, class_key(name), &n);
    return n;
}
static realm_list_t* list(realm_object_t* o, const char* name) { return L(realm_get_list(o, key(o, name))); }
static realm_set_t* set(realm_object_t* o, const char* name) { return S(realm_get_set(o, key(o, name))); }
static realm_dictionary_t* dict(realm_object_t* o, const char* name) { return D(realm_get_dictionary(o, key(o, name))); }
static bool put(realm_object_t* o, const char* name, realm_value_t v) { return realm_set_value(o, key(o, name), v, false); }
static bool json(realm_object_t* o, const char* name, const char* s) { return realm_set_json(o, key(o, name), s); }
static size_t list_size(const realm_list_t* l) { size_t n = SIZE_MAX; return realm_list_size(l, &n) ? n : SIZE_MAX; }
static size_t set_size(const realm_set_t* s) { size_t n = SIZE_MAX; return realm_set_size(s, &n) ? n : SIZE_MAX; }
static size_t dict_size(const realm_dictionary_t* d) { size_t n = SIZE_MAX; return realm_dictionary_size(d, &n) ? n : SIZE_MAX; }
static bool linked(realm_object_t* to, const char* from_class, const char* property_name, size_t wanted) { /* this many times */
    size_t n = SIZE_MAX;
    realm_class_key_t table = class_key(from_class);
    realm_property_info_t info;
    realm_get_property(r, table, property_key(table, property_name), &info);
    if (info.type == MIXED) return true;
    realm_results_t* origins = R(realm_get_backlinks(to, table, info.key));
    return origins && realm_results_count(origins, &n) && n == wanted;
}

/* ---- Contents as text --------------------------------------------------------------------------- */

/* [1,"x",null,@2] list, (1,2) set, {a:1} dictionary, @2 the Node with n = 2, <3 <4>> an embedded object
 * with n = 3 that contains another. */
static char shown[4000];
static size_t length;
static void add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(shown + length, sizeof shown - length, format, arguments);
    va_end(arguments);
    if (length >= sizeof shown) length = sizeof shown - 1;
}
static void show(char kind, void* handle);
static void show_object(realm_object_t* o) {
    realm_value_t v;
    bool embedded = realm_object_get_table(o) != class_key("Node");
    if (!realm_get_value(o, key(o, "n"), &v)) {
        add("gone");
        return;
    }
    add(embedded ? "<%lld" : "@%lld", (long long)v.integer);
    if (!embedded) return;
    if (realm_object_get_table(o) == class_key("Child")) {
        realm_object_t* inner = realm_get_linked_object(o, key(o, "grand"));
        realm_list_t* many = realm_get_list(o, key(o, "grands"));
        realm_dictionary_t* named = realm_get_dictionary(o, key(o, "grandd"));
        if (inner) add(" "), show_object(inner);
        if (list_size(many)) add(" "), show('l', many);
        if (dict_size(named)) add(" "), show('d', named);
        realm_release(inner), realm_release(many), realm_release(named);
    }
    add(">");
}
static void show_value(realm_value_t v) {
    if (v.type == RLM_TYPE_LINK) {
        realm_object_t* o = realm_get_object(r, v.link.target_table, v.link.target);
        if (o) show_object(o);
        else add("nowhere");
        realm_release(o);
    } else if (v.type == RLM_TYPE_NULL) add("null");
    else if (v.type == RLM_TYPE_INT) add("%lld", (long long)v.integer);
    else if (v.type == RLM_TYPE_BOOL) add(v.boolean ? "true" : "false");
    else if (v.type == RLM_TYPE_STRING) add("\"%.*s\"", (int)v.string.size, v.string.data);
    else if (v.type == RLM_TYPE_DOUBLE) add("%gd", v.dnum);
    else add("type%d", (int)v.type);
}
/* A list, set, dictionary or results: kind 'l', 's', 'd' or 'r'. */
static void show(char kind, void* handle) {
    realm_list_t* l = kind == 'l' ? (realm_list_t*)handle : NULL;
    realm_set_t* s = kind == 's' ? (realm_set_t*)handle : NULL;
    realm_dictionary_t* d = kind == 'd' ? (realm_dictionary_t*)handle : NULL;
    realm_results_t* rows = kind == 'r' ? (realm_results_t*)handle : NULL;
    size_t n = 0;
    if (!(l ? realm_list_size(l, &n) : s ? realm_set_size(s, &n) : d ? realm_dictionary_size(d, &n) : rows && realm_results_count(rows, &n))) {
        add("invalid");
        return;
    }
    add(l ? "[" : s ? "(" : d ? "{" : "");
    for (size_t i = 0; i < n; i++) {
        realm_value_t k = text("?"), v = null_value();
        if (!(l ? realm_list_get(l, i, &v) : s ? realm_set_get(s, i, &v) : d ? realm_dictionary_get(d, i, &k, &v) : realm_results_get(rows, i, &v))) add("unreadable");
        if (i) add(rows ? " " : ",");
        if (d) add("%.*s:", (int)k.string.size, k.string.data);
        void* inner = NULL;
        if (v.type == RLM_TYPE_LIST && !rows) show('l', inner = l ? realm_list_get_list(l, i) : realm_dictionary_get_list(d, k));
        else if (v.type == RLM_TYPE_DICTIONARY && !rows) show('d', inner = l ? realm_list_get_dictionary(l, i) : realm_dictionary_get_dictionary(d, k));
        else show_value(v);
        realm_release(inner);
    }
    add(l ? "]" : s ? ")" : d ? "}" : "");
}
static bool matches(const char* wanted) {
    shown[length] = 0;
    bool good = !strcmp(shown, wanted);
    if (!good) printf("  wanted %s\n  got    %s\n", wanted, shown);
    return good;
}
static bool list_is(realm_list_t* l, const char* wanted) { return length = 0, show('l', l), matches(wanted); }
static bool set_is(realm_set_t* s, const char* wanted) { return length = 0, show('s', s), matches(wanted); }
static bool dict_is(realm_dictionary_t* d, const char* wanted) { return length = 0, show('d', d), matches(wanted); }
static bool rows_are(realm_results_t* rows, const char* wanted) { return length = 0, show('r', rows), matches(wanted); }
static bool shows(realm_object_t* o, const char* name, const char* wanted) { /* a property */
    realm_property_info_t info;
    realm_value_t v = null_value();
    if (!realm_get_property(r, realm_object_get_table(o), key(o, name), &info)) return false;
    if (info.collection_type == NONE && !realm_get_value(o, info.key, &v)) return false;
    if (info.collection_type == LIST || v.type == RLM_TYPE_LIST) return list_is(list(o, name), wanted);
    if (info.collection_type == SET) return set_is(set(o, name), wanted);
    if (info.collection_type == DICT || v.type == RLM_TYPE_DICTIONARY) return dict_is(dict(o, name), wanted);
    length = 0;
    show_value(v);
    return matches(wanted);
}

/* ---- Every element type against plain arrays ------------------------------------------------------ */

enum { MOST = 24, ROOM = 48, KEYS = 12 };
static const char* const names[KEYS] = {"", " ", "A", "Z$", "a", "a b", "aa", "b", "key of more than sixteen bytes", "z", "\xc3\xa9", "\xf0\x9f\x98\x80"};
static realm_value_t pool[KINDS][2][MOST]; /* the second begins with null */
static int pooled[KINDS][2];
static struct {
    int lists[KINDS][2][ROOM], count[KINDS][2]; /* indices into pool */
    uint32_t sets[KINDS][2];                    /* a bit for each value of pool */
    int dictionaries[KINDS][2][KEYS];           /* -1: no such key */
} model;

static uint64_t state = 20240607;
static int below(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)n);
}
/* Values of a kind in the order in which a set has them. */
static int samples(int kind, realm_value_t* out) {
    static char z[5000];
    memset(z, 'z', sizeof z);
    int n = 0;
    switch (kind) {
        case 0: {
            static const int64_t values[] = {INT64_MIN, -70000, -129, -1, 0, 1, 2, 15, 16, 300, 40000, INT64_MAX};
            for (size_t i = 0; i < sizeof values / sizeof *values; i++) out[n++] = integer(values[i]);
            break;
        }
        case 1: out[n++] = boolean(false), out[n++] = boolean(true); break;
        case 2:
            out[n++] = text(""), out[n++] = text_of("\0", 1), out[n++] = text("B"), out[n++] = text("a"), out[n++] = text_of("a\0b", 3), out[n++] = text("ab");
            out[n++] = text_of(z, 15), out[n++] = text_of(z, 16), out[n++] = text_of(z, 64), out[n++] = text_of(z, 5000), out[n++] = text("\xc3\xa9"), out[n++] = text("\xf0\x9f\x98\x80");
            break;
        case 3:
            out[n++] = bytes("", 0), out[n++] = bytes("\0", 1), out[n++] = bytes("\0\1", 2), out[n++] = bytes("A", 1), out[n++] = bytes(z, 70), out[n++] = bytes(z, 3000);
            out[n++] = bytes("\177", 1), out[n++] = bytes("\200", 1), out[n++] = bytes("\377", 1), out[n++] = bytes("\377\0", 2);
            break;
        case 4:
            out[n++] = moment(INT64_MIN, 0), out[n++] = moment(-1, -999999999), out[n++] = moment(-1, 0), out[n++] = moment(0, -1), out[n++] = moment(0, 0);
            out[n++] = moment(0, 1), out[n++] = moment(1, 0), out[n++] = moment(1700000000, 123456789), out[n++] = moment(INT64_MAX, 0);
            break;
        case 5:
            out[n++] = single(-INFINITY), out[n++] = single(-FLT_MAX), out[n++] = single(-1.5f), out[n++] = single(0), out[n++] = single(FLT_MIN), out[n++] = single(1.5f), out[n++] = single(INFINITY);
            break;
        case 6:
            out[n++] = real(-INFINITY), out[n++] = real(-DBL_MAX), out[n++] = real(-1.1), out[n++] = real(0), out[n++] = real(5e-324), out[n++] = real(1.1), out[n++] = real(INFINITY);
            break;
        case 7: /* -infinity, -1, 0, 1, 1.50, 10 to the 6000, infinity */
            out[n++] = decimal(0xf800000000000000u, 0), out[n++] = decimal(0xb040000000000000u, 1), out[n++] = decimal(0x3040000000000000u, 0), out[n++] = decimal(0x3040000000000000u, 1);
            out[n++] = decimal(0x303c000000000000u, 150), out[n++] = decimal(0x5f20000000000000u, 1), out[n++] = decimal(0x7800000000000000u, 0);
            break;
        case 8: out[n++] = object_id(0, 0), out[n++] = object_id(0, 1), out[n++] = object_id(1, 0), out[n++] = object_id(128, 0), out[n++] = object_id(255, 255); break;
        case 9: out[n++] = uuid(0, 0), out[n++] = uuid(0, 1), out[n++] = uuid(1, 0), out[n++] = uuid(128, 0), out[n++] = uuid(255, 255); break;
        default:
            out[n++] = boolean(false), out[n++] = boolean(true), out[n++] = integer(INT64_MIN), out[n++] = real(-2.5), out[n++] = integer(0), out[n++] = single(0.5f), out[n++] = decimal(0x3040000000000000u, 1);
            out[n++] = integer(2), out[n++] = real(1e10), out[n++] = integer(INT64_MAX), out[n++] = real(1e300), out[n++] = text(""), out[n++] = text("a"), out[n++] = text_of(z, 100);
            out[n++] = bytes("", 0), out[n++] = bytes("a", 1), out[n++] = moment(-5, 0), out[n++] = moment(5, 7), out[n++] = object_id(0, 0), out[n++] = object_id(9, 9), out[n++] = uuid(0, 0), out[n++] = uuid(9, 9);
            break;
    }
    return n;
}
static realm_property_key_t column(int kind, int way, int nullable) {
    char name[8];
    snprintf(name, sizeof name, "%s_%s", kinds[kind].name, ways[way + 3 * nullable]);
    return property_key(class_key("All"), name);
}
static bool list_agrees(const realm_list_t* l, int k, int nullable) {
    bool good = list_size(l) == (size_t)model.count[k][nullable];
    realm_value_t v;
    for (int i = 0; good && i < model.count[k][nullable]; i++) good = realm_list_get(l, (size_t)i, &v) && same(v, pool[k][nullable][model.lists[k][nullable][i]]);
    return good;
}
static bool set_agrees(const realm_set_t* s, int k, int nullable) {
    size_t at = 0;
    realm_value_t v;
    bool good = true;
    for (int i = 0; good && i < pooled[k][nullable]; i++)
        if (model.sets[k][nullable] >> i & 1) good = realm_set_get(s, at++, &v) && same(v, pool[k][nullable][i]);
    return good && set_size(s) == at;
}
static bool dictionary_agrees(const realm_dictionary_t* d, int k, int nullable) {
    size_t at = 0;
    realm_value_t found_key, v;
    bool good = true, found = false;
    for (int i = 0; good && i < KEYS; i++) {
        int wanted = model.dictionaries[k][nullable][i];
        good = realm_dictionary_contains_key(d, text(names[i]), &found) && found == (wanted >= 0);
        if (wanted < 0) continue;
        good = good && realm_dictionary_get(d, at++, &found_key, &v) && same(found_key, text(names[i])) && same(v, pool[k][nullable][wanted]);
        good = good && realm_dictionary_find(d, text(names[i]), &v, &found) && found && same(v, pool[k][nullable][wanted]);
    }
    return good && dict_size(d) == at;
}
/* One random change to each of the three collections, and a search. */
static void change(realm_list_t* l, realm_set_t* s, realm_dictionary_t* d, int k, int nullable) {
    const realm_value_t* values = pool[k][nullable];
    int many = pooled[k][nullable], *at = model.lists[k][nullable], *n = &model.count[k][nullable], pick = below(many), what = below(8);
    if (*n == ROOM) what = 6;
    if (what < 4 || *n == 0) {
        int i = what == 0 ? 0 : what == 1 ? *n / 2 : what == 2 ? *n : below(*n + 1);
        CHECK(realm_list_insert(l, (size_t)i, values[pick]));
        memmove(at + i + 1, at + i, (size_t)(*n - i) * sizeof *at);
        at[i] = pick, ++*n;
    } else if (what == 4) {
        int i = below(*n);
        CHECK(realm_list_set(l, (size_t)i, values[pick]));
        at[i] = pick;
    } else if (what < 7) {
        int i = pick % 3 == 0 ? 0 : pick % 3 == 1 ? *n - 1 : below(*n);
        CHECK(realm_list_erase(l, (size_t)i));
        memmove(at + i, at + i + 1, (size_t)(--*n - i) * sizeof *at);
    } else {
        int from = below(*n), to = below(*n), moved = at[from];
        CHECK(realm_list_move(l, (size_t)from, (size_t)to));
        memmove(at + from, at + from + 1, (size_t)(*n - 1 - from) * sizeof *at);
        memmove(at + to + 1, at + to, (size_t)(*n - 1 - to) * sizeof *at);
        at[to] = moved;
    }
    int first = 0, sought = below(many);
    while (first < *n && at[first] != sought) first++;
    size_t index = 7, wanted = 0;
    bool flag = false;
    CHECK(realm_list_find(l, &values[sought], &index, &flag) && flag == (first < *n) && index == (first < *n ? (size_t)first : SIZE_MAX));

    uint32_t* bits = &model.sets[k][nullable];
    bool there = *bits >> pick & 1;
    for (int i = 0; i < pick; i++) wanted += *bits >> i & 1;
    CHECK(realm_set_find(s, values[pick], &index, &flag) && flag == there && index == (there ? wanted : SIZE_MAX));
    if (below(3)) {
        CHECK(realm_set_insert(s, values[pick], &index, &flag) && index == wanted && flag == !there);
        *bits |= 1u << pick;
    } else {
        CHECK(realm_set_erase(s, values[pick], &flag) && flag == there);
        *bits &= ~(1u << pick);
    }

    int name = below(KEYS), *slot = &model.dictionaries[k][nullable][name];
    wanted = 0;
    for (int i = 0; i < name; i++) wanted += model.dictionaries[k][nullable][i] >= 0;
    if (below(3)) {
        CHECK(realm_dictionary_insert(d, text(names[name]), values[pick], &index, &flag) && index == wanted && flag == (*slot < 0));
        *slot = pick;
    } else {
        CHECK(realm_dictionary_erase(d, text(names[name]), &flag) && flag == (*slot >= 0));
        *slot = -1;
    }
    wanted = SIZE_MAX;
    for (int i = KEYS, at_pair = (int)dict_size(d); i-- > 0;)
        if (model.dictionaries[k][nullable][i] >= 0 && (--at_pair, model.dictionaries[k][nullable][i] == sought)) wanted = (size_t)at_pair;
    CHECK(realm_dictionary_contains_value(d, values[sought], &index) && index == wanted);
}
/* The values that a list, a set and a dictionary of one type refuse. */
static void refusals(realm_list_t* l, realm_set_t* s, realm_dictionary_t* d, int k, int nullable) {
    realm_value_t good = pool[k][nullable][pooled[k][nullable] - 1], v, wrong = kinds[k].type == RLM_PROPERTY_TYPE_STRING ? integer(1) : text("x");
    size_t n = list_size(l), index = 7;
    bool flag = true;
    FAILS(OUT_OF_BOUNDS, realm_list_get(l, n, &v)), FAILS(OUT_OF_BOUNDS, realm_list_set(l, n, good)), FAILS(OUT_OF_BOUNDS, realm_list_insert(l, n + 1, good));
    FAILS(OUT_OF_BOUNDS, realm_list_insert(l, SIZE_MAX, good)), FAILS(OUT_OF_BOUNDS, realm_list_erase(l, n)), FAILS(OUT_OF_BOUNDS, realm_list_move(l, n, 0));
    FAILS(OUT_OF_BOUNDS, realm_list_move(l, 0, n)), FAILS(OUT_OF_BOUNDS, realm_set_get(s, set_size(s), &v)), FAILS(OUT_OF_BOUNDS, realm_dictionary_get(d, dict_size(d), &v, &v));
    for (int i = 0; i < 2; i++, wrong = null_value()) {
        int number = i ? NOT_NULLABLE : MISMATCH;
        if (i ? nullable : kinds[k].type == MIXED) continue;
        FAILS(number, realm_list_insert(l, 0, wrong)), FAILS(number, realm_list_set(l, 0, wrong)), FAILS(number, realm_list_find(l, &wrong, &index, &flag));
        FAILS(number, realm_set_insert(s, wrong, &index, &flag)), FAILS(number, realm_dictionary_insert(d, text("a"), wrong, &index, &flag));
        CHECK(realm_set_find(s, wrong, &index, &flag) && !flag && index == SIZE_MAX);
        CHECK(realm_set_erase(s, wrong, &flag) && !flag);
        CHECK(realm_dictionary_contains_value(d, wrong, &index) && index == SIZE_MAX);
    }
    /* Equal numbers of other types are not found: only Mixed values are compared across types. */
    realm_results_t *rows[] = {realm_list_to_results(l), realm_set_to_results(s)};
    for (size_t i = 0; i < set_size(s) && i < 20; i++) {
        if (!CHECK(realm_set_get(s, i, &v)) || (v.type != RLM_TYPE_INT && v.type != RLM_TYPE_FLOAT && v.type != RLM_TYPE_DOUBLE)) continue;
        if (kinds[k].type == MIXED) continue;
        double x = v.type == RLM_TYPE_INT ? (double)v.integer : v.type == RLM_TYPE_FLOAT ? (double)v.fnum : v.dnum;
        if (!(fabs(x) < 1e9) || x != (double)(int64_t)x) continue;
        realm_value_t others[] = {integer((int64_t)x), single((float)x), real(x)};
        for (int other = 0; other < 3; other++) {
            bool isSame = others[other].type == v.type;
            CHECK(realm_set_find(s, others[other], &index, &flag) && flag == isSame);
            for (int r = 0; !isSame && r < 2; r++) CHECK(realm_results_find(rows[r], &others[other], &index, &flag) && !flag);
        }
    }
    realm_release(rows[0]);
    realm_release(rows[1]);
    static const char* const bad[] = {".", "a.b", ".a", "a.", "$", "$a"};
    for (int i = 0; i < 6; i++) {
        FAILS(BAD_KEY, realm_dictionary_insert(d, text(bad[i]), good, &index, &flag)), FAILS(BAD_KEY, realm_dictionary_erase(d, text(bad[i]), &flag));
        CHECK(realm_dictionary_find(d, text(bad[i]), &v, &flag) && !flag && realm_dictionary_contains_key(d, text(bad[i]), &flag) && !flag);
    }
    FAILS(BAD_ARGUMENT, realm_dictionary_insert(d, integer(1), good, &index, &flag));
    CHECK(realm_dictionary_find(d, integer(1), &v, &flag) && !flag);
    CHECK(realm_dictionary_erase(d, integer(1), &flag) && !flag);
    if (kinds[k].type != MIXED) {
        FAILS(ILLEGAL, realm_list_insert_list(l, 0)), FAILS(ILLEGAL, realm_list_set_dictionary(l, 0)), FAILS(MISMATCH, realm_list_insert(l, 0, of_type(RLM_TYPE_LIST)));
        FAILS(MISMATCH, realm_dictionary_insert(d, text("a"), of_type(RLM_TYPE_DICTIONARY), &index, &flag));
        FAILS(RLM_ERR_INVALID_DICTIONARY_VALUE, realm_dictionary_insert_list(d, text("a"))), FAILS(RLM_ERR_INVALID_DICTIONARY_VALUE, realm_dictionary_insert_dictionary(d, text("a")));
    }
    FAILS(ILLEGAL, realm_list_insert_embedded(l, 0)), FAILS(RLM_ERR_INVALID_TABLE_REF, realm_dictionary_insert_embedded(d, text("a")));
}
static void histories(void) {
    begin_section("histories");
    memset(model.dictionaries, -1, sizeof model.dictionaries);
    for (int k = 0; k < KINDS; k++) {
        pool[k][1][0] = null_value();
        pooled[k][0] = samples(k, pool[k][0]);
        pooled[k][1] = 1 + samples(k, pool[k][1] + 1);
    }
    CHECK(realm_begin_write(r));
    create("All");
    CHECK(realm_commit(r));
    static int before[sizeof model / sizeof(int) + 1];
    for (int round = 0; round < 6; round++) {
        memcpy(before, &model, sizeof model);
        CHECK(realm_begin_write(r));
        realm_object_t* o = O(realm_results_get_object(R(realm_object_find_all(r, class_key("All"))), 0));
        for (int twice = 0; twice < 2; twice++) { /* the second time it only reads, after commit or rollback */
            for (int k = 0; k < KINDS; k++)
                for (int nullable = kinds[k].type == MIXED; nullable < 2; nullable++) {
                    realm_list_t* l = L(realm_get_list(o, column(k, 0, nullable)));
                    realm_set_t* s = S(realm_get_set(o, column(k, 1, nullable)));
                    realm_dictionary_t* d = D(realm_get_dictionary(o, column(k, 2, nullable)));
                    if (twice == 0 && round < 5) {
                        for (int i = 0; i < 25; i++) change(l, s, d, k, nullable);
                        refusals(l, s, d, k, nullable);
                    } else if (twice == 0) {
                        CHECK(k % 2 ? realm_list_clear(l) && realm_set_clear(s) : realm_list_remove_all(l) && realm_set_remove_all(s));
                        CHECK(realm_dictionary_clear(d) && realm_dictionary_clear(d));
                        model.count[k][nullable] = 0, model.sets[k][nullable] = 0;
                        memset(model.dictionaries[k][nullable], -1, sizeof model.dictionaries[k][nullable]);
                    }
                    CHECK(list_agrees(l, k, nullable) && set_agrees(s, k, nullable) && dictionary_agrees(d, k, nullable));
                }
            if (twice == 0 && round == 2) memcpy(&model, before, sizeof model);
            if (twice == 0) CHECK(round == 2 ? realm_rollback(r) : realm_commit(r));
            if (twice == 0 && round % 2) {
                reopen();
                o = O(realm_results_get_object(R(realm_object_find_all(r, class_key("All"))), 0));
            }
        }
    }
    close_file();
}

/* ---- Collections of many elements ----------------------------------------------------------------- */

static void large(void) {
    begin_section("large");
    enum { MANY = 2500 };
    static int numbers[MANY], taken[3 * MANY];
    char buffer[40];
    CHECK(realm_begin_write(r));
    realm_object_t* o = create("All");
    realm_list_t *l = list(o, "i_l"), *t = list(o, "s_ln");
    realm_set_t* s = set(o, "s_s");
    realm_dictionary_t* d = dict(o, "i_d");
    bool right = true;
    int n = 0, different = 0;
    for (int i = 0; i < MANY; i++) {
        int at = i % 3 == 0 ? n : below(n + 1), value = below(3 * MANY);
        snprintf(buffer, sizeof buffer, "%04d", value);
        right = right && realm_list_insert(l, (size_t)at, integer(value)) && realm_list_insert(t, (size_t)at, text(buffer));
        right = right && realm_set_insert(s, text(buffer), NULL, NULL) && realm_dictionary_insert(d, text(buffer), integer(value), NULL, NULL);
        memmove(numbers + at + 1, numbers + at, (size_t)(n - at) * sizeof *numbers);
        numbers[at] = value, n++, different += !taken[value]++;
    }
    CHECK(right);
    for (int i = 0; i < MANY / 2; i++) {
        int at = below(n), value = numbers[at];
        bool erased = false;
        right = right && realm_list_erase(l, (size_t)at) && realm_list_erase(t, (size_t)at);
        memmove(numbers + at, numbers + at + 1, (size_t)(--n - at) * sizeof *numbers);
        if (--taken[value]) continue;
        snprintf(buffer, sizeof buffer, "%04d", value);
        right = right && realm_set_erase(s, text(buffer), &erased) && erased && realm_dictionary_erase(d, text(buffer), &erased) && erased;
        different--;
    }
    CHECK(right);
    for (int round = 0; round < 2; round++) {
        CHECK(list_size(l) == (size_t)n && list_size(t) == (size_t)n && set_size(s) == (size_t)different && dict_size(d) == (size_t)different);
        size_t at = 0, found = 0;
        realm_value_t a, b;
        for (int i = 0; i < n; i++) {
            snprintf(buffer, sizeof buffer, "%04d", numbers[i]);
            right = right && realm_list_get(l, (size_t)i, &a) && a.integer == numbers[i] && realm_list_get(t, (size_t)i, &b) && same(b, text(buffer));
        }
        for (int value = 0; value < 3 * MANY; value++) {
            if (!taken[value]) continue;
            snprintf(buffer, sizeof buffer, "%04d", value);
            right = right && realm_set_get(s, at, &a) && same(a, text(buffer)) && realm_set_find(s, a, &found, NULL) && found == at;
            right = right && realm_dictionary_get(d, at++, &a, &b) && same(a, text(buffer)) && same(b, integer(value));
        }
        CHECK(right);
        if (round) break;
        CHECK(realm_commit(r));
        reopen();
        o = O(realm_results_get_object(R(realm_object_find_all(r, class_key("All"))), 0));
        l = list(o, "i_l"), t = list(o, "s_ln"), s = set(o, "s_s"), d = dict(o, "i_d");
    }
    CHECK(realm_begin_write(r));
    while (list_size(l) > 10) right = right && realm_list_erase(l, list_size(l) / 2) && realm_list_erase(t, 0);
    CHECK(right && realm_set_clear(s) && realm_dictionary_clear(d) && realm_commit(r));
    reopen();
    o = O(realm_results_get_object(R(realm_object_find_all(r, class_key("All"))), 0));
    CHECK(list_size(list(o, "i_l")) == 10 && list_size(list(o, "s_ln")) == 10 && set_size(set(o, "s_s")) == 0 && dict_size(dict(o, "i_d")) == 0);
    close_file();
}

/* ---- Order and equality of Mixed values ------------------------------------------------------------ */

static void order(void) {
    begin_section("order");
    CHECK(realm_begin_write(r));
    realm_object_t *o = numbered(1), *other = numbered(2);
    realm_set_t* s = set(o, "sm");
    /* `joins`: the value is equal to the row above it, so that both are one element. */
    const struct { realm_value_t value; bool joins; } rows[] = {
        {null_value(), false}, {boolean(false), false}, {boolean(true), false}, {real(-1.5), false}, {single(-1.5f), true}, {integer(0), false}, {real(0), true}, {real(-0.0), true}, {decimal(0x3040000000000000u, 0), true},
        {integer(1), false}, {single(1), true}, {real(1), true}, {decimal(0x3040000000000000u, 1), true}, {decimal(0x303c000000000000u, 100), true}, {real(1.25), false}, {single(1.25f), true},
        {integer(2), false}, {text(""), false}, {text("a"), false}, {bytes("", 0), false}, {bytes("a", 1), false}, {moment(0, 0), false}, {object_id(0, 0), false}, {uuid(0, 0), false}, {link_to(o), false}, {link_to(other), false}};
    enum { ROWS = sizeof rows / sizeof *rows };
    bool flag = false;
    size_t at = 0, count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < ROWS; i++) { /* in a mixed order, the first of each group before the others */
            int row = i * 7 % ROWS;
            if (rows[row].joins == (pass == 1)) CHECK(realm_set_insert(s, rows[row].value, &at, &flag) && flag == (pass == 0));
        }
        for (size_t i = 0, next = 0; i < ROWS; i++) {
            next += !rows[i].joins;
            if (pass) CHECK(realm_set_find(s, rows[i].value, &at, &flag) && flag && at == next - 1);
            count = next;
        }
        CHECK(set_size(s) == count);
    }
    if (thorough) {
        FAILS(ILLEGAL, realm_set_insert(s, of_type(RLM_TYPE_LIST), &at, &flag)), FAILS(ILLEGAL, realm_set_insert(s, of_type(RLM_TYPE_DICTIONARY), &at, &flag));
    }
    CHECK(realm_commit(r));
    reopen();
    s = set(node(1), "sm");
    for (size_t i = 0, next = 0; i < ROWS; i++) {
        realm_value_t v;
        if (!rows[i].joins) CHECK(realm_set_get(s, next++, &v) && same(v, rows[i].value));
    }
    CHECK(realm_begin_write(r));
    CHECK(realm_set_erase(s, real(2), &flag) && flag && realm_set_erase(s, decimal(0x3040000000000000u, 1), &flag) && flag && realm_set_erase(s, integer(0), &flag) && flag);
    CHECK(realm_set_erase(s, integer(7), &flag) && !flag && set_size(s) == count - 3);
    CHECK(realm_commit(r));
    reopen();
    CHECK(set_size(set(node(1), "sm")) == count - 3);
    close_file();
}

/* ---- Embedded objects ------------------------------------------------------------------------------ */

static realm_object_t* with(realm_object_t* embedded, int64_t n) {
    if (!CHECK(O(embedded) && put(embedded, "n", integer(n)))) give_up();
    return embedded;
}
static realm_object_t* set_in(realm_object_t* o, const char* name, int64_t n) { return with(realm_set_embedded(o, key(o, name)), n); }
static realm_object_t* insert_in(realm_object_t* o, const char* name, size_t at, int64_t n) { return with(realm_list_insert_embedded(list(o, name), at), n); }
static realm_object_t* name_in(realm_object_t* o, const char* name, const char* k, int64_t n) { return with(realm_dictionary_insert_embedded(dict(o, name), text(k)), n); }
static bool counts(size_t children, size_t grands) { return count_of("Child") == children && count_of("Grand") == grands; }
static bool parent_is(realm_object_t* embedded, const realm_object_t* wanted) {
    realm_object_t* parent = NULL;
    realm_class_key_t table = RLM_INVALID_CLASS_KEY;
    bool good = realm_object_get_parent(embedded, &parent, &table) && realm_equals(parent, wanted) && table == realm_object_get_table(wanted);
    realm_release(parent);
    return good;
}
/* A child with a grandchild in each kind of property. */
static realm_object_t* furnish(realm_object_t* child) {
    realm_object_t* g[] = {set_in(child, "grand", 4), insert_in(child, "grands", 0, 6), insert_in(child, "grands", 0, 5), name_in(child, "grandd", "k", 7)};
    for (int i = 0; i < 4; i++) CHECK(parent_is(g[i], child));
    return child;
}
#define FAMILY " <4> [<5>,<6>] {k:<7>}>"

static void embedded(void) {
    begin_section("embedded");
    realm_value_t v;
    bool flag;
    CHECK(realm_begin_write(r));
    realm_object_t *o = numbered(1), *p = numbered(2);
    FAILS(ILLEGAL, realm_object_create(r, class_key("Child"))), FAILS(RLM_ERR_TOP_LEVEL_OBJECT, realm_object_get_parent(o, NULL, NULL)), FAILS(MISMATCH, realm_set_embedded(o, key(o, "n")));
    FAILS(MISMATCH, realm_set_embedded(o, key(o, "mx"))), FAILS(MISMATCH, realm_set_embedded(o, key(o, "li"))), FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_embedded(o, 123456));
    if (thorough) FAILS(MISMATCH, realm_set_embedded(o, key(o, "embs")));

    /* A single embedded object: replaced, overwritten by null, deleted directly. */
    realm_object_t* c = furnish(set_in(o, "emb", 3));
    CHECK(parent_is(c, o) && counts(1, 4) && shows(o, "emb", "<3" FAMILY));
    CHECK(realm_get_value(o, key(o, "emb"), &v) && same(v, link_to(c)));
    realm_object_t* again = set_in(o, "emb", 8);
    CHECK(!realm_object_is_valid(c) && counts(1, 0) && shows(o, "emb", "<8>"));
    FAILS(INVALIDATED, realm_get_value(c, key(c, "n"), &v)), FAILS(INVALIDATED, realm_set_embedded(c, key(c, "grand")));
    furnish(again);
    CHECK(put(o, "emb", null_value()) && counts(0, 0) && !realm_object_is_valid(again));
    c = furnish(set_in(o, "emb", 9));
    CHECK(realm_object_delete(c) && shows(o, "emb", "null") && counts(0, 0));
    c = set_in(o, "emb", 10);
    realm_object_t* g = set_in(c, "grand", 11);
    CHECK(realm_object_delete(g) && shows(o, "emb", "<10>") && counts(1, 0));
    furnish(c);
    CHECK(put(c, "to", link_to(p)) && linked(p, "Child", "to", 1));

    /* A list. */
    realm_list_t* l = list(o, "embs");
    realm_object_t* first = insert_in(o, "embs", 0, 1);
    insert_in(o, "embs", 1, 3), furnish(insert_in(o, "embs", 1, 2));
    CHECK(shows(o, "embs", "[<1>,<2" FAMILY ",<3>]") && counts(4, 8));
    if (thorough) {
        FAILS(OUT_OF_BOUNDS, realm_list_insert_embedded(l, 4)), FAILS(OUT_OF_BOUNDS, realm_list_set_embedded(l, 3));
    }
    CHECK(realm_list_move(l, 0, 2) && shows(o, "embs", "[<2" FAMILY ",<3>,<1>]") && realm_object_is_valid(first) && parent_is(first, o));
    CHECK(realm_list_move(l, 2, 1) && shows(o, "embs", "[<2" FAMILY ",<1>,<3>]"));
    with(realm_list_set_embedded(l, 0), 4);
    CHECK(shows(o, "embs", "[<4>,<1>,<3>]") && counts(4, 4));
    CHECK(realm_list_erase(l, 0) && realm_object_delete(first) && shows(o, "embs", "[<3>]") && counts(2, 4));
    FAILS(NOT_NULLABLE, realm_list_set(l, 0, null_value())), FAILS(NOT_NULLABLE, realm_list_insert(l, 0, null_value()));
    furnish(insert_in(o, "embs", 1, 5));
    CHECK(parent_is(O(realm_list_get_linked_object(l, 1)), o) && counts(3, 8));
    CHECK(realm_list_clear(l) && shows(o, "embs", "[]") && counts(1, 4));
    furnish(insert_in(o, "embs", 0, 6)), furnish(insert_in(p, "embs", 0, 7));
    CHECK(realm_list_remove_all(l) && shows(o, "embs", "[]") && counts(2, 8));

    /* A dictionary. */
    realm_dictionary_t* d = dict(o, "embd");
    c = furnish(name_in(o, "embd", "a", 1)), name_in(o, "embd", "b", 2), furnish(name_in(o, "embd", "c", 3)), name_in(o, "embd", "d", 4);
    CHECK(parent_is(c, o) && shows(o, "embd", "{a:<1" FAMILY ",b:<2>,c:<3" FAMILY ",d:<4>}") && counts(6, 16));
    name_in(o, "embd", "a", 5);
    CHECK(!realm_object_is_valid(c) && realm_dictionary_insert(d, text("c"), null_value(), NULL, &flag) && !flag);
    CHECK(shows(o, "embd", "{a:<5>,b:<2>,c:null,d:<4>}") && counts(5, 8));
    c = O(realm_dictionary_get_linked_object(d, text("b")));
    CHECK(realm_object_delete(c) && realm_dictionary_erase(d, text("a"), &flag) && flag && shows(o, "embd", "{b:null,c:null,d:<4>}") && counts(3, 8));
    if (thorough) FAILS(BAD_KEY, realm_dictionary_insert_embedded(d, text("a.b")));
    FAILS(BAD_ARGUMENT, realm_dictionary_insert_embedded(d, integer(1)));
    CHECK(shows(o, "embd", "{b:null,c:null,d:<4>}") && counts(3, 8));

    /* Only its parent may link to an embedded object. */
    c = O(realm_dictionary_get_linked_object(d, text("d")));
    FAILS(ILLEGAL, put(p, "emb", link_to(c))), FAILS(ILLEGAL, put(p, "mx", link_to(c)));
    if (thorough) {
        FAILS(ILLEGAL, realm_list_insert(list(p, "embs"), 0, link_to(c))), FAILS(ILLEGAL, realm_list_set(list(p, "embs"), 0, link_to(c)));
        FAILS(ILLEGAL, realm_dictionary_insert(dict(p, "embd"), text("k"), link_to(c), NULL, NULL)), FAILS(ILLEGAL, realm_list_insert(list(p, "lm"), 0, link_to(c)));
        FAILS(ILLEGAL, realm_set_insert(set(p, "sm"), link_to(c), NULL, NULL)), FAILS(ILLEGAL, realm_dictionary_insert(dict(p, "dm"), text("k"), link_to(c), NULL, NULL));
    }
    CHECK(parent_is(c, o) && realm_commit(r));
    FAILS(STATE, realm_set_embedded(o, key(o, "emb"))), FAILS(STATE, realm_list_insert_embedded(l, 0)), FAILS(STATE, realm_list_set_embedded(l, 0));
    FAILS(STATE, realm_dictionary_insert_embedded(d, text("z")));
    reopen();

    /* Rolled back, then deleted with the owner. */
    o = node(1), p = node(2);
    CHECK(shows(o, "emb", "<10" FAMILY) && shows(o, "embs", "[]") && shows(o, "embd", "{b:null,c:null,d:<4>}") && shows(p, "embs", "[<7" FAMILY "]") && counts(3, 8));
    CHECK(realm_begin_write(r));
    c = furnish(insert_in(o, "embs", 0, 20));
    again = O(realm_get_linked_object(o, key(o, "emb")));
    CHECK(realm_object_delete(o) && !realm_object_is_valid(again) && counts(1, 4) && linked(p, "Child", "to", 0) && realm_rollback(r));
    CHECK(!realm_object_is_valid(c) && counts(3, 8) && shows(o, "emb", "<10" FAMILY) && linked(p, "Child", "to", 1));
    CHECK(realm_begin_write(r) && realm_object_delete(p) && counts(2, 4) && realm_commit(r));
    reopen();
    o = node(1), c = O(realm_get_linked_object(o, key(o, "emb")));
    CHECK(shows(o, "emb", "<10" FAMILY) && shows(c, "to", "null") && parent_is(c, o));
    CHECK(realm_begin_write(r) && realm_object_delete(o) && counts(0, 0) && realm_commit(r));
    /* In properties that link to ordinary objects. */
    CHECK(realm_begin_write(r));
    o = numbered(1), p = create("Every");
    set_in(o, "link", 2), set_in(o, "link", 3), name_in(o, "da", "k", 4), name_in(o, "da", "k", 5);
    FAILS(ILLEGAL, realm_set_embedded(p, key(p, "key")));
    CHECK(count_of("Node") == 5 && shows(o, "link", "@3") && shows(o, "da", "{k:@5}") && shows(p, "key", "null") && realm_commit(r));
    reopen();
    CHECK(shows(node(1), "link", "@3") && shows(node(1), "da", "{k:@5}") && node(2) && node(4));
    close_file();
}

/* ---- Links in collections --------------------------------------------------------------------------- */

/* Node 1 links to Node 2 in every kind of property, and to Node 3 beside it. */
static void refer(void) {
    realm_object_t *o = numbered(1), *t = numbered(2), *u = numbered(3), *p = numbered(4), *q = numbered(5);
    realm_value_t two = link_to(t), three = link_to(u);
    CHECK(put(o, "link", two) && put(o, "mx", two));
    const char* const lists[] = {"la", "lm"};
    for (int i = 0; i < 2; i++) CHECK(realm_list_insert(list(o, lists[i]), 0, two) && realm_list_insert(list(o, lists[i]), 1, three) && realm_list_insert(list(o, lists[i]), 2, two));
    CHECK(realm_set_insert(set(o, "sa"), three, NULL, NULL) && realm_set_insert(set(o, "sa"), two, NULL, NULL));
    CHECK(realm_set_insert(set(o, "sm"), two, NULL, NULL) && realm_set_insert(set(o, "sm"), integer(9), NULL, NULL));
    const char* const dictionaries[] = {"da", "dm"};
    for (int i = 0; i < 2; i++) CHECK(realm_dictionary_insert(dict(o, dictionaries[i]), text("a"), two, NULL, NULL) && realm_dictionary_insert(dict(o, dictionaries[i]), text("b"), three, NULL, NULL));
    /* Nested in lists and dictionaries. */
    realm_list_t *l = L(realm_set_list(p, key(p, "mx"))), *m = L(realm_list_insert_list(l, 0));
    CHECK(realm_list_insert(l, 1, two) && realm_list_insert(l, 2, integer(1)) && realm_list_insert(m, 0, two) && realm_list_insert(m, 1, three));
    realm_dictionary_t *d = D(realm_set_dictionary(q, key(q, "mx"))), *e = D(realm_dictionary_insert_dictionary(d, text("x")));
    CHECK(realm_dictionary_insert(d, text("a"), two, NULL, NULL) && realm_dictionary_insert(e, text("b"), two, NULL, NULL) && realm_list_insert(L(realm_dictionary_insert_list(e, text("l"))), 0, three));
}
static bool refers(void) {
    static const char* const origins[] = {"link", "la", "sa", "da", "lm", "sm", "dm", "mx"};
    static const size_t to_two[] = {1, 2, 1, 1, 2, 1, 1, 5}, to_three[] = {0, 1, 1, 1, 1, 0, 1, 2};
    bool good = true;
    for (int i = 0; i < 8; i++) good = good && linked(node(2), "Node", origins[i], to_two[i]) && linked(node(3), "Node", origins[i], to_three[i]);
    realm_object_t* o = node(1);
    good = good && shows(o, "link", "@2") && shows(o, "mx", "@2") && shows(o, "la", "[@2,@3,@2]") && shows(o, "sa", "(@2,@3)") && shows(o, "da", "{a:@2,b:@3}");
    good = good && shows(o, "lm", "[@2,@3,@2]") && shows(o, "sm", "(9,@2)") && shows(o, "dm", "{a:@2,b:@3}");
    return good && shows(node(4), "mx", "[[@2,@3],@2,1]") && shows(node(5), "mx", "{a:@2,x:{b:@2,l:[@3]}}");
}
static bool push_link(realm_object_t* o, realm_object_t* t) { return realm_list_insert(list(o, "lm"), 0, link_to(t)) && realm_set_insert(set(o, "sm"), link_to(t), NULL, NULL); }
static void links(void) {
    begin_section("links");
    static const char* const origins[] = {"link", "la", "sa", "da", "lm", "sm", "dm", "mx"};
    CHECK(realm_begin_write(r));
    refer();
    CHECK(refers() && realm_commit(r));
    reopen();
    CHECK(refers());
    /* The target is deleted, first in a write that is rolled back. */
    for (int round = 0; round < 2; round++) {
        CHECK(realm_begin_write(r));
        realm_object_t *o = node(1), *t = node(2);
        realm_list_t* nested = L(realm_list_get_list(list(node(4), "mx"), 0));
        CHECK(realm_object_delete(t));
        FAILS(INVALIDATED, realm_object_delete(t));
        CHECK(shows(o, "link", "null") && shows(o, "mx", "null") && shows(o, "la", "[@3]") && shows(o, "sa", "(@3)") && shows(o, "da", "{a:null,b:@3}"));
        CHECK(shows(o, "lm", "[@3]") && shows(o, "sm", "(9)") && shows(o, "dm", "{a:null,b:@3}"));
        CHECK(shows(node(4), "mx", "[[@3],1]") && list_is(nested, "[@3]") && shows(node(5), "mx", "{a:null,x:{b:null,l:[@3]}}"));
        if (round == 0) CHECK(realm_rollback(r) && refers());
    }
    CHECK(realm_commit(r));
    reopen();
    realm_object_t* o = node(1);
    CHECK(shows(o, "la", "[@3]") && shows(o, "lm", "[@3]") && shows(node(4), "mx", "[[@3],1]") && shows(node(5), "mx", "{a:null,x:{b:null,l:[@3]}}"));
    /* The source is deleted: no backlinks remain. */
    CHECK(realm_begin_write(r) && realm_object_delete(o) && realm_object_delete(node(4)) && realm_object_delete(node(5)));
    for (int i = 0; i < 8; i++) CHECK(linked(node(3), "Node", origins[i], 0));
    CHECK(realm_object_delete(node(3)));

    /* Every way of removing a link also removes its backlink. */
    refer();
    o = node(1);
    realm_object_t *t = node(2), *u = node(3);
    CHECK(realm_list_set(list(o, "la"), 0, link_to(u)) && realm_list_move(list(o, "la"), 2, 0) && shows(o, "la", "[@2,@3,@3]") && linked(t, "Node", "la", 1) && linked(u, "Node", "la", 2));
    CHECK(realm_list_erase(list(o, "la"), 2) && linked(u, "Node", "la", 1) && realm_list_clear(list(o, "la")) && linked(t, "Node", "la", 0));
    CHECK(realm_list_set(list(o, "lm"), 0, integer(1)) && linked(t, "Node", "lm", 1) && realm_list_clear(list(o, "lm")) && linked(t, "Node", "lm", 0));
    CHECK(realm_set_erase(set(o, "sa"), link_to(t), NULL) && linked(t, "Node", "sa", 0) && realm_set_clear(set(o, "sa")) && linked(u, "Node", "sa", 0));
    CHECK(realm_set_erase(set(o, "sm"), link_to(t), NULL) && linked(t, "Node", "sm", 0));
    CHECK(realm_dictionary_insert(dict(o, "da"), text("a"), link_to(u), NULL, NULL) && linked(t, "Node", "da", 0) && linked(u, "Node", "da", 2));
    CHECK(realm_dictionary_insert(dict(o, "da"), text("b"), null_value(), NULL, NULL) && realm_dictionary_erase(dict(o, "da"), text("a"), NULL) && linked(u, "Node", "da", 0) && shows(o, "da", "{b:null}"));
    CHECK(realm_dictionary_insert(dict(o, "dm"), text("a"), text("x"), NULL, NULL) && linked(t, "Node", "dm", 0) && realm_dictionary_clear(dict(o, "dm")) && linked(u, "Node", "dm", 0));
    CHECK(put(o, "mx", integer(1)) && linked(t, "Node", "mx", 4) && put(o, "link", null_value()) && linked(t, "Node", "link", 0));
    realm_object_t *p = node(4), *q = node(5);
    CHECK(realm_list_erase(list(p, "mx"), 0) && linked(t, "Node", "mx", 3) && linked(u, "Node", "mx", 1) && put(p, "mx", null_value()) && linked(t, "Node", "mx", 2));
    CHECK(realm_dictionary_insert(dict(q, "mx"), text("x"), integer(1), NULL, NULL) && linked(t, "Node", "mx", 1) && linked(u, "Node", "mx", 0) && shows(q, "mx", "{a:@2,x:1}"));
    CHECK(realm_dictionary_clear(dict(q, "mx")) && linked(t, "Node", "mx", 0) && realm_commit(r));
    reopen();
    o = node(1);
    CHECK(shows(o, "la", "[]") && shows(o, "sa", "()") && shows(o, "da", "{b:null}") && shows(o, "lm", "[]") && shows(o, "sm", "(9)") && shows(o, "dm", "{}") && shows(node(5), "mx", "{}"));

    /* Links that are refused. */
    CHECK(realm_begin_write(r));
    o = node(1), t = node(2);
    realm_object_t *keyed = O(realm_object_create_with_primary_key(r, class_key("Keyed"), text("k"))), *gone = numbered(9);
    CHECK(realm_object_delete(gone));
    realm_list_t *la = list(o, "la"), *lm = list(o, "lm");
    realm_set_t *sa = set(o, "sa"), *sm = set(o, "sm");
    realm_dictionary_t *da = dict(o, "da"), *dm = dict(o, "dm");
    CHECK(realm_list_insert(la, 0, link_to(t)) && realm_list_insert(lm, 0, link_to(keyed)) && realm_set_insert(sm, link_to(keyed), NULL, NULL) && realm_dictionary_insert(dm, text("k"), link_to(keyed), NULL, NULL));
    const struct { int number; realm_value_t value; } bad[] = {{RLM_ERR_NO_SUCH_OBJECT, link_to(gone)}, {MISMATCH, link_to(keyed)}, {MISMATCH, integer(1)}, {NOT_NULLABLE, null_value()}};
    for (int i = 0; i < 4; i++) {
        FAILS(bad[i].number, realm_list_insert(la, 0, bad[i].value));
        if (i > 0 || thorough) FAILS(bad[i].number, realm_list_set(la, 0, bad[i].value));
        FAILS(bad[i].number, realm_set_insert(sa, bad[i].value, NULL, NULL));
        if (i < 3) FAILS(bad[i].number, realm_dictionary_insert(da, text("k"), bad[i].value, NULL, NULL));
        if (i < 3) FAILS(bad[i].number, put(o, "link", bad[i].value));
        if (i > 0) continue;
        FAILS(bad[i].number, realm_list_insert(lm, 0, bad[i].value));
        if (thorough) FAILS(bad[i].number, realm_list_set(lm, 0, bad[i].value));
        FAILS(bad[i].number, realm_set_insert(sm, bad[i].value, NULL, NULL)), FAILS(bad[i].number, realm_dictionary_insert(dm, text("k"), bad[i].value, NULL, NULL));
        FAILS(bad[i].number, put(o, "mx", bad[i].value));
    }
    FAILS(ILLEGAL, realm_list_insert_embedded(la, 0)), FAILS(ILLEGAL, realm_list_insert_list(la, 0));
    CHECK(shows(o, "la", "[@2]") && linked(t, "Node", "la", 1) && shows(o, "sa", "()") && shows(o, "da", "{b:null}") && linked(keyed, "Node", "dm", 1));
    CHECK(realm_object_delete(keyed) && shows(o, "lm", "[]") && shows(o, "sm", "(9)") && shows(o, "dm", "{k:null}"));

    /* Removal of elements with their targets; objects that contain themselves; linked objects. */
    CHECK(realm_equals(O(realm_list_get_linked_object(la, 0)), t) && realm_set_insert(sa, link_to(t), NULL, NULL) && put(o, "link", link_to(t)));
    u = numbered(6);
    CHECK(realm_list_insert(la, 1, link_to(u)) && realm_list_insert(la, 2, link_to(t)) && shows(o, "la", "[@2,@6,@2]"));
    CHECK(realm_list_remove_all(la) && shows(o, "la", "[]") && shows(o, "sa", "()") && shows(o, "link", "null") && !realm_object_is_valid(t) && !realm_object_is_valid(u));
    t = numbered(7);
    CHECK(push_link(o, t) && realm_list_remove_all(lm) && realm_set_remove_all(sm) && realm_object_is_valid(t)); /* lists and sets of Mixed: the targets stay */
    CHECK(realm_set_insert(sa, link_to(t), NULL, NULL) && realm_list_insert(la, 0, link_to(t)) && realm_set_remove_all(sa) && !realm_object_is_valid(t) && shows(o, "la", "[]"));
    realm_value_t self = link_to(o);
    CHECK(put(o, "link", self) && put(o, "mx", self) && realm_list_insert(la, 0, self) && realm_set_insert(sa, self, NULL, NULL) && realm_dictionary_insert(da, text("me"), self, NULL, NULL) && realm_list_insert(lm, 0, self) && realm_dictionary_insert(dm, text("me"), self, NULL, NULL));
    CHECK(realm_list_insert(L(realm_list_insert_list(lm, 1)), 0, self) && linked(o, "Node", "lm", 2));
    CHECK(realm_object_delete(o) && !realm_list_is_valid(la) && !realm_set_is_valid(sm) && !realm_dictionary_is_valid(dm));
    size_t left = count_of("Node");
    CHECK(realm_commit(r));
    reopen();
    CHECK(count_of("Node") == left && node(1) == NULL);
    close_file();
}

/* ---- Collections inside Mixed values ---------------------------------------------------------------- */

static bool push(realm_list_t* l, realm_value_t v) { return realm_list_insert(l, list_size(l), v); }
static bool pair(realm_dictionary_t* d, const char* k, realm_value_t v) { return realm_dictionary_insert(d, text(k), v, NULL, NULL); }

static void nested(void) {
    begin_section("nested");
    realm_value_t v;
    size_t index;
    bool flag = false;
    CHECK(realm_begin_write(r));
    realm_object_t* o = numbered(1);
    realm_property_key_t mx = key(o, "mx");
    numbered(2);
    FAILS(MISMATCH, realm_set_list(o, key(o, "n"))), FAILS(MISMATCH, realm_set_dictionary(o, key(o, "link")));
    if (thorough) {
        FAILS(MISMATCH, realm_set_list(o, key(o, "lm"))), FAILS(MISMATCH, realm_set_dictionary(o, key(o, "di")));
    }
    FAILS(MISMATCH, put(o, "n", of_type(RLM_TYPE_LIST))), FAILS(INVALIDATED, realm_list_size(L(realm_get_list(o, mx)), &index));
    CHECK(!realm_list_is_valid(L(realm_get_list(o, mx))) && !realm_dictionary_is_valid(D(realm_get_dictionary(o, mx))));

    /* In the property itself: a collection of the same kind is kept, another value is replaced. */
    realm_list_t* l = L(realm_set_list(o, mx));
    CHECK(realm_list_is_valid(l) && shows(o, "mx", "[]") && realm_get_value(o, mx, &v) && v.type == RLM_TYPE_LIST);
    CHECK(push(l, integer(1)) && push(l, text("x")) && shows(o, "mx", "[1,\"x\"]"));
    CHECK(list_is(L(realm_set_list(o, mx)), "[1,\"x\"]") && put(o, "mx", of_type(RLM_TYPE_LIST)) && list_is(l, "[1,\"x\"]"));
    CHECK(put(o, "mx", integer(5)) && !realm_list_is_valid(l));
    FAILS(INVALIDATED, push(l, integer(1))), FAILS(INVALIDATED, realm_list_get(l, 0, &v));
    realm_dictionary_t* d = D(realm_set_dictionary(o, mx));
    CHECK(realm_dictionary_is_valid(d) && shows(o, "mx", "{}") && realm_get_value(o, mx, &v) && v.type == RLM_TYPE_DICTIONARY);
    CHECK(pair(d, "b", integer(2)) && pair(d, "a", null_value()) && dict_is(D(realm_set_dictionary(o, mx)), "{a:null,b:2}") && put(o, "mx", of_type(RLM_TYPE_DICTIONARY)) && shows(o, "mx", "{a:null,b:2}"));
    FAILS(BAD_KEY, pair(d, "a.b", integer(1)));
    l = L(realm_set_list(o, mx));
    CHECK(!realm_dictionary_is_valid(d) && realm_list_is_valid(l) && shows(o, "mx", "[]"));
    FAILS(INVALIDATED, realm_dictionary_size(d, &index)), FAILS(INVALIDATED, pair(d, "a", integer(1)));

    /* In a list: handles stay with their collection while others are inserted and removed. */
    realm_list_t* inner = L(realm_list_insert_list(l, 0));
    realm_dictionary_t* below_it = D(realm_list_insert_dictionary(l, 1));
    CHECK(push(inner, integer(1)) && pair(below_it, "k", text("v")) && shows(o, "mx", "[[1],{k:\"v\"}]"));
    CHECK(realm_list_insert(l, 0, integer(0)) && realm_list_insert(l, 2, null_value()) && push(inner, integer(2)) && pair(below_it, "j", boolean(true)));
    CHECK(shows(o, "mx", "[0,[1,2],null,{j:true,k:\"v\"}]"));
    CHECK(realm_list_get(l, 1, &v) && v.type == RLM_TYPE_LIST && realm_list_get(l, 3, &v) && v.type == RLM_TYPE_DICTIONARY);
    CHECK(!realm_list_is_valid(L(realm_list_get_list(l, 0))) && !realm_dictionary_is_valid(D(realm_list_get_dictionary(l, 1))) && realm_list_is_valid(L(realm_list_get_list(l, 1))));
    realm_list_t* deep = L(realm_list_insert_list(inner, 1));
    CHECK(push(deep, integer(7)) && realm_list_erase(l, 0) && realm_list_insert_list(l, 0) && push(deep, integer(8)) && shows(o, "mx", "[[],[1,[7,8],2],null,{j:true,k:\"v\"}]"));
    CHECK(list_is(L(realm_list_set_list(l, 1)), "[1,[7,8],2]") && realm_list_set(l, 1, of_type(RLM_TYPE_LIST)) && list_is(inner, "[1,[7,8],2]"));
    CHECK(dict_is(D(realm_list_set_dictionary(l, 3)), "{j:true,k:\"v\"}") && list_is(L(realm_list_set_list(l, 2)), "[]") && shows(o, "mx", "[[],[1,[7,8],2],[],{j:true,k:\"v\"}]"));
    FAILS(OUT_OF_BOUNDS, realm_list_insert_list(l, 5)), FAILS(OUT_OF_BOUNDS, realm_list_insert_dictionary(l, 5)), FAILS(OUT_OF_BOUNDS, realm_list_set_list(l, 4));
    FAILS(OUT_OF_BOUNDS, realm_list_set_dictionary(l, 4));
    if (thorough) FAILS(OUT_OF_BOUNDS, realm_list_get_list(l, 4));
    CHECK(realm_commit(r));
    CHECK(list_is(deep, "[7,8]"));
    reopen();

    /* Overwritten, erased, moved. */
    o = node(1), l = list(o, "mx"), inner = L(realm_list_get_list(l, 1)), deep = L(realm_list_get_list(inner, 1)), below_it = D(realm_list_get_dictionary(l, 3));
    CHECK(shows(o, "mx", "[[],[1,[7,8],2],[],{j:true,k:\"v\"}]") && list_is(deep, "[7,8]") && realm_begin_write(r));
    if (thorough) {
        CHECK(realm_list_move(l, 1, 3) && list_is(inner, "[1,[7,8],2]") && push(deep, integer(9)) && shows(o, "mx", "[[],[],{j:true,k:\"v\"},[1,[7,8,9],2]]"));
        CHECK(realm_list_move(l, 3, 1) && realm_list_erase(deep, 2) && realm_list_is_valid(below_it ? inner : l));
    }
    CHECK(realm_list_set(inner, 1, integer(5)) && shows(o, "mx", "[[],[1,5,2],[],{j:true,k:\"v\"}]") && !realm_list_is_valid(deep));
    FAILS(INVALIDATED, push(deep, integer(1)));
    realm_dictionary_t* instead = D(realm_list_set_dictionary(l, 1));
    CHECK(!realm_list_is_valid(inner) && pair(instead, "n", real(1.5)) && shows(o, "mx", "[[],{n:1.5d},[],{j:true,k:\"v\"}]"));
    FAILS(INVALIDATED, realm_list_size(inner, &index));
    CHECK(realm_list_erase(l, 3) && !realm_dictionary_is_valid(below_it));
    FAILS(INVALIDATED, realm_dictionary_find(below_it, text("k"), &v, &flag));
    CHECK(realm_list_clear(l) && shows(o, "mx", "[]") && !realm_dictionary_is_valid(instead) && push(l, integer(1)));

    /* In a dictionary. */
    d = D(realm_set_dictionary(o, mx));
    inner = L(realm_dictionary_insert_list(d, text("m"))), below_it = D(realm_dictionary_insert_dictionary(d, text("z")));
    CHECK(push(inner, integer(1)) && pair(below_it, "y", integer(2)) && pair(d, "a", integer(0)) && pair(d, "n", integer(3)) && push(inner, integer(4)) && shows(o, "mx", "{a:0,m:[1,4],n:3,z:{y:2}}"));
    CHECK(list_is(L(realm_dictionary_insert_list(d, text("m"))), "[1,4]") && dict_is(D(realm_dictionary_insert_dictionary(d, text("z"))), "{y:2}"));
    CHECK(realm_dictionary_get(d, 1, NULL, &v) && v.type == RLM_TYPE_LIST && realm_dictionary_find(d, text("z"), &v, &flag) && flag && v.type == RLM_TYPE_DICTIONARY);
    CHECK(!realm_list_is_valid(L(realm_dictionary_get_list(d, text("a")))) && !realm_list_is_valid(L(realm_dictionary_get_list(d, text("?")))) && !realm_dictionary_is_valid(D(realm_dictionary_get_dictionary(d, text("m")))));
    FAILS(BAD_ARGUMENT, realm_dictionary_insert_list(d, integer(1))), FAILS(BAD_KEY, realm_dictionary_insert_dictionary(d, text("$z")));
    FAILS(BAD_ARGUMENT, realm_dictionary_get_list(d, integer(1))), FAILS(RLM_ERR_INVALID_PROPERTY, realm_dictionary_get_list(dict(o, "di"), text("a")));
    CHECK(realm_dictionary_erase(d, text("a"), &flag) && flag && push(inner, text("after")) && pair(d, "z", integer(9)) && !realm_dictionary_is_valid(below_it) && shows(o, "mx", "{m:[1,4,\"after\"],n:3,z:9}"));
    realm_dictionary_t* was_list = D(realm_dictionary_insert_dictionary(d, text("m")));
    CHECK(!realm_list_is_valid(inner) && pair(was_list, "q", integer(1)) && shows(o, "mx", "{m:{q:1},n:3,z:9}"));

    /* In list and dictionary properties of Mixed. */
    realm_list_t* lm = list(o, "lm");
    realm_dictionary_t* dm = dict(o, "dm");
    CHECK(realm_list_insert(lm, 0, of_type(RLM_TYPE_LIST)) && push(L(realm_list_get_list(lm, 0)), integer(1)) && pair(D(realm_list_insert_dictionary(lm, 0)), "k", integer(2)) && push(lm, integer(3)) && shows(o, "lm", "[{k:2},[1],3]"));
    CHECK(pair(dm, "l", of_type(RLM_TYPE_LIST)) && push(L(realm_dictionary_get_list(dm, text("l"))), link_to(node(2))) && pair(D(realm_dictionary_insert_dictionary(dm, text("d"))), "k", integer(2)) && shows(o, "dm", "{d:{k:2},l:[@2]}"));
    CHECK(realm_commit(r));
    reopen();
    o = node(1);
    CHECK(shows(o, "mx", "{m:{q:1},n:3,z:9}") && shows(o, "lm", "[{k:2},[1],3]") && shows(o, "dm", "{d:{k:2},l:[@2]}") && linked(node(2), "Node", "dm", 1));

    /* Rolled back: handles of the write are invalid, handles from before it are valid again. */
    if (thorough) {
        d = dict(o, "mx"), l = L(realm_list_get_list(list(o, "lm"), 1));
        CHECK(realm_begin_write(r));
        inner = L(realm_dictionary_insert_list(d, text("new")));
        CHECK(push(inner, integer(1)) && push(l, integer(2)) && realm_list_insert(list(o, "lm"), 0, null_value()) && realm_rollback(r));
        CHECK(dict_is(d, "{m:{q:1},n:3,z:9}") && list_is(l, "[1]") && !realm_list_is_valid(inner) && shows(o, "lm", "[{k:2},[1],3]"));
        CHECK(realm_begin_write(r) && realm_object_delete(o) && !realm_dictionary_is_valid(d) && !realm_list_is_valid(l));
        FAILS(INVALIDATED, pair(d, "a", integer(1))), FAILS(INVALIDATED, realm_list_insert_list(l, 0));
        CHECK(realm_rollback(r));
    }
    close_file();
}
static void depth(void) { /* 100 levels, not one more */
    begin_section("depth");
    CHECK(realm_begin_write(r));
    realm_object_t* o = numbered(3);
    realm_list_t* l = L(realm_set_list(o, key(o, "mx")));
    for (int level = 2; level <= 100; level++) l = L(realm_list_insert_list(l, 0));
    CHECK(realm_list_is_valid(l) && push(l, integer(1)));
    FAILS(LIMIT, realm_list_insert_list(l, 0)), FAILS(LIMIT, realm_list_insert_dictionary(l, 0)), FAILS(LIMIT, realm_list_set_list(l, 0));
    if (thorough) FAILS(LIMIT, realm_list_set(l, 0, of_type(RLM_TYPE_LIST)));
    CHECK(list_is(l, "[1]"));
    o = numbered(4);
    realm_dictionary_t* d = dict(o, "dm");
    for (int level = 2; level <= 100; level++) d = D(realm_dictionary_insert_dictionary(d, text("d")));
    CHECK(realm_dictionary_is_valid(d) && pair(d, "k", integer(1)));
    FAILS(LIMIT, realm_dictionary_insert_dictionary(d, text("d"))), FAILS(LIMIT, realm_dictionary_insert_list(d, text("k")));
    CHECK(dict_is(d, "{k:1}") && realm_commit(r));
    reopen();
    l = list(node(3), "mx"), d = dict(node(4), "dm");
    for (int level = 2; level <= 100; level++) l = L(realm_list_get_list(l, 0)), d = D(realm_dictionary_get_dictionary(d, text("d")));
    CHECK(list_is(l, "[1]") && dict_is(d, "{k:1}"));
    CHECK(realm_begin_write(r) && realm_object_delete(node(3)) && put(node(4), "n", integer(5)) && realm_dictionary_clear(dict(node(5), "dm")) && !realm_dictionary_is_valid(d) && realm_commit(r));
    close_file();
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static void json_texts(void) {
    begin_section("json");
    static const struct { const char *given, *wanted; } good[] = {
        {"1", "1"}, {"-1", "-1"}, {"-0", "0"}, {"1.0", "1d"}, {"1.5", "1.5d"}, {"1e3", "1000d"}, {"-2E-2", "-0.02d"}, {"1e-400", "0d"}, {"0.1", "0.1d"},
        {"9223372036854775807", "9223372036854775807"}, {"-9223372036854775808", "-9223372036854775808"}, {"18446744073709551616", "1.84467e+19d"}, {"-9223372036854775809", "-9.22337e+18d"},
        {"true", "true"}, {"false", "false"}, {"null", "null"}, {"\"\"", "\"\""}, {"\"a\"", "\"a\""}, {"\"\\u00e9\\n\\t\\\"\\\\\\/\\b\\f\\r\"", "\"\xc3\xa9\n\t\"\\/\b\f\r\""},
        {"\"\\ud83d\\ude00\\uD83D\\uDE00\"", "\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\""}, {"\"\xc3\xa9\"", "\"\xc3\xa9\""}, {"[]", "[]"}, {"{}", "{}"}, {"[[],{}]", "[[],{}]"}, {"{\"a\":[],\"b\":{}}", "{a:[],b:{}}"},
        {"[1,[2,[3,{\"k\":[null,true,\"x\",1.5]}]]]", "[1,[2,[3,{k:[null,true,\"x\",1.5d]}]]]"}, {"{\"b\":1,\"a\":{\"c\":[{}]}}", "{a:{c:[{}]},b:1}"}, {"{\"a\":1,\"a\":2}", "{a:2}"}, {"{\"a\":[1,2],\"a\":[3]}", "{a:[3]}"},
        {"{\"\":1,\"a$\":2}", "{:1,a$:2}"}, {" \t\r\n[ 1 , 2 ]\n", "[1,2]"}, {"{ \"a\" : 1 }", "{a:1}"}, {"\xef\xbb\xbf" "1", "1"}};
    static const char* const bad[] = {"", " ", "1 2", "[1] x", "{} {}", "[1,]", "{\"a\":1,}", "{a:1}", "{'a':1}", "[1", "{\"a\"}", "{\"a\":}", "nul", "tru", "NaN", "Infinity", "-", "+1", "01", ".5", "1.", "1e", "0x1", "1 // c", "/* c */1", "\"a", "\"\t\"", "\"a\nb\"",
                                      "\"\\x\"", "\"\\u12\"", "\"\\ud83d\"", "\"\\udc00\"", "\"\xff\"", "\"\xc0\x80\"", "1e400", "-1e400", "[1e400]", "\f1"};
    CHECK(realm_begin_write(r));
    realm_object_t *o = numbered(1), *p = numbered(2);
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        CHECK(put(o, "mx", text("before")) && json(o, "mx", good[i].given) && shows(o, "mx", good[i].wanted));
        if (i % 3 == 0) CHECK(put(p, "mx", null_value()) && json(p, "mx", "[1,2,3]") && json(p, "mx", good[i].given) && shows(p, "mx", good[i].wanted));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CHECK(put(o, "mx", text("before")));
        FAILS(RLM_ERR_MALFORMED_JSON, json(o, "mx", bad[i]));
        CHECK(shows(o, "mx", "\"before\""));
    }
    realm_error_t error;
    FAILS(RLM_ERR_MALFORMED_JSON, json(o, "mx", "?"));
    result(realm_get_last_error(&error) && error.categories == (RLM_ERR_CAT_LOGIC | RLM_ERR_CAT_APP_ERROR | RLM_ERR_CAT_JSON_ERROR), __LINE__, "categories of malformed JSON");
    static const char* const names_bad[] = {"{\"a.b\":1}", "{\".\":1}", "{\"$a\":1}", "[1,{\"a.b\":1}]", "{\"z\":1,\"$oid\":\"507f191e810c19729de860ea\"}"};
    for (int i = 0; i < 5; i++) {
        CHECK(put(o, "mx", text("before")));
        FAILS(BAD_KEY, json(o, "mx", names_bad[i]));
        if (thorough) CHECK(shows(o, "mx", "\"before\""));
    }
    char levels[210];
    for (int deep = 100; deep < 102; deep++) {
        memset(levels, '[', (size_t)deep), memset(levels + deep, ']', (size_t)deep), levels[2 * deep] = 0;
        CHECK(put(o, "mx", text("before")));
        if (deep == 100) CHECK(json(o, "mx", levels) && shows(o, "mx", levels));
        else FAILS(LIMIT, json(o, "mx", levels));
        if (thorough && deep > 100) CHECK(shows(o, "mx", "\"before\""));
    }
    static const char* const others[] = {"n", "link", "la", "sa", "da", "emb", "li", "si", "di"};
    for (int i = 0; i < 9; i++) FAILS(MISMATCH, json(o, others[i], "1"));
    if (thorough)
        for (int i = 0; i < 3; i++) FAILS(MISMATCH, json(o, i == 0 ? "lm" : i == 1 ? "sm" : "dm", "1"));
    CHECK(json(o, "mx", "{\"a\":[1,{\"b\":null}],\"c\":\"\"}") && realm_commit(r));
    FAILS(STATE, json(o, "mx", "1"));
    reopen();
    CHECK(shows(node(1), "mx", "{a:[1,{b:null}],c:\"\"}"));
    close_file();
}
static bool prints(realm_object_t* o, const char* wanted) {
    char* got = realm_object_to_string(o);
    bool good = got && !strcmp(got, wanted);
    if (!good) printf("  wanted %s\n  got    %s\n", wanted, got ? got : "NULL");
    realm_free(got);
    return good;
}
static void strings(void) {
    begin_section("strings");
    CHECK(realm_begin_write(r));
    realm_object_t *every = create("Every"), *o = numbered(1), *p = numbered(2), *keyed = O(realm_object_create_with_primary_key(r, class_key("Keyed"), text("k\"1")));
    CHECK(prints(every, "{\"_key\":0,\"i\":0,\"b\":false,\"s\":\"\",\"d\":\"\",\"t\":\"1970-01-01 00:00:00\",\"f\":0.0000000e+00,\"g\":0.0000000000000000e+00,\"c\":\"0\","
                        "\"o\":\"000000000000000000000000\",\"u\":\"00000000-0000-0000-0000-000000000000\",\"key\":null,\"node\":null}"));
    CHECK(put(every, "i", integer(-5)) && put(every, "b", boolean(true)) && put(every, "s", text("q\"\\\n\t/\xc3\xa9")) && put(every, "d", bytes("\0\1\377A", 4)) && put(every, "t", moment(1700000000, 123456789)) && put(every, "f", single(1.1f)));
    CHECK(put(every, "g", real(1.1)) && put(every, "c", decimal(0x303c000000000000u, 150)) && put(every, "o", object_id(1, 255)) && put(every, "u", uuid(200, 10)) && put(every, "key", link_to(keyed)) && put(every, "node", link_to(p)));
    CHECK(prints(every, "{\"_key\":0,\"i\":-5,\"b\":true,\"s\":\"q\\\"\\\\\\n\\t/\xc3\xa9\",\"d\":\"AAH/QQ==\",\"t\":\"2023-11-14 22:13:20.123456789\",\"f\":1.1000000e+00,\"g\":1.1000000000000001e+00,\"c\":\"1.50\","
                        "\"o\":\"0100000000000000000000ff\",\"u\":\"c8000000-0000-0000-0000-00000000000a\",\"key\":\"k\\\"1\",\"node\":1}"));
    CHECK(prints(keyed, "{\"id\":\"k\\\"1\"}"));
    static const char middle[] = ",\"sm\":[],\"dm\":{},\"emb\":null,\"embs\":[],\"embd\":{},\"li\":[],\"si\":[],\"di\":{}}";
    static const char front[] = "{\"_key\":0,\"n\":1,\"mx\":null,\"link\":null,\"la\":[],\"sa\":[],\"da\":{},\"lm\":[";
    /* Values as elements of a list of Mixed. */
    const struct { realm_value_t value; const char* wanted; } values[] = {
        {null_value(), "null"}, {boolean(false), "false"}, {real(NAN), "nan"}, {real(INFINITY), "inf"}, {single(-INFINITY), "-inf"}, {real(-0.0), "-0.0000000000000000e+00"}, {real(1e300), "1.0000000000000001e+300"}, {single(0.1f), "1.0000000e-01"},
        {moment(0, -1), "\"1969-12-31 23:59:59.999999999\""}, {moment(-1, -5), "\"1969-12-31 23:59:58.999999995\""}, {moment(951782400, 500000000), "\"2000-02-29 00:00:00.500000000\""}, {moment(-62135596800, 0), "\"0001-01-01 00:00:00\""},
        {moment(253402300799, 999999999), "\"9999-12-31 23:59:59.999999999\""}, {bytes("AB", 2), "\"QUI=\""}, {decimal(0x7c00000000000000u, 0), "\"NaN\""}, {decimal(0xf800000000000000u, 0), "\"-Inf\""}, {decimal(0x303e000000000000u, 5), "\"5E-1\""},
        {decimal(0x3044000000000000u, 15), "\"1.5E3\""}, {decimal(0x3034000000000000u, 1234567), "\"1.234567\""}, {decimal(0xb030000000000000u, 1234567), "\"-1.234567E-2\""}, {decimal(0x5fffed09bead87c0u, 0x378d8e63ffffffffu), "\"+9999999999999999999999999999999999E+6111\""},
        {link_to(p), "{ \"$link\": {\"table\": \"Node\", \"key\": 1}}"}, {link_to(keyed), "{ \"$link\": {\"table\": \"Keyed\", \"key\": \"k\\\"1\"}}"}};
    realm_list_t* lm = list(o, "lm");
    static char wanted[3000];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(wanted, sizeof wanted, "%s%s]%s", front, values[i].wanted, middle);
        CHECK(realm_list_clear(lm) && push(lm, values[i].value) && prints(o, wanted));
    }
    CHECK(realm_list_clear(lm) && push(lm, integer(1)) && push(L(realm_list_insert_list(lm, 1)), text("x")) && json(o, "mx", "{\"a\":[1,{}],\"b\":[]}"));
    CHECK(put(o, "link", link_to(p)) && realm_list_insert(list(o, "la"), 0, link_to(o)) && realm_set_insert(set(o, "sa"), link_to(p), NULL, NULL) && pair(dict(o, "da"), "k", link_to(p)) && pair(dict(o, "da"), "j", null_value()));
    CHECK(realm_set_insert(set(o, "sm"), text("s"), NULL, NULL) && realm_set_insert(set(o, "sm"), integer(4), NULL, NULL) && pair(dict(o, "dm"), "a b", real(1)) && pair(dict(o, "di"), "z", integer(1)) && realm_set_insert(set(o, "si"), integer(-3), NULL, NULL));
    furnish(set_in(o, "emb", 3)), insert_in(o, "embs", 0, 1), name_in(o, "embd", "n", 2);
    CHECK(pair(dict(o, "embd"), "o", null_value()) && realm_list_insert(list(o, "li"), 0, integer(8)));
#define PLAIN_CHILD(n) "{\"n\":" n ",\"grand\":null,\"grands\":[],\"grandd\":{},\"to\":null}"
    static const char full[] = "{\"_key\":0,\"n\":1,\"mx\":{\"a\":[1,{}],\"b\":[]},\"link\":1,\"la\":[0],\"sa\":[1],\"da\":{\"j\":null,\"k\":1},\"lm\":[1,[\"x\"]],\"sm\":[4,\"s\"],\"dm\":{\"a b\":1.0000000000000000e+00},"
                               "\"emb\":{\"n\":3,\"grand\":{\"n\":4},\"grands\":[{\"n\":5},{\"n\":6}],\"grandd\":{\"k\":{\"n\":7}},\"to\":null},\"embs\":[" PLAIN_CHILD("1") "],\"embd\":{\"n\":" PLAIN_CHILD("2") ",\"o\":null},\"li\":[8],\"si\":[-3],\"di\":{\"z\":1}}";
    CHECK(prints(o, full) && prints(O(realm_list_get_linked_object(list(o, "embs"), 0)), PLAIN_CHILD("1")) && realm_commit(r));
    reopen();
    o = node(1);
    CHECK(prints(o, full) && realm_begin_write(r) && realm_object_delete(o));
    FAILS(INVALIDATED, realm_object_to_string(o));
    CHECK(realm_commit(r));
    close_file();
}

/* ---- Results and other instances ---------------------------------------------------------------------- */

static void results(void) {
    begin_section("results");
    CHECK(realm_begin_write(r));
    realm_object_t *o = numbered(1), *p = numbered(2);
    realm_list_t *li = list(o, "li"), *la = list(o, "la"), *embs = list(o, "embs"), *inner = L(realm_list_insert_list(list(o, "lm"), 0));
    realm_set_t *si = set(o, "si"), *sa = set(o, "sa");
    realm_dictionary_t *di = dict(o, "di"), *da = dict(o, "da");
    size_t count = 7;
    realm_results_t *rows[9], *keys = NULL, *object_keys = NULL;
    rows[0] = R(realm_list_to_results(li)), rows[1] = R(realm_list_to_results(la)), rows[2] = R(realm_set_to_results(si)), rows[3] = R(realm_set_to_results(sa));
    rows[4] = R(realm_dictionary_to_results(di)), rows[5] = R(realm_dictionary_to_results(da)), rows[6] = R(realm_list_to_results(embs));
    CHECK(realm_dictionary_get_keys(di, &count, &keys) && count == 0 && realm_dictionary_get_keys(da, &count, &object_keys) && count == 0);
    rows[7] = R(keys), rows[8] = R(object_keys);
    for (int i = 0; i < 9; i++) CHECK(rows[i] && rows_are(rows[i], ""));
    /* The results follow the collections, inside the write and after it. */
    for (int i = 0; i < 5; i++) CHECK(realm_list_insert(li, 0, integer(i)) && realm_set_insert(si, integer(i * 7 % 5), NULL, NULL));
    CHECK(realm_list_insert(la, 0, link_to(p)) && realm_list_insert(la, 1, link_to(o)) && realm_list_insert(la, 2, link_to(p)) && realm_set_insert(sa, link_to(p), NULL, NULL) && realm_set_insert(sa, link_to(o), NULL, NULL));
    CHECK(pair(di, "b", integer(2)) && pair(di, "a", null_value()) && pair(di, "", integer(0)) && pair(da, "y", link_to(o)) && pair(da, "x", link_to(p)));
    insert_in(o, "embs", 0, 5), insert_in(o, "embs", 0, 6);
    CHECK(realm_list_insert(inner, 0, text("in")));
    static const char* const wanted[] = {"4 3 2 1 0", "@2 @1 @2", "0 1 2 3 4", "@1 @2", "0 null 2", "@2 @1", "<6> <5>", "\"\" \"a\" \"b\"", "\"x\" \"y\""};
    for (int i = 0; i < 9; i++) CHECK(rows_are(rows[i], wanted[i]));
    CHECK(realm_commit(r));
    realm_value_t v;
    bool valid = false;
    for (int i = 0; i < 9; i++) {
        CHECK(rows_are(rows[i], wanted[i]) && realm_results_is_valid(rows[i], &valid) && valid && realm_results_count(rows[i], &count));
        FAILS(OUT_OF_BOUNDS, realm_results_get(rows[i], count, &v));
    }
    CHECK(realm_equals(O(realm_results_get_object(rows[1], 1)), o) && realm_equals(O(realm_results_get_object(rows[3], 1)), p));
    CHECK(realm_dictionary_get_keys(di, &count, &keys) && count == 3 && rows_are(R(keys), wanted[7]));

    /* The same collection in a second instance, before and after it moves on. */
    realm_t* mine = r;
    realm_t* other = open_another();
    CHECK(realm_begin_read(other));
    realm_list_t* l = NULL;
    realm_set_t* s = NULL;
    realm_dictionary_t* d = NULL;
    CHECK(realm_list_resolve_in(la, other, &l) && l && realm_set_resolve_in(si, other, &s) && s && realm_dictionary_resolve_in(di, other, &d) && d);
    L(l), S(s), D(d);
    CHECK(!realm_equals(l, la) && !realm_equals(s, si) && !realm_equals(d, di));
    r = other;
    CHECK(list_is(l, "[@2,@1,@2]") && set_is(s, "(0,1,2,3,4)") && dict_is(d, "{:0,a:null,b:2}"));
    CHECK(realm_list_resolve_in(inner, other, &l) && l && list_is(L(l), "[\"in\"]"));
    r = mine;
    CHECK(realm_begin_write(r));
    CHECK(realm_list_erase(la, 0) && realm_set_erase(si, integer(0), NULL) && realm_dictionary_erase(di, text("a"), NULL) && realm_list_insert(inner, 0, integer(3)));
    p = numbered(3);
    realm_list_t* fresh = list(p, "li");
    CHECK(realm_list_insert(fresh, 0, integer(1)) && realm_commit(r));
    CHECK(rows_are(rows[1], "@1 @2") && rows_are(rows[2], "1 2 3 4") && rows_are(rows[4], "0 2") && rows_are(rows[7], "\"\" \"b\""));
    CHECK(set_is(s, "(0,1,2,3,4)") && dict_is(d, "{:0,a:null,b:2}"));
    realm_list_t* none = la;
    CHECK(realm_list_resolve_in(fresh, other, &none) && none == NULL); /* not there yet */
    bool moved = false;
    CHECK(realm_refresh(other, &moved) && moved && realm_list_resolve_in(fresh, other, &none) && none && list_is(L(none), "[1]"));
    CHECK(set_is(s, "(1,2,3,4)") && dict_is(d, "{:0,b:2}") && list_is(l, "[3,\"in\"]"));

    /* The owner is deleted: its collections and their results become invalid, in another instance after a refresh. */
    CHECK(realm_begin_write(r) && realm_object_delete(o) && realm_commit(r));
    CHECK(!realm_list_is_valid(la) && !realm_set_is_valid(si) && !realm_dictionary_is_valid(di) && !realm_list_is_valid(inner));
    CHECK(realm_set_is_valid(s) && realm_refresh(other, NULL) && !realm_set_is_valid(s) && !realm_dictionary_is_valid(d) && !realm_list_is_valid(l));
    for (int i = 0; i < 8; i++) {
        if (strchr("1356", '0' + i)) { /* objects */
            CHECK(rows_are(rows[i], "") && realm_results_is_valid(rows[i], &valid) && valid);
        } else {
            FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(rows[i], &count)), FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_get(rows[i], 0, &v));
            CHECK(realm_results_is_valid(rows[i], &valid) && !valid);
        }
    }
    FAILS(INVALIDATED, realm_list_to_results(la)), FAILS(INVALIDATED, realm_set_to_results(si)), FAILS(INVALIDATED, realm_dictionary_to_results(di));
    FAILS(INVALIDATED, realm_dictionary_get_keys(di, &count, &keys));
    CHECK(realm_close(other));
    realm_release(other);
    reopen();
    CHECK(shows(node(3), "li", "[1]") && count_of("Node") == 2 && count_of("Child") == 0);
    close_file();
}

/* ---- Outside a write, after a rollback, without the owner --------------------------------------------- */

/* Calls every function that writes to a collection; all must fail with the same error. */
static void refuse(int number, realm_object_t* o, realm_list_t* l, realm_list_t* m, realm_set_t* s, realm_dictionary_t* d, realm_dictionary_t* e) {
    size_t at;
    bool flag;
    realm_property_key_t mx = o ? key(o, "mx") : 0;
    if (o) {
        FAILS(number, realm_set_list(o, mx)), FAILS(number, realm_set_dictionary(o, mx)), FAILS(number, realm_set_json(o, mx, "[]"));
        FAILS(number, realm_set_value(o, mx, of_type(RLM_TYPE_LIST), false)), FAILS(number, realm_set_embedded(o, key(o, "emb")));
    }
    FAILS(number, realm_list_insert(l, 0, integer(1))), FAILS(number, realm_list_set(l, 0, integer(1))), FAILS(number, realm_list_move(l, 0, 1)), FAILS(number, realm_list_erase(l, 0));
    FAILS(number, realm_list_clear(l)), FAILS(number, realm_list_remove_all(l)), FAILS(number, realm_list_insert_list(m, 0)), FAILS(number, realm_list_insert_dictionary(m, 0));
    FAILS(number, realm_list_set_list(m, 0)), FAILS(number, realm_list_set_dictionary(m, 0)), FAILS(number, realm_set_insert(s, integer(9), &at, &flag));
    FAILS(number, realm_set_erase(s, integer(1), &flag)), FAILS(number, realm_set_clear(s)), FAILS(number, realm_set_remove_all(s));
    FAILS(number, realm_dictionary_insert(d, text("k"), integer(1), &at, &flag)), FAILS(number, realm_dictionary_erase(d, text("a"), &flag)), FAILS(number, realm_dictionary_clear(d));
    FAILS(number, realm_dictionary_insert_list(e, text("a"))), FAILS(number, realm_dictionary_insert_dictionary(e, text("a")));
}
static void transactions(void) {
    begin_section("transactions");
    bool deleted = true;
    realm_value_t nine = integer(9);
    size_t n;
    CHECK(realm_begin_write(r));
    realm_object_t *o = numbered(1), *p = numbered(2);
    for (int i = 0; i < 3; i++) CHECK(push(list(o, "li"), integer(i)) && push(list(o, "lm"), integer(i)) && realm_set_insert(set(o, "si"), integer(i), NULL, NULL));
    CHECK(pair(dict(o, "di"), "a", integer(1)) && pair(dict(o, "dm"), "a", integer(1)));
    CHECK(realm_remove_table(r, "Unknown", &deleted) && !deleted);
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(r, "Keyed", &deleted));
    CHECK(realm_commit(r));
    realm_list_t *l = list(o, "li"), *m = list(o, "lm"), *twin = L((realm_list_t*)realm_clone(l));
    realm_set_t* s = set(o, "si");
    realm_dictionary_t *d = dict(o, "di"), *e = dict(o, "dm");
    CHECK(realm_equals(l, twin) && realm_equals(l, list(o, "li")) && !realm_equals(l, m) && !realm_equals(s, d) && !realm_equals(l, list(p, "li")));
    refuse(STATE, o, l, m, s, d, e);
    for (int round = 0; round < 3; round++) { /* rolled back, rolled back with the owner, committed */
        CHECK(realm_begin_write(r));
        CHECK(realm_list_insert(l, 0, integer(9)) && realm_list_erase(l, 1) && realm_list_move(l, 0, 2) && realm_set_insert(s, integer(9), NULL, NULL) && realm_set_erase(s, integer(0), NULL));
        CHECK(realm_dictionary_erase(d, text("a"), NULL) && pair(d, "b", integer(2)) && realm_list_clear(m) && realm_dictionary_clear(e) && list_is(twin, "[1,2,9]") && shows(o, "si", "(1,2,9)") && shows(o, "di", "{b:2}"));
        realm_object_t* created = numbered(7);
        realm_list_t* of_created = list(created, "li");
        CHECK(push(of_created, integer(1)));
        if (round == 1) {
            CHECK(realm_object_delete(o));
            refuse(INVALIDATED, NULL, l, m, s, d, e);
            FAILS(INVALIDATED, realm_list_size(l, &n)), FAILS(INVALIDATED, realm_set_size(s, &n)), FAILS(INVALIDATED, realm_dictionary_size(d, &n));
        }
        CHECK(round == 2 ? realm_commit(r) : realm_rollback(r));
        CHECK(realm_list_is_valid(of_created) == (round == 2));
        if (round < 2) {
            FAILS(INVALIDATED, realm_list_size(of_created, &n));
            CHECK(list_is(l, "[0,1,2]") && list_is(m, "[0,1,2]") && list_is(twin, "[0,1,2]") && set_is(s, "(0,1,2)") && dict_is(d, "{a:1}") && dict_is(e, "{a:1}"));
        } else CHECK(list_is(l, "[1,2,9]") && list_is(m, "[]") && set_is(s, "(1,2,9)") && dict_is(d, "{b:2}") && dict_is(e, "{}"));
    }
    /* Output arguments that may be NULL; clearing empty collections. */
    CHECK(realm_begin_write(r) && realm_list_clear(m) && realm_list_remove_all(m) && realm_dictionary_clear(e) && realm_set_erase(s, integer(77), NULL) && realm_dictionary_erase(d, text("?"), NULL));
    CHECK(realm_dictionary_insert(d, text("c"), integer(3), NULL, NULL) && realm_set_insert(s, integer(1), NULL, NULL) && realm_list_find(l, &nine, NULL, NULL) && realm_commit(r));
    CHECK(realm_close(r));
    refuse(INVALIDATED, NULL, l, m, s, d, e);
    CHECK(!realm_list_is_valid(l) && !realm_set_is_valid(s) && !realm_dictionary_is_valid(d));
    realm_release(r), give_back();
    r = open_another();
    o = node(1);
    CHECK(shows(o, "li", "[1,2,9]") && shows(o, "lm", "[]") && shows(o, "si", "(1,2,9)") && shows(o, "di", "{b:2,c:3}") && shows(node(7), "li", "[1]"));
    close_file();
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    thorough = !getenv("COLLECTIONS_TEST_SKIP_CRASHES");
    histories();
    large();
    order();
    embedded();
    links();
    nested();
    depth();
    json_texts();
    strings();
    results();
    transactions();
    return finished(folder);
}
