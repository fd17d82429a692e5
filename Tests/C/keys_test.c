/*
 * keys_test.c - changes of key. Goal: at whatever moment a change of key is cut short, and however often, the old or
 * the new key opens the file, and after the next session that writes only one of them does. A file never opens with a
 * key that was replaced, nor without a key; a plain file never opens with one; and that holds whatever other programs
 * do to the file during the open. Method: child processes that end themselves at a flush, or stop at the open of the
 * lock file until another child has changed the file.
 *
 *     keys_test
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>
#include <crealm_testing.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

enum { KEYS = 4, NO_KEY = -1, REFUSED = 0, OPENED = 1, WROTE = 2, DIED = 77 };
typedef enum { PLAIN, SEALED, REALM_FORM } form_t;

static char folder[] = "/tmp/keys_test.XXXXXX";
static char path[128];

/* ---- Files ---------------------------------------------------------------------------------------- */

static realm_config_t* configure(form_t form, int key) {
    realm_property_info_t property;
    realm_class_info_t cls;
    memset(&property, 0, sizeof property);
    memset(&cls, 0, sizeof cls);
    property.name = "n";
    property.public_name = property.link_target = property.link_origin_property_name = cls.primary_key = "";
    property.type = RLM_PROPERTY_TYPE_INT;
    cls.name = "A";
    cls.num_properties = 1;
    const realm_property_info_t* properties = &property;
    realm_schema_t* schema = realm_schema_new(&cls, 1, &properties);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 0);
    realm_release(schema);
    if (key >= 0) {
        uint8_t bytes[64];
        memset(bytes, 'a' + key, sizeof bytes);
        realm_config_set_encryption_key(config, bytes, sizeof bytes);
        crealm_config_set_page_cipher(config, form == REALM_FORM ? CREALM_PAGE_CIPHER_REALM : CREALM_PAGE_CIPHER_XCHACHA20_POLY1305);
    }
    return config;
}
static realm_t* open_with(form_t form, int key) {
    realm_config_t* config = configure(form, key);
    realm_t* realm = realm_open(config);
    realm_release(config);
    return realm;
}
static void close_realm(realm_t* realm) {
    if (!realm) return;
    realm_close(realm);
    realm_release(realm);
}
static bool change_to(realm_t* realm, form_t form, int key) {
    realm_config_t* config = configure(form, key);
    bool done = crealm_change_key(realm, config);
    realm_release(config);
    return done;
}
static long count(realm_t* realm) {
    realm_class_info_t cls;
    bool found;
    size_t n;
    if (!realm_find_class(realm, "A", &found, &cls) || !found || !realm_get_num_objects(realm, cls.key, &n)) return -1;
    return (long)n;
}
static bool add(realm_t* realm) {
    realm_class_info_t cls;
    bool found;
    if (!realm_find_class(realm, "A", &found, &cls) || !found || !realm_begin_write(realm)) return false;
    realm_object_t* object = realm_object_create(realm, cls.key);
    realm_release(object);
    if (object && realm_commit(realm)) return true;
    realm_rollback(realm);
    return false;
}
static void remove_files(void) {
    char lock[140];
    snprintf(lock, sizeof lock, "%s.lock", path);
    unlink(path);
    unlink(lock);
}

/* ---- Children ------------------------------------------------------------------------------------- */

/* The results of a child, in memory that all processes share. */
static volatile int* notes;
static int status_of(pid_t child) {
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
static int run(int (*body)(form_t, int), form_t form, int key) {
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        alarm(60);
        _exit(body(form, key));
    }
    return status_of(child);
}
static int make_file(form_t form, int key) {
    realm_t* realm = open_with(form, key);
    bool good = realm && add(realm);
    close_realm(realm);
    return good ? WROTE : REFUSED;
}
/* Reads without changing anything. */
static int look(form_t form, int key) {
    realm_config_t* config = configure(form, key);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_READ_ONLY);
    realm_t* realm = realm_open(config);
    realm_release(config);
    bool opened = realm != NULL;
    close_realm(realm);
    return opened ? OPENED : REFUSED;
}
static int write_one(form_t form, int key) {
    realm_t* realm = open_with(form, key);
    if (!realm) return REFUSED;
    bool good = count(realm) >= 1 && add(realm);
    close_realm(realm);
    return good ? WROTE : OPENED;
}
/* The keys that open the file, as bits. */
static int openers(form_t form) {
    int found = 0;
    for (int key = 0; key < KEYS; key++)
        if (run(look, form, key) == OPENED) found |= 1 << key;
    return found;
}

/* ---- Interrupted changes --------------------------------------------------------------------------- */

