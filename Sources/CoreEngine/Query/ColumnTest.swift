/// A single-valued property against a constant, tested a leaf at a time over the leaf's own bytes.
///
/// Invariants
/// 1. `narrow` clears exactly the rows for which the condition that made the test says no in `matches`.
/// 2. Every leaf is checked against the number of rows before its loop runs.
enum ColumnTest {
    /// Integers, booleans (0, 1; NULL is 3) and links (key + 1; NULL is 0) as they are stored.
    case integers(Int64, Int64, negated: Bool)
    /// Integers with NULL, which lies outside every range.
    case nullableIntegers(Int64, Int64, negated: Bool)
    case nullInteger(negated: Bool)
    case doubles(Double, Double, negated: Bool)
    /// Up to a bound, and NaN, but not NULL; `empty`: NaN only.
    case doublesOrNaN(Double, empty: Bool)
    case floats(Float, Float, negated: Bool)
    case text(TextTest)

    /// nil: rows are tested one by one. `ieee`: NaN compares by IEEE 754.
    init?(_ kind: LeafKind, _ op: CompareOperator, _ constant: Mixed, folding: Bool, ieee: Bool) {
        let negated = op == .notEqual
        if op.isString || folding || kind == .string {
            guard kind == .string, case .string(let b) = constant, b.count > 0, let t = TextTest(op, b, folding: folding) else { return nil }
            self = .text(t)
            return
        }
        switch (kind, constant) {
        case (.int, .int(let c)):
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .integers(a, b, negated: negated)
        case (.nullableInt, .int(let c)):
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .nullableIntegers(a, b, negated: negated)
        case (.nullableInt, .null) where op == .equal || negated: self = .nullInteger(negated: negated)
        case (.bool, .bool(let c)) where op == .equal || negated:
            self = c ? .integers(1, 2, negated: negated) : .integers(0, 0, negated: negated)
        case (.bool, .null) where op == .equal || negated: self = .integers(3, 3, negated: negated)
        case (.link, .null) where op == .equal || negated: self = .integers(.min, 0, negated: negated)
        case (.link, .typedLink(_, let k)) where (op == .equal || negated) && k.raw >= 0 && k.raw < .max:
            self = .integers(k.raw + 1, k.raw + 1, negated: negated)
        case (.int, .double(let c)), (.nullableInt, .double(let c)):
            guard let (a, b) = Self.range(op, integer: c) else { return nil }
            self = kind == .int ? .integers(a, b, negated: negated) : .nullableIntegers(a, b, negated: negated)
        case (.double, .int(let i)) where !ieee && i.magnitude <= 1 << 53: self.init(double: op, Double(i))
        case (.double, .double(let c)) where !ieee && !c.isNaN: self.init(double: op, c)
        case (.double, .double(let c)) where ieee:
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .doubles(a, b, negated: negated)
        case (.float, .float(let c)) where ieee:
            guard let (a, b) = Self.range(op, c) else { return nil }
            self = .floats(a, b, negated: negated)
        default: return nil
        }
    }
    /// NaN is less than every number.
    private init?(double op: CompareOperator, _ c: Double) {
        guard let (a, b) = Self.range(op, c) else { return nil }
        self = op == .less || op == .lessEqual ? .doublesOrNaN(a > b ? -.infinity : b, empty: a > b) : .doubles(a, b, negated: op == .notEqual)
    }
    /// Integers that compare so with a number that need not be one.
    private static func range(_ op: CompareOperator, integer c: Double) -> (Int64, Int64)? {
        guard c.magnitude < 0x1p53 else { return nil }
        let down = Int64(c.rounded(.down)), up = Int64(c.rounded(.up))
        switch op {
        case .equal, .notEqual, .in: return down == up ? (up, up) : (1, 0)
        case .less: return (.min, up - 1)
        case .lessEqual: return (.min, down)
        case .greater: return (down + 1, .max)
        case .greaterEqual: return (up, .max)
        default: return nil
        }
    }
    private static func range(_ op: CompareOperator, _ c: Int64) -> (Int64, Int64)? {
        switch op {
        case .equal, .notEqual, .in: (c, c)
        case .less: c == .min ? (1, 0) : (.min, c - 1)
        case .lessEqual: (.min, c)
        case .greater: c == .max ? (1, 0) : (c + 1, .max)
        case .greaterEqual: (c, .max)
        default: nil
        }
    }
    private static func range<F: BinaryFloatingPoint>(_ op: CompareOperator, _ c: F) -> (F, F)? {
        if c.isNaN { return (1, 0) }
        switch op {
        case .equal, .notEqual, .in: return (c, c)
        case .less: return c == -.infinity ? (1, 0) : (-.infinity, c.nextDown)
        case .lessEqual: return (-.infinity, c)
        case .greater: return c == .infinity ? (1, 0) : (c.nextUp, .infinity)
        case .greaterEqual: return (c, .infinity)
        default: return nil
        }
    }
    /// The rows that this one clears.
    var negation: ColumnTest? {
        switch self {
        case .integers(let a, let b, let n): .integers(a, b, negated: !n)
        case .nullableIntegers(let a, let b, let n): .nullableIntegers(a, b, negated: !n)
        case .nullInteger(let n): .nullInteger(negated: !n)
        case .doubles(let a, let b, let n): .doubles(a, b, negated: !n)
        case .floats(let a, let b, let n): .floats(a, b, negated: !n)
        case .text(let t): t.negation.map { .text($0) }
        case .doublesOrNaN: nil
        }
    }
    /// One test for both, where they are ranges over the same leaf.
    func intersected(_ other: ColumnTest) -> ColumnTest? {
        switch (self, other) {
        case (.integers(let a, let b, false), .integers(let c, let d, false)): .integers(max(a, c), min(b, d), negated: false)
        case (.nullableIntegers(let a, let b, false), .nullableIntegers(let c, let d, false)): .nullableIntegers(max(a, c), min(b, d), negated: false)
        case (.doubles(let a, let b, false), .doubles(let c, let d, false)): .doubles(max(a, c), min(b, d), negated: false)
        case (.doubles(let a, let b, false), .doublesOrNaN(let d, false)), (.doublesOrNaN(let d, false), .doubles(let a, let b, false)): .doubles(a, min(b, d), negated: false)
        case (.floats(let a, let b, false), .floats(let c, let d, false)): .floats(max(a, c), min(b, d), negated: false)
        default: nil
        }
    }

