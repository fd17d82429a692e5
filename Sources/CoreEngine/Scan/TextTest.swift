/// Tests a pattern of at least one byte against the strings of a leaf, directly in the bytes of the leaf, without
/// opening each string.
///
/// `TextTest` is a class, so that passing it changes only one reference count. It owns the memory of the pattern's
/// bytes.
final class TextTest {
    private let op: CompareOperator
    private let pattern: Pattern
    private let length: Int

    /// For each byte of the pattern: `letters` has the byte, in lower case when folded, and `cases` has the bit by
    /// which its two cases differ, or 0. A byte of a string matches when it equals the letter after this bit is set in
    /// it.
    private let letters: UnsafeMutableRawPointer, cases: UnsafeMutableRawPointer

    /// For comparisons by Unicode's rules: the pattern for values that are not ASCII. The other members are those of the
    /// folded pattern, for leaves that are.
    private let unicode: Pattern?

    /// Whether comparing bytes is enough: nothing is folded, or the pattern is ASCII only.
    private let isPlain: Bool

    /// Eight bytes of a plain pattern that most strings do not contain at that place: the last eight bytes, or all
    /// bytes of a shorter pattern.
    private let word: UInt64, wordCases: UInt64, wordMask: UInt64

    init?(_ op: CompareOperator, _ bytes: Bytes, folding: Folding) throws(RealmError) {
        guard op.isString || op == .equal || op == .notEqual else { return nil }
        let test: CompareOperator = op == .notEqual ? .equal : op
        let whole = try Pattern(test, bytes, folding: folding)
        guard !whole.bytes.isEmpty else { return nil }
        self.op = op
        unicode = folding.isSimple ? nil : whole
        pattern =
            folding.isSimple
            ? whole
            : try whole.bytes.withBytes { (folded) throws(RealmError) in
                try Pattern(test, folded, folding: folding.intersection(.cases))
            }
        let folds = folding.contains(.cases)
        length = pattern.bytes.count
        let lower = folds ? CaseMap.mapped(pattern.bytes, upper: false) : pattern.bytes
        let upper = folds ? CaseMap.mapped(pattern.bytes, upper: true) : pattern.bytes
        letters = .allocate(byteCount: length + 8, alignment: 8)
        cases = .allocate(byteCount: length + 8, alignment: 8)
        CMemory.zero(letters, length + 8)
        CMemory.zero(cases, length + 8)
        for i in 0..<length {
            cases.storeBytes(of: lower[i] ^ upper[i], toByteOffset: i, as: UInt8.self)
            letters.storeBytes(of: lower[i] | (lower[i] ^ upper[i]), toByteOffset: i, as: UInt8.self)
        }
        isPlain = !folds || pattern.bytes.allSatisfy { $0 < 0x80 }
        let at = max(0, length - 8)
        word = letters.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        wordCases = cases.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        wordMask = length >= 8 ? .max : (1 << UInt64(length * 8)) - 1
    }

    private init(_ other: TextTest, _ op: CompareOperator) {
        self.op = op
        (pattern, unicode) = (other.pattern, other.unicode)
        length = other.length
        letters = .allocate(byteCount: length + 8, alignment: 8)
        cases = .allocate(byteCount: length + 8, alignment: 8)
        CMemory.copy(letters, other.letters, length + 8)
        CMemory.copy(cases, other.cases, length + 8)
        isPlain = other.isPlain
        (word, wordCases, wordMask) = (other.word, other.wordCases, other.wordMask)
    }

    deinit {
        letters.deallocate()
        cases.deallocate()
    }

    /// The opposite test; only for equality.
    var negation: TextTest? {
        switch op {
        case .equal: TextTest(self, .notEqual)
        case .notEqual: TextTest(self, .equal)
        default: nil
        }
    }

