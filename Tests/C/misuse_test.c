/*
 * Wrong use of every function of the C API. Goal: each misuse that the header describes gives exactly
 * the error it promises, no misuse crashes, and the library works as before afterwards. Method: one
 * realm with a class for each situation; each section calls the functions in one wrong way and
 * compares the last error; between the sections a round trip must succeed.
 *
 *     misuse_test [FIXTURES]
 *
 * FIXTURES is the folder with ops/ and sdk/, files of other writers; with it the test also covers collections that have
 * elements. Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>
#include <crealm_testing.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batches.h"

/* ---- Checking --------------------------------------------------------------------------------- */

static int passed, failed;
static const char* section = "";

static void result(bool good, int line, const char* what, const char* detail) {
    if (good) {
        passed++;
    } else {
        failed++;
        printf("FAIL line %d, %s: %s%s%s\n", line, section, what, *detail ? ": " : "", detail);
        fflush(stdout);
    }
}
static int last_error(void) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    return realm_get_last_error(&error) ? (int)error.error : 0;
}
static void expect(int line, const char* what, bool failed_call, int wanted) {
    char detail[400] = "";
    realm_error_t error;
    memset(&error, 0, sizeof error);
    bool any = realm_get_last_error(&error);
    int got = any ? (int)error.error : 0;
    bool good = failed_call && got == wanted && (!any || (error.message && error.categories));
    if (!good)
        snprintf(detail, sizeof detail, "%s, error %d instead of %d (%s)", failed_call ? "failed" : "succeeded", got,
                 wanted, any && error.message ? error.message : "none");
    result(good, line, what, detail);
    realm_clear_last_error();
}

/* A condition. */
#define CHECK(condition) result((condition), __LINE__, #condition, "")
/* A call that must fail with an error. */
#define FAILS(number, call)                                                                       \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        bool gone_wrong = !(call);                                                                \
        expect(__LINE__, #call, gone_wrong, (int)(number));                                       \
    } while (0)
/* A call without a result, or with one that does not matter, that must set an error. */
#define SETS(number, call)                                                                        \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        (void)(call);                                                                             \
        expect(__LINE__, #call, true, (int)(number));                                             \
    } while (0)
/* A call that must give zero, NULL or false without an error. */
#define QUIET(call)                                                                               \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        bool nothing = !(call);                                                                   \
        expect(__LINE__, #call, nothing, 0);                                                      \
    } while (0)
/* A call that must succeed. */
#define WORKS(call)                                                                               \
    do {                                                                                          \
        realm_clear_last_error();                                                                 \
        bool success = (call) ? true : false;                                                     \
        char number[40] = "";                                                                     \
        if (!success) snprintf(number, sizeof number, "error %d", last_error());                  \
        result(success, __LINE__, #call, number);                                                 \
        realm_clear_last_error();                                                                 \
    } while (0)

/* ---- Values ----------------------------------------------------------------------------------- */

static realm_value_t of_type(int type) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = (realm_value_type_e)type;
    return v;
}
static realm_value_t null_value(void) { return of_type(RLM_TYPE_NULL); }
static realm_value_t integer(int64_t i) {
    realm_value_t v = of_type(RLM_TYPE_INT);
    v.integer = i;
    return v;
}
static realm_value_t bytes_as_text(const char* data, size_t size) {
    realm_value_t v = of_type(RLM_TYPE_STRING);
    v.string.data = data;
    v.string.size = size;
    return v;
}
static realm_value_t text(const char* s) { return bytes_as_text(s, strlen(s)); }
static realm_value_t binary(const uint8_t* data, size_t size) {
    realm_value_t v = of_type(RLM_TYPE_BINARY);
    v.binary.data = data;
    v.binary.size = size;
    return v;
}
static realm_value_t moment(int64_t seconds, int32_t nanoseconds) {
    realm_value_t v = of_type(RLM_TYPE_TIMESTAMP);
    v.timestamp.seconds = seconds;
    v.timestamp.nanoseconds = nanoseconds;
    return v;
}
static realm_value_t link_to(realm_class_key_t table, realm_object_key_t key) {
    realm_value_t v = of_type(RLM_TYPE_LINK);
    v.link.target_table = table;
    v.link.target = key;
    return v;
}

/* ---- Schema ----------------------------------------------------------------------------------- */

static realm_property_info_t property(const char* name, int type, int collection, const char* target, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name;
    p.public_name = "";
    p.type = (realm_property_type_e)type;
    p.collection_type = (realm_collection_type_e)collection;
    p.link_target = target;
    p.link_origin_property_name = "";
    p.key = RLM_INVALID_PROPERTY_KEY;
    p.flags = flags;
    return p;
}
static realm_property_info_t computed(const char* name, const char* target, const char* origin) {
    realm_property_info_t p = property(name, RLM_PROPERTY_TYPE_LINKING_OBJECTS, RLM_COLLECTION_TYPE_LIST, target, 0);
    p.link_origin_property_name = origin;
    return p;
}
static realm_property_info_t alias(const char* public_name, realm_property_info_t p) {
    p.public_name = public_name;
    return p;
}
enum { INT = RLM_PROPERTY_TYPE_INT, BOOL = RLM_PROPERTY_TYPE_BOOL, STRING = RLM_PROPERTY_TYPE_STRING,
       BINARY = RLM_PROPERTY_TYPE_BINARY, MIXED = RLM_PROPERTY_TYPE_MIXED, DATE = RLM_PROPERTY_TYPE_TIMESTAMP,
       FLOAT = RLM_PROPERTY_TYPE_FLOAT, DOUBLE = RLM_PROPERTY_TYPE_DOUBLE, DECIMAL = RLM_PROPERTY_TYPE_DECIMAL128,
       LINK = RLM_PROPERTY_TYPE_OBJECT, COMPUTED = RLM_PROPERTY_TYPE_LINKING_OBJECTS,
       OID = RLM_PROPERTY_TYPE_OBJECT_ID, UUID = RLM_PROPERTY_TYPE_UUID };
enum { ONE = RLM_COLLECTION_TYPE_NONE, LIST = RLM_COLLECTION_TYPE_LIST, SET = RLM_COLLECTION_TYPE_SET,
       DICTIONARY = RLM_COLLECTION_TYPE_DICTIONARY };
enum { PLAIN = 0, NULLABLE = RLM_PROPERTY_NULLABLE, PRIMARY = RLM_PROPERTY_PRIMARY_KEY,
       INDEXED = RLM_PROPERTY_INDEXED, FULL_TEXT = RLM_PROPERTY_FULLTEXT_INDEXED };

/* A schema that is built class by class: add_class(), then add() for each of its properties. */
struct draft {
    realm_class_info_t classes[8];
    realm_property_info_t properties[8][64];
    const realm_property_info_t* pointers[8];
    size_t count;
};
static struct draft draft;
static void start(void) { draft.count = 0; }
static void add_class(const char* name, const char* primary_key, int flags) {
    realm_class_info_t* c = &draft.classes[draft.count];
    memset(c, 0, sizeof *c);
    c->name = name;
    c->primary_key = primary_key;
    c->key = RLM_INVALID_CLASS_KEY;
    c->flags = flags;
    draft.pointers[draft.count] = draft.properties[draft.count];
    draft.count++;
}
/* Stored properties come first, then the computed ones. */
static void add(realm_property_info_t p) {
    realm_class_info_t* c = &draft.classes[draft.count - 1];
    draft.properties[draft.count - 1][c->num_properties + c->num_computed_properties] = p;
    if (p.type == RLM_PROPERTY_TYPE_LINKING_OBJECTS) c->num_computed_properties++;
    else c->num_properties++;
}
static realm_schema_t* finish(void) { return realm_schema_new(draft.classes, draft.count, draft.pointers); }

/* ---- Files and configs ------------------------------------------------------------------------ */

static char folder[] = "/tmp/misuse-XXXXXX";
/* The path of a file of this test. Good until the end of the program. */
static const char* path_of(const char* name) {
    static char paths[64][200];
    static int count;
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (int i = 0; i < count; i++)
        if (!strcmp(paths[i], path)) return paths[i];
    return strcpy(paths[count++], path);
}
static void write_bytes(const char* path, const void* data, size_t size) {
    FILE* f = fopen(path, "wb");
    if (f && (size == 0 || fwrite(data, 1, size, f) == size)) { fclose(f); return; }
    perror(path);
    exit(2);
}
static bool copy_file(const char* from, const char* to) {
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    static char buffer[65536];
    size_t n;
    while (out && (n = fread(buffer, 1, sizeof buffer, in)) > 0) fwrite(buffer, 1, n, out);
    if (out) fclose(out);
    if (in) fclose(in);
    return out != NULL;
}
static realm_config_t* config_for(const char* path, realm_schema_t* schema, uint64_t version, int mode) {
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    if (schema) {
        realm_config_set_schema(c, schema);
        realm_config_set_schema_version(c, version);
    }
    realm_config_set_schema_mode(c, (realm_schema_mode_e)mode);
    realm_config_set_automatic_change_notifications(c, false);
    return c;
}
/* Opens a realm and releases the schema and the config. */
static realm_t* open_with(const char* path, realm_schema_t* schema, uint64_t version, int mode) {
    realm_config_t* c = config_for(path, schema, version, mode);
    realm_t* r = realm_open(c);
    realm_release(c);
    realm_release(schema);
    return r;
}

/* ---- The stage -------------------------------------------------------------------------------- */

static realm_t* realm;
static realm_class_key_t plain_class, pk_int, pk_string, pk_null, pk_oid, pk_uuid, target_class, embedded_class;
static realm_object_t *object, *target, *deleted;
static realm_list_t *list, *deleted_list, *mixed_list;
static realm_set_t *set, *deleted_set;
static realm_dictionary_t *dictionary, *deleted_dictionary, *mixed_dictionary;
/* Collections of one object, for the sections that try every function that changes one. */
struct things {
    realm_object_t* owner;
    realm_list_t *ints, *texts, *mixeds, *links, *embeddeds;
    realm_set_t *int_set, *mixed_set, *link_set;
    realm_dictionary_t *int_map, *mixed_map, *link_map, *embedded_map;
};
static struct things live, gone;
static realm_results_t *results, *backlinks;
static realm_query_t* query;
static realm_config_t* config;
static realm_schema_t* schema;
static realm_scheduler_t* scheduler;
static realm_callback_token_t* token;
static realm_async_error_t* async_error;
static realm_thread_safe_reference_t* reference;

enum kind { K_REALM, K_OBJECT, K_LIST, K_SET, K_DICTIONARY, K_RESULTS, K_CONFIG, K_SCHEMA, K_SCHEDULER, K_TOKEN,
            K_ERROR, K_QUERY, K_REFERENCE, KINDS };
static void* handles[KINDS];

static realm_property_key_t key_of(realm_class_key_t table, const char* name) {
    bool found = false;
    realm_property_info_t info;
    if (!realm_find_property(realm, table, name, &found, &info) || !found) { printf("no property %s\n", name); exit(2); }
    return info.key;
}
/* Keys that are known after closing too. */
static realm_property_key_t plain_i, plain_link, plain_m, plain_emb;
static realm_property_key_t key(const char* name) { return key_of(plain_class, name); }
static realm_class_key_t class_named(const char* name) {
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(realm, name, &found, &info) || !found) { printf("no class %s\n", name); exit(2); }
    return info.key;
}
static void on_change(realm_userdata_t userdata) { ++*(int*)userdata; }
static void on_commit(realm_userdata_t userdata, bool failed_too, const char* text) { (void)text; *(int*)userdata += failed_too ? 100 : 1; }
static void on_schema(realm_userdata_t userdata, const realm_schema_t* s) { (void)s; ++*(int*)userdata; }
static void on_object_change(realm_userdata_t userdata, const realm_object_changes_t* c) { (void)c; ++*(int*)userdata; }
static void on_collection_change(realm_userdata_t userdata, const realm_collection_changes_t* c) { (void)c; ++*(int*)userdata; }
static void on_dictionary_change(realm_userdata_t userdata, const realm_dictionary_changes_t* c) { (void)c; ++*(int*)userdata; }
static int change_count;

static realm_schema_t* stage_schema(void) {
    start();
    add_class("Plain", "", RLM_CLASS_NORMAL);
    add(property("i", INT, ONE, "", PLAIN));
    add(property("i_n", INT, ONE, "", NULLABLE));
    add(property("b", BOOL, ONE, "", PLAIN));
    add(property("s", STRING, ONE, "", PLAIN));
    add(property("s_n", STRING, ONE, "", NULLABLE));
    add(property("d", BINARY, ONE, "", PLAIN));
    add(property("t", DATE, ONE, "", PLAIN));
    add(property("f", FLOAT, ONE, "", PLAIN));
    add(property("g", DOUBLE, ONE, "", PLAIN));
    add(property("dec", DECIMAL, ONE, "", PLAIN));
    add(property("o", OID, ONE, "", PLAIN));
    add(property("u", UUID, ONE, "", PLAIN));
    add(property("m", MIXED, ONE, "", NULLABLE));
    add(property("link", LINK, ONE, "Target", NULLABLE));
    add(property("emb", LINK, ONE, "Embedded", NULLABLE));
    add(property("l_i", INT, LIST, "", PLAIN));
    add(property("l_m", MIXED, LIST, "", NULLABLE));
    add(property("l_link", LINK, LIST, "Target", PLAIN));
    add(property("e_i", INT, SET, "", PLAIN));
    add(property("h_i", INT, DICTIONARY, "", PLAIN));
    add(property("h_m", MIXED, DICTIONARY, "", NULLABLE));
    add(property("l_s", STRING, LIST, "", PLAIN));
    add(property("l_emb", LINK, LIST, "Embedded", PLAIN));
    add(property("e_m", MIXED, SET, "", NULLABLE));
    add(property("e_link", LINK, SET, "Target", PLAIN));
    add(property("h_link", LINK, DICTIONARY, "Target", NULLABLE));
    add(property("h_emb", LINK, DICTIONARY, "Embedded", NULLABLE));
    add(property("link_pk", LINK, ONE, "PkInt", NULLABLE));
    add_class("PkInt", "id", RLM_CLASS_NORMAL);
    add(property("id", INT, ONE, "", PRIMARY));
    add_class("PkString", "id", RLM_CLASS_NORMAL);
    add(property("id", STRING, ONE, "", PRIMARY));
    add_class("PkNull", "id", RLM_CLASS_NORMAL);
    add(property("id", INT, ONE, "", PRIMARY | NULLABLE));
    add_class("PkOid", "id", RLM_CLASS_NORMAL);
    add(property("id", OID, ONE, "", PRIMARY));
    add_class("PkUuid", "id", RLM_CLASS_NORMAL);
    add(property("id", UUID, ONE, "", PRIMARY));
    add_class("Target", "", RLM_CLASS_NORMAL);
    add(alias("public_n", property("n", INT, ONE, "", PLAIN)));
    add(computed("origins", "Plain", "link"));
    add_class("Embedded", "", RLM_CLASS_EMBEDDED);
    add(property("x", INT, ONE, "", PLAIN));
    return finish();
}
enum { PLAIN_PROPERTIES = 28 };
static struct things things_of(realm_object_t* o) {
    struct things t;
    t.owner = o;
    t.ints = realm_get_list(o, key("l_i"));
    t.texts = realm_get_list(o, key("l_s"));
    t.mixeds = realm_get_list(o, key("l_m"));
    t.links = realm_get_list(o, key("l_link"));
    t.embeddeds = realm_get_list(o, key("l_emb"));
    t.int_set = realm_get_set(o, key("e_i"));
    t.mixed_set = realm_get_set(o, key("e_m"));
    t.link_set = realm_get_set(o, key("e_link"));
    t.int_map = realm_get_dictionary(o, key("h_i"));
    t.mixed_map = realm_get_dictionary(o, key("h_m"));
    t.link_map = realm_get_dictionary(o, key("h_link"));
    t.embedded_map = realm_get_dictionary(o, key("h_emb"));
    CHECK(t.ints && t.texts && t.mixeds && t.links && t.embeddeds && t.int_set && t.mixed_set && t.link_set);
    CHECK(t.int_map && t.mixed_map && t.link_map && t.embedded_map);
    return t;
}
static void release_things(struct things* t) {
    realm_release(t->ints), realm_release(t->texts), realm_release(t->mixeds), realm_release(t->links), realm_release(t->embeddeds);
    realm_release(t->int_set), realm_release(t->mixed_set), realm_release(t->link_set), realm_release(t->int_map);
    realm_release(t->mixed_map), realm_release(t->link_map), realm_release(t->embedded_map);
}
/* Objects and collections of `realm`, one of each kind; the deleted ones belonged to a deleted object. */
static void build(void) {
    plain_class = class_named("Plain");
    plain_i = key("i"), plain_link = key("link"), plain_m = key("m"), plain_emb = key("emb");
    pk_int = class_named("PkInt");
    pk_string = class_named("PkString");
    pk_null = class_named("PkNull");
    pk_oid = class_named("PkOid");
    pk_uuid = class_named("PkUuid");
    target_class = class_named("Target");
    embedded_class = class_named("Embedded");
    WORKS(realm_begin_write(realm));
    object = realm_object_create(realm, plain_class);
    target = realm_object_create(realm, target_class);
    deleted = realm_object_create(realm, plain_class);
    deleted_list = realm_get_list(deleted, key("l_i"));
    deleted_set = realm_get_set(deleted, key("e_i"));
    deleted_dictionary = realm_get_dictionary(deleted, key("h_i"));
    gone = things_of(deleted);
    WORKS(realm_object_delete(deleted));
    WORKS(realm_set_value(object, key("link"), link_to(target_class, realm_object_get_key(target)), false));
    WORKS(realm_commit(realm));
    list = realm_get_list(object, key("l_i"));
    mixed_list = realm_get_list(object, key("l_m"));
    set = realm_get_set(object, key("e_i"));
    dictionary = realm_get_dictionary(object, key("h_i"));
    mixed_dictionary = realm_get_dictionary(object, key("h_m"));
    results = realm_object_find_all(realm, plain_class);
    backlinks = realm_get_backlinks(target, plain_class, key("link"));
    query = realm_query_parse(realm, plain_class, "i == 1", 0, NULL);
    CHECK(object && target && deleted && list && set && dictionary && results && backlinks && query);
    CHECK(deleted_list && deleted_set && deleted_dictionary && mixed_list && mixed_dictionary);
    live = things_of(object);
}
static void give_back(void) {
    realm_release(object), realm_release(target), realm_release(deleted), realm_release(list);
    realm_release(mixed_list), realm_release(deleted_list), realm_release(set), realm_release(deleted_set);
    realm_release(dictionary), realm_release(mixed_dictionary), realm_release(deleted_dictionary);
    realm_release(results), realm_release(backlinks), realm_release(query);
    release_things(&live), release_things(&gone);
}
static batch_t batch;
static const int64_t batch_id = 1;
static void batch_misuse(int64_t id) {
    const int state = RLM_ERR_WRONG_TRANSACTION_STATE, argument = RLM_ERR_INVALID_ARGUMENT;
    crealm_batch_fault_t fault = {5, 5};
    size_t created = 5;
    one_integer(&batch, "id", &id);
    FAILS(state, create_batch(realm, pk_int, &batch));
    FAILS(argument, crealm_create_batch(NULL, pk_int, &batch.schema, &batch.rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL));
    FAILS(argument, crealm_create_batch(realm, pk_int, NULL, &batch.rows, CREALM_UPDATE_ERROR, NULL, &created, &fault));
    CHECK(created == 5 && fault.row == -1 && fault.property == RLM_INVALID_PROPERTY_KEY);
    FAILS(argument, crealm_create_batch(realm, pk_int, &batch.schema, NULL, CREALM_UPDATE_ERROR, NULL, NULL, NULL));
    FAILS(argument, crealm_create_batch(realm, pk_int, &batch.schema, &batch.rows, (crealm_update_mode_e)3, NULL, NULL, NULL));
    FAILS(argument, crealm_create_batch(realm, pk_int, &batch.schema, &batch.rows, (crealm_update_mode_e)-1, NULL, NULL, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, create_batch(realm, 0x7FFFFFFF, &batch));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, create_batch(realm, embedded_class, &batch));
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_INVALID_PROPERTY, create_batch(realm, pk_int, one_integer(&batch, "none", &id)));
    one_integer(&batch, "id", &id);
    batch.rows.release = NULL;
    FAILS(argument, create_batch(realm, pk_int, &batch));
    one_integer(&batch, "id", &id);
    batch.schema.release = NULL;
    FAILS(argument, create_batch(realm, pk_int, &batch));
    one_integer(&batch, "id", &id);
    batch.schema.format = "l";
    FAILS(argument, create_batch(realm, pk_int, &batch));
    const int64_t lengths[] = {-1, INT64_MIN, INT64_MAX, 2};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        one_integer(&batch, "id", &id);
        batch.rows.length = lengths[i];
        FAILS(argument, create_batch(realm, pk_int, &batch));
        one_integer(&batch, "id", &id);
        batch.rows.offset = lengths[i];
        FAILS(argument, create_batch(realm, pk_int, &batch));
        one_integer(&batch, "id", &id);
        batch.rows.n_children = lengths[i];
        FAILS(argument, create_batch(realm, pk_int, &batch));
    }
    one_integer(&batch, "id", &id);
    WORKS(create_batch(realm, pk_int, &batch));
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS, create_batch(realm, pk_int, &batch));
    begin_batch(&batch, 0), add_integers(&batch, "id", NULL);
    WORKS(create_batch(realm, pk_int, &batch));
    WORKS(realm_rollback(realm));
}
/* Whether the library still works normally. */
static void still_works(const char* after) {
    static int64_t n;
    section = after;
    n++;
    bool found = false;
    realm_value_t v;
    WORKS(realm_begin_write(realm));
    realm_object_t* o = realm_object_get_or_create_with_primary_key(realm, pk_int, integer(n), NULL);
    CHECK(o != NULL);
    WORKS(realm_set_value(object, key("i"), integer(n), false));
    WORKS(realm_commit(realm));
    realm_release(o);
    o = realm_object_find_with_primary_key(realm, pk_int, integer(n), &found);
    CHECK(o != NULL && found);
    realm_release(o);
    WORKS(realm_get_value(object, key("i"), &v));
    CHECK(v.type == RLM_TYPE_INT && v.integer == n);
    WORKS(crealm_verify(realm, NULL));
    crealm_fault_t* faults = (crealm_fault_t*)&faults;
    size_t listed = 77, total = 77;
    WORKS(crealm_find_faults(realm, SIZE_MAX, &faults, &listed, &total));
    CHECK(!faults && listed == 0 && total == 0);
    WORKS(crealm_find_faults(realm, 0, NULL, NULL, NULL));
    WORKS(crealm_versions(realm, NULL, 10, &total));
    CHECK(total > 0);
    WORKS(crealm_versions(realm, NULL, 0, NULL));
    batch_misuse(1000000 + n);
    crealm_set_pin_warning(UINT64_MAX);
    crealm_set_pin_warning(64 << 20);
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_find_faults(realm, 10, &faults, NULL, &total));
}

