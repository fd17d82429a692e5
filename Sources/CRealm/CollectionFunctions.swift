import CRealmHeaders
import CoreEngine

/// Lists, sets and dictionaries.

private typealias Place = Door<CollectionHandle>

/// Returns whether a collection exists. The result false is not a failure, so the last error does not change.
private func isValid(_ door: Place, _ p: OpaquePointer?) -> Bool {
    guard p != nil else { return false }
    return anywhere(door, p, false) { (h) throws(RealmError) in
        (try? h.visit { (_) throws(RealmError) in try h.isThere() }) ?? false
    }
}

private func size(_ door: Place, _ p: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    inside(door, p) { (h, _) throws(RealmError) in
        let count = try h.size()
        out?.pointee = count
    }
}

private func property(_ door: Place, _ p: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool {
    inside(door, p) { (h, realm) throws(RealmError) in
        guard out != nil else { throw nullArgument() }
        _ = try h.contents()
        try fillProperty(h.box, realm.schema, h.path.table, h.path.column, out)
    }
}

func report(_ i: Int?, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?) {
    // The C API's "not found" is the largest size_t, which has the bits of −1.
    index?.pointee = i ?? -1
    found?.pointee = i != nil
}

// MARK: Lists

@_cdecl("realm_list_is_valid")
public func realm_list_is_valid(_ l: OpaquePointer?) -> Bool { isValid(.list, l) }

@_cdecl("realm_list_size")
public func realm_list_size(_ l: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool { size(.list, l, out) }

@_cdecl("realm_list_get_property")
public func realm_list_get_property(_ l: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool {
    property(.list, l, out)
}

@_cdecl("realm_list_get")
public func realm_list_get(_ l: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    inside(.list, l) { (h, _) throws(RealmError) in try h.element(index, out) }
}

@_cdecl("realm_list_find")
public func realm_list_find(
    _ l: OpaquePointer?, _ value: UnsafePointer<realm_value_t>?, _ index: UnsafeMutablePointer<Int>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    report(nil, index, found)
    return inside(.list, l) { (h, realm) throws(RealmError) in
        guard let value else { throw nullArgument() }
        let wanted = try load(value.pointee)
        let elements = try h.list()
        try realm.checkElement(wanted, of: h.path)
        report(try elements.find(wanted), index, found)
    }
}

/// Returns the nested collection at a list index. Its path stays valid when the elements of the list move.
private func nested(_ h: CollectionHandle, _ realm: Realm, _ index: Int, _ kind: Handle.Kind) throws(RealmError)
    -> Handle?
{
    let list = try h.list()
    _ = try list.get(index)
    guard try realm.isMixed(h.path) else {
        throw RealmError(.illegalOperation, "Only collections of Mixed values hold collections")
    }
    // If the element is of another kind, the handle is not valid.
    var path = h.path
    path.steps.append(.salt(try list.nestedKey(index)))
    return CollectionHandle(kind, h.box, path)
}

@_cdecl("realm_list_get_list")
public func realm_list_get_list(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    handle(.list, l) { (h, realm) throws(RealmError) in try nested(h, realm, index, .list) }
}

@_cdecl("realm_list_get_dictionary")
public func realm_list_get_dictionary(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    handle(.list, l) { (h, realm) throws(RealmError) in try nested(h, realm, index, .dictionary) }
}

@_cdecl("realm_list_get_linked_object")
public func realm_list_get_linked_object(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    from(.list, l) { (h, _) throws(RealmError) in
        guard case .typedLink(let table, let key) = try h.list().get(index) else { return nil }
        return ObjectHandle.make(h.box, table, key)
    }
}

/// Runs a change that creates an object.
private func make(
    _ door: Place, _ p: OpaquePointer?, _ body: (CollectionHandle, Realm) throws(RealmError) -> (TableKey, ObjKey)
) -> OpaquePointer? {
    from(door, p) { (h, realm) throws(RealmError) in
        let (table, key) = try body(h, realm)
        return ObjectHandle.make(h.box, table, key)
    }
}

/// Runs a change that creates a nested collection.
private func makeNested(
    _ door: Place, _ p: OpaquePointer?, _ kind: Handle.Kind,
    _ body: (CollectionHandle, Realm) throws(RealmError) -> CollectionPath
) -> OpaquePointer? {
    handle(door, p) { (h, realm) throws(RealmError) in CollectionHandle(kind, h.box, try body(h, realm)) }
}

private func resolve(
    _ door: Place, _ p: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    inside(door, p) { (h, _) throws(RealmError) in
        guard let out else { throw nullArgument() }
        out.pointee = nil
        // A collection that does not exist in this Realm is not resolved, even if its path is valid in the other Realm.
        let isHere = try h.isThere()
        try visit(.realm, target) { (r, _) throws(RealmError) in
            let copy = CollectionHandle(h.kind, r.box, h.path)
            // The call always reads the other Realm, so that it begins to read.
            let isThere = try copy.isThere()
            if isHere && isThere { out.pointee = copy.out() }
        }
    }
}

@_cdecl("realm_list_insert")
public func realm_list_insert(_ l: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool {
    inside(.list, l) { (h, _) throws(RealmError) in try h.insert(try load(value), index) }
}

@_cdecl("realm_list_set")
public func realm_list_set(_ l: OpaquePointer?, _ index: Int, _ value: realm_value_t) -> Bool {
    inside(.list, l) { (h, realm) throws(RealmError) in try realm.set(try load(value), at: index, in: h.path) }
}

@_cdecl("realm_list_move")
public func realm_list_move(_ l: OpaquePointer?, _ from: Int, _ to: Int) -> Bool {
    inside(.list, l) { (h, realm) throws(RealmError) in try realm.move(from, to: to, in: h.path) }
}

@_cdecl("realm_list_erase")
public func realm_list_erase(_ l: OpaquePointer?, _ index: Int) -> Bool {
    inside(.list, l) { (h, realm) throws(RealmError) in try realm.erase(at: index, in: h.path) }
}

@_cdecl("realm_list_clear")
public func realm_list_clear(_ l: OpaquePointer?) -> Bool {
    inside(.list, l) { (h, realm) throws(RealmError) in try realm.clear(h.path, .list) }
}

@_cdecl("realm_list_remove_all")
public func realm_list_remove_all(_ l: OpaquePointer?) -> Bool {
    inside(.list, l) { (h, realm) throws(RealmError) in try realm.removeAll(h.path, .list) }
}

@_cdecl("realm_list_insert_list")
public func realm_list_insert_list(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, l, .list) { (h, realm) throws(RealmError) in
        try realm.insertCollection(.list, at: index, in: h.path)
    }
}

@_cdecl("realm_list_insert_dictionary")
public func realm_list_insert_dictionary(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, l, .dictionary) { (h, realm) throws(RealmError) in
        try realm.insertCollection(.dictionary, at: index, in: h.path)
    }
}

@_cdecl("realm_list_set_list")
public func realm_list_set_list(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, l, .list) { (h, realm) throws(RealmError) in try realm.setCollection(.list, at: index, in: h.path)
    }
}

@_cdecl("realm_list_set_dictionary")
public func realm_list_set_dictionary(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    makeNested(.list, l, .dictionary) { (h, realm) throws(RealmError) in
        try realm.setCollection(.dictionary, at: index, in: h.path)
    }
}

@_cdecl("realm_list_insert_embedded")
public func realm_list_insert_embedded(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    make(.list, l) { (h, realm) throws(RealmError) in try realm.insertNewObject(at: index, in: h.path) }
}

@_cdecl("realm_list_set_embedded")
public func realm_list_set_embedded(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    make(.list, l) { (h, realm) throws(RealmError) in try realm.setNewObject(at: index, in: h.path) }
}

@_cdecl("realm_list_resolve_in")
public func realm_list_resolve_in(
    _ l: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    resolve(.list, l, target, out)
}

@_cdecl("realm_list_to_results")
public func realm_list_to_results(_ l: OpaquePointer?) -> OpaquePointer? { elements(.list, l) }

/// Returns live results over a list, a set or the values of a dictionary.
private func elements(_ door: Place, _ p: OpaquePointer?) -> OpaquePointer? {
    handle(door, p) { (h, realm) throws(RealmError) in
        _ = try h.contents()
        return ResultsHandle(h.box, try ResultSet(realm, .collection(h.path)))
    }
}

// MARK: Sets

@_cdecl("realm_set_is_valid")
public func realm_set_is_valid(_ s: OpaquePointer?) -> Bool { isValid(.set, s) }

@_cdecl("realm_set_size")
public func realm_set_size(_ s: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool { size(.set, s, out) }

@_cdecl("realm_set_get_property")
public func realm_set_get_property(_ s: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool {
    property(.set, s, out)
}

@_cdecl("realm_set_get")
public func realm_set_get(_ s: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    inside(.set, s) { (h, _) throws(RealmError) in try h.element(index, out) }
}

@_cdecl("realm_set_find")
public func realm_set_find(
    _ s: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.set, s) { (h, _) throws(RealmError) in report(try h.list().find(try load(value)), index, found) }
}

@_cdecl("realm_set_insert")
public func realm_set_insert(
    _ s: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?,
    _ inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.set, s) { (h, realm) throws(RealmError) in
        let result = try realm.insertIntoSet(try load(value), h.path)
        index?.pointee = result.index
        inserted?.pointee = result.inserted
    }
}

@_cdecl("realm_set_erase")
public func realm_set_erase(_ s: OpaquePointer?, _ value: realm_value_t, _ erased: UnsafeMutablePointer<Bool>?) -> Bool
{
    inside(.set, s) { (h, realm) throws(RealmError) in
        let did = try realm.eraseFromSet(try load(value), h.path)
        erased?.pointee = did
    }
}

@_cdecl("realm_set_clear")
public func realm_set_clear(_ s: OpaquePointer?) -> Bool {
    inside(.set, s) { (h, realm) throws(RealmError) in try realm.clear(h.path, .set) }
}

@_cdecl("realm_set_remove_all")
public func realm_set_remove_all(_ s: OpaquePointer?) -> Bool {
    inside(.set, s) { (h, realm) throws(RealmError) in try realm.removeAll(h.path, .set) }
}

@_cdecl("realm_set_resolve_in")
public func realm_set_resolve_in(
    _ s: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    resolve(.set, s, target, out)
}

@_cdecl("realm_set_to_results")
public func realm_set_to_results(_ s: OpaquePointer?) -> OpaquePointer? { elements(.set, s) }

// MARK: Dictionaries

@_cdecl("realm_dictionary_is_valid")
public func realm_dictionary_is_valid(_ d: OpaquePointer?) -> Bool { isValid(.dictionary, d) }

@_cdecl("realm_dictionary_size")
public func realm_dictionary_size(_ d: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    size(.dictionary, d, out)
}

@_cdecl("realm_dictionary_get_property")
public func realm_dictionary_get_property(_ d: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?)
    -> Bool
{
    property(.dictionary, d, out)
}

private func find(_ d: ElementDictionary, _ key: realm_value_t) throws(RealmError) -> Int? {
    guard case .string(let name) = try load(key) else { return nil }
    return try d.find(name)
}

@_cdecl("realm_dictionary_find")
public func realm_dictionary_find(
    _ d: OpaquePointer?, _ key: realm_value_t, _ out: UnsafeMutablePointer<realm_value_t>?,
    _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.dictionary, d) { (h, _) throws(RealmError) in
        let content = try h.dictionary()
        let index = try find(content, key)
        if let index, let out { store(try content.value(index), out) }
        found?.pointee = index != nil
    }
}

