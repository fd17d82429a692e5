/*
 * Secrets in memory. Goal: the core dump of a program that writes to an encrypted file has neither the key nor the
 * written data, except in the program's own memory; a refused key never leads to a plain file. Method: a child opens a
 * file, writes texts that it read from a pipe and then wiped from its own memory, and aborts at several moments; the
 * test searches the dump that the operating system leaves.
 *
 *     secrets_test
 *
 * If the system passes dumps to another program, the test prints that and checks only the second half. Compiles as C11
 * and as C++17. Exit status 1 when a check failed.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

enum { LENGTH = 28, TEXTS = 7, LARGE = 3 << 20 };
/* The moment when the child aborts. */
enum moment { WRITING, COMMITTED, REOPENED, COPIED, ROLLED_BACK, MOMENTS };

static char folder[] = "/tmp/secrets_test.XXXXXX";

/* ---- Secrets -------------------------------------------------------------------------------------- */

struct secrets {
    uint8_t key[64];
    char texts[TEXTS][LENGTH];
};
/* In a way that no compiler optimises away. */
static void wipe(void* at, size_t count) {
    volatile uint8_t* p = (volatile uint8_t*)at;
    while (count--) *p++ = 0;
}
static bool make_secrets(struct secrets* s) {
    int fd = open("/dev/urandom", O_RDONLY);
    bool done = read(fd, s, sizeof *s) == (ssize_t)sizeof *s;
    close(fd);
    for (int i = 0; i < TEXTS; i++)
        for (int k = 0; k < LENGTH; k++) s->texts[i][k] = (char)('a' + (uint8_t)s->texts[i][k] % 26);
    return done;
}

/* ---- The child ------------------------------------------------------------------------------------ */

static realm_value_t text(const char* s, size_t n) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_STRING, v.string.data = s, v.string.size = n;
    return v;
}
static realm_property_info_t property(const char* name, realm_property_type_e type, realm_collection_type_e collection, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = "", p.link_target = "", p.link_origin_property_name = "";
    p.type = type, p.collection_type = collection, p.key = RLM_INVALID_PROPERTY_KEY, p.flags = flags;
    return p;
}
static realm_config_t* configure(const char* path, const uint8_t* key, int form) {
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    if (!realm_config_set_encryption_key(config, key, 64)) _exit(21);
    crealm_config_set_page_cipher(config, (crealm_page_cipher_e)form);
    return config;
}
static realm_t* open_realm(const char* path, const uint8_t* key, int form) {
    realm_property_info_t properties[] = {
        property("id", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, RLM_PROPERTY_PRIMARY_KEY),
        property("name", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, RLM_PROPERTY_INDEXED),
        property("note", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, 0),
        property("any", RLM_PROPERTY_TYPE_MIXED, RLM_COLLECTION_TYPE_NONE, RLM_PROPERTY_NULLABLE),
        property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_LIST, 0),
        property("map", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_DICTIONARY, 0),
    };
    const realm_property_info_t* lists[] = {properties};
    realm_class_info_t item;
    memset(&item, 0, sizeof item);
    item.name = "Item", item.primary_key = "id", item.num_properties = 6;
    realm_schema_t* schema = realm_schema_new(&item, 1, lists);
    realm_config_t* config = configure(path, key, form);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t* realm = realm_open(config);
    realm_release(config);
    realm_release(schema);
    return realm;
}
static realm_property_key_t key_of(realm_t* realm, realm_class_key_t table, const char* name) {
    realm_property_info_t p;
    bool found = false;
    return realm_find_property(realm, table, name, &found, &p) && found ? p.key : RLM_INVALID_PROPERTY_KEY;
}
/* Everything is written twice: the second time over data that is already in memory. */
static bool fill(realm_t* realm, struct secrets* s) {
    realm_class_info_t info;
    bool found = false, done = realm_find_class(realm, "Item", &found, &info) && found && realm_begin_write(realm);
    if (!done) return false;
    realm_class_key_t items = info.key;
    realm_object_t* o = realm_object_create_with_primary_key(realm, items, text(s->texts[0], LENGTH));
    char* large = (char*)malloc(LARGE);
    for (int i = 0; i + LENGTH <= LARGE; i += LENGTH) memcpy(large + i, s->texts[6], LENGTH);
    for (int twice = 0; twice < 2; twice++) {
        done = done && o && realm_set_value(o, key_of(realm, items, "name"), text(s->texts[1], LENGTH), false);
        done = done && realm_set_value(o, key_of(realm, items, "note"), text(twice ? s->texts[2] : large, twice ? LENGTH : LARGE), false);
        done = done && realm_set_value(o, key_of(realm, items, "any"), text(s->texts[3], LENGTH), false);
        realm_list_t* list = realm_get_list(o, key_of(realm, items, "words"));
        for (int i = 0; i < 40; i++) done = done && realm_list_insert(list, 0, text(s->texts[4], LENGTH));
        realm_dictionary_t* map = realm_get_dictionary(o, key_of(realm, items, "map"));
        done = done && realm_dictionary_insert(map, text(s->texts[5], LENGTH), text(s->texts[5], LENGTH), NULL, NULL);
        /* A value in the transaction's memory is written to another place. */
        realm_value_t v;
        done = done && realm_get_value(o, key_of(realm, items, "name"), &v) && realm_set_value(o, key_of(realm, items, "any"), v, false);
        realm_release(list);
        realm_release(map);
    }
    wipe(large, LARGE);
    free(large);
    realm_release(o);
    return done;
}
static bool read_all(realm_t* realm) {
    realm_class_info_t info;
    bool found = false;
    size_t n = 0;
    if (!realm_find_class(realm, "Item", &found, &info)) return false;
    realm_results_t* all = realm_object_find_all(realm, info.key);
    realm_object_t* o = realm_results_get_object(all, 0);
    bool done = o != NULL;
    const char* names[] = {"id", "name", "note", "any"};
    for (int i = 0; i < 4; i++) {
        realm_value_t v;
        done = done && realm_get_value(o, key_of(realm, info.key, names[i]), &v) && v.string.size > 0 && v.string.data[0] != 0;
    }
    realm_list_t* list = realm_get_list(o, key_of(realm, info.key, "words"));
    done = done && realm_list_size(list, &n) && n == 80;
    realm_release(list);
    realm_release(o);
    realm_release(all);
    return done;
}
/* Registers keep the last data they moved, and the stack keeps registers: this function overwrites both, as any program
   does that continues. */