/* Runs code that might crash in a child process; the child's exit status is the result. */
static bool survives(void (*body)(void)) {
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        body();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* ---- NULL and handles of another kind ----------------------------------------------------------- */

/* Runs `line` with `h` as NULL and as a handle of each other kind. */
#define REFUSED(kind, type, call)                                                                 \
    for (int k = -1; k < KINDS; k++) {                                                            \
        if (k == (int)(kind)) continue;                                                           \
        type* h = k < 0 ? NULL : (type*)handles[k];                                               \
        FAILS(RLM_ERR_INVALID_ARGUMENT, call);                                                    \
    }
/* The same for functions that cannot fail: the call is an expression that must be true. */
#define HARMLESS(kind, type, condition)                                                           \
    for (int k = -1; k < KINDS; k++) {                                                            \
        if (k == (int)(kind)) continue;                                                           \
        type* h = k < 0 ? NULL : (type*)handles[k];                                               \
        CHECK(condition);                                                                         \
        realm_clear_last_error();                                                                 \
    }
/* The same for functions without a result. */
#define IGNORED(kind, type, call)                                                                 \
    for (int k = -1; k < KINDS; k++) {                                                            \
        if (k == (int)(kind)) continue;                                                           \
        type* h = k < 0 ? NULL : (type*)handles[k];                                               \
        realm_clear_last_error();                                                                 \
        call;                                                                                     \
        expect(__LINE__, #call, true, RLM_ERR_INVALID_ARGUMENT);                                  \
    }

static int free_count;
static void count_free(realm_userdata_t userdata) { (void)userdata; free_count++; }
static void count_into(realm_userdata_t userdata) { ++*(int*)userdata; }

static void wrong_realm_handles(void) {
    bool flag;
    realm_version_id_t id;
    uint64_t n;
    size_t size;
    realm_class_key_t class_keys[16];
    realm_class_info_t class_info;
    realm_property_info_t properties[64];
    realm_property_key_t keys[64];
    realm_object_t* resolved;
    char* report;
    REFUSED(K_REALM, realm_t, realm_get_version_id(h, &flag, &id));
    REFUSED(K_REALM, realm_t, realm_get_num_versions(h, &n));
    REFUSED(K_REALM, realm_t, crealm_versions(h, NULL, 0, NULL));
    REFUSED(K_REALM, realm_t, create_batch(h, pk_int, one_integer(&batch, "id", &batch_id)));
    REFUSED(K_REALM, realm_t, realm_close(h));
    HARMLESS(K_REALM, realm_t, !realm_is_closed(h));
    REFUSED(K_REALM, realm_t, realm_begin_read(h));
    REFUSED(K_REALM, realm_t, realm_begin_write(h));
    HARMLESS(K_REALM, realm_t, !realm_is_writable(h));
    REFUSED(K_REALM, realm_t, realm_commit(h));
    REFUSED(K_REALM, realm_t, realm_rollback(h));
    REFUSED(K_REALM, realm_t, realm_refresh(h, &flag));
    unsigned number;
    free_count = 0;
    REFUSED(K_REALM, realm_t, realm_async_begin_write(h, on_change, &change_count, count_free, false, &number));
    CHECK(free_count == KINDS);
    free_count = 0;
    REFUSED(K_REALM, realm_t, realm_async_commit(h, on_commit, &change_count, count_free, false, &number));
    CHECK(free_count == KINDS);
    REFUSED(K_REALM, realm_t, realm_async_cancel(h, 0, &flag));
    REFUSED(K_REALM, realm_t, realm_freeze(h));
    REFUSED(K_REALM, realm_t, realm_object_from_thread_safe_reference(h, reference));
    REFUSED(K_REALM, realm_t, realm_list_from_thread_safe_reference(h, reference));
    REFUSED(K_REALM, realm_t, realm_set_from_thread_safe_reference(h, reference));
    REFUSED(K_REALM, realm_t, realm_dictionary_from_thread_safe_reference(h, reference));
    REFUSED(K_REALM, realm_t, realm_results_from_thread_safe_reference(h, reference));
    free_count = 0;
    REFUSED(K_REALM, realm_t, realm_add_realm_changed_callback(h, on_change, &change_count, count_free));
    CHECK(free_count == KINDS);
    free_count = 0;
    REFUSED(K_REALM, realm_t, realm_add_realm_refresh_callback(h, on_change, &change_count, count_free));
    CHECK(free_count == KINDS);
    REFUSED(K_REALM, realm_t, realm_get_schema(h));
    HARMLESS(K_REALM, realm_t, realm_get_schema_version(h) == UINT64_MAX || realm_get_schema_version(h) == 0);
    HARMLESS(K_REALM, realm_t, realm_get_num_classes(h) == 0);
    REFUSED(K_REALM, realm_t, realm_get_class_keys(h, class_keys, 16, &size));
    REFUSED(K_REALM, realm_t, realm_find_class(h, "Plain", &flag, &class_info));
    REFUSED(K_REALM, realm_t, realm_get_class(h, plain_class, &class_info));
    REFUSED(K_REALM, realm_t, realm_get_class_properties(h, plain_class, properties, 64, &size));
    REFUSED(K_REALM, realm_t, realm_get_property_keys(h, plain_class, keys, 64, &size));
    REFUSED(K_REALM, realm_t, realm_get_property(h, plain_class, key("i"), properties));
    REFUSED(K_REALM, realm_t, realm_find_property(h, plain_class, "i", &flag, properties));
    REFUSED(K_REALM, realm_t, realm_find_property_by_public_name(h, plain_class, "i", &flag, properties));
    REFUSED(K_REALM, realm_t, realm_get_num_objects(h, plain_class, &size));
    REFUSED(K_REALM, realm_t, realm_get_object(h, plain_class, 0));
    REFUSED(K_REALM, realm_t, realm_object_find_with_primary_key(h, pk_int, integer(1), &flag));
    REFUSED(K_REALM, realm_t, realm_object_find_all(h, plain_class));
    REFUSED(K_REALM, realm_t, realm_object_create(h, plain_class));
    REFUSED(K_REALM, realm_t, realm_object_create_with_primary_key(h, pk_int, integer(1)));
    REFUSED(K_REALM, realm_t, realm_object_get_or_create_with_primary_key(h, pk_int, integer(1), &flag));
    REFUSED(K_REALM, realm_t, realm_object_resolve_in(object, h, &resolved));
    REFUSED(K_REALM, realm_t, crealm_verify(h, &report));
    REFUSED(K_REALM, realm_t, crealm_find_faults(h, 10, NULL, &size, NULL));
    REFUSED(K_REALM, realm_t, realm_find_primary_key_property(h, pk_int, &flag, properties));
    REFUSED(K_REALM, realm_t, realm_remove_table(h, "Plain", &flag));
    REFUSED(K_REALM, realm_t, realm_update_schema(h, schema));
    REFUSED(K_REALM, realm_t, realm_update_schema_advanced(h, schema, 1, NULL, NULL, NULL, NULL, false));
    REFUSED(K_REALM, realm_t, realm_schema_rename_property(h, schema, "Plain", "i", "j"));
    REFUSED(K_SCHEMA, realm_schema_t, realm_update_schema(realm, h));
    REFUSED(K_SCHEMA, realm_schema_t, realm_update_schema_advanced(realm, h, 1, NULL, NULL, NULL, NULL, false));
    REFUSED(K_SCHEMA, realm_schema_t, realm_schema_rename_property(realm, h, "Plain", "i", "j"));
    free_count = 0;
    REFUSED(K_REALM, realm_t, realm_add_schema_changed_callback(h, on_schema, &change_count, count_free));
    CHECK(free_count == KINDS);
    realm_list_t* l = NULL;
    realm_set_t* e = NULL;
    realm_dictionary_t* d = NULL;
    REFUSED(K_REALM, realm_t, realm_list_resolve_in(list, h, &l));
    REFUSED(K_REALM, realm_t, realm_set_resolve_in(set, h, &e));
    REFUSED(K_REALM, realm_t, realm_dictionary_resolve_in(dictionary, h, &d));
    CHECK(!l && !e && !d);
}
static void wrong_object_handles(void) {
    realm_value_t v, values[2] = {integer(1), integer(2)};
    realm_property_key_t i = key("i"), keys[2] = {i, i};
    realm_object_t* other;
    realm_class_key_t table;
    realm_link_t address;
    REFUSED(K_OBJECT, realm_object_t, realm_get_value_by_property_index(h, 0, &v));
    REFUSED(K_OBJECT, realm_object_t, realm_object_get_parent(h, &other, &table));
    REFUSED(K_OBJECT, realm_object_t, realm_object_delete(h));
    REFUSED(K_OBJECT, realm_object_t, realm_object_resolve_in(h, realm, &other));
    REFUSED(K_OBJECT, realm_object_t, realm_object_add_int(h, i, 1));
    HARMLESS(K_OBJECT, realm_object_t, !realm_object_is_valid(h));
    HARMLESS(K_OBJECT, realm_object_t, realm_object_get_key(h) <= 0);
    HARMLESS(K_OBJECT, realm_object_t, realm_object_get_table(h) == RLM_INVALID_CLASS_KEY || realm_object_get_table(h) == 0);
    HARMLESS(K_OBJECT, realm_object_t, (address = realm_object_as_link(h), address.target <= 0));
    REFUSED(K_OBJECT, realm_object_t, realm_get_value(h, i, &v));
    crealm_value_location_t* place;
    REFUSED(K_OBJECT, realm_object_t, crealm_value_location(h, i, SIZE_MAX, &place));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_value_location(object, i, SIZE_MAX, NULL));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, crealm_value_location(object, i, 0, &place));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_value_location(object, 12345, SIZE_MAX, &place));
    CHECK(place == NULL);
    WORKS(crealm_value_location(object, i, SIZE_MAX, &place));
    CHECK(place->num_nodes >= 5 && place->nodes[0].role == CREALM_NODE_TOP && place->num_parts >= 1);
    realm_free(place);
    REFUSED(K_OBJECT, realm_object_t, realm_get_values(h, 2, keys, values));
    REFUSED(K_OBJECT, realm_object_t, realm_set_value(h, i, integer(1), false));
    REFUSED(K_OBJECT, realm_object_t, realm_set_values(h, 2, keys, values, false));
    REFUSED(K_OBJECT, realm_object_t, realm_get_linked_object(h, i));
    REFUSED(K_OBJECT, realm_object_t, realm_get_list(h, i));
    REFUSED(K_OBJECT, realm_object_t, realm_get_set(h, i));
    REFUSED(K_OBJECT, realm_object_t, realm_get_dictionary(h, i));
    REFUSED(K_OBJECT, realm_object_t, realm_get_backlinks(h, plain_class, key("link")));
    REFUSED(K_OBJECT, realm_object_t, realm_set_json(h, key("m"), "1"));
    REFUSED(K_OBJECT, realm_object_t, realm_set_embedded(h, key("emb")));
    REFUSED(K_OBJECT, realm_object_t, realm_set_list(h, key("m")));
    REFUSED(K_OBJECT, realm_object_t, realm_set_dictionary(h, key("m")));
    REFUSED(K_OBJECT, realm_object_t, realm_object_to_string(h));
}
static void wrong_collection_handles(void) {
    realm_value_t v = integer(1), k_value = text("k");
    realm_property_info_t info;
    size_t n;
    bool flag;
    QUIET(realm_list_is_valid(NULL));
    QUIET(realm_set_is_valid(NULL));
    QUIET(realm_dictionary_is_valid(NULL));
    HARMLESS(K_LIST, realm_list_t, !realm_list_is_valid(h));
    REFUSED(K_LIST, realm_list_t, realm_list_size(h, &n));
    REFUSED(K_LIST, realm_list_t, realm_list_get_property(h, &info));
    REFUSED(K_LIST, realm_list_t, realm_list_get(h, 0, &v));
    REFUSED(K_LIST, realm_list_t, realm_list_find(h, &v, &n, &flag));
    REFUSED(K_LIST, realm_list_t, realm_list_get_list(h, 0));
    REFUSED(K_LIST, realm_list_t, realm_list_get_dictionary(h, 0));
    REFUSED(K_LIST, realm_list_t, realm_list_get_linked_object(h, 0));
    HARMLESS(K_SET, realm_set_t, !realm_set_is_valid(h));
    REFUSED(K_SET, realm_set_t, realm_set_size(h, &n));
    REFUSED(K_SET, realm_set_t, realm_set_get_property(h, &info));
    REFUSED(K_SET, realm_set_t, realm_set_get(h, 0, &v));
    REFUSED(K_SET, realm_set_t, realm_set_find(h, v, &n, &flag));
    HARMLESS(K_DICTIONARY, realm_dictionary_t, !realm_dictionary_is_valid(h));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_size(h, &n));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_get_property(h, &info));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_find(h, k_value, &v, &flag));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_get(h, 0, &v, &v));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_get_list(h, k_value));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_get_dictionary(h, k_value));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_get_linked_object(h, k_value));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_contains_key(h, k_value, &flag));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_contains_value(h, v, &n));
    realm_list_t* l;
    realm_set_t* e;
    realm_dictionary_t* d;
    realm_results_t* r;
    for (int writing = 0; writing < 2; writing++) {
        if (writing) WORKS(realm_begin_write(realm));
        REFUSED(K_LIST, realm_list_t, realm_list_insert(h, 0, v));
        REFUSED(K_LIST, realm_list_t, realm_list_set(h, 0, v));
        REFUSED(K_LIST, realm_list_t, realm_list_move(h, 0, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_erase(h, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_clear(h));
        REFUSED(K_LIST, realm_list_t, realm_list_remove_all(h));
        REFUSED(K_LIST, realm_list_t, realm_list_insert_list(h, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_insert_dictionary(h, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_set_list(h, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_set_dictionary(h, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_insert_embedded(h, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_set_embedded(h, 0));
        REFUSED(K_LIST, realm_list_t, realm_list_resolve_in(h, realm, &l));
        REFUSED(K_LIST, realm_list_t, realm_list_to_results(h));
        REFUSED(K_SET, realm_set_t, realm_set_insert(h, v, &n, &flag));
        REFUSED(K_SET, realm_set_t, realm_set_erase(h, v, &flag));
        REFUSED(K_SET, realm_set_t, realm_set_clear(h));
        REFUSED(K_SET, realm_set_t, realm_set_remove_all(h));
        REFUSED(K_SET, realm_set_t, realm_set_resolve_in(h, realm, &e));
        REFUSED(K_SET, realm_set_t, realm_set_to_results(h));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_insert(h, k_value, v, &n, &flag));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_insert_embedded(h, k_value));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_insert_list(h, k_value));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_insert_dictionary(h, k_value));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_erase(h, k_value, &flag));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_get_keys(h, &n, &r));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_clear(h));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_resolve_in(h, realm, &d));
        REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_to_results(h));
        if (writing) WORKS(realm_rollback(realm));
    }
    REFUSED(K_RESULTS, realm_results_t, realm_results_is_valid(h, &flag));
    REFUSED(K_RESULTS, realm_results_t, realm_results_count(h, &n));
    REFUSED(K_RESULTS, realm_results_t, realm_results_get(h, 0, &v));
    struct ArrowArrayStream columns;
    struct ArrowArray rows;
    REFUSED(K_RESULTS, realm_results_t, crealm_results_export_arrow(h, NULL, 0, 0, &columns));
    REFUSED(K_RESULTS, realm_results_t, crealm_results_aggregate_arrow(h, "AGGREGATE count()", 0, NULL, &columns));
    REFUSED(K_QUERY, realm_query_t, crealm_query_aggregate_arrow(h, "AGGREGATE count()", 0, NULL, &columns));
    REFUSED(K_RESULTS, realm_results_t, crealm_results_update(h, "i = 1", 0, NULL, NULL));
    REFUSED(K_REALM, realm_t, crealm_class_export_arrow(h, plain_class, NULL, 0, 0, &columns));
    realm_link_t link = {plain_class, 0};
    realm_property_key_t no_property = 0;
    crealm_commit_work_t work;
    REFUSED(K_REALM, realm_t, crealm_get_commit_work(h, &work));
    REFUSED(K_LIST, realm_list_t, crealm_blob_get_size(h, NULL));
    REFUSED(K_LIST, realm_list_t, crealm_blob_read(h, 0, NULL, 0, NULL));
    REFUSED(K_LIST, realm_list_t, crealm_blob_write(h, 0, "x", 1));
    REFUSED(K_LIST, realm_list_t, crealm_blob_resize(h, 0));
    REFUSED(K_REALM, realm_t, crealm_find(h, plain_class, &v, &link, &flag));
    REFUSED(K_REALM, realm_t, crealm_create(h, plain_class, NULL, CREALM_UPDATE_ERROR, 0, NULL, NULL, &link, &flag));
    REFUSED(K_REALM, realm_t, crealm_get_values(h, &link, 1, &no_property, &v));
    REFUSED(K_REALM, realm_t, crealm_set_values(h, &link, 1, &no_property, &v));
    REFUSED(K_REALM, realm_t, crealm_delete(h, &link));
    REFUSED(K_SCHEMA, realm_schema_t, crealm_schema_to_json(h));
    REFUSED(K_RESULTS, realm_results_t, crealm_results_fetch_arrow(h, 0, 1, NULL, 0, NULL, &rows));
    REFUSED(K_RESULTS, realm_results_t, crealm_results_fetch(h, 0, 1, NULL, 0, NULL, NULL, NULL));
    REFUSED(K_RESULTS, realm_results_t, realm_results_get_object(h, 0));
}
static bool init_fails(realm_userdata_t userdata, realm_t* r) { (void)r; realm_register_user_code_callback_error(userdata); return false; }
static bool migrates(realm_userdata_t userdata, realm_t* old_realm, realm_t* new_realm, const realm_schema_t* s) {
    (void)userdata, (void)old_realm, (void)new_realm, (void)s;
    return true;
}
static bool compacts(realm_userdata_t userdata, uint64_t total, uint64_t used) { (void)userdata; return total == used; }

static void wrong_config_handles(void) {
    uint8_t bytes[64] = {0};
    HARMLESS(K_CONFIG, realm_config_t, realm_config_get_path(h) == NULL || !*realm_config_get_path(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_path(h, "x"));
    HARMLESS(K_CONFIG, realm_config_t, realm_config_get_encryption_key(h, bytes) == 0);
    REFUSED(K_CONFIG, realm_config_t, realm_config_set_encryption_key(h, bytes, 64));
    REFUSED(K_CONFIG, realm_config_t, realm_config_get_schema(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_schema(h, schema));
    HARMLESS(K_CONFIG, realm_config_t, realm_config_get_schema_version(h) == 0);
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_schema_version(h, 1));
    HARMLESS(K_CONFIG, realm_config_t, realm_config_get_schema_mode(h) == 0);
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_schema_mode(h, RLM_SCHEMA_MODE_MANUAL));
    HARMLESS(K_CONFIG, realm_config_t, realm_config_get_schema_subset_mode(h) == 0);
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_schema_subset_mode(h, RLM_SCHEMA_SUBSET_MODE_STRICT));
    free_count = 0;
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_migration_function(h, migrates, bytes, count_free));
    CHECK(free_count == KINDS);
    free_count = 0;
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_data_initialization_function(h, init_fails, bytes, count_free));
    CHECK(free_count == KINDS);
    free_count = 0;
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_should_compact_on_launch_function(h, compacts, bytes, count_free));
    CHECK(free_count == KINDS);
    HARMLESS(K_CONFIG, realm_config_t, !realm_config_get_disable_format_upgrade(h));
    REFUSED(K_CONFIG, realm_config_t, realm_config_needs_file_format_upgrade(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_disable_format_upgrade(h, true));
    HARMLESS(K_CONFIG, realm_config_t, !realm_config_get_automatic_change_notifications(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_automatic_change_notifications(h, true));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_scheduler(h, scheduler));
    HARMLESS(K_CONFIG, realm_config_t, !realm_config_get_force_sync_history(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_force_sync_history(h, true));
    HARMLESS(K_CONFIG, realm_config_t, realm_config_get_max_number_of_active_versions(h) == 0);
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_max_number_of_active_versions(h, 1));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_in_memory(h, true));
    HARMLESS(K_CONFIG, realm_config_t, !realm_config_get_in_memory(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_fifo_path(h, "/tmp"));
    HARMLESS(K_CONFIG, realm_config_t, realm_config_get_fifo_path(h) == NULL || !*realm_config_get_fifo_path(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_cached(h, true));
    HARMLESS(K_CONFIG, realm_config_t, !realm_config_get_cached(h));
    IGNORED(K_CONFIG, realm_config_t, realm_config_set_automatic_backlink_handling(h, true));
    REFUSED(K_CONFIG, realm_config_t, realm_open(h));
    for (int k = -1; k < KINDS; k++)
        if (k != K_CONFIG) {
            SETS(RLM_ERR_INVALID_ARGUMENT, realm_get_persisted_schema_version(k < 0 ? NULL : (realm_config_t*)handles[k]));
            CHECK(realm_get_persisted_schema_version(k < 0 ? NULL : (realm_config_t*)handles[k]) == UINT64_MAX);
        }
}
static void wrong_query_handles(void) {
    realm_value_t v = integer(1);
    size_t n;
    bool flag;
    realm_property_key_t i = key("i");
    realm_binary_t no_key = {NULL, 0};
    REFUSED(K_REALM, realm_t, realm_query_parse(h, plain_class, "i == 1", 0, NULL));
    REFUSED(K_REALM, realm_t, realm_compact(h, &flag));
    REFUSED(K_REALM, realm_t, crealm_compact_online(h, NULL, NULL));
    REFUSED(K_REALM, realm_t, crealm_backup_since(h, NULL, path_of("never.step"), NULL));
    const char* no_steps[] = {NULL};
    REFUSED(K_CONFIG, realm_config_t, crealm_restore(h, no_steps, 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_restore(config, NULL, 1));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_restore(config, no_steps, 1));
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, crealm_restore(config, no_steps, 0));
    REFUSED(K_REALM, realm_t, realm_convert_with_config(h, config, false));
    REFUSED(K_CONFIG, realm_config_t, realm_convert_with_config(realm, h, false));
    REFUSED(K_REALM, realm_t, realm_convert_with_path(h, path_of("never.realm"), no_key, false));
    REFUSED(K_REALM, realm_t, crealm_change_key(h, config));
    REFUSED(K_CONFIG, realm_config_t, crealm_change_key(realm, h));
    REFUSED(K_CONFIG, realm_config_t, crealm_salvage(h, config, NULL));
    REFUSED(K_CONFIG, realm_config_t, crealm_salvage(config, h, NULL));
    char* remains = NULL;
    REFUSED(K_CONFIG, realm_config_t, crealm_recover_deleted(h, &remains));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_recover_deleted(config, NULL));
    REFUSED(K_QUERY, realm_query_t, realm_query_append_query(h, "i == 1", 0, NULL));
    REFUSED(K_QUERY, realm_query_t, realm_query_get_description(h));
    REFUSED(K_QUERY, realm_query_t, realm_query_count(h, &n));
    REFUSED(K_QUERY, realm_query_t, realm_query_find_first(h, &v, &flag));
    REFUSED(K_QUERY, realm_query_t, realm_query_find_all(h));
    REFUSED(K_QUERY, realm_query_t, realm_query_delete_all(h));
    REFUSED(K_QUERY, realm_query_t, realm_results_filter(results, h));
    REFUSED(K_LIST, realm_list_t, realm_query_parse_for_list(h, "n == 1", 0, NULL));
    REFUSED(K_SET, realm_set_t, realm_query_parse_for_set(h, "n == 1", 0, NULL));
    REFUSED(K_RESULTS, realm_results_t, realm_query_parse_for_results(h, "i == 1", 0, NULL));
    REFUSED(K_RESULTS, realm_results_t, realm_results_filter(h, query));
    REFUSED(K_RESULTS, realm_results_t, realm_results_sort(h, "i ASC"));
    REFUSED(K_RESULTS, realm_results_t, realm_results_distinct(h, "i"));
    REFUSED(K_RESULTS, realm_results_t, realm_results_limit(h, 1));
    REFUSED(K_RESULTS, realm_results_t, realm_results_snapshot(h));
    const char* path = "i";
    REFUSED(K_REALM, realm_t, realm_create_key_path_array(h, plain_class, 1, &path));
    free_count = 0;
    REFUSED(K_OBJECT, realm_object_t, realm_object_add_notification_callback(h, &change_count, count_free, NULL, on_object_change));
    REFUSED(K_LIST, realm_list_t, realm_list_add_notification_callback(h, &change_count, count_free, NULL, on_collection_change));
    REFUSED(K_SET, realm_set_t, realm_set_add_notification_callback(h, &change_count, count_free, NULL, on_collection_change));
    REFUSED(K_DICTIONARY, realm_dictionary_t, realm_dictionary_add_notification_callback(h, &change_count, count_free, NULL, on_dictionary_change));
    REFUSED(K_RESULTS, realm_results_t, realm_results_add_notification_callback(h, &change_count, count_free, NULL, on_collection_change));
    CHECK(free_count == 5 * KINDS);
    REFUSED(KINDS, realm_key_path_array_t, realm_object_add_notification_callback(object, &change_count, count_free, h ? h : (realm_key_path_array_t*)handles[0], on_object_change));
    HARMLESS(KINDS, realm_object_changes_t, !realm_object_changes_is_deleted(h));
    HARMLESS(KINDS, realm_object_changes_t, realm_object_changes_get_num_modified_properties(h) == 0);
    HARMLESS(KINDS, realm_object_changes_t, realm_object_changes_get_modified_properties(h, NULL, 0) == 0);
    HARMLESS(KINDS, realm_collection_changes_t, (realm_collection_changes_get_num_changes(h, &n, NULL, NULL, NULL, NULL, NULL), true));
    HARMLESS(KINDS, realm_collection_changes_t, (realm_collection_changes_get_num_ranges(h, &n, NULL, NULL, NULL), true));
    HARMLESS(KINDS, realm_collection_changes_t, (realm_collection_changes_get_changes(h, &n, 1, NULL, 0, NULL, 0, NULL, 0, NULL, 0), true));
    HARMLESS(KINDS, realm_collection_changes_t, (realm_collection_changes_get_ranges(h, NULL, 1, NULL, 0, NULL, 0, NULL, 0, NULL, 0), true));
    HARMLESS(KINDS, realm_dictionary_changes_t, (realm_dictionary_get_changes(h, &n, NULL, NULL, NULL), true));
    HARMLESS(KINDS, realm_dictionary_changes_t, (realm_dictionary_get_changed_keys(h, NULL, &n, NULL, NULL, NULL, NULL, NULL), true));
    HARMLESS(KINDS, realm_object_changes_t, !crealm_object_changes_get_versions(h, NULL, NULL));
    HARMLESS(KINDS, realm_collection_changes_t, !crealm_collection_changes_get_versions(h, NULL, NULL));
    HARMLESS(KINDS, realm_dictionary_changes_t, !crealm_dictionary_changes_get_versions(h, NULL, NULL));
    REFUSED(K_REALM, realm_t, crealm_commit_without_notifying(h, NULL, 0));
    REFUSED(KINDS, realm_notification_token_t, crealm_commit_without_notifying(realm, &h, 1));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_commit_without_notifying(realm, NULL, 1));
    REFUSED(K_RESULTS, realm_results_t, realm_results_get_list(h, 0));
    REFUSED(K_RESULTS, realm_results_t, realm_results_get_dictionary(h, 0));
    REFUSED(K_RESULTS, realm_results_t, realm_results_find(h, &v, &n, &flag));
    REFUSED(K_RESULTS, realm_results_t, realm_results_find_object(h, object, &n, &flag));
    REFUSED(K_OBJECT, realm_object_t, realm_results_find_object(results, h, &n, &flag));
    REFUSED(K_RESULTS, realm_results_t, realm_results_get_query(h));
    REFUSED(K_RESULTS, realm_results_t, realm_results_delete_all(h));
    REFUSED(K_RESULTS, realm_results_t, realm_results_resolve_in(h, realm));
    REFUSED(K_REALM, realm_t, realm_results_resolve_in(results, h));
    REFUSED(K_RESULTS, realm_results_t, realm_results_min(h, i, &v, &flag));
    REFUSED(K_RESULTS, realm_results_t, realm_results_max(h, i, &v, &flag));
    REFUSED(K_RESULTS, realm_results_t, realm_results_sum(h, i, &v, &flag));
    REFUSED(K_RESULTS, realm_results_t, realm_results_average(h, i, &v, &flag));
}
/* Wrong arguments of queries and results; optional arguments are NULL. */
static void wrong_query_arguments(void) {
    realm_value_t v = integer(1), bad = text("\xff");
    realm_query_arg_t missing = {1, false, NULL}, list_without = {3, true, NULL}, endless = {SIZE_MAX, true, &v}, no_text = {1, false, &bad};
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse(realm, plain_class, NULL, 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse(realm, plain_class, "i == $0", 1, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse(realm, plain_class, "i == $0", SIZE_MAX, &missing));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse(realm, plain_class, "i == $0", 1, &missing));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse(realm, plain_class, "i IN $0", 1, &list_without));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse(realm, plain_class, "i IN $0", 1, &endless));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse(realm, plain_class, "s == $0", 1, &no_text));
    FAILS(RLM_ERR_INVALID_QUERY_ARG, realm_query_parse(realm, plain_class, "i == $0", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_query_parse(realm, plain_class, "i ==", 0, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_query_parse(realm, plain_class, "nowhere == 1", 0, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_query_parse(realm, 4711, "i == 1", 0, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_query_parse_for_list(live.ints, "i == 1", 0, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_query_parse_for_list(gone.links, "n == 1", 0, NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_query_parse_for_set(gone.link_set, "n == 1", 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_append_query(query, NULL, 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_parse_for_results(results, NULL, 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_query_count(query, NULL));
    WORKS(realm_query_find_first(query, NULL, NULL));
    CHECK(!strcmp(realm_query_get_description(query), "i == 1"));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_query_delete_all(query));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_results_delete_all(results));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_sort(results, NULL));
    FAILS(RLM_ERR_INVALID_QUERY_STRING, realm_results_sort(results, "i"));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_sort(results, "nowhere ASC"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_distinct(results, NULL));
    FAILS(RLM_ERR_INVALID_QUERY, realm_results_distinct(results, "nowhere"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_get_list(results, 0));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_get_dictionary(results, 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_results_find(results, NULL, NULL, NULL));
    WORKS(realm_results_find(results, &v, NULL, NULL));
    WORKS(realm_results_find_object(results, object, NULL, NULL));
    FAILS(RLM_ERR_OBJECT_TYPE_MISMATCH, realm_results_find_object(results, target, NULL, NULL));
    FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_find_object(results, deleted, NULL, NULL));
    WORKS(realm_results_min(results, key("i"), NULL, NULL));
    WORKS(realm_results_max(results, key("i"), NULL, NULL));
    WORKS(realm_results_sum(results, key("i"), NULL, NULL));
    WORKS(realm_results_average(results, key("i"), NULL, NULL));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_results_min(results, 4711, &v, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_sum(results, key("s"), &v, NULL));
    realm_results_t *shorter = realm_results_limit(results, SIZE_MAX), *same = realm_results_snapshot(results), *there = realm_results_resolve_in(results, realm);
    realm_query_t* behind = realm_results_get_query(results);
    realm_results_t *found = realm_query_find_all(query), *filtered = realm_results_filter(results, query);
    CHECK(shorter && same && there && behind && found && filtered);
    void* made[] = {shorter, same, there, behind, found, filtered};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) realm_release(made[k]);
}
static bool says_no(const crealm_progress_t* told) {
    (void)told;
    return false;
}
/* CRealm's additions, and functions for the whole library or file. */
static void wrong_additions(void) {
    realm_binary_t no_key = {NULL, 0}, short_key = {(const uint8_t*)"short", 5};
    CHECK(crealm_abi_version() == CREALM_ABI_VERSION && realm_get_library_version() && *realm_get_library_version());
    HARMLESS(K_CONFIG, realm_config_t, crealm_config_get_page_cipher(h) == 0);
    HARMLESS(K_CONFIG, realm_config_t, crealm_config_get_durability(h) == 0);
    HARMLESS(K_CONFIG, realm_config_t, !crealm_config_get_snapshot(h));
    HARMLESS(K_CONFIG, realm_config_t, crealm_config_get_version_slot(h) == CREALM_SLOT_NEWEST);
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_version_slot(h, CREALM_SLOT_PREVIOUS));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_snapshot(h, true));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_page_cipher(h, CREALM_PAGE_CIPHER_REALM));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_durability(h, (crealm_durability_e)0));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_shrinking(h, 1, 1));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_get_shrinking(h, NULL, NULL));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_page_memory(h, 1));
    REFUSED(K_CONFIG, realm_config_t, crealm_config_set_passphrase(h, "p", 1, 0, 0));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_lock_timeout(h, 0));
    free_count = 0;
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_progress(h, says_no, &free_count, count_free));
    CHECK(free_count == KINDS);
    REFUSED(K_REALM, realm_t, crealm_interrupt(h));
    WORKS(crealm_interrupt(realm));
    REFUSED(K_REALM, realm_t, crealm_set_lock_timeout(h, 1));
    WORKS(crealm_set_lock_timeout(realm, -1));
    crealm_space_t* parts;
    size_t count_of_parts;
    crealm_query_plan_t plan;
    REFUSED(K_REALM, realm_t, crealm_get_space(h, &parts, &count_of_parts, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_get_space(realm, &parts, NULL, NULL));
    REFUSED(K_QUERY, realm_query_t, crealm_query_explain(h, &plan));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_query_explain(query, NULL));
    crealm_file_info_t* facts;
    REFUSED(K_CONFIG, realm_config_t, crealm_file_info(h, &facts));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_file_info(config, NULL));
    FAILS(RLM_ERR_FILE_NOT_FOUND, crealm_file_info(config, &facts));
    CHECK(facts == NULL);
    crealm_check_t* found;
    REFUSED(K_CONFIG, realm_config_t, crealm_check(h, 10, &found));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_check(config, 10, NULL));
    FAILS(RLM_ERR_FILE_NOT_FOUND, crealm_check(config, 10, &found));
    CHECK(found == NULL);
    realm_config_t* c = realm_config_new();
    QUIET((realm_config_set_path(c, path_of("stage.realm")), NULL));
    WORKS(crealm_file_info(c, &facts));
    CHECK(facts->kind == CREALM_FILE_REALM && facts->use == CREALM_USE_WRITE && facts->newest.format == 24);
    realm_free(facts);
    QUIET((crealm_config_set_snapshot(c, true), NULL));
    WORKS(crealm_check(c, SIZE_MAX, &found));
    CHECK(found->result == CREALM_CHECK_SOUND && found->num_versions > 0 && found->total_faults == 0 && *found->report && *found->json);
    realm_free(found);
    SETS(RLM_ERR_INVALID_ARGUMENT, (crealm_config_set_version_slot(c, (crealm_version_slot_e)2), 0));
    CHECK(crealm_config_get_version_slot(c) == CREALM_SLOT_NEWEST);
    QUIET((crealm_config_set_version_slot(c, CREALM_SLOT_PREVIOUS), NULL));
    CHECK(crealm_config_get_version_slot(c) == CREALM_SLOT_PREVIOUS);
    QUIET((realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT), NULL));
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(c));
    QUIET((realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_AUTOMATIC), NULL));
    QUIET((crealm_config_set_progress(c, says_no, NULL, NULL), NULL));
    FAILS(CREALM_ERR_INTERRUPTED, crealm_check(c, 0, &found));
    QUIET((crealm_config_set_progress(c, NULL, NULL, NULL), NULL));
    QUIET((crealm_config_set_snapshot(c, false), NULL));
    SETS(RLM_ERR_INVALID_ARGUMENT, (crealm_config_set_page_cipher(c, (crealm_page_cipher_e)99), 0));
    SETS(RLM_ERR_INVALID_ARGUMENT, (crealm_config_set_durability(c, (crealm_durability_e)99), 0));
    CHECK(crealm_config_get_page_cipher(c) == CREALM_PAGE_CIPHER_XCHACHA20_POLY1305 && crealm_config_get_durability(c) == 0);
    size_t least_size = 0;
    int percent = 0;
    SETS(RLM_ERR_INVALID_ARGUMENT, (crealm_config_set_shrinking(c, 1, 101), 0));
    SETS(RLM_ERR_INVALID_ARGUMENT, (crealm_config_set_shrinking(c, 1, -1), 0));
    QUIET((crealm_config_get_shrinking(c, &least_size, &percent), NULL));
    CHECK(least_size == 1 << 20 && percent == 50);
    QUIET((crealm_config_set_shrinking(c, SIZE_MAX, 100), NULL));
    QUIET((crealm_config_get_shrinking(c, &least_size, NULL), NULL));
    QUIET((crealm_config_get_shrinking(c, NULL, &percent), NULL));
    CHECK(least_size >= PTRDIFF_MAX && percent == 100);
    QUIET((crealm_config_set_page_memory(c, UINT64_MAX), NULL));
    QUIET((crealm_config_set_lock_timeout(c, INT64_MIN), NULL));
    QUIET((crealm_config_set_lock_timeout(c, INT64_MAX), NULL));
    QUIET((crealm_config_set_progress(c, NULL, NULL, NULL), NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_config_set_passphrase(c, NULL, 3, 0, 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_config_set_passphrase(c, "p", SIZE_MAX, 0, 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_config_set_passphrase(c, "p", 1, UINT32_MAX, 0));
    realm_release(c);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_convert_with_path(realm, NULL, no_key, false));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY, realm_convert_with_path(realm, path_of("never.realm"), short_key, false));
    FAILS(RLM_ERR_FILE_ALREADY_EXISTS, realm_convert_with_path(realm, path_of("stage.realm"), no_key, false));
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_compact(realm, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_compact_online(realm, NULL, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_backup_since(realm, NULL, path_of("never.step"), NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_change_key(realm, config));
    WORKS(realm_rollback(realm));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_backup_since(realm, NULL, NULL, NULL));
    FAILS(RLM_ERR_FILE_ALREADY_EXISTS, crealm_backup_since(realm, NULL, path_of("stage.realm"), NULL));
    FAILS(RLM_ERR_FILE_NOT_FOUND, crealm_backup_since(realm, path_of("no.step"), path_of("never.step"), NULL));
    WORKS(crealm_compact_online(realm, NULL, NULL));
    WORKS(realm_compact(realm, NULL));
    /* A realm was opened with the guard and with the C library's calls, which stay. */
    WORKS(crealm_set_fault_guard(true));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_set_fault_guard(false));
    crealm_set_system_calls(NULL);
}
/* ---- Rules and savepoints ----------------------------------------------------------------------- */

/* Rules of Plain for these sections: i is a revision, s is unique, also i_n and s_n together. */
static const char* const some_rules =
    "{\"properties\": {\"i\": {\"revision\": true}}, \"unique\": [[\"s\"], [\"i_n\", \"s_n\"]]}";

