import CRealmHeaders
import CoreEngine

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A configuration being put together. Views it hands out are copies that live until the next set or its release.
final class ConfigHandle: Handle {
    var value = RealmConfiguration()
    private var pathView: UnsafeMutablePointer<CChar>?
    private var fifoView: UnsafeMutablePointer<CChar>?
    var fifoPath = "" { didSet { replace(&fifoView, fifoPath) } }
    var automaticNotifications = true
    var forceSyncHistory = false
    /// User data by pointer: the first free function registered for a pointer wins, each runs once, at the release of the configuration.
    private var userData: [UInt: UserData] = [:]

    init() { super.init(.config) }
    deinit {
        free(pathView)
        free(fifoView)
    }
    private func replace(_ view: inout UnsafeMutablePointer<CChar>?, _ text: String) {
        free(view)
        view = strdup(text)
    }
    func setPath(_ path: String) {
        value.path = path
        replace(&pathView, path)
    }
    func pathPointer() -> UnsafePointer<CChar>? {
        if pathView == nil { replace(&pathView, value.path) }
        return pathView.map { UnsafePointer($0) }
    }
    func fifoPointer() -> UnsafePointer<CChar>? {
        if fifoView == nil { replace(&fifoView, fifoPath) }
        return fifoView.map { UnsafePointer($0) }
    }
    func keep(_ data: UserData) {
        let key = UInt(bitPattern: data.pointer)
        if userData[key] == nil { userData[key] = data } else { data.forgetFree() }
    }
}
@inline(__always) private func config(_ p: OpaquePointer?) -> ConfigHandle? { handle(p, .config, ConfigHandle.self) }

@_cdecl("realm_config_new")
public func realm_config_new() -> OpaquePointer? { ConfigHandle().out() }

