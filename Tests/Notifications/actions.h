/*
 * actions.h - a Realm with a property of every kind, changes to it as lines of text, and observers that write their change sets as text.
 * The code works with any library that implements realm.h.
 *
 * Statements, joined by ';', commits by '|':
 *
 *     new 5   del 5   objects 0 9   other        objects by id; several, with n = id; one of another class
 *     vary 0 9 3                                 sets n of objects by id to values computed from the number and the id
 *     delete QUERY                               all objects that meet a query
 *     5.n=4   5.link=@7   5.s='x   5.mx=[]       values: a number, null, @ID, 'text, [] and {} for collections in a Mixed
 *     5.n add 2   5.n def 4                      realm_object_add_int; a value flagged as default
 *     5.emb new   5.emb.n=4   5.le/0.n=4         embedded objects
 *     5.li ins 0 9   set 0 9   era 0   mov 2 5   clr   all    fill 10   refs 2 9
 *     5.si put 9   rem 9   clr   all             sets
 *     5.di key k 9   cut k   clr                 dictionaries
 *     5.lm[1]{k} ins 0 4                         collections in Mixed values
 *
 * Indices are taken modulo the size. Impossible actions are skipped.
 *
 * Observers: "object 5", a collection as above, "results QUERY", "of COLLECTION QUERY", "of COLLECTION sort SORT", "of COLLECTION distinct
 * NAMES", "of COLLECTION limit 2", "keys COLLECTION" with the same suffixes, "back 5"; then " @ " and key paths, joined
 * by commas, or "-" for an empty list of key paths.
 */
#ifndef ACTIONS_H
#define ACTIONS_H

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "realm.h"

/* ---- Text ------------------------------------------------------------------------------------------- */

typedef struct {
    char* text;
    size_t length, room;
} text_t;
__attribute__((format(printf, 2, 3))) static void say(text_t* t, const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    char piece[2000];
    int n = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (n < 0) return;
    size_t size = (size_t)n < sizeof piece ? (size_t)n : sizeof piece - 1;
    if (t->length + size + 1 > t->room) {
        t->room = 2 * (t->length + size + 1);
        char* larger = (char*)realloc(t->text, t->room);
        if (!larger) abort();
        t->text = larger;
    }
    memcpy(t->text + t->length, piece, size + 1);
    t->length += size;
}
static const char* text_of(const text_t* t) { return t->length ? t->text : ""; }
static void empty(text_t* t) { t->length = 0; }

/* ---- The thread's scheduler -------------------------------------------------------------------------- */

enum { QUEUE = 1024 };
static pthread_mutex_t turns_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more_turns = PTHREAD_COND_INITIALIZER;
static struct {
    realm_work_queue_t* queue[QUEUE];
    size_t first, count;
    pthread_t thread;
} turns;

