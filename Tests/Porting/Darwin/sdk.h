/* What the engine uses of Apple's C library, in the types of a 64-bit system; written by hand, no copy of Apple's headers. */
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef long ssize_t;
typedef int64_t off_t;
typedef uint16_t mode_t;
typedef uint32_t uid_t, gid_t, useconds_t;
typedef int32_t pid_t, dev_t;
typedef uint64_t rlim_t;
typedef unsigned nfds_t;
struct timespec { long tv_sec, tv_nsec; };
typedef enum { CLOCK_REALTIME = 0, CLOCK_MONOTONIC = 6 } clockid_t;
struct stat {
    dev_t st_dev;
    mode_t st_mode;
    uint16_t st_nlink;
    uint64_t st_ino;
    uid_t st_uid;
    gid_t st_gid;
    struct timespec st_mtimespec;
    off_t st_size;
};
#define RLIMIT_NOFILE 8
#define RTLD_LAZY 0x1
#define RTLD_LOCAL 0x4
struct statvfs { unsigned long f_bsize, f_frsize; unsigned f_blocks, f_bfree, f_bavail; };
typedef struct { int descriptor; } DIR;
struct dirent { uint64_t d_ino; uint16_t d_namlen; uint8_t d_type; char d_name[1024]; };
struct flock { off_t l_start, l_len; pid_t l_pid; short l_type, l_whence; };
typedef struct _opaque_pthread_t { long signature; char opaque[8176]; } *pthread_t;
typedef struct { long signature; char opaque[56]; } pthread_mutex_t;
typedef struct { long signature; char opaque[56]; } pthread_attr_t;
typedef struct { long signature; char opaque[40]; } pthread_cond_t;
typedef struct { long signature; char opaque[8]; } pthread_mutexattr_t;
typedef struct { long signature; char opaque[8]; } pthread_condattr_t;
typedef unsigned long pthread_key_t;
typedef uint32_t sigset_t, mach_port_t;
typedef struct { int si_signo, si_errno, si_code; void *si_addr; } siginfo_t;
struct sigaction {
    union { void (*sa_handler)(int); void (*sa_sigaction)(int, siginfo_t *, void *); };
    sigset_t sa_mask;
    int sa_flags;
};
#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define MAP_FAILED ((void *)-1)
extern int *__error(void);
#define errno (*__error())
#define EAGAIN 35
#define ENOTSUP 45
#define ELOOP 62
#define EDQUOT 69
#define ENOSYS 78
#define EOVERFLOW 84
#define EILSEQ 92
#define O_NONBLOCK 4
#define O_NOFOLLOW 0x100
#define O_CREAT 0x200
#define O_EXCL 0x800
#define O_CLOEXEC 0x1000000
#define F_DUPFD_CLOEXEC 67
#define F_FULLFSYNC 51
#define F_RDLCK 1
#define F_UNLCK 2
#define F_WRLCK 3
#define MAP_NORESERVE 0x40
#define MAP_ANONYMOUS 0x1000
#define _SC_PAGESIZE 29
#define _SC_PHYS_PAGES 200
#define RLIMIT_FSIZE 1
#define NAME_MAX 255
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGBUS 10
#define SIGSEGV 11
#define SIG_SETMASK 3
#define SEGV_MAPERR 1
#define SA_ONSTACK 1
#define SA_RESTART 2
#define SA_RESETHAND 4
#define SA_NODEFER 16
#define SA_SIGINFO 64
#define PTHREAD_CREATE_DETACHED 2
/* Most headers say nothing of null; pthread.h says that there is none unless it says so. */
#define PRESENT
#define ABSENT
#define MAPPED
#define PRESENT_THREAD _Nonnull
#include "../common.h"
int pthread_create(pthread_t _Nullable *_Nonnull thread, const pthread_attr_t *_Nullable attributes, void *_Nullable (*_Nonnull run)(void *_Nonnull),
                   void *_Nullable context);
int pthread_key_create(pthread_key_t *_Nonnull key, void (*_Nullable end)(void *_Nonnull));
int pthread_cond_timedwait_relative_np(pthread_cond_t *_Nonnull condition, pthread_mutex_t *_Nonnull mutex, const struct timespec *_Nullable time);
mach_port_t pthread_mach_thread_np(pthread_t _Nonnull thread);
size_t pthread_get_stacksize_np(pthread_t _Nonnull thread);
void *_Nonnull pthread_get_stackaddr_np(pthread_t _Nonnull thread);
