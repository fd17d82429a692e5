/// # Platform
///
/// Files, maps, file locks, threads, page size, clock: the only layer that calls the operating system.
///
/// Promise
/// 1. Every failing call becomes a `RealmError` with the path and the text of the operating system; interrupted calls
///    are repeated.
/// 2. The kernel releases a lock taken here when the process dies, however it dies.
/// 3. Nothing here depends on the meaning of the bytes.
///
/// A port replaces this folder (and only it); docs/porting.md lists what each operating system offers. Calls that C
/// libraries declare with different types are made in C (`hints.h`, `own_threads.h`). May use: Basics.
@preconcurrency import CHints

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

package enum Platform {
    /// Bytes of a page of virtual memory, a multiple of 4096.
    static let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))

    /// Bytes of the machine's memory.
    static let physicalMemory = max(1, Int(sysconf(Int32(_SC_PHYS_PAGES)))) * pageSize

    static var processId: Int32 { system.getpid() }

    /// The effective user of the process.
    static var userId: UInt32 { geteuid() }

    /// Identifies the calling thread for as long as it runs.
    @inline(__always) package static var threadId: UInt { UInt(hint_thread_id()) }

    /// A number that identifies no thread.
    static let noThread = UInt.max

    /// The number of the calling thread in the operating system, for people.
    static var systemThreadId: UInt32 { UInt32(bitPattern: system.gettid()) }

    static func sleep(microseconds: UInt32) { _ = system.usleep(microseconds) }

    /// Seconds since an arbitrary point, never going back.
    static var monotonicSeconds: Double {
        var time = timespec()
        _ = system.clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    static var microsecondsSince1970: UInt64 {
        var time = timespec()
        _ = system.clock_gettime(CLOCK_REALTIME, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000 &+ UInt64(clamping: time.tv_nsec) / 1000
    }

    /// The operating system's text for an errno value.
    static func text(ofError code: Int32) -> String {
        // Some C libraries declare the result as never null.
        guard let text = strerror(code) as UnsafeMutablePointer<CChar>? else { return "error \(code)" }
        return String(cString: text)
    }

    static func error(_ code: Int32, _ what: String, path: String?) -> RealmError {
        let kind: RealmError.Code =
            switch code {
            case ENOENT, ENOTDIR: .fileNotFound
            case EACCES, EPERM, EROFS: .permissionDenied
            case EEXIST: .fileAlreadyExists
            case ENOSPC, EDQUOT, EFBIG: .outOfDiskSpace
            case ENOMEM: .outOfMemory
            case EMFILE, ENFILE: .limitExceeded
            default: .fileOperationFailed
            }
        return RealmError(kind, "\(what): \(text(ofError: code))\(remedy(code))", path: path)
    }

    private static func remedy(_ code: Int32) -> String {
        switch code {
        case EMFILE:
            var limit = rlimit()
            guard systemFileLimit(&limit) == 0 else { return "" }
            return
                " (this process may have \(limit.rlim_cur), and needs three for each open Realm file: raise RLIMIT_NOFILE, or close files)"
        case ENFILE: return " (on this machine)"
        default: return ""
        }
    }

    /// Writes text to standard error; used by the default log sink.
    static func printError(_ text: String) {
        var line = text + "\n"
        line.withUTF8 { bytes in
            var done = 0
            while done < bytes.count {
                let written = systemWrite(2, bytes.start + done, bytes.count - done)
                if written <= 0 { break }
                done += written
            }
        }
    }
}
