/*
 * monkey.cpp - random calls of the whole C API, seeded: valid, borderline and invalid arguments on live and dead handles, in
 * and out of transactions, on two realms of one file, with rollbacks, closes and opens. The same seed makes the same
 * calls with every library that gives the same results, so that two libraries can be compared.
 *
 *     monkey LIBRARY FOLDER FIRST LAST [--calls N] [--gentle] [--trace] [--keep] [--no-verify] [--skip 3,5,...]
 *
 * For each sequence one line on standard output: `seed digest calls faults`, where the digest is over all calls and
 * their results. With --trace each call is printed before that, with its result, on one line. After the sequence
 * crealm_verify runs on a new realm, if the library has it; its findings are printed and counted as faults. The line `?
 * seed` precedes each sequence, so that the last sequence of a crashed run is known. With --gentle, calls that crash
 * some other libraries with this interface are skipped; each is marked by a comment. A call depends on earlier calls
 * only through the handles that they made. So --skip can skip calls, to find those that a fault needs. With --keep the
 * files stay; otherwise each sequence removes its file.
 */
#include <dlfcn.h>
#include <cinttypes>
#include <csignal>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#include <unistd.h>

#include <realm.h>

namespace {

void* library;
void* symbol(const char* name, bool required) {
    void* found = dlsym(library, name);
    if (!found && required) {
        fprintf(stderr, "missing symbol %s\n", name);
        exit(3);
    }
    return found;
}
/* A function of the library, looked up when it is first called. */
#define F(name)                                                                     \
    ([]() -> decltype(&name) {                                                      \
        static auto f = reinterpret_cast<decltype(&name)>(symbol(#name, true));     \
        return f;                                                                   \
    }())

/* ---- Chance ----------------------------------------------------------------------------------- */

uint64_t state;
uint64_t next_word() { /* splitmix64 */
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}
size_t below(size_t n) { return n ? next_word() % n : 0; }
bool chance(unsigned percent) { return below(100) < percent; }

/* ---- Reports ----------------------------------------------------------------------------------- */

bool tracing, gentle;
std::unordered_set<int> skipped;
uint64_t digest;
std::string line;
void say(const char* format, ...) __attribute__((format(printf, 1, 2)));
void say(const char* format, ...) {
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    line += text;
}
/* Error numbers are printed but not part of the digest: libraries may check several causes in different order. */
std::string numbers;
void end_line() {
    for (unsigned char c : line) digest = (digest ^ c) * 0x100000001B3u;
    if (tracing) printf("%s%s\n", line.c_str(), numbers.c_str()), fflush(stdout);
    line.clear(), numbers.clear();
}

/* The call that crashes the process is printed, too. */
void last_words(int signal_number) {
    static const char start[] = "! died in ";
    if (write(1, start, sizeof start - 1) < 0 || write(1, line.data(), line.size()) < 0 || write(1, "\n", 1) < 0) _exit(1);
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* ---- Values ------------------------------------------------------------------------------------ */

realm_value_t of_type(realm_value_type_e type) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = type;
    return v;
}
const char* const words[] = {"", "a", "b", "abc", "a longer text that does not fit into a small leaf of sixteen bytes", "\xC3\xA9", "e\xCC\x81", "A",
                             "some words to find", "$key", "a.b", "two words", "x"};
constexpr size_t word_count = sizeof words / sizeof *words;
realm_value_t text(const char* s) {
    realm_value_t v = of_type(RLM_TYPE_STRING);
    v.string.data = s, v.string.size = strlen(s);
    return v;
}
const std::string long_text(3000, 'l');
realm_value_t any_text() {
    if (chance(3)) return text(long_text.c_str());
    if (chance(1)) { /* no bytes: empty, not null */
        realm_value_t v = of_type(RLM_TYPE_STRING);
        return v;
    }
    return text(words[below(word_count)]);
}
int64_t any_integer() {
    static const int64_t edges[] = {0, 1, -1, 2, 3, 15, 16, 127, 128, -128, -129, 255, 32767, 32768, 1ll << 31,
                                    -(1ll << 31) - 1, INT64_MAX, INT64_MIN};
    return chance(60) ? int64_t(below(8)) : edges[below(sizeof edges / sizeof *edges)];
}
realm_value_t any_link();
realm_value_t value_of(int kind) {
    realm_value_t v = of_type(RLM_TYPE_NULL);
    switch (kind) {
        case 0: v.type = RLM_TYPE_INT, v.integer = any_integer(); break;
        case 1: v.type = RLM_TYPE_BOOL, v.boolean = below(2) != 0; break;
        case 2: v = any_text(); break;
        case 3: v = any_text(), v.type = RLM_TYPE_BINARY; break;
        case 4:
            v.type = RLM_TYPE_TIMESTAMP, v.timestamp.seconds = gentle ? int64_t(below(9)) - 4 : any_integer();
            v.timestamp.nanoseconds = int32_t(below(3)) * 400000000;
            if (v.timestamp.seconds < 0) v.timestamp.nanoseconds *= -1;
            break;
        case 5: v.type = RLM_TYPE_FLOAT, v.fnum = float(int(below(9)) - 4) / 2; break;
        case 6: {
            static const double edges[] = {0, 1, -1.5, 1e300, -1e-300, 3};
            v.type = RLM_TYPE_DOUBLE, v.dnum = edges[below(6)];
            break;
        }
        case 7:
            v.type = RLM_TYPE_DECIMAL128, v.decimal128.w[0] = below(20);
            v.decimal128.w[1] = 0x3040000000000000u | uint64_t(below(2)) << 63;
            break;
        case 8: v.type = RLM_TYPE_OBJECT_ID, v.object_id.bytes[0] = uint8_t(below(3)), v.object_id.bytes[11] = uint8_t(below(4)); break;
        case 9: v.type = RLM_TYPE_UUID, v.uuid.bytes[0] = uint8_t(below(3)), v.uuid.bytes[15] = uint8_t(below(4)); break;
        case 10: v = any_link(); break;
        default: break;
    }
    return v;
}
realm_value_t any_value() { return value_of(int(below(12))); }

void say_value(const realm_value_t& v) {
    switch (v.type) {
        case RLM_TYPE_NULL: say("null"); break;
        case RLM_TYPE_INT: say("%" PRId64, v.integer); break;
        case RLM_TYPE_BOOL: say(v.boolean ? "true" : "false"); break;
        case RLM_TYPE_STRING: say("'%.*s'", int(v.string.size > 40 ? 40 : v.string.size), v.string.data ? v.string.data : ""); break;
        case RLM_TYPE_BINARY:
            say("b'%.*s'", int(v.binary.size > 40 ? 40 : v.binary.size), v.binary.data ? reinterpret_cast<const char*>(v.binary.data) : ""); break;
        case RLM_TYPE_TIMESTAMP: say("t%" PRId64 ".%d", v.timestamp.seconds, int(v.timestamp.nanoseconds)); break;
        case RLM_TYPE_FLOAT: say("%gf", double(v.fnum)); break;
        case RLM_TYPE_DOUBLE: say("%gd", v.dnum); break;
        case RLM_TYPE_DECIMAL128: say("D%" PRIx64 ":%" PRIx64, v.decimal128.w[1], v.decimal128.w[0]); break;
        case RLM_TYPE_OBJECT_ID: say("o%d-%d", v.object_id.bytes[0], v.object_id.bytes[11]); break;
        case RLM_TYPE_UUID: say("u%d-%d", v.uuid.bytes[0], v.uuid.bytes[15]); break;
        case RLM_TYPE_LINK: say("@%u/%" PRId64, v.link.target_table, v.link.target); break;
        case RLM_TYPE_LIST: say("list"); break;
        case RLM_TYPE_DICTIONARY: say("dict"); break;
        default: say("type %d", int(v.type)); break;
    }
}

/* ---- Schema ------------------------------------------------------------------------------------ */

realm_property_info_t property(const char* name, realm_property_type_e type, realm_collection_type_e collection, const char* target, int flags) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = "", p.link_target = target, p.link_origin_property_name = "";
    p.type = type, p.collection_type = collection, p.key = RLM_INVALID_PROPERTY_KEY, p.flags = flags;
    return p;
}
realm_class_info_t class_info(const char* name, const char* primary_key, size_t stored, int flags) {
    realm_class_info_t c;
    memset(&c, 0, sizeof c);
    c.name = name, c.primary_key = primary_key, c.num_properties = stored, c.key = RLM_INVALID_CLASS_KEY, c.flags = flags;
    return c;
}
const auto NONE = RLM_COLLECTION_TYPE_NONE, LIST = RLM_COLLECTION_TYPE_LIST, SET = RLM_COLLECTION_TYPE_SET, DICT = RLM_COLLECTION_TYPE_DICTIONARY;
const auto OBJECT = RLM_PROPERTY_TYPE_OBJECT, MIXED = RLM_PROPERTY_TYPE_MIXED;
const int NULLABLE = RLM_PROPERTY_NULLABLE, INDEXED = RLM_PROPERTY_INDEXED;
const realm_property_type_e scalars[] = {RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_TYPE_BOOL, RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_TYPE_BINARY,
                                         RLM_PROPERTY_TYPE_TIMESTAMP, RLM_PROPERTY_TYPE_FLOAT, RLM_PROPERTY_TYPE_DOUBLE, RLM_PROPERTY_TYPE_DECIMAL128,
                                         RLM_PROPERTY_TYPE_OBJECT_ID, RLM_PROPERTY_TYPE_UUID};

/* Classes All (everything), Keyed (Int key), Named (nullable String key), Part and Bit (embedded). */
realm_schema_t* make_schema() {
    realm_property_info_t all[] = {
        property("n", scalars[0], NONE, "", 0), property("b", scalars[1], NONE, "", NULLABLE), property("s", scalars[2], NONE, "", INDEXED),
        property("sn", scalars[2], NONE, "", NULLABLE), property("d", scalars[3], NONE, "", 0), property("t", scalars[4], NONE, "", INDEXED),
        property("f", scalars[5], NONE, "", 0), property("g", scalars[6], NONE, "", NULLABLE), property("c", scalars[7], NONE, "", 0),
        property("o", scalars[8], NONE, "", INDEXED | NULLABLE), property("u", scalars[9], NONE, "", 0),
        property("ni", scalars[0], NONE, "", NULLABLE | INDEXED),
        property("m", MIXED, NONE, "", NULLABLE), property("mi", MIXED, NONE, "", gentle ? NULLABLE : NULLABLE | INDEXED),
        property("words", scalars[2], NONE, "", RLM_PROPERTY_FULLTEXT_INDEXED), property("to", OBJECT, NONE, "All", NULLABLE),
        property("key", OBJECT, NONE, "Keyed", NULLABLE), property("part", OBJECT, NONE, "Part", NULLABLE), property("ln", scalars[0], LIST, "", 0),
        property("ls", scalars[2], LIST, "", NULLABLE), property("lm", MIXED, LIST, "", NULLABLE), property("lo", OBJECT, LIST, "All", 0),
        property("lk", OBJECT, LIST, "Keyed", 0), property("lp", OBJECT, LIST, "Part", 0), property("xn", scalars[0], SET, "", 0),
        property("xs", scalars[2], SET, "", NULLABLE), property("xm", MIXED, SET, "", NULLABLE), property("xo", OBJECT, SET, "All", 0),
        property("dn", scalars[0], DICT, "", 0), property("dm", MIXED, DICT, "", NULLABLE), property("dox", OBJECT, DICT, "All", NULLABLE),
        property("dp", OBJECT, DICT, "Part", NULLABLE), property("ds", scalars[2], DICT, "", NULLABLE)};
    realm_property_info_t keyed[] = {property("id", scalars[0], NONE, "", RLM_PROPERTY_PRIMARY_KEY), property("all", OBJECT, NONE, "All", NULLABLE),
                                     property("many", OBJECT, LIST, "All", 0)};
    realm_property_info_t named[] = {property("id", scalars[2], NONE, "", RLM_PROPERTY_PRIMARY_KEY | NULLABLE),
                                     property("any", MIXED, NONE, "", NULLABLE)};
    realm_property_info_t part[] = {property("n", scalars[0], NONE, "", 0), property("bit", OBJECT, NONE, "Bit", NULLABLE),
                                    property("bits", OBJECT, LIST, "Bit", 0), property("up", OBJECT, NONE, "All", NULLABLE)};
    realm_property_info_t bit[] = {property("n", scalars[0], NONE, "", 0)};
    realm_class_info_t classes[] = {class_info("All", "", sizeof all / sizeof *all, 0), class_info("Keyed", "id", 3, 0),
                                    class_info("Named", "id", 2, 0),
                                    class_info("Part", "", 4, RLM_CLASS_EMBEDDED), class_info("Bit", "", 1, RLM_CLASS_EMBEDDED)};
    const realm_property_info_t* properties[] = {all, keyed, named, part, bit};
    return F(realm_schema_new)(classes, 5, properties);
}
const char* const class_names[] = {"All", "Keyed", "Named", "Part", "Bit"};

/* ---- Handles ----------------------------------------------------------------------------------- */

std::string path;
realm_t* realms[2];
std::vector<realm_object_t*> objects;
std::vector<realm_list_t*> lists;
std::vector<realm_set_t*> sets;
std::vector<realm_dictionary_t*> dictionaries;
std::vector<realm_results_t*> results;
std::vector<realm_query_t*> queries;
realm_class_key_t classes[6];
std::vector<realm_property_key_t> properties[6];

constexpr size_t most_handles = 24;
/* The kind of rows of objects: within a limit, all of a class, or others. */
enum Rows { some, limited, whole };
/* Facts about a handle's realm, and about the elements of a collection, which not every library can report. */
struct Facts { realm_property_type_e type; int flags; Rows rows = some; int realm = 0; };
const Facts anything = {RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE};
const Facts of_objects = {RLM_PROPERTY_TYPE_OBJECT, 0};
const Facts of_all_objects = {RLM_PROPERTY_TYPE_OBJECT, 0, whole}, of_first_objects = {RLM_PROPERTY_TYPE_OBJECT, 0, limited};
std::unordered_map<const void*, Facts> known;
int from; /* the realm that the last call was made on, or whose handle was picked */
/* Stores a new handle; it replaces another one when there are many. */
template <class T> void hold(std::vector<T*>& all, T* handle, Facts facts = anything) {
    if (!handle) return;
    known[handle] = facts, known[handle].realm = from;
    if (all.size() < most_handles) {
        all.push_back(handle);
        return;
    }
    size_t i = below(all.size());
    F(realm_release)(all[i]);
    all[i] = handle;
}
template <class T> T* pick(std::vector<T*>& all) {
    if (all.empty()) return nullptr;
    size_t i = chance(50) && all.size() > 6 ? all.size() - 1 - below(6) : below(all.size());
    say("#%zu ", i);
    from = known[all[i]].realm;
    return all[i];
}
template <class T> void drop_all(std::vector<T*>& all) {
    for (T* handle : all) F(realm_release)(handle);
    all.clear();
}
void drop_everything() { drop_all(objects), drop_all(lists), drop_all(sets), drop_all(dictionaries), drop_all(results), drop_all(queries); }
realm_value_t any_link() {
    realm_value_t v = of_type(RLM_TYPE_LINK);
    if (!objects.empty() && chance(90)) {
        const realm_object_t* target = objects[below(objects.size())];
        v.link = F(realm_object_as_link)(target);
        /* In other libraries a link that is refused because its target was deleted leaves wrong backlinks. */
        bool embedded = v.link.target_table == classes[3] || v.link.target_table == classes[4];
        if (gentle && (embedded || !F(realm_object_is_valid)(target))) return of_type(RLM_TYPE_NULL);
    } else if (gentle) {
        return of_type(RLM_TYPE_NULL);
    } else {
        v.link.target_table = chance(80) ? classes[below(5)] : 9999, v.link.target = int64_t(below(12)) - 1;
    }
    return v;
}

bool yes(realm_userdata_t) { return true; }
bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
void nothing(realm_userdata_t) {}
void notify(realm_userdata_t, realm_work_queue_t*) {}

int error_number() {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    int number = F(realm_get_last_error)(&error) ? int(error.error) : 0;
    F(realm_clear_last_error)();
    return number;
}
realm_t* open_realm() {
    realm_config_t* config = F(realm_config_new)();
    realm_schema_t* schema = make_schema();
    realm_scheduler_t* scheduler = F(realm_scheduler_new)(nullptr, nothing, notify, yes, same, yes);
    F(realm_config_set_path)(config, path.c_str());
    F(realm_config_set_schema)(config, schema);
    F(realm_config_set_schema_version)(config, 1);
    F(realm_config_set_scheduler)(config, scheduler);
    F(realm_config_set_automatic_change_notifications)(config, false);
    F(realm_config_set_cached)(config, false);
    realm_t* realm = F(realm_open)(config);
    F(realm_release)(scheduler), F(realm_release)(schema), F(realm_release)(config);
    /* In other libraries looking up a property begins a read transaction. */
    if (gentle && realm) F(realm_begin_read)(realm);
    return realm;
}
void read_keys(realm_t* realm) {
    for (int c = 0; c < 5; c++) {
        bool found = false;
        realm_class_info_t info;
        properties[c].clear();
        if (!F(realm_find_class)(realm, class_names[c], &found, &info) || !found) continue;
        classes[c] = info.key;
        realm_property_key_t keys[64];
        size_t n = 0;
        F(realm_get_property_keys)(realm, info.key, keys, 64, &n);
        for (size_t i = 0; i < n && i < 64; i++) properties[c].push_back(keys[i]);
    }
}

/* ---- Calls that crash other libraries --------------------------------------------------------------- */

/* Whether a Mixed property or element has a collection of the wanted kind. */
bool holds(const realm_object_t* o, realm_property_key_t k, realm_value_type_e wanted) {
    realm_value_t v = of_type(RLM_TYPE_NULL);
    return (F(realm_get_value)(o, k, &v) && v.type == wanted) || (error_number(), false);
}
bool holds(const realm_list_t* l, size_t i, realm_value_type_e wanted) {
    realm_value_t v = of_type(RLM_TYPE_NULL);
    return (F(realm_list_get)(l, i, &v) && v.type == wanted) || (error_number(), false);
}
bool holds(const realm_dictionary_t* d, realm_value_t k, realm_value_type_e wanted) {
    realm_value_t v = of_type(RLM_TYPE_NULL);
    bool found = false;
    return (F(realm_dictionary_find)(d, k, &v, &found) && found && v.type == wanted) || (error_number(), false);
}

/* In other libraries a change that is refused outside of a write transaction frees the old value's space, and later
   commits overwrite it. */
bool refused(bool changes) {
    return gentle && changes && !F(realm_is_writable)(realms[from]) && (say("left out"), true);
}

/* ---- Arguments ---------------------------------------------------------------------------------- */

int which_realm() {
    int i = chance(75) ? 0 : 1;
    say("r%d ", i);
    return from = i;
}
realm_class_key_t any_class() {
    size_t i = chance(55) ? 0 : below(6);
    realm_class_key_t key = i < 5 ? classes[i] : 12345;
    say("%s ", i < 5 ? class_names[i] : "none");
    return key;
}
/* A property of the object's class, of another class, or of no class. */
realm_property_key_t any_property(const realm_object_t* o, realm_property_info_t* info = nullptr) {
    realm_class_key_t table = F(realm_object_get_table)(o);
    int c = 0;
    for (int i = 0; i < 5; i++) if (classes[i] == table) c = i;
    if (chance(2)) c = int(below(5));
    if (chance(1) || properties[c].empty()) return say("none "), 77;
    realm_property_key_t key = properties[c][below(properties[c].size())];
    realm_property_info_t found;
    memset(&found, 0, sizeof found);
    if (F(realm_get_property)(realms[0], classes[c], key, &found)) say("%s.%s ", class_names[c], found.name);
    if (info) *info = found;
    return key;
}
/* A property to store a single value in, most of the time. */
realm_property_key_t single_property(const realm_object_t* o, realm_property_info_t* info) {
    std::string kept = line;
    realm_property_key_t key = 77;
    for (int tries = 0; tries < 8; tries++) {
        line = kept;
        memset(info, 0, sizeof *info);
        key = any_property(o, info);
        if (info->collection_type == NONE || chance(4)) break;
    }
    return key;
}
realm_property_key_t property_named(int c, const char* name) {
    realm_property_info_t info;
    bool found = false;
    memset(&info, 0, sizeof info);
    say("%s.%s ", class_names[c], name);
    return F(realm_find_property)(realms[0], classes[c], name, &found, &info) && found ? info.key : 77;
}
/* A property of collection kind `wanted`, most of the time. */
realm_property_key_t collection_property(const realm_object_t* o, int wanted, realm_property_info_t& info) {
    std::string kept = line;
    realm_property_key_t key = 77;
    for (int tries = 0; tries < 12; tries++) {
        line = kept;
        memset(&info, 0, sizeof info);
        key = any_property(o, &info);
        if (int(info.collection_type) == wanted || (info.type == MIXED && chance(30)) || chance(3)) break;
    }
    return key;
}
realm_value_t value_for(const Facts& info) {
    if (chance(12)) return any_value();
    if ((info.flags & NULLABLE) && chance(15)) return of_type(RLM_TYPE_NULL);
    switch (info.type) {
        case OBJECT: return any_link();
        case MIXED: return any_value();
        default:
            for (int i = 0; i < 10; i++) if (scalars[i] == info.type) return value_of(i);
            return any_value();
    }
}
size_t any_index(size_t size) {
    if (chance(4)) return size + below(3);
    if (chance(1)) return SIZE_MAX;
    return below(size + 1);
}
void told(bool good) {
    say("-> %s", good ? "ok" : "failed");
    int number = error_number();
    if (!good || number) numbers += " error " + std::to_string(number);
}
template <class T> T* made(T* handle) {
    told(handle != nullptr);
    return handle;
}

/* ---- Calls -------------------------------------------------------------------------------------- */

const char* const query_texts[] = {"n > 1", "n == $0", "s BEGINSWITH 'a'", "m == $0", "to.n >= 0", "ANY ln > 2", "lo.@count > 0",
                                   "TRUEPREDICATE", "FALSEPREDICATE",
                                   "n >", "unknown == 1", "ni == NULL SORT(n DESC)", "TRUEPREDICATE SORT(s ASC, n ASC) LIMIT(3)", "ANY lm == 1",
                                   "dm['a'] == 1", "words TEXT 'find'", "key.id == 1", "id > 0", "id == $0", "TRUEPREDICATE DISTINCT(n)"};
const char* const names[] = {"a", "b", "c", "abc", "$a", "a.b", "", "\xC3\xA9"};
const char* const json_texts[] = {"[]", "{}", "[1,2,[3]]", "{\"a\":[1,{\"b\":2}]}", "5", "\"x\"", "null", "[1,",
                                  "{\"$x\":1}", "[true,1.5,\"z\",null]"};

realm_value_t any_name() {
    realm_value_t v = chance(96) ? text(names[chance(80) ? below(4) : below(8)]) : any_value();
    /* Other libraries store a null key, which then finds and erases other entries. */
    if (gentle && v.type == RLM_TYPE_STRING && !v.string.data) v = text("");
    say_value(v), say(" ");
    return v;
}
size_t size_of(realm_list_t* l) { size_t n = 0; return F(realm_list_size)(l, &n) ? n : (error_number(), 0); }

void roll_back(realm_t* r) {
    if (gentle) drop_everything();
    say("rollback "), told(F(realm_rollback)(r));
}
void realm_call();
void transaction_call() {
    int i = which_realm();
    realm_t* r = realms[i];
    switch (below(10)) {
        case 0: case 1: case 2: case 3:
            if (realms[1 - i] && F(realm_is_writable)(realms[1 - i])) { /* a thread cannot wait for itself */
                i = 1 - i, r = realms[i], say("other ");
                if (chance(70)) { say("commit "), told(F(realm_commit)(r)); break; }
                roll_back(r);
                break;
            }
            say("begin_write "), told(F(realm_begin_write)(r));
            break;
        case 4: case 5: say("commit "), told(F(realm_commit)(r)); break;
        case 6: roll_back(r); break;
        case 7: {
            bool moved = false;
            say("refresh "), told(F(realm_refresh)(r, &moved)), say(" %d", moved);
            break;
        }
        case 8: say("begin_read "), told(F(realm_begin_read)(r)); break;
        case 9:
            if (chance(85)) { say("is_writable -> %d", F(realm_is_writable)(r)); break; }
            if (gentle) drop_everything();
            say("close "), told(F(realm_close)(r));
            say(" closed %d", F(realm_is_closed)(r));
            F(realm_release)(r);
            realms[i] = open_realm();
            say(" open "), told(realms[i] != nullptr);
            break;
    }
}
void object_call() {
    realm_object_t* o = pick(objects);
    if (!o) return realm_call();
    realm_property_info_t info;
    memset(&info, 0, sizeof info);
    int what = int(below(20));
    if (refused(what == 0 || (what >= 3 && what <= 9) || (what >= 13 && what <= 15))) return;
    switch (what) {
        case 0: say("delete "), told(F(realm_object_delete)(o)); break;
        case 1: say("is_valid -> %d", F(realm_object_is_valid)(o)); break;
        case 2: {
            realm_property_key_t k = single_property(o, &info);
            realm_value_t v = of_type(RLM_TYPE_NULL);
            say("get_value "), told(F(realm_get_value)(o, k, &v)), say(" "), say_value(v);
            break;
        }
        case 3: case 4: case 5: case 6: case 7: {
            realm_property_key_t k = single_property(o, &info);
            realm_value_t v = value_for({info.type, info.flags});
            /* In other libraries it may give two objects the same primary key. */
            if (gentle && (info.flags & RLM_PROPERTY_PRIMARY_KEY) && chance(90)) return say("left out");
            say("set_value "), say_value(v), say(" "), told(F(realm_set_value)(o, k, v, chance(10)));
            break;
        }
        case 8: {
            realm_property_key_t keys[3];
            realm_value_t values[3];
            size_t n = gentle ? 1 : below(4);
            say("set_values ");
            for (size_t i = 0; i < n; i++) {
                keys[i] = single_property(o, &info), values[i] = value_for({info.type, info.flags});
                say_value(values[i]), say(" ");
            }
            if (gentle && (info.flags & RLM_PROPERTY_PRIMARY_KEY) && chance(90)) return say("left out");
            told(F(realm_set_values)(o, n, keys, values, false));
            break;
        }
        case 9: {
            realm_property_key_t k = single_property(o, &info);
            int64_t by = any_integer();
            if (gentle && (info.collection_type != NONE || info.type != RLM_PROPERTY_TYPE_INT)) return say("left out");
            say("add_int %" PRId64 " ", by), told(F(realm_object_add_int)(o, k, by));
            break;
        }
        case 10: {
            realm_property_key_t k = collection_property(o, LIST, info);
            if (gentle && info.collection_type != LIST && !(info.collection_type == NONE && holds(o, k, RLM_TYPE_LIST))) return say("left out");
            say("get_list "), hold(lists, made(F(realm_get_list)(o, k)), {info.type, info.flags});
            break;
        }
        case 11: {
            realm_property_key_t k = collection_property(o, SET, info);
            if (gentle && info.collection_type != SET) return say("left out");
            say("get_set "), hold(sets, made(F(realm_get_set)(o, k)), {info.type, info.flags});
            break;
        }
        case 12: {
            realm_property_key_t k = collection_property(o, DICT, info);
            if (gentle && info.collection_type != DICT && !(info.collection_type == NONE && holds(o, k, RLM_TYPE_DICTIONARY))) return say("left out");
            say("get_dictionary "), hold(dictionaries, made(F(realm_get_dictionary)(o, k)), {info.type, info.flags});
            break;
        }
        case 13: {
            realm_property_key_t k = chance(70) ? property_named(0, chance(50) ? "m" : "mi") : any_property(o);
            if (gentle) return say("left out");
            if (chance(50)) say("set_list "), hold(lists, made(F(realm_set_list)(o, k)));
            else say("set_dictionary "), hold(dictionaries, made(F(realm_set_dictionary)(o, k)));
            break;
        }
        case 14: {
            realm_property_key_t k = chance(70) || gentle ? property_named(0, "part") : any_property(o);
            say("set_embedded "), hold(objects, made(F(realm_set_embedded)(o, k)));
            break;
        }
        case 15: {
            realm_property_key_t k = chance(70) || gentle ? property_named(0, "m") : any_property(o);
            const char* json = json_texts[gentle ? 4 + below(4) : below(10)];
            say("set_json %s ", json), told(F(realm_set_json)(o, k, json));
            break;
        }
        case 16: {
            realm_property_key_t k = gentle ? property_named(0, chance(50) ? "to" : "part") : any_property(o);
            say("get_linked_object "), hold(objects, made(F(realm_get_linked_object)(o, k)));
            break;
        }
        case 17: {
            int c = int(below(2));
            realm_property_key_t k = c ? property_named(1, chance(50) ? "all" : "many") : property_named(0, chance(50) ? "to" : "lo");
            say("get_backlinks %d ", c), hold(results, made(F(realm_get_backlinks)(o, classes[c], k)), of_objects);
            break;
        }
        case 18: {
            realm_object_t* parent = nullptr;
            realm_class_key_t table = 0;
            say("get_parent "), told(F(realm_object_get_parent)(o, &parent, &table));
            hold(objects, parent);
            break;
        }
        case 19: {
            int i = which_realm();
            realm_object_t* other = nullptr;
            say("resolve_in "), told(F(realm_object_resolve_in)(o, realms[i], &other)), say(" %d", other != nullptr);
            hold(objects, other);
            break;
        }
    }
}
void realm_call() {
    int i = which_realm();
    realm_t* r = realms[i];
    switch (below(10)) {
        case 0: case 1: case 2: {
            realm_class_key_t c = any_class();
            say("create "), hold(objects, made(F(realm_object_create)(r, c)));
            break;
        }
        case 3: case 4: {
            size_t at = chance(90) ? 1 + below(2) : below(6);
            realm_value_t v = chance(90) ? (at == 1 ? value_of(0) : at == 2 && chance(90) ? any_text() : any_value()) : any_value();
            realm_class_key_t c = at < 5 ? classes[at] : 12345;
            bool created = false;
            say("%zu ", at), say_value(v), say(" ");
            if (chance(50)) say("create_with_key "), hold(objects, made(F(realm_object_create_with_primary_key)(r, c, v)));
            else {
                say("get_or_create "), hold(objects, made(F(realm_object_get_or_create_with_primary_key)(r, c, v, &created))), say(" %d", created);
            }
            break;
        }
        case 5: {
            size_t at = 1 + below(2);
            realm_value_t v = at == 1 ? value_of(0) : any_text();
            bool found = false;
            say("%zu ", at), say_value(v), say(" find_with_key ");
            hold(objects, made(F(realm_object_find_with_primary_key)(r, classes[at], v, &found))), say(" %d", found);
            break;
        }
        case 6: {
            realm_class_key_t c = any_class();
            size_t n = 0;
            say("get_num_objects "), told(F(realm_get_num_objects)(r, c, &n)), say(" %zu", n);
            break;
        }
        case 7: {
            realm_class_key_t c = any_class();
            int64_t key = int64_t(below(14)) - 1;
            say("get_object %" PRId64 " ", key), hold(objects, made(F(realm_get_object)(r, c, key)));
            break;
        }
        case 8: {
            realm_class_key_t c = any_class();
            say("find_all "), hold(results, made(F(realm_object_find_all)(r, c)), of_all_objects);
            break;
        }
        case 9: {
            realm_class_key_t c = chance(80) ? classes[0] : any_class();
            const char* what = query_texts[below(sizeof query_texts / sizeof *query_texts)];
            realm_value_t v = any_value();
            realm_query_arg_t argument = {1, false, &v};
            say("query_parse %s ", what), say_value(v), say(" ");
            hold(queries, made(F(realm_query_parse)(r, c, what, 1, &argument)), strstr(what, "LIMIT") ? of_first_objects : of_objects);
            break;
        }
    }
}
void list_call() {
    realm_list_t* l = pick(lists);
    if (!l) return;
    Facts facts = known[l];
    size_t n = size_of(l), i = any_index(n);
    realm_value_t v = value_for(facts);
    int what = int(below(20));
    if (refused(what <= 13)) return;
    switch (what) {
        case 0: case 1: case 2: case 3:
            say("list_insert %zu ", i), say_value(v), say(" "), told(F(realm_list_insert)(l, i, v));
            break;
        case 4: say("list_set %zu ", i), say_value(v), say(" "), told(F(realm_list_set)(l, i, v)); break;
        case 5: { size_t j = any_index(n); say("list_move %zu %zu ", i, j), told(F(realm_list_move)(l, i, j)); break; }
        case 6: say("list_erase %zu ", i), told(F(realm_list_erase)(l, i)); break;
        case 7:
            if (chance(40)) say("list_clear "), told(F(realm_list_clear)(l));
            else say("list_remove_all "), told(F(realm_list_remove_all)(l));
            break;
        case 8: say("list_insert_list %zu ", i), hold(lists, made(F(realm_list_insert_list)(l, i))); break;
        case 9: say("list_insert_dictionary %zu ", i), hold(dictionaries, made(F(realm_list_insert_dictionary)(l, i))); break;
        case 10: say("list_set_list %zu ", i), hold(lists, made(F(realm_list_set_list)(l, i))); break;
        case 11: say("list_set_dictionary %zu ", i), hold(dictionaries, made(F(realm_list_set_dictionary)(l, i))); break;
        case 12:
        case 13:
            if (gentle && i >= n) return say("left out");
            if (chance(50)) say("list_insert_embedded %zu ", i), hold(objects, made(F(realm_list_insert_embedded)(l, i)));
            else say("list_set_embedded %zu ", i), hold(objects, made(F(realm_list_set_embedded)(l, i)));
            break;
        case 14: {
            realm_value_t got = of_type(RLM_TYPE_NULL);
            say("list_get %zu ", i), told(F(realm_list_get)(l, i, &got)), say(" "), say_value(got);
            break;
        }
        case 15: {
            size_t at = 0;
            bool found = false;
            say("list_find "), say_value(v), say(" ");
            bool good = F(realm_list_find)(l, &v, &at, &found);
            told(good);
            if (good) say(" %d %zd", found, at);
            break;
        }
        case 16: say("list_get_linked_object %zu ", i), hold(objects, made(F(realm_list_get_linked_object)(l, i))); break;
        case 17: say("list_is_valid -> %d", F(realm_list_is_valid)(l)); break;
        case 18: say("list_to_results "), hold(results, made(F(realm_list_to_results)(l)), facts); break;
        case 19: {
            bool list = chance(50);
            if (gentle && !holds(l, i, list ? RLM_TYPE_LIST : RLM_TYPE_DICTIONARY)) return say("left out");
            if (list) say("list_get_list %zu ", i), hold(lists, made(F(realm_list_get_list)(l, i)));
            else say("list_get_dictionary %zu ", i), hold(dictionaries, made(F(realm_list_get_dictionary)(l, i)));
            break;
        }
    }
}
void set_call() {
    realm_set_t* s = pick(sets);
    if (!s) return;
    Facts facts = known[s];
    realm_value_t v = value_for(facts);
    size_t n = 0, at = 0;
    bool flag = false;
    if (!F(realm_set_size)(s, &n)) error_number();
    int what = int(below(10));
    if (refused(what <= 6)) return;
    switch (what) {
        case 0: case 1: case 2: case 3: {
            say("set_insert "), say_value(v), say(" ");
            bool good = F(realm_set_insert)(s, v, &at, &flag);
            told(good);
            if (good) say(" %zu %d", at, flag);
            break;
        }
        case 4: case 5: {
            say("set_erase "), say_value(v), say(" ");
            bool good = F(realm_set_erase)(s, v, &flag);
            told(good);
            if (good) say(" %d", flag);
            break;
        }
        case 6:
            if (chance(50)) say("set_clear "), told(F(realm_set_clear)(s));
            else say("set_remove_all "), told(F(realm_set_remove_all)(s));
            break;
        case 7: {
            size_t i = any_index(n);
            realm_value_t got = of_type(RLM_TYPE_NULL);
            say("set_get %zu ", i), told(F(realm_set_get)(s, i, &got)), say(" "), say_value(got);
            break;
        }
        case 8: {
            say("set_find "), say_value(v), say(" ");
            bool good = F(realm_set_find)(s, v, &at, &flag);
            told(good);
            if (good) say(" %d", flag);
            break;
        }
        case 9:
            if (chance(50)) say("set_to_results "), hold(results, made(F(realm_set_to_results)(s)), facts);
            else say("set_is_valid -> %d", F(realm_set_is_valid)(s));
            break;
    }
}
void dictionary_call() {
    realm_dictionary_t* d = pick(dictionaries);
    if (!d) return;
    Facts facts = known[d];
    realm_value_t v = value_for(facts), k = any_name();
    size_t n = 0, at = 0;
    bool flag = false;
    if (!F(realm_dictionary_size)(d, &n)) error_number();
    int what = int(below(16));
    if (refused(what <= 10)) return;
    switch (what) {
        case 0: case 1: case 2: case 3: case 4: {
            say("dictionary_insert "), say_value(v), say(" ");
            bool good = F(realm_dictionary_insert)(d, k, v, &at, &flag);
            told(good);
            if (good) say(" %zu %d", at, flag);
            break;
        }
        case 5: case 6: {
            say("dictionary_erase ");
            bool good = F(realm_dictionary_erase)(d, k, &flag);
            told(good);
            if (good) say(" %d", flag);
            break;
        }
        case 7: say("dictionary_clear "), told(F(realm_dictionary_clear)(d)); break;
        case 8: say("dictionary_insert_list "), hold(lists, made(F(realm_dictionary_insert_list)(d, k))); break;
        case 9: say("dictionary_insert_dictionary "), hold(dictionaries, made(F(realm_dictionary_insert_dictionary)(d, k))); break;
        case 10:
            /* In other libraries a refused key leaves an object behind. */
            if (gentle && (!F(realm_dictionary_is_valid)(d) || k.type != RLM_TYPE_STRING || !k.string.data || strpbrk(k.string.data, ".$"))) {
                return say("left out");
            }
            say("dictionary_insert_embedded "), hold(objects, made(F(realm_dictionary_insert_embedded)(d, k))); break;
        case 11: {
            realm_value_t got = of_type(RLM_TYPE_NULL);
            say("dictionary_find "), told(F(realm_dictionary_find)(d, k, &got, &flag)), say(" %d ", flag), say_value(got);
            break;
        }
        case 12: {
            size_t i = any_index(n);
            realm_value_t name = of_type(RLM_TYPE_NULL), got = name;
            say("dictionary_get %zu ", i), told(F(realm_dictionary_get)(d, i, &name, &got)), say(" "), say_value(name), say_value(got);
            break;
        }
        case 13: {
            bool list = chance(50);
            if (gentle && !holds(d, k, list ? RLM_TYPE_LIST : RLM_TYPE_DICTIONARY)) return say("left out");
            if (list) say("dictionary_get_list "), hold(lists, made(F(realm_dictionary_get_list)(d, k)));
            else say("dictionary_get_dictionary "), hold(dictionaries, made(F(realm_dictionary_get_dictionary)(d, k)));
            break;
        }
        case 14: say("dictionary_to_results "), hold(results, made(F(realm_dictionary_to_results)(d))); break;
        case 15: say("dictionary_is_valid -> %d", F(realm_dictionary_is_valid)(d)); break;
    }
}
void results_call() {
    if (chance(30)) {
        realm_query_t* q = pick(queries);
        if (!q) return;
        size_t n = 0;
        switch (below(4)) {
            case 0: say("query_count "), told(F(realm_query_count)(q, &n)), say(" %zu", n); break;
            case 1: say("query_find_all "), hold(results, made(F(realm_query_find_all)(q)), known[q]); break;
            case 2: {
                realm_value_t v = of_type(RLM_TYPE_NULL);
                bool found = false;
                say("query_find_first "), told(F(realm_query_find_first)(q, &v, &found)), say(" %d ", found);
                if (found) say_value(v);
                break;
            }
            case 3: if (chance(30) && !gentle) say("query_delete_all "), told(F(realm_query_delete_all)(q)); break;
        }
        return;
    }
    realm_results_t* r = pick(results);
    if (!r) return;
    Facts facts = known[r];
    bool live_only = gentle && facts.type != OBJECT; /* results of values: in other libraries a snapshot of them changes, and a limit is lost */
    size_t n = 0;
    switch (below(14)) {
        case 0: case 1: say("results_count "), told(F(realm_results_count)(r, &n)), say(" %zu", n); break;
        case 2: case 3: {
            if (!F(realm_results_count)(r, &n)) error_number();
            size_t i = any_index(n);
            realm_value_t v = of_type(RLM_TYPE_NULL);
            say("results_get %zu ", i), told(F(realm_results_get)(r, i, &v)), say(" "), say_value(v);
            break;
        }
        case 4: case 5: {
            if (!F(realm_results_count)(r, &n)) error_number();
            size_t i = any_index(n);
            realm_value_t v = of_type(RLM_TYPE_NULL);
            /* In other libraries a null row gives an object handle without a class. */
            if (gentle && (F(realm_results_get)(r, i, &v) || (error_number(), false)) && v.type == RLM_TYPE_NULL) return say("left out");
            say("results_get_object %zu ", i), hold(objects, made(F(realm_results_get_object)(r, i)));
            break;
        }
        case 6:
            /* In other libraries a limit shows no further rows afterwards, and objects embedded in dictionaries remain
               when a whole class is cleared. */
            if (gentle && facts.rows != some) return say("left out");
            if (refused(true)) return;
            if (chance(30)) say("results_delete_all "), told(F(realm_results_delete_all)(r));
            break;
        case 7:
            if (live_only) return say("left out");
            say("results_snapshot "), hold(results, made(F(realm_results_snapshot)(r)), facts);
            break;
        case 8:
            if (live_only) return say("left out");
            say("results_limit "), facts.rows = limited, hold(results, made(F(realm_results_limit)(r, below(4))), facts);
            break;
        case 9: {
            static const char* const orders[] = {"n DESC", "s ASC, n ASC", "none ASC", "to.n ASC", "self ASC"};
            const char* order = orders[below(5)];
            say("results_sort %s ", order), hold(results, made(F(realm_results_sort)(r, order)), facts);
            break;
        }
        case 10: {
            realm_query_t* q = pick(queries);
            if (q && !gentle) say("results_filter "), hold(results, made(F(realm_results_filter)(r, q)), facts);
            break;
        }
        case 11: { bool valid = false; say("results_is_valid "), told(F(realm_results_is_valid)(r, &valid)), say(" %d", valid); break; }
        case 12: {
            realm_value_t v = of_type(RLM_TYPE_NULL);
            bool found = false;
            static const char* const numbers[] = {"n", "b", "s", "t", "f", "g", "c", "ni", "m", "mi"};
            realm_property_key_t k = property_named(0, numbers[below(10)]);
            int what = int(below(3));
            bool good = what == 0   ? F(realm_results_min)(r, k, &v, &found)
                        : what == 1 ? F(realm_results_max)(r, k, &v, &found)
                                    : F(realm_results_sum)(r, k, &v, &found);
            say("results_aggregate %d ", what), told(good);
            if (good) say(" %d ", found), say_value(v);
            break;
        }
        case 13: if (!gentle) say("results_get_query "), hold(queries, made(F(realm_results_get_query)(r))); break;
    }
}
void release_call() {
    size_t kind = below(6);
    auto give_back = [](auto& all) {
        if (all.empty()) return;
        size_t i = below(all.size());
        say("%zu", i);
        F(realm_release)(all[i]);
        all.erase(all.begin() + long(i));
    };
    say("release %zu ", kind);
    switch (kind) {
        case 0: give_back(objects); break;
        case 1: give_back(lists); break;
        case 2: give_back(sets); break;
        case 3: give_back(dictionaries); break;
        case 4: give_back(results); break;
        case 5: give_back(queries); break;
    }
}

/* ---- Sequences ----------------------------------------------------------------------------------- */

using Verify = bool (*)(const realm_t*, char**);

int run(uint64_t seed, int calls, bool verifies, Verify verify) {
    int faults = 0;
    drop_everything();
    state = seed * 0xD1342543DE82EF95u + 1;
    digest = 0xCBF29CE484222325u;
    for (auto& r : realms) r = open_realm();
    if (!realms[0] || !realms[1]) {
        printf("! seed %" PRIu64 ": the file cannot be opened (%d)\n", seed, error_number());
        return 1;
    }
    read_keys(realms[0]);
    error_number();
    F(realm_begin_write)(realms[0]);
    from = 0;
    for (int i = 0; i < 4; i++) hold(objects, F(realm_object_create)(realms[0], classes[0]));
    for (int i = 0; i < calls; i++) {
        if (skipped.count(i)) continue;
        state = seed * 0xD1342543DE82EF95u + uint64_t(i + 2) * 0x2545F4914F6CDD1Du;
        for (int j = 0; j < 2; j++) {
            if (!realms[j]) realms[j] = open_realm();
            if (!realms[j]) return printf("! seed %" PRIu64 ": the file cannot be opened again (%d)\n", seed, error_number()), 1;
        }
        say("%d ", i);
        bool writing = F(realm_is_writable)(realms[0]) || F(realm_is_writable)(realms[1]);
        size_t what = below(100);
        if (what < (writing ? 6 : 35)) transaction_call();
        else if (what < 58 || (lists.empty() && sets.empty() && dictionaries.empty() && results.empty() && what < 90)) object_call();
        else if (what < 65) realm_call();
        else if (what < 78 && !lists.empty()) list_call();
        else if (what < 83 && !sets.empty()) set_call();
        else if (what < 92 && !dictionaries.empty()) dictionary_call();
        else if (what < 98 && !(results.empty() && queries.empty())) results_call();
        else if (what < 99) release_call();
        else realm_call();
        end_line();
    }
    for (auto& r : realms) {
        if (r && F(realm_is_writable)(r)) say("last commit "), told(F(realm_commit)(r)), end_line();
    }
    drop_everything();
    for (auto& r : realms) {
        F(realm_close)(r);
        F(realm_release)(r);
        r = nullptr;
    }
    realm_t* fresh = open_realm();
    if (!fresh) return printf("! seed %" PRIu64 ": the file cannot be opened at the end (%d)\n", seed, error_number()), faults + 1;
    for (int c = 0; c < 5; c++) {
        realm_results_t* all = F(realm_object_find_all)(fresh, classes[c]);
        size_t n = 0;
        F(realm_results_count)(all, &n);
        for (size_t i = 0; i < n; i++) {
            realm_object_t* o = F(realm_results_get_object)(all, i);
            char* shown = o ? F(realm_object_to_string)(o) : nullptr;
            say("%s ", class_names[c]), line += shown ? shown : "?", end_line();
            if (shown) F(realm_free)(shown);
            F(realm_release)(o);
        }
        F(realm_release)(all);
    }
    char* report = nullptr;
    if (verifies && verify && (!verify(fresh, &report) || report)) {
        printf("! seed %" PRIu64 ": crealm_verify: %s\n", seed, report ? report : "failed");
        faults++;
    }
    F(realm_close)(fresh);
    F(realm_release)(fresh);
    return faults;
}

} // namespace

int main(int count, char** arguments) {
    if (count < 5) return fprintf(stderr, "monkey LIBRARY FOLDER FIRST LAST [--calls N] [--gentle] [--trace] [--keep] [--no-verify]\n"), 2;
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 2;
    F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
    auto verify = reinterpret_cast<Verify>(symbol("crealm_verify", false));
    uint64_t first = strtoull(arguments[3], nullptr, 10), last = strtoull(arguments[4], nullptr, 10);
    for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGFPE, SIGTRAP}) signal(number, last_words);
    int calls = 200, faults = 0;
    bool keeps = false, verifies = true;
    for (int i = 5; i < count; i++) {
        if (!strcmp(arguments[i], "--calls") && i + 1 < count) calls = atoi(arguments[++i]);
        else if (!strcmp(arguments[i], "--trace")) tracing = true;
        else if (!strcmp(arguments[i], "--gentle")) gentle = true;
        else if (!strcmp(arguments[i], "--skip") && i + 1 < count) {
            for (char* at = arguments[++i]; *at; at += *at == ',') skipped.insert(int(strtol(at, &at, 10)));
        } else if (!strcmp(arguments[i], "--keep")) keeps = true;
        else if (!strcmp(arguments[i], "--no-verify")) verifies = false;
    }
    for (uint64_t seed = first; seed <= last; seed++) {
        path = std::string(arguments[2]) + "/" + std::to_string(seed) + ".realm";
        printf("? %" PRIu64 "\n", seed);
        fflush(stdout);
        int found = run(seed, calls, verifies, verify);
        printf("%" PRIu64 " %016" PRIx64 " %d %d\n", seed, digest, calls, found);
        fflush(stdout);
        faults += found;
        if (!keeps) {
            bool deleted = false;
            F(realm_delete_files)(path.c_str(), &deleted);
            unlink((path + ".lock").c_str());
        }
    }
    return faults ? 1 : 0;
}
