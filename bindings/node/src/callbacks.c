/*
 * callbacks.c - the event loop, and functions of the program that the library calls.
 *
 * The library's scheduler of the thread has a file descriptor, which libuv polls. The poll does not keep the process
 * alive, unless hold(true) was called. All callbacks go through one JavaScript function: dispatch(kind, number, …),
 * where the number is the one that was given when the callback was registered. The dispatcher catches what programs
 * throw; only the end of a worker may leave an exception pending here, and then no more functions are called.
 */

#include <stdlib.h>
#include <string.h>

#include "addon.h"

enum callback_kind {
    CALL_TURN = 0,
    CALL_REALM_CHANGED,
    CALL_SCHEMA_CHANGED,
    CALL_OBJECT,
    CALL_COLLECTION,
    CALL_DICTIONARY,
    CALL_MIGRATE,
    CALL_INITIALIZE,
    CALL_COMPACT,
    CALL_BEGIN_WRITE,
    CALL_COMMITTED,
    CALL_LOG,
};

struct callback {
    struct addon* addon;
    double number;
};

static void* callback_new(struct addon* addon, napi_value number) {
    double value;
    if (napi_get_value_double(addon->env, number, &value) != napi_ok)
        return throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "The number of the callback is missing"), NULL;
    struct callback* callback = malloc(sizeof *callback);
    if (!callback)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a callback"), NULL;
    callback->addon = addon;
    callback->number = value;
    return callback;
}

/* Calls the dispatcher with kind, number and up to two more arguments. NULL when it could not be called. */
static napi_value dispatch(struct callback* callback, enum callback_kind kind, napi_value first, napi_value second) {
    struct addon* addon = callback->addon;
    napi_env env = addon->env;
    napi_value function = NULL, global = NULL, result = NULL, argument[4];
    bool pending = false;
    if (addon->closing || !addon->dispatch || napi_is_exception_pending(env, &pending) != napi_ok || pending)
        return NULL;
    if (napi_get_reference_value(env, addon->dispatch, &function) != napi_ok || !function
        || napi_get_global(env, &global) != napi_ok || napi_create_int32(env, kind, &argument[0]) != napi_ok
        || napi_create_double(env, callback->number, &argument[1]) != napi_ok)
        return NULL;
    size_t count = 2;
    if (first)
        argument[count++] = first;
    if (second)
        argument[count++] = second;
    return napi_call_function(env, global, function, count, argument, &result) == napi_ok ? result : NULL;
}

static bool said_true(struct addon* addon, napi_value result) {
    bool value = false;
    return result && napi_get_value_bool(addon->env, result, &value) == napi_ok && value;
}

/* A callback without arguments. */
static void call_plain(void* userdata, enum callback_kind kind) {
    struct callback* callback = userdata;
    napi_handle_scope scope;
    if (callback->addon->closing || napi_open_handle_scope(callback->addon->env, &scope) != napi_ok)
        return;
    dispatch(callback, kind, NULL, NULL);
    napi_close_handle_scope(callback->addon->env, scope);
}

static void on_realm_changed(void* userdata) { call_plain(userdata, CALL_REALM_CHANGED); }

static void on_schema_changed(void* userdata, const realm_schema_t* schema) {
    (void)schema;
    call_plain(userdata, CALL_SCHEMA_CHANGED);
}

static void on_begin_write(void* userdata) { call_plain(userdata, CALL_BEGIN_WRITE); }

static void on_committed(void* userdata, bool error, const char* text) {
    struct callback* callback = userdata;
    napi_handle_scope scope;
    if (callback->addon->closing || napi_open_handle_scope(callback->addon->env, &scope) != napi_ok)
        return;
    dispatch(callback, CALL_COMMITTED, error ? cstring_to_js(callback->addon, text) : null_to_js(callback->addon),
             NULL);
    napi_close_handle_scope(callback->addon->env, scope);
}

/* Change sets */

static bool add_numbers(struct addon* addon, napi_value array, uint32_t place, const size_t* numbers, size_t count) {
    napi_value list = NULL;
    if (!good(addon, napi_create_array_with_length(addon->env, count, &list)))
        return false;
    for (size_t index = 0; index < count; index++) {
        napi_value number = number_to_js(addon, (double)numbers[index]);
        if (!number || !good(addon, napi_set_element(addon->env, list, (uint32_t)index, number)))
            return false;
    }
    return good(addon, napi_set_element(addon->env, array, place, list));
}

