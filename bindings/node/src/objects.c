/*
 * objects.c - the calls that programs make most, written by hand: values of objects, new objects, pages of results.
 *
 * An object is a realm, a class key and an object key; a property is an index into the realm's slots. The library's
 * object handles are kept in a small cache, by class and object key: see realm_state.
 */

#include <stdlib.h>
#include <string.h>

#include "addon.h"

static size_t place_in_cache(realm_class_key_t class_key, realm_object_key_t key) {
    uint64_t mixed = (uint64_t)key * 0x9e3779b97f4a7c15u + class_key * 0x85ebca6bu;
    return (size_t)(mixed >> 32) % CACHED_OBJECTS;
}

/* Gives a handle to the cache, in the place of another one. */
static void cache_put(struct addon* addon, struct realm_state* state, realm_class_key_t class_key,
                      realm_object_key_t key, realm_object_t* object) {
    size_t place = place_in_cache(class_key, key);
    release_later(addon, state->cache[place].object);
    state->cache[place].object = object;
    state->cache[place].key = key;
    state->cache[place].class_key = class_key;
}

/* The library's handle of an object, which belongs to the cache: it is good until the next call of this function.
 * NULL with an exception. */
static realm_object_t* object_of(struct addon* addon, struct handle* realm, realm_class_key_t class_key,
                                 realm_object_key_t key) {
    size_t place = place_in_cache(class_key, key);
    struct realm_state* state = realm->state;
    if (state->cache[place].object && state->cache[place].key == key && state->cache[place].class_key == class_key)
        return state->cache[place].object;
    realm_object_t* object = crealm.realm_get_object(realm->pointer, class_key, key);
    if (!object) {
        throw_last_error(addon);
        return NULL;
    }
    cache_put(addon, state, class_key, key, object);
    return object;
}

static struct slot* slot_argument(struct addon* addon, struct handle* realm, napi_value value) {
    uint32_t index;
    if (napi_get_value_uint32(addon->env, value, &index) == napi_ok && index < realm->state->slot_count)
        return &realm->state->slots[index];
    throw_error(addon, RLM_ERR_INVALID_PROPERTY, "No such property");
    return NULL;
}

static bool key_argument(struct addon* addon, napi_value value, realm_object_key_t* out) {
    double number;
    if (napi_get_value_double(addon->env, value, &number) == napi_ok && number >= -9007199254740991.0
        && number <= 9007199254740991.0) {
        *out = (realm_object_key_t)number;
        return true;
    }
    return integer_argument(addon, value, out);
}

/* addSlot(realm, classKey, propertyKey, type): the index of a property for the calls below. */
static napi_value add_slot(napi_env env, napi_callback_info info) {
    napi_value argument[4];
    struct addon* addon = arguments(env, info, 4, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    uint64_t class_key, type;
    int64_t property;
    if (!realm || !unsigned_argument(addon, argument[1], 0x7fffffff, &class_key)
        || !integer_argument(addon, argument[2], &property) || !unsigned_argument(addon, argument[3], 64, &type))
        return NULL;
    struct realm_state* state = realm->state;
    struct slot* slots = realloc(state->slots, (state->slot_count + 1) * sizeof *slots);
    if (!slots)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a property");
    slots[state->slot_count] = (struct slot){(realm_class_key_t)class_key, property, (realm_property_type_e)type};
    state->slots = slots;
    return number_to_js(addon, state->slot_count++);
}

#define MOST_PLANNED 512

/* addPlan(realm, classKey, primary, slots…): the properties that create() writes, of which `primary` is the index of
 * the primary key, or -1. */
static napi_value add_plan(napi_env env, napi_callback_info info) {
    napi_value argument[MOST_PLANNED + 3];
    size_t given;
    struct addon* addon = arguments(env, info, MOST_PLANNED + 3, argument, &given);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    uint64_t class_key;
    int64_t primary;
    if (!realm || !unsigned_argument(addon, argument[1], 0x7fffffff, &class_key)
        || !integer_argument(addon, argument[2], &primary))
        return NULL;
    size_t count = given > MOST_PLANNED + 3 ? MOST_PLANNED : given < 3 ? 0 : given - 3;
    if (primary < -1 || primary >= (int64_t)count)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "The primary key is not among the properties");
    struct realm_state* state = realm->state;
    uint32_t* slots = malloc((count + 1) * sizeof *slots);
    struct plan* plans = slots ? realloc(state->plans, (state->plan_count + 1) * sizeof *plans) : NULL;
    if (!plans) {
        free(slots);
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a class");
    }
    state->plans = plans;
    for (size_t index = 0; index < count; index++) {
        struct slot* slot = slot_argument(addon, realm, argument[index + 3]);
        if (!slot) {
            free(slots);
            return NULL;
        }
        slots[index] = (uint32_t)(slot - state->slots);
    }
    plans[state->plan_count] = (struct plan){(realm_class_key_t)class_key, (int)primary, (uint32_t)count, slots};
    return number_to_js(addon, state->plan_count++);
}

