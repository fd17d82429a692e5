// Made by Scripts/bindings_jvm.py from include/api.json; do not edit.

package org.crealm;

/** Functions of the C API whose parameters are simple. The other ones are in {@link Native}. */
final class Calls {
    static {
        Native.ready();
    }

    private Calls() {}

    /** crealm_backup_since(). */
    static long backupSince(Handle realm, String previous, String path) {
        return backupSince0(realm, Handle.address(realm), Texts.utf8(previous), Texts.utf8(path));
    }

    private static native long backupSince0(Handle realmOwner, long realm, byte[] previous, byte[] path);

    /** crealm_begin_savepoint(). */
    static long beginSavepoint(Handle realm) {
        return Handle.guarded(realm, () -> beginSavepoint0(realm, Handle.address(realm)));
    }

    private static native long beginSavepoint0(Handle realmOwner, long realm);

    /** realm_begin_write(). */
    static void beginWrite(Handle realm) {
        Handle.guarded(realm, () -> beginWrite0(realm, Handle.address(realm)));
    }

    private static native void beginWrite0(Handle realmOwner, long realm);

    /** crealm_change_key(). */
    static void changeKey(Handle realm, Handle config) {
        Handle.guarded(realm, () -> changeKey0(realm, Handle.address(realm), config, Handle.address(config)));
    }

    private static native void changeKey0(Handle realmOwner, long realm, Handle configOwner, long config);

    /** crealm_class_get_rules(). */
    static byte[] classGetRules(Handle realm, int classKey) {
        return Handle.guarded(realm, () -> classGetRules0(realm, Handle.address(realm), classKey));
    }

    private static native byte[] classGetRules0(Handle realmOwner, long realm, int classKey);

    /** realm_close(). */
    static boolean close(Handle realm) {
        return close0(realm, Handle.address(realm));
    }

    private static native boolean close0(Handle realmOwner, long realm);

    /** realm_commit(). */
    static void commit(Handle realm) {
        Handle.guarded(realm, () -> commit0(realm, Handle.address(realm)));
    }

    private static native void commit0(Handle realmOwner, long realm);

    /** realm_compact(). */
    static boolean compact(Handle realm) {
        return Handle.guarded(realm, () -> compact0(realm, Handle.address(realm)));
    }

    private static native boolean compact0(Handle realmOwner, long realm);

    /** realm_config_new(). */
    static Handle configNew() {
        return Handle.owning(configNew0(), null);
    }

    private static native long configNew0();

    /** crealm_config_set_durability(). */
    static void configSetDurability(Handle config, int durability) {
        configSetDurability0(config, Handle.address(config), durability);
    }

    private static native void configSetDurability0(Handle configOwner, long config, int durability);

    /** realm_config_set_in_memory(). */
    static void configSetInMemory(Handle config, boolean inMemory) {
        configSetInMemory0(config, Handle.address(config), inMemory);
    }

    private static native void configSetInMemory0(Handle configOwner, long config, boolean inMemory);

    /** crealm_config_set_lock_timeout(). */
    static void configSetLockTimeout(Handle config, long milliseconds) {
        configSetLockTimeout0(config, Handle.address(config), milliseconds);
    }

    private static native void configSetLockTimeout0(Handle configOwner, long config, long milliseconds);

    /** crealm_config_set_page_cipher(). */
    static void configSetPageCipher(Handle config, int cipher) {
        configSetPageCipher0(config, Handle.address(config), cipher);
    }

    private static native void configSetPageCipher0(Handle configOwner, long config, int cipher);

    /** realm_config_set_path(). */
    static void configSetPath(Handle config, String path) {
        configSetPath0(config, Handle.address(config), Texts.utf8(path));
    }

    private static native void configSetPath0(Handle configOwner, long config, byte[] path);

    /** crealm_config_set_rules(). */
    static void configSetRules(Handle config, String rules) {
        configSetRules0(config, Handle.address(config), Texts.utf8(rules));
    }

    private static native void configSetRules0(Handle configOwner, long config, byte[] rules);

    /** realm_config_set_scheduler(). */
    static void configSetScheduler(Handle config, Handle scheduler) {
        configSetScheduler0(config, Handle.address(config), scheduler, Handle.address(scheduler));
    }

