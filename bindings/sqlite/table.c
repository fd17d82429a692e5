/* A class as a virtual table. */

#include "crealm_sqlite.h"
#include <string.h>

SQLITE_EXTENSION_INIT3

int crealm_connect_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** out);
int crealm_cursor_close(sqlite3_vtab_cursor* cursor);
int crealm_cursor_filter(sqlite3_vtab_cursor* cursor, int number, const char* plan, int count, sqlite3_value** values);
int crealm_cursor_next(sqlite3_vtab_cursor* cursor);
int crealm_cursor_eof(sqlite3_vtab_cursor* cursor);
int crealm_cursor_column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int column);
int crealm_cursor_rowid(sqlite3_vtab_cursor* cursor, sqlite3_int64* out);

/* ------------------------------------------------------------------------------------------------
 * Arguments of CREATE VIRTUAL TABLE
 * ---------------------------------------------------------------------------------------------- */

/* An argument without its quotes and the blanks around it; NULL: no memory. */
static char* unquoted(const char* text)
{
    size_t size = strlen(text);
    while (size > 0 && strchr(" \t\r\n", text[size - 1]) != NULL)
        size--;
    while (size > 0 && strchr(" \t\r\n", *text) != NULL) {
        text++;
        size--;
    }
    char* out = sqlite3_malloc64(size + 1);
    if (out == NULL)
        return NULL;
    char quote = size > 1 && strchr("'\"`", text[0]) != NULL && text[size - 1] == text[0] ? text[0] : 0;
    size_t length = 0;
    for (size_t index = quote != 0; index < size - (quote != 0); index++) {
        out[length++] = text[index];
        if (quote != 0 && text[index] == quote)
            index++;
    }
    out[length] = 0;
    return out;
}

static bool parse_key(const char* text, uint8_t* out)
{
    if (strlen(text) != 128)
        return false;
    for (int index = 0; index < 128; index++) {
        char letter = text[index];
        int digit;
        if (letter >= '0' && letter <= '9')
            digit = letter - '0';
        else if ((letter | 32) >= 'a' && (letter | 32) <= 'f')
            digit = (letter | 32) - 'a' + 10;
        else
            return false;
        out[index / 2] = (uint8_t)(index % 2 == 0 ? digit << 4 : out[index / 2] | digit);
    }
    return true;
}

static bool option(const char* text, const char* name, const char** out)
{
    while (strchr(" \t\r\n", *text) != NULL && *text != 0)
        text++;
    size_t size = strlen(name);
    if (sqlite3_strnicmp(text, name, (int)size) != 0)
        return false;
    text += size;
    while (strchr(" \t\r\n", *text) != NULL && *text != 0)
        text++;
    if (*text != '=')
        return false;
    *out = text + 1;
    return true;
}

int crealm_parse_options(Connection* connection, int count, const char* const* options, File** file, char** error)
{
    char* given = unquoted(options[0]);
    char* path = given == NULL ? NULL : crealm_absolute(given);
    sqlite3_free(given);
    if (path == NULL)
        return SQLITE_NOMEM;
    File* known = crealm_known_file(connection, path);
    Mode mode = known == NULL ? MODE_LIVE : known->mode;
    uint8_t key[64];
    bool has_key = false;
    int code = SQLITE_OK;
    for (int index = 1; index < count && code == SQLITE_OK; index++) {
        const char* text;
        char* value;
        if (option(options[index], "key", &text)) {
            value = unquoted(text);
            has_key = value != NULL && parse_key(value, key);
            if (value == NULL)
                code = SQLITE_NOMEM;
            else if (!has_key)
                code = crealm_fail(error, SQLITE_ERROR, "a key has 128 hexadecimal digits");
        } else if (option(options[index], "mode", &text)) {
            value = unquoted(text);
            if (value == NULL)
                code = SQLITE_NOMEM;
            else if (sqlite3_stricmp(value, "live") == 0)
                mode = MODE_LIVE;
            else if (sqlite3_stricmp(value, "snapshot") == 0)
                mode = MODE_SNAPSHOT;
            else if (sqlite3_stricmp(value, "immutable") == 0)
                mode = MODE_IMMUTABLE;
            else
                code = crealm_fail(error, SQLITE_ERROR, "mode is live, snapshot or immutable, not %s", value);
        } else {
            value = NULL;
            code =
                crealm_fail(error, SQLITE_ERROR, "unknown option %s: the options are key=… and mode=…",
                            options[index]);
        }
        sqlite3_free(value);
    }
    if (code == SQLITE_OK) {
        /* A secret that crealm_key() or crealm_passphrase() told. */
        bool is_told = !has_key && known != NULL;
        const uint8_t* used = has_key ? key : is_told && known->has_key ? known->key : NULL;
        *file = crealm_file(connection, path, mode, used, is_told ? known->passphrase : NULL,
                            is_told ? known->passphrase_size : 0);
        code = *file == NULL ? SQLITE_NOMEM : SQLITE_OK;
    }
    memset(key, 0, sizeof key);
    sqlite3_free(path);
    return code;
}

