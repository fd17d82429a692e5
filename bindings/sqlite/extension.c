/* The entry point and the SQL functions.
 *
 *   crealm_attach(path [, prefix])        makes a temporary table for each class; the number of tables
 *   crealm_key(path, key)                 the key of an encrypted file, a blob of 64 bytes or 128 hexadecimal digits
 *   crealm_passphrase(path, passphrase)   the passphrase of one; both return 1
 */

#include "crealm_sqlite.h"
#include <stdarg.h>
#include <string.h>

SQLITE_EXTENSION_INIT1

#ifdef _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

int crealm_fail(char** error, int code, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char* text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    sqlite3_free(*error);
    *error = text;
    return text == NULL ? SQLITE_NOMEM : code;
}

static void release(void* pointer)
{
    Connection* connection = pointer;
    connection->references--;
    if (connection->references > 0)
        return;
    crealm_free_files(connection);
    sqlite3_free(connection);
}

/* Ends a function with an error, and frees its text. */
static void result_error(sqlite3_context* context, int code, char* error)
{
    if (code == SQLITE_NOMEM) {
        sqlite3_result_error_nomem(context);
    } else {
        sqlite3_result_error(context, error == NULL ? "unknown error" : error, -1);
        sqlite3_result_error_code(context, code);
    }
    sqlite3_free(error);
}

/* The names of the classes of a file, as one block; NULL: *error says why. */
static int class_names(File* file, char*** out_names, int* out_count, char** error)
{
    int code = crealm_open(file, error);
    if (code != SQLITE_OK)
        return code;
    size_t total = realm_get_num_classes(file->realm), count = 0;
    realm_class_key_t* keys = sqlite3_malloc64((total + 1) * sizeof *keys);
    char** names = sqlite3_malloc64((total + 1) * sizeof *names);
    *out_names = names;
    *out_count = 0;
    if (keys == NULL || names == NULL)
        code = SQLITE_NOMEM;
    else if (!realm_get_class_keys(file->realm, keys, total, &count))
        code = crealm_library_error(file, error);
    for (size_t index = 0; code == SQLITE_OK && index < count; index++) {
        realm_class_info_t info;
        if (!realm_get_class(file->realm, keys[index], &info)) {
            code = crealm_library_error(file, error);
        } else {
            names[index] = sqlite3_mprintf("%s", info.name);
            if (names[index] == NULL)
                code = SQLITE_NOMEM;
            else
                *out_count += 1;
        }
    }
    sqlite3_free(keys);
    crealm_close(file);
    return code;
}

/* SQLite reserves some names, and ignores the case of names. */
static char* table_name(char** names, int index, const char* prefix)
{
    const char* mark = prefix[0] == 0 && sqlite3_strnicmp(names[index], "sqlite_", 7) == 0 ? "_" : "";
    int same = 0;
    for (int other = 0; other < index; other++)
        same += sqlite3_stricmp(names[other], names[index]) == 0;
    return sqlite3_mprintf("%s%s%s%.*s", prefix, mark, names[index], same, "________________________________");
}

static int create(sqlite3* db, const char* table, const char* path, const char* class_name, Mode mode, char** error)
{
    static const char* const modes[] = {"live", "snapshot", "immutable"};
    char* sql = sqlite3_mprintf("CREATE VIRTUAL TABLE temp.\"%w\" USING crealm('%q', '%q', mode=%s)", table, path,
                                class_name, modes[mode]);
    if (sql == NULL)
        return SQLITE_NOMEM;
    int code = sqlite3_exec(db, sql, NULL, NULL, error);
    sqlite3_free(sql);
    return code;
}

static void attach(sqlite3_context* context, int count, sqlite3_value** values)
{
    Connection* connection = sqlite3_user_data(context);
    const char* path = (const char*)sqlite3_value_text(values[0]);
    const char* prefix = count > 1 ? (const char*)sqlite3_value_text(values[1]) : "";
    char* error = NULL;
    char* quoted = path == NULL ? NULL : sqlite3_mprintf("'%q'", path);
    if (path == NULL || quoted == NULL) {
        sqlite3_result_error(context, "crealm_attach() needs the path of a realm file", -1);
        return;
    }
    File* file = NULL;
    const char* options[] = {quoted};
    char** names = NULL;
    int num_names = 0;
    int code = crealm_parse_options(connection, 1, options, &file, &error);
    if (code == SQLITE_OK)
        code = class_names(file, &names, &num_names, &error);
    for (int index = 0; code == SQLITE_OK && index < num_names; index++) {
        char* name = table_name(names, index, prefix == NULL ? "" : prefix);
        code = name == NULL ? SQLITE_NOMEM : create(connection->db, name, file->path, names[index], file->mode, &error);
        sqlite3_free(name);
    }
    for (int index = 0; index < num_names; index++)
        sqlite3_free(names[index]);
    sqlite3_free(names);
    sqlite3_free(quoted);
    if (code == SQLITE_OK)
        sqlite3_result_int(context, num_names);
    else
        result_error(context, code, error);
}

