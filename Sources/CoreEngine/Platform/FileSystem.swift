#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// Directory entries, by path.
enum FileSystem {
    static func exists(_ path: String) -> Bool { system.access(path, F_OK) == 0 }

    /// Whether a part of the path that should be a folder is something else.
    static func isBelowFile(_ path: String) -> Bool { system.access(path, F_OK) != 0 && errno == ENOTDIR }

    /// Whether this process may write the file at `path`.
    static func isWritable(_ path: String) -> Bool { system.access(path, W_OK) == 0 }

    /// nil when the file cannot be examined.
    static func rights(_ path: String) -> FileRights? {
        var info = stat()
        return system.stat(path, &info) == 0 ? FileRights(info) : nil
    }

    static func alreadyExists(_ path: String) -> RealmError {
        RealmError(.fileAlreadyExists, "File at path '\(path)' already exists.", path: path)
    }

    /// The canonical name of a file, existing or new: absolute and without symbolic links, so that it stays valid when
    /// the process changes its folder. Returns `path` when its folder cannot be examined.
    static func canonical(_ path: String) throws(RealmError) -> String {
        if path.isEmpty { return path }
        if let real = try real(path) { return real }
        guard let folder = try real(parent(of: path)) else { return path }
        let name = path.utf8.lastIndex(of: 0x2F).map { String(path[path.index(after: $0)...]) } ?? path
        return folder == "/" ? "/" + name : folder + "/" + name
    }

    private static func real(_ path: String) throws(RealmError) -> String? {
        guard let real = system.realpath(path, nil) else { return nil }
        defer { systemFree(real) }
        // With invalid bytes replaced, it would be the path of another file.
        guard let text = String(validatingCString: real) else {
            throw RealmError(
                .invalidArgument, "The path '\(path)' leads to '\(String(cString: real))', which is not valid UTF-8",
                path: path)
        }
        return text
    }

    /// Device and inode of the file at a path; nil when there is none.
    static func identity(_ path: String) throws(RealmError) -> FileIdentity? {
        var info = stat()
        while system.stat(path, &info) != 0 {
            if errno == EINTR { continue }
            if errno == ENOENT || errno == ENOTDIR { return nil }
            throw Platform.error(errno, "stat() failed", path: path)
        }
        return FileIdentity(info)
    }

    /// Flushes renamed, new and removed entries of a folder to stable storage, where the operating system supports
    /// that.
    static func synchronizeFolder(of path: String) throws(RealmError) {
        let folder = parent(of: path)
        var fd: Int32
        repeat {
            fd = FileDescriptor.beyondStandard(system.open(folder, O_RDONLY | O_CLOEXEC, 0))
        } while fd < 0 && errno == EINTR
        guard fd >= 0 else {
            // A folder in which the user may make files but not list them.
            if errno == EACCES || errno == EPERM { return }
            throw Platform.error(errno, "open() failed", path: folder)
        }
        var result: Int32
        repeat { result = system.fsync(fd) } while result != 0 && errno == EINTR
        let code = errno
        _ = system.close(fd)
        guard result == 0 || code == EINVAL || code == ENOTSUP || code == EBADF || code == EROFS else {
            throw Platform.error(code, "fsync() failed", path: folder)
        }
    }

    /// Upper bound for the length of `suffix` in calls of `temporary`.
    private static let suffixLimit = 48

    /// A name for a temporary file that belongs to the file at `path`, in the same folder: `path` with `suffix`. If
    /// that name might be too long: the beginning of the name, a number computed from the name, and `suffix`.
    static func temporary(_ path: String, _ suffix: String) -> String {
        let limit = Int(NAME_MAX) - suffixLimit
        let folder = path.utf8.lastIndex(of: 0x2F).map { path[...$0] } ?? ""
        let name = path[folder.endIndex...]
        guard name.utf8.count > limit else { return path + suffix }
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in name.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        let number = "~" + String(hash, radix: 16)
        var start = name
        while start.utf8.count + number.utf8.count > limit, !start.isEmpty { start.removeLast() }
        return folder + start + number + suffix
    }

    /// Removes the files whose names begin with `start` and end in a rest that `isOurs` accepts, and that no process
    /// has locked.
    /// - Parameter lock: suffix of the file that carries the lock, if that is a separate file; that file is removed,
    ///   too.
    static func removeAbandoned(_ start: String, lock: String = "", _ isOurs: (Substring) -> Bool) {
        let folder = parent(of: start)
        let first = start.utf8.lastIndex(of: 0x2F).map { start[start.index(after: $0)...] } ?? start[...]
        for name in names(in: folder) where name.hasPrefix(first) && isOurs(name.dropFirst(first.count)) {
            let path = folder == "/" ? "/" + name : folder + "/" + name
            guard let file = try? FileDescriptor(path: path + lock, access: .readOnly, followsLinks: false),
                file.tryLock(.exclusive)
            else {
                continue
            }
            _ = try? remove(path)
            if !lock.isEmpty { _ = try? remove(path + lock) }
        }
    }

