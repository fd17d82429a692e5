import Synchronization

/// Makes a copy of a file for this process alone, while other processes may be writing the file. The copy contains one
/// complete version, or the call fails. The call takes no lock, and makes or changes nothing in the file's folder.
///
/// Why the copy contains one version. While the header leads to a version, no space of that version is overwritten:
/// realm-core reuses the space two commits later (storage §3.4), this engine no earlier. So the copy is complete when
/// the header led to the same version before and after copying, whatever was written to free space meanwhile. This
/// version, the *version in force*, is identified by its *mark*: bytes that every commit changes and that never return
/// to an earlier value.
///
/// - Plain: the header and the top array it leads to. The header alone can return to an earlier value: commits that
///   free and reuse the same places write the same two refs in turn. The top array contains the version number, which
///   only grows.
/// - CRealm's encrypted form: both key blocks and both root records. Each root record is sealed under a random number,
///   and names everything that its version consists of.
/// - Realm's encrypted form: entry and ciphertext of page 0, which holds the header. Its entry counts the writes to the
///   page. realm-core also writes free space in pages that a version needs, in two steps: such pages are copied again
///   until both halves belong together (`RealmForm.completePages`).
///
/// The limits are described in docs/commit-and-locking.md, "Snapshot open".
enum PrivateCopy {
    /// Number of attempts before the file counts as too busy. Each attempt begins immediately after the failure of the
    /// previous one, and ends as soon as the mark has changed.
    static let attempts = 100

    /// Bytes between two checks of the mark.
    private static let step = 8 << 20

    /// Identifies the version in force.
    private struct Mark: Equatable {
        enum Form { case plain, sealed, realm }
        var form = Form.plain
        var bytes: [UInt8] = []

        mutating func add(_ file: FileDescriptor, at offset: Int, _ count: Int) throws(RealmError) {
            let start = bytes.count
            bytes += [UInt8](repeating: 0, count: count)
            var found = 0
            try bytes.withMutableBytes { (raw) throws(RealmError) in
                if let to = raw.baseAddress { found = try file.read(into: to + start, count: count, at: offset) }
            }
            bytes.removeLast(count - found)
        }
    }

    /// The mark of the version in force; nil when the version changed meanwhile.
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
            try mark.add(file, at: top + 8, min(NodeHeader(word: node).payloadSize ?? 0, 8 * DatabaseFile.longestTop))
            // It is known to be a top array only if the header that leads to it is the same before and after.
            var again = Mark()
            try again.add(file, at: 0, Format.headerSize)
            guard again == head else { return nil }
        }
        return mark
    }

    /// The position of the top array to which a plain header leads; nil when it leads to no top array, or the file has
    /// the streaming form, where the footer names it.
    private static func topArray(_ head: [UInt8]) -> Int? {
        guard head.count == Format.headerSize else { return nil }
        let header = head.withUnsafeBytes { raw in raw.baseAddress.map { FileHeader(bytes: $0) } }
        guard let header, header.hasMnemonic, !header.isStreaming, header.liveTopRef != 0, header.liveTopRef < 1 << 62
        else { return nil }
        return Int(header.liveTopRef)
    }

    /// - Parameter source: the file, open for reading.
    static func take(of source: FileDescriptor, path: String, _ encryption: Encryption?) throws(RealmError)
        -> DatabaseFile
    {
        let copy = try FileDescriptor.nameless(path, size: try source.size())
        // The copy has the same permissions as the file.
        copy.copyPermissions(of: source)
        for _ in 0..<attempts where try fill(copy, from: source, encryption) {
            // The copy is checked like a file without other users, and a key is derived, only when it has one version.
            return try DatabaseFile(copy, path: path, needsSlab: false, encryption: encryption)
        }
        throw RealmError(
            .fileKeepsChanging,
            "The Realm file at path '\(path)' was committed to during each of \(attempts) attempts to copy a version of it",
            path: path)
    }

    /// One attempt. False when the version changed meanwhile.
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
        // Data of an earlier attempt may be where the file has a hole.
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
            // Fewer bytes are possible: the first user of a session cuts the space behind the logical end.
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
