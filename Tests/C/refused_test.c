/*
 * Calls that are refused. Goal: every function of the C API that changes something leaves the transaction unchanged
 * when it fails, whatever the reason. Method: two files that are equal byte for byte; in one the call is made and
 * refused, then in both the same number is written and committed. The files must be equal again: no page was copied,
 * freed or filled by the refused call, and no counter changed. The last part compares the calls made here with the list
 * of functions.
 *
 *     refused_test
 *
 * With CREALM_CHECKERS set to the folder of the independent checkers, these check the last state, too. Compiles as C11
 * and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "batches.h"
#include "checks.h"
#include "values.h"

enum {
    GONE = RLM_ERR_INVALIDATED_OBJECT, BOUNDS = RLM_ERR_INDEX_OUT_OF_BOUNDS, MISMATCH = RLM_ERR_PROPERTY_TYPE_MISMATCH,
    REQUIRED = RLM_ERR_PROPERTY_NOT_NULLABLE, ILLEGAL = RLM_ERR_ILLEGAL_OPERATION, STATE = RLM_ERR_WRONG_TRANSACTION_STATE,
    ARGUMENT = RLM_ERR_INVALID_ARGUMENT, LIMIT = RLM_ERR_LIMIT_EXCEEDED, NO_OBJECT = RLM_ERR_NO_SUCH_OBJECT,
    NO_TABLE = RLM_ERR_NO_SUCH_TABLE, NO_PROPERTY = RLM_ERR_INVALID_PROPERTY, BAD_KEY = RLM_ERR_INVALID_DICTIONARY_KEY,
    EXISTS = RLM_ERR_OBJECT_ALREADY_EXISTS, ANY = -1
};

/* ---- Values ----------------------------------------------------------------------------------- */

static realm_value_t link_of(realm_class_key_t t, int64_t k) {
    realm_value_t v = of_type(RLM_TYPE_LINK);
    v.link.target_table = t, v.link.target = k;
    return v;
}

enum { HUGE_SIZE = 0x1000000, TOO_DEEP = 120 };
static char* huge; /* longer than a string or binary may be */
static char* huge_json; /* [1,"hhh…"] */
static char deep_json[2 * TOO_DEEP + 1];
static bool make_texts(void) {
    huge = (char*)malloc(HUGE_SIZE), huge_json = (char*)malloc(HUGE_SIZE + 6);
    if (!huge || !huge_json) return false;
    memset(huge, 'h', HUGE_SIZE), memset(huge_json, 'h', HUGE_SIZE + 5);
    memcpy(huge_json, "[1,\"", 4), memcpy(huge_json + HUGE_SIZE + 3, "\"]", 3);
    memset(deep_json, '[', TOO_DEEP), memset(deep_json + TOO_DEEP, ']', TOO_DEEP);
    return true;
}
static realm_value_t huge_text(void) { return text_of(huge, HUGE_SIZE); }
static realm_value_t huge_binary(void) { return bytes(huge, HUGE_SIZE); }

/* ---- Schema and files --------------------------------------------------------------------------- */

#define NONE RLM_COLLECTION_TYPE_NONE
#define LIST RLM_COLLECTION_TYPE_LIST
#define SET RLM_COLLECTION_TYPE_SET
#define DICT RLM_COLLECTION_TYPE_DICTIONARY
#define NULLABLE RLM_PROPERTY_NULLABLE
#define INDEXED RLM_PROPERTY_INDEXED
#define OBJECT RLM_PROPERTY_TYPE_OBJECT
#define MIXED RLM_PROPERTY_TYPE_MIXED
#define INT RLM_PROPERTY_TYPE_INT
#define STRING RLM_PROPERTY_TYPE_STRING

static realm_schema_t* schema(bool with_more) {
    realm_property_info_t all[] = {
        property("count", INT, NONE, "", 0), property("name", STRING, NONE, "", INDEXED),
        property("words", STRING, NONE, "", RLM_PROPERTY_FULLTEXT_INDEXED), property("rank", INT, NONE, "", INDEXED),
        property("when", RLM_PROPERTY_TYPE_TIMESTAMP, NONE, "", 0), property("data", RLM_PROPERTY_TYPE_BINARY, NONE, "", 0),
        property("any", MIXED, NONE, "", NULLABLE | INDEXED), property("link", OBJECT, NONE, "All", NULLABLE),
        property("part", OBJECT, NONE, "Part", NULLABLE),
        property("keyed", OBJECT, NONE, "Keyed", NULLABLE),
        property("nums", INT, LIST, "", 0), property("texts", STRING, LIST, "", INDEXED), property("anys", MIXED, LIST, "", NULLABLE),
        property("links", OBJECT, LIST, "All", 0), property("parts", OBJECT, LIST, "Part", 0), property("keyeds", OBJECT, LIST, "Keyed", 0),
        property("set_nums", INT, SET, "", 0), property("set_anys", MIXED, SET, "", NULLABLE), property("set_links", OBJECT, SET, "All", 0),
        property("dict_nums", INT, DICT, "", 0), property("dict_anys", MIXED, DICT, "", NULLABLE),
        property("dict_links", OBJECT, DICT, "All", NULLABLE),
        property("dict_parts", OBJECT, DICT, "Part", NULLABLE), property("dict_keyeds", OBJECT, DICT, "Keyed", NULLABLE)};
    realm_property_info_t part = property("n", INT, NONE, "", 0);
    realm_property_info_t keyed[] = {property("id", INT, NONE, "", RLM_PROPERTY_PRIMARY_KEY), property("n", INT, NONE, "", 0)};
    realm_property_info_t named[] = {property("id", STRING, NONE, "", RLM_PROPERTY_PRIMARY_KEY | NULLABLE)};
    realm_property_info_t more = property("n", with_more ? STRING : INT, NONE, "", 0);
    realm_class_info_t classes[] = {
        class_info("All", "", sizeof all / sizeof *all, 0, 0), class_info("Part", "", 1, 0, RLM_CLASS_EMBEDDED), class_info("Keyed", "id", 2, 0, 0),
        class_info("Named", "id", 1, 0, 0), class_info("More", "", 1, 0, 0)};
    const realm_property_info_t* properties[] = {all, &part, keyed, named, &more};
    return realm_schema_new(classes, 5, properties);
}

