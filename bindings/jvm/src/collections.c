/* collections.c - pages of lists, sets, dictionaries and results; embedded objects in collections; queries. */

#include "shim.h"

/* Kinds of collections, as Java numbers them. */
enum { KIND_LIST, KIND_SET, KIND_DICTIONARY, KIND_RESULTS, KIND_OBJECT };

static void* pointer(jlong address) {
    return (void*)(intptr_t)address;
}

static bool read_element(jint kind, void* collection, size_t index, realm_value_t* out) {
    if (kind == KIND_LIST)
        return crealm.realm_list_get(collection, index, out);
    if (kind == KIND_SET)
        return crealm.realm_set_get(collection, index, out);
    return crealm.realm_results_get(collection, index, out);
}

static bool count_elements(jint kind, void* collection, size_t* out) {
    if (kind == KIND_LIST)
        return crealm.realm_list_size(collection, out);
    if (kind == KIND_SET)
        return crealm.realm_set_size(collection, out);
    if (kind == KIND_DICTIONARY)
        return crealm.realm_dictionary_size(collection, out);
    return crealm.realm_results_count(collection, out);
}

/** Reads elements; of a dictionary key and value of each pair. Elements beyond the last one are left out. */
static jbyteArray elements(JNIEnv* env, jclass type, jobject owner, jlong address, jint kind, jlong first, jint count) {
    (void)type, (void)owner;
    void* collection = pointer(address);
    size_t size = 0, width = kind == KIND_DICTIONARY ? 2 : 1;
    if (!count_elements(kind, collection, &size)) {
        fail(env);
        return NULL;
    }
    size_t begin = (size_t)first < size ? (size_t)first : size;
    size_t rows = size - begin < (size_t)count ? size - begin : (size_t)count;
    realm_value_t small[32], *values = rows * width <= COUNT_OF(small) ? small : malloc(rows * width * sizeof *values);
    if (!values) {
        out_of_memory(env);
        return NULL;
    }
    bool done = true;
    for (size_t row = 0; row < rows && done; row++)
        done = kind == KIND_DICTIONARY
                   ? crealm.realm_dictionary_get(collection, begin + row, values + row * 2, values + row * 2 + 1)
                   : read_element(kind, collection, begin + row, values + row);
    jbyteArray result = NULL;
    if (done)
        result = values_out(env, values, rows * width);
    else
        fail(env);
    if (values != small)
        free(values);
    return result;
}

/** One element; fails if there is none. */
static jbyteArray element(JNIEnv* env, jclass type, jobject owner, jlong address, jint kind, jlong index) {
    (void)type, (void)owner;
    realm_value_t value;
    if (!read_element(kind, pointer(address), (size_t)index, &value)) {
        fail(env);
        return NULL;
    }
    return value_out(env, &value);
}

/* What Java makes in a list of embedded objects. */
enum { EMBEDDED_INSERT, EMBEDDED_SET };

static jlong key_and_release(JNIEnv* env, realm_object_t* made) {
    if (!made)
        return fail(env);
    jlong key = crealm.realm_object_get_key(made);
    crealm.realm_release(made);
    return key;
}

/** Makes an embedded object in a list. Returns its key. */
static jlong list_embedded(JNIEnv* env, jclass type, jobject owner, jlong address, jlong index, jint way) {
    (void)type, (void)owner;
    return key_and_release(env, way == EMBEDDED_INSERT
                                    ? crealm.realm_list_insert_embedded(pointer(address), (size_t)index)
                                    : crealm.realm_list_set_embedded(pointer(address), (size_t)index));
}

static jlong dictionary_embedded(JNIEnv* env, jclass type, jobject owner, jlong address, jbyteArray key) {
    (void)type, (void)owner;
    struct bytes bytes;
    realm_value_t value;
    jlong made = 0;
    if (value_in(env, key, &bytes, &value))
        made = key_and_release(env, crealm.realm_dictionary_insert_embedded(pointer(address), value));
    bytes_end(&bytes);
    return made;
}

/* ---- queries ---- */

/* Arguments of a query. */
struct arguments {
    struct bytes text, bytes;
    size_t count;
    realm_query_arg_t* items;
    realm_value_t* values;
};

static void arguments_end(struct arguments* arguments) {
    bytes_end(&arguments->text);
    bytes_end(&arguments->bytes);
    free(arguments->items);
    free(arguments->values);
}

