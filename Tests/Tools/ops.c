/* Drives any shared library that exports Realm's C API (local part) through a seeded random history of
 * transactions over a schema that uses every property type and collection, so that two engines with the same seed must
 * make the same data (compare with dump.c), and each must open the other's file.
 * Usage: ops LIB.so FILE.realm SEED NTXN OPS_PER_TXN [--key keyfile64] [--reopen K] [--big]
 *   --realm-cipher: new encrypted files in Realm's own form, on a library that offers the choice (crealm_config_set_page_cipher)
 *   --scalar: only single values and links to top-level objects (no collections, Mixed or embedded objects)
 *   --nested: also nest lists and dictionaries inside Mixed values
 *   --reopen K: close and reopen the file every K transactions;  --big: many objects and long strings/blobs
 * Build: cc -O2 -Iinclude Tests/Tools/ops.c -ldl -o ops */
#define _GNU_SOURCE
#include "library.h"

static uint64_t rs;
static uint64_t rnd(void) {
    rs ^= rs << 13;
    rs ^= rs >> 7;
    rs ^= rs << 17;
    return rs;
}
static uint64_t below(uint64_t n) { return n ? rnd() % n : 0; }
static int big, scalar, realm_cipher, nested; /* nested: collections inside Mixed; realm-core 14.14 crashes on some of those histories */
#define P(n, t, c, lt, fl) {n, "", t, c, lt, "", RLM_INVALID_PROPERTY_KEY, fl}
#define NO RLM_COLLECTION_TYPE_NONE
#define LI RLM_COLLECTION_TYPE_LIST
#define SE RLM_COLLECTION_TYPE_SET
#define DI RLM_COLLECTION_TYPE_DICTIONARY
#define NUL RLM_PROPERTY_NULLABLE
#define IDX RLM_PROPERTY_INDEXED
static const realm_property_info_t all_p[] = {P("id", RLM_PROPERTY_TYPE_INT, NO, "", RLM_PROPERTY_PRIMARY_KEY),
    P("i", RLM_PROPERTY_TYPE_INT, NO, "", 0), P("i_n", RLM_PROPERTY_TYPE_INT, NO, "", NUL), P("i_x", RLM_PROPERTY_TYPE_INT, NO, "", IDX),
    P("b", RLM_PROPERTY_TYPE_BOOL, NO, "", 0), P("b_n", RLM_PROPERTY_TYPE_BOOL, NO, "", NUL), P("s", RLM_PROPERTY_TYPE_STRING, NO, "", 0),
    P("s_n", RLM_PROPERTY_TYPE_STRING, NO, "", NUL), P("s_x", RLM_PROPERTY_TYPE_STRING, NO, "", IDX | NUL),
    P("d", RLM_PROPERTY_TYPE_BINARY, NO, "", 0), P("d_n", RLM_PROPERTY_TYPE_BINARY, NO, "", NUL), P("t", RLM_PROPERTY_TYPE_TIMESTAMP, NO, "", 0),
    P("t_n", RLM_PROPERTY_TYPE_TIMESTAMP, NO, "", NUL | IDX), P("f", RLM_PROPERTY_TYPE_FLOAT, NO, "", 0),
    P("f_n", RLM_PROPERTY_TYPE_FLOAT, NO, "", NUL), P("g", RLM_PROPERTY_TYPE_DOUBLE, NO, "", 0), P("g_n", RLM_PROPERTY_TYPE_DOUBLE, NO, "", NUL),
    P("dec", RLM_PROPERTY_TYPE_DECIMAL128, NO, "", 0), P("dec_n", RLM_PROPERTY_TYPE_DECIMAL128, NO, "", NUL),
    P("o", RLM_PROPERTY_TYPE_OBJECT_ID, NO, "", 0), P("o_n", RLM_PROPERTY_TYPE_OBJECT_ID, NO, "", NUL | IDX),
    P("u", RLM_PROPERTY_TYPE_UUID, NO, "", 0), P("u_n", RLM_PROPERTY_TYPE_UUID, NO, "", NUL | IDX), P("m", RLM_PROPERTY_TYPE_MIXED, NO, "", NUL),
    P("link", RLM_PROPERTY_TYPE_OBJECT, NO, "Str", NUL), P("self", RLM_PROPERTY_TYPE_OBJECT, NO, "All", NUL),
    P("emb", RLM_PROPERTY_TYPE_OBJECT, NO, "Emb", NUL), P("l_i", RLM_PROPERTY_TYPE_INT, LI, "", 0), P("l_in", RLM_PROPERTY_TYPE_INT, LI, "", NUL),
    P("l_s", RLM_PROPERTY_TYPE_STRING, LI, "", NUL), P("l_t", RLM_PROPERTY_TYPE_TIMESTAMP, LI, "", 0), P("l_g", RLM_PROPERTY_TYPE_DOUBLE, LI, "", 0),
    P("l_b", RLM_PROPERTY_TYPE_BOOL, LI, "", 0), P("l_d", RLM_PROPERTY_TYPE_BINARY, LI, "", 0), P("l_dec", RLM_PROPERTY_TYPE_DECIMAL128, LI, "", 0),
    P("l_u", RLM_PROPERTY_TYPE_UUID, LI, "", 0), P("l_o", RLM_PROPERTY_TYPE_OBJECT_ID, LI, "", 0), P("l_m", RLM_PROPERTY_TYPE_MIXED, LI, "", NUL),
    P("l_link", RLM_PROPERTY_TYPE_OBJECT, LI, "Str", 0), P("l_emb", RLM_PROPERTY_TYPE_OBJECT, LI, "Emb", 0),
    P("e_i", RLM_PROPERTY_TYPE_INT, SE, "", 0), P("e_s", RLM_PROPERTY_TYPE_STRING, SE, "", 0), P("e_m", RLM_PROPERTY_TYPE_MIXED, SE, "", NUL),
    P("e_u", RLM_PROPERTY_TYPE_UUID, SE, "", 0), P("h_i", RLM_PROPERTY_TYPE_INT, DI, "", 0), P("h_s", RLM_PROPERTY_TYPE_STRING, DI, "", NUL),
    P("h_m", RLM_PROPERTY_TYPE_MIXED, DI, "", NUL), P("h_link", RLM_PROPERTY_TYPE_OBJECT, DI, "Str", NUL)};
