import CRealmHeaders
import CoreEngine

/// A configuration that is being assembled. The texts that it returns live as long as the configuration.
final class ConfigHandle: Handle {
    private struct State {
        var value = RealmConfiguration()
        var fifoPath = ""
        var forceSyncHistory = false

        /// User data by pointer. The first free function that is registered for a pointer is used. Each runs once, when
        /// the configuration is released.
        var userData: [UInt: UserData] = [:]
    }

    private let state = Lock(initial: State())
    private let texts = TextPool()

    init() { super.init(.config) }

    var value: RealmConfiguration {
        get { state.with { $0.value } }
        set { state.with { $0.value = newValue } }
    }

    var fifoPath: String {
        get { state.with { $0.fifoPath } }
        set { state.with { $0.fifoPath = newValue } }
    }

    var forceSyncHistory: Bool {
        get { state.with { $0.forceSyncHistory } }
        set { state.with { $0.forceSyncHistory = newValue } }
    }

    func view(_ text: String) -> UnsafePointer<CChar>? { texts.view(Name(text)) }

    func keep(_ data: UserData) {
        let key = UInt(bitPattern: data.pointer)
        state.with { if $0.userData[key] == nil { $0.userData[key] = data } else { data.forgetFree() } }
    }
}

/// Returns the configuration behind an additional handle of a function.
func settings(_ c: OpaquePointer?) throws(RealmError) -> RealmConfiguration {
    try borrow(.config, c) { (c) throws(RealmError) in c.value }
}

/// Runs `body` on a configuration. A failure becomes the last error.
private func with(_ c: OpaquePointer?, _ body: (ConfigHandle) throws(RealmError) -> Void) {
    anywhere(.config, c, (), body)
}

@_cdecl("realm_config_new")
public func realm_config_new() -> OpaquePointer? { ConfigHandle().out() }

@_cdecl("realm_config_get_path")
public func realm_config_get_path(_ c: OpaquePointer?) -> UnsafePointer<CChar>? {
    anywhere(.config, c, nil) { (c) throws(RealmError) in c.view(c.value.path) }
}

@_cdecl("realm_config_set_path")
public func realm_config_set_path(_ c: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    with(c) { (c) throws(RealmError) in
        guard let path else { throw nullArgument() }
        do throws(RealmError) { c.value.path = try text(path) } catch {
            throw c.value.refusePath(
                RealmError(.invalidArgument, "The path is not valid UTF-8: files with such names cannot be opened"))
        }
    }
}

@_cdecl("realm_config_get_encryption_key")
public func realm_config_get_encryption_key(_ c: OpaquePointer?, _ out: UnsafeMutablePointer<UInt8>?) -> Int {
    anywhere(.config, c, 0) { (c) throws(RealmError) in
        guard case .key(let key)? = c.value.secret else { return 0 }
        if let out { key.with { CMemory.copy($0, to: out, key.count) } }
        return key.count
    }
}

@_cdecl("realm_config_set_encryption_key")
public func realm_config_set_encryption_key(_ c: OpaquePointer?, _ key: UnsafePointer<UInt8>?, _ size: Int) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in
        guard size == 0 || size == 64 else {
            throw c.value.refuseSecret(RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes."))
        }
        guard size == 0 || key != nil else { throw c.value.refuseSecret(nullArgument()) }
        try c.value.setEncryptionKey(UnsafeRawBufferPointer(start: key, count: size))
        return true
    }
}

