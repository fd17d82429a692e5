/*
 * common.h - the part of POSIX that the engine uses, for check_ports.py: declarations to type-check against where a system's own headers are not
 * there. sdk.h of each system comes first and says what differs: the types, the numbers, and which pointers are said to be null or not.
 */
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* errno.h */
#define EPERM 1
#define ENOENT 2
#define ESRCH 3
#define EINTR 4
#define EIO 5
#define ENXIO 6
#define E2BIG 7
#define ENOEXEC 8
#define EBADF 9
#define ECHILD 10
#define ENOMEM 12
#define EACCES 13
#define EFAULT 14
#define EEXIST 17
#define ENOTDIR 20
#define EISDIR 21
#define EINVAL 22
#define ENFILE 23
#define EMFILE 24
#define EFBIG 27
#define ENOSPC 28
#define EROFS 30

/* fcntl.h, unistd.h */
#define O_RDONLY 0
#define O_RDWR 2
#define F_OK 0
#define W_OK 2
#define F_SETFD 2
#define F_SETFL 4
#define FD_CLOEXEC 1
#define SEEK_SET 0
int open(const char *PRESENT path, int flags, ...);
int fcntl(int fd, int command, ...);
int close(int fd);
ssize_t read(int fd, void *PRESENT buffer, size_t count);
ssize_t write(int fd, const void *PRESENT buffer, size_t count);
off_t lseek(int fd, off_t offset, int whence);
ssize_t pread(int fd, void *PRESENT buffer, size_t count, off_t offset);
ssize_t pwrite(int fd, const void *PRESENT buffer, size_t count, off_t offset);
int ftruncate(int fd, off_t size);
int fsync(int fd);
int pipe(int *PRESENT ends);
int access(const char *PRESENT path, int mode);
int link(const char *PRESENT from, const char *PRESENT to);
int unlink(const char *PRESENT path);
int rmdir(const char *PRESENT path);
int fchown(int fd, uid_t user, gid_t group);
uid_t geteuid(void);
pid_t getpid(void);
int usleep(useconds_t microseconds);
long sysconf(int name);
#define LOCK_SH 1
#define LOCK_EX 2
#define LOCK_NB 4
#define LOCK_UN 8
int flock(int fd, int operation);

/* stdio.h, stdlib.h, string.h, math.h */
int rename(const char *PRESENT from, const char *PRESENT to);
int vsnprintf(char *ABSENT text, size_t size, const char *PRESENT format, va_list arguments);
void *ABSENT malloc(size_t size);
void *ABSENT realloc(void *ABSENT block, size_t size);
void free(void *ABSENT block);
char *ABSENT getenv(const char *PRESENT name);
char *ABSENT realpath(const char *PRESENT path, char *ABSENT resolved);
void *PRESENT memcpy(void *PRESENT to, const void *PRESENT from, size_t count);
void *PRESENT memmove(void *PRESENT to, const void *PRESENT from, size_t count);
void *PRESENT memset(void *PRESENT at, int byte, size_t count);
int memcmp(const void *PRESENT a, const void *PRESENT b, size_t count);
size_t strlen(const char *PRESENT text);
char *ABSENT strdup(const char *PRESENT text);
char *PRESENT strerror(int code);
double sin(double x);
double cos(double x);
double sqrt(double x);
double atan2(double y, double x);

/* sys/stat.h, sys/statvfs.h, dirent.h */
int stat(const char *PRESENT path, struct stat *PRESENT info);
int fstat(int fd, struct stat *PRESENT info);
int fchmod(int fd, mode_t mode);
int statvfs(const char *PRESENT path, struct statvfs *PRESENT info);
DIR *ABSENT opendir(const char *PRESENT path);
struct dirent *ABSENT readdir(DIR *PRESENT folder);
int closedir(DIR *PRESENT folder);

/* sys/mman.h */
#define PROT_NONE 0
#define PROT_READ 1
#define PROT_WRITE 2
#define MAP_SHARED 1
#define MAP_PRIVATE 2
#define MAP_FIXED 16
#define MADV_DONTNEED 4
void *MAPPED mmap(void *ABSENT address, size_t size, int protection, int flags, int fd, off_t offset);
int munmap(void *PRESENT address, size_t size);
int mprotect(void *PRESENT address, size_t size, int protection);
int madvise(void *PRESENT address, size_t size, int advice);

/* sys/resource.h, poll.h, time.h */
struct rlimit { rlim_t rlim_cur, rlim_max; };
int getrlimit(int resource, struct rlimit *PRESENT limit);
struct pollfd { int fd; short events, revents; };
#define POLLIN 1
int poll(struct pollfd *ABSENT descriptors, nfds_t count, int milliseconds);
int clock_gettime(clockid_t clock, struct timespec *PRESENT time);

/* pthread.h: functions whose pointers are said to be null or not in different ways stand in sdk.h */
int pthread_mutex_init(pthread_mutex_t *PRESENT mutex, const pthread_mutexattr_t *ABSENT attributes);
int pthread_mutex_destroy(pthread_mutex_t *PRESENT mutex);
int pthread_mutex_lock(pthread_mutex_t *PRESENT mutex);
int pthread_mutex_unlock(pthread_mutex_t *PRESENT mutex);
int pthread_cond_init(pthread_cond_t *PRESENT condition, const pthread_condattr_t *ABSENT attributes);
int pthread_cond_destroy(pthread_cond_t *PRESENT condition);
int pthread_cond_broadcast(pthread_cond_t *PRESENT condition);
int pthread_cond_wait(pthread_cond_t *PRESENT condition, pthread_mutex_t *PRESENT mutex);
int pthread_condattr_init(pthread_condattr_t *PRESENT attributes);
int pthread_condattr_destroy(pthread_condattr_t *PRESENT attributes);
void *ABSENT pthread_getspecific(pthread_key_t key);
int pthread_setspecific(pthread_key_t key, const void *ABSENT pointer);
int pthread_attr_init(pthread_attr_t *PRESENT attributes);
int pthread_attr_destroy(pthread_attr_t *PRESENT attributes);
int pthread_attr_setdetachstate(pthread_attr_t *PRESENT attributes, int state);
int pthread_sigmask(int how, const sigset_t *ABSENT set, sigset_t *ABSENT before);
void *ABSENT dlopen(const char *ABSENT name, int mode);
void *ABSENT dlsym(void *ABSENT handle, const char *PRESENT name);
int pthread_atfork(void (*ABSENT before)(void), void (*ABSENT after)(void), void (*ABSENT child)(void));
pthread_t PRESENT_THREAD pthread_self(void);

/* signal.h */
int sigfillset(sigset_t *PRESENT set);
int sigdelset(sigset_t *PRESENT set, int signal);
int sigaction(int signal, const struct sigaction *ABSENT action, struct sigaction *ABSENT before);
int raise(int signal);