/* Both functions that tell a secret. The connection keeps it for tables that are made later. */
static void tell(sqlite3_context* context, sqlite3_value** values, const uint8_t* key, const char* passphrase,
                 size_t size)
{
    Connection* connection = sqlite3_user_data(context);
    const char* given = (const char*)sqlite3_value_text(values[0]);
    char* path = given == NULL ? NULL : crealm_absolute(given);
    if (path == NULL) {
        sqlite3_result_error(context, "a secret needs the path of a realm file", -1);
        return;
    }
    File* known = crealm_known_file(connection, path);
    File* file = crealm_file(connection, path, known == NULL ? MODE_LIVE : known->mode, key, passphrase, size);
    sqlite3_free(path);
    if (file == NULL) {
        sqlite3_result_error_nomem(context);
        return;
    }
    /* The last one told is found first. */
    File** at = &connection->files;
    while (*at != file)
        at = &(*at)->next;
    *at = file->next;
    file->next = connection->files;
    connection->files = file;
    sqlite3_result_int(context, 1);
}

static int digit_of(unsigned char letter)
{
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    letter |= 32;
    return letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : -1;
}

static void tell_key(sqlite3_context* context, int count, sqlite3_value** values)
{
    (void)count;
    uint8_t key[64];
    bool is_key = false;
    if (sqlite3_value_type(values[1]) == SQLITE_BLOB && sqlite3_value_bytes(values[1]) == 64) {
        memcpy(key, sqlite3_value_blob(values[1]), 64);
        is_key = true;
    } else if (sqlite3_value_type(values[1]) == SQLITE_TEXT && sqlite3_value_bytes(values[1]) == 128) {
        const unsigned char* text = sqlite3_value_text(values[1]);
        is_key = true;
        for (int index = 0; index < 64; index++) {
            int high = digit_of(text[2 * index]), low = digit_of(text[2 * index + 1]);
            is_key = is_key && high >= 0 && low >= 0;
            key[index] = (uint8_t)(high << 4 | low);
        }
    }
    if (is_key)
        tell(context, values, key, NULL, 0);
    else
        sqlite3_result_error(context, "a key is a blob of 64 bytes, or a text of 128 hexadecimal digits", -1);
    memset(key, 0, sizeof key);
}

static void tell_passphrase(sqlite3_context* context, int count, sqlite3_value** values)
{
    (void)count;
    int type = sqlite3_value_type(values[1]);
    const char* passphrase =
        type == SQLITE_BLOB ? sqlite3_value_blob(values[1]) : (const char*)sqlite3_value_text(values[1]);
    int size = sqlite3_value_bytes(values[1]);
    if (passphrase == NULL || size == 0)
        sqlite3_result_error(context, "a passphrase is a text that is not empty", -1);
    else
        tell(context, values, NULL, passphrase, (size_t)size);
}

static int add_function(Connection* connection, const char* name, int count,
                        void (*function)(sqlite3_context*, int, sqlite3_value**))
{
    connection->references++;
    return sqlite3_create_function_v2(connection->db, name, count, SQLITE_UTF8 | SQLITE_DIRECTONLY, connection,
                                      function, NULL, NULL, release);
}

/* The entry point, by the name that SQLite derives from that of the file. */
EXPORTED int sqlite3_crealmsqlite_init(sqlite3* db, char** error, const sqlite3_api_routines* routines)
{
    SQLITE_EXTENSION_INIT2(routines);
    if (sqlite3_libversion_number() < 3038000)
        return crealm_fail(error, SQLITE_ERROR, "this extension needs SQLite 3.38 or later, not %s",
                           sqlite3_libversion());
    if (crealm_abi_version() != CREALM_ABI_VERSION)
        return crealm_fail(error, SQLITE_ERROR, "this extension was built for another version of libCRealm");
    Connection* connection = sqlite3_malloc(sizeof *connection);
    if (connection == NULL)
        return SQLITE_NOMEM;
    *connection = (Connection){.db = db, .references = 1};
    int code = add_function(connection, "crealm_attach", 1, attach);
    if (code == SQLITE_OK)
        code = add_function(connection, "crealm_attach", 2, attach);
    if (code == SQLITE_OK)
        code = add_function(connection, "crealm_key", 2, tell_key);
    if (code == SQLITE_OK)
        code = add_function(connection, "crealm_passphrase", 2, tell_passphrase);
    if (code == SQLITE_OK) {
        connection->references++;
        code = sqlite3_create_module_v2(db, "crealm", &crealm_module, connection, release);
    }
    release(connection);
    return code;
}
