/// CRealm's encrypted form: blocks of 4096 bytes, each sealed separately (`PageSeal`), and a tree of stamps over them.
///
///     block 0, 1   the key block, twice
///           2, 3   root records: even and odd sequence numbers
///           4 …    groups of 507 tables of 507 pages; each group and each table occupies two blocks, written in turn
///
/// The stamp of a page is in its table, that of the table in its group, that of the group in the root (in files of up
/// to 53 tables, the stamps of tables are in the root). A block is refused when it does not have the stamp that its
/// parent names.
///
/// A commit writes its pages. Then it writes the tables and groups that name them, each into the unused block of its
/// pair, and an announcement: the new root record and the list of written pages. It flushes, and then overwrites the
/// older root record. A record is 512 bytes, so that no torn write leaves half of one; if it never reaches the disk,
/// the announcement replaces it. Layout: docs/security.md.
final class SealedForm: PageForm {
    @inline(__always) static var blockSize: Int { 4096 }

    /// Bytes of data in a page: 4056.
    @inline(__always) static var payload: Int { blockSize - PageSeal.overhead }

    /// Number of stamps in a table or group.
    @inline(__always) static var fanOut: Int { payload / 8 }
    private static let tableSpan = 2 + fanOut
    private static let groupSpan = 2 + fanOut * tableSpan
    static let firstGroup = 4
    static let rootSize = 512
    static let rootPayload = rootSize - PageSeal.overhead
    static let rootStamps = (rootPayload - 48) / 8

    /// Both key blocks and both root records: every commit changes one of these.
    static let mark = [
        0..<2 * blockSize, 2 * blockSize..<2 * blockSize + rootSize, 3 * blockSize..<3 * blockSize + rootSize,
    ]

    /// The announcement is behind the root record in the same block.
    static let announcementSize = 2048
    static let announcementPayload = announcementSize - PageSeal.overhead

    /// Number of commits that can be announced at a time: one in each root block.
    static let chain: UInt64 = 2
    static let announcedRuns = (announcementPayload - rootPayload - 8) / 8

    /// Size of a file to which nothing was committed yet: its first page is at its end.
    static var sizeWhenNew: Int { (firstGroup + 5) * blockSize }
    static let pageLimit = rootStamps * fanOut * fanOut

    /// No file reaches this sequence number. A record with a greater one was forged: the commits behind it would count
    /// as older ones after an overflow.
    static let sequenceLimit: UInt64 = 1 << 62

    /// The stamps of 507 pages or tables.
    final class Stamps {
        let values: UnsafeMutablePointer<UInt64>

        /// `slot`: the block of the pair that holds the stamps. `stamp`: the stamp of that block.
        var slot = 1
        var stamp: UInt64 = 0
        var isChanged = false

        init() {
            values = .allocate(capacity: fanOut)
            values.initialize(repeating: 0, count: fanOut)
        }

        deinit { values.deallocate() }
    }

    struct Root {
        var sequence: UInt64 = 0
        var header = FileHeader()
        var pageCount = 0

        /// The stamps of groups, or of tables while the file is small.
        var stamps = [UInt64](repeating: 0, count: rootStamps)

        /// Whether the stamps are those of tables.
        var isSmall: Bool { pageCount <= rootStamps * fanOut }
    }

    let pageSize = SealedForm.payload
    let file: FileDescriptor
    var keyBlock: KeyBlock
    var pageCipher: PageCipher { keyBlock.cipher }
    let dataKey: SecretKey
    private let keys: SecretKey
    let seal: PageSeal

    /// The root record in force; nil when it must be read again.
    var known: Root?
    private var next: Root?

    /// An announced root record.
    struct Announced {
        var root: Root

        /// The stamp of the announcement, to notice when another one has overwritten it.
        var stamp: UInt64
        var runs: [Range<Int>]
    }

    /// An announced root record that is used although it has not been written to its block.
    var accepted: Announced?

    /// Whether the sequence numbers of the root records are farther apart than any crash can leave them.
    var isDistant = false

    /// The top ref of the newest published snapshot; 0: unknown.
    var expected: UInt64 = 0

    /// The bytes that the commit in progress overwrites in the block of its root record, and their position.
    var replaced: (bytes: [UInt8], at: Int)?

    /// Pages that the commit in progress wrote; nil when there are too many to announce.
    private var writtenRuns: [Range<Int>]? = []
    private var grownTo = 0
    var tables: [Int: Stamps] = [:]
    var groups: [Int: Stamps] = [:]
    var changedTables: [Int] = []