static const realm_property_info_t str_p[] = {P("key", RLM_PROPERTY_TYPE_STRING, NO, "", RLM_PROPERTY_PRIMARY_KEY),
    P("n", RLM_PROPERTY_TYPE_INT, NO, "", 0), P("text", RLM_PROPERTY_TYPE_STRING, NO, "", RLM_PROPERTY_FULLTEXT_INDEXED),
    {"linkers", "", RLM_PROPERTY_TYPE_LINKING_OBJECTS, LI, "All", "link", RLM_INVALID_PROPERTY_KEY, 0}};
static const realm_property_info_t emb_p[] = {P("x", RLM_PROPERTY_TYPE_INT, NO, "", 0), P("name", RLM_PROPERTY_TYPE_STRING, NO, "", NUL),
    P("child", RLM_PROPERTY_TYPE_OBJECT, NO, "Emb2", NUL)};
static const realm_property_info_t emb2_p[] = {P("x", RLM_PROPERTY_TYPE_INT, NO, "", 0)};
static const realm_property_info_t nop_p[] = {
    P("v", RLM_PROPERTY_TYPE_INT, NO, "", IDX), P("w", RLM_PROPERTY_TYPE_STRING, NO, "", 0), P("next", RLM_PROPERTY_TYPE_OBJECT, NO, "NoPk", NUL)};
static const realm_property_info_t oid_p[] = {
    P("_id", RLM_PROPERTY_TYPE_OBJECT_ID, NO, "", RLM_PROPERTY_PRIMARY_KEY), P("v", RLM_PROPERTY_TYPE_INT, NO, "", 0)};
static const realm_property_info_t uid_p[] = {
    P("_id", RLM_PROPERTY_TYPE_UUID, NO, "", RLM_PROPERTY_PRIMARY_KEY), P("v", RLM_PROPERTY_TYPE_INT, NO, "", 0)};
