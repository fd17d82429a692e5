/*
 * places_test.c - resources of process and operating system: descriptors, disk space, names, numbers. Goal: the library
 * never uses the standard descriptors; after growth fails the file still opens; exceeded limits are errors, not
 * signals; names may be as long as the system allows; files that a dead process left beside a database are removed; a
 * file has one shared object in a process, and a realm in memory can be opened while other instances close it.
 *
 *     places_test
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>
#include <crealm_testing.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

static char folder[] = "/tmp/places_test.XXXXXX";
static char path[160];

/* ---- Files ---------------------------------------------------------------------------------------- */

typedef enum { PLAIN, SEALED, REALM_FORM, FORMS } form_t;
static form_t form;

static realm_config_t* configure(const char* name, form_t its_form) {
    realm_property_info_t property;
    realm_class_info_t cls;
    memset(&property, 0, sizeof property);
    memset(&cls, 0, sizeof cls);
    property.name = "text";
    property.public_name = property.link_target = property.link_origin_property_name = cls.primary_key = "";
    property.type = RLM_PROPERTY_TYPE_STRING;
    cls.name = "A";
    cls.num_properties = 1;
    const realm_property_info_t* properties = &property;
    realm_schema_t* schema = realm_schema_new(&cls, 1, &properties);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, name);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 0);
    realm_release(schema);
    if (its_form != PLAIN) {
        uint8_t key[64];
        memset(key, 'k', sizeof key);
        realm_config_set_encryption_key(config, key, sizeof key);
        crealm_config_set_page_cipher(config, its_form == REALM_FORM ? CREALM_PAGE_CIPHER_REALM : CREALM_PAGE_CIPHER_XCHACHA20_POLY1305);
    }
    return config;
}
static realm_t* open_at(const char* name, bool in_memory) {
    realm_config_t* config = configure(name, form);
    if (in_memory) realm_config_set_in_memory(config, true);
    realm_t* realm = realm_open(config);
    realm_release(config);
    return realm;
}
static realm_t* open_realm(void) { return open_at(path, false); }
static void close_realm(realm_t* realm) {
    if (!realm) return;
    realm_close(realm);
    realm_release(realm);
}
static long count(realm_t* realm) {
    realm_class_info_t cls;
    bool found;
    size_t n;
    if (!realm || !realm_find_class(realm, "A", &found, &cls) || !found || !realm_get_num_objects(realm, cls.key, &n)) return -1;
    return (long)n;
}
/* Adds an object with a text of `size` bytes. Keeps the error for the caller. */
static bool add(realm_t* realm, size_t size) {
    realm_class_info_t cls;
    realm_property_info_t property;
    bool found;
    if (!realm_find_class(realm, "A", &found, &cls) || !found || !realm_find_property(realm, cls.key, "text", &found, &property) || !found) return false;
    if (!realm_begin_write(realm)) return false;
    realm_object_t* object = realm_object_create(realm, cls.key);
    char* text = (char*)malloc(size + 1);
    memset(text, 'x', size + 1);
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = RLM_TYPE_STRING, value.string.data = text, value.string.size = size;
    bool good = object && realm_set_value(object, property.key, value, false) && realm_commit(realm);
    free(text);
    realm_release(object);
    if (!good && realm_is_writable(realm)) realm_rollback(realm);
    return good;
}
static void remove_files(const char* name) {
    char lock[600];
    snprintf(lock, sizeof lock, "%s.lock", name);
    unlink(name);
    unlink(lock);
}
static long size_of(const char* name) {
    struct stat info;
    return stat(name, &info) ? -1 : (long)info.st_size;
}
static int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
static pid_t split(void) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) alarm(60);
    return child;
}

/* ---- Descriptors ---------------------------------------------------------------------------------- */

