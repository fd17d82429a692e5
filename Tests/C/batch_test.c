/*
 * Batches. Goal: crealm_create_batch creates and fills objects as its manual says: its results, its three modes, the
 * place of a fault, and the example of the manual. The tests of the engine cover all types and layouts. Compiles as C11
 * and as C++17.
 *
 *     batch_test
 */

#include <crealm.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "batches.h"
#include "checks.h"
#include "values.h"

static char folder[] = "/tmp/crealm-batch-XXXXXX", path[80];
static realm_t* realm;
static realm_class_info_t person;

static realm_t* open_people(void) {
    realm_property_info_t properties[3];
    memset(properties, 0, sizeof properties);
    const char* names[] = {"id", "name", "age"};
    for (int i = 0; i < 3; i++) {
        properties[i].name = names[i], properties[i].public_name = properties[i].link_target = properties[i].link_origin_property_name = "";
        properties[i].type = i == 1 ? RLM_PROPERTY_TYPE_STRING : RLM_PROPERTY_TYPE_INT;
        properties[i].flags = i == 0 ? RLM_PROPERTY_PRIMARY_KEY : (i == 1 ? RLM_PROPERTY_INDEXED : RLM_PROPERTY_NORMAL);
    }
    realm_class_info_t info;
    memset(&info, 0, sizeof info);
    info.name = "Person", info.primary_key = "id", info.num_properties = 3;
    const realm_property_info_t* of_person = properties;
    realm_schema_t* schema = realm_schema_new(&info, 1, &of_person);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t* opened = realm_open(config);
    realm_release(schema), realm_release(config);
    return opened;
}
static int64_t number_of(int64_t id, const char* property) {
    bool found = false;
    realm_property_info_t info;
    realm_value_t v = of_type(RLM_TYPE_NULL);
    realm_object_t* o = realm_object_find_with_primary_key(realm, person.key, integer(id), &found);
    if (!o || !realm_find_property(realm, person.key, property, &found, &info) || !realm_get_value(o, info.key, &v)) return -1;
    realm_release(o);
    return v.type == RLM_TYPE_INT ? v.integer : (int64_t)v.string.size;
}

