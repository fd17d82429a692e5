/*
 * database.h - the operations of the simulated processes: open, change, read everything.
 *
 *   Account(id, balance, note)       ACCOUNTS of them; the balances always sum to ACCOUNTS * START
 *   Item(n, text, data, owner, numbers, friends, names, extras)
 *   State(id, stamp, items, weight)  one object: the number of the transaction that wrote it, the count of items and the sum of their n
 *
 * With `--rules` also classes with rules (rules.cpp):
 *
 *   Team(id, touch, revision)
 *   Member(id, touch, row, seat, age, team, favorite, parts, created, modified, revision)
 *   Part(number, touch, label, boss, modified, revision)
 *   Highest(id, team, member, part)  one object: the greatest automatic number that any transaction has seen
 *
 * Each change of a team, member or part also changes its `touch`.
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
    X(realm_async_commit) X(realm_scheduler_perform_work) X(realm_get_object) X(crealm_config_set_rules)               \
    X(crealm_config_set_refuse_broken_rules) X(crealm_get_broken_rules) X(crealm_object_find_by_unique)                \
    X(crealm_object_set_if_version) X(crealm_begin_savepoint) X(crealm_release_savepoint)                              \
    X(crealm_rollback_savepoint)

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
/* Files have rules. */
extern bool with_rules;
extern const char* const declared_rules;

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
void mix(uint64_t& hash, int64_t number);
void mix(uint64_t& hash, const realm_value_t& value);
template <typename T> struct Held;

/* A realm that one of the processes has open. */
class Realm {
public:
    enum Access { writing, reading, immutable };
    /* Without `declares_rules` only those rules hold that the file has. */
    Realm(Process& p, const std::string& path, Secret secret, Access access = writing, bool with_schema = true,
          bool declares_rules = true);
    ~Realm() { close(); }
    Realm(const Realm&) = delete;
    Realm& operator=(const Realm&) = delete;

    bool is_open() const { return realm != nullptr; }
    const Outcome& outcome() const { return last; } /* the result of the last call */
    void close();

    bool begin_write() { return did(l.realm_begin_write(realm)) && (!has_rules || note_objects()); }
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
    /* Whether all rules hold, the unique indexes find each object and no other, and the times and revisions are
       possible. After false, `fault` is empty if a call failed. */
    bool check_rules(std::string& fault);
    /* Creates, changes and deletes objects with rules, in a write transaction. */
    bool write_under_rules(Random& random);
    /* Breaks a rule in a write transaction, in which the commit must be refused; then corrects it. */
    bool refused_commit(Random& random);
    /* A deliberate fault: writes what the rules forbid, if the library does not see them. */
    bool write_against_rules(const std::string& rule, bool& done);
    bool versions(uint64_t& count) { return did(l.realm_get_num_versions(realm, &count)); }

    Process& process;
    const std::string path;

private:
    Library& l;
    realm_t* realm = nullptr;
    Outcome last;
    bool mixed = false, has_rules = false, is_in_group = false;
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
    bool table_of(const char* name, realm_class_key_t& key);

    // Rules
    /* Times and revisions: as they are stored; as the commit will write them; as stored, and noted in `base`. */
    enum class Stamps { stored, predicted, noted };
    struct Noted {
        uint64_t digest; /* of the values without times and revision */
        int64_t created, revision, modified;
    };
    std::map<std::pair<realm_class_key_t, realm_object_key_t>, Noted> base; /* when the write transaction began */
    struct {
        realm_class_key_t team, member, part, highest;
        struct { realm_property_key_t id, touch, revision; } of_team;
        struct {
            realm_property_key_t id, touch, row, seat, age, team, favorite, parts, created, modified, revision;
        } of_member;
        struct { realm_property_key_t number, touch, label, boss, modified, revision; } of_part;
        struct { realm_property_key_t team, member, part; } of_highest;
    } k;
    struct Seat {
        int64_t row, seat;
        bool operator<(const Seat& other) const { return row != other.row ? row < other.row : seat < other.seat; }
    };
    struct Row; /* an object with rules, as it was read */

    bool scan(Content& content, Stamps stamps);
    bool note_objects();
    bool find_keys_of_rules();
    bool has_stamps(realm_class_key_t table) const { return table == k.team || table == k.member || table == k.part; }
    bool read_stamped(realm_object_t* object, realm_class_key_t table, const realm_property_info_t* all, size_t count,
                      Stamps stamps, uint64_t& digest);
    bool change_under_rules(Random& random);
    bool change_alike_under_rules(int64_t stamp);
    bool some_changes(Random& random, int depth);
    bool one_change(Random& random);
    bool find_highest(realm_class_key_t table, Held<realm_object_t>& object, realm_property_key_t& key);
    bool create(realm_class_key_t table, Held<realm_object_t>& object, int64_t more = 0);
    bool touch(realm_object_t* object, realm_class_key_t table);
    bool load(realm_class_key_t table, std::vector<Row>& rows);
    realm_object_t* get_object(const Row& row);
    bool link_to(realm_object_t* object, realm_property_key_t key, const Row* target);
    bool find(realm_class_key_t table, const std::vector<realm_value_t>& values, realm_object_key_t& key);
    bool free_seat(Random& random, Seat& seat);
    bool free_label(Random& random, std::string& label);
    bool sit(realm_object_t* object, Seat seat);
    bool create_member(Random& random, const Seat* seat = nullptr);
    bool create_part(Random& random);
    bool remove_member(const Row& member);
    bool remove_team(const Row& team);
    bool wrong(const char* what);
};
bool delete_files(Process& p, const std::string& path, bool& done, Outcome& outcome);

#endif
