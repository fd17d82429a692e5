/* realm.c - schemas, the classes of a realm, opening, and calls with arrays of handles or paths. */

#include "shim.h"

static void* pointer(jlong address) {
    return (void*)(intptr_t)address;
}

/* A description of a schema that Java encoded: numbers of 8 bytes, and texts after their sizes. */
struct reader {
    char* next;
    char* end;
    bool failed;
};

static int64_t read_int(struct reader* reader) {
    int64_t number = 0;
    if (reader->end - reader->next < 8)
        reader->failed = true;
    else {
        memcpy(&number, reader->next, 8);
        reader->next += 8;
    }
    return reader->failed ? 0 : number;
}

/** A text, ended by the NUL that Java writes after it. */
static const char* read_text(struct reader* reader) {
    int64_t size = read_int(reader);
    if (reader->failed || size < 0 || size >= reader->end - reader->next || reader->next[size]) {
        reader->failed = true;
        return "";
    }
    const char* text = reader->next;
    reader->next += size + 1;
    return text;
}

/** Makes a schema: number of classes; for each one name, primary key, flags, number of stored and of computed
 *  properties; then for each property name, public name, type, collection, target, origin, flags. */
static jlong schema_new(JNIEnv* env, jclass type, jbyteArray encoded) {
    (void)type;
    struct bytes bytes;
    if (!bytes_in(env, encoded, &bytes))
        return 0;
    struct reader reader = {bytes.data, bytes.data + bytes.size, false};
    size_t count = (size_t)read_int(&reader);
    bool fits = count <= bytes.size;
    realm_class_info_t* classes = fits ? calloc(count + 1, sizeof *classes) : NULL;
    const realm_property_info_t** properties = fits ? calloc(count + 1, sizeof *properties) : NULL;
    realm_schema_t* schema = NULL;
    for (size_t index = 0; classes && properties && index < count && !reader.failed; index++) {
        realm_class_info_t* info = classes + index;
        info->name = read_text(&reader);
        info->primary_key = read_text(&reader);
        info->flags = (int)read_int(&reader);
        info->num_properties = (size_t)read_int(&reader);
        info->num_computed_properties = (size_t)read_int(&reader);
        size_t total = info->num_properties + info->num_computed_properties;
        realm_property_info_t* own = total <= bytes.size ? calloc(total + 1, sizeof *own) : NULL;
        reader.failed |= !own;
        properties[index] = own;
        for (size_t place = 0; own && place < total; place++) {
            own[place].name = read_text(&reader);
            own[place].public_name = read_text(&reader);
            own[place].type = (realm_property_type_e)read_int(&reader);
            own[place].collection_type = (realm_collection_type_e)read_int(&reader);
            own[place].link_target = read_text(&reader);
            own[place].link_origin_property_name = read_text(&reader);
            own[place].flags = (int)read_int(&reader);
        }
    }
    if (!classes || !properties || reader.failed)
        fail_with(env, "malformed schema");
    else if (!(schema = crealm.realm_schema_new(classes, count, properties)))
        fail(env);
    for (size_t index = 0; properties && index < count; index++)
        free((void*)properties[index]);
    free(properties);
    free(classes);
    bytes_end(&bytes);
    return (jlong)(intptr_t)schema;
}

/** Makes a schema from JSON. */
static jlong schema_from_json(JNIEnv* env, jclass type, jbyteArray json) {
    (void)type;
    struct bytes text;
    if (!bytes_in(env, json, &text))
        return 0;
    realm_schema_t* schema = crealm.crealm_schema_from_json(text.data, text.size);
    if (!schema)
        fail(env);
    bytes_end(&text);
    return (jlong)(intptr_t)schema;
}

static void write_class(JNIEnv* env, struct buffer* buffer, realm_t* realm, realm_class_key_t key) {
    realm_class_info_t info;
    if (!crealm.realm_get_class(realm, key, &info)) {
        fail(env);
        return;
    }
    size_t total = info.num_properties + info.num_computed_properties;
    realm_property_info_t* properties = calloc(total + 1, sizeof *properties);
    if (!properties) {
        out_of_memory(env);
        return;
    }
    if (!crealm.realm_get_class_properties(realm, key, properties, total, NULL))
        fail(env);
    buffer_text(buffer, info.name);
    buffer_text(buffer, info.primary_key);
    buffer_int(buffer, info.key);
    buffer_int(buffer, info.flags);
    buffer_int(buffer, (int64_t)total);
    for (size_t index = 0; index < total; index++) {
        const realm_property_info_t* property = properties + index;
        buffer_text(buffer, property->name);
        buffer_text(buffer, property->public_name);
        buffer_int(buffer, property->type);
        buffer_int(buffer, property->collection_type);
        buffer_text(buffer, property->link_target);
        buffer_text(buffer, property->link_origin_property_name);
        buffer_int(buffer, property->key);
        buffer_int(buffer, property->flags);
    }
    free(properties);
}

/** All classes of a realm: the number of classes; name, primary key, key, flags and number of properties of each;
 *  name, public name, type, collection, target, origin, key and flags of each property. */
