/* Which conditions and orders the library takes over.
 *
 * SQLite asks several times for one query, with different conditions that are usable, and takes the cheapest answer.
 * The answer is a text that the cursor reads: columns that are used, conditions in the order of their values, orders.
 */

#include "crealm_sqlite.h"
#include <math.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Costs are in units of one row that SQLite reads. */
#define ROW_COST 1.0
#define TESTED_COST 0.03   /* a row that the library tests */
#define QUERY_COST 30.0    /* a query of the library, without its rows */
#define OBJECT_COST 10.0   /* an object that is found by a key */

typedef struct Choice {
    int rowid, primary, link; /* the position of a condition that finds objects at once; -1: none */
    bool is_complete; /* the library takes over all conditions */
    double rows, cost;
    int limit, offset; /* positions; -1: none */
} Choice;

static bool is_in_list(sqlite3_index_info* info, int position)
{
    return sqlite3_libversion_number() >= 3038000 && sqlite3_vtab_in(info, position, -1);
}

static bool is_equality(int op)
{
    return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_IS;
}

static bool is_text(Kind kind)
{
    return kind == KIND_STRING || kind == KIND_DATE || kind == KIND_DECIMAL || kind == KIND_OBJECT_ID ||
           kind == KIND_UUID;
}

static bool takes(const Table* table, sqlite3_index_info* info, int position, bool* is_exact)
{
    const struct sqlite3_index_constraint* constraint = &info->aConstraint[position];
    *is_exact = false;
    if (!constraint->usable || constraint->iColumn < 0 || constraint->iColumn >= table->num_columns)
        return false;
    const Column* column = &table->columns[constraint->iColumn];
    bool is_null_test =
        constraint->op == SQLITE_INDEX_CONSTRAINT_ISNULL || constraint->op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL;
    if (is_text(column->shown) && !is_null_test && strcmp(sqlite3_vtab_collation(info, position), "BINARY") != 0)
        return false;
    return crealm_search_takes(table, column, constraint->op, is_exact);
}

/* Whether the library finds the objects with a value of this column without a scan. */
static bool is_indexed(const Column* column)
{
    return (column->flags & (RLM_PROPERTY_INDEXED | RLM_PROPERTY_PRIMARY_KEY)) != 0;
}

/* Lists of keys come one by one, which is a search for each. Other lists come at once, if SQLite can. */
static bool takes_whole_list(const Table* table, sqlite3_index_info* info, int position)
{
    const Column* column = &table->columns[info->aConstraint[position].iColumn];
    bool is_listed = column->kind == KIND_INT || column->kind == KIND_STRING || column->kind == KIND_OBJECT_ID
        || column->kind == KIND_UUID;
    return is_listed && !is_indexed(column) && is_in_list(info, position);
}

static void find_keys(const Table* table, sqlite3_index_info* info, Choice* choice)
{
    for (int position = 0; position < info->nConstraint; position++) {
        const struct sqlite3_index_constraint* constraint = &info->aConstraint[position];
        if (!constraint->usable || !is_equality(constraint->op))
            continue;
        if (constraint->iColumn < 0) {
            choice->rowid = position;
            continue;
        }
        if (constraint->iColumn >= table->num_columns)
            continue;
        const Column* column = &table->columns[constraint->iColumn];
        if (is_text(column->shown) && strcmp(sqlite3_vtab_collation(info, position), "BINARY") != 0)
            continue;
        /* Null is found by a search, as several objects may have it. */
        if (constraint->iColumn == table->primary && constraint->op == SQLITE_INDEX_CONSTRAINT_EQ)
            choice->primary = position;
        else if (column->kind == KIND_LINK && constraint->op == SQLITE_INDEX_CONSTRAINT_EQ)
            choice->link = position;
    }
}