@_cdecl("crealm_config_set_page_cipher")
public func crealm_config_set_page_cipher(_ c: OpaquePointer?, _ cipher: crealm_page_cipher_e) {
    with(c) { (c) throws(RealmError) in
        guard let known = PageCipher(rawValue: Int32(truncatingIfNeeded: cipher.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown page cipher \(cipher.rawValue)")
        }
        c.value.pageCipher = known
    }
}

@_cdecl("crealm_config_get_page_cipher")
public func crealm_config_get_page_cipher(_ c: OpaquePointer?) -> crealm_page_cipher_e {
    anywhere(.config, c, crealm_page_cipher_e(rawValue: 0)) { (c) throws(RealmError) in
        crealm_page_cipher_e(rawValue: UInt32(c.value.pageCipher.rawValue))
    }
}

@_cdecl("crealm_config_set_durability")
public func crealm_config_set_durability(_ c: OpaquePointer?, _ durability: crealm_durability_e) {
    with(c) { (c) throws(RealmError) in
        guard let known = CommitDurability(rawValue: UInt32(truncatingIfNeeded: durability.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown durability \(durability.rawValue)")
        }
        c.value.durability = known
    }
}

@_cdecl("crealm_config_get_durability")
public func crealm_config_get_durability(_ c: OpaquePointer?) -> crealm_durability_e {
    anywhere(.config, c, crealm_durability_e(rawValue: 0)) { (c) throws(RealmError) in
        crealm_durability_e(rawValue: c.value.durability.rawValue)
    }
}

@_cdecl("crealm_config_set_lock_timeout")
public func crealm_config_set_lock_timeout(_ c: OpaquePointer?, _ milliseconds: Int64) {
    with(c) { (c) throws(RealmError) in c.value.lockTimeout = milliseconds < 0 ? nil : Double(milliseconds) / 1000 }
}

@_cdecl("crealm_config_set_progress")
public func crealm_config_set_progress(
    _ c: OpaquePointer?, _ function: crealm_progress_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(c) { (c) throws(RealmError) in c.value.progress = function.map { progress($0, data) } }
}

/// Wraps a C progress function for the engine. The wrapper is used as long as a Realm of the configuration lives.
private func progress(_ function: @escaping crealm_progress_func_t, _ data: UserData)
    -> @Sendable (CallProgress) -> Bool
{
    { p in
        var told = crealm_progress_t(
            userdata: data.pointer, activity: crealm_activity_e(rawValue: p.activity.rawValue), done: p.done,
            total: p.total)
        return function(&told)
    }
}

@_cdecl("crealm_config_set_snapshot")
public func crealm_config_set_snapshot(_ c: OpaquePointer?, _ snapshot: Bool) {
    with(c) { (c) throws(RealmError) in c.value.isSnapshot = snapshot }
}

@_cdecl("crealm_config_get_snapshot")
public func crealm_config_get_snapshot(_ c: OpaquePointer?) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in c.value.isSnapshot }
}

@_cdecl("crealm_config_set_version_slot")
public func crealm_config_set_version_slot(_ c: OpaquePointer?, _ slot: crealm_version_slot_e) {
    with(c) { (c) throws(RealmError) in
        guard let known = VersionSlot(rawValue: slot.rawValue) else {
            throw RealmError(.invalidArgument, "Unknown version slot \(slot.rawValue)")
        }
        c.value.versionSlot = known
    }
}

@_cdecl("crealm_config_get_version_slot")
public func crealm_config_get_version_slot(_ c: OpaquePointer?) -> crealm_version_slot_e {
    anywhere(.config, c, crealm_version_slot_e(rawValue: 0)) { (c) throws(RealmError) in
        crealm_version_slot_e(rawValue: c.value.versionSlot.rawValue)
    }
}

@_cdecl("crealm_config_set_page_memory")
public func crealm_config_set_page_memory(_ c: OpaquePointer?, _ bytes: UInt64) {
    with(c) { (c) throws(RealmError) in c.value.pageMemory = Int(min(bytes, 1 << 40)) }
}

@_cdecl("crealm_config_set_passphrase")
public func crealm_config_set_passphrase(
    _ c: OpaquePointer?, _ passphrase: UnsafePointer<CChar>?, _ size: Int, _ passes: UInt32, _ memory: UInt64
) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in
        guard size >= 0, size < 1 << 32, size == 0 || passphrase != nil else {
            throw c.value.refuseSecret(nullArgument())
        }
        var cost = PassphraseCost()
        if passes != 0 { cost.passes = UInt64(passes) }
        if memory != 0 { cost.memory = memory }
        try c.value.setPassphrase(
            UnsafeRawBufferPointer(start: passphrase, count: passphrase == nil ? 0 : size), cost: cost)
        return true
    }
}

@_cdecl("realm_config_get_schema")
public func realm_config_get_schema(_ c: OpaquePointer?) -> OpaquePointer? {
    anywhere(.config, c, nil) { (c) throws(RealmError) in c.value.schema.map { SchemaHandle($0).out() } }
}

@_cdecl("realm_config_set_schema")
public func realm_config_set_schema(_ c: OpaquePointer?, _ schema: OpaquePointer?) {
    with(c) { (c) throws(RealmError) in
        c.value.schema = schema == nil ? nil : try borrow(.schema, schema) { (s) throws(RealmError) in s.schema }
    }
}

