#define _GNU_SOURCE
#include "fault_guard.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * The table needs no lock: an entry is taken by one exchange of its start, and the handler reads nothing of it that is not atomic. A map is
 * removed only when nobody touches it any more, so an entry that a handler has found stays while it runs.
 */
static struct {
    _Atomic(uintptr_t) start; /* 0: free */
    _Atomic(size_t) size;
    _Atomic(bool) writable, broken;
} maps[FAULT_GUARD_MAPS];
static _Atomic(int) used; /* entries at or behind it were never taken */
static _Atomic(int) hint; /* where a free entry is looked for first */

uint64_t fault_guard_alerts;
uint64_t fault_guard_broken_maps;

static uintptr_t page_size;
static struct sigaction host_bus, host_segv;

int fault_guard_add(void* start, bool writable) {
    int first = atomic_load(&hint);
    for (int n = 0; n < FAULT_GUARD_MAPS; n++) {
        int i = (first + n) % FAULT_GUARD_MAPS;
        uintptr_t none = 0;
        if (atomic_load(&maps[i].start) != 0) continue;
        if (!atomic_compare_exchange_strong(&maps[i].start, &none, (uintptr_t)start)) continue;
        /* Its size is 0: it was when the entry was given back. */
        atomic_store(&maps[i].writable, writable);
        atomic_store(&maps[i].broken, false);
        int before = atomic_load(&used);
        while (before <= i && !atomic_compare_exchange_weak(&used, &before, i + 1)) {}
        atomic_store(&hint, (i + 1) % FAULT_GUARD_MAPS);
        return i;
    }
    return -1;
}
void fault_guard_resize(int map, size_t size) { atomic_store(&maps[map].size, size); }
void fault_guard_remove(int map) {
    /* The alert stays: a call that began before still asks its own map. */
    if (atomic_exchange(&maps[map].broken, false)) __atomic_fetch_sub(&fault_guard_broken_maps, 1, __ATOMIC_SEQ_CST);
    atomic_store(&maps[map].size, 0);
    atomic_store(&maps[map].start, 0);
    if (map < atomic_load(&hint)) atomic_store(&hint, map);
}
bool fault_guard_is_broken(int map) { return atomic_load(&maps[map].broken); }
void fault_guard_alert(void) { __atomic_fetch_add(&fault_guard_alerts, 1, __ATOMIC_SEQ_CST); }
void fault_guard_break(int map) {
    /* The count first: whoever sees the mark, or a zero, sees the count. */
    __atomic_fetch_add(&fault_guard_broken_maps, 1, __ATOMIC_SEQ_CST);
    if (atomic_exchange(&maps[map].broken, true)) __atomic_fetch_sub(&fault_guard_broken_maps, 1, __ATOMIC_SEQ_CST);
    fault_guard_alert();
}

/*
 * Puts zeros in the place of the faulting page and all that follows in its map. What is left of the file is then one piece from the map's
 * start, so the number of mappings stays the same however many pages are touched. Whatever was behind the page is not to be believed anyway:
 * the map is broken.
 */
static bool mend(uintptr_t at) {
    int count = atomic_load(&used);
    for (int i = 0; i < count; i++) {
        uintptr_t start = atomic_load(&maps[i].start);
        size_t size = atomic_load(&maps[i].size);
        if (start == 0 || at < start || at - start >= size) continue;
        /* First the mark and the count, so that nobody sees a zero in a map that is not known to be broken. */
        fault_guard_break(i);
        uintptr_t page = at & ~(page_size - 1);
        int protection = atomic_load(&maps[i].writable) ? PROT_READ | PROT_WRITE : PROT_READ;
        int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
        return mmap((void*)page, start + size - page, protection, flags, -1, 0) != MAP_FAILED;
    }
    return false;
}

static void handle(int signal, siginfo_t* info, void* context) {
    int saved = errno;
    /* A write to a map that may only be read is a fault of ours, not of the file: zeros would not help. Nor would they against kill(). */
    bool isFault = info->si_code > 0 && (signal == SIGBUS || info->si_code == SEGV_MAPERR);
    bool mended = isFault && mend((uintptr_t)info->si_addr);
    errno = saved;
    if (mended) return;

    struct sigaction* host = signal == SIGBUS ? &host_bus : &host_segv;
    void (*plain)(int) = host->sa_handler;
    struct sigaction standard;
    memset(&standard, 0, sizeof standard);
    standard.sa_handler = SIG_DFL;
    if (host->sa_flags & SA_SIGINFO) {
        void (*full)(int, siginfo_t*, void*) = host->sa_sigaction;
        if (host->sa_flags & SA_RESETHAND) *host = standard;
        full(signal, info, context);
    } else if (plain == SIG_IGN && info->si_code <= 0) {
        /* Somebody sent it; a fault cannot be ignored. */
    } else if (plain == SIG_DFL || plain == SIG_IGN) {
        sigaction(signal, &standard, NULL);
        /* A fault comes again, in its own place, when this returns. What was sent must be sent again: it waits until then. */
        if (info->si_code <= 0) raise(signal);
    } else {
        if (host->sa_flags & SA_RESETHAND) *host = standard;
        plain(signal);
    }
}

static bool install(int signal, struct sigaction* host) {
    struct sigaction ours;
    /* First what the host has: the handler may run as soon as it is in place. */
    if (sigaction(signal, NULL, host) != 0) return false;
    memset(&ours, 0, sizeof ours);
    ours.sa_sigaction = handle;
    /* The host's handler runs inside ours: with its mask, and interrupted or not as it asked. */
    ours.sa_mask = host->sa_mask;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (host->sa_flags & (SA_NODEFER | SA_RESTART));
    return sigaction(signal, &ours, NULL) == 0;
}
bool fault_guard_install(void) {
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    return install(SIGBUS, &host_bus) && install(SIGSEGV, &host_segv);
}
