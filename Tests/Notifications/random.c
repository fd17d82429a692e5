/*
 * random.c - random transactions with observers of every kind. The change sets are printed, so that two libraries can
 * be compared, and checked: applied to the content before, a change set must give the content after, and no change may
 * be missing.
 *
 *     random FOLDER FIRST LAST [--transactions N] [--own] [--paths | --mixed] [--writers] [--wide] [--gentle] [--quiet]
 *
 * Seeds FIRST to LAST. --own: the observed Realm commits, instead of another one of the file. --paths: observers have
 * key paths. --mixed: each handle has two callbacks, one with key paths and one without; both get the changes that two
 * handles with one of these callbacks each would get. --writers: observers write when they are called; each call is
 * checked separately, against the content at that moment. --wide: thousands of objects, and results of them. --gentle
 * skips actions that crash some libraries. --quiet prints only faults, and the counts at the end.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stddef.h>
#include <unistd.h>

#include "actions.h"

static uint64_t state;
static unsigned below(unsigned n) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (unsigned)((z ^ (z >> 31)) % n);
}
static const char* one_of(const char* const* all, unsigned n) { return all[below(n)]; }
#define ONE_OF(...) one_of((const char* const[]){__VA_ARGS__}, sizeof((const char* const[]){__VA_ARGS__}) / sizeof(char*))

/* ---- Transactions ------------------------------------------------------------------------------------- */

enum { FEW = 9, MANY = 3000 };
static unsigned ids = FEW;
static bool wide, gentle;
static void any_value(text_t* t) {
    switch (below(6)) {
        case 0: say(t, "@%u", below(ids)); break;
        case 1: say(t, "'%s", ONE_OF("x", "y")); break;
        case 2: say(t, "null"); break;
        case 3: say(t, "%s", ONE_OF("[]", "{}")); break;
        default: say(t, "%u", below(10)); break;
    }
}
/* A change of a list with elements of a kind: 'i' numbers, 'l' links, 'm' anything, 'e' embedded objects. */
static void any_list_change(text_t* t, char elements) {
    unsigned what = below(20);
    if (what < 12) {
        say(t, what < 8 ? "ins %u " : "set %u ", below(8));
        if (elements == 'i') say(t, "%u", below(10));
        if (elements == 'l') say(t, "@%u", below(ids));
        if (elements == 'm') any_value(t);
        if (elements == 'e') say(t, "new");
    } else if (what < 15) {
        say(t, "era %u", below(8));
    } else if (what < 19) {
        say(t, "mov %u %u", below(8), below(8));
    } else {
        say(t, "clr");
    }
}
static void any_dictionary_change(text_t* t, char elements) {
    const char* key = ONE_OF("a", "b", "k", "z");
    unsigned what = below(12);
    if (what < 8) {
        say(t, "key %s ", key);
        if (elements == 'i') say(t, "%u", below(10));
        if (elements == 'l') say(t, below(5) ? "@%u" : "null", below(ids));
        if (elements == 'm') any_value(t);
    } else {
        say(t, what < 11 ? "cut %s" : "clr", key);
    }
}
static void any_wide_statement(text_t* t) {
    unsigned first = below(ids);
    switch (below(20)) {
        case 0: case 1: case 2: case 3: case 4: case 5: case 6: say(t, "%u.n=%u", first, below(101)); break;
        case 7: case 8: say(t, "%u.s='%s", first, ONE_OF("x", "y", "z")); break;
        case 9: case 10: case 11: say(t, below(4) ? "%u.link=@%u" : "%u.link=null", first, below(ids)); break;
        case 12: case 13: say(t, "new %u", first); break;
        case 14: case 15: say(t, "del %u", first); break;
        case 16: say(t, "objects %u %u", first, first + below(30)); break;
        case 17: say(t, "delete id > %u AND id < %u", first, first + below(30)); break;
        case 18: say(t, "vary %u %u %u", first, first + below(60), 1 + below(50)); break;
        default: say(t, "vary %u %u %u", first, first + below(10) * below(300), 1 + below(50)); break;
    }
}
static void any_statement(text_t* t) {
    if (wide) return any_wide_statement(t);
    unsigned id = below(2) ? below(2) : below(ids);
    switch (below(32)) {
        case 0: case 1: case 2: case 3: say(t, "%u.n=%u", below(ids), below(10)); break;
        case 4: say(t, "%u.s='%s", below(ids), ONE_OF("x", "y")); break;
        case 5: case 6: case 7: say(t, below(4) ? "%u.link=@%u" : "%u.link=null", below(ids), below(ids)); break;
        case 8: case 9: say(t, "new %u", below(ids)); break;
        case 10: say(t, "del %u", below(3) ? 2 + below(ids - 2) : below(ids)); break;
        case 11:
            if (below(6)) say(t, "%u.n add 1", id);
            else say(t, "delete n == %u", below(10));
            break;
        case 12: case 13: case 14: say(t, "%u.la ", id), any_list_change(t, 'l'); break;
        case 15: case 16: say(t, "%u.li ", id), any_list_change(t, 'i'); break;
        case 17: say(t, below(5) ? "%u.si %s %u" : "%u.si clr", id, ONE_OF("put", "put", "rem"), below(10)); break;
        case 18: say(t, below(6) ? "%u.sa %s @%u" : "%u.sa clr", id, ONE_OF("put", "put", "rem"), below(ids)); break;
        case 19: say(t, "%u.sm %s ", id, ONE_OF("put", "put", "rem")), say(t, below(2) ? "@%u" : "%u", below(ids)); break;
        case 20: say(t, "%u.di ", id), any_dictionary_change(t, 'i'); break;
        case 21: say(t, "%u.da ", id), any_dictionary_change(t, 'l'); break;
        case 22: say(t, "%u.dm ", id), any_dictionary_change(t, 'm'); break;
        case 23:
            if (below(3)) say(t, "%u.mx=", id), any_value(t);
            else say(t, "%u.mx=@%u", below(ids), below(ids));
            break;
        case 24: say(t, "%u.lm ", id), any_list_change(t, 'm'); break;
        case 25: say(t, "%u.lm[%u] ", id, below(3)), below(3) ? any_list_change(t, 'm') : any_dictionary_change(t, 'm'); break;
        case 26: say(t, "%u.mx ", id), below(2) ? any_list_change(t, 'm') : any_dictionary_change(t, 'm'); break;
        case 27:
            say(t, gentle ? "%u.dm{k} " : ONE_OF("%u.dm{k} ", "%u.mx[0] ", "%u.mx{k} ", "%u.lm[0][1] ", "%u.dm{k}[0] "), id);
            below(2) ? any_list_change(t, 'm') : any_dictionary_change(t, 'm');
            break;
        case 28: case 29: case 30:
            switch (below(4)) {
                case 0: say(t, "%u.emb new", id); break;
                case 1: say(t, "%u.emb.n=%u", id, below(10)); break;
                case 2:
                    if (below(2)) say(t, "%u.emb new; ", id);
                    say(t, "%u.emb.a=@%u", id, below(ids));
                    break;
                default: say(t, "%u.emb=null", id); break;
            }
            break;
        default:
            if (below(3)) say(t, "%u.le ", id), any_list_change(t, 'e');
            else say(t, "%u.le/%u.n=%u", id, below(3), below(10));
            break;
    }
}

