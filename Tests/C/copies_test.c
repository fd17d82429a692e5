/*
 * Compaction, copies, changes of key and merging. Goal: they keep exactly the data of the source, in the requested
 * form; handles stay valid; other users of the file are not disturbed; every refusal has its error number. Method: one
 * file with every kind of data, made again for each case in each form (plain, with a key, with a passphrase, in Realm's
 * form), and read back as text.
 *
 *     copies_test
 *
 * With COPIES_TEST_REFERENCE set, the test skips the features that only this library has. Compiles as C11 and as C++17.
 * Exit status 1 when a check failed.
 */

#include <crealm.h>

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

#pragma weak crealm_verify
#pragma weak crealm_change_key
#pragma weak crealm_config_set_page_cipher
#pragma weak crealm_config_set_passphrase

/* ---- Checking --------------------------------------------------------------------------------- */

static char label[200];
static bool ours;

static const char* last_message(void) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    return realm_get_last_error(&error) && error.message ? error.message : "";
}
static bool same(const char* got, const char* wanted, int line) {
    if (!strcmp(got, wanted)) return result(true, line, "");
    printf("  got    %.900s\n  wanted %.900s\n", got, wanted);
    return result(false, line, "texts are equal");
}
#define TEXT(got, wanted) same((got), (wanted), __LINE__)
enum { STATE = RLM_ERR_WRONG_TRANSACTION_STATE, EXISTS = RLM_ERR_FILE_ALREADY_EXISTS, BROKEN = RLM_ERR_BROKEN_INVARIANT,
       INVALID = RLM_ERR_INVALID_DATABASE, IN_USE = RLM_ERR_DELETE_OPENED_REALM, COMBINATION = RLM_ERR_ILLEGAL_COMBINATION };

/* ---- Files ------------------------------------------------------------------------------------ */

static char folder[] = "/tmp/copies_test.XXXXXX";
static const char* in_folder(const char* name) {
    static char paths[64][200];
    static int used_paths;
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (int i = 0; i < used_paths; i++)
        if (!strcmp(paths[i], path)) return paths[i];
    if (used_paths == 64) exit(3);
    return strcpy(paths[used_paths++], path);
}
static long long file_size(const char* path) {
    struct stat info;
    return stat(path, &info) == 0 ? (long long)info.st_size : -1;
}
static bool exists(const char* path) { return file_size(path) >= 0; }
static bool is_plain(const char* path) {
    char head[24] = {0};
    FILE* f = fopen(path, "rb");
    if (!f) return false;
    size_t n = fread(head, 1, sizeof head, f);
    fclose(f);
    return n == sizeof head && !memcmp(head + 16, "T-DB", 4);
}
static int count_files(void) {
    char command[300];
    snprintf(command, sizeof command, "ls '%s' | grep -c tmp_", folder);
    FILE* f = popen(command, "r");
    int n = -1;
    if (!f || fscanf(f, "%d", &n) != 1) n = -1;
    if (f) pclose(f);
    return n;
}

/* ---- Opening ---------------------------------------------------------------------------------- */

/* How a file is encrypted. */
typedef enum { PLAIN, KEY, OTHER_KEY, AES, WORDS, OTHER_WORDS, REALM, REALM_OTHER, FORMS } form;
static const char* form_names[] = {"plain", "key", "other key", "AES", "passphrase", "other passphrase", "Realm's form",
                                   "Realm's form, other key"};

static bool on_thread(void* userdata) { return pthread_equal(*(pthread_t*)userdata, pthread_self()); }
static void notify(void* userdata, realm_work_queue_t* queue) { (void)userdata, (void)queue; }
static bool same_as(const void* a, const void* b) { return a == b; }
static bool can_deliver(void* userdata) { return (void)userdata, true; }
static void set_scheduler(realm_config_t* config) {
    pthread_t* self = (pthread_t*)malloc(sizeof(pthread_t));
    *self = pthread_self();
    realm_scheduler_t* s = realm_scheduler_new(self, free, notify, on_thread, same_as, can_deliver);
    realm_config_set_scheduler(config, s);
    realm_release(s);
}
static const uint8_t* key_bytes(int which) {
    static uint8_t keys[2][64];
    for (int i = 0; i < 64; i++) keys[which][i] = (uint8_t)(i * 3 + which * 100 + 1);
    return keys[which];
}
static void set_form(realm_config_t* config, form f) {
    switch (f) {
    case KEY: case REALM: case AES: realm_config_set_encryption_key(config, key_bytes(0), 64); break;
    case OTHER_KEY: case REALM_OTHER: realm_config_set_encryption_key(config, key_bytes(1), 64); break;
    case WORDS: crealm_config_set_passphrase(config, "open sesame", 11, 1, 8192); break;
    case OTHER_WORDS: crealm_config_set_passphrase(config, "swordfish", 9, 1, 8192); break;
    default: break;
    }
    if (!ours) return;
    if (f == REALM || f == REALM_OTHER) crealm_config_set_page_cipher(config, CREALM_PAGE_CIPHER_REALM);
    if (f == AES) crealm_config_set_page_cipher(config, CREALM_PAGE_CIPHER_AES_256_GCM);
}