    /// Stamps of tables that the coming commit has already written and that are no longer in memory.
    var released: [Int: UInt64] = [:]
    private var changedGroups: [Int] = []
    private let memory: HiddenMemory
    var buffer: UnsafeMutableRawPointer { memory.base }
    private static let batch = 64

    private init(_ file: FileDescriptor, _ keyBlock: KeyBlock, _ dataKey: SecretKey, _ keys: SecretKey)
        throws(RealmError)
    {
        self.file = file
        self.keyBlock = keyBlock
        self.dataKey = dataKey
        self.keys = keys
        seal = try PageSeal(keyBlock.cipher, keys: keys, fileIdentity: keyBlock.fileIdentity)
        memory = try HiddenMemory(Self.batch * Self.blockSize)
    }

    func finishCreation() throws(RealmError) {
        try file.synchronizeData()
        try writeKeyBlock(keyBlock, 0)
    }

    static func recognises(_ head: UnsafeRawBufferPointer) -> Bool { KeyBlock.isPresent(in: head) }

    static func recognises(_ file: FileDescriptor) throws(RealmError) -> Bool {
        var head: UInt64 = 0
        return try withUnsafeMutableBytes(of: &head) { (bytes) throws(RealmError) in
            guard let start = bytes.baseAddress else { return false }
            _ = try file.read(into: start, count: bytes.count, at: 0)
            return recognises(UnsafeRawBufferPointer(bytes))
        }
    }

    /// Makes the form in an empty file, without data pages. `finishCreation` must follow after the first commit.
    static func create(_ file: FileDescriptor, _ encryption: Encryption) throws(RealmError) -> SealedForm {
        let (block, dataKey) = try KeyBlock.create(encryption)
        return try create(file, block, dataKey, try PageSeal.keys(dataKey))
    }

    private static func create(_ file: FileDescriptor, _ block: KeyBlock, _ dataKey: SecretKey, _ keys: SecretKey)
        throws(RealmError) -> SealedForm
    {
        let form = try SealedForm(file, block, dataKey, keys)
        // The first copy is written last (`finishCreation`): without it the file is not valid yet.
        try file.resize(to: blockSize, filled: true)
        try form.writeKeyBlock(block, 1)
        for sequence: UInt64 in 0..<2 {
            var root = Root()
            root.sequence = sequence
            try form.writeRoot(root)
            form.known = root
        }
        return form
    }

    func reopened(in file: FileDescriptor) throws(RealmError) -> (any PageForm)? {
        guard try isKeyBlock(in: file) else { return nil }
        return try SealedForm(file, keyBlock, dataKey, keys).checked()
    }

    static func open(_ file: FileDescriptor, _ encryption: Encryption) throws(RealmError) -> SealedForm {
        let (first, second) = try keyBlocks(of: file)
        var block = first
        if first != second, try first.unwrap(encryption) == nil { block = second }
        guard let dataKey = try block.unwrap(encryption) else {
            let asked = block.wantsPassphrase ? "a passphrase" : "a key of 64 bytes"
            let given = if case .passphrase = encryption.secret { true } else { false }
            throw RealmError(
                .invalidDatabase,
                given == block.wantsPassphrase
                    ? "Realm file decryption failed (wrong \(given ? "passphrase" : "encryption key"))"
                    : "Realm file decryption failed (the file was encrypted with \(asked), but \(given ? "a passphrase" : "a key") was given)"
            )
        }
        return try SealedForm(file, block, dataKey, try PageSeal.keys(dataKey)).checked()
    }

