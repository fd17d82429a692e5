/*
 * crealm_sqlite.h - what the parts of the SQLite extension share.
 *
 * The extension shows the classes of a realm file as virtual tables. It only reads. docs/sql.md describes what
 * its users see.
 *
 *   extension.c   the entry point and the SQL functions
 *   file.c        opening realms: one per file and SQLite connection, while statements read it
 *   table.c       a class as a table: its columns
 *   plan.c        which conditions and orders a query can take over from SQLite, and what that costs
 *   search.c      those conditions as a query of the library, for values of any SQL type
 *   cursor.c      reading rows in pages
 *   values.c      dates, identifiers, decimals as text
 *   json.c        collections as JSON
 *
 * SQLite calls everything here with the mutex of the connection held, so nothing here needs a lock.
 */

#ifndef CREALM_SQLITE_H
#define CREALM_SQLITE_H

#include <crealm.h>
#include <realm.h>
#include <sqlite3ext.h>

#if SQLITE_VERSION_NUMBER < 3038000
#error "The extension needs the header of SQLite 3.38 or later"
#endif

/* What happens to a file between two statements. */
typedef enum Mode {
    MODE_LIVE,     /* each statement reads the newest version; a plain file is open during statements only */
    MODE_SNAPSHOT, /* a private copy, made when the file is first used by the connection */
    MODE_IMMUTABLE /* a file that nobody changes */
} Mode;

typedef struct Connection Connection;

/* A realm file, as one SQLite connection uses it. */
typedef struct File {
    struct File* next;
    Connection* connection;
    char* path; /* absolute */
    Mode mode;
    bool has_key;
    uint8_t key[64];
    char* passphrase; /* NULL: none */
    size_t passphrase_size;
    realm_t* realm;  /* NULL: not open */
    realm_t* holder; /* keeps the file open between statements, without reading a version; NULL: none */
    int users;       /* open cursors, and connecting tables; they all read one version */
} File;

/* The state of the extension in one SQLite connection. */
struct Connection {
    sqlite3* db;
    File* files;
    int references; /* of the module and the functions */
};

/* What a column shows. */
typedef enum Kind {
    KIND_INT,
    KIND_BOOL,
    KIND_DOUBLE,
    KIND_FLOAT,
    KIND_STRING,
    KIND_BINARY,
    KIND_DATE,
    KIND_DECIMAL,
    KIND_OBJECT_ID,
    KIND_UUID,
    KIND_LINK, /* the primary key of the target, or its object key */
    KIND_MIXED,
    KIND_LIST,
    KIND_SET,
    KIND_DICTIONARY
} Kind;

/* A property as a column. */
typedef struct Column {
    char* property;  /* the stored name */
    char* public_name; /* "": the same */
    char* text;      /* the name in query texts; NULL: the name is ambiguous there */
    char* path;      /* the path for columns of Arrow; NULL: it cannot be read that way */
    realm_property_key_t key;
    realm_property_type_e type;
    realm_collection_type_e collection;
    int flags;
    Kind kind;
    Kind shown; /* kind, but for links that of the primary key or KIND_INT */
    char* target; /* of links: the class; NULL otherwise */
    realm_class_key_t target_key;
    realm_property_key_t target_primary; /* RLM_INVALID_PROPERTY_KEY: the object key is shown */
    bool is_nullable; /* of links: whether the primary key is */
} Column;

/* A class as a table. */
typedef struct Table {
    sqlite3_vtab base;
    File* file;
    char* class_name;
    realm_class_key_t class_key;
    int num_columns;
    Column* columns;
    int primary; /* the column of the primary key; -1: none */
    bool is_utf8; /* whether texts of this database are compared as UTF-8 */
    sqlite3_int64 objects; /* how many there were when the class was last read */
} Table;

/* extension.c */
int crealm_fail(char** error, int code, const char* format, ...);

/* file.c */

/* The last error of the library as an SQLite error code; its text replaces *error. */
int crealm_library_error(File* file, char** error);
/* The file of the connection with these settings; makes it if there is none. NULL: no memory. */
File* crealm_file(Connection* connection, const char* path, Mode mode, const uint8_t* key, const char* passphrase,
                  size_t passphrase_size);
