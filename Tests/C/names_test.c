/*
 * names_test.c - one file under several names, files that are replaced or removed while open, processes that fork,
 * folders that change: one inode has one writer at a time, and cases that cannot be made safe are refused.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "crealm.h"
#include "numbers.h"

static char folder[64];
static char names[8][128];
static int name_count;
static const char* in_folder(const char* name) {
    char* path = names[name_count++ % 8];
    snprintf(path, sizeof names[0], "%s/%s", folder, name);
    return path;
}
static realm_t* open_realm(const char* path) { return open_mode(path, RLM_SCHEMA_MODE_AUTOMATIC); }
/* The number of objects after a new open; negative: the error. */
static long fresh_count(const char* path) {
    realm_t* realm = open_mode(path, RLM_SCHEMA_MODE_READ_ONLY);
    long n = realm ? count(realm) : -last_error();
    close_realm(realm);
    return n;
}
/* Runs `body` in a child; what it returns is the child's exit status. */
static int in_child(int (*body)(void*), void* data) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(body(data));
    int status = -1;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
/* 0 when the path opens and a commit succeeds; else the last two digits of the error. */
static int child_adds(void* data) {
    const char* path = (const char*)data;
    realm_t* realm = open_realm(path);
    int status = realm && add(realm, 0) ? 0 : last_error() % 100;
    close_realm(realm);
    return status;
}

