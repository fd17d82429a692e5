/* library.c - loading of this library by the JVM, and of the database library by this one. */

#include <dlfcn.h>
#include <stdio.h>

#include "shim.h"

struct java java;
struct library crealm;

/** Loads the database library, and finds the functions that this one calls.
 *
 *  path:    UTF-8.
 *  Returns: null, or a text that says what is missing. */
static jbyteArray load(JNIEnv* env, jclass type, jbyteArray path) {
    (void)type;
    struct bytes name;
    if (!text_in(env, path, false, &name))
        return NULL;
    char problem[600] = "";
    void* library = dlopen(name.data, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        snprintf(problem, sizeof problem, "%s", dlerror());
    for (size_t index = 0; library && index < library_count && !problem[0]; index++) {
        void* function = dlsym(library, library_names[index]);
        if (!function)
            snprintf(problem, sizeof problem, "%s has no function %s", name.data, library_names[index]);
        memcpy((char*)&crealm + index * sizeof function, &function, sizeof function);
    }
    if (!problem[0] && crealm.crealm_abi_version() != CREALM_ABI_VERSION)
        snprintf(problem, sizeof problem, "%s has version %u of the C API, not %u", name.data,
                 crealm.crealm_abi_version(), CREALM_ABI_VERSION);
    bytes_end(&name);
    return problem[0] ? text_out(env, problem) : NULL;
}

static const JNINativeMethod library_methods[] = {
    {"load", "([B)[B", (void*)load},
};

static bool registered(JNIEnv* env, jclass type, const JNINativeMethod* methods, size_t count) {
    return (*env)->RegisterNatives(env, type, methods, (jint)count) == JNI_OK;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* vm, void* reserved) {
    (void)reserved;
    JNIEnv* env = NULL;
    if ((*vm)->GetEnv(vm, (void**)&env, JNI_VERSION_1_6) != JNI_OK)
        return JNI_ERR;
    java.vm = vm;
    jclass type = (*env)->FindClass(env, "org/crealm/Native");
    if (!type || !(java.native = (*env)->NewGlobalRef(env, type)))
        return JNI_ERR;
    const struct {
        jmethodID* id;
        const char* name;
        const char* signature;
    } called[] = {
        {&java.failure, "failure", "(II[B[B)Ljava/lang/Throwable;"},
        {&java.invalid, "invalid", "([B)Lorg/crealm/RealmException;"},
        {&java.changed, "changed", "(Ljava/lang/Object;I[J[B)V"},
        {&java.migrate, "migrate", "(Ljava/lang/Object;JJJ)Z"},
        {&java.initialize, "initialize", "(Ljava/lang/Object;J)Z"},
        {&java.compact, "compact", "(Ljava/lang/Object;JJ)I"},
        {&java.progress, "progress", "(Ljava/lang/Object;IJJ)Z"},
        {&java.work, "work", "(Ljava/lang/Object;)V"},
        {&java.log, "log", "(Ljava/lang/Object;I[B[B)V"},
    };
    for (size_t index = 0; index < COUNT_OF(called); index++)
        if (!(*called[index].id = (*env)->GetStaticMethodID(env, type, called[index].name, called[index].signature)))
            return JNI_ERR;
    jclass calls = (*env)->FindClass(env, "org/crealm/Calls");
    if (!calls || !registered(env, calls, generated_methods, generated_method_count) ||
        !registered(env, type, library_methods, COUNT_OF(library_methods)) ||
        !registered(env, type, object_methods, object_method_count) ||
        !registered(env, type, collection_methods, collection_method_count) ||
        !registered(env, type, realm_methods, realm_method_count) ||
        !registered(env, type, callback_methods, callback_method_count))
        return JNI_ERR;
    return JNI_VERSION_1_6;
}