static bool add_boolean(struct addon* addon, napi_value array, uint32_t place, bool value) {
    napi_value item = boolean_to_js(addon, value);
    return item && good(addon, napi_set_element(addon->env, array, place, item));
}

/* [deletions, insertions, old modifications, new modifications, cleared, deleted] */
static napi_value collection_changes(struct addon* addon, const realm_collection_changes_t* changes) {
    size_t deletions = 0, insertions = 0, modifications = 0, moves = 0;
    bool cleared = false, deleted = false;
    crealm.realm_collection_changes_get_num_changes(changes, &deletions, &insertions, &modifications, &moves, &cleared,
                                                    &deleted);
    size_t* numbers = calloc(deletions + insertions + 2 * modifications + 1, sizeof *numbers);
    napi_value result = NULL;
    if (!numbers)
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for changes");
    size_t *inserted = numbers + deletions, *modified = inserted + insertions, *after = modified + modifications;
    crealm.realm_collection_changes_get_changes(changes, numbers, deletions, inserted, insertions, modified,
                                                modifications, after, modifications, NULL, 0);
    bool done =
        good(addon, napi_create_array_with_length(addon->env, 6, &result)) &&
        add_numbers(addon, result, 0, numbers, deletions) && add_numbers(addon, result, 1, inserted, insertions) &&
        add_numbers(addon, result, 2, modified, modifications) && add_numbers(addon, result, 3, after, modifications) &&
        add_boolean(addon, result, 4, cleared) && add_boolean(addon, result, 5, deleted);
    free(numbers);
    return done ? result : NULL;
}

static void on_collection_changed(void* userdata, const realm_collection_changes_t* changes) {
    struct callback* callback = userdata;
    napi_handle_scope scope;
    if (callback->addon->closing || napi_open_handle_scope(callback->addon->env, &scope) != napi_ok)
        return;
    napi_value made = collection_changes(callback->addon, changes);
    if (made)
        dispatch(callback, CALL_COLLECTION, made, NULL);
    napi_close_handle_scope(callback->addon->env, scope);
}

/* [deleted, [property key…]] */
static void on_object_changed(void* userdata, const realm_object_changes_t* changes) {
    struct callback* callback = userdata;
    struct addon* addon = callback->addon;
    napi_handle_scope scope;
    if (addon->closing || napi_open_handle_scope(addon->env, &scope) != napi_ok)
        return;
    size_t count = crealm.realm_object_changes_get_num_modified_properties(changes);
    realm_property_key_t* keys = calloc(count + 1, sizeof *keys);
    napi_value made = NULL, list = NULL;
    if (keys) {
        count = crealm.realm_object_changes_get_modified_properties(changes, keys, count);
        bool done = good(addon, napi_create_array_with_length(addon->env, 2, &made))
                    && add_boolean(addon, made, 0, crealm.realm_object_changes_is_deleted(changes))
                    && good(addon, napi_create_array_with_length(addon->env, count, &list));
        for (size_t index = 0; done && index < count; index++) {
            napi_value key = integer_to_js(addon, keys[index]);
            done = key && good(addon, napi_set_element(addon->env, list, (uint32_t)index, key));
        }
        if (done && good(addon, napi_set_element(addon->env, made, 1, list)))
            dispatch(callback, CALL_OBJECT, made, NULL);
        free(keys);
    }
    napi_close_handle_scope(addon->env, scope);
}

static bool add_keys(struct addon* addon, napi_value array, uint32_t place, const realm_value_t* keys, size_t count) {
    napi_value list = NULL;
    if (!good(addon, napi_create_array_with_length(addon->env, count, &list)))
        return false;
    for (size_t index = 0; index < count; index++) {
        napi_value key = value_to_js(addon, &keys[index]);
        if (!key || !good(addon, napi_set_element(addon->env, list, (uint32_t)index, key)))
            return false;
    }
    return good(addon, napi_set_element(addon->env, array, place, list));
}