static void several_names(void) {
    section = "several names";
    char file[128], hard[128], soft[128], chain[128];
    snprintf(file, sizeof file, "%s/several.realm", folder);
    snprintf(hard, sizeof hard, "%s/other/hard.realm", folder);
    snprintf(soft, sizeof soft, "%s/other/soft.realm", folder);
    snprintf(chain, sizeof chain, "%s/chain.realm", folder);
    realm_t* realm = open_realm(file);
    if (!CHECK(realm && add(realm, 0))) give_up();
    CHECK(link(file, hard) == 0 && symlink(file, soft) == 0 && symlink(soft, chain) == 0);
    /* Symbolic links lead to the same session. */
    CHECK(in_child(child_adds, soft) == 0);
    CHECK(in_child(child_adds, chain) == 0);
    CHECK(realm_refresh(realm, NULL) && count(realm) == 3);
    CHECK(access(in_folder("other/soft.realm.lock"), F_OK) != 0);
    /* A hard link has its own lock file: refused while the file is open under the other name. */
    CHECK(in_child(child_adds, hard) == RLM_ERR_INCOMPATIBLE_SESSION % 100);
    CHECK(add(realm, 0) && count(realm) == 4);
    /* In one process it is the same open file. */
    realm_t* other = open_realm(hard);
    CHECK(other && add(other, 0) && realm_refresh(realm, NULL) && count(realm) == 5);
    close_realm(other);
    close_realm(realm);
    CHECK(in_child(child_adds, hard) == 0);
    CHECK(fresh_count(file) == 6);
    /* The other way round. */
    realm = open_realm(hard);
    CHECK(in_child(child_adds, file) == RLM_ERR_INCOMPATIBLE_SESSION % 100);
    CHECK(in_child(child_adds, soft) == RLM_ERR_INCOMPATIBLE_SESSION % 100);
    CHECK(add(realm, 0));
    close_realm(realm);
    CHECK(fresh_count(chain) == 7);
}
/* Writers in several processes, through a file and its symbolic link at the same time: no commit is lost. */
static int child_adds_many(const char* path) {
    realm_t* realm = open_realm(path);
    for (int i = 0; i < 100; i++) {
        if (!add(realm, 0)) return last_error() % 100;
    }
    close_realm(realm);
    return 0;
}
static void writers_under_two_names(void) {
    section = "writers under two names";
    char file[128], soft[128];
    snprintf(file, sizeof file, "%s/writers.realm", folder);
    snprintf(soft, sizeof soft, "%s/other/writers.realm", folder);
    close_realm(open_realm(file));
    CHECK(symlink(file, soft) == 0);
    pid_t children[4];
    fflush(stdout);
    for (int i = 0; i < 4; i++) {
        if ((children[i] = fork()) == 0) _exit(child_adds_many(i & 1 ? soft : file));
    }
    for (int i = 0; i < 4; i++) {
        int status;
        waitpid(children[i], &status, 0);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    realm_t* realm = open_realm(soft);
    CHECK(realm && count(realm) == 400 && crealm_verify(realm, NULL));
    close_realm(realm);
}

static void lock_file_removed(void) {
    section = "lock file removed";
    const char* file = in_folder("removed.realm");
    realm_t* realm = open_realm(file);
    CHECK(add(realm, 0));
    CHECK(unlink(in_folder("removed.realm.lock")) == 0);
    /* Other processes are refused, and so is this one: realm-core could have made another lock file. */
    CHECK(in_child(child_adds, (void*)file) == RLM_ERR_INCOMPATIBLE_SESSION % 100);
    FAILS(RLM_ERR_INCOMPATIBLE_SESSION, realm_begin_write(realm));
    CHECK(count(realm) == 1);
    close_realm(realm);
    CHECK(in_child(child_adds, (void*)file) == 0);
    CHECK(fresh_count(file) == 2);
}
static bool copy_over(const char* from, const char* to, bool in_place) {
    char command[600];
    snprintf(command, sizeof command, in_place ? "cat '%s' > '%s'" : "cp '%s' '%s.new' && mv '%s.new' '%s'", from, to, to, to);
    return system(command) == 0;
}
static void file_replaced(void) {
    section = "file replaced";
    char file[128], backup[128];
    snprintf(file, sizeof file, "%s/replaced.realm", folder);
    snprintf(backup, sizeof backup, "%s/backup.realm", folder);
    for (int in_place = 0; in_place < 2; in_place++) {
        realm_t* realm = open_realm(file);
        long before = count(realm);
        CHECK(add(realm, 0));
        close_realm(realm);
        CHECK(copy_over(file, backup, false));
        realm = open_realm(file);
        CHECK(add(realm, 0) && add(realm, 0) && add(realm, 0));
        CHECK(copy_over(backup, file, in_place));
        /* The handle's data may be gone; the calls neither crash nor report corruption, and nothing is written. */
        FAILS(RLM_ERR_FILE_OPERATION_FAILED, realm_begin_write(realm));
        if (!in_place) {
            CHECK(count(realm) == before + 4);
            CHECK(in_child(child_adds, file) == RLM_ERR_INCOMPATIBLE_SESSION % 100);
            FAILS(RLM_ERR_FILE_OPERATION_FAILED, realm_begin_write(realm));
        }
        close_realm(realm);
        realm = open_realm(file);
        CHECK(realm && count(realm) == before + 1 && add(realm, 0) && crealm_verify(realm, NULL));
        close_realm(realm);
        CHECK(fresh_count(file) == before + 2);
    }
}
static void other_folder(void) {
    section = "another folder";
    char here[512];
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(chdir(folder) == 0);
    realm_t* realm = open_realm("relative.realm");
    CHECK(add(realm, 0));
    CHECK(chdir("other") == 0);
    bool did = false;
    CHECK(realm_compact(realm, &did) && did);
    CHECK(add(realm, 0));
    CHECK(access("relative.realm", F_OK) != 0 && access("relative.realm.lock", F_OK) != 0);
    close_realm(realm);
    CHECK(chdir(here) == 0);
    CHECK(fresh_count(in_folder("relative.realm")) == 2);
}
static bool last_message_has(const char* words) {
    realm_error_t error;
    return realm_get_last_error(&error) && strstr(error.message, words);
}
static void folder_renamed(void) {
    section = "folder renamed";
    char before[128], after[128], file[160];
    snprintf(before, sizeof before, "%s/before", folder);
    snprintf(after, sizeof after, "%s/after", folder);
    snprintf(file, sizeof file, "%s/file.realm", before);
    CHECK(mkdir(before, 0755) == 0);
    realm_t* realm = open_realm(file);
    CHECK(add(realm, 0) && rename(before, after) == 0);
    bool says_so = false;
    FAILS(RLM_ERR_FILE_OPERATION_FAILED, realm_begin_write(realm));
    says_so = last_message_has("The folder") && last_message_has(before);
    CHECK(says_so);
    CHECK(count(realm) == 1);
    CHECK(rename(after, before) == 0 && add(realm, 0));
    close_realm(realm);
    CHECK(fresh_count(file) == 2);
}
/* Names that are not UTF-8 are refused: nothing is opened under the name before, nor under a name that is nearly the same. */
static void names_that_are_no_text(void) {
    section = "names that are no text";
    char odd[128], inside[160];
    snprintf(odd, sizeof odd, "%s/\xFF\xFE", folder);
    snprintf(inside, sizeof inside, "%s/file.realm", odd);
    CHECK(mkdir(odd, 0755) == 0);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, in_folder("good.realm"));
    FAILS(RLM_ERR_INVALID_ARGUMENT, (realm_config_set_path(config, inside), false));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_open(config));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_config_needs_file_format_upgrade(config));
    realm_config_set_path(config, in_folder("good.realm"));
    realm_t* realm = realm_open(config);
    CHECK(realm);
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_convert_with_path(realm, inside, (realm_binary_t){NULL, 0}, false));
    close_realm(realm);
    realm_release(config);
    bool did = true;
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_delete_files(inside, &did));
    /* A valid name that leads to such a folder. */
    CHECK(symlink(odd, in_folder("way")) == 0);
    FAILS(RLM_ERR_INVALID_ARGUMENT, open_realm(in_folder("way/file.realm")));
    FAILS(RLM_ERR_INVALID_ARGUMENT, realm_delete_files(in_folder("way/file.realm"), &did));
    CHECK(rmdir(odd) == 0);
}
static void unknown_format(void) {
    section = "unknown format";
    const char* path = in_folder("format.realm");
    close_realm(open_realm(path));
    for (uint8_t format = 1; format <= 25; format += 24) {
        uint8_t formats[2] = {format, format};
        int fd = open(path, O_RDWR);
        CHECK(fd >= 0 && pwrite(fd, formats, 2, 20) == 2);
        close(fd);
        FAILS(RLM_ERR_UNSUPPORTED_FILE_FORMAT_VERSION, open_realm(path));
        bool says_all = last_message_has(path) && last_message_has(format == 1 ? "format 1," : "format 25,") && last_message_has(format == 1 ? "upgrades" : "newer");
        CHECK(says_all);
    }
}
static void lock_file_is_a_link(void) {
    section = "lock file is a link";
    const char* target = in_folder("precious");
    FILE* out = fopen(target, "w");
    fputs("precious", out);
    fclose(out);
    CHECK(symlink(target, in_folder("linked.realm.lock")) == 0);
    FAILS(RLM_ERR_FILE_OPERATION_FAILED, open_realm(in_folder("linked.realm")));
    struct stat info;
    CHECK(stat(target, &info) == 0 && info.st_size == 8);
}
static void lock_file_is_held(void) {
    section = "lock file is held";
    const char* path = in_folder("held.realm");
    close_realm(open_realm(path));
    int fd = open(in_folder("held.realm.lock"), O_RDWR);
    CHECK(fd >= 0 && flock(fd, LOCK_EX) == 0);
    FAILS(RLM_ERR_INCOMPATIBLE_LOCK_FILE, open_realm(path));
    realm_error_t error;
    bool names_it = realm_get_last_error(&error) && strstr(error.message, "flock");
    CHECK(names_it);
    close(fd);
    /* Only users who may write the database may lock it. */
    struct stat info;
    CHECK(stat(in_folder("held.realm.lock"), &info) == 0 && (info.st_mode & 077) == 0);
}