static void post(realm_userdata_t p, realm_work_queue_t* queue) {
    (void)p;
    pthread_mutex_lock(&turns_mutex);
    if (turns.count < QUEUE) turns.queue[(turns.first + turns.count++) % QUEUE] = queue;
    pthread_cond_signal(&more_turns);
    pthread_mutex_unlock(&turns_mutex);
}
static bool on_thread(realm_userdata_t p) { return (void)p, pthread_equal(turns.thread, pthread_self()); }
static bool same_thread(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static bool delivers = true;
static bool can_deliver(realm_userdata_t p) { return (void)p, delivers; }
static void nothing(realm_userdata_t p) { (void)p; }
/* The scheduler lives until the end of the program, as queued work refers to it. */
static realm_scheduler_t* scheduler(void) {
    static realm_scheduler_t* only;
    turns.thread = pthread_self();
    if (!only) only = realm_scheduler_new(&turns, nothing, post, on_thread, same_thread, can_deliver);
    return only;
}
/* Runs one piece of work; waits for it up to `milliseconds`. */
__attribute__((unused)) static bool turn(long milliseconds) {
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += milliseconds / 1000, end.tv_nsec += milliseconds % 1000 * 1000000;
    if (end.tv_nsec >= 1000000000) end.tv_sec++, end.tv_nsec -= 1000000000;
    pthread_mutex_lock(&turns_mutex);
    while (!turns.count && pthread_cond_timedwait(&more_turns, &turns_mutex, &end) == 0) {}
    realm_work_queue_t* work = NULL;
    if (turns.count) work = turns.queue[turns.first], turns.first = (turns.first + 1) % QUEUE, turns.count--;
    pthread_mutex_unlock(&turns_mutex);
    if (work) realm_scheduler_perform_work(work);
    return work != NULL;
}

/* ---- The schema -------------------------------------------------------------------------------------- */

static realm_property_info_t property(const char* name, int type, int collection, const char* target, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = "", p.link_target = target, p.link_origin_property_name = "";
    p.type = (realm_property_type_e)type, p.collection_type = (realm_collection_type_e)collection, p.flags = flags;
    return p;
}
static realm_schema_t* new_schema(void) {
    enum { ONE = RLM_COLLECTION_TYPE_NONE, LIST = RLM_COLLECTION_TYPE_LIST, SET = RLM_COLLECTION_TYPE_SET, MAP = RLM_COLLECTION_TYPE_DICTIONARY };
    enum { INT = RLM_PROPERTY_TYPE_INT, STRING = RLM_PROPERTY_TYPE_STRING, LINK = RLM_PROPERTY_TYPE_OBJECT, MIXED = RLM_PROPERTY_TYPE_MIXED };
    enum { NULLS = RLM_PROPERTY_NULLABLE };
    realm_property_info_t a[] = {
        property("id", INT, ONE, "", RLM_PROPERTY_PRIMARY_KEY), property("n", INT, ONE, "", 0), property("s", STRING, ONE, "", NULLS),
        property("link", LINK, ONE, "A", NULLS), property("la", LINK, LIST, "A", 0), property("li", INT, LIST, "", 0),
        property("si", INT, SET, "", 0), property("sa", LINK, SET, "A", 0), property("di", INT, MAP, "", 0),
        property("da", LINK, MAP, "A", NULLS), property("mx", MIXED, ONE, "", NULLS), property("lm", MIXED, LIST, "", NULLS),
        property("sm", MIXED, SET, "", NULLS), property("dm", MIXED, MAP, "", NULLS), property("emb", LINK, ONE, "E", NULLS),
        property("le", LINK, LIST, "E", 0), property("bl", RLM_PROPERTY_TYPE_LINKING_OBJECTS, LIST, "A", 0)};
    a[16].link_origin_property_name = "link";
    realm_property_info_t b[] = {property("n", INT, ONE, "", 0)};
    realm_property_info_t e[] = {property("n", INT, ONE, "", 0), property("a", LINK, ONE, "A", NULLS)};
    realm_class_info_t classes[3];
    memset(classes, 0, sizeof classes);
    classes[0].name = "A", classes[0].primary_key = "id", classes[0].num_properties = 16, classes[0].num_computed_properties = 1;
    classes[1].name = "B", classes[1].primary_key = "", classes[1].num_properties = 1;
    classes[2].name = "E", classes[2].primary_key = "", classes[2].num_properties = 2, classes[2].flags = RLM_CLASS_EMBEDDED;
    const realm_property_info_t* all[] = {a, b, e};
    return realm_schema_new(classes, 3, all);
}
/* Opens a Realm with that schema; `automatic`: it is notified of commits. */
static realm_t* open_path(const char* path, bool automatic) {
    realm_config_t* c = realm_config_new();
    realm_schema_t* schema = new_schema();
    realm_config_set_path(c, path);
    realm_config_set_schema(c, schema);
    realm_config_set_schema_version(c, 1);
    realm_config_set_automatic_change_notifications(c, automatic);
    realm_config_set_scheduler(c, scheduler());
    realm_t* r = realm_open(c);
    realm_release(c), realm_release(schema);
    return r;
}
static realm_class_key_t class_key(const realm_t* r, const char* name) {
    realm_class_info_t c;
    bool found = false;
    return realm_find_class(r, name, &found, &c) && found ? c.key : RLM_INVALID_CLASS_KEY;
}

/* ---- Objects, properties, values ---------------------------------------------------------------------- */

static realm_value_t integer(int64_t n) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_INT, v.integer = n;
    return v;
}
static realm_value_t string(const char* s, size_t size) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_STRING, v.string.data = s, v.string.size = size;
    return v;
}
static realm_object_t* object_by_id(const realm_t* r, int64_t id) {
    bool found = false;
    realm_object_t* o = realm_object_find_with_primary_key(r, class_key(r, "A"), integer(id), &found);
    if (o && !found) realm_release(o), o = NULL;
    return o;
}
static long number(const char** at) {
    while (**at == ' ') ++*at;
    char* end;
    long n = strtol(*at, &end, 10);
    *at = end;
    return n;
}
/* The value at `*at`; `*kind`: '[' or '{' for a new collection, 0 if it is no value that can be set. */
static realm_value_t value(const realm_t* r, const char** at, char* kind) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    *kind = 'v';
    while (**at == ' ') ++*at;
    if (**at == '[' || **at == '{') {
        *kind = **at;
        *at += 2;
    } else if (**at == '@') {
        ++*at;
        realm_object_t* o = object_by_id(r, number(at));
        if (o) v.type = RLM_TYPE_LINK, v.link = realm_object_as_link(o), realm_release(o);
        else *kind = 0;
    } else if (**at == '\'') {
        const char* start = ++*at;
        while (isalnum((unsigned char)**at)) ++*at;
        v = string(start, (size_t)(*at - start));
    } else if (isdigit((unsigned char)**at) || **at == '-') {
        v = integer(number(at));
    } else if (!strncmp(*at, "null", 4)) {
        *at += 4;
    } else {
        *kind = 0;
    }
    return v;
}
static size_t word(const char** at, char* out, size_t room) {
    while (**at == ' ') ++*at;
    size_t n = 0;
    while (isalnum((unsigned char)**at) && n + 1 < room) out[n++] = *(*at)++;
    out[n] = 0;
    return n;
}

