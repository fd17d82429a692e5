/// Realm's encrypted form: each metadata page of 64 entries is followed by up to 64 data pages. Format: storage §7.
///
/// Like realm-core it writes an entry before its page: if the page is never written, the older half of the entry still
/// opens the older ciphertext. Unlike realm-core it writes no page that a reachable snapshot needs. The only exception
/// is page 0, which holds the database header. Before page 0 is overwritten, its new content is written to one of the
/// last two pages of the file (ordinary data pages, beyond the logical end), as its *copy*; a torn page 0 is completed
/// from there. A commit uses the last page, and the withdrawal of a commit uses the page before it: while page 0 on the
/// disk may be a mixture of what two commits wrote, the copies of both exist.
final class RealmForm: PageForm {
    let pageSize = 4096
    private static let slots = 64

    /// Number of pages behind the data for copies of page 0.
    private static let copies = 2
    private let file: FileDescriptor
    private let encryption: Encryption
    private let cipher: RealmPageCipher
    var pageCipher: PageCipher { .realm }

    /// Metadata pages by block, and the generation they were read in.
    private var metadata: [Int: (bytes: UnsafeMutableRawPointer, generation: Int)] = [:]
    private var generation = 0

    /// Pages that stayed unreadable after waiting, with their stamps at that time.
    private var damaged: [Int: UInt64] = [:]
    private static let damagedLimit = 1024
    private let memory: HiddenMemory
    private var buffer: UnsafeMutableRawPointer { memory.base }
    private static let batch = 64

    /// Ciphertext of the new page 0, and behind it its plaintext.
    private let firstMemory: HiddenMemory
    private let olderEntries: HiddenMemory
    private var first: UnsafeMutableRawPointer { firstMemory.base }
    private var firstCounter: UInt32?

    /// Whether the commit in progress has begun to write page 0.
    private var isFirstPut = false

    /// Whether the copy of the earlier content of page 0 is on the disk.
    private var isOldFirstSaved = false

    /// Whether page 0 was last read from a copy.
    private var isFirstTorn = false

    /// The number of pages; nil when it must be computed from the size of the file.
    private var knownPages: Int?

    var pageCount: Int {
        get throws(RealmError) {
            if let knownPages { return knownPages }
            let pages = Self.pages(inFileOf: try file.size())
            knownPages = pages
            return pages
        }
    }

    /// Entry: counter and MAC of the newest ciphertext, then of the one before.
    private struct Entry {
        let at: UnsafeMutableRawPointer
        var counter: UInt32 { at.load(as: UInt32.self).littleEndian }
        var olderCounter: UInt32 { at.load(fromByteOffset: 32, as: UInt32.self).littleEndian }
        var mac: UnsafeMutableRawPointer { at + 4 }
        var olderMac: UnsafeMutableRawPointer { at + 36 }
        var stamp: UInt64 { counter == 0 ? 0 : max(1, mac.loadUnaligned(as: UInt64.self)) }
    }

    init(_ file: FileDescriptor, _ encryption: Encryption) throws(RealmError) {
        guard case .key(let key) = encryption.secret else {
            throw RealmError(
                .invalidEncryptionKey, "A file in Realm's encrypted form has a key of 64 bytes, not a passphrase",
                path: file.path)
        }
        self.file = file
        self.encryption = encryption
        cipher = try RealmPageCipher(key)
        memory = try HiddenMemory(Self.batch * 4096)
        firstMemory = try HiddenMemory(2 * 4096)
        olderEntries = try HiddenMemory(Self.batch * 64)
        _ = try pageCount
    }

    /// Makes an empty database in an empty file. The entry is written last: without it the file is not valid yet.
    static func create(_ file: FileDescriptor, _ encryption: Encryption, durable: Bool) throws(RealmError) -> RealmForm
    {
        try file.resize(to: sizeWhenNew, filled: true)
        let form = try RealmForm(file, encryption)
        let page = form.first + 4096
        CMemory.zero(page, 4096)
        FileHeader().encode(into: page)
        let entry = try form.entry(0)
        try form.seal(page, 0, entry, into: form.first)
        try file.write(form.first, count: 4096, at: form.position(ofPage: 0))
        if durable { try file.synchronizeData() }
        try file.write(entry.at, count: 64, at: 0)
        if durable { try file.synchronizeData() }
        return form
    }