/* ---- forks */

static int child_uses_parents(void* data) {
    realm_t* realm = (realm_t*)data;
    realm_clear_last_error();
    if (realm_begin_write(realm)) return 1;
    if (last_error() != RLM_ERR_WRONG_TRANSACTION_STATE) return 2;
    realm_clear_last_error();
    if (realm_refresh(realm, NULL) || last_error() != RLM_ERR_WRONG_TRANSACTION_STATE) return 3;
    realm_release(realm);
    return 0;
}
struct pipes { int to_child[2], to_parent[2]; };
/* A child that is made inside a write transaction cannot commit it. */
static int child_commits_parents(void* data) {
    realm_t* realm = (realm_t*)data;
    realm_clear_last_error();
    if (realm_commit(realm)) return 1;
    return last_error() == RLM_ERR_WRONG_TRANSACTION_STATE ? 0 : 2;
}
static void forks(void) {
    section = "forks";
    const char* path = in_folder("forked.realm");
    realm_t* realm = open_realm(path);
    CHECK(realm_begin_write(realm));
    CHECK(in_child(child_commits_parents, realm) == 0);
    CHECK(realm_rollback(realm));
    CHECK(add(realm, 0));
    for (int i = 0; i < 20; i++) {
        int status = in_child(child_uses_parents, realm);
        if (!CHECK(status == 0)) printf("    status %d\n", status);
    }
    CHECK(add(realm, 0));
    uint64_t versions = 0;
    CHECK(realm_get_num_versions(realm, &versions) && versions <= 2);
    close_realm(realm);

    /* A writer dies inside its write transaction; a child of it, which does nothing, lives on. Other processes must not
       wait for the child. */
    int pid[2];
    CHECK(pipe(pid) == 0);
    fflush(stdout);
    pid_t writer = fork();
    if (writer == 0) {
        realm_t* mine = open_realm(path);
        if (!mine || !realm_begin_write(mine)) _exit(1);
        pid_t idle = fork();
        if (idle == 0) {
            pause();
            _exit(0);
        }
        if (write(pid[1], &idle, sizeof idle) != sizeof idle) _exit(1);
        kill(getpid(), 9);
    }
    int status;
    waitpid(writer, &status, 0);
    pid_t idle = 0;
    CHECK(WIFSIGNALED(status) && read(pid[0], &idle, sizeof idle) == sizeof idle);
    CHECK(in_child(child_adds, (void*)path) == 0);
    CHECK(fresh_count(path) == 3);
    if (idle > 0) kill(idle, 9);
    close(pid[0]);
    close(pid[1]);
}