static realm_schema_t* make_schema(bool with_extra) {
    static realm_property_info_t person[10], address[2], extra[1];
    person[0] = property("id", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_PRIMARY_KEY);
    person[1] = property("name", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_INDEXED | RLM_PROPERTY_NULLABLE);
    person[2] = property("friend", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Person", RLM_PROPERTY_NULLABLE);
    person[3] = property("home", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Address", RLM_PROPERTY_NULLABLE);
    person[4] = property("tags", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_LIST, "", 0);
    person[5] = property("friends", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_LIST, "Person", 0);
    person[6] = property("places", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_LIST, "Address", 0);
    person[7] = property("numbers", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_SET, "", 0);
    person[8] = property("map", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_DICTIONARY, "Person", RLM_PROPERTY_NULLABLE);
    person[9] = property("any", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NULLABLE);
    address[0] = property("street", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0);
    address[1] = property("who", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Person", RLM_PROPERTY_NULLABLE);
    extra[0] = property("n", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0);
    realm_class_info_t classes[3];
    memset(classes, 0, sizeof classes);
    classes[0].name = "Address", classes[0].primary_key = "", classes[0].num_properties = 2, classes[0].key = RLM_INVALID_CLASS_KEY;
    classes[0].flags = RLM_CLASS_EMBEDDED;
    classes[1].name = "Person", classes[1].primary_key = "id", classes[1].num_properties = 10, classes[1].key = RLM_INVALID_CLASS_KEY;
    classes[2].name = "Extra", classes[2].primary_key = "", classes[2].num_properties = 1, classes[2].key = RLM_INVALID_CLASS_KEY;
    const realm_property_info_t* lists[] = {address, person, extra};
    return realm_schema_new(classes, with_extra ? 3 : 2, lists);
}

static realm_config_t* config_for(const char* path, form f) {
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    set_form(config, f);
    set_scheduler(config);
    return config;
}
static realm_config_t* typed_config(const char* path, form f) {
    realm_config_t* config = config_for(path, f);
    realm_schema_t* schema = make_schema(false);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 3);
    realm_release(schema);
    return config;
}
static realm_t* open_config(realm_config_t* config) {
    realm_clear_last_error();
    realm_t* realm = realm_open(config);
    realm_release(config);
    return realm;
}
static realm_t* open_typed(const char* path, form f) { return open_config(typed_config(path, f)); }
static realm_t* open_dynamic(const char* path, form f) { return open_config(config_for(path, f)); }
static void close_realm(realm_t* realm) {
    if (!realm) return;
    realm_close(realm);
    realm_release(realm);
}

/* ---- Data ------------------------------------------------------------------------------------- */

static realm_value_t number(int64_t i) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_INT, v.integer = i;
    return v;
}
static realm_value_t string(const char* s) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_STRING, v.string.data = s, v.string.size = strlen(s);
    return v;
}
static realm_class_key_t class_key(realm_t* realm, const char* name) {
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    realm_find_class(realm, name, &found, &info);
    return found ? info.key : RLM_INVALID_CLASS_KEY;
}
static realm_property_key_t property_key(realm_t* realm, const char* class_name, const char* name) {
    bool found = false;
    realm_property_info_t info;
    memset(&info, 0, sizeof info);
    realm_find_property(realm, class_key(realm, class_name), name, &found, &info);
    return found ? info.key : RLM_INVALID_PROPERTY_KEY;
}
#define P(name) property_key(realm, "Person", name)
static realm_object_t* person(realm_t* realm, int64_t id) {
    bool found = false;
    return realm_object_find_with_primary_key(realm, class_key(realm, "Person"), number(id), &found);
}
/* A person with a value in every property. Every second person has links. */
static bool add_person(realm_t* realm, int64_t id, const char* name) {
    bool good = true;
    realm_object_t* o = realm_object_get_or_create_with_primary_key(realm, class_key(realm, "Person"), number(id), NULL);
    if (!o) return false;
    good &= realm_set_value(o, P("name"), string(name), false);
    realm_object_t* home = realm_set_embedded(o, P("home"));
    char text[60];
    snprintf(text, sizeof text, "%s's street", name);
    good &= realm_set_value(home, property_key(realm, "Address", "street"), string(text), false);
    good &= realm_set_value(home, property_key(realm, "Address", "who"), link_to(o), false);
    realm_release(home);
    realm_list_t* tags = realm_get_list(o, P("tags"));
    good &= realm_list_clear(tags) && realm_list_insert(tags, 0, string(name)) && realm_list_insert(tags, 1, string("tag"));
    realm_release(tags);
    realm_list_t* places = realm_get_list(o, P("places"));
    good &= realm_list_clear(places);
    for (int i = 0; i < 2; i++) {
        realm_object_t* place = realm_list_insert_embedded(places, (size_t)i);
        snprintf(text, sizeof text, "place %d of %s", i, name);
        good &= realm_set_value(place, property_key(realm, "Address", "street"), string(text), false);
        realm_release(place);
    }
    realm_release(places);
    realm_set_t* numbers = realm_get_set(o, P("numbers"));
    good &= realm_set_clear(numbers);
    for (int64_t i = 0; i < 3; i++) good &= realm_set_insert(numbers, number(id * i), NULL, NULL);
    realm_release(numbers);
    realm_object_t* friend_ = person(realm, id - 1);
    realm_list_t* friends = realm_get_list(o, P("friends"));
    good &= realm_list_clear(friends);
    realm_dictionary_t* map = realm_get_dictionary(o, P("map"));
    if (friend_) {
        good &= realm_set_value(o, P("friend"), link_to(friend_), false);
        good &= realm_list_insert(friends, 0, link_to(o)) && realm_list_insert(friends, 1, link_to(friend_));
        good &= realm_dictionary_insert(map, string("best"), link_to(friend_), NULL, NULL);
    }
    realm_release(friends);
    realm_release(map);
    if (id % 3 == 0) {
        /* [name, {"in": [link]}] */
        realm_list_t* any = realm_set_list(o, P("any"));
        good &= realm_list_clear(any) && realm_list_insert(any, 0, string(name));
        realm_dictionary_t* inner = realm_list_insert_dictionary(any, 1);
        realm_list_t* innermost = realm_dictionary_insert_list(inner, string("in"));
        good &= realm_list_insert(innermost, 0, link_to(o));
        realm_release(innermost);
        realm_release(inner);
        realm_release(any);
    } else {
        good &= realm_set_value(o, P("any"), friend_ ? link_to(friend_) : number(id), false);
    }
    realm_release(friend_);
    realm_release(o);
    return good;
}

