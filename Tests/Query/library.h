/*
 * library.h - shared by answer.c and fill.c, in addition to Tools/library.h: opening a file with its own schema, and
 * the values of generate.py.
 */
#include <inttypes.h>

#include "../Tools/library.h"

static const char* path;
static bool readonly, dynamic;
static realm_t* realm;

__attribute__((unused)) static int last_error(const char** message)
{
    realm_error_t error;
    memset(&error, 0, sizeof error);
    bool found = F(realm_get_last_error)(&error);
    if (message) *message = found && error.message ? error.message : "?";
    int number = found ? (int)error.error : 0;
    if (!message) F(realm_clear_last_error)();
    return number;
}

/* Opening -------------------------------------------------------------------------------------- */

static realm_t* open_with(realm_schema_t* schema, uint64_t version)
{
    realm_config_t* config = config_for(path, readonly ? RLM_SCHEMA_MODE_IMMUTABLE : RLM_SCHEMA_MODE_AUTOMATIC);
    if (schema) {
        F(realm_config_set_schema)(config, schema);
        F(realm_config_set_schema_version)(config, version);
    }
    realm_t* opened = F(realm_open)(config);
    if (!opened) die("open");
    F(realm_release)(config);
    return opened;
}

#define MAX_CLASSES 100
#define MAX_PROPERTIES 100

/* The schema in the file, with linking objects added. */
static realm_schema_t* schema_of_file(realm_t* from)
{
    static realm_class_info_t classes[MAX_CLASSES];
    static const realm_property_info_t* properties[MAX_CLASSES];
    realm_class_key_t keys[MAX_CLASSES];
    size_t n;
    if (!F(realm_get_class_keys)(from, keys, MAX_CLASSES, &n)) die("class keys");
    for (size_t i = 0; i < n; i++) {
        if (!F(realm_get_class)(from, keys[i], &classes[i])) die("class");
        realm_property_info_t* p = calloc(MAX_PROPERTIES, sizeof *p);
        size_t count;
        if (!F(realm_get_class_properties)(from, keys[i], p, MAX_PROPERTIES - 1, &count)) die("properties");
        for (size_t k = 0; k < count; k++) {
            p[k].name = strdup(p[k].name);
            p[k].public_name = strdup(p[k].public_name);
            p[k].link_target = strdup(p[k].link_target);
            p[k].link_origin_property_name = strdup(p[k].link_origin_property_name);
        }
        classes[i].name = strdup(classes[i].name);
        classes[i].primary_key = strdup(classes[i].primary_key);
        if (!strcmp(classes[i].name, "Str") && !classes[i].num_computed_properties) {
            p[count] = (realm_property_info_t){"linkers", "", RLM_PROPERTY_TYPE_LINKING_OBJECTS, RLM_COLLECTION_TYPE_LIST,
                                               "All", "link", RLM_INVALID_PROPERTY_KEY, 0};
            classes[i].num_computed_properties = 1;
        }
        properties[i] = p;
    }
    realm_schema_t* schema = F(realm_schema_new)(classes, n, properties);
    if (!schema) die("schema");
    return schema;
}

static void open_file(void)
{
    realm = open_with(NULL, 0);
    if (dynamic) return;
    realm_schema_t* schema = schema_of_file(realm);
    uint64_t version = F(realm_get_schema_version)(realm);
    F(realm_close)(realm);
    F(realm_release)(realm);
    realm = open_with(schema, version);
    F(realm_release)(schema);
}

/* Values --------------------------------------------------------------------------------------- */

static char* buffer; /* memory for texts */

static void bad(const char* at)
{
    fprintf(stderr, "bad arguments at %.40s\n", at);
    exit(2);
}

static const char* expect(const char* s, const char* what)
{
    size_t n = strlen(what);
    if (strncmp(s, what, n)) bad(s);
    return s + n;
}

static const char* hex(const char* s, uint8_t* out, size_t* count)
{
    size_t n = 0;
    for (; *s != '"'; s += 2, n++) {
        unsigned byte;
        if (sscanf(s, "%2x", &byte) != 1) bad(s);
        out[n] = (uint8_t)byte;
    }
    *count = n;
    return s + 1;
}

