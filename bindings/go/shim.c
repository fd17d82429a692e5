/* shim.c - see shim.h. */

#include "shim.h"

#include <stdlib.h>
#include <string.h>

#include "_cgo_export.h"

static go_error failure(void) {
    realm_errno_e code = RLM_ERR_UNKNOWN;
    size_t size = 0;
    char text[512];
    bool found = crealm_last_error_take(&code, text, sizeof text, &size, NULL);
    char* block = malloc(4 + sizeof text);
    if (!block)
        abort();
    int32_t number = (int32_t)code;
    memcpy(block, &number, 4);
    memcpy(block + 4, found ? text : "the library reported no error", found ? strlen(text) + 1 : 30);
    return block;
}

static go_error refused(int32_t number, const char* text) {
    char* block = malloc(4 + strlen(text) + 1);
    if (!block)
        abort();
    memcpy(block, &number, 4);
    memcpy(block + 4, text, strlen(text) + 1);
    return block;
}

static go_error done(bool result) { return result ? NULL : failure(); }

/* -- Bytes that grow. Memory that is missing is noticed at the end. */

struct buffer {
    uint8_t* data;
    size_t size, room;
    bool failed;
};

static void put(struct buffer* buffer, const void* bytes, size_t size) {
    if (buffer->failed)
        return;
    if (buffer->size + size > buffer->room) {
        size_t room = (buffer->size + size) * 2 + 64;
        uint8_t* data = realloc(buffer->data, room);
        if (!data) {
            buffer->failed = true;
            return;
        }
        buffer->data = data;
        buffer->room = room;
    }
    if (size)
        memcpy(buffer->data + buffer->size, bytes, size);
    buffer->size += size;
}

static void put_count(struct buffer* buffer, size_t count) {
    uint32_t number = (uint32_t)count;
    put(buffer, &number, 4);
}

static go_error finish(struct buffer* buffer, go_error error, go_bytes* out) {
    if (!error && buffer->failed)
        error = refused(RLM_ERR_OUT_OF_MEMORY, "not enough memory");
    if (error) {
        free(buffer->data);
        return error;
    }
    out->data = buffer->data;
    out->size = buffer->size;
    return NULL;
}

/* -- Encoded values that are read. The package wrote them, so that their sizes are right. */

struct cursor {
    const uint8_t *at, *end;
};

static void take(struct cursor* cursor, void* out, size_t size) {
    if ((size_t)(cursor->end - cursor->at) < size)
        abort();
    memcpy(out, cursor->at, size);
    cursor->at += size;
}

static uint32_t take_count(struct cursor* cursor) {
    uint32_t count;
    take(cursor, &count, 4);
    return count;
}

static uint8_t next_type(const struct cursor* cursor) {
    if (cursor->at == cursor->end)
        abort();
    return *cursor->at;
}

static realm_string_t take_string(struct cursor* cursor) {
    uint32_t size = take_count(cursor);
    if ((size_t)(cursor->end - cursor->at) < size)
        abort();
    realm_string_t text = {size ? (const char*)cursor->at : "", size};
    cursor->at += size;
    return text;
}

/* A value without content of its own: the texts stay in the bytes. */
static realm_value_t take_value(struct cursor* cursor) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    uint8_t type;
    take(cursor, &type, 1);
    value.type = (realm_value_type_e)type;
    switch (type) {
    case RLM_TYPE_INT:
    case RLM_TYPE_DOUBLE: take(cursor, &value.integer, 8); break;
    case RLM_TYPE_BOOL: take(cursor, &value.boolean, 1); break;
    case RLM_TYPE_STRING: value.string = take_string(cursor); break;
    case RLM_TYPE_BINARY: {
        realm_string_t bytes = take_string(cursor);
        value.binary.data = (const uint8_t*)bytes.data;
        value.binary.size = bytes.size;
        break;
    }
    case RLM_TYPE_TIMESTAMP:
        take(cursor, &value.timestamp.seconds, 8);
        take(cursor, &value.timestamp.nanoseconds, 4);
        break;
    case RLM_TYPE_FLOAT: take(cursor, &value.fnum, 4); break;
    case RLM_TYPE_DECIMAL128: take(cursor, &value.decimal128, 16); break;
    case RLM_TYPE_OBJECT_ID: take(cursor, &value.object_id, 12); break;
    case RLM_TYPE_UUID: take(cursor, &value.uuid, 16); break;
    case RLM_TYPE_LINK:
        take(cursor, &value.link.target_table, 4);
        take(cursor, &value.link.target, 8);
        break;
    default: break;
    }
    return value;
}

static bool is_deep(uint8_t type) {
    return type == RLM_TYPE_LIST || type == RLM_TYPE_DICTIONARY || type == GO_SET || type == GO_OBJECT;
}

static void skip_value(struct cursor* cursor) {
    uint8_t type = next_type(cursor);
    if (!is_deep(type)) {
        take_value(cursor);
        return;
    }
    cursor->at++;
    uint32_t count = take_count(cursor);
    for (uint32_t index = 0; index < count; index++) {
        int64_t key;
        if (type == RLM_TYPE_DICTIONARY)
            take_string(cursor);
        else if (type == GO_OBJECT)
            take(cursor, &key, 8);
        skip_value(cursor);
    }
}

