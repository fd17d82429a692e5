/// A pattern for equality and for the operators on texts (`CompareOperator.stringRule`) over bytes, exact or folded.
/// Rules: query-language §11.
struct Pattern {
    private let search: PatternSearch
    let bytes: [UInt8]

    /// The pattern in upper and in lower case when `folds` is set; otherwise the pattern itself.
    private let upper: [UInt8], lower: [UInt8]
    let folds: Bool

    /// How values are folded before they are compared, unless they are ASCII. The pattern is stored folded.
    private let fold: UnicodeFold?

    /// The parts that `LongSearch` finds. For CONTAINS: the pattern, under the key −1, when it is long. For LIKE: each
    /// long run without `?` that follows a star, under the index of the star.
    private let long: [Int: LongRun]

    /// A part of the pattern that is searched for with `LongSearch`.
    private struct LongRun {
        let search: LongSearch

        /// Whether the run ends the pattern: it can then match only at the end of the value.
        let isLast: Bool
        let count: Int
    }

    init(_ op: CompareOperator, _ pattern: Bytes, folding: Folding) throws(RealmError) {
        search = op.stringRule?.search ?? .whole
        folds = folding.contains(.cases)
        fold = folding.isSimple ? nil : UnicodeFold(folding)
        // Memory for the bytes, for both cases and for `LongSearch`.
        try CMemory.expect(pattern.count, each: 8)
        bytes = try fold.map { (fold) throws(RealmError) in try fold.folded(pattern, ByteWork()) } ?? Array(pattern)
        upper = folds ? CaseMap.mapped(bytes, upper: true) : bytes
        lower = folds ? CaseMap.mapped(bytes, upper: false) : bytes
        // `LongSearch` decides by a byte and the byte before it whether to fold it. In invalid UTF-8 these two do not
        // show whether the byte is part of a letter.
        let isSearchable = !folds || bytes.withUnsafeBytes { isUTF8($0) }
        long = isSearchable && bytes.count >= LongSearch.shortest ? Self.longParts(search, bytes, folds) : [:]
    }

    private static func longParts(_ search: PatternSearch, _ bytes: [UInt8], _ folds: Bool) -> [Int: LongRun] {
        if search == .anywhere {
            return [-1: LongRun(search: LongSearch(bytes, folds: folds), isLast: false, count: bytes.count)]
        }
        guard search == .wildcards else { return [:] }
        var parts: [Int: LongRun] = [:]
        var star = bytes.firstIndex(of: Self.star)
        while let at = star {
            star = bytes[(at + 1)...].firstIndex(of: Self.star)
            let run = bytes[(at + 1)..<(star ?? bytes.count)]
            guard run.count >= LongSearch.shortest, !run.contains(Self.anyCharacter) else { continue }
            parts[at] = LongRun(search: LongSearch(Array(run), folds: folds), isLast: star == nil, count: run.count)
        }
        return parts
    }

    private static var star: UInt8 { 0x2A }
    private static var anyCharacter: UInt8 { 0x3F }

    /// - Parameter store: the store of the value. The call that uses this store can be interrupted while this
    ///   function reads a long value.
    func matches(_ value: Bytes, _ store: NodeStore) throws(RealmError) -> Bool {
        var work = store.byteWork
        return try matches(value, &work)
    }

    func matches(_ value: Bytes, _ work: inout ByteWork) throws(RealmError) -> Bool {
        guard fold != nil, !CMemory.isASCII(value) else { return try holds(value, &work) }
        var folded = UnicodeFold.Output()
        return try matches(value, &work, &folded)
    }

    /// The same for a loop over values, which passes the same `folded` again.
    func matches(_ value: Bytes, _ work: inout ByteWork, _ folded: inout UnicodeFold.Output) throws(RealmError) -> Bool
    {
        guard let fold, !CMemory.isASCII(value) else { return try holds(value, &work) }
        try fold.fold(value, &folded, &work)
        return try folded.bytes.withBytes { (b) throws(RealmError) in try holds(b, &work) }
    }

    private func holds(_ value: Bytes, _ work: inout ByteWork) throws(RealmError) -> Bool {
        switch search {
        case .whole: return value.count == bytes.count && matches(value, at: 0)
        case .start: return value.count >= bytes.count && matches(value, at: 0) && isWhole(value, to: bytes.count)
        case .end: return value.count >= bytes.count && matches(value, at: value.count - bytes.count)
        case .anywhere:
            guard value.count >= bytes.count else { return false }
            if bytes.isEmpty { return true }
            guard let run = long[-1] else { return try find(value, &work) }
            var from = 0
            while let found = try run.search.find(in: value, from: from, &work) {
                if isWhole(value, to: found + bytes.count) { return true }
                from = found + 1
            }
            return false
        case .wildcards: return try like(value, &work)
        }
    }

    /// Whether a part of a folded value ends with a whole character: not before a mark of its last letter.
    @inline(__always) private func isWhole(_ value: Bytes, to end: Int) -> Bool {
        guard let fold, !fold.accents, end < value.count, value[end] >= 0x80 else { return true }
        return !UnicodeFold.isMark(value, end)
    }

