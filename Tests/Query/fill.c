/*
 * fill.c - empties a file and fills it with the objects of a script, through any library with Realm's C API.
 *
 *     fill LIBRARY FILE SCRIPT
 *
 * edge.py writes the script; fields are separated by TABs. Objects are numbered per class:
 *
 *     new CLASS KEY                     KEY: value, "-" for a class without primary key
 *     set CLASS NUMBER PROPERTY VALUE
 *     embed CLASS NUMBER PROPERTY NEW   an object of class NEW in a property or at the end of a list
 *
 * Values as in generate.py; [..] fills a list, a set, or a Mixed with a list; {"dict":{"k":..}} does so for dictionaries.
 * Build: cc -O2 -I<directory of realm.h> fill.c -ldl -o fill
 */
#define _GNU_SOURCE
#include "library.h"

#define MAX_OBJECTS 4000
static struct class {
    const char* name;
    realm_class_info_t info;
    realm_object_t* objects[MAX_OBJECTS];
    size_t count;
} classes[16];
static size_t class_count;

static void ok(bool done, const char* what)
{
    if (!done) die(what);
}

static struct class* class_named(const char* name)
{
    for (size_t i = 0; i < class_count; i++)
        if (!strcmp(classes[i].name, name)) return &classes[i];
    struct class* c = &classes[class_count++];
    bool found;
    ok(F(realm_find_class)(realm, name, &found, &c->info) && found, name);
    c->name = strdup(name);
    return c;
}

static bool opens(const char* s, const char* what) { return !strncmp(s, what, strlen(what)); }

static const char* fill_list(realm_list_t* list, const char* s);

static const char* fill_dictionary(realm_dictionary_t* dictionary, const char* s)
{
    s = expect(s, "{\"dict\":{");
    while (*s != '}') {
        realm_value_t key = {.type = RLM_TYPE_STRING}, v;
        key.string.data = buffer;
        s = text(expect(s, "\""), buffer, &key.string.size);
        buffer += key.string.size + 1;
        s = expect(s, ":");
        if (*s == '[') {
            realm_list_t* inner = F(realm_dictionary_insert_list)(dictionary, key);
            ok(inner, "list");
            s = fill_list(inner, s);
            F(realm_release)(inner);
        } else if (opens(s, "{\"dict\":")) {
            realm_dictionary_t* inner = F(realm_dictionary_insert_dictionary)(dictionary, key);
            ok(inner, "dictionary");
            s = fill_dictionary(inner, s);
            F(realm_release)(inner);
        } else {
            s = value(s, &v);
            ok(F(realm_dictionary_insert)(dictionary, key, v, NULL, NULL), "insert");
        }
        if (*s == ',') s++;
    }
    return s + 2;
}

static const char* fill_list(realm_list_t* list, const char* s)
{
    s = expect(s, "[");
    for (size_t i = 0; *s != ']'; i++) {
        realm_value_t v;
        if (*s == '[') {
            realm_list_t* inner = F(realm_list_insert_list)(list, i);
            ok(inner, "list");
            s = fill_list(inner, s);
            F(realm_release)(inner);
        } else if (opens(s, "{\"dict\":")) {
            realm_dictionary_t* inner = F(realm_list_insert_dictionary)(list, i);
            ok(inner, "dictionary");
            s = fill_dictionary(inner, s);
            F(realm_release)(inner);
        } else {
            s = value(s, &v);
            ok(F(realm_list_insert)(list, i, v), "insert");
        }
        if (*s == ',') s++;
    }
    return s + 1;
}

