@preconcurrency import CHints

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// An open file. Closing happens in `deinit` or earlier through `close()`.
///
/// Thread rule: every call may come from any thread; `close` and `rename` only when no other call is under way.
final class FileDescriptor: @unchecked Sendable {  // Only `close` changes `fd`, only `rename` changes `path`.
    private(set) var path: String
    private(set) var fd: Int32

    /// The process in whose forked children the descriptor is closed; 0: children keep it.
    private let guardingProcess: Int32

    enum Access {
        case readOnly, readWrite, readWriteCreate
        /// Creates the file; an existing file is an error.
        case createNew
    }

    /// open(2), close-on-exec.
    /// - Parameters:
    ///   - followsLinks: false refuses a symbolic link.
    ///   - permissions: of a new file, reduced by the umask of the process.
    ///   - isKeptFromChildren: true when forked children must share neither the open file nor the locks that are taken
    ///     through it.
    init(
        path: String, access: Access, followsLinks: Bool = true, permissions: Int32 = 0o644,
        isKeptFromChildren: Bool = false
    ) throws(RealmError) {
        let flags: Int32 =
            switch access {
            case .readOnly: O_RDONLY | O_CLOEXEC
            case .readWrite: O_RDWR | O_CLOEXEC
            case .readWriteCreate: O_RDWR | O_CREAT | O_CLOEXEC
            case .createNew: O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
            }
        var fd: Int32
        let kind = O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW)
        var code: Int32 = 0
        repeat {
            let open = { () -> Int32 in
                let fd = FileDescriptor.beyondStandard(system.open(path, flags | kind, permissions))
                code = errno
                return fd
            }
            fd = isKeptFromChildren ? try ForkGuard.opening(open) : open()
        } while fd < 0 && code == EINTR
        guard fd >= 0 else {
            if code == ELOOP, !followsLinks {
                throw RealmError(
                    .fileOperationFailed, "Failed to open file at path '\(path)': it is a symbolic link", path: path)
            }
            throw code == EISDIR
                ? RealmError(
                    .fileOperationFailed, "Failed to open file at path '\(path)': it is a directory", path: path)
                : Platform.error(code, "Failed to open file at path '\(path)'", path: path)
        }
        self.fd = fd
        self.path = path
        guardingProcess = isKeptFromChildren ? Platform.processId : 0
        var info = stat()
        if system.fstat(fd, &info) == 0, info.st_mode & S_IFMT != S_IFREG {
            close()
            throw RealmError(
                .fileOperationFailed, "Failed to open file at path '\(path)': it is not a regular file", path: path)
        }
    }

    /// Replaces a new descriptor of 0, 1 or 2 by a higher one: where a program has closed these, everything that it
    /// prints would go to the file. −1 with `errno` when `fd` is negative, or when there is no other descriptor.
    static func beyondStandard(_ fd: Int32) -> Int32 {
        guard fd >= 0, fd < firstOwn else { return fd }
        let moved = system.fcntl_number(fd, F_DUPFD_CLOEXEC, firstOwn)
        let code = errno
        _ = system.close(fd)
        errno = code
        return moved
    }

    private static var firstOwn: Int32 { 3 }

    /// - Parameter path: the name in error messages.
    fileprivate init(_ fd: Int32, path: String) {
        self.fd = fd
        self.path = path
        guardingProcess = 0
    }

    /// Another descriptor of the same open file.
    init(sharing other: FileDescriptor) throws(RealmError) {
        path = other.path
        guardingProcess = 0
        fd = system.fcntl_number(other.fd, F_DUPFD_CLOEXEC, Self.firstOwn)
        guard fd >= 0 else { throw Platform.error(errno, "fcntl() failed", path: path) }
    }

    deinit { close() }

    func close() {
        if fd >= 0 {
            if guardingProcess == 0 {
                _ = system.close(fd)
            } else if guardingProcess == Platform.processId {
                ForkGuard.close(fd)
            }
        }
        fd = -1
    }

    /// Owner, group and permissions of the file.
    func rights() throws(RealmError) -> FileRights {
        var info = stat()
        guard system.fstat(fd, &info) == 0 else { throw Platform.error(errno, "fstat() failed", path: path) }
        return FileRights(info)
    }

    func permissions() throws(RealmError) -> UInt32 { try rights().permissions }

    /// Changes owner and group of the file to those of `wanted` as far as this process may (both, or the group alone),
    /// and its permissions. If the group differs in the end, the group gets no more rights than all other users.
    func setRights(_ wanted: FileRights) {
        guard var own = try? rights() else { return }
        if own.user != wanted.user || own.group != wanted.group {
            if system.fchown(fd, wanted.user, wanted.group) != 0, own.group != wanted.group {
                _ = system.fchown(fd, uid_t.max, wanted.group)
            }
            guard let now = try? rights() else { return }
            own = now
        }
        var mode = wanted.permissions
        if own.group != wanted.group { mode &= ~0o070 | (mode & 0o007) << 3 }
        if own.permissions != mode { _ = system.fchmod(fd, mode_t(mode)) }
    }

    /// Size in bytes.
    func size() throws(RealmError) -> Int {
        var info = stat()
        guard system.fstat(fd, &info) == 0 else { throw Platform.error(errno, "fstat() failed", path: path) }
        return Int(info.st_size)
    }

    #if canImport(Darwin)
        private static let (seekData, seekHole): (Int32, Int32) = (4, 3)
    #else
        private static let (seekData, seekHole): (Int32, Int32) = (3, 4)
    #endif

    /// The first byte at or after `offset` that is not in a hole; the greatest number when there is none. On a file
    /// system without holes: `offset`.
    func nextData(from offset: Int) -> Int {
        let start = Int(lseek(fd, off_t(offset), Self.seekData))
        if start < 0 { return errno == ENXIO ? .max : offset }
        return max(start, offset)
    }

    /// Number of bytes of a file that are not in holes; on a file system without holes, all bytes. nil: unknown.
    func dataBytes() -> Int? {
        guard let size = try? size() else { return nil }
        var sum = 0, at = 0
        // In a file with more pieces, the rest counts as data.
        for _ in 0..<1 << 16 {
            let start = nextData(from: at)
            if start >= size { return sum }
            let end = Int(lseek(fd, off_t(start), Self.seekHole))
            guard end > start else { return nil }
            sum += end - start
            at = end
            if at >= size { return sum }
        }
        return sum + size - at
    }

    /// Renames the file; replaces a file with the new name.
    func rename(to new: String) throws(RealmError) {
        if system.rename(path, new) != 0 {
            let code = errno
            guard hasName(new) else {
                throw Platform.error(code, "Failed to rename file '\(path)' to '\(new)'", path: new)
            }
        }
        path = new
    }

    /// Whether the name leads to this file. A file system on another machine may report an error for a call that
    /// succeeded: the answer to the first request was lost, and the repeated request failed.
    private func hasName(_ name: String) -> Bool {
        guard let found = try? FileSystem.identity(name), let own = try? identity() else { return false }
        return found == own
    }

    /// Renames the file unless the new name exists: then it throws error 1020.
    func renameKeeping(_ new: String) throws(RealmError) {
        let code = system.link(path, new) == 0 ? 0 : errno
        if code == 0 || hasName(new) {
            _ = try? FileSystem.remove(path)
            path = new
            return
        }
        // On file systems without links this cannot be done in one step.
        guard code != EEXIST, !FileSystem.exists(new) else { throw FileSystem.alreadyExists(new) }
        try self.rename(to: new)
    }

    /// Copies the permissions of `other`, and its group if this process may. Otherwise the group of this file gets no
    /// more rights than all other users. The owner stays.
    func copyPermissions(of other: FileDescriptor) {
        guard var wanted = try? other.rights(), let own = try? rights() else { return }
        wanted.user = own.user
        wanted.permissions &= 0o777
        setRights(wanted)
    }

    /// Device and inode: equal for two opens of one file.
    func identity() throws(RealmError) -> FileIdentity {
        var info = stat()
        guard system.fstat(fd, &info) == 0 else { throw Platform.error(errno, "fstat() failed", path: path) }
        return FileIdentity(info)
    }

    /// Reads up to `count` bytes; returns how many there were.
    func read(into buffer: UnsafeMutableRawPointer, count: Int, at offset: Int) throws(RealmError) -> Int {
        var done = 0
        while done < count {
            let received = system.pread(fd, buffer + done, count - done, off_t(offset + done))
            if received < 0 {
                if errno == EINTR { continue }
                throw Platform.error(errno, "pread() failed", path: path)
            }
            if received == 0 { break }
            done += received
        }
        return done
    }

    /// Writes all of `count` bytes.
    func write(_ buffer: UnsafeRawPointer, count: Int, at offset: Int) throws(RealmError) {
        try checkLimit(offset + count)
        var done = 0
        while done < count {
            let written = system.pwrite(fd, buffer + done, count - done, off_t(offset + done))
            if written < 0 {
                if errno == EINTR { continue }
                throw Platform.error(errno, "pwrite() failed", path: path)
            }
            // Writing nothing must not repeat forever.
            guard written > 0 else { throw Platform.error(EIO, "pwrite() wrote nothing", path: path) }
            done += written
        }
    }

    /// Throws when this process may not make a file as long as `end` (RLIMIT_FSIZE): the write would raise a signal
    /// that ends the process.
    private func checkLimit(_ end: Int) throws(RealmError) {
        var limit = rlimit()
        guard getrlimit(Self.fileSizeLimit, &limit) == 0, UInt64(clamping: end) > UInt64(limit.rlim_cur) else { return }
        throw Platform.error(
            EFBIG, "The file would grow beyond the limit of this process (\(limit.rlim_cur) bytes)", path: path)
    }
    #if canImport(Glibc)
        private static let fileSizeLimit = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    #else
        private static let fileSizeLimit = Int32(RLIMIT_FSIZE)
    #endif

    func truncate(to size: Int) throws(RealmError) {
        if size > 0, try size > self.size() { try checkLimit(size) }
        while system.ftruncate(fd, off_t(size)) != 0 {
            if errno == EINTR { continue }
            throw Platform.error(errno, "ftruncate() failed", path: path)
        }
    }

    /// Flushes the data written so far, with the metadata that is needed to read it again, to stable storage.
    func synchronizeData() throws(RealmError) {
        while system.fdatasync(fd) != 0 {
            if errno == EINTR { continue }
            throw Platform.error(errno, "fdatasync() failed", path: path)
        }
    }
}