    /// Whether the pattern matches at `at`. The value must have at least `bytes.count` bytes from there on.
    @inline(__always) func matches(_ value: Bytes, at: Int) -> Bool {
        if !folds {
            return bytes.withUnsafeBytes {
                CMemory.compare($0.baseAddress, value.baseAddress.map { $0 + at }, bytes.count) == 0
            }
        }
        return foldedMatch(value, at)
    }

    /// Whether each character equals its counterpart in the upper-case or in the lower-case pattern.
    private func foldedMatch(_ value: Bytes, _ at: Int) -> Bool {
        var position = 0
        let count = bytes.count
        while position < count {
            let length = CaseMap.length(bytes, position)
            var isUpper = true, isLower = true
            for j in position..<min(count, position + length) {
                let byte = value[at + j]
                if byte != upper[j] { isUpper = false }
                if byte != lower[j] { isLower = false }
            }
            if !isUpper && !isLower { return false }
            position += length
        }
        return true
    }

    /// Tries the pattern at each position. Used for patterns that are short or not valid UTF-8.
    private func find(_ value: Bytes, _ work: inout ByteWork) throws(RealmError) -> Bool {
        let last = value.count - bytes.count
        let firstLower = lower[0], firstUpper = upper[0]
        var position = 0
        while position <= last {
            let byte = value[position]
            if byte == firstLower || byte == firstUpper {
                if matches(value, at: position), isWhole(value, to: position + bytes.count) { return true }
                try work.look(bytes.count)
            }
            position += 1
        }
        return false
    }

    /// Matches `?` with one character and `*` with any run. After a mismatch only the last star is tried again; a long
    /// run without `?` after a star is found by `LongSearch`. So the time is linear in the value, except for long runs
    /// with `?`, which are tried at each position.
    private func like(_ value: Bytes, _ work: inout ByteWork) throws(RealmError) -> Bool {
        let pattern = bytes
        var position = 0, patternPosition = 0, star = -1, mark = 0
        // The length of a byte with the continuation bytes after it, and with the marks after these in a folded value.
        func width(_ at: Int) -> Int {
            var end = at + 1
            while end < value.count {
                if value[end] & 0xC0 != 0x80, isWhole(value, to: end) { break }
                end += 1
            }
            return end - at
        }
        while position < value.count {
            if patternPosition < pattern.count, pattern[patternPosition] == Self.star {
                star = patternPosition
                mark = position
                patternPosition += 1
                if let run = long[star] {
                    let start = run.isLast ? max(mark, value.count - run.count) : mark
                    guard let found = try run.search.find(in: value, from: start, &work) else { return false }
                    (position, mark) = (found, found)
                }
                continue
            }
            if patternPosition < pattern.count, pattern[patternPosition] == Self.anyCharacter {
                position += width(position)
                patternPosition += 1
                continue
            }
            if patternPosition < pattern.count {
                let length = folds || fold != nil ? CaseMap.length(pattern, patternPosition) : 1
                var isUpper = position + length <= value.count, isLower = isUpper
                if isUpper {
                    for offset in 0..<min(length, pattern.count - patternPosition) {
                        if value[position + offset] != upper[patternPosition + offset] { isUpper = false }
                        if value[position + offset] != lower[patternPosition + offset] { isLower = false }
                    }
                }
                let end = patternPosition + length
                let isNextMark = fold != nil && end < pattern.count && pattern[end] >= 0x80
                if isUpper || isLower, isNextMark || isWhole(value, to: position + length) {
                    position += length
                    patternPosition += length
                    continue
                }
            }
            guard star >= 0 else { return false }
            try work.look(position - mark + 1)
            mark += 1
            position = mark
            patternPosition = star + 1
        }
        // At most one more star may remain in the pattern.
        return patternPosition >= pattern.count
            || (patternPosition == pattern.count - 1 && pattern[patternPosition] == Self.star)
    }
}

/// Changes the case of ASCII letters, and of U+00C0–U+00DE ↔ U+00E0–U+00FE without × and ÷. Other characters stay, and
/// no character changes its length.
enum CaseMap {
    /// The length in bytes of the character at `position`.
    static func length(_ bytes: [UInt8], _ position: Int) -> Int {
        let first = bytes[position]
        let length = first < 0xC0 ? 1 : (first < 0xE0 ? 2 : (first < 0xF0 ? 3 : 4))
        return min(length, bytes.count - position)
    }

    static func mapped(_ bytes: [UInt8], upper: Bool) -> [UInt8] {
        var out = bytes
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if upper ? byte >= 0x61 && byte <= 0x7A : byte >= 0x41 && byte <= 0x5A { out[position] = byte ^ 0x20 }
            if byte == 0xC3, position + 1 < bytes.count {
                let second = bytes[position + 1]
                if upper
                    ? second >= 0xA0 && second <= 0xBE && second != 0xB7
                    : second >= 0x80 && second <= 0x9E && second != 0x97
                {
                    out[position + 1] = second ^ 0x20
                }
            }
            position += length(bytes, position)
        }
        return out
    }
}
