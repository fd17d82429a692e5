/*
 * handles.c - the table of handles.
 *
 * A number has the index of its entry in the low 32 bits and the entry's generation above: at most 2^20 generations,
 * so that it is exact as a double. An entry whose generations are used up is not used again.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "addon.h"

#define NO_ENTRY UINT32_MAX
#define MOST_GENERATIONS (1u << 20)

static bool grow(struct addon* addon) {
    uint32_t capacity = addon->capacity ? addon->capacity * 2 : 64;
    struct handle* handles = capacity > addon->capacity ? realloc(addon->handles, capacity * sizeof *handles) : NULL;
    if (!handles) {
        throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for handles");
        return false;
    }
    memset(handles + addon->capacity, 0, (capacity - addon->capacity) * sizeof *handles);
    for (uint32_t index = capacity; index > addon->capacity; index--) {
        handles[index - 1].next = addon->first_free;
        addon->first_free = index - 1;
    }
    addon->handles = handles;
    addon->capacity = capacity;
    return true;
}

napi_value handle_new(struct addon* addon, enum kind kind, void* pointer, bool borrowed) {
    if (addon->capacity == 0)
        addon->first_free = NO_ENTRY;
    if (addon->first_free == NO_ENTRY && !grow(addon)) {
        if (!borrowed)
            release_later(addon, pointer);
        return NULL;
    }
    uint32_t index = addon->first_free;
    struct handle* entry = &addon->handles[index];
    struct realm_state* state = kind == KIND_REALM ? calloc(1, sizeof *state) : NULL;
    if (kind == KIND_REALM && !state) {
        if (!borrowed)
            release_later(addon, pointer);
        return throw_error(addon, RLM_ERR_OUT_OF_MEMORY, "Out of memory for a realm");
    }
    addon->first_free = entry->next;
    entry->pointer = pointer;
    entry->state = state;
    entry->kind = (uint8_t)kind;
    entry->borrowed = borrowed;
    addon->live++;
    return number_to_js(addon, (double)entry->generation * 4294967296.0 + index);
}

static const char* const names[] = {"free",  "realm",      "config", "schema",  "object", "list",
                                    "set",   "dictionary", "query",  "results", "token",  "scheduler",
                                    "error", "reference",  "paths",  "any"};

struct handle* handle_find(struct addon* addon, napi_value value, enum kind kind) {
    double number;
    if (napi_get_value_double(addon->env, value, &number) == napi_ok && number >= 0 && number < 9007199254740992.0) {
        uint64_t whole = (uint64_t)number;
        uint32_t index = (uint32_t)whole;
        if ((double)whole == number && index < addon->capacity) {
            struct handle* entry = &addon->handles[index];
            if (entry->kind && entry->generation == whole >> 32 && (kind == KIND_ANY || entry->kind == kind))
                return entry;
        }
    }
    char text[80] = "No handle of the kind: ";
    throw_error(addon, RLM_ERR_INVALID_ARGUMENT, strcat(text, names[kind]));
    return NULL;
}

bool handle_argument(struct addon* addon, napi_value value, enum kind kind, bool optional, void** out) {
    if (optional) {
        napi_valuetype type;
        if (!good(addon, napi_typeof(addon->env, value, &type)))
            return false;
        if (type == napi_null || type == napi_undefined) {
            *out = NULL;
            return true;
        }
    }
    struct handle* entry = handle_find(addon, value, kind);
    *out = entry ? entry->pointer : NULL;
    return entry != NULL;
}

void release_later(struct addon* addon, void* pointer) {
    if (!pointer)
        return;
    if (addon->depth == 0) {
        // Functions that free userdata may not use JavaScript, so nothing can come back here.
        crealm.realm_release(pointer);
        return;
    }
    if (addon->waiting_count == addon->waiting_capacity) {
        uint32_t capacity = addon->waiting_capacity ? addon->waiting_capacity * 2 : 64;
        void** waiting = realloc(addon->waiting, capacity * sizeof *waiting);
        if (!waiting)
            return; // The handle is lost, which is better than a release too early.
        addon->waiting = waiting;
        addon->waiting_capacity = capacity;
    }
    addon->waiting[addon->waiting_count++] = pointer;
}

void enter(struct addon* addon) { addon->depth++; }

void leave(struct addon* addon) {
    if (--addon->depth == 0)
        while (addon->waiting_count)
            crealm.realm_release(addon->waiting[--addon->waiting_count]);
}

void cache_clear(struct addon* addon, struct realm_state* state) {
    for (size_t index = 0; index < CACHED_OBJECTS; index++)
        if (state->cache[index].object) {
            release_later(addon, state->cache[index].object);
            state->cache[index].object = NULL;
        }
}

static void state_free(struct addon* addon, struct realm_state* state) {
    if (!state)
        return;
    cache_clear(addon, state);
    for (uint32_t index = 0; index < state->plan_count; index++)
        free(state->plans[index].slots);
    free(state->plans);
    free(state->slots);
    free(state);
}

void handle_release(struct addon* addon, struct handle* entry) {
    void* pointer = entry->borrowed ? NULL : entry->pointer;
    struct realm_state* state = entry->state;
    entry->kind = KIND_FREE;
    entry->pointer = NULL;
    entry->state = NULL;
    addon->live--;
    if (++entry->generation < MOST_GENERATIONS) {
        entry->next = addon->first_free;
        addon->first_free = (uint32_t)(entry - addon->handles);
    }
    state_free(addon, state);
    release_later(addon, pointer);
}

/* At the end of the thread: closes all realms, which rolls back open transactions, and releases everything. */
void handles_end(struct addon* addon) {
    for (uint32_t index = 0; index < addon->capacity; index++) {
        struct handle* entry = &addon->handles[index];
        if (entry->kind == KIND_REALM && !entry->borrowed)
            crealm.realm_close(entry->pointer);
    }
    for (uint32_t index = 0; index < addon->capacity; index++)
        if (addon->handles[index].kind)
            handle_release(addon, &addon->handles[index]);
    free(addon->handles);
    free(addon->waiting);
    addon->handles = NULL;
    addon->waiting = NULL;
    addon->capacity = addon->waiting_capacity = 0;
    addon->first_free = NO_ENTRY;
}