    private static native void configSetScheduler0(Handle configOwner, long config, Handle schedulerOwner,
            long scheduler);

    /** realm_config_set_schema(). */
    static void configSetSchema(Handle config, Handle schema) {
        configSetSchema0(config, Handle.address(config), schema, Handle.address(schema));
    }

    private static native void configSetSchema0(Handle configOwner, long config, Handle schemaOwner, long schema);

    /** realm_config_set_schema_mode(). */
    static void configSetSchemaMode(Handle config, int mode) {
        configSetSchemaMode0(config, Handle.address(config), mode);
    }

    private static native void configSetSchemaMode0(Handle configOwner, long config, int mode);

    /** realm_config_set_schema_version(). */
    static void configSetSchemaVersion(Handle config, long version) {
        configSetSchemaVersion0(config, Handle.address(config), version);
    }

    private static native void configSetSchemaVersion0(Handle configOwner, long config, long version);

    /** crealm_config_set_snapshot(). */
    static void configSetSnapshot(Handle config, boolean snapshot) {
        configSetSnapshot0(config, Handle.address(config), snapshot);
    }

    private static native void configSetSnapshot0(Handle configOwner, long config, boolean snapshot);

    /** realm_convert_with_config(). */
    static void convertWithConfig(Handle realm, Handle config, boolean mergeWithExisting) {
        convertWithConfig0(realm, Handle.address(realm), config, Handle.address(config), mergeWithExisting);
    }

    private static native void convertWithConfig0(Handle realmOwner, long realm, Handle configOwner, long config,
            boolean mergeWithExisting);

    /** realm_delete_files(). */
    static boolean deleteFiles(String realmFilePath) {
        return deleteFiles0(Texts.utf8(realmFilePath));
    }

    private static native boolean deleteFiles0(byte[] realmFilePath);

    /** realm_dictionary_clear(). */
    static void dictionaryClear(Handle dictionary) {
        Handle.guarded(dictionary, () -> dictionaryClear0(dictionary, Handle.address(dictionary)));
    }

    private static native void dictionaryClear0(Handle dictionaryOwner, long dictionary);

    /** realm_dictionary_contains_key(). */
    static boolean dictionaryContainsKey(Handle dictionary, byte[] key) {
        return dictionaryContainsKey0(dictionary, Handle.address(dictionary), key);
    }

    private static native boolean dictionaryContainsKey0(Handle dictionaryOwner, long dictionary, byte[] key);

    /** realm_dictionary_erase(). */
    static boolean dictionaryErase(Handle dictionary, byte[] key) {
        return Handle.guarded(dictionary, () -> dictionaryErase0(dictionary, Handle.address(dictionary), key));
    }

    private static native boolean dictionaryErase0(Handle dictionaryOwner, long dictionary, byte[] key);

    /** realm_dictionary_find(). */
    static byte[] dictionaryFind(Handle dictionary, byte[] key) {
        return Handle.guarded(dictionary, () -> dictionaryFind0(dictionary, Handle.address(dictionary), key));
    }

    private static native byte[] dictionaryFind0(Handle dictionaryOwner, long dictionary, byte[] key);

    /** realm_dictionary_get_dictionary(). */
    static Handle dictionaryGetDictionary(Handle dictionary, byte[] key) {
        return Handle.owning(dictionaryGetDictionary0(dictionary, Handle.address(dictionary), key), dictionary);
    }

    private static native long dictionaryGetDictionary0(Handle dictionaryOwner, long dictionary, byte[] key);

    /** realm_dictionary_get_list(). */
    static Handle dictionaryGetList(Handle dictionary, byte[] key) {
        return Handle.owning(dictionaryGetList0(dictionary, Handle.address(dictionary), key), dictionary);
    }

    private static native long dictionaryGetList0(Handle dictionaryOwner, long dictionary, byte[] key);

    /** realm_dictionary_insert(). */
    static boolean dictionaryInsert(Handle dictionary, byte[] key, byte[] value) {
        return Handle.guarded(dictionary, () -> dictionaryInsert0(dictionary, Handle.address(dictionary), key, value));
    }

