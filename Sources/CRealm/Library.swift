import CRealmHeaders
import CRealmTesting
import CoreEngine

/// Version, memory, identity, logging.

/// Returns a C string for a literal, which ends with a zero byte.
func constant(_ text: StaticString) -> UnsafePointer<CChar> {
    UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
}

@_cdecl("realm_get_library_version")
public func realm_get_library_version() -> UnsafePointer<CChar>? { constant("14.14.0") }

@_cdecl("realm_get_library_version_numbers")
public func realm_get_library_version_numbers(
    _ major: UnsafeMutablePointer<Int32>?, _ minor: UnsafeMutablePointer<Int32>?, _ patch: UnsafeMutablePointer<Int32>?,
    _ extra: UnsafeMutablePointer<UnsafePointer<CChar>?>?
) {
    major?.pointee = 14
    minor?.pointee = 14
    patch?.pointee = 0
    extra?.pointee = constant("")
}

@_cdecl("realm_free")
public func realm_free(_ buffer: UnsafeMutableRawPointer?) { CMemory.release(buffer) }

@_cdecl("realm_release")
public func realm_release(_ pointer: UnsafeMutableRawPointer?) {
    guard let pointer else { return }
    let handle = Unmanaged<Handle>.fromOpaque(pointer)
    if handle._withUnsafeGuaranteedRef({ $0.isInherited }) { return }
    if handle._withUnsafeGuaranteedRef({ $0.kind == .object }) { return ObjectHandle.recycle(.fromOpaque(pointer)) }
    handle.release()
}

@_cdecl("realm_clone")
public func realm_clone(_ pointer: UnsafeRawPointer?) -> UnsafeMutableRawPointer? {
    guard let pointer else { return fail(nullArgument()) }
    let handle = Unmanaged<Handle>.fromOpaque(pointer).takeUnretainedValue()
    guard !handle.isInherited else { return fail(Realm.inheritedError()) }
    guard let copy = handle.clonedPointer() else {
        return fail(RealmError(.notClonable, "Handles of this kind cannot be cloned"))
    }
    return UnsafeMutableRawPointer(copy)
}

@_cdecl("realm_equals")
public func realm_equals(_ a: UnsafeRawPointer?, _ b: UnsafeRawPointer?) -> Bool {
    if a == b { return true }
    guard let a, let b else { return false }
    let x = Unmanaged<Handle>.fromOpaque(a).takeUnretainedValue(),
        y = Unmanaged<Handle>.fromOpaque(b).takeUnretainedValue()
    return x.kind == y.kind && x.isEqual(to: y)
}

@_cdecl("realm_is_frozen")
public func realm_is_frozen(_ pointer: UnsafeRawPointer?) -> Bool {
    guard let pointer else { return false }
    return Unmanaged<Handle>.fromOpaque(pointer)._withUnsafeGuaranteedRef { !$0.isInherited && $0.isFrozen }
}

// MARK: Logging

private let categoryNames = LogCategory.allCases.map { UInt(bitPattern: CMemory.copy($0.rawValue)) }

@_cdecl("realm_set_log_callback")
public func realm_set_log_callback(
    _ callback: realm_log_func_t?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    guard let callback else {
        Log.setSink(nil)
        return
    }
    Log.setSink { category, level, message in
        category.rawValue.withCString { c in
            message.withCString { m in callback(data.pointer, c, realm_log_level_e(rawValue: UInt32(level.rawValue)), m)
            }
        }
    }
}

@_cdecl("realm_set_log_level")
public func realm_set_log_level(_ level: realm_log_level_e) {
    guard let known = LogLevel(rawValue: Int(level.rawValue)) else {
        return setLastError(RealmError(.invalidArgument, "Unknown log level \(level.rawValue)"))
    }
    _ = Log.setLevel(known, for: .realm)
}

