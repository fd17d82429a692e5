/* What Swift has no word for. */
#pragma once
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
