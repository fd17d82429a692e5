/* The lower bound of a scan: reads once the bytes of the leaves that each scan of bench.c needs, laid out as in its
   file.
 * Usage: read_once N
 * Prints one line per workload:  name <tab> seconds <tab> bytes
 * A cluster of 256 rows is contiguous memory in pages of 4 KB; of each, the leaves of a workload are read, 16 bytes at
 * a time. As in bench.c, counts are the best of three and aggregates run once, on memory that is no longer in the
 * caches.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { ROWS = 256, COLUMNS = 9 };
typedef long long vec __attribute__((vector_size(16)));
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
/* The generator of bench.c. */
static uint64_t rs = 88172645463325252ULL;
static uint64_t rnd(void) { rs ^= rs << 13; rs ^= rs >> 7; rs ^= rs << 17; return rs; }

/* Leaves of a cluster in file order, with the bytes per row; names have different lengths. */
enum { ID, NAME_ENDS, NAME_TEXT, CITY, AGE, BALANCE, SCORE, FRIEND, BACKLINK };
static const int width[COLUMNS] = {4, 2, 0, 8, 1, 4, 8, 4, 4};

typedef struct { size_t start[COLUMNS], size[COLUMNS]; } cluster;

static volatile long long sink;
static void read_bytes(const char *p, size_t n) {
    vec a = {0}, b = {0}, c = {0}, d = {0};
    const vec *v = (const vec *)p;
    size_t i = 0, m = n / 16;
    for (; i + 4 <= m; i += 4) { a ^= v[i]; b ^= v[i + 1]; c ^= v[i + 2]; d ^= v[i + 3]; }
    for (; i < m; i++) a ^= v[i];
    a ^= b ^ c ^ d;
    sink ^= a[0] ^ a[1];
}

int main(int argc, char **argv) {
    long n = argc > 1 ? atol(argv[1]) : 1000000, clusters = (n + ROWS - 1) / ROWS;
    cluster *all = calloc(clusters, sizeof *all);
    size_t at = 0;
    char text[64];
    for (long k = 0; k < clusters; k++) {
        long rows = n - k * ROWS < ROWS ? n - k * ROWS : ROWS;
        size_t names = 0;
        for (long i = 0; i < rows; i++) {
            names += snprintf(text, sizeof text, "Person number %ld %lx", k * ROWS + i, (unsigned long)(rnd() % 100000)) + 1;
            for (int skip = 0; skip < 4; skip++) rnd();
        }
        for (int c = 0; c < COLUMNS; c++) {
            all[k].start[c] = at = (at + 8 + 15) & ~(size_t)15; /* a header before each leaf */
            all[k].size[c] = c == NAME_TEXT ? names : (size_t)width[c] * rows;
            at += all[k].size[c];
        }
        at += 128; /* the cluster's own node and that of the names */
    }
    size_t total = at + 4096, other = (size_t)64 << 20;
    char *file = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *wash = malloc(other);
    if (file == MAP_FAILED || !wash) return 1;
    madvise(file, total, MADV_NOHUGEPAGE);
    memset(file, 1, total);
    memset(wash, 1, other);
    static const struct { const char *name; int columns[3]; int once; } scans[] = {
        {"count_int_gt", {BALANCE, -1}, 0}, {"count_int_eq", {AGE, -1}, 0}, {"count_double_between", {SCORE, -1}, 0},
        {"count_str_eq_unindexed", {NAME_ENDS, -1}, 0}, {"count_str_beginswith", {NAME_ENDS, NAME_TEXT, -1}, 0},
        {"count_str_contains_ci", {NAME_ENDS, NAME_TEXT, -1}, 0}, {"count_and", {AGE, BALANCE, -1}, 0},
        {"count_or", {AGE, CITY, -1}, 0}, {"count_link", {AGE, FRIEND, -1}, 0}, {"count_in", {AGE, -1}, 0},
        {"sum_int", {BALANCE, -1}, 1}, {"avg_double", {SCORE, -1}, 1}, {"max_int", {BALANCE, -1}, 1}};
    for (size_t s = 0; s < sizeof scans / sizeof *scans; s++) {
        double best = 1e9;
        size_t bytes = 0;
        read_bytes(wash, other);
        for (int round = 0; round < (scans[s].once ? 1 : 3); round++) {
            double t = now();
            bytes = 0;
            for (long k = 0; k < clusters; k++)
                for (const int *c = scans[s].columns; *c >= 0; c++) {
                    read_bytes(file + all[k].start[*c], all[k].size[*c]);
                    bytes += all[k].size[*c];
                }
            t = now() - t;
            if (t < best) best = t;
        }
        printf("%s\t%.6f\t%zu\n", scans[s].name, best, bytes);
    }
    return 0;
}