static void set(struct class* c, size_t number, const char* property, const char* s)
{
    realm_object_t* object = c->objects[number];
    realm_property_info_t p;
    bool found;
    ok(F(realm_find_property)(realm, c->info.key, property, &found, &p) && found, property);
    realm_value_t v;
    bool single = p.collection_type == RLM_COLLECTION_TYPE_NONE;
    if (p.collection_type == RLM_COLLECTION_TYPE_SET) {
        realm_set_t* values = F(realm_get_set)(object, p.key);
        for (s = expect(s, "["); *s != ']'; s += *s == ',') {
            s = value(s, &v);
            ok(F(realm_set_insert)(values, v, NULL, NULL), property);
        }
        F(realm_release)(values);
    } else if (p.collection_type == RLM_COLLECTION_TYPE_LIST || (single && *s == '[')) {
        realm_list_t* list = single ? F(realm_set_list)(object, p.key) : F(realm_get_list)(object, p.key);
        ok(list, property);
        fill_list(list, s);
        F(realm_release)(list);
    } else if (!single || opens(s, "{\"dict\":")) {
        realm_dictionary_t* dictionary = single ? F(realm_set_dictionary)(object, p.key) : F(realm_get_dictionary)(object, p.key);
        ok(dictionary, property);
        fill_dictionary(dictionary, s);
        F(realm_release)(dictionary);
    } else {
        value(s, &v);
        ok(F(realm_set_value)(object, p.key, v, false), property);
    }
}

static void embed(struct class* c, size_t number, const char* property, struct class* target)
{
    realm_property_info_t p;
    bool found;
    ok(F(realm_find_property)(realm, c->info.key, property, &found, &p) && found, property);
    realm_object_t* made;
    if (p.collection_type == RLM_COLLECTION_TYPE_LIST) {
        realm_list_t* list = F(realm_get_list)(c->objects[number], p.key);
        size_t n;
        ok(F(realm_list_size)(list, &n), "size");
        made = F(realm_list_insert_embedded)(list, n);
        F(realm_release)(list);
    } else
        made = F(realm_set_embedded)(c->objects[number], p.key);
    ok(made, "embed");
    target->objects[target->count++] = made;
}

static void empty(void)
{
    realm_class_key_t keys[MAX_CLASSES];
    size_t n;
    ok(F(realm_get_class_keys)(realm, keys, MAX_CLASSES, &n), "keys");
    for (size_t i = 0; i < n; i++) {
        realm_class_info_t info;
        ok(F(realm_get_class)(realm, keys[i], &info), "class");
        if (info.flags & RLM_CLASS_EMBEDDED) continue;
        realm_results_t* all = F(realm_object_find_all)(realm, keys[i]);
        size_t left;
        while (F(realm_results_count)(all, &left) && left) {
            realm_object_t* object = F(realm_results_get_object)(all, left - 1);
            ok(object && F(realm_object_delete)(object), "delete");
            F(realm_release)(object);
        }
        F(realm_release)(all);
    }
}

int main(int argc, char** argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: fill LIBRARY FILE SCRIPT\n");
        return 1;
    }
    load_library(argv[1]);
    path = argv[2];
    FILE* script = fopen(argv[3], "r");
    if (!script) {
        perror(argv[3]);
        return 1;
    }
    open_file();
    ok(F(realm_begin_write)(realm), "begin");
    empty();
    char* line = NULL;
    size_t size = 0;
    ssize_t n;
    while ((n = getline(&line, &size, script)) > 0) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        char* field[6] = {0};
        char* rest = line;
        for (int i = 0; i < 6 && rest; i++) field[i] = strsep(&rest, "\t");
        char* space = buffer = malloc(strlen(line) + (size_t)n + 64);
        struct class* c = class_named(field[1]);
        if (!strcmp(field[0], "new")) {
            realm_value_t key;
            if (*field[2] != '-') value(field[2], &key);
            realm_object_t* made = *field[2] == '-' ? F(realm_object_create)(realm, c->info.key)
                                                    : F(realm_object_create_with_primary_key)(realm, c->info.key, key);
            ok(made, "create");
            c->objects[c->count++] = made;
        } else if (!strcmp(field[0], "embed"))
            embed(c, (size_t)atol(field[2]), field[3], class_named(field[4]));
        else
            set(c, (size_t)atol(field[2]), field[3], field[4]);
        free(space);
    }
    ok(F(realm_commit)(realm), "commit");
    for (size_t i = 0; i < class_count; i++)
        for (size_t k = 0; k < classes[i].count; k++) F(realm_release)(classes[i].objects[k]);
    F(realm_close)(realm);
    F(realm_release)(realm);
    return 0;
}
