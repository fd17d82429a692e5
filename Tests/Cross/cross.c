/* cross.c - a writer and observer of run.py, which describes them.   cross FILE LEDGER NUMBER */
#include <crealm.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ledger;
static char folder[4000];
static realm_t* realm;
static realm_results_t* entries;
static realm_class_key_t entry_key, counter_key;
static int64_t value_key, worker_key, number_key;
static bool is_told;

static void must(bool good, const char* what) {
    realm_error_t error;
    if (good)
        return;
    fprintf(stderr, "C: %s: %s\n", what, realm_get_last_error(&error) ? error.message : "?");
    exit(1);
}

static void note(const char* text, size_t size) {
    must(write(ledger, text, size) == (ssize_t)size, "the ledger");
}

static bool exists(const char* name) {
    char path[4100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static int64_t property(realm_class_key_t class_key, const char* name) {
    realm_property_info_t info;
    bool found = false;
    must(realm_find_property(realm, class_key, name, &found, &info) && found, name);
    return info.key;
}

static realm_class_key_t class_named(const char* name) {
    realm_class_info_t info;
    bool found = false;
    must(realm_find_class(realm, name, &found, &info) && found, name);
    return info.key;
}

static realm_value_t integer(int64_t number) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.integer = number;
    value.type = RLM_TYPE_INT;
    return value;
}

static int64_t counter(int64_t id, realm_link_t* link) {
    realm_value_t key = integer(id), value;
    bool found = false;
    must(crealm_find(realm, counter_key, &key, link, &found) && found, "find a counter");
    must(crealm_get_values(realm, link, 1, &value_key, &value), "read a counter");
    return value.integer;
}

/* Notes the counters at first, then the rows that are new. */
static void told(realm_userdata_t userdata, const realm_collection_changes_t* changes) {
    (void)userdata;
    size_t deletions, insertions, modifications;
    realm_collection_changes_get_num_changes(changes, &deletions, &insertions, &modifications, NULL, NULL, NULL);
    size_t* places = calloc(insertions + 1, sizeof *places);
    char* line = malloc(64 + 24 * (insertions + 9));
    must(places && line, "memory");
    size_t length = (size_t)sprintf(line, is_told ? "told" : "sees");
    if (!is_told) {
        realm_link_t link;
        for (int64_t id = 0; id <= 8; id++)
            length += (size_t)sprintf(line + length, " %" PRId64, counter(id, &link));
    }
    realm_collection_changes_get_changes(changes, NULL, 0, places, insertions, NULL, 0, NULL, 0, NULL, 0);
    for (size_t index = 0; index < insertions; index++) {
        realm_value_t row[2], link;
        int64_t keys[2] = {worker_key, number_key};
        must(realm_results_get(entries, places[index], &link), "a row");
        must(crealm_get_values(realm, &link.link, 2, keys, row), "an entry");
        length += (size_t)sprintf(line + length, " %" PRId64 ":%" PRId64, row[0].integer, row[1].integer);
    }
    if (deletions || modifications)
        length += (size_t)sprintf(line + length, " changed");
    line[length++] = '\n';
    note(line, length);
    is_told = true;
    free(line);
    free(places);
}

static void write_one(int64_t own) {
    realm_link_t link, all;
    must(realm_begin_write(realm), "begin");
    realm_value_t next = integer(counter(own, &link) + 1), total = integer(counter(0, &all) + 1);
    realm_value_t key = integer(own * 1000000000 + next.integer), values[2] = {integer(own), next};
    int64_t keys[2] = {worker_key, number_key};
    must(crealm_create(realm, entry_key, &key, CREALM_UPDATE_ERROR, 2, keys, values, NULL, NULL), "create");
    must(crealm_set_values(realm, &link, 1, &value_key, &next), "set");
    must(crealm_set_values(realm, &all, 1, &value_key, &total), "set");
    must(realm_commit(realm), "commit");
    char line[40];
    note(line, (size_t)sprintf(line, "wrote %" PRId64 "\n", next.integer));
}

int main(int count, char** arguments) {
    if (count != 4)
        return 2;
    ledger = open(arguments[2], O_WRONLY | O_APPEND | O_CREAT, 0644);
    int64_t own = atoll(arguments[3]);
    realm_config_t* config = realm_config_new();
    realm_scheduler_t* scheduler = realm_scheduler_make_default();
    realm_config_set_path(config, arguments[1]);
    realm_config_set_scheduler(config, scheduler);
    must((realm = realm_open(config)) != NULL, "open");
    snprintf(folder, sizeof folder, "%s", dirname(arguments[1]));
    entry_key = class_named("Entry");
    counter_key = class_named("Counter");
    value_key = property(counter_key, "value");
    worker_key = property(entry_key, "worker");
    number_key = property(entry_key, "number");
    note("start\n", 6);
    must((entries = realm_object_find_all(realm, entry_key)) != NULL, "all entries");
    realm_notification_token_t* token = realm_results_add_notification_callback(entries, NULL, NULL, NULL, told);
    must(token != NULL, "observe");
    while (!exists("stop")) {
        write_one(own);
        must(crealm_scheduler_run(scheduler, 2, NULL), "turn");
    }
    note("stopped\n", 8);
    bool works = true;
    while (!exists("end") || works)
        must(crealm_scheduler_run(scheduler, 200, &works), "turn");
    char line[60];
    size_t size = 0;
    must(realm_results_count(entries, &size), "count");
    note(line, (size_t)sprintf(line, "end %zu\n", size));
    realm_release(token);
    realm_release(entries);
    realm_release(realm);
    realm_release(config);
    realm_release(scheduler);
    return 0;
}