/* ---- Observers ---------------------------------------------------------------------------------------- */

static const char* const plain[] = {"0.li", "1.si", "0.di", "1.lm", "0.lm[0]", "1.lm[1]", "0.dm", "0.dm{k}", "1.sm",
                                    "0.lm[0][1]", "0.dm{k}[0]", "of 0.li", "of 0.di", "keys 0.di", "of 1.si", "0.le"};
static const char* const of_objects[] = {
    "object 0", "object 1", "object 5", "0.la", "1.la", "0.sa", "0.da", "results TRUEPREDICATE", "results n >= 4", "results n >= 3 SORT(n ASC)",
    "results TRUEPREDICATE DISTINCT(n)", "results TRUEPREDICATE SORT(n DESC) LIMIT(3)", "results n >= 2 LIMIT(3)", "results link.n > 4",
    "results ANY la.n == 3", "results TRUEPREDICATE SORT(link.n ASC, id DESC)", "results bl.@count > 0", "results ANY bl.n > 4", "back 0", "back 1",
    "of 0.la", "of 1.la n >= 3", "of 0.la sort n ASC", "of 0.la distinct n", "of 0.sa n >= 2", "results s == 'x' OR n == 1",
    "results TRUEPREDICATE LIMIT(3)", "results TRUEPREDICATE SORT(n ASC)", "results n >= 2 SORT(n DESC) LIMIT(4)", "results n >= 1 SORT(s ASC, n DESC)",
    "results TRUEPREDICATE SORT(link.n DESC) LIMIT(3)", "results link.link.n > 3 SORT(n ASC)", "results ANY la.link.n == 3", "results la.@sum.n > 9",
    "results SUBQUERY(la, $x, $x.n > 3).@count > 1", "results NONE bl.n > 6", "results link.bl.@count > 1", "results emb.n > 3",
    "results ANY le.n > 4", "results n < 8 SORT(n ASC) LIMIT(3) SORT(id DESC)", "results da.@count > 1 SORT(id DESC)",
    "results TRUEPREDICATE SORT(n ASC) DISTINCT(s) LIMIT(2)", "results sa.n > 4 LIMIT(2)", "results link == NULL SORT(id DESC)", "of 0.la limit 2",
    "of 0.la sort n DESC", "results ANY @links.A.sa.n > 3"};
/* Observers that crash some libraries, or that they do not support. */
static const char* const rough[] = {"of 0.da", "of 0.da n >= 2", "results mx.n > 4", "results ANY dm['k'].n > 4", "results ANY @links.E.a.n > 3",
                                    "results @links.@count > 1"};
static const char* const of_many[] = {
    "results TRUEPREDICATE", "results n >= 40", "results n >= 40 SORT(n ASC)", "results TRUEPREDICATE SORT(n DESC)", "results s == 'x' LIMIT(20)",
    "results TRUEPREDICATE SORT(n DESC) LIMIT(100)", "results TRUEPREDICATE SORT(s ASC, n DESC)", "results link.n > 40", "results TRUEPREDICATE LIMIT(1500)",
    "results TRUEPREDICATE SORT(link.n ASC) LIMIT(1200)", "results ANY bl.n > 30 SORT(n ASC)", "results bl.@count > 1", "results n < 50 DISTINCT(n)"};
static const char* const limited[] = {"of 0.li limit 2", "of 1.lm limit 3", "of 0.dm limit 1", "keys 0.di limit 2", "of 1.si limit 2",
                                      "of 0.lm[0] limit 1", "of 0.li limit 0",
                                      "0.mx", "1.mx", "0.mx[0]", "1.mx{k}"};
