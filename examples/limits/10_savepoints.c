/* A part of a write that is undone alone.
 *
 * Before: a write transaction of Realm is one piece. When a step in it fails, the program takes back the step with code
 * of its own, or gives up all of the transaction.
 * Now: a savepoint marks the beginning of a part, and savepoints nest. Observers are told of one commit.
 */
#include "short.h"

int main(void)
{
    const realm_property_info_t item[] = {{.name = "number", .type = RLM_PROPERTY_TYPE_INT}};
    realm_t* db = open_file("Item", item, 1, NULL);
    uint32_t order, line;
    size_t count = 0;
    MUST(realm_begin_write(db));
    realm_object_t* first = create(db, "Item");
    set(db, first, "number", 1);

    MUST(crealm_begin_savepoint(db, &order));
    set(db, first, "number", 2);
    MUST(crealm_begin_savepoint(db, &line));
    set(db, first, "number", 3);
    realm_object_t* second = create(db, "Item");
    MUST(crealm_rollback_savepoint(db, line));
    printf("the inner part is undone: number %d\n", (int)get(db, first, "number").integer);
    MUST(get(db, first, "number").integer == 2 && !realm_object_is_valid(second));
    MUST(crealm_release_savepoint(db, order));

    MUST(realm_commit(db) && realm_get_num_objects(db, class_of(db, "Item"), &count));
    printf("committed: %d object, number %d\n", (int)count, (int)get(db, first, "number").integer);
    MUST(count == 1 && get(db, first, "number").integer == 2);
    realm_release(first);
    realm_release(second);
    close_file(db);
    delete_file();
    return 0;
}