/* Orders of the library that are orders of SQLite. Values that differ in the library but are equal in SQLite (dates
 * before the year 0; NaN and null; the zeros) may only be the last key. Returns the number of keys to sort by; -1: no.
 * *is_reverse: descending keys of objects instead. */
static int sort_keys(const Table* table, sqlite3_index_info* info, bool has_limit, bool has_link, bool* is_reverse)
{
    bool is_numeric = true;
    int count = 0;
    *is_reverse = false;
    for (; count < info->nOrderBy; count++) {
        const struct sqlite3_index_orderby* key = &info->aOrderBy[count];
        if (key->iColumn < 0) {
            /* Equal rows are in the order of their keys, but for the sources of links. */
            if (has_link || (key->desc && count > 0))
                return -1;
            *is_reverse = key->desc != 0;
            break;
        }
        if (key->iColumn >= table->num_columns)
            return -1;
        const Column* column = &table->columns[key->iColumn];
        bool is_last = count == info->nOrderBy - 1;
        if (column->text == NULL)
            return -1;
        switch (column->kind) {
            case KIND_INT: case KIND_BOOL: break;
            case KIND_DOUBLE: case KIND_FLOAT:
                if (!is_last)
                    return -1;
                break;
            case KIND_DATE:
                if (!is_last || !table->is_utf8)
                    return -1;
                break;
            case KIND_STRING: case KIND_OBJECT_ID: case KIND_UUID:
                if (!table->is_utf8)
                    return -1;
                is_numeric = false;
                break;
            case KIND_BINARY: is_numeric = false; break;
            default: return -1;
        }
        /* The rest of the keys decides nothing. */
        if (key->iColumn == table->primary && !(column->flags & RLM_PROPERTY_NULLABLE)) {
            count++;
            break;
        }
    }
    /* SQLite sorts whole texts faster than the library, which is faster at finding the first few. */
    return is_numeric || has_limit ? count : -1;
}

static bool is_limit(int op)
{
    return op == SQLITE_INDEX_CONSTRAINT_LIMIT || op == SQLITE_INDEX_CONSTRAINT_OFFSET;
}

static int finish(sqlite3_index_info* info, sqlite3_str* text, int number)
{
    info->idxNum = number;
    info->idxStr = sqlite3_str_finish(text);
    info->needToFreeIdxStr = 1;
    return info->idxStr == NULL ? SQLITE_NOMEM : SQLITE_OK;
}

static int by_key(const Table* table, sqlite3_index_info* info, sqlite3_str* text, int position, int number)
{
    const struct sqlite3_index_constraint* constraint = &info->aConstraint[position];
    sqlite3_str_appendf(text, "c%d,%d,0 ", constraint->op, constraint->iColumn);
    info->aConstraintUsage[position].argvIndex = 1;
    /* The key of an object, or a number: compared as SQLite does. Texts are compared by SQLite again. */
    info->aConstraintUsage[position].omit = number == PLAN_ROWID || table->columns[table->primary].kind == KIND_INT;
    info->estimatedCost = OBJECT_COST;
    info->estimatedRows = 1;
    info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
    info->orderByConsumed = !is_in_list(info, position);
    return finish(info, text, number);
}

static void estimate(const Table* table, const Column* column, int op, bool is_list, Choice* choice)
{
    double share = 0.3;
    bool is_found = is_equality(op) || op == SQLITE_INDEX_CONSTRAINT_ISNULL;
    if (op == SQLITE_INDEX_CONSTRAINT_ISNOTNULL)
        share = 0.9;
    else if (is_found && column->kind == KIND_BOOL)
        share = 0.5;
    else if (is_found)
        share = is_indexed(column) ? 0.01 : 0.05;
    if (is_list)
        share *= 4;
    choice->rows *= share;
    if (is_found && is_indexed(column))
        choice->cost = QUERY_COST;
    (void)table;
}

