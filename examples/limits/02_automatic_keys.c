/* Keys that the library makes.
 *
 * Before: Realm makes no numbers. A program takes the greatest key and adds one, so the number of a deleted order is
 * given a second time.
 * Now: the file has a counter. A number is never used again, also when several programs create orders.
 */
#include "short.h"

int main(void)
{
    const realm_property_info_t order[] = {
        {.name = "id", .type = RLM_PROPERTY_TYPE_INT, .flags = RLM_PROPERTY_PRIMARY_KEY},
        {.name = "amount", .type = RLM_PROPERTY_TYPE_INT}};
    realm_t* db = open_file("Order", order, 2, "{\"Order\": {\"properties\": {\"id\": {\"auto\": true}}}}");
    int64_t ids[5];
    for (int i = 0; i < 5; i++) {
        if (i == 3) { /* Another program goes on, one that does not declare the rule. */
            close_file(db);
            db = open_file(NULL, NULL, 0, NULL);
        }
        MUST(realm_begin_write(db));
        realm_object_t* made = create(db, "Order");
        ids[i] = get(db, made, "id").integer;
        printf("order %d%s\n", (int)ids[i], i == 2 ? ", deleted" : "");
        if (i == 2)
            MUST(realm_object_delete(made));
        MUST(realm_commit(db));
        realm_release(made);
    }
    MUST(ids[0] == 1 && ids[3] == 4 && ids[4] == 5); /* 3 was deleted, and did not come again. */
    close_file(db);
    delete_file();
    return 0;
}