/* Arguments of most calls of create(). */
#define USUALLY_PLANNED 14

/* create(realm, plan, values…): a new object with these values, of which undefined ones keep their default. Returns
 * its key. After a failure the object does not exist. */
static napi_value create(napi_env env, napi_callback_info info) {
    napi_value few[USUALLY_PLANNED + 2], many[MOST_PLANNED + 2], *argument = few;
    size_t given;
    struct addon* addon = arguments(env, info, COUNT_OF(few), few, &given);
    if (addon && given > COUNT_OF(few)) {
        argument = many;
        addon = arguments(env, info, COUNT_OF(many), many, &given);
    }
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    uint32_t number;
    if (!realm)
        return NULL;
    if (napi_get_value_uint32(env, argument[1], &number) != napi_ok || number >= realm->state->plan_count)
        return throw_error(addon, RLM_ERR_NO_SUCH_TABLE, "No such class");
    const struct plan* plan = &realm->state->plans[number];
    struct scratch scratch;
    scratch_begin(&scratch);
    realm_value_t primary = {.type = RLM_TYPE_NULL};
    realm_value_t* values = scratch_take(addon, &scratch, (plan->count + 1) * sizeof *values);
    realm_property_key_t* keys = values ? scratch_take(addon, &scratch, (plan->count + 1) * sizeof *keys) : NULL;
    size_t count = 0;
    napi_value result = NULL;
    if (!keys)
        goto out;
    for (uint32_t index = 0; index < plan->count && index + 2 < given; index++) {
        napi_valuetype type;
        const struct slot* slot = &realm->state->slots[plan->slots[index]];
        bool is_primary = (int)index == plan->primary;
        if (!good(addon, napi_typeof(env, argument[index + 2], &type)))
            goto out;
        if (type == napi_undefined)
            continue;
        if (!value_from_js(addon, &scratch, argument[index + 2], slot->type, is_primary ? &primary : &values[count]))
            goto out;
        if (!is_primary)
            keys[count++] = slot->property;
    }
    realm_link_t link;
    bool done = crealm.crealm_create(realm->pointer, plan->class_key, plan->primary < 0 ? NULL : &primary,
                                     CREALM_UPDATE_ERROR, count, keys, values, &link, NULL);
    result = done ? integer_to_js(addon, link.target) : throw_last_error(addon);
out:
    scratch_end(&scratch);
    return result;
}

/* find(realm, slot, value): the key of the object with this primary key, or null. */
static napi_value find(napi_env env, napi_callback_info info) {
    napi_value argument[3];
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    const struct slot* slot = realm ? slot_argument(addon, realm, argument[1]) : NULL;
    if (!slot)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    realm_value_t value;
    napi_value result = NULL;
    if (value_from_js(addon, &scratch, argument[2], slot->type, &value)) {
        bool found = false;
        realm_object_t* object =
            crealm.realm_object_find_with_primary_key(realm->pointer, slot->class_key, value, &found);
        if (object) {
            realm_object_key_t key = crealm.realm_object_get_key(object);
            cache_put(addon, realm->state, slot->class_key, key, object);
            result = integer_to_js(addon, key);
        } else {
            // NULL is no error when the object does not exist: the call of the count tells the two apart.
            size_t count;
            result = crealm.realm_get_num_objects(realm->pointer, slot->class_key, &count) ? null_to_js(addon)
                                                                                          : throw_last_error(addon);
        }
    }
    scratch_end(&scratch);
    return result;
}

