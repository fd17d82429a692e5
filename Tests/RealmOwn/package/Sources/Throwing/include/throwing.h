/* What stands for Objective-C's exceptions: a jump out of a block that misuses the library. */
#pragma once

/* Runs `body`. Returns NULL, or the message that `throw_message` was given on this thread meanwhile. */
const char *catch_message(void (*body)(void *), void *context);

/* Leaves the innermost `catch_message` of this thread; returns if there is none. */
void throw_message(const char *message);
