/*
 * addon.c - start and end of the addon on a thread, errors, and the library.
 *
 * The library is opened at run time, by the path that JavaScript gives: so one addon works with the library in the
 * package, with an installed one, and with the one of a build. It stays open until the process ends.
 */

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"

struct library crealm;

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

bool good(struct addon* addon, napi_status status) {
    if (status == napi_ok)
        return true;
    bool pending = false;
    if (napi_is_exception_pending(addon->env, &pending) == napi_ok && pending)
        return false;
    const napi_extended_error_info* info = NULL;
    napi_get_last_error_info(addon->env, &info);
    const char* text = info && info->error_message ? info->error_message : "A call of Node-API failed";
    if (status == napi_string_expected || status == napi_object_expected || status == napi_number_expected)
        throw_error(addon, RLM_ERR_PROPERTY_TYPE_MISMATCH, text);
    else
        napi_throw_error(addon->env, NULL, text);
    return false;
}

static napi_value throw_it(struct addon* addon, int code, const char* text, const char* path, unsigned categories) {
    napi_env env = addon->env;
    napi_value maker = NULL, global = NULL, error = NULL, argument[4];
    bool pending = false;
    if (napi_is_exception_pending(env, &pending) != napi_ok || pending)
        return NULL;
    if (addon->make_error && napi_get_reference_value(env, addon->make_error, &maker) == napi_ok && maker
        && napi_get_global(env, &global) == napi_ok && napi_create_int32(env, code, &argument[0]) == napi_ok
        && napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &argument[1]) == napi_ok
        && (path ? napi_create_string_utf8(env, path, NAPI_AUTO_LENGTH, &argument[2])
                 : napi_get_undefined(env, &argument[2])) == napi_ok
        && napi_create_uint32(env, categories, &argument[3]) == napi_ok) {
        if (napi_call_function(env, global, maker, 4, argument, &error) == napi_ok)
            napi_throw(env, error);
        return NULL;
    }
    napi_throw_error(env, NULL, text);
    return NULL;
}

napi_value throw_error(struct addon* addon, int code, const char* text) {
    return throw_it(addon, code, text, NULL, RLM_ERR_CAT_LOGIC | RLM_ERR_CAT_INVALID_ARG);
}

napi_value throw_last_error(struct addon* addon) {
    realm_error_t error;
    if (crealm.realm_get_last_error(&error))
        throw_it(addon, (int)error.error, error.message ? error.message : "", error.path, error.categories);
    return NULL;
}

struct addon* arguments(napi_env env, napi_callback_info info, size_t count, napi_value* out, size_t* given) {
    void* data = NULL;
    size_t found = count;
    if (napi_get_cb_info(env, info, &found, out, NULL, &data) != napi_ok)
        return NULL;
    if (given)
        *given = found;
    struct addon* addon = data;
    if (!loaded || addon->closing)
        return throw_error(addon, RLM_ERR_ILLEGAL_OPERATION, "The library is not loaded"), NULL;
    if (addon->logging)
        return throw_error(addon, RLM_ERR_ILLEGAL_OPERATION, "A logger cannot use realms"), NULL;
    return addon;
}

/* preload(path): opens a library that the one of load() needs, so that no other one of this name is looked for. */
static napi_value preload(napi_env env, napi_callback_info info) {
    napi_value argument;
    void* data = NULL;
    size_t count = 1;
    if (napi_get_cb_info(env, info, &count, &argument, NULL, &data) != napi_ok)
        return NULL;
    struct addon* addon = data;
    struct scratch scratch;
    const char* path = NULL;
    scratch_begin(&scratch);
    if (text_argument(addon, &scratch, argument, false, &path) && !dlopen(path, RTLD_NOW | RTLD_LOCAL))
        throw_error(addon, RLM_ERR_FILE_NOT_FOUND, dlerror());
    scratch_end(&scratch);
    return NULL;
}

