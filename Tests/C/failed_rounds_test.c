/*
 * Flushes that fail inside a round of asynchronous writes, which keeps the write lock from one block to the next. Goal:
 * when the outcome of a block's commit is unknown, the next block begins on a repaired file, or does not begin; the
 * data that it sees at its beginning is the data of the file if the writer is killed before its next commit.
 * Method: a child process runs two blocks; flushes of the first one's commit fail; at some later flush the child ends. The parent opens the file.
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>
#include <crealm_testing.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"
#include "values.h"

enum { ROWS = 20, FORMS = 5, KILLS = 4 };

static char folder[] = "/tmp/failed_rounds_test.XXXXXX";
static char path[120];
static int form; /* plain with one flush and with two, then the encrypted forms */

/* The child's progress. */
typedef struct {
    int first, second;    /* errors of the commits; -1: not called, or not returned */
    int seen;             /* by the second block, when it began; 0: it did not begin */
    bool second_commits;  /* its commit was called */
} report_t;
static report_t* report;

static struct {
    int flushes;     /* of the first block's commit, or since then */
    int first_bad;   /* this one and the next fail */
    int killed_at;   /* of the flushes after that; 0: none */
    bool in_first, in_second, waits, fails_for_good;
} plan;

static realm_t* realm;
static realm_class_key_t thing;
static realm_property_key_t number, words;

static int flush(int fd) {
    (void)fd;
    if (plan.in_first) {
        int n = ++plan.flushes;
        if (n == plan.first_bad || n == plan.first_bad + 1) return errno = EIO, -1;
    } else if (plan.in_second) {
        if (plan.fails_for_good) return errno = EIO, -1;
        if (++plan.flushes == plan.killed_at) _exit(0);
    }
    return 0;
}

