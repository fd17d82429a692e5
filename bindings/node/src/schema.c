/*
 * schema.c - schemas, queries with arguments, keys of files: calls with structs, which are written by hand.
 */

#include <stdlib.h>
#include <string.h>

#include "addon.h"

/* An element of an array, as a text that stays in the scratch memory. */
static bool text_element(struct addon* addon, struct scratch* scratch, napi_value array, uint32_t index,
                         const char** out) {
    napi_value item;
    return good(addon, napi_get_element(addon->env, array, index, &item)) &&
           text_argument(addon, scratch, item, false, out);
}

static bool number_element(struct addon* addon, napi_value array, uint32_t index, int64_t* out) {
    napi_value item;
    return good(addon, napi_get_element(addon->env, array, index, &item)) && integer_argument(addon, item, out);
}

static bool length_of(struct addon* addon, napi_value array, uint32_t* out) {
    bool is = false;
    if (!good(addon, napi_is_array(addon->env, array, &is)))
        return false;
    if (!is) {
        throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "An array is needed");
        return false;
    }
    return good(addon, napi_get_array_length(addon->env, array, out));
}

static bool read_property(struct addon* addon, struct scratch* scratch, napi_value js, realm_property_info_t* out) {
    int64_t type, collection, flags;
    if (!text_element(addon, scratch, js, 0, &out->name) || !text_element(addon, scratch, js, 1, &out->public_name) ||
        !number_element(addon, js, 2, &type) || !number_element(addon, js, 3, &collection) ||
        !text_element(addon, scratch, js, 4, &out->link_target) ||
        !text_element(addon, scratch, js, 5, &out->link_origin_property_name) || !number_element(addon, js, 6, &flags))
        return false;
    out->type = (realm_property_type_e)type;
    out->collection_type = (realm_collection_type_e)collection;
    out->key = RLM_INVALID_PROPERTY_KEY;
    out->flags = (int)flags;
    return true;
}

/* newSchema(classes): a class is [name, primary key, flags, [stored property…], [computed property…]], a property
 * [name, public name, type, collection, target, origin, flags]. */
static napi_value new_schema(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    uint32_t count;
    if (!addon || !length_of(addon, argument[0], &count))
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    realm_class_info_t* classes = scratch_take(addon, &scratch, ((size_t)count + 1) * sizeof *classes);
    const realm_property_info_t** lists =
        classes ? scratch_take(addon, &scratch, ((size_t)count + 1) * sizeof *lists) : NULL;
    if (!lists)
        goto out;
    for (uint32_t index = 0; index < count; index++) {
        napi_value one, stored, computed;
        int64_t flags;
        uint32_t stored_count, computed_count;
        if (!good(addon, napi_get_element(env, argument[0], index, &one)) ||
            !text_element(addon, &scratch, one, 0, &classes[index].name) ||
            !text_element(addon, &scratch, one, 1, &classes[index].primary_key) ||
            !number_element(addon, one, 2, &flags) || !good(addon, napi_get_element(env, one, 3, &stored)) ||
            !good(addon, napi_get_element(env, one, 4, &computed)) || !length_of(addon, stored, &stored_count) ||
            !length_of(addon, computed, &computed_count))
            goto out;
        classes[index].num_properties = stored_count;
        classes[index].num_computed_properties = computed_count;
        classes[index].key = RLM_INVALID_CLASS_KEY;
        classes[index].flags = (int)flags;
        size_t total = (size_t)stored_count + computed_count;
        realm_property_info_t* properties = scratch_take(addon, &scratch, (total + 1) * sizeof *properties);
        if (!properties)
            goto out;
        for (size_t place = 0; place < total; place++) {
            bool is_stored = place < stored_count;
            napi_value property;
            uint32_t at = (uint32_t)(is_stored ? place : place - stored_count);
            if (!good(addon, napi_get_element(env, is_stored ? stored : computed, at, &property))
                || !read_property(addon, &scratch, property, &properties[place]))
                goto out;
        }
        lists[index] = properties;
    }
    realm_schema_t* schema = crealm.realm_schema_new(classes, count, lists);
    result = schema ? handle_new(addon, KIND_SCHEMA, schema, false) : throw_last_error(addon);
out:
    scratch_end(&scratch);
    return result;
}

