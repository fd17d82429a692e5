/// Commit record: the 512 bytes directly behind the top array of every snapshot that this engine writes to a plain
/// file. The *next* commit describes itself there, so that a small commit needs only one flush. Format:
/// docs/commit-and-locking.md.
///
///     0    "CRealmR2"
///     8    version of the snapshot in front of it         16   top ref of that snapshot
///     24   top ref of the next one; 0: no commit yet
///     32   number of extents, up to 27                    40   extents: offset and length, 16 bytes each
///     472  zero                                           496  checksum: Poly1305, 16 bytes (`Checksum`)
///
/// The checksum covers the content of the extents, in order, and then bytes [0, 496) of the record. A correct checksum
/// proves that the whole commit has reached the disk, whatever the header says: so the header need not be flushed
/// before the commit returns.
///
/// The free lists contain the place of the record as a separate chunk that the next commit releases. So nothing is
/// written there until the header that leads past the record is on the disk.
struct CommitRecord {
    static let size = 512
    static let maxExtents = 27

    /// Larger commits are flushed twice: the second flush costs less than the checksum.
    static let contentLimit = 256 << 10
    private static let magic: UInt64 = 0x3252_6D6C_6165_5243  // "CRealmR2", little-endian
    private static let checksumAt = 496

    let baseVersion: UInt64
    let baseTop: Ref
    var top = Ref.null
    var extents: [FileChunk] = []
    private var checksum = [UInt8](repeating: 0, count: Checksum.size)

    /// The record of a snapshot that has no next commit yet.
    init(behind top: Ref, version: UInt64) {
        baseTop = top
        baseVersion = version
    }

    /// Describes a commit on top of the snapshot.
    /// - Parameter content: the checksum, to which the content of the extents was added.
    mutating func describe(top: Ref, extents: [FileChunk], content: Checksum) {
        self.top = top
        self.extents = extents
        var head = [UInt8](repeating: 0, count: Self.checksumAt)
        head.withUnsafeMutableBytes { encodeHead(into: $0.start) }
        head.withUnsafeBytes { content.add($0.start, $0.count) }
        checksum = content.finish()
    }

    /// The extents of two commits in the order of their offsets, adjacent ones merged; nil when they exceed what a
    /// record holds.
    static func joined(_ a: [FileChunk], _ b: [FileChunk]) -> [FileChunk]? {
        var all: [FileChunk] = []
        for extent in (a + b).sorted(by: { $0.offset < $1.offset }) {
            if let last = all.last, last.end == extent.offset {
                all[all.count - 1].size += extent.size
            } else {
                all.append(extent)
            }
        }
        return all.count <= maxExtents && all.reduce(0, { $0 + $1.size }) <= contentLimit ? all : nil
    }

    /// - Parameter bytes: 512 bytes of a file. The result is nil when they are not a record, or contain impossible
    ///   values.
    init?(_ bytes: UnsafeRawPointer) {
        func word(_ at: Int) -> UInt64 { bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self).littleEndian }
        guard word(0) == Self.magic, word(16) < 1 << 62, word(24) < 1 << 62, word(32) <= UInt64(Self.maxExtents) else {
            return nil
        }
        baseVersion = word(8)
        baseTop = Ref(Int(word(16)))
        top = Ref(Int(word(24)))
        var total = 0
        for i in 0..<Int(word(32)) {
            let at = word(40 + i * 16), length = word(48 + i * 16)
            guard at < 1 << 62, length <= UInt64(Self.contentLimit - total) else { return nil }
            total += Int(length)
            extents.append(FileChunk(offset: Int(at), size: Int(length)))
        }
        checksum = [UInt8](UnsafeRawBufferPointer(start: bytes + Self.checksumAt, count: Checksum.size))
    }

    private func encodeHead(into bytes: UnsafeMutableRawPointer) {
        CMemory.zero(bytes, Self.checksumAt)
        func put(_ value: UInt64, _ at: Int) {
            bytes.storeBytes(of: value.littleEndian, toByteOffset: at, as: UInt64.self)
        }
        put(Self.magic, 0)
        put(baseVersion, 8)
        put(UInt64(baseTop.offset), 16)
        put(UInt64(top.offset), 24)
        put(UInt64(extents.count), 32)
        for (i, extent) in extents.enumerated() {
            put(UInt64(extent.offset), 40 + i * 16)
            put(UInt64(extent.size), 48 + i * 16)
        }
    }

    /// - Parameter bytes: memory of at least 512 bytes.
    func encode(into bytes: UnsafeMutableRawPointer) {
        encodeHead(into: bytes)
        checksum.withUnsafeBytes { CMemory.copy(bytes + Self.checksumAt, $0.start, $0.count) }
    }

    /// Whether everything that the described commit wrote is in the file.
    /// - Parameter read: reads bytes of the file and returns how many it found.
    func isComplete(
        _ read: (_ into: UnsafeMutableRawPointer, _ count: Int, _ at: Int) throws(RealmError) -> Int
    ) throws(RealmError) -> Bool {
        guard !top.isNull, !extents.isEmpty else { return false }
        let memory = try HiddenMemory(Self.contentLimit)
        let buffer = memory.base
        defer { withExtendedLifetime(memory) {} }
        let content = Checksum()
        for extent in extents {
            guard try read(buffer, extent.size, extent.offset) == extent.size else { return false }
            content.add(buffer, extent.size)
        }
        encodeHead(into: buffer)
        content.add(buffer, Self.checksumAt)
        return content.finish() == checksum
    }
}

/// A range of bytes of the file.
struct FileChunk: Equatable {
    var offset: Int
    var size: Int
    @inline(__always) var end: Int { offset &+ size }
}

extension [FileChunk] {
    /// Whether one of the sorted chunks contains the byte at `offset`.
    func contains(_ offset: Int) -> Bool {
        let i = place { $0.end <= offset }
        return i < count && self[i].offset <= offset
    }
}