typedef struct {
    char kind; /* 'l', 's', 'd', or 0 */
    realm_list_t* list;
    realm_set_t* set;
    realm_dictionary_t* dictionary;
} collection_t;
/* A property of an object, and its collection if it has one. */
typedef struct {
    realm_object_t* object;
    realm_property_info_t info;
    collection_t collection;
} place_t;
static void release_collection(collection_t* c) {
    realm_release(c->list), realm_release(c->set), realm_release(c->dictionary);
    memset(c, 0, sizeof *c);
}
static void release_place(place_t* p) {
    release_collection(&p->collection);
    realm_release(p->object);
    p->object = NULL;
}
static collection_t collection_of(realm_object_t* o, const realm_property_info_t* p) {
    collection_t c;
    memset(&c, 0, sizeof c);
    int type = p->collection_type;
    if (type == RLM_COLLECTION_TYPE_NONE && p->type == RLM_PROPERTY_TYPE_MIXED) {
        realm_value_t v;
        if (!realm_get_value(o, p->key, &v)) return c;
        if (v.type == RLM_TYPE_LIST) type = RLM_COLLECTION_TYPE_LIST;
        if (v.type == RLM_TYPE_DICTIONARY) type = RLM_COLLECTION_TYPE_DICTIONARY;
    }
    if (type == RLM_COLLECTION_TYPE_LIST) c.list = realm_get_list(o, p->key), c.kind = c.list ? 'l' : 0;
    if (type == RLM_COLLECTION_TYPE_SET) c.set = realm_get_set(o, p->key), c.kind = c.set ? 's' : 0;
    if (type == RLM_COLLECTION_TYPE_DICTIONARY) c.dictionary = realm_get_dictionary(o, p->key), c.kind = c.dictionary ? 'd' : 0;
    return c;
}
static size_t size_of(const collection_t* c) {
    size_t n = 0;
    bool good = false;
    if (c->kind == 'l') good = realm_list_size(c->list, &n);
    if (c->kind == 's') good = realm_set_size(c->set, &n);
    if (c->kind == 'd') good = realm_dictionary_size(c->dictionary, &n);
    return good ? n : 0;
}
/* The collection in an element. */
static collection_t nested(collection_t* outer, const char** at) {
    collection_t c;
    memset(&c, 0, sizeof c);
    realm_value_t v, key;
    memset(&v, 0, sizeof v);
    if (**at == '[') {
        ++*at;
        size_t i = (size_t)number(at), n = size_of(outer);
        if (**at == ']') ++*at;
        if (outer->kind != 'l' || !n || !realm_list_get(outer->list, i % n, &v)) return c;
        if (v.type == RLM_TYPE_LIST) c.list = realm_list_get_list(outer->list, i % n), c.kind = c.list ? 'l' : 0;
        if (v.type == RLM_TYPE_DICTIONARY) c.dictionary = realm_list_get_dictionary(outer->list, i % n), c.kind = c.dictionary ? 'd' : 0;
    } else {
        ++*at;
        char name[40];
        size_t n = word(at, name, sizeof name);
        bool found = false;
        if (**at == '}') ++*at;
        key = string(name, n);
        if (outer->kind != 'd' || !realm_dictionary_find(outer->dictionary, key, &v, &found) || !found) return c;
        if (v.type == RLM_TYPE_LIST) c.list = realm_dictionary_get_list(outer->dictionary, key), c.kind = c.list ? 'l' : 0;
        if (v.type == RLM_TYPE_DICTIONARY) c.dictionary = realm_dictionary_get_dictionary(outer->dictionary, key), c.kind = c.dictionary ? 'd' : 0;
    }
    return c;
}
static bool find_place(const realm_t* r, const char** at, place_t* p) {
    memset(p, 0, sizeof *p);
    p->object = object_by_id(r, number(at));
    while (p->object && **at == '.') {
        char name[40];
        bool found = false;
        ++*at;
        word(at, name, sizeof name);
        if (!realm_find_property(r, realm_object_get_table(p->object), name, &found, &p->info) || !found) break;
        realm_object_t* next = NULL;
        if (**at == '/') {
            ++*at;
            size_t i = (size_t)number(at);
            collection_t c = collection_of(p->object, &p->info);
            size_t n = size_of(&c);
            if (c.kind == 'l' && n) next = realm_list_get_linked_object(c.list, i % n);
            release_collection(&c);
        } else if (**at == '.') {
            next = realm_get_linked_object(p->object, p->info.key);
        } else {
            p->collection = collection_of(p->object, &p->info);
            while (**at == '[' || **at == '{') {
                collection_t inner = nested(&p->collection, at);
                release_collection(&p->collection);
                p->collection = inner;
            }
            return true;
        }
        realm_release(p->object);
        p->object = next;
    }
    release_place(p);
    return false;
}

