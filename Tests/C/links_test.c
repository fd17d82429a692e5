/*
 * links_test.c - objects named by links: creating, finding, reading, writing and deleting them without handles; schemas
 * from and to JSON; a change set in one call; the last error in one call.
 *
 *     links_test
 *
 * A random history of calls by links is compared with the same history by handles in a second realm. Compiles as C11 and
 * as C++17.
 */
#include <crealm.h>

#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/links-XXXXXX";

static const char PEOPLE[] =
    "[{\"name\":\"Person\",\"primaryKey\":\"id\",\"properties\":{\"id\":\"int\",\"name\":\"string\",\"age\":\"int?\","
    "\"friend\":\"Person\",\"tags\":\"string[]\",\"any\":\"mixed\"}},"
    "{\"name\":\"Note\",\"properties\":{\"text\":{\"type\":\"string\",\"indexed\":true,\"optional\":true}}},"
    "{\"name\":\"Part\",\"embedded\":true,\"properties\":{\"n\":\"int\"}}]";

static realm_t* open_with(const char* name, const char* json, realm_scheduler_t* scheduler) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s.realm", folder, name);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_cached(config, false);
    realm_schema_t* schema = crealm_schema_from_json(json, strlen(json));
    CHECK(schema != NULL);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    if (scheduler) realm_config_set_scheduler(config, scheduler);
    realm_t* realm = realm_open(config);
    CHECK(realm != NULL);
    realm_release(schema);
    realm_release(config);
    return realm;
}
static realm_class_key_t class_of(realm_t* realm, const char* name) {
    realm_class_info_t info;
    bool found = false;
    CHECK(realm_find_class(realm, name, &found, &info) && found);
    return info.key;
}
static realm_property_key_t property_of(realm_t* realm, realm_class_key_t cls, const char* name) {
    realm_property_info_t info;
    bool found = false;
    CHECK(realm_find_property(realm, cls, name, &found, &info) && found);
    return info.key;
}

/* ---- One call each ---------------------------------------------------------------------------------- */