static char shown[1 << 20];
static size_t used;
static void say(const char* format, ...) {
    va_list list;
    va_start(list, format);
    if (used < sizeof shown - 1000) used += (size_t)vsnprintf(shown + used, sizeof shown - used, format, list);
    va_end(list);
}
/* All persons in key order, as text; links as primary keys. */
static const char* contents(realm_t* realm) {
    used = 0;
    shown[0] = 0;
    if (!realm) return "no realm";
    if (class_key(realm, "Person") == RLM_INVALID_CLASS_KEY) return "no class";
    realm_results_t* all = realm_object_find_all(realm, class_key(realm, "Person"));
    size_t n = 0;
    realm_results_count(all, &n);
    for (size_t i = 0; i < n; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        char* json = realm_object_to_string(o);
        realm_free(json);
        realm_value_t v;
        realm_property_key_t ids = P("id");
        realm_get_value(o, ids, &v);
        say("%lld", (long long)v.integer);
        realm_get_value(o, P("name"), &v);
        say(" %.*s", v.type == RLM_TYPE_STRING ? (int)v.string.size : 1, v.type == RLM_TYPE_STRING ? v.string.data : "-");
        realm_object_t* other = realm_get_linked_object(o, P("friend"));
        if (other) realm_get_value(other, ids, &v), say(" >%lld", (long long)v.integer);
        realm_release(other);
        realm_object_t* home = realm_get_linked_object(o, P("home"));
        if (home) {
            realm_get_value(home, property_key(realm, "Address", "street"), &v);
            say(" @%.*s", (int)v.string.size, v.string.data);
            realm_object_t* who = realm_get_linked_object(home, property_key(realm, "Address", "who"));
            if (who) realm_get_value(who, ids, &v), say("/%lld", (long long)v.integer);
            realm_release(who);
        }
        realm_release(home);
        size_t count = 0;
        realm_list_t* tags = realm_get_list(o, P("tags"));
        realm_list_size(tags, &count);
        for (size_t j = 0; j < count; j++) realm_list_get(tags, j, &v), say(" #%.*s", (int)v.string.size, v.string.data);
        realm_release(tags);
        realm_list_t* friends = realm_get_list(o, P("friends"));
        realm_list_size(friends, &count);
        for (size_t j = 0; j < count; j++) {
            realm_object_t* f = realm_list_get_linked_object(friends, j);
            realm_get_value(f, ids, &v), say(" &%lld", (long long)v.integer);
            realm_release(f);
        }
        realm_release(friends);
        realm_list_t* places = realm_get_list(o, P("places"));
        realm_list_size(places, &count);
        for (size_t j = 0; j < count; j++) {
            realm_object_t* f = realm_list_get_linked_object(places, j);
            realm_get_value(f, property_key(realm, "Address", "street"), &v), say(" +%.*s", (int)v.string.size, v.string.data);
            realm_release(f);
        }
        realm_release(places);
        realm_set_t* numbers = realm_get_set(o, P("numbers"));
        realm_set_size(numbers, &count);
        for (size_t j = 0; j < count; j++) realm_set_get(numbers, j, &v), say(" %%%lld", (long long)v.integer);
        realm_release(numbers);
        realm_dictionary_t* map = realm_get_dictionary(o, P("map"));
        realm_dictionary_size(map, &count);
        for (size_t j = 0; j < count; j++) {
            realm_value_t k;
            realm_dictionary_get(map, j, &k, &v);
            say(" %.*s=", (int)k.string.size, k.string.data);
            realm_object_t* f = v.type == RLM_TYPE_LINK ? realm_get_object(realm, v.link.target_table, v.link.target) : NULL;
            if (f) realm_get_value(f, ids, &v), say("%lld", (long long)v.integer);
            realm_release(f);
        }
        realm_release(map);
        realm_get_value(o, P("any"), &v);
        if (v.type == RLM_TYPE_INT) say(" ~%lld", (long long)v.integer);
        if (v.type == RLM_TYPE_LINK) {
            realm_object_t* f = realm_get_object(realm, v.link.target_table, v.link.target);
            realm_get_value(f, ids, &v), say(" ~>%lld", (long long)v.integer);
            realm_release(f);
        }
        if (v.type == RLM_TYPE_LIST) {
            realm_list_t* any = realm_get_list(o, P("any"));
            realm_list_get(any, 0, &v), say(" ~[%.*s", (int)v.string.size, v.string.data);
            realm_dictionary_t* inner = realm_list_get_dictionary(any, 1);
            realm_list_t* innermost = inner ? realm_dictionary_get_list(inner, string("in")) : NULL;
            if (innermost) {
                realm_list_get(innermost, 0, &v);
                realm_object_t* f = v.type == RLM_TYPE_LINK ? realm_get_object(realm, v.link.target_table, v.link.target) : NULL;
                if (f) realm_get_value(f, ids, &v), say(" in %lld", (long long)v.integer);
                realm_release(f);
            }
            say("]");
            realm_release(innermost);
            realm_release(inner);
            realm_release(any);
        }
        say("\n");
        realm_release(o);
    }
    realm_release(all);
    return shown;
}
static bool write_person(realm_t* realm, int64_t id, const char* name) {
    return realm_begin_write(realm) && add_person(realm, id, name) && realm_commit(realm);
}
/* Persons 1 … n, and much free space. */
static realm_t* make_file(const char* path, form f, int n) {
    bool gone;
    realm_delete_files(path, &gone);
    realm_t* realm = open_typed(path, f);
    if (!result(realm != NULL, __LINE__, "the file opens")) exit(1);
    bool good = realm_begin_write(realm);
    char name[40];
    for (int i = 1; i <= n; i++) snprintf(name, sizeof name, "person %d", i), good &= add_person(realm, i, name);
    for (int i = 1; i <= 1500; i++) snprintf(name, sizeof name, "waste %d", i), good &= add_person(realm, 100000 + i, name);
    good &= realm_commit(realm) && realm_begin_write(realm);
    for (int i = 1; i <= 1500; i++) {
        realm_object_t* o = person(realm, 100000 + i);
        good &= realm_object_delete(o);
        realm_release(o);
    }
    good &= realm_commit(realm) && write_person(realm, 1, "person 1") && write_person(realm, 2, "person 2");
    CHECK(good);
    return realm;
}
static bool sound(realm_t* realm) {
    if (!ours) return true;
    char* report = NULL;
    bool good = crealm_verify(realm, &report);
    if (report) printf("  %.500s\n", report);
    realm_free(report);
    return good;
}
/* The contents of a file after a new open. */
static const char* contents_of(const char* path, form f) {
    realm_t* realm = open_dynamic(path, f);
    const char* all = contents(realm);
    if (realm) CHECK(sound(realm));
    close_realm(realm);
    return all;
}
static char* copy_text(const char* s) { return strcpy((char*)malloc(strlen(s) + 1), s); }

/* ---- Other threads and processes -------------------------------------------------------------- */

static void* on_other_thread(void* realm) {
    bool done;
    realm_clear_last_error();
    long code = realm_compact((realm_t*)realm, &done) ? 0 : last_error();
    return (void*)code;
}
/* A process that has the file open until the returned pipe is closed. */
static pid_t other_process(const char* path, form f, int* out) {
    int up[2], down[2];
    if (pipe(up) || pipe(down)) exit(1);
    pid_t child = fork();
    if (child == 0) {
        close(up[0]), close(down[1]);
        realm_t* realm = open_typed(path, f);
        char c = realm ? 'y' : 'n';
        if (write(up[1], &c, 1) != 1) _exit(2);
        if (read(down[0], &c, 1) < 0) _exit(2);
        _exit(0);
    }
    close(up[1]), close(down[0]);
    char c = 0;
    CHECK(read(up[0], &c, 1) == 1 && c == 'y');
    close(up[0]);
    *out = down[1];
    return child;
}
static void end_process(pid_t child, int pipe_end) {
    int status;
    close(pipe_end);
    waitpid(child, &status, 0);
}

/* ---- Cases ------------------------------------------------------------------------------------ */

