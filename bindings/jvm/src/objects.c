/* objects.c - objects by their address: class and object key. Java has no handle for an object. */

#include "shim.h"

#define UNUSED (void)type, (void)owner

/* The address of a realm, class and object, as Java passes it. */
#define OBJECT_PARAMETERS JNIEnv *env, jclass type, jobject owner, jlong realm, jint class_key, jlong key

static realm_t* realm_of(jlong address) {
    return (realm_t*)(intptr_t)address;
}

/** A handle of an object, for one call. NULL: an exception is pending. */
static realm_object_t* object_at(JNIEnv* env, jlong realm, jint class_key, jlong key) {
    realm_object_t* object = crealm.realm_get_object(realm_of(realm), (realm_class_key_t)class_key, key);
    if (!object)
        fail(env);
    return object;
}

static realm_link_t link_to(jint class_key, jlong key) {
    return (realm_link_t){(realm_class_key_t)class_key, key};
}

static bool read_value(JNIEnv* env, jlong realm, jint class_key, jlong key, jlong property, realm_value_t* out) {
    const realm_link_t link = link_to(class_key, key);
    const realm_property_key_t keys[1] = {property};
    return crealm.crealm_get_values(realm_of(realm), &link, 1, keys, out) || fail(env);
}

static bool wrong_type(JNIEnv* env, const realm_value_t* value, const char* wanted) {
    char message[100] = "the property is null, not ";
    if (value->type != RLM_TYPE_NULL)
        strcpy(message, "the property does not hold ");
    strcat(message, wanted);
    return fail_with(env, message);
}

static jlong long_in(JNIEnv* env, const realm_value_t* value) {
    if (value->type != RLM_TYPE_INT)
        return wrong_type(env, value, "an integer");
    return value->integer;
}

static jlong get_long(OBJECT_PARAMETERS, jlong property) {
    UNUSED;
    realm_value_t value;
    return read_value(env, realm, class_key, key, property, &value) ? long_in(env, &value) : 0;
}

/** As get_long(), for an object that is read so often that it has a handle. */
static jlong get_long_of(JNIEnv* env, jclass type, jobject owner, jlong object, jlong property) {
    UNUSED;
    realm_value_t value;
    if (!crealm.realm_get_value((const realm_object_t*)(intptr_t)object, property, &value))
        return fail(env);
    return long_in(env, &value);
}

static jdouble get_double(OBJECT_PARAMETERS, jlong property) {
    UNUSED;
    realm_value_t value;
    if (!read_value(env, realm, class_key, key, property, &value))
        return 0;
    if (value.type == RLM_TYPE_FLOAT)
        return value.fnum;
    if (value.type != RLM_TYPE_DOUBLE)
        return wrong_type(env, &value, "a floating point number");
    return value.dnum;
}

static jboolean get_boolean(OBJECT_PARAMETERS, jlong property) {
    UNUSED;
    realm_value_t value;
    if (!read_value(env, realm, class_key, key, property, &value))
        return JNI_FALSE;
    if (value.type != RLM_TYPE_BOOL)
        return (jboolean)wrong_type(env, &value, "a boolean");
    return value.boolean;
}

/** The bytes of a text or binary; null for null. */
static jbyteArray get_bytes(OBJECT_PARAMETERS, jlong property) {
    UNUSED;
    realm_value_t value;
    if (!read_value(env, realm, class_key, key, property, &value) || value.type == RLM_TYPE_NULL)
        return NULL;
    if (value.type != RLM_TYPE_STRING && value.type != RLM_TYPE_BINARY) {
        wrong_type(env, &value, "a text or bytes");
        return NULL;
    }
    return array_of(env, value.string.data, value.string.size);
}

/** Property keys of a call. */
struct keys {
    size_t count;
    realm_property_key_t* items;
    realm_property_key_t small[32];
};

static bool keys_in(JNIEnv* env, jlongArray array, struct keys* out) {
    out->count = array ? (size_t)(*env)->GetArrayLength(env, array) : 0;
    out->items = out->count <= COUNT_OF(out->small) ? out->small : malloc(out->count * sizeof *out->items);
    if (!out->items)
        return out_of_memory(env);
    if (out->count)
        (*env)->GetLongArrayRegion(env, array, 0, (jsize)out->count, (jlong*)out->items);
    return true;
}

static void keys_end(struct keys* keys) {
    if (keys->items != keys->small)
        free(keys->items);
}

/** Memory for values of a call: the given array if it is large enough. */
static realm_value_t* room(JNIEnv* env, size_t count, realm_value_t* small, size_t small_count) {
    realm_value_t* values = count <= small_count ? small : calloc(count, sizeof *values);
    if (!values)
        out_of_memory(env);
    return values;
}

