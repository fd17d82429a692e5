/*
 * live.c - a writer or an observer of run.py, which describes them.
 *
 *     live writer FILE JOURNAL SEED
 *     live observer FILE REPORT
 */
#include <crealm.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <realm.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST 6000
#define KEPT 4000

static void broken(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("BROKEN C: ");
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
    exit(1);
}
static void must(bool good, const char* what)
{
    realm_error_t e;
    if (!good)
        broken("%s: %s", what, realm_get_last_error(&e) ? e.message : "?");
}
static int64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static realm_t* realm;
static realm_list_t *numbers, *times;

static realm_list_t* list_named(realm_object_t* board, realm_class_key_t class_key, const char* name)
{
    realm_property_info_t info;
    bool found = false;
    must(realm_find_property(realm, class_key, name, &found, &info) && found, "find property");
    realm_list_t* list = realm_get_list(board, info.key);
    must(list != NULL, "get list");
    return list;
}
static void open_board(const char* path)
{
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm = realm_open(config);
    realm_release(config);
    must(realm != NULL, "open");
    realm_class_info_t board_class;
    bool found = false;
    must(realm_find_class(realm, "Board", &found, &board_class) && found, "find class");
    realm_value_t key;
    memset(&key, 0, sizeof key);
    key.type = RLM_TYPE_INT;
    realm_object_t* board = realm_object_find_with_primary_key(realm, board_class.key, key, &found);
    must(board != NULL, "find board");
    numbers = list_named(board, board_class.key, "numbers");
    times = list_named(board, board_class.key, "times");
    realm_release(board);
}
static size_t size_of(realm_list_t* list)
{
    size_t size = 0;
    must(realm_list_size(list, &size), "size");
    return size;
}
static int64_t at(realm_list_t* list, size_t index)
{
    realm_value_t value;
    must(realm_list_get(list, index, &value), "get");
    return value.integer;
}
static void append(realm_list_t* list, size_t index, int64_t integer)
{
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = RLM_TYPE_INT;
    value.integer = integer;
    must(realm_list_insert(list, index, value), "insert");
}

static void write_on(const char* journal_path, unsigned seed)
{
    int journal = open(journal_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (;;) {
        must(realm_begin_write(realm), "begin");
        size_t size = size_of(numbers);
        int64_t number = size ? at(numbers, size - 1) + 1 : 1;
        for (; size >= LONGEST; size = size_of(numbers))
            for (size_t i = KEPT; i < LONGEST; i++)
                must(realm_list_erase(numbers, 0) && realm_list_erase(times, 0), "erase");
        append(numbers, size, number);
        append(times, size, now());
        must(realm_commit(realm), "commit");
        if (write(journal, &number, 8) != 8)
            broken("journal: %s", strerror(errno));
        /* Some commits in bursts, some alone. */
        if (rand_r(&seed) % 4)
            usleep((useconds_t)(rand_r(&seed) % 20000));
    }
}

/* The observer's state: the list, as built from the change sets, and its report. */
static int64_t copy[2 * LONGEST];
static size_t count;
static struct {
    int64_t last, commits, callbacks, longest, missed;
} report;
static int report_file;

static void note(int64_t number, int64_t written, int64_t arrived)
{
    if (number != report.last + 1) {
        /* Only numbers that were removed from the list before a notification may be missing. */
        if (number <= report.last || copy[0] <= report.last + 1)
            broken("commit %" PRId64 " told after %" PRId64, number, report.last);
        report.missed += number - report.last - 1;
    }
    report.last = number;
    report.commits++;
    if (arrived - written > report.longest)
        report.longest = arrived - written;
}
static void told(realm_userdata_t unused, const realm_collection_changes_t* changes)
{
    (void)unused;
    int64_t arrived = now();
    static size_t deletions[LONGEST], insertions[LONGEST];
    size_t deleted, inserted, modified, moved;
    bool cleared, gone;
    realm_collection_changes_get_num_changes(changes, &deleted, &inserted, &modified, &moved, &cleared, &gone);
    if (modified || moved || cleared || gone || deleted > LONGEST || inserted > LONGEST)
        broken("%zu modifications, %zu moves, cleared %d, gone %d", modified, moved, cleared, gone);
    realm_collection_changes_get_changes(changes, deletions, deleted, insertions, inserted, NULL, 0, NULL, 0, NULL, 0);
    for (size_t i = deleted; i-- > 0;) {
        memmove(copy + deletions[i], copy + deletions[i] + 1, (count - deletions[i] - 1) * sizeof *copy);
        count--;
    }
    for (size_t i = 0; i < inserted; i++) {
        if (insertions[i] != count)
            broken("inserted at %zu of %zu", insertions[i], count);
        copy[count++] = at(numbers, insertions[i]);
    }
    if (count != size_of(numbers) || (count && copy[0] != at(numbers, 0)))
        broken("%zu elements followed, %zu are there", count, size_of(numbers));
    for (size_t i = 0; i < inserted; i++)
        note(copy[insertions[i]], at(times, insertions[i]), arrived);
    report.callbacks++;
    if (pwrite(report_file, &report, sizeof report, 0) != sizeof report)
        broken("report: %s", strerror(errno));
}
static void observe(const char* report_path)
{
    report_file = open(report_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    realm_notification_token_t* token = realm_list_add_notification_callback(numbers, NULL, NULL, NULL, told);
    must(token != NULL, "observe");
    for (size_t size = size_of(numbers); count < size; count++)
        copy[count] = at(numbers, count);
    report.last = count ? copy[count - 1] : 0;
    int work;
    realm_scheduler_t* scheduler = realm_scheduler_make_default();
    must(crealm_scheduler_get_fd(scheduler, &work), "descriptor");
    for (;;) {
        struct pollfd waiting = {.fd = work, .events = POLLIN, .revents = 0};
        poll(&waiting, 1, -1);
        must(crealm_scheduler_run(scheduler, 0, NULL), "turn");
    }
}

int main(int argc, char** argv)
{
    if (argc < 4)
        return fprintf(stderr, "usage: live writer FILE JOURNAL SEED | live observer FILE REPORT\n"), 2;
    open_board(argv[2]);
    if (!strcmp(argv[1], "writer"))
        write_on(argv[3], argc > 4 ? (unsigned)atoi(argv[4]) : 1);
    else
        observe(argv[3]);
    return 0;
}
