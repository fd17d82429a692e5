import CRealmHeaders
import CoreEngine

/// Schemas, classes, properties.

final class SchemaHandle: Handle {
    let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
        super.init(.schema)
    }

    override func isEqual(to other: Handle) -> Bool { (other as? SchemaHandle)?.schema == schema }

    override func cloned() -> Handle? { SchemaHandle(schema) }
}

/// Returns the schema behind an additional handle of a function.
private func schema(_ schema: OpaquePointer?) throws(RealmError) -> Schema {
    try borrow(.schema, schema) { (schema) throws(RealmError) in schema.schema }
}

private let flagNullable: Int32 = 1, flagPrimary: Int32 = 2, flagIndexed: Int32 = 4, flagFullText: Int32 = 8

private func nameArgument(_ start: UnsafePointer<CChar>?) throws(RealmError) -> Name { Name(try text(start)) }

private func optionalNameArgument(_ start: UnsafePointer<CChar>?) throws(RealmError) -> Name {
    start == nil ? "" : try nameArgument(start)
}

private func property(_ info: realm_property_info_t) throws(RealmError) -> Property {
    let name = try nameArgument(info.name)
    guard let type = PropertyType(rawValue: Int32(truncatingIfNeeded: info.type.rawValue)) else {
        throw RealmError(.invalidArgument, "Property '\(name)' has an unknown type (\(info.type.rawValue))")
    }
    guard let collection = CollectionKind(rawValue: Int32(truncatingIfNeeded: info.collection_type.rawValue)) else {
        throw RealmError(
            .invalidArgument, "Property '\(name)' has an unknown collection type (\(info.collection_type.rawValue))")
    }
    return Property(
        name, type, nullable: info.flags & flagNullable != 0, collection: collection,
        target: try optionalNameArgument(info.link_target),
        origin: try optionalNameArgument(info.link_origin_property_name), primary: info.flags & flagPrimary != 0,
        indexed: info.flags & flagIndexed != 0,
        fullText: info.flags & flagFullText != 0, publicName: try optionalNameArgument(info.public_name))
}

@_cdecl("realm_schema_new")
public func realm_schema_new(
    _ classes: UnsafePointer<realm_class_info_t>?, _ count: Int,
    _ properties: UnsafeMutablePointer<UnsafePointer<realm_property_info_t>?>?
) -> OpaquePointer? {
    attemptPointer { () throws(RealmError) in
        guard count >= 0, count <= 1 << 20 else {
            throw RealmError(.invalidArgument, "An impossible number of classes (\(count))")
        }
        guard count == 0 || (classes != nil && properties != nil) else { throw nullArgument() }
        var all: [ObjectSchema] = []
        for i in 0..<count {
            guard let classes, let properties else { break }
            let info = classes[i]
            let name = try nameArgument(info.name)
            let stored = info.num_properties, computed = info.num_computed_properties
            guard stored >= 0, computed >= 0, stored <= 1 << 20, computed <= 1 << 20 else {
                throw RealmError(.invalidArgument, "Class '\(name)' has an impossible number of properties")
            }
            guard stored + computed == 0 || properties[i] != nil else { throw nullArgument() }
            guard let kind = ObjectSchema.Kind(rawValue: info.flags & 3) else {
                throw RealmError(.invalidArgument, "Class '\(name)' has unknown flags (\(info.flags))")
            }
            var list: [Property] = []
            for j in 0..<(stored + computed) { if let infos = properties[i] { list.append(try property(infos[j])) } }
            let pk = try optionalNameArgument(info.primary_key)
            all.append(
                ObjectSchema(
                    name: name, kind: kind, primaryKey: pk, persisted: Array(list.prefix(stored)),
                    computed: Array(list.dropFirst(stored))))
        }
        return SchemaHandle(Schema(all)).out()
    }
}

