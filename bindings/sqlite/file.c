/* Opening realms. A connection has at most one open realm for a file: so all tables of a statement show the same
 * version. The first cursor of a statement opens it; the last one closes it. */

#include "crealm_sqlite.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

SQLITE_EXTENSION_INIT3

/* Milliseconds to wait for a program that opens, compacts or converts the file. */
#define LOCK_TIMEOUT 10000

static int sqlite_code(realm_errno_e error)
{
    switch ((int)error) {
        case RLM_ERR_OUT_OF_MEMORY: return SQLITE_NOMEM;
        case CREALM_ERR_INTERRUPTED: return SQLITE_INTERRUPT;
        case CREALM_ERR_TIMED_OUT: return SQLITE_BUSY;
        case RLM_ERR_INVALID_DATABASE: return SQLITE_CORRUPT;
        case RLM_ERR_DECRYPTION_FAILED: return SQLITE_CORRUPT;
        case RLM_ERR_FILE_NOT_FOUND: return SQLITE_CANTOPEN;
        case RLM_ERR_FILE_PERMISSION_DENIED: return SQLITE_CANTOPEN;
        case RLM_ERR_FILE_OPERATION_FAILED: return SQLITE_IOERR;
        default: return SQLITE_ERROR;
    }
}

int crealm_library_error(File* file, char** error)
{
    realm_error_t last = {.error = RLM_ERR_RUNTIME};
    const char* message = "unknown error";
    if (realm_get_last_error(&last) && last.message != NULL)
        message = last.message;
    const char* hint = "";
    if (last.error == RLM_ERR_FILE_PERMISSION_DENIED && file->mode == MODE_LIVE)
        hint = ". The option mode=snapshot reads a copy, without the lock file beside the file";
    else if ((int)last.error == CREALM_ERR_TIMED_OUT)
        hint = ". Another program keeps it locked";
    int code = sqlite_code(last.error);
    return crealm_fail(error, code, "%s: %s%s", file->path, message, hint);
}

char* crealm_absolute(const char* path)
{
    char* whole;
    if (path[0] == '/') {
        whole = sqlite3_mprintf("%s", path);
    } else {
        char folder[4096];
        if (getcwd(folder, sizeof folder) == NULL)
            return NULL;
        whole = sqlite3_mprintf("%s/%s", folder, path);
    }
    if (whole == NULL)
        return NULL;
    /* Parts are copied to the front of the same memory. */
    char* out = whole;
    for (char* part = whole; *part != 0;) {
        while (*part == '/')
            part++;
        size_t size = strcspn(part, "/");
        if (size == 2 && part[0] == '.' && part[1] == '.') {
            while (out > whole && *--out != '/')
                continue;
        } else if (size > 0 && !(size == 1 && part[0] == '.')) {
            char* next = part + size;
            *out++ = '/';
            memmove(out, part, size);
            out += size;
            part = next;
            continue;
        }
        part += size;
    }
    if (out == whole)
        *out++ = '/';
    *out = 0;
    return whole;
}

File* crealm_known_file(Connection* connection, const char* path)
{
    File* file = connection->files;
    while (file != NULL && strcmp(file->path, path) != 0)
        file = file->next;
    return file;
}

static bool has_secret(const File* file, const uint8_t* key, const char* passphrase, size_t size)
{
    if (file->has_key != (key != NULL) || (file->passphrase != NULL) != (passphrase != NULL))
        return false;
    if (key != NULL && memcmp(file->key, key, sizeof file->key) != 0)
        return false;
    return passphrase == NULL || (file->passphrase_size == size && memcmp(file->passphrase, passphrase, size) == 0);
}

File* crealm_file(Connection* connection, const char* path, Mode mode, const uint8_t* key, const char* passphrase,
                  size_t passphrase_size)
{
    for (File* file = connection->files; file != NULL; file = file->next)
        if (file->mode == mode && strcmp(file->path, path) == 0 && has_secret(file, key, passphrase, passphrase_size))
            return file;
    File* file = sqlite3_malloc(sizeof *file);
    if (file == NULL)
        return NULL;
    memset(file, 0, sizeof *file);
    file->connection = connection;
    file->mode = mode;
    file->path = sqlite3_mprintf("%s", path);
    if (key != NULL) {
        file->has_key = true;
        memcpy(file->key, key, sizeof file->key);
    }
    if (passphrase != NULL) {
        file->passphrase = sqlite3_malloc64(passphrase_size + 1);
        file->passphrase_size = passphrase_size;
        if (file->passphrase != NULL)
            memcpy(file->passphrase, passphrase, passphrase_size);
    }
    if (file->path == NULL || (passphrase != NULL && file->passphrase == NULL)) {
        sqlite3_free(file->passphrase);
        sqlite3_free(file->path);
        sqlite3_free(file);
        return NULL;
    }
    file->next = connection->files;
    connection->files = file;
    return file;
}

/* SQLite uses a connection on one thread at a time, but not always on the same one. */
static bool is_on_thread(realm_userdata_t file)
{
    (void)file;
    return true;
}

