/// One of the two forms in which an encrypted file stores its pages. Data positions (refs) count decrypted bytes.
///
/// A form encrypts, decrypts and authenticates. `DecryptedPages` manages the pages in memory and calls the form under
/// its lock. Pages that a reachable snapshot needs are never written: the allocator of encrypted files allocates only
/// completely free pages, so that a torn write damages only new data.
protocol PageForm: AnyObject {
    /// Bytes of data in a page, a multiple of 8.
    var pageSize: Int { get }

    /// The cipher of the pages.
    var pageCipher: PageCipher { get }

    /// The number of pages for which the file has room.
    var pageCount: Int { get throws(RealmError) }

    /// Whether a file that now has `present` bytes holds `size` bytes of data. The size that the form read before may
    /// be out of date, because another process may have written since.
    func isHeld(_ size: Int, inFileOf present: Int) throws(RealmError) -> Bool

    /// Position in the file of a page's ciphertext.
    func position(ofPage page: Int) -> Int

    /// Identifies the present content of a page; 0: never written.
    func stamp(of page: Int) throws(RealmError) -> UInt64

    /// Decrypts a page; returns the stamp of what was read.
    func read(_ page: Int, into to: UnsafeMutableRawPointer) throws(RealmError) -> UInt64

    /// Encrypts and writes `count` pages, and stores their new stamps.
    func write(_ first: Int, _ count: Int, from: UnsafeRawPointer, stamps: UnsafeMutablePointer<UInt64>)
        throws(RealmError)

    /// Grows the file. With `filled`, new space is allocated immediately, as zeros.
    func resize(to pages: Int, filled: Bool) throws(RealmError)

    /// The number of pages that the file has room for now; the commit in progress may have cut off some of them.
    var physicalPages: Int { get throws(RealmError) }

    /// Cuts off what is behind the given number of pages, which no version that may be needed uses.
    func cut(to pages: Int) throws(RealmError)

    /// The database header: as it is on disk now, or (`again` false, for the holder of the write lock) as it was last
    /// read or written.
    func readHeader(again: Bool) throws(RealmError) -> FileHeader

    /// Writes everything that must be on disk before `header`. The caller flushes after it.
    /// - Parameter announcing: also write the data by which `findSuccessor` finds the commit when the header does not
    ///   lead to it.
    /// - Returns: whether that data was written: then the caller need not flush after `commit`.
    func prepare(_ header: FileHeader, logicalSize: Int, announcing: Bool) throws(RealmError) -> Bool

    /// Writes the prepared header.
    func commit() throws(RealmError)

    /// Withdraws what a failed `prepare` or `commit` wrote: `header` is the header before the commit. The caller
    /// flushes after it.
    func withdraw(_ header: FileHeader) throws(RealmError)

    /// Writes the present header again, unchanged: a failed flush elsewhere may have kept it from the disk.
    func rewriteHeader() throws(RealmError)

    /// Writes again, unchanged, everything that is needed to find the newest state.
    func rewriteFront() throws(RealmError)

    /// The sequence number of a commit that is completely on the disk although the header does not lead to it. From
    /// then on the form reads as if the header led to it. Only while no process writes.
    func findSuccessor() throws(RealmError) -> UInt64?

    /// Writes the commit found by `findSuccessor` again, unchanged: a failed flush elsewhere may have kept it from the
    /// disk.
    func rewriteSuccessor() throws(RealmError)

    /// Writes the header of the commit found by `findSuccessor`. The caller flushes before and after it.
    func adoptSuccessor() throws(RealmError)

    /// Other processes may have changed the file: cached data must be read again.
    func forget()

    /// Receives the top ref of the newest published snapshot. A failed flush in another process may have dropped the
    /// header that leads to this snapshot from the cache of the operating system. The announcement of that commit is on
    /// the disk, and replaces the header from then on.
    func expect(_ topRef: UInt64)

    /// Completes what a crash left half-written, after `readHeader` noticed it. Only while no other process writes.
    func repair() throws(RealmError)

    /// Whether the file still is what this form opened, as far as its first blocks show: in this form, with this very
    /// key block if the form has one. Until the session is joined, other processes may make the file or change its key.
    func isInFile() throws(RealmError) -> Bool

    /// Ends the creation of a file whose first page was written and committed: only now is it a valid file.
    func finishCreation() throws(RealmError)

    /// Completes a change of key that a crash interrupted: from now on only the secret by which this form opened the
    /// file opens it. Only while no other process opens the file or changes its key.
    func settleSecret() throws(RealmError)

    /// Changes the key or passphrase of the file; its pages stay unchanged. Durable when it returns; a crash leaves the
    /// old secret or the new one.
    /// - Returns: false when the key of the pages is the secret itself: then nothing was done.
    func changeSecret(_ encryption: Encryption) throws(RealmError) -> Bool

    /// The same form, opened again in `file` without deriving its keys; nil when the file now has other keys.
    func reopened(in file: FileDescriptor) throws(RealmError) -> (any PageForm)?

    /// Another instance with the same keys, for reading the same file through `file`.
    func reader(of file: FileDescriptor) throws(RealmError) -> any PageForm

    /// The same form with the same keys for another, empty file.
    func sibling(in file: FileDescriptor) throws(RealmError) -> any PageForm

    /// Releases cached data of pages, after it has written what is not on disk yet. For walks over whole files.
    func release() throws(RealmError)
}

extension PageForm {
    /// Capacity of the file in bytes of data.
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
    /// Grows or cuts the file; with `filled`, new space is allocated immediately, so that flushing it later is cheap.
    func resize(to size: Int, filled: Bool) throws(RealmError) {
        let old = try self.size()
        guard filled, size > old else { return try truncate(to: size) }
        do throws(RealmError) { try writeZeros(from: old, to: size) } catch {
            // An incomplete page or word at the end is not valid in a database file.
            try? truncate(to: old)
            throw error
        }
    }

    /// Writes bytes again that the file already contains, so that the next flush includes them.
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