static bool yes(realm_userdata_t user, uint64_t total, uint64_t used) {
    (void)user, (void)total, (void)used;
    return true;
}
static void test_descriptors(void) {
    section = "a program without standard descriptors";
    for (form = PLAIN; form < FORMS; form = (form_t)(form + 1))
        for (int kept = 0; kept < 4; kept++) {
            remove_files(path);
            pid_t child = split();
            if (!child) {
                for (int fd = 0; fd < 3; fd++)
                    if (fd != kept) close(fd);
                realm_config_t* config = configure(path, form);
                realm_config_set_should_compact_on_launch_function(config, yes, NULL, NULL);
                realm_scheduler_t* scheduler = realm_scheduler_make_default();
                realm_config_set_scheduler(config, scheduler);
                realm_t* realm = realm_open(config);
                if (!realm || !add(realm, 10)) _exit(1);
                for (int fd = 0; fd < 3; fd++)
                    if (fd != kept && fcntl(fd, F_GETFD) != -1) _exit(10 + fd);
                bool did = false;
                if (!realm_compact(realm, &did) || !did || !add(realm, 5000)) _exit(2);
                for (int fd = 0; fd < 3; fd++)
                    if (fd != kept && fcntl(fd, F_GETFD) != -1) _exit(20 + fd);
                close_realm(realm);
                _exit(0);
            }
            CHECK(status_of(child) == 0);
            realm_t* realm = open_realm();
            CHECK(count(realm) == 2);
            close_realm(realm);
        }
    form = PLAIN;
}

/* ---- Room ----------------------------------------------------------------------------------------- */

static bool is_full, cannot_cut;
static ino_t full_inode;
static bool is_ours(int fd) {
    struct stat info;
    return is_full && !fstat(fd, &info) && info.st_ino == full_inode;
}
/* A disk that accepts an odd number of further bytes, and then none. */
static ssize_t write_a_part(int fd, const void* from, size_t n, off_t at) {
    struct stat info;
    if (!is_ours(fd) || fstat(fd, &info) || at + (off_t)n <= info.st_size) return pwrite(fd, from, n, at);
    if (at >= info.st_size && info.st_size % 8) {
        errno = ENOSPC;
        return -1;
    }
    return pwrite(fd, from, info.st_size - at + 4099 < (off_t)n ? (size_t)(info.st_size - at + 4099) : n, at);
}
static int cut_never(int fd, off_t size) {
    if (!is_ours(fd) || !cannot_cut) return ftruncate(fd, size);
    errno = EIO;
    return -1;
}
static void test_growth(void) {
    section = "growth that fails halfway";
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.pwrite = write_a_part;
    calls.ftruncate = cut_never;
    for (form = PLAIN; form < FORMS; form = (form_t)(form + 1))
        for (int stays = 0; stays < 2; stays++)
            for (int again = 0; again < 2; again++) {
                remove_files(path);
                realm_t* realm = open_realm();
                if (!CHECK(realm && add(realm, 10))) return;
                struct stat info;
                CHECK(stat(path, &info) == 0);
                full_inode = info.st_ino, is_full = true, cannot_cut = stays != 0;
                crealm_set_system_calls(&calls);
                FAILS(RLM_ERR_OUT_OF_DISK_SPACE, add(realm, 150000));
                crealm_set_system_calls(NULL);
                is_full = false;
                if (stays) CHECK(size_of(path) % 8 != 0);
                if (!stays) CHECK(size_of(path) == info.st_size);
                if (again) {
                    CHECK(add(realm, 10));
                    CHECK(size_of(path) % 8 == 0);
                }
                close_realm(realm);
                /* Another process sees the file that it left. */
                pid_t child = split();
                if (!child) {
                    realm_config_t* config = configure(path, form);
                    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_IMMUTABLE);
                    realm_t* frozen = realm_open(config);
                    if (count(frozen) != 1 + again) _exit(1);
                    close_realm(frozen);
                    realm_t* other = open_realm();
                    _exit(count(other) == 1 + again && add(other, 10) ? 0 : 2);
                }
                CHECK(status_of(child) == 0);
                realm = open_realm();
                CHECK(count(realm) == 2 + again);
                close_realm(realm);
                CHECK(size_of(path) % 8 == 0);
                if (form == PLAIN) CHECK(size_of(path) % 4096 == 0);
            }
    form = PLAIN;
}
static void test_limit(void) {
    section = "a limit of the size of files";
    for (form = PLAIN; form < FORMS; form = (form_t)(form + 1)) {
        remove_files(path);
        pid_t child = split();
        if (!child) {
            /* The signal ends the child. */
            signal(SIGXFSZ, SIG_DFL);
            realm_t* realm = open_realm();
            if (!realm || !add(realm, 10)) _exit(1);
            struct rlimit limit = {200001, RLIM_INFINITY};
            if (setrlimit(RLIMIT_FSIZE, &limit)) _exit(2);
            for (int i = 0; i < 3; i++) {
                realm_clear_last_error();
                if (add(realm, 1 << (19 + i)) || last_error() != RLM_ERR_OUT_OF_DISK_SPACE) _exit(3);
            }
            if (!add(realm, 10) || count(realm) != 2) _exit(4);
            /* Less than the size of the files: neither lock file nor realm can be created. */
            limit.rlim_cur = 1000;
            if (setrlimit(RLIMIT_FSIZE, &limit)) _exit(5);
            char other[180];
            snprintf(other, sizeof other, "%s.other", path);
            realm_clear_last_error();
            if (open_at(other, false) || last_error() != RLM_ERR_OUT_OF_DISK_SPACE) _exit(6);
            realm_clear_last_error();
            if (add(realm, 10) || last_error() != RLM_ERR_OUT_OF_DISK_SPACE) _exit(7);
            if (count(realm) != 2) _exit(8);
            close_realm(realm);
            _exit(0);
        }
        CHECK(status_of(child) == 0);
        realm_t* realm = open_realm();
        CHECK(count(realm) == 2 && add(realm, 300000));
        close_realm(realm);
    }
    form = PLAIN;
}

