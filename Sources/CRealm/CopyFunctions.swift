import CRealmHeaders
import CoreEngine

/// Compaction, copies, and changes of the encryption key.

@_cdecl("realm_compact")
public func realm_compact(_ realm: OpaquePointer?, _ didCompact: UnsafeMutablePointer<Bool>?) -> Bool {
    inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in
        let done = try realm.compact()
        didCompact?.pointee = done
    }
}

@_cdecl("crealm_compact_online")
public func crealm_compact_online(
    _ realm: OpaquePointer?, _ before: UnsafeMutablePointer<Int>?, _ after: UnsafeMutablePointer<Int>?
) -> Bool {
    inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in
        let sizes = try realm.compactOnline()
        before?.pointee = sizes.before
        after?.pointee = sizes.after
    }
}

@_cdecl("realm_convert_with_config")
public func realm_convert_with_config(_ realm: OpaquePointer?, _ config: OpaquePointer?, _ merge: Bool) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in try realm.convert(to: try settings(config), merging: merge)
    }
}

@_cdecl("realm_convert_with_path")
public func realm_convert_with_path(
    _ realm: OpaquePointer?, _ path: UnsafePointer<CChar>?, _ key: realm_binary_t, _ merge: Bool
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        var target = RealmConfiguration(path: try text(path))
        if let data = key.data {
            guard key.size == 64 else { throw RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes.") }
            try target.setEncryptionKey(UnsafeRawBufferPointer(start: data, count: key.size))
        }
        try realm.convert(to: target, merging: merge)
    }
}

@_cdecl("crealm_change_key")
public func crealm_change_key(_ realm: OpaquePointer?, _ config: OpaquePointer?) -> Bool {
    inside(.realm, realm, outcomeStands: true) { (_, realm) throws(RealmError) in
        try realm.changeKey(to: try settings(config).encryption())
    }
}
