import CRealmHeaders
import CoreEngine

/// Lists, sets and dictionaries.

private typealias Place = HandleType<CollectionHandle>

/// Returns whether a collection exists. The result false is not a failure, so the last error does not change.
private func isValid(_ type: Place, _ pointer: OpaquePointer?) -> Bool {
    guard pointer != nil else { return false }
    return anywhere(type, pointer, false) { (handle) throws(RealmError) in
        (try? handle.insideRealm { (_) throws(RealmError) in try handle.isThere() }) ?? false
    }
}

private func size(_ type: Place, _ pointer: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    inside(type, pointer) { (handle, _) throws(RealmError) in
        let count = try handle.size()
        out?.pointee = count
    }
}

private func property(_ type: Place, _ pointer: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?)
    -> Bool
{
    inside(type, pointer) { (handle, realm) throws(RealmError) in
        guard out != nil else { throw nullArgument() }
        _ = try handle.contents()
        try fillProperty(handle.box, realm.schema, handle.path.table, handle.path.column, out)
    }
}

func report(_ position: Int?, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?) {
    // The C API's "not found" is the largest size_t, which has the bits of −1.
    index?.pointee = position ?? -1
    found?.pointee = position != nil
}

// MARK: Lists

@_cdecl("realm_list_is_valid")
public func realm_list_is_valid(_ list: OpaquePointer?) -> Bool { isValid(.list, list) }

@_cdecl("realm_list_size")
public func realm_list_size(_ list: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    size(.list, list, out)
}

@_cdecl("realm_list_get_property")
public func realm_list_get_property(_ list: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool
{
    property(.list, list, out)
}

@_cdecl("realm_list_get")
public func realm_list_get(_ list: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    inside(.list, list) { (handle, _) throws(RealmError) in try handle.element(index, out) }
}

@_cdecl("realm_list_find")
public func realm_list_find(
    _ list: OpaquePointer?, _ value: UnsafePointer<realm_value_t>?, _ index: UnsafeMutablePointer<Int>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    return inside(.list, list) { (handle, realm) throws(RealmError) in
        guard let value else { throw nullArgument() }
        let wanted = try load(value.pointee)
        let elements = try handle.list()
        try realm.checkElement(wanted, of: handle.path)
        report(try elements.find(wanted), index, found)
    }
}

/// Returns the nested collection at a list index. Its path stays valid when the elements of the list move.
private func nested(_ handle: CollectionHandle, _ realm: Realm, _ index: Int, _ kind: Handle.Kind) throws(RealmError)
    -> Handle?
{
    let list = try handle.list()
    _ = try list.get(index)
    guard try realm.isMixed(handle.path) else {
        throw RealmError(.illegalOperation, "Only collections of Mixed values hold collections")
    }
    // If the element is of another kind, the handle is not valid.
    var path = handle.path
    path.steps.append(.stableKey(try list.stableKey(index)))
    return CollectionHandle(kind, handle.box, path)
}

@_cdecl("realm_list_get_list")
public func realm_list_get_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    handle(.list, list) { (handle, realm) throws(RealmError) in try nested(handle, realm, index, .list) }
}

@_cdecl("realm_list_get_dictionary")
public func realm_list_get_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    handle(.list, list) { (handle, realm) throws(RealmError) in try nested(handle, realm, index, .dictionary) }
}

@_cdecl("realm_list_get_linked_object")
public func realm_list_get_linked_object(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    from(.list, list) { (handle, _) throws(RealmError) in
        guard case .typedLink(let table, let key) = try handle.list().get(index) else { return nil }
        return ObjectHandle.make(handle.box, table, key)
    }
}

/// Runs a change that creates an object.
private func make(
    _ type: Place, _ pointer: OpaquePointer?, _ body: (CollectionHandle, Realm) throws(RealmError) -> (TableKey, ObjKey)
) -> OpaquePointer? {
    from(type, pointer) { (handle, realm) throws(RealmError) in
        let (table, key) = try body(handle, realm)
        return ObjectHandle.make(handle.box, table, key)
    }
}

/// Runs a change that creates a nested collection.
private func makeNested(
    _ type: Place, _ pointer: OpaquePointer?, _ kind: Handle.Kind,
    _ body: (CollectionHandle, Realm) throws(RealmError) -> CollectionPath
) -> OpaquePointer? {
    handle(type, pointer) { (handle, realm) throws(RealmError) in
        CollectionHandle(kind, handle.box, try body(handle, realm))
    }
}

