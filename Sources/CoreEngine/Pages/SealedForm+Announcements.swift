/// Announcements: written by a commit before its root record, so that a torn or lost root record can be replaced.
/// Layout: docs/security.md §4.
extension SealedForm {
    /// Whether the announcement is still in the blocks of the root records, which are in the buffer.
    func isAnnounced(_ announced: Announced) -> Bool {
        PageSeal.stamp(buffer + Int(announced.root.sequence & 1) * Self.blockSize + Self.rootSize) == announced.stamp
    }

    private static func rootBlock(_ sequence: UInt64) -> Int { (2 + Int(sequence & 1)) * blockSize }

    /// Announces the new root record and the new pages below it, behind the root record that it will replace. With
    /// `runs` nil, removes an announcement that an earlier commit may have left there.
    func announce(_ root: Root, _ runs: [Range<Int>]?) throws(RealmError) {
        let at = Self.rootBlock(root.sequence)
        let end = Self.rootSize + Self.announcementSize
        CMemory.zero(buffer, end)
        _ = try file.read(into: buffer, count: end, at: at)
        let isUsed = !CMemory.isZero(buffer + Self.rootSize, Self.announcementSize)
        replaced = ([UInt8](UnsafeRawBufferPointer(start: buffer, count: end)), at)
        CMemory.zero(buffer, Self.announcementSize)
        if let runs {
            var plain = [UInt8](repeating: 0, count: Self.announcementPayload)
            plain.withUnsafeMutableBytes { bytes in
                encode(root, into: bytes.start)
                bytes.storeBytes(of: UInt64(runs.count).littleEndian, toByteOffset: Self.rootPayload, as: UInt64.self)
                for (i, run) in runs.enumerated() {
                    let entry = UInt64(run.lowerBound) | UInt64(run.count) << 32
                    bytes.storeBytes(
                        of: entry.littleEndian, toByteOffset: Self.rootPayload + 8 + i * 8, as: UInt64.self)
                }
                _ = seal.seal(
                    .announcement, Int(root.sequence & 1), from: bytes.start, count: bytes.count, into: buffer)
            }
        } else if !isUsed {
            return
        }
        try file.write(buffer, count: Self.announcementSize, at: at + Self.rootSize)
    }

    /// The announced root record that follows `root`, if everything that it names is on the disk.
    func successor(of root: Root) throws(RealmError) -> Announced? {
        var plain = [UInt8](repeating: 0, count: Self.announcementPayload)
        let at = Self.rootBlock(root.sequence &+ 1)
        guard try file.read(into: buffer, count: Self.announcementSize, at: at + Self.rootSize) == Self.announcementSize
        else { return nil }
        let opened = plain.withUnsafeMutableBytes { bytes -> (Root, Int)? in
            guard
                seal.open(
                    .announcement, Int((root.sequence &+ 1) & 1), buffer, count: bytes.count, into: bytes.start),
                let next = decode(bytes.start),
                next.sequence == root.sequence &+ 1,
                case let count = bytes.loadUnaligned(fromByteOffset: Self.rootPayload, as: UInt64.self).littleEndian,
                count <= UInt64(Self.announcedRuns)
            else { return nil }
            return (next, Int(count))
        }
        let stamp = PageSeal.stamp(buffer)
        guard let (next, count) = opened, try file.size() >= end(of: next.pageCount) * Self.blockSize else {
            return nil
        }
        let memory = try HiddenMemory(Self.payload)
        let page = memory.base
        defer { withExtendedLifetime(memory) {} }
        var runs: [Range<Int>] = []
        for i in 0..<count {
            let entry = plain.withUnsafeBytes {
                $0.loadUnaligned(fromByteOffset: Self.rootPayload + 8 + i * 8, as: UInt64.self).littleEndian
            }
            let first = Int(entry & 0xFFFF_FFFF), pages = Int(entry >> 32)
            guard first + pages <= next.pageCount else { return nil }
            for number in first..<first + pages {
                guard let table = try table(number / Self.fanOut, next),
                    try read(number, table.values[number % Self.fanOut], into: page) == nil
                else { return nil }
            }
            runs.append(first..<first + pages)
        }
        return Announced(root: next, stamp: stamp, runs: runs)
    }

