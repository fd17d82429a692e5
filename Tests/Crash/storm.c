/*
 * storm.c - several writers of one ledger under several names, all of them killed again and again.
 *
 *     storm LIBRARY FOLDER KILLS SEED
 *
 * The ledger is made in FOLDER. It has four names: its own, a symbolic link, a path through a linked folder, and a hard
 * link, under which opening may be refused while other processes have the file open. Each writer reads the number of
 * the last commit that returned, begins a transaction, must find that commit, and commits the next number, which no
 * other writer may have committed. Prints the counts and 'N passed, M failed'.
 */
#define _GNU_SOURCE
#include "changes.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRITERS = 8, MOST = 1 << 22 };
/* In memory shared by all processes. */
static struct {
    _Atomic int64_t promised;      /* the last commit that returned */
    _Atomic uint64_t commits;
    _Atomic int32_t maker[MOST];   /* the process in which the call of this commit returned */
} *shared;

static const char* const names[] = {"ledger.realm", "symbolic.realm", "linked/ledger.realm", "hard.realm"};

static void write_for_ever(void) {
    find_objects();
    for (int n = 0;; n++) {
        int64_t promised = atomic_load(&shared->promised);
        MUST(L.realm_begin_write(realm));
        int64_t found = int_of(state, counter_key);
        if (found < promised) broken("commit %" PRId64 " returned, but the file is at %" PRId64, promised, found);
        if (found + 1 >= MOST) exit(0);
        change(found + 1);
        if (below(10) == 0) {
            MUST(L.realm_rollback(realm));
            continue;
        }
        MUST(L.realm_commit(realm));
        int32_t nobody = 0;
        if (!atomic_compare_exchange_strong(&shared->maker[found + 1], &nobody, (int32_t)getpid()))
            broken("commit %" PRId64 " was made by two writers", found + 1);
        promised = atomic_load(&shared->promised);
        while (promised < found + 1 && !atomic_compare_exchange_weak(&shared->promised, &promised, found + 1)) {}
        atomic_fetch_add(&shared->commits, 1);
        if (n % 20 == 0) check_ledger(true);
    }
}
static pid_t start(const char* library, const char* folder, int name, uint64_t seed) {
    pid_t child = fork();
    if (child != 0) return child;
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", folder, names[name]);
    random_state = seed;
    may_be_refused = true;
    load_library(library);
    open_ledger(path);
    if (check_ledger(true) == -1) broken("the ledger is empty");
    write_for_ever();
    _Exit(0);
}

int main(int argc, char** argv) {
    if (argc != 5) { fprintf(stderr, "usage: storm LIBRARY FOLDER KILLS SEED\n"); return 2; }
    const char *library = argv[1], *folder = argv[2];
    int kills = atoi(argv[3]), killed = 0, refused = 0, failed = 0;
    random_state = strtoull(argv[4], NULL, 0);
    setvbuf(stdout, NULL, _IOLBF, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || chdir(folder) != 0) { perror(folder); return 2; }

    /* Another process makes the ledger: this one loads the library only at the end. */
    pid_t maker = fork();
    if (maker == 0) {
        load_library(library);
        open_ledger("ledger.realm");
        create_objects();
        close_ledger();
        _Exit(0);
    }
    int status = 0;
    if (waitpid(maker, &status, 0) != maker || status != 0) { printf("FAIL the ledger was not made\n"); return 1; }
    if (link("ledger.realm", "hard.realm") != 0 || symlink("ledger.realm", "symbolic.realm") != 0 || symlink(".", "linked") != 0) {
        perror("link");
        return 2;
    }
    pid_t writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) writers[i] = start(library, folder, i % 4, next_random());
    while (killed < kills && failed == 0) {
        int i = (int)below(WRITERS);
        usleep((useconds_t)below(below(4) ? 20000 : 200000));
        kill(writers[i], SIGKILL);
        if (waitpid(writers[i], &status, 0) != writers[i]) { perror("waitpid"); return 2; }
        if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) killed++;
        else if (WIFEXITED(status) && WEXITSTATUS(status) == 4) refused++;
        else failed++, printf("FAIL a writer under the name %s ended with status %d\n", names[i % 4], status);
        writers[i] = start(library, folder, i % 4, next_random());
    }
    for (int i = 0; i < WRITERS; i++) kill(writers[i], SIGKILL), waitpid(writers[i], &status, 0);
    load_library(library);
    open_ledger("ledger.realm");
    int64_t counter = check_ledger(true), promised = atomic_load(&shared->promised);
    verify_file();
    if (counter < promised) failed++, printf("FAIL commit %" PRId64 " returned, but the file is at %" PRId64 "\n", promised, counter);
    close_ledger();
    printf("%d kills of %d writers under %d names, %d refused, %" PRIu64 " commits\n", killed, WRITERS, 4, refused,
           (uint64_t)atomic_load(&shared->commits));
    printf("%d passed, %d failed\n", failed == 0, failed);
    return failed != 0;
}
