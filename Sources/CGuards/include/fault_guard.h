/*
 * fault_guard.h - turns faults in maps of files into pages of zeros that their owner knows of.
 *
 * A map of a file loses pages when another program cuts the file, or when the disk cannot read a block: touching such a page ends the process
 * with SIGBUS. Once installed, the handler puts zeros in the place of what a registered map has lost, marks the map as broken, and lets the
 * program go on; whoever reads the map asks before it believes what it read. In C because a signal handler must not enter the Swift runtime.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Maps that can be registered at a time: an open file has two. The system itself gives a process about as many. */
enum { FAULT_GUARD_MAPS = 65536 };

/* Puts the handler in front of those the host has for SIGBUS and SIGSEGV, which get every fault that lies in no registered map. Once. */
bool fault_guard_install(void);

/* Registers a map that begins at `start`, a multiple of the page size, of no bytes yet. Returns its number, -1 when there are too many. */
int fault_guard_add(void* start, bool writable);
/* How many bytes of the map may be touched. Not while another thread touches what is taken away. */
void fault_guard_resize(int map, size_t size);
void fault_guard_remove(int map);
/* Whether the map has lost pages. Once true it stays. True before the first zero can be seen. */
bool fault_guard_is_broken(int map);
/* The owner found by other means that the file lost what the map shows. */
void fault_guard_break(int map);

/* Anything but 0 once faults were turned into zeros, from before the zeros can be seen, and in forked children. */
extern uint64_t fault_guard_alerts;
void fault_guard_alert(void);
static inline bool fault_guard_is_alert(void) { return __atomic_load_n(&fault_guard_alerts, __ATOMIC_ACQUIRE) != 0; }
/* How many registered maps are broken. Not 0 from before the zeros can be seen. Unlike the alert, a fork does not change it. */
extern uint64_t fault_guard_broken_maps;
static inline bool fault_guard_has_broken_maps(void) { return __atomic_load_n(&fault_guard_broken_maps, __ATOMIC_ACQUIRE) != 0; }

#pragma GCC visibility pop
