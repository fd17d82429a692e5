/// Incremental backups. A *step* is a small Realm file with the blocks of a snapshot that an earlier step does not
/// have; the first step has all of them. `restore` makes a Realm file from a chain of steps.
///
/// A step contains: one `BackupStep`, which describes the snapshot and names the step before it by the digest of its
/// image; `BackupBlock` for each block that changed (without data when nothing of the block is in use any more);
/// `BackupDigests`, the digests of all blocks of the image, 16 bytes each and zeros for free blocks. So the next step
/// needs only this one. A step has the key of the file, and any tool that opens Realm files can look into it.
///
/// Promise
/// 1. A step describes one version. The writer of the file never waits for it.
/// 2. A restored file is the snapshot of its last step: each block is compared with its digest before it is written.
///    When a step is missing, damaged or out of order, nothing is restored.
/// 3. Steps and restored files get their names when they are complete and on the disk.
///
/// Memory: 16 bytes for each block of 4 KB, and a bounded amount beside that.
extension Realm {
    /// Writes a backup step: what the snapshot of this Realm has and the step `previous` has not.
    ///
    /// - Parameters:
    ///   - path: the new file; 1020 when a file exists there.
    ///   - previous: the step before it; nil for the first step, which has everything.
    /// - Returns: the size of the step in bytes.
    /// - Throws: 2005 inside a write transaction; 1002 when `previous` is no step of a file of the same form.
    @discardableResult
    public func backup(to path: String, since previous: String? = nil) throws(RealmError) -> Int {
        try enter(.realm)
        defer { leave() }
        let wasReading = isReading
        let transaction = try reading()
        defer { if !wasReading { transaction.endRead() } }
        return try transaction.store.during(.copying) { () throws(RealmError) in
            try writeStep(of: try SnapshotImage(transaction), to: path, since: previous)
        }
    }

    private func writeStep(of image: SnapshotImage, to path: String, since previous: String?) throws(RealmError) -> Int
    {
        let target = try FileSystem.canonical(path)
        guard !FileSystem.exists(target) else { throw FileSystem.alreadyExists(path) }
        var settings = stepSettings(path, image.encryption)
        var known = BlockDigests(), base: [UInt8]?
        if let previous {
            guard try FileSystem.canonical(previous) != image.path else {
                throw RealmError(.illegalCombination, "'\(previous)' is no backup step", path: previous)
            }
            settings.path = previous
            let before = try BackupStep(settings)
            defer { before.realm.close() }
            guard before.frame.blockSize == image.blockSize else {
                throw RealmError(
                    .illegalCombination, "The backup step '\(previous)' is of a file with another encryption",
                    path: previous)
            }
            (known, base) = (try before.digests(), before.digest)
        }
        let scratch = ScratchFile(for: target, ".tmp_step_")
        defer { scratch.remove() }
        settings.path = scratch.path
        let writer = try StepWriter(settings)
        defer { writer.realm.close() }
        // Before the step has any data; the copy of it has the same permissions.
        try image.copyPermissions(to: scratch.path)
        var digests = BlockDigests()
        try digests.makeRoom(for: image.count)
        for index in 0..<image.count {
            let block = try image.read(index)
            digests.append(block)
            if !digests.isSame(index, as: known) { try writer.add(index, block) }
        }
        try image.verifyWhole()
        // Blocks behind the new end need no record: the image ends there.
        try writer.finish(image, digests, base: base)
        try writer.realm.writeCopy(to: path, encryption: image.encryption)
        return try FileDescriptor(path: path, access: .readOnly).size()
    }

    /// The configuration of a step of this Realm's file.
    private func stepSettings(_ path: String, _ encryption: Encryption?) -> RealmConfiguration {
        var settings = RealmConfiguration(path: path)
        settings.secret = encryption?.secret
        if let encryption { settings.pageCipher = encryption.cipher }
        settings.home = home
        settings.progress = configuration.progress
        return settings
    }

