/*
 * own_threads.h - threads of the library's own, and pointers of each thread.
 *
 * In C because the C libraries differ in the types of these calls as Swift sees them: which pointers may be null, and what a pthread_t is.
 */
#pragma once

#include <pthread.h>

#pragma GCC visibility push(hidden)
#ifdef __clang__
#pragma clang assume_nonnull begin
#endif

/* Runs a function on a thread that gives its memory back by itself when it ends. It takes no signal of the host's, but for those that say what
   it did itself. 0, or the number of an error. */
int own_thread_start(void (*run)(void* context), void* context);

/* A key for a pointer of each thread; when a thread ends that has one, `end` gets it. 0, or the number of an error. */
int own_thread_key(pthread_key_t* key, void (*_Nullable end)(void* _Nullable pointer));

#ifdef __clang__
#pragma clang assume_nonnull end
#endif
#pragma GCC visibility pop