@_cdecl("crealm_schema_from_json")
public func crealm_schema_from_json(_ json: UnsafePointer<CChar>?, _ size: Int) -> OpaquePointer? {
    attemptPointer { () throws(RealmError) in
        guard let json, size >= 0 else { throw nullArgument() }
        return SchemaHandle(try Schema(json: UnsafeRawBufferPointer(start: json, count: size))).out()
    }
}

@_cdecl("crealm_schema_to_json")
public func crealm_schema_to_json(_ schema: OpaquePointer?) -> UnsafeMutablePointer<CChar>? {
    anywhere(.schema, schema, nil) { (schema) throws(RealmError) in
        guard let copy = CMemory.copy(schema.schema.json) else {
            throw RealmError(.outOfMemory, "No memory for the text of a schema")
        }
        return copy
    }
}

@_cdecl("realm_schema_validate")
public func realm_schema_validate(_ schema: OpaquePointer?, _ mode: UInt64) -> Bool {
    anywhere(.schema, schema, false) { (schema) throws(RealmError) in
        try schema.schema.validate(Schema.ValidationMode(rawValue: mode))
        return true
    }
}

@_cdecl("realm_get_schema")
public func realm_get_schema(_ realm: OpaquePointer?) -> OpaquePointer? {
    anywhere(.realm, realm, nil) { (realm) throws(RealmError) in SchemaHandle(realm.schema).out() }
}

@_cdecl("realm_get_schema_version")
public func realm_get_schema_version(_ realm: OpaquePointer?) -> UInt64 {
    anywhere(.realm, realm, .max) { (realm) throws(RealmError) in realm.schemaVersion }
}

@_cdecl("realm_get_persisted_schema_version")
public func realm_get_persisted_schema_version(_ config: OpaquePointer?) -> UInt64 {
    anywhere(.config, config, .max) { (config) throws(RealmError) in try Realm.persistedSchemaVersion(config.value) }
}

// MARK: Views of the live schema

private func fill(_ box: RealmBox, _ objectSchema: ObjectSchema, _ out: UnsafeMutablePointer<realm_class_info_t>?) {
    guard let out else { return }
    out.pointee = realm_class_info_t(
        name: box.view(objectSchema.name), primary_key: box.view(objectSchema.primaryKey),
        num_properties: objectSchema.properties.count,
        num_computed_properties: objectSchema.computedProperties.count, key: objectSchema.key.raw,
        flags: objectSchema.kind.rawValue)
}

private func fill(_ box: RealmBox, _ property: Property, _ out: UnsafeMutablePointer<realm_property_info_t>?) {
    guard let out else { return }
    var flags: Int32 = 0
    if property.isNullable { flags |= flagNullable }
    if property.isPrimary { flags |= flagPrimary }
    if property.isIndexed { flags |= flagIndexed }
    if property.isFullTextIndexed { flags |= flagFullText }
    out.pointee = realm_property_info_t(
        name: box.view(property.name), public_name: box.view(property.publicName),
        type: realm_property_type_e(rawValue: UInt32(property.type.rawValue)),
        collection_type: realm_collection_type_e(rawValue: UInt32(property.collection.rawValue)),
        link_target: box.view(property.linkTarget),
        link_origin_property_name: box.view(property.linkOrigin), key: property.key.raw, flags: flags)
}

func fillProperty(
    _ box: RealmBox, _ schema: Schema, _ table: TableKey, _ column: ColKey,
    _ out: UnsafeMutablePointer<realm_property_info_t>?
) throws(RealmError) {
    fill(box, try findProperty(try findClass(schema, table.raw), column.raw), out)
}

/// Returns a class of the schema. Throws 2014 if the Realm is closed.
private func findClass(_ handle: RealmHandle, _ key: UInt32) throws(RealmError) -> ObjectSchema {
    if handle.isClosed { throw RealmError(.closedRealm, "Cannot access realm that has been closed.") }
    return try findClass(handle.schema, key)
}