private func resolve(
    _ type: Place, _ pointer: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    inside(type, pointer) { (handle, _) throws(RealmError) in
        guard let out else { throw nullArgument() }
        out.pointee = nil
        // A collection that does not exist in this Realm is not resolved, even if its path is valid in the other Realm.
        let isHere = try handle.isThere()
        try insideRealm(.realm, target) { (realmHandle, _) throws(RealmError) in
            let copy = CollectionHandle(handle.kind, realmHandle.box, handle.path)
            // The call always reads the other Realm, so that it begins to read.
            let isThere = try copy.isThere()
            if isHere && isThere { out.pointee = copy.out() }
        }
    }
}

@_cdecl("realm_list_insert")
public func realm_list_insert(_ list: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool {
    inside(.list, list) { (handle, _) throws(RealmError) in try handle.insert(try load(value), index) }
}

@_cdecl("realm_list_set")
public func realm_list_set(_ list: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool {
    inside(.list, list) { (handle, realm) throws(RealmError) in
        try realm.set(try load(value), at: index, in: handle.path)
    }
}

@_cdecl("realm_list_move")
public func realm_list_move(_ list: OpaquePointer?, _ from: Int, _ to: Int) -> Bool {
    inside(.list, list) { (handle, realm) throws(RealmError) in try realm.move(from, to: to, in: handle.path) }
}

@_cdecl("realm_list_erase")
public func realm_list_erase(_ list: OpaquePointer?, _ index: Int) -> Bool {
    inside(.list, list) { (handle, realm) throws(RealmError) in try realm.erase(at: index, in: handle.path) }
}

@_cdecl("realm_list_clear")
public func realm_list_clear(_ list: OpaquePointer?) -> Bool {
    inside(.list, list) { (handle, realm) throws(RealmError) in try realm.clear(handle.path, .list) }
}

@_cdecl("realm_list_remove_all")
public func realm_list_remove_all(_ list: OpaquePointer?) -> Bool {
    inside(.list, list) { (handle, realm) throws(RealmError) in try realm.removeAll(handle.path, .list) }
}

@_cdecl("realm_list_insert_list")
public func realm_list_insert_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, list, .list) { (handle, realm) throws(RealmError) in
        try realm.insertCollection(.list, at: index, in: handle.path)
    }
}

@_cdecl("realm_list_insert_dictionary")
public func realm_list_insert_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, list, .dictionary) { (handle, realm) throws(RealmError) in
        try realm.insertCollection(.dictionary, at: index, in: handle.path)
    }
}

@_cdecl("realm_list_set_list")
public func realm_list_set_list(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, list, .list) { (handle, realm) throws(RealmError) in
        try realm.setCollection(.list, at: index, in: handle.path)
    }
}

@_cdecl("realm_list_set_dictionary")
public func realm_list_set_dictionary(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, list, .dictionary) { (handle, realm) throws(RealmError) in
        try realm.setCollection(.dictionary, at: index, in: handle.path)
    }
}

@_cdecl("realm_list_insert_embedded")
public func realm_list_insert_embedded(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    make(.list, list) { (handle, realm) throws(RealmError) in try realm.insertNewObject(at: index, in: handle.path) }
}

@_cdecl("realm_list_set_embedded")
public func realm_list_set_embedded(_ list: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    make(.list, list) { (handle, realm) throws(RealmError) in try realm.setNewObject(at: index, in: handle.path) }
}

@_cdecl("realm_list_resolve_in")
public func realm_list_resolve_in(
    _ list: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    resolve(.list, list, target, out)
}

@_cdecl("realm_list_to_results")
public func realm_list_to_results(_ list: OpaquePointer?) -> OpaquePointer? { elements(.list, list) }

/// Returns live results over a list, a set or the values of a dictionary.
private func elements(_ type: Place, _ pointer: OpaquePointer?) -> OpaquePointer? {
    handle(type, pointer) { (handle, realm) throws(RealmError) in
        _ = try handle.contents()
        return ResultsHandle(handle.box, try ResultSet(realm, .collection(handle.path)))
    }
}

// MARK: Sets

@_cdecl("realm_set_is_valid")
public func realm_set_is_valid(_ set: OpaquePointer?) -> Bool { isValid(.set, set) }

