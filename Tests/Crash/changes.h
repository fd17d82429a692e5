/*
 * changes.h - what writers do to the ledger (ledger.h).
 */

#ifndef CHANGES_H
#define CHANGES_H

#include "ledger.h"

static uint8_t payload[65536];
static char note[3000];

static void set(realm_object_t* object, realm_property_key_t key, realm_value_t v) { MUST(L.realm_set_value(object, key, v, false)); }

static realm_object_t* state, *accounts[ACCOUNTS];

static void find_objects(void) {
    state = L.realm_object_find_with_primary_key(realm, state_class, integer(0), NULL);
    for (int i = 0; i < ACCOUNTS; i++) accounts[i] = L.realm_object_find_with_primary_key(realm, account_class, integer(i), NULL);
    MUST(state && accounts[ACCOUNTS - 1]);
}
static void create_objects(void) {
    MUST(L.realm_begin_write(realm));
    L.realm_release(L.realm_object_create_with_primary_key(realm, state_class, integer(0)));
    for (int i = 0; i < ACCOUNTS; i++) {
        realm_object_t* account = L.realm_object_create_with_primary_key(realm, account_class, integer(i));
        MUST(account);
        set(account, balance_key, integer(START));
        L.realm_release(account);
    }
    MUST(L.realm_commit(realm));
}
/* Makes random changes. Together with the update of State they keep the invariants of the ledger. */
static void change(int64_t counter) {
    int64_t rows = int_of(state, rows_key), weight = int_of(state, weight_key);
    for (uint64_t n = 1 + below(6); n; n--) {
        realm_object_t *from = accounts[below(ACCOUNTS)], *to = accounts[below(ACCOUNTS)];
        int64_t amount = (int64_t)below(1u << below(40));
        set(from, balance_key, integer(int_of(from, balance_key) - amount));
        set(to, balance_key, integer(int_of(to, balance_key) + amount));
    }
    realm_value_t v;
    memset(&v, 0, sizeof v);
    v.type = RLM_TYPE_STRING;
    v.string.size = below(below(4) ? 40 : sizeof note);
    memset(note, (int)('a' + below(26)), sizeof note);
    v.string.data = note;
    set(accounts[below(ACCOUNTS)], note_key, v);
    uint64_t create = below(8), drop = rows > 300 ? below(20) : below(6);
    if (below(60) == 0) create = 200;
    for (; create; create--) {
        int64_t n = counter * 1000 + (int64_t)create;
        realm_object_t* row = L.realm_object_create(realm, row_class);
        MUST(row);
        set(row, n_key, integer(n));
        memset(&v, 0, sizeof v);
        v.type = RLM_TYPE_BINARY;
        v.binary.size = payload_size(n);
        memset(payload, payload_byte(n), v.binary.size);
        v.binary.data = payload;
        set(row, payload_key, v);
        if (below(3)) {
            memset(&v, 0, sizeof v);
            v.type = RLM_TYPE_LINK;
            v.link = L.realm_object_as_link(accounts[below(ACCOUNTS)]);
            set(row, owner_key, v);
        }
        L.realm_release(row);
        rows++, weight += n;
    }
    realm_results_t* all = L.realm_object_find_all(realm, row_class);
    if (rows > 1000) drop = 500;
    for (; drop && rows; drop--) {
        realm_object_t* row = L.realm_results_get_object(all, below((uint64_t)rows));
        MUST(row);
        weight -= int_of(row, n_key), rows--;
        MUST(L.realm_object_delete(row));
        L.realm_release(row);
    }
    L.realm_release(all);
    realm_object_t* mark = L.realm_object_create_with_primary_key(realm, mark_class, integer(counter));
    MUST(mark);
    L.realm_release(mark);
    if (counter > MARKS) {
        mark = L.realm_object_find_with_primary_key(realm, mark_class, integer(counter - MARKS), NULL);
        MUST(mark && L.realm_object_delete(mark));
        L.realm_release(mark);
    }
    set(state, rows_key, integer(rows));
    set(state, weight_key, integer(weight));
    set(state, counter_key, integer(counter));
}

#endif
