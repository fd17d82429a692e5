/* values.c - errors, texts and values between C and Java. shim.h shows how values are encoded. */

#include "shim.h"

/** Throws the last error of this thread as a RealmException. Returns false. */
bool fail(JNIEnv* env) {
    if ((*env)->ExceptionCheck(env))
        return false;
    realm_error_t error;
    memset(&error, 0, sizeof error);
    if (!crealm.realm_get_last_error(&error)) {
        error.error = RLM_ERR_UNKNOWN;
        error.message = "unknown error";
    }
    jbyteArray message = text_out(env, error.message ? error.message : "");
    jbyteArray path = message && error.path ? text_out(env, error.path) : NULL;
    if ((*env)->ExceptionCheck(env))
        return false;
    jthrowable thrown = (*env)->CallStaticObjectMethod(env, java.native, java.failure, (jint)error.error,
                                                       (jint)error.categories, message, path);
    if (thrown && !(*env)->ExceptionCheck(env))
        (*env)->Throw(env, thrown);
    crealm.realm_clear_last_error();
    return false;
}

/** Throws a RealmException with INVALID_ARGUMENT. Returns false. */
bool fail_with(JNIEnv* env, const char* message) {
    jbyteArray text = text_out(env, message);
    if (!text)
        return false;
    jthrowable thrown = (*env)->CallStaticObjectMethod(env, java.native, java.invalid, text);
    if (thrown && !(*env)->ExceptionCheck(env))
        (*env)->Throw(env, thrown);
    return false;
}

bool out_of_memory(JNIEnv* env) {
    jclass type = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
    if (type)
        (*env)->ThrowNew(env, type, "no memory for a call of the database");
    return false;
}

/** Copies the bytes of an array; bytes_end() frees the copy. Null is no error. */
bool bytes_in(JNIEnv* env, jbyteArray array, struct bytes* out) {
    out->data = NULL;
    out->size = 0;
    if (!array)
        return true;
    size_t size = (size_t)(*env)->GetArrayLength(env, array);
    out->data = size < sizeof out->small ? out->small : malloc(size + 1);
    if (!out->data)
        return out_of_memory(env);
    out->size = size;
    (*env)->GetByteArrayRegion(env, array, 0, (jsize)size, (jbyte*)out->data);
    out->data[size] = 0;
    return true;
}

/** As bytes_in(), for a text that may not have a NUL in it. */
bool text_in(JNIEnv* env, jbyteArray array, bool optional, struct bytes* out) {
    out->data = NULL;
    if (!array && !optional)
        return fail_with(env, "a text is null");
    if (!bytes_in(env, array, out))
        return false;
    if (out->data && memchr(out->data, 0, out->size)) {
        bytes_end(out);
        return fail_with(env, "a name, path or query has a character with the code 0");
    }
    return true;
}

void bytes_end(struct bytes* bytes) {
    if (bytes->data != bytes->small)
        free(bytes->data);
    bytes->data = NULL;
}

/** Decodes values. Texts and binaries are views of the bytes. */
bool values_in(JNIEnv* env, const struct bytes* bytes, size_t count, realm_value_t* out) {
    if (count > bytes->size / VALUE_SIZE)
        return fail_with(env, "too few bytes for the values");
    for (size_t index = 0; index < count; index++) {
        const char* record = bytes->data + index * VALUE_SIZE;
        int32_t type;
        int64_t first, second;
        memcpy(&first, record, 8);
        memcpy(&second, record + 8, 8);
        memcpy(&type, record + 16, 4);
        realm_value_t* value = out + index;
        memset(value, 0, sizeof *value);
        value->type = (realm_value_type_e)type;
        switch (type) {
        case RLM_TYPE_STRING:
        case RLM_TYPE_BINARY:
            if (first < 0 || second < 0 || (uint64_t)first > bytes->size ||
                (uint64_t)second > bytes->size - (uint64_t)first)
                return fail_with(env, "a text outside of its array");
            value->string.data = bytes->data + first;
            value->string.size = (size_t)second;
            break;
        case RLM_TYPE_LINK:
            value->link.target = first;
            value->link.target_table = (realm_class_key_t)second;
            break;
        case RLM_TYPE_TIMESTAMP:
            value->timestamp.seconds = first;
            value->timestamp.nanoseconds = (int32_t)second;
            break;
        case RLM_TYPE_BOOL:
            value->boolean = first != 0;
            break;
        default:
            memcpy(value->data, record, 16);
        }
    }
    return true;
}

/** Decodes one value; bytes_end() frees the bytes, also after an error. */
bool value_in(JNIEnv* env, jbyteArray array, struct bytes* bytes, realm_value_t* out) {
    bytes->data = NULL;
    if (!array)
        return fail_with(env, "a value is missing");
    return bytes_in(env, array, bytes) && values_in(env, bytes, 1, out);
}

