import Synchronization

#if canImport(Glibc)
    @preconcurrency import Glibc
#elseif canImport(Musl)
    @preconcurrency import Musl
#elseif canImport(Android)
    @preconcurrency import Android
#elseif canImport(Darwin)
    import Darwin
#endif

/// A reserved range of virtual memory. The file is mapped at its start; memory of the library is behind it. The address
/// of every ref, on disk or not, is `base + offset`, and stays valid while the file grows.
///
///     base                          base + fileCapacity             base + size
///      | file, mapped read-only, grows → |  slab, read-write, grows →  |
///
/// Sections of the file are mapped when they are needed; a map may extend beyond the end of the file if these bytes are
/// not read. Thread rule: the caller serialises growth (`DatabaseFile`'s lock); addresses never move. `base` and the
/// capacities are immutable.
final class AddressSpace: @unchecked Sendable {
    let base: UnsafeMutableRawPointer
    let fileCapacity: Int
    let slabCapacity: Int
    private var size: Int { fileCapacity + slabCapacity }
    private let watched: WatchedMap

    /// Whether the file's map lost pages: then nothing that was read from it may be trusted.
    var isBroken: Bool { watched.isBroken }

    /// Returns the number of bytes of the file that are not holes; nil: unknown. Set once, by the owner of the file.
    var countsData: (() -> Int?)?

    func dataBytes() -> Int? { countsData?() }

    /// Called when the file is shorter than it should be, or another map of it is broken.
    func markBroken() { watched.markBroken() }

    /// Bytes that all spaces of this process have reserved.
    private static let reserved = Atomic(0)

    /// The bytes of address space that a file gets; the memory of its writer gets as many. The number becomes smaller
    /// as the files of the process reserve more. So ten thousand files fit into the 128 TB of a process, and the rest
    /// of the program keeps some.
    static var usualCapacity: Int {
        switch reserved.load(ordering: .relaxed) {
        case ..<(16 << 40): 64 << 30
        case ..<(28 << 40): 16 << 30
        case ..<(100 << 40): 4 << 30
        default: 256 << 20
        }
    }

    private static let most = 112 << 40

    /// Mapped bytes cannot move, so a file that outgrows its address space must be opened again: the new open reserves
    /// more.
    static func outgrown(_ capacity: Int, path: String?) -> RealmError {
        RealmError(
            .addressSpaceExhausted,
            "The file outgrew the \(capacity) bytes of address space that are reserved for it: "
                + "close it everywhere in this process, and open it again", path: path)
    }

    /// Address space that a process with a limit (`ulimit -v`) keeps for the rest of the program, whose allocations
    /// would fail otherwise.
    private static let leastRoom = 64 << 20

    /// Reserves address space for a file of up to `fileCapacity` bytes. The size is halved while the operating system
    /// refuses, but never below `minimum`. A size that was halved is accepted only if the program can still reserve
    /// half as many bytes for itself; the smallest possible size, if the program can still reserve `leastRoom`.
    init(fileCapacity wanted: Int, slabCapacity: Int, minimum: Int) throws(RealmError) {
        var capacity = wanted
        var slab = slabCapacity
        let before = Self.reserved.load(ordering: .relaxed)
        guard before < Self.most else {
            throw RealmError(
                .addressSpaceExhausted,
                "The open Realm files of this process reserve \(before >> 40) TB of address space: close some")
        }
        while true {
            let isLast = capacity / 2 < minimum
            let room = capacity == wanted ? 0 : isLast ? Self.leastRoom : max(Self.leastRoom, (capacity + slab) / 2)
            if let address = Self.reserve(capacity + slab, leaving: room) {
                do throws(RealmError) { watched = try WatchedMap(address, isWritable: false) } catch {
                    _ = system.munmap(address, capacity + slab)
                    throw error
                }
                base = address
                self.fileCapacity = capacity
                self.slabCapacity = slab
                Self.reserved.add(capacity + slab, ordering: .relaxed)
                return
            }
            if isLast { break }
            capacity /= 2
            slab = slab > 0 ? min(slab, capacity) : 0
        }
        throw RealmError(.addressSpaceExhausted, "No address space for a map of \(minimum) bytes")
    }

