/* callbacks.c - callbacks of the database library, which call static methods of the Java class Native.
 *
 * Userdata is a global reference to a Java object; the library frees it once, on any thread. The methods of Native
 * catch all exceptions, so none is pending when a callback returns. */

#include <pthread.h>

#include "shim.h"

static void* pointer(jlong address) {
    return (void*)(intptr_t)address;
}

static pthread_key_t attached;
static pthread_once_t attached_once = PTHREAD_ONCE_INIT;

static void detach(void* value) {
    (void)value;
    (*java.vm)->DetachCurrentThread(java.vm);
}

static void attached_init(void) {
    pthread_key_create(&attached, detach);
}

/** The environment of this thread. A thread that the JVM does not know becomes a daemon of it, until the thread
 *  ends. NULL: the JVM is ending. */
JNIEnv* thread_env(void) {
    JNIEnv* env = NULL;
    if ((*java.vm)->GetEnv(java.vm, (void**)&env, JNI_VERSION_1_6) == JNI_OK)
        return env;
    if ((*java.vm)->AttachCurrentThreadAsDaemon(java.vm, (void*)&env, NULL) != JNI_OK)
        return NULL;
    pthread_once(&attached_once, attached_init);
    pthread_setspecific(attached, env);
    return env;
}

void* reference_new(JNIEnv* env, jobject object) {
    return (*env)->NewGlobalRef(env, object);
}

void reference_free(void* userdata) {
    JNIEnv* env = userdata ? thread_env() : NULL;
    if (env)
        (*env)->DeleteGlobalRef(env, userdata);
}

/** Nothing of a callback may stay pending: the library would go on with it. */
static void forget_exception(JNIEnv* env) {
    if ((*env)->ExceptionCheck(env)) {
        (*env)->ExceptionDescribe(env);
        (*env)->ExceptionClear(env);
    }
}

/* ---- changes ---- */

/* Kinds, as in collections.c; and a realm. */
enum { KIND_LIST, KIND_SET, KIND_DICTIONARY, KIND_RESULTS, KIND_OBJECT, KIND_REALM };

/** Calls Native.changed(). Takes the ownership of the numbers; NULL: no memory, and the change is not reported. */
static void report(void* userdata, int kind, jlong* numbers, size_t count, struct buffer* keys) {
    JNIEnv* env = thread_env();
    if (env && (numbers || !count)) {
        (*env)->PushLocalFrame(env, 8);
        jlongArray array = (*env)->NewLongArray(env, (jsize)count);
        jbyteArray bytes = array && keys ? array_of(env, keys->data, keys->size) : NULL;
        if (array && count)
            (*env)->SetLongArrayRegion(env, array, 0, (jsize)count, numbers);
        if (array && !(*env)->ExceptionCheck(env))
            (*env)->CallStaticVoidMethod(env, java.native, java.changed, (jobject)userdata, (jint)kind, array, bytes);
        forget_exception(env);
        (*env)->PopLocalFrame(env, NULL);
    }
    free(numbers);
}

static void object_changed(void* userdata, const realm_object_changes_t* changes) {
    size_t count = crealm.realm_object_changes_get_num_modified_properties(changes);
    jlong* numbers = malloc((count + 1) * sizeof *numbers);
    if (numbers) {
        numbers[0] = crealm.realm_object_changes_is_deleted(changes);
        crealm.realm_object_changes_get_modified_properties(changes, (realm_property_key_t*)(numbers + 1), count);
    }
    report(userdata, KIND_OBJECT, numbers, count + 1, NULL);
}

/** Two flags, five counts, then the indices of each kind; a move has two. */
static void collection_changed(void* userdata, const realm_collection_changes_t* changes) {
    size_t deletions = 0, insertions = 0, modifications = 0, moves = 0;
    bool cleared = false, deleted = false;
    crealm.realm_collection_changes_get_num_changes(changes, &deletions, &insertions, &modifications, &moves, &cleared,
                                                    &deleted);
    size_t total = deletions + insertions + 2 * modifications;
    size_t* indices = calloc(total + 1, sizeof *indices);
    realm_collection_move_t* pairs = calloc(moves + 1, sizeof *pairs);
    jlong* numbers = calloc(6 + total + 2 * moves, sizeof *numbers);
    if (indices && pairs && numbers) {
        size_t* after = indices + deletions + insertions + modifications;
        crealm.realm_collection_changes_get_changes(changes, indices, deletions, indices + deletions, insertions,
                                                    indices + deletions + insertions, modifications, after,
                                                    modifications, pairs, moves);
        const jlong head[6] = {cleared,           deleted,
                               (jlong)deletions,  (jlong)insertions,
                               (jlong)modifications, (jlong)moves};
        memcpy(numbers, head, sizeof head);
        for (size_t index = 0; index < total; index++)
            numbers[6 + index] = (jlong)indices[index];
        for (size_t index = 0; index < moves; index++) {
            numbers[6 + total + 2 * index] = (jlong)pairs[index].from;
            numbers[7 + total + 2 * index] = (jlong)pairs[index].to;
        }
        report(userdata, KIND_RESULTS, numbers, 6 + total + 2 * moves, NULL);
    } else {
        free(numbers);
    }
    free(indices);
    free(pairs);
}

