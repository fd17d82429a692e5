/// Splits text into the words of a full-text index: lower case, diacritics removed, at most 64 bytes each. Format:
/// logical §9.9.
enum FullTextTokenizer {
    private static let maxToken = 64

    /// The distinct words of `text`.
    static func tokens(_ text: Bytes, _ work: ByteWork = ByteWork()) throws(RealmError) -> Swift.Set<[UInt8]> {
        var found: Swift.Set<[UInt8]> = [], work = work
        try forEachWord(text) { (word, size) throws(RealmError) in
            try work.look(size)
            guard !found.contains(word) else { return }
            try found.makeRoom()
            found.insert(word)
        }
        return found
    }

    /// The words of `text` in order.
    static func sequence(_ text: Bytes) throws(RealmError) -> [[UInt8]] {
        var found: [[UInt8]] = []
        try forEachWord(text) { (word, _) throws(RealmError) in try found.add(word) }
        return found
    }

    /// Calls `body` for each word, with the number of bytes since the previous word.
    private static func forEachWord(_ text: Bytes, _ body: ([UInt8], Int) throws(RealmError) -> Void) throws(RealmError)
    {
        var word: [UInt8] = []
        var inWord = false, last = 0, i = 0
        func end() throws(RealmError) {
            // A word may be empty: × and ÷ are word characters without output.
            if inWord {
                try body(word, i - last)
                last = i
            }
            word.removeAll(keepingCapacity: true)
            inWord = false
        }
        while i < text.count {
            let byte = text[i]
            switch byte {
            case 0x30...0x39, 0x61...0x7A:
                if word.count < maxToken { word.append(byte) }
                inWord = true
                i += 1
            case 0x41...0x5A:
                if word.count < maxToken { word.append(byte + 0x20) }
                inWord = true
                i += 1
            case 0x00...0x7F:
                try end()
                i += 1
            case 0xC3 where i + 1 < text.count && text[i + 1] & 0x3F != 0x3F:
                // U+00C0 … U+00FE; U+00FF is a separator.
                inWord = true
                let count = word.count
                append(latin: text[i + 1] & 0x3F, to: &word)
                if word.count > maxToken { word.removeLast(word.count - count) }
                i += 2
            default:
                try end()
                i += byte & 0xE0 == 0xC0 ? 2 : (byte & 0xF0 == 0xE0 ? 3 : (byte & 0xF8 == 0xF0 ? 4 : 1))
            }
        }
        try end()
    }

    /// `bits`: the low six bits of U+00C0 … U+00FE. Upper and lower case are equal modulo 0x20.
    private static func append(latin bits: UInt8, to word: inout [UInt8]) {
        if bits == 0x1F {  // ß (only the lower-case form exists here; U+00FF was excluded).
            word += [0xC3, 0x9F]
            return
        }
        switch bits & 0x1F {
        case 0x00...0x04: word.append(0x61)  // a
        case 0x05: word += [0xC3, 0xA5]  // å
        case 0x06: word += [0xC3, 0xA6]  // æ
        case 0x07: word.append(0x63)  // c
        case 0x08...0x0B: word.append(0x65)  // e
        case 0x0C...0x0F: word.append(0x69)  // i
        case 0x10: word += [0xC3, 0xB0]  // ð
        case 0x11: word.append(0x6E)  // n
        case 0x12...0x16: word.append(0x6F)  // o
        case 0x17: break  // × and ÷ are word characters without output.
        case 0x18: word += [0xC3, 0xB8]  // ø
        case 0x19...0x1C: word.append(0x75)  // u
        case 0x1D: word.append(0x79)  // y
        default: word += [0xC3, 0xBE]  // þ
        }
    }
}
