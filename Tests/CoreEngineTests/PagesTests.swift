// Decrypted pages over a form that keeps its pages in memory: what stays, what goes, and what may not be looked at.
import Foundation
import Testing

@testable import CoreEngine

/// Pages of 4056 bytes that count what is asked of them.
private final class FakeForm: PageForm {
    let pageCipher = PageCipher.xchacha20
    let pageSize = SealedForm.payload

    func position(ofPage page: Int) -> Int { page * pageSize }
    var pageCount: Int
    var disk: [Int: (bytes: [UInt8], stamp: UInt64)] = [:]
    var next: UInt64 = 1
    var reads = 0, forgotten = 0

    init(pages: Int) { pageCount = pages }

    func put(_ page: Int, _ byte: UInt8) {
        disk[page] = ([UInt8](repeating: byte, count: pageSize), next)
        next += 1
    }

    func stamp(of page: Int) throws(RealmError) -> UInt64 { disk[page]?.stamp ?? 0 }

    func read(_ page: Int, into to: UnsafeMutableRawPointer) throws(RealmError) -> UInt64 {
        guard let p = disk[page] else { throw RealmError(.decryptionFailed, "page \(page) was never written") }
        reads += 1
        p.bytes.withUnsafeBytes { CMemory.copy(to, $0.baseAddress!, pageSize) }
        return p.stamp
    }

    func write(_ first: Int, _ count: Int, from: UnsafeRawPointer, stamps: UnsafeMutablePointer<UInt64>)
        throws(RealmError)
    {
        for i in 0..<count {
            disk[first + i] = (Array(UnsafeRawBufferPointer(start: from + i * pageSize, count: pageSize)), next)
            stamps[i] = next
            next += 1
        }
    }

    func resize(to pages: Int, filled: Bool) throws(RealmError) { pageCount = pages }

    var physicalPages: Int { pageCount }

    func cut(to pages: Int) throws(RealmError) { pageCount = min(pageCount, pages) }

    func isHeld(_ size: Int, inFileOf present: Int) throws(RealmError) -> Bool { present >= size }

    func readHeader(again: Bool) throws(RealmError) -> FileHeader { FileHeader() }

    func prepare(_ header: FileHeader, logicalSize: Int, announcing: Bool) throws(RealmError) -> Bool { announcing }

    func commit() throws(RealmError) {}

    func withdraw(_ header: FileHeader) throws(RealmError) {}

    func forget() { forgotten += 1 }

    func isInFile() -> Bool { true }

    func reader(of file: FileDescriptor) throws(RealmError) -> any PageForm { self }

    func sibling(in file: FileDescriptor) throws(RealmError) -> any PageForm { self }

    func release() {}
}

private let size = SealedForm.payload

private func make(pages: Int, committed: Int, budget: Int = 16) throws -> (FakeForm, DecryptedPages, AddressSpace) {
    let form = FakeForm(pages: pages),
        space = try AddressSpace(fileCapacity: 1 << 30, slabCapacity: 0, minimum: 1 << 20)
    try space.commitMemory(offset: 0, length: committed)
    let all = try DecryptedPages(form, space, budget: budget * size)
    all.noteCommitted(committed)
    return (form, all, space)
}

/// A reader with its mark.
private final class Follower {
    let all: DecryptedPages, reader: DecryptedPages.Reader
    var mark = UInt64.max

    init(_ all: DecryptedPages) {
        self.all = all
        reader = all.addReader()
    }

    func move(to version: UInt64) { mark = all.move(reader, to: version) }

    func touch(_ at: Int, _ count: Int) throws {
        try all.load(all.times.page(at), through: all.times.page(at + count - 1), mark)
    }
}

private func bytes(_ space: AddressSpace, _ page: Int) -> [UInt8] {
    Array(UnsafeRawBufferPointer(start: space.base + page * size, count: size))
}

