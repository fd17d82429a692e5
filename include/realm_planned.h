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

/** Asks for a write transaction; the callback runs on the scheduler once it has begun. */
RLM_API bool realm_async_begin_write(realm_t* realm, realm_async_begin_write_func_t callback,
                                     realm_userdata_t userdata,
                                     realm_free_userdata_func_t userdata_free, bool notify_only,
                                     unsigned int* transaction_id);

/** Commits now for all readers; the callback follows once the data is on disk. */
RLM_API bool realm_async_commit(realm_t* realm, realm_async_commit_func_t callback,
                                realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
                                bool allow_grouping, unsigned int* transaction_id);

/** Takes a waiting block or completion back; *cancelled is false when it was too late. */
RLM_API bool realm_async_cancel(realm_t* realm, unsigned int token, bool* cancelled);

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

/* Change callbacks ----------------------------------------------------------------------------- */

/** Names the properties a change callback cares about: an own handle, used once. */
RLM_API realm_key_path_array_t* realm_create_key_path_array(
    const realm_t* realm, const realm_class_key_t object_class_key, size_t num_key_paths,
    const char** user_key_paths);

/** Calls back when the object changes: an own token. NULL paths: everything. */
RLM_API realm_notification_token_t* realm_object_add_notification_callback(
    realm_object_t* object, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_object_change_func_t on_change);

/** Calls back when the list changes: an own token. */
RLM_API realm_notification_token_t* realm_list_add_notification_callback(
    realm_list_t* list, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_collection_change_func_t on_change);

/** Calls back when the set changes: an own token. */
RLM_API realm_notification_token_t* realm_set_add_notification_callback(
    realm_set_t* set, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_collection_change_func_t on_change);

/** Calls back when the dictionary changes: an own token. */
RLM_API realm_notification_token_t* realm_dictionary_add_notification_callback(
    realm_dictionary_t* dictionary, realm_userdata_t userdata,
    realm_free_userdata_func_t userdata_free, realm_key_path_array_t* key_path_array,
    realm_on_dictionary_change_func_t on_change);

/** Calls back when the results change: an own token. */
RLM_API realm_notification_token_t* realm_results_add_notification_callback(
    realm_results_t* results, realm_userdata_t userdata, realm_free_userdata_func_t userdata_free,
    realm_key_path_array_t* key_path_array, realm_on_collection_change_func_t callback);

/** Whether the object was deleted. */
RLM_API bool realm_object_changes_is_deleted(const realm_object_changes_t* changes);

/** How many properties changed. */
RLM_API size_t realm_object_changes_get_num_modified_properties(
    const realm_object_changes_t* changes);

/** Copies up to max keys of changed properties; a NULL array asks for their number. */
RLM_API size_t realm_object_changes_get_modified_properties(const realm_object_changes_t* changes,
                                                            realm_property_key_t* out_modified,
                                                            size_t max);

/** The sizes of the arrays below; each pointer may be NULL. */
RLM_API void realm_collection_changes_get_num_changes(const realm_collection_changes_t* changes,
                                                      size_t* out_num_deletions,
                                                      size_t* out_num_insertions,
                                                      size_t* out_num_modifications,
                                                      size_t* out_num_moves,
                                                      bool* out_collection_was_cleared,
                                                      bool* out_collection_was_deleted);

/** The same for ranges. */
RLM_API void realm_collection_changes_get_num_ranges(const realm_collection_changes_t* changes,
                                                     size_t* out_num_deletion_ranges,
                                                     size_t* out_num_insertion_ranges,
                                                     size_t* out_num_modification_ranges,
                                                     size_t* out_num_moves);

/** Copies the changed indices, ascending, up to each array's maximum. */
RLM_API void realm_collection_changes_get_changes(const realm_collection_changes_t* changes,
                                                  size_t* out_deletion_indices,
                                                  size_t max_deletion_indices,
                                                  size_t* out_insertion_indices,
                                                  size_t max_insertion_indices,
                                                  size_t* out_modification_indices,
                                                  size_t max_modification_indices,
                                                  size_t* out_modification_indices_after,
                                                  size_t max_modification_indices_after,
                                                  realm_collection_move_t* out_moves,
                                                  size_t max_moves);

/** Copies the changed indices as ranges. */
RLM_API void realm_collection_changes_get_ranges(
    const realm_collection_changes_t* changes, realm_index_range_t* out_deletion_ranges,
    size_t max_deletion_ranges, realm_index_range_t* out_insertion_ranges,
    size_t max_insertion_ranges, realm_index_range_t* out_modification_ranges,
    size_t max_modification_ranges, realm_index_range_t* out_modification_ranges_after,
    size_t max_modification_ranges_after, realm_collection_move_t* out_moves, size_t max_moves);

/** How many keys were deleted, inserted and modified. */
RLM_API void realm_dictionary_get_changes(const realm_dictionary_changes_t* changes,
                                          size_t* out_deletions_size, size_t* out_insertion_size,
                                          size_t* out_modification_size, bool* out_was_deleted);

/** Copies the changed keys; each size says how much room there is, then how much was used. */
RLM_API void realm_dictionary_get_changed_keys(const realm_dictionary_changes_t* changes,
                                               realm_value_t* deletions, size_t* deletions_size,
                                               realm_value_t* insertions, size_t* insertions_size,
                                               realm_value_t* modifications,
                                               size_t* modification_size,
                                               bool* collection_was_cleared);

#ifdef __cplusplus
}
#endif

#endif /* REALM_PLANNED_H */