static void ignore_changes(realm_userdata_t userdata, const realm_collection_changes_t* changes) { (void)userdata, (void)changes; }
static void ignore_move(realm_userdata_t userdata) { (void)userdata; }
static void compaction(form f) {
    snprintf(label, sizeof label, "compaction, %s", form_names[f]);
    const char* path = in_folder("compact.realm");
    realm_t* realm = make_file(path, f, 120);
    chmod(path, 0600);
    char* before = copy_text(contents(realm));
    long long size = file_size(path);
    realm_object_t* o = person(realm, 7);
    realm_object_key_t key = realm_object_get_key(o);
    realm_list_t* tags = realm_get_list(o, P("tags"));
    realm_results_t* all = realm_object_find_all(realm, class_key(realm, "Person"));
    realm_version_id_t version, version_after;
    bool found;
    realm_get_version_id(realm, &found, &version);

    char leftover[300];
    snprintf(leftover, sizeof leftover, "%s.tmp_compaction_space", path);
    FILE* junk = fopen(leftover, "w");
    if (junk) fputs("left over", junk), fclose(junk);

    bool done = false;
    CHECK(realm_compact(realm, &done) && done);
    CHECK(file_size(path) < size / 2 && !exists(leftover));
    CHECK(is_plain(path) == (f == PLAIN));
    struct stat info;
    if (ours) CHECK(stat(path, &info) == 0 && (info.st_mode & 0777) == 0600);
    TEXT(contents(realm), before);
    CHECK(sound(realm));
    realm_get_version_id(realm, &found, &version_after);
    CHECK(version_after.version == version.version);

    /* Handles stay valid. */
    realm_value_t v;
    size_t n = 0;
    if (!ours) {
        realm_release(o), realm_release(tags), realm_release(all);
        o = person(realm, 7), tags = realm_get_list(o, P("tags")), all = realm_object_find_all(realm, class_key(realm, "Person"));
    }
    CHECK(realm_get_value(o, P("name"), &v) && v.string.size == 8 && !memcmp(v.string.data, "person 7", 8));
    CHECK(realm_object_is_valid(o) && realm_object_get_key(o) == key);
    CHECK(realm_list_size(tags, &n) && n == 2 && realm_results_count(all, &n) && n == 120);
    CHECK(realm_begin_write(realm) && realm_list_insert(tags, 2, string("more")) && add_person(realm, 500, "new") && realm_commit(realm));
    CHECK(realm_results_count(all, &n) && n == 121 && realm_list_size(tags, &n) && n == 3);
    CHECK(sound(realm));
    CHECK(realm_compact(realm, NULL) && realm_compact(realm, &done) && done);
    char* after = copy_text(contents(realm));

    /* Another instance uses the file. */
    realm_t* second = open_typed(path, f);
    if (ours) CHECK(second && realm_compact(realm, &done) && !done);
    TEXT(contents(second), after);
    CHECK(realm_compact(realm, &done) && !done);
    close_realm(second);
    CHECK(realm_compact(realm, &done) && done);
    int pipe_end;
    if (ours) {
        pid_t child = other_process(path, f, &pipe_end);
        CHECK(realm_compact(realm, &done) && !done);
        end_process(child, pipe_end);
        CHECK(realm_compact(realm, &done) && done);
    }

    /* Pins of a version also prevent it. */
    if (ours) {
        realm_config_t* other_key = config_for(path, f == PLAIN ? KEY : PLAIN);
        for (int who = 0; who < 4; who++) {
            void* keeper = who == 0   ? (void*)realm_results_add_notification_callback(all, NULL, NULL, NULL, ignore_changes)
                           : who == 1 ? (void*)realm_list_add_notification_callback(tags, NULL, NULL, NULL, ignore_changes)
                           : who == 2 ? (void*)realm_freeze(realm)
                                      : (void*)realm_create_thread_safe_reference(all);
            CHECK(keeper && realm_compact(realm, &done) && !done);
            realm_clear_last_error();
            realm_error_t error;
            CHECK(!crealm_change_key(realm, other_key) && realm_get_last_error(&error) && error.error == RLM_ERR_DELETE_OPENED_REALM
                  && strstr(error.message, "observer") && strstr(error.message, "frozen") && strstr(error.message, "reference"));
            if (who == 2) realm_close((realm_t*)keeper);
            realm_release(keeper);
            CHECK(realm_compact(realm, &done) && done);
        }
        realm_callback_token_t* moves = realm_add_realm_changed_callback(realm, ignore_move, NULL, NULL);
        CHECK(moves && realm_compact(realm, &done) && done);
        realm_release(moves);
        realm_release(other_key);
    }

    /* Refusals. */
    if (ours) FAILS(RLM_ERR_INVALID_ARGUMENT, realm_compact(NULL, &done));
    pthread_t thread;
    void* code = NULL;
    pthread_create(&thread, NULL, on_other_thread, realm);
    pthread_join(thread, &code);
    CHECK((long)code == RLM_ERR_WRONG_THREAD);
    CHECK(realm_begin_write(realm));
    FAILS(STATE, realm_compact(realm, &done));
    CHECK(realm_rollback(realm));
    TEXT(contents(realm), after);
    realm_release(all);
    realm_release(tags);
    realm_release(o);
    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_compact(realm, &done));
    realm_release(realm);
    for (int mode = RLM_SCHEMA_MODE_IMMUTABLE; mode <= RLM_SCHEMA_MODE_READ_ONLY; mode++) {
        realm_config_t* config = config_for(path, f);
        realm_config_set_schema_mode(config, (realm_schema_mode_e)mode);
        realm = open_config(config);
        CHECK(realm);
        FAILS(STATE, realm_compact(realm, &done));
        close_realm(realm);
    }
    TEXT(contents_of(path, f), after);
    free(before);
    free(after);
}

static void compaction_elsewhere(void) {
    snprintf(label, sizeof label, "compaction of what is special");
    /* Through a symbolic link. */
    const char *real = in_folder("real.realm"), *alias = in_folder("alias.realm");
    close_realm(make_file(real, PLAIN, 5));
    CHECK(symlink(real, alias) == 0);
    realm_t* realm = open_typed(alias, PLAIN);
    bool done = false;
    CHECK(realm_compact(realm, &done) && done);
    struct stat info;
    CHECK(lstat(alias, &info) == 0 && S_ISLNK(info.st_mode) && lstat(real, &info) == 0 && S_ISREG(info.st_mode));
    CHECK(write_person(realm, 77, "late"));
    close_realm(realm);
    CHECK(strstr(contents_of(real, PLAIN), "77 late"));
    /* A file without commits, opened without a schema. */
    realm = open_dynamic(in_folder("empty.realm"), PLAIN);
    CHECK(realm_compact(realm, &done) && done);
    CHECK(realm_refresh(realm, NULL));
    close_realm(realm);
    TEXT(contents_of(in_folder("empty.realm"), PLAIN), "no class");
    /* In a folder in which no file can be created. */
    if (getuid() != 0) {
        realm = make_file(real, PLAIN, 5);
        chmod(folder, 0500);
        FAILS(RLM_ERR_FILE_PERMISSION_DENIED, realm_compact(realm, &done));
        chmod(folder, 0700);
        CHECK(write_person(realm, 78, "later"));
        close_realm(realm);
        CHECK(strstr(contents_of(real, PLAIN), "78 later"));
    }
}

/* A file that is longer than a section (64 MB), whose end is not a page boundary of CRealm's form; and nodes larger
   than any buffer. */
static void large(void) {
    snprintf(label, sizeof label, "large files");
    const char* path = in_folder("large.realm");
    realm_t* realm = open_typed(path, KEY);
    size_t size = 15000000;
    char* name = (char*)malloc(size);
    bool good = realm != NULL, done = false;
    for (int i = 1; i <= 5 && good; i++) {
        memset(name, 'a' + i, size);
        realm_value_t v = string("");
        v.string.data = name, v.string.size = size - (size_t)i * 1234;
        good = realm_begin_write(realm);
        realm_object_t* o = realm_object_get_or_create_with_primary_key(realm, class_key(realm, "Person"), number(i), NULL);
        good = good && realm_set_value(o, P("name"), v, false) && realm_commit(realm);
        realm_release(o);
    }
    CHECK(good && file_size(path) > 74 << 20);
    CHECK(realm_compact(realm, &done) && done && file_size(path) > 70 << 20);
    for (int round = 0; round < 2; round++) {
        for (int i = 1; i <= 5; i++) {
            realm_object_t* o = person(realm, i);
            realm_value_t v;
            memset(name, 'a' + i, size);
            CHECK(realm_get_value(o, P("name"), &v) && v.string.size == size - (size_t)i * 1234 && !memcmp(v.string.data, name, v.string.size));
            realm_release(o);
        }
        close_realm(realm);
        realm = open_typed(path, KEY);
    }
    CHECK(sound(realm));
    close_realm(realm);
    realm_delete_files(path, &done);
    free(name);
}