    func isInFile() throws(RealmError) -> Bool { try !SealedForm.recognises(file) }

    /// Size of a file to which nothing was committed yet.
    static var sizeWhenNew: Int { fileSize(of: 1) }

    deinit {
        for page in metadata.values { page.bytes.deallocate() }
    }

    /// Without the metadata page that `resize` makes in advance when the last block is full.
    func isHeld(_ size: Int, inFileOf present: Int) -> Bool {
        knownPages = Self.pages(inFileOf: present)
        return size <= Self.pages(inFileOf: present) * 4096
    }

    // MARK: Places. Format: storage §7.2, §7.3.

    private static func pages(inFileOf size: Int) -> Int {
        let whole = size / 4096
        return max(0, whole - (whole + slots) / (slots + 1))
    }

    private static func fileSize(of pages: Int) -> Int { (pages + pages / slots + 1) * 4096 }

    func position(ofPage page: Int) -> Int { (page + page / Self.slots + 1) * 4096 }

    private func entry(_ page: Int) throws(RealmError) -> Entry {
        let block = page / Self.slots
        let known = metadata[block]
        let bytes = known?.bytes ?? .allocate(byteCount: 4096, alignment: 64)
        if known == nil || known?.generation != generation {
            CMemory.zero(bytes, 4096)
            metadata[block] = (bytes, -1)
            _ = try file.read(into: bytes, count: 4096, at: block * (Self.slots + 1) * 4096)
            metadata[block] = (bytes, generation)
        }
        return Entry(at: bytes + page % Self.slots * 64)
    }

    private func failed(_ what: String) -> RealmError {
        RealmError(.decryptionFailed, "Decryption failed: \(what)", path: file.path)
    }

    // MARK: Pages

    func stamp(of page: Int) throws(RealmError) -> UInt64 { try entry(page).stamp }

    func read(_ page: Int, into to: UnsafeMutableRawPointer) throws(RealmError) -> UInt64 {
        // A writer in another process may be between the entry and the page, which is temporary. Damage is permanent:
        // the code waits for it only once.
        let isSuspect = damaged[page] != nil
        if isSuspect { metadata[page / Self.slots]?.generation = -1 }
        let stamp = try entry(page).stamp
        let attempts = damaged[page] == stamp ? 1 : 6
        for attempt in 0..<attempts {
            if attempt > 0 {
                Platform.sleep(microseconds: 1000)
                metadata[page / Self.slots]?.generation = -1
            }
            let entry = try entry(page)
            guard try file.read(into: buffer, count: 4096, at: position(ofPage: page)) == 4096 else {
                throw failed("page \(page) lies beyond the end of the file: it is truncated")
            }
            guard entry.counter != 0 else { continue }
            if try open(page, entry, into: to) {
                if page == 0 { isFirstTorn = false }
                if isSuspect { damaged[page] = nil }
                return entry.stamp
            }
            if page == 0, attempt > 0 || isSuspect, try recoverFirst(into: to) != nil {
                isFirstTorn = true
                return try self.entry(0).stamp
            }
        }
        if damaged.count >= Self.damagedLimit { damaged.removeAll() }
        damaged[page] = try entry(page).stamp
        if try entry(page).counter == 0 { throw failed("page \(page) has never been written to") }
        throw failed(
            "page \(page) in file of size \(try file.size()) failed the HMAC check. Either the encryption key is incorrect or data is corrupted"
        )
    }

