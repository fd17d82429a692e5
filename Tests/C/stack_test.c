/*
 * Small stacks. Goal: every call works on a thread with the minimum stack of the header (CREALM_MIN_STACK_SIZE):
 * queries and JSON of the maximum depth, long chains of classes, copies, checks and migrations. With -v the test prints
 * how much stack each call used.
 *
 * Debug builds need several times as much, and get larger stacks here.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/stack-XXXXXX";
static char path[100], copy_path[100];
static bool talks;
static size_t most_used, stack_size;
static realm_class_key_t thing;
static realm_property_key_t number, words, any, next_one, many;

static realm_t* opened(void) {
    realm_property_info_t p[] = {property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_INDEXED),
                                 property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_FULLTEXT_INDEXED),
                                 property("any", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NULLABLE),
                                 property("next", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Thing", RLM_PROPERTY_NULLABLE),
                                 property("many", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_LIST, "Thing", 0)};
    realm_config_t* c = config_of_class(path, class_info("Thing", "", 5, 0, 0), p);
    realm_t* r = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t info;
    if (!r || !realm_find_class(r, "Thing", &found, &info) || !found) return NULL;
    thing = info.key;
    realm_property_key_t* keys[] = {&number, &words, &any, &next_one, &many};
    for (int i = 0; i < 5; i++) {
        realm_property_info_t info_of_property;
        if (!realm_find_property(r, thing, p[i].name, &found, &info_of_property) || !found) return NULL;
        *keys[i] = info_of_property.key;
    }
    return r;
}

/* ---- Calls ------------------------------------------------------------------------------------ */

