import CRealmHeaders
import CoreEngine

/// Callbacks of objects, collections and results, and the change sets that they receive.

// MARK: Adding callbacks

/// - Parameter paths: NULL for all properties.
private func keyPaths(_ paths: OpaquePointer?) throws(RealmError) -> [KeyPath]? {
    guard paths != nil else { return nil }
    return try borrow(.keyPaths, paths) { (keyPaths) in keyPaths.paths }
}

@_cdecl("realm_create_key_path_array")
public func realm_create_key_path_array(
    _ realm: OpaquePointer?, _ objectClass: realm_class_key_t, _ count: Int,
    _ texts: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) -> OpaquePointer? {
    handle(.realm, realm) { (_, realm) throws(RealmError) in
        var all: [KeyPath] = []
        if let texts {
            for i in 0..<max(count, 0) {
                guard let keyPath = texts[i] else { throw nullArgument() }
                all += try realm.keyPaths(try text(keyPath), of: TableKey(objectClass))
            }
        }
        return KeyPathsHandle(all)
    }
}

@_cdecl("realm_object_add_notification_callback")
public func realm_object_add_notification_callback(
    _ object: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?,
    _ paths: OpaquePointer?,
    _ callback: realm_on_object_change_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return handle(.object, object) { (handle, realm) throws(RealmError) in
        try realm.checkObject(handle.table, handle.key)
        let paths = try keyPaths(paths)
        let made = try realm.observe(
            &handle.notifier, paths,
            { (transaction) in ObjectNotifier(handle.table, handle.key, at: transaction.version) }
        ) {
            (changes, versions) in
            guard let callback, case .object(let delta) = changes else { return }
            ObjectChangesHandle(delta, versions).lend { callback(data.pointer, $0) }
        }
        return NotificationToken(made.0, made.1)
    }
}

private func addCallback(
    _ type: HandleType<CollectionHandle>, _ pointer: OpaquePointer?, _ data: UserData, _ paths: OpaquePointer?,
    _ kind: CollectionNotifier.Kind,
    _ call: @escaping (ChangeSet, ClosedRange<UInt64>) -> Void
) -> OpaquePointer? {
    handle(type, pointer) { (handle, realm) throws(RealmError) in
        _ = try handle.contents()
        let paths = try keyPaths(paths)
        let made = try realm.observe(
            &handle.notifier, paths,
            { (transaction) throws(RealmError) in try CollectionNotifier(handle.path, kind, transaction) }, call)
        return NotificationToken(made.0, made.1)
    }
}

/// - Parameter callback: If NULL, `data` is kept and freed as for any other callback, and no function is called.
private func call(_ callback: realm_on_collection_change_func_t?, _ data: UserData) -> (ChangeSet, ClosedRange<UInt64>)
    -> Void
{
    { (changes, versions) in
        guard let callback, case .collection(let delta) = changes else { return }
        CollectionChangesHandle(delta, versions).lend { callback(data.pointer, $0) }
    }
}

@_cdecl("realm_list_add_notification_callback")
public func realm_list_add_notification_callback(
    _ list: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?,
    _ paths: OpaquePointer?,
    _ callback: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return addCallback(.list, list, data, paths, .rows, call(callback, data))
}

@_cdecl("realm_set_add_notification_callback")
public func realm_set_add_notification_callback(
    _ set: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?,
    _ paths: OpaquePointer?,
    _ callback: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return addCallback(.set, set, data, paths, .rows, call(callback, data))
}

@_cdecl("realm_dictionary_add_notification_callback")
public func realm_dictionary_add_notification_callback(
    _ dictionary: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?,
    _ paths: OpaquePointer?,
    _ callback: realm_on_dictionary_change_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return addCallback(
        .dictionary, dictionary, data, paths, .dictionary,
        { (changes, versions) in
            guard let callback, case .dictionary(let delta) = changes else { return }
            DictionaryChangesHandle(delta, versions).lend { callback(data.pointer, $0) }
        })
}

@_cdecl("realm_results_add_notification_callback")
public func realm_results_add_notification_callback(
    _ results: OpaquePointer?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?,
    _ paths: OpaquePointer?,
    _ callback: realm_on_collection_change_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return handle(.results, results) { (handle, results) throws(RealmError) in
        let paths = try keyPaths(paths)
        let made = try results.realm.observe(
            &handle.notifier, paths, joins: true,
            { (transaction) throws(RealmError) in try results.makeNotifier(transaction) },
            call(callback, data))
        return NotificationToken(made.0, made.1)
    }
}

// MARK: Own commits

@_cdecl("crealm_commit_without_notifying")
public func crealm_commit_without_notifying(
    _ realm: OpaquePointer?, _ tokens: UnsafePointer<OpaquePointer?>?, _ count: Int
)
    -> Bool
{
    inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in
        var silent: [(notifier: Notifier, id: Int)] = []
        for i in 0..<max(count, 0) {
            guard let tokens else { throw nullArgument() }
            try borrow(.notificationToken, tokens[i]) { (token) in
                if let notifier = token.notifier { silent.append((notifier, token.id)) }
            }
        }
        try realm.commitWrite(silent: silent)
    }
}