@_cdecl("realm_set_size")
public func realm_set_size(_ set: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool { size(.set, set, out) }

@_cdecl("realm_set_get_property")
public func realm_set_get_property(_ set: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool {
    property(.set, set, out)
}

@_cdecl("realm_set_get")
public func realm_set_get(_ set: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    inside(.set, set) { (handle, _) throws(RealmError) in try handle.element(index, out) }
}

@_cdecl("realm_set_find")
public func realm_set_find(
    _ set: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.set, set) { (handle, _) throws(RealmError) in report(try handle.list().find(try load(value)), index, found)
    }
}

@_cdecl("realm_set_insert")
public func realm_set_insert(
    _ set: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?,
    _ inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.set, set) { (handle, realm) throws(RealmError) in
        let result = try realm.insertIntoSet(try load(value), handle.path)
        index?.pointee = result.index
        inserted?.pointee = result.inserted
    }
}

@_cdecl("realm_set_erase")
public func realm_set_erase(_ set: OpaquePointer?, _ value: realm_value_t, _ erased: UnsafeMutablePointer<Bool>?)
    -> Bool
{
    inside(.set, set) { (handle, realm) throws(RealmError) in
        let did = try realm.eraseFromSet(try load(value), handle.path)
        erased?.pointee = did
    }
}

@_cdecl("realm_set_clear")
public func realm_set_clear(_ set: OpaquePointer?) -> Bool {
    inside(.set, set) { (handle, realm) throws(RealmError) in try realm.clear(handle.path, .set) }
}

@_cdecl("realm_set_remove_all")
public func realm_set_remove_all(_ set: OpaquePointer?) -> Bool {
    inside(.set, set) { (handle, realm) throws(RealmError) in try realm.removeAll(handle.path, .set) }
}

@_cdecl("realm_set_resolve_in")
public func realm_set_resolve_in(
    _ set: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    resolve(.set, set, target, out)
}

@_cdecl("realm_set_to_results")
public func realm_set_to_results(_ set: OpaquePointer?) -> OpaquePointer? { elements(.set, set) }

// MARK: Dictionaries

@_cdecl("realm_dictionary_is_valid")
public func realm_dictionary_is_valid(_ dictionary: OpaquePointer?) -> Bool { isValid(.dictionary, dictionary) }

@_cdecl("realm_dictionary_size")
public func realm_dictionary_size(_ dictionary: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    size(.dictionary, dictionary, out)
}

@_cdecl("realm_dictionary_get_property")
public func realm_dictionary_get_property(
    _ dictionary: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?
)
    -> Bool
{
    property(.dictionary, dictionary, out)
}

private func find(_ dictionary: ElementDictionary, _ key: realm_value_t) throws(RealmError) -> Int? {
    guard case .string(let name) = try load(key) else { return nil }
    return try dictionary.find(name)
}

@_cdecl("realm_dictionary_find")
public func realm_dictionary_find(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.dictionary, dictionary) { (handle, _) throws(RealmError) in
        let content = try handle.dictionary()
        let index = try find(content, key)
        if let index, let out { store(try content.value(index), out) }
        found?.pointee = index != nil
    }
}

@_cdecl("realm_dictionary_get")
public func realm_dictionary_get(
    _ dictionary: OpaquePointer?, _ index: Int, _ key: UnsafeMutablePointer<realm_value_t>?,
    _ value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    inside(.dictionary, dictionary) { (handle, _) throws(RealmError) in
        let content = try handle.dictionary()
        let keyValue = try content.key(index), entryValue = try content.value(index)
        if let key { store(keyValue, key) }
        if let value { store(entryValue, value) }
    }
}

private func nested(_ dictionary: OpaquePointer?, _ key: realm_value_t, _ kind: Handle.Kind) -> OpaquePointer? {
    handle(.dictionary, dictionary) { (handle, realm) throws(RealmError) in
        guard case .string(let name) = try load(key) else {
            throw RealmError(.invalidArgument, "Dictionary keys are strings")
        }
        _ = try handle.dictionary()
        guard try realm.isMixed(handle.path) else {
            throw RealmError(.invalidProperty, "Only collections of Mixed values hold collections")
        }
        var path = handle.path
        path.steps.append(.name(Array(name)))
        // If the key does not exist or its value is of another kind, the handle is not valid.
        return CollectionHandle(kind, handle.box, path)
    }
}

@_cdecl("realm_dictionary_get_list")
public func realm_dictionary_get_list(_ dictionary: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    nested(dictionary, key, .list)
}

@_cdecl("realm_dictionary_get_dictionary")
public func realm_dictionary_get_dictionary(_ dictionary: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    nested(dictionary, key, .dictionary)
}