static int asked;
static uint64_t total_seen, used_seen;
static bool answer, register_error;
static int marker;
static bool on_launch(void* userdata, uint64_t total, uint64_t in_use) {
    asked += userdata == &marker;
    total_seen = total, used_seen = in_use;
    if (register_error) realm_register_user_code_callback_error(&marker);
    return answer;
}
static realm_t* open_asking(const char* path, form f) {
    realm_config_t* config = typed_config(path, f);
    realm_config_set_should_compact_on_launch_function(config, on_launch, &marker, NULL);
    return open_config(config);
}
static void launch(form f) {
    snprintf(label, sizeof label, "compaction at the open, %s", form_names[f]);
    const char* path = in_folder("launch.realm");
    realm_t* realm = make_file(path, f, 60);
    char* before = copy_text(contents(realm));
    close_realm(realm);
    long long size = file_size(path);

    asked = 0, answer = false, register_error = false;
    realm = open_asking(path, f);
    CHECK(realm && asked == 1 && total_seen > used_seen * 2 && used_seen > 10000 && (long long)total_seen <= size);
    realm_t* second = open_asking(path, f);
    CHECK(second && asked == 1);
    close_realm(second);
    TEXT(contents(realm), before);
    close_realm(realm);
    CHECK(file_size(path) > size / 2);

    register_error = true;
    for (int i = 0; i < 2; i++) {
        answer = i == 1;
        FAILS(RLM_ERR_CALLBACK, (realm = open_asking(path, f)) != NULL);
        realm_error_t error;
        CHECK((realm_clear_last_error(), open_asking(path, f) == NULL) && realm_get_last_error(&error) && error.user_code_error == &marker);
    }
    register_error = false;
    CHECK(file_size(path) > size / 2);

    int pipe_end;
    answer = true;
    if (ours) {
        pid_t child = other_process(path, f, &pipe_end);
        realm = open_asking(path, f);
        CHECK(realm && file_size(path) > size / 2);
        close_realm(realm);
        end_process(child, pipe_end);
    }

    asked = 0;
    uint64_t before_total = 0;
    realm = open_asking(path, f);
    before_total = total_seen;
    CHECK(realm && asked == 1 && file_size(path) < size / 2);
    TEXT(contents(realm), before);
    CHECK(sound(realm) && write_person(realm, 400, "later"));
    close_realm(realm);
    realm = open_asking(path, f);
    CHECK(realm && asked == 2 && total_seen < before_total);
    CHECK(strstr(contents(realm), "400 later"));
    close_realm(realm);

    asked = 0;
    realm_delete_files(path, NULL);
    realm = open_asking(path, f);
    CHECK(realm && asked == 1);
    close_realm(realm);
    free(before);
}

static void copying(form from, form to) {
    snprintf(label, sizeof label, "copy, %s to %s", form_names[from], form_names[to]);
    const char *path = in_folder("source.realm"), *copy = in_folder("copy.realm");
    realm_t* realm = make_file(path, from, 50);
    char* before = copy_text(contents(realm));
    realm_delete_files(copy, NULL);
    realm_config_t* target = config_for(copy, to);
    CHECK(realm_convert_with_config(realm, target, false));
    CHECK(is_plain(copy) == (to == PLAIN));
    CHECK(file_size(copy) < file_size(path) / 2 || from != PLAIN);
    TEXT(contents(realm), before);
    FAILS(EXISTS, realm_convert_with_config(realm, target, false));
    realm_release(target);
    TEXT(contents_of(copy, to), before);
    form wrong = to == OTHER_KEY ? KEY : OTHER_KEY;
    FAILS(INVALID, (target = (realm_config_t*)open_dynamic(copy, wrong)) != NULL);
    /* The copy can be used like any file. */
    realm_t* other = open_typed(copy, to);
    CHECK(other && write_person(other, 900, "only here"));
    CHECK(sound(other) && strstr(contents(other), "900 only here"));
    close_realm(other);
    TEXT(contents(realm), before);
    close_realm(realm);
    CHECK(count_files() == 0);
    free(before);
}

static void copy_rules(void) {
    snprintf(label, sizeof label, "rules of copies");
    const char *path = in_folder("rules.realm"), *copy = in_folder("rules_copy.realm");
    realm_t* realm = make_file(path, PLAIN, 20);
    char* before = copy_text(contents(realm));
    realm_binary_t none = {NULL, 0}, key = {key_bytes(0), 64}, short_key = {key_bytes(0), 10};
    CHECK(realm_convert_with_path(realm, copy, none, false));
    TEXT(contents_of(copy, PLAIN), before);
    FAILS(EXISTS, realm_convert_with_path(realm, copy, none, false));
    FAILS(EXISTS, realm_convert_with_path(realm, path, none, false));
    FAILS(RLM_ERR_INVALID_ENCRYPTION_KEY, realm_convert_with_path(realm, in_folder("short"), short_key, false));
    CHECK(!exists(in_folder("short")));
    FAILS(RLM_ERR_FILE_NOT_FOUND, realm_convert_with_path(realm, in_folder("nowhere/x.realm"), none, false));
    if (ours) {
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_convert_with_path(realm, NULL, none, false));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_convert_with_path(NULL, copy, none, false));
        FAILS(RLM_ERR_INVALID_ARGUMENT, realm_convert_with_config(realm, NULL, false));
        FAILS(RLM_ERR_FILE_NOT_FOUND, realm_convert_with_path(realm, "", none, false));
    }
    CHECK(realm_convert_with_path(realm, in_folder("key_copy.realm"), key, false) && !is_plain(in_folder("key_copy.realm")));
    TEXT(contents_of(in_folder("key_copy.realm"), KEY), before);

    /* The snapshot that the realm reads, with the changes of an open write transaction. */
    realm_t* other = open_typed(path, PLAIN);
    CHECK(other && realm_begin_read(realm) && write_person(other, 600, "newer"));
    if (ours) {
        CHECK(realm_convert_with_path(realm, in_folder("old.realm"), none, false));
        TEXT(contents_of(in_folder("old.realm"), PLAIN), before);
    }
    close_realm(other);
    CHECK(realm_begin_write(realm) && add_person(realm, 601, "running"));
    CHECK(realm_convert_with_path(realm, in_folder("running.realm"), none, false));
    CHECK(realm_is_writable(realm) && realm_commit(realm));
    const char* all = contents_of(in_folder("running.realm"), PLAIN);
    CHECK(strstr(all, "600 newer") && strstr(all, "601 running"));
    all = contents_of(path, PLAIN);
    CHECK(strstr(all, "600 newer") && strstr(all, "601 running"));

    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM, realm_convert_with_path(realm, in_folder("closed.realm"), none, false));
    realm_release(realm);
    /* Read-only realms can be copied. */
    for (int mode = RLM_SCHEMA_MODE_IMMUTABLE; mode <= RLM_SCHEMA_MODE_READ_ONLY; mode++) {
        realm_config_t* config = config_for(path, PLAIN);
        realm_config_set_schema_mode(config, (realm_schema_mode_e)mode);
        realm = open_config(config);
        const char* to = in_folder(mode == RLM_SCHEMA_MODE_IMMUTABLE ? "immutable.realm" : "readonly.realm");
        CHECK(realm && realm_convert_with_path(realm, to, none, false));
        close_realm(realm);
        CHECK(strstr(contents_of(to, PLAIN), "601 running"));
    }
    /* A file without any commit. */
    realm = open_dynamic(in_folder("new.realm"), PLAIN);
    CHECK(realm_convert_with_path(realm, in_folder("new_copy.realm"), none, false));
    CHECK(realm_convert_with_path(realm, in_folder("new_key_copy.realm"), key, false));
    close_realm(realm);
    realm = open_typed(in_folder("new_copy.realm"), PLAIN);
    CHECK(realm && write_person(realm, 1, "first") && sound(realm));
    close_realm(realm);
    realm = open_typed(in_folder("new_key_copy.realm"), KEY);
    CHECK(realm && write_person(realm, 1, "first") && sound(realm));
    close_realm(realm);
    CHECK(count_files() == 0);
    free(before);
}

