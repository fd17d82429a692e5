/*
 * instances_test.c - several instances of one path, on one thread and in two processes: rows of docs/live-objects.md, section 11.5 and 11.6, that
 * are about opening, closing and deleting.
 *
 *     instances_test
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/instances-XXXXXX";

/* Class A with two properties, id (key) and n; with 3 properties also m; with more, also a class B. */
static realm_config_t* config_of(const char* name, int properties, uint64_t version, bool cached) {
    char path[100];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_config_t* c = realm_config_new();
    realm_config_set_path(c, path);
    realm_config_set_cached(c, cached);
    const realm_property_info_t of_a[] = {
        property("id", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_PRIMARY_KEY),
        property("n", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
        property("m", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
    };
    const realm_property_info_t* all[] = {of_a, of_a + 1};
    const bool more = properties > 3;
    const realm_class_info_t classes[] = {class_info("A", "id", more ? 2 : (size_t)properties, 0, 0), class_info("B", "", 1, 0, 0)};
    realm_schema_t* schema = realm_schema_new(classes, more ? 2 : 1, all);
    realm_config_set_schema(c, schema);
    realm_config_set_schema_version(c, version);
    realm_release(schema);
    return c;
}
static realm_t* open_as(const char* name, int properties, uint64_t version, bool cached) {
    realm_config_t* c = config_of(name, properties, version, cached);
    realm_t* r = realm_open(c);
    realm_release(c);
    return r;
}
static realm_t* open_again(const char* name) {
    realm_t* r = open_as(name, 2, 1, false);
    if (!CHECK(r)) give_up();
    return r;
}
static realm_class_key_t class_a(const realm_t* r) {
    bool found = false;
    realm_class_info_t info;
    if (!CHECK(realm_find_class(r, "A", &found, &info) && found)) give_up();
    return info.key;
}
static realm_object_t* add(realm_t* r, int64_t id) { return realm_object_create_with_primary_key(r, class_a(r), integer(id)); }

static void cached(void) {
    section = "T44: two cached opens are one";
    realm_t *a = open_as("cached", 2, 1, true), *b = open_as("cached", 2, 1, true);
    CHECK(a && b && realm_equals(a, b));
    CHECK(realm_close(a) && realm_is_closed(b));
    realm_t* c = open_as("cached", 2, 1, true);
    CHECK(c && !realm_equals(a, c) && !realm_is_closed(c) && realm_begin_read(c));
    FAILS(RLM_ERR_CLOSED_REALM, realm_begin_read(b));

    section = "T46: another schema, cached and not";
    FAILS(RLM_ERR_MISMATCHED_CONFIG, open_as("cached", 4, 1, true) != NULL);
    realm_t* uncached = open_as("cached", 4, 1, false);
    CHECK(uncached && !realm_equals(uncached, c) && realm_begin_read(uncached));
    realm_close(c), realm_close(uncached);
    realm_release(uncached), realm_release(c), realm_release(b), realm_release(a);
}

static void other_version(void) {
    section = "T47: another version after the last close";
    realm_t* r = open_again("version");
    CHECK(realm_begin_write(r));
    realm_object_t* o = add(r, 1);
    CHECK(o && realm_commit(r));
    FAILS(RLM_ERR_MISMATCHED_CONFIG, open_as("version", 3, 2, false) != NULL);
    CHECK(realm_close(r));
    realm_t* next = open_as("version", 3, 2, false);
    CHECK(next && realm_get_schema_version(next) == 2);
    CHECK(!realm_object_is_valid(o));
    realm_close(next);
    realm_release(next), realm_release(o), realm_release(r);
}

static void the_same_key_again(void) {
    section = "M120: the creation is rolled back";
    realm_t* r = open_again("again");
    realm_value_t v;
    realm_property_info_t n;
    bool found = false;
    CHECK(realm_find_property(r, class_a(r), "n", &found, &n) && found && realm_begin_write(r));
    realm_object_t* undone = add(r, 5);
    CHECK(undone && realm_object_is_valid(undone) && realm_rollback(r) && !realm_object_is_valid(undone));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(undone, n.key, &v));

    section = "M121: primary key 5 once more";
    CHECK(realm_begin_write(r));
    realm_object_t* first = add(r, 5);
    CHECK(first && realm_commit(r) && realm_begin_write(r) && realm_object_delete(first));
    realm_object_t* second = add(r, 5);
    CHECK(second && realm_commit(r));
    CHECK(realm_object_get_key(first) != realm_object_get_key(second) && !realm_object_is_valid(first) && realm_object_is_valid(second));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, realm_get_value(first, n.key, &v));
    realm_close(r);
    realm_release(second), realm_release(first), realm_release(undone), realm_release(r);
}

static void absent_class(void) {
    section = "M5: an immutable realm whose schema has a class that the file lacks";
    realm_t* r = open_again("absent");
    realm_close(r), realm_release(r);
    realm_config_t* c = config_of("absent", 4, 1, false);
    realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_IMMUTABLE);
    r = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t info;
    size_t n;
    CHECK(r && realm_find_class(r, "B", &found, &info) && found && info.key == RLM_INVALID_CLASS_KEY);
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_get_num_objects(r, info.key, &n));
    FAILS(RLM_ERR_NO_SUCH_TABLE, realm_object_find_all(r, info.key) != NULL);
    realm_close(r), realm_release(r);
}

static void deleting_files(void) {
    section = "M123: the files of somebody else";
    char path[100];
    snprintf(path, sizeof path, "%s/files.realm", folder);
    realm_t* r = open_again("files");
    FAILS(RLM_ERR_DELETE_OPENED_REALM, realm_delete_files(path, NULL));
    realm_close(r), realm_release(r);
    int ready[2], end[2];
    if (pipe(ready) || pipe(end)) give_up();
    pid_t child = fork();
    if (child == 0) {
        char c = 0;
        realm_t* theirs = open_as("files", 2, 1, false);
        bool told = write(ready[1], theirs ? "y" : "n", 1) == 1;
        close(end[1]);
        while (read(end[0], &c, 1) > 0) {}
        realm_close(theirs), realm_release(theirs);
        _exit(!told);
    }
    char c = 0;
    close(end[0]);
    CHECK(read(ready[0], &c, 1) == 1 && c == 'y');
    FAILS(RLM_ERR_DELETE_OPENED_REALM, realm_delete_files(path, NULL));
    CHECK(access(path, F_OK) == 0);
    close(end[1]);
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child && status == 0);
    bool did = false;
    CHECK(realm_delete_files(path, &did) && did && access(path, F_OK) != 0);
    close(ready[0]), close(ready[1]);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    deleting_files(); /* forks, so it runs before this process has a realm open */
    cached();
    other_version();
    the_same_key_again();
    absent_class();
    return finished(folder);
}
