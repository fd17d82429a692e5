/// How a commit reaches the disk. The numbers are those of `crealm_durability_e`.
public enum CommitDurability: UInt32, Sendable {
    /// A committed transaction is never lost. A small commit waits for the disk once.
    case full = 0
    /// Same as `full`, also for disks that may write half a sector: every commit waits twice.
    case twoFlushes = 1
    /// Never waits for the disk: a power failure may destroy the file.
    case unsafe = 2
}

/// Selects one of the two versions that the file header refers to. The numbers are those of `crealm_version_slot_e`.
public enum VersionSlot: UInt32, Sendable {
    /// The newest version.
    case newest = 0
    /// The version before it, if it is still complete.
    case previous = 1
}

/// How to open a Realm. A plain value, copied when the Realm opens.
public struct RealmConfiguration: Sendable {
    /// Path of the database file.
    public var path = "" { didSet { refusedPath = nil } }

    /// Why the last path was refused, until another path is set: the earlier path must not be opened instead.
    private var refusedPath: RealmError?

    /// Classes that the application uses; nil: all classes of the file.
    public var schema: Schema?

    /// Version of `schema`; all bits set: not specified.
    public var schemaVersion = UInt64.max

    /// How to open a file whose schema differs.
    public var schemaMode = SchemaMode.automatic

    /// Rules that the file must have for these classes; nil: the rules of the file stay. They are part of the schema: a
    /// mode that changes the schema changes them too. Additive modes only add rules.
    package var rules: [Name: ClassRules]?

    /// Whether a write transaction fails with 9006 when another library wrote objects that break a rule. Otherwise the
    /// log tells them, and the transaction begins.
    public var refusesBrokenRules = false

    /// Which classes and properties of the file are visible although `schema` does not name them.
    public var subsetMode = SchemaSubsetMode.strict

    /// Key or passphrase; nil for an unencrypted file.
    public var secret: Encryption.Secret? { didSet { refusedSecret = nil } }

    /// Why the last key or passphrase was refused, until another one is set: no file is opened or created with the
    /// earlier one, or without encryption.
    private var refusedSecret: RealmError?

    /// Cipher of a new encrypted file; an existing file names its own cipher. After this was set, no file is opened or
    /// created without a key or passphrase.
    public var pageCipher = PageCipher.xchacha20 { didSet { choosesCipher = true } }

    /// Whether the program chose a cipher: it then does not want an unencrypted file.
    private var choosesCipher = false

    /// Cost of deriving the key from a passphrase, for a new file.
    public var passphraseCost = PassphraseCost()

    /// Bytes of decrypted pages to cache beyond those that open snapshots need; 0: one sixteenth of the machine's
    /// memory, at most 256 MB.
    public var pageMemory = 0

    /// Whether the data are lost when the last Realm of the file closes.
    public var isInMemory = false

    /// Reads one version from a private copy, of a file that other programs, realm-core included, may be writing.
    /// Readers and writers do not wait for each other, and nothing in the file's folder is created or changed. The
    /// Realm behaves as in mode `immutable` and is never cached.
    public var isSnapshot = false

    /// Reads the version before the newest one, which the other slot of the file header refers to. The whole version is
    /// checked first; opening throws 9005 when it is no longer complete. The Realm behaves as in mode `immutable` and
    /// is never cached. With `isSnapshot` it reads a copy.
    public var versionSlot = VersionSlot.newest

    /// How commits reach the disk.
    public var durability = CommitDurability.full

    /// A file shrinks while it is in use when it has at least this many bytes, and more than `shrinkingFreePercent` of
    /// it is free space.
    public var shrinkingLeastSize = 1 << 20

    /// The share of free space, in percent, from which commits of this Realm make the file shorter; 100: they never do.
    public var shrinkingFreePercent = 50

    /// Whether opens with the same scheduler share one instance.
    public var isCached = false

    /// Whether opening a file of an older format fails instead of upgrading it.
    public var disablesFormatUpgrade = false

    /// Largest number of versions in use; beyond it `beginWrite` throws 2005.
    public var maxActiveVersions = UInt64.max

    /// The scheduler that the Realm will belong to; nil: that of the thread that opens it.
    public var scheduler: (any Scheduler)? {
        get { home?.original }
        set { home = newValue?.forEngine }
    }

    /// The scheduler as the engine uses it.
    package var home: (any EngineScheduler)?

    /// Whether the Realm is notified of new versions and moves to them in turns of its scheduler. Otherwise it moves
    /// only in calls.
    public var notifiesAutomatically = true

    /// Called once, in the write transaction that first creates the schema. An error fails the open and leaves the file
    /// empty.
    public var initialize: (@Sendable (Realm) throws -> Void)?

    /// Called in the write transaction of a migration, with a view of the file before the migration and the Realm being
    /// migrated. An error fails the open and leaves the file unchanged. Removed properties still have their columns,
    /// but only `old` shows them.
    public var migrate: (@Sendable (_ old: Realm, _ new: Realm) throws -> Void)?

    /// Called when the file is first opened in this process, with its size and the number of bytes in use, unless the
    /// file has no free space. Returning true compacts the file. An error fails the open.
    public var shouldCompact: (@Sendable (_ totalBytes: UInt64, _ usedBytes: UInt64) throws -> Bool)?

    /// Called repeatedly while a call of the Realm waits, reads or copies for long. Returning false ends that call,
    /// which throws 9004. Runs on the thread of the call, and must not use the Realm.
    public var progress: (@Sendable (CallProgress) -> Bool)?