    /// Nil if the operating system refuses, or if fewer than `room` bytes were left.
    private static func reserve(_ size: Int, leaving room: Int) -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let address = system.mmap(nil, size, PROT_NONE, flags, -1, 0), address != MAP_FAILED else { return nil }
        guard room > 0 else { return address }
        if let left = system.mmap(nil, room, PROT_NONE, flags, -1, 0), left != MAP_FAILED {
            _ = system.munmap(left, room)
            return address
        }
        _ = system.munmap(address, size)
        return nil
    }

    deinit {
        watched.resize(to: 0)
        _ = system.munmap(base, size)
        Self.reserved.subtract(size, ordering: .relaxed)
    }

    /// Maps bytes `[offset, offset + length)` of the file. `offset` is a multiple of the page size.
    func mapFile(_ fd: Int32, offset: Int, length: Int) throws(RealmError) {
        guard offset + length <= fileCapacity else {
            throw Self.outgrown(fileCapacity, path: nil)
        }
        let mapped = system.mmap(base + offset, length, PROT_READ, MAP_SHARED | MAP_FIXED, fd, off_t(offset))
        guard mapped != MAP_FAILED else { throw Platform.error(errno, "mmap() failed", path: nil) }
        watched.resize(to: offset + length)
    }

    /// Makes memory usable, in place of a map, for bytes `[offset, offset + length)` of the file: the decrypted pages
    /// of an encrypted file. Core dumps do not contain it.
    func commitMemory(offset: Int, length: Int) throws(RealmError) {
        guard offset + length <= fileCapacity else {
            throw Self.outgrown(fileCapacity, path: nil)
        }
        guard system.mprotect(base + offset, length, PROT_READ | PROT_WRITE) == 0 else {
            throw RealmError(.outOfMemory, "No memory for decrypted pages")
        }
        HiddenMemory.hide(base + offset, length)
    }

    /// Removes the file's map, or the memory that replaces it, from `[0, length)`.
    func clear(_ length: Int) throws(RealmError) {
        guard length > 0 else { return }
        watched.resize(to: 0)
        let cleared = system.mmap(
            base, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0)
        guard cleared != MAP_FAILED else { throw Platform.error(errno, "mmap() failed", path: nil) }
    }

    /// Requests large pages for memory that replaces the file: before `[from, to)` is first touched, or, with `filled`,
    /// for memory that is already in use.
    func preferLargePages(from: Int, to: Int, filled: Bool) {
        #if !canImport(Darwin)
            let unit = Self.largePage
            let start = (from + unit - 1) / unit * unit, end = to / unit * unit
            // MADV_COLLAPSE, MADV_HUGEPAGE
            if end > start { _ = system.madvise(base + start, end - start, filled ? 25 : 14) }
        #endif
    }

    static let largePage = 2 << 20

    /// Releases memory `[from, to)` that replaces the file.
    func discardMemory(from: Int, to: Int) {
        if to > from { _ = system.madvise(base + from, to - from, MADV_DONTNEED) }
    }

    /// Leaves the slab out of core dumps.
    func hideSlabFromDumps() { HiddenMemory.hide(base + fileCapacity, slabCapacity) }

    /// Makes slab bytes `[from, to)` usable (offsets within the slab, multiples of the page size).
    func commitSlab(from: Int, to: Int) throws(RealmError) {
        guard to <= slabCapacity else {
            throw RealmError(.outOfMemory, "A transaction may hold at most \(slabCapacity) bytes")
        }
        guard system.mprotect(base + fileCapacity + from, to - from, PROT_READ | PROT_WRITE) == 0 else {
            throw RealmError(.outOfMemory, "No memory for a write transaction of \(to) bytes")
        }
    }

    /// Releases slab memory `[from, to)`; it stays usable and reads as zero.
    func discardSlab(from: Int, to: Int) {
        guard to > from else { return }
        #if canImport(Darwin)
            // On this system the advice does not zero the bytes; new memory at the same address does.
            let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED
            _ = system.mmap(base + fileCapacity + from, to - from, PROT_READ | PROT_WRITE, flags, -1, 0)
        #else
            _ = system.madvise(base + fileCapacity + from, to - from, MADV_DONTNEED)
        #endif
    }
}

/// A map of a small file, for words shared between processes.
final class SharedMemory: @unchecked Sendable {  // Immutable mapping; the words in it are atomics.
    let base: UnsafeMutableRawPointer
    let size: Int
    private let watched: WatchedMap

    /// Whether the map lost pages: other processes do not see what is written to it.
    var isBroken: Bool { watched.isBroken }

    /// - Parameter isWritable: false for users that never store.
    init(_ file: FileDescriptor, size: Int, isWritable: Bool = true) throws(RealmError) {
        let address = system.mmap(nil, size, isWritable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, file.fd, 0)
        guard let address, address != MAP_FAILED else { throw Platform.error(errno, "mmap() failed", path: file.path) }
        do throws(RealmError) { watched = try WatchedMap(address, isWritable: isWritable) } catch {
            _ = system.munmap(address, size)
            throw error
        }
        base = address
        self.size = size
        watched.resize(to: size)
    }

    deinit {
        watched.resize(to: 0)
        _ = system.munmap(base, size)
    }
}

/// Two words for every page of an address space: zero until written; only written parts use memory.
final class PageTable: @unchecked Sendable {  // Immutable except for the words, which the user guards.
    let base: UnsafeMutableRawPointer
    let pages: Int

    init(pages: Int) throws(RealmError) {
        let address = system.mmap(
            nil, pages * 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        guard let address, address != MAP_FAILED else {
            throw RealmError(.addressSpaceExhausted, "No address space for a table of \(pages) pages")
        }
        base = address
        self.pages = pages
    }

    deinit { _ = system.munmap(base, pages * 16) }

    /// Sets all words to zero and releases their memory. false: nothing was done.
    func clear() -> Bool {
        system.mmap(
            base, pages * 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0)
            != MAP_FAILED
    }
}