    private static native boolean dictionaryInsert0(Handle dictionaryOwner, long dictionary, byte[] key, byte[] value);

    /** realm_dictionary_insert_dictionary(). */
    static Handle dictionaryInsertDictionary(Handle dictionary, byte[] key) {
        return Handle.owning(Handle.guarded(dictionary, () -> dictionaryInsertDictionary0(dictionary,
                Handle.address(dictionary), key)), dictionary);
    }

    private static native long dictionaryInsertDictionary0(Handle dictionaryOwner, long dictionary, byte[] key);

    /** realm_dictionary_insert_list(). */
    static Handle dictionaryInsertList(Handle dictionary, byte[] key) {
        return Handle.owning(Handle.guarded(dictionary, () -> dictionaryInsertList0(dictionary,
                Handle.address(dictionary), key)), dictionary);
    }

    private static native long dictionaryInsertList0(Handle dictionaryOwner, long dictionary, byte[] key);

    /** realm_dictionary_is_valid(). */
    static boolean dictionaryIsValid(Handle dictionary) {
        return dictionaryIsValid0(dictionary, Handle.address(dictionary));
    }

    private static native boolean dictionaryIsValid0(Handle dictionaryOwner, long dictionary);

    /** realm_dictionary_size(). */
    static long dictionarySize(Handle dictionary) {
        return dictionarySize0(dictionary, Handle.address(dictionary));
    }

    private static native long dictionarySize0(Handle dictionaryOwner, long dictionary);

    /** realm_dictionary_to_results(). */
    static Handle dictionaryToResults(Handle dictionary) {
        return Handle.owning(dictionaryToResults0(dictionary, Handle.address(dictionary)), dictionary);
    }

    private static native long dictionaryToResults0(Handle dictionaryOwner, long dictionary);

    /** realm_freeze(). */
    static Handle freeze(Handle realm) {
        return Handle.owning(freeze0(realm, Handle.address(realm)), realm);
    }

    private static native long freeze0(Handle realmOwner, long realm);

    /** realm_get_library_version(). */
    static byte[] getLibraryVersion() {
        return getLibraryVersion0();
    }

    private static native byte[] getLibraryVersion0();

    /** realm_get_num_versions(). */
    static long getNumVersions(Handle realm) {
        return getNumVersions0(realm, Handle.address(realm));
    }

    private static native long getNumVersions0(Handle realmOwner, long realm);

    /** realm_get_schema_version(). */
    static long getSchemaVersion(Handle realm) {
        return getSchemaVersion0(realm, Handle.address(realm));
    }

    private static native long getSchemaVersion0(Handle realmOwner, long realm);

    /** crealm_interrupt(). */
    static boolean interrupt(Handle realm) {
        return interrupt0(realm, Handle.address(realm));
    }

    private static native boolean interrupt0(Handle realmOwner, long realm);

    /** realm_is_closed(). */
    static boolean isClosed(Handle realm) {
        return isClosed0(realm, Handle.address(realm));
    }

    private static native boolean isClosed0(Handle realmOwner, long realm);

    /** realm_is_writable(). */
    static boolean isWritable(Handle realm) {
        return isWritable0(realm, Handle.address(realm));
    }

    private static native boolean isWritable0(Handle realmOwner, long realm);

    /** realm_list_clear(). */
    static void listClear(Handle list) {
        Handle.guarded(list, () -> listClear0(list, Handle.address(list)));
    }

    private static native void listClear0(Handle listOwner, long list);

    /** realm_list_erase(). */
    static void listErase(Handle list, long index) {
        Handle.guarded(list, () -> listErase0(list, Handle.address(list), index));
    }

    private static native void listErase0(Handle listOwner, long list, long index);

    /** realm_list_find(). */
    static long listFind(Handle list, byte[] value) {
        return listFind0(list, Handle.address(list), value);
    }

    private static native long listFind0(Handle listOwner, long list, byte[] value);

    /** realm_list_get_dictionary(). */
    static Handle listGetDictionary(Handle list, long index) {
        return Handle.owning(listGetDictionary0(list, Handle.address(list), index), list);
    }