static realm_t* open_realm(void) {
    realm_property_info_t properties[2];
    properties[0] = property("number", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NORMAL);
    properties[1] = property("words", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", RLM_PROPERTY_NORMAL);
    realm_class_info_t info = class_info("Thing", "", 2, 0, RLM_CLASS_NORMAL);
    const realm_property_info_t* lists[] = {properties};
    realm_schema_t* schema = realm_schema_new(&info, 1, lists);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    if (form == 1) crealm_config_set_durability(config, CREALM_DURABILITY_TWO_FLUSHES);
    if (form > 1) {
        uint8_t key[64];
        memset(key, 7, sizeof key);
        realm_config_set_encryption_key(config, key, sizeof key);
        crealm_config_set_page_cipher(config, (crealm_page_cipher_e)(form - 2));
    }
    realm_t* r = realm_open(config);
    realm_release(config);
    realm_release(schema);
    if (!CHECK(r)) return NULL;
    bool found;
    realm_class_info_t c;
    realm_property_info_t p;
    CHECK(realm_find_class(r, "Thing", &found, &c) && found);
    thing = c.key;
    CHECK(realm_find_property(r, thing, "number", &found, &p) && found), number = p.key;
    CHECK(realm_find_property(r, thing, "words", &found, &p) && found), words = p.key;
    return r;
}
static void change(int n) {
    char letters[600];
    memset(letters, 'a' + n, sizeof letters);
    realm_results_t* all = realm_object_find_all(realm, thing);
    size_t count = 0;
    CHECK(all && realm_results_count(all, &count));
    for (size_t i = 0; i < count; i++) {
        realm_object_t* o = realm_results_get_object(all, i);
        realm_value_t s = text("");
        s.string.data = letters, s.string.size = sizeof letters - 10 * (size_t)n;
        CHECK(o && realm_set_value(o, number, integer(n), false) && realm_set_value(o, words, s, false));
        realm_release(o);
    }
    realm_release(all);
}
/* The number that all objects have; -1 when they differ. */
static int content(realm_t* r) {
    realm_results_t* all = realm_object_find_all(r, thing);
    size_t count = 0;
    int same = -1;
    if (all && realm_results_count(all, &count) && count == ROWS) {
        for (size_t i = 0; i < count; i++) {
            realm_object_t* o = realm_results_get_object(all, i);
            realm_value_t n, s;
            if (!o || !realm_get_value(o, number, &n) || !realm_get_value(o, words, &s)) same = -1;
            else if (i == 0) same = (int)n.integer;
            if (same != -1 && (n.integer != same || s.string.size != 600 - 10 * (size_t)same || s.string.data[0] != 'a' + same)) same = -1;
            realm_release(o);
            if (same == -1) break;
        }
    }
    realm_release(all);
    return same;
}
static void first_block(void* unused) {
    (void)unused;
    change(2);
    plan.in_first = true;
    bool done = plan.waits ? realm_commit(realm) : realm_async_commit(realm, NULL, NULL, NULL, true, NULL);
    report->first = done ? 0 : last_error();
    plan.in_first = false, plan.in_second = true, plan.flushes = 0;
}
static void second_block(void* unused) {
    (void)unused;
    if (!realm_is_writable(realm)) return;
    report->seen = content(realm);
    change(3);
    report->second_commits = true;
    report->second = realm_commit(realm) ? 0 : last_error();
}
static void child(void) {
    passed = failed = 0;
    realm_scheduler_t* scheduler = realm_scheduler_make_default();
    realm = open_realm();
    if (!realm) _exit(2);
    for (int i = 0; i < 6; i++) {
        CHECK(realm_begin_write(realm));
        for (int row = 0; i == 0 && row < ROWS; row++) realm_release(realm_object_create(realm, thing));
        change(1);
        CHECK(realm_commit(realm));
    }
    CHECK(realm_async_begin_write(realm, first_block, NULL, NULL, false, NULL));
    CHECK(realm_async_begin_write(realm, second_block, NULL, NULL, false, NULL));
    for (int i = 0; i < 200 && realm_is_writable(realm); i++) crealm_scheduler_run(scheduler, 20, NULL);
    plan.in_second = plan.fails_for_good = false;
    CHECK(realm_close(realm));
    fflush(stdout);
    _exit(failed ? 2 : 0);
}
static void run(void) {
    static char name[200];
    snprintf(name, sizeof name, "form %d, flush %d fails, %s, %s %d", form, plan.first_bad, plan.waits ? "waiting" : "in a group",
             plan.fails_for_good ? "flushes fail for good" : "killed at", plan.killed_at);
    section = name;
    snprintf(path, sizeof path, "%s/f.realm", folder);
    memset(report, 0, sizeof *report);
    report->first = report->second = -1;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) child();
    int status = -1;
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    realm_t* r = open_realm();
    if (r) {
        char* faults = NULL;
        int there = content(r);
        /* In plain files, commits that may be flushed together are visible before the flush, but not yet safe. */
        bool is_group = form < 2 && !plan.waits && report->first == 0;
        if (!CHECK(crealm_verify(r, &faults))) printf("%s\n", faults ? faults : "");
        CHECK(report->first != -1);
        if (report->second == 0) CHECK(there == 3);
        else if (report->seen != 0) CHECK(there == report->seen || (report->second_commits && there == 3) || (is_group && there == 1));
        else CHECK(there == 1 || (report->first != 0 && there == 2) || (report->first == 0 && there == 2));
        if (report->seen != 0 && report->first == 0) CHECK(report->seen == 2);
        CHECK(realm_close(r));
        realm_release(r);
    }
    char other[140];
    unlink(path);
    snprintf(other, sizeof other, "%s.lock", path);
    unlink(other);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    report = (report_t*)mmap(NULL, sizeof *report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    /* Flushes do nothing here: only the written data is checked. */
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.fdatasync = flush;
    crealm_set_system_calls(&calls);
    for (form = 0; form < FORMS; form++)
        for (int bad = 1; bad <= 3; bad++)
            for (int waits = 0; waits < 2; waits++)
                for (int killed = -1; killed < KILLS; killed++) {
                    memset(&plan, 0, sizeof plan);
                    plan.first_bad = bad, plan.waits = waits, plan.killed_at = killed < 0 ? 0 : killed, plan.fails_for_good = killed < 0;
                    run();
                }
    return finished(folder);
}