/* load(path): opens the library. A second call does nothing. */
static napi_value load(napi_env env, napi_callback_info info) {
    napi_value argument;
    void* data = NULL;
    size_t count = 1;
    if (napi_get_cb_info(env, info, &count, &argument, NULL, &data) != napi_ok)
        return NULL;
    struct addon* addon = data;
    struct scratch scratch;
    const char* path = NULL;
    char text[600] = "";
    scratch_begin(&scratch);
    if (!text_argument(addon, &scratch, argument, false, &path)) {
        scratch_end(&scratch);
        return NULL;
    }
    pthread_mutex_lock(&loading);
    if (!loaded) {
        void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        size_t missing = 0;
        if (!library) {
            strncat(text, dlerror(), sizeof text - 1);
        } else {
            void** pointers = (void**)&crealm;
            for (size_t index = 0; index < library_count; index++)
                if (!(pointers[index] = dlsym(library, library_names[index]))) {
                    if (!missing++)
                        strncat(strcat(text, "The library lacks the function "), library_names[index], 200);
                }
            loaded = missing == 0;
        }
    }
    bool done = loaded;
    pthread_mutex_unlock(&loading);
    scratch_end(&scratch);
    if (!done)
        return throw_error(addon, RLM_ERR_FILE_NOT_FOUND, text);
    if (crealm.crealm_abi_version() != CREALM_ABI_VERSION)
        return throw_error(addon, RLM_ERR_NOT_SUPPORTED, "The library has another version of its additions");
    return NULL;
}

static bool keep(struct addon* addon, napi_value function, napi_ref* out) {
    napi_valuetype type;
    if (!good(addon, napi_typeof(addon->env, function, &type)))
        return false;
    if (type != napi_function) {
        throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "A function is needed");
        return false;
    }
    if (*out)
        napi_delete_reference(addon->env, *out);
    *out = NULL;
    return good(addon, napi_create_reference(addon->env, function, 1, out));
}

/* setup(makeError, dispatch, waits): the functions that make errors, and that receive all callbacks; whether this is
 * Node. */
static napi_value setup(napi_env env, napi_callback_info info) {
    napi_value argument[3];
    void* data = NULL;
    size_t count = 3;
    if (napi_get_cb_info(env, info, &count, argument, NULL, &data) != napi_ok)
        return NULL;
    struct addon* addon = data;
    addon->waits = true;
    napi_get_value_bool(env, argument[2], &addon->waits);
    if (keep(addon, argument[0], &addon->make_error))
        keep(addon, argument[1], &addon->dispatch);
    return NULL;
}

static napi_value live(napi_env env, napi_callback_info info) {
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    return addon ? number_to_js(addon, addon->live) : NULL;
}

static void at_end(napi_async_cleanup_hook_handle hook, void* data) {
    struct addon* addon = data;
    addon->closing = true;
    addon->depth = 0; // A worker that is terminated leaves no call of the library running.
    if (loaded) {
        log_end(addon);
        handles_end(addon);
        scheduler_unwatch(addon);
    }
    if (!addon->poll && addon->waits)
        napi_remove_async_cleanup_hook(hook);
}

static void finalize(napi_env env, void* data, void* hint) {
    struct addon* addon = data;
    (void)env, (void)hint;
    addon->closing = true;
    addon->finalized = true;
    if (!addon->poll)
        free(addon);
}

static bool define(struct addon* addon, napi_value exports, const struct function* functions, size_t count) {
    for (size_t index = 0; index < count; index++) {
        napi_value function = NULL;
        if (napi_create_function(addon->env, functions[index].name, NAPI_AUTO_LENGTH, functions[index].call, addon,
                                 &function) != napi_ok
            || napi_set_named_property(addon->env, exports, functions[index].name, function) != napi_ok)
            return false;
    }
    return true;
}

NAPI_MODULE_INIT() {
    static const struct function own[] = {{"preload", preload}, {"load", load}, {"setup", setup}, {"live", live}};
    struct addon* addon = calloc(1, sizeof *addon);
    if (!addon)
        return NULL;
    addon->env = env;
    napi_value name = NULL;
    if (napi_set_instance_data(env, addon, finalize, NULL) != napi_ok) {
        free(addon);
        return NULL;
    }
    if (napi_add_async_cleanup_hook(env, at_end, addon, &addon->cleanup) != napi_ok
        || napi_create_string_latin1(env, "crealm", NAPI_AUTO_LENGTH, &name) != napi_ok
        || napi_async_init(env, NULL, name, &addon->context) != napi_ok
        || !define(addon, exports, own, COUNT_OF(own))
        || !define(addon, exports, generated_functions, generated_function_count)
        || !define(addon, exports, object_functions, object_function_count)
        || !define(addon, exports, batch_functions, batch_function_count)
        || !define(addon, exports, schema_functions, schema_function_count)
        || !define(addon, exports, callback_functions, callback_function_count))
        return NULL;
    return exports;
}