@_cdecl("crealm_object_changes_get_versions")
public func crealm_object_changes_get_versions(
    _ changes: OpaquePointer?, _ before: UnsafeMutablePointer<UInt64>?, _ after: UnsafeMutablePointer<UInt64>?
) -> Bool {
    anywhere(.objectChanges, changes, false) { (changes) in changes.tellVersions(before, after) }
}

@_cdecl("crealm_collection_changes_get_versions")
public func crealm_collection_changes_get_versions(
    _ changes: OpaquePointer?, _ before: UnsafeMutablePointer<UInt64>?, _ after: UnsafeMutablePointer<UInt64>?
) -> Bool {
    anywhere(.collectionChanges, changes, false) { (changes) in changes.tellVersions(before, after) }
}

@_cdecl("crealm_dictionary_changes_get_versions")
public func crealm_dictionary_changes_get_versions(
    _ changes: OpaquePointer?, _ before: UnsafeMutablePointer<UInt64>?, _ after: UnsafeMutablePointer<UInt64>?
) -> Bool {
    anywhere(.dictionaryChanges, changes, false) { (changes) in changes.tellVersions(before, after) }
}

// MARK: Reading change sets

/// Copies as many elements as fit into the output array.
private func copy<T>(_ from: some Sequence<T>, _ to: UnsafeMutablePointer<T>?, _ most: Int) {
    guard let to, most > 0 else { return }
    for (i, value) in from.prefix(most).enumerated() { to[i] = value }
}

@_cdecl("realm_object_changes_is_deleted")
public func realm_object_changes_is_deleted(_ changes: OpaquePointer?) -> Bool {
    anywhere(.objectChanges, changes, false) { (changes) in changes.changes.isDeleted }
}

@_cdecl("realm_object_changes_get_num_modified_properties")
public func realm_object_changes_get_num_modified_properties(_ changes: OpaquePointer?) -> Int {
    anywhere(.objectChanges, changes, 0) { (changes) in changes.changes.properties.count }
}

@_cdecl("realm_object_changes_get_modified_properties")
public func realm_object_changes_get_modified_properties(
    _ changes: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_key_t>?, _ most: Int
) -> Int {
    anywhere(.objectChanges, changes, 0) { (changes) in
        let all = changes.changes.properties
        guard out != nil else { return all.count }
        copy(all.map(\.raw), out, most)
        return min(all.count, max(most, 0))
    }
}

@_cdecl("realm_collection_changes_get_num_changes")
public func realm_collection_changes_get_num_changes(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<Int>?, _ insertions: UnsafeMutablePointer<Int>?,
    _ modifications: UnsafeMutablePointer<Int>?, _ moves: UnsafeMutablePointer<Int>?,
    _ isCleared: UnsafeMutablePointer<Bool>?,
    _ isDeleted: UnsafeMutablePointer<Bool>?
) {
    anywhere(.collectionChanges, changes, ()) { (changes) in
        deletions?.pointee = changes.changes.deletions.count
        insertions?.pointee = changes.changes.insertions.count
        modifications?.pointee = changes.changes.modifications.count
        moves?.pointee = changes.changes.moves.count
        isCleared?.pointee = changes.changes.isCleared
        isDeleted?.pointee = changes.changes.isDeleted
    }
}

@_cdecl("realm_collection_changes_get_num_ranges")
public func realm_collection_changes_get_num_ranges(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<Int>?, _ insertions: UnsafeMutablePointer<Int>?,
    _ modifications: UnsafeMutablePointer<Int>?, _ moves: UnsafeMutablePointer<Int>?
) {
    anywhere(.collectionChanges, changes, ()) { (changes) in
        deletions?.pointee = changes.changes.deletions.ranges.count
        insertions?.pointee = changes.changes.insertions.ranges.count
        modifications?.pointee = changes.changes.modifications.ranges.count
        moves?.pointee = changes.changes.moves.count
    }
}

private func copy(_ moves: [(from: Int, to: Int)], _ out: UnsafeMutablePointer<realm_collection_move_t>?, _ most: Int) {
    copy(moves.map { realm_collection_move_t(from: $0.from, to: $0.to) }, out, most)
}

