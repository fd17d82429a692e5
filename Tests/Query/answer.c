/*
 * answer.c - runs queries on a file through any library with Realm's C API and writes the answers.
 *
 *     answer LIBRARY FILE QUERIES OUT [--readonly] [--dynamic] [--skip N] [--times FILE] [--describe] [--again] [--limit SECONDS]
 *
 * QUERIES is what generate.py writes: class, TAB, query text, TAB, arguments. OUT gets a line for each:
 *
 *     E1009                    realm_query_parse() failed with this error
 *     E3000 count, E3013 get   realm_results_count(), realm_results_get() failed
 *     5:0 3 4                  the rows: class key, object keys in order; "-" if there are no rows
 *
 * followed by a mark for each function that disagrees: "!count=2" (realm_query_count), "!first=-"
 * (realm_query_find_first). With --describe a TAB and the text of realm_query_get_description() follow; with --again
 * that text is run as a query, too, and "!again=" with its answer is added if the answers differ. Each line is flushed,
 * so after a crash the number of lines identifies the query; --skip continues after it. A query that takes more
 * processor time than the limit (60 s) ends the process by SIGPROF. --times: microseconds, one line per query. The file
 * is opened with its own schema and with the linking objects `linkers` of class Str;
 * --dynamic opens without a schema, --readonly in the immutable mode. Work on a copy.
 * Build: cc -O2 -I<directory of realm.h> answer.c -ldl -o answer
 */
#define _GNU_SOURCE
#include "library.h"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static bool describe, again;

#define MAX_VALUES 4096
static realm_value_t values[MAX_VALUES];
static size_t used;
static realm_query_arg_t arguments[256];

static size_t parse_arguments(const char* s)
{
    size_t n = 0;
    used = 0;
    s = expect(s, "[");
    while (*s != ']') {
        realm_query_arg_t* a = &arguments[n++];
        a->arg = &values[used];
        a->is_list = *s == '[';
        a->nb_args = 0;
        if (a->is_list) {
            for (s++; *s != ']'; a->nb_args++) {
                s = value(s, &values[used++]);
                if (*s == ',') s++;
            }
            s++;
        } else {
            s = value(s, &values[used++]);
            a->nb_args = 1;
        }
        if (*s == ',') s++;
        if (n == 256 || used > MAX_VALUES - 256) bad(s);
    }
    return n;
}

/* Answers -------------------------------------------------------------------------------------- */

static void rows(FILE* out, realm_query_t* query)
{
    size_t count = 0;
    realm_results_t* found = F(realm_query_find_all)(query);
    if (!found || !F(realm_results_count)(found, &count)) {
        fprintf(out, "E%d count", last_error(NULL));
        F(realm_release)(found);
        return;
    }
    realm_link_t first = {0, -1};
    uint64_t class = UINT64_MAX;
    /* Rows are collected in a separate text, because an error in the middle replaces all of them. */
    static char* line;
    static size_t room;
    if (room < count * 48 + 64) line = realloc(line, room = count * 48 + 64);
    char* end = line;
    *end = 0;
    for (size_t i = 0; i < count; i++) {
        realm_value_t v;
        if (!F(realm_results_get)(found, i, &v)) {
            fprintf(out, "E%d get", last_error(NULL));
            F(realm_release)(found);
            return;
        }
        if (v.type != RLM_TYPE_LINK) {
            end += sprintf(end, " type%d", (int)v.type);
            continue;
        }
        if (v.link.target_table != class) end += sprintf(end, "%s%u:", i ? " " : "", (unsigned)(class = v.link.target_table));
        else *end++ = ' ';
        end += sprintf(end, "%" PRId64, (int64_t)v.link.target);
        if (i == 0) first = v.link;
    }
    F(realm_release)(found);
    fwrite(count ? line : "-", 1, count ? (size_t)(end - line) : 1, out);

    size_t counted;
    if (!F(realm_query_count)(query, &counted)) fprintf(out, " !count=E%d", last_error(NULL));
    else if (counted != count) fprintf(out, " !count=%zu", counted);
    realm_value_t v = {.type = RLM_TYPE_NULL};
    bool any = false;
    if (!F(realm_query_find_first)(query, &v, &any)) fprintf(out, " !first=E%d", last_error(NULL));
    else if (any != (count > 0)) fprintf(out, any ? " !first=%" PRId64 : " !first=-", (int64_t)v.link.target);
    else if (any && (v.type != RLM_TYPE_LINK || v.link.target != first.target || v.link.target_table != first.target_table))
        fprintf(out, " !first=%" PRId64, (int64_t)v.link.target);
}