/* [deletions, insertions, modifications, deleted] */
static void on_dictionary_changed(void* userdata, const realm_dictionary_changes_t* changes) {
    struct callback* callback = userdata;
    struct addon* addon = callback->addon;
    napi_handle_scope scope;
    if (addon->closing || napi_open_handle_scope(addon->env, &scope) != napi_ok)
        return;
    size_t deletions = 0, insertions = 0, modifications = 0;
    bool deleted = false, cleared = false;
    crealm.realm_dictionary_get_changes(changes, &deletions, &insertions, &modifications, &deleted);
    realm_value_t* keys = calloc(deletions + insertions + modifications + 1, sizeof *keys);
    napi_value made = NULL;
    if (keys) {
        realm_value_t *inserted = keys + deletions, *modified = inserted + insertions;
        crealm.realm_dictionary_get_changed_keys(changes, keys, &deletions, inserted, &insertions, modified,
                                                 &modifications, &cleared);
        if (good(addon, napi_create_array_with_length(addon->env, 4, &made))
            && add_keys(addon, made, 0, keys, deletions) && add_keys(addon, made, 1, inserted, insertions)
            && add_keys(addon, made, 2, modified, modifications) && add_boolean(addon, made, 3, deleted))
            dispatch(callback, CALL_DICTIONARY, made, NULL);
        free(keys);
    }
    napi_close_handle_scope(addon->env, scope);
}

/* Registering */

static realm_key_path_array_t* key_paths(struct addon* addon, void* realm, napi_value class_key, napi_value paths,
                                         bool* failed) {
    napi_valuetype type;
    uint64_t key;
    uint32_t count;
    *failed = true;
    if (!good(addon, napi_typeof(addon->env, paths, &type)))
        return NULL;
    if (type == napi_undefined || type == napi_null) {
        *failed = false;
        return NULL;
    }
    if (!unsigned_argument(addon, class_key, UINT32_MAX, &key)
        || !good(addon, napi_get_array_length(addon->env, paths, &count)))
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    realm_key_path_array_t* result = NULL;
    const char** texts = scratch_take(addon, &scratch, ((size_t)count + 1) * sizeof *texts);
    bool done = texts != NULL;
    for (uint32_t index = 0; done && index < count; index++) {
        napi_value item;
        done = good(addon, napi_get_element(addon->env, paths, index, &item))
               && text_argument(addon, &scratch, item, false, &texts[index]);
    }
    if (done) {
        result = crealm.realm_create_key_path_array(realm, (realm_class_key_t)key, count, texts);
        *failed = !result;
        if (!result)
            throw_last_error(addon);
    }
    scratch_end(&scratch);
    return result;
}

/* listen(handle, number, realm, classKey, paths): the token of change callbacks of an object, list, set, dictionary,
 * results or realm. */
static napi_value add_listener(napi_env env, napi_callback_info info) {
    napi_value argument[5];
    struct addon* addon = arguments(env, info, 5, argument, NULL);
    struct handle* entry = addon ? handle_find(addon, argument[0], KIND_ANY) : NULL;
    void* realm;
    bool failed;
    if (!entry || !handle_argument(addon, argument[2], KIND_REALM, false, &realm) || !scheduler_watch(addon))
        return NULL;
    realm_key_path_array_t* paths = key_paths(addon, realm, argument[3], argument[4], &failed);
    if (failed)
        return NULL;
    struct callback* callback = callback_new(addon, argument[1]);
    void* token = NULL;
    if (callback) {
        enter(addon);
        switch (entry->kind) {
        case KIND_REALM:
            token = crealm.realm_add_realm_changed_callback(entry->pointer, on_realm_changed, callback, free);
            break;
        case KIND_OBJECT:
            token =
                crealm.realm_object_add_notification_callback(entry->pointer, callback, free, paths, on_object_changed);
            break;
        case KIND_LIST:
            token = crealm.realm_list_add_notification_callback(entry->pointer, callback, free, paths,
                                                                on_collection_changed);
            break;
        case KIND_SET:
            token = crealm.realm_set_add_notification_callback(entry->pointer, callback, free, paths,
                                                               on_collection_changed);
            break;
        case KIND_DICTIONARY:
            token = crealm.realm_dictionary_add_notification_callback(entry->pointer, callback, free, paths,
                                                                      on_dictionary_changed);
            break;
        case KIND_RESULTS:
            token = crealm.realm_results_add_notification_callback(entry->pointer, callback, free, paths,
                                                                   on_collection_changed);
            break;
        default:
            free(callback);
            throw_error(addon, RLM_ERR_INVALID_ARGUMENT, "Nothing that changes");
            leave(addon);
            crealm.realm_release(paths);
            return NULL;
        }
        leave(addon);
        if (!token)
            throw_last_error(addon);
    }
    crealm.realm_release(paths);
    return token ? handle_new(addon, KIND_TOKEN, token, false) : NULL;
}

