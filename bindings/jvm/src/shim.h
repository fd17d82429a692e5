/* shim.h - what the sources of the JNI library share.
 *
 * Java passes a handle as two arguments: the Java object that owns it, which keeps it from being released during
 * the call, and its address. Texts are byte arrays of UTF-8. Values are encoded in byte arrays: 24 bytes for each
 * value, then the bytes of texts and binaries.
 *
 *     0        8        16    20    24
 *     +--------+--------+-----+-----+
 *     | payload         | type|  0  |     as in realm_value_t; numbers in the byte order of the machine
 *     +--------+--------+-----+-----+
 *     text or binary: offset in the array and size, 8 bytes each
 *     link: key of the object, key of the class, 8 bytes each
 *     time: seconds and nanoseconds, 8 bytes each
 *
 * A function that fails leaves an exception pending and returns 0. */

#ifndef CREALM_JVM_SHIM_H
#define CREALM_JVM_SHIM_H

#include <jni.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../../include/crealm.h"
#include "../generated/library.h"

#define VALUE_SIZE 24
#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

/* The classes and methods of Java that C calls. */
struct java {
    JavaVM* vm;
    jclass native;
    jmethodID failure;      /* (int, int, byte[], byte[]) -> Throwable */
    jmethodID invalid;      /* (byte[]) -> RealmException */
    jmethodID changed;      /* (Object, int, long[], byte[]) */
    jmethodID migrate;      /* (Object, long, long, long) -> boolean */
    jmethodID initialize;   /* (Object, long) -> boolean */
    jmethodID compact;      /* (Object, long, long) -> int */
    jmethodID progress;     /* (Object, int, long, long) -> boolean */
    jmethodID work;         /* (Object) */
    jmethodID log;          /* (Object, int, byte[], byte[]) */
};

extern struct java java;

/* A copy of the bytes of a Java array, with a NUL after them. */
struct bytes {
    char* data; /* NULL for a Java null */
    size_t size;
    char small[512];
};

/* Bytes that are being written. */
struct buffer {
    uint8_t* data;
    size_t size, capacity;
    bool failed;
    uint8_t small[1024];
};

/* values.c */
bool fail(JNIEnv* env);
bool fail_with(JNIEnv* env, const char* message);
bool out_of_memory(JNIEnv* env);

bool bytes_in(JNIEnv* env, jbyteArray array, struct bytes* out);
bool text_in(JNIEnv* env, jbyteArray array, bool optional, struct bytes* out);
void bytes_end(struct bytes* bytes);
bool values_in(JNIEnv* env, const struct bytes* bytes, size_t count, realm_value_t* out);
bool value_in(JNIEnv* env, jbyteArray array, struct bytes* bytes, realm_value_t* out);
jbyteArray value_out(JNIEnv* env, const realm_value_t* value);
jbyteArray values_out(JNIEnv* env, const realm_value_t* values, size_t count);
jbyteArray text_out(JNIEnv* env, const char* text);
jbyteArray owned_text_out(JNIEnv* env, char* text);
jbyteArray array_of(JNIEnv* env, const void* data, size_t size);

void buffer_begin(struct buffer* buffer);
void buffer_end(struct buffer* buffer);
void buffer_bytes(struct buffer* buffer, const void* data, size_t size);
void buffer_int(struct buffer* buffer, int64_t number);
void buffer_text(struct buffer* buffer, const char* text);
jbyteArray buffer_out(JNIEnv* env, struct buffer* buffer);

/* callbacks.c */
JNIEnv* thread_env(void);
void* reference_new(JNIEnv* env, jobject object);
void reference_free(void* userdata);

/* Functions that Java calls: generated, and written by hand. */
extern const JNINativeMethod generated_methods[];
extern const size_t generated_method_count;
extern const JNINativeMethod object_methods[];
extern const size_t object_method_count;
extern const JNINativeMethod collection_methods[];
extern const size_t collection_method_count;
extern const JNINativeMethod realm_methods[];
extern const size_t realm_method_count;
extern const JNINativeMethod callback_methods[];
extern const size_t callback_method_count;

#endif