    private static native long listGetDictionary0(Handle listOwner, long list, long index);

    /** realm_list_get_list(). */
    static Handle listGetList(Handle list, long index) {
        return Handle.owning(listGetList0(list, Handle.address(list), index), list);
    }

    private static native long listGetList0(Handle listOwner, long list, long index);

    /** realm_list_insert(). */
    static void listInsert(Handle list, long index, byte[] value) {
        Handle.guarded(list, () -> listInsert0(list, Handle.address(list), index, value));
    }

    private static native void listInsert0(Handle listOwner, long list, long index, byte[] value);

    /** realm_list_insert_dictionary(). */
    static Handle listInsertDictionary(Handle list, long index) {
        return Handle.owning(Handle.guarded(list, () -> listInsertDictionary0(list, Handle.address(list), index)),
                list);
    }

    private static native long listInsertDictionary0(Handle listOwner, long list, long index);

    /** realm_list_insert_list(). */
    static Handle listInsertList(Handle list, long index) {
        return Handle.owning(Handle.guarded(list, () -> listInsertList0(list, Handle.address(list), index)), list);
    }

    private static native long listInsertList0(Handle listOwner, long list, long index);

    /** realm_list_is_valid(). */
    static boolean listIsValid(Handle list) {
        return listIsValid0(list, Handle.address(list));
    }

    private static native boolean listIsValid0(Handle listOwner, long list);

    /** realm_list_move(). */
    static void listMove(Handle list, long fromIndex, long toIndex) {
        Handle.guarded(list, () -> listMove0(list, Handle.address(list), fromIndex, toIndex));
    }

    private static native void listMove0(Handle listOwner, long list, long fromIndex, long toIndex);

    /** realm_list_remove_all(). */
    static void listRemoveAll(Handle list) {
        Handle.guarded(list, () -> listRemoveAll0(list, Handle.address(list)));
    }

    private static native void listRemoveAll0(Handle listOwner, long list);

    /** realm_list_set(). */
    static void listSet(Handle list, long index, byte[] value) {
        Handle.guarded(list, () -> listSet0(list, Handle.address(list), index, value));
    }

    private static native void listSet0(Handle listOwner, long list, long index, byte[] value);

    /** realm_list_set_dictionary(). */
    static Handle listSetDictionary(Handle list, long index) {
        return Handle.owning(Handle.guarded(list, () -> listSetDictionary0(list, Handle.address(list), index)), list);
    }

    private static native long listSetDictionary0(Handle listOwner, long list, long index);

    /** realm_list_set_list(). */
    static Handle listSetList(Handle list, long index) {
        return Handle.owning(Handle.guarded(list, () -> listSetList0(list, Handle.address(list), index)), list);
    }

    private static native long listSetList0(Handle listOwner, long list, long index);

    /** realm_list_size(). */
    static long listSize(Handle list) {
        return listSize0(list, Handle.address(list));
    }

    private static native long listSize0(Handle listOwner, long list);

    /** realm_list_to_results(). */
    static Handle listToResults(Handle list) {
        return Handle.owning(listToResults0(list, Handle.address(list)), list);
    }

    private static native long listToResults0(Handle listOwner, long list);

    /** realm_object_find_all(). */
    static Handle objectFindAll(Handle realm, int classKey) {
        return Handle.owning(objectFindAll0(realm, Handle.address(realm), classKey), realm);
    }

    private static native long objectFindAll0(Handle realmOwner, long realm, int classKey);

    /** realm_open(). */
    static Handle open(Handle config) {
        return Handle.owning(open0(config, Handle.address(config)), config);
    }

    private static native long open0(Handle configOwner, long config);

    /** realm_query_find_all(). */
    static Handle queryFindAll(Handle query) {
        return Handle.owning(queryFindAll0(query, Handle.address(query)), query);
    }

    private static native long queryFindAll0(Handle queryOwner, long query);

    /** realm_query_get_description(). */
    static byte[] queryGetDescription(Handle query) {
        return Handle.guarded(query, () -> queryGetDescription0(query, Handle.address(query)));
    }

    private static native byte[] queryGetDescription0(Handle queryOwner, long query);

