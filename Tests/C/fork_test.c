/*
 * fork_test.c - a process forks while its other threads are inside the library, again and again. In a child, calls on
 * the parent's handles are refused. The child opens the file again, reads and writes it from several threads, and ends.
 * No process may hang or crash, and all objects must be in the file afterwards.
 *
 * FORKS=500 fork_test: that many children for each form of file (default 60).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crealm.h"
#include "numbers.h"

enum { THREADS = 8, PATIENCE = 1800 };
static char folder[64], path[128];
static const uint8_t* key;
static uint8_t secret[64];

static realm_config_t* new_config(void) {
    realm_config_t* config = config_of_numbers(path);
    crealm_config_set_durability(config, CREALM_DURABILITY_UNSAFE);
    if (key) realm_config_set_encryption_key(config, key, sizeof secret);
    return config;
}
static realm_t* open_realm(void) {
    realm_config_t* config = new_config();
    realm_t* realm = realm_open(config);
    realm_release(config);
    return realm;
}
/* Opens the file, reads it and adds an object: 0 when all of it went well. */
static int use_file(realm_config_t* config) {
    realm_t* realm = realm_open(config);
    if (!realm) return 1;
    long before = count(realm);
    int status = before < 0 ? 2 : !add(realm, 0) ? 3 : count(realm) <= before ? 4 : 0;
    close_realm(realm);
    return status;
}

/* ---- The parent's threads */

static int stop;
static long added;
static void* work(void* unused) {
    (void)unused;
    realm_config_t* config = new_config();
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        int status = use_file(config);
        if (status == 0) __atomic_fetch_add(&added, 1, __ATOMIC_SEQ_CST);
        else result(false, __LINE__, "a thread of the parent goes on");
    }
    realm_release(config);
    return NULL;
}

/* ---- A child */

struct inherited {
    realm_config_t* config;
    realm_t* realm;
    realm_object_t* object;
    realm_results_t* results;
};
#define REFUSED(call) (realm_clear_last_error(), !(call) && last_error() == RLM_ERR_WRONG_TRANSACTION_STATE)
static bool refuses(struct inherited* mine) {
    realm_value_t value;
    uint64_t versions;
    size_t n;
    return REFUSED(realm_get_values(mine->object, 0, NULL, &value)) && REFUSED(realm_results_count(mine->results, &n)) &&
           REFUSED(realm_begin_write(mine->realm)) && REFUSED(realm_refresh(mine->realm, NULL)) &&
           REFUSED(realm_get_num_versions(mine->realm, &versions)) && REFUSED(realm_get_schema(mine->realm)) && REFUSED(realm_clone(mine->object)) &&
           REFUSED(realm_close(mine->realm));
}
static void* use_once(void* config) { return (void*)(intptr_t)use_file((realm_config_t*)config); }
static int child(struct inherited* mine) {
    /* Ends a child that waits for a lock which no thread will release. */
    alarm(PATIENCE);
    if (!refuses(mine)) return 10;
    int status = use_file(mine->config);
    if (status) return status;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, use_once, mine->config)) return 11;
    }
    status = use_file(mine->config);
    for (int i = 0; i < 2; i++) {
        void* theirs = NULL;
        pthread_join(threads[i], &theirs);
        if (!status && theirs) status = 20 + (int)(intptr_t)theirs;
    }
    /* Releasing the parent's handles does not affect the parent. */
    realm_release(mine->object);
    realm_release(mine->results);
    realm_release(mine->realm);
    if (status) return status;
    status = use_file(mine->config);
    realm_release(mine->config);
    return status ? 30 + status : 0;
}
enum { ADDED_BY_CHILD = 5 };

static void forks(int number) {
    snprintf(path, sizeof path, "%s/%s.realm", folder, key ? "sealed" : "plain");
    struct inherited mine = {new_config(), open_realm(), NULL, NULL};
    mine.object = new_number(mine.realm, 0);
    realm_class_info_t cls;
    bool found;
    if (!CHECK(mine.object && realm_find_class(mine.realm, "A", &found, &cls))) give_up();
    mine.results = realm_object_find_all(mine.realm, cls.key);
    added = 1;
    stop = 0;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < number; i++) {
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) _exit(child(&mine));
        int status = 0;
        waitpid(pid, &status, 0);
        if (!CHECK(status == 0)) {
            printf("    child %d: %s %d\n", i, WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            if (failed > 5) break;
        } else {
            __atomic_fetch_add(&added, ADDED_BY_CHILD, __ATOMIC_SEQ_CST);
        }
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    CHECK(realm_refresh(mine.realm, NULL));
    CHECK(count(mine.realm) == added);
    CHECK(crealm_verify(mine.realm, NULL));
    uint64_t versions = 0;
    CHECK(realm_get_num_versions(mine.realm, &versions) && versions <= 2);
    realm_release(mine.object);
    realm_release(mine.results);
    close_realm(mine.realm);
    realm_release(mine.config);
    /* All children have ended: none of their descriptors, and no lock of a thread that a child did not have, may
       remain. */
    realm_t* realm = open_realm();
    CHECK(realm && count(realm) == added);
    close_realm(realm);
}

int main(void) {
    strcpy(folder, "/tmp/crealm-fork-XXXXXX");
    if (!mkdtemp(folder)) give_up();
    const char* number = getenv("FORKS");
    section = "a plain file";
    forks(number ? atoi(number) : 60);
    section = "an encrypted file";
    for (size_t i = 0; i < sizeof secret; i++) secret[i] = (uint8_t)(i * 7 + 1);
    key = secret;
    forks(number ? atoi(number) : 60);
    return finished(folder);
}