/** Writes one value into its record; texts go to offset `heap`. Returns the size of the text. */
static size_t encode(const realm_value_t* value, uint8_t* record, uint8_t* base, size_t heap) {
    int32_t type = (int32_t)value->type;
    int64_t words[2] = {0, 0};
    size_t size = 0;
    switch (value->type) {
    case RLM_TYPE_STRING:
    case RLM_TYPE_BINARY:
        size = value->string.size;
        words[0] = (int64_t)heap;
        words[1] = (int64_t)size;
        if (size)
            memcpy(base + heap, value->string.data, size);
        break;
    case RLM_TYPE_LINK:
        words[0] = value->link.target;
        words[1] = value->link.target_table;
        break;
    case RLM_TYPE_TIMESTAMP:
        words[0] = value->timestamp.seconds;
        words[1] = value->timestamp.nanoseconds;
        break;
    case RLM_TYPE_BOOL:
        words[0] = value->boolean;
        break;
    case RLM_TYPE_FLOAT:
        memcpy(words, &value->fnum, 4);
        break;
    case RLM_TYPE_INT:
    case RLM_TYPE_DOUBLE:
        words[0] = value->integer;
        break;
    case RLM_TYPE_OBJECT_ID:
        memcpy(words, &value->object_id, 12);
        break;
    case RLM_TYPE_DECIMAL128:
    case RLM_TYPE_UUID:
        memcpy(words, value->data, 16);
        break;
    default:
        break;
    }
    memcpy(record, words, 16);
    memcpy(record + 16, &type, 4);
    memset(record + 20, 0, 4);
    return size;
}

jbyteArray array_of(JNIEnv* env, const void* data, size_t size) {
    if (size > INT32_MAX - 16) {
        fail_with(env, "more than 2 GB in one call");
        return NULL;
    }
    jbyteArray array = (*env)->NewByteArray(env, (jsize)size);
    if (array && size)
        (*env)->SetByteArrayRegion(env, array, 0, (jsize)size, data);
    return array;
}

jbyteArray values_out(JNIEnv* env, const realm_value_t* values, size_t count) {
    size_t heap = count * VALUE_SIZE, size = heap;
    for (size_t index = 0; index < count; index++)
        if (values[index].type == RLM_TYPE_STRING || values[index].type == RLM_TYPE_BINARY)
            size += values[index].string.size;
    uint8_t small[1024];
    small[0] = 0;
    uint8_t* data = size <= sizeof small ? small : malloc(size);
    if (!data) {
        out_of_memory(env);
        return NULL;
    }
    for (size_t index = 0; index < count; index++)
        heap += encode(values + index, data + index * VALUE_SIZE, data, heap);
    jbyteArray array = array_of(env, data, size);
    if (data != small)
        free(data);
    return array;
}

jbyteArray value_out(JNIEnv* env, const realm_value_t* value) {
    return values_out(env, value, 1);
}

jbyteArray text_out(JNIEnv* env, const char* text) {
    return text ? array_of(env, text, strlen(text)) : NULL;
}

jbyteArray owned_text_out(JNIEnv* env, char* text) {
    jbyteArray array = text_out(env, text);
    crealm.realm_free(text);
    return array;
}

void buffer_begin(struct buffer* buffer) {
    buffer->data = buffer->small;
    buffer->size = 0;
    buffer->capacity = sizeof buffer->small;
    buffer->failed = false;
}

void buffer_end(struct buffer* buffer) {
    if (buffer->data != buffer->small)
        free(buffer->data);
}

void buffer_bytes(struct buffer* buffer, const void* data, size_t size) {
    if (buffer->failed)
        return;
    if (size > buffer->capacity - buffer->size) {
        size_t capacity = (buffer->size + size) * 2;
        uint8_t* grown = buffer->data == buffer->small ? malloc(capacity) : realloc(buffer->data, capacity);
        if (!grown) {
            buffer->failed = true;
            return;
        }
        if (buffer->data == buffer->small)
            memcpy(grown, buffer->small, buffer->size);
        buffer->data = grown;
        buffer->capacity = capacity;
    }
    if (size)
        memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void buffer_int(struct buffer* buffer, int64_t number) {
    buffer_bytes(buffer, &number, sizeof number);
}

/** Writes the size of a text, then the text. */
void buffer_text(struct buffer* buffer, const char* text) {
    size_t size = text ? strlen(text) : 0;
    buffer_int(buffer, (int64_t)size);
    buffer_bytes(buffer, text, size);
}

/** The bytes as an array; ends the buffer. */
jbyteArray buffer_out(JNIEnv* env, struct buffer* buffer) {
    jbyteArray array = NULL;
    if (buffer->failed)
        out_of_memory(env);
    else
        array = array_of(env, buffer->data, buffer->size);
    buffer_end(buffer);
    return array;
}