@Test func pagesOfACommitStayWhileReadersMove() throws {
    let (form, all, space) = try make(pages: 200, committed: 1 << 20)
    let writer = Follower(all), other = Follower(all)
    writer.move(to: 1)
    all.beginWrite(others: false)
    // The writer moves to the newest version after it has the lock: its mark is later than the commit's own.
    writer.move(to: 1)
    let content = (0..<40 * size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
    // Half a page more each time, so that the writer comes back to its last page.
    var at = 0
    while at < content.count {
        let n = min(size / 2, content.count - at)
        try content.withUnsafeBytes { try all.write($0.baseAddress! + at, count: n, at: 100 * size + at) }
        at += n
        other.move(to: 1)
    }
    // Elsewhere, and back into a page that has been encrypted already.
    try content.withUnsafeBytes { try all.write($0.baseAddress!, count: 100, at: 50 * size) }
    for _ in 0..<4 { other.move(to: 1) }
    try content.withUnsafeBytes { try all.write($0.baseAddress!, count: 100, at: 139 * size) }
    _ = try all.prepare(FileHeader(), logicalSize: 0, announcing: false)
    for p in 0..<40 {
        var expected = Array(content[p * size..<(p + 1) * size])
        if p == 39 { expected.replaceSubrange(0..<100, with: content[0..<100]) }
        #expect(form.disk[100 + p]?.bytes == expected, "page \(p)")
    }
    // Then they are pages like any other.
    for _ in 0..<70 {
        writer.move(to: 2)
        other.move(to: 2)
    }
    #expect(all.residentBytes <= 16 * size)
    try other.touch(120 * size, 10)
    #expect(bytes(space, 120) == Array(content[20 * size..<21 * size]))
}

/// Readers of the same process come to pages of the commit before these are encrypted, when what the file has there is
/// distrusted.
@Test func pagesOfACommitAreNotReadFromTheFile() throws {
    for distrusts in [false, true] {
        for comesBack in [false, true] {
            let (form, all, space) = try make(pages: 40, committed: 1 << 20)
            let reader = Follower(all)
            for p in 0..<40 { form.put(p, 9) }
            reader.move(to: 1)
            for p in 20..<30 { try reader.touch(p * size, size) }
            all.beginWrite(others: true)
            // The epoch in which the writer begins is the one in which this reader touches the page.
            try reader.touch(21 * size, size)
            if distrusts { all.distrust() }
            let content = [UInt8](repeating: 7, count: 2 * size)
            try content.withUnsafeBytes { try all.write($0.baseAddress!, count: size + 100, at: 20 * size) }
            if distrusts { all.distrust() }
            reader.move(to: 2)
            for p in 20..<22 { try reader.touch(p * size, size) }
            _ = all.makeAllReadable(40 * size, looks: 1 << 30)
            if comesBack {
                try content.withUnsafeBytes { try all.write($0.baseAddress!, count: 8, at: 30 * size) }
                try content.withUnsafeBytes { try all.write($0.baseAddress!, count: 100, at: 21 * size + 100) }
            }
            _ = try all.prepare(FileHeader(), logicalSize: 0, announcing: false)
            let end = comesBack ? 200 : 100
            let isWhole = form.disk[20]?.bytes == [UInt8](repeating: 7, count: size)
            #expect(isWhole)
            let isPartlyFilled =
                form.disk[21]?.bytes == [UInt8](repeating: 7, count: end) + [UInt8](repeating: 0, count: size - end)
            #expect(isPartlyFilled, "distrusts: \(distrusts), comes back: \(comesBack)")
            reader.move(to: 3)
            try reader.touch(21 * size, size)
            let isInMemory = bytes(space, 21) == form.disk[21]?.bytes
            #expect(isInMemory)
        }
    }
}

@Test func aReaderThatEndsLeavesNoMoreThanTheBudget() throws {
    let (form, all, _) = try make(pages: 200, committed: 1 << 20)
    for p in 0..<200 { form.put(p, 1) }
    let long = Follower(all), other = Follower(all)
    long.move(to: 1)
    for p in 0..<200 {
        try long.touch(p * size, size)
        if p % 10 == 0 { other.move(to: 1) }
    }
    #expect(all.residentBytes == 200 * size)
    all.rest(long.reader)
    #expect(all.residentBytes <= 16 * size)
}

@Test func aPageOfAnotherProcessIsReadAgainByEveryReader() throws {
    let (form, all, space) = try make(pages: 50, committed: 1 << 20)
    for p in 0..<50 { form.put(p, 1) }
    let a = Follower(all), b = Follower(all)
    a.move(to: 5)
    b.move(to: 5)
    for p in 0..<50 { try a.touch(p * size, size) }
    form.put(7, 2)
    // Whoever comes first, nobody who is at version 6 may find what was there at 5.
    b.move(to: 6)
    try b.touch(7 * size, size)
    #expect(bytes(space, 7)[0] == 2)
    let forgotten = form.forgotten
    a.move(to: 6)
    #expect(form.forgotten == forgotten)
    form.put(8, 3)
    all.noteOwn(7)
    a.move(to: 7)
    #expect(form.forgotten == forgotten)
}

@Test func readingAheadStaysInsideMemoryAndFile() throws {
    // 258 whole pages in a megabyte and a bit: the file has grown beyond, in another process.
    let (form, all, _) = try make(pages: 600, committed: 1 << 20)
    for p in 0..<600 { form.put(p, 1) }
    let r = Follower(all)
    r.move(to: 1)
    for p in 0..<258 { try r.touch(p * size, size) }
    // And a form that says it is shorter than what can be read.
    form.pageCount = 100
    r.move(to: 2)
    let (short, again, _) = try make(pages: 10, committed: 1 << 20)
    for p in 0..<30 { short.put(p, 1) }
    let s = Follower(again)
    s.move(to: 1)
    for p in 0..<30 { try s.touch(p * size, size) }
}

@Test func memoryOfDroppedPagesGoesBackWhateverTheirOrder() throws {
    let pages = 4000
    let (form, all, space) = try make(pages: pages, committed: 16 << 20, budget: 64)
    for p in 0..<pages { form.put(p, UInt8(truncatingIfNeeded: p)) }
    let r = Follower(all)
    var random = Seeded(7)
    var version: UInt64 = 0
    for _ in 0..<400 {
        version += 1
        r.move(to: version)
        for _ in 0..<20 { try r.touch(random.below(pages) * size, 8) }
        #expect(all.residentBytes <= 2 * 64 * size)
    }
    // What the system holds for the region: a page of the system lies in up to three of ours.
    var resident = 0
    var states = [UInt8](repeating: 0, count: (16 << 20) / 4096)
    states.withUnsafeMutableBufferPointer { if mincore(space.base, 16 << 20, $0.baseAddress) != 0 { resident = .max } }
    if resident == 0 { resident = states.count { $0 & 1 != 0 } }
    #expect(resident <= 3 * 2 * 64, "\(resident) pages of the system for \(all.residentBytes / size) of ours")
}

@Test func refsThatLeadNowhereAreRefused() throws {
    let (_, all, space) = try make(pages: 4, committed: 4)
    let plain = try AddressSpace(fileCapacity: 1 << 26, slabCapacity: 1 << 32, minimum: 1 << 26)
    // Of a file whose pages are decrypted first, the quick look at a node may read nothing.
    var stores = [NodeStore(space: space, fileLimit: 4 * size, pages: all)]
    for limit in [0, 8, 16, 24, 32, 4096] { stores.append(NodeStore(space: plain, fileLimit: limit)) }
    for store in stores {
        var places: [Int] = [0, 8, 16, store.fileSize - 7, store.fileSize, 1 << 40, Int.max - 7]
        for i in 0..<6 { places += [Int.min + i * 8, -8 - i * 8] }
        for at in places {
            let ref = Ref(at)
            #expect(store.refsAtHand(ref) == nil, "\(at)")
            #expect(throws: RealmError.self, "\(at)") { _ = try store.node(ref) }
            #expect(throws: RealmError.self, "\(at)") { _ = try store.refsNode(ref) }
            #expect(throws: RealmError.self, "\(at)") { _ = try store.integers(ref) }
            #expect(throws: RealmError.self, "\(at)") { _ = try store.blob(ref) }
        }
    }
}