    /** realm_refresh(). */
    static boolean refresh(Handle realm) {
        return Handle.guarded(realm, () -> refresh0(realm, Handle.address(realm)));
    }

    private static native boolean refresh0(Handle realmOwner, long realm);

    /** crealm_release_savepoint(). */
    static void releaseSavepoint(Handle realm, int savepoint) {
        Handle.guarded(realm, () -> releaseSavepoint0(realm, Handle.address(realm), savepoint));
    }

    private static native void releaseSavepoint0(Handle realmOwner, long realm, int savepoint);

    /** realm_remove_table(). */
    static boolean removeTable(Handle realm, String tableName) {
        return Handle.guarded(realm, () -> removeTable0(realm, Handle.address(realm), Texts.utf8(tableName)));
    }

    private static native boolean removeTable0(Handle realmOwner, long realm, byte[] tableName);

    /** realm_results_average(). */
    static byte[] resultsAverage(Handle results, long property) {
        return Handle.guarded(results, () -> resultsAverage0(results, Handle.address(results), property));
    }

    private static native byte[] resultsAverage0(Handle resultsOwner, long results, long property);

    /** realm_results_count(). */
    static long resultsCount(Handle results) {
        return resultsCount0(results, Handle.address(results));
    }

    private static native long resultsCount0(Handle resultsOwner, long results);

    /** realm_results_delete_all(). */
    static void resultsDeleteAll(Handle results) {
        Handle.guarded(results, () -> resultsDeleteAll0(results, Handle.address(results)));
    }

    private static native void resultsDeleteAll0(Handle resultsOwner, long results);

    /** realm_results_distinct(). */
    static Handle resultsDistinct(Handle results, String distinctString) {
        return Handle.owning(resultsDistinct0(results, Handle.address(results), Texts.utf8(distinctString)), results);
    }

    private static native long resultsDistinct0(Handle resultsOwner, long results, byte[] distinctString);

    /** realm_results_filter(). */
    static Handle resultsFilter(Handle results, Handle query) {
        return Handle.owning(resultsFilter0(results, Handle.address(results), query, Handle.address(query)), results);
    }

    private static native long resultsFilter0(Handle resultsOwner, long results, Handle queryOwner, long query);

    /** realm_results_get_query(). */
    static Handle resultsGetQuery(Handle results) {
        return Handle.owning(resultsGetQuery0(results, Handle.address(results)), results);
    }

    private static native long resultsGetQuery0(Handle resultsOwner, long results);

    /** realm_results_limit(). */
    static Handle resultsLimit(Handle results, long maxCount) {
        return Handle.owning(resultsLimit0(results, Handle.address(results), maxCount), results);
    }

    private static native long resultsLimit0(Handle resultsOwner, long results, long maxCount);

    /** realm_results_max(). */
    static byte[] resultsMax(Handle results, long property) {
        return Handle.guarded(results, () -> resultsMax0(results, Handle.address(results), property));
    }

    private static native byte[] resultsMax0(Handle resultsOwner, long results, long property);

    /** realm_results_min(). */
    static byte[] resultsMin(Handle results, long property) {
        return Handle.guarded(results, () -> resultsMin0(results, Handle.address(results), property));
    }

    private static native byte[] resultsMin0(Handle resultsOwner, long results, long property);

    /** realm_results_resolve_in(). */
    static Handle resultsResolveIn(Handle fromResults, Handle targetRealm) {
        return Handle.owning(resultsResolveIn0(fromResults, Handle.address(fromResults), targetRealm,
                Handle.address(targetRealm)), fromResults);
    }

    private static native long resultsResolveIn0(Handle fromResultsOwner, long fromResults, Handle targetRealmOwner,
            long targetRealm);

    /** realm_results_snapshot(). */
    static Handle resultsSnapshot(Handle results) {
        return Handle.owning(resultsSnapshot0(results, Handle.address(results)), results);
    }

    private static native long resultsSnapshot0(Handle resultsOwner, long results);

    /** realm_results_sort(). */
    static Handle resultsSort(Handle results, String sortString) {
        return Handle.owning(resultsSort0(results, Handle.address(results), Texts.utf8(sortString)), results);
    }

