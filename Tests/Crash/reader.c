/*
 * reader.c - follows the ledger while a writer is killed over and over.
 *
 *     reader LIBRARY FILE SEED
 *
 * Refreshes without pause, checks each snapshot and that the commit counter never goes back, holds some snapshots for a
 * while and checks that they do not change, and reopens the file from time to time. Ends on SIGTERM with a line of
 * counts and the longest times in milliseconds: "done SNAPSHOTS LAST-COUNTER MAX-REFRESH MAX-OPEN MAX-VERSIONS".
 */
#define _GNU_SOURCE
#include "ledger.h"

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stopping;
static void on_term(int signal) { (void)signal; stopping = 1; }

int main(int argc, char** argv) {
    if (argc < 4) { fprintf(stderr, "usage: reader LIBRARY FILE SEED\n"); return 2; }
    setvbuf(stdout, NULL, _IOLBF, 0);
    load_library(argv[1]);
    random_state = strtoull(argv[3], NULL, 0);
    signal(SIGTERM, on_term);
    int64_t last = 0, snapshots = 0;
    uint64_t last_version = 0, most_versions = 0;
    double longest_refresh = 0, longest_open = 0;
    while (!stopping) {
        double start = now();
        open_ledger(argv[2]);
        if (now() - start > longest_open) longest_open = now() - start;
        for (uint64_t turns = 200 + below(2000); turns && !stopping; turns--) {
            bool moved = false, found = false;
            realm_version_id_t version, again;
            start = now();
            MUST(L.realm_refresh(realm, &moved));
            if (now() - start > longest_refresh) longest_refresh = now() - start;
            MUST(L.realm_get_version_id(realm, &found, &version) && found);
            if (version.version < last_version) broken("version %" PRIu64 " after %" PRIu64, version.version, last_version);
            last_version = version.version;
            int64_t counter = check_ledger(below(8) == 0);
            if (counter < last) broken("commit %" PRId64 " seen after %" PRId64, counter, last);
            last = counter, snapshots++;
            if (below(50) == 0) { /* hold this snapshot */
                usleep((useconds_t)below(60000));
                if (check_ledger(true) != counter) broken("a snapshot changed at commit %" PRId64, counter);
                MUST(L.realm_get_version_id(realm, &found, &again) && found && again.version == version.version);
            }
            if (below(400) == 0) verify_file();
            uint64_t versions = 0;
            MUST(L.realm_get_num_versions(realm, &versions));
            if (versions > most_versions) most_versions = versions;
            usleep(300);
        }
        close_ledger();
    }
    printf("done %" PRId64 " %" PRId64 " %.3f %.3f %" PRIu64 "\n", snapshots, last, longest_refresh * 1e3, longest_open * 1e3, most_versions);
    return 0;
}