/* One class, whose collections hold collections; embedded when it is not the only one. */
static realm_config_t* nested_config(const char* at, bool isEmbedded, uint64_t version) {
    realm_property_info_t things[] = {property("id", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_PRIMARY_KEY),
                                      property("list", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_LIST, "", RLM_PROPERTY_NULLABLE),
                                      property("map", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_DICTIONARY, "", RLM_PROPERTY_NULLABLE),
                                      property("any", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NULLABLE)};
    realm_property_info_t owners[] = {property("a", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Thing", RLM_PROPERTY_NULLABLE),
                                      property("b", RLM_PROPERTY_TYPE_OBJECT, RLM_COLLECTION_TYPE_NONE, "Thing", RLM_PROPERTY_NULLABLE)};
    bool isMerged = version == 0; /* merging needs a primary key, which embedded objects do not have */
    realm_class_info_t classes[] = {class_info("Thing", isMerged ? "id" : "", isMerged ? 4 : 3, 0, isEmbedded ? RLM_CLASS_EMBEDDED : RLM_CLASS_NORMAL),
                                    class_info("Owner", "", 2, 0, RLM_CLASS_NORMAL)};
    const realm_property_info_t* lists[] = {isMerged ? things : things + 1, owners};
    realm_schema_t* schema = realm_schema_new(classes, isMerged ? 1 : 2, lists);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, at);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, version);
    realm_config_set_automatic_backlink_handling(config, true);
    realm_release(schema);
    return config;
}
static realm_object_t* add_nested(realm_t* r, bool hasKey) {
    realm_class_key_t thing = class_key(r, "Thing");
    realm_object_t* o = hasKey ? realm_object_create_with_primary_key(r, thing, integer(1)) : realm_object_create(r, thing);
    realm_property_info_t p;
    bool found;
    realm_find_property(r, thing, "list", &found, &p);
    realm_list_t* list = realm_get_list(o, p.key);
    realm_find_property(r, thing, "map", &found, &p);
    realm_dictionary_t* map = realm_get_dictionary(o, p.key);
    realm_find_property(r, thing, "any", &found, &p);
    realm_dictionary_t* any = realm_set_dictionary(o, p.key);
    realm_list_t* inner[] = {realm_list_insert_list(list, 0), realm_dictionary_insert_list(map, text("k")), realm_dictionary_insert_list(any, text("k"))};
    for (int i = 0; i < 3; i++) {
        realm_dictionary_t* deep = realm_list_insert_dictionary(inner[i], 0);
        CHECK(deep && realm_dictionary_insert(deep, text("deep"), integer(i), NULL, NULL) && realm_list_insert(inner[i], 1, text("flat")));
        realm_release(deep);
        realm_release(inner[i]);
    }
    realm_release(list);
    realm_release(map);
    realm_release(any);
    return o;
}
static void nested_collections(void) {
    snprintf(label, sizeof label, "collections in collections of merged objects");
    const char *a = in_folder("nested_a.realm"), *b = in_folder("nested_b.realm");
    realm_t* realm = open_config(nested_config(a, false, 0));
    CHECK(realm && realm_begin_write(realm));
    realm_object_t* o = add_nested(realm, true);
    CHECK(realm_commit(realm));
    char* before = realm_object_to_string(o);
    close_realm(open_config(nested_config(b, false, 0)));
    realm_config_t* target = nested_config(b, false, 0);
    CHECK(realm_convert_with_config(realm, target, true));
    realm_release(target);
    realm_release(o);
    close_realm(realm);
    realm = open_config(nested_config(b, false, 0));
    bool found = false;
    o = realm_object_find_with_primary_key(realm, class_key(realm, "Thing"), integer(1), &found);
    char* after = o ? realm_object_to_string(o) : NULL;
    CHECK(found && sound(realm) && after);
    if (after) TEXT(after, before);
    realm_free(before);
    realm_free(after);
    realm_release(o);
    close_realm(realm);

    snprintf(label, sizeof label, "collections in collections of objects that become embedded");
    realm_delete_files(a, NULL);
    realm = open_config(nested_config(a, false, 1));
    CHECK(realm && realm_begin_write(realm));
    o = add_nested(realm, false);
    realm_object_t* owner = realm_object_create(realm, class_key(realm, "Owner"));
    const char* names[] = {"a", "b"};
    for (int i = 0; i < 2; i++) {
        realm_property_info_t p;
        CHECK(realm_find_property(realm, class_key(realm, "Owner"), names[i], &found, &p) && realm_set_value(owner, p.key, link_to(o), false));
    }
    CHECK(realm_commit(realm));
    realm_release(o);
    realm_release(owner);
    close_realm(realm);
    realm = open_config(nested_config(a, true, 2));
    size_t n = 0;
    if (CHECK(realm)) {
        CHECK(sound(realm) && realm_get_num_objects(realm, class_key(realm, "Thing"), &n) && n == 2);
        realm_results_t* all = realm_object_find_all(realm, class_key(realm, "Owner"));
        o = realm_results_get_object(all, 0);
        char* words = o ? realm_object_to_string(o) : NULL;
        int copies = 0;
        for (const char* at = words; at && (at = strstr(at, "deep")); at++) copies++;
        CHECK(copies == 6);
        realm_free(words);
        realm_release(o);
        realm_release(all);
        close_realm(realm);
    }
}