static void use_registers(void) {
    static char from[1 << 14], to[1 << 14];
    /* Each size is moved in its own way. */
    for (size_t size = 16; size < sizeof to - 1; size += size / 16) memmove(to + 1, memmove(to, from, size), size);
    if (to[100]) _exit(17);
}
static void use_stack(void) {
    char stack[1 << 18];
    wipe(stack, sizeof stack);
}
/* Aborts with a core dump; any other end is a failure of the test. */
static void live(int form, int when, int input) {
    static struct secrets s;
    if (read(input, &s, sizeof s) != (ssize_t)sizeof s) _exit(11);
    struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
    if (setrlimit(RLIMIT_CORE, &all) != 0) _exit(12);
    realm_t* realm = open_realm("secret.realm", s.key, form);
    if (!realm || !fill(realm, &s)) _exit(13);
    if (when == ROLLED_BACK && !realm_rollback(realm)) _exit(14);
    if (when != WRITING && when != ROLLED_BACK && !realm_commit(realm)) _exit(14);
    if (when == REOPENED) {
        realm_close(realm);
        realm_release(realm);
        realm = open_realm("secret.realm", s.key, form);
        if (!realm || !read_all(realm)) _exit(15);
    }
    if (when == COPIED) {
        realm_config_t* config = configure("copy.realm", s.key, form);
        bool did = false;
        if (!realm_convert_with_config(realm, config, false) || !realm_compact(realm, &did) || !did) _exit(16);
        realm_release(config);
    }
    wipe(&s, sizeof s);
    use_registers();
    use_stack();
    abort();
}

/* ---- Dumps ---------------------------------------------------------------------------------------- */

