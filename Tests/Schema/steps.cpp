// Carries out the steps of the schema fuzzer (run.py) on one library with Realm's C API.
//
//     steps LIBRARY
//
// Reads commands from standard input, one a line, fields separated by tabs; answers each `flush` with the lines since
// the last one and a line `.`. Failed commands are reported as `error NUMBER`, so that two libraries can be compared
// line by line.
//
// * `class` and `property` lines collect a schema, `migrate` and `initialize` lines the operations of the two functions;
//   the next `open` or `update` uses and clears them.
// * Operations name classes and properties by name and objects by their place in the class (modulo their number). The
//   type of the property and a number determine the value to store, so files with the same content get the same values.
#include <dlfcn.h>
#include <realm.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <string>
#include <vector>

namespace {

void* library;

void* symbol(const char* name) {
    if (void* found = dlsym(library, name)) return found;
    fprintf(stderr, "missing symbol %s\n", name);
    exit(3);
}
// A function of the library, looked up when it is first called.
#define F(name)                                                                    \
    ([]() {                                                                        \
        static auto function = reinterpret_cast<decltype(&name)>(symbol(#name));   \
        return function;                                                           \
    }())

using Fields = std::vector<std::string>;
using Operations = std::vector<Fields>;

void say(const std::string& line) { std::cout << line << '\n'; }

int error_number() {
    realm_error_t error{};
    int number = F(realm_get_last_error)(&error) ? static_cast<int>(error.error) : 0;
    if (number) fprintf(stderr, "%d %s\n", number, error.message ? error.message : "");
    F(realm_clear_last_error)();
    return number;
}

uint64_t number(const Fields& fields, size_t i) { return i < fields.size() ? strtoull(fields[i].c_str(), nullptr, 10) : 0; }
const std::string& text(const Fields& fields, size_t i) {
    static const std::string empty;
    return i < fields.size() ? fields[i] : empty;
}

// ------------------------------------------------------------------------------------------------
// Schemas

struct Property {
    std::string name, alias, target, origin;
    int type, collection, flags;
};
struct Class {
    std::string name, primary_key;
    int kind;
    std::vector<Property> persisted, computed;
};
using Classes = std::vector<Class>;

realm_schema_t* make_schema(const Classes& classes) {
    std::vector<realm_class_info_t> infos;
    std::vector<std::vector<realm_property_info_t>> properties;
    for (const Class& c : classes) {
        realm_class_info_t info{};
        info.name = c.name.c_str();
        info.primary_key = c.primary_key.c_str();
        info.num_properties = c.persisted.size();
        info.num_computed_properties = c.computed.size();
        info.key = RLM_INVALID_CLASS_KEY;
        info.flags = c.kind;
        infos.push_back(info);
        std::vector<realm_property_info_t> list;
        for (const auto* part : {&c.persisted, &c.computed})
            for (const Property& p : *part) {
                realm_property_info_t info{};
                info.name = p.name.c_str();
                info.public_name = p.alias.c_str();
                info.type = static_cast<realm_property_type_e>(p.type);
                info.collection_type = static_cast<realm_collection_type_e>(p.collection);
                info.link_target = p.target.c_str();
                info.link_origin_property_name = p.origin.c_str();
                info.key = RLM_INVALID_PROPERTY_KEY;
                info.flags = p.flags;
                list.push_back(info);
            }
        properties.push_back(std::move(list));
    }
    std::vector<const realm_property_info_t*> pointers;
    for (auto& list : properties) pointers.push_back(list.data());
    return F(realm_schema_new)(infos.data(), infos.size(), pointers.data());
}

// Prints the live schema, one line for each class and property.
void show_schema(realm_t* realm) {
    say("version " + std::to_string(static_cast<int64_t>(F(realm_get_schema_version)(realm))));
    size_t count = F(realm_get_num_classes)(realm), got = 0;
    std::vector<realm_class_key_t> keys(count + 1);
    F(realm_get_class_keys)(realm, keys.data(), count, &got);
    for (size_t i = 0; i < got; i++) {
        realm_class_info_t c{};
        if (!F(realm_get_class)(realm, keys[i], &c)) {
            say("no class for key " + std::to_string(keys[i]));
            error_number();
            continue;
        }
        say(std::string("class ") + c.name + " " + std::to_string(c.key) + " " + c.primary_key + " " + std::to_string(c.flags));
        size_t most = c.num_properties + c.num_computed_properties, found = 0;
        std::vector<realm_property_info_t> properties(most + 1);
        F(realm_get_class_properties)(realm, c.key, properties.data(), most, &found);
        for (size_t j = 0; j < found; j++) {
            const realm_property_info_t& p = properties[j];
            say(std::string("  ") + p.name + "|" + p.public_name + "|" + std::to_string(p.type) + "|" + std::to_string(p.collection_type) + "|" +
                p.link_target + "|" + p.link_origin_property_name + "|" + std::to_string(p.key) + "|" + std::to_string(p.flags));
        }
    }
}

// ------------------------------------------------------------------------------------------------
// Values

std::deque<std::string> kept;  // texts and bytes of the values made since the last command

realm_value_t text_value(const std::string& text) {
    kept.push_back(text);
    realm_value_t v{};
    v.type = RLM_TYPE_STRING;
    v.string = {kept.back().data(), kept.back().size()};
    return v;
}
// The composed and the decomposed letter are different texts.
std::string text_of(uint64_t n) {
    static const char* const some[] = {"", "a", "b", "\xc3\xa9", "e\xcc\x81", "one two", "x23456789012345", "long "};
    std::string t = some[n % 8];
    if (n % 8 == 7) t += std::string(n % 90, 'y');
    return n / 8 % 3 == 0 ? t : t + std::to_string(n % 5);
}
realm_value_t value_of(int type, uint64_t n) {
    realm_value_t v{};
    switch (type) {
        case RLM_PROPERTY_TYPE_INT:
            v.type = RLM_TYPE_INT;
            v.integer = n % 7 == 0 ? INT64_MIN + static_cast<int64_t>(n % 3) : static_cast<int64_t>(n % 40) - 9;
            break;
        case RLM_PROPERTY_TYPE_BOOL:
            v.type = RLM_TYPE_BOOL;
            v.boolean = n % 2 == 1;
            break;
        case RLM_PROPERTY_TYPE_STRING: return text_value(text_of(n));
        case RLM_PROPERTY_TYPE_BINARY:
            v = text_value(text_of(n));
            v.type = RLM_TYPE_BINARY;
            v.binary = {reinterpret_cast<const uint8_t*>(kept.back().data()), kept.back().size()};
            break;
        case RLM_PROPERTY_TYPE_TIMESTAMP:
            v.type = RLM_TYPE_TIMESTAMP;
            v.timestamp = {static_cast<int64_t>(n % 1000), static_cast<int32_t>(n % 3)};
            break;
        case RLM_PROPERTY_TYPE_FLOAT:
            v.type = RLM_TYPE_FLOAT;
            v.fnum = static_cast<float>(n % 16) / 4;
            break;
        case RLM_PROPERTY_TYPE_DOUBLE:
            v.type = RLM_TYPE_DOUBLE;
            v.dnum = static_cast<double>(n % 16) / 8;
            break;
        case RLM_PROPERTY_TYPE_DECIMAL128:
            v.type = RLM_TYPE_DECIMAL128;
            v.decimal128.w[0] = n % 11;
            v.decimal128.w[1] = UINT64_C(0x3040000000000000);
            break;
        case RLM_PROPERTY_TYPE_OBJECT_ID:
            v.type = RLM_TYPE_OBJECT_ID;
            memset(v.object_id.bytes, static_cast<int>(n % 13), sizeof v.object_id.bytes);
            break;
        case RLM_PROPERTY_TYPE_UUID:
            v.type = RLM_TYPE_UUID;
            memset(v.uuid.bytes, static_cast<int>(n % 13), sizeof v.uuid.bytes);
            break;
        case RLM_PROPERTY_TYPE_MIXED: {
            static const int types[] = {RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_TYPE_BOOL, RLM_PROPERTY_TYPE_DOUBLE,
                                        RLM_PROPERTY_TYPE_UUID, RLM_PROPERTY_TYPE_BINARY, RLM_PROPERTY_TYPE_TIMESTAMP};
            return value_of(types[n % 7], n / 7);
        }
        default: break;
    }
    return v;
}

// ------------------------------------------------------------------------------------------------
// Operations

struct State {
    realm_t* realm;
    realm_t* old = nullptr;               // the realm before the migration, inside a migration
    const realm_schema_t* target = nullptr;  // the schema asked for, inside a migration
};

bool find_class(realm_t* realm, const std::string& name, realm_class_info_t& out) {
    bool found = false;
    return F(realm_find_class)(realm, name.c_str(), &found, &out) && found;
}
bool find_property(realm_t* realm, const realm_class_info_t& c, const std::string& name, realm_property_info_t& out) {
    bool found = false;
    return F(realm_find_property)(realm, c.key, name.c_str(), &found, &out) && found;
}
// The object at a position of a class; null when the class is empty or cannot be read.
realm_object_t* object_at(realm_t* realm, const realm_class_info_t& c, uint64_t place) {
    realm_results_t* all = F(realm_object_find_all)(realm, c.key);
    if (!all) return nullptr;
    size_t count = 0;
    F(realm_results_count)(all, &count);
    realm_object_t* object = count == 0 ? nullptr : F(realm_results_get_object)(all, place % count);
    F(realm_release)(all);
    return object;
}

bool link_value(realm_t* realm, const realm_property_info_t& p, uint64_t n, realm_value_t& out) {
    realm_class_info_t target{};
    if (!find_class(realm, p.link_target, target)) return false;
    realm_object_t* object = object_at(realm, target, n);
    if (!object) return false;
    out.type = RLM_TYPE_LINK;
    out.link = F(realm_object_as_link)(object);
    F(realm_release)(object);
    return true;
}
bool is_embedded(realm_t* realm, const realm_property_info_t& p) {
    realm_class_info_t target{};
    return p.type == RLM_PROPERTY_TYPE_OBJECT && find_class(realm, p.link_target, target) && (target.flags & 3) == RLM_CLASS_EMBEDDED;
}
// Makes a value for a property or an element of it; some nullable ones are null.
bool element(realm_t* realm, const realm_property_info_t& p, uint64_t n, realm_value_t& out) {
    out = {};
    if ((p.flags & RLM_PROPERTY_NULLABLE) && n % 5 == 0) return true;
    if (p.type == RLM_PROPERTY_TYPE_OBJECT) return link_value(realm, p, n, out);
    out = value_of(p.type, n);
    return true;
}

bool set_list(const State& s, realm_object_t* object, const realm_property_info_t& p, uint64_t n) {
    realm_list_t* list = F(realm_get_list)(object, p.key);
    if (!list) return false;
    bool good = n % 3 != 0 || F(realm_list_clear)(list);
    for (uint64_t i = 0; good && i < n % 4; i++) {
        size_t size = 0;
        realm_value_t v;
        F(realm_list_size)(list, &size);
        if (is_embedded(s.realm, p)) {
            realm_object_t* child = F(realm_list_insert_embedded)(list, size);
            good = child != nullptr;
            if (child) F(realm_release)(child);
        } else if (element(s.realm, p, n + i, v)) {
            good = F(realm_list_insert)(list, i % 2 ? size : 0, v);
        }
    }
    F(realm_release)(list);
    return good;
}
bool set_set(const State& s, realm_object_t* object, const realm_property_info_t& p, uint64_t n) {
    realm_set_t* set = F(realm_get_set)(object, p.key);
    if (!set) return false;
    bool good = n % 3 != 0 || F(realm_set_clear)(set);
    for (uint64_t i = 0; good && i < n % 4; i++) {
        realm_value_t v;
        size_t at;
        bool added;
        if (element(s.realm, p, n + i, v)) good = F(realm_set_insert)(set, v, &at, &added);
    }
    F(realm_release)(set);
    return good;
}
bool set_dictionary(const State& s, realm_object_t* object, const realm_property_info_t& p, uint64_t n) {
    realm_dictionary_t* dictionary = F(realm_get_dictionary)(object, p.key);
    if (!dictionary) return false;
    bool good = n % 3 != 0 || F(realm_dictionary_clear)(dictionary);
    for (uint64_t i = 0; good && i < n % 4; i++) {
        realm_value_t v, key = text_value(text_of(n + i));
        size_t at;
        bool added;
        if (is_embedded(s.realm, p)) {
            realm_object_t* child = F(realm_dictionary_insert_embedded)(dictionary, key);
            good = child != nullptr;
            if (child) F(realm_release)(child);
        } else if (element(s.realm, p, n + i, v)) {
            good = F(realm_dictionary_insert)(dictionary, key, v, &at, &added);
        }
    }
    F(realm_release)(dictionary);
    return good;
}
// Makes a list or dictionary inside a Mixed property.
bool set_nested(realm_object_t* object, const realm_property_info_t& p, uint64_t n) {
    bool good;
    realm_value_t first = value_of(RLM_PROPERTY_TYPE_MIXED, n);
    if (n % 2) {
        realm_list_t* list = F(realm_set_list)(object, p.key);
        if (!list) return false;
        good = F(realm_list_insert)(list, 0, first);
        if (realm_dictionary_t* inner = good ? F(realm_list_insert_dictionary)(list, 0) : nullptr) {
            good = F(realm_dictionary_insert)(inner, text_value("k"), value_of(RLM_PROPERTY_TYPE_INT, n), nullptr, nullptr);
            F(realm_release)(inner);
        }
        F(realm_release)(list);
    } else {
        realm_dictionary_t* dictionary = F(realm_set_dictionary)(object, p.key);
        if (!dictionary) return false;
        good = F(realm_dictionary_insert)(dictionary, text_value("k"), first, nullptr, nullptr);
        F(realm_release)(dictionary);
    }
    return good;
}
bool set_property(const State& s, realm_object_t* object, const realm_property_info_t& p, uint64_t n) {
    if (p.collection_type == RLM_COLLECTION_TYPE_LIST) return set_list(s, object, p, n);
    if (p.collection_type == RLM_COLLECTION_TYPE_SET) return set_set(s, object, p, n);
    if (p.collection_type == RLM_COLLECTION_TYPE_DICTIONARY) return set_dictionary(s, object, p, n);
    if (is_embedded(s.realm, p) && n % 5 != 0) {
        realm_object_t* child = F(realm_set_embedded)(object, p.key);
        if (child) F(realm_release)(child);
        return child != nullptr;
    }
    if (p.type == RLM_PROPERTY_TYPE_MIXED && n % 6 == 1) return set_nested(object, p, n);
    realm_value_t v;
    if (p.type == RLM_PROPERTY_TYPE_MIXED && n % 6 == 2) {
        // A link to an object of the class that the number selects.
        size_t count = F(realm_get_num_classes)(s.realm), got = 0;
        std::vector<realm_class_key_t> keys(count + 1);
        F(realm_get_class_keys)(s.realm, keys.data(), count, &got);
        realm_class_info_t c{};
        if (got && F(realm_get_class)(s.realm, keys[n / 6 % got], &c) && (c.flags & 3) == 0) {
            if (realm_object_t* other = object_at(s.realm, c, n)) {
                v = {};
                v.type = RLM_TYPE_LINK;
                v.link = F(realm_object_as_link)(other);
                F(realm_release)(other);
                return F(realm_set_value)(object, p.key, v, false);
            }
        }
    }
    if (!element(s.realm, p, n, v)) return true;
    return F(realm_set_value)(object, p.key, v, false);
}

bool create(const State& s, const Fields& f) {
    realm_class_info_t c{};
    if (!find_class(s.realm, text(f, 1), c)) return true;
    realm_object_t* object;
    realm_property_info_t key{};
    if (*c.primary_key && find_property(s.realm, c, c.primary_key, key)) {
        realm_value_t v;
        element(s.realm, key, number(f, 2), v);
        object = F(realm_object_create_with_primary_key)(s.realm, c.key, v);
    } else {
        object = F(realm_object_create)(s.realm, c.key);
    }
    if (!object) return false;
    F(realm_release)(object);
    return true;
}
bool change(const State& s, const Fields& f) {
    realm_class_info_t c{};
    realm_property_info_t p{};
    if (!find_class(s.realm, text(f, 1), c) || !find_property(s.realm, c, text(f, 3), p) || p.type == RLM_PROPERTY_TYPE_LINKING_OBJECTS) return true;
    realm_object_t* object = object_at(s.realm, c, number(f, 2));
    if (!object) return true;
    bool good = set_property(s, object, p, number(f, 4));
    F(realm_release)(object);
    return good;
}
bool remove_object(const State& s, const Fields& f) {
    realm_class_info_t c{};
    if (!find_class(s.realm, text(f, 1), c)) return true;
    realm_object_t* object = object_at(s.realm, c, number(f, 2));
    if (!object) return true;
    bool good = F(realm_object_delete)(object);
    F(realm_release)(object);
    return good;
}
bool clear(const State& s, const Fields& f) {
    realm_class_info_t c{};
    if (!find_class(s.realm, text(f, 1), c)) return true;
    realm_results_t* all = F(realm_object_find_all)(s.realm, c.key);
    if (!all) return false;
    bool good = F(realm_results_delete_all)(all);
    F(realm_release)(all);
    return good;
}
// Copies a single value of every object from the old realm into another property.
bool copy(const State& s, const Fields& f) {
    realm_class_info_t from{}, to{};
    realm_property_info_t p{}, q{};
    if (!s.old || !find_class(s.old, text(f, 1), from) || !find_class(s.realm, text(f, 1), to)) return true;
    if (!find_property(s.old, from, text(f, 2), p) || !find_property(s.realm, to, text(f, 3), q)) return true;
    if (p.collection_type != RLM_COLLECTION_TYPE_NONE || q.collection_type != RLM_COLLECTION_TYPE_NONE) return true;
    if (p.type == RLM_PROPERTY_TYPE_OBJECT || q.type == RLM_PROPERTY_TYPE_OBJECT) return true;
    realm_results_t* all = F(realm_object_find_all)(s.old, from.key);
    if (!all) return false;
    size_t count = 0;
    bool good = F(realm_results_count)(all, &count);
    for (size_t i = 0; good && i < count; i++) {
        realm_object_t* source = F(realm_results_get_object)(all, i);
        realm_object_t* target = F(realm_get_object)(s.realm, to.key, F(realm_object_get_key)(source));
        realm_value_t v{};
        good = target && F(realm_get_value)(source, p.key, &v);
        if (good && v.type != RLM_TYPE_LIST && v.type != RLM_TYPE_DICTIONARY) good = F(realm_set_value)(target, q.key, v, false);
        if (target) F(realm_release)(target);
        F(realm_release)(source);
    }
    F(realm_release)(all);
    return good;
}

bool apply(const State& s, const Fields& f) {
    const std::string& what = f[0];
    if (what == "create") return create(s, f);
    if (what == "set") return change(s, f);
    if (what == "delete") return remove_object(s, f);
    if (what == "clear") return clear(s, f);
    if (what == "copy") return copy(s, f);
    if (what == "begin") return F(realm_begin_write)(s.realm);
    if (what == "commit") return F(realm_commit)(s.realm);
    if (what == "rollback") return F(realm_rollback)(s.realm);
    if (what == "rename") {
        auto* target = const_cast<realm_schema_t*>(s.target);
        return F(realm_schema_rename_property)(s.realm, target, text(f, 1).c_str(), text(f, 2).c_str(), text(f, 3).c_str());
    }
    if (what == "remove") {
        bool removed = false;
        bool good = F(realm_remove_table)(s.realm, text(f, 1).c_str(), &removed);
        if (good) say(removed ? "  removed" : "  not removed");
        return good;
    }
    if (what == "schema") {
        show_schema(s.realm);
        return true;
    }
    fprintf(stderr, "unknown operation %s\n", what.c_str());
    exit(3);
}
void report(const State& s, const Fields& f) {
    bool good = apply(s, f);
    say("  " + f[0] + (good ? " ok" : " error " + std::to_string(error_number())));
    if (good) error_number();
    kept.clear();
}

struct Functions {
    bool has_migration = false, has_initialization = false;
    Operations migration, initialization;
};
Functions functions;

bool run_all(const Operations& operations, const State& s) {
    for (const Fields& f : operations) {
        if (f[0] == "fail") return false;
        report(s, f);
    }
    return true;
}
bool migrate(realm_userdata_t, realm_t* old, realm_t* realm, const realm_schema_t* target) {
    say("  migrating");
    return run_all(functions.migration, State{realm, old, target});
}
bool initialize(realm_userdata_t, realm_t* realm) {
    say("  initializing");
    return run_all(functions.initialization, State{realm});
}

// ------------------------------------------------------------------------------------------------
// The commands

bool on_thread(realm_userdata_t) { return true; }
void notify(realm_userdata_t, realm_work_queue_t*) {}
bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
void released(realm_userdata_t) {}

Classes classes;
realm_t* realm;

void close_realm() {
    if (!realm) return;
    F(realm_close)(realm);
    F(realm_release)(realm);
    realm = nullptr;
}
realm_config_t* make_config(const std::string& path, realm_schema_mode_e mode) {
    realm_config_t* config = F(realm_config_new)();
    F(realm_config_set_path)(config, path.c_str());
    F(realm_config_set_schema_mode)(config, mode);
    F(realm_config_set_cached)(config, false);
    F(realm_config_set_automatic_change_notifications)(config, false);
    realm_scheduler_t* scheduler = F(realm_scheduler_new)(nullptr, released, notify, on_thread, same, on_thread);
    F(realm_config_set_scheduler)(config, scheduler);
    F(realm_release)(scheduler);
    return config;
}
// open PATH MODE VERSION SUBSET BACKLINKS TYPED
void open_realm(const Fields& f) {
    close_realm();
    realm_config_t* config = make_config(text(f, 1), static_cast<realm_schema_mode_e>(number(f, 2)));
    F(realm_config_set_schema_subset_mode)(config, static_cast<realm_schema_subset_mode_e>(number(f, 4)));
    F(realm_config_set_automatic_backlink_handling)(config, number(f, 5) != 0);
    if (number(f, 6)) {
        realm_schema_t* schema = make_schema(classes);
        if (!schema) {
            say("schema error " + std::to_string(error_number()));
            F(realm_release)(config);
            return;
        }
        F(realm_config_set_schema)(config, schema);
        F(realm_config_set_schema_version)(config, number(f, 3));
        F(realm_release)(schema);
    }
    if (functions.has_migration) F(realm_config_set_migration_function)(config, migrate, nullptr, nullptr);
    if (functions.has_initialization) F(realm_config_set_data_initialization_function)(config, initialize, nullptr, nullptr);
    realm = F(realm_open)(config);
    F(realm_release)(config);
    say(realm ? "open ok" : "open error " + std::to_string(error_number()));
}
void update() {
    realm_schema_t* schema = make_schema(classes);
    if (!schema) return say("schema error " + std::to_string(error_number()));
    bool good = realm && F(realm_update_schema)(realm, schema);
    say(good ? "update ok" : "update error " + std::to_string(error_number()));
    F(realm_release)(schema);
}

// Prints the findings of crealm_verify in a file, if the library has it.
void verify(const std::string& path) {
    using Verify = bool (*)(const realm_t*, char**);
    auto check = reinterpret_cast<Verify>(dlsym(library, "crealm_verify"));
    if (!check) return;
    close_realm();
    realm_config_t* config = make_config(path, RLM_SCHEMA_MODE_IMMUTABLE);
    realm = F(realm_open)(config);
    F(realm_release)(config);
    if (!realm) return say("not opened: " + std::to_string(error_number()));
    char* report = nullptr;
    if (!check(realm, &report)) say(report ? report : "no answer: " + std::to_string(error_number()));
    F(realm_free)(report);
    close_realm();
}

void collect_property(const Fields& f) {
    if (classes.empty()) return;
    Property p{text(f, 1), text(f, 2), text(f, 5), text(f, 6), static_cast<int>(number(f, 3)), static_cast<int>(number(f, 4)), static_cast<int>(number(f, 7))};
    auto& list = p.type == RLM_PROPERTY_TYPE_LINKING_OBJECTS ? classes.back().computed : classes.back().persisted;
    list.push_back(p);
}
// Collects the rest of a line as an operation of a function; a line without an operation only means that the function
// exists.
void collect_operation(const Fields& f, bool& has, Operations& operations) {
    has = true;
    if (f.size() > 1) operations.emplace_back(f.begin() + 1, f.end());
}

void command(const Fields& f) {
    const std::string& what = f[0];
    if (what == "class") {
        classes.push_back({text(f, 1), text(f, 2), static_cast<int>(number(f, 3)), {}, {}});
    } else if (what == "property") {
        collect_property(f);
    } else if (what == "migrate") {
        collect_operation(f, functions.has_migration, functions.migration);
    } else if (what == "initialize") {
        collect_operation(f, functions.has_initialization, functions.initialization);
    } else if (what == "open" || what == "update") {
        if (what == "open") open_realm(f); else update();
        classes.clear();
        functions = {};
        kept.clear();
    } else if (what == "close") {
        close_realm();
    } else if (what == "verify") {
        verify(text(f, 1));
    } else if (what == "flush") {
        std::cout << "." << std::endl;
    } else if (realm) {
        report(State{realm}, f);
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 2 || !(library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL))) {
        fprintf(stderr, "usage: steps LIBRARY\n%s\n", count == 2 ? dlerror() : "");
        return 2;
    }
    F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
    std::string line;
    while (std::getline(std::cin, line)) {
        Fields fields;
        for (size_t at = 0; at <= line.size();) {
            size_t end = std::min(line.find('\t', at), line.size());
            fields.push_back(line.substr(at, end - at));
            at = end + 1;
        }
        command(fields);
    }
    close_realm();
}