static jbyteArray get_values(OBJECT_PARAMETERS, jlongArray properties) {
    UNUSED;
    struct keys keys;
    if (!keys_in(env, properties, &keys))
        return NULL;
    realm_value_t small[32], *values = room(env, keys.count, small, COUNT_OF(small));
    jbyteArray result = NULL;
    const realm_link_t link = link_to(class_key, key);
    if (values && crealm.crealm_get_values(realm_of(realm), &link, keys.count, keys.items, values))
        result = values_out(env, values, keys.count);
    else if (values)
        fail(env);
    if (values != small)
        free(values);
    keys_end(&keys);
    return result;
}

static void write_value(JNIEnv* env, jlong realm, jint class_key, jlong key, jlong property, realm_value_t value) {
    const realm_link_t link = link_to(class_key, key);
    const realm_property_key_t keys[1] = {property};
    if (!crealm.crealm_set_values(realm_of(realm), &link, 1, keys, &value))
        fail(env);
}

static void set_long(OBJECT_PARAMETERS, jlong property, jlong number) {
    UNUSED;
    realm_value_t value = {.integer = number, .type = RLM_TYPE_INT};
    write_value(env, realm, class_key, key, property, value);
}

static void set_double(OBJECT_PARAMETERS, jlong property, jdouble number) {
    UNUSED;
    realm_value_t value = {.dnum = number, .type = RLM_TYPE_DOUBLE};
    write_value(env, realm, class_key, key, property, value);
}

static void set_boolean(OBJECT_PARAMETERS, jlong property, jboolean truth) {
    UNUSED;
    realm_value_t value = {.boolean = truth, .type = RLM_TYPE_BOOL};
    write_value(env, realm, class_key, key, property, value);
}

static void set_values(OBJECT_PARAMETERS, jlongArray properties, jbyteArray encoded) {
    UNUSED;
    struct keys keys;
    struct bytes bytes;
    if (!keys_in(env, properties, &keys))
        return;
    realm_value_t small[32], *values = room(env, keys.count, small, COUNT_OF(small));
    if (values && bytes_in(env, encoded, &bytes)) {
        const realm_link_t link = link_to(class_key, key);
        if (values_in(env, &bytes, keys.count, values) &&
            !crealm.crealm_set_values(realm_of(realm), &link, keys.count, keys.items, values))
            fail(env);
        bytes_end(&bytes);
    }
    if (values != small)
        free(values);
    keys_end(&keys);
}

/** Writes objects: for each one the values of the properties, after its primary key if the class has one. */
static void create(JNIEnv* env, jclass type, jobject owner, jlong realm, jint class_key, jint mode, jint count,
                   jboolean has_primary_key, jlongArray properties, jbyteArray encoded) {
    UNUSED;
    struct keys keys;
    struct bytes bytes;
    if (!keys_in(env, properties, &keys))
        return;
    size_t width = keys.count + (has_primary_key ? 1 : 0);
    realm_value_t small[32], *values = room(env, width * (size_t)count, small, COUNT_OF(small));
    if (values && bytes_in(env, encoded, &bytes)) {
        bool done = values_in(env, &bytes, width * (size_t)count, values);
        for (jint row = 0; row < count && done; row++) {
            const realm_value_t* first = values + (size_t)row * width;
            done = crealm.crealm_create(realm_of(realm), (realm_class_key_t)class_key, has_primary_key ? first : NULL,
                                        (crealm_update_mode_e)mode, keys.count, keys.items,
                                        has_primary_key ? first + 1 : first, NULL, NULL) ||
                   fail(env);
        }
        bytes_end(&bytes);
    }
    if (values != small)
        free(values);
    keys_end(&keys);
}

/** Writes one object. Returns its key. */
static jlong create_one(JNIEnv* env, jclass type, jobject owner, jlong realm, jint class_key, jint mode,
                        jboolean has_primary_key, jlongArray properties, jbyteArray encoded) {
    UNUSED;
    struct keys keys;
    struct bytes bytes;
    if (!keys_in(env, properties, &keys))
        return 0;
    size_t width = keys.count + (has_primary_key ? 1 : 0);
    realm_value_t small[32], *values = room(env, width, small, COUNT_OF(small));
    realm_link_t link = {0, 0};
    if (values && bytes_in(env, encoded, &bytes)) {
        if (values_in(env, &bytes, width, values) &&
            !crealm.crealm_create(realm_of(realm), (realm_class_key_t)class_key, has_primary_key ? values : NULL,
                                  (crealm_update_mode_e)mode, keys.count, keys.items,
                                  has_primary_key ? values + 1 : values, &link, NULL))
            fail(env);
        bytes_end(&bytes);
    }
    if (values != small)
        free(values);
    keys_end(&keys);
    return link.target;
}

