/*
 * queries.c - parses damaged query texts.
 *
 * Goal: whatever a text says, parsing it ends with a query or an error: no crash, no hang, no more than linear
 * time. Method: each round takes a query of a corpus, damages it in one to six places chosen from a seed (or joins
 * it with another), and parses it with its own or with random arguments. An accepted query is described, and its
 * description must be accepted, too. For a share of the queries the rows are counted, and the description must find as
 * many.
 *
 *     queries LIBRARY FILE CORPUS COUNT SEED [SHARE]
 *     queries LIBRARY FILE --growth [BYTES]
 *
 * FILE has the schema of the operation driver and is not changed. A line of CORPUS is one of generate.py: class, TAB, text,
 * TAB, arguments. Round i uses seed SEED + i, so `queries ... 1 N` repeats it alone, and prints its text when
 * QUERIES_PRINT is set. One in SHARE (16) of the accepted queries is counted; 0: none. The rounds run in a child process;
 * after a crash, or a round of more than a minute of processor time, another child continues with the next round. Calls
 * that take more than QUERIES_SLOW milliseconds of processor time (50) are reported. Ends with 'N passed, M failed'.
 *
 * --growth parses, describes and counts texts of difficult shapes, of 2048 bytes and of up to BYTES (1048576), and
 * checks the order of growth of the work, not the times, so that the result is valid on a busy machine.
 *
 * Build: cc -O1 -g -Wall -Wextra -Werror -Iinclude queries.c -ldl -o queries
 */
#define _GNU_SOURCE
#include "../Query/library.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- The corpus ------------------------------------------------------------------------------- */

#define MAX_ARGUMENTS 16
typedef struct {
    realm_class_key_t class;
    char* text;
    size_t length, arguments;
    realm_query_arg_t argument[MAX_ARGUMENTS];
} example_t;
static example_t* corpus;
static size_t examples;
static realm_class_key_t class_keys[MAX_CLASSES];
static size_t classes;

static const char* read_value(const char* s, realm_value_t* v)
{
    buffer = malloc(strlen(s) + 1);
    return value(s, v);
}
static void read_arguments(const char* s, example_t* e)
{
    s = expect(s, "[");
    while (*s != ']' && e->arguments < MAX_ARGUMENTS) {
        realm_query_arg_t* a = &e->argument[e->arguments++];
        a->is_list = *s == '[';
        a->arg = calloc(strlen(s), sizeof *a->arg);
        if (a->is_list) {
            for (s++; *s != ']'; a->nb_args++) {
                s = read_value(s, &a->arg[a->nb_args]);
                if (*s == ',') s++;
            }
            s++;
        } else {
            s = read_value(s, a->arg);
            a->nb_args = 1;
        }
        if (*s == ',') s++;
    }
}
static void read_corpus(const char* name)
{
    FILE* file = fopen(name, "r");
    if (!file) {
        perror(name);
        exit(2);
    }
    char* line = NULL;
    size_t room = 0, space = 0;
    for (ssize_t n; (n = getline(&line, &room, file)) > 0;) {
        if (line[n - 1] == '\n') line[n - 1] = 0;
        char *words = strchr(line, '\t'), *list = words ? strrchr(line, '\t') : NULL;
        if (!list || list == words) bad(line);
        *words++ = *list++ = 0;
        if (examples == space) corpus = realloc(corpus, (space = space * 2 + 1000) * sizeof *corpus);
        example_t* e = memset(&corpus[examples++], 0, sizeof *e);
        bool found;
        realm_class_info_t class;
        if (!F(realm_find_class)(realm, line, &found, &class) || !found) die("class");
        e->class = class.key;
        e->text = strdup(words);
        e->length = strlen(words);
        read_arguments(list, e);
    }
    free(line);
    fclose(file);
}

/* ---- Chance ----------------------------------------------------------------------------------- */

static uint64_t state;
static uint64_t next(void)
{
    state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Du;
}
static size_t below(size_t n) { return n ? (size_t)((next() >> 11) % n) : 0; }
static bool one_in(size_t n) { return below(n) == 0; }
#define PICK(array) ((array)[below(sizeof(array) / sizeof *(array))])