static const char* text(const char* s, char* out, size_t* count)
{
    size_t n = 0;
    for (; *s != '"'; s++) {
        if (!*s) bad(s);
        if (*s == '\\') {
            s++;
            unsigned code;
            if (*s == 'u' && sscanf(s + 1, "%4x", &code) == 1 && code < 0x80) {
                out[n++] = (char)code;
                s += 4;
                continue;
            }
            out[n++] = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s == 'r' ? '\r' : *s == 'b' ? '\b' : *s == 'f' ? '\f' : *s;
        } else
            out[n++] = *s;
    }
    *count = n;
    return s + 1;
}

/* A link to the object with an index, modulo the count, of a class in key order; null if the class has no objects. */
static realm_value_t object_at(const char* name, long index)
{
    realm_value_t v = {.type = RLM_TYPE_NULL};
    bool found;
    realm_class_info_t class;
    if (!F(realm_find_class)(realm, name, &found, &class) || !found) return v;
    realm_results_t* all = F(realm_object_find_all)(realm, class.key);
    size_t n;
    if (all && F(realm_results_count)(all, &n) && n) F(realm_results_get)(all, (size_t)index % n, &v);
    F(realm_release)(all);
    return v;
}

static const char* value(const char* s, realm_value_t* v)
{
    memset(v, 0, sizeof *v);
    if (!strncmp(s, "null", 4)) {
        v->type = RLM_TYPE_NULL;
        return s + 4;
    }
    char* end;
    if (!strncmp(s, "{\"int\":", 7)) {
        v->type = RLM_TYPE_INT;
        v->integer = strtoll(s + 7, &end, 10);
        s = end;
    } else if (!strncmp(s, "{\"bool\":", 8)) {
        v->type = RLM_TYPE_BOOL;
        v->boolean = s[8] == 't';
        s += v->boolean ? 12 : 13;
    } else if (!strncmp(s, "{\"str\":\"", 8)) {
        v->type = RLM_TYPE_STRING;
        v->string.data = buffer;
        s = text(s + 8, buffer, &v->string.size);
        buffer += v->string.size + 1;
    } else if (!strncmp(s, "{\"bin\":\"", 8)) {
        v->type = RLM_TYPE_BINARY;
        v->binary.data = (uint8_t*)buffer;
        s = hex(s + 8, (uint8_t*)buffer, &v->binary.size);
        buffer += v->binary.size + 1;
    } else if (!strncmp(s, "{\"ts\":[", 7)) {
        v->type = RLM_TYPE_TIMESTAMP;
        v->timestamp.seconds = strtoll(s + 7, &end, 10);
        s = expect(end, ",");
        v->timestamp.nanoseconds = (int32_t)strtol(s, &end, 10);
        s = expect(end, "]");
    } else if (!strncmp(s, "{\"flt\":\"", 8)) {
        v->type = RLM_TYPE_FLOAT;
        v->fnum = strtof(s + 8, &end);
        s = expect(end, "\"");
    } else if (!strncmp(s, "{\"dbl\":\"", 8)) {
        v->type = RLM_TYPE_DOUBLE;
        v->dnum = strtod(s + 8, &end);
        s = expect(end, "\"");
    } else if (!strncmp(s, "{\"dec\":\"", 8)) {
        v->type = RLM_TYPE_DECIMAL128;
        if (sscanf(s + 8, "%16" SCNx64 "%16" SCNx64, &v->decimal128.w[1], &v->decimal128.w[0]) != 2) bad(s);
        s = expect(s + 40, "\"");
    } else if (!strncmp(s, "{\"oid\":\"", 8)) {
        size_t n;
        v->type = RLM_TYPE_OBJECT_ID;
        s = hex(s + 8, v->object_id.bytes, &n);
    } else if (!strncmp(s, "{\"uuid\":\"", 9)) {
        size_t n;
        v->type = RLM_TYPE_UUID;
        s = hex(s + 9, v->uuid.bytes, &n);
    } else if (!strncmp(s, "{\"link\":[\"", 10)) {
        char name[64];
        size_t n;
        s = text(s + 10, name, &n);
        name[n] = 0;
        s = expect(s, ",");
        *v = object_at(name, strtol(s, &end, 10));
        s = expect(end, "]");
    } else
        bad(s);
    return expect(s, "}");
}
