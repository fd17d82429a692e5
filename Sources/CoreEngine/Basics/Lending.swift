extension Unmanaged {
    /// Runs `body` on the instance without changing its reference count. The caller makes sure that another reference
    /// keeps it alive meanwhile.
    @inlinable @inline(__always)
    package func borrow<R>(_ body: (Instance) throws(RealmError) -> R) throws(RealmError) -> R {
        // The standard library's function only rethrows untyped errors.
        let result: Result<R, RealmError> = _withUnsafeGuaranteedRef { instance in
            do throws(RealmError) { return .success(try body(instance)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

extension Array where Element == UInt8 {
    /// Calls `body` with the array's bytes.
    package func withBytes<R>(_ body: (UnsafeRawBufferPointer) throws(RealmError) -> R) throws(RealmError) -> R {
        let result: Result<R, RealmError> = withUnsafeBytes { bytes in
            do throws(RealmError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }

    /// Calls `body` with the array's bytes, which it may change.
    mutating func withMutableBytes<R>(_ body: (UnsafeMutableRawBufferPointer) throws(RealmError) -> R)
        throws(RealmError) -> R
    {
        let result: Result<R, RealmError> = withUnsafeMutableBytes { bytes in
            do throws(RealmError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

// An empty buffer may have no address. These are for buffers of one byte or more, which always have one; debug builds
// assert it, and release builds never trap.

extension UnsafeRawBufferPointer {
    /// The address of the first byte. Precondition: the buffer is not empty.
    package var start: UnsafeRawPointer { baseAddress.unsafelyUnwrapped }
}

extension UnsafeMutableRawBufferPointer {
    /// The address of the first byte. Precondition: the buffer is not empty.
    package var start: UnsafeMutableRawPointer { baseAddress.unsafelyUnwrapped }
}

extension UnsafeBufferPointer {
    /// The address of the first element. Precondition: the buffer is not empty.
    package var start: UnsafePointer<Element> { baseAddress.unsafelyUnwrapped }
}
