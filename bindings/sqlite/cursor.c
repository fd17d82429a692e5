/* Reading rows.
 *
 * Rows come in pages: the plain columns that the statement uses as one array of Arrow, Mixed values as another array.
 * A page begins small, because many statements read only a few rows, and grows. Collections are read object by object
 * when SQLite asks for one.
 */

#include "crealm_sqlite.h"
#include <stdlib.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

#define FIRST_PAGE 16
#define LARGEST_PAGE 1024

/* Where the values of a column are. */
typedef enum Source {
    SOURCE_NONE,   /* not read in pages: it is not used, or is a collection */
    SOURCE_ARROW,  /* a child of the page's array */
    SOURCE_VALUES, /* a column of the page's values */
} Source;

typedef struct Place {
    Source source;
    int index;
} Place;

typedef struct Cursor {
    sqlite3_vtab_cursor base;
    Place* places; /* of each column */
    const char** paths; /* of the columns of Arrow */
    const char** formats; /* which these should have */
    realm_property_key_t* keys; /* of the columns of values */
    int num_paths, num_keys;
    bool has_checked; /* whether the formats are as they should be */

    realm_results_t* results; /* NULL: the row is the object, or no row was found */
    bool is_reverse;
    size_t rows, row;
    size_t page_size, page_first, page_count; /* rows of the page, as positions in the results */
    bool has_array;
    struct ArrowArray array;
    realm_value_t* values;
    realm_link_t* links; /* the objects of the page */
    bool has_links;

    realm_object_t* object; /* of the row; NULL: not fetched */
} Cursor;

static Table* table_of(const Cursor* cursor)
{
    return (Table*)cursor->base.pVtab;
}

static int library_failure(Cursor* cursor)
{
    return crealm_library_error(table_of(cursor)->file, &cursor->base.pVtab->zErrMsg);
}

int crealm_connect_cursor(sqlite3_vtab* base, sqlite3_vtab_cursor** out)
{
    Table* table = (Table*)base;
    Cursor* cursor = sqlite3_malloc(sizeof *cursor);
    if (cursor == NULL)
        return SQLITE_NOMEM;
    memset(cursor, 0, sizeof *cursor);
    size_t count = (size_t)table->num_columns + 1;
    cursor->places = sqlite3_malloc64(count * sizeof *cursor->places);
    cursor->paths = sqlite3_malloc64(count * sizeof *cursor->paths);
    cursor->formats = sqlite3_malloc64(count * sizeof *cursor->formats);
    cursor->keys = sqlite3_malloc64(count * sizeof *cursor->keys);
    int code = SQLITE_NOMEM;
    if (cursor->places != NULL && cursor->paths != NULL && cursor->formats != NULL && cursor->keys != NULL)
        code = crealm_open(table->file, &base->zErrMsg);
    if (code == SQLITE_OK) {
        code = crealm_check_class(table, &base->zErrMsg);
        if (code != SQLITE_OK)
            crealm_close(table->file);
    }
    if (code != SQLITE_OK) {
        sqlite3_free(cursor->places);
        sqlite3_free(cursor->paths);
        sqlite3_free(cursor->formats);
        sqlite3_free(cursor->keys);
        sqlite3_free(cursor);
        return code;
    }
    *out = &cursor->base;
    return SQLITE_OK;
}

static void drop_page(Cursor* cursor)
{
    if (cursor->has_array && cursor->array.release != NULL)
        cursor->array.release(&cursor->array);
    cursor->has_array = false;
    cursor->has_links = false;
    cursor->page_count = 0;
}

static void drop_object(Cursor* cursor)
{
    realm_release(cursor->object);
    cursor->object = NULL;
}

static void reset(Cursor* cursor)
{
    drop_page(cursor);
    drop_object(cursor);
    realm_release(cursor->results);
    cursor->results = NULL;
    sqlite3_free(cursor->values);
    sqlite3_free(cursor->links);
    cursor->values = NULL;
    cursor->links = NULL;
    cursor->rows = cursor->row = 0;
    cursor->page_size = FIRST_PAGE;
    cursor->page_first = 0;
}