/* ---- files that were never finished, and readers without rights */

static void never_finished(void) {
    section = "never finished";
    const char* path = in_folder("zeros.realm");
    FILE* out = fopen(path, "w");
    for (int i = 0; i < 4096; i++) fputc(0, out);
    fclose(out);
    FAILS(RLM_ERR_INVALID_DATABASE, open_mode(path, RLM_SCHEMA_MODE_READ_ONLY));
    realm_t* realm = open_realm(path);
    CHECK(realm && add(realm, 0));
    close_realm(realm);
    CHECK(fresh_count(path) == 1);
    /* A file of more than one page of zeros may have been a database. */
    const char* longer = in_folder("longer.realm");
    out = fopen(longer, "w");
    for (int i = 0; i < 65536; i++) fputc(0, out);
    fclose(out);
    FAILS(RLM_ERR_INVALID_DATABASE, open_realm(longer));
}
static int child_reads_as_other(void* data) {
    const char* path = (const char*)data;
    if (setgid(65534) || setuid(65534)) return 99;
    realm_clear_last_error();
    realm_t* realm = open_mode(path, RLM_SCHEMA_MODE_READ_ONLY);
    if (realm || last_error() != RLM_ERR_FILE_PERMISSION_DENIED) return 1;
    realm_error_t error;
    if (!realm_get_last_error(&error) || !strstr(error.message, "immutable")) return 2;
    realm = open_mode(path, RLM_SCHEMA_MODE_IMMUTABLE);
    if (!realm || count(realm) != 2) return 3;
    close_realm(realm);
    return 0;
}
static void readers_without_rights(void) {
    section = "readers without rights";
    if (geteuid() != 0) {
        printf("readers without rights, several users: left out, only root can become somebody else\n");
        return;
    }
    const char* path = in_folder("rights.realm");
    realm_t* realm = open_realm(path);
    CHECK(add(realm, 0) && add(realm, 0));
    CHECK(chmod(path, 0644) == 0 && chmod(folder, 0755) == 0);
    /* Beside a writer, and when no other process has it open. */
    CHECK(in_child(child_reads_as_other, (void*)path) == 0);
    close_realm(realm);
    CHECK(in_child(child_reads_as_other, (void*)path) == 0);
    unlink(in_folder("rights.realm.lock"));
    CHECK(in_child(child_reads_as_other, (void*)path) == 0);
}