int crealm_best_index(sqlite3_vtab* base, sqlite3_index_info* info)
{
    Table* table = (Table*)base;
    double objects = table->objects < 1 ? 1 : (double)table->objects;
    Choice choice = {-1, -1, -1, true, objects, 0, -1, -1};
    sqlite3_str* text = sqlite3_str_new(NULL);
    sqlite3_str_appendf(text, "u%llx ", (unsigned long long)info->colUsed);
    find_keys(table, info, &choice);
    if (choice.rowid >= 0)
        return by_key(table, info, text, choice.rowid, PLAN_ROWID);
    if (choice.primary >= 0)
        return by_key(table, info, text, choice.primary, PLAN_PRIMARY);

    int number = 0, arguments = 0, conditions = 0;
    bool has_list = false;
    if (choice.link >= 0) {
        const struct sqlite3_index_constraint* constraint = &info->aConstraint[choice.link];
        sqlite3_str_appendf(text, "c%d,%d,0 ", constraint->op, constraint->iColumn);
        info->aConstraintUsage[choice.link].argvIndex = ++arguments;
        has_list = is_in_list(info, choice.link);
        number |= PLAN_LINK;
        choice.rows = objects / 1000 + 5;
    }
    choice.cost = QUERY_COST + (choice.link >= 0 ? choice.rows : objects) * TESTED_COST;
    for (int position = 0; position < info->nConstraint; position++) {
        const struct sqlite3_index_constraint* constraint = &info->aConstraint[position];
        bool is_exact;
        if (position == choice.link)
            continue;
        if (is_limit(constraint->op)) {
            if (constraint->usable && constraint->op == SQLITE_INDEX_CONSTRAINT_LIMIT)
                choice.limit = position;
            else if (constraint->usable)
                choice.offset = position;
            else
                choice.is_complete = false;
            continue;
        }
        if (!takes(table, info, position, &is_exact)) {
            choice.is_complete = false;
            continue;
        }
        bool is_list = takes_whole_list(table, info, position);
        if (is_list)
            sqlite3_vtab_in(info, position, 1);
        has_list = has_list || is_in_list(info, position);
        info->aConstraintUsage[position].argvIndex = ++arguments;
        info->aConstraintUsage[position].omit = is_exact && !is_list;
        sqlite3_str_appendf(text, "c%d,%d,%d ", constraint->op, constraint->iColumn, is_list);
        estimate(table, &table->columns[constraint->iColumn], constraint->op, is_list, &choice);
        conditions++;
    }
    if (choice.rows < 1)
        choice.rows = 1;
    choice.is_complete = choice.is_complete && !has_list;
    bool has_limit = choice.limit >= 0 && choice.is_complete, is_reverse = false;
    int keys = info->nOrderBy == 0 ? 0 : sort_keys(table, info, has_limit, (number & PLAN_LINK) != 0, &is_reverse);
    if (keys >= 0) {
        for (int key = 0; key < keys; key++)
            sqlite3_str_appendf(text, "s%d,%d ", info->aOrderBy[key].iColumn, info->aOrderBy[key].desc);
        info->orderByConsumed = info->nOrderBy > 0;
        number |= is_reverse ? PLAN_REVERSE : 0;
        if (keys > 0)
            choice.cost += choice.rows * log2(choice.rows + 1) * TESTED_COST;
    }
    /* The library finds no more rows than wanted. SQLite counts them again, and skips those before the offset. */
    if (has_limit && keys >= 0) {
        info->aConstraintUsage[choice.limit].argvIndex = ++arguments;
        sqlite3_str_appendall(text, "l ");
        if (choice.offset >= 0) {
            info->aConstraintUsage[choice.offset].argvIndex = ++arguments;
            sqlite3_str_appendall(text, "o ");
        }
    }
    if (conditions == 0 && choice.link < 0)
        choice.cost = QUERY_COST;
    info->estimatedCost = choice.cost + choice.rows * ROW_COST;
    info->estimatedRows = (sqlite3_int64)choice.rows;
    return finish(info, text, number);
}
