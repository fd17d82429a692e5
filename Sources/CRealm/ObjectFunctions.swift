import CRealmHeaders
import CoreEngine

/// Finding, creating, reading and writing objects.

@_cdecl("realm_get_num_objects")
public func realm_get_num_objects(_ realm: OpaquePointer?, _ table: UInt32, _ out: UnsafeMutablePointer<Int>?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let found = try realm.objectCount(TableKey(table))
        out?.pointee = found
    }
}

@_cdecl("realm_get_object")
public func realm_get_object(_ realm: OpaquePointer?, _ table: UInt32, _ key: Int64) -> OpaquePointer? {
    from(.realm, realm) { (handle, realm) throws(RealmError) in
        let tableKey = TableKey(table), objectKey = ObjKey(key)
        guard try realm.objectExists(tableKey, objectKey) else {
            throw RealmError(.noSuchObject, "No object with key '\(key)' in '\(try realm.tableName(tableKey))'")
        }
        return ObjectHandle.make(handle.box, tableKey, objectKey)
    }
}

@_cdecl("realm_object_get_parent")
public func realm_object_get_parent(
    _ object: OpaquePointer?, _ parent: UnsafeMutablePointer<OpaquePointer?>?, _ table: UnsafeMutablePointer<UInt32>?
) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        guard let (parentTable, parentKey) = try realm.parent(handle.table, handle.key) else {
            throw RealmError(.invalidDatabase, "An embedded object without parent")
        }
        parent?.pointee = ObjectHandle.make(handle.box, parentTable, parentKey)
        table?.pointee = parentTable.raw
    }
}

@_cdecl("realm_object_find_with_primary_key")
public func realm_object_find_with_primary_key(
    _ realm: OpaquePointer?, _ table: UInt32, _ pk: realm_value_t, _ found: UnsafeMutablePointer<Bool>?
) -> OpaquePointer? {
    found?.pointee = false
    return from(.realm, realm) { (handle, realm) throws(RealmError) in
        guard let key = try realm.find(TableKey(table), primaryKey: try load(pk)) else { return nil }
        found?.pointee = true
        return ObjectHandle.make(handle.box, TableKey(table), key)
    }
}

@_cdecl("realm_object_create")
public func realm_object_create(_ realm: OpaquePointer?, _ table: UInt32) -> OpaquePointer? {
    from(.realm, realm) { (handle, realm) throws(RealmError) in
        ObjectHandle.make(handle.box, TableKey(table), try realm.create(TableKey(table)))
    }
}

@_cdecl("realm_object_create_with_primary_key")
public func realm_object_create_with_primary_key(_ realm: OpaquePointer?, _ table: UInt32, _ pk: realm_value_t)
    -> OpaquePointer?
{
    from(.realm, realm) { (handle, realm) throws(RealmError) in
        ObjectHandle.make(
            handle.box, TableKey(table), try realm.create(TableKey(table), primaryKey: try load(pk), mustBeNew: true).0)
    }
}

@_cdecl("realm_object_get_or_create_with_primary_key")
public func realm_object_get_or_create_with_primary_key(
    _ realm: OpaquePointer?, _ table: UInt32, _ pk: realm_value_t, _ didCreate: UnsafeMutablePointer<Bool>?
) -> OpaquePointer? {
    from(.realm, realm) { (handle, realm) throws(RealmError) in
        let (key, new) = try realm.create(TableKey(table), primaryKey: try load(pk), mustBeNew: false)
        didCreate?.pointee = new
        return ObjectHandle.make(handle.box, TableKey(table), key)
    }
}

@_cdecl("realm_object_delete")
public func realm_object_delete(_ object: OpaquePointer?) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in try realm.delete(handle.table, handle.key) }
}

@_cdecl("realm_object_resolve_in")
public func realm_object_resolve_in(
    _ object: OpaquePointer?, _ target: OpaquePointer?, _ out: UnsafeMutablePointer<OpaquePointer?>?
) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        out.pointee = nil
        // An object that does not exist in this Realm is not resolved, even if its key is valid in the other Realm.
        let isHere = try realm.isAlive(handle.table, handle.key)
        try insideRealm(.realm, target) { (realmHandle, other) throws(RealmError) in
            // The call always reads the other Realm, so that it begins to read.
            let isThere = try other.isAlive(handle.table, handle.key)
            if isHere && isThere { out.pointee = ObjectHandle.make(realmHandle.box, handle.table, handle.key) }
        }
    }
}

@_cdecl("realm_object_add_int")
public func realm_object_add_int(_ object: OpaquePointer?, _ property: Int64, _ value: Int64) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        try realm.addInteger(handle.table, handle.key, ColKey(property), value)
    }
}

@_cdecl("realm_object_is_valid")
public func realm_object_is_valid(_ object: OpaquePointer?) -> Bool {
    anywhere(.object, object, false) { (object) throws(RealmError) in object.isValid }
}

@_cdecl("realm_object_get_key")
public func realm_object_get_key(_ object: OpaquePointer?) -> Int64 {
    anywhere(.object, object, -1) { (object) throws(RealmError) in object.named.made.raw }
}

@_cdecl("realm_object_get_table")
public func realm_object_get_table(_ object: OpaquePointer?) -> UInt32 {
    anywhere(.object, object, TableKey.null.raw) { (object) throws(RealmError) in object.table.raw }
}

@_cdecl("realm_object_as_link")
public func realm_object_as_link(_ object: OpaquePointer?) -> realm_link_t {
    anywhere(.object, object, realm_link_t(target_table: TableKey.null.raw, target: -1)) {
        (object) throws(RealmError) in
        realm_link_t(target_table: object.table.raw, target: object.named.made.raw)
    }
}