    func findSuccessor() throws(RealmError) -> UInt64? {
        known = nil
        guard let found = try lastSuccessor(of: try root()) else { return nil }
        accepted = found
        known = found.root
        return found.root.sequence
    }

    /// Follows the announced root records after `root`. Returns the last one, or the first that `isWanted` accepts; nil
    /// if no announcement follows, and `root` itself was not taken from an announcement.
    func lastSuccessor(of root: Root, until isWanted: (Root) -> Bool = { _ in false }) throws(RealmError) -> Announced?
    {
        var found = accepted.flatMap { $0.root.sequence == root.sequence ? $0 : nil }
        for _ in 0..<Self.chain {
            if let found, isWanted(found.root) { break }
            guard var next = try successor(of: found?.root ?? root) else { break }
            next.runs = (found?.runs ?? []) + next.runs
            found = next
        }
        return found
    }

    func expect(_ topRef: UInt64) {
        expected = topRef
        if let known, known.header.liveTopRef != topRef, changedTables.isEmpty { self.known = nil }
    }

    func rewriteSuccessor() throws(RealmError) {
        guard let accepted else { return }
        for run in accepted.runs {
            // Pages of one table are adjacent on disk.
            var page = run.lowerBound
            while page < run.upperBound {
                let end = min(run.upperBound, (page / Self.fanOut + 1) * Self.fanOut)
                try file.rewrite(pageBlock(page) * Self.blockSize, count: (end - page) * Self.blockSize)
                try file.rewrite(tableBlock(page / Self.fanOut) * Self.blockSize, count: 2 * Self.blockSize)
                try file.rewrite(
                    groupBlock(page / Self.fanOut / Self.fanOut) * Self.blockSize, count: 2 * Self.blockSize)
                page = end
            }
        }
        for sequence: UInt64 in 0..<Self.chain {
            try file.rewrite(Self.rootBlock(sequence) + Self.rootSize, count: Self.announcementSize)
        }
    }

    func adoptSuccessor() throws(RealmError) {
        guard let accepted else { return }
        try writeRoot(accepted.root)
        self.accepted = nil
        known = nil
    }

    func withdraw(_ header: FileHeader) throws(RealmError) {
        if let replaced {
            // The root record is restored and flushed first: while it may be torn, the announcement behind it replaces
            // it.
            for part in [0..<Self.rootSize, Self.rootSize..<replaced.bytes.count] {
                try replaced.bytes.withBytes { (raw) throws(RealmError) in
                    if let start = raw.baseAddress {
                        try file.write(start + part.lowerBound, count: part.count, at: replaced.at + part.lowerBound)
                    }
                }
                if part.lowerBound == 0 { try file.synchronizeData() }
            }
        }
        forget()
        accepted = nil
        // The root record in force may never have been flushed, and a failed flush may have dropped it: its
        // announcement was flushed.
        var root = try root()
        if root.header != header, let next = try successor(of: root) { root = next.root }
        guard root.header == header else { throw damaged("its newest root record was lost") }
        try writeRoot(root)
        expected = header.liveTopRef
        known = nil
    }

    func rewriteHeader() throws(RealmError) {
        let root = try root()
        if let accepted, accepted.root.sequence == root.sequence {
            // Until all of it is certainly on the disk, the tables that the previous root record names must stay.
            try rewriteSuccessor()
            try file.synchronizeData()
        }
        try writeRoot(root)
    }

    func rewriteFront() throws(RealmError) {
        try rewriteHeader()
        try file.rewrite(0, count: Self.firstGroup * Self.blockSize)
    }
}
