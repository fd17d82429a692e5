/* Short functions for the C programs of this folder: a file in a new folder with one class, and values by their names.
 * MUST() ends the program with the message of the error if a call fails. */
#ifndef SHORT_H
#define SHORT_H

#include <crealm.h>
#include <realm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUST(condition) must((condition), #condition)

static void must(bool good, const char* what)
{
    realm_error_t e = {.message = ""};
    if (good)
        return;
    realm_get_last_error(&e);
    printf("%s is false: %s\n", what, e.message);
    exit(1);
}

static char folder[200], file[220];

/* Opens the file with a class, whose primary key is its first property if that says so. NULL: a program that declares
 * nothing opens it. */
static realm_t* open_file(const char* class_name, const realm_property_info_t* properties, size_t count,
                          const char* rules)
{
    if (!*file) {
        const char* place = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/limits-XXXXXX", place ? place : "/tmp");
        MUST(mkdtemp(folder));
        snprintf(file, sizeof file, "%s/file.realm", folder);
    }
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, file);
    if (class_name) {
        bool has_key = properties[0].flags & RLM_PROPERTY_PRIMARY_KEY;
        realm_class_info_t info = {
            .name = class_name, .primary_key = has_key ? properties[0].name : "", .num_properties = count};
        realm_schema_t* schema = realm_schema_new(&info, 1, &properties);
        realm_config_set_schema(config, schema);
        realm_config_set_schema_version(config, 1);
        realm_release(schema);
    }
    MUST(crealm_config_set_rules(config, rules));
    realm_t* db = realm_open(config);
    MUST(db);
    realm_release(config);
    return db;
}
static void close_file(realm_t* db)
{
    realm_close(db);
    realm_release(db);
}
static void delete_file(void)
{
    bool deleted = false;
    MUST(realm_delete_files(file, &deleted) && deleted);
    remove(strcat(file, ".lock"));
    remove(folder);
}

static realm_class_key_t class_of(const realm_t* db, const char* name)
{
    bool found = false;
    realm_class_info_t info;
    MUST(realm_find_class(db, name, &found, &info) && found);
    return info.key;
}
static realm_object_t* create(realm_t* db, const char* class_name)
{
    realm_object_t* object = realm_object_create(db, class_of(db, class_name));
    MUST(object);
    return object;
}
static realm_property_key_t property_of(const realm_t* db, const realm_object_t* object, const char* name)
{
    bool found = false;
    realm_property_info_t info;
    MUST(realm_find_property(db, realm_object_get_table(object), name, &found, &info) && found);
    return info.key;
}
static realm_value_t get(const realm_t* db, const realm_object_t* object, const char* name)
{
    realm_value_t value;
    MUST(realm_get_value(object, property_of(db, object, name), &value));
    return value;
}
__attribute__((unused)) static void set(realm_t* db, realm_object_t* object, const char* name, int64_t number)
{
    realm_value_t value = {.type = RLM_TYPE_INT, .integer = number};
    MUST(realm_set_value(object, property_of(db, object, name), value, false));
}

#endif