    /// Makes a Realm file from backup steps.
    ///
    /// - Parameters:
    ///   - steps: the paths of the steps, the first one first. All have the key or passphrase of the configuration.
    ///   - configuration: path and key of the new file; 1020 when a file exists there.
    /// - Throws: 1002 when the steps do not form a chain; 1021 when the last step or a block is damaged.
    public static func restore(_ steps: [String], to configuration: RealmConfiguration) throws(RealmError) {
        try configuration.check()
        guard !configuration.isInMemory, !configuration.path.isEmpty else {
            throw RealmError(.illegalCombination, "A restored Realm needs the path of a file", path: configuration.path)
        }
        var chain: [BackupStep] = []
        defer { for step in chain { step.realm.close() } }
        for path in steps {
            var settings = configuration
            settings.path = path
            let step = try BackupStep(settings)
            chain.append(step)
            let before = chain.dropLast().last
            guard step.description.base == before?.digest else {
                let wanted = before.map { "the step after '\($0.realm.configuration.path)'" } ?? "a first step"
                throw RealmError(.illegalCombination, "The backup step '\(path)' is not \(wanted)", path: path)
            }
        }
        guard let last = chain.last else {
            throw RealmError(.illegalCombination, "No backup steps to restore from", path: configuration.path)
        }
        let digests = try last.digests(), places = try BlockPlaces(chain)
        var encryption = try configuration.encryption()
        if let cipher = last.description.cipher { encryption?.cipher = cipher }
        let frame = last.frame, newest = try last.realm.reading(), store = newest.store
        try store.during(.copying) { () throws(RealmError) in
            try SnapshotImage.restore(frame, to: configuration.path, encryption, like: newest.database.file) {
                (index) throws(RealmError) in
                try store.test(index * frame.blockSize, of: frame.size)
                guard !digests.isFree(index) else { return nil }
                guard let place = places[index], let block = try chain[place.step].block(place.key),
                    block.count == frame.blockSize, digests.isDigest(index, of: block)
                else {
                    throw RealmError(
                        .invalidDatabase, "Block \(index) of the backup is missing or damaged",
                        path: chain[places[index]?.step ?? chain.count - 1].realm.configuration.path)
                }
                return block
            }
        }
    }
}

/// The digests of the blocks of an image, in order: 16 bytes for each block, zeros for a free one.
///
/// No known block has a digest of zeros (BLAKE2b).
private struct BlockDigests {
    private static let size = 16
    private(set) var bytes: [UInt8] = []

    var count: Int { bytes.count / Self.size }

    /// Makes room for the digests of `count` more blocks.
    mutating func makeRoom(for count: Int) throws(RealmError) { try bytes.makeRoom(for: count * Self.size) }

    /// - Parameter block: nil for a free block.
    mutating func append(_ block: Bytes?) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Self.size))
        guard let block else { return }
        bytes.withUnsafeMutableBytes { (all: UnsafeMutableRawBufferPointer) -> Void in
            Crypto.digest(block, into: UnsafeMutableRawBufferPointer(rebasing: all[start...]))
        }
    }

    /// Adds digests that were computed before.
    mutating func append(digests: Bytes) throws(RealmError) {
        try bytes.makeRoom(for: digests.count)
        bytes.append(contentsOf: digests)
    }

    /// Whether a block has the same digest in both images. A block that `other` lacks counts as free there.
    func isSame(_ index: Int, as other: BlockDigests) -> Bool {
        guard index < other.count else { return isFree(index) }
        return slice(index).elementsEqual(other.slice(index))
    }

    func isFree(_ index: Int) -> Bool { slice(index).allSatisfy { $0 == 0 } }

    func isDigest(_ index: Int, of block: Bytes) -> Bool {
        slice(index).elementsEqual(Crypto.digest(block, count: Self.size))
    }

    private func slice(_ index: Int) -> ArraySlice<UInt8> { bytes[index * Self.size..<(index + 1) * Self.size] }

    /// The digest of the image.
    var digest: [UInt8] { bytes.withUnsafeBytes { Crypto.digest($0, count: 32) } }
}

/// What a step says of its image beside the blocks.
private struct StepDescription {
    let frame: SnapshotImage.Frame

    /// The version.
    let snapshot: UInt64

    /// The cipher of the file; nil for a plain one.
    let cipher: PageCipher?

    /// The digest of the step before; nil for a first step.
    let base: [UInt8]?

    /// The digest of the step: of the description and of the digests of all blocks.
    func digest(_ digests: BlockDigests) -> [UInt8] {
        var bytes = digests.digest
        let numbers: [UInt64] = [
            UInt64(StepSchema.version), snapshot, UInt64(frame.size), UInt64(frame.blockSize),
            UInt64(frame.topRef.offset), UInt64(frame.format), cipher.map { UInt64($0.rawValue) + 1 } ?? 0,
        ]
        for number in numbers { withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) } }
        bytes.append(contentsOf: base ?? [])
        return bytes.withUnsafeBytes { Crypto.digest($0, count: 32) }
    }
}

/// Names of the classes of a step, and what they have.
private enum StepSchema {
    static let step: Name = "BackupStep", block: Name = "BackupBlock", digests: Name = "BackupDigests"
    static let version: Int64 = 1