/* What crealm_class_get_rules() gives for a class without rules. */
static const char* const no_rules = "{\"properties\":{},\"unique\":[],\"checks\":[]}";
static bool rules_are(realm_class_key_t table, const char* wanted) {
    char* rules = crealm_class_get_rules(realm, table);
    bool same = rules && !strcmp(rules, wanted);
    realm_free(rules);
    return same;
}
static void wrong_rule_handles(void) {
    const char* names[] = {"s"};
    realm_value_t v = text("x");
    crealm_broken_rules_t* broken = NULL;
    uint32_t savepoint = 77;
    bool flag = true;
    REFUSED(K_CONFIG, realm_config_t, crealm_config_set_rules(h, "{}"));
    REFUSED(K_CONFIG, realm_config_t, crealm_config_set_rules(h, NULL));
    IGNORED(K_CONFIG, realm_config_t, crealm_config_set_refuse_broken_rules(h, true));
    for (int writing = 0; writing < 2; writing++) {
        if (writing) WORKS(realm_begin_write(realm));
        REFUSED(K_REALM, realm_t, crealm_class_set_rules(h, plain_class, "{}"));
        REFUSED(K_REALM, realm_t, crealm_class_get_rules(h, plain_class));
        REFUSED(K_REALM, realm_t, crealm_get_broken_rules(h, 10, &broken));
        REFUSED(K_REALM, realm_t, crealm_object_find_by_unique(h, plain_class, names, &v, 1, &flag));
        REFUSED(K_OBJECT, realm_object_t, crealm_object_set_if_version(h, plain_i, integer(1), 1, &flag));
        REFUSED(K_OBJECT, realm_object_t, crealm_object_get_computed(h, "x", &v));
        REFUSED(K_REALM, realm_t, crealm_begin_savepoint(h, &savepoint));
        REFUSED(K_REALM, realm_t, crealm_release_savepoint(h, 1));
        REFUSED(K_REALM, realm_t, crealm_rollback_savepoint(h, 1));
        if (writing) WORKS(realm_rollback(realm));
    }
    CHECK(!broken);
}
/* Functions of synchronisation, with wrong handles and arguments, on a file that is not synchronised. */
static void wrong_sync_calls(void) {
    crealm_sync_request_t* request = (crealm_sync_request_t*)&request;
    char* events = (char*)&events;
    for (int writing = 0; writing < 2; writing++) {
        if (writing) WORKS(realm_begin_write(realm));
        REFUSED(K_REALM, realm_t, crealm_sync_enable(h, NULL));
        REFUSED(K_REALM, realm_t, crealm_sync_disable(h));
        REFUSED(K_REALM, realm_t, crealm_sync_set_subset(h, "A", "TRUEPREDICATE"));
        REFUSED(K_REALM, realm_t, crealm_sync_status(h));
        REFUSED(K_REALM, realm_t, crealm_sync_next_request(h, &request));
        REFUSED(K_REALM, realm_t, crealm_sync_apply_reply(h, "{}", 2, &events));
        REFUSED(K_REALM, realm_t, crealm_sync_reset(h));
        REFUSED(K_REALM, realm_t, crealm_sync_compare(h));
        REFUSED(K_REALM, realm_t, crealm_sync_forget_refused(h));
        if (writing) {
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_sync_enable(realm, NULL));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_sync_disable(realm));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_sync_set_subset(realm, "A", NULL));
            FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_set_subset(realm, NULL, NULL));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_sync_next_request(realm, &request));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_sync_compare(realm));
            WORKS(realm_rollback(realm));
        }
    }
    CHECK(!request && !events);
    FAILS(RLM_ERR_MALFORMED_JSON, crealm_sync_enable(realm, "{"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_enable(realm, "[]"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_enable(realm, "{\"other\": 1}"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_enable(realm, "{\"classes\": 1}"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_enable(realm, "{\"classes\": [1]}"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_enable(realm, "{\"clock_offset\": \"1\"}"));
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_sync_enable(realm, "{\"classes\": [\"nobody\"]}"));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_sync_disable(realm));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_sync_next_request(realm, &request));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_next_request(realm, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_apply_reply(realm, NULL, 0, &events));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_sync_apply_reply(realm, "{}", SIZE_MAX, &events));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_sync_apply_reply(realm, "{}", 2, &events));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_sync_apply_reply(realm, "{}", 2, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_sync_compare(realm));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_sync_forget_refused(realm));
    WORKS(crealm_sync_reset(realm));
    char* status = crealm_sync_status(realm);
    CHECK(status && !strcmp(status, "{\"enabled\":false}"));
    realm_free(status);
}
/* NULL, unknown keys and names, and texts that are not UTF-8. */
static void wrong_rule_arguments(void) {
    const char *names[] = {"s"}, *two[] = {"i_n", "s_n"}, *turned[] = {"s_n", "i_n"}, *other[] = {"i"}, *nobody[] = {"nobody"};
    const char *no_text[] = {NULL}, *bad_text[] = {"\xff"}, *many[17];
    realm_value_t v = text("x"), pair[] = {integer(1), text("x")}, bad = text("a\x80"), no_type = of_type(50), values[17];
    crealm_broken_rules_t* broken = (crealm_broken_rules_t*)&broken;
    bool flag = true;
    for (int k = 0; k < 17; k++) many[k] = "s", values[k] = v;
    WORKS(crealm_get_broken_rules(realm, 0, &broken));
    CHECK(broken && broken->count == 0 && !broken->rules);
    realm_free(broken);
    WORKS(crealm_get_broken_rules(realm, SIZE_MAX, &broken));
    CHECK(broken && broken->count == 0 && !broken->rules);
    realm_free(broken);
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_get_broken_rules(realm, 10, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_find_by_unique(realm, plain_class, names, &v, 1, NULL));
    CHECK(realm_object_is_valid(object));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_object_get_computed(object, "s", &v));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_object_get_computed(object, "nobody", &v));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_object_get_computed(object, "", &v));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_get_computed(object, NULL, &v));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_get_computed(object, bad_text[0], &v));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_get_computed(object, "s", NULL));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_object_get_computed(deleted, "s", &v));
    v = text("x");
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_set_if_version(object, key("b"), integer(1), 1, &flag));
    CHECK(!flag);
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_set_if_version(object, key("i_n"), integer(1), 1, NULL));
    WORKS(crealm_class_set_rules(realm, plain_class, some_rules));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, NULL, &v, 1, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, names, NULL, 1, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, no_text, &v, 1, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, bad_text, &v, 1, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, names, &bad, 1, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, names, &no_type, 1, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, names, &v, 0, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, many, values, 17, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, names, &v, SIZE_MAX, &flag));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_find_by_unique(realm, plain_class, other, &v, 1, &flag));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_find_by_unique(realm, plain_class, nobody, &v, 1, &flag));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_find_by_unique(realm, plain_class, two, &v, 1, &flag));
    QUIET(crealm_object_find_by_unique(realm, plain_class, turned, pair, 2, &flag));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_find_by_unique(realm, plain_class, many, values, 16, &flag));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_object_find_by_unique(realm, target_class, names, &v, 1, &flag));
    flag = true;
    QUIET(crealm_object_find_by_unique(realm, plain_class, names, &v, 1, &flag));
    CHECK(!flag);
    QUIET(crealm_object_find_by_unique(realm, plain_class, two, pair, 2, NULL));
    static const realm_class_key_t no_class[] = {RLM_INVALID_CLASS_KEY, 0x7ffffffe, 0xffffffff, 0x12345};
    for (size_t k = 0; k < 4; k++) {
        FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_class_get_rules(realm, no_class[k]));
        FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_object_find_by_unique(realm, no_class[k], names, &v, 1, &flag));
    }
    /* A stored revision of 0: the object is older than the rule. */
    static const realm_property_key_t no_property[] = {RLM_INVALID_PROPERTY_KEY, INT64_MAX, INT64_MIN, 0x7fff0000, -2};
    WORKS(realm_get_value(object, plain_i, &v));
    int64_t revision = v.integer;
    for (size_t k = 0; k < 5; k++)
        FAILS(RLM_ERR_INVALID_PROPERTY, crealm_object_set_if_version(object, no_property[k], integer(1), revision, &flag));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, crealm_object_set_if_version(object, key("s"), integer(1), revision, &flag));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, crealm_object_set_if_version(object, key("s"), null_value(), revision, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_set_if_version(object, key("s"), bad, revision, &flag));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_set_if_version(object, key("s"), no_type, revision, &flag));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_object_set_if_version(deleted, key("s"), text("x"), revision, &flag));
    CHECK(!flag);
    WORKS(crealm_object_set_if_version(object, key("s"), text("x"), revision + 1, NULL));
    WORKS(realm_get_value(object, key("s"), &v));
    CHECK(v.string.size == 0);
    WORKS(crealm_object_set_if_version(object, key("s"), text("x"), revision, NULL));
    WORKS(realm_rollback(realm));

    /* Rules that are refused. Each ends its write transaction. */
    struct { int error; realm_class_key_t table; const char* rules; } refused_rules[] = {
        {RLM_ERR_INVALID_ARGUMENT, plain_class, NULL}, {RLM_ERR_NO_SUCH_TABLE, RLM_INVALID_CLASS_KEY, "{}"},
        {RLM_ERR_NO_SUCH_TABLE, 0x12345, some_rules}, {RLM_ERR_MALFORMED_JSON, plain_class, ""},
        {RLM_ERR_MALFORMED_JSON, plain_class, "{"}, {RLM_ERR_MALFORMED_JSON, plain_class, "{\"checks\": [\"\xff\"]}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "[]"}, {RLM_ERR_INVALID_ARGUMENT, plain_class, "null"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"nonsense\": 1}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": []}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"i\": 1}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"i\": {\"auto\": 1}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"i\": {\"nonsense\": true}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"i\": {\"min\": \"x\"}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"link\": {\"on_delete\": \"eat\"}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"link\": {\"on_target_delete\": \"cascade_last\"}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"s\": {\"auto\": true}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"i\": {\"on_delete\": \"cascade\"}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"i\": {\"created\": true}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"properties\": {\"t\": {\"revision\": true}}}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"unique\": [[]]}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"unique\": [[\"i\", \"i\"]]}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"unique\": [[\"l_i\"]]}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"unique\": [[\"m\"]]}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"unique\": \"i\"}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"unique\": [{\"properties\": [\"i\"], \"nonsense\": 1}]}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"checks\": [1]}"},
        {RLM_ERR_INVALID_ARGUMENT, plain_class, "{\"checks\": [\"\"]}"},
        {RLM_ERR_INVALID_PROPERTY, plain_class, "{\"properties\": {\"nobody\": {\"auto\": true}}}"},
        {RLM_ERR_INVALID_PROPERTY, plain_class, "{\"unique\": [[\"nobody\"]]}"},
        {RLM_ERR_INVALID_QUERY_STRING, plain_class, "{\"checks\": [\"i >\"]}"},
        {RLM_ERR_INVALID_QUERY, plain_class, "{\"checks\": [\"nobody > 1\"]}"},
        {CREALM_ERR_RULE_BROKEN, plain_class, "{\"checks\": [\"i == 123456789\"]}"}};
    realm_config_t* c = realm_config_new();
    for (size_t k = 0; k < sizeof refused_rules / sizeof *refused_rules; k++) {
        WORKS(realm_begin_write(realm));
        FAILS(refused_rules[k].error, crealm_class_set_rules(realm, refused_rules[k].table, refused_rules[k].rules));
        WORKS(realm_rollback(realm));
    }
    CHECK(rules_are(plain_class, no_rules));
    FAILS(RLM_ERR_MALFORMED_JSON, crealm_config_set_rules(c, ""));
    FAILS(RLM_ERR_MALFORMED_JSON, crealm_config_set_rules(c, "{\"Plain\": {}"));
    FAILS(RLM_ERR_MALFORMED_JSON, crealm_config_set_rules(c, "{\"\xff\": {}}"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_config_set_rules(c, "[]"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_config_set_rules(c, "{\"Plain\": []}"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_config_set_rules(c, "{\"Plain\": {\"nonsense\": 1}}"));
    WORKS(crealm_config_set_rules(c, "{\"Plain\": {\"checks\": [\"i >= 0\"]}}"));
    WORKS(crealm_config_set_rules(c, "{}"));
    WORKS(crealm_config_set_rules(c, NULL));
    QUIET((crealm_config_set_refuse_broken_rules(c, true), NULL));
    QUIET((crealm_config_set_refuse_broken_rules(c, false), NULL));
    realm_release(c);
}
/* Rules and savepoints of a realm that does not write, is frozen, or is opened for reading only. */
static void rules_outside_transactions(realm_t* r, realm_object_t* o) {
    bool flag = true;
    uint32_t savepoint = 77;
    crealm_broken_rules_t* broken = NULL;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_class_set_rules(r, plain_class, "{}"));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_class_set_rules(r, plain_class, some_rules));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_object_set_if_version(o, plain_i, integer(1), 0, &flag));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_begin_savepoint(r, &savepoint));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_begin_savepoint(r, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_release_savepoint(r, 1));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_rollback_savepoint(r, 1));
    char* rules = crealm_class_get_rules(r, plain_class);
    CHECK(rules && !strcmp(rules, no_rules));
    realm_free(rules);
    WORKS(crealm_get_broken_rules(r, 10, &broken));
    CHECK(broken && broken->count == 0);
    realm_free(broken);
}
static void wrong_savepoints(void) {
    uint32_t outer = 77, inner = 77, at = 77;
    static const uint32_t never[] = {0, 3, 1001, UINT32_MAX};
    realm_value_t v;
    rules_outside_transactions(realm, object);
    realm_t* frozen = realm_freeze(realm);
    realm_object_t* o = frozen ? realm_get_object(frozen, plain_class, realm_object_get_key(object)) : NULL;
    CHECK(frozen && o);
    rules_outside_transactions(frozen, o);
    realm_release(o), realm_release(frozen);
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_release_savepoint(realm, 1));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(realm, 1));
    WORKS(crealm_begin_savepoint(realm, &outer));
    WORKS(realm_set_value(object, plain_i, integer(4711), false));
    WORKS(crealm_begin_savepoint(realm, &inner));
    CHECK(outer != inner);
    for (size_t k = 0; k < 4; k++) {
        if (never[k] == outer || never[k] == inner) continue;
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_release_savepoint(realm, never[k]));
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(realm, never[k]));
    }
    realm_schema_t* s = (start(), add_class("Else", "", 0), add(property("x", INT, ONE, "", 0)), finish());
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_update_schema_advanced(realm, s, 7, NULL, NULL, NULL, NULL, false));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_update_schema_advanced(realm, s, 7, NULL, NULL, NULL, NULL, true));
    realm_release(s);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    WORKS(crealm_release_savepoint(realm, inner));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_release_savepoint(realm, inner));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(realm, inner));
    WORKS(crealm_begin_savepoint(realm, NULL));
    WORKS(crealm_rollback_savepoint(realm, outer)); /* ends both */
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_release_savepoint(realm, outer));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(realm, outer));
    WORKS(realm_get_value(object, plain_i, &v));
    CHECK(v.integer != 4711);
    for (int k = 0; k < 1000; k++) CHECK(crealm_begin_savepoint(realm, k ? &at : &outer));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, crealm_begin_savepoint(realm, &at));
    WORKS(crealm_release_savepoint(realm, outer));
    WORKS(crealm_begin_savepoint(realm, &outer));
    WORKS(realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_rollback_savepoint(realm, outer));
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_rollback_savepoint(realm, outer));
    WORKS(crealm_begin_savepoint(realm, &outer));
    WORKS(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_release_savepoint(realm, outer));
    WORKS(crealm_verify(realm, NULL));
}
static void wrong_references(void) {
    REFUSED(K_REFERENCE, realm_thread_safe_reference_t, realm_object_from_thread_safe_reference(realm, h));
    REFUSED(K_REFERENCE, realm_thread_safe_reference_t, realm_list_from_thread_safe_reference(realm, h));
    REFUSED(K_REFERENCE, realm_thread_safe_reference_t, realm_set_from_thread_safe_reference(realm, h));
    REFUSED(K_REFERENCE, realm_thread_safe_reference_t, realm_dictionary_from_thread_safe_reference(realm, h));
    REFUSED(K_REFERENCE, realm_thread_safe_reference_t, realm_results_from_thread_safe_reference(realm, h));
    REFUSED(K_REFERENCE, realm_thread_safe_reference_t, realm_from_thread_safe_reference(h, NULL));
    realm_thread_safe_reference_t* to_realm = realm_create_thread_safe_reference(realm);
    for (int k = 0; k < KINDS; k++) {
        if (k == K_SCHEDULER) continue;
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_from_thread_safe_reference(to_realm, (realm_scheduler_t*)handles[k]));
    }
    realm_t* same = realm_from_thread_safe_reference(to_realm, scheduler);
    CHECK(same && realm_equals(same, realm));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_from_thread_safe_reference(to_realm, scheduler));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_from_thread_safe_reference(realm, to_realm));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_from_thread_safe_reference(reference, scheduler));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_from_thread_safe_reference(realm, reference));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_results_from_thread_safe_reference(realm, reference));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_create_thread_safe_reference(NULL));
    for (int k = 0; k < KINDS; k++) {
        if (k <= K_RESULTS) continue;
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_create_thread_safe_reference(handles[k]));
    }
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_create_thread_safe_reference(deleted));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_create_thread_safe_reference(deleted_list));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_create_thread_safe_reference(deleted_set));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_create_thread_safe_reference(deleted_dictionary));
    realm_object_t* found = realm_object_from_thread_safe_reference(realm, reference);
    CHECK(found && realm_equals(found, object));
    realm_release(found), realm_release(same), realm_release(to_realm);
}
static void perform_null(void) { realm_scheduler_perform_work(NULL); }
static void perform_other(void) { for (int k = 0; k < KINDS; k++) realm_scheduler_perform_work((realm_work_queue_t*)handles[k]); }

static void wrong_other_handles(void) {
    int fd;
    bool flag;
    realm_error_t error;
    REFUSED(K_SCHEMA, realm_schema_t, realm_schema_validate(h, 0));
    REFUSED(K_SCHEDULER, realm_scheduler_t, crealm_scheduler_get_fd(h, &fd));
    REFUSED(K_SCHEDULER, realm_scheduler_t, crealm_scheduler_run(h, 0, &flag));
    realm_config_t* c = realm_config_new();
    for (int k = 0; k < KINDS; k++) {
        realm_clear_last_error();
        if (k != K_SCHEMA) SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_schema(c, (realm_schema_t*)handles[k]), 0));
        if (k != K_SCHEDULER) SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_scheduler(c, (realm_scheduler_t*)handles[k]), 0));
        if (k != K_ERROR) CHECK(!realm_get_async_error((realm_async_error_t*)handles[k], &error));
        CHECK(!realm_is_frozen(handles[k]));
        for (int j = 0; j < KINDS; j++) CHECK(realm_equals(handles[k], handles[j]) == (j == k));
        CHECK(!realm_equals(handles[k], NULL) && !realm_equals(NULL, handles[k]));
    }
    QUIET(realm_config_get_schema(c));
    QUIET((realm_config_set_scheduler(c, NULL), NULL)); /* back to the default scheduler */
    QUIET((realm_config_set_schema(c, NULL), NULL));
    realm_release(c);
    QUIET(realm_get_async_error(NULL, &error));
    QUIET(realm_is_frozen(NULL));
    CHECK(realm_equals(NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_clone(NULL));
    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(config));
    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(token));
    FAILS(RLM_ERR_NOT_CLONABLE, realm_clone(reference));
    realm_release(NULL);
    realm_free(NULL);
    CHECK(survives(perform_null));
    CHECK(survives(perform_other));
}

/* NULL for the other pointers. Those that the header marks optional must be accepted. */
static void null_pointers(void) {
    realm_property_key_t i = key("i"), keys[1] = {i};
    realm_value_t v = integer(1);
    bool found;
    size_t n;
    WORKS(realm_get_version_id(realm, NULL, NULL));
    WORKS(realm_get_num_versions(realm, NULL));
    WORKS(realm_refresh(realm, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_add_realm_changed_callback(realm, NULL, NULL, NULL));
    free_count = 0;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_add_realm_changed_callback(realm, NULL, &n, count_free));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_add_realm_refresh_callback(realm, NULL, &n, count_free));
    CHECK(free_count == 2);
    WORKS(realm_get_class_keys(realm, NULL, 0, NULL));
    WORKS(realm_get_class_keys(realm, NULL, SIZE_MAX, &n));
    CHECK(n == 8);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_class(realm, NULL, &found, NULL));
    WORKS(realm_find_class(realm, "Plain", NULL, NULL));
    WORKS(realm_get_class(realm, plain_class, NULL));
    WORKS(realm_get_class_properties(realm, plain_class, NULL, SIZE_MAX, &n));
    CHECK(n == PLAIN_PROPERTIES);
    WORKS(realm_get_class_properties(realm, plain_class, NULL, 0, NULL));
    WORKS(realm_get_property_keys(realm, plain_class, NULL, SIZE_MAX, &n));
    CHECK(n == PLAIN_PROPERTIES);
    WORKS(realm_get_property(realm, plain_class, i, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_property(realm, plain_class, NULL, &found, NULL));
    WORKS(realm_find_property(realm, plain_class, "i", NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_property_by_public_name(realm, plain_class, NULL, &found, NULL));
    WORKS(realm_find_property_by_public_name(realm, plain_class, "i", NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_get_value_by_property_index(object, 0, NULL));
    WORKS(realm_get_num_objects(realm, plain_class, NULL));
    QUIET(realm_object_find_with_primary_key(realm, pk_int, integer(-77), NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_resolve_in(object, realm, NULL));
    WORKS(realm_get_value(object, i, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_get_values(object, 1, NULL, &v));
    WORKS(realm_get_values(object, 1, keys, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_get_values(object, SIZE_MAX, NULL, NULL));
    WORKS(realm_get_values(object, 0, NULL, NULL));
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_values(object, 1, NULL, &v, false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_values(object, 1, keys, NULL, false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_values(object, SIZE_MAX, NULL, NULL, false));
    WORKS(realm_set_values(object, 0, NULL, NULL, false));
    realm_object_t* o = realm_object_get_or_create_with_primary_key(realm, pk_int, integer(123456), NULL);
    CHECK(o != NULL);
    realm_release(o);
    WORKS(realm_rollback(realm));
    WORKS(realm_list_size(list, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_list_get_property(list, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_list_find(list, NULL, &n, &found));
    WORKS(realm_list_find(list, &v, NULL, NULL));
    WORKS(realm_set_size(set, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_get_property(set, NULL));
    WORKS(realm_set_find(set, v, NULL, NULL));
    WORKS(realm_dictionary_size(dictionary, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_property(dictionary, NULL));
    WORKS(realm_dictionary_find(dictionary, text("k"), NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_contains_key(dictionary, text("k"), NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_contains_value(dictionary, v, NULL));
    WORKS(realm_results_is_valid(results, NULL));
    WORKS(realm_results_count(results, NULL));
    WORKS(realm_results_get(results, 0, NULL));
    WORKS(crealm_results_fetch(results, 0, 1, NULL, 0, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_fetch(results, 0, 1, NULL, 1, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_fetch_arrow(results, 0, 1, NULL, 0, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_export_arrow(results, NULL, 0, 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_aggregate_arrow(results, "AGGREGATE count()", 0, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_class_export_arrow(realm, plain_class, NULL, 0, 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_results_update(results, NULL, 0, NULL, NULL));
    realm_link_t link = realm_object_as_link(object);
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_find(realm, pk_int, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_get_values(realm, NULL, 0, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_get_values(realm, &link, 1, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_get_values(realm, &link, (size_t)-1, NULL, NULL));
    WORKS(crealm_get_values(realm, &link, 0, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_set_values(realm, NULL, 0, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_set_values(realm, &link, 1, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_delete(realm, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          crealm_create(realm, plain_class, NULL, CREALM_UPDATE_ERROR, 1, NULL, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT,
          crealm_create(realm, plain_class, NULL, (crealm_update_mode_e)3, 0, NULL, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_schema_from_json(NULL, 0));
    realm_clear_last_error();
    CHECK(!crealm_last_error_take(NULL, NULL, 0, NULL, NULL));
    realm_scheduler_t* serial = crealm_scheduler_new_serial(NULL, NULL, NULL);
    CHECK(serial != NULL);
    WORKS(crealm_scheduler_run(serial, 0, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_scheduler_get_fd(serial, NULL));
    realm_release(serial);
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_schema_to_json(NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_collection_changes_get_all(NULL, NULL));
    WORKS(crealm_verify(realm, NULL));

    free_count = 0;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_add_schema_changed_callback(realm, NULL, &n, count_free));
    CHECK(free_count == 1);
    realm_callback_token_t* no_userdata = realm_add_schema_changed_callback(realm, on_schema, NULL, NULL);
    CHECK(no_userdata != NULL);
    realm_release(no_userdata);
    WORKS(realm_find_primary_key_property(realm, pk_int, NULL, NULL));
    WORKS(realm_find_primary_key_property(realm, plain_class, NULL, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_list_resolve_in(list, realm, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_resolve_in(set, realm, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_resolve_in(dictionary, realm, NULL));
    realm_results_t* keys_of = NULL;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_keys(dictionary, NULL, &keys_of));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_keys(dictionary, &n, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_keys(dictionary, NULL, NULL));
    CHECK(!keys_of);
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_json(object, key("m"), NULL));
    WORKS(realm_set_insert(set, v, NULL, NULL));
    WORKS(realm_set_erase(set, v, NULL));
    WORKS(realm_dictionary_insert(dictionary, text("k"), v, NULL, NULL));
    WORKS(realm_dictionary_erase(dictionary, text("k"), NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_remove_table(realm, NULL, &found));
    WORKS(realm_remove_table(realm, "Nobody", NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_rename_property(realm, schema, NULL, "i", "j"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_rename_property(realm, schema, "Plain", NULL, "j"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_rename_property(realm, schema, "Plain", "i", NULL));
    WORKS(realm_rollback(realm));

    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_delete_files(NULL, &found));
    WORKS(realm_delete_files(path_of("nothing"), NULL));
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_path(config, NULL), 0));
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_fifo_path(config, NULL), 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_config_set_encryption_key(config, NULL, 64));
    WORKS(realm_config_set_encryption_key(config, NULL, 0));
    CHECK(realm_config_get_encryption_key(config, NULL) == 0);
    free_count = 0;
    realm_config_t* c = realm_config_new();
    realm_config_set_migration_function(c, NULL, &n, count_free);
    realm_config_set_data_initialization_function(c, NULL, NULL, NULL);
    realm_config_set_should_compact_on_launch_function(c, NULL, NULL, NULL);
    realm_release(c);
    CHECK(free_count == 1);
    free_count = 0;
    realm_scheduler_t* s = realm_scheduler_new(&n, count_free, NULL, NULL, NULL, NULL);
    CHECK(s != NULL);
    int fd;
    FAILS(RLM_ERR_NOT_SUPPORTED, crealm_scheduler_get_fd(s, &fd));
    realm_release(s);
    CHECK(free_count == 1);
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_scheduler_get_fd(scheduler, NULL));
    WORKS(crealm_scheduler_run(scheduler, 0, NULL));
    QUIET(realm_scheduler_get_frozen());

    SETS(RLM_ERR_INVALID_ARGUMENT, realm_get_log_level_category(NULL));
    SETS(RLM_ERR_INVALID_ARGUMENT, realm_set_log_level_category(NULL, RLM_LOG_LEVEL_OFF));
    CHECK(realm_get_category_names(0, NULL) == 15);
    CHECK(realm_get_category_names(15, NULL) == 0);
    CHECK(realm_get_category_names(SIZE_MAX, NULL) == 0);
    realm_set_log_callback(NULL, NULL, NULL);
    free_count = 0;
    realm_set_log_callback(NULL, &n, count_free);
    realm_set_log_callback(NULL, NULL, NULL);
    CHECK(free_count == 1);
    realm_get_library_version_numbers(NULL, NULL, NULL, NULL);
    realm_register_user_code_callback_error(NULL);
    realm_clear_last_error();
    QUIET(realm_get_last_error(NULL));
    QUIET(realm_clear_last_error());
    QUIET(realm_get_last_error_as_async_error());

    realm_schema_t* empty = realm_schema_new(NULL, 0, NULL);
    CHECK(empty != NULL);
    realm_release(empty);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(NULL, 1, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(NULL, SIZE_MAX, NULL));
    start();
    add_class("A", "", 0);
    add(property("x", INT, ONE, "", 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(draft.classes, 1, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(NULL, 1, draft.pointers));
    draft.pointers[0] = NULL;
    FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    draft.classes[0].num_properties = SIZE_MAX;
    FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    draft.classes[0].num_properties = 0;
    draft.classes[0].num_computed_properties = SIZE_MAX;
    FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    start();
    add_class(NULL, "", 0);
    FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    start();
    add_class("A", "", 0);
    add(property(NULL, INT, ONE, "", 0));
    FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
}

/* ---- Wrong keys, types, positions --------------------------------------------------------------- */

static void wrong_keys(void) {
    static const realm_class_key_t no_class[] = {RLM_INVALID_CLASS_KEY, 0x7ffffffe, 0xffffffff, 0x12345};
    static const realm_property_key_t no_property[] = {RLM_INVALID_PROPERTY_KEY, INT64_MAX, INT64_MIN, 0x7fff0000, -2};
    bool found;
    size_t n;
    realm_value_t v = integer(1);
    realm_property_info_t info;
    for (size_t k = 0; k < 4; k++) {
        realm_class_key_t c = no_class[k];
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_class(realm, c, NULL));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_class_properties(realm, c, NULL, 0, &n));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_property_keys(realm, c, NULL, 0, &n));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_property(realm, c, key("i"), &info));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_find_property(realm, c, "i", &found, &info));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_find_property_by_public_name(realm, c, "i", &found, &info));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_num_objects(realm, c, &n));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_object(realm, c, 0));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_find_with_primary_key(realm, c, v, &found));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_find_all(realm, c));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_backlinks(target, c, key("link")));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_find_primary_key_property(realm, c, &found, &info));
        WORKS(realm_begin_write(realm));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create(realm, c));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_create_with_primary_key(realm, c, v));
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_get_or_create_with_primary_key(realm, c, v, &found));
        WORKS(realm_rollback(realm));
    }
    WORKS(realm_begin_write(realm));
    for (size_t k = 0; k < 5; k++) {
        realm_property_key_t p = no_property[k];
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_property(realm, plain_class, p, &info));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(object, p, &v));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_values(object, 1, &p, &v));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_value(object, p, integer(1), false));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_values(object, 1, &p, &v, false));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_object_add_int(object, p, 1));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_linked_object(object, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_list(object, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_set(object, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_dictionary(object, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(target, plain_class, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_embedded(object, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_list(object, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_dictionary(object, p));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_json(object, p, "1"));
    }
    /* The key of another class's property, and of the hidden backlink column. */
    realm_property_key_t foreign = key_of(target_class, "n");
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(object, foreign, &v));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_value(object, foreign, integer(1), false));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(target, plain_class, key("i")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_backlinks(target, plain_class, key("emb")));
    for (int64_t index = 0; index < 8; index++) {
        realm_property_key_t hidden = index | 14 << 16 | index << 30;
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_get_value(target, hidden, &v));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_set_value(target, hidden, integer(1), false));
    }
    WORKS(realm_rollback(realm));
    static const realm_object_key_t no_object[] = {-1, -2, 1000, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < 5; k++) FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_get_object(realm, plain_class, no_object[k]));
    WORKS(realm_find_class(realm, "Nobody", &found, NULL));
    CHECK(!found);
    WORKS(realm_find_class(realm, "", &found, NULL));
    CHECK(!found);
    WORKS(realm_find_property(realm, plain_class, "nothing", &found, NULL));
    CHECK(!found);
    WORKS(realm_find_property(realm, target_class, "public_n", &found, NULL));
    CHECK(!found);
    WORKS(realm_find_property_by_public_name(realm, target_class, "public_n", &found, &info));
    CHECK(found && !strcmp(info.name, "n"));
    WORKS(realm_find_property_by_public_name(realm, target_class, "n", &found, NULL));
    CHECK(!found);
}
/* Each property gets a value of each type: only its own type may pass. */
static void wrong_types(void) {
    static const struct { const char* name; int type; } properties[] = {
        {"i", RLM_TYPE_INT}, {"b", RLM_TYPE_BOOL}, {"s", RLM_TYPE_STRING}, {"d", RLM_TYPE_BINARY},
        {"t", RLM_TYPE_TIMESTAMP}, {"f", RLM_TYPE_FLOAT}, {"g", RLM_TYPE_DOUBLE}, {"dec", RLM_TYPE_DECIMAL128},
        {"o", RLM_TYPE_OBJECT_ID}, {"u", RLM_TYPE_UUID}, {"link", RLM_TYPE_LINK}};
    realm_value_t values[12], v;
    realm_object_key_t target_key = realm_object_get_key(target);
    for (int t = 0; t < 12; t++) values[t] = of_type(t);
    values[RLM_TYPE_STRING] = text("text");
    values[RLM_TYPE_BINARY] = binary((const uint8_t*)"bytes", 5);
    values[RLM_TYPE_LINK] = link_to(target_class, target_key);
    WORKS(realm_begin_write(realm));
    for (size_t k = 0; k < sizeof properties / sizeof *properties; k++) {
        realm_property_key_t p = key(properties[k].name);
        bool is_link = properties[k].type == RLM_TYPE_LINK;
        for (int t = 0; t < 12; t++) {
            if (t == properties[k].type || (is_link && t == RLM_TYPE_NULL)) WORKS(realm_set_value(object, p, values[t], false));
            else if (t == RLM_TYPE_NULL) FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_set_value(object, p, values[t], false));
            else FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(object, p, values[t], false));
        }
        for (int t = 14; t < 40; t += 5) FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, p, of_type(t), false));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, p, of_type(-1), false));
    }
    for (int t = 0; t < 12; t++) WORKS(realm_set_value(object, key("m"), values[t], false));
    WORKS(realm_set_value(object, key("m"), of_type(RLM_TYPE_LIST), false));
    WORKS(realm_set_value(object, key("m"), of_type(RLM_TYPE_DICTIONARY), false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("m"), of_type(99), false));
    /* Texts and bytes without data are null. */
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_set_value(object, key("s"), bytes_as_text(NULL, 0), false));
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_set_value(object, key("d"), binary(NULL, 0), false));
    WORKS(realm_set_value(object, key("s_n"), bytes_as_text(NULL, 0), false));
    WORKS(realm_get_value(object, key("s_n"), &v));
    CHECK(v.type == RLM_TYPE_NULL);

    static const char* const collections[] = {"l_i", "l_m", "l_link", "e_i", "h_i", "h_m"};
    for (size_t k = 0; k < 6; k++) {
        realm_property_key_t p = key(collections[k]);
        FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_value(object, p, &v));
        FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(object, p, integer(1), false));
        FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(object, p, null_value(), false));
        if (k > 2) FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_list(object, p));
        if (k != 3) FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_set(object, p));
        if (k < 4) FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_dictionary(object, p));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, p, 1));
    }
    for (size_t k = 0; k < sizeof properties / sizeof *properties; k++) {
        realm_property_key_t p = key(properties[k].name);
        FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_list(object, p));
        FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_set(object, p));
        FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_get_dictionary(object, p));
        if (properties[k].type != RLM_TYPE_LINK) FAILS(RLM_ERR_INVALID_TABLE_REF, realm_get_linked_object(object, p));
        if (properties[k].type != RLM_TYPE_INT) FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, p, 1));
    }
    WORKS(realm_set_value(object, key("i_n"), null_value(), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, key("i_n"), 1));
    WORKS(realm_set_value(object, key("m"), null_value(), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, key("m"), 1));
    WORKS(realm_set_value(object, key("m"), text("five"), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_add_int(object, key("m"), 1));
    WORKS(realm_set_value(object, key("i"), integer(INT64_MAX), false));
    WORKS(realm_object_add_int(object, key("i"), 1));
    WORKS(realm_get_value(object, key("i"), &v));
    CHECK(v.integer == INT64_MIN);

    /* A Mixed property that holds no collection gives handles that are not valid. */
    realm_list_t* no_list = realm_get_list(object, key("m"));
    realm_set_t* no_set = realm_get_set(object, key("m"));
    realm_dictionary_t* no_dictionary = realm_get_dictionary(object, key("m"));
    CHECK(no_list && !realm_list_is_valid(no_list));
    CHECK(no_set && !realm_set_is_valid(no_set));
    CHECK(no_dictionary && !realm_dictionary_is_valid(no_dictionary));
    if (no_list) FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(no_list, NULL));
    if (no_set) FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_size(no_set, NULL));
    if (no_dictionary) FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_size(no_dictionary, NULL));
    realm_release(no_list);
    realm_release(no_set);
    realm_release(no_dictionary);

    /* realm_set_values() checks everything first. */
    realm_property_key_t keys[3] = {key("i"), key("s"), key("b")};
    realm_value_t three[3] = {integer(77), integer(0), integer(0)};
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_values(object, 3, keys, three, false));
    WORKS(realm_get_value(object, key("i"), &v));
    CHECK(v.integer == INT64_MIN);
    WORKS(realm_rollback(realm));

    /* Find functions: lists refuse values that they cannot hold, sets and dictionaries do not find them. */
    size_t at;
    bool found;
    v = text("one");
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_list_find(list, &v, &at, &found));
    v = null_value();
    FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_list_find(list, &v, &at, &found));
    v = integer(5);
    WORKS(realm_list_find(list, &v, &at, &found));
    CHECK(!found && at == SIZE_MAX);
    WORKS(realm_set_find(set, text("one"), &at, &found));
    CHECK(!found && at == SIZE_MAX);
    WORKS(realm_set_find(set, null_value(), &at, &found));
    CHECK(!found && at == SIZE_MAX);
    WORKS(realm_dictionary_find(dictionary, integer(1), &v, &found));
    CHECK(!found);
    WORKS(realm_dictionary_contains_value(dictionary, text("one"), &at));
    CHECK(at == SIZE_MAX);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_contains_key(dictionary, integer(1), &found));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_contains_key(dictionary, null_value(), &found));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_list(mixed_dictionary, integer(1)));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_dictionary(mixed_dictionary, null_value()));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_linked_object(dictionary, integer(1)));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_dictionary_get_list(dictionary, text("k")));
    FAILS(RLM_ERR_INVALID_PROPERTY, realm_dictionary_get_dictionary(dictionary, text("k")));
    QUIET(realm_dictionary_get_linked_object(dictionary, text("k")));
    realm_list_t* absent = realm_dictionary_get_list(mixed_dictionary, text("absent"));
    CHECK(absent && !realm_list_is_valid(absent));
    if (absent) FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(absent, &at));
    realm_release(absent);
}
static void wrong_positions(void) {
    static const size_t far[] = {1000, SIZE_MAX, SIZE_MAX - 1, (size_t)1 << 63, ((size_t)1 << 63) - 1, (size_t)1 << 32};
    realm_value_t v;
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get(list, 0, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_set_get(set, 0, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_dictionary_get(dictionary, 0, &v, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(results, 1, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(backlinks, 1, &v));
    FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_get_value_by_property_index(object, PLAIN_PROPERTIES, &v));
    for (size_t k = 0; k < 6; k++) {
        size_t i = far[k];
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get(list, i, &v));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get_list(mixed_list, i));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get_dictionary(mixed_list, i));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get_linked_object(list, i));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_set_get(set, i, &v));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_dictionary_get(dictionary, i, &v, &v));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(results, i, &v));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_object(results, i));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get(backlinks, i, &v));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_results_get_object(backlinks, i));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_get_value_by_property_index(object, i, &v));
    }
}