static void test_calls(void) {
    section = "calls";
    realm_t* realm = open_with("calls", PEOPLE, NULL);
    realm_class_key_t person = class_of(realm, "Person"), note = class_of(realm, "Note"), part = class_of(realm, "Part");
    realm_property_key_t id = property_of(realm, person, "id"), name = property_of(realm, person, "name"),
                         age = property_of(realm, person, "age"), tags = property_of(realm, person, "tags"),
                         body = property_of(realm, note, "text");
    realm_value_t key = integer(1), values[2] = {text("Ann"), integer(31)}, read[3];
    realm_property_key_t keys[3] = {name, age, id};
    realm_link_t link, other;
    bool flag = false;

    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_create(realm, person, &key, CREALM_UPDATE_ERROR, 2, keys, values, &link, &flag));
    CHECK(realm_begin_write(realm));
    CHECK(crealm_create(realm, person, &key, CREALM_UPDATE_ERROR, 2, keys, values, &link, &flag) && flag);
    CHECK(link.target_table == person);
    CHECK(crealm_find(realm, person, &key, &other, &flag) && flag && other.target == link.target);
    CHECK(crealm_get_values(realm, &link, 3, keys, read));
    CHECK(read[0].string.size == 3 && memcmp(read[0].string.data, "Ann", 3) == 0);
    CHECK(read[1].integer == 31 && read[2].integer == 1);

    /* The same key again: refused, or the values are written. */
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS, crealm_create(realm, person, &key, CREALM_UPDATE_ERROR, 2, keys, values, &link, &flag));
    values[1] = integer(32);
    CHECK(crealm_create(realm, person, &key, CREALM_UPDATE_MODIFIED, 2, keys, values, &other, &flag) && !flag);
    CHECK(other.target == link.target);
    values[1] = null_value();
    CHECK(crealm_set_values(realm, &link, 2, keys, values));
    CHECK(crealm_get_values(realm, &link, 2, keys, read) && read[1].type == RLM_TYPE_NULL);

    /* A refused value: nothing was written, and no object was made. */
    size_t before = 0, after = 0;
    CHECK(realm_get_num_objects(realm, person, &before));
    realm_value_t new_key = integer(2), wrong[2] = {text("Bob"), text("no number")};
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, crealm_create(realm, person, &new_key, CREALM_UPDATE_ERROR, 2, keys, wrong, NULL, NULL));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, crealm_set_values(realm, &link, 2, keys, wrong));
    CHECK(realm_get_num_objects(realm, person, &after) && after == before);
    CHECK(crealm_get_values(realm, &link, 1, keys, read) && memcmp(read[0].string.data, "Ann", 3) == 0);
    FAILS(RLM_ERR_MODIFY_PRIMARY_KEY, crealm_create(realm, person, &new_key, CREALM_UPDATE_ALL, 1, &id, &new_key, NULL, NULL));

    /* Wrong classes, keys and properties. */
    FAILS(RLM_ERR_MISSING_PRIMARY_KEY, crealm_create(realm, person, NULL, CREALM_UPDATE_ERROR, 0, NULL, NULL, NULL, NULL));
    FAILS(RLM_ERR_UNEXPECTED_PRIMARY_KEY, crealm_create(realm, note, &key, CREALM_UPDATE_ERROR, 0, NULL, NULL, NULL, NULL));
    FAILS(RLM_ERR_ILLEGAL_OPERATION, crealm_create(realm, part, NULL, CREALM_UPDATE_ERROR, 0, NULL, NULL, NULL, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_create(realm, 9999, NULL, CREALM_UPDATE_ERROR, 0, NULL, NULL, NULL, NULL));
    FAILS(RLM_ERR_INVALID_PROPERTY, crealm_get_values(realm, &link, 1, &body, read));
    FAILS(RLM_ERR_PROPERTY_TYPE_MISMATCH, crealm_get_values(realm, &link, 1, &tags, read));
    realm_link_t missing = {person, 777};
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_set_values(realm, &missing, 2, keys, values));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_get_values(realm, &missing, 2, keys, read));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_delete(realm, &missing));
    CHECK(crealm_find(realm, person, &new_key, &other, &flag) && !flag && other.target == -1);

    /* Tables that are no classes are out of reach. */
    realm_link_t hidden = {0, 0};
    realm_value_t nothing = integer(1);
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_delete(realm, &hidden));
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_get_values(realm, &hidden, 0, NULL, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_set_values(realm, &hidden, 0, NULL, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_find(realm, 0, &nothing, NULL, NULL));
    FAILS(RLM_ERR_NO_SUCH_TABLE, crealm_create(realm, 0, NULL, CREALM_UPDATE_ERROR, 0, NULL, NULL, NULL, NULL));
    CHECK(crealm_find(realm, note, &nothing, NULL, &flag) && !flag);

    realm_value_t body_value = text("a note");
    CHECK(crealm_create(realm, note, NULL, CREALM_UPDATE_ERROR, 1, &body, &body_value, &other, &flag) && flag);
    CHECK(crealm_delete(realm, &other));
    FAILS(RLM_ERR_INVALIDATED_OBJECT, crealm_get_values(realm, &other, 0, NULL, NULL));
    CHECK(realm_commit(realm));
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE, crealm_set_values(realm, &link, 1, keys, values));
    realm_release(realm);
}

/* ---- Calls by links and by handles ------------------------------------------------------------------ */