static const char* const words[] = {
    "(", ")", "[", "]", "{", "}", ",", ".", "+", "-", "*", "/", "=", "==", "!=", "<>", "<", "<=", "=<", ">", ">=", "=>", "!", "&&", "||", "&", "|", "[c]", " ", "\t",
    "\r\n", " AND ", " OR ", "NOT ", " IN ", "ANY ", "ALL ", "NONE ", "SOME ", "true", "false", "FIRST", "LAST", "SIZE", " BEGINSWITH ", " ENDSWITH ", " CONTAINS ", " LIKE ",
    " TEXT ", " BETWEEN ", " GEOWITHIN ", " SORT(", " DISTINCT(", " LIMIT(", " ASC", " DESC", "TRUEPREDICATE", "FALSEPREDICATE", "SUBQUERY(", "obj(\"Str\", ", "binary(",
    "geoBox([1.0, 2.0], [3.0, 4.0])", "geoCircle([1, 2], 0.5)", "geoPolygon({[0,0],[1,1],[0,1]})", "null", "nil", "inf", "-inf", "NaN", ".@count", ".@size", "@max", "@min",
    ".@sum", ".@avg.", "@links.", "@links.All.l_link.", ".@type", ".@keys", ".@values", "[*]", "[FIRST]", "[LAST]", "[0]", "['k1']", "[$0]", "[SIZE]", "$0", "$1", "$2", "$3", "$K0",
    "$K1", "$x", "$x.", "%@", "%K", "B64\"QUJD\"", "B64\"", "uuid(", "uuid(00000000-0000-0000-0000-000000000001)", "oid(", "oid(000000000000000000000001)", "O0", "L1:2", "T0:0",
    "T-1:-5", "2020-01-01T00:00:00", "2020-1-1@", "1969-12-31T23:59:59:5", "\"", "'", "\\", "\"a\\u0041\"", "'*a?'", "''", ".length", "__", "//", "/*", "*/", "--", "#", ";",
    "`", "\xEF\xBB\xBF", "\xC2\xA0", "\xF0\x9F\x98\x80", "\xC3\x86",
};
static const char* const limits[] = {
    "0", "-0", "1", "-1", "00", "08", "0x", "0x0", "0xFFFFFFFFFFFFFFFF", "0x7fffffffffffffff", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
    "-9223372036854775809", "18446744073709551615", "18446744073709551616", "4294967295", "4294967296", "2147483648", "-2147483649", "99999999999999999999999999999999999",
    "1e308", "1e309", "-1e309", "1e-400", "4.9e-324", "3.5e38f", "1e-46f", "0.1f", "1.", ".5", "1e", "1e+", "1e99999999999999999999", "0.1000000000000000055511151231257827",
    "9.999999999999999999999999999999999e6144", "1e6145", "1e-6176", "T9223372036854775807:999999999", "T9223372036854775808:0", "T0:1000000000", "T-9223372036854775808:-1",
    "99999999-99-99T99:99:99", "999999999999-01-01T00:00:00", "1899-12-31T00:00:00", "2038-01-19T03:14:08:2147483648", "O9223372036854775807", "O18446744073709551616", "L4294967296:0", "L0:9223372036854775807",
    "$4294967295", "$18446744073709551616", "$K99999999999999999999", "[9223372036854775807]", "[18446744073709551616]", "LIMIT(9223372036854775807)",
};
static const char* const bad_text[] = {"\xFF", "\x80", "\xC0\x80", "\xC3", "\xE2\x82", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xF0\x9F\x98", "\x01", "\x7F"};
static const char* const properties[] = {
    "id", "i", "i_n", "i_x", "b", "b_n", "s", "s_n", "s_x", "d", "d_n", "t", "t_n", "f", "f_n", "g", "g_n", "dec", "dec_n", "o", "o_n", "u", "u_n", "m", "link", "self", "emb", "l_i", "l_in", "l_s",
    "l_t", "l_g", "l_b", "l_d", "l_dec", "l_u", "l_o", "l_m", "l_link", "l_emb", "e_i", "e_s", "e_m", "e_u", "h_i", "h_s", "h_m", "h_link", "key", "n", "text", "linkers", "x", "name", "child", "v", "next",
};
static const char* const joints[] = {" AND ", " OR ", "&&", " || ", " "};
static const char* const brackets[][2] = {{"(", ")"}, {"NOT (", ")"}, {"!", ""}, {"NOT ", ""}, {"SUBQUERY(l_link, $x, ", ").@count > 0"}, {"(i == 1 OR ", ")"}, {"(i + ", ")"}, {"{", "}"}, {"[", "]"}};

/* ---- Damage ----------------------------------------------------------------------------------- */

#define MOST ((1 << 20) + 4096)
static char words_now[MOST + 1];
static size_t length;

/* Replaces `out` bytes at `at`, if the result fits. */
static void replace(size_t at, size_t out, const char* in, size_t n)
{
    if (length - out + n > MOST) return;
    memmove(words_now + at + n, words_now + at + out, length - at - out);
    memcpy(words_now + at, in, n);
    length += n - out;
}
static void insert(size_t at, const char* s) { replace(at, 0, s, strlen(s)); }

static int kind(unsigned char c)
{
    if (c >= 0x80 || c == '_' || c == '$' || (c | 32u) - 'a' < 26u || (c >= '0' && c <= '9')) return 1;
    return c <= ' ' ? 2 : 0;
}
/* Some token: a run of letters and digits, a quoted text, blanks, or a sign. */
static size_t token(size_t* n)
{
    *n = 0;
    if (!length) return 0;
    size_t at = below(length), end;
    int k = kind((unsigned char)words_now[at]);
    if (k == 0) {
        char quote = words_now[at];
        const char* close = quote == '"' || quote == '\'' ? memchr(words_now + at + 1, quote, length - at - 1) : NULL;
        *n = close ? (size_t)(close - words_now) + 1 - at : 1;
        return at;
    }
    while (at && kind((unsigned char)words_now[at - 1]) == k) at--;
    for (end = at; end < length && kind((unsigned char)words_now[end]) == k;) end++;
    *n = end - at;
    return at;
}
static void repeat(size_t at, size_t n, size_t times)
{
    static char all[MOST];
    if (!n || n > MOST / times) return;
    for (size_t i = 0; i < times; i++) memcpy(all + i * n, words_now + at, n);
    replace(at, 0, all, n * times);
}
static size_t many(void) { return one_in(200) ? 200 + below(4000) : one_in(10) ? 10 + below(100) : 1 + below(5); }

/* Makes one change in the text; mild: a change that often leaves a valid query. */
static void damage(bool mild)
{
    size_t n, at = token(&n), other, m, times;
    char first[1000], second[1000];
    const example_t* e;
    switch (mild ? 11 + below(7) : below(19)) {
    case 0: /* a byte */
        if (length) words_now[below(length)] = (char)(1 + below(255));
        break;
    case 1: /* a bit */
        if (length && (words_now[other = below(length)] ^ 1 << (m = below(8)))) words_now[other] = (char)(words_now[other] ^ 1 << m);
        break;
    case 2: /* a part is removed */
        at = below(length + 1), n = below(length - at > 20 ? 20 : length - at + 1);
        replace(at, n, "", 0);
        break;
    case 3: replace(at, n, "", 0); break;
    case 4: repeat(at, n, many()); break;
    case 5: /* a part is repeated */
        at = below(length + 1), n = below(length - at + 1);
        repeat(at, n, n > 100 ? 1 : many());
        break;
    case 6: /* two tokens change places */
        other = token(&m);
        if (other < at) times = at, at = other, other = times, times = n, n = m, m = times;
        if (at + n > other || n > sizeof first || m > sizeof second) break;
        memcpy(first, words_now + at, n), memcpy(second, words_now + other, m);
        replace(other, m, first, n), replace(at, n, second, m);
        break;
    case 7: insert(at, PICK(words)); break;
    case 8: replace(at, n, "", 0), insert(at, PICK(words)); break;
    case 9: replace(at, n, "", 0), insert(at, PICK(limits)); break;
    case 10: insert(below(length + 1), PICK(bad_text)); break;
    case 11: /* nesting, around the text or inside it */
        times = many(), n = below(mild ? 5 : sizeof brackets / sizeof *brackets);
        if (mild || one_in(2)) at = 0, other = length;
        else at = below(length + 1), other = at + below(length - at + 1);
        for (size_t i = 0; i < times && length < MOST / 2; i++) {
            insert(other, brackets[n][1]), insert(at, brackets[n][0]);
            at += strlen(brackets[n][0]), other += strlen(brackets[n][0]);
        }
        break;
    case 12: case 13: /* the tail of another, or all of it */
        e = &corpus[below(examples)];
        if (mild || one_in(2)) {
            if (mild) insert(0, "("), insert(length, ")");
            insert(length, PICK(joints)), replace(length, 0, e->text, e->length);
        } else {
            n = below(e->length + 1);
            at = below(length + 1);
            replace(at, length - at, e->text + n, e->length - n);
        }
        break;
    case 14: case 15: case 16: /* another property or number */
        for (size_t tries = 30; tries && kind((unsigned char)words_now[at]) != 1; tries--) at = token(&n);
        replace(at, n, "", 0);
        insert(at, words_now[at] >= '0' && words_now[at] <= '9' ? PICK(limits) : PICK(properties));
        break;
    case 17: /* other letter case */
        for (size_t i = at; i < at + n; i++) if (((unsigned char)words_now[i] | 32u) - 'a' < 26u) words_now[i] ^= 32;
        break;
    case 18: at = below(length + 1), replace(at, length - at, "", 0); break;
    }
}

/* ---- Arguments -------------------------------------------------------------------------------- */

static realm_value_t random_value(void)
{
    static const int64_t numbers[] = {0, 1, -1, 30, INT64_MAX, INT64_MIN, INT32_MAX, 1000000000, 7};
    static const double reals[] = {0, 1.5, -1e308, 1e-320, 0.1, 9007199254740993.0, __builtin_inf(), __builtin_nan(""), 30};
    static const char* const texts[] = {"", "a", "i", "l_i", "self.i", "link.n", "\xFF\xFE", "k1", "int", "30", "quick -fox", "*?*", ".", "a.", "@links.All.link.i", "\xED\xA0\x80"};
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = (realm_value_type_e)below(RLM_TYPE_DICTIONARY + (one_in(50) ? 9 : 1));
    const char* s = PICK(texts);
    switch ((int)v.type) {
    case RLM_TYPE_INT: v.integer = PICK(numbers); break;
    case RLM_TYPE_BOOL: v.boolean = one_in(2); break;
    case RLM_TYPE_STRING: v.string.data = s, v.string.size = strlen(s); break;
    case RLM_TYPE_BINARY: v.binary.data = one_in(4) ? NULL : (const uint8_t*)s, v.binary.size = v.binary.data ? strlen(s) : 0; break;
    case RLM_TYPE_TIMESTAMP: v.timestamp.seconds = PICK(numbers), v.timestamp.nanoseconds = (int32_t)PICK(numbers); break;
    case RLM_TYPE_FLOAT: v.fnum = (float)PICK(reals); break;
    case RLM_TYPE_DOUBLE: v.dnum = PICK(reals); break;
    case RLM_TYPE_DECIMAL128: v.decimal128.w[0] = next(), v.decimal128.w[1] = one_in(30) ? next() : (uint64_t)(6156 + below(40)) << 49 | (uint64_t)one_in(2) << 63; break;
    case RLM_TYPE_OBJECT_ID: v.object_id.bytes[11] = (uint8_t)next(); break;
    case RLM_TYPE_UUID: v.uuid.bytes[15] = (uint8_t)next(); break;
    case RLM_TYPE_LINK:
        v.link.target_table = one_in(8) ? (realm_class_key_t)next() : class_keys[below(classes)];
        v.link.target = one_in(8) ? (int64_t)next() : (int64_t)below(80);
        break;
    default: break;
    }
    return v;
}
static realm_query_arg_t random_arguments[3];
static size_t make_arguments(void)
{
    static realm_value_t values[3][9];
    size_t n = below(4);
    for (size_t i = 0; i < n; i++) {
        bool is_list = one_in(3);
        for (size_t k = 0; k < 9; k++) values[i][k] = random_value();
        random_arguments[i] = (realm_query_arg_t){is_list ? below(9) : one_in(20) ? below(9) : 1, is_list, values[i]};
        if (one_in(100)) random_arguments[i].arg = NULL;
    }
    return n;
}

/* ---- A round ---------------------------------------------------------------------------------- */

static struct shared { /* memory shared with the child */
    uint64_t round, parsed, refused, counted, slow, failed, longest;
    char text[MOST + 1];
}* shared;
static double slow = 50;
static size_t share = 16;

static double milliseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}
static void print_text(const char* s)
{
    size_t n = 0;
    for (; *s && n < 1500; s++, n++) (*s >= ' ' && *s < 127) || (unsigned char)*s >= 0x80 ? putchar(*s) : printf("<%02x>", (unsigned char)*s);
    printf("%s\n", *s ? " ..." : "");
}
static double started;
static void told(const char* what)
{
    double took = milliseconds() - started;
    if (took > slow) {
        shared->slow++;
        printf("slow: seed %" PRIu64 ": %s took %.0f ms, %zu bytes: ", shared->round, what, took, length);
        print_text(shared->text);
    }
    started = milliseconds();
}
static void fail(const char* what, const char* more)
{
    shared->failed++;
    printf("FAIL: seed %" PRIu64 ": %s: ", shared->round, what);
    print_text(shared->text);
    if (more) printf("      "), print_text(more);
}
static void error_must_be_known(void)
{
    const char* message = NULL;
    int number = last_error(&message);
    static const int known[] = {RLM_ERR_INVALID_QUERY_STRING, RLM_ERR_INVALID_QUERY, RLM_ERR_INVALID_QUERY_ARG, RLM_ERR_ILLEGAL_OPERATION, RLM_ERR_NOT_SUPPORTED, RLM_ERR_INVALID_ARGUMENT, RLM_ERR_LIMIT_EXCEEDED};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) if (known[i] == number) return;
    char line[40];
    snprintf(line, sizeof line, "refused with error %d", number);
    fail(line, message);
}