/* ---- Texts ------------------------------------------------------------------------------------ */

static void bad_texts(void) {
    static const char* const bad[] = {
        "\xff", "a\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xe2\x82", "\xf0\x9f\x98", "\xc3", "abcdefgh\xfe", "abcdefghijklmno\xe2\x28\xa1"};
    bool found;
    size_t at;
    realm_value_t v;
    const char* before = realm_config_get_path(config);
    char old_path[300];
    snprintf(old_path, sizeof old_path, "%s", before ? before : "");
    WORKS(realm_begin_write(realm));
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        const char* b = bad[k];
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_class(realm, b, &found, NULL));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_property(realm, plain_class, b, &found, NULL));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_find_property_by_public_name(realm, plain_class, b, &found, NULL));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_delete_files(b, &found));
        SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_path(config, b), 0));
        SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_fifo_path(config, b), 0));
        SETS(RLM_ERR_INVALID_ARGUMENT, realm_set_log_level_category(b, RLM_LOG_LEVEL_OFF));
        SETS(RLM_ERR_INVALID_ARGUMENT, realm_get_log_level_category(b));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("s"), text(b), false));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("m"), text(b), false));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_create_with_primary_key(realm, pk_string, text(b)));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_get_or_create_with_primary_key(realm, pk_string, text(b), &found));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_find_with_primary_key(realm, pk_string, text(b), &found));
        v = text(b);
        FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_object_find_by_unique(realm, plain_class, &b, &v, 1, &found));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_list_find(mixed_list, &v, &at, &found));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_find(set, v, &at, &found));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_find(dictionary, v, &v, &found));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_contains_key(dictionary, v, &found));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_contains_value(dictionary, v, &at));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_list(mixed_dictionary, v));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_dictionary(mixed_dictionary, v));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_get_linked_object(dictionary, v));
        start();
        add_class(b, "", 0);
        FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
        start();
        add_class("A", b, 0);
        FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
        start();
        add_class("A", "", 0);
        add(property(b, INT, ONE, "", 0));
        FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
        start();
        add_class("A", "", 0);
        add(property("x", LINK, ONE, b, NULLABLE));
        FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
        start();
        add_class("A", "", 0);
        add(alias(b, property("x", INT, ONE, "", 0)));
        FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    }
    /* A refused path leaves the config without a path: it must not open the file that was set before. */
    CHECK(!strcmp(realm_config_get_path(config), ""));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_open(config));
    realm_config_set_path(config, old_path);
    CHECK(!strcmp(realm_config_get_path(config), old_path));
    /* Zeroes inside a text are part of it. */
    WORKS(realm_set_value(object, key("s"), bytes_as_text("a\0b", 3), false));
    WORKS(realm_get_value(object, key("s"), &v));
    CHECK(v.type == RLM_TYPE_STRING && v.string.size == 3 && !memcmp(v.string.data, "a\0b", 3));
    /* Sizes: the largest text and the largest bytes that fit, and one byte more. */
    size_t most = 0xFFFFF8 - 8;
    char* big = (char*)malloc(most + 1);
    memset(big, 'x', most + 1);
    WORKS(realm_set_value(object, key("s"), bytes_as_text(big, most - 1), false));
    WORKS(realm_set_value(object, key("d"), binary((const uint8_t*)big, most), false));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_value(object, key("s"), bytes_as_text(big, most), false));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_value(object, key("d"), binary((const uint8_t*)big, most + 1), false));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_value(object, key("m"), bytes_as_text(big, most), false));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_value(object, key("m"), binary((const uint8_t*)big, most + 1), false));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_object_create_with_primary_key(realm, pk_string, bytes_as_text(big, most)));
    free(big);
    /* Times. */
    WORKS(realm_set_value(object, key("t"), moment(-1, -999999999), false));
    WORKS(realm_set_value(object, key("t"), moment(INT64_MAX, 999999999), false));
    WORKS(realm_set_value(object, key("t"), moment(INT64_MIN, -999999999), false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("t"), moment(1, -1), false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("t"), moment(-1, 1), false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("t"), moment(0, 1000000000), false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("t"), moment(0, -1000000000), false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_set_value(object, key("t"), moment(0, INT32_MIN), false));
    WORKS(realm_rollback(realm));
    SETS(RLM_ERR_INVALID_ARGUMENT, realm_set_log_level_category("Realm.Nothing", RLM_LOG_LEVEL_OFF));
    SETS(RLM_ERR_INVALID_ARGUMENT, realm_set_log_level_category("", RLM_LOG_LEVEL_OFF));
}
static void wrong_enums(void) {
    realm_log_level_e level = realm_get_log_level_category("Realm");
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_set_log_level((realm_log_level_e)9), 0));
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_set_log_level((realm_log_level_e)-1), 0));
    SETS(RLM_ERR_INVALID_ARGUMENT, realm_set_log_level_category("Realm", (realm_log_level_e)9));
    CHECK(realm_get_log_level_category("Realm") == level);
    realm_config_t* c = realm_config_new();
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_schema_mode(c, (realm_schema_mode_e)8), 0));
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_schema_mode(c, (realm_schema_mode_e)-1), 0));
    CHECK(realm_config_get_schema_mode(c) == RLM_SCHEMA_MODE_AUTOMATIC);
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_schema_subset_mode(c, (realm_schema_subset_mode_e)4), 0));
    SETS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_schema_subset_mode(c, (realm_schema_subset_mode_e)-1), 0));
    CHECK(realm_config_get_schema_subset_mode(c) == RLM_SCHEMA_SUBSET_MODE_STRICT);
    uint8_t bytes[65] = {0};
    static const size_t sizes[] = {1, 32, 63, 65, 128, SIZE_MAX};
    WORKS(realm_config_set_encryption_key(c, bytes, 64));
    for (size_t k = 0; k < 6; k++) FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY, realm_config_set_encryption_key(c, bytes, sizes[k]));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY, realm_config_set_encryption_key(c, NULL, SIZE_MAX));
    CHECK(realm_config_get_encryption_key(c, bytes) == 64);
    realm_release(c);
    static const int types[] = {3, 5, 7, 13, 16, 18, 99, -1};
    for (size_t k = 0; k < 8; k++) {
        start();
        add_class("A", "", 0);
        add(property("x", types[k], ONE, "", 0));
        FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    }
    static const int collections[] = {3, 5, 8, -1};
    for (size_t k = 0; k < 4; k++) {
        start();
        add_class("A", "", 0);
        add(property("x", INT, collections[k], "", 0));
        FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    }
    start();
    add_class("A", "", 3);
    FAILS(RLM_ERR_INVALID_ARGUMENT, finish());
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_new(draft.classes, SIZE_MAX, draft.pointers));
}

/* ---- Transactions, deleted objects, closed realms, threads ---------------------------------------- */

/* Each function that changes something must fail with this error. */
static void changes_fail(int number, struct things* t) {
    realm_value_t one = integer(1), k = text("k"), link = link_to(target_class, realm_object_get_key(target));
    size_t at;
    bool flag;
    FAILS(number, realm_list_insert(t->ints, 0, one));
    FAILS(number, realm_list_insert(t->ints, SIZE_MAX, one));
    FAILS(number, realm_list_insert(t->texts, 0, text("text")));
    FAILS(number, realm_list_insert(t->mixeds, 0, of_type(RLM_TYPE_LIST)));
    FAILS(number, realm_list_insert(t->links, 0, link));
    FAILS(number, realm_list_set(t->ints, 0, one));
    FAILS(number, realm_list_set(t->mixeds, 0, null_value()));
    FAILS(number, realm_list_move(t->ints, 0, 0));
    FAILS(number, realm_list_erase(t->ints, 0));
    FAILS(number, realm_list_clear(t->ints));
    FAILS(number, realm_list_clear(t->embeddeds));
    FAILS(number, realm_list_remove_all(t->ints));
    FAILS(number, realm_list_remove_all(t->links));
    FAILS(number, realm_list_insert_list(t->mixeds, 0));
    FAILS(number, realm_list_insert_dictionary(t->mixeds, 0));
    FAILS(number, realm_list_set_list(t->mixeds, 0));
    FAILS(number, realm_list_set_dictionary(t->mixeds, 0));
    FAILS(number, realm_list_insert_embedded(t->embeddeds, 0));
    FAILS(number, realm_list_set_embedded(t->embeddeds, 0));
    FAILS(number, realm_set_insert(t->int_set, one, &at, &flag));
    FAILS(number, realm_set_insert(t->mixed_set, one, &at, &flag));
    FAILS(number, realm_set_erase(t->int_set, one, &flag));
    FAILS(number, realm_set_clear(t->int_set));
    FAILS(number, realm_set_remove_all(t->link_set));
    FAILS(number, realm_dictionary_insert(t->int_map, k, one, &at, &flag));
    FAILS(number, realm_dictionary_insert(t->mixed_map, k, of_type(RLM_TYPE_DICTIONARY), &at, &flag));
    FAILS(number, realm_dictionary_insert_embedded(t->embedded_map, k));
    FAILS(number, realm_dictionary_insert_embedded(t->link_map, k));
    FAILS(number, realm_dictionary_insert_list(t->mixed_map, k));
    FAILS(number, realm_dictionary_insert_dictionary(t->mixed_map, k));
    FAILS(number, realm_dictionary_erase(t->int_map, k, &flag));
    FAILS(number, realm_dictionary_clear(t->int_map));
    FAILS(number, realm_dictionary_clear(t->embedded_map));
}
/* The same for those that change a property of an object; the keys were looked up before. */
static void object_changes_fail(int number, realm_object_t* o, realm_property_key_t mixed, realm_property_key_t embedded) {
    FAILS(number, realm_set_json(o, mixed, "[1]"));
    FAILS(number, realm_set_list(o, mixed));
    FAILS(number, realm_set_dictionary(o, mixed));
    FAILS(number, realm_set_embedded(o, embedded));
}
/* And those that read; `other` is the realm to resolve in. */
static void new_readings_fail(int number, struct things* t, realm_t* other) {
    realm_list_t* l = NULL;
    realm_set_t* e = NULL;
    realm_dictionary_t* d = NULL;
    realm_results_t* r = NULL;
    size_t n;
    FAILS(number, realm_object_to_string(t->owner));
    FAILS(number, realm_list_to_results(t->ints));
    FAILS(number, realm_list_to_results(t->links));
    FAILS(number, realm_set_to_results(t->int_set));
    FAILS(number, realm_dictionary_to_results(t->int_map));
    FAILS(number, realm_dictionary_get_keys(t->int_map, &n, &r));
    CHECK(!r);
    if (!realm_is_closed(realm) && !realm_object_is_valid(t->owner)) {
        /* A deleted object or collection resolves to NULL, which is no error. */
        WORKS(realm_list_resolve_in(t->ints, other, &l));
        WORKS(realm_set_resolve_in(t->int_set, other, &e));
        WORKS(realm_dictionary_resolve_in(t->int_map, other, &d));
    } else {
        FAILS(number, realm_list_resolve_in(t->ints, other, &l));
        FAILS(number, realm_set_resolve_in(t->int_set, other, &e));
        FAILS(number, realm_dictionary_resolve_in(t->int_map, other, &d));
    }
    CHECK(!l && !e && !d);
}

static void outside_transactions(void) {
    realm_value_t v = integer(1);
    realm_property_key_t i = key("i");
    bool flag;
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_async_commit(realm, on_commit, NULL, NULL, false, NULL));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_async_begin_write(realm, NULL, NULL, NULL, false, NULL));
    WORKS(realm_async_cancel(realm, 4000000000u, &flag));
    CHECK(!flag);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create(realm, plain_class));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create_with_primary_key(realm, pk_int, integer(-9)));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_get_or_create_with_primary_key(realm, pk_int, integer(-9), &flag));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_delete(object));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_add_int(object, i, 1));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_value(object, i, v, false));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_set_values(object, 1, &i, &v, false));
    changes_fail(RLM_ERR_WRONG_TRANSACTION_STATE, &live);
    object_changes_fail(RLM_ERR_WRONG_TRANSACTION_STATE, object, key("m"), key("emb"));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(realm, "Plain", &flag));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_schema_rename_property(realm, schema, "Plain", "i", "j"));
    CHECK(!realm_is_writable(realm));
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(realm));
    CHECK(realm_is_writable(realm));
    flag = true;
    WORKS(realm_refresh(realm, &flag));
    CHECK(!flag);
    WORKS(realm_begin_read(realm));
    WORKS(realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(realm));
    WORKS(realm_begin_write(realm));
    WORKS(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(realm));
}
/* A handle to a deleted object, and its collections. */
static void deleted_things(void) {
    realm_value_t v = integer(1);
    realm_property_key_t i = key("i");
    realm_property_info_t info;
    realm_object_t* other = NULL;
    size_t n;
    bool flag;
    for (int writing = 0; writing < 2; writing++) {
        if (writing) WORKS(realm_begin_write(realm));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(deleted, i, &v));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_object_set_if_version(deleted, i, integer(1), 0, &flag));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_values(deleted, 1, &i, &v));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_value(deleted, i, integer(1), false));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_values(deleted, 1, &i, &v, false));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value_by_property_index(deleted, 0, &v));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_linked_object(deleted, key("link")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_list(deleted, key("l_i")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_set(deleted, key("e_i")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_dictionary(deleted, key("h_i")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_add_int(deleted, i, 1));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_delete(deleted));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_get_parent(deleted, &other, NULL));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_backlinks(deleted, plain_class, key("link")));
        WORKS(realm_object_resolve_in(deleted, realm, &other));
        CHECK(!other);
        CHECK(!realm_object_is_valid(deleted));
        CHECK(realm_object_get_table(deleted) == plain_class);
        CHECK(realm_object_get_key(deleted) == realm_object_as_link(deleted).target && realm_object_get_key(deleted) >= 0);
        CHECK(!realm_list_is_valid(deleted_list) && !realm_set_is_valid(deleted_set) && !realm_dictionary_is_valid(deleted_dictionary));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(deleted_list, &n));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get(deleted_list, 0, &v));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_find(deleted_list, &v, &n, &flag));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_property(deleted_list, &info));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_list(deleted_list, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_dictionary(deleted_list, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_linked_object(deleted_list, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_size(deleted_set, &n));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_get(deleted_set, 0, &v));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_find(deleted_set, integer(1), &n, &flag));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_get_property(deleted_set, &info));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_size(deleted_dictionary, &n));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_get(deleted_dictionary, 0, &v, &v));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_find(deleted_dictionary, text("k"), &v, &flag));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_get_property(deleted_dictionary, &info));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_get_list(deleted_dictionary, text("k")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_get_dictionary(deleted_dictionary, text("k")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_get_linked_object(deleted_dictionary, text("k")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_contains_key(deleted_dictionary, text("k"), &flag));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_contains_value(deleted_dictionary, integer(1), &n));
        changes_fail(RLM_ERR_INVALIDATED_OBJECT, &gone);
        object_changes_fail(RLM_ERR_INVALIDATED_OBJECT, deleted, key("m"), key("emb"));
        new_readings_fail(RLM_ERR_INVALIDATED_OBJECT, &gone, realm);
        if (writing) WORKS(realm_rollback(realm));
    }
    /* Deleted in a transaction that is rolled back: invalid, then valid again. */
    WORKS(realm_begin_write(realm));
    WORKS(realm_object_delete(target));
    CHECK(!realm_object_is_valid(target));
    WORKS(realm_results_is_valid(backlinks, &flag));
    CHECK(flag);
    n = 7;
    WORKS(realm_results_count(backlinks, &n));
    CHECK(n == 0);
    QUIET(realm_get_linked_object(object, key("link")));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, key("link"), link_to(target_class, realm_object_get_key(target)), false));
    FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, key("m"), link_to(target_class, realm_object_get_key(target)), false));
    WORKS(realm_rollback(realm));
    CHECK(realm_object_is_valid(target));
    WORKS(realm_results_count(backlinks, &n));
    CHECK(n == 1);
    /* Made in a transaction that is rolled back. */
    WORKS(realm_begin_write(realm));
    realm_object_t* brief = realm_object_create(realm, plain_class);
    CHECK(brief && realm_object_is_valid(brief));
    WORKS(realm_rollback(realm));
    CHECK(!realm_object_is_valid(brief));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(brief, i, &v));
    realm_release(brief);
    /* The same with its collections, and with nested ones. */
    WORKS(realm_begin_write(realm));
    brief = realm_object_create(realm, plain_class);
    CHECK(brief != NULL);
    struct things t = things_of(brief);
    realm_list_t* inner = realm_list_insert_list(t.mixeds, 0);
    realm_dictionary_t* inner_map = realm_dictionary_insert_dictionary(t.mixed_map, text("k"));
    realm_list_t* in_value = realm_set_list(brief, key("m"));
    realm_object_t* part = realm_list_insert_embedded(t.embeddeds, 0);
    CHECK(inner && inner_map && in_value && part);
    for (int k = 0; k < 40; k++) WORKS(realm_list_insert(t.ints, (size_t)k, integer(k)));
    WORKS(realm_rollback(realm));
    for (int writing = 0; writing < 2; writing++) {
        if (writing) WORKS(realm_begin_write(realm));
        changes_fail(RLM_ERR_INVALIDATED_OBJECT, &t);
        object_changes_fail(RLM_ERR_INVALIDATED_OBJECT, brief, key("m"), key("emb"));
        new_readings_fail(RLM_ERR_INVALIDATED_OBJECT, &t, realm);
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_insert(inner, 0, integer(1)));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_insert(inner_map, text("k"), integer(1), NULL, NULL));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_clear(in_value));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_delete(part));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_to_string(part));
        CHECK(!realm_list_is_valid(inner) && !realm_dictionary_is_valid(inner_map) && !realm_object_is_valid(part));
        if (writing) WORKS(realm_rollback(realm));
    }
    realm_release(inner), realm_release(inner_map), realm_release(in_value), realm_release(part), realm_release(brief);
    release_things(&t);
}
/* Look-ups by a class key work on any thread, but not after closing. */
#define LOOK_UP(call)                                              \
    do {                                                           \
        if (is_closed) FAILS(RLM_ERR_CLOSED_REALM, call);          \
        else WORKS(call);                                          \
    } while (0)
/* Queries, functions that make something from results, and functions for the whole file: none of them may work here. */
static void queries_fail(int realm_error, int object_error, int results_error) {
    realm_value_t v = integer(1);
    size_t n = 1;
    bool flag = true;
    realm_property_key_t i = 0;
    realm_binary_t no_key = {NULL, 0};
    FAILS(realm_error, realm_compact(realm, &flag));
    FAILS(realm_error, realm_convert_with_config(realm, config, false));
    FAILS(realm_error, realm_convert_with_path(realm, path_of("never.realm"), no_key, false));
    FAILS(realm_error, crealm_change_key(realm, config));
    FAILS(realm_error, realm_query_parse(realm, plain_class, "i == 1", 0, NULL));
    FAILS(realm_error, realm_query_append_query(query, "i == 1", 0, NULL));
    FAILS(realm_error, realm_query_get_description(query));
    FAILS(realm_error, realm_query_count(query, &n));
    FAILS(realm_error, realm_query_find_first(query, &v, &flag));
    FAILS(realm_error, realm_query_find_all(query));
    FAILS(realm_error, realm_query_delete_all(query));
    FAILS(object_error, realm_query_parse_for_list(live.links, "n == 1", 0, NULL));
    FAILS(object_error, realm_query_parse_for_set(live.link_set, "n == 1", 0, NULL));
    FAILS(results_error, realm_query_parse_for_results(results, "i == 1", 0, NULL));
    FAILS(results_error, realm_results_filter(results, query));
    FAILS(results_error, realm_results_sort(results, "i ASC"));
    FAILS(results_error, realm_results_distinct(results, "i"));
    FAILS(results_error, realm_results_limit(results, 1));
    FAILS(results_error, realm_results_snapshot(results));
    FAILS(results_error, realm_results_get_list(results, 0));
    FAILS(results_error, realm_results_get_dictionary(results, 0));
    FAILS(results_error, realm_results_find(results, &v, &n, &flag));
    CHECK(n == SIZE_MAX && !flag);
    FAILS(results_error, realm_results_find_object(results, object, &n, &flag));
    FAILS(results_error, realm_results_get_query(results));
    FAILS(results_error, realm_results_delete_all(results));
    FAILS(results_error, realm_results_resolve_in(results, realm));
    FAILS(results_error, realm_results_min(results, i, &v, &flag));
    FAILS(results_error, realm_results_max(results, i, &v, &flag));
    FAILS(results_error, realm_results_sum(results, i, &v, &flag));
    FAILS(results_error, realm_results_average(results, i, &v, &flag));
}
/* Everything on `realm`, which is closed or may not be used on this thread. The numbers are the expected errors of
 * realm functions, functions that create objects, object functions and results functions. */
