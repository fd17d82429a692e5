/* Defaults and times that the file keeps.
 *
 * Before: the defaults of a Realm class are in the source of each program. A program in another language, or an older
 * one, creates objects without them, and each program has to write times of changes itself.
 * Now: the file has them. The second program here knows neither the class nor its rules.
 */
#include "short.h"

static int64_t seconds(const realm_t* db, const realm_object_t* object, const char* name)
{
    return get(db, object, name).timestamp.seconds;
}

static const char rules[] =
    "{\"Visit\": {\"properties\": {\"country\": {\"default\": \"no\"}, \"created\": {\"created\": true},"
    " \"changed\": {\"modified\": true}, \"revision\": {\"revision\": true}}}}";

int main(void)
{
    const realm_property_info_t visit[] = {{.name = "country", .type = RLM_PROPERTY_TYPE_STRING},
                                           {.name = "guests", .type = RLM_PROPERTY_TYPE_INT},
                                           {.name = "created", .type = RLM_PROPERTY_TYPE_TIMESTAMP},
                                           {.name = "changed", .type = RLM_PROPERTY_TYPE_TIMESTAMP},
                                           {.name = "revision", .type = RLM_PROPERTY_TYPE_INT}};
    close_file(open_file("Visit", visit, 5, rules));
    realm_t* db = open_file(NULL, NULL, 0, NULL);
    MUST(realm_begin_write(db));
    realm_object_t* made = create(db, "Visit");
    MUST(realm_commit(db) && realm_begin_write(db));
    set(db, made, "guests", 3);
    MUST(realm_commit(db));
    realm_value_t country = get(db, made, "country");
    printf("country %.*s, revision %d\n", (int)country.string.size, country.string.data,
           (int)get(db, made, "revision").integer);
    MUST(get(db, made, "revision").integer == 2 && seconds(db, made, "created") > 1700000000 &&
         seconds(db, made, "changed") >= seconds(db, made, "created"));
    realm_release(made);
    close_file(db);
    delete_file();
    return 0;
}