static void one_round(uint64_t seed)
{
    shared->round = seed;
    state = (seed + 1) * 0x9E3779B97F4A7C15u | 1;
    next(), next();
    const example_t* e = &corpus[below(examples)];
    memcpy(words_now, e->text, length = e->length);
    for (size_t n = 1 + below(one_in(3) ? 6 : 1), mild = one_in(2); n; n--) damage(mild);
    if (length > 20000 && !one_in(20)) length = 20000;
    words_now[length] = 0;
    length = strlen(words_now);
    memcpy(shared->text, words_now, length + 1);
    bool own = !one_in(4);
    size_t n = own ? e->arguments : make_arguments();
    const realm_query_arg_t* arguments = own ? e->argument : random_arguments;
    realm_class_key_t class = one_in(30) ? class_keys[below(classes)] : e->class;

    started = milliseconds();
    realm_query_t* query = F(realm_query_parse)(realm, class, words_now, n, arguments);
    told("parsing");
    if (!query) {
        shared->refused++;
        error_must_be_known();
        return;
    }
    shared->parsed++;
    if (length > shared->longest) shared->longest = length;
    const char* description = F(realm_query_get_description)(query);
    told("describing");
    if (!description) fail("accepted but has no description", NULL);
    realm_query_t* again = description ? F(realm_query_parse)(realm, class, description, 0, NULL) : NULL;
    told("parsing the description");
    if (description && !again) fail("its description is refused", description);
    if (share && one_in(share)) {
        size_t a = 0, b = 0;
        started = milliseconds();
        bool counted = F(realm_query_count)(query, &a);
        told("counting");
        shared->counted++;
        if (again && (F(realm_query_count)(again, &b) != counted || a != b)) fail("the description finds other rows", description);
    }
    F(realm_release)(again);
    F(realm_release)(query);
}