static void unusable(int realm_error, int object_error, int results_error) {
    realm_value_t v = integer(1);
    realm_property_key_t i = plain_i, l = plain_link, m = plain_m, emb = plain_emb;
    realm_object_t* other = NULL;
    realm_property_info_t info;
    size_t n;
    uint64_t versions;
    bool flag;
    bool is_closed = realm_is_closed(realm);
    changes_fail(object_error, &live);
    object_changes_fail(object_error, object, m, emb);
    new_readings_fail(object_error, &live, realm);
    FAILS(realm_error, realm_remove_table(realm, "Plain", &flag));
    FAILS(realm_error, realm_update_schema(realm, schema));
    FAILS(realm_error, realm_update_schema_advanced(realm, schema, 1, NULL, NULL, NULL, NULL, false));
    FAILS(realm_error, realm_schema_rename_property(realm, schema, "Plain", "i", "j"));
    LOOK_UP(realm_find_primary_key_property(realm, pk_int, &flag, &info));
    FAILS(realm_error, realm_begin_write(realm));
    FAILS(realm_error, realm_commit(realm));
    FAILS(realm_error, realm_rollback(realm));
    FAILS(realm_error, realm_refresh(realm, &flag));
    FAILS(realm_error, realm_freeze(realm));
    FAILS(object_error, realm_create_thread_safe_reference(object));
    FAILS(object_error, realm_create_thread_safe_reference(list));
    FAILS(object_error, realm_create_thread_safe_reference(set));
    FAILS(object_error, realm_create_thread_safe_reference(dictionary));
    FAILS(results_error, realm_create_thread_safe_reference(results));
    FAILS(realm_error, realm_object_from_thread_safe_reference(realm, reference));
    FAILS(realm_error, realm_list_from_thread_safe_reference(realm, reference));
    FAILS(realm_error, realm_set_from_thread_safe_reference(realm, reference));
    FAILS(realm_error, realm_dictionary_from_thread_safe_reference(realm, reference));
    FAILS(realm_error, realm_results_from_thread_safe_reference(realm, reference));
    FAILS(realm_error, realm_object_create(realm, plain_class));
    FAILS(realm_error, realm_object_create_with_primary_key(realm, pk_int, integer(1)));
    FAILS(realm_error, realm_object_get_or_create_with_primary_key(realm, pk_int, integer(1), &flag));
    FAILS(realm_error, realm_begin_read(realm));
    FAILS(realm_error, realm_get_num_versions(realm, &versions));
    FAILS(realm_error, crealm_versions(realm, NULL, 0, NULL));
    struct ArrowArrayStream columns;
    struct ArrowArray rows;
    FAILS(realm_error, crealm_class_export_arrow(realm, plain_class, NULL, 0, 0, &columns));
    FAILS(results_error, crealm_results_export_arrow(results, NULL, 0, 0, &columns));
    FAILS(results_error, crealm_results_aggregate_arrow(results, "AGGREGATE count()", 0, NULL, &columns));
    FAILS(results_error, crealm_results_update(results, "i = 1", 0, NULL, NULL));
    realm_link_t link = {plain_class, 0};
    realm_value_t one = integer(1);
    FAILS(realm_error, crealm_find(realm, pk_int, &one, &link, &flag));
    FAILS(realm_error, crealm_create(realm, plain_class, NULL, CREALM_UPDATE_ERROR, 0, NULL, NULL, &link, &flag));
    FAILS(realm_error, crealm_get_values(realm, &link, 0, NULL, NULL));
    FAILS(realm_error, crealm_set_values(realm, &link, 0, NULL, NULL));
    FAILS(realm_error, crealm_delete(realm, &link));
    FAILS(results_error, crealm_results_fetch_arrow(results, 0, 1, NULL, 0, NULL, &rows));
    FAILS(results_error, crealm_results_fetch(results, 0, 1, NULL, 0, NULL, NULL, NULL));
    FAILS(realm_error, create_batch(realm, pk_int, one_integer(&batch, "id", &batch_id)));
    FAILS(realm_error, realm_get_num_objects(realm, plain_class, &n));
    FAILS(realm_error, realm_get_object(realm, plain_class, 0));
    FAILS(realm_error, realm_object_find_with_primary_key(realm, pk_int, integer(1), &flag));
    const char* names[] = {"s"};
    crealm_broken_rules_t* broken = NULL;
    uint32_t savepoint;
    FAILS(realm_error, crealm_class_set_rules(realm, plain_class, "{}"));
    FAILS(realm_error, crealm_class_get_rules(realm, plain_class));
    FAILS(realm_error, crealm_get_broken_rules(realm, 10, &broken));
    FAILS(realm_error, crealm_object_find_by_unique(realm, plain_class, names, &v, 1, &flag));
    FAILS(realm_error, crealm_begin_savepoint(realm, &savepoint));
    FAILS(realm_error, crealm_release_savepoint(realm, 1));
    FAILS(realm_error, crealm_rollback_savepoint(realm, 1));
    FAILS(object_error, crealm_object_set_if_version(object, i, integer(1), 0, &flag));
    CHECK(!broken);
    FAILS(realm_error, realm_object_find_all(realm, plain_class));
    FAILS(realm_error, crealm_verify(realm, NULL));
    FAILS(realm_error, crealm_find_faults(realm, 10, NULL, NULL, NULL));
    free_count = 0;
    FAILS(realm_error, realm_add_realm_changed_callback(realm, on_change, &n, count_free));
    FAILS(realm_error, realm_add_realm_refresh_callback(realm, on_change, &n, count_free));
    FAILS(realm_error, realm_async_begin_write(realm, on_change, &n, count_free, false, NULL));
    FAILS(realm_error, realm_async_commit(realm, on_commit, &n, count_free, false, NULL));
    FAILS(realm_error, realm_async_cancel(realm, 0, NULL));
    FAILS(realm_error, realm_add_schema_changed_callback(realm, on_schema, &n, count_free));
    CHECK(free_count == 5);
    FAILS(object_error, realm_get_value(object, i, &v));
    FAILS(object_error, realm_get_values(object, 1, &i, &v));
    FAILS(object_error, realm_set_value(object, i, integer(1), false));
    FAILS(object_error, realm_set_values(object, 1, &i, &v, false));
    FAILS(object_error, realm_get_value_by_property_index(object, 0, &v));
    FAILS(object_error, realm_get_linked_object(object, l));
    FAILS(object_error, realm_get_list(object, i));
    FAILS(object_error, realm_get_set(object, i));
    FAILS(object_error, realm_get_dictionary(object, i));
    FAILS(object_error, realm_object_add_int(object, i, 1));
    FAILS(object_error, realm_object_delete(object));
    FAILS(object_error, realm_object_get_parent(object, &other, NULL));
    FAILS(object_error, realm_get_backlinks(target, plain_class, l));
    CHECK(realm_object_get_key(object) >= 0 && realm_object_get_table(object) == plain_class);
    CHECK(realm_object_as_link(object).target_table == plain_class);
    CHECK(!realm_list_is_valid(list) && !realm_set_is_valid(set) && !realm_dictionary_is_valid(dictionary));
    FAILS(object_error, realm_list_size(list, &n));
    FAILS(object_error, realm_list_get_property(list, &info));
    FAILS(object_error, realm_list_get(list, 0, &v));
    FAILS(object_error, realm_list_find(list, &v, &n, &flag));
    FAILS(object_error, realm_list_get_list(mixed_list, 0));
    FAILS(object_error, realm_list_get_dictionary(mixed_list, 0));
    FAILS(object_error, realm_list_get_linked_object(list, 0));
    FAILS(object_error, realm_set_size(set, &n));
    FAILS(object_error, realm_set_get_property(set, &info));
    FAILS(object_error, realm_set_get(set, 0, &v));
    FAILS(object_error, realm_set_find(set, integer(1), &n, &flag));
    FAILS(object_error, realm_dictionary_size(dictionary, &n));
    FAILS(object_error, realm_dictionary_get_property(dictionary, &info));
    FAILS(object_error, realm_dictionary_find(dictionary, text("k"), &v, &flag));
    FAILS(object_error, realm_dictionary_get(dictionary, 0, &v, &v));
    FAILS(object_error, realm_dictionary_get_list(mixed_dictionary, text("k")));
    FAILS(object_error, realm_dictionary_get_dictionary(mixed_dictionary, text("k")));
    FAILS(object_error, realm_dictionary_get_linked_object(dictionary, text("k")));
    FAILS(object_error, realm_dictionary_contains_key(dictionary, text("k"), &flag));
    FAILS(object_error, realm_dictionary_contains_value(dictionary, integer(1), &n));
    FAILS(results_error, realm_results_count(results, &n));
    FAILS(results_error, realm_results_get(results, 0, &v));
    FAILS(results_error, realm_results_get_object(results, 0));
    FAILS(results_error, realm_results_count(backlinks, &n));
    FAILS(results_error, realm_results_get(backlinks, 0, &v));
    FAILS(results_error, realm_results_get_object(backlinks, 0));
    queries_fail(realm_error, object_error, results_error);
    /* Look-ups, cloning and comparing still work. */
    realm_class_info_t c;
    WORKS(realm_find_class(realm, "Plain", &flag, &c));
    CHECK(flag && c.key == plain_class);
    LOOK_UP(realm_get_class(realm, plain_class, &c));
    WORKS(realm_get_class_keys(realm, NULL, 0, &n));
    LOOK_UP(realm_get_property(realm, plain_class, i, &info));
    LOOK_UP(realm_get_class_properties(realm, plain_class, NULL, 0, &n));
    LOOK_UP(realm_get_property_keys(realm, plain_class, NULL, 0, &n));
    LOOK_UP(realm_find_property_by_public_name(realm, plain_class, "i", &flag, &info));
    CHECK(realm_get_num_classes(realm) == 8 && realm_get_schema_version(realm) == 1);
    realm_schema_t* s = realm_get_schema(realm);
    CHECK(s != NULL);
    realm_release(s);
    realm_object_t* twin = (realm_object_t*)realm_clone(object);
    CHECK(twin && realm_equals(twin, object));
    realm_release(twin);
}
static bool on_thread_answer = true;
static bool is_on_thread(realm_userdata_t userdata) { (void)userdata; return on_thread_answer; }
static void notify_nothing(realm_userdata_t userdata, realm_work_queue_t* queue) { (void)userdata, (void)queue; }

static void* on_other_thread(void* argument) {
    (void)argument;
    bool found = true;
    realm_version_id_t id;
    unusable(RLM_ERR_WRONG_THREAD, RLM_ERR_WRONG_THREAD, RLM_ERR_WRONG_THREAD);
    FAILS(RLM_ERR_WRONG_THREAD, realm_results_is_valid(results, &found));
    FAILS(RLM_ERR_WRONG_THREAD, realm_get_version_id(realm, &found, &id));
    FAILS(RLM_ERR_WRONG_THREAD, crealm_scheduler_run(scheduler, 0, &found));
    CHECK(realm_object_is_valid(object));
    CHECK(!realm_is_closed(realm));
    CHECK(!realm_is_writable(realm));
    return NULL;
}
/* While the realm's own thread is in a write transaction. */
static void* writing_on_other_thread(void* argument) {
    (void)argument;
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_create(realm, plain_class));
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_create_with_primary_key(realm, pk_int, integer(-31)));
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_get_or_create_with_primary_key(realm, pk_int, integer(-31), NULL));
    FAILS(RLM_ERR_WRONG_THREAD, realm_set_value(object, key("i"), integer(1), false));
    FAILS(RLM_ERR_WRONG_THREAD, realm_object_delete(object));
    changes_fail(RLM_ERR_WRONG_THREAD, &live);
    FAILS(RLM_ERR_WRONG_THREAD, crealm_class_set_rules(realm, plain_class, "{}"));
    FAILS(RLM_ERR_WRONG_THREAD, crealm_object_set_if_version(object, plain_i, integer(1), 0, NULL));
    FAILS(RLM_ERR_WRONG_THREAD, crealm_begin_savepoint(realm, NULL));
    FAILS(RLM_ERR_WRONG_THREAD, crealm_release_savepoint(realm, 1));
    FAILS(RLM_ERR_WRONG_THREAD, crealm_rollback_savepoint(realm, 1));
    object_changes_fail(RLM_ERR_WRONG_THREAD, object, key("m"), key("emb"));
    new_readings_fail(RLM_ERR_WRONG_THREAD, &live, realm);
    FAILS(RLM_ERR_WRONG_THREAD, realm_remove_table(realm, "Plain", NULL));
    FAILS(RLM_ERR_WRONG_THREAD, realm_update_schema(realm, schema));
    FAILS(RLM_ERR_WRONG_THREAD, realm_begin_write(realm));
    FAILS(RLM_ERR_WRONG_THREAD, realm_commit(realm));
    FAILS(RLM_ERR_WRONG_THREAD, realm_rollback(realm));
    return NULL;
}
static void on_thread(void* (*body)(void*)) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL)) { perror("pthread_create"); exit(2); }
    pthread_join(thread, NULL);
}
static void wrong_threads(void) {
    /* The default scheduler, on a real thread. */
    on_thread(on_other_thread);
    WORKS(realm_begin_write(realm));
    on_thread(writing_on_other_thread);
    WORKS(realm_commit(realm));
    still_works("after use on another thread");

    /* A scheduler that answers false. */
    section = "scheduler says no";
    realm_t* keep_realm = realm;
    realm_object_t *o = object, *t = target, *x = deleted;
    realm_list_t *l = list, *dl = deleted_list, *ml = mixed_list;
    realm_set_t *e = set, *de = deleted_set;
    realm_dictionary_t *d = dictionary, *dd = deleted_dictionary, *md = mixed_dictionary;
    realm_results_t *rs = results, *bl = backlinks;
    realm_query_t* q = query;
    struct things old_live = live, old_gone = gone;
    realm_scheduler_t* s = realm_scheduler_new(NULL, NULL, notify_nothing, is_on_thread, NULL, NULL);
    realm_schema_t* sch = stage_schema();
    realm_config_t* c = config_for(path_of("said-no.realm"), sch, 1, RLM_SCHEMA_MODE_AUTOMATIC);
    realm_config_set_scheduler(c, s);
    on_thread_answer = true;
    realm = realm_open(c);
    CHECK(realm != NULL);
    realm_release(c), realm_release(s), realm_release(sch);
    build();
    on_thread_answer = false;
    unusable(RLM_ERR_WRONG_THREAD, RLM_ERR_WRONG_THREAD, RLM_ERR_WRONG_THREAD);
    on_thread_answer = true;
    still_works("after the scheduler said no");
    on_thread_answer = false;
    WORKS(realm_close(realm)); /* any thread */
    CHECK(realm_is_closed(realm));
    on_thread_answer = true;
    give_back();
    realm_release(realm);
    /* A scheduler without a function is never on its thread. */
    s = realm_scheduler_new(NULL, NULL, NULL, NULL, NULL, NULL);
    c = config_for(path_of("said-no.realm"), NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
    realm_config_set_scheduler(c, s);
    realm_t* never = realm_open(c);
    CHECK(never != NULL);
    FAILS(RLM_ERR_WRONG_THREAD, realm_begin_write(never));
    FAILS(RLM_ERR_WRONG_THREAD, realm_refresh(never, NULL));
    FAILS(RLM_ERR_NOT_SUPPORTED, crealm_scheduler_run(s, 0, NULL));
    int fd;
    FAILS(RLM_ERR_NOT_SUPPORTED, crealm_scheduler_get_fd(s, &fd));
    WORKS(realm_close(never));
    realm_release(never), realm_release(c), realm_release(s);

    realm = keep_realm;
    object = o, target = t, deleted = x;
    list = l, deleted_list = dl, mixed_list = ml;
    set = e, deleted_set = de;
    dictionary = d, deleted_dictionary = dd, mixed_dictionary = md;
    results = rs, backlinks = bl, query = q;
    live = old_live, gone = old_gone;
}
static void closed_realm(void) {
    bool flag = true;
    realm_version_id_t id;
    realm_object_t* other = NULL;
    int freed = 0;
    realm_callback_token_t* watching = realm_add_realm_changed_callback(realm, on_change, &freed, count_into);
    CHECK(watching != NULL);
    WORKS(realm_begin_write(realm));
    WORKS(realm_set_value(object, key("i"), integer(4711), false));
    WORKS(realm_close(realm)); /* rolls back */
    CHECK(realm_is_closed(realm) && !realm_is_writable(realm));
    WORKS(realm_close(realm));
    unusable(RLM_ERR_CLOSED_REALM, RLM_ERR_INVALIDATED_OBJECT, RLM_ERR_STALE_ACCESSOR);
    CHECK(!realm_object_is_valid(object));
    WORKS(realm_get_version_id(realm, &flag, &id));
    CHECK(!flag && id.version == 0);
    WORKS(realm_results_is_valid(results, &flag));
    CHECK(!flag);
    realm_t* twin = (realm_t*)realm_clone(realm);
    CHECK(twin && realm_equals(twin, realm) && realm_is_closed(twin));
    realm_release(twin);
    realm_release(watching);
    CHECK(freed == 1);

    realm_t* fresh = open_with(path_of("stage.realm"), stage_schema(), 1, RLM_SCHEMA_MODE_AUTOMATIC);
    CHECK(fresh != NULL);
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_resolve_in(object, fresh, &other));
    new_readings_fail(RLM_ERR_INVALIDATED_OBJECT, &live, fresh);
    realm_object_t* row = realm_get_object(fresh, plain_class, realm_object_get_key(object));
    CHECK(row != NULL);
    FAILS(RLM_ERR_CLOSED_REALM, realm_object_resolve_in(row, realm, &other));
    realm_property_info_t in_fresh;
    WORKS(realm_find_property(fresh, plain_class, "l_i", &flag, &in_fresh));
    realm_list_t *row_list = realm_get_list(row, in_fresh.key), *nowhere = NULL;
    CHECK(row_list != NULL);
    FAILS(RLM_ERR_CLOSED_REALM, realm_list_resolve_in(row_list, realm, &nowhere));
    CHECK(!nowhere);
    realm_release(row_list);
    realm_value_t v;
    realm_property_info_t info;
    WORKS(realm_find_property(fresh, plain_class, "i", &flag, &info));
    WORKS(realm_get_value(row, info.key, &v));
    CHECK(v.integer != 4711);
    realm_release(row);
    realm_release(realm);
    realm = fresh;
    give_back();
    build();
}

/* ---- Primary keys, embedded classes, links -------------------------------------------------------- */

static void primary_keys(void) {
    bool created, found = true;
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_MISSING_PRIMARY_KEY, realm_object_create(realm, pk_int));
    FAILS(RLM_ERR_MISSING_PRIMARY_KEY, realm_object_create(realm, pk_string));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_create_with_primary_key(realm, plain_class, integer(1)));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_get_or_create_with_primary_key(realm, plain_class, integer(1), &created));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_create_with_primary_key(realm, plain_class, null_value()));
    struct { realm_class_key_t table; realm_value_t value; } good[] = {
        {pk_int, integer(-5)}, {pk_string, text("key")}, {pk_string, text("")}, {pk_null, null_value()}, {pk_null, integer(0)},
        {pk_oid, of_type(RLM_TYPE_OBJECT_ID)}, {pk_uuid, of_type(RLM_TYPE_UUID)}};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        realm_object_t* o = realm_object_create_with_primary_key(realm, good[k].table, good[k].value);
        CHECK(o != NULL);
        FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS, realm_object_create_with_primary_key(realm, good[k].table, good[k].value));
        realm_object_t* same = realm_object_get_or_create_with_primary_key(realm, good[k].table, good[k].value, &created);
        CHECK(same && !created && realm_equals(same, o));
        realm_release(same);
        same = realm_object_find_with_primary_key(realm, good[k].table, good[k].value, &found);
        CHECK(same && found && realm_equals(same, o));
        realm_release(same);
        realm_release(o);
    }
    realm_class_key_t tables[] = {pk_int, pk_string, pk_oid, pk_uuid};
    int types[] = {RLM_TYPE_INT, RLM_TYPE_STRING, RLM_TYPE_OBJECT_ID, RLM_TYPE_UUID};
    for (size_t k = 0; k < 4; k++) {
        FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_object_create_with_primary_key(realm, tables[k], null_value()));
        FAILS(RLM_ERR_PROPERTY_NOT_NULLABLE, realm_object_get_or_create_with_primary_key(realm, tables[k], null_value(), &created));
        for (int t = 1; t < 12; t++) {
            if (t == types[k]) continue;
            realm_value_t v = t == RLM_TYPE_STRING ? text("x") : t == RLM_TYPE_BINARY ? binary((const uint8_t*)"x", 1) : of_type(t);
            FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_object_create_with_primary_key(realm, tables[k], v));
            FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_object_get_or_create_with_primary_key(realm, tables[k], v, &created));
            QUIET(realm_object_find_with_primary_key(realm, tables[k], v, &found));
            CHECK(!found);
        }
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_object_create_with_primary_key(realm, tables[k], of_type(50)));
        QUIET(realm_object_find_with_primary_key(realm, tables[k], null_value(), &found));
    }
    QUIET(realm_object_find_with_primary_key(realm, plain_class, integer(1), &found));
    QUIET(realm_object_find_with_primary_key(realm, pk_int, integer(987654321), &found));
    CHECK(!found);
    WORKS(realm_rollback(realm));
}
static void embedded_and_links(void) {
    realm_object_t* parent = NULL;
    realm_object_key_t plain_key = realm_object_get_key(object), target_key = realm_object_get_key(target);
    WORKS(realm_begin_write(realm));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_object_create(realm, embedded_class));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY, realm_object_create_with_primary_key(realm, embedded_class, integer(1)));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_value(object, key("emb"), link_to(embedded_class, 0), false));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_set_value(object, key("m"), link_to(embedded_class, 0), false));
    WORKS(realm_set_value(object, key("emb"), null_value(), false));
    FAILS(RLM_ERR_TOP_LEVEL_OBJECT, realm_object_get_parent(object, &parent, NULL));
    FAILS(RLM_ERR_TOP_LEVEL_OBJECT, realm_object_get_parent(object, NULL, NULL));
    static const realm_object_key_t nobody[] = {-2, 999, INT64_MAX, INT64_MIN}; /* −1 means a null link */
    for (size_t k = 0; k < 4; k++) {
        FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, key("link"), link_to(target_class, nobody[k]), false));
        FAILS(RLM_ERR_NO_SUCH_OBJECT, realm_set_value(object, key("m"), link_to(target_class, nobody[k]), false));
    }
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(object, key("link"), link_to(plain_class, plain_key), false));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(object, key("link"), link_to(RLM_INVALID_CLASS_KEY, 0), false));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, realm_set_value(object, key("i"), link_to(target_class, target_key), false));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_set_value(object, key("m"), link_to(0x12345, 0), false));
    realm_value_t v;
    WORKS(realm_get_value(object, key("link"), &v)); /* none of the refused values was written */
    CHECK(v.type == RLM_TYPE_LINK && v.link.target == target_key && v.link.target_table == target_class);
    WORKS(realm_rollback(realm));
}

/* ---- Schemas ------------------------------------------------------------------------------------ */

/* The draft must be refused, with this text somewhere in the message, by validation and by an open. */
static void refused(int line, const char* rule, uint64_t mode, const char* fragment) {
    realm_schema_t* s = finish();
    char what[200];
    snprintf(what, sizeof what, "schema: %s", rule);
    realm_clear_last_error();
    bool gone_wrong = s && !realm_schema_validate(s, mode);
    realm_error_t error;
    memset(&error, 0, sizeof error);
    bool named = realm_get_last_error(&error) && error.message && strstr(error.message, fragment) != NULL;
    if (gone_wrong && !named) printf("message: %s\n", error.message ? error.message : "none");
    expect(line, what, gone_wrong, RLM_ERR_SCHEMA_VALIDATION_FAILED);
    result(named, line, what, "the message does not name the culprit");
    if (mode == 0) {
        realm_clear_last_error();
        realm_config_t* c = config_for(path_of("refused.realm"), s, 1, RLM_SCHEMA_MODE_AUTOMATIC);
        realm_t* r = realm_open(c);
        expect(line, what, r == NULL, RLM_ERR_SCHEMA_VALIDATION_FAILED);
        realm_release(r), realm_release(c);
        struct stat info;
        result(stat(path_of("refused.realm"), &info) != 0, line, what, "a file was made");
        realm_delete_files(path_of("refused.realm"), NULL);
    }
    realm_release(s);
}
#define INVALID_SCHEMA(rule, fragment) refused(__LINE__, rule, 0, fragment)
#define INVALID_IN_MODE(rule, mode, fragment) refused(__LINE__, rule, mode, fragment)
static void accepted(int line, const char* rule, uint64_t mode) {
    realm_schema_t* s = finish();
    realm_clear_last_error();
    bool good = s && realm_schema_validate(s, mode);
    realm_error_t error;
    memset(&error, 0, sizeof error);
    realm_get_last_error(&error);
    result(good, line, rule, error.message ? error.message : "");
    realm_release(s);
}
#define VALID_SCHEMA(rule) accepted(__LINE__, rule, 0)

static void one_property(realm_property_info_t p) {
    start();
    add_class("A", "", 0);
    add(p);
    add_class("Other", "", 0);
    add(property("x", INT, ONE, "", 0));
    add(property("a", LINK, ONE, "A", NULLABLE));
    add_class("Emb", "", RLM_CLASS_EMBEDDED);
    add(property("x", INT, ONE, "", 0));
}
static void schema_rules(void) {
    start();
    add_class("A", "", 0), add(property("x", INT, ONE, "", 0));
    add_class("A", "", 0), add(property("y", INT, ONE, "", 0));
    INVALID_SCHEMA("class twice", "A");
    start();
    add_class("A", "", 0), add(property("p", INT, ONE, "", 0)), add(property("p", STRING, ONE, "", 0));
    INVALID_SCHEMA("property twice", "p");
    start();
    add_class("A", "", 0), add(property("p", LINK, ONE, "A", NULLABLE)), add(computed("p", "A", "p"));
    INVALID_SCHEMA("stored and computed property of one name", "p");
    start();
    add_class("A", "", 0), add(alias("z", property("p", INT, ONE, "", 0))), add(alias("z", property("q", INT, ONE, "", 0)));
    INVALID_SCHEMA("alias twice", "z");
    start();
    add_class("A", "", 0), add(alias("q", property("p", INT, ONE, "", 0))), add(property("q", INT, ONE, "", 0));
    INVALID_SCHEMA("alias is the name of another", "q");
    start();
    add_class("A", "", 0), add(alias("p", property("p", INT, ONE, "", 0)));
    INVALID_SCHEMA("alias is the own name", "p");

    one_property(property("p", LINK, LIST, "Other", NULLABLE)), INVALID_SCHEMA("nullable list of objects", "A.p");
    one_property(property("p", LINK, SET, "Other", NULLABLE)), INVALID_SCHEMA("nullable set of objects", "A.p");
    one_property(property("p", LINK, ONE, "Other", 0)), INVALID_SCHEMA("required link", "A.p");
    one_property(property("p", LINK, DICTIONARY, "Other", 0)), INVALID_SCHEMA("required links in a dictionary", "A.p");
    one_property(property("p", MIXED, ONE, "", 0)), INVALID_SCHEMA("required Mixed", "A.p");
    one_property(property("p", MIXED, LIST, "", 0)), INVALID_SCHEMA("list of required Mixed", "A.p");
    one_property(property("p", MIXED, SET, "", 0)), INVALID_SCHEMA("set of required Mixed", "A.p");
    one_property(property("p", MIXED, DICTIONARY, "", 0)), INVALID_SCHEMA("dictionary of required Mixed", "A.p");
    start();
    add_class("A", "", 0), add(property("to", LINK, ONE, "A", NULLABLE));
    { realm_property_info_t p = computed("from", "A", "to"); p.flags = NULLABLE; add(p); }
    INVALID_SCHEMA("nullable linking objects", "A.from");

    static const int no_keys[] = {BOOL, BINARY, DATE, FLOAT, DOUBLE, DECIMAL, MIXED};
    for (size_t k = 0; k < 7; k++) {
        one_property(property("p", no_keys[k], ONE, "", PRIMARY | (no_keys[k] == MIXED ? NULLABLE : 0)));
        draft.classes[0].primary_key = "p";
        INVALID_SCHEMA("type of a primary key", "A.p");
    }
    static const int shapes[] = {LIST, SET, DICTIONARY};
    for (size_t k = 0; k < 12; k++) {
        static const int types[] = {INT, STRING, OID, UUID};
        one_property(property("p", types[k % 4], shapes[k / 4], "", PRIMARY));
        draft.classes[0].primary_key = "p";
        INVALID_SCHEMA("collection as primary key", "A.p");
    }
    one_property(property("p", LINK, ONE, "Other", PRIMARY | NULLABLE)), draft.classes[0].primary_key = "p";
    INVALID_SCHEMA("link as primary key", "A.p");
    static const int keys[] = {INT, STRING, OID, UUID};
    for (size_t k = 0; k < 4; k++) {
        one_property(property("p", keys[k], ONE, "", PRIMARY | (k % 2 ? NULLABLE : 0)));
        draft.classes[0].primary_key = "p";
        VALID_SCHEMA("type of a primary key");
    }
    start();
    add_class("A", "p", 0), add(property("p", INT, ONE, "", PRIMARY)), add(property("q", INT, ONE, "", PRIMARY));
    INVALID_SCHEMA("two primary keys", "q");
    static const int no_index[] = {BINARY, FLOAT, DOUBLE, DECIMAL};
    for (size_t k = 0; k < 4; k++) one_property(property("p", no_index[k], ONE, "", INDEXED)), INVALID_SCHEMA("type of an index", "A.p");
    one_property(property("p", INT, LIST, "", INDEXED)), INVALID_SCHEMA("index of a list of int", "A.p");
    one_property(property("p", STRING, SET, "", INDEXED)), INVALID_SCHEMA("index of a set of string", "A.p");
    one_property(property("p", STRING, DICTIONARY, "", INDEXED)), INVALID_SCHEMA("index of a dictionary", "A.p");
    one_property(property("p", LINK, ONE, "Other", INDEXED | NULLABLE)), INVALID_SCHEMA("index of a link", "A.p");
    static const int indexes[] = {INT, BOOL, DATE, STRING, OID, UUID};
    for (size_t k = 0; k < 6; k++) one_property(property("p", indexes[k], ONE, "", INDEXED)), VALID_SCHEMA("type of an index");
    one_property(property("p", MIXED, ONE, "", INDEXED | NULLABLE)), VALID_SCHEMA("index of Mixed");
    one_property(property("p", STRING, LIST, "", INDEXED)), VALID_SCHEMA("index of a list of string");
    one_property(property("p", STRING, LIST, "", INDEXED | NULLABLE)), VALID_SCHEMA("index of a list of nullable string");

    one_property(computed("p", "Other", "a")), VALID_SCHEMA("linking objects");
    one_property(computed("p", "Other", "a")), draft.properties[0][0].collection_type = RLM_COLLECTION_TYPE_NONE;
    INVALID_SCHEMA("linking objects that are no list", "A.p");
    one_property(computed("p", "Other", "")), INVALID_SCHEMA("linking objects without origin", "A.p");
    one_property(computed("p", "Other", "nothing")), INVALID_SCHEMA("origin missing", "nothing");
    one_property(computed("p", "Other", "x")), INVALID_SCHEMA("origin is no link", "x");
    one_property(computed("p", "Nobody", "a")), INVALID_SCHEMA("linking objects of an unknown class", "Nobody");
    start();
    add_class("A", "", 0), add(property("i", INT, ONE, "", 0)), add(computed("p", "B", "b"));
    add_class("B", "", 0), add(property("b", LINK, ONE, "B", NULLABLE));
    INVALID_SCHEMA("origin links elsewhere", "A.p");
    one_property(property("p", INT, ONE, "", 0)), draft.properties[0][0].link_origin_property_name = "a";
    INVALID_SCHEMA("origin on another type", "A.p");
    one_property(property("p", INT, ONE, "Other", 0)), INVALID_SCHEMA("target on another type", "A.p");
    one_property(property("p", LINK, ONE, "Nobody", NULLABLE)), INVALID_SCHEMA("target unknown", "Nobody");
    one_property(property("p", LINK, ONE, "", NULLABLE)), INVALID_SCHEMA("target empty", "A.p");
    one_property(property("p", LINK, SET, "Emb", 0)), INVALID_SCHEMA("set of embedded objects", "A.p");

    start();
    add_class("A", "", RLM_CLASS_EMBEDDED), add(property("p", INT, ONE, "", PRIMARY));
    draft.classes[0].primary_key = "p";
    INVALID_SCHEMA("embedded class with a primary key", "A");
    start();
    add_class("A", "nothing", 0), add(property("p", INT, ONE, "", 0));
    INVALID_SCHEMA("primary key that is no property", "nothing");
    start();
    add_class("A", "", RLM_CLASS_ASYMMETRIC), add(property("p", INT, ONE, "", 0));
    INVALID_SCHEMA("asymmetric class", "A");
    start();
    add_class("A", "_id", 0), add(property("_id", INT, ONE, "", PRIMARY)), add(property("p", LINK, ONE, "B", NULLABLE));
    add_class("B", "_id", RLM_CLASS_ASYMMETRIC), add(property("_id", INT, ONE, "", PRIMARY));
    INVALID_IN_MODE("link to an asymmetric class", 4, "A.p");
    start();
    add_class("A", "id", 0), add(property("id", INT, ONE, "", PRIMARY));
    INVALID_IN_MODE("primary key not named _id, partition sync", 1, "_id");
    INVALID_IN_MODE("primary key not named _id, flexible sync", 4, "_id");
    VALID_SCHEMA("primary key not named _id, locally");

    start();
    add_class("A", "", RLM_CLASS_EMBEDDED), add(property("p", LINK, ONE, "A", NULLABLE));
    INVALID_SCHEMA("embedded class in itself", "A.p");
    start();
    add_class("A", "", RLM_CLASS_EMBEDDED), add(property("p", LINK, LIST, "B", 0));
    add_class("B", "", RLM_CLASS_EMBEDDED), add(property("q", LINK, DICTIONARY, "A", NULLABLE));
    INVALID_SCHEMA("two embedded classes in each other", ".q");
    start();
    add_class("A", "", RLM_CLASS_EMBEDDED), add(property("p", LINK, ONE, "Top", NULLABLE));
    add_class("Top", "", 0), add(property("q", LINK, ONE, "A", NULLABLE));
    VALID_SCHEMA("a circle through a top-level class");
    start();
    add_class("A", "", RLM_CLASS_EMBEDDED), add(property("p", INT, ONE, "", 0));
    INVALID_IN_MODE("embedded class that nothing leads to", 2, "A");
    VALID_SCHEMA("the same without the bit");

    /* All problems are reported at once. */
    start();
    add_class("A", "nothing", 0), add(property("p", MIXED, ONE, "", 0)), add(property("q", FLOAT, ONE, "", INDEXED));
    realm_schema_t* s = finish();
    realm_clear_last_error();
    CHECK(!realm_schema_validate(s, 0));
    realm_error_t error;
    CHECK(realm_get_last_error(&error) && strstr(error.message, "A.p") && strstr(error.message, "A.q") && strstr(error.message, "nothing"));
    realm_release(s);
}
/* Names and a few kinds of index, which only the creation of tables refuses. */
static int creation_error(void) {
    realm_schema_t* s = finish();
    const char* path = path_of("creation.realm");
    bool deleted_it;
    realm_delete_files(path, &deleted_it);
    realm_config_t* c = config_for(path, s, 1, RLM_SCHEMA_MODE_AUTOMATIC);
    realm_clear_last_error();
    realm_t* r = realm_open(c);
    int number = r ? 0 : last_error();
    if (r) realm_close(r);
    realm_release(r), realm_release(c), realm_release(s);
    realm_clear_last_error();
    return number;
}
#define CREATION(number, name)                                                                    \
    do {                                                                                          \
        int got_number = creation_error();                                                        \
        char number_text[40];                                                                     \
        snprintf(number_text, sizeof number_text, "%d instead of %d", got_number, (int)(number)); \
        result(got_number == (int)(number), __LINE__, name, number_text);                         \
    } while (0)
