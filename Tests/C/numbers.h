/*
 * numbers.h - for tests that need no particular values: files with one class `A` that has an integer `n`, and functions
 * to open such a file, count objects and add them.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include "checks.h"
#include "values.h"

/* A config with the schema of such files; the caller releases it. */
HELPER realm_config_t* config_of_numbers(const char* path) {
    const realm_property_info_t n = property("n", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0);
    const realm_property_info_t* properties = &n;
    const realm_class_info_t a = class_info("A", "", 1, 0, 0);
    realm_config_t* config = realm_config_new();
    realm_schema_t* schema = realm_schema_new(&a, 1, &properties);
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 0);
    realm_release(schema);
    return config;
}
/* Opens in the automatic mode with that schema, in any other mode with the schema of the file. */
HELPER realm_t* open_mode(const char* path, realm_schema_mode_e mode) {
    realm_config_t* config = config_of_numbers(path);
    if (mode != RLM_SCHEMA_MODE_AUTOMATIC) {
        realm_release(config);
        config = realm_config_new();
        realm_config_set_path(config, path);
    }
    realm_config_set_schema_mode(config, mode);
    realm_t* realm = realm_open(config);
    realm_release(config);
    return realm;
}
HELPER void close_realm(realm_t* realm) {
    if (realm) realm_close(realm);
    realm_release(realm);
}
/* The number of objects; -1 after an error. */
HELPER long count(realm_t* realm) {
    realm_class_info_t a;
    bool found;
    size_t n;
    if (!realm || !realm_find_class(realm, "A", &found, &a) || !found || !realm_get_num_objects(realm, a.key, &n)) return -1;
    return (long)n;
}
/* A new object, committed; the caller releases it. */
HELPER realm_object_t* new_number(realm_t* realm, int64_t value) {
    realm_class_info_t a;
    realm_property_info_t n;
    bool found;
    if (!realm || !realm_begin_write(realm)) return NULL;
    realm_object_t* object = realm_find_class(realm, "A", &found, &a) && found ? realm_object_create(realm, a.key) : NULL;
    if (object && realm_find_property(realm, a.key, "n", &found, &n) && realm_set_value(object, n.key, integer(value), false) && realm_commit(realm))
        return object;
    if (realm_is_writable(realm)) realm_rollback(realm);
    realm_release(object);
    return NULL;
}
HELPER bool add(realm_t* realm, int64_t value) {
    realm_object_t* object = new_number(realm, value);
    realm_release(object);
    return object != NULL;
}

#endif
