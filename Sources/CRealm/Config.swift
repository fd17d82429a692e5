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
func settings(_ config: OpaquePointer?) throws(RealmError) -> RealmConfiguration {
    try borrow(.config, config) { (config) throws(RealmError) in config.value }
}

/// Runs `body` on a configuration. A failure becomes the last error.
private func with(_ config: OpaquePointer?, _ body: (ConfigHandle) throws(RealmError) -> Void) {
    anywhere(.config, config, (), body)
}

@_cdecl("realm_config_new")
public func realm_config_new() -> OpaquePointer? { ConfigHandle().out() }

@_cdecl("realm_config_get_path")
public func realm_config_get_path(_ config: OpaquePointer?) -> UnsafePointer<CChar>? {
    anywhere(.config, config, nil) { (config) throws(RealmError) in config.view(config.value.path) }
}

@_cdecl("realm_config_set_path")
public func realm_config_set_path(_ config: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    with(config) { (config) throws(RealmError) in
        guard let path else { throw nullArgument() }
        do throws(RealmError) { config.value.path = try text(path) } catch {
            throw config.value.refusePath(
                RealmError(.invalidArgument, "The path is not valid UTF-8: files with such names cannot be opened"))
        }
    }
}

@_cdecl("realm_config_get_encryption_key")
public func realm_config_get_encryption_key(_ config: OpaquePointer?, _ out: UnsafeMutablePointer<UInt8>?) -> Int {
    anywhere(.config, config, 0) { (config) throws(RealmError) in
        guard case .key(let key)? = config.value.secret else { return 0 }
        if let out { key.with { CMemory.copy($0, to: out, key.count) } }
        return key.count
    }
}