enum { ALL, STR, EMB, NOP, OID, UID, EMB2, NC };
static const char* cname[] = {"All", "Str", "Emb", "NoPk", "Oid", "Uid", "Emb2"};
#define NP(x) (sizeof(x) / sizeof *(x))
static realm_class_key_t ck[NC];
static realm_property_key_t ak[NP(all_p)];
static const char* path;
static uint8_t key[64];
static int haskey;
static realm_t* R;
static void open_it(void) {
    realm_class_info_t ci[] = {{"All", "id", NP(all_p), 0, RLM_INVALID_CLASS_KEY, 0}, {"Str", "key", 3, 1, RLM_INVALID_CLASS_KEY, 0},
        {"Emb", "", NP(emb_p), 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_EMBEDDED}, {"NoPk", "", NP(nop_p), 0, RLM_INVALID_CLASS_KEY, 0},
        {"Oid", "_id", 2, 0, RLM_INVALID_CLASS_KEY, 0}, {"Uid", "_id", 2, 0, RLM_INVALID_CLASS_KEY, 0},
        {"Emb2", "", 1, 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_EMBEDDED}};
    const realm_property_info_t* ps[] = {all_p, str_p, emb_p, nop_p, oid_p, uid_p, emb2_p};
    realm_schema_t* s = F(realm_schema_new)(ci, NC, ps);
    if (!s) die("schema");
    realm_config_t* g = config_for(path, RLM_SCHEMA_MODE_AUTOMATIC);
    F(realm_config_set_schema)(g, s);
    F(realm_config_set_schema_version)(g, 3);
    if (haskey) F(realm_config_set_encryption_key)(g, key, 64);
    {
        void (*cipher)(realm_config_t*, int) = (void (*)(realm_config_t*, int))dlsym(library, "crealm_config_set_page_cipher");
        if (haskey && realm_cipher && cipher) cipher(g, 2);
        const char* least = getenv("OPS_SHRINK");
        void (*shrinking)(realm_config_t*, size_t, int) =
            (void (*)(realm_config_t*, size_t, int))dlsym(library, "crealm_config_set_shrinking");
        if (least && shrinking) shrinking(g, (size_t)atol(least), 25);
    }
    R = F(realm_open)(g);
    if (!R) die("open");
    F(realm_release)(g);
    F(realm_release)(s);
    bool f;
    for (int i = 0; i < NC; i++) {
        realm_class_info_t c;
        if (!F(realm_find_class)(R, cname[i], &f, &c) || !f) die("find class");
        ck[i] = c.key;
    }
    for (size_t i = 0; i < NP(all_p); i++) {
        realm_property_info_t p;
        if (!F(realm_find_property)(R, ck[ALL], all_p[i].name, &f, &p) || !f) die("find prop");
        ak[i] = p.key;
    }
}
static realm_property_key_t pk_of(int cls, const char* n) {
    bool f;
    realm_property_info_t p;
    if (!F(realm_find_property)(R, ck[cls], n, &f, &p) || !f) die(n);
    return p.key;
}
static char sb[300000];
static realm_value_t V(realm_value_type_e t) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = t;
    return v;
}
static realm_value_t rstr(void) {
    static const char* w[] = {
        "alpha", "Beta", "gamma delta", "Ærøskøbing", "straße", "日本語", "", "z", "The quick brown fox", "emoji \xF0\x9F\x98\x80"};
    realm_value_t v = V(RLM_TYPE_STRING);
    uint64_t k = below(100);
    size_t n = 0;
    if (k < 50) {
        const char* x = w[below(10)];
        n = strlen(x);
        memcpy(sb, x, n);
    } else if (k < 85) {
        n = below(20);
        for (size_t i = 0; i < n; i++) sb[i] = 'a' + below(26);
    } else if (k < 97 || !big) {
        n = below(200);
        for (size_t i = 0; i < n; i++) sb[i] = 'A' + below(26);
    } else {
        n = below(below(60) ? 3000 : 200000);
        for (size_t i = 0; i < n; i++) sb[i] = '0' + (char)(i % 10);
    }
    v.string.data = sb;
    v.string.size = n;
    return v;
}
static int64_t rint64(void) {
    switch (below(8)) {
    case 0: return 0;
    case 1: return 1;
    case 2: return (int64_t)below(16);
    case 3: return (int64_t)below(256) - 128;
    case 4: return (int64_t)below(65536) - 32768;
    case 5: return (int64_t)below(1ull << 32) - (1ll << 31);
    case 6: return (int64_t)rnd();
    default: return (int64_t)below(4);
    }
}
static realm_value_t rval(realm_property_type_e t, int nullable) {
    if (nullable && below(5) == 0) return V(RLM_TYPE_NULL);
    realm_value_t v;
    switch (t) {
    case RLM_PROPERTY_TYPE_INT:
        v = V(RLM_TYPE_INT);
        v.integer = rint64();
        return v;
    case RLM_PROPERTY_TYPE_BOOL:
        v = V(RLM_TYPE_BOOL);
        v.boolean = below(2);
        return v;
    case RLM_PROPERTY_TYPE_STRING: return rstr();
    case RLM_PROPERTY_TYPE_BINARY: {
        realm_value_t s = rstr();
        v = V(RLM_TYPE_BINARY);
        v.binary.data = (uint8_t*)s.string.data;
        v.binary.size = s.string.size;
        return v;
    }
    case RLM_PROPERTY_TYPE_TIMESTAMP:
        v = V(RLM_TYPE_TIMESTAMP);
        {
            int64_t s = (int64_t)below(4000000000ull) - 2000000000ll;
            v.timestamp.seconds = s;
            v.timestamp.nanoseconds = (int32_t)below(1000000000) * (s < 0 ? -1 : 1);
        }
        return v;
    case RLM_PROPERTY_TYPE_FLOAT:
        v = V(RLM_TYPE_FLOAT);
        v.fnum = (float)((double)(int64_t)below(2000000) - 1e6) / 8;
        return v;
    case RLM_PROPERTY_TYPE_DOUBLE:
        v = V(RLM_TYPE_DOUBLE);
        v.dnum = ((double)(int64_t)below(2000000000) - 1e9) / 7;
        return v;
    case RLM_PROPERTY_TYPE_DECIMAL128:
        v = V(RLM_TYPE_DECIMAL128);
        v.decimal128.w[0] = below(1000000);
        v.decimal128.w[1] = 0x3040000000000000ull - ((uint64_t)below(6) << 49) + (below(2) ? 0x8000000000000000ull : 0);
        return v;
    case RLM_PROPERTY_TYPE_OBJECT_ID:
        v = V(RLM_TYPE_OBJECT_ID);
        for (int i = 0; i < 12; i++) v.object_id.bytes[i] = (uint8_t)rnd();
        return v;
    case RLM_PROPERTY_TYPE_UUID:
        v = V(RLM_TYPE_UUID);
        for (int i = 0; i < 16; i++) v.uuid.bytes[i] = (uint8_t)rnd();
        return v;
    case RLM_PROPERTY_TYPE_MIXED: {
        static const realm_property_type_e ts[] = {RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_TYPE_BOOL, RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_TYPE_BINARY,
            RLM_PROPERTY_TYPE_TIMESTAMP, RLM_PROPERTY_TYPE_FLOAT, RLM_PROPERTY_TYPE_DOUBLE, RLM_PROPERTY_TYPE_DECIMAL128, RLM_PROPERTY_TYPE_OBJECT_ID,
            RLM_PROPERTY_TYPE_UUID};
        return rval(ts[below(10)], 0);
    }
    default: return V(RLM_TYPE_NULL);
    }
}
/* The object number k (modulo the count) of a class in key order, or NULL. */
static realm_object_t* pick(int cls) {
    realm_results_t* r = F(realm_object_find_all)(R, ck[cls]);
    size_t n;
    F(realm_results_count)(r, &n);
    realm_object_t* o = n ? F(realm_results_get_object)(r, below(n)) : NULL;
    F(realm_release)(r);
    return o;
}
static realm_value_t link_to(int cls) {
    realm_object_t* o = pick(cls);
    if (!o) return V(RLM_TYPE_NULL);
    realm_value_t v = V(RLM_TYPE_LINK);
    v.link = F(realm_object_as_link)(o);
    F(realm_release)(o);
    return v;
}
static void ok(bool b, const char* w) {
    if (!b) die(w);
}
static void fill_nested_list(realm_list_t* l, int depth);
static void fill_nested_dict(realm_dictionary_t* d, int depth) {
    size_t n = below(4);
    for (size_t i = 0; i < n; i++) {
        char kb[8];
        snprintf(kb, 8, "k%d", (int)below(9));
        realm_value_t k = V(RLM_TYPE_STRING);
        k.string.data = kb;
        k.string.size = strlen(kb);
        uint64_t z = below(6);
        if (z == 0 && depth < 3) {
            realm_list_t* x = F(realm_dictionary_insert_list)(d, k);
            if (!x) die("nested");
            fill_nested_list(x, depth + 1);
            F(realm_release)(x);
        } else if (z == 1 && depth < 3) {
            realm_dictionary_t* x = F(realm_dictionary_insert_dictionary)(d, k);
            if (!x) die("nested");
            fill_nested_dict(x, depth + 1);
            F(realm_release)(x);
        } else ok(F(realm_dictionary_insert)(d, k, rval(RLM_PROPERTY_TYPE_MIXED, 1), NULL, NULL), "dict insert");
    }
}
static void fill_nested_list(realm_list_t* l, int depth) {
    size_t n = below(4);
    for (size_t i = 0; i < n; i++) {
        uint64_t z = below(6);
        if (z == 0 && depth < 3) {
            realm_list_t* x = F(realm_list_insert_list)(l, i);
            if (!x) die("nested");
            fill_nested_list(x, depth + 1);
            F(realm_release)(x);
        } else if (z == 1 && depth < 3) {
            realm_dictionary_t* x = F(realm_list_insert_dictionary)(l, i);
            if (!x) die("nested");
            fill_nested_dict(x, depth + 1);
            F(realm_release)(x);
        } else ok(F(realm_list_insert)(l, i, rval(RLM_PROPERTY_TYPE_MIXED, 1)), "list insert");
    }
}
static long long opn;
static void op(void) {
    opn++;
    uint64_t k = below(100);
    bool f;
    if (k < 25 || k >= 97) { /* create or update */
        int which = (int)below(10);
        if (which < 5) {
            realm_value_t v = V(RLM_TYPE_INT);
            v.integer = below(10) ? (int64_t)below(big ? 200000 : 400) : rint64();
            realm_object_t* o = F(realm_object_get_or_create_with_primary_key)(R, ck[ALL], v, &f);
            if (!o) die("create All");
            F(realm_release)(o);
        } else if (which < 7) {
            char b[40];
            snprintf(b, 40, "key-%d", (int)below(big ? 50000 : 200));
            realm_value_t v = V(RLM_TYPE_STRING);
            v.string.data = b;
            v.string.size = strlen(b);
            realm_object_t* o = F(realm_object_get_or_create_with_primary_key)(R, ck[STR], v, &f);
            if (!o) die("create Str");
            v = rval(RLM_PROPERTY_TYPE_INT, 0);
            ok(F(realm_set_value)(o, pk_of(STR, "n"), v, false), "set n");
            v = rstr();
            ok(F(realm_set_value)(o, pk_of(STR, "text"), v, false), "set text");
            F(realm_release)(o);
        } else if (which < 8) {
            realm_object_t* o = F(realm_object_create)(R, ck[NOP]);
            if (!o) die("create NoPk");
            ok(F(realm_set_value)(o, pk_of(NOP, "v"), rval(RLM_PROPERTY_TYPE_INT, 0), false), "v");
            ok(F(realm_set_value)(o, pk_of(NOP, "w"), rstr(), false), "w");
            ok(F(realm_set_value)(o, pk_of(NOP, "next"), link_to(NOP), false), "next");
            F(realm_release)(o);
        } else {
            int c = which == 8 ? OID : UID;
            realm_object_t* o = F(realm_object_get_or_create_with_primary_key)(
                R, ck[c], rval(c == OID ? RLM_PROPERTY_TYPE_OBJECT_ID : RLM_PROPERTY_TYPE_UUID, 0), &f);
            if (!o) die("create id");
            ok(F(realm_set_value)(o, pk_of(c, "v"), rval(RLM_PROPERTY_TYPE_INT, 0), false), "v");
            F(realm_release)(o);
        }
        return;
    }
    if (k < 31) {
        static const int cs[] = {ALL, STR, NOP, OID, UID};
        realm_object_t* o = pick(cs[below(5)]);
        if (o) {
            ok(F(realm_object_delete)(o), "delete");
            F(realm_release)(o);
        }
        return;
    }
    realm_object_t* o = pick(ALL);
    if (!o) return;
    int tries = 1 + (int)below(6);
    while (tries--) {
        size_t i = 1 + below(NP(all_p) - 1);
        const realm_property_info_t* p = &all_p[i];
        int nn = p->flags & NUL;
        int islink = p->type == RLM_PROPERTY_TYPE_OBJECT;
        int emb = islink && !strcmp(p->link_target, "Emb");
        int tcls = islink && !strcmp(p->link_target, "All") ? ALL : STR;
        if (scalar && (p->collection_type != NO || emb || p->type == RLM_PROPERTY_TYPE_MIXED)) continue;
        if (p->collection_type == NO) {
            if (emb) {
                if (below(4) == 0) ok(F(realm_set_value)(o, ak[i], V(RLM_TYPE_NULL), false), "emb null");
                else {
                    realm_object_t* e = F(realm_set_embedded)(o, ak[i]);
                    if (!e) die("embedded");
                    ok(F(realm_set_value)(e, pk_of(EMB, "x"), rval(RLM_PROPERTY_TYPE_INT, 0), false), "x");
                    ok(F(realm_set_value)(e, pk_of(EMB, "name"), rval(RLM_PROPERTY_TYPE_STRING, 1), false), "name");
                    if (below(2)) {
                        realm_object_t* ch = F(realm_set_embedded)(e, pk_of(EMB, "child"));
                        if (!ch) die("child");
                        ok(F(realm_set_value)(ch, pk_of(EMB2, "x"), rval(RLM_PROPERTY_TYPE_INT, 0), false), "x");
                        F(realm_release)(ch);
                    }
                    F(realm_release)(e);
                }
            } else if (p->type == RLM_PROPERTY_TYPE_MIXED) {
                uint64_t z = below(8);
                if (!nested && z < 2) z = 3;
                if (z == 0) {
                    realm_list_t* l = F(realm_set_list)(o, ak[i]);
                    if (!l) die("set list");
                    ok(F(realm_list_clear)(l), "clear");
                    fill_nested_list(l, 0);
                    F(realm_release)(l);
                } else if (z == 1) {
                    realm_dictionary_t* d = F(realm_set_dictionary)(o, ak[i]);
                    if (!d) die("set dict");
                    ok(F(realm_dictionary_clear)(d), "clear");
                    fill_nested_dict(d, 0);
                    F(realm_release)(d);
                } else if (z == 2) ok(F(realm_set_value)(o, ak[i], link_to(STR), false), "mixed link");
                else ok(F(realm_set_value)(o, ak[i], rval(p->type, 1), false), "mixed");
            } else ok(F(realm_set_value)(o, ak[i], islink ? link_to(tcls) : rval(p->type, nn), false), p->name);
        } else if (p->collection_type == LI) {
            realm_list_t* l = F(realm_get_list)(o, ak[i]);
            if (!l) die("list");
            size_t n;
            F(realm_list_size)(l, &n);
            uint64_t z = below(10);
            if (emb) {
                if (z < 6 || !n) {
                    realm_object_t* e = F(realm_list_insert_embedded)(l, below(n + 1));
                    if (!e) die("ins emb");
                    ok(F(realm_set_value)(e, pk_of(EMB, "x"), rval(RLM_PROPERTY_TYPE_INT, 0), false), "x");
                    F(realm_release)(e);
                } else if (z < 8) ok(F(realm_list_erase)(l, below(n)), "erase emb");
                else ok(F(realm_list_move)(l, below(n), below(n)), "move emb");
            } else if (z < 6 || !n) {
                size_t many = big && below(20) == 0 ? 300 + below(1500) : 1 + below(4);
                for (size_t q = 0; q < many; q++) {
                    size_t sz;
                    F(realm_list_size)(l, &sz);
                    realm_value_t v = islink ? link_to(STR) : rval(p->type, nn);
                    if (islink && v.type == RLM_TYPE_NULL) break;
                    if (nested && p->type == RLM_PROPERTY_TYPE_MIXED && below(6) == 0) {
                        realm_list_t* x = F(realm_list_insert_list)(l, sz);
                        if (!x) die("nest");
                        fill_nested_list(x, 1);
                        F(realm_release)(x);
                    } else ok(F(realm_list_insert)(l, below(2) ? sz : below(sz + 1), v), p->name);
                }
            } else if (z < 7) {
                realm_value_t v = islink ? link_to(STR) : rval(p->type, nn);
                if (!(islink && v.type == RLM_TYPE_NULL)) ok(F(realm_list_set)(l, below(n), v), "list set");
            } else if (z < 8) ok(F(realm_list_move)(l, below(n), below(n)), "move");
            else if (z < 9 || below(4)) ok(F(realm_list_erase)(l, below(n)), "erase");
            else ok(F(realm_list_clear)(l), "list clear");
            F(realm_release)(l);
        } else if (p->collection_type == SE) {
            realm_set_t* s = F(realm_get_set)(o, ak[i]);
            if (!s) die("set");
            realm_value_t v = rval(p->type, nn);
            if (p->type == RLM_PROPERTY_TYPE_INT) v.integer = (int64_t)below(30);
            size_t ix;
            bool in;
            if (below(4)) ok(F(realm_set_insert)(s, v, &ix, &in), "set insert");
            else ok(F(realm_set_erase)(s, v, &in), "set erase");
            F(realm_release)(s);
        } else {
            realm_dictionary_t* d = F(realm_get_dictionary)(o, ak[i]);
            if (!d) die("dict");
            char kb[16];
            snprintf(kb, 16, "k%d", (int)below(big ? 500 : 12));
            realm_value_t kv = V(RLM_TYPE_STRING);
            kv.string.data = kb;
            kv.string.size = strlen(kb);
            if (below(4)) {
                realm_value_t v = islink ? link_to(STR) : rval(p->type, nn);
                ok(F(realm_dictionary_insert)(d, kv, v, NULL, NULL), "dict insert");
            } else {
                bool e;
                ok(F(realm_dictionary_erase)(d, kv, &e), "dict erase");
            }
            F(realm_release)(d);
        }
    }
    F(realm_release)(o);
}
int main(int c, char** a) {
    if (c < 6) return 1;
    load_library(a[1]);
    path = a[2];
    rs = strtoull(a[3], 0, 10) * 2654435761ull + 88172645463325252ull;
    long T = atol(a[4]), O = atol(a[5]);
    long reopen = 0;
    for (int i = 6; i < c; i++) {
        if (!strcmp(a[i], "--key") && i + 1 < c) haskey = read_key(a[++i], key);
        else if (!strcmp(a[i], "--reopen") && i + 1 < c) reopen = atol(a[++i]);
        else if (!strcmp(a[i], "--big")) big = 1;
        else if (!strcmp(a[i], "--nested")) nested = 1;
        else if (!strcmp(a[i], "--scalar")) scalar = 1;
        else if (!strcmp(a[i], "--realm-cipher")) realm_cipher = 1;
    }
    open_it();
    for (long t = 0; t < T; t++) {
        ok(F(realm_begin_write)(R), "begin");
        for (long o = 0; o < O; o++) op();
        if (below(12) == 0) ok(F(realm_rollback)(R), "rollback");
        else ok(F(realm_commit)(R), "commit");
        if (reopen && t % reopen == reopen - 1) {
            F(realm_close)(R);
            F(realm_release)(R);
            open_it();
        }
    }
    F(realm_close)(R);
    F(realm_release)(R);
    printf("%lld ops\n", opn);
    return 0;
}
