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

@_cdecl("crealm_backup_since")
public func crealm_backup_since(
    _ realm: OpaquePointer?, _ previous: UnsafePointer<CChar>?, _ path: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt64>?
) -> Bool {
    inside(.realm, realm) { (_, realm) throws(RealmError) in
        var since: String?
        if let previous { since = try text(previous) }
        let bytes = try realm.backup(to: try text(path), since: since)
        size?.pointee = UInt64(bytes)
    }
}

@_cdecl("crealm_restore")
public func crealm_restore(
    _ config: OpaquePointer?, _ steps: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int
) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in
        guard let steps else { throw nullArgument() }
        guard count >= 0, count <= 1 << 20 else { throw RealmError(.invalidArgument, "\(count) steps") }
        var paths: [String] = []
        for i in 0..<count { paths.append(try text(steps[i])) }
        try Realm.restore(paths, to: config.value)
        return true
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
