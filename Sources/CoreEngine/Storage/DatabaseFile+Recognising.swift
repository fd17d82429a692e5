/// What kind of file it is: empty, not finished, plain, or in one of the encrypted forms. Before the session of a file
/// is joined others may make or change it at any time: what is told here then is what was seen at one moment.
extension DatabaseFile {
    /// The form of an encrypted file, nil for a plain one. A key that does not fit, is missing or is not needed is an
    /// error.
    func recognise(_ earlier: DatabaseFile?) throws(RealmError) -> (any PageForm)? {
        var head: (UInt64, UInt64, UInt64) = (0, 0, 0)
        let isSealed = try withUnsafeMutableBytes(of: &head) { (bytes) throws(RealmError) in
            _ = try file.read(into: bytes.baseAddress!, count: 24, at: 0)
            return SealedForm.recognises(UnsafeRawBufferPointer(bytes))
        }
        let isPlain = withUnsafeBytes(of: head) { FileHeader(bytes: $0.baseAddress!).hasMnemonic }
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
                // A metadata page that happens to have the mnemonic there would authenticate.
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
                // The HMAC half of the key fits, or what is there was never encrypted.
                throw RealmError(
                    .invalidDatabase, "Realm file decryption failed (wrong encryption key, or not a Realm file)")
            }
            return form
        } catch {
            // At the open every failure to decrypt is one to open the database; the text says which.
            guard error.isDamage else { throw error.with(path: path) }
            let text =
                error.message.hasPrefix("Realm file decryption")
                ? error.message : "Realm file decryption failed (\(error.message))"
            throw invalid(text)
        }
    }

    /// Whether the file is what this object took it for when it was made: empty or unfinished, plain, or encrypted with
    /// this very key block. Until the session is joined others may make it, or change its key.
    func isStillAsOpened() throws(RealmError) -> Bool {
        guard try file.size() > 0, try !isUnfinished() else { return pages == nil }
        guard let pages else {
            if encryption != nil { return false }
            return try !SealedForm.recognises(file)
        }
        guard encryption != nil else { return false }
        return try pages.form.isInFile()
    }

    /// Whether whoever made the file died before it was one: nothing was ever committed to it. A longer file may have
    /// held something, whatever became of its first blocks. Format: docs/security.md §5.
    func isUnfinished() throws(RealmError) -> Bool { try Self.isUnfinished(file, encryption) }

    static func isUnfinished(_ file: FileDescriptor, _ encryption: Encryption?) throws(RealmError) -> Bool {
        let start = UnsafeMutableRawPointer.allocate(byteCount: 2 * 4096, alignment: 16)
        defer { start.deallocate() }
        Platform.zero(start, 2 * 4096)
        let size = try file.size()
        guard size > 0, size <= max(SealedForm.sizeWhenNew, Platform.pageSize),
            try file.read(into: start, count: min(size, 2 * 4096), at: 0) > 0
        else {
            return false
        }
        // A plain file is a page that was written at once.
        guard encryption != nil else { return size <= Platform.pageSize && Platform.isZero(start, min(size, 2 * 4096)) }
        // In both forms the first block comes last.
        guard Platform.isZero(start, 4096) else { return false }
        return size <= RealmForm.sizeWhenNew || Platform.isZero(start + 4096, 4096)
            || SealedForm.recognises(UnsafeRawBufferPointer(start: start + 4096, count: 8))
    }

    /// What was seen of a file from outside.
    private struct Glimpse: Equatable {
        var identity: FileIdentity?
        var size = 0
        var start = [UInt8](repeating: 0, count: 2 * 4096)

        /// As much of it as can be seen.
        init(_ path: String) {
            guard let file = try? FileDescriptor(path: path, access: .readOnly) else { return }
            identity = try? file.identity()
            size = (try? file.size()) ?? 0
            start.withUnsafeMutableBytes { bytes in
                _ = bytes.baseAddress.map { try? file.read(into: $0, count: bytes.count, at: 0) }
            }
        }
    }

    /// Runs `body`, which looks at the file without being in its session, again when it fails and the file was changed
    /// meanwhile: then it may have seen something between old and new.
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
