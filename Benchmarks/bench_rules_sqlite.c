/* The workloads of bench_rules.c on SQLite, with constraints in place of rules. The settings are those of
 * bench_sqlite.c: WAL, synchronous=FULL, prepared statements, 256 MB of cache, memory-mapped reading.
 *
 *     bench_rules_sqlite WORKDIR N
 *
 * Prints the same lines: name <tab> seconds of processor time <tab> operations.
 * Build: cc -O2 bench_rules_sqlite.c -lsqlite3 -o bench_rules_sqlite
 */
#define _GNU_SOURCE
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static sqlite3* db;
static const char* path;

static void fail(const char* what) { fprintf(stderr, "%s: %s\n", what, sqlite3_errmsg(db)), exit(2); }
static void run(const char* statements) {
    if (sqlite3_exec(db, statements, NULL, NULL, NULL) != SQLITE_OK) fail(statements);
}
static sqlite3_stmt* prepared(const char* statement) {
    sqlite3_stmt* s;
    if (sqlite3_prepare_v2(db, statement, -1, &s, NULL) != SQLITE_OK) fail(statement);
    return s;
}
static void step(sqlite3_stmt* s) {
    if (sqlite3_step(s) != SQLITE_DONE) fail(sqlite3_sql(s));
    sqlite3_reset(s);
}
static long number(const char* statement) {
    sqlite3_stmt* s = prepared(statement);
    if (sqlite3_step(s) != SQLITE_ROW) fail(statement);
    long n = (long)sqlite3_column_int64(s, 0);
    sqlite3_finalize(s);
    return n;
}
static void expect(const char* count, long expected) {
    long n = number(count);
    if (n != expected) fprintf(stderr, "%s: %ld, not %ld\n", count, n, expected), exit(2);
}

/* ---- Time --------------------------------------------------------------------------------------------- */

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
static double started, spent;
static void start(void) { started = processor_time(); }
static void stop(void) { spent = processor_time() - started; }
static void report(const char* name, long operations) {
    printf("%s\t%.9f\t%ld\n", name, spent, operations);
    fflush(stdout);
}

/* ---- Files and values --------------------------------------------------------------------------------- */

static void open_file(const char* tables) {
    char other[5000];
    const char* ends[] = {"", "-wal", "-shm"};
    for (int i = 0; i < 3; i++) snprintf(other, sizeof other, "%s%s", path, ends[i]), unlink(other);
    if (sqlite3_open(path, &db) != SQLITE_OK) fail(path);
    run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA mmap_size=2000000000; PRAGMA cache_size=-262144;"
        "PRAGMA foreign_keys=ON");
    run(tables);
}
static void close_file(void) { sqlite3_close_v2(db); }

static int64_t scattered(long i) { return (int64_t)((uint64_t)i * 2654435761u % 4294967296u); }
static int64_t ascending(long i) { return i; }
static int64_t high(long i) { return scattered(i) >> 16; }
static int64_t low(long i) { return scattered(i) & 0xffff; }
static int64_t thousands(long i) { return i / 1000; }
static int64_t rest(long i) { return i % 1000; }
static int64_t age(long i) { return i % 100; }
static uint64_t state;
static uint64_t random_number(void) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state;
}

/* ---- Insertions --------------------------------------------------------------------------------------- */

/* Rows of two values; first is NULL if SQLite makes the first one. */
static void insert(const char* name, long n, const char* table, int64_t (*first)(long), int64_t (*second)(long)) {
    open_file(table);
    sqlite3_stmt* s = prepared(first ? "INSERT INTO item VALUES (?, ?)" : "INSERT INTO item (n) VALUES (?)");
    start();
    run("BEGIN IMMEDIATE");
    for (long i = 0; i < n; i++) {
        if (first) sqlite3_bind_int64(s, 1, first(i));
        sqlite3_bind_int64(s, first ? 2 : 1, second(i));
        step(s);
    }
    run("COMMIT");
    stop(), report(name, n);
    sqlite3_finalize(s);
    expect("SELECT count(*) FROM item", n);
    close_file();
}
static void insertions(long n) {
    const char* keyed = "CREATE TABLE item (id INTEGER PRIMARY KEY, n INT)";
    const char* pair = "CREATE TABLE item (a INT, b INT)";
    const char* unique = "CREATE TABLE item (a INT, b INT, UNIQUE (a, b))";
    insert("# warm up", n / 10, pair, high, low);
    insert("insert_given_key", n, keyed, ascending, age);
    insert("insert_auto_key", n, "CREATE TABLE item (id INTEGER PRIMARY KEY AUTOINCREMENT, n INT)", NULL, age);
    insert("insert_pair", n, pair, high, low);
    insert("insert_scattered_key", n, keyed, scattered, low);
    insert("insert_unique_pair", n, unique, high, low);
    insert("insert_unique_ascending", n, unique, thousands, rest);
    insert("insert_unchecked", n, pair, age, ascending);
    insert("insert_checked", n, "CREATE TABLE item (a INT CHECK (a >= 0), b INT)", age, ascending);
}

