/*
 * fork_guard.h - what makes the library safe to use in a forked child, whatever the parent's other threads were doing.
 *
 * A child has one thread, and a copy of all memory as it was at that moment: a lock that another thread held stays locked in it for ever, and
 * what that lock guards may be half changed. So
 *   - the few locks of the whole process lie here, and fork() takes them all first, in their order;
 *   - everything else that existed at the fork (the parent's open files, transactions, handles) is not touched in the child at all: it is told
 *     by the number of the fork before which it was made;
 *   - descriptors that hold locks on files are closed in the child at once, or it would keep its parent's locks alive.
 * In C because the functions that run at a fork must not enter the Swift runtime. The library's own threads are not in the child: own_threads.h.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The locks of the whole process, in the order in which a thread may take several. No code of the host runs under one of them. */
enum fork_guard_lock {
    FORK_GUARD_DATABASES,
    FORK_GUARD_REALMS,
    FORK_GUARD_SCHEDULERS,
    FORK_GUARD_LOG,
    FORK_GUARD_FAULTS,
    FORK_GUARD_DESCRIPTORS,
    FORK_GUARD_LOCKS
};
pthread_mutex_t* fork_guard_lock(enum fork_guard_lock which);

/* How many forks lie between the process that loaded the library and this one. It changes while the process has one thread. */
extern uint32_t fork_guard_forks;
static inline uint32_t fork_guard_generation(void) { return fork_guard_forks; }

/* From now on forked children close the descriptor; false when there are too many. Under FORK_GUARD_DESCRIPTORS since before it was opened. */
bool fork_guard_add(int fd);
/* Under FORK_GUARD_DESCRIPTORS until it is closed. */
void fork_guard_remove(int fd);

#pragma GCC visibility pop