/* Runs inside of long calls of the library, and ends them when the program has called sqlite3_interrupt(). */
static bool goes_on(const crealm_progress_t* progress)
{
    const File* file = progress->userdata;
    sqlite3* db = file->connection->db;
#if SQLITE_VERSION_NUMBER >= 3041000
    if (sqlite3_libversion_number() >= 3041000)
        return !sqlite3_is_interrupted(db);
#endif
    return sqlite3_exec(db, "SELECT 1", NULL, NULL, NULL) != SQLITE_INTERRUPT;
}

static realm_config_t* make_config(File* file, realm_schema_mode_e schema_mode)
{
    realm_config_t* config = realm_config_new();
    realm_scheduler_t* scheduler = realm_scheduler_new(file, NULL, NULL, is_on_thread, NULL, NULL);
    bool is_set = config != NULL && scheduler != NULL;
    if (is_set) {
        realm_config_set_path(config, file->path);
        realm_config_set_schema_mode(config, schema_mode);
        realm_config_set_disable_format_upgrade(config, schema_mode == RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
        realm_config_set_automatic_change_notifications(config, false);
        realm_config_set_scheduler(config, scheduler);
        crealm_config_set_lock_timeout(config, LOCK_TIMEOUT);
        crealm_config_set_snapshot(config, file->mode == MODE_SNAPSHOT);
        crealm_config_set_progress(config, goes_on, file, NULL);
    }
    if (is_set && file->has_key)
        is_set = realm_config_set_encryption_key(config, file->key, sizeof file->key);
    if (is_set && file->passphrase != NULL)
        is_set = crealm_config_set_passphrase(config, file->passphrase, file->passphrase_size, 0, 0);
    realm_release(scheduler);
    if (is_set)
        return config;
    realm_release(config);
    return NULL;
}

static realm_t* open_with(File* file, realm_schema_mode_e schema_mode)
{
    realm_config_t* config = make_config(file, schema_mode);
    realm_t* realm = config == NULL ? NULL : realm_open(config);
    realm_release(config);
    return realm;
}

/* A realm with a schema reads nothing until it is used: so it keeps the file open, but no version of it. */
static void hold(File* file)
{
    realm_schema_t* schema = realm_get_schema(file->realm);
    realm_config_t* config = make_config(file, RLM_SCHEMA_MODE_READ_ONLY);
    if (schema != NULL && config != NULL) {
        realm_config_set_schema(config, schema);
        realm_config_set_schema_version(config, realm_get_schema_version(file->realm));
        file->holder = realm_open(config);
    }
    realm_release(schema);
    realm_release(config);
}

static void let_go(realm_t** realm)
{
    if (*realm == NULL)
        return;
    realm_close(*realm);
    realm_release(*realm);
    *realm = NULL;
}

static bool is_open_otherwise(void)
{
    realm_error_t last;
    return realm_get_last_error(&last) && last.error == RLM_ERR_MISMATCHED_CONFIG;
}

int crealm_open(File* file, char** error)
{
    if (file->realm != NULL) {
        file->users++;
        return SQLITE_OK;
    }
    /* A realm that is opened for following others would make a new file. */
    struct stat about;
    if (stat(file->path, &about) != 0)
        return crealm_fail(error, SQLITE_CANTOPEN, "%s: %s", file->path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return crealm_fail(error, SQLITE_CANTOPEN, "%s: no regular file", file->path);
    realm_t* realm = open_with(file, file->mode == MODE_LIVE ? RLM_SCHEMA_MODE_READ_ONLY : RLM_SCHEMA_MODE_IMMUTABLE);
    /* In one process all realms of a file are open for reading in the same way, or all for writing. What this process
     * does with the file decides; this extension never begins a write transaction. */
    if (realm == NULL && file->mode == MODE_LIVE && is_open_otherwise())
        realm = open_with(file, RLM_SCHEMA_MODE_ADDITIVE_EXPLICIT);
    if (realm == NULL && file->mode == MODE_LIVE && is_open_otherwise())
        realm = open_with(file, RLM_SCHEMA_MODE_IMMUTABLE);
    if (realm == NULL)
        return crealm_library_error(file, error);
    if (!realm_begin_read(realm)) {
        int code = crealm_library_error(file, error);
        realm_close(realm);
        realm_release(realm);
        return code;
    }
    file->realm = realm;
    file->users = 1;
    return SQLITE_OK;
}

void crealm_close(File* file)
{
    file->users--;
    if (file->users > 0 || file->mode != MODE_LIVE)
        return;
    /* Opening an encrypted file takes long, so it stays open. This process cannot open it for writing meanwhile; a
     * plain file is open during statements only. */
    bool is_held = file->has_key || file->passphrase != NULL;
    if (is_held && file->holder == NULL)
        hold(file);
    let_go(&file->realm);
}

void crealm_free_files(Connection* connection)
{
    while (connection->files != NULL) {
        File* file = connection->files;
        connection->files = file->next;
        let_go(&file->realm);
        let_go(&file->holder);
        if (file->passphrase != NULL)
            memset(file->passphrase, 0, file->passphrase_size);
        memset(file->key, 0, sizeof file->key);
        sqlite3_free(file->passphrase);
        sqlite3_free(file->path);
        sqlite3_free(file);
    }
}