/* ---- Names ---------------------------------------------------------------------------------------- */

static void test_long_names(void) {
    section = "long names";
    for (int length = 200; length <= 250; length += 5) {
        char name[600], copy[600];
        int n = snprintf(name, sizeof name, "%s/", folder);
        memset(name + n, 'n', (size_t)length);
        strcpy(name + n + length - 6, ".realm");
        strcpy(copy, name);
        copy[n] = 'c';
        form = PLAIN;
        realm_t* realm = open_at(name, false);
        CHECK(realm && add(realm, 10));
        bool did = false;
        CHECK(realm_compact(realm, &did) && did);
        realm_config_t* config = configure(name, SEALED);
        CHECK(crealm_change_key(realm, config));
        realm_release(config);
        config = configure(copy, PLAIN);
        CHECK(realm_convert_with_config(realm, config, false));
        realm_release(config);
        CHECK(add(realm, 10));
        close_realm(realm);
        realm = open_at(copy, false);
        CHECK(count(realm) == 1);
        close_realm(realm);
        remove_files(name);
        remove_files(copy);
    }
    DIR* listing = opendir(folder);
    int left = 0;
    for (struct dirent* entry; (entry = readdir(listing));) left += strstr(entry->d_name, "nnnn") != NULL;
    closedir(listing);
    CHECK(left == 0);
}