/* ---- Deletions ---------------------------------------------------------------------------------------- */

/* How children are inserted: those of one parent after the other, or one of each parent in turn. */
typedef enum { TOGETHER, IN_TURN } order_e;
/* Deletes parents and children. A list of children is the same table: the second name is for that. */
static void delete_family(const char* name, const char* name_of_list, long n, order_e order, bool cascade) {
    long parents = 1000, each = n / parents;
    open_file(cascade ? "CREATE TABLE parent (id INTEGER PRIMARY KEY, n INT);"
                        "CREATE TABLE child (n INT, parent INT REFERENCES parent ON DELETE CASCADE);"
                        "CREATE INDEX child_parent ON child (parent)"
                      : "CREATE TABLE parent (id INTEGER PRIMARY KEY, n INT);"
                        "CREATE TABLE child (n INT, parent INT);"
                        "CREATE INDEX child_parent ON child (parent)");
    sqlite3_stmt* parent = prepared("INSERT INTO parent VALUES (?, 0)");
    sqlite3_stmt* child = prepared("INSERT INTO child VALUES (?, ?)");
    run("BEGIN IMMEDIATE");
    for (long i = 0; i < parents; i++) sqlite3_bind_int64(parent, 1, i), step(parent);
    for (long i = 0; i < parents * each; i++) {
        sqlite3_bind_int64(child, 1, order == TOGETHER ? i % each : i / parents);
        sqlite3_bind_int64(child, 2, order == TOGETHER ? i / each : i % parents);
        step(child);
    }
    run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_finalize(parent), sqlite3_finalize(child);
    expect("SELECT count(*) FROM child", parents * each);
    start();
    run("BEGIN IMMEDIATE");
    run("DELETE FROM parent WHERE n >= 0");
    if (!cascade) run("DELETE FROM child WHERE n >= 0");
    run("COMMIT");
    stop(), report(name, parents * (each + 1)), report(name_of_list, parents * (each + 1));
    expect("SELECT count(*) FROM parent", 0), expect("SELECT count(*) FROM child", 0);
    close_file();
}

/* ---- Savepoints --------------------------------------------------------------------------------------- */

typedef enum { NO_SAVEPOINT, RELEASE, ROLL_BACK } savepoint_e;
static void savepoints(const char* name, long n, long times, savepoint_e end) {
    open_file("CREATE TABLE item (id INTEGER PRIMARY KEY, a INT, b INT)");
    sqlite3_stmt* s = prepared("INSERT INTO item VALUES (?, ?, 0)");
    run("BEGIN IMMEDIATE");
    for (long i = 0; i < n; i++) sqlite3_bind_int64(s, 1, i), sqlite3_bind_int64(s, 2, age(i)), step(s);
    run("COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
    sqlite3_finalize(s);
    s = prepared("UPDATE item SET a = -1 WHERE id = ?");
    sqlite3_stmt* begin = prepared("SAVEPOINT part");
    sqlite3_stmt* release = prepared("RELEASE part");
    sqlite3_stmt* roll_back = prepared("ROLLBACK TO part");
    state = 88172645463325252u;
    start();
    run("BEGIN IMMEDIATE");
    for (long i = 0; i < times; i++) {
        if (end != NO_SAVEPOINT) step(begin);
        sqlite3_bind_int64(s, 1, (int64_t)(random_number() % (uint64_t)n)), step(s);
        if (end == ROLL_BACK) step(roll_back);
        if (end != NO_SAVEPOINT) step(release);
    }
    run("COMMIT");
    stop(), report(name, times);
    sqlite3_finalize(s), sqlite3_finalize(begin), sqlite3_finalize(release), sqlite3_finalize(roll_back);
    long changed = number("SELECT count(*) FROM item WHERE a = -1");
    if ((changed == 0) != (end == ROLL_BACK)) fprintf(stderr, "%s: %ld rows changed\n", name, changed), exit(2);
    close_file();
}

int main(int argc, char** argv) {
    if (argc < 3) return fprintf(stderr, "bench_rules_sqlite WORKDIR N\n"), 1;
    char text[4096];
    snprintf(text, sizeof text, "%s/rules.sqlite", argv[1]);
    path = text;
    long n = atol(argv[2]), times = n / 3;
    insertions(n);
    delete_family("delete_link", "delete_list", n, TOGETHER, false);
    delete_family("cascade_link", "cascade_list", n, TOGETHER, true);
    delete_family("delete_link_in_turn", "delete_list_in_turn", n, IN_TURN, false);
    delete_family("cascade_link_in_turn", "cascade_list_in_turn", n, IN_TURN, true);
    savepoints("savepoint_none", n, times, NO_SAVEPOINT);
    savepoints("savepoint_release", n, times, RELEASE);
    savepoints("savepoint_rollback", n, times, ROLL_BACK);
    return 0;
}