static char folder[] = "/dev/shm/refused-XXXXXX"; /* thousands of commits: in memory if such a folder exists */
static bool make_folder(void) {
    if (mkdtemp(folder)) return true;
    strcpy(folder, "/tmp/refused-XXXXXX");
    return mkdtemp(folder) != NULL;
}
static const char* path_of(int which) {
    static char paths[2][100];
    snprintf(paths[which], sizeof paths[which], "%s/%d.realm", folder, which);
    return paths[which];
}
static realm_t* open_file(int which) {
    realm_config_t* c = realm_config_new();
    realm_schema_t* s = schema(false);
    realm_config_set_path(c, path_of(which));
    realm_config_set_schema(c, s);
    realm_config_set_schema_version(c, 1);
    realm_config_set_automatic_change_notifications(c, false);
    /* With flushes, a commit also depends on where this realm's last commits wrote: the copy would not know that. */
    crealm_config_set_durability(c, CREALM_DURABILITY_UNSAFE);
    realm_t* opened = realm_open(c);
    realm_release(s), realm_release(c);
    if (!CHECK(opened != NULL)) give_up();
    return opened;
}
typedef struct contents { char* bytes; size_t size; } contents_t;
static contents_t read_file(int which) {
    contents_t c = {NULL, 0};
    struct stat info;
    int f = open(path_of(which), O_RDONLY);
    if (f < 0 || fstat(f, &info)) give_up();
    c.size = (size_t)info.st_size, c.bytes = (char*)malloc(c.size + 1);
    if (!c.bytes || read(f, c.bytes, c.size) != (ssize_t)c.size) give_up();
    close(f);
    return c;
}
static void copy_file(void) {
    contents_t c = read_file(0);
    int f = open(path_of(1), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (f < 0 || write(f, c.bytes, c.size) != (ssize_t)c.size) give_up();
    close(f), free(c.bytes);
}
static bool same_files(void) {
    contents_t a = read_file(0), b = read_file(1);
    bool same = a.size == b.size && !memcmp(a.bytes, b.bytes, a.size);
    free(a.bytes), free(b.bytes);
    return same;
}

static realm_t* r;     /* the realm in which calls are refused */
static realm_t* plain; /* the realm in which they are not made */
static realm_class_key_t class_key(const char* name) {
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(r, name, &found, &info) || !found) give_up();
    return info.key;
}
static realm_property_key_t key_in(const char* class_name, const char* name) {
    bool found = false;
    realm_property_info_t info;
    if (!realm_find_property(r, class_key(class_name), name, &found, &info) || !found) give_up();
    return info.key;
}
static realm_property_key_t key(const char* name) { return key_in("All", name); }

/* ---- Refusing ----------------------------------------------------------------------------------- */