/* The example of the manual, word for word. */
static void plain_buffer(void) {
    section = "a plain buffer";
    int64_t ids[1000];
    for (int i = 0; i < 1000; i++) ids[i] = i;
    const void* buffers[] = {NULL, ids};
    struct ArrowSchema field;
    struct ArrowArray column;
    memset(&field, 0, sizeof field), memset(&column, 0, sizeof column);
    field.format = "l", field.name = "id", field.release = keep_schema;
    column.length = 1000, column.n_buffers = 2, column.buffers = buffers, column.release = keep_array;
    struct ArrowSchema *fields[] = {&field}, schema;
    struct ArrowArray *columns[] = {&column}, rows;
    memset(&schema, 0, sizeof schema), memset(&rows, 0, sizeof rows);
    const void* none[] = {NULL};
    schema.format = "+s", schema.n_children = 1, schema.children = fields, schema.release = keep_schema;
    rows.length = 1000, rows.n_buffers = 1, rows.n_children = 1, rows.buffers = none, rows.children = columns, rows.release = keep_array;
    CHECK(realm_begin_write(realm));
    /* A released or moved structure is refused at every place. */
    void (*const keep)(struct ArrowArray*) = keep_array;
    column.release = NULL;
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_create_batch(realm, person.key, &schema, &rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL));
    column.release = keep, field.release = NULL;
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_create_batch(realm, person.key, &schema, &rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL));
    field.release = keep_schema, rows.release = NULL;
    FAILS(RLM_ERR_INVALID_ARGUMENT, crealm_create_batch(realm, person.key, &schema, &rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL));
    rows.release = keep;
    CHECK(crealm_create_batch(realm, person.key, &schema, &rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL));
    CHECK(realm_commit(realm));
    size_t n = 0;
    CHECK(realm_get_num_objects(realm, person.key, &n) && n == 1000);
    CHECK(number_of(999, "age") == 0 && number_of(999, "name") == 0);
    CHECK(schema.release == keep_schema && rows.release == keep_array && column.release == keep_array);
}
static void modes(void) {
    section = "modes";
    int64_t ids[] = {5, 2000, 5, 2001}, ages[] = {50, 51, 52, 53};
    int32_t ends[] = {0, 3, 7, 7, 12};
    batch_t b;
    begin_batch(&b, 4), add_integers(&b, "id", ids), add_texts(&b, "name", ends, "AnnBertClara"), add_integers(&b, "age", ages);
    realm_object_key_t keys[4] = {-7, -7, -7, -7};
    size_t created = 77;
    crealm_batch_fault_t fault = {77, 77};
    realm_property_info_t id;
    bool found;
    CHECK(realm_find_property(realm, person.key, "id", &found, &id) && found);
    FAILS(RLM_ERR_WRONG_TRANSACTION_STATE,
          crealm_create_batch(realm, person.key, &b.schema, &b.rows, CREALM_UPDATE_ALL, keys, &created, &fault));
    CHECK(fault.row == -1 && fault.property == RLM_INVALID_PROPERTY_KEY);
    CHECK(realm_begin_write(realm));
    FAILS(RLM_ERR_OBJECT_ALREADY_EXISTS,
          crealm_create_batch(realm, person.key, &b.schema, &b.rows, CREALM_UPDATE_ERROR, keys, &created, &fault));
    CHECK(fault.row == 0 && fault.property == id.key);
    CHECK(keys[0] == -7 && created == 77);
    CHECK(crealm_create_batch(realm, person.key, &b.schema, &b.rows, CREALM_UPDATE_MODIFIED, keys, &created, &fault));
    CHECK(created == 2 && fault.row == -1 && fault.property == RLM_INVALID_PROPERTY_KEY && keys[0] == keys[2] && keys[1] != keys[3]);
    CHECK(number_of(5, "age") == 52 && number_of(5, "name") == 0 && number_of(2000, "name") == 4 && number_of(2001, "age") == 53);
    ages[0] = 60, ages[2] = 61;
    CHECK(crealm_create_batch(realm, person.key, &b.schema, &b.rows, CREALM_UPDATE_ALL, NULL, &created, NULL) && created == 0);
    CHECK(number_of(5, "age") == 61);
    CHECK(realm_commit(realm));
    CHECK(crealm_verify(realm, NULL));
}
/* More rows than fit into a leaf and an inner node, in batches of odd sizes. */
static void many(void) {
    section = "many rows";
    enum { ROWS = 70000 };
    int64_t* ids = (int64_t*)malloc(ROWS * sizeof *ids);
    int32_t* ends = (int32_t*)malloc((ROWS + 1) * sizeof *ends);
    char* text = (char*)malloc(ROWS * 8);
    if (!ids || !ends || !text) exit(1);
    ends[0] = 0;
    for (int i = 0; i < ROWS; i++) {
        ids[i] = 1000000 + (int64_t)i * 7919 % ROWS;
        ends[i + 1] = ends[i] + sprintf(text + ends[i], "City%d", i % 500);
    }
    CHECK(realm_begin_write(realm));
    int done = 0;
    for (int size = 1; done < ROWS; size = size * 3 + 1) {
        int n = size < ROWS - done ? size : ROWS - done;
        batch_t b;
        begin_batch(&b, n), add_integers(&b, "id", ids + done), add_texts(&b, "name", ends + done, text);
        size_t created = 0;
        if (!CHECK(crealm_create_batch(realm, person.key, &b.schema, &b.rows, CREALM_UPDATE_ERROR, NULL, &created, NULL))) break;
        CHECK(created == (size_t)n);
        done += n;
    }
    CHECK(realm_commit(realm));
    realm_query_t* q = realm_query_parse(realm, person.key, "name == 'City77'", 0, NULL);
    size_t n = 0;
    CHECK(q && realm_query_count(q, &n) && n == ROWS / 500);
    CHECK(number_of(1000000 + 7919, "name") == 5);
    CHECK(crealm_verify(realm, NULL));
    realm_release(q);
    free(ids), free(ends), free(text);
}

int main(void) {
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/batch.realm", folder);
    realm = open_people();
    if (!realm) give_up();
    bool found;
    CHECK(realm_find_class(realm, "Person", &found, &person) && found);
    plain_buffer();
    modes();
    many();
    realm_release(realm);
    return finished(folder);
}