/* get(realm, key, slot): the value of a property. */
static napi_value get(napi_env env, napi_callback_info info) {
    napi_value argument[3];
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    const struct slot* slot = realm ? slot_argument(addon, realm, argument[2]) : NULL;
    realm_object_key_t key;
    if (!slot || !key_argument(addon, argument[1], &key))
        return NULL;
    realm_object_t* object = object_of(addon, realm, slot->class_key, key);
    realm_value_t value;
    if (!object)
        return NULL;
    if (!crealm.realm_get_value(object, slot->property, &value))
        return throw_last_error(addon);
    return value_to_js(addon, &value);
}

/* set(realm, key, slot, value) */
static napi_value set(napi_env env, napi_callback_info info) {
    napi_value argument[4];
    struct addon* addon = arguments(env, info, 4, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    const struct slot* slot = realm ? slot_argument(addon, realm, argument[2]) : NULL;
    realm_object_key_t key;
    if (!slot || !key_argument(addon, argument[1], &key))
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    realm_value_t value;
    if (value_from_js(addon, &scratch, argument[3], slot->type, &value)) {
        realm_object_t* object = object_of(addon, realm, slot->class_key, key);
        if (object && !crealm.realm_set_value(object, slot->property, value, false))
            throw_last_error(addon);
    }
    scratch_end(&scratch);
    return NULL;
}

/* object(realm, classKey, key): a handle, for calls that need one. */
static napi_value object(napi_env env, napi_callback_info info) {
    napi_value argument[3];
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    uint64_t class_key;
    realm_object_key_t key;
    if (!realm || !unsigned_argument(addon, argument[1], 0x7fffffff, &class_key)
        || !key_argument(addon, argument[2], &key))
        return NULL;
    realm_object_t* found = crealm.realm_get_object(realm->pointer, (realm_class_key_t)class_key, key);
    return found ? handle_new(addon, KIND_OBJECT, found, false) : throw_last_error(addon);
}

/* exists(realm, classKey, key): false also when the realm is closed. */
static napi_value exists(napi_env env, napi_callback_info info) {
    napi_value argument[3];
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    uint64_t class_key;
    realm_object_key_t key;
    if (!realm || !unsigned_argument(addon, argument[1], 0x7fffffff, &class_key)
        || !key_argument(addon, argument[2], &key))
        return NULL;
    realm_object_t* found = crealm.realm_get_object(realm->pointer, (realm_class_key_t)class_key, key);
    bool valid = found && crealm.realm_object_is_valid(found);
    release_later(addon, found);
    return boolean_to_js(addon, valid);
}

/* remove(realm, classKey, key): deletes an object. */
static napi_value remove_object(napi_env env, napi_callback_info info) {
    napi_value argument[3];
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    uint64_t class_key;
    realm_object_key_t key;
    if (!realm || !unsigned_argument(addon, argument[1], 0x7fffffff, &class_key)
        || !key_argument(addon, argument[2], &key))
        return NULL;
    realm_object_t* found = object_of(addon, realm, (realm_class_key_t)class_key, key);
    if (found && !crealm.realm_object_delete(found))
        throw_last_error(addon);
    return NULL;
}

/* objectKey(object): [class key, object key] of a handle, which is released. */
static napi_value object_key(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    struct handle* entry = addon ? handle_find(addon, argument[0], KIND_OBJECT) : NULL;
    if (!entry)
        return NULL;
    realm_link_t link = crealm.realm_object_as_link(entry->pointer);
    handle_release(addon, entry);
    napi_value class_key = number_to_js(addon, link.target_table), key = integer_to_js(addon, link.target);
    if (!class_key || !key || !good(addon, napi_create_array_with_length(env, 2, &result)) ||
        !good(addon, napi_set_element(env, result, 0, class_key)) ||
        !good(addon, napi_set_element(env, result, 1, key)))
        return NULL;
    return result;
}

/* forget(realm): empties the cache of objects, after a rollback and before a close. */
static napi_value forget(napi_env env, napi_callback_info info) {
    napi_value argument[1];
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    if (realm)
        cache_clear(addon, realm->state);
    return NULL;
}

/* Pages */

#define MOST_ROWS 4096

/* The Float64Array of an argument, or NULL for another value. */
static double* numbers_argument(struct addon* addon, napi_value value, size_t rows) {
    bool is = false;
    napi_typedarray_type type;
    size_t length;
    void* data = NULL;
    if (napi_is_typedarray(addon->env, value, &is) != napi_ok || !is
        || napi_get_typedarray_info(addon->env, value, &type, &length, &data, NULL, NULL) != napi_ok
        || type != napi_float64_array || length < rows)
        return NULL;
    return data;
}

static bool page_arguments(struct addon* addon, napi_value* argument, void** results, uint64_t* first,
                           uint64_t* count) {
    if (!addon || !handle_argument(addon, argument[0], KIND_RESULTS, false, results)
        || !unsigned_argument(addon, argument[1], SIZE_MAX, first)
        || !unsigned_argument(addon, argument[2], SIZE_MAX, count))
        return false;
    *count = *count > MOST_ROWS ? MOST_ROWS : *count;
    return true;
}

/* pageKeys(results, first, count, keys): writes the keys of the rows' objects into a Float64Array, NaN for a row
 * without an object. Returns the number of rows, or -1 when a key needs more than 53 bits. */
static napi_value page_keys(napi_env env, napi_callback_info info) {
    napi_value argument[4];
    struct addon* addon = arguments(env, info, 4, argument, NULL);
    void* results;
    uint64_t first, count;
    if (!page_arguments(addon, argument, &results, &first, &count))
        return NULL;
    double* keys = numbers_argument(addon, argument[3], count);
    if (!keys)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A Float64Array for the keys is needed");
    realm_link_t* links = malloc((count + 1) * sizeof *links);
    if (!links)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a page");
    size_t rows = 0;
    bool large = false;
    enter(addon);
    bool done = crealm.crealm_results_fetch(results, first, count, NULL, 0, NULL, links, &rows);
    leave(addon);
    for (size_t row = 0; done && row < rows; row++) {
        int64_t key = links[row].target;
        large |= key > 9007199254740991;
        keys[row] = key < 0 ? __builtin_nan("") : (double)key;
    }
    free(links);
    return done ? number_to_js(addon, large ? -1 : (double)rows) : throw_last_error(addon);
}

/* indexOf(results, value): the first row that is equal to a value, or -1. */
static napi_value index_of(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    void* results;
    if (!addon || !handle_argument(addon, argument[0], KIND_RESULTS, false, &results))
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    realm_value_t value;
    if (value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &value)) {
        size_t index = 0;
        bool found = false;
        enter(addon);
        bool done = crealm.realm_results_find(results, &value, &index, &found);
        leave(addon);
        result = done ? number_to_js(addon, found ? (double)index : -1) : throw_last_error(addon);
    }
    scratch_end(&scratch);
    return result;
}