    /// - Returns: whether the leaf is of a form that the test knows; if not, nothing was changed.
    func narrow(_ scan: ClusterScan, _ column: ColKey, _ mask: RowMask) throws(RealmError) -> Bool {
        let ref = try scan.columnLeaf(column), store = scan.table.store, count = scan.count
        func checked(_ n: Node, _ needed: Int) throws(RealmError) -> Node {
            guard n.count >= needed else { throw .corrupt("leaf is too short", at: ref.offset) }
            return n
        }
        switch self {
        case .integers(let low, let high, let negated):
            LeafLoops.within(try checked(try store.integers(ref), count), 0, count, low, high, negated: negated, mask, scan.unpacked)
        case .nullableIntegers(let low, let high, let negated):
            let n = try checked(try store.integers(ref), count + 1)
            let null = n.get(0)
            if null < low || null > high {
                LeafLoops.within(n, 1, count, low, high, negated: negated, mask, scan.unpacked)
            } else {
                let hits = scan.scratch()
                defer { scan.release(1) }
                hits.fill(count)
                LeafLoops.within(n, 1, count, low, high, negated: false, hits, scan.unpacked)
                LeafLoops.within(n, 1, count, null, null, negated: true, hits, scan.unpacked)
                mask.keep(hits, count, negated: negated)
            }
        case .nullInteger(let negated):
            let n = try checked(try store.integers(ref), count + 1)
            LeafLoops.within(n, 1, count, n.get(0), n.get(0), negated: negated, mask, scan.unpacked)
        case .doubles(let low, let high, let negated):
            LeafLoops.doubles(try checked(try FloatLeaf.node(store, ref, width: 8), count), count, low, high, negated: negated, mask)
        case .doublesOrNaN(let high, let empty):
            LeafLoops.doublesOrNaN(try checked(try FloatLeaf.node(store, ref, width: 8), count), count, high, empty: empty, mask)
        case .floats(let low, let high, let negated):
            LeafLoops.floats(try checked(try FloatLeaf.node(store, ref, width: 4), count), count, low, high, negated: negated, mask)
        case .text(let test): return try test.narrow(scan, ref, mask)
        }
        return true
    }
}

/// A pattern of at least one byte against the strings of a leaf, found in the leaf's bytes without opening each string.
struct TextTest {
    private var op: CompareOperator
    private let pattern: Pattern
    private let length: Int
    /// First and last eight bytes of the pattern, when it has as many.
    private let head: UInt64, tail: UInt64

