/// Finds a long pattern in bytes in a time that is linear in both: the "two-way" algorithm of Crochemore and Perrin
/// (1991). The pattern is cut in two where its local period is its period. The right part is compared forwards, then
/// the left part backwards, and each mismatch moves the pattern on by as much as was compared.
///
/// Short patterns need nothing of this: to try them at each place takes a bounded time for each byte.
struct LongSearch {
    /// Patterns of fewer bytes are tried at each place.
    static let shortest = 33

    /// The pattern, letters in lower case when they are folded.
    private let letters: [UInt8]
    private let folds: Bool

    /// Where the right part begins.
    private let cut: Int

    /// How far the pattern moves on when its right part matches and its left part does not.
    private let step: Int

    /// Whether `step` is the period of the whole pattern: then what matched before it moved matches afterwards.
    private let isPeriodic: Bool

    /// - Parameters:
    ///   - pattern: at least one byte; valid UTF-8 when letters are folded, so that a letter's case is told by the
    ///     letter alone.
    ///   - folds: letters are folded as by `CaseMap`.
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

    /// The largest suffix in an order of bytes, and its period.
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

    /// The first place at or behind `start` where the pattern stands in `value`.
    func find(in value: Bytes, from start: Int, _ work: inout ByteWork) throws(RealmError) -> Int? {
        guard let base = value.baseAddress, start <= value.count - letters.count else { return nil }
        let bytes = base.assumingMemoryBound(to: UInt8.self)
        return try folds
            ? search(value.count, start, &work) { Self.folded(bytes, $0) }
            : search(value.count, start, &work) { bytes[$0] }
    }

    /// The byte at `i` as it is with letters in lower case. The second byte of a letter beyond ASCII is known by the
    /// first.
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
            // Bytes at the front of the pattern that are known to match.
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