static char* answer_of(realm_query_t* query)
{
    char* text = NULL;
    size_t size;
    FILE* out = open_memstream(&text, &size);
    if (!out) die("memory");
    rows(out, query);
    fclose(out);
    return text;
}

static void answer(FILE* out, char* line)
{
    char* query_text = strchr(line, '\t');
    char* list = query_text ? strrchr(line, '\t') : NULL;
    if (!list || list == query_text) bad(line);
    *query_text++ = 0;
    *list++ = 0;
    static char* space;
    static size_t size;
    if (size < strlen(list) + 1) space = realloc(space, size = strlen(list) * 2 + 1);
    buffer = space;
    size_t n = parse_arguments(list);
    bool found;
    realm_class_info_t class;
    if (!F(realm_find_class)(realm, line, &found, &class)) die("class");
    if (!found) {
        fputs("no class", out);
        return;
    }
    realm_query_t* query = F(realm_query_parse)(realm, class.key, query_text, n, arguments);
    if (!query) {
        fprintf(out, "E%d", last_error(NULL));
        return;
    }
    char* described = NULL;
    if (describe) { /* before the query runs: the reference may add the ordering a second time */
        const char* found_text = F(realm_query_get_description)(query);
        described = strdup(found_text ? found_text : "?");
    }
    char* first = answer_of(query);
    fputs(first, out);
    if (again && described) {
        realm_query_t* printed = F(realm_query_parse)(realm, class.key, described, 0, NULL);
        char* second = printed ? answer_of(printed) : NULL;
        if (!second) fprintf(out, " !again=E%d", last_error(NULL));
        else if (strcmp(first, second)) fprintf(out, " !again=%.30s", second);
        free(second);
        F(realm_release)(printed);
    }
    free(first);
    if (described) fprintf(out, "\t%s", described);
    free(described);
    F(realm_release)(query);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* Ends the process after this many seconds of processor time; 0: no limit. */
static void limit_work(unsigned seconds)
{
    struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &limit, NULL);
}
int main(int argc, char** argv)
{
    long skip = 0;
    unsigned limit = 60;
    const char* times_name = NULL;
    if (argc < 5) {
        fprintf(stderr, "usage: answer LIBRARY FILE QUERIES OUT [options]\n");
        return 1;
    }
    for (int i = 5; i < argc; i++) {
        if (!strcmp(argv[i], "--readonly")) readonly = true;
        else if (!strcmp(argv[i], "--dynamic")) dynamic = true;
        else if (!strcmp(argv[i], "--describe")) describe = true;
        else if (!strcmp(argv[i], "--again")) again = true;
        else if (!strcmp(argv[i], "--skip") && i + 1 < argc) skip = atol(argv[++i]);
        else if (!strcmp(argv[i], "--times") && i + 1 < argc) times_name = argv[++i];
        else if (!strcmp(argv[i], "--limit") && i + 1 < argc) limit = (unsigned)atoi(argv[++i]);
        else {
            fprintf(stderr, "unknown option %s\n", argv[i]);
            return 1;
        }
    }
    load_library(argv[1]);
    path = argv[2];
    FILE* queries = fopen(argv[3], "r");
    FILE* out = fopen(argv[4], skip ? "a" : "w");
    FILE* times = times_name ? fopen(times_name, skip ? "a" : "w") : NULL;
    if (!queries || !out || (times_name && !times)) {
        perror("open");
        return 1;
    }
    open_file();
    char* line = NULL;
    size_t size = 0;
    ssize_t n;
    for (long number = 0; (n = getline(&line, &size, queries)) > 0; number++) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        if (number < skip) continue;
        double start = now();
        limit_work(limit);
        answer(out, line);
        limit_work(0);
        fputc('\n', out);
        fflush(out);
        if (times) {
            fprintf(times, "%.0f\n", now() - start);
            fflush(times);
        }
    }
    F(realm_close)(realm);
    F(realm_release)(realm);
    return fclose(out) != 0;
}
