/* Made by Scripts/bindings_jvm.py from include/api.json; do not edit. */

#include "../src/shim.h"

static jlong call_crealm_backup_since(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jbyteArray previous_given, jbyteArray path_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)realm_owner;
    struct bytes previous_text;
    struct bytes path_text;
    uint64_t outSize = 0;
    previous_text.data = NULL;
    path_text.data = NULL;
    if (text_in(env, previous_given, true, &previous_text) &&
        text_in(env, path_given, false, &path_text)) {
        bool made = crealm.crealm_backup_since((realm_t*)(intptr_t)realm_given, previous_text.data, path_text.data,
                &outSize);
        if (!made)
            fail(env);
        else
            result = (jlong)outSize;
    }
    bytes_end(&previous_text);
    bytes_end(&path_text);
    return result;
}

static jlong call_crealm_begin_savepoint(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)realm_owner;
    uint32_t outSavepoint = 0;
    bool made = crealm.crealm_begin_savepoint((realm_t*)(intptr_t)realm_given, &outSavepoint);
    if (!made)
        fail(env);
    else
        result = (jlong)outSavepoint;
    return result;
}

static void call_realm_begin_write(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    (void)realm_owner;
    bool made = crealm.realm_begin_write((realm_t*)(intptr_t)realm_given);
    if (!made)
        fail(env);
}

static void call_crealm_change_key(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jobject config_owner, jlong config_given) {
    (void)env, (void)type;
    (void)realm_owner;
    (void)config_owner;
    bool made = crealm.crealm_change_key((realm_t*)(intptr_t)realm_given, (realm_config_t*)(intptr_t)config_given);
    if (!made)
        fail(env);
}

static jbyteArray call_crealm_class_get_rules(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jint classKey_given) {
    (void)env, (void)type;
    jbyteArray result = 0;
    (void)realm_owner;
    char* made = crealm.crealm_class_get_rules((realm_t*)(intptr_t)realm_given, (realm_class_key_t)classKey_given);
    if (!made)
        fail(env);
    else
        result = owned_text_out(env, made);
    return result;
}

static jboolean call_realm_close(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)realm_owner;
    bool made = crealm.realm_close((realm_t*)(intptr_t)realm_given);
    result = made;
    return result;
}

static void call_realm_commit(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    (void)realm_owner;
    bool made = crealm.realm_commit((realm_t*)(intptr_t)realm_given);
    if (!made)
        fail(env);
}

static jboolean call_realm_compact(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)realm_owner;
    bool didCompact = false;
    bool made = crealm.realm_compact((realm_t*)(intptr_t)realm_given, &didCompact);
    if (!made)
        fail(env);
    else
        result = didCompact;
    return result;
}

