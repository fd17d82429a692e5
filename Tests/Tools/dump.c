/* Dumps any .realm file as canonical JSON through any shared library that exports Realm's C API (local part).
 * Usage: dump LIB.so FILE.realm [--key keyfile64] [--counts] [--readonly]
 * --readonly opens in immutable mode: nothing on disk may change, and no file appears beside it (realm-core can do this
 * for format 24 only). The file is opened in place: work on a copy. Objects are ordered by object key, classes by name.
 * Build: cc -O2 -Iinclude Tests/Tools/dump.c -ldl -o dump */
#define _GNU_SOURCE
#include <inttypes.h>
#include "library.h"

static void str(const char* d, size_t n) {
    putchar('"');
    for (size_t i = 0; i < n; i++) {
        unsigned char c = d[i];
        if (c == '"' || c == '\\') {
            putchar('\\');
            putchar(c);
        } else if (c < 0x20) printf("\\u%04x", c);
        else putchar(c);
    }
    putchar('"');
}
static void hex(const uint8_t* d, size_t n) {
    for (size_t i = 0; i < n; i++) printf("%02x", d[i]);
}
static realm_t* R;
static void list_out(realm_list_t* l);
static void dict_out(realm_dictionary_t* d);
static void value(realm_value_t v) {
    switch (v.type) {
    case RLM_TYPE_NULL: printf("null"); break;
    case RLM_TYPE_INT: printf("%" PRId64, v.integer); break;
    case RLM_TYPE_BOOL: printf(v.boolean ? "true" : "false"); break;
    case RLM_TYPE_STRING: str(v.string.data, v.string.size); break;
    case RLM_TYPE_BINARY:
        printf("{\"$bin\":\"");
        hex(v.binary.data, v.binary.size);
        printf("\"}");
        break;
    case RLM_TYPE_TIMESTAMP: printf("{\"$ts\":[%" PRId64 ",%d]}", v.timestamp.seconds, v.timestamp.nanoseconds); break;
    case RLM_TYPE_FLOAT: printf("{\"$flt\":\"%.9g\"}", (double)v.fnum); break;
    case RLM_TYPE_DOUBLE: printf("{\"$dbl\":\"%.17g\"}", v.dnum); break;
    case RLM_TYPE_DECIMAL128: printf("{\"$dec\":\"%016" PRIx64 "%016" PRIx64 "\"}", v.decimal128.w[1], v.decimal128.w[0]); break;
    case RLM_TYPE_OBJECT_ID:
        printf("{\"$oid\":\"");
        hex(v.object_id.bytes, 12);
        printf("\"}");
        break;
    case RLM_TYPE_UUID:
        printf("{\"$uuid\":\"");
        hex(v.uuid.bytes, 16);
        printf("\"}");
        break;
    case RLM_TYPE_LINK: {
        realm_class_info_t ci;
        if (!F(realm_get_class)(R, v.link.target_table, &ci)) die("class of link");
        printf("{\"$link\":[");
        str(ci.name, strlen(ci.name));
        printf(",%" PRId64 "]}", v.link.target);
        break;
    }
    default: printf("{\"$type\":%d}", (int)v.type);
    }
}
static void list_out(realm_list_t* l) {
    size_t n;
    if (!F(realm_list_size)(l, &n)) die("list size");
    putchar('[');
    for (size_t i = 0; i < n; i++) {
        if (i) putchar(',');
        realm_value_t v;
        if (!F(realm_list_get)(l, i, &v)) die("list get");
        if (v.type == RLM_TYPE_LIST) {
            realm_list_t* s = F(realm_list_get_list)(l, i);
            if (!s) die("nested list");
            list_out(s);
            F(realm_release)(s);
        } else if (v.type == RLM_TYPE_DICTIONARY) {
            realm_dictionary_t* s = F(realm_list_get_dictionary)(l, i);
            if (!s) die("nested dict");
            dict_out(s);
            F(realm_release)(s);
        } else value(v);
    }
    putchar(']');
}
static void dict_out(realm_dictionary_t* d) {
    size_t n;
    if (!F(realm_dictionary_size)(d, &n)) die("dict size");
    printf("{");
    for (size_t i = 0; i < n; i++) {
        if (i) putchar(',');
        realm_value_t k, v;
        if (!F(realm_dictionary_get)(d, i, &k, &v)) die("dict get");
        value(k);
        putchar(':');
        if (v.type == RLM_TYPE_LIST) {
            realm_list_t* s = F(realm_dictionary_get_list)(d, k);
            if (!s) die("nested list");
            list_out(s);
            F(realm_release)(s);
        } else if (v.type == RLM_TYPE_DICTIONARY) {
            realm_dictionary_t* s = F(realm_dictionary_get_dictionary)(d, k);
            if (!s) die("nested dict");
            dict_out(s);
            F(realm_release)(s);
        } else value(v);
    }
    printf("}");
}
static int cmp(const void* a, const void* b) { return strcmp(((const realm_class_info_t*)a)->name, ((const realm_class_info_t*)b)->name); }
static int pcmp(const void* a, const void* b) { return strcmp(((const realm_property_info_t*)a)->name, ((const realm_property_info_t*)b)->name); }
int main(int c, char** a) {
    if (c < 3) return 1;
    load_library(a[1]);
    uint8_t key[64];
    int haskey = 0, counts = 0, ro = 0;
    for (int i = 3; i < c; i++) {
        if (!strcmp(a[i], "--key") && i + 1 < c) haskey = read_key(a[++i], key);
        if (!strcmp(a[i], "--counts")) counts = 1;
        if (!strcmp(a[i], "--readonly")) ro = 1;
    }
    realm_config_t* g = config_for(a[2], ro ? RLM_SCHEMA_MODE_IMMUTABLE : RLM_SCHEMA_MODE_AUTOMATIC);
    if (haskey) F(realm_config_set_encryption_key)(g, key, 64);
    R = F(realm_open)(g);
    if (!R) die("open");
    size_t n = F(realm_get_num_classes)(R);
    realm_class_key_t* ck = calloc(n + 1, sizeof *ck);
    size_t got;
    F(realm_get_class_keys)(R, ck, n, &got);
    realm_class_info_t* ci = calloc(n + 1, sizeof *ci);
    for (size_t i = 0; i < got; i++)
        if (!F(realm_get_class)(R, ck[i], &ci[i])) die("class");
    qsort(ci, got, sizeof *ci, cmp);
    printf("{\"schema_version\":%" PRId64 ",\"classes\":{\n", (int64_t)F(realm_get_schema_version)(R));
    for (size_t i = 0; i < got; i++) {
        size_t np = ci[i].num_properties + ci[i].num_computed_properties;
        realm_property_info_t* p = calloc(np + 1, sizeof *p);
        size_t pn;
        if (!F(realm_get_class_properties)(R, ci[i].key, p, np, &pn)) die("props");
        qsort(p, pn, sizeof *p, pcmp);
        if (i) printf(",\n");
        str(ci[i].name, strlen(ci[i].name));
        printf(":{\"primary_key\":");
        str(ci[i].primary_key ? ci[i].primary_key : "", ci[i].primary_key ? strlen(ci[i].primary_key) : 0);
        printf(",\"flags\":%d,\"properties\":[", ci[i].flags);
        for (size_t j = 0; j < pn; j++) {
            if (j) putchar(',');
            printf("[");
            str(p[j].name, strlen(p[j].name));
            printf(",%d,%d,", p[j].type, p[j].collection_type);
            str(p[j].link_target ? p[j].link_target : "", p[j].link_target ? strlen(p[j].link_target) : 0);
            printf(",%d]", p[j].flags);
        }
        size_t cnt;
        if (!F(realm_get_num_objects)(R, ci[i].key, &cnt)) die("count");
        printf("],\"count\":%zu", cnt);
        if (!counts && !(ci[i].flags & RLM_CLASS_ASYMMETRIC)) {
            printf(",\"objects\":[\n");
            realm_results_t* r = F(realm_object_find_all)(R, ci[i].key);
            if (!r) die("find all");
            size_t m;
            if (!F(realm_results_count)(r, &m)) die("results count");
            for (size_t o = 0; o < m; o++) {
                realm_object_t* ob = F(realm_results_get_object)(r, o);
                if (!ob) die("object");
                if (o) printf(",\n");
                printf("{\"$key\":%" PRId64, F(realm_object_get_key)(ob));
                for (size_t j = 0; j < pn; j++) {
                    if (p[j].type == RLM_PROPERTY_TYPE_LINKING_OBJECTS) continue;
                    printf(",");
                    str(p[j].name, strlen(p[j].name));
                    putchar(':');
                    if (p[j].collection_type == RLM_COLLECTION_TYPE_LIST) {
                        realm_list_t* l = F(realm_get_list)(ob, p[j].key);
                        if (!l) die("list");
                        list_out(l);
                        F(realm_release)(l);
                    } else if (p[j].collection_type == RLM_COLLECTION_TYPE_SET) {
                        realm_set_t* s = F(realm_get_set)(ob, p[j].key);
                        if (!s) die("set");
                        size_t z;
                        F(realm_set_size)(s, &z);
                        printf("[");
                        for (size_t q = 0; q < z; q++) {
                            if (q) putchar(',');
                            realm_value_t v;
                            if (!F(realm_set_get)(s, q, &v)) die("set get");
                            value(v);
                        }
                        printf("]");
                        F(realm_release)(s);
                    } else if (p[j].collection_type == RLM_COLLECTION_TYPE_DICTIONARY) {
                        realm_dictionary_t* d = F(realm_get_dictionary)(ob, p[j].key);
                        if (!d) die("dict");
                        dict_out(d);
                        F(realm_release)(d);
                    } else {
                        realm_value_t v;
                        if (!F(realm_get_value)(ob, p[j].key, &v)) die("get");
                        if (v.type == RLM_TYPE_LIST) {
                            realm_list_t* l = F(realm_get_list)(ob, p[j].key);
                            list_out(l);
                            F(realm_release)(l);
                        } else if (v.type == RLM_TYPE_DICTIONARY) {
                            realm_dictionary_t* d = F(realm_get_dictionary)(ob, p[j].key);
                            dict_out(d);
                            F(realm_release)(d);
                        } else value(v);
                    }
                }
                printf("}");
                F(realm_release)(ob);
            }
            printf("]");
            F(realm_release)(r);
        }
        printf("}");
        free(p);
    }
    printf("\n}}\n");
    return 0;
}
