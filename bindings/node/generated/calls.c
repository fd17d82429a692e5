/* Made by Scripts/bindings.py from include/api.json; do not edit. */

#include <string.h>

#include "../src/addon.h"

static napi_value owned_text(struct addon* addon, char* text) {
    napi_value result = cstring_to_js(addon, text);
    crealm.realm_free(text);
    return result;
}

static napi_value several(struct addon* addon, size_t count, napi_value* items) {
    napi_value result = NULL;
    if (!good(addon, napi_create_array_with_length(addon->env, count, &result)))
        return NULL;
    for (size_t index = 0; index < count; index++)
        if (!items[index] || !good(addon, napi_set_element(addon->env, result, (uint32_t)index, items[index])))
            return NULL;
    return result;
}

static napi_value call_realm_get_library_version(napi_env env, napi_callback_info info) {
    napi_value result = NULL;
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    if (!addon)
        return NULL;
    enter(addon);
    const char* text = crealm.realm_get_library_version();
    leave(addon);
    result = cstring_to_js(addon, text);
    return result;
}

static napi_value call_realm_get_version_id(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    realm_version_id_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_get_version_id(p0, &p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        boolean_to_js(addon, p1),
        version_id_to_js(addon, &p2),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_get_num_versions(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_get_num_versions(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_realm_clear_last_error(napi_env env, napi_callback_info info) {
    napi_value result = NULL;
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    if (!addon)
        return NULL;
    enter(addon);
    bool done = crealm.realm_clear_last_error();
    leave(addon);
    result = boolean_to_js(addon, done);
    return result;
}

static napi_value call_realm_get_last_error_as_async_error(napi_env env, napi_callback_info info) {
    napi_value result = NULL;
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    if (!addon)
        return NULL;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_async_error_t* made = crealm.realm_get_last_error_as_async_error();
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    result = made ? handle_new(addon, KIND_ASYNC_ERROR, made, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_set_log_level(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    int64_t p0 = 0;
    if (!integer_argument(addon, argument[0], &p0))
        goto out;
    enter(addon);
    crealm.realm_set_log_level((realm_log_level_e)p0);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_set_log_level_category(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    const char* p0 = NULL;
    int64_t p1 = 0;
    if (!text_argument(addon, &scratch, argument[0], false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_set_log_level_category(p0, (realm_log_level_e)p1);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_get_log_level_category(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    const char* p0 = NULL;
    if (!text_argument(addon, &scratch, argument[0], false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_get_log_level_category(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_config_new(napi_env env, napi_callback_info info) {
    napi_value result = NULL;
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    if (!addon)
        return NULL;
    enter(addon);
    realm_config_t* made = crealm.realm_config_new();
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_CONFIG, made, false);
out:
    return result;
}

static napi_value call_realm_config_get_path(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    const char* text = crealm.realm_config_get_path(p0);
    leave(addon);
    result = cstring_to_js(addon, text);
out:
    return result;
}

static napi_value call_realm_config_set_path(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_path(p0, p1);
    leave(addon);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_config_get_encryption_key(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint8_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_config_get_encryption_key(p0, &p1);
    leave(addon);
    napi_value items[2] = {
        integer_to_js(addon, number),
        integer_to_js(addon, (int64_t)p1),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_config_get_schema(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_schema_t* made = crealm.realm_config_get_schema(p0);
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    result = made ? handle_new(addon, KIND_SCHEMA, made, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_config_set_schema(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_SCHEMA, true, &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_schema(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_schema_version(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    uint64_t number = crealm.realm_config_get_schema_version(p0);
    leave(addon);
    result = number == UINT64_MAX ? null_to_js(addon) : integer_to_js(addon, (int64_t)number);
out:
    return result;
}

static napi_value call_realm_config_set_schema_version(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT64_MAX, &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_schema_version(p0, (uint64_t)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_schema_mode(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_config_get_schema_mode(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_realm_config_set_schema_mode(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_schema_mode(p0, (realm_schema_mode_e)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_schema_subset_mode(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_config_get_schema_subset_mode(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_realm_config_set_schema_subset_mode(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_schema_subset_mode(p0, (realm_schema_subset_mode_e)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_disable_format_upgrade(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_config_get_disable_format_upgrade(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_config_needs_file_format_upgrade(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_config_needs_file_format_upgrade(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_config_set_disable_format_upgrade(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_disable_format_upgrade(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_automatic_change_notifications(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_config_get_automatic_change_notifications(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_config_set_automatic_change_notifications(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_automatic_change_notifications(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_set_scheduler(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_SCHEDULER, true, &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_scheduler(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_force_sync_history(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_config_get_force_sync_history(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_config_set_force_sync_history(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_force_sync_history(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_max_number_of_active_versions(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    uint64_t number = crealm.realm_config_get_max_number_of_active_versions(p0);
    leave(addon);
    result = number == UINT64_MAX ? null_to_js(addon) : integer_to_js(addon, (int64_t)number);
out:
    return result;
}

static napi_value call_realm_config_set_max_number_of_active_versions(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT64_MAX, &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_max_number_of_active_versions(p0, (uint64_t)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_set_in_memory(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_in_memory(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_in_memory(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_config_get_in_memory(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_config_set_fifo_path(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_fifo_path(p0, p1);
    leave(addon);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_config_get_fifo_path(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    const char* text = crealm.realm_config_get_fifo_path(p0);
    leave(addon);
    result = cstring_to_js(addon, text);
out:
    return result;
}

static napi_value call_realm_config_set_cached(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_cached(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_config_get_cached(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_config_get_cached(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_config_set_automatic_backlink_handling(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_config_set_automatic_backlink_handling(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_realm_scheduler_make_default(napi_env env, napi_callback_info info) {
    napi_value result = NULL;
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    if (!addon)
        return NULL;
    enter(addon);
    realm_scheduler_t* made = crealm.realm_scheduler_make_default();
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_SCHEDULER, made, false);
out:
    return result;
}

static napi_value call_realm_open(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    realm_t* made = crealm.realm_open(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_REALM, made, false);
out:
    return result;
}

static napi_value call_realm_delete_files(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    const char* p0 = NULL;
    bool p1 = false;
    if (!text_argument(addon, &scratch, argument[0], false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_delete_files(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p1);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_compact(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_compact(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p1);
out:
    return result;
}

static napi_value call_realm_convert_with_config(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_CONFIG, false, &p1))
        goto out;
    if (!boolean_argument(addon, argument[2], &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_convert_with_config(p0, p1, p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_close(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_close(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_realm_is_closed(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_is_closed(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_realm_begin_read(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_begin_read(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_begin_write(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_begin_write(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_is_writable(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_is_writable(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_realm_commit(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_commit(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_async_cancel(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_async_cancel(p0, (unsigned int)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p2);
out:
    return result;
}

static napi_value call_realm_rollback(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_rollback(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_refresh(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_refresh(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p1);
out:
    return result;
}

static napi_value call_realm_remove_table(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_remove_table(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p2);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_freeze(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    realm_t* made = crealm.realm_freeze(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_REALM, made, false);
out:
    return result;
}

static napi_value call_realm_from_thread_safe_reference(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REFERENCE, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_SCHEDULER, true, &p1))
        goto out;
    enter(addon);
    realm_t* made = crealm.realm_from_thread_safe_reference(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_REALM, made, false);
out:
    return result;
}

static napi_value call_realm_object_from_thread_safe_reference(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REFERENCE, false, &p1))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_object_from_thread_safe_reference(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    return result;
}

static napi_value call_realm_list_from_thread_safe_reference(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REFERENCE, false, &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_list_from_thread_safe_reference(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    return result;
}

static napi_value call_realm_set_from_thread_safe_reference(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REFERENCE, false, &p1))
        goto out;
    enter(addon);
    realm_set_t* made = crealm.realm_set_from_thread_safe_reference(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_SET, made, false);
out:
    return result;
}

static napi_value call_realm_dictionary_from_thread_safe_reference(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REFERENCE, false, &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_dictionary_from_thread_safe_reference(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    return result;
}

static napi_value call_realm_results_from_thread_safe_reference(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REFERENCE, false, &p1))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_results_from_thread_safe_reference(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_get_schema(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    realm_schema_t* made = crealm.realm_get_schema(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_SCHEMA, made, false);
out:
    return result;
}

static napi_value call_realm_get_schema_version(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    uint64_t number = crealm.realm_get_schema_version(p0);
    leave(addon);
    result = number == UINT64_MAX ? null_to_js(addon) : integer_to_js(addon, (int64_t)number);
out:
    return result;
}

static napi_value call_realm_get_persisted_schema_version(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    uint64_t number = crealm.realm_get_persisted_schema_version(p0);
    leave(addon);
    result = number == UINT64_MAX ? null_to_js(addon) : integer_to_js(addon, (int64_t)number);
out:
    return result;
}

static napi_value call_realm_update_schema(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_SCHEMA, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_update_schema(p0, p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_schema_rename_property(napi_env env, napi_callback_info info) {
    napi_value argument[5], result = NULL;
    struct addon* addon = arguments(env, info, 5, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    void* p1 = NULL;
    const char* p2 = NULL;
    const char* p3 = NULL;
    const char* p4 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_SCHEMA, false, &p1))
        goto out;
    if (!text_argument(addon, &scratch, argument[2], false, &p2))
        goto out;
    if (!text_argument(addon, &scratch, argument[3], false, &p3))
        goto out;
    if (!text_argument(addon, &scratch, argument[4], false, &p4))
        goto out;
    enter(addon);
    bool done = crealm.realm_schema_rename_property(p0, p1, p2, p3, p4);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_schema_validate(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_SCHEMA, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT64_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_schema_validate(p0, (uint64_t)p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_get_num_classes(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_get_num_classes(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_realm_find_class(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    bool p2 = false;
    realm_class_info_t p3;
    memset(&p3, 0, sizeof p3);
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_find_class(p0, p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        boolean_to_js(addon, p2),
        class_info_to_js(addon, &p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_get_class(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_class_info_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_get_class(p0, (realm_class_key_t)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = class_info_to_js(addon, &p2);
out:
    return result;
}

static napi_value call_realm_get_property(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    int64_t p2 = 0;
    realm_property_info_t p3;
    memset(&p3, 0, sizeof p3);
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!integer_argument(addon, argument[2], &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_get_property(p0, (realm_class_key_t)p1, (realm_property_key_t)p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = property_info_to_js(addon, &p3);
out:
    return result;
}

static napi_value call_realm_find_property(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    const char* p2 = NULL;
    bool p3 = false;
    realm_property_info_t p4;
    memset(&p4, 0, sizeof p4);
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!text_argument(addon, &scratch, argument[2], false, &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_find_property(p0, (realm_class_key_t)p1, p2, &p3, &p4);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        boolean_to_js(addon, p3),
        property_info_to_js(addon, &p4),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_find_property_by_public_name(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    const char* p2 = NULL;
    bool p3 = false;
    realm_property_info_t p4;
    memset(&p4, 0, sizeof p4);
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!text_argument(addon, &scratch, argument[2], false, &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_find_property_by_public_name(p0, (realm_class_key_t)p1, p2, &p3, &p4);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        boolean_to_js(addon, p3),
        property_info_to_js(addon, &p4),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_find_primary_key_property(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    bool p2 = false;
    realm_property_info_t p3;
    memset(&p3, 0, sizeof p3);
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_find_primary_key_property(p0, (realm_class_key_t)p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        boolean_to_js(addon, p2),
        property_info_to_js(addon, &p3),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_get_value_by_property_index(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_get_value_by_property_index(p0, (size_t)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = value_to_js(addon, &p2);
out:
    return result;
}

static napi_value call_realm_get_num_objects(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    size_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_get_num_objects(p0, (realm_class_key_t)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p2);
out:
    return result;
}

static napi_value call_realm_get_object(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    int64_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!integer_argument(addon, argument[2], &p2))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_get_object(p0, (realm_class_key_t)p1, (realm_object_key_t)p2);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    return result;
}

static napi_value call_realm_object_get_parent(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    realm_object_t* p1 = NULL;
    realm_class_key_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_object_get_parent(p0, &p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        p1 ? handle_new(addon, KIND_OBJECT, p1, false) : null_to_js(addon),
        integer_to_js(addon, (int64_t)p2),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_object_find_with_primary_key(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_object_t* made = crealm.realm_object_find_with_primary_key(p0, (realm_class_key_t)p1, p2, &p3);
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        made ? handle_new(addon, KIND_OBJECT, made, false) : null_to_js(addon),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_object_find_all(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_object_find_all(p0, (realm_class_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_object_create(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_object_create(p0, (realm_class_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    return result;
}

static napi_value call_realm_object_create_with_primary_key(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_object_create_with_primary_key(p0, (realm_class_key_t)p1, p2);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_object_get_or_create_with_primary_key(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_object_get_or_create_with_primary_key(p0, (realm_class_key_t)p1, p2, &p3);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        handle_new(addon, KIND_OBJECT, made, false),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_object_delete(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_object_delete(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_object_resolve_in(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    realm_object_t* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REALM, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_object_resolve_in(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = p2 ? handle_new(addon, KIND_OBJECT, p2, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_object_add_int(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    int64_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    if (!integer_argument(addon, argument[2], &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_object_add_int(p0, (realm_property_key_t)p1, (int64_t)p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_object_is_valid(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_object_is_valid(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_realm_object_get_key(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_object_get_key(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_realm_object_get_table(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.realm_object_get_table(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_realm_get_value(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_get_value(p0, (realm_property_key_t)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = value_to_js(addon, &p2);
out:
    return result;
}

static napi_value call_realm_set_value(napi_env env, napi_callback_info info) {
    napi_value argument[4], result = NULL;
    struct addon* addon = arguments(env, info, 4, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    int64_t p1 = 0;
    realm_value_t p2;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    if (!boolean_argument(addon, argument[3], &p3))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_value(p0, (realm_property_key_t)p1, p2, p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_set_json(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    int64_t p1 = 0;
    const char* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    if (!text_argument(addon, &scratch, argument[2], false, &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_json(p0, (realm_property_key_t)p1, p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_set_embedded(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_set_embedded(p0, (realm_property_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    return result;
}

static napi_value call_realm_set_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_set_list(p0, (realm_property_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    return result;
}

static napi_value call_realm_set_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_set_dictionary(p0, (realm_property_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    return result;
}

static napi_value call_realm_get_linked_object(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_object_t* made = crealm.realm_get_linked_object(p0, (realm_property_key_t)p1);
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    result = made ? handle_new(addon, KIND_OBJECT, made, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_object_to_string(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    enter(addon);
    const char* text = crealm.realm_object_to_string(p0);
    leave(addon);
    result = owned_text(addon, (char*)text);
out:
    return result;
}

static napi_value call_realm_get_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_get_list(p0, (realm_property_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    return result;
}

static napi_value call_realm_get_set(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    realm_set_t* made = crealm.realm_get_set(p0, (realm_property_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_SET, made, false);
out:
    return result;
}

static napi_value call_realm_get_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_get_dictionary(p0, (realm_property_key_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    return result;
}

static napi_value call_realm_list_is_valid(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_LIST, true, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_is_valid(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_realm_list_size(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_size(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_realm_list_get_property(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    realm_property_info_t p1;
    memset(&p1, 0, sizeof p1);
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_get_property(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = property_info_to_js(addon, &p1);
out:
    return result;
}

static napi_value call_realm_list_get(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_get(p0, (size_t)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = value_to_js(addon, &p2);
out:
    return result;
}

static napi_value call_realm_list_find(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    size_t p2 = 0;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_find(p0, &p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_list_get_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_list_get_list(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    return result;
}

static napi_value call_realm_list_get_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_list_get_dictionary(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    return result;
}

static napi_value call_realm_list_get_linked_object(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_object_t* made = crealm.realm_list_get_linked_object(p0, (size_t)p1);
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    result = made ? handle_new(addon, KIND_OBJECT, made, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_list_set(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_set(p0, (size_t)p1, p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_list_insert(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_insert(p0, (size_t)p1, p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_list_insert_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_list_insert_list(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    return result;
}

static napi_value call_realm_list_insert_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_list_insert_dictionary(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    return result;
}

static napi_value call_realm_list_set_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_list_set_list(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    return result;
}

static napi_value call_realm_list_set_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_list_set_dictionary(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    return result;
}

static napi_value call_realm_list_move(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    uint64_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    if (!unsigned_argument(addon, argument[2], SIZE_MAX, &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_move(p0, (size_t)p1, (size_t)p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_list_insert_embedded(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_list_insert_embedded(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    return result;
}

static napi_value call_realm_list_set_embedded(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_list_set_embedded(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    return result;
}

static napi_value call_realm_list_erase(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_erase(p0, (size_t)p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_list_clear(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_clear(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_list_remove_all(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_remove_all(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_list_resolve_in(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    realm_list_t* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REALM, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_list_resolve_in(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = p2 ? handle_new(addon, KIND_LIST, p2, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_list_to_results(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_list_to_results(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_set_is_valid(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_SET, true, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_is_valid(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_realm_set_size(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_size(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_realm_set_get_property(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    realm_property_info_t p1;
    memset(&p1, 0, sizeof p1);
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_get_property(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = property_info_to_js(addon, &p1);
out:
    return result;
}

static napi_value call_realm_set_get(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_get(p0, (size_t)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = value_to_js(addon, &p2);
out:
    return result;
}

static napi_value call_realm_set_find(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    size_t p2 = 0;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_find(p0, p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_set_insert(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    size_t p2 = 0;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_insert(p0, p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_set_erase(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_erase(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p2);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_set_clear(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_clear(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_set_remove_all(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_remove_all(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_set_resolve_in(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    realm_set_t* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REALM, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_set_resolve_in(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = p2 ? handle_new(addon, KIND_SET, p2, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_set_to_results(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_SET, false, &p0))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_set_to_results(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_dictionary_is_valid(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, true, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_is_valid(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_realm_dictionary_size(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_size(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_realm_dictionary_get_property(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    realm_property_info_t p1;
    memset(&p1, 0, sizeof p1);
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_get_property(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = property_info_to_js(addon, &p1);
out:
    return result;
}

static napi_value call_realm_dictionary_find(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_find(p0, p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        value_to_js(addon, &p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_get(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    realm_value_t p3;
    memset(&p3, 0, sizeof p3);
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_get(p0, (size_t)p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        value_to_js(addon, &p2),
        value_to_js(addon, &p3),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_dictionary_get_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_dictionary_get_list(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_get_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_dictionary_get_dictionary(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_get_linked_object(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_object_t* made = crealm.realm_dictionary_get_linked_object(p0, p1);
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    result = made ? handle_new(addon, KIND_OBJECT, made, false) : null_to_js(addon);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_contains_key(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_contains_key(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p2);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_contains_value(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    size_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_contains_value(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p2);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_insert(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    realm_value_t p2;
    size_t p3 = 0;
    bool p4 = false;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_insert(p0, p1, p2, &p3, &p4);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p3),
        boolean_to_js(addon, p4),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_insert_embedded(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_dictionary_insert_embedded(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_insert_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    realm_list_t* made = crealm.realm_dictionary_insert_list(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_LIST, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_insert_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    realm_dictionary_t* made = crealm.realm_dictionary_insert_dictionary(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_DICTIONARY, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_erase(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_erase(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p2);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_dictionary_get_keys(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    realm_results_t* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_get_keys(p0, &p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p1),
        p2 ? handle_new(addon, KIND_RESULTS, p2, false) : null_to_js(addon),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_dictionary_clear(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_clear(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_dictionary_resolve_in(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    realm_dictionary_t* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REALM, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_dictionary_resolve_in(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = p2 ? handle_new(addon, KIND_DICTIONARY, p2, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_dictionary_to_results(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_DICTIONARY, false, &p0))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_dictionary_to_results(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_query_get_description(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_QUERY, false, &p0))
        goto out;
    enter(addon);
    const char* text = crealm.realm_query_get_description(p0);
    leave(addon);
    result = cstring_to_js(addon, text);
out:
    return result;
}

static napi_value call_realm_query_count(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_QUERY, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_query_count(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_realm_query_find_first(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    realm_value_t p1;
    memset(&p1, 0, sizeof p1);
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_QUERY, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_query_find_first(p0, &p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        value_to_js(addon, &p1),
        boolean_to_js(addon, p2),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_query_find_all(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_QUERY, false, &p0))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_query_find_all(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_query_delete_all(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_QUERY, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_query_delete_all(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_get_backlinks(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    int64_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!integer_argument(addon, argument[2], &p2))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_get_backlinks(p0, (realm_class_key_t)p1, (realm_property_key_t)p2);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_results_is_valid(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_is_valid(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p1);
out:
    return result;
}

static napi_value call_realm_results_count(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_count(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_realm_results_filter(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_QUERY, false, &p1))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_results_filter(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_results_sort(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_results_sort(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_results_distinct(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_results_distinct(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_results_limit(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_results_limit(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_results_get(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_get(p0, (size_t)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = value_to_js(addon, &p2);
out:
    return result;
}

static napi_value call_realm_results_get_list(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_list_t* made = crealm.realm_results_get_list(p0, (size_t)p1);
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    result = made ? handle_new(addon, KIND_LIST, made, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_results_get_dictionary(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    crealm.realm_clear_last_error();
    realm_dictionary_t* made = crealm.realm_results_get_dictionary(p0, (size_t)p1);
    leave(addon);
    if (!made && crealm.realm_get_last_error(NULL)) {
        throw_last_error(addon);
        goto out;
    }
    result = made ? handle_new(addon, KIND_DICTIONARY, made, false) : null_to_js(addon);
out:
    return result;
}

static napi_value call_realm_results_find(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    realm_value_t p1;
    size_t p2 = 0;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!value_from_js(addon, &scratch, argument[1], RLM_PROPERTY_TYPE_MIXED, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_find(p0, &p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_realm_results_get_object(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    enter(addon);
    realm_object_t* made = crealm.realm_results_get_object(p0, (size_t)p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_OBJECT, made, false);
out:
    return result;
}

static napi_value call_realm_results_get_query(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    enter(addon);
    realm_query_t* made = crealm.realm_results_get_query(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_QUERY, made, false);
out:
    return result;
}

static napi_value call_realm_results_find_object(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    size_t p2 = 0;
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_OBJECT, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_find_object(p0, p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_results_delete_all(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_delete_all(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_realm_results_snapshot(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_results_snapshot(p0);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_results_resolve_in(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_REALM, false, &p1))
        goto out;
    enter(addon);
    realm_results_t* made = crealm.realm_results_resolve_in(p0, p1);
    leave(addon);
    if (!made) {
        throw_last_error(addon);
        goto out;
    }
    result = handle_new(addon, KIND_RESULTS, made, false);
out:
    return result;
}

static napi_value call_realm_results_min(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_min(p0, (realm_property_key_t)p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        value_to_js(addon, &p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_results_max(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_max(p0, (realm_property_key_t)p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        value_to_js(addon, &p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_results_sum(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_sum(p0, (realm_property_key_t)p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        value_to_js(addon, &p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_realm_results_average(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    bool p3 = false;
    if (!handle_argument(addon, argument[0], KIND_RESULTS, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    bool done = crealm.realm_results_average(p0, (realm_property_key_t)p1, &p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        value_to_js(addon, &p2),
        boolean_to_js(addon, p3),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_crealm_abi_version(napi_env env, napi_callback_info info) {
    napi_value result = NULL;
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    if (!addon)
        return NULL;
    enter(addon);
    int64_t number = (int64_t)crealm.crealm_abi_version();
    leave(addon);
    result = integer_to_js(addon, number);
    return result;
}

static napi_value call_crealm_config_set_page_cipher(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.crealm_config_set_page_cipher(p0, (crealm_page_cipher_e)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_config_get_page_cipher(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.crealm_config_get_page_cipher(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_crealm_config_set_page_memory(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT64_MAX, &p1))
        goto out;
    enter(addon);
    crealm.crealm_config_set_page_memory(p0, (uint64_t)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_change_key(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_CONFIG, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_change_key(p0, p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_set_fault_guard(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    bool p0 = false;
    if (!boolean_argument(addon, argument[0], &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_set_fault_guard(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_config_set_lock_timeout(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.crealm_config_set_lock_timeout(p0, (int64_t)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_set_lock_timeout(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_set_lock_timeout(p0, (int64_t)p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_interrupt(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_interrupt(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_crealm_config_set_durability(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.crealm_config_set_durability(p0, (crealm_durability_e)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_config_get_durability(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.crealm_config_get_durability(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_crealm_config_set_shrinking(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    int64_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], SIZE_MAX, &p1))
        goto out;
    if (!integer_argument(addon, argument[2], &p2))
        goto out;
    enter(addon);
    crealm.crealm_config_set_shrinking(p0, (size_t)p1, (int)p2);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_config_get_shrinking(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    int p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    crealm.crealm_config_get_shrinking(p0, &p1, &p2);
    leave(addon);
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p1),
        integer_to_js(addon, (int64_t)p2),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_crealm_compact_online(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    size_t p1 = 0;
    size_t p2 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_compact_online(p0, &p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    napi_value items[2] = {
        integer_to_js(addon, (int64_t)p1),
        integer_to_js(addon, (int64_t)p2),
    };
    result = several(addon, 2, items);
out:
    return result;
}

static napi_value call_crealm_backup_since(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    const char* p2 = NULL;
    uint64_t p3 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], true, &p1))
        goto out;
    if (!text_argument(addon, &scratch, argument[2], false, &p2))
        goto out;
    enter(addon);
    bool done = crealm.crealm_backup_since(p0, p1, p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p3);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_config_set_rules(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], true, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_config_set_rules(p0, p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_config_set_refuse_broken_rules(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.crealm_config_set_refuse_broken_rules(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_class_set_rules(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    uint64_t p1 = 0;
    const char* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    if (!text_argument(addon, &scratch, argument[2], false, &p2))
        goto out;
    enter(addon);
    bool done = crealm.crealm_class_set_rules(p0, (realm_class_key_t)p1, p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_class_get_rules(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    const char* text = crealm.crealm_class_get_rules(p0, (realm_class_key_t)p1);
    leave(addon);
    result = owned_text(addon, (char*)text);
out:
    return result;
}

static napi_value call_crealm_object_set_if_version(napi_env env, napi_callback_info info) {
    napi_value argument[4], result = NULL;
    struct addon* addon = arguments(env, info, 4, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    int64_t p1 = 0;
    realm_value_t p2;
    int64_t p3 = 0;
    bool p4 = false;
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    if (!value_from_js(addon, &scratch, argument[2], RLM_PROPERTY_TYPE_MIXED, &p2))
        goto out;
    if (!integer_argument(addon, argument[3], &p3))
        goto out;
    enter(addon);
    bool done = crealm.crealm_object_set_if_version(p0, (realm_property_key_t)p1, p2, (int64_t)p3, &p4);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p4);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_object_get_computed(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    realm_value_t p2;
    memset(&p2, 0, sizeof p2);
    if (!handle_argument(addon, argument[0], KIND_OBJECT, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_object_get_computed(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = value_to_js(addon, &p2);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_begin_savepoint(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint32_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_begin_savepoint(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_crealm_release_savepoint(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_release_savepoint(p0, (uint32_t)p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_rollback_savepoint(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT32_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_rollback_savepoint(p0, (uint32_t)p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_config_set_snapshot(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    bool p1 = false;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!boolean_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.crealm_config_set_snapshot(p0, p1);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_config_get_snapshot(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_config_get_snapshot(p0);
    leave(addon);
    result = boolean_to_js(addon, done);
out:
    return result;
}

static napi_value call_crealm_scheduler_get_fd(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_SCHEDULER, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_scheduler_get_fd(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_crealm_scheduler_run(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    bool p2 = false;
    if (!handle_argument(addon, argument[0], KIND_SCHEDULER, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_scheduler_run(p0, (int)p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = boolean_to_js(addon, p2);
out:
    return result;
}

static napi_value call_crealm_set_pin_warning(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    uint64_t p0 = 0;
    if (!unsigned_argument(addon, argument[0], UINT64_MAX, &p0))
        goto out;
    enter(addon);
    crealm.crealm_set_pin_warning((uint64_t)p0);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_blob_get_size(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_blob_get_size(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = integer_to_js(addon, (int64_t)p1);
out:
    return result;
}

static napi_value call_crealm_blob_resize(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    uint64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_LIST, false, &p0))
        goto out;
    if (!unsigned_argument(addon, argument[1], UINT64_MAX, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_blob_resize(p0, (uint64_t)p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_schema_to_json(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_SCHEMA, false, &p0))
        goto out;
    enter(addon);
    const char* text = crealm.crealm_schema_to_json(p0);
    leave(addon);
    result = owned_text(addon, (char*)text);
out:
    return result;
}

static napi_value call_crealm_verify(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_verify(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = owned_text(addon, p1);
out:
    return result;
}

static napi_value call_crealm_salvage(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    void* p1 = NULL;
    char* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!handle_argument(addon, argument[1], KIND_CONFIG, false, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_salvage(p0, p1, &p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = owned_text(addon, p2);
out:
    return result;
}

static napi_value call_crealm_recover_deleted(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_recover_deleted(p0, &p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = owned_text(addon, p1);
out:
    return result;
}

static napi_value call_crealm_config_set_version_slot(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    int64_t p1 = 0;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    if (!integer_argument(addon, argument[1], &p1))
        goto out;
    enter(addon);
    crealm.crealm_config_set_version_slot(p0, (crealm_version_slot_e)p1);
    leave(addon);
out:
    return result;
}

static napi_value call_crealm_config_get_version_slot(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_CONFIG, false, &p0))
        goto out;
    enter(addon);
    int64_t number = (int64_t)crealm.crealm_config_get_version_slot(p0);
    leave(addon);
    result = integer_to_js(addon, number);
out:
    return result;
}

static napi_value call_crealm_sync_enable(napi_env env, napi_callback_info info) {
    napi_value argument[2], result = NULL;
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], true, &p1))
        goto out;
    enter(addon);
    bool done = crealm.crealm_sync_enable(p0, p1);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_sync_disable(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_sync_disable(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_sync_set_subset(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    const char* p2 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    if (!text_argument(addon, &scratch, argument[2], false, &p2))
        goto out;
    enter(addon);
    bool done = crealm.crealm_sync_set_subset(p0, p1, p2);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_sync_status(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    const char* text = crealm.crealm_sync_status(p0);
    leave(addon);
    result = owned_text(addon, (char*)text);
out:
    return result;
}

static napi_value call_crealm_sync_apply_reply(napi_env env, napi_callback_info info) {
    napi_value argument[3], result = NULL;
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    if (!addon)
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    void* p0 = NULL;
    const char* p1 = NULL;
    uint64_t p2 = 0;
    char* p3 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    if (!text_argument(addon, &scratch, argument[1], false, &p1))
        goto out;
    if (!unsigned_argument(addon, argument[2], SIZE_MAX, &p2))
        goto out;
    enter(addon);
    bool done = crealm.crealm_sync_apply_reply(p0, p1, (size_t)p2, &p3);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
    result = owned_text(addon, p3);
out:
    scratch_end(&scratch);
    return result;
}

static napi_value call_crealm_sync_reset(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_sync_reset(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_sync_compare(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_sync_compare(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

static napi_value call_crealm_sync_forget_refused(napi_env env, napi_callback_info info) {
    napi_value argument[1], result = NULL;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    if (!addon)
        return NULL;
    void* p0 = NULL;
    if (!handle_argument(addon, argument[0], KIND_REALM, false, &p0))
        goto out;
    enter(addon);
    bool done = crealm.crealm_sync_forget_refused(p0);
    leave(addon);
    if (!done) {
        throw_last_error(addon);
        goto out;
    }
out:
    return result;
}

const struct function generated_functions[] = {
    {"realm_get_library_version", call_realm_get_library_version},
    {"realm_get_version_id", call_realm_get_version_id},
    {"realm_get_num_versions", call_realm_get_num_versions},
    {"realm_clear_last_error", call_realm_clear_last_error},
    {"realm_get_last_error_as_async_error", call_realm_get_last_error_as_async_error},
    {"realm_set_log_level", call_realm_set_log_level},
    {"realm_set_log_level_category", call_realm_set_log_level_category},
    {"realm_get_log_level_category", call_realm_get_log_level_category},
    {"realm_config_new", call_realm_config_new},
    {"realm_config_get_path", call_realm_config_get_path},
    {"realm_config_set_path", call_realm_config_set_path},
    {"realm_config_get_encryption_key", call_realm_config_get_encryption_key},
    {"realm_config_get_schema", call_realm_config_get_schema},
    {"realm_config_set_schema", call_realm_config_set_schema},
    {"realm_config_get_schema_version", call_realm_config_get_schema_version},
    {"realm_config_set_schema_version", call_realm_config_set_schema_version},
    {"realm_config_get_schema_mode", call_realm_config_get_schema_mode},
    {"realm_config_set_schema_mode", call_realm_config_set_schema_mode},
    {"realm_config_get_schema_subset_mode", call_realm_config_get_schema_subset_mode},
    {"realm_config_set_schema_subset_mode", call_realm_config_set_schema_subset_mode},
    {"realm_config_get_disable_format_upgrade", call_realm_config_get_disable_format_upgrade},
    {"realm_config_needs_file_format_upgrade", call_realm_config_needs_file_format_upgrade},
    {"realm_config_set_disable_format_upgrade", call_realm_config_set_disable_format_upgrade},
    {"realm_config_get_automatic_change_notifications", call_realm_config_get_automatic_change_notifications},
    {"realm_config_set_automatic_change_notifications", call_realm_config_set_automatic_change_notifications},
    {"realm_config_set_scheduler", call_realm_config_set_scheduler},
    {"realm_config_get_force_sync_history", call_realm_config_get_force_sync_history},
    {"realm_config_set_force_sync_history", call_realm_config_set_force_sync_history},
    {"realm_config_get_max_number_of_active_versions", call_realm_config_get_max_number_of_active_versions},
    {"realm_config_set_max_number_of_active_versions", call_realm_config_set_max_number_of_active_versions},
    {"realm_config_set_in_memory", call_realm_config_set_in_memory},
    {"realm_config_get_in_memory", call_realm_config_get_in_memory},
    {"realm_config_set_fifo_path", call_realm_config_set_fifo_path},
    {"realm_config_get_fifo_path", call_realm_config_get_fifo_path},
    {"realm_config_set_cached", call_realm_config_set_cached},
    {"realm_config_get_cached", call_realm_config_get_cached},
    {"realm_config_set_automatic_backlink_handling", call_realm_config_set_automatic_backlink_handling},
    {"realm_scheduler_make_default", call_realm_scheduler_make_default},
    {"realm_open", call_realm_open},
    {"realm_delete_files", call_realm_delete_files},
    {"realm_compact", call_realm_compact},
    {"realm_convert_with_config", call_realm_convert_with_config},
    {"realm_close", call_realm_close},
    {"realm_is_closed", call_realm_is_closed},
    {"realm_begin_read", call_realm_begin_read},
    {"realm_begin_write", call_realm_begin_write},
    {"realm_is_writable", call_realm_is_writable},
    {"realm_commit", call_realm_commit},
    {"realm_async_cancel", call_realm_async_cancel},
    {"realm_rollback", call_realm_rollback},
    {"realm_refresh", call_realm_refresh},
    {"realm_remove_table", call_realm_remove_table},
    {"realm_freeze", call_realm_freeze},
    {"realm_from_thread_safe_reference", call_realm_from_thread_safe_reference},
    {"realm_object_from_thread_safe_reference", call_realm_object_from_thread_safe_reference},
    {"realm_list_from_thread_safe_reference", call_realm_list_from_thread_safe_reference},
    {"realm_set_from_thread_safe_reference", call_realm_set_from_thread_safe_reference},
    {"realm_dictionary_from_thread_safe_reference", call_realm_dictionary_from_thread_safe_reference},
    {"realm_results_from_thread_safe_reference", call_realm_results_from_thread_safe_reference},
    {"realm_get_schema", call_realm_get_schema},
    {"realm_get_schema_version", call_realm_get_schema_version},
    {"realm_get_persisted_schema_version", call_realm_get_persisted_schema_version},
    {"realm_update_schema", call_realm_update_schema},
    {"realm_schema_rename_property", call_realm_schema_rename_property},
    {"realm_schema_validate", call_realm_schema_validate},
    {"realm_get_num_classes", call_realm_get_num_classes},
    {"realm_find_class", call_realm_find_class},
    {"realm_get_class", call_realm_get_class},
    {"realm_get_property", call_realm_get_property},
    {"realm_find_property", call_realm_find_property},
    {"realm_find_property_by_public_name", call_realm_find_property_by_public_name},
    {"realm_find_primary_key_property", call_realm_find_primary_key_property},
    {"realm_get_value_by_property_index", call_realm_get_value_by_property_index},
    {"realm_get_num_objects", call_realm_get_num_objects},
    {"realm_get_object", call_realm_get_object},
    {"realm_object_get_parent", call_realm_object_get_parent},
    {"realm_object_find_with_primary_key", call_realm_object_find_with_primary_key},
    {"realm_object_find_all", call_realm_object_find_all},
    {"realm_object_create", call_realm_object_create},
    {"realm_object_create_with_primary_key", call_realm_object_create_with_primary_key},
    {"realm_object_get_or_create_with_primary_key", call_realm_object_get_or_create_with_primary_key},
    {"realm_object_delete", call_realm_object_delete},
    {"realm_object_resolve_in", call_realm_object_resolve_in},
    {"realm_object_add_int", call_realm_object_add_int},
    {"realm_object_is_valid", call_realm_object_is_valid},
    {"realm_object_get_key", call_realm_object_get_key},
    {"realm_object_get_table", call_realm_object_get_table},
    {"realm_get_value", call_realm_get_value},
    {"realm_set_value", call_realm_set_value},
    {"realm_set_json", call_realm_set_json},
    {"realm_set_embedded", call_realm_set_embedded},
    {"realm_set_list", call_realm_set_list},
    {"realm_set_dictionary", call_realm_set_dictionary},
    {"realm_get_linked_object", call_realm_get_linked_object},
    {"realm_object_to_string", call_realm_object_to_string},
    {"realm_get_list", call_realm_get_list},
    {"realm_get_set", call_realm_get_set},
    {"realm_get_dictionary", call_realm_get_dictionary},
    {"realm_list_is_valid", call_realm_list_is_valid},
    {"realm_list_size", call_realm_list_size},
    {"realm_list_get_property", call_realm_list_get_property},
    {"realm_list_get", call_realm_list_get},
    {"realm_list_find", call_realm_list_find},
    {"realm_list_get_list", call_realm_list_get_list},
    {"realm_list_get_dictionary", call_realm_list_get_dictionary},
    {"realm_list_get_linked_object", call_realm_list_get_linked_object},
    {"realm_list_set", call_realm_list_set},
    {"realm_list_insert", call_realm_list_insert},
    {"realm_list_insert_list", call_realm_list_insert_list},
    {"realm_list_insert_dictionary", call_realm_list_insert_dictionary},
    {"realm_list_set_list", call_realm_list_set_list},
    {"realm_list_set_dictionary", call_realm_list_set_dictionary},
    {"realm_list_move", call_realm_list_move},
    {"realm_list_insert_embedded", call_realm_list_insert_embedded},
    {"realm_list_set_embedded", call_realm_list_set_embedded},
    {"realm_list_erase", call_realm_list_erase},
    {"realm_list_clear", call_realm_list_clear},
    {"realm_list_remove_all", call_realm_list_remove_all},
    {"realm_list_resolve_in", call_realm_list_resolve_in},
    {"realm_list_to_results", call_realm_list_to_results},
    {"realm_set_is_valid", call_realm_set_is_valid},
    {"realm_set_size", call_realm_set_size},
    {"realm_set_get_property", call_realm_set_get_property},
    {"realm_set_get", call_realm_set_get},
    {"realm_set_find", call_realm_set_find},
    {"realm_set_insert", call_realm_set_insert},
    {"realm_set_erase", call_realm_set_erase},
    {"realm_set_clear", call_realm_set_clear},
    {"realm_set_remove_all", call_realm_set_remove_all},
    {"realm_set_resolve_in", call_realm_set_resolve_in},
    {"realm_set_to_results", call_realm_set_to_results},
    {"realm_dictionary_is_valid", call_realm_dictionary_is_valid},
    {"realm_dictionary_size", call_realm_dictionary_size},
    {"realm_dictionary_get_property", call_realm_dictionary_get_property},
    {"realm_dictionary_find", call_realm_dictionary_find},
    {"realm_dictionary_get", call_realm_dictionary_get},
    {"realm_dictionary_get_list", call_realm_dictionary_get_list},
    {"realm_dictionary_get_dictionary", call_realm_dictionary_get_dictionary},
    {"realm_dictionary_get_linked_object", call_realm_dictionary_get_linked_object},
    {"realm_dictionary_contains_key", call_realm_dictionary_contains_key},
    {"realm_dictionary_contains_value", call_realm_dictionary_contains_value},
    {"realm_dictionary_insert", call_realm_dictionary_insert},
    {"realm_dictionary_insert_embedded", call_realm_dictionary_insert_embedded},
    {"realm_dictionary_insert_list", call_realm_dictionary_insert_list},
    {"realm_dictionary_insert_dictionary", call_realm_dictionary_insert_dictionary},
    {"realm_dictionary_erase", call_realm_dictionary_erase},
    {"realm_dictionary_get_keys", call_realm_dictionary_get_keys},
    {"realm_dictionary_clear", call_realm_dictionary_clear},
    {"realm_dictionary_resolve_in", call_realm_dictionary_resolve_in},
    {"realm_dictionary_to_results", call_realm_dictionary_to_results},
    {"realm_query_get_description", call_realm_query_get_description},
    {"realm_query_count", call_realm_query_count},
    {"realm_query_find_first", call_realm_query_find_first},
    {"realm_query_find_all", call_realm_query_find_all},
    {"realm_query_delete_all", call_realm_query_delete_all},
    {"realm_get_backlinks", call_realm_get_backlinks},
    {"realm_results_is_valid", call_realm_results_is_valid},
    {"realm_results_count", call_realm_results_count},
    {"realm_results_filter", call_realm_results_filter},
    {"realm_results_sort", call_realm_results_sort},
    {"realm_results_distinct", call_realm_results_distinct},
    {"realm_results_limit", call_realm_results_limit},
    {"realm_results_get", call_realm_results_get},
    {"realm_results_get_list", call_realm_results_get_list},
    {"realm_results_get_dictionary", call_realm_results_get_dictionary},
    {"realm_results_find", call_realm_results_find},
    {"realm_results_get_object", call_realm_results_get_object},
    {"realm_results_get_query", call_realm_results_get_query},
    {"realm_results_find_object", call_realm_results_find_object},
    {"realm_results_delete_all", call_realm_results_delete_all},
    {"realm_results_snapshot", call_realm_results_snapshot},
    {"realm_results_resolve_in", call_realm_results_resolve_in},
    {"realm_results_min", call_realm_results_min},
    {"realm_results_max", call_realm_results_max},
    {"realm_results_sum", call_realm_results_sum},
    {"realm_results_average", call_realm_results_average},
    {"crealm_abi_version", call_crealm_abi_version},
    {"crealm_config_set_page_cipher", call_crealm_config_set_page_cipher},
    {"crealm_config_get_page_cipher", call_crealm_config_get_page_cipher},
    {"crealm_config_set_page_memory", call_crealm_config_set_page_memory},
    {"crealm_change_key", call_crealm_change_key},
    {"crealm_set_fault_guard", call_crealm_set_fault_guard},
    {"crealm_config_set_lock_timeout", call_crealm_config_set_lock_timeout},
    {"crealm_set_lock_timeout", call_crealm_set_lock_timeout},
    {"crealm_interrupt", call_crealm_interrupt},
    {"crealm_config_set_durability", call_crealm_config_set_durability},
    {"crealm_config_get_durability", call_crealm_config_get_durability},
    {"crealm_config_set_shrinking", call_crealm_config_set_shrinking},
    {"crealm_config_get_shrinking", call_crealm_config_get_shrinking},
    {"crealm_compact_online", call_crealm_compact_online},
    {"crealm_backup_since", call_crealm_backup_since},
    {"crealm_config_set_rules", call_crealm_config_set_rules},
    {"crealm_config_set_refuse_broken_rules", call_crealm_config_set_refuse_broken_rules},
    {"crealm_class_set_rules", call_crealm_class_set_rules},
    {"crealm_class_get_rules", call_crealm_class_get_rules},
    {"crealm_object_set_if_version", call_crealm_object_set_if_version},
    {"crealm_object_get_computed", call_crealm_object_get_computed},
    {"crealm_begin_savepoint", call_crealm_begin_savepoint},
    {"crealm_release_savepoint", call_crealm_release_savepoint},
    {"crealm_rollback_savepoint", call_crealm_rollback_savepoint},
    {"crealm_config_set_snapshot", call_crealm_config_set_snapshot},
    {"crealm_config_get_snapshot", call_crealm_config_get_snapshot},
    {"crealm_scheduler_get_fd", call_crealm_scheduler_get_fd},
    {"crealm_scheduler_run", call_crealm_scheduler_run},
    {"crealm_set_pin_warning", call_crealm_set_pin_warning},
    {"crealm_blob_get_size", call_crealm_blob_get_size},
    {"crealm_blob_resize", call_crealm_blob_resize},
    {"crealm_schema_to_json", call_crealm_schema_to_json},
    {"crealm_verify", call_crealm_verify},
    {"crealm_salvage", call_crealm_salvage},
    {"crealm_recover_deleted", call_crealm_recover_deleted},
    {"crealm_config_set_version_slot", call_crealm_config_set_version_slot},
    {"crealm_config_get_version_slot", call_crealm_config_get_version_slot},
    {"crealm_sync_enable", call_crealm_sync_enable},
    {"crealm_sync_disable", call_crealm_sync_disable},
    {"crealm_sync_set_subset", call_crealm_sync_set_subset},
    {"crealm_sync_status", call_crealm_sync_status},
    {"crealm_sync_apply_reply", call_crealm_sync_apply_reply},
    {"crealm_sync_reset", call_crealm_sync_reset},
    {"crealm_sync_compare", call_crealm_sync_compare},
    {"crealm_sync_forget_refused", call_crealm_sync_forget_refused},
};
const size_t generated_function_count = COUNT_OF(generated_functions);
