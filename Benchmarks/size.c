/* Measures the size of a file, and the bytes that a commit writes, over many small commits, with any library that
   exports Realm's C API.
 *
 * Usage: size LIB.so FILE OBJECTS COMMITS WORKLOAD PINS [key64-file]
 *   WORKLOAD  int     each commit sets one int of a random object
 *             text    … one text, of another length each time
 *             turns   … deletes a random object and inserts another
 *             lists   … changes one list of a random object: appends, erases or sets
 *             classes … changes one object of each of three classes
 *             shrink  … as int, after nine of ten objects were deleted in one transaction
 *             insert  … inserts an object
 *   PINS      pinned versions: 0, or 1 (frozen before the first commit), or more (frozen at equal intervals)
 *
 * Prints a line for each twentieth of the commits: commits, bytes of the file, bytes passed to write calls per commit,
 * microseconds of processor time per commit, write calls per commit; then, if the library has crealm_get_commit_work(),
 * bytes per commit of objects, of history and of free lists, and pieces of free space.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <crealm.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void* library;
#define F(name) ((__typeof__(&name))symbol(#name))

static void* symbol(const char* name) {
    void* found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "missing symbol %s\n", name);
        exit(3);
    }
    return found;
}

static void check(int is_right, const char* what) {
    if (is_right) return;
    realm_error_t error;
    memset(&error, 0, sizeof error);
    if (F(realm_get_last_error)(&error)) fprintf(stderr, "%s: error %d: %s\n", what, (int)error.error, error.message);
    else fprintf(stderr, "%s failed\n", what);
    exit(2);
}

static realm_value_t of_int(int64_t number) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = RLM_TYPE_INT;
    value.integer = number;
    return value;
}

static realm_value_t of_text(const char* text, size_t size) {
    realm_value_t value;
    memset(&value, 0, sizeof value);
    value.type = RLM_TYPE_STRING;
    value.string.data = text;
    value.string.size = size;
    return value;
}

static uint64_t state = 88172645463325252ULL;

static uint64_t next_random(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static void no_free(realm_userdata_t unused) { (void)unused; }
static void no_notify(realm_userdata_t unused, realm_work_queue_t* queue) { (void)unused; (void)queue; }
static bool always(realm_userdata_t unused) { (void)unused; return true; }
static bool same(const realm_userdata_t a, const realm_userdata_t b) { return a == b; }

static realm_t* open_file(const char* path, const uint8_t* key) {
    realm_property_info_t properties[3][4] = {
        {{"id", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_PRIMARY_KEY},
         {"number", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_NORMAL},
         {"text", "", RLM_PROPERTY_TYPE_STRING, RLM_COLLECTION_TYPE_NONE, "", "", 0, RLM_PROPERTY_NORMAL},
         {"list", "", RLM_PROPERTY_TYPE_INT, RLM_COLLECTION_TYPE_LIST, "", "", 0, RLM_PROPERTY_NORMAL}}};
    memcpy(properties[1], properties[0], sizeof properties[0]);
    memcpy(properties[2], properties[0], sizeof properties[0]);
    realm_class_info_t classes[] = {{"A", "id", 4, 0, 0, RLM_CLASS_NORMAL}, {"B", "id", 4, 0, 0, RLM_CLASS_NORMAL},
                                    {"C", "id", 4, 0, 0, RLM_CLASS_NORMAL}};
    const realm_property_info_t* all[] = {properties[0], properties[1], properties[2]};
    realm_schema_t* schema = F(realm_schema_new)(classes, 3, all);
    check(schema != NULL, "schema");
    realm_config_t* config = F(realm_config_new)();
    F(realm_config_set_path)(config, path);
    F(realm_config_set_schema)(config, schema);
    F(realm_config_set_schema_mode)(config, RLM_SCHEMA_MODE_AUTOMATIC);
    F(realm_config_set_schema_version)(config, 0);
    F(realm_config_set_automatic_change_notifications)(config, false);
    F(realm_config_set_cached)(config, false);
    realm_scheduler_t* scheduler = F(realm_scheduler_new)(NULL, no_free, no_notify, always, same, always);
    F(realm_config_set_scheduler)(config, scheduler);
    F(realm_release)(scheduler);
    if (key) F(realm_config_set_encryption_key)(config, key, 64);
    realm_t* realm = F(realm_open)(config);
    check(realm != NULL, "open");
    F(realm_release)(config);
    F(realm_release)(schema);
    return realm;
}

static void delete_nine_of_ten(realm_t* realm, realm_class_key_t class_key, long* objects) {
    *objects /= 10;
    realm_value_t least = of_int(*objects);
    realm_query_arg_t argument = {1, false, &least};
    realm_query_t* query = F(realm_query_parse)(realm, class_key, "id >= $0", 1, &argument);
    check(query != NULL, "query");
    realm_results_t* results = F(realm_query_find_all)(query);
    check(F(realm_begin_write)(realm) && F(realm_results_delete_all)(results) && F(realm_commit)(realm), "delete");
    F(realm_release)(results);
    F(realm_release)(query);
}

/* The bytes passed to write calls, and the number of these calls. */
static void written(long long* bytes, long long* calls) {
    char line[128];
    FILE* io = fopen("/proc/self/io", "r");
    *bytes = *calls = 0;
    while (io && fgets(line, sizeof line, io)) {
        sscanf(line, "wchar: %lld", bytes);
        sscanf(line, "syscw: %lld", calls);
    }
    if (io) fclose(io);
}

