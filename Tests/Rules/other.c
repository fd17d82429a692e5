/*
 * Writes a file with rules through a library that may know none. Goal: changes that break rules, or keep them by
 * chance. Method: random objects of the class Member are created, changed and deleted in some transactions.
 *
 *     other FILE SEED TRANSACTIONS
 *
 * Linked with the library to use. Exit status 1 when a call fails.
 */

#include <realm.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state;

static unsigned below(unsigned n) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (unsigned)(state * 0x2545F4914F6CDD1DULL >> 33) % n;
}

static void check(bool good, const char* what) {
    if (good) return;
    realm_error_t error;
    memset(&error, 0, sizeof error);
    bool any = realm_get_last_error(&error);
    fprintf(stderr, "%s: %s\n", what, any && error.message ? error.message : "failed");
    exit(1);
}

static realm_property_key_t property(realm_t* realm, realm_class_key_t class_key, const char* name) {
    bool found = false;
    realm_property_info_t info;
    memset(&info, 0, sizeof info);
    check(realm_find_property(realm, class_key, name, &found, &info) && found, name);
    return info.key;
}

static realm_value_t integer(int64_t number) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = RLM_TYPE_INT;
    value.integer = number;
    return value;
}

static realm_value_t text(const char* start) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = RLM_TYPE_STRING;
    value.string.data = start;
    value.string.size = strlen(start);
    return value;
}

static realm_value_t null(void) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = RLM_TYPE_NULL;
    return value;
}

static realm_object_t* any(realm_t* realm, realm_class_key_t class_key) {
    realm_results_t* all = realm_object_find_all(realm, class_key);
    size_t count = 0;
    check(all && realm_results_count(all, &count), "count");
    realm_object_t* object = count ? realm_results_get_object(all, below((unsigned)count)) : NULL;
    realm_release(all);
    return object;
}

static void set(realm_object_t* object, realm_property_key_t key, realm_value_t value) {
    check(realm_set_value(object, key, value, false), "set");
}

/* A scheduler for the only thread, to which nothing is posted: not every library has a default scheduler. */
static bool yes(realm_userdata_t data) {
    (void)data;
    return true;
}

static bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }

static void nothing(realm_userdata_t data) { (void)data; }

static void notify(realm_userdata_t data, realm_work_queue_t* queue) {
    (void)data;
    (void)queue;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    state = strtoull(argv[2], NULL, 10) * 0x9E3779B97F4A7C15ULL | 1;
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, argv[1]);
    realm_config_set_schema_mode(config, RLM_SCHEMA_MODE_AUTOMATIC);
    realm_scheduler_t* scheduler = realm_scheduler_new(NULL, nothing, notify, yes, same, yes);
    realm_config_set_scheduler(config, scheduler);
    realm_release(scheduler);
    realm_t* realm = realm_open(config);
    check(realm, "open");
    bool found = false;
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    check(realm_find_class(realm, "Member", &found, &info) && found, "Member");
    realm_class_key_t member = info.key;
    realm_property_key_t country = property(realm, member, "country"), number = property(realm, member, "number"),
                         mail = property(realm, member, "mail"), age = property(realm, member, "age"),
                         friend = property(realm, member, "friend");
    for (int i = atoi(argv[3]); i > 0; i--) {
        check(realm_begin_write(realm), "begin");
        for (unsigned n = below(4); n > 0; n--) {
            realm_object_t* object = NULL;
            unsigned what = below(10);
            if (what < 4 || !(object = any(realm, member))) {
                bool made = false;
                object = realm_object_get_or_create_with_primary_key(realm, member, integer(below(60) + 1), &made);
                check(object, "create");
            } else if (what == 9) {
                check(realm_object_delete(object), "delete");
                realm_release(object);
                continue;
            }
            char word[8];
            snprintf(word, sizeof word, "%u", below(14));
            set(object, country, text(below(2) ? "a" : "b"));
            set(object, number, below(4) ? integer(below(6)) : null());
            if (below(2)) set(object, mail, text(word));
            if (below(3) == 0) set(object, age, integer((int64_t)below(12) - 2));
            if (below(4) == 0) {
                realm_object_t* target = any(realm, member);
                realm_link_t link = realm_object_as_link(target);
                realm_value_t value = null();
                value.type = RLM_TYPE_LINK;
                value.link = link;
                set(object, friend, value);
                realm_release(target);
            }
            realm_release(object);
        }
        check(realm_commit(realm), "commit");
    }
    realm_close(realm);
    realm_release(realm);
    realm_release(config);
    return 0;
}