static jlong call_realm_config_new(JNIEnv* env, jclass type) {
    (void)env, (void)type;
    jlong result = 0;
    realm_config_t* made =
        crealm.realm_config_new();
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static void call_crealm_config_set_durability(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jint durability_given) {
    (void)env, (void)type;
    (void)config_owner;
    crealm.crealm_config_set_durability((realm_config_t*)(intptr_t)config_given, (crealm_durability_e)durability_given);
}

static void call_realm_config_set_in_memory(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jboolean inMemory_given) {
    (void)env, (void)type;
    (void)config_owner;
    crealm.realm_config_set_in_memory((realm_config_t*)(intptr_t)config_given, inMemory_given);
}

static void call_crealm_config_set_lock_timeout(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jlong milliseconds_given) {
    (void)env, (void)type;
    (void)config_owner;
    crealm.crealm_config_set_lock_timeout((realm_config_t*)(intptr_t)config_given, (int64_t)milliseconds_given);
}

static void call_crealm_config_set_page_cipher(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jint cipher_given) {
    (void)env, (void)type;
    (void)config_owner;
    crealm.crealm_config_set_page_cipher((realm_config_t*)(intptr_t)config_given, (crealm_page_cipher_e)cipher_given);
}

static void call_realm_config_set_path(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jbyteArray path_given) {
    (void)env, (void)type;
    (void)config_owner;
    struct bytes path_text;
    path_text.data = NULL;
    if (text_in(env, path_given, false, &path_text)) {
        crealm.realm_config_set_path((realm_config_t*)(intptr_t)config_given, path_text.data);
    }
    bytes_end(&path_text);
}

static void call_crealm_config_set_rules(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jbyteArray rules_given) {
    (void)env, (void)type;
    (void)config_owner;
    struct bytes rules_text;
    rules_text.data = NULL;
    if (text_in(env, rules_given, true, &rules_text)) {
        bool made = crealm.crealm_config_set_rules((realm_config_t*)(intptr_t)config_given, rules_text.data);
        if (!made)
            fail(env);
    }
    bytes_end(&rules_text);
}

static void call_realm_config_set_scheduler(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jobject scheduler_owner, jlong scheduler_given) {
    (void)env, (void)type;
    (void)config_owner;
    (void)scheduler_owner;
    crealm.realm_config_set_scheduler((realm_config_t*)(intptr_t)config_given,
            (realm_scheduler_t*)(intptr_t)scheduler_given);
}

static void call_realm_config_set_schema(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jobject schema_owner, jlong schema_given) {
    (void)env, (void)type;
    (void)config_owner;
    (void)schema_owner;
    crealm.realm_config_set_schema((realm_config_t*)(intptr_t)config_given, (realm_schema_t*)(intptr_t)schema_given);
}

static void call_realm_config_set_schema_mode(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jint mode_given) {
    (void)env, (void)type;
    (void)config_owner;
    crealm.realm_config_set_schema_mode((realm_config_t*)(intptr_t)config_given, (realm_schema_mode_e)mode_given);
}

static void call_realm_config_set_schema_version(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jlong version_given) {
    (void)env, (void)type;
    (void)config_owner;
    crealm.realm_config_set_schema_version((realm_config_t*)(intptr_t)config_given, (uint64_t)version_given);
}

static void call_crealm_config_set_snapshot(JNIEnv* env, jclass type, jobject config_owner, jlong config_given,
        jboolean snapshot_given) {
    (void)env, (void)type;
    (void)config_owner;
    crealm.crealm_config_set_snapshot((realm_config_t*)(intptr_t)config_given, snapshot_given);
}

static void call_realm_convert_with_config(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jobject config_owner, jlong config_given, jboolean mergeWithExisting_given) {
    (void)env, (void)type;
    (void)realm_owner;
    (void)config_owner;
    bool made = crealm.realm_convert_with_config((realm_t*)(intptr_t)realm_given,
            (realm_config_t*)(intptr_t)config_given, mergeWithExisting_given);
    if (!made)
        fail(env);
}

static jboolean call_realm_delete_files(JNIEnv* env, jclass type, jbyteArray realmFilePath_given) {
    (void)env, (void)type;
    jboolean result = 0;
    struct bytes realmFilePath_text;
    bool didDeleteRealm = false;
    realmFilePath_text.data = NULL;
    if (text_in(env, realmFilePath_given, false, &realmFilePath_text)) {
        bool made = crealm.realm_delete_files(realmFilePath_text.data, &didDeleteRealm);
        if (!made)
            fail(env);
        else
            result = didDeleteRealm;
    }
    bytes_end(&realmFilePath_text);
    return result;
}

static void call_realm_dictionary_clear(JNIEnv* env, jclass type, jobject dictionary_owner, jlong dictionary_given) {
    (void)env, (void)type;
    (void)dictionary_owner;
    bool made = crealm.realm_dictionary_clear((realm_dictionary_t*)(intptr_t)dictionary_given);
    if (!made)
        fail(env);
}

static jboolean call_realm_dictionary_contains_key(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    bool found = false;
    key_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key)) {
        bool made = crealm.realm_dictionary_contains_key((realm_dictionary_t*)(intptr_t)dictionary_given, key, &found);
        if (!made)
            fail(env);
        else
            result = found;
    }
    bytes_end(&key_bytes);
    return result;
}

static jboolean call_realm_dictionary_erase(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    bool outErased = false;
    key_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key)) {
        bool made = crealm.realm_dictionary_erase((realm_dictionary_t*)(intptr_t)dictionary_given, key, &outErased);
        if (!made)
            fail(env);
        else
            result = outErased;
    }
    bytes_end(&key_bytes);
    return result;
}

static jbyteArray call_realm_dictionary_find(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given) {
    (void)env, (void)type;
    jbyteArray result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    realm_value_t outValue;
    memset(&outValue, 0, sizeof outValue);
    bool outFound = false;
    key_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key)) {
        bool made = crealm.realm_dictionary_find((realm_dictionary_t*)(intptr_t)dictionary_given, key, &outValue,
                &outFound);
        if (!made)
            fail(env);
        else
            result = outFound ? value_out(env, &outValue) : NULL;
    }
    bytes_end(&key_bytes);
    return result;
}

static jlong call_realm_dictionary_get_dictionary(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    key_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key)) {
        realm_dictionary_t* made =
            crealm.realm_dictionary_get_dictionary((realm_dictionary_t*)(intptr_t)dictionary_given, key);
        if (!made)
            fail(env);
        else
            result = (jlong)(intptr_t)made;
    }
    bytes_end(&key_bytes);
    return result;
}

static jlong call_realm_dictionary_get_list(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    key_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key)) {
        realm_list_t* made =
            crealm.realm_dictionary_get_list((realm_dictionary_t*)(intptr_t)dictionary_given, key);
        if (!made)
            fail(env);
        else
            result = (jlong)(intptr_t)made;
    }
    bytes_end(&key_bytes);
    return result;
}

static jboolean call_realm_dictionary_insert(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given, jbyteArray value_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    struct bytes value_bytes;
    realm_value_t value;
    size_t outIndex = 0;
    bool outInserted = false;
    key_bytes.data = NULL;
    value_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key) &&
        value_in(env, value_given, &value_bytes, &value)) {
        bool made = crealm.realm_dictionary_insert((realm_dictionary_t*)(intptr_t)dictionary_given, key, value,
                &outIndex, &outInserted);
        if (!made)
            fail(env);
        else
            result = outInserted;
    }
    bytes_end(&key_bytes);
    bytes_end(&value_bytes);
    return result;
}