static uint64_t state = 88172645463325252u;
static unsigned below(unsigned limit) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (unsigned)(state % limit);
}
static bool same(realm_value_t a, realm_value_t b) {
    if (a.type != b.type) return false;
    switch (a.type) {
        case RLM_TYPE_INT: return a.integer == b.integer;
        case RLM_TYPE_STRING: return a.string.size == b.string.size && memcmp(a.string.data, b.string.data, a.string.size) == 0;
        case RLM_TYPE_LINK: return a.link.target == b.link.target;
        default: return true;
    }
}
static void test_beside_handles(void) {
    section = "beside handles";
    realm_t *links = open_with("links", PEOPLE, NULL), *handles = open_with("handles", PEOPLE, NULL);
    realm_class_key_t person = class_of(links, "Person");
    CHECK(person == class_of(handles, "Person"));
    realm_property_key_t keys[4] = {property_of(links, person, "name"), property_of(links, person, "age"),
                                    property_of(links, person, "friend"), property_of(links, person, "any")};
    static char names[50][8];
    for (int i = 0; i < 50; i++) snprintf(names[i], sizeof names[i], "n%d", i);
    for (int round = 0; round < 40; round++) {
        CHECK(realm_begin_write(links) && realm_begin_write(handles));
        for (int step = 0; step < 50; step++) {
            realm_value_t id = integer(below(60)), values[4] = {text(names[below(50)]), integer(below(1000)), null_value(), null_value()};
            bool found = false, there = false;
            realm_link_t link = {0, -1};
            realm_object_t* object = realm_object_find_with_primary_key(handles, person, id, &there);
            CHECK(crealm_find(links, person, &id, &link, &found) && found == there);
            if (found) CHECK(link.target == realm_object_as_link(object).target);
            if (below(4) == 0 && found) {
                CHECK(crealm_delete(links, &link) && realm_object_delete(object));
            } else {
                if (found && below(2)) values[2] = of_type(RLM_TYPE_LINK), values[2].link = link;
                if (below(2)) values[3] = integer(below(9));
                bool created = false, made = false;
                CHECK(crealm_create(links, person, &id, below(2) ? CREALM_UPDATE_ALL : CREALM_UPDATE_MODIFIED, 4, keys, values, &link, &created));
                realm_object_t* mine = realm_object_get_or_create_with_primary_key(handles, person, id, &made);
                CHECK(made == created);
                for (int k = 0; k < 4; k++) CHECK(realm_set_value(mine, keys[k], values[k], false));
                realm_release(mine);
            }
            if (object) realm_release(object);
        }
        CHECK(realm_commit(links) && realm_commit(handles));
        size_t count = 0, other = 0;
        CHECK(realm_get_num_objects(links, person, &count) && realm_get_num_objects(handles, person, &other) && count == other);
        for (int id = 0; id < 60; id++) {
            realm_value_t key = integer(id), a[4], b[4];
            realm_link_t link;
            bool found = false, there = false;
            CHECK(crealm_find(links, person, &key, &link, &found));
            realm_object_t* object = realm_object_find_with_primary_key(handles, person, key, &there);
            if (!CHECK(found == there) || !found) continue;
            CHECK(crealm_get_values(links, &link, 4, keys, a) && realm_get_values(object, 4, keys, b));
            for (int k = 0; k < 4; k++) CHECK(same(a[k], b[k]));
            realm_release(object);
        }
    }
    CHECK(crealm_verify(links, NULL));
    realm_release(links);
    realm_release(handles);
}

/* ---- Schemas ---------------------------------------------------------------------------------------- */