/* Ends the process after this many seconds of processor time, or after an hour of waiting. */
static void limit_work(unsigned seconds)
{
    struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(3600);
}
static int rounds(const char* corpus_name, uint64_t count, uint64_t seed)
{
    uint64_t from = 0, passed;
    while (from < count) {
        pid_t child = fork();
        if (child == 0) {
            open_file();
            if (!F(realm_get_class_keys)(realm, class_keys, MAX_CLASSES, &classes)) die("class keys");
            read_corpus(corpus_name);
            for (uint64_t i = from; i < count; i++) {
                limit_work(60);
                one_round(seed + i);
                if (i % 1000000 == 999999) fprintf(stderr, "%" PRIu64 " rounds\n", i + 1);
            }
            if (getenv("QUERIES_PRINT")) printf("%" PRIu64 " bytes: ", (uint64_t)length), print_text(shared->text);
            F(realm_close)(realm);
            F(realm_release)(realm);
            exit(0);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) < 0) {
            perror("fork");
            return 2;
        }
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) break;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 2 && !shared->text[0]) return 2; /* the file could not be opened */
        char what[60];
        if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF || WTERMSIG(status) == SIGALRM)) strcpy(what, "does not end");
        else snprintf(what, sizeof what, WIFSIGNALED(status) ? "ended by signal %d" : "ended with status %d", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        fail(what, NULL);
        from = shared->round - seed + 1;
    }
    passed = count - (shared->failed < count ? shared->failed : count);
    printf("%" PRIu64 " queries accepted (the longest %" PRIu64 " bytes), %" PRIu64 " refused, %" PRIu64 " counted, %" PRIu64 " slow calls\n", shared->parsed, shared->longest,
           shared->refused, shared->counted, shared->slow);
    printf("%" PRIu64 " passed, %" PRIu64 " failed\n", passed, shared->failed);
    return shared->failed != 0;
}

