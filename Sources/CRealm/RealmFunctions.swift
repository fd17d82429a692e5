import CRealmHeaders
import CoreEngine

/// Opening, closing, transactions, versions.

@_cdecl("realm_open")
public func realm_open(_ c: OpaquePointer?) -> OpaquePointer? {
    guard let c = handle(c, .config, ConfigHandle.self) else { return nil }
    return attemptHandle { () throws(RealmError) in RealmHandle(RealmBox(try Realm.open(c.value))) }
}
@_cdecl("realm_delete_files")
public func realm_delete_files(_ path: UnsafePointer<CChar>?, _ didDelete: UnsafeMutablePointer<Bool>?) -> Bool {
    attempt { () throws(RealmError) in
        let path = try text(path)
        if try Database.deleteFiles(path: path) {
            didDelete?.pointee = true
        } else if !Database.parentExists(path: path) {
            didDelete?.pointee = false
        }
    }
}
@_cdecl("realm_close")
public func realm_close(_ r: OpaquePointer?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    r.realm.close()
    return true
}
@_cdecl("realm_is_closed")
public func realm_is_closed(_ r: OpaquePointer?) -> Bool { realmHandle(r)?.realm.isClosed ?? false }

@_cdecl("realm_begin_read")
public func realm_begin_read(_ r: OpaquePointer?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    return attempt { () throws(RealmError) in try r.realm.beginRead() }
}
@_cdecl("realm_begin_write")
public func realm_begin_write(_ r: OpaquePointer?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    return attempt { () throws(RealmError) in try r.realm.beginWrite() }
}
@_cdecl("realm_is_writable")
public func realm_is_writable(_ r: OpaquePointer?) -> Bool { realmHandle(r)?.realm.isWriting ?? false }

@_cdecl("realm_commit")
public func realm_commit(_ r: OpaquePointer?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    return attempt { () throws(RealmError) in try r.realm.commitWrite() }
}
@_cdecl("realm_rollback")
public func realm_rollback(_ r: OpaquePointer?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    return attempt { () throws(RealmError) in try r.realm.cancelWrite() }
}
@_cdecl("realm_refresh")
public func realm_refresh(_ r: OpaquePointer?, _ did: UnsafeMutablePointer<Bool>?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        let moved = try r.realm.refresh()
        did?.pointee = moved
    }
}
@_cdecl("realm_add_realm_changed_callback")
public func realm_add_realm_changed_callback(
    _ r: OpaquePointer?, _ callback: realm_on_realm_change_func_t?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    guard let r = realmHandle(r) else { return nil }
    guard let callback else { return fail(nullArgument()) }
    if r.realm.isClosed { return fail(RealmError(.closedRealm, "Cannot access realm that has been closed.")) }
    let realm = r.realm
    let id = realm.addChangedCallback { callback(data.pointer) }
    return TokenHandle { [weak realm] in realm?.removeChangedCallback(id) }.out()
}
@_cdecl("realm_add_realm_refresh_callback")
public func realm_add_realm_refresh_callback(
    _ r: OpaquePointer?, _ callback: realm_on_realm_refresh_func_t?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    guard let r = realmHandle(r) else { return nil }
    guard let callback else { return fail(nullArgument()) }
    if r.realm.isClosed { return fail(RealmError(.closedRealm, "Cannot access realm that has been closed.")) }
    let realm = r.realm
    guard let id = realm.addRefreshCallback({ callback(data.pointer) }) else { return nil }
    return TokenHandle { [weak realm] in realm?.removeRefreshCallback(id) }.out()
}
@_cdecl("realm_get_version_id")
public func realm_get_version_id(_ r: OpaquePointer?, _ found: UnsafeMutablePointer<Bool>?, _ out: UnsafeMutablePointer<realm_version_id_t>?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        if !r.realm.isClosed { try r.realm.verify() }
        let v = r.realm.isClosed ? nil : r.realm.version
        found?.pointee = v != nil
        out?.pointee = realm_version_id_t(version: v ?? 0, index: 0)
    }
}
@_cdecl("realm_get_num_versions")
public func realm_get_num_versions(_ r: OpaquePointer?, _ out: UnsafeMutablePointer<UInt64>?) -> Bool {
    guard let r = realmHandle(r) else { return false }
    return attempt { () throws(RealmError) in
        if r.realm.isClosed { throw RealmError(.closedRealm, "Cannot access realm that has been closed.") }
        out?.pointee = r.realm.versionCount
    }
}
