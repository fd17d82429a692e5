import CRealmHeaders
import CoreEngine

/// Recovery of data from damaged files, and of the remains of deleted objects.

@_cdecl("crealm_salvage")
public func crealm_salvage(
    _ source: OpaquePointer?, _ target: OpaquePointer?, _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Bool {
    report?.pointee = nil
    return anywhere(.config, source, false) { (config) throws(RealmError) in
        let found = try Salvage.run(config.value, to: try settings(target))
        guard let report else { return true }
        guard let text = CMemory.copy(found.json) else {
            throw RealmError(.outOfMemory, "Not enough memory for the report")
        }
        report.pointee = text
        return true
    }
}

@_cdecl("crealm_recover_deleted")
public func crealm_recover_deleted(_ source: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?)
    -> Bool
{
    out?.pointee = nil
    return anywhere(.config, source, false) { (config) throws(RealmError) in
        guard let out else { throw nullArgument() }
        guard let text = CMemory.copy(try Remains.run(config.value)) else {
            throw RealmError(.outOfMemory, "Not enough memory for the remains")
        }
        out.pointee = text
        return true
    }
}