#define COUNT(all) (sizeof(all) / sizeof *(all))
enum { WIDE = COUNT(of_many), PLAIN = COUNT(plain), OBJECTS = COUNT(of_objects), ROUGH = COUNT(rough), LIMITED = COUNT(limited) };
enum { GENTLE = PLAIN + OBJECTS, OBSERVERS = GENTLE + ROUGH + LIMITED };
static const char* watched_text(size_t i) {
    if (wide) return of_many[i];
    if (i < PLAIN) return plain[i];
    if (i < GENTLE) return of_objects[i - PLAIN];
    return i < GENTLE + ROUGH ? rough[i - GENTLE] : limited[i - GENTLE - ROUGH];
}

/* The content of an observed object or collection: for each row its identity, and a hash of its data; for dictionaries
   the key, for objects the property. */
typedef struct {
    char name[40];
    uint64_t shown;
} content_row_t;
enum { ROWS = 6000 };
typedef struct {
    size_t count;
    content_row_t rows[ROWS];
} content_t;

typedef struct {
    size_t d[MOST], i[MOST], before[MOST], after[MOST], deletions, insertions, modifications;
} told_t;

/* The element of a list of Mixed, by the list's name, in which a watched collection is. */
enum { ELEMENTS = 100 };
typedef struct {
    char list[20];
    bool is_known, was_moved;
    size_t at, count;
    /* The elements before a statement: links, or {0}. */
    realm_value_t links[ELEMENTS];
} element_t;

/* The other observers in --mixed: the second callback of the same handle, then separate handles without and with the
   key paths. */
enum { OTHER, WITHOUT, WITH, BESIDE };
typedef struct {
    observer_t observer;
    told_t told;
} beside_t;

typedef struct {
    observer_t observer;
    beside_t* beside; /* BESIDE of them, in --mixed */
    bool is_mixed;
    /* In --writers: its content is known; it was called; it reported that it was deleted; all reports of this step. */
    bool is_started, was_called, is_over;
    text_t told_so_far;
    char what[200];
    bool deep, identity; /* rows include their objects over up to three links; a row always is the same object */
    content_t content;
    told_t told;
    element_t element;
} watched_t;

static const realm_t* observed;
static watched_t watched[OBSERVERS];
static long faults, checks, transactions;
static unsigned seed;

