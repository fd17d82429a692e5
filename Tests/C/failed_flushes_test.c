/*
 * One or two flushes in a row fail, and then power is lost. Goal: the file opens, has the changes of the last commit
 * that returned, and nothing of a commit that failed; only a commit in progress, or one of unknown outcome, may be in
 * the file or not. That must hold for each set of unflushed sectors that reach the disk when a flush fails, whether the
 * cache keeps or drops the others, and for each later moment of the power loss.
 * Method: a disk in memory behind the calls to the system; after each call that follows the failed flush, some of the states that
 * the disk may be left in are kept, and judged when the program has ended.
 *
 *     failed_flushes_test [FIXTURES [RUNS]]      RUNS for each form and durability, by default 40; 0: every case
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>
#include <crealm_testing.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

enum { SECTOR = 512, DISK = 4 << 20, ROWS = 20, COMMITS = 3, FLUSHES = 9, PARTS = 6, STATES = 8, LIMIT = 1 << 16 };
typedef enum { PLAIN, SEALED, REALM_FORM, FORMS } form_t;

static char folder[] = "/tmp/failed_flushes_test.XXXXXX";
static char path[120], judged[120];
static form_t form;
static bool twice;

/* ---- The disk ----------------------------------------------------------------------------------- */

typedef struct {
    size_t sector;
    unsigned char bytes[SECTOR];
} write_t; /* one sector in the cache that is not on the disk yet */

static unsigned char* disk;
static size_t disk_size, file_size;
static write_t* pending;
static size_t pending_count;
static ino_t inode;

static struct {
    int flushes;     /* so far */
    int first, last; /* the first and last flush that fail, counted from 1 */
    int part;        /* which of the pending sectors reach the disk when a flush fails */
    bool drops;      /* the cache drops the others */
    bool has_failed;
} fault;

/* The content that a program may expect of the file: the last commit that returned, and commits that may be in it or
   not. */
typedef struct {
    int64_t returned, maybe[COMMITS + 1];
    int maybe_count;
} expected_t;
static expected_t expected;
static int64_t in_progress;

typedef struct {
    uint64_t hash;
    size_t size;
    unsigned char* bytes;
    expected_t expected;
} state_t;
static state_t* states;
static size_t state_count;
static size_t judged_count;

