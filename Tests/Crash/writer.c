/*
 * writer.c - commits to the ledger without pause until it is killed.
 *
 *     writer LIBRARY FILE JOURNAL SEED [check]
 *
 * First it checks that the file holds every commit that the journal names. The journal gets the number
 * of a commit after realm_commit() returned, or when it was found in the file, so the file may be one commit ahead of
 * the journal, never behind it. Then it prints "ready COUNTER". SIGTERM ends it after the running commit; with "check"
 * it ends before the first commit.
 */
#define _GNU_SOURCE
#include "changes.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stopping;
static void on_term(int signal) { (void)signal; stopping = 1; }

static int journal;
static int64_t promised;
/* Records a commit that the file must have from now on. */
static void promise(int64_t counter) {
    if (counter <= promised) return;
    if (write(journal, &counter, 8) != 8) { perror("journal"); exit(2); }
    promised = counter;
}

int main(int argc, char** argv) {
    if (argc < 5) { fprintf(stderr, "usage: writer LIBRARY FILE JOURNAL SEED [check]\n"); return 2; }
    setvbuf(stdout, NULL, _IOLBF, 0);
    load_library(argv[1]);
    random_state = strtoull(argv[4], NULL, 0);
    signal(SIGTERM, on_term);
    journal = open(argv[3], O_RDWR | O_CREAT | O_APPEND, 0600);
    if (journal < 0) { perror(argv[3]); return 2; }
    off_t size = lseek(journal, 0, SEEK_END);
    if (size >= 8 && pread(journal, &promised, 8, (size / 8 - 1) * 8) != 8) { perror(argv[3]); return 2; }

    open_ledger(argv[2]);
    int64_t counter = check_ledger(true);
    if (counter == -1) {
        if (promised) broken("the file is empty after %" PRId64 " commits", promised);
        create_objects();
        counter = check_ledger(true);
    }
    if (counter < promised) broken("commit %" PRId64 " returned, but the file is at %" PRId64, promised, counter);
    if (counter > promised + 1) broken("the file is at commit %" PRId64 ", the journal at %" PRId64, counter, promised);
    promise(counter);
    verify_file();
    printf("ready %" PRId64 "\n", counter);
    if (argc > 5) stopping = 1;
    find_objects();
    for (bool first = true; !stopping; first = false) {
        MUST(L.realm_begin_write(realm));
        int64_t found = int_of(state, counter_key);
        /* A commit whose writer died after it reached the disk may become visible only now. */
        if (first && found == counter + 1) counter = found;
        if (found != counter) broken("commit %" PRId64 " found at the start of commit %" PRId64, found, counter + 1);
        promise(counter);
        if (below(10) == 0) { /* a transaction that is rolled back leaves no trace */
            change(counter + 1);
            MUST(L.realm_rollback(realm));
            continue;
        }
        change(++counter);
        MUST(L.realm_commit(realm));
        promise(counter);
    }
    L.realm_release(state);
    for (int i = 0; i < ACCOUNTS; i++) L.realm_release(accounts[i]);
    close_ledger();
    printf("stopped %" PRId64 "\n", counter);
    return 0;
}
