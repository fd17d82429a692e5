import CHints

/// A thread of the library's own. It is not there in a forked child.
package enum Thread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread, which keeps nothing of it when it ends.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(RealmError) {
        let work = Unmanaged.passRetained(Work(body))
        // The new thread has them until it first runs.
        hint_zero_vector_registers()
        let code = system.start_thread(
            {
                Thread.forgetRegisters()
                Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body()
            }, work.toOpaque())
        guard code == 0 else {
            work.release()
            throw Platform.error(code, "Failed to start a thread", path: nil)
        }
    }

    /// Bytes of stack that this thread has left; nil where the system does not tell. Takes a while on the first thread
    /// of a process.
    static var stackLeft: Int? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { place -> Int? in
            guard let address = place.baseAddress.map({ UInt(bitPattern: $0) }) else { return nil }
            var lowest: UnsafeMutableRawPointer?, size = 0
            guard hint_stack(&lowest, &size) == 0 else { return nil }
            let bottom = UInt(bitPattern: lowest), top = bottom + UInt(size)
            // A program may have given the thread another stack for a while.
            guard address >= bottom, address <= top else { return nil }
            return Int(address - bottom)
        }
    }

    /// How deep a recursion of `frame` bytes a level may go that takes `other` bytes beside its levels. Where the stack
    /// is not known it is taken for the least that a thread must have (`CREALM_MIN_STACK_SIZE`).
    static func levels(of frame: Int, beside other: Int) -> Int { max(0, ((stackLeft ?? 80 << 10) - other) / frame) }

    /// A new thread begins with the registers of the one that made it, and may keep in them for as long as it sleeps
    /// what that one moved last: text of an encrypted file, for whoever reads a core dump. Each size is moved in
    /// registers of its own.
    private static func forgetRegisters() {
        let half = 1 << 13
        guard let zeros = try? HiddenMemory(2 * half) else { return }
        defer { withExtendedLifetime(zeros) {} }
        var size = 16
        while size < half {
            Platform.move(zeros.base + half, zeros.base, size)
            Platform.move(zeros.base + half + 1, zeros.base, size)
            _ = Platform.compare(zeros.base, zeros.base + half, size)
            size += size / 16
        }
        hint_zero_vector_registers()
    }
}