/* -- Places that hold one value. */

enum place_kind { PROPERTY, INSERTED, ELEMENT, IN_SET, PAIR };

struct place {
    enum place_kind kind;
    void* owner; /* object, list, set or dictionary */
    int64_t key;
    size_t at;
    realm_value_t name;
};

static realm_list_t* list_in(const struct place* place, bool make) {
    switch (place->kind) {
    case PROPERTY: return make ? realm_set_list(place->owner, place->key) : realm_get_list(place->owner, place->key);
    case INSERTED: return realm_list_insert_list(place->owner, place->at);
    case ELEMENT:
        return make ? realm_list_set_list(place->owner, place->at) : realm_list_get_list(place->owner, place->at);
    case PAIR:
        return make ? realm_dictionary_insert_list(place->owner, place->name)
                    : realm_dictionary_get_list(place->owner, place->name);
    default: return NULL;
    }
}

static realm_dictionary_t* dictionary_in(const struct place* place, bool make) {
    switch (place->kind) {
    case PROPERTY:
        return make ? realm_set_dictionary(place->owner, place->key) : realm_get_dictionary(place->owner, place->key);
    case INSERTED: return realm_list_insert_dictionary(place->owner, place->at);
    case ELEMENT:
        return make ? realm_list_set_dictionary(place->owner, place->at)
                    : realm_list_get_dictionary(place->owner, place->at);
    case PAIR:
        return make ? realm_dictionary_insert_dictionary(place->owner, place->name)
                    : realm_dictionary_get_dictionary(place->owner, place->name);
    default: return NULL;
    }
}

static realm_object_t* embedded_in(const struct place* place) {
    switch (place->kind) {
    case PROPERTY: return realm_set_embedded(place->owner, place->key);
    case INSERTED: return realm_list_insert_embedded(place->owner, place->at);
    case ELEMENT: return realm_list_set_embedded(place->owner, place->at);
    case PAIR: return realm_dictionary_insert_embedded(place->owner, place->name);
    default: return NULL;
    }
}

static bool value_in(const struct place* place, realm_value_t value) {
    switch (place->kind) {
    case PROPERTY: return realm_set_value(place->owner, place->key, value, false);
    case INSERTED: return realm_list_insert(place->owner, place->at, value);
    case ELEMENT: return realm_list_set(place->owner, place->at, value);
    case IN_SET: return realm_set_insert(place->owner, value, NULL, NULL);
    default: return realm_dictionary_insert(place->owner, place->name, value, NULL, NULL);
    }
}

/* -- Writing */

static go_error write_place(const struct place* place, struct cursor* cursor);

static go_error write_list(realm_list_t* list, struct cursor* cursor) {
    if (!realm_list_clear(list))
        return failure();
    uint32_t count = take_count(cursor);
    for (uint32_t index = 0; index < count; index++) {
        struct place place = {.kind = INSERTED, .owner = list, .at = index};
        go_error error = write_place(&place, cursor);
        if (error)
            return error;
    }
    return NULL;
}

static go_error write_dictionary(realm_dictionary_t* dictionary, struct cursor* cursor) {
    if (!realm_dictionary_clear(dictionary))
        return failure();
    uint32_t count = take_count(cursor);
    for (uint32_t index = 0; index < count; index++) {
        struct place place = {.kind = PAIR, .owner = dictionary};
        place.name.type = RLM_TYPE_STRING;
        place.name.string = take_string(cursor);
        go_error error = write_place(&place, cursor);
        if (error)
            return error;
    }
    return NULL;
}

static go_error write_property(realm_object_t* object, int64_t key, struct cursor* cursor);

static go_error write_object(realm_object_t* object, struct cursor* cursor) {
    uint32_t count = take_count(cursor);
    for (uint32_t index = 0; index < count; index++) {
        int64_t key;
        take(cursor, &key, 8);
        go_error error = write_property(object, key, cursor);
        if (error)
            return error;
    }
    return NULL;
}

static go_error write_place(const struct place* place, struct cursor* cursor) {
    uint8_t type = next_type(cursor);
    if (!is_deep(type))
        return done(value_in(place, take_value(cursor)));
    if (place->kind == IN_SET)
        return refused(RLM_ERR_ILLEGAL_OPERATION, "a set holds neither collections nor embedded objects");
    cursor->at++;
    void* made = NULL;
    go_error error = NULL;
    if (type == GO_OBJECT) {
        made = embedded_in(place);
        error = made ? write_object(made, cursor) : failure();
    } else if (type == RLM_TYPE_DICTIONARY) {
        made = dictionary_in(place, true);
        error = made ? write_dictionary(made, cursor) : failure();
    } else {
        made = list_in(place, true);
        error = made ? write_list(made, cursor) : failure();
    }
    realm_release(made);
    return error;
}