    static var schema: Schema {
        Schema([
            ObjectSchema(
                step,
                properties: [
                    Property("stepFormat", .int), Property("snapshot", .int), Property("size", .int),
                    Property("blockSize", .int), Property("topRef", .int), Property("fileFormat", .int),
                    Property("cipher", .int, nullable: true), Property("digest", .data),
                    Property("base", .data, nullable: true), Property("made", .date),
                ]),
            ObjectSchema(block, properties: [Property("index", .int), Property("data", .data, nullable: true)]),
            ObjectSchema(digests, properties: [Property("digests", .data)]),
        ])
    }
}

/// A class of a step, with its columns by name.
private struct StepTable {
    let table: Table
    private let facts: [Name: ColumnFacts]

    init?(_ group: Group, _ name: Name) throws(RealmError) {
        guard let table = try group.table(named: Name(Format.classPrefix.text + name.text)) else { return nil }
        self.table = table
        var facts: [Name: ColumnFacts] = [:]
        for column in table.publicColumns { facts[column.name] = table.facts(column.key) }
        self.facts = facts
    }

    func add(_ values: [(Name, Mixed)]) throws(RealmError) {
        let key = try table.createObject().key
        for (name, value) in values {
            if let facts = facts[name] { _ = try table.set(key, facts, value) }
        }
    }

    func get(_ key: ObjKey, _ name: Name) throws(RealmError) -> Mixed? {
        guard let facts = facts[name] else { return nil }
        return try table.get(key, facts)
    }
}

/// Fills a new step.
private final class StepWriter {
    let realm: Realm

    /// Bytes of blocks since the last commit.
    private var uncommitted = 0

    /// The class of the blocks in the present transaction.
    private var blocks: StepTable?

    init(_ settings: RealmConfiguration) throws(RealmError) {
        var settings = settings
        settings.schema = StepSchema.schema
        settings.schemaMode = .automatic
        settings.schemaVersion = 0
        settings.durability = .unsafe
        settings.notifiesAutomatically = false
        realm = try Realm(settings)
        try realm.beginWrite()
    }

    private func table(_ name: Name) throws(RealmError) -> StepTable {
        guard let table = try StepTable(realm.transaction.group, name) else {
            throw .corrupt("a backup step without its classes")
        }
        return table
    }

    func add(_ index: Int, _ block: Bytes?) throws(RealmError) {
        let known = blocks
        let table = if let known { known } else { try table(StepSchema.block) }
        blocks = table
        try table.add([("index", .int(Int64(index))), ("data", block.map { .binary($0) } ?? .null)])
        uncommitted += block?.count ?? 64
        guard uncommitted >= 4 << 20 else { return }
        uncommitted = 0
        blocks = nil
        try realm.commitWrite()
        try realm.beginWrite()
    }

    func finish(_ image: SnapshotImage, _ digests: BlockDigests, base: [UInt8]?) throws(RealmError) {
        let pieces = try table(StepSchema.digests)
        for start in stride(from: 0, to: digests.bytes.count, by: 1 << 20) {
            let piece = Array(digests.bytes[start..<min(start + 1 << 20, digests.bytes.count)])
            try piece.withBytes { (bytes) throws(RealmError) in try pieces.add([("digests", .binary(bytes))]) }
        }
        let step = try table(StepSchema.step), now = Int64(Platform.microsecondsSince1970 / 1_000_000)
        let frame = SnapshotImage.Frame(
            topRef: image.topRef, size: image.size, blockSize: image.blockSize, format: image.format)
        let description = StepDescription(
            frame: frame, snapshot: image.version, cipher: image.encryption?.cipher, base: base)
        try description.digest(digests).withBytes { (digest) throws(RealmError) in
            try (base ?? []).withBytes { (baseBytes) throws(RealmError) in
                try step.add([
                    ("stepFormat", .int(StepSchema.version)), ("snapshot", .int(Int64(image.version))),
                    ("size", .int(Int64(image.size))), ("blockSize", .int(Int64(image.blockSize))),
                    ("topRef", .int(Int64(image.topRef.offset))), ("fileFormat", .int(Int64(image.format))),
                    ("cipher", image.encryption.map { .int(Int64($0.cipher.rawValue)) } ?? .null),
                    ("digest", .binary(digest)),
                    ("base", base == nil ? .null : .binary(baseBytes)),
                    ("made", .timestamp(Timestamp(seconds: now, nanoseconds: 0))),
                ])
            }
        }
        try realm.commitWrite()
    }
}

