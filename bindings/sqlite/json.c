/* Collections as JSON. */

#include "crealm_sqlite.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Collections inside of each other. The library allows fewer; a damaged file may claim more. */
#define MAX_DEPTH 200

typedef struct Writer {
    sqlite3_str* out;
    const realm_t* realm;
} Writer;

static bool write_list(Writer* writer, realm_list_t* list, int depth);
static bool write_dictionary(Writer* writer, realm_dictionary_t* dictionary, int depth);

static void write_text(sqlite3_str* out, const char* text, size_t size)
{
    sqlite3_str_appendchar(out, 1, '"');
    size_t start = 0;
    for (size_t index = 0; index < size; index++) {
        unsigned char letter = (unsigned char)text[index];
        if (letter >= 0x20 && letter != '"' && letter != '\\')
            continue;
        sqlite3_str_append(out, text + start, (int)(index - start));
        start = index + 1;
        if (letter == '"' || letter == '\\')
            sqlite3_str_appendf(out, "\\%c", letter);
        else
            sqlite3_str_appendf(out, "\\u%04x", letter);
    }
    sqlite3_str_append(out, text + start, (int)(size - start));
    sqlite3_str_appendchar(out, 1, '"');
}

static void write_base64(sqlite3_str* out, const uint8_t* bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    sqlite3_str_appendchar(out, 1, '"');
    for (size_t index = 0; index < size; index += 3) {
        size_t count = size - index < 3 ? size - index : 3;
        uint32_t group = (uint32_t)bytes[index] << 16;
        group |= count > 1 ? (uint32_t)bytes[index + 1] << 8 : 0;
        group |= count > 2 ? bytes[index + 2] : 0;
        char four[4] = {letters[group >> 18], letters[group >> 12 & 63], '=', '='};
        if (count > 1)
            four[2] = letters[group >> 6 & 63];
        if (count > 2)
            four[3] = letters[group & 63];
        sqlite3_str_append(out, four, 4);
    }
    sqlite3_str_appendchar(out, 1, '"');
}

/* The shortest text of a number, with a point or an exponent. Like SQLite, infinity is a number out of range. */
static void write_number(sqlite3_str* out, double number, bool is_single)
{
    char text[40];
    if (isnan(number)) {
        sqlite3_str_appendall(out, "null");
        return;
    }
    if (isinf(number)) {
        sqlite3_str_appendall(out, number < 0 ? "-9.0e+999" : "9.0e+999");
        return;
    }
    for (int precision = is_single ? 6 : 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, number);
        if (is_single ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)
            break;
    }
    sqlite3_str_appendall(out, text);
    if (strpbrk(text, ".e") == NULL)
        sqlite3_str_appendall(out, ".0");
}

/* A value that is no collection. */
static bool write_value(Writer* writer, const realm_value_t* value)
{
    sqlite3_str* out = writer->out;
    char text[DECIMAL_TEXT];
    realm_value_t shown;
    int length;
    switch (value->type) {
        case RLM_TYPE_INT: sqlite3_str_appendf(out, "%lld", (long long)value->integer); return true;
        case RLM_TYPE_BOOL: sqlite3_str_appendall(out, value->boolean ? "true" : "false"); return true;
        case RLM_TYPE_STRING: write_text(out, value->string.data, value->string.size); return true;
        case RLM_TYPE_BINARY: write_base64(out, value->binary.data, value->binary.size); return true;
        case RLM_TYPE_FLOAT: write_number(out, value->fnum, true); return true;
        case RLM_TYPE_DOUBLE: write_number(out, value->dnum, false); return true;
        case RLM_TYPE_TIMESTAMP:
            length = crealm_date_text(value->timestamp.seconds, value->timestamp.nanoseconds, text);
            if (length > 0)
                sqlite3_str_appendf(out, "\"%.*s\"", length, text);
            else
                sqlite3_str_appendf(out, "%lld",
                                    (long long)value->timestamp.seconds - (value->timestamp.nanoseconds < 0));
            return true;
        case RLM_TYPE_DECIMAL128:
            sqlite3_str_appendf(out, "\"%.*s\"", crealm_decimal_text(value->decimal128, text), text);
            return true;
        case RLM_TYPE_OBJECT_ID:
            crealm_object_id_text(value->object_id.bytes, text);
            sqlite3_str_appendf(out, "\"%.24s\"", text);
            return true;
        case RLM_TYPE_UUID:
            crealm_uuid_text(value->uuid.bytes, text);
            sqlite3_str_appendf(out, "\"%.36s\"", text);
            return true;
        case RLM_TYPE_LINK:
            return crealm_link_value(writer->realm, value->link, &shown) && write_value(writer, &shown);
        default: sqlite3_str_appendall(out, "null"); return true;
    }
}