private func findClass(_ schema: Schema, _ key: UInt32) throws(RealmError) -> ObjectSchema {
    guard let index = schema.index(of: TableKey(key)) else {
        throw RealmError(.noSuchTable, "No class with key \(key) in the schema")
    }
    return schema.classes[index]
}

private func findProperty(_ objectSchema: ObjectSchema, _ key: Int64) throws(RealmError) -> Property {
    // All properties without a column have the null key. For that key the first of them is returned.
    guard let property = (objectSchema.properties + objectSchema.computedProperties).first(where: { $0.key.raw == key })
    else {
        throw RealmError(.invalidProperty, "Class '\(objectSchema.name)' has no property with key \(key)")
    }
    return property
}

@_cdecl("realm_get_num_classes")
public func realm_get_num_classes(_ realm: OpaquePointer?) -> Int {
    anywhere(.realm, realm, 0) { (realm) throws(RealmError) in realm.schema.classes.count }
}

/// Copies `values` to `out` if all of them fit, and reports their number.
private func deliver<T>(_ values: [T], _ out: UnsafeMutablePointer<T>?, _ max: Int, _ count: UnsafeMutablePointer<Int>?)
{
    if let out, max >= values.count { for (i, value) in values.enumerated() { out[i] = value } }
    count?.pointee = values.count
}

@_cdecl("realm_get_class_keys")
public func realm_get_class_keys(
    _ realm: OpaquePointer?, _ out: UnsafeMutablePointer<UInt32>?, _ max: Int, _ count: UnsafeMutablePointer<Int>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        deliver(realm.schema.classes.map(\.key.raw), out, max, count)
        return true
    }
}

@_cdecl("realm_find_class")
public func realm_find_class(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ found: UnsafeMutablePointer<Bool>?,
    _ out: UnsafeMutablePointer<realm_class_info_t>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        let objectSchema = realm.schema[try nameArgument(name)]
        found?.pointee = objectSchema != nil
        if let objectSchema { fill(realm.box, objectSchema, out) }
        return true
    }
}

@_cdecl("realm_get_class")
public func realm_get_class(_ realm: OpaquePointer?, _ key: UInt32, _ out: UnsafeMutablePointer<realm_class_info_t>?)
    -> Bool
{
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        fill(realm.box, try findClass(realm, key), out)
        return true
    }
}

@_cdecl("realm_get_class_properties")
public func realm_get_class_properties(
    _ realm: OpaquePointer?, _ key: UInt32, _ out: UnsafeMutablePointer<realm_property_info_t>?, _ max: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        let found = try findClass(realm, key)
        let all = found.properties + found.computedProperties
        if let out, max >= all.count { for (i, property) in all.enumerated() { fill(realm.box, property, out + i) } }
        count?.pointee = all.count
        return true
    }
}

@_cdecl("realm_get_property_keys")
public func realm_get_property_keys(
    _ realm: OpaquePointer?, _ key: UInt32, _ out: UnsafeMutablePointer<Int64>?, _ max: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        let found = try findClass(realm, key)
        deliver((found.properties + found.computedProperties).map(\.key.raw), out, max, count)
        return true
    }
}

@_cdecl("realm_get_property")
public func realm_get_property(
    _ realm: OpaquePointer?, _ table: UInt32, _ key: Int64, _ out: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        fill(realm.box, try findProperty(try findClass(realm, table), key), out)
        return true
    }
}

@_cdecl("realm_find_property")
public func realm_find_property(
    _ realm: OpaquePointer?, _ table: UInt32, _ name: UnsafePointer<CChar>?, _ found: UnsafeMutablePointer<Bool>?,
    _ out: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        let property = try findClass(realm, table).property(named: try nameArgument(name))
        found?.pointee = property != nil
        if let property { fill(realm.box, property, out) }
        return true
    }
}

