/*
 * upgrade_test.c - one program reads a file of an older format without an upgrade while another one opens it for
 * writing, which upgrades it. The reader keeps its snapshot; when it wants a newer one, the error tells it to open the
 * file again. It must never get a corruption error or a wrong value.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "numbers.h"

enum { OBJECTS = 40 };
static char folder[64], path[128];

static long sum(realm_t* realm) {
    realm_class_info_t info;
    bool found;
    long sum = 0;
    realm_property_info_t property;
    if (!realm_find_class(realm, "A", &found, &info) || !found || !realm_find_property(realm, info.key, "n", &found, &property)) return -1;
    realm_results_t* all = realm_object_find_all(realm, info.key);
    size_t n = 0;
    if (!all || !realm_results_count(all, &n)) sum = -1;
    for (size_t i = 0; i < n && sum >= 0; i++) {
        realm_object_t* object = realm_results_get_object(all, i);
        realm_value_t value;
        sum = object && realm_get_value(object, property.key, &value) ? sum + (long)value.integer : -1;
        realm_release(object);
    }
    realm_release(all);
    return sum;
}
/* Makes a file of an older format: for a class like this only the format number in the header differs. */
static void make_old(uint8_t format) {
    snprintf(path, sizeof path, "%s/format-%d.realm", folder, format);
    unlink(path);
    realm_t* realm = open_mode(path, RLM_SCHEMA_MODE_AUTOMATIC);
    for (int i = 0; i < OBJECTS; i++) {
        if (!CHECK(add(realm, i))) give_up();
    }
    close_realm(realm);
    uint8_t formats[2] = {format, format};
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pwrite(fd, formats, 2, 20) == 2);
    close(fd);
}
static bool in_child(bool (*body)(void)) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) _exit(body() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    return status == 0;
}
static bool upgrades(void) {
    realm_t* realm = open_mode(path, RLM_SCHEMA_MODE_AUTOMATIC);
    bool good = realm && count(realm) == OBJECTS;
    close_realm(realm);
    return good;
}
static bool upgrades_and_adds(void) {
    realm_t* realm = open_mode(path, RLM_SCHEMA_MODE_AUTOMATIC);
    bool good = realm && count(realm) == OBJECTS;
    for (int i = 0; i < 5; i++) good = good && add(realm, 1000);
    close_realm(realm);
    return good;
}
static bool says_open_again(void) {
    realm_error_t error;
    return realm_get_last_error(&error) && strstr(error.message, "upgraded") && strstr(error.message, path) && strstr(error.message, "open it again");
}
#define TOLD(call) (FAILS(RLM_ERR_INCOMPATIBLE_SESSION, call), told = says_open_again(), CHECK(told))

static void read_beside(uint8_t format, bool (*other)(void)) {
    static char name[60];
    snprintf(name, sizeof name, "format %d, another process %s", format, other == upgrades ? "upgrades" : "upgrades and writes");
    section = name;
    make_old(format);
    bool told, did;
    enum { SUM = OBJECTS * (OBJECTS - 1) / 2 };
    realm_t *reading = open_mode(path, RLM_SCHEMA_MODE_READ_ONLY), *idle = open_mode(path, RLM_SCHEMA_MODE_READ_ONLY);
    if (!CHECK(reading && idle && sum(reading) == SUM)) give_up();
    CHECK(in_child(other));
    /* A realm that has a snapshot keeps it. */
    CHECK(sum(reading) == SUM && count(reading) == OBJECTS);
    TOLD(realm_refresh(reading, &did));
    CHECK(sum(reading) == SUM);
    TOLD(realm_refresh(reading, &did));
    /* A realm without a snapshot cannot begin one. */
    TOLD(realm_begin_read(idle));
    TOLD(realm_refresh(idle, &did));
    TOLD(realm_object_find_all(idle, 0));
    /* Opening again works, even while the others are still open. */
    realm_t* again = open_mode(path, RLM_SCHEMA_MODE_READ_ONLY);
    CHECK(again && count(again) == (other == upgrades ? OBJECTS : OBJECTS + 5) && sum(again) == SUM + (other == upgrades ? 0 : 5000));
    CHECK(realm_refresh(again, NULL));
    CHECK(sum(reading) == SUM);
    TOLD(realm_refresh(reading, &did));
    close_realm(idle);
    close_realm(reading);
    CHECK(sum(again) == SUM + (other == upgrades ? 0 : 5000));
    close_realm(again);
    again = open_mode(path, RLM_SCHEMA_MODE_AUTOMATIC);
    CHECK(again && add(again, 1));
    close_realm(again);
}

/* Programs that open the file for writing at the same moment: one of them upgrades it, and all opens succeed. */
static void upgraded_by_many(int round) {
    section = "many upgrade";
    make_old((uint8_t)(20 + round % 4));
    pid_t children[6];
    int gate[2];
    if (!CHECK(pipe(gate) == 0)) give_up();
    fflush(stdout);
    for (int i = 0; i < 6; i++) {
        if ((children[i] = fork()) != 0) continue;
        char go;
        close(gate[1]);
        if (read(gate[0], &go, 1) != 0) _exit(2);
        _exit(upgrades() ? 0 : 1);
    }
    close(gate[0]);
    close(gate[1]);
    for (int i = 0; i < 6; i++) {
        int status = -1;
        waitpid(children[i], &status, 0);
        CHECK(status == 0);
    }
    CHECK(upgrades());
}

int main(void) {
    strcpy(folder, "/tmp/crealm-upgrade-XXXXXX");
    if (!mkdtemp(folder)) give_up();
    for (uint8_t format = 20; format < 24; format++) {
        read_beside(format, upgrades);
        read_beside(format, upgrades_and_adds);
    }
    for (int round = 0; round < 12; round++) upgraded_by_many(round);
    return finished(folder);
}