static void merging(form f) {
    snprintf(label, sizeof label, "merging, %s", form_names[f]);
    const char *a = in_folder("a.realm"), *b = in_folder("b.realm");
    realm_t* realm = make_file(a, PLAIN, 12);
    char* whole = copy_text(contents(realm));
    realm_config_t* target = config_for(b, f);

    /* The target does not exist: it becomes a copy. */
    realm_delete_files(b, NULL);
    CHECK(realm_convert_with_config(realm, target, true));
    TEXT(contents_of(b, f), whole);

    /* The target has some of the objects, with other values, and one object of its own. */
    realm_delete_files(b, NULL);
    realm_t* other = open_typed(b, f);
    CHECK(realm_begin_write(other) && add_person(other, 6, "another six") && add_person(other, 40, "forty"));
    CHECK(add_person(other, 41, "forty-one") && realm_commit(other));
    close_realm(other);
    CHECK(realm_convert_with_config(realm, target, true));
    other = open_typed(b, f);
    CHECK(sound(other));
    const char* all = contents(other);
    CHECK(strstr(all, "41 forty-one >40 @forty-one's street/41 #forty-one") && !strstr(all, "another six"));
    /* Line by line: keys differ, so the order does. */
    char* merged = copy_text(all);
    int lines = 0;
    for (char* line = strtok(whole, "\n"); line; line = strtok(NULL, "\n"), lines++) {
        char* found = strstr(merged, line);
        if (!CHECK(found && (found == merged || found[-1] == '\n') && (found[strlen(line)] == '\n'))) printf("  missing %s\n", line);
    }
    CHECK(lines == 12);
    free(merged);
    /* No orphans: 12 + 2 persons with three addresses each. */
    size_t n = 0;
    realm_get_num_objects(other, class_key(other, "Address"), &n);
    CHECK(n == 14 * 3);
    close_realm(other);
    /* Again: nothing changes. */
    CHECK(realm_convert_with_config(realm, target, true));
    other = open_typed(b, f);
    realm_get_num_objects(other, class_key(other, "Address"), &n);
    CHECK(n == 14 * 3);
    realm_get_num_objects(other, class_key(other, "Person"), &n);
    CHECK(n == 14);
    close_realm(other);

    /* A target without classes gets them. */
    realm_delete_files(b, NULL);
    close_realm(open_dynamic(b, f));
    CHECK(realm_convert_with_config(realm, target, true));
    other = open_typed(b, f);
    CHECK(other && sound(other));
    realm_get_num_objects(other, class_key(other, "Person"), &n);
    CHECK(n == 12);
    close_realm(other);
    if (f != PLAIN) {
        realm_config_t* wrong = config_for(b, OTHER_KEY);
        FAILS(INVALID, realm_convert_with_config(realm, wrong, true));
        realm_release(wrong);
        FAILS(INVALID, realm_convert_with_path(realm, b, (realm_binary_t){NULL, 0}, true));
    } else if (ours) {
        CHECK(realm_convert_with_path(realm, b, (realm_binary_t){NULL, 0}, true));
        /* Into itself: nothing changes. */
        char* before = copy_text(contents(realm));
        CHECK(realm_convert_with_path(realm, a, (realm_binary_t){NULL, 0}, true) && realm_refresh(realm, NULL));
        TEXT(contents(realm), before);
        free(before);
    }
    close_realm(realm);

    /* A class without a primary key. */
    realm_delete_files(a, NULL);
    realm_config_t* config = config_for(a, PLAIN);
    realm_schema_t* schema = make_schema(true);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_release(schema);
    realm = open_config(config);
    other = open_typed(b, f);
    char* before = copy_text(contents(other));
    close_realm(other);
    CHECK(write_person(realm, 1000, "not to be seen"));
    FAILS(BROKEN, realm_convert_with_config(realm, target, true));
    TEXT(contents_of(b, f), before);
    close_realm(realm);
    free(before);

    /* A property of another type. */
    realm_property_info_t p[2] = {property("id", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_PRIMARY_KEY),
                                  property("name", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0)};
    realm_class_info_t c;
    memset(&c, 0, sizeof c);
    c.name = "Person", c.primary_key = "id", c.num_properties = 2, c.key = RLM_INVALID_CLASS_KEY;
    const realm_property_info_t* list = p;
    schema = realm_schema_new(&c, 1, &list);
    realm_delete_files(a, NULL);
    config = config_for(a, PLAIN);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_release(schema);
    realm = open_config(config);
    if (ours) FAILS(BROKEN, realm_convert_with_config(realm, target, true));
    close_realm(realm);
    realm_release(target);
    free(whole);
}

static bool change_key(realm_t* realm, form to) {
    realm_config_t* config = realm_config_new();
    set_form(config, to);
    bool good = crealm_change_key(realm, config);
    realm_release(config);
    return good;
}
/* A page cipher without a key must not lead to a plain file: nothing is opened, made or decrypted. */
static void a_cipher_without_a_key(realm_t* realm, const char* path) {
    char missing[512];
    snprintf(missing, sizeof missing, "%s.cipher", path);
    for (int cipher = 0; cipher < 3; cipher++) {
        realm_config_t* config = config_for(missing, PLAIN);
        crealm_config_set_page_cipher(config, (crealm_page_cipher_e)cipher);
        char* report;
        FAILS(COMBINATION, realm_open(config) != NULL);
        FAILS(COMBINATION, realm_convert_with_config(realm, config, false));
        FAILS(COMBINATION, realm_convert_with_config(realm, config, true));
        FAILS(COMBINATION, crealm_change_key(realm, config));
        FAILS(COMBINATION, crealm_salvage(config, config, &report));
        /* A key that was removed counts as no key. */
        CHECK(realm_config_set_encryption_key(config, key_bytes(0), 64));
        CHECK(realm_config_set_encryption_key(config, NULL, 0));
        FAILS(COMBINATION, realm_open(config) != NULL);
        CHECK(access(missing, F_OK) != 0);
        realm_release(config);
    }
}

