import CRealmHeaders
import CoreEngine

/// Lists of binaries or texts as long values.

@_cdecl("crealm_blob_get_size")
public func crealm_blob_get_size(_ list: OpaquePointer?, _ out: UnsafeMutablePointer<UInt64>?) -> Bool {
    inside(.list, list) { (handle, realm) throws(RealmError) in
        let size = try handle.withBlob(realm) { (_, pieces) throws(RealmError) in pieces.size }
        out?.pointee = UInt64(size)
    }
}

@_cdecl("crealm_blob_read")
public func crealm_blob_read(
    _ list: OpaquePointer?, _ offset: UInt64, _ out: UnsafeMutableRawPointer?, _ size: Int,
    _ read: UnsafeMutablePointer<Int>?
) -> Bool {
    read?.pointee = 0
    return inside(.list, list) { (handle, realm) throws(RealmError) in
        guard size >= 0, size == 0 || out != nil else { throw nullArgument() }
        let target = UnsafeMutableRawBufferPointer(start: out, count: size)
        let done = try handle.withBlob(realm) { (elements, pieces) throws(RealmError) in
            try realm.readBlob(elements, pieces, at: Int(clamping: offset), into: target)
        }
        read?.pointee = done
    }
}

@_cdecl("crealm_blob_write")
public func crealm_blob_write(_ list: OpaquePointer?, _ offset: UInt64, _ data: UnsafeRawPointer?, _ size: Int) -> Bool
{
    inside(.list, list) { (handle, realm) throws(RealmError) in
        guard size >= 0, size == 0 || data != nil else { throw nullArgument() }
        try handle.withBlob(realm) { (_, pieces) throws(RealmError) in
            try realm.writeBlob(
                handle.path, &pieces, at: Int(clamping: offset), UnsafeRawBufferPointer(start: data, count: size))
        }
    }
}

@_cdecl("crealm_blob_resize")
public func crealm_blob_resize(_ list: OpaquePointer?, _ size: UInt64) -> Bool {
    inside(.list, list) { (handle, realm) throws(RealmError) in
        try handle.withBlob(realm) { (_, pieces) throws(RealmError) in
            try realm.resizeBlob(handle.path, &pieces, to: Int(clamping: size))
        }
    }
}