/** The key of the object with a primary key; -1: there is none. */
static jlong find_value(JNIEnv* env, jlong realm, jint class_key, realm_value_t primary_key) {
    realm_link_t link = {0, -1};
    bool found = false;
    if (!crealm.crealm_find(realm_of(realm), (realm_class_key_t)class_key, &primary_key, &link, &found))
        fail(env);
    return found ? link.target : -1;
}

static jlong find_long(JNIEnv* env, jclass type, jobject owner, jlong realm, jint class_key, jlong primary_key) {
    UNUSED;
    realm_value_t value = {.integer = primary_key, .type = RLM_TYPE_INT};
    return find_value(env, realm, class_key, value);
}

static jlong find(JNIEnv* env, jclass type, jobject owner, jlong realm, jint class_key, jbyteArray primary_key) {
    UNUSED;
    struct bytes bytes;
    realm_value_t value;
    jlong key = -1;
    if (value_in(env, primary_key, &bytes, &value))
        key = find_value(env, realm, class_key, value);
    bytes_end(&bytes);
    return key;
}

static void delete_object(OBJECT_PARAMETERS) {
    UNUSED;
    const realm_link_t link = link_to(class_key, key);
    if (!crealm.crealm_delete(realm_of(realm), &link))
        fail(env);
}

/** Whether the object exists. */
static jboolean exists(OBJECT_PARAMETERS) {
    UNUSED;
    const realm_link_t link = link_to(class_key, key);
    if (crealm.crealm_get_values(realm_of(realm), &link, 0, NULL, NULL))
        return JNI_TRUE;
    realm_error_t error;
    bool gone = crealm.realm_get_last_error(&error) &&
                (error.error == RLM_ERR_NO_SUCH_OBJECT || error.error == RLM_ERR_INVALIDATED_OBJECT);
    if (!gone)
        fail(env);
    return JNI_FALSE;
}

static void add_long(OBJECT_PARAMETERS, jlong property, jlong number) {
    UNUSED;
    realm_object_t* object = object_at(env, realm, class_key, key);
    if (!object)
        return;
    if (!crealm.realm_object_add_int(object, property, number))
        fail(env);
    crealm.realm_release(object);
}

static void set_json(OBJECT_PARAMETERS, jlong property, jbyteArray json) {
    UNUSED;
    struct bytes text;
    realm_object_t* object = NULL;
    if (!text_in(env, json, false, &text))
        return;
    if ((object = object_at(env, realm, class_key, key)) && !crealm.realm_set_json(object, property, text.data))
        fail(env);
    crealm.realm_release(object);
    bytes_end(&text);
}

static jbyteArray describe(OBJECT_PARAMETERS) {
    UNUSED;
    realm_object_t* object = object_at(env, realm, class_key, key);
    if (!object)
        return NULL;
    char* text = crealm.realm_object_to_string(object);
    if (!text)
        fail(env);
    crealm.realm_release(object);
    return owned_text_out(env, text);
}

/* How Java asks for the collection of a property. */
enum { GET_LIST, GET_SET, GET_DICTIONARY, MAKE_LIST, MAKE_DICTIONARY };

static jlong collection(OBJECT_PARAMETERS, jlong property, jint way) {
    UNUSED;
    realm_object_t* object = object_at(env, realm, class_key, key);
    if (!object)
        return 0;
    void* handle = NULL;
    if (way == GET_LIST)
        handle = crealm.realm_get_list(object, property);
    else if (way == GET_SET)
        handle = crealm.realm_get_set(object, property);
    else if (way == GET_DICTIONARY)
        handle = crealm.realm_get_dictionary(object, property);
    else if (way == MAKE_LIST)
        handle = crealm.realm_set_list(object, property);
    else
        handle = crealm.realm_set_dictionary(object, property);
    if (!handle)
        fail(env);
    crealm.realm_release(object);
    return (jlong)(intptr_t)handle;
}

static jlong backlinks(OBJECT_PARAMETERS, jint source_class, jlong property) {
    UNUSED;
    realm_object_t* object = object_at(env, realm, class_key, key);
    if (!object)
        return 0;
    realm_results_t* results = crealm.realm_get_backlinks(object, (realm_class_key_t)source_class, property);
    if (!results)
        fail(env);
    crealm.realm_release(object);
    return (jlong)(intptr_t)results;
}

/** Makes an embedded object. Returns its key. */
static jlong set_embedded(OBJECT_PARAMETERS, jlong property) {
    UNUSED;
    realm_object_t* object = object_at(env, realm, class_key, key);
    if (!object)
        return 0;
    realm_object_t* made = crealm.realm_set_embedded(object, property);
    jlong result = 0;
    if (made)
        result = crealm.realm_object_get_key(made);
    else
        fail(env);
    crealm.realm_release(made);
    crealm.realm_release(object);
    return result;
}

