import CRealmHeaders
import CoreEngine

/// Asynchronous write transactions, and commits that report when the changes are on disk.

@_cdecl("realm_async_begin_write")
public func realm_async_begin_write(
    _ realm: OpaquePointer?, _ callback: realm_async_begin_write_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?,
    _ notifyOnly: Bool, _ id: UnsafeMutablePointer<UInt32>?
) -> Bool {
    let data = UserData(userdata, free)
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let callback else { throw nullArgument() }
        let path = realm.configuration.path
        let number = try realm.beginWriteAsync(notifyOnly: notifyOnly) { error in
            guard let error else { return callback(data.pointer) }
            // The callback has no error argument, so the error can only be logged.
            Log.write(.transaction, .error, "An asynchronous write of '\(path)' did not begin: \(error.message)")
        }
        id?.pointee = number
    }
}

@_cdecl("realm_async_commit")
public func realm_async_commit(
    _ realm: OpaquePointer?, _ callback: realm_async_commit_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?,
    _ allowGrouping: Bool, _ id: UnsafeMutablePointer<UInt32>?
) -> Bool {
    let data = UserData(userdata, free)
    return inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in
        let number = try realm.commitWriteAsync(allowsGrouping: allowGrouping) { error in
            guard let callback else { return withExtendedLifetime(data) {} }
            if let error {
                error.message.withCString { callback(data.pointer, true, $0) }
            } else {
                callback(data.pointer, false, nil)
            }
        }
        id?.pointee = number
    }
}

@_cdecl("realm_async_cancel")
public func realm_async_cancel(_ realm: OpaquePointer?, _ id: UInt32, _ cancelled: UnsafeMutablePointer<Bool>?) -> Bool
{
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        let did = try realm.cancelAsync(id)
        cancelled?.pointee = did
    }
}
