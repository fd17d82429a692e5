/// How a commit reaches the disk. Numbers: `crealm_durability_e`.
public enum CommitDurability: UInt32, Sendable {
    /// What was committed is never lost; a small commit waits for the disk once.
    case full = 0
    /// The same for disks that may write half a sector: every commit waits twice.
    case twoFlushes = 1
    /// Never waits: a loss of power may destroy the file.
    case unsafe = 2
}

/// Which of the two versions that the header of a file leads to. Numbers: `crealm_version_slot_e`.
public enum VersionSlot: UInt32, Sendable {
    /// The newest one.
    case newest = 0
    /// The one before it, if it is still whole.
    case previous = 1
}

/// How to open a Realm. A plain value; copied when the Realm opens.
public struct RealmConfiguration: Sendable {
    /// Path of the database file.
    public var path = "" { didSet { refusedPath = nil } }

    /// Why a path was refused, until another is set: nothing is opened under the one before.
    private var refusedPath: RealmError?

    /// Classes the application uses; nil: whatever the file has.
    public var schema: Schema?

    /// Version of `schema`; all ones: none given.
    public var schemaVersion = UInt64.max

    /// What happens when the file has another schema.
    public var schemaMode = SchemaMode.automatic

    /// Which classes and properties of the file show up that `schema` does not name.
    public var subsetMode = SchemaSubsetMode.strict

    /// Key or passphrase; nil for a plain file.
    public var secret: Encryption.Secret? { didSet { refusedSecret = nil } }

    /// Why a key or passphrase was refused, until another is set: nothing is opened or made with the one before, or
    /// without any.
    private var refusedSecret: RealmError?

    /// How a new encrypted file is sealed; an existing one says itself. Once it was set nothing is opened or made
    /// without a key or passphrase.
    public var pageCipher = PageCipher.xchacha20 { didSet { choosesCipher = true } }

    /// Whether somebody said how the file is sealed: then a plain file is not what they mean.
    private var choosesCipher = false

    /// For a new file with a passphrase.
    public var passphraseCost = PassphraseCost()

    /// Bytes of decrypted pages to keep although no snapshot in use needs them; 0: a sixteenth of the machine's memory,
    /// 256 MB at most.
    public var pageMemory = 0

    /// Whether the data live only as long as somebody has them open.
    public var isInMemory = false

    /// Reads one version of a file that other programs may be writing, realm-core included, in a copy of its own: it
    /// waits for nobody, nobody waits for it, and nothing in the file's folder is made or changed. The Realm is as one
    /// of mode `immutable` then, and is never cached.
    public var isSnapshot = false

    /// Reads the version before the newest one, which the other slot of the file's header leads to; an open throws 9005
    /// when it is not whole any more. All of it is checked first. The Realm is as one of mode `immutable` then, and is
    /// never cached; with `isSnapshot` it reads a copy.
    public var versionSlot = VersionSlot.newest

    /// How commits reach the disk.
    public var durability = CommitDurability.full

    /// Opens with the same scheduler share one instance.
    public var isCached = false

    /// Whether a file of an older format is refused instead of upgraded.
    public var disablesFormatUpgrade = false

    /// As many versions there may be; more, and `beginWrite` throws 2005.
    public var maxActiveVersions = UInt64.max

    /// Where the Realm is to live; nil: on the thread that opens it.
    public var scheduler: (any Scheduler)? {
        get { home?.original }
        set { home = newValue?.forEngine }
    }

    /// The same as the engine sees it.
    package var home: (any EngineScheduler)?

    /// Whether the Realm hears of new versions, and moves to them in turns of its scheduler. Else it moves in calls
    /// only.
    public var notifiesAutomatically = true

    /// Called once in the write transaction that first makes the schema; an error fails the open and leaves the file
    /// empty.
    public var initialize: (@Sendable (Realm) throws -> Void)?

    /// Called in the write transaction of a migration with a view of the file before it and the Realm being migrated;
    /// an error fails the open and leaves the file as it was. Removed properties still have their columns, but only
    /// `old` shows them.
    public var migrate: (@Sendable (_ old: Realm, _ new: Realm) throws -> Void)?

    /// Called when the file is first opened in this process, with its size and how much of that is in use, unless
    /// nothing is free; true compacts it. An error fails the open.
    public var shouldCompact: (@Sendable (_ totalBytes: UInt64, _ usedBytes: UInt64) throws -> Bool)?

    /// Called from time to time while a call of the Realm waits, reads or copies for long; false ends that call, which
    /// throws 9004. It runs on the thread of the call, and cannot use the Realm.
    public var progress: (@Sendable (CallProgress) -> Bool)?

    /// Seconds to wait for other users of the file: for those who open or replace it, and for those who write. Then the
    /// call throws 9003. nil: for ever.
    public var lockTimeout: Double?

    /// When a class becomes embedded: delete objects that nothing links to, copy those with several links.
    public var handlesBacklinksAutomatically = false

    /// - Parameter schemaVersion: nil: 0, with a schema.
    public init(path: String = "", schema: Schema? = nil, schemaVersion: UInt64? = nil, mode: SchemaMode = .automatic) {
        self.path = path
        self.schema = schema
        self.schemaVersion = schemaVersion ?? (schema == nil ? .max : 0)
        schemaMode = mode
    }

    /// - Parameter key: 64 bytes; empty clears.
    public mutating func setEncryptionKey(_ key: UnsafeRawBufferPointer) throws(RealmError) {
        do throws(RealmError) {
            guard key.isEmpty || key.count == 64 else {
                throw RealmError(.invalidEncryptionKey, "Encryption key must be 64 bytes.")
            }
            secret = key.isEmpty ? nil : .key(try SecretKey(copying: key))
        } catch { throw refuseSecret(error) }
    }

    /// - Parameter words: any bytes; empty clears.
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

    /// Notes that a key or passphrase was refused: whoever ignores `error` shall not get a plain file. Returns the
    /// error.
    public mutating func refuseSecret(_ error: RealmError) -> RealmError {
        refusedSecret = error
        return error
    }

    /// Notes that a path was refused, and forgets the one before. Returns the error.
    public mutating func refusePath(_ error: RealmError) -> RealmError {
        path = ""
        refusedPath = error
        return error
    }

    /// The path.
    ///
    /// - Throws: why it was refused, or that the system would see a part of it only.
    public func checkedPath() throws(RealmError) -> String {
        if let refusedPath { throw refusedPath }
        guard !path.utf8.contains(0) else {
            throw RealmError(.invalidArgument, "A path cannot contain the character with the number 0")
        }
        return path
    }

    /// Takes what seals another file, or nil for a plain one.
    mutating func take(_ encryption: Encryption?) {
        secret = encryption?.secret
        if let encryption { (pageCipher, passphraseCost) = (encryption.cipher, encryption.cost) }
        choosesCipher = false
    }

    /// What opens the file; nil for a plain one.
    ///
    /// - Throws: why the key or passphrase was refused, or that there is none although a page cipher was chosen.
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

    /// Whether a Realm opened with it shares nothing with others of the file.
    var isApart: Bool { isSnapshot || versionSlot != .newest }

    /// As a Realm opened with it has it.
    var asOpened: RealmConfiguration {
        guard isApart else { return self }
        var opened = self
        opened.schemaMode = .immutable
        opened.isCached = false
        return opened
    }

    /// Combinations refused before any file access. Rules: live-objects §2.1.
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
