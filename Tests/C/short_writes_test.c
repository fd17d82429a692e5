/*
 * Writes of a commit that are cut short. Goal: wherever a write ends too early, and whatever follows - the process
 * ends, further calls fail, power is lost while the commit is undone, or all later calls succeed - the file opens, has
 * the data of the last commit that returned, possibly also of one whose outcome is unknown, and can be written.
 * Method: a child process commits; the Nth write of the commit stops after a given number of bytes. The parent opens
 *         the file, counts, and writes.
 *
 *     short_writes_test [FIXTURES [all]]      all: every length
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>
#include <crealm_testing.h>

#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { FORMS = 4, OBJECTS = 10, WRITES = 14, SECTOR = 512 };
/* The events after the short write. */
typedef enum { END, FAIL_AND_END, FAIL_AND_CLOSE, FAIL_ONCE, FAIL_ONCE_AND_GO_ON, LOSE_POWER, STORIES } story_t;
static const char* const story_names[] = {"the process ends", "all fails, then it ends", "all fails, then it closes", "one call fails, then it ends",
                                          "one call fails, then it goes on", "one call fails, then power is lost in the write after it"};

static char folder[] = "/tmp/short_writes_test.XXXXXX";
static char path[120];
typedef enum { BEFORE, COUNTING, CUT, AFTER } phase_t;
static struct {
    int form, write, length;
    story_t story;
    phase_t phase;
    int count;
} fault;

static bool fails(void) { return fault.phase == CUT && fault.story != FAIL_ONCE && fault.story != FAIL_ONCE_AND_GO_ON && fault.story != LOSE_POWER; }
static int flush(int fd) {
    (void)fd;
    return fails() ? (errno = EIO, -1) : 0;
}
static ssize_t write_some(int fd, const void* bytes_, size_t size, off_t at) {
    const char* p = (const char*)bytes_;
    if (fault.phase == COUNTING && fault.count++ == fault.write) {
        if ((size_t)fault.length >= size) return fault.phase = AFTER, pwrite(fd, p, size, at);
        fault.phase = CUT;
        ssize_t done = fault.length ? pwrite(fd, p, (size_t)fault.length, at) : 0;
        if (fault.story == END) _exit(0);
        if (done > 0) return done;
    } else if (fault.phase == AFTER && fault.story == LOSE_POWER && size > SECTOR) {
        /* All of it except the first sector reached the disk. */
        ssize_t done = pwrite(fd, p + SECTOR, size - SECTOR, at + SECTOR);
        _exit(done < 0 ? 3 : 0);
    }
    if (fault.phase != CUT) return pwrite(fd, p, size, at);
    if (!fails()) fault.phase = AFTER;
    return errno = EIO, -1;
}

static realm_t* open_realm(realm_class_key_t* thing) {
    realm_property_info_t properties = property("n", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NORMAL);
    realm_class_info_t info = class_info("Thing", "", 1, 0, RLM_CLASS_NORMAL);
    const realm_property_info_t* lists[] = {&properties};
    realm_schema_t* schema = realm_schema_new(&info, 1, lists);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 0);
    if (fault.form > 0) {
        uint8_t key[64];
        memset(key, 7, sizeof key);
        realm_config_set_encryption_key(config, key, sizeof key);
        crealm_config_set_page_cipher(config, (crealm_page_cipher_e)(fault.form - 1));
    }
    realm_t* r = realm_open(config);
    bool found = false;
    if (CHECK(r) && CHECK(realm_find_class(r, "Thing", &found, &info) && found)) *thing = info.key;
    realm_release(config);
    realm_release(schema);
    return r;
}
static bool add(realm_t* r, realm_class_key_t thing) {
    if (!realm_begin_write(r)) return false;
    realm_release(realm_object_create(r, thing));
    return realm_commit(r);
}
/* The child's exit codes. */
enum { REFUSED = 10, COMMITTED, UNKNOWN, NO_SUCH_WRITE, WENT_ON = 20 };
static void child(void) {
    realm_class_key_t thing = 0;
    passed = failed = 0;
    realm_t* r = open_realm(&thing);
    if (!r) _exit(1);
    for (int i = 0; i < OBJECTS; i++) CHECK(add(r, thing));
    CHECK(realm_begin_write(r));
    fault.phase = COUNTING;
    realm_release(realm_object_create(r, thing));
    bool done = realm_commit(r);
    int answer = done ? COMMITTED : last_error() == (int)CREALM_ERR_COMMIT_OUTCOME_UNKNOWN ? UNKNOWN : REFUSED;
    bool was_cut = fault.story == FAIL_ONCE || fault.story == FAIL_ONCE_AND_GO_ON || !done;
    if (fault.phase == COUNTING || (fault.phase == AFTER && !was_cut)) answer = NO_SUCH_WRITE;
    if (fault.story == FAIL_AND_CLOSE) CHECK(realm_close(r));
    fault.phase = BEFORE;
    if (fault.story == FAIL_ONCE_AND_GO_ON && answer != NO_SUCH_WRITE) {
        CHECK(add(r, thing));
        answer += WENT_ON;
    }
    fflush(stdout);
    _exit(failed ? 1 : answer);
}
/* Runs one case. Returns whether the commit has such a write. */
static bool run(void) {
    static char name[200];
    snprintf(name, sizeof name, "form %d: write %d ends after %d bytes; %s", fault.form, fault.write, fault.length, story_names[fault.story]);
    section = name;
    fault.phase = BEFORE, fault.count = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) child();
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    int answer = WEXITSTATUS(status);
    CHECK(answer == 0 || answer >= REFUSED);
    realm_class_key_t thing = 0;
    size_t n = 0;
    realm_t* r = answer == NO_SUCH_WRITE ? NULL : open_realm(&thing);
    if (r) {
        CHECK(realm_get_num_objects(r, thing, &n) && crealm_verify(r, NULL));
        size_t more = answer >= WENT_ON + REFUSED ? 1 : 0;
        int outcome = more ? answer - WENT_ON : answer;
        bool with = n == OBJECTS + 1 + more, without = n == OBJECTS + more;
        CHECK(outcome == REFUSED ? without : outcome == COMMITTED ? with : with || without);
        CHECK(add(r, thing) && realm_get_num_objects(r, thing, &n) && realm_close(r));
        realm_release(r);
    }
    char other[140];
    unlink(path);
    snprintf(other, sizeof other, "%s.lock", path);
    unlink(other);
    return answer != NO_SUCH_WRITE;
}

int main(int argc, char** argv) {
    const int few[] = {0, 8, 31, 48, 1000};
    const int all[] = {0, 1, 2, 3, 4, 8, 16, 17, 24, 31, 32, 33, 40, 63, 64, 100, 300, 511, 512, 1000, 2047, 3000, 4095};
    bool is_long = argc > 2 && strcmp(argv[2], "all") == 0;
    const int* lengths = is_long ? all : few;
    int count = is_long ? (int)(sizeof all / sizeof *all) : (int)(sizeof few / sizeof *few), cases = 0;
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/f.realm", folder);
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    /* Flushes do nothing here: only the written data is checked. */
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.pwrite = write_some;
    calls.fdatasync = flush;
    crealm_set_system_calls(&calls);
    for (fault.form = 0; fault.form < FORMS; fault.form++)
        for (int story = 0; story < STORIES; story++)
            for (fault.write = 0; fault.write < WRITES; fault.write++)
                for (int i = 0; i < count; i++) {
                    fault.story = (story_t)story, fault.length = lengths[i];
                    if (!run()) break;
                    cases++;
                }
    printf("%d cases; ", cases);
    return finished(folder);
}