@_cdecl("realm_dictionary_get")
public func realm_dictionary_get(
    _ d: OpaquePointer?, _ index: Int, _ key: UnsafeMutablePointer<realm_value_t>?,
    _ value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    inside(.dictionary, d) { (h, _) throws(RealmError) in
        let content = try h.dictionary()
        let keyValue = try content.key(index), entryValue = try content.value(index)
        if let key { store(keyValue, key) }
        if let value { store(entryValue, value) }
    }
}

private func nested(_ d: OpaquePointer?, _ key: realm_value_t, _ kind: Handle.Kind) -> OpaquePointer? {
    handle(.dictionary, d) { (h, realm) throws(RealmError) in
        guard case .string(let name) = try load(key) else {
            throw RealmError(.invalidArgument, "Dictionary keys are strings")
        }
        _ = try h.dictionary()
        guard try realm.isMixed(h.path) else {
            throw RealmError(.invalidProperty, "Only collections of Mixed values hold collections")
        }
        var path = h.path
        path.steps.append(.name(Array(name)))
        // If the key does not exist or its value is of another kind, the handle is not valid.
        return CollectionHandle(kind, h.box, path)
    }
}

@_cdecl("realm_dictionary_get_list")
public func realm_dictionary_get_list(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    nested(d, key, .list)
}

