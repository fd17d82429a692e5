/*
 * Queries of the C API. Goal: every query text finds the right rows, or fails with the right error number. Method:
 * tables of texts, arguments and answers over one small file that is created for each run. Each query that finds rows
 * is also counted, asked for its first row, and parsed again from its normal form.
 *
 *     query_test [-v]
 *
 * -v prints every query with its answer and its normal form or error text. With QUERY_TEST_SKIP_CRASHES set, the test
 * skips the checks in which another library with this interface may crash or differ: those marked `if (thorough)`, and
 * the rows of the tables whose answer starts with "!". Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <realm.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

#pragma weak realm_query_delete_all

/* ---- Checking --------------------------------------------------------------------------------- */

static bool thorough, verbose;


/* ---- Handles that are released at the end of a section ------------------------------------------ */

static void* held[1000];
static size_t holding;
static void* hold(void* handle) {
    if (holding == sizeof held / sizeof *held) give_up();
    return held[holding++] = handle;
}
static void give_back(size_t down_to) {
    while (holding > down_to) realm_release(held[--holding]);
}
static realm_query_t* Q(realm_query_t* handle) { return (realm_query_t*)hold(handle); }
static realm_results_t* R(realm_results_t* handle) { return (realm_results_t*)hold(handle); }

/* ---- Values ----------------------------------------------------------------------------------- */

static realm_value_t decimal(bool negative, uint64_t digits, int exponent) {
    realm_value_t v = of_type(RLM_TYPE_DECIMAL128);
    v.decimal128.w[0] = digits, v.decimal128.w[1] = (uint64_t)(6176 + exponent) << 49 | (uint64_t)negative << 63;
    return v;
}
static realm_value_t object_id(int number) { /* its last digits are the number */
    realm_value_t v = of_type(RLM_TYPE_OBJECT_ID);
    v.object_id.bytes[11] = (uint8_t)number;
    return v;
}
static realm_value_t uuid(int number) { realm_value_t v = of_type(RLM_TYPE_UUID); v.uuid.bytes[15] = (uint8_t)number; return v; }

/* ---- Schema and file ---------------------------------------------------------------------------- */

#define NONE RLM_COLLECTION_TYPE_NONE
#define LIST RLM_COLLECTION_TYPE_LIST
#define SET RLM_COLLECTION_TYPE_SET
#define DICT RLM_COLLECTION_TYPE_DICTIONARY
#define KEY RLM_PROPERTY_PRIMARY_KEY
#define NULLABLE RLM_PROPERTY_NULLABLE
#define INDEXED RLM_PROPERTY_INDEXED
#define INT RLM_PROPERTY_TYPE_INT
#define STRING RLM_PROPERTY_TYPE_STRING
#define DOUBLE RLM_PROPERTY_TYPE_DOUBLE
#define MIXED RLM_PROPERTY_TYPE_MIXED
#define OBJECT RLM_PROPERTY_TYPE_OBJECT

static realm_schema_t* schema(void) {
    realm_property_info_t addr[] = {property("city", STRING, NONE, "", NULLABLE), property("zip", INT, NONE, "", 0)};
    realm_property_info_t dog[] = {property("name", STRING, NONE, "", KEY), property("kg", DOUBLE, NONE, "", 0), property("bio", STRING, NONE, "", RLM_PROPERTY_FULLTEXT_INDEXED),
                                   property("owners", RLM_PROPERTY_TYPE_LINKING_OBJECTS, LIST, "Person", 0)};
    realm_property_info_t person[] = {
        property("id", INT, NONE, "", KEY), property("name", STRING, NONE, "", 0), property("nick", STRING, NONE, "", NULLABLE | INDEXED), property("age", INT, NONE, "", 0),
        property("rank", INT, NONE, "", NULLABLE | INDEXED), property("ok", RLM_PROPERTY_TYPE_BOOL, NONE, "", 0), property("okn", RLM_PROPERTY_TYPE_BOOL, NONE, "", NULLABLE),
        property("f", RLM_PROPERTY_TYPE_FLOAT, NONE, "", NULLABLE), property("g", DOUBLE, NONE, "", NULLABLE), property("dec", RLM_PROPERTY_TYPE_DECIMAL128, NONE, "", NULLABLE),
        property("at", RLM_PROPERTY_TYPE_TIMESTAMP, NONE, "", NULLABLE), property("oid", RLM_PROPERTY_TYPE_OBJECT_ID, NONE, "", NULLABLE),
        property("uid", RLM_PROPERTY_TYPE_UUID, NONE, "", NULLABLE), property("bin", RLM_PROPERTY_TYPE_BINARY, NONE, "", NULLABLE), property("m", MIXED, NONE, "", NULLABLE),
        property("li", INT, LIST, "", 0), property("lin", INT, LIST, "", NULLABLE), property("ls", STRING, LIST, "", NULLABLE), property("lg", DOUBLE, LIST, "", 0),
        property("lm", MIXED, LIST, "", NULLABLE), property("si", INT, SET, "", 0), property("ss", STRING, SET, "", 0), property("di", INT, DICT, "", NULLABLE),
        property("ds", STRING, DICT, "", NULLABLE), property("dm", MIXED, DICT, "", NULLABLE), property("best", OBJECT, NONE, "Person", NULLABLE),
        property("pals", OBJECT, LIST, "Person", 0), property("palset", OBJECT, SET, "Person", 0), property("paldict", OBJECT, DICT, "Person", NULLABLE),
        property("dog", OBJECT, NONE, "Dog", NULLABLE), property("home", OBJECT, NONE, "Addr", NULLABLE), property("homes", OBJECT, LIST, "Addr", 0),
        property("två ord", INT, NONE, "", 0), property("col_x", INT, NONE, "", 0)};
    person[sizeof person / sizeof *person - 1].public_name = "pubx";
    dog[3].link_origin_property_name = "dog";
    realm_class_info_t classes[] = {class_info("Addr", "", 2, 0, RLM_CLASS_EMBEDDED), class_info("Dog", "name", 3, 1, 0),
                                    class_info("Person", "id", sizeof person / sizeof *person, 0, 0)};
    const realm_property_info_t* properties[] = {addr, dog, person};
    return realm_schema_new(classes, 3, properties);
}