static int dying_flush, next_key, flushes;
static int flush_and_die(int fd) {
    int result = fdatasync(fd);
    if (dying_flush && ++flushes == dying_flush) _exit(DIED);
    return result;
}
static int change_and_die(form_t form, int key) {
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.fdatasync = flush_and_die;
    int flush = dying_flush;
    dying_flush = 0;
    crealm_set_system_calls(&calls);
    realm_t* realm = open_with(form, key);
    if (!realm) return REFUSED;
    dying_flush = flush;
    return change_to(realm, form, next_key) ? WROTE : OPENED;
}
static void test_interrupted_changes(void) {
    section = "changes of key that are interrupted";
    int deaths = 0;
    for (int first = 1; first <= 4; first++)
        for (int user = 0; user <= 1; user++)
            for (int second = 1; second <= 5; second++) {
                remove_files();
                if (!CHECK(run(make_file, SEALED, 0) == WROTE)) return;
                dying_flush = first, next_key = 1;
                CHECK(run(change_and_die, SEALED, 0) == DIED);
                int open = openers(SEALED);
                CHECK(open == 1 || open == 2 || open == 3);
                if (!(open & 1 << user)) continue;
                dying_flush = second, next_key = 2;
                int end = run(change_and_die, SEALED, user);
                CHECK(end == DIED || end == WROTE);
                deaths += end == DIED;
                open = openers(SEALED);
                /* The key that was in use, or the new one; the third key no longer opens the file after it was opened
                   for writing. */
                CHECK(open != 0 && !(open & ~(1 << user | 1 << 2)));
                if (end == WROTE) CHECK(open == 1 << 2);
                for (int key = 0; key < KEYS; key++) {
                    if (!(open & 1 << key)) continue;
                    CHECK(run(write_one, SEALED, key) == WROTE);
                    CHECK(openers(SEALED) == 1 << key);
                    break;
                }
            }
    dying_flush = 0;
    /* Two flushes make the copies of the block equal, two write the new block. */
    CHECK(deaths >= 4);
}

/* ---- Changes while another program opens the file --------------------------------------------------- */

static int at_lock[2], go_on[2];
static bool waits;
static int open_and_wait(const char* name, int flags, int mode) {
    size_t n = strlen(name);
    char c = 1;
    if (waits && n > 5 && !strcmp(name + n - 5, ".lock")) {
        waits = false;
        if (write(at_lock[1], &c, 1) != 1 || read(go_on[0], &c, 1) != 1) _exit(90);
    }
    return open(name, flags, mode);
}
static int overtaken(form_t form, int key) {
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.open = open_and_wait;
    crealm_set_system_calls(&calls);
    waits = true;
    return write_one(form, key);
}
/* Runs `body` in one child while another child, which opens the file, stops before the lock file. Returns the result of
   the latter. */
static int overtake(form_t form, int key, int (*body)(form_t, int), form_t other_form, int other_key) {
    if (pipe(at_lock) || pipe(go_on)) give_up();
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        alarm(60);
        _exit(overtaken(form, key));
    }
    char c = 1;
    close(at_lock[1]);
    bool came = read(at_lock[0], &c, 1) == 1;
    CHECK(came);
    notes[0] = came ? run(body, other_form, other_key) : -1;
    bool told = write(go_on[1], &c, 1) == 1;
    CHECK(told);
    int end = status_of(child);
    close(at_lock[0]), close(go_on[0]), close(go_on[1]);
    return end;
}
static int change_key(form_t form, int key) {
    realm_t* realm = open_with(form, key);
    bool good = realm && change_to(realm, form, next_key);
    close_realm(realm);
    return good ? WROTE : REFUSED;
}
static void test_overtaken_opens(void) {
    section = "a key that changes while the file is opened";
    for (int form = SEALED; form <= REALM_FORM; form++)
        for (next_key = 0; next_key <= 1; next_key++) {
            remove_files();
            CHECK(run(make_file, (form_t)form, 0) == WROTE);
            int end = overtake((form_t)form, 0, change_key, (form_t)form, 0);
            CHECK(notes[0] == WROTE);
            CHECK(end == (next_key == 0 ? WROTE : REFUSED));
            CHECK(openers((form_t)form) == 1 << next_key);
        }
    section = "a file that is made while it is opened";
    for (int theirs = PLAIN; theirs <= REALM_FORM; theirs++)
        for (int mine = PLAIN; mine <= REALM_FORM; mine++)
            for (int key = 0; key < (mine == PLAIN ? 1 : 2); key++)
                for (int is_there = 0; is_there < 2; is_there++) {
                    remove_files();
                    if (is_there) {
                        int fd = open(path, O_CREAT | O_WRONLY, 0644);
                        CHECK(fd >= 0);
                        close(fd);
                    }
                    int end = overtake((form_t)mine, mine == PLAIN ? NO_KEY : key, make_file, (form_t)theirs, theirs == PLAIN ? NO_KEY : 0);
                    CHECK(notes[0] == WROTE);
                    bool fits = theirs == PLAIN ? mine == PLAIN : mine != PLAIN && key == 0;
                    CHECK(end == (fits ? WROTE : REFUSED));
                    CHECK(run(write_one, (form_t)theirs, theirs == PLAIN ? NO_KEY : 0) == WROTE);
                }
}