/* true: clearing an empty collection is skipped. */
static bool skips_idle_clears;

/* ---- Statements --------------------------------------------------------------------------------------- */

static void change_list(const realm_t* r, place_t* p, const char* verb, const char* at) {
    realm_list_t* l = p->collection.list;
    size_t n = size_of(&p->collection);
    char kind;
    if (!strcmp(verb, "ins") || (!strcmp(verb, "set") && n)) {
        bool is_new = verb[0] == 'i';
        size_t i = (size_t)number(&at) % (n + is_new);
        if (!strncmp(at, " new", 4)) {
            realm_release(is_new ? realm_list_insert_embedded(l, i) : realm_list_set_embedded(l, i));
            return;
        }
        realm_value_t v = value(r, &at, &kind);
        if (kind == '[') realm_release(is_new ? realm_list_insert_list(l, i) : realm_list_set_list(l, i));
        if (kind == '{') realm_release(is_new ? realm_list_insert_dictionary(l, i) : realm_list_set_dictionary(l, i));
        if (kind == 'v') (void)(is_new ? realm_list_insert(l, i, v) : realm_list_set(l, i, v));
    } else if (!strcmp(verb, "era") && n) {
        realm_list_erase(l, (size_t)number(&at) % n);
    } else if (!strcmp(verb, "mov") && n) {
        size_t from = (size_t)number(&at) % n;
        realm_list_move(l, from, (size_t)number(&at) % n);
    } else if (!strcmp(verb, "clr")) {
        if (n || !skips_idle_clears) realm_list_clear(l);
    } else if (!strcmp(verb, "all")) {
        realm_list_remove_all(l);
    } else if (!strcmp(verb, "fill")) {
        long count = number(&at);
        for (long i = 0; i < count; i++) realm_list_insert(l, n + (size_t)i, integer(i));
    } else if (!strcmp(verb, "refs")) {
        long first = number(&at), last = number(&at);
        for (long i = first; i <= last; i++) {
            realm_object_t* o = object_by_id(r, i);
            realm_value_t v;
            memset(&v, 0, sizeof v);
            if (o) v.type = RLM_TYPE_LINK, v.link = realm_object_as_link(o), realm_list_insert(l, n++, v), realm_release(o);
        }
    }
}
static void change_collection(const realm_t* r, place_t* p, const char* verb, const char* at) {
    char kind, name[40];
    if (p->collection.kind == 'l') return change_list(r, p, verb, at);
    if (p->collection.kind == 's') {
        if (!strcmp(verb, "clr")) realm_set_clear(p->collection.set);
        else if (!strcmp(verb, "all")) realm_set_remove_all(p->collection.set);
        else {
            realm_value_t v = value(r, &at, &kind);
            if (kind == 'v' && !strcmp(verb, "put")) realm_set_insert(p->collection.set, v, NULL, NULL);
            if (kind == 'v' && !strcmp(verb, "rem")) realm_set_erase(p->collection.set, v, NULL);
        }
    }
    if (p->collection.kind == 'd') {
        realm_dictionary_t* d = p->collection.dictionary;
        if (!strcmp(verb, "clr")) {
            if (size_of(&p->collection) || !skips_idle_clears) realm_dictionary_clear(d);
            return;
        }
        size_t size = word(&at, name, sizeof name);
        realm_value_t key = string(name, size);
        if (!strcmp(verb, "cut")) realm_dictionary_erase(d, key, NULL);
        if (!strcmp(verb, "key")) {
            realm_value_t v = value(r, &at, &kind);
            if (kind == '[') realm_release(realm_dictionary_insert_list(d, key));
            if (kind == '{') realm_release(realm_dictionary_insert_dictionary(d, key));
            if (kind == 'v') realm_dictionary_insert(d, key, v, NULL, NULL);
        }
    }
}
static void statement(realm_t* r, const char* at) {
    while (*at == ' ') at++;
    if (isdigit((unsigned char)*at)) {
        place_t p;
        if (!find_place(r, &at, &p)) return;
        while (*at == ' ') at++;
        char verb[8], kind;
        if (*at == '=') {
            at++;
            realm_value_t v = value(r, &at, &kind);
            if (kind == '[') realm_release(realm_set_list(p.object, p.info.key));
            if (kind == '{') realm_release(realm_set_dictionary(p.object, p.info.key));
            if (kind == 'v') realm_set_value(p.object, p.info.key, v, false);
        } else if (word(&at, verb, sizeof verb) && p.collection.kind) {
            change_collection(r, &p, verb, at);
        } else if (!strcmp(verb, "add")) {
            realm_object_add_int(p.object, p.info.key, number(&at));
        } else if (!strcmp(verb, "def")) {
            realm_set_value(p.object, p.info.key, integer(number(&at)), true);
        } else if (!strcmp(verb, "new")) {
            realm_release(realm_set_embedded(p.object, p.info.key));
        }
        release_place(&p);
        return;
    }
    char verb[10];
    word(&at, verb, sizeof verb);
    if (!strcmp(verb, "new") || !strcmp(verb, "objects")) {
        long first = number(&at), last = verb[0] == 'n' ? first : number(&at);
        for (long i = first; i <= last; i++) {
            realm_object_t* o = realm_object_create_with_primary_key(r, class_key(r, "A"), integer(i));
            realm_property_info_t n;
            bool found = false;
            if (o && verb[0] == 'o' && realm_find_property(r, class_key(r, "A"), "n", &found, &n) && found)
                realm_set_value(o, n.key, integer(i), false);
            realm_release(o);
        }
    } else if (!strcmp(verb, "vary")) {
        long first = number(&at), last = number(&at), by = number(&at);
        realm_property_info_t n;
        bool found = false;
        if (!realm_find_property(r, class_key(r, "A"), "n", &found, &n) || !found) return;
        for (long i = first; i <= last; i++) {
            realm_object_t* o = object_by_id(r, i);
            if (o) realm_set_value(o, n.key, integer(i * by % 101), false);
            realm_release(o);
        }
    } else if (!strcmp(verb, "del")) {
        realm_object_t* o = object_by_id(r, number(&at));
        if (o) realm_object_delete(o);
        realm_release(o);
    } else if (!strcmp(verb, "other")) {
        realm_release(realm_object_create(r, class_key(r, "B")));
    } else if (!strcmp(verb, "delete")) {
        realm_query_t* q = realm_query_parse(r, class_key(r, "A"), at, 0, NULL);
        realm_results_t* rows = q ? realm_query_find_all(q) : NULL;
        if (rows) realm_results_delete_all(rows);
        realm_release(rows), realm_release(q);
    }
}
/* A function that is called before and after each statement, or NULL. */
static void (*around)(realm_t* r, const char* statement, bool is_done);
/* Executes the statements up to the end or to '|', inside of a transaction. Returns the text after them. */
static const char* statements(realm_t* r, const char* at) {
    char one[300];
    for (;;) {
        size_t n = strcspn(at, ";|");
        if (n < sizeof one) {
            memcpy(one, at, n), one[n] = 0;
            while (n && one[n - 1] == ' ') one[--n] = 0;
            if (around) around(r, one, false);
            statement(r, one);
            if (around) around(r, one, true);
            realm_clear_last_error();
        }
        at += strcspn(at, ";|");
        if (*at != ';') return *at ? at + 1 : at;
        at++;
    }
}
/* Executes each part in a transaction. */
static bool act(realm_t* r, const char* at) {
    do {
        if (!realm_begin_write(r)) return false;
        at = statements(r, at);
        if (!realm_commit(r)) return false;
    } while (*at);
    return true;
}