/// Files without a name, and copying into them.
extension FileDescriptor {
    /// Files without a name are in memory up to this size.
    private static let memoryLimit = 64 << 20

    /// An empty file without a name, which disappears when it is closed. It is in memory while it is small, or where
    /// nothing else works; otherwise in the operating system's folder for temporary files.
    /// - Parameters:
    ///   - path: the name in error messages.
    ///   - size: the bytes that the file will have.
    static func nameless(_ path: String, size: Int) throws(RealmError) -> FileDescriptor {
        if size <= memoryLimit, let file = inMemory(path) { return file }
        let folder = temporaryFolder
        var fd: Int32 = -1
        if hint_nameless != 0 {
            repeat {
                fd = beyondStandard(system.open(folder, O_RDWR | O_CLOEXEC | hint_nameless, 0o600))
            } while fd < 0 && errno == EINTR
        }
        if fd >= 0 { return FileDescriptor(fd, path: path) }
        if let file = inMemory(path) { return file }
        // Where neither is supported, the name is removed as soon as the file exists.
        let name = "\(folder)/crealm-\(Platform.processId)-\(Platform.threadId)-\(Platform.monotonicSeconds)"
        let named = try FileDescriptor(path: name, access: .createNew, permissions: 0o600)
        try FileSystem.remove(named.path)
        named.path = path
        return named
    }