@_cdecl("realm_config_get_path")
public func realm_config_get_path(_ c: OpaquePointer?) -> UnsafePointer<CChar>? { config(c)?.pathPointer() }
@_cdecl("realm_config_set_path")
public func realm_config_set_path(_ c: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    guard let c = config(c) else { return }
    do throws(RealmError) { c.setPath(try text(path)) } catch { setLastError(error) }
}
@_cdecl("realm_config_get_encryption_key")
public func realm_config_get_encryption_key(_ c: OpaquePointer?, _ out: UnsafeMutablePointer<UInt8>?) -> Int {
    guard case .key(let key)? = config(c)?.value.secret else { return 0 }
    if let out { _ = key.with { memcpy(out, $0, key.count) } }
    return key.count
}
@_cdecl("realm_config_set_encryption_key")
public func realm_config_set_encryption_key(_ c: OpaquePointer?, _ key: UnsafePointer<UInt8>?, _ size: Int) -> Bool {
    guard let c = config(c) else { return false }
    return attempt { () throws(RealmError) in
        guard size == 0 || size == 64 else {
            throw c.value.refuseSecret(RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes."))
        }
        guard size == 0 || key != nil else { throw c.value.refuseSecret(nullArgument()) }
        try c.value.setEncryptionKey(UnsafeRawBufferPointer(start: key, count: size))
    }
}
@_cdecl("crealm_config_set_page_cipher")
public func crealm_config_set_page_cipher(_ c: OpaquePointer?, _ cipher: crealm_page_cipher_e) {
    guard let c = config(c) else { return }
    guard let known = PageCipher(rawValue: Int32(truncatingIfNeeded: cipher.rawValue)) else {
        return setLastError(RealmError(.invalidArgument, "Unknown page cipher \(cipher.rawValue)"))
    }
    c.value.pageCipher = known
}
@_cdecl("crealm_config_get_page_cipher")
public func crealm_config_get_page_cipher(_ c: OpaquePointer?) -> crealm_page_cipher_e {
    crealm_page_cipher_e(rawValue: UInt32(config(c)?.value.pageCipher.rawValue ?? 0))
}
@_cdecl("crealm_config_set_durability")
public func crealm_config_set_durability(_ c: OpaquePointer?, _ durability: crealm_durability_e) {
    guard let c = config(c) else { return }
    guard let known = CommitDurability(rawValue: UInt32(truncatingIfNeeded: durability.rawValue)) else {
        return setLastError(RealmError(.invalidArgument, "Unknown durability \(durability.rawValue)"))
    }
    c.value.durability = known
}
@_cdecl("crealm_config_get_durability")
public func crealm_config_get_durability(_ c: OpaquePointer?) -> crealm_durability_e {
    crealm_durability_e(rawValue: config(c)?.value.durability.rawValue ?? 0)
}
@_cdecl("crealm_config_set_page_memory")
public func crealm_config_set_page_memory(_ c: OpaquePointer?, _ bytes: UInt64) {
    config(c)?.value.pageMemory = Int(min(bytes, 1 << 40))
}
@_cdecl("crealm_config_set_passphrase")
public func crealm_config_set_passphrase(
    _ c: OpaquePointer?, _ passphrase: UnsafePointer<CChar>?, _ size: Int, _ passes: UInt32, _ memory: UInt64
) -> Bool {
    guard let c = config(c) else { return false }
    return attempt { () throws(RealmError) in
        guard size >= 0, size < 1 << 32, size == 0 || passphrase != nil else { throw c.value.refuseSecret(nullArgument()) }
        var cost = PassphraseCost()
        if passes != 0 { cost.passes = UInt64(passes) }
        if memory != 0 { cost.memory = memory }
        try c.value.setPassphrase(UnsafeRawBufferPointer(start: passphrase, count: passphrase == nil ? 0 : size), cost: cost)
    }
}
@_cdecl("realm_config_get_schema")
public func realm_config_get_schema(_ c: OpaquePointer?) -> OpaquePointer? {
    guard let schema = config(c)?.value.schema else { return nil }
    return SchemaHandle(schema).out()
}
@_cdecl("realm_config_set_schema")
public func realm_config_set_schema(_ c: OpaquePointer?, _ schema: OpaquePointer?) {
    guard let c = config(c) else { return }
    guard schema != nil else {
        c.value.schema = nil
        return
    }
    if let s = handle(schema, .schema, SchemaHandle.self) { c.value.schema = s.schema }
}
@_cdecl("realm_config_get_schema_version")
public func realm_config_get_schema_version(_ c: OpaquePointer?) -> UInt64 { config(c)?.value.schemaVersion ?? 0 }
@_cdecl("realm_config_set_schema_version")
public func realm_config_set_schema_version(_ c: OpaquePointer?, _ version: UInt64) { config(c)?.value.schemaVersion = version }

@_cdecl("realm_config_get_schema_mode")
public func realm_config_get_schema_mode(_ c: OpaquePointer?) -> realm_schema_mode_e {
    realm_schema_mode_e(rawValue: UInt32(config(c)?.value.schemaMode.rawValue ?? 0))
}
@_cdecl("realm_config_set_schema_mode")
public func realm_config_set_schema_mode(_ c: OpaquePointer?, _ mode: realm_schema_mode_e) {
    guard let c = config(c) else { return }
    guard let m = SchemaMode(rawValue: Int32(truncatingIfNeeded: mode.rawValue)) else {
        return setLastError(RealmError(.invalidArgument, "Unknown schema mode \(mode.rawValue)"))
    }
    c.value.schemaMode = m
}
@_cdecl("realm_config_get_schema_subset_mode")
public func realm_config_get_schema_subset_mode(_ c: OpaquePointer?) -> realm_schema_subset_mode_e {
    realm_schema_subset_mode_e(rawValue: UInt32(config(c)?.value.subsetMode.rawValue ?? 0))
}
@_cdecl("realm_config_set_schema_subset_mode")
public func realm_config_set_schema_subset_mode(_ c: OpaquePointer?, _ mode: realm_schema_subset_mode_e) {
    guard let c = config(c) else { return }
    guard let m = SchemaSubsetMode(rawValue: Int32(truncatingIfNeeded: mode.rawValue)) else {
        return setLastError(RealmError(.invalidArgument, "Unknown schema subset mode \(mode.rawValue)"))
    }
    c.value.subsetMode = m
}
@_cdecl("realm_config_set_migration_function")
public func realm_config_set_migration_function(
    _ c: OpaquePointer?, _ function: realm_migration_func_t?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    guard let c = config(c) else { return }
    c.keep(data)
    c.value.migrate = function.map { migration($0, data) }
}
/// A C migration function as the engine calls it. The three handles are borrowed: good inside the call only.
func migration(_ function: @escaping realm_migration_func_t, _ data: UserData) -> @Sendable (Realm, Realm) throws -> Void {
    { old, new in
        let handles: [Handle] = [RealmHandle(RealmBox(old)), RealmHandle(RealmBox(new)), SchemaHandle(new.schema)]
        let pointers = handles.map { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) }
        let good = withExtendedLifetime(handles) { function(data.pointer, pointers[0], pointers[1], pointers[2]) }
        guard good else { throw RealmError(.callback, "User-provided callback failed") }
    }
}
func initialization(_ function: @escaping realm_data_initialization_func_t, _ data: UserData) -> @Sendable (Realm) throws -> Void {
    { realm in
        let handle = RealmHandle(RealmBox(realm))
        let good = withExtendedLifetime(handle) { function(data.pointer, OpaquePointer(Unmanaged.passUnretained(handle).toOpaque())) }
        guard good else { throw RealmError(.callback, "User-provided callback failed") }
    }
}
@_cdecl("realm_config_set_data_initialization_function")
public func realm_config_set_data_initialization_function(
    _ c: OpaquePointer?, _ function: realm_data_initialization_func_t?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    guard let c = config(c) else { return }
    c.keep(data)
    c.value.initialize = function.map { initialization($0, data) }
}
@_cdecl("realm_config_set_should_compact_on_launch_function")
public func realm_config_set_should_compact_on_launch_function(
    _ c: OpaquePointer?, _ function: realm_should_compact_on_launch_func_t?, _ userdata: UnsafeMutableRawPointer?, _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    guard let c = config(c) else { return }
    c.keep(data)
    c.value.shouldCompact = function.map { compaction($0, data) }
}
/// An error that the function registers counts, whatever it returns.
func compaction(_ function: @escaping realm_should_compact_on_launch_func_t, _ data: UserData) -> @Sendable (UInt64, UInt64) throws -> Bool {
    { total, used in
        _ = ThreadSlots.takeUserCode()
        let wanted = function(data.pointer, total, used)
        if let code = ThreadSlots.takeUserCode() {
            realm_register_user_code_callback_error(code)
            throw RealmError(.callback, "User-provided callback failed")
        }
        return wanted
    }
}
@_cdecl("realm_config_get_disable_format_upgrade")
public func realm_config_get_disable_format_upgrade(_ c: OpaquePointer?) -> Bool { config(c)?.value.disablesFormatUpgrade ?? false }
@_cdecl("realm_config_needs_file_format_upgrade")
public func realm_config_needs_file_format_upgrade(_ c: OpaquePointer?) -> Bool {
    guard let c = config(c) else { return false }
    do throws(RealmError) { return try Database.needsFormatUpgrade(path: c.value.path, encryption: try c.value.encryption()) } catch { return failed(error) }
}
@_cdecl("realm_config_set_disable_format_upgrade")
public func realm_config_set_disable_format_upgrade(_ c: OpaquePointer?, _ disable: Bool) { config(c)?.value.disablesFormatUpgrade = disable }
@_cdecl("realm_config_get_automatic_change_notifications")
public func realm_config_get_automatic_change_notifications(_ c: OpaquePointer?) -> Bool { config(c)?.automaticNotifications ?? false }
@_cdecl("realm_config_set_automatic_change_notifications")
public func realm_config_set_automatic_change_notifications(_ c: OpaquePointer?, _ automatic: Bool) { config(c)?.automaticNotifications = automatic }
@_cdecl("realm_config_set_scheduler")
public func realm_config_set_scheduler(_ c: OpaquePointer?, _ scheduler: OpaquePointer?) {
    guard let c = config(c) else { return }
    guard scheduler != nil else {
        c.value.scheduler = nil
        return
    }
    if let s = handle(scheduler, .scheduler, SchedulerHandle.self) { c.value.scheduler = s.scheduler }
}
@_cdecl("realm_config_get_force_sync_history")
public func realm_config_get_force_sync_history(_ c: OpaquePointer?) -> Bool { config(c)?.forceSyncHistory ?? false }
@_cdecl("realm_config_set_force_sync_history")
public func realm_config_set_force_sync_history(_ c: OpaquePointer?, _ force: Bool) { config(c)?.forceSyncHistory = force }
@_cdecl("realm_config_get_max_number_of_active_versions")
public func realm_config_get_max_number_of_active_versions(_ c: OpaquePointer?) -> UInt64 { config(c)?.value.maxActiveVersions ?? 0 }
@_cdecl("realm_config_set_max_number_of_active_versions")
public func realm_config_set_max_number_of_active_versions(_ c: OpaquePointer?, _ n: UInt64) { config(c)?.value.maxActiveVersions = n }
@_cdecl("realm_config_set_in_memory")
public func realm_config_set_in_memory(_ c: OpaquePointer?, _ inMemory: Bool) { config(c)?.value.isInMemory = inMemory }
@_cdecl("realm_config_get_in_memory")
public func realm_config_get_in_memory(_ c: OpaquePointer?) -> Bool { config(c)?.value.isInMemory ?? false }
@_cdecl("realm_config_set_fifo_path")
public func realm_config_set_fifo_path(_ c: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    guard let c = config(c) else { return }
    do throws(RealmError) { c.fifoPath = try text(path) } catch { setLastError(error) }
}
@_cdecl("realm_config_get_fifo_path")
public func realm_config_get_fifo_path(_ c: OpaquePointer?) -> UnsafePointer<CChar>? { config(c)?.fifoPointer() }
@_cdecl("realm_config_set_cached")
public func realm_config_set_cached(_ c: OpaquePointer?, _ cached: Bool) { config(c)?.value.isCached = cached }
@_cdecl("realm_config_get_cached")
public func realm_config_get_cached(_ c: OpaquePointer?) -> Bool { config(c)?.value.isCached ?? false }
@_cdecl("realm_config_set_automatic_backlink_handling")
public func realm_config_set_automatic_backlink_handling(_ c: OpaquePointer?, _ automatic: Bool) { config(c)?.value.handlesBacklinksAutomatically = automatic }