static void creation_rules(void) {
    char name[300];
    memset(name, 'n', sizeof name);
    name[255] = 0;
    start(), add_class(name, "", 0), add(property("x", INT, ONE, "", 0));
    CREATION(0, "class name of 255 bytes");
    name[255] = 'n', name[256] = 0;
    start(), add_class(name, "", 0), add(property("x", INT, ONE, "", 0));
    CREATION(RLM_ERR_INVALID_NAME, "class name of 256 bytes");
    name[255] = 0;
    start(), add_class("A", "", 0), add(property(name, INT, ONE, "", 0));
    CREATION(0, "property name of 255 bytes");
    start(), add_class("A", name, 0), add(property(name, INT, ONE, "", PRIMARY));
    CREATION(0, "primary key name of 255 bytes");
    name[255] = 'n', name[256] = 0;
    start(), add_class("A", "", 0), add(property(name, INT, ONE, "", 0));
    CREATION(RLM_ERR_INVALID_NAME, "property name of 256 bytes");
    start(), add_class("A", name, 0), add(property(name, INT, ONE, "", PRIMARY));
    CREATION(RLM_ERR_INVALID_NAME, "primary key name of 256 bytes");
    /* 85 characters of three bytes make 255. */
    char wide[300] = "";
    for (int i = 0; i < 85; i++) strcat(wide, "\xe6\x97\xa5");
    start(), add_class(wide, "", 0), add(property("x", INT, ONE, "", 0));
    CREATION(0, "class name of 85 wide characters");
    strcat(wide, "\xe6\x97\xa5");
    start(), add_class(wide, "", 0), add(property("x", INT, ONE, "", 0));
    CREATION(RLM_ERR_INVALID_NAME, "class name of 86 wide characters");
    start(), add_class("A", "", 0), add(property("", INT, ONE, "", 0));
    CREATION(RLM_ERR_INVALID_NAME, "empty property name");
    start(), add_class("", "", 0), add(property("x", INT, ONE, "", 0));
    CREATION(0, "empty class name");
    start(), add_class("A", "", 0);
    CREATION(0, "class without properties");
    start(), add_class("A", "", 0), add(property("x", INT, ONE, "", FULL_TEXT));
    CREATION(RLM_ERR_ILLEGAL_OPERATION, "full-text index of int");
    start(), add_class("A", "", 0), add(property("x", BINARY, ONE, "", FULL_TEXT));
    CREATION(RLM_ERR_ILLEGAL_OPERATION, "full-text index of binary");
    start(), add_class("A", "", 0), add(property("x", STRING, ONE, "", FULL_TEXT));
    CREATION(0, "full-text index of string");
    start(), add_class("A", "", 0), add(property("x", STRING, LIST, "", FULL_TEXT));
    CREATION(0, "full-text index of a list of string");
    start(), add_class("A", "", 0), add(property("x", STRING, ONE, "", FULL_TEXT | INDEXED));
    CREATION(0, "both kinds of index");
    start(), add_class("A", "x", 0), add(property("x", STRING, ONE, "", FULL_TEXT | PRIMARY));
    CREATION(0, "full-text index on a primary key");
    start(), add_class("A", "x", 0), add(property("x", INT, ONE, "", 0));
    CREATION(RLM_ERR_INVALID_NAME, "primary key without the flag");
    start(), add_class("A", "", 0), add(property("x", INT, ONE, "", PRIMARY));
    CREATION(0, "the flag without a primary key");
    start(), add_class("A", "", 0), add(property("l", LINK, ONE, "A", NULLABLE));
    draft.properties[0][1] = computed("c", "A", "l");
    draft.classes[0].num_properties = 2; /* linking objects among the stored properties */
    CHECK(creation_error() != 0);
}

/* ---- Opening ------------------------------------------------------------------------------------ */

static realm_schema_t* small_schema(int type, int flags, bool more) {
    start();
    add_class("A", "", 0);
    add(property("x", type, ONE, "", flags));
    if (more) add(property("y", INT, ONE, "", 0));
    return finish();
}
static int open_error(const char* path, realm_schema_t* s, uint64_t version, int mode) {
    realm_clear_last_error();
    realm_t* r = open_with(path, s, version, mode);
    int number = r ? 0 : last_error();
    realm_error_t error;
    memset(&error, 0, sizeof error);
    if (!r && realm_get_last_error(&error) && error.categories & RLM_ERR_CAT_FILE_ACCESS)
        result(error.path && !strcmp(error.path, path), __LINE__, "the error names the file", error.path ? error.path : "NULL");
    if (r) realm_close(r);
    realm_release(r);
    return number;
}
#define OPENS(number, path, schema, version, mode)                                                \
    do {                                                                                          \
        int got_number = open_error(path, schema, version, mode);                                 \
        char number_text[60];                                                                     \
        snprintf(number_text, sizeof number_text, "%d instead of %d", got_number, (int)(number)); \
        result(got_number == (int)(number), __LINE__, "open " #path " " #schema " " #mode, number_text); \
    } while (0)
/* The bytes of a plain file with another format number for the live slot. */
static void patch_format(const char* from, const char* to, uint8_t format) {
    FILE* f = fopen(from, "rb");
    static uint8_t bytes[1 << 20];
    size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f) fclose(f);
    if (n < 24) { printf("cannot read %s\n", from); exit(2); }
    bytes[20 + (bytes[23] & 1)] = format;
    write_bytes(to, bytes, n);
}
static int init_calls;
static bool init_counts(realm_userdata_t userdata, realm_t* r) { (void)userdata; init_calls++; return realm_is_writable(r); }

static void opening(void) {
    enum { AUTOMATIC = RLM_SCHEMA_MODE_AUTOMATIC, IMMUTABLE = RLM_SCHEMA_MODE_IMMUTABLE, READ_ONLY = RLM_SCHEMA_MODE_READ_ONLY,
           ADDITIVE = RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT, DISCOVERED = RLM_SCHEMA_MODE_ADDITIVE_DISCOVERED, MANUAL = RLM_SCHEMA_MODE_MANUAL };
    const char* path = path_of("opening.realm");
    OPENS(0, path, small_schema(INT, 0, false), 5, AUTOMATIC);
    OPENS(0, path, small_schema(INT, 0, false), 5, AUTOMATIC);
    OPENS(RLM_ERR_ILLEGAL_COMBINATION, path, small_schema(INT, 0, false), UINT64_MAX, AUTOMATIC);
    OPENS(RLM_ERR_INVALID_SCHEMA_VERSION, path, small_schema(INT, 0, false), 4, AUTOMATIC);
    OPENS(RLM_ERR_INVALID_SCHEMA_VERSION, path, small_schema(INT, 0, false), 4, IMMUTABLE);
    OPENS(RLM_ERR_INVALID_SCHEMA_VERSION, path, small_schema(INT, 0, false), 6, IMMUTABLE);
    OPENS(RLM_ERR_INVALID_SCHEMA_VERSION, path, small_schema(INT, 0, false), 4, MANUAL);
    OPENS(0, path, small_schema(INT, 0, false), 4, READ_ONLY);
    OPENS(RLM_ERR_SCHEMA_MISMATCH, path, small_schema(INT, 0, true), 5, AUTOMATIC);
    OPENS(RLM_ERR_SCHEMA_MISMATCH, path, small_schema(INT, 0, true), 5, MANUAL);
    OPENS(RLM_ERR_SCHEMA_MISMATCH, path, small_schema(INT, 0, true), 6, MANUAL);
    OPENS(RLM_ERR_SCHEMA_MISMATCH, path, small_schema(STRING, 0, false), 5, AUTOMATIC);
    OPENS(RLM_ERR_SCHEMA_MISMATCH, path, small_schema(INT, NULLABLE, false), 5, AUTOMATIC);
    OPENS(RLM_ERR_INVALID_SCHEMA_CHANGE, path, small_schema(INT, 0, true), 5, IMMUTABLE);
    OPENS(RLM_ERR_INVALID_SCHEMA_CHANGE, path, small_schema(INT, 0, true), 5, READ_ONLY);
    OPENS(RLM_ERR_INVALID_SCHEMA_CHANGE, path, small_schema(INT, NULLABLE, false), 5, READ_ONLY);
    OPENS(RLM_ERR_INVALID_SCHEMA_CHANGE, path, small_schema(STRING, 0, false), 5, ADDITIVE);
    OPENS(RLM_ERR_INVALID_SCHEMA_CHANGE, path, small_schema(STRING, 0, false), 6, DISCOVERED);
    OPENS(RLM_ERR_INVALID_SCHEMA_CHANGE, path, small_schema(INT, NULLABLE, false), 6, ADDITIVE);
    start(), add_class("A", "", 0), add(property("x", INT, ONE, "", 0)), add_class("E", "", RLM_CLASS_EMBEDDED), add(property("x", INT, ONE, "", 0));
    OPENS(RLM_ERR_SCHEMA_VALIDATION_FAILED, path, finish(), 5, ADDITIVE);
    OPENS(0, path, small_schema(INT, 0, false), 5, AUTOMATIC); /* nothing has changed the file */

    OPENS(RLM_ERR_FILE_NOT_FOUND, path_of("missing.realm"), NULL, 0, IMMUTABLE);
    OPENS(RLM_ERR_FILE_NOT_FOUND, path_of("missing.realm"), small_schema(INT, 0, false), 1, IMMUTABLE);
    OPENS(RLM_ERR_FILE_NOT_FOUND, path_of("no/such/folder.realm"), NULL, 0, AUTOMATIC);
    mkdir(path_of("a-folder"), 0700);
    OPENS(RLM_ERR_FILE_OPERATION_FAILED, path_of("a-folder"), NULL, 0, AUTOMATIC);
    if (geteuid() != 0) {
        const char* locked = path_of("locked.realm");
        write_bytes(locked, "", 0);
        chmod(locked, 0);
        OPENS(RLM_ERR_FILE_PERMISSION_DENIED, locked, NULL, 0, AUTOMATIC);
        OPENS(RLM_ERR_FILE_PERMISSION_DENIED, locked, NULL, 0, IMMUTABLE);
    }
    realm_config_t* c = realm_config_new();
    FAILS(RLM_ERR_FILE_NOT_FOUND, realm_open(c)); /* the empty path */
    realm_release(c);

    static uint8_t junk[8192];
    for (size_t i = 0; i < sizeof junk; i++) junk[i] = (uint8_t)(i * 7 + 3);
    const char* broken = path_of("broken.realm");
    static const size_t sizes[] = {1, 5, 23, 24, 25, 31, 32, 100, 4096, 8192};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        write_bytes(broken, junk, sizes[k]);
        OPENS(RLM_ERR_INVALID_DATABASE, broken, NULL, 0, AUTOMATIC);
        OPENS(RLM_ERR_INVALID_DATABASE, broken, NULL, 0, IMMUTABLE);
    }
    write_bytes(broken, "", 0);
    OPENS(RLM_ERR_INVALID_DATABASE, broken, NULL, 0, IMMUTABLE);
    static const uint8_t formats[] = {1, 9, 12, 19, 25, 99, 255};
    for (size_t k = 0; k < sizeof formats; k++) {
        patch_format(path_of("opening.realm"), broken, formats[k]);
        OPENS(RLM_ERR_UNSUPPORTED_FILE_FORMAT_VERSION, broken, NULL, 0, AUTOMATIC);
    }
    patch_format(path_of("opening.realm"), broken, 23);
    OPENS(0, broken, NULL, 0, IMMUTABLE); /* an older format is read without an upgrade */
    c = config_for(broken, NULL, 0, AUTOMATIC);
    realm_config_set_disable_format_upgrade(c, true);
    FAILS(RLM_ERR_FILE_FORMAT_UPGRADE_REQUIRED, realm_open(c));
    WORKS(realm_config_needs_file_format_upgrade(c));
    realm_config_set_path(c, path_of("opening.realm"));
    QUIET(realm_config_needs_file_format_upgrade(c));
    realm_config_set_path(c, path_of("missing.realm"));
    QUIET(realm_config_needs_file_format_upgrade(c));
    write_bytes(broken, junk, 100);
    realm_config_set_path(c, broken);
    FAILS(RLM_ERR_INVALID_DATABASE, realm_config_needs_file_format_upgrade(c));
    SETS(RLM_ERR_INVALID_DATABASE, realm_get_persisted_schema_version(c));
    realm_release(c);

    /* Settings that exclude each other. */
    uint8_t secret[64] = {1};
    c = config_for(path_of("combination.realm"), NULL, 0, AUTOMATIC);
    WORKS(realm_config_set_encryption_key(c, secret, 64));
    realm_config_set_in_memory(c, true);
    FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(c));
    realm_release(c);
    static const int fixed[] = {IMMUTABLE, READ_ONLY, ADDITIVE, DISCOVERED};
    for (size_t k = 0; k < 4; k++) {
        realm_schema_t* s = small_schema(INT, 0, false);
        free_count = 0;
        c = config_for(path_of("combination.realm"), s, 1, fixed[k]);
        realm_config_set_migration_function(c, migrates, c, count_free);
        FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(c));
        realm_config_set_migration_function(c, NULL, c, count_free);
        realm_config_set_data_initialization_function(c, init_counts, c, count_free);
        if (k < 2) FAILS(RLM_ERR_ILLEGAL_COMBINATION, realm_open(c));
        realm_release(c);
        CHECK(free_count == 1);
        realm_release(s);
    }
    struct stat info;
    CHECK(stat(path_of("combination.realm"), &info) != 0);

    /* The initialization function fails. */
    int user_error = 0;
    realm_schema_t* s = small_schema(INT, 0, false);
    c = config_for(path_of("initialized.realm"), s, 3, AUTOMATIC);
    realm_config_set_data_initialization_function(c, init_fails, &user_error, NULL);
    realm_clear_last_error();
    CHECK(realm_open(c) == NULL);
    realm_error_t error;
    memset(&error, 0, sizeof error);
    CHECK(realm_get_last_error(&error) && error.error == RLM_ERR_CALLBACK && error.categories == RLM_ERR_CAT_RUNTIME);
    CHECK(error.user_code_error == &user_error);
    realm_clear_last_error();
    CHECK(realm_get_persisted_schema_version(c) == UINT64_MAX && last_error() == 0);
    init_calls = 0;
    realm_config_set_data_initialization_function(c, init_counts, NULL, NULL);
    realm_t* r = realm_open(c);
    CHECK(r && init_calls == 1);
    WORKS(realm_close(r));
    realm_release(r);
    r = realm_open(c);
    CHECK(r && init_calls == 1);
    CHECK(realm_get_persisted_schema_version(c) == 3);

    /* The same path with another config. */
    FAILS(RLM_ERR_DELETE_OPENED_REALM, realm_delete_files(path_of("initialized.realm"), NULL));
    OPENS(RLM_ERR_MISMATCHED_CONFIG, path_of("initialized.realm"), NULL, 0, IMMUTABLE);
    OPENS(RLM_ERR_MISMATCHED_CONFIG, path_of("initialized.realm"), NULL, 0, MANUAL);
    OPENS(RLM_ERR_MISMATCHED_CONFIG, path_of("initialized.realm"), small_schema(INT, 0, false), 4, AUTOMATIC);
    OPENS(RLM_ERR_MISMATCHED_CONFIG, path_of("initialized.realm"), small_schema(INT, 0, false), 2, AUTOMATIC);
    realm_config_t* other = config_for(path_of("initialized.realm"), NULL, 0, AUTOMATIC);
    realm_config_set_in_memory(other, true);
    FAILS(RLM_ERR_MISMATCHED_CONFIG, realm_open(other));
    realm_config_set_in_memory(other, false);
    WORKS(realm_config_set_encryption_key(other, secret, 64));
    FAILS(RLM_ERR_MISMATCHED_CONFIG, realm_open(other));
    realm_release(other);
    OPENS(0, path_of("initialized.realm"), NULL, 0, AUTOMATIC);

    /* Too many versions. */
    other = config_for(path_of("initialized.realm"), NULL, 0, AUTOMATIC);
    realm_config_set_max_number_of_active_versions(other, 2);
    realm_t* limited = realm_open(other);
    CHECK(limited != NULL);
    WORKS(realm_begin_read(r)); /* holds its version from now on */
    int commits = 0;
    while (commits < 10 && realm_begin_write(limited)) {
        if (!realm_commit(limited)) break;
        commits++;
    }
    CHECK(commits < 10);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(limited));
    WORKS(realm_close(r));
    WORKS(realm_close(limited));
    realm_release(limited), realm_release(other), realm_release(r), realm_release(c), realm_release(s);

    /* Realms that cannot be written. */
    r = open_with(path_of("initialized.realm"), NULL, 0, IMMUTABLE);
    CHECK(r != NULL);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(r));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_refresh(r, NULL));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(r));
    WORKS(realm_close(r));
    realm_release(r);
    r = open_with(path_of("initialized.realm"), NULL, 0, READ_ONLY);
    CHECK(r != NULL);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(r));
    WORKS(realm_refresh(r, NULL));
    WORKS(realm_close(r));
    realm_release(r);

    /* Deleting. */
    bool did = false;
    WORKS(realm_delete_files(path_of("initialized.realm"), &did));
    CHECK(did);
    did = true;
    WORKS(realm_delete_files(path_of("initialized.realm"), &did));
    CHECK(did); /* keeps its old value */
    WORKS(realm_delete_files(path_of("no/such/folder.realm"), &did));
    CHECK(!did);
}

/* ---- Changing collections ------------------------------------------------------------------------- */

/* An object as text, to compare before and after. The texts of the last eight calls stay valid. */
static const char* shown(realm_object_t* o) {
    static char* texts[8];
    static int next;
    next = (next + 1) % 8;
    realm_free(texts[next]);
    texts[next] = realm_object_to_string(o);
    CHECK(texts[next] != NULL);
    return texts[next] ? texts[next] : "";
}
static size_t size_of_list(realm_list_t* l) {
    size_t n = SIZE_MAX;
    WORKS(realm_list_size(l, &n));
    return n;
}
static size_t size_of_set(realm_set_t* e) {
    size_t n = SIZE_MAX;
    WORKS(realm_set_size(e, &n));
    return n;
}
static size_t size_of_map(realm_dictionary_t* d) {
    size_t n = SIZE_MAX;
    WORKS(realm_dictionary_size(d, &n));
    return n;
}
static size_t count_of_class(realm_class_key_t c) {
    size_t n = SIZE_MAX;
    WORKS(realm_get_num_objects(realm, c, &n));
    return n;
}
/* Puts a few elements into each collection of the stage, inside a write transaction that is rolled back. */
static void fill_stage(void) {
    realm_value_t link = link_to(target_class, realm_object_get_key(target));
    for (int k = 0; k < 3; k++) {
        char name[20];
        snprintf(name, sizeof name, "k%d", k);
        WORKS(realm_list_insert(live.ints, (size_t)k, integer(k)));
        WORKS(realm_list_insert(live.texts, (size_t)k, text(name)));
        WORKS(realm_list_insert(live.mixeds, (size_t)k, k ? integer(k) : text("mixed")));
        WORKS(realm_list_insert(live.links, (size_t)k, link));
        realm_release(realm_list_insert_embedded(live.embeddeds, (size_t)k));
        WORKS(realm_set_insert(live.int_set, integer(k), NULL, NULL));
        WORKS(realm_set_insert(live.mixed_set, text(name), NULL, NULL));
        WORKS(realm_dictionary_insert(live.int_map, text(name), integer(k), NULL, NULL));
        WORKS(realm_dictionary_insert(live.mixed_map, text(name), integer(k), NULL, NULL));
        WORKS(realm_dictionary_insert(live.link_map, text(name), link, NULL, NULL));
        realm_release(realm_dictionary_insert_embedded(live.embedded_map, text(name)));
    }
    WORKS(realm_set_insert(live.link_set, link, NULL, NULL));
}
#define UNCHANGED(before) CHECK(!strcmp(before, shown(object)))

static void wrong_indexes(void) {
    static const size_t far[] = {4, 5, 1000, SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 2, SIZE_MAX / 2 + 1, (size_t)1 << 32, (size_t)1 << 31};
    for (int filled = 0; filled < 2; filled++) {
        WORKS(realm_begin_write(realm));
        if (filled) fill_stage();
        const char* before = shown(object);
        size_t embedded_before = count_of_class(embedded_class), n = filled ? 3 : 0;
        realm_value_t link = link_to(target_class, realm_object_get_key(target));
        for (size_t k = 0; k < sizeof far / sizeof *far + 1; k++) {
            size_t i = k < sizeof far / sizeof *far ? far[k] : n; /* n: valid for an insertion, but no element has it */
            if (i != n) {
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(live.ints, i, integer(1)));
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(live.texts, i, text("text")));
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(live.mixeds, i, text("text")));
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(live.mixeds, i, of_type(RLM_TYPE_LIST)));
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert(live.links, i, link));
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert_list(live.mixeds, i));
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert_dictionary(live.mixeds, i));
                FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_insert_embedded(live.embeddeds, i));
            }
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set(live.ints, i, integer(1)));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set(live.texts, i, text("text")));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set(live.mixeds, i, of_type(RLM_TYPE_DICTIONARY)));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set(live.links, i, link));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set_list(live.mixeds, i));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set_dictionary(live.mixeds, i));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_set_embedded(live.embeddeds, i));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_move(live.ints, i, 0));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_move(live.ints, 0, i));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_move(live.mixeds, i, i));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_erase(live.ints, i));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_erase(live.links, i));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_erase(live.embeddeds, i));
        }
        UNCHANGED(before);
        CHECK(count_of_class(embedded_class) == embedded_before);
        WORKS(crealm_verify(realm, NULL));
        WORKS(realm_rollback(realm));
    }
}