@_cdecl("realm_config_set_encryption_key")
public func realm_config_set_encryption_key(_ config: OpaquePointer?, _ key: UnsafePointer<UInt8>?, _ size: Int) -> Bool
{
    anywhere(.config, config, false) { (config) throws(RealmError) in
        guard size == 0 || size == 64 else {
            throw config.value.refuseSecret(RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes."))
        }
        guard size == 0 || key != nil else { throw config.value.refuseSecret(nullArgument()) }
        try config.value.setEncryptionKey(UnsafeRawBufferPointer(start: key, count: size))
        return true
    }
}

@_cdecl("crealm_config_set_page_cipher")
public func crealm_config_set_page_cipher(_ config: OpaquePointer?, _ cipher: crealm_page_cipher_e) {
    with(config) { (config) throws(RealmError) in
        guard let known = PageCipher(rawValue: Int32(truncatingIfNeeded: cipher.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown page cipher \(cipher.rawValue)")
        }
        config.value.pageCipher = known
    }
}

@_cdecl("crealm_config_get_page_cipher")
public func crealm_config_get_page_cipher(_ config: OpaquePointer?) -> crealm_page_cipher_e {
    anywhere(.config, config, crealm_page_cipher_e(rawValue: 0)) { (config) throws(RealmError) in
        crealm_page_cipher_e(rawValue: UInt32(config.value.pageCipher.rawValue))
    }
}

@_cdecl("crealm_config_set_durability")
public func crealm_config_set_durability(_ config: OpaquePointer?, _ durability: crealm_durability_e) {
    with(config) { (config) throws(RealmError) in
        guard let known = CommitDurability(rawValue: UInt32(truncatingIfNeeded: durability.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown durability \(durability.rawValue)")
        }
        config.value.durability = known
    }
}

@_cdecl("crealm_config_get_durability")
public func crealm_config_get_durability(_ config: OpaquePointer?) -> crealm_durability_e {
    anywhere(.config, config, crealm_durability_e(rawValue: 0)) { (config) throws(RealmError) in
        crealm_durability_e(rawValue: config.value.durability.rawValue)
    }
}

@_cdecl("crealm_config_set_shrinking")
public func crealm_config_set_shrinking(_ config: OpaquePointer?, _ leastSize: Int, _ freePercent: Int32) {
    with(config) { (config) throws(RealmError) in
        guard 0...100 ~= freePercent else {
            throw RealmError(.invalidArgument, "A share of \(freePercent) percent")
        }
        // No file is longer than the greatest Int.
        config.value.shrinkingLeastSize = leastSize < 0 ? .max : leastSize
        config.value.shrinkingFreePercent = Int(freePercent)
    }
}

@_cdecl("crealm_config_get_shrinking")
public func crealm_config_get_shrinking(
    _ config: OpaquePointer?, _ leastSize: UnsafeMutablePointer<Int>?, _ freePercent: UnsafeMutablePointer<Int32>?
) {
    with(config) { (config) throws(RealmError) in
        leastSize?.pointee = config.value.shrinkingLeastSize
        freePercent?.pointee = Int32(truncatingIfNeeded: config.value.shrinkingFreePercent)
    }
}

@_cdecl("crealm_config_set_lock_timeout")
public func crealm_config_set_lock_timeout(_ config: OpaquePointer?, _ milliseconds: Int64) {
    with(config) { (config) throws(RealmError) in
        config.value.lockTimeout = milliseconds < 0 ? nil : Double(milliseconds) / 1000
    }
}

@_cdecl("crealm_config_set_progress")
public func crealm_config_set_progress(
    _ config: OpaquePointer?, _ function: crealm_progress_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(config) { (config) throws(RealmError) in config.value.progress = function.map { progress($0, data) } }
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
public func crealm_config_set_snapshot(_ config: OpaquePointer?, _ snapshot: Bool) {
    with(config) { (config) throws(RealmError) in config.value.isSnapshot = snapshot }
}

@_cdecl("crealm_config_get_snapshot")
public func crealm_config_get_snapshot(_ config: OpaquePointer?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in config.value.isSnapshot }
}

@_cdecl("crealm_config_set_version_slot")
public func crealm_config_set_version_slot(_ config: OpaquePointer?, _ slot: crealm_version_slot_e) {
    with(config) { (config) throws(RealmError) in
        guard let known = VersionSlot(rawValue: slot.rawValue) else {
            throw RealmError(.invalidArgument, "Unknown version slot \(slot.rawValue)")
        }
        config.value.versionSlot = known
    }
}

@_cdecl("crealm_config_get_version_slot")
public func crealm_config_get_version_slot(_ config: OpaquePointer?) -> crealm_version_slot_e {
    anywhere(.config, config, crealm_version_slot_e(rawValue: 0)) { (config) throws(RealmError) in
        crealm_version_slot_e(rawValue: config.value.versionSlot.rawValue)
    }
}

@_cdecl("crealm_config_set_page_memory")
public func crealm_config_set_page_memory(_ config: OpaquePointer?, _ bytes: UInt64) {
    with(config) { (config) throws(RealmError) in config.value.pageMemory = Int(min(bytes, 1 << 40)) }
}

@_cdecl("crealm_config_set_passphrase")
public func crealm_config_set_passphrase(
    _ config: OpaquePointer?, _ passphrase: UnsafePointer<CChar>?, _ size: Int, _ passes: UInt32, _ memory: UInt64
) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in
        guard size >= 0, size < 1 << 32, size == 0 || passphrase != nil else {
            throw config.value.refuseSecret(nullArgument())
        }
        var cost = PassphraseCost()
        if passes != 0 { cost.passes = UInt64(passes) }
        if memory != 0 { cost.memory = memory }
        try config.value.setPassphrase(
            UnsafeRawBufferPointer(start: passphrase, count: passphrase == nil ? 0 : size), cost: cost)
        return true
    }
}

@_cdecl("realm_config_get_schema")
public func realm_config_get_schema(_ config: OpaquePointer?) -> OpaquePointer? {
    anywhere(.config, config, nil) { (config) throws(RealmError) in config.value.schema.map { SchemaHandle($0).out() } }
}

@_cdecl("realm_config_set_schema")
public func realm_config_set_schema(_ config: OpaquePointer?, _ schema: OpaquePointer?) {
    with(config) { (config) throws(RealmError) in
        config.value.schema =
            schema == nil ? nil : try borrow(.schema, schema) { (schema) throws(RealmError) in schema.schema }
    }
}

@_cdecl("realm_config_get_schema_version")
public func realm_config_get_schema_version(_ config: OpaquePointer?) -> UInt64 {
    anywhere(.config, config, 0) { (config) throws(RealmError) in config.value.schemaVersion }
}

@_cdecl("realm_config_set_schema_version")
public func realm_config_set_schema_version(_ config: OpaquePointer?, _ version: UInt64) {
    with(config) { (config) throws(RealmError) in config.value.schemaVersion = version }
}

@_cdecl("realm_config_get_schema_mode")
public func realm_config_get_schema_mode(_ config: OpaquePointer?) -> realm_schema_mode_e {
    anywhere(.config, config, realm_schema_mode_e(rawValue: 0)) { (config) throws(RealmError) in
        realm_schema_mode_e(rawValue: UInt32(config.value.schemaMode.rawValue))
    }
}

@_cdecl("realm_config_set_schema_mode")
public func realm_config_set_schema_mode(_ config: OpaquePointer?, _ mode: realm_schema_mode_e) {
    with(config) { (config) throws(RealmError) in
        guard let known = SchemaMode(rawValue: Int32(truncatingIfNeeded: mode.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown schema mode \(mode.rawValue)")
        }
        config.value.schemaMode = known
    }
}

@_cdecl("realm_config_get_schema_subset_mode")
public func realm_config_get_schema_subset_mode(_ config: OpaquePointer?) -> realm_schema_subset_mode_e {
    anywhere(.config, config, realm_schema_subset_mode_e(rawValue: 0)) { (config) throws(RealmError) in
        realm_schema_subset_mode_e(rawValue: UInt32(config.value.subsetMode.rawValue))
    }
}

@_cdecl("realm_config_set_schema_subset_mode")
public func realm_config_set_schema_subset_mode(_ config: OpaquePointer?, _ mode: realm_schema_subset_mode_e) {
    with(config) { (config) throws(RealmError) in
        guard let known = SchemaSubsetMode(rawValue: Int32(truncatingIfNeeded: mode.rawValue)) else {
            throw RealmError(.invalidArgument, "Unknown schema subset mode \(mode.rawValue)")
        }
        config.value.subsetMode = known
    }
}

@_cdecl("realm_config_set_migration_function")
public func realm_config_set_migration_function(
    _ config: OpaquePointer?, _ function: realm_migration_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(config) { (config) throws(RealmError) in
        config.keep(data)
        config.value.migrate = function.map { migration($0, data) }
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
    _ config: OpaquePointer?, _ function: realm_data_initialization_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(config) { (config) throws(RealmError) in
        config.keep(data)
        config.value.initialize = function.map { initialization($0, data) }
    }
}

@_cdecl("realm_config_set_should_compact_on_launch_function")
public func realm_config_set_should_compact_on_launch_function(
    _ config: OpaquePointer?, _ function: realm_should_compact_on_launch_func_t?, _ userdata: UnsafeMutableRawPointer?,
    _ free: realm_free_userdata_func_t?
) {
    let data = UserData(userdata, free)
    with(config) { (config) throws(RealmError) in
        config.keep(data)
        config.value.shouldCompact = function.map { compaction($0, data) }
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
public func realm_config_get_disable_format_upgrade(_ config: OpaquePointer?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in config.value.disablesFormatUpgrade }
}

@_cdecl("realm_config_needs_file_format_upgrade")
public func realm_config_needs_file_format_upgrade(_ config: OpaquePointer?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in
        let settings = config.value
        return try Database.needsFormatUpgrade(path: try settings.checkedPath(), encryption: try settings.encryption())
    }
}

@_cdecl("realm_config_set_disable_format_upgrade")
public func realm_config_set_disable_format_upgrade(_ config: OpaquePointer?, _ disable: Bool) {
    with(config) { (config) throws(RealmError) in config.value.disablesFormatUpgrade = disable }
}

@_cdecl("realm_config_get_automatic_change_notifications")
public func realm_config_get_automatic_change_notifications(_ config: OpaquePointer?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in config.value.notifiesAutomatically }
}

@_cdecl("realm_config_set_automatic_change_notifications")
public func realm_config_set_automatic_change_notifications(_ config: OpaquePointer?, _ automatic: Bool) {
    with(config) { (config) throws(RealmError) in config.value.notifiesAutomatically = automatic }
}

@_cdecl("realm_config_set_scheduler")
public func realm_config_set_scheduler(_ config: OpaquePointer?, _ scheduler: OpaquePointer?) {
    with(config) { (config) throws(RealmError) in
        config.value.home =
            scheduler == nil
            ? nil : try borrow(.scheduler, scheduler) { (scheduler) throws(RealmError) in scheduler.scheduler }
    }
}

@_cdecl("realm_config_get_force_sync_history")
public func realm_config_get_force_sync_history(_ config: OpaquePointer?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in config.forceSyncHistory }
}

@_cdecl("realm_config_set_force_sync_history")
public func realm_config_set_force_sync_history(_ config: OpaquePointer?, _ force: Bool) {
    with(config) { (config) throws(RealmError) in config.forceSyncHistory = force }
}

@_cdecl("realm_config_get_max_number_of_active_versions")
public func realm_config_get_max_number_of_active_versions(_ config: OpaquePointer?) -> UInt64 {
    anywhere(.config, config, 0) { (config) throws(RealmError) in config.value.maxActiveVersions }
}

@_cdecl("realm_config_set_max_number_of_active_versions")
public func realm_config_set_max_number_of_active_versions(_ config: OpaquePointer?, _ number: UInt64) {
    with(config) { (config) throws(RealmError) in config.value.maxActiveVersions = number }
}

@_cdecl("realm_config_set_in_memory")
public func realm_config_set_in_memory(_ config: OpaquePointer?, _ inMemory: Bool) {
    with(config) { (config) throws(RealmError) in config.value.isInMemory = inMemory }
}

@_cdecl("realm_config_get_in_memory")
public func realm_config_get_in_memory(_ config: OpaquePointer?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in config.value.isInMemory }
}

@_cdecl("realm_config_set_fifo_path")
public func realm_config_set_fifo_path(_ config: OpaquePointer?, _ path: UnsafePointer<CChar>?) {
    with(config) { (config) throws(RealmError) in config.fifoPath = try text(path) }
}

@_cdecl("realm_config_get_fifo_path")
public func realm_config_get_fifo_path(_ config: OpaquePointer?) -> UnsafePointer<CChar>? {
    anywhere(.config, config, nil) { (config) throws(RealmError) in config.view(config.fifoPath) }
}

@_cdecl("realm_config_set_cached")
public func realm_config_set_cached(_ config: OpaquePointer?, _ cached: Bool) {
    with(config) { (config) throws(RealmError) in config.value.isCached = cached }
}

@_cdecl("realm_config_get_cached")
public func realm_config_get_cached(_ config: OpaquePointer?) -> Bool {
    anywhere(.config, config, false) { (config) throws(RealmError) in config.value.isCached }
}

@_cdecl("realm_config_set_automatic_backlink_handling")
public func realm_config_set_automatic_backlink_handling(_ config: OpaquePointer?, _ automatic: Bool) {
    with(config) { (config) throws(RealmError) in config.value.handlesBacklinksAutomatically = automatic }
}