static double processor(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_stime.tv_sec + (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

int main(int count, char** arguments) {
    if (count < 7) return fprintf(stderr, "usage: size LIB FILE OBJECTS COMMITS WORKLOAD PINS [KEY]\n"), 1;
    library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
    const char *path = arguments[2], *workload = arguments[5];
    long objects = atol(arguments[3]), commits = atol(arguments[4]);
    int pins = atoi(arguments[6]);
    uint8_t key[64];
    int has_key = count > 7;
    if (has_key) {
        FILE* file = fopen(arguments[7], "rb");
        if (!file || fread(key, 1, 64, file) != 64) return 1;
        fclose(file);
    }
    bool found;
    F(realm_delete_files)(path, &found);
    F(realm_set_log_level)(RLM_LOG_LEVEL_OFF);
    realm_t* realm = open_file(path, has_key ? key : NULL);
    realm_class_info_t classes[3];
    realm_property_key_t keys[3][4];
    const char* names[] = {"id", "number", "text", "list"};
    for (int c = 0; c < 3; c++) {
        const char name[] = {(char)('A' + c), 0};
        F(realm_find_class)(realm, name, &found, &classes[c]);
        for (int p = 0; p < 4; p++) {
            realm_property_info_t info;
            F(realm_find_property)(realm, classes[c].key, names[p], &found, &info);
            keys[c][p] = info.key;
        }
    }
    int used = strcmp(workload, "classes") ? 1 : 3;
    int64_t* ids = malloc(sizeof(int64_t) * (size_t)objects);
    char text[256];
    for (size_t i = 0; i < sizeof text; i++) text[i] = (char)('a' + i % 26);
    check(F(realm_begin_write)(realm), "begin");
    for (long i = 0; i < objects; i++) {
        int c = (int)(i % used);
        ids[i] = i;
        realm_object_t* object = F(realm_object_create_with_primary_key)(realm, classes[c].key, of_int(i));
        check(object != NULL, "create");
        F(realm_set_value)(object, keys[c][1], of_int((int64_t)(next_random() % 1000000)), false);
        F(realm_set_value)(object, keys[c][2], of_text(text, 20), false);
        if (!strcmp(workload, "lists")) {
            realm_list_t* list = F(realm_get_list)(object, keys[c][3]);
            for (size_t j = 0; j < 8; j++) F(realm_list_insert)(list, j, of_int((int64_t)(next_random() % 100000)));
            F(realm_release)(list);
        }
        F(realm_release)(object);
    }
    check(F(realm_commit)(realm), "commit");
    if (!strcmp(workload, "shrink")) delete_nine_of_ten(realm, classes[0].key, &objects);
    struct stat info;
    stat(path, &info);
    printf("0\t%lld\t0\t0\t0\n", (long long)info.st_size);
    realm_t* frozen[1024];
    int kept = 0;
    long next_pin = 0, step = commits / 20 ? commits / 20 : 1;
    int64_t next_id = objects;
    long long bytes = 0, calls = 0;
    bool (*get_work)(const realm_t*, crealm_commit_work_t*) =
        (bool (*)(const realm_t*, crealm_commit_work_t*))dlsym(library, "crealm_get_commit_work");
    crealm_commit_work_t work;
    memset(&work, 0, sizeof work);
    uint64_t objects_written = 0, history = 0, lists = 0;
    written(&bytes, &calls);
    double before = processor();
    for (long i = 0; i < commits; i++) {
        if (kept < pins && kept < 1024 && i == next_pin) {
            frozen[kept] = F(realm_freeze)(realm);
            check(frozen[kept++] != NULL, "freeze");
            next_pin += commits / pins;
        }
        check(F(realm_begin_write)(realm), "begin");
        for (int n = 0; n < used; n++) {
            long which = (long)(next_random() % (uint64_t)objects);
            int c = (int)(which % used);
            realm_object_t* object = F(realm_object_find_with_primary_key)(realm, classes[c].key, of_int(ids[which]), &found);
            check(object != NULL, "find");
            if (!strcmp(workload, "int") || !strcmp(workload, "shrink")) {
                check(F(realm_set_value)(object, keys[c][1], of_int((int64_t)(next_random() % 1000000)), false), "set");
            } else if (!strcmp(workload, "text")) {
                check(F(realm_set_value)(object, keys[c][2], of_text(text, next_random() % 41), false), "set");
            } else if (!strcmp(workload, "lists")) {
                realm_list_t* list = F(realm_get_list)(object, keys[c][3]);
                size_t size;
                F(realm_list_size)(list, &size);
                uint64_t choice = next_random() % 3;
                if (choice == 0 || size == 0) F(realm_list_insert)(list, size, of_int((int64_t)(next_random() % 100000)));
                else if (choice == 1) F(realm_list_erase)(list, next_random() % size);
                else F(realm_list_set)(list, next_random() % size, of_int((int64_t)(next_random() % 100000)));
                F(realm_release)(list);
            } else if (!strcmp(workload, "turns")) {
                check(F(realm_object_delete)(object), "delete");
                ids[which] = next_id++;
                realm_object_t* other = F(realm_object_create_with_primary_key)(realm, classes[c].key, of_int(ids[which]));
                F(realm_set_value)(other, keys[c][1], of_int((int64_t)(next_random() % 1000000)), false);
                F(realm_set_value)(other, keys[c][2], of_text(text, 20), false);
                F(realm_release)(other);
            } else if (!strcmp(workload, "insert")) {
                realm_object_t* other = F(realm_object_create_with_primary_key)(realm, classes[c].key, of_int(next_id++));
                check(F(realm_set_value)(other, keys[c][2], of_text(text, next_random() % 41), false), "set");
                F(realm_release)(other);
            } else {
                F(realm_set_value)(object, keys[c][1], of_int((int64_t)(next_random() % 1000000)), false);
                F(realm_set_value)(object, keys[c][2], of_text(text, next_random() % 41), false);
            }
            F(realm_release)(object);
        }
        check(F(realm_commit)(realm), "commit");
        if (get_work && get_work(realm, &work)) objects_written += work.objects, history += work.history, lists += work.free_lists;
        if ((i + 1) % step == 0) {
            long long all_bytes, all_calls;
            written(&all_bytes, &all_calls);
            double now = processor();
            stat(path, &info);
            printf("%ld\t%lld\t%lld\t%.0f\t%.1f", i + 1, (long long)info.st_size, (all_bytes - bytes) / step,
                   (now - before) * 1e6 / (double)step, (double)(all_calls - calls) / (double)step);
            if (get_work)
                printf("\t%llu\t%llu\t%llu\t%llu", (unsigned long long)(objects_written / (uint64_t)step),
                       (unsigned long long)(history / (uint64_t)step), (unsigned long long)(lists / (uint64_t)step),
                       (unsigned long long)work.free_pieces);
            printf("\n");
            objects_written = history = lists = 0;
            fflush(stdout);
            written(&bytes, &calls);
            before = processor();
        }
    }
    for (int i = 0; i < kept; i++) F(realm_release)(frozen[i]);
    F(realm_close)(realm);
    F(realm_release)(realm);
    free(ids);
    return 0;
}
