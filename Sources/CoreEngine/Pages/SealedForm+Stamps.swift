/// The tree of stamps: a root record contains the stamps of groups, a group those of tables, a table those of pages.
/// (While the file is small, the root record contains the stamps of tables.) Each is read into memory once and kept as
/// long as its parent names its stamp. Layout: docs/security.md.
///
/// A block that its parent does not name is never trusted: if a table was written meanwhile, the root is read again,
/// and the table is looked up from the new root.
extension SealedForm {
    // MARK: Root

    func root() throws(RealmError) -> Root {
        if let known { return known }
        var records: (Root?, Root?) = (nil, nil)
        var distant = 0
        // Another process may be in the middle of a write, which is temporary.
        for attempt in 0..<20 {
            if attempt > 0 { Platform.sleep(microseconds: 1000) }
            guard try file.read(into: buffer, count: 2 * Self.blockSize, at: 2 * Self.blockSize) == 2 * Self.blockSize
            else {
                throw RealmError(.invalidDatabase, "the encrypted file is truncated")
            }
            records = (record(0), record(1))
            if let even = records.0, let odd = records.1 {
                let isEven = even.sequence > odd.sequence
                var root = isEven ? even : odd
                // The sequence numbers are normally adjacent. After a failed flush in another process, which lost one
                // record, the announcements lead to the newest state.
                guard root.sequence &- (isEven ? odd : even).sequence <= 3 else {
                    distant += 1
                    if distant == 3 { break }
                    continue
                }
                isDistant = false
                if let accepted, accepted.root.sequence > root.sequence,
                    accepted.root.sequence &- root.sequence <= Self.chain, isAnnounced(accepted)
                {
                    root = accepted.root
                }
                if expected != 0, root.header.liveTopRef != expected,
                    let lost = try lastSuccessor(of: root, until: { $0.header.liveTopRef == self.expected }),
                    lost.root.header.liveTopRef == expected
                {
                    accepted = lost
                    root = lost.root
                }
                known = root
                return root
            }
        }
        // A torn record, on a disk that writes less than a sector at a time.
        if let only = records.0 ?? records.1, records.0 == nil || records.1 == nil, let next = try successor(of: only) {
            accepted = next
            known = next.root
            return next.root
        }
        if let even = records.0, let odd = records.1, let root = try distantRoot(even, odd) { return root }
        throw damaged(
            records.0 == nil || records.1 == nil
                ? "a root record does not authenticate" : "its root records are not neighbours")
    }

    /// The newest state of a file whose root records are both valid but not adjacent: a program that assumed that no
    /// other process has the file open overwrote one of them with an old record. The greater number is used, with the
    /// commits that are announced behind it; if tables or groups that it names are gone, the other record is used.
    private func distantRoot(_ even: Root, _ odd: Root) throws(RealmError) -> Root? {
        for candidate in even.sequence > odd.sequence ? [even, odd] : [odd, even] {
            let found = try lastSuccessor(of: candidate)
            guard let root = found?.root ?? Optional(candidate), try isWhole(root) else { continue }
            accepted = found
            known = root
            isDistant = true
            return root
        }
        return nil
    }

    /// Whether all tables and groups that a root record names are in the file.
    private func isWhole(_ root: Root) throws(RealmError) -> Bool {
        guard try file.size() >= end(of: root.pageCount) * Self.blockSize else { return false }
        for number in 0..<(root.pageCount + Self.fanOut - 1) / Self.fanOut {
            if try table(number, root) == nil { return false }
        }
        return true
    }

    func repair() throws(RealmError) {
        guard isDistant, changedTables.isEmpty else { return }
        known = nil
        let root = try root()
        // The process that opens the file first selects the announced commits.
        guard isDistant, accepted == nil else { return }
        // The same content under the next number makes the records adjacent again; it replaces the older record.
        var next = root
        next.sequence &+= 1
        try writeRoot(next)
        try file.synchronizeData()
        (accepted, known, isDistant) = (nil, nil, false)
    }

    /// The newest of the root records and announcements that authenticate, for a file that may be damaged. `isSure`
    /// when both records authenticate; otherwise a newer one may be lost.
    func damagedRoot() -> (root: Root?, isSure: Bool) {
        guard let read = try? file.read(into: buffer, count: 2 * Self.blockSize, at: 2 * Self.blockSize),
            read == 2 * Self.blockSize
        else {
            return (nil, false)
        }
        let records = [record(0), record(1)].compactMap { $0 }
        defer { known = nil }
        var newest: Root?
        for root in records {
            known = root
            let next = (try? successor(of: root))?.root ?? root
            if next.sequence > newest?.sequence ?? 0 || newest == nil { newest = next }
        }
        return (newest, records.count == 2)
    }