static bool always(realm_userdata_t userdata) { (void)userdata; return true; }
static bool alike(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static void post(realm_userdata_t userdata, realm_work_queue_t* queue) { (void)userdata, (void)queue; }

static char folder[] = "/tmp/query-XXXXXX";
static realm_t* r; /* the open realm */
static realm_class_key_t person_class, dog_class, addr_class;
static realm_t* open_realm(void) {
    char path[200];
    snprintf(path, sizeof path, "%s/people.realm", folder);
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
static realm_property_key_t key(const realm_object_t* o, const char* name) {
    bool found = false;
    realm_property_info_t info;
    if (!realm_find_property(r, realm_object_get_table(o), name, &found, &info) || !found) give_up();
    return info.key;
}
static realm_object_t* person(int64_t id) { return (realm_object_t*)hold(realm_object_find_with_primary_key(r, person_class, integer(id), NULL)); }
static realm_object_t* dog(const char* name) { return (realm_object_t*)hold(realm_object_find_with_primary_key(r, dog_class, text(name), NULL)); }
static realm_list_t* list(realm_object_t* o, const char* name) { return (realm_list_t*)hold(realm_get_list(o, key(o, name))); }
static realm_set_t* set(realm_object_t* o, const char* name) { return (realm_set_t*)hold(realm_get_set(o, key(o, name))); }
static realm_dictionary_t* dict(realm_object_t* o, const char* name) { return (realm_dictionary_t*)hold(realm_get_dictionary(o, key(o, name))); }
static void put(realm_object_t* o, const char* name, realm_value_t v) {
    if (!realm_set_value(o, key(o, name), v, false)) give_up();
}
static void push(realm_list_t* l, realm_value_t v) {
    size_t n = 0;
    if (!realm_list_size(l, &n) || !realm_list_insert(l, n, v)) give_up();
}
static void join(realm_set_t* s, realm_value_t v) {
    if (!realm_set_insert(s, v, NULL, NULL)) give_up();
}
static void pair(realm_dictionary_t* d, const char* k, realm_value_t v) {
    if (!realm_dictionary_insert(d, text(k), v, NULL, NULL)) give_up();
}
static void integers(realm_object_t* o, const char* name, int n, ...) {
    va_list arguments;
    va_start(arguments, n);
    realm_list_t* l = list(o, name);
    while (n--) push(l, integer(va_arg(arguments, int)));
    va_end(arguments);
}
static void pals(realm_object_t* o, int n, ...) {
    va_list arguments;
    va_start(arguments, n);
    realm_list_t* l = list(o, "pals");
    while (n--) push(l, link_to(person(va_arg(arguments, int))));
    va_end(arguments);
}
static void address(realm_object_t* embedded, const char* city, int zip) {
    hold(embedded);
    put(embedded, "city", city ? text(city) : null_value());
    put(embedded, "zip", integer(zip));
}

/* Six people and three dogs. Person 2 has null or empty values where possible. */
static void fill(void) {
    static const struct { const char* name; double kg; const char* bio; } dogs[] = {
        {"Rex", 30.5, "The quick brown fox, jumps"}, {"Ida", 4.0, "Quick Søren über café"}, {"Old", 0.0, ""}};
    static const struct { const char *name, *nick; int age; bool ok; } people[] = {
        {"Ann", "annie", 30, true}, {"bob", NULL, 20, false}, {"Émile", "", 40, true}, {"ann", "ANNIE", 30, false}, {"a*b?c", "x y", 50, true}, {"日本", "zé", 10, false}};
    section = "data";
    r = open_realm();
    person_class = class_key("Person"), dog_class = class_key("Dog"), addr_class = class_key("Addr");
    if (!CHECK(realm_begin_write(r))) give_up();
    for (int i = 0; i < 3; i++) {
        realm_object_t* o = (realm_object_t*)hold(realm_object_create_with_primary_key(r, dog_class, text(dogs[i].name)));
        put(o, "kg", real(dogs[i].kg)), put(o, "bio", text(dogs[i].bio));
    }
    for (int id = 1; id <= 6; id++) {
        realm_object_t* o = (realm_object_t*)hold(realm_object_create_with_primary_key(r, person_class, integer(id)));
        put(o, "name", text(people[id - 1].name)), put(o, "nick", people[id - 1].nick ? text(people[id - 1].nick) : null_value());
        put(o, "age", integer(people[id - 1].age)), put(o, "ok", boolean(people[id - 1].ok)), put(o, "två ord", integer(10 * id)), put(o, "col_x", integer(id));
        if (id != 2) put(o, "oid", object_id(id)), put(o, "uid", uuid(id));
    }
    realm_object_t *p1 = person(1), *p2 = person(2), *p3 = person(3), *p4 = person(4), *p5 = person(5), *p6 = person(6);
    realm_value_t not_a_number = of_type(RLM_TYPE_DECIMAL128);
    not_a_number.decimal128.w[1] = 0x7c00000000000000u;

    put(p1, "rank", integer(5)), put(p3, "rank", integer(-3)), put(p4, "rank", integer(0)), put(p5, "rank", integer(9007199254740993)), put(p6, "rank", integer(7));
    put(p1, "okn", boolean(true)), put(p3, "okn", boolean(false)), put(p4, "okn", boolean(true)), put(p6, "okn", boolean(false));
    put(p1, "f", single(1.5f)), put(p3, "f", single(-1.5f)), put(p4, "f", single(INFINITY)), put(p5, "f", single(0.1f)), put(p6, "f", single(2));
    put(p1, "g", real(2.5)), put(p3, "g", real(NAN)), put(p4, "g", real(1e300)), put(p5, "g", real(0.1)), put(p6, "g", real(-2.5));
    put(p1, "dec", decimal(false, 11, -1)), put(p3, "dec", not_a_number), put(p4, "dec", decimal(false, 1, 3)), put(p5, "dec", decimal(false, 1, -1)), put(p6, "dec", decimal(true, 110, -2));
    put(p1, "at", moment(0, 0)), put(p3, "at", moment(-1, -500000000)), put(p4, "at", moment(1577836800, 0)), put(p5, "at", moment(1577836800, 5)), put(p6, "at", moment(1, 999999999));
    put(p1, "bin", bytes("abc", 3)), put(p3, "bin", bytes("", 0)), put(p4, "bin", bytes("\0\377", 2)), put(p5, "bin", bytes("ABC", 3)), put(p6, "bin", bytes("\346\227", 2));
    put(p1, "m", integer(5)), put(p3, "m", text("five")), put(p4, "m", real(5));
    CHECK(realm_set_json(p5, key(p5, "m"), "[1, [2, 3], {\"k\": \"v\"}]") && realm_set_json(p6, key(p6, "m"), "{\"a\": 1, \"b\": {\"c\": [10, 20]}, \"k\": \"v\"}"));

    integers(p1, "li", 3, 1, 2, 3), integers(p3, "li", 1, 3), integers(p4, "li", 2, 5, 5), integers(p5, "li", 4, 0, 10, 20, 30);
    integers(p1, "lin", 1, 1), push(list(p1, "lin"), null_value()), push(list(p3, "lin"), null_value()), integers(p4, "lin", 2, 2, 4), push(list(p6, "lin"), null_value()), integers(p6, "lin", 2, 7, 8);
    push(list(p1, "ls"), text("a")), push(list(p1, "ls"), text("B")), push(list(p3, "ls"), null_value()), push(list(p3, "ls"), text("")), push(list(p4, "ls"), text("abc"));
    push(list(p5, "ls"), text("b")), push(list(p5, "ls"), text("a")), push(list(p6, "ls"), text("É"));
    push(list(p1, "lg"), real(1.5)), push(list(p1, "lg"), real(2.5)), push(list(p4, "lg"), real(10)), push(list(p4, "lg"), real(-10));
    integers(p1, "lm", 1, 1), push(list(p1, "lm"), text("one")), push(list(p1, "lm"), boolean(true)), push(list(p1, "lm"), null_value()), push(list(p3, "lm"), text("x")), push(list(p4, "lm"), real(1.5));
    pair((realm_dictionary_t*)hold(realm_list_insert_dictionary(list(p4, "lm"), 1)), "k", integer(1));
    realm_list_t* inner = (realm_list_t*)hold(realm_list_insert_list(list(p4, "lm"), 2));
    push(inner, integer(7)), push(inner, integer(8)), push(list(p5, "lm"), link_to(dog("Rex"))), push(list(p6, "lm"), null_value());
    join(set(p1, "si"), integer(1)), join(set(p1, "si"), integer(2)), join(set(p4, "si"), integer(5)), join(set(p6, "si"), integer(3)), join(set(p6, "si"), integer(1)), join(set(p6, "si"), integer(2));
    join(set(p1, "ss"), text("a")), join(set(p5, "ss"), text("b")), join(set(p5, "ss"), text("A"));
    pair(dict(p1, "di"), "b", integer(2)), pair(dict(p1, "di"), "a", integer(1)), pair(dict(p3, "di"), "a", null_value()), pair(dict(p4, "di"), "b", integer(5)), pair(dict(p4, "di"), "c", integer(-5));
    pair(dict(p1, "ds"), "a", text("x")), pair(dict(p5, "ds"), "a", text("X")), pair(dict(p5, "ds"), "b", null_value());
    pair(dict(p1, "dm"), "x", text("str")), pair(dict(p1, "dm"), "y", integer(1)), pair(dict(p4, "dm"), "x", null_value());
    pair((realm_dictionary_t*)hold(realm_dictionary_insert_dictionary(dict(p5, "dm"), text("x"))), "z", integer(3));
    inner = (realm_list_t*)hold(realm_dictionary_insert_list(dict(p5, "dm"), text("l")));
    push(inner, integer(1)), push(inner, integer(2));

    put(p1, "best", link_to(p2)), put(p2, "best", link_to(p1)), put(p3, "best", link_to(p3)), put(p5, "best", link_to(p1));
    pals(p1, 2, 2, 3), pals(p3, 2, 1, 1), pals(p4, 1, 5), pals(p6, 4, 1, 2, 3, 4);
    join(set(p1, "palset"), link_to(p3)), join(set(p1, "palset"), link_to(p2)), join(set(p6, "palset"), link_to(p6));
    pair(dict(p1, "paldict"), "b", link_to(p2)), pair(dict(p1, "paldict"), "n", null_value()), pair(dict(p5, "paldict"), "a", link_to(p1));
    put(p1, "dog", link_to(dog("Rex"))), put(p3, "dog", link_to(dog("Rex"))), put(p4, "dog", link_to(dog("Ida")));
    address(realm_set_embedded(p1, key(p1, "home")), "Oslo", 1), address(realm_list_insert_embedded(list(p1, "homes"), 0), "Oslo", 1), address(realm_list_insert_embedded(list(p1, "homes"), 1), "Rome", 2);
    address(realm_set_embedded(p3, key(p3, "home")), NULL, 2), address(realm_list_insert_embedded(list(p4, "homes"), 0), "Rome", 3);
    CHECK(realm_commit(r));
    give_back(0);
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

/* From a text: 30, 1.5 (a double), flt(1.5), dec(29.5), 'text', bin(text), at(5), oid(1), uuid(1), true,
 * null, link(Dog Rex), and lists of those: [1, 2]. */
static realm_value_t values[20];
static realm_query_arg_t arguments[10];
static size_t value_count, argument_count;
static char copies[1000]; /* copies of the texts among the arguments */
static size_t copied;
static const char* inner_text(const char** at, char end) { /* up to the end character, copied */
    const char* start = copies + copied;
    while (**at != end && **at) copies[copied++] = *(*at)++;
    copies[copied++] = 0;
    ++*at;
    return start;
}
static bool starts(const char** at, const char* word) {
    size_t n = strlen(word);
    if (strncmp(*at, word, n)) return false;
    *at += n;
    return true;
}
static realm_value_t one_value(const char** at) {
    if (starts(at, "null")) return null_value();
    if (starts(at, "true")) return boolean(true);
    if (starts(at, "false")) return boolean(false);
    if (starts(at, "'")) return text(inner_text(at, '\''));
    if (starts(at, "flt(")) return single((float)atof(inner_text(at, ')')));
    if (starts(at, "oid(")) return object_id(atoi(inner_text(at, ')')));
    if (starts(at, "uuid(")) return uuid(atoi(inner_text(at, ')')));
    if (starts(at, "at(")) return moment(atoi(inner_text(at, ')')), 0);
    if (starts(at, "dec(")) { /* one digit after the point */
        double d = atof(inner_text(at, ')'));
        return decimal(d < 0, (uint64_t)(fabs(d) * 10 + 0.5), -1);
    }
    if (starts(at, "bin(")) {
        const char* s = inner_text(at, ')');
        return bytes(s, strlen(s));
    }
    if (starts(at, "link(Dog ")) return link_to(dog(inner_text(at, ')')));
    if (starts(at, "link(Person ")) return link_to(person(atoi(inner_text(at, ')'))));
    char* end;
    const char* point = strpbrk(*at, ".,]");
    realm_value_t v = point && *point == '.' ? real(strtod(*at, &end)) : integer(strtoll(*at, &end, 10));
    if (end == *at) give_up();
    *at = end;
    return v;
}
static void read_arguments(const char* at) {
    value_count = argument_count = copied = 0;
    while (*at) {
        realm_query_arg_t* a = &arguments[argument_count++];
        a->arg = &values[value_count], a->nb_args = 1, a->is_list = *at == '[';
        if (a->is_list) {
            at++;
            for (a->nb_args = 0; *at != ']'; a->nb_args++) {
                values[value_count++] = one_value(&at);
                if (!starts(&at, ", ") && *at != ']') give_up();
            }
            at++;
        } else
            values[value_count++] = one_value(&at);
        if (!starts(&at, ", ") && *at) give_up();
    }
}

/* ---- Answers as text ---------------------------------------------------------------------------- */

static char answer[400];
static void answer_error(const char* when) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    if (!realm_get_last_error(&error)) snprintf(answer, sizeof answer, "no rows and no error");
    else if (!error.message || !*error.message) snprintf(answer, sizeof answer, "E%d without a message", (int)error.error);
    else snprintf(answer, sizeof answer, "E%d%s", (int)error.error, when);
}
/* The keys of the rows, or E and the number of the error, followed by the call that failed. */
static bool answer_rows(realm_results_t* rows) {
    size_t n = 0;
    *answer = 0;
    realm_clear_last_error();
    if (!rows || !realm_results_count(rows, &n)) {
        answer_error(" run");
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        realm_value_t v, primary_key;
        if (!realm_results_get(rows, i, &v)) {
            answer_error(" get");
            return false;
        }
        size_t at = strlen(answer);
        const char* blank = i ? " " : "";
        realm_object_t* o = v.type == RLM_TYPE_LINK ? realm_get_object(r, v.link.target_table, v.link.target) : NULL;
        if (!o) snprintf(answer + at, sizeof answer - at, "%s?", blank);
        else if (!realm_get_value(o, key(o, realm_object_get_table(o) == person_class ? "id" : realm_object_get_table(o) == dog_class ? "name" : "zip"), &primary_key)) give_up();
        else if (primary_key.type == RLM_TYPE_INT) snprintf(answer + at, sizeof answer - at, "%s%lld", blank, (long long)primary_key.integer);
        else snprintf(answer + at, sizeof answer - at, "%s%.*s", blank, (int)primary_key.string.size, primary_key.string.data);
        realm_release(o);
    }
    return true;
}
static bool rows_are(realm_results_t* rows, const char* wanted) {
    answer_rows(rows);
    if (!strcmp(answer, wanted)) return true;
    printf("  wanted %s\n  got    %s\n", wanted, answer);
    return false;
}
static bool finds(realm_query_t* q, const char* wanted) {
    realm_results_t* rows = q ? realm_query_find_all(q) : NULL;
    bool good = rows_are(rows, wanted);
    realm_release(rows);
    return good;
}
static realm_query_t* parse(const char* query) { return Q(realm_query_parse(r, person_class, query, 0, NULL)); }
static bool described(realm_query_t* q, const char* wanted) {
    const char* description = q ? realm_query_get_description(q) : NULL;
    if (description && !strcmp(description, wanted)) return true;
    printf("  wanted %s\n  got    %s\n", wanted, description ? description : "nothing");
    return false;
}

/* ---- Tables ------------------------------------------------------------------------------------- */

/* A query on Person, or on Dog if it begins with "@Dog "; the arguments; and the answer: primary keys in the order of
 * the rows, or E and the number of the error, followed by "run" or "get" if only counting or reading the rows fails. An
 * answer that begins with "!" is checked only when thorough; "~": the normal form only when thorough; "?": any answer
 * is accepted. */
struct row { const char *query, *arguments, *wanted; };

static void check_row(const struct row* row) {
    const char *query = row->query, *wanted = row->wanted;
    realm_class_key_t table = starts(&query, "@Dog ") ? dog_class : person_class;
    if (*wanted == '!' && !thorough) return;
    bool doubtful = *wanted == '~' && !thorough;
    if (*wanted == '!' || *wanted == '~') wanted++;
    size_t mark = holding, count = SIZE_MAX;
    char what[600];
    snprintf(what, sizeof what, "%s%s%s gives %s", row->query, *row->arguments ? " with " : "", row->arguments, *wanted ? wanted : "nothing");
    read_arguments(row->arguments);
    realm_clear_last_error();
    realm_query_t* q = Q(realm_query_parse(r, table, query, argument_count, argument_count ? arguments : NULL));
    bool late = strstr(wanted, " run") || strstr(wanted, " get"), good = false;
    realm_results_t* rows = NULL;
    if (!q) answer_error("");
    else good = answer_rows(rows = R(realm_query_find_all(q)));
    if (verbose) {
        realm_error_t error;
        memset(&error, 0, sizeof error);
        realm_get_last_error(&error);
        const char* description = q ? realm_query_get_description(q) : NULL;
        printf("%s%s%s%s => %s\n    %s\n", row->query, *row->arguments ? " << " : "", row->arguments, *row->arguments ? " >>" : "", answer, good ? description : error.message ? error.message : "-");
    }
    if (!result(*wanted == '?' || !strcmp(answer, wanted), __LINE__, what)) printf("  got    %s\n", answer);
    if (q && late && strstr(wanted, " run")) FAILS(atoi(wanted + 1), realm_query_count(q, &count));
    if (!good || !q) {
        give_back(mark);
        return;
    }
    char all[sizeof answer];
    strcpy(all, answer);
    realm_value_t first = null_value();
    bool found = false;
    size_t length = SIZE_MAX;
    if (!CHECK(realm_query_count(q, &count) && realm_results_count(rows, &length) && count == length)) printf("  %s: counted %zu\n", row->query, count);
    CHECK(realm_query_find_first(q, &first, &found) && found == (count > 0));
    if (found) {
        realm_value_t v = null_value();
        if (!CHECK(realm_results_get(rows, 0, &v) && v.type == RLM_TYPE_LINK && first.type == RLM_TYPE_LINK && v.link.target == first.link.target && v.link.target_table == first.link.target_table))
            printf("  %s\n", row->query);
    }
    /* Again, parsed from the normal form. */
    const char* description = realm_query_get_description(q);
    if (!CHECK(description != NULL) || doubtful) {
        give_back(mark);
        return;
    }
    realm_query_t* again = Q(realm_query_parse(r, table, description, 0, NULL));
    if (!again) answer_error("");
    else answer_rows(R(realm_query_find_all(again)));
    snprintf(what, sizeof what, "%s as %s", row->query, description);
    if (!result(!strcmp(answer, all), __LINE__, what)) printf("  got    %s\n", answer);
    give_back(mark);
}

/* ---- Examples, by topic -------------------------------------------------------------------------- */

static const struct row literals[] = {
    {"age == 30", "", "1 4"}, {"age == 036", "", "1 4"}, {"age == 08", "", ""}, {"age==0x1E", "", "1 4"}, {"age == -0x1E", "", "E3008"}, {"age == 3.e1", "", "1 4"},
    {"age == 30.5", "", ""}, {"age == '30x'", "", "1 4"}, {"age == \"3e1\"", "", ""}, {"age+id == 31", "", "1"}, {"age-1 == 29", "", "E1009"}, {"age -1 == 29", "", "E3008"},
    {"age - 1 == 29", "", "1 4"}, {"f == 0.1", "", "5"}, {"f == 1.5F", "", "E3008"}, {"g == 0.1f", "", ""}, {"g == -Infinity", "", ""}, {"g < 3", "", "1 3 5 6"},
    {"g < 3.0", "", "~1 5 6"}, {"g == nan", "", ""}, {"g != nan", "", "1 2 3 4 5 6"}, {"best.g == nan", "", "3"}, {"best.g < 0", "", "3"}, {"dec == nan", "", "3"},
    {"dec == 1.10", "", "1"}, {"dec == '1.1'", "", "1"}, {"age == inf", "", "E1009"}, {"age == nan", "", ""}, {"rank == 9007199254740993.0", "", ""},
    {"rank > 9007199254740992.0", "", "5"}, {"age <= 9223372036854775807", "", "1 2 3 4 5 6"}, {"okn == Nil", "", "2 5"}, {"ok == True", "", "E1009"},
    {"name == 'Ann'", "", "1"}, {"name == \"A\\\"nn\"", "", ""}, {"name == \"\\q\"", "", "E3008"}, {"name == B64\"QW5u\"", "", "1"}, {"name == B64\"Q\"", "", "E3008"},
    {"bin == BIN('abc')", "", "1"}, {"bin == binary(B64\"AP8=\")", "", "4"}, {"bin == \"abc\"", "", "E1009"}, {"bin == B64\"YWJj\"", "", "E1009"},
    {"at == 999999999999-01-01T00:00:00", "", "E3008"}, {"at > 68000000000-01-01T00:00:00", "", ""}, {"at == 68000000000-1000000000000-1000000000000T1000000000000:1000000000000:1000000000000", "", ""},
    {"at == T-1:-500000000", "", "3"}, {"at == T1:-5", "", "E3008"}, {"at == T010:0", "", ""}, {"at == 2020-01-01T00:00:00", "", "4"}, {"at == 2020-1-1@0:0:0:5", "", "5"},
    {"at == 1969-12-31T23:59:59:500000000", "", "3"}, {"at == 1899-01-01T00:00:00", "", "E1009"}, {"at == 2020-01-01", "", "E3008"},
    {"oid == oid(000000000000000000000001)", "", "1"}, {"oid == OID(000000000000000000000001)", "", "E3008"},
    {"uid > uuid(00000000-0000-0000-0000-000000000003)", "", "4 5 6"}, {"två\\ ord == 10", "", "1"}, {"two ord == 10", "", "E3008"}, {"pubx == 3", "", "3"},
    {"nope == 1", "", "E1009"}, {"`age` == 30", "", "E3008"}, {"", "", "E3008"}, {"id == 1;", "", "E3008"}, {"id == 1 // x", "", "E3008"},
};
static const struct row logic[] = {
    {"age == 30 AND id == 1 OR id == 2", "", "1 2"}, {"id == 1 AND id == 2 OR id == 3 AND id == 3", "", "3"}, {"NOT id == 1 AND id == 2", "", "2"},
    {"!(id == 1 || id == 2)", "", "3 4 5 6"}, {"NOT NOT id == 1", "", "1"}, {"Not id == 1", "", "E3008"}, {"id == 1 aNd age == 30", "", "1"}, {"id not in {1}", "", "E3008"},
    {"NOT id IN {1}", "", "2 3 4 5 6"}, {"id =< 2", "", "1 2"}, {"id => 5", "", "5 6"}, {"id <> 1", "", "2 3 4 5 6"}, {"(((id == 1)))", "", "1"}, {"(id == 1", "", "E3008"},
    {"TRUEPREDICATE", "", "1 2 3 4 5 6"}, {"falsePredicate", "", ""}, {"NOT TRUEPREDICATE", "", ""}, {"1 == 1", "", "E1009"}, {"30 == 29 + 1", "", "E1009"},
    {"TRUEPREDICATE == true", "", "E3008"},
};
static const struct row nulls[] = {
    {"rank == null", "", "2"}, {"rank != 5", "", "2 3 4 5 6"}, {"rank < null", "", ""}, {"rank <= null", "", "2"}, {"rank >= null", "", "2"}, {"age == null", "", ""},
    {"nick == ''", "", "3"}, {"nick != ''", "", "1 2 4 5 6"}, {"nick > null", "", "1 3 4 5 6"}, {"nick <= null", "", "2"}, {"bin >= null", "", "2"},
    {"best.nick > null", "", ""}, {"best.nick >= null", "", "1 4 6"}, {"best.name == null", "", "4 6"}, {"best.name != 'Ann'", "", "1 3 4 6"}, {"best.age < 25", "", "1"},
    {"NOT best.age < 25", "", "2 3 4 5 6"}, {"home.city == null", "", "2 3 4 5 6"}, {"rank + 1 == null", "", "2"}, {"okn != true", "", "2 3 5 6"},
};
static const struct row strings[] = {
    {"name BEGINSWITH 'A'", "", "1"}, {"name beginswith[c] 'a'", "", "1 4 5"}, {"name ENDSWITH[c] 'N'", "", "1 4"}, {"name CONTAINS[c] 'ÉMI'", "", "3"},
    {"name ==[c] 'émile'", "", "3"}, {"nick ==[c] 'ZÉ'", "", "6"}, {"nick ==[C] 'zé'", "", "E3008"}, {"name > 'a'", "", "2 3 4 5 6"}, {"name >= 'É'", "", "3 6"},
    {"name LIKE '?nn'", "", "1 4"}, {"name LIKE[c] 'A?N'", "", "1 4"}, {"name LIKE '?\?'", "", "6"}, {"name LIKE 'a*b?c'", "", "5"}, {"name LIKE 'ann**'", "", ""},
    {"name LIKE '**'", "", "1 2 3 4 5 6"}, {"nick LIKE '*'", "", "1 3 4 5 6"}, {"nick LIKE null", "", "2"}, {"nick BEGINSWITH null", "", "1 2 3 4 5 6"},
    {"best.name BEGINSWITH null", "", ""}, {"nick CONTAINS ''", "", "1 3 4 5 6"}, {"'axbyc' LIKE name", "", "5"}, {"name CONTAINS nick", "", "2 3"},
    {"name BEGINSWITH {'a','b'}", "", "2 4 5"}, {"age BEGINSWITH 'a'", "", ""}, {"name BEGINSWITH 3", "", "E1009"}, {"name CONTAINS age", "", "E1009"},
    {"bin BEGINSWITH[c] binary('A')", "", "1 5"}, {"age ==[c] 30", "", "1 4"}, {"best.age ==[c] 30", "", "E1009"}, {"name IN[c] {'ANN'}", "", ""},
    {"best.name IN[c] {'ANN'}", "", "2 5"},
};
static const struct row constant_lists[] = {
    {"id IN {3, 1}", "", "1 3"}, {"id == {3, 1}", "", "1 3"}, {"id != {1, 2}", "", "1 2 3 4 5 6"}, {"NONE {1, 2} == id", "", "3 4 5 6"}, {"id IN {}", "", ""},
    {"id == ALL {}", "", "1 2 3 4 5 6"}, {"id > {1, 2}", "", "2 3 4 5 6"}, {"id > ALL {1, 2}", "", "3 4 5 6"}, {"id IN {,1}", "", "1"}, {"id IN {1,}", "", "E3008"},
    {"id IN (1,2)", "", "E3008"}, {"{1,2} IN id", "", "E3015"}, {"name IN 'abc'", "", "E3015"}, {"age IN {30.0, '20'}", "", "1 2 4"}, {"age IN {'x', 30}", "", "1 4"},
    {"g IN {2.5, 1}", "", "1"}, {"g IN {1}", "", "!"}, {"ok IN {1}", "", "!"}, {"name IN {1}", "", ""}, {"nick IN {null, ''}", "", "2 3"},
    {"best.age IN {20, 30}", "", "1 2 5"}, {"NOT best.age IN {20}", "", "2 3 4 5 6"}, {"age BETWEEN {20, 30}", "", "1 2 4"}, {"age BETWEEN {30, 20}", "", ""},
    {"age BETWEEN {20}", "", "E1009"}, {"age BETWEEN (20, 30)", "", "E3008"}, {"name BETWEEN {'A', 'b'}", "", "1 4 5"}, {"at BETWEEN {T0:0, T2:0}", "", "1 6"},
    {"at BETWEEN {T0:0, null}", "", "!"}, {"li BETWEEN {1, 10}", "", "E1009"}, {"ALL li BETWEEN {1, 10}", "", "1 2 3 4 6"}, {"ALL pals.age BETWEEN {25, 35}", "", "2 3 5"},
    {"5 BETWEEN {1, 10}", "", "E1009"},
};
static const struct row collections[] = {
    {"li == 3", "", "1 3"}, {"SOME li == 3", "", "1 3"}, {"Any li == 3", "", "E3008"}, {"ALL li == 3", "", "2 3 6"}, {"NONE li == 3", "", "2 4 5 6"},
    {"li != 3", "", "1 4 5"}, {"ALL li != 3", "", "2 4 5 6"}, {"3 IN li", "", "1 3"}, {"id IN li", "", "1 3"}, {"li IN {1, 2}", "", ""}, {"li == {1,2,3}", "", "1"},
    {"li == {3,2,1}", "", ""}, {"li == ANY {1,2,3}", "", "1 3"}, {"ALL li IN {1,2,3}", "", "1 2 3 6"}, {"li == {}", "", "2 6"}, {"li != {}", "", "1 2 3 4 5 6"},
    {"li != {1,2,4}", "", "2 3 4 5 6"}, {"li == lin", "", "E1009"}, {"ANY li == ANY si", "", "E1009"}, {"li[0] == 1", "", "1"}, {"li[FIRST] == 1", "", "1"},
    {"li[LAST] == 3", "", "1 3"}, {"li[First] == 1", "", "E3008"}, {"li[9] == null", "", "1 3 4 5"}, {"li[-1] == 3", "", "E3008"}, {"li[*] == 3", "", "1 3"},
    {"li[SIZE] == 2", "", "4"}, {"li.@count == 3", "", "1"}, {"ALL li.@count == 3", "", "?"}, {"si[0] == 1", "", "E1009"}, {"si == {1,2}", "", "1"},
    {"lin == null", "", "1 3 6"}, {"ALL lin != null", "", "2 4 5"}, {"lin == {1, null}", "", "1"}, {"ls.length == 1", "", "1 5"}, {"ls CONTAINS[c] 'B'", "", "1 4 5"},
    {"li.length == 1", "", "E1009"}, {"lm == 'one'", "", "1"}, {"lm > 1", "", "4"}, {"ALL lm == null", "", "2 6"}, {"lm[5] == null", "", "1 3 4 5 6"},
    {"lm[1].@count == 1", "", "!4"}, {"di['a'] == 1", "", "1"}, {"di.a == 1", "", "1"}, {"di[a] == 1", "", "E3008"}, {"di['zz'] == null", "", "1 3 4"}, {"di == 5", "", "4"},
    {"di == '5'", "", ""}, {"di.@values > 4", "", "4"}, {"di.@keys == 'b'", "", "1 4"}, {"ALL dm.@keys == 'x'", "", "!2 3 4 6"}, {"ALL dm.@values == null", "", "2 3 4 6"},
    {"dm['x'].@count == 2", "", "!"}, {"dm.@keys.@count == 2", "", "E1009"}, {"ANY age == 30", "", "E1009"}, {"ANY best.age == 30", "", "E1009"},
};
static const struct row links[] = {
    {"best == NULL", "", "4 6"}, {"best != NULL", "", "1 2 3 5"}, {"best.best == NULL", "", "4 6"}, {"best == obj(\"Person\", 1)", "", "2 5"},
    {"best == obj(\"class_Person\", 1)", "", "2 5"}, {"best == obj(\"Person\", 99)", "", "!"}, {"best == obj(\"Nope\", 1)", "", "E1009"},
    {"best == obj(\"Dog\", \"Rex\")", "", "E3015"}, {"best == O1", "", "1"}, {"best == 5", "", "E1009"}, {"best > O1", "", "E1009"}, {"best IN {O1, O0}", "", "1 2 5"},
    {"best == {O0, O1}", "", "!1 2 5"}, {"best == dog", "", "6"}, {"best IN pals", "", "1"}, {"pals == obj(\"Person\", 1)", "", "3 6"},
    {"ALL pals == obj(\"Person\", 1)", "", "2 3 5"}, {"pals != obj(\"Person\", 1)", "", "1 4 6"}, {"pals == NULL", "", "E1009"}, {"pals == {O1, O2}", "", "1 6"},
    {"pals IN {O1, O2}", "", "~1"}, {"pals.age == 30", "", "3 6"}, {"ALL pals.age == 30", "", "2 3 5"}, {"NONE pals.age == 30", "", "1 2 4 5"},
    {"ALL pals.li == 3", "", "1 2 5 6"}, {"ALL pals.pals.id == 1", "", "1 2 4 5"}, {"pals[0].id == 2", "", "1"}, {"pals[LAST].id == 3", "", "1"},
    {"pals[9].id == null", "", ""}, {"pals[0] == obj(\"Person\", 1)", "", "E1009"}, {"pals.@count == 0", "", "2 5"}, {"best.@count == 0", "", "4 6"},
    {"best.li.@count == 0", "", "1 4 6"}, {"best.pals.@count == 0", "", "1"}, {"ALL pals.pals.@count == 2", "", "?"}, {"paldict['a'] == obj(\"Person\", 1)", "", "5"},
    {"paldict.a.id == 1", "", "5"}, {"paldict['zz'] == NULL", "", "1 5"}, {"paldict.@count == 1", "", "1 5"}, {"home.city == 'Oslo'", "", "1"},
    {"homes.city == 'Rome'", "", "1 4"}, {"homes[0].city == 'Oslo'", "", "1"}, {"best['age'] == 20", "", "1"}, {"age.name == 1", "", "E1009"},
    {"best.nope == 1", "", "E1009"}, {"@links.@count > 3", "", "1 2 3"}, {"@links.Person.best.@count == 2", "", "1"}, {"@links.Person.best.age == 20", "", "1"},
    {"ALL @links.Person.best.age > 20", "", "2 3 4 5 6"}, {"@links.class_Person.best.@count == 2", "", "E1009"}, {"@links.Person.nope.@count == 2", "", "E1009"},
    {"@links.Person.best == obj(\"Person\", 2)", "", "!1"}, {"ANY @links.Person.best IN {O1}", "", "~1"}, {"best.@links.Person.best.id == 5", "", "2 5"},
    {"@links.Person", "", "E3008"}, {"@Dog owners.@count == 2", "", "Rex"}, {"@Dog owners.name == 'Ann'", "", "Rex"}, {"@Dog ALL owners.age >= 30", "", "Rex Ida Old"},
    {"@Dog @links.@count == 3", "", "Rex"}, {"dog.owners.name == 'Émile'", "", "1 3"},
};
static const struct row aggregates[] = {
    {"li.@sum == 6", "", "1"}, {"li.@sum == 0", "", "2 6"}, {"li.@min == null", "", "2 6"}, {"li.@avg > 2", "", "3 4 5"}, {"lin.@avg == 7.5", "", "6"},
    {"lg.@avg == 0", "", "4"}, {"lm.@sum == 1.5", "", "4"}, {"lm.@max == 'one'", "", "1"}, {"lm.@min == true", "", "1"}, {"di.@sum == 0", "", "2 3 4 5 6"},
    {"di.@max == 5", "", "4"}, {"ls.@min == 'a'", "", "E1009"}, {"pals.@sum.age == 60", "", "1 3"}, {"pals.@sum.age == 0", "", "2 5"}, {"pals.@avg.age == null", "", "2 5"},
    {"pals.@min.at == T0:0", "", "3"}, {"pals.@sum.at == T0:0", "", "E1009"}, {"pals.@min.name == 'a'", "", "E1009"}, {"pals.@max.nope == 1", "", "E1009"},
    {"pals.pals.@max.age == 40", "", "3"}, {"best.@sum.age == 20", "", "1"}, {"homes.@avg.zip == 1.5", "", "1"}, {"paldict.@sum.age == 20", "", "1"},
    {"@links.Person.best.@sum.age == 70", "", "1"}, {"pals.age.@min == 20", "", "E1009"}, {"age.@min == 20", "", "E1009"}, {"li.@min.age == 1", "", "E1009"},
    {"ANY pals.@min.age == 20", "", "E3008"}, {"name.@count == 3", "", "1 2 4"}, {"name.@size == 6", "", "3 6"}, {"nick.@count == null", "", "2"},
    {"bin.@size == 2", "", "4 6"}, {"age.@count == 1", "", "E1009"}, {"5 < li.@sum", "", "1 4 5"}, {"li.@sum > li.@count", "", "1 3 4 5"},
    {"SUBQUERY(pals, $x, $x.age > 25).@count > 0", "", "1 3 4 6"}, {"SUBQUERY(pals, $x, $x.age > 25).@count == 0", "", "2 5"},
    {"SUBQUERY(pals, $x, TRUEPREDICATE).@count == 2", "", "1 3"}, {"SUBQUERY(pals, $x, age > 25).@size == 1", "", "1 4"},
    {"SUBQUERY(pals, x, x.age > 25).@count == 1", "", "E3008"}, {"SUBQUERY(pals, $x, $y.age > 25).@count == 1", "", "E1009"},
    {"SUBQUERY(pals, $x, $x.age > 25) == 1", "", "E3008"}, {"SUBQUERY(pals, $x, SUBQUERY($x.pals, $y, $y.age < 30).@count > 0).@count > 0", "", "3 6"},
    {"SUBQUERY(pals, $x, SUBQUERY($x.pals, $x, $x.age < 30).@count > 0).@count > 0", "", "E1009"}, {"SUBQUERY(best.pals, $x, $x.age > 25).@count > 0", "", "2 3 5"},
    {"SUBQUERY(@links.Person.best, $x, $x.age > 25).@count > 0", "", "1 2 3"}, {"SUBQUERY(li, $x, $x > 1).@count > 0", "", "E1009"},
    {"SUBQUERY(best, $x, $x.age > 1).@count > 0", "", "E1009"}, {"SUBQUERY(palset, $x, $x.age > 1).@count > 0", "", "E1009"},
};
static const struct row arithmetic[] = {
    {"age + 1 == 31", "", "1 4"}, {"age - id * 2 == 28", "", "1"}, {"(age - id) * 2 == 58", "", "1"}, {"age - 5 - 5 == 20", "", "1 4"}, {"age / 4 == 7", "", "1 4"},
    {"age / 4.0 == 7.5", "", ""}, {"age / 0 > 100", "", "1 2 3 4 5 6"}, {"age / 0.0 == inf", "", "E1009"}, {"age == 7/2.0", "", ""}, {"age + f == 31.5", "", "1"},
    {"age + '1' == 31", "", "1 4"}, {"name + 'x' == 'y'", "", "E3015"}, {"best.age + age == 50", "", "1 2"}, {"li + 1 == 4", "", "1 3"}, {"ALL li + 1 > 3", "", "2 3 4 6"},
    {"li + lin == 2", "", "!E1009"}, {"m + 1 == 6", "", "1 4"}, {"li.@max * 2 == 10", "", "4"}, {"-age == -30", "", "E3008"}, {"id == best.id", "", "3"},
    {"age > best.age", "", "1 5"}, {"ALL pals.age > age", "", "2 4 5 6"}, {"name > nick", "", "3 4 6"}, {"ok < okn", "", "4"}, {"g == dec", "", "2 3 5"},
    {"rank == okn", "", "E1009"}, {"m == age", "", ""},
};
static const struct row mixed[] = {
    {"m == 5", "", "1 4"}, {"m != 5", "", "2 3 5 6"}, {"m > 4", "", "1 4"}, {"m >= 'a'", "", "3"}, {"m == true", "", ""}, {"m IN {5, 'five'}", "", "1 3 4"},
    {"m == null", "", "2"}, {"m[0] == 1", "", "5"}, {"m[0] != 1", "", ""}, {"m[1][LAST] == 3", "", "5"}, {"m[*][*] == 3", "", "5"}, {"ALL m[*] == 1", "", "1 2 3 4"},
    {"m[2].k == 'v'", "", "5"}, {"m['a'] == 1", "", "6"}, {"m.b.c[1] == 20", "", "6"}, {"m['zz'] == null", "", "6"}, {"m[9] == null", "", ""}, {"m.@keys == 'k'", "", "6"},
    {"m.@values == 1", "", ""}, {"m[1][*] == {2,3}", "", "5"}, {"lm[2][0] == 7", "", "4"}, {"lm[*].k == 1", "", "4"}, {"lm[0].name == 'Rex'", "", "5"},
    {"dm.x.z == 3", "", "5"}, {"dm['l'][*] == 2", "", "5"}, {"m.@type == 'int'", "", "1"}, {"m.@type == 'numeric'", "", "1 4"}, {"m.@type == 'Collection'", "", "5 6"},
    {"m.@type IN {'int','string'}", "", "1 3"}, {"m.@type == 'nope'", "", "E3015"}, {"m.@type == 5", "", "E3015"}, {"m.@type > 'int'", "", "E1009"},
    {"m[1].@type == 'array'", "", "5"}, {"lm.@type == 'link'", "", "5"}, {"NONE lm.@type == 'string'", "", "2 4 5 6"}, {"age.@type == 'int'", "", "E1009"},
    {"li.@type == 'int'", "", "E1009"}, {"m['b'].@count == 1", "", "6"}, {"li[0][0] == 1", "", "E1009"},
};
static const struct row arguments_[] = {
    {"age == $0", "30", "1 4"}, {"age == $0", "", "E3015"}, {"age == $1", "30", "E3015"}, {"age == $0", "'30'", "1 4"}, {"age == $0", "'abc'", "E3015"},
    {"age == $0", "true", "E3015"}, {"age == $0", "flt(30.5)", ""}, {"rank == $0", "null", "2"}, {"age > $0", "dec(29.5)", "1 3 4 5"}, {"dec == $0", "'zz'", "E3015"},
    {"dog == $0", "link(Dog Rex)", "1 3"}, {"dog == $0", "link(Person 1)", "1 3"}, {"best IN $0", "[link(Dog Rex)]", "E3015"}, {"lm == $0", "link(Dog Rex)", "!5"},
    {"lm IN $0", "[link(Dog Rex)]", "5"}, {"ANY lm IN $0", "[link(Dog Rex), 1.5]", "4 5"}, {"age IN $0", "[30, 20]", "1 2 4"}, {"age IN $0", "30", "E3015"},
    {"age IN $0", "[]", ""}, {"ALL $0 == age", "[30, 30]", "1 4"}, {"NONE $0 == age", "30", "E1009"}, {"age > $0", "[30, 20]", "1 3 4 5"},
    {"age != ALL $0", "[30, 20]", "3 5 6"}, {"li == $0", "[1, 2, 3]", "1"}, {"age BETWEEN $0", "[20, 30]", "E3008"}, {"age BETWEEN {$0, $1}", "20, 30", "1 2 4"},
    {"id IN {$0, 2}", "1", "1 2"}, {"id IN {$0}", "[1, 2]", "!E3015"}, {"$K0 == 30", "'best.age'", "2 5"}, {"$K0 == 3", "'pubx'", "3"}, {"$K0.@count == 1", "'li'", "3"},
    {"$K0.age == 30", "'best'", "E1009"}, {"$K0 == 30", "5", "E3015"}, {"li[$0] == 1", "0", "1"}, {"li[$0] == 3", "-1", "1 3"}, {"di[$0] == 1", "'a'", "1"},
    {"li[$0] == 1", "1.5", "E1009"}, {"best == obj(\"Person\", $0)", "1", "2 5"}, {"m.@type == $0", "'int'", "1"}, {"TRUEPREDICATE LIMIT($0)", "1", "E3008"},
    {"name TEXT $0", "'x'", "E2007"},
};
static const struct row full_text[] = {
    {"@Dog bio TEXT 'QUICK'", "", "~Rex Ida"}, {"@Dog bio TEXT 'quick fox'", "", "~Rex"}, {"@Dog bio TEXT 'quick -fox'", "", "~Ida"},
    {"@Dog bio TEXT '-fox'", "", "~Ida Old"}, {"@Dog bio TEXT 'qui*'", "", "~Rex Ida"}, {"@Dog bio TEXT 'soren'", "", "~"}, {"@Dog bio TEXT 'søren'", "", "~Ida"},
    {"@Dog bio TEXT 'uber cafe'", "", "~Ida"}, {"@Dog bio TEXT 'jumps,'", "", "~Rex"}, {"@Dog bio TEXT 'fox,jumps'", "", "E3000 run"}, {"@Dog bio TEXT ''", "", "E3000 run"},
    {"@Dog bio TEXT 'quick -quick'", "", "E3000 run"}, {"@Dog bio TEXT[c] 'quick'", "", "E3008"}, {"@Dog name TEXT 'Rex'", "", "E2007"},
    {"@Dog NOT bio TEXT 'fox'", "", "~Ida Old"}, {"dog.bio TEXT 'quick'", "", "~1 3 4"}, {"pals.dog.bio TEXT 'fox'", "", "~1 3 6"},
    {"home GEOWITHIN geoCircle([1.0, 2.0], 0.5)", "", "!E1009"},
};
static const struct row ordering[] = {
    {"TRUEPREDICATE SORT(age ASC)", "", "6 2 1 4 3 5"}, {"TRUEPREDICATE SORT(age DESC)", "", "5 3 1 4 2 6"}, {"TRUEPREDICATE SORT(age)", "", "E3008"},
    {"TRUEPREDICATE sort(age Asc, id descending)", "", "6 2 4 1 3 5"}, {"TRUEPREDICATE SORT(name ASC)", "", "1 5 4 2 3 6"},
    {"TRUEPREDICATE SORT(nick ASC)", "", "2 3 4 1 5 6"}, {"TRUEPREDICATE SORT(nick DESC)", "", "6 5 1 4 3 2"}, {"TRUEPREDICATE SORT(g ASC)", "", "2 3 6 5 1 4"},
    {"TRUEPREDICATE SORT(dec ASC)", "", "2 3 6 5 1 4"}, {"TRUEPREDICATE SORT(bin ASC)", "", "2 3 4 5 1 6"}, {"TRUEPREDICATE SORT(m ASC)", "", "2 1 4 3 5 6"},
    {"TRUEPREDICATE SORT(best.age ASC)", "", "1 2 5 3 4 6"}, {"TRUEPREDICATE SORT(best.age DESC)", "", "4 6 3 2 5 1"},
    {"TRUEPREDICATE SORT(best.rank ASC)", "", "1 3 2 5 4 6"}, {"TRUEPREDICATE SORT(best ASC)", "", "4 6 2 5 1 3"}, {"TRUEPREDICATE SORT(di['a'] ASC)", "", "2 3 4 5 6 1"},
    {"TRUEPREDICATE SORT(age ASC) SORT(name ASC)", "", "1 5 4 2 3 6"}, {"TRUEPREDICATE SORT(ok ASC) SORT(age DESC) SORT(id DESC)", "", "6 5 4 3 2 1"},
    {"TRUEPREDICATE SORT(li ASC)", "", "E3013 get"}, {"TRUEPREDICATE SORT(pals.age ASC)", "", "E3013 get"}, {"TRUEPREDICATE SORT(nope ASC)", "", "E1009"},
    {"TRUEPREDICATE SORT(@links.Person.best.age ASC)", "", "E1009"}, {"TRUEPREDICATE LIMIT(2) SORT(age DESC)", "", "1 2"},
    {"TRUEPREDICATE SORT(age DESC) LIMIT(2)", "", "5 3"}, {"TRUEPREDICATE LIMIT(4) SORT(age DESC) LIMIT(1)", "", "3"}, {"TRUEPREDICATE LIMIT(-1)", "", "E3008"},
    {"TRUEPREDICATE DISTINCT(age)", "", "1 2 3 5 6"}, {"TRUEPREDICATE SORT(id DESC) DISTINCT(age)", "", "6 5 4 3 2"}, {"TRUEPREDICATE DISTINCT(ok, age)", "", "1 2 3 4 5 6"},
    {"TRUEPREDICATE DISTINCT(best.age)", "", "1 2 3"}, {"TRUEPREDICATE DISTINCT(home.city)", "", "1 3"}, {"TRUEPREDICATE DISTINCT(m)", "", "1 2 3 5 6"},
    {"TRUEPREDICATE DISTINCT(ok) DISTINCT(age)", "", "1 2"}, {"TRUEPREDICATE DISTINCT(age ASC)", "", "E3008"},
    {"TRUEPREDICATE SORT(age ASC) LIMIT(3) DISTINCT(ok)", "", "6 1"}, {"TRUEPREDICATE SORT(name ASC) LIMIT(3) SORT(id DESC) DISTINCT(ok)", "", "5 4"},
    {"SORT(age ASC)", "", "E3008"}, {"(age > 0 SORT(age ASC))", "", "E3008"},
};

/* ---- More rules, by topic ------------------------------------------------------------------------ */

static const struct row spellings[] = {
    {"age=30", "", "1 4"}, {"age = 30 && id = 1", "", "1"}, {"id == 1 || id == 2", "", "1 2"}, {"!(id == 1) and !id == 2", "", "3 4 5 6"}, {"NOT id == 1", "", "2 3 4 5 6"},
    {"not(id == 1)", "", "2 3 4 5 6"}, {"NoT id == 1", "", "E3008"}, {"id == 1 And age == 30", "", "1"}, {"id == 1 oR id == 2", "", "1 2"},
    {"id == 1 & age == 30", "", "E3008"}, {"id == 1 | id == 2", "", "E3008"}, {"id =< 2", "", "1 2"}, {"id => 5", "", "5 6"}, {"id <> 1", "", "2 3 4 5 6"},
    {"id ! = 1", "", "E3008"}, {"name CONTAINS[c] 'A'", "", "1 4 5"}, {"name contains[c] \"A\"", "", "1 4 5"}, {"name Contains [c] 'A'", "", "1 4 5"},
    {"name CONTAINS[d] 'A'", "", "E3008"}, {"name CONTAINS[cd] 'A'", "", "E3008"}, {"name CONTAINS[ c] 'A'", "", "E3008"}, {"name =[c] 'ANN'", "", "1 4"},
    {"name = [c] 'ANN'", "", "1 4"}, {"name MATCHES 'A.*'", "", "E3008"}, {"name in {'Ann', 'bob'}", "", "1 2"}, {"name In {'Ann'}", "", "E3008"},
    {"id in {1,2}", "", "1 2"}, {"age between {20, 30}", "", "1 2 4"}, {"name beginsWith 'A'", "", "1"}, {"name ENDSWITH[c] 'N'", "", "1 4"}, {"name Like 'A*'", "", "1"},
    {"any pals.age == 30", "", "3 6"}, {"SOME pals.age == 30", "", "3 6"}, {"some pals.age == 30", "", "3 6"}, {"Some pals.age == 30", "", "E3008"},
    {"all pals.age == 30", "", "2 3 5"}, {"none pals.age == 30", "", "1 2 4 5"}, {"EACH pals.age == 30", "", "E3008"}, {"rank = nil", "", "2"}, {"rank == NIL", "", "2"},
    {"rank == NULL", "", "2"}, {"rank == Null", "", "2"}, {"ok == TRUE", "", "1 3 5"}, {"ok == YES", "", "E1009"}, {"ok == tRue", "", "E1009"}, {"ok", "", "E3008"},
    {"pals.@size == 2", "", "1 3"}, {"pals[SIZE] == 2", "", "1 3"}, {"pals[size] == 2", "", "1 3"}, {"pals.@Count == 2", "", "E3008"}, {"li[first] == 1", "", "1"},
    {"li[last] == 3", "", "1 3"}, {"TruePredicate", "", "1 2 3 4 5 6"}, {"subquery(pals, $p, $p.age > 25).@count > 0", "", "1 3 4 6"}, {"age == %@", "30", "!1 4"},
    {"%K == 30", "'age'", "!1 4"}, {"age == %d", "30", "E3008"}, {"$K0 == $1", "'age', 30", "1 4"}, {"$k0 == 30", "'age'", "E1009"}, {"SELF == 1", "", "E1009"},
    {"age == $0 AND name ==[c] $1", "30, 'ANN'", "1 4"}, {"TRUEPREDICATE sort(age asc) limit(1)", "", "6"},
    {"TRUEPREDICATE Sort(age Ascending, id Descending) Distinct(age) Limit(2)", "", "6 2"},
};
static const struct row lexical_rules[] = {
    {"age == 30\r\n AND\tid == 1", "", "1"}, {"age == 30\f", "", "E3008"}, {"age == 30\302\240", "", "E3008"}, {"age == 0X1e", "", "1 4"}, {"age == 0x", "", "E3008"},
    {"age == +30", "", "1 4"}, {"age == 99999999999999999999", "", ""}, {"age < 99999999999999999999", "", "1 2 3 4 5 6"},
    {"age > -99999999999999999999", "", "1 2 3 4 5 6"}, {"g == 25e-1", "", "1"}, {"g == +2.5", "", "1"}, {"g == .1", "", "5"}, {"g == 2.5E0", "", "1"},
    {"g > 1e299", "", "4"}, {"f == 2.", "", "6"}, {"f == 1.5f", "", "1"}, {"f == 2f", "", "6"}, {"at == T0:0", "", "1"}, {"at == T1:999999999", "", "6"},
    {"at == T1:1000000000", "", "!E3008"}, {"at == T-1:5", "", "E3008"}, {"at == t0:0", "", "E3008"}, {"at == 2019-12-31T24:00:00", "", "4"},
    {"at == 2019-13-01T00:00:00", "", "4"}, {"at == 2020-1-1T0:0:0", "", "4"}, {"at == 2020-01-01T00:00:00:5", "", "5"}, {"at == 2020-01-01 00:00:00", "", "E3008"},
    {"at < 2039-01-01T00:00:00", "", "!1 3 4 5 6"}, {"at > 1900-01-01T00:00:00", "", "!1 3 4 5 6"}, {"uid == uuid(00000000-0000-0000-0000-000000000001)", "", "1"},
    {"uid == UUID(00000000-0000-0000-0000-000000000001)", "", "E3008"}, {"uid == uuid(0000)", "", "E3008"},
    {"uid == uuid( 00000000-0000-0000-0000-000000000001)", "", "E3008"}, {"uid == UUID", "", "E1009"}, {"oid == oid(1)", "", "E3008"}, {"name == B64\"QW5\"", "", ""},
    {"name == B64\"QW5u\"", "", "1"}, {"name == b64\"QW5u\"", "", "E3008"}, {"name == B64'QW5u'", "", "E3008"}, {"name == \"it's\"", "", ""},
    {"name == 'a \"quoted\" word'", "", ""}, {"name == \"two\nlines\"", "", ""}, {"name == 'tab\\t'", "", ""}, {"name == '\\u0041nn'", "", ""},
    {"name == '\\a'", "", "E3008"}, {"name == 'Ann", "", "E3008"}, {"name == Ann", "", "E1009"}, {"bin == binary(\"abc\")", "", "1"}, {"bin == BiNaRy('abc')", "", "1"},
    {"bin == binary(B64\"YWJj\")", "", "1"}, {"@foo == 1", "", "E3008"}, {"#", "", "E3008"}, {"age == 30 /* x */", "", "E3008"}, {"age == 30;", "", "E3008"},
};
static const struct row grammar[] = {
    {"1 < id < 3", "", "E3008"}, {"age == -id", "", "E3008"}, {"(name) CONTAINS 'n'", "", "E3008"}, {"((id) == 1)", "", "1"}, {"id == (1)", "", "1"},
    {"id == 1 id == 2", "", "E3008"}, {"id", "", "E3008"}, {"id ==", "", "E3008"}, {"== 1", "", "E3008"}, {"NOT", "", "E3008"}, {"AND id == 1", "", "E3008"},
    {"id == 1 AND", "", "E3008"}, {"()", "", "E3008"}, {"id IN [1, 2]", "", "E3008"}, {"id IN 1, 2", "", "E3008"}, {"id == {1 2}", "", "E3008"}, {"id == 1)", "", "E3008"},
    {"id NOT IN {1}", "", "E3008"}, {"id BETWEEN 1 AND 2", "", "E3008"}, {"SORT(age ASC) id == 1", "", "E3008"}, {"LIMIT(1)", "", "E3008"},
    {"id == 1 LIMIT(1) AND id == 1", "", "E3008"}, {"id == 1 SORT(age UP)", "", "E3008"}, {"id == 1 DISTINCT()", "", "E3008"}, {"id == 1 LIMIT()", "", "E3008"},
    {"id == 1 LIMIT(1.5)", "", "E3008"}, {"id == 1 LIMIT(0x1)", "", "E3008"}, {"id == 1 LIMIT(01)", "", "1"}, {"SUBQUERY(pals, $x, $x.age > 1)", "", "E3008"},
    {"SUBQUERY(pals, $, $.age > 1).@count > 0", "", "E3008"}, {"SUBQUERY(pals, $x).@count > 0", "", "E3008"},
    {"SUBQUERY(pals, $x, $x.age > 1 SORT(age ASC)).@count > 0", "", "E3008"}, {"ANY ANY li == 3", "", "E3008"}, {"ANY li.@sum == 3", "", "E3008"},
    {"li.@sum.@sum == 3", "", "E3008"}, {"age[0 == 1", "", "E3008"}, {"[0] == 1", "", "E3008"}, {"best. == null", "", "E3008"}, {"best..age == 1", "", "E3008"},
};
static const struct row paths[] = {
    {"age[0] == 1", "", "E1009"}, {"age['x'] == 1", "", "E1009"}, {"age.x == 1", "", "E1009"}, {"li.x == 1", "", "E1009"}, {"li['x'] == 1", "", "E1009"},
    {"nope.age == 1", "", "E1009"}, {"best.nope == 1", "", "E1009"}, {"best.best.best.nope == 1", "", "E1009"}, {"best.two == 1", "", "E1009"},
    {"pals['age'] == 30", "", "3 6"}, {"pals[9].id == 1", "", ""}, {"lin[1] == null", "", "1 3"}, {"lin[9] == null", "", "1 3 4 6"}, {"li[1] != 2", "", "!3 4 5"},
    {"li[1] == null", "", "!3"}, {"li[9] != 2", "", "1 3 4 5"}, {"ls.LENGTH == 3", "", "4"}, {"ls.Length == 1", "", "1 5"}, {"lm.length == 3", "", "1"},
    {"name.length == 3", "", "E1009"}, {"best.$K0 == 1", "'age'", "E3008"}, {"$K0 == 30", "null", "E3015"}, {"$K0 == 30", "['age']", "E3015"},
    {"$K1 == 30", "'age'", "E3015"}, {"$K0 == 1", "'nope'", "E1009"}, {"li[$0] == 1", "null", "E1009"}, {"li[$0] == 1", "[0]", "E1009"}, {"di[$0] == 1", "0", "E1009"},
    {"@links.Dog.name.@count == 1", "", "!E1009"}, {"@links.Nope.best.@count == 1", "", "E1009"}, {"@links == 1", "", "4 5 6"}, {"@links == 6", "", "1"},
    {"best.@links.Person.best.age == 50", "", "2 5"}, {"home.city != null", "", "1"}, {"best.home.city == 'Oslo'", "", "2 5"}, {"pals.home.city == 'Oslo'", "", "3 6"},
    {"pals.homes.city == 'Rome'", "", "3 6"},
};
static const struct row constants[] = {
    {"ok == 1", "", "E1009"}, {"ok == 'true'", "", "E1009"}, {"uid == '00000000-0000-0000-0000-000000000001'", "", "E1009"},
    {"oid == '000000000000000000000001'", "", "E1009"}, {"at == 5", "", "E1009"}, {"name == 5", "", "E1009"}, {"name == true", "", "E1009"}, {"age == true", "", "E1009"},
    {"age == 'x'", "", "E1009"}, {"age == binary('x')", "", "E1009"}, {"bin == 'abc'", "", "E1009"}, {"name == nan", "", "E1009"}, {"name == inf", "", "E1009"},
    {"at == inf", "", "E1009"}, {"null == null", "", "E1009"}, {"'a' == 'b'", "", "E1009"}, {"$0 == 30", "30", "E1009"}, {"g == '2.5'", "", "1"}, {"f == '1.5x'", "", "1"},
    {"'30' == age", "", "1 4"}, {"dec == 'nan'", "", "E1009"}, {"dec == '1.1x'", "", "E1009"}, {"dec == 0.1f", "", "~5"}, {"dec == 0.1", "", "5"}, {"dec == -1.1", "", "6"},
    {"dec == 1000", "", "4"}, {"dec > 1", "", "1 4"}, {"best == 'x'", "", "E1009"}, {"best == 5", "", "E1009"}, {"best == true", "", "E1009"}, {"best == O0", "", "2 5"},
    {"O0 == best", "", "2 5"}, {"best == L3:0", "", "2 5"}, {"best == L2:0", "", "E3015"}, {"home == O0", "", "1"}, {"best == obj(\"Addr\", 1)", "", "!E1009"},
    {"best == obj(\"Person\", 'x')", "", "!"}, {"best == obj('Person', 1)", "", "2 5"}, {"paldict['b'] == O1", "", "!1"}, {"name > 'a' + 'b'", "", "!E3015"},
};
static const struct row argument_rules[] = {
    {"age < 1e309", "", "!1 2 3 4 5 6"}, {"age > 3.5e38f", "", "!"}, {"age > 1e99999", "", "!E1009"}, {"age BETWEEN {1, $0}", "[2]", "!E3015"}, {"best IN $0", "[1, 'a']", "E1009"},
    {"best IN {1, 'a'}", "", "!E1009"}, {"name BEGINSWITH {1, 'a'}", "", "!E1009"}, {"m BEGINSWITH {1, 'fi'}", "", "!3"}, {"m BEGINSWITH $0", "[1, flt(1.5)]", "!E3015"}, {"TRUEPREDICATE SORT($K0 ASC)", "'age'", "!6 2 1 4 3 5"}, {"TRUEPREDICATE SORT($K0 ASC)", "5", "!E3015"},
    {"age == $0", "[30]", "1 4"}, {"age == $0", "['30', 20.0]", "1 2 4"}, {"name == $0", "5", "E3015"}, {"name == $0", "true", "E3015"}, {"ok == $0", "1", "E3015"},
    {"ok == $0", "'true'", "E3015"}, {"at == $0", "5", "E3015"}, {"at == $0", "at(0)", "1"}, {"uid == $0", "'x'", "E3015"}, {"uid == $0", "uuid(3)", "3"},
    {"oid == $0", "oid(4)", "4"}, {"bin == $0", "bin(abc)", "1"}, {"bin == $0", "'abc'", "E3015"}, {"best == $0", "5", "E3015"}, {"best == $0", "link(Person 2)", "1"},
    {"best == $0", "link(Dog Ida)", "!1"}, {"best != $0", "link(Person 2)", "2 3 4 5 6"}, {"best == $0", "null", "4 6"}, {"pals == $0", "link(Person 5)", "4"},
    {"ALL pals == $0", "link(Person 1)", "2 3 5"}, {"best IN $0", "[link(Person 1), link(Person 2)]", "~1 2 5"}, {"m == $0", "5", "1 4"}, {"m == $0", "flt(5.0)", "1 4"},
    {"m == $0", "dec(5.0)", "1 4"}, {"m == $0", "'five'", "3"}, {"m IN $0", "['five', 5, null]", "1 2 3 4"}, {"f == $0", "0.1", "5"}, {"f == $0", "flt(0.1)", "5"},
    {"g == $0", "flt(2.5)", "1"}, {"dec == $0", "1.1", "1"}, {"dec == $0", "dec(-1.1)", "6"}, {"age == $0 OR id == $0", "30", "1 4"}, {"age == $2", "1, 2, 30", "1 4"},
    {"age == $0", "30, 'not looked at'", "1 4"}, {"name BEGINSWITH $0", "'A'", "1"}, {"name LIKE $0", "'?nn'", "1 4"}, {"nick IN $0", "[null, 'annie']", "1 2"},
    {"name IN $0", "[]", ""}, {"NOT name IN $0", "['Ann', 'bob']", "3 4 5 6"}, {"ANY $0 == id", "[1, 2]", "1 2"}, {"NONE $0 == id", "[1, 2]", "3 4 5 6"},
    {"li == $0", "[5, 5]", "4"}, {"id IN {$0, $1, 3}", "1, 2", "1 2 3"}, {"age + $0 == 31", "1", "1 4"}, {"age == $0 + 1", "29", "1 4"}, {"li.@count == $0", "3", "1"},
    {"TRUEPREDICATE SORT($0 ASC)", "'age'", "E3008"}, {"age BETWEEN $0", "[20, 30]", "E3008"}, {"SUBQUERY(pals, $x, $x.age > $0).@count > $1", "25, 1", "3 6"},
};
static const struct row comparisons[] = {
    {"name == age", "", "E1009"}, {"at == oid", "", "E1009"}, {"ok == age", "", "E1009"}, {"bin == name", "", "E1009"}, {"f == g", "", "2"}, {"age == dec", "", ""},
    {"okn == ok", "", "1 6"}, {"best == age", "", "E1009"}, {"best < best", "", "E1009"}, {"best == dog", "", "6"}, {"li == si", "", "E1009"},
    {"ALL li == ANY lin", "", "E1009"}, {"best.age > age", "", "2"}, {"rank <= null", "", "2"}, {"f < null", "", ""}, {"dec >= null", "", "2"}, {"okn <= null", "", "2 5"},
    {"at <= null", "", "2"}, {"uid == null", "", "2"}, {"m < null", "", ""}, {"m <= null", "", "2"}, {"best.age != 20", "", "2 3 4 5 6"},
    {"NOT best.age == 20", "", "2 3 4 5 6"}, {"best.okn == null", "", "1 4 6"}, {"nick < 'b'", "", "1 2 3 4"}, {"nick <= 'b'", "", "1 2 3 4"}, {"'b' > nick", "", "1 3 4"},
    {"null < nick", "", ""}, {"nan == g", "", "3"}, {"inf > f", "", "1 3 5 6"}, {"f < inf", "", "1 3 5 6"}, {"best.age BETWEEN {20, 30}", "", "1 2 5"},
    {"rank BETWEEN {-3, 5}", "", "1 3 4"}, {"age BETWEEN {20, 30, 40}", "", "E1009"}, {"age BETWEEN {20.5, 40}", "", "!1 3 4"}, {"age BETWEEN {null, 40}", "", "!"},
    {"pals.age BETWEEN {25, 35}", "", "1 3 6"}, {"f BETWEEN {-1.5, 1.5}", "", "1 3 5"}, {"pals == {}", "", "!"}, {"best IN {}", "", ""}, {"best != {}", "", "!"},
    {"best == {}", "", "!"}, {"id IN {1, 1, 2}", "", "1 2"}, {"rank IN {5, null}", "", "1 2"}, {"f IN {1.5, 2.0}", "", "1 6"}, {"best.age IN {30.0}", "", "2 5"},
    {"m IN {}", "", ""},
};
static const struct row many_values[] = {
    {"li > {0, 1, 2}", "", "1"}, {"li > 4", "", "4 5"}, {"ALL li > 4", "", "2 4 6"}, {"NONE li IN {1, 5}", "", "2 3 5 6"}, {"ANY li == ALL {5}", "", "4"},
    {"li == ALL {5, 5}", "", "4"}, {"li == {5, 5}", "", "4"}, {"ALL li == {1, 2, 3}", "", "1 2 3 6"}, {"li[*] == 5", "", "4"}, {"si == {1, 2, 3}", "", "6"},
    {"si == {3, 2, 1}", "", ""}, {"ss == {'A', 'b'}", "", "5"}, {"di == {1, 2}", "", "1"}, {"di == {2, 1}", "", ""}, {"lin == {null}", "", "3"},
    {"lin != null", "", "1 4 6"}, {"NONE lin == null", "", "2 4 5"}, {"ls == ''", "", "3"}, {"ls ==[c] 'É'", "", "6"}, {"ls ==[c] 'é'", "", "6"},
    {"ANY ls BEGINSWITH 'a'", "", "1 4 5"}, {"ALL ls BEGINSWITH 'a'", "", "2 4"}, {"lm == null", "", "1 6"}, {"lm == true", "", "1"}, {"lm > 0", "", "1 4"},
    {"lm IN {'one', 'x'}", "", ""}, {"ANY lm IN {'one', 'x'}", "", "1 3"}, {"dm == 1", "", "1"}, {"dm.@keys BEGINSWITH 'l'", "", "5"}, {"dm['y'] == 1", "", "1"},
    {"dm['x'] != null", "", "1 5"}, {"ds.@values == 'X'", "", "5"}, {"ds.b == null", "", "1 5"}, {"palset.age > 30", "", "1"}, {"palset == obj(\"Person\", 6)", "", "6"},
    {"ALL palset.age == 10", "", "2 3 4 5 6"}, {"paldict.age == 30", "", "5"}, {"paldict.age > 0", "", "1 5"}, {"paldict == obj(\"Person\", 2)", "", "1"},
    {"pals.best.age == 30", "", "1 4 6"}, {"pals.name ==[c] 'ANN'", "", "3 6"}, {"ALL pals.age > 15", "", "1 2 3 4 5 6"}, {"NONE pals.li == 3", "", "1 2 4 5 6"},
    {"pals[1].age == 40", "", "1"}, {"homes.zip > 2", "", "4"}, {"ALL homes.zip > 2", "", "2 3 4 5 6"},
    /* Keys of dictionaries inside Mixed values: they compare with every type. */
    {"dm['x'].@keys == 'z'", "", "5"}, {"dm.x.@keys BEGINSWITH 'z'", "", "5"}, {"dm.l.@keys == 'z'", "", ""}, {"dm[*].@keys == 'z'", "", "5"},
    {"lm[1].@keys == 'k'", "", "4"}, {"lm[*].@keys == 'k'", "", "4"}, {"ALL lm[1].@keys == 'k'", "", "1 2 3 4 5 6"}, {"lm.@keys == 'k'", "", "E1009"},
    {"m.b.@keys == 'c'", "", "6"}, {"m.@keys == 1", "", ""}, {"m.@keys != 1", "", "6"}, {"dm.x.@keys != 1", "", "5"}, {"dm.@keys == 1", "", "E1009"},
};
static const struct row counting[] = {
    {"lin.@sum == 15", "", "6"}, {"lin.@count == 3", "", "6"}, {"lin.@max == null", "", "2 3 5"}, {"lin.@min == 1", "", "1"}, {"dm.@count == 2", "", "1 5"},
    {"ds.@count == 0", "", "2 3 4 6"}, {"si.@sum == 6", "", "6"}, {"si.@avg == 1.5", "", "1"}, {"ss.@count == 2", "", "5"}, {"m.@count == 3", "", "5 6"},
    {"m.@count == 4", "", "3"}, {"m.@count == null", "", "!1 2 4"}, {"home.@count == 1", "", "1 3"}, {"homes.@count == 0", "", "2 3 5 6"},
    {"paldict.@count == 0", "", "2 3 4 6"}, {"palset.@count == 1", "", "6"}, {"best.best.@count == 1", "", "1 2 3 5"}, {"@links.@count == 0", "", ""},
    {"@links.Person.pals.@count == 3", "", "1"}, {"@Dog owners.@count == 0", "", "Old"}, {"@Dog owners.@max.age == 40", "", "Rex"},
    {"@Dog SUBQUERY(owners, $o, $o.age > 30).@count == 1", "", "Rex"}, {"age.@sum == 1", "", "E1009"}, {"ls.@sum == 1", "", "E1009"}, {"pals.@sum == 1", "", "E1009"},
    {"pals.@sum.name == 1", "", "E1009"}, {"pals.@sum.li == 1", "", "!E1009"}, {"ok.@count == 1", "", "E1009"}, {"at.@count == 1", "", "E1009"}, {"lg.@avg == 2", "", "1"},
    {"lg.@max == 10", "", "4"}, {"pals.@max.f == 1.5", "", "3"}, {"pals.@avg.dec == 1.1", "", "3"}, {"pals.@min.m == 5", "", "3 6"}, {"pals.@sum.m == 10", "", "3 6"},
    {"pals.@max.m == 'five'", "", "1 6"}, {"home.@sum.zip == 2", "", "3"}, {"SUBQUERY(pals, $x, $x.age > 25 AND $x.ok == true).@count == 1", "", "1 4"},
    {"SUBQUERY(pals, $x, FALSEPREDICATE).@count == 0", "", "1 2 3 4 5 6"}, {"SUBQUERY(pals, $x, $x.nope == 1).@count == 0", "", "E1009"},
    {"SUBQUERY(homes, $h, $h.city == 'Rome').@count == 1", "", "1 4"}, {"SUBQUERY(paldict, $x, $x.age > 1).@count > 0", "", "E1009"},
    {"SUBQUERY(pals, $x, $x.age > 15).@count == pals.@count", "", "1 2 3 4 5 6"},
};
static const struct row calculating[] = {
    {"dec / 9007199254740992 == 1.221245327087672194465994834899902E-16", "", "1"}, {"dec / 7 * 7 == dec", "", "1 2 3 4 5 6"}, {"dec / 9007199254740992 * 9007199254740992 == dec", "", "1 2 3 6"},
    {"rank + 1 == 6", "", "1"}, {"rank + 1 == null", "", "2"}, {"age * 2 - 20 == 40", "", "1 4"}, {"2 * age == 60", "", "1 4"}, {"age / 7 == 4", "", "1 4"},
    {"age / 0 == 9223372036854775807", "", "1 2 3 4 5 6"}, {"(0 - age) / 0 < 0", "", "1 2 3 4 5 6"}, {"f / 0 == inf", "", "1 4 5 6"}, {"age + ok == 1", "", "E3015"},
    {"age + null == 5", "", "E3015"}, {"age + true == 5", "", "E3015"}, {"name + age == 1", "", "E3015"}, {"at + 1 == 2", "", "E3015"}, {"best + 1 == 2", "", "E3015"},
    {"best.age * 2 == 40", "", "1"}, {"dec + 1 == 2.1", "", "1"}, {"m * 2 == 10", "", "1 4"}, {"m + 1 == null", "", "2 3 5 6"}, {"age == 60 / 2", "", "1 4"},
    {"age > 10 * 4", "", "5"}, {"lin + 1 == null", "", "1 3 6"},
};
static const struct row texts[] = {
    {"name LIKE '*'", "", "1 2 3 4 5 6"}, {"name LIKE ''", "", ""}, {"nick LIKE ''", "", "3"}, {"name LIKE '?\?\?\?\?'", "", "3 5"}, {"name LIKE 'A?\?'", "", "1"},
    {"name LIKE '*n'", "", "1 4"}, {"name LIKE '*本'", "", "6"}, {"name LIKE '?*?*?*?'", "", "3 5"}, {"name CONTAINS '*'", "", "5"}, {"name CONTAINS '本'", "", "6"},
    {"name ENDSWITH ''", "", "1 2 3 4 5 6"}, {"nick ENDSWITH null", "", "1 2 3 4 5 6"}, {"name ==[c] 'ANN'", "", "1 4"}, {"name !=[c] 'ANN'", "", "2 3 5 6"},
    {"name BEGINSWITH[c] 'é'", "", "3"}, {"name CONTAINS[c] '日'", "", "6"}, {"bin CONTAINS binary(B64\"AA==\")", "", "4"}, {"bin LIKE binary('?b?')", "", "1"},
    {"bin ==[c] binary('ABC')", "", "1 5"}, {"m BEGINSWITH 'fi'", "", "3"}, {"m LIKE '*ve'", "", "3"}, {"m BEGINSWITH null", "", "E1009"}, {"name CONTAINS li", "", "E1009"},
    {"name BEGINSWITH true", "", "E1009"}, {"age CONTAINS 3", "", "E1009"}, {"best.name CONTAINS 'n'", "", "2 5"}, {"best.nick CONTAINS null", "", "2 3 5"},
    {"best.nick LIKE null", "", "1 4 6"}, {"nick CONTAINS name", "", ""}, {"@Dog bio TEXT 5", "", "E1009"}, {"@Dog bio TEXT 'qui* fox'", "", "~Rex"},
    {"@Dog bio TEXT '-quick'", "", "~Old"}, {"@Dog bio TEXT 'CAFE'", "", "~Ida"}, {"@Dog bio TEXT 'the'", "", "~Rex"}, {"@Dog bio TEXT 'quic'", "", "~"},
    {"@Dog bio TEXT '日本'", "", "~"}, {"@Dog kg TEXT 'x'", "", "!E1009"},
};
static const struct row kinds[] = {
    {"m.@type == 'null'", "", "2"}, {"m.@type == 'string'", "", "3"}, {"m.@type == 'STRING'", "", "3"}, {"m.@type == 'double'", "", "4"}, {"m.@type == 'array'", "", "5"},
    {"m.@type == 'list'", "", "5"}, {"m.@type == 'object'", "", "6"}, {"m.@type == 'dictionary'", "", "6"}, {"m.@type != 'int'", "", "2 3 4 5 6"},
    {"m.@type BEGINSWITH 'array'", "", "E1009"}, {"dm.@type == 'null'", "", "4"}, {"dm['x'].@type == 'object'", "", "5"}, {"lm[0].@type == 'double'", "", "4"},
    {"lm[0].@type == 'objectlink'", "", "5"}, {"ALL lm.@type == 'null'", "", "2 6"}, {"m.@type == age.@type", "", "1"}, {"lm.@type == m.@type", "", "1 3 4"},
    {"li.@type == 'int'", "", "E1009"}, {"m.b.c[*] == 20", "", "6"}, {"m['b']['c'][9] == null", "", ""}, {"m['b']['zz'] == null", "", "6"},
    {"m[2]['k'] BEGINSWITH 'v'", "", "5"}, {"m.zz.y == null", "", ""},
};
static const struct row orders[] = {
    {"TRUEPREDICATE SORT(f ASC)", "", "2 3 5 1 6 4"}, {"TRUEPREDICATE SORT(f DESC)", "", "4 6 1 5 3 2"}, {"TRUEPREDICATE SORT(at ASC)", "", "2 3 1 6 4 5"},
    {"TRUEPREDICATE SORT(uid DESC)", "", "6 5 4 3 1 2"}, {"TRUEPREDICATE SORT(okn ASC)", "", "2 5 3 6 1 4"}, {"TRUEPREDICATE SORT(okn DESC)", "", "1 4 3 6 2 5"},
    {"TRUEPREDICATE SORT(okn ASC, age DESC)", "", "5 2 3 6 1 4"}, {"TRUEPREDICATE SORT(rank DESC)", "", "5 6 1 4 3 2"}, {"TRUEPREDICATE SORT(m DESC)", "", "6 5 3 1 4 2"},
    {"TRUEPREDICATE SORT(best.name ASC)", "", "2 5 1 3 4 6"}, {"TRUEPREDICATE SORT(best.best.id DESC)", "", "4 6 3 2 5 1"},
    {"TRUEPREDICATE SORT(dog.name ASC)", "", "4 1 3 2 5 6"}, {"TRUEPREDICATE SORT(home.city ASC)", "", "3 1 2 4 5 6"}, {"TRUEPREDICATE SORT(di.a DESC)", "", "1 2 3 4 5 6"},
    {"TRUEPREDICATE SORT(pubx DESC)", "", "6 5 4 3 2 1"}, {"TRUEPREDICATE SORT(col_x DESC)", "", "6 5 4 3 2 1"}, {"TRUEPREDICATE SORT(två\\ ord DESC)", "", "~6 5 4 3 2 1"},
    {"TRUEPREDICATE SORT(si ASC)", "", "E3013 get"}, {"TRUEPREDICATE SORT(di ASC)", "", "E3013 get"}, {"TRUEPREDICATE SORT(pals ASC)", "", "E3013 get"},
    {"TRUEPREDICATE DISTINCT(li)", "", "E3013 run"}, {"TRUEPREDICATE DISTINCT(pals.age)", "", "E3013 run"}, {"TRUEPREDICATE DISTINCT(nope)", "", "E1009"},
    {"TRUEPREDICATE SORT(best.nope ASC)", "", "E1009"}, {"TRUEPREDICATE SORT(age.x ASC)", "", "E1009"}, {"TRUEPREDICATE SORT(li[0] ASC)", "", "!E1009"},
    {"TRUEPREDICATE SORT(@links.Person.best.age ASC)", "", "E1009"}, {"TRUEPREDICATE DISTINCT(okn)", "", "1 2 3"}, {"TRUEPREDICATE DISTINCT(best)", "", "1 2 3 4"},
    {"TRUEPREDICATE DISTINCT(best.okn)", "", "1 2 3"}, {"TRUEPREDICATE DISTINCT(dog.name)", "", "1 4"}, {"TRUEPREDICATE DISTINCT(di.a)", "", "1 2"},
    {"TRUEPREDICATE DISTINCT(ok, okn)", "", "1 2 3 4 5 6"}, {"TRUEPREDICATE SORT(age DESC) DISTINCT(okn)", "", "5 3 1"}, {"TRUEPREDICATE LIMIT(0)", "", "!"},
    {"TRUEPREDICATE LIMIT(100)", "", "1 2 3 4 5 6"}, {"TRUEPREDICATE LIMIT(4) LIMIT(2)", "", "1 2"}, {"TRUEPREDICATE LIMIT(99999999999999999999)", "", "1 2 3 4 5 6"},
    {"age > 15 SORT(age ASC, name DESC)", "", "2 4 1 3 5"}, {"age > 15 SORT(name DESC) SORT(age ASC)", "", "2 4 1 3 5"},
    {"age > 15 LIMIT(3) SORT(name DESC) LIMIT(2)", "", "3 2"}, {"TRUEPREDICATE DISTINCT(ok) SORT(id DESC) DISTINCT(age)", "", "2 1"},
};

/* Edge cases of lists, types and orderings. */
static const struct row corners[] = {
    {"id == 4 DISTINCT(best.age) SORT(li ASC)", "", "E3013 run"}, {"id == 4 DISTINCT(best.age) DISTINCT(li)", "", "E3013 run"}, {"id == 4 LIMIT(0) DISTINCT(li)", "", ""},
    {"bin CONTAINS[c] null", "", "1 3 4 5 6"}, {"bin BEGINSWITH[c] null", "", "1 2 3 4 5 6"}, {"best IN {O0, 5}", "", "E1009"}, {"best == {O0, 'x'}", "", "E1009"},
    {"pals == {O0, true}", "", "E1009"}, {"best IN 5", "", "E1009"}, {"pals IN 'x'", "", "E1009"}, {"best IN {O0, $0}", "5", "E3015"}, {"best IN $0", "[5]", "E1009"},
    {"best IN $0", "[link(Person 1), 5]", "E1009"}, {"best LIKE {O0, 5}", "", ""}, {"dm.@values[*] == 1", "", "1"}, {"di.@values[*] == 5", "", "4"},
    {"obj(\"Person\", 2) != paldict", "", "5"}, {"paldict != obj(\"Person\", 2)", "", "1 5"}, {"ALL @links.Person.best.m[1][*] == 77", "", "2 3 4 5 6"},
    {"ALL @links.Person.best.m[0][*] == 77", "", "1 2 3 4 5 6"}, {"m.@keys == 5", "", ""}, {"dm['x'].@keys == 'z'", "", "5"}, {"dm[*].@keys == 'z'", "", "5"},
    {"best.name IN {1}", "", ""}, {"best.name IN {1, 'Ann'}", "", "2 5"}, {"best.name IN $0", "[1]", ""}, {"best.name IN {$0}", "1", "E3015"}, {"ALL li == {true, true}", "", "2 6"},
    {"lm[1].@keys == 'k'", "", "4"}, {"lm[*].@keys == 5", "", ""}, {"bin LIKE binary(B64\"Kpc=\")", "", "6"}, {"bin LIKE binary('?')", "", "6"}, {"ANY name.@count == 3", "", "E1009"},
    {"ALL m.@count == 4", "", "E1009"}, {"NONE best.name[SIZE] == 3", "", "E1009"}, {"ls.length == li", "", "2"}, {"ANY ls.length == ANY li", "", "1"}, {"ANY ds.@keys == ANY ls", "", "!1 5"},
};

#define TABLE(rows) (section = #rows, check_table(rows, sizeof rows / sizeof *rows))
static void check_table(const struct row* rows, size_t n) {
    for (size_t i = 0; i < n; i++) check_row(&rows[i]);
}
static void examples(void) {
    TABLE(literals), TABLE(logic), TABLE(nulls), TABLE(strings), TABLE(constant_lists), TABLE(collections), TABLE(links);
    TABLE(aggregates), TABLE(arithmetic), TABLE(mixed), TABLE(arguments_), TABLE(full_text), TABLE(ordering);
}
static void rules(void) {
    TABLE(spellings), TABLE(lexical_rules), TABLE(grammar), TABLE(paths), TABLE(constants), TABLE(argument_rules), TABLE(comparisons);
    TABLE(many_values), TABLE(counting), TABLE(calculating), TABLE(texts), TABLE(kinds), TABLE(orders), TABLE(corners);
}

/* ---- Normal forms ------------------------------------------------------------------------------- */

struct form { const char *query, *arguments, *form; };

static const struct form normal_forms[] = {
    {"age = 30 && (id <> 1 or id => 2)", "", "age == 30 and (id != 1 or id > 1)"}, {"NOT NOT id == 1", "", "!(!(id == 1))"},
    {"id == 1 OR id == 2 AND (id == 3 OR id == 4) OR TRUEPREDICATE", "", "(TRUEPREDICATE or id == 1 or id == 2 and (id == 3 or id == 4))"},
    {"NOT (id == 1 OR id == 2)", "", "!((id == 1 or id == 2))"}, {"age <= 5", "", "age < 6"}, {"g == 0.1", "", "g == 0.10000000000000001"},
    {"f == 0.1", "", "f == 0.100000001"}, {"dec == 0.1000000000000000000001", "", "dec == +1000000000000000000001E-22"},
    {"name beginswith[c] 'é'", "", "name BEGINSWITH[c] \"é\""}, {"name == 'it\\'s'", "", "name == B64\"aXRcJ3M=\""}, {"bin == BIN('abc')", "", "bin == binary(\"abc\")"},
    {"at == 2020-01-01T00:00:00", "", "at == T1577836800:0"}, {"okn == nil", "", "okn == NULL"}, {"m == nil", "", "m == null"}, {"m IN {1, 'x'}", "", "m == {1, \"x\"}"},
    {"ok IN {true}", "", "ok == true"}, {"okn IN {true, null}", "", "(okn == true or okn == NULL)"}, {"best.age IN {1, 2}", "", "best.age == {1, 2}"},
    {"ANY pals == palset", "", "ANY pals == palset"}, {"paldict != obj(\"Person\", 99)", "", "paldict != O9223372036854775807"}, {"best == O1", "", "best == obj(\"class_Person\",2)"}, {"home == O0", "", "home == L1:0"}, {"SOME pals.age > 5", "", "ANY pals.age > 5"},
    {"li[0] == 1 AND li[LAST] == 2 AND li[9] == 3", "", "li[9] == 3 and li[FIRST] == 1 and li[LAST] == 2"}, {"li[SIZE] == 1", "", "li.@size == 1"},
    {"pals.@size == 1", "", "pals.@count == 1"}, {"di.a == 1", "", "di['a'] == 1"}, {"di == 1", "", "di[*] == 1"}, {"dm.@keys == 'x'", "", "dm.@keys == \"x\""},
    {"m.a[0] == 1", "", "m['a'][FIRST] == 1"}, {"pubx == 1", "", "col_x == 1"}, {"@Dog owners.age == 30", "", "@links.Person.dog.age == 30"},
    {"subquery(pals, $p, $p.age > 1 && SUBQUERY($p.pals, $q, $q.ok == true).@size == 1).@count >= 1", "", "SUBQUERY(pals, $x, $x.age > 1 and SUBQUERY($x.pals, $y, $y.ok == true).@count == 1).@count >= 1"},
    {"age + 1 > 2 * id", "", "(age + 1) > (2 * id)"}, {"age - 1.5f > 0 AND f - 1.5f > 0 AND 2 - g > 0", "", "(2 - g) > 0 and (age - 1.5f) > 0 and (f - 1.5) > 0"}, {"age == 7/2*10", "", "age == 30"}, {"m.@type == 'list'", "", "m.@type == \"array\""},
    {"g BETWEEN {1, 5}", "", "g >= 1 and g <= 5"}, {"age == $0", "30", "age == 30"}, {"name IN $0", "['Ann']", "name IN {\"Ann\"}"},
    {"TRUEPREDICATE sort(pubx desc, best.age asc) distinct(name) limit(3)", "", "TRUEPREDICATE SORT(col_x DESC, best.age ASC) DISTINCT(name) LIMIT(3)"},
    {"age = 30 && ok == true", "", "age == 30 and ok == true"}, {"age = 30 and ok = true or id = 2", "", "(age == 30 and ok == true or id == 2)"},
    {"id == 1 OR id == 2 OR id == 3", "", "(id == 3 or id == 1 or id == 2)"}, {"id == 1 OR id == 2 OR id == 3 OR id == 4", "", "(id == 4 or id == 3 or id == 1 or id == 2)"},
    {"id == 1 AND id == 2 AND id == 3", "", "id == 3 and id == 1 and id == 2"},
    {"id == 1 AND id == 2 AND id == 3 AND id == 4 AND id == 5", "", "id == 5 and id == 4 and id == 3 and id == 1 and id == 2"},
    {"(id == 1 AND id == 2) AND (id == 3 AND id == 4)", "", "id == 1 and id == 2 and id == 3 and id == 4"},
    {"id == 1 AND (id == 2 AND (id == 3 AND id == 4))", "", "id == 1 and id == 2 and id == 3 and id == 4"},
    {"id == 1 OR (id == 2 OR (id == 3 OR id == 4))", "", "(id == 1 or id == 2 or id == 3 or id == 4)"},
    {"(id == 1 OR id == 2) AND (id == 3 OR id == 4)", "", "(id == 1 or id == 2) and (id == 3 or id == 4)"},
    {"id == 1 AND id == 2 OR id == 3 AND id == 4", "", "(id == 1 and id == 2 or id == 3 and id == 4)"},
    {"NOT (id == 1 AND id == 2 AND id == 3)", "", "!(id == 1 and id == 2 and id == 3)"}, {"NOT (id == 1 OR id == 2 OR id == 3)", "", "!(((id == 1 or id == 2) or id == 3))"},
    {"NOT id == 1 AND NOT id == 2", "", "!(id == 1) and !(id == 2)"}, {"!(id == 1) || !(id == 2)", "", "(!(id == 1) or !(id == 2))"},
    {"TRUEPREDICATE AND id == 1", "", "TRUEPREDICATE and id == 1"}, {"FALSEPREDICATE OR id == 1", "", "(FALSEPREDICATE or id == 1)"},
    {"NOT FALSEPREDICATE", "", "!(FALSEPREDICATE)"}, {"TRUEPREDICATE AND TRUEPREDICATE", "", "TRUEPREDICATE and TRUEPREDICATE"}, {"age >= 30", "", "age > 29"},
    {"age <= 30", "", "age < 31"}, {"age <> 30", "", "age != 30"}, {"age >= -9223372036854775808", "", "TRUEPREDICATE"},
    {"age <= -9223372036854775808", "", "age < -9223372036854775807"}, {"age >= 9223372036854775807", "", "age > 9223372036854775806"}, {"rank >= 5", "", "rank > 4"},
    {"rank <= 5", "", "rank < 6"}, {"rank >= null", "", "rank >= NULL"}, {"rank <= null", "", "rank <= NULL"}, {"rank == null", "", "rank == NULL"},
    {"rank == nil", "", "rank == NULL"}, {"rank != nil", "", "rank != NULL"}, {"f == 1.5f", "", "f == 1.5"}, {"f == 0.1f", "", "f == 0.100000001"},
    {"g == 0.3", "", "g == 0.29999999999999999"}, {"g == +infinity", "", "g == inf"}, {"g == NaN", "", "g == nan"}, {"g == null", "", "g == NULL"},
    {"dec == inf", "", "dec == Inf"}, {"dec == -inf", "", "dec == -Inf"}, {"dec == nan", "", "dec == NaN"},
    {"dec == '12345678901234567890123456789.123'", "", "dec == +12345678901234567890123456789123E-3"},
    {"dec == 12345678901234567890123456789.123", "", "dec == +12345678901234567890123456789123E-3"},
    {"dec == 18446744073709551615.0", "", "dec == +184467440737095516150E-1"}, {"dec == 1.0f", "", "dec == 1"}, {"dec == null", "", "dec == NULL"},
    {"name == 'x\"y'", "", "name == B64\"eCJ5\""}, {"name == \"x'y\"", "", "name == B64\"eCd5\""}, {"name == 'a\\\\b'", "", "name == B64\"YVxcYg==\""},
    {"name == 'é日本'", "", "name == \"é日本\""}, {"name == '~!@#$%^&*()_+{}|:<>?-=[];,./`'", "", "name == \"~!@#$%^&*()_+{}|:<>?-=[];,./`\""},
    {"name == ''", "", "name == \"\""}, {"nick == null", "", "nick == NULL"}, {"nick ==[c] 'ANNIE'", "", "nick ==[c] \"ANNIE\""},
    {"nick !=[c] 'ANNIE'", "", "nick !=[c] \"ANNIE\""}, {"name BEGINSWITH 'A'", "", "name BEGINSWITH \"A\""}, {"name beginswith[c] 'a'", "", "name BEGINSWITH[c] \"a\""},
    {"name ENDSWITH 'n'", "", "name ENDSWITH \"n\""}, {"name endswith[c] 'N'", "", "name ENDSWITH[c] \"N\""}, {"name CONTAINS 'n'", "", "name CONTAINS \"n\""},
    {"name contains[c] 'N'", "", "name CONTAINS[c] \"N\""}, {"name LIKE 'a*'", "", "name LIKE \"a*\""}, {"name like[c] 'a?n'", "", "name LIKE[c] \"a?n\""},
    {"nick LIKE null", "", "nick LIKE NULL"}, {"nick BEGINSWITH null", "", "nick BEGINSWITH NULL"}, {"nick CONTAINS[c] null", "", "nick CONTAINS[c] NULL"},
    {"'Ann' BEGINSWITH name", "", "\"Ann\" BEGINSWITH name"}, {"'annx' CONTAINS[c] name", "", "\"annx\" CONTAINS[c] name"},
    {"best.name BEGINSWITH 'A'", "", "best.name BEGINSWITH \"A\""}, {"best.name ==[c] 'ann'", "", "best.name ==[c] \"ann\""},
    {"bin == binary('abc')", "", "bin == binary(\"abc\")"}, {"bin != binary('')", "", "bin != binary(\"\")"},
    {"bin BEGINSWITH binary('a')", "", "bin BEGINSWITH binary(\"a\")"}, {"bin CONTAINS[c] binary('B')", "", "bin CONTAINS[c] binary(\"B\")"},
    {"bin LIKE binary('a*')", "", "bin LIKE binary(\"a*\")"}, {"bin == null", "", "bin == NULL"}, {"at == 2000-02-29T12:30:45:123", "", "at == T951827445:123"},
    {"at == null", "", "at == NULL"}, {"oid == null", "", "oid == NULL"},
    {"uid == uuid(ABCDEF00-0000-0000-0000-000000000001)", "", "uid == uuid(abcdef00-0000-0000-0000-000000000001)"}, {"ok == TRUE", "", "ok == true"},
    {"okn == null", "", "okn == NULL"}, {"m == 'five'", "", "m == \"five\""}, {"m == \"x'\\\"y\"", "", "m == B64\"eCdcInk=\""},
    {"m == binary('x')", "", "m == binary(\"x\")"}, {"m BEGINSWITH 'f'", "", "m BEGINSWITH \"f\""}, {"m CONTAINS[c] 'IV'", "", "m CONTAINS[c] \"IV\""},
    {"m ==[c] 'FIVE'", "", "m ==[c] \"FIVE\""}, {"m IN {5, 'five'}", "", "m == {5, \"five\"}"}, {"m BETWEEN {1, 10}", "", "m >= 1 and m <= 10"},
    {"m[0] == 1", "", "m[FIRST] == 1"}, {"m[1][0] == 2", "", "m[1][FIRST] == 2"}, {"m.a == 1", "", "m['a'] == 1"}, {"m['b']['c'][0] == 10", "", "m['b']['c'][FIRST] == 10"},
    {"m.b.c[LAST] == 20", "", "m['b']['c'][LAST] == 20"}, {"m.@type == 'int'", "", "m.@type == \"int\""}, {"m.@type == 'INTEGER'", "", "m.@type == \"int\""},
    {"m.@type != 'string'", "", "m.@type != \"string\""}, {"m.@type IN {'int', 'string'}", "", "m.@type == {\"int\", \"string\"}"},
    {"m.@type == 'numeric'", "", "m.@type == \"numeric\""}, {"m.@type == 'collection'", "", "m.@type == \"collection\""},
    {"m.@type == 'object'", "", "m.@type == \"object\""}, {"m.@type == 'array'", "", "m.@type == \"array\""}, {"m.@type == 'date'", "", "m.@type == \"date\""},
    {"m.@type == 'link'", "", "m.@type == \"objectlink\""}, {"m.@type == 'guid'", "", "m.@type == \"uuid\""}, {"m.@type == 'decimal'", "", "m.@type == \"decimal128\""},
    {"m.@type == 'null'", "", "m.@type == \"null\""}, {"m.@type == 'data'", "", "m.@type == \"binary\""}, {"m.@type == 'bool'", "", "m.@type == \"bool\""},
    {"m.@type == 'double'", "", "m.@type == \"double\""}, {"m.@type == 'float'", "", "m.@type == \"float\""}, {"m.@type == 'objectid'", "", "m.@type == \"objectid\""},
    {"m.@type == age.@type", "", "m.@type == \"int\""}, {"m.@count == 3", "", "m.@size == 3"}, {"SOME li == 3", "", "ANY li == 3"}, {"any li == 3", "", "ANY li == 3"},
    {"3 IN li", "", "3 == li"}, {"id IN li", "", "id == li"}, {"li IN {1, 2, 3}", "", "li == {1, 2, 3}"}, {"id IN {}", "", "id == {}"}, {"id IN {1, 1, 1}", "", "id IN {1}"},
    {"name IN {'Ann'}", "", "name IN {\"Ann\"}"}, {"name IN[c] {'Ann'}", "", "name IN {\"Ann\"}"}, {"nick IN {null}", "", "nick IN {NULL}"},
    {"age IN {30.0}", "", "age IN {30}"}, {"f IN {1.5}", "", "f == 1.5"}, {"g IN {2.5, 0.1}", "", "(g == 2.5 or g == 0.10000000000000001)"},
    {"dec IN {1.1}", "", "dec == 1.1"}, {"at IN {T0:0, T1:0}", "", "(at == T0:0 or at == T1:0)"}, {"bin IN {binary('abc')}", "", "bin == binary(\"abc\")"},
    {"ok IN {true, false}", "", "(ok == true or ok == false)"}, {"okn IN {null}", "", "okn == NULL"}, {"m IN {}", "", "m == {}"},
    {"best.name IN {'Ann', 'bob'}", "", "best.name == {\"Ann\", \"bob\"}"}, {"best.name IN[c] {'ANN'}", "", "best.name ==[c] {\"ANN\"}"},
    {"li[0] == 1", "", "li[FIRST] == 1"}, {"li[*] == 3", "", "li == 3"}, {"ANY li[*] == 3", "", "ANY li == 3"}, {"li.@count == 3", "", "li.@size == 3"},
    {"li[SIZE] == 3", "", "li.@size == 3"}, {"si.@count == 2", "", "si.@size == 2"}, {"ss == 'a'", "", "ss == \"a\""}, {"lin == null", "", "lin == NULL"},
    {"lin == {1, null}", "", "lin == {1, NULL}"}, {"ls == 'a'", "", "ls == \"a\""}, {"ls CONTAINS[c] 'B'", "", "ls CONTAINS[c] \"B\""}, {"lm == 'one'", "", "lm == \"one\""},
    {"lm[1] == 'one'", "", "lm[1] == \"one\""}, {"lm[1].@type == 'string'", "", "lm[1].@type == \"string\""}, {"lm.@type == 'string'", "", "lm.@type == \"string\""},
    {"lm[2][0] == 7", "", "lm[2][FIRST] == 7"}, {"lm[1].k == 1", "", "lm[1]['k'] == 1"}, {"di == 5", "", "di[*] == 5"}, {"di[\"a\"] == 1", "", "di['a'] == 1"},
    {"di.@values == 5", "", "di[*] == 5"}, {"di.@keys == 'a'", "", "di.@keys == \"a\""}, {"di.@keys CONTAINS 'a'", "", "di.@keys CONTAINS \"a\""},
    {"ALL di.@keys == 'a'", "", "ALL di.@keys == \"a\""}, {"di.@count == 2", "", "di[*].@size == 2"}, {"di.@size == 2", "", "di[*].@size == 2"},
    {"ds['a'] == 'x'", "", "ds['a'] == \"x\""}, {"ds.a ==[c] 'X'", "", "ds['a'] ==[c] \"X\""}, {"ds['a b c'] == 'x'", "", "ds['a b c'] == \"x\""},
    {"ds['é'] == 'x'", "", "ds['é'] == \"x\""}, {"dm.x == 'str'", "", "dm['x'] == \"str\""}, {"dm.x.z == 3", "", "dm['x']['z'] == 3"},
    {"dm.l[0] == 1", "", "dm['l'][FIRST] == 1"}, {"dm.l[*] == 1", "", "dm['l'][*] == 1"}, {"dm.@values == 1", "", "dm[*] == 1"},
    {"dm.@type == 'int'", "", "dm[*].@type == \"int\""}, {"dm['x'].@type == 'string'", "", "dm['x'].@type == \"string\""}, {"best == null", "", "best == NULL"},
    {"best == obj(\"Person\", 1)", "", "best == obj(\"class_Person\",1)"}, {"best != obj(\"Person\", 1)", "", "best != obj(\"class_Person\",1)"},
    {"best == obj(\"class_Person\", 1)", "", "best == obj(\"class_Person\",1)"}, {"best IN {O1, O0}", "", "best == {obj(\"class_Person\",2), obj(\"class_Person\",1)}"},
    {"best IN {obj(\"Person\", 1)}", "", "best == {obj(\"class_Person\",1)}"}, {"best IN pals", "", "best == pals"}, {"best.best == null", "", "best.best == NULL"},
    {"best['age'] == 20", "", "best.age == 20"}, {"best.li[0] == 1", "", "best.li[FIRST] == 1"}, {"best.li.@count == 3", "", "best.li.@size == 3"},
    {"best.dog.name == 'Rex'", "", "best.dog.name == \"Rex\""}, {"dog == obj(\"Dog\", \"Rex\")", "", "dog == obj(\"class_Dog\",\"Rex\")"},
    {"dog.name == 'Rex'", "", "dog.name == \"Rex\""}, {"dog.owners.name == 'Ann'", "", "dog.@links.Person.dog.name == \"Ann\""},
    {"dog.owners.@count == 2", "", "dog.@links.Person.dog.@count == 2"}, {"home.city == 'Oslo'", "", "home.city == \"Oslo\""}, {"home == null", "", "home == NULL"},
    {"homes.city == 'Rome'", "", "homes.city == \"Rome\""}, {"homes[0].city == 'Oslo'", "", "homes[FIRST].city == \"Oslo\""},
    {"ALL homes.city == 'Rome'", "", "ALL homes.city == \"Rome\""}, {"pals == obj(\"Person\", 1)", "", "pals == obj(\"class_Person\",1)"},
    {"ANY pals == obj(\"Person\", 1)", "", "pals == obj(\"class_Person\",1)"}, {"ALL pals == obj(\"Person\", 1)", "", "ALL pals == obj(\"class_Person\",1)"},
    {"NONE pals == obj(\"Person\", 1)", "", "NONE pals == obj(\"class_Person\",1)"}, {"pals != obj(\"Person\", 1)", "", "pals != obj(\"class_Person\",1)"},
    {"pals[0].age == 20", "", "pals[FIRST].age == 20"}, {"pals[*].age == 40", "", "pals.age == 40"}, {"pals.@size == 2", "", "pals.@count == 2"},
    {"palset == O1", "", "palset == obj(\"class_Person\",2)"}, {"paldict.b.age == 20", "", "paldict['b'].age == 20"},
    {"paldict.b == obj(\"Person\", 2)", "", "paldict['b'] == obj(\"class_Person\",2)"}, {"paldict[*].age == 20", "", "paldict.age == 20"},
    {"paldict.@values.age == 20", "", "paldict.age == 20"}, {"paldict.@keys == 'b'", "", "paldict.@keys == \"b\""}, {"@links.@size == 0", "", "@links.@count == 0"},
    {"@Dog owners.@count == 2", "", "@links.Person.dog.@count == 2"}, {"@Dog owners.@size == 2", "", "@links.Person.dog.@count == 2"},
    {"@Dog ANY owners.age == 30", "", "ANY @links.Person.dog.age == 30"}, {"@Dog ALL owners.age >= 30", "", "ALL @links.Person.dog.age >= 30"},
    {"@Dog @links.Person.dog.name == 'Ann'", "", "@links.Person.dog.name == \"Ann\""}, {"@Dog owners.best.name == 'bob'", "", "@links.Person.dog.best.name == \"bob\""},
    {"@Dog kg > 3", "", "kg > 3"}, {"@Dog name == 'Rex'", "", "name == \"Rex\""},
    {"@Dog name == \"Rex\" AND kg > 1 SORT(kg DESC)", "", "name == \"Rex\" and kg > 1 SORT(kg DESC)"}, {"lm.@max == 'one'", "", "lm.@max == \"one\""},
    {"li.@sum > li.@count", "", "li.@sum > li.@size"}, {"name.@count == 3", "", "name.@size == 3"}, {"nick.@count == null", "", "nick.@size == NULL"},
    {"bin.@count == 2", "", "bin.@size == 2"}, {"best.name.@count == 3", "", "best.name.@size == 3"},
    {"subquery(pals, $foo, $foo.age > 25 and $foo.ok == true).@count > 0", "", "SUBQUERY(pals, $x, $x.age > 25 and $x.ok == true).@count > 0"},
    {"SUBQUERY(pals, $x, $x.age > 25).@size > 0", "", "SUBQUERY(pals, $x, $x.age > 25).@count > 0"},
    {"SUBQUERY(pals, $x, age > 25).@count > 0", "", "SUBQUERY(pals, $x, $x.age > 25).@count > 0"},
    {"SUBQUERY(pals, $x, $x.age > 25 OR $x.id == 1 OR $x.ok == true).@count > 0", "", "SUBQUERY(pals, $x, (($x.age > 25 or $x.id == 1) or $x.ok == true)).@count > 0"},
    {"SUBQUERY(pals, $x, NOT $x.age > 25).@count == 1", "", "SUBQUERY(pals, $x, !($x.age > 25)).@count == 1"},
    {"SUBQUERY(pals, $x, $x.age + 1 > 25).@count > 0", "", "SUBQUERY(pals, $x, ($x.age + 1) > 25).@count > 0"},
    {"SUBQUERY(pals, $x, $x.age >= 25).@count > 0", "", "SUBQUERY(pals, $x, $x.age > 24).@count > 0"},
    {"SUBQUERY(homes, $h, $h.city == 'Rome').@count > 0", "", "SUBQUERY(homes, $x, $x.city == \"Rome\").@count > 0"},
    {"@Dog SUBQUERY(owners, $o, $o.age > 30).@count > 0", "", "SUBQUERY(@links.Person.dog, $x, $x.age > 30).@count > 0"}, {"age + 1 == 31", "", "(age + 1) == 31"},
    {"age - 1 == 29", "", "(age - 1) == 29"}, {"age * 2 == 60", "", "(age * 2) == 60"}, {"age / 2 == 15", "", "(age / 2) == 15"},
    {"age + id * 2 == 32", "", "(age + (id * 2)) == 32"}, {"(age + id) * 2 == 62", "", "((age + id) * 2) == 62"}, {"age - 5 - 5 == 20", "", "((age - 5) - 5) == 20"},
    {"age - (5 - 5) == 30", "", "(age - 0) == 30"}, {"age - (id - 1) == 30", "", "(age - (id - 1)) == 30"}, {"age * (id + 1) / 2 == 30", "", "((age * (id + 1)) / 2) == 30"},
    {"age == 1 + 2", "", "age == 3"}, {"age == 7/2.0", "", "age == 3"}, {"g == 1.0/4", "", "g == 0.25"}, {"age + f == 31.5", "", "(age + f) == 31.5"},
    {"age + 1 > id + 2", "", "(age + 1) > (id + 2)"}, {"best.age + age == 50", "", "(best.age + age) == 50"}, {"li + 1 == 4", "", "(li + 1) == 4"},
    {"ALL li + 1 > 3", "", "(ALL li + 1) > 3"}, {"m + 1 == 6", "", "(m + 1) == 6"}, {"li.@max * 2 == 10", "", "(li.@max * 2) == 10"},
    {"li.@count + 1 == 4", "", "(li.@size + 1) == 4"}, {"age + $0 == 31", "1", "(age + 1) == 31"}, {"g + 1 == 3.5", "", "(g + 1) == 3.5"},
    {"f * 2 == 3", "", "(f * 2) == 3"}, {"dec + 1 == 2.1", "", "(dec + 1) == 2.1"}, {"age == $0", "30", "age == 30"}, {"age == $0", "30.5", "age == 30.5"},
    {"age == $0 OR id == $0", "30", "(age == 30 or id == 30)"}, {"age == $1", "1, 30", "age == 30"}, {"g == $0", "2.5", "g == 2.5"}, {"g == $0", "flt(2.5)", "g == 2.5"},
    {"g == $0", "1", "g == 1"}, {"f == $0", "1.5", "f == 1.5"}, {"f == $0", "0.1", "f == 0.100000001"}, {"name == $0", "'Ann'", "name == \"Ann\""},
    {"name ==[c] $0", "'ANN'", "name ==[c] \"ANN\""}, {"name BEGINSWITH $0", "'A'", "name BEGINSWITH \"A\""}, {"nick == $0", "null", "nick == NULL"},
    {"bin == $0", "bin(abc)", "bin == binary(\"abc\")"}, {"at == $0", "at(0)", "at == T0:0"}, {"oid == $0", "oid(1)", "oid == oid(000000000000000000000001)"},
    {"uid == $0", "uuid(1)", "uid == uuid(00000000-0000-0000-0000-000000000001)"}, {"ok == $0", "true", "ok == true"}, {"ok == $0", "null", "ok == NULL"},
    {"m == $0", "5", "m == 5"}, {"m == $0", "'five'", "m == \"five\""}, {"m == $0", "null", "m == null"},
    {"best == $0", "link(Person 2)", "best == obj(\"class_Person\",2)"}, {"best == $0", "null", "best == NULL"},
    {"pals == $0", "link(Person 2)", "pals == obj(\"class_Person\",2)"}, {"ANY pals == $0", "link(Person 2)", "pals == obj(\"class_Person\",2)"},
    {"best IN $0", "[link(Person 2), link(Person 1)]", "best == {obj(\"class_Person\",2), obj(\"class_Person\",1)}"}, {"id IN $0", "[1]", "id IN {1}"},
    {"id IN $0", "[]", "id == {}"}, {"best.id IN $0", "[1, 2]", "best.id == {1, 2}"}, {"ANY $0 == id", "[1, 2]", "ANY {1, 2} == id"},
    {"ALL $0 == id", "[1, 2]", "ALL {1, 2} == id"}, {"NONE $0 == id", "[1, 2]", "NONE {1, 2} == id"}, {"li == $0", "[1, 2, 3]", "li == {1, 2, 3}"},
    {"m IN $0", "[5, 'five', null]", "m == {5, \"five\", NULL}"}, {"g IN $0", "[2.5]", "g == 2.5"}, {"f IN $0", "[flt(1.5)]", "f == 1.5"},
    {"lm IN $0", "[link(Dog Rex)]", "lm == {obj(\"class_Dog\",\"Rex\")}"}, {"age BETWEEN {$0, $1}", "20, 30", "age between {20, 30}"}, {"$K0 == 30", "'age'", "age == 30"},
    {"$K0 == 30", "'best.age'", "best.age == 30"}, {"$K0 == 10", "'två ord'", "två\\ ord == 10"}, {"ANY $K0 == 3", "'li'", "ANY li == 3"},
    {"li[$0] == 1", "0", "li[FIRST] == 1"}, {"di[$0] == 1", "'a'", "di['a'] == 1"}, {"best == obj(\"Person\", $0)", "1", "best == obj(\"class_Person\",1)"},
    {"m.@type == $0", "'int'", "m.@type == \"int\""}, {"TRUEPREDICATE sort(age ascending)", "", "TRUEPREDICATE SORT(age ASC)"},
    {"TRUEPREDICATE SORT(age ASC) SORT(id DESC)", "", "TRUEPREDICATE SORT(id DESC, age ASC)"}, {"TRUEPREDICATE SORT(pubx DESC)", "", "TRUEPREDICATE SORT(col_x DESC)"},
    {"TRUEPREDICATE SORT(di.a ASC)", "", "TRUEPREDICATE SORT(di['a'] ASC)"}, {"TRUEPREDICATE SORT(dm.x ASC)", "", "TRUEPREDICATE SORT(dm['x'] ASC)"},
    {"TRUEPREDICATE DISTINCT(pubx)", "", "TRUEPREDICATE DISTINCT(col_x)"}, {"TRUEPREDICATE LIMIT(010)", "", "TRUEPREDICATE LIMIT(8)"},
    {"TRUEPREDICATE LIMIT(18446744073709551615)", "", "TRUEPREDICATE LIMIT(9223372036854775807)"}, {"@Dog TRUEPREDICATE SORT(kg ASC)", "", "TRUEPREDICATE SORT(kg ASC)"},
    {"age BETWEEN {20, 30}", "", "age between {20, 30}"}, {"age between {20,30}", "", "age between {20, 30}"}, {"name CONTAINS[c] 'A'", "", "name CONTAINS[c] \"A\""},
    {"name contains [c] 'A'", "", "name CONTAINS[c] \"A\""}, {"name CONTAINS [c] 'A'", "", "name CONTAINS[c] \"A\""}, {"name ==[c] 'ANN'", "", "name ==[c] \"ANN\""},
    {"name = 'Ann'", "", "name == \"Ann\""}, {"name = [c] 'ANN'", "", "name ==[c] \"ANN\""}, {"name =[c] 'ANN'", "", "name ==[c] \"ANN\""},
    {"name in {'Ann'}", "", "name IN {\"Ann\"}"}, {"id => 5", "", "id > 4"}, {"id =< 2", "", "id < 3"}, {"id <> 1", "", "id != 1"},
    {"id == 1 and not age == 5", "", "id == 1 and !(age == 5)"}, {"NOT(id == 1)", "", "!(id == 1)"}, {"not (id == 1)", "", "!(id == 1)"}, {"!id == 1", "", "!(id == 1)"},
    {"! id == 1", "", "!(id == 1)"}, {"any pals.age == 30", "", "ANY pals.age == 30"}, {"some pals.age == 30", "", "ANY pals.age == 30"},
    {"SOME pals.age == 30", "", "ANY pals.age == 30"}, {"none pals.age == 30", "", "NONE pals.age == 30"}, {"all pals.age == 30", "", "ALL pals.age == 30"},
    {"ANY pals.age IN {30, 40}", "", "ANY pals.age == {30, 40}"}, {"age == nil", "", "age == NULL"}, {"age == null", "", "age == NULL"}, {"rank = nil", "", "rank == NULL"},
    {"rank = NIL", "", "rank == NULL"}, {"name == nil", "", "name == NULL"}, {"name LIKE 'A*'", "", "name LIKE \"A*\""}, {"name like 'A*'", "", "name LIKE \"A*\""},
    {"name LIKE[c] 'a*'", "", "name LIKE[c] \"a*\""}, {"name BEGINSWITH[c] 'a'", "", "name BEGINSWITH[c] \"a\""}, {"name EnDsWiTh 'n'", "", "name ENDSWITH \"n\""},
    {"trUEpredicate", "", "TRUEPREDICATE"}, {"subquery(pals, $p, $p.age > 20).@count > 0", "", "SUBQUERY(pals, $x, $x.age > 20).@count > 0"},
    {"age == 30 AND (id == 1 OR id == 4)", "", "age == 30 and (id == 1 or id == 4)"}, {"age == 30 && id == 1 || id == 4", "", "(age == 30 and id == 1 or id == 4)"},
    {"age>=30", "", "age > 29"}, {"age<=30", "", "age < 31"}, {"age>30", "", "age > 30"}, {"age!=30", "", "age != 30"}, {"age=30", "", "age == 30"},
    {"{1,2} == id", "", "{1, 2} == id"}, {"ANY {1,2} == id", "", "ANY {1, 2} == id"}, {"name == \"Ann\" AND age == 30", "", "name == \"Ann\" and age == 30"},
    {"name==\"Ann\"", "", "name == \"Ann\""}, {"name!='Ann'", "", "name != \"Ann\""}, {"name =='Ann'and age == 30", "", "name == \"Ann\" and age == 30"},
    {"name == 'Ann'&&age == 30", "", "name == \"Ann\" and age == 30"}, {"\tage\t==\t30\t", "", "age == 30"}, {"'Ann' == name", "", "\"Ann\" == name"},
    {"'Ann' IN ls", "", "\"Ann\" == ls"}, {"'a' IN ls", "", "\"a\" == ls"}, {"null == rank", "", "NULL == rank"},
};
static const char* const unchanged[] = {
    "best.age <= 5", "f >= 1.5", "dec == -1.50", "id IN {7}", "två\\ ord == 1", "age between {1, 5}", "bin BEGINSWITH binary(B64\"AP8=\")", "FALSEPREDICATE", "age > 30",
    "age < 30", "age != 30", "30 < age", "30 == age", "30 >= age", "best.rank >= 5", "f == 1", "f == 1.5", "f < 2", "g == 2", "g == 2.5", "g == 0.0001",
    "g == 123456789.125", "g == 3.14159265358979", "g == inf", "g == -inf", "dec == 1", "dec == 1.5", "dec == 1E3", "dec == 1E-3", "dec == 100000", "dec == 0",
    "name == \"a b\"", "nick == \"\"", "name == nick", "name ==[c] nick", "name != nick", "name < nick", "at == T1:0", "at > T0:0", "at >= T0:0", "at <= T1:1",
    "at between {T0:0, T2:0}", "oid == oid(0000000000000000000000ff)", "oid != oid(000000000000000000000001)", "oid IN {oid(000000000000000000000001)}",
    "uid == uuid(00000000-0000-0000-0000-000000000001)", "uid IN {uuid(00000000-0000-0000-0000-000000000001)}", "ok == true", "ok == false", "ok != true", "ok > false",
    "m == 5", "m == null", "m == true", "m == T1:0", "m == uuid(00000000-0000-0000-0000-000000000001)", "m == oid(000000000000000000000001)", "m == inf", "m == nan",
    "m > 4", "m >= 4", "m <= 5", "m == best", "m == age", "m[*] == 1", "m[1][*] == 2", "m['a'] == 1", "m['a b'] == 1", "m.@type == m.@type", "m.@size == 3", "li == 3",
    "ANY li == 3", "ALL li == 3", "NONE li == 3", "li == {1, 2, 3}", "li == {}", "li == ANY {1, 2}", "li == ALL {1}", "li == NONE {1}", "ANY {1, 2} == id", "id == {}",
    "id == ALL {}", "id == ALL {1, 2}", "id != {1, 2}", "id > {1, 2}", "NONE {1, 2} == id", "li[1] == 2", "li[FIRST] == 1", "li[LAST] == 3", "li[2] == 3", "li.@size == 3",
    "si == 1", "si == {1, 2}", "ls.length == 1", "ALL ls.length == 1", "lm.@size == 4", "di['a'] == 1", "di[*] == 5", "dm['x']['z'] == 3", "best != NULL",
    "best == best.best", "best == dog", "best.age == 20", "best.best.age == 20", "best.@count == 1", "best.li == 3", "best.di['a'] == 1", "dog.kg > 30", "home.zip == 1",
    "homes[LAST].zip == 2", "homes.@count == 2", "pals.age == 30", "pals.age > 20", "pals[FIRST].age == 20", "pals[LAST].age == 40", "pals.pals.age == 30", "pals.li == 3",
    "ALL pals.li == 3", "pals.@count == 2", "pals.pals.@count == 2", "palset.age == 40", "palset.@count == 2", "paldict.age == 20", "paldict['b'].age == 20",
    "paldict.@count == 1", "paldict['n'] == NULL", "paldict['zz'] == NULL", "@links.@count == 0", "@links.Person.best.@count == 2", "@links.Person.best.age == 20",
    "ANY @links.Person.best.age == 20", "@links.Person.pals.age > 30", "@links.Person.pals.@links.Person.pals.age > 30",
    "@links.Person.best.@count > @links.Person.pals.@count", "best.@links.@count == 1", "best.@links.Person.best.@count == 1", "li.@sum == 6", "li.@avg == 2",
    "li.@min == 1", "li.@max == 3", "lin.@avg > 2.5", "di.@sum > 1", "si.@max == 3", "dm.@max == 1", "pals.@sum.age == 60", "pals.@avg.age >= 20", "pals.@min.age == 20",
    "pals.@max.age == 40", "pals.@max.at > T0:0", "pals.pals.@max.age == 40", "best.@sum.age == 20", "palset.@max.age == 40", "paldict.@sum.age == 20",
    "homes.@avg.zip == 1.5", "@links.Person.best.@sum.age == 70", "pals.@max.dec > 1", "pals.@sum.m > 1", "5 < li.@sum", "li.@sum == pals.@count", "name.@size == 3",
    "SUBQUERY(pals, $x, $x.age > 25).@count > 0", "SUBQUERY(pals, $x, TRUEPREDICATE).@count == 2",
    "SUBQUERY(pals, $x, SUBQUERY($x.pals, $y, $y.age < 30).@count > 0).@count > 0", "SUBQUERY(best.pals, $x, $x.age > 25).@count > 0",
    "SUBQUERY(@links.Person.best, $x, $x.age > 25).@count > 0", "SUBQUERY(pals, $x, $x.li.@sum > 2).@count > 0", "SUBQUERY(pals, $x, $x.best.age >= 25).@count > 0",
    "SUBQUERY(pals, $x, $x.age > 25).@count > SUBQUERY(pals, $x, $x.age < 25).@count", "age > id", "TRUEPREDICATE SORT(age ASC)", "TRUEPREDICATE SORT(age ASC, id DESC)",
    "TRUEPREDICATE SORT(best.age ASC)", "TRUEPREDICATE SORT(best.dog.name ASC)", "TRUEPREDICATE SORT(best ASC)", "TRUEPREDICATE SORT(di['a'] ASC)",
    "TRUEPREDICATE SORT(m ASC)", "TRUEPREDICATE DISTINCT(age)", "TRUEPREDICATE DISTINCT(age, ok)", "TRUEPREDICATE DISTINCT(best.age)", "TRUEPREDICATE DISTINCT(di['a'])",
    "TRUEPREDICATE LIMIT(2)", "TRUEPREDICATE LIMIT(4) LIMIT(2)", "TRUEPREDICATE SORT(age ASC) DISTINCT(ok) LIMIT(1)", "TRUEPREDICATE LIMIT(4) SORT(id DESC) LIMIT(2)",
    "TRUEPREDICATE DISTINCT(ok) SORT(id DESC) DISTINCT(age)", "age > 20 SORT(age DESC) LIMIT(2)", "TRUEPREDICATE SORT(home.city ASC)", "TRUEPREDICATE SORT(home ASC)",
    "TRUEPREDICATE SORT(age ASC, age DESC)", "TRUEPREDICATE SORT(best.best.id ASC)", "TRUEPREDICATE DISTINCT(home)", "TRUEPREDICATE DISTINCT(best)",
    "TRUEPREDICATE DISTINCT(bin)", "TRUEPREDICATE DISTINCT(g)", "TRUEPREDICATE DISTINCT(f)", "TRUEPREDICATE DISTINCT(dec)", "TRUEPREDICATE DISTINCT(at)",
    "TRUEPREDICATE DISTINCT(name)", "TRUEPREDICATE DISTINCT(nick)", "pals.@count > 1", "age == NULL", "\"Ann\" == name", "1 < id", "1.5 == f", "true == ok", "T0:0 == at",
    "uuid(00000000-0000-0000-0000-000000000001) == uid", "ANY pals == palset", "NONE pals == palset", "f == 2", "f > 1", "@links.@count == 1", "m == null", "m == 5",
    "bin CONTAINS[c] NULL"
};

static void check_form(const char* query, const char* given, const char* wanted) {
    realm_class_key_t table = starts(&query, "@Dog ") ? dog_class : person_class;
    size_t mark = holding;
    read_arguments(given);
    realm_clear_last_error();
    realm_query_t *q = Q(realm_query_parse(r, table, query, argument_count, argument_count ? arguments : NULL)), *again = Q(realm_query_parse(r, table, wanted, 0, NULL));
    if (!result(q && described(q, wanted), __LINE__, query)) printf("  of     %s\n", query);
    answer_rows(q ? R(realm_query_find_all(q)) : NULL);
    char all[sizeof answer];
    strcpy(all, answer);
    answer_rows(again ? R(realm_query_find_all(again)) : NULL);
    if (!result(!strcmp(answer, all), __LINE__, wanted)) printf("  %s: %s\n  %s: %s\n", query, all, wanted, answer);
    give_back(mark);
}
static void forms(void) {
    section = "normal forms";
    for (size_t i = 0; i < sizeof normal_forms / sizeof *normal_forms; i++) check_form(normal_forms[i].query, normal_forms[i].arguments, normal_forms[i].form);
    for (size_t i = 0; i < sizeof unchanged / sizeof *unchanged; i++) check_form(unchanged[i], "", unchanged[i]);
    /* The order of several elements is not defined. */
    realm_query_t* q = parse("id IN {4, 2, 3}");
    const char* form = realm_query_get_description(q);
    CHECK(form && strlen(form) == strlen("id IN {4, 2, 3}") && !strncmp(form, "id IN {", 7) && strchr(form, '2') && strchr(form, '3') && strchr(form, '4'));
    /* A view that is valid until the next call. */
    realm_query_t* other = parse("age == 30");
    const char* first = realm_query_get_description(other);
    CHECK(described(parse("id == 1"), "id == 1") && !strcmp(first, "age == 30") && described(other, "age == 30") && described(other, "age == 30"));
    if (thorough) { /* texts and doubles whose normal form other libraries cannot parse */
        static const char* const texts[] = {"ds[\"it's\"] == 'x'", "g < 3.0", "g == 1e10", "g == -0.0", "f IN {1.5, 2.0}", "pals IN {O1, O2}", "pals == {O1, O2}", "NONE pals.dec IN {obj(\"Person\", 999), O12}", "dog.bio TEXT 'fox'", "dec == 0.0", "dec == -0.0",
                                            "TRUEPREDICATE SORT(två\\ ord DESC)", "g < 3.0", "g <= 0.0", "ANY pals == palset", "pals == palset", "m == 5.0 OR m == 'five'", "g IN {}", "m == $0", "dm == $0", "best == $0"};
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
            size_t mark = holding;
            read_arguments(strchr(texts[i], '$') ? texts[i][0] == 'b' ? "link(Person 1)" : "link(Dog Rex)" : "");
            q = Q(realm_query_parse(r, person_class, texts[i], argument_count, arguments));
            if (result(q != NULL, __LINE__, texts[i])) {
                answer_rows(R(realm_query_find_all(q)));
                char all[sizeof answer];
                strcpy(all, answer);
                const char* printed = realm_query_get_description(q);
                if (CHECK(printed && (other = parse(printed)) != NULL) && !CHECK(finds(other, all))) printf("  %s as %s\n", texts[i], printed);
            }
            give_back(mark);
        }
    }
    give_back(0);
}

/* Cases that need other values, which are rolled back. Sums add in the order of object keys, not of the list. */
static void other_values(void) {
    static const struct row words_and_sums[] = {
        {"@Dog bio TEXT '?'", "", "~Old"}, {"@Dog bio TEXT '×'", "", "~Old"}, {"@Dog bio TEXT '-日本'", "", "~Rex Ida"}, {"@Dog bio TEXT '*'", "", "~"}, {"@Dog bio TEXT 'quick ?'", "", "~"},
        {"pals.@sum.g == 1 AND id == 2", "", "2"}, {"pals.@avg.g > 0 AND id == 2", "", "2"},
    };
    if (!CHECK(realm_begin_write(r))) give_up();
    put(dog("Old"), "bio", text("×÷"));
    put(person(1), "g", real(1e17)), put(person(3), "g", real(-1e17)), put(person(5), "g", real(1)), pals(person(2), 3, 1, 5, 3);
    TABLE(words_and_sums);
    CHECK(realm_rollback(r));
    give_back(0);
}

/* ---- Making and using queries -------------------------------------------------------------------- */

static void handles(void) {
    section = "handles";
    size_t n = SIZE_MAX;
    bool found = true;
    realm_value_t v = integer(77), w = text("30");
    realm_query_arg_t one = {1, false, &w};

    /* The text and the arguments are copied. */
    char query[] = "name == $0 AND age == 30", name[] = "Ann";
    w = text(name);
    realm_query_t* q = Q(realm_query_parse(r, person_class, query, 1, &one));
    memset(query, '?', sizeof query - 1), memset(name, '?', 3), memset(&one, 0, sizeof one);
    CHECK(finds(q, "1") && described(q, "name == \"Ann\" and age == 30") && finds(q, "1"));
    CHECK(parse("id == 1\0 AND id == 2") != NULL && finds(parse("id == 1\0 AND id == 2"), "1")); /* NUL is the end */

    /* First row and count. */
    q = parse("age == 30 SORT(id DESC)");
    CHECK(realm_query_find_first(q, &v, &found) && found && v.type == RLM_TYPE_LINK && v.link.target_table == person_class && v.link.target == realm_object_get_key(person(4)));
    CHECK(realm_query_find_first(q, NULL, NULL) && realm_query_find_first(q, &v, NULL) && realm_query_find_first(q, NULL, &found) && found);
    v = integer(77);
    CHECK(realm_query_find_first(parse("id == 77"), &v, &found) && !found && v.type == RLM_TYPE_INT && v.integer == 77);
    CHECK(realm_query_find_first(parse("TRUEPREDICATE DISTINCT(ok) SORT(id DESC)"), &v, &found) && found && v.link.target == realm_object_get_key(person(2)));
    CHECK(realm_query_count(parse("TRUEPREDICATE DISTINCT(age)"), &n) && n == 5 && realm_query_count(parse("TRUEPREDICATE LIMIT(4)"), &n) && n == 4);
    CHECK(realm_query_count(parse("age > 15 DISTINCT(age) LIMIT(2)"), &n) && n == 2 && realm_query_count(parse("FALSEPREDICATE"), &n) && n == 0);
    if (thorough) CHECK(realm_query_find_first(parse("TRUEPREDICATE LIMIT(0)"), &v, &found) && !found);

    /* Clones, and one query for many results. */
    realm_query_t* twin = Q((realm_query_t*)realm_clone(q));
    realm_results_t *a = R(realm_query_find_all(q)), *b = R(realm_query_find_all(q));
    CHECK(finds(twin, "4 1") && rows_are(a, "4 1") && rows_are(b, "4 1") && realm_equals(q, q) && !realm_equals(q, twin) && !realm_is_frozen(q));

    /* Appending. */
    realm_query_t *base = parse("age >= 30 SORT(age DESC)"), *more = Q(realm_query_append_query(base, "ok == true", 0, NULL));
    CHECK(finds(base, "5 3 1 4") && finds(more, "5 3 1") && described(base, "age > 29 SORT(age DESC)") && described(more, "age > 29 and ok == true SORT(age DESC)"));
    more = Q(realm_query_append_query(base, "ok == true SORT(name ASC)", 0, NULL));
    CHECK(finds(more, "1 5 3"));
    more = Q(realm_query_append_query(parse("TRUEPREDICATE SORT(id DESC) LIMIT(4)"), "age == 30 LIMIT(1)", 0, NULL)); /* conditions first */
    CHECK(finds(more, "4") && described(more, "TRUEPREDICATE and age == 30 SORT(id DESC) LIMIT(4) LIMIT(1)"));
    more = Q(realm_query_append_query(parse("TRUEPREDICATE LIMIT(2)"), "id > 3", 0, NULL));
    CHECK(finds(more, "4 5"));
    more = Q(realm_query_append_query(parse("id == 1 OR id == 2 OR id == 4"), "age == 30 OR id == 2", 0, NULL));
    CHECK(finds(more, "1 2 4"));
    w = integer(30), one.nb_args = 1, one.arg = &w;
    realm_query_t* bound = Q(realm_query_parse(r, person_class, "age >= $0", 1, &one));
    w = integer(40);
    CHECK(finds(Q(realm_query_append_query(bound, "age <= $0", 1, &one)), "1 3 4") && finds(bound, "1 3 4 5"));
    CHECK(finds(Q(realm_query_append_query(base, "TRUEPREDICATE LIMIT(0)", 0, NULL)), ""));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_append_query(base, "id ==", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_append_query(base, "", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_append_query(base, "nope == 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_append_query(bound, "age == $0", 0, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_query_parse(r, 0x70000, "TRUEPREDICATE", 0, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_query_parse(r, RLM_INVALID_CLASS_KEY, "TRUEPREDICATE", 0, NULL));

    /* Sorting by a list fails at the first read. */
    realm_results_t* unsortable = R(realm_query_find_all(parse("TRUEPREDICATE SORT(li ASC)")));
    FAILS(RLM_ERR_INVALID_SORT_DESCRIPTOR, realm_results_get(unsortable, 0, &v));
    FAILS(RLM_ERR_INVALID_SORT_DESCRIPTOR, realm_query_find_first(parse("TRUEPREDICATE SORT(li ASC)"), &v, &found));
    FAILS(RLM_ERR_INVALID_SORT_DESCRIPTOR, realm_query_count(parse("TRUEPREDICATE DISTINCT(pals.id)"), &n));

    /* The class of embedded objects can be queried, too. */
    q = Q(realm_query_parse(r, addr_class, "city == 'Rome' SORT(zip DESC)", 0, NULL));
    CHECK(finds(q, "3 2"));
    CHECK(finds(Q(realm_query_parse(r, addr_class, "@links.Person.home.age == 30 AND @links.@count == 1", 0, NULL)), "1"));
    give_back(0);
}

static void collections_of_objects(void) {
    section = "collections of objects";
    size_t n = SIZE_MAX;
    realm_object_t *p1 = person(1), *p3 = person(3), *p5 = person(5), *p6 = person(6);
    realm_list_t* all = list(p6, "pals"); /* 1 2 3 4 */
    realm_query_t* q = Q(realm_query_parse_for_list(all, "age >= 30", 0, NULL));
    CHECK(finds(q, "1 3 4") && realm_query_count(q, &n) && n == 3);
    CHECK(finds(Q(realm_query_parse_for_list(list(p3, "pals"), "TRUEPREDICATE", 0, NULL)), "1 1")); /* as often as it is in the list */
    CHECK(finds(Q(realm_query_parse_for_list(list(p3, "pals"), "TRUEPREDICATE DISTINCT(id)", 0, NULL)), "1"));
    CHECK(finds(Q(realm_query_parse_for_list(list(p1, "pals"), "TRUEPREDICATE SORT(age DESC)", 0, NULL)), "3 2"));
    if (thorough) CHECK(finds(Q(realm_query_parse_for_list(all, "TRUEPREDICATE SORT(age DESC) LIMIT(2)", 0, NULL)), "3 1"));
    CHECK(finds(Q(realm_query_parse_for_list(list(p5, "pals"), "TRUEPREDICATE", 0, NULL)), ""));
    CHECK(finds(Q(realm_query_parse_for_list(list(p1, "homes"), "zip > 1", 0, NULL)), "2"));
    CHECK(finds(Q(realm_query_append_query(q, "ok == true SORT(id DESC)", 0, NULL)), "3 1"));
    realm_value_t v = integer(2);
    realm_query_arg_t one = {1, false, &v};
    CHECK(finds(Q(realm_query_parse_for_list(all, "id > $0", 1, &one)), "3 4"));
    bool found = false;
    CHECK(realm_query_find_first(q, &v, &found) && found && v.link.target == realm_object_get_key(p1));

    q = Q(realm_query_parse_for_set(set(p1, "palset"), "age > 0", 0, NULL));
    CHECK(finds(q, "2 3") && realm_query_count(q, &n) && n == 2 && finds(Q(realm_query_parse_for_set(set(p1, "palset"), "age > 20 SORT(id DESC)", 0, NULL)), "3"));
    CHECK(finds(Q(realm_query_parse_for_set(set(p5, "palset"), "TRUEPREDICATE", 0, NULL)), ""));

    /* A query on results uses their condition but not their ordering. */
    realm_results_t* rows = R(realm_query_find_all(parse("age >= 30 SORT(id DESC) LIMIT(2)")));
    q = Q(realm_query_parse_for_results(rows, "ok == true", 0, NULL));
    CHECK(rows_are(rows, "5 4") && finds(q, "1 3 5") && rows_are(rows, "5 4"));
    CHECK(finds(Q(realm_query_parse_for_results(rows, "id < 4 SORT(id DESC)", 0, NULL)), "3 1"));
    CHECK(finds(Q(realm_query_parse_for_results(R(realm_object_find_all(r, person_class)), "age > 30", 0, NULL)), "3 5"));
    rows = R(realm_list_to_results(list(p3, "pals")));
    CHECK(finds(Q(realm_query_parse_for_results(rows, "TRUEPREDICATE", 0, NULL)), "1 1"));
    rows = R(realm_get_backlinks(p1, person_class, key(p1, "best")));
    CHECK(rows_are(rows, "2 5") && finds(Q(realm_query_parse_for_results(rows, "age > 20", 0, NULL)), "5"));
    rows = R(realm_set_to_results(set(p1, "palset")));
    CHECK(finds(Q(realm_query_parse_for_results(rows, "age > 20", 0, NULL)), "3"));
    rows = R(realm_dictionary_to_results(dict(p5, "paldict")));
    CHECK(finds(Q(realm_query_parse_for_results(rows, "age > 20", 0, NULL)), "1"));
    rows = R(realm_results_snapshot(R(realm_query_find_all(parse("age == 30")))));
    CHECK(finds(Q(realm_query_parse_for_results(rows, "id > 1", 0, NULL)), "4"));

    /* Errors, and values instead of objects. */
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_parse_for_list(all, "", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse_for_list(all, "kg > 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse_for_list(all, "id > $0", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse_for_set(set(p1, "palset"), "nope > 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse_for_results(rows, "nope > 1", 0, NULL));
    if (thorough) {
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(list(p1, "li"), "TRUEPREDICATE", 0, NULL));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(list(p1, "lm"), "TRUEPREDICATE", 0, NULL));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_set(set(p1, "si"), "TRUEPREDICATE", 0, NULL));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_results(R(realm_list_to_results(list(p1, "li"))), "TRUEPREDICATE", 0, NULL));
    }
    give_back(0);
}

/* Queries run when their results are read, on the snapshot of that moment. */
static void changes(void) {
    section = "changes";
    size_t n = SIZE_MAX;
    realm_query_t *q = parse("age >= 30 SORT(age ASC, id ASC)"), *in_list = Q(realm_query_parse_for_list(list(person(1), "pals"), "age >= 20", 0, NULL));
    realm_results_t* rows = R(realm_query_find_all(q));
    CHECK(finds(q, "1 4 3 5") && finds(in_list, "2 3"));
    CHECK(realm_begin_write(r));
    put(person(6), "age", integer(35)), put(person(1), "age", integer(5));
    CHECK(finds(q, "4 6 3 5") && rows_are(rows, "4 6 3 5") && realm_query_count(q, &n) && n == 4);
    push(list(person(1), "pals"), link_to(person(5)));
    CHECK(finds(in_list, "2 3 5"));
    realm_object_t* created = (realm_object_t*)hold(realm_object_create_with_primary_key(r, person_class, integer(7)));
    put(created, "age", integer(31)), put(created, "best", link_to(person(4)));
    CHECK(finds(q, "4 7 6 3 5") && finds(parse("best.id == 4"), "7") && finds(parse("@links.Person.best.id == 7"), "4"));
    CHECK(realm_object_delete(person(4)) && finds(q, "7 6 3 5") && finds(parse("best == NULL"), "6 7") && finds(parse("id == 4"), ""));
    CHECK(realm_rollback(r) && finds(q, "1 4 3 5") && finds(in_list, "2 3") && finds(parse("id == 7"), ""));
    if (thorough) CHECK(rows_are(rows, "1 4 3 5"));

    /* Changes by other instances are visible after a refresh. */
    realm_t *other = open_realm(), *mine = r;
    if (realm_is_writable(r)) realm_rollback(r); /* after a failure: the other would wait for ever */
    CHECK(realm_begin_write(other));
    r = other;
    put(person(2), "age", integer(33));
    give_back(holding - 1);
    r = mine;
    CHECK(realm_commit(other) && finds(q, "1 4 3 5") && realm_refresh(r, NULL) && finds(q, "1 4 2 3 5") && realm_begin_write(r));
    put(person(2), "age", integer(20));
    CHECK(realm_commit(r) && finds(q, "1 4 3 5") && realm_close(other));
    realm_release(other);

    /* Deleting. Not every library has this function. */
    if (realm_query_delete_all) {
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_query_delete_all(q));
        CHECK(realm_begin_write(r) && realm_query_delete_all(parse("id == 77")) && realm_query_delete_all(parse("age >= 30 SORT(id DESC) LIMIT(2)")) && finds(q, "1 3"));
        CHECK(realm_query_delete_all(parse("age == 30")) && finds(parse("TRUEPREDICATE"), "2 3 6") && realm_rollback(r) && finds(q, "1 4 3 5"));
        CHECK(realm_begin_write(r) && realm_query_delete_all(in_list) && finds(parse("TRUEPREDICATE"), "1 4 5 6") && realm_rollback(r));
        CHECK(realm_begin_write(r) && realm_query_delete_all(parse("TRUEPREDICATE")) && finds(parse("TRUEPREDICATE"), "") && realm_rollback(r));
    } else if (thorough)
        result(false, __LINE__, "realm_query_delete_all is missing");

    /* The list is deleted, the realm is closed. */
    CHECK(realm_begin_write(r) && realm_object_delete(person(1)) && finds(in_list, "") && realm_rollback(r) && finds(in_list, "2 3"));
    give_back(0);
}

