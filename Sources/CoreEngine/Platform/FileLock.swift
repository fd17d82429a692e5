#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Locks on a file that the kernel releases when their holder dies.
///
/// There are two kinds, which do not affect each other:
/// - `flock` on the whole file: membership in a session, the protocol shared with realm-core. Format: storage §5.3.
/// - Open-file-description record locks on single bytes: the engine's own mutexes and signs of life.
///
/// Both belong to the open file description: two opens in one process exclude each other, and closing an unrelated
/// descriptor releases nothing.
extension FileDescriptor {
    enum Sharing { case shared, exclusive }

    /// flock(2) without waiting; false when another open file holds a conflicting lock.
    func tryLock(_ sharing: Sharing) -> Bool {
        let op = (sharing == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB
        while system.flock(fd, op) != 0 {
            if errno == EINTR { continue }
            return false
        }
        return true
    }

    /// As `tryLock`.
    /// - Throws: when the file system has no such locks, or refuses them: that does not depend on other holders.
    func tryLockOrFail(_ sharing: Sharing) throws(RealmError) -> Bool {
        if tryLock(sharing) { return true }
        let code = errno
        // EAGAIN and EWOULDBLOCK are the same number.
        if code == EAGAIN { return false }
        throw refused(code)
    }

    private func refused(_ code: Int32) -> RealmError {
        Platform.error(
            code,
            "The file system of '\(path)' gives no lock. A Realm file that is open for writing, or while others write it, needs locks",
            path: path)
    }

    func unlock() { _ = system.flock(fd, LOCK_UN) }

    // Linux: F_OFD_GETLK 36, F_OFD_SETLK 37, F_OFD_SETLKW 38 (not visible from Swift). Darwin: 92, 90, 91.
    #if canImport(Darwin)
        private static let getOwned: Int32 = 92, setOwned: Int32 = 90, setOwnedWait: Int32 = 91
    #else
        private static let getOwned: Int32 = 36, setOwned: Int32 = 37, setOwnedWait: Int32 = 38
    #endif

    private func record(_ type: Int32, _ byte: Int, count: Int = 1) -> flock {
        var lock = systemRecordLock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = off_t(byte)
        lock.l_len = off_t(count)
        lock.l_pid = 0
        return lock
    }

    /// Takes the lock on one byte (which need not exist); waits for its holder.
    func lockByte(_ byte: Int) throws(RealmError) {
        var lock = record(Int32(F_WRLCK), byte)
        while system.fcntl_lock(fd, Self.setOwnedWait, &lock) != 0 {
            if errno == EINTR { continue }
            throw Platform.error(errno, "Failed to lock a byte of the lock file", path: path)
        }
    }

    func tryLockByte(_ byte: Int) -> Bool {
        var lock = record(Int32(F_WRLCK), byte)
        while system.fcntl_lock(fd, Self.setOwned, &lock) != 0 {
            if errno == EINTR { continue }
            return false
        }
        return true
    }

    /// As `tryLockByte`.
    /// - Throws: when the file system has no such locks, or refuses them.
    func tryLockByteOrFail(_ byte: Int) throws(RealmError) -> Bool {
        if tryLockByte(byte) { return true }
        let code = errno
        if code == EAGAIN || code == EACCES { return false }
        throw refused(code)
    }

    func unlockByte(_ byte: Int) {
        var lock = record(Int32(F_UNLCK), byte)
        _ = system.fcntl_lock(fd, Self.setOwned, &lock)
    }

    /// Takes a shared lock on one byte; false when another open file holds it exclusively. The file may be open for
    /// reading only.
    func shareByte(_ byte: Int) throws(RealmError) -> Bool {
        var lock = record(Int32(F_RDLCK), byte)
        while system.fcntl_lock(fd, Self.setOwned, &lock) != 0 {
            if errno == EINTR { continue }
            if errno == EAGAIN || errno == EACCES { return false }
            throw Platform.error(errno, "Failed to lock a byte of the file", path: path)
        }
        return true
    }

    /// Whether another open file description holds or shares a lock on any of `count` bytes.
    func areBytesLockedElsewhere(_ first: Int, count: Int) -> Bool {
        guard count > 0 else { return false }
        var lock = record(Int32(F_WRLCK), first, count: count)
        guard system.fcntl_lock(fd, Self.getOwned, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// Whether another open file description holds or shares the lock on `byte`. Locks of this one are not seen.
    func isByteLockedElsewhere(_ byte: Int) -> Bool { areBytesLockedElsewhere(byte, count: 1) }
}