/* pageColumn(results, first, count, realm, slot, numbers): the values of one property in some rows. Numbers and
 * booleans go into the Float64Array, if there is one and each is exact as a double: the result is their number. Else
 * the result is an array of the values. */
static napi_value page_column(napi_env env, napi_callback_info info) {
    napi_value argument[6], result = NULL;
    struct addon* addon = arguments(env, info, 6, argument, NULL);
    void* results;
    uint64_t first, count;
    if (!page_arguments(addon, argument, &results, &first, &count))
        return NULL;
    struct handle* realm = handle_find(addon, argument[3], KIND_REALM);
    const struct slot* slot = realm ? slot_argument(addon, realm, argument[4]) : NULL;
    if (!slot)
        return NULL;
    double* numbers = numbers_argument(addon, argument[5], count);
    realm_value_t* values = malloc((count + 1) * sizeof *values);
    if (!values)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a page");
    size_t rows = 0, row = 0;
    enter(addon);
    bool done = crealm.crealm_results_fetch(results, first, count, &slot->property, 1, values, NULL, &rows);
    leave(addon);
    if (!done) {
        free(values);
        return throw_last_error(addon);
    }
    for (; numbers && row < rows; row++) {
        const realm_value_t* value = &values[row];
        if (value->type == RLM_TYPE_DOUBLE)
            numbers[row] = value->dnum;
        else if (value->type == RLM_TYPE_FLOAT)
            numbers[row] = (double)value->fnum;
        else if (value->type == RLM_TYPE_BOOL)
            numbers[row] = value->boolean;
        else if (value->type == RLM_TYPE_INT && value->integer >= -9007199254740991 &&
                 value->integer <= 9007199254740991)
            numbers[row] = (double)value->integer;
        else
            break;
    }
    if (numbers && row == rows) {
        result = number_to_js(addon, (double)rows);
    } else if (good(addon, napi_create_array_with_length(env, rows, &result))) {
        for (row = 0; row < rows; row++) {
            napi_value item = value_to_js(addon, &values[row]);
            if (!item || !good(addon, napi_set_element(env, result, (uint32_t)row, item))) {
                result = NULL;
                break;
            }
        }
    }
    free(values);
    return result;
}