@_cdecl("realm_collection_changes_get_changes")
public func realm_collection_changes_get_changes(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<Int>?, _ mostDeletions: Int,
    _ insertions: UnsafeMutablePointer<Int>?,
    _ mostInsertions: Int, _ modifications: UnsafeMutablePointer<Int>?, _ mostModifications: Int,
    _ after: UnsafeMutablePointer<Int>?,
    _ mostAfter: Int, _ moves: UnsafeMutablePointer<realm_collection_move_t>?, _ mostMoves: Int
) {
    anywhere(.collectionChanges, changes, ()) { (changes) in
        copy(changes.changes.deletions.indices, deletions, mostDeletions)
        copy(changes.changes.insertions.indices, insertions, mostInsertions)
        copy(changes.changes.modifications.indices, modifications, mostModifications)
        copy(changes.changes.modificationsAfter.indices, after, mostAfter)
        copy(changes.changes.moves, moves, mostMoves)
    }
}

@_cdecl("crealm_collection_changes_get_all")
public func crealm_collection_changes_get_all(
    _ changes: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_collection_changes_t>?>?
) -> Bool {
    out?.pointee = nil
    return anywhere(.collectionChanges, changes, false) { (handle) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let changes = handle.changes
        out.pointee = try OwnBlock.make { block in
            func indices(_ set: IndexSet) -> UnsafeMutablePointer<Int>? { block.array(set.indices) { $1 } }
            return crealm_collection_changes_t(
                version_before: handle.versions.lowerBound, version_after: handle.versions.upperBound,
                deletions: indices(changes.deletions), num_deletions: changes.deletions.count,
                insertions: indices(changes.insertions), num_insertions: changes.insertions.count,
                modifications: indices(changes.modifications), num_modifications: changes.modifications.count,
                modifications_after: indices(changes.modificationsAfter),
                num_modifications_after: changes.modificationsAfter.count,
                moves: block.array(changes.moves) { realm_collection_move_t(from: $1.from, to: $1.to) },
                num_moves: changes.moves.count, was_cleared: changes.isCleared, is_deleted: changes.isDeleted)
        }
        return true
    }
}

private func copy(_ set: IndexSet, _ out: UnsafeMutablePointer<realm_index_range_t>?, _ most: Int) {
    copy(set.ranges.map { realm_index_range_t(from: $0.lowerBound, to: $0.upperBound) }, out, most)
}

@_cdecl("realm_collection_changes_get_ranges")
public func realm_collection_changes_get_ranges(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<realm_index_range_t>?, _ mostDeletions: Int,
    _ insertions: UnsafeMutablePointer<realm_index_range_t>?, _ mostInsertions: Int,
    _ modifications: UnsafeMutablePointer<realm_index_range_t>?, _ mostModifications: Int,
    _ after: UnsafeMutablePointer<realm_index_range_t>?,
    _ mostAfter: Int, _ moves: UnsafeMutablePointer<realm_collection_move_t>?, _ mostMoves: Int
) {
    anywhere(.collectionChanges, changes, ()) { (changes) in
        copy(changes.changes.deletions, deletions, mostDeletions)
        copy(changes.changes.insertions, insertions, mostInsertions)
        copy(changes.changes.modifications, modifications, mostModifications)
        copy(changes.changes.modificationsAfter, after, mostAfter)
        copy(changes.changes.moves, moves, mostMoves)
    }
}

@_cdecl("realm_dictionary_get_changes")
public func realm_dictionary_get_changes(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<Int>?, _ insertions: UnsafeMutablePointer<Int>?,
    _ modifications: UnsafeMutablePointer<Int>?, _ isDeleted: UnsafeMutablePointer<Bool>?
) {
    anywhere(.dictionaryChanges, changes, ()) { (changes) in
        deletions?.pointee = changes.deletions.count
        insertions?.pointee = changes.insertions.count
        modifications?.pointee = changes.modifications.count
        isDeleted?.pointee = changes.isDeleted
    }
}

@_cdecl("realm_dictionary_get_changed_keys")
public func realm_dictionary_get_changed_keys(
    _ changes: OpaquePointer?, _ deletions: UnsafeMutablePointer<realm_value_t>?,
    _ deletionCount: UnsafeMutablePointer<Int>?,
    _ insertions: UnsafeMutablePointer<realm_value_t>?, _ insertionCount: UnsafeMutablePointer<Int>?,
    _ modifications: UnsafeMutablePointer<realm_value_t>?, _ modificationCount: UnsafeMutablePointer<Int>?,
    _ isCleared: UnsafeMutablePointer<Bool>?
) {
    anywhere(.dictionaryChanges, changes, ()) { (changes) in
        // Copies either all keys of a kind or none, because the caller could not tell which keys are missing.
        func copyAll(
            _ keys: [realm_value_t], _ out: UnsafeMutablePointer<realm_value_t>?, _ count: UnsafeMutablePointer<Int>?
        ) {
            guard let count else { return }
            let fits = out != nil && count.pointee >= keys.count
            if fits { copy(keys, out, keys.count) }
            count.pointee = fits ? keys.count : 0
        }
        copyAll(changes.deletions, deletions, deletionCount)
        copyAll(changes.insertions, insertions, insertionCount)
        copyAll(changes.modifications, modifications, modificationCount)
        isCleared?.pointee = changes.isCleared
    }
}
