import CHints

/// A thread of the library. It does not exist in a forked child.
package enum Thread {
    private final class Work {
        let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread, which releases it at its end.
    package static func start(_ body: @escaping @Sendable () -> Void) throws(RealmError) {
        let work = Unmanaged.passRetained(Work(body))
        // Until the new thread first runs, its saved state contains the vector registers of this thread.
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

    /// The remaining stack of this thread in bytes; nil when the operating system does not report it. The
    /// call is slow on the first thread of a process.
    static var stackLeft: Int? {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { place -> Int? in
            guard let address = place.baseAddress.map({ UInt(bitPattern: $0) }) else { return nil }
            var lowest: UnsafeMutableRawPointer?, size = 0
            guard hint_stack(&lowest, &size) == 0 else { return nil }
            let bottom = UInt(bitPattern: lowest), top = bottom + UInt(size)
            // A program may have switched the thread to another stack temporarily.
            guard address >= bottom, address <= top else { return nil }
            return Int(address - bottom)
        }
    }

    /// The maximum depth of a recursion that uses `frame` bytes for each level and `other` bytes in total beside the
    /// levels. An unknown stack counts as the smallest one that a thread must have (`CREALM_MIN_STACK_SIZE`).
    static func levels(of frame: Int, beside other: Int) -> Int { max(0, ((stackLeft ?? 80 << 10) - other) / frame) }

    /// Overwrites the vector registers of a new thread. A thread begins with the registers of the thread that made it.
    /// While the new thread sleeps, its registers may still contain the bytes that the other thread moved last, for
    /// example text of an encrypted file, and a core dump would show them. Moves of different sizes use different
    /// registers.
    private static func forgetRegisters() {
        let half = 1 << 13
        guard let zeros = try? HiddenMemory(2 * half) else { return }
        defer { withExtendedLifetime(zeros) {} }
        var size = 16
        while size < half {
            CMemory.move(zeros.base + half, zeros.base, size)
            CMemory.move(zeros.base + half + 1, zeros.base, size)
            _ = CMemory.compare(zeros.base, zeros.base + half, size)
            size += size / 16
        }
        hint_zero_vector_registers()
    }
}

/// An object that work on another thread uses. The work releases the object before it reports its end: a caller that
/// waits for the report, and then closes the object's file, is the last user of the object.
///
/// Thread rule: only the thread that does the work calls `use`.
package final class Loan<Object: AnyObject>: @unchecked Sendable {  // See the thread rule.
    private var object: Object?

    package init(_ object: Object) { self.object = object }

    /// Runs `body` with the object, and releases the object before it returns. Returns nil without a call if that was
    /// done before.
    @inline(never) package func use<R>(_ body: (Object) -> R) -> R? {
        guard let object else { return nil }
        self.object = nil
        return body(object)
    }
}
