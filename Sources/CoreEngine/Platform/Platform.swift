/// # Platform
///
/// Files, maps, locks, page size, clock, byte compare and copy: the only layer that calls the operating system.
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

    /// Requests the cache lines at an address; any address is allowed.
    @inline(__always) static func prefetch(_ at: UnsafeRawPointer, lines: Int) {
        for i in 0..<lines { hint_prefetch(at + i &* 64) }
    }

    @inline(__always) static func copy(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: Int) {
        memcpy(to, from, count)
    }

    @inline(__always) static func move(_ to: UnsafeMutableRawPointer, _ from: UnsafeRawPointer, _ count: Int) {
        memmove(to, from, count)
    }

    @inline(__always) static func zero(_ at: UnsafeMutableRawPointer, _ count: Int) { memset(at, 0, count) }

    /// Whether all bytes are zero; there must be at least one byte.
    static func isZero(_ at: UnsafeRawPointer, _ count: Int) -> Bool {
        at.load(as: UInt8.self) == 0 && memcmp(at, at + 1, count - 1) == 0
    }

    /// memcmp that accepts null pointers for empty ranges.
    @inline(__always) static func compare(_ a: UnsafeRawPointer?, _ b: UnsafeRawPointer?, _ count: Int) -> Int {
        guard count > 0, let a, let b else { return 0 }
        return Int(memcmp(a, b, count))
    }

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

    /// `value` as C's `%.*g` prints it.
    static func general(_ value: Double, digits: Int) -> String {
        var buffer = [CChar](repeating: 0, count: 48)
        let length = withVaList([Int32(truncatingIfNeeded: digits), value]) {
            vsnprintf(&buffer, buffer.count, "%.*g", $0)
        }
        return String(
            decoding: buffer.prefix(max(0, min(Int(length), buffer.count - 1))).map {
                $0 == 0x2C ? 0x2E : UInt8(bitPattern: $0)
            }, as: UTF8.self)
    }

    /// `value` as C's `%.*e` prints it: `digits` digits after the point, an exponent of at least two.
    static func scientific(_ value: Double, digits: Int) -> String {
        var buffer = [CChar](repeating: 0, count: 48)
        let length = withVaList([Int32(truncatingIfNeeded: digits), value]) {
            vsnprintf(&buffer, buffer.count, "%.*e", $0)
        }
        // The decimal point depends on the locale.
        return String(
            decoding: buffer.prefix(max(0, min(Int(length), buffer.count - 1))).map {
                $0 == 0x2C ? 0x2E : UInt8(bitPattern: $0)
            }, as: UTF8.self)
    }
}