/* ---- Observers ---------------------------------------------------------------------------------------- */

typedef struct observer {
    realm_t* realm;
    char kind; /* 'o' object, 'l' list, 's' set, 'd' dictionary, 'r' results */
    void* handle;
    realm_notification_token_t* token;
    int calls, frees;
    /* All calls, joined by " / ". */
    text_t heard;
    void (*then)(struct observer*);
    bool writable;
    void* more;
    const realm_collection_changes_t* changes;
} observer_t;

/* Writes numbers in order, three or more successive ones as 2…5. */
static void say_indices(text_t* t, const char* name, const size_t* all, size_t n) {
    if (!n) return;
    say(t, "%s%s{", t->length ? " " : "", name);
    for (size_t i = 0; i < n; i++) {
        size_t last = i;
        while (last + 1 < n && all[last + 1] == all[last] + 1) last++;
        if (last < i + 3) last = i;
        say(t, last > i ? "%s%zu…%zu" : "%s%zu", i ? "," : "", all[i], all[last]);
        i = last;
    }
    say(t, "}");
}
static void called(observer_t* o, text_t* t) {
    if (o->calls++) say(&o->heard, " / ");
    say(&o->heard, "%s", t->length ? text_of(t) : "empty");
    free(t->text);
    o->writable = realm_is_writable(o->realm);
    if (o->then) o->then(o);
}
enum { MOST = 8000 };
static void say_changes(text_t* t, const realm_collection_changes_t* c) {
    size_t d = 0, i = 0, m = 0, moves = 0;
    bool cleared = false, deleted = false;
    realm_collection_changes_get_num_changes(c, &d, &i, &m, &moves, &cleared, &deleted);
    if (d > MOST || i > MOST || m > MOST || moves > MOST) {
        say(t, "D%zu I%zu M%zu MV%zu", d, i, m, moves);
        return;
    }
    static size_t ds[MOST], is[MOST], ms[MOST], after[MOST];
    static realm_collection_move_t mv[MOST];
    realm_collection_changes_get_changes(c, ds, MOST, is, MOST, ms, MOST, after, MOST, mv, MOST);
    say_indices(t, "D", ds, d);
    say_indices(t, "I", is, i);
    for (size_t k = 0; k < m; k++) say(t, "%s%zu→%zu", k ? "," : t->length ? " M{" : "M{", ms[k], after[k]);
    if (m) say(t, "}");
    for (size_t k = 0; k < moves; k++) say(t, "%s%zu>%zu", k ? "," : t->length ? " MV{" : "MV{", mv[k].from, mv[k].to);
    if (moves) say(t, "}");
    if (cleared) say(t, t->length ? " clr" : "clr");
    if (deleted) say(t, t->length ? " del" : "del");
}
static void on_collection(realm_userdata_t p, const realm_collection_changes_t* c) {
    observer_t* o = (observer_t*)p;
    text_t t = {NULL, 0, 0};
    say_changes(&t, c);
    o->changes = c;
    called(o, &t);
    o->changes = NULL;
}
static int by_text(const void* a, const void* b) {
    const realm_value_t *x = (const realm_value_t*)a, *y = (const realm_value_t*)b;
    size_t n = x->string.size < y->string.size ? x->string.size : y->string.size;
    int order = memcmp(x->string.data, y->string.data, n);
    return order ? order : (x->string.size > y->string.size) - (x->string.size < y->string.size);
}
static void on_dictionary(realm_userdata_t p, const realm_dictionary_changes_t* c) {
    static realm_value_t keys[3][MOST];
    size_t n[3] = {MOST, MOST, MOST};
    bool cleared = false, deleted = false;
    text_t t = {NULL, 0, 0};
    realm_dictionary_get_changes(c, NULL, NULL, NULL, &deleted);
    realm_dictionary_get_changed_keys(c, keys[0], &n[0], keys[1], &n[1], keys[2], &n[2], &cleared);
    const char* names[] = {"del{", "ins{", "mod{"};
    for (int k = 0; k < 3; k++) {
        qsort(keys[k], n[k], sizeof keys[k][0], by_text);
        for (size_t i = 0; i < n[k]; i++)
            say(&t, "%s%s%.*s", i ? "," : t.length ? " " : "", i ? "" : names[k], (int)keys[k][i].string.size, keys[k][i].string.data);
        if (n[k]) say(&t, "}");
    }
    if (cleared) say(&t, t.length ? " clr" : "clr");
    if (deleted) say(&t, t.length ? " del" : "del");
    called((observer_t*)p, &t);
}
static void on_object(realm_userdata_t p, const realm_object_changes_t* c) {
    observer_t* o = (observer_t*)p;
    realm_property_key_t keys[40];
    text_t t = {NULL, 0, 0};
    size_t n = realm_object_changes_get_modified_properties(c, keys, 40);
    bool deleted = realm_object_changes_is_deleted(c);
    if (deleted) say(&t, "deleted");
    const char* names[] = {"id", "n", "s", "link", "la", "li", "si", "sa", "di", "da", "mx", "lm", "sm", "dm", "emb", "le"};
    size_t said = 0, total = sizeof names / sizeof names[0];
    for (size_t k = 0; k < total; k++)
        for (size_t i = 0; i < n; i++) {
            realm_property_info_t info;
            bool found = false;
            if (realm_find_property(o->realm, class_key(o->realm, "A"), names[k], &found, &info) && found && info.key == keys[i])
                say(&t, "%s%s", said++ ? "," : t.length ? " {" : "{", names[k]);
        }
    /* The hidden column of backlinks has no property. */
    for (; said < n; said++) say(&t, "%sbacklink", said ? "," : t.length ? " {" : "{");
    if (n) say(&t, "}");
    realm_clear_last_error();
    called(o, &t);
}
static void freed(realm_userdata_t p) { ((observer_t*)p)->frees++; }

