/*
 * Arrays of the Arrow C data interface over plain buffers, for tests of crealm_create_batch(): begin a table, add
 * columns; all data is on the stack of the test.
 */

#ifndef BATCHES_H
#define BATCHES_H

#include <crealm.h>
#include <string.h>

#define MOST_COLUMNS 8

static void keep_schema(struct ArrowSchema* s) { (void)s; }
static void keep_array(struct ArrowArray* a) { (void)a; }

typedef struct batch {
    struct ArrowSchema schema, fields[MOST_COLUMNS], *field_list[MOST_COLUMNS];
    struct ArrowArray rows, columns[MOST_COLUMNS], *column_list[MOST_COLUMNS];
    const void *none[1], *buffers[MOST_COLUMNS][3];
    int count;
} batch_t;

static inline void begin_batch(batch_t* b, int64_t length) {
    memset(b, 0, sizeof *b);
    b->schema.format = "+s", b->schema.children = b->field_list, b->schema.release = keep_schema;
    b->rows.length = length, b->rows.n_buffers = 1, b->rows.buffers = b->none, b->rows.children = b->column_list;
    b->rows.release = keep_array;
}
/* offsets: NULL for values of a fixed width. */
static inline void add_column(batch_t* b, const char* name, const char* format, const void* values, const void* offsets) {
    int i = b->count++;
    b->fields[i].format = format, b->fields[i].name = name, b->fields[i].release = keep_schema;
    b->columns[i].length = b->rows.length, b->columns[i].release = keep_array, b->columns[i].buffers = b->buffers[i];
    b->columns[i].n_buffers = offsets ? 3 : 2;
    b->buffers[i][1] = offsets ? offsets : values, b->buffers[i][2] = offsets ? values : NULL;
    b->field_list[i] = &b->fields[i], b->column_list[i] = &b->columns[i];
    b->schema.n_children = b->rows.n_children = b->count;
}
static inline void add_integers(batch_t* b, const char* name, const int64_t* values) { add_column(b, name, "l", values, NULL); }
static inline void add_texts(batch_t* b, const char* name, const int32_t* offsets, const char* text) {
    add_column(b, name, "u", text, offsets);
}
/* One row with an integer. */
static inline batch_t* one_integer(batch_t* b, const char* name, const int64_t* value) {
    begin_batch(b, 1), add_integers(b, name, value);
    return b;
}
static inline bool create_batch(realm_t* realm, realm_class_key_t class_key, const batch_t* b) {
    return crealm_create_batch(realm, class_key, &b->schema, &b->rows, CREALM_UPDATE_ERROR, NULL, NULL, NULL);
}

#endif /* BATCHES_H */
