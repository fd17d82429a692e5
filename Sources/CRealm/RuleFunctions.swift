import CRealmHeaders
import CoreEngine

/// The rules of classes, and savepoints.

/// Runs `body` with the bytes of a JSON text.
private func json<R>(_ start: UnsafePointer<CChar>?, _ body: (UnsafeRawBufferPointer) throws(RealmError) -> R)
    throws(RealmError) -> R
{
    guard let start else { throw nullArgument() }
    return try body(UnsafeRawBufferPointer(start: start, count: CMemory.length(start)))
}

@_cdecl("crealm_config_set_rules")
public func crealm_config_set_rules(_ config: OpaquePointer?, _ rules: UnsafePointer<CChar>?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in
        guard rules != nil else {
            config.value.rules = nil
            return true
        }
        config.value.rules = try json(rules) { (text) throws(RealmError) in try ClassRules.classes(json: text) }
        return true
    }
}

@_cdecl("crealm_config_set_refuse_broken_rules")
public func crealm_config_set_refuse_broken_rules(_ config: OpaquePointer?, _ refuse: Bool) {
    anywhere(.config, config, ()) { (config) throws(RealmError) in config.value.refusesBrokenRules = refuse }
}

@_cdecl("crealm_class_set_rules")
public func crealm_class_set_rules(_ realm: OpaquePointer?, _ table: UInt32, _ rules: UnsafePointer<CChar>?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let wanted = try json(rules) { (text) throws(RealmError) in try ClassRules(json: text) }
        try realm.setRules(wanted, of: TableKey(table))
    }
}

@_cdecl("crealm_class_get_rules")
public func crealm_class_get_rules(_ realm: OpaquePointer?, _ table: UInt32) -> UnsafeMutablePointer<CChar>? {
    from(.realm, realm) { (_, realm) throws(RealmError) in
        guard let copy = CMemory.copy(try realm.rulesJSON(of: TableKey(table))) else {
            throw RealmError(.outOfMemory, "No memory for the text of rules")
        }
        return copy
    }
}

@_cdecl("crealm_get_broken_rules")
public func crealm_get_broken_rules(
    _ realm: OpaquePointer?, _ max: Int, _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_broken_rules_t>?>?
) -> Bool {
    out?.pointee = nil
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        let found = try realm.brokenRules(limit: max < 0 ? .max : max)
        out.pointee = try OwnBlock.make { (block: inout OwnBlock) in
            let all = block.array(found) { block, one in
                crealm_broken_rule_t(
                    class_name: block.text(one.className), object: one.object.raw, rule: block.text(one.rule),
                    message: block.text(one.text))
            }
            return crealm_broken_rules_t(count: found.count, rules: all.map { UnsafePointer($0) })
        }
    }
}

@_cdecl("crealm_object_find_by_unique")
public func crealm_object_find_by_unique(
    _ realm: OpaquePointer?, _ table: UInt32, _ properties: UnsafePointer<UnsafePointer<CChar>?>?,
    _ values: UnsafePointer<realm_value_t>?, _ count: Int, _ found: UnsafeMutablePointer<Bool>?
) -> OpaquePointer? {
    found?.pointee = false
    return from(.realm, realm) { (handle, realm) throws(RealmError) in
        guard let properties, let values else { throw nullArgument() }
        guard 1...16 ~= count else { throw RealmError(.invalidArgument, "A unique rule has 1 to 16 properties") }
        var names: [Name] = [], wanted: [Mixed] = []
        for i in 0..<count {
            names.append(Name(try text(properties[i])))
            wanted.append(try load(values[i]))
        }
        guard let key = try realm.find(TableKey(table), unique: names, wanted) else { return nil }
        found?.pointee = true
        return ObjectHandle.make(handle.box, TableKey(table), key)
    }
}

@_cdecl("crealm_object_set_if_version")
public func crealm_object_set_if_version(
    _ object: OpaquePointer?, _ property: Int64, _ value: realm_value_t, _ version: Int64,
    _ done: UnsafeMutablePointer<Bool>?
) -> Bool {
    done?.pointee = false
    return inside(.object, object) { (handle, realm) throws(RealmError) in
        let isDone = try realm.set(handle.table, handle.key, ColKey(property), try load(value), ifRevision: version)
        done?.pointee = isDone
    }
}

@_cdecl("crealm_object_get_computed")
public func crealm_object_get_computed(
    _ object: OpaquePointer?, _ name: UnsafePointer<CChar>?, _ out: UnsafeMutablePointer<realm_value_t>?
) -> Bool {
    inside(.object, object) { (handle, realm) throws(RealmError) in
        guard let out else { throw nullArgument() }
        store(try realm.computed(handle.table, handle.key, Name(try text(name))), out)
    }
}

@_cdecl("crealm_begin_savepoint")
public func crealm_begin_savepoint(_ realm: OpaquePointer?, _ out: UnsafeMutablePointer<UInt32>?) -> Bool {
    out?.pointee = 0
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        let depth = try realm.beginSavepoint()
        out?.pointee = UInt32(depth)
    }
}

@_cdecl("crealm_release_savepoint")
public func crealm_release_savepoint(_ realm: OpaquePointer?, _ savepoint: UInt32) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.releaseSavepoint(Int(savepoint)) }
}

@_cdecl("crealm_rollback_savepoint")
public func crealm_rollback_savepoint(_ realm: OpaquePointer?, _ savepoint: UInt32) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.rollbackSavepoint(Int(savepoint)) }
}