@_cdecl("realm_dictionary_get_linked_object")
public func realm_dictionary_get_linked_object(_ dictionary: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    from(.dictionary, dictionary) { (handle, _) throws(RealmError) in
        guard case .string(let name) = try load(key) else {
            throw RealmError(.invalidArgument, "Dictionary keys are strings")
        }
        let content = try handle.dictionary()
        guard let index = try content.find(name), case .typedLink(let table, let key) = try content.value(index) else {
            return nil
        }
        return ObjectHandle.make(handle.box, table, key)
    }
}

@_cdecl("realm_dictionary_contains_key")
public func realm_dictionary_contains_key(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.dictionary, dictionary) { (handle, _) throws(RealmError) in
        guard let found else { throw nullArgument() }
        let content = try handle.dictionary()
        if key.type != RLM_TYPE_STRING { throw RealmError(.invalidArgument, "Dictionary keys are strings") }
        found.pointee = try find(content, key) != nil
    }
}

@_cdecl("realm_dictionary_contains_value")
public func realm_dictionary_contains_value(
    _ dictionary: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?
) -> Bool {
    inside(.dictionary, dictionary) { (handle, _) throws(RealmError) in
        guard let index else { throw nullArgument() }
        report(try handle.dictionary().findValue(try load(value)), index, nil)
    }
}

/// Returns the key of a new entry. Throws 3000 if it is not a string, and 3011 if it is null.
private func name(_ key: realm_value_t) throws(RealmError) -> Bytes {
    if key.type == RLM_TYPE_STRING, key.string.data == nil {
        throw RealmError(.invalidDictionaryKey, "Dictionary::insert: key cannot be null")
    }
    guard case .string(let name) = try load(key) else {
        throw RealmError(.invalidArgument, "Dictionary keys are strings")
    }
    return name
}

@_cdecl("realm_dictionary_insert")
public func realm_dictionary_insert(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?,
    _ inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.dictionary, dictionary) { (handle, realm) throws(RealmError) in
        let result = try realm.setValue(try load(value), forKey: try name(key), in: handle.path)
        index?.pointee = result.index
        inserted?.pointee = result.inserted
    }
}

@_cdecl("realm_dictionary_insert_embedded")
public func realm_dictionary_insert_embedded(_ dictionary: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    make(.dictionary, dictionary) { (handle, realm) throws(RealmError) in
        try realm.setNewObject(forKey: try name(key), in: handle.path)
    }
}

@_cdecl("realm_dictionary_insert_list")
public func realm_dictionary_insert_list(_ dictionary: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    makeNested(.dictionary, dictionary, .list) { (handle, realm) throws(RealmError) in
        try realm.setCollection(.list, forKey: try name(key), in: handle.path)
    }
}

@_cdecl("realm_dictionary_insert_dictionary")
public func realm_dictionary_insert_dictionary(_ dictionary: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    makeNested(.dictionary, dictionary, .dictionary) { (handle, realm) throws(RealmError) in
        try realm.setCollection(.dictionary, forKey: try name(key), in: handle.path)
    }
}

@_cdecl("realm_dictionary_erase")
public func realm_dictionary_erase(
    _ dictionary: OpaquePointer?, _ key: realm_value_t, _ erased: UnsafeMutablePointer<Bool>?
)
    -> Bool
{
    inside(.dictionary, dictionary) { (handle, realm) throws(RealmError) in
        var did = false
        if case .string(let name) = try load(key) {
            did = try realm.eraseKey(name, in: handle.path)
        } else {
            try realm.checkWritable(handle.path)
        }
        erased?.pointee = did
    }
}

@_cdecl("realm_dictionary_clear")
public func realm_dictionary_clear(_ dictionary: OpaquePointer?) -> Bool {
    inside(.dictionary, dictionary) { (handle, realm) throws(RealmError) in try realm.clear(handle.path, .dictionary) }
}

@_cdecl("realm_dictionary_get_keys")
public func realm_dictionary_get_keys(
    _ dictionary: OpaquePointer?, _ size: UnsafeMutablePointer<Int>?, _ keys: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    inside(.dictionary, dictionary) { (handle, realm) throws(RealmError) in
        guard let size, let keys else { throw nullArgument() }
        size.pointee = try handle.dictionary().count
        keys.pointee = ResultsHandle(handle.box, try ResultSet(realm, .keys(handle.path))).out()
    }
}

@_cdecl("realm_dictionary_resolve_in")
public func realm_dictionary_resolve_in(
    _ dictionary: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    resolve(.dictionary, dictionary, target, out)
}

@_cdecl("realm_dictionary_to_results")
public func realm_dictionary_to_results(_ dictionary: OpaquePointer?) -> OpaquePointer? {
    elements(.dictionary, dictionary)
}