static char* repeated(const char* front, int times, const char* middle, const char* back) {
    size_t a = strlen(front), b = strlen(middle), c = strlen(back);
    char* all = (char*)malloc((a + c) * (size_t)times + b + 1);
    char* at = all;
    for (int i = 0; i < times; i++, at += a) memcpy(at, front, a);
    memcpy(at, middle, b), at += b;
    for (int i = 0; i < times; i++, at += c) memcpy(at, back, c);
    *at = 0;
    return all;
}
static void open_and_close(void) {
    realm_t* r = opened();
    CHECK(r);
    realm_release(r);
}
static void runs(const char* text, bool may_be_refused) {
    realm_t* r = opened();
    if (!CHECK(r)) return;
    realm_query_t* q = realm_query_parse(r, thing, text, 0, NULL);
    if (!q && !may_be_refused) CHECK(last_error() == RLM_ERR_NONE && q);
    if (q) {
        size_t n = 0;
        CHECK(realm_query_count(q, &n));
        realm_results_t* found = realm_query_find_all(q);
        CHECK(found && realm_results_count(found, &n));
        CHECK(realm_query_get_description(q));
        realm_release(found);
        realm_release(q);
    }
    realm_release(r);
}
/* More levels than fit onto a small stack: the call fails there, and works on a larger stack. */
static void runs_where_there_is_room(const char* text) {
    realm_t* r = opened();
    if (!CHECK(r)) return;
    if (stack_size < (size_t)16 << 20) {
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_query_parse(r, thing, text, 0, NULL) != NULL);
    } else {
        realm_release(r);
        return runs(text, false);
    }
    realm_release(r);
}
static void ordinary_queries(void) {
    runs("number > 3 AND words CONTAINS[c] 'word' AND NOT (number == 3) SORT(words DESC, number ASC) LIMIT(10)", false);
    runs("ANY many.next.number IN {1, 2, 3} OR SUBQUERY(many, $m, $m.number > 1 AND $m.words LIKE '*o*').@count > 0", false);
    runs("words TEXT 'word number'", false);
    runs("many.@sum.number > 3 DISTINCT(words)", false);
}
static void deep_negations(void) {
    char* text = repeated("NOT (", 24, "number == 1", ")");
    runs(text, false);
    free(text);
    text = repeated("NOT (", 1900, "number == 1", ")");
    runs_where_there_is_room(text);
    free(text);
}
static void deep_alternations(void) {
    /* Each level is another kind of condition. */
    char* text = repeated("(number == 1 AND (number == 2 OR ", 950, "number == 3", "))");
    runs_where_there_is_room(text);
    free(text);
}
static void deep_arithmetic(void) {
    char* text = repeated("(1 + ", 1900, "number", ")");
    char* whole = (char*)malloc(strlen(text) + 20);
    sprintf(whole, "%s == 3", text);
    runs_where_there_is_room(whole);
    free(text);
    free(whole);
}
static void subqueries(int levels, bool may_be_refused) {
    char text[6000], name[16] = "";
    size_t at = 0;
    for (int i = 0; i < levels; i++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "SUBQUERY(%s%smany, $v%d, ", name, *name ? "." : "", i);
        snprintf(name, sizeof name, "$v%d", i);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "%s.number == 1", name);
    for (int i = 0; i < levels; i++) at += (size_t)snprintf(text + at, sizeof text - at, ").@count > 0");
    runs(text, may_be_refused);
}
static void deep_subqueries(void) {
    /* Each subquery is two levels of the query. */
    subqueries(11, false);
    subqueries(32, true);
}
static void long_paths(void) {
    char* text = repeated("next.", 1000, "number == 1", "");
    runs(text, true);
    free(text);
    text = repeated("many.", 199, "number == 1", "");
    runs(text, true);
    free(text);
}
static void deep_json(void) {
    const char* fronts[] = {"[", "{\"a\":", "[{\"a\":"};
    const char* backs[] = {"]", "}", "}]"};
    for (int i = 0; i < 3; i++) {
        realm_t* r = opened();
        if (!CHECK(r && realm_begin_write(r))) return;
        realm_object_t* o = realm_object_create(r, thing);
        char* text = repeated(fronts[i], i == 2 ? 50 : 100, "1", backs[i]);
        CHECK(realm_set_json(o, any, text));
        free(text);
        char* json = realm_object_to_string(o);
        CHECK(json);
        realm_free(json);
        text = repeated(fronts[i], 3000, "1", backs[i]);
        FAILS(RLM_ERR_LIMIT_EXCEEDED, realm_set_json(o, any, text));
        free(text);
        CHECK(realm_commit(r));
        CHECK(realm_begin_write(r) && realm_object_delete(o) && realm_commit(r));
        realm_release(o);
        realm_release(r);
    }
}
static void writes(void) {
    realm_t* r = opened();
    if (!CHECK(r && realm_begin_write(r))) return;
    realm_object_t* before = NULL;
    for (int i = 0; i < 2000; i++) {
        char words_of[40];
        int length = snprintf(words_of, sizeof words_of, "word number %d", i);
        realm_object_t* o = realm_object_create(r, thing);
        CHECK(realm_set_value(o, number, integer(i), false) && realm_set_value(o, words, text_of(words_of, (size_t)length), false));
        if (before) CHECK(realm_set_value(o, next_one, link_to(before), false));
        realm_list_t* list = realm_get_list(o, many);
        if (before) CHECK(realm_list_insert(list, 0, link_to(before)));
        realm_release(list);
        realm_release(before);
        before = o;
    }
    realm_release(before);
    CHECK(realm_commit(r));
    realm_release(r);
}
static void checks_and_copies(void) {
    realm_t* r = opened();
    if (!CHECK(r)) return;
    CHECK(crealm_verify(r, NULL));
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, copy_path);
    CHECK(realm_convert_with_config(r, c, false));
    realm_release(c);
    unlink(copy_path);
    bool did = false;
    CHECK(realm_compact(r, &did));
    realm_release(r);
}
/* 20,000 embedded classes, each contained in the one before it. */
static void a_chain_of_classes(void) {
    enum { CLASSES = 20000 };
    realm_class_info_t* classes = (realm_class_info_t*)calloc(CLASSES, sizeof *classes);
    realm_property_info_t* properties = (realm_property_info_t*)calloc(CLASSES, sizeof *properties);
    const realm_property_info_t** lists = (const realm_property_info_t**)calloc(CLASSES, sizeof *lists);
    char (*names)[16] = (char (*)[16])calloc(CLASSES + 1, sizeof *names);
    for (int i = 0; i <= CLASSES; i++) snprintf(names[i], sizeof *names, "C%06d", i);
    for (int i = 0; i < CLASSES; i++) {
        bool is_last = i == CLASSES - 1;
        properties[i] = is_last ? property("end", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0)
                                : property("next", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, names[i + 1], RLM_PROPERTY_NULLABLE);
        lists[i] = &properties[i];
        classes[i] = class_info(names[i], "", 1, 0, i == 0 ? 0 : RLM_CLASS_EMBEDDED);
    }
    realm_schema_t* s = realm_schema_new(classes, CLASSES, lists);
    CHECK(s && realm_schema_validate(s, RLM_SCHEMA_VALIDATION_REJECT_EMBEDDED_ORPHANS));
    realm_release(s);
    /* The last one links back to the second: a cycle of almost all classes. */
    properties[CLASSES - 1] = property("next", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, names[1], RLM_PROPERTY_NULLABLE);
    s = realm_schema_new(classes, CLASSES, lists);
    if (CHECK(s)) FAILS(RLM_ERR_SCHEMA_VALIDATION_FAILED, realm_schema_validate(s, 0));
    realm_release(s);
    free(classes);
    free(properties);
    free(lists);
    free(names);
}

