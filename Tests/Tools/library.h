/*
 * library.h - any shared library with Realm's C API (local part), loaded by name: its functions and errors, and
 * functions to open a file with it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <realm.h>

static void* library;

static void* symbol(const char* name) {
    void* found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "missing symbol %s\n", name);
        exit(3);
    }
    return found;
}
/* A function of the library, looked up when it is first called. */
#define F(name)                                       \
    ({                                                \
        static __typeof__(&name) f;                   \
        if (!f) f = (__typeof__(&name))symbol(#name); \
        f;                                            \
    })

static void die(const char* what) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    if (F(realm_get_last_error)(&error)) fprintf(stderr, "%s: error %d: %s\n", what, (int)error.error, error.message ? error.message : "?");
    else fprintf(stderr, "%s failed\n", what);
    exit(2);
}
static void load_library(const char* name) {
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
}

/* A scheduler for the only thread, to which nothing is posted: not every library has a default scheduler. */
static bool yes(realm_userdata_t u) {
    (void)u;
    return true;
}
static bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static void nothing(realm_userdata_t u) { (void)u; }
static void notify(realm_userdata_t u, realm_work_queue_t* q) {
    (void)u;
    (void)q;
}
static realm_config_t* config_for(const char* path, realm_schema_mode_e mode) {
    realm_config_t* config = F(realm_config_new)();
    F(realm_config_set_path)(config, path);
    F(realm_config_set_schema_mode)(config, mode);
    F(realm_config_set_cached)(config, false);
    F(realm_config_set_automatic_change_notifications)(config, false);
    realm_scheduler_t* scheduler = F(realm_scheduler_new)(NULL, nothing, notify, yes, same, yes);
    F(realm_config_set_scheduler)(config, scheduler);
    F(realm_release)(scheduler);
    return config;
}
/* The 64 bytes of a key file. */
__attribute__((unused)) static bool read_key(const char* name, uint8_t key[64]) {
    FILE* file = fopen(name, "rb");
    bool whole = file && fread(key, 1, 64, file) == 64;
    if (file) fclose(file);
    return whole;
}
