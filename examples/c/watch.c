/* Prints a line whenever another program, or another part of this one, changes a database.
 *
 *   cc watch.c $(pkg-config --cflags --libs crealm) -o watch && ./watch people.realm
 *
 * An event loop of its own: epoll watches the descriptor of the default scheduler, and standard input, whose end ends the program.
 */
#include <crealm.h>
#include <realm.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

static int fail(const char* what)
{
    realm_error_t e;
    if (realm_get_last_error(&e))
        fprintf(stderr, "%s: error %d: %s\n", what, (int)e.error, e.message);
    return 1;
}

/* Runs in crealm_scheduler_run(); the realm shows the newest snapshot already. */
static void changed(realm_userdata_t userdata)
{
    const realm_t* realm = userdata;
    realm_class_key_t keys[100];
    size_t count;
    if (!realm_get_class_keys(realm, keys, 100, &count))
        return;
    printf("changed:");
    for (size_t i = 0; i < count; i++) {
        realm_class_info_t info;
        size_t objects;
        if (realm_get_class(realm, keys[i], &info) && realm_get_num_objects(realm, keys[i], &objects))
            printf(" %s %zu", info.name, objects);
    }
    printf("\n");
    fflush(stdout);
}

int main(int argc, char** argv)
{
    if (argc < 2)
        return fprintf(stderr, "usage: watch FILE.realm\n"), 2;

    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, argv[1]);
    realm_t* realm = realm_open(config);
    realm_release(config);
    if (!realm)
        return fail("open");
    realm_callback_token_t* token = realm_add_realm_changed_callback(realm, changed, realm, NULL);

    int work;
    realm_scheduler_t* scheduler = realm_scheduler_make_default();
    if (!token || !crealm_scheduler_get_fd(scheduler, &work))
        return fail("watch");
    changed(realm);

    int loop = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event of_work = {.events = EPOLLIN, .data = {.fd = work}};
    struct epoll_event of_input = {.events = EPOLLIN, .data = {.fd = STDIN_FILENO}};
    epoll_ctl(loop, EPOLL_CTL_ADD, work, &of_work);
    epoll_ctl(loop, EPOLL_CTL_ADD, STDIN_FILENO, &of_input);

    for (bool ended = false; !ended;) {
        struct epoll_event event;
        if (epoll_wait(loop, &event, 1, -1) != 1)
            continue;
        char line[100];
        if (event.data.fd == work)
            crealm_scheduler_run(scheduler, 0, NULL);
        else if (read(STDIN_FILENO, line, sizeof line) <= 0)
            ended = true;
    }

    close(loop);
    realm_release(token);
    realm_close(realm);
    realm_release(realm);
    realm_release(scheduler);
    return 0;
}
