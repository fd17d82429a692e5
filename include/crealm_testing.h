/*
 * crealm_testing.h - for tests of the library itself; programs that use the library do not need this header.
 *
 * The library accesses files, maps and locks only through one table of functions, by default those of the C
 * library. A test replaces them by its own functions: to record calls, to let them fail, to simulate a disk.
 * The table is not part of the versioned interface and changes with the library.
 */

#ifndef CREALM_TESTING_H
#define CREALM_TESTING_H

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __clang__
#pragma clang assume_nonnull begin
#define CREALM_MAYBE_NULL _Nullable
#else
#define CREALM_MAYBE_NULL
#endif

/** The library's calls to the operating system. Each member has the arguments and results of the C function
 *  of its name; errors are in errno. The variable arguments of open() and fcntl() have their types here. */
typedef struct crealm_system_calls {
    /* Descriptors */
    int (*open)(const char* path, int flags, int mode);
    int (*close)(int fd);
    int (*fcntl_number)(int fd, int command, int argument);
    int (*fcntl_lock)(int fd, int command, struct flock* lock);
    int (*flock)(int fd, int operation);

    /* Bytes */
    ssize_t (*pread)(int fd, void* buffer, size_t count, off_t offset);
    ssize_t (*pwrite)(int fd, const void* buffer, size_t count, off_t offset);
    int (*ftruncate)(int fd, off_t size);
    int (*posix_fallocate)(int fd, off_t offset, off_t size); /* the error is the result */
    ssize_t (*copy_file_range)(int from, int64_t* from_offset, int to, int64_t* to_offset, size_t count, unsigned flags);
    int (*memfd_create)(const char* name, unsigned flags);
    int (*fdatasync)(int fd); /* on Apple systems F_FULLFSYNC, which reaches the medium */
    int (*fsync)(int fd);

    /* Metadata of files */
    int (*fstat)(int fd, struct stat* info);
    int (*stat)(const char* path, struct stat* info);
    int (*statvfs)(const char* path, struct statvfs* info);
    int (*access)(const char* path, int mode);
    int (*fchmod)(int fd, mode_t mode);
    int (*fchown)(int fd, uid_t user, gid_t group);

    /* Names */
    int (*rename)(const char* from, const char* to);
    int (*link)(const char* from, const char* to);
    int (*unlink)(const char* path);
    int (*rmdir)(const char* path);
    char* CREALM_MAYBE_NULL (*realpath)(const char* path, char* CREALM_MAYBE_NULL resolved);
    DIR* CREALM_MAYBE_NULL (*opendir)(const char* path);
    struct dirent* CREALM_MAYBE_NULL (*readdir)(DIR* folder);
    int (*closedir)(DIR* folder);

    /* Maps */
    void* CREALM_MAYBE_NULL (*mmap)(void* CREALM_MAYBE_NULL address, size_t size, int protection,
                                    int flags, int fd, off_t offset);
    int (*munmap)(void* address, size_t size);
    int (*mprotect)(void* address, size_t size, int protection);
    int (*madvise)(void* address, size_t size, int advice);

    /* Process and time */
    pid_t (*getpid)(void);
    pid_t (*gettid)(void); /* on Apple systems the thread's Mach port */
    int (*usleep)(unsigned microseconds);
    int (*clock_gettime)(clockid_t clock, struct timespec* time);

    /* start_thread runs a function on a new thread; the error is the result. futex is futex(2): after the
       operation come the value, the second value or the time, the second word, and the third value. */
    int (*start_thread)(void (*run)(void* context), void* context);
    long (*futex)(uint32_t* word, int operation, uint32_t value, uintptr_t second, uint32_t* CREALM_MAYBE_NULL other,
                  uint32_t third);
} crealm_system_calls_t;

#ifdef __clang__
#pragma clang assume_nonnull end
#endif

/** Replaces the calls to the operating system, for the whole library.
 *
 *  calls:  [optional]; copied. A NULL member means the C library's function; calls == NULL means all of them.
 *  Thread: any, but no other thread may be inside the library.
 *  Errors: none. */
void crealm_set_system_calls(const crealm_system_calls_t* CREALM_MAYBE_NULL calls);

#ifdef __cplusplus
}
#endif

#endif /* CREALM_TESTING_H */
