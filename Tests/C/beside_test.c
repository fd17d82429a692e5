/*
 * Processes beside each other on one file, without a plan. Goal: no call fails because of what others do at the same
 * moment. Method: forked processes that open and close one file; and examinations of a file that another process
 * writes, in each form.
 *
 *     beside_test
 *
 * Compiles as C11 and as C++17. Exit status 1 when a check failed.
 */

#include <crealm.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "checks.h"

enum { PROCESSES = 4, OPENS = 4000, EXAMINATIONS = 40, PLAIN = -1 };

static char path[300];

/* A configuration of one class; `cipher` is the page cipher, or PLAIN. */
static realm_config_t* configuration(int cipher) {
    realm_property_info_t properties[2];
    realm_class_info_t info;
    const realm_property_info_t* all[1] = {properties};
    uint8_t key[64];
    memset(properties, 0, sizeof properties);
    memset(&info, 0, sizeof info);
    memset(key, 7, sizeof key);
    properties[0].name = "id";
    properties[0].type = RLM_PROPERTY_TYPE_INT;
    properties[0].flags = RLM_PROPERTY_PRIMARY_KEY;
    properties[1].name = "text";
    properties[1].type = RLM_PROPERTY_TYPE_STRING;
    for (int i = 0; i < 2; i++) {
        properties[i].public_name = properties[i].link_target = "";
        properties[i].link_origin_property_name = "";
    }
    info.name = "Thing";
    info.primary_key = "id";
    info.num_properties = 2;
    realm_schema_t* schema = realm_schema_new(&info, 1, all);
    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, path);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    if (cipher != PLAIN) {
        realm_config_set_encryption_key(config, key, sizeof key);
        crealm_config_set_page_cipher(config, (crealm_page_cipher_e)cipher);
    }
    realm_release(schema);
    return config;
}

/* Opens and closes the file; the number of refusals. */
static int open_and_close(int cipher) {
    realm_config_t* config = configuration(cipher);
    int refused = 0;
    for (int i = 0; i < OPENS; i++) {
        realm_t* realm = realm_open(config);
        if (realm == NULL) {
            realm_error_t error;
            if (realm_get_last_error(&error)) {
                fprintf(stderr, "open %d: error %d: %s\n", i, (int)error.error, error.message);
            }
            refused++;
            continue;
        }
        realm_close(realm);
        realm_release(realm);
    }
    realm_release(config);
    return refused;
}

/* Every open succeeds, whoever joins or leaves the session at that moment. */
static void opening(int cipher) {
    pid_t children[PROCESSES];
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) _exit(open_and_close(cipher) != 0);
    }
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
    }
}

/* Commits without end. */
static void keep_writing(int cipher) {
    realm_config_t* config = configuration(cipher);
    realm_t* realm = realm_open(config);
    realm_class_info_t info;
    bool found;
    if (realm == NULL || !realm_find_class(realm, "Thing", &found, &info)) _exit(1);
    realm_property_info_t property;
    if (!realm_find_property(realm, info.key, "text", &found, &property)) _exit(1);
    for (int64_t i = 0;; i++) {
        if (!realm_begin_write(realm)) _exit(1);
        for (int64_t k = 0; k < (i == 0 ? 3000 : 3); k++) {
            realm_value_t id, text;
            memset(&id, 0, sizeof id);
            memset(&text, 0, sizeof text);
            id.type = RLM_TYPE_INT;
            id.integer = i == 0 ? k : (i * 7 + k * 911) % 3000;
            text.type = RLM_TYPE_STRING;
            text.string.data = "some text that is rewritten";
            text.string.size = (size_t)(i % 20);
            realm_object_t* object = realm_object_get_or_create_with_primary_key(realm, info.key, id, &found);
            if (object == NULL || !realm_set_value(object, property.key, text, false)) _exit(1);
            realm_release(object);
        }
        if (!realm_commit(realm)) _exit(1);
    }
}

/* A file that another process writes is sound, or examined in vain; it is never called damaged. An examination that
 * fails with another error is printed: on a machine with far too much to do a reader may give up (1002). */
static void examining(int cipher) {
    realm_config_t* config = configuration(cipher);
    pid_t writer = fork();
    if (writer == 0) keep_writing(cipher);
    usleep(300000);
    int sound = 0, changing = 0, refused = 0, damaged = 0;
    for (int i = 0; i < EXAMINATIONS; i++) {
        crealm_check_t* check = NULL;
        if (crealm_check(config, 10, &check)) {
            if (check->result == CREALM_CHECK_SOUND) {
                sound++;
            } else {
                damaged++;
                printf("%s: result %d\n%s\n", section, (int)check->result, check->report);
            }
            realm_free(check);
        } else {
            realm_error_t error;
            if (!realm_get_last_error(&error)) {
                refused++;
            } else if (error.error == (realm_errno_e)CREALM_ERR_FILE_KEEPS_CHANGING) {
                changing++;
            } else {
                refused++;
                printf("%s: error %d: %s\n", section, (int)error.error, error.message);
            }
        }
        crealm_file_info_t* facts = NULL;
        if (crealm_file_info(config, &facts)) {
            for (int slot = 0; slot < 2; slot++) CHECK(facts->slots[slot].state != CREALM_SLOT_DAMAGED);
            realm_free(facts);
        }
    }
    CHECK(damaged == 0);
    CHECK(sound + changing + refused == EXAMINATIONS && refused < EXAMINATIONS / 4);
    kill(writer, SIGKILL);
    waitpid(writer, NULL, 0);
    crealm_check_t* check = NULL;
    CHECK(crealm_check(config, 10, &check) && check->result == CREALM_CHECK_SOUND);
    realm_free(check);
    realm_release(config);
}

int main(void) {
    char folder[] = "/tmp/beside_test_XXXXXX";
    const int ciphers[] = {
        PLAIN, CREALM_PAGE_CIPHER_XCHACHA20_POLY1305, CREALM_PAGE_CIPHER_AES_256_GCM, CREALM_PAGE_CIPHER_REALM};
    realm_set_log_level(RLM_LOG_LEVEL_OFF);
    if (mkdtemp(folder) == NULL) return 2;
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%d.realm", folder, i);
        section = (const char*[]){"plain", "XChaCha20", "AES-GCM", "Realm's form"}[i];
        realm_config_t* config = configuration(ciphers[i]);
        realm_t* realm = realm_open(config);
        CHECK(realm != NULL);
        if (realm) realm_close(realm);
        realm_release(realm);
        realm_release(config);
        if (i < 2) opening(ciphers[i]);
        examining(ciphers[i]);
    }
    return finished(folder);
}
