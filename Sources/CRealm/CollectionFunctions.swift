import CRealmHeaders
import CoreEngine

/// Reading lists, sets and dictionaries.

private func list(_ p: OpaquePointer?) -> CollectionHandle? { handle(p, .list, CollectionHandle.self) }
private func set(_ p: OpaquePointer?) -> CollectionHandle? { handle(p, .set, CollectionHandle.self) }
private func dictionary(_ p: OpaquePointer?) -> CollectionHandle? { handle(p, .dictionary, CollectionHandle.self) }

private func isValid(_ h: CollectionHandle?) -> Bool {
    guard let h else { return false }
    // Asking is no failure: the last error stays as it was.
    return (try? h.content()) != nil
}
private func size(_ h: CollectionHandle?, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    guard let h else { return false }
    return attempt { () throws(RealmError) in
        let n: Int
        switch try h.content() {
        case .list(let l): n = l.count
        case .dictionary(let d): n = d.count
        }
        out?.pointee = n
    }
}
private func property(_ h: CollectionHandle?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool {
    guard let h else { return false }
    return attempt { () throws(RealmError) in
        guard out != nil else { throw nullArgument() }
        _ = try h.content()
        try fillProperty(h.box, h.path.table, h.path.column, out)
    }
}
private func get(_ h: CollectionHandle?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool {
    guard let h else { return false }
    return attempt { () throws(RealmError) in
        let v = try h.list().get(index)
        if let out { store(v, out) }
    }
}
private func report(_ i: Int?, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?) {
    // The C API's "not found" is the largest size_t, which has the bits of −1.
    index?.pointee = i ?? -1
    found?.pointee = i != nil
}

// MARK: Lists

@_cdecl("realm_list_is_valid")
public func realm_list_is_valid(_ l: OpaquePointer?) -> Bool { l != nil && isValid(list(l)) }
@_cdecl("realm_list_size")
public func realm_list_size(_ l: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool { size(list(l), out) }
@_cdecl("realm_list_get_property")
public func realm_list_get_property(_ l: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool { property(list(l), out) }
@_cdecl("realm_list_get")
public func realm_list_get(_ l: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool { get(list(l), index, out) }
@_cdecl("realm_list_find")
public func realm_list_find(
    _ l: OpaquePointer?, _ value: UnsafePointer<realm_value_t>?, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    guard let h = list(l) else { return false }
    return attempt { () throws(RealmError) in
        guard let value else { throw nullArgument() }
        let v = try load(value.pointee)
        let elements = try h.list()
        try h.realm.checkElement(v, of: h.path)
        report(try elements.find(v), index, found)
    }
}
/// The nested collection at a list index, with a path that stays right when the list shifts.
private func nested(_ h: CollectionHandle, _ index: Int, _ kind: Handle.Kind) throws(RealmError) -> Handle? {
    let l = try h.list()
    _ = try l.get(index)
    guard try h.realm.isMixed(h.path) else { throw RealmError(.illegalOperation, "Only collections of Mixed values hold collections") }
    // An element of another kind gives a handle that is not valid.
    var path = h.path
    path.steps.append(.salt(try l.nestedKey(index)))
    return CollectionHandle(kind, h.box, path)
}
@_cdecl("realm_list_get_list")
public func realm_list_get_list(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    guard let h = list(l) else { return nil }
    return attemptHandle { () throws(RealmError) in try nested(h, index, .list) }
}
@_cdecl("realm_list_get_dictionary")
public func realm_list_get_dictionary(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    guard let h = list(l) else { return nil }
    return attemptHandle { () throws(RealmError) in try nested(h, index, .dictionary) }
}
@_cdecl("realm_list_get_linked_object")
public func realm_list_get_linked_object(_ l: OpaquePointer?, _ index: Int) -> OpaquePointer? {
    guard let h = list(l) else { return nil }
    return attemptObject { () throws(RealmError) in
        guard case .typedLink(let t, let k) = try h.list().get(index) else { return nil }
        return ObjectHandle.make(h.box, t, k)
    }
}

// MARK: Sets

@_cdecl("realm_set_is_valid")
public func realm_set_is_valid(_ s: OpaquePointer?) -> Bool { s != nil && isValid(set(s)) }
@_cdecl("realm_set_size")
public func realm_set_size(_ s: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool { size(set(s), out) }
@_cdecl("realm_set_get_property")
public func realm_set_get_property(_ s: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool { property(set(s), out) }
@_cdecl("realm_set_get")
public func realm_set_get(_ s: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?) -> Bool { get(set(s), index, out) }
@_cdecl("realm_set_find")
public func realm_set_find(
    _ s: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    guard let h = set(s) else { return false }
    return attempt { () throws(RealmError) in report(try h.list().find(try load(value)), index, found) }
}

// MARK: Dictionaries

@_cdecl("realm_dictionary_is_valid")
public func realm_dictionary_is_valid(_ d: OpaquePointer?) -> Bool { d != nil && isValid(dictionary(d)) }
@_cdecl("realm_dictionary_size")
public func realm_dictionary_size(_ d: OpaquePointer?, _ out: UnsafeMutablePointer<Int>?) -> Bool { size(dictionary(d), out) }
@_cdecl("realm_dictionary_get_property")
public func realm_dictionary_get_property(_ d: OpaquePointer?, _ out: UnsafeMutablePointer<realm_property_info_t>?) -> Bool { property(dictionary(d), out) }

private func find(_ d: ElementDictionary, _ key: realm_value_t) throws(RealmError) -> Int? {
    guard case .string(let name) = try load(key) else { return nil }
    return try d.find(name)
}
@_cdecl("realm_dictionary_find")
public func realm_dictionary_find(
    _ d: OpaquePointer?, _ key: realm_value_t, _ out: UnsafeMutablePointer<realm_value_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    guard let h = dictionary(d) else { return false }
    return attempt { () throws(RealmError) in
        let content = try h.dictionary()
        let i = try find(content, key)
        if let i, let out { store(try content.value(i), out) }
        found?.pointee = i != nil
    }
}
@_cdecl("realm_dictionary_get")
public func realm_dictionary_get(
    _ d: OpaquePointer?, _ index: Int, _ key: UnsafeMutablePointer<realm_value_t>?, _ value: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    guard let h = dictionary(d) else { return false }
    return attempt { () throws(RealmError) in
        let content = try h.dictionary()
        let k = try content.key(index), v = try content.value(index)
        if let key { store(k, key) }
        if let value { store(v, value) }
    }
}
private func nested(_ d: OpaquePointer?, _ key: realm_value_t, _ kind: Handle.Kind) -> OpaquePointer? {
    guard let h = dictionary(d) else { return nil }
    return attemptHandle { () throws(RealmError) in
        guard case .string(let name) = try load(key) else { throw RealmError(.invalidArgument, "Dictionary keys are strings") }
        _ = try h.dictionary()
        guard try h.realm.isMixed(h.path) else { throw RealmError(.invalidProperty, "Only collections of Mixed values hold collections") }
        var path = h.path
        path.steps.append(.name(Array(name)))
        // An absent key, or a value of another kind, gives a handle that is not valid.
        return CollectionHandle(kind, h.box, path)
    }
}
@_cdecl("realm_dictionary_get_list")
public func realm_dictionary_get_list(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? { nested(d, key, .list) }
@_cdecl("realm_dictionary_get_dictionary")
public func realm_dictionary_get_dictionary(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? { nested(d, key, .dictionary) }
@_cdecl("realm_dictionary_get_linked_object")
public func realm_dictionary_get_linked_object(_ d: OpaquePointer?, _ key: realm_value_t) -> OpaquePointer? {
    guard let h = dictionary(d) else { return nil }
    return attemptObject { () throws(RealmError) in
        guard case .string(let name) = try load(key) else { throw RealmError(.invalidArgument, "Dictionary keys are strings") }
        let content = try h.dictionary()
        guard let i = try content.find(name), case .typedLink(let t, let k) = try content.value(i) else { return nil }
        return ObjectHandle.make(h.box, t, k)
    }
}
@_cdecl("realm_dictionary_contains_key")
public func realm_dictionary_contains_key(_ d: OpaquePointer?, _ key: realm_value_t, _ found: UnsafeMutablePointer<Bool>?) -> Bool {
    guard let h = dictionary(d) else { return false }
    return attempt { () throws(RealmError) in
        guard let found else { throw nullArgument() }
        guard case .string(let name) = try load(key) else { throw RealmError(.invalidArgument, "Dictionary keys are strings") }
        found.pointee = try h.dictionary().find(name) != nil
    }
}
@_cdecl("realm_dictionary_contains_value")
public func realm_dictionary_contains_value(_ d: OpaquePointer?, _ value: realm_value_t, _ index: UnsafeMutablePointer<Int>?) -> Bool {
    guard let h = dictionary(d) else { return false }
    return attempt { () throws(RealmError) in
        guard let index else { throw nullArgument() }
        report(try h.dictionary().findValue(try load(value)), index, nil)
    }
}