/** Class and key of the object that contains an embedded one. */
static jlongArray parent(OBJECT_PARAMETERS) {
    UNUSED;
    realm_object_t *object = object_at(env, realm, class_key, key), *found = NULL;
    if (!object)
        return NULL;
    realm_class_key_t found_class = 0;
    jlongArray result = NULL;
    if (!crealm.realm_object_get_parent(object, &found, &found_class)) {
        fail(env);
    } else if ((result = (*env)->NewLongArray(env, 2))) {
        jlong address[2] = {found_class, crealm.realm_object_get_key(found)};
        (*env)->SetLongArrayRegion(env, result, 0, 2, address);
    }
    crealm.realm_release(found);
    crealm.realm_release(object);
    return result;
}

/** A handle of the object, for callbacks. */
static jlong object_handle(OBJECT_PARAMETERS) {
    UNUSED;
    return (jlong)(intptr_t)object_at(env, realm, class_key, key);
}

/** Reads rows of objects: for each one its link, then the properties. */
static jbyteArray fetch(JNIEnv* env, jclass type, jobject owner, jlong results, jlong first, jint count,
                        jlongArray properties) {
    UNUSED;
    struct keys keys;
    if (!keys_in(env, properties, &keys))
        return NULL;
    size_t width = keys.count + 1, rows = (size_t)count, read = 0;
    realm_value_t small[64], *values = room(env, rows * width, small, COUNT_OF(small));
    realm_value_t small_read[64], *raw = room(env, rows * keys.count, small_read, COUNT_OF(small_read));
    realm_link_t small_links[64], *links = rows <= COUNT_OF(small_links) ? small_links : malloc(rows * sizeof *links);
    jbyteArray result = NULL;
    if (!values || !raw || !links) {
        if (!(*env)->ExceptionCheck(env))
            out_of_memory(env);
    } else if (!crealm.crealm_results_fetch((realm_results_t*)(intptr_t)results, (size_t)first, rows, keys.items,
                                            keys.count, raw, links, &read)) {
        fail(env);
    } else {
        for (size_t row = 0; row < read; row++) {
            realm_value_t* out = values + row * width;
            out->type = links[row].target < 0 ? RLM_TYPE_NULL : RLM_TYPE_LINK;
            out->link = links[row];
            memcpy(out + 1, raw + row * keys.count, keys.count * sizeof *out);
        }
        result = values_out(env, values, read * width);
    }
    if (links != small_links)
        free(links);
    if (raw != small_read)
        free(raw);
    if (values != small)
        free(values);
    keys_end(&keys);
    return result;
}

#define OBJECT "Lorg/crealm/Handle;JIJ"

const JNINativeMethod object_methods[] = {
    {"getLong", "(" OBJECT "J)J", (void*)get_long},
    {"getLongOf", "(Lorg/crealm/Handle;JJ)J", (void*)get_long_of},
    {"getDouble", "(" OBJECT "J)D", (void*)get_double},
    {"getBoolean", "(" OBJECT "J)Z", (void*)get_boolean},
    {"getBytes0", "(" OBJECT "J)[B", (void*)get_bytes},
    {"getValues0", "(" OBJECT "[J)[B", (void*)get_values},
    {"setLong0", "(" OBJECT "JJ)V", (void*)set_long},
    {"setDouble0", "(" OBJECT "JD)V", (void*)set_double},
    {"setBoolean0", "(" OBJECT "JZ)V", (void*)set_boolean},
    {"setValues0", "(" OBJECT "[J[B)V", (void*)set_values},
    {"create0", "(Lorg/crealm/Handle;JIIIZ[J[B)V", (void*)create},
    {"createOne0", "(Lorg/crealm/Handle;JIIZ[J[B)J", (void*)create_one},
    {"findLong", "(Lorg/crealm/Handle;JIJ)J", (void*)find_long},
    {"find", "(Lorg/crealm/Handle;JI[B)J", (void*)find},
    {"delete0", "(" OBJECT ")V", (void*)delete_object},
    {"exists", "(" OBJECT ")Z", (void*)exists},
    {"addLong0", "(" OBJECT "JJ)V", (void*)add_long},
    {"setJson0", "(" OBJECT "J[B)V", (void*)set_json},
    {"describe", "(" OBJECT ")[B", (void*)describe},
    {"collection0", "(" OBJECT "JI)J", (void*)collection},
    {"backlinks", "(" OBJECT "IJ)J", (void*)backlinks},
    {"setEmbedded0", "(" OBJECT "J)J", (void*)set_embedded},
    {"parent", "(" OBJECT ")[J", (void*)parent},
    {"objectHandle", "(" OBJECT ")J", (void*)object_handle},
    {"fetch0", "(Lorg/crealm/Handle;JJI[J)[B", (void*)fetch},
};
const size_t object_method_count = COUNT_OF(object_methods);
