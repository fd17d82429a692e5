/// Writes JSON (RFC 8259) piece by piece, and puts the commas. All JSON of the engine is written with it.
struct JSONText {
    /// Which characters of texts are escaped.
    enum Escapes {
        /// Every control character, as RFC 8259 demands.
        case standard

        /// Only control characters that have a short escape. `realm_object_to_string` of realm-core writes the others
        /// as they are, and programs compare its texts.
        case realm
    }

    private(set) var bytes: [UInt8] = []
    private var needsComma = false
    private let escapes: Escapes

    init(_ escapes: Escapes = .standard) { self.escapes = escapes }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    /// Begins a new text in the same memory.
    mutating func clear() {
        bytes.removeAll(keepingCapacity: true)
        needsComma = false
    }

    /// Allocates memory for more bytes, so that the next pieces allocate none.
    /// - Throws: 1003 if there is too little memory.
    mutating func makeRoom(for count: Int) throws(RealmError) { try bytes.makeRoom(for: count) }

    // MARK: Values

    mutating func null() { raw("null") }

    mutating func bool(_ value: Bool) { raw(value ? "true" : "false") }

    mutating func number(_ value: (some BinaryInteger)?) { raw(value.map { "\($0)" } ?? "null") }

    mutating func text(_ value: String?) {
        guard let value else { return null() }
        quoted(value.utf8)
    }

    /// Adds a text; bytes that are not UTF-8 become U+FFFD.
    mutating func text(_ bytes: UnsafeRawBufferPointer) { quoted(String(decoding: bytes, as: UTF8.self).utf8) }

    /// Adds a text. Bytes that are not UTF-8 stay.
    mutating func quoted(_ text: some Sequence<UInt8>) {
        begin()
        bytes.append(0x22)
        let isDone: Void? = text.withContiguousStorageIfAvailable { append(escaping: $0) }
        if isDone == nil { append(escaping: Array(text)) }
        bytes.append(0x22)
        needsComma = true
    }

    private mutating func append(escaping text: [UInt8]) { text.withUnsafeBufferPointer { append(escaping: $0) } }

    /// Number of bytes that are escaped in one step: their text, of at most six times as many bytes, is on the stack.
    private static let step = 512

    private mutating func append(escaping text: UnsafeBufferPointer<UInt8>) {
        let isRealm = escapes == .realm
        for start in stride(from: 0, to: text.count, by: Self.step) {
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Self.step * 6) { out in
                var count = 0
                for byte in text[start..<min(start + Self.step, text.count)] {
                    if byte >= 0x20, byte != 0x22, byte != 0x5C {
                        out[count] = byte
                        count += 1
                        continue
                    }
                    let letter = Self.letter(byte)
                    if letter != 0 {
                        out[count] = 0x5C
                        out[count + 1] = letter
                        count += 2
                    } else if isRealm {
                        out[count] = byte
                        count += 1
                    } else {
                        out[count] = 0x5C
                        out[count + 1] = UInt8(ascii: "u")
                        out[count + 2] = 0x30
                        out[count + 3] = 0x30
                        out[count + 4] = Self.digit(byte >> 4)
                        out[count + 5] = Self.digit(byte & 15)
                        count += 6
                    }
                }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: out[..<count]))
            }
        }
    }

    /// The character after the backslash in the short escape of a byte; 0 for a byte without one.
    private static func letter(_ byte: UInt8) -> UInt8 {
        switch byte {
        case 0x08: UInt8(ascii: "b")
        case 0x09: UInt8(ascii: "t")
        case 0x0A: UInt8(ascii: "n")
        case 0x0C: UInt8(ascii: "f")
        case 0x0D: UInt8(ascii: "r")
        case 0x22, 0x5C: byte
        default: 0
        }
    }

    private static func digit(_ number: UInt8) -> UInt8 { number + (number < 10 ? 0x30 : 0x57) }

    /// The largest number of bytes that `quoted` adds for a text.
    func mostBytes(of text: some Collection<UInt8>) -> Int {
        var escaped = 0
        for byte in text where byte == 0x22 || byte == 0x5C || byte < 0x20 { escaped += 1 }
        return text.count + escaped * (escapes == .standard ? 5 : 1) + 3
    }

    /// Adds a value that is JSON already.
    mutating func raw(_ text: String) {
        begin()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    mutating func raw(_ text: [UInt8]) {
        begin()
        bytes += text
        needsComma = true
    }

    // MARK: Nesting

    /// Begins an array or object: adds `[`, `{`, or a longer text behind which a value follows.
    mutating func open(_ text: StaticString) {
        begin()
        append(text)
        needsComma = false
    }

    /// Adds a text that separates two values in place of a comma, such as the colon behind a name.
    mutating func join(_ text: StaticString) {
        append(text)
        needsComma = false
    }

    /// Ends what `open` began.
    mutating func close(_ text: StaticString) {
        append(text)
        needsComma = true
    }

    /// Adds the name of a member of an object, and the colon.
    mutating func name(_ name: some Sequence<UInt8>) {
        quoted(name)
        join(":")
    }

    mutating func object<E: Error>(_ body: (inout JSONText) throws(E) -> Void) throws(E) {
        open("{")
        try body(&self)
        close("}")
    }

    mutating func field<E: Error>(_ name: String, _ value: (inout JSONText) throws(E) -> Void) throws(E) {
        self.name(name.utf8)
        try value(&self)
    }

    mutating func array<T>(_ elements: some Sequence<T>, _ body: (inout JSONText, T) -> Void) {
        array { out in for element in elements { body(&out, element) } }
    }

    mutating func array<E: Error>(_ body: (inout JSONText) throws(E) -> Void) throws(E) {
        open("[")
        try body(&self)
        close("]")
    }

    private mutating func begin() { if needsComma { bytes.append(0x2C) } }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