/* pageTexts(results, first, count, realm, slot, ends): the texts of a property in some rows, one after the other, in
 * one string; writes where each ends into a Float64Array. Returns null when a text is null or not ASCII, or the page
 * is long: then use pageColumn(). */
static napi_value page_texts(napi_env env, napi_callback_info info) {
    napi_value argument[6], result = NULL;
    struct addon* addon = arguments(env, info, 6, argument, NULL);
    void* results;
    uint64_t first, count;
    if (!page_arguments(addon, argument, &results, &first, &count))
        return NULL;
    struct handle* realm = handle_find(addon, argument[3], KIND_REALM);
    const struct slot* slot = realm ? slot_argument(addon, realm, argument[4]) : NULL;
    double* ends = slot ? numbers_argument(addon, argument[5], count) : NULL;
    if (!slot)
        return NULL;
    if (!ends)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A Float64Array for the ends is needed");
    realm_value_t* values = malloc((count + 1) * sizeof *values);
    if (!values)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a page");
    size_t rows = 0, total = 0;
    enter(addon);
    bool done = crealm.crealm_results_fetch(results, first, count, &slot->property, 1, values, NULL, &rows);
    leave(addon);
    bool fits = done;
    for (size_t row = 0; fits && row < rows; row++) {
        fits = values[row].type == RLM_TYPE_STRING && values[row].string.data && values[row].string.size < 4096;
        total += fits ? values[row].string.size : 0;
        ends[row] = (double)total;
    }
    char* text = fits && total < 65536 ? malloc(total + 1) : NULL;
    if (text) {
        uint8_t all = 0;
        for (size_t row = 0, at = 0; row < rows; at += values[row].string.size, row++)
            memcpy(text + at, values[row].string.data, values[row].string.size);
        for (size_t at = 0; at < total; at++)
            all |= (uint8_t)text[at];
        if (all < 0x80 && !good(addon, napi_create_string_latin1(env, text, total, &result)))
            result = NULL;
        free(text);
    }
    free(values);
    if (!done)
        return throw_last_error(addon);
    return result ? result : null_to_js(addon);
}

/* pageValues(results, first, count): the rows as values, objects as links. */
static napi_value page_values(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    void* results;
    uint64_t first, count;
    if (!page_arguments(addon, argument, &results, &first, &count))
        return NULL;
    size_t total = 0;
    enter(addon);
    bool done = crealm.realm_results_count(results, &total);
    leave(addon);
    if (!done)
        return throw_last_error(addon);
    size_t rows = first >= total ? 0 : total - first < count ? total - first : count;
    if (!good(addon, napi_create_array_with_length(env, rows, &result)))
        return NULL;
    for (size_t row = 0; row < rows; row++) {
        realm_value_t value;
        if (!crealm.realm_results_get(results, first + row, &value))
            return throw_last_error(addon);
        napi_value item = value_to_js(addon, &value);
        if (!item || !good(addon, napi_set_element(env, result, (uint32_t)row, item)))
            return NULL;
    }
    return result;
}

