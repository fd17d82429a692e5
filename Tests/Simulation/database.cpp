#include "values.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

Library libraries[process_limit];
crealm_durability_e durability = CREALM_DURABILITY_FULL;
size_t shrinking_size = 0;
bool with_rules = false;
const char* const form_names[form_count] = {"plain", "xchacha", "gcm", "realm"};

enum { accounts = 8, start = 1000, most_items = 40 };

// ---- The library ------------------------------------------------------------------------------------------------------------------

void Library::load(const std::string& path, Process& process, const std::string& folder) {
    // The loader recognises a file by its identity: each process needs its own copy.
    std::string copy = folder + "library-" + std::to_string(process.number) + ".so";
    std::string command = "cp '" + path + "' '" + copy + "'";
    if (system(command.c_str()) != 0) exit(2);
    void* handle = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    unlink(copy.c_str());
#define RESOLVE(name)                                                                                                                     \
    name = (__typeof__(name))dlsym(handle, #name);                                                                                        \
    if (!name) {                                                                                                                          \
        fprintf(stderr, "missing symbol %s\n", #name);                                                                                    \
        exit(2);                                                                                                                          \
    }
    FUNCTIONS(RESOLVE)
#undef RESOLVE
    crealm_set_system_calls(process.table());
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
}

static Outcome outcome_of(Library& l, bool good) {
    Outcome o;
    o.good = good;
    if (good) return o;
    realm_error_t e;
    memset(&e, 0, sizeof e);
    if (l.realm_get_last_error(&e)) {
        o.code = (int)e.error;
        o.message = e.message ? e.message : "";
    } else {
        o.code = -1;
        o.message = "failed without an error";
    }
    l.realm_clear_last_error();
    return o;
}
bool Realm::did(bool good) {
    last = outcome_of(l, good);
    return good;
}
bool delete_files(Process& p, const std::string& path, bool& done, Outcome& outcome) {
    Library& l = libraries[p.number];
    outcome = outcome_of(l, l.realm_delete_files(path.c_str(), &done));
    return outcome.good;
}

// ---- Opening ----------------------------------------------------------------------------------------------------------------------

static bool yes(realm_userdata_t) { return true; }
/* The work queue of the only realm that writes asynchronously. */
static realm_work_queue_t* waiting;
static void notify(realm_userdata_t, realm_work_queue_t* queue) { waiting = queue; }
static bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }
static void release(realm_userdata_t) {}

realm_config_t* Realm::config(const std::string& at, Secret secret) {
    realm_config_t* c = l.realm_config_new();
    l.realm_config_set_path(c, at.c_str());
    l.realm_config_set_cached(c, false);
    l.realm_config_set_automatic_change_notifications(c, false);
    l.crealm_config_set_page_memory(c, 16 << 20);
    l.crealm_config_set_durability(c, durability);
    if (shrinking_size) l.crealm_config_set_shrinking(c, shrinking_size, 25);
    if (secret.form != plain) {
        uint8_t key[64];
        for (int i = 0; i < 64; i++) key[i] = (uint8_t)(i * 7 + secret.key * 31 + 1);
        l.realm_config_set_encryption_key(c, key, sizeof key);
        l.crealm_config_set_page_cipher(c, (crealm_page_cipher_e)(secret.form - 1));
    }
    realm_scheduler_t* scheduler = l.realm_scheduler_new(nullptr, release, notify, yes, same, yes);
    l.realm_config_set_scheduler(c, scheduler);
    l.realm_release(scheduler);
    return c;
}

static realm_property_info_t property(const char* name, realm_property_type_e type, int flags = 0, const char* target = "",
                                      realm_collection_type_e collection = RLM_COLLECTION_TYPE_NONE) {
    realm_property_info_t p;
    memset(&p, 0, sizeof p);
    p.name = name, p.public_name = "", p.link_target = target, p.link_origin_property_name = "";
    p.type = type, p.collection_type = collection, p.key = RLM_INVALID_PROPERTY_KEY, p.flags = flags;
    return p;
}
static realm_schema_t* make_schema(Library& l) {
    const realm_property_info_t account[] = {property("id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
                                             property("balance", RLM_PROPERTY_TYPE_INT),
                                             property("note", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_NULLABLE)};
    const realm_property_info_t item[] = {property("n", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_INDEXED),
                                          property("text", RLM_PROPERTY_TYPE_STRING, RLM_PROPERTY_NULLABLE),
                                          property("data", RLM_PROPERTY_TYPE_BINARY),
                                          property("owner", RLM_PROPERTY_TYPE_OBJECT, RLM_PROPERTY_NULLABLE, "Account"),
                                          property("numbers", RLM_PROPERTY_TYPE_INT, 0, "", RLM_COLLECTION_TYPE_LIST),
                                          property("friends", RLM_PROPERTY_TYPE_OBJECT, 0, "Item", RLM_COLLECTION_TYPE_LIST),
                                          property("names", RLM_PROPERTY_TYPE_STRING, 0, "", RLM_COLLECTION_TYPE_SET),
                                          property("extras", RLM_PROPERTY_TYPE_MIXED, RLM_PROPERTY_NULLABLE, "", RLM_COLLECTION_TYPE_DICTIONARY)};
    const realm_property_info_t state[] = {property("id", RLM_PROPERTY_TYPE_INT, RLM_PROPERTY_PRIMARY_KEY),
                                           property("stamp", RLM_PROPERTY_TYPE_INT), property("items", RLM_PROPERTY_TYPE_INT),
                                           property("weight", RLM_PROPERTY_TYPE_INT)};
    std::vector<std::vector<realm_property_info_t>> properties = {{std::begin(account), std::end(account)},
                                                                  {std::begin(item), std::end(item)},
                                                                  {std::begin(state), std::end(state)}};
    std::vector<std::pair<const char*, const char*>> names = {{"Account", "id"}, {"Item", ""}, {"State", "id"}};
    if (with_rules) {
        const int date = RLM_PROPERTY_TYPE_TIMESTAMP, number = RLM_PROPERTY_TYPE_INT, key = RLM_PROPERTY_PRIMARY_KEY,
                  optional = RLM_PROPERTY_NULLABLE, link = RLM_PROPERTY_TYPE_OBJECT;
        auto p = [](const char* name, int type, int flags = 0, const char* target = "") {
            return property(name, (realm_property_type_e)type, flags, target);
        };
        properties.push_back({p("id", number, key), p("touch", number), p("revision", number)});
        properties.push_back({p("id", number, key), p("touch", number), p("row", number), p("seat", number, optional),
                              p("age", number), p("team", link, optional, "Team"),
                              p("favorite", link, optional, "Part"),
                              property("parts", RLM_PROPERTY_TYPE_OBJECT, 0, "Part", RLM_COLLECTION_TYPE_LIST),
                              p("created", date), p("modified", date), p("revision", number)});
        properties.push_back({p("number", number), p("touch", number), p("label", RLM_PROPERTY_TYPE_STRING, optional),
                              p("boss", link, optional, "Member"), p("modified", date), p("revision", number)});
        properties.push_back({p("id", number, key), p("team", number), p("member", number), p("part", number)});
        for (auto& one : {"Team", "Member", "Part", "Highest"}) names.push_back({one, strcmp(one, "Part") ? "id" : ""});
    }
    std::vector<realm_class_info_t> classes(names.size());
    std::vector<const realm_property_info_t*> all;
    for (size_t i = 0; i < names.size(); i++) {
        memset(&classes[i], 0, sizeof classes[i]);
        classes[i].name = names[i].first;
        classes[i].primary_key = names[i].second;
        classes[i].num_properties = properties[i].size();
        classes[i].key = RLM_INVALID_CLASS_KEY;
        all.push_back(properties[i].data());
    }
    return l.realm_schema_new(classes.data(), classes.size(), all.data());
}

Realm::Realm(Process& p, const std::string& at, Secret secret, Access access, bool with_schema, bool declares_rules)
    : process(p), path(at), l(libraries[p.number]) {
    realm_config_t* c = config(at, secret);
    if (access == immutable) l.realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_IMMUTABLE);
    if (access == reading) l.realm_config_set_schema_mode(c, RLM_SCHEMA_MODE_READ_ONLY);
    if (with_schema) {
        realm_schema_t* schema = make_schema(l);
        l.realm_config_set_schema(c, schema);
        l.realm_config_set_schema_version(c, 1);
        l.realm_release(schema);
        has_rules = with_rules;
        if (has_rules && declares_rules) l.crealm_config_set_rules(c, declared_rules);
    }
    if (has_rules) l.crealm_config_set_refuse_broken_rules(c, true);
    realm = l.realm_open(c);
    did(realm != nullptr);
    l.realm_release(c);
    if (realm && with_schema && !find_keys()) {
        Outcome why = last;
        close();
        last = why;
    }
}
void Realm::close() {
    if (!realm) return;
    l.realm_close(realm);
    l.realm_release(realm);
    realm = nullptr;
}
bool Realm::key_of(realm_class_key_t table, const char* name, realm_property_key_t& key) {
    bool found = false;
    realm_property_info_t info;
    memset(&info, 0, sizeof info);
    if (!did(l.realm_find_property(realm, table, name, &found, &info))) return false;
    key = info.key;
    return found;
}
bool Realm::table_of(const char* name, realm_class_key_t& key) {
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    if (!did(l.realm_find_class(realm, name, &found, &info))) return false;
    key = info.key;
    return found;
}
bool Realm::find_keys() {
    auto table = [&](const char* name, realm_class_key_t& key) { return table_of(name, key); };
    return table("Account", account) && table("Item", item) && table("State", state) && key_of(account, "balance", balance) &&
           key_of(account, "note", note) && key_of(item, "n", n) && key_of(item, "text", text) && key_of(item, "data", data) &&
           key_of(item, "owner", owner) && key_of(item, "numbers", numbers) && key_of(item, "friends", friends) &&
           key_of(item, "names", names) && key_of(item, "extras", extras) && key_of(state, "stamp", stamp_of) &&
           key_of(state, "items", items) && key_of(state, "weight", weight) && (!has_rules || find_keys_of_rules());
}

bool Realm::copy_to(const std::string& to, Secret secret) {
    realm_config_t* c = config(to, secret);
    bool good = did(l.realm_convert_with_config(realm, c, false));
    l.realm_release(c);
    return good;
}
bool Realm::change_key(Secret secret) {
    realm_config_t* c = config(path, secret);
    bool good = did(l.crealm_change_key(realm, c));
    l.realm_release(c);
    return good;
}
bool Realm::verify(std::string& report) {
    char* text = nullptr;
    bool good = did(l.crealm_verify(realm, &text));
    report = text ? text : last.message;
    l.realm_free(text);
    return good;
}

// ---- Changing ---------------------------------------------------------------------------------------------------------------------

bool Realm::set(realm_object_t* object, realm_property_key_t key, realm_value_t v) { return did(l.realm_set_value(object, key, v, false)); }
bool Realm::get(realm_object_t* object, realm_property_key_t key, int64_t& value) {
    realm_value_t v;
    if (!did(l.realm_get_value(object, key, &v))) return false;
    value = v.type == RLM_TYPE_INT ? v.integer : INT64_MIN;
    return true;
}
bool Realm::create_all() {
    for (int i = 0; i < accounts; i++) {
        Held<realm_object_t> a{l, l.realm_object_create_with_primary_key(realm, account, integer(i))};
        if (!did(a.p != nullptr) || !set(a, balance, integer(start))) return false;
    }
    Held<realm_object_t> s{l, l.realm_object_create_with_primary_key(realm, state, integer(0))};
    return did(s.p != nullptr);
}

bool Realm::change_note(int64_t stamp, size_t length) {
    Held<realm_object_t> s{l, l.realm_object_find_with_primary_key(realm, state, integer(0), nullptr)};
    Held<realm_object_t> a{l, l.realm_object_find_with_primary_key(realm, account, integer(0), nullptr)};
    const std::string words(length, (char)('a' + stamp % 26));
    if (!did(s.p && a.p) || !set(a, note, string(words)) || !set(s, stamp_of, integer(stamp))) return false;
    return !has_rules || change_alike_under_rules(stamp);
}

bool Realm::change(Random& random, int64_t stamp, bool large) {
    bool found = false;
    Held<realm_object_t> s{l, l.realm_object_find_with_primary_key(realm, state, integer(0), &found)};
    if (!s.p) {
        // An empty file is no error.
        size_t count = 0;
        if (!did(l.realm_get_num_objects(realm, state, &count))) return false;
        if (count > 0) return did(false);
        l.realm_clear_last_error();
        if (!create_all()) return false;
        s.p = l.realm_object_find_with_primary_key(realm, state, integer(0), &found);
        if (!did(s.p != nullptr)) return false;
    }
    int64_t count = 0, sum = 0;
    if (!get(s, items, count) || !get(s, weight, sum)) return false;
    auto some_account = [&]() -> realm_object_t* {
        return l.realm_object_find_with_primary_key(realm, account, integer((int64_t)random.below(accounts)), nullptr);
    };
    for (uint64_t i = 1 + random.below(3); i; i--) {
        Held<realm_object_t> from{l, some_account()}, to{l, some_account()};
        int64_t has = 0, amount = (int64_t)random.below(1u << random.below(30));
        if (!did(from.p && to.p)) return false;
        if (!get(from, balance, has) || !set(from, balance, integer(has - amount))) return false;
        if (!get(to, balance, has) || !set(to, balance, integer(has + amount))) return false;
    }
    if (random.chance(40)) {
        Held<realm_object_t> a{l, some_account()};
        std::string words(random.below(random.chance(80) ? 30 : 900), (char)('a' + random.below(26)));
        if (!did(a.p != nullptr) || !set(a, note, string(words))) return false;
    }
    Held<realm_results_t> all{l, l.realm_object_find_all(realm, item)};
    if (!did(all.p != nullptr)) return false;
    auto some_item = [&]() -> realm_object_t* {
        size_t now = 0;
        if (!did(l.realm_results_count(all, &now)) || now == 0) return nullptr;
        return l.realm_results_get_object(all, random.below(now));
    };
    uint64_t create = large ? 8 : random.below(3), remove = random.below(count > most_items ? 12 : 3);
    for (; create; create--) {
        int64_t number = stamp * 100 + (int64_t)create;
        Held<realm_object_t> o{l, l.realm_object_create(realm, item)};
        if (!did(o.p != nullptr) || !set(o, n, integer(number))) return false;
        Bytes payload; // never null
        payload.reserve(1);
        payload.assign(large ? 20000 : random.below(random.chance(90) ? 60 : random.chance(80) ? 3000 : 30000), (uint8_t)random.next());
        realm_value_t v = null();
        v.type = RLM_TYPE_BINARY;
        v.binary = {payload.data(), payload.size()};
        if (!set(o, data, v)) return false;
        if (random.chance(60) && !set(o, text, string(std::string(random.below(80), (char)('A' + random.below(26)))))) return false;
        if (random.chance(60)) {
            Held<realm_object_t> a{l, some_account()};
            if (!did(a.p != nullptr)) return false;
            v = null();
            v.type = RLM_TYPE_LINK;
            v.link = l.realm_object_as_link(a);
            if (!set(o, owner, v)) return false;
        }
        count++, sum += number;
    }
    for (uint64_t i = random.below(4); i && count > 0; i--) {
        Held<realm_object_t> o{l, some_item()}, other{l, some_item()};
        if (!did(o.p && other.p)) return false;
        switch (random.below(4)) {
            case 0: {
                Held<realm_list_t> list{l, l.realm_get_list(o, numbers)};
                size_t size = 0;
                if (!did(list.p && l.realm_list_size(list, &size))) return false;
                if (size > 20 ? !did(l.realm_list_erase(list, random.below(size)))
                              : !did(l.realm_list_insert(list, random.below(size + 1), integer((int64_t)random.next())))) return false;
                break;
            }
            case 1: {
                Held<realm_list_t> list{l, l.realm_get_list(o, friends)};
                realm_value_t v = null();
                v.type = RLM_TYPE_LINK;
                v.link = l.realm_object_as_link(other);
                if (!did(list.p && l.realm_list_insert(list, 0, v))) return false;
                break;
            }
            case 2: {
                Held<realm_set_t> names_of{l, l.realm_get_set(o, names)};
                bool did_insert = false;
                size_t index = 0;
                if (!did(names_of.p && l.realm_set_insert(names_of, string(std::string(1 + random.below(20), (char)('a' + random.below(26)))),
                                                          &index, &did_insert))) return false;
                break;
            }
            default: {
                Held<realm_dictionary_t> extras_of{l, l.realm_get_dictionary(o, extras)};
                const std::string key(1, (char)('k' + random.below(8))), words = "some text that is kept elsewhere";
                bool did_insert = false;
                size_t index = 0;
                realm_value_t v = random.chance(50) ? integer((int64_t)random.next()) : string(words);
                if (!did(extras_of.p && l.realm_dictionary_insert(extras_of, string(key), v, &index, &did_insert))) return false;
            }
        }
    }
    for (; remove && count > 0; remove--) {
        Held<realm_object_t> o{l, some_item()};
        int64_t number = 0;
        if (!did(o.p != nullptr) || !get(o, n, number) || !did(l.realm_object_delete(o))) return false;
        count--, sum -= number;
    }
    if (!set(s, items, integer(count)) || !set(s, weight, integer(sum))) return false;
    return set(s, stamp_of, integer(stamp)) && (!has_rules || change_under_rules(random));
}

// ---- Reading ----------------------------------------------------------------------------------------------------------------------

void mix(uint64_t& h, const void* data, size_t n) {
    const uint8_t* p = (const uint8_t*)data;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;
        memcpy(&v, p, 8);
        h = (h ^ v) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
    }
    uint64_t v = n + 1;
    for (; n; n--) v = v << 8 | *p++;
    h = (h ^ v) * 0x9E3779B97F4A7C15u, h ^= h >> 29;
}
void mix(uint64_t& h, int64_t n) { mix(h, &n, 8); }
void mix(uint64_t& h, const realm_value_t& v) {
    mix(h, (int64_t)v.type);
    switch (v.type) {
        case RLM_TYPE_NULL: break;
        case RLM_TYPE_INT: mix(h, v.integer); break;
        case RLM_TYPE_BOOL: mix(h, (int64_t)v.boolean); break;
        case RLM_TYPE_STRING: mix(h, v.string.data, v.string.size); break;
        case RLM_TYPE_BINARY: mix(h, v.binary.data, v.binary.size); break;
        case RLM_TYPE_TIMESTAMP: mix(h, v.timestamp.seconds), mix(h, (int64_t)v.timestamp.nanoseconds); break;
        case RLM_TYPE_FLOAT: mix(h, &v.fnum, 4); break;
        case RLM_TYPE_DOUBLE: mix(h, &v.dnum, 8); break;
        case RLM_TYPE_DECIMAL128: mix(h, &v.decimal128, 16); break;
        case RLM_TYPE_OBJECT_ID: mix(h, &v.object_id, 12); break;
        case RLM_TYPE_UUID: mix(h, &v.uuid, 16); break;
        case RLM_TYPE_LINK: mix(h, (int64_t)v.link.target_table), mix(h, v.link.target); break;
        default: mix(h, (int64_t)-2); break;
    }
}
bool Realm::read_property(realm_object_t* object, const realm_property_info_t& p, uint64_t& digest) {
    if (p.type == RLM_PROPERTY_TYPE_LINKING_OBJECTS) return true;
    size_t size = 0;
    realm_value_t k, v;
    switch (p.collection_type) {
        case RLM_COLLECTION_TYPE_LIST: {
            Held<realm_list_t> list{l, l.realm_get_list(object, p.key)};
            if (!did(list.p && l.realm_list_size(list, &size))) return false;
            mix(digest, (int64_t)size);
            for (size_t i = 0; i < size; i++) {
                if (!did(l.realm_list_get(list, i, &v))) return false;
                mix(digest, v);
            }
            return true;
        }
        case RLM_COLLECTION_TYPE_SET: {
            Held<realm_set_t> set{l, l.realm_get_set(object, p.key)};
            if (!did(set.p && l.realm_set_size(set, &size))) return false;
            mix(digest, (int64_t)size);
            for (size_t i = 0; i < size; i++) {
                if (!did(l.realm_set_get(set, i, &v))) return false;
                mix(digest, v);
            }
            return true;
        }
        case RLM_COLLECTION_TYPE_DICTIONARY: {
            Held<realm_dictionary_t> dictionary{l, l.realm_get_dictionary(object, p.key)};
            if (!did(dictionary.p && l.realm_dictionary_size(dictionary, &size))) return false;
            mix(digest, (int64_t)size);
            for (size_t i = 0; i < size; i++) {
                if (!did(l.realm_dictionary_get(dictionary, i, &k, &v))) return false;
                mix(digest, k), mix(digest, v);
            }
            return true;
        }
        default:
            if (!did(l.realm_get_value(object, p.key, &v))) return false;
            mix(digest, v);
            return true;
    }
}
bool Realm::read(Content& content) {
    // The library writes times and revisions when it commits: the content is that of the coming commit.
    return scan(content, has_rules && is_writing() ? Stamps::predicted : Stamps::stored);
}
bool Realm::scan(Content& content, Stamps stamps) {
    mixed = false;
    content = Content();
    if (stamps == Stamps::noted) base.clear();
    uint64_t h = 1;
    realm_class_key_t keys[64];
    size_t classes = 0, properties = 0, count = 0;
    int64_t balances = 0, weights = 0, found_items = 0, found_accounts = 0, said_items = 0, said_weight = 0;
    if (!did(l.realm_begin_read(realm) || is_writing())) return false;
    if (!did(l.realm_get_class_keys(realm, keys, 64, &classes))) return false;
    for (size_t c = 0; c < classes; c++) {
        realm_class_info_t info;
        realm_property_info_t all[128];
        if (!did(l.realm_get_class(realm, keys[c], &info))) return false;
        mix(h, info.name, strlen(info.name));
        if (!did(l.realm_get_class_properties(realm, keys[c], all, 128, &properties))) return false;
        Held<realm_results_t> objects{l, l.realm_object_find_all(realm, keys[c])};
        if (!did(objects.p && l.realm_results_count(objects, &count))) return false;
        mix(h, (int64_t)count);
        for (size_t i = 0; i < count; i++) {
            Held<realm_object_t> o{l, l.realm_results_get_object(objects, i)};
            if (!did(o.p != nullptr)) return false;
            mix(h, l.realm_object_get_key(o));
            if (has_rules && has_stamps(keys[c])) {
                if (!read_stamped(o, keys[c], all, properties, stamps, h)) return false;
                continue;
            }
            for (size_t p = 0; p < properties; p++)
                if (!read_property(o, all[p], h)) return false;
            int64_t value = 0;
            if (keys[c] == account && account && balance) {
                if (!get(o, balance, value)) return false;
                balances += value, found_accounts++;
            } else if (keys[c] == item && item && n) {
                if (!get(o, n, value)) return false;
                weights += value, found_items++;
            } else if (keys[c] == state && state && stamp_of) {
                if (!get(o, stamp_of, content.stamp) || !get(o, items, said_items) || !get(o, weight, said_weight)) return false;
            }
        }
    }
    content.digest = h;
    bool is_whole = found_accounts == 0 || (found_accounts == accounts && balances == accounts * start);
    if (!is_whole || found_items != said_items || weights != said_weight) {
        mixed = true;
        last = {false, 0, "a state that no transaction wrote"};
        return false;
    }
    return true;
}