/* listenToSchema(realm, number) */
static napi_value listen_to_schema(napi_env env, napi_callback_info info) {
    napi_value argument[2];
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    void* realm;
    if (!addon || !handle_argument(addon, argument[0], KIND_REALM, false, &realm))
        return NULL;
    struct callback* callback = callback_new(addon, argument[1]);
    if (!callback)
        return NULL;
    void* token = crealm.realm_add_schema_changed_callback(realm, on_schema_changed, callback, free);
    return token ? handle_new(addon, KIND_TOKEN, token, false) : throw_last_error(addon);
}

/* Opening */

/* A realm that the library lends to a callback, as a handle for its time. */
static napi_value lend(struct addon* addon, realm_t* realm) { return handle_new(addon, KIND_REALM, realm, true); }

static void take_back(struct addon* addon, napi_value number) {
    struct handle* entry = number ? handle_find(addon, number, KIND_REALM) : NULL;
    if (entry) {
        // The handles of its objects are released at once, while the realm is there.
        int depth = addon->depth;
        addon->depth = 0;
        handle_release(addon, entry);
        addon->depth = depth;
    }
}

static bool on_migrate(void* userdata, realm_t* old_realm, realm_t* new_realm, const realm_schema_t* schema) {
    struct callback* callback = userdata;
    struct addon* addon = callback->addon;
    napi_handle_scope scope;
    (void)schema;
    if (addon->closing || napi_open_handle_scope(addon->env, &scope) != napi_ok)
        return false;
    napi_value before = lend(addon, old_realm), after = before ? lend(addon, new_realm) : NULL;
    bool done = after && said_true(addon, dispatch(callback, CALL_MIGRATE, before, after));
    take_back(addon, before);
    take_back(addon, after);
    napi_close_handle_scope(addon->env, scope);
    return done;
}

static bool on_initialize(void* userdata, realm_t* realm) {
    struct callback* callback = userdata;
    struct addon* addon = callback->addon;
    napi_handle_scope scope;
    if (addon->closing || napi_open_handle_scope(addon->env, &scope) != napi_ok)
        return false;
    napi_value lent = lend(addon, realm);
    bool done = lent && said_true(addon, dispatch(callback, CALL_INITIALIZE, lent, NULL));
    take_back(addon, lent);
    napi_close_handle_scope(addon->env, scope);
    return done;
}

static bool on_compact(void* userdata, uint64_t total, uint64_t used) {
    struct callback* callback = userdata;
    struct addon* addon = callback->addon;
    napi_handle_scope scope;
    if (addon->closing || napi_open_handle_scope(addon->env, &scope) != napi_ok)
        return false;
    bool compact = said_true(addon, dispatch(callback, CALL_COMPACT, number_to_js(addon, (double)total),
                                             number_to_js(addon, (double)used)));
    napi_close_handle_scope(addon->env, scope);
    return compact;
}

/* onOpen(config, number, kind): calls the dispatcher for a migration (6), the first open (7), compaction (8). The
 * callbacks of a config share one number. */
static napi_value on_open(napi_env env, napi_callback_info info) {
    napi_value argument[3];
    struct addon* addon = arguments(env, info, 3, argument, NULL);
    void* config;
    int64_t kind;
    if (!addon || !handle_argument(addon, argument[0], KIND_CONFIG, false, &config)
        || !integer_argument(addon, argument[2], &kind))
        return NULL;
    struct callback* callback = callback_new(addon, argument[1]);
    if (!callback)
        return NULL;
    if (kind == CALL_MIGRATE)
        crealm.realm_config_set_migration_function(config, on_migrate, callback, free);
    else if (kind == CALL_INITIALIZE)
        crealm.realm_config_set_data_initialization_function(config, on_initialize, callback, free);
    else if (kind == CALL_COMPACT)
        crealm.realm_config_set_should_compact_on_launch_function(config, on_compact, callback, free);
    else
        free(callback);
    return NULL;
}