static char covered[20000]; /* names of the functions that were refused, each between blanks */
static void note(const char* call) {
    size_t n = strcspn(call, "(");
    snprintf(covered + strlen(covered), sizeof covered - strlen(covered), " %.*s ", (int)n, call);
}
static int64_t steps;
/* The change that follows in both files. */
static bool step(realm_t* in, bool begun) {
    realm_object_t* o = NULL;
    bool good = (begun || realm_begin_write(in)) && (o = realm_get_object(in, class_key("All"), 0)) != NULL;
    good = good && realm_set_value(o, key("count"), integer(steps), false) && realm_commit(in);
    realm_release(o);
    return good;
}
static void settle(bool done, int number, int wanted, bool begun, int line, const char* call) {
    note(call);
    bool good = !done && (number == wanted || (wanted == ANY && number));
    if (!good) printf("line %d: %s gives %d, not %d\n", line, call, done ? 0 : number, wanted);
    result(good, line, call);
    steps++;
    if (!result(step(r, begun), line, "a change after the refused call")) give_up();
    if (!result(step(plain, false), line, "the same change elsewhere")) give_up();
    if (!result(same_files(), line, call)) {
        printf("line %d: %s left a trace\n", line, call);
        realm_close(plain), realm_release(plain);
        copy_file();
        plain = open_file(1);
    }
}
/* A call that is refused inside of a write transaction, and one outside. */
#define REFUSED(number, call)                                             \
    do {                                                                  \
        if (!realm_begin_write(r)) give_up();                             \
        realm_clear_last_error();                                         \
        bool done = (call) ? true : false;                                \
        settle(done, last_error(), number, true, __LINE__, #call);        \
    } while (0)
#define OUTSIDE(number, call)                                             \
    do {                                                                  \
        realm_clear_last_error();                                         \
        bool done = (call) ? true : false;                                \
        settle(done, last_error(), number, false, __LINE__, #call);       \
    } while (0)

/* ---- The objects -------------------------------------------------------------------------------- */

/* An object and a handle of each of its collections. */
typedef struct whole {
    realm_object_t* object;
    realm_list_t *nums, *texts, *anys, *links, *parts, *keyeds;
    realm_set_t *set_nums, *set_anys, *set_links;
    realm_dictionary_t *dict_nums, *dict_anys, *dict_links, *dict_parts, *dict_keyeds;
    realm_list_t *in_any, *in_list; /* any = [..], anys[0] = [..] */
    realm_dictionary_t* in_dict;    /* dict_anys["d"] = {..} */
} whole_t;

static bool fill_links(whole_t* w, realm_value_t to) {
    bool good = realm_set_value(w->object, key("link"), to, false) && realm_list_insert(w->links, 0, to) && realm_list_insert(w->links, 1, to);
    good = good && realm_list_insert(w->anys, 1, to) && realm_set_insert(w->set_links, to, NULL, NULL);
    good = good && realm_set_insert(w->set_anys, to, NULL, NULL) && realm_dictionary_insert(w->dict_links, text("l"), to, NULL, NULL);
    return good && realm_dictionary_insert(w->dict_anys, text("l"), to, NULL, NULL);
}
static whole_t make_whole(int64_t n) {
    whole_t w;
    memset(&w, 0, sizeof w);
    realm_object_t* o = w.object = realm_object_create(r, class_key("All"));
    char name[40];
    snprintf(name, sizeof name, "object %lld", (long long)n);
    CHECK(realm_set_value(o, key("count"), integer(n), false));
    CHECK(realm_set_value(o, key("name"), text(name), false));
    CHECK(realm_set_value(o, key("words"), text("some words to find"), false));
    CHECK(realm_set_value(o, key("rank"), integer(n % 3), false));
    w.nums = realm_get_list(o, key("nums")), w.texts = realm_get_list(o, key("texts")), w.anys = realm_get_list(o, key("anys"));
    w.links = realm_get_list(o, key("links")), w.parts = realm_get_list(o, key("parts")), w.keyeds = realm_get_list(o, key("keyeds"));
    w.set_nums = realm_get_set(o, key("set_nums")), w.set_anys = realm_get_set(o, key("set_anys")), w.set_links = realm_get_set(o, key("set_links"));
    w.dict_nums = realm_get_dictionary(o, key("dict_nums")), w.dict_anys = realm_get_dictionary(o, key("dict_anys"));
    w.dict_links = realm_get_dictionary(o, key("dict_links")), w.dict_parts = realm_get_dictionary(o, key("dict_parts"));
    w.dict_keyeds = realm_get_dictionary(o, key("dict_keyeds"));
    for (size_t i = 0; i < 5; i++) {
        CHECK(realm_list_insert(w.nums, i, integer((int64_t)i)) && realm_list_insert(w.texts, i, text("a text")));
        CHECK(realm_set_insert(w.set_nums, integer((int64_t)i), NULL, NULL) && realm_set_insert(w.set_anys, integer((int64_t)i), NULL, NULL));
        CHECK(realm_dictionary_insert(w.dict_nums, text_of("abcdefg", i + 1), integer((int64_t)i), NULL, NULL));
    }
    realm_release(realm_set_embedded(o, key("part")));
    realm_release(realm_list_insert_embedded(w.parts, 0));
    realm_release(realm_dictionary_insert_embedded(w.dict_parts, text("p")));
    w.in_any = realm_set_list(o, key("any")), w.in_list = realm_list_insert_list(w.anys, 0);
    w.in_dict = realm_dictionary_insert_dictionary(w.dict_anys, text("d"));
    CHECK(realm_list_insert(w.in_any, 0, integer(1)) && realm_list_insert(w.in_list, 0, integer(1)));
    CHECK(realm_dictionary_insert(w.in_dict, text("x"), integer(1), NULL, NULL));
    return w;
}
static void release_whole(whole_t* w) {
    void* all[] = {w->object, w->nums, w->texts, w->anys, w->links, w->parts, w->keyeds, w->set_nums, w->set_anys, w->set_links, w->dict_nums,
                   w->dict_anys, w->dict_links, w->dict_parts, w->dict_keyeds, w->in_any, w->in_list, w->in_dict};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) realm_release(all[i]);
}

static whole_t kept, doomed, undone;
static realm_object_t *first_keyed, *gone_keyed;
static realm_list_t *replaced_in_any, *replaced_in_list;
static realm_dictionary_t* erased_in_dict;

static void set_up(void) {
    section = "setting up";
    r = open_file(0);
    CHECK(realm_begin_write(r));
    kept = make_whole(0), doomed = make_whole(1);
    CHECK(fill_links(&kept, link_of(class_key("All"), realm_object_get_key(kept.object))));
    CHECK(fill_links(&doomed, link_of(class_key("All"), realm_object_get_key(kept.object))));
    for (int64_t i = 2; i < 300; i++) {
        whole_t w = make_whole(i);
        release_whole(&w);
    }
    first_keyed = realm_object_create_with_primary_key(r, class_key("Keyed"), integer(1));
    gone_keyed = realm_object_create_with_primary_key(r, class_key("Keyed"), integer(2));
    realm_release(realm_object_create_with_primary_key(r, class_key("Named"), text("one")));
    replaced_in_any = realm_get_list(doomed.object, key("any"));
    replaced_in_list = realm_list_insert_list(kept.anys, 0);
    erased_in_dict = realm_dictionary_insert_dictionary(kept.dict_anys, text("erased"));
    CHECK(realm_list_insert(replaced_in_list, 0, integer(1)) && realm_dictionary_insert(erased_in_dict, text("x"), integer(1), NULL, NULL));
    CHECK(realm_commit(r));
    CHECK(realm_begin_write(r));
    CHECK(realm_object_delete(doomed.object) && realm_object_delete(gone_keyed));
    CHECK(realm_list_set(kept.anys, 0, integer(7)) && realm_dictionary_erase(kept.dict_anys, text("erased"), NULL));
    CHECK(realm_commit(r));
    CHECK(realm_begin_write(r));
    undone = make_whole(1000);
    CHECK(fill_links(&undone, link_of(class_key("All"), realm_object_get_key(kept.object))));
    CHECK(realm_rollback(r));
    copy_file();
    plain = open_file(1);
    steps++;
    CHECK(step(r, false) && step(plain, false) && same_files());
}

/* ---- Reasons ------------------------------------------------------------------------------------ */

static void of_a_dead_object(const whole_t* w) {
    realm_object_t* o = w->object;
    realm_property_key_t keys[2] = {key("count"), key("rank")};
    realm_value_t values[2] = {integer(1), integer(2)};
    REFUSED(GONE, realm_object_delete(o));
    REFUSED(GONE, realm_object_add_int(o, key("count"), 1));
    REFUSED(GONE, realm_set_value(o, key("count"), integer(1), false));
    REFUSED(GONE, realm_set_value(o, key("name"), text("a"), false));
    REFUSED(GONE, realm_set_value(o, key("words"), text("other"), false));
    REFUSED(GONE, realm_set_value(o, key("rank"), integer(5), false));
    REFUSED(GONE, realm_set_value(o, key("any"), integer(5), false));
    REFUSED(GONE, realm_set_value(o, key("link"), null_value(), false));
    REFUSED(GONE, realm_set_values(o, 2, keys, values, false));
    REFUSED(GONE, realm_set_json(o, key("any"), "[1,2]"));
    REFUSED(GONE, realm_set_embedded(o, key("part")));
    REFUSED(GONE, realm_set_list(o, key("any")));
    REFUSED(GONE, realm_set_dictionary(o, key("any")));
}
static void of_a_dead_list(realm_list_t* l, realm_value_t v) {
    REFUSED(GONE, realm_list_insert(l, 0, v));
    REFUSED(GONE, realm_list_insert(l, 5, v));
    REFUSED(GONE, realm_list_set(l, 0, v));
    REFUSED(GONE, realm_list_move(l, 0, 1));
    REFUSED(GONE, realm_list_erase(l, 0));
    REFUSED(GONE, realm_list_clear(l));
    REFUSED(GONE, realm_list_remove_all(l));
    REFUSED(GONE, realm_list_insert_list(l, 0));
    REFUSED(GONE, realm_list_insert_dictionary(l, 0));
    REFUSED(GONE, realm_list_set_list(l, 0));
    REFUSED(GONE, realm_list_set_dictionary(l, 0));
    REFUSED(GONE, realm_list_insert_embedded(l, 0));
    REFUSED(GONE, realm_list_set_embedded(l, 0));
}
static void of_a_dead_set(realm_set_t* s, realm_value_t v) {
    REFUSED(GONE, realm_set_insert(s, v, NULL, NULL));
    REFUSED(GONE, realm_set_erase(s, v, NULL));
    REFUSED(GONE, realm_set_clear(s));
    REFUSED(GONE, realm_set_remove_all(s));
}
static void of_a_dead_dictionary(realm_dictionary_t* d, realm_value_t v) {
    REFUSED(GONE, realm_dictionary_insert(d, text("k"), v, NULL, NULL));
    REFUSED(GONE, realm_dictionary_erase(d, text("k"), NULL));
    REFUSED(GONE, realm_dictionary_clear(d));
    REFUSED(GONE, realm_dictionary_insert_list(d, text("k")));
    REFUSED(GONE, realm_dictionary_insert_dictionary(d, text("k")));
    REFUSED(GONE, realm_dictionary_insert_embedded(d, text("k")));
}
static void of_dead_collections(const whole_t* w) {
    realm_value_t here = link_of(class_key("All"), realm_object_get_key(kept.object));
    of_a_dead_list(w->nums, integer(1)), of_a_dead_list(w->texts, text("t")), of_a_dead_list(w->anys, integer(1));
    of_a_dead_list(w->links, here), of_a_dead_list(w->parts, here), of_a_dead_list(w->in_any, integer(1)), of_a_dead_list(w->in_list, integer(1));
    of_a_dead_set(w->set_nums, integer(1)), of_a_dead_set(w->set_anys, integer(1)), of_a_dead_set(w->set_links, here);
    of_a_dead_dictionary(w->dict_nums, integer(1)), of_a_dead_dictionary(w->dict_anys, integer(1)), of_a_dead_dictionary(w->dict_links, here);
    of_a_dead_dictionary(w->dict_parts, here), of_a_dead_dictionary(w->in_dict, integer(1));
}

/* All rows are checked before the first object is made: the fault is in the last row. */
static void batches(void) {
    const int64_t fresh[] = {900, 901, 902}, taken[] = {900, 901, 1}, twice[] = {900, 901, 900}, numbers[] = {1, 2, 3};
    const int64_t links[] = {1, 901, 77};
    const int32_t ends[] = {0, 1, 2, 3};
    const uint8_t last_is_null[] = {3};
    const realm_class_key_t keyed = class_key("Keyed");
    batch_t b;
    begin_batch(&b, 3), add_integers(&b, "n", numbers), add_integers(&b, "id", taken);
    REFUSED(EXISTS, create_batch(r, keyed, &b));
    begin_batch(&b, 3), add_integers(&b, "id", twice), add_integers(&b, "n", numbers);
    REFUSED(EXISTS, create_batch(r, keyed, &b));
    begin_batch(&b, 3), add_integers(&b, "id", fresh), add_integers(&b, "n", numbers);
    b.buffers[1][0] = last_is_null;
    REFUSED(REQUIRED, create_batch(r, keyed, &b));
    begin_batch(&b, 3), add_integers(&b, "id", fresh), add_texts(&b, "n", ends, "abc");
    REFUSED(MISMATCH, create_batch(r, keyed, &b));
    begin_batch(&b, 3), add_integers(&b, "id", fresh), add_integers(&b, "none", numbers);
    REFUSED(NO_PROPERTY, create_batch(r, keyed, &b));
    begin_batch(&b, 3), add_integers(&b, "n", numbers);
    REFUSED(RLM_ERR_MISSING_PRIMARY_KEY, create_batch(r, keyed, &b));
    begin_batch(&b, 3), add_integers(&b, "count", numbers), add_texts(&b, "name", ends, "ab\377"), add_integers(&b, "rank", numbers);
    REFUSED(ARGUMENT, create_batch(r, class_key("All"), &b));
    begin_batch(&b, 3), add_integers(&b, "count", numbers), add_integers(&b, "keyed", links), add_texts(&b, "name", ends, "abc");
    REFUSED(NO_OBJECT, create_batch(r, class_key("All"), &b));
    begin_batch(&b, 3), add_integers(&b, "id", fresh);
    REFUSED(ILLEGAL, create_batch(r, class_key("Part"), &b));
    REFUSED(NO_TABLE, create_batch(r, 99, &b));
    note("crealm_create_batch(");
    OUTSIDE(STATE, create_batch(r, keyed, &b));
}
static void of_values(void) {
    realm_object_t* o = kept.object;
    realm_class_key_t all = class_key("All");
    realm_value_t nowhere = link_of(all, 77777777), deleted = link_of(all, realm_object_get_key(doomed.object));
    realm_value_t other = link_of(class_key("Keyed"), realm_object_get_key(first_keyed)), unknown = link_of(99, 0);
    realm_property_key_t keys[3] = {key("count"), key("name"), key("rank")};
    realm_value_t values[3] = {integer(1), text("changed"), text("no number")};

    section = "values of properties";
    REFUSED(MISMATCH, realm_set_value(o, key("count"), text("x"), false));
    REFUSED(REQUIRED, realm_set_value(o, key("count"), null_value(), false));
    REFUSED(REQUIRED, realm_set_value(o, key("name"), null_value(), false));
    REFUSED(LIMIT, realm_set_value(o, key("name"), huge_text(), false));
    REFUSED(LIMIT, realm_set_value(o, key("words"), huge_text(), false));
    REFUSED(LIMIT, realm_set_value(o, key("data"), huge_binary(), false));
    REFUSED(LIMIT, realm_set_value(o, key("any"), huge_text(), false));
    REFUSED(ARGUMENT, realm_set_value(o, key("when"), moment(1, -1), false));
    REFUSED(ARGUMENT, realm_set_value(o, key("any"), moment(1, -1), false));
    REFUSED(NO_OBJECT, realm_set_value(o, key("link"), nowhere, false));
    REFUSED(NO_OBJECT, realm_set_value(o, key("link"), deleted, false));
    REFUSED(MISMATCH, realm_set_value(o, key("link"), other, false));
    REFUSED(MISMATCH, realm_set_value(o, key("link"), integer(0), false));
    REFUSED(NO_OBJECT, realm_set_value(o, key("any"), nowhere, false));
    REFUSED(NO_TABLE, realm_set_value(o, key("any"), unknown, false));
    REFUSED(ILLEGAL, realm_set_value(o, key("any"), link_of(class_key("Part"), 0), false));
    REFUSED(NO_PROPERTY, realm_set_value(o, 12345, integer(1), false));
    REFUSED(MISMATCH, realm_set_value(o, key("nums"), integer(1), false));
    REFUSED(MISMATCH, realm_set_values(o, 3, keys, values, false));
    REFUSED(ILLEGAL, realm_object_add_int(o, key("name"), 1));
    REFUSED(ILLEGAL, realm_object_add_int(o, key("any"), 1));
    REFUSED(NO_PROPERTY, realm_object_add_int(o, 12345, 1));
    REFUSED(RLM_ERR_MALFORMED_JSON, realm_set_json(o, key("any"), "[1, {\"a\": [2, 3"));
    REFUSED(MISMATCH, realm_set_json(o, key("name"), "[1]"));
    REFUSED(LIMIT, realm_set_json(o, key("any"), huge_json));
    REFUSED(BAD_KEY, realm_set_json(o, key("any"), "[1, {\"a\": {\"$b\": 2}}]"));
    REFUSED(LIMIT, realm_set_json(o, key("any"), deep_json));
    REFUSED(MISMATCH, realm_set_embedded(o, key("count")));
    REFUSED(ILLEGAL, realm_set_embedded(o, key("keyed")));
    REFUSED(NO_PROPERTY, realm_set_embedded(o, 12345));
    REFUSED(MISMATCH, realm_set_list(o, key("count")));
    REFUSED(MISMATCH, realm_set_dictionary(o, key("nums")));
    REFUSED(EXISTS, realm_object_create_with_primary_key(r, class_key("Keyed"), integer(1)));
    REFUSED(EXISTS, realm_object_create_with_primary_key(r, class_key("Named"), text("one")));
    REFUSED(MISMATCH, realm_object_create_with_primary_key(r, class_key("Keyed"), text("1")));
    REFUSED(REQUIRED, realm_object_create_with_primary_key(r, class_key("Keyed"), null_value()));
    REFUSED(LIMIT, realm_object_create_with_primary_key(r, class_key("Named"), huge_text()));
    REFUSED(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_create_with_primary_key(r, all, integer(1)));
    REFUSED(NO_TABLE, realm_object_create_with_primary_key(r, 99, integer(1)));
    REFUSED(MISMATCH, realm_object_get_or_create_with_primary_key(r, class_key("Keyed"), real(1), NULL));
    REFUSED(REQUIRED, realm_object_get_or_create_with_primary_key(r, class_key("Keyed"), null_value(), NULL));
    REFUSED(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_get_or_create_with_primary_key(r, all, integer(1), NULL));
    batches();
    REFUSED(NO_TABLE, realm_object_create(r, 99));
    REFUSED(RLM_ERR_MISSING_PRIMARY_KEY, realm_object_create(r, class_key("Keyed")));
    REFUSED(ILLEGAL, realm_object_create(r, class_key("Part")));
    REFUSED(GONE, realm_object_delete(gone_keyed));
    REFUSED(GONE, realm_set_value(gone_keyed, key_in("Keyed", "n"), integer(1), false));

    section = "elements of lists";
    REFUSED(BOUNDS, realm_list_insert(kept.nums, 6, integer(1)));
    REFUSED(BOUNDS, realm_list_insert(kept.texts, 6, text("new")));
    REFUSED(BOUNDS, realm_list_insert(kept.links, 9, link_of(all, 0)));
    REFUSED(BOUNDS, realm_list_insert(kept.anys, 9, link_of(all, 0)));
    REFUSED(BOUNDS, realm_list_insert(kept.keyeds, 1, other));
    REFUSED(BOUNDS, realm_list_insert(kept.in_any, 9, integer(1)));
    REFUSED(BOUNDS, realm_list_set(kept.nums, 5, integer(1)));
    REFUSED(BOUNDS, realm_list_set(kept.keyeds, 0, other));
    REFUSED(BOUNDS, realm_list_set(kept.nums, (size_t)-1, integer(1)));
    REFUSED(BOUNDS, realm_list_move(kept.nums, 0, 5));
    REFUSED(BOUNDS, realm_list_move(kept.nums, 5, 0));
    REFUSED(BOUNDS, realm_list_move(kept.keyeds, 0, 0));
    REFUSED(BOUNDS, realm_list_erase(kept.nums, 5));
    REFUSED(BOUNDS, realm_list_erase(kept.keyeds, 0));
    REFUSED(MISMATCH, realm_list_insert(kept.nums, 0, text("x")));
    REFUSED(REQUIRED, realm_list_insert(kept.nums, 0, null_value()));
    REFUSED(REQUIRED, realm_list_insert(kept.links, 0, null_value()));
    REFUSED(LIMIT, realm_list_insert(kept.texts, 0, huge_text()));
    REFUSED(LIMIT, realm_list_set(kept.anys, 0, huge_binary()));
    REFUSED(NO_OBJECT, realm_list_insert(kept.links, 0, nowhere));
    REFUSED(NO_OBJECT, realm_list_set(kept.links, 0, deleted));
    REFUSED(MISMATCH, realm_list_insert(kept.links, 0, other));
    REFUSED(NO_OBJECT, realm_list_insert(kept.anys, 0, nowhere));
    REFUSED(NO_TABLE, realm_list_insert(kept.anys, 0, unknown));
    REFUSED(ARGUMENT, realm_list_insert(kept.anys, 0, moment(-1, 1)));
    REFUSED(ILLEGAL, realm_list_insert(kept.parts, 0, link_of(class_key("Part"), 0)));
    REFUSED(ILLEGAL, realm_list_set(kept.parts, 0, link_of(class_key("Part"), 0)));
    REFUSED(BOUNDS, realm_list_insert_list(kept.anys, 99));
    REFUSED(BOUNDS, realm_list_insert_dictionary(kept.anys, 99));
    REFUSED(BOUNDS, realm_list_set_list(kept.anys, 99));
    REFUSED(BOUNDS, realm_list_set_dictionary(kept.anys, 99));
    REFUSED(ILLEGAL, realm_list_insert_list(kept.nums, 0));
    REFUSED(ILLEGAL, realm_list_insert_dictionary(kept.nums, 0));
    REFUSED(ILLEGAL, realm_list_set_list(kept.links, 0));
    REFUSED(ILLEGAL, realm_list_set_dictionary(kept.links, 0));
    REFUSED(BOUNDS, realm_list_insert_embedded(kept.parts, 2));
    REFUSED(BOUNDS, realm_list_set_embedded(kept.parts, 1));
    REFUSED(ILLEGAL, realm_list_insert_embedded(kept.links, 0));
    REFUSED(ILLEGAL, realm_list_set_embedded(kept.nums, 0));

    section = "elements of sets";
    REFUSED(MISMATCH, realm_set_insert(kept.set_nums, text("x"), NULL, NULL));
    REFUSED(REQUIRED, realm_set_insert(kept.set_nums, null_value(), NULL, NULL));
    REFUSED(NO_OBJECT, realm_set_insert(kept.set_links, nowhere, NULL, NULL));
    REFUSED(NO_OBJECT, realm_set_insert(kept.set_links, deleted, NULL, NULL));
    REFUSED(MISMATCH, realm_set_insert(kept.set_links, other, NULL, NULL));
    REFUSED(NO_TABLE, realm_set_insert(kept.set_anys, unknown, NULL, NULL));
    REFUSED(LIMIT, realm_set_insert(kept.set_anys, huge_text(), NULL, NULL));
    REFUSED(ILLEGAL, realm_set_insert(kept.set_anys, of_type(RLM_TYPE_LIST), NULL, NULL));

    section = "entries of dictionaries";
    REFUSED(BAD_KEY, realm_dictionary_insert(kept.dict_nums, text("$a"), integer(1), NULL, NULL));
    REFUSED(BAD_KEY, realm_dictionary_insert(kept.dict_anys, text("a.b"), link_of(all, 0), NULL, NULL));
    REFUSED(BAD_KEY, realm_dictionary_insert(kept.dict_keyeds, text("a.b"), other, NULL, NULL));
    REFUSED(ARGUMENT, realm_dictionary_insert(kept.dict_nums, integer(1), integer(1), NULL, NULL));
    REFUSED(LIMIT, realm_dictionary_insert(kept.dict_anys, huge_text(), integer(1), NULL, NULL));
    REFUSED(LIMIT, realm_dictionary_insert(kept.dict_anys, text("k"), huge_text(), NULL, NULL));
    REFUSED(MISMATCH, realm_dictionary_insert(kept.dict_nums, text("k"), text("x"), NULL, NULL));
    REFUSED(REQUIRED, realm_dictionary_insert(kept.dict_nums, text("k"), null_value(), NULL, NULL));
    REFUSED(NO_OBJECT, realm_dictionary_insert(kept.dict_links, text("k"), nowhere, NULL, NULL));
    REFUSED(NO_OBJECT, realm_dictionary_insert(kept.dict_links, text("l"), deleted, NULL, NULL));
    REFUSED(MISMATCH, realm_dictionary_insert(kept.dict_links, text("l"), other, NULL, NULL));
    REFUSED(NO_OBJECT, realm_dictionary_insert(kept.dict_anys, text("d"), nowhere, NULL, NULL));
    REFUSED(NO_TABLE, realm_dictionary_insert(kept.dict_anys, text("d"), unknown, NULL, NULL));
    REFUSED(ILLEGAL, realm_dictionary_insert(kept.dict_parts, text("p"), link_of(class_key("Part"), 0), NULL, NULL));
    REFUSED(RLM_ERR_INVALID_DICTIONARY_VALUE, realm_dictionary_insert_list(kept.dict_nums, text("k")));
    REFUSED(RLM_ERR_INVALID_DICTIONARY_VALUE, realm_dictionary_insert_dictionary(kept.dict_links, text("k")));
    REFUSED(BAD_KEY, realm_dictionary_insert_list(kept.dict_anys, text("$k")));
    REFUSED(BAD_KEY, realm_dictionary_insert_dictionary(kept.dict_anys, text(".")));
    REFUSED(RLM_ERR_INVALID_TABLE_REF, realm_dictionary_insert_embedded(kept.dict_nums, text("k")));
    REFUSED(ILLEGAL, realm_dictionary_insert_embedded(kept.dict_keyeds, text("k")));
    REFUSED(BAD_KEY, realm_dictionary_insert_embedded(kept.dict_parts, text("$p")));
    REFUSED(BAD_KEY, realm_dictionary_erase(kept.dict_nums, text("$a"), NULL));
}

/* An object whose creation was rolled back stays invalid: its handles do not name a later object with the same key. */
static void of_a_later_object_with_the_key(void) {
    section = "a key that is used again";
    size_t n = 0;
    realm_value_t v;
    CHECK(realm_begin_write(r));
    realm_object_t* later = realm_object_create(r, class_key("All"));
    CHECK(later && realm_object_get_key(later) == realm_object_get_key(undone.object) && realm_object_is_valid(later));
    realm_list_t* nums = realm_get_list(later, key("nums"));
    CHECK(realm_list_insert(nums, 0, integer(1)));
    CHECK(!realm_object_is_valid(undone.object) && !realm_list_is_valid(undone.nums) && !realm_dictionary_is_valid(undone.dict_nums));
    FAILS(GONE, realm_get_value(undone.object, key("count"), &v));
    FAILS(GONE, realm_set_value(undone.object, key("count"), integer(1), false));
    FAILS(GONE, realm_object_delete(undone.object));
    FAILS(GONE, realm_list_size(undone.nums, &n));
    FAILS(GONE, realm_list_insert(undone.nums, 0, integer(1)));
    FAILS(GONE, realm_set_insert(undone.set_nums, integer(1), NULL, NULL));
    FAILS(GONE, realm_dictionary_insert(undone.dict_nums, text("k"), integer(1), NULL, NULL));
    FAILS(GONE, realm_get_list(undone.object, key("nums")));
    void* copy = realm_clone(undone.object);
    CHECK(copy && !realm_object_is_valid((realm_object_t*)copy));
    CHECK(!realm_equals(undone.object, later) || !realm_object_is_valid(undone.object));
    CHECK(realm_list_size(nums, &n) && n == 1 && realm_rollback(r));
    CHECK(!realm_object_is_valid(later) && !realm_list_is_valid(nums) && realm_object_is_valid(kept.object) && realm_list_is_valid(kept.nums));
    realm_release(copy), realm_release(nums), realm_release(later);

    section = "a link to nothing";
    CHECK(realm_begin_write(r) && realm_set_value(kept.object, key("link"), link_of(class_key("All"), -1), false));
    CHECK(realm_get_value(kept.object, key("link"), &v) && v.type == RLM_TYPE_NULL);
    CHECK(realm_set_value(kept.object, key("any"), link_of(class_key("All"), -1), false));
    CHECK(realm_get_value(kept.object, key("any"), &v) && v.type == RLM_TYPE_NULL);
    FAILS(REQUIRED, realm_list_insert(kept.links, 0, link_of(class_key("All"), -1)));
    CHECK(realm_rollback(r));
}

/* A collection at level 100 accepts no nested collection. */
static void of_depth(void) {
    section = "nesting";
    enum { DEEPEST = 99 };
    realm_list_t* way[DEEPEST + 1];
    bool good = realm_begin_write(r) && (way[0] = realm_set_list(kept.object, key("any"))) != NULL;
    for (int i = 0; good && i < DEEPEST; i++) good = (way[i + 1] = realm_list_insert_list(way[i], 0)) != NULL;
    if (!CHECK(good && realm_commit(r))) give_up();
    realm_close(plain), realm_release(plain);
    copy_file();
    plain = open_file(1);
    realm_list_t* last = way[DEEPEST];
    REFUSED(LIMIT, realm_list_insert_list(last, 0));
    REFUSED(LIMIT, realm_list_insert_dictionary(last, 0));
    REFUSED(BOUNDS, realm_list_insert(last, 1, integer(1)));
    REFUSED(NO_OBJECT, realm_list_insert(last, 0, link_of(class_key("All"), 77777777)));
    for (int i = 0; i <= DEEPEST; i++) realm_release(way[i]);
}

static void of_results_and_the_schema(void) {
    section = "results, queries and the schema";
    bool deleted = false;
    size_t names = 0;
    realm_results_t* keys = NULL;
    CHECK(realm_dictionary_get_keys(kept.dict_nums, &names, &keys));
    REFUSED(ILLEGAL, realm_results_delete_all(keys));
    realm_release(keys);
    realm_query_t* query = realm_query_parse(r, class_key("All"), "count > $0", 0, NULL);
    REFUSED(ARGUMENT, realm_query_delete_all(query));
    realm_release(query);
    REFUSED(ARGUMENT, realm_remove_table(r, NULL, &deleted));
    realm_schema_t* wanted = schema(true);
    REFUSED(ANY, realm_update_schema(r, wanted));
    REFUSED(ANY, realm_update_schema_advanced(r, wanted, 1, NULL, NULL, NULL, NULL, false));
    REFUSED(ANY, realm_schema_rename_property(r, wanted, "All", "none", "other"));
    realm_release(wanted);
}

/* Every function that changes objects, without a transaction and without a handle. */
static void of_the_state(void) {
    section = "outside of a write transaction";
    realm_object_t* o = kept.object;
    realm_property_key_t count = key("count");
    realm_value_t one = integer(1);
    bool deleted = false;
    OUTSIDE(STATE, realm_object_create(r, class_key("All")));
    OUTSIDE(STATE, realm_object_create_with_primary_key(r, class_key("Keyed"), integer(50)));
    OUTSIDE(STATE, realm_object_get_or_create_with_primary_key(r, class_key("Keyed"), integer(51), NULL));
    OUTSIDE(STATE, realm_object_delete(o));
    OUTSIDE(STATE, realm_object_add_int(o, count, 1));
    OUTSIDE(STATE, realm_set_value(o, count, one, false));
    OUTSIDE(STATE, realm_set_values(o, 1, &count, &one, false));
    OUTSIDE(STATE, realm_set_json(o, key("any"), "[1]"));
    OUTSIDE(STATE, realm_set_embedded(o, key("part")));
    OUTSIDE(STATE, realm_set_list(o, key("any")));
    OUTSIDE(STATE, realm_set_dictionary(o, key("any")));
    OUTSIDE(STATE, realm_list_insert(kept.nums, 0, one));
    OUTSIDE(STATE, realm_list_insert(kept.nums, 5, one));
    OUTSIDE(STATE, realm_list_set(kept.nums, 0, one));
    OUTSIDE(STATE, realm_list_move(kept.nums, 0, 1));
    OUTSIDE(STATE, realm_list_erase(kept.nums, 0));
    OUTSIDE(STATE, realm_list_clear(kept.nums));
    OUTSIDE(STATE, realm_list_remove_all(kept.links));
    OUTSIDE(STATE, realm_list_insert_list(kept.anys, 0));
    OUTSIDE(STATE, realm_list_insert_dictionary(kept.anys, 0));
    OUTSIDE(STATE, realm_list_set_list(kept.anys, 0));
    OUTSIDE(STATE, realm_list_set_dictionary(kept.anys, 0));
    OUTSIDE(STATE, realm_list_insert_embedded(kept.parts, 0));
    OUTSIDE(STATE, realm_list_set_embedded(kept.parts, 0));
    OUTSIDE(STATE, realm_set_insert(kept.set_nums, one, NULL, NULL));
    OUTSIDE(STATE, realm_set_erase(kept.set_nums, one, NULL));
    OUTSIDE(STATE, realm_set_clear(kept.set_nums));
    OUTSIDE(STATE, realm_set_remove_all(kept.set_links));
    OUTSIDE(STATE, realm_dictionary_insert(kept.dict_nums, text("a"), one, NULL, NULL));
    OUTSIDE(STATE, realm_dictionary_erase(kept.dict_nums, text("a"), NULL));
    OUTSIDE(STATE, realm_dictionary_clear(kept.dict_nums));
    OUTSIDE(STATE, realm_dictionary_insert_list(kept.dict_anys, text("a")));
    OUTSIDE(STATE, realm_dictionary_insert_dictionary(kept.dict_anys, text("a")));
    OUTSIDE(STATE, realm_dictionary_insert_embedded(kept.dict_parts, text("a")));
    realm_results_t* all = realm_object_find_all(r, class_key("All"));
    OUTSIDE(STATE, realm_results_delete_all(all));
    realm_release(all);
    realm_query_t* query = realm_query_parse(r, class_key("All"), "count >= 0", 0, NULL);
    OUTSIDE(STATE, realm_query_delete_all(query));
    realm_release(query);
    OUTSIDE(STATE, realm_commit(r));
    OUTSIDE(STATE, realm_rollback(r));
    OUTSIDE(ANY, realm_remove_table(r, "All", &deleted));
    REFUSED(STATE, realm_begin_write(r));
    REFUSED(STATE, realm_compact(r, NULL));
}
static void of_no_handle(void) {
    section = "without a handle";
    realm_property_key_t count = key("count");
    realm_value_t one = integer(1);
    REFUSED(ARGUMENT, realm_object_create(NULL, 0));
    REFUSED(ARGUMENT, realm_set_value(NULL, count, one, false));
    REFUSED(ARGUMENT, realm_set_values(kept.object, 1, NULL, NULL, false));
    REFUSED(ARGUMENT, realm_set_json(kept.object, key("any"), NULL));
    REFUSED(ARGUMENT, realm_list_insert((realm_list_t*)kept.set_nums, 0, one));
    REFUSED(ARGUMENT, realm_list_insert(NULL, 0, one));
    REFUSED(ARGUMENT, realm_set_insert((realm_set_t*)kept.nums, one, NULL, NULL));
    REFUSED(ARGUMENT, realm_dictionary_insert((realm_dictionary_t*)kept.nums, text("a"), one, NULL, NULL));
}

/* ---- All of them -------------------------------------------------------------------------------- */

static void all_covered(void) {
    static const char* const changing[] = {
        "realm_begin_write", "realm_commit", "realm_rollback", "realm_compact", "realm_remove_table", "realm_update_schema",
        "realm_update_schema_advanced", "realm_schema_rename_property", "realm_object_create", "realm_object_create_with_primary_key",
        "realm_object_get_or_create_with_primary_key", "realm_object_delete", "realm_object_add_int", "realm_set_value", "realm_set_values",
        "realm_set_json", "realm_set_embedded", "realm_set_list", "realm_set_dictionary", "realm_list_set", "realm_list_insert",
        "realm_list_insert_list", "realm_list_insert_dictionary", "realm_list_set_list", "realm_list_set_dictionary", "realm_list_move",
        "realm_list_insert_embedded", "realm_list_set_embedded", "realm_list_erase", "realm_list_clear", "realm_list_remove_all",
        "realm_set_insert", "realm_set_erase", "realm_set_clear", "realm_set_remove_all", "realm_dictionary_insert",
        "realm_dictionary_insert_embedded", "realm_dictionary_insert_list", "realm_dictionary_insert_dictionary", "realm_dictionary_erase",
        "realm_dictionary_clear", "realm_query_delete_all", "realm_results_delete_all", "crealm_create_batch"};
    section = "all functions";
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) {
        char name[80];
        snprintf(name, sizeof name, " %s ", changing[i]);
        if (!result(strstr(covered, name) != NULL, __LINE__, changing[i])) printf("%s was never refused\n", changing[i]);
    }
}