// ---- Groups -----------------------------------------------------------------------------------------------------------------------

namespace {
struct Group {
    Library& l;
    realm_t* realm;
    const std::function<bool(int)>& change;
    int begun = 0, committed = 0, completed = 0;
    bool good = true;
    Outcome why;
};
}  // namespace
static void group_completed(realm_userdata_t p, bool error, const char* text) {
    auto& group = *(Group*)p;
    group.completed++;
    if (!error) return;
    group.good = false;
    group.why = Outcome{false, CREALM_ERR_COMMIT_OUTCOME_UNKNOWN, text};
}
static void group_begun(realm_userdata_t p) {
    auto& group = *(Group*)p;
    if (!group.good || !group.change(group.begun++)) return;
    if (group.l.realm_async_commit(group.realm, group_completed, &group, nullptr, true, nullptr)) group.committed++;
    else group.good = false, group.why = outcome_of(group.l, false);
}
bool Realm::commit_group(int count, const std::function<bool(int)>& change) {
    const std::function<bool(int)> noted_change = [&](int k) { return note_objects() && change(k); };
    Group group{l, realm, has_rules ? noted_change : change, 0, 0, 0, true, {}};
    waiting = nullptr;
    is_in_group = true;
    for (int i = 0; i < count; i++)
        if (!did(l.realm_async_begin_write(realm, group_begun, &group, nullptr, false, nullptr))) return false;
    while (waiting && (group.begun < count || group.completed < group.committed)) {
        realm_work_queue_t* queue = waiting;
        waiting = nullptr;
        l.realm_scheduler_perform_work(queue);
    }
    is_in_group = false;
    last = group.why;
    if (group.good && (group.committed < count || group.completed < count)) last = Outcome{false, 0, "the group did not end"};
    return last.good;
}