int crealm_cursor_close(sqlite3_vtab_cursor* base)
{
    Cursor* cursor = (Cursor*)base;
    File* file = table_of(cursor)->file;
    reset(cursor);
    sqlite3_free(cursor->places);
    sqlite3_free(cursor->paths);
    sqlite3_free(cursor->formats);
    sqlite3_free(cursor->keys);
    sqlite3_free(cursor);
    crealm_close(file);
    return SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------------
 * Beginning a search
 * ---------------------------------------------------------------------------------------------- */

static const char* arrow_format(Kind kind)
{
    switch (kind) {
        case KIND_INT: return "l";
        case KIND_BOOL: return "b";
        case KIND_DOUBLE: return "g";
        case KIND_FLOAT: return "f";
        case KIND_STRING: return "u";
        case KIND_BINARY: return "z";
        case KIND_DATE: return "tsn:UTC";
        case KIND_OBJECT_ID: return "w:12";
        default: return "w:16"; /* UUIDs and decimals */
    }
}

/* Decides where the values of the used columns come from. Bit 63 stands for all columns from 63 on. */
static void place_columns(Cursor* cursor, sqlite3_uint64 used)
{
    Table* table = table_of(cursor);
    cursor->num_paths = cursor->num_keys = 0;
    cursor->has_checked = false;
    for (int index = 0; index < table->num_columns; index++) {
        const Column* column = &table->columns[index];
        Place* place = &cursor->places[index];
        place->source = SOURCE_NONE;
        if (!(used >> (index < 63 ? index : 63) & 1) || column->collection != RLM_COLLECTION_TYPE_NONE)
            continue;
        if (column->path != NULL) {
            *place = (Place){SOURCE_ARROW, cursor->num_paths};
            cursor->paths[cursor->num_paths] = column->path;
            cursor->formats[cursor->num_paths++] = arrow_format(column->shown);
        } else {
            *place = (Place){SOURCE_VALUES, cursor->num_keys};
            cursor->keys[cursor->num_keys++] = column->key;
        }
    }
}

/* Reads all columns as values from now on. */
static void place_as_values(Cursor* cursor)
{
    Table* table = table_of(cursor);
    for (int index = 0; index < table->num_columns; index++) {
        if (cursor->places[index].source != SOURCE_ARROW)
            continue;
        cursor->places[index] = (Place){SOURCE_VALUES, cursor->num_keys};
        cursor->keys[cursor->num_keys++] = table->columns[index].key;
    }
    cursor->num_paths = 0;
    sqlite3_free(cursor->values);
    cursor->values = NULL;
}

/* The object with a key is the only row. */
static int find_object(Cursor* cursor, int number, sqlite3_value* value)
{
    Table* table = table_of(cursor);
    const realm_t* realm = table->file->realm;
    realm_value_t key;
    Kind kind = number == PLAN_ROWID ? KIND_INT : table->columns[table->primary].kind;
    if (crealm_key_value(kind, value, &key) == 0)
        return SQLITE_OK;
    realm_clear_last_error();
    if (number == PLAN_ROWID)
        cursor->object = realm_get_object(realm, table->class_key, key.integer);
    else
        cursor->object = realm_object_find_with_primary_key(realm, table->class_key, key, NULL);
    realm_error_t error;
    if (cursor->object == NULL && realm_get_last_error(&error) && error.error != RLM_ERR_NO_SUCH_OBJECT)
        return library_failure(cursor);
    cursor->rows = cursor->object != NULL;
    return SQLITE_OK;
}

/* The objects that link to the object with this value. is_known: false, if the value says nothing about the target. */
static int find_sources(Cursor* cursor, const Column* column, sqlite3_value* value, bool* is_known)
{
    Table* table = table_of(cursor);
    const realm_t* realm = table->file->realm;
    realm_value_t key;
    int found = crealm_key_value(column->shown, value, &key);
    *is_known = found >= 0;
    if (found <= 0)
        return SQLITE_OK;
    realm_object_t* target;
    realm_clear_last_error();
    if (column->target_primary == RLM_INVALID_PROPERTY_KEY)
        target = realm_get_object(realm, column->target_key, key.integer);
    else
        target = realm_object_find_with_primary_key(realm, column->target_key, key, NULL);
    realm_error_t error;
    if (target == NULL)
        return realm_get_last_error(&error) && error.error != RLM_ERR_NO_SUCH_OBJECT ? library_failure(cursor)
                                                                                     : SQLITE_OK;
    cursor->results = realm_get_backlinks(target, table->class_key, column->key);
    realm_release(target);
    return cursor->results == NULL ? library_failure(cursor) : SQLITE_OK;
}

/* The parts of the text that the plan made. */
typedef struct Plan {
    sqlite3_uint64 used;
    const char* at;
} Plan;

/* Rows to find at most; -1: all. */
static sqlite3_int64 limit_of(const char* at, int count, sqlite3_value** values)
{
    const char* offset = strchr(at, 'o');
    if (strchr(at, 'l') == NULL)
        return -1;
    int position = count - 1 - (offset != NULL);
    sqlite3_int64 limit = sqlite3_value_int64(values[position]);
    sqlite3_int64 skipped = offset == NULL ? 0 : sqlite3_value_int64(values[position + 1]);
    if (limit < 0 || limit > 1000000000 || skipped > 1000000000)
        return -1;
    return limit + (skipped > 0 ? skipped : 0);
}

static int make_results(Cursor* cursor, Search* search, bool is_all)
{
    Table* table = table_of(cursor);
    const realm_t* realm = table->file->realm;
    if (is_all && cursor->results != NULL)
        return SQLITE_OK;
    if (is_all) {
        cursor->results = realm_object_find_all(realm, table->class_key);
        return cursor->results == NULL ? library_failure(cursor) : SQLITE_OK;
    }
    const char* text = sqlite3_str_value(search->text);
    realm_query_t* query;
    if (cursor->results != NULL)
        query = realm_query_parse_for_results(cursor->results, text, (size_t)search->num_args, search->args);
    else
        query = realm_query_parse(realm, table->class_key, text, (size_t)search->num_args, search->args);
    if (query == NULL)
        return library_failure(cursor);
    realm_release(cursor->results);
    cursor->results = realm_query_find_all(query);
    realm_release(query);
    return cursor->results == NULL ? library_failure(cursor) : SQLITE_OK;
}

/* Adds SORT and LIMIT to the conditions. Returns whether the text is more than nothing. */
static bool finish_text(Cursor* cursor, Search* search, const char* sorts, sqlite3_int64 limit)
{
    bool is_sorted = false;
    if (sqlite3_str_length(search->text) == 0)
        sqlite3_str_appendall(search->text, "TRUEPREDICATE");
    else
        is_sorted = true;
    const char* before = " SORT(";
    for (const char* at = sorts; (at = strchr(at, 's')) != NULL;) {
        char* end;
        const Column* column = &table_of(cursor)->columns[strtol(at + 1, &end, 10)];
        sqlite3_str_appendf(search->text, "%s%s %s", before, column->text, strtol(end + 1, &end, 10) ? "DESC" : "ASC");
        before = ", ";
        is_sorted = true;
        at = end;
    }
    if (before[0] == ',')
        sqlite3_str_appendall(search->text, ")");
    if (limit >= 0) {
        sqlite3_str_appendf(search->text, " LIMIT(%lld)", limit);
        is_sorted = true;
    }
    return is_sorted;
}

static int search(Cursor* cursor, int number, const char* plan, int count, sqlite3_value** values)
{
    Table* table = table_of(cursor);
    Search search;
    crealm_search_begin(&search, table);
    int code = SQLITE_OK, argument = 0;
    const char* at = plan;
    for (; *at == 'c' && code == SQLITE_OK; argument++) {
        char* end;
        int op = (int)strtol(at + 1, &end, 10);
        const Column* column = &table->columns[strtol(end + 1, &end, 10)];
        bool is_list = strtol(end + 1, &end, 10) != 0;
        at = end + 1;
        bool is_known = true;
        if (argument == 0 && number & PLAN_LINK) {
            code = find_sources(cursor, column, values[0], &is_known);
            search.is_empty = is_known && cursor->results == NULL;
            search.is_exact = is_known;
        } else if (is_list) {
            crealm_search_in(&search, column, values[argument]);
        } else {
            crealm_search_add(&search, column, op, values[argument]);
        }
    }
    sqlite3_int64 limit = search.is_exact ? limit_of(at, count, values) : -1;
    /* In reverse order, the last rows are wanted. */
    bool has_text = finish_text(cursor, &search, at, number & PLAN_REVERSE ? -1 : limit);
    if (code == SQLITE_OK && (search.has_failed || sqlite3_str_errcode(search.text) != SQLITE_OK))
        code = SQLITE_NOMEM;
    if (code == SQLITE_OK && !search.is_empty) {
        code = make_results(cursor, &search, !has_text);
        if (code == SQLITE_OK && !realm_results_count(cursor->results, &cursor->rows))
            code = library_failure(cursor);
    }
    crealm_search_end(&search);
    return code;
}

/* ------------------------------------------------------------------------------------------------
 * Pages
 * ---------------------------------------------------------------------------------------------- */

static size_t position(const Cursor* cursor)
{
    return cursor->is_reverse ? cursor->rows - 1 - cursor->row : cursor->row;
}

static bool has_formats(const Cursor* cursor, const struct ArrowSchema* schema)
{
    if (schema->n_children != cursor->num_paths)
        return false;
    for (int index = 0; index < cursor->num_paths; index++)
        if (strcmp(schema->children[index]->format, cursor->formats[index]) != 0)
            return false;
    return true;
}

/* Reads the columns of Arrow. An error means that a value cannot be in such a column: a date too far away, a text
 * that is not UTF-8. */
static bool fetch_array(Cursor* cursor, size_t* count)
{
    struct ArrowSchema schema;
    bool is_first = !cursor->has_checked;
    if (!crealm_results_fetch_arrow(cursor->results, cursor->page_first, *count, cursor->paths,
                                    (size_t)cursor->num_paths, is_first ? &schema : NULL, &cursor->array))
        return false;
    cursor->has_array = true;
    bool is_right = !is_first || has_formats(cursor, &schema);
    if (is_first)
        schema.release(&schema);
    cursor->has_checked = true;
    if (!is_right || cursor->array.length <= 0 || (size_t)cursor->array.length > *count) {
        drop_page(cursor);
        return false;
    }
    /* Values that are too large for one array. In reverse order the last row of the page is needed. */
    if (cursor->is_reverse && (size_t)cursor->array.length < *count) {
        drop_page(cursor);
        return false;
    }
    *count = (size_t)cursor->array.length;
    return true;
}

static int load_page(Cursor* cursor)
{
    drop_page(cursor);
    size_t at = position(cursor), size = cursor->page_size;
    size_t count = cursor->is_reverse ? at + 1 : cursor->rows - at;
    if (count > size)
        count = size;
    cursor->page_first = cursor->is_reverse ? at + 1 - count : at;
    if (cursor->page_size < LARGEST_PAGE)
        cursor->page_size *= 4;
    if (cursor->num_paths > 0 && !fetch_array(cursor, &count))
        place_as_values(cursor);
    if (cursor->num_keys > 0) {
        if (cursor->values == NULL)
            cursor->values = sqlite3_malloc64((sqlite3_uint64)LARGEST_PAGE * (unsigned)cursor->num_keys
                                              * sizeof *cursor->values);
        if (cursor->values == NULL)
            return SQLITE_NOMEM;
        size_t fetched = 0;
        if (!crealm_results_fetch(cursor->results, cursor->page_first, count, cursor->keys,
                                  (size_t)cursor->num_keys, cursor->values, NULL, &fetched))
            return library_failure(cursor);
        if (fetched != count)
            return crealm_fail(&cursor->base.pVtab->zErrMsg, SQLITE_ERROR, "rows disappeared during a statement");
    }
    cursor->page_count = count;
    return SQLITE_OK;
}

static int load_links(Cursor* cursor)
{
    if (cursor->links == NULL)
        cursor->links = sqlite3_malloc64((sqlite3_uint64)LARGEST_PAGE * sizeof *cursor->links);
    if (cursor->links == NULL)
        return SQLITE_NOMEM;
    size_t fetched = 0;
    if (!crealm_results_fetch(cursor->results, cursor->page_first, cursor->page_count, NULL, 0, NULL, cursor->links,
                              &fetched))
        return library_failure(cursor);
    if (fetched != cursor->page_count)
        return crealm_fail(&cursor->base.pVtab->zErrMsg, SQLITE_ERROR, "rows disappeared during a statement");
    cursor->has_links = true;
    return SQLITE_OK;
}

/* Pages are loaded when a value is wanted: counting rows needs none. */
static int need_page(Cursor* cursor)
{
    size_t at = position(cursor);
    if (at - cursor->page_first < cursor->page_count && at >= cursor->page_first)
        return SQLITE_OK;
    return load_page(cursor);
}

static int need_object(Cursor* cursor)
{
    if (cursor->object != NULL)
        return SQLITE_OK;
    cursor->object = realm_results_get_object(cursor->results, position(cursor));
    return cursor->object == NULL ? library_failure(cursor) : SQLITE_OK;
}

/* ------------------------------------------------------------------------------------------------
 * Rows
 * ---------------------------------------------------------------------------------------------- */

int crealm_cursor_filter(sqlite3_vtab_cursor* base, int number, const char* plan, int count, sqlite3_value** values)
{
    Cursor* cursor = (Cursor*)base;
    char* end;
    reset(cursor);
    place_columns(cursor, strtoull(plan + 1, &end, 16));
    cursor->is_reverse = (number & PLAN_REVERSE) != 0;
    if (number & (PLAN_ROWID | PLAN_PRIMARY)) {
        realm_value_t key;
        Kind kind = number == PLAN_ROWID ? KIND_INT : table_of(cursor)->columns[table_of(cursor)->primary].kind;
        /* A number for a primary key that is a text: what it means depends on where it comes from. */
        if (crealm_key_value(kind, values[0], &key) >= 0)
            return find_object(cursor, number, values[0]);
        return search(cursor, 0, "", 0, NULL);
    }
    return search(cursor, number, end + 1, count, values);
}

int crealm_cursor_next(sqlite3_vtab_cursor* base)
{
    Cursor* cursor = (Cursor*)base;
    cursor->row++;
    if (cursor->object != NULL)
        drop_object(cursor);
    return SQLITE_OK;
}

int crealm_cursor_eof(sqlite3_vtab_cursor* base)
{
    const Cursor* cursor = (const Cursor*)base;
    return cursor->row >= cursor->rows;
}

int crealm_cursor_rowid(sqlite3_vtab_cursor* base, sqlite3_int64* out)
{
    Cursor* cursor = (Cursor*)base;
    if (cursor->results == NULL) {
        *out = realm_object_get_key(cursor->object);
        return SQLITE_OK;
    }
    int code = need_page(cursor);
    if (code == SQLITE_OK && !cursor->has_links)
        code = load_links(cursor);
    if (code == SQLITE_OK)
        *out = cursor->links[position(cursor) - cursor->page_first].target;
    return code;
}

static void result_text(sqlite3_context* context, const char* text, size_t size)
{
    sqlite3_result_text64(context, text == NULL ? "" : text, size, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static void result_blob(sqlite3_context* context, const void* bytes, size_t size)
{
    sqlite3_result_blob64(context, bytes == NULL ? "" : bytes, size, SQLITE_TRANSIENT);
}

static void result_fixed(sqlite3_context* context, Kind kind, const uint8_t* bytes)
{
    char text[DECIMAL_TEXT];
    realm_decimal128_t decimal;
    int size = kind == KIND_UUID ? 36 : 24;
    if (kind == KIND_UUID) {
        crealm_uuid_text(bytes, text);
    } else if (kind == KIND_OBJECT_ID) {
        crealm_object_id_text(bytes, text);
    } else {
        memcpy(&decimal, bytes, sizeof decimal);
        size = crealm_decimal_text(decimal, text);
    }
    sqlite3_result_text(context, text, size, SQLITE_TRANSIENT);
}

static void result_array(sqlite3_context* context, Kind kind, const struct ArrowArray* column, size_t row)
{
    size_t index = row + (size_t)column->offset;
    const uint8_t* validity = column->buffers[0];
    if (validity != NULL && !(validity[index >> 3] >> (index & 7) & 1))
        return; /* SQLite begins with NULL */
    const uint8_t* bytes = column->buffers[1];
    switch (kind) {
        case KIND_INT: sqlite3_result_int64(context, ((const int64_t*)bytes)[index]); return;
        case KIND_BOOL: sqlite3_result_int(context, bytes[index >> 3] >> (index & 7) & 1); return;
        case KIND_DOUBLE: sqlite3_result_double(context, ((const double*)bytes)[index]); return;
        case KIND_FLOAT: sqlite3_result_double(context, (double)((const float*)bytes)[index]); return;
        case KIND_DATE: {
            int64_t whole = ((const int64_t*)bytes)[index];
            int64_t seconds = whole / 1000000000, nanoseconds = whole % 1000000000;
            crealm_result_date(context, seconds, (int32_t)nanoseconds);
            return;
        }
        case KIND_STRING: case KIND_BINARY: {
            const int32_t* offsets = (const int32_t*)bytes;
            const char* data = (const char*)column->buffers[2];
            size_t size = (size_t)(offsets[index + 1] - offsets[index]);
            if (kind == KIND_STRING)
                result_text(context, data == NULL ? "" : data + offsets[index], size);
            else
                result_blob(context, data == NULL ? "" : data + offsets[index], size);
            return;
        }
        default: result_fixed(context, kind, bytes + index * (kind == KIND_OBJECT_ID ? 12 : 16)); return;
    }
}

/* A value that is no collection. Returns whether it could be read. */
static bool result_value(sqlite3_context* context, const realm_t* realm, const realm_value_t* value)
{
    realm_value_t shown;
    switch (value->type) {
        case RLM_TYPE_INT: sqlite3_result_int64(context, value->integer); return true;
        case RLM_TYPE_BOOL: sqlite3_result_int(context, value->boolean); return true;
        case RLM_TYPE_STRING: result_text(context, value->string.data, value->string.size); return true;
        case RLM_TYPE_BINARY: result_blob(context, value->binary.data, value->binary.size); return true;
        case RLM_TYPE_FLOAT: sqlite3_result_double(context, (double)value->fnum); return true;
        case RLM_TYPE_DOUBLE: sqlite3_result_double(context, value->dnum); return true;
        case RLM_TYPE_TIMESTAMP:
            crealm_result_date(context, value->timestamp.seconds, value->timestamp.nanoseconds);
            return true;
        case RLM_TYPE_DECIMAL128:
            result_fixed(context, KIND_DECIMAL, (const uint8_t*)&value->decimal128);
            return true;
        case RLM_TYPE_OBJECT_ID: result_fixed(context, KIND_OBJECT_ID, value->object_id.bytes); return true;
        case RLM_TYPE_UUID: result_fixed(context, KIND_UUID, value->uuid.bytes); return true;
        case RLM_TYPE_LINK:
            return crealm_link_value(realm, value->link, &shown) && result_value(context, realm, &shown);
        default: return true;
    }
}

static int result_json(Cursor* cursor, sqlite3_context* context, const Column* column, realm_collection_type_e type)
{
    int code = need_object(cursor);
    if (code != SQLITE_OK)
        return code;
    sqlite3_str* text = sqlite3_str_new(sqlite3_context_db_handle(context));
    realm_clear_last_error();
    code = crealm_write_json(text, table_of(cursor)->file->realm, cursor->object, column->key, type);
    int size = sqlite3_str_length(text);
    char* whole = sqlite3_str_finish(text);
    if (code == SQLITE_OK) {
        sqlite3_result_text(context, whole, size, sqlite3_free);
        return SQLITE_OK;
    }
    sqlite3_free(whole);
    if (code == SQLITE_ERROR)
        return library_failure(cursor);
    return code;
}

static int result_any(Cursor* cursor, sqlite3_context* context, const Column* column, const realm_value_t* value)
{
    if (value->type == RLM_TYPE_LIST)
        return result_json(cursor, context, column, RLM_COLLECTION_TYPE_LIST);
    if (value->type == RLM_TYPE_DICTIONARY)
        return result_json(cursor, context, column, RLM_COLLECTION_TYPE_DICTIONARY);
    if (!result_value(context, table_of(cursor)->file->realm, value))
        return library_failure(cursor);
    return SQLITE_OK;
}

int crealm_cursor_column(sqlite3_vtab_cursor* base, sqlite3_context* context, int index)
{
    Cursor* cursor = (Cursor*)base;
    Table* table = table_of(cursor);
    if (index >= table->num_columns) {
        sqlite3_int64 key = 0;
        int code = crealm_cursor_rowid(base, &key);
        sqlite3_result_int64(context, key);
        return code;
    }
    const Column* column = &table->columns[index];
    if (column->collection != RLM_COLLECTION_TYPE_NONE)
        return result_json(cursor, context, column, column->collection);
    if (cursor->results != NULL && cursor->places[index].source != SOURCE_NONE) {
        int code = need_page(cursor);
        if (code != SQLITE_OK)
            return code;
        size_t row = position(cursor) - cursor->page_first;
        Place place = cursor->places[index]; /* loading the page may have changed it */
        if (place.source == SOURCE_VALUES)
            return result_any(cursor, context, column,
                              &cursor->values[row * (size_t)cursor->num_keys + (size_t)place.index]);
        result_array(context, column->shown, cursor->array.children[place.index], row + (size_t)cursor->array.offset);
        return SQLITE_OK;
    }
    realm_value_t value;
    int code = need_object(cursor);
    if (code != SQLITE_OK)
        return code;
    if (!realm_get_value(cursor->object, column->key, &value))
        return library_failure(cursor);
    return result_any(cursor, context, column, &value);
}