/* classes(realm): an array of classes, each with `properties`. */
static napi_value classes(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    struct handle* realm = addon ? handle_find(addon, argument[0], KIND_REALM) : NULL;
    if (!realm)
        return NULL;
    size_t count = crealm.realm_get_num_classes(realm->pointer), given = 0;
    realm_class_key_t* keys = malloc((count + 1) * sizeof *keys);
    realm_property_info_t* properties = NULL;
    if (!keys)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for classes");
    if (!crealm.realm_get_class_keys(realm->pointer, keys, count, &given)) {
        throw_last_error(addon);
        goto out;
    }
    napi_value made = NULL;
    given = given > count ? count : given;
    if (!good(addon, napi_create_array_with_length(env, given, &made)))
        goto out;
    for (size_t index = 0; index < given; index++) {
        realm_class_info_t class_info;
        napi_value one, list = NULL;
        size_t total, found = 0;
        if (!crealm.realm_get_class(realm->pointer, keys[index], &class_info)) {
            throw_last_error(addon);
            goto out;
        }
        total = class_info.num_properties + class_info.num_computed_properties;
        free(properties);
        properties = calloc(total + 1, sizeof *properties);
        if (!properties) {
            throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for properties");
            goto out;
        }
        if (!crealm.realm_get_class_properties(realm->pointer, keys[index], properties, total, &found)) {
            throw_last_error(addon);
            goto out;
        }
        found = found > total ? total : found;
        one = class_info_to_js(addon, &class_info);
        if (!one || !good(addon, napi_create_array_with_length(env, found, &list))
            || !good(addon, napi_set_named_property(env, one, "properties", list))
            || !good(addon, napi_set_element(env, made, (uint32_t)index, one)))
            goto out;
        for (size_t place = 0; place < found; place++) {
            napi_value property = property_info_to_js(addon, &properties[place]);
            if (!property || !good(addon, napi_set_element(env, list, (uint32_t)place, property)))
                goto out;
        }
    }
    result = made;
out:
    free(properties);
    free(keys);
    return result;
}

/* setKey(config, bytes): the encryption key. */
static napi_value set_key(napi_env env, napi_callback_info info) {
    napi_value argument[2];
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    void *config, *bytes;
    size_t size;
    if (!addon || !handle_argument(addon, argument[0], KIND_CONFIG, false, &config)
        || !bytes_argument(addon, argument[1], &bytes, &size))
        return NULL;
    if (size == 0)
        return throw_error(addon, RLM_ERR_INVALID_ENCRYPTION_KEY, "The encryption key must have 64 bytes");
    if (!crealm.realm_config_set_encryption_key(config, bytes, size))
        throw_last_error(addon);
    return NULL;
}

/* setPassphrase(config, text) */
static napi_value set_passphrase(napi_env env, napi_callback_info info) {
    napi_value argument[2];
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    void* config;
    if (!addon || !handle_argument(addon, argument[0], KIND_CONFIG, false, &config))
        return NULL;
    struct scratch scratch;
    realm_value_t text;
    scratch_begin(&scratch);
    if (value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_STRING, &text)) {
        if (text.type != RLM_TYPE_STRING)
            throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "The passphrase is not a string");
        else if (!crealm.crealm_config_set_passphrase(config, text.string.data, text.string.size, 0, 0))
            throw_last_error(addon);
    }
    scratch_end(&scratch);
    return NULL;
}

/* parse(kind, target, classKey, text, arguments): a query on a class (0: the target is the realm), on a list (1), a
 * set (2), results (3), or another query and this one (4). An argument is a value, or {list: [value…]}. */
