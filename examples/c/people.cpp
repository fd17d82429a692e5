// The same database as people.c makes, from C++: handles that release themselves, errors as exceptions, a write that rolls back when one passes.
#include <crealm.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

struct Error : std::runtime_error {
    int number;
    Error(int number, const char* message) : std::runtime_error(message), number(number) {}
};

/// Throws the last error of this thread.
[[noreturn]] void fail() {
    realm_error_t e{};
    realm_get_last_error(&e);
    throw Error(e.error, e.message ? e.message : "unknown error");
}
void check(bool good) {
    if (!good) fail();
}

/// An own handle.
struct Release {
    void operator()(void* handle) const { realm_release(handle); }
};
template <class T> using Handle = std::unique_ptr<T, Release>;
template <class T> Handle<T> own(T* handle) {
    if (!handle) fail();
    return Handle<T>(handle);
}

/// A write transaction: committed by commit(), rolled back when the scope is left without.
class Write {
public:
    explicit Write(realm_t* realm) : realm(realm) { check(realm_begin_write(realm)); }
    ~Write() {
        if (realm) realm_rollback(realm);
    }
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;
    void commit() {
        check(realm_commit(realm));
        realm = nullptr;
    }

private:
    realm_t* realm;
};

realm_value_t value(int64_t i) {
    realm_value_t v{};
    v.type = RLM_TYPE_INT;
    v.integer = i;
    return v;
}
/// A view: the text must live as long as the call.
realm_value_t value(const std::string& s) {
    realm_value_t v{};
    v.type = RLM_TYPE_STRING;
    v.string = {s.data(), s.size()};
    return v;
}

Handle<realm_t> open(const char* path) {
    const realm_property_info_t properties[] = {
        {"id", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", "", RLM_INVALID_PROPERTY_KEY, RLM_PROPERTY_PRIMARY_KEY},
        {"name", "", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", "", RLM_INVALID_PROPERTY_KEY, RLM_PROPERTY_NORMAL}};
    const realm_property_info_t* all[] = {properties};
    const realm_class_info_t person = {"Person", "id", 2, 0, RLM_INVALID_CLASS_KEY, RLM_CLASS_NORMAL};
    auto schema = own(realm_schema_new(&person, 1, all));
    auto config = own(realm_config_new());
    realm_config_set_path(config.get(), path);
    realm_config_set_schema(config.get(), schema.get());
    realm_config_set_schema_version(config.get(), 1);
    realm_config_set_schema_mode(config.get(), RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
    return own(realm_open(config.get()));
}

void run(const char* path) {
    auto realm = open(path);
    realm_class_info_t person{};
    realm_property_info_t name{};
    bool found = false;
    check(realm_find_class(realm.get(), "Person", &found, &person));
    check(realm_find_property(realm.get(), person.key, "name", &found, &name));

    Write write(realm.get());
    auto ann = own(realm_object_get_or_create_with_primary_key(realm.get(), person.key, value(1), nullptr));
    check(realm_set_value(ann.get(), name.key, value("Ann"), false));
    write.commit();

    auto query = own(realm_query_parse(realm.get(), person.key, "name BEGINSWITH 'A'", 0, nullptr));
    auto results = own(realm_query_find_all(query.get()));
    size_t count = 0;
    check(realm_results_count(results.get(), &count));
    for (size_t i = 0; i < count; i++) {
        auto object = own(realm_results_get_object(results.get(), i));
        realm_value_t v{};
        check(realm_get_value(object.get(), name.key, &v));
        std::printf("%.*s\n", static_cast<int>(v.string.size), v.string.data);  // A view: copied or printed before the next write.
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: people_cpp FILE.realm\n"), 2;
    try {
        run(argv[1]);
    } catch (const Error& e) {
        std::fprintf(stderr, "error %d: %s\n", e.number, e.what());
        return 1;
    }
}
