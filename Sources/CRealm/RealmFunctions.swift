import CRealmHeaders
import CoreEngine

/// Opening, closing, transactions, versions.

@_cdecl("realm_open")
public func realm_open(_ config: OpaquePointer?) -> OpaquePointer? {
    anywhere(.config, config, nil) { (config) throws(RealmError) in
        RealmHandle(RealmBox(try Realm.open(config.value))).out()
    }
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

@_cdecl("crealm_set_lock_timeout")
public func crealm_set_lock_timeout(_ realm: OpaquePointer?, _ milliseconds: Int64) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        try realm.setLockTimeout(milliseconds < 0 ? nil : Double(milliseconds) / 1000)
    }
}

@_cdecl("crealm_interrupt")
public func crealm_interrupt(_ realm: OpaquePointer?) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        realm.interrupt()
        return true
    }
}

@_cdecl("realm_close")
public func realm_close(_ realm: OpaquePointer?) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        realm.close()
        return true
    }
}

@_cdecl("realm_is_closed")
public func realm_is_closed(_ realm: OpaquePointer?) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in realm.isClosed }
}

@_cdecl("realm_begin_read")
public func realm_begin_read(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.beginRead() }
}

@_cdecl("realm_begin_write")
public func realm_begin_write(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.beginWrite() }
}

@_cdecl("realm_is_writable")
public func realm_is_writable(_ realm: OpaquePointer?) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in realm.isWriting }
}

@_cdecl("realm_commit")
public func realm_commit(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in try realm.commitWrite() }
}

@_cdecl("realm_rollback")
public func realm_rollback(_ realm: OpaquePointer?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.cancelWrite() }
}

@_cdecl("realm_refresh")
public func realm_refresh(_ realm: OpaquePointer?, _ did: UnsafeMutablePointer<Bool>?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let moved = try realm.refresh()
        did?.pointee = moved
    }
}

@_cdecl("realm_freeze")
public func realm_freeze(_ realm: OpaquePointer?) -> OpaquePointer? {
    handle(.realm, realm) { (_, realm) throws(RealmError) in RealmHandle(RealmBox(try realm.freeze())) }
}

@_cdecl("realm_add_realm_changed_callback")
public func realm_add_realm_changed_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_realm_change_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return handle(.realm, realm) { (_, realm) throws(RealmError) in
        guard let callback else { throw nullArgument() }
        let id = try realm.addChangedCallback { callback(data.pointer) }
        return TokenHandle(realm, id)
    }
}

@_cdecl("realm_add_realm_refresh_callback")
public func realm_add_realm_refresh_callback(
    _ realm: OpaquePointer?, _ callback: realm_on_realm_refresh_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) -> OpaquePointer? {
    let data = UserData(userdata, free)
    return handle(.realm, realm) { (_, realm) throws(RealmError) in
        guard let callback else { throw nullArgument() }
        return realm.addRefreshCallback({ callback(data.pointer) }).map { TokenHandle(realm, $0) }
    }
}

@_cdecl("realm_get_version_id")
public func realm_get_version_id(
    _ realm: OpaquePointer?, _ found: UnsafeMutablePointer<Bool>?, _ out: UnsafeMutablePointer<realm_version_id_t>?
) -> Bool {
    anywhere(.realm, realm, false) { (realm) throws(RealmError) in
        let version =
            realm.isClosed ? nil : try realm.insideRealm { (realm) throws(RealmError) in try realm.readVersion() }
        found?.pointee = version != nil
        out?.pointee = realm_version_id_t(version: version ?? 0, index: 0)
        return true
    }
}

@_cdecl("crealm_versions")
public func crealm_versions(
    _ realm: OpaquePointer?, _ out: UnsafeMutablePointer<crealm_pinned_version_t>?, _ max: Int,
    _ count: UnsafeMutablePointer<Int>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let versions = try realm.pinnedVersions()
        for (i, version) in versions.enumerated() where i < max {
            out?[i] = crealm_pinned_version_t(
                version: version.version,
                since: realm_timestamp_t(seconds: version.since.seconds, nanoseconds: version.since.nanoseconds),
                process_id: UInt64(version.processId), thread_id: UInt64(version.threadId),
                held_bytes: UInt64(clamping: version.heldBytes))
        }
        count?.pointee = versions.count
    }
}

@_cdecl("crealm_set_pin_warning")
public func crealm_set_pin_warning(_ bytes: UInt64) { PinWarning.limit = Int(clamping: bytes) }

@_cdecl("realm_get_num_versions")
public func realm_get_num_versions(_ realm: OpaquePointer?, _ out: UnsafeMutablePointer<UInt64>?) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        out?.pointee = realm.versionCount
    }
}