    /// The record in slot `slot` of the blocks in the buffer.
    private func record(_ slot: Int) -> Root? {
        let block = buffer + slot * Self.blockSize
        let end = Self.rootSize + Self.announcementSize
        var plain = [UInt8](repeating: 0, count: Self.rootPayload)
        return plain.withUnsafeMutableBytes { bytes -> Root? in
            guard CMemory.isZero(block + end, Self.blockSize - end),
                seal.open(.root, slot, block, count: Self.rootPayload, into: bytes.start),
                let root = decode(bytes.start), root.sequence & 1 == UInt64(slot)
            else { return nil }
            return root
        }
    }

    func decode(_ bytes: UnsafeRawPointer) -> Root? {
        func word(_ at: Int) -> UInt64 {
            UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        }
        var root = Root()
        root.sequence = word(0)
        root.header = FileHeader(bytes: bytes + 8)
        root.pageCount = Int(truncatingIfNeeded: word(32))
        for i in 0..<Self.rootStamps { root.stamps[i] = word(48 + i * 8) }
        guard root.sequence < Self.sequenceLimit, root.pageCount >= 0, root.pageCount <= Self.pageLimit else {
            return nil
        }
        return root
    }

    func encode(_ root: Root, into bytes: UnsafeMutableRawPointer) {
        CMemory.zero(bytes, Self.rootPayload)
        bytes.storeBytes(of: root.sequence.littleEndian, as: UInt64.self)
        root.header.encode(into: bytes + 8)
        bytes.storeBytes(of: UInt64(root.pageCount).littleEndian, toByteOffset: 32, as: UInt64.self)
        for i in 0..<Self.rootStamps {
            bytes.storeBytes(of: root.stamps[i].littleEndian, toByteOffset: 48 + i * 8, as: UInt64.self)
        }
    }

    func writeRoot(_ root: Root) throws(RealmError) {
        var plain = [UInt8](repeating: 0, count: Self.rootPayload)
        plain.withUnsafeMutableBytes { encode(root, into: $0.start) }
        let slot = Int(root.sequence & 1)
        let isNew = try file.size() < (3 + slot) * Self.blockSize
        CMemory.zero(buffer, Self.blockSize)
        _ = plain.withUnsafeBytes {
            seal.seal(.root, slot, from: $0.start, count: Self.rootPayload, into: buffer)
        }
        try file.write(buffer, count: isNew ? Self.blockSize : Self.rootSize, at: (2 + slot) * Self.blockSize)
    }

    // MARK: Stamps

    /// Reads the block with the stamp `wanted` from the pair of blocks at `block`; nil when neither block has this
    /// stamp.
    private func load(_ kind: PageSeal.Kind, _ number: Int, at block: Int, wanted: UInt64) throws(RealmError) -> Stamps?
    {
        let stamps = Stamps()
        guard wanted != 0 else { return stamps }
        guard try file.read(into: buffer, count: 2 * Self.blockSize, at: block * Self.blockSize) == 2 * Self.blockSize
        else { return nil }
        for slot in 0..<2 where PageSeal.stamp(buffer + slot * Self.blockSize) == wanted {
            guard seal.open(kind, number, buffer + slot * Self.blockSize, count: Self.payload, into: stamps.values)
            else {
                return nil
            }
            stamps.slot = slot
            stamps.stamp = wanted
            return stamps
        }
        return nil
    }

    func group(_ number: Int, _ root: Root) throws(RealmError) -> Stamps? {
        guard number < Self.rootStamps else {
            throw RealmError(
                .maximumFileSizeExceeded, "An encrypted file holds at most \(Self.rootStamps) GB", path: file.path)
        }
        if let stamps = groups[number], stamps.isChanged || stamps.stamp == root.stamps[number] { return stamps }
        let stamps = try load(.group, number, at: groupBlock(number), wanted: root.stamps[number])
        groups[number] = stamps
        return stamps
    }

    func table(_ number: Int, _ root: Root) throws(RealmError) -> Stamps? {
        if let stamps = tables[number], stamps.isChanged { return stamps }
        let wanted: UInt64
        if !released.isEmpty, let stamp = released[number] {
            wanted = stamp
        } else if root.isSmall {
            wanted = number < Self.rootStamps ? root.stamps[number] : 0
        } else {
            guard let group = try group(number / Self.fanOut, root) else { return nil }
            wanted = group.values[number % Self.fanOut]
        }
        if let stamps = tables[number], stamps.stamp == wanted { return stamps }
        let stamps = try load(.table, number, at: tableBlock(number), wanted: wanted)
        tables[number] = stamps
        return stamps
    }

    /// The table of stamps for a page. Its blocks may have been written twice since the root was read: then the root is
    /// read again.
    func table(ofPage page: Int) throws(RealmError) -> Stamps {
        var tries = 0
        while true {
            let root = try root()
            if let stamps = try table(page / Self.fanOut, root) { return stamps }
            guard changedTables.isEmpty, released.isEmpty else {
                throw damaged("a table of stamps does not authenticate")
            }
            known = nil
            tries = try self.root().sequence == root.sequence ? tries + 1 : 0
            guard tries < 3 else { throw damaged("a table of stamps (for page \(page)) does not authenticate") }
        }
    }
}