/* ---- Contents ----------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t h, const void* bytes, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char*)bytes)[i]) * 0x100000001B3u;
    return h;
}
static uint64_t memo[64][4];
static realm_object_key_t memo_keys[64];
static size_t memos;
static uint64_t object_number(realm_object_t* o, int depth);
static uint64_t collection_number(collection_t* c, int depth);

static uint64_t value_number(const realm_value_t* v, realm_object_t* linked, int depth) {
    uint64_t h = mix(17, &v->type, sizeof v->type);
    if (v->type == RLM_TYPE_INT) h = mix(h, &v->integer, sizeof v->integer);
    if (v->type == RLM_TYPE_STRING) h = mix(h, v->string.data, v->string.size);
    if (v->type == RLM_TYPE_LINK) {
        h = mix(h, &v->link.target, sizeof v->link.target);
        if (linked && depth > 0) {
            uint64_t n = object_number(linked, depth - 1);
            h = mix(h, &n, sizeof n);
        }
    }
    return h;
}
/* The hashes of the elements in order; nested collections with all their content, but without linked objects. */
static size_t element_count(collection_t* c) { return size_of(c); }
static uint64_t element_number(collection_t* c, size_t i, int depth, realm_value_t* key) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    realm_object_t* linked = NULL;
    collection_t inner;
    memset(&inner, 0, sizeof inner);
    if (c->kind == 'l') {
        realm_list_get(c->list, i, &v);
        if (v.type == RLM_TYPE_LINK && depth) linked = realm_list_get_linked_object(c->list, i);
        if (v.type == RLM_TYPE_LIST) inner.list = realm_list_get_list(c->list, i), inner.kind = 'l';
        if (v.type == RLM_TYPE_DICTIONARY) inner.dictionary = realm_list_get_dictionary(c->list, i), inner.kind = 'd';
    } else if (c->kind == 's') {
        realm_set_get(c->set, i, &v);
    } else {
        realm_dictionary_get(c->dictionary, i, key, &v);
        if (v.type == RLM_TYPE_LINK && depth) linked = realm_dictionary_get_linked_object(c->dictionary, *key);
        if (v.type == RLM_TYPE_LIST) inner.list = realm_dictionary_get_list(c->dictionary, *key), inner.kind = 'l';
        if (v.type == RLM_TYPE_DICTIONARY) inner.dictionary = realm_dictionary_get_dictionary(c->dictionary, *key), inner.kind = 'd';
    }
    uint64_t h = value_number(&v, linked, depth);
    if (inner.kind) {
        uint64_t n = collection_number(&inner, 0);
        h = mix(h, &n, sizeof n);
    }
    release_collection(&inner);
    realm_release(linked);
    return h;
}
static uint64_t collection_number(collection_t* c, int depth) {
    uint64_t h = (uint64_t)c->kind;
    realm_value_t key;
    size_t n = element_count(c);
    for (size_t i = 0; i < n; i++) {
        uint64_t e = element_number(c, i, depth, &key);
        h = mix(h, &e, sizeof e);
        if (c->kind == 'd') h = mix(h, key.string.data, key.string.size);
    }
    return h;
}
static uint64_t property_number(realm_object_t* o, const realm_property_info_t* p, int depth) {
    if (p->collection_type != RLM_COLLECTION_TYPE_NONE || p->type == RLM_PROPERTY_TYPE_MIXED) {
        collection_t c = collection_of(o, p);
        if (c.kind) {
            uint64_t h = collection_number(&c, p->type == RLM_PROPERTY_TYPE_MIXED && p->collection_type == RLM_COLLECTION_TYPE_NONE ? 0 : depth);
            release_collection(&c);
            return h;
        }
    }
    realm_value_t v;
    memset(&v, 0, sizeof v);
    realm_get_value(o, p->key, &v);
    realm_object_t* linked = v.type == RLM_TYPE_LINK && depth && p->type == RLM_PROPERTY_TYPE_OBJECT ? realm_get_linked_object(o, p->key) : NULL;
    uint64_t h = value_number(&v, linked, depth);
    realm_release(linked);
    return h;
}
static uint64_t object_number(realm_object_t* o, int depth) {
    static const char* const names[] = {"n", "s", "link", "la", "li", "si", "sa", "di", "da", "mx", "lm", "sm", "dm", "emb", "le", "a"};
    realm_object_key_t key = realm_object_get_key(o);
    realm_class_key_t table = realm_object_get_table(o);
    const realm_t* r = observed;
    size_t at = 64;
    if (table == class_key(r, "A")) {
        for (at = 0; at < memos && memo_keys[at] != key; at++) {}
        if (at == memos && memos < 64) memo_keys[memos] = key, memset(memo[memos++], 0, sizeof memo[0]);
        if (at < 64 && memo[at][depth]) return memo[at][depth];
    }
    uint64_t h = 3;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        realm_property_info_t p;
        bool found = false;
        if (!realm_find_property(r, table, names[i], &found, &p) || !found) continue;
        uint64_t n = property_number(o, &p, depth);
        h = mix(h, &n, sizeof n);
    }
    if (at < 64) memo[at][depth] = h;
    return h;
}
static void copy_content(content_t* to, const content_t* from) {
    to->count = from->count;
    memcpy(to->rows, from->rows, from->count * sizeof *from->rows);
}
static void add_row(content_t* c, const char* name, uint64_t shown) {
    if (c->count == ROWS) abort();
    snprintf(c->rows[c->count].name, sizeof c->rows[0].name, "%s", name);
    c->rows[c->count++].shown = shown;
}
static void read_content(watched_t* w, content_t* c) {
    observer_t* o = &w->observer;
    char name[40];
    size_t n = 0;
    c->count = 0;
    if (o->kind == 'o') {
        static const char* const names[] = {"n", "s", "link", "la", "li", "si", "sa", "di", "da", "mx", "lm", "sm", "dm", "emb", "le"};
        realm_object_t* object = (realm_object_t*)o->handle;
        for (size_t i = 0; realm_object_is_valid(object) && i < sizeof names / sizeof *names; i++) {
            realm_property_info_t p;
            bool found = false;
            if (realm_find_property(o->realm, class_key(o->realm, "A"), names[i], &found, &p) && found)
                add_row(c, names[i], property_number(object, &p, 0));
        }
    } else if (o->kind == 'r') {
        realm_results_t* rows = (realm_results_t*)o->handle;
        if (!realm_results_count(rows, &n)) n = 0;
        for (size_t i = 0; i < n; i++) {
            realm_value_t v;
            memset(&v, 0, sizeof v);
            if (!realm_results_get(rows, i, &v)) break;
            realm_object_t* object = v.type == RLM_TYPE_LINK ? realm_get_object(o->realm, v.link.target_table, v.link.target) : NULL;
            snprintf(name, sizeof name, "%d:%lld", (int)v.type, v.type == RLM_TYPE_LINK ? (long long)v.link.target : 0LL);
            add_row(c, name, value_number(&v, object, w->deep ? 4 : 0));
            realm_release(object);
        }
    } else {
        collection_t all = {o->kind, o->kind == 'l' ? (realm_list_t*)o->handle : NULL, o->kind == 's' ? (realm_set_t*)o->handle : NULL,
                            o->kind == 'd' ? (realm_dictionary_t*)o->handle : NULL};
        n = size_of(&all);
        for (size_t i = 0; i < n; i++) {
            realm_value_t key;
            memset(&key, 0, sizeof key);
            uint64_t shown = element_number(&all, i, w->deep ? 4 : 0, &key);
            snprintf(name, sizeof name, "%.*s", o->kind == 'd' ? (int)key.string.size : 0, o->kind == 'd' ? key.string.data : "");
            add_row(c, name, shown);
        }
    }
    realm_clear_last_error();
}

/* ---- Elements with watched collections ------------------------------------------------------------------ */

