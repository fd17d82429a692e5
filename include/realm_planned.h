/*
 * realm_planned.h - the rest of the local C API, declared ahead of its implementation.
 *
 * Declared so that programs which resolve symbols at run time compile: the library does not export
 * these functions yet, and linking against one fails. A function moves to realm.h, with its manual
 * text, when the library exports it. realm.h includes this file; do not include it yourself.
 */

#ifndef REALM_PLANNED_H
#define REALM_PLANNED_H

#ifndef REALM_H
#error "Include realm.h instead of realm_planned.h."
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Transactions and files ----------------------------------------------------------------------- */

/** Binds a realm in transit to a scheduler (NULL: the default one): an own handle. */
RLM_API realm_t* realm_from_thread_safe_reference(realm_thread_safe_reference_t* tsr,
                                                  realm_scheduler_t* scheduler);

/** A realm fixed at the current snapshot for reading on any thread: an own handle. */
RLM_API realm_t* realm_freeze(const realm_t* realm);

/* Thread-safe references ----------------------------------------------------------------------- */

/** Prepares a realm, object, collection or results for another thread: an own handle. */
RLM_API realm_thread_safe_reference_t* realm_create_thread_safe_reference(const void* handle);

/** The object in this realm: an own handle, not valid if the object is gone. */
RLM_API realm_object_t* realm_object_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

/** The list in this realm: an own handle. */
RLM_API realm_list_t* realm_list_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

/** The set in this realm: an own handle. */
RLM_API realm_set_t* realm_set_from_thread_safe_reference(const realm_t* realm,
                                                          realm_thread_safe_reference_t* reference);

/** The dictionary in this realm: an own handle. */
RLM_API realm_dictionary_t* realm_dictionary_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

/** The results in this realm: an own handle. */
RLM_API realm_results_t* realm_results_from_thread_safe_reference(
    const realm_t* realm, realm_thread_safe_reference_t* reference);

#ifdef __cplusplus
}
#endif

#endif /* REALM_PLANNED_H */