@_cdecl("realm_config_get_schema_version")
public func realm_config_get_schema_version(_ c: OpaquePointer?) -> UInt64 {
    anywhere(.config, c, 0) { (c) throws(RealmError) in c.value.schemaVersion }
}

@_cdecl("realm_config_set_schema_version")
public func realm_config_set_schema_version(_ c: OpaquePointer?, _ version: UInt64) {
    with(c) { (c) throws(RealmError) in c.value.schemaVersion = version }
}

@_cdecl("realm_config_get_schema_mode")
public func realm_config_get_schema_mode(_ c: OpaquePointer?) -> realm_schema_mode_e {
    anywhere(.config, c, realm_schema_mode_e(rawValue: 0)) { (c) throws(RealmError) in
        realm_schema_mode_e(rawValue: UInt32(c.value.schemaMode.rawValue))
    }
}

@_cdecl("realm_config_set_schema_mode")
public func realm_config_set_schema_mode(_ c: OpaquePointer?, _ mode: realm_schema_mode_e) {
    with(c) { (c) throws(RealmError) in
        guard let known = SchemaMode(rawValue: Int32(truncatingIfNeeded: mode.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown schema mode \(mode.rawValue)")
        }
        c.value.schemaMode = known
    }
}

@_cdecl("realm_config_get_schema_subset_mode")
public func realm_config_get_schema_subset_mode(_ c: OpaquePointer?) -> realm_schema_subset_mode_e {
    anywhere(.config, c, realm_schema_subset_mode_e(rawValue: 0)) { (c) throws(RealmError) in
        realm_schema_subset_mode_e(rawValue: UInt32(c.value.subsetMode.rawValue))
    }
}

@_cdecl("realm_config_set_schema_subset_mode")
public func realm_config_set_schema_subset_mode(_ c: OpaquePointer?, _ mode: realm_schema_subset_mode_e) {
    with(c) { (c) throws(RealmError) in
        guard let known = SchemaSubsetMode(rawValue: Int32(truncatingIfNeeded: mode.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown schema subset mode \(mode.rawValue)")
        }
        c.value.subsetMode = known
    }
}

@_cdecl("realm_config_set_migration_function")
public func realm_config_set_migration_function(
    _ c: OpaquePointer?, _ function: realm_migration_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(c) { (c) throws(RealmError) in
        c.keep(data)
        c.value.migrate = function.map { migration($0, data) }
    }
}

/// Wraps a C migration function for the engine. The three handles are borrowed, and valid only during the call.
func migration(_ function: @escaping realm_migration_func_t, _ data: UserData)
    -> @Sendable (Realm, Realm) throws -> Void
{
    { old, new in
        let handles: [Handle] = [RealmHandle(RealmBox(old)), RealmHandle(RealmBox(new)), SchemaHandle(new.schema)]
        let pointers = handles.map { OpaquePointer(Unmanaged.passUnretained($0).toOpaque()) }
        let good = withExtendedLifetime(handles) { function(data.pointer, pointers[0], pointers[1], pointers[2]) }
        guard good else { throw RealmError(.callback, "User-provided callback failed") }
    }
}

func initialization(_ function: @escaping realm_data_initialization_func_t, _ data: UserData)
    -> @Sendable (Realm) throws -> Void
{
    { realm in
        let handle = RealmHandle(RealmBox(realm))
        let good = withExtendedLifetime(handle) {
            function(data.pointer, OpaquePointer(Unmanaged.passUnretained(handle).toOpaque()))
        }
        guard good else { throw RealmError(.callback, "User-provided callback failed") }
    }
}

@_cdecl("realm_config_set_data_initialization_function")
public func realm_config_set_data_initialization_function(
    _ c: OpaquePointer?, _ function: realm_data_initialization_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(c) { (c) throws(RealmError) in
        c.keep(data)
        c.value.initialize = function.map { initialization($0, data) }
    }
}

@_cdecl("realm_config_set_should_compact_on_launch_function")
public func realm_config_set_should_compact_on_launch_function(
    _ c: OpaquePointer?, _ function: realm_should_compact_on_launch_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(c) { (c) throws(RealmError) in
        c.keep(data)
        c.value.shouldCompact = function.map { compaction($0, data) }
    }
}

/// Wraps a C compaction function for the engine. If the function registers an error, the call fails, whatever the
/// function returns.
func compaction(_ function: @escaping realm_should_compact_on_launch_func_t, _ data: UserData)
    -> @Sendable (UInt64, UInt64) throws -> Bool
{
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
public func realm_config_get_disable_format_upgrade(_ c: OpaquePointer?) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in c.value.disablesFormatUpgrade }
}

@_cdecl("realm_config_needs_file_format_upgrade")
public func realm_config_needs_file_format_upgrade(_ c: OpaquePointer?) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in
        let settings = c.value
        return try Database.needsFormatUpgrade(path: try settings.checkedPath(), encryption: try settings.encryption())
    }
}