/* realm-core loses a collection whose element is moved in a list (live-objects §6.11): so each element is followed through the statements. */
static void find_element(realm_t* r, watched_t* w) {
    element_t* e = &w->element;
    const char* bracket = strstr(w->what, ".lm[");
    memset(e, 0, sizeof *e);
    if (!w->observer.handle || !bracket || !isdigit((unsigned char)*w->what)) return;
    snprintf(e->list, sizeof e->list, "%.*s", (int)(bracket + 3 - w->what), w->what);
    const char *name = e->list, *index = bracket + 4;
    place_t p;
    if (!find_place(r, &name, &p)) return;
    size_t n = size_of(&p.collection);
    release_place(&p);
    if (!n) return;
    e->at = (size_t)number(&index) % n;
    e->is_known = true;
}
static bool is_there(realm_t* r, realm_link_t link) {
    realm_object_t* o = realm_get_object(r, link.target_table, link.target);
    bool there = o && realm_object_is_valid(o);
    realm_release(o);
    return there;
}
static void note_elements(element_t* e, collection_t* list) {
    e->count = size_of(list);
    if (e->count > ELEMENTS) e->is_known = false;
    for (size_t i = 0; e->is_known && i < e->count; i++) {
        realm_value_t* v = &e->links[i];
        if (!realm_list_get(list->list, i, v) || v->type != RLM_TYPE_LINK) memset(v, 0, sizeof *v);
    }
}
/* Called after a statement. `count`: the current size of the list. */
static void follow_element(realm_t* r, element_t* e, const char* statement, size_t count) {
    size_t length = strlen(e->list);
    if (strncmp(statement, e->list, length) || statement[length] != ' ') {
        /* Deleting objects also removed the elements that link to them. */
        size_t gone = 0, before = 0;
        for (size_t i = 0; count < e->count && i < e->count; i++)
            if (e->links[i].type == RLM_TYPE_LINK && !is_there(r, e->links[i].link)) gone++, before += i < e->at;
        e->is_known = count + gone == e->count;
        e->at -= before;
        return;
    }
    const char* at = statement + length;
    char verb[8];
    word(&at, verb, sizeof verb);
    size_t n = e->count, a = (size_t)number(&at);
    if (!strcmp(verb, "ins")) {
        e->at += count > n && a % count <= e->at;
    } else if (!strcmp(verb, "mov") && n) {
        size_t from = a % n, to = (size_t)number(&at) % n;
        e->was_moved |= from == e->at && to != from;
        if (from == e->at) e->at = to;
        else if (from < e->at && to >= e->at) e->at--;
        else if (from > e->at && to <= e->at) e->at++;
    } else if (n) {
        e->is_known = strcmp(verb, "clr") && a % n != e->at;
        e->at -= count < n && a % n < e->at;
    }
}
static void follow_elements(realm_t* r, const char* statement, bool is_done) {
    for (size_t i = 0; i < OBSERVERS; i++) {
        element_t* e = &watched[i].element;
        const char* name = e->list;
        place_t p;
        if (!e->is_known) continue;
        e->is_known = find_place(r, &name, &p);
        if (!e->is_known) continue;
        if (is_done) follow_element(r, e, statement, size_of(&p.collection));
        else note_elements(e, &p.collection);
        release_place(&p);
    }
}
/* Prints the changes reported for a collection that is lost. */
static void print_lost(const watched_t* w) {
    text_t t = {NULL, 0, 0};
    const content_t* c = &w->content;
    static size_t all[ROWS];
    for (size_t i = 0; i < c->count; i++) all[i] = i;
    if (w->observer.kind != 'd') say_indices(&t, "D", all, c->count);
    else for (size_t i = 0; i < c->count; i++) say(&t, "%s%s%s", i ? "," : "del{", c->rows[i].name, i + 1 < c->count ? "" : "}");
    printf("%s%sdel\n", text_of(&t), t.length ? " " : "");
    free(t.text);
}

/* ---- Checks ------------------------------------------------------------------------------------------- */

