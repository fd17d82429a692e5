#include "own_threads.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

struct start {
    void (*run)(void*);
    void* context;
};

static void* run(void* p) {
    struct start start = *(struct start*)p;
    free(p);
    start.run(start.context);
    return NULL;
}

/* The signals that the new thread blocks, as it inherits them. */
static void forbid_signals(sigset_t* before) {
    static const int own[] = {SIGBUS, SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    sigset_t taken;
    sigfillset(&taken);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) sigdelset(&taken, own[i]);
    pthread_sigmask(SIG_SETMASK, &taken, before);
}

int own_thread_start(void (*body)(void*), void* context) {
    struct start* start = malloc(sizeof *start);
    if (!start) return ENOMEM;
    *start = (struct start){body, context};
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code == 0) {
        sigset_t before;
        pthread_t thread;
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        forbid_signals(&before);
        code = pthread_create(&thread, &attributes, run, start);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (code != 0) free(start);
    return code;
}

int own_thread_key(pthread_key_t* key, void (*end)(void*)) { return pthread_key_create(key, end); }