/* A value that each collection must refuse with the given error, or accept if the error is 0. */
static void value_refused(realm_value_t v, int ints, int texts, int mixeds, int links, int int_set, int mixed_set, int link_set) {
    const char* before = shown(object);
    size_t at;
    bool flag;
#define PUT(number, call) do { if (number) FAILS(number, call); } while (0)
    PUT(ints, realm_list_insert(live.ints, 1, v));
    PUT(ints, realm_list_set(live.ints, 1, v));
    PUT(ints, realm_list_insert(live.ints, 3, v));
    PUT(texts, realm_list_insert(live.texts, 1, v));
    PUT(texts, realm_list_set(live.texts, 1, v));
    PUT(mixeds, realm_list_insert(live.mixeds, 1, v));
    PUT(mixeds, realm_list_set(live.mixeds, 1, v));
    PUT(links, realm_list_insert(live.links, 1, v));
    PUT(links, realm_list_set(live.links, 1, v));
    PUT(int_set, realm_set_insert(live.int_set, v, &at, &flag));
    PUT(mixed_set, realm_set_insert(live.mixed_set, v, &at, &flag));
    PUT(link_set, realm_set_insert(live.link_set, v, &at, &flag));
    PUT(ints, realm_dictionary_insert(live.int_map, text("k1"), v, &at, &flag));
    PUT(ints, realm_dictionary_insert(live.int_map, text("new"), v, &at, &flag));
    PUT(mixeds, realm_dictionary_insert(live.mixed_map, text("k1"), v, &at, &flag));
    PUT(mixeds, realm_dictionary_insert(live.mixed_map, text("new"), v, &at, &flag));
    if (links != RLM_ERR_PROPERTY_NOT_NULLABLE) PUT(links, realm_dictionary_insert(live.link_map, text("new"), v, &at, &flag));
    UNCHANGED(before);
}
static void wrong_values(void) {
    enum { MISMATCH = RLM_ERR_PROPERTY_TYPE_MISMATCH, NO_NULL = RLM_ERR_PROPERTY_NOT_NULLABLE, ILLEGAL = RLM_ERR_ILLEGAL_OPERATION,
           ARGUMENT = RLM_ERR_INVALID_ARGUMENT, NOBODY = RLM_ERR_NO_SUCH_OBJECT, LIMIT = RLM_ERR_LIMIT_EXCEEDED };
    realm_object_key_t target_key = realm_object_get_key(target);
    bool flag = true;
    WORKS(realm_begin_write(realm));
    fill_stage();
    value_refused(null_value(), NO_NULL, NO_NULL, 0, NO_NULL, NO_NULL, 0, NO_NULL);
    value_refused(bytes_as_text(NULL, 0), NO_NULL, NO_NULL, 0, NO_NULL, NO_NULL, 0, NO_NULL);
    value_refused(bytes_as_text(NULL, SIZE_MAX), NO_NULL, NO_NULL, 0, NO_NULL, NO_NULL, 0, NO_NULL);
    value_refused(integer(1), 0, MISMATCH, 0, MISMATCH, 0, 0, MISMATCH);
    value_refused(text("text"), MISMATCH, 0, 0, MISMATCH, MISMATCH, 0, MISMATCH);
    static const int others[] = {RLM_TYPE_BOOL, RLM_TYPE_TIMESTAMP, RLM_TYPE_FLOAT, RLM_TYPE_DOUBLE, RLM_TYPE_DECIMAL128, RLM_TYPE_OBJECT_ID, RLM_TYPE_UUID};
    for (size_t k = 0; k < 7; k++) value_refused(of_type(others[k]), MISMATCH, MISMATCH, 0, MISMATCH, MISMATCH, 0, MISMATCH);
    value_refused(of_type(RLM_TYPE_LIST), MISMATCH, MISMATCH, 0, MISMATCH, MISMATCH, ILLEGAL, MISMATCH);
    value_refused(of_type(RLM_TYPE_DICTIONARY), MISMATCH, MISMATCH, 0, MISMATCH, MISMATCH, ILLEGAL, MISMATCH);
    static const int unknown[] = {14, 15, 99, -1, 255, 256, 1 << 30};
    for (size_t k = 0; k < 7; k++) value_refused(of_type(unknown[k]), ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT);
    static const char* const bad[] = {"\xff", "a\x80", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "abcdefgh\xfe"};
    for (size_t k = 0; k < 7; k++) value_refused(text(bad[k]), ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT);
    static const size_t huge[] = {SIZE_MAX, SIZE_MAX / 2 + 1, SIZE_MAX / 2, (size_t)1 << 62};
    for (size_t k = 0; k < 4; k++) {
        value_refused(bytes_as_text("text", huge[k]), ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT);
        value_refused(binary((const uint8_t*)"bytes", huge[k]), ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT, ARGUMENT);
    }
    value_refused(moment(1, -1), MISMATCH == 0, 0, ARGUMENT, 0, 0, ARGUMENT, 0);
    value_refused(moment(0, 1000000000), 0, 0, ARGUMENT, 0, 0, ARGUMENT, 0);
    /* Links to nothing, to another class, to an embedded object. */
    value_refused(link_to(target_class, RLM_INVALID_OBJECT_KEY), NO_NULL, NO_NULL, 0, NO_NULL, NO_NULL, 0, NO_NULL);
    static const realm_object_key_t nobody[] = {-2, 999, INT64_MAX, INT64_MIN};
    for (size_t k = 0; k < 4; k++) value_refused(link_to(target_class, nobody[k]), MISMATCH, MISMATCH, NOBODY, NOBODY, MISMATCH, NOBODY, NOBODY);
    value_refused(link_to(plain_class, realm_object_get_key(object)), MISMATCH, MISMATCH, 0, MISMATCH, MISMATCH, 0, MISMATCH);
    static const realm_class_key_t no_class[] = {RLM_INVALID_CLASS_KEY, 0x7ffffffe, 0xffffffff, 0x12345};
    for (size_t k = 0; k < 4; k++)
        value_refused(link_to(no_class[k], target_key), MISMATCH, MISMATCH, RLM_ERR_NO_SUCH_TABLE, MISMATCH, MISMATCH, RLM_ERR_NO_SUCH_TABLE, MISMATCH);
    realm_object_t* part = realm_list_get_linked_object(live.embeddeds, 0);
    CHECK(part != NULL);
    value_refused(link_to(embedded_class, realm_object_get_key(part)), MISMATCH, MISMATCH, ILLEGAL, MISMATCH, MISMATCH, ILLEGAL, MISMATCH);
    const char* before = shown(object);
    realm_value_t self = link_to(embedded_class, realm_object_get_key(part));
    FAILS(ILLEGAL, realm_list_insert(live.embeddeds, 0, self));
    FAILS(ILLEGAL, realm_list_set(live.embeddeds, 0, self));
    FAILS(ILLEGAL, realm_list_set(live.embeddeds, 1, self));
    FAILS(ILLEGAL, realm_dictionary_insert(live.embedded_map, text("k0"), self, NULL, NULL));
    FAILS(NO_NULL, realm_list_set(live.embeddeds, 0, null_value()));
    realm_release(part);
    /* The largest text and bytes, and one byte more. */
    size_t most = 0xFFFFF8 - 8;
    char* big = (char*)malloc(most + 1);
    memset(big, 'x', most + 1);
    FAILS(LIMIT, realm_list_insert(live.texts, 0, bytes_as_text(big, most)));
    FAILS(LIMIT, realm_list_set(live.texts, 0, bytes_as_text(big, most)));
    FAILS(LIMIT, realm_list_insert(live.mixeds, 0, bytes_as_text(big, most)));
    FAILS(LIMIT, realm_list_insert(live.mixeds, 0, binary((const uint8_t*)big, most + 1)));
    FAILS(LIMIT, realm_set_insert(live.mixed_set, bytes_as_text(big, most), NULL, NULL));
    FAILS(LIMIT, realm_dictionary_insert(live.mixed_map, text("k"), bytes_as_text(big, most), NULL, NULL));
    FAILS(LIMIT, realm_dictionary_insert(live.int_map, bytes_as_text(big, most), integer(1), NULL, NULL));
    UNCHANGED(before);
    WORKS(realm_list_insert(live.texts, 0, bytes_as_text(big, most - 1)));
    WORKS(realm_dictionary_insert(live.mixed_map, text("k"), binary((const uint8_t*)big, most), NULL, NULL));
    free(big);
    /* A value that a set cannot hold is not found in it. */
    realm_value_t absent[] = {null_value(), text("text"), of_type(RLM_TYPE_LIST), link_to(target_class, target_key), link_to(0x12345, 0), moment(1, -1)};
    for (size_t k = 0; k < 6; k++) {
        flag = true;
        WORKS(realm_set_erase(live.int_set, absent[k], &flag));
        CHECK(!flag);
        flag = true;
        if (k != 3) { WORKS(realm_set_erase(live.link_set, absent[k], &flag)); CHECK(!flag); }
    }
    FAILS(ARGUMENT, realm_set_erase(live.int_set, of_type(99), &flag));
    FAILS(ARGUMENT, realm_set_erase(live.mixed_set, text("\xff"), &flag));
    /* The functions for nested collections and embedded objects, on collections without them. */
    FAILS(ILLEGAL, realm_list_insert_list(live.ints, 0));
    FAILS(ILLEGAL, realm_list_insert_dictionary(live.links, 0));
    FAILS(ILLEGAL, realm_list_set_list(live.texts, 0));
    FAILS(ILLEGAL, realm_list_set_dictionary(live.embeddeds, 0));
    FAILS(ILLEGAL, realm_list_insert_embedded(live.ints, 0));
    FAILS(ILLEGAL, realm_list_insert_embedded(live.mixeds, 0));
    FAILS(ILLEGAL, realm_list_insert_embedded(live.links, 0));
    FAILS(ILLEGAL, realm_list_set_embedded(live.links, 0));
    FAILS(RLM_ERR_INVALID_DICTIONARY_VALUE, realm_dictionary_insert_list(live.int_map, text("k")));
    FAILS(RLM_ERR_INVALID_DICTIONARY_VALUE, realm_dictionary_insert_dictionary(live.link_map, text("k")));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_dictionary_insert_embedded(live.int_map, text("k")));
    FAILS(RLM_ERR_INVALID_TABLE_REF, realm_dictionary_insert_embedded(live.mixed_map, text("k")));
    static const char* const not_mixed[] = {"i", "s", "link", "emb", "l_m", "h_m", "e_m"};
    before = shown(object);
    for (size_t k = 0; k < 7; k++) {
        FAILS(MISMATCH, realm_set_list(object, key(not_mixed[k])));
        FAILS(MISMATCH, realm_set_dictionary(object, key(not_mixed[k])));
        FAILS(MISMATCH, realm_set_json(object, key(not_mixed[k]), "[1]"));
        if (k != 2 && k != 3) FAILS(MISMATCH, realm_set_embedded(object, key(not_mixed[k])));
    }
    FAILS(ILLEGAL, realm_set_embedded(object, key("link_pk")));
    UNCHANGED(before);
    WORKS(crealm_verify(realm, NULL));
    WORKS(realm_rollback(realm));
}
static void wrong_dictionary_keys(void) {
    static const char* const refused_keys[] = {".", "a.b", "a.", ".a", "$", "$a", "$a.b"};
    realm_value_t v = integer(1);
    size_t at;
    bool flag;
    WORKS(realm_begin_write(realm));
    fill_stage();
    const char* before = shown(object);
    size_t embedded_before = count_of_class(embedded_class), targets_before = count_of_class(target_class);
    for (size_t k = 0; k < 7; k++) {
        realm_value_t r = text(refused_keys[k]);
        FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert(live.int_map, r, v, &at, &flag));
        FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_embedded(live.embedded_map, r));
        FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_embedded(live.link_map, r));
        FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_list(live.mixed_map, r));
        FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_insert_dictionary(live.mixed_map, r));
        FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_dictionary_erase(live.int_map, r, &flag));
    }
    realm_value_t bad[] = {null_value(), integer(1), of_type(RLM_TYPE_BINARY), of_type(RLM_TYPE_LIST), link_to(target_class, 0), bytes_as_text(NULL, 3),
                           text("\xff"), bytes_as_text("k", SIZE_MAX), bytes_as_text("k", SIZE_MAX / 2 + 1), of_type(14), of_type(-1)};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        /* A null string is a string, but not a valid key. */
        int number = k == 5 ? RLM_ERR_INVALID_DICTIONARY_KEY : RLM_ERR_INVALID_ARGUMENT;
        FAILS(number, realm_dictionary_insert(live.int_map, bad[k], v, &at, &flag));
        FAILS(number, realm_dictionary_insert_embedded(live.embedded_map, bad[k]));
        FAILS(number, realm_dictionary_insert_list(live.mixed_map, bad[k]));
        FAILS(number, realm_dictionary_insert_dictionary(live.mixed_map, bad[k]));
        flag = true;
        if (k < 6) { WORKS(realm_dictionary_erase(live.int_map, bad[k], &flag)); CHECK(!flag); }
        else FAILS(RLM_ERR_INVALID_ARGUMENT, realm_dictionary_erase(live.int_map, bad[k], &flag));
    }
    UNCHANGED(before);
    CHECK(count_of_class(embedded_class) == embedded_before && count_of_class(target_class) == targets_before);
    /* Unusual keys that are valid. */
    static const char* const fine[] = {"", " ", "a$", "/", "\xe6\x97\xa5", "\x01"};
    for (size_t k = 0; k < 6; k++) WORKS(realm_dictionary_insert(live.int_map, text(fine[k]), v, &at, &flag));
    WORKS(realm_dictionary_insert(live.int_map, bytes_as_text("a\0b", 3), v, &at, &flag));
    CHECK(size_of_map(live.int_map) == 10);
    WORKS(crealm_verify(realm, NULL));
    WORKS(realm_rollback(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_dictionary_erase(live.int_map, text("absent"), &flag));
}

/* A nested list that was removed, and handles that came from it. */
static void nowhere(realm_list_t* l, realm_dictionary_t* d) {
    size_t n;
    bool flag;
    realm_value_t v;
    realm_list_t* resolved = NULL;
    if (l) {
        CHECK(!realm_list_is_valid(l));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(l, &n));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get(l, 0, &v));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_insert(l, 0, integer(1)));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_set(l, 0, integer(1)));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_move(l, 0, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_erase(l, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_clear(l));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_remove_all(l));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_insert_list(l, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_set_dictionary(l, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_get_list(l, 0));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_to_results(l));
        WORKS(realm_list_resolve_in(l, realm, &resolved));
        CHECK(!resolved);
    }
    if (d) {
        CHECK(!realm_dictionary_is_valid(d));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_size(d, &n));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_insert(d, text("k"), integer(1), &n, &flag));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_insert_list(d, text("k")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_erase(d, text("k"), &flag));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_clear(d));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_get_list(d, text("k")));
        FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_dictionary_to_results(d));
    }
}
/* Handles to nested collections while their containers change. */
static void nested_handles(void) {
    for (int way = 0; way < 14; way++) {
        WORKS(realm_begin_write(realm));
        realm_object_t* o = realm_object_create(realm, plain_class);
        CHECK(o != NULL);
        struct things t = things_of(o);
        /* m = [[.., {k: []}]], and the same in a list and a dictionary of Mixed */
        realm_list_t* outer = realm_set_list(o, key("m"));
        realm_list_t *in_list = realm_list_insert_list(t.mixeds, 0), *in_map = realm_dictionary_insert_list(t.mixed_map, text("k"));
        realm_list_t* inner = realm_list_insert_list(outer, 0);
        realm_dictionary_t* deep = realm_list_insert_dictionary(inner, 0);
        realm_list_t* deepest = realm_dictionary_insert_list(deep, text("k"));
        CHECK(outer && in_list && in_map && inner && deep && deepest);
        WORKS(realm_list_insert(deepest, 0, integer(7)));
        WORKS(realm_list_insert(in_list, 0, integer(8)));
        WORKS(realm_list_insert(in_map, 0, integer(9)));
        realm_results_t* rows = realm_list_to_results(deepest);
        CHECK(rows != NULL);
        bool all_gone = true, valid;
        size_t n;
        switch (way) {
            case 0: WORKS(realm_set_value(o, key("m"), integer(1), false)); break;
            case 1: WORKS(realm_set_value(o, key("m"), null_value(), false)); break;
            case 2: WORKS(realm_set_value(o, key("m"), of_type(RLM_TYPE_DICTIONARY), false)); break;
            case 3: WORKS(realm_set_json(o, key("m"), "[[{\"k\":[7]}]]")); break;
            case 4: WORKS(realm_list_clear(outer)); break;
            case 5: WORKS(realm_list_erase(outer, 0)); break;
            case 6: WORKS(realm_list_set(outer, 0, integer(1))); break;
            case 7: {
                realm_dictionary_t* other = realm_list_set_dictionary(outer, 0);
                CHECK(other && size_of_map(other) == 0);
                realm_release(other);
                break;
            }
            case 8: WORKS(realm_object_delete(o)); break;
            case 9: { /* replaced by an object */
                realm_value_t link = link_to(target_class, realm_object_get_key(target));
                WORKS(realm_list_set(outer, 0, link));
                break;
            }
            case 10: /* still the same: other elements are inserted, removed and moved, or the collection is overwritten by one of its kind */
                all_gone = false;
                for (int k = 0; k < 300; k++) WORKS(realm_list_insert(outer, 0, integer(k)));
                WORKS(realm_list_move(outer, 300, 17));
                WORKS(realm_list_erase(outer, 0));
                WORKS(realm_list_set(outer, 16, of_type(RLM_TYPE_LIST)));
                WORKS(realm_set_value(o, key("m"), of_type(RLM_TYPE_LIST), false));
                break;
            case 11: /* emptied from inside, through another handle */
                WORKS(realm_list_clear(inner));
                break;
            case 12: { /* another collection is in the place */
                WORKS(realm_list_erase(outer, 0));
                realm_list_t* again = realm_list_insert_list(outer, 0);
                CHECK(again != NULL);
                realm_release(again);
                break;
            }
            default: WORKS(realm_rollback(realm)); WORKS(realm_begin_write(realm)); break;
        }
        if (way == 10) {
            CHECK(realm_list_is_valid(outer) && realm_list_is_valid(inner) && realm_dictionary_is_valid(deep) && realm_list_is_valid(deepest));
            WORKS(realm_list_insert(deepest, 1, text("still here")));
            CHECK(size_of_list(deepest) == 2 && size_of_list(inner) == 1 && size_of_list(outer) == 300);
            WORKS(realm_results_count(rows, &n));
            CHECK(n == 2);
        } else {
            if (way == 11) CHECK(realm_list_is_valid(inner));
            else nowhere(way == 3 ? NULL : inner, NULL); /* after 3 the place has a list again, which may or may not count as the same */
            if (way != 3) {
                nowhere(deepest, deep);
                WORKS(realm_results_is_valid(rows, &valid));
                CHECK(!valid);
                FAILS(RLM_ERR_STALE_ACCESSOR, realm_results_count(rows, &n));
            }
        }
        if (all_gone && (way == 8 || way == 13)) {
            nowhere(outer, NULL);
            nowhere(in_list, NULL);
            nowhere(in_map, NULL);
        } else {
            CHECK(size_of_list(in_list) == 1 && size_of_list(in_map) == 1);
            /* The containers outside of the property. */
            if (way % 2) {
                WORKS(realm_list_clear(t.mixeds));
                WORKS(realm_dictionary_clear(t.mixed_map));
            } else {
                WORKS(realm_list_insert(t.mixeds, 0, integer(1)));
                WORKS(realm_list_erase(t.mixeds, 1));
                WORKS(realm_dictionary_erase(t.mixed_map, text("k"), &valid));
                CHECK(valid);
            }
            nowhere(in_list, NULL);
            nowhere(in_map, NULL);
        }
        WORKS(crealm_verify(realm, NULL));
        WORKS(realm_rollback(realm));
        nowhere(inner, deep);
        realm_release(rows), realm_release(outer), realm_release(in_list), realm_release(in_map), realm_release(inner);
        realm_release(deep), realm_release(deepest), realm_release(o);
        release_things(&t);
    }
}

/* ---- One list, two handles, two realms ------------------------------------------------------------- */

static uint64_t dice_state = 20;
static uint64_t dice(uint64_t n) {
    dice_state = dice_state * 6364136223846793005u + 1442695040888963407u;
    return n ? (dice_state >> 33) % n : 0;
}
static bool list_equals(realm_list_t* l, const int64_t* model, size_t count) {
    size_t n = SIZE_MAX;
    realm_value_t v;
    if (!realm_list_size(l, &n) || n != count) return false;
    for (size_t i = 0; i < count; i++)
        if (!realm_list_get(l, i, &v) || v.type != RLM_TYPE_INT || v.integer != model[i]) return false;
    return !realm_list_get(l, count, &v);
}
static void one_list_many_handles(void) {
    enum { MOST = 6000 };
    static int64_t model[MOST], saved[MOST];
    size_t count = 0;
    realm_t* second = open_with(path_of("stage.realm"), stage_schema(), 1, RLM_SCHEMA_MODE_AUTOMATIC);
    CHECK(second != NULL);
    realm_object_t* same = realm_get_object(second, plain_class, realm_object_get_key(object));
    CHECK(same != NULL);
    static const char* const names[] = {"l_i", "l_m"};
    for (int kind = 0; kind < 2; kind++) {
        realm_property_key_t p = key(names[kind]);
        realm_list_t* l[5] = {realm_get_list(object, p), realm_get_list(object, p), NULL, realm_get_list(same, p), realm_get_list(same, p)};
        l[2] = (realm_list_t*)realm_clone(l[0]);
        CHECK(l[0] && l[1] && l[2] && l[3] && l[4]);
        count = 0;
        for (int round = 0; round < 60; round++) {
            int base = round % 3 == 2 ? 3 : 0, handles_here = base ? 2 : 3;
            realm_t* r = base ? second : realm;
            WORKS(realm_begin_write(r));
            memcpy(saved, model, sizeof saved);
            size_t saved_count = count;
            int bad_calls = 0;
            for (int k = 0; k < 200; k++) {
                realm_list_t* h = l[base + (int)dice((uint64_t)handles_here)];
                int64_t v = (int64_t)dice(5) ? (int64_t)dice(1000) : (int64_t)(dice(1 << 30) << 30);
                size_t i = dice(count + 1), j = dice(count);
                bool good = true;
                switch (dice(12)) {
                    case 0: case 1: case 2: case 3: case 4: i = count; /* falls through */
                    case 5: case 6:
                        if (count == MOST) break;
                        good = realm_list_insert(h, i, integer(v));
                        memmove(model + i + 1, model + i, (count - i) * sizeof *model);
                        model[i] = v;
                        count++;
                        break;
                    case 7: if (count) { good = realm_list_set(h, j, integer(v)); model[j] = v; } break;
                    case 8: case 9:
                        if (!count) break;
                        good = realm_list_erase(h, j);
                        memmove(model + j, model + j + 1, (count - j - 1) * sizeof *model);
                        count--;
                        break;
                    case 10: {
                        if (!count) break;
                        size_t to = dice(count);
                        good = realm_list_move(h, j, to);
                        int64_t moved = model[j];
                        memmove(model + j, model + j + 1, (count - j - 1) * sizeof *model);
                        memmove(model + to + 1, model + to, (count - to - 1) * sizeof *model);
                        model[to] = moved;
                        break;
                    }
                    default:
                        if (dice(30) == 0) { good = dice(2) ? realm_list_clear(h) : realm_list_remove_all(h); count = 0; }
                        /* beyond the end, seen from any handle: never an element */
                        else good = !realm_list_insert(h, count + 1 + dice(3), integer(v)) && last_error() == RLM_ERR_INDEX_OUT_OF_BOUNDS;
                }
                if (!good) bad_calls++;
                realm_value_t seen;
                if (count && k % 5 == 0) {
                    i = dice(count);
                    if (!realm_list_get(l[base + (int)dice((uint64_t)handles_here)], i, &seen) || seen.integer != model[i]) bad_calls++;
                }
            }
            CHECK(bad_calls == 0);
            for (int k = base; k < base + handles_here; k++) CHECK(list_equals(l[k], model, count));
            /* The other realm sees the old state until it moves. */
            int other = base ? 0 : 3;
            if (round % 4 == 3) {
                WORKS(realm_rollback(r));
                memcpy(model, saved, sizeof saved);
                count = saved_count;
            } else {
                WORKS(realm_commit(r));
            }
            for (int k = base; k < base + handles_here; k++) CHECK(list_equals(l[k], model, count));
            WORKS(realm_refresh(base ? realm : second, NULL));
            CHECK(list_equals(l[other], model, count) && list_equals(l[other + 1], model, count));
            if (round % 10 == 0) WORKS(crealm_verify(r, NULL));
        }
        WORKS(realm_begin_write(realm));
        WORKS(realm_list_clear(l[0]));
        WORKS(realm_commit(realm));
        for (int k = 0; k < 5; k++) realm_release(l[k]);
    }
    /* Resolving between the two realms, in both directions and with a list that only one of them has. */
    realm_list_t *here = realm_get_list(object, key("l_m")), *there = NULL;
    WORKS(realm_list_resolve_in(here, second, &there));
    CHECK(there != NULL);
    realm_release(there);
    there = NULL;
    WORKS(realm_begin_write(realm));
    realm_list_t* fresh = realm_list_insert_list(here, 0);
    CHECK(fresh != NULL);
    WORKS(realm_list_resolve_in(fresh, second, &there));
    CHECK(there == NULL);
    realm_object_t* young = realm_object_create(realm, plain_class);
    realm_set_t *young_set = realm_get_set(young, key("e_i")), *set_there = NULL;
    realm_dictionary_t *young_map = realm_get_dictionary(young, key("h_i")), *map_there = NULL;
    WORKS(realm_set_resolve_in(young_set, second, &set_there));
    WORKS(realm_dictionary_resolve_in(young_map, second, &map_there));
    CHECK(!set_there && !map_there);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_list_insert(realm_get_list(same, key("l_i")), 0, integer(1)));
    WORKS(realm_rollback(realm));
    realm_release(fresh), realm_release(here), realm_release(young), realm_release(young_set), realm_release(young_map);
    /* The object is deleted through the other realm. */
    WORKS(realm_begin_write(realm));
    young = realm_object_create(realm, plain_class);
    realm_list_t* young_list = realm_get_list(young, key("l_i"));
    for (int k = 0; k < 10; k++) WORKS(realm_list_insert(young_list, (size_t)k, integer(k)));
    WORKS(realm_commit(realm));
    WORKS(realm_refresh(second, NULL));
    WORKS(realm_begin_write(second));
    realm_object_t* rival = realm_get_object(second, plain_class, realm_object_get_key(young));
    CHECK(rival != NULL);
    WORKS(realm_object_delete(rival));
    WORKS(realm_commit(second));
    CHECK(size_of_list(young_list) == 10);
    WORKS(realm_begin_write(realm)); /* moves to the newest version */
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_insert(young_list, 10, integer(1)));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_clear(young_list));
    CHECK(!realm_list_is_valid(young_list) && !realm_object_is_valid(young));
    WORKS(realm_rollback(realm));
    realm_release(young), realm_release(young_list), realm_release(rival), realm_release(same);
    WORKS(realm_close(second));
    realm_release(second);
}

/* ---- Views as arguments ---------------------------------------------------------------------------- */

/* The text number n, of a length that depends on it. */
static const char* word_of(int n) {
    static char buffer[3000];
    static const int lengths[] = {3, 14, 15, 16, 30, 62, 63, 64, 65, 200, 1000, 2900};
    int length = lengths[n % 12];
    memset(buffer, 'a' + n % 26, (size_t)length);
    buffer[length] = 0;
    snprintf(buffer, 12, "%d", n);
    buffer[strlen(buffer)] = '-';
    return buffer;
}
static bool is_word(realm_value_t v, int n) {
    const char* w = word_of(n);
    size_t size = strlen(w);
    if (v.type == RLM_TYPE_BINARY) return v.binary.size == size && !memcmp(v.binary.data, w, size);
    return v.type == RLM_TYPE_STRING && v.string.size == size && !memcmp(v.string.data, w, size);
}
/* Texts and bytes read from a collection are written back into it while it grows. */
static void views_as_arguments(void) {
    enum { WORDS = 36, TIMES = 25 };
    realm_value_t v, k;
    size_t at, n;
    bool flag;
    for (int form = 0; form < 3; form++) { /* texts, texts in Mixed, bytes in Mixed */
        WORKS(realm_begin_write(realm));
        realm_object_t* o = realm_object_create(realm, plain_class);
        struct things t = things_of(o);
        realm_list_t* l = form ? t.mixeds : t.texts;
        for (int i = 0; i < WORDS; i++) {
            const char* w = word_of(i);
            WORKS(realm_list_insert(l, (size_t)i, form == 2 ? binary((const uint8_t*)w, strlen(w)) : text(w)));
        }
        if (form == 1) { /* the views point into the file */
            WORKS(realm_commit(realm));
            WORKS(realm_begin_write(realm));
        }
        int wrong = 0;
        for (int round = 1; round < TIMES; round++)
            for (int i = 0; i < WORDS; i++) {
                if (!realm_list_get(l, (size_t)i, &v)) wrong++;
                if (!(round % 2 ? realm_list_insert(l, (size_t)(round * WORDS + i), v) : realm_list_insert(l, (size_t)WORDS, v))) wrong++;
            }
        CHECK(wrong == 0 && size_of_list(l) == WORDS * TIMES);
        int seen[WORDS] = {0};
        for (int i = 0; i < WORDS * TIMES; i++) {
            if (!realm_list_get(l, (size_t)i, &v)) wrong++;
            for (int j = 0; j < WORDS; j++) if (is_word(v, j)) seen[j]++;
        }
        for (int j = 0; j < WORDS; j++) CHECK(seen[j] == TIMES);
        /* set: the view of a neighbour, and of the element itself */
        for (int i = 0; i < WORDS * TIMES; i++) {
            if (!realm_list_get(l, (size_t)i, &v) || !realm_list_set(l, (size_t)i, v)) wrong++;
            if (!realm_list_get(l, (size_t)(i % WORDS), &v) || !realm_list_set(l, (size_t)i, v)) wrong++;
        }
        for (int i = 0; i < WORDS * TIMES; i++) if (!realm_list_get(l, (size_t)i, &v) || !is_word(v, i % WORDS)) wrong++;
        CHECK(wrong == 0);
        /* from the list into a set, properties and a primary key of the same realm, and back */
        for (int i = 0; i < WORDS; i++) {
            if (!realm_list_get(l, (size_t)i, &v) || !realm_set_insert(t.mixed_set, v, &at, &flag) || !flag) wrong++;
            if (!realm_set_find(t.mixed_set, v, &at, &flag) || !flag) wrong++;
            if (!realm_set_get(t.mixed_set, at, &v) || !realm_set_insert(t.mixed_set, v, &n, &flag) || flag || n != at) wrong++;
            if (form < 2) {
                if (!realm_set_value(o, key("s"), v, false) || !realm_get_value(o, key("s"), &v) || !realm_set_value(o, key("s_n"), v, false)) wrong++;
                if (!realm_get_value(o, key("s_n"), &v) || !realm_list_insert(l, 0, v) || !realm_list_get(l, 0, &v) || !is_word(v, i)) wrong++;
                if (!realm_list_erase(l, 0)) wrong++;
            }
        }
        CHECK(wrong == 0 && size_of_set(t.mixed_set) == WORDS);
        while (realm_set_get(t.mixed_set, 0, &v)) if (!realm_set_erase(t.mixed_set, v, &flag) || !flag) { wrong++; break; }
        CHECK(wrong == 0 && size_of_set(t.mixed_set) == 0);
        WORKS(crealm_verify(realm, NULL));
        if (form == 1) WORKS(realm_object_delete(o));
        WORKS(form == 1 ? realm_commit(realm) : realm_rollback(realm));
        realm_release(o);
        release_things(&t);
    }
    /* Dictionaries: keys and values are both views, also of each other. */
    WORKS(realm_begin_write(realm));
    realm_object_t* o = realm_object_create(realm, plain_class);
    struct things t = things_of(o);
    int wrong = 0;
    for (int i = 0; i < WORDS; i++) WORKS(realm_dictionary_insert(t.mixed_map, text(word_of(i)), text(word_of(i)), NULL, NULL));
    for (int i = 0; i < WORDS; i++) {
        if (!realm_dictionary_get(t.mixed_map, (size_t)i, &k, &v) || !realm_dictionary_insert(t.mixed_map, k, v, &at, &flag) || flag || at != (size_t)i) wrong++;
        if (!realm_dictionary_get(t.mixed_map, (size_t)i, &k, &v) || !realm_dictionary_insert(t.mixed_map, v, k, &at, &flag) || flag || at != (size_t)i) wrong++;
        if (!realm_dictionary_get(t.mixed_map, (size_t)i, &k, NULL) || !realm_dictionary_insert(t.mixed_map, k, k, &at, &flag)) wrong++;
    }
    CHECK(wrong == 0 && size_of_map(t.mixed_map) == WORDS);
    for (int i = 0; i < WORDS; i++) {
        if (!realm_dictionary_find(t.mixed_map, text(word_of(i)), &v, &flag) || !flag || !is_word(v, i)) wrong++;
    }
    /* A value becomes a new key while keys shift; only values that are no keys yet. */
    for (int i = 0; i < WORDS; i++) {
        char name[40];
        snprintf(name, sizeof name, "%c%d", i % 2 ? 'A' : 'z', i);
        if (!realm_dictionary_insert(t.mixed_map, text(name), text(word_of(WORDS + i)), NULL, NULL)) wrong++;
        if (!realm_dictionary_find(t.mixed_map, text(name), &v, &flag) || !flag) wrong++;
        if (!realm_dictionary_insert(t.mixed_map, v, v, &at, &flag) || !flag) wrong++;
        if (!realm_dictionary_find(t.mixed_map, text(word_of(WORDS + i)), &v, &flag) || !flag || !is_word(v, WORDS + i)) wrong++;
        if (!realm_dictionary_get(t.mixed_map, 0, &k, &v) || !realm_dictionary_insert_list(t.mixed_map, bytes_as_text("list", 4))) wrong++;
    }
    CHECK(wrong == 0 && size_of_map(t.mixed_map) == 3 * WORDS + 1);
    /* Views as keys to erase by. */
    while (realm_dictionary_get(t.mixed_map, size_of_map(t.mixed_map) / 2, &k, NULL)) if (!realm_dictionary_erase(t.mixed_map, k, &flag) || !flag) { wrong++; break; }
    CHECK(wrong == 0 && size_of_map(t.mixed_map) == 0);
    /* Views as keys of nested collections. */
    for (int i = 0; i < 12; i++) {
        WORKS(realm_dictionary_insert(t.mixed_map, text("source"), text(word_of(i)), NULL, NULL));
        WORKS(realm_dictionary_find(t.mixed_map, text("source"), &v, &flag));
        realm_list_t* inner = realm_dictionary_insert_list(t.mixed_map, v);
        CHECK(inner != NULL);
        WORKS(realm_dictionary_find(t.mixed_map, text("source"), &v, &flag));
        for (int j = 0; j < 40; j++) if (!realm_dictionary_find(t.mixed_map, text("source"), &v, &flag) || !realm_list_insert(inner, 0, v)) wrong++;
        for (int j = 0; j < 40; j++) if (!realm_list_get(inner, (size_t)j, &v) || !is_word(v, i)) wrong++;
        realm_release(inner);
    }
    CHECK(wrong == 0);
    WORKS(crealm_verify(realm, NULL));
    WORKS(realm_rollback(realm));
    realm_release(o);
    release_things(&t);
}

/* ---- JSON, embedded objects --------------------------------------------------------------------------- */

