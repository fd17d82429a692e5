/*
 * batches.c - many new objects in one call of the library: createBatch().
 *
 * JavaScript gives the values by column: numbers as typed arrays, texts as UTF-8 one after the other. They become a
 * structure array of the Arrow C data interface, which the library reads and this file releases.
 */

#include <stdlib.h>
#include <string.h>

#include "addon.h"

#define MOST_COLUMNS 512

/* A column and its memory. */
struct column {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void* buffers[3];
    void *validity, *values;
    const void* bytes; /* of JavaScript */
    char* name;
};

static void keep_schema(struct ArrowSchema* schema) { (void)schema; }

static void keep_array(struct ArrowArray* array) { (void)array; }

/* The memory of a typed array with a length, or NULL. */
static void* elements(struct addon* addon, napi_value value, napi_typedarray_type wanted, size_t rows) {
    bool is = false;
    napi_typedarray_type type;
    size_t length = 0;
    void* data = NULL;
    if (napi_is_typedarray(addon->env, value, &is) != napi_ok || !is
        || napi_get_typedarray_info(addon->env, value, &type, &length, &data, NULL, NULL) != napi_ok || type != wanted
        || length < rows)
        return NULL;
    return data;
}

/* The bits of a Uint8Array; undefined gives none. */
static bool take_validity(struct addon* addon, struct column* column, napi_value flags, size_t rows) {
    napi_valuetype type;
    if (!good(addon, napi_typeof(addon->env, flags, &type)))
        return false;
    if (type == napi_undefined)
        return true;
    const uint8_t* bytes = elements(addon, flags, napi_uint8_array, rows);
    uint8_t* bits = bytes ? calloc(rows / 8 + 1, 1) : NULL;
    if (!bits)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A Uint8Array for nulls is needed"), false;
    int64_t nulls = 0;
    for (size_t row = 0; row < rows; row++) {
        if (bytes[row])
            bits[row / 8] |= (uint8_t)(1u << row % 8);
        else
            nulls++;
    }
    column->validity = bits;
    column->array.null_count = nulls;
    return true;
}

/* Numbers of a Float64Array, or of a BigInt64Array for integers, in the form of the property's type. */
static bool take_numbers(struct addon* addon, struct column* column, realm_property_type_e type, napi_value data,
                         size_t rows) {
    const double* numbers = elements(addon, data, napi_float64_array, rows);
    const int64_t* integers = numbers ? NULL : elements(addon, data, napi_bigint64_array, rows);
    if (!numbers && (!integers || type != RLM_PROPERTY_TYPE_INT))
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A typed array for a column is needed"), false;
    if (!(column->values = calloc(rows + 1, 8)))
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a column"), false;
    switch (type) {
    case RLM_PROPERTY_TYPE_INT:
    case RLM_PROPERTY_TYPE_TIMESTAMP:
        column->schema.format = type == RLM_PROPERTY_TYPE_INT ? "l" : "tsm:UTC";
        for (size_t row = 0; row < rows; row++) {
            if (numbers && !(numbers[row] >= -9223372036854775808.0 && numbers[row] < 9223372036854775808.0))
                return throw_error(addon, RLM_ERR_PROPERTY_TYPE_MISMATCH, "A number is not an integer of 64 bits"),
                       false;
            ((int64_t*)column->values)[row] = integers ? integers[row] : (int64_t)numbers[row];
        }
        return true;
    case RLM_PROPERTY_TYPE_BOOL:
        column->schema.format = "b";
        for (size_t row = 0; row < rows; row++)
            if (numbers[row] != 0)
                ((uint8_t*)column->values)[row / 8] |= (uint8_t)(1u << row % 8);
        return true;
    case RLM_PROPERTY_TYPE_FLOAT:
        column->schema.format = "f";
        for (size_t row = 0; row < rows; row++)
            ((float*)column->values)[row] = (float)numbers[row];
        return true;
    case RLM_PROPERTY_TYPE_DOUBLE:
        column->schema.format = "g";
        memcpy(column->values, numbers, rows * sizeof *numbers);
        return true;
    default:
        return throw_error(addon, RLM_ERR_NOT_SUPPORTED, "A property of this type has no column"), false;
    }
}

/* Texts as UTF-8 in a Uint8Array, one after the other; a Float64Array has the end of each. */
static bool take_texts(struct addon* addon, struct column* column, napi_value data, napi_value ends, size_t rows) {
    const double* numbers = elements(addon, ends, napi_float64_array, rows);
    void* bytes = NULL;
    size_t size = 0;
    if (!numbers)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A Float64Array for the ends is needed"), false;
    if (!bytes_argument(addon, data, &bytes, &size))
        return false;
    int64_t* offsets = column->values = calloc(rows + 1, sizeof *offsets);
    if (!offsets)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a column"), false;
    for (size_t row = 0; row < rows; row++) {
        if (!(numbers[row] >= (double)offsets[row] && numbers[row] <= (double)size))
            return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "An end of a text is out of range"), false;
        offsets[row + 1] = (int64_t)numbers[row];
    }
    column->bytes = bytes;
    column->schema.format = "U";
    return true;
}