/* ---- Growth ----------------------------------------------------------------------------------- */

/* head, then `open` as often as it fits, middle, `close` as often, tail; # is the number of the repetition. */
static const struct shape { const char *head, *open, *middle, *close, *tail; } shapes[] = {
    {"", "(", "i == 1", ")", ""}, {"", "(", "i == 1", "", ""}, {"", ")", "", "", ""}, {"", "((i == 1) AND ", "i == 1", ")", ""}, {"", "(i == 1)", "", "", ""},
    {"", "NOT ", "i == 1", "", ""}, {"", "!", "i == 1", "", ""}, {"", "NOT (", "i == 1", ")", ""}, {"i == 1", " AND NOT i == #", "", "", ""},
    {"i == 1", " AND i == 1", "", "", ""}, {"i == 1", " AND i > #", "", "", ""}, {"i == 1", " OR i == #", "", "", ""}, {"i == 1", " OR s == '#'", "", "", ""},
    {"i == 1", " OR s_x == 'k#'", "", "", ""}, {"i == 1", " OR link.n == #", "", "", ""}, {"id == 1", " OR id == #", "", "", ""}, {"i == 1", " AND i == 1 OR i == #", "", "", ""},
    {"", "i == # AND (i == 1 OR ", "i == 1", ")", ""}, {"TRUEPREDICATE", " AND TRUEPREDICATE", "", "", ""}, {"m == 1", " OR m == #.5", "", "", ""},
    {"", "a.", "a == 1", "", ""}, {"", "self.", "i == 1", "", ""}, {"", "l_link.linkers.", "i == 1", "", ""}, {"", "@links.All.self.", "i == 1", "", ""},
    {"", "@links.", "All.self.i == 1", "", ""}, {"i == 1", " AND @links.All.self.i == 1", "", "", ""}, {"i == 1", " OR self.self.self.i == #", "", "", ""},
    {"", "SUBQUERY(l_link, $x, ", "n == 1", ").@count > 0", ""}, {"", "SUBQUERY(linkers, $x#, ", "n == 1", ").@count > 0", ""}, {"i == 1", " AND SUBQUERY(l_link, $x, $x.n > #).@count > 0", "", "", ""},
    {"SUBQUERY(l_link, $x, $x.n == 1", " OR $x.n == #", "", "", ").@count > 0"}, {"i", " + 1", "", "", " == 1"}, {"i == 1", " + 1", "", "", ""}, {"i", " + i * #", "", "", " == 1"}, {"i", " - f / 2.0 * #", "", "", " == 1"},
    {"", "(i + ", "1", ")", " == 1"}, {"", "(", "i", " * 2)", " == 1"}, {"l_i", " + 1", "", "", " == 1"}, {"m", " + 1", "", "", " == 1"},
    {"i IN {1", ", #", "", "", "}"}, {"s IN {'a'", ", 'k#'", "", "", "}"}, {"m IN {1", ", 'k#', #.5", "", "", "}"}, {"i IN {", "$0, ", "1", "", "}"}, {"i == ALL {1", ", #", "", "", "}"}, {"l_i == {1", ", #", "", "", "}"},
    {"dec IN {1", ", #.25", "", "", "}"}, {"t IN {T0:0", ", T#:0", "", "", "}"}, {"link IN {O1", ", O#", "", "", "}"}, {"link IN {O1", ", obj('Str', 'key-#')", "", "", "}"}, {"link IN {O1", ", L1:#", "", "", "}"},
    {"i IN {", ",", "", "", "}"}, {"", "{", "", "}", ""}, {"i IN ", "{1, ", "", "}", ""}, {"u IN {", "uuid(00000000-0000-0000-0000-000000000001), ", "uuid(00000000-0000-0000-0000-000000000001)", "", "}"},
    {"s == '", "\\n", "", "", "'"}, {"s == '", "\\u0041", "", "", "'"}, {"s == '", "ab", "", "", "'"}, {"s == '", "ab", "", "", ""}, {"", "'", "", "", ""}, {"", "\"'", "", "", ""}, {"s == '", "\xC3\xA9", "", "", "'"}, {"s ==[c] '", "\xC3\x89", "", "", "'"},
    {"s == B64\"", "QUJD", "", "", "\""}, {"", "B64\"", "", "", ""}, {"s == B64\"", "QUJD", "", "", ""}, {"d == binary(\"", "ab", "", "", "\")"}, {"s LIKE '", "*a", "", "", "'"}, {"s LIKE '", "?*", "", "", "'"}, {"s LIKE '", "*", "", "", "'"}, {"s CONTAINS[c] '", "ab", "", "", "'"},
    {"s == '\xFF", "\x80", "", "", "'"}, {"", "\xC3\xA9", "", "", " == 1"}, {"", "a", "", "", " == 1"}, {"", "a\\ ", "", "", "b == 1"}, {"", "a-", "", "", "b == 1"}, {"i == ", "1", "", "", ""}, {"i == 1.", "1", "", "", ""}, {"dec == 1.", "1", "", "", ""}, {"i == 1e", "1", "", "", ""}, {"i == 0x", "f", "", "", ""}, {"i == ", "-", "", "", "1"}, {"i == ", "+1", "", "", ""}, {"i == ", "1.", "", "", ""}, {"t == T1:", "0", "", "", ""}, {"t == T", "-1:", "", "", ""}, {"t == ", "2020-01-01T", "", "", ""}, {"t == 1", "0", "", "", "-01-01T00:00:00"},
    {"", " ", "", "", "i == 1"}, {"i == 1", "\n", "", "", ""}, {"", "//", "", "", " i == 1"}, {"", "/*", "i == 1", "*/", ""}, {"i ", "=", "", "", " 1"}, {"i ", "<>", "", "", " 1"}, {"i == 1 ", "&", "", "", ""}, {"i == 1 ", "&&", "", "", " i == 1"}, {"", ".", "", "", ""}, {"", ",", "", "", ""}, {"", "@", "", "", ""}, {"", "$", "", "", ""}, {"", "O1 ", "", "", ""}, {"L1:", "1", "", "", " == link"}, {"", "uuid(", "", "", ""}, {"", "oid(0", "", "", ""}, {"", "inf ", "", "", ""}, {"", "-inf", "", "", ""},
    {"i == 1", " SORT(i ASC)", "", "", ""}, {"i == 1 SORT(i ASC", ", i ASC", "", "", ")"}, {"i == 1 SORT(i ASC", ", self.s ASC", "", "", ")"}, {"i == 1", " DISTINCT(i)", "", "", ""}, {"i == 1 DISTINCT(i", ", s", "", "", ")"}, {"i == 1", " LIMIT(#)", "", "", ""}, {"i == 1", " SORT(i ASC) LIMIT(#)", "", "", ""}, {"i == 1 SORT(", "self.", "i ASC", "", ")"}, {"i == 1 SORT(", "(", "i ASC", ")", ")"},
    {"i == $0", " OR i == $0", "", "", ""}, {"i == $", "0", "", "", ""}, {"i == $", "9", "", "", ""}, {"", "$0 ", "", "", ""}, {"$K1 == 1", " OR $K1 == #", "", "", ""}, {"", "$K1.", "i == 1", "", ""},
    {"i BETWEEN {1, 2}", " AND i BETWEEN {1, #}", "", "", ""}, {"i BETWEEN {1", ", #", "", "", "}"}, {"i BETWEEN ", "{", "1", "}", ""}, {"i", " BETWEEN {1, 2}", "", "", ""},
    {"l_i[0] == 1", " AND l_i[#] == 1", "", "", ""}, {"m", "[0]", "", "", " == 1"}, {"m", "[*]", "", "", " == 1"}, {"m", "['k']", "", "", " == 1"}, {"m", ".k", "", "", " == 1"}, {"l_link", "[0]", "", "", ".n == 1"}, {"h_i['", "k", "", "", "'] == 1"}, {"i", "[", "0", "]", " == 1"}, {"", "[", "", "]", ""},
    {"", "ANY ", "l_i == 1", "", ""}, {"ALL l_i == 1", " AND ALL l_i == #", "", "", ""}, {"l_i.@sum == 1", " OR l_link.@avg.n == #", "", "", ""}, {"l_i", ".@sum", "", "", " == 1"}, {"l_i", ".@count", "", "", " == 1"}, {"m.@type == 'int'", " OR m.@type == 'string'", "", "", ""}, {"m.@type IN {'int'", ", 'string'", "", "", "}"},
    {"link.text TEXT '", "quick ", "", "", "'"}, {"link.text TEXT '", "-quick fox", "", "", "'"}, {"link.text TEXT '", "q* ", "", "", "'"}, {"emb GEOWITHIN geoPolygon({[0,0]", ", [1,#]", "", "", "})"}, {"emb GEOWITHIN geoPolygon({[0,0],[0,1],[1,1]}", ", {[0,0],[0,1],[1,1]}", "", "", ")"}, {"s == NULL", " OR s_n == NULL", "", "", ""}, {"i == 1", " OR l_link == O#", "", "", ""},
    {"i > self.i", " AND i > self.i + #", "", "", ""}, {"s CONTAINS 'a'", " OR s CONTAINS 'k#'", "", "", ""}, {"s LIKE 'a*'", " OR s LIKE '*k#*'", "", "", ""}, {"linkers == NULL", " OR h_i['k#'] == 1", "", "", ""},
};