/* A property whose value says what it is: a list in a property of lists replaces its elements. */
static go_error write_property(realm_object_t* object, int64_t key, struct cursor* cursor) {
    uint8_t type = next_type(cursor);
    struct place place = {.kind = PROPERTY, .owner = object, .key = key};
    if (type == GO_SET) {
        realm_set_t* set = realm_get_set(object, key);
        if (!set)
            return failure();
        cursor->at++;
        go_error error = done(realm_set_clear(set));
        uint32_t count = take_count(cursor);
        struct place inside = {.kind = IN_SET, .owner = set};
        for (uint32_t index = 0; !error && index < count; index++)
            error = write_place(&inside, cursor);
        realm_release(set);
        return error;
    }
    if (type != RLM_TYPE_LIST && type != RLM_TYPE_DICTIONARY)
        return write_place(&place, cursor);
    /* Of a mixed property these make the collection; of the others they give it. */
    realm_property_info_t info = {0};
    void* made = type == RLM_TYPE_LIST ? (void*)list_in(&place, false) : (void*)dictionary_in(&place, false);
    if (made) {
        bool valid = false;
        if (type == RLM_TYPE_LIST)
            valid = realm_list_is_valid(made) && realm_list_get_property(made, &info);
        else
            valid = realm_dictionary_is_valid(made) && realm_dictionary_get_property(made, &info);
        if (valid && info.collection_type != RLM_COLLECTION_TYPE_NONE) {
            cursor->at++;
            go_error error = type == RLM_TYPE_LIST ? write_list(made, cursor) : write_dictionary(made, cursor);
            realm_release(made);
            return error;
        }
        realm_release(made);
    } else {
        return failure();
    }
    return write_place(&place, cursor);
}

/* -- Reading */

static go_error read_value(struct buffer* out, const struct place* place, realm_value_t value);

static go_error read_list(struct buffer* out, realm_list_t* list) {
    size_t count = 0;
    if (!list || !realm_list_size(list, &count))
        return failure();
    uint8_t type = RLM_TYPE_LIST;
    put(out, &type, 1);
    put_count(out, count);
    for (size_t index = 0; index < count; index++) {
        realm_value_t value;
        if (!realm_list_get(list, index, &value))
            return failure();
        struct place place = {.kind = ELEMENT, .owner = list, .at = index};
        go_error error = read_value(out, &place, value);
        if (error)
            return error;
    }
    return NULL;
}

static go_error read_set(struct buffer* out, realm_set_t* set) {
    size_t count = 0;
    if (!set || !realm_set_size(set, &count))
        return failure();
    uint8_t type = GO_SET;
    put(out, &type, 1);
    put_count(out, count);
    for (size_t index = 0; index < count; index++) {
        realm_value_t value;
        if (!realm_set_get(set, index, &value))
            return failure();
        go_error error = read_value(out, NULL, value);
        if (error)
            return error;
    }
    return NULL;
}

static go_error read_dictionary(struct buffer* out, realm_dictionary_t* dictionary) {
    size_t count = 0;
    if (!dictionary || !realm_dictionary_size(dictionary, &count))
        return failure();
    uint8_t type = RLM_TYPE_DICTIONARY;
    put(out, &type, 1);
    put_count(out, count);
    for (size_t index = 0; index < count; index++) {
        realm_value_t key, value;
        if (!realm_dictionary_get(dictionary, index, &key, &value))
            return failure();
        put_count(out, key.string.size);
        put(out, key.string.data, key.string.size);
        struct place place = {.kind = PAIR, .owner = dictionary, .name = key};
        go_error error = read_value(out, &place, value);
        if (error)
            return error;
    }
    return NULL;
}

static go_error read_value(struct buffer* out, const struct place* place, realm_value_t value) {
    if (value.type == RLM_TYPE_LIST) {
        realm_list_t* list = list_in(place, false);
        go_error error = read_list(out, list);
        realm_release(list);
        return error;
    }
    if (value.type == RLM_TYPE_DICTIONARY) {
        realm_dictionary_t* dictionary = dictionary_in(place, false);
        go_error error = read_dictionary(out, dictionary);
        realm_release(dictionary);
        return error;
    }
    uint8_t type = (uint8_t)value.type;
    put(out, &type, 1);
    switch (value.type) {
    case RLM_TYPE_INT:
    case RLM_TYPE_DOUBLE: put(out, &value.integer, 8); break;
    case RLM_TYPE_BOOL: put(out, &value.boolean, 1); break;
    case RLM_TYPE_STRING:
        put_count(out, value.string.size);
        put(out, value.string.data, value.string.size);
        break;
    case RLM_TYPE_BINARY:
        put_count(out, value.binary.size);
        put(out, value.binary.data, value.binary.size);
        break;
    case RLM_TYPE_TIMESTAMP:
        put(out, &value.timestamp.seconds, 8);
        put(out, &value.timestamp.nanoseconds, 4);
        break;
    case RLM_TYPE_FLOAT: put(out, &value.fnum, 4); break;
    case RLM_TYPE_DECIMAL128: put(out, &value.decimal128, 16); break;
    case RLM_TYPE_OBJECT_ID: put(out, &value.object_id, 12); break;
    case RLM_TYPE_UUID: put(out, &value.uuid, 16); break;
    case RLM_TYPE_LINK:
        put(out, &value.link.target_table, 4);
        put(out, &value.link.target, 8);
        break;
    default: break;
    }
    return NULL;
}

/* -- Opening */

static void work_waits(void* database) { goWorkWaits((uintptr_t)database); }

/* Runs when the scheduler is gone, which may be after the database was closed: until then work may wait for it. */
static void free_database(void* database) { goFreeHandle((uintptr_t)database); }

