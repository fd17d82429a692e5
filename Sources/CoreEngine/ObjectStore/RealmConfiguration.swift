/// How to open a Realm. A plain value; copied when the Realm opens.
public struct RealmConfiguration: Sendable {
    /// Path of the database file.
    public var path = ""
    /// Classes the application uses; nil: whatever the file has.
    public var schema: Schema?
    /// Version of `schema`; all ones: none given.
    public var schemaVersion = UInt64.max
    public var schemaMode = SchemaMode.automatic
    public var subsetMode = SchemaSubsetMode.strict
    /// 64 bytes, or nil for a plain file.
    var encryptionKey: SecretKey?
    public var isInMemory = false
    /// Opens with the same scheduler share one instance.
    public var isCached = false
    public var disablesFormatUpgrade = false
    public var maxActiveVersions = UInt64.max
    public var scheduler: (any Scheduler)?
    /// Called once in the write transaction that first makes the schema; false fails the open with 1000000.
    package var initialize: (@Sendable (Realm) -> Bool)?
    /// Whether a migration function is set. Migrations are not supported yet, so it only decides about errors.
    package var hasMigration = false

    public init(path: String = "", schema: Schema? = nil, schemaVersion: UInt64? = nil, mode: SchemaMode = .automatic) {
        self.path = path
        self.schema = schema
        self.schemaVersion = schemaVersion ?? (schema == nil ? .max : 0)
        schemaMode = mode
    }

    /// - Parameter key: 64 bytes; empty clears.
    public mutating func setEncryptionKey(_ key: [UInt8]) throws(RealmError) {
        guard key.isEmpty || key.count == 64 else { throw RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes.") }
        encryptionKey = key.isEmpty ? nil : SecretKey(key)
    }
    /// The key's bytes, nil when there is none. For handing back to a caller who set it.
    public var encryptionKeyBytes: [UInt8]? { encryptionKey?.bytes }

    /// Combinations refused before any file access. Rules: live-objects §2.1.
    func check() throws(RealmError) {
        let fixed = schemaMode == .immutable || schemaMode == .readOnly
        if hasMigration && (fixed || schemaMode.isAdditive) {
            throw RealmError(.illegalCombination, "A migration function cannot be used with this schema mode")
        }
        if initialize != nil && fixed { throw RealmError(.illegalCombination, "A data initialization function cannot be used with this schema mode") }
        if schema != nil && schemaVersion == .max { throw RealmError(.illegalCombination, "A schema version must be specified when the schema is specified") }
        if encryptionKey != nil && isInMemory { throw RealmError(.illegalCombination, "Encryption is not supported for in-memory realms") }
        if isInMemory && schemaMode == .immutable { throw RealmError(.illegalCombination, "An in-memory Realm cannot be immutable") }
    }
}