/* renameProperty(realm, class, old, new): inside a migration; the realm is the new one. */
static napi_value rename_property(napi_env env, napi_callback_info info) {
    napi_value argument[4];
    struct addon* addon = arguments(env, info, 4, argument, NULL);
    void* realm;
    if (!addon || !handle_argument(addon, argument[0], KIND_REALM, false, &realm))
        return NULL;
    struct scratch scratch;
    scratch_begin(&scratch);
    const char *class_name, *old_name, *new_name;
    if (text_argument(addon, &scratch, argument[1], false, &class_name)
        && text_argument(addon, &scratch, argument[2], false, &old_name)
        && text_argument(addon, &scratch, argument[3], false, &new_name)) {
        realm_schema_t* schema = crealm.realm_get_schema(realm);
        if (!schema || !crealm.realm_schema_rename_property(realm, schema, class_name, old_name, new_name))
            throw_last_error(addon);
        release_later(addon, schema);
    }
    scratch_end(&scratch);
    return NULL;
}

/* updateSchema(realm, schema, version, inTransaction) */
static napi_value update_schema(napi_env env, napi_callback_info info) {
    napi_value argument[4];
    struct addon* addon = arguments(env, info, 4, argument, NULL);
    void *realm, *schema;
    uint64_t version;
    bool inside;
    if (!addon || !handle_argument(addon, argument[0], KIND_REALM, false, &realm)
        || !handle_argument(addon, argument[1], KIND_SCHEMA, false, &schema)
        || !unsigned_argument(addon, argument[2], UINT64_MAX - 1, &version)
        || !boolean_argument(addon, argument[3], &inside))
        return NULL;
    enter(addon);
    bool done = crealm.realm_update_schema_advanced(realm, schema, version, NULL, NULL, NULL, NULL, inside);
    leave(addon);
    if (!done)
        throw_last_error(addon);
    return NULL;
}

/* Asynchronous writes */

/* asyncBegin(realm, number): the number of the transaction. */
static napi_value async_begin(napi_env env, napi_callback_info info) {
    napi_value argument[2];
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    void* realm;
    if (!addon || !handle_argument(addon, argument[0], KIND_REALM, false, &realm) || !scheduler_watch(addon))
        return NULL;
    struct callback* callback = callback_new(addon, argument[1]);
    unsigned int number = 0;
    if (!callback)
        return NULL;
    enter(addon);
    bool done = crealm.realm_async_begin_write(realm, on_begin_write, callback, free, true, &number);
    leave(addon);
    return done ? number_to_js(addon, number) : throw_last_error(addon);
}

/* asyncCommit(realm, number) */
static napi_value async_commit(napi_env env, napi_callback_info info) {
    napi_value argument[2];
    struct addon* addon = arguments(env, info, 2, argument, NULL);
    void* realm;
    if (!addon || !handle_argument(addon, argument[0], KIND_REALM, false, &realm) || !scheduler_watch(addon))
        return NULL;
    struct callback* callback = callback_new(addon, argument[1]);
    if (!callback)
        return NULL;
    enter(addon);
    bool done = crealm.realm_async_commit(realm, on_committed, callback, free, false, NULL);
    leave(addon);
    return done ? NULL : throw_last_error(addon);
}

/* The event loop */

