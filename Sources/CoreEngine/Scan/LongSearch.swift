/// Finds a long pattern in bytes, in time linear in both: the "two-way" algorithm of Crochemore and Perrin (1991). The
/// pattern is cut into two parts at a critical position, where its local period equals its period. The right part is
/// compared forwards, then the left part backwards. Each mismatch moves the pattern forward by as many bytes as were
/// compared.
///
/// Short patterns do not need it: trying them at each position costs bounded time for each byte.
struct LongSearch {
    /// Patterns with fewer bytes are tried at each position instead.
    static let shortest = 33

    /// The pattern, with letters in lower case when `folds` is set.
    private let letters: [UInt8]
    private let folds: Bool

    /// The index where the right part begins.
    private let cut: Int

    /// The number of bytes that the pattern moves forward when its right part matches and its left part does not.
    private let step: Int

    /// Whether `step` is the period of the whole pattern. If so, the overlap that matched before a move still matches
    /// after it.
    private let isPeriodic: Bool

    /// - Parameters:
    ///   - pattern: at least one byte; valid UTF-8 when `folds` is set, so that the bytes of a letter alone decide its
    ///     case.
    ///   - folds: whether letters are folded, by the rules of `CaseMap`.
    init(_ pattern: [UInt8], folds: Bool) {
        letters = folds ? CaseMap.mapped(pattern, upper: false) : pattern
        self.folds = folds
        let count = letters.count
        let forwards = Self.largestSuffix(letters) { $0 < $1 }, backwards = Self.largestSuffix(letters) { $0 > $1 }
        let (start, period) = forwards.start > backwards.start ? forwards : backwards
        cut = start
        isPeriodic = start + period <= count && letters[0..<start] == letters[period..<start + period]
        step = isPeriodic ? period : max(start, count - start) + 1
    }

    /// The largest suffix by the given order of bytes, and its period.
    private static func largestSuffix(_ pattern: [UInt8], _ less: (UInt8, UInt8) -> Bool) -> (start: Int, period: Int) {
        var start = 0, candidate = 1, length = 0, period = 1
        while candidate + length < pattern.count {
            let new = pattern[candidate + length], old = pattern[start + length]
            if new == old {
                length += 1
                if length == period {
                    candidate += period
                    length = 0
                }
            } else if less(new, old) {
                candidate += length + 1
                length = 0
                period = candidate - start
            } else {
                start = candidate
                candidate = start + 1
                length = 0
                period = 1
            }
        }
        return (start, period)
    }

    /// The first position at or after `start` where the pattern matches in `value`.
    func find(in value: Bytes, from start: Int, _ work: inout ByteWork) throws(RealmError) -> Int? {
        guard let base = value.baseAddress, start <= value.count - letters.count else { return nil }
        let bytes = base.assumingMemoryBound(to: UInt8.self)
        return try folds
            ? search(value.count, start, &work) { Self.folded(bytes, $0) }
            : search(value.count, start, &work) { bytes[$0] }
    }

    /// The byte at `position`, with letters in lower case. For the second byte of a non-ASCII letter, the byte before
    /// it decides.
    @inline(__always) private static func folded(_ bytes: UnsafePointer<UInt8>, _ position: Int) -> UInt8 {
        let byte = bytes[position]
        if byte < 0x80 { return byte &- 0x41 < 26 ? byte | 0x20 : byte }
        let isCapital = byte <= 0x9E && byte != 0x97 && position > 0 && bytes[position &- 1] == 0xC3
        return isCapital ? byte | 0x20 : byte
    }

    @inline(__always)
    private func search(_ size: Int, _ start: Int, _ work: inout ByteWork, _ byte: (Int) -> UInt8) throws(RealmError)
        -> Int?
    {
        try letters.withBytes { (pattern) throws(RealmError) in
            let count = pattern.count
            // The number of bytes at the front of the pattern that are known to match.
            var at = start, known = 0
            while at <= size &- count {
                let before = at
                var position = max(cut, known)
                while position < count, pattern[position] == byte(at &+ position) { position &+= 1 }
                if position < count {
                    at &+= position &- cut &+ 1
                    known = 0
                } else {
                    position = cut
                    while position > known, pattern[position &- 1] == byte(at &+ position &- 1) { position &-= 1 }
                    if position <= known { return at }
                    at &+= step
                    known = isPeriodic ? count &- step : 0
                }
                try work.look(at &- before)
            }
            return nil
        }
    }
}