    /// Removes the files of a folder whose names end in `suffix` and two numbers, that nothing was written to for a
    /// minute, and that no process has locked. A process that has just made such a file may not have locked it yet.
    /// - Parameter lock: as in the other function.
    static func removeAbandoned(in folder: String, suffix: String, lock: String = "") {
        for name in names(in: folder) where hasTwoNumbers(name, behind: suffix) {
            let path = folder == "/" ? "/" + name : folder + "/" + name
            guard let age = age(path), age > 60 else { continue }
            removeAbandoned(path, lock: lock) { $0.isEmpty }
        }
    }

    private static func hasTwoNumbers(_ name: String, behind suffix: String) -> Bool {
        var rest = name[...], numbers = 0
        while numbers < 2 {
            let digits = rest.reversed().prefix { $0.isASCII && $0.isNumber }.count
            guard digits > 0 else { return false }
            rest = rest.dropLast(digits)
            numbers += 1
            guard numbers < 2 else { break }
            guard rest.last == "_" else { return false }
            rest = rest.dropLast()
        }
        return rest.hasSuffix(suffix)
    }

    /// The names in a folder; empty when it cannot be listed.
    private static func names(in folder: String) -> [String] {
        guard let dir = system.opendir(folder) else { return [] }
        defer { _ = system.closedir(dir) }
        var names: [String] = []
        while let entry = system.readdir(dir) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    static func isDirectory(_ path: String) -> Bool {
        var info = stat()
        return system.stat(path, &info) == 0 && info.st_mode & S_IFMT == S_IFDIR
    }

    /// Removes a file; returns whether it existed. A missing file is not an error.
    @discardableResult static func remove(_ path: String) throws(RealmError) -> Bool {
        if system.unlink(path) == 0 { return true }
        if errno == ENOENT || errno == ENOTDIR { return false }
        throw Platform.error(errno, "Failed to delete file at path '\(path)'", path: path)
    }

    /// Whether the file at `path` is a different file than the original, not a link, and has the same bytes.
    static func isCopy(_ path: String, of original: String) -> Bool {
        do throws(RealmError) {
            let candidate = try FileDescriptor(path: path, access: .readOnly, followsLinks: false),
                source = try FileDescriptor(path: original, access: .readOnly)
            defer {
                candidate.close()
                source.close()
            }
            let size = try candidate.size(), step = 1 << 16
            guard try candidate.identity() != source.identity(), try source.size() == size else { return false }
            let memory = try HiddenMemory(2 * step)
            var at = 0
            while at < size {
                let count = min(step, size - at)
                guard try candidate.read(into: memory.base, count: count, at: at) == count,
                    try source.read(into: memory.base + step, count: count, at: at) == count,
                    CMemory.compare(memory.base, memory.base + step, count) == 0
                else { return false }
                at += count
            }
            return true
        } catch { return false }
    }

    /// Copies a file byte for byte; the copy gets its name only when it is complete. False when the disk has no room
    /// for twice the file, or the copy failed; then no file is left behind.
    static func copy(_ from: String, to: String) -> Bool {
        let part = to + ".part"
        do throws(RealmError) {
            let source = try FileDescriptor(path: from, access: .readOnly)
            defer { source.close() }
            let size = try source.size()
            var fs = statvfs()
            if system.statvfs(from, &fs) == 0, UInt64(fs.f_bavail) * UInt64(fs.f_frsize) < UInt64(size) * 2 {
                return false
            }
            try remove(part)
            // From the beginning the copy must not be readable by users who cannot read the original.
            let target = try FileDescriptor(
                path: part, access: .createNew, permissions: Int32(try source.permissions() & 0o777))
            defer { target.close() }
            target.setRights(try source.rights())
            let copied = try target.copyBytes(of: source, size, at: 0)
            try target.synchronizeData()
            guard copied == size, system.rename(part, to) == 0 else {
                try remove(part)
                return false
            }
            try synchronizeFolder(of: to)
            return true
        } catch {
            _ = try? remove(part)
            return false
        }
    }

    /// Seconds since the file was last written; nil when unknown.
    static func age(_ path: String) -> Int? {
        var info = stat()
        guard system.stat(path, &info) == 0 else { return nil }
        var now = timespec()
        guard system.clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
        #if canImport(Darwin)
            return now.tv_sec - info.st_mtimespec.tv_sec
        #else
            return now.tv_sec - info.st_mtim.tv_sec
        #endif
    }

    /// Removes a directory and the plain files in it. Does nothing when it is missing.
    static func removeDirectory(_ path: String) {
        for name in names(in: path) { _ = system.unlink(path + "/" + name) }
        _ = system.rmdir(path)
    }

    /// The folder of a path; "." when the path has none.
    static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == path.utf8.startIndex ? "/" : String(path[..<slash])
    }
}