@_cdecl("realm_set_log_level_category")
public func realm_set_log_level_category(_ category: UnsafePointer<CChar>?, _ level: realm_log_level_e)
    -> realm_log_level_e
{
    do throws(RealmError) {
        guard let found = LogCategory(rawValue: try text(category)) else {
            throw RealmError(.invalidArgument, "Unknown log category")
        }
        guard let known = LogLevel(rawValue: Int(level.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown log level \(level.rawValue)")
        }
        return realm_log_level_e(rawValue: UInt32(Log.setLevel(known, for: found).rawValue))
    } catch {
        setLastError(error)
        return realm_log_level_e(rawValue: 0)
    }
}

@_cdecl("realm_get_log_level_category")
public func realm_get_log_level_category(_ category: UnsafePointer<CChar>?) -> realm_log_level_e {
    do throws(RealmError) {
        guard let known = LogCategory(rawValue: try text(category)) else {
            throw RealmError(.invalidArgument, "Unknown log category")
        }
        return realm_log_level_e(rawValue: UInt32(Log.level(of: known).rawValue))
    } catch {
        setLastError(error)
        return realm_log_level_e(rawValue: 0)
    }
}

@_cdecl("realm_get_category_names")
public func realm_get_category_names(_ count: Int, _ out: UnsafeMutablePointer<UnsafePointer<CChar>?>?) -> Int {
    guard count > 0, let out else { return count == 0 ? categoryNames.count : 0 }
    let most = min(count, categoryNames.count)
    for i in 0..<most { out[i] = UnsafePointer(bitPattern: categoryNames[i]) }
    return most
}

// MARK: Additions to the API of Realm

@_cdecl("crealm_abi_version")
public func crealm_abi_version() -> UInt32 { UInt32(CREALM_ABI_VERSION) }

@_cdecl("crealm_set_fault_guard")
public func crealm_set_fault_guard(_ enabled: Bool) -> Bool {
    attempt { () throws(RealmError) in try FaultGuard.use(enabled) }
}

@_cdecl("crealm_verify")
public func crealm_verify(_ realm: OpaquePointer?, _ report: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?)
    -> Bool
{
    report?.pointee = nil
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        let faults = try realm.findFaults(limit: 1000)
        guard let text = faults.report else { return }
        report?.pointee = CMemory.copy(text)
        throw RealmError(.invalidDatabase, faults.first.first?.message ?? text)
    }
}

@_cdecl("crealm_find_faults")
public func crealm_find_faults(
    _ realm: OpaquePointer?, _ max: Int, _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_fault_t>?>?,
    _ count: UnsafeMutablePointer<Int>?,
    _ total: UnsafeMutablePointer<Int>?
) -> Bool {
    out?.pointee = nil
    count?.pointee = 0
    total?.pointee = 0
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard out == nil || count != nil else { throw nullArgument() }
        let faults = try realm.findFaults(limit: out == nil ? 0 : Swift.max(0, max))
        if !faults.first.isEmpty {
            let list = listed(
                faults.first, texts: { [$0.table?.text, $0.property?.text, $0.message] },
                element: {
                    crealm_fault_t(
                        kind: crealm_fault_kind_e(rawValue: UInt32($0.kind.rawValue)), offset: UInt64($0.offset),
                        class_name: $1[0], property: $1[1],
                        object: $0.object?.raw ?? -1, message: $1[2])
                })
            guard let list else { throw RealmError(.outOfMemory, "Not enough memory for \(faults.first.count) faults") }
            out?.pointee = list
            count?.pointee = faults.first.count
        }
        total?.pointee = faults.count
    }
}

/// Returns structs and the strings that they refer to in one block of memory, which `realm_free` releases; nil if there
/// is not enough memory.
private func listed<Element, Struct>(
    _ elements: [Element], texts: (Element) -> [String?], element: (Element, [UnsafePointer<CChar>?]) -> Struct
) -> UnsafeMutablePointer<Struct>? {
    let room = elements.reduce(0) { sum, e in sum + texts(e).reduce(0) { $0 + ($1.map { $0.utf8.count + 1 } ?? 0) } }
    let size = elements.count * MemoryLayout<Struct>.stride
    guard let block = CMemory.allocate(max(1, size + room)) else { return nil }
    let list = block.bindMemory(to: Struct.self, capacity: elements.count)
    var at = (block + size).assumingMemoryBound(to: CChar.self)
    func keep(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        let start = at
        for byte in text.utf8 {
            at.pointee = CChar(bitPattern: byte)
            at += 1
        }
        at.pointee = 0
        at += 1
        return UnsafePointer(start)
    }
    for (i, entry) in elements.enumerated() { (list + i).initialize(to: element(entry, texts(entry).map(keep))) }
    return list
}

@_cdecl("crealm_get_space")
public func crealm_get_space(
    _ realm: OpaquePointer?, _ out: UnsafeMutablePointer<UnsafeMutablePointer<crealm_space_t>?>?,
    _ count: UnsafeMutablePointer<Int>?,
    _ total: UnsafeMutablePointer<UInt64>?
) -> Bool {
    out?.pointee = nil
    count?.pointee = 0
    return inside(.realm, realm) { (_, realm) throws(RealmError) in
        guard out == nil || count != nil else { throw nullArgument() }
        let usage = try realm.spaceUsage(), parts = usage.parts
        guard
            let list = listed(
                parts, texts: { [$0.className?.text, $0.property?.text] },
                element: {
                    crealm_space_t(
                        kind: crealm_space_kind_e(rawValue: $0.kind), class_name: $1[0], property: $1[1],
                        bytes: UInt64($0.bytes))
                }
            )
        else { throw RealmError(.outOfMemory, "Not enough memory for \(parts.count) parts") }
        if let out { out.pointee = list } else { CMemory.release(list) }
        count?.pointee = parts.count
        total?.pointee = UInt64(usage.size)
    }
}

// MARK: Tests

@_cdecl("crealm_set_system_calls")
public func crealm_set_system_calls(_ calls: UnsafePointer<crealm_system_calls_t>?) { replaceSystemCalls(calls) }
