/* What Swift has no word for. */
#pragma once
#include <errno.h>
#include <stdint.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <unistd.h>
#endif
/* Asks the processor to bring a cache line in. Any address is allowed. */
static inline void hint_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }
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