static void refuses(const char* json, int number) {
    realm_clear_last_error();
    realm_schema_t* schema = crealm_schema_from_json(json, strlen(json));
    if (!result(schema == NULL && last_error() == number, __LINE__, json)) realm_release(schema);
}
static void test_schemas(void) {
    section = "schemas";
    /* Every type in every collection, from JSON to JSON and through a file. */
    const char* types[] = {"int", "bool", "string", "data", "mixed", "date", "float", "double", "decimal128", "objectId", "uuid"};
    const char* suffixes[] = {"", "[]", "<>", "{}"};
    char json[8000] = "[{\"name\":\"All\",\"properties\":{";
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < 4; s++)
            for (int optional = strcmp(types[t], "mixed") == 0; optional < 2; optional++) {
                char one[100];
                snprintf(one, sizeof one, "\"%s%zu%d\":\"%s%s%s\",", types[t], s, optional, types[t], optional ? "?" : "", suffixes[s]);
                strcat(json, one);
            }
    strcat(json, "\"link\":\"All\",\"links\":\"All[]\",\"set\":\"All<>\",\"map\":\"All{}\","
                 "\"full\":{\"type\":\"string\",\"indexed\":\"full-text\"},\"shown\":{\"type\":\"int\",\"mapTo\":\"kept\"},"
                 "\"back\":{\"type\":\"linkingObjects\",\"objectType\":\"All\",\"property\":\"link\"}}}]");
    realm_schema_t* schema = crealm_schema_from_json(json, strlen(json));
    CHECK(schema && realm_schema_validate(schema, 0));
    char* first = crealm_schema_to_json(schema);
    realm_schema_t* again = crealm_schema_from_json(first, strlen(first));
    CHECK(again && realm_equals(schema, again));
    char* second = crealm_schema_to_json(again);
    CHECK(first && second && strcmp(first, second) == 0);
    realm_t* realm = open_with("schemas", json, NULL);
    realm_schema_t* stored = realm_get_schema(realm);
    CHECK(realm_equals(stored, schema));
    realm_class_key_t all = class_of(realm, "All");
    realm_property_info_t info;
    bool found = false;
    CHECK(realm_find_property_by_public_name(realm, all, "shown", &found, &info) && found && strcmp(info.name, "kept") == 0);
    realm_free(first);
    realm_free(second);
    realm_release(stored);
    realm_release(again);
    realm_release(schema);
    realm_release(realm);

    /* The origin of linking objects by its public name. */
    const char* mapped = "[{\"name\":\"A\",\"properties\":{\"to\":{\"type\":\"object\",\"objectType\":\"A\",\"mapTo\":\"kept\"},"
                         "\"back\":{\"type\":\"linkingObjects\",\"objectType\":\"A\",\"property\":\"to\"}}}]";
    schema = crealm_schema_from_json(mapped, strlen(mapped));
    CHECK(schema && realm_schema_validate(schema, 0));
    realm_release(schema);

    refuses("[{\"name\":\"A\",\"name\":\"B\"}]", RLM_ERR_MALFORMED_JSON);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\":\"int\",\"a\":\"bool\"}}]", RLM_ERR_MALFORMED_JSON);
    refuses("[{\"name\":\"A\\u0000B\"}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\\u0000\":\"int\"}}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\":{\"type\":\"int\",\"objectType\":\"A\"}}}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[", RLM_ERR_MALFORMED_JSON);
    refuses("{}", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":1}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"nme\":1}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":[]}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\":1}}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\":{\"type\":\"list\"}}}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\":{\"type\":\"integer\"}}}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\":\"\"}}]", RLM_ERR_INVALID_ARGUMENT);
    refuses("[{\"name\":\"A\",\"properties\":{\"a\":{\"type\":\"int\",\"indexed\":\"yes\"}}}]", RLM_ERR_INVALID_ARGUMENT);
}

/* ---- Change sets and errors ------------------------------------------------------------------------- */

