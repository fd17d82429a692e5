import CoreEngine

/// C strings that live as long as the pool: what views point to, however many threads ask for them. Each text is there
/// once.
final class TextPool: Sendable {
    private let texts = Lock(initial: [Name: UnsafeMutablePointer<CChar>]())

    func view(_ text: Name) -> UnsafePointer<CChar> {
        texts.with { all in
            if let known = all[text] { return UnsafePointer(known) }
            let bytes = text.utf8
            let p = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
            for (i, b) in bytes.enumerated() { p[i] = CChar(bitPattern: b) }
            p[bytes.count] = 0
            all[text] = p
            return UnsafePointer(p)
        }
    }

    deinit { for p in texts.with({ $0 }).values { p.deallocate() } }
}