static realm_key_path_array_t* key_paths(const realm_t* r, const char* at) {
    const char* all[10];
    char text[300];
    size_t n = 0;
    snprintf(text, sizeof text, "%s", at);
    char* rest = text;
    if (strcmp(at, "-"))
        for (char* one; n < 10 && (one = strsep(&rest, ","));) all[n++] = one;
    return realm_create_key_path_array(r, class_key(r, "A"), n, all);
}
/* Adds another callback on the handle of an observer. */
static bool add_callback(observer_t* o, void* handle, char kind, const char* paths) {
    o->handle = handle, o->kind = kind;
    realm_key_path_array_t* k = paths ? key_paths(o->realm, paths) : NULL;
    if (paths && !k) return false;
    if (kind == 'o') o->token = realm_object_add_notification_callback((realm_object_t*)handle, o, freed, k, on_object);
    if (kind == 'l') o->token = realm_list_add_notification_callback((realm_list_t*)handle, o, freed, k, on_collection);
    if (kind == 's') o->token = realm_set_add_notification_callback((realm_set_t*)handle, o, freed, k, on_collection);
    if (kind == 'd') o->token = realm_dictionary_add_notification_callback((realm_dictionary_t*)handle, o, freed, k, on_dictionary);
    if (kind == 'r') o->token = realm_results_add_notification_callback((realm_results_t*)handle, o, freed, k, on_collection);
    realm_release(k);
    return o->token != NULL;
}
/* Results of some of the rows, as described by `at`; releases `all`. */
static realm_results_t* some_of(realm_results_t* all, const char* at) {
    while (*at == ' ') at++;
    if (!all || !*at) return all;
    realm_results_t* some = NULL;
    if (!strncmp(at, "limit ", 6)) {
        some = realm_results_limit(all, (size_t)atol(at + 6));
    } else if (!strncmp(at, "sort ", 5)) {
        some = realm_results_sort(all, at + 5);
    } else if (!strncmp(at, "distinct ", 9)) {
        some = realm_results_distinct(all, at + 9);
    } else {
        realm_query_t* q = realm_query_parse_for_results(all, at, 0, NULL);
        some = q ? realm_results_filter(all, q) : NULL;
        realm_release(q);
    }
    realm_release(all);
    return some;
}
static realm_results_t* rows_of(collection_t* c, const char* at) {
    realm_results_t* all = NULL;
    if (c->kind == 'l') all = realm_list_to_results(c->list);
    if (c->kind == 's') all = realm_set_to_results(c->set);
    if (c->kind == 'd') all = realm_dictionary_to_results(c->dictionary);
    return some_of(all, at);
}
/* Opens the handle that an observer watches; `*kind` becomes the kind of the observer. */
static void* open_handle(realm_t* r, const char* at, char* kind) {
    void* handle = NULL;
    char verb[10] = "";
    *kind = 'r';
    if (!isdigit((unsigned char)*at)) word(&at, verb, sizeof verb);
    while (*at == ' ') at++;
    if (!strcmp(verb, "object")) {
        *kind = 'o';
        handle = object_by_id(r, number(&at));
    } else if (!strcmp(verb, "results")) {
        realm_query_t* q = realm_query_parse(r, class_key(r, "A"), at, 0, NULL);
        handle = q ? realm_query_find_all(q) : NULL;
        realm_release(q);
    } else if (!strcmp(verb, "back")) {
        realm_object_t* o = object_by_id(r, number(&at));
        realm_property_info_t info;
        bool found = false;
        if (o && realm_find_property(r, class_key(r, "A"), "link", &found, &info) && found)
            handle = realm_get_backlinks(o, class_key(r, "A"), info.key);
        realm_release(o);
    } else {
        place_t p;
        if (!find_place(r, &at, &p)) return NULL;
        collection_t* c = &p.collection;
        if (!strcmp(verb, "of")) {
            handle = rows_of(c, at);
        } else if (!strcmp(verb, "keys")) {
            size_t n;
            realm_results_t* keys = NULL;
            if (c->kind == 'd' && realm_dictionary_get_keys(c->dictionary, &n, &keys)) handle = some_of(keys, at);
        } else {
            *kind = c->kind;
            if (c->kind == 'l') handle = c->list, c->list = NULL;
            if (c->kind == 's') handle = c->set, c->set = NULL;
            if (c->kind == 'd') handle = c->dictionary, c->dictionary = NULL;
        }
        release_place(&p);
    }
    return handle;
}
static bool observe(realm_t* r, observer_t* o, const char* what) {
    char text[300], kind;
    memset(o, 0, sizeof *o);
    o->realm = r;
    snprintf(text, sizeof text, "%s", what);
    char* paths = strstr(text, " @ ");
    if (paths) *paths = 0, paths += 3;
    void* handle = open_handle(r, text, &kind);
    if (handle && add_callback(o, handle, kind, paths)) return true;
    realm_release(handle);
    o->handle = NULL;
    return false;
}
static void forget(observer_t* o) {
    realm_release(o->token);
    realm_release(o->handle);
    free(o->heard.text);
    memset(o, 0, sizeof *o);
}
/* The calls since the last check, as text; "-" for none. */
__attribute__((unused)) static const char* heard(observer_t* o) { return o->calls ? text_of(&o->heard) : "-"; }
static void hear_anew(observer_t* o) {
    empty(&o->heard);
    o->calls = 0;
}

#endif