static jlong call_realm_dictionary_insert_dictionary(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    key_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key)) {
        realm_dictionary_t* made =
            crealm.realm_dictionary_insert_dictionary((realm_dictionary_t*)(intptr_t)dictionary_given, key);
        if (!made)
            fail(env);
        else
            result = (jlong)(intptr_t)made;
    }
    bytes_end(&key_bytes);
    return result;
}

static jlong call_realm_dictionary_insert_list(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given, jbyteArray key_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)dictionary_owner;
    struct bytes key_bytes;
    realm_value_t key;
    key_bytes.data = NULL;
    if (value_in(env, key_given, &key_bytes, &key)) {
        realm_list_t* made =
            crealm.realm_dictionary_insert_list((realm_dictionary_t*)(intptr_t)dictionary_given, key);
        if (!made)
            fail(env);
        else
            result = (jlong)(intptr_t)made;
    }
    bytes_end(&key_bytes);
    return result;
}

static jboolean call_realm_dictionary_is_valid(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)dictionary_owner;
    bool made = crealm.realm_dictionary_is_valid((realm_dictionary_t*)(intptr_t)dictionary_given);
    result = made;
    return result;
}

static jlong call_realm_dictionary_size(JNIEnv* env, jclass type, jobject dictionary_owner, jlong dictionary_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)dictionary_owner;
    size_t outSize = 0;
    bool made = crealm.realm_dictionary_size((realm_dictionary_t*)(intptr_t)dictionary_given, &outSize);
    if (!made)
        fail(env);
    else
        result = (jlong)outSize;
    return result;
}

static jlong call_realm_dictionary_to_results(JNIEnv* env, jclass type, jobject dictionary_owner,
        jlong dictionary_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)dictionary_owner;
    realm_results_t* made =
        crealm.realm_dictionary_to_results((realm_dictionary_t*)(intptr_t)dictionary_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_freeze(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)realm_owner;
    realm_t* made =
        crealm.realm_freeze((realm_t*)(intptr_t)realm_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jbyteArray call_realm_get_library_version(JNIEnv* env, jclass type) {
    (void)env, (void)type;
    jbyteArray result = 0;
    const char* made = crealm.realm_get_library_version();
    if (!made)
        fail(env);
    else
        result = text_out(env, made);
    return result;
}

static jlong call_realm_get_num_versions(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)realm_owner;
    uint64_t outVersionsCount = 0;
    bool made = crealm.realm_get_num_versions((realm_t*)(intptr_t)realm_given, &outVersionsCount);
    if (!made)
        fail(env);
    else
        result = (jlong)outVersionsCount;
    return result;
}

static jlong call_realm_get_schema_version(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)realm_owner;
    int64_t made = (int64_t)crealm.realm_get_schema_version((realm_t*)(intptr_t)realm_given);
    result = (jlong)made;
    return result;
}

static jboolean call_crealm_interrupt(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)realm_owner;
    bool made = crealm.crealm_interrupt((realm_t*)(intptr_t)realm_given);
    result = made;
    return result;
}

static jboolean call_realm_is_closed(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)realm_owner;
    bool made = crealm.realm_is_closed((realm_t*)(intptr_t)realm_given);
    result = made;
    return result;
}

static jboolean call_realm_is_writable(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)realm_owner;
    bool made = crealm.realm_is_writable((realm_t*)(intptr_t)realm_given);
    result = made;
    return result;
}

static void call_realm_list_clear(JNIEnv* env, jclass type, jobject list_owner, jlong list_given) {
    (void)env, (void)type;
    (void)list_owner;
    bool made = crealm.realm_list_clear((realm_list_t*)(intptr_t)list_given);
    if (!made)
        fail(env);
}

static void call_realm_list_erase(JNIEnv* env, jclass type, jobject list_owner, jlong list_given, jlong index_given) {
    (void)env, (void)type;
    (void)list_owner;
    bool made = crealm.realm_list_erase((realm_list_t*)(intptr_t)list_given, (size_t)index_given);
    if (!made)
        fail(env);
}

static jlong call_realm_list_find(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jbyteArray value_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    struct bytes value_bytes;
    realm_value_t value;
    size_t outIndex = 0;
    bool outFound = false;
    value_bytes.data = NULL;
    if (value_in(env, value_given, &value_bytes, &value)) {
        bool made = crealm.realm_list_find((realm_list_t*)(intptr_t)list_given, &value, &outIndex, &outFound);
        if (!made)
            fail(env);
        else
            result = outFound ? (jlong)outIndex : -1;
    }
    bytes_end(&value_bytes);
    return result;
}