static bool write_list(Writer* writer, realm_list_t* list, int depth)
{
    size_t size = 0;
    bool is_written = list != NULL && depth < MAX_DEPTH && realm_list_size(list, &size);
    sqlite3_str_appendchar(writer->out, 1, '[');
    for (size_t index = 0; is_written && index < size; index++) {
        realm_value_t value;
        if (index > 0)
            sqlite3_str_appendchar(writer->out, 1, ',');
        if (!realm_list_get(list, index, &value))
            is_written = false;
        else if (value.type == RLM_TYPE_LIST)
            is_written = write_list(writer, realm_list_get_list(list, index), depth + 1);
        else if (value.type == RLM_TYPE_DICTIONARY)
            is_written = write_dictionary(writer, realm_list_get_dictionary(list, index), depth + 1);
        else
            is_written = write_value(writer, &value);
    }
    sqlite3_str_appendchar(writer->out, 1, ']');
    realm_release(list);
    return is_written && sqlite3_str_errcode(writer->out) == SQLITE_OK;
}

static bool write_set(Writer* writer, realm_set_t* set)
{
    size_t size = 0;
    bool is_written = set != NULL && realm_set_size(set, &size);
    sqlite3_str_appendchar(writer->out, 1, '[');
    for (size_t index = 0; is_written && index < size; index++) {
        realm_value_t value;
        if (index > 0)
            sqlite3_str_appendchar(writer->out, 1, ',');
        is_written = realm_set_get(set, index, &value) && write_value(writer, &value);
    }
    sqlite3_str_appendchar(writer->out, 1, ']');
    realm_release(set);
    return is_written && sqlite3_str_errcode(writer->out) == SQLITE_OK;
}

static bool write_dictionary(Writer* writer, realm_dictionary_t* dictionary, int depth)
{
    size_t size = 0;
    bool is_written = dictionary != NULL && depth < MAX_DEPTH && realm_dictionary_size(dictionary, &size);
    sqlite3_str_appendchar(writer->out, 1, '{');
    for (size_t index = 0; is_written && index < size; index++) {
        realm_value_t key, value;
        if (index > 0)
            sqlite3_str_appendchar(writer->out, 1, ',');
        if (!realm_dictionary_get(dictionary, index, &key, &value)) {
            is_written = false;
            break;
        }
        write_text(writer->out, key.string.data, key.string.size);
        sqlite3_str_appendchar(writer->out, 1, ':');
        if (value.type == RLM_TYPE_LIST)
            is_written = write_list(writer, realm_dictionary_get_list(dictionary, key), depth + 1);
        else if (value.type == RLM_TYPE_DICTIONARY)
            is_written = write_dictionary(writer, realm_dictionary_get_dictionary(dictionary, key), depth + 1);
        else
            is_written = write_value(writer, &value);
    }
    sqlite3_str_appendchar(writer->out, 1, '}');
    realm_release(dictionary);
    return is_written && sqlite3_str_errcode(writer->out) == SQLITE_OK;
}

int crealm_write_json(sqlite3_str* out, const realm_t* realm, realm_object_t* object, realm_property_key_t property,
                      realm_collection_type_e collection)
{
    Writer writer = {out, realm};
    bool is_written;
    if (collection == RLM_COLLECTION_TYPE_LIST)
        is_written = write_list(&writer, realm_get_list(object, property), 0);
    else if (collection == RLM_COLLECTION_TYPE_SET)
        is_written = write_set(&writer, realm_get_set(object, property));
    else
        is_written = write_dictionary(&writer, realm_get_dictionary(object, property), 0);
    if (is_written)
        return SQLITE_OK;
    int code = sqlite3_str_errcode(out);
    return code == SQLITE_OK ? SQLITE_ERROR : code;
}
