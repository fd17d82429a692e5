#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Locks on a file that the kernel gives back when their holder dies.
///
/// Two kinds, which do not see each other:
/// - `flock` on the whole file: membership in a session, the protocol shared with realm-core. Format: storage §5.3.
/// - open-file-description record locks on single bytes: the engine's own mutexes and signs of life.
/// Both belong to the open file description: two opens in one process exclude each other, and closing an unrelated
/// descriptor drops nothing.
extension FileDescriptor {
    enum Sharing { case shared, exclusive }

    /// flock(2) without waiting; false when somebody else is in the way.
    func tryLock(_ sharing: Sharing) -> Bool {
        let op = (sharing == .shared ? LOCK_SH : LOCK_EX) | LOCK_NB
        while system.flock(fd, op) != 0 {
            if errno == EINTR { continue }
            return false
        }
        return true
    }

    /// As `tryLock`. - Throws: when the file system has no such locks, or gives none: that is no question of who holds
    /// it.
    func tryLockOrFail(_ sharing: Sharing) throws(RealmError) -> Bool {
        if tryLock(sharing) { return true }
        let code = errno
        // Both names of it have one number.
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

    /// Takes the lock on one byte (which need not exist), waiting for its holder.
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

    /// As `tryLockByte`. - Throws: when the file system has no such locks, or gives none.
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

    /// Shares the lock on one byte; false when somebody has it alone. The file may be open for reading only.
    func shareByte(_ byte: Int) throws(RealmError) -> Bool {
        var lock = record(Int32(F_RDLCK), byte)
        while system.fcntl_lock(fd, Self.setOwned, &lock) != 0 {
            if errno == EINTR { continue }
            if errno == EAGAIN || errno == EACCES { return false }
            throw Platform.error(errno, "Failed to lock a byte of the file", path: path)
        }
        return true
    }

    /// Whether some other open file description holds or shares the lock on any of `count` bytes.
    func areBytesLockedElsewhere(_ first: Int, count: Int) -> Bool {
        guard count > 0 else { return false }
        var lock = record(Int32(F_WRLCK), first, count: count)
        guard system.fcntl_lock(fd, Self.getOwned, &lock) == 0 else { return true }
        return lock.l_type != Int16(F_UNLCK)
    }

    /// Whether some other open file description holds the lock on `byte`. Locks held through this one are not seen.
    func isByteLockedElsewhere(_ byte: Int) -> Bool { areBytesLockedElsewhere(byte, count: 1) }
}