static jlong call_realm_list_get_dictionary(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jlong index_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    realm_dictionary_t* made =
        crealm.realm_list_get_dictionary((realm_list_t*)(intptr_t)list_given, (size_t)index_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_list_get_list(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jlong index_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    realm_list_t* made =
        crealm.realm_list_get_list((realm_list_t*)(intptr_t)list_given, (size_t)index_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static void call_realm_list_insert(JNIEnv* env, jclass type, jobject list_owner, jlong list_given, jlong index_given,
        jbyteArray value_given) {
    (void)env, (void)type;
    (void)list_owner;
    struct bytes value_bytes;
    realm_value_t value;
    value_bytes.data = NULL;
    if (value_in(env, value_given, &value_bytes, &value)) {
        bool made = crealm.realm_list_insert((realm_list_t*)(intptr_t)list_given, (size_t)index_given, value);
        if (!made)
            fail(env);
    }
    bytes_end(&value_bytes);
}

static jlong call_realm_list_insert_dictionary(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jlong index_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    realm_dictionary_t* made =
        crealm.realm_list_insert_dictionary((realm_list_t*)(intptr_t)list_given, (size_t)index_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_list_insert_list(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jlong index_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    realm_list_t* made =
        crealm.realm_list_insert_list((realm_list_t*)(intptr_t)list_given, (size_t)index_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jboolean call_realm_list_is_valid(JNIEnv* env, jclass type, jobject list_owner, jlong list_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)list_owner;
    bool made = crealm.realm_list_is_valid((realm_list_t*)(intptr_t)list_given);
    result = made;
    return result;
}

static void call_realm_list_move(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jlong fromIndex_given, jlong toIndex_given) {
    (void)env, (void)type;
    (void)list_owner;
    bool made = crealm.realm_list_move((realm_list_t*)(intptr_t)list_given, (size_t)fromIndex_given,
            (size_t)toIndex_given);
    if (!made)
        fail(env);
}

static void call_realm_list_remove_all(JNIEnv* env, jclass type, jobject list_owner, jlong list_given) {
    (void)env, (void)type;
    (void)list_owner;
    bool made = crealm.realm_list_remove_all((realm_list_t*)(intptr_t)list_given);
    if (!made)
        fail(env);
}

static void call_realm_list_set(JNIEnv* env, jclass type, jobject list_owner, jlong list_given, jlong index_given,
        jbyteArray value_given) {
    (void)env, (void)type;
    (void)list_owner;
    struct bytes value_bytes;
    realm_value_t value;
    value_bytes.data = NULL;
    if (value_in(env, value_given, &value_bytes, &value)) {
        bool made = crealm.realm_list_set((realm_list_t*)(intptr_t)list_given, (size_t)index_given, value);
        if (!made)
            fail(env);
    }
    bytes_end(&value_bytes);
}

static jlong call_realm_list_set_dictionary(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jlong index_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    realm_dictionary_t* made =
        crealm.realm_list_set_dictionary((realm_list_t*)(intptr_t)list_given, (size_t)index_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_list_set_list(JNIEnv* env, jclass type, jobject list_owner, jlong list_given,
        jlong index_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    realm_list_t* made =
        crealm.realm_list_set_list((realm_list_t*)(intptr_t)list_given, (size_t)index_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_list_size(JNIEnv* env, jclass type, jobject list_owner, jlong list_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    size_t outSize = 0;
    bool made = crealm.realm_list_size((realm_list_t*)(intptr_t)list_given, &outSize);
    if (!made)
        fail(env);
    else
        result = (jlong)outSize;
    return result;
}

static jlong call_realm_list_to_results(JNIEnv* env, jclass type, jobject list_owner, jlong list_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)list_owner;
    realm_results_t* made =
        crealm.realm_list_to_results((realm_list_t*)(intptr_t)list_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_object_find_all(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jint classKey_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)realm_owner;
    realm_results_t* made =
        crealm.realm_object_find_all((realm_t*)(intptr_t)realm_given, (realm_class_key_t)classKey_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_open(JNIEnv* env, jclass type, jobject config_owner, jlong config_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)config_owner;
    realm_t* made =
        crealm.realm_open((realm_config_t*)(intptr_t)config_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_query_find_all(JNIEnv* env, jclass type, jobject query_owner, jlong query_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)query_owner;
    realm_results_t* made =
        crealm.realm_query_find_all((realm_query_t*)(intptr_t)query_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jbyteArray call_realm_query_get_description(JNIEnv* env, jclass type, jobject query_owner, jlong query_given) {
    (void)env, (void)type;
    jbyteArray result = 0;
    (void)query_owner;
    const char* made = crealm.realm_query_get_description((realm_query_t*)(intptr_t)query_given);
    if (!made)
        fail(env);
    else
        result = text_out(env, made);
    return result;
}

static jboolean call_realm_refresh(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)realm_owner;
    bool didRefresh = false;
    bool made = crealm.realm_refresh((realm_t*)(intptr_t)realm_given, &didRefresh);
    if (!made)
        fail(env);
    else
        result = didRefresh;
    return result;
}

static void call_crealm_release_savepoint(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jint savepoint_given) {
    (void)env, (void)type;
    (void)realm_owner;
    bool made = crealm.crealm_release_savepoint((realm_t*)(intptr_t)realm_given, (uint32_t)savepoint_given);
    if (!made)
        fail(env);
}

static jboolean call_realm_remove_table(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jbyteArray tableName_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)realm_owner;
    struct bytes tableName_text;
    bool tableDeleted = false;
    tableName_text.data = NULL;
    if (text_in(env, tableName_given, false, &tableName_text)) {
        bool made = crealm.realm_remove_table((realm_t*)(intptr_t)realm_given, tableName_text.data, &tableDeleted);
        if (!made)
            fail(env);
        else
            result = tableDeleted;
    }
    bytes_end(&tableName_text);
    return result;
}

static jbyteArray call_realm_results_average(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jlong property_given) {
    (void)env, (void)type;
    jbyteArray result = 0;
    (void)results_owner;
    realm_value_t outAverage;
    memset(&outAverage, 0, sizeof outAverage);
    bool outFound = false;
    bool made = crealm.realm_results_average((realm_results_t*)(intptr_t)results_given,
            (realm_property_key_t)property_given, &outAverage, &outFound);
    if (!made)
        fail(env);
    else
        result = value_out(env, &outAverage);
    return result;
}

static jlong call_realm_results_count(JNIEnv* env, jclass type, jobject results_owner, jlong results_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)results_owner;
    size_t outCount = 0;
    bool made = crealm.realm_results_count((realm_results_t*)(intptr_t)results_given, &outCount);
    if (!made)
        fail(env);
    else
        result = (jlong)outCount;
    return result;
}

static void call_realm_results_delete_all(JNIEnv* env, jclass type, jobject results_owner, jlong results_given) {
    (void)env, (void)type;
    (void)results_owner;
    bool made = crealm.realm_results_delete_all((realm_results_t*)(intptr_t)results_given);
    if (!made)
        fail(env);
}

static jlong call_realm_results_distinct(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jbyteArray distinctString_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)results_owner;
    struct bytes distinctString_text;
    distinctString_text.data = NULL;
    if (text_in(env, distinctString_given, false, &distinctString_text)) {
        realm_results_t* made =
            crealm.realm_results_distinct((realm_results_t*)(intptr_t)results_given, distinctString_text.data);
        if (!made)
            fail(env);
        else
            result = (jlong)(intptr_t)made;
    }
    bytes_end(&distinctString_text);
    return result;
}

static jlong call_realm_results_filter(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jobject query_owner, jlong query_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)results_owner;
    (void)query_owner;
    realm_results_t* made =
        crealm.realm_results_filter((realm_results_t*)(intptr_t)results_given, (realm_query_t*)(intptr_t)query_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_results_get_query(JNIEnv* env, jclass type, jobject results_owner, jlong results_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)results_owner;
    realm_query_t* made =
        crealm.realm_results_get_query((realm_results_t*)(intptr_t)results_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_results_limit(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jlong maxCount_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)results_owner;
    realm_results_t* made =
        crealm.realm_results_limit((realm_results_t*)(intptr_t)results_given, (size_t)maxCount_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jbyteArray call_realm_results_max(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jlong property_given) {
    (void)env, (void)type;
    jbyteArray result = 0;
    (void)results_owner;
    realm_value_t outMax;
    memset(&outMax, 0, sizeof outMax);
    bool outFound = false;
    bool made = crealm.realm_results_max((realm_results_t*)(intptr_t)results_given,
            (realm_property_key_t)property_given, &outMax, &outFound);
    if (!made)
        fail(env);
    else
        result = value_out(env, &outMax);
    return result;
}

static jbyteArray call_realm_results_min(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jlong property_given) {
    (void)env, (void)type;
    jbyteArray result = 0;
    (void)results_owner;
    realm_value_t outMin;
    memset(&outMin, 0, sizeof outMin);
    bool outFound = false;
    bool made = crealm.realm_results_min((realm_results_t*)(intptr_t)results_given,
            (realm_property_key_t)property_given, &outMin, &outFound);
    if (!made)
        fail(env);
    else
        result = value_out(env, &outMin);
    return result;
}

static jlong call_realm_results_resolve_in(JNIEnv* env, jclass type, jobject fromResults_owner,
        jlong fromResults_given, jobject targetRealm_owner, jlong targetRealm_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)fromResults_owner;
    (void)targetRealm_owner;
    realm_results_t* made =
        crealm.realm_results_resolve_in((realm_results_t*)(intptr_t)fromResults_given,
                (realm_t*)(intptr_t)targetRealm_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_results_snapshot(JNIEnv* env, jclass type, jobject results_owner, jlong results_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)results_owner;
    realm_results_t* made =
        crealm.realm_results_snapshot((realm_results_t*)(intptr_t)results_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jlong call_realm_results_sort(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jbyteArray sortString_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)results_owner;
    struct bytes sortString_text;
    sortString_text.data = NULL;
    if (text_in(env, sortString_given, false, &sortString_text)) {
        realm_results_t* made =
            crealm.realm_results_sort((realm_results_t*)(intptr_t)results_given, sortString_text.data);
        if (!made)
            fail(env);
        else
            result = (jlong)(intptr_t)made;
    }
    bytes_end(&sortString_text);
    return result;
}

static jbyteArray call_realm_results_sum(JNIEnv* env, jclass type, jobject results_owner, jlong results_given,
        jlong property_given) {
    (void)env, (void)type;
    jbyteArray result = 0;
    (void)results_owner;
    realm_value_t outSum;
    memset(&outSum, 0, sizeof outSum);
    bool outFound = false;
    bool made = crealm.realm_results_sum((realm_results_t*)(intptr_t)results_given,
            (realm_property_key_t)property_given, &outSum, &outFound);
    if (!made)
        fail(env);
    else
        result = value_out(env, &outSum);
    return result;
}

static void call_realm_rollback(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    (void)realm_owner;
    bool made = crealm.realm_rollback((realm_t*)(intptr_t)realm_given);
    if (!made)
        fail(env);
}

static void call_crealm_rollback_savepoint(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jint savepoint_given) {
    (void)env, (void)type;
    (void)realm_owner;
    bool made = crealm.crealm_rollback_savepoint((realm_t*)(intptr_t)realm_given, (uint32_t)savepoint_given);
    if (!made)
        fail(env);
}

static jlong call_realm_scheduler_make_default(JNIEnv* env, jclass type) {
    (void)env, (void)type;
    jlong result = 0;
    realm_scheduler_t* made =
        crealm.realm_scheduler_make_default();
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static jboolean call_crealm_scheduler_run(JNIEnv* env, jclass type, jobject scheduler_owner, jlong scheduler_given,
        jint timeoutMs_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)scheduler_owner;
    bool outDidWork = false;
    bool made = crealm.crealm_scheduler_run((realm_scheduler_t*)(intptr_t)scheduler_given, (int)timeoutMs_given,
            &outDidWork);
    if (!made)
        fail(env);
    else
        result = outDidWork;
    return result;
}

static void call_realm_schema_rename_property(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given,
        jobject schema_owner, jlong schema_given, jbyteArray objectType_given, jbyteArray oldName_given,
        jbyteArray newName_given) {
    (void)env, (void)type;
    (void)realm_owner;
    (void)schema_owner;
    struct bytes objectType_text;
    struct bytes oldName_text;
    struct bytes newName_text;
    objectType_text.data = NULL;
    oldName_text.data = NULL;
    newName_text.data = NULL;
    if (text_in(env, objectType_given, false, &objectType_text) &&
        text_in(env, oldName_given, false, &oldName_text) &&
        text_in(env, newName_given, false, &newName_text)) {
        bool made = crealm.realm_schema_rename_property((realm_t*)(intptr_t)realm_given,
                (realm_schema_t*)(intptr_t)schema_given, objectType_text.data, oldName_text.data, newName_text.data);
        if (!made)
            fail(env);
    }
    bytes_end(&objectType_text);
    bytes_end(&oldName_text);
    bytes_end(&newName_text);
}

static void call_realm_set_clear(JNIEnv* env, jclass type, jobject set_owner, jlong set_given) {
    (void)env, (void)type;
    (void)set_owner;
    bool made = crealm.realm_set_clear((realm_set_t*)(intptr_t)set_given);
    if (!made)
        fail(env);
}

static jboolean call_realm_set_erase(JNIEnv* env, jclass type, jobject set_owner, jlong set_given,
        jbyteArray value_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)set_owner;
    struct bytes value_bytes;
    realm_value_t value;
    bool outErased = false;
    value_bytes.data = NULL;
    if (value_in(env, value_given, &value_bytes, &value)) {
        bool made = crealm.realm_set_erase((realm_set_t*)(intptr_t)set_given, value, &outErased);
        if (!made)
            fail(env);
        else
            result = outErased;
    }
    bytes_end(&value_bytes);
    return result;
}

static jlong call_realm_set_find(JNIEnv* env, jclass type, jobject set_owner, jlong set_given, jbyteArray value_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)set_owner;
    struct bytes value_bytes;
    realm_value_t value;
    size_t outIndex = 0;
    bool outFound = false;
    value_bytes.data = NULL;
    if (value_in(env, value_given, &value_bytes, &value)) {
        bool made = crealm.realm_set_find((realm_set_t*)(intptr_t)set_given, value, &outIndex, &outFound);
        if (!made)
            fail(env);
        else
            result = outFound ? (jlong)outIndex : -1;
    }
    bytes_end(&value_bytes);
    return result;
}

static jboolean call_realm_set_insert(JNIEnv* env, jclass type, jobject set_owner, jlong set_given,
        jbyteArray value_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)set_owner;
    struct bytes value_bytes;
    realm_value_t value;
    size_t outIndex = 0;
    bool outInserted = false;
    value_bytes.data = NULL;
    if (value_in(env, value_given, &value_bytes, &value)) {
        bool made = crealm.realm_set_insert((realm_set_t*)(intptr_t)set_given, value, &outIndex, &outInserted);
        if (!made)
            fail(env);
        else
            result = outInserted;
    }
    bytes_end(&value_bytes);
    return result;
}

static jboolean call_realm_set_is_valid(JNIEnv* env, jclass type, jobject set_owner, jlong set_given) {
    (void)env, (void)type;
    jboolean result = 0;
    (void)set_owner;
    bool made = crealm.realm_set_is_valid((realm_set_t*)(intptr_t)set_given);
    result = made;
    return result;
}

static void call_realm_set_log_level(JNIEnv* env, jclass type, jint level_given) {
    (void)env, (void)type;
    crealm.realm_set_log_level((realm_log_level_e)level_given);
}

static void call_realm_set_remove_all(JNIEnv* env, jclass type, jobject set_owner, jlong set_given) {
    (void)env, (void)type;
    (void)set_owner;
    bool made = crealm.realm_set_remove_all((realm_set_t*)(intptr_t)set_given);
    if (!made)
        fail(env);
}

static jlong call_realm_set_size(JNIEnv* env, jclass type, jobject set_owner, jlong set_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)set_owner;
    size_t outSize = 0;
    bool made = crealm.realm_set_size((realm_set_t*)(intptr_t)set_given, &outSize);
    if (!made)
        fail(env);
    else
        result = (jlong)outSize;
    return result;
}

static jlong call_realm_set_to_results(JNIEnv* env, jclass type, jobject set_owner, jlong set_given) {
    (void)env, (void)type;
    jlong result = 0;
    (void)set_owner;
    realm_results_t* made =
        crealm.realm_set_to_results((realm_set_t*)(intptr_t)set_given);
    if (!made)
        fail(env);
    else
        result = (jlong)(intptr_t)made;
    return result;
}

static void call_crealm_verify(JNIEnv* env, jclass type, jobject realm_owner, jlong realm_given) {
    (void)env, (void)type;
    (void)realm_owner;
    bool made = crealm.crealm_verify((realm_t*)(intptr_t)realm_given, NULL);
    if (!made)
        fail(env);
}

const JNINativeMethod generated_methods[] = {
    {"backupSince0", "(Lorg/crealm/Handle;J[B[B)J", (void*)call_crealm_backup_since},
    {"beginSavepoint0", "(Lorg/crealm/Handle;J)J", (void*)call_crealm_begin_savepoint},
    {"beginWrite0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_begin_write},
    {"changeKey0", "(Lorg/crealm/Handle;JLorg/crealm/Handle;J)V", (void*)call_crealm_change_key},
    {"classGetRules0", "(Lorg/crealm/Handle;JI)[B", (void*)call_crealm_class_get_rules},
    {"close0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_close},
    {"commit0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_commit},
    {"compact0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_compact},
    {"configNew0", "()J", (void*)call_realm_config_new},
    {"configSetDurability0", "(Lorg/crealm/Handle;JI)V", (void*)call_crealm_config_set_durability},
    {"configSetInMemory0", "(Lorg/crealm/Handle;JZ)V", (void*)call_realm_config_set_in_memory},
    {"configSetLockTimeout0", "(Lorg/crealm/Handle;JJ)V", (void*)call_crealm_config_set_lock_timeout},
    {"configSetPageCipher0", "(Lorg/crealm/Handle;JI)V", (void*)call_crealm_config_set_page_cipher},
    {"configSetPath0", "(Lorg/crealm/Handle;J[B)V", (void*)call_realm_config_set_path},
    {"configSetRules0", "(Lorg/crealm/Handle;J[B)V", (void*)call_crealm_config_set_rules},
    {"configSetScheduler0", "(Lorg/crealm/Handle;JLorg/crealm/Handle;J)V", (void*)call_realm_config_set_scheduler},
    {"configSetSchema0", "(Lorg/crealm/Handle;JLorg/crealm/Handle;J)V", (void*)call_realm_config_set_schema},
    {"configSetSchemaMode0", "(Lorg/crealm/Handle;JI)V", (void*)call_realm_config_set_schema_mode},
    {"configSetSchemaVersion0", "(Lorg/crealm/Handle;JJ)V", (void*)call_realm_config_set_schema_version},
    {"configSetSnapshot0", "(Lorg/crealm/Handle;JZ)V", (void*)call_crealm_config_set_snapshot},
    {"convertWithConfig0", "(Lorg/crealm/Handle;JLorg/crealm/Handle;JZ)V", (void*)call_realm_convert_with_config},
    {"deleteFiles0", "([B)Z", (void*)call_realm_delete_files},
    {"dictionaryClear0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_dictionary_clear},
    {"dictionaryContainsKey0", "(Lorg/crealm/Handle;J[B)Z", (void*)call_realm_dictionary_contains_key},
    {"dictionaryErase0", "(Lorg/crealm/Handle;J[B)Z", (void*)call_realm_dictionary_erase},
    {"dictionaryFind0", "(Lorg/crealm/Handle;J[B)[B", (void*)call_realm_dictionary_find},
    {"dictionaryGetDictionary0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_dictionary_get_dictionary},
    {"dictionaryGetList0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_dictionary_get_list},
    {"dictionaryInsert0", "(Lorg/crealm/Handle;J[B[B)Z", (void*)call_realm_dictionary_insert},
    {"dictionaryInsertDictionary0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_dictionary_insert_dictionary},
    {"dictionaryInsertList0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_dictionary_insert_list},
    {"dictionaryIsValid0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_dictionary_is_valid},
    {"dictionarySize0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_dictionary_size},
    {"dictionaryToResults0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_dictionary_to_results},
    {"freeze0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_freeze},
    {"getLibraryVersion0", "()[B", (void*)call_realm_get_library_version},
    {"getNumVersions0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_get_num_versions},
    {"getSchemaVersion0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_get_schema_version},
    {"interrupt0", "(Lorg/crealm/Handle;J)Z", (void*)call_crealm_interrupt},
    {"isClosed0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_is_closed},
    {"isWritable0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_is_writable},
    {"listClear0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_list_clear},
    {"listErase0", "(Lorg/crealm/Handle;JJ)V", (void*)call_realm_list_erase},
    {"listFind0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_list_find},
    {"listGetDictionary0", "(Lorg/crealm/Handle;JJ)J", (void*)call_realm_list_get_dictionary},
    {"listGetList0", "(Lorg/crealm/Handle;JJ)J", (void*)call_realm_list_get_list},
    {"listInsert0", "(Lorg/crealm/Handle;JJ[B)V", (void*)call_realm_list_insert},
    {"listInsertDictionary0", "(Lorg/crealm/Handle;JJ)J", (void*)call_realm_list_insert_dictionary},
    {"listInsertList0", "(Lorg/crealm/Handle;JJ)J", (void*)call_realm_list_insert_list},
    {"listIsValid0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_list_is_valid},
    {"listMove0", "(Lorg/crealm/Handle;JJJ)V", (void*)call_realm_list_move},
    {"listRemoveAll0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_list_remove_all},
    {"listSet0", "(Lorg/crealm/Handle;JJ[B)V", (void*)call_realm_list_set},
    {"listSetDictionary0", "(Lorg/crealm/Handle;JJ)J", (void*)call_realm_list_set_dictionary},
    {"listSetList0", "(Lorg/crealm/Handle;JJ)J", (void*)call_realm_list_set_list},
    {"listSize0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_list_size},
    {"listToResults0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_list_to_results},
    {"objectFindAll0", "(Lorg/crealm/Handle;JI)J", (void*)call_realm_object_find_all},
    {"open0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_open},
    {"queryFindAll0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_query_find_all},
    {"queryGetDescription0", "(Lorg/crealm/Handle;J)[B", (void*)call_realm_query_get_description},
    {"refresh0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_refresh},
    {"releaseSavepoint0", "(Lorg/crealm/Handle;JI)V", (void*)call_crealm_release_savepoint},
    {"removeTable0", "(Lorg/crealm/Handle;J[B)Z", (void*)call_realm_remove_table},
    {"resultsAverage0", "(Lorg/crealm/Handle;JJ)[B", (void*)call_realm_results_average},
    {"resultsCount0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_results_count},
    {"resultsDeleteAll0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_results_delete_all},
    {"resultsDistinct0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_results_distinct},
    {"resultsFilter0", "(Lorg/crealm/Handle;JLorg/crealm/Handle;J)J", (void*)call_realm_results_filter},
    {"resultsGetQuery0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_results_get_query},
    {"resultsLimit0", "(Lorg/crealm/Handle;JJ)J", (void*)call_realm_results_limit},
    {"resultsMax0", "(Lorg/crealm/Handle;JJ)[B", (void*)call_realm_results_max},
    {"resultsMin0", "(Lorg/crealm/Handle;JJ)[B", (void*)call_realm_results_min},
    {"resultsResolveIn0", "(Lorg/crealm/Handle;JLorg/crealm/Handle;J)J", (void*)call_realm_results_resolve_in},
    {"resultsSnapshot0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_results_snapshot},
    {"resultsSort0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_results_sort},
    {"resultsSum0", "(Lorg/crealm/Handle;JJ)[B", (void*)call_realm_results_sum},
    {"rollback0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_rollback},
    {"rollbackSavepoint0", "(Lorg/crealm/Handle;JI)V", (void*)call_crealm_rollback_savepoint},
    {"schedulerMakeDefault0", "()J", (void*)call_realm_scheduler_make_default},
    {"schedulerRun0", "(Lorg/crealm/Handle;JI)Z", (void*)call_crealm_scheduler_run},
    {"schemaRenameProperty0", "(Lorg/crealm/Handle;JLorg/crealm/Handle;J[B[B[B)V",
            (void*)call_realm_schema_rename_property},
    {"setClear0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_set_clear},
    {"setErase0", "(Lorg/crealm/Handle;J[B)Z", (void*)call_realm_set_erase},
    {"setFind0", "(Lorg/crealm/Handle;J[B)J", (void*)call_realm_set_find},
    {"setInsert0", "(Lorg/crealm/Handle;J[B)Z", (void*)call_realm_set_insert},
    {"setIsValid0", "(Lorg/crealm/Handle;J)Z", (void*)call_realm_set_is_valid},
    {"setLogLevel0", "(I)V", (void*)call_realm_set_log_level},
    {"setRemoveAll0", "(Lorg/crealm/Handle;J)V", (void*)call_realm_set_remove_all},
    {"setSize0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_set_size},
    {"setToResults0", "(Lorg/crealm/Handle;J)J", (void*)call_realm_set_to_results},
    {"verify0", "(Lorg/crealm/Handle;J)V", (void*)call_crealm_verify},
};
const size_t generated_method_count = COUNT_OF(generated_methods);