static jbyteArray classes(JNIEnv* env, jclass type, jobject owner, jlong address) {
    (void)type, (void)owner;
    realm_t* realm = pointer(address);
    size_t count = crealm.realm_get_num_classes(realm);
    realm_class_key_t* keys = calloc(count + 1, sizeof *keys);
    struct buffer buffer;
    buffer_begin(&buffer);
    if (!keys) {
        out_of_memory(env);
        return NULL;
    }
    size_t found = 0;
    if (!crealm.realm_get_class_keys(realm, keys, count, &found))
        fail(env);
    count = found < count ? found : count;
    /* A realm that is read only may declare classes that the file does not have: they have no key. */
    found = 0;
    for (size_t index = 0; index < count; index++)
        if (keys[index] != RLM_INVALID_CLASS_KEY)
            keys[found++] = keys[index];
    count = found;
    buffer_int(&buffer, (int64_t)count);
    for (size_t index = 0; index < count && !(*env)->ExceptionCheck(env); index++)
        write_class(env, &buffer, realm, keys[index]);
    free(keys);
    if ((*env)->ExceptionCheck(env)) {
        buffer_end(&buffer);
        return NULL;
    }
    return buffer_out(env, &buffer);
}

static void set_encryption_key(JNIEnv* env, jclass type, jobject owner, jlong config, jbyteArray key) {
    (void)type, (void)owner;
    struct bytes bytes;
    if (!bytes_in(env, key, &bytes))
        return;
    if (!crealm.realm_config_set_encryption_key(pointer(config), (const uint8_t*)bytes.data, bytes.size))
        fail(env);
    if (bytes.data)
        memset(bytes.data, 0, bytes.size);
    bytes_end(&bytes);
}

static void set_passphrase(JNIEnv* env, jclass type, jobject owner, jlong config, jbyteArray passphrase) {
    (void)type, (void)owner;
    struct bytes bytes;
    if (!bytes_in(env, passphrase, &bytes))
        return;
    if (!crealm.crealm_config_set_passphrase(pointer(config), bytes.data, bytes.size, 0, 0))
        fail(env);
    if (bytes.data)
        memset(bytes.data, 0, bytes.size);
    bytes_end(&bytes);
}

/** Version and index of the snapshot; null: the realm is in no transaction. */
static jlongArray version(JNIEnv* env, jclass type, jobject owner, jlong realm) {
    (void)type, (void)owner;
    realm_version_id_t id = {0, 0};
    bool found = false;
    if (!crealm.realm_get_version_id(pointer(realm), &found, &id)) {
        fail(env);
        return NULL;
    }
    jlong numbers[2] = {(jlong)id.version, (jlong)id.index};
    jlongArray result = found ? (*env)->NewLongArray(env, 2) : NULL;
    if (result)
        (*env)->SetLongArrayRegion(env, result, 0, 2, numbers);
    return result;
}

/** Makes a file from backup steps. */
static void restore(JNIEnv* env, jclass type, jobject owner, jlong config, jobjectArray paths) {
    (void)type, (void)owner;
    size_t count = (size_t)(*env)->GetArrayLength(env, paths), read = 0;
    struct bytes* texts = calloc(count + 1, sizeof *texts);
    const char** steps = calloc(count + 1, sizeof *steps);
    bool done = texts && steps;
    if (!done)
        out_of_memory(env);
    for (; done && read < count; read += done) {
        jbyteArray path = (*env)->GetObjectArrayElement(env, paths, (jsize)read);
        done = text_in(env, path, false, texts + read);
        steps[read] = texts[read].data;
        (*env)->DeleteLocalRef(env, path);
    }
    if (done && !crealm.crealm_restore(pointer(config), steps, count))
        fail(env);
    for (size_t index = 0; index < read; index++)
        bytes_end(texts + index);
    free(texts);
    free(steps);
}

/** Commits, and does not tell the callbacks of some tokens. */
static void commit_without(JNIEnv* env, jclass type, jobject owner, jlong realm, jlongArray tokens) {
    (void)type, (void)owner;
    size_t count = (size_t)(*env)->GetArrayLength(env, tokens);
    jlong* addresses = calloc(count + 1, sizeof *addresses);
    realm_notification_token_t** handles = calloc(count + 1, sizeof *handles);
    if (addresses && handles) {
        (*env)->GetLongArrayRegion(env, tokens, 0, (jsize)count, addresses);
        for (size_t index = 0; index < count; index++)
            handles[index] = pointer(addresses[index]);
        if (!crealm.crealm_commit_without_notifying(pointer(realm), handles, count))
            fail(env);
    } else {
        out_of_memory(env);
    }
    free(addresses);
    free(handles);
}

/** A second handle to the same thing. */
static jlong clone_handle(JNIEnv* env, jclass type, jobject owner, jlong address) {
    (void)type, (void)owner;
    void* made = crealm.realm_clone(pointer(address));
    if (!made)
        fail(env);
    return (jlong)(intptr_t)made;
}

static void release(JNIEnv* env, jclass type, jlong address) {
    (void)env, (void)type;
    crealm.realm_release(pointer(address));
}

const JNINativeMethod realm_methods[] = {
    {"schemaNew", "([B)J", (void*)schema_new},
    {"schemaFromJson", "([B)J", (void*)schema_from_json},
    {"classes0", "(Lorg/crealm/Handle;J)[B", (void*)classes},
    {"setEncryptionKey", "(Lorg/crealm/Handle;J[B)V", (void*)set_encryption_key},
    {"setPassphrase", "(Lorg/crealm/Handle;J[B)V", (void*)set_passphrase},
    {"version", "(Lorg/crealm/Handle;J)[J", (void*)version},
    {"restore", "(Lorg/crealm/Handle;J[[B)V", (void*)restore},
    {"commitWithout0", "(Lorg/crealm/Handle;J[J)V", (void*)commit_without},
    {"cloneHandle", "(Lorg/crealm/Handle;J)J", (void*)clone_handle},
    {"release", "(J)V", (void*)release},
};
const size_t realm_method_count = COUNT_OF(realm_methods);
