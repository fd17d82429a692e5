/*
 * values.c - values of JavaScript to those of the library, and back.
 *
 * JavaScript                                     library
 *   null, undefined                                null
 *   boolean                                        bool
 *   number                                         double, or an integer where the property is one
 *   bigint                                         integer
 *   string                                         text; half of a surrogate pair becomes U+FFFD
 *   Date                                           timestamp
 *   ArrayBuffer, typed array, Buffer, DataView     binary
 *   [type, payload…]                               the type with that number, see array_value()
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"

void scratch_begin(struct scratch* scratch) {
    scratch->blocks = NULL;
    scratch->used = 0;
}

void* scratch_take(struct addon* addon, struct scratch* scratch, size_t size) {
    size_t rounded = (size + 15) & ~(size_t)15;
    if (rounded >= size && rounded <= sizeof scratch->space - scratch->used) {
        void* place = scratch->space + scratch->used;
        scratch->used += rounded;
        return place;
    }
    void** block = size <= SIZE_MAX - 16 ? malloc(size + 16) : NULL;
    if (!block) {
        throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for an argument");
        return NULL;
    }
    *block = scratch->blocks;
    scratch->blocks = block;
    return (char*)block + 16;
}

void scratch_end(struct scratch* scratch) {
    while (scratch->blocks) {
        void* next = *(void**)scratch->blocks;
        free(scratch->blocks);
        scratch->blocks = next;
    }
}

/* Library to JavaScript */

static bool is_ascii(const char* text, size_t size) {
    uint64_t all = 0, word;
    for (; size >= 8; size -= 8, text += 8) {
        memcpy(&word, text, 8);
        all |= word;
    }
    for (; size; size--)
        all |= (uint8_t)*text++;
    return (all & 0x8080808080808080u) == 0;
}

napi_value text_to_js(struct addon* addon, const char* text, size_t size) {
    napi_value result = NULL;
    if (size > (1u << 29) - 32)
        return throw_error(addon, RLM_ERR_LIMIT_EXCEEDED, "The text is longer than a JavaScript string can be");
    napi_status status = is_ascii(text, size) ? napi_create_string_latin1(addon->env, text, size, &result)
                                              : napi_create_string_utf8(addon->env, text, size, &result);
    return good(addon, status) ? result : NULL;
}

napi_value cstring_to_js(struct addon* addon, const char* text) {
    return text ? text_to_js(addon, text, strlen(text)) : null_to_js(addon);
}

napi_value number_to_js(struct addon* addon, double number) {
    napi_value result = NULL;
    return good(addon, napi_create_double(addon->env, number, &result)) ? result : NULL;
}

napi_value integer_to_js(struct addon* addon, int64_t number) {
    napi_value result = NULL;
    napi_status status;
    if (number >= INT32_MIN && number <= INT32_MAX)
        status = napi_create_int32(addon->env, (int32_t)number, &result);
    else if (number >= -9007199254740991 && number <= 9007199254740991)
        status = napi_create_double(addon->env, (double)number, &result);
    else
        status = napi_create_bigint_int64(addon->env, number, &result);
    return good(addon, status) ? result : NULL;
}

napi_value boolean_to_js(struct addon* addon, bool value) {
    napi_value result = NULL;
    return good(addon, napi_get_boolean(addon->env, value, &result)) ? result : NULL;
}

napi_value null_to_js(struct addon* addon) {
    napi_value result = NULL;
    return good(addon, napi_get_null(addon->env, &result)) ? result : NULL;
}

static napi_value buffer_to_js(struct addon* addon, const void* bytes, size_t size) {
    napi_value result = NULL;
    void* place = NULL;
    if (!good(addon, napi_create_arraybuffer(addon->env, size, &place, &result)))
        return NULL;
    if (size)
        memcpy(place, bytes, size);
    return result;
}