@_cdecl("realm_config_set_disable_format_upgrade")
public func realm_config_set_disable_format_upgrade(_ c: OpaquePointer?, _ disable: Bool) {
    with(c) { (c) throws(RealmError) in c.value.disablesFormatUpgrade = disable }
}

@_cdecl("realm_config_get_automatic_change_notifications")
public func realm_config_get_automatic_change_notifications(_ c: OpaquePointer?) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in c.value.notifiesAutomatically }
}

@_cdecl("realm_config_set_automatic_change_notifications")
public func realm_config_set_automatic_change_notifications(_ c: OpaquePointer?, _ automatic: Bool) {
    with(c) { (c) throws(RealmError) in c.value.notifiesAutomatically = automatic }
}

@_cdecl("realm_config_set_scheduler")
public func realm_config_set_scheduler(_ c: OpaquePointer?, _ scheduler: OpaquePointer?) {
    with(c) { (c) throws(RealmError) in
        c.value.home =
            scheduler == nil ? nil : try borrow(.scheduler, scheduler) { (s) throws(RealmError) in s.scheduler }
    }
}

@_cdecl("realm_config_get_force_sync_history")
public func realm_config_get_force_sync_history(_ c: OpaquePointer?) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in c.forceSyncHistory }
}

@_cdecl("realm_config_set_force_sync_history")
public func realm_config_set_force_sync_history(_ c: OpaquePointer?, _ force: Bool) {
    with(c) { (c) throws(RealmError) in c.forceSyncHistory = force }
}

@_cdecl("realm_config_get_max_number_of_active_versions")
public func realm_config_get_max_number_of_active_versions(_ c: OpaquePointer?) -> UInt64 {
    anywhere(.config, c, 0) { (c) throws(RealmError) in c.value.maxActiveVersions }
}

@_cdecl("realm_config_set_max_number_of_active_versions")
public func realm_config_set_max_number_of_active_versions(_ c: OpaquePointer?, _ n: UInt64) {
    with(c) { (c) throws(RealmError) in c.value.maxActiveVersions = n }
}

@_cdecl("realm_config_set_in_memory")
public func realm_config_set_in_memory(_ c: OpaquePointer?, _ inMemory: Bool) {
    with(c) { (c) throws(RealmError) in c.value.isInMemory = inMemory }
}

@_cdecl("realm_config_get_in_memory")
public func realm_config_get_in_memory(_ c: OpaquePointer?) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in c.value.isInMemory }
}

@_cdecl("realm_config_set_fifo_path")
public func realm_config_set_fifo_path(_ c: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    with(c) { (c) throws(RealmError) in c.fifoPath = try text(path) }
}

@_cdecl("realm_config_get_fifo_path")
public func realm_config_get_fifo_path(_ c: OpaquePointer?) -> UnsafePointer<CChar>? {
    anywhere(.config, c, nil) { (c) throws(RealmError) in c.view(c.fifoPath) }
}

@_cdecl("realm_config_set_cached")
public func realm_config_set_cached(_ c: OpaquePointer?, _ cached: Bool) {
    with(c) { (c) throws(RealmError) in c.value.isCached = cached }
}

@_cdecl("realm_config_get_cached")
public func realm_config_get_cached(_ c: OpaquePointer?) -> Bool {
    anywhere(.config, c, false) { (c) throws(RealmError) in c.value.isCached }
}

@_cdecl("realm_config_set_automatic_backlink_handling")
public func realm_config_set_automatic_backlink_handling(_ c: OpaquePointer?, _ automatic: Bool) {
    with(c) { (c) throws(RealmError) in c.value.handlesBacklinksAutomatically = automatic }
}
