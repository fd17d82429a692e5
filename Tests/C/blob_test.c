/*
 * blob_test.c - lists of binaries and texts as long values.
 *
 * Random reads, writes and changes of length are compared with a model in memory, over lists whose elements other
 * programs made, in plain and encrypted files; refused calls change nothing; a long value passes through little memory.
 *
 *     blob_test
 *
 * BLOB_MB=1024 blob_test: the length of the long value (default 96). Compiles as C11 and as C++17.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <sys/resource.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/blob-XXXXXX";
static const char DOCUMENTS[] =
    "[{\"name\":\"Document\",\"primaryKey\":\"id\",\"properties\":{\"id\":\"int\",\"content\":\"data[]\",\"maybe\":\"data?[]\","
    "\"text\":\"string[]\",\"numbers\":\"int[]\",\"tags\":\"string<>\"}}]";

static realm_class_key_t document;
static realm_property_key_t content, maybe, text_key, numbers, tags;

static void path_of(char* out, size_t size, const char* name) { snprintf(out, size, "%s/%s.realm", folder, name); }
static realm_property_key_t property_of(realm_t* realm, const char* name) {
    realm_property_info_t info;
    bool found = false;
    CHECK(realm_find_property(realm, document, name, &found, &info) && found);
    return info.key;
}
static realm_t* open_documents(const char* name, int cipher) {
    char path[200];
    path_of(path, sizeof path, name);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_cached(config, false);
    realm_schema_t* schema = crealm_schema_from_json(DOCUMENTS, strlen(DOCUMENTS));
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    uint8_t key[64];
    memset(key, 7, sizeof key);
    if (cipher >= 0) {
        realm_config_set_encryption_key(config, key, sizeof key);
        crealm_config_set_page_cipher(config, (crealm_page_cipher_e)cipher);
    }
    realm_t* realm = realm_open(config);
    CHECK(realm != NULL);
    realm_release(schema);
    realm_release(config);
    if (!realm) give_up();
    realm_class_info_t info;
    bool found = false;
    CHECK(realm_find_class(realm, "Document", &found, &info) && found);
    document = info.key;
    content = property_of(realm, "content"), maybe = property_of(realm, "maybe"), text_key = property_of(realm, "text");
    numbers = property_of(realm, "numbers"), tags = property_of(realm, "tags");
    return realm;
}

/* ---- Beside a model --------------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252u;
static size_t below(size_t limit) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return limit ? (size_t)(state % limit) : 0;
}
enum { ROOM = 1 << 21 };
static uint8_t model[ROOM], buffer[ROOM], noise[ROOM];
static size_t length;

static bool equal(const realm_list_t* list) {
    uint64_t size = 0;
    size_t read = 0;
    if (!crealm_blob_get_size(list, &size) || size != length) return false;
    memset(buffer, 0xEE, length);
    return crealm_blob_read(list, 0, buffer, ROOM, &read) && read == length && memcmp(buffer, model, length) == 0;
}
static void random_calls(realm_t* realm, bool nullable, int rounds) {
    realm_object_t* object = realm_object_find_with_primary_key(realm, document, integer(1), NULL);
    realm_list_t* list = realm_get_list(object, nullable ? maybe : content);
    CHECK(list != NULL);
    length = 0;
    for (int round = 0; round < rounds; round++) {
        CHECK(realm_begin_write(realm));
        uint8_t kept_first = model[0];
        size_t kept_length = length, first_element = SIZE_MAX;
        bool rolls_back = below(5) == 0;
        static uint8_t before[ROOM];
        if (rolls_back) memcpy(before, model, length);
        (void)kept_first;
        for (int step = 0; step < 8; step++) {
            size_t offset = below(6) == 0 ? length : below(length + 1), size = below(below(3) ? 300 : 200000);
            if (below(12) == 0) offset = length + below(100000);
            if (offset + size > ROOM) offset = 0, size = below(1000);
            switch (below(6)) {
                case 0: { /* another length */
                    size_t end = below(3) ? below(length + 1) : length + below(90000);
                    if (end > ROOM) end = length / 2;
                    CHECK(crealm_blob_resize(list, end));
                    if (end > length) memset(model + length, 0, end - length);
                    length = end;
                    break;
                }
                case 1: { /* an element of another program */
                    size_t count = 0, at;
                    CHECK(realm_list_size(list, &count));
                    size = below(below(2) ? 20 : 90000);
                    if (length + size > ROOM) break;
                    at = count;
                    realm_value_t value = of_type(RLM_TYPE_BINARY);
                    value.binary.data = noise, value.binary.size = size;
                    if (nullable && below(3) == 0) value = null_value(), size = 0;
                    first_element = at;
                    CHECK(realm_list_insert(list, at, value));
                    memcpy(model + length, noise, size);
                    length += size;
                    break;
                }
                default:
                    for (size_t i = 0; i < size; i += 64) noise[i] = (uint8_t)below(256);
                    CHECK(crealm_blob_write(list, offset, noise, size));
                    if (size > 0 && offset > length) memset(model + length, 0, offset - length);
                    memcpy(model + offset, noise, size);
                    if (size > 0 && offset + size > length) length = offset + size;
            }
            size_t at = below(length + 10), wanted = below(5000), read = 0;
            CHECK(crealm_blob_read(list, at, buffer, wanted, &read));
            size_t there = at < length ? length - at : 0;
            CHECK(read == (wanted < there ? wanted : there) && memcmp(buffer, model + at, read) == 0);
        }
        (void)first_element;
        CHECK(equal(list));
        if (rolls_back) {
            CHECK(realm_rollback(realm));
            memcpy(model, before, kept_length);
            length = kept_length;
        } else {
            CHECK(realm_commit(realm));
        }
        CHECK(equal(list));
    }
    realm_release(list);
    realm_release(object);
}
static void test_model(void) {
    section = "beside a model";
    for (int cipher = -1; cipher < 3; cipher++) {
        char name[20];
        snprintf(name, sizeof name, "model%d", cipher + 1);
        realm_t* realm = open_documents(name, cipher);
        CHECK(realm_begin_write(realm));
        realm_object_t* object = realm_object_create_with_primary_key(realm, document, integer(1));
        CHECK(realm_commit(realm));
        realm_release(object);
        random_calls(realm, false, 25);
        random_calls(realm, true, 25);
        CHECK(crealm_verify(realm, NULL));

        /* The same through a frozen realm, and after opening the file again. */
        realm_t* frozen = realm_freeze(realm);
        object = realm_object_find_with_primary_key(frozen, document, integer(1), NULL);
        realm_list_t* list = realm_get_list(object, maybe);
        CHECK(equal(list) && equal(list));
        realm_release(list);
        realm_release(object);
        realm_release(frozen);
        realm_release(realm);
        realm = open_documents(name, cipher);
        object = realm_object_find_with_primary_key(realm, document, integer(1), NULL);
        list = realm_get_list(object, maybe);
        CHECK(equal(list));
        realm_release(list);
        realm_release(object);
        realm_release(realm);
    }
}