/* A user who performs a task on a file. */
typedef enum { ADDS, READS, COMPACTS, CHANGES_KEY } task_e;
typedef struct {
    uid_t user;
    gid_t group, other_group; /* 0: none */
    task_e task;
    const char* path;
    bool dies; /* with the file open */
} someone;
static int child_acts(void* data) {
    const someone* who = (const someone*)data;
    if (who->user != 0 && (setgroups(who->other_group != 0, &who->other_group) || setgid(who->group) || setuid(who->user))) return 99;
    realm_clear_last_error();
    realm_t* realm = open_mode(who->path, who->task == READS ? RLM_SCHEMA_MODE_READ_ONLY : RLM_SCHEMA_MODE_AUTOMATIC);
    bool good = realm != NULL, done = true;
    if (good && who->task == ADDS) good = add(realm, 0);
    if (good && who->task == COMPACTS) good = realm_compact(realm, &done) && done;
    if (good && who->task == CHANGES_KEY) {
        uint8_t key[64] = "the key of a file that changes hands between users of a machine";
        realm_config_t* config = realm_config_new();
        realm_config_set_encryption_key(config, key, sizeof key);
        good = crealm_change_key(realm, config);
        realm_release(config);
    }
    realm_error_t error;
    if (!good && realm_get_last_error(&error)) {
        bool names_owner = strstr(error.message, "lock file of user ") && strstr(error.message, "may be removed when nobody has the Realm file open");
        return (int)error.error % 100 + (names_owner ? 100 : 0);
    }
    if (who->dies) _exit(0);
    close_realm(realm);
    return good ? 0 : 98;
}
/* 0, or the last two digits of the error; plus 100 when the message names the owner of the lock file that is in the
   way. */
