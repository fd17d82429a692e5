/*
 * Deeply nested collections. Goal: on a thread with the minimum stack of the header (CREALM_MIN_STACK_SIZE), checks and
 * salvage reach all levels of nested collections in a Mixed property, and a query with many steps either finds its
 * objects or fails with LIMIT_EXCEEDED.
 *
 * Debug builds need several times as much stack.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "checks.h"

enum { MOST_LEVELS = 200, STEPS_OF_ALL_STACKS = 30, FORBIDDEN_STEPS = 99 };

static char folder[] = "/tmp/nesting-XXXXXX";
static char path[100], copy_path[100];
static realm_class_key_t thing;
static realm_property_key_t any;

static realm_config_t* configured(const char* file) {
    realm_property_info_t property;
    memset(&property, 0, sizeof property);
    property.name = "value", property.type = RLM_PROPERTY_TYPE_MIXED, property.flags = RLM_PROPERTY_NULLABLE;
    property.public_name = property.link_target = property.link_origin_property_name = "";
    const realm_property_info_t* properties = &property;
    realm_class_info_t class_info;
    memset(&class_info, 0, sizeof class_info);
    class_info.name = "Thing", class_info.primary_key = "", class_info.num_properties = 1;
    realm_schema_t* schema = realm_schema_new(&class_info, 1, &properties);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, file);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_release(schema);
    return config;
}

static realm_t* opened(void) {
    realm_config_t* config = configured(path);
    realm_t* realm = realm_open(config);
    realm_release(config);
    if (!CHECK(realm != NULL)) give_up();
    bool found = false;
    realm_class_info_t class_info;
    realm_property_info_t property;
    CHECK(realm_find_class(realm, "Thing", &found, &class_info) && found);
    thing = class_info.key;
    CHECK(realm_find_property(realm, thing, "value", &found, &property) && found);
    any = property.key;
    return realm;
}

static void make_nested_lists(void) {
    section = "making";
    realm_t* realm = opened();
    CHECK(realm_begin_write(realm));
    realm_object_t* object = realm_object_create(realm, thing);
    CHECK(realm_set_list(object, any) != NULL);
    realm_list_t* list = realm_get_list(object, any);
    int levels = 0;
    while (levels < MOST_LEVELS) {
        realm_list_t* inner = realm_list_insert_list(list, 0);
        if (!inner) break;
        realm_release(list);
        list = inner;
        levels++;
    }
    CHECK(levels > 90 && levels < MOST_LEVELS);
    realm_value_t seven = {.integer = 7, .type = RLM_TYPE_INT};
    CHECK(realm_list_insert(list, 0, seven));
    CHECK(realm_commit(realm));
    realm_release(list);
    realm_release(object);
    realm_close(realm);
    realm_release(realm);
}

static void check_all_levels(void) {
    section = "checks";
    realm_t* realm = opened();
    char* report = NULL;
    CHECK(crealm_verify(realm, &report));
    realm_free(report);
    size_t total = 1;
    CHECK(crealm_find_faults(realm, 10, NULL, NULL, &total) && total == 0);
    realm_close(realm);
    realm_release(realm);
    realm_config_t *source = configured(path), *target = configured(copy_path);
    crealm_check_t* check = NULL;
    CHECK(crealm_check(source, 10, &check) && check->result == CREALM_CHECK_SOUND);
    realm_free(check);
    CHECK(crealm_salvage(source, target, &report));
    CHECK(report != NULL && strstr(report, "\"whole\": false") == NULL);
    realm_free(report);
    realm_release(source);
    realm_release(target);
}

static bool count(realm_t* realm, const char* step, int steps, size_t* found) {
    static char text[2000];
    strcpy(text, "value");
    for (int i = 0; i < steps; i++) strcat(text, step);
    strcat(text, " == 7");
    realm_query_t* query = realm_query_parse(realm, thing, text, 0, NULL);
    if (!query) return false;
    bool ran = realm_query_count(query, found);
    realm_release(query);
    return ran;
}

static void query_many_steps(void) {
    section = "queries";
    realm_t* realm = opened();
    const char* steps[] = {"[*]", "[0]", "[LAST]"};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t found = 1;
        CHECK(count(realm, steps[i], STEPS_OF_ALL_STACKS, &found) && found == 0);
        FAILS(RLM_ERR_LIMIT_EXCEEDED, count(realm, steps[i], FORBIDDEN_STEPS, &found));
    }
    realm_close(realm);
    realm_release(realm);
}

static void* run(void* function) {
    (*(void (**)(void))function)();
    return NULL;
}

static void on_a_stack(size_t size, void (*function)(void)) {
    pthread_attr_t attributes;
    pthread_t thread;
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, size) == 0);
    if (!CHECK(pthread_create(&thread, &attributes, run, (void*)&function) == 0)) give_up();
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/nested.realm", folder);
    snprintf(copy_path, sizeof copy_path, "%s/salvaged.realm", folder);
    Dl_info library;
    bool is_debug = dladdr((void*)realm_open, &library) && library.dli_fname && strstr(library.dli_fname, "/debug/");
    size_t stack_size = CREALM_MIN_STACK_SIZE * (is_debug ? 16u : 1u);
    on_a_stack(8u << 20, make_nested_lists);
    on_a_stack(stack_size, check_all_levels);
    if (!is_debug) on_a_stack(stack_size, query_many_steps);
    return finished(folder);
}