@_cdecl("realm_find_property_by_public_name")
public func realm_find_property_by_public_name(
    _ realm: OpaquePointer?, _ table: UInt32, _ name: UnsafePointer<CChar>?, _ found: UnsafeMutablePointer<Bool>?,
    _ out: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        let objectSchema = try findClass(realm, table)
        let wanted = try nameArgument(name)
        let property = (objectSchema.properties + objectSchema.computedProperties).first {
            $0.publicName.isEmpty ? $0.name == wanted : $0.publicName == wanted
        }
        found?.pointee = property != nil
        if let property { fill(realm.box, property, out) }
        return true
    }
}

@_cdecl("realm_get_value_by_property_index")
public func realm_get_value_by_property_index(
    _ object: OpaquePointer?, _ index: Int, _ out: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let found = try findClass(realm.schema, handle.table.raw)
        guard index >= 0, index < found.properties.count else {
            throw RealmError(
                .indexOutOfBounds,
                "Property index \(index) is out of range: class '\(found.name)' has \(found.properties.count) properties"
            )
        }
        store(try realm.value(handle.table, handle.key, found.properties[index].key), out)
    }
}

@_cdecl("realm_find_primary_key_property")
public func realm_find_primary_key_property(
    _ realm: OpaquePointer?, _ table: UInt32, _ found: UnsafeMutablePointer<Bool>?,
    _ out: UnsafeMutablePointer<realm_property_info_t>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        let property = try findClass(realm, table).properties.first(where: \.isPrimary)
        found?.pointee = property != nil
        if let property { fill(realm.box, property, out) }
        return true
    }
}

// MARK: Changing the schema

@_cdecl("realm_update_schema")
public func realm_update_schema(_ realm: OpaquePointer?, _ schemaHandle: OpaquePointer?) -> Bool {
    inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in
        try realm.updateSchema(try schema(schemaHandle))
    }
}

@_cdecl("realm_update_schema_advanced")
public func realm_update_schema_advanced(
    _ realm: OpaquePointer?, _ schemaHandle: OpaquePointer?, _ version: UInt64, _ migrate: realm_migration_func_t?,
    _ migrateData: UnsafeMutableRawPointer?,
    _ initialize: realm_data_initialization_func_t?, _ initializeData: UnsafeMutableRawPointer?, _ isInTransaction: Bool
) -> Bool {
    inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in
        try realm.updateSchema(
            try schema(schemaHandle), version: version,
            migrate: migrate.map { migration($0, UserData(migrateData, nil)) },
            initialize: initialize.map { initialization($0, UserData(initializeData, nil)) },
            inTransaction: isInTransaction)
    }
}

@_cdecl("realm_schema_rename_property")
public func realm_schema_rename_property(
    _ realm: OpaquePointer?, _ schemaHandle: OpaquePointer?, _ objectType: UnsafePointer<CChar>?,
    _ old: UnsafePointer<CChar>?,
    _ new: UnsafePointer<CChar>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        _ = try schema(schemaHandle)
        try realm.renameProperty(try nameArgument(objectType), from: try nameArgument(old), to: try nameArgument(new))
    }
}

@_cdecl("realm_remove_table")
public func realm_remove_table(
    _ realm: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ deleted: UnsafeMutablePointer<Bool>?
) -> Bool {
    deleted?.pointee = false
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        let did = try realm.removeClass(try nameArgument(name))
        deleted?.pointee = did
    }
}

@_cdecl("realm_add_schema_changed_callback")
public func realm_add_schema_changed_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_schema_change_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return handle(.realm, realm) { (_, realm) throws(RealmError) in
        guard let callback else { throw nullArgument() }
        let id = try realm.addSchemaCallback { schema in
            // The handle is borrowed, and valid only during the call.
            let handle = SchemaHandle(schema)
            withExtendedLifetime(handle) {
                callback(data.pointer, OpaquePointer(Unmanaged.passUnretained(handle).toOpaque()))
            }
        }
        return TokenHandle(realm, id)
    }
}
