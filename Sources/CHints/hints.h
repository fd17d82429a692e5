/* What Swift has no word for. */
#pragma once
/* Asks the processor to bring a cache line in. Any address is allowed. */
static inline void hint_prefetch(const void *address) { __builtin_prefetch(address, 0, 3); }