static void append(const char* s, size_t number)
{
    for (; *s && length < MOST; s++) {
        if (*s == '#') length += (size_t)snprintf(words_now + length, 21, "%zu", number);
        else words_now[length++] = *s;
    }
}
static void shape_text(const struct shape* shape, size_t bytes)
{
    size_t each = strlen(shape->open) + strlen(shape->close), n = 0;
    if (strchr(shape->open, '#')) each += 5;
    length = 0;
    append(shape->head, 0);
    for (; (n + 1) * each < bytes && length < bytes; n++) append(shape->open, n % 100000);
    append(shape->middle, 0);
    for (size_t i = 0; i < n; i++) append(shape->close, i);
    append(shape->tail, 0);
    words_now[length] = 0;
}
/* Milliseconds to parse, describe and count. */
static const char* measure(realm_class_key_t class, const realm_query_arg_t* arguments, double out[3])
{
    const char* answer = "refused";
    started = milliseconds();
    realm_query_t* query = F(realm_query_parse)(realm, class, words_now, 2, arguments);
    out[0] = milliseconds() - started, out[1] = out[2] = 0;
    if (query) {
        size_t n;
        const char* message;
        started = milliseconds();
        answer = F(realm_query_get_description)(query) ? "accepted" : "no description";
        out[1] = milliseconds() - started;
        started = milliseconds();
        if (!F(realm_query_count)(query, &n)) last_error(&message), answer = "fails when run";
        out[2] = milliseconds() - started;
    }
    started = milliseconds();
    F(realm_release)(query);
    out[0] += milliseconds() - started;
    return answer;
}