static void on_readable(uv_poll_t* poll, int status, int events) {
    struct addon* addon = poll->data;
    napi_env env = addon->env;
    napi_handle_scope scope;
    (void)status, (void)events;
    if (addon->closing || !addon->dispatch || napi_open_handle_scope(env, &scope) != napi_ok)
        return;
    napi_value function = NULL, global = NULL, kind = NULL, result = NULL, error = NULL;
    if (napi_get_reference_value(env, addon->dispatch, &function) == napi_ok && function
        && napi_get_global(env, &global) == napi_ok && napi_create_int32(env, CALL_TURN, &kind) == napi_ok
        && napi_make_callback(env, addon->context, global, function, 1, &kind, &result) != napi_ok) {
        bool pending = false;
        if (napi_is_exception_pending(env, &pending) == napi_ok && pending
            && napi_get_and_clear_last_exception(env, &error) == napi_ok)
            napi_fatal_exception(env, error);
    }
    napi_close_handle_scope(env, scope);
}

bool scheduler_watch(struct addon* addon) {
    uv_loop_t* loop = NULL;
    int fd = -1;
    if (addon->poll)
        return true;
    if (!good(addon, napi_get_uv_event_loop(addon->env, &loop)))
        return false;
    if (!addon->scheduler && !(addon->scheduler = crealm.realm_scheduler_make_default())) {
        throw_last_error(addon);
        return false;
    }
    if (!crealm.crealm_scheduler_get_fd(addon->scheduler, &fd)) {
        throw_last_error(addon);
        return false;
    }
    uv_poll_t* poll = calloc(1, sizeof *poll);
    if (!poll || uv_poll_init(loop, poll, fd) != 0) {
        free(poll);
        throw_error(addon, RLM_ERR_SYSTEM_ERROR, "The event loop cannot watch the realm");
        return false;
    }
    poll->data = addon;
    uv_unref((uv_handle_t*)poll);
    uv_poll_start(poll, UV_READABLE, on_readable);
    addon->poll = poll;
    return true;
}

static void on_poll_closed(uv_handle_t* handle) {
    struct addon* addon = handle->data;
    addon->poll = NULL;
    if (addon->finalized)
        free(addon);
    else if (addon->waits)
        napi_remove_async_cleanup_hook(addon->cleanup);
    free(handle);
}

/* At the end of the thread, as part of its clean-up. */
void scheduler_unwatch(struct addon* addon) {
    if (addon->poll) {
        uv_poll_stop(addon->poll);
        uv_close((uv_handle_t*)addon->poll, on_poll_closed);
    }
    crealm.realm_release(addon->scheduler);
    addon->scheduler = NULL;
}

/* runScheduler(): runs the work that waits. Returns whether anything ran. */
static napi_value run_scheduler(napi_env env, napi_callback_info info) {
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    bool ran = false;
    if (!addon)
        return NULL;
    if (!addon->scheduler)
        return boolean_to_js(addon, false);
    enter(addon);
    bool done = crealm.crealm_scheduler_run(addon->scheduler, 0, &ran);
    leave(addon);
    return done ? boolean_to_js(addon, ran) : throw_last_error(addon);
}

/* hold(flag): whether the poll keeps the process alive. */
static napi_value hold(napi_env env, napi_callback_info info) {
    napi_value argument[1];
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    bool flag;
    if (!addon || !boolean_argument(addon, argument[0], &flag) || !scheduler_watch(addon))
        return NULL;
    if (flag)
        uv_ref((uv_handle_t*)addon->poll);
    else
        uv_unref((uv_handle_t*)addon->poll);
    return NULL;
}

/* watch(): polls the scheduler of this thread from now on. */
static napi_value watch(napi_env env, napi_callback_info info) {
    struct addon* addon = arguments(env, info, 0, NULL, NULL);
    if (addon)
        scheduler_watch(addon);
    return NULL;
}

/* Messages of the library. The receiver is one for the process: a function of one thread. Messages of this thread reach
 * it at once, those of others in a turn of its event loop. */

static struct {
    struct addon* addon; /* NULL: no receiver */
    napi_threadsafe_function queue;
    pthread_t thread;
    double number;
} log_target;

static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER;

struct log_entry {
    int level;
    char text[]; /* category and message, each with a NUL */
};