/* An array of the type and up to two more elements. */
static napi_value tagged(struct addon* addon, int type, napi_value first, napi_value second, int count) {
    napi_value result = NULL, number = NULL;
    if ((count > 0 && !first) || (count > 1 && !second))
        return NULL;
    if (!good(addon, napi_create_array_with_length(addon->env, (size_t)count + 1, &result))
        || !good(addon, napi_create_int32(addon->env, type, &number))
        || !good(addon, napi_set_element(addon->env, result, 0, number))
        || (count > 0 && !good(addon, napi_set_element(addon->env, result, 1, first)))
        || (count > 1 && !good(addon, napi_set_element(addon->env, result, 2, second))))
        return NULL;
    return result;
}

napi_value value_to_js(struct addon* addon, const realm_value_t* value) {
    napi_value result = NULL;
    switch (value->type) {
    case RLM_TYPE_NULL:
        return null_to_js(addon);
    case RLM_TYPE_INT:
        return integer_to_js(addon, value->integer);
    case RLM_TYPE_BOOL:
        return boolean_to_js(addon, value->boolean);
    case RLM_TYPE_STRING:
        return value->string.data ? text_to_js(addon, value->string.data, value->string.size) : null_to_js(addon);
    case RLM_TYPE_BINARY:
        return value->binary.data ? buffer_to_js(addon, value->binary.data, value->binary.size) : null_to_js(addon);
    case RLM_TYPE_TIMESTAMP: {
        double time = (double)value->timestamp.seconds * 1000.0 + floor((double)value->timestamp.nanoseconds / 1e6);
        return good(addon, napi_create_date(addon->env, time, &result)) ? result : NULL;
    }
    case RLM_TYPE_FLOAT:
        return number_to_js(addon, (double)value->fnum);
    case RLM_TYPE_DOUBLE:
        return number_to_js(addon, value->dnum);
    case RLM_TYPE_DECIMAL128:
        return tagged(addon, RLM_TYPE_DECIMAL128, buffer_to_js(addon, &value->decimal128, 16), NULL, 1);
    case RLM_TYPE_OBJECT_ID:
        return tagged(addon, RLM_TYPE_OBJECT_ID, buffer_to_js(addon, value->object_id.bytes, 12), NULL, 1);
    case RLM_TYPE_UUID:
        return tagged(addon, RLM_TYPE_UUID, buffer_to_js(addon, value->uuid.bytes, 16), NULL, 1);
    case RLM_TYPE_LINK:
        return tagged(addon, RLM_TYPE_LINK, number_to_js(addon, (double)value->link.target_table),
                      integer_to_js(addon, value->link.target), 2);
    case RLM_TYPE_LIST:
    case RLM_TYPE_DICTIONARY:
        return tagged(addon, (int)value->type, NULL, NULL, 0);
    }
    return throw_error(addon, RLM_ERR_NOT_SUPPORTED, "A value of an unknown type");
}

/* An object with members; NULL members fail. */
static bool set_member(struct addon* addon, napi_value object, const char* name, napi_value member) {
    return member && good(addon, napi_set_named_property(addon->env, object, name, member));
}

napi_value class_info_to_js(struct addon* addon, const realm_class_info_t* info) {
    napi_value result = NULL;
    if (!good(addon, napi_create_object(addon->env, &result))
        || !set_member(addon, result, "name", cstring_to_js(addon, info->name))
        || !set_member(addon, result, "primaryKey", cstring_to_js(addon, info->primary_key))
        || !set_member(addon, result, "key", number_to_js(addon, info->key))
        || !set_member(addon, result, "flags", number_to_js(addon, info->flags)))
        return NULL;
    return result;
}

napi_value property_info_to_js(struct addon* addon, const realm_property_info_t* info) {
    napi_value result = NULL;
    if (!good(addon, napi_create_object(addon->env, &result))
        || !set_member(addon, result, "name", cstring_to_js(addon, info->name))
        || !set_member(addon, result, "publicName", cstring_to_js(addon, info->public_name))
        || !set_member(addon, result, "type", number_to_js(addon, info->type))
        || !set_member(addon, result, "collection", number_to_js(addon, info->collection_type))
        || !set_member(addon, result, "target", cstring_to_js(addon, info->link_target))
        || !set_member(addon, result, "origin", cstring_to_js(addon, info->link_origin_property_name))
        || !set_member(addon, result, "key", integer_to_js(addon, info->key))
        || !set_member(addon, result, "flags", number_to_js(addon, info->flags)))
        return NULL;
    return result;
}