/* ---- On a separate thread --------------------------------------------------------------------- */

typedef struct {
    const char* name;
    void (*body)(void);
} call_t;
static const call_t calls[] = {
    {"opening", open_and_close}, {"writes", writes}, {"ordinary queries", ordinary_queries}, {"deep negations", deep_negations},
    {"deep alternations", deep_alternations}, {"deep arithmetic", deep_arithmetic}, {"deep subqueries", deep_subqueries},
    {"long paths", long_paths}, {"deep JSON", deep_json}, {"checks and copies", checks_and_copies}, {"a chain of classes", a_chain_of_classes},
};
static void* running(void* call) {
    ((const call_t*)call)->body();
    return NULL;
}
static void run_on_a_thread(const call_t* call) {
    section = call->name;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t* stack = (uint8_t*)mmap(NULL, stack_size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!CHECK(stack != MAP_FAILED)) give_up();
    /* The page below the stack is inaccessible. */
    CHECK(mprotect(stack, page, PROT_NONE) == 0);
    stack += page;
    memset(stack, 0xA5, stack_size);
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, stack_size) == 0);
    if (!CHECK(pthread_create(&thread, &attributes, running, (void*)call) == 0)) give_up();
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    size_t untouched = 0;
    while (untouched < stack_size && stack[untouched] == 0xA5) untouched++;
    size_t used = stack_size - untouched;
    if (used > most_used) most_used = used;
    if (talks) printf("%-24s %6zu bytes of stack\n", call->name, used);
    munmap(stack - page, stack_size + page);
}

int main(int argc, char** argv) {
    setvbuf(stdout, NULL, _IONBF, 0);
    talks = argc > 1 && strcmp(argv[1], "-v") == 0;
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/world.realm", folder);
    snprintf(copy_path, sizeof copy_path, "%s/copy.realm", folder);
    Dl_info library;
    bool is_debug = dladdr((void*)realm_open, &library) && library.dli_fname && strstr(library.dli_fname, "/debug/");
    stack_size = CREALM_MIN_STACK_SIZE * (is_debug ? 16u : 1u);
    if (talks && argc > 2) stack_size = (size_t)atol(argv[2]) << 10;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (argc < 4 || strstr(calls[i].name, argv[3])) run_on_a_thread(&calls[i]);
    if (talks) printf("at most %zu bytes of stack\n", most_used);
    return finished(folder);
}