static bool migrate(void* migration, realm_t* old, realm_t* new_realm, const realm_schema_t* schema) {
    return goMigrate((uintptr_t)migration, old, new_realm, (realm_schema_t*)schema);
}

go_error go_config(const char* path, const char* schema, size_t schema_size, uint64_t version, int mode, bool in_memory,
                   const uint8_t* key, size_t key_size, int64_t timeout, uintptr_t migration, realm_config_t** out) {
    realm_config_t* config = realm_config_new();
    if (!config)
        return failure();
    realm_config_set_path(config, path);
    realm_config_set_schema_mode(config, (realm_schema_mode_e)mode);
    realm_config_set_in_memory(config, in_memory);
    crealm_config_set_lock_timeout(config, timeout);
    if (key_size && !realm_config_set_encryption_key(config, key, key_size)) {
        go_error error = failure();
        realm_release(config);
        return error;
    }
    if (schema_size) {
        realm_schema_t* made = crealm_schema_from_json(schema, schema_size);
        if (!made) {
            go_error error = failure();
            realm_release(config);
            return error;
        }
        realm_config_set_schema(config, made);
        realm_config_set_schema_version(config, version);
        realm_release(made);
    }
    if (migration)
        realm_config_set_migration_function(config, migrate, (void*)migration, NULL);
    *out = config;
    return NULL;
}

go_error go_open(realm_config_t* config, uintptr_t database, realm_t** realm, realm_scheduler_t** scheduler) {
    realm_scheduler_t* made = crealm_scheduler_new_serial((void*)database, free_database, work_waits);
    if (!made)
        return failure();
    realm_config_set_scheduler(config, made);
    *realm = realm_open(config);
    if (!*realm) {
        go_error error = failure();
        realm_release(made);
        return error;
    }
    *scheduler = made;
    return NULL;
}

go_error go_rename(realm_t* realm, realm_schema_t* schema, const char* name, const char* old, const char* new_name) {
    return done(realm_schema_rename_property(realm, schema, name, old, new_name));
}

go_error go_delete_files(const char* path, bool* deleted) {
    *deleted = false;
    return done(realm_delete_files(path, deleted));
}

go_error go_schema(const realm_t* realm, go_bytes* json) {
    realm_schema_t* schema = realm_get_schema(realm);
    char* text = schema ? crealm_schema_to_json(schema) : NULL;
    if (!text) {
        go_error error = failure();
        realm_release(schema);
        return error;
    }
    json->size = strlen(text);
    json->data = malloc(json->size + 1);
    if (json->data)
        memcpy(json->data, text, json->size + 1);
    realm_free(text);
    realm_release(schema);
    return json->data ? NULL : refused(RLM_ERR_OUT_OF_MEMORY, "not enough memory");
}

go_error go_keys(const realm_t* realm, const char* name, uint32_t* class_key) {
    bool found = false;
    realm_class_info_t info;
    if (!realm_find_class(realm, name, &found, &info))
        return failure();
    if (!found)
        return refused(RLM_ERR_NO_SUCH_TABLE, "the realm has no such class");
    *class_key = info.key;
    return NULL;
}

go_error go_property(const realm_t* realm, uint32_t class_key, const char* name, int64_t* key) {
    bool found = false;
    realm_property_info_t info;
    if (!realm_find_property(realm, class_key, name, &found, &info))
        return failure();
    if (!found)
        return refused(RLM_ERR_INVALID_PROPERTY, "the class has no such property");
    *key = info.key;
    return NULL;
}

go_error go_version(const realm_t* realm, uint64_t* version) {
    realm_version_id_t id = {0, 0};
    if (!realm_get_version_id(realm, NULL, &id))
        return failure();
    *version = id.version;
    return NULL;
}

uint64_t go_schema_version(const realm_t* realm) { return realm_get_schema_version(realm); }

go_error go_freeze(const realm_t* realm, realm_t** frozen) { return done((*frozen = realm_freeze(realm)) != NULL); }

go_error go_clone(const realm_t* realm, realm_t** clone) { return done((*clone = realm_clone(realm)) != NULL); }

go_error go_begin(realm_t* realm) { return done(realm_begin_write(realm)); }

go_error go_commit(realm_t* realm) { return done(realm_commit(realm)); }

go_error go_rollback(realm_t* realm) { return done(realm_rollback(realm)); }

go_error go_refresh(realm_t* realm) { return done(realm_refresh(realm, NULL)); }

go_error go_run(realm_scheduler_t* scheduler, bool* did_work) {
    return done(crealm_scheduler_run(scheduler, 0, did_work));
}

go_error go_verify(const realm_t* realm) { return done(crealm_verify(realm, NULL)); }

go_error go_copy(const realm_t* realm, const realm_config_t* config) {
    return done(realm_convert_with_config(realm, config, false));
}

go_error go_compact(realm_t* realm, bool* did) { return done(realm_compact(realm, did)); }

void go_interrupt(const realm_t* realm) { crealm_interrupt(realm); }

void go_close(realm_t* realm) { realm_close(realm); }

void go_release(void* handle) { realm_release(handle); }

/* -- Objects */

enum { FEW = 32 };