napi_value version_id_to_js(struct addon* addon, const realm_version_id_t* id) {
    return integer_to_js(addon, (int64_t)id->version);
}

/* JavaScript to library */

static bool wrong_type(struct addon* addon, const char* text) {
    throw_error(addon, RLM_ERR_PROPERTY_TYPE_MISMATCH, text);
    return false;
}

bool integer_argument(struct addon* addon, napi_value value, int64_t* out) {
    napi_valuetype type;
    if (!good(addon, napi_typeof(addon->env, value, &type)))
        return false;
    if (type == napi_number) {
        double number;
        if (!good(addon, napi_get_value_double(addon->env, value, &number)))
            return false;
        if (number != trunc(number) || number < -9223372036854775808.0 || number >= 9223372036854775808.0)
            return wrong_type(addon, "A number is not an integer of 64 bits");
        *out = (int64_t)number;
        return true;
    }
    if (type == napi_bigint) {
        bool lossless = false;
        if (!good(addon, napi_get_value_bigint_int64(addon->env, value, out, &lossless)))
            return false;
        return lossless || wrong_type(addon, "A bigint does not fit into 64 bits");
    }
    return wrong_type(addon, "A value is not an integer");
}

bool unsigned_argument(struct addon* addon, napi_value value, uint64_t most, uint64_t* out) {
    napi_valuetype type;
    if (!good(addon, napi_typeof(addon->env, value, &type)))
        return false;
    if (type == napi_bigint) {
        bool lossless = false;
        if (!good(addon, napi_get_value_bigint_uint64(addon->env, value, out, &lossless)))
            return false;
        return (lossless && *out <= most) || wrong_type(addon, "A bigint is out of range");
    }
    double number = -1;
    if (type == napi_number && !good(addon, napi_get_value_double(addon->env, value, &number)))
        return false;
    if (type != napi_number || number != trunc(number) || number < 0 || number >= 18446744073709551616.0
        || (uint64_t)number > most)
        return wrong_type(addon, "A value is not an integer in the allowed range");
    *out = (uint64_t)number;
    return true;
}

bool boolean_argument(struct addon* addon, napi_value value, bool* out) {
    return napi_get_value_bool(addon->env, value, out) == napi_ok || wrong_type(addon, "A value is not a boolean");
}

/* A text with a NUL after it. */
static bool read_text(struct addon* addon, struct scratch* scratch, napi_value value, char** out, size_t* size) {
    size_t room = sizeof scratch->space - scratch->used, length = 0;
    if (room >= 64) {
        char* place = scratch->space + scratch->used;
        if (!good(addon, napi_get_value_string_utf8(addon->env, value, place, room, &length)))
            return false;
        // Without 4 bytes to spare the text may have been cut off.
        if (length + 5 <= room) {
            scratch->used += (length + 16) & ~(size_t)15;
            *out = place;
            *size = length;
            return true;
        }
    }
    if (!good(addon, napi_get_value_string_utf8(addon->env, value, NULL, 0, &length)))
        return false;
    *out = scratch_take(addon, scratch, length + 1);
    return *out && good(addon, napi_get_value_string_utf8(addon->env, value, *out, length + 1, size));
}

bool text_argument(struct addon* addon, struct scratch* scratch, napi_value value, bool optional, const char** out) {
    napi_valuetype type;
    if (!good(addon, napi_typeof(addon->env, value, &type)))
        return false;
    if (optional && (type == napi_null || type == napi_undefined)) {
        *out = NULL;
        return true;
    }
    char* text = NULL;
    size_t size = 0;
    if (type != napi_string)
        return wrong_type(addon, "A value is not a string");
    if (!read_text(addon, scratch, value, &text, &size))
        return false;
    if (memchr(text, 0, size)) {
        throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A name or path has a NUL character in it");
        return false;
    }
    *out = text;
    return true;
}

