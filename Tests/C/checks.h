/*
 * checks.h - the checks of the C tests: CHECK and FAILS count results and print a line for each failure, with the last
 * error and the section of the test. Each test includes this file once.
 */
#ifndef CHECKS_H
#define CHECKS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "atomics.h"
#include "realm.h"

/* Counters for all threads of a test. */
static ATOMIC(int) passed, failed;
static const char* section = "";

static bool result(bool good, int line, const char* what) {
    if (good) {
        passed++;
        return true;
    }
    failed++;
    realm_error_t error;
    memset(&error, 0, sizeof error);
    realm_get_last_error(&error);
    printf("FAIL line %d, %s: %s (last error %d: %s)\n", line, section, what, (int)error.error, error.message ? error.message : "none");
    return false;
}
__attribute__((unused)) static void give_up(void) {
    printf("%s: cannot go on\n%d passed, %d failed\n", section, (int)passed, failed ? (int)failed : 1);
    exit(1);
}
__attribute__((unused)) static int last_error(void) {
    realm_error_t error;
    memset(&error, 0, sizeof error);
    return realm_get_last_error(&error) ? (int)error.error : 0;
}
/* The end of a test: deletes its folder and prints the counts. Returns the result of main. */
__attribute__((unused)) static int finished(const char* folder) {
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) printf("cannot remove %s\n", folder);
    printf("%d passed, %d failed\n", (int)passed, (int)failed);
    return failed != 0;
}
#define CHECK(condition) (realm_clear_last_error(), result((condition), __LINE__, #condition))
/* Checks that a call fails with this error. */
#define FAILS(number, call) (realm_clear_last_error(), result(!(call) && last_error() == (int)(number), __LINE__, #call " fails with " #number))

#endif