static int copying[2], copied[2];
/* The moment when a copy gets its name: one process dies here, the other waits. */
static bool dies;
static int link_never(const char* from, const char* to) {
    if (dies) _exit(77);
    char c = 1;
    if (write(copying[1], &c, 1) != 1 || read(copied[0], &c, 1) != 1) _exit(90);
    return link(from, to);
}
static bool copy_to(realm_t* realm, const char* name) {
    realm_config_t* config = configure(name, PLAIN);
    bool done = realm_convert_with_config(realm, config, false);
    realm_release(config);
    return done;
}
static int unfinished_copies(const char* name) {
    DIR* listing = opendir(folder);
    int found = 0;
    for (struct dirent* entry; (entry = readdir(listing));) found += strstr(entry->d_name, name) == entry->d_name && strstr(entry->d_name, ".tmp_copy_");
    closedir(listing);
    return found;
}
static bool make(const char* name) {
    int fd = open(name, O_CREAT | O_WRONLY, 0644);
    if (fd >= 0) close(fd);
    return fd >= 0;
}
static void test_abandoned_copies(void) {
    section = "copies whose makers died";
    char target[180], foreign[3][220];
    snprintf(target, sizeof target, "%s/target", folder);
    snprintf(foreign[0], sizeof foreign[0], "%s.tmp_copy_", target);
    snprintf(foreign[1], sizeof foreign[1], "%s.tmp_copy_1_x", target);
    snprintf(foreign[2], sizeof foreign[2], "%s2.tmp_copy_1_1", target);
    for (int i = 0; i < 3; i++) CHECK(make(foreign[i]));
    remove_files(path);
    realm_t* realm = open_realm();
    if (!CHECK(realm && add(realm, 10))) return;
    close_realm(realm);
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.link = link_never;
    for (int compacts = 0; compacts < 2; compacts++) {
        if (pipe(copying) || pipe(copied)) give_up();
        pid_t waiting = -1;
        for (int i = 0; i < 3; i++) {
            dies = i < 2;
            pid_t child = split();
            if (!child) {
                crealm_set_system_calls(&calls);
                _exit(copy_to(open_realm(), target) ? 0 : 1);
            }
            if (dies) CHECK(status_of(child) == 77);
            waiting = child;
        }
        char c;
        bool came = read(copying[0], &c, 1) == 1;
        CHECK(came);
        /* The third process has removed the files that the first two left; its own file exists. */
        CHECK(unfinished_copies("target") == 3 + 1);
        if (compacts) {
            form = PLAIN;
            realm_t* there = open_at(target, false);
            bool did = false;
            CHECK(there && realm_compact(there, &did) && did);
            close_realm(there);
        } else {
            realm = open_realm();
            CHECK(copy_to(realm, target));
            close_realm(realm);
        }
        CHECK(unfinished_copies("target") == 3 + 1);
        bool told = write(copied[1], &c, 1) == 1;
        CHECK(told);
        /* The file that it was about to create already exists. */
        CHECK(status_of(waiting) == 1);
        CHECK(unfinished_copies("target") == 3);
        for (int i = 0; i < 2; i++) close(copying[i]), close(copied[i]);
        /* The next round finds the file, and creates it by a compaction. */
        if (!compacts) {
            remove_files(target);
            form = PLAIN;
        }
    }
    for (int i = 0; i < 3; i++) CHECK(unlink(foreign[i]) == 0);
    remove_files(target);
}

/* ---- Numbers -------------------------------------------------------------------------------------- */

static uint64_t word_at(const unsigned char* p) {
    uint64_t v = 0;
    for (int i = 7; i >= 0; i--) v = v << 8 | p[i];
    return v;
}
static void put_word(unsigned char* p, uint64_t v) {
    for (int i = 0; i < 8; i++) p[i] = (unsigned char)(v >> 8 * i);
}
/* Gives the newest snapshot of the plain file another version number, by a new top array at the end. */
static bool set_version(uint64_t version) {
    static unsigned char bytes[1 << 20];
    int fd = open(path, O_RDWR);
    ssize_t size = read(fd, bytes, sizeof bytes - 4096);
    if (fd < 0 || size < 4096) return false;
    int slot = bytes[23] & 1;
    unsigned char* top = bytes + word_at(bytes + 8 * slot);
    int width = 1 << (top[4] & 7) >> 1, slots = top[6] << 8 | top[7];
    unsigned char* page = bytes + size;
    memset(page, 0, 4096);
    memcpy(page, top, 8);
    page[4] = (unsigned char)((top[4] & 0xF8) | 7);
    for (int i = 0; i < slots; i++) {
        int64_t v = 0;
        memcpy(&v, top + 8 + i * width / 8, (size_t)width / 8);
        int unused = 64 - width;
        put_word(page + 8 + 8 * i, (uint64_t)((int64_t)((uint64_t)v << unused) >> unused));
    }
    put_word(page + 8 + 8 * 2, 2 * (uint64_t)(size + 4096) + 1);
    put_word(page + 8 + 8 * 6, 2 * version + 1);
    put_word(bytes + 8 * slot, (uint64_t)size);
    bool good = width >= 8 && pwrite(fd, bytes, (size_t)size + 4096, 0) == size + 4096;
    close(fd);
    return good;
}
static void test_last_version(void) {
    section = "the last number of a version";
    remove_files(path);
    realm_t* realm = open_realm();
    if (!CHECK(realm && add(realm, 10))) return;
    close_realm(realm);
    CHECK(set_version(((uint64_t)1 << 47) - 2));
    realm = open_realm();
    CHECK(realm && add(realm, 10));
    CHECK(count(realm) == 2);
    for (int i = 0; i < 2; i++) FAILS(RLM_ERR_LIMIT_EXCEEDED, add(realm, 10));
    CHECK(count(realm) == 2);
    close_realm(realm);
    realm = open_realm();
    CHECK(count(realm) == 2);
    FAILS(RLM_ERR_LIMIT_EXCEEDED, add(realm, 10));
    char copy[180];
    snprintf(copy, sizeof copy, "%s.copy", path);
    remove_files(copy);
    CHECK(copy_to(realm, copy));
    close_realm(realm);
    realm = open_at(copy, false);
    CHECK(count(realm) == 2);
    close_realm(realm);
    remove_files(copy);
}

