#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The calls whose C names our own types also use; spelled out once, outside any type.
func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
func systemRename(_ from: String, _ to: String) -> Int32 { rename(from, to) }
func systemClose(_ fd: Int32) { _ = close(fd) }
func systemWrite(_ fd: Int32, _ p: UnsafeRawPointer, _ n: Int) -> Int { write(fd, p, n) }
func systemFlock(_ fd: Int32, _ operation: Int32) -> Int32 { flock(fd, operation) }
func systemRecordLock() -> flock { flock() }
func systemFree(_ p: UnsafeMutableRawPointer?) { free(p) }