static bool holds(const uint8_t* dump, size_t size, const void* what, size_t count) { return memmem(dump, size, what, count) != NULL; }
/* Reads and removes the dump in the current folder; NULL when there is none. */
static uint8_t* take_dump(size_t* size) {
    DIR* all = opendir(".");
    struct dirent* entry;
    uint8_t* bytes = NULL;
    while (all && !bytes && (entry = readdir(all))) {
        struct stat s;
        if (strncmp(entry->d_name, "core", 4) || stat(entry->d_name, &s) != 0) continue;
        int fd = open(entry->d_name, O_RDONLY);
        bytes = (uint8_t*)malloc((size_t)s.st_size + 1);
        size_t done = 0;
        ssize_t n;
        while (bytes && (n = read(fd, bytes + done, (size_t)s.st_size - done)) > 0) done += (size_t)n;
        *size = done;
        close(fd);
        unlink(entry->d_name);
    }
    if (all) closedir(all);
    return bytes;
}
static bool dumps(int form, int when) {
    struct secrets s;
    char label[80];
    snprintf(label, sizeof label, "form %d, moment %d", form, when);
    section = label;
    unlink("secret.realm"), unlink("secret.realm.lock"), unlink("copy.realm"), unlink("copy.realm.lock");
    int both[2];
    if (pipe(both) != 0) give_up();
    fflush(stdout);
    /* The child does not have the secrets before it reads them from the pipe. */
    pid_t child = fork();
    if (child == 0) live(form, when, both[0]);
    CHECK(make_secrets(&s) && write(both[1], &s, sizeof s) == (ssize_t)sizeof s);
    close(both[0]);
    close(both[1]);
    int status = 0;
    waitpid(child, &status, 0);
    if (!CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT)) return printf("  status %d\n", WEXITSTATUS(status)), true;
    size_t size = 0;
    uint8_t* dump = take_dump(&size);
    if (!dump) return false;
    CHECK(size > 1 << 16);
    static const char* const places[TEXTS] = {"primary key", "index", "string", "mixed", "list", "dictionary", "large string"};
    for (int i = 0; i < TEXTS; i++) result(!holds(dump, size, s.texts[i], LENGTH), __LINE__, places[i]);
    CHECK(!holds(dump, size, s.key, 32));
    CHECK(!holds(dump, size, s.key + 32, 32));
    free(dump);
    section = "";
    return true;
}

/* ---- Refused keys --------------------------------------------------------------------------------- */

static void refused_keys(void) {
    section = "a refused key";
    static const uint8_t key[64] = {1, 2, 3};
    for (int how = 0; how < 4; how++) {
        const char* path = "refused.realm";
        realm_config_t* config = realm_config_new();
        realm_config_set_path(config, path);
        int number = how == 3 ? RLM_ERR_INVALID_ARGUMENT : how == 2 ? RLM_ERR_INVALID_ARGUMENT : RLM_ERR_INVALID_ENCRYPTION_KEY;
        if (how == 1) CHECK(realm_config_set_encryption_key(config, key, 64));
        if (how < 2) FAILS(number, realm_config_set_encryption_key(config, key, 63));
        if (how == 2) FAILS(number, realm_config_set_encryption_key(config, NULL, 64));
        if (how == 3) FAILS(number, crealm_config_set_passphrase(config, "words", 5, 33, 0));
        FAILS(number, realm_open(config));
        CHECK(access(path, F_OK) != 0);
        /* It does not affect the key of another file either. */
        realm_config_t* other = configure("other.realm", key, 0);
        realm_t* realm = realm_open(other);
        if (CHECK(realm)) {
            FAILS(number, crealm_change_key(realm, config));
            FAILS(number, realm_convert_with_config(realm, config, false));
            CHECK(access(path, F_OK) != 0);
        }
        realm_release(realm);
        realm_release(other);
        /* A later setting replaces the refused one. */
        CHECK(realm_config_set_encryption_key(config, how == 3 ? NULL : key, how == 3 ? 0 : 64));
        realm = realm_open(config);
        CHECK(realm);
        realm_release(realm);
        realm_release(config);
        unlink(path), unlink("refused.realm.lock");
    }
}

int main(void) {
    if (!mkdtemp(folder) || chdir(folder) != 0) return 2;
    int found = 0, wanted = 0;
    for (int form = 0; form < 3; form++)
        for (int when = 0; when < MOMENTS; when++, wanted++) found += dumps(form, when);
    if (found != wanted) printf("!!! %d OF %d DUMPS ARE NOT IN THE WORKING FOLDER: they were not searched !!!\n", wanted - found, wanted);
    refused_keys();
    char command[80];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) return 2;
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed != 0;
}