    /// - Returns: whether the test supports the form of the leaf. If false, nothing was changed.
    func narrow(_ scan: ClusterScan, _ column: ColKey, _ ref: Ref, _ mask: RowMask) throws(RealmError) -> Bool {
        let store = scan.store
        let node = try LeafNodes.texts(store, ref)
        if !node.hasRefs {
            guard node.widthType == 1 else { return false }
            guard node.count >= scan.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            scan.learn(column, node.count &* node.width)
            if let unicode, !CMemory.isASCII(Bytes(start: node.payload, count: node.count &* node.width)) {
                try each(scan, unicode, mask) { row throws(RealmError) in try StringLeaf.getSmall(node, row) }
            } else {
                try small(scan, node, mask)
            }
            return true
        }
        if node.context { return false }
        let parts = try MediumLeaf.parts(store, node)
        guard parts.ends.count >= scan.count, parts.nulls.count >= scan.count else {
            throw .corrupt("string leaf is too short", at: ref.offset)
        }
        // Equality compares the lengths first and seldom reads the text.
        scan.learn(
            column, offsets: parts.ends.payloadSize, text: op == .equal || op == .notEqual ? 0 : parts.blob.count)
        if let unicode, !CMemory.isASCII(Bytes(start: parts.blob.payload, count: parts.blob.count)) {
            let leaf = try TextLeaf(store, ref, scan.count)
            try each(scan, unicode, mask) { row throws(RealmError) in try leaf.text(store, row) }
            return true
        }
        switch parts.ends.width {
        case 8: try medium(scan, parts, mask, UnsafePointer(parts.ends.payload.assumingMemoryBound(to: Int8.self)))
        case 16: try medium(scan, parts, mask, UnsafePointer(parts.ends.payload.assumingMemoryBound(to: Int16.self)))
        case 32: try medium(scan, parts, mask, UnsafePointer(parts.ends.payload.assumingMemoryBound(to: Int32.self)))
        default: return false
        }
        return true
    }

    /// Tests text by text, by Unicode's rules.
    private func each(
        _ scan: ClusterScan, _ pattern: Pattern, _ mask: RowMask, _ text: (Int) throws(RealmError) -> Bytes?
    ) throws(RealmError) {
        let negated = op == .notEqual
        var work = scan.store.byteWork, folded = UnicodeFold.Output()
        for row in 0..<scan.count where mask[row] != 0 {
            var hit = false
            if let text = try text(row) {
                try work.look(text.count)
                hit = try pattern.matches(text, &work, &folded)
            }
            if hit == negated { mask[row] = 0 }
        }
    }

    // MARK: Strings in slots of one width

    /// Narrows the mask by a leaf whose strings are in slots of one width.
    private func small(_ scan: ClusterScan, _ node: Node, _ mask: RowMask) throws(RealmError) {
        let width = node.width, count = scan.count
        let negated = op == .notEqual
        if length >= width {
            // The pattern is too long for every slot.
            if op.stringRule?.search != .wildcards {
                if !negated { mask.clear(count) }
                return
            }
        }
        if !pattern.folds, op == .equal || op == .notEqual {
            slots(node, count, negated, mask)
            return
        }
        if op == .contains {
            let found = scan.scratch()
            defer { scan.release(1) }
            found.clear(count)
            search(node.payload, width &* count) { at in
                let row = at / width
                // A shorter string ends before its slot does.
                let end =
                    width &- 1 &- Int(node.payload.load(fromByteOffset: row &* width &+ width &- 1, as: UInt8.self))
                if at &- row &* width &+ length <= end, matchesAt(node.payload + at) { found[row] = 1 }
            }
            mask.keep(found, count, negated: false)
            return
        }
        for row in 0..<count where mask[row] != 0 {
            guard let text = try StringLeaf.getSmall(node, row), try pattern.matches(text, scan.store) else {
                if !negated { mask[row] = 0 }
                continue
            }
            if negated { mask[row] = 0 }
        }
    }

    /// Finds the slots that hold exactly the pattern: its bytes, then zeros, then the number of unused bytes.
    private func slots(_ node: Node, _ count: Int, _ negated: Bool, _ mask: RowMask) {
        let width = node.width
        let unused = UInt8(truncatingIfNeeded: width &- 1 &- length)
        if width == 8 {
            let wanted = Int64(bitPattern: word & 0x00FF_FFFF_FFFF_FFFF | UInt64(unused) << 56)
            LeafLoops.within(
                UnsafePointer(node.payload.assumingMemoryBound(to: Int64.self)), count, wanted, wanted, negated, mask)
            return
        }
        let flip: UInt8 = negated ? 1 : 0
        for row in 0..<count {
            let slot = node.payload + row &* width
            var isSame =
                slot.load(fromByteOffset: width &- 1, as: UInt8.self) == unused
                && CMemory.compare(slot, letters, length) == 0
            var position = length
            while isSame && position < width &- 1 {
                isSame = slot.load(fromByteOffset: position, as: UInt8.self) == 0
                position &+= 1
            }
            mask[row] &= (isSame ? 1 : 0) ^ flip
        }
    }

    // MARK: Strings stored one after another