static bool is_ours(int fd) {
    struct stat s;
    return fstat(fd, &s) == 0 && s.st_ino == inode;
}
/* Whether pending sector i belongs to a part of the sectors. */
static bool in_part(size_t i, int part) {
    switch (part) {
    case 0: return false;
    case 1: return true;
    case 2: return i < pending_count / 2;
    case 3: return i >= pending_count / 2;
    case 4: return pending[i].sector < 16;
    case 5: return pending[i].sector >= 16;
    case 6: return i + 1 != pending_count;
    default: return i + 1 == pending_count;
    }
}
static void keep_states(void) {
    if (!fault.has_failed) return;
    for (int part = 0; part < STATES && state_count < LIMIT; part++) {
        size_t size = part == 0 ? disk_size : file_size;
        unsigned char* bytes = (unsigned char*)calloc(1, DISK);
        memcpy(bytes, disk, disk_size);
        for (size_t i = 0; i < pending_count; i++)
            if (in_part(i, part)) {
                memcpy(bytes + pending[i].sector * SECTOR, pending[i].bytes, SECTOR);
                if (size < (pending[i].sector + 1) * SECTOR) size = (pending[i].sector + 1) * SECTOR;
            }
        expected_t e = expected;
        if (in_progress) e.maybe[e.maybe_count++] = in_progress;
        uint64_t hash = 14695981039346656037u ^ size;
        for (size_t i = 0; i < size; i += 8) {
            uint64_t word;
            memcpy(&word, bytes + i, 8);
            hash = (hash ^ word) * 1099511628211u;
            hash ^= hash >> 29;
        }
        bool is_known = false;
        for (size_t i = 0; i < state_count && !is_known; i++) is_known = states[i].hash == hash && !memcmp(&states[i].expected, &e, sizeof e);
        if (is_known) {
            free(bytes);
        } else {
            states[state_count].hash = hash;
            states[state_count].size = size;
            states[state_count].bytes = (unsigned char*)realloc(bytes, size ? size : 1);
            states[state_count++].expected = e;
        }
    }
}
static ssize_t disk_pwrite(int fd, const void* bytes, size_t count, off_t at) {
    ssize_t n = pwrite(fd, bytes, count, at);
    if (n > 0 && is_ours(fd)) {
        size_t end = (size_t)at + (size_t)n;
        for (size_t sector = (size_t)at / SECTOR; sector * SECTOR < end; sector++) {
            if (pending_count == LIMIT) give_up();
            write_t* w = &pending[pending_count++];
            memset(w, 0, sizeof *w);
            w->sector = sector;
            if (pread(fd, w->bytes, SECTOR, (off_t)(sector * SECTOR)) < 0) give_up();
        }
        if (file_size < end) file_size = end;
        keep_states();
    }
    return n;
}
static int disk_ftruncate(int fd, off_t size) {
    int e = ftruncate(fd, size);
    if (!e && is_ours(fd)) {
        file_size = (size_t)size;
        if (file_size < disk_size) memset(disk + file_size, 0, disk_size - file_size);
        keep_states();
    }
    return e;
}
static int disk_flush(int fd) {
    if (!is_ours(fd)) return 0;
    bool fails = ++fault.flushes >= fault.first && fault.flushes <= fault.last;
    for (size_t i = 0; i < pending_count; i++)
        if (!fails || in_part(i, fault.part)) memcpy(disk + pending[i].sector * SECTOR, pending[i].bytes, SECTOR);
    if (fails && fault.drops)
        for (size_t i = 0; i < pending_count; i++)
            if (pwrite(fd, disk + pending[i].sector * SECTOR, SECTOR, (off_t)(pending[i].sector * SECTOR)) != SECTOR) give_up();
    /* Sectors that a failed flush did not write count as written: no later flush writes them. */
    pending_count = 0;
    disk_size = file_size;
    if (fails) {
        fault.has_failed = true;
        keep_states();
        errno = EIO;
        return -1;
    }
    keep_states();
    return 0;
}

/* ---- The program -------------------------------------------------------------------------------- */

