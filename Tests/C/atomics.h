/* atomics.h - ATOMIC(type) for tests that are compiled as C11 and as C++17. */
#ifndef ATOMICS_H
#define ATOMICS_H

#ifdef __cplusplus
#include <atomic>
#define ATOMIC(type) std::atomic<type>
#else
#include <stdatomic.h>
#define ATOMIC(type) _Atomic(type)
#endif

#endif