static go_error create_one(realm_t* realm, uint32_t class_key, int mode, struct cursor* cursor, realm_link_t* link) {
    realm_value_t few[FEW], *values = few, key;
    int64_t few_keys[FEW], *keys = few_keys;
    bool has_key = next_type(cursor) != GO_NOTHING;
    if (is_deep(next_type(cursor)))
        return refused(RLM_ERR_PROPERTY_TYPE_MISMATCH, "a collection is no primary key");
    if (has_key)
        key = take_value(cursor);
    else
        cursor->at++;
    uint32_t count = take_count(cursor), plain = 0, deep = 0;
    if (count > FEW) {
        values = malloc(count * sizeof *values);
        keys = malloc(count * sizeof *keys);
        if (!values || !keys)
            abort();
    }
    struct cursor first = *cursor;
    for (uint32_t index = 0; index < count; index++) {
        take(cursor, &keys[plain], 8);
        if (is_deep(next_type(cursor))) {
            skip_value(cursor);
            deep++;
        } else {
            values[plain++] = take_value(cursor);
        }
    }
    bool created = false;
    go_error error = done(crealm_create(realm, class_key, has_key ? &key : NULL, (crealm_update_mode_e)mode, plain, keys,
                                        values, link, &created));
    if (!error && deep) {
        realm_object_t* object = realm_get_object(realm, link->target_table, link->target);
        error = object ? NULL : failure();
        for (uint32_t index = 0; !error && index < count; index++) {
            int64_t property;
            take(&first, &property, 8);
            if (is_deep(next_type(&first)))
                error = write_property(object, property, &first);
            else
                skip_value(&first);
        }
        realm_release(object);
        if (error && created && !crealm_delete(realm, link))
            realm_clear_last_error();
    }
    if (values != few) {
        free(values);
        free(keys);
    }
    return error;
}

go_error go_create(realm_t* realm, uint32_t class_key, int mode, size_t count, const uint8_t* values, size_t size,
                   realm_link_t* links) {
    struct cursor cursor = {values, values + size};
    for (size_t index = 0; index < count; index++) {
        go_error error = create_one(realm, class_key, mode, &cursor, &links[index]);
        if (error)
            return error;
    }
    return NULL;
}

go_error go_set(realm_t* realm, realm_link_t link, int64_t key, const uint8_t* value, size_t size) {
    struct cursor cursor = {value, value + size};
    if (!is_deep(next_type(&cursor))) {
        realm_value_t plain = take_value(&cursor);
        return done(crealm_set_values(realm, &link, 1, &key, &plain));
    }
    realm_object_t* object = realm_get_object(realm, link.target_table, link.target);
    go_error error = object ? write_property(object, key, &cursor) : failure();
    realm_release(object);
    return error;
}

go_error go_add(realm_t* realm, realm_link_t link, int64_t key, int64_t number) {
    realm_object_t* object = realm_get_object(realm, link.target_table, link.target);
    go_error error = object ? done(realm_object_add_int(object, key, number)) : failure();
    realm_release(object);
    return error;
}

go_error go_delete(realm_t* realm, realm_link_t link) { return done(crealm_delete(realm, &link)); }

go_error go_find(const realm_t* realm, uint32_t class_key, const uint8_t* key, size_t size, realm_link_t* link,
                 bool* found, size_t count, const int64_t* keys, realm_value_t* values) {
    struct cursor cursor = {key, key + size};
    if (is_deep(next_type(&cursor)))
        return refused(RLM_ERR_PROPERTY_TYPE_MISMATCH, "a collection is no primary key");
    realm_value_t value = take_value(&cursor);
    if (!crealm_find(realm, class_key, &value, link, found))
        return failure();
    return *found && count ? done(crealm_get_values(realm, link, count, keys, values)) : NULL;
}

go_error go_get(const realm_t* realm, realm_link_t link, size_t count, const int64_t* keys, realm_value_t* values) {
    return done(crealm_get_values(realm, &link, count, keys, values));
}

go_one go_get_one(const realm_t* realm, realm_link_t link, int64_t key) {
    go_one one;
    one.error = done(crealm_get_values(realm, &link, 1, &key, &one.value));
    return one;
}

go_error go_read(const realm_t* realm, realm_link_t link, int64_t key, int kind, go_bytes* out) {
    realm_object_t* object = realm_get_object(realm, link.target_table, link.target);
    if (!object)
        return failure();
    struct buffer buffer = {0};
    go_error error = NULL;
    struct place place = {.kind = PROPERTY, .owner = object, .key = key};
    if (kind == RLM_COLLECTION_TYPE_LIST) {
        realm_list_t* list = realm_get_list(object, key);
        error = read_list(&buffer, list);
        realm_release(list);
    } else if (kind == RLM_COLLECTION_TYPE_SET) {
        realm_set_t* set = realm_get_set(object, key);
        error = read_set(&buffer, set);
        realm_release(set);
    } else if (kind == RLM_COLLECTION_TYPE_DICTIONARY) {
        realm_dictionary_t* dictionary = realm_get_dictionary(object, key);
        error = read_dictionary(&buffer, dictionary);
        realm_release(dictionary);
    } else {
        realm_value_t value;
        error = realm_get_value(object, key, &value) ? read_value(&buffer, &place, value) : failure();
    }
    realm_release(object);
    return finish(&buffer, error, out);
}