static realm_t* open_file(const char* name) {
    static const uint8_t key[64] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    realm_property_info_t properties[2];
    memset(properties, 0, sizeof properties);
    properties[0].name = "id", properties[0].type = RLM_PROPERTY_TYPE_INT, properties[0].flags = RLM_PROPERTY_PRIMARY_KEY;
    properties[1].name = "value", properties[1].type = RLM_PROPERTY_TYPE_INT;
    for (int i = 0; i < 2; i++) properties[i].public_name = "", properties[i].link_target = "", properties[i].link_origin_property_name = "";
    realm_class_info_t type;
    memset(&type, 0, sizeof type);
    type.name = "Row", type.primary_key = "id", type.num_properties = 2;
    const realm_property_info_t* all[1] = {properties};
    realm_schema_t* schema = realm_schema_new(&type, 1, all);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, name);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    if (form != PLAIN) {
        realm_config_set_encryption_key(config, key, sizeof key);
        crealm_config_set_page_cipher(config, form == SEALED ? CREALM_PAGE_CIPHER_XCHACHA20_POLY1305 : CREALM_PAGE_CIPHER_REALM);
    }
    if (twice) crealm_config_set_durability(config, CREALM_DURABILITY_TWO_FLUSHES);
    realm_t* realm = realm_open(config);
    realm_release(schema);
    realm_release(config);
    return realm;
}
static bool find(realm_t* realm, realm_class_info_t* type, realm_property_key_t* value) {
    bool found = false;
    realm_property_info_t property;
    if (!realm_find_class(realm, "Row", &found, type) || !found) return false;
    if (!realm_find_property(realm, type->key, "value", &found, &property) || !found) return false;
    *value = property.key;
    return true;
}
static realm_value_t number(int64_t n) {
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_INT;
    v.integer = n;
    return v;
}
/* One commit that sets every row to `stamp`. */
static bool commit(realm_t* realm, int64_t stamp) {
    realm_class_info_t type;
    realm_property_key_t value;
    if (!realm_begin_write(realm)) return false;
    bool good = find(realm, &type, &value);
    for (int i = 0; good && i < ROWS; i++) {
        realm_object_t* row = realm_object_get_or_create_with_primary_key(realm, type.key, number(i), NULL);
        good = row && realm_set_value(row, value, number(stamp), false);
        realm_release(row);
    }
    if (good) {
        in_progress = stamp;
        good = realm_commit(realm);
        in_progress = 0;
        if (good) {
            expected.returned = stamp;
            expected.maybe_count = 0;
        } else if (last_error() == CREALM_ERR_COMMIT_OUTCOME_UNKNOWN) {
            expected.maybe[expected.maybe_count++] = stamp;
        }
        keep_states();
    }
    bool is_writable = false;
    if (!good && (is_writable = realm_is_writable(realm))) realm_rollback(realm);
    realm_clear_last_error();
    return good;
}
/* The stamp that all rows have, or a negative number. */
static int64_t content(void) {
    realm_t* realm = open_file(judged);
    if (!realm) return -1;
    int64_t stamp = -2;
    realm_class_info_t type;
    realm_property_key_t value;
    if (find(realm, &type, &value)) {
        for (int i = 0; i < ROWS; i++) {
            bool found = false;
            realm_value_t v;
            realm_object_t* row = realm_object_find_with_primary_key(realm, type.key, number(i), &found);
            if (!row || !realm_get_value(row, value, &v) || v.type != RLM_TYPE_INT || (i > 0 && v.integer != stamp)) stamp = -3;
            else stamp = v.integer;
            realm_release(row);
            if (stamp < 0) break;
        }
    }
    realm_close(realm);
    realm_release(realm);
    return stamp;
}
static void store(const char* name, const unsigned char* bytes, size_t size) {
    char lock[160];
    snprintf(lock, sizeof lock, "%s.lock", name);
    unlink(lock);
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size) give_up();
    close(fd);
}
/* One case: a program that makes three commits, with one flush that fails; then checks every recorded state. */
static void run(const unsigned char* base, size_t size) {
    store(path, base, size);
    struct stat s;
    if (stat(path, &s) != 0) give_up();
    inode = s.st_ino;
    memset(disk, 0, DISK);
    memcpy(disk, base, size);
    disk_size = file_size = size;
    pending_count = state_count = 0;
    memset(&expected, 0, sizeof expected);
    expected.returned = 2;
    in_progress = 0;

    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.pwrite = disk_pwrite;
    calls.ftruncate = disk_ftruncate;
    calls.fdatasync = calls.fsync = disk_flush;
    crealm_set_system_calls(&calls);
    realm_t* realm = open_file(path);
    if (!realm) realm = open_file(path);
    for (int64_t stamp = 3; realm && stamp < 3 + COMMITS; stamp++) commit(realm, stamp);
    realm_close(realm);
    realm_release(realm);
    crealm_set_system_calls(NULL);
    keep_states();

    for (size_t i = 0; i < state_count; i++) {
        store(judged, states[i].bytes, states[i].size);
        int64_t found = content();
        bool good = found == states[i].expected.returned;
        for (int j = 0; j < states[i].expected.maybe_count; j++) good |= found == states[i].expected.maybe[j];
        judged_count++;
        if (!good && failed < 20)
            printf("form %d, %s: flushes %d to %d fail, part %d is on the disk, %s; state %zu of %zu shows %lld instead of %lld or one of %d\n", (int)form,
                   twice ? "two flushes" : "one flush", fault.first, fault.last, fault.part, fault.drops ? "the rest is dropped" : "the rest is kept", i,
                   state_count, (long long)found, (long long)states[i].expected.returned, states[i].expected.maybe_count);
        if (!good) failed++;
        free(states[i].bytes);
    }
    passed += fault.has_failed;
}

/* ---- A flush that fails while another process continues ------------------------------------------------- */