    /// As `open`, for a file that may be damaged: uses any readable copy of the key block, and checks nothing else.
    static func openDamaged(_ file: FileDescriptor, _ encryption: Encryption) throws(RealmError) -> SealedForm {
        var found: RealmError?
        let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: blockSize, alignment: 16)
        defer { raw.deallocate() }
        for copy in 0..<2 {
            do throws(RealmError) {
                guard let start = raw.baseAddress,
                    try file.read(into: start, count: blockSize, at: copy * blockSize) == blockSize
                else { continue }
                let block = try KeyBlock(checking: UnsafeRawBufferPointer(raw))
                guard let dataKey = try block.unwrap(encryption) else {
                    throw RealmError(
                        .invalidDatabase, "Realm file decryption failed (wrong key or passphrase)", path: file.path)
                }
                return try SealedForm(file, block, dataKey, try PageSeal.keys(dataKey))
            } catch { found = error }
        }
        throw found ?? RealmError(.invalidDatabase, "the encryption header is missing or damaged", path: file.path)
    }

    /// Both copies of the key block. A change of key writes the first copy last; either copy is valid until they are
    /// equal.
    static func keyBlocks(of file: FileDescriptor) throws(RealmError) -> (first: KeyBlock, second: KeyBlock) {
        let raw = UnsafeMutableRawBufferPointer.allocate(byteCount: 2 * blockSize, alignment: 16)
        defer { raw.deallocate() }
        guard let start = raw.baseAddress, try file.read(into: start, count: raw.count, at: 0) == raw.count else {
            throw RealmError(.invalidDatabase, "the encrypted file is truncated (\(try file.size()) bytes)")
        }
        let first = try KeyBlock(checking: UnsafeRawBufferPointer(rebasing: raw[..<blockSize]))
        let second = try KeyBlock(checking: UnsafeRawBufferPointer(rebasing: raw[blockSize...]))
        guard first == second || second.generation == first.generation &+ 1 else {
            throw RealmError(.invalidDatabase, "the two copies of the encryption header contradict each other")
        }
        return (first, second)
    }

    func isInFile() throws(RealmError) -> Bool {
        guard try Self.recognises(file) else { return false }
        return try RealmError.unlessDamaged { () throws(RealmError) in try isKeyBlock(in: file) } ?? false
    }

    /// Whether `file` contains the key block with which this form opened its file.
    private func isKeyBlock(in file: FileDescriptor) throws(RealmError) -> Bool {
        let (first, second) = try Self.keyBlocks(of: file)
        return keyBlock == first || keyBlock == second
    }

    /// Returns this form when the root record is valid and the file is as long as the record says.
    private func checked() throws(RealmError) -> SealedForm {
        guard try file.size() >= end(of: try root().pageCount) * Self.blockSize else {
            throw RealmError(.invalidDatabase, "the encrypted file is truncated (\(try file.size()) bytes)")
        }
        return self
    }

    // MARK: Places

    func groupBlock(_ group: Int) -> Int { Self.firstGroup + group * Self.groupSpan }

    func tableBlock(_ table: Int) -> Int { groupBlock(table / Self.fanOut) + 2 + table % Self.fanOut * Self.tableSpan }

    func pageBlock(_ page: Int) -> Int { tableBlock(page / Self.fanOut) + 2 + page % Self.fanOut }

    /// Number of blocks of a file with `pages` pages.
    func end(of pages: Int) -> Int { pages == 0 ? Self.firstGroup : pageBlock(pages - 1) + 1 }

    func damaged(_ what: String) -> RealmError {
        RealmError(.decryptionFailed, "Encrypted Realm file is damaged: \(what)", path: file.path)
    }

    // MARK: Pages

    var pageCount: Int { get throws(RealmError) { max(grownTo, try root().pageCount) } }

    func isHeld(_ size: Int, inFileOf present: Int) throws(RealmError) -> Bool {
        let pages = max(try pageCount, (size + pageSize - 1) / pageSize)
        return present >= end(of: pages) * Self.blockSize
    }

    /// The ciphertext is behind nonce and tag.
    func position(ofPage page: Int) -> Int { pageBlock(page) * Self.blockSize + PageSeal.overhead }

    func stamp(of page: Int) throws(RealmError) -> UInt64 { try table(ofPage: page).values[page % Self.fanOut] }

    func read(_ page: Int, into to: UnsafeMutableRawPointer) throws(RealmError) -> UInt64 {
        let wanted = try stamp(of: page)
        guard wanted != 0 else { throw damaged("page \(page) was never written") }
        if let problem = try read(page, wanted, into: to) { throw problem }
        return wanted
    }

    /// Decrypts the version `wanted` of a page; returns an error when the block contains another version.
    func read(_ page: Int, _ wanted: UInt64, into to: UnsafeMutableRawPointer) throws(RealmError) -> RealmError? {
        guard try file.read(into: buffer, count: Self.blockSize, at: pageBlock(page) * Self.blockSize) == Self.blockSize
        else {
            return damaged("it is truncated at page \(page)")
        }
        guard PageSeal.stamp(buffer) == wanted else {
            return damaged("page \(page) is not the version that belongs here")
        }
        return seal.open(.page, page, buffer, count: Self.payload, into: to)
            ? nil : damaged("page \(page) does not authenticate")
    }

    func write(_ first: Int, _ count: Int, from: UnsafeRawPointer, stamps: UnsafeMutablePointer<UInt64>)
        throws(RealmError)
    {
        replaced = nil
        var done = 0
        while done < count {
            let page = first + done
            let table = try table(ofPage: page)
            // Pages of one table are adjacent on disk.
            let run = min(count - done, Self.fanOut - page % Self.fanOut, Self.batch)
            for i in 0..<run {
                stamps[done + i] = seal.seal(
                    .page, page + i, from: from + (done + i) * Self.payload, count: Self.payload,
                    into: buffer + i * Self.blockSize)
            }
            try file.write(buffer, count: run * Self.blockSize, at: pageBlock(page) * Self.blockSize)
            noteWritten(page..<page + run)
            for i in 0..<run { table.values[page % Self.fanOut + i] = stamps[done + i] }
            if !table.isChanged {
                table.isChanged = true
                changedTables.append(page / Self.fanOut)
            }
            done += run
        }
    }

    private func noteWritten(_ pages: Range<Int>) {
        guard var runs = writtenRuns else { return }
        if let last = runs.last, last.upperBound == pages.lowerBound {
            runs[runs.count - 1] = last.lowerBound..<pages.upperBound
        } else {
            runs.append(pages)
        }
        writtenRuns = runs.count <= Self.announcedRuns ? runs : nil
    }

    func resize(to pages: Int, filled: Bool) throws(RealmError) {
        guard pages <= Self.pageLimit else {
            throw RealmError(
                .maximumFileSizeExceeded, "An encrypted file holds at most \(Self.rootStamps) GB", path: file.path)
        }
        _ = try root()
        let size = end(of: pages) * Self.blockSize
        // The file may be longer: pages that were freed at its end stay in the file until no version needs them.
        if try file.size() < size { try file.resize(to: size, filled: filled) }
        grownTo = pages
    }

    var physicalPages: Int {
        get throws(RealmError) {
            let blocks = try file.size() / Self.blockSize
            var low = 0, high = min(blocks, Self.pageLimit)
            while low < high {
                let middle = (low + high + 1) / 2
                if end(of: middle) <= blocks { low = middle } else { high = middle - 1 }
            }
            return low
        }
    }

    func cut(to pages: Int) throws(RealmError) {
        let size = end(of: max(pages, try pageCount)) * Self.blockSize
        if try file.size() > size { try file.truncate(to: size) }
    }

    // MARK: Commit

    func readHeader(again: Bool) throws(RealmError) -> FileHeader {
        if again && changedTables.isEmpty { known = nil }
        return try root().header
    }

    func prepare(_ header: FileHeader, logicalSize: Int, announcing: Bool) throws(RealmError) -> Bool {
        let coming = try comingRoot(header, pages: (max(logicalSize, 1) - 1) / pageSize + 1)
        let runs = announcing ? writtenRuns : nil
        try announce(coming, runs)
        next = coming
        return runs != nil
    }

    /// Writes the changed tables and groups; returns the root record that names them.
    private func comingRoot(_ header: FileHeader, pages: Int) throws(RealmError) -> Root {
        var root = try root()
        root.sequence &+= 1
        root.header = header
        let wasSmall = root.isSmall
        if pages < root.pageCount {
            try dropStamps(behind: pages, &root)
        } else {
            root.pageCount = pages
        }
        if root.isSmall {
            for (number, stamp) in released where number < Self.rootStamps { root.stamps[number] = stamp }
            for number in changedTables {
                if let table = tables[number] {
                    root.stamps[number] = try store(.table, number, table, at: tableBlock(number))
                }
            }
            return root
        }
        if wasSmall {
            // The file has outgrown the stamps in the root: they are moved into the first group.
            let first = Stamps()
            for i in 0..<Self.rootStamps { first.values[i] = root.stamps[i] }
            first.isChanged = true
            groups[0] = first
            changedGroups.append(0)
            root.stamps = [UInt64](repeating: 0, count: Self.rootStamps)
        }
        for (number, stamp) in released { try name(number, stamp, root) }
        for number in changedTables {
            guard let table = tables[number] else { throw damaged("a table of stamps does not authenticate") }
            try name(number, try store(.table, number, table, at: tableBlock(number)), root)
        }
        for number in changedGroups {
            if let group = groups[number] {
                root.stamps[number] = try store(.group, number, group, at: groupBlock(number))
            }
        }
        return root
    }

    /// Makes the file end behind `pages` pages: the pages behind them count as never written.
    private func dropStamps(behind pages: Int, _ root: inout Root) throws(RealmError) {
        let before = root
        let firstDropped = (pages + Self.fanOut - 1) / Self.fanOut
        let end = (before.pageCount + Self.fanOut - 1) / Self.fanOut
        if pages % Self.fanOut != 0 {
            let number = pages / Self.fanOut
            guard let table = try table(number, before) else {
                throw damaged("a table of stamps does not authenticate")
            }
            for i in pages % Self.fanOut..<Self.fanOut { table.values[i] = 0 }
            if !table.isChanged {
                table.isChanged = true
                changedTables.append(number)
            }
        }
        changedTables.removeAll { $0 >= firstDropped }
        for number in firstDropped..<max(end, firstDropped) {
            tables[number] = nil
            released[number] = nil
        }
        root.pageCount = pages
        if before.isSmall {
            for number in firstDropped..<max(min(end, Self.rootStamps), firstDropped) { root.stamps[number] = 0 }
        } else if root.isSmall {
            // The stamps of tables fit into the root again.
            guard let first = try group(0, before) else { throw damaged("a group of tables does not authenticate") }
            for i in 0..<Self.rootStamps { root.stamps[i] = i < firstDropped ? first.values[i] : 0 }
            groups.removeAll()
            changedGroups.removeAll()
        } else {
            for number in firstDropped..<end {
                let groupNumber = number / Self.fanOut
                if groupNumber * Self.fanOut >= firstDropped {
                    root.stamps[groupNumber] = 0
                    groups[groupNumber] = nil
                    changedGroups.removeAll { $0 == groupNumber }
                } else {
                    try name(number, 0, before)
                }
            }
        }
    }

    /// Stores a table's stamp in its group.
    private func name(_ number: Int, _ stamp: UInt64, _ root: Root) throws(RealmError) {
        guard let group = try group(number / Self.fanOut, root) else {
            throw damaged("a group of tables does not authenticate")
        }
        group.values[number % Self.fanOut] = stamp
        if !group.isChanged {
            group.isChanged = true
            changedGroups.append(number / Self.fanOut)
        }
    }

    /// Writes stamps into the unused block of their pair.
    private func store(_ kind: PageSeal.Kind, _ number: Int, _ stamps: Stamps, at block: Int) throws(RealmError)
        -> UInt64
    {
        let slot = 1 - stamps.slot
        let stamp = seal.seal(kind, number, from: stamps.values, count: Self.payload, into: buffer)
        try file.write(buffer, count: Self.blockSize, at: (block + slot) * Self.blockSize)
        stamps.slot = slot
        stamps.stamp = stamp
        return stamp
    }

    func commit() throws(RealmError) {
        guard let next else { return }
        try writeRoot(next)
        known = next
        grownTo = 0
        expected = next.header.liveTopRef
        self.next = nil
        accepted = nil
        writtenRuns = []
        for number in changedTables { tables[number]?.isChanged = false }
        for number in changedGroups { groups[number]?.isChanged = false }
        changedTables.removeAll(keepingCapacity: true)
        released = [:]
        changedGroups.removeAll(keepingCapacity: true)
    }

    func forget() {
        known = nil
        next = nil
        writtenRuns = []
        grownTo = 0
        for number in changedTables { tables[number] = nil }
        for number in changedGroups { groups[number] = nil }
        changedTables.removeAll()
        released = [:]
        changedGroups.removeAll()
    }

    // MARK: Copies

    func reader(of file: FileDescriptor) throws(RealmError) -> any PageForm {
        let form = try SealedForm(file, keyBlock, dataKey, keys)
        form.accepted = accepted
        form.expected = expected
        return form
    }

    /// The copy opens with the same secret. Deriving a key from a passphrase again would need the large amount of
    /// memory that the passphrase's cost demands.
    func sibling(in file: FileDescriptor) throws(RealmError) -> any PageForm {
        try readKeyBlocks()
        return try Self.create(file, keyBlock, dataKey, keys)
    }

    func release() throws(RealmError) {
        for number in changedTables {
            if let table = tables[number] {
                released[number] = try store(.table, number, table, at: tableBlock(number))
            }
        }
        changedTables.removeAll(keepingCapacity: true)
        tables.removeAll()
    }
}
