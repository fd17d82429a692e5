/// Writes JSON (RFC 8259) piece by piece.
struct JSONText {
    private(set) var bytes: [UInt8] = []
    private var needsComma = false
    var text: String { String(decoding: bytes, as: UTF8.self) }

    private mutating func begin() {
        if needsComma { bytes.append(0x2C) }
        needsComma = false
    }

    /// Adds a text that is already JSON.
    mutating func raw(_ text: String) { put(text) }

    mutating func raw(_ text: [UInt8]) {
        begin()
        bytes += text
        needsComma = true
    }

    private mutating func put(_ text: String) {
        begin()
        bytes.append(contentsOf: text.utf8)
        needsComma = true
    }

    mutating func null() { put("null") }

    mutating func bool(_ value: Bool) { put(value ? "true" : "false") }

    mutating func number(_ value: (some BinaryInteger)?) { put(value.map { "\($0)" } ?? "null") }

    mutating func text(_ value: String?) {
        guard let value else { return null() }
        quoted(value.utf8)
    }

    /// Adds a text; bytes that are not UTF-8 become U+FFFD.
    mutating func text(_ b: UnsafeRawBufferPointer) { quoted(String(decoding: b, as: UTF8.self).utf8) }

    private mutating func quoted(_ text: some Sequence<UInt8>) {
        begin()
        bytes.append(0x22)
        for byte in text {
            switch byte {
            case 0x22, 0x5C: bytes += [0x5C, byte]
            case 0..<0x20:
                let digits = Array("0123456789abcdef".utf8)
                bytes += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            default: bytes.append(byte)
            }
        }
        bytes.append(0x22)
        needsComma = true
    }

    mutating func object<E: Error>(_ body: (inout JSONText) throws(E) -> Void) throws(E) {
        try enclosed(0x7B, 0x7D, body)
    }

    mutating func field<E: Error>(_ name: String, _ value: (inout JSONText) throws(E) -> Void) throws(E) {
        quoted(name.utf8)
        bytes.append(0x3A)
        needsComma = false
        try value(&self)
    }

    mutating func array<T>(_ elements: some Sequence<T>, _ body: (inout JSONText, T) -> Void) {
        enclosed(0x5B, 0x5D) { out in for element in elements { body(&out, element) } }
    }

    mutating func array<E: Error>(_ body: (inout JSONText) throws(E) -> Void) throws(E) {
        try enclosed(0x5B, 0x5D, body)
    }

    private mutating func enclosed<E: Error>(_ start: UInt8, _ end: UInt8, _ body: (inout JSONText) throws(E) -> Void)
        throws(E)
    {
        begin()
        bytes.append(start)
        try body(&self)
        bytes.append(end)
        needsComma = true
    }
}