/* ---- Processes that have the file open ------------------------------------------------------------ */

static int removing[2];
static int remove_slowly(const char* name) {
    int result = unlink(name);
    char c = 1;
    if (!strcmp(name, path) && write(removing[1], &c, 1) == 1) usleep(300000);
    return result;
}
static void test_closing_in_memory(void) {
    section = "a realm in memory that is opened while it is closed";
    remove_files(path);
    if (pipe(removing)) give_up();
    pid_t child = split();
    if (!child) {
        crealm_system_calls_t calls;
        memset(&calls, 0, sizeof calls);
        calls.unlink = remove_slowly;
        crealm_set_system_calls(&calls);
        realm_t* realm = open_at(path, true);
        if (!realm || !add(realm, 10)) _exit(1);
        close_realm(realm);
        _exit(0);
    }
    char c;
    bool came = read(removing[0], &c, 1) == 1;
    CHECK(came);
    realm_t* realm = open_at(path, true);
    CHECK(count(realm) == 0);
    CHECK(status_of(child) == 0);
    CHECK(add(realm, 10) && count(realm) == 1 && size_of(path) > 0);
    child = split();
    if (!child) _exit(count(open_at(path, true)) == 1 ? 0 : 1);
    CHECK(status_of(child) == 0);
    close_realm(realm);
    CHECK(size_of(path) == -1);
    close(removing[0]), close(removing[1]);
}

static bool watches;
static pthread_t opener;
static realm_t* opened;
static void* open_meanwhile(void* unused) {
    (void)unused;
    opened = open_realm();
    return NULL;
}
static int rename_slowly(const char* from, const char* to) {
    int result = rename(from, to);
    if (watches) {
        watches = false;
        pthread_create(&opener, NULL, open_meanwhile, NULL);
        usleep(200000);
    }
    return result;
}
static void test_one_object(void) {
    section = "a file that is opened while it is compacted";
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.rename = rename_slowly;
    remove_files(path);
    realm_t* realm = open_realm();
    if (!CHECK(realm && add(realm, 3000) && add(realm, 10))) return;
    crealm_set_system_calls(&calls);
    watches = true;
    bool did = false;
    CHECK(realm_compact(realm, &did) && did);
    crealm_set_system_calls(NULL);
    CHECK(!watches);
    pthread_join(opener, NULL);
    CHECK(opened != NULL);
    realm_t* third = open_realm();
    CHECK(realm_begin_write(realm));
    alarm(60);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, realm_begin_write(third));
    alarm(0);
    CHECK(realm_rollback(realm));
    close_realm(third);
    close_realm(realm);
    /* A handle of another thread. */
    realm_release(opened);
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) return 2;
    snprintf(path, sizeof path, "%s/places.realm", folder);
    test_descriptors();
    test_growth();
    test_limit();
    test_long_names();
    test_abandoned_copies();
    test_last_version();
    test_closing_in_memory();
    test_one_object();
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) return 2;
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed ? 1 : 0;
}