/* ---- Texts, and calls that are refused -------------------------------------------------------------- */

static void test_texts(void) {
    section = "texts";
    realm_t* realm = open_documents("texts", -1);
    CHECK(realm_begin_write(realm));
    realm_object_t* object = realm_object_create_with_primary_key(realm, document, integer(1));
    realm_list_t* list = realm_get_list(object, text_key);
    /* Characters of one to four bytes, whose borders do not fall together with those of the elements. */
    const char* words = "a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80";
    size_t size = strlen(words);
    length = 0;
    for (int i = 0; i < 30000; i++) memcpy(model + length, words, size), length += size;
    for (size_t done = 0; done < length;) {
        size_t part = (1 + below(9000)) * size;
        if (part > length - done) part = length - done;
        CHECK(crealm_blob_write(list, done, model + done, part));
        done += part;
    }
    CHECK(equal(list));
    size_t count = 0;
    CHECK(realm_list_size(list, &count) && count >= length / 65536);
    for (size_t i = 0; i < count; i++) {
        realm_value_t value;
        CHECK(realm_list_get(list, i, &value) && value.string.size <= 65536);
        CHECK((value.string.data[0] & 0xC0) != 0x80);
    }
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_blob_write(list, 0, "x", 1));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_blob_write(list, length + 1, "x", 1));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_blob_write(list, length, "\xC3", 1));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_blob_resize(list, length + 1));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_blob_resize(list, length - 1));
    CHECK(equal(list));
    length -= 4;
    CHECK(crealm_blob_resize(list, length) && equal(list));
    CHECK(crealm_blob_resize(list, 0));
    length = 0;
    CHECK(equal(list));
    realm_release(list);

    section = "refused calls";
    realm_list_t *blob = realm_get_list(object, content), *other = realm_get_list(object, numbers);
    uint64_t bytes = 0;
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_blob_get_size(other, &bytes));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_blob_write(other, 0, "x", 1));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, crealm_blob_write(blob, UINT64_MAX, "x", 1));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, crealm_blob_write(blob, 4294967296u, "x", 1));
    FAILS(RLM_ERR_LIMIT_EXCEEDED, crealm_blob_resize(blob, 4294967297u));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_blob_write(blob, 0, NULL, 1));
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_blob_read(blob, 0, NULL, 1, NULL));
    CHECK(crealm_blob_read(blob, UINT64_MAX, NULL, 0, NULL) && crealm_blob_write(blob, 5, NULL, 0));
    CHECK(crealm_blob_get_size(blob, &bytes) && bytes == 0);
    CHECK(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_blob_write(blob, 0, "x", 1));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_blob_resize(blob, 9));
    CHECK(realm_begin_write(realm) && realm_object_delete(object) && realm_commit(realm));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_blob_get_size(blob, &bytes));
    realm_release(other);
    realm_release(blob);
    realm_release(object);
    realm_release(realm);
}

