import Synchronization

/// A copy of a file for this process alone, made while others may be writing the file: all of one version of it, or an
/// error. It takes no lock, and nothing in the file's folder is made or changed.
///
/// Why it holds one version. While the header leads to a version, nobody writes where that version is: realm-core hands
/// out its space two commits later (storage §3.4), this engine no earlier. So what was copied is whole when the same
/// version was in force before and after, whatever was written to free space meanwhile. Which version is in force is
/// told by the *mark*, bytes that every commit changes and that never come back:
///
/// - plain: the header and the top array it leads to. The header alone comes back: commits that free and take the same
///   places write the same two refs in turn. The top array has the number of the version in it, which only grows.
/// - CRealm's encrypted form: both root records. Each is sealed under a random number, and names all that its version
///   consists of.
/// - Realm's encrypted form: entry and ciphertext of page 0, where the header is. Its entry counts what was written to
///   it. realm-core also writes free space in pages that a version needs, in two steps: such pages are copied until
///   both halves belong together (`RealmForm.completePages`).
///
/// The limits are told in docs/commit-and-locking.md, "Snapshot open".
enum PrivateCopy {
    /// How often a copy is begun before the file is given up as too busy. Each begins at once when the one before has
    /// failed, and ends as soon as the mark has changed.
    static let attempts = 100

    /// Bytes between two looks at the mark.
    private static let step = 8 << 20

    /// What names the version in force.
    private struct Mark: Equatable {
        enum Form { case plain, sealed, realm }
        var form = Form.plain
        var bytes: [UInt8] = []

        mutating func add(_ file: FileDescriptor, at offset: Int, _ count: Int) throws(RealmError) {
            let start = bytes.count
            bytes += [UInt8](repeating: 0, count: count)
            var found = 0
            try bytes.withMutableBytes { (b) throws(RealmError) in
                if let to = b.baseAddress { found = try file.read(into: to + start, count: count, at: offset) }
            }
            bytes.removeLast(count - found)
        }
    }

    /// nil when the version changed meanwhile.
    private static func mark(of file: FileDescriptor, isEncrypted: Bool) throws(RealmError) -> Mark? {
        var mark = Mark()
        try mark.add(file, at: 0, Format.headerSize)
        if mark.bytes.withUnsafeBytes({ SealedForm.recognises($0) }) {
            mark.form = .sealed
            for range in SealedForm.mark { try mark.add(file, at: range.lowerBound, range.count) }
        } else if isEncrypted {
            mark.form = .realm
            for range in RealmForm.mark { try mark.add(file, at: range.lowerBound, range.count) }
        } else if let top = topArray(mark.bytes) {
            let head = mark
            try mark.add(file, at: top, 8)
            let node = mark.bytes.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            try mark.add(file, at: top + 8, min(NodeHeader(word: node).payloadSize ?? 0, 8 * longestTop))
            // Only with the header that leads to it, before and after, is it known to be a top array.
            var again = Mark()
            try again.add(file, at: 0, Format.headerSize)
            guard again == head else { return nil }
        }
        return mark
    }

    /// Elements of the longest top array. Format: storage §3.1.
    private static let longestTop = 12

    /// The place to which a plain header leads; nil where it leads to none, or to the end of the file.
    private static func topArray(_ head: [UInt8]) -> Int? {
        guard head.count == Format.headerSize else { return nil }
        let header = head.withUnsafeBytes { b in b.baseAddress.map { FileHeader(bytes: $0) } }
        guard let header, header.hasMnemonic, !header.isStreaming, header.liveTopRef != 0, header.liveTopRef < 1 << 62
        else { return nil }
        return Int(header.liveTopRef)
    }

    /// - Parameter source: the file, open for reading.
    static func take(of source: FileDescriptor, path: String, _ encryption: Encryption?) throws(RealmError)
        -> DatabaseFile
    {
        let copy = try FileDescriptor.nameless(path, size: try source.size())
        // Copies of it let in whom the file lets in.
        copy.copyPermissions(of: source)
        for _ in 0..<attempts where try fill(copy, from: source, encryption) {
            // All of it is checked as in a file that nobody else has, and a key is derived, when the race is over.
            return try DatabaseFile(copy, path: path, needsSlab: false, encryption: encryption)
        }
        throw RealmError(
            .fileKeepsChanging,
            "The Realm file at path '\(path)' was committed to during each of \(attempts) attempts to copy a version of it",
            path: path)
    }

    /// One attempt. False when the file moved on meanwhile.
    private static func fill(_ copy: FileDescriptor, from source: FileDescriptor, _ encryption: Encryption?)
        throws(RealmError) -> Bool
    {
        func isAt(_ before: Mark) throws(RealmError) -> Bool {
            atomicMemoryFence(ordering: .sequentiallyConsistent)
            return try mark(of: source, isEncrypted: encryption != nil) == before
        }
        guard let before = try mark(of: source, isEncrypted: encryption != nil) else { return false }
        atomicMemoryFence(ordering: .sequentiallyConsistent)
        let size = try source.size()
        // Of an earlier attempt something may lie where the file has a hole.
        try copy.truncate(to: 0)
        try copy.truncate(to: size)
        var done = 0
        while done < size {
            let count = min(step, size - done)
            // Holes stay holes: a small file may claim to be larger than any disk.
            if source.nextData(from: done) >= done + count {
                done += count
                continue
            }
            // The first user of a session cuts what lies behind the logical end.
            guard try copy.copyBytes(of: source, count, at: done) == count else { return false }
            done += count
            if done < size, try !isAt(before) { return false }
        }
        if before.form == .realm, let encryption, case .key = encryption.secret {
            try RealmForm(copy, encryption).completePages(from: source)
        }
        return try isAt(before)
    }
}
