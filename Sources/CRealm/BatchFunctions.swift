import CRealmHeaders
import CoreEngine

/// Creates many objects from columns of values.

@_cdecl("crealm_create_batch")
public func crealm_create_batch(
    _ realm: OpaquePointer?, _ table: UInt32, _ schema: UnsafePointer<ArrowSchema>?, _ rows: UnsafePointer<ArrowArray>?,
    _ mode: crealm_update_mode_e, _ keys: UnsafeMutablePointer<Int64>?, _ created: UnsafeMutablePointer<Int>?,
    _ fault: UnsafeMutablePointer<crealm_batch_fault_t>?
) -> Bool {
    var place = BatchFault()
    defer {
        fault?.pointee = crealm_batch_fault_t(
            row: Int64(place.row), property: place.property == .null ? RLM_INVALID_PROPERTY_KEY : place.property.raw)
    }
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard let schema, let rows else { throw nullArgument() }
        guard let known = Batch.Mode(rawValue: UInt32(truncatingIfNeeded: mode.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown update mode \(mode.rawValue)")
        }
        let count = try realm.createBatch(TableKey(table), schema, rows, known, keys: keys, &place)
        created?.pointee = count
    }
}