static go_error change_list(realm_list_t* list, int what, size_t at, size_t to, struct cursor* value) {
    struct place place = {.kind = what == GO_INSERT ? INSERTED : ELEMENT, .owner = list, .at = at};
    if (what == GO_INSERT && at == SIZE_MAX && !realm_list_size(list, &place.at))
        return failure();
    switch (what) {
    case GO_INSERT:
    case GO_REPLACE: return write_place(&place, value);
    case GO_REMOVE: return done(realm_list_erase(list, at));
    case GO_MOVE: return done(realm_list_move(list, at, to));
    case GO_CLEAR: return done(realm_list_clear(list));
    default: return refused(RLM_ERR_ILLEGAL_OPERATION, "a list has no such change");
    }
}

static go_error change_dictionary(realm_dictionary_t* dictionary, int what, realm_value_t name, struct cursor* value) {
    struct place place = {.kind = PAIR, .owner = dictionary, .name = name};
    switch (what) {
    case GO_PUT: return write_place(&place, value);
    case GO_REMOVE_KEY: return done(realm_dictionary_erase(dictionary, name, NULL));
    case GO_CLEAR: return done(realm_dictionary_clear(dictionary));
    default: return refused(RLM_ERR_ILLEGAL_OPERATION, "a dictionary has no such change");
    }
}

static go_error change_set(realm_set_t* set, int what, struct cursor* value) {
    struct place place = {.kind = IN_SET, .owner = set};
    switch (what) {
    case GO_ADD: return write_place(&place, value);
    case GO_DISCARD:
        return is_deep(next_type(value)) ? NULL : done(realm_set_erase(set, take_value(value), NULL));
    case GO_CLEAR: return done(realm_set_clear(set));
    default: return refused(RLM_ERR_ILLEGAL_OPERATION, "a set has no such change");
    }
}

go_error go_change(realm_t* realm, realm_link_t link, int64_t key, int kind, const uint8_t* steps, size_t steps_size,
                   int what, size_t at, size_t to, const char* name, size_t name_size, const uint8_t* value,
                   size_t size) {
    realm_object_t* object = realm_get_object(realm, link.target_table, link.target);
    if (!object)
        return failure();
    struct cursor path = {steps, steps + steps_size}, cursor = {value, value + size};
    realm_value_t pair = {.string = {name_size ? name : "", name_size}, .type = RLM_TYPE_STRING};
    struct place place = {.kind = PROPERTY, .owner = object, .key = key};
    void* kept = NULL;
    go_error error = NULL;
    /* Each step leads from the collection in a place to an element of it. */
    while (!error && path.at < path.end) {
        realm_value_t step = take_value(&path);
        bool is_name = step.type == RLM_TYPE_STRING;
        void* next = is_name ? (void*)dictionary_in(&place, false) : (void*)list_in(&place, false);
        if (!next) {
            error = failure();
            break;
        }
        realm_release(kept);
        kept = next;
        place = is_name ? (struct place){.kind = PAIR, .owner = next, .name = step}
                        : (struct place){.kind = ELEMENT, .owner = next, .at = (size_t)step.integer};
    }
    if (!error && kind == RLM_COLLECTION_TYPE_SET) {
        realm_set_t* set = realm_get_set(object, key);
        error = set ? change_set(set, what, &cursor) : failure();
        realm_release(set);
    } else if (!error) {
        bool is_dictionary = what == GO_PUT || what == GO_REMOVE_KEY;
        if (what == GO_CLEAR && kind != RLM_COLLECTION_TYPE_LIST) {
            realm_dictionary_t* try = dictionary_in(&place, false);
            is_dictionary = try && realm_dictionary_is_valid(try);
            realm_release(try);
            realm_clear_last_error();
        }
        if (is_dictionary) {
            realm_dictionary_t* dictionary = dictionary_in(&place, false);
            error = dictionary ? change_dictionary(dictionary, what, pair, &cursor) : failure();
            realm_release(dictionary);
        } else {
            realm_list_t* list = list_in(&place, false);
            error = list ? change_list(list, what, at, to, &cursor) : failure();
            realm_release(list);
        }
    }
    realm_release(kept);
    realm_release(object);
    return error;
}

/* -- Results */

/* The arguments of a query: for each an encoded value; a list is one argument with many values. */
static realm_query_arg_t* take_arguments(size_t count, struct cursor cursor, realm_value_t** values) {
    realm_query_arg_t* arguments = calloc(count ? count : 1, sizeof *arguments);
    size_t total = 0;
    struct cursor counting = cursor;
    for (size_t index = 0; index < count; index++) {
        bool is_list = next_type(&counting) == RLM_TYPE_LIST;
        if (is_list) {
            struct cursor inside = {counting.at + 1, counting.end};
            total += take_count(&inside);
        } else {
            total++;
        }
        skip_value(&counting);
    }
    *values = calloc(total ? total : 1, sizeof **values);
    if (!arguments || !*values)
        abort();
    realm_value_t* next = *values;
    for (size_t index = 0; index < count; index++) {
        arguments[index].arg = next;
        arguments[index].nb_args = 1;
        if (next_type(&cursor) == RLM_TYPE_LIST) {
            cursor.at++;
            arguments[index].is_list = true;
            arguments[index].nb_args = take_count(&cursor);
        }
        for (size_t each = 0; each < arguments[index].nb_args; each++)
            *next++ = take_value(&cursor);
    }
    return arguments;
}