/* ------------------------------------------------------------------------------------------------
 * Columns
 * ---------------------------------------------------------------------------------------------- */

static bool is_keyword(const char* name)
{
    static const char* const words[] = {
        "all", "and", "any", "asc", "ascending", "beginswith", "between", "bin", "binary", "contains", "desc",
        "descending", "distinct", "endswith", "false", "falsepredicate", "first", "geobox", "geocircle",
        "geopolygon", "geowithin", "in", "inf", "infinity", "last", "like", "limit", "nan", "nil", "none", "not",
        "null", "obj", "or", "size", "some", "sort", "subquery", "text", "true", "truepredicate", NULL};
    for (int index = 0; words[index] != NULL; index++)
        if (sqlite3_stricmp(name, words[index]) == 0)
            return true;
    /* O1 is a link, and $1 an argument. */
    const char* rest = name[0] == 'O' ? name + 1 : name[0] == '$' ? name + 1 + (name[1] == 'K') : NULL;
    return rest != NULL && *rest != 0 && strspn(rest, "0123456789") == strlen(rest);
}

/* The name as the query language writes it: a backslash makes any character a part of it. */
static char* query_name(const char* name)
{
    static const char blanks[] = " \n\r\t";
    sqlite3_str* out = sqlite3_str_new(NULL);
    bool needs_mark = is_keyword(name);
    for (const char* at = name; *at != 0; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || (unsigned char)*at >= 0x80;
        bool is_plain = is_letter || *at == '_' || *at == '$';
        bool is_later = at > name && (*at == '-' || (*at >= '0' && *at <= '9'));
        const char* blank = strchr(blanks, *at);
        if (blank != NULL) {
            sqlite3_str_appendf(out, "\\%c", " nrt"[blank - blanks]);
        } else if ((is_plain || is_later) && !(needs_mark && strchr("nrt", *at) == NULL)) {
            sqlite3_str_appendchar(out, 1, *at);
        } else {
            sqlite3_str_appendf(out, "\\%c", *at);
            needs_mark = false;
        }
    }
    return sqlite3_str_finish(out);
}

static Kind kind_of(realm_property_type_e type)
{
    switch (type) {
        case RLM_PROPERTY_TYPE_INT: return KIND_INT;
        case RLM_PROPERTY_TYPE_BOOL: return KIND_BOOL;
        case RLM_PROPERTY_TYPE_STRING: return KIND_STRING;
        case RLM_PROPERTY_TYPE_BINARY: return KIND_BINARY;
        case RLM_PROPERTY_TYPE_TIMESTAMP: return KIND_DATE;
        case RLM_PROPERTY_TYPE_FLOAT: return KIND_FLOAT;
        case RLM_PROPERTY_TYPE_DOUBLE: return KIND_DOUBLE;
        case RLM_PROPERTY_TYPE_DECIMAL128: return KIND_DECIMAL;
        case RLM_PROPERTY_TYPE_OBJECT: return KIND_LINK;
        case RLM_PROPERTY_TYPE_OBJECT_ID: return KIND_OBJECT_ID;
        case RLM_PROPERTY_TYPE_UUID: return KIND_UUID;
        default: return KIND_MIXED;
    }
}

static const char* declared_type(const Column* column)
{
    switch (column->shown) {
        case KIND_INT: case KIND_BOOL: return "INTEGER";
        case KIND_DOUBLE: case KIND_FLOAT: return "REAL";
        case KIND_BINARY: return "BLOB";
        case KIND_MIXED: return "";
        default: return "TEXT";
    }
}