@_cdecl("realm_dictionary_get_dictionary")
public func realm_dictionary_get_dictionary(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    nested(d, key, .dictionary)
}

@_cdecl("realm_dictionary_get_linked_object")
public func realm_dictionary_get_linked_object(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    from(.dictionary, d) { (h, _) throws(RealmError) in
        guard case .string(let name) = try load(key) else {
            throw RealmError(.invalidArgument, "Dictionary keys are strings")
        }
        let content = try h.dictionary()
        guard let index = try content.find(name), case .typedLink(let table, let key) = try content.value(index) else {
            return nil
        }
        return ObjectHandle.make(h.box, table, key)
    }
}

@_cdecl("realm_dictionary_contains_key")
public func realm_dictionary_contains_key(
    _ d: OpaquePointer?, _ key: realm_value_t, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.dictionary, d) { (h, _) throws(RealmError) in
        guard let found else { throw nullArgument() }
        let content = try h.dictionary()
        if key.type != RLM_TYPE_STRING { throw RealmError(.invalidArgument, "Dictionary keys are strings") }
        found.pointee = try find(content, key) != nil
    }
}

@_cdecl("realm_dictionary_contains_value")
public func realm_dictionary_contains_value(
    _ d: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?
) -> Bool {
    inside(.dictionary, d) { (h, _) throws(RealmError) in
        guard let index else { throw nullArgument() }
        report(try h.dictionary().findValue(try load(value)), index, nil)
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
    _ d: OpaquePointer?, _ key: realm_value_t, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?,
    _ inserted: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.dictionary, d) { (h, realm) throws(RealmError) in
        let result = try realm.setValue(try load(value), forKey: try name(key), in: h.path)
        index?.pointee = result.index
        inserted?.pointee = result.inserted
    }
}