static go_error owned_results(const realm_t* realm, go_query query, realm_results_t** results) {
    realm_object_t* object = realm_get_object(realm, query.owner_class, query.owner);
    if (!object)
        return failure();
    void* collection = NULL;
    *results = NULL;
    if (query.owner_kind < 0) {
        *results = realm_get_backlinks(object, query.class_key, query.owner_property);
    } else if (query.owner_kind == RLM_COLLECTION_TYPE_LIST) {
        collection = realm_get_list(object, query.owner_property);
        *results = collection ? realm_list_to_results(collection) : NULL;
    } else if (query.owner_kind == RLM_COLLECTION_TYPE_SET) {
        collection = realm_get_set(object, query.owner_property);
        *results = collection ? realm_set_to_results(collection) : NULL;
    } else {
        collection = realm_get_dictionary(object, query.owner_property);
        *results = collection ? realm_dictionary_to_results(collection) : NULL;
    }
    go_error error = done(*results != NULL);
    realm_release(collection);
    realm_release(object);
    return error;
}

go_error go_results(const realm_t* realm, go_query query, const char* text, const char* sort, const char* distinct,
                    size_t num_args, const uint8_t* args, size_t args_size, realm_results_t** out) {
    realm_results_t* results = NULL;
    go_error error = NULL;
    if (query.owner >= 0)
        error = owned_results(realm, query, &results);
    if (!error && (query.owner < 0 || *text)) {
        realm_value_t* values = NULL;
        struct cursor cursor = {args, args + args_size};
        realm_query_arg_t* arguments = take_arguments(num_args, cursor, &values);
        const char* condition = *text ? text : "TRUEPREDICATE";
        realm_query_t* parsed = results ? realm_query_parse_for_results(results, condition, num_args, arguments)
                                        : realm_query_parse(realm, query.class_key, condition, num_args, arguments);
        realm_results_t* found = parsed ? realm_query_find_all(parsed) : NULL;
        if (!found)
            error = failure();
        realm_release(parsed);
        realm_release(results);
        results = found;
        free(arguments);
        free(values);
    }
    const char* texts[] = {sort, distinct};
    for (int step = 0; !error && step < 2; step++) {
        if (!*texts[step])
            continue;
        realm_results_t* next = step ? realm_results_distinct(results, distinct) : realm_results_sort(results, sort);
        if (!next)
            error = failure();
        realm_release(results);
        results = next;
    }
    if (!error && query.limit >= 0) {
        realm_results_t* next = realm_results_limit(results, (size_t)query.limit);
        if (!next)
            error = failure();
        realm_release(results);
        results = next;
    }
    if (!error && query.snapshot) {
        realm_results_t* next = realm_results_snapshot(results);
        if (!next)
            error = failure();
        realm_release(results);
        results = next;
    }
    if (error)
        realm_release(results);
    else
        *out = results;
    return error;
}

go_error go_count(const realm_t* realm, go_query query, const char* text, const char* sort, const char* distinct,
                  size_t num_args, const uint8_t* args, size_t args_size, size_t* count) {
    realm_results_t* results = NULL;
    go_error error = go_results(realm, query, text, sort, distinct, num_args, args, args_size, &results);
    if (!error) {
        error = done(realm_results_count(results, count));
        realm_release(results);
    }
    return error;
}

go_error go_fetch(realm_results_t* results, size_t first, size_t count, size_t num_keys, const int64_t* keys,
                  realm_value_t* values, realm_link_t* links, size_t* read) {
    return done(crealm_results_fetch(results, first, count, keys, num_keys, values, links, read));
}

go_error go_aggregate(realm_results_t* results, int function, int64_t key, go_bytes* out) {
    realm_value_t value;
    bool found = false, did = false;
    switch (function) {
    case 0: did = realm_results_min(results, key, &value, &found); break;
    case 1: did = realm_results_max(results, key, &value, &found); break;
    case 2: did = realm_results_sum(results, key, &value, &found); break;
    default: did = realm_results_average(results, key, &value, &found); break;
    }
    struct buffer buffer = {0};
    return finish(&buffer, did ? read_value(&buffer, NULL, value) : failure(), out);
}

go_error go_delete_all(realm_results_t* results) { return done(realm_results_delete_all(results)); }

go_error go_update(realm_results_t* results, const char* text, size_t num_args, const uint8_t* args, size_t args_size,
                   size_t* count) {
    realm_value_t* values = NULL;
    struct cursor cursor = {args, args + args_size};
    realm_query_arg_t* arguments = take_arguments(num_args, cursor, &values);
    go_error error = done(crealm_results_update(results, text, num_args, arguments, count));
    free(arguments);
    free(values);
    return error;
}

/* -- Listeners */

static void put_indices(struct buffer* buffer, const size_t* indices, size_t count) {
    put_count(buffer, count);
    for (size_t index = 0; index < count; index++) {
        uint64_t number = indices[index];
        put(buffer, &number, 8);
    }
}