    /// Narrows the mask by a leaf whose strings are stored one after another.
    @inline(__always)
    private func medium<T: FixedWidthInteger>(
        _ scan: ClusterScan, _ parts: MediumLeaf.Parts, _ mask: RowMask, _ ends: UnsafePointer<T>
    ) throws(RealmError) {
        let count = scan.count, bytes = parts.blob.payload
        // Each string has at least its terminating zero and lies within the blob. So no end may be negative, nor may
        // the difference of two neighbouring ends minus one.
        var signs = ends[0] | (ends[0] &- 1)
        for i in 1..<max(count, 1) { signs |= ends[i] | (ends[i] &- ends[i &- 1] &- 1) }
        let size = Int(truncatingIfNeeded: ends[count &- 1])
        guard signs >= 0, size <= parts.blob.count else {
            throw .corrupt("string offsets out of order", at: parts.ends.ref.offset)
        }
        let negated = op == .notEqual
        // A long pattern is searched for in each string separately: the blocks below would compare it at too many
        // positions.
        let isSearched = op == .contains && length < LongSearch.shortest
        if isSearched || (isPlain && (negated || op == .equal || (op == .beginsWith && size >= 8))) {
            let found = scan.scratch()
            defer { scan.release(1) }
            switch op {
            case .contains:
                found.clear(count)
                var row = 0
                search(bytes, size) { at in
                    while Int(truncatingIfNeeded: ends[row]) <= at { row &+= 1 }
                    if at &+ length < Int(truncatingIfNeeded: ends[row]), matchesAt(bytes + at) { found[row] = 1 }
                }
            case .beginsWith: beginnings(bytes, size, ends, count, found)
            default: wholes(bytes, ends, count, found)
            }
            mask.keep(found, count, negated: negated)
            return
        }
        var start = 0, work = scan.store.byteWork
        for row in 0..<count {
            let end = Int(truncatingIfNeeded: ends[row])
            if mask[row] != 0 {
                try work.look(end &- start)
                var hit = parts.nulls.get(row) == 0
                if hit { hit = try pattern.matches(Bytes(start: bytes + start, count: end &- start &- 1), &work) }
                if hit == negated { mask[row] = 0 }
            }
            start = end
        }
    }

    /// Marks the strings that equal the pattern: first those of its length, without reading the text, then those whose
    /// bytes match.
    @inline(__always)
    private func wholes<T: FixedWidthInteger>(
        _ bytes: UnsafeMutableRawPointer, _ ends: UnsafePointer<T>, _ count: Int, _ found: RowMask
    ) {
        guard let wanted = T(exactly: length &+ 1) else { return found.clear(count) }
        let marks = found.bytes
        marks[0] = ends[0] == wanted ? 1 : 0
        for i in 1..<max(count, 1) { marks[i] = ends[i] &- ends[i &- 1] == wanted ? 1 : 0 }
        confirm(found, count) { row in matchesAt(bytes + (Int(truncatingIfNeeded: ends[row]) &- length &- 1)) }
    }

    /// Marks the strings that start with the pattern: first those with the last eight bytes of the pattern in place,
    /// then those of them whose other bytes match.
    @inline(__always)
    private func beginnings<T: FixedWidthInteger>(
        _ bytes: UnsafeMutableRawPointer, _ size: Int, _ ends: UnsafePointer<T>, _ count: Int, _ found: RowMask
    ) {
        // Near the end of the text, load the last eight bytes and shift them, so that the load stays in bounds. A
        // string that is too short is ruled out by its length, whatever the word.
        let last = max(0, length &- 8), limit = size &- 8
        var row = count
        while row > 0, case let start = row == 1 ? 0 : Int(truncatingIfNeeded: ends[row &- 2]), start &+ last > limit {
            row &-= 1
            let shift = UInt64(truncatingIfNeeded: (start &+ last &- limit) &* 8)
            let loaded = bytes.loadUnaligned(fromByteOffset: limit, as: UInt64.self) &>> shift
            found[row] =
                (((loaded | wordCases) ^ word) & wordMask == 0 ? 1 : 0)
                & (Int(truncatingIfNeeded: ends[row]) &- start > length ? 1 : 0)
        }
        Self.words(bytes + last, ends, row, (word, wordCases, wordMask), length, found.bytes)
        guard length > 8 else { return }
        confirm(found, count) { row in matchesAt(bytes + (row == 0 ? 0 : Int(truncatingIfNeeded: ends[row &- 1]))) }
    }

