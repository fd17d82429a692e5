/* What Swift has no word for. */
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
/* Asks the processor to bring a cache line in. Any address is allowed. */
static inline void hint_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }
/* What pthread_self returns, whose type each C library has its own of. */
#if defined(__linux__) && defined(__x86_64__) && !defined(__ANDROID__)
/* The same without a call. Volatile: a task may go on in another thread behind each of its suspensions. */
static inline uintptr_t hint_thread_id(void) {
    uintptr_t id;
    __asm__ volatile("mov %%fs:0, %0" : "=r"(id));
    return id;
}
#else
static inline uintptr_t hint_thread_id(void) { return (uintptr_t)pthread_self(); }
#endif
/* The stack of the calling thread, from its lowest address: 0 when it is known. */
#ifdef __linux__
/* Declared only where a program asks for more than standards say. */
extern int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes);
#endif
static inline int hint_stack(void **lowest, size_t *size) {
#ifdef __APPLE__
    *size = pthread_get_stacksize_np(pthread_self());
    *lowest = (char *)pthread_get_stackaddr_np(pthread_self()) - *size;
    return 0;
#else
    pthread_attr_t attributes;
    int code = pthread_getattr_np(pthread_self(), &attributes);
    if (code != 0) return code;
    code = pthread_attr_getstack(&attributes, lowest, size);
    pthread_attr_destroy(&attributes);
    return code;
#endif
}
/* The compiler moves no load or store over this; it costs nothing. */
static inline void hint_keep_order(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
/* The system's membarrier (command 8, which command 16 allows first): 0 when it was done. */
static inline long hint_membarrier(int command) {
#ifdef SYS_membarrier
    return syscall(SYS_membarrier, command, 0, 0);
#else
    (void)command;
    return -1;
#endif
}
/* futex(2), which the C library has no function for. */
static inline long hint_futex(uint32_t *word, int operation, uint32_t value, uintptr_t second, uint32_t *other, uint32_t third) {
#ifdef SYS_futex
    return syscall(SYS_futex, word, operation, value, second, other, third);
#else
    (void)word, (void)operation, (void)value, (void)second, (void)other, (void)third;
    errno = ENOSYS;
    return -1;
#endif
}
/* What the system calls the calling thread: gettid(2), the same; on Apple systems its Mach port. 0: it has no number. */
static inline int32_t hint_gettid(void) {
#ifdef SYS_gettid
    return (int32_t)syscall(SYS_gettid);
#elif defined(__APPLE__)
    return (int32_t)pthread_mach_thread_np(pthread_self());
#else
    return 0;
#endif
}
/* memfd_create(2) and copy_file_range(2), whose declarations Swift does not see. */
static inline int hint_memory_file(const char *name, unsigned flags) {
#ifdef SYS_memfd_create
    return (int)syscall(SYS_memfd_create, name, flags);
#else
    (void)name, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}
static inline intptr_t hint_copy_file_range(int from, int64_t *from_offset, int to, int64_t *to_offset, uintptr_t count, unsigned flags) {
#ifdef SYS_copy_file_range
    return (intptr_t)syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags);
#else
    (void)from, (void)from_offset, (void)to, (void)to_offset, (void)count, (void)flags;
    errno = ENOSYS;
    return -1;
#endif
}
/* The flag of open(2) that makes a file without a name in a folder; 0: there is none. */
#if defined(O_TMPFILE)
static const int hint_nameless = O_TMPFILE;
#elif defined(__O_TMPFILE)
static const int hint_nameless = __O_TMPFILE | O_DIRECTORY;
#else
static const int hint_nameless = 0;
#endif
/* Overwrites the vector registers of the calling thread, through which memory is moved. */
#if defined(__x86_64__)
#include <cpuid.h>
__attribute__((noinline, target("avx"))) static void hint_zero_wide_registers(void) { __asm__ volatile("vzeroall" ::: "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"); }
__attribute__((noinline, target("avx512f"))) static void hint_zero_upper_registers(void) {
    __asm__ volatile("vpxorq %%zmm16, %%zmm16, %%zmm16; vpxorq %%zmm17, %%zmm17, %%zmm17; vpxorq %%zmm18, %%zmm18, %%zmm18; vpxorq %%zmm19, %%zmm19, %%zmm19;"
                     "vpxorq %%zmm20, %%zmm20, %%zmm20; vpxorq %%zmm21, %%zmm21, %%zmm21; vpxorq %%zmm22, %%zmm22, %%zmm22; vpxorq %%zmm23, %%zmm23, %%zmm23;"
                     "vpxorq %%zmm24, %%zmm24, %%zmm24; vpxorq %%zmm25, %%zmm25, %%zmm25; vpxorq %%zmm26, %%zmm26, %%zmm26; vpxorq %%zmm27, %%zmm27, %%zmm27;"
                     "vpxorq %%zmm28, %%zmm28, %%zmm28; vpxorq %%zmm29, %%zmm29, %%zmm29; vpxorq %%zmm30, %%zmm30, %%zmm30; vpxorq %%zmm31, %%zmm31, %%zmm31" ::
                         : "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23",
                           "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30", "xmm31");
}
static inline void hint_zero_vector_registers(void) {
    unsigned a, b, c = 0, d, low = 0, high = 0;
    /* Whether the processor has the wide ones and the system keeps them. */
    if (__get_cpuid(1, &a, &b, &c, &d) && (c >> 27 & 3) == 3) __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    /* The same for those from 16 on. */
    if ((low & 0xE6) == 0xE6 && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 16 & 1)) hint_zero_upper_registers();
    if ((low & 6) == 6) return hint_zero_wide_registers();
    __asm__ volatile("pxor %%xmm0, %%xmm0; pxor %%xmm1, %%xmm1; pxor %%xmm2, %%xmm2; pxor %%xmm3, %%xmm3; pxor %%xmm4, %%xmm4; pxor %%xmm5, %%xmm5;"
                     "pxor %%xmm6, %%xmm6; pxor %%xmm7, %%xmm7; pxor %%xmm8, %%xmm8; pxor %%xmm9, %%xmm9; pxor %%xmm10, %%xmm10;"
                     "pxor %%xmm11, %%xmm11; pxor %%xmm12, %%xmm12; pxor %%xmm13, %%xmm13; pxor %%xmm14, %%xmm14; pxor %%xmm15, %%xmm15" ::
                         : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13",
                           "xmm14", "xmm15");
}
#elif defined(__aarch64__)
static inline void hint_zero_vector_registers(void) {
    __asm__ volatile("movi v0.2d, #0; movi v1.2d, #0; movi v2.2d, #0; movi v3.2d, #0; movi v4.2d, #0; movi v5.2d, #0; movi v6.2d, #0; movi v7.2d, #0;"
                     "movi v8.2d, #0; movi v9.2d, #0; movi v10.2d, #0; movi v11.2d, #0; movi v12.2d, #0; movi v13.2d, #0; movi v14.2d, #0; movi v15.2d, #0;"
                     "movi v16.2d, #0; movi v17.2d, #0; movi v18.2d, #0; movi v19.2d, #0; movi v20.2d, #0; movi v21.2d, #0; movi v22.2d, #0; movi v23.2d, #0;"
                     "movi v24.2d, #0; movi v25.2d, #0; movi v26.2d, #0; movi v27.2d, #0; movi v28.2d, #0; movi v29.2d, #0; movi v30.2d, #0; movi v31.2d, #0;" ::
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15",
                       "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}
#else
static inline void hint_zero_vector_registers(void) {}
#endif
/* Whether an executor, given by its two words, is the one that the caller runs on: what assumeIsolated of an actor asks the runtime, but without the
   flag that ends the program where the answer is no. Part of the ABI of libswift_Concurrency; only who calls it needs that library. */
extern __attribute__((swiftcall)) _Bool swift_task_isCurrentExecutorWithFlags(void *identity, void *implementation, uintptr_t flags);
static inline _Bool hint_is_current_executor(void *identity, void *implementation) {
    return swift_task_isCurrentExecutorWithFlags(identity, implementation, 0);
}
