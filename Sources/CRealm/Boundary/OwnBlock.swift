import CoreEngine

/// A struct with the arrays and strings that it refers to, in one block of memory that `realm_free` releases.
///
/// The function that makes the struct runs twice: first to compute the size of the block, then to fill it.
struct OwnBlock {
    /// nil while the size is computed.
    private let base: UnsafeMutableRawPointer?
    private var size = 0

    private init(_ base: UnsafeMutableRawPointer?) { self.base = base }

    static func make<T>(_ body: (inout OwnBlock) -> T) throws(RealmError) -> UnsafeMutablePointer<T> {
        var plan = OwnBlock(nil)
        _ = plan.room(T.self, 1)
        _ = body(&plan)
        guard let memory = CMemory.allocate(plan.size) else {
            throw RealmError(.outOfMemory, "Not enough memory for \(plan.size) bytes of answer")
        }
        var block = OwnBlock(memory)
        _ = block.room(T.self, 1)
        let content = memory.bindMemory(to: T.self, capacity: 1)
        content.initialize(to: body(&block))
        return content
    }

    private mutating func room<T>(_: T.Type, _ count: Int) -> UnsafeMutablePointer<T>? {
        size = (size + MemoryLayout<T>.alignment - 1) & ~(MemoryLayout<T>.alignment - 1)
        let at = size
        size += count * MemoryLayout<T>.stride
        return base.map { ($0 + at).bindMemory(to: T.self, capacity: count) }
    }

    /// Copies a string with a terminating zero byte; NULL for nil.
    mutating func text(_ text: String?) -> UnsafePointer<CChar>? {
        guard let text else { return nil }
        let start = room(CChar.self, text.utf8.count + 1)
        guard let start else { return nil }
        var at = start
        for byte in text.utf8 {
            at.initialize(to: CChar(bitPattern: byte))
            at += 1
        }
        at.initialize(to: 0)
        return UnsafePointer(start)
    }

    /// Copies an array; NULL for an empty one.
    mutating func array<Element, T>(_ elements: [Element], _ make: (inout OwnBlock, Element) -> T)
        -> UnsafeMutablePointer<T>?
    {
        guard !elements.isEmpty else { return nil }
        let start = room(T.self, elements.count)
        for (i, element) in elements.enumerated() {
            let made = make(&self, element)
            if let start { (start + i).initialize(to: made) }
        }
        return start
    }
}
