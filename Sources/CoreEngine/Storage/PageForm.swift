/// One of the two ways in which an encrypted file keeps its pages. Data positions (refs) count decrypted bytes.
///
/// A form encrypts, decrypts and authenticates; what is in memory is `DecryptedPages`' business, which calls it under
/// its lock. Pages that a reachable snapshot needs are never written: the allocator of encrypted files hands out wholly
/// free pages only, so that a torn write harms nothing but what it was to write.
protocol PageForm: AnyObject {
    /// Bytes of data in a page, a multiple of 8.
    var pageSize: Int { get }

    /// Pages that the file has room for.
    var pageCount: Int { get throws(RealmError) }

    /// Bytes of a file with that many pages.
    var fileSize: Int { get throws(RealmError) }

    /// Where in the file the ciphertext of a page begins.
    func position(ofPage page: Int) -> Int

    /// Names the present content of a page; 0: never written.
    func stamp(of page: Int) throws(RealmError) -> UInt64

    /// Decrypts a page; returns the stamp of what was read.
    func read(_ page: Int, into to: UnsafeMutableRawPointer) throws(RealmError) -> UInt64

    /// Encrypts and writes `count` pages, and notes their new stamps.
    func write(_ first: Int, _ count: Int, from: UnsafeRawPointer, stamps: UnsafeMutablePointer<UInt64>)
        throws(RealmError)

    /// Grows or cuts the file. With `filled`, new space is allocated now, as zeros.
    func resize(to pages: Int, filled: Bool) throws(RealmError)

    /// The database header: as it is on disk now, or (for the holder of the write lock) as it was read or written last.
    func readHeader(again: Bool) throws(RealmError) -> FileHeader

    /// Writes everything that must be on disk before `header` may be. The caller flushes after it.
    /// - Parameter announcing: also what lets `findSuccessor` find the commit when the header does not lead to it.
    /// - Returns: whether it did so: then the caller need not flush after `commit`.
    func prepare(_ header: FileHeader, logicalSize: Int, announcing: Bool) throws(RealmError) -> Bool

    /// Puts the prepared header in place.
    func commit() throws(RealmError)

    /// Takes back what a failed `prepare` or `commit` wrote: `header` was in force before. The caller flushes after it.
    func withdraw(_ header: FileHeader) throws(RealmError)

    /// Writes the header in force again, as it is: a flush that failed elsewhere may have kept it from the disk.
    func rewriteHeader() throws(RealmError)

    /// Writes everything by which the newest state is found again, as it is.
    func rewriteFront() throws(RealmError)

    /// The sequence number of a commit that is wholly on the disk although the header does not lead to it. From then on
    /// the form reads as if it did. Only while nobody writes.
    func findSuccessor() throws(RealmError) -> UInt64?

    /// Writes what `findSuccessor` found again, as it is: a flush that failed elsewhere may have kept it from the disk.
    func rewriteSuccessor() throws(RealmError)

    /// Puts the header of what `findSuccessor` found in place. The caller flushes before and after it.
    func adoptSuccessor() throws(RealmError)

    /// Others may have changed the file: what is remembered of it must be read again.
    func forget()

    /// The top ref of the newest published snapshot. A flush that failed in another process may have dropped the header
    /// that leads to it from the system's cache; what announced that commit is on the disk, and counts in its place
    /// from then on.
    func expect(_ topRef: UInt64)

    /// Completes what a crash left half-written, after `readHeader` found it so. Only while nobody else writes.
    func repair() throws(RealmError)

    /// Whether what this form opened is still there, as far as its start shows: in this form, with this very key block
    /// where it has one. Until the session is joined others may make the file, or change its key.
    func isInFile() throws(RealmError) -> Bool

    /// Ends the making of a file whose first page was written and committed: only now it counts as one.
    func finishCreation() throws(RealmError)

    /// Ends a change of key that a crash interrupted: from now on only the secret by which this form opened the file
    /// does so. Only while nobody else opens the file or changes its key.
    func settleSecret() throws(RealmError)

    /// Another key or passphrase for the file; its pages stay as they are. Durable when it returns; a crash leaves the
    /// old one or the new one.
    /// - Returns: false where the key of the pages is the secret itself: then nothing was done.
    func changeSecret(_ encryption: Encryption) throws(RealmError) -> Bool

    /// The same form, opened again in `file` without deriving its keys; nil when they are not those of what is there
    /// now.
    func reopened(in file: FileDescriptor) throws(RealmError) -> (any PageForm)?

    /// Another instance with the same keys, for reading the same file through `file`.
    func reader(of file: FileDescriptor) throws(RealmError) -> any PageForm

    /// The same form with the same keys for another, empty file.
    func sibling(in file: FileDescriptor) throws(RealmError) -> any PageForm

    /// Gives back what it remembers of pages; what is not on disk yet is written. For walks over whole files.
    func release() throws(RealmError)
}

extension PageForm {
    /// Bytes of data that the file has room for.
    var dataSize: Int { get throws(RealmError) { try pageCount * pageSize } }

    func expect(_ topRef: UInt64) {}

    func repair() throws(RealmError) {}

    func rewriteHeader() throws(RealmError) {}

    func rewriteFront() throws(RealmError) { try rewriteHeader() }

    func findSuccessor() throws(RealmError) -> UInt64? { nil }

    func rewriteSuccessor() throws(RealmError) {}

    func adoptSuccessor() throws(RealmError) {}

    func finishCreation() throws(RealmError) {}

    func settleSecret() throws(RealmError) {}

    func changeSecret(_ encryption: Encryption) throws(RealmError) -> Bool { false }

    func reopened(in file: FileDescriptor) throws(RealmError) -> (any PageForm)? { nil }
}

extension FileDescriptor {
    /// Grows or cuts; with `filled`, what is new is allocated now, so that flushing it later is cheap.
    func resize(to size: Int, filled: Bool) throws(RealmError) {
        let old = try self.size()
        guard filled, size > old else { return try truncate(to: size) }
        do throws(RealmError) { try writeZeros(from: old, to: size) } catch {
            // Half a page, or half a word, is no size for a database file.
            try? truncate(to: old)
            throw error
        }
    }

    /// Writes bytes that the file has already, so that the next flush takes them along.
    func rewrite(_ offset: Int, count: Int) throws(RealmError) {
        let memory = try HiddenMemory(min(count, 256 << 10))
        defer { withExtendedLifetime(memory) {} }
        var done = 0
        while done < count,
            case let received = try read(into: memory.base, count: min(memory.count, count - done), at: offset + done),
            received > 0
        {
            try write(memory.base, count: received, at: offset + done)
            done += received
        }
    }

    func writeZeros(from: Int, to end: Int, step most: Int = 256 << 10) throws(RealmError) {
        let step = min(end - from, most)
        let zeros = try HiddenMemory(step)
        defer { withExtendedLifetime(zeros) {} }
        var at = from
        while at < end {
            let length = min(step, end - at)
            try write(zeros.base, count: length, at: at)
            at += length
        }
    }
}