    private static func inMemory(_ path: String) -> FileDescriptor? {
        let closesOnExec: UInt32 = 1
        let fd = beyondStandard(system.memfd_create("crealm", closesOnExec))
        return fd < 0 ? nil : FileDescriptor(fd, path: path)
    }

    private static var temporaryFolder: String {
        guard let given = getenv("TMPDIR"), given.pointee != 0, let folder = String(validatingCString: given) else {
            return "/tmp"
        }
        return folder
    }

    /// Copies `count` bytes of another file from `offset` on to the same position in this file. Where the file system
    /// supports it, both files then share the blocks. Returns the number of bytes that were copied.
    func copyBytes(of source: FileDescriptor, _ count: Int, at offset: Int) throws(RealmError) -> Int {
        try checkLimit(offset + count)
        var done = 0
        while done < count {
            var from = Int64(offset + done), to = from
            let copied = system.copy_file_range(source.fd, &from, fd, &to, count - done, 0)
            if copied == 0 { return done }
            if copied < 0 {
                if errno == EINTR { continue }
                // Not supported between these two files, or on this system.
                return try done + moveBytes(of: source, count - done, at: offset + done)
            }
            done += copied
        }
        return done
    }

    private func moveBytes(of source: FileDescriptor, _ count: Int, at offset: Int) throws(RealmError) -> Int {
        let step = min(count, 1 << 20)
        let buffer = try HiddenMemory(step)
        defer { withExtendedLifetime(buffer) {} }
        var done = 0
        while done < count {
            let received = try source.read(into: buffer.base, count: min(step, count - done), at: offset + done)
            guard received > 0 else { break }
            try write(buffer.base, count: received, at: offset + done)
            done += received
        }
        return done
    }
}

/// Owner, group and permissions of a file.
struct FileRights: Sendable {
    var user: UInt32
    var group: UInt32

    /// The bits of chmod(2).
    var permissions: UInt32

    init(_ info: stat) {
        user = info.st_uid
        group = info.st_gid
        permissions = UInt32(info.st_mode) & 0o7777
    }
}

/// Device, inode and link count of an open file.
struct FileIdentity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    let linkCount: Int

    static func == (a: FileIdentity, b: FileIdentity) -> Bool { a.device == b.device && a.inode == b.inode }

    func hash(into hasher: inout Hasher) {
        hasher.combine(device)
        hasher.combine(inode)
    }
}

extension FileIdentity {
    init(_ info: stat) {
        // Device numbers are signed on some systems.
        self.init(
            device: UInt64(truncatingIfNeeded: info.st_dev), inode: UInt64(info.st_ino), linkCount: Int(info.st_nlink))
    }
}