static bool is_path_part(const char* name)
{
    return name[0] != 0 && name[0] != '@' && strchr(name, '.') == NULL;
}

/* Describes what a link shows. */
static bool describe_target(const realm_t* realm, Column* column, const char* shown_name)
{
    bool is_found = false, has_primary = false;
    realm_class_info_t target;
    realm_property_info_t primary;
    if (!realm_find_class(realm, column->target, &is_found, &target) || !is_found)
        return false;
    column->target_key = target.key;
    column->target_primary = RLM_INVALID_PROPERTY_KEY;
    column->shown = KIND_INT;
    column->is_nullable = false;
    const char* last = "@key";
    if (!(target.flags & RLM_CLASS_EMBEDDED)
        && realm_find_primary_key_property(realm, target.key, &has_primary, &primary) && has_primary) {
        column->target_primary = primary.key;
        column->shown = kind_of(primary.type);
        column->is_nullable = (primary.flags & RLM_PROPERTY_NULLABLE) != 0;
        last = primary.public_name[0] != 0 ? primary.public_name : primary.name;
    }
    if (is_path_part(shown_name) && (last[0] == '@' || is_path_part(last)) && column->text != NULL)
        column->path = sqlite3_mprintf("%s.%s", shown_name, column->target_primary >= 0 ? last : "@key");
    return true;
}

static bool describe(const realm_t* realm, const realm_property_info_t* info, bool is_ambiguous, Column* column)
{
    const char* shown = info->public_name[0] != 0 ? info->public_name : info->name;
    column->property = sqlite3_mprintf("%s", info->name);
    column->public_name = sqlite3_mprintf("%s", info->public_name);
    column->text = is_ambiguous ? NULL : query_name(shown);
    column->key = info->key;
    column->type = info->type;
    column->collection = info->collection_type;
    column->flags = info->flags;
    switch (info->collection_type) {
        case RLM_COLLECTION_TYPE_LIST: column->kind = column->shown = KIND_LIST; return true;
        case RLM_COLLECTION_TYPE_SET: column->kind = column->shown = KIND_SET; return true;
        case RLM_COLLECTION_TYPE_DICTIONARY: column->kind = column->shown = KIND_DICTIONARY; return true;
        default: column->kind = column->shown = kind_of(info->type);
    }
    if (column->kind == KIND_LINK) {
        column->target = sqlite3_mprintf("%s", info->link_target);
        return describe_target(realm, column, shown);
    }
    if (column->kind != KIND_MIXED && is_path_part(shown) && !is_ambiguous)
        column->path = sqlite3_mprintf("%s", shown);
    return true;
}

static void free_columns(Table* table)
{
    for (int index = 0; index < table->num_columns; index++) {
        Column* column = &table->columns[index];
        sqlite3_free(column->property);
        sqlite3_free(column->public_name);
        sqlite3_free(column->text);
        sqlite3_free(column->path);
        sqlite3_free(column->target);
    }
    sqlite3_free(table->columns);
}

