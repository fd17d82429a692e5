import CGuards
import CHints
import CRealmTesting

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// The calls to the operating system for files, maps, locks and time: a table that tests can replace. All other
/// functions of the C library are called directly.
///
/// Thread rule: written by `replaceSystemCalls` only.
nonisolated(unsafe) private(set) var system = ownCalls()

/// Replaces calls of the operating system by those of `table`; calls that are null there stay. nil: restores all calls.
///
/// Thread rule: only while no other thread is inside the library.
package func replaceSystemCalls(_ table: UnsafePointer<crealm_system_calls_t>?) {
    system = ownCalls()
    guard let table else { return }
    // The table contains only function pointers.
    withUnsafeMutableBytes(of: &system) { mine in
        let theirs = UnsafeRawBufferPointer(start: table, count: mine.count)
        for at in stride(from: 0, to: mine.count, by: MemoryLayout<UInt>.size) {
            let word = theirs.load(fromByteOffset: at, as: UInt.self)
            if word != 0 { mine.storeBytes(of: word, toByteOffset: at, as: UInt.self) }
        }
    }
}

private func ownCalls() -> crealm_system_calls_t {
    crealm_system_calls_t(
        open: { systemOpen($0, $1, $2) },
        close: { systemClose($0) },
        fcntl_number: { fcntl($0, $1, $2) },
        fcntl_lock: { fcntl($0, $1, $2) },
        flock: { systemFlock($0, $1) },
        pread: { pread($0, $1, $2, $3) },
        pwrite: { pwrite($0, $1, $2, $3) },
        ftruncate: { ftruncate($0, $1) },
        posix_fallocate: { systemAllocate($0, $1, $2) },
        copy_file_range: { Int(hint_copy_file_range($0, $1, $2, $3, UInt($4), $5)) },
        memfd_create: { hint_memory_file($0, $1) },
        fdatasync: { systemSynchronize($0) },
        fsync: { fsync($0) },
        fstat: { fstat($0, $1) },
        stat: { systemStat($0, $1) },
        statvfs: { systemStatvfs($0, $1) },
        access: { access($0, $1) },
        fchmod: { fchmod($0, $1) },
        fchown: { fchown($0, $1, $2) },
        rename: { systemRename($0, $1) },
        link: { link($0, $1) },
        unlink: { unlink($0) },
        rmdir: { rmdir($0) },
        realpath: { realpath($0, $1) },
        opendir: { opendir($0) },
        readdir: { readdir($0) },
        closedir: { closedir($0) },
        mmap: { mmap($0, $1, $2, $3, $4, $5) },
        munmap: { munmap($0, $1) },
        mprotect: { mprotect($0, $1, $2) },
        madvise: { madvise($0, $1, $2) },
        getpid: { getpid() },
        gettid: { hint_gettid() },
        usleep: { usleep($0) },
        clock_gettime: { clock_gettime($0, $1) },
        start_thread: { own_thread_start($0, $1) },
        futex: { hint_futex($0, $1, $2, $3, $4, $5) })
}

// Wrappers for C functions whose names are also used in our types; outside of any type the names mean the C functions.
private func systemOpen(_ path: UnsafePointer<CChar>, _ flags: Int32, _ mode: Int32) -> Int32 {
    open(path, flags, mode_t(truncatingIfNeeded: mode))
}

private func systemRename(_ from: UnsafePointer<CChar>, _ to: UnsafePointer<CChar>) -> Int32 { rename(from, to) }

private func systemClose(_ fd: Int32) -> Int32 { close(fd) }

private func systemFlock(_ fd: Int32, _ operation: Int32) -> Int32 { flock(fd, operation) }

private func systemStat(_ path: UnsafePointer<CChar>, _ info: UnsafeMutablePointer<stat>) -> Int32 { stat(path, info) }

private func systemStatvfs(_ path: UnsafePointer<CChar>, _ info: UnsafeMutablePointer<statvfs>) -> Int32 {
    statvfs(path, info)
}

/// Apple's systems have neither of these calls.
#if canImport(Darwin)
    private func systemSynchronize(_ fd: Int32) -> Int32 { fcntl(fd, F_FULLFSYNC) == 0 ? 0 : fsync(fd) }

    private func systemAllocate(_ fd: Int32, _ offset: off_t, _ size: off_t) -> Int32 { ENOTSUP }
#else
    private func systemSynchronize(_ fd: Int32) -> Int32 { fdatasync(fd) }

    private func systemAllocate(_ fd: Int32, _ offset: off_t, _ size: off_t) -> Int32 {
        posix_fallocate(fd, offset, size)
    }
#endif

func systemWrite(_ fd: Int32, _ p: UnsafeRawPointer, _ n: Int) -> Int { write(fd, p, n) }

func systemRecordLock() -> flock { flock() }

func systemFree(_ p: UnsafeMutableRawPointer?) { free(p) }

/// The operating system's limit for the number of descriptors. Some C libraries use a separate type for the kind of a
/// limit.
func systemFileLimit(_ limit: UnsafeMutablePointer<rlimit>) -> Int32 {
    #if canImport(Glibc)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), limit)
    #else
        getrlimit(RLIMIT_NOFILE, limit)
    #endif
}
