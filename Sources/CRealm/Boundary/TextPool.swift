import CoreEngine

/// C strings that live as long as the pool, for views to point to. Any number of threads may use the pool. Each text is
/// stored once.
final class TextPool: Sendable {
    private let texts = Lock(initial: [Name: UnsafeMutablePointer<CChar>]())

    func view(_ text: Name) -> UnsafePointer<CChar> {
        texts.with { all in
            if let known = all[text] { return UnsafePointer(known) }
            let bytes = text.utf8
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
            for (i, byte) in bytes.enumerated() { copy[i] = CChar(bitPattern: byte) }
            copy[bytes.count] = 0
            all[text] = copy
            return UnsafePointer(copy)
        }
    }

    deinit { for text in texts.with({ $0 }).values { text.deallocate() } }
}