@_cdecl("realm_dictionary_insert_embedded")
public func realm_dictionary_insert_embedded(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    make(.dictionary, d) { (h, realm) throws(RealmError) in try realm.setNewObject(forKey: try name(key), in: h.path) }
}

@_cdecl("realm_dictionary_insert_list")
public func realm_dictionary_insert_list(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    makeNested(.dictionary, d, .list) { (h, realm) throws(RealmError) in
        try realm.setCollection(.list, forKey: try name(key), in: h.path)
    }
}

@_cdecl("realm_dictionary_insert_dictionary")
public func realm_dictionary_insert_dictionary(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    makeNested(.dictionary, d, .dictionary) { (h, realm) throws(RealmError) in
        try realm.setCollection(.dictionary, forKey: try name(key), in: h.path)
    }
}

@_cdecl("realm_dictionary_erase")
public func realm_dictionary_erase(_ d: OpaquePointer?, _ key: realm_value_t, _ erased: UnsafeMutablePointer<Bool>?)
    -> Bool
{
    inside(.dictionary, d) { (h, realm) throws(RealmError) in
        var did = false
        if case .string(let name) = try load(key) {
            did = try realm.eraseKey(name, in: h.path)
        } else {
            try realm.checkWritable(h.path)
        }
        erased?.pointee = did
    }
}

@_cdecl("realm_dictionary_clear")
public func realm_dictionary_clear(_ d: OpaquePointer?) -> Bool {
    inside(.dictionary, d) { (h, realm) throws(RealmError) in try realm.clear(h.path, .dictionary) }
}

@_cdecl("realm_dictionary_get_keys")
public func realm_dictionary_get_keys(
    _ d: OpaquePointer?, _ size: UnsafeMutablePointer<Int>?, _ keys: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    inside(.dictionary, d) { (h, realm) throws(RealmError) in
        guard let size, let keys else { throw nullArgument() }
        size.pointee = try h.dictionary().count
        keys.pointee = ResultsHandle(h.box, try ResultSet(realm, .keys(h.path))).out()
    }
}

@_cdecl("realm_dictionary_resolve_in")
public func realm_dictionary_resolve_in(
    _ d: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    resolve(.dictionary, d, target, out)
}

@_cdecl("realm_dictionary_to_results")
public func realm_dictionary_to_results(_ d: OpaquePointer?) -> OpaquePointer? { elements(.dictionary, d) }
