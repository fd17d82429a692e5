import CoreEngine
import Synchronization

/// C strings that live as long as the pool: what views point to, however many threads ask for them. Each text is there once.
final class TextPool: Sendable {
    /// Addresses by text.
    private let texts = Mutex([Name: UInt]())

    func view(_ text: Name) -> UnsafePointer<CChar>? {
        let address = texts.withLock { all -> UInt in
            if let known = all[text] { return known }
            let bytes = text.utf8
            let p = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
            for (i, b) in bytes.enumerated() { p[i] = CChar(bitPattern: b) }
            p[bytes.count] = 0
            all[text] = UInt(bitPattern: p)
            return UInt(bitPattern: p)
        }
        return UnsafePointer(bitPattern: address)
    }
    deinit {
        for address in texts.withLock({ $0 }).values { UnsafeMutablePointer<CChar>(bitPattern: address)?.deallocate() }
    }
}
