/* Creates a small database of people and prints it.
 *
 *   cc people.c $(pkg-config --cflags --libs crealm) -o people && ./people people.realm
 */
#include <crealm.h>
#include <realm.h>
#include <stdio.h>
#include <string.h>

static int fail(const char* what)
{
    realm_error_t e;
    if (realm_get_last_error(&e))
        fprintf(stderr, "%s: error %d: %s\n", what, (int)e.error, e.message);
    return 1;
}
static realm_value_t integer(int64_t i)
{
    realm_value_t v = {.type = RLM_TYPE_INT};
    v.integer = i;
    return v;
}
static realm_value_t string(const char* s)
{
    realm_value_t v = {.type = RLM_TYPE_STRING};
    v.string.data = s;
    v.string.size = strlen(s);
    return v;
}

int main(int argc, char** argv)
{
    if (argc < 2)
        return fprintf(stderr, "usage: people FILE.realm\n"), 2;

    /* One class with five properties. */
    const realm_property_info_t person[] = {
        {.name = "id", .type = RLM_PROPERTY_TYPE_INT, .flags = RLM_PROPERTY_PRIMARY_KEY},
        {.name = "name", .type = RLM_PROPERTY_TYPE_STRING},
        {.name = "age", .type = RLM_PROPERTY_TYPE_INT},
        {.name = "city", .type = RLM_PROPERTY_TYPE_STRING, .flags = RLM_PROPERTY_INDEXED},
        {.name = "friend", .type = RLM_PROPERTY_TYPE_OBJECT, .link_target = "Person", .flags = RLM_PROPERTY_NULLABLE},
    };
    const realm_property_info_t* properties[] = {person};
    const realm_class_info_t classes[] = {{.name = "Person", .primary_key = "id", .num_properties = 5}};
    realm_schema_t* schema = realm_schema_new(classes, 1, properties);

    realm_config_t* config = realm_config_new();
    realm_config_set_path(config, argv[1]);
    realm_config_set_schema(config, schema);
    realm_config_set_schema_version(config, 1);
    realm_t* realm = realm_open(config);
    realm_release(config);
    realm_release(schema);
    if (!realm)
        return fail("open");

    realm_class_info_t cls;
    realm_property_info_t name, age, city, friend;
    bool found;
    realm_find_class(realm, "Person", &found, &cls);
    realm_find_property(realm, cls.key, "name", &found, &name);
    realm_find_property(realm, cls.key, "age", &found, &age);
    realm_find_property(realm, cls.key, "city", &found, &city);
    realm_find_property(realm, cls.key, "friend", &found, &friend);

    static const struct { const char* name; int age; const char* city; } people[] = {
        {"Ann", 31, "Oslo"}, {"Bert", 44, "Bergen"}, {"Chloé", 27, "Lyon"}};

    if (!realm_begin_write(realm))
        return fail("begin");
    realm_link_t previous;
    for (int i = 0; i < 3; i++) {
        realm_object_t* p = realm_object_get_or_create_with_primary_key(realm, cls.key, integer(i + 1), NULL);
        if (!p || !realm_set_value(p, name.key, string(people[i].name), false) ||
            !realm_set_value(p, age.key, integer(people[i].age), false) ||
            !realm_set_value(p, city.key, string(people[i].city), false))
            return fail("write");
        if (i > 0) {
            realm_value_t link = {.type = RLM_TYPE_LINK};
            link.link = previous;
            if (!realm_set_value(p, friend.key, link, false))
                return fail("link");
        }
        previous = realm_object_as_link(p);
        realm_release(p);
    }
    if (!realm_commit(realm))
        return fail("commit");

    realm_results_t* all = realm_object_find_all(realm, cls.key);
    size_t count = 0;
    realm_results_count(all, &count);
    printf("C:      %zu people in %s\n", count, argv[1]);
    for (size_t i = 0; i < count; i++) {
        realm_object_t* p = realm_results_get_object(all, i);
        realm_value_t n, a;
        if (!p || !realm_get_value(p, name.key, &n) || !realm_get_value(p, age.key, &a))
            return fail("read");
        printf("        %.*s, %d\n", (int)n.string.size, n.string.data, (int)a.integer);
        realm_release(p);
    }
    realm_release(all);
    realm_close(realm);
    realm_release(realm);
    return 0;
}
