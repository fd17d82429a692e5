/* Conditions of SQL as a query of the library.
 *
 * A condition becomes a part of the query only if it finds at least the rows for which SQLite's comparison is true.
 * SQL values have types of their own, so each condition looks at the value: for a column of numbers SQLite makes
 * numbers of texts that look like numbers, and sorts numbers before texts before blobs. Conditions on columns of
 * texts are taken over for texts only: what a number means there depends on where the number comes from.
 */

#include "crealm_sqlite.h"
#include <math.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

void crealm_search_begin(Search* search, Table* table)
{
    memset(search, 0, sizeof *search);
    search->table = table;
    search->text = sqlite3_str_new(NULL);
    search->is_exact = true;
}

void crealm_search_end(Search* search)
{
    sqlite3_free(sqlite3_str_finish(search->text));
    for (int index = 0; index < search->num_args; index++)
        sqlite3_free(search->args[index].arg);
    sqlite3_free(search->args);
}

/* Makes room for an argument of count values, and returns its number; -1: no memory. */
static int add_argument(Search* search, size_t count, bool is_list)
{
    if (search->num_args == search->max_args) {
        int max = search->max_args * 2 + 8;
        realm_query_arg_t* args = sqlite3_realloc64(search->args, (size_t)max * sizeof *args);
        if (args == NULL) {
            search->has_failed = true;
            return -1;
        }
        search->args = args;
        search->max_args = max;
    }
    realm_value_t* values = sqlite3_malloc64((count + 1) * sizeof *values);
    if (values == NULL) {
        search->has_failed = true;
        return -1;
    }
    search->args[search->num_args] = (realm_query_arg_t){count, is_list, values};
    search->num_args++;
    return search->num_args - 1;
}

static void begin_condition(Search* search)
{
    if (sqlite3_str_length(search->text) > 0)
        sqlite3_str_appendall(search->text, " and ");
}

/* Adds "column op $value". */
static void compare(Search* search, const Column* column, const char* operator, realm_value_t value)
{
    int number = add_argument(search, 1, false);
    if (number < 0)
        return;
    search->args[number].arg[0] = value;
    begin_condition(search);
    sqlite3_str_appendf(search->text, "%s %s $%d", column->text, operator, number);
}

static bool is_nullable(const Column* column)
{
    return column->kind == KIND_LINK || (column->flags & RLM_PROPERTY_NULLABLE) != 0;
}

/* A number that is at least every other; for float columns, whose numbers are compared as floats, it is a float. */
static realm_value_t infinity_for(const Column* column)
{
    realm_value_t value = {.type = column->kind == KIND_FLOAT ? RLM_TYPE_FLOAT : RLM_TYPE_DOUBLE};
    if (column->kind == KIND_FLOAT)
        value.fnum = INFINITY;
    else
        value.dnum = INFINITY;
    return value;
}

static void not_null(Search* search, const Column* column)
{
    /* SQL shows NaN as NULL; it is not at most infinity. */
    if (column->kind == KIND_FLOAT || column->kind == KIND_DOUBLE) {
        compare(search, column, "<=", infinity_for(column));
        return;
    }
    if (!is_nullable(column))
        return;
    begin_condition(search);
    sqlite3_str_appendf(search->text, "%s != NULL", column->text);
}

static void is_null(Search* search, const Column* column)
{
    if (column->kind == KIND_FLOAT || column->kind == KIND_DOUBLE) {
        int number = add_argument(search, 1, false);
        if (number < 0)
            return;
        search->args[number].arg[0] = infinity_for(column);
        begin_condition(search);
        sqlite3_str_appendf(search->text, "NOT %s <= $%d", column->text, number);
        return;
    }
    if (!is_nullable(column)) {
        search->is_empty = true;
        return;
    }
    begin_condition(search);
    sqlite3_str_appendf(search->text, "%s == NULL", column->text);
}

static bool is_less(int op)
{
    return op == SQLITE_INDEX_CONSTRAINT_LT || op == SQLITE_INDEX_CONSTRAINT_LE;
}

static bool is_equality(int op)
{
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
}

static const char* operator_text(int op)
{
    switch (op) {
        case SQLITE_INDEX_CONSTRAINT_LT: return "<";
        case SQLITE_INDEX_CONSTRAINT_LE: return "<=";
        case SQLITE_INDEX_CONSTRAINT_GT: return ">";
        case SQLITE_INDEX_CONSTRAINT_GE: return ">=";
        default: return "==";
    }
}

/* The condition compares with a value that all values of the column are smaller than. */
static void compare_with_larger(Search* search, const Column* column, int op)
{
    if (is_less(op))
        not_null(search, column);
    else
        search->is_empty = true;
}