/** Decodes text and arguments. lengths: for each argument its number of values if it is a list, or -1. */
static bool arguments_in(JNIEnv* env, jbyteArray text, jlongArray lengths, jbyteArray values, struct arguments* out) {
    out->text.data = out->bytes.data = NULL;
    out->items = NULL;
    out->values = NULL;
    out->count = (size_t)(*env)->GetArrayLength(env, lengths);
    if (!text_in(env, text, false, &out->text) || !bytes_in(env, values, &out->bytes))
        return false;
    if (!out->count)
        return true;
    out->items = calloc(out->count, sizeof *out->items);
    jlong* numbers = malloc(out->count * sizeof *numbers);
    size_t total = 0;
    if (numbers)
        (*env)->GetLongArrayRegion(env, lengths, 0, (jsize)out->count, numbers);
    for (size_t index = 0; numbers && index < out->count; index++)
        total += numbers[index] < 0 ? 1 : (size_t)numbers[index];
    out->values = numbers ? calloc(total + 1, sizeof *out->values) : NULL;
    bool done = out->items && out->values;
    if (!done)
        out_of_memory(env);
    else
        done = values_in(env, &out->bytes, total, out->values);
    realm_value_t* next = out->values;
    for (size_t index = 0; done && index < out->count; index++) {
        out->items[index].is_list = numbers[index] >= 0;
        out->items[index].nb_args = numbers[index] < 0 ? 1 : (size_t)numbers[index];
        out->items[index].arg = next;
        next += out->items[index].nb_args;
    }
    free(numbers);
    return done;
}

/* On what a query is made. */
enum { ON_LIST = KIND_LIST, ON_SET = KIND_SET, ON_RESULTS = KIND_RESULTS, ON_CLASS = 10, ON_QUERY = 11 };

static jlong query(JNIEnv* env, jclass type, jobject owner, jlong address, jint on, jint class_key, jbyteArray text,
                   jlongArray lengths, jbyteArray values) {
    (void)type, (void)owner;
    struct arguments in;
    realm_query_t* made = NULL;
    if (arguments_in(env, text, lengths, values, &in)) {
        void* base = pointer(address);
        if (on == ON_CLASS)
            made = crealm.realm_query_parse(base, (realm_class_key_t)class_key, in.text.data, in.count, in.items);
        else if (on == ON_LIST)
            made = crealm.realm_query_parse_for_list(base, in.text.data, in.count, in.items);
        else if (on == ON_SET)
            made = crealm.realm_query_parse_for_set(base, in.text.data, in.count, in.items);
        else if (on == ON_QUERY)
            made = crealm.realm_query_append_query(base, in.text.data, in.count, in.items);
        else
            made = crealm.realm_query_parse_for_results(base, in.text.data, in.count, in.items);
        if (!made)
            fail(env);
    }
    arguments_end(&in);
    return (jlong)(intptr_t)made;
}

static jlong update(JNIEnv* env, jclass type, jobject owner, jlong address, jbyteArray text, jlongArray lengths,
                    jbyteArray values) {
    (void)type, (void)owner;
    struct arguments in;
    size_t count = 0;
    if (arguments_in(env, text, lengths, values, &in) &&
        !crealm.crealm_results_update(pointer(address), in.text.data, in.count, in.items, &count))
        fail(env);
    arguments_end(&in);
    return (jlong)count;
}

/** How a query finds its rows: access, property, objects, tested, found. */
static jlongArray explain(JNIEnv* env, jclass type, jobject owner, jlong address) {
    (void)type, (void)owner;
    crealm_query_plan_t plan;
    if (!crealm.crealm_query_explain(pointer(address), &plan)) {
        fail(env);
        return NULL;
    }
    jlong numbers[5] = {plan.access, plan.property, (jlong)plan.objects, (jlong)plan.tested, (jlong)plan.found};
    jlongArray result = (*env)->NewLongArray(env, 5);
    if (result)
        (*env)->SetLongArrayRegion(env, result, 0, 5, numbers);
    return result;
}

const JNINativeMethod collection_methods[] = {
    {"elements0", "(Lorg/crealm/Handle;JIJI)[B", (void*)elements},
    {"element0", "(Lorg/crealm/Handle;JIJ)[B", (void*)element},
    {"listEmbedded0", "(Lorg/crealm/Handle;JJI)J", (void*)list_embedded},
    {"dictionaryEmbedded0", "(Lorg/crealm/Handle;J[B)J", (void*)dictionary_embedded},
    {"query", "(Lorg/crealm/Handle;JII[B[J[B)J", (void*)query},
    {"update0", "(Lorg/crealm/Handle;J[B[J[B)J", (void*)update},
    {"explain", "(Lorg/crealm/Handle;J)[J", (void*)explain},
};
const size_t collection_method_count = COUNT_OF(collection_methods);