/* Lowers the time of each stage to the minimum of `times` measurements of a text of `bytes`. */
static const char* least(size_t shape, size_t bytes, int times, realm_class_key_t class, const realm_query_arg_t* arguments, double out[3])
{
    const char* answer = "";
    shape_text(&shapes[shape], bytes);
    while (times-- > 0) {
        double took[3];
        answer = measure(class, arguments, took);
        for (int k = 0; k < 3; k++) if (took[k] < out[k]) out[k] = took[k];
        if (took[0] + took[1] + took[2] > 500) break;
    }
    return answer;
}
/* Whether the work grew with more than the power 3/2 of the length: linear work has power 1, work that reads the whole
 * text for each part of it power 2. Between texts of which one is 32 times as long, other load on the machine would
 * have to make the longer one alone take six times as long. */
static bool grew(double less, double more, double factor) { return more / less * (more / less) > factor * factor * factor; }

static int growth(size_t most)
{
    static const char* const stages[] = {"parse", "describe", "count"};
    size_t passed = 0, failed = 0;
    realm_value_t values[2] = {{.type = RLM_TYPE_INT}, {.type = RLM_TYPE_STRING}};
    values[0].integer = 1, values[1].string.data = "i", values[1].string.size = 1;
    realm_query_arg_t arguments[2] = {{1, false, &values[0]}, {1, false, &values[1]}};
    realm_class_info_t class;
    bool found;
    if (!F(realm_find_class)(realm, "All", &found, &class) || !found) die("class");
    if (most >= MOST - 2048) most = 1 << 20;
    printf("%-44s %-14s %28s %28s\n", "shape", "", "milliseconds", "times linear");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        enum { SHORT = 2048 };
        double less[3] = {1e9, 1e9, 1e9}, more[3], factor = 1;
        bool bad = false;
        char name[60];
        snprintf(name, sizeof name, "%.14s %.24s %.10s", shapes[i].head, shapes[i].open, shapes[i].middle);
        for (char* c = name; *c; c++) if ((unsigned char)*c < ' ' || (unsigned char)*c > 126) *c = '.';
        const char* answer = least(i, SHORT, 10, class.key, arguments, less);
        memcpy(more, less, sizeof more);
        for (size_t bytes = 2 * SHORT; bytes <= most && more[0] + more[1] + more[2] < 5000; bytes *= 2) {
            factor = (double)(bytes / SHORT);
            for (int k = 0; k < 3; k++) more[k] = 1e9;
            answer = least(i, bytes, 2, class.key, arguments, more);
        }
        for (int k = 0; k < 3; k++) {
            for (int again = 0; again < 10 && grew(less[k], more[k], factor); again++) {
                least(i, SHORT, 1, class.key, arguments, less);
                least(i, SHORT * (size_t)factor, 1, class.key, arguments, more);
            }
            if (!grew(less[k], more[k], factor)) continue;
            bad = true;
            printf("FAIL: %s takes more than linear time (%.0f times as much for %.0f times as much text): %s\n", stages[k], more[k] / less[k], factor, name);
        }
        bad ? failed++ : passed++;
        printf("%-44s %-14s %8.1f %9.1f %9.1f", name, answer, more[0], more[1], more[2]);
        for (int k = 0; k < 3; k++) printf(" %8.1f", less[k] > 0 ? more[k] / less[k] / factor : 0);
        printf("\n");
    }
    printf("%zu passed, %zu failed\n", passed, failed);
    return failed != 0;
}

int main(int argc, char** argv)
{
    bool grows = argc >= 4 && argc <= 5 && !strcmp(argv[3], "--growth");
    if (!grows && (argc < 6 || argc > 7)) {
        fprintf(stderr, "usage: queries LIBRARY FILE CORPUS COUNT SEED [SHARE]\n       queries LIBRARY FILE --growth [BYTES]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    load_library(argv[1]);
    path = argv[2];
    readonly = true;
    if (getenv("QUERIES_SLOW")) slow = atof(getenv("QUERIES_SLOW"));
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        perror("mmap");
        return 2;
    }
    if (grows) {
        open_file();
        return growth(argc == 5 ? strtoul(argv[4], NULL, 10) : 1 << 20);
    }
    if (argc == 7) share = strtoul(argv[6], NULL, 10);
    return rounds(argv[3], strtoull(argv[4], NULL, 10), strtoull(argv[5], NULL, 10));
}