/* The same for a value that all values of the column are larger than. */
static void compare_with_smaller(Search* search, const Column* column, int op)
{
    if (is_less(op) || is_equality(op))
        search->is_empty = true;
    else
        not_null(search, column);
}

/* ------------------------------------------------------------------------------------------------
 * Numbers
 * ---------------------------------------------------------------------------------------------- */

static void compare_int(Search* search, const Column* column, int op, sqlite3_int64 number)
{
    realm_value_t value = {.type = RLM_TYPE_INT};
    value.integer = number;
    compare(search, column, operator_text(op), value);
}

static void add_int(Search* search, const Column* column, int op, sqlite3_value* value)
{
    int type = sqlite3_value_numeric_type(value);
    if (type == SQLITE_INTEGER) {
        compare_int(search, column, op, sqlite3_value_int64(value));
        return;
    }
    if (type != SQLITE_FLOAT) {
        compare_with_larger(search, column, op); /* numbers are smaller than texts and blobs */
        return;
    }
    double number = sqlite3_value_double(value);
    double below = floor(number);
    if (number >= 9223372036854775808.0) {
        compare_with_larger(search, column, op);
    } else if (number < -9223372036854775808.0) {
        compare_with_smaller(search, column, op);
    } else if (below == number) {
        compare_int(search, column, op, (sqlite3_int64)below);
    } else if (is_equality(op)) {
        search->is_empty = true;
    } else {
        int whole = is_less(op) ? SQLITE_INDEX_CONSTRAINT_LE : SQLITE_INDEX_CONSTRAINT_GT;
        compare_int(search, column, whole, (sqlite3_int64)below);
    }
}

/* -1, 0 or 1: how a whole number compares with a floating point number. */
static int compare_exactly(sqlite3_int64 whole, double number)
{
    if (number >= 9223372036854775808.0)
        return -1;
    if (number < -9223372036854775808.0)
        return 1;
    sqlite3_int64 below = (sqlite3_int64)floor(number);
    if (whole != below)
        return whole < below ? -1 : 1;
    return number > floor(number) ? -1 : 0;
}

static void compare_floating(Search* search, const Column* column, int op, double number)
{
    realm_value_t value = {.type = RLM_TYPE_DOUBLE};
    if (column->kind == KIND_FLOAT) {
        value.type = RLM_TYPE_FLOAT;
        value.fnum = (float)number;
    } else {
        value.dnum = number;
    }
    compare(search, column, operator_text(op), value);
}

static void add_floating(Search* search, const Column* column, int op, sqlite3_value* value)
{
    int type = sqlite3_value_numeric_type(value);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
        compare_with_larger(search, column, op);
        return;
    }
    /* The nearest number that the column can hold, and on which side of it the value is. No number of the column is
     * between them. */
    double number = sqlite3_value_double(value), nearest = number;
    int side = 0;
    if (type == SQLITE_INTEGER)
        side = compare_exactly(sqlite3_value_int64(value), number);
    if (column->kind == KIND_FLOAT) {
        nearest = (double)(float)number;
        if (nearest != number)
            side = number < nearest ? -1 : 1;
    }
    if (side == 0) {
        compare_floating(search, column, op, nearest);
    } else if (is_equality(op)) {
        search->is_empty = true;
    } else if (is_less(op)) {
        compare_floating(search, column, side < 0 ? SQLITE_INDEX_CONSTRAINT_LT : SQLITE_INDEX_CONSTRAINT_LE, nearest);
    } else {
        compare_floating(search, column, side < 0 ? SQLITE_INDEX_CONSTRAINT_GE : SQLITE_INDEX_CONSTRAINT_GT, nearest);
    }
}

static bool holds(int op, int order)
{
    switch (op) {
        case SQLITE_INDEX_CONSTRAINT_LT: return order < 0;
        case SQLITE_INDEX_CONSTRAINT_LE: return order <= 0;
        case SQLITE_INDEX_CONSTRAINT_GT: return order > 0;
        case SQLITE_INDEX_CONSTRAINT_GE: return order >= 0;
        default: return order == 0;
    }
}

static void add_bool(Search* search, const Column* column, int op, sqlite3_value* value)
{
    int type = sqlite3_value_numeric_type(value);
    bool finds[2];
    for (int flag = 0; flag < 2; flag++) {
        int order = -1;
        if (type == SQLITE_INTEGER) {
            sqlite3_int64 number = sqlite3_value_int64(value);
            order = (flag > number) - (flag < number);
        } else if (type == SQLITE_FLOAT) {
            double number = sqlite3_value_double(value);
            order = (flag > number) - (flag < number);
        }
        finds[flag] = holds(op, order);
    }
    if (finds[0] && finds[1]) {
        not_null(search, column);
    } else if (!finds[0] && !finds[1]) {
        search->is_empty = true;
    } else {
        realm_value_t flag = {.type = RLM_TYPE_BOOL};
        flag.boolean = finds[1];
        compare(search, column, "==", flag);
    }
}