static void bad_json(void) {
    static const char* const malformed[] = {
        "", " ", "[", "]", "{", "}", "[1", "[1,", "[1,]", "[,1]", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{a:1}", "{1:1}", "{\"a\" 1}",
        "nul", "nulll", "truefalse", "True", "01", "1.", ".5", "+1", "-", "1e", "1e+", "0x1", "NaN", "Infinity", "\"", "\"a", "\"\\x\"", "\"\\u12\"",
        "\"\\ud800\"", "\"\\udc00x\"", "'a'", "[1] 2", "1 2", "[1}", "{\"a\":1]", "\"a\nb\"", "\xff", "[\"\xc0\x80\"]", "1e999", "-1e400",
        "[1e999]", "//x", "[1]//", "{\"a\":1 \"b\":2}", "\x01", "\xef\xbb\xbf\xef\xbb\xbf[1]", "[\xef\xbb\xbf]", "\xef\xbb\xbf"};
    static const char* const bad_keys[] = {"{\"$a\":1}", "{\"a.b\":1}", "[{\"a\":{\"$\":1}}]"};
    WORKS(realm_begin_write(realm));
    WORKS(realm_set_json(object, key("m"), " { \"a\" : [ 1 , 2.5 , \"x\" , null , true , { } ] , \"a\" : [ 3 ] } "));
    const char* before = shown(object);
    for (size_t k = 0; k < sizeof malformed / sizeof *malformed; k++) FAILS(RLM_ERR_MALFORMED_JSON, realm_set_json(object, key("m"), malformed[k]));
    for (size_t k = 0; k < 3; k++) FAILS(RLM_ERR_INVALID_DICTIONARY_KEY, realm_set_json(object, key("m"), bad_keys[k]));
    char* deep = (char*)malloc(400002);
    static const int depths[] = {101, 102, 1000, 200000};
    for (size_t k = 0; k < 4; k++) {
        memset(deep, '[', (size_t)depths[k]);
        memset(deep + depths[k], ']', (size_t)depths[k]);
        deep[2 * depths[k]] = 0;
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_json(object, key("m"), deep));
        deep[depths[k]] = 0; /* and unfinished */
        CHECK(!realm_set_json(object, key("m"), deep));
    }
    UNCHANGED(before);
    memset(deep, '[', 100);
    memset(deep + 100, ']', 100);
    deep[200] = 0;
    WORKS(realm_set_json(object, key("m"), deep));
    free(deep);
    /* The deepest list accepts no further collection. */
    realm_list_t* l = realm_get_list(object, key("m"));
    for (int k = 1; k < 100; k++) {
        realm_list_t* next = realm_list_get_list(l, 0);
        CHECK(next && realm_list_is_valid(next));
        realm_release(l);
        l = next;
    }
    before = shown(object);
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert_list(l, 0));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert_dictionary(l, 0));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_insert(l, 0, of_type(RLM_TYPE_LIST)));
    UNCHANGED(before);
    WORKS(realm_list_insert(l, 0, integer(1)));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_set_list(l, 0));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_list_set(l, 0, of_type(RLM_TYPE_DICTIONARY)));
    CHECK(size_of_list(l) == 1);
    realm_release(l);
    WORKS(crealm_verify(realm, NULL));
    WORKS(realm_rollback(realm));
}
/* Embedded objects that are replaced, and the old handles to them. */
static void replaced_embedded(void) {
    WORKS(realm_begin_write(realm));
    size_t at_start = count_of_class(embedded_class);
    realm_object_t *a = realm_set_embedded(object, key("emb")), *b = realm_set_embedded(object, key("emb"));
    CHECK(a && b && !realm_object_is_valid(a) && realm_object_is_valid(b));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_set_value(a, key_of(embedded_class, "x"), integer(1), false));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_object_get_parent(a, NULL, NULL));
    CHECK(count_of_class(embedded_class) == at_start + 1);
    realm_object_t *c = realm_list_insert_embedded(live.embeddeds, 0), *d = realm_list_set_embedded(live.embeddeds, 0);
    CHECK(c && d && !realm_object_is_valid(c) && realm_object_is_valid(d));
    realm_object_t *e = realm_dictionary_insert_embedded(live.embedded_map, text("k")), *f = realm_dictionary_insert_embedded(live.embedded_map, text("k"));
    CHECK(e && f && !realm_object_is_valid(e) && realm_object_is_valid(f));
    CHECK(count_of_class(embedded_class) == at_start + 3);
    WORKS(realm_dictionary_insert(live.embedded_map, text("k"), null_value(), NULL, NULL));
    CHECK(!realm_object_is_valid(f) && size_of_map(live.embedded_map) == 1);
    WORKS(realm_object_delete(d));
    CHECK(size_of_list(live.embeddeds) == 0);
    WORKS(realm_list_remove_all(live.embeddeds));
    WORKS(realm_set_value(object, key("emb"), null_value(), false));
    CHECK(!realm_object_is_valid(b) && count_of_class(embedded_class) == at_start);
    /* remove_all deletes each target once, although the list has it twice. */
    size_t targets = count_of_class(target_class);
    realm_object_t* extra = realm_object_create(realm, target_class);
    realm_value_t link = link_to(target_class, realm_object_get_key(extra));
    for (size_t k = 0; k < 3; k++) WORKS(realm_list_insert(live.links, k, link));
    WORKS(realm_set_insert(live.link_set, link, NULL, NULL));
    WORKS(realm_dictionary_insert(live.link_map, text("k"), link, NULL, NULL));
    WORKS(realm_list_remove_all(live.links));
    CHECK(!realm_object_is_valid(extra) && size_of_list(live.links) == 0 && size_of_set(live.link_set) == 0 && size_of_map(live.link_map) == 1);
    CHECK(count_of_class(target_class) == targets);
    WORKS(crealm_verify(realm, NULL));
    WORKS(realm_rollback(realm));
    realm_release(a), realm_release(b), realm_release(c), realm_release(d), realm_release(e), realm_release(f), realm_release(extra);
}

/* ---- Writes to realms without write access --------------------------------------------------------- */

static void fixed_realms(void) {
    WORKS(realm_begin_write(realm));
    fill_stage();
    WORKS(realm_commit(realm));
    const char* copy = path_of("fixed.realm");
    CHECK(copy_file(path_of("stage.realm"), copy));
    WORKS(realm_begin_write(realm));
    realm_list_t* lists[] = {live.ints, live.texts, live.mixeds, live.links, live.embeddeds};
    realm_set_t* sets[] = {live.int_set, live.mixed_set, live.link_set};
    realm_dictionary_t* maps[] = {live.int_map, live.mixed_map, live.link_map, live.embedded_map};
    for (size_t k = 0; k < 5; k++) WORKS(realm_list_clear(lists[k]));
    for (size_t k = 0; k < 3; k++) WORKS(realm_set_clear(sets[k]));
    for (size_t k = 0; k < 4; k++) WORKS(realm_dictionary_clear(maps[k]));
    WORKS(realm_commit(realm));
    static const int modes[] = {RLM_SCHEMA_MODE_IMMUTABLE, RLM_SCHEMA_MODE_READ_ONLY};
    for (int k = 0; k < 2; k++) {
        realm_t* r = open_with(copy, k ? stage_schema() : NULL, 1, modes[k]);
        CHECK(r != NULL);
        realm_object_t* o = realm_get_object(r, plain_class, realm_object_get_key(object));
        CHECK(o != NULL);
        struct things t = things_of(o);
        const char* before = shown(o);
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(r));
        changes_fail(RLM_ERR_WRONG_TRANSACTION_STATE, &t);
        object_changes_fail(RLM_ERR_WRONG_TRANSACTION_STATE, o, key("m"), key("emb"));
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_delete(o));
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create(r, plain_class));
        FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(r, "Plain", NULL));
        rules_outside_transactions(r, o);
        FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_schema_rename_property(r, schema, "Plain", "i", "j"));
        realm_schema_t* s = (start(), add_class("Else", "", 0), add(property("x", INT, ONE, "", 0)), finish());
        CHECK(!realm_update_schema_advanced(r, s, 7, NULL, NULL, NULL, NULL, false) || k == 1);
        realm_release(s);
        CHECK(!strcmp(before, shown(o)));
        /* All reading functions work. */
        realm_results_t* rows = realm_list_to_results(t.links);
        size_t n = 0;
        WORKS(realm_results_count(rows, &n));
        CHECK(n == 3 && size_of_list(t.embeddeds) == 3);
        realm_list_t* resolved = NULL;
        WORKS(realm_list_resolve_in(t.ints, r, &resolved));
        CHECK(resolved && realm_equals(resolved, t.ints));
        realm_release(resolved), realm_release(rows);
        WORKS(realm_close(r));
        release_things(&t);
        realm_release(o), realm_release(r);
    }
}

/* ---- Schema changes and their callbacks --------------------------------------------------------------- */

/* Mistakes of a migration or initialization function. */
enum deed { NOTHING, COMMITS, ROLLS_BACK, BEGINS, CLOSES_NEW, CLOSES_OLD, OPENS_AGAIN, OPENS_OTHER, UPDATES, DELETES_FILE, KEEPS_HANDLES, WRITES_OLD, REFUSES, REFRESHES, DEEDS };
struct task {
    enum deed deed;
    int calls;
    realm_object_t* kept;
    realm_list_t* kept_list;
};
static realm_class_key_t class_in(realm_t* r, const char* name) {
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    CHECK(realm_find_class(r, name, &found, &info) && found);
    return info.key;
}
static bool do_wrong(struct task* t, realm_t* old_realm, realm_t* new_realm) {
    t->calls++;
    bool flag = true;
    CHECK(realm_is_writable(new_realm));
    switch (t->deed) {
        case COMMITS: FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(new_realm)); break;
        case ROLLS_BACK: FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(new_realm)); break;
        case BEGINS: FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(new_realm)); break;
        case CLOSES_NEW: WORKS(realm_close(new_realm)); FAILS(RLM_ERR_CLOSED_REALM, realm_object_create(new_realm, 1)); break;
        case CLOSES_OLD: if (old_realm) WORKS(realm_close(old_realm)); break;
        case OPENS_AGAIN: {
            realm_t* r = open_with(path_of("deeds.realm"), NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
            size_t n = 77;
            if (r) { /* the old realm shows the state before */
                if (old_realm) CHECK(realm_get_num_objects(r, class_in(r, "A"), &n) && n == 3);
                WORKS(realm_close(r));
            }
            realm_release(r);
            break;
        }
        case OPENS_OTHER: {
            realm_t* r = open_with(path_of("deeds-other.realm"), (start(), add_class("B", "", 0), add(property("x", INT, ONE, "", 0)), finish()), 1, RLM_SCHEMA_MODE_AUTOMATIC);
            CHECK(r != NULL);
            WORKS(realm_begin_write(r));
            WORKS(realm_commit(r));
            WORKS(realm_close(r));
            realm_release(r);
            break;
        }
        case UPDATES: {
            realm_schema_t* s = (start(), add_class("C", "", 0), add(property("x", INT, ONE, "", 0)), finish());
            CHECK(!realm_update_schema(new_realm, s));
            CHECK(!realm_update_schema_advanced(new_realm, s, 9, NULL, NULL, NULL, NULL, false));
            realm_release(s);
            break;
        }
        case DELETES_FILE: FAILS(RLM_ERR_DELETE_OPENED_REALM, realm_delete_files(path_of("deeds.realm"), &flag)); break;
        case KEEPS_HANDLES: {
            t->kept = realm_object_create(new_realm, class_in(new_realm, "A"));
            if (old_realm) {
                realm_results_t* rows = realm_object_find_all(old_realm, class_in(old_realm, "A"));
                realm_object_t* o = realm_results_get_object(rows, 0);
                realm_property_info_t info;
                if (realm_find_property(old_realm, class_in(old_realm, "A"), "l", &flag, &info)) t->kept_list = realm_get_list(o, info.key);
                realm_release(o), realm_release(rows);
            }
            break;
        }
        case WRITES_OLD:
            if (!old_realm) break;
            CHECK(!realm_is_writable(old_realm));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(old_realm));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_object_create(old_realm, class_in(old_realm, "A")));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_commit(old_realm));
            FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_rollback(old_realm));
            break;
        case REFUSES: return false;
        case REFRESHES:
            WORKS(realm_refresh(new_realm, &flag));
            CHECK(!flag);
            if (old_realm) { WORKS(realm_refresh(old_realm, &flag)); CHECK(!flag); }
            break;
        default: break;
    }
    return true;
}
static bool wrong_migration(realm_userdata_t userdata, realm_t* old_realm, realm_t* new_realm, const realm_schema_t* s) {
    struct task* t = (struct task*)userdata;
    bool flag;
    WORKS(realm_schema_validate(s, 0));
    if (t->deed == NOTHING) { /* renaming and removing that is refused inside a migration */
        realm_schema_t* target = (realm_schema_t*)s;
        FAILS(RLM_ERR_NO_SUCH_TABLE, realm_schema_rename_property(new_realm, target, "Nobody", "n", "m"));
        FAILS(RLM_ERR_INVALID_PROPERTY, realm_schema_rename_property(new_realm, target, "A", "nothing", "m"));
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_rename_property(new_realm, target, "A", "s", "m")); /* still wanted */
        FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_rename_property(new_realm, target, "A", "n", "s")); /* another type */
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_rename_property(new_realm, target, "\xff", "n", "m"));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_rename_property(new_realm, target, "A", "\xff", "m"));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_schema_rename_property(new_realm, target, "A", "n", "\xff"));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_remove_table(new_realm, "\xff", &flag));
        FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(new_realm, "A", &flag));
        flag = true;
        WORKS(realm_remove_table(new_realm, "Nobody", &flag));
        CHECK(!flag);
        WORKS(realm_remove_table(new_realm, "", &flag));
        CHECK(!flag);
        WORKS(realm_schema_rename_property(new_realm, target, "A", "n", "m"));
        WORKS(realm_remove_table(new_realm, "Leaves", &flag));
        CHECK(flag);
        WORKS(realm_remove_table(new_realm, "Leaves", &flag));
        CHECK(!flag);
    }
    return do_wrong(t, old_realm, new_realm);
}
static bool wrong_initialization(realm_userdata_t userdata, realm_t* r) { return do_wrong((struct task*)userdata, NULL, r); }

static realm_schema_t* deed_schema(bool after) {
    start();
    add_class("A", "", 0);
    add(property(after ? "m" : "n", INT, ONE, "", 0));
    add(property("s", STRING, ONE, "", 0));
    add(property("l", INT, LIST, "", 0));
    if (!after) add_class("Leaves", "", 0), add(property("x", INT, ONE, "", 0));
    return finish();
}
static void make_deed_file(void) {
    const char* path = path_of("deeds.realm");
    bool did;
    WORKS(realm_delete_files(path, &did));
    realm_t* r = open_with(path, deed_schema(false), 1, RLM_SCHEMA_MODE_AUTOMATIC);
    CHECK(r != NULL);
    WORKS(realm_begin_write(r));
    for (int k = 0; k < 3; k++) realm_release(realm_object_create(r, class_in(r, "A")));
    WORKS(realm_commit(r));
    WORKS(realm_close(r));
    realm_release(r);
}
static bool fails_with(enum deed d) { return d == COMMITS || d == ROLLS_BACK || d == CLOSES_NEW || d == REFUSES; }

static void wrong_callbacks(void) {
    const char* path = path_of("deeds.realm");
    for (int how = 0; how < 3; how++) /* open with a migration, update to one, open with an initialization */
        for (int d = 0; d < DEEDS; d++) {
            struct task task = {(enum deed)d, 0, NULL, NULL};
            bool fails = fails_with(task.deed), did, good;
            realm_schema_t* s = deed_schema(how < 2);
            realm_t* r = NULL;
            if (how < 2) make_deed_file();
            else WORKS(realm_delete_files(path, &did));
            if (how == 1) {
                r = open_with(path, NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
                CHECK(r != NULL);
                realm_clear_last_error();
                good = realm_update_schema_advanced(r, s, 2, wrong_migration, &task, NULL, NULL, false);
            } else {
                realm_config_t* c = config_for(path, s, how == 0 ? 2 : 1, RLM_SCHEMA_MODE_AUTOMATIC);
                if (how == 0) realm_config_set_migration_function(c, wrong_migration, &task, NULL);
                else realm_config_set_data_initialization_function(c, wrong_initialization, &task, NULL);
                realm_clear_last_error();
                r = realm_open(c);
                good = r != NULL;
                realm_release(c);
            }
            char what[80];
            snprintf(what, sizeof what, "deed %d in callback %d", d, how);
            int wanted = !fails ? 0 : d == REFUSES ? RLM_ERR_CALLBACK : d == CLOSES_NEW ? RLM_ERR_CLOSED_REALM : RLM_ERR_WRONG_TRANSACTION_STATE;
            if (good == fails || (fails && last_error() != wanted)) snprintf(what + strlen(what), 40, ": %s, error %d", good ? "good" : "failed", last_error());
            result(good != fails && (!fails || last_error() == wanted), __LINE__, what, "");
            CHECK(task.calls == 1);
            realm_clear_last_error();
            realm_release(s);
            if (task.kept) { /* still used by the realm, or released with it */
                realm_value_t v;
                if (how != 1 && !r) CHECK(!realm_object_is_valid(task.kept));
                else CHECK(realm_object_is_valid(task.kept) && realm_get_value_by_property_index(task.kept, 0, &v));
                realm_release(task.kept);
            }
            if (task.kept_list) {
                size_t n;
                CHECK(!realm_list_is_valid(task.kept_list));
                FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_list_size(task.kept_list, &n));
                realm_release(task.kept_list);
            }
            if (r) {
                if (d == CLOSES_NEW) CHECK(realm_is_closed(r));
                else WORKS(crealm_verify(r, NULL));
                WORKS(realm_close(r));
            }
            realm_release(r);
            /* The file has one of the two states completely. */
            r = open_with(path, NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
            CHECK(r != NULL);
            if (how < 2) {
                size_t n = 0;
                CHECK(realm_get_schema_version(r) == (fails ? 1u : 2u));
                CHECK(realm_get_num_objects(r, class_in(r, "A"), &n) && n == (d == KEEPS_HANDLES ? 4 : 3));
                CHECK(realm_find_property(r, class_in(r, "A"), fails ? "n" : "m", &did, NULL) && did);
                CHECK(realm_find_class(r, "Leaves", &did, NULL) && did == (d != NOTHING));
            } else {
                CHECK(realm_get_schema_version(r) == (fails ? UINT64_MAX : 1));
                CHECK(realm_get_num_classes(r) == (fails ? 0u : 2u));
            }
            WORKS(crealm_verify(r, NULL));
            WORKS(realm_close(r));
            realm_release(r);
        }
}
/* Schema-changed and realm-changed callbacks that close or release the realm that calls them. */
struct watcher {
    realm_t* realm;
    realm_callback_token_t** token;
    int calls;
    bool closes, releases;
    const realm_schema_t* seen;
    realm_schema_t* kept;
};
static void watch_schema(realm_userdata_t userdata, const realm_schema_t* s) {
    struct watcher* w = (struct watcher*)userdata;
    w->calls++;
    w->seen = s;
    if (!w->kept) w->kept = (realm_schema_t*)realm_clone(s);
    if (w->releases && *w->token) { realm_callback_token_t* t = *w->token; *w->token = NULL; realm_release(t); }
    if (w->closes) WORKS(realm_close(w->realm));
}
static void watch_realm(realm_userdata_t userdata) { watch_schema(userdata, NULL); }

static void wrong_schema_changes(void) {
    const char* path = path_of("deeds.realm");
    bool flag;
    /* Outside of a migration. */
    make_deed_file();
    realm_t* r = open_with(path, deed_schema(false), 1, RLM_SCHEMA_MODE_AUTOMATIC);
    CHECK(r != NULL);
    realm_schema_t *same = deed_schema(false), *other = deed_schema(true);
    realm_schema_t* invalid = (start(), add_class("A", "nothing", 0), add(property("x", INT, ONE, "", 0)), finish());
    start(), add_class("A", "", 0), add(property("n", INT, ONE, "", 0)), add(property("s", STRING, ONE, "", 0)), add(property("l", INT, LIST, "", 0));
    add_class("Leaves", "", 0), add(property("x", INT, ONE, "", 0)), add_class("New", "", 0), add(property("x", INT, ONE, "", 0));
    realm_schema_t* more = finish();
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_update_schema(r, invalid));
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_update_schema_advanced(r, invalid, 2, NULL, NULL, NULL, NULL, false));
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, realm_update_schema(r, other));
    FAILS(RLM_ERR_INVALID_SCHEMA_VERSION, realm_update_schema_advanced(r, same, 0, NULL, NULL, NULL, NULL, false));
    FAILS(RLM_ERR_SCHEMA_MISMATCH, realm_update_schema_advanced(r, other, 1, NULL, NULL, NULL, NULL, false));
    WORKS(realm_update_schema_advanced(r, same, 1, NULL, NULL, NULL, NULL, false));
    WORKS(realm_begin_write(r));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_update_schema_advanced(r, other, 2, NULL, NULL, NULL, NULL, false));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_update_schema_advanced(r, more, 1, NULL, NULL, NULL, NULL, false));
    FAILS(RLM_ERR_INVALID_SCHEMA_CHANGE, realm_remove_table(r, "Leaves", &flag));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_schema_rename_property(r, same, "A", "n", "m"));
    WORKS(realm_rollback(r));
    CHECK(realm_get_schema_version(r) == 1 && realm_get_num_classes(r) == 2);
    WORKS(crealm_verify(r, NULL));
    /* Versions at the edge. */
    FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_update_schema_advanced(r, invalid, UINT64_MAX, NULL, NULL, NULL, NULL, false));
    WORKS(realm_close(r));
    realm_release(r);

    /* Callbacks that close or release. */
    for (int closes = 0; closes < 2; closes++)
        for (int releases = 0; releases < 2; releases++)
            for (int how = 0; how < 3; how++) {
                make_deed_file();
                r = open_with(path, NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
                CHECK(r != NULL && realm_begin_read(r));
                realm_callback_token_t* watching = NULL;
                struct watcher w = {r, &watching, 0, closes == 1, releases == 1, NULL, NULL};
                int freed = 0;
                free_count = 0;
                watching = how == 2 ? realm_add_realm_changed_callback(r, watch_realm, &w, count_free) : realm_add_schema_changed_callback(r, watch_schema, &w, count_free);
                realm_callback_token_t* second = realm_add_schema_changed_callback(r, on_schema, &freed, NULL);
                CHECK(watching && second);
                realm_clear_last_error();
                if (how == 0) {
                    bool good = realm_update_schema_advanced(r, more, 2, NULL, NULL, NULL, NULL, false);
                    CHECK(good || (closes && last_error() == RLM_ERR_CLOSED_REALM));
                } else {
                    char alias_path[220];
                    snprintf(alias_path, sizeof alias_path, "%s/./deeds.realm", folder);
                    start(), add_class("New", "", 0), add(property("x", INT, ONE, "", 0));
                    realm_t* writer = open_with(alias_path, finish(), 2, RLM_SCHEMA_MODE_AUTOMATIC);
                    CHECK(writer != NULL);
                    WORKS(realm_close(writer));
                    realm_release(writer);
                    bool good = realm_refresh(r, &flag);
                    CHECK(good || (closes && last_error() == RLM_ERR_CLOSED_REALM));
                }
                CHECK(w.calls == 1 && realm_is_closed(r) == (closes == 1));
                if (how < 2) CHECK(w.kept && realm_schema_validate(w.kept, 0));
                CHECK(!watching == (releases == 1));
                realm_release(w.kept), realm_release(watching), realm_release(second);
                CHECK(free_count == 1);
                if (!closes) CHECK(realm_get_num_classes(r) == 3);
                WORKS(realm_close(r));
                realm_release(r);
            }
    realm_release(same), realm_release(other), realm_release(invalid), realm_release(more);
}

/* ---- Collections with elements ------------------------------------------------------------------ */

/* Calls a function for each object of a class of another file. */
static void with_fixture(const char* fixtures, const char* name) {
    char from[600];
    snprintf(from, sizeof from, "%s/ops/%s", fixtures, name);
    const char* path = path_of(name);
    if (!copy_file(from, path)) { perror(from); failed++; return; }
    realm_t* mine = realm;
    realm = open_with(path, NULL, 0, RLM_SCHEMA_MODE_IMMUTABLE);
    CHECK(realm != NULL);
    realm_class_key_t all = class_named("All");
    realm_results_t* rows = realm_object_find_all(realm, all);
    size_t count = 0, n, at;
    bool found;
    realm_value_t v, k;
    WORKS(realm_results_count(rows, &count));
    int seen = 0;
    for (size_t i = 0; i < count && i < 20; i++) {
        realm_object_t* o = realm_results_get_object(rows, i);
        static const char* const lists[] = {"l_i", "l_s", "l_t", "l_m", "l_link", "l_emb"};
        for (size_t j = 0; j < 6; j++) {
            realm_list_t* l = realm_get_list(o, key_of(all, lists[j]));
            CHECK(l != NULL);
            WORKS(realm_list_size(l, &n));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get(l, n, &v));
            FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_list_get(l, SIZE_MAX, &v));
            if (n) {
                seen++;
                WORKS(realm_list_get(l, n - 1, &v));
                if (j == 3) { /* Mixed: an element of another kind gives a handle that is not valid */
                    if (v.type != RLM_TYPE_LIST) {
                        realm_list_t* no = realm_list_get_list(l, n - 1);
                        CHECK(no && !realm_list_is_valid(no));
                        realm_release(no);
                    }
                    if (v.type != RLM_TYPE_DICTIONARY) {
                        realm_dictionary_t* no = realm_list_get_dictionary(l, n - 1);
                        CHECK(no && !realm_dictionary_is_valid(no));
                        realm_release(no);
                    }
                } else {
                    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_get_list(l, n - 1));
                    FAILS(RLM_ERR_ILLEGAL_OPERATION, realm_list_get_dictionary(l, n - 1));
                }
                if (v.type != RLM_TYPE_LINK) QUIET(realm_list_get_linked_object(l, n - 1));
            }
            realm_release(l);
        }
        realm_dictionary_t* d = realm_get_dictionary(o, key_of(all, "h_m"));
        WORKS(realm_dictionary_size(d, &n));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_dictionary_get(d, n, &k, &v));
        if (n) {
            seen++;
            WORKS(realm_dictionary_get(d, 0, &k, &v));
            if (v.type != RLM_TYPE_LIST) {
                realm_list_t* no = realm_dictionary_get_list(d, k);
                CHECK(no && !realm_list_is_valid(no));
                realm_release(no);
            }
            if (v.type != RLM_TYPE_LINK) QUIET(realm_dictionary_get_linked_object(d, k));
        }
        realm_release(d);
        realm_set_t* e = realm_get_set(o, key_of(all, "e_i"));
        WORKS(realm_set_size(e, &n));
        FAILS(RLM_ERR_INDEX_OUT_OF_BOUNDS, realm_set_get(e, n, &v));
        WORKS(realm_set_find(e, text("not a number"), &at, &found));
        CHECK(!found && at == SIZE_MAX);
        realm_release(e);
        realm_release(o);
    }
    CHECK(seen > 0);
    realm_release(rows);
    WORKS(realm_close(realm));
    realm_release(realm);
    realm = mine;
}
static void foreign_files(const char* fixtures) {
    with_fixture(fixtures, "full-1.realm");
    with_fixture(fixtures, "nested-1.realm");
    char from[600];
    snprintf(from, sizeof from, "%s/ops/encrypted.realm", fixtures);
    if (copy_file(from, path_of("encrypted.realm"))) OPENS(RLM_ERR_INVALID_DATABASE, path_of("encrypted.realm"), NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
    snprintf(from, sizeof from, "%s/sdk/f23-kotlin-sync-client-streaming.realm", fixtures);
    if (copy_file(from, path_of("sync.realm"))) OPENS(RLM_ERR_INCOMPATIBLE_HISTORIES, path_of("sync.realm"), NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
}

/* ---- All together ------------------------------------------------------------------------------- */

static void run(const char* name, void (*body)(void)) {
    section = name;
    body();
    char after[120];
    snprintf(after, sizeof after, "after %s", name);
    still_works(after);
}

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) { perror(folder); return 2; }
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    section = "set-up";
    realm = open_with(path_of("stage.realm"), stage_schema(), 1, RLM_SCHEMA_MODE_AUTOMATIC);
    if (!realm) { printf("cannot open: error %d\n", last_error()); return 1; }
    build();
    config = config_for(path_of("unused.realm"), NULL, 0, RLM_SCHEMA_MODE_AUTOMATIC);
    schema = stage_schema();
    scheduler = realm_scheduler_make_default();
    token = realm_add_realm_changed_callback(realm, on_change, &change_count, NULL);
    realm_find_class(realm, NULL, NULL, NULL);
    async_error = realm_get_last_error_as_async_error();
    reference = realm_create_thread_safe_reference(object);
    CHECK(config && schema && scheduler && token && async_error && reference);
    handles[K_REALM] = realm, handles[K_OBJECT] = object, handles[K_LIST] = list, handles[K_SET] = set;
    handles[K_DICTIONARY] = dictionary, handles[K_RESULTS] = results, handles[K_CONFIG] = config, handles[K_SCHEMA] = schema;
    handles[K_SCHEDULER] = scheduler, handles[K_TOKEN] = token, handles[K_ERROR] = async_error;
    handles[K_QUERY] = query, handles[K_REFERENCE] = reference;

    run("wrong handles: realm", wrong_realm_handles);
    run("wrong handles: object", wrong_object_handles);
    run("wrong handles: collections, results", wrong_collection_handles);
    run("wrong handles: config", wrong_config_handles);
    run("wrong handles: others", wrong_other_handles);
    run("wrong handles: queries", wrong_query_handles);
    run("wrong arguments: queries", wrong_query_arguments);
    run("wrong additions", wrong_additions);
    run("wrong handles: rules, savepoints", wrong_rule_handles);
    run("wrong calls: synchronisation", wrong_sync_calls);
    run("wrong arguments: rules", wrong_rule_arguments);
    run("wrong savepoints", wrong_savepoints);
    run("wrong references", wrong_references);
    run("NULL pointers", null_pointers);
    run("wrong keys", wrong_keys);
    run("wrong types", wrong_types);
    run("wrong positions", wrong_positions);
    run("bad texts", bad_texts);
    run("wrong enums", wrong_enums);
    run("outside transactions", outside_transactions);
    run("deleted things", deleted_things);
    run("wrong indexes", wrong_indexes);
    run("wrong values", wrong_values);
    run("wrong dictionary keys", wrong_dictionary_keys);
    run("nested handles", nested_handles);
    run("one list, many handles", one_list_many_handles);
    run("views as arguments", views_as_arguments);
    run("bad JSON", bad_json);
    run("replaced embedded objects", replaced_embedded);
    run("primary keys", primary_keys);
    run("embedded objects and links", embedded_and_links);
    run("schema rules", schema_rules);
    run("creation rules", creation_rules);
    run("opening", opening);
    run("realms that cannot be changed", fixed_realms);
    run("wrong callbacks", wrong_callbacks);
    run("wrong schema changes", wrong_schema_changes);
    run("wrong threads", wrong_threads);
    realm_release(token);
    run("closed realm", closed_realm);
    if (argc > 1) {
        section = "foreign files";
        foreign_files(argv[1]);
        still_works("after foreign files");
    }
    CHECK(change_count > 0);

    give_back();
    WORKS(realm_close(realm));
    realm_release(realm);
    realm_release(config), realm_release(schema), realm_release(scheduler), realm_release(async_error);
    realm_release(reference);
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) printf("cannot remove %s\n", folder);
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
