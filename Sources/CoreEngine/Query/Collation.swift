/// The order of texts in a language, for `SORT(name COLLATE "de")`: that of ICU, the library of the operating system. A
/// text has sort keys, bytes in the order of the texts. Rules: query-language §14.
///
/// Thread rule: any thread; several at the same time.
final class Collation: @unchecked Sendable {
    let locale: String

    /// The collator of ICU. Nothing changes it after it was opened, so threads share it.
    private let collator: OpaquePointer
    private let functions: Functions

    /// - Parameter locale: a language as `de`, also with a region and ICU's keywords: `de_AT@collation=phonebook`,
    ///   `en@colNumeric=yes`. A language that ICU does not know has Unicode's own order.
    /// - Throws: INVALID_QUERY for a locale that ICU refuses; NOT_SUPPORTED where the system has no ICU.
    init(_ locale: String) throws(RealmError) {
        guard let functions = Functions.all else {
            throw RealmError(
                .notSupported,
                "Sorting by a language needs ICU, which this system does not have (Debian: install libicu72 or later)")
        }
        let isPlain =
            locale.utf8.count <= 100
            && locale.utf8.allSatisfy { byte in
                byte | 0x20 >= 0x61 && byte | 0x20 <= 0x7A || byte >= 0x30 && byte <= 0x39
                    || [0x2D, 0x5F, 0x3D, 0x40, 0x3B].contains(byte)
            }
        guard isPlain else { throw .query("'\(locale)' is no language to sort by") }
        var status: Int32 = 0
        // ICU separates the parts of a language by '_'; texts of the web and of Swift have '-'.
        let name = locale.utf8.map { $0 == 0x2D ? 0x5F : CChar(truncatingIfNeeded: $0) } + [0]
        let opened = functions.open(name, &status)
        guard status <= 0, let opened else { throw .query("'\(locale)' is no language to sort by") }
        self.locale = locale
        self.functions = functions
        collator = opened
    }

    deinit { functions.close(collator) }

    /// The sort key of a text. Bytes that are not UTF-8 count as U+FFFD.
    func key(_ text: Bytes) throws(RealmError) -> [UInt8] {
        try CMemory.expect(text.count, each: 12)
        let units = Array(String(decoding: text, as: UTF8.self).utf16)
        guard let length = Int32(exactly: units.count) else {
            throw RealmError(.limitExceeded, "A text of \(text.count) bytes is too long to be sorted by a language")
        }
        // Most keys fit at the first attempt.
        var room = 2 * units.count + 16
        while true {
            var needed = 0
            try CMemory.expect(room, each: 1)
            let key = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                needed = Int(
                    units.withUnsafeBufferPointer {
                        functions.key(collator, $0.baseAddress, length, buffer.baseAddress, Int32(clamping: room))
                    })
                count = max(0, min(needed, room))
            }
            if needed <= room { return key }
            room = needed
        }
    }

    /// The functions of ICU that a collation calls.
    private struct Functions: Sendable {
        typealias Open =
            @convention(c) @Sendable (UnsafePointer<CChar>, UnsafeMutablePointer<Int32>) -> OpaquePointer?
        typealias Close = @convention(c) @Sendable (OpaquePointer) -> Void
        typealias Key =
            @convention(c) @Sendable (
                OpaquePointer, UnsafePointer<UInt16>?, Int32, UnsafeMutablePointer<UInt8>?, Int32
            ) -> Int32
        let open: Open
        let close: Close
        let key: Key

        static let all: Functions? = {
            guard let icu = SystemLibrary.icu, let open = icu.function("ucol_open"),
                let close = icu.function("ucol_close"), let key = icu.function("ucol_getSortKey")
            else { return nil }
            return Functions(
                open: unsafeBitCast(open, to: Open.self), close: unsafeBitCast(close, to: Close.self),
                key: unsafeBitCast(key, to: Key.self))
        }()
    }
}