/* ------------------------------------------------------------------------------------------------
 * Texts, blobs, dates
 * ---------------------------------------------------------------------------------------------- */

/* A text or blob as a value of the library, in memory of SQLite. */
static bool bytes_of(sqlite3_value* value, bool is_text, realm_value_t* out)
{
    const char* bytes = is_text ? (const char*)sqlite3_value_text(value) : sqlite3_value_blob(value);
    size_t size = (size_t)sqlite3_value_bytes(value);
    if (bytes == NULL && size > 0)
        return false;
    if (bytes == NULL)
        bytes = "";
    if (is_text) {
        *out = (realm_value_t){.type = RLM_TYPE_STRING};
        out->string = (realm_string_t){bytes, size};
    } else {
        *out = (realm_value_t){.type = RLM_TYPE_BINARY};
        out->binary = (realm_binary_t){(const uint8_t*)bytes, size};
    }
    return true;
}

static void add_string(Search* search, const Column* column, int op, sqlite3_value* value)
{
    realm_value_t text;
    if (!bytes_of(value, true, &text)) {
        search->has_failed = true;
    } else if (!crealm_is_utf8(text.string.data, (int)text.string.size)
               || (!is_equality(op) && !search->table->is_utf8)) {
        search->is_exact = false;
    } else {
        compare(search, column, operator_text(op), text);
        /* The library sorts null before all texts. */
        if (is_less(op))
            not_null(search, column);
    }
}

static void add_date(Search* search, const Column* column, int op, sqlite3_value* value)
{
    realm_value_t text;
    if (!bytes_of(value, true, &text)) {
        search->has_failed = true;
        return;
    }
    /* Dates before the year 0 are numbers; compared with a text they are texts that begin with "-". */
    if (text.string.size == 0 || text.string.data[0] < '0' || !search->table->is_utf8) {
        search->is_exact = false;
        return;
    }
    bool is_equal;
    realm_value_t limit = {.type = RLM_TYPE_TIMESTAMP};
    crealm_date_limit(text.string.data, (int)text.string.size, &limit.timestamp, &is_equal);
    const char* operator = operator_text(op);
    if (is_equality(op) && !is_equal)
        search->is_empty = true;
    else if (op == SQLITE_INDEX_CONSTRAINT_LE && !is_equal)
        compare(search, column, "<", limit);
    else if (op == SQLITE_INDEX_CONSTRAINT_GT && !is_equal)
        compare(search, column, ">=", limit);
    else
        compare(search, column, operator, limit);
}

int crealm_key_value(Kind kind, sqlite3_value* value, realm_value_t* out_key)
{
    int type = sqlite3_value_type(value);
    if (type == SQLITE_NULL)
        return 0;
    if (kind == KIND_INT) {
        type = sqlite3_value_numeric_type(value);
        *out_key = (realm_value_t){.type = RLM_TYPE_INT};
        out_key->integer = sqlite3_value_int64(value);
        if (type == SQLITE_INTEGER)
            return 1;
        return type == SQLITE_FLOAT && compare_exactly(out_key->integer, sqlite3_value_double(value)) == 0;
    }
    if (type == SQLITE_BLOB)
        return 0;
    if (type != SQLITE_TEXT)
        return -1;
    realm_value_t text;
    if (!bytes_of(value, true, &text) || !crealm_is_utf8(text.string.data, (int)text.string.size))
        return -1;
    *out_key = (realm_value_t){.type = RLM_TYPE_UUID};
    if (kind == KIND_UUID)
        return crealm_parse_uuid(text.string.data, (int)text.string.size, out_key->uuid.bytes);
    out_key->type = RLM_TYPE_OBJECT_ID;
    if (kind == KIND_OBJECT_ID)
        return crealm_parse_object_id(text.string.data, (int)text.string.size, out_key->object_id.bytes);
    *out_key = text;
    return kind == KIND_STRING ? 1 : -1;
}

/* ------------------------------------------------------------------------------------------------
 * Any column
 * ---------------------------------------------------------------------------------------------- */