    /// Marks the strings that have a word in place and more than `length` bytes, including the terminating zero. Not
    /// inlined, because it needs every register.
    @inline(never)
    private static func words<T: FixedWidthInteger>(
        _ bytes: UnsafeMutableRawPointer, _ ends: UnsafePointer<T>, _ count: Int,
        _ word: (bits: UInt64, cases: UInt64, mask: UInt64),
        _ length: Int, _ marks: UnsafeMutablePointer<UInt8>
    ) {
        var start = 0
        for row in 0..<count {
            let end = Int(truncatingIfNeeded: ends[row])
            let loaded = bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)
            marks[row] =
                (((loaded | word.cases) ^ word.bits) & word.mask == 0 ? 1 : 0) & (end &- start > length ? 1 : 0)
            start = end
        }
    }

    /// Calls `holds` for each marked row, of which there are few, and clears the row when it returns false.
    @inline(__always) private func confirm(_ found: RowMask, _ count: Int, _ holds: (Int) -> Bool) {
        var row = 0
        while row < count {
            if row &+ 8 <= count, UnsafeRawPointer(found.bytes + row).loadUnaligned(as: UInt64.self) == 0 {
                row &+= 8
                continue
            }
            if found[row] != 0 && !holds(row) { found[row] = 0 }
            row &+= 1
        }
    }

    /// Whether the pattern matches at `at`, where at least `length` bytes must be readable.
    @inline(__always) private func matchesAt(_ at: UnsafeMutableRawPointer) -> Bool {
        if !isPlain { return pattern.matches(Bytes(start: at, count: length), at: 0) }
        if length < 8 {
            for i in 0..<length {
                let byte = at.load(fromByteOffset: i, as: UInt8.self) | cases.load(fromByteOffset: i, as: UInt8.self)
                if byte != letters.load(fromByteOffset: i, as: UInt8.self) { return false }
            }
            return true
        }
        var position = 0
        while position &+ 8 < length {
            let loaded =
                at.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                | cases.load(fromByteOffset: position, as: UInt64.self)
            if loaded != letters.load(fromByteOffset: position, as: UInt64.self) { return false }
            position &+= 8
        }
        return at.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self) | wordCases == word
    }

    /// Calls `candidate` in ascending order with each position where the first and the last byte of the pattern match.
    @inline(__always) private func search(_ hay: UnsafeMutableRawPointer, _ size: Int, _ candidate: (Int) -> Void) {
        let last = size &- length
        guard last >= 0 else { return }
        // The two cases of a byte differ by at most one bit.
        let (firstLetter, firstCase) = (letters.load(as: UInt8.self), cases.load(as: UInt8.self))
        let (lastLetter, lastCase) = (
            letters.load(fromByteOffset: length &- 1, as: UInt8.self),
            cases.load(fromByteOffset: length &- 1, as: UInt8.self)
        )
        let p = UnsafePointer(hay.assumingMemoryBound(to: UInt8.self)), q = p + (length &- 1)
        typealias Block = SIMD32<UInt8>
        let firstLower = Block(repeating: firstLetter), lastLower = Block(repeating: lastLetter),
            firstUpper = Block(repeating: firstLetter ^ firstCase),
            lastUpper = Block(repeating: lastLetter ^ lastCase)
        var at: Int
        if firstCase == 0 && lastCase == 0 {
            at = blocks(p, q, last, { x, y in (x .== firstLower) .& (y .== lastLower) }, candidate)
        } else if lastCase == 0 {
            at = blocks(
                p, q, last, { x, y in ((x .== firstLower) .| (x .== firstUpper)) .& (y .== lastLower) }, candidate)
        } else {
            at = blocks(
                p, q, last,
                { x, y in ((x .== firstLower) .| (x .== firstUpper)) .& ((y .== lastLower) .| (y .== lastUpper)) },
                candidate)
        }
        while at <= last {
            if p[at] | firstCase == firstLetter && q[at] | lastCase == lastLetter { candidate(at) }
            at &+= 1
        }
    }

    /// Searches as many positions as fill whole blocks. Returns the next position.
    @inline(__always)
    private func blocks(
        _ p: UnsafePointer<UInt8>, _ q: UnsafePointer<UInt8>, _ last: Int,
        _ fits: (SIMD32<UInt8>, SIMD32<UInt8>) -> SIMDMask<SIMD32<Int8>>, _ candidate: (Int) -> Void
    ) -> Int {
        var at = 0
        while at &+ 31 <= last {
            let x = UnsafeRawPointer(p + at).loadUnaligned(as: SIMD32<UInt8>.self)
            let y = UnsafeRawPointer(q + at).loadUnaligned(as: SIMD32<UInt8>.self)
            let words = unsafeBitCast(fits(x, y), to: SIMD4<UInt64>.self)
            if words[0] | words[1] | words[2] | words[3] != 0 {
                // One bit for each byte.
                var bits = pack(words[0]) | pack(words[1]) << 8 | pack(words[2]) << 16 | pack(words[3]) << 24
                while bits != 0 {
                    candidate(at &+ bits.trailingZeroBitCount)
                    bits &= bits &- 1
                }
            }
            at &+= 32
        }
        return at
    }

    /// Packs the lowest bits of eight bytes side by side.
    @inline(__always) private func pack(_ word: UInt64) -> UInt64 {
        ((word & 0x0101_0101_0101_0101) &* 0x0102_0408_1020_4080) >> 56
    }
}
