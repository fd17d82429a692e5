/*
 * Closing. Goal: when realm_close() has returned, no thread of the library keeps the file open: it can be deleted, and
 * opened in another way, at once. Also after asynchronous writes, and when one has not begun yet.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <stdlib.h>
#include <unistd.h>

#include "checks.h"

enum { ROUNDS = 200 };

static char folder[] = "/tmp/closing-XXXXXX";
static char path[100];

static realm_t* opened(realm_class_key_t* out_key) {
    realm_property_info_t property;
    memset(&property, 0, sizeof property);
    property.name = "n", property.type = RLM_PROPERTY_TYPE_INT;
    property.public_name = property.link_target = property.link_origin_property_name = "";
    const realm_property_info_t* properties = &property;
    realm_class_info_t class_info;
    memset(&class_info, 0, sizeof class_info);
    class_info.name = "Thing", class_info.primary_key = "", class_info.num_properties = 1;
    realm_schema_t* schema = realm_schema_new(&class_info, 1, &properties);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t* realm = realm_open(config);
    realm_release(config);
    realm_release(schema);
    if (!CHECK(realm != NULL)) give_up();
    bool found = false;
    CHECK(realm_find_class(realm, "Thing", &found, &class_info) && found);
    *out_key = class_info.key;
    return realm;
}

static void never_called(realm_userdata_t userdata) { (void)userdata; }

static void close_and_delete(realm_t* realm) {
    realm_close(realm);
    realm_release(realm);
    bool did_delete = false;
    CHECK(realm_delete_files(path, &did_delete) && did_delete);
}

static void after_asynchronous_commits(void) {
    section = "after asynchronous commits";
    for (int i = 0; i < ROUNDS && failed < 5; i++) {
        realm_class_key_t key;
        realm_t* realm = opened(&key);
        CHECK(realm_begin_write(realm));
        realm_release(realm_object_create(realm, key));
        CHECK(realm_async_commit(realm, NULL, NULL, NULL, true, NULL));
        close_and_delete(realm);
    }
}

static void before_asynchronous_writes(void) {
    section = "before asynchronous writes";
    for (int i = 0; i < ROUNDS && failed < 5; i++) {
        realm_class_key_t key;
        realm_t* realm = opened(&key);
        CHECK(realm_async_begin_write(realm, never_called, NULL, NULL, false, NULL));
        close_and_delete(realm);
    }
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/file.realm", folder);
    after_asynchronous_commits();
    before_asynchronous_writes();
    return finished(folder);
}
