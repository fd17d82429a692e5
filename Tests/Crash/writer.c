/*
 * writer.c - commits to the ledger without pause until it is killed.
 *
 *     writer LIBRARY FILE JOURNAL SEED [check]
 *
 * First it checks that the file holds every commit that the journal names. The journal gets the number
 * of a commit after realm_commit() returned, or when it was found in the file, so the file may be one
 * commit ahead, never behind.
 * Then it prints "ready COUNTER". SIGTERM ends it after the running commit; "check" before the first.
 */
#define _GNU_SOURCE
#include "ledger.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stopping;
static void on_term(int signal) { (void)signal; stopping = 1; }

static uint8_t payload[65536];
static char note[3000];

static void set(realm_object_t* object, realm_property_key_t key, realm_value_t v) { MUST(L.realm_set_value(object, key, v, false)); }

static realm_object_t* state, *accounts[ACCOUNTS];

static int journal;
static int64_t promised;
/* From now on the file must not be without this commit. */
static void promise(int64_t counter) {
    if (counter <= promised) return;
    if (write(journal, &counter, 8) != 8) { perror("journal"); exit(2); }
    promised = counter;
}

static void find_objects(void) {
    state = L.realm_object_find_with_primary_key(realm, state_class, integer(0), NULL);
    for (int i = 0; i < ACCOUNTS; i++) accounts[i] = L.realm_object_find_with_primary_key(realm, account_class, integer(i), NULL);
    MUST(state && accounts[ACCOUNTS - 1]);
}
static void create_objects(void) {
    MUST(L.realm_begin_write(realm));
    L.realm_release(L.realm_object_create_with_primary_key(realm, state_class, integer(0)));
    for (int i = 0; i < ACCOUNTS; i++) {
        realm_object_t* account = L.realm_object_create_with_primary_key(realm, account_class, integer(i));
        MUST(account);
        set(account, balance_key, integer(START));
        L.realm_release(account);
    }
    MUST(L.realm_commit(realm));
}
/* Some changes that keep the promises of the ledger, once State is brought up to date. */
static void change(int64_t counter) {
    int64_t rows = int_of(state, rows_key), weight = int_of(state, weight_key);
    for (uint64_t n = 1 + below(6); n; n--) {
        realm_object_t *from = accounts[below(ACCOUNTS)], *to = accounts[below(ACCOUNTS)];
        int64_t amount = (int64_t)below(1u << below(40));
        set(from, balance_key, integer(int_of(from, balance_key) - amount));
        set(to, balance_key, integer(int_of(to, balance_key) + amount));
    }
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_STRING;
    v.string.size = below(below(4) ? 40 : sizeof note);
    memset(note, (int)('a' + below(26)), sizeof note);
    v.string.data = note;
    set(accounts[below(ACCOUNTS)], note_key, v);
    uint64_t create = below(8), drop = rows > 300 ? below(20) : below(6);
    if (below(60) == 0) create = 200;
    for (; create; create--) {
        int64_t n = counter * 1000 + (int64_t)create;
        realm_object_t* row = L.realm_object_create(realm, row_class);
        MUST(row);
        set(row, n_key, integer(n));
        memset(&v, 0, sizeof v);
        v.type = RLM_TYPE_BINARY;
        v.binary.size = payload_size(n);
        memset(payload, payload_byte(n), v.binary.size);
        v.binary.data = payload;
        set(row, payload_key, v);
        if (below(3)) {
            memset(&v, 0, sizeof v);
            v.type = RLM_TYPE_LINK;
            v.link = L.realm_object_as_link(accounts[below(ACCOUNTS)]);
            set(row, owner_key, v);
        }
        L.realm_release(row);
        rows++, weight += n;
    }
    realm_results_t* all = L.realm_object_find_all(realm, row_class);
    if (rows > 1000) drop = 500;
    for (; drop && rows; drop--) {
        realm_object_t* row = L.realm_results_get_object(all, below((uint64_t)rows));
        MUST(row);
        weight -= int_of(row, n_key), rows--;
        MUST(L.realm_object_delete(row));
        L.realm_release(row);
    }
    L.realm_release(all);
    realm_object_t* mark = L.realm_object_create_with_primary_key(realm, mark_class, integer(counter));
    MUST(mark);
    L.realm_release(mark);
    if (counter > MARKS) {
        mark = L.realm_object_find_with_primary_key(realm, mark_class, integer(counter - MARKS), NULL);
        MUST(mark && L.realm_object_delete(mark));
        L.realm_release(mark);
    }
    set(state, rows_key, integer(rows));
    set(state, weight_key, integer(weight));
    set(state, counter_key, integer(counter));
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
        /* A commit that was cut off after it reached the disk may come to light only now. */
        if (first && found == counter + 1) counter = found;
        if (found != counter) broken("commit %" PRId64 " found at the start of commit %" PRId64, found, counter + 1);
        promise(counter);
        if (below(10) == 0) { /* a transaction that is taken back leaves no trace */
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