static void tell_collection(void* listener, const realm_collection_changes_t* changes) {
    struct buffer buffer = {0};
    crealm_collection_changes_t* all = NULL;
    if (!crealm_collection_changes_get_all(changes, &all))
        return;
    put_indices(&buffer, all->deletions, all->num_deletions);
    put_indices(&buffer, all->insertions, all->num_insertions);
    put_indices(&buffer, all->modifications, all->num_modifications);
    put_indices(&buffer, all->modifications_after, all->num_modifications_after);
    uint8_t flags[2] = {all->was_cleared, all->is_deleted};
    put(&buffer, flags, 2);
    realm_free(all);
    goChange((uintptr_t)listener, 0, buffer.data, buffer.size);
    free(buffer.data);
}

static void tell_dictionary(void* listener, const realm_dictionary_changes_t* changes) {
    size_t counts[3] = {0, 0, 0};
    bool deleted = false, cleared = false;
    realm_dictionary_get_changes(changes, &counts[0], &counts[1], &counts[2], &deleted);
    realm_value_t* keys[3];
    for (int kind = 0; kind < 3; kind++)
        if (!(keys[kind] = calloc(counts[kind] + 1, sizeof(realm_value_t))))
            abort();
    realm_dictionary_get_changed_keys(changes, keys[0], &counts[0], keys[1], &counts[1], keys[2], &counts[2], &cleared);
    struct buffer buffer = {0};
    for (int kind = 0; kind < 3; kind++) {
        put_count(&buffer, counts[kind]);
        for (size_t index = 0; index < counts[kind]; index++) {
            put_count(&buffer, keys[kind][index].string.size);
            put(&buffer, keys[kind][index].string.data, keys[kind][index].string.size);
        }
        free(keys[kind]);
    }
    uint8_t flags[2] = {cleared, deleted};
    put(&buffer, flags, 2);
    goChange((uintptr_t)listener, 1, buffer.data, buffer.size);
    free(buffer.data);
}

static void tell_object(void* listener, const realm_object_changes_t* changes) {
    size_t count = realm_object_changes_get_num_modified_properties(changes);
    int64_t* keys = calloc(count + 1, sizeof *keys);
    if (!keys)
        abort();
    realm_object_changes_get_modified_properties(changes, keys, count);
    struct buffer buffer = {0};
    put_count(&buffer, count);
    put(&buffer, keys, count * sizeof *keys);
    uint8_t deleted = realm_object_changes_is_deleted(changes);
    put(&buffer, &deleted, 1);
    free(keys);
    goChange((uintptr_t)listener, 2, buffer.data, buffer.size);
    free(buffer.data);
}

static void free_listener(void* listener) { goFreeHandle((uintptr_t)listener); }

static go_error key_paths(realm_t* realm, uint32_t class_key, const char* const* paths, size_t count,
                          realm_key_path_array_t** out) {
    *out = NULL;
    if (count)
        *out = realm_create_key_path_array(realm, class_key, count, (const char**)paths);
    return count && !*out ? failure() : NULL;
}

go_error go_observe(realm_t* realm, realm_results_t* results, const char* const* paths, size_t num_paths,
                    uint32_t class_key, uintptr_t listener, void** token) {
    realm_key_path_array_t* keys = NULL;
    go_error error = key_paths(realm, class_key, paths, num_paths, &keys);
    if (error) {
        goFreeHandle(listener);
        return error;
    }
    *token = realm_results_add_notification_callback(results, (void*)listener, free_listener, keys, tell_collection);
    error = done(*token != NULL);
    realm_release(keys);
    return error;
}

go_error go_observe_object(realm_t* realm, realm_link_t link, const char* const* paths, size_t num_paths,
                           uintptr_t listener, void** token, void** watched) {
    realm_key_path_array_t* keys = NULL;
    go_error error = key_paths(realm, link.target_table, paths, num_paths, &keys);
    realm_object_t* object = error ? NULL : realm_get_object(realm, link.target_table, link.target);
    if (!error && !object)
        error = failure();
    if (error) {
        realm_release(keys);
        goFreeHandle(listener);
        return error;
    }
    *token = realm_object_add_notification_callback(object, (void*)listener, free_listener, keys, tell_object);
    error = done(*token != NULL);
    realm_release(keys);
    *watched = object;
    return error;
}

go_error go_observe_collection(realm_t* realm, realm_link_t link, int64_t key, int kind, uintptr_t listener,
                               void** token, void** watched) {
    realm_object_t* object = realm_get_object(realm, link.target_table, link.target);
    void* found = NULL;
    if (object && kind == RLM_COLLECTION_TYPE_LIST)
        found = realm_get_list(object, key);
    else if (object && kind == RLM_COLLECTION_TYPE_SET)
        found = realm_get_set(object, key);
    else if (object)
        found = realm_get_dictionary(object, key);
    realm_release(object);
    if (!found) {
        goFreeHandle(listener);
        return failure();
    }
    if (kind == RLM_COLLECTION_TYPE_LIST)
        *token = realm_list_add_notification_callback(found, (void*)listener, free_listener, NULL, tell_collection);
    else if (kind == RLM_COLLECTION_TYPE_SET)
        *token = realm_set_add_notification_callback(found, (void*)listener, free_listener, NULL, tell_collection);
    else
        *token = realm_dictionary_add_notification_callback(found, (void*)listener, free_listener, NULL, tell_dictionary);
    *watched = found;
    return done(*token != NULL);
}
