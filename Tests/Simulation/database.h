/*
 * database.h - the operations of the simulated processes: open, change, read everything.
 *
 *   Account(id, balance, note)       ACCOUNTS of them; the balances always sum to ACCOUNTS * START
 *   Item(n, text, data, owner, numbers, friends, names, extras)
 *   State(id, stamp, items, weight)  one object: the number of the transaction that wrote it, the count of items and the sum of their n
 */

#ifndef DATABASE_H
#define DATABASE_H

#include "world.h"

#include <crealm.h>
#include <functional>

#define FUNCTIONS(X)                                                                                                                      \
    X(realm_get_last_error) X(realm_clear_last_error) X(realm_release) X(realm_set_log_level) X(realm_config_new) X(realm_config_set_path) \
    X(realm_config_set_cached) X(realm_config_set_schema) X(realm_config_set_schema_version) X(realm_config_set_schema_mode)              \
    X(realm_config_set_automatic_change_notifications) X(realm_config_set_encryption_key) X(realm_config_set_scheduler)                   \
    X(realm_scheduler_new) X(realm_schema_new) X(realm_open) X(realm_close) X(realm_begin_read) X(realm_begin_write) X(realm_commit)      \
    X(realm_rollback) X(realm_refresh) X(realm_get_version_id) X(realm_get_num_versions) X(realm_compact) X(realm_convert_with_config)    \
    X(realm_delete_files) X(realm_get_class_keys) X(realm_get_class) X(realm_get_class_properties) X(realm_find_class)                    \
    X(realm_find_property) X(realm_get_num_objects) X(realm_object_create) X(realm_object_create_with_primary_key)                        \
    X(realm_object_find_with_primary_key) X(realm_object_find_all) X(realm_object_delete) X(realm_object_as_link)                         \
    X(realm_object_get_key) X(realm_get_value) X(realm_set_value) X(realm_get_list) X(realm_list_size) X(realm_list_get)                  \
    X(realm_list_insert) X(realm_list_erase) X(realm_get_set) X(realm_set_size) X(realm_set_get) X(realm_set_insert) X(realm_set_erase)   \
    X(realm_get_dictionary) X(realm_dictionary_size) X(realm_dictionary_get) X(realm_dictionary_insert) X(realm_results_count)            \
    X(realm_results_get_object) X(realm_is_writable) X(realm_free) X(crealm_verify) X(crealm_change_key) X(crealm_config_set_page_cipher) \
    X(crealm_config_set_page_memory) X(crealm_config_set_durability) X(crealm_set_system_calls) X(realm_async_begin_write)                \
    X(crealm_config_set_shrinking) X(crealm_compact_online)                                                                              \
    X(realm_async_commit) X(realm_scheduler_perform_work)

/* The functions of one copy of the library. */
struct Library {
#define MEMBER(name) __typeof__(&::name) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
    /* Loads a copy of the library file made for the process, and installs the process's table of calls in it. */
    void load(const std::string& path, Process& process, const std::string& folder);
};
extern Library libraries[process_limit];
/* How commits reach the disk. */
extern crealm_durability_e durability;
/* Files of at least this size shrink when a quarter of them is free; 0: as in the library. */
extern size_t shrinking_size;

/* How a file is encrypted. */
enum Form { plain, xchacha, gcm, realms };
constexpr int form_count = 4;
extern const char* const form_names[form_count];
struct Secret {
    Form form = plain;
    int key = 0;
    bool operator==(const Secret& other) const { return form == other.form && (form == plain || key == other.key); }
};

/* The result of an open or a call. */
struct Outcome {
    bool good = true;
    int code = 0;
    std::string message;
};

/* The content of a snapshot, in two numbers. */
struct Content {
    uint64_t digest = 0;
    int64_t stamp = 0;
    bool operator==(const Content& other) const { return digest == other.digest && stamp == other.stamp; }
    bool operator!=(const Content& other) const { return !(*this == other); }
};

/* Adds bytes to a hash. */
void mix(uint64_t& hash, const void* data, size_t size);

/* A realm that one of the processes has open. */
class Realm {
public:
    enum Access { writing, reading, immutable };
    Realm(Process& p, const std::string& path, Secret secret, Access access = writing, bool with_schema = true);
    ~Realm() { close(); }
    Realm(const Realm&) = delete;
    Realm& operator=(const Realm&) = delete;

    bool is_open() const { return realm != nullptr; }
    const Outcome& outcome() const { return last; } /* the result of the last call */
    void close();

    bool begin_write() { return did(l.realm_begin_write(realm)); }
    bool commit() { return did(l.realm_commit(realm)); }
    bool rollback() { return did(l.realm_rollback(realm)); }
    bool refresh() { return did(l.realm_refresh(realm, nullptr)); }
    /* Asynchronous writes that are flushed together; `change` makes the changes of each (false: it failed). The realm
       has no helper thread, so all work happens in this call. Returns whether all were committed and reported as being
       on the disk. */
    bool commit_group(int count, const std::function<bool(int)>& change);
    bool is_writing() { return l.realm_is_writable(realm); }
    bool compact(bool& done) { return did(l.realm_compact(realm, &done)); }
    bool compact_online() { return did(l.crealm_compact_online(realm, nullptr, nullptr)); }
    bool copy_to(const std::string& path, Secret secret);
    bool change_key(Secret secret);
    bool verify(std::string& report);
    /* Random changes in a write transaction, which leave `stamp` in the file. */
    bool change(Random& random, int64_t stamp, bool large = false);
    /* Writes the stamp, and a note of a given length: commits with notes of one length have the same size, and fit into
       the space of earlier ones. */
    bool change_note(int64_t stamp, size_t length);
    /* Reads everything. Returns false after an error, or for a state that no transaction wrote. */
    bool read(Content& content);
    bool was_mixed() const { return mixed; }
    bool versions(uint64_t& count) { return did(l.realm_get_num_versions(realm, &count)); }

    Process& process;
    const std::string path;

private:
    Library& l;
    realm_t* realm = nullptr;
    Outcome last;
    bool mixed = false;
    realm_class_key_t account = 0, item = 0, state = 0;
    realm_property_key_t balance = 0, note = 0, n = 0, text = 0, data = 0, owner = 0, numbers = 0, friends = 0, names = 0, extras = 0,
                         stamp_of = 0, items = 0, weight = 0;

    bool did(bool good);
    bool find_keys();
    bool key_of(realm_class_key_t table, const char* name, realm_property_key_t& key);
    bool set(realm_object_t* object, realm_property_key_t key, realm_value_t value);
    bool get(realm_object_t* object, realm_property_key_t key, int64_t& value);
    bool create_all();
    bool read_property(realm_object_t* object, const realm_property_info_t& property, uint64_t& digest);
    realm_config_t* config(const std::string& path, Secret secret);
};
bool delete_files(Process& p, const std::string& path, bool& done, Outcome& outcome);

#endif