// MARK: Values

@_cdecl("realm_get_value")
public func realm_get_value(_ object: OpaquePointer?, _ property: Int64, _ out: UnsafeMutablePointer<realm_value_t>?)
    -> Bool
{
    do throws(RealmError) {
        let value = try readProperty(object, property)
        if let out { store(value, out) }
        return true
    } catch { return failed(error) }
}

@_cdecl("realm_get_values")
public func realm_get_values(
    _ object: OpaquePointer?, _ count: Int, _ properties: UnsafePointer<Int64>?,
    _ out: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        guard count >= 0, count == 0 || properties != nil else { throw nullArgument() }
        guard let properties else { return }
        for i in 0..<count {
            let value = try realm.value(handle.table, handle.key, ColKey(properties[i]))
            if let out { store(value, out + i) }
        }
    }
}

@_cdecl("realm_set_value")
public func realm_set_value(_ object: OpaquePointer?, _ property: Int64, _ value: realm_value_t, _ isDefault: Bool)
    -> Bool
{
    if isDefault {
        return inside(.object, object) { (handle, realm) throws(RealmError) in
            try realm.setDefault(handle.table, handle.key, ColKey(property), try load(value))
        }
    }
    do throws(RealmError) {
        try writeProperty(object, property, value)
        return true
    } catch { return failed(error) }
}

@_cdecl("realm_set_values")
public func realm_set_values(
    _ object: OpaquePointer?, _ count: Int, _ properties: UnsafePointer<Int64>?,
    _ values: UnsafePointer<realm_value_t>?,
    _ isDefault: Bool
) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        guard count >= 0, count == 0 || (properties != nil && values != nil) else { throw nullArgument() }
        guard let properties, let values else { return try realm.verifyAlive(handle.table, handle.key) }
        try realm.set(handle.table, handle.key, count: count, isDefault: isDefault) { (index) throws(RealmError) in
            (ColKey(properties[index]), try load(values[index]))
        }
    }
}

@_cdecl("realm_get_linked_object")
public func realm_get_linked_object(_ object: OpaquePointer?, _ property: Int64) -> OpaquePointer? {
    from(.object, object) { (handle, realm) throws(RealmError) in
        guard let (table, key) = try realm.linkedObject(handle.table, handle.key, ColKey(property)) else { return nil }
        return ObjectHandle.make(handle.box, table, key)
    }
}

// MARK: Collections of an object

private func collection(_ object: OpaquePointer?, _ property: Int64, _ shape: CollectionShape, _ kind: Handle.Kind)
    -> OpaquePointer?
{
    handle(.object, object) { (handle, realm) throws(RealmError) in
        try realm.checkCollection(handle.table, handle.key, ColKey(property), as: shape)
        return CollectionHandle(
            kind, handle.box, CollectionPath(table: handle.table, owner: handle.named, column: ColKey(property)))
    }
}

@_cdecl("realm_get_list")
public func realm_get_list(_ object: OpaquePointer?, _ property: Int64) -> OpaquePointer? {
    collection(object, property, .list, .list)
}

@_cdecl("realm_get_set")
public func realm_get_set(_ object: OpaquePointer?, _ property: Int64) -> OpaquePointer? {
    collection(object, property, .set, .set)
}

@_cdecl("realm_get_dictionary")
public func realm_get_dictionary(_ object: OpaquePointer?, _ property: Int64) -> OpaquePointer? {
    collection(object, property, .dictionary, .dictionary)
}

// MARK: Embedded objects, collections in Mixed values, JSON

@_cdecl("realm_set_embedded")
public func realm_set_embedded(_ object: OpaquePointer?, _ property: Int64) -> OpaquePointer? {
    from(.object, object) { (handle, realm) throws(RealmError) in
        let (table, key) = try realm.setNewObject(handle.table, handle.key, ColKey(property))
        return ObjectHandle.make(handle.box, table, key)
    }
}

private func setCollection(_ object: OpaquePointer?, _ property: Int64, _ shape: CollectionShape, _ kind: Handle.Kind)
    -> OpaquePointer?
{
    handle(.object, object) { (handle, realm) throws(RealmError) in
        try realm.setCollection(shape, handle.table, handle.key, ColKey(property))
        return CollectionHandle(
            kind, handle.box, CollectionPath(table: handle.table, owner: handle.named, column: ColKey(property)))
    }
}

@_cdecl("realm_set_list")
public func realm_set_list(_ object: OpaquePointer?, _ property: Int64) -> OpaquePointer? {
    setCollection(object, property, .list, .list)
}

@_cdecl("realm_set_dictionary")
public func realm_set_dictionary(_ object: OpaquePointer?, _ property: Int64) -> OpaquePointer? {
    setCollection(object, property, .dictionary, .dictionary)
}

@_cdecl("realm_set_json")
public func realm_set_json(_ object: OpaquePointer?, _ property: Int64, _ json: UnsafePointer<CChar>?) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        guard let json else { throw nullArgument() }
        try realm.setJSON(handle.table, handle.key, ColKey(property), Bytes(start: json, count: CMemory.length(json)))
    }
}

@_cdecl("realm_object_to_string")
public func realm_object_to_string(_ object: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    from(.object, object) { (handle, realm) throws(RealmError) in
        let text = try realm.json(handle.table, handle.key)
        guard let copy = CMemory.copy(text) else {
            throw RealmError(.outOfMemory, "No memory for the text of an object")
        }
        return copy
    }
}