static void keys(void) {
    const char* path = in_folder("keys.realm");
    realm_t* realm = make_file(path, PLAIN, 30);
    form now = PLAIN;
    realm_object_t* o = person(realm, 9);
    realm_list_t* tags = realm_get_list(o, P("tags"));
    const form way[] = {KEY, OTHER_KEY, WORDS, OTHER_WORDS, KEY, REALM, REALM_OTHER, REALM, AES, KEY, PLAIN, PLAIN, REALM, PLAIN, WORDS, PLAIN};
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        form next = way[i];
        snprintf(label, sizeof label, "change of key %d, %s to %s", (int)i, form_names[now], form_names[next]);
        char* before = copy_text(contents(realm));
        if (!CHECK(change_key(realm, next))) exit(1);
        TEXT(contents(realm), before);
        free(before);
        CHECK(is_plain(path) == (next == PLAIN) && sound(realm));
        realm_value_t v;
        CHECK(realm_get_value(o, P("name"), &v) && v.string.size == 8);
        size_t n;
        CHECK(realm_begin_write(realm) && realm_list_insert(tags, 0, string(form_names[next])) && realm_commit(realm));
        CHECK(realm_list_size(tags, &n) && n == 3 + i);
        /* Another instance needs the new key. */
        realm_t* second = open_typed(path, next);
        CHECK(second);
        FAILS(IN_USE, change_key(realm, OTHER_KEY));
        close_realm(second);
        form wrong = next == OTHER_KEY || next == REALM_OTHER ? KEY : OTHER_KEY;
        FAILS(RLM_ERR_MISMATCHED_CONFIG, (second = open_typed(path, wrong)) != NULL);
        /* So does another process. */
        int pipe_end;
        pid_t child = other_process(path, next, &pipe_end);
        FAILS(IN_USE, change_key(realm, OTHER_KEY));
        end_process(child, pipe_end);
        CHECK(write_person(realm, 1000 + (int64_t)i, "more"));
        now = next;
    }
    snprintf(label, sizeof label, "rules of changes of key");
    CHECK(change_key(realm, KEY));
    CHECK(realm_begin_write(realm));
    FAILS(STATE, change_key(realm, OTHER_KEY));
    CHECK(realm_rollback(realm));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_change_key(realm, NULL));
    realm_config_t* config = config_for(path, WORDS);
    crealm_config_set_page_cipher(config, CREALM_PAGE_CIPHER_REALM);
    FAILS(COMBINATION, crealm_change_key(realm, config));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_change_key(NULL, config));
    realm_release(config);
    a_cipher_without_a_key(realm, path);
    char* before = copy_text(contents(realm));
    realm_release(tags);
    realm_release(o);
    realm_close(realm);
    FAILS(RLM_ERR_CLOSED_REALM, change_key(realm, OTHER_KEY));
    realm_release(realm);
    /* After the last instance only the new key opens it. */
    FAILS(INVALID, (realm = open_typed(path, OTHER_KEY)) != NULL);
    result(strstr(last_message(), "decryption failed (wrong") != NULL, __LINE__, "the text says that the key is wrong");
    FAILS(INVALID, (realm = open_typed(path, PLAIN)) != NULL);
    result(strstr(last_message(), "no key was given") != NULL, __LINE__, "the text says that a key is missing");
    TEXT(contents_of(path, KEY), before);
    free(before);
    config = config_for(path, KEY);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_READ_ONLY);
    realm = open_config(config);
    FAILS(STATE, change_key(realm, OTHER_KEY));
    close_realm(realm);
    config = typed_config(in_folder("memory_key.realm"), PLAIN);
    realm_config_set_in_memory(config, true);
    realm = open_config(config);
    FAILS(COMBINATION, change_key(realm, KEY));
    close_realm(realm);
    CHECK(count_files() == 0);
}

static void deleting(void) {
    snprintf(label, sizeof label, "deleting files");
    const char* path = in_folder("delete.realm");
    realm_t* realm = make_file(path, PLAIN, 3);
    bool gone = false;
    FAILS(IN_USE, realm_delete_files(path, &gone));
    CHECK(!gone && exists(path) && write_person(realm, 5, "still there"));
    bool done;
    CHECK(realm_compact(realm, &done) && done);
    FAILS(IN_USE, realm_delete_files(path, &gone));
    close_realm(realm);
    int pipe_end;
    if (ours) {
        pid_t child = other_process(path, PLAIN, &pipe_end);
        FAILS(IN_USE, realm_delete_files(path, &gone));
        end_process(child, pipe_end);
    }
    CHECK(realm_delete_files(path, &gone) && gone && !exists(path));
    gone = false;
    CHECK(realm_delete_files(path, &gone) && !gone);
}

static const char* memory_path;
static realm_t* open_memory(void) {
    realm_config_t* config = typed_config(memory_path, PLAIN);
    realm_config_set_in_memory(config, true);
    return open_config(config);
}
static void* in_memory_thread(void* unused) {
    (void)unused;
    realm_t* realm = open_memory();
    bool good = realm && strstr(contents(realm), "1 first") && write_person(realm, 2, "second");
    close_realm(realm);
    return good ? &marker : NULL;
}
static void in_memory(void) {
    snprintf(label, sizeof label, "in memory");
    memory_path = in_folder("memory.realm");
    realm_t* realm = open_memory();
    CHECK(realm && write_person(realm, 1, "first") && exists(memory_path));
    pthread_t thread;
    void* good = NULL;
    pthread_create(&thread, NULL, in_memory_thread, NULL);
    pthread_join(thread, &good);
    CHECK(good == &marker && realm_refresh(realm, NULL) && strstr(contents(realm), "2 second"));
    realm_t* second = open_memory();
    CHECK(second && strstr(contents(second), "2 second"));
    FAILS(RLM_ERR_MISMATCHED_CONFIG, open_typed(memory_path, PLAIN) != NULL);
    bool done;
    CHECK(realm_compact(realm, &done) && !done);
    close_realm(second);
    if (ours) {
        CHECK(realm_begin_write(realm));
        for (int64_t i = 0; i < 300; i++) add_person(realm, 1000 + i, "waste");
        CHECK(realm_commit(realm) && realm_begin_write(realm));
        realm_results_t* all = realm_object_find_all(realm, class_key(realm, "Person"));
        CHECK(realm_results_delete_all(all) && add_person(realm, 3, "third") && realm_commit(realm));
        realm_release(all);
        CHECK(realm_compact(realm, &done) && done);
        CHECK(strstr(contents(realm), "3 third") && write_person(realm, 4, "fourth") && sound(realm));
        realm_binary_t none = {NULL, 0};
        CHECK(realm_convert_with_path(realm, in_folder("from_memory.realm"), none, false));
        CHECK(strstr(contents_of(in_folder("from_memory.realm"), PLAIN), "4 fourth"));
    }
    close_realm(realm);
    CHECK(!exists(memory_path));
    realm = open_memory();
    TEXT(contents(realm), "");
    close_realm(realm);
    if (ours) {
        /* A file that already exists is not replaced. */
        realm = open_typed(memory_path, PLAIN);
        CHECK(realm && write_person(realm, 1, "kept"));
        close_realm(realm);
        FAILS(RLM_ERR_FILE_ALREADY_EXISTS, open_memory() != NULL);
        CHECK(strstr(contents_of(memory_path, PLAIN), "1 kept"));
        realm_delete_files(memory_path, NULL);
    }
}

int main(void) {
    section = label;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) {
        perror(folder);
        return 2;
    }
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    ours = !getenv("COPIES_TEST_REFERENCE");
    const form forms[] = {PLAIN, KEY, AES, WORDS, REALM};
    const int count = ours ? 5 : 1;
    for (int i = 0; i < count; i++) compaction(forms[i]);
    if (ours) {
        compaction_elsewhere();
        large();
    }
    for (int i = 0; i < count; i++) launch(forms[i]);
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++) copying(forms[i], forms[j]);
    copy_rules();
    for (int i = 0; i < count; i++) merging(forms[i]);
    if (ours) nested_collections();
    if (ours) keys();
    deleting();
    in_memory();
    return finished(folder);
}