/* Long and deep texts. */
static char* built;
static size_t built_size;
static void build(const char* s, size_t times) {
    size_t n = strlen(s);
    built = (char*)realloc(built, built_size + n * times + 1);
    if (!built) give_up();
    for (size_t i = 0; i < times; i++, built_size += n) memcpy(built + built_size, s, n);
    built[built_size] = 0;
}
static bool found_or_refused(const char* wanted, bool may_refuse) {
    realm_clear_last_error();
    realm_query_t* q = realm_query_parse(r, person_class, built, 0, NULL);
    bool good = q ? finds(q, wanted) && realm_query_get_description(q) : may_refuse && last_error() == RLM_ERR_INVALID_QUERY_STRING;
    realm_release(q);
    built_size = 0;
    return good;
}
static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
/* Seconds to parse, describe and release the text that was built. */
static double seconds_taken(void) {
    double start = processor_seconds();
    realm_query_t* q = realm_query_parse(r, person_class, built, 0, NULL);
    if (!q || !realm_query_get_description(q)) {
        failed++;
        printf("FAIL %.40s...\n", built);
    }
    realm_release(q);
    built_size = 0;
    return processor_seconds() - start;
}
static void sizes(void) {
    section = "sizes";
    build("(", 1000), build("id == 1", 1), build(")", 1000), CHECK(found_or_refused("1", false));
    build("NOT ", 1000), build("id == 1", 1), CHECK(found_or_refused("1", false));
    build("id == 1 AND ", 1000), build("id == 1", 1), CHECK(found_or_refused("1", false));
    build("id == 1 OR ", 1000), build("id == 2", 1), CHECK(found_or_refused("1 2", false));
    build("id == 1 OR (age == 30 AND ", 300), build("id == 4", 1), build(")", 300), CHECK(found_or_refused("1 4", false));
    build("id IN {", 1), build("9, ", 100000), build("1}", 1), CHECK(found_or_refused("1", false));
    build("id ", 1), build("+ 1 ", 1000), build("== 1003", 1), CHECK(found_or_refused("3", false));
    build("best.", 200), build("id == 1", 1), CHECK(found_or_refused("1", false));
    build("name != '", 1), build("x", 100000), build("'", 1), CHECK(found_or_refused("1 2 3 4 5 6", false));
    build("TRUEPREDICATE", 1), build(" SORT(age ASC, id ASC)", 100), CHECK(found_or_refused("6 2 1 4 3 5", false));
    if (thorough) { /* too deep is a syntax error, never a crash */
        build("(", 1000000), build("id == 1", 1), build(")", 1000000), CHECK(found_or_refused("1", true));
        build("NOT ", 1000000), build("id == 1", 1), CHECK(found_or_refused("1", true));
        build("id == 1 AND ", 100000), build("id == 1", 1), CHECK(found_or_refused("1", true));
        build("id == 1 OR ", 100000), build("id == 2", 1), CHECK(found_or_refused("1 2", true));
        build("id == 1 OR (age == 30 AND ", 100000), build("id == 4", 1), build(")", 100000), CHECK(found_or_refused("1 4", true));
        build("id ", 1), build("+ 1 ", 100000), build("== 100003", 1), CHECK(found_or_refused("3", true));
        build("1 + (", 100000), build("id", 1), build(")", 100000), build("== 100003", 1), CHECK(found_or_refused("3", true));
        build("best.", 100000), build("id == 1", 1), CHECK(found_or_refused("1", true));
        /* The levels of subqueries count together with those around them. */
        for (int i = 0; i < 30; i++) {
            char open[80];
            sprintf(open, "SUBQUERY(pals, $x%d, ", i);
            build("NOT ", 1500), build(open, 1);
        }
        build("id == 1", 1), build(").@count > 0", 30), CHECK(found_or_refused("", true));
        /* A path through lists that form a cycle: one object over one path, then over 2^n paths. */
        size_t mark = holding, n = 0;
        CHECK(realm_begin_write(r));
        realm_object_t* loop = (realm_object_t*)hold(realm_object_create_with_primary_key(r, person_class, integer(77)));
        realm_list_t* circle = list(loop, "pals");
        CHECK(realm_list_insert(circle, 0, link_to(loop)));
        build("id == 77 AND ", 1), build("pals.", 190), build("id == 77", 1), CHECK(found_or_refused("77", false));
        build("pals.", 100000), build("id == 77", 1), CHECK(!realm_query_parse(r, person_class, built, 0, NULL) && last_error() == RLM_ERR_INVALID_QUERY), built_size = 0;
        CHECK(realm_list_insert(circle, 0, link_to(loop)));
        build("id == 77 AND ", 1), build("pals.", 60), build("id == 1", 1), FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_query_count(parse(built), &n)), built_size = 0;
        CHECK(realm_rollback(r));
        give_back(mark);
        /* Work grows with the text, not with its square: 16 times the text means 16 or 256 times the work, a difference
           that other load on the machine cannot hide. */
        static const struct { const char *head, *open, *middle, *close; size_t times; } shapes[] = {
            {"", "((id == 1) AND ", "id == 1", ")", 110}, {"", "(id == 1 AND (id == 2 OR ", "id == 1", "))", 55}, {"id == 1", " SORT(id ASC)", "", "", 1000},
            {"NOT (id == 1", " OR age == 2", "", "", 60}, {"id", " + age * 2", "", "", 60}};
        static const char* const tails[] = {"", "", "", ")", " == 1"};
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            double least[2] = {1e9, 1e9};
            for (int again = 0; again < 10; again++) {
                for (int longer = 0; longer < 2; longer++) {
                    size_t times = shapes[i].times * (longer ? 16 : 1);
                    build(shapes[i].head, 1), build(shapes[i].open, times), build(shapes[i].middle, 1), build(shapes[i].close, times), build(tails[i], 1);
                    double took = seconds_taken();
                    if (took < least[longer]) least[longer] = took;
                }
            }
            if (!CHECK(least[1] < 64 * least[0])) printf("  %s: %.6f s, 16 times as long: %.6f s\n", shapes[i].open, least[0], least[1]);
        }
    }
    free(built);
    give_back(0);
}

