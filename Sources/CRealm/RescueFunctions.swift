import CRealmHeaders
import CoreEngine

/// What damaged files still hold, and what deleted objects left.

@_cdecl("crealm_salvage")
public func crealm_salvage(
    _ source: OpaquePointer?, _ target: OpaquePointer?, _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Bool {
    report?.pointee = nil
    return anywhere(.config, source, false) { (c) throws(RealmError) in
        let found = try Salvage.run(c.value, to: try settings(target))
        guard let report else { return true }
        guard let text = CMemory.copy(found.json) else { throw RealmError(.outOfMemory, "Not enough memory for the report") }
        report.pointee = text
        return true
    }
}