bool bytes_argument(struct addon* addon, napi_value value, void** out, size_t* size) {
    bool is = false;
    *out = NULL;
    *size = 0;
    if (napi_is_arraybuffer(addon->env, value, &is) == napi_ok && is)
        return good(addon, napi_get_arraybuffer_info(addon->env, value, out, size));
    if (napi_is_typedarray(addon->env, value, &is) == napi_ok && is) {
        static const size_t widths[] = {1, 1, 1, 2, 2, 4, 4, 4, 8, 8, 8};
        napi_typedarray_type type;
        size_t length = 0;
        if (!good(addon, napi_get_typedarray_info(addon->env, value, &type, &length, out, NULL, NULL)))
            return false;
        if ((size_t)type >= COUNT_OF(widths))
            return wrong_type(addon, "A typed array of an unknown type");
        *size = length * widths[type];
        return true;
    }
    if (napi_is_dataview(addon->env, value, &is) == napi_ok && is)
        return good(addon, napi_get_dataview_info(addon->env, value, size, out, NULL, NULL));
    return wrong_type(addon, "A value is not an ArrayBuffer or a view of one");
}

static bool is_bytes(struct addon* addon, napi_value value) {
    bool is = false;
    return (napi_is_arraybuffer(addon->env, value, &is) == napi_ok && is)
           || (napi_is_typedarray(addon->env, value, &is) == napi_ok && is)
           || (napi_is_dataview(addon->env, value, &is) == napi_ok && is);
}

/* Copies bytes: another thread may change a SharedArrayBuffer. */
static bool binary_value(struct addon* addon, struct scratch* scratch, napi_value js, realm_value_t* out) {
    void* bytes;
    size_t size;
    if (!bytes_argument(addon, js, &bytes, &size))
        return false;
    uint8_t* copy = scratch_take(addon, scratch, size ? size : 1);
    if (!copy)
        return false;
    if (size && bytes)
        memcpy(copy, bytes, size);
    out->type = RLM_TYPE_BINARY;
    out->binary.data = copy;
    out->binary.size = bytes ? size : 0;
    return true;
}

static bool date_value(struct addon* addon, napi_value js, realm_value_t* out) {
    double time;
    if (!good(addon, napi_get_date_value(addon->env, js, &time)))
        return false;
    if (!isfinite(time))
        return wrong_type(addon, "The Date is not valid");
    double seconds = trunc(time / 1000.0);
    out->type = RLM_TYPE_TIMESTAMP;
    out->timestamp.seconds = (int64_t)seconds;
    out->timestamp.nanoseconds = (int32_t)((time - seconds * 1000.0) * 1e6);
    return true;
}

static bool fixed_bytes(struct addon* addon, napi_value js, void* out, size_t size) {
    void* bytes;
    size_t given;
    if (!bytes_argument(addon, js, &bytes, &given))
        return false;
    if (given != size || !bytes)
        return wrong_type(addon, "A value has the wrong number of bytes");
    memcpy(out, bytes, size);
    return true;
}