static napi_value parse(napi_env env, napi_callback_info info) {
    static const enum kind kinds[] = {KIND_REALM, KIND_LIST, KIND_SET, KIND_RESULTS, KIND_QUERY};
    napi_value argument[5], result = NULL;
    struct addon* addon = arguments(env, info, 5, argument, NULL);
    uint64_t kind, class_key;
    uint32_t count;
    void* target;
    if (!addon || !unsigned_argument(addon, argument[0], COUNT_OF(kinds) - 1, &kind)
        || !handle_argument(addon, argument[1], kinds[kind], false, &target)
        || !unsigned_argument(addon, argument[2], UINT32_MAX, &class_key) || !length_of(addon, argument[4], &count))
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    const char* text;
    realm_query_t* query = NULL;
    realm_query_arg_t* args = scratch_take(addon, &scratch, ((size_t)count + 1) * sizeof *args);
    if (!args || !text_argument(addon, &scratch, argument[3], false, &text))
        goto out;
    for (uint32_t index = 0; index < count; index++) {
        napi_value item, list;
        napi_valuetype type;
        uint32_t items = 1;
        bool is_list = false, plain = false;
        if (!good(addon, napi_get_element(env, argument[4], index, &item)) ||
            !good(addon, napi_typeof(env, item, &type)))
            goto out;
        if (type == napi_object && napi_is_array(env, item, &plain) == napi_ok && !plain) {
            if (!good(addon, napi_has_named_property(env, item, "list", &is_list)))
                goto out;
            if (is_list
                && (!good(addon, napi_get_named_property(env, item, "list", &list)) || !length_of(addon, list, &items)))
                goto out;
        }
        args[index].nb_args = items;
        args[index].is_list = is_list;
        args[index].arg = scratch_take(addon, &scratch, ((size_t)items + 1) * sizeof *args[index].arg);
        if (!args[index].arg)
            goto out;
        for (uint32_t place = 0; place < items; place++) {
            napi_value one = item;
            if ((is_list && !good(addon, napi_get_element(env, list, place, &one)))
                || !value_from_js(addon, &scratch, one, RLM_PROPERTY_TYPE_MIXED, &args[index].arg[place]))
                goto out;
        }
    }
    enter(addon);
    switch (kind) {
    case 0:
        query = crealm.realm_query_parse(target, (realm_class_key_t)class_key, text, count, args);
        break;
    case 1:
        query = crealm.realm_query_parse_for_list(target, text, count, args);
        break;
    case 2:
        query = crealm.realm_query_parse_for_set(target, text, count, args);
        break;
    case 3:
        query = crealm.realm_query_parse_for_results(target, text, count, args);
        break;
    default:
        query = crealm.realm_query_append_query(target, text, count, args);
    }
    leave(addon);
    result = query ? handle_new(addon, KIND_QUERY, query, false) : throw_last_error(addon);
out:
    scratch_end(&scratch);
    return result;
}

/* release(handle): gives a handle back. A number that is no handle is no error: the realm may have ended. */
static napi_value release(napi_env env, napi_callback_info info) {
    napi_value argument[1];
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    struct handle* entry = addon ? handle_find(addon, argument[0], KIND_ANY) : NULL;
    if (!entry)
        return NULL;
    if (entry->borrowed)
        return throw_error(addon, RLM_ERR_ILLEGAL_OPERATION, "The handle belongs to the callback");
    handle_release(addon, entry);
    return NULL;
}

/* equals(handle, handle) */
static napi_value equals(napi_env env, napi_callback_info info) {
    napi_value argument[2];
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    void *first, *second;
    if (!addon || !handle_argument(addon, argument[0], KIND_ANY, false, &first)
        || !handle_argument(addon, argument[1], KIND_ANY, false, &second))
        return NULL;
    return boolean_to_js(addon, crealm.realm_equals(first, second));
}

const struct function schema_functions[] = {
    {"newSchema", new_schema}, {"classes", classes},   {"setKey", set_key}, {"setPassphrase", set_passphrase},
    {"parse", parse},          {"release", release}, {"equals", equals},
};
const size_t schema_function_count = COUNT_OF(schema_functions);