/** Two flags, three counts; the keys are texts after their sizes. */
static void dictionary_changed(void* userdata, const realm_dictionary_changes_t* changes) {
    size_t deletions = 0, insertions = 0, modifications = 0;
    bool deleted = false, cleared = false;
    crealm.realm_dictionary_get_changes(changes, &deletions, &insertions, &modifications, &deleted);
    size_t total = deletions + insertions + modifications;
    realm_value_t* keys = calloc(total + 1, sizeof *keys);
    jlong* numbers = calloc(5, sizeof *numbers);
    struct buffer buffer;
    buffer_begin(&buffer);
    if (keys && numbers) {
        crealm.realm_dictionary_get_changed_keys(changes, keys, &deletions, keys + deletions, &insertions,
                                                 keys + deletions + insertions, &modifications, &cleared);
        const jlong head[5] = {cleared, deleted, (jlong)deletions, (jlong)insertions, (jlong)modifications};
        memcpy(numbers, head, sizeof head);
        for (size_t index = 0; index < deletions + insertions + modifications; index++) {
            buffer_int(&buffer, (int64_t)keys[index].string.size);
            buffer_bytes(&buffer, keys[index].string.data, keys[index].string.size);
        }
        if (buffer.failed)
            free(numbers);
        else
            report(userdata, KIND_DICTIONARY, numbers, 5, &buffer);
    } else {
        free(numbers);
    }
    buffer_end(&buffer);
    free(keys);
}

static void realm_changed(void* userdata) {
    report(userdata, KIND_REALM, NULL, 0, NULL);
}

/** Texts of a Java array of byte arrays, for realm_create_key_path_array(). */
static realm_key_path_array_t* key_paths(JNIEnv* env, jlong realm, jint class_key, jobjectArray paths) {
    size_t count = (size_t)(*env)->GetArrayLength(env, paths), read = 0;
    struct bytes* texts = calloc(count + 1, sizeof *texts);
    const char** names = calloc(count + 1, sizeof *names);
    realm_key_path_array_t* made = NULL;
    bool done = texts && names;
    if (!done)
        out_of_memory(env);
    for (; done && read < count; read += done) {
        jbyteArray path = (*env)->GetObjectArrayElement(env, paths, (jsize)read);
        done = text_in(env, path, false, texts + read);
        names[read] = texts[read].data;
        (*env)->DeleteLocalRef(env, path);
    }
    if (done)
        made = crealm.realm_create_key_path_array(pointer(realm), (realm_class_key_t)class_key, count, names);
    if (done && !made)
        fail(env);
    for (size_t index = 0; index < read; index++)
        bytes_end(texts + index);
    free(texts);
    free(names);
    return made;
}

/** Registers a Java object for changes.
 *
 *  address: a collection, an object, or the realm itself.
 *  paths:   null: all properties.
 *  Returns: a token. */
static jlong observe(JNIEnv* env, jclass type, jobject owner, jlong address, jint kind, jlong realm, jint class_key,
                     jobjectArray paths, jobject listener) {
    (void)type, (void)owner;
    realm_key_path_array_t* filter = NULL;
    if (paths && !(filter = key_paths(env, realm, class_key, paths)))
        return 0;
    void *handle = pointer(address), *token = NULL, *data = reference_new(env, listener);
    if (!data)
        out_of_memory(env);
    else if (kind == KIND_LIST)
        token = crealm.realm_list_add_notification_callback(handle, data, reference_free, filter, collection_changed);
    else if (kind == KIND_SET)
        token = crealm.realm_set_add_notification_callback(handle, data, reference_free, filter, collection_changed);
    else if (kind == KIND_DICTIONARY)
        token = crealm.realm_dictionary_add_notification_callback(handle, data, reference_free, filter,
                                                                  dictionary_changed);
    else if (kind == KIND_RESULTS)
        token = crealm.realm_results_add_notification_callback(handle, data, reference_free, filter,
                                                               collection_changed);
    else if (kind == KIND_OBJECT)
        token = crealm.realm_object_add_notification_callback(handle, data, reference_free, filter, object_changed);
    else
        token = crealm.realm_add_realm_changed_callback(handle, realm_changed, data, reference_free);
    if (!token)
        fail(env);
    crealm.realm_release(filter);
    return (jlong)(intptr_t)token;
}

/* ---- callbacks of a configuration ---- */