/* ---- A long value ----------------------------------------------------------------------------------- */

static long peak(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}
/* Anonymous memory in MB: pages of the mapped file are not the program's. */
static long own_memory(void) {
    FILE* file = fopen("/proc/self/status", "r");
    char line[200];
    long found = -1;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "RssAnon: %ld", &found) == 1) break;
    if (file) fclose(file);
    return found / 1024;
}
static void test_long(void) {
    section = "a long value";
    const char* wanted = getenv("BLOB_MB");
    size_t megabytes = wanted ? (size_t)atoi(wanted) : 96;
    realm_t* realm = open_documents("long", -1);
    long before = own_memory(), most = 0;
    CHECK(realm_begin_write(realm));
    realm_object_t* object = realm_object_create_with_primary_key(realm, document, integer(1));
    realm_list_t* list = realm_get_list(object, content);
    for (size_t i = 0; i < megabytes; i++) {
        for (size_t k = 0; k < 1 << 20; k += 8) {
            uint64_t word = (uint64_t)i * 1000003u + k;
            memcpy(buffer + k, &word, 8);
        }
        CHECK(crealm_blob_write(list, (uint64_t)i << 20, buffer, 1 << 20));
        if (i % 16 == 15) CHECK(realm_commit(realm) && realm_begin_write(realm));
        if (own_memory() > most) most = own_memory();
    }
    CHECK(realm_commit(realm));
    for (size_t i = 0; i < megabytes; i++) {
        size_t read = 0;
        CHECK(crealm_blob_read(list, (uint64_t)i << 20, buffer, 1 << 20, &read) && read == 1 << 20);
        bool good = true;
        for (size_t k = 0; k < 1 << 20; k += 8) {
            uint64_t word = (uint64_t)i * 1000003u + k, there;
            memcpy(&there, buffer + k, 8);
            good &= word == there;
        }
        CHECK(good);
        if (own_memory() > most) most = own_memory();
    }
    CHECK(most - before < 64);
    printf("%zu MB, own memory %ld MB more than before, peak of all %ld MB\n", megabytes, most - before, peak());

    /* The parts of the file and the check know the value. */
    crealm_space_t* parts = NULL;
    size_t count = 0;
    CHECK(crealm_get_space(realm, &parts, &count, NULL));
    uint64_t values = 0;
    for (size_t i = 0; i < count; i++) values += parts[i].bytes * (parts[i].kind == CREALM_SPACE_VALUES);
    CHECK(values >= (uint64_t)megabytes << 20);
    realm_free(parts);
    CHECK(crealm_verify(realm, NULL));
    realm_release(list);
    realm_release(object);
    realm_release(realm);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    for (size_t i = 0; i < ROOM; i++) noise[i] = (uint8_t)(i * 31 + i / 251);
    test_model();
    test_texts();
    test_long();
    return finished(folder);
}