static void wrong(const watched_t* w, const char* why, size_t i) {
    printf("WRONG %u %s: %s at %zu: %s\n", seed, w->what, why, i, w->observer.calls ? text_of(&w->observer.heard) : "-");
    faults++;
}
static void note(observer_t* o) {
    told_t* t = (told_t*)o->more;
    if (!o->changes) return;
    realm_collection_changes_get_num_changes(o->changes, &t->deletions, &t->insertions, &t->modifications, NULL, NULL, NULL);
    if (t->deletions > MOST || t->insertions > MOST || t->modifications > MOST) return;
    realm_collection_changes_get_changes(o->changes, t->d, MOST, t->i, MOST, t->before, MOST, t->after, MOST, NULL, 0);
}
static bool ascending(const size_t* all, size_t n, size_t end) {
    for (size_t i = 0; i < n; i++)
        if (all[i] >= end || (i && all[i] <= all[i - 1])) return false;
    return true;
}
/* Whether `kind`, as "mod{", names a key. */
static bool names(const watched_t* w, const char* kind, const char* key) {
    const char* at = w->observer.calls ? strstr(text_of(&w->observer.heard), kind) : NULL;
    size_t n = strlen(key);
    for (at = at ? at + strlen(kind) : NULL; at && *at && *at != '}'; at += *at == ',') {
        if (!strncmp(at, key, n) && (at[n] == ',' || at[n] == '}')) return true;
        at += strcspn(at, ",}");
    }
    return false;
}
static const content_row_t* row_named(const content_t* c, const char* name) {
    for (size_t i = 0; i < c->count; i++)
        if (!strcmp(c->rows[i].name, name)) return &c->rows[i];
    return NULL;
}
static void check_names(watched_t* w, const content_t* old, const content_t* new) {
    bool is_object = w->observer.kind == 'o';
    for (size_t i = 0; i < old->count; i++) {
        const content_row_t *a = &old->rows[i], *b = row_named(new, a->name);
        if (is_object && !b) continue;
        if (!b && !names(w, "del{", a->name)) wrong(w, "a deletion is missing", i);
        if (b && a->shown != b->shown && !names(w, is_object ? "{" : "mod{", a->name) && !names(w, "ins{", a->name))
            wrong(w, "a modification is missing", i);
    }
    if (is_object && old->count && !new->count && strcmp(heard(&w->observer), "deleted")) wrong(w, "the deletion is missing", 0);
    for (size_t i = 0; !is_object && i < new->count; i++)
        if (!row_named(old, new->rows[i].name) && !names(w, "ins{", new->rows[i].name)) wrong(w, "an insertion is missing", i);
}
static void check_rows(watched_t* w, const content_t* old, const content_t* new) {
    const told_t* t = &w->told;
    if (old->count + t->insertions != new->count + t->deletions) return wrong(w, "the sizes do not agree", new->count);
    if (!ascending(t->d, t->deletions, old->count) || !ascending(t->i, t->insertions, new->count) ||
        !ascending(t->before, t->modifications, old->count) || !ascending(t->after, t->modifications, new->count))
        return wrong(w, "indices out of order", 0);
    for (size_t a = 0, b = 0, d = 0, i = 0, m = 0; a < old->count || b < new->count; a++, b++) {
        while (d < t->deletions && t->d[d] == a) a++, d++;
        while (i < t->insertions && t->i[i] == b) b++, i++;
        if (a >= old->count || b >= new->count) break;
        bool is_modified = m < t->modifications && t->after[m] == b;
        if (is_modified && t->before[m++] != a) return wrong(w, "modifications before and after are not of one row", a);
        bool is_same = !strcmp(old->rows[a].name, new->rows[b].name);
        if (!is_same && (w->identity || !is_modified)) return wrong(w, "another row", a);
        if (!is_modified && old->rows[a].shown != new->rows[b].shown) return wrong(w, "a modification is missing", b);
    }
}
/* Whether `text` has the name in the braces after `kind`. */
static bool text_names(const char* text, const char* kind, const char* name, size_t n) {
    const char* at = strstr(text, kind);
    for (at = at ? at + strlen(kind) : NULL; at && *at && *at != '}'; at += *at == ',') {
        if (!strncmp(at, name, n) && (at[n] == ',' || at[n] == '}')) return true;
        at += strcspn(at, ",}");
    }
    return false;
}
/* Whether all names after `kind` in `text` are in one of the others. */
static bool names_are_in(const char* text, const char* kind, const char* a, const char* b) {
    const char* at = strstr(text, kind);
    for (at = at ? at + strlen(kind) : NULL; at && *at && *at != '}'; at += *at == ',') {
        size_t n = strcspn(at, ",}");
        if (!text_names(a, kind, at, n) && !(b && text_names(b, kind, at, n))) return false;
        at += n;
    }
    return true;
}
static bool same_indices(const size_t* a, size_t n, const size_t* b, size_t m) { return n == m && !memcmp(a, b, n * sizeof *a); }
static bool is_among(const told_t* t, size_t i) {
    for (size_t k = 0; k < t->modifications; k++)
        if (t->after[k] == i) return true;
    return false;
}
/* Both callbacks of a handle must get the changes that separate handles with and without the key paths get
   (live-objects 6.10). */
static void check_mixed(watched_t* w) {
    observer_t *without = &w->beside[WITHOUT].observer, *with = &w->beside[WITH].observer;
    const char* all = heard(&w->observer);
    if (strcmp(all, heard(&w->beside[OTHER].observer))) wrong(w, "the callbacks of one handle are told different things", 0);
    if (w->observer.kind == 'o' || w->observer.kind == 'd') {
        const char* kind = w->observer.kind == 'o' ? "{" : "mod{";
        if (!names_are_in(heard(without), kind, all, NULL)) wrong(w, "what a callback without key paths sees is missing", 0);
        if (!names_are_in(heard(with), kind, all, NULL)) wrong(w, "what key paths see is missing", 0);
        if (!names_are_in(all, kind, heard(without), heard(with))) wrong(w, "more than both see", 0);
    } else {
        const told_t *t = &w->told, *x = &w->beside[WITHOUT].told, *y = &w->beside[WITH].told;
        bool is_same = true;
        for (const told_t* one = x; one; one = one == x ? y : NULL)
            is_same = is_same && same_indices(t->d, t->deletions, one->d, one->deletions) && same_indices(t->i, t->insertions, one->i, one->insertions);
        /* If some rows move, the choice of rows that keep their places depends on which are modified. */
        if (!is_same && w->observer.kind != 'r') wrong(w, "other elements come and go", 0);
        for (size_t k = 0; is_same && k < t->modifications; k++)
            if (!is_among(x, t->after[k]) && !is_among(y, t->after[k])) wrong(w, "more than both see", t->after[k]);
        for (size_t k = 0; is_same && k < x->modifications; k++)
            if (!is_among(t, x->after[k])) wrong(w, "what a callback without key paths sees is missing", x->after[k]);
        for (size_t k = 0; is_same && k < y->modifications; k++)
            if (!is_among(t, y->after[k])) wrong(w, "what key paths see is missing", y->after[k]);
    }
    for (int i = 0; i < BESIDE; i++) {
        hear_anew(&w->beside[i].observer);
        memset(&w->beside[i].told, 0, sizeof w->beside[i].told);
    }
}
static void check(watched_t* w) {
    static content_t new;
    read_content(w, &new);
    checks++;
    bool has_paths = strstr(w->what, " @ ") != NULL;
    if (w->observer.kind == 'd' || w->observer.kind == 'o') {
        if (!has_paths) check_names(w, &w->content, &new);
    } else {
        check_rows(w, &w->content, &new);
    }
    copy_content(&w->content, &new);
    memset(&w->told, 0, sizeof w->told);
}

