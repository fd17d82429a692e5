/*
 * shim.c - a preloaded library that logs the changes of one file by a process.
 *
 * SHIM_FILE names the file and SHIM_LOG the log. A record is three numbers of 64 bits: kind (1 write, 2 truncate, 3 flush,
 * 4 mark), position, size; after a write its bytes. shim_mark(n) logs a mark.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int log_fd = -1;
static int watched(int fd) {
    static __thread int inside;
    const char* name = getenv("SHIM_FILE");
    if (!name || inside) return 0;
    struct stat a, b;
    inside = 1;
    int same = fstat(fd, &a) == 0 && stat(name, &b) == 0 && a.st_ino == b.st_ino && a.st_dev == b.st_dev;
    inside = 0;
    if (same && log_fd < 0) log_fd = open(getenv("SHIM_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return same;
}
static void record(uint64_t kind, uint64_t at, uint64_t size, const void* data) {
    uint64_t head[3] = {kind, at, size};
    if (write(log_fd, head, sizeof head) != sizeof head || (kind == 1 && write(log_fd, data, size) != (ssize_t)size)) abort();
}
void shim_mark(uint64_t n) {
    if (log_fd < 0) log_fd = open(getenv("SHIM_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    record(4, n, 0, NULL);
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t pwrite(int fd, const void* data, size_t n, off_t at) {
    ssize_t done = REAL(pwrite)(fd, data, n, at);
    if (done > 0 && watched(fd)) record(1, (uint64_t)at, (uint64_t)done, data);
    return done;
}
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t at) {
    ssize_t done = REAL(pwrite64)(fd, data, n, at);
    if (done > 0 && watched(fd)) record(1, (uint64_t)at, (uint64_t)done, data);
    return done;
}
ssize_t pwritev(int fd, const struct iovec* parts, int n, off_t at) {
    ssize_t done = REAL(pwritev)(fd, parts, n, at), left = done;
    if (done > 0 && watched(fd))
        for (int i = 0; left > 0; i++) {
            size_t size = parts[i].iov_len < (size_t)left ? parts[i].iov_len : (size_t)left;
            record(1, (uint64_t)at, size, parts[i].iov_base);
            at += (off_t)size, left -= (ssize_t)size;
        }
    return done;
}
int ftruncate(int fd, off_t size) {
    int done = REAL(ftruncate)(fd, size);
    if (done == 0 && watched(fd)) record(2, 0, (uint64_t)size, NULL);
    return done;
}
int ftruncate64(int fd, off64_t size) {
    int done = REAL(ftruncate64)(fd, size);
    if (done == 0 && watched(fd)) record(2, 0, (uint64_t)size, NULL);
    return done;
}
int posix_fallocate(int fd, off_t at, off_t size) {
    int done = REAL(posix_fallocate)(fd, at, size);
    struct stat s;
    if (done == 0 && watched(fd) && fstat(fd, &s) == 0) record(2, 0, (uint64_t)s.st_size, NULL);
    return done;
}
int posix_fallocate64(int fd, off64_t at, off64_t size) {
    int done = REAL(posix_fallocate64)(fd, at, size);
    struct stat s;
    if (done == 0 && watched(fd) && fstat(fd, &s) == 0) record(2, 0, (uint64_t)s.st_size, NULL);
    return done;
}
int fallocate(int fd, int mode, off_t at, off_t size) {
    int done = REAL(fallocate)(fd, mode, at, size);
    struct stat s;
    if (done == 0 && watched(fd) && fstat(fd, &s) == 0) record(2, 0, (uint64_t)s.st_size, NULL);
    return done;
}
int fdatasync(int fd) {
    int done = REAL(fdatasync)(fd);
    if (watched(fd)) record(3, 0, 0, NULL);
    return done;
}
int fsync(int fd) {
    int done = REAL(fsync)(fd);
    if (watched(fd)) record(3, 0, 0, NULL);
    return done;
}