static int describe_class(Table* table, char** error)
{
    const realm_t* realm = table->file->realm;
    bool is_found = false;
    realm_class_info_t info;
    if (!realm_find_class(realm, table->class_name, &is_found, &info))
        return crealm_library_error(table->file, error);
    if (!is_found)
        return crealm_fail(error, SQLITE_ERROR, "%s has no class %s", table->file->path, table->class_name);
    table->class_key = info.key;
    table->primary = -1;
    size_t total = info.num_properties + info.num_computed_properties, count = 0;
    realm_property_info_t* infos = sqlite3_malloc64((total + 1) * sizeof *infos);
    table->columns = sqlite3_malloc64((total + 1) * sizeof *table->columns);
    if (infos == NULL || table->columns == NULL) {
        sqlite3_free(infos);
        return SQLITE_NOMEM;
    }
    memset(table->columns, 0, (total + 1) * sizeof *table->columns);
    int code = SQLITE_OK;
    if (!realm_get_class_properties(realm, info.key, infos, total, &count))
        code = crealm_library_error(table->file, error);
    for (size_t index = 0; code == SQLITE_OK && index < count; index++) {
        const realm_property_info_t* property = &infos[index];
        if (property->type == RLM_PROPERTY_TYPE_LINKING_OBJECTS)
            continue;
        const char* shown = property->public_name[0] != 0 ? property->public_name : property->name;
        bool is_ambiguous = false;
        for (size_t other = 0; other < count; other++)
            is_ambiguous = is_ambiguous || (other != index && (strcmp(infos[other].public_name, shown) == 0
                                                               || strcmp(infos[other].name, shown) == 0));
        Column* column = &table->columns[table->num_columns];
        table->num_columns++;
        if (!describe(realm, property, is_ambiguous, column))
            code = crealm_library_error(table->file, error);
        else if (column->property == NULL || column->public_name == NULL)
            code = SQLITE_NOMEM;
        if (property->flags & RLM_PROPERTY_PRIMARY_KEY)
            table->primary = table->num_columns - 1;
    }
    sqlite3_free(infos);
    size_t objects = 0;
    if (code == SQLITE_OK && realm_get_num_objects(realm, table->class_key, &objects))
        table->objects = (sqlite3_int64)objects;
    return code;
}

/* SQLite ignores the case of ASCII letters in names. */
static bool is_taken(sqlite3_str** names, int count, const char* name)
{
    for (int index = 0; index < count; index++)
        if (sqlite3_stricmp(sqlite3_str_value(names[index]), name) == 0)
            return true;
    return false;
}

static int declare(sqlite3* db, Table* table, char** error)
{
    sqlite3_str** names = sqlite3_malloc64(sizeof *names * (size_t)(table->num_columns + 1));
    if (names == NULL)
        return SQLITE_NOMEM;
    sqlite3_str* sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, "CREATE TABLE x(");
    int count = 0;
    for (; count < table->num_columns; count++) {
        const Column* column = &table->columns[count];
        const char* wanted = column->public_name[0] != 0 ? column->public_name : column->property;
        sqlite3_str* name = sqlite3_str_new(NULL);
        sqlite3_str_appendall(name, wanted[0] != 0 ? wanted : "_");
        while (sqlite3_str_errcode(name) == SQLITE_OK && is_taken(names, count, sqlite3_str_value(name)))
            sqlite3_str_appendchar(name, 1, '_');
        names[count] = name;
        sqlite3_str_appendf(sql, "%s\"%w\" %s", count > 0 ? "," : "", sqlite3_str_value(name), declared_type(column));
    }
    /* SQLite has no table without columns. */
    sqlite3_str_appendall(sql, count > 0 ? ")" : "\"@key\" INTEGER)");
    while (count > 0)
        sqlite3_free(sqlite3_str_finish(names[--count]));
    sqlite3_free(names);
    char* text = sqlite3_str_finish(sql);
    if (text == NULL)
        return SQLITE_NOMEM;
    int code = sqlite3_declare_vtab(db, text);
    if (code != SQLITE_OK)
        crealm_fail(error, code, "%s", sqlite3_errmsg(db));
    sqlite3_free(text);
    return code;
}

static bool has_utf8(sqlite3* db)
{
    bool is_utf8 = false;
    sqlite3_stmt* statement = NULL;
    if (sqlite3_prepare_v2(db, "PRAGMA encoding", -1, &statement, NULL) == SQLITE_OK
        && sqlite3_step(statement) == SQLITE_ROW)
        is_utf8 = strcmp((const char*)sqlite3_column_text(statement, 0), "UTF-8") == 0;
    sqlite3_finalize(statement);
    return is_utf8;
}

/* ------------------------------------------------------------------------------------------------
 * The module
 * ---------------------------------------------------------------------------------------------- */

static int disconnect(sqlite3_vtab* base)
{
    Table* table = (Table*)base;
    free_columns(table);
    sqlite3_free(table->class_name);
    sqlite3_free(table);
    return SQLITE_OK;
}