/* ---- Sessions that continue ------------------------------------------------------------------------- */

static int failing_flush;
static int fail_flushes(int fd) {
    if (failing_flush && ++flushes >= failing_flush) {
        errno = EIO;
        return -1;
    }
    return fdatasync(fd);
}
/* A change of key of unknown outcome; then another program opens the file with either key, and the session
   continues. */
static void test_unknown_outcome(void) {
    section = "a change of key of unknown outcome";
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.fdatasync = fail_flushes;
    for (int compacts = 0; compacts < 2; compacts++) {
        remove_files();
        realm_t* realm = open_with(SEALED, 0);
        if (!CHECK(realm && add(realm))) return;
        crealm_set_system_calls(&calls);
        /* Two flushes make the copies equal; the third, of the new block, fails, and so does every attempt to undo
           it. */
        failing_flush = 3, flushes = 0;
        FAILS(CREALM_ERR_COMMIT_OUTCOME_UNKNOWN, change_to(realm, SEALED, 1));
        failing_flush = 0;
        crealm_set_system_calls(NULL);
        int open_now = openers(SEALED);
        CHECK(open_now == 3);
        CHECK(run(write_one, SEALED, 1) == WROTE);
        CHECK(openers(SEALED) == 2);
        CHECK(add(realm));
        bool did = false;
        if (compacts) {
            CHECK(realm_compact(realm, &did) && did);
            CHECK(openers(SEALED) == 2);
        } else {
            CHECK(change_to(realm, SEALED, 2));
            CHECK(openers(SEALED) == 4);
        }
        CHECK(add(realm) && count(realm) == 4);
        close_realm(realm);
    }
}

/* A file that was moved or removed, or whose lock file was: the change of key is refused. */
static int change_without_name(form_t form, int how) {
    char other[160], lock[160];
    snprintf(other, sizeof other, "%s.away", path);
    snprintf(lock, sizeof lock, "%s.lock", path);
    realm_t* realm = open_with(form, 0);
    if (!realm || !add(realm)) return REFUSED;
    if (how == 0) rename(path, other);
    if (how == 1) unlink(path);
    if (how == 2) unlink(lock);
    return change_to(realm, form, 1) ? WROTE : OPENED;
}
static void test_names(void) {
    section = "a change of key of a file without its name";
    char other[160];
    snprintf(other, sizeof other, "%s.away", path);
    for (int form = SEALED; form <= REALM_FORM; form++)
        for (int how = 0; how < 3; how++) {
            remove_files();
            unlink(other);
            CHECK(run(change_without_name, (form_t)form, how) == OPENED);
            if (how == 1) continue;
            if (how == 0) {
                bool back = rename(other, path) == 0;
                CHECK(back);
            }
            CHECK(openers((form_t)form) == 1);
        }
}

static bool folders_fail;
static int fail_folders(int fd) {
    struct stat info;
    if (folders_fail && !fstat(fd, &info) && S_ISDIR(info.st_mode)) {
        errno = EIO;
        return -1;
    }
    return fsync(fd);
}
static void test_folder(void) {
    section = "a folder that cannot be flushed";
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.fsync = fail_folders;
    for (int from = PLAIN; from <= REALM_FORM; from++)
        for (int to = PLAIN; to <= REALM_FORM; to++) {
            if (from == to) continue;
            remove_files();
            realm_t* realm = open_with((form_t)from, from == PLAIN ? NO_KEY : 0);
            if (!CHECK(realm && add(realm))) return;
            crealm_set_system_calls(&calls);
            folders_fail = true;
            FAILS(CREALM_ERR_COMMIT_OUTCOME_UNKNOWN, change_to(realm, (form_t)to, to == PLAIN ? NO_KEY : 1));
            CHECK(!add(realm));
            folders_fail = false;
            crealm_set_system_calls(NULL);
            /* The session has the new file. */
            CHECK(add(realm) && count(realm) == 2);
            realm_t* again = open_with((form_t)to, to == PLAIN ? NO_KEY : 1);
            CHECK(again && count(again) == 2);
            close_realm(again);
            close_realm(realm);
            CHECK(run(look, (form_t)to, to == PLAIN ? NO_KEY : 1) == OPENED);
        }
}

int main(void) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!mkdtemp(folder)) return 2;
    snprintf(path, sizeof path, "%s/keys.realm", folder);
    notes = (volatile int*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (notes == (volatile int*)MAP_FAILED) return 2;
    test_interrupted_changes();
    test_overtaken_opens();
    test_unknown_outcome();
    test_names();
    test_folder();
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) return 2;
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed ? 1 : 0;
}