/* The file that has this path, whatever its other settings; NULL: none. */
File* crealm_known_file(Connection* connection, const char* path);
/* Opens the realm, or joins those that read it. Each success needs a call of crealm_close(). */
int crealm_open(File* file, char** error);
void crealm_close(File* file);
void crealm_free_files(Connection* connection);
/* The absolute path, without "." and ".." parts; NULL: no memory. Free it with sqlite3_free(). */
char* crealm_absolute(const char* path);

/* table.c */
extern const sqlite3_module crealm_module;
/* The parts of a file's description in SQL: path and options. Reads options[from...]. */
int crealm_parse_options(Connection* connection, int count, const char* const* options, File** file, char** error);
/* Compares the class with the columns of the table, which are those of the time of its declaration. */
int crealm_check_class(Table* table, char** error);

/* plan.c */
#define PLAN_ROWID 1   /* the first argument is an object key; there are no others */
#define PLAN_PRIMARY 2 /* the first argument is a primary key; there are no others */
#define PLAN_REVERSE 4 /* the rows in descending order of their keys */
#define PLAN_LINK 8    /* the first argument is the target of links */
int crealm_best_index(sqlite3_vtab* table, sqlite3_index_info* info);

/* search.c */

/* A query in the making. */
typedef struct Search {
    Table* table;
    sqlite3_str* text; /* conditions, joined by "and"; empty: all objects */
    int num_args;
    int max_args;
    realm_query_arg_t* args; /* each has its own block of values */
    bool is_empty;  /* no row can meet the conditions */
    bool is_exact;  /* false: rows may be found that SQLite leaves out */
    bool has_failed; /* no memory */
} Search;
void crealm_search_begin(Search* search, Table* table);
void crealm_search_end(Search* search);
/* Adds the condition "column op value". */
void crealm_search_add(Search* search, const Column* column, int op, sqlite3_value* value);
/* Adds "column IN (list)". The list is the right side of an IN operator. */
void crealm_search_in(Search* search, const Column* column, sqlite3_value* list);
/* Whether conditions with this operator can be added for the column; *is_exact: for values of every type. */
bool crealm_search_takes(const Table* table, const Column* column, int op, bool* is_exact);
/* The value as a key of the column's type, for a search by key. Returns 1: out_key; 0: no row has it; -1: unknown. */
int crealm_key_value(Kind kind, sqlite3_value* value, realm_value_t* out_key);

/* values.c */
#define DATE_TEXT 48
#define DECIMAL_TEXT 64
/* Seconds of the first and the last moment that have a text. */
#define FIRST_DATE (-62167219200LL)
#define LAST_DATE 253402300799LL
/* Writes "YYYY-MM-DD HH:MM:SS", with a fraction if there is one. Years beyond 9999 have a sign and twelve digits.
 * Returns the length; 0: a year before 0. */
int crealm_date_text(int64_t seconds, int32_t nanoseconds, char* out);
/* The number of texts of dates that are smaller: whether "text >= limit" holds exactly from *out on; *is_equal:
 * whether the text of *out is the limit. The limit begins with a character not below '0'. */
void crealm_date_limit(const char* limit, int size, realm_timestamp_t* out, bool* is_equal);
int crealm_decimal_text(realm_decimal128_t value, char* out);
void crealm_object_id_text(const uint8_t* bytes, char* out);
void crealm_uuid_text(const uint8_t* bytes, char* out);
bool crealm_parse_object_id(const char* text, int size, uint8_t* out);
bool crealm_parse_uuid(const char* text, int size, uint8_t* out);
bool crealm_is_utf8(const char* text, int size);
void crealm_result_date(sqlite3_context* context, int64_t seconds, int32_t nanoseconds);
/* The value that SQL shows for a link: the target's primary key, or its object key. */
bool crealm_link_value(const realm_t* realm, realm_link_t link, realm_value_t* out);

/* json.c */

/* Writes a collection property, or a collection in a Mixed property, of an object. */
int crealm_write_json(sqlite3_str* out, const realm_t* realm, realm_object_t* object, realm_property_key_t property,
                      realm_collection_type_e collection);

#endif /* CREALM_SQLITE_H */