bool crealm_search_takes(const Table* table, const Column* column, int op, bool* is_exact)
{
    *is_exact = false;
    bool is_null_test = op == SQLITE_INDEX_CONSTRAINT_ISNULL || op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
    bool is_order = is_less(op) || op == SQLITE_INDEX_CONSTRAINT_GT || op == SQLITE_INDEX_CONSTRAINT_GE;
    if (column->text == NULL || !(is_null_test || is_order || is_equality(op)))
        return false;
    switch (column->kind) {
        case KIND_INT: case KIND_BOOL: case KIND_DOUBLE: case KIND_FLOAT: case KIND_BINARY:
            *is_exact = true;
            return true;
        case KIND_DECIMAL: case KIND_OBJECT_ID: case KIND_UUID:
            *is_exact = is_null_test;
            return is_null_test || (is_equality(op) && column->kind != KIND_DECIMAL);
        case KIND_STRING: case KIND_DATE:
            *is_exact = is_null_test;
            return is_null_test || is_equality(op) || table->is_utf8;
        case KIND_LINK:
            /* Null shows that there is no target, or that its primary key is null. */
            *is_exact = is_null_test;
            return is_null_test && !column->is_nullable;
        default:
            return false;
    }
}

void crealm_search_add(Search* search, const Column* column, int op, sqlite3_value* value)
{
    int type = sqlite3_value_type(value);
    if (op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL) {
        not_null(search, column);
        return;
    }
    if (op == SQLITE_INDEX_CONSTRAINT_ISNULL || (op == SQLITE_INDEX_CONSTRAINT_IS && type == SQLITE_NULL)) {
        is_null(search, column);
        return;
    }
    if (type == SQLITE_NULL) {
        search->is_empty = true;
        return;
    }
    switch (column->kind) {
        case KIND_INT: add_int(search, column, op, value); return;
        case KIND_BOOL: add_bool(search, column, op, value); return;
        case KIND_DOUBLE: case KIND_FLOAT: add_floating(search, column, op, value); return;
        default: break;
    }
    if (column->kind == KIND_BINARY) {
        realm_value_t bytes;
        if (type != SQLITE_BLOB)
            compare_with_smaller(search, column, op); /* blobs are larger than numbers and texts */
        else if (bytes_of(value, false, &bytes))
            compare(search, column, operator_text(op), bytes);
        else
            search->has_failed = true;
        return;
    }
    if (type != SQLITE_TEXT) {
        search->is_exact = false;
        return;
    }
    if (column->kind == KIND_STRING) {
        add_string(search, column, op, value);
    } else if (column->kind == KIND_DATE) {
        add_date(search, column, op, value);
    } else {
        realm_value_t key;
        int found = crealm_key_value(column->kind, value, &key);
        if (found > 0)
            compare(search, column, "==", key);
        else if (found == 0)
            search->is_empty = true;
        else
            search->is_exact = false;
    }
}

/* Counts the elements of a list, and the bytes of their texts. */
static void measure(sqlite3_value* list, size_t* count, size_t* bytes)
{
    sqlite3_value* element = NULL;
    *count = *bytes = 0;
    for (int code = sqlite3_vtab_in_first(list, &element); code == SQLITE_OK && element != NULL;
         code = sqlite3_vtab_in_next(list, &element)) {
        *count += 1;
        if (sqlite3_value_type(element) == SQLITE_TEXT)
            *bytes += (size_t)sqlite3_value_bytes(element);
    }
}

/* The elements of the list become an argument, if each of them can be a value of the column. */
void crealm_search_in(Search* search, const Column* column, sqlite3_value* list)
{
    size_t count, bytes, used = 0, is_known = 1;
    search->is_exact = false;
    measure(list, &count, &bytes);
    /* The texts, which SQLite changes from element to element, are behind the values. */
    int number = add_argument(search, count + bytes / sizeof(realm_value_t) + 1, true);
    if (number < 0)
        return;
    realm_value_t* values = search->args[number].arg;
    char* copy = (char*)(values + count);
    sqlite3_value* element = NULL;
    for (int code = sqlite3_vtab_in_first(list, &element); code == SQLITE_OK && element != NULL && used < count;
         code = sqlite3_vtab_in_next(list, &element)) {
        realm_value_t value;
        int found = crealm_key_value(column->kind, element, &value);
        is_known = is_known && found >= 0;
        if (found <= 0)
            continue;
        if (value.type == RLM_TYPE_STRING) {
            memcpy(copy, value.string.data, value.string.size);
            value.string.data = copy;
            copy += value.string.size;
        }
        values[used++] = value;
    }
    search->args[number].nb_args = used;
    if (!is_known)
        return; /* the argument stays unused */
    if (used == 0) {
        search->is_empty = true;
        return;
    }
    begin_condition(search);
    sqlite3_str_appendf(search->text, "%s IN $%d", column->text, number);
}