/* ---- A seed --------------------------------------------------------------------------------------------- */

static bool quiet, with_paths, own, mixed, writers;
static bool ends_with(const char* text, const char* end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}
static realm_t* elsewhere;
static unsigned answers, calls;
/* In --writers: the change set of a call must lead from the content at the end of the last call to the current one.
   Sometimes the observer then writes. */
static void hear(observer_t* o) {
    note(o);
    if (!writers) return;
    watched_t* w = (watched_t*)((char*)o - offsetof(watched_t, observer));
    calls++;
    w->was_called = true;
    say(&w->told_so_far, "%s%s", w->told_so_far.length ? " / " : "", heard(o));
    w->is_over = w->is_over || (o->kind != 'o' && ends_with(heard(o), "del"));
    long before = faults;
    memos = 0;
    if (w->is_started) check(w);
    if (faults > before) printf("    %s of %s\n", o->writable ? "inside a write" : "a call", text_of(&w->told_so_far));
    hear_anew(o);
    if (!w->is_started || !answers || o->writable || below(4)) return;
    answers--;
    text_t t = {NULL, 0, 0};
    for (unsigned n = 1 + below(3); n; n--) any_statement(&t), say(&t, n > 1 ? "; " : "");
    if (!quiet) printf("    %s answers: %s\n", w->what, text_of(&t));
    transactions++;
    if (!act(below(4) ? o->realm : elsewhere, text_of(&t))) wrong(w, "it cannot write", 0);
    free(t.text);
}
static void forget_all(watched_t* w) {
    /* The other callback of the handle first. */
    for (int i = 0; w->beside && i < BESIDE; i++) forget(&w->beside[i].observer);
    forget(&w->observer);
    free(w->told_so_far.text);
    memset(&w->told_so_far, 0, sizeof w->told_so_far);
    w->is_started = w->was_called = w->is_over = w->is_mixed = false;
}
/* The other callbacks of --mixed. */
static void watch_mixed(realm_t* r, watched_t* w, const char* what, const char* paths, bool is_first_without) {
    char text[200];
    if (!w->beside) w->beside = (beside_t*)calloc(BESIDE, sizeof *w->beside);
    if (!w->beside) abort();
    observer_t* other = &w->beside[OTHER].observer;
    memset(other, 0, sizeof *other);
    other->realm = r;
    bool good = add_callback(other, w->observer.handle, w->observer.kind, is_first_without ? paths : NULL);
    other->handle = NULL;
    snprintf(text, sizeof text, "%s @ %s", what, paths);
    good = good && observe(r, &w->beside[WITHOUT].observer, what) && observe(r, &w->beside[WITH].observer, text);
    for (int i = 0; i < BESIDE; i++) w->beside[i].observer.more = &w->beside[i].told, w->beside[i].observer.then = note;
    w->is_mixed = good;
}
static void watch(realm_t* r, size_t i) {
    watched_t* w = &watched[i];
    const char* what = watched_text(i);
    const char* paths = ONE_OF(
        "n", "s", "link.n", "la.n", "bl", "bl.n", "*", "*.*", "-", "da.n", "emb.n", "link.link.n", "n,link.s", "sa.link.n", "le.n");
    bool of_values = !wide && (i < PLAIN || i >= GENTLE + ROUGH), bare = !with_paths || of_values || below(4) == 0;
    forget_all(w);
    bool mixes = mixed && !of_values, is_first_without = mixes && below(2);
    snprintf(w->what, sizeof w->what, bare ? "%s" : "%s @ %s", what, paths);
    w->identity = strstr(what, "results") || strstr(what, "back") || strstr(what, "of 0.la") || strstr(what, "of 1.la") || strstr(what, " n >");
    w->deep = bare && !of_values && !wide;
    char text[200];
    snprintf(text, sizeof text, mixes && !is_first_without ? "%s @ %s" : "%s", w->what, paths);
    bool is_there = observe(r, &w->observer, text);
    w->observer.realm = r;
    w->observer.more = &w->told, w->observer.then = hear;
    if (mixes && is_there) watch_mixed(r, w, what, paths, is_first_without);
    find_element(r, w);
    realm_clear_last_error();
}
static void start_all(void) {
    memos = 0;
    for (size_t i = 0; i < OBSERVERS; i++) {
        watched_t* w = &watched[i];
        if (!w->observer.handle || !(writers ? w->was_called && !w->is_started : w->observer.calls)) continue;
        read_content(w, &w->content);
        memset(&w->told, 0, sizeof w->told);
        hear_anew(&w->observer);
        empty(&w->told_so_far);
        w->is_started = true;
        for (int k = 0; w->is_mixed && k < BESIDE; k++) {
            memset(&w->beside[k].told, 0, sizeof w->beside[k].told);
            hear_anew(&w->beside[k].observer);
        }
    }
}
static bool refreshed(realm_t* r) {
    bool did;
    if (realm_refresh(r, &did)) return true;
    realm_error_t e;
    memset(&e, 0, sizeof e);
    realm_get_last_error(&e);
    printf("refresh %u fails with %d\n", seed, (int)e.error);
    return false;
}
static void print_rows(const content_t* c) {
    for (size_t i = 0; i < c->count; i++) printf(" %s", c->rows[i].name);
}
/* Refreshes until all changes are reported. */
static bool refreshed_fully(realm_t* r) {
    unsigned before;
    do {
        before = calls;
        if (!refreshed(r)) return false;
    } while (writers && calls != before);
    return true;
}
static void try_seed(const char* folder, long count) {
    char path[300];
    text_t t = {NULL, 0, 0};
    snprintf(path, sizeof path, "%s/%u.realm", folder, seed);
    state = seed * 7919u + 1;
    realm_t *r = open_path(path, false), *other = r ? open_path(path, false) : NULL;
    if (!other) {
        printf("WRONG %u cannot open\n", seed);
        faults++;
        return;
    }
    realm_t* writer = own ? r : other;
    around = quiet || writers ? NULL : follow_elements;
    observed = r, elsewhere = other, answers = 0;
    say(&t, "objects 0 %u", ids - 2);
    if (!wide && !gentle) say(&t, "; 0.mx=[]; 0.mx ins 0 []; 1.mx={}; 1.mx key k []; 0.lm ins 0 []; 0.lm[0] ins 0 1; 0.lm[0] ins 1 {}");
    if (!wide && !gentle) say(&t, "; 0.dm key k []; 0.dm{k} ins 0 []; 0.emb new; 1.le ins 0 new; 1.le ins 0 new");
    for (int i = 0; i < 25; i++) say(&t, "; "), any_statement(&t);
    act(other, text_of(&t));
    bool good = refreshed(r);
    size_t observers = wide ? WIDE : gentle ? GENTLE : OBSERVERS;
    for (size_t i = 0; i < observers; i++) watch(r, i);
    good = good && refreshed(r);
    start_all();
    for (long n = 0; good && n < count; n++) {
        unsigned commits = own ? 1 : 1 + below(3) / 2;
        empty(&t);
        for (unsigned c = 0; c < commits; c++)
            for (unsigned s = 1 + below(5); s; s--) any_statement(&t), say(&t, s > 1 ? "; " : c + 1 < commits ? " | " : "");
        if (!quiet) printf("# %u %ld: %s\n", seed, n, text_of(&t)), fflush(stdout);
        transactions += commits;
        answers = writers ? below(5) : 0;
        good = act(writer, text_of(&t));
        /* The next transaction may begin before this one was reported. */
        if (writers && good && below(4) == 0) continue;
        good = good && refreshed_fully(r);
        memos = 0;
        for (size_t i = 0; good && i < observers; i++) {
            watched_t* w = &watched[i];
            if (!w->observer.handle) continue;
            if (writers && !w->is_started) continue;
            if (!quiet && writers && w->told_so_far.length) printf("%u %ld %s: %s\n", seed, n, w->what, text_of(&w->told_so_far));
            if (!quiet && w->observer.calls) printf("%u %ld %s: %s\n", seed, n, w->what, heard(&w->observer));
            if (!quiet && w->element.was_moved) printf("lost %u %ld %s: ", seed, n, w->what), print_lost(w);
            w->element.was_moved = false;
            bool moves = !quiet && w->identity && w->told.deletions && w->told.insertions;
            if (moves) printf("rows %u %ld %s:", seed, n, w->what), print_rows(&w->content), printf(" >");
            long before = faults;
            bool is_over = w->is_over || (w->observer.kind != 'o' && ends_with(heard(&w->observer), "del"));
            if (w->is_mixed) check_mixed(w);
            if (!writers || !is_over) check(w);
            if (moves) print_rows(&w->content), printf("\n");
            if (faults > before) printf("    after %ld: %s\n", n, text_of(&t));
            hear_anew(&w->observer);
            empty(&w->told_so_far);
            /* A deleted collection reports nothing more, even if another takes its place. */
            if (is_over) forget_all(w);
        }
        /* Sometimes one observer is replaced by a new one. */
        if (below(3) == 0) {
            size_t i = below(OBSERVERS);
            if (i < observers) {
                watch(r, i);
                if (!quiet) printf("anew %u %ld %s: \n", seed, n, watched[i].what);
            }
            answers = 0;
            good = good && refreshed_fully(r);
            start_all();
        }
    }
    for (size_t i = 0; i < OBSERVERS; i++) forget_all(&watched[i]);
    realm_close(r), realm_close(other);
    realm_release(r), realm_release(other);
    free(t.text);
    char command[400];
    snprintf(command, sizeof command, "rm -rf '%s'*", path);
    if (system(command)) printf("cannot remove %s\n", path);
}

int main(int count, char** arguments) {
    long each = 40;
    if (count < 4) {
        fprintf(stderr, "random FOLDER FIRST LAST [--transactions N] [--own] [--paths | --mixed] [--writers] [--wide] [--gentle] [--quiet]\n");
        return 2;
    }
    for (int i = 4; i < count; i++) {
        if (!strcmp(arguments[i], "--own")) own = true;
        else if (!strcmp(arguments[i], "--paths")) with_paths = true;
        else if (!strcmp(arguments[i], "--mixed")) mixed = true;
        else if (!strcmp(arguments[i], "--writers")) writers = true;
        else if (!strcmp(arguments[i], "--wide")) wide = true, ids = MANY;
        else if (!strcmp(arguments[i], "--gentle")) gentle = skips_idle_clears = true;
        else if (!strcmp(arguments[i], "--quiet")) quiet = true;
        else if (!strcmp(arguments[i], "--transactions") && i + 1 < count) each = atol(arguments[++i]);
        else return 2;
    }
    for (seed = (unsigned)atol(arguments[2]); seed <= (unsigned)atol(arguments[3]); seed++) try_seed(arguments[1], each);
    printf("%ld transactions, %ld checks, %ld wrong\n", transactions, checks, faults);
    return faults != 0;
}
