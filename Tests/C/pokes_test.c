/*
 * A foreign program overwrites words of the lock file ("pokes") while others use the database. Goal: no commit that returned is lost, no older
 * version is shown as the newest, snapshots do not change, each file opens afterwards, and no process crashes or hangs. Errors are allowed
 * while the foreign program pokes.
 *
 *     pokes_test [FIXTURES] [RUNS] [SEED]
 *
 * Each run has one form of file (plain, CRealm's with both ciphers, Realm's), one word that is poked, two writers, and two readers that open and
 * close the file.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <crealm.h>

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { CELLS = 60, RUN_MILLISECONDS = 450, PATIENCE_SECONDS = 120, FORMS = 4 };
static const char* const form_names[FORMS] = {"plain", "xchacha20", "aes256gcm", "realm"};
static char folder[] = "/tmp/pokes-XXXXXX";
static char path[100], lock_path[110];
static int form;
static long poked_word;

/* Shared by the processes of a run. */
static struct shared {
    ATOMIC(int64_t) acknowledged; /* the highest number whose commit returned */
    ATOMIC(int64_t) commits, reads, errors, pokes;
    ATOMIC(int) error_numbers[8];
    ATOMIC(int) stopping;
} *shared;

static uint64_t dice_state;
static uint64_t dice(uint64_t n) {
    uint64_t z = (dice_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (z ^ (z >> 31)) % n;
}
static int64_t milliseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- The database ------------------------------------------------------------------------------ */

static realm_class_key_t cell_class;
static realm_property_key_t number_key, text_key;

static realm_t* open_realm(void) {
    realm_property_info_t p[] = {property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", 0),
                                 property("text", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", 0)};
    realm_config_t* c = config_of_class(path, class_info("Cell", "", 2, 0, 0), p);
    uint8_t secret[64];
    memset(secret, 0x6B, sizeof secret);
    if (form > 0) realm_config_set_encryption_key(c, secret, sizeof secret);
    if (form > 0) crealm_config_set_page_cipher(c, (crealm_page_cipher_e)(form - 1));
    realm_t* r = realm_open(c);
    realm_release(c);
    if (!r) return NULL;
    bool found = false;
    realm_class_info_t info;
    realm_property_info_t of_number, of_text;
    if (!realm_find_class(r, "Cell", &found, &info) || !found || !realm_find_property(r, info.key, "number", &found, &of_number) || !found ||
        !realm_find_property(r, info.key, "text", &found, &of_text) || !found) {
        realm_release(r);
        return NULL;
    }
    cell_class = info.key, number_key = of_number.key, text_key = of_text.key;
    return r;
}
/* The number that all cells of a snapshot have; -1 after an error; -2 if their numbers differ, or a text does not belong to its number. */
static int64_t number_of(realm_t* r) {
    realm_results_t* all = realm_object_find_all(r, cell_class);
    size_t n = 0;
    int64_t number = -1;
    if (!all || !realm_results_count(all, &n)) goto ended;
    for (size_t i = 0; i < n; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        realm_value_t v, t;
        char wanted[200];
        bool good = o && realm_get_value(o, number_key, &v) && realm_get_value(o, text_key, &t);
        if (good) {
            int length = snprintf(wanted, sizeof wanted, "%0*lld", (int)(20 + v.integer % 60), (long long)v.integer);
            bool is_right = t.type == RLM_TYPE_STRING && t.string.size == (size_t)length && memcmp(t.string.data, wanted, (size_t)length) == 0;
            if (!is_right || (i > 0 && v.integer != number)) number = -2;
            else number = v.integer;
        } else {
            number = -1;
        }
        realm_release(o);
        if (number < 0) break;
    }
    if (number >= 0 && n != CELLS) number = -2;
ended:
    realm_release(all);
    return number;
}
static bool set_number(realm_t* r, int64_t number) {
    realm_results_t* all = realm_object_find_all(r, cell_class);
    bool good = all != NULL;
    for (size_t i = 0; good && i < CELLS; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        char text_of_number[200];
        int length = snprintf(text_of_number, sizeof text_of_number, "%0*lld", (int)(20 + number % 60), (long long)number);
        good = o && realm_set_value(o, number_key, integer(number), false) && realm_set_value(o, text_key, text_of(text_of_number, (size_t)length), false);
        realm_release(o);
    }
    realm_release(all);
    return good;
}
static void make_file(void) {
    unlink(path);
    unlink(lock_path);
    realm_t* r = open_realm();
    if (!CHECK(r && realm_begin_write(r))) give_up();
    for (int i = 0; i < CELLS; i++) realm_release(realm_object_create(r, cell_class));
    if (!CHECK(set_number(r, 0) && realm_commit(r))) give_up();
    realm_release(r);
}

/* ---- The processes of a run ---------------------------------------------------------------------- */

static void complain(const char* what, int64_t found, int64_t wanted) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    realm_get_last_error(&error);
    printf("FAIL %s, word at %ld: %s: %lld, acknowledged %lld (last error %d: %s)\n", form_names[form], poked_word, what, (long long)found,
           (long long)wanted, (int)error.error, error.message ? error.message : "none");
    fflush(stdout);
    _exit(1);
}
/* Checks that an error has a text. */
static void allow_error(const char* where) {
    int number = last_error();
    if (number == 0) complain(where, 0, 0);
    shared->errors++;
    for (int i = 0; i < 8; i++) {
        if (shared->error_numbers[i] == 0) shared->error_numbers[i] = number;
        if (shared->error_numbers[i] == number) break;
    }
    usleep(500);
}
static void acknowledge(int64_t number) {
    /* Other writers may be between their commit and this line. */
    int64_t known = shared->acknowledged;
    while (known < number && !atomic_compare_exchange_weak(&shared->acknowledged, &known, number)) {}
}
static int write_on(int which) {
    while (!shared->stopping) {
        realm_clear_last_error();
        realm_t* r = open_realm();
        if (!r) {
            allow_error("open for writing");
            continue;
        }
        for (uint64_t turns = 10 + dice(which ? 30 : 400); turns && !shared->stopping; turns--) {
            int64_t before = shared->acknowledged;
            realm_clear_last_error();
            if (!realm_begin_write(r)) {
                allow_error("begin");
                break;
            }
            int64_t number = number_of(r);
            if (number == -2) complain("a writer sees a torn snapshot", number, before);
            if (number == -1) {
                allow_error("read for writing");
                realm_rollback(r);
                break;
            }
            if (number < before) complain("a commit is lost for a writer", number, before);
            if (dice(12) == 0) {
                realm_rollback(r);
                continue;
            }
            if (!set_number(r, number + 1)) {
                allow_error("set");
                realm_rollback(r);
                break;
            }
            if (!realm_commit(r)) {
                allow_error("commit");
                break;
            }
            acknowledge(number + 1);
            shared->commits++;
            if (which) usleep((useconds_t)dice(300));
        }
        realm_close(r);
        realm_release(r);
    }
    return 0;
}
static int read_on(void) {
    while (!shared->stopping) {
        realm_clear_last_error();
        realm_t* r = open_realm();
        if (!r) {
            allow_error("open");
            continue;
        }
        for (uint64_t turns = 1 + dice(25); turns && !shared->stopping; turns--) {
            int64_t before = shared->acknowledged;
            realm_clear_last_error();
            if (!realm_refresh(r, NULL)) {
                allow_error("refresh");
                break;
            }
            int64_t number = number_of(r);
            if (number == -2) complain("a reader sees a torn snapshot", number, before);
            if (number == -1) {
                allow_error("read");
                break;
            }
            if (number < before) complain("a reader sees an old version", number, before);
            shared->reads++;
            if (dice(4) == 0) {
                usleep((useconds_t)dice(15000));
                int64_t again = number_of(r);
                if (again == -1) allow_error("read again");
                else if (again != number) complain("a snapshot has changed", again, number);
            }
            if (dice(20) == 0 && !crealm_versions(r, NULL, 0, NULL)) allow_error("versions");
        }
        realm_close(r);
        realm_release(r);
    }
    return 0;
}
static int poke(void) {
    int fd = -1;
    uint64_t kept = 0;
    while (!shared->stopping) {
        usleep((useconds_t)(500 + dice(3000)));
        if (fd < 0) fd = open(lock_path, O_RDWR);
        struct stat s;
        if (fd < 0 || fstat(fd, &s) != 0 || s.st_size < poked_word + 8) continue;
        uint64_t now = 0, other = 0;
        if (pread(fd, &now, 8, poked_word) != 8) continue;
        if (pread(fd, &other, 8, (off_t)(poked_word & ~63L) + (off_t)dice(8) * 8) != 8) continue;
        uint64_t values[] = {0, 1, UINT64_MAX, now + 1, now - 1, now + 256, now - 256, now - 512, now ^ 1ull << dice(64), other, kept, dice(1000),
                             dice(UINT64_MAX), now & 0xFFFFFFFFFFFF, (1 + dice(5)) << 48 | (now & 0xFFFFFFFFFFFF)};
        uint64_t value = values[dice(sizeof values / sizeof *values)];
        if (dice(3) == 0) kept = now;
        if (pwrite(fd, &value, 8, poked_word) == 8) shared->pokes++;
    }
    return 0;
}

/* Whether a child succeeded; a child that does not end is killed. */
static bool ended_well(pid_t child, const char* what) {
    int64_t limit = milliseconds() + PATIENCE_SECONDS * 1000;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) != child) {
        if (milliseconds() > limit) {
            printf("FAIL %s, word at %ld: the %s hangs\n", form_names[form], poked_word, what);
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return false;
        }
        usleep(1000);
    }
    if (!WIFEXITED(status)) printf("FAIL %s, word at %ld: the %s ended by signal %d\n", form_names[form], poked_word, what, WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
static int check_at_end(void) {
    realm_clear_last_error();
    realm_t* r = open_realm();
    if (!r) complain("the file does not open any more", 0, shared->acknowledged);
    int64_t number = number_of(r);
    if (number < shared->acknowledged) complain("commits are lost", number, shared->acknowledged);
    char* report = NULL;
    if (!crealm_verify(r, &report)) complain(report ? report : "the file is damaged", number, shared->acknowledged);
    if (!realm_begin_write(r) || !set_number(r, number + 1) || !realm_commit(r)) complain("nothing can be written any more", number, shared->acknowledged);
    realm_release(r);
    return 0;
}
static void run_once(void) {
    memset((void*)shared, 0, sizeof *shared);
    int (*const roles[])(void) = {read_on, read_on, poke};
    pid_t children[5];
    fflush(stdout);
    for (int i = 0; i < 5; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            dice_state += (uint64_t)(i + 1) << 32;
            _exit(i < 2 ? write_on(i) : roles[i - 2]());
        }
    }
    usleep(RUN_MILLISECONDS * 1000);
    shared->stopping = 1;
    static const char* const names[] = {"first writer", "second writer", "first reader", "second reader", "poker"};
    bool good = true;
    for (int i = 0; i < 5; i++) good &= ended_well(children[i], names[i]);
    pid_t last = fork();
    if (last == 0) _exit(check_at_end());
    good &= ended_well(last, "last open");
    result(good, __LINE__, "a run");
}

/* ---- Root records with distant sequence numbers ----------------------------------------------------- */

enum { BLOCK = 4096, RECORD = 512 };
static void copy_record(const char* from, const char* to, int slot) {
    char bytes[RECORD];
    int a = open(from, O_RDONLY), b = open(to, O_RDWR);
    off_t at = (2 + slot) * (off_t)BLOCK;
    if (!CHECK(pread(a, bytes, RECORD, at) == RECORD && pwrite(b, bytes, RECORD, at) == RECORD)) give_up();
    close(a), close(b);
}
static void commit_some(int commits) {
    realm_t* r = open_realm();
    for (int i = 0; i < commits; i++) {
        if (!CHECK(r && realm_begin_write(r) && set_number(r, number_of(r) + 1) && realm_commit(r))) give_up();
    }
    realm_release(r);
}
static int64_t number_in_file(void) {
    realm_t* r = open_realm();
    int64_t number = r ? number_of(r) : -3;
    CHECK(r && crealm_verify(r, NULL));
    realm_release(r);
    return number;
}
/* The state that a writer once left when it believed that no other process had the file open: an old record in the
   place of one of the two. */
static void distant_records(void) {
    char old[120], both[120];
    snprintf(old, sizeof old, "%s/old.realm", folder), snprintf(both, sizeof both, "%s/both.realm", folder);
    for (form = 1; form < 3; form++) {
        section = form_names[form];
        make_file();
        commit_some(2);
        char command[400];
        snprintf(command, sizeof command, "cp %s %s", path, old);
        if (!CHECK(system(command) == 0)) give_up();
        commit_some(20);
        snprintf(command, sizeof command, "cp %s %s", path, both);
        if (!CHECK(system(command) == 0)) give_up();
        for (int slot = 0; slot < 2; slot++) {
            snprintf(command, sizeof command, "cp %s %s", both, path);
            if (!CHECK(system(command) == 0)) give_up();
            copy_record(old, path, slot);
            /* The newest record still exists, or the announcement that follows its place. */
            CHECK(number_in_file() == 22);
            CHECK(number_in_file() == 22);
            commit_some(3);
            CHECK(number_in_file() == 25);
        }
    }
    unlink(old), unlink(both);
}

/* The beginning of the lock file, and one word of each kind after it. */
static long word_of(uint64_t i) {
    static const long first[] = {0, 8, 16, 24, 32, 40, 48, 56};
    switch (i % 16) {
        case 0: case 1: case 2: case 3: case 4: case 5: case 6: case 7: return first[i % 16];
        case 8: return 64 + (long)dice(256) * 8;
        case 9: return 64 + (long)dice(64) * 32;
        case 10: return 2112 + (long)dice(4) * 8;
        case 11: return 2112 + (long)dice(16) * 8;
        case 12: return 4096 + (long)dice(6) * 8;
        case 13: return 20480 + (long)dice(8) * 8;
        case 14: return 36864 + (long)dice(12) * 8;
        default: return (long)dice(69632 / 8) * 8;
    }
}

int main(int argc, char** argv) {
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    setenv("SWIFT_BACKTRACE", "enable=no", 0);
    uint64_t runs = argc > 2 ? strtoull(argv[2], NULL, 0) : 16;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    if (!mkdtemp(folder)) give_up();
    snprintf(path, sizeof path, "%s/a.realm", folder);
    snprintf(lock_path, sizeof lock_path, "%s.lock", path);
    shared = (struct shared*)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) give_up();
    distant_records();
    int64_t commits = 0, reads = 0, errors = 0, pokes = 0;
    for (uint64_t i = 0; i < runs; i++) {
        dice_state = seed * 1000003 + i;
        /* Each form meets each kind of word after 64 runs; a short run meets each word once. */
        form = (int)((i / 16 + i) % FORMS);
        poked_word = word_of(i);
        section = form_names[form];
        pid_t maker = fork();
        if (maker == 0) {
            failed = 0;
            make_file();
            _exit(failed != 0);
        }
        if (!result(ended_well(maker, "maker"), __LINE__, "a new file")) continue;
        run_once();
        commits += shared->commits, reads += shared->reads, errors += shared->errors, pokes += shared->pokes;
        if (argc > 2) {
            printf("%s, word at %ld: %lld commits, %lld reads, %lld pokes, %lld errors:", form_names[form], poked_word, (long long)shared->commits,
                   (long long)shared->reads, (long long)shared->pokes, (long long)shared->errors);
            for (int k = 0; k < 8 && shared->error_numbers[k]; k++) printf(" %d", (int)shared->error_numbers[k]);
            printf("\n");
        }
    }
    printf("%lld commits, %lld reads, %lld pokes, %lld errors\n", (long long)commits, (long long)reads, (long long)pokes, (long long)errors);
    return finished(folder);
}
