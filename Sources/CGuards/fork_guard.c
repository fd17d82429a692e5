#include "fork_guard.h"

#include <unistd.h>

#include "fault_guard.h"

enum { DESCRIPTORS = 2 * FAULT_GUARD_MAPS };

static pthread_mutex_t locks[FORK_GUARD_LOCKS];
/* One more than each descriptor; 0: free. Entries at or behind `used` were never taken. */
static int descriptors[DESCRIPTORS];
static int used;
/* No entry before it is free. */
static int lowest;

uint32_t fork_guard_forks;

pthread_mutex_t* fork_guard_lock(enum fork_guard_lock which) { return &locks[which]; }

bool fork_guard_add(int fd) {
    for (int i = lowest; i < DESCRIPTORS; i++) {
        if (descriptors[i]) continue;
        descriptors[i] = fd + 1;
        lowest = i + 1;
        if (used <= i) used = i + 1;
        return true;
    }
    return false;
}
void fork_guard_remove(int fd) {
    for (int i = 0; i < used; i++) {
        if (descriptors[i] != fd + 1) continue;
        descriptors[i] = 0;
        if (i < lowest) lowest = i;
        return;
    }
}

static void before_fork(void) {
    for (int i = 0; i < FORK_GUARD_LOCKS; i++) pthread_mutex_lock(&locks[i]);
}
static void after_fork(void) {
    for (int i = FORK_GUARD_LOCKS; i > 0; i--) pthread_mutex_unlock(&locks[i - 1]);
}
static void in_child(void) {
    fork_guard_forks++;
    /* Entry points look closer when this is not 0, and find what was inherited. */
    fault_guard_alert();
    for (int i = 0; i < used; i++) {
        if (descriptors[i]) close(descriptors[i] - 1);
        descriptors[i] = 0;
    }
    used = lowest = 0;
    after_fork();
}
__attribute__((constructor)) static void prepare_for_forks(void) {
    for (int i = 0; i < FORK_GUARD_LOCKS; i++) pthread_mutex_init(&locks[i], NULL);
    pthread_atfork(before_fork, after_fork, in_child);
}
