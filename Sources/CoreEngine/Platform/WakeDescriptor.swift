#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// A pipe whose read end is readable while a thread should wake up.
final class WakeDescriptor: Sendable {
    let readEnd: Int32
    private let writeEnd: Int32

    init() throws(RealmError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Platform.error(errno, "pipe() failed", path: nil) }
        // Both ends get numbers above 2 before either result is checked.
        for i in ends.indices { ends[i] = FileDescriptor.beyondStandard(ends[i]) }
        var code = errno
        (readEnd, writeEnd) = (ends[0], ends[1])
        var isMade = readEnd >= 0 && writeEnd >= 0
        // An end that blocks could block its reader, and all threads that signal, forever.
        for fd in ends where isMade {
            isMade =
                system.fcntl_number(fd, F_SETFL, O_NONBLOCK) == 0 && system.fcntl_number(fd, F_SETFD, FD_CLOEXEC) == 0
            code = errno
        }
        guard isMade else {
            for fd in ends where fd >= 0 { _ = close(fd) }
            throw Platform.error(code, "pipe() failed", path: nil)
        }
    }

    deinit {
        close(readEnd)
        close(writeEnd)
    }

    func signal() {
        var byte: UInt8 = 1
        _ = write(writeEnd, &byte, 1)
    }

    func drain() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(readEnd, &bytes, 16) > 0 {}
    }

    func wait(milliseconds: Int32) {
        var request = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
        _ = poll(&request, 1, milliseconds)
    }
}
