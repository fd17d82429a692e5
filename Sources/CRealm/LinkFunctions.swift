import CRealmHeaders
import CoreEngine

/// Reading and writing objects that are named by links: a language with a garbage collector needs no handle for each
/// object.

/// - Throws: `noSuchTable` for a link whose table is not a class.
private func named(_ link: UnsafePointer<realm_link_t>?, _ realm: Realm) throws(RealmError) -> (
    table: TableKey, key: ObjKey
) {
    guard let link else { throw nullArgument() }
    let table = TableKey(link.pointee.target_table)
    try realm.checkClass(table)
    return (table, ObjKey(link.pointee.target))
}

/// Gives the values of a call one by one.
private struct Values {
    let properties: UnsafePointer<Int64>?
    let values: UnsafePointer<realm_value_t>?

    init(_ count: Int, _ properties: UnsafePointer<Int64>?, _ values: UnsafePointer<realm_value_t>?) throws(RealmError)
    {
        guard count >= 0, count == 0 || (properties != nil && values != nil) else { throw nullArgument() }
        self.properties = properties
        self.values = values
    }

    func one(_ index: Int) throws(RealmError) -> Realm.PropertyValue {
        guard let properties, let values else { throw nullArgument() }
        return (ColKey(properties[index]), try load(values[index]))
    }
}

@_cdecl("crealm_find")
public func crealm_find(
    _ realm: OpaquePointer?, _ table: UInt32, _ primaryKey: UnsafePointer<realm_value_t>?,
    _ out: UnsafeMutablePointer<realm_link_t>?, _ found: UnsafeMutablePointer<Bool>?
) -> Bool {
    found?.pointee = false
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let primaryKey else { throw nullArgument() }
        try realm.checkClass(TableKey(table))
        let key = try realm.find(TableKey(table), primaryKey: try load(primaryKey.pointee))
        out?.pointee = realm_link_t(target_table: table, target: key?.raw ?? -1)
        found?.pointee = key != nil
    }
}

@_cdecl("crealm_create")
public func crealm_create(
    _ realm: OpaquePointer?, _ table: UInt32, _ primaryKey: UnsafePointer<realm_value_t>?, _ mode: crealm_update_mode_e,
    _ count: Int, _ properties: UnsafePointer<Int64>?, _ values: UnsafePointer<realm_value_t>?,
    _ out: UnsafeMutablePointer<realm_link_t>?, _ created: UnsafeMutablePointer<Bool>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let whenFound = Realm.WhenFound(rawValue: UInt32(truncatingIfNeeded: mode.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown update mode \(mode.rawValue)")
        }
        let given = try Values(count, properties, values)
        try realm.checkClass(TableKey(table))
        var key: Mixed?
        if let primaryKey { key = try load(primaryKey.pointee) }
        let made = try realm.create(TableKey(table), primaryKey: key, whenFound, count: count) {
            (index) throws(RealmError) in try given.one(index)
        }
        out?.pointee = realm_link_t(target_table: table, target: made.key.raw)
        created?.pointee = made.isNew
    }
}

@_cdecl("crealm_get_values")
public func crealm_get_values(
    _ realm: OpaquePointer?, _ object: UnsafePointer<realm_link_t>?, _ count: Int,
    _ properties: UnsafePointer<Int64>?, _ out: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let (table, key) = try named(object, realm)
        guard count >= 0, count == 0 || (properties != nil && out != nil) else { throw nullArgument() }
        guard count > 0, let properties, let out else { return try realm.checkObject(table, key) }
        for index in 0..<count { store(try realm.value(table, key, ColKey(properties[index])), out + index) }
    }
}

@_cdecl("crealm_set_values")
public func crealm_set_values(
    _ realm: OpaquePointer?, _ object: UnsafePointer<realm_link_t>?, _ count: Int,
    _ properties: UnsafePointer<Int64>?, _ values: UnsafePointer<realm_value_t>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let (table, key) = try named(object, realm)
        let given = try Values(count, properties, values)
        try realm.set(table, key, count: count) { (index) throws(RealmError) in try given.one(index) }
    }
}

@_cdecl("crealm_delete")
public func crealm_delete(_ realm: OpaquePointer?, _ object: UnsafePointer<realm_link_t>?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let (table, key) = try named(object, realm)
        try realm.delete(table, key)
    }
}