    /// Opens the ciphertext in the buffer with either half of its entry.
    private func open(_ page: Int, _ entry: Entry, into to: UnsafeMutableRawPointer) throws(RealmError) -> Bool {
        var mac: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &mac) { cipher.mac(buffer, into: $0.start) }
        func matches(_ other: UnsafeRawPointer) -> Bool {
            withUnsafeBytes(of: &mac) { Crypto.isEqual($0.start, other, RealmPageCipher.macSize) }
        }
        if matches(entry.mac) {
            try cipher.decrypt(buffer, into: to, counter: entry.counter, position: page * 4096)
            return true
        }
        if entry.olderCounter != 0, matches(entry.olderMac) {
            // The writer died between entry and page: the older half is valid, and the next write continues from there.
            try cipher.decrypt(buffer, into: to, counter: entry.olderCounter, position: page * 4096)
            CMemory.copy(entry.at, entry.at + 32, 32)
            return true
        }
        if CMemory.isZero(buffer, 4096), entry.olderCounter != 0 {
            CMemory.zero(to, 4096)
            return true
        }
        return false
    }

    func write(_ first: Int, _ count: Int, from: UnsafeRawPointer, stamps: UnsafeMutablePointer<UInt64>)
        throws(RealmError)
    {
        var done = 0
        while done < count {
            let page = first + done
            let run = min(count - done, Self.slots - page % Self.slots, Self.batch)
            let entries = try entry(page)
            for i in 0..<run {
                let entry = Entry(at: entries.at + i * 64)
                try seal(from + (done + i) * 4096, page + i, entry, into: buffer + i * 4096)
                stamps[done + i] = entry.stamp
            }
            try writeEntries(entries, run, at: page / Self.slots * (Self.slots + 1) * 4096 + page % Self.slots * 64)
            try file.write(buffer, count: run * 4096, at: position(ofPage: page))
            done += run
        }
    }

    /// Encrypts a page under the next counter and stores the counter in the entry. Format: storage §7.5.
    private func seal(_ from: UnsafeRawPointer, _ page: Int, _ entry: Entry, into to: UnsafeMutableRawPointer)
        throws(RealmError)
    {
        CMemory.copy(entry.at + 32, entry.at, 32)
        repeat {
            let counter = Self.next(entry.counter)
            entry.at.storeBytes(of: counter.littleEndian, as: UInt32.self)
            try cipher.encrypt(from, into: to, counter: counter, position: page * 4096)
            cipher.mac(to, into: entry.mac)
        } while CMemory.compare(entry.mac, entry.olderMac, RealmPageCipher.macSize) == 0
    }

    func resize(to pages: Int, filled: Bool) throws(RealmError) {
        try file.resize(to: Self.fileSize(of: pages), filled: filled)
        knownPages = pages
    }

    var physicalPages: Int { get throws(RealmError) { max(0, Self.pages(inFileOf: try file.size()) - Self.copies) } }

    /// Page 0 is on the disk, so its copies, which were at the end, are not needed: the next commit writes a new one
    /// before it changes page 0.
    func cut(to pages: Int) throws(RealmError) {
        let kept = pages + Self.copies, block = kept / Self.slots
        guard try file.size() > Self.fileSize(of: kept) else { return }
        // From now on the pages behind the end count as never written.
        let place = block * (Self.slots + 1) * 4096 + kept % Self.slots * 64
        try file.writeZeros(from: place, to: place + (Self.slots - kept % Self.slots) * 64)
        try file.truncate(to: Self.fileSize(of: kept))
        for number in metadata.keys where number >= block { metadata[number]?.generation = -1 }
        knownPages = kept
    }

    // MARK: Copies of a file that others write

    /// Entry and ciphertext of page 0: every commit changes both.
    static let mark = [0..<64, 4096..<8192]

    /// Copies entry and page again from `source` wherever they do not belong together, a few times: the writer of
    /// `source` was between the two. A page that still does not match has no valid content, or is damaged.
    func completePages(from source: FileDescriptor) throws(RealmError) {
        let page = try HiddenMemory(4096)
        defer { withExtendedLifetime(page) {} }
        var torn = Array(0..<(try pageCount))
        for attempt in 0..<8 where !torn.isEmpty {
            if attempt > 0 {
                for number in torn {
                    _ = try file.copyBytes(
                        of: source, 64, at: number / Self.slots * (Self.slots + 1) * 4096 + number % Self.slots * 64)
                    _ = try file.copyBytes(of: source, 4096, at: position(ofPage: number))
                }
                forget()
            }
            var left: [Int] = []
            for number in torn {
                let entry = try entry(number)
                guard entry.counter != 0, try file.read(into: buffer, count: 4096, at: position(ofPage: number)) == 4096
                else { continue }
                if try !open(number, entry, into: page.base) { left.append(number) }
            }
            // Wrong key: the code that opens the copy reports it.
            if left.first == 0 { return }
            torn = left
        }
    }

    // MARK: Commit

    func readHeader(again: Bool) throws(RealmError) -> FileHeader {
        if again { metadata[0]?.generation = -1 }
        knownPages = Self.pages(inFileOf: try file.size())
        let page = first + 4096
        _ = try read(0, into: page)
        return FileHeader(bytes: page)
    }

    func prepare(_ header: FileHeader, logicalSize: Int, announcing: Bool) throws(RealmError) -> Bool {
        isFirstPut = false
        isOldFirstSaved = false
        try sealFirst(header)
        let needed = Format.roundUp(logicalSize, to: 4096) / 4096 + Self.copies
        if try pageCount < needed { try resize(to: needed, filled: true) }
        try writeCopy(to: pageCount - 1)
        return false
    }

    func commit() throws(RealmError) {
        guard let counter = firstCounter else { return }
        firstCounter = nil
        isFirstPut = true
        try putFirst(counter)
    }

    func withdraw(_ header: FileHeader) throws(RealmError) {
        // Until page 0 is written its copy is not used.
        guard isFirstPut else { return }
        try sealFirst(header)
        // A second attempt keeps both copies: page 0 on the disk may need either.
        if !isOldFirstSaved {
            try writeCopy(to: pageCount - 2)
            try file.synchronizeData()
            isOldFirstSaved = true
        }
        try commit()
    }

    func rewriteHeader() throws(RealmError) {
        // The copy that page 0 may need is about to be overwritten.
        try file.rewrite(0, count: 64)
        try file.rewrite(position(ofPage: 0), count: 4096)
        try file.synchronizeData()
    }

    /// Puts `header` into the content of page 0, and encrypts the page under the next counter into `first`.
    private func sealFirst(_ header: FileHeader) throws(RealmError) {
        let page = first + 4096
        if try entry(0).counter == 0 {
            CMemory.zero(page, 4096)
        } else {
            _ = try read(0, into: page)
            // Page 0 was read from a copy, which is about to be overwritten.
            if isFirstTorn { try repair() }
        }
        header.encode(into: page)
        // Seals a copy of the entry: the real entry is written after the flush.
        var copy = (UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0), UInt64(0))
        let entry = try entry(0)
        try withUnsafeMutableBytes(of: &copy) { (bytes) throws(RealmError) in
            let sealed = Entry(at: bytes.start)
            CMemory.copy(sealed.at, entry.at, 64)
            try seal(page, 0, sealed, into: first)
            firstCounter = sealed.counter
        }
    }

    private func writeCopy(to page: Int) throws(RealmError) {
        var stamp: UInt64 = 0
        try write(page, 1, from: first + 4096, stamps: &stamp)
    }

    /// Writes entry and ciphertext of page 0 from `first`.
    private func putFirst(_ counter: UInt32) throws(RealmError) {
        let entry = try entry(0)
        let isThere = entry.counter == counter
        if !isThere { CMemory.copy(entry.at + 32, entry.at, 32) }
        entry.at.storeBytes(of: counter.littleEndian, as: UInt32.self)
        cipher.mac(first, into: entry.mac)
        if isThere { try file.write(entry.at, count: 64, at: 0) } else { try writeEntries(entry, 1, at: 0) }
        try file.write(first, count: 4096, at: 4096)
    }

    /// Writes entries in two steps, so that an interrupted write still leaves the half that matches the page on disk.
    /// The first step changes only the older half, to a copy of the newer half on disk; the second step writes both
    /// halves.
    private func writeEntries(_ first: Entry, _ count: Int, at place: Int) throws(RealmError) {
        let size = count * 64
        for offset in stride(from: 0, to: size, by: 64) {
            CMemory.copy(olderEntries.base + offset, first.at + offset + 32, 32)
            CMemory.copy(olderEntries.base + offset + 32, first.at + offset + 32, 32)
        }
        if !CMemory.isZero(olderEntries.base, size) { try file.write(olderEntries.base, count: size, at: place) }
        try file.write(first.at, count: size, at: place)
    }

    func repair() throws(RealmError) {
        guard isFirstTorn, try file.read(into: buffer, count: 4096, at: position(ofPage: 0)) == 4096,
            let counter = try recoverFirst(into: first + 4096)
        else { return }
        try putFirst(counter)
        try file.synchronizeData()
        isFirstTorn = false
    }

    /// Restores page 0, whose torn ciphertext is in the buffer, from one of its copies: encrypts the copy under each
    /// counter that the writer may have used, until the ciphertext has the MAC in the entry or shares a sector with the
    /// torn page. Then `first` holds the ciphertext. The file stays unchanged: a writer may still be writing it.
    /// - Returns: the counter; nil when no copy fits.
    private func recoverFirst(into to: UnsafeMutableRawPointer) throws(RealmError) -> UInt32? {
        let torn = try HiddenMemory(4096)
        defer { withExtendedLifetime(torn) {} }
        CMemory.copy(torn.base, buffer, 4096)
        let firstEntry = try entry(0)
        // Another process may have written the copies, or changed the length of the file, since their entries were read.
        let pages = Self.pages(inFileOf: try file.size())
        knownPages = pages
        for page in stride(from: pages - 1, through: max(1, pages - Self.copies), by: -1) {
            metadata[page / Self.slots]?.generation = -1
            let copy = try entry(page)
            guard copy.counter != 0, try file.read(into: buffer, count: 4096, at: position(ofPage: page)) == 4096,
                try open(page, copy, into: first), FileHeader(bytes: first).hasMnemonic
            else { continue }
            // Commits that were interrupted by a power failure continue from either half, or from the counter after it.
            for counter in [
                firstEntry.counter, Self.next(firstEntry.counter), firstEntry.olderCounter,
                Self.next(firstEntry.olderCounter),
            ]
            where counter != 0 {
                try cipher.encrypt(first, into: buffer, counter: counter, position: 0)
                var mac: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
                let isAnnounced = withUnsafeMutableBytes(of: &mac) { computed in
                    cipher.mac(buffer, into: computed.start)
                    return Crypto.isEqual(computed.start, firstEntry.mac, RealmPageCipher.macSize)
                }
                guard
                    isAnnounced
                        || stride(from: 0, to: 4096, by: 512).contains(where: {
                            CMemory.compare(buffer + $0, torn.base + $0, 512) == 0
                        })
                else { continue }
                CMemory.copy(to, first, 4096)
                CMemory.copy(first, buffer, 4096)
                return counter
            }
        }
        return nil
    }

    private static func next(_ counter: UInt32) -> UInt32 { counter == .max ? 1 : counter + 1 }

    func forget() {
        generation += 1
        firstCounter = nil
        knownPages = nil
    }

    func reader(of file: FileDescriptor) throws(RealmError) -> any PageForm { try RealmForm(file, encryption) }

    func sibling(in file: FileDescriptor) throws(RealmError) -> any PageForm {
        try RealmForm.create(file, encryption, durable: false)
    }

    func release() {
        // Nothing is lost: entries are written together with their pages.
        for page in metadata.values { page.bytes.deallocate() }
        metadata = [:]
    }
}
