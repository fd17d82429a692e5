/// A snapshot as a file that contains nothing else, in blocks: what is in use stays at its place, and free space and
/// the header are zeros. Backup steps are made of such blocks (`BackupSteps.swift`).
///
/// Promise
/// 1. The blocks, written to a new file at their places, with a header that leads to `topRef`, are the snapshot.
/// 2. A block that the commits between two snapshots did not touch is equal in both images.
/// 3. Memory use is bounded: the image has its own view of the file, whose pages are released on the way.
///
/// Blocks are read in ascending order. The transaction keeps its snapshot meanwhile, so no byte in use changes. (A
/// commit of another writer may write its record behind the top array. The record leads to space that is zero in the
/// image, so no reader accepts it.)
final class SnapshotImage {
    /// Blocks are pages, so that a restored file is written page by page.
    let blockSize: Int
    let size: Int
    let topRef: Ref
    let version: UInt64
    let format: UInt8

    /// The secret of the file, with the cipher that its pages have.
    let encryption: Encryption?

    /// The path of the file.
    var path: String { source.path }

    private let source: DatabaseFile
    private let view: DatabaseFile
    private let store: NodeStore
    private let block: HiddenMemory

    /// Free space in order; the last chunk is the space behind the end.
    private let free: [FileChunk]

    /// The first chunk that ends behind the last block that was read.
    private var next = 0

    /// Bytes read since memory was last released.
    private var unreleased = 0

    /// Blocks of a plain file, on every system.
    static let plainBlockSize = 4096

    init(_ transaction: Transaction) throws(RealmError) {
        guard transaction.stage == .reading else {
            throw RealmError(.wrongTransactionState, "A backup step is made of a committed version")
        }
        if let damage = transaction.damage { throw damage }
        source = transaction.database.file
        var encryption = source.encryption
        if let cipher = source.pages?.form.pageCipher { encryption?.cipher = cipher }
        self.encryption = encryption
        format = transaction.database.format
        topRef = transaction.topRef
        version = transaction.version
        size = topRef.isNull ? 0 : transaction.logicalSize
        blockSize = source.pages?.pageSize ?? Self.plainBlockSize
        view = try DatabaseFile(viewing: source)
        try view.ensureMapped(max(size, Format.headerSize))
        store = NodeStore(space: view.space, fileLimit: size, pages: view.pages)
        store.move(toFileLimit: size, version: 0)
        store.use(transaction.interruption)
        block = try HiddenMemory(blockSize)
        guard !topRef.isNull else {
            free = []
            return
        }
        let lists = try view.topFields(store, topRef, physicalSize: size).freeLists
        free =
            [FileChunk(offset: 0, size: Format.headerSize)]
            + (try FreeSpace.chunks(store, (lists.positions, lists.lengths), logicalSize: size))
    }

    var count: Int { (size + blockSize - 1) / blockSize }

    /// The bytes of a block, valid until the next one is read; nil if nothing of it is in use.
    func read(_ index: Int) throws(RealmError) -> Bytes? {
        try store.test(index * blockSize, of: size)
        let start = index * blockSize, end = min(start + blockSize, size)
        while next < free.count, free[next].end <= start { next += 1 }
        if next < free.count, free[next].offset <= start, free[next].end >= end { return nil }
        if unreleased >= 16 << 20 {
            store.forgetPages()
            unreleased = 0
        }
        unreleased += blockSize
        try store.makeReadable(start, end - start)
        CMemory.copy(block.base, store.base + start, end - start)
        (block.base + (end - start)).initializeMemory(as: UInt8.self, repeating: 0, count: blockSize - (end - start))
        var i = next
        while i < free.count, free[i].offset < end {
            let from = max(free[i].offset, start), to = min(free[i].end, end)
            (block.base + (from - start)).initializeMemory(as: UInt8.self, repeating: 0, count: to - from)
            i += 1
        }
        return Bytes(start: block.base, count: blockSize)
    }

    /// Gives a file that has been made the permissions of the file of the image.
    func copyPermissions(to path: String) throws(RealmError) {
        try FileDescriptor(path: path, access: .readOnly).copyPermissions(of: source.file)
    }

    /// Throws if pages of the file were lost: then blocks may have zeros in place of data.
    func verifyWhole() throws(RealmError) {
        try view.verifyWhole()
        try source.verifyWhole()
    }

    // MARK: Writing

    /// What a new file needs beside the blocks of an image.
    struct Frame {
        let topRef: Ref
        let size: Int
        let blockSize: Int
        let format: UInt8
    }

    /// Writes a new file. It gets its name when it is complete and on the disk; an error leaves no file behind.
    /// - Parameters:
    ///   - model: a file whose permissions the new file gets.
    ///   - block: the bytes of a block, or nil for free space; called in ascending order.
    static func restore(
        _ frame: Frame, to given: String, _ encryption: Encryption?, like model: DatabaseFile,
        _ block: (Int) throws(RealmError) -> Bytes?
    ) throws(RealmError) {
        let path = try FileSystem.canonical(given)
        guard !FileSystem.exists(path) else { throw FileSystem.alreadyExists(path) }
        try Transaction.makingCopy(path) { (temporary) throws(RealmError) in
            let target = try DatabaseFile(
                path: temporary, access: .createNew, needsSlab: false, encryption: encryption, room: frame.size,
                permissions: try model.file.permissions())
            // While this process lives, no other process takes the file for an abandoned one.
            _ = target.file.tryLock(.exclusive)
            target.file.copyPermissions(of: model.file)
            try target.initialize(durable: false)
            guard target.pages?.pageSize ?? plainBlockSize == frame.blockSize else {
                throw RealmError(
                    .illegalCombination, "The file needs a key or passphrase exactly if its backup steps have one",
                    path: path)
            }
            guard frame.size > 0 else {
                try target.file.synchronizeData()
                return target.file
            }
            target.pages?.beginWrite(others: false)
            var unsettled = 0
            for index in 0..<(frame.size + frame.blockSize - 1) / frame.blockSize {
                guard let bytes = try block(index) else { continue }
                // The header of a plain file is written last.
                let skipped = index == 0 && target.pages == nil ? Format.headerSize : 0
                let count = min(frame.blockSize, frame.size - index * frame.blockSize) - skipped
                try target.write(bytes.start + skipped, count: count, at: index * frame.blockSize + skipped)
                unsettled += frame.blockSize
                guard unsettled >= 8 << 20 else { continue }
                try target.pages?.settle()
                unsettled = 0
            }
            try target.resize(to: frame.size, filled: false)
            try target.select(topRef: frame.topRef, logicalSize: frame.size, durable: true, format: frame.format)
            return target.file
        }
    }
}
