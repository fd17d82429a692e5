/*
 * Views as arguments. A text that was read is a view into the file or into the memory of the write transaction. Goal:
 * when a view is passed directly to a function that writes into the same column, list, set or dictionary, the written
 * text is right, whatever memory the write moves; and the source of the view does not change.
 */

#include <crealm.h>

#include <stdlib.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { OBJECTS = 40, STEPS = 12000, LONGEST = 400 };
enum { SINGLE, INDEXED, MIXED, LIST, MIXED_LIST, SET, DICTIONARY, PLACES };
static char folder[] = "/tmp/views-XXXXXX";
static realm_t* realm;
static realm_class_key_t row;
static realm_property_key_t keys[PLACES];
static realm_object_t* objects[OBJECTS];

static uint64_t state = 20250;
static size_t below(size_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (size_t)((state * 0x2545F4914F6CDD1DULL) >> 33) % n;
}
static void open_file(void) {
    enum { STRING = RLM_PROPERTY_TYPE_STRING, ANY = RLM_PROPERTY_TYPE_MIXED, NULLABLE = RLM_PROPERTY_NULLABLE };
    const realm_property_info_t p[PLACES] = {
        property("single", STRING, RLM_COLLECTION_TYPE_NONE, "", NULLABLE),
        property("indexed", STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_INDEXED),
        property("mixed", ANY, RLM_COLLECTION_TYPE_NONE, "", NULLABLE),
        property("list", STRING, RLM_COLLECTION_TYPE_LIST, "", 0),
        property("mixed_list", ANY, RLM_COLLECTION_TYPE_LIST, "", NULLABLE),
        property("set", STRING, RLM_COLLECTION_TYPE_SET, "", 0),
        property("dictionary", STRING, RLM_COLLECTION_TYPE_DICTIONARY, "", 0),
    };
    char path[80];
    snprintf(path, sizeof path, "%s/views.realm", folder);
    realm_config_t* c = config_of_class(path, class_info("Row", "", PLACES, 0, 0), p);
    realm = realm_open(c);
    realm_release(c);
    bool found = false;
    realm_class_info_t info;
    realm_property_info_t q;
    if (!CHECK(realm && realm_find_class(realm, "Row", &found, &info) && found)) give_up();
    row = info.key;
    for (int i = 0; i < PLACES; i++) {
        if (!CHECK(realm_find_property(realm, row, p[i].name, &found, &q) && found)) give_up();
        keys[i] = q.key;
    }
}

/* Reads some element of a place of an object, or its key; false if the place is empty or the element no text. */
static bool read_some(realm_object_t* o, int place, realm_value_t* out) {
    size_t n = 0;
    bool good = false;
    realm_value_t key;
    if (place == SET) {
        realm_set_t* set = realm_get_set(o, keys[place]);
        good = CHECK(realm_set_size(set, &n)) && n > 0 && CHECK(realm_set_get(set, below(n), out));
        realm_release(set);
    } else if (place == DICTIONARY) {
        realm_dictionary_t* d = realm_get_dictionary(o, keys[place]);
        good = CHECK(realm_dictionary_size(d, &n)) && n > 0 && CHECK(realm_dictionary_get(d, below(n), &key, out));
        if (good && below(3) == 0) *out = key;
        realm_release(d);
    } else if (place >= LIST) {
        realm_list_t* list = realm_get_list(o, keys[place]);
        good = CHECK(realm_list_size(list, &n)) && n > 0 && CHECK(realm_list_get(list, below(n), out));
        realm_release(list);
    } else {
        good = CHECK(realm_get_value(o, keys[place], out));
    }
    return good && out->type == RLM_TYPE_STRING;
}
static bool is_text(realm_value_t v, const char* bytes, size_t length) {
    return v.type == RLM_TYPE_STRING && v.string.size == length && memcmp(v.string.data, bytes, length) == 0;
}
/* Writes a value into a place of an object, in one of the possible ways, and reads it back. */
static bool write_and_read(realm_object_t* o, int place, realm_value_t v, realm_value_t* out) {
    size_t n = 0, at = 0;
    bool flag = false, good = false;
    if (place == SET) {
        realm_set_t* set = realm_get_set(o, keys[place]);
        good = realm_set_insert(set, v, &at, &flag) && realm_set_get(set, at, out);
        realm_release(set);
    } else if (place == DICTIONARY) {
        realm_dictionary_t* d = realm_get_dictionary(o, keys[place]);
        char name[20];
        snprintf(name, sizeof name, "key%d", (int)below(40));
        good = realm_dictionary_insert(d, text(name), v, &at, &flag) && realm_dictionary_find(d, text(name), out, &flag) && flag;
        realm_release(d);
    } else if (place >= LIST) {
        realm_list_t* list = realm_get_list(o, keys[place]);
        good = realm_list_size(list, &n);
        at = below(2) == 0 ? n : below(n + 1);
        bool replaces = at < n && below(2) == 0;
        good = good && (replaces ? realm_list_set(list, at, v) : realm_list_insert(list, at, v)) && realm_list_get(list, at, out);
        if (n > 60) good = good && realm_list_clear(list) && realm_list_insert(list, 0, text("again")) && realm_list_get(list, 0, out);
        realm_release(list);
        if (n > 60) *out = null_value();
    } else {
        good = realm_set_value(o, keys[place], v, false) && realm_get_value(o, keys[place], out);
    }
    return good;
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    if (!mkdtemp(folder)) return 1;
    open_file();
    section = "views as arguments";
    int passed_on = 0;
    char fresh[LONGEST], copy[LONGEST];
    static const size_t lengths[] = {0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 200, LONGEST - 1};
    for (int step = 0; step < STEPS; step++) {
        if (step % 300 == 0) {
            if (step > 0 && !CHECK(realm_commit(realm))) give_up();
            if (!CHECK(realm_begin_write(realm))) give_up();
        }
        if (step < OBJECTS) objects[step] = realm_object_create(realm, row);
        realm_object_t* from = objects[below(step < OBJECTS ? (size_t)step + 1 : (size_t)OBJECTS)];
        realm_object_t* to = below(2) == 0 ? from : objects[below(step < OBJECTS ? (size_t)step + 1 : (size_t)OBJECTS)];
        realm_value_t v, got;
        bool is_view = below(4) > 0 && read_some(from, (int)below(PLACES), &v);
        if (!is_view) {
            size_t length = lengths[below(sizeof lengths / sizeof *lengths)];
            for (size_t i = 0; i < length; i++) fresh[i] = (char)('a' + (i + (size_t)step) % 26);
            v = text_of(fresh, length);
        }
        size_t length = v.string.size;
        memcpy(copy, v.string.data, length);
        int place = (int)below(PLACES);
        if (!CHECK(write_and_read(to, place, v, &got))) give_up();
        if (got.type != RLM_TYPE_NULL) CHECK(is_text(got, copy, length));
        passed_on += is_view;
    }
    CHECK(realm_commit(realm) && passed_on > STEPS / 3);
    char* report = NULL;
    CHECK(crealm_verify(realm, &report) && !report);
    realm_free(report);
    for (int i = 0; i < OBJECTS; i++) realm_release(objects[i]);
    realm_release(realm);
    return finished(folder);
}