    init?(_ op: CompareOperator, _ b: Bytes, folding: Bool) {
        switch op {
        case .equal, .notEqual, .beginsWith, .endsWith, .contains, .like: break
        default: return nil
        }
        self.op = op
        pattern = Pattern(op == .notEqual ? .equal : op, b, folding: folding)
        length = b.count
        head = b.count >= 8 ? UInt64(littleEndian: UnsafeRawPointer(b.baseAddress!).loadUnaligned(as: UInt64.self)) : 0
        tail = b.count >= 8 ? UInt64(littleEndian: UnsafeRawPointer(b.baseAddress! + (b.count - 8)).loadUnaligned(as: UInt64.self)) : 0
    }

    /// Of equality only.
    var negation: TextTest? {
        switch op {
        case .equal: TextTest(self, .notEqual)
        case .notEqual: TextTest(self, .equal)
        default: nil
        }
    }
    private init(_ other: TextTest, _ op: CompareOperator) {
        self = other
        self.op = op
    }

    func narrow(_ scan: ClusterScan, _ ref: Ref, _ mask: RowMask) throws(RealmError) -> Bool {
        let store = scan.table.store
        let n = try store.node(ref)
        if !n.hasRefs {
            guard n.widthType == 1 else { return false }
            guard n.count >= scan.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
            try small(scan, n, mask)
            return true
        }
        if n.context { return false }
        let p = try MediumLeaf.parts(store, n)
        guard p.ends.count >= scan.count, p.nulls.count >= scan.count else { throw .corrupt("string leaf is too short", at: ref.offset) }
        switch p.ends.width {
        case 8: try medium(scan, p, mask, UnsafePointer(p.ends.payload.assumingMemoryBound(to: Int8.self)))
        case 16: try medium(scan, p, mask, UnsafePointer(p.ends.payload.assumingMemoryBound(to: Int16.self)))
        case 32: try medium(scan, p, mask, UnsafePointer(p.ends.payload.assumingMemoryBound(to: Int32.self)))
        default: return false
        }
        return true
    }

    // MARK: Strings in slots of one width