    /// Seconds to wait for other users of the file: those that open or replace it, and writers. After that the call
    /// throws 9003. nil: no limit.
    public var lockTimeout: Double?

    /// When a class becomes embedded: delete objects without links to them, and copy objects with several.
    public var handlesBacklinksAutomatically = false

    /// - Parameter schemaVersion: nil means 0 when a schema is given.
    public init(path: String = "", schema: Schema? = nil, schemaVersion: UInt64? = nil, mode: SchemaMode = .automatic) {
        self.path = path
        self.schema = schema
        self.schemaVersion = schemaVersion ?? (schema == nil ? .max : 0)
        schemaMode = mode
    }

    /// Sets or removes the encryption key.
    ///
    /// - Parameter key: 64 bytes; empty removes the key.
    public mutating func setEncryptionKey(_ key: UnsafeRawBufferPointer) throws(RealmError) {
        do throws(RealmError) {
            guard key.isEmpty || key.count == 64 else {
                throw RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes.")
            }
            secret = key.isEmpty ? nil : .key(try SecretKey(copying: key))
        } catch { throw refuseSecret(error) }
    }

    /// Sets or removes the passphrase.
    ///
    /// - Parameter words: any bytes; empty removes the passphrase.
    public mutating func setPassphrase(_ words: UnsafeRawBufferPointer, cost: PassphraseCost = PassphraseCost())
        throws(RealmError)
    {
        do throws(RealmError) {
            guard cost.isSensible else {
                throw RealmError(.invalidArgument, "The cost of a passphrase is 1 to 32 passes over 8 KiB to 1 GiB")
            }
            secret = words.isEmpty ? nil : .passphrase(try SecretKey(copying: words))
        } catch { throw refuseSecret(error) }
        passphraseCost = cost
    }

    /// Records that a key or passphrase was refused, so that a caller who ignores `error` does not get an unencrypted
    /// file. Returns the error.
    public mutating func refuseSecret(_ error: RealmError) -> RealmError {
        refusedSecret = error
        return error
    }

    /// Records that a path was refused, and clears the earlier path. Returns the error.
    public mutating func refusePath(_ error: RealmError) -> RealmError {
        path = ""
        refusedPath = error
        return error
    }

    /// The path.
    ///
    /// - Throws: the reason why it was refused, or an error for a path that the operating system would cut short.
    public func checkedPath() throws(RealmError) -> String {
        if let refusedPath { throw refusedPath }
        guard !path.utf8.contains(0) else {
            throw RealmError(.invalidArgument, "A path cannot contain the character with the number 0")
        }
        return path
    }

    /// Adopts the encryption of another file; nil for an unencrypted one.
    mutating func take(_ encryption: Encryption?) {
        secret = encryption?.secret
        if let encryption { (pageCipher, passphraseCost) = (encryption.cipher, encryption.cost) }
        choosesCipher = false
    }

    /// The encryption settings for opening the file; nil for an unencrypted file.
    ///
    /// - Throws: the reason why the key or passphrase was refused, or an error when a page cipher was chosen without a
    ///   key or passphrase.
    public func encryption() throws(RealmError) -> Encryption? {
        if let refusedSecret { throw refusedSecret }
        guard let secret else {
            guard !choosesCipher else {
                throw RealmError(
                    .illegalCombination,
                    "A page cipher was chosen, but no key or passphrase: the file would not be encrypted")
            }
            return nil
        }
        var encryption = Encryption(secret)
        encryption.cipher = pageCipher
        encryption.cost = passphraseCost
        encryption.memory = pageMemory
        return encryption
    }

    /// Whether a Realm opened with this configuration shares nothing with other Realms of the file.
    var isApart: Bool { isSnapshot || versionSlot != .newest }

    /// The configuration that the open Realm reports.
    var asOpened: RealmConfiguration {
        guard isApart else { return self }
        var opened = self
        opened.schemaMode = .immutable
        opened.isCached = false
        return opened
    }

    /// Refuses invalid combinations before any file access. Rules: live-objects §2.1.
    func check() throws(RealmError) {
        _ = try checkedPath()
        _ = try encryption()
        guard !isApart || schemaMode == .automatic || schemaMode == .immutable else {
            throw RealmError(
                .illegalCombination,
                "A snapshot open, and one of an earlier version, has no other schema mode than immutable")
        }
        let fixed = isApart || schemaMode == .immutable || schemaMode == .readOnly
        if migrate != nil && (fixed || schemaMode.isAdditive) {
            throw RealmError(.illegalCombination, "A migration function cannot be used with this schema mode")
        }
        if initialize != nil && fixed {
            throw RealmError(.illegalCombination, "A data initialization function cannot be used with this schema mode")
        }
        if schema != nil && schemaVersion == .max {
            throw RealmError(.illegalCombination, "A schema version must be specified when the schema is specified")
        }
        if secret != nil && isInMemory {
            throw RealmError(.illegalCombination, "Encryption is not supported for in-memory realms")
        }
        if case .passphrase = secret, pageCipher == .realm {
            throw RealmError(.illegalCombination, "Realm's encrypted form takes a key of 64 bytes, not a passphrase")
        }
        if isInMemory && (isApart || schemaMode == .immutable) {
            throw RealmError(.illegalCombination, "An in-memory Realm cannot be immutable")
        }
    }
}