static int acts(uid_t user, gid_t group, gid_t other_group, task_e task, const char* path, bool dies) {
    someone who = {user, group, other_group, task, path, dies};
    return in_child(child_acts, &who);
}
static bool belongs(const char* path, uid_t user, gid_t group, mode_t mode) {
    struct stat info;
    bool good = stat(path, &info) == 0 && info.st_uid == user && info.st_gid == group && (info.st_mode & 07777) == mode;
    if (!good) printf("%s: user %d, group %d, mode %o\n", path, (int)info.st_uid, (int)info.st_gid, (unsigned)info.st_mode & 07777);
    return good;
}
static bool is_missing(const char* path) { return access(path, F_OK) != 0; }
/* A file of user 1000 in its own folder. */
static void make_users_file(const char* file, const char* lock, gid_t group, mode_t mode) {
    CHECK(acts(1000, 1000, 0, ADDS, file, false) == 0);
    CHECK(chown(file, 1000, group) == 0 && chmod(file, mode) == 0 && unlink(lock) == 0);
}
static void several_users(void) {
    section = "several users";
    if (geteuid() != 0) return;
    char shared[100], file[128], lock[160];
    snprintf(shared, sizeof shared, "%s/users", folder);
    snprintf(file, sizeof file, "%s/users.realm", shared);
    snprintf(lock, sizeof lock, "%s.lock", file);
    mode_t mask = umask(022);
    CHECK(chmod(folder, 0755) == 0 && mkdir(shared, 0755) == 0 && chown(shared, 1000, 1000) == 0);

    /* A lock file that root creates belongs to the file's owner: also after a crash, or when root only reads. */
    make_users_file(file, lock, 1000, 0644);
    CHECK(acts(0, 0, 0, ADDS, file, false) == 0 && belongs(lock, 1000, 1000, 0600));
    CHECK(acts(1000, 1000, 0, ADDS, file, false) == 0);
    CHECK(unlink(lock) == 0 && acts(0, 0, 0, READS, file, true) == 0 && belongs(lock, 1000, 1000, 0600));
    CHECK(acts(1000, 1000, 0, ADDS, file, false) == 0);
    /* A process with the rights corrects a lock file that has the wrong owner. */
    CHECK(chown(lock, 0, 0) == 0 && acts(1000, 1000, 0, ADDS, file, false) == 100 + RLM_ERR_FILE_PERMISSION_DENIED % 100);
    CHECK(acts(0, 0, 0, ADDS, file, false) == 0 && acts(1000, 1000, 0, ADDS, file, false) == 0);
    /* Wider permissions that were set by hand stay. */
    CHECK(chmod(lock, 0666) == 0 && acts(1000, 1000, 0, ADDS, file, false) == 0 && belongs(lock, 1000, 1000, 0666));
    CHECK(acts(65534, 65534, 0, READS, file, false) == 0);

    /* A user who may only read creates no lock file, even if the folder permits it. */
    CHECK(chmod(shared, 01777) == 0 && unlink(lock) == 0);
    CHECK(acts(65534, 65534, 0, READS, file, true) == RLM_ERR_FILE_PERMISSION_DENIED % 100 && is_missing(lock));
    CHECK(acts(1000, 1000, 0, ADDS, file, false) == 0);
    /* The owner may, whatever the mode of the file. */
    CHECK(unlink(lock) == 0 && chmod(file, 0444) == 0 && acts(1000, 1000, 0, READS, file, true) == 0 && belongs(lock, 1000, 1000, 0600));
    CHECK(acts(1000, 1000, 0, READS, file, false) == 0);
    CHECK(unlink(file) == 0 && unlink(lock) == 0);

    /* A member of a group that may write: the lock file is for the group, and is removed when its creator closes it,
       because the owner may not be a member. */
    CHECK(chmod(shared, 0777) == 0);
    make_users_file(file, lock, 2000, 0664);
    CHECK(acts(1001, 1001, 2000, ADDS, file, false) == 0 && is_missing(lock));
    CHECK(acts(1000, 1000, 0, ADDS, file, false) == 0 && unlink(lock) == 0);
    CHECK(acts(1001, 1001, 2000, ADDS, file, true) == 0 && belongs(lock, 1001, 2000, 0660));
    CHECK(acts(1002, 1002, 2000, ADDS, file, false) == 0);
    CHECK(acts(1000, 1000, 2000, ADDS, file, false) == 0);
    CHECK(acts(1000, 1000, 0, ADDS, file, false) == 100 + RLM_ERR_FILE_PERMISSION_DENIED % 100);
    /* The owner, who is not in the file's group, gives no group access to the lock file. */
    CHECK(unlink(lock) == 0 && acts(1000, 1000, 0, ADDS, file, false) == 0 && belongs(lock, 1000, 1000, 0600));
    CHECK(unlink(lock) == 0 && acts(1000, 1000, 2000, ADDS, file, false) == 0 && belongs(lock, 1000, 2000, 0660));

    /* A rewritten file keeps its owner, group and mode. */
    CHECK(chmod(file, 0640) == 0);
    CHECK(acts(0, 0, 0, COMPACTS, file, false) == 0 && belongs(file, 1000, 2000, 0640));
    CHECK(chmod(file, 0664) == 0 && acts(1001, 1001, 2000, COMPACTS, file, false) == 0 && belongs(file, 1001, 2000, 0664));
    /* A file that cannot keep its group gives no other group access. */
    CHECK(chown(file, 1000, 2000) == 0 && acts(1000, 1000, 0, COMPACTS, file, false) == 0 && belongs(file, 1000, 1000, 0644));
    CHECK(acts(0, 0, 0, CHANGES_KEY, file, false) == 0 && belongs(file, 1000, 1000, 0644));
    umask(mask);
}

int main(void) {
    strcpy(folder, "/tmp/crealm-names-XXXXXX");
    if (!mkdtemp(folder) || mkdir(in_folder("other"), 0755)) give_up();
    several_names();
    writers_under_two_names();
    lock_file_removed();
    file_replaced();
    other_folder();
    folder_renamed();
    names_that_are_no_text();
    unknown_format();
    lock_file_is_a_link();
    lock_file_is_held();
    forks();
    never_finished();
    readers_without_rights();
    several_users();
    return finished(folder);
}