/* [type, payload…] */
static bool array_value(struct addon* addon, struct scratch* scratch, napi_value js, realm_value_t* out) {
    napi_value item[3] = {NULL, NULL, NULL};
    int64_t type;
    for (uint32_t index = 0; index < 3; index++)
        if (!good(addon, napi_get_element(addon->env, js, index, &item[index])))
            return false;
    if (!integer_argument(addon, item[0], &type))
        return false;
    out->type = (realm_value_type_e)type;
    switch (type) {
    case RLM_TYPE_NULL:
    case RLM_TYPE_LIST:
    case RLM_TYPE_DICTIONARY:
        return true;
    case RLM_TYPE_INT:
        return integer_argument(addon, item[1], &out->integer);
    case RLM_TYPE_BOOL:
        return boolean_argument(addon, item[1], &out->boolean);
    case RLM_TYPE_STRING:
        return value_from_js(addon, scratch, item[1], RLM_PROPERTY_TYPE_STRING, out);
    case RLM_TYPE_BINARY:
        return binary_value(addon, scratch, item[1], out);
    case RLM_TYPE_TIMESTAMP: {
        int64_t nanoseconds;
        if (!integer_argument(addon, item[1], &out->timestamp.seconds) ||
            !integer_argument(addon, item[2], &nanoseconds))
            return false;
        out->timestamp.nanoseconds = (int32_t)nanoseconds;
        return nanoseconds > -1000000000 && nanoseconds < 1000000000 ? true
                                                                     : wrong_type(addon, "Nanoseconds out of range");
    }
    case RLM_TYPE_FLOAT:
        return value_from_js(addon, scratch, item[1], RLM_PROPERTY_TYPE_FLOAT, out);
    case RLM_TYPE_DOUBLE:
        return value_from_js(addon, scratch, item[1], RLM_PROPERTY_TYPE_DOUBLE, out);
    case RLM_TYPE_DECIMAL128:
        return fixed_bytes(addon, item[1], &out->decimal128, 16);
    case RLM_TYPE_OBJECT_ID:
        return fixed_bytes(addon, item[1], out->object_id.bytes, 12);
    case RLM_TYPE_UUID:
        return fixed_bytes(addon, item[1], out->uuid.bytes, 16);
    case RLM_TYPE_LINK: {
        uint64_t class_key;
        if (!unsigned_argument(addon, item[1], 0x7fffffff, &class_key)
            || !integer_argument(addon, item[2], &out->link.target))
            return false;
        out->link.target_table = (realm_class_key_t)class_key;
        return true;
    }
    default:
        return wrong_type(addon, "A value of an unknown type");
    }
}

bool value_from_js(struct addon* addon, struct scratch* scratch, napi_value js, realm_property_type_e wanted,
                   realm_value_t* out) {
    napi_valuetype type;
    if (!good(addon, napi_typeof(addon->env, js, &type)))
        return false;
    out->type = RLM_TYPE_NULL;
    switch (type) {
    case napi_undefined:
    case napi_null:
        return true;
    case napi_boolean:
        out->type = RLM_TYPE_BOOL;
        return good(addon, napi_get_value_bool(addon->env, js, &out->boolean));
    case napi_number: {
        double number;
        if (!good(addon, napi_get_value_double(addon->env, js, &number)))
            return false;
        if (wanted == RLM_PROPERTY_TYPE_INT) {
            if (number != trunc(number) || number < -9223372036854775808.0 || number >= 9223372036854775808.0)
                return wrong_type(addon, "A number is not an integer of 64 bits");
            out->type = RLM_TYPE_INT;
            out->integer = (int64_t)number;
        } else if (wanted == RLM_PROPERTY_TYPE_FLOAT) {
            out->type = RLM_TYPE_FLOAT;
            out->fnum = (float)number;
        } else {
            out->type = RLM_TYPE_DOUBLE;
            out->dnum = number;
        }
        return true;
    }
    case napi_bigint:
        out->type = RLM_TYPE_INT;
        return integer_argument(addon, js, &out->integer);
    case napi_string: {
        char* text = NULL;
        size_t size = 0;
        if (!read_text(addon, scratch, js, &text, &size))
            return false;
        out->type = RLM_TYPE_STRING;
        out->string.data = text;
        out->string.size = size;
        return true;
    }
    case napi_object: {
        bool is = false;
        if (napi_is_array(addon->env, js, &is) == napi_ok && is)
            return array_value(addon, scratch, js, out);
        if (napi_is_date(addon->env, js, &is) == napi_ok && is)
            return date_value(addon, js, out);
        if (is_bytes(addon, js))
            return binary_value(addon, scratch, js, out);
        return wrong_type(addon, "An object of this class cannot be stored");
    }
    default:
        return wrong_type(addon, "Functions and symbols cannot be stored");
    }
}