/// An existing step, opened for reading.
private final class BackupStep {
    let realm: Realm
    let description: StepDescription
    let digest: [UInt8]

    var frame: SnapshotImage.Frame { description.frame }

    fileprivate let blocks: StepTable
    private let pieces: StepTable

    init(_ settings: RealmConfiguration) throws(RealmError) {
        var settings = settings
        settings.schema = nil
        settings.schemaMode = .immutable
        settings.notifiesAutomatically = false
        settings.isCached = false
        realm = try Realm(settings)
        do throws(RealmError) {
            let group = try realm.reading().group
            guard let step = try StepTable(group, StepSchema.step), let blocks = try StepTable(group, StepSchema.block),
                let pieces = try StepTable(group, StepSchema.digests), try step.table.count() == 1
            else {
                throw RealmError(.illegalCombination, "'\(settings.path)' is no backup step", path: settings.path)
            }
            let key = try step.table.rows.key(at: 0)
            func number(_ name: Name) throws(RealmError) -> Int {
                if case .int(let number)? = try step.get(key, name), number >= 0 { return Int(number) }
                throw RealmError(.invalidDatabase, "A damaged backup step", path: settings.path)
            }
            func data(_ name: Name) throws(RealmError) -> [UInt8]? {
                if case .binary(let bytes)? = try step.get(key, name) { return Array(bytes) }
                return nil
            }
            guard try number("stepFormat") == Int(StepSchema.version) else {
                throw RealmError(
                    .notSupported, "The backup step '\(settings.path)' was made by a newer version", path: settings.path
                )
            }
            let size = try number("size"), blockSize = try number("blockSize"), top = try number("topRef")
            guard blockSize > 0, blockSize <= 1 << 20, top < max(size, 1), top & 7 == 0, size < 1 << 47,
                let format = UInt8(exactly: try number("fileFormat")), let digest = try data("digest")
            else { throw RealmError(.invalidDatabase, "A damaged backup step", path: settings.path) }
            var cipher: PageCipher?
            if case .int(let number)? = try step.get(key, "cipher") {
                cipher = Int32(exactly: number).flatMap(PageCipher.init(rawValue:))
            }
            description = StepDescription(
                frame: SnapshotImage.Frame(topRef: Ref(top), size: size, blockSize: blockSize, format: format),
                snapshot: UInt64(try number("snapshot")), cipher: cipher, base: try data("base"))
            self.digest = digest
            (self.blocks, self.pieces) = (blocks, pieces)
        } catch {
            realm.close()
            throw error
        }
    }

    /// The digests of all blocks; an error if they, or the description of the step, are damaged.
    func digests() throws(RealmError) -> BlockDigests {
        var digests = BlockDigests()
        for i in 0..<(try pieces.table.count()) {
            if case .binary(let piece)? = try pieces.get(try pieces.table.rows.key(at: i), "digests") {
                try digests.append(digests: piece)
            }
        }
        guard description.digest(digests) == digest,
            digests.count == (frame.size + frame.blockSize - 1) / frame.blockSize
        else {
            throw RealmError(
                .invalidDatabase, "The backup step '\(realm.configuration.path)' is damaged",
                path: realm.configuration.path)
        }
        return digests
    }

    /// The bytes of a block, valid until the step is closed.
    func block(_ key: ObjKey) throws(RealmError) -> Bytes? {
        if case .binary(let data)? = try blocks.get(key, "data") { return data }
        return nil
    }
}

/// The newest record of each block in a chain of steps.
private struct BlockPlaces {
    /// For each block the number of its step plus one, and its object; 0: not found.
    private var steps: [UInt32]
    private var keys: [ObjKey]

    init(_ chain: [BackupStep]) throws(RealmError) {
        let count = chain.last.map { ($0.frame.size + $0.frame.blockSize - 1) / $0.frame.blockSize } ?? 0
        try CMemory.expect(count, each: 12)
        steps = Array(repeating: 0, count: count)
        keys = Array(repeating: .null, count: count)
        for (number, step) in chain.enumerated() {
            let rows = step.blocks.table
            for i in 0..<(try rows.count()) {
                let key = try rows.rows.key(at: i)
                guard case .int(let index)? = try step.blocks.get(key, "index"), index >= 0, index < count else {
                    continue
                }
                steps[Int(index)] = UInt32(number + 1)
                keys[Int(index)] = key
            }
        }
    }

    subscript(index: Int) -> (step: Int, key: ObjKey)? {
        guard index < steps.count, steps[index] > 0 else { return nil }
        return (Int(steps[index]) - 1, keys[index])
    }
}