/* Failures that the tables cannot express. */
static void misuse(void) {
    section = "misuse";
    if (thorough) { /* values that no query text can express */
        realm_value_t odd[] = {of_type(RLM_TYPE_LIST), of_type(RLM_TYPE_DICTIONARY), moment(5, -1), moment(-5, 1), moment(0, 1000000000)};
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            realm_query_arg_t one = {1, false, &odd[i]}, several = {1, true, &odd[i]};
            FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse(r, person_class, "m == $0", 1, &one));
            FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse(r, person_class, "lm IN $0", 1, &several));
            FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse(r, person_class, "name BEGINSWITH $0", 1, &one));
        }
    }
    size_t n = 0;
    bool found;
    realm_query_t *q = parse("age == 30"), *in_list = Q(realm_query_parse_for_list(list(person(1), "pals"), "age >= 20", 0, NULL));
    realm_results_t* rows = R(realm_query_find_all(q));
    realm_list_t* l = list(person(1), "pals");
    realm_set_t* s = set(person(1), "palset");
    CHECK(realm_begin_write(r) && realm_object_delete(person(1)));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_query_parse_for_list(l, "TRUEPREDICATE", 0, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_query_parse_for_set(s, "TRUEPREDICATE", 0, NULL));
    CHECK(realm_rollback(r));
    realm_close(r);
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(rows, &n));
    if (thorough) {
        FAILS(RLM_ERR_CLOSED_REALM, realm_query_count(q, &n)), FAILS(RLM_ERR_CLOSED_REALM, realm_query_find_first(q, NULL, &found)), FAILS(RLM_ERR_CLOSED_REALM, realm_query_find_all(q));
        FAILS(RLM_ERR_CLOSED_REALM, realm_query_append_query(q, "id == 1", 0, NULL)), FAILS(RLM_ERR_CLOSED_REALM, realm_query_count(in_list, &n));
        FAILS(RLM_ERR_CLOSED_REALM, realm_query_parse(r, person_class, "id == 1", 0, NULL));
        FAILS(RLM_ERR_STALE_ACCESSOR, realm_query_parse_for_results(rows, "id == 1", 0, NULL)), FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_query_parse_for_list(l, "id == 1", 0, NULL));
    }
    (void)in_list;
    give_back(0);
    realm_release(r);
}

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    verbose = argc > 1 && !strcmp(argv[1], "-v");
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    thorough = !getenv("QUERY_TEST_SKIP_CRASHES");
    fill();
    examples();
    rules();
    forms();
    other_values();
    handles();
    collections_of_objects();
    changes();
    sizes();
    misuse();
    return finished(folder);
}