static int told;
static void on_change(realm_userdata_t userdata, const realm_collection_changes_t* changes) {
    told++;
    crealm_collection_changes_t* all = NULL;
    CHECK(crealm_collection_changes_get_all(changes, &all));
    size_t deletions, insertions, modifications, moves;
    bool cleared, deleted;
    realm_collection_changes_get_num_changes(changes, &deletions, &insertions, &modifications, &moves, &cleared, &deleted);
    CHECK(all->num_deletions == deletions && all->num_insertions == insertions && all->num_modifications == modifications);
    CHECK(all->num_moves == moves && all->was_cleared == cleared && all->is_deleted == deleted);
    size_t d[100], i[100], m[100], a[100];
    realm_collection_changes_get_changes(changes, d, 100, i, 100, m, 100, a, 100, NULL, 0);
    CHECK((deletions == 0) == (all->deletions == NULL) && (deletions == 0 || memcmp(d, all->deletions, deletions * sizeof *d) == 0));
    CHECK((insertions == 0) == (all->insertions == NULL) && (insertions == 0 || memcmp(i, all->insertions, insertions * sizeof *i) == 0));
    CHECK(all->num_modifications_after == modifications
          && (modifications == 0 || memcmp(a, all->modifications_after, modifications * sizeof *a) == 0));
    *(size_t*)userdata += deletions + 10 * insertions + 100 * modifications;
    realm_free(all);
}
static void test_changes(void) {
    section = "changes";
    realm_scheduler_t* scheduler = realm_scheduler_make_default();
    realm_t* realm = open_with("changes", PEOPLE, scheduler);
    realm_class_key_t note = class_of(realm, "Note");
    realm_property_key_t body = property_of(realm, note, "text");
    realm_query_t* query = realm_query_parse(realm, note, "TRUEPREDICATE", 0, NULL);
    realm_results_t* results = realm_query_find_all(query);
    size_t sum = 0;
    realm_notification_token_t* token = realm_results_add_notification_callback(results, &sum, NULL, NULL, on_change);
    CHECK(crealm_scheduler_run(scheduler, 10000, NULL));
    CHECK(told == 1 && sum == 0);
    realm_link_t made[5];
    realm_value_t value = text("x");
    CHECK(realm_begin_write(realm));
    for (int i = 0; i < 5; i++) CHECK(crealm_create(realm, note, NULL, CREALM_UPDATE_ERROR, 1, &body, &value, &made[i], NULL));
    CHECK(realm_commit(realm));
    CHECK(crealm_scheduler_run(scheduler, 10000, NULL));
    CHECK(realm_begin_write(realm));
    CHECK(crealm_delete(realm, &made[1]) && crealm_set_values(realm, &made[3], 1, &body, &value));
    CHECK(realm_commit(realm));
    CHECK(crealm_scheduler_run(scheduler, 10000, NULL));
    CHECK(told == 3 && sum == 50 + 1 + 100);
    realm_release(token);
    realm_release(results);
    realm_release(query);
    realm_release(realm);
    realm_release(scheduler);
}
static void test_errors(void) {
    section = "errors";
    realm_errno_e number = RLM_ERR_NONE;
    char message[12];
    size_t size = 0;
    void* user = NULL;
    realm_clear_last_error();
    CHECK(!crealm_last_error_take(&number, message, sizeof message, &size, &user));
    realm_clear_last_error();
    crealm_schema_from_json("[{\"name\":\"A\",\"properties\":{\"a\":{\"type\":\"\xC3\xA4\"}}}]", 46);
    result(crealm_last_error_take(&number, message, sizeof message, &size, &user), __LINE__, "an error is taken");
    result(number == RLM_ERR_MALFORMED_JSON || number == RLM_ERR_INVALID_ARGUMENT, __LINE__, "its number");
    result(size > 11 && strlen(message) == 11 && user == NULL, __LINE__, "its message is cut");
    result(last_error() == 0 && !crealm_last_error_take(NULL, NULL, 0, NULL, NULL), __LINE__, "the error is cleared");
    /* A cut inside a character leaves the character out. */
    for (size_t room = 1; room < 70; room++) {
        char part[70];
        memset(part, 'z', sizeof part);
        const char* json = "[{\"name\":\"A\",\"\xE2\x82\xAC\xE2\x82\xAC\":1}]";
        crealm_schema_from_json(json, strlen(json));
        result(crealm_last_error_take(NULL, part, room, &size, NULL), __LINE__, "a part of the message");
        size_t kept = strlen(part);
        result(kept < room, __LINE__, "the part fits");
        for (size_t i = 0; i < kept; i++)
            if ((part[i] & 0xF0) == 0xE0) result(i + 2 < kept, __LINE__, "no character is cut");
        if (room > size) result(kept == size, __LINE__, "the whole message");
    }
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    test_calls();
    test_beside_handles();
    test_schemas();
    test_changes();
    test_errors();
    return finished(folder);
}