/* column(results, realm, slot, numbers, valid, first): fills a typed array, BigInt64Array, Float64Array, Float32Array
 * or Uint8Array, with a property of as many rows as it has, beginning at a row; `valid` is a Uint8Array that becomes 0
 * for nulls. Returns how many rows were filled, at most 4096. */
static napi_value column(napi_env env, napi_callback_info info) {
    napi_value argument[6];
    struct addon* addon = arguments(env, info, 6, argument, NULL);
    void *results, *data = NULL, *flags = NULL;
    uint64_t first;
    napi_typedarray_type type = 0, flags_type = 0;
    size_t length = 0, flags_length = 0;
    if (!addon || !handle_argument(addon, argument[0], KIND_RESULTS, false, &results)
        || !unsigned_argument(addon, argument[5], SIZE_MAX, &first))
        return NULL;
    struct handle* realm = handle_find(addon, argument[1], KIND_REALM);
    const struct slot* slot = realm ? slot_argument(addon, realm, argument[2]) : NULL;
    bool is = false, is_flags = false;
    if (!slot)
        return NULL;
    if (napi_is_typedarray(env, argument[3], &is) != napi_ok || !is
        || napi_is_typedarray(env, argument[4], &is_flags) != napi_ok || !is_flags
        || !good(addon, napi_get_typedarray_info(env, argument[3], &type, &length, &data, NULL, NULL))
        || !good(addon, napi_get_typedarray_info(env, argument[4], &flags_type, &flags_length, &flags, NULL, NULL))
        || flags_type != napi_uint8_array || flags_length < length)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "Two typed arrays are needed");
    size_t rows = 0, rest = first < length ? length - first : 0;
    rest = rest > MOST_ROWS ? MOST_ROWS : rest;
    realm_value_t* values = malloc((rest + 1) * sizeof *values);
    if (!values)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a page");
    enter(addon);
    bool done = crealm.crealm_results_fetch(results, first, rest, &slot->property, 1, values, NULL, &rows);
    leave(addon);
    for (size_t row = 0; done && row < rows; row++) {
        const realm_value_t* value = &values[row];
        size_t at = first + row;
        ((uint8_t*)flags)[at] = value->type != RLM_TYPE_NULL;
        int64_t whole = value->type == RLM_TYPE_INT    ? value->integer
                        : value->type == RLM_TYPE_BOOL ? value->boolean
                                                       : 0;
        double number = value->type == RLM_TYPE_DOUBLE  ? value->dnum
                        : value->type == RLM_TYPE_FLOAT ? (double)value->fnum
                        : value->type == RLM_TYPE_TIMESTAMP
                            ? (double)value->timestamp.seconds * 1000.0 + (double)value->timestamp.nanoseconds / 1e6
                        : value->type == RLM_TYPE_NULL ? __builtin_nan("")
                                                       : (double)whole;
        if (type == napi_bigint64_array)
            ((int64_t*)data)[at] = whole;
        else if (type == napi_float64_array)
            ((double*)data)[at] = number;
        else if (type == napi_float32_array)
            ((float*)data)[at] = (float)number;
        else if (type == napi_uint8_array)
            ((uint8_t*)data)[at] = whole != 0;
    }
    free(values);
    return done ? number_to_js(addon, (double)rows) : throw_last_error(addon);
}

const struct function object_functions[] = {
    {"addSlot", add_slot},
    {"addPlan", add_plan},
    {"create", create},
    {"find", find},
    {"get", get},
    {"set", set},
    {"object", object},
    {"exists", exists},
    {"remove", remove_object},
    {"objectKey", object_key},
    {"forget", forget},
    {"pageKeys", page_keys},
    {"indexOf", index_of},
    {"pageColumn", page_column},
    {"pageTexts", page_texts},
    {"pageValues", page_values},
    {"column", column},
};
const size_t object_function_count = COUNT_OF(object_functions);