/* Calls the receiver with [level, category, message]. It cannot use the package: the call that logs is running. */
static void log_to_js(struct addon* addon, double number, int level, const char* category, const char* message) {
    struct callback callback = {addon, number};
    napi_handle_scope scope;
    napi_value entry = NULL;
    if (addon->closing || addon->logging || napi_open_handle_scope(addon->env, &scope) != napi_ok)
        return;
    napi_value items[] = {number_to_js(addon, level), cstring_to_js(addon, category), cstring_to_js(addon, message)};
    bool made = napi_create_array_with_length(addon->env, 3, &entry) == napi_ok;
    for (uint32_t index = 0; made && index < 3; index++)
        made = items[index] && napi_set_element(addon->env, entry, index, items[index]) == napi_ok;
    addon->logging = true;
    if (made)
        dispatch(&callback, CALL_LOG, entry, NULL);
    addon->logging = false;
    napi_close_handle_scope(addon->env, scope);
}

static void log_from_queue(napi_env env, napi_value function, void* context, void* data) {
    struct log_entry* entry = data;
    (void)function, (void)context;
    pthread_mutex_lock(&log_mutex);
    struct addon* addon = log_target.addon;
    double number = log_target.number;
    bool own = addon && addon->env == env;
    pthread_mutex_unlock(&log_mutex);
    if (env && own)
        log_to_js(addon, number, entry->level, entry->text, entry->text + strlen(entry->text) + 1);
    free(entry);
}

static void on_log(void* userdata, const char* category, realm_log_level_e level, const char* message) {
    (void)userdata;
    pthread_mutex_lock(&log_mutex);
    struct addon* addon = log_target.addon;
    double number = log_target.number;
    bool own = addon && pthread_equal(pthread_self(), log_target.thread);
    if (addon && !own) {
        size_t first = strlen(category) + 1, second = strlen(message) + 1;
        struct log_entry* entry = malloc(sizeof *entry + first + second);
        if (entry) {
            entry->level = level;
            memcpy(entry->text, category, first);
            memcpy(entry->text + first, message, second);
            if (napi_call_threadsafe_function(log_target.queue, entry, napi_tsfn_nonblocking) != napi_ok)
                free(entry);
        }
    }
    pthread_mutex_unlock(&log_mutex);
    if (own)
        log_to_js(addon, number, level, category, message);
}

/* Another receiver, or none. */
static void log_set(struct addon* addon, napi_threadsafe_function queue, double number) {
    pthread_mutex_lock(&log_mutex);
    napi_threadsafe_function before = log_target.addon ? log_target.queue : NULL;
    log_target.addon = addon;
    log_target.queue = queue;
    log_target.thread = pthread_self();
    log_target.number = number;
    pthread_mutex_unlock(&log_mutex);
    crealm.realm_set_log_callback(addon ? on_log : NULL, NULL, NULL);
    if (before)
        napi_release_threadsafe_function(before, napi_tsfn_release);
}

void log_end(struct addon* addon) {
    pthread_mutex_lock(&log_mutex);
    bool own = log_target.addon == addon;
    pthread_mutex_unlock(&log_mutex);
    if (own)
        log_set(NULL, NULL, 0);
}

/* setLogger(number): sends messages to a callback; undefined: to standard error again. */
static napi_value set_logger(napi_env env, napi_callback_info info) {
    napi_value argument[1], name;
    struct addon* addon = arguments(env, info, 1, argument, NULL);
    napi_threadsafe_function queue = NULL;
    double number = 0;
    if (!addon)
        return NULL;
    if (napi_get_value_double(env, argument[0], &number) != napi_ok) {
        log_set(NULL, NULL, 0);
    } else if (good(addon, napi_create_string_latin1(env, "crealm log", NAPI_AUTO_LENGTH, &name))
               && good(addon, napi_create_threadsafe_function(env, NULL, NULL, name, 0, 1, NULL, NULL, NULL,
                                                              log_from_queue, &queue))
               && good(addon, napi_unref_threadsafe_function(env, queue))) {
        log_set(addon, queue, number);
    }
    return NULL;
}

const struct function callback_functions[] = {
    {"listen", add_listener},
    {"listenToSchema", listen_to_schema},
    {"onOpen", on_open},
    {"renameProperty", rename_property},
    {"updateSchema", update_schema},
    {"asyncBegin", async_begin},
    {"asyncCommit", async_commit},
    {"runScheduler", run_scheduler},
    {"hold", hold},
    {"watch", watch},
    {"setLogger", set_logger},
};
const size_t callback_function_count = COUNT_OF(callback_functions);