/* [name, slot, data, ends or undefined, flags or undefined] */
static bool take_column(struct addon* addon, struct handle* realm, struct column* column, napi_value given,
                        size_t rows) {
    napi_value item[5];
    uint32_t slot;
    size_t size = 0;
    for (uint32_t index = 0; index < COUNT_OF(item); index++)
        if (!good(addon, napi_get_element(addon->env, given, index, &item[index])))
            return false;
    if (!good(addon, napi_get_value_string_utf8(addon->env, item[0], NULL, 0, &size)))
        return false;
    if (!(column->name = malloc(size + 1)))
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a column"), false;
    if (!good(addon, napi_get_value_string_utf8(addon->env, item[0], column->name, size + 1, &size)))
        return false;
    if (napi_get_value_uint32(addon->env, item[1], &slot) != napi_ok || slot >= realm->state->slot_count)
        return throw_error(addon, RLM_ERR_INVALID_PROPERTY, "No such property"), false;
    realm_property_type_e type = realm->state->slots[slot].type;
    bool is_text = type == RLM_PROPERTY_TYPE_STRING;
    if (!take_validity(addon, column, item[4], rows)
        || !(is_text ? take_texts(addon, column, item[2], item[3], rows)
                     : take_numbers(addon, column, type, item[2], rows)))
        return false;
    column->schema.name = column->name;
    column->schema.flags = 2; // may have nulls
    column->schema.release = keep_schema;
    column->buffers[0] = column->validity;
    column->buffers[1] = column->values;
    column->buffers[2] = column->bytes;
    column->array.length = (int64_t)rows;
    column->array.n_buffers = is_text ? 3 : 2;
    column->array.buffers = column->buffers;
    column->array.release = keep_array;
    return true;
}

/* createBatch(realm, plan, rows, columns, keys): new objects of a class; their keys go into a BigInt64Array. After a
 * failure nothing has changed. */
static napi_value create_batch(napi_env env, napi_callback_info info) {
    napi_value argument[5];
    struct addon* addon = arguments(env, info, 5, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    uint32_t plan, count = 0;
    uint64_t rows;
    if (!realm || !unsigned_argument(addon, argument[2], UINT32_MAX, &rows)
        || !good(addon, napi_get_array_length(env, argument[3], &count)))
        return NULL;
    if (napi_get_value_uint32(env, argument[1], &plan) != napi_ok || plan >= realm->state->plan_count)
        return throw_error(addon, RLM_ERR_NO_SUCH_TABLE, "No such class");
    int64_t* keys = elements(addon, argument[4], napi_bigint64_array, rows);
    if (!keys || count > MOST_COLUMNS)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A BigInt64Array for the keys is needed");
    struct column* columns = calloc(count + 1, sizeof *columns);
    struct ArrowSchema** fields = calloc(count + 1, sizeof *fields);
    struct ArrowArray** arrays = calloc(count + 1, sizeof *arrays);
    bool done = columns && fields && arrays;
    if (!done)
        throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a batch");
    for (uint32_t index = 0; done && index < count; index++) {
        napi_value item;
        done = good(addon, napi_get_element(env, argument[3], index, &item))
               && take_column(addon, realm, &columns[index], item, rows);
        fields[index] = &columns[index].schema;
        arrays[index] = &columns[index].array;
    }
    if (done) {
        const void* none[] = {NULL};
        struct ArrowSchema schema = {
            .format = "+s", .name = "", .n_children = count, .children = fields, .release = keep_schema};
        struct ArrowArray array = {.length = (int64_t)rows, .n_buffers = 1, .n_children = count, .buffers = none,
                                   .children = arrays, .release = keep_array};
        enter(addon);
        if (!crealm.crealm_create_batch(realm->pointer, realm->state->plans[plan].class_key, &schema, &array,
                                        CREALM_UPDATE_ERROR, keys, NULL, NULL))
            throw_last_error(addon);
        leave(addon);
    }
    for (uint32_t index = 0; columns && index < count; index++) {
        free(columns[index].validity);
        free(columns[index].values);
        free(columns[index].name);
    }
    free(columns);
    free(fields);
    free(arrays);
    return NULL;
}

const struct function batch_functions[] = {{"createBatch", create_batch}};
const size_t batch_function_count = COUNT_OF(batch_functions);