    private func small(_ scan: ClusterScan, _ n: Node, _ mask: RowMask) throws(RealmError) {
        let w = n.width, count = scan.count
        let negated = op == .notEqual
        if length >= w {
            // Too long for every slot.
            if op != .like {
                if !negated { mask.clear(count) }
                return
            }
        }
        if !pattern.folds, op == .equal || op == .notEqual {
            // The slot that holds the string: its bytes, zeros, and the number of unused bytes.
            var slot: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0, 0)
            withUnsafeMutableBytes(of: &slot) { s in
                guard w <= 64 else { return }
                for i in 0..<length { s[i] = pattern.bytes[i] }
                s[w - 1] = UInt8(w - 1 - length)
                let raw = s.baseAddress!
                switch w {
                case 8: LeafLoops.within(UnsafePointer(n.payload.assumingMemoryBound(to: Int64.self)), count, raw.load(as: Int64.self), raw.load(as: Int64.self), negated, mask)
                case 4:
                    let v = Int64(raw.load(as: Int32.self))
                    LeafLoops.within(UnsafePointer(n.payload.assumingMemoryBound(to: Int32.self)), count, v, v, negated, mask)
                case 2:
                    let v = Int64(raw.load(as: Int16.self))
                    LeafLoops.within(UnsafePointer(n.payload.assumingMemoryBound(to: Int16.self)), count, v, v, negated, mask)
                default:
                    let flip: UInt8 = negated ? 1 : 0
                    for i in 0..<count { mask[i] &= (Platform.compare(n.payload + i &* w, raw, w) == 0 ? 1 : 0) ^ flip }
                }
            }
            return
        }
        if op == .contains {
            let found = scan.scratch()
            defer { scan.release(1) }
            found.clear(count)
            search(n.payload, w &* count) { at in
                let row = at / w
                // A shorter string ends before the slot does.
                let end = w &- 1 &- Int(n.payload.load(fromByteOffset: row &* w &+ w &- 1, as: UInt8.self))
                if at &- row &* w &+ length <= end, matchesAt(n.payload + at) { found[row] = 1 }
            }
            mask.keep(found, count, negated: false)
            return
        }
        for row in 0..<count where mask[row] != 0 {
            guard let b = try StringLeaf.getSmall(n, row), test(b) else {
                if !negated { mask[row] = 0 }
                continue
            }
            if negated { mask[row] = 0 }
        }
    }

    // MARK: Strings one after the other

    @inline(__always)
    private func medium<T: FixedWidthInteger>(_ scan: ClusterScan, _ p: MediumLeaf.Parts, _ mask: RowMask, _ ends: UnsafePointer<T>) throws(RealmError) {
        let count = scan.count, size = p.blob.count, bytes = p.blob.payload
        let negated = op == .notEqual
        if op == .contains {
            let found = scan.scratch()
            defer { scan.release(1) }
            found.clear(count)
            var row = 0
            search(bytes, size) { at in
                while row < count, Int(truncatingIfNeeded: ends[row]) <= at { row &+= 1 }
                if row < count, at &+ length < Int(truncatingIfNeeded: ends[row]), matchesAt(bytes + at) { found[row] = 1 }
            }
            mask.keep(found, count, negated: false)
            return
        }
        let isPlain = !pattern.folds && length >= 8
        let exact = op == .equal || op == .notEqual
        var start = 0
        if isPlain && (exact || op == .beginsWith) {
            // The last eight bytes tell most strings apart; the whole is compared only when they agree.
            let flip: UInt8 = negated ? 1 : 0
            let last = length &- 8
            for row in 0..<count {
                let end = Int(truncatingIfNeeded: ends[row])
                guard start >= 0, end > start, end <= size else { throw .corrupt("string offsets out of order", at: p.ends.ref.offset) }
                let n = end &- start &- 1
                var hit: UInt8 = 0
                if exact ? n == length : n >= length, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start &+ last, as: UInt64.self)) == tail,
                    matchesAt(bytes + start) { hit = 1 }
                mask[row] &= hit ^ flip
                start = end
            }
            return
        }
        for row in 0..<count {
            let end = Int(truncatingIfNeeded: ends[row])
            guard start >= 0, end > start, end <= size else { throw .corrupt("string offsets out of order", at: p.ends.ref.offset) }
            if mask[row] != 0 {
                let isNull = p.nulls.get(row) != 0
                let hit = !isNull && test(Bytes(start: bytes + start, count: end &- start &- 1))
                if hit == negated { mask[row] = 0 }
            }
            start = end
        }
    }

    @inline(__always) private func test(_ b: Bytes) -> Bool { pattern.matches(b) }
    /// The pattern stands at `at`, where there is room for it.
    @inline(__always) private func matchesAt(_ at: UnsafeMutableRawPointer) -> Bool {
        pattern.folds ? pattern.matches(Bytes(start: at, count: length), at: 0) : pattern.bytes.withUnsafeBytes { Platform.compare($0.baseAddress, at, length) == 0 }
    }
    /// Calls `candidate` for the positions where the first and the last byte of the pattern stand, ascending.
    @inline(__always) private func search(_ hay: UnsafeMutableRawPointer, _ size: Int, _ candidate: (Int) -> Void) {
        let last = size &- length
        guard last >= 0 else { return }
        let (first1, first2, last1, last2) = pattern.edges
        let p = UnsafePointer(hay.assumingMemoryBound(to: UInt8.self)), q = p + (length &- 1)
        var at = 0
        typealias Block = SIMD32<UInt8>
        let a = Block(repeating: first1), b = Block(repeating: first2), c = Block(repeating: last1), d = Block(repeating: last2)
        while at &+ 31 <= last {
            let x = UnsafeRawPointer(p + at).loadUnaligned(as: Block.self), y = UnsafeRawPointer(q + at).loadUnaligned(as: Block.self)
            let hits = ((x .== a) .| (x .== b)) .& ((y .== c) .| (y .== d))
            let bits = unsafeBitCast(hits, to: SIMD4<UInt64>.self)
            if bits[0] | bits[1] | bits[2] | bits[3] != 0 {
                for i in 0..<4 {
                    var word = bits[i]
                    while word != 0 {
                        let byte = word.trailingZeroBitCount >> 3
                        candidate(at &+ i &* 8 &+ byte)
                        word &= ~(0xFF << UInt64(byte &* 8))
                    }
                }
            }
            at &+= 32
        }
        while at <= last {
            if (p[at] == first1 || p[at] == first2) && (q[at] == last1 || q[at] == last2) { candidate(at) }
            at &+= 1
        }
    }
}
