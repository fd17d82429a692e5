/// Recognises the kind of a file: empty, unfinished, plain, or in one of the encrypted forms. Before this process joins
/// the session of a file, other processes may make or change the file at any time: the result then describes one moment
/// only.
extension DatabaseFile {
    /// The form of an encrypted file, nil for a plain one. A key that is wrong, missing or not needed is an error.
    func recognise(_ earlier: DatabaseFile?) throws(RealmError) -> (any PageForm)? {
        var head: (UInt64, UInt64, UInt64) = (0, 0, 0)
        let isSealed = try withUnsafeMutableBytes(of: &head) { (bytes) throws(RealmError) in
            _ = try file.read(into: bytes.start, count: 24, at: 0)
            return SealedForm.recognises(UnsafeRawBufferPointer(bytes))
        }
        let isPlain = withUnsafeBytes(of: head) { FileHeader(bytes: $0.start).hasMnemonic }
        guard let encryption else {
            if isSealed { throw invalid("the file is encrypted, and no key was given") }
            return nil
        }
        do throws(RealmError) {
            if isSealed {
                if let form = try earlier?.pages?.form.reopened(in: file) { return form }
                return try SealedForm.open(file, encryption)
            }
            let size = try file.size()
            if isPlain, size % 4096 != 0 || head.2 & 0xFE00_0000_0000_0000 == 0 {
                // An encrypted file may have the bytes of the mnemonic there by chance: then its first page
                // authenticates.
                let header = try RealmError.unlessDamaged { () throws(RealmError) in
                    try RealmForm(file, encryption).readHeader(again: true)
                }
                guard let header, header.hasMnemonic else {
                    throw RealmError(
                        .invalidDatabase,
                        "Realm file decryption failed (the file is not encrypted, but a key was given)")
                }
            }
            let form = try RealmForm(file, encryption)
            guard try form.readHeader(again: true).hasMnemonic else {
                // Either only the HMAC half of the key is right, or the content was never encrypted.
                throw RealmError(
                    .invalidDatabase, "Realm file decryption failed (wrong encryption key, or not a Realm file)")
            }
            return form
        } catch {
            // While a file is opened, every failure to decrypt counts as a failure to open the database; the text names
            // the cause.
            guard error.isDamage else { throw error.with(path: path) }
            let text =
                error.message.hasPrefix("Realm file decryption")
                ? error.message : "Realm file decryption failed (\(error.message))"
            throw invalid(text)
        }
    }

    /// Whether the file still is what this object found when it was made: empty or unfinished, plain, or encrypted with
    /// this very key block. Until the session is joined, other processes may make the file or change its key.
    func isStillAsOpened() throws(RealmError) -> Bool {
        guard try file.size() > 0, try !isUnfinished() else { return pages == nil }
        guard let pages else {
            if encryption != nil { return false }
            return try !SealedForm.recognises(file)
        }
        guard encryption != nil else { return false }
        return try pages.form.isInFile()
    }

    /// Whether the process that made the file died before it was complete: nothing was ever committed to it. A longer
    /// file may have contained data, whatever happened to its first blocks. Format: docs/security.md §5.
    func isUnfinished() throws(RealmError) -> Bool { try Self.isUnfinished(file, encryption) }

    static func isUnfinished(_ file: FileDescriptor, _ encryption: Encryption?) throws(RealmError) -> Bool {
        let start = UnsafeMutableRawPointer.allocate(byteCount: 2 * 4096, alignment: 16)
        defer { start.deallocate() }
        CMemory.zero(start, 2 * 4096)
        let size = try file.size()
        guard size > 0, size <= max(SealedForm.sizeWhenNew, Platform.pageSize),
            try file.read(into: start, count: min(size, 2 * 4096), at: 0) > 0
        else {
            return false
        }
        // A plain file begins as one page that is written in one step.
        guard encryption != nil else { return size <= Platform.pageSize && CMemory.isZero(start, min(size, 2 * 4096)) }
        // In both forms the first block is written last.
        guard CMemory.isZero(start, 4096) else { return false }
        return size <= RealmForm.sizeWhenNew || CMemory.isZero(start + 4096, 4096)
            || SealedForm.recognises(UnsafeRawBufferPointer(start: start + 4096, count: 8))
    }

    /// The parts of a file that are compared to notice a change from outside.
    private struct Glimpse: Equatable {
        var identity: FileIdentity?
        var size = 0
        var start = [UInt8](repeating: 0, count: 2 * 4096)

        /// Reads as much as it can; what cannot be read keeps its default.
        init(_ path: String) {
            guard let file = try? FileDescriptor(path: path, access: .readOnly) else { return }
            identity = try? file.identity()
            size = (try? file.size()) ?? 0
            start.withUnsafeMutableBytes { bytes in
                _ = bytes.baseAddress.map { try? file.read(into: $0, count: bytes.count, at: 0) }
            }
        }
    }

    /// Runs `body`, which reads the file without being a member of its session. When it fails and the file changed
    /// meanwhile, it is run again: it may have seen a mixture of old and new.
    static func whileUnchanged<R>(_ path: String, _ body: () throws(RealmError) -> R) throws(RealmError) -> R {
        for _ in 0..<50 {
            let before = Glimpse(path)
            do throws(RealmError) { return try body() } catch {
                guard Glimpse(path) != before else { throw error }
            }
        }
        return try body()
    }
}