static void judge(const char* checker, int which) {
    const char* checkers = getenv("CREALM_CHECKERS");
    char command[500];
    if (!checkers) return;
    snprintf(command, sizeof command, "python3 '%s'/%s '%s' >'%s'/judged 2>&1", checkers, checker, path_of(which), folder);
    CHECK(system(command) == 0);
}

int main(void) {
    if (!make_folder() || !make_texts()) return 1;
    set_up();
    section = "a deleted object";
    of_a_dead_object(&doomed), of_dead_collections(&doomed);
    section = "an object of a transaction that was rolled back";
    of_a_dead_object(&undone), of_dead_collections(&undone);
    section = "collections that were replaced";
    of_a_dead_list(replaced_in_any, integer(1)), of_a_dead_list(replaced_in_list, integer(1)), of_a_dead_dictionary(erased_in_dict, integer(1));
    of_values();
    of_results_and_the_schema();
    of_the_state();
    of_no_handle();
    of_a_later_object_with_the_key();
    of_depth();
    all_covered();
    section = "the end";
    CHECK(crealm_verify(r, NULL) && crealm_verify(plain, NULL));
    release_whole(&kept), release_whole(&doomed), release_whole(&undone);
    void* others[] = {first_keyed, gone_keyed, replaced_in_any, replaced_in_list, erased_in_dict};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) realm_release(others[i]);
    CHECK(realm_close(r) && realm_close(plain));
    realm_release(r), realm_release(plain);
    for (int i = 0; i < 2; i++) judge("realm_storage_check.py", i), judge("realm_data_check.py --check", i);
    bool deleted = false;
    for (int i = 0; i < 2; i++) CHECK(realm_delete_files(path_of(i), &deleted));
    char command[120];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command)) failed++;
    free(huge), free(huge_json);
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed ? 1 : 0;
}