static bool called_boolean(JNIEnv* env, jboolean result) {
    bool failed = (*env)->ExceptionCheck(env);
    forget_exception(env);
    return result && !failed;
}

static bool migrate(void* userdata, realm_t* old_realm, realm_t* new_realm, const realm_schema_t* schema) {
    JNIEnv* env = thread_env();
    return env && called_boolean(env, (*env)->CallStaticBooleanMethod(
                                          env, java.native, java.migrate, (jobject)userdata, (jlong)(intptr_t)old_realm,
                                          (jlong)(intptr_t)new_realm, (jlong)(intptr_t)schema));
}

static bool initialize(void* userdata, realm_t* realm) {
    JNIEnv* env = thread_env();
    return env && called_boolean(env, (*env)->CallStaticBooleanMethod(env, java.native, java.initialize,
                                                                      (jobject)userdata, (jlong)(intptr_t)realm));
}

static bool compact(void* userdata, uint64_t total, uint64_t used) {
    JNIEnv* env = thread_env();
    jint answer = env ? (*env)->CallStaticIntMethod(env, java.native, java.compact, (jobject)userdata, (jlong)total,
                                                    (jlong)used)
                      : 0;
    if (env)
        forget_exception(env);
    // Only a registered error makes the open fail; nobody reads the pointer.
    if (answer < 0)
        crealm.realm_register_user_code_callback_error(userdata);
    return answer > 0;
}

static bool progress(const crealm_progress_t* progress) {
    JNIEnv* env = thread_env();
    return !env || called_boolean(env, (*env)->CallStaticBooleanMethod(
                                           env, java.native, java.progress, (jobject)progress->userdata,
                                           (jint)progress->activity, (jlong)progress->done, (jlong)progress->total));
}

/* The callbacks of a configuration, as Java numbers them. */
enum { ON_MIGRATION, ON_INITIALIZATION, ON_COMPACTION, ON_PROGRESS };

static void set_callback(JNIEnv* env, jclass type, jobject owner, jlong config, jint which, jobject callback) {
    (void)type, (void)owner;
    void* data = reference_new(env, callback);
    if (!data)
        out_of_memory(env);
    else if (which == ON_MIGRATION)
        crealm.realm_config_set_migration_function(pointer(config), migrate, data, reference_free);
    else if (which == ON_INITIALIZATION)
        crealm.realm_config_set_data_initialization_function(pointer(config), initialize, data, reference_free);
    else if (which == ON_COMPACTION)
        crealm.realm_config_set_should_compact_on_launch_function(pointer(config), compact, data, reference_free);
    else
        crealm.crealm_config_set_progress(pointer(config), progress, data, reference_free);
}

/* ---- messages ---- */

static void logged(void* userdata, const char* category, realm_log_level_e level, const char* message) {
    JNIEnv* env = thread_env();
    if (!env || (*env)->ExceptionCheck(env))
        return;
    (*env)->PushLocalFrame(env, 8);
    jbyteArray name = text_out(env, category), text = name ? text_out(env, message) : NULL;
    if (text)
        (*env)->CallStaticVoidMethod(env, java.native, java.log, (jobject)userdata, (jint)level, name, text);
    forget_exception(env);
    (*env)->PopLocalFrame(env, NULL);
}

/** Sends messages to a Java object; null: to standard error. */
static void set_logger(JNIEnv* env, jclass type, jobject logger) {
    (void)type;
    void* data = logger ? reference_new(env, logger) : NULL;
    crealm.realm_set_log_callback(data ? logged : NULL, data, data ? reference_free : NULL);
}

/* ---- a scheduler ---- */

static void work_waits(void* userdata) {
    JNIEnv* env = thread_env();
    if (!env || (*env)->ExceptionCheck(env))
        return;
    (*env)->CallStaticVoidMethod(env, java.native, java.work, (jobject)userdata);
    forget_exception(env);
}

/** A serial scheduler. work: [optional]; a Runnable that is called on any thread when work waits. */
static jlong serial_scheduler(JNIEnv* env, jclass type, jobject work) {
    (void)type;
    void* data = work ? reference_new(env, work) : NULL;
    realm_scheduler_t* made =
        crealm.crealm_scheduler_new_serial(data, data ? reference_free : NULL, data ? work_waits : NULL);
    if (!made)
        fail(env);
    return (jlong)(intptr_t)made;
}

const JNINativeMethod callback_methods[] = {
    {"serialScheduler", "(Ljava/lang/Object;)J", (void*)serial_scheduler},
    {"observe", "(Lorg/crealm/Handle;JIJI[[BLjava/lang/Object;)J", (void*)observe},
    {"setCallback", "(Lorg/crealm/Handle;JILjava/lang/Object;)V", (void*)set_callback},
    {"setLogger", "(Ljava/lang/Object;)V", (void*)set_logger},
};
const size_t callback_method_count = COUNT_OF(callback_methods);