static int connect_table(sqlite3* db, void* connection, int count, const char* const* arguments, sqlite3_vtab** out,
                         char** error)
{
    if (count < 5)
        return crealm_fail(
            error, SQLITE_ERROR,
            "the arguments are a path and a class; SELECT crealm_attach(path) makes a table of each class");
    Table* table = sqlite3_malloc(sizeof *table);
    if (table == NULL)
        return SQLITE_NOMEM;
    memset(table, 0, sizeof *table);
    /* The class is the second argument, options follow. */
    const char* options[8];
    int num_options = 0;
    options[num_options++] = arguments[3];
    for (int index = 5; index < count && num_options < 8; index++)
        options[num_options++] = arguments[index];
    int code = crealm_parse_options(connection, num_options, options, &table->file, error);
    if (code == SQLITE_OK && (table->class_name = unquoted(arguments[4])) == NULL)
        code = SQLITE_NOMEM;
    if (code == SQLITE_OK)
        code = crealm_open(table->file, error);
    if (code == SQLITE_OK) {
        code = describe_class(table, error);
        if (code == SQLITE_OK)
            code = declare(db, table, error);
        crealm_close(table->file);
    }
    if (code != SQLITE_OK) {
        disconnect(&table->base);
        return code;
    }
    table->is_utf8 = has_utf8(db);
    *out = &table->base;
    return SQLITE_OK;
}

/* A function of its own: with equal functions for both, the name of the module would be a table. */
static int create_table(sqlite3* db, void* connection, int count, const char* const* arguments, sqlite3_vtab** out,
                        char** error)
{
    return connect_table(db, connection, count, arguments, out, error);
}

static bool is_same(const Column* column, const realm_property_info_t* info)
{
    /* An index may come and go. */
    int kept = RLM_PROPERTY_NULLABLE | RLM_PROPERTY_PRIMARY_KEY;
    return column->type == info->type && column->collection == info->collection_type
        && (column->flags & kept) == (info->flags & kept) && strcmp(column->property, info->name) == 0
        && strcmp(column->public_name, info->public_name) == 0
        && (column->target == NULL || strcmp(column->target, info->link_target) == 0);
}

static bool has_same_target(const realm_t* realm, const Column* column)
{
    bool is_found = false;
    realm_property_info_t primary;
    if (column->target == NULL)
        return true;
    if (!realm_find_primary_key_property(realm, column->target_key, &is_found, &primary))
        return false;
    if (column->target_primary == RLM_INVALID_PROPERTY_KEY)
        return !is_found;
    return is_found && primary.key == column->target_primary && kind_of(primary.type) == column->shown
        && ((primary.flags & RLM_PROPERTY_NULLABLE) != 0) == column->is_nullable;
}

int crealm_check_class(Table* table, char** error)
{
    const realm_t* realm = table->file->realm;
    bool is_found = false;
    realm_class_info_t info;
    if (!realm_find_class(realm, table->class_name, &is_found, &info))
        return crealm_library_error(table->file, error);
    const char* advice = "create the virtual table again";
    if (!is_found || info.key != table->class_key)
        return crealm_fail(error, SQLITE_ERROR, "the class %s is no longer in %s", table->class_name,
                           table->file->path);
    for (int index = 0; index < table->num_columns; index++) {
        const Column* column = &table->columns[index];
        realm_property_info_t property;
        if (!realm_get_property(realm, table->class_key, column->key, &property))
            return crealm_fail(error, SQLITE_ERROR, "the class %s no longer has the property %s: %s", table->class_name,
                               column->property, advice);
        if (!is_same(column, &property) || !has_same_target(realm, column))
            return crealm_fail(error, SQLITE_ERROR, "the property %s.%s has changed: %s", table->class_name,
                               column->property, advice);
    }
    size_t objects = 0;
    if (realm_get_num_objects(realm, table->class_key, &objects))
        table->objects = (sqlite3_int64)objects;
    return SQLITE_OK;
}

const sqlite3_module crealm_module = {
    .iVersion = 0,
    .xCreate = create_table,
    .xConnect = connect_table,
    .xBestIndex = crealm_best_index,
    .xDisconnect = disconnect,
    .xDestroy = disconnect,
    .xOpen = crealm_connect_cursor,
    .xClose = crealm_cursor_close,
    .xFilter = crealm_cursor_filter,
    .xNext = crealm_cursor_next,
    .xEof = crealm_cursor_eof,
    .xColumn = crealm_cursor_column,
    .xRowid = crealm_cursor_rowid,
};
