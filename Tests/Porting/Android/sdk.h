/* What the engine uses of Android's C library, in the types of a 64-bit system; written by hand, no copy of Android's headers. */
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef long ssize_t;
typedef int64_t off_t;
typedef uint32_t mode_t, uid_t, gid_t, useconds_t, socklen_t;
typedef int32_t pid_t;
typedef uint64_t dev_t;
typedef unsigned long rlim_t;
typedef unsigned nfds_t;
typedef int clockid_t;
#define CLOCK_REALTIME 0
#define CLOCK_MONOTONIC 1
struct timespec { long tv_sec, tv_nsec; };
struct stat {
    dev_t st_dev;
    uint64_t st_ino;
    mode_t st_mode;
    uint32_t st_nlink;
    uid_t st_uid;
    gid_t st_gid;
    off_t st_size;
    struct timespec st_mtim;
};
#define RLIMIT_NOFILE 7
#define RTLD_LAZY 0x1
#define RTLD_LOCAL 0
struct statvfs { unsigned long f_bsize, f_frsize; uint64_t f_blocks, f_bfree, f_bavail; };
typedef struct DIR DIR;
struct dirent { uint64_t d_ino; int64_t d_off; unsigned short d_reclen; unsigned char d_type; char d_name[256]; };
struct flock { short l_type, l_whence; off_t l_start, l_len; pid_t l_pid; };
typedef long pthread_t;
typedef struct { int32_t words[10]; } pthread_mutex_t;
typedef struct { int32_t words[12]; } pthread_cond_t;
typedef long pthread_mutexattr_t, pthread_condattr_t;
typedef struct { uint32_t flags; void *_Nullable base; size_t size, guard; int32_t policy, priority; } pthread_attr_t;
typedef int pthread_key_t;
typedef unsigned long sigset_t;
typedef struct { int si_signo, si_errno, si_code; void *_Nullable si_addr; } siginfo_t;
struct sigaction {
    int sa_flags;
    union { void (*_Nullable sa_handler)(int); void (*_Nullable sa_sigaction)(int, siginfo_t *_Nonnull, void *_Nullable); };
    sigset_t sa_mask;
};
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define MAP_FAILED ((void *)-1)
extern int *_Nonnull __errno(void);
#define errno (*__errno())
#define EAGAIN 11
#define ENOSYS 38
#define ELOOP 40
#define EOVERFLOW 75
#define EILSEQ 84
#define ENOTSUP 95
#define EDQUOT 122
#define O_CREAT 0x40
#define O_EXCL 0x80
#define O_NONBLOCK 0x800
#define O_NOFOLLOW 0x8000
#define O_CLOEXEC 0x80000
#define O_TMPFILE 0x404000
#define F_DUPFD_CLOEXEC 1030
#define F_RDLCK 0
#define F_WRLCK 1
#define F_UNLCK 2
#define MAP_ANONYMOUS 0x20
#define MAP_NORESERVE 0x4000
#define _SC_PAGESIZE 0x28
#define _SC_PHYS_PAGES 0x62
#define RLIMIT_FSIZE 1
#define NAME_MAX 255
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGBUS 7
#define SIGFPE 8
#define SIGSEGV 11
#define SIG_SETMASK 2
#define SEGV_MAPERR 1
#define SA_SIGINFO 4
#define SA_ONSTACK 0x08000000
#define SA_RESTART 0x10000000
#define SA_NODEFER 0x40000000
#define SA_RESETHAND (int)0x80000000
#define PTHREAD_CREATE_DETACHED 1
#define SYS_futex 98
#define SYS_gettid 178
#define SYS_memfd_create 279
#define SYS_membarrier 283
#define SYS_copy_file_range 285
/* The headers say of every pointer whether it may be null. */
#define PRESENT _Nonnull
#define ABSENT _Nullable
#define MAPPED _Nonnull
#define PRESENT_THREAD
#include "../common.h"
int pthread_attr_getstack(const pthread_attr_t *_Nonnull attributes, void *_Nullable *_Nonnull lowest, size_t *_Nonnull size);
int pthread_getattr_np(pthread_t thread, pthread_attr_t *_Nonnull attributes);
int pthread_create(pthread_t *_Nonnull thread, pthread_attr_t const *_Nullable attributes, void *_Nonnull (*_Nonnull run)(void *_Nonnull),
                   void *_Nullable context);
int pthread_key_create(pthread_key_t *_Nonnull key, void (*_Nullable end)(void *_Nullable));
int pthread_cond_timedwait(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, const struct timespec *_Nullable time);
int pthread_condattr_setclock(pthread_condattr_t *_Nonnull attributes, clockid_t clock);
int fdatasync(int fd);
int posix_fallocate(int fd, off_t offset, off_t size);
long syscall(long number, ...);