static int header_writes, flushes_without_header;
static bool header_is_confirmed;
static ssize_t watched_pwrite(int fd, const void* bytes, size_t count, off_t at) {
    if (at == 0 && is_ours(fd)) header_writes++, header_is_confirmed = true;
    return pwrite(fd, bytes, count, at);
}
static int watched_flush(int fd) {
    if (is_ours(fd) && !header_is_confirmed) flushes_without_header++;
    return 0;
}
static int failing_flush(int fd) {
    if (!is_ours(fd)) return 0;
    errno = EIO;
    return -1;
}
/*
 * Another process closes the file, and its last flush fails: after that the operating system may count this process's
 * header as flushed. So this process must write the header again before it flushes its next commit, whether the other
 * process wrote before or after it.
 */
static void closing_elsewhere(bool is_last) {
    unlink(path);
    realm_t* realm = open_file(path);
    CHECK(realm && commit(realm, 1));
    struct stat s;
    if (stat(path, &s) != 0) give_up();
    inode = s.st_ino;
    int written[2], go[2], status = -1;
    char byte = 0;
    if (pipe(written) || pipe(go)) give_up();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        realm_t* theirs = open_file(path);
        bool good = theirs && commit(theirs, 2) && write(written[1], "w", 1) == 1 && read(go[0], &byte, 1) == 1;
        crealm_system_calls_t calls;
        memset(&calls, 0, sizeof calls);
        calls.fdatasync = calls.fsync = failing_flush;
        crealm_set_system_calls(&calls);
        good = good && realm_close(theirs);
        realm_release(theirs);
        _exit(good ? 0 : 1);
    }
    CHECK(child > 0 && read(written[0], &byte, 1) == 1);
    if (!is_last) CHECK(commit(realm, 3));
    CHECK(write(go[1], "g", 1) == 1 && waitpid(child, &status, 0) == child && status == 0);
    crealm_system_calls_t calls;
    memset(&calls, 0, sizeof calls);
    calls.pwrite = watched_pwrite;
    calls.fdatasync = calls.fsync = watched_flush;
    header_writes = flushes_without_header = 0;
    header_is_confirmed = false;
    crealm_set_system_calls(&calls);
    CHECK(commit(realm, 4));
    crealm_set_system_calls(NULL);
    CHECK(header_writes == 2 && flushes_without_header == 0);
    realm_close(realm);
    realm_release(realm);
    for (int i = 0; i < 2; i++) close(written[i]), close(go[i]);
}

int main(int argc, char** argv) {
    int runs = argc > 2 ? atoi(argv[2]) : 40;
    if (!mkdtemp(folder)) give_up();
    snprintf(path, sizeof path, "%s/file.realm", folder);
    snprintf(judged, sizeof judged, "%s/judged.realm", folder);
    disk = (unsigned char*)malloc(DISK);
    pending = (write_t*)malloc(LIMIT * sizeof *pending);
    states = (state_t*)calloc(LIMIT, sizeof *states);
    unsigned random = 7;
    for (int f = 0; f < FORMS; f++)
        for (int t = 0; t < 2; t++) {
            form = (form_t)f;
            twice = t == 1;
            section = form == PLAIN ? "plain" : form == SEALED ? "sealed" : "Realm's form";
            unlink(path);
            realm_t* realm = open_file(path);
            CHECK(realm && commit(realm, 1) && commit(realm, 2));
            CHECK(realm_close(realm));
            realm_release(realm);
            static unsigned char base[DISK];
            int fd = open(path, O_RDONLY);
            ssize_t size = fd < 0 ? -1 : read(fd, base, sizeof base);
            if (size <= 0 || size == DISK) give_up();
            close(fd);
            int all = FLUSHES * PARTS * 4;
            for (int i = 0; i < (runs ? runs : all); i++) {
                random = random * 1103515245u + 12345u;
                int c = runs ? (int)((random >> 8) % (unsigned)all) : i;
                memset(&fault, 0, sizeof fault);
                fault.first = 1 + c / (PARTS * 4);
                fault.last = fault.first + c / 2 % 2;
                fault.part = c / 4 % PARTS;
                fault.drops = c % 2;
                run(base, (size_t)size);
            }
        }
    form = PLAIN;
    twice = false;
    section = "closing elsewhere";
    closing_elsewhere(false);
    closing_elsewhere(true);
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) printf("could not remove %s\n", folder);
    printf("%zu states\n", judged_count);
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed ? 1 : 0;
}