    private static native long resultsSort0(Handle resultsOwner, long results, byte[] sortString);

    /** realm_results_sum(). */
    static byte[] resultsSum(Handle results, long property) {
        return Handle.guarded(results, () -> resultsSum0(results, Handle.address(results), property));
    }

    private static native byte[] resultsSum0(Handle resultsOwner, long results, long property);

    /** realm_rollback(). */
    static void rollback(Handle realm) {
        Handle.guarded(realm, () -> rollback0(realm, Handle.address(realm)));
    }

    private static native void rollback0(Handle realmOwner, long realm);

    /** crealm_rollback_savepoint(). */
    static void rollbackSavepoint(Handle realm, int savepoint) {
        Handle.guarded(realm, () -> rollbackSavepoint0(realm, Handle.address(realm), savepoint));
    }

    private static native void rollbackSavepoint0(Handle realmOwner, long realm, int savepoint);

    /** realm_scheduler_make_default(). */
    static Handle schedulerMakeDefault() {
        return Handle.owning(schedulerMakeDefault0(), null);
    }

    private static native long schedulerMakeDefault0();

    /** crealm_scheduler_run(). */
    static boolean schedulerRun(Handle scheduler, int timeoutMs) {
        return Handle.guarded(scheduler, () -> schedulerRun0(scheduler, Handle.address(scheduler), timeoutMs));
    }

    private static native boolean schedulerRun0(Handle schedulerOwner, long scheduler, int timeoutMs);

    /** realm_schema_rename_property(). */
    static void schemaRenameProperty(Handle realm, Handle schema, String objectType, String oldName, String newName) {
        Handle.guarded(realm, () -> schemaRenameProperty0(realm, Handle.address(realm), schema,
                Handle.address(schema), Texts.utf8(objectType), Texts.utf8(oldName), Texts.utf8(newName)));
    }

    private static native void schemaRenameProperty0(Handle realmOwner, long realm, Handle schemaOwner, long schema,
            byte[] objectType, byte[] oldName, byte[] newName);

    /** realm_set_clear(). */
    static void setClear(Handle set) {
        Handle.guarded(set, () -> setClear0(set, Handle.address(set)));
    }

    private static native void setClear0(Handle setOwner, long set);

    /** realm_set_erase(). */
    static boolean setErase(Handle set, byte[] value) {
        return Handle.guarded(set, () -> setErase0(set, Handle.address(set), value));
    }

    private static native boolean setErase0(Handle setOwner, long set, byte[] value);

    /** realm_set_find(). */
    static long setFind(Handle set, byte[] value) {
        return setFind0(set, Handle.address(set), value);
    }

    private static native long setFind0(Handle setOwner, long set, byte[] value);

    /** realm_set_insert(). */
    static boolean setInsert(Handle set, byte[] value) {
        return Handle.guarded(set, () -> setInsert0(set, Handle.address(set), value));
    }

    private static native boolean setInsert0(Handle setOwner, long set, byte[] value);

    /** realm_set_is_valid(). */
    static boolean setIsValid(Handle set) {
        return setIsValid0(set, Handle.address(set));
    }

    private static native boolean setIsValid0(Handle setOwner, long set);

    /** realm_set_log_level(). */
    static void setLogLevel(int level) {
        setLogLevel0(level);
    }

    private static native void setLogLevel0(int level);

    /** realm_set_remove_all(). */
    static void setRemoveAll(Handle set) {
        Handle.guarded(set, () -> setRemoveAll0(set, Handle.address(set)));
    }

    private static native void setRemoveAll0(Handle setOwner, long set);

    /** realm_set_size(). */
    static long setSize(Handle set) {
        return setSize0(set, Handle.address(set));
    }

    private static native long setSize0(Handle setOwner, long set);

    /** realm_set_to_results(). */
    static Handle setToResults(Handle set) {
        return Handle.owning(setToResults0(set, Handle.address(set)), set);
    }

    private static native long setToResults0(Handle setOwner, long set);

    /** crealm_verify(). */
    static void verify(Handle realm) {
        verify0(realm, Handle.address(realm));
    }

    private static native void verify0(Handle realmOwner, long realm);
}
